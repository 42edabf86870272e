//! When each iteration begins and ends on each location.

use parallax_base::{ContextIdx, Control, TimeWindow, threads};
use parallax_engine::{EngineError, Session};

use super::Location;
use super::detect::Method;
use super::limits::step;
use super::order::{Run, beside, runs};
use super::spacing::{
    Origin, Spacing, differences, drop_short, joined, median, occurrences, spacing, telling,
};
use super::steps::{Steps, runs_of};
use super::visits::{Visit, Wanted, collect};

/// Starts that all locations show together are looked for on at most so many, spread evenly.
pub(super) const MOST_POOLED: usize = 256;

/// A start of one track and a start of the reference are the same iteration when they are nearer
/// than this part of the period.
const NEAR: f64 = 0.4;
/// So many of a track's iterations have to be near those of the reference.
const LEAST_NEAR: f64 = 0.7;

/// The starts of iterations on the tracks that have them.
pub(super) struct Boundaries {
    /// Place of each location in the list, and its starts; all have equally many.
    pub(super) tracks: Vec<(usize, Vec<u64>)>,
    /// Places of the locations that do not follow the iterations.
    pub(super) left_out: Vec<usize>,
    /// How many starts were taken from other iterations, because the marker was missing.
    pub(super) num_guessed: usize,
    /// Whether iterations begin at about the same time everywhere.
    pub(super) is_aligned: bool,
    /// Whether each iteration is one recorded call on each location, which leaves no doubt of the
    /// number.
    pub(super) is_counted: bool,
}

impl Boundaries {
    fn none(is_aligned: bool, left_out: Vec<usize>) -> Self {
        let (tracks, num_guessed, is_counted) = (Vec::new(), 0, false);
        Self { tracks, left_out, num_guessed, is_aligned, is_counted }
    }
}

/// What marks iterations.
pub(super) struct Marker<'a> {
    /// The contexts below which the marker is active.
    pub(super) contexts: &'a [ContextIdx],
    /// Visits nearer than this belong together.
    pub(super) gap_nanos: u64,
    /// Where its visits come from; [`Origin::Pooled`] when starts are looked for on all tracks
    /// together.
    pub(super) origin: Origin,
    /// How it was found; `None` where the user named it: then visits are iterations as they are.
    pub(super) method: Option<Method>,
}

impl Marker<'_> {
    /// Whether iterations may be counted as calls of a context.
    fn is_each_a_call(&self) -> bool {
        self.origin == Origin::Exact && self.method == Some(Method::Spacing)
    }
}

