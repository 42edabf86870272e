//! What is wrong first: the findings of all analyses in one order.
//!
//! The report of costs has findings of its own; each [`Producer`] adds what another analysis knows
//! about the same experiment. A new analysis needs one line in [`PRODUCERS`].

mod gpus;
mod groups;
mod iterations;
mod launches;
mod stalls;

use std::collections::BTreeMap;

use parallax_analysis::cautions::CautionKind;
use parallax_analysis::comparison::VersionPair;
use parallax_analysis::events::{WaitChoice, WaitKind, critical_path, waits};
use parallax_analysis::mpi_routine;
use parallax_analysis::report::{
    Evidence, Finding, FindingKind, NextAction, NextStep, Potential, Report, part_words,
    rank_findings,
};
use parallax_analysis::taxonomy::{FunctionNames, is_uninstrumented, waits_for_gpu};
use parallax_base::quantity::{amount, counted};
use parallax_base::{ContextIdx, Control, Remedy, TrackIdx, Unit, capitalised};
use parallax_engine::display_name;
use parallax_model::ContextTree;
use parallax_protocol::TopologyRequest;

use crate::comparison::ComparisonOutcome;
use crate::{Answer, OpenExperiment, ServiceError};

/// Findings of one analysis; none where it has nothing to say about the experiment.
type Producer = fn(&OpenExperiment, &Report, &Control) -> Result<Findings, ServiceError>;

/// The key with the largest number; the first of several.
fn most<K: Copy + Ord, N: Copy + Ord>(of: &BTreeMap<K, N>) -> Option<(K, N)> {
    let most = of.iter().max_by_key(|&(key, number)| (*number, std::cmp::Reverse(key)));
    most.map(|(key, number)| (*key, *number))
}

/// Findings, and notes on what is not among them.
type Findings = Answer<Vec<Finding>>;

/// All analyses that are asked, with what their findings are about.
const PRODUCERS: [(&str, Producer); 5] = [
    ("GPU idle time", gpus::idle_or_busy),
    ("GPU stalls", stalls::stalling_kernels),
    ("wait states", waiting),
    ("the critical path", on_critical_path),
    ("iterations", iterations::uneven_iterations),
];

/// Less than this share is shown as 0.0 %.
const MIN_SHOWN_PERCENT: f64 = 0.05;
/// Less than this share of the time of all locations limits nothing, in per cent.
const MIN_WAIT_PERCENT: f64 = 5.0;
/// Kinds of waiting that are told.
const MAX_WAITS: usize = 2;
/// A function is told when at least this share of the critical path is in it, in per cent.
const MIN_PATH_PERCENT: f64 = 20.0;

impl OpenExperiment {
    /// The report with the findings of all analyses, what is wrong first before all. An analysis
    /// that fails becomes a note.
    ///
    /// # Errors
    /// As [`OpenExperiment::report`].
    pub fn diagnose(
        &self,
        metric: Option<&str>,
        control: &Control,
    ) -> Result<Answer<Report>, ServiceError> {
        self.diagnose_at(metric, &TopologyRequest::default(), control)
    }

    /// The same, with host tables that say where nodes stand; `clusters` of the request are not
    /// used.
    ///
    /// # Errors
    /// As [`OpenExperiment::report`], and when a host table cannot be read.
    pub fn diagnose_at(
        &self,
        metric: Option<&str>,
        place: &TopologyRequest,
        control: &Control,
    ) -> Result<Answer<Report>, ServiceError> {
        let mut report = self.report(metric, control)?;
        let mut notes = std::mem::take(&mut report.limits);
        if report.inconclusive.is_some() {
            return Ok(Answer { value: report, notes });
        }
        for (subject, producer) in PRODUCERS {
            match producer(self, &report, control) {
                Ok(found) => {
                    report.findings.extend(found.value);
                    notes.extend(found.notes);
                }
                Err(error) if error.is_cancelled() => return Err(error),
                Err(error) => notes.push(format!("No findings about {subject}: {error}.")),
            }
        }
        match groups::unlike_ranks(self, &report, metric, place, control) {
            Ok(found) => {
                let tree = self.session.tree();
                report
                    .findings
                    .retain(|old| !found.value.iter().any(|new| groups::says_more(new, old, tree)));
                report.findings.extend(found.value);
                notes.extend(found.notes);
            }
            Err(error) if error.is_cancelled() || error.is_misuse() => return Err(error),
            Err(error) => notes.push(format!("No findings about clusters: {error}.")),
        }
        gpus::explain_host(&mut report.findings);
        stalls::explain_waiting(&mut report.findings, self.session.tree());
        // What rounds to nothing is no finding; metrics that mean nothing have no share.
        report.findings.retain(|finding| {
            finding.percent >= MIN_SHOWN_PERCENT || finding.kind == FindingKind::WrappedMetric
        });
        self.agree_on_the_run(&mut report.findings);
        doubt_savings(&mut report);
        rank_findings(&mut report.findings);
        causes_first(&mut report.findings);
        Ok(Answer { value: report, notes })
    }

