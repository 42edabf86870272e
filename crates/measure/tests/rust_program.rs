//! A program in Rust that records itself. One process has one recording, so this is one test.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

use std::sync::Mutex;

use parallax_base::{Limits, MemorySource};
use parallax_measure::{
    ThreadMark, allocated, finish, function, instrument, iteration, lock_acquired, lock_releases,
    loop_execution, read, region, released, start, thread_joined, thread_started, update, write,
};

static TOTAL: Mutex<u64> = Mutex::new(0);

fn square(values: &mut [u64]) {
    let _function = function!();
    let _loop = loop_execution!();
    for value in values {
        let _iteration = iteration!();
        update!(*value);
        *value *= *value;
    }
}

#[instrument]
fn add(values: &[u64]) {
    read!(*values);
    let mut total = TOTAL.lock().unwrap();
    lock_acquired!(TOTAL);
    update!(*total);
    *total += values.iter().sum::<u64>();
    lock_releases!(TOTAL);
}

fn whole() {
    let _function = function!();
    let mut values: Vec<u64> = (1..=1000).collect();
    allocated!(*values);
    {
        let _region = region!("prepare");
        write!(*values);
        square(&mut values);
    }
    std::thread::scope(|scope| {
        for half in values.chunks(500) {
            let mark = ThreadMark::new();
            let thread = scope.spawn(move || {
                mark.begins();
                add(half);
            });
            thread_started!(mark);
            thread.join().unwrap();
            thread_joined!(mark);
        }
    });
    released!(*values);
}

#[test]
fn what_a_rust_program_does_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rust.plxm");
    start(&path).unwrap();
    assert!(start(folder.path().join("second.plxm")).is_err());
    whole();
    finish();

    let source = MemorySource::shared(std::fs::read(&path).unwrap());
    let experiment = parallax_import::open_file(&source, "rust.plxm", &Limits::default()).unwrap();
    assert!(experiment.issues.is_empty(), "{:?}", experiment.issues);
    let run = experiment.activations.as_ref().unwrap();
    let tree = &run.tree;
    let count = |kind: &str| tree.iter().filter(|&a| tree.kind(a).name() == kind).count();
    assert_eq!((count("call"), count("loop execution"), count("iteration")), (5, 1, 1000));
    let mut names: Vec<_> = tree
        .iter()
        .filter(|&a| tree.kind(a).name() == "call")
        .map(|a| experiment.contexts.label(tree.context(a)))
        .collect();
    names.sort();
    assert_eq!(names, ["add", "add", "prepare", "square", "whole"]);

    assert_eq!(run.threads.len(), 3);
    let whole = run.threads[0].entry;
    for thread in &run.threads[1..] {
        assert_eq!(thread.creator.map(|creator| creator.site.activation), whole);
    }
    let kinds: Vec<_> = run.syncs.iter().map(|sync| sync.kind.name()).collect();
    let of_one = ["fork", "acquire", "release", "join"];
    assert_eq!(kinds, [of_one, of_one].concat());

    let values = run.references.iter().position(|found| &*found.name == "*values").unwrap();
    assert_eq!(run.references.get(values).unwrap().size_bytes, Some(8000));
    assert!(run.references.get(values).unwrap().freed.is_some());
    let own = run.touches.all().filter(|touch| touch.reference.idx() == values);
    let (reads, writes) = own.fold((0, 0), |sum, t| (sum.0 + t.reads, sum.1 + t.writes));
    assert_eq!((reads, writes), (1000 + 2, 1 + 1000));
}
