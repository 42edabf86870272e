//! Random programs: no dependent loop may be called independent.

use std::collections::{HashMap, HashSet};

use parallax_analysis::advice::{LoopAdvice, Sharing, Verdict, loops, work};
use parallax_base::{ActivationIdx, Control};
use parallax_model::ActivationKind;
use proptest::prelude::*;

use super::program::{Access, Element, Raw, Run, Statement, Variable, run};

/// Counters of loops by depth come first, then scalars, then arrays.
const VARIABLES: [Variable; 9] =
    [("i", 1), ("j", 1), ("k", 1), ("s", 1), ("t", 1), ("u", 1), ("a", 64), ("b", 64), ("c", 2)];
const COUNTERS: u32 = 3;

fn element() -> impl Strategy<Value = Element> {
    prop_oneof![
        (0..2_u64).prop_map(Element::At),
        (0..2_usize, 0..2_u64).prop_map(|(outwards, offset)| Element::Iteration(outwards, offset)),
        Just(Element::Iteration(0, 0)),
    ]
}

fn access() -> impl Strategy<Value = Statement> {
    let kind = prop_oneof![Just(Access::Read), Just(Access::Write), Just(Access::Update)];
    (20..26_u32, kind, COUNTERS..9_u32, element()).prop_map(|(line, kind, reference, element)| {
        // A scalar has one element.
        let element = if reference < 6 { Element::At(0) } else { element };
        Statement::Access(line, kind, reference, element)
    })
}

/// Statements at a depth of loops, which gives each loop a counter of its own.
fn body(depth: u32) -> BoxedStrategy<Vec<Statement>> {
    if depth >= COUNTERS {
        return prop::collection::vec(access(), 1..4).boxed();
    }
    let inner = (0..4_u32, any::<bool>(), body(depth + 1)).prop_map(move |(count, has, body)| {
        Statement::Loop(10 + depth, has.then_some(depth), count, body)
    });
    let call = (30..33_u32, prop::collection::vec(access(), 1..3))
        .prop_map(|(line, body)| Statement::Call("f", line, body));
    let nested =
        (30..33_u32, body(depth + 1)).prop_map(|(line, body)| Statement::Call("g", line, body));
    let statement = prop_oneof![4 => access(), 2 => inner, 1 => call, 1 => nested];
    prop::collection::vec(statement, 1..5).boxed()
}

/// Accesses of each iteration of an execution, in order.
fn by_iteration(run: &Run, execution: ActivationIdx) -> Vec<Vec<Raw>> {
    let tree = &run.activations.tree;
    let iterations: Vec<_> = tree.children(execution).collect();
    let mut out = vec![Vec::new(); iterations.len()];
    for raw in &run.raw {
        let at = run.position.get(raw.activation as usize).unwrap();
        if let Some(i) = iterations.iter().position(|&it| tree.is_within(at, it)) {
            out[i].push(*raw);
        }
    }
    out
}

/// Elements that an iteration reads before it writes them.
fn exposed(iteration: &[Raw], reference: u32) -> HashSet<u64> {
    let mut written = HashSet::new();
    let mut out = HashSet::new();
    for raw in iteration.iter().filter(|raw| raw.reference == reference) {
        if raw.is_write {
            written.insert(raw.element);
        } else if !written.contains(&raw.element) {
            out.insert(raw.element);
        }
    }
    out
}

/// Checks what is claimed of one execution by looking at every access of every pair of iterations.
fn check(run: &Run, advice: &LoopAdvice, execution: ActivationIdx) -> Result<(), String> {
    let iterations = by_iteration(run, execution);
    let mut claims: HashMap<u32, Sharing> = HashMap::new();
    for shared in &advice.shared {
        let claim = claims.entry(shared.reference.get()).or_insert(shared.sharing);
        *claim = (*claim).max(shared.sharing);
    }
    for (j, later) in iterations.iter().enumerate() {
        for earlier in iterations.iter().take(j) {
            for raw in earlier.iter().filter(|raw| raw.is_write) {
                let same: Vec<&Raw> = later
                    .iter()
                    .filter(|other| {
                        other.reference == raw.reference && other.element == raw.element
                    })
                    .collect();
                let is_exposed = exposed(later, raw.reference).contains(&raw.element);
                let name = VARIABLES[raw.reference as usize].0;
                match claims.get(&raw.reference) {
                    None if !same.is_empty() => {
                        return Err(format!("{name} is shared, and not told"));
                    }
                    Some(Sharing::Private) if is_exposed => {
                        return Err(format!("{name} is private, but read before it is written"));
                    }
                    Some(Sharing::Counter) if raw.reference >= COUNTERS => {
                        return Err(format!("{name} is no counter"));
                    }
                    Some(Sharing::Reduction) => {
                        let all = iterations.iter().flatten();
                        let all: Vec<&Raw> = all.filter(|r| r.reference == raw.reference).collect();
                        let is_update = |pair: &[&Raw]| {
                            !pair[0].is_write
                                && pair[1].is_write
                                && pair[0].line == pair[1].line
                                && pair[0].line == all[0].line
                        };
                        if !all.len().is_multiple_of(2) || !all.chunks(2).all(is_update) {
                            return Err(format!("{name} is no reduction"));
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_dependent_loop_is_never_called_independent(
        program in body(0),
        has_addresses in any::<bool>(),
    ) {
        let run = run(&VARIABLES, &program, has_addresses);
        let found = loops(&run.activations, &run.contexts, &Control::new()).unwrap();
        let tree = &run.activations.tree;
        for execution in tree.iter().filter(|&a| tree.kind(a) == ActivationKind::LoopExecution) {
            let context = tree.context(execution);
            let advice = found.iter().find(|advice| advice.context == context).unwrap();
            let is_claimed = matches!(advice.verdict, Verdict::Independent | Verdict::AfterChanges);
            if is_claimed {
                let checked = check(&run, advice, execution);
                prop_assert_eq!(checked, Ok(()), "{:?} with addresses: {}", advice, has_addresses);
            }
        }
        // A span is never more than the work, and never less than the longest own time.
        let spans = work(&run.activations, &run.contexts, &found, &Control::new()).unwrap();
        for activation in tree.iter() {
            let at = activation.idx();
            prop_assert!(spans.span_nanos.get(at).unwrap() <= spans.work_nanos.get(at).unwrap());
            prop_assert!(spans.span_nanos.get(at).unwrap() >= tree.own_nanos(activation));
            prop_assert_eq!(spans.work_nanos.get(at).unwrap(), tree.nanos(activation));
        }
    }
}
