//! Databases of Parceive: golden values, and the joins of Parceive's own pipeline.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use parallax_base::{
    ActivationIdx, ContextIdx, Control, Limits, LocationIdx, MemorySource, ReferenceIdx, ThreadIdx,
};
use parallax_import::{ImportError, is_experiment_file, open_file};
use parallax_model::{
    ActivationKind, Activations, ContextChoice, ContextKind, Experiment, MetricChoice, Plan, Scope,
    SliceRequest, StorageClass, SyncKind,
};
use parallax_testkit::needs;
use parallax_testkit::parceive::{Program, Schema};
use parallax_testkit::sqlite::{self, Connection};

/// The databases of the corpus; none where the corpus is absent.
fn corpus() -> Vec<PathBuf> {
    let names = ["nested_test.db", "nested_tests_with_calls.db"];
    let paths = names.iter().map(|name| needs::corpus_path(&format!("data/parceive/{name}")));
    paths.flatten().collect()
}

fn open(bytes: Vec<u8>) -> Experiment {
    open_file(&MemorySource::shared(bytes), "test.db", &Limits::default()).unwrap()
}

fn open_path(path: &Path) -> Experiment {
    open(std::fs::read(path).unwrap())
}

fn activations(experiment: &Experiment) -> &Activations {
    experiment.activations.as_ref().unwrap()
}

/// The activation of a kind with an id of the source.
fn find(activations: &Activations, kind: ActivationKind, id: u64) -> ActivationIdx {
    let tree = &activations.tree;
    tree.iter().find(|&a| tree.kind(a) == kind && tree.source_id(a) == id).unwrap()
}

fn id_of(activations: &Activations, activation: Option<ActivationIdx>) -> Option<i64> {
    activation.map(|a| activations.tree.source_id(a).try_into().unwrap())
}

/// The value of a metric over all threads at a context.
fn value(experiment: &Experiment, metric: &str, scope: &Scope, context: ContextIdx) -> f64 {
    let (_, metric) = experiment.metrics.iter().find(|(_, m)| &*m.name == metric).unwrap();
    let id = metric.sum_id_in(scope).unwrap();
    let request = SliceRequest {
        locations: vec![LocationIdx::new(0)],
        contexts: ContextChoice::Ids(vec![experiment.contexts.source_id(context)]),
        metrics: MetricChoice::Ids { values: vec![id], statistics: vec![id] },
        plan: Plan::Cheapest,
    };
    let control = Control::default();
    let slice = experiment.profiles.as_ref().unwrap().slice(&request, &control).unwrap();
    // Nothing is 0, and not -0 as a sum of nothing is.
    slice.value.iter().fold(0.0, |sum, value| sum + value)
}

/// Rows of whole numbers and nulls that a database of SQLite answers with.
fn rows(database: &Path, sql: &str) -> BTreeSet<Vec<Option<i64>>> {
    let bytes = std::fs::read(database).unwrap();
    let mut connection = Connection::open_in_memory().unwrap();
    connection.deserialize_read_exact("main", &bytes[..], bytes.len(), true).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let columns = statement.column_count();
    let found = statement
        .query_map([], |row| (0..columns).map(|i| row.get::<_, Option<i64>>(i)).collect())
        .unwrap();
    found.map(|row| row.unwrap()).collect()
}

