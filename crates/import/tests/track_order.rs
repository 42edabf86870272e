//! Tracks come in an order that users know, and with names that distinguish them.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::sync::Arc;

use parallax_base::{Control, Folder, Limits, MemoryFolder, MemorySink, TimeWindow};
use parallax_import::archive;
use parallax_import::convert::{ConvertOptions, convert, recognise};
use parallax_model::Experiment;
use parallax_testkit::drawn::draw;
use parallax_testkit::hpctoolkit::{Id, Point, Profile, Sample, WriteOptions, kind};

fn labels(experiment: &Experiment) -> Vec<String> {
    let tracks = experiment.traces.as_deref().unwrap().tracks();
    tracks.iter().map(|track| experiment.locations.label(track.location)).collect()
}

/// A JSON trace, converted and opened.
fn opened(text: String) -> Experiment {
    let folder: Arc<dyn Folder> =
        Arc::new(MemoryFolder::new("m", [("t.json".to_owned(), text.into_bytes())]));
    let input = recognise(&folder, "t.json").unwrap().unwrap();
    let sink = MemorySink::new();
    let options = ConvertOptions::default();
    convert(&input, "t", Arc::new(sink.clone()), &options, &Control::new()).unwrap();
    let folder: Arc<dyn Folder> = Arc::new(sink.into_folder("t"));
    archive::open(&folder, &Limits::default()).unwrap()
}

#[test]
fn tracks_of_a_database_are_ordered_by_rank_thread_and_stream() {
    let mut database = draw("CPUTIME (sec)", "main  .");
    database.profiles.clear();
    let rank = |node, number| vec![Id::node(node), Id::logical(kind::RANK, number)];
    let thread = |node, number, thread| {
        [rank(node, number), vec![Id::logical(kind::THREAD, thread)]].concat()
    };
    let stream = |node, number, stream| {
        let ids = vec![Id::logical(kind::GPUCONTEXT, 1), Id::logical(kind::GPUSTREAM, stream)];
        [rank(node, number), ids].concat()
    };
    // As threads ended; the node of rank 2 and 10 has the smaller address.
    let tuples = [
        stream(9, 0, 7),
        thread(5, 10, 2),
        thread(9, 0, 10),
        thread(5, 2, 0),
        thread(9, 1, 0),
        thread(9, 0, 2),
        stream(9, 0, 2),
        thread(9, 0, 0),
    ];
    for (nth, tuple) in (1..).zip(tuples) {
        let points = vec![Point { context: 2, metric: 0, value: 1.0 }];
        // Every track has as many samples as its place, so that a mixed-up one is seen.
        let trace = (0..nth).map(|nanos| Sample { nanos: 1_000 + nanos, context: 2 }).collect();
        database.profiles.push(Profile { tuple, points, trace });
    }
    let files = database.to_files(&WriteOptions::default());
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("memory", files.by_path));
    let experiment = parallax_import::open(&folder, &Limits::default()).unwrap();
    let expected = [
        "rank 0 thread 0",
        "rank 0 thread 2",
        "rank 0 thread 10",
        "rank 0 gpucontext 1 gpustream 2",
        "rank 0 gpucontext 1 gpustream 7",
        "rank 1 thread 0",
        "rank 2 thread 0",
        "rank 10 thread 2",
    ];
    assert_eq!(labels(&experiment), expected);
    let tracks = experiment.traces.as_deref().unwrap().tracks();
    let samples: Vec<u64> = tracks.iter().map(|track| track.num_samples).collect();
    assert_eq!(samples, [8, 6, 3, 7, 1, 5, 4, 2]);
}

