//! What a reader must know of a measurement before believing what is said about it: more threads
//! than cores, a build without optimisation, counters that were multiplexed.
//!
//! Each is said only where the data show it; where they are silent, so is this.

use std::collections::BTreeSet;

use parallax_base::quantity::amount;
use parallax_base::{ContextIdx, Control, MetricIdx, Unit};
use parallax_engine::{Costs, EngineError, LocationChoice, Session};
use parallax_model::{ContextKind, ContextTree, Relation};

use crate::report::Evidence;
use crate::taxonomy::Roles;
use crate::taxonomy::classes::{Classes, CostClass};

/// One thing to know, as a sentence with its numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Caution {
    /// What it is about.
    pub kind: CautionKind,
    /// The sentence.
    pub text: String,
    /// Its numbers.
    pub evidence: Vec<Evidence>,
    /// Share of the program's cost that it is about, in per cent.
    pub percent: f64,
}

/// What a [`Caution`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CautionKind {
    /// More threads computed than there were cores.
    Oversubscribed,
    /// The program was compiled without optimisation.
    Unoptimised,
    /// Counters took turns, so that their values are extrapolated.
    Multiplexed,
}

impl CautionKind {
    /// What it is, in a few words.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Oversubscribed => "Oversubscribed cores",
            Self::Unoptimised => "Build without optimisation",
            Self::Multiplexed => "Multiplexed counters",
        }
    }
}

/// What speaks for caution with an experiment; `costs` are those of a metric of time, without
/// helper threads.
///
/// # Errors
/// When values cannot be read, or the question is withdrawn.
pub(crate) fn cautions(
    session: &Session,
    classes: &Classes,
    costs: &Costs,
    control: &Control,
) -> Result<Vec<Caution>, EngineError> {
    let mut out = Vec::new();
    let crowded = match by_allowed_cores(session, control)? {
        Some(caution) => Some(caution),
        None => match by_preemption(session, classes, control)? {
            Some(caution) => Some(caution),
            None => by_time_without_core(session, classes, control)?,
        },
    };
    out.extend(crowded);
    out.extend(unoptimised(session.tree(), classes, costs));
    out.extend(multiplexed(session));
    Ok(out)
}

/// The value of a fact, where all threads have the same.
fn fact<'s>(session: &'s Session, name: &str) -> Option<&'s str> {
    let facts = &session.experiment().metadata.facts;
    let value = facts.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())?;
    // Values that differ are listed.
    (!value.contains(", ")).then_some(value)
}

/// How many different values a fact has over the threads.
fn num_values(session: &Session, name: &str) -> Option<usize> {
    let facts = &session.experiment().metadata.facts;
    let value = facts.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())?;
    let (listed, more) = match value.rsplit_once(" and ") {
        Some((listed, more)) => (listed, more.strip_suffix(" more")?.parse().ok()?),
        None => (value, 0),
    };
    Some(listed.split(", ").count() + more)
}

/// How many numbers a list of ranges has: 6 for `0-3,8-9`.
fn list_len(text: &str) -> Option<usize> {
    text.split(',').try_fold(0_usize, |sum, part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        sum.checked_add(last.checked_sub(first)?.checked_add(1)?)
    })
}

/// By what TAU writes about each process: all threads of a node may use the same cores, and there
/// are fewer of these than threads that compute. Where processes are bound to cores of their own,
/// their lists differ, and nothing is said.
fn by_allowed_cores(session: &Session, control: &Control) -> Result<Option<Caution>, EngineError> {
    let Some(cores) = fact(session, "CPUs Allowed List").and_then(list_len) else {
        return Ok(None);
    };
    let Some(nodes) = num_values(session, "Hostname").filter(|&nodes| nodes > 0) else {
        return Ok(None);
    };
    let locations = &session.experiment().locations;
    let roles = Roles::of(session, control)?;
    let computing = locations.iter().filter(|&location| {
        !locations.is_gpu(location)
            && locations.num_values(location) > 0
            && !roles.is_helper(location)
    });
    let threads = computing.count();
    if cores == 0 || threads.div_ceil(nodes) <= cores {
        return Ok(None);
    }
    let on = if nodes == 1 { String::new() } else { format!(" on {nodes} nodes") };
    let each = if nodes == 1 { "" } else { " each" };
    let word = if cores == 1 { "core" } else { "cores" };
    Ok(Some(Caution {
        kind: CautionKind::Oversubscribed,
        text: format!(
            "The run is oversubscribed: {threads} threads{on} share {cores} {word}{each}. Times \
             include waiting for a core, and say little about scaling or balance."
        ),
        evidence: vec![
            number("threads", threads as f64),
            number("cores of a node", cores as f64),
            number("nodes", nodes as f64),
        ],
        percent: 100.0,
    }))
}