/// Finds the starts on all locations.
pub(super) fn boundaries(
    session: &Session,
    locations: &[Location],
    window: TimeWindow,
    marker: &Marker,
    control: &Control,
) -> Result<Boundaries, EngineError> {
    let tree = session.tree();
    let mut wanted = vec![false; tree.len()];
    let parent = marker.contexts.first().and_then(|&context| tree.parent(context));
    let around = match parent {
        Some(parent) if matches!(marker.method, Some(Method::Order | Method::InStep)) => {
            beside(tree, parent)
        }
        _ => marker.contexts.to_vec(),
    };
    for context in &around {
        if let Some(slot) = wanted.get_mut(context.idx()) {
            *slot = true;
        }
    }
    let wanted = Wanted::new(tree, &wanted);
    if marker.method == Some(Method::InStep) {
        let runs_of = |location: &Location| -> Result<Vec<Run>, EngineError> {
            let found = collect(session, &location.tracks, window, &wanted, usize::MAX)?;
            Ok(runs_of(&found.by_context, &around))
        };
        return in_step(locations, marker, &runs_of, control);
    }
    let of_marker = |location: &Location| -> Result<Vec<Visit>, EngineError> {
        let found = collect(session, &location.tracks, window, &wanted, usize::MAX)?.by_context;
        control.advance(1)?;
        if marker.method == Some(Method::Order) {
            let runs = runs(&found, &around, marker.origin).into_iter();
            let of_marker = runs.filter(|run| marker.contexts.contains(&run.context));
            return Ok(of_marker.map(|run| run.visit).collect());
        }
        let mut lists: Vec<Vec<Visit>> = found.into_values().collect();
        if lists.len() == 1 {
            return Ok(lists.pop().unwrap_or_default());
        }
        let mut all = lists.concat();
        all.sort_unstable_by_key(|visit| (visit.start, visit.end));
        Ok(all)
    };
    let places: Vec<usize> = (0..locations.len()).collect();
    control.begin(locations.len() as u64);
    if marker.origin == Origin::Pooled {
        let lists = threads::map(places, |at| locations.get(at).map_or(Ok(Vec::new()), &of_marker));
        let lists = lists.into_iter().collect::<Result<Vec<_>, _>>()?;
        return Ok(together(&lists, marker.gap_nanos));
    }
    // Only starts are kept: of many locations, visits would take much more memory.
    let parts = threads::map(places, |at| {
        let list = locations.get(at).map_or(Ok(Vec::new()), &of_marker)?;
        let starts = || as_they_are(list.iter().map(|run| run.start).collect());
        let calls = starts().filter(|_| marker.is_each_a_call());
        let own = if marker.method == Some(Method::Order) {
            starts()
        } else if marker.method.is_none() {
            named(&list)
        } else {
            repeated(&list, marker.gap_nanos, marker.origin)
        };
        Ok::<_, EngineError>((at, own, calls))
    });
    let mut found: Vec<(usize, Spacing)> = Vec::new();
    let mut called: Vec<(usize, Spacing)> = Vec::new();
    let mut left_out = Vec::new();
    for part in parts {
        let (at, own, calls) = part?;
        called.extend(calls.map(|calls| (at, calls)));
        match own {
            Some(spacing) => found.push((at, spacing)),
            None => left_out.push(at),
        }
    }
    // Where all locations have as many calls as there are iterations, no two of these are one.
    let count = count_of(&found);
    let is_one = |(_, calls): &(usize, Spacing)| calls.starts.len() == count;
    let is_counted = left_out.is_empty() && !called.is_empty() && called.iter().all(is_one);
    let found = if is_counted { called } else { found };
    Ok(align(found, left_out, is_counted))
}

/// Starts from the moments that all locations pass together; each has its own where its samples
/// show them.
fn in_step(
    locations: &[Location],
    marker: &Marker,
    runs_of: &(impl Fn(&Location) -> Result<Vec<Run>, EngineError> + Sync),
    control: &Control,
) -> Result<Boundaries, EngineError> {
    let mut out = Boundaries::none(true, Vec::new());
    let Some(&phase) = marker.contexts.first() else { return Ok(out) };
    let step = step(locations.len(), MOST_POOLED);
    control.begin((locations.len() + locations.len().div_ceil(step)) as u64);
    let some: Vec<&Location> = locations.iter().step_by(step).collect();
    let lists = threads::map(some, |location| {
        control.advance(1)?;
        runs_of(location)
    });
    let lists = lists.into_iter().collect::<Result<Vec<_>, _>>()?;
    let Some(steps) = Steps::find(&lists, phase) else { return Ok(out) };
    let own: Vec<Vec<Option<u64>>> = lists.iter().map(|runs| steps.starts_on(runs)).collect();
    let reference = steps.reference(&own);
    let places: Vec<usize> = (0..locations.len()).collect();
    let parts = threads::map(places, |at| {
        let runs = locations.get(at).map_or(Ok(Vec::new()), runs_of)?;
        control.advance(1)?;
        let own = steps.starts_on(&runs);
        let missing = own.iter().filter(|start| start.is_none()).count();
        Ok::<_, EngineError>((at, filled(&reference, &own), missing))
    });
    for part in parts {
        let (at, starts, missing) = part?;
        out.num_guessed += missing;
        out.tracks.push((at, starts));
    }
    Ok(out)
}

