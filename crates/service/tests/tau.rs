//! TAU's profiles as an analyst asks about them: totals, maps over core counts, and the same story
//! as HPCToolkit tells about the same program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parallax_base::{Folder, MemoryFolder, Source};
use parallax_native::{DiskFolder, MappedFile};
use parallax_protocol::{
    Answer, CostChoice, FlatBy, FlatRequest, InfoRequest, IterationsRequest, PruneChoice,
};
use parallax_service::analysis::report::Finding;
use parallax_service::analysis::scaling::{BaselinePolicy, MapOptions};
use parallax_service::scaling::{
    EnsembleOptions, ScalingContent, ScalingOptions, ScalingSource, open_ensemble, scaling,
};
use parallax_service::{
    Answers as _, Control, OpenExperiment, OpenLimits, TreeRequest, open, open_file,
};
use parallax_testkit::tau as write;

fn corpus() -> Option<PathBuf> {
    parallax_testkit::needs::corpus_path("data")
}

fn folder(path: &Path) -> Arc<dyn Folder> {
    assert!(path.is_dir(), "{path:?}");
    Arc::new(DiskFolder::new(path))
}

fn file(path: &Path) -> Source {
    Arc::new(MappedFile::open(path).unwrap())
}

fn source(path: &Path) -> ScalingSource {
    let content = if path.is_dir() {
        ScalingContent::Folder(folder(path))
    } else {
        ScalingContent::File(file(path))
    };
    ScalingSource { name: path.display().to_string(), content }
}

/// Cores and the seconds of a region at each of them, for one input.
fn seconds(
    answer: &parallax_service::scaling::ScalingAnswer,
    region: usize,
    input: usize,
) -> Vec<(u32, f64)> {
    let grid = &answer.regions[region].grid;
    (0..)
        .zip(grid.cores())
        .filter_map(|(at, &cores)| Some((cores, *grid.repetitions(input, at).first()?)))
        .collect()
}

#[test]
fn packed_profiles_over_core_counts_give_a_map() {
    let Some(data) = corpus() else { return };
    // Largest inclusive time of any rank, by a reader in Python.
    let expected = [
        (2, 638.304974),
        (4, 352.63888),
        (8, 204.587407),
        (16, 164.046608),
        (32, 101.229866),
        (64, 65.118657),
        (128, 45.293116),
        (256, 49.513899),
    ];
    let sources: Vec<ScalingSource> = expected
        .iter()
        .map(|(ranks, _)| source(&data.join(format!("tau/ppk/LoadImbalance-{ranks}.ppk"))))
        .collect();
    let made = open_ensemble(&sources, &EnsembleOptions::default(), &Control::new()).unwrap();
    assert!(made.notes.iter().any(|note| note.contains("values of metric TIME")));
    let maps = MapOptions { baseline: BaselinePolicy::Smallest, ..MapOptions::default() };
    let request = ScalingOptions { maps, ..ScalingOptions::default() };
    let answer = scaling(&made.value, &request).unwrap();
    let found = seconds(&answer, 0, 0);
    assert_eq!(found.len(), expected.len());
    for ((cores, time), (ranks, whole)) in found.into_iter().zip(expected) {
        assert_eq!(cores, ranks);
        assert!((time - whole).abs() < 1e-6, "{ranks} ranks: {time}");
    }
    // GROMACS scatters its particles: with 256 ranks it takes longer than with 128.
    let maps = answer.maps(0).unwrap();
    let efficiency = &maps.efficiency;
    assert!((efficiency.get(0, 0).unwrap() - 1.0).abs() < 1e-12);
    assert!(efficiency.get(0, 7).unwrap() < 0.11);
    assert!(answer.regions.iter().any(|region| region.region.name == "MPI_Alltoall()"));
}

