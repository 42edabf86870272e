//! Iterations that locations do in step, from samples that show each location only some of them.
//!
//! Locations that synchronise once in an iteration, in a collective operation or by exchanging
//! messages, pass that moment together. Of the contexts that share the time of a loop, its *phases*,
//! one contains the synchronisation; the others are left before it and entered again behind it. So
//! either each visit of a phase contains such a moment, or each gap between two visits does, on every
//! location. The fewest moments such that each of these intervals contains one of them (a stabbing
//! set, found greedily) is a lower bound of the number of synchronisations: a location whose
//! samples miss a visit has a longer gap, which needs no moment of its own. With several locations
//! the bound is tight, because what one misses another one shows.

use std::collections::BTreeMap;

use parallax_base::{ContextIdx, threads};
use parallax_model::ContextTree;

use super::candidates::{Candidate, SearchResult, keep_affordable};
use super::detect::{LEAST_ITERATIONS, LEAST_SHARE, Method};
use super::order::{Run, beside};
use super::spacing::{chance, differences, is_regular, median};
use super::visits::ByContext;

/// Contexts with less of the time than this are no loop around an iteration.
const LEAST_LOOP: f64 = 0.2;
/// A phase shows iterations when locations alone show so many of them, the best one.
const LEAST_BEST: f64 = 0.6;
/// The number is exact when the number of those that no location shows is estimated at less than
/// this part.
const NEARLY_ALL: f64 = 0.01;

/// From the last sample outside of a visit (or in the visit before) to the first one behind it.
type Range = (u64, u64);

/// The moments that separate iterations, from the samples of several locations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Steps {
    phase: ContextIdx,
    /// Whether visits of the phase contain the moments, and not the gaps between them.
    in_visits: bool,
    /// Ascending.
    moments: Vec<u64>,
    /// How many locations show each of them.
    seen: Vec<u32>,
    /// The most that a location alone shows.
    best: usize,
}

impl Steps {
    /// The moments that the visits of `phase` on several locations show; `None` where there are
    /// fewer than two.
    pub(super) fn find(lists: &[Vec<Run>], phase: ContextIdx) -> Option<Self> {
        let of = |in_visits: bool| -> (Vec<Range>, Vec<u64>) {
            let ranges = |runs: &Vec<Run>| ranges(runs, phase, in_visits);
            let all: Vec<Range> = lists.iter().flat_map(ranges).collect();
            let moments = stabbed(all.clone());
            (all, moments)
        };
        let (visits, gaps) = (of(true), of(false));
        // Both are lower bounds where both contain the moments; where one does not, it has too many.
        let in_visits = visits.1.len() <= gaps.1.len() + 1;
        let (ranges, moments) = if in_visits { visits } else { gaps };
        let mut seen = vec![0_u32; moments.len()];
        for (start, end) in ranges {
            let first = moments.partition_point(|&moment| moment < start);
            for slot in seen.iter_mut().zip(&moments).skip(first) {
                if *slot.1 > end {
                    break;
                }
                *slot.0 += 1;
            }
        }
        let alone = |runs: &Vec<Run>| runs.iter().filter(|run| run.context == phase).count();
        let best = lists.iter().map(alone).max().unwrap_or(0);
        // What most locations show as often is not missed; more moments than that are no moments
        // that they pass together.
        let agree = lists.iter().filter(|runs| alone(runs) == best).count();
        if 2 * agree > lists.len() && moments.len() + usize::from(!in_visits) > best {
            return None;
        }
        let steps = Self { phase, in_visits, moments, seen, best };
        (steps.len() > 1).then_some(steps)
    }

    /// How many iterations there are, at least.
    pub(super) fn len(&self) -> usize {
        self.moments.len() + usize::from(!self.in_visits)
    }

