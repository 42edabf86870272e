//! Databases made up at random: the reader gives back exactly what was written, in both layouts.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod hpctoolkit;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use hpctoolkit::{Bytes, Copying, Everything, copying, lending};
use parallax_base::BlockCache;
use parallax_formats::hpctoolkit::{Combine, Contexts, MetaDb, NONE, ScopeKind, Taxonomy};
use parallax_testkit::hpctoolkit::{ContextKind, Database, Layout, Scope, WriteOptions, arbitrary};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn the_reader_gives_back_what_was_written(
        database in arbitrary::database(),
        options in arbitrary::write_options(),
    ) {
        let files = database.to_files(&options);
        let bytes = Bytes {
            meta: files.get("meta.db").to_vec(),
            profile: files.get("profile.db").to_vec(),
            cct: files.get("cct.db").to_vec(),
            trace: files.by_path.get("trace.db").cloned(),
        };
        let read = bytes.read(lending).unwrap();
        prop_assert!(read.issues.is_empty(), "{:?}", read.issues);
        check_meta(&read.meta, &database, &options);
        check_contexts(&read.meta, &database, &options);
        check_profiles(&read, &database);
        check_traces(&read, &database, &options);
        check_taxonomy(files.get(Taxonomy::PATH), &database);
        prop_assert_eq!(&read, &bytes.read(copying).unwrap());
        let cached = |bytes| -> parallax_base::Source {
            Arc::new(BlockCache::new(Copying::new(bytes), 13, 100))
        };
        prop_assert_eq!(&read, &bytes.read(cached).unwrap());
    }
}

fn check_meta(meta: &MetaDb, database: &Database, options: &WriteOptions) {
    assert_eq!(meta.is_draft, options.layout == Layout::Draft);
    assert_eq!(*meta.title, *database.title);
    let kinds: Vec<_> = meta.identifier_kinds.iter().map(|kind| &**kind).collect();
    assert_eq!(kinds, database.id_kinds);
    let modules: Vec<_> = meta.modules.iter().map(|module| &*module.path).collect();
    assert_eq!(modules, database.modules);
    let files: Vec<_> = meta.files.iter().map(|file| (&*file.path, file.is_copied)).collect();
    let written: Vec<_> = database.files.iter().map(|file| (&*file.path, file.copied)).collect();
    assert_eq!(files, written);

    // The draft has a placeholder function for its roots.
    let placeholders = usize::from(meta.is_draft);
    assert_eq!(meta.functions.len(), database.functions.len() + placeholders);
    for (function, written) in meta.functions.iter().zip(&database.functions) {
        assert_eq!(function.name.as_deref(), written.name.as_deref());
        let (module, offset) = written.module.unzip();
        let (file, line) = written.source.unzip();
        assert_eq!((function.module, function.offset), (row(module), offset.unwrap_or(0)));
        assert_eq!((function.file, function.line), (row(file), line.unwrap_or(0)));
    }

    assert_eq!(meta.metrics.len(), database.metrics.len());
    for scope in &meta.scopes {
        let (kind, propagation) = match &*scope.name {
            "point" => (ScopeKind::Point, 255),
            "function" => (ScopeKind::Transitive, 0),
            "lex_aware" => (ScopeKind::Custom, 255),
            "execution" => (ScopeKind::Execution, 255),
            other => panic!("scope {other}"),
        };
        assert_eq!((scope.kind, scope.propagation_index), (kind, propagation));
    }
    let mut prop_ids = Vec::new();
    let mut stat_ids = Vec::new();
    for (metric, written) in meta.metrics.iter().zip(&database.metrics) {
        assert_eq!(*metric.name, *written.name);
        let scopes: Vec<_> = metric.instances.iter().map(|i| scope(meta, i.scope)).collect();
        assert_eq!(scopes, database.scopes);
        prop_ids.extend(metric.instances.iter().map(|i| i.prop_metric_id));
        let summaries: Vec<_> = (metric.summaries.iter())
            .map(|s| (scope(meta, s.scope), &*s.formula, code(s.combine)))
            .collect();
        let of_scope =
            |&scope| written.statistics.iter().map(move |s| (scope, s.formula(), s.combine()));
        let expected: Vec<_> = database.scopes.iter().flat_map(of_scope).collect();
        assert_eq!(summaries, expected);
        stat_ids.extend(metric.summaries.iter().map(|s| s.stat_metric_id));
    }
    for mut ids in [prop_ids, stat_ids] {
        let len = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), len, "metric ids are distinct");
    }
}

