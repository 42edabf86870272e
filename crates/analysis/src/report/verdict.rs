//! What bounds a whole program, in one word: what most of its time goes to.
//!
//! The verdict rests on the classes of time, on what is known of its GPUs, and, to tell computation
//! from waiting for memory, on counters. It is given only for more than half of the time; less is
//! no bound, since making it free would not make the program twice as fast.

use std::collections::BTreeMap;

use parallax_base::Unit;
use parallax_base::quantity::amount;

use super::sentences::metric_words;
use super::{Evidence, FindingKind, NextAction, Report};
use crate::cautions::CautionKind;
use crate::taxonomy::{CostClass, MpiClass};

/// A program is bound by what takes at least this share of its time, in per cent.
const MIN_BOUND_PERCENT: f64 = 50.0;
/// Waiting for a late member is what bounds, where it is at least this part of MPI.
const MIN_LATE_PART: f64 = 0.5;
/// A program waits for memory when at least this share of its cycles do, in per cent.
const MIN_STALLED_PERCENT: f64 = 50.0;
/// Or when so many last-level cache misses come on 1,000 instructions: with 100 ns each, of which
/// several overlap, they take longer than the instructions.
const MIN_MISSES: f64 = 10.0;

/// What bounds a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bound {
    /// The processor computes.
    Compute,
    /// The processor waits for memory.
    Memory,
    /// The program's own code, of which no counter says whether it computes or waits for memory.
    ComputeOrMemory,
    /// Messages.
    Communication,
    /// Ranks wait for one that has more to do.
    Imbalance,
    /// Threads wait for each other.
    Synchronisation,
    /// Files.
    Io,
    /// Allocating memory.
    Allocation,
    /// GPUs are busy nearly all the time.
    Gpu,
    /// GPUs are idle until their next work is launched.
    Latency,
}

impl Bound {
    /// What such a program is called: `communication-bound`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute-bound",
            Self::Memory => "memory-bound",
            Self::ComputeOrMemory => "compute- or memory-bound",
            Self::Communication => "communication-bound",
            Self::Imbalance => "bound by load imbalance",
            Self::Synchronisation => "bound by synchronisation",
            Self::Io => "I/O-bound",
            Self::Allocation => "bound by memory allocation",
            Self::Gpu => "GPU-bound",
            Self::Latency => "latency-bound",
        }
    }
}

/// What bounds a program, and why that is said; or why nothing is.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// What bounds it; `None` where nothing has more than half of the time, or where the
    /// measurement does not say.
    pub bound: Option<Bound>,
    /// Its share in per cent: of the time of the program, or of that of its GPUs.
    pub percent: Option<f64>,
    /// Why, as a clause: `MPI takes 56.9 % of wall-clock time`.
    pub reason: String,
    /// The numbers behind it.
    pub evidence: Vec<Evidence>,
}

impl Verdict {
    /// The verdict on a report with all findings. Never fails: what is not known is said.
    #[must_use]
    pub fn of(report: &Report) -> Self {
        if let Some(reason) = doubt(report) {
            return Self::none(reason);
        }
        of_gpus(report).unwrap_or_else(|| of_time(report))
    }

    fn none(reason: String) -> Self {
        Self { bound: None, percent: None, reason, evidence: Vec::new() }
    }

    fn some(bound: Bound, percent: f64, reason: String) -> Self {
        Self { bound: Some(bound), percent: Some(percent), reason, evidence: Vec::new() }
    }

    /// The verdict in one line.
    #[must_use]
    pub fn line(&self) -> String {
        let what = self.bound.map_or("none", Bound::name);
        format!("{what} ({})", self.reason)
    }
}

/// Why the measurement allows no verdict.
fn doubt(report: &Report) -> Option<String> {
    if report.inconclusive.is_some() {
        return report.inconclusive.clone();
    }
    let is_time = matches!(report.unit, Unit::Seconds | Unit::Cycles);
    if report.metric.is_none() || !is_time || report.program_total <= 0.0 {
        return Some("no time was measured".to_owned());
    }
    if report.findings.iter().any(|finding| finding.kind == FindingKind::FewSamples) {
        return Some("there are too few samples".to_owned());
    }
    let is_crowded = |kind: CautionKind| kind == CautionKind::Oversubscribed;
    report
        .cautions
        .iter()
        .any(|caution| is_crowded(caution.kind))
        .then(|| "the run is oversubscribed, so that times include waiting for a core".to_owned())
}

