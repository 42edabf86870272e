//! Traces of many threads, or of deep stacks: what they cost grows with the file, and no faster.

#![allow(unsafe_code, reason = "an allocator that counts cannot be written without it")]
#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Write as _;
use std::sync::Arc;

use parallax_base::{
    Control, Folder, Limits, MemoryFolder, MemorySink, MemorySource, TimeWindow, TrackIdx,
};
use parallax_import::convert::{ConvertOptions, convert, recognise};
use parallax_import::{archive, open_file};
use parallax_model::Experiment;
use parallax_testkit::json_trace::{JsonTrace, Style};
use parallax_testkit::parceive::Program;

/// Counts what the thread of a test allocates.
struct Counting;

thread_local! {
    static ALLOCATED: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged; only sums are kept beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATED.try_with(|sum| sum.set(sum.get() + layout.size() as u64));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Converted {
    experiment: Experiment,
    /// Bytes of the archive.
    archive: u64,
    /// Bytes that were allocated to write it and to open it, one after the other.
    allocated: u64,
}

fn converted(text: String, limits: Limits) -> Result<Converted, String> {
    let before = ALLOCATED.get();
    let files = [("trace.json".to_owned(), text.into_bytes())];
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("run", files));
    let input = recognise(&folder, "trace.json").unwrap().unwrap();
    let sink = MemorySink::new();
    let options = ConvertOptions { limits, ..ConvertOptions::default() };
    convert(&input, "trace.json", Arc::new(sink.clone()), &options, &Control::new())
        .map_err(|error| error.to_string())?;
    let folder: Arc<dyn Folder> = Arc::new(sink.into_folder("archive"));
    let archive = folder.walk().unwrap().iter().map(|entry| entry.len).sum();
    let experiment = archive::open(&folder, &Limits::default()).unwrap();
    Ok(Converted { experiment, archive, allocated: ALLOCATED.get() - before })
}

