//! Loops and lines of an archive are parts of the code of functions: what they take is exclusive time of
//! these, and going from one to another is no call.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use common::{files_of, manifest, old_functions, old_table};
use parallax_base::{Control, Folder, Limits, LocationIdx, MemoryFolder, MemorySink, TimeWindow};
use parallax_formats::archive::{Archive, FunctionRow, MANIFEST, keys};
use parallax_import::archive;
use parallax_import::events::{Conversion, TrackIdentity};
use parallax_model::{
    ContextChoice, ContextKind, Experiment, MetricChoice, Plan, Relation, Scope, SliceRequest,
};

/// `main` has a loop around `solve` and around a line of its own; `solve` has a line, and two loops, one
/// in the other, with lines.
fn files(facts: &[(&str, String)]) -> BTreeMap<String, Vec<u8>> {
    let sink = MemorySink::new();
    let mut conversion = Conversion::new(Arc::new(sink.clone()), 1 << 20).unwrap();
    let mut part = |name: &str, line: u32, kind: u8| {
        let file = "/app/solve.c".to_owned();
        let group = String::new();
        conversion.add_function(FunctionRow { name: name.into(), group, file, line, kind })
    };
    let [main, solve] =
        [("main", 90), ("solve", 10)].map(|(name, line)| part(name, line, FunctionRow::FUNCTION));
    let [steps, outer, inner] = [95, 12, 13].map(|line| part("", line, FunctionRow::LOOP));
    let [line_11, line_14, line_15, line_96] =
        [11, 14, 15, 96].map(|line| part("", line, FunctionRow::LINE));
    let misses = conversion.counter("cache-misses", "");
    conversion.fact(keys::COUNTED, misses.to_string());
    for (key, value) in facts {
        conversion.fact(*key, value.clone());
    }
    let track = conversion.track(TrackIdentity { name: "t".into(), ..Default::default() });
    let builder = conversion.builder(track).unwrap();
    builder.begin_complete(0, main);
    builder.begin_complete(0, steps);
    for step in 0..2_u64 {
        let now = step * 1_000_000_000;
        builder.begin_complete(now, solve);
        builder.begin_complete(now, line_11);
        builder.end_complete(now + 100_000_000);
        builder.begin_complete(now + 100_000_000, outer);
        builder.begin_complete(now + 100_000_000, line_15);
        builder.end_complete(now + 200_000_000);
        builder.begin_complete(now + 200_000_000, inner);
        builder.begin_complete(now + 200_000_000, line_14);
        builder.end_complete(now + 900_000_000);
        builder.end_complete(now + 900_000_000);
        builder.end_complete(now + 900_000_000);
        builder.end_complete(now + 950_000_000);
        builder.begin_complete(now + 950_000_000, line_96);
        builder.end_complete(now + 1_000_000_000);
        builder.count(&[main, steps, solve, outer, inner, line_14], misses, 30);
        builder.count(&[main, steps, solve, line_11], misses, 4);
    }
    builder.end_complete(2_000_000_000);
    builder.end_complete(2_000_000_000);
    conversion.finish().unwrap();
    files_of(sink)
}

fn opened(files: &BTreeMap<String, Vec<u8>>) -> Experiment {
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("m", files.clone()));
    archive::open(&folder, &Limits::default()).unwrap()
}

fn sampled() -> BTreeMap<String, Vec<u8>> {
    files(&[(keys::SAMPLED, "999".into())])
}

/// Values of a metric by context.
fn values(experiment: &Experiment, name: &str, scope: &Scope) -> Vec<(String, f64)> {
    let mut metrics = experiment.metrics.iter().map(|(_, metric)| metric);
    let metric = metrics.find(|metric| &*metric.name == name).unwrap();
    let instance = metric.instances.iter().find(|instance| instance.scope == *scope).unwrap();
    let request = SliceRequest {
        locations: vec![LocationIdx::new(1)],
        contexts: ContextChoice::Tree,
        metrics: MetricChoice::Ids { values: vec![instance.id], statistics: Vec::new() },
        plan: Plan::Cheapest,
    };
    let store = experiment.profiles.as_deref().unwrap();
    let found = store.slice(&request, &Control::new()).unwrap();
    let tree = &experiment.contexts;
    let mut all: Vec<_> = found.context.iter().zip(found.value).collect();
    all.sort_by_key(|(id, _)| tree.by_source_id(**id));
    all.into_iter()
        .map(|(id, value)| {
            (tree.label(tree.by_source_id(*id).unwrap()), (value * 1e6).round() / 1e6)
        })
        .collect()
}

fn named(pairs: &[(&str, f64)]) -> Vec<(String, f64)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}

#[test]
fn the_tree_has_loops_and_lines_in_the_code_of_functions() {
    let experiment = opened(&sampled());
    let tree = &experiment.contexts;
    tree.check().unwrap();
    let shown: Vec<_> = tree
        .iter()
        .skip(1)
        .map(|at| (tree.depth(at), tree.label(at), tree.kind(at), tree.relation(at)))
        .collect();
    let (call, own) = (Relation::Call, Relation::Lexical);
    let wanted = [
        (1, "main", ContextKind::Function, call),
        (2, "loop at solve.c:95", ContextKind::Loop, own),
        (3, "solve.c:96", ContextKind::Line, own),
        (3, "solve", ContextKind::Function, call),
        (4, "loop at solve.c:12", ContextKind::Loop, own),
        (5, "loop at solve.c:13", ContextKind::Loop, own),
        (6, "solve.c:14", ContextKind::Line, own),
        (5, "solve.c:15", ContextKind::Line, own),
        (4, "solve.c:11", ContextKind::Line, own),
    ];
    assert_eq!(shown, wanted.map(|(depth, name, kind, how)| (depth, name.to_owned(), kind, how)));
    let functions: Vec<_> = tree.functions().iter().map(|own| own.name.to_string()).collect();
    assert_eq!(functions, ["main", "solve"], "loops and lines are no functions");
    let line = tree.iter().find(|at| tree.label(*at) == "solve.c:14").unwrap();
    assert_eq!(tree.file_path(line), Some("/app/solve.c"));
}

