//! GPUs are compared with each other, however their work is spread over streams.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops where it cannot go on")]

mod report_support;

use parallax_analysis::devices::Devices;
use parallax_analysis::events::Activities;
use parallax_analysis::iterations::{
    Cube, Finding, Iterations, IterationsQuestion, MapOf, Statistics, Units, find_iterations,
    map_of,
};
use parallax_base::{Control, LocationIdx, TimeWindow};
use parallax_engine::Session;
use parallax_testkit::hpctoolkit::iterations::{
    IterationPlan, PlannedPhase, Recording, START_NANOS,
};
use parallax_testkit::hpctoolkit::{Database, Id, Sample, kind};
use proptest::prelude::*;
use report_support::open;

const MS: u64 = 1_000_000;
const PERIOD: u64 = 60 * MS;

/// Streams that execute two kernels one after the other in each iteration, both `nanos` long.
fn streams(nanos: &[u64], iterations: usize) -> Database {
    let phase = |name: &str| PlannedPhase {
        name: name.into(),
        pieces: 1,
        nanos: nanos.iter().map(|&nanos| vec![nanos; iterations]).collect(),
    };
    let plan = IterationPlan {
        title: "streams".into(),
        caller: "step".into(),
        phases: vec![phase("first"), phase("second")],
        begins_nanos: (0..iterations as u64).map(|i| 100 * MS + i * PERIOD).collect(),
        span_nanos: 200 * MS + iterations as u64 * PERIOD,
        recording: Recording::GpuStreams,
        waiting_ranks: 0,
    };
    plan.database()
}

/// A stream as its tool tells it from others: node, rank, and what is of the GPU.
fn stream(rank: u32, of_gpu: &[(u8, u32)]) -> Vec<Id> {
    let mut tuple = vec![Id::node(0x5A09_0500), Id::logical(kind::RANK, rank)];
    tuple.extend(of_gpu.iter().map(|&(kind, number)| Id::logical(kind, number)));
    tuple
}

/// Gives the streams of a database, which come last, other identities.
fn named(mut database: Database, identities: &[Vec<Id>]) -> Database {
    let from = database.profiles.len() - identities.len();
    for (profile, tuple) in database.profiles[from..].iter_mut().zip(identities) {
        profile.tuple.clone_from(tuple);
    }
    database
}

fn ask(session: &Session) -> Finding {
    let tracks = session.traces().unwrap().track_ids().collect();
    let question = IterationsQuestion { tracks, window: TimeWindow::ALL, marker: Vec::new() };
    find_iterations(session, &question, &Control::new()).unwrap()
}

fn found(session: &Session) -> (Iterations, Statistics) {
    let finding = ask(session);
    let why = format!("{:?}", finding.groups);
    finding.iterations.unwrap_or_else(|| panic!("no iterations: {why}"))
}

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-9, "{value}, not {expected}");
}

fn all_savings(statistics: &Statistics) -> [f64; 3] {
    let Statistics { saving_seconds, joint_saving_seconds, lasting_saving_seconds, .. } =
        statistics;
    [*saving_seconds, *joint_saving_seconds, *lasting_saving_seconds]
}

/// The streams 1 and 2 of a context of a rank.
fn of_context(rank: u32, nth: u32) -> Vec<Id> {
    stream(rank, &[(kind::GPUCONTEXT, 1), (kind::GPUSTREAM, nth)])
}

#[test]
fn gpus_that_do_the_same_are_balanced_whatever_their_streams_do() {
    // One stream has five times the work of the other one, on both GPUs.
    let identities = [of_context(0, 1), of_context(0, 2), of_context(1, 1), of_context(1, 2)];
    let session = open(&named(streams(&[20 * MS, 4 * MS, 20 * MS, 4 * MS], 40), &identities));
    let (iterations, statistics) = found(&session);
    assert_eq!((iterations.len(), iterations.streams.len()), (40, 2));
    assert_eq!(iterations.locations_name(), "GPUs");
    for saving in all_savings(&statistics) {
        near(saving, 0.0);
    }
    assert!(statistics.contexts.iter().all(|row| (row.balance_ratio - 1.0).abs() < 1e-12));
    // The second kernel of the short stream runs while the long one is in its first.
    near(statistics.locations[0].computing_seconds, 0.040);
}

