//! Recordings of the project's runtime as experiments: a real program, and damage.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

use std::path::Path;

use parallax_base::{ActivationIdx, Limits, MemorySource, ThreadIdx};
use parallax_import::{is_experiment_file, open_file};
use parallax_model::{ActivationKind, Activations, Experiment, StorageClass, SyncKind};
use parallax_testkit::random;

/// Rows of the picture of `image.c`.
const HEIGHT: u64 = 32;

fn recording() -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/measured");
    std::fs::read(folder.join("image.plxm")).unwrap()
}

fn image() -> Experiment {
    let source = MemorySource::shared(recording());
    assert!(is_experiment_file(&source));
    open_file(&source, "image.plxm", &Limits::default()).unwrap()
}

fn activations(experiment: &Experiment) -> &Activations {
    experiment.activations.as_ref().unwrap()
}

/// The only call of a function or region.
fn call(experiment: &Experiment, name: &str) -> ActivationIdx {
    let tree = &activations(experiment).tree;
    let is_it = |&a: &ActivationIdx| {
        tree.kind(a) == ActivationKind::Call && experiment.contexts.label(tree.context(a)) == name
    };
    let found: Vec<_> = tree.iter().filter(is_it).collect();
    assert_eq!(found.len(), 1, "calls of {name}");
    found[0]
}

#[test]
fn everything_that_the_program_did_is_there_once() {
    let experiment = image();
    assert!(experiment.issues.is_empty(), "{:?}", experiment.issues);
    assert_eq!(experiment.metadata.title, "image");
    let run = activations(&experiment);
    // main, picture, load, brighten, brightness, smooth, sharpen, two workers; a call each row.
    assert_eq!(run.tree.count(ActivationKind::Call), 9 + HEIGHT);
    assert_eq!(run.tree.count(ActivationKind::LoopExecution), 4 + 2);
    // Smoothing leaves out the first row; each worker asks once in vain.
    assert_eq!(run.tree.count(ActivationKind::Iteration), 3 * HEIGHT + (HEIGHT - 1) + HEIGHT + 2);
    assert_eq!(run.threads.len(), 3);
    let count = |kind| run.syncs.iter().filter(|sync| sync.kind == kind).count() as u64;
    assert_eq!((count(SyncKind::Fork), count(SyncKind::Join)), (2, 2));
    assert_eq!((count(SyncKind::Acquire), count(SyncKind::Release)), (HEIGHT + 2, HEIGHT + 2));
    assert_eq!(experiment.contexts.check(), Ok(()));
    // Regions and calls nest as they are written.
    let (load, picture) = (call(&experiment, "load"), call(&experiment, "picture"));
    assert_eq!(run.tree.parent(load), Some(picture));
    assert_eq!(run.tree.parent(picture), Some(call(&experiment, "main")));
    // The line of a region is in the function around it; who calls a function does not say where.
    assert!(run.tree.line(picture) > 0);
    assert_eq!(run.tree.line(load), 0);
    let time = |activation| run.tree.time(activation);
    assert!(time(load).end_nanos <= time(call(&experiment, "brighten")).start_nanos);
    assert!(run.tree.iter().all(|a| !run.tree.is_estimated(a)));
    let is_plausible = run.clock.ticks_per_second > 1e6 && !run.clock.is_assumed;
    assert!(is_plausible && run.clock.wall_origin_nanos.unwrap() > 1_600_000_000_000_000_000);
}

#[test]
fn references_have_names_sizes_and_places() {
    let experiment = image();
    let run = activations(&experiment);
    let named = |name: &str| -> Vec<_> {
        (0_u32..).zip(run.references.iter()).filter(|(_, found)| &*found.name == name).collect()
    };
    for name in ["image", "bright", "sharp"] {
        let found = named(name);
        let [(_, allocation)] = &found[..] else { panic!("{name}: {found:?}") };
        assert_eq!(allocation.size_bytes, Some(HEIGHT * 64 * 4));
        assert!(allocation.storage.contains(StorageClass::HEAP));
        assert_eq!(allocation.allocated.unwrap().activation, call(&experiment, "main"));
        assert!(allocation.freed.unwrap().line > allocation.allocated.unwrap().line);
    }
    // A local variable of each call; a lock is one reference.
    assert_eq!(named("middle").len() as u64, HEIGHT);
    assert_eq!(named("lock").len(), 1);
    let sum = |name: &str| {
        let at = named(name)[0].0;
        let own = run.touches.all().filter(|touch| touch.reference.get() == at);
        own.fold((0, 0), |sum, touch| (sum.0 + touch.reads, sum.1 + touch.writes))
    };
    let height = u32::try_from(HEIGHT).unwrap();
    assert_eq!(sum("total"), (height, height));
    assert_eq!(sum("image"), (height, height));
    assert_eq!(sum("next_row"), (height + 2, height + 2));
    assert_eq!(sum("bright"), (height + height - 1 + height, height + height - 1));
    // Rows are distinguished by their addresses.
    let mut rows: Vec<_> = (0..run.touches.len())
        .filter(|&at| run.touches.get(at).unwrap().reference.get() == named("image")[0].0)
        .map(|at| run.touches.bytes(at).unwrap())
        .collect();
    rows.sort_by_key(|row| row.start);
    rows.dedup();
    assert_eq!(rows.len() as u64, HEIGHT);
    assert!(rows.windows(2).all(|pair| pair[0].end == pair[1].start));
}

