//! TAU's profiles as experiments: planted trees, real files against TAU's own summaries, and the
//! rules of sums on everything there is.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parallax_base::{Control, Folder, Limits, LocationIdx, MemoryFolder, MemorySource, Unit};
use parallax_import::{is_experiment_file, open, open_file};
use parallax_model::{
    ContextChoice, ContextKind, ContextTree, Experiment, IdentityKind, MetricChoice, Plan, Scope,
    SliceRequest,
};
use parallax_native::{DiskFolder, MappedFile};
use parallax_testkit::tau as write;

fn corpus() -> Option<PathBuf> {
    parallax_testkit::needs::corpus_path("data")
}

fn folder(path: &Path) -> Experiment {
    let folder: Arc<dyn Folder> = Arc::new(DiskFolder::new(path));
    open(&folder, &Limits::default()).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

fn file(path: &Path) -> Experiment {
    let source: parallax_base::Source = Arc::new(MappedFile::open(path).unwrap());
    assert!(is_experiment_file(&source), "{path:?}");
    open_file(&source, path.to_str().unwrap(), &Limits::default()).unwrap()
}

/// Values of a metric in a scope, by location and context.
fn values(x: &Experiment, metric: &str, scope: &Scope) -> HashMap<(u32, u32), f64> {
    let (_, found) = x.metrics.iter().find(|(_, m)| &*m.name == metric).expect(metric);
    let id = found.id_in(scope).unwrap();
    let request = SliceRequest {
        locations: x.locations.iter().collect(),
        contexts: ContextChoice::Tree,
        metrics: MetricChoice::Ids { values: vec![id], statistics: Vec::new() },
        plan: Plan::Cheapest,
    };
    let slice = x.profiles.as_ref().unwrap().slice(&request, &Control::new()).unwrap();
    let places = slice.location.iter().zip(&slice.context);
    places.zip(&slice.value).map(|((&l, &c), &v)| ((l, c), v)).collect()
}

/// The tree with inclusive and exclusive values of a metric at one location; contexts without
/// values are left out.
fn drawn(x: &Experiment, metric: &str, location: u32) -> Vec<String> {
    let inclusive = values(x, metric, &Scope::Inclusive);
    let exclusive = values(x, metric, &Scope::Exclusive);
    let mut out = Vec::new();
    for context in x.contexts.iter() {
        let at = (location, context.get());
        let value = |of: &HashMap<(u32, u32), f64>| of.get(&at).copied().unwrap_or(0.0);
        if value(&inclusive) != 0.0 || value(&exclusive) != 0.0 {
            let indent = "  ".repeat(x.contexts.depth(context) as usize);
            let label = x.contexts.label(context);
            out.push(format!("{indent}{label} {} {}", value(&inclusive), value(&exclusive)));
        }
    }
    out
}

/// Text of one thread's profile: name, calls, subroutines, exclusive, inclusive.
fn profile(
    rows: &[(&str, u32, u32, f64, f64)],
    events: &[(&str, i32, [f64; 4])],
) -> write::Profiles {
    write::Profiles {
        metrics: vec!["COUNTER".into()],
        groups: vec!["G".into()],
        timers: rows.iter().map(|row| (row.0.to_owned(), vec![0])).collect(),
        events: events.iter().map(|event| event.0.to_owned()).collect(),
        metadata: Vec::new(),
        threads: vec![write::Thread {
            id: [0, 0, 0],
            metadata: Vec::new(),
            timers: (0..)
                .zip(rows)
                .map(|(timer, &(_, calls, subroutines, exclusive, inclusive))| write::Timer {
                    timer,
                    calls: f64::from(calls),
                    subroutines: f64::from(subroutines),
                    values: vec![(exclusive, inclusive)],
                })
                .collect(),
            events: (0..)
                .zip(events)
                .map(|(event, &(_, count, statistics))| write::Event { event, count, statistics })
                .collect(),
        }],
    }
}

fn experiment(profiles: &write::Profiles) -> Experiment {
    let files = write::to_text(profiles, 0);
    let files = files.into_iter().map(|(name, text)| (name, text.into_bytes()));
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("run", files));
    let x = open(&folder, &Limits::default()).unwrap();
    x.contexts.check().unwrap();
    x
}

