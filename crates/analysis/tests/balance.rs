//! Load balance of drawn databases computed by hand, of generated ones with planted answers, and of
//! real ones against what others found.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

mod report_support;

use parallax_analysis::balance::{
    Balance, BalanceRequest, Grouping, MemberRule, Pooling, balance, balance_by_function,
};
use parallax_base::{Control, MetricIdx};
use parallax_engine::{LocationChoice, Session};
use parallax_model::{IdentityKind, Scope};
use parallax_testkit::drawn::draw;
use parallax_testkit::hpctoolkit::generate::{
    GenerateOptions, Imbalance, ImbalanceLaw, Phase, Planted, SlowNodes, generate,
};
use parallax_testkit::hpctoolkit::{ContextKind, Id, Point, Profile, arbitrary, kind};
use proptest::prelude::*;
use report_support::{contexts_of, corpus, databases, functions, open, open_path, open_with};

const TIME: MetricIdx = MetricIdx::new(0);

fn ask(session: &Session, request: &BalanceRequest) -> Balance {
    balance(session, request, &Control::new()).unwrap()
}

fn by_name<'a>(answer: &'a Balance, name: &str) -> &'a parallax_analysis::balance::BalanceRow {
    answer.rows.iter().find(|row| row.name == name).unwrap()
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-3), "{a} is not {b}");
}

const DRAWING: &str = "
main            .    .    .    .
  solve         4.0  1.0  .    3.0
  loop a.c:1    .    .    .    .
    line a.c:2  2.0  2.0  2.0  2.0
    loop a.c:3  1.0  .    .    1.0
  MPI_Send      .    3.0  6.0  .
    solve       .    .    1.0  .
";

#[test]
fn every_rank_that_ran_counts_also_those_without_a_value() {
    let session = open(&draw("CPUTIME (sec)", DRAWING));
    let request = BalanceRequest::new(TIME, functions(&session));
    let answer = ask(&session, &request);
    assert_eq!(answer.metric, "CPUTIME");
    assert_eq!(answer.members.len(), 4);

    // The first `solve`: 4, 1, 0, 3; another one below MPI_Send: 0, 0, 1, 0.
    let names: Vec<&str> = answer.rows.iter().map(|row| &*row.name).collect();
    assert_eq!(names, ["MPI_Send", "main", "solve", "solve"], "by what balancing would save");
    let solve = &answer.rows[2].distribution;
    assert_eq!((solve.num_members, solve.num_values), (4, 3));
    assert_eq!((solve.mean, solve.max, solve.balance_ratio), (2.0, 4.0, Some(0.5)));
    let send = &answer.rows[0];
    assert_eq!((send.distribution.saving, send.distribution.wasted), (4.5, 18.0));
    assert_eq!(answer.slowest_labels(send).next(), Some("rank 2 thread 0"));
    assert_eq!(send.slowest.iter().map(|s| s.value).collect::<Vec<_>>(), [7.0, 3.0, 0.0, 0.0]);

    let stored = BalanceRequest { members: MemberRule::TakesPart, ..request };
    let stored = ask(&session, &stored);
    let solve = stored.rows.iter().find(|row| row.name == "solve").unwrap();
    assert_eq!(solve.distribution.num_members, 3);
    close(solve.distribution.mean, 8.0 / 3.0);
    assert_eq!(solve.num_absent, 1, "rank 2 ran, but never entered it");
}

#[test]
fn functions_add_up_their_contexts_and_count_recursion_once() {
    let session = open(&draw(
        "CPUTIME (sec)",
        "
        main          .    .
          solve       1.0  2.0
            solve     4.0  .
          other       .    .
            solve     .    8.0
        ",
    ));
    let request = BalanceRequest::new(TIME, functions(&session));
    let answer =
        balance_by_function(&session, &request, Pooling::PerMember, &Control::new()).unwrap();
    let solve = by_name(&answer, "solve");
    assert_eq!(solve.num_contexts, 2, "outermost activations");
    assert_eq!((solve.distribution.min, solve.distribution.max), (5.0, 10.0));
    let exclusive = BalanceRequest { scope: Scope::Exclusive, ..request.clone() };
    let answer =
        balance_by_function(&session, &exclusive, Pooling::PerMember, &Control::new()).unwrap();
    let solve = by_name(&answer, "solve");
    assert_eq!((solve.num_contexts, solve.distribution.sum), (3, 15.0));
    // Each stored number for itself: 5, 2, 4, 8.
    let answer =
        balance_by_function(&session, &request, Pooling::PerValue, &Control::new()).unwrap();
    let solve = by_name(&answer, "solve");
    assert_eq!((solve.distribution.num_members, solve.distribution.mean), (4, 4.75));
    assert_eq!(solve.slowest[0].value, 8.0);
}