#[test]
fn threads_know_who_started_them_and_are_waited_for() {
    let experiment = image();
    let run = activations(&experiment);
    let sharpen = call(&experiment, "sharpen");
    assert_eq!(run.threads[0].creator, None);
    for thread in &run.threads[1..] {
        let creator = thread.creator.unwrap();
        assert_eq!((creator.thread, creator.site.activation), (ThreadIdx::new(0), sharpen));
        let entry = thread.entry.unwrap();
        assert_eq!(experiment.contexts.label(run.tree.context(entry)), "worker");
        assert!(thread.wall_start_nanos < thread.wall_end_nanos);
    }
    let others = |kind| -> Vec<_> {
        let of = run.syncs.iter().filter(|sync| sync.kind == kind);
        of.map(|sync| sync.other_thread.unwrap().get()).collect()
    };
    let mut forks = others(SyncKind::Fork);
    forks.sort_unstable();
    assert_eq!(forks, [1, 2]);
    // What a thread does comes after its start and before the wait for it.
    let first = |thread: u32| {
        let own = run.tree.iter().filter(|&a| run.tree.thread(a).get() == thread);
        let touches = own.flat_map(|a| run.touches.of(a));
        touches.fold((u32::MAX, 0), |at, t| (at.0.min(t.first), at.1.max(t.first)))
    };
    for sync in &run.syncs {
        let Some(other) = sync.other_thread else { continue };
        let (begin, end) = first(other.get());
        match sync.kind {
            SyncKind::Fork => assert!(sync.sequence <= begin),
            _ => assert!(sync.sequence > end),
        }
    }
    let locks: Vec<_> = run.syncs.iter().filter_map(|sync| sync.lock).collect();
    assert_eq!(locks.len() as u64, 2 * (HEIGHT + 2));
    assert!(locks.windows(2).all(|pair| pair[0] == pair[1]));
    // The lock is held by one at a time.
    let kinds: Vec<_> =
        run.syncs.iter().filter(|s| s.lock.is_some()).map(|s| (s.kind, s.activation)).collect();
    for pair in kinds.chunks(2) {
        assert_eq!((pair[0].0, pair[1].0), (SyncKind::Acquire, SyncKind::Release));
        assert_eq!(pair[0].1, pair[1].1);
    }
}

/// A recording of threads with one handle and these records each; place 1 is a function, 2 a
/// variable, and time begins at 0.
fn written(threads: &[&[u8]]) -> Experiment {
    let mut bytes = b"PLXM\r\n\x1a\n".to_vec();
    bytes.extend([1_u32, 64].map(u32::to_le_bytes).concat());
    bytes.extend([1_000_000_000_u64, 0, 0, 1].map(u64::to_le_bytes).concat());
    bytes.resize(64, 0);
    let mut chunk = |kind: u32, thread: u64, handle: u64, records: &[u8]| {
        let length = (64 + records.len()).next_multiple_of(64);
        let end = bytes.len() + length;
        bytes.extend(b"PLXCHUNK");
        bytes.extend((length as u64).to_le_bytes());
        bytes.extend([kind, 0].map(u32::to_le_bytes).concat());
        bytes.extend([thread, handle, 0, 0, 0].map(u64::to_le_bytes).concat());
        bytes.extend(records);
        bytes.resize(end, 0);
    };
    chunk(1, 0, 0, b"\x01\x01\x01\x07\x00\x03a.c\x04main\x01\x02\x04\x09\x01x\x03a.c\x04main");
    for (number, records) in (0_u64..).zip(threads) {
        chunk(2, number, if number == 0 { 1 } else { 7 }, records);
    }
    open_file(&MemorySource::shared(bytes), "written.plxm", &Limits::default()).unwrap()
}