    /// Makes all savings shares of the same run: where a trace says how long it took, of that time.
    fn agree_on_the_run(&self, findings: &mut [Finding]) {
        let run = self.session.traces().map_or(0.0, |store| seconds(store.span().nanos()));
        if run <= 0.0 {
            return;
        }
        for finding in findings {
            if let Some(saving) = finding.potential.as_mut().filter(|one| one.unit.is_time()) {
                saving.percent = (saving.amount / run * 100.0).min(100.0);
            }
        }
    }
}

/// Takes back what would be saved where more threads ran than there were cores: how long one of them
/// took says as much about the others as about itself.
fn doubt_savings(report: &mut Report) {
    if !report.cautions.iter().any(|caution| caution.kind == CautionKind::Oversubscribed) {
        return;
    }
    let rests_on_times = |kind| {
        matches!(
            kind,
            FindingKind::Imbalance
                | FindingKind::Mpi
                | FindingKind::Iterations
                | FindingKind::Groups
                | FindingKind::Waiting
                | FindingKind::CriticalPath
        )
    };
    for finding in report.findings.iter_mut().filter(|finding| rests_on_times(finding.kind)) {
        if finding.potential.take().is_some() {
            finding.text.push_str(" Waiting for a core is part of these times.");
        }
    }
}

/// Moves the imbalance of iterations before what follows from it: while one location computes, GPUs
/// are idle and ranks wait for nearly as long as balancing saves.
fn causes_first(findings: &mut [Finding]) {
    /// Waiting for others takes this much longer than what they are late, at most.
    const FOLLOWS: f64 = 1.25;
    let of_iterations = |one: &Finding| {
        one.kind == FindingKind::Iterations
            || (one.kind == FindingKind::Imbalance && one.next.action == NextAction::Iterations)
    };
    let Some(at) = findings.iter().position(of_iterations) else { return };
    let saved = findings.get(at).map_or(0.0, |one| one.percent);
    let before = findings.get(..at).unwrap_or_default().iter().rev();
    let follows = before.take_while(|one| {
        matches!(one.kind, FindingKind::IdleGpu | FindingKind::Mpi | FindingKind::Waiting)
            && one.percent <= saved * FOLLOWS
    });
    let to = at - follows.count();
    if let Some(moved) = findings.get_mut(to..=at) {
        moved.rotate_right(1);
    }
}

fn evidence(what: &str, value: f64, unit: &str) -> Evidence {
    Evidence { what: what.to_owned(), value, unit: unit.to_owned() }
}

/// What would be saved, in seconds and of a run of `run` seconds.
fn potential(saving: f64, run: f64, condition: &'static str) -> Potential {
    let percent = if run > 0.0 { (saving / run * 100.0).min(100.0) } else { 0.0 };
    Potential { amount: saving, unit: Unit::Seconds, percent, condition }
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// What a wait state is called at the beginning of a sentence.
const fn wait_state(kind: WaitKind) -> &'static str {
    match kind {
        WaitKind::LateSender => "Late sender",
        WaitKind::LateReceiver => "Late receiver",
        WaitKind::Barrier => "Wait at barrier",
        WaitKind::AllToAll => "Wait at all-to-all",
        WaitKind::LateBroadcast => "Late broadcast",
        WaitKind::EarlyReduce => "Early reduce",
        WaitKind::EarlyScan => "Early scan",
        WaitKind::LateLaunch => "Late launch",
        WaitKind::ForGpu => "Wait for GPU",
    }
}

