//! Archives answer what a plain replay of the events answers.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::collections::BTreeMap;
use std::sync::Arc;

use parallax_base::{Folder, Limits, MemorySink, Place, Severity, Stage, TimeWindow, TrackIdx};
use parallax_import::archive;
use parallax_import::events::{Conversion, Endpoint, TrackIdentity};
use parallax_model::{BinTime, Experiment, TraceKind, TraceStore, whole_bins};
use proptest::prelude::*;

/// One event: time since the one before, and a function to enter or `None` to leave.
type Step = (u64, Option<u32>);

/// A call as it was made: path of functions, start, end.
type Made = (Vec<u32>, u64, u64);

/// Replays steps naively: calls in order of their end, and who was active when.
#[derive(Default)]
struct Replay {
    calls: Vec<Made>,
    active: Vec<(Vec<u32>, u64, u64)>,
}

fn replay(steps: &[Step], first: u64) -> Replay {
    let mut out = Replay::default();
    let mut stack: Vec<(u32, u64)> = Vec::new();
    let (mut now, mut is_begun) = (first, false);
    let path = |stack: &[(u32, u64)]| stack.iter().map(|s| s.0).collect::<Vec<_>>();
    for (after, step) in steps {
        let before = now;
        now += after;
        if is_begun && now > before {
            out.active.push((path(&stack), before, now));
        }
        match step {
            Some(function) => {
                is_begun = true;
                stack.push((*function, now));
            }
            None => {
                let path = path(&stack);
                if let Some((_, start)) = stack.pop() {
                    out.calls.push((path, start, now));
                }
            }
        }
    }
    while !stack.is_empty() {
        let path = path(&stack);
        if let Some((_, start)) = stack.pop() {
            out.calls.push((path, start, now));
        }
    }
    // Time in which nothing ran is what is left of a window.
    out.active.retain(|active| !active.0.is_empty());
    out
}

/// Converts tracks; `every` events a batch is forced, so that pyramids grow on few events.
fn convert(tracks: &[Vec<Step>], every: usize) -> Experiment {
    let sink = MemorySink::new();
    let mut conversion = Conversion::new(Arc::new(sink.clone()), 0).unwrap();
    let names = ["main", "solve", "exchange", "MPI_Send", "io"];
    let functions: Vec<u32> = names.iter().map(|name| conversion.function(name, "USER")).collect();
    for number in 0..tracks.len() {
        conversion.track(TrackIdentity { name: format!("rank {number}"), ..Default::default() });
    }
    for (number, steps) in tracks.iter().enumerate() {
        let mut now = 1000;
        for (at, (after, step)) in steps.iter().enumerate() {
            now += after;
            let builder = conversion.builder(number as u32).unwrap();
            match step {
                Some(function) => builder.enter(now, functions[*function as usize]),
                None => builder.leave(now, None),
            }
            if at % every == every - 1 {
                conversion.commit().unwrap();
            }
        }
    }
    conversion.finish().unwrap();
    let folder: Arc<dyn Folder> = Arc::new(sink.into_folder("memory"));
    archive::open(&folder, &Limits::default()).unwrap()
}

fn path_of(experiment: &Experiment, context: u32) -> Vec<u32> {
    let names = ["main", "solve", "exchange", "MPI_Send", "io"];
    let tree = &experiment.contexts;
    let context = tree.by_source_id(context).unwrap();
    let mut path: Vec<_> = std::iter::successors(Some(context), |c| tree.parent(*c))
        .filter_map(|c| tree.function(c).map(|f| tree.functions()[f.idx()].name.to_string()))
        .map(|name| names.iter().position(|known| *known == name).unwrap() as u32)
        .collect();
    path.reverse();
    path
}

type Sums = BTreeMap<Vec<u32>, (u64, u64)>;

fn add(sums: &mut Sums, path: Vec<u32>, calls: u64, nanos: u64) {
    if !path.is_empty() && (calls > 0 || nanos > 0) {
        let sum = sums.entry(path).or_default();
        sum.0 += calls;
        sum.1 += nanos;
    }
}

