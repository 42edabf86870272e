use parallax_base::{ActivationIdx, ContextIdx, ReferenceIdx, ThreadIdx, TimeWindow};

use super::{
    ActivationKind, ActivationTree, ActivationTreeBuilder, NewActivation, Ordered, StorageClass,
    Touch, TouchesBuilder,
};

const CALL: NewActivation = NewActivation {
    kind: ActivationKind::Call,
    parent: None,
    thread: ThreadIdx::new(0),
    start_nanos: None,
    end_nanos: None,
    number: 0,
    line: 0,
    source_id: 0,
};

/// Activations drawn one a line: `id parent kind start end number`, `-` where there is none. Ids
/// count from 0.
fn drawn(text: &str) -> Ordered {
    let mut builder = ActivationTreeBuilder::new();
    for (id, line) in (0_u64..).zip(text.lines().filter(|line| !line.trim().is_empty())) {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[0].parse(), Ok(id));
        let number = |word: &str| word.parse::<u64>().ok();
        builder.push(NewActivation {
            kind: match words[2] {
                "call" => ActivationKind::Call,
                "loop" => ActivationKind::LoopExecution,
                _ => ActivationKind::Iteration,
            },
            parent: words[1].parse().ok(),
            start_nanos: number(words[3]),
            end_nanos: number(words[4]),
            number: words.get(5).map_or(0, |word| word.parse().unwrap()),
            source_id: id,
            ..CALL
        });
    }
    builder.finish()
}

/// The tree as indented lines of id and times; `~` marks what is estimated.
fn indented(tree: &ActivationTree) -> String {
    let mut out = String::new();
    for activation in tree.iter() {
        let depth = tree.ancestors(activation).count();
        let time = tree.time(activation);
        let mark = if tree.is_estimated(activation) { " ~" } else { "" };
        let id = tree.source_id(activation);
        out +=
            &format!("{}{id} {}..{}{mark}\n", "  ".repeat(depth), time.start_nanos, time.end_nanos);
    }
    out
}

#[test]
fn children_come_in_order_of_time_whatever_the_order_of_rows() {
    let ordered = drawn(
        "0 2 call 60 80
         1 2 call 10 50
         2 - call 0 100
         3 1 call 20 30",
    );
    assert_eq!(indented(&ordered.tree), "2 0..100\n  1 10..50\n    3 20..30\n  0 60..80\n");
    let tree = &ordered.tree;
    let root = ActivationIdx::new(0);
    assert_eq!(tree.subtree(root), 0..4);
    assert_eq!(tree.own_nanos(root), 100 - 40 - 20);
    let children: Vec<_> = tree.children(root).map(|a| tree.source_id(a)).collect();
    assert_eq!(children, [1, 0]);
    assert_eq!(tree.source_id(ordered.position[3]), 3);
    assert!(tree.is_within(ordered.position[3], ordered.position[1]));
    assert!(!tree.is_within(ordered.position[0], ordered.position[1]));
    assert_eq!(tree.span(), TimeWindow::new(0, 100));
    assert_eq!(ordered.num_cut, 0);
}

#[test]
fn iterations_share_the_time_of_their_execution_around_what_is_known() {
    let ordered = drawn(
        "0 - call 0 200
         1 0 loop 0 100
         2 1 iteration - - 0
         3 1 iteration - - 1
         4 3 call 60 90",
    );
    assert_eq!(
        indented(&ordered.tree),
        "0 0..200\n  1 0..100\n    2 0..30 ~\n    3 30..100 ~\n      4 60..90\n"
    );
}

#[test]
fn iterations_without_anything_known_are_of_equal_length() {
    let ordered = drawn(
        "0 - loop 10 40
         1 0 iteration - - 7
         2 0 iteration - - 5
         3 0 iteration - - 6",
    );
    assert_eq!(indented(&ordered.tree), "0 10..40\n  2 10..20 ~\n  3 20..30 ~\n  1 30..40 ~\n");
}