    /// How many there are, those that no location shows included: Chao's estimate from those that
    /// one and that two of `num_locations` locations show (Chao, Biometrics 43, 1987, with the
    /// correction for few of them).
    fn estimate(&self, num_locations: usize) -> f64 {
        let with = |times: u32| self.seen.iter().filter(|&&seen| seen == times).count() as f64;
        let (once, twice) = (with(1), with(2));
        let locations = num_locations.max(1) as f64;
        let unseen = once * (once - 1.0).max(0.0) / (2.0 * (twice + 1.0));
        self.len() as f64 + (locations - 1.0) / locations * unseen
    }

    /// When each iteration begins on a location, where its samples show it.
    pub(super) fn starts_on(&self, runs: &[Run]) -> Vec<Option<u64>> {
        let mut out = vec![None; self.len()];
        for (at, run) in runs.iter().enumerate() {
            if run.context != self.phase {
                continue;
            }
            let nth = if self.in_visits {
                let (start, end) = around(runs, at);
                let first = self.moments.partition_point(|&moment| moment < start);
                if self.moments.get(first).is_none_or(|&moment| moment > end) {
                    continue;
                }
                first
            } else {
                self.moments.partition_point(|&moment| moment <= run.visit.start)
            };
            if let Some(slot) = out.get_mut(nth).filter(|slot| slot.is_none()) {
                *slot = Some(run.visit.start);
            }
        }
        out
    }

    /// When iterations begin: the median over the locations that show each, ascending. An
    /// iteration whose begin no location shows begins at its moment.
    pub(super) fn reference(&self, starts: &[Vec<Option<u64>>]) -> Vec<u64> {
        let mut last = 0;
        (0..self.len())
            .map(|nth| {
                let own: Vec<u64> =
                    starts.iter().filter_map(|list| list.get(nth).copied().flatten()).collect();
                let moment = match nth.checked_sub(usize::from(!self.in_visits)) {
                    Some(at) => self.moments.get(at).copied().unwrap_or(last),
                    None => self.moments.first().copied().unwrap_or(last),
                };
                let start = median(&own).map_or(moment, |start| start as u64);
                last = start.max(last);
                last
            })
            .collect()
    }
}

/// What each location does among contexts that share its time: visits of one of them that follow
/// each other without another one between are one run.
pub(super) fn runs_of(track: &ByContext, contexts: &[ContextIdx]) -> Vec<Run> {
    let mut all: Vec<Run> = Vec::new();
    for &context in contexts {
        let list = track.get(&context).into_iter().flatten();
        all.extend(list.map(|&visit| Run { context, visit }));
    }
    all.sort_unstable_by_key(|run| (run.visit.start, run.visit.end, run.context));
    all.dedup_by(|next, run| {
        let is_same = next.context == run.context;
        if is_same {
            run.visit.extend(&next.visit);
        }
        is_same
    });
    all
}

/// The range that contains the run at a place for certain.
fn around(runs: &[Run], at: usize) -> Range {
    let own = runs.get(at).map_or((0, 0), |run| (run.visit.start, run.visit.end));
    let before = at.checked_sub(1).and_then(|before| runs.get(before));
    let start = before.map_or(own.0, |run| run.visit.last);
    let end = runs.get(at + 1).map_or(own.1, |run| run.visit.start);
    (start, end)
}

/// The ranges that contain the visits of a phase on one location, or the gaps between them.
fn ranges(runs: &[Run], phase: ContextIdx, of_visits: bool) -> Vec<Range> {
    let own = runs.iter().enumerate().filter(|(_, run)| run.context == phase);
    if of_visits {
        return own.map(|(at, _)| around(runs, at)).collect();
    }
    let own: Vec<&Run> = own.map(|(_, run)| run).collect();
    let pairs = own.iter().zip(own.iter().skip(1));
    pairs.map(|(run, next)| (run.visit.last, next.visit.start)).collect()
}

