//! From what locations do in iterations to [`Statistics`].
//!
//! Locations are read one after the other, and what each of them does is added to sums over
//! locations and to sums over iterations at once: memory does not grow with locations times
//! iterations times contexts. Where there are so many iterations that even the sums of each would
//! take too much, locations are read several times, some iterations at a time.

use std::ops::Range;

use parallax_base::{ContextIdx, Control, LimitExceeded};
use parallax_engine::EngineError;
use parallax_model::StoreError;

use super::read::{ANYTHING, COMMUNICATING, COMPUTING, Own, Reader, WAITING};
use super::spacing::median;
use super::statistics::{ContextStatistics, IterationStatistics, LocationStatistics, Statistics};
use super::{IterationState, Iterations, PARTIAL, length};
use crate::events::Activity;

/// Sums by context and iteration that are in memory at once, 16 bytes each.
const MOST_SUMS: usize = 8 << 20;
/// The same by context and location, where not all iterations are in memory at once; 48 bytes each.
const MOST_OWN: usize = 4 << 20;
/// Iterations that have a row of their own.
const MOST_ROWS: usize = 1_000_000;

/// What the reader's locations do in iterations. `is_open` when it is still to be found out whether
/// the last iteration is a whole one.
pub(super) fn measure(
    reader: &Reader,
    iterations: &mut Iterations,
    is_open: bool,
    control: &Control,
) -> Result<Statistics, EngineError> {
    measure_in(reader, iterations, is_open, MOST_SUMS, control)
}

fn measure_in(
    reader: &Reader,
    iterations: &mut Iterations,
    is_open: bool,
    most_sums: usize,
    control: &Control,
) -> Result<Statistics, EngineError> {
    let num = iterations.len();
    let num_locations = iterations.streams.len();
    let at_once = (most_sums / iterations.num_units.max(1)).clamp(1, num.max(1));
    let num_passes = num.div_ceil(at_once);
    if num_passes > 1 && iterations.num_units.saturating_mul(num_locations) > MOST_OWN {
        let limit = LimitExceeded {
            what: "times by context and location, of many iterations",
            wanted: (iterations.num_units * num_locations) as u64,
            limit: MOST_OWN as u64,
        };
        return Err(StoreError::Limit(limit).into());
    }
    let mut sums = Sums::new(reader, iterations, num_passes);
    for pass in 0..num_passes {
        let range = pass * at_once..((pass + 1) * at_once).min(num);
        sums.begin(range.clone());
        reader.for_each_location(iterations, range, control, &mut |location, own| {
            sums.add(location, &own, pass + 1 == num_passes);
            Ok(())
        })?;
        sums.end(iterations, pass == 0);
    }
    let is_last_whole = iterations.states.last() == Some(&IterationState::Whole);
    let last_counts = if is_open && iterations.repetition.is_some() && num >= 3 {
        is_last_whole && !sums.is_partial()
    } else {
        is_last_whole
    };
    if let Some(last) =
        iterations.states.last_mut().filter(|_| is_open && is_last_whole && !last_counts)
    {
        *last = IterationState::Partial;
    }
    Ok(sums.finish(iterations, last_counts, num_passes))
}

/// Time of one context, or activity, on one location: over the iterations that count but the last,
/// and in the last.
#[derive(Debug, Clone, Copy, Default)]
struct Times {
    nanos: u64,
    squares: u128,
    last: u64,
}

impl Times {
    fn add(&mut self, nanos: u64, counts: bool, is_last: bool) {
        if is_last {
            self.last = nanos;
        } else if counts {
            self.nanos += nanos;
            self.squares = self.squares.saturating_add(u128::from(nanos).pow(2));
        }
    }

    /// The sum, and the coefficient of variation over so many iterations.
    fn of(&self, num: usize, with_last: bool) -> (u64, Option<f64>) {
        if !with_last {
            return (self.nanos, variation(num, self.nanos.into(), self.squares));
        }
        let sum = self.nanos + self.last;
        let squares = self.squares.saturating_add(u128::from(self.last).pow(2));
        (sum, variation(num, sum.into(), squares))
    }
}

/// The times of one context, over locations.
#[derive(Debug, Clone, Copy, Default)]
struct OverLocations {
    nanos: u128,
    squares: u128,
    max: u64,
    slowest: usize,
    variations: f64,
    num_variations: u32,
}