#[test]
fn a_series_of_folders_is_a_map_over_cores_and_inputs() {
    let Some(data) = corpus() else { return };
    let mut sources = Vec::new();
    for ranks in [1, 2, 4, 8, 16] {
        for size in [20, 30, 40, 50, 60] {
            sources.push(source(&data.join(format!("tau/scaling-hpccg/p{ranks}.n{size}/raw"))));
        }
    }
    let made = open_ensemble(&sources, &EnsembleOptions::default(), &Control::new()).unwrap();
    let answer = scaling(&made.value, &ScalingOptions::default()).unwrap();
    assert_eq!(answer.cores, [1, 2, 4, 8, 16]);
    assert_eq!(answer.inputs.len(), 5, "{:?}", answer.inputs);
    for input in 0..5 {
        assert_eq!(seconds(&answer, 0, input).len(), 5);
    }
    // The same function in every run, although each process had another address for it.
    let main = answer
        .regions
        .iter()
        .position(|region| region.region.name == "<hpccg-tau+0x850>")
        .expect("main is one region");
    for input in 0..5 {
        let found = seconds(&answer, main, input);
        assert!(found.len() == 5 && found.iter().all(|(_, time)| *time > 0.0), "{found:?}");
    }
    // Functions stand next to each other, so their times are exclusive and lose only once.
    assert!(made.notes.iter().any(|note| note.contains("exclusive")), "{:?}", made.notes);
    let rest = answer.losses.iter().find(|loss| loss.region == 0).and_then(|loss| loss.share);
    assert!(rest.is_none_or(|share| share.abs() < 0.2), "{rest:?} of the loss is in no function");
}

/// Shares of the time that `main` spends between `MPI_Init` and `MPI_Finalize`.
fn shares(opened: &OpenExperiment, metric: &str) -> Vec<(&'static str, f64)> {
    let cost = CostChoice { metric: Some(metric.to_owned()), ..CostChoice::default() };
    let request =
        FlatRequest { cost, prune: PruneChoice::default(), from: None, by: FlatBy::Function };
    let answer = opened.flat(&request, &Control::new()).unwrap();
    let whole_of = |name: &str| {
        let is_named = |row: &&parallax_engine::FlatRow| {
            let plain = row.name.split(" [").next().unwrap_or(&row.name);
            let plain = plain.split('.').next().unwrap_or(plain);
            plain == name
        };
        answer.rows.iter().filter(is_named).map(|row| row.inclusive).sum::<f64>()
    };
    let regions = ["exchange_halo", "diffuse", "react", "residual", "checkpoint"];
    // HPCToolkit sees the function inlined, as a part of `react`.
    let timing = if metric == "TIME" { whole_of("reaction_rate") } else { 0.0 };
    let times = regions.map(|name| match name {
        "react" => (name, whole_of(name) - timing),
        _ => (name, whole_of(name)),
    });
    let sum: f64 = times.iter().map(|(_, time)| time).sum();
    times.iter().map(|(name, time)| (*name, time / sum)).collect()
}

/// Both tools measured the same program with a grid of 256 x 256, on two cores. TAU timed functions
/// and HPCToolkit sampled, with other numbers of steps; 4 and 8 ranks share the
/// cores, so how long they wait for each other is another one in every run. What TAU says of
/// `reaction_rate` is the cost of timing its first 100,000 calls in a rank and is left out. Then
/// shares differ by less than 15 points, and both say whether computing or waiting takes more:
/// computing up to 4 ranks, waiting with 8.
fn same_story(tau: &Path, hpctoolkit: &Path) {
    let limits = OpenLimits::default();
    let tau = shares(&open(&folder(tau), &limits).unwrap(), "TIME");
    let hpctoolkit = shares(&open(&folder(hpctoolkit), &limits).unwrap(), "realtime");
    println!("TAU        {tau:.3?}\nHPCToolkit {hpctoolkit:.3?}");
    for ((name, one), (_, other)) in tau.iter().zip(&hpctoolkit) {
        assert!((one - other).abs() < 0.15, "{name} {one:.3} {other:.3}");
    }
    let computes = |shares: &[(&str, f64)]| {
        let of = |names: [&str; 2]| -> f64 {
            shares.iter().filter(|(name, _)| names.contains(name)).map(|(_, share)| share).sum()
        };
        of(["react", "diffuse"]) > of(["exchange_halo", "residual"])
    };
    assert_eq!(computes(&tau), computes(&hpctoolkit));
}

