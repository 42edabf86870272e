//! Every real database, value by value, against an independent reader.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod hpctoolkit;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use hpctoolkit::{Bytes, Copying, Everything, copying, corpus, find, fixtures, lending};
use parallax_base::{BlockCache, Issues};
use parallax_formats::FormatError;
use parallax_formats::hpctoolkit::{
    Combine, Contexts, FileKind, MetaDb, NONE, Recognised, ScopeKind, recognise,
};
use parallax_testkit::needs::{self, Without};
use serde_json::{Value, json};

/// Groups of databases below `data/` that are tests of their own.
const GROUPS: [&str; 7] = [
    "hpctoolkit/upstream",
    "hpctoolkit/hpcviewer",
    "hpctoolkit/measured/strong-amg",
    "hpctoolkit/measured/model-minife",
    "hpctoolkit/measured/large-amg-64x1",
    "hpctoolkit/measured/medium-amg-8x2",
    "reactor/hpctoolkit",
];

fn databases_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    find(folder, "meta.db", &mut found);
    assert!(!found.is_empty(), "no database below {}", folder.display());
    found
}

fn check_group(group: &str, least: usize) {
    let Some(corpus) = corpus() else { return };
    let found = databases_below(&corpus.join("data").join(group));
    assert!(found.len() >= least, "{} databases below {group}", found.len());
    check(&corpus, &found);
}

#[test]
fn databases_of_the_toolkits_own_tests_agree() {
    check_group(GROUPS[0], 14);
}

#[test]
fn databases_of_the_viewers_tests_agree() {
    check_group(GROUPS[1], 11);
}

#[test]
fn a_strong_scaling_series_agrees() {
    check_group(GROUPS[2], 12);
}

#[test]
fn a_series_of_ranks_and_sizes_agrees() {
    check_group(GROUPS[3], 15);
}

#[test]
fn a_database_of_many_ranks_agrees() {
    check_group(GROUPS[4], 1);
}

#[test]
fn a_database_with_a_long_trace_agrees() {
    check_group(GROUPS[5], 1);
}

#[test]
fn runs_of_the_reactor_agree() {
    check_group(GROUPS[6], 14);
}

#[test]
fn all_other_databases_agree() {
    let Some(corpus) = corpus() else { return };
    let mut found = databases_below(&corpus.join("data/hpctoolkit"));
    found.retain(|path| {
        GROUPS.iter().all(|group| !path.starts_with(corpus.join("data").join(group)))
    });
    assert!(found.len() >= 8, "{found:?}");
    check(&corpus, &found);
}

