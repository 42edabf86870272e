//! Blame of idle GPUs on handmade traces, drawn ones, and real ones.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

mod report_support;

use std::collections::BTreeMap;
use std::sync::Arc;

use parallax_analysis::idleness::{
    GpuBlame, Group, IdlenessOptions, NO_ACTIVE_THREAD, gpu_blame, gpu_work, idleness,
};
use parallax_base::{Control, Folder, MemoryFolder, MemorySink, TimeWindow};
use parallax_engine::Session;
use parallax_import::convert::{ConvertOptions, convert, recognise};
use parallax_model::IdentityKind;
use parallax_testkit::drawn::draw;
use parallax_testkit::hpctoolkit::{
    ContextKind, Database, Id, LexicalType, Profile, Relation, Sample, WriteOptions, arbitrary,
    kind,
};
use proptest::prelude::*;
use report_support::{corpus, databases, open, open_folder, open_path, open_with};

fn ask(session: &Session) -> GpuBlame {
    gpu_blame(session, &Control::new()).unwrap()
}

/// Nanoseconds by name, exclusive and inclusive.
fn by_name(
    session: &Session,
    rows: &[parallax_analysis::idleness::ContextBlame],
) -> Vec<(String, u128, u128)> {
    let tree = session.tree();
    rows.iter()
        .map(|row| (tree.label(row.context), row.exclusive_nanos, row.inclusive_nanos))
        .collect()
}

fn owned(rows: &[(&str, u128, u128)]) -> Vec<(String, u128, u128)> {
    rows.iter().map(|&(name, a, b)| (name.to_owned(), a, b)).collect()
}

/// A call of a function below a context, by its place in the database; gives its place.
fn call(database: &mut Database, parent: usize, name: &str) -> usize {
    let function = Some(database.function(name));
    let (relation, lexical) = (Relation::Call, LexicalType::Function);
    let node = ContextKind::Node { relation, lexical, function, source: None, point: None };
    database.add_context(Some(parent), node)
}

struct Drawn {
    database: Database,
    ids: BTreeMap<&'static str, u32>,
}

impl Drawn {
    /// `main` calls `init`, which calls `cudaMalloc` with a driver below, and `solve` from two lines.
    fn new() -> Self {
        let mut database = draw("CPUTIME (sec)", "main  .");
        database.profiles.clear();
        let mut ids = BTreeMap::new();
        let mut add = |database: &mut Database, parent, name| {
            let at = call(database, parent, name);
            ids.insert(name, database.contexts[at].id);
            at
        };
        // The drawing is an entry and `main`.
        let (entry, main) = (0, 1);
        let init = add(&mut database, main, "init");
        let malloc = add(&mut database, init, "cudaMalloc");
        add(&mut database, malloc, "driver");
        let solve = add(&mut database, main, "solve");
        let launch = add(&mut database, solve, "cudaLaunchKernel");
        add(&mut database, launch, "<gpu kernel>");
        add(&mut database, launch, "<gpu sync>");
        add(&mut database, entry, "<omp idle>");
        let again = call(&mut database, main, "solve");
        ids.insert("solve again", database.contexts[again].id);
        ids.insert("main", database.contexts[main].id);
        ids.insert("", 0);
        Self { database, ids }
    }

    fn track(&mut self, tuple: &[(u8, u32)], samples: &[(u64, &str)]) {
        let mut ids = vec![Id::node(9)];
        ids.extend(tuple.iter().map(|&(kind, number)| Id::logical(kind, number)));
        let sample = |&(nanos, name): &(u64, &str)| Sample {
            nanos: 1_700_000_000_000_000_000 + nanos,
            context: self.ids[name],
        };
        let trace = samples.iter().map(sample).collect();
        self.database.profiles.push(Profile { tuple: ids, points: Vec::new(), trace });
    }

    fn thread(&mut self, rank: u32, thread: u32, samples: &[(u64, &str)]) {
        self.track(&[(kind::RANK, rank), (kind::THREAD, thread)], samples);
    }