/// The fewest moments such that each range contains one, ascending.
fn stabbed(mut ranges: Vec<Range>) -> Vec<u64> {
    ranges.sort_unstable_by_key(|range| range.1);
    let mut out: Vec<u64> = Vec::new();
    for (start, end) in ranges {
        if out.last().is_none_or(|&last| start > last) {
            out.push(end);
        }
    }
    out
}

/// The ways in which the phases of each loop may be iterations that all tracks do in step, and what
/// was not examined.
pub(super) fn of_steps(
    tree: &ContextTree,
    tracks: &[ByContext],
    wanted: &[bool],
    inclusive: &[u128],
    active_nanos: u64,
) -> (SearchResult, Option<String>) {
    let total = inclusive.first().copied().unwrap_or(0) as f64;
    let time = |context: ContextIdx| inclusive.get(context.idx()).copied().unwrap_or(0);
    let is_wanted = |context: ContextIdx| wanted.get(context.idx()) == Some(&true);
    let is_phase =
        |context: &ContextIdx| is_wanted(*context) && time(*context) as f64 >= LEAST_SHARE * total;
    let mut loops: Vec<ContextIdx> = tree
        .iter()
        .filter(|&around| time(around) as f64 >= LEAST_LOOP * total)
        .filter(|&around| tree.children(around).filter(is_phase).count() > 1)
        .collect();
    let all: Vec<&ByContext> = tracks.iter().collect();
    let what = "Iterations in step were looked for";
    let is_one = |context| is_phase(&context);
    let limit = keep_affordable(&mut loops, what, tree, &all, inclusive, is_one);
    let found = threads::map(loops, |around| {
        let mut contexts = beside(tree, around);
        contexts.retain(|&context| is_wanted(context));
        let lists: Vec<Vec<Run>> = tracks.iter().map(|track| runs_of(track, &contexts)).collect();
        let phases: Vec<PhaseCandidate> = tree
            .children(around)
            .filter(is_phase)
            .filter_map(|phase| of_phase(&lists, phase, active_nanos))
            .collect();
        let mut out = SearchResult::default();
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for found in &phases {
            *counts.entry(found.candidate.count).or_default() += 1;
        }
        for mut found in phases {
            out.tries.push((found.candidate.count, found.first_nanos, found.last_nanos));
            // Another phase that shows as many is a second count of the same.
            let is_confirmed = counts.get(&found.candidate.count).is_some_and(|&times| times > 1);
            found.candidate.is_estimate = !(found.is_complete && is_confirmed);
            out.candidates.push(found.candidate);
        }
        out
    });
    let mut out = SearchResult::default();
    found.into_iter().for_each(|found| out.append(found));
    (out, limit)
}

struct PhaseCandidate {
    candidate: Candidate,
    /// Whether hardly any iteration is missed by all locations.
    is_complete: bool,
    first_nanos: u64,
    last_nanos: u64,
}

