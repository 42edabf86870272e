//! What threads did: working, waiting, idle.

use std::collections::{BTreeSet, HashMap};

use parallax_base::{ContextIdx, Control, LocationIdx, TimeWindow, TrackIdx, Unit, threads};
use parallax_engine::{EngineError, Session};
use parallax_model::{ContextTree, LocationCatalog, Scope};

use super::{CpuIdleness, CpuRow, CpuSource, CpuTimes, IdlenessOptions, SourceChoice, time_metric};
use crate::balance::WRAPPED;
use crate::balance::read::{SliceParts, visit_values};
use crate::taxonomy::classes::Classes;
use crate::taxonomy::{CostClass, GpuOperation};

pub(super) fn cpu_rows(
    session: &Session,
    options: &IdlenessOptions,
    classes: &Classes,
    notes: &mut Vec<String>,
    control: &Control,
) -> Result<Option<CpuIdleness>, EngineError> {
    let from_trace = |notes: &mut Vec<String>| {
        notes.push(
            "Threads from traces: shares of the time from the first to the last sample or call over all \
             threads; a thread without samples or calls is not running."
                .into(),
        );
        traced(session, classes, control).map(Some)
    };
    let has_samples = session.experiment().traces.as_ref().is_some_and(|traces| {
        let locations = &session.experiment().locations;
        traces.tracks().iter().any(|t| t.num_samples > 1 && !locations.is_gpu(t.location))
    });
    match options.source {
        SourceChoice::Trace => {
            session.traces()?;
            return from_trace(notes);
        }
        SourceChoice::Best if has_samples => return from_trace(notes),
        SourceChoice::Best | SourceChoice::Profile => {}
    }
    let Some(metric) = time_metric(session, options, control)? else {
        notes.push("Threads: no traces and no time metric for threads.".into());
        return Ok(None);
    };
    let name = &session.experiment().metrics.get(metric).name;
    notes.push(format!(
        "Threads from profiles: shares of the sampled {name}; time in which a thread is not \
         running is unknown."
    ));
    let options = IdlenessOptions { metric: Some(metric), ..*options };
    profiled(session, &options, classes, control)
}

/// Adds a cost of a class to the part of the times that it belongs to.
fn count(times: &mut CpuTimes, class: CostClass, cost: f64) {
    match class {
        CostClass::OpenMpIdle => times.openmp_idle += cost,
        CostClass::OpenMpWait | CostClass::OpenMpOverhead | CostClass::OpenMpRuntime => {
            times.openmp_wait += cost;
        }
        CostClass::Mpi(_) => times.mpi += cost,
        CostClass::Locks | CostClass::Sleeping | CostClass::Gpu(GpuOperation::Sync) => {
            times.other_wait += cost;
        }
        CostClass::Preempted => times.without_core += cost,
        CostClass::Application
        | CostClass::OpenMpWork
        | CostClass::PosixIo
        | CostClass::LibraryIo
        | CostClass::Memory
        | CostClass::GpuRuntime
        | CostClass::Gpu(_)
        | CostClass::HelperThreads => {}
    }
}

fn finish(
    locations: &LocationCatalog,
    source: CpuSource,
    metric: String,
    unit: Unit,
    mut rows: Vec<CpuRow>,
) -> CpuIdleness {
    let order = locations.order();
    rows.sort_by_cached_key(|row| order.of(row.location));
    let mut total = CpuTimes::default();
    for row in rows.iter().filter(|row| !row.is_helper) {
        total.add(&row.times);
    }
    CpuIdleness { source, metric, unit, rows, total }
}

