//! One small run, asked everything.

use std::sync::Arc;

use arrow_array::Array as _;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use parallax_base::{
    ActivationIdx, Control, FileIdx, FunctionIdx, Limits, LocationIdx, ReferenceIdx, ThreadIdx,
};
use parallax_model::{
    ActivationKind, ActivationTreeBuilder, Activations, Clock, ContextKind, ContextTree,
    ContextTreeBuilder, Experiment, Function, IdentityKind, LocationCatalogBuilder, Metadata,
    MetricCatalog, NewActivation, Node, Reference, Relation, SourceFile, StorageClass, Thread,
    Touch, TouchesBuilder,
};

use super::{AdviseBy, AdviseRequest};
use crate::Answers as _;
use crate::OpenExperiment;
use parallax_protocol::AnswerTable as _;

const CALL: ActivationKind = ActivationKind::Call;
const EXECUTION: ActivationKind = ActivationKind::LoopExecution;
const ITERATION: ActivationKind = ActivationKind::Iteration;

/// main calls `add`, in which a loop on line 10 adds up `sum` three times on line 11 and counts `i`,
/// and `other`, which has nothing to do with it.
fn contexts() -> ContextTree {
    let function = |name: &str| Function {
        name: name.into(),
        group: None,
        module: None,
        file: Some(FileIdx::new(0)),
        line: 1,
    };
    let file = SourceFile { path: "/home/user/sum.c".into(), is_copied: false };
    let functions = vec![function("main"), function("add"), function("other")];
    let mut builder = ContextTreeBuilder::new(0, functions, vec![file], Vec::new());
    let node = |source_id, kind, function: Option<u32>, line| Node {
        source_id,
        kind,
        relation: if kind == ContextKind::Loop { Relation::Lexical } else { Relation::Call },
        function: function.map(FunctionIdx::new),
        file: Some(FileIdx::new(0)),
        line,
        module: None,
        offset: 0,
    };
    let main = builder.push(ContextTree::ROOT, node(1, ContextKind::Function, Some(0), 0));
    let add = builder.push(main, node(2, ContextKind::Function, Some(1), 0));
    builder.push(add, node(3, ContextKind::Loop, None, 10));
    builder.push(main, node(4, ContextKind::Function, Some(2), 0));
    builder.finish()
}

fn opened() -> OpenExperiment {
    let mut builder = ActivationTreeBuilder::new();
    let mut push = |kind, parent, start, end, number| {
        builder.push(NewActivation {
            kind,
            parent,
            thread: ThreadIdx::new(0),
            start_nanos: Some(start),
            end_nanos: Some(end),
            number,
            line: 20,
            source_id: 0,
        })
    };
    let main = push(CALL, None, 0, 1_000, 0);
    let add = push(CALL, Some(main), 0, 600, 0);
    let execution = push(EXECUTION, Some(add), 0, 600, 0);
    let iterations: Vec<u32> = (0..3_u32)
        .map(|n| push(ITERATION, Some(execution), u64::from(n) * 200, u64::from(n + 1) * 200, n))
        .collect();
    push(CALL, Some(main), 600, 1_000, 0);
    let ordered = builder.finish();
    let mut tree = ordered.tree;
    tree.set_contexts(vec![1, 2, 3, 3, 3, 3, 4]);
    let mut touches = TouchesBuilder::new();
    for (n, iteration) in (0_u32..).zip(iterations) {
        let touch = |reference, first, reads, line| Touch {
            reference: ReferenceIdx::new(reference),
            reads,
            writes: 1,
            first: n * 10 + first,
            is_read_first: true,
            read_line: line,
            write_line: line,
            epoch: 0,
        };
        touches.push(iteration, touch(0, 0, 2, 10), None);
        touches.push(iteration, touch(1, 5, 1, 11), None);
    }
    let contexts = contexts();
    let touches = touches.finish(&tree, &ordered.position);
    let reference = |name: &str| Reference {
        name: name.into(),
        member: None,
        storage: StorageClass::STACK,
        size_bytes: Some(4),
        allocated: None,
        freed: None,
        source_id: 0,
    };
    let run = Activations {
        tree,
        threads: vec![Thread {
            location: LocationIdx::new(0),
            source_id: 0,
            creator: None,
            entry: Some(ActivationIdx::new(0)),
            wall_start_nanos: None,
            wall_end_nanos: None,
            lifetime_cycles: None,
        }],
        references: [reference("i"), reference("sum")].into_iter().collect(),
        touches,
        syncs: Vec::new(),
        tags: Vec::new(),
        clock: Clock {
            ticks_per_second: 1e9,
            is_assumed: false,
            origin_ticks: 0,
            wall_origin_nanos: None,
        },
    };
    let mut locations = LocationCatalogBuilder::new();
    locations.push([(IdentityKind::Thread, 0)], 0);
    let experiment = Experiment {
        metadata: Metadata {
            title: "sum".into(),
            format: "test".into(),
            origin: "test".into(),
            ..Metadata::default()
        },
        contexts,
        metrics: MetricCatalog::default(),
        locations: locations.finish(),
        profiles: None,
        traces: None,
        events: None,
        activations: Some(Arc::new(run)),
        sources: None,
        issues: parallax_base::Issues::new(),
    };
    OpenExperiment::new(experiment, &Limits::default())
}