fn expected_sums(replay: &Replay, window: TimeWindow) -> Sums {
    let mut sums = Sums::new();
    for (path, start, end) in &replay.active {
        add(&mut sums, path.clone(), 0, TimeWindow::new(*start, *end).intersect(window).nanos());
    }
    for (path, start, _) in &replay.calls {
        if (window.start_nanos..window.end_nanos).contains(start) {
            add(&mut sums, path.clone(), 1, 0);
        }
    }
    sums
}

fn stored_sums(experiment: &Experiment, track: TrackIdx, window: TimeWindow) -> Sums {
    let mut sums = Sums::new();
    let store = experiment.traces.as_deref().unwrap();
    store
        .sums(track, window, &mut |time| {
            add(&mut sums, path_of(experiment, time.context), time.calls, time.nanos);
        })
        .unwrap();
    sums
}

fn check(
    experiment: &Experiment,
    track: TrackIdx,
    replay: &Replay,
    window: TimeWindow,
    exponent: u8,
) {
    let store: &dyn TraceStore = experiment.traces.as_deref().unwrap();
    assert_eq!(store.kind(), TraceKind::Calls);
    assert_eq!(
        stored_sums(experiment, track, window),
        expected_sums(replay, window),
        "sums in {window:?}"
    );

    let mut bins: BTreeMap<u64, Sums> = BTreeMap::new();
    let mut last = 0;
    store
        .bins(track, window, exponent, &mut |times| {
            for &BinTime { bin, time } in times {
                assert!(bin >= last, "bins come in order");
                last = bin;
                let path = path_of(experiment, time.context);
                add(bins.entry(bin).or_default(), path, time.calls, time.nanos);
            }
        })
        .unwrap();
    bins.retain(|_, sums| !sums.is_empty());
    let whole = whole_bins(window, exponent);
    let mut expected: BTreeMap<u64, Sums> = BTreeMap::new();
    for bin in whole.start_nanos >> exponent..whole.end_nanos >> exponent {
        let sums = expected_sums(replay, TimeWindow::new(bin << exponent, (bin + 1) << exponent));
        if !sums.is_empty() {
            expected.insert(bin, sums);
        }
    }
    assert_eq!(bins, expected, "bins of 2^{exponent} in {window:?}");

    let mut active = Vec::new();
    store
        .visit(track, window, &mut |interval| {
            active.push((interval.context, interval.start_nanos, interval.end_nanos));
        })
        .unwrap();
    assert!(active.is_sorted_by_key(|interval| interval.1), "intervals come in order of time");
    let mut sums = Sums::new();
    for (context, start, end) in active {
        let inside = TimeWindow::new(start, end).intersect(window);
        add(&mut sums, path_of(experiment, context), 0, inside.nanos());
    }
    let mut only_time = expected_sums(replay, window);
    only_time.retain(|_, sum| sum.1 > 0);
    only_time.values_mut().for_each(|sum| sum.0 = 0);
    assert_eq!(sums, only_time, "intervals in {window:?}");

    let mut calls: Vec<Made> = Vec::new();
    store
        .visit_calls(track, window, &mut |call| {
            calls.push((path_of(experiment, call.context), call.start_nanos, call.end_nanos));
        })
        .unwrap();
    let mut expected: Vec<Made> = replay
        .calls
        .iter()
        .filter(|(_, start, end)| *end >= window.start_nanos && *start < window.end_nanos)
        .cloned()
        .collect();
    calls.sort();
    expected.sort();
    assert_eq!(calls, expected, "calls in {window:?}");
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Time stands still often: zero-length calls are what breaks pyramids.
    let after = prop_oneof![Just(0_u64), 1..4_u64, 1..200_u64];
    prop::collection::vec((after, prop::option::weighted(0.52, 0..5_u32)), 1..400)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn an_archive_answers_what_a_replay_answers(
        tracks in prop::collection::vec(steps(), 1..3),
        every in 1..24_usize,
        windows in prop::collection::vec((0..8000_u64, 0..60_000_u64, 0..18_u8), 1..4),
    ) {
        let experiment = convert(&tracks, every);
        for (number, steps) in (0..).zip(&tracks) {
            let track = TrackIdx::new(number);
            let replay = replay(steps, 1000);
            for &(start, len, exponent) in &windows {
                let window = TimeWindow::new(500 + start, 500 + start + len);
                check(&experiment, track, &replay, window, exponent);
            }
            check(&experiment, track, &replay, TimeWindow::new(0, 1 << 20), 9);
        }
    }
}

