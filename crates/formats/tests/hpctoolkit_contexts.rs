//! Values of chosen contexts: those that the whole profiles have, without reading them whole.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parallax_base::{ByteSource, Issues, Limits, MemorySource, ReadError, Source};
use parallax_formats::hpctoolkit::{ContextReader, ProfileDb};
use parallax_testkit::hpctoolkit::{
    Context, ContextKind, Database, Id, LexicalType, Metric, Point, Profile, Relation, WriteOptions,
};
use proptest::collection::btree_set;
use proptest::prelude::*;

const NUM_CONTEXTS: u32 = 6000;

/// A source that can only copy, and counts the bytes.
struct Counting(MemorySource, AtomicU64);

impl ByteSource for Counting {
    fn len(&self) -> u64 {
        self.0.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.1.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        self.0.read_at(offset, buffer)
    }
}

/// Profiles of which each has its own choice of contexts: `share` of 256, a run of them missing.
fn profile_file(seed: u32, shares: &[u8]) -> Vec<u8> {
    let entry = ContextKind::Entry { entry_point: 1, name: "main thread".into() };
    let node = ContextKind::Node {
        relation: Relation::Call,
        lexical: LexicalType::Function,
        function: None,
        source: None,
        point: None,
    };
    let mut contexts = vec![Context { id: 1, parent: None, kind: entry }];
    contexts.extend((2..NUM_CONTEXTS).map(|id| Context {
        id,
        parent: Some(0),
        kind: node.clone(),
    }));
    let noise = |profile: u32, context: u32| {
        let mixed = (seed ^ profile << 16 ^ context).wrapping_mul(0x9e37_79b1);
        (mixed >> 13).wrapping_mul(0x85eb_ca6b) >> 24
    };
    let profiles = (0..).zip(shares).map(|(profile, &share)| {
        let missing = noise(profile, 7) * 16..noise(profile, 7) * 16 + noise(profile, 8) * 4;
        let has = |&id: &u32| noise(profile, id) < u32::from(share) && !missing.contains(&id);
        let points = (1..NUM_CONTEXTS).filter(has).map(|context| {
            let value = f64::from(profile * 10_000 + context);
            Point { context, metric: 0, value }
        });
        Profile {
            tuple: vec![Id::logical(1, profile)],
            points: points.collect(),
            trace: Vec::new(),
        }
    });
    let database = Database {
        title: "few contexts".into(),
        id_kinds: vec!["SUMMARY".into(), "RANK".into()],
        metrics: vec![Metric::new("cycles")],
        contexts,
        profiles: profiles.collect(),
        ..Database::default()
    };
    database.to_files(&WriteOptions::default()).get("profile.db").to_vec()
}

fn open(source: Source) -> ProfileDb {
    let mut issues = Issues::new();
    let profiles = ProfileDb::open(source, &Limits::default(), &mut issues).unwrap();
    assert!(issues.is_empty(), "{issues:?}");
    profiles
}

type Row = (usize, u32, u16, f64);

fn whole(profiles: &ProfileDb, ids: &[u32]) -> Vec<Row> {
    let mut rows = Vec::new();
    for i in 0..profiles.infos().len() {
        let block = profiles.block(i).unwrap();
        for values in block.iter().filter(|values| ids.contains(&values.context)) {
            rows.extend(values.iter().map(|value| (i, values.context, value.metric, value.value)));
        }
    }
    rows
}

fn chosen(profiles: &ProfileDb, ids: &[u32]) -> Vec<Row> {
    let mut reader = ContextReader::new(profiles, ids);
    let mut rows = Vec::new();
    for i in 0..profiles.infos().len() {
        let add = |values: parallax_formats::hpctoolkit::ContextValues<'_>| {
            rows.extend(values.iter().map(|value| (i, values.context, value.metric, value.value)));
        };
        reader.visit(i, add).unwrap();
    }
    rows
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

    #[test]
    fn chosen_contexts_have_the_values_that_whole_profiles_have(
        seed in any::<u32>(),
        shares in proptest::collection::vec(any::<u8>(), 1..6),
        few in btree_set(0..NUM_CONTEXTS + 2, 0..6),
        many in btree_set(0..NUM_CONTEXTS + 2, 0..3000),
    ) {
        let bytes = profile_file(seed, &shares);
        let borrowed = open(MemorySource::shared(bytes.clone()));
        let copied = open(Arc::new(Counting(MemorySource::new(bytes), AtomicU64::new(0))));
        for ids in [few, many, BTreeSet::from([u32::MAX])] {
            let ids: Vec<u32> = ids.into_iter().collect();
            let expected = whole(&borrowed, &ids);
            prop_assert_eq!(&chosen(&borrowed, &ids), &expected);
            prop_assert_eq!(&chosen(&copied, &ids), &expected);
        }
    }
}

#[test]
fn a_context_is_found_in_like_profiles_without_reading_them() {
    let bytes = profile_file(1, &[250; 8]);
    let len = bytes.len() as u64;
    let source = Arc::new(Counting(MemorySource::new(bytes), AtomicU64::new(0)));
    let profiles = open(Arc::clone(&source) as Source);
    let before = source.1.load(Ordering::Relaxed);
    assert_eq!(chosen(&profiles, &[4321]).len(), whole(&profiles, &[4321]).len());
    source.1.store(before, Ordering::Relaxed);
    let rows = chosen(&profiles, &[4321]);
    assert!(rows.len() >= 8, "{rows:?}");
    let read = source.1.load(Ordering::Relaxed) - before;
    assert!(read * 5 < len, "{read} of {len} bytes");
}
