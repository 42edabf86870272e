//! Anomalies: single calls that take much longer than the calls of the same function on the same
//! track.
//!
//! Durations of calls are skewed, so they are compared on a logarithmic scale, by what outliers do
//! not move: the median and the median absolute deviation (P. J. Rousseeuw, C. Croux, *Alternatives
//! to the Median Absolute Deviation*, 1993). A call is an anomaly where all of this holds:
//!
//! - the function has at least [`Anomalies::MIN_CALLS`] calls on the track;
//! - its exclusive time is [`Anomalies::MIN_SCORE`] deviations above the median, and more than
//!   [`Anomalies::MIN_RATIO`] times as long;
//! - it exceeds the median by the least excess that is asked for;
//! - such calls are rare: at most one, or one in [`Anomalies::RARE`]. More of them are another way
//!   in which the function regularly behaves.
//!
//! Durations are counted in bins of a 32nd of an octave, so that memory follows the number of
//! functions and not that of calls; a median is known to 1.6 %.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use parallax_base::casts::saturated_u64;
use parallax_base::{ContextIdx, Control, FunctionIdx, TimeWindow, TrackIdx, threads};
use parallax_engine::{EngineError, Session};
use parallax_model::{ChosenCalls, ContextTree, NamedAnomalies};

use crate::events::Selection;
use crate::taxonomy::{Purposes, mpi_routine};

/// Which calls are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnomalyChoice {
    /// Also calls of MPI, and those that wait: how long they take depends on other locations.
    pub has_waits: bool,
    /// The least time by which a call must exceed the median.
    pub min_excess_nanos: u64,
    /// The most calls that are listed.
    pub max_rows: usize,
}

/// A call that is one, with its evidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Anomaly {
    /// Where it ran.
    pub track: TrackIdx,
    /// What was called.
    pub context: ContextIdx,
    /// When it was entered, on the trace's clock.
    pub start_nanos: u64,
    /// When it was left.
    pub end_nanos: u64,
    /// Its time without that of the calls made from it.
    pub exclusive_nanos: u64,
    /// How it compares with the calls of its function; `None` where these cannot be compared.
    pub evidence: Option<Evidence>,
    /// Whether it is one by the rule.
    pub is_outlier: bool,
    /// Whether a detector named it.
    pub is_named: bool,
}

/// How a call compares with the calls of its function on the same track.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// The median of their exclusive times.
    pub median_nanos: u64,
    /// How many there are.
    pub calls: u64,
    /// How many deviations the call lies above the median.
    pub score: f64,
}