#[test]
fn loops_lose_their_inner_loops_in_the_lexical_aware_scope() {
    let session = open(&draw("CPUTIME (sec)", DRAWING));
    let tree = session.tree();
    let contexts = tree.iter().filter(|&c| tree.label(c).starts_with("loop")).collect();
    let request =
        BalanceRequest { scope: Scope::LexicalAware, ..BalanceRequest::new(TIME, contexts) };
    let answer = ask(&session, &request);
    let outer = &by_name(&answer, "loop at a.c:1").distribution;
    assert_eq!((outer.min, outer.max, outer.balance_ratio), (2.0, 2.0, Some(1.0)));
    assert_eq!(by_name(&answer, "loop at a.c:3").distribution.sum, 2.0);
}

#[test]
fn helper_threads_do_not_count_and_ranks_are_added_up() {
    let mut database = draw("CPUTIME (sec)", "main  .  .\n  work  3.0  1.0");
    let helper = ContextKind::Entry { entry_point: 2, name: "application thread".into() };
    let helper = database.add_context(None, helper);
    let helper = database.contexts[helper].id;
    let work = 3;
    // Rank 0 has a helper thread in another entry, and a worker thread beside its main thread;
    // rank 2 never got to work, and one thread has no samples at all.
    let tuple = |rank, thread| {
        vec![Id::node(7), Id::logical(kind::RANK, rank), Id::logical(kind::THREAD, thread)]
    };
    let mut add = |rank, thread, points: &[(u32, f64)]| {
        let point = |&(context, value)| Point { context, metric: 0, value };
        let points = points.iter().map(point).collect();
        database.profiles.push(Profile { tuple: tuple(rank, thread), points, trace: vec![] });
    };
    add(0, 1, &[(helper, 9.0)]);
    add(0, 2, &[(work, 2.0)]);
    add(2, 0, &[(2, 0.5)]);
    add(2, 1, &[]);
    let session = open(&database);
    let request = BalanceRequest::new(TIME, contexts_of(&session, "work"));
    let row = &ask(&session, &request).rows[0].distribution;
    assert_eq!((row.num_members, row.num_values, row.sum), (4, 3, 6.0));

    let ranks = Grouping::natural(&session);
    assert_eq!(ranks, Grouping::Identity(IdentityKind::Rank));
    let answer = ask(&session, &BalanceRequest { grouping: ranks, ..request.clone() });
    let row = &answer.rows[0].distribution;
    assert_eq!((row.num_members, row.max, row.min, row.mean), (3, 5.0, 0.0, 2.0));
    assert_eq!(answer.slowest_labels(&answer.rows[0]).next(), Some("rank 0"));

    let nodes = Grouping::Identity(IdentityKind::Node);
    let answer = ask(&session, &BalanceRequest { grouping: nodes, ..request.clone() });
    assert_eq!(answer.members.len(), 2, "{:?}", answer.members);

    let gpus = Grouping::Identity(IdentityKind::GpuStream);
    let answer = ask(&session, &BalanceRequest { grouping: gpus, ..request });
    assert_eq!((answer.rows.len(), answer.num_ungrouped), (0, 6));
}

#[test]
fn values_of_wrapped_counters_are_left_out_and_counted() {
    let drawing = "main  1.0  18400000000000000000.0  3.0";
    let session = open(&draw("perf::PAGE-FAULTS", drawing));
    let request = BalanceRequest::new(TIME, functions(&session));
    let answer = ask(&session, &request);
    assert_eq!(answer.num_wrapped, 1);
    assert_eq!(answer.rows[0].distribution.max, 3.0);
}

fn generated(options: &GenerateOptions) -> (Session, Planted, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let planted = generate(folder.path(), options, |_, _, _| {}).unwrap();
    (open_path(folder.path()), planted, folder)
}

fn context_of(session: &Session, planted: &Planted, phase: Phase) -> parallax_base::ContextIdx {
    let phase = planted.phases.iter().find(|planted| planted.phase == phase).unwrap();
    session.tree().by_source_id(phase.context_id).unwrap()
}

