//! Tasks on workers: the longest that is ready goes to the first worker that is free.
//!
//! Longest processing time first is at most 4/3 - 1/(3k) of the shortest schedule on k workers for
//! tasks without dependences, and any list schedule at most 2 - 1/k with them (R. L. Graham,
//! *Bounds on Multiprocessing Timing Anomalies*, SIAM J. Appl. Math. 17, 1969).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A task on a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Which task.
    pub task: usize,
    /// Which worker, from 0.
    pub worker: u32,
    /// Nanoseconds from the start of the schedule.
    pub start_nanos: u64,
    /// Nanoseconds from the start of the schedule.
    pub end_nanos: u64,
}

/// Who does what when.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schedule {
    /// All tasks, in order of their start.
    pub placed: Vec<Placed>,
    /// When the last one ends.
    pub length_nanos: u64,
    /// What no schedule on so many workers can beat: the longest chain of tasks that depend on each
    /// other, or all tasks divided by the workers, whichever is more.
    pub bound_nanos: u64,
}

impl Schedule {
    /// How many times faster than one after the other; 1 where there is nothing to do.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a ratio")]
    pub fn speedup(&self) -> f64 {
        let sum: u64 = self.placed.iter().map(|task| task.end_nanos - task.start_nanos).sum();
        if self.length_nanos == 0 { 1.0 } else { sum as f64 / self.length_nanos as f64 }
    }
}

/// Schedules tasks of `nanos` on `workers` (at least one). `dependences` are pairs of an earlier
/// task and a later one that waits for it; pairs that are not in that order, or name no task, do
/// not count.
#[must_use]
pub fn schedule(nanos: &[u64], dependences: &[(u32, u32)], workers: u32) -> Schedule {
    let workers = workers.max(1);
    let count = nanos.len();
    let is_pair = |&&(from, to): &&(u32, u32)| from < to && (to as usize) < count;
    let mut edges: Vec<(u32, u32)> = dependences.iter().filter(is_pair).copied().collect();
    edges.sort_unstable();
    edges.dedup();
    let after = |task: usize| {
        let from = edges.partition_point(|edge| (edge.0 as usize) < task);
        let to = edges.partition_point(|edge| (edge.0 as usize) <= task);
        edges.get(from..to).unwrap_or_default().iter().map(|edge| edge.1 as usize)
    };
    let mut missing = vec![0_u32; count];
    let mut chain = vec![0_u64; count];
    for edge in &edges {
        if let Some(slot) = missing.get_mut(edge.1 as usize) {
            *slot += 1;
        }
    }
    let mut longest = 0;
    for (task, &own) in nanos.iter().enumerate() {
        let end = chain.get(task).copied().unwrap_or(0).saturating_add(own);
        longest = longest.max(end);
        for next in after(task) {
            if let Some(start) = chain.get_mut(next) {
                *start = (*start).max(end);
            }
        }
    }
    let all = nanos.iter().fold(0_u64, |sum, &own| sum.saturating_add(own));
    let bound_nanos = longest.max(all.div_ceil(u64::from(workers)));

    // Ties go to the task that comes first in the program.
    let entry = |task: usize| (nanos.get(task).copied().unwrap_or(0), Reverse(task));
    let mut ready: BinaryHeap<(u64, Reverse<usize>)> =
        (0..count).filter(|&task| missing.get(task) == Some(&0)).map(entry).collect();
    let mut free: BinaryHeap<Reverse<u32>> =
        (0..workers.min(u32::try_from(count).unwrap_or(u32::MAX))).map(Reverse).collect();
    let mut running: BinaryHeap<Reverse<(u64, u32, usize)>> = BinaryHeap::new();
    let mut placed = Vec::with_capacity(count);
    let mut now = 0;
    loop {
        while !ready.is_empty() {
            let Some(Reverse(worker)) = free.pop() else { break };
            let Some((own, Reverse(task))) = ready.pop() else { break };
            let end_nanos = now + own;
            placed.push(Placed { task, worker, start_nanos: now, end_nanos });
            running.push(Reverse((end_nanos, worker, task)));
        }
        let Some(Reverse((end, worker, task))) = running.pop() else { break };
        now = end;
        free.push(Reverse(worker));
        let mut ended = vec![task];
        // All that end together free their successors before the next choice.
        while let Some(&Reverse((same, worker, task))) = running.peek() {
            if same != end {
                break;
            }
            running.pop();
            free.push(Reverse(worker));
            ended.push(task);
        }
        for next in ended.into_iter().flat_map(&after) {
            if let Some(left) = missing.get_mut(next) {
                *left -= 1;
                if *left == 0 {
                    ready.push(entry(next));
                }
            }
        }
    }
    Schedule { placed, length_nanos: now, bound_nanos }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(schedule: &Schedule) -> Vec<(usize, u32, u64, u64)> {
        let row = |p: &Placed| (p.task, p.worker, p.start_nanos, p.end_nanos);
        schedule.placed.iter().map(row).collect()
    }

    #[test]
    fn the_longest_goes_first_to_the_worker_that_is_free() {
        // Graham's worst case for two workers: 7 where 6 is possible.
        let found = schedule(&[3, 3, 2, 2, 2], &[], 2);
        let expected = [(0, 0, 0, 3), (1, 1, 0, 3), (2, 0, 3, 5), (3, 1, 3, 5), (4, 0, 5, 7)];
        assert_eq!(drawn(&found), expected);
        assert_eq!((found.length_nanos, found.bound_nanos), (7, 6));
        assert!((found.speedup() - 12.0 / 7.0).abs() < 1e-12);
    }

    #[test]
    fn a_task_waits_for_those_it_depends_on() {
        let found = schedule(&[5, 1, 4, 2], &[(0, 2), (1, 3), (2, 3)], 4);
        let expected = [(0, 0, 0, 5), (1, 1, 0, 1), (2, 0, 5, 9), (3, 0, 9, 11)];
        assert_eq!(drawn(&found), expected);
        assert_eq!(found.bound_nanos, 11);
    }

    #[test]
    fn nothing_to_do_takes_no_time() {
        assert_eq!(schedule(&[], &[], 4), Schedule::default());
        assert_eq!(schedule(&[0, 0], &[(0, 1)], 1).length_nanos, 0);
        // Pairs that make no sense do not stop anything.
        assert_eq!(schedule(&[1, 1], &[(1, 0), (0, 9), (1, 1)], 2).length_nanos, 1);
    }
}
