//! GPUs that are idle, or busy nearly all the time.

use std::collections::BTreeMap;

use parallax_analysis::idleness::{GpuBlame, GpuTraced, SourceChoice, gpu_work};
use parallax_analysis::report::{Finding, FindingKind, NextAction, NextStep, Report};
use parallax_analysis::taxonomy::FunctionNames;
use parallax_base::quantity::amount;
use parallax_base::{ContextIdx, Control, Unit};
use parallax_model::{ContextTree, IdentityKind};

use super::{Findings, evidence, seconds};
use crate::{Answer, OpenExperiment, ServiceError};

/// GPUs that are idle for less than this share of their time lose little, in per cent.
const MIN_IDLE_PERCENT: f64 = 20.0;
/// GPUs that are busy for at least this share of their time limit the run, in per cent.
const MIN_BUSY_PERCENT: f64 = 90.0;

/// Call paths and kernels of idle GPUs that are told at most.
const MAX_TOLD: usize = 3;
/// Those with a smaller share are not told, in per cent.
const MIN_TOLD_PERCENT: f64 = 5.0;

/// What follows the first [`MAX_TOLD`] of `all` in a list; `None` where these are all.
fn more_with_a_share(all: usize) -> Option<String> {
    let more = all.checked_sub(MAX_TOLD).filter(|more| *more > 0)?;
    Some(format!("{more} more with at least {MIN_TOLD_PERCENT} % each"))
}

/// A call and who makes it: `cudaMallocManaged called from initMC`.
fn call_name(tree: &ContextTree, names: &FunctionNames, context: ContextIdx) -> String {
    let short = |context| names.display(tree, context);
    let caller = tree.parent(context).and_then(|above| tree.enclosing_function(above));
    match caller {
        Some(caller) => format!("{} called from {}", short(context), short(caller)),
        None => short(context),
    }
}

/// GPUs that are idle, or busy nearly all the time; nothing in between.
pub(super) fn idle_or_busy(
    opened: &OpenExperiment,
    _: &Report,
    control: &Control,
) -> Result<Findings, ServiceError> {
    if !opened.session.experiment().locations.has(IdentityKind::GpuStream) {
        return Ok(Findings::default());
    }
    let locations = &opened.session.experiment().locations;
    let answer = opened.idleness(None, SourceChoice::Best, control)?;
    let mut idle: Vec<(f64, f64, f64, String)> = Vec::new();
    let mut notes = Vec::new();
    // Traces tell GPUs apart, profiles only ranks: what both say of a rank is told once.
    let by_trace = answer.gpu.iter().any(|row| row.traced.is_some_and(GpuTraced::has_host));
    let by_profile = !by_trace && answer.gpu.iter().any(|row| row.profiled.is_some());
    for row in &answer.gpu {
        let (idle_s, whole_s) = match (row.traced, row.profiled) {
            (Some(traced), _) if traced.has_host() => {
                (seconds(traced.idle_nanos()), seconds(traced.span_nanos))
            }
            (traced, Some(profiled)) if traced.is_some() || by_profile => {
                (profiled.idle_seconds(), profiled.thread_seconds)
            }
            (Some(traced), None) if !by_profile => {
                notes.push(without_host(&row.group.label(locations), seconds(traced.idle_nanos())));
                continue;
            }
            _ => continue,
        };
        if whole_s > 0.0 {
            idle.push((idle_s / whole_s * 100.0, idle_s, whole_s, row.group.label(locations)));
        }
    }
    idle.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.3.cmp(&b.3)));
    let whole: f64 = idle.iter().map(|row| row.2).sum();
    let sum: f64 = idle.iter().map(|row| row.1).sum();
    let Some((worst, _, _, who)) = idle.first() else {
        return Ok(Answer { value: Vec::new(), notes });
    };
    let percent = sum / whole * 100.0;
    if percent <= 100.0 - MIN_BUSY_PERCENT {
        let value = vec![busy(&most_work(opened, control)?, whole - sum, whole)];
        return Ok(Answer { value, notes });
    }
    if percent < MIN_IDLE_PERCENT {
        return Ok(Answer { value: Vec::new(), notes });
    }
    let most_idle = match idle.len() {
        1 => String::new(),
        _ => format!(", {who} most ({worst:.1} %)"),
    };
    let mut text = format!(
        "GPUs are idle for {percent:.1} % of their time ({}){most_idle}.",
        amount(sum, &Unit::Seconds)
    );
    let mut numbers = vec![evidence("idle", sum, "s"), evidence("time of GPUs", whole, "s")];
    let blame = match opened.session.experiment().traces {
        Some(_) => opened.gpu_blame(control)?.value,
        None => GpuBlame::default(),
    };
    let of_idle = |nanos: u128| nanos as f64 / blame.idle_nanos().max(1) as f64 * 100.0;
    let told = |percent: &f64| *percent >= MIN_TOLD_PERCENT;
    let tree = opened.session.tree();
    let mut meanwhile: Vec<String> = Vec::new();
    // What is called in each of several numbered phases is one call.
    let names = FunctionNames::new(tree);
    let mut by_call: BTreeMap<ContextIdx, u128> = BTreeMap::new();
    for row in &blame.calls {
        *by_call.entry(names.phases.first(row.context)).or_default() += row.exclusive_nanos;
    }
    let calls = by_call.into_iter().map(|(context, nanos)| (context, of_idle(nanos)));
    let mut calls: Vec<(ContextIdx, f64)> = calls.filter(|(_, share)| told(share)).collect();
    calls.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    for &(context, share) in calls.iter().take(MAX_TOLD) {
        let name = call_name(tree, &names, context);
        numbers.push(evidence(&format!("idle during {name}"), share, "%"));
        meanwhile.push(format!("{name} ({share:.1} %)"));
    }
    meanwhile.extend(more_with_a_share(calls.len()));
    let inactive = of_idle(blame.unattributed_nanos());
    match (meanwhile.is_empty(), told(&inactive)) {
        (false, true) => text.push_str(&format!(
            " During idle time, threads are in {}; no thread is active for {inactive:.1} % of it.",
            meanwhile.join(", ")
        )),
        (false, false) => {
            text.push_str(&format!(" During idle time, threads are in {}.", meanwhile.join(", ")));
        }
        (true, true) => {
            text.push_str(&format!(" No thread is active for {inactive:.1} % of the idle time."));
        }
        (true, false) => {}
    }
    let work = most_work(opened, control)?;
    if !work.is_empty() {
        text.push_str(&format!(" Most GPU time: {}.", work.join(", ")));
    }
    let most = blame.calls.iter().max_by_key(|row| row.exclusive_nanos);
    let found = vec![Finding {
        kind: FindingKind::IdleGpu,
        title: "Idle GPUs".into(),
        text,
        percent,
        potential: None,
        evidence: numbers,
        context: most.map(|row| row.context),
        next: most.map_or(NextStep::new(NextAction::Idleness), |row| {
            NextStep::new(NextAction::GpuBlame).showing(row.exclusive_nanos as f64 / 1e9)
        }),
    }];
    Ok(Answer { value: found, notes })
}