#[test]
fn golden_values_of_nested_tests_with_calls() {
    let Some(path) = corpus().into_iter().find(|p| p.ends_with("nested_tests_with_calls.db"))
    else {
        return;
    };
    let experiment = open_path(&path);
    let activations = activations(&experiment);
    let tree = &activations.tree;
    assert_eq!(experiment.metadata.title, "nested_test_with_calls");
    assert_eq!(experiment.metadata.format, "Parceive (2016 schema)");
    let count = |kind| tree.count(kind);
    assert_eq!(count(ActivationKind::Call), 18);
    assert_eq!(count(ActivationKind::LoopExecution), 3);
    assert_eq!(count(ActivationKind::Iteration), 6);
    assert_eq!((activations.threads.len(), activations.references.len()), (7, 29));
    // Accesses of the database, one by one: none is lost.
    let touches = activations.touches.all();
    let sum: u32 = touches.map(|touch| touch.reads + touch.writes).sum();
    assert_eq!(sum, 92);

    // Cycles are exact; the rate is that of the nanoseconds of the threads' times.
    let main = experiment.contexts.children(ContextIdx::new(0)).next().unwrap();
    assert_eq!(experiment.contexts.label(main), "main");
    let inclusive = |metric, context| value(&experiment, metric, &Scope::Inclusive, context);
    assert_eq!(inclusive("CYCLES", main), 580_033_077.0);
    let rate = activations.clock.ticks_per_second;
    assert!((rate - 2.599_63e9).abs() < 5e4, "{rate}");
    // 223.121 ms. Parceive's own pipeline says 223.209 ms, because it cuts times to milliseconds.
    assert!((inclusive("TIME", main) - 0.223_121).abs() < 2e-6, "{}", inclusive("TIME", main));

    let millis = |kind, id| tree.nanos(find(activations, kind, id)) as f64 / 1e6;
    let calls = [(3, 164.50), (5, 154.48), (7, 124.66), (8, 120.15), (9, 120.18), (10, 136.46)];
    for (id, expected) in calls {
        let found = millis(ActivationKind::Call, id);
        assert!((found / expected - 1.0).abs() < 3e-4, "call {id}: {found}");
    }
    for (id, cycles) in [(1, 169_322_693.0), (2, 45_956_819.0), (3, 20_679_539.0)] {
        let found = millis(ActivationKind::LoopExecution, id) * rate / 1e3;
        assert!((found - cycles).abs() < 3.0, "loop execution {id}: {found}");
        let execution = find(activations, ActivationKind::LoopExecution, id);
        assert_eq!(tree.children(execution).count(), 2);
    }
    let calls =
        |id| id_of(activations, tree.parent(find(activations, ActivationKind::LoopExecution, id)));
    assert_eq!([1, 2, 3].map(calls), [Some(1), Some(3), Some(5)]);
    // Loops 0, 1 and 1 by line.
    let line = |id| {
        experiment.contexts.line(tree.context(find(activations, ActivationKind::LoopExecution, id)))
    };
    assert_eq!([1, 2, 3].map(line), [61, 40, 40]);
}

#[test]
fn threads_know_who_started_them() {
    let Some(path) = corpus().into_iter().find(|p| p.ends_with("nested_tests_with_calls.db"))
    else {
        return;
    };
    let experiment = open_path(&path);
    let activations = activations(&experiment);
    let creators: Vec<_> = activations
        .threads
        .iter()
        .map(|thread| {
            let creator = thread.creator?;
            let call = activations.tree.call_of(creator.site.activation)?;
            Some((creator.thread.get(), activations.tree.source_id(call), creator.site.line))
        })
        .collect();
    // By CreateInstruction; the column ParentThread names the thread itself.
    assert_eq!(
        creators,
        [
            None,
            Some((0, 1, 63)),
            Some((0, 1, 63)),
            Some((1, 3, 42)),
            Some((2, 5, 42)),
            Some((2, 5, 42)),
            Some((1, 3, 42)),
        ]
    );
    // Main is the entry of thread 0, although Thread.Call says call 0, which does not exist.
    let entries: Vec<_> =
        activations.threads.iter().map(|thread| id_of(activations, thread.entry)).collect();
    assert_eq!(entries, [1, 3, 5, 7, 9, 8, 10].map(Some));
    let forks = activations.syncs.iter().filter(|sync| sync.kind == SyncKind::Fork);
    assert_eq!(forks.count(), 6);
    assert!(experiment.issues.list().iter().any(|issue| issue.kind == "join-unknown"));
}

