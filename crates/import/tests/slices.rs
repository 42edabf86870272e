//! What the stores of opened databases answer, against databases whose content is known: drawn at
//! random, written, opened both from memory and through sources that cannot lend their bytes.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may stop the test")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use parallax_base::{
    BlockCache, ByteSource, ContextIdx, Control, Folder, FolderEntry, Issues, Limits, LocationIdx,
    MemoryFolder, MemorySource, ReadError, Source, TimeWindow, TrackIdx,
};
use parallax_formats::hpctoolkit::{CctDb, ContextBlock, ProfileDb};
use parallax_model::{
    Combine, ContextChoice, ContextKind, ContextTree, Experiment, Formula, MetricChoice, Plan,
    ProfileStore, Relation, Scope, SliceColumns, SliceRequest, TraceStore,
};
use parallax_testkit::hpctoolkit::generate::{GenerateOptions, generate};
use parallax_testkit::hpctoolkit::{
    Database, Files, Layout, Sample, Scope as WrittenScope, WriteOptions, arbitrary,
};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

/// Location, context id, metric id, value.
type Row = (u32, u32, u16, f64);

/// A source that can only copy, as a browser's file.
struct CopyOnly(MemorySource);

impl ByteSource for CopyOnly {
    fn len(&self) -> u64 {
        self.0.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.0.read_at(offset, buffer)
    }
}

/// A folder of sources that can only copy, behind block caches too small for a whole file.
struct CopyOnlyFolder(Files);

impl Folder for CopyOnlyFolder {
    fn name(&self) -> &str {
        "memory"
    }

    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError> {
        let direct = self.0.by_path.iter().filter(|(path, _)| !path.contains('/'));
        Ok(direct
            .map(|(path, bytes)| FolderEntry { path: path.clone(), len: bytes.len() as u64 })
            .collect())
    }

    fn open(&self, path: &str) -> Result<Option<Source>, ReadError> {
        let cached = |bytes: &Vec<u8>| {
            let inner = CopyOnly(MemorySource::new(bytes.clone()));
            Arc::new(BlockCache::new(inner, 128, 1024)) as Source
        };
        Ok(self.0.by_path.get(path).map(cached))
    }
}

fn open(folder: &Arc<dyn Folder>) -> Experiment {
    parallax_import::open(folder, &Limits::default()).unwrap()
}

fn open_from_memory(files: &Files) -> Experiment {
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("memory", files.by_path.clone()));
    open(&folder)
}

fn open_by_copying(files: &Files) -> Experiment {
    let folder: Arc<dyn Folder> = Arc::new(CopyOnlyFolder(files.clone()));
    open(&folder)
}

fn profiles(experiment: &Experiment) -> &dyn ProfileStore {
    experiment.profiles.as_deref().unwrap()
}

fn rows(columns: &SliceColumns) -> Vec<Row> {
    assert_eq!(
        [columns.location.len(), columns.context.len(), columns.metric.len()],
        [columns.len(); 3],
    );
    (0..columns.len())
        .map(|i| (columns.location[i], columns.context[i], columns.metric[i], columns.value[i]))
        .collect()
}

fn slice(experiment: &Experiment, request: &SliceRequest) -> Vec<Row> {
    rows(&profiles(experiment).slice(request, &Control::new()).unwrap())
}

/// Everything stored in the chosen locations.
fn everything(locations: Vec<LocationIdx>) -> SliceRequest {
    SliceRequest {
        locations,
        contexts: ContextChoice::Stored,
        metrics: MetricChoice::All,
        plan: Plan::Cheapest,
    }
}

fn written_scope(scope: &Scope) -> WrittenScope {
    match scope {
        Scope::Point => WrittenScope::Point,
        Scope::Exclusive => WrittenScope::Function,
        Scope::LexicalAware => WrittenScope::LexAware,
        Scope::Inclusive => WrittenScope::Execution,
        Scope::Other(name) => panic!("no writer has the scope {name}"),
    }
}