fn of_phase(lists: &[Vec<Run>], phase: ContextIdx, active_nanos: u64) -> Option<PhaseCandidate> {
    let steps = Steps::find(lists, phase)?;
    let count = steps.len();
    if count < LEAST_ITERATIONS || (steps.best as f64) < LEAST_BEST * count as f64 {
        return None;
    }
    let own: Vec<Vec<Option<u64>>> = lists.iter().map(|runs| steps.starts_on(runs)).collect();
    let starts = steps.reference(&own);
    let spacings = differences(&starts);
    let period_nanos = median(&spacings).filter(|&period| period > 0.0)?;
    let regular: Vec<u64> = spacings
        .iter()
        .copied()
        .filter(|&spacing| is_regular(spacing as f64, period_nanos))
        .collect();
    let shown = |list: &Vec<Option<u64>>| list.iter().flatten().count() as f64 / count as f64;
    let estimate = steps.estimate(lists.len());
    let candidate = Candidate {
        context: phase,
        gap_nanos: 0,
        count,
        period_nanos,
        regular_share: regular.len() as f64 / spacings.len() as f64,
        coverage: ((regular.iter().sum::<u64>() as f64 + period_nanos)
            / active_nanos.max(1) as f64)
            .min(1.0),
        agreement: own.iter().map(shown).sum::<f64>() / lists.len().max(1) as f64,
        method: Method::InStep,
        is_estimate: true,
        is_stream: false,
        chance: chance(&starts),
        pieces: 1.0,
        first_nanos: starts.first().copied().unwrap_or(0) as f64,
    };
    Some(PhaseCandidate {
        candidate,
        is_complete: estimate - count as f64 <= NEARLY_ALL * count as f64,
        first_nanos: starts.first().copied().unwrap_or(0),
        last_nanos: starts.last().copied().unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::iterations::visits::Visit;

    fn run(context: u32, start: u64, end: u64, last: u64) -> Run {
        Run { context: ContextIdx::new(context), visit: Visit { start, end, last } }
    }

    /// The fewest moments, by trying all sets of ends.
    fn fewest(ranges: &[Range]) -> usize {
        let ends: Vec<u64> = ranges.iter().map(|range| range.1).collect();
        (0..1_usize << ends.len())
            .filter(|set| {
                let chosen = |at: usize| set >> at & 1 == 1;
                let hits = |(start, end): &Range| {
                    (0..ends.len()).any(|at| chosen(at) && (*start..=*end).contains(&ends[at]))
                };
                ranges.iter().all(hits)
            })
            .map(|set| set.count_ones() as usize)
            .min()
            .unwrap_or(0)
    }

    proptest! {
        #[test]
        fn no_fewer_moments_hit_every_range(
            ranges in prop::collection::vec((0_u64..30, 0_u64..12), 0..9)
        ) {
            let ranges: Vec<Range> =
                ranges.into_iter().map(|(start, length)| (start, start + length)).collect();
            let moments = stabbed(ranges.clone());
            for (start, end) in &ranges {
                prop_assert!(moments.iter().any(|moment| (start..=end).contains(&moment)));
            }
            prop_assert_eq!(moments.len(), fewest(&ranges));
        }
    }

    /// What a location shows of iterations of 100: context 1 computes, 2 synchronises for the last 10
    /// of each. Samples show the synchronisation of some iterations only, counted from 1.
    fn location(shown: &[u64], late: u64) -> Vec<Run> {
        let mut at = 0;
        let mut out = Vec::new();
        for iteration in shown {
            let (start, end) = (iteration * 100 - 10 + late, iteration * 100 + late);
            out.extend([run(1, at, start, start - 1), run(2, start, end, end - 1)]);
            at = end;
        }
        out
    }

    #[test]
    fn what_one_location_misses_another_one_shows() {
        let all: Vec<Vec<Run>> = vec![
            location(&[1, 2, 4], 0),
            location(&[1, 3, 4], 2),
            location(&[2, 3], 4),
            location(&[1, 2], 6),
        ];
        let steps = Steps::find(&all, ContextIdx::new(2)).unwrap();
        assert_eq!((steps.len(), steps.best), (4, 3));
        let starts: Vec<_> = all.iter().map(|runs| steps.starts_on(runs)).collect();
        assert_eq!(starts[0], [Some(90), Some(190), None, Some(390)]);
        assert_eq!(starts[2], [None, Some(194), Some(294), None]);
        assert_eq!(steps.reference(&starts), [92, 194, 293, 391]);
    }

    #[test]
    fn locations_that_are_not_in_step_are_not_counted_together() {
        // Each shows four iterations, of other lengths.
        let of_length = |length: u64| -> Vec<Run> {
            (0..4)
                .map(|iteration| iteration * length)
                .flat_map(|at| {
                    let sync = at + length - 20;
                    [run(1, at, sync, sync - 1), run(2, sync, at + length, at + length - 1)]
                })
                .collect()
        };
        let lists: Vec<Vec<Run>> = [100, 130, 170].map(of_length).into();
        assert_eq!(Steps::find(&lists, ContextIdx::new(2)), None);
    }
}