#[test]
fn messages_are_matched_across_tracks() {
    let sink = MemorySink::new();
    let mut conversion = Conversion::new(Arc::new(sink.clone()), 1 << 20).unwrap();
    let a = conversion.track(TrackIdentity { name: "a".into(), ..Default::default() });
    let b = conversion.track(TrackIdentity { name: "b".into(), ..Default::default() });
    let (to_a, to_b) = (conversion.peer_of(a), conversion.peer_of(b));
    let side = |nanos, partner, is_send| Endpoint {
        nanos,
        partner,
        communicator: 3,
        tag: -7,
        bytes: 64,
        is_send,
    };
    conversion.builder(b).unwrap().message(side(25, to_a, false));
    conversion.builder(a).unwrap().message(side(10, to_b, true));
    conversion.builder(a).unwrap().message(side(90, to_b, true));
    let issues = conversion.finish().unwrap();
    assert_eq!(issues.list().iter().map(|i| i.kind).collect::<Vec<_>>(), ["send-without-receive"]);
    let folder: Arc<dyn Folder> = Arc::new(sink.into_folder("memory"));
    let experiment = archive::open(&folder, &Limits::default()).unwrap();
    let events = experiment.events.unwrap();
    let mut seen = Vec::new();
    events.messages(TimeWindow::new(20, 22), &mut |m| seen.push(m)).unwrap();
    assert_eq!(seen.len(), 1, "the one under way at 20");
    assert_eq!((seen[0].send_nanos, seen[0].receive_nanos), (Some(10), Some(25)));
    assert_eq!(
        (seen[0].sender, seen[0].receiver, seen[0].tag),
        (Some(TrackIdx::new(a)), Some(TrackIdx::new(b)), -7)
    );
    events.messages(TimeWindow::new(80, 100), &mut |m| seen.push(m)).unwrap();
    assert_eq!(seen[1].receive_nanos, None);
    assert_eq!(experiment.issues.list().len(), 1, "what was repaired is told again");
}

#[test]
fn issues_of_a_conversion_are_those_of_its_archive() {
    let sink = MemorySink::new();
    let mut conversion = Conversion::new(Arc::new(sink.clone()), 1 << 20).unwrap();
    conversion.track(TrackIdentity { name: "a".into(), ..Default::default() });
    let places = [
        (Place::Byte { file: "traces/0.evt".into(), offset: 9 }, 3),
        (Place::File { file: "traces/1.evt".into() }, 40),
        (Place::Time { nanos: 12 }, 500),
    ];
    for (place, count) in &places {
        for kind in ["event-unknown", "time-goes-back"] {
            let (severity, stage) = (Severity::Warning, Stage::Import);
            let message = || format!("{kind} somewhere");
            conversion.issues.report_many(severity, stage, kind, place.clone(), *count, message);
        }
    }
    let told = conversion.finish().unwrap();
    let folder: Arc<dyn Folder> = Arc::new(sink.into_folder("memory"));
    let read = archive::open(&folder, &Limits::default()).unwrap().issues;
    assert_eq!(read.list(), told.list());
    let totals: Vec<_> = read.totals().iter().map(|t| (t.kind, t.count, t.files)).collect();
    assert_eq!(totals, [("event-unknown", 543, 3), ("time-goes-back", 543, 3)]);
}
