//! GPUs that are idle because their next work is launched late, and GPUs that do nothing but
//! communicate.

use std::collections::BTreeMap;

use parallax_analysis::events::{IdleDevice, Wait, WaitKind, idle_devices};
use parallax_analysis::report::{Finding, FindingKind, NextAction, NextStep, part_words};
use parallax_base::quantity::{amount, count as number};
use parallax_base::{ContextIdx, Control, TrackIdx, Unit, capitalised};
use parallax_engine::display_name;
use parallax_model::IdentityKind;

use super::{MIN_WAIT_PERCENT, evidence, most, potential, seconds};
use crate::{OpenExperiment, ServiceError};

/// What late launches and communication cost GPUs; nothing where that is little.
pub(super) fn gpu_losses(
    opened: &OpenExperiment,
    waits: &[Wait],
    control: &Control,
) -> Result<Vec<Finding>, ServiceError> {
    if !opened.session.experiment().locations.has(IdentityKind::GpuStream) {
        return Ok(Vec::new());
    }
    let devices = idle_devices(&opened.session, waits, control)?;
    let run = seconds(opened.session.traces()?.span().nanos());
    let late = late_launches(opened, &devices, waits, run);
    Ok(late.into_iter().chain(communication(opened, &devices, run)).collect())
}

/// A time of all devices together, in seconds: 64 bits of nanoseconds need not hold it.
fn of_devices(devices: &[IdleDevice], of: fn(&IdleDevice) -> u64) -> f64 {
    seconds_of(devices.iter().map(|one| u128::from(of(one))).sum())
}

fn seconds_of(nanos: u128) -> f64 {
    nanos as f64 / 1e9
}

/// Communication kernels while a GPU computes nothing: time of the network, or of
/// waiting for the slowest GPU.
fn communication(opened: &OpenExperiment, devices: &[IdleDevice], run: f64) -> Option<Finding> {
    let whole = run * devices.len() as f64;
    let alone = of_devices(devices, |one| one.communicating_nanos);
    let percent = if whole > 0.0 { alone / whole * 100.0 } else { 0.0 };
    if percent < MIN_WAIT_PERCENT {
        return None;
    }
    let mut kernels: BTreeMap<ContextIdx, u128> = BTreeMap::new();
    for (&kernel, &nanos) in devices.iter().flat_map(|one| &one.collectives) {
        *kernels.entry(kernel).or_default() += nanos;
    }
    let all = seconds_of(kernels.values().sum());
    let (first, nanos) = most(&kernels)?;
    let name = display_name(&opened.session.tree().label(first));
    let told = |time: f64| amount(time, &Unit::Seconds);
    Some(Finding {
        kind: FindingKind::Gpu,
        title: format!("GPU communication: {name}"),
        text: format!(
            "Communication kernels take {} of GPU time, {} in {name} ({}). For {}, {percent:.1} % \
             of the time of GPUs, nothing else runs on them: computation does not overlap with it.",
            told(all),
            part_words(seconds_of(nanos) / all),
            told(seconds_of(nanos)),
            told(alone),
        ),
        percent,
        potential: Some(potential(
            alone / devices.len().max(1) as f64,
            run,
            "for each GPU on average, if computation overlapped with all of it",
        )),
        evidence: vec![
            evidence("communication alone", alone, "s"),
            evidence("communication", all, "s"),
            evidence("time of GPUs", whole, "s"),
        ],
        context: Some(first),
        next: NextStep::new(NextAction::CriticalPath),
    })
}

/// What late launches cost GPUs: not the time in which single streams wait for them, but the time
/// in which a GPU has nothing else to do. `None` where that is little.
fn late_launches(
    opened: &OpenExperiment,
    devices: &[IdleDevice],
    waits: &[Wait],
    run: f64,
) -> Option<Finding> {
    let whole = run * devices.len() as f64;
    let idle = of_devices(devices, |one| one.idle_nanos);
    let late = of_devices(devices, |one| one.late_nanos);
    let percent = if whole > 0.0 { late / whole * 100.0 } else { 0.0 };
    if percent < MIN_WAIT_PERCENT {
        return None;
    }
    let count: u64 = devices.iter().map(|one| one.num_launches).sum();
    let mut threads: BTreeMap<TrackIdx, u128> = BTreeMap::new();
    for (&thread, &nanos) in devices.iter().flat_map(|one| &one.by_thread) {
        *threads.entry(thread).or_default() += u128::from(nanos);
    }
    let share = |nanos: u128| seconds_of(nanos) / late * 100.0;
    let longest = devices.iter().max_by_key(|one| one.late_nanos);
    let at = match longest.filter(|_| devices.len() > 1) {
        Some(one) => {
            let share = share(one.late_nanos.into());
            let part = capitalised(part_words(share / 100.0));
            format!(" {part} is on {} ({share:.0} %).", one.label)
        }
        None => String::new(),
    };
    let names = opened.track_names();
    let by = most(&threads).map_or_else(String::new, |(thread, nanos)| {
        let name = names.get(thread.idx()).cloned().unwrap_or_default();
        let part = capitalised(part_words(share(nanos) / 100.0));
        format!(" {part} ends with a launch by {name} ({:.0} %).", share(nanos))
    });
    let text = format!(
        "GPUs are idle for {percent:.1} % of their time ({}) because their next work is launched \
         late ({} launches). Time before their first work does not count, nor time in which another \
         stream of the GPU works.{at}{by}",
        amount(late, &Unit::Seconds),
        number(count),
    );
    let late_streams = waits.iter().filter(|wait| wait.kind == WaitKind::LateLaunch);
    let mut streams: BTreeMap<TrackIdx, u128> = BTreeMap::new();
    for wait in late_streams {
        *streams.entry(wait.track).or_default() += u128::from(wait.nanos());
    }
    let mut next = NextStep::new(NextAction::LateLaunches);
    next.value = most(&streams).map(|(_, nanos)| seconds_of(nanos));
    Some(Finding {
        kind: FindingKind::Waiting,
        title: "Late launch".into(),
        text,
        percent,
        potential: Some(potential(
            late / devices.len().max(1) as f64,
            run,
            "for each GPU on average, if its work was launched in time",
        )),
        evidence: vec![
            evidence("idle until the next launch", late, "s"),
            evidence("idle", idle, "s"),
            evidence("time of GPUs", whole, "s"),
            evidence("late launches", count as f64, ""),
        ],
        context: None,
        next,
    })
}