fn traced(
    session: &Session,
    classes: &Classes,
    control: &Control,
) -> Result<CpuIdleness, EngineError> {
    let x = session.experiment();
    let tree = session.tree();
    let store = session.traces()?;
    let span = store.span();
    let is_thread: BTreeSet<LocationIdx> = x.locations.threads().into_iter().collect();
    let tracks: Vec<TrackIdx> = store
        .track_ids()
        .zip(store.tracks())
        .filter(|(_, track)| track.num_samples > 0 && is_thread.contains(&track.location))
        .map(|(at, _)| at)
        .collect();
    control.begin(tracks.len() as u64);
    let weight = |i: usize| store.track(tracks[i]).map_or(0, |track| track.num_samples);
    let parts = threads::map(threads::ranges(tracks.len(), weight), |range| {
        let mut rows = Vec::new();
        for &track in &tracks[range] {
            let Some(described) = store.track(track) else { continue };
            // Nanoseconds are added up exactly, and turned into seconds at the end.
            let mut by_class: HashMap<CostClass, u64> = HashMap::new();
            let mut running = 0_u64;
            store.visit(track, TimeWindow::ALL, &mut |interval| {
                if interval.context == 0 {
                    return;
                }
                let nanos =
                    TimeWindow::new(interval.start_nanos, interval.end_nanos).intersect(span);
                running += nanos.nanos();
                if let Some(context) = tree.by_source_id(interval.context)
                    && let Some(&class) = classes.of_context.get(context.idx())
                {
                    *by_class.entry(class).or_default() += nanos.nanos();
                }
            })?;
            control.advance(1)?;
            let mut times = CpuTimes {
                whole: seconds(span.nanos()),
                not_running: seconds(span.nanos().saturating_sub(running)),
                ..CpuTimes::default()
            };
            for (class, nanos) in &by_class {
                count(&mut times, *class, seconds(*nanos));
            }
            let helper = by_class.get(&CostClass::HelperThreads).copied().unwrap_or(0);
            rows.push(CpuRow {
                location: described.location,
                label: x.locations.label(described.location),
                times,
                is_helper: helper * 2 > running,
            });
        }
        Ok::<_, EngineError>(rows)
    });
    let mut rows = Vec::with_capacity(tracks.len());
    for part in parts {
        rows.extend(part?);
    }
    Ok(finish(&x.locations, CpuSource::Trace, "trace time".into(), Unit::Seconds, rows))
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

fn profiled(
    session: &Session,
    options: &IdlenessOptions,
    classes: &Classes,
    control: &Control,
) -> Result<Option<CpuIdleness>, EngineError> {
    let x = session.experiment();
    let Some(metric) = options.metric.map(|metric| x.metrics.get(metric)) else { return Ok(None) };
    let Some(id) = metric.id_in(&Scope::Inclusive) else { return Ok(None) };
    let mut locations = x.locations.threads();
    locations.retain(|&l| x.locations.num_values(l) > 0);
    // What costs below a boundary moves from the class outside to the class inside.
    let moves: HashMap<ContextIdx, (CostClass, CostClass)> = classes
        .boundaries
        .iter()
        .map(|boundary| (boundary.context, (boundary.outside, boundary.inside)))
        .collect();
    let mut rows: Vec<(CpuTimes, f64)> = vec![Default::default(); locations.len()];
    let contexts: Vec<ContextIdx> = moves.keys().copied().chain([ContextTree::ROOT]).collect();
    let parts = SliceParts { locations: &locations, metric: id };
    visit_values(session, &parts, &contexts, control, |location, context, value| {
        let at = locations.binary_search(&LocationIdx::new(location)).ok();
        let Some((times, helper)) = at.and_then(|at| rows.get_mut(at)) else { return };
        if !value.is_finite() || value.abs() >= WRAPPED {
            return;
        }
        if context == ContextTree::ROOT {
            times.whole = value;
        } else if let Some(&(outside, inside)) = moves.get(&context) {
            count(times, outside, -value);
            count(times, inside, value);
            if inside == CostClass::HelperThreads {
                *helper += value;
            }
        }
    })?;
    let rows: Vec<CpuRow> = locations
        .iter()
        .zip(rows)
        .filter(|(_, (times, _))| times.whole > 0.0)
        .map(|(&location, (mut times, helper))| {
            let whole = times.whole;
            for part in [
                &mut times.openmp_idle,
                &mut times.openmp_wait,
                &mut times.mpi,
                &mut times.other_wait,
                &mut times.without_core,
            ] {
                // Differences of equal sums may be off by their last digits.
                if *part < whole * 1e-9 {
                    *part = 0.0;
                }
            }
            let is_helper = helper * 2.0 > whole;
            CpuRow { location, label: x.locations.label(location), times, is_helper }
        })
        .collect();
    let (name, unit) = (metric.name.to_string(), metric.unit.clone());
    Ok(Some(finish(&x.locations, CpuSource::Profile, name, unit, rows)))
}