#[test]
fn times_of_threads_agree_although_their_digits_are_not_padded() {
    for path in corpus() {
        let experiment = open_path(&path);
        let activations = activations(&experiment);
        let rate = activations.clock.ticks_per_second;
        assert!(!activations.clock.is_assumed);
        for thread in &activations.threads {
            let wall = thread.wall_end_nanos.unwrap() - thread.wall_start_nanos.unwrap();
            let own = thread.lifetime_cycles.unwrap() as f64 * 1e9 / wall as f64;
            assert!((own / rate - 1.0).abs() < 2e-4, "{own} of {rate}");
            // Wall time is anchored on ends: a thread ends with its entry call, and not minutes
            // later as in Parceive's own pipeline.
            let end = activations.tree.time(thread.entry.unwrap()).end_nanos;
            let end = activations.clock.wall_origin_nanos.unwrap() + i64::try_from(end).unwrap();
            assert!((end - thread.wall_end_nanos.unwrap()).abs() < 1_000_000, "{path:?}");
        }
    }
}

#[test]
fn joins_equal_those_of_the_processed_databases() {
    for path in corpus() {
        let processed = path.parent().unwrap().join("processed").join(path.file_name().unwrap());
        let experiment = open_path(&path);
        let a = activations(&experiment);
        let tree = &a.tree;
        let id = |activation| id_of(a, activation);
        let calls = || tree.iter().filter(|&c| tree.kind(c) == ActivationKind::Call);
        let executions = || tree.iter().filter(|&c| tree.kind(c) == ActivationKind::LoopExecution);
        let call_of_parent = |c| tree.parent(c).and_then(|parent| tree.call_of(parent));
        let calls_of = |c: ActivationIdx| calls().filter(move |&d| call_of_parent(d) == Some(c));

        let found: BTreeSet<_> = calls()
            .map(|c| {
                let parent = tree.parent(c);
                let iteration = parent.filter(|&p| tree.kind(p) == ActivationKind::Iteration);
                let execution = iteration.and_then(|i| tree.parent(i));
                let loops = executions().filter(|&e| call_of_parent(e) == Some(c)).count();
                let children = calls_of(c).count();
                let caller = parent.and_then(|parent| tree.call_of(parent));
                vec![
                    id(Some(c)),
                    Some(a.threads[tree.thread(c).idx()].source_id.try_into().unwrap()),
                    id(caller),
                    id(iteration),
                    id(execution),
                    Some(children.try_into().unwrap()),
                    Some(loops.try_into().unwrap()),
                ]
            })
            .collect();
        let sql = "SELECT Id, Thread, Caller, CallerIteration, CallerExecution, CallsOther, \
                   LoopCount FROM Call";
        assert_eq!(found, rows(&processed, sql), "{path:?}");

        let found: BTreeSet<_> = executions()
            .map(|e| {
                let call = tree.parent(e).and_then(|parent| tree.call_of(parent));
                let iterations = tree.children(e).count().try_into().unwrap();
                vec![id(Some(e)), id(call), Some(iterations)]
            })
            .collect();
        let sql = "SELECT Id, Call, IterationsCount FROM LoopExecution";
        assert_eq!(found, rows(&processed, sql), "{path:?}");

        // Call groups by function, caller and thread.
        let mut groups: BTreeMap<_, i64> = BTreeMap::new();
        for c in calls() {
            let label = experiment.contexts.label(tree.context(c));
            *groups.entry((label, id(call_of_parent(c)), tree.thread(c))).or_default() += 1;
        }
        let mut found: Vec<_> = groups
            .into_iter()
            .map(|((_, caller, thread), count)| {
                vec![
                    caller,
                    Some(a.threads[thread.idx()].source_id.try_into().unwrap()),
                    Some(count),
                ]
            })
            .collect();
        found.sort();
        let expected: Vec<_> = rows(&processed, "SELECT Caller, Thread, Count, Id FROM CallGroup")
            .into_iter()
            .map(|row| row[..3].to_vec())
            .collect();
        assert_eq!(found, expected, "{path:?}");

        // The closure of calls, which they store and we do not.
        let found: BTreeSet<_> = calls()
            .flat_map(|c| {
                let above = tree.ancestors(c).filter(|&b| tree.kind(b) == ActivationKind::Call);
                above.zip(1..).map(move |(b, depth)| vec![id(Some(b)), id(Some(c)), Some(depth)])
            })
            .collect();
        assert_eq!(found, rows(&processed, "SELECT Ancestor, Descendant, Depth FROM CallTree"));

        // Reads and writes of calls, iterations and executions.
        let sums = |wanted: &dyn Fn(ActivationIdx) -> Option<ActivationIdx>| {
            let mut sums: BTreeMap<_, (i64, i64)> = BTreeMap::new();
            for activation in tree.iter() {
                let Some(of) = wanted(activation) else { continue };
                for touch in a.touches.of(activation) {
                    let reference = a.references.get(touch.reference.idx()).unwrap().source_id;
                    let sum = sums.entry((tree.source_id(of), reference)).or_default();
                    *sum = (sum.0 + i64::from(touch.reads), sum.1 + i64::from(touch.writes));
                }
            }
            let row = |((of, reference), (reads, writes)): ((u64, u64), (i64, i64))| {
                let id = |id: u64| Some(i64::try_from(id).unwrap());
                vec![id(of), id(reference), Some(reads), Some(writes)]
            };
            sums.into_iter().map(row).collect::<BTreeSet<_>>()
        };
        let of_kind = |kind, c| (tree.kind(c) == kind).then_some(c);
        assert_eq!(
            sums(&|c| tree.call_of(c)),
            rows(&processed, "SELECT Call, Reference, Read, Write FROM CallReference")
        );
        assert_eq!(
            sums(&|c| of_kind(ActivationKind::Iteration, c)),
            rows(
                &processed,
                "SELECT LoopIteration, Reference, Read, Write FROM LoopIterationReference"
            )
        );
        assert_eq!(
            sums(&|c| of_kind(ActivationKind::Iteration, c).and_then(|c| tree.parent(c))),
            rows(
                &processed,
                "SELECT LoopExecution, Reference, Read, Write FROM LoopExecutionReference"
            )
        );
        // A processed database has the same rows and more columns: it opens as the same run.
        let again = open_path(&processed);
        assert_eq!(again.contexts.source_ids(), experiment.contexts.source_ids());
        assert!(again.activations.unwrap().touches.all().eq(a.touches.all()));
    }
}

