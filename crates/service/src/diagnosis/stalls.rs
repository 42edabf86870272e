//! The finding on kernels whose instructions stall.

use parallax_analysis::gpu_stalls::{
    Reason, StallGroup, StallRow, Stalls, StallsBy, gpu_stalls, has_samples,
};
use parallax_analysis::report::{Finding, FindingKind, NextAction, NextStep, Potential, Report};
use parallax_analysis::taxonomy::waits_for_gpu;
use parallax_base::{Control, Remedy, Unit};
use parallax_engine::LocationChoice;
use parallax_model::{ContextTree, Track};

use super::{Findings, evidence};
use crate::{Answer, OpenExperiment, ServiceError};

/// Kernels with a smaller share of all GPU cycles are not told, in per cent.
const MIN_KERNEL_PERCENT: f64 = 10.0;
/// A reason that exposes a smaller share of the cycles of its kernel does not bound it, in per cent.
const MIN_REASON_PERCENT: f64 = 25.0;
/// Fewer samples of a kernel say nothing about it.
const MIN_SAMPLES: f64 = 100.0;
/// Kernels that are told.
const MAX_KERNELS: usize = 2;

/// Kernels that are bound by stalls, one finding each.
pub(super) fn stalling_kernels(
    opened: &OpenExperiment,
    report: &Report,
    control: &Control,
) -> Result<Findings, ServiceError> {
    let session = &opened.session;
    if !has_samples(session) {
        return Ok(Findings::default());
    }
    let all = LocationChoice::All;
    let kernels = gpu_stalls(session, StallsBy::Kernel, &all, control)?;
    let lines = gpu_stalls(session, StallsBy::Line, &all, control)?;
    let (mut found, mut notes) = (Vec::new(), Vec::new());
    for row in &kernels.rows {
        let share = kernels.whole.percent(row.sampled.cycles);
        let Some((at, cycles)) = bounding(&kernels, row) else { continue };
        if share < MIN_KERNEL_PERCENT || row.sampled.percent(cycles) < MIN_REASON_PERCENT {
            continue;
        }
        match kernels.samples(row.sampled.cycles) {
            None => notes.push(format!(
                "GPU stalls: the number of samples of {} is unknown, so it is no finding",
                row.kernel
            )),
            Some(samples) if !is_certain(row.sampled.percent(cycles), samples) => {
                notes.push(format!(
                    "GPU stalls: {} has only about {samples:.0} samples, too few for a finding",
                    row.kernel
                ));
            }
            _ if found.len() >= MAX_KERNELS => notes.push(format!(
                "GPU stalls: the {MAX_KERNELS} kernels with most cycles are findings; {} stalls as \
                 well, {}",
                row.kernel,
                Remedy::SeeGpuStalls
            )),
            _ => found.extend(finding(opened, report, &kernels, &lines, row, at, cycles)),
        }
    }
    Ok(Answer { value: found, notes })
}

/// Drops the finding that the host waits for its GPUs where a kernel is found that it waits for:
/// what can be made faster is the kernel.
pub(super) fn explain_waiting(findings: &mut Vec<Finding>, tree: &ContextTree) {
    if !findings.iter().any(|finding| finding.kind == FindingKind::GpuStalls) {
        return;
    }
    findings.retain(|finding| {
        let name = finding.context.and_then(|context| tree.function_name(context));
        finding.kind != FindingKind::GpuHost || !name.is_some_and(waits_for_gpu)
    });
}

/// Whether a share of so many samples cannot be chance: more than the least by two standard errors.
fn is_certain(percent: f64, samples: f64) -> bool {
    let share = (percent / 100.0).clamp(0.0, 1.0);
    let error = (share * (1.0 - share) / samples.max(1.0)).sqrt();
    samples >= MIN_SAMPLES && percent - 200.0 * error >= MIN_REASON_PERCENT
}

/// The reason with most cycles of a kernel that says something.
fn bounding(kernels: &Stalls, row: &StallRow) -> Option<(usize, f64)> {
    let reasons = kernels.reasons.iter().zip(&row.sampled.by_reason).enumerate();
    let told = reasons.filter(|(_, (reason, _))| reason.group != StallGroup::Other);
    let cycles = told.map(|(at, (_, cycles))| (at, *cycles));
    cycles.reduce(|best, next| if next.1 > best.1 { next } else { best })
}

