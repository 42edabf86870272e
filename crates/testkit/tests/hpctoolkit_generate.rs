//! The generator: its planted answers against the stored bytes, the independent validator,
//! determinism, and what is left behind.

mod common;

use std::collections::HashMap;
use std::path::Path;

use parallax_testkit::hpctoolkit::generate::{
    GENERATOR, GenerateOptions, Imbalance, ImbalanceLaw, MIN_CONTEXTS, Phase, Planted, SlowNodes,
    generate,
};

fn small() -> GenerateOptions {
    GenerateOptions {
        ranks: 24,
        ranks_per_node: 2,
        contexts: 600,
        values_per_rank: 400,
        trace_samples: 150,
        iterations: 12,
        slow_nodes: Some(SlowNodes { count: 3, factor: 5.19 / 3.12 }),
        ..GenerateOptions::default()
    }
}

fn number(bytes: &[u8], offset: usize, size: usize) -> u64 {
    bytes[offset..offset + size].iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
}

fn word(bytes: &[u8], offset: usize) -> usize {
    number(bytes, offset, 8) as usize
}

/// What is needed of a database to look planted answers up.
struct Stored {
    profiles: Vec<u8>,
    traces: Vec<u8>,
}

impl Stored {
    fn read(dir: &Path) -> Self {
        let read = |name: &str| std::fs::read(dir.join(name)).unwrap_or_default();
        Self { profiles: read("profile.db"), traces: read("trace.db") }
    }

    /// Physical ids of a profile: node, rank, thread.
    fn identity(&self, profile: usize) -> [u64; 3] {
        let tuple = word(&self.profiles, 0x40 + 0x30 * profile + 0x20);
        [0, 1, 2].map(|nth| number(&self.profiles, tuple + 8 + 16 * nth + 8, 8))
    }

    fn num_profiles(&self) -> usize {
        number(&self.profiles, 0x38, 4) as usize
    }

    /// Inclusive values of the first metric by context (metric id 3 is its scope `execution`).
    fn inclusive(&self, profile: usize) -> HashMap<u32, f64> {
        let bytes = &self.profiles;
        let info = 0x40 + 0x30 * profile;
        let [num_values, values, index] = [0, 8, 24].map(|at| word(bytes, info + at));
        let num_contexts = number(bytes, info + 16, 4) as usize;
        let mut inclusive = HashMap::new();
        for context in 0..num_contexts {
            let at = index + 12 * context;
            let last = context + 1 == num_contexts;
            let end = if last { num_values } else { word(bytes, at + 16) };
            for value in word(bytes, at + 4)..end {
                let at_value = values + 10 * value;
                if number(bytes, at_value, 2) == 3 {
                    let value = f64::from_bits(number(bytes, at_value + 2, 8));
                    inclusive.insert(number(bytes, at, 4) as u32, value);
                }
            }
        }
        inclusive
    }

    /// Times and contexts of the trace of a profile.
    fn trace(&self, profile: usize) -> Vec<(u64, u32)> {
        let bytes = &self.traces;
        let info = 0x40 + 24 * (profile - 1);
        assert_eq!(number(bytes, info, 4) as usize, profile);
        let (start, end) = (word(bytes, info + 8), word(bytes, info + 16));
        let sample = |at| (number(bytes, at, 8), number(bytes, at + 8, 4) as u32);
        (start..end).step_by(12).map(sample).collect()
    }
}

#[track_caller]
fn assert_close(stored: f64, planted: f64) {
    assert!((stored - planted).abs() <= 1e-9 * planted.max(1.0), "{stored} is not {planted}");
}

#[test]
fn every_phase_takes_its_planted_time() {
    for threads_per_rank in [1, 3] {
        let dir = tempfile::tempdir().unwrap();
        let options = GenerateOptions { threads_per_rank, metrics: 3, ..small() };
        let planted = generate(dir.path(), &options, |_, _, _| ()).unwrap();
        let stored = Stored::read(dir.path());
        assert_eq!(stored.num_profiles(), 1 + 24 * threads_per_rank as usize);
        let mut seen = vec![];
        for profile in 1..stored.num_profiles() {
            let [node, rank, thread] = stored.identity(profile);
            let (rank, thread) = (rank as u32, thread as u32);
            seen.push((rank, thread));
            assert_eq!(node, u64::from(Planted::host_id(rank / 2)));
            assert_eq!(planted.profile_index(rank, thread), Some(profile as u64));
            let inclusive = stored.inclusive(profile);
            let mut total = 0.0;
            for phase in &planted.phases {
                let seconds = planted.phase_seconds(phase.phase, rank, thread);
                assert_close(*inclusive.get(&phase.context_id).unwrap_or(&0.0), seconds);
                total += seconds;
            }
            assert_close(inclusive[&0], total);
            // All threads end together.
            let (start, end) = planted.span_nanos;
            assert_close(total, (end - start) as f64 / 1e9);
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 24 * threads_per_rank as usize);
    }
}

