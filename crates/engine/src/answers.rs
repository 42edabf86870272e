//! Slices and traces as tables: the answers of `query` and `trace`.

use parallax_base::{ContextIdx, Control, LocationIdx, TimeWindow, TrackIdx, threads};
use parallax_model::{
    ContextChoice, ContextTree, Formula, MetricInstance, Plan, Scope, SliceColumns, SliceRequest,
    Statistic, TraceStore,
};
use parallax_protocol::{Repeated, SampleTable, ValueTable};

use crate::resolve::{ProfileSet, ResolvedMetrics};
use crate::{EngineError, LocationChoice, Session};

/// Whether tables of ids also carry readable names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// Ids only.
    Raw,
    /// Ids, then names.
    Readable,
}

/// The slice that a query means: `contexts` of `None` is all that are in the tree but the root.
#[must_use]
pub fn slice_request(
    tree: &ContextTree,
    profiles: &ProfileSet,
    contexts: Option<&[ContextIdx]>,
    metrics: &ResolvedMetrics,
) -> SliceRequest {
    let contexts = contexts.map_or(ContextChoice::Nodes, |contexts| {
        let mut ids: Vec<u32> = contexts.iter().map(|&c| tree.source_id(c)).collect();
        ids.sort_unstable();
        ContextChoice::Ids(ids)
    });
    SliceRequest {
        locations: profiles.rows.clone(),
        contexts,
        metrics: metrics.choice.clone(),
        plan: Plan::Cheapest,
    }
}

/// A slice as a table, with names where wanted, and the unit of all values where they have the
/// same.
#[must_use]
pub fn slice_table(session: &Session, slice: SliceColumns, names: Names) -> (ValueTable, String) {
    let SliceColumns { location, context, metric, value } = slice;
    let units = units(session, &location, &metric);
    let unit = match units.texts.as_slice() {
        [one] => one.clone(),
        _ => String::new(),
    };
    let is_readable = names == Names::Readable;
    let table = ValueTable {
        location: is_readable.then(|| location_names(session, &location)),
        context: is_readable.then(|| context_names(session.tree(), &context, None)),
        metric: is_readable.then(|| metric_names(session, &location, &metric)),
        profile_id: location,
        context_id: context,
        metric_id: metric,
        unit: (is_readable && units.texts.len() > 1).then_some(units),
        value,
    };
    (table, unit)
}

/// The units of values, each text once.
fn units(session: &Session, rows: &[u32], ids: &[u16]) -> Repeated {
    let experiment = session.experiment();
    let summary = experiment.locations.summary().map(LocationIdx::get);
    let (mut texts, mut keys) = (Vec::new(), Vec::with_capacity(ids.len()));
    let mut known = vec![-1_i32; 2 << 16];
    for (&row, &id) in rows.iter().zip(ids) {
        let is_summary = Some(row) == summary;
        let slot = &mut known[usize::from(id) + (usize::from(is_summary) << 16)];
        if *slot < 0 {
            let metric = if is_summary {
                // A count or a square of seconds is not in seconds.
                let found = experiment.metrics.by_statistic_id(id);
                found.filter(|(_, _, s)| s.formula == Formula::Value).map(|(_, metric, _)| metric)
            } else {
                experiment.metrics.by_id(id).map(|(_, metric, _)| metric)
            };
            let unit = metric.map(|metric| metric.unit.to_string()).unwrap_or_default();
            let at = texts.iter().position(|text| *text == unit).unwrap_or(texts.len());
            if at == texts.len() {
                texts.push(unit);
            }
            *slot = key(at);
        }
        keys.push(*slot);
    }
    Repeated { rows: keys, texts }
}

/// What locations are called, by their profile numbers.
#[must_use]
pub fn location_names(session: &Session, rows: &[u32]) -> Repeated {
    let catalog = &session.experiment().locations;
    let (mut texts, mut keys, mut last) = (Vec::new(), Vec::with_capacity(rows.len()), None);
    // Rows come in order of location.
    for &row in rows {
        if last != Some(row) {
            texts.push(catalog.label(LocationIdx::new(row)));
            last = Some(row);
        }
        keys.push(key(texts.len() - 1));
    }
    Repeated { rows: keys, texts }
}

