//! The answers of hpcanalysis (its snapshot of 2026-02) to its own query expressions, on real
//! databases: the same rows, sums and highest values come out here.

#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parallax_base::Folder;
use parallax_protocol::{InfoRequest, QueryRequest, ValueTable};
use parallax_service::{Answers as _, Control, OpenExperiment, OpenLimits, open};
use serde_json::Value;

fn find(root: &Path, name: &str) -> Option<PathBuf> {
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        if folder.file_name().is_some_and(|n| n == name) && folder.join("profile.db").is_file() {
            return Some(folder);
        }
        let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        folders.extend(entries.filter(|path| path.is_dir()));
    }
    None
}

fn open_database(path: &Path) -> OpenExperiment {
    let folder: Arc<dyn Folder> = Arc::new(parallax_native::DiskFolder::new(path));
    open(&folder, &OpenLimits::default()).unwrap()
}

/// hpcanalysis' ranges leave their end out; ours include it.
fn with_inclusive_ranges(expression: &str) -> String {
    expression.replace("(0-8:2)", "(0-7:2)")
}

fn rows(table: ValueTable) -> Vec<(u32, u32, u16, f64)> {
    let ids = table.profile_id.into_iter().zip(table.context_id).zip(table.metric_id);
    ids.zip(table.value)
        .map(|(((row, context), metric), value)| (row, context, metric, value))
        .collect()
}

#[test]
fn queries_give_the_rows_sums_and_highest_values_of_hpcanalysis() {
    let Some(corpus) = parallax_testkit::needs::corpus() else { return };
    let text = std::fs::read_to_string(corpus.join("goldens/hpcanalysis-queries.json")).unwrap();
    let goldens: Value = serde_json::from_str(&text).unwrap();
    let mut compared = 0;
    for (name, golden) in goldens.as_object().unwrap() {
        let path = find(&corpus.join("data/hpctoolkit"), name).unwrap();
        let opened = open_database(&path);
        let Some(queries) = golden["queries"].as_array() else {
            // hpcanalysis itself cannot open this one.
            assert!(golden.get("open_error").is_some());
            assert!(opened.answer(&InfoRequest {}, &Control::new()).unwrap().reply.contexts > 0);
            continue;
        };
        let info = opened.answer(&InfoRequest {}, &Control::new()).unwrap().reply;
        // hpcanalysis leaves out profiles without values.
        let profiles = golden["profiles"].as_u64().unwrap();
        assert_eq!(info.locations - info.empty_locations, profiles, "{name}");
        for query in queries {
            let expression = |key: &str| Some(with_inclusive_ranges(query[key].as_str().unwrap()));
            let request = QueryRequest {
                profiles: expression("profiles"),
                contexts: expression("contexts"),
                metrics: expression("metrics"),
                is_raw: true,
                ..QueryRequest::default()
            };
            let answer = opened.answer(&request, &Control::new()).unwrap();
            let notes = answer.reply.notes;
            let mut found = rows(answer.tables.rows);
            let what = format!("{name}: {request:?}");
            assert_eq!(found.len() as u64, query["rows"].as_u64().unwrap(), "{what}");
            let sum: f64 = found.iter().map(|row| row.3).sum();
            let expected = query["sum"].as_f64().unwrap();
            assert!((sum - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{what}: {sum}");
            if found.is_empty() {
                assert!(!notes.is_empty(), "{what}: an empty answer must say why");
            }
            found.sort_by(|a, b| b.3.total_cmp(&a.3));
            for (i, row) in query["top"].as_array().unwrap().iter().enumerate() {
                // Equal values may stand in any order.
                let value = row[3].as_f64().unwrap();
                assert_eq!(found[i].3, value, "{what}: row {i}");
                let ids = |k: usize| row[k].as_u64().unwrap();
                let is_same = |f: &(u32, u32, u16, f64)| {
                    u64::from(f.0) == ids(0)
                        && u64::from(f.1) == ids(1)
                        && u64::from(f.2) == ids(2)
                        && f.3 == value
                };
                assert!(found.iter().any(is_same), "{what}: row {row}");
            }
            compared += 1;
        }
    }
    assert!(compared > 70, "only {compared} queries were compared");
}
