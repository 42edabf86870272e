//! What the tests of the HPCToolkit reader share: where data is, and reading all there is.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parallax_base::{ByteSource, Issues, Limits, MemorySource, ReadError, Source};
use parallax_formats::FormatError;
use parallax_formats::hpctoolkit::{
    CctDb, ContextBlock, Contexts, Identity, MetaDb, NONE, ProfileDb, TraceDb,
};

/// The workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The corpus of real data; without it the test is skipped.
pub(crate) fn corpus() -> Option<PathBuf> {
    parallax_testkit::needs::corpus()
}

/// The databases of the repository.
pub(crate) fn fixtures() -> Vec<PathBuf> {
    let mut found = Vec::new();
    find(&root().join("fixtures/reactor"), "meta.db", &mut found);
    assert!(!found.is_empty(), "the fixtures are missing");
    found
}

/// Adds the folders at and below `folder` that have a file `name`, in order.
pub(crate) fn find(folder: &Path, name: &str, found: &mut Vec<PathBuf>) {
    if folder.join(name).is_file() {
        found.push(folder.to_owned());
    }
    let entries = std::fs::read_dir(folder).unwrap();
    let mut below: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    below.sort();
    for path in below.into_iter().filter(|path| path.is_dir()) {
        find(&path, name, found);
    }
}

/// The bytes of the four files of a database.
#[derive(Clone, Default)]
pub(crate) struct Bytes {
    pub(crate) meta: Vec<u8>,
    pub(crate) profile: Vec<u8>,
    pub(crate) cct: Vec<u8>,
    pub(crate) trace: Option<Vec<u8>>,
}

impl Bytes {
    pub(crate) fn load(folder: &Path) -> Self {
        let file = |name| std::fs::read(folder.join(name));
        Self {
            meta: file("meta.db").unwrap(),
            profile: file("profile.db").unwrap(),
            cct: file("cct.db").unwrap(),
            trace: file("trace.db").ok(),
        }
    }

    /// Reads all there is, with `wrap` between the bytes and the reader.
    pub(crate) fn read(&self, wrap: impl Fn(Vec<u8>) -> Source) -> Result<Everything, FormatError> {
        let mut issues = Issues::new();
        Ok(Everything {
            meta: read_meta(&*wrap(self.meta.clone()), &mut issues)?,
            profiles: read_profiles(wrap(self.profile.clone()), &mut issues)?,
            cct: read_cct(wrap(self.cct.clone()), &mut issues)?,
            trace: match &self.trace {
                Some(trace) => Some(read_trace(wrap(trace.clone()), &mut issues)?),
                None => None,
            },
            issues,
        })
    }
}

/// A source in memory that lends its bytes.
pub(crate) fn lending(bytes: Vec<u8>) -> Source {
    MemorySource::shared(bytes)
}

/// A source in memory that only copies, as a browser's files do.
pub(crate) struct Copying(MemorySource);

impl Copying {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self(MemorySource::new(bytes))
    }
}

impl ByteSource for Copying {
    fn len(&self) -> u64 {
        self.0.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.0.read_at(offset, buffer)
    }
}

pub(crate) fn copying(bytes: Vec<u8>) -> Source {
    Arc::new(Copying::new(bytes))
}