#[test]
fn values_of_a_fact_that_are_not_shown_are_counted() {
    let fact = |hosts: usize| -> String {
        let mut all = profile(&[("main", 1, 0, 5.0, 5.0)], &[]);
        let one = all.threads[0].clone();
        // Each host twice.
        all.threads = (0..2 * hosts)
            .map(|at| write::Thread {
                id: [u32::try_from(at).unwrap(), 0, 0],
                metadata: vec![("Hostname".into(), format!("n{}", at % hosts))],
                ..one.clone()
            })
            .collect();
        let facts = experiment(&all).metadata.facts;
        facts.into_iter().find(|(name, _)| name == "Hostname").unwrap().1
    };
    assert_eq!(fact(4), "n0, n1, n2, n3");
    assert_eq!(fact(5), "n0, n1, n2, n3 and 1 more");
    assert_eq!(fact(40), "n0, n1, n2, n3 and 36 more");
}

#[test]
fn functions_without_call_paths_stand_next_to_each_other() {
    let x = experiment(&profile(
        &[
            ("main [{m.c} {5,1}-{9,1}]", 1, 2, 10.0, 60.0),
            ("f [{/opt/x} {0,0}]", 2, 1, 20.0, 50.0),
            ("MPI_Init()", 1, 0, 30.0, 30.0),
        ],
        &[],
    ));
    assert_eq!(
        drawn(&x, "COUNTER", 1),
        ["<whole execution> 60 0", "  main 60 10", "  f 50 20", "  MPI_Init() 30 30"]
    );
    assert_eq!(
        drawn(&x, "CALLS", 1),
        ["<whole execution> 4 0", "  main 1 1", "  f 2 2", "  MPI_Init() 1 1"]
    );
    let main = x.contexts.functions().iter().find(|f| &*f.name == "main").unwrap();
    assert_eq!(
        (main.line, main.file.map(|file| &*x.contexts.files()[file.idx()].path)),
        (5, Some("m.c"))
    );
    let f = x.contexts.functions().iter().find(|f| &*f.name == "f").unwrap();
    assert_eq!(f.module.map(|module| &*x.contexts.modules()[module.idx()].path), Some("/opt/x"));
}

#[test]
fn call_paths_make_the_tree_and_sums_over_paths_stay_out() {
    let x = experiment(&profile(
        &[
            ("main", 1, 2, 10.0, 100.0),
            ("main => f", 1, 1, 20.0, 50.0),
            ("f", 2, 2, 40.0, 90.0),
            ("main => f => g", 1, 0, 30.0, 30.0),
            ("main => h", 1, 1, 0.0, 40.0),
            ("h", 1, 1, 0.0, 40.0),
            ("main => h => f", 1, 1, 20.0, 40.0),
            ("main => h => f => g", 1, 0, 20.0, 20.0),
            ("g [THROTTLED]", 2, 0, 50.0, 50.0),
        ],
        &[],
    ));
    assert_eq!(
        drawn(&x, "COUNTER", 1),
        [
            "<whole execution> 100 0",
            "  main 100 10",
            "    f 50 20",
            "      g 30 30",
            "    h 40 0",
            "      f 40 20",
            "        g 20 20",
        ]
    );
    // That a timer was throttled is known of each of its contexts, and is no part of its name.
    let is_throttled = |name: &str| {
        let all = x.contexts.iter().filter(|&c| x.contexts.label(c) == name);
        all.map(|c| x.contexts.is_throttled(c)).collect::<Vec<_>>()
    };
    assert_eq!((is_throttled("g"), is_throttled("h")), (vec![true, true], vec![false]));
    let [issue] = x.issues.list() else { panic!("{:?}", x.issues) };
    assert_eq!(issue.kind, "throttled");
    assert!(issue.message.starts_with("TAU stopped timing g because"), "{}", issue.message);
}

