//! Profiles of Callgrind as experiments: planted call graphs, a real run against
//! `callgrind_annotate`, and sums of random graphs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use parallax_base::{Control, Folder, Limits, MemorySource, Source};
use parallax_import::{is_experiment_file, open, open_file};
use parallax_model::{
    ContextChoice, ContextKind, Experiment, MetricChoice, Plan, Scope, SliceRequest,
};
use parallax_native::DiskFolder;
use proptest::prelude::*;

fn text(text: &str) -> Experiment {
    let source: Source = Arc::new(MemorySource::new(text.as_bytes().to_vec()));
    assert!(is_experiment_file(&source));
    open_file(&source, "callgrind.out.1", &Limits::default()).unwrap()
}

/// Values of a metric in a scope by context, summed over locations.
fn values(x: &Experiment, metric: &str, scope: &Scope) -> BTreeMap<u32, f64> {
    let (_, found) = x.metrics.iter().find(|(_, m)| &*m.name == metric).expect(metric);
    let request = SliceRequest {
        locations: x.locations.iter().collect(),
        contexts: ContextChoice::Tree,
        metrics: MetricChoice::Ids {
            values: vec![found.id_in(scope).unwrap()],
            statistics: vec![],
        },
        plan: Plan::Cheapest,
    };
    let slice = x.profiles.as_ref().unwrap().slice(&request, &Control::new()).unwrap();
    let mut out = BTreeMap::new();
    for (&context, &value) in slice.context.iter().zip(&slice.value) {
        *out.entry(context).or_insert(0.0) += value;
    }
    out
}

/// The tree: label, inclusive, exclusive, calls.
fn drawn(x: &Experiment, metric: &str) -> String {
    let inclusive = values(x, metric, &Scope::Inclusive);
    let exclusive = values(x, metric, &Scope::Exclusive);
    let calls = values(x, "CALLS", &Scope::Exclusive);
    let mut out = String::new();
    for context in x.contexts.iter() {
        let value = |of: &BTreeMap<u32, f64>| of.get(&context.get()).copied().unwrap_or(0.0);
        let indent = "  ".repeat(x.contexts.depth(context) as usize);
        let label = x.contexts.label(context);
        let (i, e) = (value(&inclusive), value(&exclusive));
        write!(out, "{indent}{label} {i} {e}").unwrap();
        if x.contexts.kind(context) == ContextKind::Function {
            write!(out, " x{}", value(&calls)).unwrap();
        }
        out.push('\n');
    }
    out
}

/// What functions cost themselves.
fn by_function(x: &Experiment, metric: &str) -> BTreeMap<String, f64> {
    let mut out = BTreeMap::new();
    for (context, value) in values(x, metric, &Scope::Exclusive) {
        let context = parallax_base::ContextIdx::new(context);
        if x.contexts.kind(context) == ContextKind::Function {
            *out.entry(x.contexts.label(context)).or_insert(0.0) += value;
        }
    }
    out.retain(|_, value| *value != 0.0);
    out
}

#[test]
fn a_function_is_divided_among_its_callers_by_what_their_calls_cost() {
    // The example of the format's document: func2 costs 700, of which calls by main cost 400.
    let x = text(
        "# callgrind format\nevents: Ir\ncmd: /opt/demo -n 3\nfl=file1.c\nfn=main\n16 20\n\
         cfn=func1\ncalls=1 50\n16 400\ncfi=file2.c\ncfn=func2\ncalls=3 20\n16 400\n\n\
         fn=func1\n51 100\ncfi=file2.c\ncfn=func2\ncalls=2 20\n51 300\n\n\
         fl=file2.c\nfn=func2\n20 700\n",
    );
    let expected = "\
<whole execution> 820 0
  main 820 20 x0
    file1.c:16 820 20
      func1 400 100 x1
        file1.c:51 400 100
          func2 300 300 x2
            file2.c:20 300 300
      func2 400 400 x3
        file2.c:20 400 400
";
    assert_eq!(drawn(&x, "Ir"), expected);
    assert_eq!(x.metadata.title, "demo");
    assert_eq!(x.metadata.format, "Callgrind profile");
}

#[test]
fn recursion_and_cycles_are_one_context_under_each_caller() {
    // walk calls itself; ping and pong call each other and both call leaf.
    let x = text(
        "events: Ir\nfl=a.c\nfn=main\n1 10\ncfn=walk\ncalls=1 1\n1 500\ncfn=ping\ncalls=2 1\n1 330\n\
         fn=walk\n5 500\ncfn=walk\ncalls=9 5\n5 1200\n\
         fn=ping\n7 100\ncfn=pong\ncalls=4 1\n7 900\ncfn=leaf\ncalls=1 1\n7 20\n\
         fn=pong\n8 200\ncfn=ping\ncalls=3 1\n8 700\ncfn=leaf\ncalls=1 1\n8 10\n\
         fn=leaf\n9 30\n",
    );
    let expected = "\
<whole execution> 840 0
  main 840 10 x0
    a.c:1 840 10
      walk 500 500 x10
        a.c:5 500 500
      <cycle of ping, pong> 330 0 x0
        ping 120 100 x5
          a.c:7 120 100
            leaf 20 20 x1
              a.c:9 20 20
        pong 210 200 x4
          a.c:8 210 200
            leaf 10 10 x1
              a.c:9 10 10
";
    assert_eq!(drawn(&x, "Ir"), expected);
}

