//! Threads: what orders them, and what they add to work and span.

use parallax_analysis::advice::{Races, loops, races, work};
use parallax_base::Control;

use super::program::Access::{Read, Update, Write};
use super::program::Element::At;
use super::program::Statement::{Access, Compute, Fork, Join, Lock, Loop};
use super::program::{Statement, Variable, run};

const X: u32 = 0;
const A: u32 = 1;
const LOCK: u32 = 2;
const I: u32 = 3;
const VARIABLES: [Variable; 4] = [("x", 1), ("a", 64), ("lock", 1), ("i", 1)];

fn hinted(body: &[Statement]) -> Races {
    races(&run(&VARIABLES, body, true).activations, &Control::new()).unwrap()
}

#[test]
fn writes_that_nothing_orders_are_a_hint() {
    let found = hinted(&[
        Fork(1, vec![Access(5, Update, X, At(0))]),
        Access(9, Write, X, At(0)),
        Join(1),
        Access(10, Read, X, At(0)),
    ]);
    let lines: Vec<_> = found
        .hints
        .iter()
        .map(|hint| (hint.first.line, hint.first.is_write, hint.second.line, hint.second.is_write))
        .collect();
    assert_eq!(lines, [(5, true, 9, true), (5, false, 9, true)]);
    assert!(found.hints.iter().all(|hint| hint.first.thread != hint.second.thread));
}

#[test]
fn fork_and_join_order_accesses() {
    let found = hinted(&[
        Access(8, Write, X, At(0)),
        Fork(1, vec![Access(5, Update, X, At(0))]),
        Join(1),
        Fork(2, vec![Access(6, Update, X, At(0))]),
        Join(2),
        Access(10, Read, X, At(0)),
    ]);
    assert_eq!((found.hints.len(), found.num_shared), (0, 1));
}

#[test]
fn a_common_lock_is_no_race_and_another_lock_is() {
    let with = |lock: u32| {
        vec![Lock(lock, true), Access(5, Update, X, At(0)), Lock(lock, false), Compute(9)]
    };
    let same = [Fork(1, with(LOCK)), Fork(2, with(LOCK)), Join(1), Join(2)];
    assert_eq!(hinted(&same).hints, []);
    let other = [Fork(1, with(LOCK)), Fork(2, with(I)), Join(1), Join(2)];
    // Writes against writes, and what is read before against writes.
    assert_eq!(hinted(&other).hints.len(), 2);
}

#[test]
fn other_elements_are_no_race() {
    let found = hinted(&[
        Fork(1, vec![Access(5, Write, A, At(1))]),
        Fork(2, vec![Access(5, Write, A, At(2))]),
        Join(1),
        Join(2),
    ]);
    assert_eq!((found.hints.len(), found.num_shared), (0, 1));
}

#[test]
fn threads_run_beside_each_other_and_waiting_is_no_work() {
    let run = run(
        &VARIABLES,
        &[
            Compute(10),
            Fork(1, vec![Compute(300)]),
            Fork(2, vec![Compute(200)]),
            Join(1),
            Join(2),
            Compute(5),
        ],
        true,
    );
    let found = work(&run.activations, &run.contexts, &[], &Control::new()).unwrap();
    assert_eq!(found.total_work_nanos, 515);
    assert_eq!(found.total_span_nanos, 315);
    assert_eq!(found.waiting_nanos, 300);
}

#[test]
fn what_a_thread_does_belongs_to_the_iteration_that_starts_it() {
    // Each iteration starts a thread that adds to x: the iterations are not independent.
    let body = [Loop(
        10,
        Some(I),
        3,
        vec![Fork(1, vec![Access(5, Update, X, At(0)), Access(6, Read, X, At(0))]), Join(1)],
    )];
    let run1 = run(&VARIABLES, &body, true);
    let found = loops(&run1.activations, &run1.contexts, &Control::new()).unwrap();
    assert_eq!(found[0].verdict.name(), "dependent");
    let body = [Loop(10, Some(I), 3, vec![Fork(1, vec![Access(5, Write, A, At(0))]), Join(1)])];
    let run2 = run(&VARIABLES, &body, true);
    let found = loops(&run2.activations, &run2.contexts, &Control::new()).unwrap();
    assert_eq!(found[0].verdict.name(), "independent after changes");
}