fn row(row: Option<usize>) -> u32 {
    row.map_or(NONE, |row| u32::try_from(row).unwrap())
}

fn scope(meta: &MetaDb, index: usize) -> Scope {
    let name = &*meta.scopes[index].name;
    Scope::ALL.into_iter().find(|scope| scope.name() == name).unwrap()
}

fn code(combine: Combine) -> u8 {
    match combine {
        Combine::Sum => 0,
        Combine::Min => 1,
        Combine::Max => 2,
        Combine::Unknown(other) => other,
    }
}

fn check_contexts(meta: &MetaDb, database: &Database, options: &WriteOptions) {
    let contexts = &meta.contexts;
    let at: HashMap<u32, usize> = contexts.id.iter().copied().zip(0..).collect();
    assert_eq!(at.len(), contexts.len(), "ids are distinct");
    let is_elided = |kind: &ContextKind| options.elide_instructions && kind.is_elided_by_writers();
    let kept = database.contexts.iter().filter(|c| !is_elided(&c.kind)).count();
    assert_eq!(contexts.len(), kept);
    let mut entries = Vec::new();
    for written in &database.contexts {
        if is_elided(&written.kind) {
            assert!(!at.contains_key(&written.id));
            continue;
        }
        let at = at[&written.id];
        let parent = contexts.parent[at];
        let parent = (parent != NONE).then(|| contexts.id[parent as usize]);
        let expected = written.parent.map(|parent| match options.elide_instructions {
            true => database.kept_id(parent),
            false => database.contexts[parent].id,
        });
        assert_eq!(parent, expected);
        let found = (
            contexts.relation[at],
            contexts.lexical_type[at],
            contexts.function[at],
            (contexts.file[at], contexts.line[at]),
            (contexts.module[at], contexts.offset[at]),
        );
        match &written.kind {
            ContextKind::Entry { entry_point, name } if !meta.is_draft => {
                assert_eq!(found, (0, Contexts::ENTRY, NONE, (NONE, 0), (NONE, 0)));
                entries.push((at, *entry_point, name.as_str()));
            }
            // In the draft, a root is the call of a placeholder.
            ContextKind::Entry { .. } => {
                let placeholder = row(Some(database.functions.len()));
                assert_eq!(found, (1, 0, placeholder, (NONE, 0), (NONE, 0)));
            }
            ContextKind::Node { relation, lexical, function, source, point } => {
                let (file, line) = source.unzip();
                let (module, offset) = point.unzip();
                let expected = (
                    *relation as u8,
                    *lexical as u8,
                    row(*function),
                    (row(file), line.unwrap_or(0)),
                    (row(module), offset.unwrap_or(0)),
                );
                assert_eq!(found, expected);
                let propagation = if meta.is_draft { 0 } else { u16::from(*relation as u8 == 0) };
                assert_eq!(contexts.propagation[at], propagation);
            }
        }
    }
    let mut found: Vec<_> =
        contexts.entries.iter().map(|e| (e.position as usize, e.code, &*e.name)).collect();
    found.sort_unstable();
    entries.sort_unstable();
    assert_eq!(found, entries);
    hpctoolkit::check_contexts(meta);
}