impl OverLocations {
    fn add(&mut self, location: usize, times: &Times, num: usize, with_last: bool) {
        let (nanos, variation) = times.of(num, with_last);
        self.nanos += u128::from(nanos);
        self.squares = self.squares.saturating_add(u128::from(nanos).pow(2));
        if nanos > self.max {
            (self.max, self.slowest) = (nanos, location);
        }
        if let Some(variation) = variation {
            self.variations += variation;
            self.num_variations += 1;
        }
    }
}

/// One context.
#[derive(Debug, Clone)]
struct OfContext {
    context: ContextIdx,
    activity: Activity,
    /// By iteration of the pass: sum over the locations, and the largest of them.
    sums: Vec<u64>,
    maxima: Vec<u64>,
    /// Over the iterations that count but the last: sum over the locations, and sum of the largest.
    all: u128,
    largest: u128,
    /// In the last one.
    last: u64,
    last_largest: u64,
    /// Without and with the last iteration.
    over: [OverLocations; 2],
}

/// What one location does altogether.
#[derive(Debug, Clone, Copy, Default)]
struct OfLocation {
    computing: Times,
    communicating: Times,
    waiting: Times,
    num_slowest: usize,
}

/// One row of iterations; sums over its iterations, in nanoseconds.
#[derive(Debug, Clone, Default)]
struct Row {
    num: usize,
    computing: f64,
    longest: f64,
    most: u64,
    slowest: usize,
    waiting: f64,
    saving: f64,
    active: f64,
}

/// The sums over locations of one iteration, by activity.
#[derive(Debug, Clone, Default)]
struct OfIteration {
    computing: u64,
    longest: u64,
    slowest: usize,
    waiting: u64,
    active: u64,
}

struct Sums<'a> {
    reader: &'a Reader<'a>,
    num_locations: usize,
    /// By iteration, whether it counts; the last one is examined on its own.
    counts: Vec<bool>,
    num_counting: usize,
    range: Range<usize>,
    /// By position of a context in the tree, its place in `contexts`.
    places: Vec<u32>,
    contexts: Vec<OfContext>,
    /// Times of the contexts on a location, for each location where there are several passes.
    own: Vec<Vec<Times>>,
    touched: Vec<usize>,
    locations: Vec<OfLocation>,
    iterations: Vec<OfIteration>,
    rows: Vec<Row>,
    /// How many iterations a row stands for.
    each: usize,
    joint: f64,
    last_joint: f64,
    similarity: f64,
    last_slowest: Option<usize>,
}

/// No place.
const NONE: u32 = u32::MAX;

impl<'a> Sums<'a> {
    fn new(reader: &'a Reader<'a>, iterations: &Iterations, num_passes: usize) -> Self {
        let num = iterations.len();
        let num_locations = iterations.streams.len();
        let whole = iterations.states.iter().map(|state| *state == IterationState::Whole);
        let mut counts: Vec<bool> = whole.collect();
        counts.iter_mut().rev().take(1).for_each(|last| *last = false);
        let each = num.div_ceil(MOST_ROWS).max(1);
        Self {
            reader,
            num_locations,
            num_counting: counts.iter().filter(|counts| **counts).count(),
            counts,
            range: 0..0,
            places: vec![NONE; reader.units.len()],
            contexts: Vec::new(),
            own: vec![Vec::new(); if num_passes > 1 { num_locations } else { 1 }],
            touched: Vec::new(),
            locations: vec![OfLocation::default(); num_locations],
            iterations: Vec::new(),
            rows: vec![Row::default(); num.div_ceil(each)],
            each,
            joint: 0.0,
            last_joint: 0.0,
            similarity: 0.0,
            last_slowest: None,
        }
    }

    fn begin(&mut self, range: Range<usize>) {
        for context in &mut self.contexts {
            for list in [&mut context.sums, &mut context.maxima] {
                list.clear();
                list.resize(range.len(), 0);
            }
        }
        self.iterations.clear();
        self.iterations.resize(range.len(), OfIteration::default());
        self.range = range;
    }