fn number(what: &str, value: f64) -> Evidence {
    Evidence { what: what.to_owned(), value, unit: String::new() }
}

fn seconds(what: &str, value: f64) -> Evidence {
    Evidence { what: what.to_owned(), value, unit: "s".to_owned() }
}

/// From this share of the time on in which threads are ready to run and have no core, they share
/// cores; schedulers take a thread off its core now and then on an idle node, too.
const LEAST_PREEMPTED: f64 = 0.1;

/// By what recordings of our own say: when each thread was ready to run and another one had the
/// core.
fn by_preemption(
    session: &Session,
    classes: &Classes,
    control: &Control,
) -> Result<Option<Caution>, EngineError> {
    let is_preempted =
        |context: ContextIdx| classes.of_context.get(context.idx()) == Some(&CostClass::Preempted);
    let tree = session.tree();
    let Some((wall, cpu)) = clocks(session).filter(|_| tree.iter().any(is_preempted)) else {
        return Ok(None);
    };
    let elapsed = session.costs(wall, &LocationChoice::All, control)?;
    let scale = seconds_of(session, wall);
    let own = tree.iter().filter(|&context| is_preempted(context));
    let without: f64 =
        scale * own.filter_map(|c| elapsed.exclusive.get(c.idx()).copied()).sum::<f64>();
    let on_core =
        session.costs(cpu, &LocationChoice::All, control)?.total * seconds_of(session, cpu);
    let ready = without + on_core;
    if ready < LEAST_SECONDS || without < LEAST_PREEMPTED * ready {
        return Ok(None);
    }
    Ok(Some(Caution {
        kind: CautionKind::Oversubscribed,
        text: format!(
            "The node is oversubscribed: for {:.0} % of the time in which threads are ready to run \
             ({} of {}) another thread has the core. Times include that, and say little about \
             scaling or balance.",
            without / ready * 100.0,
            amount(without, &Unit::Seconds),
            amount(ready, &Unit::Seconds),
        ),
        evidence: vec![
            seconds("ready to run, without a core", without),
            seconds("ready to run", ready),
        ],
        percent: if elapsed.total > 0.0 { without / (elapsed.total * scale) * 100.0 } else { 0.0 },
    }))
}

/// The metrics of elapsed time and of time on a core, where both were measured and can be believed.
fn clocks(session: &Session) -> Option<(MetricIdx, MetricIdx)> {
    let catalog = &session.experiment().metrics;
    let find = |names: &[&str]| -> Option<MetricIdx> {
        let is_named = |name: &str| names.iter().any(|known| name.eq_ignore_ascii_case(known));
        let found = catalog.iter().find(|(_, m)| is_named(&m.name) && m.unit.is_time());
        found.map(|(metric, _)| metric)
    };
    let (wall, cpu) = find(&["realtime", "time"]).zip(find(&["cputime", "cpu_time"]))?;
    (!session.has_wrapped(wall) && !session.has_wrapped(cpu)).then_some((wall, cpu))
}

/// What a value of a metric of time is in seconds.
fn seconds_of(session: &Session, metric: MetricIdx) -> f64 {
    if session.experiment().metrics.get(metric).unit == Unit::Nanos { 1e-9 } else { 1.0 }
}

/// Less than this share of the time in functions that compute is on a core where threads share
/// cores.
const LEAST_ON_CORE: f64 = 0.75;
/// Functions that compute take at least this share of all time where that is said.
const LEAST_COMPUTING: f64 = 0.1;
/// Shorter times say nothing, in seconds: clocks of processors have ticks of ten milliseconds.
const LEAST_SECONDS: f64 = 0.2;

