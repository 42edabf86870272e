//! Derived metrics in every view, against the metrics they are made of.

use parallax_protocol::{
    CallersRequest, CostChoice, CostsChoice, FlatBy, FlatRequest, PruneChoice, TreeTableRequest,
    TypedTable as _,
};
use parallax_service::{Answers as _, Control, TreeRequest};

use crate::databases::{corpus, each, f64s, fixture, texts};
use crate::drawn::drawn;

fn cost(metric: &str) -> CostChoice {
    CostChoice { metric: Some(metric.into()), ..CostChoice::default() }
}

#[test]
fn quotients_are_those_of_the_columns_beside_them() {
    let mut compared = 0;
    each(|name, opened| {
        let catalog = &opened.session().experiment().metrics;
        let names: Vec<String> = catalog.iter().take(2).map(|(_, m)| m.name.to_string()).collect();
        let [a, b] = names.as_slice() else { return };
        let formula = format!("=3 * $`{a}` / $`{b}`");
        let quoted = |name: &String| format!("\"{name}\"");
        let metrics = vec![formula.clone(), quoted(a), quoted(b)];
        let prune = PruneChoice { mpi: true, lines: true, ..PruneChoice::default() };
        let costs = CostsChoice { metrics, ..CostsChoice::default() };
        let request = TreeTableRequest { costs, prune };
        let table = opened.answer(&request, &Control::new()).unwrap().tables.rows.into_table();
        for scope in ["inclusive", "exclusive"] {
            let column = |k: usize| f64s(&table, &format!("{scope}:{k}"));
            for ((quotient, a), b) in column(0).into_iter().zip(column(1)).zip(column(2)) {
                let (a, b) = (a.unwrap(), b.unwrap());
                let expected = 3.0 * a / b;
                assert_eq!(quotient, expected.is_finite().then_some(expected), "{name} {a} {b}");
                compared += 1;
            }
        }
    });
    // The fixtures have one metric each.
    assert!(compared > 1000 || corpus().is_none(), "{compared}");
}

#[test]
fn a_formula_of_one_metric_gives_the_same_views() {
    let opened = fixture("n512-p4");
    let control = Control::new();
    let request = |metric: &str| TreeRequest { cost: cost(metric), ..TreeRequest::default() };
    let rows = |metric: &str| opened.tree(&request(metric), &control).unwrap().rows;
    assert_eq!(rows("=$realtime"), rows("realtime"));
    let flat = |metric: &str, by| {
        let request = FlatRequest { cost: cost(metric), by, ..FlatRequest::default() };
        opened.flat(&request, &control).unwrap().rows
    };
    for by in [FlatBy::Function, FlatBy::Module, FlatBy::Line] {
        assert_eq!(flat("=$realtime", by), flat("realtime", by));
    }
    let callers = |metric: &str| {
        let request = CallersRequest { cost: cost(metric), ..Default::default() };
        opened.callers(&request, &control).unwrap().rows
    };
    assert_eq!(callers("=$realtime"), callers("realtime"));
}

#[test]
fn a_formula_is_evaluated_on_sums_and_not_summed() {
    let opened = drawn(
        "
        main            1.0
          f             4.0
          g             2.0
            f           1.0
    ",
    );
    let request =
        FlatRequest { cost: cost("=100 * $cputime / @cputime"), ..FlatRequest::default() };
    let answer = opened.flat(&request, &Control::new()).unwrap();
    assert_eq!((answer.header.total, &*answer.header.unit), (100.0, ""));
    let rows: Vec<_> =
        answer.rows.iter().map(|row| (&*row.name, row.exclusive, row.inclusive)).collect();
    assert_eq!(rows, [("f", 62.5, 62.5), ("g", 25.0, 37.5), ("main", 12.5, 100.0)]);
    // The square of a sum: 5² for f, not 4² + 1².
    let request = FlatRequest { cost: cost("=$cputime^2"), ..request };
    let answer = opened.flat(&request, &Control::new()).unwrap();
    assert_eq!(answer.rows[0].exclusive, 25.0);
}

#[test]
fn undefined_values_come_last_and_are_null() {
    let opened = drawn(
        "
        main            .
          f             1.0
          g             2.0
    ",
    );
    // Own cost in the denominator: main has none.
    let metrics = vec!["=${cputime (i)} / ${cputime (e)}".to_owned()];
    let costs = CostsChoice { metrics, ..CostsChoice::default() };
    let request = TreeTableRequest { costs, ..Default::default() };
    let table = opened.answer(&request, &Control::new()).unwrap().tables.rows.into_table();
    let names: Vec<_> = texts(&table, "name").into_iter().flatten().collect();
    assert_eq!(names, ["<main thread>", "main", "f", "g"]);
    assert_eq!(f64s(&table, "inclusive:0"), [None, None, Some(1.0), Some(1.0)]);
}

#[test]
fn mistakes_in_formulas_point_into_them() {
    let opened = drawn("main 1.0");
    let said = |metric: &str| {
        let request = TreeRequest { cost: cost(metric), ..TreeRequest::default() };
        let error = opened.tree(&request, &Control::new()).unwrap_err();
        assert!(error.is_misuse());
        error.to_string()
    };
    assert_eq!(
        said("=$cputime / $cptime"),
        "\
this experiment has no metric cptime
  =$cputime / $cptime
               ^^^^^^
hint: did you mean CPUTIME?"
    );
    assert!(said("=1 + 2").contains("names no metric"));
    assert!(said("=${cputime:max}").contains("sums over locations"));
    assert!(said("=${cputime (p)}").contains("inclusive (i) or exclusive (e)"));
    assert!(said("=@{cputime (e)}").contains("one value"));
}
