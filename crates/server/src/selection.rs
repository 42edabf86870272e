//! [`Selection`]: the files of a place that a report needs.

use std::collections::BTreeMap;

use parallax_base::{FolderEntry, Source};
use parallax_service::discover;
use parallax_service::scaling::{ScalingContent, ScalingSource};

use crate::{Place, ServerError};

/// The file of a database that has its traces.
const TRACES: &str = "trace.db";

/// The files of a place that can be opened, and what belongs to them.
pub struct Selection {
    name: String,
    files: BTreeMap<String, Source>,
}

impl Selection {
    /// Chooses databases, with all their files, and files of measurements; other files stay out, and
    /// so do traces unless `has_traces`.
    ///
    /// # Errors
    /// When the place cannot be looked through.
    pub fn of(place: &Place, has_traces: bool) -> Result<Self, ServerError> {
        let failed = |file: &str| {
            let file = file.to_owned();
            move |cause| ServerError::Read { file, cause }
        };
        let found = discover(&place.folder).map_err(failed(&place.name))?;
        let all = place.folder.walk().map_err(failed(&place.name))?;
        let mut files = BTreeMap::new();
        for ScalingSource { name, content } in found.databases.into_iter().chain(found.measurements)
        {
            match content {
                ScalingContent::File(source) => {
                    files.insert(name, source);
                }
                ScalingContent::Folder(folder) => {
                    let prefix = prefix(&name, &all);
                    for FolderEntry { path, .. } in folder.walk().map_err(failed(&name))? {
                        if !has_traces && path.rsplit('/').next() == Some(TRACES) {
                            continue;
                        }
                        let opened = folder.open(&path).map_err(failed(&path))?;
                        files.extend(opened.map(|source| (format!("{prefix}{path}"), source)));
                    }
                }
            }
        }
        Ok(Self { name: place.name.clone(), files })
    }

    /// What a person calls it.
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
        let traces = self.files.iter().filter(|(path, _)| path.rsplit('/').next() == Some(TRACES));
        traces.map(|(_, source)| source.len()).sum()
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

/// Where a database lies in its place: nowhere below it when the place is the database, which then
/// has the name of the place.
fn prefix(name: &str, all: &[FolderEntry]) -> String {
    let prefix = format!("{name}/");
    if all.iter().any(|entry| entry.path.starts_with(&prefix)) { prefix } else { String::new() }
}
