//! [`Bins`]: time by bin and context, the content of a node of an archive.

use parallax_base::TimeWindow;
use parallax_formats::archive::BINS;
use parallax_model::for_each_bin;

/// Time of one context itself in one bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sum {
    /// Number of the bin: its start divided by its length.
    pub bin: u64,
    /// Context, in the track's own numbering.
    pub context: u32,
    /// How often it was entered.
    pub calls: u32,
    /// Time in it and in nothing below it.
    pub nanos: u64,
}

/// Sums of a time window in at most [`BINS`] bins of 2^exponent nanoseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Bins {
    pub exponent: u8,
    /// Ordered by bin, then context, each pair once.
    pub sums: Vec<Sum>,
}

/// The smallest exponent at which a time window with `edges` enters and leaves has at most
/// [`BINS`] bins, and not more than edges: sums must not be longer than what they add up.
pub(super) fn exponent_for(from_nanos: u64, to_nanos: u64, edges: usize) -> u8 {
    let most = BINS.min((edges as u64).max(1));
    let fits = |exponent: &u8| (to_nanos >> exponent) - (from_nanos >> exponent) < most;
    (0..63).find(fits).unwrap_or(63)
}

impl Bins {
    /// Makes bins longer; the sums of what becomes one bin are added.
    pub(super) fn coarsen(&mut self, exponent: u8) {
        let shift = exponent.saturating_sub(self.exponent);
        if shift == 0 {
            return;
        }
        self.exponent = exponent;
        for sum in &mut self.sums {
            sum.bin >>= shift;
        }
        // Bins are still in order; contexts inside a new bin are not.
        self.sums.sort_by_key(|sum| (sum.bin, sum.context));
        self.sums.dedup_by(|next, kept| add(kept, next));
    }

    /// Adds the sums of a later time window of the same track.
    pub(super) fn append(&mut self, mut later: Self, exponent: u8) {
        self.coarsen(exponent.max(self.exponent).max(later.exponent));
        later.coarsen(self.exponent);
        let shared = later.sums.first().map_or(u64::MAX, |sum| sum.bin);
        let from = self.sums.partition_point(|sum| sum.bin < shared);
        self.sums.append(&mut later.sums);
        // Only the bin that both have a part of is out of order.
        if let Some(tail) = self.sums.get_mut(from..) {
            let end = tail.partition_point(|sum| sum.bin <= shared);
            if let Some(both) = tail.get_mut(..end) {
                both.sort_by_key(|sum| sum.context);
            }
        }
        self.sums.dedup_by(|next, kept| add(kept, next));
    }
}

/// Whether `next` is of the same bin and context as `kept`, and was added to it.
fn add(kept: &mut Sum, next: &Sum) -> bool {
    let is_same = (kept.bin, kept.context) == (next.bin, next.context);
    if is_same {
        kept.calls += next.calls;
        kept.nanos += next.nanos;
    }
    is_same
}

/// Collects sums in order of time; reused from node to node.
#[derive(Debug, Clone, Default)]
pub(super) struct BinCollector {
    nanos: Vec<u64>,
    calls: Vec<u32>,
    touched: Vec<u32>,
    bin: u64,
    out: Bins,
}

impl BinCollector {
    /// Begins a time window, in bins of 2^exponent nanoseconds, of a track with `num_contexts`
    /// contexts.
    pub(super) fn begin(&mut self, from_nanos: u64, exponent: u8, num_contexts: usize) {
        self.nanos.resize(num_contexts.max(self.nanos.len()), 0);
        self.calls.resize(num_contexts.max(self.calls.len()), 0);
        self.bin = from_nanos >> exponent;
        self.out = Bins { exponent, sums: Vec::new() };
    }

    /// `context` was entered.
    pub(super) fn enter(&mut self, nanos: u64, context: u32) {
        self.move_to(nanos >> self.out.exponent);
        self.touch(context);
        if let Some(calls) = self.calls.get_mut(context as usize) {
            *calls += 1;
        }
    }

    /// `context` was active from `start` until `end`.
    pub(super) fn active(&mut self, start: u64, end: u64, context: u32) {
        for_each_bin(TimeWindow::new(start, end), self.out.exponent, |bin, part| {
            self.move_to(bin);
            self.touch(context);
            if let Some(nanos) = self.nanos.get_mut(context as usize) {
                *nanos += part;
            }
        });
    }

    /// The sums since [`BinCollector::begin`].
    pub(super) fn finish(&mut self) -> Bins {
        self.move_to(u64::MAX);
        std::mem::take(&mut self.out)
    }

    fn touch(&mut self, context: u32) {
        let at = context as usize;
        let is_new = self.nanos.get(at) == Some(&0) && self.calls.get(at) == Some(&0);
        if is_new && self.touched.last() != Some(&context) {
            self.touched.push(context);
        }
    }

    fn move_to(&mut self, bin: u64) {
        if bin == self.bin {
            return;
        }
        self.touched.sort_unstable();
        self.touched.dedup();
        for &context in &self.touched {
            let at = context as usize;
            let nanos = self.nanos.get_mut(at).map(std::mem::take).unwrap_or_default();
            let calls = self.calls.get_mut(at).map(std::mem::take).unwrap_or_default();
            if nanos > 0 || calls > 0 {
                self.out.sums.push(Sum { bin: self.bin, context, calls, nanos });
            }
        }
        self.touched.clear();
        self.bin = bin;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(bin: u64, context: u32, calls: u32, nanos: u64) -> Sum {
        Sum { bin, context, calls, nanos }
    }

    #[test]
    fn time_is_cut_at_bins_and_nothing_is_lost() {
        let mut collector = BinCollector::default();
        let exponent = exponent_for(1000, 6116, usize::MAX);
        assert_eq!(exponent, 4, "5116 ns in at most {BINS} bins");
        assert_eq!(exponent_for(1000, 6116, 2), 12, "as many bins as edges");
        collector.begin(1000, exponent, 3);
        collector.enter(1000, 1);
        collector.active(1000, 1020, 1);
        collector.active(1020, 6116, 2);
        let bins = collector.finish();
        assert_eq!(bins.sums.first(), Some(&sum(62, 1, 1, 8)));
        assert_eq!(bins.sums.get(1), Some(&sum(63, 1, 0, 12)));
        assert_eq!(bins.sums.get(2), Some(&sum(63, 2, 0, 4)));
        assert_eq!(bins.sums.iter().map(|sum| sum.nanos).sum::<u64>(), 5116);
    }

    #[test]
    fn coarser_bins_hold_the_same_time() {
        let sums = vec![sum(6, 1, 1, 3), sum(6, 4, 0, 1), sum(7, 1, 2, 5), sum(9, 0, 0, 2)];
        let mut bins = Bins { exponent: 3, sums };
        bins.coarsen(4);
        assert_eq!(bins.sums, [sum(3, 1, 3, 8), sum(3, 4, 0, 1), sum(4, 0, 0, 2)]);
    }

    #[test]
    fn a_bin_that_two_windows_share_is_one() {
        let mut bins = Bins { exponent: 2, sums: vec![sum(1, 0, 0, 4), sum(2, 3, 1, 1)] };
        let later = Bins { exponent: 1, sums: vec![sum(5, 2, 1, 1), sum(5, 3, 0, 1)] };
        bins.append(later, 2);
        assert_eq!(bins.sums, [sum(1, 0, 0, 4), sum(2, 2, 1, 1), sum(2, 3, 1, 2)]);
    }
}