fn waiting(
    opened: &OpenExperiment,
    _: &Report,
    control: &Control,
) -> Result<Findings, ServiceError> {
    if !opened.has_waits() {
        return Ok(Findings::default());
    }
    let mut notes = Vec::new();
    let selection = opened.selection(None, None, &mut notes, control)?;
    let store = opened.session.traces()?;
    let has_calls = |track: &&TrackIdx| store.track(**track).is_some_and(|t| t.num_samples > 0);
    let num_tracks = selection.tracks.iter().filter(has_calls).count();
    let whole = seconds(store.span().nanos()) * num_tracks as f64;
    let found = waits(&opened.session, &selection, WaitChoice::ALL, control)?;
    let tree = opened.session.tree();
    let names = opened.track_names();
    let name = |track: TrackIdx| names.get(track.idx()).cloned().unwrap_or_default();
    /// Time, waits, and time by who waits, by who is waited for, and by call path.
    #[derive(Default)]
    struct Sum {
        nanos: u128,
        count: u64,
        waiters: BTreeMap<TrackIdx, u128>,
        delayed_by: BTreeMap<TrackIdx, u128>,
        contexts: BTreeMap<ContextIdx, u128>,
    }
    let mut sums: BTreeMap<(WaitKind, String), Sum> = BTreeMap::new();
    for wait in &found.list {
        // Streams that wait are no idle GPUs: see `launches`.
        if wait.kind == WaitKind::LateLaunch {
            continue;
        }
        let sum = sums.entry((wait.kind, tree.label(wait.context))).or_default();
        let nanos = u128::from(wait.nanos());
        sum.nanos += nanos;
        sum.count += 1;
        *sum.waiters.entry(wait.track).or_insert(0) += nanos;
        *sum.delayed_by.entry(wait.delayed_by).or_insert(0) += nanos;
        *sum.contexts.entry(wait.context).or_insert(0) += nanos;
    }
    let mut out: Vec<Finding> = launches::gpu_losses(opened, &found.list, control)?;
    for ((kind, routine), Sum { nanos, count, waiters, delayed_by, contexts }) in &sums {
        let time = *nanos as f64 / 1e9;
        let percent = if whole > 0.0 { time / whole * 100.0 } else { 0.0 };
        // A host that waits for a busy GPU loses nothing; idle GPUs are a finding of their own.
        if percent < MIN_WAIT_PERCENT || *kind == WaitKind::ForGpu {
            continue;
        }
        let share = |own: u128| own as f64 / (*nanos).max(1) as f64;
        let told = |of: &BTreeMap<TrackIdx, u128>| {
            most(of).map_or_else(String::new, |(track, own)| {
                format!("{} ({:.0} %)", name(track), share(own) * 100.0)
            })
        };
        let text = format!(
            "{} of waiting in {}, {percent:.1} % of the time of all locations. {} is at {}, caused \
             by {}.",
            amount(time, &Unit::Seconds),
            counted(*count, "call"),
            capitalised(part_words(most(waiters).map_or(0.0, |(_, own)| share(own)))),
            told(waiters),
            told(delayed_by),
        );
        let per_location = time / num_tracks.max(1) as f64;
        let run = seconds(store.span().nanos());
        let condition = "per location on average, without these waits";
        out.push(Finding {
            kind: FindingKind::Waiting,
            title: format!("{} in {}", wait_state(*kind), display_name(routine)),
            text,
            percent,
            potential: Some(potential(per_location, run, condition)),
            evidence: vec![
                evidence("waiting", time, "s"),
                evidence("time of all locations", whole, "s"),
                evidence("waits", *count as f64, ""),
            ],
            context: most(contexts).map(|(context, _)| context),
            next: NextStep::new(NextAction::Waits).showing(time),
        });
    }
    out.sort_by(|a, b| b.percent.total_cmp(&a.percent).then(a.text.cmp(&b.text)));
    let notes = match out.len().saturating_sub(MAX_WAITS) {
        0 => Vec::new(),
        more => vec![format!(
            "wait states: the {MAX_WAITS} with the most waiting time are findings; {more} more \
             take at least {MIN_WAIT_PERCENT} % of the time of all locations each; {}",
            Remedy::SeeWaits
        )],
    };
    out.truncate(MAX_WAITS);
    Ok(Answer { value: out, notes })
}

