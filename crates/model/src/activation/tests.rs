use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use parallax_base::paged::{Paging, Scratch, ScratchError};
use parallax_base::{ActivationIdx, ReferenceIdx, ThreadIdx, TimeWindow};

use super::touches::NOTHING;
use super::{
    ActivationKind, ActivationTree, ActivationTreeBuilder, NewActivation, Ordered, Reference,
    References, Site, StorageClass, Touch, TouchesBuilder,
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
    assert_eq!(tree.source_id(ordered.position.get(3).unwrap()), 3);
    assert!(tree.is_within(ordered.position.get(3).unwrap(), ordered.position.get(1).unwrap()));
    assert!(!tree.is_within(ordered.position.get(0).unwrap(), ordered.position.get(1).unwrap()));
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

/// Room in memory in the place of a file.
#[derive(Default)]
struct Room(Mutex<Vec<u8>>);

impl Scratch for Room {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<(), ScratchError> {
        let (mut own, from) = (self.0.lock().unwrap(), usize::try_from(offset).unwrap());
        let len = own.len().max(from + bytes.len());
        own.resize(len, 0);
        own[from..from + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ScratchError> {
        let from = usize::try_from(offset).unwrap();
        buffer.copy_from_slice(&self.0.lock().unwrap()[from..from + buffer.len()]);
        Ok(())
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, most: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        u32::try_from((self.0 >> 33) % u64::from(most)).unwrap()
    }
}

/// Activations with parents before or after them, some without times, on several threads.
fn random_activations(count: u32, is_shuffled: bool) -> Vec<NewActivation> {
    let mut random = Random(u64::from(count) + u64::from(is_shuffled));
    let new = |at: u32, random: &mut Random| {
        let kind = [ActivationKind::Call, ActivationKind::LoopExecution, ActivationKind::Iteration];
        let kind = kind[random.below(3) as usize];
        let start = u64::from(at) * 1000 + u64::from(random.below(900));
        let mut other = || match is_shuffled {
            true => random.below(count),
            false => at.saturating_sub(1 + random.below(30)),
        };
        let parent = Some(other()).filter(|&parent| at > 3 && parent != at);
        let has_time = random.below(10) > 1;
        NewActivation {
            kind,
            parent,
            thread: ThreadIdx::new(random.below(4)),
            start_nanos: has_time.then_some(start),
            end_nanos: (has_time && random.below(20) > 0).then_some(start + 1_000_000),
            number: if kind == ActivationKind::Iteration { random.below(1 << 20) } else { 0 },
            line: if kind == ActivationKind::Call { random.below(5000) } else { 0 },
            source_id: if random.below(50) == 0 { u64::MAX - u64::from(at) } else { at.into() },
        }
    };
    (0..count).map(|at| new(at, &mut random)).collect()
}

/// Checks a tree against what was pushed.
fn is_of(ordered: &Ordered, pushed: &[NewActivation]) {
    let Ordered { tree, position, .. } = ordered;
    assert_eq!((tree.len(), position.len()), (pushed.len(), pushed.len()));
    let mut num_cut = 0;
    for (number, new) in pushed.iter().enumerate() {
        let at = position.get(number).unwrap();
        assert_eq!((tree.kind(at), tree.thread(at)), (new.kind, new.thread));
        assert_eq!((tree.number(at), tree.line(at)), (new.number, new.line));
        assert_eq!(tree.source_id(at), new.source_id);
        let parent = new.parent.and_then(|parent| position.get(parent as usize));
        num_cut += u64::from(tree.parent(at) != parent);
        let is_known = new.start_nanos.is_some() && new.end_nanos.is_some();
        if is_known && new.kind != ActivationKind::Iteration {
            let known = TimeWindow::new(new.start_nanos.unwrap(), new.end_nanos.unwrap());
            assert_eq!((tree.time(at), tree.is_estimated(at)), (known, false));
        }
    }
    assert_eq!(num_cut, ordered.num_cut);
    // Every subtree is itself and those of its children, which are in order of time.
    for at in tree.iter() {
        let mut end = at.idx() + 1;
        let mut last = 0;
        for child in tree.children(at) {
            assert_eq!((child.idx(), tree.parent(child)), (end, Some(at)));
            assert!(tree.time(child).start_nanos >= last);
            (end, last) = (tree.subtree(child).end, tree.time(child).start_nanos);
        }
        assert_eq!(tree.subtree(at).end, end);
    }
    let kinds = [ActivationKind::Call, ActivationKind::LoopExecution, ActivationKind::Iteration];
    for kind in &kinds {
        let count = pushed.iter().filter(|new| new.kind == *kind).count() as u64;
        assert_eq!(tree.count(*kind), count);
    }
}

#[test]
fn a_tree_is_what_was_pushed_wherever_its_blocks_are() {
    for (count, is_shuffled) in [(150_000, false), (90_000, true)] {
        let pushed = random_activations(count, is_shuffled);
        let mut drawn: Vec<String> = Vec::new();
        for budget in [None, Some(0), Some(100_000)] {
            let room = || Some(Arc::new(Room::default()) as Arc<dyn Scratch>);
            let paging = budget.map_or_else(Paging::in_memory, |most| Paging::new(most, room()));
            let mut builder = ActivationTreeBuilder::paged(&paging);
            pushed.iter().for_each(|new| _ = builder.push(*new));
            let ordered = builder.finish();
            paging.check().unwrap();
            match budget {
                Some(most) => {
                    assert!(paging.kept_bytes() <= most && paging.scratch_bytes() > 500_000);
                }
                None => is_of(&ordered, &pushed),
            }
            let tree = &ordered.tree;
            let line =
                |at| format!("{:?} {:?} {}", tree.parent(at), tree.time(at), tree.source_id(at));
            drawn.push(tree.iter().map(line).collect());
        }
        assert!(drawn[0] == drawn[1] && drawn[1] == drawn[2]);
    }
}

#[test]
fn touches_in_any_order_are_added_up_wherever_their_blocks_are() {
    let pushed = random_activations(20_000, false);
    let mut builder = ActivationTreeBuilder::new();
    pushed.iter().for_each(|new| _ = builder.push(*new));
    let ordered = builder.finish();
    let mut random = Random(7);
    // By position, reference and epoch: reads, writes, addresses.
    type Sums = BTreeMap<(usize, u32, u32), (u32, u32, Range<u64>)>;
    let mut plain = Sums::new();
    let paging = Paging::new(0, Some(Arc::new(Room::default())));
    let mut touches = TouchesBuilder::paged(&paging);
    for first in 0..300_000 {
        let (activation, reference) = (random.below(20_000), random.below(12));
        let (epoch, reads, from) = (random.below(2), random.below(3), u64::from(random.below(999)));
        let touch = Touch {
            reference: ReferenceIdx::new(reference),
            reads,
            writes: 1,
            first,
            epoch,
            ..NOTHING
        };
        touches.push(activation, touch, Some((from, from + 8)));
        let at = ordered.position.get(activation as usize).unwrap().idx();
        let sum = plain.entry((at, reference, epoch)).or_insert((0, 0, from..from + 8));
        (sum.0, sum.1) = (sum.0 + reads, sum.1 + 1);
        sum.2 = sum.2.start.min(from)..sum.2.end.max(from + 8);
    }
    let touches = touches.finish(&ordered.tree, &ordered.position);
    assert_eq!(touches.len(), plain.len());
    assert!(paging.scratch_bytes() > 500_000);
    for (position, (key, sum)) in plain.iter().enumerate() {
        let touch = touches.get(position).unwrap();
        let owner = touches.activation(position);
        assert_eq!((owner.idx(), touch.reference.get(), touch.epoch), *key);
        assert_eq!((touch.reads, touch.writes), (sum.0, sum.1));
        assert_eq!(touches.bytes(position), Some(sum.2.clone()));
        assert!(touches.range_of(owner).contains(&position));
    }
}

#[test]
fn references_come_back_with_everything_that_is_known_of_them() {
    let site = |activation| Some(Site { activation: ActivationIdx::new(activation), line: 7 });
    let reference = |at: u64| Reference {
        name: if at.is_multiple_of(3) { "same".into() } else { format!("v{at}").into() },
        member: at.is_multiple_of(5).then(|| "x".into()),
        storage: StorageClass::from_bits((at % 16) as u8),
        size_bytes: (!at.is_multiple_of(7)).then_some(at),
        allocated: if at.is_multiple_of(2) { site(at as u32) } else { None },
        freed: if at.is_multiple_of(4) { site(0) } else { None },
        source_id: u64::MAX - at,
    };
    let references: References = (0..10_000).map(reference).collect();
    assert!(references.iter().eq((0..10_000).map(reference)));
    assert_eq!((references.get(10_000), references.size_bytes(10_000)), (None, None));
    assert!(references.are_namesakes(3, 6) && !references.are_namesakes(3, 15));
}

#[test]
fn touches_of_a_subtree_are_one_range() {
    let ordered = drawn(
        "0 - call 0 100
         1 0 call 10 20
         2 0 call 30 40",
    );
    let reference = ReferenceIdx::new;
    let mut touches = TouchesBuilder::new();
    touches.push(2, Touch { reference: reference(5), writes: 3, ..NOTHING }, None);
    touches.push(0, Touch { reference: reference(5), reads: 1, ..NOTHING }, None);
    touches.push(1, Touch { reference: reference(9), reads: 4, ..NOTHING }, None);
    touches.push(1, Touch { reference: reference(5), reads: 2, ..NOTHING }, None);
    touches.push(77, Touch { reference: reference(5), reads: 100, ..NOTHING }, None);
    let touches = touches.finish(&ordered.tree, &ordered.position);
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
        ..NOTHING
    };
    touches.push(0, part(90, 2, 1, 13), Some((8, 16)));
    touches.push(0, part(5, 0, 4, 11), Some((24, 28)));
    touches.push(0, part(60, 1, 0, 12), None);
    touches.push(0, Touch { epoch: 1, ..part(7, 1, 0, 15) }, None);
    let touches = touches.finish(&ordered.tree, &ordered.position);
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
    let ids = ordered.position.iter().map(|at| ordered.tree.source_id(at));
    assert_eq!(ids.collect::<Vec<_>>(), [7, 1 << 40, 3, u64::MAX]);
}

#[test]
fn addresses_stay_with_their_touches() {
    let ordered = drawn("0 - call 0 100\n1 0 call 10 20");
    let mut touches = TouchesBuilder::new();
    touches.push(1, NOTHING, Some((64, 72)));
    touches.push(0, NOTHING, Some((8, 16)));
    touches.push(0, Touch { epoch: 1, ..NOTHING }, Some((0, 0)));
    let touches = touches.finish(&ordered.tree, &ordered.position);
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