#[test]
fn tau_and_hpctoolkit_tell_the_same_story_about_the_same_program() {
    let Some(data) = corpus() else { return };
    for ranks in [1, 2, 4, 8] {
        let tau = data.join(format!("reactor/tau-profiles/p{ranks}"));
        same_story(&tau, &data.join(format!("reactor/hpctoolkit/n256-p{ranks}")));
    }
}

#[test]
fn the_fixtures_of_both_tools_tell_the_same_story() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    same_story(&fixtures.join("reactor-tau/p4"), &fixtures.join("reactor/n256-p4"));
}

#[test]
fn a_packed_profile_answers_the_usual_questions() {
    let Some(data) = corpus() else { return };
    let path = data.join("tau/ppk/LoadImbalance-16.ppk");
    let limits = OpenLimits::default();
    let opened = open_file(&file(&path), "LoadImbalance-16.ppk", &limits).unwrap();
    let info = opened.answer(&InfoRequest {}, &Control::new()).unwrap().reply;
    assert_eq!((info.title.as_str(), info.locations), ("mdrun", 16));
    let time = info.metric_list.iter().find(|metric| metric.name == "TIME").unwrap();
    assert_eq!(time.unit, "s");
    assert!((time.total.unwrap() - 2_495.878_655).abs() < 1e-6);
    let (cost, prune) = (CostChoice::default(), PruneChoice::default());
    let request = FlatRequest { cost, prune, from: None, by: FlatBy::Function };
    let answer = opened.flat(&request, &Control::new()).unwrap();
    assert_eq!(answer.header.metric, "TIME");
    let exclusive: f64 = answer.rows.iter().map(|row| row.exclusive).sum();
    assert!((exclusive - time.total.unwrap()).abs() < 1e-6);
}

#[test]
fn tables_say_which_functions_were_throttled() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/reactor-tau/p4");
    let opened = open(&folder(&fixture), &OpenLimits::default()).unwrap();
    let flat = opened.flat(&FlatRequest::default(), &Control::new()).unwrap();
    let tree = opened.tree(&TreeRequest::default(), &Control::new()).unwrap();
    let marked = |places: Vec<(&str, &str)>| -> Vec<String> {
        let is_marked = |(_, place): &(&str, &str)| place.ends_with("throttled");
        let names = places.into_iter().filter(is_marked).map(|(name, _)| name.to_owned());
        names.collect()
    };
    let of_flat = flat.rows.iter().map(|row| (row.name.as_str(), row.place.as_str()));
    let of_tree = tree.rows.iter().map(|row| (row.label.as_str(), row.place.as_str()));
    assert_eq!(marked(of_flat.collect()), ["reaction_rate"]);
    assert_eq!(marked(of_tree.collect()), ["reaction_rate"]);
    for notes in [&flat.header.notes, &tree.header.notes] {
        assert!(notes.iter().any(|note| note.contains("reaction_rate (throttled)")), "{notes:?}");
    }
}

/// What TAU sampled is a part of the timers around it: all views have the same time in total, that
/// of the timers, and threads of which nothing but samples is known are no hot function.
#[test]
fn sampled_time_is_the_same_in_report_flat_and_tree() {
    let Some(data) = corpus() else { return };
    let opened = [
        open(&folder(&data.join("tau/lulesh-8x2-ebs")), &OpenLimits::default()).unwrap(),
        open_file(&file(&data.join("tau/ppk/matmult.ppk")), "matmult.ppk", &OpenLimits::default())
            .unwrap(),
    ];
    for one in opened {
        let report = one.report(None, &Control::new()).unwrap();
        // As the report counts functions: routines of MPI with what is inside.
        let prune = PruneChoice { mpi: true, lines: true, ..PruneChoice::default() };
        let request = FlatRequest { prune, ..FlatRequest::default() };
        let flat = one.flat(&request, &Control::new()).unwrap();
        let tree = one.tree(&TreeRequest::default(), &Control::new()).unwrap();
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-3 * report.program_total;
        let own: f64 = flat.rows.iter().map(|row| row.exclusive).sum();
        let is_call = |row: &&parallax_service::TreeRow| row.kind == "function";
        let below: f64 = tree.rows.iter().filter(is_call).map(|row| row.exclusive).sum();
        assert!(near(own, report.program_total), "{own} of {}", report.program_total);
        assert!(near(below, report.program_total), "{below} of {}", report.program_total);
        // Functions without call paths stand next to each other, each with what it calls.
        for row in &tree.rows {
            assert!(row.inclusive <= report.program_total * (1.0 + 1e-9), "{}", row.label);
        }
        for function in &report.top_functions {
            let row = flat.rows.iter().find(|row| row.name == function.name).unwrap();
            assert!(near(row.exclusive, function.exclusive), "{}", function.name);
        }
        let hot = report.top_functions.first().unwrap();
        assert!(!hot.name.starts_with("[PTHREAD]"), "{}", hot.name);
        let opened_with_samples = flat
            .rows
            .iter()
            .any(|row| row.name.contains("libgomp") || row.name.contains("compute.omp_fn"));
        assert!(opened_with_samples);
    }
}