#[test]
fn calls_that_no_path_tells_began_a_thread() {
    let x = experiment(&profile(
        &[("main", 1, 1, 10.0, 30.0), ("main => f", 1, 0, 20.0, 20.0), ("f", 3, 0, 50.0, 55.0)],
        &[],
    ));
    assert_eq!(
        drawn(&x, "COUNTER", 1),
        ["<whole execution> 60 0", "  main 30 10", "    f 20 20", "  f 35 30"]
    );
    assert_eq!(drawn(&x, "CALLS", 1)[3], "  f 2 2");
}

#[test]
fn paths_cut_in_front_are_put_together_where_only_one_caller_is_possible() {
    let x = experiment(&profile(
        &[
            ("main", 1, 2, 1.0, 63.0),
            ("main => a", 1, 1, 2.0, 30.0),
            ("main => c", 1, 1, 4.0, 32.0),
            ("a", 1, 1, 2.0, 30.0),
            ("c", 1, 1, 4.0, 32.0),
            ("a => d", 1, 1, 8.0, 28.0),
            ("c => d", 1, 1, 8.0, 28.0),
            ("d", 2, 2, 16.0, 56.0),
            ("d => e", 2, 0, 40.0, 40.0),
            ("e", 2, 0, 40.0, 40.0),
        ],
        &[],
    ));
    assert_eq!(
        drawn(&x, "COUNTER", 1),
        [
            "<whole execution> 63 0",
            "  main 63 1",
            "    a 30 2",
            "      d 28 8",
            "    c 32 4",
            "      d 28 8",
            "  d 40 0",
            "    e 40 40",
        ]
    );
    let kinds: Vec<_> = x.issues.list().iter().map(|issue| issue.kind).collect();
    assert_eq!(kinds, ["path-cut"]);
}

#[test]
fn samples_are_parts_of_the_timer_that_they_were_taken_in() {
    let x = experiment(&profile(
        &[
            ("main", 1, 1, 40.0, 100.0),
            ("main => solve", 1, 0, 60.0, 60.0),
            ("solve", 1, 0, 60.0, 60.0),
            ("main => solve => [CONTEXT] solve", 3, 0, 0.0, 63.0),
            ("main => solve => [CONTEXT] solve => [SAMPLE] gemm [{/s/b.c} {93}]", 2, 0, 42.0, 42.0),
            (
                "main => solve => [CONTEXT] solve => [SUMMARY] gemm [{/s/b.c}] => [SAMPLE] gemm [{/s/b.c} {94}]",
                1,
                0,
                21.0,
                21.0,
            ),
            (
                "main => [CONTEXT] main => [SAMPLE] UNRESOLVED /usr/lib/libgomp.so.1",
                1,
                0,
                21.0,
                21.0,
            ),
            ("[SAMPLE] gemm [{/s/b.c} {93}]", 2, 0, 42.0, 42.0),
        ],
        &[],
    ));
    // The three samples in `solve` stand for more than it took: each is the less of it.
    assert_eq!(
        drawn(&x, "COUNTER", 1),
        [
            "<whole execution> 100 0",
            "  main 100 19",
            "    solve 60 0",
            "      gemm 60 60",
            "        b.c:93 40 40",
            "        b.c:94 20 20",
            "    <unknown in libgomp.so.1> 21 21",
        ]
    );
    let metrics: Vec<&str> = x.metrics.iter().map(|(_, metric)| &*metric.name).collect();
    assert_eq!(metrics, ["COUNTER", "CALLS", "SUBROUTINES", "SAMPLES"]);
    assert_eq!(drawn(&x, "SAMPLES", 1)[0], "<whole execution> 4 0");
    assert_eq!(drawn(&x, "CALLS", 1)[0], "<whole execution> 2 0");
}