    fn place(&mut self, context: ContextIdx) -> usize {
        let Some(place) = self.places.get_mut(context.idx()) else { return usize::MAX };
        if *place == NONE {
            *place = u32::try_from(self.contexts.len()).unwrap_or(NONE);
            self.contexts.push(OfContext {
                context,
                activity: self.reader.activities.of(context),
                sums: vec![0; self.range.len()],
                maxima: vec![0; self.range.len()],
                all: 0,
                largest: 0,
                last: 0,
                last_largest: 0,
                over: [OverLocations::default(); 2],
            });
        }
        *place as usize
    }

    fn add(&mut self, location: usize, own: &Own, is_last_pass: bool) {
        let last = self.counts.len().wrapping_sub(1);
        let one = if self.own.len() > 1 { location } else { 0 };
        for part in &own.parts {
            let place = self.place(part.context);
            let iteration = part.iteration as usize;
            let at = iteration - self.range.start;
            let Some(context) = self.contexts.get_mut(place) else { continue };
            if let (Some(sum), Some(max)) = (context.sums.get_mut(at), context.maxima.get_mut(at)) {
                *sum += part.nanos;
                *max = part.nanos.max(*max);
            }
            let Some(times) = self.own.get_mut(one) else { continue };
            if times.len() <= place {
                times.resize(place + 1, Times::default());
            }
            let Some(times) = times.get_mut(place) else { continue };
            if times.nanos == 0 && times.last == 0 {
                self.touched.push(place);
            }
            times.add(part.nanos, self.counts.get(iteration) == Some(&true), iteration == last);
        }
        for (at, busy) in own.busy.iter().enumerate() {
            let iteration = self.range.start + at;
            if let Some(of) = self.iterations.get_mut(at) {
                of.computing += busy[COMPUTING];
                of.waiting += busy[WAITING];
                of.active += busy[ANYTHING];
                if busy[COMPUTING] > of.longest {
                    (of.longest, of.slowest) = (busy[COMPUTING], location);
                }
            }
            let (counts, is_last) = (self.counts.get(iteration) == Some(&true), iteration == last);
            if let Some(of) = self.locations.get_mut(location) {
                of.computing.add(busy[COMPUTING], counts, is_last);
                of.communicating.add(busy[COMMUNICATING], counts, is_last);
                of.waiting.add(busy[WAITING], counts, is_last);
            }
        }
        if is_last_pass {
            self.finish_location(location, one);
        } else {
            self.touched.clear();
        }
    }

    fn finish_location(&mut self, location: usize, one: usize) {
        let Some(times) = self.own.get_mut(one) else { return };
        if self.range.start > 0 {
            // Earlier passes touched others.
            self.touched = (0..times.len()).collect();
        }
        for place in self.touched.drain(..) {
            let Some((times, context)) = times.get_mut(place).zip(self.contexts.get_mut(place))
            else {
                continue;
            };
            let times = std::mem::take(times);
            for (with_last, over) in [false, true].into_iter().zip(&mut context.over) {
                over.add(location, &times, self.num_counting + usize::from(with_last), with_last);
            }
        }
    }

    /// What the iterations of a pass say; of all locations.
    fn end(&mut self, iterations: &Iterations, is_first: bool) {
        let len = self.range.len();
        let last = self.counts.len().wrapping_sub(1);
        let num_locations = self.num_locations.max(1) as f64;
        // Over the contexts that compute: largest less mean, and sum of the times.
        let mut savings = vec![0.0; len];
        let mut computing = vec![0_u64; len];
        for context in &mut self.contexts {
            let times = context.sums.iter().zip(&context.maxima);
            for ((at, (&sum, &max)), (saving, all)) in
                times.enumerate().zip(savings.iter_mut().zip(&mut computing))
            {
                let iteration = self.range.start + at;
                if self.counts.get(iteration) == Some(&true) {
                    context.all += u128::from(sum);
                    context.largest += u128::from(max);
                } else if iteration == last {
                    (context.last, context.last_largest) = (sum, max);
                }
                if context.activity == Activity::Computing {
                    *saving += (max as f64 - sum as f64 / num_locations).max(0.0);
                    *all += sum;
                }
            }
        }
        for (at, of) in self.iterations.iter().enumerate() {
            let iteration = self.range.start + at;
            let mean = of.computing as f64 / num_locations;
            let joint = (of.longest as f64 - mean).max(0.0);
            if self.counts.get(iteration) == Some(&true) {
                self.joint += joint;
                if let Some(location) = self.locations.get_mut(of.slowest) {
                    location.num_slowest += 1;
                }
            } else if iteration == last {
                self.last_joint = joint;
                self.last_slowest = Some(of.slowest);
            }
            let overlap =
                overlap(of.computing.into(), computing.get(at).copied().map_or(0, u128::from));
            let Some(row) = self.rows.get_mut(iteration / self.each) else { continue };
            row.num += 1;
            row.computing += mean;
            row.longest += of.longest as f64;
            if of.longest > row.most || row.num == 1 {
                (row.most, row.slowest) = (of.longest, of.slowest);
            }
            row.waiting += of.waiting as f64 / num_locations;
            // Of contexts that are slow on different locations not each is saved.
            let saving = savings.get(at).copied().unwrap_or(0.0) * overlap;
            row.saving += saving.min((iterations.mean_nanos(iteration) - mean).max(0.0));
            row.active += of.active as f64;
        }
        if is_first {
            self.similarity = self.similarity(iterations);
        }
    }

