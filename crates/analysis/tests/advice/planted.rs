//! Programs whose answer is known.

use parallax_analysis::advice::{
    DependenceKind, LoopAdvice, Verdict, Work, loops, schedule, tasks, work,
};
use parallax_base::Control;

use super::program::Access::{Read, Update, Write};
use super::program::Element::{At, Iteration};
use super::program::Statement::{Access, Call, Compute, Loop};
use super::program::{Run, Statement, Variable, run};

const I: u32 = 0;
const SUM: u32 = 1;
const A: u32 = 2;
const B: u32 = 3;
const T: u32 = 4;
const VARIABLES: [Variable; 5] = [("i", 1), ("sum", 1), ("a", 64), ("b", 64), ("t", 1)];

fn judged(run: &Run) -> Vec<LoopAdvice> {
    loops(&run.activations, &run.contexts, &Control::new()).unwrap()
}

/// The loops in words: `loop 10: independent [i counter 10/10]`.
fn drawn(body: &[Statement], has_addresses: bool) -> String {
    let run = run(&VARIABLES, body, has_addresses);
    let one = |advice: &LoopAdvice| {
        let shared: Vec<String> = advice
            .shared
            .iter()
            .map(|s| {
                let name = &run.activations.reference(s.reference).name;
                let line = |place: Option<parallax_analysis::advice::FunctionLine>| {
                    place.map_or("-".to_owned(), |place| place.line.to_string())
                };
                let whole = if s.is_whole { " whole" } else { "" };
                let what = s.sharing.name();
                format!("{name} {what} w{} r{}{whole}", line(s.write), line(s.read))
            })
            .collect();
        let line = run.contexts.line(advice.context);
        format!("loop {line}: {} [{}]", advice.verdict.name(), shared.join("; "))
    };
    judged(&run).iter().map(one).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_loop_over_elements_is_independent_with_addresses() {
    // for (i...) a[i] = b[i] + b[i + 1];
    let body = [Loop(
        10,
        Some(I),
        8,
        vec![
            Access(11, Read, B, Iteration(0, 0)),
            Access(11, Read, B, Iteration(0, 1)),
            Access(11, Write, A, Iteration(0, 0)),
        ],
    )];
    assert_eq!(drawn(&body, true), "loop 10: independent [i counter w10 r10]");
    let without =
        "loop 10: independent after changes [a private copy w11 r- whole; i counter w10 r10]";
    assert_eq!(drawn(&body, false), without);
}

#[test]
fn a_recurrence_is_a_dependency() {
    // for (i...) a[i + 1] = a[i];
    let body = [Loop(
        10,
        Some(I),
        8,
        vec![Access(11, Read, A, Iteration(0, 0)), Access(12, Write, A, Iteration(0, 1))],
    )];
    let expected = "loop 10: dependent [a dependency w12 r11; i counter w10 r10]";
    assert_eq!(drawn(&body, true), expected);
    let expected = "loop 10: dependent [a dependency w12 r11 whole; i counter w10 r10]";
    assert_eq!(drawn(&body, false), expected);
    let run = run(&VARIABLES, &body, true);
    let found = &judged(&run)[0].shared[0];
    assert_eq!((found.num_iterations, found.example), (7, (0, 1)));
}

#[test]
fn the_other_way_round_there_is_only_a_copy_to_make() {
    // for (i...) a[i] = a[i + 1]; iteration 0 reads what iteration 1 overwrites.
    let body = [Loop(
        10,
        Some(I),
        8,
        vec![Access(11, Read, A, Iteration(0, 1)), Access(11, Write, A, Iteration(0, 0))],
    )];
    // One touch covers a[i] and a[i + 1]: its hull meets that of the iteration before.
    assert_eq!(drawn(&body, true), "loop 10: dependent [a dependency w11 r11; i counter w10 r10]");
    // Where reading and writing are apart, so are their hulls.
    let body = [Loop(
        10,
        Some(I),
        8,
        vec![
            Call("get", 11, vec![Access(3, Read, A, Iteration(0, 1))]),
            Access(12, Write, A, Iteration(0, 0)),
        ],
    )];
    let expected = "loop 10: independent after changes [a private copy w12 r3; i counter w10 r10]";
    assert_eq!(drawn(&body, true), expected);
}

#[test]
fn a_sum_is_a_reduction_and_a_sum_that_is_read_is_not() {
    let add = Access(11, Update, SUM, At(0));
    let body = [Loop(10, Some(I), 8, vec![Access(11, Read, B, Iteration(0, 0)), add.clone()])];
    let expected = "loop 10: independent after changes [sum reduction w11 r11; i counter w10 r10]";
    assert_eq!(drawn(&body, true), expected);
    let used = Access(12, Read, SUM, At(0));
    let body = [Loop(10, Some(I), 8, vec![add, used])];
    assert_eq!(
        drawn(&body, true),
        "loop 10: dependent [sum dependency w11 r11; i counter w10 r10]"
    );
}

#[test]
fn a_temporary_gets_its_own_copy_and_an_array_is_unclear() {
    let body =
        [Loop(10, Some(I), 8, vec![Access(11, Write, T, At(0)), Access(12, Read, T, At(0))])];
    let expected = "loop 10: independent after changes [t private copy w11 r12; i counter w10 r10]";
    assert_eq!(drawn(&body, true), expected);
    // a[1] is written before a[0..2] is read: who wrote a[0]?
    let body = [Loop(
        10,
        Some(I),
        8,
        vec![Access(11, Write, A, At(1)), Access(12, Read, A, At(0)), Access(13, Write, A, At(0))],
    )];
    let expected = "loop 10: unclear [a unclear w11 r12; i counter w10 r10]";
    assert_eq!(drawn(&body, true), expected);
}

#[test]
fn one_line_loops_do_not_hide_what_is_counter() {
    // while (sum < 9) sum = next(sum);  all of it on line 10.
    let body =
        [Loop(10, None, 5, vec![Access(10, Read, SUM, At(0)), Access(10, Update, SUM, At(0))])];
    assert_eq!(drawn(&body, true), "loop 10: unclear [sum unclear w10 r10]");
}

#[test]
fn one_iteration_and_no_accesses_give_no_claim() {
    let body = [Loop(10, Some(I), 1, vec![Access(11, Write, A, At(0))])];
    assert_eq!(drawn(&body, true), "loop 10: unknown []");
    assert_eq!(drawn(&[Loop(10, None, 9, vec![Compute(5)])], true), "loop 10: unknown []");
}

#[test]
fn nested_loops_are_judged_each_for_itself() {
    // for (i...) for (j...) sum += a[j];  and sum is set before: the outer one may run in parallel.
    let inner = Loop(
        12,
        Some(T),
        4,
        vec![Access(13, Read, A, Iteration(0, 0)), Access(14, Update, SUM, At(0))],
    );
    let init = Access(12, Write, T, At(0));
    let body = [Loop(10, Some(I), 4, vec![Access(11, Write, SUM, At(0)), init, inner])];
    let expected = "\
loop 10: independent after changes [sum private copy w11 r14; t private copy w12 r12; i counter w10 r10]
loop 12: independent after changes [sum reduction w14 r14; t counter w12 r12]";
    assert_eq!(drawn(&body, true), expected);
}

fn worked(run: &Run) -> Work {
    work(&run.activations, &run.contexts, &judged(run), &Control::new()).unwrap()
}

/// produce writes a, other writes b, consume reads a.
fn three_calls() -> Vec<Statement> {
    vec![
        Call("produce", 20, vec![Access(2, Write, A, At(0)), Compute(299)]),
        Call("other", 21, vec![Access(4, Write, B, At(0)), Compute(499)]),
        Call("consume", 22, vec![Access(6, Read, A, At(0)), Compute(199)]),
    ]
}

#[test]
fn producer_and_consumer_are_found_and_the_rest_is_independent() {
    let run = run(&VARIABLES, &three_calls(), true);
    let found = worked(&run);
    assert_eq!((found.total_work_nanos, found.total_span_nanos), (1000, 500));
    assert!((found.parallelism() - 2.0).abs() < 1e-12);
    let [siblings] = found.siblings.as_slice() else { panic!("{:?}", found.siblings) };
    let [one] = siblings.dependences.as_slice() else { panic!("{siblings:?}") };
    assert_eq!((one.kind, one.count), (DependenceKind::Flow, 1));
    assert_eq!(run.contexts.label(one.from), "produce");
    assert_eq!(run.contexts.label(one.to), "consume");
    assert_eq!((one.from_place.unwrap().line, one.to_place.unwrap().line), (2, 6));
    let [produce, other, consume] = siblings.members[..] else { panic!("{siblings:?}") };
    assert!(siblings.is_independent(produce, other) && siblings.is_independent(other, consume));
    assert!(!siblings.is_independent(consume, produce));

    let tasks = tasks(&run.activations, siblings.example);
    assert_eq!(tasks.dependences, [(0, 2)]);
    let nanos: Vec<u64> =
        tasks.activations.iter().map(|&a| run.activations.tree.nanos(a)).collect();
    let two = schedule(&nanos, &tasks.dependences, 2);
    assert_eq!((two.length_nanos, two.bound_nanos), (500, 500));
    assert!((two.speedup() - 2.0).abs() < 1e-12);
}

#[test]
fn a_result_that_is_stored_and_passed_on_is_a_dependence() {
    // t = f(); g(t);
    let body = [
        Call("f", 20, vec![Compute(10)]),
        Access(20, Write, T, At(0)),
        Access(21, Read, T, At(0)),
        Call("g", 21, vec![Compute(10)]),
    ];
    let found = worked(&run(&VARIABLES, &body, true));
    let [one] = found.siblings[0].dependences.as_slice() else { panic!("{found:?}") };
    assert_eq!(one.kind, DependenceKind::Through);
    assert_eq!(found.total_span_nanos, 22);
}

#[test]
fn the_span_of_a_loop_is_its_longest_iteration_only_where_that_may_be() {
    let element = vec![Access(11, Write, A, Iteration(0, 0)), Compute(97)];
    let free = run(&VARIABLES, &[Loop(10, Some(I), 8, element)], true);
    let found = worked(&free);
    // Each iteration: 97 ns, one write, and three accesses of the counter.
    assert_eq!((found.total_work_nanos, found.total_span_nanos), (8 * 101, 101));
    let chain = vec![Access(11, Update, T, At(0)), Access(12, Read, T, At(0)), Compute(97)];
    let bound = run(&VARIABLES, &[Loop(10, Some(I), 8, chain)], true);
    assert_eq!(judged(&bound)[0].verdict, Verdict::Dependent);
    let found = worked(&bound);
    assert_eq!(found.total_work_nanos, found.total_span_nanos);
}
