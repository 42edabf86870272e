//! Iterations of planted programs, of programs that have none, and of real ones.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops where it cannot go on")]

mod events_support;
mod report_support;

use std::path::Path;
use std::sync::Arc;

use events_support::{Do, trace};
use parallax_analysis::events::Activities;
use parallax_analysis::iterations::{
    ContextStatistics, Cube, Finding, IterationState, Iterations, IterationsQuestion,
    LocationGroup, MapOf, Method, Spread, Statistics, Units, find_iterations, map_of, trees,
};
use parallax_base::{ContextIdx, Control, Folder, MemorySink, TimeWindow};
use parallax_engine::Session;
use parallax_import::convert::{ConvertOptions, convert, recognise};
use parallax_native::DiskFolder;
use parallax_testkit::hpctoolkit::Database;
use parallax_testkit::hpctoolkit::iterations::{
    IterationPlan, PlannedPhase, Recording, START_NANOS, gamess,
};
use proptest::prelude::*;
use report_support::{corpus, open, open_folder, open_path};

const MS: u64 = 1_000_000;

fn ask(session: &Session) -> Finding {
    ask_with(session, Vec::new())
}

fn ask_with(session: &Session, marker: Vec<ContextIdx>) -> Finding {
    let tracks = session.traces().unwrap().track_ids().collect();
    let question = IterationsQuestion { tracks, window: TimeWindow::ALL, marker };
    find_iterations(session, &question, &Control::new()).unwrap()
}

fn found(session: &Session) -> (Iterations, Statistics) {
    let finding = ask(session);
    let why = format!("{:?}", finding.groups);
    finding.iterations.unwrap_or_else(|| panic!("no iterations: {why}"))
}

fn units(session: &Session) -> Units {
    Units::new(session.tree(), &Activities::new(session.tree()))
}

fn cube_of(session: &Session, iterations: &Iterations) -> Cube {
    Cube::read(session, iterations, &units(session), &Control::new()).unwrap()
}

fn round(value: f64, digits: i32) -> f64 {
    let factor = 10_f64.powi(digits);
    (value * factor).round() / factor
}

#[test]
fn the_table_of_gamess_comes_out_of_its_traces() {
    let session = open(&gamess().database());
    let (iterations, statistics) = found(&session);
    let cube = cube_of(&session, &iterations);
    assert_eq!(iterations.group, LocationGroup::GpuStreams);
    assert_eq!(iterations.locations_name(), "GPU streams");
    assert_eq!((iterations.streams.len(), iterations.len()), (8, 11));
    assert_eq!(iterations.count(IterationState::Whole), 11);
    let tree = session.tree();
    // Kernel, mean, max and saving of an iteration, total saving, balance ratio: Tables IV and V.
    let expected = [
        ("gpu_rhf_j05_ppps_", 2.963, 4.650, 1.687, 18.557, 0.64),
        ("gpu_rhf_j06_pppp_", 2.483, 2.599, 0.116, 1.276, 0.96),
        ("gpu_rhf_j03_ppss_", 0.734, 0.945, 0.211, 2.321, 0.79),
        ("gpu_rhf_j04_psps_", 0.483, 0.958, 0.475, 5.225, 0.50),
        ("gpu_rhf_j02_psss_", 0.239, 0.300, 0.061, 0.671, 0.80),
        ("gpu_rhf_j01_ssss_", 0.007, 0.010, 0.003, 0.033, 0.68),
    ];
    assert_eq!(statistics.contexts.len(), expected.len());
    for (row, (name, mean, max, saving, total, ratio)) in statistics.contexts.iter().zip(expected) {
        assert_eq!(tree.label(row.context), name);
        assert_eq!(round(row.mean_seconds, 3), mean, "{name}");
        assert_eq!(round(row.max_seconds, 3), max, "{name}");
        assert_eq!(round(row.saving_seconds, 3), saving, "{name}");
        assert_eq!(round(row.total_saving_seconds, 3), total, "{name}");
        assert_eq!(round(row.balance_ratio, 2), ratio, "{name}");
    }
    let sum: f64 = statistics.contexts.iter().map(|row| row.total_saving_seconds).sum();
    assert_eq!(round(sum, 2), 28.08);
    assert_eq!(round(sum / 87.0 * 100.0, 2), 32.28);
    // But the GPUs wait for less: of their iterations they compute the rest of the time.
    let planned: u64 = gamess().phases.iter().flat_map(|p| p.nanos.iter().flatten()).sum();
    let waited = (iterations.span().nanos() as f64 - planned as f64 / 8.0) / 1e9;
    assert!((statistics.waited_seconds - waited).abs() < 1e-6, "{}", statistics.waited_seconds);
    assert_eq!(statistics.saving_seconds, statistics.waited_seconds);
    let told = statistics.contexts[0].potential_saving(None, &statistics);
    assert_eq!(told, Some(statistics.waited_seconds));
    let shares: Vec<f64> =
        statistics.contexts.iter().map(|row| round(row.share * 100.0, 1)).collect();
    assert_eq!(shares, [42.9, 35.9, 10.6, 7.0, 3.5, 0.1]);
    // Every cell is what was planted.
    let plan = gamess();
    for (number, phase) in plan.phases.iter().enumerate() {
        let row = statistics.contexts.iter().find(|r| tree.label(r.context) == phase.name);
        let times = cube.of_context(row.unwrap().context);
        let planted: Vec<u64> = phase.nanos.iter().flatten().copied().collect();
        assert_eq!(times, planted, "phase {number}");
        let wanted = MapOf::Context(Some(row.unwrap().context));
        let units = units(&session);
        let map = map_of(&session, &iterations, &units, wanted, &Control::new()).unwrap();
        assert_eq!(map, planted, "phase {number}");
    }
}

