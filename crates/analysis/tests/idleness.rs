//! Idleness of handmade executions computed by hand, of generated ones, and of real ones.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

mod report_support;

use parallax_analysis::idleness::{
    CpuSource, CpuTimes, Group, Idleness, IdlenessOptions, SourceChoice, gpu_blame, idleness,
};
use parallax_base::Control;
use parallax_engine::Session;
use parallax_testkit::drawn::draw;
use parallax_testkit::hpctoolkit::generate::{GenerateOptions, Phase, generate};
use parallax_testkit::hpctoolkit::{
    ContextKind, Database, Id, LexicalType, Metric, Point, Profile, Relation, Sample, arbitrary,
    kind,
};
use proptest::prelude::*;
use report_support::{corpus, databases, open, open_path, open_with};

fn ask(session: &Session) -> Idleness {
    idleness(session, &IdlenessOptions::default(), &Control::new()).unwrap()
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-3), "{a} is not {b}");
}

fn call(database: &mut Database, parent: usize, name: &str) -> u32 {
    let function = Some(database.function(name));
    let (relation, lexical) = (Relation::Call, LexicalType::Function);
    let node = ContextKind::Node { relation, lexical, function, source: None, point: None };
    let at = database.add_context(Some(parent), node);
    database.contexts[at].id
}

const START: u64 = 1_700_000_000_000_000_000;

fn trace(samples: &[(u64, u32)]) -> Vec<Sample> {
    samples.iter().map(|&(nanos, context)| Sample { nanos: START + nanos, context }).collect()
}

/// Two ranks: rank 0 with a thread and two overlapping streams, rank 1 with one stream.
fn with_gpus() -> Database {
    let mut database = draw("CPUTIME (sec)", "main  .");
    database.profiles.clear();
    database.metrics.push(Metric::new("GPUOP (sec)"));
    let kernel = call(&mut database, 1, "<gpu kernel>");
    let sync = call(&mut database, 1, "<gpu sync>");
    let main = 2;
    let mut add = |tuple: Vec<Id>, points: &[(usize, f64)], samples: &[(u64, u32)]| {
        let point = |&(metric, value)| {
            let context = if metric == 0 { main } else { kernel };
            Point { context, metric, value }
        };
        let points = points.iter().map(point).collect();
        database.profiles.push(Profile { tuple, points, trace: trace(samples) });
    };
    let rank = |number| vec![Id::node(9), Id::logical(kind::RANK, number)];
    let thread = |number| [rank(number), vec![Id::logical(kind::THREAD, 0)]].concat();
    let stream = |number, stream| {
        let ids = vec![Id::logical(kind::GPUCONTEXT, 1), Id::logical(kind::GPUSTREAM, stream)];
        [rank(number), ids].concat()
    };
    add(thread(0), &[(0, 10.0), (1, 4.0)], &[(0, main), (100, main)]);
    add(stream(0, 1), &[], &[(10, kernel), (20, 0), (40, kernel), (60, 0)]);
    add(stream(0, 2), &[], &[(15, kernel), (30, sync), (50, kernel), (70, 0)]);
    add(thread(1), &[(0, 5.0), (1, 6.0)], &[(0, main), (80, 0)]);
    add(stream(1, 1), &[], &[(0, kernel), (80, 0)]);
    database
}