/// What the profiles of locations hold, computed from the description of the database, in order.
fn known_rows(database: &Database, experiment: &Experiment) -> Vec<Row> {
    let mut rows = Vec::new();
    for (location, profile) in (1..).zip(&database.profiles) {
        for ((context, metric), values) in database.scope_values(profile) {
            let name = &*database.metrics[metric].name;
            let (_, found) =
                experiment.metrics.iter().find(|(_, m)| &*m.source_name == name).unwrap();
            for instance in &found.instances {
                let value = values.get(written_scope(&instance.scope));
                if value != 0.0 {
                    rows.push((location, context, instance.id, value));
                }
            }
        }
    }
    rows.sort_unstable_by_key(|&(location, context, metric, _)| (location, context, metric));
    rows
}

/// The summary that belongs to rows of locations: every statistic of every scope, by its
/// definition.
fn folded(rows: &[Row], experiment: &Experiment) -> Vec<Row> {
    let mut values: BTreeMap<(u32, u16), Vec<f64>> = BTreeMap::new();
    for &(_, context, metric, value) in rows {
        values.entry((context, metric)).or_default().push(value);
    }
    let summary = experiment.locations.summary().unwrap().get();
    let mut out = Vec::new();
    for ((context, id), values) in values {
        let (_, metric, instance) = experiment.metrics.by_id(id).unwrap();
        for statistic in metric.statistics.iter().filter(|s| s.scope == instance.scope) {
            let taken = values.iter().map(|&value| match statistic.formula {
                Formula::Value => value,
                Formula::One => 1.0,
                Formula::Square => value * value,
                Formula::Other(_) => panic!("no writer has the formula {:?}", statistic.formula),
            });
            let value = match statistic.combine {
                Combine::Sum => taken.sum(),
                Combine::Min => taken.fold(f64::INFINITY, f64::min),
                Combine::Max => taken.fold(f64::NEG_INFINITY, f64::max),
                Combine::Other(code) => panic!("no writer combines by {code}"),
            };
            out.push((summary, context, statistic.id, value));
        }
    }
    out.sort_unstable_by_key(|&(_, context, metric, _)| (context, metric));
    out
}

/// The rows that a request is about, picked one by one.
fn picked(all: &[Row], request: &SliceRequest, experiment: &Experiment) -> Vec<Row> {
    let tree: BTreeSet<u32> = experiment.contexts.source_ids().iter().copied().collect();
    let root = experiment.contexts.source_id(ContextTree::ROOT);
    let summary = experiment.locations.summary().map(LocationIdx::get);
    let is_wanted = |&&(location, context, metric, _): &&Row| {
        let is_context = match &request.contexts {
            ContextChoice::Tree => tree.contains(&context),
            ContextChoice::Nodes => context != root && tree.contains(&context),
            ContextChoice::Stored => true,
            ContextChoice::Ids(ids) => ids.contains(&context),
        };
        let is_metric = match &request.metrics {
            MetricChoice::All => true,
            MetricChoice::Ids { values, statistics } => {
                let ids = if Some(location) == summary { statistics } else { values };
                ids.contains(&metric)
            }
        };
        is_context && is_metric && request.locations.contains(&LocationIdx::new(location))
    };
    all.iter().filter(is_wanted).copied().collect()
}

/// Requests over locations below `num_locations` and context ids below `num_ids`, a few of which
/// do not exist.
fn requests(num_locations: u32, num_ids: u32) -> impl Strategy<Value = SliceRequest> {
    let few = btree_set(0..num_locations, 0..10);
    let most = btree_set(0..num_locations, (num_locations / 2) as usize..=num_locations as usize);
    let run = (0..num_locations, 0..num_locations)
        .prop_map(|(start, len)| (start..start.saturating_add(len)).collect::<BTreeSet<u32>>());
    let locations = prop_oneof![few, most, run];
    let ids = |set: BTreeSet<u32>| ContextChoice::Ids(set.into_iter().collect());
    let contexts = prop_oneof![
        1 => Just(ContextChoice::Tree),
        1 => Just(ContextChoice::Nodes),
        1 => Just(ContextChoice::Stored),
        4 => btree_set(0..num_ids, 0..num_ids as usize).prop_map(ids),
        2 => btree_set(prop_oneof![0..num_ids, Just(u32::MAX)], 0..4).prop_map(ids),
    ];
    let metrics = prop_oneof![
        1 => Just(MetricChoice::All),
        1 => (btree_set(0..64_u16, 0..12), btree_set(0..64_u16, 0..12)).prop_map(|(v, s)| {
            MetricChoice::Ids {
                values: v.into_iter().collect(),
                statistics: s.into_iter().collect(),
            }
        }),
    ];
    (locations, contexts, metrics).prop_map(|(locations, contexts, metrics)| SliceRequest {
        locations: locations.into_iter().map(LocationIdx::new).collect(),
        contexts,
        metrics,
        plan: Plan::Cheapest,
    })
}

