//! What balancing would save in the iterations of a program.

use std::collections::BTreeSet;

use parallax_analysis::events::Activity;
use parallax_analysis::iterations::{
    ContextStatistics, Iterations, LocationGroup, LocationStatistics, Method, Stall, Statistics,
    sampling_noise,
};
use parallax_analysis::report::{
    Evidence, Finding, FindingKind, NextAction, NextStep, Purposes, Report,
};
use parallax_analysis::taxonomy::{FunctionNames, is_uninstrumented};
use parallax_base::quantity::amount;
use parallax_base::{ContextIdx, Control, Remedy, TrackIdx, Unit, capitalised};
use parallax_engine::EngineError;
use parallax_model::{ContextKind, IdentityKind};

use super::{Findings, evidence, potential};
use crate::iterations::{FoundIterations, IterationsRequest};
use crate::{Answer, OpenExperiment, ServiceError};
use parallax_base::quantity::counted;

/// Traces with more samples or calls are not read for a report: it would take much longer than
/// everything else in it.
const MOST_SAMPLES: u64 = 20_000_000;
/// Balancing that saves less than this share of the run is not told, in per cent.
const MIN_SAVING_PERCENT: f64 = 2.0;
/// Contexts that are told.
const MAX_TOLD: usize = 3;
/// At least this part of the locations shows the iterations: where fewer do, their beginnings are
/// guessed, and comparing one with another means nothing.
const MIN_AGREEMENT: f64 = 0.8;

/// A location is late that computes longest in at least this part of the iterations,
const ALWAYS: f64 = 0.9;
/// by at least this part of what balancing the context saves,
const MOSTLY: f64 = 0.75;
/// while no other one exceeds the mean by more than this part of what it does.
const NEARLY_AS_LATE: f64 = 0.5;
/// What others do in a serial part, as part of it.
const ALONE: f64 = 0.05;

/// One context that is worth balancing.
struct UnevenContext<'a> {
    row: &'a ContextStatistics,
    /// What it saves over all iterations, in seconds.
    saving: f64,
}

