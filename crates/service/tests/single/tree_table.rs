//! The tree as a table says what the tree says, for one metric and for several.

use crate::databases::{each, f64s, fixture, texts, tree, u32s};
use crate::drawn::drawn;
use parallax_protocol::{
    CostChoice, CostReply, CostsChoice, PruneChoice, Table, TreeTableRequest, TypedTable as _,
};
use parallax_service::{Answers as _, Control, NO_PARENT, OpenExperiment, TreeAnswer, TreeRequest};

fn table_of(opened: &OpenExperiment, request: &TreeTableRequest) -> (Vec<CostReply>, Table) {
    let answer = opened.answer(request, &Control::new()).unwrap();
    (answer.reply.costs, answer.tables.rows.into_table())
}

fn assert_same(
    opened: &OpenExperiment,
    expected: &TreeAnswer,
    request: &TreeTableRequest,
    name: &str,
) {
    let (costs, table) = table_of(opened, request);
    let table = &table;
    assert_eq!(costs, std::slice::from_ref(&expected.header), "{name}");
    assert_eq!(table.num_rows(), expected.rows.len(), "{name}");
    let (names, places, kinds) =
        (texts(table, "name"), texts(table, "place"), texts(table, "kind"));
    let (depth, parent, ids) =
        (u32s(table, "depth"), u32s(table, "parent"), u32s(table, "context_id"));
    let (inclusive, exclusive) = (f64s(table, "inclusive:0"), f64s(table, "exclusive:0"));
    let mut above: Vec<u32> = Vec::new();
    for (i, row) in expected.rows.iter().enumerate() {
        assert_eq!(depth[i], row.depth, "{name} {i}");
        assert_eq!(ids[i], row.context_id, "{name} {i}");
        assert_eq!(names[i].as_deref(), Some(&*row.label), "{name} {i}");
        assert_eq!(places[i].as_deref(), Some(&*row.place), "{name} {i}");
        assert_eq!(kinds[i].as_deref(), Some(row.kind), "{name} {i}");
        assert_eq!((inclusive[i], exclusive[i]), (Some(row.inclusive), Some(row.exclusive)));
        above.truncate(row.depth as usize);
        assert_eq!(parent[i], above.last().copied().unwrap_or(NO_PARENT), "{name} {i}");
        above.push(u32::try_from(i).unwrap());
    }
}

#[test]
fn for_one_metric_the_rows_are_those_of_the_tree() {
    let prunes = [
        PruneChoice::default(),
        PruneChoice { mpi: true, openmp: true, lines: true, ..PruneChoice::default() },
        PruneChoice { below_percent: Some(1.0), ..PruneChoice::default() },
    ];
    let mut compared = 0;
    each(|name, opened| {
        for prune in &prunes {
            let request = TreeRequest { prune: prune.clone(), ..TreeRequest::default() };
            let Some(expected) = tree(opened, &request) else { continue };
            let request = TreeTableRequest { prune: prune.clone(), ..Default::default() };
            assert_same(opened, &expected, &request, name);
            compared += 1;
        }
    });
    assert!(compared >= 42, "{compared}");
}

#[test]
fn locations_and_windows_choose_as_in_the_tree() {
    let opened = fixture("n512-p4");
    let choices = [
        CostChoice { profiles: Some("rank(1)".into()), ..CostChoice::default() },
        CostChoice { window: Some("25%..75%".into()), ..CostChoice::default() },
        CostChoice { is_trace: true, ..CostChoice::default() },
    ];
    for cost in choices {
        let request = TreeRequest { cost: cost.clone(), ..TreeRequest::default() };
        let expected = tree(&opened, &request).unwrap();
        assert!(expected.rows.len() > 100);
        let CostChoice { profiles, is_trace, window, .. } = cost;
        let costs = CostsChoice { profiles, is_trace, window, ..CostsChoice::default() };
        let request = TreeTableRequest { costs, ..Default::default() };
        assert_same(&opened, &expected, &request, "n512-p4");
    }
}

#[test]
fn rows_that_only_another_metric_knows_stay() {
    // Two names of the same metric: the second half of the columns repeats the first.
    let opened = fixture("n512-p4");
    let metrics = |names: &[&str]| CostsChoice {
        metrics: names.iter().map(ToString::to_string).collect(),
        ..CostsChoice::default()
    };
    let both = ["realtime", "=2 * $realtime"];
    let request = TreeTableRequest { costs: metrics(&both), ..Default::default() };
    let (costs, table) = table_of(&opened, &request);
    assert_eq!(costs.len(), 2);
    assert_eq!(costs[1].total, 2.0 * costs[0].total);
    let (first, second) = (f64s(&table, "inclusive:0"), f64s(&table, "inclusive:1"));
    assert!(first.iter().zip(&second).all(|(a, b)| a.map(|a| a * 2.0) == *b));
    // A first metric that is 0 everywhere hides nothing of the second.
    let zero = ["=$realtime - $realtime", "realtime"];
    let request = TreeTableRequest { costs: metrics(&zero), ..Default::default() };
    let (_, other) = table_of(&opened, &request);
    assert_eq!(other.num_rows(), table.num_rows());
}

#[test]
fn files_lines_and_modules_say_where_code_is_and_where_calls_are() {
    let opened = drawn(
        "
        main                        1.0
          loop solver.c:10          0.5
            line solver.c:12        0.5
              solve                 2.0
    ",
    );
    let (_, table) = table_of(&opened, &TreeTableRequest::default());
    let table = &table;
    let names: Vec<_> = texts(table, "name").into_iter().flatten().collect();
    assert_eq!(names, ["<main thread>", "main", "loop at solver.c:10", "solver.c:12", "solve"]);
    let file = |i: usize| texts(table, "file")[i].clone();
    assert_eq!((file(0), file(1)), (None, None));
    assert_eq!(u32s(table, "line"), [0, 0, 10, 12, 12]);
    assert!((2..5).all(|i| file(i).is_some_and(|path| path.ends_with("solver.c"))));
    let real = fixture("n1024-p8");
    let (_, table) = table_of(&real, &TreeTableRequest::default());
    let (names, modules) = (texts(&table, "name"), texts(&table, "module"));
    let main = names.iter().position(|name| name.as_deref() == Some("main")).unwrap();
    assert!(modules[main].as_deref().is_some_and(|path| path.ends_with("/reactor")), "{modules:?}");
    let defined = texts(&table, "definition_file")[main].clone();
    assert!(defined.is_some_and(|path| path.ends_with("reactor.c")));
}