#[test]
fn samples_without_their_timer_are_counted_and_take_no_time() {
    let x = experiment(&profile(
        &[("main", 1, 0, 60.0, 60.0), ("[SAMPLE] gemm [{/s/b.c} {93}]", 2, 0, 42.0, 42.0)],
        &[],
    ));
    assert_eq!(drawn(&x, "COUNTER", 1), ["<whole execution> 60 0", "  main 60 60"]);
    assert_eq!(drawn(&x, "SAMPLES", 1)[0], "<whole execution> 2 0");
    let kinds: Vec<_> = x.issues.list().iter().map(|issue| issue.kind).collect();
    assert_eq!(kinds, ["samples-alone"]);
}

#[test]
fn parts_by_parameter_lie_inside_their_function() {
    let x = experiment(&profile(
        &[
            ("main", 1, 3, 1.0, 59.0),
            ("dgemm [{w.c} {5,1}]", 3, 0, 58.0, 58.0),
            ("dgemm [{w.c} {5,1}]   [ <size> = <100> ]", 1, 0, 28.0, 28.0),
        ],
        &[],
    ));
    assert_eq!(
        drawn(&x, "COUNTER", 1),
        [
            "<whole execution> 59 0",
            "  main 59 1",
            "  dgemm 58 58",
            "    dgemm [ <size> = <100> ] 28 28"
        ]
    );
    assert_eq!(drawn(&x, "CALLS", 1)[0], "<whole execution> 4 0");
}

#[test]
fn user_events_are_five_metrics_at_their_contexts() {
    let x = experiment(&profile(
        &[("main", 1, 1, 1.0, 3.0), ("MPI_Send()", 1, 0, 2.0, 2.0)],
        &[
            ("Message size sent", 5, [9.0, 1.0, 4.0, 100.0]),
            ("Message size sent : main => MPI_Send()", 3, [9.0, 2.0, 5.0, 90.0]),
        ],
    ));
    assert_eq!(
        drawn(&x, "Message size sent count", 1),
        ["<whole execution> 5 2", "  MPI_Send() 3 3"]
    );
    assert_eq!(
        drawn(&x, "Message size sent sumsqr", 1),
        ["<whole execution> 100 10", "  MPI_Send() 90 90"]
    );
    assert_eq!(
        drawn(&x, "Message size sent min", 1),
        ["<whole execution> 1 1", "  MPI_Send() 2 2"]
    );
    assert_eq!(
        drawn(&x, "Message size sent mean", 1),
        ["<whole execution> 4 4", "  MPI_Send() 5 5"]
    );
    let (_, max) = x.metrics.iter().find(|(_, m)| &*m.name == "Message size sent max").unwrap();
    assert_eq!(max.unit, Unit::Bytes);
}

#[test]
fn user_events_of_two_paths_to_one_context_are_put_together() {
    // Without call paths there is one context for each function.
    let x = experiment(&profile(
        &[("main", 1, 1, 1.0, 3.0), ("io", 1, 1, 1.0, 3.0), ("MPI_Bcast()", 1, 0, 2.0, 2.0)],
        &[
            ("Size : MPI_Bcast()", 2, [168.0, 8.0, 88.0, 28288.0]),
            ("Size : io => MPI_Bcast()", 1, [4096.0, 4096.0, 4096.0, 16_777_216.0]),
            ("Size : main", 0, [-1e308, 1e308, 0.0, 0.0]),
        ],
    ));
    for (metric, value) in
        [("count", "3"), ("max", "4096"), ("min", "8"), ("mean", "1424"), ("sumsqr", "16805504")]
    {
        // TAU wrote no sum over contexts, so that of what is known stands for the whole.
        assert_eq!(
            drawn(&x, &format!("Size {metric}"), 1),
            [format!("<whole execution> {value} 0"), format!("  MPI_Bcast() {value} {value}")],
            "{metric}"
        );
    }
    let names: Vec<&str> = x.metrics.user_events().iter().map(|event| &*event.name).collect();
    assert_eq!(names, ["Size"]);
}