/// Checks the answers of an experiment to a request in every plan against the picked rows.
fn check_request(
    experiment: &Experiment,
    all: &[Row],
    request: &SliceRequest,
) -> Result<(), TestCaseError> {
    let expected = picked(all, request, experiment);
    for plan in [Plan::LocationMajor, Plan::ContextMajor, Plan::Cheapest] {
        let request = SliceRequest { plan, ..request.clone() };
        let (taken, bound) = profiles(experiment).estimate(&request).unwrap();
        prop_assert!(bound >= expected.len() as u64, "{} rows of at most {bound}", expected.len());
        // A plan that was silently replaced would prove nothing.
        match (&request.contexts, plan) {
            (ContextChoice::Ids(_), Plan::ContextMajor) => prop_assert_eq!(taken, plan),
            (_, Plan::LocationMajor) => prop_assert_eq!(taken, plan),
            _ => prop_assert_ne!(taken, Plan::Cheapest),
        }
        prop_assert_eq!(&slice(experiment, &request), &expected, "{:?}", plan);
    }
    Ok(())
}

/// The context ids that a trace shows: those of elided instructions are replaced by their parents'.
fn shown(database: &Database, options: &WriteOptions) -> HashMap<u32, u32> {
    let id = |(position, context): (usize, &parallax_testkit::hpctoolkit::Context)| {
        let shown =
            if options.elide_instructions { database.kept_id(position) } else { context.id };
        (context.id, shown)
    };
    database.contexts.iter().enumerate().map(id).chain([(0, 0)]).collect()
}

/// The samples of a trace that reach into a window, as (context, start, end).
fn known_visits(
    trace: &[Sample],
    shown: &HashMap<u32, u32>,
    window: TimeWindow,
) -> Vec<(u32, u64, u64)> {
    let mut out = Vec::new();
    for (i, sample) in trace.iter().enumerate() {
        let next = trace.get(i + 1);
        let end = next.map_or(sample.nanos, |next| next.nanos);
        let reaches =
            end > window.start_nanos || (next.is_none() && sample.nanos >= window.start_nanos);
        if reaches && sample.nanos < window.end_nanos {
            out.push((shown[&sample.context], sample.nanos, end));
        }
    }
    out
}

