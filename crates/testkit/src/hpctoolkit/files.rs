//! The files of a database, made in memory.

use std::collections::BTreeMap;
use std::io::{Cursor, Result};
use std::path::Path;

use super::contexts::{self, Census};
use super::database::{Database, Numbering, Sample, u32_of};
use super::profiles::{ProfileDb, Value};
use super::scopes::Fold;
use super::traces::TraceDb;
use super::{meta, taxonomy};

/// The two layouts that call themselves version 4.0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// The final layout, since 2022-09.
    #[default]
    Final,
    /// The draft of mid-2022: other metric and context records, profile stride 40.
    Draft,
}

/// How a database is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteOptions {
    /// Final or draft layout.
    pub layout: Layout,
    /// Whether instructions that are lexically part of their parent are left out of meta.db, as
    /// writers before 2025 do; their ids and values stay in the other files.
    pub elide_instructions: bool,
    /// Whether there is a trace.db.
    pub traces: bool,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self { layout: Layout::Final, elide_instructions: false, traces: true }
    }
}

/// The bytes of the files of a database, by path relative to its folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// Bytes by path, with `/` between folders.
    pub by_path: BTreeMap<String, Vec<u8>>,
}

impl Files {
    /// The bytes of a file, or an empty slice when there is no such file.
    #[must_use]
    pub fn get(&self, path: &str) -> &[u8] {
        self.by_path.get(path).map_or(&[], Vec::as_slice)
    }

    /// Writes all files below a folder, which is created when it is not there.
    ///
    /// # Errors
    /// What the file system says.
    pub fn write_to(&self, dir: &Path) -> Result<()> {
        for (path, bytes) in &self.by_path {
            let path = dir.join(path);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(path, bytes)?;
        }
        Ok(())
    }
}

impl Database {
    /// The bytes of all files of the database.
    ///
    /// # Panics
    /// When the description contradicts itself: an id that is used twice, a position outside of its
    /// vector, a point of an unknown context.
    #[must_use]
    pub fn to_files(&self, options: &WriteOptions) -> Files {
        let made = self.try_to_files(options);
        assert!(made.is_ok(), "writing to memory does not fail");
        made.unwrap_or_default()
    }

    fn try_to_files(&self, options: &WriteOptions) -> Result<Files> {
        let numbering = Numbering::new(&self.metrics, self.scopes.len());
        let rows = self.rows(&numbering);
        let mut census =
            Census::new(self.num_context_ids(), &self.metrics, self.scopes.len(), &numbering);
        let tuples = self.profiles.iter().map(|profile| profile.tuple.as_slice());
        let mut profiles = ProfileDb::begin(Cursor::new(Vec::new()), options.layout, tuples)?;
        for (position, values) in rows.iter().enumerate() {
            profiles.push(position + 1, values)?;
            census.add(values);
        }
        let summary = census.summary(&self.metrics, self.scopes.len(), &numbering);
        let profile_db = profiles.finish(&summary)?.into_inner();
        let cct_db = contexts::write(Vec::new(), &census, u64::MAX, |_, sink| {
            for (position, values) in rows.iter().enumerate() {
                sink(u32_of(position + 1), values);
            }
            Ok(())
        })?;
        let yaml = taxonomy::default_yaml(self).into_bytes();
        let mut by_path = BTreeMap::from([
            ("meta.db".to_owned(), meta::encode(self, options)),
            ("profile.db".to_owned(), profile_db),
            ("cct.db".to_owned(), cct_db),
            ("metrics/default.yaml".to_owned(), yaml),
        ]);
        if options.traces {
            by_path.insert("trace.db".to_owned(), self.trace_db(options)?);
        }
        Ok(Files { by_path })
    }

    /// The values of every profile, sorted by context and metric.
    fn rows(&self, numbering: &Numbering) -> Vec<Vec<Value>> {
        let tree = self.tree();
        let positions = self.positions();
        let mut fold = Fold::new(&tree, self.metrics.len());
        let of_profile = |profile| {
            let mut rows = Vec::new();
            for ((context, metric), values) in self.fold_into(&mut fold, &tree, &positions, profile)
            {
                for (position, &scope) in self.scopes.iter().enumerate() {
                    let value = values.get(scope);
                    if value != 0.0 {
                        let metric = numbering.value_id(metric, position);
                        rows.push(Value { context, metric, value });
                    }
                }
            }
            rows.sort_unstable_by_key(|value| (value.context, value.metric));
            rows
        };
        self.profiles.iter().map(of_profile).collect()
    }

    fn trace_db(&self, options: &WriteOptions) -> Result<Vec<u8>> {
        let positions = self.positions();
        let mut traces = TraceDb::begin(Cursor::new(Vec::new()), self.profiles.len())?;
        for (position, profile) in self.profiles.iter().enumerate() {
            let mut samples: Vec<Sample> = Vec::with_capacity(profile.trace.len());
            for sample in &profile.trace {
                let node = positions.get(&sample.context).copied();
                assert!(node.is_some(), "a sample names context {}", sample.context);
                let context = match node {
                    Some(node) if node > 0 && options.elide_instructions => {
                        self.kept_id(node as usize - 1)
                    }
                    _ => sample.context,
                };
                samples.push(Sample { context, ..*sample });
            }
            traces.push(position + 1, &samples)?;
        }
        Ok(traces.finish()?.into_inner())
    }
}