#[test]
fn the_summary_adds_up_and_takes_extremes() {
    let mut two = profile(&[("main", 1, 0, 5.0, 5.0)], &[("E", 2, [9.0, 3.0, 6.0, 90.0])]);
    let mut second = two.threads[0].clone();
    second.id = [1, 0, 0];
    second.timers[0].values = vec![(7.0, 7.0)];
    second.events[0].statistics = [8.0, 2.0, 5.0, 68.0];
    two.threads.push(second);
    let x = experiment(&two);
    let summary = x.locations.summary().unwrap();
    let statistic = |metric: &str| {
        let (_, found) = x.metrics.iter().find(|(_, m)| &*m.name == metric).unwrap();
        let id = found.statistics.iter().find(|s| s.scope == Scope::Inclusive).unwrap().id;
        let request = SliceRequest {
            locations: vec![summary],
            contexts: ContextChoice::Ids(vec![0]),
            metrics: MetricChoice::Ids { values: Vec::new(), statistics: vec![id] },
            plan: Plan::Cheapest,
        };
        x.profiles.as_ref().unwrap().slice(&request, &Control::new()).unwrap().value
    };
    assert_eq!(statistic("COUNTER"), [12.0]);
    assert_eq!(statistic("E max"), [9.0]);
    assert_eq!(statistic("E min"), [2.0]);
}

#[test]
fn address_spaces_of_a_node_are_ranks_of_their_own() {
    let mut profiles = profile(&[("main", 1, 0, 5.0, 5.0)], &[]);
    for id in [[0, 1, 0], [1, 0, 0], [1, 0, 1]] {
        let thread = write::Thread { id, ..profiles.threads[0].clone() };
        profiles.threads.push(thread);
    }
    let x = experiment(&profiles);
    let labels: Vec<String> = x.locations.iter().map(|l| x.locations.label(l)).collect();
    assert_eq!(
        labels,
        ["rank 0 thread 0", "rank 1 thread 0", "rank 2 thread 0", "rank 2 thread 1"]
    );
    let nodes: Vec<_> =
        x.locations.iter().map(|l| x.locations.identity(l, IdentityKind::Node)).collect();
    assert_eq!(nodes, [Some(0), Some(0), Some(1), Some(1)]);
}

/// Every experiment of the corpus: exclusive values add up to the whole, and no context that is a
/// call has more below it than it has itself.
#[test]
fn sums_hold_in_every_real_profile() {
    let Some(data) = corpus() else { return };
    let mut all: Vec<(String, Experiment)> = Vec::new();
    for entry in std::fs::read_dir(data.join("tau/ppk")).unwrap() {
        let path = entry.unwrap().path();
        all.push((path.display().to_string(), file(&path)));
    }
    for name in
        ["tau/lulesh-8x2-ebs", "tau/hpccg-4x1-multimetric", "tau/wrap", "reactor/tau-profiles/p8"]
    {
        all.push((name.to_owned(), folder(&data.join(name))));
    }
    all.push((
        "workflow".into(),
        file(&data.join("tau/workflow_consolidation/merged_workflow.json")),
    ));
    assert_eq!(all.len(), 18 + 5);
    for (name, x) in &all {
        x.contexts.check().unwrap();
        assert!(!x.locations.is_empty() && !x.metadata.title.is_empty(), "{name}");
        let metrics: Vec<String> = x.metrics.iter().map(|(_, m)| m.name.to_string()).collect();
        let measured = &metrics[..metrics.iter().position(|m| m == "CALLS").unwrap()];
        assert!(!measured.is_empty(), "{name}");
        for metric in measured {
            let inclusive = values(x, metric, &Scope::Inclusive);
            let exclusive = values(x, metric, &Scope::Exclusive);
            for location in x.locations.iter() {
                let l = location.get();
                let whole = inclusive.get(&(l, 0)).copied().unwrap_or(0.0);
                // Parts by parameter are inside their function; everything else is counted once.
                let calls = |c: &parallax_base::ContextIdx| {
                    *c == ContextTree::ROOT || x.contexts.relation(*c).is_call()
                };
                let sum: f64 = x
                    .contexts
                    .iter()
                    .filter(calls)
                    .filter_map(|c| exclusive.get(&(l, c.get())))
                    .sum();
                assert!(
                    (sum - whole).abs() <= whole * 1e-3,
                    "{name}: {metric} at {}: {sum} of {whole}",
                    x.locations.label(location)
                );
            }
        }
    }
}