/// When any of several tracks is in a context.
pub(super) fn pooled(lists: &[&[Visit]]) -> Vec<Visit> {
    let mut all: Vec<Visit> = lists.iter().flat_map(|list| drop_short(list)).collect();
    all.sort_unstable_by_key(|visit| (visit.start, visit.end));
    joined(&all, 0)
}

/// Starts that all locations show together; each has its own ones where it shows them.
fn together(lists: &[Vec<Visit>], gap_nanos: u64) -> Boundaries {
    let step = step(lists.len(), MOST_POOLED);
    let visits: Vec<&[Visit]> = lists.iter().step_by(step).map(Vec::as_slice).collect();
    let mut out = Boundaries::none(true, Vec::new());
    let Some(reference) = repeated(&pooled(&visits), gap_nanos, Origin::Pooled) else {
        return out;
    };
    for (at, list) in lists.iter().enumerate() {
        let own: Vec<u64> = list.iter().map(|visit| visit.start).collect();
        let near = nearest(&reference.starts, &own, reference.period_nanos).0;
        out.num_guessed += near.iter().filter(|start| start.is_none()).count();
        out.tracks.push((at, filled(&reference.starts, &near)));
    }
    out
}

fn repeated(visits: &[Visit], gap_nanos: u64, origin: Origin) -> Option<Spacing> {
    spacing(&occurrences(&telling(visits, origin), gap_nanos, origin), origin)
}

/// Iterations that begin as they are, however far apart; fewer than three say nothing.
fn as_they_are(starts: Vec<u64>) -> Option<Spacing> {
    let period_nanos = median(&differences(&starts)).filter(|_| starts.len() > 2)?;
    Some(Spacing { starts, num_missed: 0, period_nanos, regular_share: 1.0, regular_nanos: 0 })
}

/// Each visit begins an iteration; those that touch or overlap are one.
fn named(visits: &[Visit]) -> Option<Spacing> {
    let mut starts: Vec<u64> = Vec::new();
    let mut end = 0;
    for visit in visits {
        if starts.is_empty() || visit.start >= end {
            starts.push(visit.start);
        }
        end = end.max(visit.end);
    }
    let longest = end.saturating_sub(*starts.first()?) as f64;
    let period_nanos = median(&differences(&starts)).unwrap_or(longest);
    Some(Spacing { starts, num_missed: 0, period_nanos, regular_share: 1.0, regular_nanos: 0 })
}

/// How many iterations tracks have, as a median.
fn count_of(found: &[(usize, Spacing)]) -> usize {
    let counts: Vec<u64> = found.iter().map(|(_, s)| s.starts.len() as u64).collect();
    median(&counts).map_or(0, |count| count.round() as usize)
}

/// Gives the iterations of all tracks the same numbers.
fn align(found: Vec<(usize, Spacing)>, mut left_out: Vec<usize>, is_counted: bool) -> Boundaries {
    let count = count_of(&found);
    // The track that is most like the others and most regular leads.
    let reference = found
        .iter()
        .min_by(|(_, a), (_, b)| {
            let key = |s: &Spacing| (s.starts.len().abs_diff(count), s.num_missed);
            key(a).cmp(&key(b)).then(b.regular_share.total_cmp(&a.regular_share))
        })
        .map(|(_, s)| (s.starts.clone(), s.period_nanos));
    let Some((reference, period)) = reference else {
        return Boundaries::none(false, left_out);
    };
    // What is near is found twice and not kept: of many locations it takes much memory.
    let shares: Vec<f64> =
        found.iter().map(|(_, s)| nearest(&reference, &s.starts, period).1).collect();
    let num_near = shares.iter().filter(|share| **share >= LEAST_NEAR).count();
    let is_aligned = num_near * 2 > found.len();
    let mut out = Boundaries { is_counted, ..Boundaries::none(is_aligned, Vec::new()) };
    for ((track, spacing), share) in found.into_iter().zip(shares) {
        // Where each call is an iteration, one that begins much later than those of other tracks is
        // late, and no other one is missing.
        if is_counted {
            out.num_guessed += spacing.num_missed;
            out.tracks.push((track, spacing.starts));
        } else if is_aligned && share >= LEAST_NEAR {
            let near = nearest(&reference, &spacing.starts, period).0;
            let own = spacing.num_missed;
            let guessed = near.iter().filter(|start| start.is_none()).count();
            out.num_guessed += own + guessed;
            out.tracks.push((track, filled(&reference, &near)));
        } else if !is_aligned && spacing.starts.len() == reference.len() {
            out.num_guessed += spacing.num_missed;
            out.tracks.push((track, spacing.starts));
        } else {
            left_out.push(track);
        }
    }
    left_out.sort_unstable();
    out.left_out = left_out;
    out
}