/// All that the reader gives for a database.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Everything {
    pub(crate) meta: MetaDb,
    pub(crate) profiles: Vec<Profile>,
    pub(crate) cct: Cct,
    pub(crate) trace: Option<Traces>,
    pub(crate) issues: Issues,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Profile {
    pub(crate) is_summary: bool,
    pub(crate) identity: Vec<Identity>,
    /// Context, metric and the bits of the value.
    pub(crate) values: Vec<(u32, u16, u64)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cct {
    pub(crate) num_contexts: u64,
    /// Context records that leave the file.
    pub(crate) lost: u64,
    /// Context, metric, profile and the bits of the value.
    pub(crate) values: Vec<(u32, u16, u32, u64)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Traces {
    pub(crate) min_nanos: u64,
    pub(crate) max_nanos: u64,
    /// Profile, and samples as times and contexts.
    pub(crate) traces: Vec<(u32, Vec<(u64, u32)>)>,
}

pub(crate) fn read_meta(
    source: &dyn ByteSource,
    issues: &mut Issues,
) -> Result<MetaDb, FormatError> {
    MetaDb::read(source, &Limits::default(), issues)
}

pub(crate) fn read_profiles(
    source: Source,
    issues: &mut Issues,
) -> Result<Vec<Profile>, FormatError> {
    let db = ProfileDb::open(source, &Limits::default(), issues)?;
    let mut profiles = Vec::new();
    for (i, info) in db.infos().iter().enumerate() {
        let block = db.block(i)?;
        let mut values = Vec::new();
        for entry in block.iter() {
            assert_eq!(entry.is_empty(), entry.iter().len() == 0);
            values.extend(entry.iter().map(|v| (entry.context, v.metric, v.value.to_bits())));
        }
        let identity = db.identity(i).to_vec();
        profiles.push(Profile { is_summary: info.is_summary, identity, values });
    }
    Ok(profiles)
}

pub(crate) fn read_cct(source: Source, issues: &mut Issues) -> Result<Cct, FormatError> {
    let db = CctDb::open(source, issues)?;
    let num_contexts = db.num_contexts();
    let (infos, lost) = db.infos(0..u32::try_from(num_contexts).unwrap())?;
    let mut values = Vec::new();
    for (context, info) in (0..).zip(&infos) {
        let block = db.block(info)?;
        for (metric, range) in block.metrics() {
            let raw = block.values(range)?;
            let decoded = ContextBlock::decode(&raw);
            values.extend(decoded.map(|v| (context, metric, v.profile, v.value.to_bits())));
        }
    }
    Ok(Cct { num_contexts, lost, values })
}

pub(crate) fn read_trace(source: Source, issues: &mut Issues) -> Result<Traces, FormatError> {
    let db = TraceDb::open(source, &Limits::default(), issues)?;
    let mut traces = Vec::new();
    for info in db.infos() {
        let raw = db.samples(info)?;
        let samples: Vec<_> = TraceDb::decode(&raw).map(|s| (s.nanos, s.context)).collect();
        assert_eq!(samples.len() as u64, info.num_samples);
        traces.push((info.profile, samples));
    }
    Ok(Traces { min_nanos: db.min_nanos, max_nanos: db.max_nanos, traces })
}

/// What the columns of the context tree promise, whatever the file was like.
pub(crate) fn check_contexts(meta: &MetaDb) {
    let contexts = &meta.contexts;
    let len = contexts.len();
    let lens = [
        contexts.parent.len(),
        contexts.depth.len(),
        contexts.relation.len(),
        contexts.lexical_type.len(),
        contexts.propagation.len(),
        contexts.function.len(),
        contexts.file.len(),
        contexts.line.len(),
        contexts.module.len(),
        contexts.offset.len(),
    ];
    assert_eq!(lens, [len; 10]);
    let mut path: Vec<usize> = Vec::new();
    for at in 0..len {
        path.truncate(contexts.depth[at] as usize);
        let above = path.last().map_or(NONE, |&parent| u32::try_from(parent).unwrap());
        assert_eq!(contexts.parent[at], above, "the tree is in depth-first order");
        assert_eq!(path.len(), contexts.depth[at] as usize);
        path.push(at);
        for (row, table) in [
            (contexts.function[at], meta.functions.len()),
            (contexts.file[at], meta.files.len()),
            (contexts.module[at], meta.modules.len()),
        ] {
            assert!(row == NONE || (row as usize) < table);
        }
    }
    let mut ids = contexts.id.clone();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), len, "ids are distinct");
    assert_ne!(ids.first(), Some(&0), "id 0 is not in the tree");
    let entries: Vec<u32> = contexts.entries.iter().map(|entry| entry.position).collect();
    let marked = (0..).zip(&contexts.lexical_type).filter(|(_, kind)| **kind == Contexts::ENTRY);
    assert_eq!(entries, marked.map(|(at, _)| at).collect::<Vec<u32>>());
    for function in &meta.functions {
        assert!(function.module == NONE || (function.module as usize) < meta.modules.len());
        assert!(function.file == NONE || (function.file as usize) < meta.files.len());
    }
    for metric in &meta.metrics {
        assert!(metric.instances.iter().all(|i| i.scope < meta.scopes.len()));
        assert!(metric.summaries.iter().all(|s| s.scope < meta.scopes.len()));
    }
}