impl Anomaly {
    /// The time above the median; all of it where nothing is compared.
    #[must_use]
    pub fn excess_nanos(&self) -> u64 {
        let median = self.evidence.map_or(0, |evidence| evidence.median_nanos);
        self.exclusive_nanos.saturating_sub(median)
    }
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Anomalies {
    /// The calls, the largest excess first.
    pub list: Vec<Anomaly>,
    /// How many there are, those that are not listed included.
    pub total: u64,
    /// How many of them are outliers by the rule.
    pub outliers: u64,
    /// How many of them a detector named.
    pub named: u64,
    /// The excess of the outliers in nanoseconds, all together.
    pub excess_nanos: u128,
    /// How many calls were compared with others of their function.
    pub compared: u64,
    /// How many calls belong to functions that are called too rarely on their track.
    pub too_few: u64,
}

impl Anomalies {
    /// Calls that a function needs on a track.
    pub const MIN_CALLS: u64 = 20;
    /// Deviations above the median.
    pub const MIN_SCORE: f64 = 8.0;
    /// Times the median.
    pub const MIN_RATIO: f64 = 2.0;
    /// One call in so many may be an anomaly.
    pub const RARE: u64 = 50;
    /// Differences of a tenth are never far: the deviation is at least so much.
    const LEAST_DEVIATION: f64 = 1.1;
}

/// Looks for anomalies. What is usual is that of all calls of a track; those that begin in the
/// window are listed. Calls that a detector named are listed, too, whether they are outliers or not.
///
/// # Errors
/// When there is no trace, it cannot be read, or the question is withdrawn.
pub fn anomalies(
    session: &Session,
    selection: &Selection,
    choice: AnomalyChoice,
    control: &Control,
) -> Result<Anomalies, EngineError> {
    let tree = session.tree();
    let store = session.traces()?;
    let compared = compared_functions(tree, choice.has_waits);
    let named = match &session.experiment().metadata.named {
        Some(_) => named_calls(session)?,
        None => NamedCalls::new(),
    };
    let tracks = &selection.tracks;
    let weight =
        |i: usize| tracks.get(i).and_then(|&t| store.track(t)).map_or(0, |t| t.num_samples);
    control.begin(tracks.len() as u64);
    let parts = threads::map(threads::ranges(tracks.len(), weight), |range| {
        let mut part = Anomalies::default();
        for &track in tracks.get(range).unwrap_or_default() {
            control.check()?;
            let named = named.get(&track);
            let all = Compared { functions: &compared, named };
            of_track(session, all, track, selection.window, choice, &mut part)?;
            control.advance(1)?;
        }
        Ok(part)
    });
    let mut whole = Anomalies::default();
    for part in parts {
        let part: Anomalies = part.map_err(|error: EngineError| error)?;
        whole.total += part.total;
        whole.outliers += part.outliers;
        whole.named += part.named;
        whole.excess_nanos += part.excess_nanos;
        whole.compared += part.compared;
        whole.too_few += part.too_few;
        whole.list.extend(part.list);
    }
    first_ones(&mut whole.list, choice.max_rows);
    Ok(whole)
}

/// The calls that the detector named which chose the calls of the trace. None is compared with others:
/// those that were not kept are not known. Their exclusive time is that without the calls made from
/// them that were kept.
///
/// # Errors
/// When there is no trace, it cannot be read, or the question is withdrawn.
pub fn named_anomalies(
    session: &Session,
    chosen: &ChosenCalls,
    selection: &Selection,
    max_rows: usize,
    control: &Control,
) -> Result<Anomalies, EngineError> {
    let window = selection.window;
    // Where the detector kept nothing else, no call is asked about.
    let are_all = chosen.calls == chosen.anomalies;
    let named = if are_all { NamedCalls::new() } else { named_calls(session)? };
    let mut out = Anomalies::default();
    control.begin(selection.tracks.len() as u64);
    for &track in &selection.tracks {
        control.check()?;
        let named = named.get(&track);
        for_each_exclusive(session, track, &mut |call| {
            let is_inside =
                window.start_nanos <= call.start_nanos && call.start_nanos < window.end_nanos;
            if is_inside && (are_all || is_named(session.tree(), named, &call)) {
                out.total += 1;
                out.named += 1;
                out.list.push(Anomaly { is_named: true, ..call });
            }
        })?;
        first_ones(&mut out.list, max_rows);
        control.advance(1)?;
    }
    Ok(out)
}

/// Calls that a detector named, by their track: the source's id of the context, start and end.
type NamedCalls = BTreeMap<TrackIdx, HashSet<(u32, u64, u64)>>;

fn named_calls(session: &Session) -> Result<NamedCalls, EngineError> {
    let mut out = NamedCalls::new();
    if let Some(events) = session.experiment().events.as_deref() {
        let (name, value) = (NamedAnomalies::SCORE, NamedAnomalies::ANOMALY);
        events.described(name, value, &mut |track, call| {
            out.entry(track).or_default().insert((call.context, call.start_nanos, call.end_nanos));
        })?;
    }
    Ok(out)
}

fn is_named(tree: &ContextTree, named: Option<&HashSet<(u32, u64, u64)>>, call: &Anomaly) -> bool {
    named.is_some_and(|named| {
        named.contains(&(tree.source_id(call.context), call.start_nanos, call.end_nanos))
    })
}

/// The function of each context whose calls are compared, by position.
fn compared_functions(tree: &ContextTree, has_waits: bool) -> Vec<Option<FunctionIdx>> {
    let purposes = Purposes::new(tree);
    let is_compared = |context: ContextIdx| {
        let is_mpi = || tree.function_name(context).is_some_and(|name| mpi_routine(name).is_some());
        has_waits || !(purposes.is_waiting(context) || is_mpi())
    };
    tree.iter().map(|context| tree.function(context).filter(|_| is_compared(context))).collect()
}

/// The largest excess first, and no more than asked for.
fn first_ones(list: &mut Vec<Anomaly>, most: usize) {
    list.sort_by_key(|one| (Reverse(one.excess_nanos()), one.track, one.start_nanos, one.context));
    list.truncate(most);
}

/// Which calls are looked at.
#[derive(Clone, Copy)]
struct Compared<'a> {
    /// The function of each context whose calls are compared, by position.
    functions: &'a [Option<FunctionIdx>],
    /// What a detector named on the track.
    named: Option<&'a HashSet<(u32, u64, u64)>>,
}

