//! Profiles and traces made up at random, for property tests.

use proptest::collection::vec;
use proptest::prelude::*;

use super::{Event, Facts, Profiles, Record, Thread, Timer};

fn name() -> impl Strategy<Value = String> {
    // What stands at the ends of a name is trimmed, so that must be no blank.
    "[A-Za-z_][ -~äß€😀]{0,12}[a-z)]".prop_map(|text| text.replace(['&', '<'], "+"))
}

fn facts() -> impl Strategy<Value = Facts> {
    vec((name(), name()), 0..4)
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![(0_u32..1_000_000).prop_map(f64::from), 0.0..1e18]
}

/// Profiles with distinct names and threads; every thread has some of the timers and user events.
pub fn profiles() -> impl Strategy<Value = Profiles> {
    let distinct = |names: Vec<String>| -> Vec<String> {
        names.into_iter().enumerate().map(|(at, name)| format!("{name}{at}")).collect()
    };
    let names = move |range| vec(name(), range).prop_map(distinct);
    (names(1..4), names(1..4), names(0..8), names(0..4), facts(), 0_usize..5).prop_flat_map(
        |(metrics, groups, timers, events, metadata, threads)| {
            let (num_metrics, num_groups) = (metrics.len(), groups.len() as u32);
            let (num_timers, num_events) = (timers.len(), events.len());
            let in_groups = vec(vec(0..num_groups, 0..3), num_timers);
            let timer = (any::<bool>(), number(), number(), vec((number(), number()), num_metrics));
            let event = (any::<bool>(), 0..1000_i32, [number(), number(), number(), number()]);
            let thread = (facts(), vec(timer, num_timers), vec(event, num_events));
            (in_groups, vec(thread, threads)).prop_map(move |(in_groups, threads)| Profiles {
                metrics: metrics.clone(),
                groups: groups.clone(),
                timers: timers.iter().cloned().zip(in_groups).collect(),
                events: events.clone(),
                metadata: metadata.clone(),
                threads: (0..).zip(threads).map(thread_of).collect(),
            })
        },
    )
}

type Drawn = (Facts, Vec<(bool, f64, f64, Vec<(f64, f64)>)>, Vec<(bool, i32, [f64; 4])>);

fn thread_of((number, (metadata, timers, events)): (u32, Drawn)) -> Thread {
    let timers = (0..).zip(timers).filter(|(_, (is_there, ..))| *is_there);
    let events = (0..).zip(events).filter(|(_, (is_there, ..))| *is_there);
    Thread {
        id: [number / 3, 0, number % 3],
        metadata,
        timers: timers
            .map(|(timer, (_, calls, subroutines, values))| Timer {
                timer,
                calls,
                subroutines,
                values,
            })
            .collect(),
        events: events
            .map(|(event, (_, count, statistics))| Event { event, count, statistics })
            .collect(),
    }
}

/// Records in the order of time, the first as tracers begin a file.
pub fn trace() -> impl Strategy<Value = Vec<Record>> {
    let record = (1..40_i32, 0..4_u16, 0..3_u16, any::<i64>(), 0..1000_u64);
    vec(record, 0..60).prop_map(|drawn| {
        let first = Record { event: 60_000, node: 0, thread: 0, parameter: 3, time: 1_000 };
        let mut out = vec![first];
        let mut now = first.time;
        for (event, node, thread, parameter, later) in drawn {
            now += later;
            out.push(Record { event, node, thread, parameter, time: now });
        }
        out
    })
}