#[test]
fn names_of_tracks_are_never_empty_and_distinguish_threads() {
    let event = |pid: &str, tid: &str| {
        format!(r#"{{"ph":"X","name":"work","pid":{pid},"tid":{tid},"ts":1,"dur":2}}"#)
    };
    let name = |pid: &str, tid: &str, name: &str| {
        format!(
            r#"{{"ph":"M","name":"thread_name","pid":{pid},"tid":{tid},"args":{{"name":"{name}"}}}}"#
        )
    };
    let events = [
        event(r#""""#, r#""""#),
        event("1", "1"),
        event("1", "2"),
        event("1", "3"),
        event("1", "4"),
        name("1", "1", "pool"),
        name("1", "2", "pool"),
        name("1", "3", "main"),
        name("1", "4", " "),
    ];
    let text = format!(r#"{{"traceEvents":[{}]}}"#, events.join(","));
    let experiment = opened(text);
    let expected = [
        "process 1, pool 1",
        "process 1, pool 2",
        "process 1, main",
        "process 1, thread 4",
        "process (no name), thread (no name)",
    ];
    assert_eq!(labels(&experiment), expected);
}

#[test]
fn tracks_of_a_json_trace_are_ordered_by_process_and_thread() {
    // Each thread has as many calls as its place in the file, and one counter and one marker of
    // its own, so that a mixed-up one is seen.
    let threads = [(7, 10), (7, 2), (3, 1), (12, 0), (7, 0)];
    let mut events = Vec::new();
    for (nth, (pid, tid)) in (1..).zip(threads) {
        let who = format!(r#""pid":{pid},"tid":{tid}"#);
        for call in 0..nth {
            let (ts, id) = (call * 10, nth * 100 + call);
            events.push(format!(r#"{{"ph":"X","name":"work","ts":{ts},"dur":5,{who}}}"#));
            events
                .push(format!(r#"{{"ph":"s","cat":"f","name":"flow","id":{id},"ts":{ts},{who}}}"#));
            events.push(format!(
                r#"{{"ph":"f","cat":"f","name":"flow","id":{id},"ts":{},"pid":12,"tid":0}}"#,
                ts + 1
            ));
        }
        events.push(format!(r#"{{"ph":"i","name":"mark","ts":{nth},{who}}}"#));
        events.push(format!(
            r#"{{"ph":"C","name":"level","ts":{nth},"args":{{"value":{nth}}},{who}}}"#
        ));
    }
    let text = format!(r#"{{"traceEvents":[{}]}}"#, events.join(","));
    let experiment = opened(text);
    let expected = [
        "process 3, thread 1",
        "process 7, thread 0",
        "process 7, thread 2",
        "process 7, thread 10",
        "process 12, thread 0",
    ];
    assert_eq!(labels(&experiment), expected);
    let of_place: [u64; 5] = [3, 5, 2, 1, 4];
    let store = experiment.traces.as_deref().unwrap();
    let samples: Vec<u64> = store.tracks().iter().map(|track| track.num_samples).collect();
    assert_eq!(samples, of_place);
    let events = experiment.events.as_deref().unwrap();
    let mut marked = [0; 5];
    events
        .markers(TimeWindow::ALL, &mut |track, _, nanos| marked[track.idx()] = nanos / 1000)
        .unwrap();
    assert_eq!(marked, of_place);
    let mut flows = [0; 5];
    events
        .messages(TimeWindow::ALL, &mut |message| {
            flows[message.sender.unwrap().idx()] += 1;
            assert_eq!(message.receiver.unwrap().idx(), 4);
        })
        .unwrap();
    assert_eq!(flows, of_place);
    for (track, nth) in store.track_ids().zip(of_place) {
        let mut values = Vec::new();
        events.values(track, 0, TimeWindow::ALL, &mut |_, value| values.push(value)).unwrap();
        assert_eq!(values, [nth as f64]);
        let mut calls = 0;
        store.visit_calls(track, TimeWindow::ALL, &mut |_| calls += 1).unwrap();
        assert_eq!(calls, nth);
        let mut sums = 0;
        store.sums(track, TimeWindow::ALL, &mut |sum| sums += sum.calls).unwrap();
        assert_eq!(sums, nth);
    }
}