/// The rows of an answer, `column=value` for the columns named.
fn rows(by: AdviseBy, contexts: Option<&str>, columns: &[&str]) -> Vec<String> {
    let request = AdviseRequest { contexts: contexts.map(str::to_owned), workers: 2, by };
    let answer = opened().answer(&request, &Control::new()).unwrap();
    let batch = answer.tables.rows.into_answer_table("").to_record_batch();
    let cell = |name: &str, row: usize| {
        let column = batch.column_by_name(name).expect(name);
        if let Some(texts) = column.as_string_opt::<i32>() {
            return if texts.is_null(row) { "-".into() } else { texts.value(row).to_owned() };
        }
        if let Some(numbers) = column.as_primitive_opt::<Float64Type>() {
            return format!("{:.3e}", numbers.value(row));
        }
        if let Some(numbers) = column.as_primitive_opt::<UInt32Type>() {
            return numbers.value(row).to_string();
        }
        column.as_primitive::<UInt64Type>().value(row).to_string()
    };
    let line = |row: usize| columns.iter().map(|name| cell(name, row)).collect::<Vec<_>>();
    (0..batch.num_rows()).map(|row| line(row).join(" | ")).collect()
}

#[test]
fn a_loop_says_what_to_change_and_what_that_saves() {
    let columns = ["verdict", "loop", "because", "work_s", "saving_s", "iterations"];
    let expected = "independent after changes | main > add > loop at sum.c:10 | make sum a \
                    reduction; loop counter i ignored | 6.000e-7 | 4.000e-7 | 3";
    assert_eq!(rows(AdviseBy::Loop, None, &columns), [expected]);
    assert_eq!(rows(AdviseBy::Loop, Some("function(other)"), &columns), [""; 0]);
}

#[test]
fn what_iterations_share_is_told_with_its_lines() {
    let columns = ["reference", "storage", "effect", "written_at", "read_at", "earlier", "later"];
    let expected = [
        "sum | stack | reduction | sum.c:11 (add) | sum.c:11 (add) | 0 | 1",
        "i | stack | counter | sum.c:10 (add) | sum.c:10 (add) | 0 | 1",
    ];
    assert_eq!(rows(AdviseBy::Reference, None, &columns), expected);
}

#[test]
fn work_and_span_of_calls_and_loops() {
    let columns = ["context", "kind", "times", "work_s", "span_s", "parallelism"];
    let expected = [
        "main | call | 1 | 1.000e-6 | 4.000e-7 | 2.500e0",
        "main > add | call | 1 | 6.000e-7 | 2.000e-7 | 3.000e0",
        "main > add > loop at sum.c:10 | loop execution | 1 | 6.000e-7 | 2.000e-7 | 3.000e0",
        "main > other | call | 1 | 4.000e-7 | 4.000e-7 | 1.000e0",
    ];
    assert_eq!(rows(AdviseBy::Context, None, &columns), expected);
}

#[test]
fn calls_that_do_not_depend_on_each_other_run_side_by_side() {
    assert_eq!(rows(AdviseBy::Pair, None, &["earlier", "later"]), [""; 0]);
    let columns = ["worker", "task", "start_s", "end_s", "waits_for"];
    let expected = ["1 | add | 0.000e0 | 6.000e-7 | ", "2 | other | 0.000e0 | 4.000e-7 | "];
    assert_eq!(rows(AdviseBy::Task, None, &columns), expected);
    let request = AdviseRequest { contexts: None, workers: 2, by: AdviseBy::Task };
    let answer = opened().answer(&request, &Control::new()).unwrap().reply;
    let tasks = answer.tasks.unwrap();
    assert_eq!(tasks.parent, "main");
    assert!((tasks.speedup - 1000.0 / 600.0).abs() < 1e-9);
}

#[test]
fn what_cannot_be_known_is_said() {
    let request = AdviseRequest { by: AdviseBy::Race, ..AdviseRequest::default() };
    let answer = opened().answer(&request, &Control::new()).unwrap();
    assert_eq!(answer.tables.rows.into_answer_table("").num_rows(), 0);
    assert!(
        answer.reply.notes.iter().any(|note| note == "The run had one thread."),
        "{:?}",
        answer.reply.notes
    );
    assert!(answer.reply.notes.iter().any(|note| note.contains("no proof")));
    assert!(answer.reply.notes.iter().any(|note| note.contains("has no addresses")));
}
