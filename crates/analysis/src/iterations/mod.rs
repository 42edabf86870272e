//! Iterations: repeated phases of a program, found in its traces, and what each location did in
//! each of them.
//!
//! The model is that of hpcanalysis (arXiv 2605.03561): time by context, location and iteration.
//! How iterations are found is our own; `docs/iterations.md` says it in full. All times are
//! nanoseconds on the trace's clock, added up exactly from the trace.

mod boundaries;
mod candidates;
mod chains;
mod cube;
mod detect;
mod groups;
mod limits;
mod marked;
mod measure;
mod order;
mod phases;
mod read;
mod spacing;
mod stalls;
mod statistics;
mod steps;
mod trees;
mod visits;

use parallax_base::{ContextIdx, Control, LocationIdx, TimeWindow, TrackIdx};
use parallax_engine::{EngineError, Session};
use parallax_model::{IdentityKind, LocationCatalog, TraceKind, TraceStore};

use crate::devices::Devices;
use crate::events::Activities;
pub use cube::{Cell, Cube, MOST_CELLS, MapOf, Units, map_of};
pub use detect::{Method, Repetition};
use groups::{Groups, Location};
pub use phases::{Phase, PhaseTotals, phase_totals};
use read::Reader;
use spacing::Origin;
pub use stalls::Stall;
pub use statistics::{
    ContextStatistics, IterationStatistics, LocationStatistics, Statistics, sampling_noise,
};
pub use trees::{Spread, TreeTimes, trees};

/// An iteration with less than this part of the usual activity is not a whole one.
const PARTIAL: f64 = 0.5;
/// Iterations at the beginning that differ from the period by more than this factor warm up.
const WARM_UP: f64 = 2.0;

/// What may be compared: locations that execute code of the same kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LocationGroup {
    /// Streams of GPUs.
    GpuStreams,
    /// The first thread of each rank, or of each process.
    FirstThreads,
    /// The other threads.
    OtherThreads,
}

impl LocationGroup {
    /// Display names.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::GpuStreams => "GPU streams",
            Self::FirstThreads => "main threads",
            Self::OtherThreads => "other threads",
        }
    }

    /// The same, where streams of a GPU are taken together.
    #[must_use]
    pub const fn name_of(self, is_merged: bool) -> &'static str {
        match self {
            Self::GpuStreams if is_merged => "GPUs",
            _ => self.name(),
        }
    }

    /// The expression that chooses them, for users.
    #[must_use]
    pub const fn expression(self) -> &'static str {
        match self {
            Self::GpuStreams => "gpustream",
            Self::FirstThreads => "thread(0)",
            Self::OtherThreads => "thread(1-)",
        }
    }

    fn of(locations: &LocationCatalog, location: LocationIdx) -> Self {
        if locations.is_gpu(location) {
            return Self::GpuStreams;
        }
        match locations.identity(location, IdentityKind::Thread) {
            Some(number) if number > 0 => Self::OtherThreads,
            _ => Self::FirstThreads,
        }
    }
}

/// Where iterations are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IterationsQuestion {
    /// Tracks, ascending and distinct.
    pub tracks: Vec<TrackIdx>,
    /// The window; may reach beyond the trace.
    pub window: TimeWindow,
    /// Contexts with which iterations begin; empty to find them.
    pub marker: Vec<ContextIdx>,
}

/// Whether an iteration counts in statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IterationState {
    /// One of the first, more than twice as long or less than half as long as the others.
    WarmUp,
    /// Counts.
    Whole,
    /// The last, with less than half of the usual activity: the trace ends, or the loop was left.
    Partial,
    /// Takes far longer than all others: an event of its own, see [`Stall`].
    Extraordinary,
    /// The user chose others.
    LeftOut,
}

impl IterationState {
    /// The display name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::WarmUp => "warm-up",
            Self::Whole => "whole",
            Self::Partial => "partial",
            Self::Extraordinary => "extraordinary",
            Self::LeftOut => "omitted",
        }
    }
}

/// Iterations of locations of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Iterations {
    /// Which locations.
    pub group: LocationGroup,
    /// Contexts with which iterations begin.
    pub marker: Vec<ContextIdx>,
    /// How it was found; `None` when the user named the marker, or the program marks them.
    pub repetition: Option<Repetition>,
    /// By what the program marks them; `None` where it does not.
    pub marked_by: Option<String>,
    /// The tracks of each location that has the iterations, several of a GPU with several streams.
    pub streams: Vec<Vec<TrackIdx>>,
    /// For each track where its iterations begin, and where the last one ends: one more than there
    /// are iterations.
    pub bounds: Vec<Vec<u64>>,
    /// For each iteration whether it counts.
    pub states: Vec<IterationState>,
    /// Tracks of the locations of the group without these iterations.
    pub left_out: Vec<Vec<TrackIdx>>,
    /// How many contexts have any time, at most.
    num_units: usize,
    /// How many of the starts were not seen, and taken from the neighbours in time or place.
    pub num_guessed: usize,
    /// Whether iterations begin at about the same time on all tracks.
    pub is_aligned: bool,
    /// How far samples are apart, in nanoseconds: what the time of one context on one location in
    /// one iteration may be wrong by. `None` where times are exact.
    pub interval_nanos: Option<u64>,
}