#[test]
fn a_planted_imbalance_is_found() {
    let options = GenerateOptions {
        ranks: 40,
        contexts: 400,
        values_per_rank: 300,
        trace: false,
        imbalance: Some(Imbalance { law: ImbalanceLaw::Linear, amplitude: 0.8 }),
        ..GenerateOptions::default()
    };
    let (session, planted, _folder) = generated(&options);
    let compute = context_of(&session, &planted, Phase::Compute);
    let exchange = context_of(&session, &planted, Phase::Exchange);
    let reduce = context_of(&session, &planted, Phase::Reduce);
    let request = BalanceRequest::new(TIME, vec![reduce, exchange, compute]);
    let answer = ask(&session, &request);
    let row = answer.rows.iter().find(|row| row.context == compute).unwrap();
    let expected: Vec<f64> =
        (0..40).map(|rank| planted.phase_seconds(Phase::Compute, rank, 0)).collect();
    close(row.distribution.max, expected[39]);
    close(row.distribution.min, expected[0]);
    close(row.distribution.sum, expected.iter().sum());
    // mean of 1 + 0.8 share over max of it: 1.4 / 1.8.
    close(row.distribution.balance_ratio.unwrap(), 1.4 / 1.8);
    let slowest: Vec<&str> = answer.slowest_labels(row).take(2).collect();
    assert_eq!(slowest, ["rank 39 thread 0", "rank 38 thread 0"]);
    let reduce = answer.rows.iter().find(|row| row.context == reduce).unwrap();
    close(reduce.distribution.balance_ratio.unwrap(), 1.0);
}