fn of_track(
    session: &Session,
    compared: Compared<'_>,
    track: TrackIdx,
    window: TimeWindow,
    choice: AnomalyChoice,
    out: &mut Anomalies,
) -> Result<(), EngineError> {
    let tree = session.tree();
    let function_of =
        |context: ContextIdx| compared.functions.get(context.idx()).copied().flatten();
    let mut counted: BTreeMap<FunctionIdx, Durations> = BTreeMap::new();
    for_each_exclusive(session, track, &mut |call| {
        if let Some(function) = function_of(call.context) {
            counted.entry(function).or_default().add(call.exclusive_nanos);
        }
    })?;
    let mut usual: BTreeMap<FunctionIdx, Usual> = BTreeMap::new();
    for (function, durations) in &counted {
        if durations.calls < Anomalies::MIN_CALLS {
            out.too_few += durations.calls;
            continue;
        }
        out.compared += durations.calls;
        let found = durations.usual(choice.min_excess_nanos);
        if compared.named.is_some() || found.limit_nanos.is_some() {
            usual.insert(*function, found);
        }
    }
    if usual.is_empty() && compared.named.is_none() {
        return Ok(());
    }
    for_each_exclusive(session, track, &mut |call| {
        let is_inside =
            window.start_nanos <= call.start_nanos && call.start_nanos < window.end_nanos;
        if !is_inside {
            return;
        }
        let usual = function_of(call.context).and_then(|function| usual.get(&function));
        let limit_nanos = usual.and_then(|usual| usual.limit_nanos);
        let is_outlier = limit_nanos.is_some_and(|limit| call.exclusive_nanos >= limit);
        let is_named = is_named(tree, compared.named, &call);
        if !is_outlier && !is_named {
            return;
        }
        let evidence = usual.map(|usual| Evidence {
            median_nanos: usual.median_nanos,
            calls: usual.calls,
            score: (log2(call.exclusive_nanos) - log2(usual.median_nanos)) / usual.deviation,
        });
        let found = Anomaly { evidence, is_outlier, is_named, ..call };
        out.total += 1;
        out.named += u64::from(is_named);
        if is_outlier {
            out.outliers += 1;
            out.excess_nanos += u128::from(found.excess_nanos());
        }
        out.list.push(found);
        if out.list.len() > choice.max_rows.saturating_mul(2).max(1024) {
            first_ones(&mut out.list, choice.max_rows);
        }
    })?;
    Ok(())
}

/// Calls from one call that has not been visited yet.
struct Below {
    caller: Option<ContextIdx>,
    /// When the first of them began.
    start_nanos: u64,
    /// What they took together.
    nanos: u64,
}

/// Calls `visit` with each call of a track whose end is known, and its exclusive time; a call comes
/// after those made from it. What makes a call an anomaly is not filled in.
fn for_each_exclusive(
    session: &Session,
    track: TrackIdx,
    visit: &mut dyn FnMut(Anomaly),
) -> Result<(), EngineError> {
    let tree = session.tree();
    // What calls took that no other one is known to be around yet. Those from one call are one
    // entry, so that there are no more than calls are deep.
    let mut below: Vec<Below> = Vec::new();
    session.traces()?.visit_calls(track, TimeWindow::ALL, &mut |call| {
        let (start_nanos, end_nanos) = (call.start_nanos, call.end_nanos);
        let Some(context) = tree.by_source_id(call.context) else { return };
        if end_nanos == u64::MAX || end_nanos < start_nanos {
            return;
        }
        let nanos = end_nanos - start_nanos;
        let mut inside = 0_u64;
        while let Some(last) = below.pop_if(|last| last.start_nanos >= start_nanos) {
            inside = inside.saturating_add(last.nanos);
        }
        let caller = tree.parent(context);
        match below.last_mut() {
            Some(last) if last.caller == caller => last.nanos = last.nanos.saturating_add(nanos),
            _ => below.push(Below { caller, start_nanos, nanos }),
        }
        let exclusive_nanos = nanos.saturating_sub(inside);
        visit(Anomaly {
            track,
            context,
            start_nanos,
            end_nanos,
            exclusive_nanos,
            evidence: None,
            is_outlier: false,
            is_named: false,
        });
    })?;
    Ok(())
}

/// How long the calls of a function take, in bins that grow with the duration.
#[derive(Debug, Clone, Default)]
struct Durations {
    calls: u64,
    bins: BTreeMap<u16, u64>,
}

/// What is usual for a function on a track, and from where on it is not.
#[derive(Debug, Clone, Copy)]
struct Usual {
    calls: u64,
    median_nanos: u64,
    /// On the logarithmic scale.
    deviation: f64,
    /// Calls that take so long or longer are anomalies; `None` where no call is far from the
    /// others, and where those that are, are not rare.
    limit_nanos: Option<u64>,
}