/// That nothing can be said about why a GPU has no work.
fn without_host(who: &str, idle: f64) -> String {
    format!(
        "GPUs of {who} have no work for {} of the trace, which lacks the threads of the host for \
         most of that time: whether they wait for the program or for the measurement is unknown, so \
         it is no finding.",
        amount(idle, &Unit::Seconds)
    )
}

/// The kernels and copies that take most of the time of GPUs, as a list in a sentence.
fn most_work(opened: &OpenExperiment, control: &Control) -> Result<Vec<String>, ServiceError> {
    let mut all_work = gpu_work(&opened.session, control)?;
    all_work.retain(|work| work.percent >= MIN_TOLD_PERCENT);
    let mut work: Vec<String> = all_work
        .iter()
        .take(MAX_TOLD)
        .map(|work| match work.balance_ratio {
            Some(ratio) => format!(
                "{} ({:.1} %, mean/max {ratio:.2}, most on {})",
                work.name,
                work.percent,
                work.slowest.label(&opened.session.experiment().locations)
            ),
            None => format!("{} ({:.1} %)", work.name, work.percent),
        })
        .collect();
    work.extend(more_with_a_share(all_work.len()));
    Ok(work)
}

/// That GPUs are busy for so many of `whole` seconds: what is launched earlier starts no earlier.
fn busy(work: &[String], busy: f64, whole: f64) -> Finding {
    let percent = busy / whole * 100.0;
    let what = match work {
        [] => "No kernel or copy takes 5 % of their time or more.".to_owned(),
        work => format!("Most GPU time: {}.", work.join(", ")),
    };
    Finding {
        kind: FindingKind::BusyGpu,
        title: "Busy GPUs".into(),
        text: format!(
            "GPUs are busy for {percent:.1} % of their time ({} of {}): the run becomes shorter by \
             faster kernels and copies, and not by faster launches. {what}",
            amount(busy, &Unit::Seconds),
            amount(whole, &Unit::Seconds),
        ),
        percent,
        potential: None,
        evidence: vec![evidence("busy", busy, "s"), evidence("time of GPUs", whole, "s")],
        context: None,
        next: NextStep::new(NextAction::Idleness),
    }
}

/// Drops what is said of the host code of the GPU runtime where GPUs are busy all the same: a host
/// that launches ahead, or waits, loses nothing.
pub(super) fn explain_host(findings: &mut Vec<Finding>) {
    if findings.iter().any(|finding| finding.kind == FindingKind::BusyGpu) {
        findings.retain(|finding| finding.kind != FindingKind::GpuHost);
    }
}
