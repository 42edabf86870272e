//! `user-events`: the numbers of TAU's files, added up a second time by hand.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may stop")]

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use common::{printed, rows, run};
use serde_json::Value;

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/reactor-tau/p4")
}

/// The folder of a real workflow; `None` where there is no corpus.
fn workflow() -> Option<PathBuf> {
    parallax_testkit::needs::corpus_path("data/tau/workflow_consolidation")
}

/// Number, sum, smallest, largest, sum of squares, and locations, by event, as the files have them.
type Sums = BTreeMap<String, [f64; 6]>;

/// Reads the lines of user events: name, number, largest, smallest, mean, sum of squares.
fn sums(folder: &Path) -> Sums {
    let mut all = Sums::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let mut seen = Vec::new();
        for line in text.lines().skip_while(|line| !line.ends_with(" userevents")).skip(2) {
            let (name, numbers) = line.strip_prefix('"').unwrap().rsplit_once('"').unwrap();
            let name = name.trim().to_owned();
            // TAU writes some of them twice.
            if seen.contains(&name) {
                continue;
            }
            seen.push(name.clone());
            let numbers: Vec<f64> =
                numbers.split_whitespace().map(|number| number.parse().unwrap()).collect();
            let [count, max, min, mean, squares] = numbers[..] else { panic!("{line}") };
            let known = all.entry(name).or_insert([0.0, 0.0, f64::MAX, f64::MIN, 0.0, 0.0]);
            known[0] += count;
            known[1] += count * mean;
            known[2] = known[2].min(min);
            known[3] = known[3].max(max);
            known[4] += squares;
            known[5] += 1.0;
        }
    }
    all
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn close(found: &Value, expected: f64, what: &str) {
    let found = number(found);
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{what}: {found}");
}

