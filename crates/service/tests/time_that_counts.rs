//! Which threads count, and what makes a measurement doubtful: planted, and absent.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::sync::Arc;

use parallax_analysis::report::{FindingKind, Report, ReportOptions, report};
use parallax_analysis::taxonomy::Roles;
use parallax_base::{Control, Folder, Limits, MemoryFolder};
use parallax_engine::Session;
use parallax_testkit::drawn::draw;
use parallax_testkit::hpctoolkit::{
    ContextKind, Database, Id, LexicalType, Metric, Point, Profile, Relation, WriteOptions, kind,
};
use parallax_testkit::tau::{Profiles, Thread, Timer, to_text};

fn open_folder(folder: &Arc<dyn Folder>) -> Session {
    Session::new(parallax_import::open(folder, &Limits::default()).unwrap())
}

fn open(database: &Database) -> Session {
    let files = database.to_files(&WriteOptions::default());
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("drawn", files.by_path));
    open_folder(&folder)
}

fn ask(session: &Session) -> Report {
    report(session, &ReportOptions::default(), &Control::new()).unwrap()
}

fn finding(report: &Report, kind: FindingKind) -> Option<&str> {
    report.findings.iter().find(|one| one.kind == kind).map(|one| one.text.as_str())
}

/// Adds a thread to each of two ranks, with the functions of `path` and the modules they lie in.
fn with_thread(mut database: Database, path: &[(&str, &str)]) -> Database {
    let entry = ContextKind::Entry { entry_point: 2, name: "application thread".into() };
    let mut at = database.add_context(None, entry);
    for (name, module) in path {
        let module = database.module(module);
        let function = database.function(name);
        database.functions[function].module = Some((module, 0));
        let node = ContextKind::Node {
            relation: Relation::Call,
            lexical: LexicalType::Function,
            function: Some(function),
            source: None,
            point: None,
        };
        at = database.add_context(Some(at), node);
    }
    let context = database.contexts[at].id;
    for rank in 0..2 {
        database.profiles.push(Profile {
            tuple: vec![Id::node(1), Id::logical(kind::RANK, rank), Id::logical(kind::THREAD, 1)],
            points: vec![Point { context, metric: 0, value: 3.0 }],
            trace: vec![],
        });
    }
    database
}

fn helpers(path: &[(&str, &str)]) -> (usize, String) {
    let database = with_thread(draw("REALTIME (sec)", "main  3.0  1.0\n  solve  .  2.0"), path);
    let roles = Roles::of(&open(&database), &Control::new()).unwrap();
    (roles.num_helpers(), roles.kinds())
}

#[test]
fn threads_of_runtimes_are_helpers_and_threads_of_the_program_never_are() {
    const LIBC: &str = "/usr/lib/libc.so.6";
    const MPI: &str = "/usr/lib/libopen-pal.so.40";
    let planted: [(&[(&str, &str)], &str); 4] = [
        (
            &[("start_thread", LIBC), ("event_base_loop", MPI), ("epoll_wait", LIBC)],
            "progress of MPI: 2",
        ),
        (&[("uct_progress", "/usr/lib/libuct.so.0"), ("poll", LIBC)], "network: 2"),
        (&[("cuptiWorker", "/usr/lib/libcuda.so.1"), ("poll", LIBC)], "GPU driver: 2"),
        (&[("monitor_thread", "/usr/lib/libhpcrun.so"), ("nanosleep", LIBC)], "measurement: 2"),
    ];
    for (path, kinds) in planted {
        assert_eq!(helpers(path), (2, kinds.to_owned()), "{path:?}");
    }
    let own: [&[(&str, &str)]; 4] = [
        // A thread of the program that waits; one in a library that is not known; one of OpenMP.
        &[("worker", "/home/me/solver"), ("pthread_cond_wait", LIBC)],
        &[("start_thread", LIBC), ("pool_loop", "/opt/lib/libpool.so"), ("poll", LIBC)],
        &[("gomp_thread_start", "/usr/lib/libgomp.so.1"), ("poll", LIBC)],
        // Nothing waits for events: it works.
        &[("start_thread", LIBC), ("memcpy", LIBC)],
    ];
    for path in own {
        assert_eq!(helpers(path).0, 0, "{path:?}");
    }
}

/// Threads of TAU: what each samples, and the metadata of each rank.
fn tau(ranks: u32, threads: &[&str], allowed: impl Fn(u32) -> String) -> Session {
    let timer = |name: &str| (name.to_owned(), vec![0]);
    let frame = ".TAU application";
    let mut timers = vec![timer(frame), timer(&format!("{frame} => main"))];
    for (at, sample) in (0..).zip(threads) {
        // Without a sample the thread has nothing but its start.
        let sample = if sample.is_empty() { String::new() } else { format!("UNRESOLVED {sample}") };
        let start = format!("[PTHREAD] addr=<0x7fed7f52{at:x}9d0> [{{(unknown)}} {{0, 0}}]");
        let path = format!("{frame} => {start}");
        timers.push(timer(&path));
        timers.push(timer(&format!("{path} => [CONTEXT] {start} => [SAMPLE] {sample}")));
    }
    let spent = |timer: u32, own: f64, all: f64| Timer {
        timer,
        calls: 1.0,
        subroutines: 1.0,
        values: vec![(own, all)],
    };
    let mut all = Vec::new();
    for rank in 0..ranks {
        let metadata = vec![
            ("Hostname".to_owned(), "node1".to_owned()),
            ("CPUs Allowed List".to_owned(), allowed(rank)),
        ];
        let main = vec![spent(0, 10.0, 2e6), spent(1, 2e6, 2e6)];
        all.push(Thread {
            id: [rank, 0, 0],
            metadata: metadata.clone(),
            timers: main,
            events: vec![],
        });
        for (at, sample) in (1..).zip(threads) {
            let mut timers = vec![spent(0, 10.0, 2e6), spent(2 * at, 2e6, 2e6)];
            timers.extend((!sample.is_empty()).then(|| spent(2 * at + 1, 2e6, 2e6)));
            let metadata = metadata.clone();
            all.push(Thread { id: [rank, 0, at], metadata, timers, events: vec![] });
        }
    }
    let profiles = Profiles {
        metrics: vec!["TIME".into()],
        groups: vec!["TAU_CALLPATH".into()],
        timers,
        threads: all,
        ..Profiles::default()
    };
    let files = to_text(&profiles, 0).into_iter().map(|(name, text)| (name, text.into_bytes()));
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("tau", files));
    open_folder(&folder)
}