#[test]
fn iterations_of_any_length_are_known_by_their_order() {
    let names = ["setup", "assemble", "exchange", "solve", "check"];
    let ranks: Vec<Vec<(u64, Do)>> = (0..2)
        .map(|rank| {
            let mut steps = vec![(0, Do::Enter("main"))];
            let mut at = 0;
            let mut call = |name, nanos: u64| {
                steps.push((at, Do::Enter(name)));
                at += nanos;
                steps.push((at, Do::Leave));
                at += 1000;
            };
            call("read", 50 * MS);
            for i in 0..20 {
                // The longest is thirty times as long as the shortest.
                let times = (2.5 * noise(5, 0, 0, i)).exp2() * 3e6;
                for (number, name) in names.iter().enumerate() {
                    let own = 1.0 + 0.4 * noise(9, number, rank, i);
                    call(name, (times * own) as u64);
                }
            }
            call("write", 30 * MS);
            steps.push((at, Do::Leave));
            steps
        })
        .collect();
    let session = trace(&ranks);
    let (iterations, _) = found(&session);
    let cube = cube_of(&session, &iterations);
    let repetition = iterations.repetition.as_ref().unwrap();
    assert!(
        repetition.method == Method::Order && repetition.regular_share == 1.0,
        "{repetition:?}"
    );
    assert_eq!((iterations.len(), iterations.streams.len()), (20, 2));
    assert_eq!(session.tree().label(iterations.marker[0]), "setup");
    let inside: Vec<String> = cube.contexts.iter().map(|&c| session.tree().label(c)).collect();
    assert!(names.iter().all(|name| inside.contains(&(*name).to_owned())), "{inside:?}");
    assert!(!inside.contains(&"read".to_owned()) && !inside.contains(&"write".to_owned()));
}

/// A program of `locations`, each phase as long as `nanos` says, times a jitter.
fn program(
    recording: Recording,
    locations: usize,
    iterations: usize,
    period: u64,
    shares: &[f64],
    jitter: &dyn Fn(usize, usize, usize) -> f64,
) -> IterationPlan {
    let phases = shares
        .iter()
        .enumerate()
        .map(|(number, share)| PlannedPhase {
            name: format!("phase_{number}"),
            pieces: 1 + number as u32 % 2,
            nanos: (0..locations)
                .map(|l| {
                    let nanos = |i| share * period as f64 * jitter(number, l, i);
                    (0..iterations).map(|i| nanos(i) as u64).collect()
                })
                .collect(),
        })
        .collect();
    IterationPlan {
        title: "planted".into(),
        caller: "step".into(),
        phases,
        begins_nanos: (0..iterations as u64).map(|i| 300 * MS + i * period).collect(),
        span_nanos: 500 * MS + iterations as u64 * period,
        recording,
        waiting_ranks: 0,
    }
}