    /// See [`Statistics::similarity`].
    fn similarity(&self, iterations: &Iterations) -> f64 {
        let counts = |at: &usize| {
            let state = iterations.states.get(self.range.start + at);
            state == Some(&IterationState::Whole)
        };
        let whole: Vec<usize> = (0..self.range.len()).filter(counts).collect();
        let mut totals = vec![0_u64; self.range.len()];
        for context in &self.contexts {
            totals.iter_mut().zip(&context.sums).for_each(|(total, sum)| *total += sum);
        }
        let num = whole.len().max(1) as f64;
        let mut agreed = 0.0;
        for context in &self.contexts {
            let share = |at: usize| match (context.sums.get(at), totals.get(at)) {
                (Some(&sum), Some(&total)) if total > 0 => sum as f64 / total as f64,
                _ => 0.0,
            };
            let average = whole.iter().map(|&at| share(at)).sum::<f64>() / num;
            agreed += whole.iter().map(|&at| share(at).min(average)).sum::<f64>();
        }
        agreed / num
    }

    /// Whether the last iteration has less than half of the usual activity.
    fn is_partial(&self) -> bool {
        let mean = |row: &Row| row.active / row.num.max(1) as f64;
        let Some((last, others)) = self.rows.split_last() else { return false };
        let usual: Vec<u64> = others.iter().map(|row| mean(row).round() as u64).collect();
        let own = self.iterations.last().map_or_else(|| mean(last), |of| of.active as f64);
        median(&usual).is_some_and(|usual| own < PARTIAL * usual)
    }

