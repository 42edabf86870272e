//! Reports of drawn programs computed by hand, of generated ones with planted answers, and of real
//! ones against what others found.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

mod report_support;

use std::collections::BTreeMap;

use parallax_analysis::MpiClass;
use parallax_analysis::report::{
    CostClass, Finding, FindingKind, GpuOperation, Report, ReportOptions, report,
};
use parallax_base::Control;
use parallax_engine::{LocationChoice, Session};
use parallax_model::Scope;
use parallax_testkit::drawn::draw;
use parallax_testkit::hpctoolkit::generate::{GenerateOptions, Imbalance, ImbalanceLaw, generate};
use parallax_testkit::hpctoolkit::{ContextKind, Database, Id, Point, Profile, arbitrary, kind};
use proptest::prelude::*;
use report_support::{corpus, databases, open, open_path, open_with};

fn ask(session: &Session) -> Report {
    report(session, &ReportOptions::default(), &Control::new()).unwrap()
}

fn costs(report: &Report) -> BTreeMap<CostClass, f64> {
    report.categories.iter().map(|row| (row.class, row.cost)).collect()
}

fn find(report: &Report, kind: FindingKind) -> Option<&Finding> {
    report.findings.iter().find(|finding| finding.kind == kind)
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-3), "{a} is not {b}");
}

#[test]
fn every_second_is_in_one_class() {
    let report = ask(&open(&draw(
        "CPUTIME (sec)",
        "
        main                        1.0  1.0
          PMPI_Allreduce            2.0  .
            MPI_Comm_rank           0.5  .
            malloc                  0.5  .
          MPI_File_write_all        .    1.0
            write                   .    1.0
          H5Dwrite                  0.5  .
            PMPI_File_write_at      0.25 .
            __GI___libc_write       0.25 .
          fwrite                    .    0.5
          operator                  4.0  .
          mpi_send_                 .    3.0
          __libc_malloc             0.5  0.25
            brk                     0.25 .
          pthread_mutex_lock        .    0.75
          __GI___poll               1.0  .
          cudaMemcpy                0.5  .
        ",
    )));
    let expected = BTreeMap::from([
        (CostClass::Application, 6.0),
        (CostClass::Mpi(MpiClass::Collective), 3.0),
        (CostClass::Mpi(MpiClass::Io), 2.25),
        (CostClass::Mpi(MpiClass::PointToPoint), 3.0),
        (CostClass::LibraryIo, 0.75),
        (CostClass::PosixIo, 0.5),
        (CostClass::Memory, 1.0),
        (CostClass::Locks, 0.75),
        (CostClass::Sleeping, 1.0),
        (CostClass::GpuRuntime, 0.5),
    ]);
    assert_eq!(costs(&report), expected);
    assert_eq!((report.total, report.program_total), (18.75, 18.75));
    assert_eq!(report.major_cost("MPI"), 8.25);
    close(report.categories[0].percent.unwrap(), 3.0 / 18.75 * 100.0);
    let names: Vec<&str> = report.routines.iter().map(|row| &*row.name).take(3).collect();
    assert_eq!(names, ["MPI_Allreduce", "MPI_Send", "MPI_File_write_all"]);
    let text = &find(&report, FindingKind::Mpi).unwrap().text;
    assert!(text.starts_with("MPI takes 44.0 % of CPU time, the largest part"), "{text}");
    assert!(find(&report, FindingKind::Io).unwrap().text.contains("called from main"));
}

/// A hundred samples, two of which are alone at their contexts; and as many seconds at contexts of
/// which none was hit so seldom that anybody could tell how often.
#[test]
fn few_samples_are_said_where_they_can_be_told() {
    let samples = |drawing: &str| ask(&open(&draw("CPUTIME (sec)", drawing))).num_samples;
    let few = "main  0.005\n  solve  0.445\n  read  0.05";
    close(samples(few).unwrap(), 100.0);
    let report = ask(&open(&draw("CPUTIME (sec)", few)));
    assert!(find(&report, FindingKind::FewSamples).unwrap().text.contains("about 100 samples"));
    // Three contexts with thousands of samples each.
    let many = "main  5.0\n  solve  44.5\n  read  10.0";
    assert_eq!(samples(many), None);
    assert_eq!(find(&ask(&open(&draw("CPUTIME (sec)", many))), FindingKind::FewSamples), None);
}