#[test]
fn contexts_say_what_calls_what() {
    let Some(path) = corpus().into_iter().find(|p| p.ends_with("nested_tests_with_calls.db"))
    else {
        return;
    };
    let experiment = open_path(&path);
    let contexts = &experiment.contexts;
    contexts.check().unwrap();
    let mut drawn = String::new();
    for context in contexts.iter().skip(1) {
        let number = |metric| value(&experiment, metric, &Scope::Exclusive, context);
        let (calls, loops, iterations) =
            (number("CALLS"), number("LOOP_EXECUTIONS"), number("ITERATIONS"));
        let reads = value(&experiment, "READS", &Scope::Inclusive, context);
        let depth = contexts.depth(context) as usize - 1;
        let what = match contexts.kind(context) {
            ContextKind::Loop => format!("{loops} executions, {iterations} iterations"),
            _ => format!("{calls} calls"),
        };
        drawn +=
            &format!("{}{}: {what}, {reads} reads\n", "  ".repeat(depth), contexts.label(context));
    }
    assert_eq!(
        drawn,
        "main: 1 calls, 13 reads\n  \
           wait2seconds: 1 calls, 0 reads\n  \
           loop at nested_test_with_calls.c:61: 1 executions, 2 iterations, 12 reads\n\
         NestedHellosThread: 2 calls, 30 reads\n  \
           wait500ms: 2 calls, 0 reads\n  \
           loop at nested_test_with_calls.c:40: 2 executions, 4 iterations, 24 reads\n\
         HelloThread: 4 calls, 16 reads\n  \
           nestedWait: 4 calls, 4 reads\n    \
             wait500ms: 4 calls, 0 reads\n"
    );
}

