//! One context over all locations: by hand, and against trees, balance and queries.

use parallax_service::analysis::balance::Distribution;
use parallax_service::{
    Answer, BalanceBy, BalanceRequest, Control, CostScope, DistributionAnswer, DistributionRequest,
    Opened, TreeRequest,
};

use crate::databases::{each, f64s, fixture, tree, u32s};
use crate::drawn::drawn;

fn ask(opened: &Opened, request: &DistributionRequest) -> Answer<DistributionAnswer> {
    opened.distribution(request, &Control::new()).unwrap()
}

fn statistics(opened: &Opened, request: &DistributionRequest) -> Distribution {
    ask(opened, request).value.statistics.unwrap()
}

// Ids: entry 1, main 2, loop 3, line 4, solve 5, MPI_Barrier 6.
const DRAWING: &str = "
    main                        1.0  1.0  2.0
      loop solver.c:10          0.5  0.5  .
        line solver.c:12        .    .    0.5
          solve                 2.0  1.0  .
      MPI_Barrier               .    1.5  .
";

#[test]
fn locations_without_a_value_count_when_they_ran() {
    let opened = drawn(DRAWING);
    let request = DistributionRequest { context_id: 6, ..Default::default() };
    let answer = ask(&opened, &request).value;
    assert_eq!(answer.context, "MPI_Barrier");
    assert_eq!(f64s(&answer.table, "value"), [Some(0.0), Some(1.5), Some(0.0)]);
    let found = answer.statistics.unwrap();
    assert_eq!((found.num_members, found.num_values, found.mean, found.max), (3, 1, 0.5, 1.5));
    assert_eq!(found.imbalance, Some(3.0));
    let one = DistributionRequest { profiles: Some("rank(1)".into()), ..request };
    assert_eq!(f64s(&ask(&opened, &one).value.table, "value"), [Some(1.5)]);
}

#[test]
fn a_formula_is_evaluated_at_each_location() {
    let opened = drawn(DRAWING);
    let share = DistributionRequest {
        context_id: 5,
        metric: Some("=100 * $cputime / @cputime".into()),
        ..Default::default()
    };
    let answer = ask(&opened, &share).value;
    // Whole executions: 3.5, 4.0 and 2.5 s.
    let expected = [200.0 / 3.5, 25.0, 0.0].map(Some);
    assert_eq!(f64s(&answer.table, "value"), expected);
    assert_eq!(answer.unit.to_string(), "");
    let undefined = DistributionRequest { metric: Some("=1 / $cputime".into()), ..share };
    let answer = ask(&opened, &undefined);
    assert_eq!(f64s(&answer.value.table, "value"), [Some(0.5), Some(1.0), None]);
    assert_eq!(answer.notes, ["the formula is undefined at 1 of 3"]);
    assert_eq!(answer.value.statistics.unwrap().num_members, 2);
}

#[test]
fn a_context_that_is_not_there_is_an_error_that_helps() {
    let request = DistributionRequest { context_id: 99, ..Default::default() };
    let error = drawn(DRAWING).distribution(&request, &Control::new()).unwrap_err();
    assert!(error.is_misuse() && error.to_string().contains("no context 99"), "{error}");
}

#[test]
fn values_add_up_to_those_of_the_tree() {
    let mut compared = 0;
    each(|name, opened| {
        let Some(tree) = tree(opened, &TreeRequest::default()) else { return };
        if tree.header.metric == "trace time" {
            return;
        }
        // A few contexts of every depth, loops among them.
        for row in tree.rows.iter().step_by((tree.rows.len() / 12).max(1)) {
            for (scope, expected) in
                [(CostScope::Inclusive, row.inclusive), (CostScope::Exclusive, row.exclusive)]
            {
                let context_id = row.context_id;
                let request = DistributionRequest { context_id, scope, ..Default::default() };
                let values = f64s(&ask(opened, &request).value.table, "value");
                let sum: f64 = values.into_iter().flatten().sum();
                let error = (sum - expected).abs();
                // A loop's own cost is a difference of larger sums.
                assert!(
                    error <= row.inclusive.abs() * 1e-9,
                    "{name}: context {context_id} {scope:?} {sum} {expected}"
                );
                compared += 1;
            }
        }
    });
    assert!(compared > 300, "{compared}");
}

#[test]
fn statistics_are_those_of_balance() {
    let opened = fixture("n1024-p8");
    for (by, profiles) in [
        (BalanceBy::Profile, None),
        (BalanceBy::Rank, None),
        (BalanceBy::Profile, Some("thread(0)".to_owned())),
    ] {
        let request = BalanceRequest {
            contexts: Some("function(main)".into()),
            profiles: profiles.clone(),
            by,
            by_context: true,
            ..Default::default()
        };
        let balance = opened.balance(&request, &Control::new()).unwrap().value.balance;
        for row in &balance.rows {
            let context_id = opened.session().tree().source_id(row.context);
            let profiles = profiles.clone();
            let request = DistributionRequest { context_id, profiles, by, ..Default::default() };
            let found = statistics(&opened, &request);
            let expected = Distribution { histogram: Vec::new(), ..row.distribution.clone() };
            assert_eq!(Distribution { histogram: Vec::new(), ..found }, expected);
        }
        assert!(!balance.rows.is_empty());
    }
}

#[test]
fn columns_tell_locations_apart() {
    let opened = fixture("hybrid-n1024-p2x2");
    let list = tree(&opened, &TreeRequest::default()).unwrap();
    let request = DistributionRequest { context_id: list.rows[0].context_id, ..Default::default() };
    let table = ask(&opened, &request).value.table;
    let names: Vec<&str> = table.columns.iter().map(|column| &*column.name).collect();
    assert_eq!(names.first(), Some(&"location"));
    assert_eq!(names.last(), Some(&"value"));
    assert!(names.contains(&"rank") && names.contains(&"thread"), "{names:?}");
    assert!(u32s(&table, "location").is_sorted());
    let by = BalanceBy::Rank;
    let ranks = ask(&opened, &DistributionRequest { by, ..request }).value.table;
    let names: Vec<&str> = ranks.columns.iter().map(|column| &*column.name).collect();
    assert_eq!(names, ["location", "label", "rank", "value"]);
    assert_eq!(ranks.num_rows(), 2);
}