/// Profiles that TAU would have written as files of text.
fn written(profiles: &write::Profiles) -> OpenExperiment {
    let files = write::to_text(profiles, 0);
    let files = files.into_iter().map(|(name, text)| (name, text.into_bytes()));
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("run", files));
    open(&folder, &OpenLimits::default()).unwrap()
}

/// A profile in which `main` starts the phases `Step 0` to `Step 4`: 10 ms each, the last 40 ms.
fn stepped() -> OpenExperiment {
    let mut timers = vec![("main".to_owned(), 0.0, 80e3)];
    for step in 0..5 {
        let whole = if step == 4 { 40e3 } else { 10e3 };
        timers.push((format!("main => Step {step}"), whole * 0.1, whole));
        timers.push((format!("main => Step {step} => solve"), whole * 0.9, whole * 0.9));
    }
    let values = (0..).zip(&timers).map(|(timer, &(_, own, whole))| write::Timer {
        timer,
        calls: 1.0,
        subroutines: 0.0,
        values: vec![(own, whole)],
    });
    let profiles = write::Profiles {
        metrics: vec!["TIME".into()],
        groups: vec!["TAU_CALLPATH".into()],
        threads: vec![write::Thread {
            id: [0, 0, 0],
            metadata: Vec::new(),
            timers: values.collect(),
            events: Vec::new(),
        }],
        timers: timers.iter().map(|(name, ..)| (name.clone(), vec![0])).collect(),
        ..write::Profiles::default()
    };
    written(&profiles)
}

#[test]
fn phases_of_a_profile_have_their_totals() {
    let request = IterationsRequest::default();
    let Answer { reply, tables, .. } = stepped().answer(&request, &Control::new()).unwrap();
    assert!(reply.found.is_none());
    assert_eq!(tables.iterations.iteration, [0, 1, 2, 3, 4]);
    for (length, expected) in tables.iterations.length_s.iter().zip([0.01, 0.01, 0.01, 0.01, 0.04])
    {
        assert!((length - expected).abs() < 1e-9, "{length}");
    }
    let first = &reply.notes[0];
    for said in ["5 phases, Step 0 to Step 4", "100.0 % of the run", "the longest is Step 4"] {
        assert!(first.contains(said), "{said}: {first}");
    }
    assert_eq!(reply.notes[1], "Most of their time: solve 90.0 %.");
    // Without phases there is nothing to tell, and a trace is asked for.
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/reactor-tau/p4");
    let other = open(&folder(&fixture), &OpenLimits::default()).unwrap();
    let error = other.answer(&request, &Control::new()).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("no traces"), "{error}");
}

#[test]
fn phases_of_the_corpus_are_iterations() {
    let Some(data) = corpus() else { return };
    let source = file(&data.join("tau/ppk/phases.ppk"));
    let opened = open_file(&source, "phases.ppk", &OpenLimits::default()).unwrap();
    let request = IterationsRequest::default();
    let Answer { reply, tables, .. } = opened.answer(&request, &Control::new()).unwrap();
    // By a reader in Python: 250 phases, the sum and the longest of their inclusive times.
    assert_eq!(tables.iterations.iteration.len(), 250);
    let sum: f64 = tables.iterations.length_s.iter().sum();
    assert!((sum - 0.014653).abs() < 1e-6, "{sum}");
    assert!(reply.notes[0].contains("the longest is Iteration 60"), "{}", reply.notes[0]);
}