#[test]
fn an_allocation_knows_where_it_was_made() {
    let Some(path) = corpus().into_iter().find(|p| p.ends_with("nested_tests_with_calls.db"))
    else {
        return;
    };
    let experiment = open_path(&path);
    let a = activations(&experiment);
    let reference = a.reference(ReferenceIdx::new(3));
    assert_eq!((reference.source_id, reference.size_bytes), (4, Some(272)));
    assert_eq!(reference.storage, StorageClass::HEAP);
    let site = reference.allocated.unwrap();
    assert_eq!(a.tree.kind(site.activation), ActivationKind::Iteration);
    assert_eq!(id_of(a, a.tree.call_of(site.activation)), Some(1));
}

#[test]
fn traces_have_a_track_for_each_thread() {
    for path in corpus() {
        let experiment = open_path(&path);
        let traces = experiment.traces.as_ref().unwrap();
        assert_eq!(traces.tracks().len(), 7);
        let window = parallax_base::TimeWindow::ALL;
        for track in traces.track_ids() {
            let mut calls = 0_u64;
            let mut last_end = 0;
            traces
                .visit_calls(track, window, &mut |call| {
                    calls += 1;
                    assert!(call.end_nanos >= last_end, "in order of their ends");
                    last_end = call.end_nanos;
                })
                .unwrap();
            assert_eq!(calls, traces.track(track).unwrap().num_samples);
            // Time by context adds up to that of the entry call, in any two halves of the span.
            let mut sum = 0;
            traces.visit(track, window, &mut |i| sum += i.end_nanos - i.start_nanos).unwrap();
            let tree = &activations(&experiment).tree;
            let entry = activations(&experiment).threads[track.idx()].entry.unwrap();
            assert_eq!(sum, tree.nanos(entry));
            let middle = traces.span().end_nanos / 2;
            let mut halves = 0;
            for (from, to) in [(0, middle), (middle, u64::MAX)] {
                let half = parallax_base::TimeWindow::new(from, to);
                traces.sums(track, half, &mut |time| halves += time.nanos).unwrap();
            }
            assert_eq!(halves, sum);
        }
    }
}

#[test]
fn other_databases_of_sqlite_are_not_taken() {
    let bytes =
        sqlite::of_sql("CREATE TABLE Call(Id INTEGER PRIMARY KEY); CREATE TABLE people(name);");
    let source = MemorySource::shared(bytes);
    assert!(!is_experiment_file(&source));
    let error = open_file(&source, "address-book.db", &Limits::default()).err().unwrap();
    assert!(matches!(error, ImportError::NotRecognised { .. }));
    assert!(error.to_string().contains("Parceive"), "{error}");
}

