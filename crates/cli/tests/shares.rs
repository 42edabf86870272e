//! The share of a function is the same whatever is asked: `report`, `flat` and `tree` have one basis.

#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{answer, rows_of, skip};
use parallax_testkit::needs;
use serde_json::{Map, Value};

/// Smaller shares are not compared, in per cent.
const MIN_PERCENT: f64 = 1.0;

type Row = Map<String, Value>;

fn text<'r>(row: &'r Row, name: &str) -> &'r str {
    row[name].as_str().unwrap_or_default()
}

fn number(row: &Row, name: &str) -> f64 {
    row[name].as_f64().unwrap_or(0.0)
}

/// The data sets of the corpus of which an expert said something.
fn data() -> BTreeSet<String> {
    let rows: Vec<Row> = serde_json::from_str(include_str!("findings/expert.json")).unwrap();
    let reports = rows.iter().filter(|row| text(row, "ask") == "report");
    reports.map(|row| text(row, "data").to_owned()).collect()
}

/// By name, a sum of all functions of that name.
fn by_name<'r>(rows: impl Iterator<Item = (&'r str, f64)>) -> BTreeMap<String, f64> {
    let mut out = BTreeMap::new();
    for (name, value) in rows {
        *out.entry(name.to_owned()).or_insert(0.0) += value;
    }
    out
}

/// Inclusive shares of the outermost calls of each function in a tree.
fn of_tree(rows: &[Row]) -> BTreeMap<String, f64> {
    let mut above: Vec<BTreeSet<&str>> = Vec::new();
    let mut out = BTreeMap::new();
    for row in rows {
        let parent = usize::try_from(row["parent"].as_u64().unwrap()).unwrap();
        let mut names = above.get(parent).cloned().unwrap_or_default();
        if text(row, "kind") == "function" {
            let name = text(row, "name");
            if names.insert(name) {
                *out.entry(name.to_owned()).or_insert(0.0) += number(row, "inclusive_percent");
            }
        }
        above.push(names);
    }
    out
}

#[test]
fn functions_have_the_same_shares_in_report_flat_and_tree() {
    let Some(corpus) = needs::corpus().map(|root| root.join("data")) else { return };
    let (mut faults, mut compared) = (Vec::new(), 0);
    for path in data() {
        if needs::corpus_path(&format!("data/{path}")).is_none() {
            continue;
        }
        let file = corpus.join(&path).display().to_string();
        let report = answer(&["report", &file]);
        let total = report["program_total"].as_f64().unwrap();
        let flat = rows_of(&answer(&["flat", &file, "--all"]));
        let tree = rows_of(&answer(&["tree", &file, "--all"]));
        let flat_shares =
            by_name(flat.iter().map(|row| (text(row, "name"), number(row, "inclusive_percent"))));
        let tree_shares = of_tree(&tree);
        // A report counts what lies below routines of MPI to these.
        let listed = rows_of(&report["tables"]["functions"]);
        let pruned = rows_of(&answer(&["flat", &file, "--all", "--prune", "mpi"]));
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs().max(b.abs());
        let large = |shares: &BTreeMap<String, f64>| -> Vec<(String, f64)> {
            let all = shares.iter().map(|(name, share)| (name.clone(), *share));
            all.filter(|(_, share)| *share >= MIN_PERCENT).collect()
        };
        for row in &listed {
            let (name, share) = (text(row, "function"), number(row, "inclusive") / total * 100.0);
            let own = number(row, "percent");
            let is_it = |other: &&Row| {
                text(other, "name") == name
                    && near(share, number(other, "inclusive_percent"))
                    && near(own, number(other, "exclusive_percent"))
            };
            if share >= MIN_PERCENT {
                compared += 1;
                if !pruned.iter().any(|other| is_it(&other)) {
                    faults
                        .push(format!("{path}: {name} {share} %, {own} % in report, not in flat"));
                }
            }
        }
        for (name, share) in large(&flat_shares) {
            compared += 1;
            match tree_shares.get(&name) {
                Some(&other) if near(share, other) => {}
                other => faults.push(format!("{path}: {name} {share} % flat, {other:?} in tree")),
            }
        }
    }
    if compared == 0 {
        return skip("no database of the corpus");
    }
    assert!(faults.is_empty(), "{} of {compared}:\n{}", faults.len(), faults.join("\n"));
}