#[test]
fn one_imbalance_without_call_paths_is_told_once() {
    let Some(data) = corpus() else { return };
    let opened =
        open_file(&file(&data.join("tau/ppk/wrf.ppk")), "wrf.ppk", &OpenLimits::default()).unwrap();
    let report = opened.diagnose(None, &Control::default()).unwrap().value;
    // The microphysics of rank 10: its driver calls WSM5, which calls WSM52D.
    let of_rank = |finding: &&Finding| finding.text.contains("rank 10");
    let found: Vec<&Finding> = report.findings.iter().filter(of_rank).collect();
    let [one] = found.as_slice() else { panic!("{found:#?}") };
    assert!(one.title.contains("MICROPHYSICS_DRIVER"), "{}", one.title);
    let inside =
        one.evidence.iter().filter(|of| of.what.contains("the same imbalance, on rank 10"));
    let inside: Vec<&str> = inside.map(|of| &*of.what).collect();
    assert!(inside.iter().any(|what| what.contains("WSM52D")), "{inside:?}");
    // Ranks that take longer for the exchange of halos are those that wait longest in MPI.
    assert!(!report.findings.iter().any(|one| one.title.contains("HALO")), "{report:#?}");
}

/// A profile without call paths: seconds by rank in `solve` and `exchange`, and how many of these are
/// in `MPI_Recv`, which both call.
fn flat(ranks: &[[f64; 3]]) -> OpenExperiment {
    let names = ["main", "solve", "exchange", "MPI_Recv()"];
    let threads = (0..).zip(ranks).map(|(node, &[solve, exchange, waiting])| {
        let whole = solve + exchange;
        let values =
            [(0.0, whole), (solve, solve), (exchange - waiting, exchange), (waiting, waiting)];
        let timers = (0..).zip(values).map(|(timer, (own, inclusive))| write::Timer {
            timer,
            calls: 1.0,
            subroutines: 0.0,
            values: vec![(own * 1e6, inclusive * 1e6)],
        });
        write::Thread {
            id: [node, 0, 0],
            metadata: Vec::new(),
            timers: timers.collect(),
            events: Vec::new(),
        }
    });
    let profiles = write::Profiles {
        metrics: vec!["TIME".into()],
        groups: vec!["TAU_DEFAULT".into(), "MPI".into()],
        threads: threads.collect(),
        timers: (0..)
            .zip(names)
            .map(|(at, name)| (name.into(), vec![u32::from(at == 3)]))
            .collect(),
        ..write::Profiles::default()
    };
    written(&profiles)
}

#[test]
fn without_call_paths_waiting_is_told_from_work_by_the_ranks() {
    let uneven = |ranks: &[[f64; 3]]| {
        let report = flat(ranks).diagnose(None, &Control::default()).unwrap().value;
        let titles = report.findings.iter().map(|one| one.title.clone());
        titles.filter(|title| title.contains("imbalance")).collect::<Vec<String>>()
    };
    // Rank 3 computes longest, and the others wait for it.
    let work = |rank: u32| if rank == 3 { 9.0 } else { 5.0 };
    let ranks: Vec<_> =
        (0..8).map(|rank| [work(rank), 10.0 - work(rank), 9.5 - work(rank)]).collect();
    let titles = uneven(&ranks);
    assert!(titles.iter().any(|title| title.contains("solve")), "{titles:?}");
    assert!(!titles.iter().any(|title| title.contains("exchange")), "{titles:?}");
    // Rank 3 waits longest for messages, and the run is as much longer: nothing of this is work.
    let waiting = |rank: u32| if rank == 3 { 6.0 } else { 1.0 };
    let ranks: Vec<_> = (0..8).map(|rank| [4.0, waiting(rank) + 0.5, waiting(rank)]).collect();
    assert_eq!(uneven(&ranks), Vec::<String>::new());
    // All ranks do the same.
    let ranks: Vec<_> = (0..8).map(|rank| [3.0 + 0.01 * f64::from(rank), 7.0, 3.0]).collect();
    assert_eq!(uneven(&ranks), Vec::<String>::new());
}
