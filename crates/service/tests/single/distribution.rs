//! One context over all locations: by hand, and against trees, balance and queries.

use parallax_protocol::{
    BalanceBy, BalanceRequest, CostChoice, DistributionReply, DistributionRequest, Table,
    TypedTable as _,
};
use parallax_service::analysis::balance::Distribution;
use parallax_service::{Answers as _, Control, OpenExperiment, TreeRequest};

use crate::databases::{each, f64s, fixture, tree, u32s, u64s};
use crate::drawn::drawn;

fn ask(opened: &OpenExperiment, request: &DistributionRequest) -> (DistributionReply, Table) {
    let answer = opened.distribution(request, &Control::new()).unwrap().answer;
    (answer.reply, answer.tables.rows.into_table_in(&answer.unit))
}

fn statistics(opened: &OpenExperiment, request: &DistributionRequest) -> Distribution {
    opened.distribution(request, &Control::new()).unwrap().statistics.unwrap()
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
fn locations_without_a_value_are_told_and_count_on_request() {
    let opened = drawn(DRAWING);
    let request = DistributionRequest { context_id: 6, ..Default::default() };
    let (reply, table) = ask(&opened, &request);
    assert_eq!(f64s(&table, "value"), [Some(1.5)]);
    assert_eq!(
        reply.notes,
        ["2 locations have no time in it and are not included; count those that ran as 0."]
    );
    assert_eq!(reply.absent, 2);
    assert_eq!(reply.statistics.unwrap().balance_ratio, Some(1.0));
    let request = DistributionRequest { all_locations: true, ..request };
    let (reply, table) = ask(&opened, &request);
    assert_eq!(reply.absent, 0);
    assert_eq!(reply.context, "MPI_Barrier");
    assert_eq!(f64s(&table, "value"), [Some(0.0), Some(1.5), Some(0.0)]);
    let found = statistics(&opened, &request);
    assert_eq!((found.num_members, found.num_values, found.mean, found.max), (3, 1, 0.5, 1.5));
    assert_eq!(found.imbalance, Some(3.0));
    let one = DistributionRequest { profiles: Some("rank(1)".into()), ..request };
    assert_eq!(f64s(&ask(&opened, &one).1, "value"), [Some(1.5)]);
}

#[test]
fn a_formula_is_evaluated_at_each_location() {
    let opened = drawn(DRAWING);
    let share = DistributionRequest {
        context_id: 5,
        metric: Some("=100 * $cputime / @cputime".into()),
        ..Default::default()
    };
    let (reply, table) = ask(&opened, &share);
    // Whole executions: 3.5, 4.0 and 2.5 s.
    let expected = [200.0 / 3.5, 25.0, 0.0].map(Some);
    assert_eq!(f64s(&table, "value"), expected);
    assert_eq!(reply.unit, "");
    let undefined = DistributionRequest { metric: Some("=1 / $cputime".into()), ..share };
    let (reply, table) = ask(&opened, &undefined);
    assert_eq!(f64s(&table, "value"), [Some(0.5), Some(1.0), None]);
    assert_eq!(reply.notes, ["The formula is undefined at 1 of 3."]);
    assert_eq!(reply.statistics.unwrap().members, 2);
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
        // Locations have what ran on helper threads, too.
        let cost = CostChoice { helpers: true, ..CostChoice::default() };
        let request = TreeRequest { cost, ..TreeRequest::default() };
        let Some(tree) = tree(opened, &request) else { return };
        if tree.header.metric == "trace time" {
            return;
        }
        // A few contexts of every depth, loops among them.
        for row in tree.rows.iter().step_by((tree.rows.len() / 12).max(1)) {
            for (is_exclusive, expected) in [(false, row.inclusive), (true, row.exclusive)] {
                let context_id = row.context_id;
                let request =
                    DistributionRequest { context_id, is_exclusive, ..Default::default() };
                let values = f64s(&ask(opened, &request).1, "value");
                let sum: f64 = values.into_iter().flatten().sum();
                let error = (sum - expected).abs();
                // A loop's own cost is a difference of larger sums.
                assert!(
                    error <= row.inclusive.abs() * 1e-9,
                    "{name}: context {context_id} {is_exclusive} {sum} {expected}"
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
            let asked = DistributionRequest { context_id, profiles, by, ..Default::default() };
            let found = statistics(&opened, &asked);
            let expected = Distribution { histogram: Vec::new(), ..row.distribution.clone() };
            assert_eq!(Distribution { histogram: Vec::new(), ..found }, expected);
        }
        assert!(!balance.rows.is_empty());
        let answer = opened.answer(&request, &Control::new()).unwrap();
        let table = answer.tables.rows.into_table_in(&answer.unit);
        assert_eq!(table.num_rows(), balance.rows.len());
        let unit = |column: &str| table.column(column).unwrap().unit.clone();
        assert_eq!([unit("saving"), unit("variance")], ["s", "s²"]);
    }
}

#[test]
fn columns_tell_locations_apart() {
    let opened = fixture("hybrid-n1024-p2x2");
    let list = tree(&opened, &TreeRequest::default()).unwrap();
    let request = DistributionRequest { context_id: list.rows[0].context_id, ..Default::default() };
    let (_, table) = ask(&opened, &request);
    let names: Vec<&str> = table.columns.iter().map(|column| &*column.name).collect();
    assert_eq!(names.first(), Some(&"location"));
    assert_eq!(names.last(), Some(&"value"));
    assert!(names.contains(&"rank") && names.contains(&"thread"), "{names:?}");
    // By rank and thread, not as the threads ended.
    let ids: Vec<(u64, u64)> =
        u64s(&table, "rank").into_iter().zip(u64s(&table, "thread")).collect();
    assert!(ids.len() > 1 && ids.is_sorted(), "{ids:?}");
    assert!(!u32s(&table, "location").is_sorted());
    let by = BalanceBy::Rank;
    let (_, ranks) = ask(&opened, &DistributionRequest { by, ..request });
    let names: Vec<&str> = ranks.columns.iter().map(|column| &*column.name).collect();
    assert_eq!(names, ["location", "label", "rank", "value"]);
    assert_eq!(ranks.num_rows(), 2);
}