/// What is said of programs whose GPUs work nearly always, or wait for launches.
fn of_gpus(report: &Report) -> Option<Verdict> {
    let of_kind = |kind| report.findings.iter().find(move |finding| finding.kind == kind);
    if let Some(busy) = of_kind(FindingKind::BusyGpu) {
        let reason = format!("GPUs are busy for {:.1} % of their time", busy.percent);
        let mut verdict = Verdict::some(Bound::Gpu, busy.percent, reason);
        verdict.evidence.clone_from(&busy.evidence);
        return Some(verdict);
    }
    let is_late = |action: NextAction| action == NextAction::LateLaunches;
    let late = report.findings.iter().find(|finding| is_late(finding.next.action));
    let Some(late) = late.filter(|late| late.percent >= MIN_BOUND_PERCENT) else {
        // What the host does bounds a program only while its GPUs wait for it.
        let idle = of_kind(FindingKind::IdleGpu)?;
        let mut reason = format!("GPUs are idle for {:.1} % of their time", idle.percent);
        if let Some(late) = late {
            reason.push_str(&format!(", for {:.1} % because of late launches", late.percent));
        }
        return Some(Verdict::none(reason));
    };
    let reason = format!(
        "GPUs are idle for {:.1} % of their time because their next work is launched late",
        late.percent
    );
    let mut verdict = Verdict::some(Bound::Latency, late.percent, reason);
    verdict.evidence.clone_from(&late.evidence);
    Some(verdict)
}

/// What the time of GPUs is called among the parts of a program.
const GPU_WORK: &str = "GPU work";

/// What a class of time is called in a sentence, and what a program is bound by that spends most
/// of its time in it.
const fn part(class: CostClass) -> (&'static str, Option<Bound>) {
    match class {
        CostClass::Application | CostClass::OpenMpWork => {
            ("the program's own code", Some(Bound::ComputeOrMemory))
        }
        CostClass::Mpi(MpiClass::Environment) => ("MPI initialisation and finalisation", None),
        CostClass::Mpi(MpiClass::Io) => ("I/O", Some(Bound::Io)),
        CostClass::Mpi(_) => ("communication in MPI", Some(Bound::Communication)),
        CostClass::OpenMpIdle
        | CostClass::OpenMpWait
        | CostClass::OpenMpOverhead
        | CostClass::OpenMpRuntime
        | CostClass::Locks => ("thread synchronisation", Some(Bound::Synchronisation)),
        CostClass::PosixIo | CostClass::LibraryIo => ("I/O", Some(Bound::Io)),
        CostClass::Memory => ("memory allocation", Some(Bound::Allocation)),
        CostClass::GpuRuntime => ("host code of the GPU runtime", None),
        CostClass::Gpu(_) => (GPU_WORK, None),
        CostClass::Sleeping => ("sleeping and polling", None),
        CostClass::Preempted => ("waiting for a core", None),
        CostClass::HelperThreads => ("helper threads", None),
    }
}

/// What most of the time goes to.
fn of_time(report: &Report) -> Verdict {
    let metric = metric_words(&report.metric_name);
    let mut parts: BTreeMap<&'static str, (f64, Option<Bound>)> = BTreeMap::new();
    // Helper threads are no part of the program.
    for row in report.categories.iter().filter(|row| row.percent.is_some()) {
        let (name, bound) = part(row.class);
        parts.entry(name).or_insert((0.0, bound)).0 += row.cost;
    }
    let mut parts: Vec<_> = parts.into_iter().collect();
    parts.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
    let share = |cost: f64| cost / report.program_total * 100.0;
    let Some(&(name, (cost, bound))) = parts.first() else {
        return Verdict::none("no time was measured".to_owned());
    };
    let percent = share(cost);
    if bound.is_none() && name == GPU_WORK && percent >= 99.95 {
        return Verdict::none("only GPUs were measured".to_owned());
    }
    if percent < MIN_BOUND_PERCENT {
        let told: Vec<String> = parts
            .iter()
            .take(2)
            .map(|&(name, (cost, _))| format!("{name} {:.1} %", share(cost)))
            .collect();
        return Verdict::none(format!("nothing takes half of {metric}: {}", told.join(", ")));
    }
    let mut verdict = Verdict {
        bound,
        percent: Some(percent),
        reason: format!("{name} takes {percent:.1} % of {metric}"),
        evidence: vec![Evidence {
            what: name.to_owned(),
            value: cost,
            unit: report.unit.to_string(),
        }],
    };
    match bound {
        Some(Bound::Communication) => blame_late(report, cost, &mut verdict),
        Some(Bound::ComputeOrMemory) => look_at_memory(report, &mut verdict),
        _ => {}
    }
    verdict
}

