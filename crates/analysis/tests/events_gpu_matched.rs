//! Work without records of its launch: what is matched by time and stream is what the records say,
//! where the trace determines it, and is said to be matched.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::sync::Arc;

use parallax_analysis::events::{
    Basis, Selection, WaitChoice, WaitKind, Waits, critical_path, waits,
};
use parallax_base::{Control, Folder, Limits, MemorySink};
use parallax_engine::Session;
use parallax_import::archive;
use parallax_import::events::{Conversion, MessageRow, TrackIdentity, TrackKind};
use parallax_model::IdentityKind::{GpuStream, Rank, Thread};
use proptest::prelude::*;

/// From, to, name.
type Call = (u64, u64, &'static str);

/// One process: its threads, its streams, and launches: thread and time, stream and time.
#[derive(Debug, Clone, Default)]
struct Process {
    threads: Vec<Vec<Call>>,
    streams: Vec<Vec<Call>>,
    launches: Vec<(usize, u64, usize, u64)>,
}

impl Process {
    fn session(&self, has_records: bool) -> Session {
        let sink = MemorySink::new();
        let mut conversion = Conversion::new(Arc::new(sink.clone()), 1 << 20).unwrap();
        let threads = self.threads.iter().map(|calls| (Thread, TrackKind::Thread, calls));
        let streams = self.streams.iter().map(|calls| (GpuStream, TrackKind::Stream, calls));
        for (nth, (inner, kind, calls)) in (0..).zip(threads.chain(streams)) {
            let identity = vec![(Rank, 0), (inner, nth)];
            let track =
                conversion.track(TrackIdentity { identity, kind, ..TrackIdentity::default() });
            let mut calls = calls.clone();
            calls.sort_by_key(|call| (call.0, u64::MAX - call.1));
            let mut open: Vec<u64> = Vec::new();
            for (start, end, name) in calls {
                let function = conversion.function(name, "");
                let builder = conversion.builder(track).unwrap();
                while let Some(last) = open.pop_if(|last| *last <= start) {
                    builder.leave(last, None);
                }
                builder.enter(start, function);
                open.push(end);
            }
            while let Some(last) = open.pop() {
                conversion.builder(track).unwrap().leave(last, None);
            }
        }
        let launches = self.launches.iter().filter(|_| has_records);
        for (tag, &(thread, send_nanos, stream, receive_nanos)) in (0..).zip(launches) {
            let row = MessageRow {
                kind: 1,
                flags: 0,
                sender: u32::try_from(thread).unwrap(),
                receiver: u32::try_from(self.threads.len() + stream).unwrap(),
                communicator: 0,
                tag,
                bytes: 0,
                send_nanos,
                receive_nanos,
                posted_nanos: u64::MAX,
                completed_nanos: u64::MAX,
            };
            conversion.link(row).unwrap();
        }
        conversion.finish().unwrap();
        let folder: Arc<dyn Folder> = Arc::new(sink.into_folder("memory"));
        Session::new(archive::open(&folder, &Limits::default()).unwrap())
    }
}

fn found(session: &Session) -> Waits {
    let selection = Selection::all(session).unwrap();
    waits(session, &selection, WaitChoice::ALL, &Control::new()).unwrap()
}

/// Kind, track, whom it waits for, from, to.
fn told(waits: &Waits) -> Vec<(WaitKind, u32, u32, u64, u64)> {
    let row = |w: &parallax_analysis::events::Wait| {
        (w.kind, w.track.get(), w.delayed_by.get(), w.start_nanos, w.end_nanos)
    };
    waits.list.iter().map(row).collect()
}

/// Track, from, to, what takes most of it.
fn path(session: &Session) -> Vec<(u32, u64, u64, String)> {
    let selection = Selection::all(session).unwrap();
    let path = critical_path(session, &selection, &Control::new()).unwrap();
    let label = |context| session.tree().label(context);
    let segments = path.segments.iter();
    segments.map(|s| (s.track.get(), s.start_nanos, s.end_nanos, label(s.context))).collect()
}

const LAUNCH: &str = "hipLaunchKernel";
const WAIT: &str = "hipEventSynchronize";

/// A thread that launches, waits, prepares for long, launches again and waits.
fn prepares() -> Process {
    let calls = [
        (0, 200, "main"),
        (10, 14, LAUNCH),
        (20, 50, WAIT),
        (50, 100, "prepare"),
        (100, 104, LAUNCH),
        (110, 195, WAIT),
    ];
    Process {
        threads: vec![calls.to_vec()],
        streams: vec![vec![(15, 48, "first"), (106, 190, "second")]],
        launches: vec![(0, 10, 0, 15), (0, 100, 0, 106)],
    }
}

#[test]
fn the_path_without_records_is_the_path_with_them_and_says_so() {
    let process = prepares();
    let (with, without) = (process.session(true), process.session(false));
    assert_eq!(path(&without), path(&with));
    let names: Vec<String> = path(&without).into_iter().map(|segment| segment.3).collect();
    // From the launch of the second kernel on, the kernel itself.
    assert_eq!(names, ["main", "first", "prepare", "second", "main"]);
    let (recorded, matched) = (found(&with), found(&without));
    assert_eq!(told(&matched), told(&recorded));
    let late = |waits: &Waits| -> Vec<Basis> {
        let late = waits.list.iter().filter(|wait| wait.kind == WaitKind::LateLaunch);
        late.map(|wait| wait.basis).collect()
    };
    assert_eq!(late(&recorded), [Basis::Recorded; 2]);
    assert_eq!(late(&matched), [Basis::Matched; 2]);
    assert_eq!((recorded.counts.matched, recorded.counts.notes()), (0, Vec::new()));
    assert_eq!(matched.counts.matched, 2);
    let notes = matched.counts.notes();
    assert!(notes[0].starts_with("2 of 2 kernels and copies on GPU streams have no launch record"));
    assert!(notes[0].ends_with("by time and stream."), "{notes:?}");
}

#[test]
fn with_several_streams_a_gap_ends_with_the_last_launch_in_it() {
    // The second stream is busy while two more are launched; `late` is the first one's.
    let process = Process {
        threads: vec![vec![
            (0, 300, "main"),
            (10, 12, LAUNCH),
            (20, 22, LAUNCH),
            (90, 92, LAUNCH),
            (100, 102, LAUNCH),
            (110, 280, WAIT),
        ]],
        streams: vec![
            vec![(13, 40, "early"), (104, 270, "late")],
            vec![(23, 150, "busy"), (150, 180, "queued")],
        ],
        launches: vec![(0, 10, 0, 13), (0, 20, 1, 23), (0, 90, 1, 150), (0, 100, 0, 104)],
    };
    let (with, without) = (process.session(true), process.session(false));
    assert_eq!(told(&found(&without)), told(&found(&with)));
    assert_eq!(path(&without), path(&with));
    // The trace does not say for which of the streams the thread waits.
    let waits = found(&without);
    let basis = |kind| waits.list.iter().find(|wait| wait.kind == kind).unwrap().basis;
    assert_eq!(basis(WaitKind::ForGpu), Basis::Matched);
}

#[test]
fn without_calls_that_launch_the_thread_that_waits_for_the_work_launched_it() {
    let mut process = prepares();
    process.threads[0].retain(|call| call.2 != LAUNCH);
    process.threads.push(vec![(0, 200, "watches"), (60, 61, "hipEventQuery")]);
    let session = process.session(false);
    // While it prepares, the thread could have launched the kernel at any time; it counts as
    // launched when it starts.
    let names: Vec<_> = path(&session).into_iter().map(|s| (s.0, s.3)).collect();
    let expected = [(0, "main"), (2, "first"), (0, "prepare"), (2, "second"), (0, "main")];
    assert_eq!(names, expected.map(|(track, name)| (track, name.to_owned())));
    // A kernel that starts while the thread waits already was launched before: in time.
    process.threads[0] = vec![(0, 200, "main"), (20, 195, WAIT)];
    let session = process.session(false);
    let late: Vec<_> =
        told(&found(&session)).into_iter().filter(|w| w.0 == WaitKind::LateLaunch).collect();
    assert_eq!(late, [(WaitKind::LateLaunch, 2, 0, 0, 15)]);
}

#[test]
fn nothing_is_matched_where_nobody_launches_or_waits_or_where_some_records_are_there() {
    let mut process = prepares();
    process.threads[0].retain(|call| call.2 != LAUNCH && call.2 != WAIT);
    let waits = found(&process.session(false));
    assert_eq!((waits.counts.matched, waits.counts.not_launched), (0, 2));
    assert_eq!(waits.list, []);
    let mut process = prepares();
    process.launches.pop();
    let waits = found(&process.session(true));
    assert_eq!((waits.counts.matched, waits.counts.not_launched), (0, 1));
}

/// What the thread of a drawn program does next.
#[derive(Debug, Clone)]
enum Do {
    Compute(u64),
    /// Latency, length, length of the launching call.
    Launch(u64, u64, u64),
    /// Latency and length of a copy for which the call waits.
    Copy(u64, u64),
    /// Waits for the stream, and some more.
    Wait(u64),
}

fn action() -> impl Strategy<Value = Do> {
    prop_oneof![
        3 => (1..40_u64).prop_map(Do::Compute),
        4 => (0..9_u64, 1..30_u64, 1..12_u64).prop_map(|(a, b, c)| Do::Launch(a, b, c)),
        1 => (1..9_u64, 1..30_u64).prop_map(|(a, b)| Do::Copy(a, b)),
        2 => (0..6_u64).prop_map(Do::Wait),
    ]
}

/// One thread with one stream, which runs work in the order of its launches.
fn program(actions: &[Do]) -> Process {
    let (mut calls, mut work, mut launches) = (Vec::new(), Vec::new(), Vec::new());
    let (mut now, mut free) = (1002, 1000);
    for action in actions {
        let mut start = |latency: u64, long: u64, name| {
            let begin = (now + latency).max(free);
            free = begin + long;
            work.push((begin, free, name));
            launches.push((0, now, 0, begin));
            free
        };
        let (end, name) = match *action {
            Do::Compute(long) => (now + long, "work"),
            Do::Launch(latency, long, call) => {
                start(latency, long, "kernel");
                (now + call, LAUNCH)
            }
            Do::Copy(latency, long) => (start(latency, long, "Memcpy HtoD") + 2, "hipMemcpy"),
            Do::Wait(more) => (free.max(now) + more + 1, WAIT),
        };
        calls.push((now, end, name));
        now = end + 1;
    }
    calls.push((1000, now + 4, "main"));
    Process { threads: vec![calls], streams: vec![work], launches }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn one_stream_needs_no_records(actions in prop::collection::vec(action(), 1..40)) {
        let process = program(&actions);
        let (with, without) = (process.session(true), process.session(false));
        prop_assert_eq!(told(&found(&without)), told(&found(&with)));
        prop_assert_eq!(path(&without), path(&with));
        let counts = found(&without).counts;
        prop_assert_eq!((counts.matched, counts.not_launched), (counts.gpu_work, 0));
    }
}