#[test]
fn a_single_gpu_with_two_streams_has_nobody_to_be_compared_with() {
    let identities = [of_context(0, 1), of_context(0, 2)];
    let session = open(&named(streams(&[20 * MS, 4 * MS], 40), &identities));
    let (iterations, statistics) = found(&session);
    assert_eq!((iterations.len(), iterations.streams.len()), (40, 1));
    for saving in all_savings(&statistics) {
        near(saving, 0.0);
    }
}

#[test]
fn the_time_of_a_gpu_is_the_union_of_its_streams() {
    // The streams of the first GPU are active for 40 and 20 ms of the same time, and for 20 us between
    // the kernels of the one; those of the second GPU for 24 and 4.
    let identities = [of_context(0, 1), of_context(0, 2), of_context(1, 1), of_context(1, 2)];
    let session = open(&named(streams(&[20 * MS, 10 * MS, 12 * MS, 2 * MS], 40), &identities));
    let (iterations, statistics) = found(&session);
    let computing: Vec<f64> =
        statistics.locations.iter().map(|row| row.computing_seconds).collect();
    near(computing[0], 0.04002);
    near(computing[1], 0.024);
    // Balanced, both take 32.01 ms: 8.01 ms less in each iteration.
    near(statistics.joint_saving_seconds, 0.00801 * 40.0);
    near(statistics.lasting_saving_seconds, 0.00801 * 40.0);
    // Both kernels are active for 20 ms on the one, and 12 on the other; those of the first GPU for
    // 9.98 ms at the same time, those of the second one for 1.98: what is saved twice counts once.
    near(statistics.overlap, (40.02 + 24.0) / (20.0 + 30.0 + 12.0 + 14.0));
    let sum = statistics.contexts.iter().map(|row| row.total_saving_seconds).sum::<f64>();
    near(statistics.saving_seconds, sum * statistics.overlap);
    let tree = session.tree();
    // The first kernel takes 20 ms on the one, 12 on the other.
    let row = statistics.contexts.iter().find(|row| tree.label(row.context) == "first").unwrap();
    near(row.mean_seconds, 0.016);
    near(row.max_seconds, 0.020);
    near(row.total_saving_seconds, 0.004 * 40.0);
    let units = Units::new(tree, &Activities::new(tree));
    let map = map_of(&session, &iterations, &units, MapOf::Computing, &Control::new()).unwrap();
    let expected = [vec![40 * MS + 20_000; 40], vec![24 * MS; 40]].concat();
    assert_eq!(map, expected);
    let locations = &session.experiment().locations;
    let of_first: Vec<LocationIdx> = iterations.streams[0]
        .iter()
        .map(|&track| session.traces().unwrap().track(track).unwrap().location)
        .collect();
    assert_eq!(Devices::new(locations).label(&of_first), "rank 0 gpucontext 1 (2 streams)");
}

#[test]
fn ranks_share_a_gpu_where_numbers_are_those_of_the_node() {
    let on = |rank, device| stream(rank, &[(kind::GPUDEVICE, device), (kind::GPUSTREAM, 1)]);
    let work = [20 * MS, 4 * MS, 20 * MS, 4 * MS];
    // Two ranks on the GPU 0 and two on the GPU 1: numbers of a rank would begin at 0.
    let session = open(&named(streams(&work, 40), &[on(0, 0), on(1, 0), on(2, 1), on(3, 1)]));
    let finding = ask(&session);
    let (iterations, statistics) = finding.iterations.unwrap();
    assert_eq!(iterations.streams.len(), 2);
    for saving in all_savings(&statistics) {
        near(saving, 0.0);
    }
    assert_eq!(finding.groups[0].limits, Vec::<String>::new());
    // Each rank sees a GPU 0: its own one, as far as anybody can tell, and that is said.
    let session = open(&named(streams(&work, 40), &[on(0, 0), on(1, 0), on(2, 0), on(3, 0)]));
    let finding = ask(&session);
    let (iterations, statistics) = finding.iterations.unwrap();
    assert_eq!(iterations.streams.len(), 4);
    near(statistics.joint_saving_seconds, 0.016 * 40.0);
    let limits = &finding.groups[0].limits;
    assert!(limits.iter().any(|limit| limit.contains("numbers its GPUs from 0")), "{limits:?}");
}