/// All numbers of a generated program are found again, in both schemas.
#[test]
fn generated_programs_are_read_completely_in_both_schemas() {
    for schema in [Schema::Y2015, Schema::Y2016] {
        for (threads, rounds, depth, inner, accesses) in
            [(1, 1, 1, 1, 0), (3, 4, 5, 3, 4), (2, 3, 40, 2, 7)]
        {
            let program = Program { schema, threads, rounds, depth, inner, accesses };
            let counts = program.counts();
            let experiment = open(program.bytes());
            let a = activations(&experiment);
            let tree = &a.tree;
            let sum = |of: fn(&parallax_model::Touch) -> u32| -> u64 {
                a.touches.all().map(|touch| u64::from(of(&touch))).sum()
            };
            assert_eq!(tree.count(ActivationKind::Call), counts.calls, "{program:?}");
            assert_eq!(tree.count(ActivationKind::LoopExecution), counts.executions);
            assert_eq!(tree.count(ActivationKind::Iteration), counts.iterations);
            assert_eq!(a.references.len() as u64, counts.references);
            assert_eq!((sum(|t| t.reads), sum(|t| t.writes)), (counts.reads, counts.writes));
            assert_eq!(a.threads.len(), threads as usize);
            assert_eq!(tree.roots().count(), threads as usize);
            experiment.contexts.check().unwrap();

            // Recursion has a context at each depth, below the loop of each thread's entry.
            let deepest = experiment.contexts.iter().map(|c| experiment.contexts.depth(c)).max();
            assert_eq!(deepest, Some(2 + depth + 2));
            // Everything lies in the time of what contains it, and iterations follow each other.
            for activation in tree.iter() {
                let Some(parent) = tree.parent(activation) else { continue };
                let (own, outer) = (tree.time(activation), tree.time(parent));
                assert!(own.start_nanos >= outer.start_nanos, "{schema:?}");
                assert!(own.end_nanos <= outer.end_nanos, "{schema:?} {own:?} {outer:?}");
            }
            for execution in tree.iter().filter(|&e| tree.kind(e) == ActivationKind::LoopExecution)
            {
                let iterations: Vec<_> = tree.children(execution).collect();
                let numbers: Vec<_> = iterations.iter().map(|&i| tree.number(i)).collect();
                assert!(numbers.is_sorted());
                let length: u64 = iterations.iter().map(|&i| tree.nanos(i)).sum();
                assert_eq!(length, tree.nanos(execution));
            }
            let has = |kind| experiment.issues.list().iter().any(|issue| issue.kind == kind);
            assert_eq!(has("clock-rate-unknown"), schema == Schema::Y2015);
            assert_eq!(a.clock.is_assumed, schema == Schema::Y2015);
            let expected = if schema == Schema::Y2015 { 1e9 } else { 2.6e9 };
            assert!((a.clock.ticks_per_second / expected - 1.0).abs() < 1e-3);
            let format = &experiment.metadata.format;
            assert_eq!(format.contains("2015"), schema == Schema::Y2015, "{format}");
        }
    }
}

/// The inclusive touches of a call are those of everything below it, at any depth of recursion.
#[test]
fn what_a_subtree_touches_is_the_sum_of_its_parts() {
    let program = Program::default();
    let experiment = open(program.bytes());
    let a = activations(&experiment);
    let shared = ReferenceIdx::new(0);
    assert_eq!(&*a.reference(shared).name, "shared");
    assert_eq!(a.reference(shared).allocated.unwrap().line, 6);
    let of_shared = |touch: parallax_model::Touch| {
        if touch.reference == shared { u64::from(touch.reads) } else { 0 }
    };
    let within = |activation| -> u64 { a.touches.within(&a.tree, activation).map(of_shared).sum() };
    let all: u64 = a.tree.roots().map(within).sum();
    assert_eq!(all, program.counts().shared_reads);
    for activation in a.tree.iter() {
        let below: u64 = a.tree.children(activation).map(within).sum();
        let own: u64 = a.touches.of(activation).map(of_shared).sum();
        assert_eq!(within(activation), own + below);
    }
    // Threads were started by main, each by an instruction of its own.
    let creators: Vec<_> =
        a.threads.iter().map(|t| t.creator.map(|c| (c.thread.get(), c.site.line))).collect();
    assert_eq!(creators, [None, Some((0, 8)), Some((0, 8))]);
}

/// Statements on a small sound database, and what opening it gives.
fn changed(sql: &str) -> Experiment {
    let program = Program { threads: 1, rounds: 1, depth: 2, inner: 2, ..Program::default() };
    open(sqlite::bytes(|connection| {
        program.write(connection)?;
        connection.execute_batch(sql)
    }))
}

