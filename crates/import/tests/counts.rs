//! Events that were counted by call path are metrics of an archive.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use common::{files_of, manifest, old_functions};
use parallax_base::{Control, Folder, Limits, LocationIdx, MemoryFolder, MemorySink};
use parallax_formats::archive::{MANIFEST, keys};
use parallax_import::archive;
use parallax_import::events::{Conversion, TrackIdentity};
use parallax_model::{ContextChoice, Experiment, MetricChoice, Plan, Scope, SliceRequest};

/// `main` calls `solve` and `read`; two tracks, of which the second one has misses only.
fn files() -> BTreeMap<String, Vec<u8>> {
    let sink = MemorySink::new();
    let mut conversion = Conversion::new(Arc::new(sink.clone()), 1 << 20).unwrap();
    let name = |conversion: &mut Conversion, name| conversion.function(name, "");
    let [main, solve, read] = ["main", "solve", "read"].map(|one| name(&mut conversion, one));
    let misses = conversion.counter("cache-misses", "");
    let faults = conversion.counter("page-faults", "");
    let unused = conversion.counter("branch-misses", "");
    let clock = conversion.counter("task-clock", "ns");
    conversion.fact(keys::SAMPLED, "1000");
    // 192 misses were sampled, and the counter says that there were twice as many.
    conversion.fact(keys::COUNTED, format!("{misses}:384,{faults},{unused}:0,{clock}:8000,99:1"));
    for number in 0..2_u64 {
        let identity = TrackIdentity { name: format!("t{number}"), ..Default::default() };
        let track = conversion.track(identity);
        let builder = conversion.builder(track).unwrap();
        builder.enter(10, main);
        builder.enter(20, solve);
        builder.count(&[main, solve], misses, 70);
        builder.count(&[main, solve], misses, 5);
        // What was never open at a sample of the clock.
        builder.count(&[main, read], misses, 20);
        builder.count(&[main], misses, 1);
        builder.count(&[main], clock, 4000);
        if number == 0 {
            builder.count(&[main, read], faults, u64::MAX);
            builder.count(&[main, read], faults, 1);
            builder.count(&[], faults, 3);
        }
        builder.leave(30, None);
        builder.leave(40, None);
        conversion.commit().unwrap();
    }
    conversion.finish().unwrap();
    files_of(sink)
}

fn opened(files: &BTreeMap<String, Vec<u8>>) -> Experiment {
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("m", files.clone()));
    archive::open(&folder, &Limits::default()).unwrap()
}

/// Values of a metric by context, at one location.
fn values(experiment: &Experiment, name: &str, scope: &Scope, at: u32) -> Vec<(String, f64)> {
    let mut metrics = experiment.metrics.iter().map(|(_, metric)| metric);
    let metric = metrics.find(|metric| &*metric.name == name).unwrap();
    let instance = metric.instances.iter().find(|instance| instance.scope == *scope).unwrap();
    let request = SliceRequest {
        locations: vec![LocationIdx::new(at)],
        contexts: ContextChoice::Tree,
        metrics: MetricChoice::Ids { values: vec![instance.id], statistics: Vec::new() },
        plan: Plan::Cheapest,
    };
    let store = experiment.profiles.as_deref().unwrap();
    let found = store.slice(&request, &Control::new()).unwrap();
    let label = |id: &u32| {
        let context = experiment.contexts.by_source_id(*id).unwrap();
        experiment.contexts.label(context).clone()
    };
    let mut found: Vec<_> = found.context.iter().map(label).zip(found.value).collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

#[test]
fn events_are_metrics_of_each_track_with_sums_over_what_is_called() {
    let experiment = opened(&files());
    assert!(experiment.issues.is_empty(), "{:?}", experiment.issues);
    let names: Vec<_> =
        experiment.metrics.iter().map(|(_, metric)| metric.name.to_string()).collect();
    let events = ["cache-misses", "page-faults", "branch-misses", "task-clock"];
    assert_eq!(names, [&["CPUTIME", "REALTIME"][..], &events].concat());
    let named = |pairs: &[(&str, f64)]| -> Vec<(String, f64)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    };
    for location in [1, 2] {
        let own = values(&experiment, "cache-misses", &Scope::Exclusive, location);
        assert_eq!(own, named(&[("main", 2.0), ("read", 40.0), ("solve", 150.0)]));
        let all = values(&experiment, "cache-misses", &Scope::Inclusive, location);
        let root = all.iter().find(|(name, _)| !["main", "read", "solve"].contains(&&**name));
        assert_eq!(root.unwrap().1, 192.0);
        assert_eq!(all.iter().find(|(name, _)| name == "main").unwrap().1, 192.0);
    }
    let clock = values(&experiment, "task-clock", &Scope::Exclusive, 2);
    assert_eq!(clock, named(&[("main", 4000.0 * 1e-9)]));
    // Too many are as many as can be counted.
    let faults = values(&experiment, "page-faults", &Scope::Exclusive, 1);
    assert!(faults.contains(&("read".to_owned(), u64::MAX as f64)), "{faults:?}");
    assert!(values(&experiment, "page-faults", &Scope::Exclusive, 2).is_empty());
    assert!(values(&experiment, "branch-misses", &Scope::Inclusive, 1).is_empty());
}

#[test]
fn archives_of_version_4_open_without_counts() {
    let mut files = files();
    let functions = old_functions(&files);
    assert!(files.remove("counts.arrow").is_some());
    let folder = |files: &BTreeMap<String, Vec<u8>>| -> Arc<dyn Folder> {
        Arc::new(MemoryFolder::new("m", files.clone()))
    };
    assert!(archive::open(&folder(&files), &Limits::default()).is_err(), "version 5 has them");
    files.insert("functions.arrow".into(), functions);
    let facts = [(keys::VERSION, "4"), (keys::SAMPLED, "1000"), (keys::LAST_NANOS, "40")];
    files.insert(MANIFEST.into(), manifest(&facts));
    let experiment = opened(&files);
    let names: Vec<_> =
        experiment.metrics.iter().map(|(_, metric)| metric.name.to_string()).collect();
    assert_eq!(names, ["CPUTIME", "REALTIME"]);
}