#[test]
fn a_gpu_is_idle_when_no_stream_of_the_rank_is_active() {
    let answer = ask(&open(&with_gpus()));
    assert_eq!(answer.gpu.len(), 2);
    let traced = answer.gpu[0].traced.unwrap();
    assert_eq!(answer.gpu[0].group, Group::Rank(0));
    // Active 10 to 30 and 40 to 70, of 0 to 100; `<gpu sync>` is waiting.
    assert_eq!((traced.num_streams, traced.span_nanos, traced.active_nanos), (2, 100, 50));
    assert_eq!((traced.idle_nanos(), traced.sum_nanos), (50, 65));
    let profiled = answer.gpu[0].profiled.unwrap();
    assert_eq!((profiled.operation_seconds, profiled.idle_seconds()), (4.0, 6.0));
    assert_eq!(answer.gpu[1].traced.unwrap().idle_nanos(), 0);
    assert_eq!(answer.gpu[1].profiled.unwrap().idle_seconds(), -1.0);
    assert_eq!(answer.notes.len(), 3, "{:?}", answer.notes);
    // The threads: 100 ns of 100, and 80 of 100.
    let cpu = answer.cpu.unwrap();
    assert_eq!(cpu.rows.len(), 2);
    close(cpu.rows[1].times.not_running, 20e-9);
    close(cpu.total.working(), 180e-9);
}

/// Rank, GPU, and when it works.
type Stream<'a> = (u32, u32, &'a [(u64, u64)]);