#[test]
fn times_and_events_of_lines_add_up_in_loops_and_functions() {
    let experiment = opened(&sampled());
    let exclusive = named(&[
        ("main", 0.1),
        ("loop at solve.c:95", 0.1),
        ("solve.c:96", 0.1),
        ("solve", 1.9),
        ("loop at solve.c:12", 1.6),
        ("loop at solve.c:13", 1.4),
        ("solve.c:14", 1.4),
        ("solve.c:15", 0.2),
        ("solve.c:11", 0.2),
    ]);
    let inclusive: Vec<_> = exclusive
        .iter()
        .map(|(name, value)| match name.as_str() {
            "main" | "loop at solve.c:95" => (name.clone(), 2.0),
            _ => (name.clone(), *value),
        })
        .collect();
    for metric in ["CPUTIME", "REALTIME"] {
        assert_eq!(values(&experiment, metric, &Scope::Exclusive), exclusive, "{metric}");
        let mut found = values(&experiment, metric, &Scope::Inclusive);
        found.retain(|(name, _)| name != "<whole execution>");
        assert_eq!(found, inclusive, "{metric}");
    }
    let misses = named(&[
        ("solve", 68.0),
        ("loop at solve.c:12", 60.0),
        ("loop at solve.c:13", 60.0),
        ("solve.c:14", 60.0),
        ("solve.c:11", 8.0),
    ]);
    assert_eq!(values(&experiment, "cache-misses", &Scope::Exclusive), misses);
}

#[test]
fn going_from_line_to_line_is_no_call() {
    let experiment = opened(&sampled());
    let (tree, traces) = (&experiment.contexts, experiment.traces.as_deref().unwrap());
    let track = traces.track_ids().next().unwrap();
    for (window, wanted) in [
        (TimeWindow::ALL, &["solve", "solve", "main"][..]),
        (TimeWindow::new(0, 500_000_000), &["solve", "main"]),
    ] {
        let mut calls = Vec::new();
        let visit = &mut |call: parallax_model::Call| {
            calls.push(tree.label(tree.by_source_id(call.context).unwrap()));
        };
        traces.visit_calls(track, window, visit).unwrap();
        assert_eq!(calls, wanted);
    }
    // Where the time is remains known by line.
    let mut lines = BTreeMap::new();
    let visit = &mut |part: parallax_model::Interval| {
        let name = tree.label(tree.by_source_id(part.context).unwrap());
        *lines.entry(name).or_insert(0) += part.end_nanos - part.start_nanos;
    };
    traces.visit(track, TimeWindow::ALL, visit).unwrap();
    assert_eq!(lines.get("solve.c:14"), Some(&1_400_000_000));
    assert_eq!(lines.get("solve"), Some(&100_000_000), "its own time without a line");
}

#[test]
fn archives_of_version_5_have_functions_only() {
    let mut files = sampled();
    let functions = old_functions(&files);
    let facts = [(keys::VERSION, "5"), (keys::SAMPLED, "999"), (keys::LAST_NANOS, "2000000000")];
    files.insert(MANIFEST.into(), manifest(&facts));
    let folder = |files: &BTreeMap<String, Vec<u8>>| -> Arc<dyn Folder> {
        Arc::new(MemoryFolder::new("m", files.clone()))
    };
    let error = archive::open(&folder(&files), &Limits::default()).err().unwrap();
    assert!(error.to_string().contains("functions.arrow"), "version 6 has kinds: {error}");
    files.insert("functions.arrow".into(), functions);
    let experiment = opened(&files);
    let tree = &experiment.contexts;
    assert!(tree.iter().skip(1).all(|at| tree.kind(at) == ContextKind::Function));
    let exclusive = values(&experiment, "CPUTIME", &Scope::Exclusive);
    assert!(exclusive.iter().all(|(name, _)| name != "main"), "{exclusive:?}");
    // And the other way round.
    files.insert(MANIFEST.into(), manifest(&[(keys::VERSION, "6")]));
    assert!(archive::open(&folder(&files), &Limits::default()).is_err());
}

#[test]
fn a_kind_that_is_not_known_is_a_function() {
    let mut files = sampled();
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("m", files.clone()));
    let mut rows = Archive::open(&folder, &Limits::default()).unwrap().functions.clone();
    for row in rows.iter_mut().filter(|row| row.kind == FunctionRow::LOOP) {
        row.kind = 77;
    }
    files.insert("functions.arrow".into(), old_table(rows, 5));
    let experiment = opened(&files);
    let tree = &experiment.contexts;
    assert!(tree.iter().all(|at| tree.kind(at) != ContextKind::Loop));
    assert_eq!(tree.functions().len(), 5);
}