    fn stream(&mut self, rank: u32, stream: u32, samples: &[(u64, &str)]) {
        let tuple = [(kind::RANK, rank), (kind::GPUCONTEXT, 1), (kind::GPUSTREAM, stream)];
        self.track(&tuple, samples);
    }
}

/// Rank 0 has two threads and two streams, rank 1 one of each.
fn two_ranks() -> Drawn {
    let mut drawn = Drawn::new();
    drawn.thread(0, 0, &[(0, "main"), (20, "driver"), (50, "cudaMalloc"), (60, "solve"), (90, "")]);
    drawn.thread(
        0,
        1,
        &[(0, "<omp idle>"), (30, "solve again"), (80, "<omp idle>"), (110, "main")],
    );
    drawn.stream(0, 1, &[(55, "<gpu kernel>"), (70, ""), (100, "<gpu kernel>"), (105, "")]);
    drawn.stream(0, 2, &[(40, "<gpu sync>"), (50, "<gpu kernel>"), (60, "<gpu sync>"), (95, "")]);
    drawn.thread(1, 0, &[(0, "solve"), (10, "main"), (40, "main")]);
    drawn.stream(1, 1, &[(0, "<gpu kernel>"), (30, "")]);
    drawn
}

#[test]
fn idle_time_is_shared_among_the_threads_that_work() {
    let session = open(&two_ranks().database);
    let blame = ask(&session);
    // Rank 0 is idle from 0 to 50, 70 to 100 and 105 to 110. Thread 1 waits until 30 and from 80;
    // nobody works from 90 to 100 and after 105.
    // main: 20; driver: 10 alone and half of 20 with solve; solve: the other half, 10 in both
    // threads, and 10 alone.
    // Rank 1 is idle from 30 to 40, in main.
    assert_eq!(
        by_name(&session, &blame.contexts),
        owned(&[("main", 30, 80), ("driver", 20, 20), ("solve", 15, 15), ("solve", 15, 15)])
    );
    // What cudaMalloc calls is its own, and the line that calls does not matter.
    assert_eq!(
        by_name(&session, &blame.calls),
        owned(&[("main", 30, 80), ("solve", 30, 30), ("cudaMalloc", 20, 20)])
    );
    let rank = |at: usize| {
        let r = &blame.ranks[at];
        (r.group, r.num_streams, r.num_threads, r.span_nanos, r.idle_nanos, r.unattributed_nanos)
    };
    assert_eq!(rank(0), (Group::Rank(0), 2, 2, 110, 85, 15));
    assert_eq!(rank(1), (Group::Rank(1), 1, 1, 40, 10, 0));
    assert_eq!(blame.ranks[0].first.map(|(_, nanos)| nanos), Some(30));
    assert_eq!((blame.idle_nanos(), blame.unattributed_nanos()), (95, 15));
    assert_eq!(NO_ACTIVE_THREAD, "<no thread active>");
}

#[test]
fn work_of_gpus_is_named_by_who_starts_it_and_compared_over_ranks() {
    let session = open(&two_ranks().database);
    let work = gpu_work(&session, &Control::new()).unwrap();
    let [kernels] = work.as_slice() else { panic!("{work:?}") };
    // Rank 0: 15 + 5 and 10 ns; rank 1: 30 ns. Waiting is no work.
    assert_eq!((kernels.name.as_str(), kernels.percent), ("kernels of solve", 100.0));
    assert!((kernels.seconds - 60e-9).abs() < 1e-15);
    assert_eq!((kernels.balance_ratio, kernels.slowest), (Some(1.0), Group::Rank(0)));
}

#[test]
fn without_threads_nobody_is_blamed_and_without_gpus_there_is_nothing() {
    let mut drawn = Drawn::new();
    drawn.stream(3, 1, &[(0, "<gpu kernel>"), (30, ""), (50, "<gpu kernel>"), (60, "")]);
    let blame = ask(&open(&drawn.database));
    assert_eq!((blame.idle_nanos(), blame.unattributed_nanos()), (20, 20));
    assert_eq!((blame.contexts.len(), blame.ranks[0].num_threads), (0, 0));

    let mut drawn = Drawn::new();
    drawn.thread(0, 0, &[(0, "main"), (20, "solve"), (50, "")]);
    assert_eq!(ask(&open(&drawn.database)), GpuBlame::default());

    let no_traces = WriteOptions { traces: false, ..WriteOptions::default() };
    let error = gpu_blame(&open_with(&two_ranks().database, &no_traces), &Control::new());
    assert!(error.unwrap_err().to_string().contains("no traces"));
}

