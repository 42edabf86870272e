//! The one seam for threads: everything that runs in parallel goes through here.
//!
//! With the feature `threads` the work goes to rayon's pool; without it (browsers without shared
//! memory, tests of determinism) it runs in order on the calling thread.
//! Results never depend on which: each function keeps the order of its input.

/// Applies `work` to each item and keeps the order.
///
/// A single item is done by the calling thread: waking another one and waiting for it takes longer than
/// most work on small data.
pub fn map<T, R, F>(items: Vec<T>, work: F) -> Vec<R>
where
    T: Send,
    R: Send,
    F: Fn(T) -> R + Send + Sync,
{
    #[cfg(feature = "threads")]
    {
        use rayon::prelude::*;
        if items.len() <= 1 {
            return items.into_iter().map(work).collect();
        }
        items.into_par_iter().map(work).collect()
    }
    #[cfg(not(feature = "threads"))]
    {
        items.into_iter().map(work).collect()
    }
}

/// How many threads [`map`] uses at most.
#[must_use]
pub fn count() -> usize {
    #[cfg(feature = "threads")]
    {
        rayon::current_num_threads()
    }
    #[cfg(not(feature = "threads"))]
    {
        1
    }
}

/// Cuts `0..len` into contiguous ranges of about equal weight, a few for each thread, so that
/// [`map`] over them keeps all threads busy. `weight(i)` is the cost of item `i`.
pub fn ranges(len: usize, weight: impl Fn(usize) -> u64) -> Vec<std::ops::Range<usize>> {
    let pieces = if count() == 1 { 1 } else { count() as u64 * 4 };
    let total: u64 = (0..len).map(|i| weight(i).max(1)).sum();
    let share = (total / pieces).max(1);
    let (mut out, mut start, mut sum) = (Vec::new(), 0, 0);
    for i in 0..len {
        sum += weight(i).max(1);
        if sum >= share {
            out.push(start..i + 1);
            (start, sum) = (i + 1, 0);
        }
    }
    if start < len {
        out.push(start..len);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_every_item_once_in_order() {
        for len in [0, 1, 7, 1000] {
            let pieces = ranges(len, |i| (i % 13) as u64);
            let all: Vec<usize> = pieces.into_iter().flatten().collect();
            assert_eq!(all, (0..len).collect::<Vec<_>>());
        }
    }
}