#[test]
fn totals_are_those_of_taus_own_summary() {
    let Some(data) = corpus() else { return };
    let run = data.join("tau/scaling-hpccg/p4.n20");
    let x = folder(&run.join("raw"));
    assert_eq!(x.metadata.title, "hpccg-tau");
    let inclusive = values(&x, "TIME", &Scope::Inclusive);
    let exclusive = values(&x, "TIME", &Scope::Exclusive);
    let calls = values(&x, "CALLS", &Scope::Exclusive);
    let sum = |of: &HashMap<(u32, u32), f64>, name: &str| -> f64 {
        let at = x.contexts.iter().find(|&c| x.contexts.label(c) == name).expect(name);
        of.iter().filter(|((_, c), _)| *c == at.get()).map(|(_, value)| value).sum()
    };
    // FUNCTION SUMMARY (total) of pprof: name, exclusive ms, inclusive ms, calls.
    for (name, own, whole, number) in [
        (".TAU application", 85.0, 2051.0, 4.0),
        ("MPI_Init()", 1192.0, 1192.0, 4.0),
        ("MPI_Allreduce()", 113.0, 366.0, 1212.0),
        ("MPI Collective Sync", 252.0, 252.0, 1212.0),
        ("MPI_Finalize()", 251.0, 251.0, 4.0),
    ] {
        assert!((sum(&exclusive, name) * 1e3 - own).abs() <= 1.0, "{name}");
        assert!((sum(&inclusive, name) * 1e3 - whole).abs() <= 1.0, "{name}");
        assert_eq!(sum(&calls, name), number, "{name}");
    }
    // Addresses of the same function in four processes became one name.
    let has_address =
        |c: &parallax_base::ContextIdx| x.contexts.label(*c).starts_with("<hpccg-tau+0x");
    let functions: Vec<_> = x.contexts.iter().filter(has_address).collect();
    assert_eq!(functions.len(), 45);
    let main = x.contexts.iter().find(|&c| x.contexts.label(c) == "<hpccg-tau+0x850>").unwrap();
    for rank in 1..=4 {
        assert!(inclusive[&(rank, main.get())] > 0.45, "rank {rank}");
    }
}

#[test]
fn a_workflow_is_one_experiment_with_ranks_of_each_component() {
    let Some(data) = corpus() else { return };
    let x = file(&data.join("tau/workflow_consolidation/merged_workflow.json"));
    assert_eq!(x.metadata.title, "ImpactTv1betaAdios");
    let components: Vec<_> = x
        .metadata
        .components
        .iter()
        .map(|c| (c.application, &*c.name, c.first_rank, c.depends_on.len(), c.span.unwrap()))
        .collect();
    let micros = |from: u64, to: u64| (from * 1000, to * 1000);
    assert_eq!(
        components,
        [
            (0, "xmain_0", 0, 0, micros(1_497_063_437_427_601, 1_497_063_499_911_350)),
            (1, "reader2_0", 8, 1, micros(1_497_063_437_148_776, 1_497_063_499_553_285)),
        ]
    );
    assert_eq!(&*x.metadata.components[1].depends_on[0], "xmain_0");
    let of = |kind| -> Vec<u64> {
        x.locations.iter().filter_map(|l| x.locations.identity(l, kind)).collect()
    };
    assert_eq!(of(IdentityKind::Rank), [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3]);
    assert_eq!(x.locations.count_distinct(IdentityKind::Rank), 12);
    assert_eq!(of(IdentityKind::Application), [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1]);
    let entries: Vec<String> = x
        .contexts
        .iter()
        .filter(|&c| x.contexts.kind(c) == ContextKind::Entry)
        .map(|c| x.contexts.label(c))
        .collect();
    assert_eq!(entries, ["<xmain_0>", "<reader2_0>"]);
    // `.TAU application` of rank 0 of each, as the profiles have it.
    let inclusive = values(&x, "TIME", &Scope::Inclusive);
    let at = |location: u32, entry: &str| {
        let entry = x.contexts.iter().find(|&c| x.contexts.label(c) == entry).unwrap();
        let first = x.contexts.children(entry).next().unwrap();
        assert_eq!(x.contexts.label(first), ".TAU application");
        inclusive.get(&(location, first.get())).copied()
    };
    assert_eq!(at(1, "<xmain_0>"), Some(62_483_749.0 * 1e-6));
    assert_eq!(at(1, "<reader2_0>"), None);
    assert_eq!(at(9, "<reader2_0>"), Some(62_404_509.0 * 1e-6));
    assert_eq!(x.locations.label(LocationIdx::new(9)), "reader2_0 rank 0 thread 0");
}