/// Whether every row has the numbers of the files. Returns the names of the events.
fn agrees(database: &str, files: &Sums) -> Vec<String> {
    let found = rows(&["user-events", database]);
    for row in &found {
        let name = row["event"].as_str().unwrap();
        let Some([count, sum, min, max, squares, locations]) = files.get(name) else {
            panic!("{name} is in no file")
        };
        for (column, expected) in [
            ("count", *count),
            ("sum", *sum),
            ("mean", sum / count),
            ("min", *min),
            ("max", *max),
            ("locations", *locations),
        ] {
            close(&row[column], expected, &format!("{column} of {name}"));
        }
        let variance = squares / count - (sum / count).powi(2);
        // The difference of large numbers; equal values do not deviate at all.
        let deviation = number(&row["std_dev"]);
        let error = (deviation * deviation - variance).abs();
        assert!(error <= 1e-9 * squares / count, "std_dev of {name}: {deviation}");
        assert!(min != max || deviation == 0.0, "std_dev of {name}");
    }
    let counts: Vec<f64> = found.iter().map(|row| number(&row["count"])).collect();
    assert!(counts.is_sorted_by(|a, b| a >= b), "the most frequent first");
    found.iter().map(|row| row["event"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn events_have_the_numbers_of_the_files() {
    let folder = fixture();
    let database = folder.to_str().unwrap();
    let names = ["Message size for all-reduce", "Message size for gather"];
    assert_eq!(agrees(database, &sums(&folder)), names);
    let text = printed(&["user-events", database, "--width", "120"]);
    assert!(text.contains("User events, most frequent first"), "{text}");
    assert!(text.contains("Message size for all-reduce"), "{text}");
    assert!(text.contains("131 kB"), "sizes have their unit: {text}");
    let csv = printed(&["user-events", database, "--format", "csv"]);
    let head = "event,unit,count,sum,mean,min,max,std_dev,locations,contexts";
    assert_eq!(csv.lines().next(), Some(head));
}

#[test]
fn locations_have_their_own_numbers_and_those_without_the_event_have_none() {
    let folder = fixture();
    let database = folder.to_str().unwrap();
    let gather = rows(&["user-events", database, "--by", "location", "--event", "*gather"]);
    let counts: Vec<&Value> = gather.iter().map(|row| &row["count"]).collect();
    assert_eq!(counts, [4, 0, 0, 0], "rank 0 gathers");
    assert_eq!(gather[0]["label"], "rank 0 thread 0");
    assert_eq!(number(&gather[0]["max"]).to_bits(), 131_072_f64.to_bits());
    assert!(gather[1]["mean"].is_null() && gather[1]["max"].is_null());
    let two = rows(&["user-events", database, "--profiles", "rank(1-2)"]);
    assert_eq!(two.len(), 1, "only one event happened there");
    assert_eq!((&two[0]["count"], &two[0]["locations"]), (&80.into(), &2.into()));
}

#[test]
fn wrong_questions_are_told_apart_from_data_without_an_answer() {
    let folder = fixture();
    let told = |arguments: &[&str]| {
        let output = run(arguments);
        (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.code())
    };
    let event = "Message size for al-reduce";
    let (text, code) = told(&["user-events", folder.to_str().unwrap(), "--event", event]);
    assert_eq!(code, Some(2));
    assert!(text.contains("did you mean Message size for all-reduce, "), "{text}");
    let other = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/reactor/n1024-p8");
    let (text, code) = told(&["user-events", other.to_str().unwrap()]);
    assert_eq!(code, Some(1));
    assert!(text.contains("this experiment has no user events"), "{text}");
}

#[test]
fn real_events_happen_in_contexts() {
    let Some(folder) = workflow() else { return };
    let database = folder.join("xmain_0");
    let database = database.to_str().unwrap();
    let files = sums(&folder.join("xmain_0"));
    let found = agrees(database, &files);
    for name in files.keys().filter(|name| !name.contains(" : ")) {
        assert!(found.contains(name), "{name} has no row");
    }
    // What happened in contexts is what the files have for paths that end there.
    let contexts = rows(&["user-events", database, "--by", "context"]);
    assert!(!contexts.is_empty());
    for row in contexts.iter().filter(|row| !row["context_id"].is_null()) {
        let (event, name) = (row["event"].as_str().unwrap(), row["name"].as_str().unwrap());
        let mut known = [0.0, 0.0, f64::MAX, f64::MIN];
        let here = files.iter().filter(|(file, _)| {
            let path = file.strip_prefix(event).and_then(|rest| rest.strip_prefix(" : "));
            path.is_some_and(|path| path.rsplit(" => ").next().unwrap().trim() == name)
        });
        for (_, [count, sum, min, max, ..]) in here {
            known = [known[0] + count, known[1] + sum, known[2].min(*min), known[3].max(*max)];
        }
        for (column, expected) in
            [("count", known[0]), ("sum", known[1]), ("min", known[2]), ("max", known[3])]
        {
            close(&row[column], expected, &format!("{column} of {event} in {name}"));
        }
    }
    // One of them at each location.
    let row = &contexts[0];
    let id = row["context_id"].as_u64().unwrap().to_string();
    let event = row["event"].as_str().unwrap();
    let each = rows(&["user-events", database, "--event", event, "--context", &id]);
    assert_eq!(each.len(), 8);
    let sum: f64 = each.iter().map(|row| number(&row["count"])).sum();
    close(&row["count"], sum, event);
}

#[test]
fn components_of_a_workflow_count_together() {
    let Some(folder) = workflow() else { return };
    let database = folder.join("merged_workflow.json");
    let database = database.to_str().unwrap();
    let event = "Message size for all-reduce";
    let own = |component: &str| sums(&folder.join(component))[event];
    let (md, reader) = (own("xmain_0"), own("reader2_0"));
    let found = rows(&["user-events", database, "--event", event]);
    close(&found[0]["count"], md[0] + reader[0], "count");
    close(&found[0]["mean"], (md[1] + reader[1]) / (md[0] + reader[0]), "mean");
    close(&found[0]["max"], md[3].max(reader[3]), "max");
    let each = rows(&["user-events", database, "--event", event, "--by", "location"]);
    let in_second: f64 =
        each.iter().filter(|row| row["application"] == 1).map(|row| number(&row["count"])).sum();
    assert!((in_second - reader[0]).abs() < 0.5, "{in_second} of the second component");
}
