//! User events of drawn profiles, beside sums over every single value.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::collections::BTreeMap;
use std::sync::Arc;

use parallax_analysis::user_events::{
    EventContext, EventTotal, EventValues, user_event_by_location, user_events,
};
use parallax_base::{Control, Folder, Limits, LocationIdx, MemoryFolder};
use parallax_engine::Session;
use parallax_testkit::tau as write;
use proptest::prelude::*;

const PATHS: [&str; 3] = ["main => f", "main => f => g", "main => g"];
const EVENTS: [&str; 2] = ["Message size", "Level"];

/// One value: event, path or none, value.
type Value = (usize, Option<usize>, i32);

/// What a thread reported, and of which events TAU also wrote the sum over contexts.
#[derive(Debug, Clone)]
struct Reported {
    values: Vec<Value>,
    has_whole: [bool; 2],
}

fn reported() -> impl Strategy<Value = Reported> {
    let value = (0..EVENTS.len(), prop::option::of(0..PATHS.len()), -40..40_i32);
    (prop::collection::vec(value, 0..30), any::<[bool; 2]>()).prop_map(|(mut values, has_whole)| {
        // Only what happened in a context is known where there is no sum.
        values.retain(|value| has_whole[value.0] || value.1.is_some());
        Reported { values, has_whole }
    })
}

/// Number, and largest, smallest, mean, sum of squares, as TAU writes them.
fn statistics(values: &[i32]) -> (i32, [f64; 4]) {
    let number = values.len();
    let sum: i32 = values.iter().sum();
    let squares: i32 = values.iter().map(|value| value * value).sum();
    let largest = values.iter().max().copied().unwrap_or(0);
    let smallest = values.iter().min().copied().unwrap_or(0);
    let mean = if number == 0 { 0.0 } else { f64::from(sum) / number as f64 };
    (
        i32::try_from(number).unwrap(),
        [f64::from(largest), f64::from(smallest), mean, f64::from(squares)],
    )
}

fn profiles(threads: &[Reported]) -> write::Profiles {
    let mut events: Vec<String> = EVENTS.iter().map(|event| (*event).to_owned()).collect();
    for event in EVENTS {
        events.extend(PATHS.iter().map(|path| format!("{event} : {path}")));
    }
    let timers: Vec<(String, Vec<u32>)> =
        ["main", "f", "g"].iter().chain(&PATHS).map(|name| ((*name).to_owned(), vec![0])).collect();
    let thread = |(node, reported): (u32, &Reported)| {
        let mut rows = Vec::new();
        let mut row = |event: usize, values: Vec<i32>, is_written: bool| {
            let (count, statistics) = statistics(&values);
            if is_written {
                let event = u32::try_from(event).unwrap();
                rows.push(write::Event { event, count, statistics });
            }
        };
        for event in 0..EVENTS.len() {
            let of = |path: Option<Option<usize>>| -> Vec<i32> {
                let own = reported.values.iter().filter(|value| value.0 == event);
                own.filter(|v| path.is_none_or(|path| v.1 == path)).map(|v| v.2).collect()
            };
            row(event, of(None), reported.has_whole[event]);
            for path in 0..PATHS.len() {
                let values = of(Some(Some(path)));
                let is_written = !values.is_empty();
                row(EVENTS.len() + event * PATHS.len() + path, values, is_written);
            }
        }
        write::Thread {
            id: [node, 0, 0],
            metadata: Vec::new(),
            timers: (0..u32::try_from(timers.len()).unwrap())
                .map(|timer| write::Timer {
                    timer,
                    calls: 1.0,
                    subroutines: 0.0,
                    values: vec![(1.0, 1.0)],
                })
                .collect(),
            events: rows,
        }
    };
    write::Profiles {
        metrics: vec!["COUNTER".into()],
        groups: vec!["G".into()],
        threads: (0..).zip(threads).map(thread).collect(),
        timers,
        events,
        metadata: Vec::new(),
    }
}

fn session(threads: &[Reported]) -> Session {
    let files = write::to_text(&profiles(threads), 0);
    let files = files.into_iter().map(|(name, text)| (name, text.into_bytes()));
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("run", files));
    Session::new(parallax_import::open(&folder, &Limits::default()).unwrap())
}