#[test]
fn what_lies_between_two_calls_is_divided_between_their_iterations() {
    // From 20 to 60 there are the end of iteration 0, iteration 1, and the beginning of 2.
    let ordered = drawn(
        "0 - loop 0 100
         1 0 iteration - - 0
         2 0 iteration - - 1
         3 0 iteration - - 2
         4 1 call 5 20
         5 3 call 50 90",
    );
    assert_eq!(
        indented(&ordered.tree),
        "0 0..100\n  1 0..30 ~\n    4 5..20\n  2 30..40 ~\n  3 40..100 ~\n    5 50..90\n"
    );
}

#[test]
fn a_call_that_never_returned_lasts_as_long_as_what_encloses_it() {
    let ordered = drawn(
        "0 - call 0 -
         1 0 call 10 -
         2 1 call 20 50",
    );
    assert_eq!(indented(&ordered.tree), "0 0..50 ~\n  1 10..50 ~\n    2 20..50\n");
}

#[test]
fn a_call_without_a_start_begins_with_what_is_below_it() {
    let ordered = drawn(
        "0 - call 0 100
         1 0 call - 70
         2 1 call 20 50",
    );
    assert_eq!(indented(&ordered.tree), "0 0..100\n  1 20..70 ~\n    2 20..50\n");
}

#[test]
fn executions_of_known_length_follow_each_other() {
    let mut builder = ActivationTreeBuilder::new();
    builder.push(NewActivation { start_nanos: Some(100), end_nanos: Some(200), ..CALL });
    for (id, length) in [(1, 30), (2, 20), (3, 90)] {
        let kind = ActivationKind::LoopExecution;
        let number = builder.push(NewActivation { kind, parent: Some(0), source_id: id, ..CALL });
        builder.set_length(number, length);
    }
    let tree = builder.finish().tree;
    // The last one does not fit: it ends with the call.
    assert_eq!(indented(&tree), "0 100..200\n  1 100..130 ~\n  2 130..150 ~\n  3 150..200 ~\n");
}

#[test]
fn an_activation_among_its_own_ancestors_becomes_a_root() {
    let ordered = drawn(
        "0 2 call 0 9
         1 0 call 0 9
         2 1 call 0 9
         3 99 call 0 9
         4 4 call 1 2",
    );
    assert_eq!(ordered.num_cut, 3);
    assert_eq!(ordered.tree.len(), 5);
    assert_eq!(ordered.tree.roots().count(), 3);
}

#[test]
fn a_chain_of_a_million_calls_does_not_overflow_the_stack() {
    let mut builder = ActivationTreeBuilder::new();
    for depth in 0..1_000_000_u32 {
        builder.push(NewActivation { parent: depth.checked_sub(1), ..CALL });
    }
    let ordered = builder.finish();
    assert_eq!(ordered.tree.subtree(ActivationIdx::new(0)), 0..1_000_000);
    assert_eq!(ordered.tree.ancestors(ActivationIdx::new(999_999)).count(), 999_999);
}

const TOUCH: Touch = Touch {
    reference: ReferenceIdx::new(0),
    reads: 0,
    writes: 0,
    first: 0,
    is_read_first: false,
    read_line: 0,
    write_line: 0,
    epoch: 0,
};