fn check(corpus: &Path, databases: &[PathBuf]) {
    if !needs::program("python3", Without::Test) {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let script = hpctoolkit::root().join("crates/formats/tests/hpctoolkit/dump.py");
    let status = Command::new("python3")
        .args([script.as_path(), &corpus.join("tools"), out.path()])
        .args(databases)
        .status()
        .unwrap();
    assert!(status.success(), "the independent reader failed");
    for (number, database) in databases.iter().enumerate() {
        let name = database.display();
        let bytes = Bytes::load(database);
        let read = bytes.read(lending).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(read.issues.is_empty(), "{name}: {:?}", read.issues);
        let text = std::fs::read(out.path().join(format!("{number}.json"))).unwrap();
        let expected: Value = serde_json::from_slice(&text).unwrap();
        check_meta(&read.meta, &expected, &name.to_string());
        check_contexts(&read.meta.contexts, &expected, &name.to_string());
        let packed = std::fs::read(out.path().join(format!("{number}.bin"))).unwrap();
        check_values(&read, &expected, &packed, &name.to_string());
        assert!(read == bytes.read(copying).unwrap(), "{name}: copied bytes are read differently");
        let cached = |bytes| -> parallax_base::Source {
            Arc::new(BlockCache::new(Copying::new(bytes), 4096, 1 << 16))
        };
        assert!(read == bytes.read(cached).unwrap(), "{name}: cached bytes are read differently");
    }
}

fn row(row: u32) -> Value {
    if row == NONE { Value::Null } else { row.into() }
}

fn check_meta(meta: &MetaDb, expected: &Value, name: &str) {
    let scope_kind = |kind| match kind {
        ScopeKind::Custom => 0,
        ScopeKind::Point => 1,
        ScopeKind::Execution => 2,
        ScopeKind::Transitive => 3,
        ScopeKind::Unknown(other) => other,
    };
    let combine = |combine| match combine {
        Combine::Sum => 0,
        Combine::Min => 1,
        Combine::Max => 2,
        Combine::Unknown(other) => other,
    };
    let scope = |i: usize| &*meta.scopes[i].name;
    let kinds: Vec<&str> = meta.identifier_kinds.iter().map(|kind| &**kind).collect();
    let scopes: Vec<Value> = (meta.scopes.iter())
        .map(|s| json!([&*s.name, scope_kind(s.kind), s.propagation_index]))
        .collect();
    let metrics: Vec<Value> = (meta.metrics.iter())
        .map(|m| {
            let instances: Vec<Value> =
                m.instances.iter().map(|i| json!([scope(i.scope), i.prop_metric_id])).collect();
            let summaries: Vec<Value> = (m.summaries.iter())
                .map(|s| json!([scope(s.scope), &*s.formula, combine(s.combine), s.stat_metric_id]))
                .collect();
            json!([&*m.name, instances, summaries])
        })
        .collect();
    let modules: Vec<&str> = meta.modules.iter().map(|module| &*module.path).collect();
    let files: Vec<Value> =
        meta.files.iter().map(|file| json!([u32::from(file.is_copied), &*file.path])).collect();
    let functions: Vec<Value> = (meta.functions.iter())
        .map(|f| {
            let module = modules.get(f.module as usize);
            let file = meta.files.get(f.file as usize).map(|file| &*file.path);
            json!([f.name.as_deref(), module, f.offset, file, f.line])
        })
        .collect();
    let entries: Vec<Value> = (meta.contexts.entries.iter())
        .map(|e| json!([meta.contexts.id[e.position as usize], e.code, &*e.name]))
        .collect();
    let equal = |what: &str, found: Value| {
        assert!(found == expected[what], "{name}: {what}: {found} and {}", expected[what]);
    };
    equal("title", (*meta.title).into());
    equal("description", (*meta.description).into());
    equal("kinds", json!(kinds));
    equal("metrics", json!(metrics));
    equal("modules", json!(modules));
    equal("files", json!(files));
    equal("functions", json!(functions));
    equal("entries", json!(entries));
    // The draft has scopes inside metrics only.
    assert_eq!(meta.is_draft, expected["scopes"].is_null(), "{name}");
    if !meta.is_draft {
        equal("scopes", json!(scopes));
    }
}

/// Same contexts with the same content; and the columns keep what they promise.
fn check_contexts(contexts: &Contexts, expected: &Value, name: &str) {
    let expected = expected["contexts"].as_object().unwrap();
    assert_eq!(contexts.len(), expected.len(), "{name}: number of contexts");
    let mut path: Vec<u32> = Vec::new();
    for at in 0..contexts.len() {
        let parent = contexts.parent[at];
        // Depth-first: the parent is on the path to the context before.
        path.truncate(contexts.depth[at] as usize);
        assert_eq!(path.last().copied().unwrap_or(NONE), parent, "{name}: parent of {at}");
        path.push(u32::try_from(at).unwrap());
        let parent = if parent == NONE { 0 } else { contexts.id[parent as usize] };
        let is_entry = contexts.lexical_type[at] == Contexts::ENTRY;
        let (lexical, relation, propagation) = if is_entry {
            (json!("entry"), Value::Null, Value::Null)
        } else {
            let relation = contexts.relation[at].into();
            (contexts.lexical_type[at].into(), relation, contexts.propagation[at].into())
        };
        let found = json!([
            parent,
            lexical,
            relation,
            propagation,
            row(contexts.function[at]),
            row(contexts.file[at]),
            contexts.line[at],
            row(contexts.module[at]),
            contexts.offset[at]
        ]);
        let id = contexts.id[at];
        assert!(
            expected.get(&id.to_string()) == Some(&found),
            "{name}: context {id} is {found}, not {:?}",
            expected.get(&id.to_string())
        );
    }
}

fn check_values(read: &Everything, expected: &Value, packed: &[u8], name: &str) {
    let num_values = usize::try_from(expected["num_values"].as_u64().unwrap()).unwrap();
    let (values, samples) = packed.split_at(18 * num_values);
    let mut expected_values = values.as_chunks::<18>().0.iter();
    let mut transposed = Vec::new();
    let profiles = expected["profiles"].as_array().unwrap();
    assert_eq!(read.profiles.len(), profiles.len(), "{name}: number of profiles");
    for (i, (profile, expected)) in (0_u32..).zip(read.profiles.iter().zip(profiles)) {
        let kind = |kind: u8| &*read.meta.identifier_kinds[usize::from(kind)];
        let identity: Vec<Value> = (profile.identity.iter())
            .map(|id| json!([kind(id.kind), u8::from(id.is_physical), id.logical, id.physical]))
            .collect();
        let found = json!([profile.is_summary, identity]);
        assert!(found == *expected, "{name}: profile {i} is {found}, not {expected}");
        for &(context, metric, bits) in &profile.values {
            let mut found = [0; 18];
            found[..4].copy_from_slice(&i.to_le_bytes());
            found[4..8].copy_from_slice(&context.to_le_bytes());
            found[8..10].copy_from_slice(&metric.to_le_bytes());
            found[10..].copy_from_slice(&bits.to_le_bytes());
            assert!(
                expected_values.next() == Some(&found),
                "{name}: profile {i}, context {context}, metric {metric}: {}",
                f64::from_bits(bits)
            );
            if !profile.is_summary {
                transposed.push((context, metric, i, bits));
            }
        }
    }
    assert_eq!(expected_values.len(), 0, "{name}: values are missing");

    assert_eq!(expected["num_contexts"], read.cct.num_contexts, "{name}: contexts of cct.db");
    assert_eq!(read.cct.lost, 0, "{name}");
    assert_ne!(expected["transposed"], false, "{name}");
    transposed.sort_unstable();
    assert!(read.cct.values == transposed, "{name}: cct.db is not profile.db, transposed");

    let Some(traces) = &read.trace else {
        assert!(expected["trace"].is_null(), "{name}");
        return;
    };
    let lengths: Vec<_> = traces.traces.iter().map(|(p, samples)| (*p, samples.len())).collect();
    let found = json!({"min": traces.min_nanos, "max": traces.max_nanos, "traces": lengths});
    assert!(found == expected["trace"], "{name}: {found} and {}", expected["trace"]);
    let mut packed = Vec::new();
    for (nanos, context) in traces.traces.iter().flat_map(|(_, samples)| samples) {
        packed.extend(nanos.to_le_bytes());
        packed.extend(context.to_le_bytes());
    }
    assert!(packed == samples, "{name}: samples differ");
}

#[test]
fn fixtures_are_read_alike_from_every_kind_of_source() {
    for folder in fixtures() {
        let bytes = Bytes::load(&folder);
        let read = bytes.read(lending).unwrap();
        assert!(read.issues.is_empty(), "{:?}", read.issues);
        assert!(read.meta.contexts.len() > 100 && read.profiles.len() > 3);
        assert_eq!(read, bytes.read(copying).unwrap());
        let cached = |bytes| -> parallax_base::Source {
            Arc::new(BlockCache::new(Copying::new(bytes), 7, 70))
        };
        assert_eq!(read, bytes.read(cached).unwrap());
    }
}

/// The three drafts: sizes that other programs report for them.
#[test]
fn databases_of_the_2022_draft_are_recognised_as_such() {
    let Some(corpus) = corpus() else { return };
    for name in ["quicksilver", "multithread", "loop-inline"] {
        let bytes = Bytes::load(&corpus.join("data/hpctoolkit/hpcviewer").join(name));
        let read = bytes.read(lending).unwrap();
        assert!(read.meta.is_draft && read.issues.is_empty(), "{name}: {:?}", read.issues);
        assert!(read.meta.contexts.entries.is_empty(), "{name}: the draft has no entries");
        let names: Vec<_> = read.meta.scopes.iter().map(|scope| &*scope.name).collect();
        assert_eq!(names, ["point", "function", "execution"], "{name}");
        assert!(read.profiles[0].is_summary && read.profiles[0].identity.is_empty(), "{name}");
        assert!(read.profiles[1..].iter().all(|p| !p.is_summary && !p.identity.is_empty()));
        // The summary adds up what the profiles have, in the scope of ids that they share.
        let metric = &read.meta.metrics[0];
        let execution = |i: &parallax_formats::hpctoolkit::ScopeInstance| {
            &*read.meta.scopes[i.scope].name == "execution"
        };
        let prop = metric.instances.iter().find(|i| execution(i)).unwrap();
        let stat = metric.summaries.iter().find(|s| s.scope == prop.scope).unwrap();
        let total = |profile: &hpctoolkit::Profile, id: u16| -> f64 {
            let whole = profile.values.iter().filter(|&&(c, m, _)| c == 0 && m == id);
            whole.map(|&(_, _, bits)| f64::from_bits(bits)).sum()
        };
        let sum: f64 = read.profiles[1..].iter().map(|p| total(p, prop.prop_metric_id)).sum();
        let stored = total(&read.profiles[0], stat.stat_metric_id);
        assert!((sum - stored).abs() <= 1e-9 * stored.abs(), "{name}: {sum} and {stored}");
    }
}

#[test]
fn databases_older_than_v4_are_named_in_a_clear_error() {
    let Some(corpus) = corpus() else { return };
    let folder = corpus.join("data/hpctoolkit/hpcviewer/pre-v4-empty-trace");
    let bytes = |name| std::fs::read(folder.join(name)).unwrap();
    let experiment = bytes("experiment.xml");
    let found = recognise(&experiment[..512.min(experiment.len())]);
    assert!(matches!(found, Recognised::Old(what) if what.contains("experiment.xml")), "{found:?}");
    let mut issues = Issues::new();
    let errors = [
        hpctoolkit::read_profiles(lending(bytes("profile.db")), &mut issues).err(),
        hpctoolkit::read_cct(lending(bytes("cct.db")), &mut issues).err(),
        hpctoolkit::read_trace(lending(bytes("trace.db")), &mut issues).err(),
    ];
    for error in errors {
        let error = error.expect("old files are not read");
        assert!(matches!(error, FormatError::Unsupported { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("older than v4") && text.contains("hpcprof"), "{text}");
    }
}

#[test]
fn a_file_of_the_database_in_place_of_another_is_named() {
    let bytes = Bytes::load(&fixtures()[0]);
    let error = hpctoolkit::read_meta(&*lending(bytes.cct), &mut Issues::new()).unwrap_err();
    let text = error.to_string();
    assert!(
        matches!(error, FormatError::NotThisFormat { .. }) && text.contains("cct.db"),
        "{text}"
    );
    assert!(FileKind::ALL.iter().all(|kind| kind.file_name().ends_with(".db")));
}

/// Counts and totals that another independent reader found.
#[test]
fn truths_of_the_measured_databases_agree() {
    let Some(corpus) = corpus() else { return };
    let mut checked = 0;
    for entry in std::fs::read_dir(corpus.join("goldens/measured")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        checked += 1;
        let name = path.file_stem().unwrap().to_str().unwrap();
        let truth: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let bytes = Bytes::load(&corpus.join("data/hpctoolkit/measured").join(name));
        check_truth(&bytes.read(lending).unwrap(), &truth, name);
    }
    assert!(checked >= 8, "only {checked} truths");
}

fn check_truth(read: &Everything, truth: &Value, name: &str) {
    let meta = &read.meta;
    let equal = |what: &str, found: Value| assert_eq!(found, truth[what], "{name}: {what}");
    equal("title", (*meta.title).into());
    equal("contexts", meta.contexts.len().into());
    equal("modules", meta.modules.len().into());
    equal("files", meta.files.len().into());
    equal("functions", meta.functions.len().into());
    equal("nprofiles", read.profiles.len().into());
    equal("nvalues", read.profiles.iter().map(|p| p.values.len()).sum::<usize>().into());
    let entries: Vec<Value> = (meta.contexts.entries.iter())
        .map(|e| json!({"ctx": meta.contexts.id[e.position as usize], "name": &*e.name}))
        .collect();
    equal("entry_points", entries.into());

    let mut statistics = BTreeMap::new();
    let mut instances = BTreeMap::new();
    for metric in &meta.metrics {
        for i in &metric.instances {
            let scope = &meta.scopes[i.scope].name;
            instances.insert(i.prop_metric_id, format!("{}/{scope}", metric.name));
        }
        for s in &metric.summaries {
            let scope = &meta.scopes[s.scope].name;
            let combine = match s.combine {
                Combine::Sum => "sum",
                Combine::Min => "min",
                Combine::Max => "max",
                Combine::Unknown(_) => "unknown",
            };
            let name = format!("{}/{scope}/{combine}/{}", metric.name, s.formula);
            statistics.insert(s.stat_metric_id, name);
        }
    }
    let mut known: Vec<u32> = meta.contexts.id.clone();
    known.push(0);
    known.sort_unstable();
    let mut unknown: Vec<u32> = Vec::new();
    let mut sums: BTreeMap<(u16, u32), f64> = BTreeMap::new();
    for (profile, truth) in read.profiles.iter().zip(truth["profiles"].as_array().unwrap()) {
        let mut contexts: Vec<u32> = profile.values.iter().map(|v| v.0).collect();
        contexts.dedup();
        assert_eq!(truth["nctx"], contexts.len(), "{name}: contexts of a profile");
        assert_eq!(truth["nvals"], profile.values.len(), "{name}: values of a profile");
        assert_eq!(truth["summary"], profile.is_summary, "{name}");
        let ids = truth["id"].as_array().map_or(&[][..], Vec::as_slice);
        assert_eq!(ids.len(), profile.identity.len(), "{name}: identity");
        for (id, truth) in profile.identity.iter().zip(ids) {
            assert_eq!(truth["kind"], *meta.identifier_kinds[usize::from(id.kind)], "{name}");
            assert_eq!(truth["logical"], id.logical, "{name}");
            assert_eq!(truth["physical"].as_u64(), id.is_physical.then_some(id.physical), "{name}");
        }
        let names = if profile.is_summary { &statistics } else { &instances };
        let whole: Vec<_> = profile.values.iter().filter(|v| v.0 == 0).collect();
        assert_eq!(truth["root"].as_object().unwrap().len(), whole.len(), "{name}: totals");
        for &&(_, metric, bits) in &whole {
            let (found, truth) = (f64::from_bits(bits), &truth["root"][&names[&metric]]);
            // Decimal numbers of JSON are read to within one unit in the last place.
            let error = (found - truth.as_f64().unwrap()).abs();
            assert!(error <= 2.0 * f64::EPSILON * found.abs(), "{name}: {found} and {truth}");
        }
        unknown.extend(contexts.iter().filter(|id| known.binary_search(id).is_err()));
        if !profile.is_summary {
            for &(context, metric, bits) in &profile.values {
                *sums.entry((metric, context)).or_default() += f64::from_bits(bits);
            }
        }
    }
    unknown.sort_unstable();
    unknown.dedup();
    equal("ctx_ids_in_profiles_but_not_in_meta", unknown.len().into());
    for (metric, top) in truth["top"].as_object().unwrap() {
        let id = instances.iter().find(|(_, name)| *name == metric).map(|(id, _)| *id).unwrap();
        for line in top.as_array().unwrap() {
            let context = u32::try_from(line["ctx"].as_u64().unwrap()).unwrap();
            let (found, truth) = (sums[&(id, context)], line["sum"].as_f64().unwrap());
            assert!((found - truth).abs() <= 1e-9 * truth.abs(), "{name}: {metric} of {context}");
        }
    }
    if let Some(traces) = &read.trace {
        let truth = &truth["trace"];
        assert_eq!(truth["n"], traces.traces.len(), "{name}");
        assert_eq!(truth["min"], traces.min_nanos, "{name}");
        assert_eq!(truth["max"], traces.max_nanos, "{name}");
        let samples: usize = traces.traces.iter().map(|t| t.1.len()).sum();
        assert_eq!(truth["samples"], samples, "{name}");
        for ((profile, samples), truth) in
            traces.traces.iter().zip(truth["traces"].as_array().unwrap())
        {
            assert_eq!(truth["prof"], *profile, "{name}");
            assert_eq!(truth["n"], samples.len(), "{name}");
            assert_eq!(truth["t0"].as_u64(), samples.first().map(|s| s.0), "{name}");
            assert_eq!(truth["t1"].as_u64(), samples.last().map(|s| s.0), "{name}");
        }
    }
}
