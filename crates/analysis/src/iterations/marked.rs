//! Iterations that the program marks itself.
//!
//! What a program says wins over what its trace looks like. Two things say it:
//!
//! - **numbered phases**: contexts of one name with a number behind a sign that no name of a
//!   function has, one after the other in the order of their numbers: `ProfilerStep#12` of PyTorch,
//!   `Iteration 12` and `step [12]` of TAU's dynamic timers and of ranges of NVTX and rocTX;
//! - **regions** that a developer marked in the source, by the group that tools give them, where
//!   one is entered four times or more on a location and covers much of the time.

use std::collections::{BTreeMap, HashMap};

use parallax_base::{ContextIdx, TimeWindow};
use parallax_engine::{EngineError, Session, display_name};
use parallax_model::{ContextTree, Function};

use super::detect::{LEAST_COVERAGE, LEAST_ITERATIONS};
use super::groups::Location;
use super::visits::{Visit, Wanted, collect};
use crate::taxonomy::is_uninstrumented;
use crate::taxonomy::phases::{LEAST_STEPS, PROFILER_STEP, numbered};

/// Locations on which marks are examined.
const MOST_LOCATIONS: usize = 8;
/// Visits that are read of each of them.
const MOST_VISITS: usize = 1 << 20;
/// Groups of regions that persons wrote into the source, in lower case.
const REGIONS: [&str; 8] = [
    "user",
    "user_annotation",
    "gpu_user_annotation",
    "nvtx",
    "roctx",
    "tau_phase",
    "caliper",
    "pascal",
];
/// Where the whole program is in such a group, the tool puts all functions there.
const PROGRAM: [&str; 3] = ["main", "MAIN__", "taupreload_main"];
/// The group of Score-P for such regions, which other writers give to all functions: it says something
/// only where functions that the compiler instrumented are in another one.
const USER: &str = "user";
/// That one.
const COMPILER: &str = "compiler";

/// Contexts with which the program says that iterations begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marked {
    pub(super) contexts: Vec<ContextIdx>,
    /// What they are, for users: `ProfilerStep (PyTorch)`, `numbered phases "Iteration"`.
    pub(super) by: String,
}

/// What the locations of one kind mark; `None` where they mark nothing.
pub(super) fn find(
    session: &Session,
    locations: &[Location],
    window: TimeWindow,
) -> Result<Option<Marked>, EngineError> {
    let tree = session.tree();
    let series = series(tree);
    let regions = regions(tree);
    if series.is_empty() && regions.is_empty() {
        return Ok(None);
    }
    let mut is_wanted = vec![false; tree.len()];
    let contexts = series.values().flatten().map(|(context, _)| context);
    for context in contexts.chain(regions.values().flatten()) {
        if let Some(slot) = is_wanted.get_mut(context.idx()) {
            *slot = true;
        }
    }
    let wanted = Wanted::new(tree, &is_wanted);
    let step = locations.len().div_ceil(MOST_LOCATIONS).max(1);
    let mut seen: Vec<HashMap<ContextIdx, Vec<Visit>>> = Vec::new();
    for location in locations.iter().step_by(step) {
        let found = collect(session, &location.tracks, window, &wanted, MOST_VISITS)?;
        seen.push(found.by_context.into_iter().collect());
    }
    let mut best: Option<(f64, Marked)> = None;
    for (stem, members) in &series {
        let is_steps = stem == PROFILER_STEP;
        let least = if is_steps { LEAST_STEPS } else { LEAST_ITERATIONS };
        let covered = seen.iter().filter_map(|own| in_order(own, members, least));
        let Some(coverage) = covered.reduce(f64::max) else { continue };
        if !is_steps && coverage < LEAST_COVERAGE {
            continue;
        }
        let by = match is_steps {
            true => "ProfilerStep of PyTorch".to_owned(),
            false => format!("numbered phases \"{stem}\""),
        };
        // Steps of the profiler come before anything else.
        let score = if is_steps { f64::INFINITY } else { 1.0 + coverage };
        let contexts = members.iter().map(|(context, _)| *context).collect();
        keep(&mut best, score, Marked { contexts, by });
    }
    for (name, members) in &regions {
        let covered = seen.iter().filter_map(|own| repeated(own, members));
        let Some(coverage) = covered.reduce(f64::max).filter(|c| *c >= LEAST_COVERAGE) else {
            continue;
        };
        let by = format!("region \"{name}\" of the source");
        keep(&mut best, coverage, Marked { contexts: members.clone(), by });
    }
    Ok(best.map(|(_, marked)| marked))
}