/// One finding on the contexts that balancing would save most in; none where there are no traces,
/// no iterations, or nothing that stands out of the noise of sampling.
pub(super) fn uneven_iterations(
    opened: &OpenExperiment,
    _: &Report,
    control: &Control,
) -> Result<Findings, ServiceError> {
    let Some(traces) = opened.session.experiment().traces.as_ref() else {
        return Ok(Findings::default());
    };
    let samples: u64 = traces.track_sizes().iter().sum();
    if samples > MOST_SAMPLES {
        return Err(EngineError::Missing {
            what: format!("the trace is long ({})", counted(samples, "sample")),
            hint: format!("{} themselves", Remedy::SeeIterations),
        }
        .into());
    }
    let (finding, _) = opened.find_iterations(&IterationsRequest::default(), control)?;
    let Some((iterations, of)) = &finding.iterations else { return Ok(Findings::default()) };
    let run = finding.window.nanos() as f64 / 1e9;
    if run <= 0.0 {
        return Ok(Findings::default());
    }
    let found = opened.found(iterations, of);
    let mut out = stalls(&found, &finding.stalls, run);
    let is_guessed = iterations.repetition.as_ref().is_some_and(|found| {
        matches!(found.method, Method::Order | Method::Spacing) && found.agreement < MIN_AGREEMENT
    });
    // What different programs do in a time step is no imbalance.
    let locations = &opened.session.experiment().locations;
    let program = |tracks: &Vec<TrackIdx>| {
        let track = tracks.first().and_then(|&track| traces.track(track));
        track.and_then(|track| locations.identity(track.location, IdentityKind::Application))
    };
    let programs: BTreeSet<Option<u64>> = iterations.streams.iter().map(program).collect();
    if iterations.streams.len() < 2 || programs.len() > 1 || is_guessed {
        return Ok(Answer { value: out, notes: Vec::new() });
    }
    let statistics = of;
    let interval = found.interval_seconds();
    // Code in which TAU measures no function is the program, and no place to look at.
    let tree = opened.session.tree();
    let is_program = |context| is_uninstrumented(tree.function_name(context).unwrap_or(""));
    let is_worth = |saving: f64| saving / run * 100.0 >= MIN_SAVING_PERCENT;
    // Whatever is balanced, nothing is saved beyond what locations wait.
    let most = statistics.waited_seconds;
    let mut told: Vec<UnevenContext<'_>> = (statistics.contexts.iter())
        .filter(|row| row.activity == Activity::Computing)
        .filter(|row| !is_program(row.context))
        .filter_map(|row| {
            Some(UnevenContext { row, saving: row.potential_saving(interval, statistics)? })
        })
        .filter(|told| is_worth(told.saving))
        .collect();
    told.sort_by(|a, b| b.saving.total_cmp(&a.saving).then(a.row.context.cmp(&b.row.context)));
    let more = told.len().saturating_sub(MAX_TOLD);
    told.truncate(MAX_TOLD);

    let percent = |saving: f64| (saving / run * 100.0).min(100.0);
    let share = |saving: f64| {
        format!("{} ({:.1} % of the run)", amount(saving, &Unit::Seconds), percent(saving))
    };
    let location = |at: usize| found.locations.get(at).cloned().unwrap_or_default();
    let names = Names(Purposes::new(opened.session.tree()), &found.names);
    let mut text = names.opening(iterations, run);
    let mut numbers = basis(iterations, run);
    let at_stake;
    if let Some((first, others)) = told.split_first() {
        // What streams of a GPU execute at the same time is not saved twice.
        let together = told.iter().map(|told| told.saving).sum::<f64>() * statistics.overlap;
        at_stake = together.max(first.saving).min(most);
        text.push_str(&format!(
            " Balancing {} would save up to {}; {} is slowest in it",
            names.of(first.row.context),
            share(first.saving),
            location(first.row.slowest),
        ));
        for other in others {
            let name = names.of(other.row.context);
            text.push_str(&format!("; balancing {name} up to {}", share(other.saving)));
        }
        if more > 0 {
            text.push_str(&format!(
                "; {} at least {MIN_SAVING_PERCENT} % each",
                counted(more as u64, "more context")
            ));
        }
        text.push('.');
        if first.saving >= most {
            text.push_str(&format!(
                " More cannot be saved: computation takes the rest of the time on each of the {}.",
                iterations.locations_name()
            ));
        }
        for told in &told {
            let what = format!("potential saving by balancing {}", names.of(told.row.context));
            numbers.push(evidence(&what, told.saving, "s"));
            numbers.push(evidence("static part of it", lasting(told), "s"));
        }
    } else {
        let busiest = (statistics.locations.iter())
            .max_by(|a, b| a.computing_seconds.total_cmp(&b.computing_seconds));
        let Some(busiest) = busiest else { return Ok(Answer { value: out, notes: Vec::new() }) };
        at_stake = statistics.lasting_saving_seconds;
        let longest = busiest.computing_seconds * statistics.num_whole as f64;
        if !is_worth(at_stake) || at_stake <= sampling_noise(longest, interval) {
            return Ok(Answer { value: out, notes: Vec::new() });
        }
        text.push_str(&format!(
            " No single function dominates the imbalance; {} computes longest. With balanced \
             computation the run would be up to {} shorter.",
            location(busiest.location),
            share(at_stake),
        ));
        numbers.push(evidence("potential saving by balanced computation", at_stake, "s"));
    }
    let first = told.first();
    let late = first.filter(|first| is_late(statistics, first));
    let title = match (first, late) {
        (_, Some(late)) => {
            let (name, who) = (names.of(late.row.context), location(late.row.slowest));
            let all = statistics.locations.len();
            text.push_str(&format!(
                " {} computes longest in {} of {} iterations: the others wait for it.",
                capitalised(&who),
                statistics.locations.get(late.row.slowest).map_or(0, |own| own.num_slowest),
                statistics.num_whole,
            ));
            match is_alone(late.row, all) {
                true => format!("Serial part: {name} on {who} only"),
                false => format!("Late {}: {who} in {name}", one_of(iterations, &who)),
            }
        }
        (Some(first), None) => {
            format!("Load imbalance in iterations: {}", names.of(first.row.context))
        }
        (None, None) => "Load imbalance in iterations".into(),
    };
    out.push(Finding {
        kind: match late {
            Some(_) => FindingKind::Imbalance,
            None => FindingKind::Iterations,
        },
        title,
        text,
        percent: percent(at_stake),
        potential: Some(potential(at_stake, run, "if these were balanced")),
        evidence: numbers,
        context: first.map(|told| told.row.context),
        next: match first {
            Some(told) => NextStep::new(NextAction::Iterations).showing(told.saving),
            None => NextStep::new(NextAction::Iterations),
        },
    });
    Ok(Answer { value: out, notes: Vec::new() })
}

/// Whether what is told is one location that is late in all iterations, and no imbalance that comes
/// and goes: it computes longest in nearly all of them, what it computes longer is this context,
/// and no other one is nearly as late.
fn is_late(of: &Statistics, told: &UnevenContext<'_>) -> bool {
    let num = of.locations.len().max(1) as f64;
    let mean = of.locations.iter().map(|own| own.computing_seconds).sum::<f64>() / num;
    let slowest = told.row.slowest;
    let excess = |own: &LocationStatistics| own.computing_seconds - mean;
    let others = of.locations.iter().filter(|own| own.location != slowest);
    let next = others.map(excess).fold(0.0, f64::max);
    of.locations.iter().find(|own| own.location == slowest).is_some_and(|own| {
        own.num_slowest as f64 >= ALWAYS * of.num_whole as f64
            && of.lasting_saving_seconds >= MOSTLY * told.row.total_saving_seconds
            && next <= NEARLY_AS_LATE * excess(own)
    })
}