/// The streams of `gpus`, and a thread of each rank for 100 ns.
fn streams_of(gpus: &[Stream<'_>]) -> Session {
    let mut database = draw("CPUTIME (sec)", "main  .");
    database.profiles.clear();
    let kernel = call(&mut database, 1, "<gpu kernel>");
    let main = 2;
    let rank = |number| vec![Id::node(9), Id::logical(kind::RANK, number)];
    let mut ranks: Vec<u32> = gpus.iter().map(|gpu| gpu.0).collect();
    ranks.dedup();
    for number in ranks {
        let tuple = [rank(number), vec![Id::logical(kind::THREAD, 0)]].concat();
        let trace = trace(&[(0, main), (100, main)]);
        database.profiles.push(Profile { tuple, points: Vec::new(), trace });
    }
    for (stream, (number, gpu, work)) in (1..).zip(gpus) {
        let ids = [(kind::GPUDEVICE, *gpu), (kind::GPUCONTEXT, *gpu), (kind::GPUSTREAM, stream)];
        let ids = ids.map(|(kind, id)| Id::logical(kind, id)).to_vec();
        let changes: Vec<(u64, u32)> =
            work.iter().flat_map(|&(from, to)| [(from, kernel), (to, 0)]).collect();
        let tuple = [rank(*number), ids].concat();
        database.profiles.push(Profile { tuple, points: Vec::new(), trace: trace(&changes) });
    }
    open(&database)
}

fn idle_by_gpu(session: &Session) -> Vec<(String, u64)> {
    let rows = ask(session).gpu;
    rows.iter()
        .map(|row| {
            (row.group.label(&session.experiment().locations), row.traced.unwrap().idle_nanos())
        })
        .collect()
}

#[test]
fn each_gpu_of_a_rank_is_idle_by_itself() {
    // Two streams of GPU 0, one of GPU 1: together they work all the time.
    let session = streams_of(&[(0, 0, &[(0, 30)]), (0, 0, &[(20, 50)]), (0, 1, &[(50, 100)])]);
    let wanted = [("rank 0 GPU 0".to_owned(), 50), ("rank 0 GPU 1".to_owned(), 50)];
    assert_eq!(idle_by_gpu(&session), wanted);
    let blame = gpu_blame(&session, &Control::new()).unwrap();
    let rows: Vec<(String, u64, usize)> = blame
        .ranks
        .iter()
        .map(|row| {
            (row.group.label(&session.experiment().locations), row.idle_nanos, row.num_threads)
        })
        .collect();
    assert_eq!(rows, [("rank 0 GPU 0".to_owned(), 50, 1), ("rank 0 GPU 1".to_owned(), 50, 1)]);
    // With one GPU the rank stands for it.
    let session = streams_of(&[(0, 0, &[(0, 30)]), (0, 0, &[(20, 50)])]);
    assert_eq!(idle_by_gpu(&session), [("rank 0".to_owned(), 50)]);
}

#[test]
fn a_gpu_that_ranks_share_is_busy_when_any_of_them_uses_it() {
    // Numbers that do not begin at 0 are those of the node: both ranks use its GPU 1.
    let session = streams_of(&[(0, 1, &[(0, 50)]), (1, 1, &[(50, 90)])]);
    let shared = idle_by_gpu(&session);
    assert_eq!(shared, [("node 0x9 GPU 1".to_owned(), 10)]);
    let blame = gpu_blame(&session, &Control::new()).unwrap();
    assert_eq!((blame.ranks.len(), blame.ranks[0].num_threads), (1, 2));
    assert_eq!(blame.idle_nanos(), 10);
    // Numbers from 0 are those of each rank: nothing says that the GPU is the same.
    let own = idle_by_gpu(&streams_of(&[(0, 0, &[(0, 50)]), (1, 0, &[(50, 90)])]));
    assert_eq!(own, [("rank 0".to_owned(), 50), ("rank 1".to_owned(), 60)]);
}

#[test]
fn threads_work_wait_or_are_idle() {
    let mut database = draw("CPUTIME (sec)", "main  3.0  1.0\n  MPI_Recv  1.0  .");
    let idle = call(&mut database, 1, "<omp idle>");
    let wait = call(&mut database, 1, "<omp barrier wait>");
    let lock = call(&mut database, 1, "pthread_mutex_lock");
    let point = |context, value| Point { context, metric: 0, value };
    database.profiles[1].points.extend([point(idle, 4.0), point(wait, 2.0), point(lock, 0.5)]);
    let (main, recv) = (2, 3);
    database.profiles[0].trace = trace(&[(0, main), (60, recv), (100, 0)]);
    database.profiles[1].trace =
        trace(&[(10, idle), (20, wait), (40, 0), (45, lock), (50, main), (90, main)]);
    let session = open(&database);
    let answer = ask(&session);
    let cpu = answer.cpu.unwrap();
    assert_eq!((cpu.source, cpu.metric.as_str()), (CpuSource::Trace, "trace time"));
    let nanos = |seconds: f64| (seconds * 1e9).round() as u64;
    let parts = |t: &CpuTimes| {
        [t.not_running, t.openmp_idle, t.openmp_wait, t.mpi, t.other_wait, t.working()].map(nanos)
    };
    assert_eq!(parts(&cpu.rows[0].times), [0, 0, 0, 40, 0, 60]);
    // 10 before, 5 between and 10 after the samples.
    assert_eq!(parts(&cpu.rows[1].times), [25, 10, 20, 0, 5, 40]);

    let options = IdlenessOptions { source: SourceChoice::Profile, metric: None };
    let cpu = idleness(&session, &options, &Control::new()).unwrap().cpu.unwrap();
    assert_eq!((cpu.source, cpu.metric.as_str()), (CpuSource::Profile, "CPUTIME"));
    let times = &cpu.rows[1].times;
    assert_eq!((times.whole, times.openmp_idle, times.openmp_wait), (7.5, 4.0, 2.0));
    assert_eq!((times.other_wait, times.working(), times.not_running), (0.5, 1.0, 0.0));
    assert_eq!((cpu.total.whole, cpu.total.mpi), (11.5, 1.0));
}

#[test]
fn asking_for_traces_that_are_not_there_says_so() {
    let session = open_with(
        &draw("CPUTIME (sec)", "main  3.0"),
        &parallax_testkit::hpctoolkit::WriteOptions { traces: false, ..Default::default() },
    );
    let options = IdlenessOptions { source: SourceChoice::Trace, metric: None };
    let error = idleness(&session, &options, &Control::new()).unwrap_err();
    assert!(error.to_string().contains("no traces"), "{error}");
    assert_eq!(ask(&session).cpu.unwrap().source, CpuSource::Profile);
    let nothing = ask(&open(&Database::default()));
    assert_eq!((nothing.cpu, nothing.gpu), (None, vec![]));
}

#[test]
fn planted_idle_time_is_found_in_profiles_and_traces() {
    let options = GenerateOptions {
        ranks: 6,
        threads_per_rank: 3,
        contexts: 400,
        values_per_rank: 300,
        trace_samples: 400,
        ..GenerateOptions::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let planted = generate(folder.path(), &options, |_, _, _| {}).unwrap();
    let session = open_path(folder.path());
    let sum = |phase| -> f64 {
        let all = (0..6).flat_map(|rank| (0..3).map(move |thread| (rank, thread)));
        all.map(|(rank, thread)| planted.phase_seconds(phase, rank, thread)).sum()
    };
    for source in [SourceChoice::Profile, SourceChoice::Trace] {
        let ask = IdlenessOptions { source, metric: None };
        let cpu = idleness(&session, &ask, &Control::new()).unwrap().cpu.unwrap();
        assert_eq!(cpu.rows.len(), 18);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-3 * b, "{source:?} {a} {b}");
        close(cpu.total.openmp_idle, sum(Phase::OmpIdle));
        close(cpu.total.openmp_wait, sum(Phase::OmpBarrier));
        assert!(cpu.total.mpi >= sum(Phase::Exchange) * 0.999, "{source:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn parts_add_up_to_the_whole(
        database in arbitrary::database(),
        options in arbitrary::write_options(),
    ) {
        let session = open_with(&database, &options);
        for source in [SourceChoice::Best, SourceChoice::Profile] {
            let options = IdlenessOptions { source, metric: None };
            let answer = idleness(&session, &options, &Control::new()).unwrap();
            for row in answer.cpu.iter().flat_map(|cpu| &cpu.rows) {
                let t = &row.times;
                let sum = t.idle() + t.openmp_wait + t.mpi + t.other_wait + t.working();
                prop_assert!((sum - t.whole).abs() <= 1e-9 * t.whole, "{:?}", t);
            }
            for traced in answer.gpu.iter().filter_map(|row| row.traced) {
                prop_assert!(traced.active_nanos <= traced.span_nanos);
                prop_assert!(traced.active_nanos <= traced.sum_nanos);
            }
        }
    }
}

#[test]
fn every_real_database_has_an_answer_or_says_why_not() {
    let Some(root) = corpus() else { return };
    for path in databases(&root.join("data")) {
        let session = open_path(&path);
        for source in [SourceChoice::Best, SourceChoice::Profile] {
            let options = IdlenessOptions { source, metric: None };
            let answer = idleness(&session, &options, &Control::new()).unwrap();
            assert!(!answer.notes.is_empty() || answer.cpu.is_some(), "{path:?}");
            for row in answer.cpu.iter().flat_map(|cpu| &cpu.rows) {
                let t = &row.times;
                let parts = [t.openmp_idle, t.openmp_wait, t.mpi, t.other_wait, t.not_running];
                assert!(parts.iter().all(|part| part.is_finite() && *part >= 0.0), "{path:?}");
                assert!(parts.iter().sum::<f64>() <= t.whole * (1.0 + 1e-6), "{path:?} {row:?}");
            }
        }
    }
    let lulesh = open_path(&root.join("data/hpctoolkit/hpcviewer/issue-233"));
    let options = IdlenessOptions { source: SourceChoice::Profile, metric: None };
    let cpu = idleness(&lulesh, &options, &Control::new()).unwrap().cpu.unwrap();
    assert!(cpu.total.openmp_idle > 0.0 && cpu.total.mpi > 20.0, "{:?}", cpu.total);
    let cuda = ask(&open_path(&root.join("data/hpctoolkit/hpcviewer/acc_f3")));
    let traced = cuda.gpu[0].traced.unwrap();
    assert_eq!((cuda.gpu.len(), traced.num_streams), (1, 1));
    assert!(traced.idle_nanos() > traced.active_nanos);
}
