//! The numbers of SQL are those of the questions.

use std::collections::BTreeMap;

use parallax_base::Control;
use parallax_protocol::{
    BalanceRequest, FlatBy, FlatRequest, LocationsRequest, MessagesRequest, PruneChoice,
    QueryRequest, Question, StatsRequest, Table, TableSet as _, TraceRequest,
};
use parallax_service::{Answers, OpenExperiment};
use parallax_testkit::needs;

use crate::common::{ask, fixture, opened, rows};

const PROFILE: &str = "reactor/hybrid-n1024-p2x2";

/// The first table of the answer to a question.
fn answer<Q: Question>(opened: &OpenExperiment, request: &Q) -> Table
where
    OpenExperiment: Answers<Q>,
{
    let answer = opened.answer(request, &Control::new()).unwrap();
    answer.tables.into_named(&answer.unit).swap_remove(0).1
}

#[test]
fn values_are_those_of_a_query() {
    let opened = opened(&fixture(PROFILE));
    let request = QueryRequest { is_raw: true, ..QueryRequest::default() };
    let all = rows(&answer(&opened, &request));
    let (summary, locations): (Vec<_>, Vec<_>) = all.into_iter().partition(|row| row[0] == "0");
    let found = ask(
        &opened,
        "SELECT profile_id, context_id, metric_id, value FROM values WHERE context_id <> 0
         ORDER BY profile_id, context_id, metric_id",
    );
    assert!(!locations.is_empty());
    assert_eq!(rows(&found), locations);
    let found = ask(
        &opened,
        "SELECT 0 AS profile_id, context_id, statistic_id, value FROM summary WHERE context_id <> 0
         ORDER BY context_id, statistic_id",
    );
    assert!(!summary.is_empty());
    assert_eq!(rows(&found), summary);
}

#[test]
fn every_part_of_the_values_is_what_a_filter_of_all_of_them_gives() {
    let opened = opened(&fixture(PROFILE));
    let all = rows(&ask(&opened, "SELECT * FROM values ORDER BY 1, 2, 3"));
    let number = |row: &[String], at: usize| row[at].parse::<u64>().unwrap();
    let most = |at: usize| all.iter().map(|row| number(row, at)).max().unwrap();
    let (profiles, contexts, metrics) = (most(0), most(1), most(2));
    type Keep<'k> = Box<dyn Fn(u64, u64, u64) -> bool + 'k>;
    let cases: Vec<(String, Keep<'_>)> = vec![
        (format!("profile_id = {profiles}"), Box::new(|p, _, _| p == profiles)),
        (format!("{profiles} > profile_id"), Box::new(|p, _, _| p < profiles)),
        ("profile_id = 1 OR profile_id = 3".into(), Box::new(|p, _, _| p == 1 || p == 3)),
        (format!("context_id = {contexts}"), Box::new(|_, c, _| c == contexts)),
        ("context_id IN (0, 2, 5, 1000000)".into(), Box::new(|_, c, _| [0, 2, 5].contains(&c))),
        ("context_id NOT IN (0, 2)".into(), Box::new(|_, c, _| c != 0 && c != 2)),
        ("context_id BETWEEN 3 AND 40".into(), Box::new(|_, c, _| (3..=40).contains(&c))),
        (format!("metric_id >= {metrics}"), Box::new(|_, _, m| m >= metrics)),
        ("context_id < -1".into(), Box::new(|_, _, _| false)),
        ("context_id >= -1 AND profile_id <= 2".into(), Box::new(|p, _, _| p <= 2)),
        (
            "(context_id = 2 OR metric_id = 1) AND profile_id = 2".into(),
            Box::new(|p, c, m| (c == 2 || m == 1) && p == 2),
        ),
        (
            "context_id = (SELECT max(context_id) FROM values)".into(),
            Box::new(|_, c, _| c == contexts),
        ),
    ];
    for (condition, keeps) in cases {
        let expected: Vec<_> = all
            .iter()
            .filter(|row| keeps(number(row, 0), number(row, 1), number(row, 2)))
            .cloned()
            .collect();
        let statement = format!("SELECT * FROM values WHERE {condition} ORDER BY 1, 2, 3");
        assert_eq!(rows(&ask(&opened, &statement)), expected, "{condition}");
        let counted = ask(&opened, &format!("SELECT count(*) FROM values WHERE {condition}"));
        assert_eq!(rows(&counted), [[expected.len().to_string()]], "{condition}");
        let limited = format!("SELECT * FROM values WHERE {condition} LIMIT 3");
        assert_eq!(rows(&ask(&opened, &limited)).len(), expected.len().min(3), "{condition}");
    }
}

