//! Workflow profiles: read, and built from their parts against what TAU's own tool built.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod scaling;

use std::collections::BTreeMap;
use std::path::Path;

use parallax_base::{Issues, Limits, MemoryFolder, MemorySource};
use parallax_formats::FormatError;
use parallax_formats::json::{JsonLimits, JsonReader, Value};
use parallax_formats::tau::{
    Component, ComponentProfiles, Workflow, build_workflow, is_workflow, read_folder,
};
use scaling::{corpus, has_issue};

fn read(text: &[u8]) -> Result<(Workflow, Issues), FormatError> {
    let mut issues = Issues::new();
    let source = MemorySource::new(text);
    let read = Workflow::read(&source, "w.json", &Limits::default(), &mut issues)?;
    Ok((read, issues))
}

fn profiles(folder: &Path) -> parallax_formats::tau::Profiles {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| {
        let entry = entry.unwrap();
        (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())
    });
    let mut issues = Issues::new();
    let folder = MemoryFolder::new("f", files.collect::<Vec<_>>());
    let read = read_folder(&folder, &Limits::default(), &mut issues).unwrap();
    assert!(issues.is_empty(), "{issues:?}");
    read
}

/// Fields by name at every level: the tool keeps them in the order it met them.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(entries) => {
            let mut entries: Vec<_> =
                entries.iter().map(|(name, value)| (name.clone(), sorted(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries)
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

/// Facts of threads by name, as sets: those all threads share come first when rebuilt.
fn facts(component: &Component) -> BTreeMap<&str, BTreeMap<&str, &str>> {
    let threads = component.metadata.iter();
    threads
        .map(|(thread, facts)| {
            let facts = facts.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            (thread.as_str(), facts.collect())
        })
        .collect()
}

#[test]
fn the_real_workflow_is_rebuilt_from_its_parts_value_by_value() {
    let Some(corpus) = corpus() else { return };
    let folder = corpus.join("data/tau/workflow_consolidation");
    let golden = std::fs::read(folder.join("merged_workflow.json")).unwrap();
    let (golden, issues) = read(&golden).unwrap();
    assert!(issues.is_empty(), "{issues:?}");
    let text = std::fs::read(folder.join("workflow_in.json")).unwrap();
    let description = JsonReader::from_slice(&text, JsonLimits::default()).read_value().unwrap();
    let names = ["xmain_0", "reader2_0"];
    let parts = names.map(|name| profiles(&folder.join(name)));
    let parts: Vec<ComponentProfiles<'_>> = names
        .iter()
        .zip(&parts)
        .map(|(name, profiles)| ComponentProfiles { name, profiles })
        .collect();
    let built = build_workflow(&description, &parts);
    // What is written is what was built.
    let mut text = Vec::new();
    built.write(&mut text).unwrap();
    let (written, issues) = read(&text).unwrap();
    assert!(issues.is_empty(), "{issues:?}");
    assert_eq!(written, built);
    let built = written;

    assert_eq!(sorted(&built.metadata), sorted(&golden.metadata));
    assert_eq!(built.components.len(), 2);
    for (built, golden) in built.components.iter().zip(&golden.components) {
        assert_eq!(built.name, golden.name);
        assert_eq!(built.timers, golden.timers, "{}", built.name);
        assert_eq!(built.counters, golden.counters, "{}", built.name);
        assert_eq!(facts(built), facts(golden), "{}", built.name);
        assert!(golden.aggregates.is_empty());
    }
    let counts = golden.components.iter().map(|c| (c.timers.len(), c.counters.len()));
    assert_eq!(counts.collect::<Vec<_>>(), [(216, 203), (68, 37)]);
    assert_eq!(golden.dependencies("reader2_0"), ["xmain_0"]);
    assert!(golden.dependencies("xmain_0").is_empty());
}

const SMALL: &str = r#"{"Workflow metadata": {"Dependency Graph": {"b": ["a"]}},
 "a": {"metadata": {"Rank 0, Thread 0": {"pid": 7}}, "aggr_io_time": 12,
   "Timers": [{"process index": 0, "thread index": 0, "Function": "main", "Calls": 1,
     "Subroutines": 0, "Exclusive Time": 5, "Inclusive Time": 6}, {"Function": "no numbers"}, 3, [[1]]],
   "Counters": [{"process index": 0, "thread index": 1, "Counter": "Bytes", "Num Events": 2,
     "Max Value": 8.0, "Min Value": 4.0, "Mean Value": 6.0, "SumSqr Value": 80.0}]},
 "b": {"Timers": []}, "c": 5}"#;

#[test]
fn rows_without_fields_are_reported_and_the_rest_is_kept() {
    assert!(is_workflow(&MemorySource::new(SMALL.as_bytes())));
    let (read, issues) = read(SMALL.as_bytes()).unwrap();
    let [a, b, c] = read.components.as_slice() else { panic!("{read:?}") };
    assert_eq!(a.timers.len(), 1);
    assert_eq!((a.timers[0].exclusive, a.timers[0].inclusive), (5.0, 6.0));
    assert_eq!((a.counters[0].thread, a.counters[0].max, a.counters[0].min), (1, 8.0, 4.0));
    assert_eq!(a.metadata[0].1, [("pid".to_owned(), "7".to_owned())]);
    assert_eq!(a.aggregates[0].0, "aggr_io_time");
    assert!(b.timers.is_empty() && c.timers.is_empty());
    assert_eq!(read.dependencies("b"), ["a"]);
    let bad = issues.list().iter().find(|issue| issue.kind == "row-bad").unwrap();
    assert_eq!(bad.count, 3);
    assert!(has_issue(&issues, "component-bad"));
}

#[test]
fn a_cut_file_keeps_whole_components_or_is_an_error() {
    let mut kept = 0;
    for len in 0..SMALL.len() {
        if let Ok((read, issues)) = read(&SMALL.as_bytes()[..len]) {
            assert!(has_issue(&issues, "file-cut"), "{len}");
            assert!(!read.components.is_empty());
            kept += 1;
        }
    }
    assert!(kept > 0);
}

#[test]
fn other_json_is_not_a_workflow() {
    for text in ["", "[]", "{}", r#"{"a": 1}"#, r#"{"traceEvents": []}"#, "nonsense"] {
        assert!(!is_workflow(&MemorySource::new(text.as_bytes())), "{text}");
        assert!(read(text.as_bytes()).is_err(), "{text}");
    }
}