fn finding(
    opened: &OpenExperiment,
    report: &Report,
    kernels: &Stalls,
    lines: &Stalls,
    row: &StallRow,
    at: usize,
    cycles: f64,
) -> Option<Finding> {
    let reason: &Reason = kernels.reasons.get(at)?;
    let percent = row.sampled.percent(cycles);
    let share = kernels.whole.percent(row.sampled.cycles);
    // Where no structure was recovered, kernels have no names.
    let is_named = &*row.kernel != "kernels";
    let (subject, its) = match is_named {
        true => (format!("Kernel {} is", row.kernel), "its"),
        false => ("Kernels are".to_owned(), "their"),
    };
    let mut text = format!(
        "{subject} bound by {} stalls: in {percent:.1} % of {its} GPU cycles no instruction is \
         issued for that reason",
        reason.name
    );
    // Lines have the same reasons in the same order, as both are read from the same metrics.
    let of_line = |line: &StallRow| line.sampled.by_reason.get(at).copied().unwrap_or(0.0);
    let of_kernel = lines.rows.iter().filter(|line| line.kernel == row.kernel && line.line > 0);
    let most = of_kernel.max_by(|a, b| of_line(a).total_cmp(&of_line(b)));
    if let Some(line) = most.filter(|line| of_line(line) > 0.0) {
        let file = line.file.rsplit('/').next().unwrap_or_default();
        let part = of_line(line) / cycles.max(f64::MIN_POSITIVE) * 100.0;
        text.push_str(&format!(", {part:.0} % of them at {file}:{}", line.line));
    }
    text.push_str(&format!(". {}", reason.meaning));
    if is_named {
        text.push_str(&format!(" It takes {share:.1} % of the GPU cycles of all kernels."));
    }
    let mut numbers = vec![
        evidence(&format!("exposed {} stalls of {}", reason.name, row.kernel), percent, "%"),
        evidence(&format!("share of {} of GPU cycles", row.kernel), share, "%"),
    ];
    if let Some(samples) = kernels.samples(row.sampled.cycles) {
        numbers.push(evidence("samples", samples, ""));
    }
    // GPA's estimate for removing stalls: the run is shorter by what they expose.
    let mut at_stake = share * percent / 100.0;
    let mut saved = None;
    if let Some(seconds) = row.seconds.filter(|seconds| *seconds > 0.0) {
        let saving = seconds * percent / 100.0;
        let run = run_seconds(opened, report);
        let of_run = run.filter(|run| *run > 0.0).map(|run| (saving / run * 100.0).min(100.0));
        // Where the host is not in the trace, kernels are all that was measured: what lies between
        // them may be the measurement.
        at_stake = of_run.filter(|_| has_host(opened)).unwrap_or(at_stake);
        saved = of_run.map(|percent| Potential {
            amount: saving,
            unit: Unit::Seconds,
            percent,
            condition: "at most, of GPU time, without these stalls",
        });
        numbers.push(evidence(&format!("time of {}", row.kernel), seconds, "s"));
        numbers.push(evidence("potential saving", saving, "s"));
    }
    if !reason.remedy.is_empty() {
        text.push_str(&format!(" Usual remedies: {}", reason.remedy));
    }
    Some(Finding {
        kind: FindingKind::GpuStalls,
        title: format!("GPU stalls in {}: {}", row.kernel, reason.name),
        text,
        percent: at_stake,
        potential: saved,
        evidence: numbers,
        context: Some(row.context),
        next: NextStep::new(NextAction::GpuStalls),
    })
}

/// Whether threads of the host are in the trace, or there is none.
fn has_host(opened: &OpenExperiment) -> bool {
    let experiment = opened.session.experiment();
    experiment.traces.as_ref().is_none_or(|traces| {
        let of_host =
            |track: &Track| track.num_samples > 0 && !experiment.locations.is_gpu(track.location);
        traces.tracks().iter().any(of_host)
    })
}

/// How long the run takes: by its trace, else by the time of a thread on average.
fn run_seconds(opened: &OpenExperiment, report: &Report) -> Option<f64> {
    let experiment = opened.session.experiment();
    let span = experiment.traces.as_ref().map_or(0, |traces| traces.span().nanos());
    if span > 0 {
        return Some(span as f64 / 1e9);
    }
    (report.unit == Unit::Seconds && report.num_locations == 1).then_some(report.program_total)
}