fn visits(traces: &dyn TraceStore, track: TrackIdx, window: TimeWindow) -> Vec<(u32, u64, u64)> {
    let mut out = Vec::new();
    let mut visit = |interval: parallax_model::Interval| {
        out.push((interval.context, interval.start_nanos, interval.end_nanos));
    };
    traces.visit(track, window, &mut visit).unwrap();
    out
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_stored_value_comes_out_in_order(
        database in arbitrary::database(),
        options in arbitrary::write_options(),
    ) {
        let files = database.to_files(&options);
        let expected = known_rows(&database, &open_from_memory(&files));
        for experiment in [open_from_memory(&files), open_by_copying(&files)] {
            prop_assert!(experiment.issues.is_empty(), "{:?}", experiment.issues);
            let summary = experiment.locations.summary();
            let ranks = (0..=database.profiles.len() as u32).map(LocationIdx::new);
            let locations = ranks.filter(|&location| Some(location) != summary).collect();
            let got = slice(&experiment, &everything(locations));
            let is_ascending = |pair: &[Row]| {
                let key = |row: &Row| (row.0, row.1, row.2);
                key(&pair[0]) < key(&pair[1])
            };
            prop_assert!(got.windows(2).all(is_ascending));
            prop_assert_eq!(&got, &expected);
        }
    }

    #[test]
    fn both_plans_give_what_was_asked_for(
        (database, options, requests) in (arbitrary::database(), arbitrary::write_options())
            .prop_flat_map(|(database, options)| {
                let num_locations = database.profiles.len() as u32 + 3;
                let num_ids = database.num_context_ids() as u32 + 3;
                let requests = vec(requests(num_locations, num_ids), 8);
                (Just(database), Just(options), requests)
            }),
    ) {
        let files = database.to_files(&options);
        for experiment in [open_from_memory(&files), open_by_copying(&files)] {
            let mut all = known_rows(&database, &experiment);
            let summary = folded(&all, &experiment);
            all.splice(0..0, summary);
            for request in &requests {
                check_request(&experiment, &all, request)?;
            }
            prop_assert!(profiles(&experiment).late_issues().is_empty());
        }
    }

    #[test]
    fn the_summary_is_the_fold_over_the_profiles(
        database in arbitrary::database(),
        options in arbitrary::write_options(),
    ) {
        let experiment = open_from_memory(&database.to_files(&options));
        let summary = experiment.locations.summary().unwrap();
        let others: Vec<LocationIdx> =
            experiment.locations.iter().filter(|&location| location != summary).collect();
        prop_assert_eq!(others.len(), database.profiles.len());
        let values = slice(&experiment, &everything(others));
        let stored = slice(&experiment, &everything(vec![summary]));
        prop_assert_eq!(stored, folded(&values, &experiment));
    }

    #[test]
    fn the_context_file_is_the_transposed_profile_file(
        database in arbitrary::database(),
        options in arbitrary::write_options(),
    ) {
        let files = database.to_files(&options);
        let mut issues = Issues::new();
        let source = |path: &str| MemorySource::shared(files.get(path).to_vec());
        let by_profile =
            ProfileDb::open(source("profile.db"), &Limits::default(), &mut issues).unwrap();
        let by_context = CctDb::open(source("cct.db"), &mut issues).unwrap();
        let mut left: Vec<Row> = Vec::new();
        for (location, info) in (0..).zip(by_profile.infos()).filter(|(_, i)| !i.is_summary) {
            let block = by_profile.block(location as usize).unwrap();
            for values in block.iter() {
                let rows = values.iter().map(|v| (location, values.context, v.metric, v.value));
                left.extend(rows);
            }
            prop_assert_eq!(info.num_contexts as usize, block.num_contexts());
        }
        let mut right: Vec<Row> = Vec::new();
        let (infos, lost) = by_context.infos(0..u32::MAX).unwrap();
        prop_assert_eq!(lost, 0);
        for (context, info) in (0..).zip(&infos) {
            let block = by_context.block(info).unwrap();
            for (metric, range) in block.metrics() {
                let raw = block.values(range).unwrap();
                let rows = ContextBlock::decode(&raw).map(|v| (v.profile, context, metric, v.value));
                right.extend(rows);
            }
        }
        right.sort_unstable_by_key(|&(location, context, metric, _)| (location, context, metric));
        prop_assert_eq!(left, right);
        prop_assert!(issues.is_empty());
    }

    /// With every context in the tree, what the reader returns obeys the formulas of the scopes
    /// over the tree that the reader built.
    #[test]
    fn the_scopes_of_what_is_returned_obey_their_formulas(database in arbitrary::database()) {
        let experiment = open_from_memory(&database.to_files(&WriteOptions::default()));
        let tree = &experiment.contexts;
        let summary = experiment.locations.summary();
        for location in experiment.locations.iter().filter(|&l| Some(l) != summary) {
            let values: HashMap<(u32, u16), f64> = slice(&experiment, &everything(vec![location]))
                .into_iter()
                .map(|(_, context, metric, value)| ((context, metric), value))
                .collect();
            for (_, metric) in experiment.metrics.iter() {
                let value = |scope: &Scope, context: ContextIdx| {
                    let id = metric.id_in(scope)?;
                    Some(*values.get(&(tree.source_id(context), id)).unwrap_or(&0.0))
                };
                let own = |context| value(&Scope::Point, context).unwrap();
                let is_loop = |context| tree.kind(context) == ContextKind::Loop;
                // Values are multiples of 1/64: sums are exact in any order.
                let mut without_loops = vec![0.0; tree.len()];
                for context in tree.iter().rev() {
                    let (mut inclusive, mut exclusive) = (own(context), own(context));
                    without_loops[context.idx()] = own(context);
                    for child in tree.children(context) {
                        inclusive += value(&Scope::Inclusive, child).unwrap();
                        if tree.relation(child) == Relation::Lexical {
                            exclusive += value(&Scope::Exclusive, child).unwrap();
                            if !is_loop(child) {
                                without_loops[context.idx()] += without_loops[child.idx()];
                            }
                        }
                    }
                    prop_assert_eq!(value(&Scope::Inclusive, context), Some(inclusive));
                    prop_assert_eq!(value(&Scope::Exclusive, context), Some(exclusive));
                    let lexical_aware =
                        if is_loop(context) { without_loops[context.idx()] } else { exclusive };
                    if let Some(stored) = value(&Scope::LexicalAware, context) {
                        prop_assert_eq!(stored, lexical_aware);
                    }
                }
            }
        }
    }

    #[test]
    fn visits_of_a_window_are_the_written_samples(
        database in arbitrary::database(),
        options in arbitrary::write_options(),
        ends in vec((0..24_000_000_u64, 0..24_000_000_u64), 6),
    ) {
        let options = WriteOptions { traces: true, ..options };
        let files = database.to_files(&options);
        let shown = shown(&database, &options);
        let written = database.profiles.iter().flat_map(|profile| &profile.trace);
        let times: BTreeSet<u64> = written.map(|sample| sample.nanos).collect();
        let first = times.first().copied().unwrap_or(0);
        // Windows anywhere, windows that start and end exactly at samples, and all of time.
        let at = |offset: u64| first.saturating_sub(1_000_000) + offset;
        let sample = |n: u64| times.iter().nth(n as usize % times.len().max(1)).copied();
        let mut windows = vec![TimeWindow::ALL];
        for &(a, b) in &ends {
            windows.push(TimeWindow::new(at(a.min(b)), at(a.max(b))));
            if let (Some(a), Some(b)) = (sample(a), sample(b)) {
                windows.push(TimeWindow::new(a.min(b), a.max(b)));
            }
        }
        for experiment in [open_from_memory(&files), open_by_copying(&files)] {
            let Some(traces) = experiment.traces.as_deref() else {
                return Err(TestCaseError::fail("no traces"));
            };
            let num_samples: u64 = traces.tracks().iter().map(|track| track.num_samples).sum();
            let num_written: usize = database.profiles.iter().map(|p| p.trace.len()).sum();
            prop_assert_eq!(num_samples, num_written as u64);
            if let (Some(&first), Some(&last)) = (times.first(), times.last()) {
                prop_assert_eq!(traces.span(), TimeWindow::new(first, last));
            }
            let mut untold: BTreeSet<u32> = (1..=database.profiles.len() as u32).collect();
            for (id, track) in traces.track_ids().zip(traces.tracks()) {
                prop_assert!(untold.remove(&track.location.get()), "two tracks of a location");
                let trace = &database.profiles[track.location.idx() - 1].trace;
                for &window in &windows {
                    let expected = known_visits(trace, &shown, window);
                    prop_assert_eq!(visits(traces, id, window), expected, "{:?}", window);
                }
            }
            prop_assert!(untold.iter().all(|&l| database.profiles[l as usize - 1].trace.is_empty()));
        }
    }

    #[test]
    fn sources_that_cannot_lend_bytes_open_to_the_same_experiment(
        database in arbitrary::database(),
        options in arbitrary::write_options(),
    ) {
        let files = database.to_files(&options);
        let (lent, copied) = (open_from_memory(&files), open_by_copying(&files));
        prop_assert_eq!(lent.contexts.source_ids(), copied.contexts.source_ids());
        for context in lent.contexts.iter() {
            prop_assert_eq!(lent.contexts.label(context), copied.contexts.label(context));
        }
        prop_assert_eq!(&lent.metadata, &copied.metadata);
        prop_assert!(lent.metrics.iter().eq(copied.metrics.iter()));
        prop_assert_eq!(lent.locations.len(), copied.locations.len());
        for location in lent.locations.iter() {
            prop_assert_eq!(lent.locations.label(location), copied.locations.label(location));
        }
        let layout = if options.layout == Layout::Draft { "draft" } else { "4.0" };
        prop_assert!(copied.metadata.format.contains(layout));
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 12,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Enough locations that the context-major plan works in several pieces, whose borders must
    /// leave no mark.
    #[test]
    fn many_locations_are_put_together_from_pieces(
        (database, requests) in arbitrary::database()
            .prop_filter("profiles to repeat", |database| !database.profiles.is_empty())
            .prop_flat_map(|mut database| {
                let repeated = database.profiles.iter().cycle().take(400).cloned().collect();
                database.profiles = repeated;
                let requests = vec(requests(403, database.num_context_ids() as u32 + 3), 6);
                (Just(database), requests)
            }),
    ) {
        let options = WriteOptions { traces: false, ..WriteOptions::default() };
        let experiment = open_from_memory(&database.to_files(&options));
        let mut all = known_rows(&database, &experiment);
        let summary = folded(&all, &experiment);
        all.splice(0..0, summary);
        for request in &requests {
            check_request(&experiment, &all, request)?;
        }
    }
}

#[test]
fn a_context_file_out_of_order_is_reported_and_not_believed() {
    let database = parallax_testkit::drawn::draw(
        "CPUTIME (sec)",
        "
        main              .    .
          solve           2.0  1.0
          MPI_Barrier     0.5  3.0
        ",
    );
    let mut files = database.to_files(&WriteOptions::default());
    // The values of MPI_Barrier in ranks 0 and 1 are those of profiles 1 and 2.
    let value =
        |profile: u32, value: f64| [&profile.to_le_bytes()[..], &value.to_le_bytes()[..]].concat();
    let in_order = [value(1, 0.5), value(2, 3.0)].concat();
    let swapped = [value(2, 3.0), value(1, 0.5)].concat();
    let bytes = files.by_path.get_mut("cct.db").unwrap();
    let places: Vec<usize> =
        (0..bytes.len() - 24).filter(|&at| bytes[at..at + 24] == in_order).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + 24].copy_from_slice(&swapped);
    }
    let experiment = open_from_memory(&files);
    let ids = database.contexts.iter().map(|context| context.id).collect();
    let request = SliceRequest {
        contexts: ContextChoice::Ids(ids),
        plan: Plan::ContextMajor,
        ..everything(experiment.locations.iter().collect())
    };
    let expected = known_rows(&database, &experiment);
    assert_eq!(slice(&experiment, &request), picked(&expected, &request, &experiment));
    let issues = profiles(&experiment).late_issues();
    assert!(issues.list().iter().any(|issue| issue.kind == "cct-unsorted"), "{issues:?}");
}

