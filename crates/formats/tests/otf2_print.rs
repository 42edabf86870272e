//! Every event and every definition of real traces, word for word as `otf2-print` writes them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod otf2;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use otf2::{
    ANCHOR, all_records, corpus, files, locations, open_sound, print, print_definitions, root,
};
use parallax_base::Issues;
use parallax_formats::otf2::{EventCounts, LocationId};
use parallax_testkit::needs::{self, Without};

const TOOL: &str = "otf2-print";

/// What `otf2-print` says about the trace in `folder`; `None` without the tool.
fn otf2_print(folder: &Path, argument: &str, without: Without) -> Option<String> {
    if !needs::program(TOOL, without) {
        return None;
    }
    let output = Command::new(TOOL).arg(argument).arg(folder.join(ANCHOR)).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// The events in the output of `otf2-print`, by location, without the columns.
fn printed_events(text: &str) -> BTreeMap<u64, Vec<String>> {
    let mut found: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    let (_, events) = text.split_once("------\n").unwrap();
    let mut last = 0;
    for line in events.lines().filter(|line| !line.is_empty()) {
        if line.starts_with(' ') {
            found.entry(last).or_default().push(line.trim().to_owned());
            continue;
        }
        // The columns are the kind, the location, the time, and two blanks before the fields.
        let (kind, rest) = line.split_once(' ').unwrap();
        let (location, rest) = rest.trim_start().split_once(' ').unwrap();
        let rest = rest.trim_start();
        let (time, fields) = rest.split_once("  ").unwrap_or((rest, ""));
        last = location.parse().unwrap();
        let line = format!("{kind} {time} {fields}").trim_end().to_owned();
        found.entry(last).or_default().push(line);
    }
    found
}

/// The kinds of issues but for what TAU declares: it counts before it writes the last events.
fn faults(issues: &Issues) -> Vec<&'static str> {
    let kinds = issues.list().iter().map(|issue| issue.kind);
    kinds.filter(|kind| *kind != "declared-count").collect()
}

fn compare_events(folder: &Path, text: &str) {
    let expected = printed_events(text);
    let archive = open_sound(&files(folder));
    let mut issues = Issues::new();
    let mut compared = 0;
    for location in locations(&archive) {
        let found = print::events(&archive, location, &mut issues);
        let expected = expected.get(&location.0).unwrap();
        for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
            assert_eq!(found, expected, "event {i} of location {}", location.0);
        }
        assert_eq!(found.len(), expected.len(), "location {}", location.0);
        compared += found.len();
    }
    assert_eq!(faults(&issues), Vec::<&str>::new());
    assert_eq!(compared, expected.values().map(Vec::len).sum::<usize>());
    println!("{}: {compared} lines of events agree", folder.display());
}

/// What the tool of 2022 does not know by name, and a property of a type that it does not expect.
const NEWER: [(&str, &str); 2] = [("INVALID <40>", "KERNEL"), ("TYPE MISMATCH <258>", "258")];

fn compare_definitions(folder: &Path, text: &str) {
    let (_, definitions) = text.split_once("------\n").unwrap();
    let mut expected: Vec<String> = Vec::new();
    for line in definitions.lines() {
        if line.is_empty() || line.starts_with("CLOCK_PROPERTIES") {
            continue;
        }
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        expected.push(NEWER.iter().fold(line, |line, (old, new)| line.replace(old, new)));
    }
    expected.sort();
    let archive = open_sound(&files(folder));
    let found = print_definitions::definitions(archive.definitions());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.len(), expected.len());
    // The clock is not among them.
    assert_eq!(archive.anchor().definition_count, found.len() as u64 + 1);
    println!("{}: {} definitions agree", folder.display(), found.len());
}

#[test]
fn events_of_real_traces_agree_with_otf2_print() {
    for (_, folder) in corpus(Without::Test) {
        let printed = otf2_print(&folder, "--timestamps=plain", Without::Test);
        let Some(text) = printed else { return };
        compare_events(&folder, &text);
    }
}

#[test]
fn definitions_of_real_traces_agree_with_otf2_print() {
    for (_, folder) in corpus(Without::Test) {
        let Some(text) = otf2_print(&folder, "-G", Without::Test) else { return };
        compare_definitions(&folder, &text);
    }
}