#[test]
fn planted_slow_nodes_are_found() {
    let options = GenerateOptions {
        ranks: 120,
        ranks_per_node: 4,
        contexts: 400,
        values_per_rank: 300,
        trace: false,
        imbalance: None,
        slow_nodes: Some(SlowNodes { count: 3, factor: 2.0 }),
        ..GenerateOptions::default()
    };
    let (session, planted, _folder) = generated(&options);
    let context = context_of(&session, &planted, Phase::SetupAllreduce);
    let request = BalanceRequest {
        grouping: Grouping::Identity(IdentityKind::Node),
        num_slowest: 3,
        ..BalanceRequest::new(TIME, vec![context])
    };
    let answer = ask(&session, &request);
    let row = &answer.rows[0];
    let slow = planted.slow_nodes.as_ref().unwrap();
    let mut found: Vec<u64> =
        row.slowest.iter().map(|slow| answer.members[slow.member].id.unwrap()).collect();
    let mut expected: Vec<u64> =
        slow.nodes.iter().map(|&node| u64::from(Planted::host_id(node))).collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    close(row.distribution.max, 4.0 * slow.slow_seconds);
    assert_eq!(row.distribution.histogram[15], 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn balance_does_not_depend_on_order_or_unit(
        database in arbitrary::database(),
        options in arbitrary::write_options(),
        shift in 0..8_usize,
    ) {
        let mut moved = database.clone();
        let len = moved.profiles.len().max(1);
        moved.profiles.rotate_left(shift % len);
        for point in moved.profiles.iter_mut().flat_map(|profile| &mut profile.points) {
            point.value *= 4.0;
        }
        let (a, b) = (open_with(&database, &options), open_with(&moved, &options));
        for grouping in [Grouping::Location, Grouping::Identity(IdentityKind::Rank)] {
            for scope in [Scope::Inclusive, Scope::LexicalAware] {
                let contexts = a.tree().iter().collect();
                let request =
                    BalanceRequest { grouping, scope, ..BalanceRequest::new(TIME, contexts) };
                let (a, b) = (ask(&a, &request), ask(&b, &request));
                prop_assert_eq!(a.rows.len(), b.rows.len());
                for (a, b) in a.rows.iter().zip(&b.rows) {
                    prop_assert_eq!(a.context, b.context);
                    let (x, y) = (&a.distribution, &b.distribution);
                    prop_assert_eq!(x.mean * 4.0, y.mean);
                    prop_assert_eq!(x.max * 4.0, y.max);
                    prop_assert_eq!(x.wasted * 4.0, y.wasted);
                    prop_assert_eq!(x.variance.map(|v| v * 16.0), y.variance);
                    prop_assert_eq!(x.balance_ratio, y.balance_ratio);
                    prop_assert_eq!(&x.histogram, &y.histogram);
                    let ratio = x.balance_ratio.unwrap();
                    prop_assert!(ratio > 0.0 && ratio <= 1.0, "{}", ratio);
                    prop_assert!(x.min <= x.percentiles[0] && x.percentiles[4] <= x.max);
                    let members: u32 = x.histogram.iter().sum();
                    prop_assert_eq!(members as usize, x.num_members);
                }
            }
        }
    }
}

#[test]
fn lulesh_as_hpcanalysis_sees_it() {
    let Some(root) = corpus() else { return };
    let session = open_path(&root.join("data/hpctoolkit/hpcviewer/issue-233"));
    let mut contexts = Vec::new();
    for name in ["MPI_Allreduce", "MPI_Waitall", "MPI_Wait", "MPI_Barrier"] {
        contexts.extend(contexts_of(&session, name));
    }
    let request = BalanceRequest::new(TIME, contexts);
    let pooled =
        balance_by_function(&session, &request, Pooling::PerValue, &Control::new()).unwrap();
    for (name, mean, ratio) in [
        ("MPI_Allreduce", 0.309637, 0.341992),
        ("MPI_Waitall", 0.116589, 0.088769),
        ("MPI_Wait", 0.010939, 0.186960),
        ("MPI_Barrier", 0.014832, 0.829998),
    ] {
        let row = &by_name(&pooled, name).distribution;
        assert!((row.mean - mean).abs() < 5e-7, "{name} {}", row.mean);
        assert!((row.balance_ratio.unwrap() - ratio).abs() < 5e-7, "{name}");
    }
    // Added up by rank, with the ranks that saw no sample in a barrier.
    let request = BalanceRequest { grouping: Grouping::natural(&session), ..request };
    let ranks =
        balance_by_function(&session, &request, Pooling::PerMember, &Control::new()).unwrap();
    let barrier = &by_name(&ranks, "MPI_Barrier").distribution;
    assert_eq!((barrier.num_members, barrier.num_values), (27, 16));
    close(barrier.balance_ratio.unwrap(), 0.491_850_608_302_762_8);
    close(by_name(&ranks, "MPI_Waitall").distribution.mean, 0.436_130_037_037_037_1);
}

#[test]
fn the_slowest_rank_of_reactor_is_the_last() {
    let Some(root) = corpus() else { return };
    for name in ["n512-p4", "n512-p8", "long-n512-p8", "n1024-p2"] {
        let session = open_path(&root.join("data/reactor/hpctoolkit").join(name));
        let request = BalanceRequest {
            grouping: Grouping::natural(&session),
            ..BalanceRequest::new(TIME, contexts_of(&session, "react"))
        };
        let answer =
            balance_by_function(&session, &request, Pooling::PerMember, &Control::new()).unwrap();
        let last = answer.members.len() - 1;
        assert_eq!(answer.rows[0].slowest[0].member, last, "{name}");
        assert!(answer.rows[0].distribution.balance_ratio.unwrap() < 0.85, "{name}");
    }
}

#[test]
fn every_real_database_has_a_balance_of_finite_numbers() {
    let Some(root) = corpus() else { return };
    let mut num_rows = 0;
    for path in databases(&root.join("data")) {
        let session = open_path(&path);
        let Ok(metric) = session.default_metric(&Control::new()) else { continue };
        let request = BalanceRequest {
            grouping: Grouping::natural(&session),
            ..BalanceRequest::new(metric.metric, session.tree().iter().collect())
        };
        let answer = ask(&session, &request);
        num_rows += answer.rows.len();
        for row in &answer.rows {
            let d = &row.distribution;
            let all = [d.sum, d.mean, d.min, d.max, d.saving, d.wasted];
            let optional = [d.variance, d.std_dev, d.variation, d.imbalance];
            assert!(all.iter().chain(optional.iter().flatten()).all(|x| x.is_finite()), "{row:?}");
            assert!(d.balance_ratio.is_some_and(|r| r > 0.0 && r <= 1.0), "{path:?} {row:?}");
        }
        let some = BalanceRequest {
            locations: LocationChoice::Some(
                session.experiment().locations.iter().take(3).collect(),
            ),
            scope: Scope::Exclusive,
            grouping: Grouping::Location,
            ..request
        };
        assert!(ask(&session, &some).members.len() <= 3);
    }
    assert!(num_rows > 10_000, "{num_rows}");
}