fn keep(best: &mut Option<(f64, Marked)>, score: f64, marked: Marked) {
    if best.as_ref().is_none_or(|(known, _)| score > *known) {
        *best = Some((score, marked));
    }
}

/// Contexts by the part of their names before a number, with the number.
pub(super) fn series(tree: &ContextTree) -> BTreeMap<String, Vec<(ContextIdx, u64)>> {
    let numbered: Vec<Option<(&str, u64)>> = (tree.functions().iter())
        .map(|function| numbered(&function.name).map(|found| (found.stem, found.number)))
        .collect();
    let mut out: BTreeMap<String, Vec<(ContextIdx, u64)>> = BTreeMap::new();
    for context in tree.iter().skip(1) {
        let known = tree.function(context).and_then(|function| numbered.get(function.idx()));
        if let Some(Some((stem, number))) = known {
            out.entry((*stem).to_owned()).or_default().push((context, *number));
        }
    }
    out.retain(|_, members| members.len() >= LEAST_STEPS);
    out
}

/// Contexts of regions that persons wrote into the source, by name.
fn regions(tree: &ContextTree) -> BTreeMap<String, Vec<ContextIdx>> {
    let group = |group: &Option<std::sync::Arc<str>>| {
        group.as_deref().map(str::to_ascii_lowercase).unwrap_or_default()
    };
    let functions = tree.functions();
    let is_region = |name: &str| REGIONS.contains(&name);
    // Groups in which everything is say nothing.
    let everything: Vec<String> = functions
        .iter()
        .filter(|function| PROGRAM.contains(&&*display_name(&function.name)))
        .map(|function| group(&function.group))
        .collect();
    let is_compiled = |function: &Function| {
        group(&function.group) == COMPILER && !is_uninstrumented(&function.name)
    };
    let has_compiled = functions.iter().any(is_compiled);
    let of_function: Vec<bool> = functions
        .iter()
        .map(|function| {
            let group = group(&function.group);
            is_region(&group)
                && !everything.contains(&group)
                && (group != USER || has_compiled)
                && numbered(&function.name).is_none()
        })
        .collect();
    let mut out: BTreeMap<String, Vec<ContextIdx>> = BTreeMap::new();
    for context in tree.iter().skip(1) {
        let Some(function) = tree.function(context) else { continue };
        if of_function.get(function.idx()) == Some(&true)
            && let Some(function) = functions.get(function.idx())
        {
            out.entry(display_name(&function.name)).or_default().push(context);
        }
    }
    out
}

/// The part of the time that a series covers on a location on which at least `least` of its members
/// come one after the other, in the order of their numbers.
fn in_order(
    seen: &HashMap<ContextIdx, Vec<Visit>>,
    members: &[(ContextIdx, u64)],
    least: usize,
) -> Option<f64> {
    let mut visits: Vec<(Visit, u64)> = Vec::new();
    for (context, number) in members {
        let own = seen.get(context).map(Vec::as_slice).unwrap_or_default();
        visits.extend(own.iter().map(|visit| (*visit, *number)));
    }
    visits.sort_unstable_by_key(|(visit, _)| (visit.start, visit.end));
    let is_series = visits.windows(2).all(|pair| match pair {
        [(before, first), (after, second)] => first < second && before.end <= after.start,
        _ => true,
    });
    (visits.len() >= least && is_series).then(|| coverage(visits.iter().map(|(visit, _)| *visit)))
}

/// The part of the time that a region covers on a location that enters it often enough.
fn repeated(seen: &HashMap<ContextIdx, Vec<Visit>>, members: &[ContextIdx]) -> Option<f64> {
    let mut visits: Vec<Visit> =
        members.iter().filter_map(|context| seen.get(context)).flatten().copied().collect();
    visits.sort_unstable_by_key(|visit| (visit.start, visit.end));
    // Where a region is inside itself, the outermost counts.
    let mut end = 0;
    visits.retain(|visit| {
        let is_outermost = visit.start >= end;
        end = end.max(visit.end);
        is_outermost
    });
    (visits.len() >= LEAST_ITERATIONS).then(|| coverage(visits.into_iter()))
}

/// Of the time from the first to the last visit.
fn coverage(visits: impl Iterator<Item = Visit> + Clone) -> f64 {
    let first = visits.clone().map(|visit| visit.start).min().unwrap_or(0);
    let last = visits.clone().map(|visit| visit.end).max().unwrap_or(0);
    let inside: u64 = visits.map(Visit::nanos).sum();
    inside as f64 / last.saturating_sub(first).max(1) as f64
}