/// What is shorter is not measured well enough to be compared: it counts as a microsecond.
const LEAST_NANOS: u64 = 1_000;

/// Bins of an octave as a power of two.
const STEPS: u32 = 5;

impl Durations {
    fn add(&mut self, nanos: u64) {
        self.calls += 1;
        *self.bins.entry(bin_of(nanos)).or_default() += 1;
    }

    fn usual(&self, min_excess_nanos: u64) -> Usual {
        let median =
            middle(self.bins.iter().map(|(&bin, &calls)| (value_of(bin), calls)).collect());
        let away = |(&bin, &calls): (&u16, &u64)| ((value_of(bin) - median).abs(), calls);
        let spread = middle(self.bins.iter().map(away).collect());
        // 1.4826 makes it the standard deviation where the distribution is normal.
        let deviation = (1.4826 * spread).max(Anomalies::LEAST_DEVIATION.log2());
        let far = (Anomalies::MIN_SCORE * deviation).max(Anomalies::MIN_RATIO.log2());
        let median_nanos = saturated_u64(median.exp2().round());
        let limit_nanos = saturated_u64((median + far).exp2().ceil())
            .max(median_nanos.saturating_add(min_excess_nanos));
        let first = bin_of(limit_nanos);
        let beyond: u64 = self.bins.range(first..).map(|(_, calls)| calls).sum();
        let is_rare = (1..=(self.calls / Anomalies::RARE).max(1)).contains(&beyond);
        let limit_nanos = is_rare.then_some(limit_nanos);
        Usual { calls: self.calls, median_nanos, deviation, limit_nanos }
    }
}

fn log2(nanos: u64) -> f64 {
    (nanos.max(LEAST_NANOS) as f64).log2()
}

fn bin_of(nanos: u64) -> u16 {
    let nanos = nanos.max(LEAST_NANOS);
    let octave = nanos.ilog2();
    let step = (nanos >> (octave - STEPS)) & ((1 << STEPS) - 1);
    u16::try_from((u64::from(octave) << STEPS) | step).unwrap_or(u16::MAX)
}

/// The middle of a bin on the logarithmic scale.
fn value_of(bin: u16) -> f64 {
    let steps = 1_u16 << STEPS;
    let (octave, step) = (bin >> STEPS, bin % steps);
    f64::from(octave) + (1.0 + (f64::from(step) + 0.5) / f64::from(steps)).log2()
}

/// The median of values that occur so often; 0 where there are none.
fn middle(mut values: Vec<(f64, u64)>) -> f64 {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: u64 = values.iter().map(|(_, times)| times).sum();
    let mut before = 0;
    let is_middle = |(value, times): (f64, u64)| {
        before += times;
        (before * 2 >= all).then_some(value)
    };
    values.into_iter().find_map(is_middle).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn durations(values: impl IntoIterator<Item = u64>) -> Durations {
        let mut out = Durations::default();
        values.into_iter().for_each(|nanos| out.add(nanos));
        out
    }

    #[test]
    fn bins_are_within_a_32nd_of_an_octave() {
        for nanos in [1_000, 1_023, 1_024, 5_000_000, 123_456_789_012, u64::MAX] {
            let error = (value_of(bin_of(nanos)) - log2(nanos)).abs();
            assert!(error < 1.0 / 32.0, "{nanos}: {error}");
        }
    }

    #[test]
    fn one_long_call_is_far_and_many_are_another_behaviour() {
        let calm = (0..100).map(|i| 1_000_000 + i * 1_000);
        assert!(durations(calm.clone()).usual(0).limit_nanos.is_none());
        let one = durations(calm.clone().chain([9_000_000])).usual(0);
        assert!((1_020_000..1_080_000).contains(&one.median_nanos), "{one:?}");
        assert!(one.limit_nanos.unwrap() < 9_000_000);
        let many = calm.chain(std::iter::repeat_n(9_000_000, 10));
        assert!(durations(many).usual(0).limit_nanos.is_none());
    }

    #[test]
    fn what_scatters_by_orders_of_magnitude_has_no_outlier() {
        let wide = (0..200).map(|i| 1_000_u64 << (i % 16));
        assert!(durations(wide).usual(0).limit_nanos.is_none());
    }

    #[test]
    fn an_excess_that_is_not_asked_for_is_none() {
        let one = (0..100).map(|_| 10_000).chain([50_000]);
        assert!(durations(one.clone()).usual(10_000).limit_nanos.is_some());
        assert!(durations(one).usual(100_000).limit_nanos.is_none());
    }
}