#[test]
fn phases_and_cut_paths_of_real_profiles_have_their_places() {
    let Some(data) = corpus() else { return };
    let x = file(&data.join("tau/ppk/phases.ppk"));
    let labels =
        |of| -> Vec<String> { x.contexts.children(of).map(|c| x.contexts.label(c)).collect() };
    let find = |name: &str| x.contexts.iter().find(|&c| x.contexts.label(c) == name).unwrap();
    let first = find("Iteration 0");
    assert_eq!(labels(first), ["IO Phase", "f1()", "f2()", "f3()"]);
    // 250 iterations have an IO phase; what is inside it is known for all of them together.
    let alone: Vec<_> = x
        .contexts
        .children(ContextTree::ROOT)
        .filter(|&c| x.contexts.label(c) == "IO Phase")
        .collect();
    assert_eq!(alone.len(), 1);
    assert_eq!(labels(alone[0]), ["input", "output"]);
    let exclusive = values(&x, "TIME", &Scope::Exclusive);
    assert!(!exclusive.contains_key(&(1, alone[0].get())));
}

#[test]
fn damaged_files_open_or_say_why() {
    let Some(data) = corpus() else { return };
    let bytes =
        std::fs::read(data.join("tau/workflow_consolidation/merged_workflow.json")).unwrap();
    let mut opened = 0;
    for len in (0..bytes.len()).step_by(bytes.len() / 61) {
        let source = MemorySource::shared(bytes[..len].to_vec());
        if let Ok(x) = open_file(&source, "w.json", &Limits::default()) {
            assert!(!x.issues.is_empty());
            opened += 1;
        }
    }
    assert!(opened > 0, "the second component was cut in some");
    let foreign = MemorySource::shared(b"hello".to_vec());
    assert!(!is_experiment_file(&foreign));
    let error = open_file(&foreign, "x", &Limits::default()).err().unwrap().to_string();
    assert!(error.contains("x is of no known format"), "{error}");
}

#[test]
fn call_paths_that_are_too_long_stand_as_one_name_and_are_counted() {
    let long = |functions: usize| {
        let names: Vec<String> = (0..functions).map(|at| format!("f{at}")).collect();
        names.join(" => ")
    };
    let (whole, too_long, longer) = (long(3_000), long(10_001), long(10_002));
    let paths = |names: &[&str]| {
        let rows: Vec<_> = names.iter().map(|name| (*name, 1, 0, 1.0, 1.0)).collect();
        let x = experiment(&profile(&rows, &[]));
        let told = x.issues.list().iter().find(|issue| issue.kind == "path-too-long").cloned();
        (x.contexts.len(), told)
    };
    let (contexts, told) = paths(&[&whole]);
    assert!(contexts >= 3_000 && told.is_none(), "{contexts} {told:?}");
    let (contexts, told) = paths(&[&too_long, &longer]);
    let told = told.unwrap().message;
    assert!(contexts < 10, "{contexts}");
    assert!(told.contains("more than 10000 functions") && told.contains("2 of them"), "{told}");
}