#[test]
fn files_that_were_not_examined_are_said_where_one_may_be_missed() {
    let database = parallax_testkit::drawn::draw("CPUTIME (sec)", "main  1.0\n");
    let files = database.to_files(&WriteOptions::default()).by_path;
    let kinds = |others: usize, is_complete: bool| -> Vec<&'static str> {
        let own = files.iter().filter(|(path, _)| is_complete || *path != "cct.db");
        let own = own.map(|(path, bytes)| (path.clone(), bytes.clone()));
        let others = (0..others).map(|at| (format!("z{at}"), Vec::new()));
        let all = own.chain(others).collect::<Vec<_>>();
        let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("run", all));
        let list = parallax_import::open(&folder, &Limits::default()).unwrap().issues;
        let told = list.list().iter().filter(|issue| issue.kind == "files-unread");
        told.map(|issue| issue.kind).collect()
    };
    let direct = files.keys().filter(|path| !path.contains('/') && *path != "cct.db").count();
    assert!(kinds(10_000 - direct, false).is_empty(), "exactly as many as are examined");
    assert_eq!(kinds(10_001 - direct, false), ["files-unread"]);
    if files.contains_key("trace.db") {
        assert!(kinds(10_001, true).is_empty(), "nothing can be missed");
    }
}

#[test]
fn a_block_that_lacks_a_value_is_not_believed_also_where_few_contexts_are_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let options = GenerateOptions {
        ranks: 40,
        contexts: 300,
        values_per_rank: 150,
        trace_samples: 0,
        ..GenerateOptions::default()
    };
    generate(folder.path(), &options, |_, _, _| ()).unwrap();
    let files = ["meta.db", "profile.db", "cct.db"];
    let files = files.map(|name| (name, std::fs::read(folder.path().join(name)).unwrap()));
    let opened_with = |change: &dyn Fn(&mut Vec<u8>)| {
        let files = files.clone().map(|(name, mut bytes)| {
            if name == "cct.db" {
                change(&mut bytes);
            }
            (name.to_owned(), bytes)
        });
        open(&(Arc::new(MemoryFolder::new("test", files)) as Arc<dyn Folder>))
    };
    let of = |experiment: &Experiment, context: u32, plan: Plan| {
        let locations = experiment.locations.iter();
        let locations = locations.filter(|&l| Some(l) != experiment.locations.summary()).collect();
        let contexts = ContextChoice::Ids(vec![context]);
        slice(experiment, &SliceRequest { contexts, plan, ..everything(locations) })
    };
    let issues = |experiment: &Experiment| -> Vec<&'static str> {
        profiles(experiment).late_issues().list().iter().map(|issue| issue.kind).collect()
    };
    let word = |bytes: &[u8], at: usize| {
        u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
    };
    // Where the record of a context lies: the section, its table, 32 bytes for each.
    let info = |bytes: &[u8], context: u32| {
        let section = word(bytes, 0x18);
        word(bytes, section) + context as usize * 32
    };

    let whole = opened_with(&|_| ());
    let expected: Vec<_> = (0..300).map(|c| of(&whole, c, Plan::LocationMajor)).collect();
    let common = (0..300_u32).find(|&c| expected[c as usize].len() > 60).unwrap();
    for context in 0..300 {
        let found = of(&whole, context, Plan::ContextMajor);
        assert_eq!(found, expected[context as usize], "context {context}");
    }
    assert!(issues(&whole).is_empty());

    let lacking = |bytes: &mut Vec<u8>| {
        let at = info(bytes, common);
        let count = word(bytes, at) as u64 - 1;
        bytes[at..at + 8].copy_from_slice(&count.to_le_bytes());
    };
    let disordered = |bytes: &mut Vec<u8>| {
        // The first value is that of another rank.
        let at = word(bytes, info(bytes, common) + 8);
        bytes[at..at + 4].copy_from_slice(&39_u32.to_le_bytes());
    };
    let empty = |bytes: &mut Vec<u8>| {
        for context in 0..300 {
            let at = info(bytes, context);
            bytes[at..at + 8].copy_from_slice(&0_u64.to_le_bytes());
        }
    };
    for (change, issue) in [
        (&lacking as &dyn Fn(&mut Vec<u8>), "cct-differs"),
        (&disordered, "cct-unsorted"),
        (&empty, "cct-differs"),
    ] {
        let changed = opened_with(change);
        assert_eq!(of(&changed, common, Plan::ContextMajor), expected[common as usize]);
        assert_eq!(issues(&changed), [issue]);
    }
}