#[test]
fn slow_nodes_are_slow_in_the_planted_call_path_only() {
    let dir = tempfile::tempdir().unwrap();
    let planted = generate(dir.path(), &small(), |_, _, _| ()).unwrap();
    let slow = planted.slow_nodes.as_ref().unwrap();
    assert_eq!(slow.nodes.len(), 3);
    let hosts: Vec<u64> =
        slow.nodes.iter().map(|&node| u64::from(Planted::host_id(node))).collect();
    let of = |phase| planted.phases.iter().find(|planted| planted.phase == phase).unwrap();
    let allreduce = of(Phase::SetupAllreduce);
    assert_eq!(
        allreduce.call_path,
        [
            "main",
            "hypre_GMRESSetup",
            "hypre_BoomerAMGSetup",
            "hypre_ParCSRMatrixSetNumNonzeros_core",
            "MPI_Allreduce"
        ]
    );
    let stored = Stored::read(dir.path());
    for profile in 1..stored.num_profiles() {
        let is_slow = hosts.contains(&stored.identity(profile)[0]);
        let inclusive = stored.inclusive(profile);
        assert_close(inclusive[&allreduce.context_id], if is_slow { 5.19 } else { 3.12 });
        assert_close(inclusive[&of(Phase::Setup).context_id], 1.6);
    }
}

#[test]
fn the_imbalance_follows_its_law() {
    let share_of = |law, rank| {
        let imbalance = Some(Imbalance { law, amplitude: 0.8 });
        let options = GenerateOptions { imbalance, contexts: 100, trace: false, ..small() };
        let dir = tempfile::tempdir().unwrap();
        let planted = generate(dir.path(), &options, |_, _, _| ()).unwrap();
        let compute = planted.phases.iter().find(|p| p.phase == Phase::Compute).unwrap();
        assert_eq!(compute.call_path, ["main", "compute_forces"]);
        let stored = Stored::read(dir.path());
        let profile = planted.profile_index(rank, 0).unwrap() as usize;
        let seconds = stored.inclusive(profile)[&compute.context_id];
        // Twelve iterations of 0.1 s, of which the tenth is half as long again.
        (seconds / (0.1 * 12.5) - 1.0) / 0.8
    };
    assert_close(share_of(ImbalanceLaw::Linear, 23), 1.0);
    assert_close(share_of(ImbalanceLaw::Linear, 10), 10.0 / 23.0);
    assert_close(share_of(ImbalanceLaw::Sine, 6), 1.0);
    assert_close(share_of(ImbalanceLaw::Step { fraction: 0.25 }, 5), 1.0);
    assert_close(share_of(ImbalanceLaw::Step { fraction: 0.25 }, 6), 0.0);
}

#[test]
fn iterations_stand_in_the_traces_as_planted() {
    let dir = tempfile::tempdir().unwrap();
    let planted = generate(dir.path(), &small(), |_, _, _| ()).unwrap();
    assert_eq!(planted.iteration_nanos.len(), 13);
    let lengths: Vec<u64> =
        planted.iteration_nanos.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // 0.2 s and 0.05 s of imbalance; the tenth iteration is half as long again.
    for (iteration, length) in lengths.into_iter().enumerate() {
        let planted: u64 = if iteration == 9 { 375_000_000 } else { 250_000_000 };
        assert!(length.abs_diff(planted) <= 1, "{length}");
    }
    let stored = Stored::read(dir.path());
    let mut samples = 0;
    for rank in 0..24 {
        let profile = planted.profile_index(rank, 0).unwrap() as usize;
        let trace = stored.trace(profile);
        samples += trace.len() as u64;
        assert_eq!(trace[0].0, planted.span_nanos.0);
        assert_eq!(*trace.last().unwrap(), (planted.span_nanos.1, 0));
        let times: Vec<u64> = trace.iter().map(|sample| sample.0).collect();
        for iteration in 0..12 {
            let bounds = planted.iteration_phase_nanos(rank, iteration);
            assert_eq!(bounds[0], planted.iteration_nanos[iteration as usize]);
            assert_eq!(bounds[4], planted.iteration_nanos[iteration as usize + 1]);
            assert!(bounds.iter().all(|bound| times.binary_search(bound).is_ok()));
        }
    }
    assert_eq!(samples, planted.samples);
}

