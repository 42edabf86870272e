//! From cycles to nanoseconds and to the wall clock.
//!
//! All threads share one time stamp counter, so there is one rate: the median over the threads of
//! the cycles each one lived over the time it lived on the wall clock. Nanosecond 0 is the first
//! cycle that is known.
//!
//! The wall clock is anchored at the ends of threads, because the tool takes the time of a thread's
//! start before its own start-up, long before the entry call. The entry call of a thread ends where
//! the thread does, to within some tens of microseconds; again the median over the threads counts.

use parallax_base::Severity;
use parallax_base::casts::saturated_i64;
use parallax_model::{ActivationTree, Clock};

use super::threads::Threads;
use crate::activations::{Reporter, nanos};

/// The clock of a run whose tree has cycles for times.
pub(super) fn of(threads: &Threads, tree: &ActivationTree, report: &mut Reporter<'_>) -> Clock {
    let mut rates: Vec<f64> = threads
        .wall_times()
        .filter_map(|(_, start, end, cycles)| {
            let nanos = end.checked_sub(start).filter(|&nanos| nanos > 0)?;
            let rate = cycles? as f64 * 1e9 / nanos as f64;
            // What no processor has had is a fault of the file.
            (1e6..1e12).contains(&rate).then_some(rate)
        })
        .collect();
    let rate = median(&mut rates);
    report.many(Severity::Warning, "clock-rate-unknown", u64::from(rate.is_none()), || {
        "no thread says how many cycles it lived and for how long, so the rate of the time stamp \
         counter is not known; one cycle is taken for one nanosecond, and shares of time are right, \
         but seconds are not"
            .to_owned()
    });
    let mut clock = Clock {
        ticks_per_second: rate.unwrap_or(1e9),
        is_assumed: rate.is_none(),
        origin_ticks: tree.span().start_nanos,
        wall_origin_nanos: None,
    };
    let mut origins: Vec<f64> = threads
        .wall_times()
        .filter_map(|(thread, _, end, _)| {
            let ends = tree.roots().filter(|&root| tree.thread(root) == thread);
            let last = ends
                .filter(|&root| !tree.is_estimated(root))
                .map(|root| tree.time(root).end_nanos)
                .max()?;
            Some(end as f64 - nanos(&clock, last) as f64)
        })
        .collect();
    clock.wall_origin_nanos = median(&mut origins).map(saturated_i64);
    clock
}

/// The middle one, or the mean of the two in the middle.
fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let high = *values.get(middle)?;
    match values.len() % 2 {
        1 => Some(high),
        _ => Some(f64::midpoint(high, *values.get(middle.checked_sub(1)?)?)),
    }
}