/// By two clocks: functions of the program compute, so they should be on a core all the time that
/// they take.
fn by_time_without_core(
    session: &Session,
    classes: &Classes,
    control: &Control,
) -> Result<Option<Caution>, EngineError> {
    let Some((wall, cpu)) = clocks(session) else { return Ok(None) };
    let tree = session.tree();
    let computing = |metric: MetricIdx| -> Result<(f64, f64), EngineError> {
        let costs = session.costs(metric, &LocationChoice::All, control)?;
        let scale = seconds_of(session, metric);
        let is_own = |context: &ContextIdx| {
            tree.kind(*context) == ContextKind::Function
                && classes.of_context.get(context.idx()) == Some(&CostClass::Application)
                && !classes.is_library(tree, *context)
        };
        let own = tree.iter().filter(is_own);
        let sum: f64 = own.filter_map(|c| costs.exclusive.get(c.idx()).copied()).sum();
        Ok((sum * scale, costs.total * scale))
    };
    let ((wall, whole), (cpu, _)) = (computing(wall)?, computing(cpu)?);
    if wall < LEAST_SECONDS || wall < LEAST_COMPUTING * whole || cpu >= LEAST_ON_CORE * wall {
        return Ok(None);
    }
    let share = cpu / wall * 100.0;
    Ok(Some(Caution {
        kind: CautionKind::Oversubscribed,
        text: format!(
            "The node is probably oversubscribed: functions that compute are on a core for only \
             {share:.0} % of their time, so threads wait for cores (or sleep in calls that were not \
             measured). Times say little about scaling or balance."
        ),
        evidence: vec![
            seconds("functions that compute, elapsed", wall),
            seconds("functions that compute, on a core", cpu),
        ],
        percent: (wall - cpu) / whole * 100.0,
    }))
}

/// Accessors that compilers inline as soon as they optimise.
const TRIVIAL: [&str; 10] = [
    "operator[](",
    "operator*(",
    "operator++(",
    "operator!=",
    "::begin()",
    "::end()",
    "::size()",
    "std::move<",
    "std::forward<",
    "::base() const",
];
/// Namespaces and classes of the C++ library whose accessors are trivial.
const STANDARD: [&str; 6] = [
    "std::vector<",
    "std::array<",
    "std::unique_ptr<",
    "__gnu_cxx::__normal_iterator<",
    "std::move<",
    "std::forward<",
];
/// Calls of accessors take at least this share where a program is not optimised, in per cent.
const LEAST_TRIVIAL_PERCENT: f64 = 2.0;

/// Accessors of the C++ library that are called instead of inlined: of at least two kinds, since
/// one of them may be too large to be inlined somewhere.
fn unoptimised(tree: &ContextTree, classes: &Classes, costs: &Costs) -> Option<Caution> {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let mut cost = 0.0;
    for context in tree.iter() {
        if tree.relation(context) != Relation::Call || tree.kind(context) != ContextKind::Function {
            continue;
        }
        let own = costs.exclusive.get(context.idx()).copied().unwrap_or(0.0);
        let Some(name) = tree.function_name(context).filter(|_| own > 0.0) else { continue };
        let is_standard = STANDARD.iter().any(|start| name.starts_with(start));
        if is_standard
            && TRIVIAL.iter().any(|part| name.contains(part))
            && !classes.is_library(tree, context)
        {
            cost += own;
            names.insert(name);
        }
    }
    let percent = costs.percent(cost);
    if names.len() < 2 || percent < LEAST_TRIVIAL_PERCENT {
        return None;
    }
    let first = names.first()?;
    Some(Caution {
        kind: CautionKind::Unoptimised,
        text: format!(
            "The program was compiled without optimisation: calls of accessors such as {first}, \
             which compilers otherwise inline, take {percent:.1} %. Measure an optimised build."
        ),
        evidence: vec![
            Evidence { what: "calls of accessors".into(), value: percent, unit: "%".into() },
            number("accessors that are called", names.len() as f64),
        ],
        percent,
    })
}

/// Counters that took turns on too few registers, where the tool says so.
fn multiplexed(session: &Session) -> Option<Caution> {
    let is_on = |value: &str| ["on", "1", "yes", "true"].contains(&value.to_lowercase().as_str());
    fact(session, "TAU_PAPI_MULTIPLEXING").filter(|value| is_on(value))?;
    let metrics = &session.experiment().metrics;
    let counters = metrics.iter().filter(|(_, metric)| metric.name.starts_with("PAPI_")).count();
    (counters > 1).then(|| Caution {
        kind: CautionKind::Multiplexed,
        text: format!(
            "{counters} counters took turns (multiplexing): their values are extrapolated, those of \
             short functions by much."
        ),
        evidence: vec![number("counters", counters as f64)],
        percent: 0.0,
    })
}

/// Number of ranks, or of threads where there are none, of an experiment.
#[must_use]
pub fn num_processes(session: &Session) -> usize {
    session.experiment().locations.num_ranks().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cores_are_counted() {
        assert_eq!(list_len("0-3,8-9"), Some(6));
        assert_eq!(list_len("0"), Some(1));
        assert_eq!(list_len("0-1"), Some(2));
        for broken in ["", "x", "3-1", "0-18446744073709551615,0-18446744073709551615"] {
            assert_eq!(list_len(broken), None, "{broken}");
        }
    }
}