#[test]
fn the_validator_accepts_generated_databases() {
    let dir = tempfile::tempdir().unwrap();
    let variants = [
        small(),
        GenerateOptions { elided: false, metrics: 8, ..small() },
        GenerateOptions { threads_per_rank: 2, trace: false, ..small() },
        GenerateOptions { ranks: 1, slow_nodes: None, imbalance: None, ..small() },
        GenerateOptions { contexts: MIN_CONTEXTS, threads_per_rank: 4, iterations: 1, ..small() },
        GenerateOptions { ranks: 300, contexts: 3000, values_per_rank: 600, ..small() },
    ];
    let mut paths = Vec::new();
    let mut planted = Vec::new();
    for (number, options) in variants.iter().enumerate() {
        paths.push(dir.path().join(number.to_string()));
        planted.push(generate(&paths[number], options, |_, _, _| ()).unwrap());
    }
    let values_per_rank = planted[0].values / 24;
    assert!((360..=440).contains(&values_per_rank), "about 400 were asked for: {values_per_rank}");
    let Some(verdicts) = common::validate(&paths) else { return };
    for ((verdict, options), planted) in verdicts.iter().zip(&variants).zip(&planted) {
        assert_eq!(verdict["contexts"], options.contexts);
        assert_eq!(verdict["profiles"], options.locations() + 1);
        assert_eq!(verdict["samples"].as_u64(), options.trace.then_some(planted.samples));
        assert_eq!(verdict["unknown"] != 0, options.elided, "elided contexts have values");
    }
}

#[test]
fn equal_options_give_equal_bytes_on_any_number_of_cores() {
    let bytes_with = |cores| {
        let dir = tempfile::tempdir().unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(cores).build().unwrap();
        let options = GenerateOptions { ranks: 600, ..small() };
        pool.install(|| generate(dir.path(), &options, |_, _, _| ())).unwrap();
        ["meta.db", "profile.db", "cct.db", "trace.db", "metrics/default.yaml", "planted.json"]
            .map(|name| std::fs::read(dir.path().join(name)).unwrap())
    };
    let one = bytes_with(1);
    assert!(one == bytes_with(3));
    assert!(one.iter().all(|bytes| !bytes.is_empty()));
}

#[test]
fn files_are_complete_or_absent() {
    let dir = tempfile::tempdir().unwrap();
    generate(dir.path(), &small(), |_, _, _| ()).unwrap();
    assert!(dir.path().join("trace.db").exists());
    // A generation that cannot go on leaves no file of its own that looks complete, nor old ones.
    std::fs::create_dir(dir.path().join("cct.db.partial")).unwrap();
    std::fs::remove_file(dir.path().join("cct.db")).unwrap();
    assert!(generate(dir.path(), &small(), |_, _, _| ()).is_err());
    std::fs::remove_dir(dir.path().join("cct.db.partial")).unwrap();
    // Without traces, a trace of an earlier database does not stay.
    let steps = std::cell::RefCell::new(Vec::new());
    let options = GenerateOptions { trace: false, ..small() };
    let record = |done, total, what: &str| steps.borrow_mut().push((what.to_owned(), done, total));
    generate(dir.path(), &options, record).unwrap();
    let mut names: Vec<String> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["cct.db", "meta.db", "metrics", "planted.json", "profile.db"]);
    let steps = steps.into_inner();
    assert!(steps.iter().any(|(what, done, total)| what == "cct.db" && done == total));
}

#[test]
fn the_written_answers_are_the_returned_ones() {
    let dir = tempfile::tempdir().unwrap();
    let planted = generate(dir.path(), &small(), |_, _, _| ()).unwrap();
    let text = std::fs::read_to_string(dir.path().join("planted.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["generator"], GENERATOR);
    assert_eq!(json["iterations"]["count"], 12);
    assert_eq!(json["iterations"]["boundaries_ns"][12], planted.iteration_nanos[12]);
    assert_eq!(json["slow_nodes"]["host_ids"].as_array().unwrap().len(), 3);
    assert_eq!(json["phases"][4]["context_id"], planted.phases[4].context_id);
    assert_eq!(json["values"], planted.values);
    let size = |name: &str| std::fs::metadata(dir.path().join(name)).unwrap().len();
    let sizes = ["meta.db", "profile.db", "cct.db", "trace.db", "metrics/default.yaml"].map(size);
    assert_eq!(planted.bytes, sizes.iter().sum::<u64>());
}

#[test]
fn impossible_options_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("none");
    let slow_nodes = Some(SlowNodes { count: 13, factor: 2.0 });
    for (options, word) in [
        (GenerateOptions { ranks: 0, ..small() }, "ranks"),
        (GenerateOptions { contexts: 63, ..small() }, "contexts"),
        (GenerateOptions { metrics: 9, ..small() }, "metrics"),
        (GenerateOptions { slow_nodes, ..small() }, "12 nodes"),
    ] {
        let error = generate(&target, &options, |_, _, _| ()).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    }
    assert!(!target.exists());
}