/// What `otf2-print` of OTF2 3.0.2 said about the trace is stored, so this needs no tool.
#[test]
fn every_event_record_agrees_with_otf2_print() {
    let stored = root().join("fixtures/otf2/all-records.events.txt");
    let stored = std::fs::read_to_string(stored).unwrap();
    compare_events(&all_records(), &stored);
    if let Some(text) = otf2_print(&all_records(), "--timestamps=plain", Without::Part) {
        assert_eq!(text, stored);
    }
}

#[test]
fn every_definition_record_agrees_with_otf2_print() {
    let stored = root().join("fixtures/otf2/all-records.definitions.txt");
    let stored = std::fs::read_to_string(stored).unwrap();
    compare_definitions(&all_records(), &stored);
    if let Some(text) = otf2_print(&all_records(), "-G", Without::Part) {
        assert_eq!(text, stored);
    }
}

/// One line for each location: what `fixtures/otf2/counts.txt` holds for the traces of the corpus.
fn count_line(name: &str, location: u64, c: &EventCounts) -> String {
    format!(
        "{name} {location} enters {} leaves {} sends {} receives {} metrics {} others {}",
        c.enters, c.leaves, c.sends, c.receives, c.metrics, c.others
    )
}

/// Counts the lines of `otf2-print`.
fn printed_counts(text: &str) -> BTreeMap<u64, EventCounts> {
    let count = |lines: &Vec<String>| {
        let mut counts = EventCounts::default();
        for line in lines.iter().filter(|line| !line.starts_with("ADDITIONAL")) {
            *match line.split(' ').next().unwrap() {
                "ENTER" => &mut counts.enters,
                "LEAVE" => &mut counts.leaves,
                "MPI_SEND" | "MPI_ISEND" => &mut counts.sends,
                "MPI_RECV" | "MPI_IRECV" => &mut counts.receives,
                "METRIC" => &mut counts.metrics,
                _ => &mut counts.others,
            } += 1;
        }
        counts
    };
    printed_events(text).iter().map(|(location, lines)| (*location, count(lines))).collect()
}

#[test]
fn counts_of_real_traces_agree_with_the_definitions_and_with_otf2_print() {
    let stored = root().join("fixtures/otf2/counts.txt");
    let stored = std::fs::read_to_string(stored).unwrap();
    let mut traces = corpus(Without::Part);
    let mut text = String::new();
    let is_whole = !traces.is_empty();
    traces.push(("all-records", all_records()));
    for (name, folder) in traces {
        let archive = open_sound(&files(&folder));
        let printed = otf2_print(&folder, "--timestamps=plain", Without::Part);
        let printed = printed.map(|text| printed_counts(&text));
        for location in locations(&archive) {
            let mut issues = Issues::new();
            let file = archive.events(location, &mut issues).unwrap().unwrap();
            let counts = file.count(&mut issues).unwrap();
            let is_more = issues.list().iter().any(|issue| issue.kind == "declared-count");
            assert_eq!(is_more, ["otf2/tau-minife-4", "reactor/otf2-p4"].contains(&name));
            assert!(is_more || counts.total() == file.declared(), "{name} {}", location.0);
            if let Some(printed) = &printed {
                let found = EventCounts { attributes: 0, ..counts };
                assert_eq!(Some(&found), printed.get(&location.0), "{name} {}", location.0);
            }
            writeln!(text, "{}", count_line(name, location.0, &counts)).unwrap();
            assert_eq!(faults(&issues), Vec::<&str>::new());
        }
    }
    if is_whole {
        assert_eq!(text, stored);
    } else {
        let last: Vec<&str> =
            stored.lines().filter(|line| line.starts_with("all-records")).collect();
        assert_eq!(text.lines().collect::<Vec<_>>(), last);
    }
}

#[test]
fn a_location_counts_what_it_has_and_a_total_adds_up() {
    let archive = open_sound(&files(&all_records()));
    let mut issues = Issues::new();
    let mut total = EventCounts::default();
    for location in locations(&archive) {
        total +=
            archive.events(location, &mut issues).unwrap().unwrap().count(&mut issues).unwrap();
    }
    assert_eq!(total.total(), 85 + 14 + 1);
    assert_eq!(total.attributes, 10 + 15 + 15);
    assert!(archive.events(LocationId(77), &mut issues).unwrap().is_none());
}