fn kinds(experiment: &Experiment) -> Vec<&'static str> {
    experiment.issues.list().iter().map(|issue| issue.kind).collect()
}

#[test]
fn a_sound_database_has_no_issues() {
    assert_eq!(kinds(&changed("")), [] as [&str; 0]);
}

#[test]
fn a_call_that_had_not_returned_lasts_as_long_as_its_caller() {
    let experiment = changed("UPDATE Call SET End = -1 WHERE Id = 3");
    let a = activations(&experiment);
    let call = find(a, ActivationKind::Call, 3);
    let outer = find(a, ActivationKind::Call, 2);
    assert!(a.tree.is_estimated(call));
    assert_eq!(a.tree.time(call).end_nanos, a.tree.time(outer).end_nanos);
    assert_eq!(kinds(&experiment), ["call-open"]);
    assert_eq!(a.tree.count(ActivationKind::Call), 3);
}

#[test]
fn damage_is_reported_and_the_rest_is_kept() {
    // A call that is called from below itself.
    let experiment = changed(
        "UPDATE Call SET Instruction = (SELECT Id FROM Instruction WHERE Segment IN
           (SELECT Id FROM Segment WHERE Call = 3) AND Type = 1 LIMIT 1) WHERE Id = 2",
    );
    assert_eq!(kinds(&experiment), ["caller-cycle"]);
    assert_eq!(activations(&experiment).tree.len(), changed("").activations.unwrap().tree.len());
    // Tables that are not there.
    for table in
        ["Access", "Reference", "Thread", "Loop", "File", "Image", "Member", "LoopExecution"]
    {
        let experiment = changed(&format!("DROP TABLE {table}"));
        assert_eq!(activations(&experiment).tree.count(ActivationKind::Call), 3, "{table}");
    }
    // Nothing left but loops: they ran on a thread that nobody knows.
    let experiment = changed("DELETE FROM Call; DELETE FROM Thread");
    let left = activations(&experiment);
    assert!(left.tree.count(ActivationKind::LoopExecution) > 0);
    assert!(left.tree.iter().all(|one| left.tree.thread(one).idx() < left.threads.len()));
    // What refers to nothing.
    for (sql, kind) in [
        ("UPDATE Call SET Instruction = 999999 WHERE Id = 3", "caller-unknown"),
        ("UPDATE Access SET Instruction = 999999 WHERE Id = 3", "access-without-call"),
        ("UPDATE Access SET Reference = 999999 WHERE Id = 3", "access-without-reference"),
        ("UPDATE Access SET Type = 7 WHERE Id = 3", "access-unknown"),
        ("UPDATE LoopIteration SET Execution = 999999 WHERE Id = 3", "iteration-without-loop"),
        ("DELETE FROM Thread", "clock-rate-unknown"),
        ("UPDATE Thread SET EndTime = 'yesterday'", "clock-rate-unknown"),
    ] {
        let experiment = changed(sql);
        assert!(kinds(&experiment).contains(&kind), "{sql}: {:?}", kinds(&experiment));
    }
}

#[test]
fn a_cut_database_opens_with_an_issue_or_says_why_it_does_not() {
    let bytes = Program::default().bytes();
    for part in [1, 2, 3, 5, 8] {
        let cut = bytes[..bytes.len() * part / 10].to_vec();
        match open_file(&MemorySource::shared(cut), "cut.db", &Limits::default()) {
            Ok(experiment) => assert!(kinds(&experiment).contains(&"file-cut"), "{part}"),
            Err(error) => assert!(error.to_string().contains("cut.db"), "{error}"),
        }
    }
}