#[test]
fn who_waits_for_whom_is_said_in_a_sentence() {
    let report = ask(&open(&draw(
        "CPUTIME (sec)",
        "
        main                 .     .     .     .
          react              .     .     .     .
            rate             2.0   2.25  2.0   4.5
            tick             0.001 0.001 0.001 0.001
          diffuse            3.0   3.0   3.0   3.0
          residual           .     .     .     .
            MPI_Allreduce    2.5   2.25  2.5   .
              progress       .     .     .     .
        ",
    )));
    let mpi = find(&report, FindingKind::Mpi).unwrap();
    assert_eq!(
        mpi.text,
        "MPI takes 24.2 % of CPU time: MPI_Allreduce called from residual: the other 3 ranks wait \
         for rank 3, which spends 1.7 times the mean in react (4.50 s, mean 2.69 s)."
    );
    // What is shown next is the context that is slow, with what its slowest rank spends.
    assert_eq!(mpi.title, "Load imbalance in react, waited for in MPI");
    assert_eq!((&*mpi.next.contexts, mpi.next.value), (&[mpi.context.unwrap()][..], Some(4.501)));
    let potential = mpi.potential.as_ref().unwrap();
    close(potential.amount, 4.501 - 2.688_5);
    assert_eq!(potential.condition, "if balanced");
    let evidence = |what: &str| mpi.evidence.iter().find(|e| e.what == what).unwrap().value;
    close(evidence("react, mean"), 2.688_5);
    close(evidence("potential saving"), 4.501 - 2.688_5);
    assert!(evidence("correlation of react with MPI") < -0.99);
    // Its cause is told once.
    assert_eq!(find(&report, FindingKind::Imbalance), None);
    let path: Vec<&str> = report.hot_path.iter().map(|step| &*step.name).collect();
    assert_eq!(path, ["<main thread>", "main"]);
}

/// The start of MPI is long before what is late, so it is not what others wait in.
#[test]
fn nobody_waits_in_the_start_of_mpi() {
    let report = ask(&open(&draw(
        "REALTIME (sec)",
        "
        main                 .     .     .     .
          MPI_Init           8.0   8.0   8.0   8.0
          react              4.0   4.0   4.0   6.0
          MPI_Allreduce      2.0   2.0   2.0   .
        ",
    )));
    let mpi = find(&report, FindingKind::Mpi).unwrap();
    assert_eq!(mpi.title, "MPI: MPI_Init");
    assert!(
        mpi.text.ends_with("most of it (57.1 %) in MPI_Init called from main."),
        "{}",
        mpi.text
    );
    assert_eq!(mpi.potential, None);
    let late = find(&report, FindingKind::Imbalance).unwrap();
    assert_eq!(late.title, "Load imbalance in react");
    close(late.potential.as_ref().unwrap().amount, 1.5);
}

/// A thread that starts four others and joins them takes twice as long as each of these.
#[test]
fn functions_that_only_some_threads_run_are_compared_among_those() {
    let uneven = |rest: &str| {
        let drawing = format!(
            "
            main      8.0  .    .    .    .
            worker    .    0.5  0.5  0.5  0.5
              step    .    2.0  2.0  2.0  4.0
              rest    .    {rest}
            "
        );
        find(&ask(&open(&draw("REALTIME (sec)", &drawing))), FindingKind::Imbalance).cloned()
    };
    let found = uneven("0.5  0.5  0.5  0.5").unwrap();
    assert!(found.title.contains("worker"), "{}", found.title);
    close(found.potential.unwrap().amount, 1.5);
    // What one does more of in `step`, the others do in `rest`: all take the same time.
    assert_eq!(uneven("2.5  2.5  2.5  0.5"), None);
    // Or nearly.
    assert_eq!(uneven("20.0 20.0 20.0 20.0"), None);
}

#[test]
fn nothing_is_found_where_nothing_stands_out() {
    let mut drawing = String::from("main  .  .\n  step  .  .\n");
    for part in 0..20 {
        drawing += &format!("    part_{part}  5.0  5.0\n      tick  0.001  0.001\n");
    }
    drawing += "  MPI_Barrier  1.0  1.0\n";
    let report = ask(&open(&draw("CPUTIME (sec)", &drawing)));
    assert_eq!(report.findings, []);
    assert!(report.num_samples.unwrap() > 10_000.0);
    let balance = report.balance.unwrap();
    assert!(balance.rows.iter().all(|row| row.distribution.saving == 0.0));
}

