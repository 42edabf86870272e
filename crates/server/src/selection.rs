//! [`Selection`]: the files of a place that a report needs.

use std::collections::{BTreeMap, BTreeSet};

use parallax_base::Source;
use parallax_service::{Kind, discover};

use crate::{DataRoot, ServerError};

/// The files of a place that can be opened, and what belongs to them.
pub struct Selection {
    name: String,
    files: BTreeMap<String, Source>,
    /// Those of them that have traces only.
    traces: BTreeSet<String>,
}

impl Selection {
    /// Chooses what can be opened, with all files of each; other files stay out, and so do traces
    /// unless `has_traces`.
    ///
    /// # Errors
    /// When the place cannot be looked through.
    pub fn of(place: &DataRoot, has_traces: bool) -> Result<Self, ServerError> {
        let failed = |file: &str| {
            let file = file.to_owned();
            move |cause| ServerError::Read { file, cause }
        };
        let found = discover(&place.folder).map_err(failed(&place.name))?;
        let mut files = BTreeMap::new();
        let mut traces = BTreeSet::new();
        for data in found.data {
            for (path, source) in data.files().map_err(failed(&data.name))? {
                let name = path.rsplit('/').next().unwrap_or(&path);
                if data.format.kind == Kind::Trace || data.format.trace_files.contains(&name) {
                    if !has_traces {
                        continue;
                    }
                    traces.insert(path.clone());
                }
                files.insert(path, source);
            }
        }
        Ok(Self { name: place.name.clone(), files, traces })
    }

    /// Display name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether there is nothing that could be opened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Length of all files together, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.values().map(|source| source.len()).sum()
    }

    /// Length of the traces in it, in bytes.
    #[must_use]
    pub fn trace_bytes(&self) -> u64 {
        let traces = self.traces.iter().filter_map(|path| self.files.get(path));
        traces.map(|source| source.len()).sum()
    }

    /// The longest files with their lengths in bytes, the longest first, `at_most` of them.
    #[must_use]
    pub fn longest(&self, at_most: usize) -> Vec<(&str, u64)> {
        let mut all: Vec<(&str, u64)> =
            self.files.iter().map(|(path, source)| (path.as_str(), source.len())).collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        all.truncate(at_most);
        all
    }

    /// Paths and contents.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &Source)> {
        self.files.iter().map(|(path, source)| (path.as_str(), source))
    }
}