#[test]
fn threads_of_tau_that_only_sleep_in_libraries_are_helpers_and_those_of_openmp_are_not() {
    for (library, expected) in [
        ("/usr/lib/libc.so.6", &["rank 0 thread 1", "rank 1 thread 1"][..]),
        ("", &["rank 0 thread 1", "rank 1 thread 1"][..]),
        ("/usr/lib/libgomp.so.1.0.0", &[]),
        ("/home/me/lulesh", &[]),
    ] {
        let session = tau(2, &[library], |_| "0-7".into());
        let roles = Roles::of(&session, &Control::new()).unwrap();
        let locations = &session.experiment().locations;
        let helpers: Vec<String> =
            locations.iter().filter(|&l| roles.is_helper(l)).map(|l| locations.label(l)).collect();
        assert_eq!(helpers, expected, "{library}");
    }
}

#[test]
fn more_threads_than_cores_are_said_and_processes_bound_to_their_own_cores_are_not() {
    let crowded = ask(&tau(8, &[], |_| "0-1".into()));
    let text = finding(&crowded, FindingKind::Caution).unwrap();
    assert!(text.contains("8 threads share 2 cores"), "{text}");
    assert_eq!(crowded.findings[0].kind, FindingKind::Caution);
    for session in [
        tau(8, &[], |_| "0-7".into()),
        tau(2, &[], |_| "0-1".into()),
        tau(8, &[], |rank| rank.to_string()),
        // A helper thread needs no core of its own.
        tau(2, &["/usr/lib/libc.so.6"], |_| "0-1".into()),
    ] {
        assert_eq!(finding(&ask(&session), FindingKind::Caution), None);
    }
}

/// A rank with wall-clock and CPU time of two functions.
fn two_clocks(cpu: f64) -> Session {
    let mut database = draw("REALTIME (sec)", "main  .\n  solve  4.0\n  MPI_Recv  2.0");
    database.metrics.push(Metric::new("CPUTIME (sec)"));
    for (context, value) in [(3, cpu), (4, 0.01)] {
        database.profiles[0].points.push(Point { context, metric: 1, value });
    }
    open(&database)
}

#[test]
fn functions_that_compute_without_a_core_tell_an_oversubscribed_node() {
    let text = |cpu| finding(&ask(&two_clocks(cpu)), FindingKind::Caution).map(str::to_owned);
    let said = text(1.0).unwrap();
    assert!(said.contains("on a core for only 25 % of their time"), "{said}");
    // What waits in MPI needs no core.
    assert_eq!(text(3.9), None);
}

#[test]
fn accessors_that_are_called_tell_a_build_without_optimisation() {
    let name = |what: &str| format!("std::vector<double,std::allocator<double>>::{what}");
    let drawing = |first: &str, second: &str| {
        format!("main  .\n  solve  5.0\n    {first}  0.5\n    {second}  0.5\n")
    };
    let planted = drawing(&name("operator[](unsigned_long)"), &name("size()_const"));
    let report = ask(&open(&draw("CPUTIME (sec)", &planted)));
    let text = finding(&report, FindingKind::Caution).unwrap();
    assert!(text.contains("without optimisation") && text.contains("16.7 %"), "{text}");
    let inlined = drawing(
        &format!("inlined {}", name("operator[](unsigned_long)")),
        &format!("inlined {}", name("size()_const")),
    );
    for other in [inlined, drawing(&name("operator[](unsigned_long)"), "kernel")] {
        let report = ask(&open(&draw("CPUTIME (sec)", &other)));
        assert_eq!(finding(&report, FindingKind::Caution), None, "{other}");
    }
}

/// A program that allocates 100 MB in `load`, of which `freed` are freed.
fn allocating(freed: f64) -> Report {
    let mut database = draw("CPUTIME (sec)", "main  1.0\n  load  1.0\n    malloc  0.1");
    database.metrics.push(Metric::new("Bytes Allocated"));
    database.metrics.push(Metric::new("Bytes Freed"));
    for (metric, value) in [(1, 100e6), (2, freed)] {
        database.profiles[0].points.push(Point { context: 4, metric, value });
    }
    ask(&open(&database))
}

#[test]
fn memory_that_is_not_freed_is_a_finding() {
    let report = allocating(60e6);
    let text = finding(&report, FindingKind::Leak).unwrap();
    assert!(text.starts_with("40.0 MB of 100 MB allocated (40.0 %) were not freed"), "{text}");
    assert_eq!(finding(&allocating(99e6), FindingKind::Leak), None);
    assert_eq!(finding(&allocating(100e6), FindingKind::Leak), None);
}