/// The same from every single value: nothing is merged.
fn expected(values: &[i32]) -> Option<[f64; 6]> {
    let (number, [largest, smallest, mean, _]) = statistics(values);
    let deviation = values.iter().map(|&value| (f64::from(value) - mean).powi(2)).sum::<f64>();
    let sum: i32 = values.iter().sum();
    let deviation = (deviation / f64::from(number.max(1))).sqrt();
    (number > 0).then(|| [f64::from(number), f64::from(sum), mean, smallest, largest, deviation])
}

fn agrees(found: &EventValues, values: &[i32], knows_extremes: bool) {
    let Some([number, sum, mean, smallest, largest, deviation]) = expected(values) else {
        assert!(found.is_empty(), "{found:?} is nothing");
        return;
    };
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-6;
    assert_eq!(found.count.to_bits(), number.to_bits());
    assert!(close(found.sum, sum), "{found:?}: {sum}");
    assert!(close(found.mean().unwrap(), mean), "{found:?}: {mean}");
    assert!(close(found.std_dev().unwrap(), deviation), "{found:?}: {deviation}");
    if knows_extremes {
        assert_eq!(found.extremes, Some((smallest, largest)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn sums_over_locations_and_contexts_are_those_of_single_values(
        threads in prop::collection::vec(reported(), 1..5),
        mask in any::<u8>(),
    ) {
        let session = session(&threads);
        let x = session.experiment();
        // Location 0 is the summary.
        let chosen: Vec<LocationIdx> = (0..threads.len())
            .filter(|at| mask >> (at % 8) & 1 == 1)
            .map(|at| LocationIdx::new(u32::try_from(at).unwrap() + 1))
            .collect();
        let control = Control::new();
        let totals = user_events(&session, &chosen, &control).unwrap();
        let mut by_name: BTreeMap<&str, &EventTotal> = BTreeMap::new();
        for (event, total) in x.metrics.user_events().iter().zip(&totals) {
            by_name.insert(&event.name, total);
        }
        for (at, name) in EVENTS.iter().enumerate() {
            let reports: Vec<&Reported> =
                chosen.iter().map(|location| &threads[location.idx() - 1]).collect();
            let of = |wanted: Option<Option<usize>>, reports: &[&Reported]| -> Vec<i32> {
                let all = reports.iter().flat_map(|reported| &reported.values);
                all.filter(|v| v.0 == at && wanted.is_none_or(|path| v.1 == path))
                    .map(|v| v.2)
                    .collect()
            };
            let Some(total) = by_name.get(name) else {
                prop_assert!(of(None, &reports).is_empty());
                continue;
            };
            agrees(&total.values, &of(None, &reports), true);
            let happened = reports.iter().filter(|one| !of(None, &[**one]).is_empty()).count();
            prop_assert_eq!(total.num_locations, happened as u64);
            let mut num_rows = 0;
            for (path, text) in PATHS.iter().enumerate() {
                let leaf = |row: &&EventContext| {
                    row.context.is_some_and(|context| {
                        let names: Vec<String> = x.contexts.path(context)
                            .into_iter().map(|c| x.contexts.label(c)).collect();
                        names.join(" => ") == *text
                    })
                };
                let values = of(Some(Some(path)), &reports);
                match total.contexts.iter().find(leaf) {
                    Some(row) => {
                        num_rows += 1;
                        agrees(&row.values, &values, true);
                        let event = x.metrics.user_events().iter().find(|e| &*e.name == *name);
                        let found = user_event_by_location(
                            &session, event.unwrap(), row.context, &chosen, &control,
                        ).unwrap();
                        for (found, reported) in found.iter().zip(&reports) {
                            agrees(found, &of(Some(Some(path)), &[*reported]), true);
                        }
                    }
                    None => prop_assert!(values.is_empty(), "{} in {}", name, text),
                }
            }
            let elsewhere = of(Some(None), &reports);
            match total.contexts.iter().find(|row| row.context.is_none()) {
                Some(row) => {
                    num_rows += 1;
                    agrees(&row.values, &elsewhere, false);
                }
                None => prop_assert!(elsewhere.is_empty() || total.contexts.is_empty()),
            }
            prop_assert_eq!(total.contexts.len(), num_rows);
        }
    }
}