#[test]
fn descendants_are_the_subtree() {
    let opened = opened(&fixture(PROFILE));
    let tree = opened.session().tree();
    for context in tree.iter().step_by(7) {
        let mut below: Vec<u32> = tree.descendants(context).map(|c| tree.source_id(c)).collect();
        below.sort_unstable();
        let below: Vec<Vec<String>> = below.iter().map(|id| vec![id.to_string()]).collect();
        let id = tree.source_id(context);
        let found = format!(
            "SELECT context_id FROM contexts WHERE is_descendant(context_id, {id}) ORDER BY 1"
        );
        assert_eq!(rows(&ask(&opened, &found)), below, "{id}");
        let found = format!(
            "SELECT below.context_id FROM contexts AS above JOIN contexts AS below
             ON below.position > above.position AND below.position <= above.last_position
             WHERE above.context_id = {id} ORDER BY 1"
        );
        assert_eq!(rows(&ask(&opened, &found)), below, "{id}");
        // The same as a condition that chooses what is read.
        let pushed = format!("SELECT sum(value) FROM values WHERE is_descendant(context_id, {id})");
        let joined = format!(
            "SELECT sum(value) FROM values JOIN contexts USING (context_id)
             WHERE is_descendant(CASE WHEN depth >= 0 THEN contexts.context_id END, {id})"
        );
        let (pushed, joined) = (rows(&ask(&opened, &pushed)), rows(&ask(&opened, &joined)));
        let as_number = |rows: &[Vec<String>]| rows[0][0].parse::<f64>().ok();
        match (as_number(&pushed), as_number(&joined)) {
            (Some(a), Some(b)) => assert!((a - b).abs() <= 1e-9 * a.abs(), "{id}: {a} {b}"),
            (a, b) => assert_eq!(a, b, "{id}"),
        }
    }
}

#[test]
fn functions_give_the_tables_of_their_questions() {
    let profile = opened(&fixture(PROFILE));
    let same = |found: Table, expected: Table| {
        assert!(expected.num_rows() > 0);
        let names = |table: &Table| -> Vec<String> {
            table.columns.iter().map(|column| column.name.clone()).collect()
        };
        assert_eq!(names(&found), names(&expected));
        let units = |table: &Table| -> Vec<String> {
            table.columns.iter().map(|column| column.unit.clone()).collect()
        };
        assert_eq!(units(&found), units(&expected));
        assert_eq!(rows(&found), rows(&expected));
    };
    same(ask(&profile, "SELECT * FROM flat()"), answer(&profile, &FlatRequest::default()));
    same(ask(&profile, "SELECT * FROM balance()"), answer(&profile, &BalanceRequest::default()));
    let locations = answer(&profile, &LocationsRequest::default());
    same(ask(&profile, "SELECT * FROM locations"), locations);
    let by_module = FlatRequest {
        by: FlatBy::Module,
        prune: PruneChoice { mpi: true, ..PruneChoice::default() },
        ..FlatRequest::default()
    };
    let found = ask(&profile, "SELECT * FROM flat(by => 'module', mpi => true)");
    same(found, answer(&profile, &by_module));
}

#[test]
fn exclusive_sums_by_function_are_those_of_the_flat_view() {
    let opened = opened(&fixture(PROFILE));
    let flat = rows(&ask(&opened, "SELECT name, exclusive FROM flat(helpers => true)"));
    let unit = ask(&opened, "SELECT exclusive FROM flat()").columns[0].unit.clone();
    let metrics = rows(&ask(
        &opened,
        &format!("SELECT metric_id FROM metrics WHERE scope = 'function' AND unit = '{unit}'"),
    ));
    assert!(!metrics.is_empty(), "{unit}");
    let mut best: BTreeMap<String, f64> = BTreeMap::new();
    for metric in metrics {
        let sums = rows(&ask(
            &opened,
            &format!(
                "SELECT function, sum(value) FROM values JOIN contexts USING (context_id)
             WHERE kind = 'function' AND metric_id = {} GROUP BY function",
                metric[0]
            ),
        ));
        let sums: BTreeMap<String, f64> =
            sums.into_iter().map(|row| (row[0].clone(), row[1].parse().unwrap())).collect();
        let agree = |row: &Vec<String>| {
            let expected: f64 = row[1].parse().unwrap();
            let found = sums.get(&row[0]).copied().unwrap_or_default();
            (found - expected).abs() <= 1e-9 * expected.abs().max(1e-9)
        };
        // Functions of one name in several modules are told apart in the view only.
        let is_plain = |row: &&Vec<String>| !row[0].contains(['[', '<']);
        if flat.iter().filter(is_plain).all(agree) {
            best = sums;
        }
    }
    assert!(best.len() > 5, "no metric has the exclusive sums of flat: {flat:?}");
}