/// A program of two ranks of which each has a helper thread that waits in `poll`.
fn with_helpers() -> Database {
    let mut database = draw("REALTIME (sec)", "main  3.0  1.0\n  MPI_Recv  .  2.0");
    let entry = ContextKind::Entry { entry_point: 2, name: "application thread".into() };
    let entry = database.add_context(None, entry);
    let module = database.module("/usr/lib/libevent_core-2.1.so.7");
    let mut at = entry;
    for name in ["event_base_loop", "epoll_wait"] {
        let function = database.function(name);
        database.functions[function].module = Some((module, 0));
        at = database.add_context(
            Some(at),
            ContextKind::Node {
                relation: parallax_testkit::hpctoolkit::Relation::Call,
                lexical: parallax_testkit::hpctoolkit::LexicalType::Function,
                function: Some(function),
                source: None,
                point: None,
            },
        );
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

#[test]
fn helper_threads_are_no_part_of_the_program() {
    let report = ask(&open(&with_helpers()));
    assert_eq!((report.total, report.helper_total, report.program_total), (12.0, 6.0, 6.0));
    let last = report.categories.last().unwrap();
    assert_eq!((last.class, last.cost, last.percent), (CostClass::HelperThreads, 6.0, None));
    close(report.categories[1].percent.unwrap(), 100.0 / 3.0);
    assert!(report.top_functions.iter().all(|row| row.name != "epoll_wait"));
    assert_eq!(report.hot_path[0].name, "<main thread>");
}

#[test]
fn wrapped_counters_have_no_total() {
    let mut database = draw("CPUTIME (sec)", "main  3.0  1.0");
    database.metrics.push(parallax_testkit::hpctoolkit::Metric::new("perf::PAGE-FAULTS"));
    database.profiles[0].points.push(Point { context: 2, metric: 1, value: 1.84e19 });
    database.profiles[1].points.push(Point { context: 2, metric: 1, value: 7.0 });
    let session = open(&database);
    let report = ask(&session);
    assert_eq!(report.metrics[1].total, None);
    // What did not wrap is still added up, and what did is an issue.
    let metric = report.metrics[1].metric;
    let sums = session.column(metric, &Scope::Inclusive, &LocationChoice::All, &Control::new());
    assert_eq!(sums.unwrap().iter().copied().fold(0.0, f64::max), 7.0);
    let issues = session.issues();
    let [issue] = issues.list() else { panic!("{issues:?}") };
    // Its own and the two around it: inclusive values are stored for each.
    assert_eq!((issue.kind, issue.count), ("wrapped-value", 3), "{issue:?}");
    assert!(issue.message.contains("PAGE-FAULTS"), "{}", issue.message);
    assert!(find(&report, FindingKind::WrappedMetric).unwrap().text.contains("PAGE-FAULTS"));
    assert_eq!(report.metric_name, "CPUTIME");
}

#[test]
fn an_execution_without_values_has_an_empty_report() {
    for database in [
        Database::default(),
        draw("CPUTIME (sec)", "main  ."),
        Database { profiles: vec![], ..draw("CPUTIME (sec)", "main  .") },
    ] {
        let report = ask(&open(&database));
        assert_eq!((report.metric, report.total), (None, 0.0));
        assert!(report.reason.contains("no metric"), "{}", report.reason);
        assert!(report.findings.is_empty());
    }
}

#[test]
fn a_planted_imbalance_is_what_bounds_the_program() {
    let options = GenerateOptions {
        ranks: 24,
        contexts: 600,
        values_per_rank: 500,
        trace: false,
        imbalance: Some(Imbalance { law: ImbalanceLaw::Linear, amplitude: 1.0 }),
        ..GenerateOptions::default()
    };
    let folder = tempfile::tempdir().unwrap();
    generate(folder.path(), &options, |_, _, _| {}).unwrap();
    let report = ask(&open_path(folder.path()));
    let mpi = find(&report, FindingKind::Mpi).unwrap();
    assert!(mpi.text.contains("wait for rank 23"), "{}", mpi.text);
    assert!(mpi.text.contains("in compute_forces"), "{}", mpi.text);
    assert!(mpi.text.contains("1.3 times the mean"), "{}", mpi.text);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn classes_add_up_and_findings_are_in_order(
        database in arbitrary::database(),
        options in arbitrary::write_options(),
    ) {
        let session = open_with(&database, &options);
        let a = ask(&session);
        let sum: f64 = a.categories.iter().map(|row| row.cost).sum();
        prop_assert!((sum - a.total).abs() <= a.total * 1e-9, "{} {}", sum, a.total);
        prop_assert!(a.categories.iter().all(|row| row.cost >= 0.0));
        prop_assert!((a.helper_total + a.program_total - a.total).abs() <= a.total * 1e-9);
        for finding in &a.findings {
            prop_assert!(finding.percent.is_finite() && !finding.text.contains("NaN"));
        }
        // The same question has the same answer.
        let b = ask(&open_with(&database, &options));
        prop_assert_eq!(a.findings, b.findings);
        prop_assert_eq!(a.categories, b.categories);
        prop_assert_eq!(a.routines, b.routines);
    }
}

#[test]
fn lulesh_agrees_with_what_hpcanalysis_reads() {
    let Some(root) = corpus() else { return };
    let report = ask(&open_path(&root.join("data/hpctoolkit/hpcviewer/issue-233")));
    assert_eq!(report.metric_name, "CPUTIME");
    close(report.total, 638.016_958);
    // hpcanalysis adds up all contexts of MPI, also those below other routines: 21.109325 s.
    let nested = 0.005_318_5 * 2.0 + 0.005_954;
    close(report.major_cost("MPI"), 21.109_325 - nested);
    let allreduce = report.routines.iter().find(|r| r.name == "MPI_Allreduce").unwrap();
    close(allreduce.cost, 0.309_636_555_555_555_5 * 27.0);
    assert_eq!(allreduce.class, CostClass::Mpi(MpiClass::Collective));
    let openmp = find(&report, FindingKind::OpenMp).unwrap();
    assert!(openmp.percent > 20.0, "{}", openmp.text);
}

#[test]
fn reactor_is_bound_by_its_last_rank() {
    let Some(root) = corpus() else { return };
    for (name, last) in [("n512-p4", 3), ("n512-p8", 7), ("long-n512-p8", 7)] {
        let report = ask(&open_path(&root.join("data/reactor/hpctoolkit").join(name)));
        let mpi = find(&report, FindingKind::Mpi).unwrap();
        assert!(mpi.percent > 35.0, "{name}: {}", mpi.text);
        assert!(mpi.text.contains(&format!("wait for rank {last}, which")), "{}", mpi.text);
        assert!(mpi.text.contains("in react ("), "{}", mpi.text);
        assert!(report.helper_total > report.program_total, "{name}");
    }
}

#[test]
fn programs_on_gpus_say_what_the_gpus_did() {
    let Some(root) = corpus() else { return };
    let folder = root.join("data/hpctoolkit");
    let report = ask(&open_path(&folder.join("hpcviewer/acc_f3")));
    assert_eq!(report.metric_name, "cycles");
    let row = |name: &str| report.gpu.iter().find(|row| row.metric == name).unwrap();
    close(row("GKER").value, 0.002_956_843_964_057_043);
    close(
        row("GXCOPY").percent.unwrap(),
        0.007_287_711_981_916_8 / 0.010_244_555_945_973_843 * 100.0,
    );
    // Copies are most of what the GPU does, but it does something for 2 % of the run only.
    assert_eq!(find(&report, FindingKind::Gpu), None);
    let report = ask(&open_path(&folder.join("upstream/loops-hip-amd-t.d")));
    assert_eq!(report.metric_name, "GPUOP");
    let kernels = costs(&report)[&CostClass::Gpu(GpuOperation::Kernel)];
    close(kernels, 1.527_231_978_999_999_7);
}

#[test]
fn threads_that_do_different_things_for_as_long_are_even() {
    let Some(root) = corpus() else { return };
    // Two threads run body1 and body2 for equally long; two processes run parent and child.
    for name in ["multithread", "loop-fork-cycles"] {
        let report = ask(&open_path(&root.join("data/hpctoolkit/hpcviewer").join(name)));
        assert_eq!(find(&report, FindingKind::Imbalance), None, "{name}");
        assert!(find(&report, FindingKind::HotFunction).is_some(), "{name}");
    }
    // Where all do the same, but one longer, it is told.
    let report = ask(&open_path(&root.join("data/hpctoolkit/hpcviewer/inline.meta.db")));
    assert!(find(&report, FindingKind::Imbalance).is_some());
}

#[test]
fn every_real_database_has_a_report_of_finite_numbers() {
    let Some(root) = corpus() else { return };
    let paths = databases(&root.join("data"));
    assert!(paths.len() > 50);
    for path in paths {
        let session = open_path(&path);
        let report = ask(&session);
        let sum: f64 = report.categories.iter().map(|row| row.cost).sum();
        assert!((sum - report.total).abs() <= report.total * 1e-6, "{path:?}: {sum}");
        let costs = report.categories.iter().map(|row| row.cost);
        let more = report.gpu.iter().map(|row| row.value);
        let steps = report.hot_path.iter().map(|step| step.inclusive);
        assert!(costs.chain(more).chain(steps).all(f64::is_finite), "{path:?}");
        for finding in &report.findings {
            let numbers = finding.evidence.iter().map(|e| e.value);
            assert!(numbers.chain([finding.percent]).all(f64::is_finite), "{path:?} {finding:?}");
            println!("{}: {}", path.display(), finding.text);
        }
    }
}