#[test]
fn a_thread_that_runs_before_its_start_is_recorded_comes_after_it_all_the_same() {
    // Starts and waits at 100 and 110, then at 120 and 125: two threads, one after the other, that
    // the program knows by the same handle.
    let main = b"\x01\x00\x01\x0a\x09\x02\x07\x5a\x0a\x02\x07\x0a\x09\x02\x07\x0a\x0a\x02\x07\x05\x04\x00\x01";
    // They write x at 50 and at 115, before the program says that it started them.
    let first = b"\x01\x00\x01\x32\x06\x02\x10\x08\x04\x00\x01";
    let second = b"\x01\x00\x01\x73\x06\x02\x10\x08\x04\x00\x01";
    let experiment = written(&[main, first, second]);
    assert!(experiment.issues.is_empty(), "{:?}", experiment.issues);
    let run = activations(&experiment);
    let syncs: Vec<_> =
        run.syncs.iter().map(|s| (s.kind, s.other_thread.unwrap().get(), s.sequence)).collect();
    let expected = [
        (SyncKind::Fork, 1, 0),
        (SyncKind::Join, 1, 1),
        (SyncKind::Fork, 2, 1),
        (SyncKind::Join, 2, 2),
    ];
    assert_eq!(syncs, expected);
    let starts: Vec<_> = run.threads.iter().map(|thread| thread.creator).collect();
    assert!(starts[0].is_none() && starts[1].is_some() && starts[2].is_some());
    // Times are as they were recorded; the first event of all is at 10.
    assert_eq!(run.tree.time(run.threads[1].entry.unwrap()).start_nanos, 40);
}

#[test]
fn marks_that_do_not_fit_each_other_are_said() {
    // main, a call that is never left, another one beside it, an iteration without a loop in which
    // x is written, and the end of main; then x is read outside of all.
    let records = b"\x01\x00\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x03\x02\x01\x06\x02\x10\x08\x04\x02\x01\x04\x01\x01\x04\x00\x01\x05\x02\x00\x08";
    let experiment = written(&[records]);
    let kinds: Vec<_> = experiment.issues.list().iter().map(|issue| issue.kind).collect();
    assert_eq!(kinds, ["event-without-call", "iteration-without-loop", "scope-left-late"]);
    let tree = &activations(&experiment).tree;
    let parents: Vec<_> = tree.iter().map(|a| tree.parent(a).map(ActivationIdx::get)).collect();
    assert_eq!(parents, [None, Some(0), Some(0)]);
    let touches = activations(&experiment).touches.of(ActivationIdx::new(2));
    assert_eq!(touches.map(|touch| touch.writes).sum::<u32>(), 1);
}

/// Opens damaged bytes: an experiment that keeps its promises, or an error.
fn survive(bytes: Vec<u8>, what: &str) -> u64 {
    let limits = Limits { metadata_bytes: 64 << 20, ..Limits::default() };
    let source = MemorySource::shared(bytes);
    let Ok(experiment) = open_file(&source, "damaged.plxm", &limits) else { return 0 };
    assert_eq!(experiment.contexts.check(), Ok(()), "{what}");
    let run = activations(&experiment);
    let tree = &run.tree;
    for activation in tree.iter() {
        let (time, below) = (tree.time(activation), tree.subtree(activation));
        assert!(time.start_nanos <= time.end_nanos && below.end <= tree.len(), "{what}");
        assert!(tree.context(activation).idx() < experiment.contexts.len(), "{what}");
        assert!(tree.thread(activation).idx() < run.threads.len(), "{what}");
    }
    for sync in &run.syncs {
        assert!(sync.activation.idx() < tree.len(), "{what}");
        assert!(sync.lock.is_none_or(|lock| lock.idx() < run.references.len()), "{what}");
        assert!(sync.other_thread.is_none_or(|t| t.idx() < run.threads.len()), "{what}");
    }
    assert!(run.touches.all().all(|t| t.reference.idx() < run.references.len()), "{what}");
    tree.len() as u64
}

#[test]
fn what_is_left_of_a_file_is_an_experiment() {
    let whole = recording();
    let mut most = 0;
    for len in (0..whole.len()).step_by(97) {
        most = most.max(survive(whole[..len].to_vec(), &format!("the first {len} bytes")));
    }
    let all = survive(whole, "all");
    assert!(most > all / 2, "{most} activations of {all}");
}

#[test]
fn flipped_bits_never_stop_the_reader() {
    let whole = recording();
    // Zeros at the ends of chunks are not interesting.
    let used: Vec<usize> = (0..whole.len()).filter(|&at| whole[at] != 0).collect();
    let mut random = random::numbers(0x2545_f491_4f6c_dd1d);
    let mut next = || usize::try_from(random() >> 33).unwrap();
    for round in 0..1500 {
        let mut bytes = whole.clone();
        for _ in 0..=round % 8 {
            let at = used[next() % used.len()];
            bytes[at] ^= 1 << (next() % 8);
        }
        survive(bytes, &format!("round {round}"));
    }
}
