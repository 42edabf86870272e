//! Helper threads: one share of each function in every view, and all time on request.

use parallax_protocol::{
    CostChoice, FlatBy, FlatRequest, PruneChoice, ReportRequest, StacksRequest, StatsRequest,
};
use parallax_service::{Answers as _, Control, TreeRequest};

use crate::databases::{each, fixture, tree};

/// Below this share nobody compares.
const LEAST_PERCENT: f64 = 1.0;

fn close(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0), "{what}: {a} and {b}");
}

#[test]
fn a_function_has_one_share_in_the_report_the_flat_view_and_the_tree() {
    let mut compared = 0;
    each(|path, opened| {
        let control = Control::new();
        // As the report does: what MPI does inside counts to its calls.
        let prune = PruneChoice { mpi: true, lines: true, ..PruneChoice::default() };
        let Ok(report) = opened.answer(&ReportRequest::default(), &control) else { return };
        let request =
            FlatRequest { prune: prune.clone(), by: FlatBy::Function, ..FlatRequest::default() };
        let Ok(flat) = opened.flat(&request, &control) else { return };
        let total = report.reply.program_total;
        close(total, flat.header.total, path);
        let rows = &report.tables.functions;
        for (at, name) in rows.function.iter().enumerate() {
            if rows.exclusive[at] < total * LEAST_PERCENT / 100.0 {
                continue;
            }
            let same: Vec<_> = flat.rows.iter().filter(|row| row.name == *name).collect();
            let what = format!("{path}: {name}");
            assert!(!same.is_empty(), "{what} is not in the flat view");
            let is_near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * total;
            let is_same = same.iter().any(|row| {
                is_near(row.exclusive, rows.exclusive[at])
                    && is_near(row.inclusive, rows.inclusive[at])
            });
            assert!(is_same, "{what} has other costs in the flat view");
            compared += 1;
        }
        let request = TreeRequest { prune, hot_percent: 50.0, ..TreeRequest::default() };
        let Some(answer) = tree(opened, &request) else { return };
        let tops: f64 =
            answer.rows.iter().filter(|row| row.depth == 0).map(|row| row.inclusive).sum();
        if tops > 0.0 {
            assert!(tops <= total * (1.0 + 1e-6), "{path}: {tops} below the tops of {total}");
        }
    });
    assert!(compared >= 60, "only {compared} functions were compared");
}

#[test]
fn the_hot_path_is_the_program_s_and_helpers_come_back_on_request() {
    let opened = fixture("n1024-p8");
    let ask = |helpers| {
        let cost = CostChoice { helpers, ..CostChoice::default() };
        tree(&opened, &TreeRequest { cost, hot_percent: 50.0, ..TreeRequest::default() }).unwrap()
    };
    let (program, all) = (ask(false), ask(true));
    let hot: Vec<&str> =
        program.rows.iter().filter(|row| row.is_hot).map(|row| row.label.as_str()).collect();
    assert!(hot.contains(&"main"), "{hot:?}");
    let waits = |label: &str| label.contains("epoll_wait") || label.contains("event_base_loop");
    assert!(!program.rows.iter().any(|row| waits(&row.label)));
    assert!(all.rows.iter().any(|row| waits(&row.label)));
    let said = program.header.helpers.unwrap();
    let share = (all.header.total - program.header.total) / all.header.total * 100.0;
    assert!(said.contains(&format!("{share:.1} % of")), "{said}");
    assert!(said.contains("event_base_loop"), "{said}");
    assert_eq!(all.header.helpers, None);
}

#[test]
fn statistics_of_a_trace_count_the_same_threads_as_its_tree() {
    let opened = fixture("n1024-p8");
    let control = Control::new();
    let ask = |helpers| {
        let request = StatsRequest { helpers, ..StatsRequest::default() };
        let answer = opened.answer(&request, &control).unwrap();
        let cost = CostChoice { is_trace: true, helpers, ..CostChoice::default() };
        let tree = tree(&opened, &TreeRequest { cost, ..TreeRequest::default() }).unwrap();
        let sum: f64 = answer.tables.rows.exclusive_s.iter().sum();
        close(sum, tree.header.total, "statistics and tree");
        (sum, answer.reply.notes, tree.header.helpers)
    };
    let (program, notes, said) = ask(false);
    let (all, no_notes, nothing) = ask(true);
    let share = (all - program) / all * 100.0;
    assert!(share > 50.0, "{share}");
    assert!(notes.iter().any(|note| note.contains(&format!("{share:.1} % of"))), "{notes:?}");
    assert!(said.unwrap().contains(&format!("{share:.1} % of")));
    assert_eq!((no_notes.len(), nothing), (0, None));
}

#[test]
fn locations_of_helper_threads_have_no_bars_and_are_counted() {
    let opened = fixture("n1024-p8");
    let control = Control::new();
    for helpers in [false, true] {
        let request = StacksRequest { helpers, ..StacksRequest::default() };
        let answer = opened.answer(&request, &control).unwrap();
        let cost = CostChoice { helpers, ..CostChoice::default() };
        let flat = opened.flat(&FlatRequest { cost, ..FlatRequest::default() }, &control).unwrap();
        let functions: f64 = flat.rows.iter().map(|row| row.exclusive).sum();
        let total: f64 = answer.tables.locations.total.iter().sum();
        close(total, functions, "bars and functions");
        let said = answer.reply.helpers.unwrap_or_default();
        assert_eq!(answer.tables.locations.location.len(), if helpers { 24 } else { 8 });
        assert_eq!(said.ends_with(": 16 locations."), !helpers, "{said}");
    }
}
