//! Waits between threads and GPUs: planted ones, drawn programs against a search by nanoseconds,
//! and odd traces.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::sync::Arc;

use parallax_analysis::events::{
    CriticalPath, Selection, Wait, WaitChoice, WaitKind, Waits, critical_path, idle_devices, waits,
};
use parallax_base::{Control, Folder, Limits, MemorySink, TimeWindow, TrackIdx};
use parallax_engine::Session;
use parallax_import::archive;
use parallax_import::events::{Conversion, MessageRow, TrackIdentity, TrackKind};
use parallax_model::IdentityKind::{GpuStream, Rank, Thread};
use proptest::prelude::*;

/// From, to, name. The group of a name on a stream follows from the name.
type Call = (u64, u64, &'static str);

/// A trace that is put together from calls and flows.
#[derive(Default)]
struct Drawn {
    /// Process or GPU, thread or stream, whether it is a stream, and what it does.
    tracks: Vec<(u64, u64, bool, Vec<Call>)>,
    /// Sending track and time, receiving track and time.
    flows: Vec<(usize, u64, usize, u64)>,
}

impl Drawn {
    fn thread(&mut self, process: u64, thread: u64, calls: &[Call]) -> usize {
        self.tracks.push((process, thread, false, calls.to_vec()));
        self.tracks.len() - 1
    }

    fn stream(&mut self, gpu: u64, stream: u64, calls: &[Call]) -> usize {
        self.tracks.push((gpu, stream, true, calls.to_vec()));
        self.tracks.len() - 1
    }

    fn flow(&mut self, from: usize, send: u64, to: usize, receive: u64) {
        self.flows.push((from, send, to, receive));
    }

    fn session(&self) -> Session {
        let sink = MemorySink::new();
        let mut conversion = Conversion::new(Arc::new(sink.clone()), 1 << 20).unwrap();
        for (process, own, is_stream, calls) in &self.tracks {
            let inner = if *is_stream { GpuStream } else { Thread };
            // Tracks are ordered by process: GPUs come behind all threads, as they are drawn.
            let process = if *is_stream { process + 1000 } else { *process };
            let identity = vec![(Rank, process), (inner, *own)];
            let kind = if *is_stream { TrackKind::Stream } else { TrackKind::Thread };
            let track =
                conversion.track(TrackIdentity { identity, kind, ..TrackIdentity::default() });
            let mut calls = calls.clone();
            calls.sort_by_key(|call| (call.0, u64::MAX - call.1));
            let mut open: Vec<u64> = Vec::new();
            for (start, end, name) in calls {
                let group = match name {
                    "Stream Sync" | "Context Sync" => "cuda_sync",
                    "step" => "gpu_user_annotation",
                    "PyTorch Profiler (0)" => "Trace",
                    _ => "",
                };
                let function = conversion.function(name, group);
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
        for (nth, &(from, send_nanos, to, receive_nanos)) in self.flows.iter().enumerate() {
            let row = MessageRow {
                kind: 1,
                flags: 0,
                sender: u32::try_from(from).unwrap(),
                receiver: u32::try_from(to).unwrap(),
                communicator: 0,
                tag: i64::try_from(nth).unwrap(),
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

/// Track, whom it waits for, from, to, end of the call or the work.
type Planted = (u32, u32, u64, u64, u64);

fn of_kind(found: &Waits, kind: WaitKind) -> Vec<Planted> {
    let row = |w: &Wait| {
        (w.track.get(), w.delayed_by.get(), w.start_nanos, w.end_nanos, w.call_end_nanos)
    };
    found.list.iter().filter(|wait| wait.kind == kind).map(row).collect()
}

fn path_of(session: &Session) -> CriticalPath {
    critical_path(session, &Selection::all(session).unwrap(), &Control::new()).unwrap()
}

fn segments(session: &Session) -> Vec<(u32, u64, u64, String, Option<WaitKind>)> {
    let tree = session.tree();
    path_of(session)
        .segments
        .iter()
        .map(|s| {
            let releases = s.releases.map(|(kind, _)| kind);
            (s.track.get(), s.start_nanos, s.end_nanos, tree.label(s.context), releases)
        })
        .collect()
}

/// A thread that launches at 10 and late at 60, and then waits for the GPU.
fn late() -> Drawn {
    let mut drawn = Drawn::default();
    let thread = drawn.thread(
        1,
        1,
        &[
            (0, 100, "main"),
            (10, 14, "cudaLaunchKernel"),
            (20, 60, "prepare"),
            (60, 64, "cudaLaunchKernel"),
            (70, 95, "cudaDeviceSynchronize"),
        ],
    );
    let stream = drawn.stream(0, 7, &[(15, 40, "first"), (66, 90, "second")]);
    drawn.flow(thread, 10, stream, 15);
    drawn.flow(thread, 61, stream, 66);
    drawn
}

#[test]
fn a_stream_waits_for_its_launch_and_a_thread_for_its_gpu() {
    let session = late().session();
    let waits = found(&session);
    // Until the launching call is entered, wherever in it the flow starts.
    assert_eq!(of_kind(&waits, WaitKind::LateLaunch), [(1, 0, 0, 10, 40), (1, 0, 40, 60, 90)]);
    assert_eq!(of_kind(&waits, WaitKind::ForGpu), [(0, 1, 70, 90, 95)]);
    let tree = session.tree();
    let names: Vec<String> = waits.list.iter().map(|wait| tree.label(wait.context)).collect();
    assert_eq!(names, ["first", "second", "cudaDeviceSynchronize"]);
    assert_eq!(waits.counts.notes(), Vec::<String>::new());
    assert_eq!((waits.counts.gpu_work, waits.counts.synchronisations), (2, 1));
    let expected = [
        (0, 0, 60, "prepare", Some(WaitKind::LateLaunch)),
        (1, 60, 90, "second", Some(WaitKind::ForGpu)),
        // As long in `main` as in the rest of the synchronisation.
        (0, 90, 100, "main", None),
    ];
    let expected: Vec<_> = expected
        .into_iter()
        .map(|(track, from, to, name, releases)| (track, from, to, name.to_owned(), releases))
        .collect();
    assert_eq!(segments(&session), expected);
    // The latency of the launch is on the path, as time of the stream in which nothing runs.
    let path = path_of(&session);
    let root = path
        .parts
        .iter()
        .find(|part| part.track == TrackIdx::new(1) && part.context.get() == 0)
        .unwrap();
    assert_eq!(root.nanos, 6);
}

#[test]
fn what_is_launched_in_time_waits_for_nobody() {
    let mut drawn = late();
    // The same, launched at 30 already.
    drawn.tracks[0].3[2] = (16, 30, "prepare");
    drawn.tracks[0].3[3] = (30, 64, "cudaLaunchKernel");
    let session = drawn.session();
    assert_eq!(of_kind(&found(&session), WaitKind::LateLaunch), [(1, 0, 0, 10, 40)]);
    let tracks: Vec<_> = segments(&session).into_iter().map(|s| (s.0, s.1, s.2)).collect();
    assert_eq!(tracks, [(0, 0, 10), (1, 10, 90), (0, 90, 100)]);
}

#[test]
fn what_tools_write_on_streams_is_no_work() {
    let mut drawn = late();
    // A mark around both kernels, and the synchronisation on a track of its own.
    drawn.tracks[1].3.push((15, 90, "step"));
    let overlap = drawn.stream(0, 7, &[(70, 95, "Stream Sync")]);
    let other = drawn.stream(0, 8, &[(62, 93, "other")]);
    drawn.flow(0, 62, other, 62);
    // To the stream, whichever of its tracks the record is on.
    drawn.flow(0, 70, 1, 70);
    let session = drawn.session();
    let waits = found(&session);
    assert_eq!(
        of_kind(&waits, WaitKind::LateLaunch),
        [(1, 0, 0, 10, 40), (1, 0, 40, 60, 90), (3, 0, 0, 60, 93)]
    );
    // The flow says which stream is waited for; without it, it is all.
    assert_eq!(of_kind(&waits, WaitKind::ForGpu), [(0, 1, 70, 90, 95)]);
    assert!(waits.list.iter().all(|wait| wait.track != TrackIdx::from_len(overlap)));
    drawn.flows.pop();
    assert_eq!(of_kind(&found(&drawn.session()), WaitKind::ForGpu), [(0, 3, 70, 93, 95)]);
    // Nothing of the path goes to the mark.
    let tree = session.tree();
    let path = path_of(&session);
    assert!(path.parts.iter().all(|part| tree.label(part.context) != "step"));
}

#[test]
fn copies_wait_where_the_manual_says_so() {
    let copy = |call: &'static str, name: &'static str| {
        let mut drawn = Drawn::default();
        let thread = drawn.thread(1, 1, &[(0, 100, "main"), (10, 50, call)]);
        let stream = drawn.stream(0, 7, &[(20, 45, name)]);
        drawn.flow(thread, 10, stream, 20);
        of_kind(&found(&drawn.session()), WaitKind::ForGpu)
    };
    let waits = [(0, 1, 10, 45, 50)];
    assert_eq!(copy("cudaMemcpy", "Memcpy HtoD (Pageable -> Device)"), waits);
    assert_eq!(copy("cudaMemcpyAsync", "Memcpy DtoH (Device -> Pageable)"), waits);
    assert_eq!(copy("cudaMemcpyAsync", "Memcpy DtoH (Device -> Pinned)"), []);
    assert_eq!(copy("cudaMemcpyAsync", "Memcpy DtoD (Device -> Device)"), []);
    assert_eq!(copy("cudaLaunchKernel", "kernel"), []);
    assert_eq!(copy("hipStreamSynchronize", "kernel"), waits);
}

#[test]
fn threads_wait_for_gpus_of_their_own_process() {
    let mut drawn = Drawn::default();
    for (process, end) in [(1, 60), (2, 80)] {
        let calls =
            [(0, 100, "main"), (10, 12, "cudaLaunchKernel"), (20, 90, "cudaDeviceSynchronize")];
        let thread = drawn.thread(process, process, &calls);
        let stream = drawn.stream(process - 1, 7, &[(15, end, "kernel")]);
        drawn.flow(thread, 10, stream, 15);
    }
    let waits = found(&drawn.session());
    // The threads come first, and then the streams.
    assert_eq!(of_kind(&waits, WaitKind::ForGpu), [(0, 2, 20, 60, 90), (1, 3, 20, 80, 90)]);
}

#[test]
fn a_gpu_is_idle_when_none_of_its_streams_works() {
    // Two streams of one GPU take turns, so that each waits for half of the time, and the GPU for
    // what its thread does between 45 and 48 only.
    let mut drawn = Drawn::default();
    let launches = [10, 48, 70];
    let mut calls = vec![(0, 130, "main")];
    calls.extend(launches.map(|at| (at, at + 2, "cudaLaunchKernel")));
    let thread = drawn.thread(1, 1, &calls);
    let first = drawn.stream(0, 7, &[(20, 45, "kernel"), (90, 120, "kernel")]);
    let second = drawn.stream(0, 8, &[(50, 90, "kernel")]);
    for (at, stream, start) in [(10, first, 20), (48, second, 50), (70, first, 90)] {
        drawn.flow(thread, at, stream, start);
    }
    let session = drawn.session();
    let waits = found(&session).list;
    let waited: u64 = waits.iter().map(Wait::nanos).sum();
    assert_eq!(waited, 10 + 48 + 25);
    let gpus = idle_devices(&session, &waits, &Control::new()).unwrap();
    let gpu = gpus.first().unwrap();
    // Idle from 45 to 50, between its first and its last work; late until 48.
    assert_eq!((gpus.len(), gpu.streams.len(), gpu.idle_nanos), (1, 2, 5));
    assert_eq!((gpu.late_nanos, gpu.num_launches), (3, 1));
    assert_eq!(gpu.by_thread.values().sum::<u64>(), 3);
}

#[test]
fn communication_counts_where_nothing_else_runs() {
    let mut drawn = late();
    drawn.stream(0, 20, &[(30, 120, "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)")]);
    let session = drawn.session();
    let gpus = idle_devices(&session, &[], &Control::new()).unwrap();
    let gpu = gpus.first().unwrap();
    // Of 90, those in which no kernel of the other stream runs.
    let kernels: u64 = [(30, 40), (66, 90)].iter().map(|(from, to)| to - from).sum();
    assert_eq!((gpus.len(), gpu.communicating_nanos), (1, 90 - kernels));
    assert_eq!(gpu.collectives.values().collect::<Vec<_>>(), [&90]);
}

#[test]
fn those_who_only_look_on_do_not_start_the_path() {
    let mut drawn = late();
    drawn.thread(1, 2, &[(50, 51, "cudaEventQuery"), (110, 120, "cudaEventQuery")]);
    drawn.thread(3, 1, &[(0, 130, "PyTorch Profiler (0)")]);
    drawn.stream(0, 9, &[(70, 125, "Stream Sync")]);
    let session = drawn.session();
    let places: Vec<_> = segments(&session).into_iter().map(|s| (s.0, s.1, s.2)).collect();
    // The stream comes behind three threads.
    assert_eq!(places, [(0, 0, 60), (3, 60, 90), (0, 90, 130)]);
    assert_eq!(path_of(&session).whole_nanos, 130);
}

#[test]
fn odd_traces_are_counted_and_told() {
    // Work that starts before its launch.
    let mut drawn = late();
    drawn.flows[1].1 = 67;
    let waits = found(&drawn.session());
    assert_eq!(of_kind(&waits, WaitKind::LateLaunch), [(1, 0, 0, 10, 40)]);
    assert_eq!(waits.counts.launched_backwards, 1);
    assert!(waits.counts.notes()[0].starts_with("1 of 2 kernels and copies start before"));
    // Streams without anybody, and flows into nothing.
    let mut drawn = Drawn::default();
    let stream = drawn.stream(0, 7, &[(15, 40, "kernel")]);
    let empty = drawn.stream(0, 8, &[]);
    drawn.flow(stream, 15, stream, 16);
    drawn.flow(stream, 15, empty, 16);
    let session = drawn.session();
    assert_eq!(found(&session).list, []);
    assert_eq!(segments(&session).len(), 1);
    // A synchronisation that nothing ends in, and one that ends before the work does.
    let mut drawn = late();
    drawn.tracks[0].3[4] = (70, 89, "cudaDeviceSynchronize");
    let waits = found(&drawn.session());
    assert_eq!((of_kind(&waits, WaitKind::ForGpu), waits.counts.synchronisations), (vec![], 1));
    // A flow that starts outside of any call, and in the call of another kind.
    let mut drawn = late();
    drawn.flows[1].1 = 65;
    let waits = found(&drawn.session());
    assert_eq!(of_kind(&waits, WaitKind::LateLaunch), [(1, 0, 0, 10, 40), (1, 0, 40, 65, 90)]);
}

/// What a thread of a drawn program does next.
#[derive(Debug, Clone)]
enum Do {
    Compute(u64),
    /// On a stream and one of its two tracks: latency, length, length of the launching call.
    Launch(usize, bool, u64, u64, u64),
    /// A copy for which the call waits.
    Copy(usize, u64, u64),
    /// Waits for all streams of the process, and some more.
    Synchronise(u64),
    /// Waits for one stream that the trace names.
    SynchroniseStream(usize, u64),
}

fn action() -> impl Strategy<Value = Do> {
    let stream = 0..2_usize;
    prop_oneof![
        3 => (1..40_u64).prop_map(Do::Compute),
        4 => (stream.clone(), any::<bool>(), 0..9_u64, 1..30_u64, 1..12_u64)
            .prop_map(|(stream, lane, latency, long, call)| {
                Do::Launch(stream, lane, latency, long, call)
            }),
        1 => (stream.clone(), 1..9_u64, 1..30_u64).prop_map(|(s, latency, l)| Do::Copy(s, latency, l)),
        1 => (0..6_u64).prop_map(Do::Synchronise),
        1 => (stream, 0..6_u64).prop_map(|(stream, more)| Do::SynchroniseStream(stream, more)),
    ]
}

/// Work as the oracle knows it.
struct Kernel {
    stream: usize,
    track: usize,
    start: u64,
    end: u64,
    thread: usize,
    launched: u64,
}

/// A call as the oracle knows it.
struct Synchronisation {
    thread: usize,
    start: u64,
    end: u64,
    streams: Vec<usize>,
}

#[derive(Default)]
struct Program {
    drawn: Drawn,
    kernels: Vec<Kernel>,
    synchronisations: Vec<Synchronisation>,
}

const FIRST: u64 = 1000;

/// Runs two processes of two threads and two streams each. Tracks: 4 threads, then for each of 4
/// streams one for work, one for work, and one for records of synchronisations. Times are even but
/// those of these records, which so never start with work.
fn program(actions: &[(usize, Do)]) -> Program {
    let mut out = Program::default();
    for thread in 0..4 {
        out.drawn.thread(10 + thread / 2, thread, &[]);
    }
    for stream in 0..4 {
        for _ in 0..3 {
            out.drawn.stream(stream / 2, stream % 2, &[]);
        }
    }
    let mut now = [FIRST + 2; 4];
    let mut free = [FIRST; 4];
    for (thread, action) in actions {
        let thread = *thread;
        let own = |stream: usize| thread / 2 * 2 + stream;
        let start = now[thread];
        let mut launch =
            |out: &mut Program, stream: usize, lane: bool, latency: u64, long: u64, name| {
                let (latency, long) = (2 * latency, 2 * long);
                let begin = (start + latency).max(free[stream]);
                free[stream] = begin + long;
                let track = 4 + stream * 3 + usize::from(lane);
                out.drawn.tracks[track].3.push((begin, begin + long, name));
                out.drawn.flow(thread, start, 4 + stream * 3, begin);
                let (end, launched) = (begin + long, start);
                out.kernels.push(Kernel { stream, track, start: begin, end, thread, launched });
                end
            };
        let (end, name, streams) = match *action {
            Do::Compute(long) => (start + 2 * long, "work", None),
            Do::Launch(stream, lane, latency, long, call) => {
                launch(&mut out, own(stream), lane, latency, long, "kernel");
                (start + 2 * call, "cudaLaunchKernel", None)
            }
            Do::Copy(stream, latency, long) => {
                let end = launch(&mut out, own(stream), false, latency, long, "copy");
                (end + 2, "cudaMemcpy", Some(vec![own(stream)]))
            }
            Do::Synchronise(more) => {
                let last = free[own(0)].max(free[own(1)]).max(start);
                (last + 2 * more + 2, "cudaDeviceSynchronize", Some(vec![own(0), own(1)]))
            }
            Do::SynchroniseStream(stream, more) => {
                let end = free[own(stream)].max(start) + 2 * more + 2;
                let track = 4 + own(stream) * 3 + 2;
                out.drawn.tracks[track].3.push((end - 1, end, "Stream Sync"));
                out.drawn.flow(thread, start, 4 + own(stream) * 3, end - 1);
                (end, "cudaStreamSynchronize", Some(vec![own(stream)]))
            }
        };
        out.drawn.tracks[thread].3.push((start, end, name));
        if let Some(streams) = streams {
            out.synchronisations.push(Synchronisation { thread, start, end, streams });
        }
        now[thread] = end + 2;
    }
    for (thread, now) in now.into_iter().enumerate() {
        out.drawn.tracks[thread].3.push((FIRST, now + 4, "main"));
    }
    out
}

impl Program {
    /// Late launches, by looking at each nanosecond before a launch.
    fn late_launches(&self) -> Vec<Planted> {
        let mut all = Vec::new();
        for kernel in &self.kernels {
            let is_busy = |nanos: u64| {
                self.kernels.iter().any(|other| {
                    other.stream == kernel.stream
                        && other.start < kernel.start
                        && (other.start..other.end).contains(&nanos)
                })
            };
            let mut since = kernel.launched;
            while since > FIRST && !is_busy(since - 1) {
                since -= 1;
            }
            // Work before it that is still to come when it is launched.
            let is_queued = self.kernels.iter().any(|other| {
                other.stream == kernel.stream
                    && other.start < kernel.start
                    && other.end > kernel.launched
            });
            if since < kernel.launched && !is_queued {
                let (track, thread) = (kernel.track as u32, kernel.thread as u32);
                all.push((track, thread, since, kernel.launched, kernel.end));
            }
        }
        all.sort_unstable();
        all
    }

    /// Waits for GPUs, by looking at each nanosecond of a call.
    fn for_gpus(&self) -> Vec<Planted> {
        let mut all = Vec::new();
        for call in &self.synchronisations {
            let ends_at = |nanos: u64| {
                call.streams.iter().find_map(|&stream| {
                    let mut own = self.kernels.iter().filter(|kernel| kernel.stream == stream);
                    own.find(|kernel| kernel.end == nanos)
                })
            };
            let last = (call.start + 1..=call.end).rev().find_map(ends_at);
            if let Some(kernel) = last {
                let (thread, track) = (call.thread as u32, kernel.track as u32);
                all.push((thread, track, call.start, kernel.end, call.end));
            }
        }
        all.sort_unstable();
        all
    }

    /// The track on which the path is in each nanosecond from the first on.
    fn path(&self, waits: &[Planted]) -> Vec<u32> {
        let ends = self.drawn.tracks.iter().map(|track| track.3.iter().map(|c| c.1).max());
        let ends: Vec<u64> = ends.map(Option::unwrap_or_default).collect();
        let end = *ends.iter().max().unwrap();
        let mut track = ends.iter().position(|&own| own == end).unwrap() as u32;
        let mut out = Vec::new();
        let mut now = end;
        while now > FIRST {
            while let Some(wait) = waits.iter().find(|w| w.0 == track && w.3 == now) {
                track = wait.1;
            }
            out.push(track);
            now -= 1;
        }
        out.reverse();
        out
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn waits_and_path_are_those_of_a_search_by_nanoseconds(
        actions in prop::collection::vec((0..4_usize, action()), 1..40),
        cuts in prop::collection::vec(0..900_u64, 0..3),
    ) {
        let program = program(&actions);
        let session = program.drawn.session();
        let found = found(&session);
        let mut late = of_kind(&found, WaitKind::LateLaunch);
        late.sort_unstable();
        prop_assert_eq!(&late, &program.late_launches());
        let mut for_gpus = of_kind(&found, WaitKind::ForGpu);
        for_gpus.sort_unstable();
        // Of streams that end together any may be named.
        let forget = |list: &[Planted]| -> Vec<_> {
            list.iter().map(|w| (w.0, w.2, w.3, w.4)).collect()
        };
        prop_assert_eq!(forget(&for_gpus), forget(&program.for_gpus()));
        let is_work = |w: &Planted| program.kernels.iter().any(|kernel| {
            kernel.track as u32 == w.1 && kernel.end == w.3
        });
        prop_assert!(for_gpus.iter().all(is_work));
        prop_assert_eq!(found.list.len(), late.len() + for_gpus.len());

        let path = path_of(&session);
        let mut now = FIRST;
        let mut by_nano = Vec::new();
        for segment in &path.segments {
            prop_assert!(segment.start_nanos == now && segment.end_nanos > now);
            by_nano.extend((segment.start_nanos..segment.end_nanos).map(|_| segment.track.get()));
            now = segment.end_nanos;
            for wait in found.list.iter().filter(|wait| wait.track == segment.track) {
                let on_path = TimeWindow::new(segment.start_nanos, segment.end_nanos);
                let waiting = TimeWindow::new(wait.start_nanos, wait.end_nanos);
                prop_assert!(on_path.intersect(waiting).is_empty(), "{:?} in {:?}", wait, segment);
            }
        }
        prop_assert_eq!(path.whole_nanos, now - FIRST);
        prop_assert_eq!(path.parts.iter().map(|part| part.nanos).sum::<u64>(), now - FIRST);
        let mut planted = program.late_launches();
        planted.extend(for_gpus);
        prop_assert_eq!(by_nano, program.path(&planted));

        // Adjacent windows have the waits of the whole.
        let mut edges = vec![0, u64::MAX];
        edges.extend(cuts.iter().map(|cut| FIRST + cut));
        edges.sort_unstable();
        let mut pieces = Vec::new();
        for pair in edges.windows(2) {
            let window = TimeWindow::new(pair[0], pair[1]);
            let tracks = session.traces().unwrap().track_ids().collect();
            let selection = Selection { tracks, window };
            let part = waits(&session, &selection, WaitChoice::ALL, &Control::new()).unwrap();
            pieces.extend(part.list);
        }
        pieces.sort_by_key(|w| (w.kind, w.track, w.start_nanos, w.delayed_by));
        prop_assert_eq!(pieces, found.list);
    }
}