/// What a trace calls the time between samples of context 0.
const NOT_RUNNING: &str = "<not running>";

/// `root_name` replaces the name of context 0 where it means something else than the root.
fn context_names(tree: &ContextTree, ids: &[u32], root_name: Option<&str>) -> Repeated {
    let (mut texts, mut keys) = (Vec::new(), Vec::with_capacity(ids.len()));
    let mut known: Vec<i32> = vec![-1; tree.len()];
    for &id in ids {
        let Some(context) = tree.by_source_id(id) else {
            keys.push(-1);
            continue;
        };
        let slot = &mut known[context.idx()];
        if *slot < 0 {
            *slot = key(texts.len());
            texts.push(match root_name {
                Some(name) if context == ContextTree::ROOT => name.to_owned(),
                _ => tree.label(context),
            });
        }
        keys.push(*slot);
    }
    Repeated { rows: keys, texts }
}

/// `CPUTIME (i)` of a location, `CPUTIME:sum (i)` of the summary.
fn metric_names(session: &Session, rows: &[u32], ids: &[u16]) -> Repeated {
    let experiment = session.experiment();
    let letter = |scope: &Scope| {
        scope.letter().map_or_else(|| scope.source_name().to_owned(), |c| c.to_string())
    };
    let value_name = |name: &str, i: &MetricInstance| format!("{name} ({})", letter(&i.scope));
    let statistic_name = |name: &str, s: &Statistic| {
        format!("{name}:{} ({})", s.name().unwrap_or("other"), letter(&s.scope))
    };
    let summary = experiment.locations.summary().map(LocationIdx::get);
    let (mut texts, mut keys) = (Vec::new(), Vec::with_capacity(ids.len()));
    // One slot for each id in each of the two numberings.
    let mut known = vec![-1_i32; 2 << 16];
    for (&row, &id) in rows.iter().zip(ids) {
        let is_summary = Some(row) == summary;
        let slot = &mut known[usize::from(id) + (usize::from(is_summary) << 16)];
        if *slot < 0 {
            let text = if is_summary {
                let found = experiment.metrics.by_statistic_id(id);
                found.map(|(_, metric, statistic)| statistic_name(&metric.name, statistic))
            } else {
                let found = experiment.metrics.by_id(id);
                found.map(|(_, metric, instance)| value_name(&metric.name, instance))
            };
            *slot = key(texts.len());
            texts.push(text.unwrap_or_else(|| format!("<unknown metric {id}>")));
        }
        keys.push(*slot);
    }
    Repeated { rows: keys, texts }
}

fn key(n: usize) -> i32 {
    i32::try_from(n).unwrap_or(-1)
}

/// Samples of traces, by location and time.
#[derive(Debug, Clone, Default)]
pub struct SampleColumns {
    /// Profile number in the database.
    pub location: Vec<u32>,
    /// Context id in the database; 0 while nothing ran.
    pub context: Vec<u32>,
    /// Nanoseconds on the trace's clock.
    pub start: Vec<u64>,
    /// The time of the next sample of the location.
    pub end: Vec<u64>,
}

/// The samples of the chosen locations that reach into a window, not cut at it.
///
/// # Errors
/// When there are no traces, they cannot be read, or the question is withdrawn.
pub fn trace_columns(
    session: &Session,
    locations: &LocationChoice,
    window: TimeWindow,
    control: &Control,
) -> Result<SampleColumns, EngineError> {
    let store = session.traces()?;
    let mut tracks = session.chosen_tracks(store, locations);
    tracks.sort_by_key(|&track| store.track(track).map(|track| track.location));
    track_columns(session, &tracks, window, control)
}