fn check_profiles(read: &Everything, database: &Database) {
    let meta = &read.meta;
    // Metric ids of values: position of the metric and scope. Those of statistics: the formula too.
    let mut instances = HashMap::new();
    let mut statistics = HashMap::new();
    for (position, metric) in meta.metrics.iter().enumerate() {
        for i in &metric.instances {
            instances.insert(i.prop_metric_id, (position, scope(meta, i.scope)));
        }
        for s in &metric.summaries {
            let what = (position, scope(meta, s.scope), &*s.formula, code(s.combine));
            statistics.insert(s.stat_metric_id, what);
        }
    }
    assert_eq!(read.profiles.len(), database.profiles.len() + 1);
    let (summary, profiles) = read.profiles.split_first().unwrap();
    assert!(summary.is_summary && summary.identity.is_empty());
    let mut of_all: BTreeMap<(u32, usize, Scope), Vec<f64>> = BTreeMap::new();
    let mut transposed = Vec::new();
    for (i, (profile, written)) in (1..).zip(profiles.iter().zip(&database.profiles)) {
        assert!(!profile.is_summary);
        let identity: Vec<_> = (profile.identity.iter())
            .map(|id| (id.kind, id.is_physical, id.logical, id.physical))
            .collect();
        let expected: Vec<_> = (written.tuple.iter())
            .map(|id| (id.kind, id.is_physical, id.logical, id.physical))
            .collect();
        assert_eq!(identity, expected);
        let scope_values = database.scope_values(written);
        let mut expected = Vec::new();
        for (&(context, metric), values) in &scope_values {
            for &scope in &database.scopes {
                if values.get(scope) != 0.0 {
                    expected.push((context, metric, scope, values.get(scope).to_bits()));
                    of_all.entry((context, metric, scope)).or_default().push(values.get(scope));
                }
            }
        }
        let mut found: Vec<_> = (profile.values.iter())
            .map(|&(context, id, bits)| (context, instances[&id].0, instances[&id].1, bits))
            .collect();
        let order = |profile: &hpctoolkit::Profile| profile.values.is_sorted_by_key(|v| (v.0, v.1));
        assert!(order(profile), "values are sorted by context and metric");
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
        transposed.extend(profile.values.iter().map(|&(c, m, bits)| (c, m, i, bits)));
    }
    transposed.sort_unstable();
    assert_eq!(read.cct.values, transposed, "cct.db is profile.db, transposed");
    assert_eq!(read.cct.lost, 0);

    let mut expected = Vec::new();
    for (&id, &(metric, scope, formula, combine)) in &statistics {
        for (&(context, of, within), values) in &of_all {
            if (of, within) != (metric, scope) {
                continue;
            }
            let values = values.iter().map(|&value| match formula {
                "1" => 1.0,
                "($$^2)" => value * value,
                _ => value,
            });
            let value: f64 = match combine {
                1 => values.fold(f64::INFINITY, f64::min),
                2 => values.fold(f64::NEG_INFINITY, f64::max),
                _ => values.sum(),
            };
            expected.push((context, id, value.to_bits()));
        }
    }
    expected.sort_unstable();
    assert_eq!(summary.values, expected, "the summary is the fold over all profiles");
}

fn check_traces(read: &Everything, database: &Database, options: &WriteOptions) {
    assert_eq!(read.trace.is_some(), options.traces);
    let Some(found) = &read.trace else { return };
    let position: HashMap<u32, usize> =
        database.contexts.iter().map(|context| context.id).zip(0..).collect();
    let kept = |id: u32| match position.get(&id) {
        Some(&position) if options.elide_instructions => database.kept_id(position),
        _ => id,
    };
    let expected: Vec<_> = (1..)
        .zip(&database.profiles)
        .map(|(i, profile)| {
            let samples: Vec<_> =
                profile.trace.iter().map(|sample| (sample.nanos, kept(sample.context))).collect();
            (i, samples)
        })
        .collect();
    assert_eq!(found.traces, expected);
    let times = || expected.iter().flat_map(|(_, samples)| samples).map(|sample| sample.0);
    if let (Some(first), Some(last)) = (times().min(), times().max()) {
        assert_eq!((found.min_nanos, found.max_nanos), (first, last));
    }
}

fn check_taxonomy(text: &[u8], database: &Database) {
    let mut issues = parallax_base::Issues::new();
    let taxonomy = Taxonomy::parse(std::str::from_utf8(text).unwrap(), &mut issues);
    assert!(issues.is_empty(), "{issues:?}");
    let names: Vec<_> = taxonomy.roots.iter().map(|root| &*root.name).collect();
    let written: Vec<_> = database.metrics.iter().map(|metric| &*metric.name).collect();
    assert_eq!(names, written);
    // Each input is a statistic of the database.
    for input in &taxonomy.inputs {
        let metric = database.metrics.iter().find(|metric| *metric.name == *input.metric).unwrap();
        assert!(database.scopes.iter().any(|scope| scope.name() == &*input.scope));
        let is_known = metric.statistics.iter().any(|statistic| {
            input.has_formula(statistic.formula()) && code(input.combine) == statistic.combine()
        });
        assert!(is_known, "{input:?}");
    }
}