/// Gives a stream nothing but copies, at times that have no rule.
fn only_copies(database: &mut Database, at: usize) {
    let profile = database.profiles.len() - at;
    let copy = database.function("<gpu copy>");
    let parent = database.contexts.iter().position(|context| context.id == 1);
    let node = parallax_testkit::hpctoolkit::ContextKind::Node {
        relation: parallax_testkit::hpctoolkit::Relation::Call,
        lexical: parallax_testkit::hpctoolkit::LexicalType::Function,
        function: Some(copy),
        source: None,
        point: None,
    };
    let context = database.add_context(parent.or(Some(0)), node);
    let context = database.contexts[context].id;
    let mut nanos = START_NANOS + 100 * MS;
    let mut trace = Vec::new();
    let mut state = at as u64;
    while nanos < START_NANOS + 2300 * MS {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040);
        trace.push(Sample { nanos, context });
        nanos += MS + (state >> 33) % (9 * MS);
        trace.push(Sample { nanos, context: 0 });
        nanos += MS + (state >> 40) % (40 * MS);
    }
    database.profiles[profile].trace = trace;
}

#[test]
fn a_stream_that_only_copies_hides_no_iterations() {
    let both = [of_context(0, 1), of_context(0, 2), of_context(1, 1), of_context(1, 2)];
    let apart = |rank, context| stream(rank, &[(kind::GPUCONTEXT, context), (kind::GPUSTREAM, 1)]);
    // In the context that computes, or in one of its own.
    for identities in [both, [apart(0, 1), apart(0, 2), apart(1, 1), apart(1, 2)]] {
        let mut database = named(streams(&[20 * MS, 1, 15 * MS, 1], 36), &identities);
        only_copies(&mut database, 3);
        only_copies(&mut database, 1);
        let session = open(&database);
        let (iterations, statistics) = found(&session);
        assert_eq!((iterations.len(), iterations.streams.len()), (36, 2));
        let tree = session.tree();
        let row = statistics.contexts.iter().find(|row| tree.label(row.context) == "first");
        near(row.unwrap().total_saving_seconds, 0.0025 * 36.0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn streams_that_are_split_in_two_change_nothing(
        work in prop::collection::vec(2_u64..25, 2..5),
        iterations in 20_usize..40,
    ) {
        let nanos: Vec<u64> = work.iter().map(|ms| ms * MS).collect();
        let whole = streams(&nanos, iterations);
        // Every other kernel is on a second stream of the same GPU.
        let mut split = whole.clone();
        let from = split.profiles.len() - nanos.len();
        for at in 0..nanos.len() {
            let profile = &mut split.profiles[from + at];
            let all = std::mem::take(&mut profile.trace);
            let (one, other): (Vec<(usize, Sample)>, Vec<_>) =
                all.into_iter().enumerate().partition(|(nth, _)| nth / 2 % 2 == 0);
            profile.trace = one.into_iter().map(|(_, sample)| sample).collect();
            let mut second = profile.clone();
            second.trace = other.into_iter().map(|(_, sample)| sample).collect();
            *second.tuple.last_mut().unwrap() = Id::logical(kind::GPUSTREAM, 2);
            split.profiles.push(second);
        }
        let describe = |database: &Database| {
            let session = open(database);
            let (iterations, statistics) = found(&session);
            let units = Units::new(session.tree(), &Activities::new(session.tree()));
            let cube = Cube::read(&session, &iterations, &units, &Control::new()).unwrap();
            (iterations.len(), iterations.bounds, statistics, cube)
        };
        prop_assert_eq!(describe(&whole), describe(&split));
    }
}
