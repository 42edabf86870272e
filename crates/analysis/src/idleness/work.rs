//! What GPUs did: kernels and copies, and how evenly they are spread over the GPUs of ranks.

use std::collections::BTreeMap;

use parallax_base::{ContextIdx, Control, LocationIdx, TimeWindow, Unit};
use parallax_engine::{EngineError, Session, display_name};
use parallax_model::{ContextKind, ContextTree, Scope};

use super::{Group, groups, percent};
use crate::balance::WRAPPED;
use crate::balance::read::{SliceParts, visit_values};
use crate::taxonomy::classes::Classes;
use crate::taxonomy::gpu;
use crate::taxonomy::{CostClass, GpuOperation};

/// A kernel, or copies and other operations that one function starts.
#[derive(Debug, Clone, PartialEq)]
pub struct GpuWork {
    /// `saxpy`; where kernels have no names in the source, `kernels of main`; `copies of main`.
    pub name: String,
    /// Time on all GPUs, in seconds.
    pub seconds: f64,
    /// Share of the time of all operations, in per cent.
    pub percent: f64,
    /// Mean over the ranks with GPUs divided by the largest; `None` for one rank.
    pub balance_ratio: Option<f64>,
    /// The rank whose GPUs take longest.
    pub slowest: Group,
}

/// What GPUs did, the longest first: from their traces, else from the metric of the time of GPU
/// operations or of kernels. Empty where neither is there.
///
/// # Errors
/// When samples or values cannot be read, or when the question is withdrawn.
pub fn gpu_work(session: &Session, control: &Control) -> Result<Vec<GpuWork>, EngineError> {
    let tree = session.tree();
    let classes = Classes::new(tree);
    let mut seconds = traced(session, control)?;
    if seconds.is_empty() {
        seconds = profiled(session, control)?;
    }
    let ranks: std::collections::BTreeSet<Group> =
        seconds.keys().map(|(_, group)| *group).collect();
    let mut by_name: BTreeMap<String, BTreeMap<Group, f64>> = BTreeMap::new();
    for ((context, group), seconds) in seconds {
        if let Some(name) = name(tree, &classes, context) {
            *by_name.entry(name).or_default().entry(group).or_default() += seconds;
        }
    }
    let whole: f64 = by_name.values().flat_map(BTreeMap::values).sum();
    let mut rows: Vec<GpuWork> = Vec::new();
    for (name, by_rank) in by_name {
        let seconds: f64 = by_rank.values().sum();
        let slowest = by_rank.iter().rev().max_by(|a, b| a.1.total_cmp(b.1));
        let Some((&slowest, &most)) = slowest.filter(|(_, most)| **most > 0.0) else { continue };
        let ratio = seconds / ranks.len() as f64 / most;
        let balance_ratio = (ranks.len() > 1).then_some(ratio);
        let percent = percent(seconds, whole);
        rows.push(GpuWork { name, seconds, percent, balance_ratio, slowest });
    }
    rows.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    Ok(rows)
}

type ByContext = BTreeMap<(ContextIdx, Group), f64>;

fn traced(session: &Session, control: &Control) -> Result<ByContext, EngineError> {
    let tree = session.tree();
    let mut out = ByContext::new();
    let Some(store) = session.experiment().traces.as_deref() else { return Ok(out) };
    let is_idle = gpu::idle_contexts(tree);
    for (group, members) in groups::by_gpu(session, store)? {
        let mut nanos: BTreeMap<ContextIdx, u128> = BTreeMap::new();
        for track in members.streams {
            control.check()?;
            store.sums(track, TimeWindow::ALL, &mut |time| {
                let known = tree.by_source_id(time.context).filter(|_| time.context != 0);
                if let Some(context) = known.filter(|context| !is_idle[context.idx()]) {
                    *nanos.entry(context).or_default() += u128::from(time.nanos);
                }
            })?;
        }
        out.extend(nanos.into_iter().map(|(context, n)| ((context, group), n as f64 / 1e9)));
    }
    Ok(out)
}

fn profiled(session: &Session, control: &Control) -> Result<ByContext, EngineError> {
    let x = session.experiment();
    let tree = session.tree();
    let mut out = ByContext::new();
    let id = |name: &str| {
        let named = x.metrics.iter().find(|(_, m)| m.name.eq_ignore_ascii_case(name));
        named.filter(|(_, m)| m.unit == Unit::Seconds)?.1.id_in(&Scope::Exclusive)
    };
    let ids = ["gpuop", "gker"].into_iter().filter_map(id);
    let contexts: Vec<ContextIdx> =
        tree.iter().filter(|&context| tree.kind(context) == ContextKind::Function).collect();
    let locations: Vec<LocationIdx> = x.locations.iter().collect();
    for metric in ids.filter(|_| x.profiles.is_some()) {
        let parts = SliceParts { locations: &locations, metric };
        visit_values(session, &parts, &contexts, control, |location, context, value| {
            if value > 0.0 && value < WRAPPED {
                let group = Group::of(&x.locations, LocationIdx::new(location));
                *out.entry((context, group)).or_default() += value;
            }
        })?;
        if !out.is_empty() {
            break;
        }
    }
    Ok(out)
}

/// Display name of the work of a context; `None` for waiting.
fn name(tree: &ContextTree, classes: &Classes, context: ContextIdx) -> Option<String> {
    let class = |context: ContextIdx| classes.of_context.get(context.idx());
    let own = tree.enclosing_function(context)?;
    let short = |function| display_name(tree.function_name(function).unwrap_or("?"));
    let name = short(own);
    if !name.starts_with("<gpu ") {
        return Some(name);
    }
    let what = match class(own) {
        Some(CostClass::Gpu(GpuOperation::Sync)) => return None,
        Some(CostClass::Gpu(GpuOperation::Kernel)) => "kernels",
        Some(CostClass::Gpu(GpuOperation::Copy)) => "copies",
        _ => "other operations",
    };
    // The stub of a kernel bears its name, but so does what calls it, and that one is readable.
    let is_program = |function: &ContextIdx| {
        tree.kind(*function) == ContextKind::Function
            && class(*function) == Some(&CostClass::Application)
            && !classes.is_library(tree, *function)
            && !tree
                .function_name(*function)
                .is_some_and(|name| name.starts_with("__") || gpu::is_runtime(name))
    };
    let caller = tree.ancestors(own).find(is_program);
    Some(caller.map_or_else(|| what.to_owned(), |caller| format!("{what} of {}", short(caller))))
}
