//! The entries of one region in one run as sums: nothing of a single entry is kept.

use std::collections::HashMap;

use parallax_base::casts::{low_u32, saturated_u64};

use super::config::TupleFields;
use super::intervals::Intervals;
use crate::json::Row;

/// Thread ids that the Analyzer gives: 0 to 127.
const USUAL_THREADS: usize = 128;

/// From here on a float has no bits for fractions.
const TWO_TO_52: f64 = 4_503_599_627_370_496.0;

/// The entries of one region in one run, folded.
pub(super) struct Fold {
    pub(super) union: Intervals,
    pub(super) sum: f64,
    pub(super) first: f64,
    pub(super) last: f64,
    pub(super) visits: u64,
    /// Seconds by thread id, for the usual ids, and others.
    threads: [f64; USUAL_THREADS],
    seen: [bool; USUAL_THREADS],
    others: HashMap<u64, f64>,
    pub(super) bad: u64,
}

impl Fold {
    pub(super) fn new() -> Self {
        Self {
            union: Intervals::new(),
            sum: 0.0,
            first: f64::INFINITY,
            last: f64::NEG_INFINITY,
            visits: 0,
            threads: [0.0; USUAL_THREADS],
            seen: [false; USUAL_THREADS],
            others: HashMap::new(),
            bad: 0,
        }
    }

    pub(super) fn clear(&mut self) {
        self.union.clear();
        (self.threads, self.seen) = ([0.0; USUAL_THREADS], [false; USUAL_THREADS]);
        self.others.clear();
        (self.sum, self.visits, self.bad) = (0.0, 0, 0);
        (self.first, self.last) = (f64::INFINITY, f64::NEG_INFINITY);
    }

    /// Most thread ids beyond the usual ones that are distinguished; further ones share.
    const OTHERS: usize = 1 << 16;

    #[inline]
    pub(super) fn add(&mut self, start: f64, stop: f64, thread: Option<f64>) {
        let seconds = stop - start;
        // False also where one of them is not finite.
        if (0.0..f64::INFINITY).contains(&seconds) {
            self.union.add(start, stop);
            self.first = if start < self.first { start } else { self.first };
            self.last = if stop > self.last { stop } else { self.last };
            self.add_duration(seconds, thread);
        } else {
            self.bad += 1;
        }
    }

    #[inline(always)]
    pub(super) fn add_duration(&mut self, seconds: f64, thread: Option<f64>) {
        if !(0.0..f64::INFINITY).contains(&seconds) {
            self.bad += 1;
            return;
        }
        self.sum += seconds;
        self.visits += 1;
        let thread = thread.unwrap_or(0.0);
        // A cast to an integer saturates, which takes WebAssembly longer than all the rest here.
        // A small whole number is the lower end of its sum with 2^52.
        let raised = thread + TWO_TO_52;
        let at = low_u32(raised.to_bits()) as usize;
        if thread < USUAL_THREADS as f64
            && raised - TWO_TO_52 == thread
            && let (Some(slot), Some(seen)) = (self.threads.get_mut(at), self.seen.get_mut(at))
        {
            *slot += seconds;
            *seen = true;
        } else {
            self.add_to_unusual(seconds, thread);
        }
    }

    /// Adds to a thread whose id is none that the Analyzer gives.
    #[cold]
    fn add_to_unusual(&mut self, seconds: f64, thread: f64) {
        let id = saturated_u64(thread);
        let at = usize::try_from(id).unwrap_or(usize::MAX);
        if let (Some(slot), Some(seen)) = (self.threads.get_mut(at), self.seen.get_mut(at)) {
            *slot += seconds;
            *seen = true;
        } else if self.others.len() < Self::OTHERS || self.others.contains_key(&id) {
            *self.others.entry(id).or_default() += seconds;
        } else {
            *self.others.entry(u64::MAX).or_default() += seconds;
        }
    }

    /// Adds a tuple of whatever fields.
    #[cold]
    pub(super) fn add_row(&mut self, row: &Row, fields: &TupleFields) {
        let number = |at: Option<usize>| row.number(at?);
        let thread = number(fields.thread);
        match (number(fields.start), number(fields.stop), number(fields.duration)) {
            (Some(start), Some(stop), _) => self.add(start, stop, thread),
            (_, _, Some(seconds)) => self.add_duration(seconds, thread),
            _ => self.bad += 1,
        }
    }

    pub(super) fn thread_sums(&self) -> impl Iterator<Item = f64> + '_ {
        let usual = self.threads.iter().zip(&self.seen).filter(|(_, seen)| **seen);
        usual.map(|(&seconds, _)| seconds).chain(self.others.values().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_thread_id_counts_as_the_whole_number_below_it() {
        let two = |power| 2_f64.powi(power);
        let ids = [0.0, 1.0, 126.0, 127.0, 127.5, 128.0, 3.7, -0.0, -0.5, -1.0, -two(52), two(32)];
        let odd = [two(32) + 5.0, two(52), two(52) + 3.0, two(53), two(63), 1e300, f64::NAN];
        for id in ids.into_iter().chain(odd).chain([f64::INFINITY, f64::NEG_INFINITY]) {
            let mut fold = Fold::new();
            fold.add(1.0, 3.5, Some(id));
            // Saturating: ids below zero and those that are no number are thread 0.
            let at = id as u64;
            let usual = usize::try_from(at).ok().and_then(|at| fold.threads.get(at));
            let found = usual.or_else(|| fold.others.get(&at));
            assert_eq!(found.copied(), Some(2.5), "{id}");
            assert_eq!(fold.thread_sums().collect::<Vec<_>>(), [2.5], "{id}");
        }
    }
}