    fn finish(
        mut self,
        iterations: &Iterations,
        last_counts: bool,
        num_passes: usize,
    ) -> Statistics {
        let num_whole = self.num_counting + usize::from(last_counts);
        let num_locations = self.num_locations.max(1) as f64;
        if num_passes == 1 {
            // Now it is known whether the last iteration counts.
            self.similarity = self.similarity(iterations);
        }
        let with_last = |all: u128, last: u64| all + u128::from(if last_counts { last } else { 0 });
        let total: u128 = self.contexts.iter().map(|c| with_last(c.all, c.last)).sum();
        let active: f64 = total as f64;
        let mut contexts: Vec<ContextStatistics> = Vec::new();
        let mut computing: u128 = 0;
        for of in &self.contexts {
            let over = if last_counts { of.over[1] } else { of.over[0] };
            let sum = with_last(of.all, of.last);
            if sum == 0 {
                continue;
            }
            if of.activity == Activity::Computing {
                computing += sum;
            }
            let num = num_whole.max(1) as f64;
            let max_seconds = with_last(of.largest, of.last_largest) as f64 / num / 1e9;
            // The sum of equal numbers may be off by its last digits.
            let mean_seconds = (sum as f64 / num_locations / num / 1e9).min(max_seconds);
            let saving_seconds = max_seconds - mean_seconds;
            let largest = over.max as f64 / 1e9;
            let mean = (over.nanos as f64 / num_locations / 1e9).min(largest);
            let least = iterations.interval_nanos.map_or(0.0, |nanos| 2.0 * nanos as f64 / 1e9);
            let num_variations = over.num_variations;
            contexts.push(ContextStatistics {
                context: of.context,
                activity: of.activity,
                share: sum as f64 / active,
                mean_seconds,
                max_seconds,
                balance_ratio: if largest > 0.0 { mean / largest } else { 1.0 },
                across_locations: variation(self.num_locations, over.nanos, over.squares),
                within_location: (num_variations > 0)
                    .then(|| over.variations / f64::from(num_variations)),
                saving_seconds,
                total_saving_seconds: saving_seconds * num_whole as f64,
                lasting_saving_seconds: largest - mean,
                is_resolved: mean_seconds >= least,
                slowest: over.slowest,
            });
        }
        contexts.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.context.cmp(&b.context)));
        let locations = self.locations(iterations, num_whole, last_counts);
        let of_location = |of: &OfLocation| of.computing.of(num_whole, last_counts).0;
        let busy: u128 = self.locations.iter().map(|of| u128::from(of_location(of))).sum();
        let longest = self.locations.iter().map(of_location).max().unwrap_or(0) as f64;
        let overlap = overlap(busy, computing);
        let lengths = iterations.bounds.iter().map(|bounds| self.length_of(bounds, last_counts));
        let covered_seconds = lengths.sum::<u64>() as f64 / num_locations / 1e9;
        // No more can be saved than the time in which locations do not compute.
        let busy_seconds = busy as f64 / num_locations / 1e9;
        // The last iteration ends on each location with its own last context; those that end early
        // wait for the others.
        let last: Vec<u64> = match last_counts {
            true => {
                let last = self.counts.len().wrapping_sub(1);
                iterations.bounds.iter().map(|bounds| length(bounds, last)).collect()
            }
            false => Vec::new(),
        };
        let longest_last = last.iter().max().copied().unwrap_or(0) as f64;
        let end_seconds = (longest_last - last.iter().sum::<u64>() as f64 / num_locations) / 1e9;
        let waited_seconds = (covered_seconds + end_seconds.max(0.0) - busy_seconds).max(0.0);
        let computes = || contexts.iter().filter(|row| row.activity == Activity::Computing);
        let interval = iterations.interval_nanos.map(|nanos| nanos as f64 / 1e9);
        let certain = |row: &&ContextStatistics| row.certain_saving(interval, num_whole);
        let saved: f64 = computes().filter_map(|row| certain(&row)).sum();
        Statistics {
            num_whole,
            saving_seconds: (saved * overlap).min(waited_seconds),
            covered_seconds,
            waited_seconds,
            num_unresolved: computes().filter(|row| certain(row).is_none()).count(),
            joint_saving_seconds: ((self.joint + if last_counts { self.last_joint } else { 0.0 })
                / 1e9)
                .min(waited_seconds),
            lasting_saving_seconds: ((longest - busy as f64 / num_locations).max(0.0) / 1e9)
                .min(waited_seconds),
            similarity: self.similarity,
            overlap,
            iterations: self.rows(iterations),
            contexts,
            locations,
        }
    }

    /// How long the iterations that count are on a location, in nanoseconds.
    fn length_of(&self, bounds: &[u64], last_counts: bool) -> u64 {
        let last = self.counts.len().wrapping_sub(1);
        let is_whole =
            |i: &usize| self.counts.get(*i) == Some(&true) || (*i == last && last_counts);
        (0..self.counts.len()).filter(is_whole).map(|i| length(bounds, i)).sum()
    }

    fn locations(
        &self,
        iterations: &Iterations,
        num_whole: usize,
        last_counts: bool,
    ) -> Vec<LocationStatistics> {
        let num = num_whole.max(1) as f64;
        let bounds = iterations.bounds.iter().map(|bounds| self.length_of(bounds, last_counts));
        let rows = self.locations.iter().zip(bounds).enumerate();
        rows.map(|(location, (of, length))| {
            let (computing, variation) = of.computing.of(num_whole, last_counts);
            let mean = |times: &Times| times.of(num_whole, last_counts).0 as f64 / num / 1e9;
            let is_last_slowest = last_counts && self.last_slowest == Some(location);
            LocationStatistics {
                location,
                length_seconds: length as f64 / num / 1e9,
                computing_seconds: computing as f64 / num / 1e9,
                communicating_seconds: mean(&of.communicating),
                waiting_seconds: mean(&of.waiting),
                variation,
                num_slowest: of.num_slowest + usize::from(is_last_slowest),
            }
        })
        .collect()
    }

    fn rows(&self, iterations: &Iterations) -> Vec<IterationStatistics> {
        let rows = self.rows.iter().enumerate();
        rows.map(|(at, row)| {
            let iteration = at * self.each;
            let num = row.num.max(1) as f64;
            let begins = iterations.bounds.iter().filter_map(|bounds| bounds.get(iteration));
            let lengths = (iteration..iteration + row.num).map(|i| iterations.mean_nanos(i));
            IterationStatistics {
                iteration,
                num_iterations: row.num,
                state: *iterations.states.get(iteration).unwrap_or(&IterationState::Whole),
                start_nanos: begins.min().copied().unwrap_or(0),
                length_seconds: lengths.sum::<f64>() / num / 1e9,
                computing_seconds: row.computing / num / 1e9,
                longest_seconds: row.longest / num / 1e9,
                slowest: row.slowest,
                waiting_seconds: row.waiting / num / 1e9,
                saving_seconds: row.saving / num / 1e9,
            }
        })
        .collect()
    }
}