#[test]
fn touches_of_a_subtree_are_one_slice_and_contexts_have_sums() {
    let mut ordered = drawn(
        "0 - call 0 100
         1 0 call 10 20
         2 0 call 30 40",
    );
    // Both inner calls are of one context.
    ordered.tree.set_contexts(vec![1, 2, 2]);
    let reference = ReferenceIdx::new;
    let mut touches = TouchesBuilder::new();
    touches.push(2, Touch { reference: reference(5), writes: 3, ..TOUCH }, None);
    touches.push(0, Touch { reference: reference(5), reads: 1, ..TOUCH }, None);
    touches.push(1, Touch { reference: reference(9), reads: 4, ..TOUCH }, None);
    touches.push(1, Touch { reference: reference(5), reads: 2, ..TOUCH }, None);
    touches.push(77, Touch { reference: reference(5), reads: 100, ..TOUCH }, None);
    let touches = touches.finish(&ordered.tree, 3, &ordered.position);
    let tree = &ordered.tree;
    let sum = |list: Vec<Touch>| -> (u32, u32) {
        (list.iter().map(|t| t.reads).sum(), list.iter().map(|t| t.writes).sum())
    };
    let within = |at| sum(touches.within(tree, ActivationIdx::new(at)).collect());
    let of = |at| sum(touches.of(ActivationIdx::new(at)).collect());
    assert_eq!((within(0), of(0)), ((7, 3), (1, 0)));
    assert_eq!((within(1), of(2)), ((6, 0), (0, 3)));
    let owners: Vec<_> = (0..touches.len()).map(|at| touches.activation(at).get()).collect();
    assert_eq!(owners, [0, 1, 1, 2]);
    let of = |context| -> Vec<_> {
        let list = touches.of_context(ContextIdx::new(context));
        list.iter().map(|t| (t.reference.get(), t.reads, t.writes)).collect()
    };
    assert_eq!(of(0), []);
    assert_eq!(of(1), [(5, 1, 0)]);
    assert_eq!(of(2), [(5, 2, 3), (9, 4, 0)]);
    assert_eq!(touches.bytes(0), None);
}

#[test]
fn parts_of_a_touch_are_added_up() {
    let ordered = drawn("0 - call 0 100");
    let mut touches = TouchesBuilder::new();
    let part = |first, reads, writes, line| Touch {
        first,
        reads,
        writes,
        is_read_first: reads > 0,
        read_line: if reads > 0 { line } else { 0 },
        write_line: if writes > 0 { line } else { 0 },
        ..TOUCH
    };
    touches.push(0, part(90, 2, 1, 13), Some((8, 16)));
    touches.push(0, part(5, 0, 4, 11), Some((24, 28)));
    touches.push(0, part(60, 1, 0, 12), None);
    touches.push(0, Touch { epoch: 1, ..part(7, 1, 0, 15) }, None);
    let touches = touches.finish(&ordered.tree, 1, &ordered.position);
    assert_eq!(touches.len(), 2);
    let sum = Touch { read_line: 12, write_line: 11, is_read_first: false, ..part(5, 3, 5, 0) };
    assert_eq!(touches.get(0), Some(sum));
    assert_eq!(touches.bytes(0), Some(8..28));
    assert_eq!(touches.bytes(1), None);
}

#[test]
fn numbers_of_the_source_are_kept_whatever_their_size() {
    let mut builder = ActivationTreeBuilder::new();
    for source_id in [7, 1 << 40, 3, u64::MAX] {
        builder.push(NewActivation { source_id, ..CALL });
    }
    assert_eq!(builder.get(1).map(|found| found.source_id), Some(1 << 40));
    let ordered = builder.finish();
    let ids = ordered.position.iter().map(|&at| ordered.tree.source_id(at));
    assert_eq!(ids.collect::<Vec<_>>(), [7, 1 << 40, 3, u64::MAX]);
}

#[test]
fn addresses_stay_with_their_touches() {
    let ordered = drawn("0 - call 0 100\n1 0 call 10 20");
    let mut touches = TouchesBuilder::new();
    touches.push(1, TOUCH, Some((64, 72)));
    touches.push(0, TOUCH, Some((8, 16)));
    touches.push(0, Touch { epoch: 1, ..TOUCH }, Some((0, 0)));
    let touches = touches.finish(&ordered.tree, 1, &ordered.position);
    assert_eq!(touches.bytes(0), Some(8..16));
    assert_eq!(touches.bytes(1), None);
    assert_eq!(touches.bytes(2), Some(64..72));
}

#[test]
fn storage_classes_have_names() {
    assert_eq!(StorageClass::from_bits(2), StorageClass::HEAP);
    assert_eq!((StorageClass::STATIC | StorageClass::GLOBAL).name(), "static global");
    assert_eq!(StorageClass::from_bits(0).name(), "unknown");
    assert!(!StorageClass::STACK.contains(StorageClass::HEAP));
}