/// A trace of threads that have one call each, a microsecond after the thread before.
fn threads(count: u64) -> String {
    let mut text = String::from("[");
    for thread in 0..count {
        let comma = if thread == 0 { "" } else { ",\n" };
        let event = format!(r#""ph":"X","name":"f","pid":1,"ts":{thread},"dur":1000000"#);
        let _ = write!(text, r#"{comma}{{{event},"tid":{thread}}}"#);
    }
    text + "]"
}

/// A trace of one thread with calls of equal times: each lies in the one before.
fn nested(depth: u64) -> String {
    let event = r#"{"ph":"X","name":"f","pid":1,"tid":1,"ts":5,"dur":1000}"#;
    let events = vec![event; usize::try_from(depth).unwrap()];
    format!("[{}]", events.join(","))
}

/// Rows of Chimbuko: each rank has one call of a second, a microsecond after the rank before.
fn event_rows(ranks: u64) -> String {
    let row = |rank: u64, code: u64, micros: u64| {
        format!(r#"[0,{rank},0,{code},0,"NA","NA","NA","NA","NA","NA",{micros}]"#)
    };
    let enters = (0..ranks).map(|rank| row(rank, 0, rank));
    let leaves = (0..ranks).map(|rank| row(rank, 1, 1_000_000 + rank));
    format!("[{}]", enters.chain(leaves).collect::<Vec<_>>().join(",\n"))
}

fn kinds(experiment: &Experiment) -> Vec<String> {
    experiment.issues.list().iter().map(|issue| issue.kind.to_owned()).collect()
}

/// Nanoseconds that are spent in calls.
fn nanos(experiment: &Experiment) -> u64 {
    let traces = experiment.traces.as_deref().unwrap();
    let mut sum = 0;
    for track in traces.track_ids() {
        let mut add = |time: parallax_model::ContextTime| sum += time.nanos;
        traces.sums(track, TimeWindow::ALL, &mut add).unwrap();
    }
    sum
}

#[test]
fn a_thread_with_one_call_costs_what_a_call_costs() {
    let small = converted(threads(1_000), Limits::default()).unwrap();
    let large = converted(threads(4_000), Limits::default()).unwrap();
    let per_thread = (large.archive - small.archive) / 3_000;
    assert!(per_thread < 400, "{per_thread} bytes of archive for a thread of one call");
    assert!(large.allocated < 5 * small.allocated, "{} {}", large.allocated, small.allocated);
    assert_eq!(nanos(&large.experiment), 4_000 * 1_000_000_000);
    let traces = large.experiment.traces.as_deref().unwrap();
    assert_eq!(traces.tracks().len(), 4_000);
    // A window cuts each call where it should, although calls of many threads share a batch.
    let from = 500_000_000;
    for track in [0, 1, 1_777, 3_999].map(TrackIdx::new) {
        let mut sum = 0;
        let window = TimeWindow::new(from, u64::MAX);
        traces.sums(track, window, &mut |time| sum += time.nanos).unwrap();
        assert_eq!(sum, 500_000_000 + u64::from(track.get()) * 1_000, "{track:?}");
        let mut calls = Vec::new();
        traces.visit_calls(track, TimeWindow::ALL, &mut |call| calls.push(call)).unwrap();
        assert_eq!(calls.len(), 1);
        assert_eq!(calls[0].start_nanos, u64::from(track.get()) * 1_000);
    }
}

#[test]
fn a_rank_with_few_events_costs_what_its_events_cost() {
    let events = |ranks: u32| {
        let (text, counts) = JsonTrace::new(Style::Codar, ranks, 1).text();
        let found = converted(String::from_utf8(text).unwrap(), Limits::default()).unwrap();
        let records = found.experiment.events.as_deref().unwrap().records();
        assert_eq!(records.len(), ranks as usize);
        let enters: u64 = records.iter().map(|of_track| of_track.enters).sum();
        assert_eq!(enters, counts.entries);
        found
    };
    let rows = |ranks: u64| {
        let found = converted(event_rows(ranks), Limits::default()).unwrap();
        assert_eq!(nanos(&found.experiment), ranks * 1_000_000_000);
        found
    };
    for (small, large) in [(events(1_000), events(4_000)), (rows(1_000), rows(4_000))] {
        let per_rank = (large.archive - small.archive) / 3_000;
        assert!(per_rank < 1_500, "{per_rank} bytes of archive for a rank of few calls");
        assert!(large.allocated < 5 * small.allocated, "{} {}", large.allocated, small.allocated);
    }
}

#[test]
fn deep_stacks_cost_what_their_calls_cost() {
    let small = converted(nested(20_000), Limits::default()).unwrap();
    let large = converted(nested(80_000), Limits::default()).unwrap();
    assert!(large.archive < 5 * small.archive, "{} {}", large.archive, small.archive);
    assert!(large.allocated < 5 * small.allocated, "{} {}", large.allocated, small.allocated);
    let tree = &large.experiment.contexts;
    assert_eq!(tree.iter().map(|context| tree.depth(context)).max(), Some(80_000));
    assert_eq!(nanos(&large.experiment), 1_000_000);
}

#[test]
fn what_nests_deeper_than_the_limit_is_left_out_and_said() {
    let limits = Limits { max_depth: 10, ..Limits::default() };
    let found = converted(nested(50), limits).unwrap();
    let tree = &found.experiment.contexts;
    assert_eq!(tree.iter().map(|context| tree.depth(context)).max(), Some(10));
    assert_eq!(nanos(&found.experiment), 1_000_000, "no time is lost");
    assert!(kinds(&found.experiment).iter().any(|kind| kind.contains("depth-cut")));
    let whole = converted(nested(50), Limits::default()).unwrap();
    assert!(!kinds(&whole.experiment).iter().any(|kind| kind.contains("depth-cut")));
}

#[test]
fn begins_and_ends_beyond_the_limit_belong_together() {
    let mut text = String::from("[");
    for at in 0..20 {
        let _ = write!(text, r#"{{"ph":"B","name":"f{at}","pid":1,"tid":1,"ts":{at}}},"#);
    }
    for at in (0..20).rev() {
        let ts = 40 - at;
        let _ = write!(text, r#"{{"ph":"E","name":"f{at}","pid":1,"tid":1,"ts":{ts}}},"#);
    }
    text.push_str(r#"{"ph":"X","name":"after","pid":1,"tid":1,"ts":50,"dur":7}]"#);
    let found = converted(text, Limits { max_depth: 3, ..Limits::default() }).unwrap().experiment;
    let traces = found.traces.as_deref().unwrap();
    let mut calls = Vec::new();
    let mut visit = |call: parallax_model::Call| calls.push((call.start_nanos, call.end_nanos));
    traces.visit_calls(TrackIdx::new(0), TimeWindow::ALL, &mut visit).unwrap();
    assert_eq!(calls, [(2_000, 38_000), (1_000, 39_000), (0, 40_000), (50_000, 57_000)]);
}

#[test]
fn more_threads_than_memory_has_room_for_are_an_error_that_says_so() {
    let limits = Limits { metadata_bytes: 1 << 20, ..Limits::default() };
    assert!(converted(threads(100), limits).is_ok());
    let error = converted(threads(2_000), limits).err().unwrap();
    assert!(error.contains("threads"), "{error}");
    assert!(error.contains("limit of 1048576"), "{error}");
}

#[test]
fn a_program_that_recurses_deeper_than_the_limit_is_said() {
    let program = Program { depth: 40, ..Program::default() };
    let source = MemorySource::shared(program.bytes());
    let limits = Limits { max_depth: 10, ..Limits::default() };
    let found = open_file(&source, "test.db", &limits).unwrap();
    let tree = &found.contexts;
    assert_eq!(tree.iter().map(|context| tree.depth(context)).max(), Some(10));
    assert!(found.issues.list().iter().any(|issue| issue.kind == "depth-cut"));
}

#[test]
fn a_chain_of_calls_deeper_than_the_limit_keeps_its_costs() {
    let mut text = String::from("events: Ir\n");
    let count = 60;
    for at in 0..count {
        let _ = write!(text, "fn=f{at}\n1 10\n");
        if at + 1 < count {
            let below = 10 * (count - at - 1);
            let _ = write!(text, "cfn=f{}\ncalls=1 1\n1 {below}\n", at + 1);
        }
    }
    let open = |max_depth| {
        let source = MemorySource::shared(text.clone().into_bytes());
        let limits = Limits { max_depth, ..Limits::default() };
        open_file(&source, "callgrind.out.1", &limits).unwrap()
    };
    let (whole, cut) = (open(100_000), open(30));
    let deepest = |x: &Experiment| x.contexts.iter().map(|c| x.contexts.depth(c)).max();
    assert_eq!(deepest(&whole), Some(120));
    assert!(deepest(&cut) <= Some(30), "{:?}", deepest(&cut));
    let is_cut = |x: &Experiment| x.issues.list().iter().any(|issue| issue.kind == "depth-cut");
    assert_eq!((is_cut(&whole), is_cut(&cut)), (false, true));
}