/// Which part of the time of several contexts is time in which any of them is active.
fn overlap(busy: u128, sum: u128) -> f64 {
    if busy < sum { busy as f64 / sum as f64 } else { 1.0 }
}

/// The coefficient of variation of so many numbers with that sum and sum of squares: sample
/// standard deviation (divisor n - 1) over mean. `None` of a single one and where the mean is 0.
fn variation(num: usize, sum: u128, squares: u128) -> Option<f64> {
    if num < 2 || sum == 0 {
        return None;
    }
    let n = num as f64;
    // Exact where the numbers are small enough, as differences of large sums are not.
    let exact = sum.checked_mul(sum).map(|square| squares.saturating_sub(square / num as u128));
    let deviations = exact.map_or_else(
        || (squares as f64 - sum as f64 * (sum as f64 / n)).max(0.0),
        |deviations| deviations as f64,
    );
    Some((deviations / (n - 1.0)).sqrt() / (sum as f64 / n))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parallax_base::{Folder, Limits, MemoryFolder, TimeWindow};
    use parallax_engine::Session;
    use parallax_testkit::hpctoolkit::WriteOptions;
    use parallax_testkit::hpctoolkit::iterations::gamess;

    use super::super::{IterationsQuestion, Units, find_iterations};
    use super::*;
    use crate::events::Activities;

    #[test]
    fn iterations_in_several_passes_say_the_same() {
        let files = gamess().database().to_files(&WriteOptions::default());
        let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("gamess", files.by_path));
        let session = Session::new(parallax_import::open(&folder, &Limits::default()).unwrap());
        let tracks = session.traces().unwrap().track_ids().collect();
        let question = IterationsQuestion { tracks, window: TimeWindow::ALL, marker: Vec::new() };
        let found = find_iterations(&session, &question, &Control::new()).unwrap();
        let (mut iterations, expected) = found.iterations.unwrap();
        let activities = Activities::new(session.tree());
        let units = Units::new(session.tree(), &activities);
        let reader = Reader { session: &session, units: &units, activities: &activities };
        for at_once in [1, 4, 10] {
            let most = iterations.num_units * at_once;
            let mut got =
                measure_in(&reader, &mut iterations, true, most, &Control::new()).unwrap();
            // Of the first iterations only.
            assert!((got.similarity - expected.similarity).abs() < 0.1);
            got.similarity = expected.similarity;
            assert_eq!(got, expected, "{at_once} at once");
        }
    }

    #[test]
    fn variations_are_those_of_samples() {
        // Mean 4, squared deviations 4 + 0 + 4, over 2.
        let found = variation(3, 12, 4 + 16 + 36).unwrap();
        assert!((found - 0.5).abs() < 1e-12);
        assert_eq!(variation(3, 12, 48), Some(0.0));
        assert_eq!((variation(1, 4, 16), variation(5, 0, 0)), (None, None));
        // Too large for squares of sums.
        let large = 1_u128 << 63;
        assert!(variation(2, 2 * large, 2 * large * large).unwrap() < 1e-6);
    }
}