impl Iterations {
    /// What the locations are, for users: GPUs where any has several streams.
    #[must_use]
    pub fn locations_name(&self) -> &'static str {
        self.group.name_of(self.streams.iter().any(|tracks| tracks.len() > 1))
    }

    /// How many there are, those that do not count included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// How many are in a state.
    #[must_use]
    pub fn count(&self, state: IterationState) -> usize {
        self.states.iter().filter(|&&s| s == state).count()
    }

    /// Length of an iteration in nanoseconds: mean over the tracks.
    #[must_use]
    pub fn mean_nanos(&self, iteration: usize) -> f64 {
        let each = self.bounds.iter().map(|bounds| u128::from(length(bounds, iteration)));
        let nanos: u128 = each.sum();
        nanos as f64 / self.bounds.len().max(1) as f64
    }

    /// The median length of the iterations that count, in nanoseconds.
    #[must_use]
    pub fn period_nanos(&self) -> f64 {
        let whole = (0..self.len()).filter(|&i| self.states.get(i) == Some(&IterationState::Whole));
        let lengths: Vec<u64> = whole.map(|i| self.mean_nanos(i).round() as u64).collect();
        spacing::median(&lengths).unwrap_or(0.0)
    }

    /// From the first begin to the last end on any track.
    #[must_use]
    pub fn span(&self) -> TimeWindow {
        let first = self.bounds.iter().filter_map(|b| b.first()).min();
        let last = self.bounds.iter().filter_map(|b| b.last()).max();
        TimeWindow::new(first.copied().unwrap_or(0), last.copied().unwrap_or(0))
    }
}

fn length(bounds: &[u64], iteration: usize) -> u64 {
    let ends = bounds.get(iteration).zip(bounds.get(iteration + 1));
    ends.map_or(0, |(start, end)| end.saturating_sub(*start))
}

/// What was found on the locations of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupFinding {
    /// Which locations.
    pub group: LocationGroup,
    /// How many of them were active; the streams of a GPU are one.
    pub num_tracks: usize,
    /// Whether any of them is a GPU with several streams.
    pub is_merged: bool,
    /// The way in which they repeat.
    pub best: Option<Repetition>,
    /// Other ways, best first.
    pub others: Vec<Repetition>,
    /// Why there is none, human-readable.
    pub why_not: Option<String>,
    /// What was not examined, and what cannot be told, in sentences for users.
    pub limits: Vec<String>,
    /// What the program marks itself.
    marked: Option<marked::Marked>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The iterations, and what they say; `None` when there are no regular ones.
    pub iterations: Option<(Iterations, Statistics)>,
    /// By kind of location, the one that was taken first.
    pub groups: Vec<GroupFinding>,
    /// Iterations that take far longer than the others, the longest first.
    pub stalls: Vec<Stall>,
    /// The window with its end at the last record of the trace, and what it is a share of.
    pub window: TimeWindow,
}

/// The span of a store with its last moment inside.
fn whole(store: &dyn TraceStore) -> TimeWindow {
    let span = store.span();
    TimeWindow::new(span.start_nanos, span.end_nanos.saturating_add(1))
}