/// Locks, joins, tags and addresses, which the databases of the corpus do not have.
#[test]
fn locks_joins_tags_and_addresses_are_read() {
    let experiment = changed(
        "ALTER TABLE Access ADD COLUMN Address INTEGER; ALTER TABLE Access ADD COLUMN Size INTEGER;
         UPDATE Access SET Address = 4096 + Id * 8, Size = 8;
         CREATE TABLE Tag(Id INTEGER PRIMARY KEY, Name VARCHAR, Type INTEGER);
         CREATE TABLE TagInstance(Id INTEGER PRIMARY KEY, Tag INTEGER, Start INTEGER, End INTEGER,
           Thread INTEGER, Counter INTEGER);
         INSERT INTO Tag VALUES (1, 'Solve', 2);
         INSERT INTO TagInstance SELECT 1, 1, Start, End, 0, 7 FROM Call WHERE Id = 2;
         INSERT INTO Reference(Id, Size, Type, Name) VALUES (900, 40, 8, 'mutex');
         INSERT INTO Instruction(Id, Segment, Type, Line) VALUES
           (9001, 1, 6, 30), (9002, 1, 1, 31), (9003, 1, 7, 32), (9004, 1, 5, 33), (9005, 1, 1, 34);
         INSERT INTO Access(Id, Instruction, Reference, Type, Address, Size) VALUES
           (9001, 9001, 900, 2, 64, 8), (9002, 9002, 1, 2, 1000, 4), (9003, 9003, 900, 2, 64, 8),
           (9004, 9005, 1, 1, 1004, 4);
         INSERT INTO Thread(Id, CreateInstruction, JoinInstruction) VALUES (5, NULL, 9004);",
    );
    let a = activations(&experiment);
    let mutex = a.references.len() as u32 - 1;
    let syncs: Vec<_> = a
        .syncs
        .iter()
        .map(|s| {
            (s.kind, s.line, s.lock.map(ReferenceIdx::get), s.other_thread.map(ThreadIdx::get))
        })
        .collect();
    assert_eq!(
        syncs,
        [
            (SyncKind::Acquire, 30, Some(mutex), None),
            (SyncKind::Release, 32, Some(mutex), None),
            (SyncKind::Join, 33, None, Some(1)),
        ]
    );
    // Between acquire and release is an epoch of its own; its place among the accesses says so.
    let main = find(a, ActivationKind::Call, 1);
    let touches: Vec<_> = a.touches.of(main).collect();
    let epochs: Vec<_> = touches
        .iter()
        .filter(|t| t.reference == ReferenceIdx::new(0) && t.read_line.max(t.write_line) >= 30)
        .map(|t| (t.epoch, t.reads, t.writes, t.write_line, t.read_line))
        .collect();
    assert_eq!(epochs, [(1, 0, 1, 31, 0), (3, 1, 0, 0, 34)]);
    let [acquire, release, join] = [0, 1, 2].map(|i: usize| a.syncs[i].sequence);
    let of = |epoch| touches.iter().find(|t| t.epoch == epoch && t.reference.get() == 0).unwrap();
    assert!(acquire <= of(1).first && of(1).first < release);
    assert!(join <= of(3).first);
    let bytes: Vec<_> = (0..a.touches.len())
        .filter(|&at| a.touches.activation(at) == main && a.touches.get(at).unwrap().epoch > 0)
        .filter(|&at| a.touches.get(at).unwrap().reference == ReferenceIdx::new(0))
        .map(|at| a.touches.bytes(at).unwrap())
        .collect();
    assert_eq!(bytes, [1000..1004, 1004..1008]);
    let tag = &a.tags[0];
    // Nothing says which instructions are in it.
    assert_eq!((tag.activation, kinds(&experiment)), (None, vec!["tag-without-instructions"]));
    let call = find(a, ActivationKind::Call, 2);
    assert_eq!((&*tag.name, &*tag.kind, tag.counter), ("Solve", "section", 7));
    assert_eq!((tag.start_nanos, tag.end_nanos), {
        let time = a.tree.time(call);
        (time.start_nanos, time.end_nanos)
    });
}
