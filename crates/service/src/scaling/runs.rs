//! Which experiments are runs of one program with the same metric, so that they make an ensemble.

use std::collections::{BTreeMap, BTreeSet};

use parallax_base::Control;
use parallax_engine::Session;
use parallax_model::ContextKind;
use parallax_model::ensemble::{Ensemble, RegionKind};

use super::ScalingError;
use super::answer::is_mpi;
use super::clock::ChosenMetric;
use super::contexts::ContextOptions;

/// Share of the smaller program's functions that runs of one program have in common at least, where
/// their titles do not say that they are of one.
const LEAST_COMMON: f64 = 0.5;

/// Runs of one program with the same metric.
pub(super) struct RunGroup {
    /// Positions in the list of sessions, ascending.
    pub(super) members: Vec<usize>,
    /// What they measured; `None` where a member lacks what was requested.
    pub(super) metric: Option<ChosenMetric>,
    /// Title of the program.
    pub(super) program: String,
}

/// The groups, the largest first, those of equal size in the order of their first member.
pub(super) fn group_runs(
    sessions: &[(&str, Session)],
    options: &ContextOptions,
    control: &Control,
) -> Result<Vec<RunGroup>, ScalingError> {
    let mut groups = Vec::new();
    let mut first_error = None;
    for program in programs(sessions) {
        let mut left = program.members;
        // Each member's own choice, the earliest first.
        let mut choices: Vec<ChosenMetric> = Vec::new();
        for &member in &left {
            let Some((_, session)) = sessions.get(member) else { continue };
            match ChosenMetric::of(session, options, control) {
                Ok(choice) if choices.iter().all(|known| !known.is_same(&choice)) => {
                    choices.push(choice);
                }
                Ok(_) => {}
                Err(error) if error.is_cancelled() => return Err(error),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        let has = |member: usize, metric: &ChosenMetric| {
            sessions.get(member).is_some_and(|(_, session)| metric.is_in(session.experiment()))
        };
        while !left.is_empty() {
            let count = |metric: &ChosenMetric| left.iter().filter(|&&m| has(m, metric)).count();
            // Of equal ones the last is the maximum; the first is wanted.
            let best = choices.iter().rev().max_by_key(|metric| count(metric)).cloned();
            let best = best.filter(|metric| count(metric) > 0);
            let (members, others): (Vec<usize>, Vec<usize>) = match &best {
                Some(metric) => left.iter().partition(|&&member| has(member, metric)),
                None => (left, Vec::new()),
            };
            groups.push(RunGroup { members, metric: best, program: program.title.clone() });
            left = others;
        }
    }
    match first_error {
        Some(error) if groups.iter().all(|group| group.metric.is_none()) => return Err(error),
        _ => {}
    }
    groups.sort_by_key(|group| (group.metric.is_none(), std::cmp::Reverse(group.members.len())));
    Ok(groups)
}

/// Runs of one program.
struct Program {
    title: String,
    members: Vec<usize>,
    functions: BTreeSet<String>,
    is_named: bool,
}

fn programs(sessions: &[(&str, Session)]) -> Vec<Program> {
    let mut out: Vec<Program> = Vec::new();
    for (at, (name, session)) in sessions.iter().enumerate() {
        let title = session.experiment().metadata.title.clone();
        let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        // Without a name in the data, the file lends it its own.
        let is_named = title != base(name) && title != base(&session.experiment().metadata.origin);
        let functions = own_functions(session);
        let known = out.iter_mut().find(|program| {
            let is_one = program.title == title && is_named && program.is_named;
            is_one || have_common(&program.functions, &functions)
        });
        match known {
            Some(program) => program.members.push(at),
            None => out.push(Program { title, members: vec![at], functions, is_named }),
        }
    }
    out
}

/// Whether two files of measurements are of one program: they share a metric, and have one title or
/// share enough of their regions.
#[must_use]
pub fn measure_one_program(a: &Ensemble, b: &Ensemble) -> bool {
    let has_metric = |name: &str| b.metric(name).is_some();
    if !a.metrics().iter().any(|metric| has_metric(&metric.name)) {
        return false;
    }
    let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let is_named = |e: &Ensemble| base(&e.metadata.title) != base(&e.metadata.origin);
    if a.metadata.title == b.metadata.title && is_named(a) && is_named(b) {
        return true;
    }
    let regions = |ensemble: &Ensemble| -> BTreeSet<String> {
        let all = ensemble.regions().iter();
        let parts = all.filter(|region| region.kind != RegionKind::WholeProgram);
        parts.map(|region| region.path.clone()).collect()
    };
    have_common(&regions(a), &regions(b))
}

/// Names of functions of the program itself: not of shared libraries, and not of MPI.
fn own_functions(session: &Session) -> BTreeSet<String> {
    let tree = session.tree();
    let modules = tree.modules();
    let is_own = |function: &&parallax_model::Function| {
        let module = function.module.and_then(|module| modules.get(module.idx()));
        !module.is_some_and(|module| is_library(&module.path))
            && !is_mpi(&function.name)
            && !function.name.starts_with('<')
            && function.group.as_deref() != Some("MPI")
    };
    // Functions without contexts say nothing about this run.
    let used: BTreeSet<usize> = tree
        .iter()
        .filter(|&context| tree.kind(context) == ContextKind::Function)
        .filter_map(|context| tree.function(context))
        .map(parallax_base::FunctionIdx::idx)
        .collect();
    let functions = tree.functions().iter().enumerate();
    let functions = functions.filter(|(at, _)| used.is_empty() || used.contains(at));
    functions
        .map(|(_, function)| function)
        .filter(is_own)
        .map(|function| function.name.to_string())
        .filter(|name| name != "main")
        .collect()
}

fn is_library(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.contains(".so.") || name.ends_with(".so") || name.starts_with('[') || name.starts_with('<')
}

/// Whether two programs share enough of their functions; programs without any may be the same.
fn have_common(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    let smaller = a.len().min(b.len());
    if smaller == 0 {
        return a.is_empty() && b.is_empty();
    }
    a.intersection(b).count() as f64 >= smaller as f64 * LEAST_COMMON
}

/// Why each session outside the groups that became ensembles is in none: position and reason.
pub(super) fn left_out(
    sessions: &[(&str, Session)],
    groups: &[RunGroup],
    is_used: impl Fn(&RunGroup) -> bool,
) -> BTreeMap<usize, String> {
    let Some(main) = groups.first() else { return BTreeMap::new() };
    let mut out = BTreeMap::new();
    for group in groups.iter().filter(|group| !is_used(group)) {
        for &member in &group.members {
            let own = group.metric.as_ref();
            let reason = match (&main.metric, own) {
                _ if group.program != main.program => {
                    format!("a run of {}, not of {}", group.program, main.program)
                }
                (Some(wanted), Some(own)) => {
                    format!("it has the {}, not {}", own.with_kind(), wanted.label())
                }
                (Some(wanted), None) => format!("it has no {}", wanted.with_kind()),
                (None, _) => "its metric is not known".to_owned(),
            };
            if sessions.get(member).is_some() {
                out.insert(member, reason);
            }
        }
    }
    out
}