/// Finds the iterations of a program and what they say about contexts and locations.
///
/// # Errors
/// When there are no traces, they cannot be read, the answer would take too much memory, or the
/// question is withdrawn.
pub fn find_iterations(
    session: &Session,
    question: &IterationsQuestion,
    control: &Control,
) -> Result<Finding, EngineError> {
    let store = session.traces()?;
    let window = question.window.intersect(whole(store));
    let activities = Activities::new(session.tree());
    let units = Units::new(session.tree(), &activities);
    let mut finding = Finding { iterations: None, groups: Vec::new(), stalls: Vec::new(), window };
    let groups = Groups::new(session, &question.tracks, window, &units)?;
    let mut list = Vec::new();
    for group in groups.list {
        let marked = match question.marker.is_empty() {
            true => marked::find(session, &group.locations, window)?,
            false => None,
        };
        list.push((group, marked));
    }
    // What the program marks comes before what is guessed on others.
    list.sort_by_key(|(_, marked)| marked.is_none());
    for (group, marked) in list {
        let mut found = GroupFinding {
            group: group.kind,
            num_tracks: group.locations.len(),
            is_merged: group.is_merged,
            best: None,
            others: Vec::new(),
            why_not: None,
            limits: Vec::new(),
            marked,
        };
        if group.num_copying > 0 {
            found.limits.push(format!(
                "{} GPUs only copy and are not compared with those that compute.",
                group.num_copying
            ));
        }
        if group.kind == LocationGroup::GpuStreams {
            found.limits.extend(Devices::new(&session.experiment().locations).note());
        }
        let interval_nanos = sample_interval(session, &group, window)?;
        if question.marker.is_empty() && found.marked.is_none() {
            let locations = &group.locations;
            let detected = detect::detect(session, locations, window, interval_nanos, control)?;
            found.best = detected.best;
            found.others = detected.others;
            found.why_not = detected.why_not;
            found.limits.extend(detected.limits);
        }
        let marker = match (&found.marked, &found.best) {
            (Some(marked), _) => marked.contexts.clone(),
            (None, Some(best)) => vec![best.marker],
            (None, None) => question.marker.clone(),
        };
        if finding.iterations.is_none() && !marker.is_empty() {
            let marked = boundaries::Marker {
                contexts: &marker,
                gap_nanos: found.best.as_ref().map_or(0, |best| best.gap_nanos),
                origin: match &found.best {
                    Some(best) if best.method == Method::Pooled => Origin::Pooled,
                    _ if interval_nanos.is_none() => Origin::Exact,
                    _ => Origin::Samples,
                },
                method: found.best.as_ref().map(|best| best.method),
            };
            let starts =
                boundaries::boundaries(session, &group.locations, window, &marked, control)?;
            if found.best.as_ref().is_some_and(|best| best.method.is_pooled()) {
                let what = "Starts of iterations that all locations show together were detected";
                let num = group.locations.len();
                found.limits.extend(limits::spread(what, num, boundaries::MOST_POOLED));
            }
            if let Some(best) = found.best.as_mut().filter(|_| starts.is_counted) {
                best.is_estimate = false;
            }
            if let Some(best) = &mut found.best
                && session.traces()?.sample_interval_nanos().is_some()
            {
                // A recorded thread that loses its processor is seen nowhere for that long.
                best.is_estimate = true;
            }
            if starts.tracks.is_empty() {
                found.why_not = Some("the marker is never active there".into());
            } else {
                let mut iterations = Iterations {
                    repetition: found.best.clone(),
                    marked_by: found.marked.as_ref().map(|marked| marked.by.clone()),
                    interval_nanos,
                    num_units: groups.num_units,
                    ..begin(group.kind, marker, &group.locations, starts)
                };
                cube::finish(session, &units, &mut iterations, window)?;
                stalls::mark(&mut iterations);
                let reader = Reader { session, units: &units, activities: &activities };
                let statistics = measure::measure(&reader, &mut iterations, true, control)?;
                finding.stalls = stalls::stalls(&reader, &iterations, &statistics, control)?;
                finding.iterations = Some((iterations, statistics));
            }
        }
        finding.groups.push(found);
    }
    Ok(finding)
}

/// What iterations say whose states were changed, or of some contexts only: those with units.
///
/// # Errors
/// When the traces cannot be read, or the question is withdrawn.
pub fn statistics(
    session: &Session,
    iterations: &Iterations,
    units: &Units,
    control: &Control,
) -> Result<Statistics, EngineError> {
    let activities = Activities::new(session.tree());
    let reader = Reader { session, units, activities: &activities };
    measure::measure(&reader, &mut iterations.clone(), false, control)
}

fn begin(
    group: LocationGroup,
    marker: Vec<ContextIdx>,
    locations: &[Location],
    starts: boundaries::Boundaries,
) -> Iterations {
    let len = starts.tracks.first().map_or(0, |(_, starts)| starts.len());
    let tracks_of = |at: usize| locations.get(at).map(|own| own.tracks.clone()).unwrap_or_default();
    let (streams, bounds) =
        starts.tracks.into_iter().map(|(at, starts)| (tracks_of(at), starts)).unzip();
    Iterations {
        group,
        marker,
        repetition: None,
        marked_by: None,
        streams,
        bounds,
        states: vec![IterationState::Whole; len],
        left_out: starts.left_out.into_iter().map(tracks_of).collect(),
        num_units: 0,
        num_guessed: starts.num_guessed,
        is_aligned: starts.is_aligned,
        interval_nanos: None,
    }
}

/// How far samples of threads are apart: the median. `None` for calls and for streams of GPUs, whose
/// times are exact.
fn sample_interval(
    session: &Session,
    group: &groups::Group,
    window: TimeWindow,
) -> Result<Option<u64>, EngineError> {
    let store = session.traces()?;
    if store.kind() == TraceKind::Calls || group.kind == LocationGroup::GpuStreams {
        return Ok(None);
    }
    if let Some(known) = store.sample_interval_nanos() {
        return Ok(Some(known));
    }
    let mut intervals: Vec<u64> = Vec::new();
    let step = group.locations.len().div_ceil(16).max(1);
    for &track in group.locations.iter().step_by(step).flat_map(|location| &location.tracks) {
        store.visit(track, window, &mut |interval| {
            if interval.end_nanos > interval.start_nanos && intervals.len() < 1 << 20 {
                intervals.push(interval.end_nanos - interval.start_nanos);
            }
        })?;
    }
    Ok(spacing::median(&intervals).map(|median| median.round() as u64))
}