/// The samples of some tracks that reach into a window, track by track in the given order.
///
/// # Errors
/// When there are no traces, they cannot be read, or the question is withdrawn.
pub fn track_columns(
    session: &Session,
    tracks: &[TrackIdx],
    window: TimeWindow,
    control: &Control,
) -> Result<SampleColumns, EngineError> {
    let store = session.traces()?;
    let most: u64 =
        tracks.iter().filter_map(|&id| store.track(id)).map(|own| own.num_samples).sum();
    if let Some(most) = usize::try_from(most).ok().filter(|&most| most <= FEW_SAMPLES) {
        return few_columns(store, tracks, (window, most), control);
    }
    let weight = |i: usize| store.track(tracks[i]).map_or(0, |track| track.num_samples);
    let ranges = threads::ranges(tracks.len(), weight);
    control.begin(tracks.len() as u64);
    // Counted first and filled then, so that memory is that of the answer.
    let lens = threads::map(ranges.clone(), |range| -> Result<usize, EngineError> {
        let mut rows = 0;
        for &track in &tracks[range] {
            control.check()?;
            store.visit(track, window, &mut |_| rows += 1)?;
        }
        Ok(rows)
    });
    let lens = lens.into_iter().collect::<Result<Vec<_>, _>>()?;
    let rows: usize = lens.iter().sum();
    let (mut location, mut context) = (vec![0_u32; rows], vec![0_u32; rows]);
    let (mut start, mut end) = (vec![0_u64; rows], vec![0_u64; rows]);
    let pieces = cut(&mut location, &lens)
        .into_iter()
        .zip(cut(&mut context, &lens))
        .zip(cut(&mut start, &lens).into_iter().zip(cut(&mut end, &lens)));
    let work: Vec<_> = ranges.into_iter().zip(pieces).collect();
    let filled = threads::map(work, |(range, ((l, c), (s, e)))| -> Result<(), EngineError> {
        let mut rows = l.iter_mut().zip(c).zip(s.iter_mut().zip(e));
        for &track in &tracks[range] {
            let location = store.track(track).map_or(0, |track| track.location.get());
            store.visit(track, window, &mut |interval| {
                if let Some(((l, c), (s, e))) = rows.next() {
                    (*l, *c) = (location, interval.context);
                    (*s, *e) = (interval.start_nanos, interval.end_nanos);
                }
            })?;
            control.advance(1)?;
        }
        Ok(())
    });
    filled.into_iter().collect::<Result<(), _>>()?;
    Ok(SampleColumns { location, context, start, end })
}

/// So many samples are read at once, by one thread: memory for all of them costs less than counting
/// them first.
const FEW_SAMPLES: usize = 1 << 18;

fn few_columns(
    store: &dyn TraceStore,
    tracks: &[TrackIdx],
    (window, most): (TimeWindow, usize),
    control: &Control,
) -> Result<SampleColumns, EngineError> {
    control.begin(tracks.len() as u64);
    let (mut location, mut context) = (Vec::with_capacity(most), Vec::with_capacity(most));
    let (mut start, mut end) = (Vec::with_capacity(most), Vec::with_capacity(most));
    for &track in tracks {
        store.visit(track, window, &mut |interval| {
            context.push(interval.context);
            start.push(interval.start_nanos);
            end.push(interval.end_nanos);
        })?;
        let own = store.track(track).map_or(0, |track| track.location.get());
        location.resize(context.len(), own);
        control.advance(1)?;
    }
    Ok(SampleColumns { location, context, start, end })
}

/// Samples as a table, with names where wanted.
#[must_use]
pub fn trace_table(session: &Session, samples: SampleColumns, names: Names) -> SampleTable {
    let SampleColumns { location, context, start, end } = samples;
    let is_readable = names == Names::Readable;
    SampleTable {
        location: is_readable.then(|| location_names(session, &location)),
        context: is_readable.then(|| sample_context_names(session, &context)),
        profile_id: location,
        context_id: context,
        start_ns: start,
        end_ns: end,
    }
}

/// What the contexts of samples are called.
#[must_use]
pub fn sample_context_names(session: &Session, contexts: &[u32]) -> Repeated {
    context_names(session.tree(), contexts, Some(NOT_RUNNING))
}

/// Consecutive parts of `column` with the given lengths.
fn cut<'c, T>(column: &'c mut [T], lens: &[usize]) -> Vec<&'c mut [T]> {
    let mut rest = column;
    let mut out = Vec::with_capacity(lens.len());
    for &len in lens {
        let (part, others) = rest.split_at_mut(len);
        out.push(part);
        rest = others;
    }
    out
}