fn on_critical_path(
    opened: &OpenExperiment,
    _: &Report,
    control: &Control,
) -> Result<Findings, ServiceError> {
    if !opened.has_waits() {
        return Ok(Findings::default());
    }
    let mut notes = Vec::new();
    let selection = opened.selection(None, None, &mut notes, control)?;
    let found = critical_path(&opened.session, &selection, control)?;
    let tree = opened.session.tree();
    if found.num_waits == 0 || found.whole_nanos == 0 {
        return Ok(Findings::default());
    }
    /// Time on the path, by location and by context.
    type Sum = (u64, BTreeMap<TrackIdx, u64>, BTreeMap<ContextIdx, u64>);
    let mut by_name: BTreeMap<String, Sum> = BTreeMap::new();
    let functions = FunctionNames::new(tree);
    for part in &found.parts {
        let label = tree.label(part.context);
        // Waiting is told elsewhere; time in MPI on the path is the network's, and what is left of
        // a call that waits for a GPU is its return. Where nothing runs, or where TAU measures no
        // function, no function can be made faster.
        let is_waiting = mpi_routine(&label).is_some() || waits_for_gpu(&label);
        let is_frame = is_uninstrumented(&label) || functions.phases.is_phase(tree, part.context);
        if part.context == ContextTree::ROOT || is_waiting || is_frame {
            continue;
        }
        let (sum, tracks, contexts) = by_name.entry(label).or_default();
        *sum += part.nanos;
        *contexts.entry(part.context).or_insert(0) += part.nanos;
        *tracks.entry(part.track).or_insert(0) += part.nanos;
    }
    let first = by_name.iter().max_by(|a, b| a.1.0.cmp(&b.1.0).then(b.0.cmp(a.0)));
    let Some((function, (nanos, tracks, contexts))) = first else {
        return Ok(Findings::default());
    };
    let percent = *nanos as f64 / found.whole_nanos as f64 * 100.0;
    if percent < MIN_PATH_PERCENT {
        return Ok(Findings::default());
    }
    let names = opened.track_names();
    let slowest =
        most(tracks).and_then(|(track, _)| names.get(track.idx()).cloned()).unwrap_or_default();
    let longest = most(contexts).map(|(context, _)| context);
    let function =
        longest.map_or_else(|| display_name(function), |context| functions.display(tree, context));
    let of_path = most(tracks).map_or(0.0, |(_, own)| own as f64 / (*nanos).max(1) as f64);
    let text = format!(
        "{function} is on the critical path for {} of {} ({percent:.1} %), {} at {slowest}.",
        amount(seconds(*nanos), &Unit::Seconds),
        amount(seconds(found.whole_nanos), &Unit::Seconds),
        part_words(of_path),
    );
    let found = vec![Finding {
        kind: FindingKind::CriticalPath,
        title: format!("{function} on the critical path"),
        text,
        percent,
        potential: Some(potential(
            seconds(*nanos) / 2.0,
            seconds(found.whole_nanos),
            "if it were twice as fast",
        )),
        evidence: vec![
            evidence("on the path", seconds(*nanos), "s"),
            evidence("critical path", seconds(found.whole_nanos), "s"),
        ],
        context: longest,
        next: NextStep::new(NextAction::CriticalPath).showing(seconds(*nanos)),
    }];
    Ok(Answer { value: found, notes: Vec::new() })
}

/// What became worse from another execution to this one, as a finding; `None` where nothing did,
/// or where it is no more than noise.
#[must_use]
pub fn regression(outcome: &ComparisonOutcome, pair: &VersionPair) -> Option<Finding> {
    /// Less than this is no finding, in per cent.
    const MIN_PERCENT: f64 = 2.0;
    let comparison = &outcome.comparison;
    let total = pair.total()?;
    let percent = total.percent()?;
    let is_noise = total.is_significant(comparison.level) == Some(false);
    if percent < MIN_PERCENT || is_noise {
        return None;
    }
    let old = comparison.versions.first()?;
    let sentences = comparison.sentences(pair);
    let whole = sentences.first()?;
    let whole = whole.strip_prefix("Whole program: ").unwrap_or(whole);
    let mut text = format!("Compared with {}: {whole}", old.name);
    if let Some(first) = sentences.get(1) {
        text.push_str(&format!(" Largest difference: {first}"));
    }
    let unit = comparison.unit.to_string();
    let share = percent / (100.0 + percent) * 100.0;
    Some(Finding {
        kind: FindingKind::Slower,
        title: format!("Slower than {}", old.name),
        text,
        percent: share,
        potential: Some(Potential {
            amount: total.difference(),
            unit: comparison.unit.clone(),
            percent: share,
            condition: "if as fast as before",
        }),
        evidence: vec![evidence("old", total.old, &unit), evidence("new", total.new, &unit)],
        context: None,
        next: NextStep::new(NextAction::Differences).showing(total.difference()),
    })
}