/// A trace as PyTorch writes it: GPUs are processes of their own, numbered from 0.
fn pytorch(flows: bool, others: &str) -> Session {
    let mut events = vec![
        r#"{"ph":"M","name":"process_name","pid":700,"args":{"name":"python"}}"#.to_owned(),
        r#"{"ph":"M","name":"process_name","pid":0,"args":{"name":"GPU 0"}}"#.to_owned(),
        r#"{"ph":"M","name":"thread_name","pid":0,"tid":7,"args":{"name":"stream 7"}}"#.to_owned(),
        r#"{"ph":"X","name":"train","pid":700,"tid":700,"ts":0,"dur":100}"#.to_owned(),
        r#"{"ph":"X","name":"load","pid":700,"tid":700,"ts":10,"dur":40}"#.to_owned(),
        r#"{"ph":"X","name":"saxpy","pid":0,"tid":7,"ts":60,"dur":30}"#.to_owned(),
    ];
    if flows {
        for (phase, pid, tid, ts) in [("s", 700, 700, 55), ("f", 0, 7, 60)] {
            events.push(format!(
                r#"{{"ph":"{phase}","id":1,"name":"ac2g","cat":"ac2g","bp":"e","pid":{pid},"tid":{tid},"ts":{ts}}}"#
            ));
        }
    }
    if !others.is_empty() {
        events.push(others.to_owned());
    }
    let text = format!(r#"{{"schemaVersion":1,"traceEvents":[{}]}}"#, events.join(",\n"));
    let folder: Arc<dyn Folder> =
        Arc::new(MemoryFolder::new("m", [("t.json".to_owned(), text.into_bytes())]));
    let input = recognise(&folder, "t.json").unwrap().unwrap();
    let (sink, options) = (MemorySink::new(), ConvertOptions::default());
    convert(&input, "t", Arc::new(sink.clone()), &options, &Control::new()).unwrap();
    let folder: Arc<dyn Folder> = Arc::new(sink.into_folder("t"));
    open_folder(&folder)
}

#[test]
fn gpus_that_are_processes_of_their_own_belong_to_the_rank_that_starts_their_work() {
    // A second process has threads, too, so that only flows say whose the GPU is.
    let another = r#"{"ph":"X","name":"serve","pid":900,"tid":900,"ts":0,"dur":100}"#;
    for (flows, others) in [(true, another), (true, ""), (false, "")] {
        let session = pytorch(flows, others);
        let blame = ask(&session);
        assert_eq!(
            by_name(&session, &blame.contexts),
            owned(&[("load", 40_000, 40_000), ("train", 30_000, 70_000)]),
            "{flows} {others}"
        );
        assert_eq!(blame.ranks[0].group, Group::Rank(700));
        assert_eq!(blame.unattributed_nanos(), 0);
        let work = gpu_work(&session, &Control::new()).unwrap();
        assert_eq!(work[0].name, "saxpy");
    }
    // Two processes and no flows: nobody knows.
    let blame = ask(&pytorch(false, another));
    assert_eq!((blame.ranks[0].group, blame.ranks[0].num_threads), (Group::Rank(0), 0));
}

/// Blame and idle time of the same traces, which are counted in different ways.
fn agrees_with_idleness(session: &Session) -> Result<(), TestCaseError> {
    let blame = ask(session);
    let idle = idleness(session, &IdlenessOptions::default(), &Control::new()).unwrap();
    let traced: BTreeMap<Group, u64> =
        idle.gpu.iter().filter_map(|row| Some((row.group, row.traced?.idle_nanos()))).collect();
    for rank in &blame.ranks {
        prop_assert_eq!(Some(rank.idle_nanos), traced.get(&rank.group).copied());
        prop_assert!(rank.unattributed_nanos <= rank.idle_nanos);
        prop_assert!(rank.idle_nanos <= rank.span_nanos);
    }
    prop_assert_eq!(traced.len(), blame.ranks.len());
    for rows in [&blame.contexts, &blame.calls] {
        let sum: u128 = rows.iter().map(|row| row.exclusive_nanos).sum();
        prop_assert_eq!(sum + blame.unattributed_nanos(), blame.idle_nanos());
        prop_assert!(rows.is_sorted_by(|a, b| a.exclusive_nanos >= b.exclusive_nanos));
        prop_assert!(rows.iter().all(|row| row.inclusive_nanos >= row.exclusive_nanos));
        for row in rows.iter().filter(|_| std::ptr::eq(rows, &blame.contexts)) {
            let below: u128 = rows
                .iter()
                .filter(|other| session.tree().is_within(other.context, row.context))
                .map(|other| other.exclusive_nanos)
                .sum();
            prop_assert_eq!(row.inclusive_nanos, below);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn shares_add_up_to_the_idle_time(
        database in arbitrary::database(),
        options in arbitrary::write_options(),
    ) {
        let session = open_with(&database, &options);
        if session.experiment().traces.is_some() {
            agrees_with_idleness(&session)?;
        }
    }
}

/// What a thread did while a stream was idle, for one of each: interval by interval.
fn of_one_thread(session: &Session) -> BTreeMap<u32, u128> {
    let store = session.traces().unwrap();
    let locations = &session.experiment().locations;
    let (mut busy, mut ran) = (Vec::new(), Vec::new());
    for (track, described) in store.track_ids().zip(store.tracks()) {
        let stream = locations.identity(described.location, IdentityKind::GpuStream);
        let list = if stream.is_some() { &mut busy } else { &mut ran };
        store.visit(track, TimeWindow::ALL, &mut |interval| list.push(interval)).unwrap();
    }
    busy.retain(|interval| interval.context != 0);
    let mut out = BTreeMap::new();
    for interval in ran.iter().filter(|interval| interval.context != 0) {
        let window = TimeWindow::new(interval.start_nanos, interval.end_nanos);
        let taken = busy
            .iter()
            .map(|b| window.intersect(TimeWindow::new(b.start_nanos, b.end_nanos)).nanos());
        let idle = u128::from(window.nanos() - taken.sum::<u64>());
        let context = session.tree().by_source_id(interval.context).unwrap();
        let function = session.tree().enclosing_function(context).unwrap_or(context);
        *out.entry(function.get()).or_default() += idle;
    }
    out.retain(|_, nanos| *nanos > 0);
    out
}

#[test]
fn blame_of_real_programs_is_what_their_only_thread_did_meanwhile() {
    let Some(root) = corpus() else { return };
    let mut num_with_gpus = 0;
    for path in databases(&root.join("data")) {
        let session = open_path(&path);
        if session.experiment().traces.is_none() {
            continue;
        }
        agrees_with_idleness(&session).unwrap();
        let blame = ask(&session);
        num_with_gpus += usize::from(!blame.ranks.is_empty());
        if blame.ranks.len() == 1 && blame.ranks[0].num_streams == 1 {
            let rows = blame.contexts.iter().map(|row| (row.context.get(), row.exclusive_nanos));
            assert_eq!(rows.collect::<BTreeMap<_, _>>(), of_one_thread(&session), "{path:?}");
        }
    }
    assert!(num_with_gpus >= 8, "{num_with_gpus}");
    let session = open_path(&root.join("data/hpctoolkit/hpcviewer/quicksilver"));
    let first = ask(&session).calls[0];
    assert_eq!(session.tree().label(first.context), "cudaMallocManaged");
    let work = gpu_work(&session, &Control::new()).unwrap();
    assert_eq!(work[0].name, "kernels of CycleTrackingKernel");
    assert!((work[0].seconds - 0.8194).abs() < 1e-4, "{work:?}");
}
