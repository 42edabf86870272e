//! A folder of named byte sources: a directory on disk, a folder dropped on a browser page, or a
//! test's map in memory.

use std::collections::BTreeMap;

use crate::{MemorySource, ReadError, Source};

/// One file of a [`Folder`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderEntry {
    /// Path relative to the folder, with `/` between its parts.
    pub path: String,
    /// Size in bytes.
    pub len: u64,
}

/// Read access to the files below one place.
pub trait Folder: Send + Sync {
    /// What a person calls the folder, for messages.
    fn name(&self) -> &str;

    /// The files directly inside (not below), sorted by path.
    ///
    /// # Errors
    /// When the folder cannot be listed.
    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError>;

    /// Opens the file at `path` (relative, `/` between parts); `None` when there is no such file.
    ///
    /// Paths that leave the folder (`..`, absolute ones) are treated as missing: they come from
    /// inside foreign files.
    ///
    /// # Errors
    /// When the file is there but cannot be opened.
    fn open(&self, path: &str) -> Result<Option<Source>, ReadError>;
}

/// A folder in memory, for tests, embedded samples and unpacked archives.
#[derive(Debug, Clone, Default)]
pub struct MemoryFolder {
    name: String,
    files: BTreeMap<String, MemorySource>,
}

impl MemoryFolder {
    /// A folder with the given files by relative path.
    pub fn new(
        name: impl Into<String>,
        files: impl IntoIterator<Item = (String, Vec<u8>)>,
    ) -> Self {
        let files = files.into_iter().map(|(path, bytes)| (path, MemorySource::new(bytes)));
        Self { name: name.into(), files: files.collect() }
    }
}

impl Folder for MemoryFolder {
    fn name(&self) -> &str {
        &self.name
    }

    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError> {
        use crate::ByteSource as _;
        let direct = self.files.iter().filter(|(path, _)| !path.contains('/'));
        Ok(direct.map(|(path, f)| FolderEntry { path: path.clone(), len: f.len() }).collect())
    }

    fn open(&self, path: &str) -> Result<Option<Source>, ReadError> {
        Ok(self.files.get(path).map(|file| std::sync::Arc::new(file.clone()) as Source))
    }
}