/// MPI that is mostly waiting for one member is no communication.
fn blame_late(report: &Report, mpi: f64, verdict: &mut Verdict) {
    let Some(late) = &report.late else { return };
    let waiting = late.waiting.min(mpi);
    if waiting < mpi * MIN_LATE_PART {
        return;
    }
    verdict.bound = Some(Bound::Imbalance);
    verdict.reason.push_str(&format!(
        ", {} of it waiting for {} in {}",
        amount(waiting, &report.unit),
        late.member,
        late.function
    ));
    verdict.evidence.push(Evidence {
        what: format!("waiting for {}", late.member),
        value: waiting,
        unit: report.unit.to_string(),
    });
}

/// What hardware counters are called by the tools that record them, without marks between words.
const CYCLES: [&str; 4] = ["PAPITOTCYC", "CYCLES", "CPUCYCLES", "CPUCLKUNHALTED"];
const INSTRUCTIONS: [&str; 3] = ["PAPITOTINS", "INSTRUCTIONS", "INSTRETIRED"];
const STALLS: [&str; 4] =
    ["PAPIMEMSCY", "CYCLEACTIVITYSTALLSMEMANY", "CYCLEACTIVITYSTALLSL3MISS", "MEMSTALLS"];
const MISSES: [&str; 8] = [
    "PAPIL3TCM",
    "PAPIL3DCM",
    "LLCMISSES",
    "LLCLOADMISSES",
    "CACHEMISSES",
    "LASTLEVELCACHEMISSES",
    "LONGESTLATCACHEMISS",
    "MEMLOADRETIREDL3MISS",
];

/// The first of some counters that was measured, and its total.
fn counter<'r>(report: &'r Report, names: &[&str]) -> Option<(&'r str, f64)> {
    let found = report.metrics.iter().find(|metric| {
        let name = metric.name.rsplit("::").next().unwrap_or(&metric.name);
        let plain: String =
            name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_uppercase();
        names.contains(&plain.as_str())
    })?;
    let total = found.total.filter(|total| *total > 0.0)?;
    Some((&found.name, total))
}

/// Whether own code computes or waits for memory, where counters tell.
fn look_at_memory(report: &Report, verdict: &mut Verdict) {
    let (by_memory, reason, numbers) = if let (Some((stalls, stalled)), Some((_, cycles))) =
        (counter(report, &STALLS), counter(report, &CYCLES))
    {
        let percent = (stalled / cycles * 100.0).min(100.0);
        let reason = format!("{percent:.1} % of cycles wait for memory by {stalls}");
        (percent >= MIN_STALLED_PERCENT, reason, [(stalls, stalled), ("cycles", cycles)])
    } else if let (Some((misses, missed)), Some((_, instructions))) =
        (counter(report, &MISSES), counter(report, &INSTRUCTIONS))
    {
        let per_thousand = missed / instructions * 1000.0;
        let reason = format!("{per_thousand:.1} cache misses per 1,000 instructions by {misses}");
        (per_thousand >= MIN_MISSES, reason, [(misses, missed), ("instructions", instructions)])
    } else {
        verdict.reason.push_str("; no counters tell computation from waiting for memory");
        return;
    };
    verdict.bound = Some(if by_memory { Bound::Memory } else { Bound::Compute });
    verdict.reason.push_str(&format!("; {reason}"));
    verdict.evidence.extend(numbers.map(|(what, value)| Evidence {
        what: what.to_owned(),
        value,
        unit: String::new(),
    }));
}