/// A number from -1 to 1 that looks random.
fn noise(seed: u64, a: usize, b: usize, c: usize) -> f64 {
    let mut x = seed ^ (a as u64) << 40 ^ (b as u64) << 20 ^ c as u64;
    for _ in 0..3 {
        x = x.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (x >> 29);
    }
    (x >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn noise_of_five_percent_does_not_hide_iterations(
        seed in any::<u64>(),
        locations in 1_usize..5,
        iterations in 10_usize..40,
        is_gpu in any::<bool>(),
    ) {
        let recording =
            if is_gpu { Recording::GpuStreams } else { Recording::Samples(2 * MS) };
        let jitter = |p, l, i| 1.0 + 0.05 * noise(seed, p, l, i);
        let plan = program(recording, locations, iterations, 60 * MS, &[0.3, 0.25, 0.2, 0.1], &jitter);
        let mut database = plan.database();
        // And five of a hundred samples of threads are of something else.
        if !is_gpu {
            let contexts: Vec<u32> = database.contexts.iter().map(|context| context.id).collect();
            for (p, profile) in database.profiles.iter_mut().enumerate() {
                for (i, sample) in profile.trace.iter_mut().enumerate() {
                    if noise(seed, 77, p, i) < -0.9 {
                        sample.context = contexts[i * 7 % contexts.len()];
                    }
                }
            }
        }
        let (found, _) = found(&open(&database));
        prop_assert_eq!(found.len(), iterations);
        prop_assert_eq!(found.count(IterationState::Whole), iterations);
        prop_assert_eq!(found.streams.len(), locations);
    }

    #[test]
    fn names_and_the_order_of_locations_change_nothing(seed in any::<u64>()) {
        let jitter = |p, l, i| 1.0 + 0.3 * noise(seed, p, l, 0) + 0.02 * noise(seed, p, l, i);
        let plan = program(Recording::GpuStreams, 4, 12, 60 * MS, &[0.3, 0.2, 0.2], &jitter);
        let database = plan.database();
        let mut other = database.clone();
        for function in &mut other.functions {
            let is_plain = function.name.as_ref().is_some_and(|name| !name.starts_with('<'));
            if is_plain && function.name.as_deref() != Some("hipStreamSynchronize") {
                function.name = function.name.as_ref().map(|n| format!("z{}", n.len() * 31));
            }
        }
        other.profiles.reverse();
        let describe = |database: &Database| {
            let session = open(database);
            let (iterations, statistics) = found(&session);
            let rows: Vec<_> = statistics
                .contexts
                .iter()
                .map(|r| {
                    let numbers = [r.mean_seconds, r.max_seconds, r.balance_ratio];
                    (session.tree().source_id(r.context), numbers.map(|n| round(n, 9)))
                })
                .collect();
            let marker = session.tree().source_id(iterations.marker[0]);
            (marker, iterations.len(), rows)
        };
        prop_assert_eq!(describe(&database), describe(&other));
    }
}

#[test]
fn warming_up_and_a_cut_off_end_are_told_apart() {
    let slow_start = |_, _, i: usize| if i == 0 { 3.0 } else { 1.0 };
    let mut plan = program(Recording::GpuStreams, 4, 12, 60 * MS, &[0.3, 0.3, 0.2], &slow_start);
    for begin in plan.begins_nanos.iter_mut().skip(1) {
        *begin += 120 * MS;
    }
    // The trace ends in the middle of the first phase of the last iteration.
    plan.phases[0].pieces = 4;
    plan.span_nanos = plan.begins_nanos[11] + 12 * MS;
    let (iterations, _) = found(&open(&plan.database()));
    assert_eq!(iterations.len(), 12);
    assert_eq!(iterations.states[0], IterationState::WarmUp);
    assert_eq!(iterations.states[11], IterationState::Partial);
    assert_eq!(iterations.count(IterationState::Whole), 10);
    assert_eq!(iterations.bounds[0][0], START_NANOS + 300 * MS);
}

#[test]
fn a_person_may_name_the_marker() {
    let plan = program(Recording::GpuStreams, 2, 6, 60 * MS, &[0.3, 0.3], &|_, _, _| 1.0);
    let session = open(&plan.database());
    let marker = report_support::contexts_of(&session, "phase_0");
    let finding = ask_with(&session, marker);
    let (iterations, _) = finding.iterations.unwrap();
    assert!(iterations.repetition.is_none());
    assert_eq!(iterations.len(), 6, "phase 0 runs in one piece");
    let pieces = ask_with(&session, report_support::contexts_of(&session, "phase_1"));
    assert_eq!(pieces.iterations.unwrap().0.len(), 12, "phase 1 runs in two");
}

#[test]
fn a_sampled_program_has_its_times_from_samples() {
    let shares = |_, l: usize, _| 1.0 + l as f64 * 0.1;
    let plan = program(Recording::Samples(MS), 4, 20, 80 * MS, &[0.4, 0.3], &shares);
    let session = open(&plan.database());
    let (iterations, statistics) = found(&session);
    assert_eq!(iterations.len(), 20);
    assert_eq!(iterations.interval_nanos, Some(MS));
    let row = statistics
        .contexts
        .iter()
        .find(|row| session.tree().label(row.context) == "phase_0")
        .unwrap();
    // 32 ms, 35.2 ms, 38.4 ms and 41.6 ms.
    assert!((row.mean_seconds - 0.0368).abs() < 0.0005, "{}", row.mean_seconds);
    assert!((row.max_seconds - 0.0416).abs() < 0.0008, "{}", row.max_seconds);
    assert_eq!(row.slowest, 3);
    assert!(row.is_resolved);
}

#[test]
fn each_iteration_has_its_calling_context_tree() {
    let shares = |_, l: usize, i: usize| 1.0 + l as f64 * 0.1 + (i % 3) as f64 * 0.2;
    let plan = program(Recording::Samples(MS), 4, 20, 80 * MS, &[0.4, 0.3], &shares);
    let session = open(&plan.database());
    let (iterations, _) = found(&session);
    let tree = session.tree();
    let units = Units::new(tree, &Activities::new(tree));
    let cube = Cube::read(&session, &iterations, &units, &Control::new()).unwrap();
    let rows = trees(tree, &units, &iterations, &cube).unwrap();
    assert!(rows.is_sorted_by_key(|row| (row.iteration, row.context)));
    let of = |iteration, context| {
        rows.iter().find(|row| (row.iteration, row.context) == (iteration, context)).unwrap()
    };
    for row in &rows {
        let below = rows
            .iter()
            .filter(|one| one.iteration == row.iteration && one.parent == Some(row.context));
        let sum = row.exclusive.mean + below.map(|one| one.inclusive.mean).sum::<f64>();
        assert!((sum - row.inclusive.mean).abs() < 1e-12, "{row:?}");
        let above = row.parent.map(|parent| of(row.iteration, parent));
        assert_eq!(row.depth, above.map_or(0, |above| above.depth + 1));
        // Against the cells, one by one.
        let times: Vec<f64> = (0..cube.num_locations)
            .map(|location| {
                let own = cube.cells.iter().filter(|cell| {
                    (cell.location as usize, cell.iteration, cell.context)
                        == (location, row.iteration, row.context)
                });
                own.map(|cell| cell.nanos as f64 / 1e9).sum()
            })
            .collect();
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
        let expected = Spread {
            mean,
            min: times.iter().copied().fold(f64::INFINITY, f64::min),
            max: times.iter().copied().fold(0.0, f64::max),
            deviation: (squares / times.len() as f64).sqrt(),
        };
        for (said, known) in [
            (row.exclusive.mean, expected.mean),
            (row.exclusive.min, expected.min),
            (row.exclusive.max, expected.max),
            (row.exclusive.deviation, expected.deviation),
        ] {
            assert!((said - known).abs() < 1e-9, "{row:?} {expected:?}");
        }
    }
    assert!(rows.iter().any(|row| row.exclusive.deviation > 0.001));
    assert_eq!(rows.iter().map(|row| row.iteration).max(), Some(19));
}

#[test]
fn real_programs_have_the_iterations_that_their_authors_gave_them() {
    let Some(root) = corpus() else { return };
    let of = |path: &str| found(&open_path(&root.join("data").join(path))).0;
    // LULESH ran 100 time steps on 27 ranks; each rank shows each of them.
    let lulesh = of("hpctoolkit/hpcviewer/issue-233");
    assert_eq!((lulesh.len(), lulesh.streams.len(), lulesh.num_guessed), (100, 27, 0));
    assert!(lulesh.is_aligned && lulesh.left_out.is_empty());
    assert!((0.079..0.081).contains(&(lulesh.period_nanos() / 1e9)));
    // Kripke iterates ten times by default.
    assert_eq!(of("hpctoolkit/kripke-cputime").len(), 10);
    // A kernel that is launched a hundred times.
    assert_eq!(of("hpctoolkit/upstream/loops-cuda-nvidia-t.d").len(), 100);
    // Quicksilver has ten cycles; a ping-pong of 46 samples shows nothing.
    assert_eq!(of("hpctoolkit/hpcviewer/quicksilver").len(), 10);
    let short = open_path(&root.join("data/hpctoolkit/hpcviewer/multithread"));
    assert!(ask(&short).iterations.is_none());
}

/// A trace of events of the corpus.
fn open_trace(root: &Path, folder: &str, file: &str) -> Session {
    let folder: Arc<dyn Folder> = Arc::new(DiskFolder::new(&root.join("data").join(folder)));
    let input = recognise(&folder, file).unwrap().unwrap();
    let sink = MemorySink::new();
    let options = ConvertOptions::default();
    convert(&input, file, Arc::new(sink.clone()), &options, &Control::new()).unwrap();
    open_folder(&(Arc::new(sink.into_folder(file)) as Arc<dyn Folder>))
}

#[test]
fn real_traces_of_events_have_the_iterations_of_their_programs() {
    let Some(root) = corpus() else { return };
    // The solver makes 20 steps on 4 ranks, a checkpoint now and then; steps differ in length.
    let tau = found(&open_trace(&root, "reactor/tau-trace-p4", "tau.trc")).0;
    assert_eq!((tau.len(), tau.streams.len()), (20, 4));
    let otf2 = found(&open_trace(&root, "reactor/otf2-p4", "traces.otf2")).0;
    assert_eq!((otf2.len(), otf2.streams.len()), (20, 4));
    // Each step is one call on each rank, and none is missing.
    assert_eq!(otf2.num_guessed, 0);
    assert!(!otf2.repetition.as_ref().unwrap().is_estimate, "{:?}", otf2.repetition);
    let reactor = open_path(&root.join("data/reactor/hpctoolkit/n1024-p8"));
    let samples = found(&reactor).0;
    assert_eq!(samples.len(), 40);
    let lammps = found(&open_trace(&root, "codar", "lammps-event_list.json.gz")).0;
    assert_eq!(lammps.len(), 362);
}

/// A program of three ranks that computes for 9 ms and meets in a barrier, `lengths[i]` of
/// milliseconds more on rank 1 in iteration i; `phases` around the iterations where they are named.
fn in_step(lengths: &[u64], phases: &[&'static str]) -> Session {
    let rank = |rank: usize| {
        let mut steps: Vec<(u64, Do)> = vec![(0, Do::Enter("main"))];
        let mut now = 5 * MS;
        for (at, more) in lengths.iter().enumerate() {
            let end = now + (10 + more) * MS;
            let own = if rank == 1 { end - MS } else { now + 9 * MS };
            if let Some(phase) = phases.get(at) {
                steps.push((now, Do::Enter(phase)));
            }
            steps.extend([(now, Do::Enter("solve")), (own, Do::Leave)]);
            steps.extend([(own, Do::Enter("MPI_Barrier")), (end, Do::Leave)]);
            if !phases.is_empty() {
                steps.push((end, Do::Leave));
            }
            now = end;
        }
        steps.push((now + 5 * MS, Do::Leave));
        steps
    };
    trace(&[rank(0), rank(1), rank(2)])
}

#[test]
fn calls_that_begin_late_are_no_missing_calls() {
    // Ranks wait for nobody: each begins its part of a step of 10 ms up to 5 ms late.
    let rank = |rank: usize| {
        let mut steps: Vec<(u64, Do)> = vec![(0, Do::Enter("main"))];
        for at in 0..120 {
            let late = ((noise(7, rank, at, 0) + 1.0) * 2.5e6) as u64;
            let start = (5 + 10 * at as u64) * MS + late;
            steps.extend([(start, Do::Enter("solve")), (start + 4 * MS, Do::Leave)]);
        }
        steps.push((1220 * MS, Do::Leave));
        steps
    };
    let (iterations, _) = found(&trace(&[rank(0), rank(1), rank(2)]));
    assert_eq!((iterations.len(), iterations.streams.len()), (120, 3));
    assert_eq!(iterations.num_guessed, 0);
    let repetition = iterations.repetition.as_ref().unwrap();
    assert!(!repetition.is_estimate, "{repetition:?}");
}

#[test]
fn a_stall_in_one_iteration_is_an_event_and_saves_nothing_by_balance() {
    let mut lengths = vec![0; 101];
    lengths[57] = 930;
    let session = in_step(&lengths, &[]);
    let finding = ask(&session);
    let [stall] = &*finding.stalls else { panic!("{:?}", finding.stalls) };
    assert_eq!((stall.iteration, stall.num_waiting, stall.is_computing), (57, 2, true));
    let (location, context, nanos) = stall.place.unwrap();
    assert_eq!((location, session.tree().label(context)), (1, "solve".to_owned()));
    assert_eq!((nanos, stall.nanos.round() as u64), (939 * MS, 940 * MS));
    assert_eq!((stall.usual_nanos.round() as u64, stall.start_nanos), (10 * MS, (5 + 570) * MS));
    let (iterations, statistics) = finding.iterations.unwrap();
    assert_eq!(iterations.count(IterationState::Extraordinary), 1);
    assert_eq!(iterations.states[57], IterationState::Extraordinary);
    // The iterations that count are balanced: the stall is no part of what balancing saves.
    assert!(statistics.saving_seconds < 1e-6, "{}", statistics.saving_seconds);
    assert!((statistics.covered_seconds - 1.0).abs() < 0.02, "{}", statistics.covered_seconds);
    // Without it there is none, and what comes every so often is none either.
    assert_eq!(ask(&in_step(&[0; 101], &[])).stalls, []);
    let every: Vec<u64> = (0..101).map(|at| if at % 25 == 24 { 500 } else { 0 }).collect();
    assert_eq!(ask(&in_step(&every, &[])).stalls, []);
}

#[test]
fn what_the_program_marks_wins_over_what_its_trace_looks_like() {
    // Lengths without any regularity.
    let lengths = [0, 41, 3, 170, 12, 88, 1, 230, 55, 7];
    let names: Vec<&'static str> =
        (0..10).map(|at| &*Box::leak(format!("Iteration {at}").into_boxed_str())).collect();
    let (iterations, _) = found(&in_step(&lengths, &names));
    assert_eq!(iterations.marked_by.as_deref(), Some("numbered phases \"Iteration\""));
    assert_eq!((iterations.len(), iterations.streams.len()), (10, 3));
    assert_eq!(iterations.repetition, None);
    let starts: Vec<u64> = iterations.bounds[0].iter().take(3).copied().collect();
    assert_eq!(starts, [5 * MS, 15 * MS, 66 * MS]);
    // Steps of PyTorch are what they say, however few.
    let (iterations, _) = found(&in_step(&[3, 90], &["ProfilerStep#7", "ProfilerStep#8"]));
    assert_eq!(iterations.marked_by.as_deref(), Some("ProfilerStep of PyTorch"));
    assert_eq!(iterations.len(), 2);
    // Numbers in another order than time count something else.
    let names = ["part 4", "part 1", "part 3", "part 2", "part 5"];
    let finding = ask(&in_step(&[0, 41, 3, 170, 12], &names));
    assert!(finding.iterations.is_none_or(|(found, _)| found.marked_by.is_none()));
}

#[test]
fn no_saving_is_more_than_the_time_of_the_iterations() {
    // Each of many ranks has a function of its own: balanced one by one, each would save nearly all
    // of it, together many times the run.
    let names: Vec<&'static str> =
        (0..8).map(|at| &*Box::leak(format!("own_{at}").into_boxed_str())).collect();
    let rank = |rank: usize| {
        let mut steps: Vec<(u64, Do)> = vec![(0, Do::Enter("main"))];
        for at in 0..40 {
            let start = (5 + 10 * at) * MS;
            steps.extend([(start, Do::Enter("step")), (start, Do::Enter(names[rank]))]);
            steps.extend([(start + 9 * MS, Do::Leave), (start + 9 * MS, Do::Leave)]);
            steps
                .extend([(start + 9 * MS, Do::Enter("MPI_Barrier")), (start + 10 * MS, Do::Leave)]);
        }
        steps.push((410 * MS, Do::Leave));
        steps
    };
    let ranks: Vec<_> = (0..8).map(rank).collect();
    let (_, statistics) = found(&trace(&ranks));
    let sum: f64 = statistics.contexts.iter().map(|row| row.total_saving_seconds).sum();
    assert!(sum > 2.0, "{sum}");
    // The ranks wait for a tenth of their 40 iterations, and no more can be saved.
    assert!((statistics.waited_seconds - 0.04).abs() < 0.002, "{}", statistics.waited_seconds);
    assert!(statistics.saving_seconds <= statistics.waited_seconds);
    let told = |row: &ContextStatistics| row.potential_saving(None, &statistics);
    assert!(
        statistics.contexts.iter().filter_map(told).all(|told| told <= statistics.waited_seconds)
    );
    for row in &statistics.iterations {
        assert!(row.computing_seconds + row.saving_seconds <= row.length_seconds * (1.0 + 1e-9));
    }
}
