//! Caliper as an experiment, found by its bytes.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::path::Path;
use std::sync::Arc;

use parallax_base::{ContextIdx, Control, Limits, LocationIdx, MemorySource, Source};
use parallax_import::open_file;
use parallax_model::{ContextChoice, Experiment, MetricChoice, Plan, Scope, SliceRequest};
use parallax_testkit::needs;

fn open(bytes: Vec<u8>) -> Experiment {
    let source: Source = Arc::new(MemorySource::new(bytes));
    let experiment = open_file(&source, "a name that says nothing", &Limits::default()).unwrap();
    assert_eq!(experiment.contexts.check(), Ok(()));
    experiment
}

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/caliper");
    std::fs::read(folder.join(name)).unwrap()
}

/// Name of a context, inclusive and exclusive time at a location.
fn times(experiment: &Experiment, location: LocationIdx) -> Vec<(String, f64, f64)> {
    let time = experiment.metrics.iter().find(|(_, metric)| &*metric.name == "time").unwrap().1;
    let [inclusive, exclusive] =
        [Scope::Inclusive, Scope::Exclusive].map(|scope| time.id_in(&scope).unwrap());
    let request = SliceRequest {
        locations: vec![location],
        contexts: ContextChoice::Tree,
        metrics: MetricChoice::All,
        plan: Plan::Cheapest,
    };
    let store = experiment.profiles.as_ref().unwrap();
    let slice = store.slice(&request, &Control::new()).unwrap();
    let of = |context: ContextIdx, metric: u16| {
        let rows = slice.context.iter().zip(&slice.metric).zip(&slice.value);
        rows.filter(|((at, id), _)| **at == context.get() && **id == metric)
            .map(|(_, value)| value)
            .sum::<f64>()
    };
    let round = |value: f64| (value * 1e9).round() / 1e9;
    let row = |context| {
        let name = experiment.contexts.label(context);
        (name, round(of(context, inclusive)), round(of(context, exclusive)))
    };
    experiment.contexts.iter().map(row).collect()
}

fn owned(rows: &[(&str, f64, f64)]) -> Vec<(String, f64, f64)> {
    rows.iter().map(|&(name, a, b)| (name.to_owned(), a, b)).collect()
}

#[test]
fn ranks_have_inclusive_and_exclusive_times_in_both_forms() {
    for name in ["heat.json", "heat.cali"] {
        let experiment = open(fixture(name));
        let locations: Vec<LocationIdx> = experiment.locations.iter().collect();
        let labels: Vec<String> =
            locations.iter().map(|&location| experiment.locations.label(location)).collect();
        assert_eq!(labels, ["rank 0 thread 0", "rank 1 thread 0"], "{name}");
        let found = times(&experiment, locations[0]);
        assert_eq!(
            found[1..],
            owned(&[("main", 6.0, 0.5), ("solve", 5.5, 4.25), ("dot,product", 1.25, 1.25)]),
            "{name}"
        );
        // What is in no region belongs to the whole run.
        assert_eq!((found[0].1, found[0].2), (6.001, 0.001), "{name}");
        let found = times(&experiment, locations[1]);
        assert_eq!((found[0].1, found[2].2, found[3].2), (6.002, 2.5, 3.0), "{name}");
    }
    assert_eq!(open(fixture("heat.cali")).metadata.title, "heat=fast");
}

#[test]
fn sums_over_ranks_become_the_mean_of_a_rank() {
    let text = "\
__rec=node,id=30,attr=10,data=268,parent=3
__rec=node,id=31,attr=8,data=function,parent=30
__rec=node,id=50,attr=8,data=avg.count#inclusive#sum#time.duration.ns,parent=2
__rec=node,id=51,attr=8,data=sum#inclusive#sum#time.duration.ns,parent=5
__rec=node,id=52,attr=8,data=max#inclusive#sum#time.duration.ns,parent=5
__rec=node,id=32,attr=31,data=main
__rec=node,id=33,attr=31,data=solve,parent=32
__rec=node,id=34,attr=31,data=gather,parent=32
__rec=ctx,ref=32,attr=50=51=52,data=4=8000000000=2000000000
__rec=ctx,ref=33,attr=50=51=52,data=4=6000000000=3000000000
__rec=ctx,ref=34,attr=50=51=52,data=1=400000000=400000000
";
    let experiment = open(text.as_bytes().to_vec());
    let locations: Vec<LocationIdx> = experiment.locations.iter().collect();
    assert_eq!(experiment.locations.label(locations[0]), "mean of 4 ranks");
    let found = times(&experiment, locations[0]);
    // The exclusive time is what is left; a region of one rank is a quarter of its time.
    let wanted = [("main", 2.0, 0.4), ("solve", 1.5, 1.5), ("gather", 0.1, 0.1)];
    assert_eq!(found[1..], owned(&wanted));
    assert!(experiment.issues.list().iter().any(|issue| issue.kind == "ranks-added-up"));
}

#[test]
fn files_of_the_corpus_have_the_times_that_they_tell() {
    let Some(corpus) = needs::corpus() else { return };
    let read = |path: &str| open(std::fs::read(corpus.join("data/caliper").join(path)).unwrap());
    let of = |experiment: &Experiment, name: &str| {
        let summary = experiment.locations.summary().unwrap();
        let rows = times(experiment, summary);
        let named = rows.iter().filter(|row| row.0 == name);
        named.fold((0.0, 0.0), |sum, row| (sum.0 + row.1, sum.1 + row.2))
    };
    // Sums of columns, by a script that knows JSON only.
    let lulesh = read("caliper-lulesh-json/lulesh-annotation-profile.json");
    assert_eq!(lulesh.locations.len(), 8);
    let (_, own) = of(&lulesh, "CalcFBHourglassForceForElems");
    assert!((own - LULESH_HOURGLASS).abs() < 1e-6, "{own}");
    // What was sampled, with lines.
    let cpi = read("caliper-cpi-json/cpi-callpath-profile.json");
    let (whole, _) = of(&cpi, &cpi.contexts.label(ContextIdx::new(0)));
    assert!((whole - 2.299_906).abs() < 1e-6, "{whole}");
    assert_eq!(cpi.locations.len(), 4);
    // `Avg time/rank` of the region.
    let scaled = read("mpi_scaling_cali/27_cores.cali");
    let (main, _) = of(&scaled, "main");
    assert!((main - 47.238_297).abs() < 1e-5, "{main}");
}

/// Exclusive time of the function on all ranks, in seconds.
const LULESH_HOURGLASS: f64 = 9.578883;
