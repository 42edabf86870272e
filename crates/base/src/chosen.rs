//! [`ChosenFiles`]: some files of a folder.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::{Folder, FolderEntry, ReadError, Source, Survey};

/// Some files of a folder; the others are not there for whoever has only this.
pub struct ChosenFiles {
    inner: Arc<dyn Folder>,
    name: String,
    files: BTreeSet<String>,
}

impl ChosenFiles {
    /// The files at `files` of `inner`, as a folder of this name.
    pub fn new(
        inner: &Arc<dyn Folder>,
        name: impl Into<String>,
        files: impl IntoIterator<Item = String>,
    ) -> Self {
        Self { inner: Arc::clone(inner), name: name.into(), files: files.into_iter().collect() }
    }

    fn chosen(&self, mut entries: Vec<FolderEntry>) -> Vec<FolderEntry> {
        entries.retain(|entry| self.files.contains(&entry.path));
        entries
    }
}

impl Folder for ChosenFiles {
    fn name(&self) -> &str {
        &self.name
    }

    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError> {
        Ok(self.chosen(self.inner.entries()?))
    }

    fn survey(&self) -> Result<Survey, ReadError> {
        // What else the folder has is not this one's.
        let Survey { files, .. } = self.inner.survey()?;
        Ok(Survey { files: self.chosen(files), not_listed: Vec::new() })
    }

    fn open(&self, path: &str) -> Result<Option<Source>, ReadError> {
        if self.files.contains(path) { self.inner.open(path) } else { Ok(None) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryFolder;

    #[test]
    fn the_other_files_are_not_there() {
        let files = ["a", "b", "c/d"].map(|path| (path.to_owned(), path.as_bytes().to_vec()));
        let all: Arc<dyn Folder> = Arc::new(MemoryFolder::new("all", files));
        let some = ChosenFiles::new(&all, "some", ["a".to_owned(), "c/d".to_owned()]);
        let paths = |entries: Vec<FolderEntry>| -> Vec<String> {
            entries.into_iter().map(|entry| entry.path).collect()
        };
        assert_eq!(paths(some.entries().unwrap()), ["a"]);
        assert_eq!(paths(some.walk().unwrap()), ["a", "c/d"]);
        assert!(some.open("c/d").unwrap().is_some() && some.open("b").unwrap().is_none());
    }
}