#[test]
fn samples_are_those_of_the_trace_in_any_window() {
    let opened = opened(&fixture(PROFILE));
    let Ok(traces) = opened.session().traces() else { panic!("the fixture has a trace") };
    let request = TraceRequest { is_raw: true, ..TraceRequest::default() };
    let all = rows(&answer(&opened, &request));
    let order = "ORDER BY profile_id, start_ns, end_ns";
    let found = ask(&opened, &format!("SELECT * FROM samples {order}"));
    assert_eq!(rows(&found), all);
    let span = traces.span();
    let at = |percent: u64| span.start_nanos + span.nanos() / 100 * percent;
    let number = |row: &[String], at: usize| row[at].parse::<u64>().unwrap();
    let (a, b) = (at(40), at(41));
    type Keep<'k> = &'k dyn Fn(u64, u64) -> bool;
    let cases: [(String, Keep<'_>); 4] = [
        (format!("overlaps(start_ns, end_ns, {a}, {b})"), &|s, e| s < b && e > a),
        (format!("start_ns >= {a} AND start_ns < {b}"), &|s, _| s >= a && s < b),
        // In progress all the time.
        (format!("start_ns <= {a} AND end_ns >= {b}"), &|s, e| s <= a && e >= b),
        (format!("end_ns <= {a}"), &|_, e| e <= a),
    ];
    for (condition, keeps) in cases {
        let expected: Vec<_> =
            all.iter().filter(|row| keeps(number(row, 2), number(row, 3))).cloned().collect();
        let statement = format!("SELECT * FROM samples WHERE {condition} {order}");
        assert_eq!(rows(&ask(&opened, &statement)), expected, "{condition}");
    }
}

#[test]
fn calls_and_messages_are_those_of_the_questions() {
    let Some(path) = needs::corpus_path("data/reactor/otf2-p4") else { return };
    let opened = opened(&path);
    let stats = answer(&opened, &StatsRequest { helpers: true, ..StatsRequest::default() });
    let stats: BTreeMap<String, (String, f64)> = {
        let at = |name: &str| stats.columns.iter().position(|column| column.name == name).unwrap();
        let (name, calls, exclusive) = (at("name"), at("calls"), at("exclusive_s"));
        let rows = rows(&stats).into_iter();
        rows.map(|row| (row[name].clone(), (row[calls].clone(), row[exclusive].parse().unwrap())))
            .collect()
    };
    let calls = ask(
        &opened,
        "SELECT function, count(*) FROM trace_events JOIN contexts USING (context_id)
         GROUP BY function ORDER BY 1",
    );
    let calls: BTreeMap<String, String> =
        rows(&calls).into_iter().map(|row| (row[0].clone(), row[1].clone())).collect();
    let expected: BTreeMap<String, String> =
        stats.iter().map(|(name, (calls, _))| (name.clone(), calls.clone())).collect();
    assert!(!calls.is_empty());
    assert_eq!(calls, expected);
    let times = ask(
        &opened,
        "SELECT function, sum(end_ns - start_ns) FROM samples JOIN contexts USING (context_id)
         WHERE samples.context_id <> 0 GROUP BY function",
    );
    for row in rows(&times) {
        let seconds = row[1].parse::<f64>().unwrap() / 1e9;
        let (_, exclusive) = &stats[&row[0]];
        assert!((seconds - exclusive).abs() <= 1e-9, "{row:?}: {exclusive}");
    }
    let pairs = answer(&opened, &MessagesRequest::default());
    let at = |name: &str| pairs.columns.iter().position(|column| column.name == name).unwrap();
    let columns = [at("sender"), at("receiver"), at("messages"), at("bytes")];
    let mut expected: Vec<Vec<String>> = rows(&pairs)
        .into_iter()
        .map(|row| columns.iter().map(|&at| row[at].clone()).collect())
        .collect();
    expected.sort();
    let found = ask(
        &opened,
        "SELECT 'rank ' || sender.rank AS sender, 'rank ' || receiver.rank AS receiver,
                count(*), sum(bytes) FROM messages
         JOIN locations AS sender ON sender.profile_id = sender_id
         JOIN locations AS receiver ON receiver.profile_id = receiver_id
         WHERE kind = 'message' GROUP BY sender.rank, receiver.rank",
    );
    let mut found = rows(&found);
    found.sort();
    assert!(!found.is_empty());
    assert_eq!(found, expected);
}