/// Whether hardly any location but the slowest spends time in a context.
fn is_alone(row: &ContextStatistics, num_locations: usize) -> bool {
    row.mean_seconds * num_locations as f64 <= row.max_seconds * (1.0 + ALONE)
}

/// What one of the locations is, by its name.
fn one_of(iterations: &Iterations, name: &str) -> &'static str {
    match iterations.group {
        LocationGroup::GpuStreams => "GPU",
        LocationGroup::FirstThreads if name.starts_with("rank ") => "rank",
        LocationGroup::FirstThreads | LocationGroup::OtherThreads => "thread",
    }
}

/// Iterations that take far longer than the others, as findings.
fn stalls(found: &FoundIterations<'_>, stalls: &[Stall], run: f64) -> Vec<Finding> {
    let excess = |stall: &Stall| stall.excess_nanos() / 1e9;
    let is_much = |stall: &&Stall| excess(stall) / run * 100.0 >= MIN_SAVING_PERCENT;
    let of = |stall: &Stall| {
        let told = found.stall(stall);
        let potential = potential(excess(stall), run, "without it");
        let next = NextStep {
            iteration: Some(told.iteration),
            value: told.time_s,
            ..NextStep::new(NextAction::Stall)
        };
        Finding {
            kind: FindingKind::Stall,
            title: format!("Stall in iteration {}", stall.iteration),
            text: told.text,
            percent: potential.percent,
            evidence: vec![
                evidence("length", told.length_s, "s"),
                evidence("median of the others", told.usual_s, "s"),
                evidence("begins after", told.start_s, "s"),
                evidence("locations that wait", told.waiting as f64, ""),
            ],
            potential: Some(potential),
            context: stall.place.map(|(_, context, _)| context),
            next,
        }
    };
    stalls.iter().filter(is_much).map(of).collect()
}

fn lasting(told: &UnevenContext<'_>) -> f64 {
    told.row.lasting_saving_seconds.min(told.saving)
}

/// What contexts are called.
struct Names<'a>(Purposes<'a>, &'a FunctionNames);

impl Names<'_> {
    /// Display name of a context; of library code also what needs it.
    fn of(&self, context: ContextIdx) -> String {
        let tree = self.0.tree();
        let name = |at| self.1.display(tree, at);
        let is_placeholder = |at: ContextIdx| tree.label(at).starts_with('<');
        // `<gpu kernel>` says nothing without the function that starts it.
        let caller = match is_placeholder(context) {
            true => (tree.ancestors(context))
                .find(|&at| tree.kind(at) == ContextKind::Function && !is_placeholder(at)),
            false => self.0.program_caller(context),
        };
        match caller {
            Some(above) => format!("{} (below {})", name(context), name(above)),
            None => name(context),
        }
    }

    /// How many iterations of what there are.
    fn opening(&self, iterations: &Iterations, run: f64) -> String {
        let about = match &iterations.repetition {
            Some(found) if found.is_estimate => "About ",
            _ => "",
        };
        let mut markers: Vec<String> = iterations.marker.iter().map(|&at| self.of(at)).collect();
        markers.sort_unstable();
        markers.dedup();
        let begin = match &iterations.marked_by {
            Some(by) => format!("marked by the program ({by})"),
            None => format!("beginning with {}", markers.join(" or ")),
        };
        format!(
            "{about}{} (median {}), {begin}, cover {:.0} % of the run on {} {}.",
            counted(iterations.len() as u64, "iteration"),
            amount(iterations.period_nanos() / 1e9, &Unit::Seconds),
            (iterations.span().nanos() as f64 / 1e9 / run * 100.0).min(100.0),
            iterations.streams.len(),
            iterations.locations_name(),
        )
    }
}

/// What the iterations rest on.
fn basis(iterations: &Iterations, run: f64) -> Vec<Evidence> {
    let mut out = vec![
        evidence("iterations", iterations.len() as f64, ""),
        evidence("period", iterations.period_nanos() / 1e9, "s"),
        evidence("run", run, "s"),
    ];
    if let Some(found) = &iterations.repetition {
        let what = match found.method {
            Method::Order => "iterations in the same order",
            Method::Spacing | Method::Pooled | Method::InStep => "regular intervals",
        };
        out.push(evidence(what, found.regular_share * 100.0, "%"));
        out.push(evidence("probability by chance", found.chance, ""));
    }
    out
}