/// For each start of the reference the nearest one of a track, each at most once, and the share
/// of the track's and the reference's starts that found each other.
pub(super) fn nearest(
    reference: &[u64],
    own: &[u64],
    period_nanos: f64,
) -> (Vec<Option<u64>>, f64) {
    let most_nanos = period_nanos * NEAR;
    let mut at = 0;
    let mut used = None;
    let mut hits = 0_usize;
    let out = reference
        .iter()
        .map(|&wanted| {
            while let (Some(here), Some(next)) = (own.get(at), own.get(at + 1)) {
                if next.abs_diff(wanted) > here.abs_diff(wanted) {
                    break;
                }
                at += 1;
            }
            let start = *own.get(at)?;
            if used == Some(at) || start.abs_diff(wanted) as f64 > most_nanos {
                return None;
            }
            used = Some(at);
            hits += 1;
            Some(start)
        })
        .collect();
    (out, hits as f64 / reference.len().max(own.len()).max(1) as f64)
}

/// Starts with those of the reference where a track has none; ascending.
fn filled(reference: &[u64], own: &[Option<u64>]) -> Vec<u64> {
    let mut last = 0;
    reference
        .iter()
        .zip(own)
        .map(|(&reference, own)| {
            last = own.unwrap_or(reference).max(last);
            last
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(starts: &[u64]) -> Spacing {
        Spacing {
            starts: starts.to_vec(),
            num_missed: 0,
            period_nanos: 100.0,
            regular_share: 1.0,
            regular_nanos: 0,
        }
    }

    #[test]
    fn a_track_that_misses_a_marker_gets_the_start_of_the_others() {
        let found = vec![
            (0, track(&[0, 100, 200, 300])),
            (1, track(&[5, 105, 305])),
            (2, track(&[2, 102, 203, 302])),
            (3, track(&[1, 3000, 5000])),
        ];
        let got = align(found, Vec::new(), false);
        assert!(got.is_aligned);
        assert_eq!(got.tracks.len(), 3);
        assert_eq!(got.tracks[1], (1, vec![5, 105, 200, 305]));
        assert_eq!((got.left_out, got.num_guessed), (vec![3], 1));
    }

    #[test]
    fn a_call_that_comes_late_is_no_missing_call() {
        let found = || vec![(0, track(&[0, 100, 200, 300])), (1, track(&[5, 105, 260, 305]))];
        let got = align(found(), Vec::new(), true);
        assert_eq!(got.tracks[1], (1, vec![5, 105, 260, 305]));
        assert_eq!((got.tracks.len(), got.num_guessed), (2, 0));
        // Of samples it may be anything.
        assert_eq!(align(found(), Vec::new(), false).num_guessed, 1);
    }

    #[test]
    fn tracks_that_run_apart_are_compared_by_number() {
        let found = vec![
            (0, track(&[0, 100, 200, 300])),
            (1, track(&[50, 190, 330, 470])),
            (2, track(&[60, 130, 190])),
            (3, track(&[45, 195, 345, 495])),
        ];
        let got = align(found, Vec::new(), false);
        assert!(!got.is_aligned);
        assert_eq!(got.tracks.iter().map(|t| t.0).collect::<Vec<_>>(), [0, 1, 3]);
        assert_eq!(got.left_out, [2]);
    }
}