#[test]
fn a_profile_db_that_lost_its_values_is_rescued_from_cct_db() {
    let database = parallax_testkit::drawn::draw(
        "CPUTIME (sec)",
        "
        main        1.0  2.0
          solve     4.0  .
        ",
    );
    let files = database.to_files(&WriteOptions::default());
    let open_with = |cut: bool| {
        let files = files.by_path.iter().map(|(path, bytes)| {
            let mut bytes = bytes.clone();
            if cut && *path == "profile.db" {
                // The tables stay, the values of the first location and all behind are gone.
                let word =
                    |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
                let values = word(word(word(0x18)) + 0x30 + 0x08);
                bytes.truncate(values);
            }
            ((*path).clone(), bytes)
        });
        let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("test", files));
        parallax_import::open(&folder, &Limits::default()).unwrap()
    };
    let slice = |experiment: &Experiment| {
        let request = SliceRequest {
            locations: experiment.locations.iter().collect(),
            contexts: ContextChoice::Tree,
            metrics: MetricChoice::All,
            plan: Plan::Cheapest,
        };
        experiment.profiles.as_ref().unwrap().slice(&request, &Control::new()).unwrap()
    };
    let (whole, cut) = (open_with(false), open_with(true));
    assert!(!cut.issues.is_empty());
    assert_eq!(slice(&whole), slice(&cut));
    assert!(cut.all_issues().list().iter().any(|issue| issue.kind == "cct-differs"));
}