#[test]
fn callers_that_the_file_keeps_apart_are_one_function() {
    let x = text(
        "events: Ir\nfn=main\n1 1\ncfn=f'main\ncalls=1 1\n1 7\ncfn=g\ncalls=1 1\n1 5\n\
         fn=g\n2 2\ncfn=f'g\ncalls=1 1\n2 3\nfn=f'main\n3 7\nfn=f'g\n3 3\n",
    );
    let expected = [("f", 10.0), ("g", 2.0), ("main", 1.0)];
    let expected = expected.map(|(name, value)| (name.to_owned(), value));
    assert_eq!(by_function(&x, "Ir"), BTreeMap::from(expected));
    let names: Vec<&str> = x.contexts.functions().iter().map(|f| &*f.name).collect();
    assert_eq!(names.iter().filter(|name| **name == "f").count(), 1, "{names:?}");
}

#[test]
fn computed_events_and_threads_have_values() {
    let x = text(
        "events: Ir Dr\nevent: Sum = Ir + 2 Dr : All\nthread: 1\nfn=a\n1 5 1\n\n\
         thread: 2\nevents: Ir Dr\nfn=a\n1 10 2\n",
    );
    assert_eq!(by_function(&x, "Sum")["a"], 21.0);
    let labels: Vec<String> = x.locations.iter().map(|l| x.locations.label(l)).collect();
    assert_eq!(labels.len(), 2, "{labels:?}");
}

#[test]
fn a_real_run_has_the_costs_that_callgrind_annotate_tells() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/callgrind");
    let folder: Arc<dyn Folder> = Arc::new(DiskFolder::new(&path));
    let x = open(&folder, &Limits::default()).unwrap();
    assert_eq!(x.issues.list(), []);
    x.contexts.check().unwrap();
    let golden = std::fs::read_to_string(path.join("functions.txt")).unwrap();
    let expected: BTreeMap<String, f64> = golden
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once(' ').unwrap())
        .map(|(cost, name)| (name.to_owned(), cost.parse().unwrap()))
        .collect();
    assert_eq!(by_function(&x, "Ir"), expected);
    assert_eq!(x.locations.len(), 2);
    // The summaries of the two files: 14588 and 4315.
    assert_eq!(values(&x, "Ir", &Scope::Inclusive)[&0], 18_903.0);
    // energy is called by light with 100 numbers and by heavy with 300.
    let energy: Vec<_> = x
        .contexts
        .iter()
        .filter(|&context| x.contexts.label(context) == "energy")
        .map(|context| values(&x, "Ir", &Scope::Inclusive)[&context.get()])
        .collect();
    assert_eq!(energy, [709.0, 2109.0, 2109.0]);
}

/// Random call graphs, cycles included, whose inclusive costs fit no tree.
fn graph() -> impl Strategy<Value = (String, BTreeMap<String, f64>, f64)> {
    let arc = (0..9_usize, 0..9_usize, 1..4_u32, 1..9_u64, 0..2000_u64);
    let own = (0..9_usize, 0..4_u32, 0..3000_u64);
    (prop::collection::vec(arc, 0..30), prop::collection::vec(own, 1..30)).prop_map(
        |(arcs, own)| {
            let mut text = "events: Ir\n".to_owned();
            let mut expected = BTreeMap::new();
            let mut calls = 0.0;
            for (function, line, cost) in own {
                writeln!(text, "fn=f{function}\n{line} {cost}").unwrap();
                #[expect(clippy::cast_precision_loss, reason = "small")]
                let cost = cost as f64;
                *expected.entry(format!("f{function}")).or_insert(0.0) += cost;
            }
            for (caller, callee, line, count, cost) in arcs {
                writeln!(text, "fn=f{caller}\ncfn=f{callee}\ncalls={count} 1\n{line} {cost}")
                    .unwrap();
                #[expect(clippy::cast_precision_loss, reason = "small")]
                let count = count as f64;
                calls += count;
            }
            expected.retain(|_, cost| *cost > 0.0);
            (text, expected, calls)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn no_event_and_no_call_is_lost_or_made((file, expected, calls) in graph()) {
        let x = text(&file);
        prop_assert_eq!(by_function(&x, "Ir"), expected.clone());
        let inclusive = values(&x, "Ir", &Scope::Inclusive);
        let total: f64 = expected.values().sum();
        prop_assert_eq!(inclusive.get(&0).copied().unwrap_or(0.0), total);
        let all_calls = values(&x, "CALLS", &Scope::Inclusive);
        prop_assert_eq!(all_calls.get(&0).copied().unwrap_or(0.0), calls);
        prop_assert_eq!(x.contexts.check(), Ok(()));
    }
}

#[test]
fn costs_beyond_64_bits_add_up_and_what_does_not_fit_is_said() {
    let most = (1_u64 << 63) + (1 << 62);
    // Two functions with three quarters of the largest number each: their sum has 65 bits.
    let x = text(&format!(
        "# callgrind format\nevents: Ir\nfn=main\n1 0\ncfn=f\ncalls=1 10\n2 {most}\ncfn=g\n\
         calls=1 20\n3 {most}\nfn=f\n10 {most}\nfn=g\n20 {most}\n"
    ));
    let inclusive = values(&x, "Ir", &Scope::Inclusive);
    let whole = inclusive.values().copied().fold(0.0, f64::max);
    assert_eq!(whole, 2.0 * most as f64);
    assert!(x.issues.list().iter().all(|issue| issue.kind != "cost-too-large"), "{:?}", x.issues);
    // One line twice: the sum of one place does not fit.
    let x = text(&format!("# callgrind format\nevents: Ir\nfn=main\n1 {most}\n1 {most}\n"));
    assert!(x.issues.list().iter().any(|issue| issue.kind == "cost-too-large"), "{:?}", x.issues);
}
