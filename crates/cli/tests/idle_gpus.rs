//! What the user reads about GPUs that have nothing to do: `idleness --blame` and the report.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::path::Path;
use std::process::{Command, Output};

use parallax_testkit::drawn::draw;
use parallax_testkit::hpctoolkit::{
    ContextKind, Database, Id, LexicalType, Profile, Relation, Sample, WriteOptions, kind,
};

fn call(database: &mut Database, parent: usize, name: &str) -> usize {
    let function = Some(database.function(name));
    let (relation, lexical) = (Relation::Call, LexicalType::Function);
    let node = ContextKind::Node { relation, lexical, function, source: None, point: None };
    database.add_context(Some(parent), node)
}

/// Two ranks with a thread and a stream each. Rank 0 allocates for 6 s, computes for 1 s, and its
/// GPU works for 2 s; rank 1 has twice as much for its GPU.
fn program(folder: &Path) {
    let mut database = draw("CPUTIME (sec)", "main  8.0  8.0");
    let main = 1;
    let setup = call(&mut database, main, "setup(Grid<double, 3>&, std::vector<int> const&)");
    let malloc = call(&mut database, setup, "cudaMalloc");
    let driver = call(&mut database, malloc, "ioctl");
    let solve = call(&mut database, main, "solve");
    let launch = call(&mut database, solve, "cudaLaunchKernel");
    let placeholder = call(&mut database, launch, "<gpu kernel>");
    let kernel = call(&mut database, placeholder, "void saxpy<float>(float*, int)");
    let id = |at: usize| database.contexts[at].id;
    let sample = |&(seconds, context): &(u64, u32)| Sample {
        nanos: 1_700_000_000_000_000_000 + seconds * 1_000_000_000,
        context,
    };
    let thread = [(0, id(driver)), (6, id(solve)), (9, id(main)), (10, 0)];
    let streams = [[(7, id(kernel)), (9, 0)], [(6, id(kernel)), (10, 0)]];
    let mut tracks = Vec::new();
    for (rank, stream) in (0..).zip(streams) {
        let mpi = [Id::node(9), Id::logical(kind::RANK, rank)];
        let cpu = [&mpi[..], &[Id::logical(kind::THREAD, 0)]].concat();
        let gpu = [Id::logical(kind::GPUCONTEXT, 1), Id::logical(kind::GPUSTREAM, 7)];
        tracks.push((cpu, thread.iter().map(sample).collect()));
        tracks.push(([&mpi[..], &gpu].concat(), stream.iter().map(sample).collect()));
    }
    let points: Vec<_> = database.profiles.drain(..).map(|profile| profile.points).collect();
    for (at, (tuple, trace)) in tracks.into_iter().enumerate() {
        let points = if at % 2 == 0 { points[at / 2].clone() } else { Vec::new() };
        database.profiles.push(Profile { tuple, points, trace });
    }
    database.to_files(&WriteOptions::default()).write_to(folder).unwrap();
}

fn parallax(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_parallax"))
        .args(arguments)
        .args(["--color", "never"])
        .env("LC_ALL", "C.UTF-8")
        .current_dir(folder)
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn blame_names_the_calls_that_threads_are_in_while_gpus_are_idle() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path());
    let shown = text(&parallax(folder.path(), &["idleness", "--blame", ".", "--width", "80"]));
    // Rank 0 is idle from 0 to 7 and 9 to 10, rank 1 from 0 to 6.
    assert_eq!(
        shown,
        "\
Blame for GPU idle time: 14.0 s on 2 GPUs

share (%)           exclusive (s)  call path
     85.7 ██████▉              12  main > setup > cudaMalloc
      7.1 ▋                     1  main
      7.1 ▋                     1  main > solve

GPUs

group   GPU idle (%)           idle (s)  no thread (s)  largest blame
rank 0          80.0 ██████▍          8              0  … > setup > cudaMalloc
rank 1          60.0 ████▊            6              0  … > setup > cudaMalloc
"
    );
    let csv = text(&parallax(folder.path(), &["idleness", "--blame", ".", "--format", "csv"]));
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("idle_percent,idle,idle_with_calls,context_id,call_path"));
    let first = lines.next().unwrap();
    assert!(first.starts_with("85.714285714285"), "{first}");
    assert!(first.contains("setup(Grid<double, 3>&, std::vector<int> const&) > cudaMalloc"));
    assert_eq!(lines.count(), 2);
}

#[test]
fn the_report_says_what_keeps_gpus_idle_and_what_they_do() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path());
    let shown = text(&parallax(folder.path(), &["report", ".", "--width", "80"]));
    let words: Vec<&str> = shown.split_whitespace().collect();
    let shown = words.join(" ");
    for part in [
        "GPUs are idle for 70.0 % of their time (14.0 s), rank 0 most (80.0 %).",
        "During idle time, threads are in cudaMalloc called from setup (85.7 %)",
        "main (7.1 %), solve called from main (7.1 %).",
        "Most GPU time: saxpy (100.0 %, mean/max 0.75, most on rank 1).",
        "next: parallax idleness . --blame",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
}

#[test]
fn blame_without_gpus_or_without_traces_says_what_is_missing() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let output = parallax(&fixtures, &["idleness", "--blame", "reactor/n256-p2"]);
    assert_eq!(text(&output), "No GPU streams in this experiment.\n");
    let output = parallax(&fixtures, &["idleness", "--blame", "congested"]);
    assert!(!output.status.success());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("no traces"), "{error}");
}

#[test]
fn threads_of_the_cuda_driver_are_not_blamed_in_exports_of_nsight() {
    let file = "data/other/cloverleaf-nsys/perlmutter-cloverleaf-cuda.sqlite";
    let Some(data) = parallax_testkit::needs::corpus_path(file) else { return };
    let (folder, name) = (data.parent().unwrap(), data.file_name().unwrap().to_str().unwrap());
    // 1 - (union of kernels and copies) / (last end - first start) of all events that are shown.
    let blame = text(&parallax(folder, &["idleness", name, "--blame", "--width", "100"]));
    assert!(blame.contains("62.3") && blame.contains("cudaMalloc"), "{blame}");
    assert!(!blame.contains("poll"), "{blame}");
    let report = text(&parallax(folder, &["report", name, "--width", "100"]));
    assert!(report.contains("Idle GPUs") && report.contains("1 rank"), "{report}");
    assert!(!report.contains("Sleeping and polling: poll"), "{report}");
}
