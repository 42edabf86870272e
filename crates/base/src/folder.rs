//! A folder of named byte sources: a directory on disk, a folder dropped on a browser page, or a
//! test's map in memory.

use std::collections::BTreeMap;

use std::sync::Arc;

use crate::{ByteSource as _, MemorySource, ReadError, Source, StableHash};

/// One file of a [`Folder`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderEntry {
    /// Path relative to the folder, with `/` between its parts.
    pub path: String,
    /// Size in bytes.
    pub len: u64,
}

/// A folder inside another one that a survey did not list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotListed {
    /// Path relative to the surveyed folder, with `/` between its parts.
    pub path: String,
    /// Why, as the end of a sentence that begins with the path.
    pub why: String,
}

/// The files inside and below a folder, and what they lack.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Survey {
    /// The files, sorted by path.
    pub files: Vec<FolderEntry>,
    /// Folders whose files are not among them, sorted by path.
    pub not_listed: Vec<NotListed>,
}

/// Whether somebody still writes the files of a folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Writing {
    /// It is not known.
    #[default]
    Unknown,
    /// Somebody does: there will be more.
    Growing,
    /// Whoever did has ended before they were complete.
    Abandoned,
    /// They are complete.
    Complete,
}

/// Read access to the files below one place.
pub trait Folder: Send + Sync {
    /// Display name of the folder, for messages.
    fn name(&self) -> &str;

    /// The files directly inside (not below), sorted by path.
    ///
    /// # Errors
    /// When the folder cannot be listed.
    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError>;

    /// The files inside and below, and the folders of which it cannot tell the files. A folder that
    /// only knows what it was told (a web server) lists nothing below.
    ///
    /// # Errors
    /// When the folder cannot be listed.
    fn survey(&self) -> Result<Survey, ReadError> {
        Ok(Survey { files: self.entries()?, not_listed: Vec::new() })
    }

    /// The files of [`Folder::survey`].
    ///
    /// # Errors
    /// When the folder cannot be listed.
    fn walk(&self) -> Result<Vec<FolderEntry>, ReadError> {
        Ok(self.survey()?.files)
    }

    /// A number that changes when a file is written, replaced, added or removed: of names and sizes,
    /// and of what else the folder knows about its files, never of their content.
    ///
    /// # Errors
    /// When the folder cannot be listed.
    fn fingerprint(&self) -> Result<u64, ReadError> {
        let files = self.walk()?;
        let hash = files.iter().fold(StableHash::default(), |hash, file| {
            hash.with(file.path.as_bytes()).with(&[0]).with(&file.len.to_le_bytes())
        });
        Ok(hash.bits())
    }

    /// Whether somebody still writes its files.
    fn writing(&self) -> Writing {
        Writing::Unknown
    }

    /// The folder as it is now, where another program replaces all of its files at once: what is read
    /// of one state must not be mixed with another. `None` where that does not happen.
    fn frozen(&self) -> Option<Arc<dyn Folder>> {
        None
    }

    /// Opens the file at `path` (relative, `/` between parts); `None` when there is no such file.
    ///
    /// Paths that leave the folder (`..`, absolute ones) are treated as missing: they come from
    /// inside foreign files.
    ///
    /// # Errors
    /// When the file is there but cannot be opened.
    fn open(&self, path: &str) -> Result<Option<Source>, ReadError>;
}

/// A file that somebody listed, to be opened when it is read.
pub trait ListedFile: Send + Sync {
    /// Its size in bytes.
    fn len_bytes(&self) -> u64;

    /// Its bytes.
    fn open(&self) -> Source;
}

impl ListedFile for MemorySource {
    fn len_bytes(&self) -> u64 {
        self.len()
    }

    fn open(&self) -> Source {
        Arc::new(self.clone())
    }
}

impl ListedFile for Source {
    fn len_bytes(&self) -> u64 {
        self.len()
    }

    fn open(&self) -> Source {
        Arc::clone(self)
    }
}

/// A folder of files that are known by name.
#[derive(Debug, Clone, Default)]
pub struct ListedFolder<F> {
    name: String,
    files: BTreeMap<String, F>,
}

/// A folder in memory, for tests, embedded samples and unpacked archives.
pub type MemoryFolder = ListedFolder<MemorySource>;

impl<F> ListedFolder<F> {
    /// A folder with the given files by relative path.
    pub fn new(
        name: impl Into<String>,
        files: impl IntoIterator<Item = (String, impl Into<F>)>,
    ) -> Self {
        let files = files.into_iter().map(|(path, file)| (path, file.into()));
        Self { name: name.into(), files: files.collect() }
    }
}

impl<F: ListedFile> ListedFolder<F> {
    fn list(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<FolderEntry> {
        let wanted = self.files.iter().filter(|(path, _)| is_wanted(path));
        let entry =
            |(path, file): (&String, &F)| FolderEntry { path: path.clone(), len: file.len_bytes() };
        wanted.map(entry).collect()
    }
}

impl<F: ListedFile> Folder for ListedFolder<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError> {
        Ok(self.list(|path| !path.contains('/')))
    }

    fn survey(&self) -> Result<Survey, ReadError> {
        Ok(Survey { files: self.list(|_| true), not_listed: Vec::new() })
    }

    fn open(&self, path: &str) -> Result<Option<Source>, ReadError> {
        Ok(self.files.get(path).map(ListedFile::open))
    }
}

/// A folder inside another one.
pub struct SubFolder {
    outer: Arc<dyn Folder>,
    /// Path inside the outer folder, with a `/` at its end.
    prefix: String,
    name: String,
}

impl SubFolder {
    /// The folder at `path` (relative, `/` between parts) inside `outer`; the outer folder itself
    /// for an empty path.
    #[must_use]
    pub fn of(outer: &Arc<dyn Folder>, path: &str) -> Arc<dyn Folder> {
        if path.is_empty() {
            return Arc::clone(outer);
        }
        Arc::new(Self {
            outer: Arc::clone(outer),
            prefix: format!("{path}/"),
            name: format!("{}/{path}", outer.name().trim_end_matches('/')),
        })
    }

    fn inside<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.strip_prefix(&self.prefix)
    }
}

impl Folder for SubFolder {
    fn name(&self) -> &str {
        &self.name
    }

    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError> {
        let mut files = self.survey()?.files;
        files.retain(|file| !file.path.contains('/'));
        Ok(files)
    }

    fn survey(&self) -> Result<Survey, ReadError> {
        let Survey { files, not_listed } = self.outer.survey()?;
        let file = |file: FolderEntry| {
            Some(FolderEntry { path: self.inside(&file.path)?.to_owned(), len: file.len })
        };
        let folder = |folder: NotListed| {
            Some(NotListed { path: self.inside(&folder.path)?.to_owned(), why: folder.why })
        };
        Ok(Survey {
            files: files.into_iter().filter_map(file).collect(),
            not_listed: not_listed.into_iter().filter_map(folder).collect(),
        })
    }

    fn open(&self, path: &str) -> Result<Option<Source>, ReadError> {
        let leaves = |part: &str| part.is_empty() || part == "." || part == "..";
        if path.split('/').any(leaves) {
            return Ok(None);
        }
        self.outer.open(&format!("{}{path}", self.prefix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(entries: &[FolderEntry]) -> Vec<&str> {
        entries.iter().map(|entry| entry.path.as_str()).collect()
    }

    #[test]
    fn a_fingerprint_is_that_of_names_and_sizes() {
        let of = |files: &[(&str, &str)]| {
            let files =
                files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
            MemoryFolder::new("any", files).fingerprint().unwrap()
        };
        let whole = of(&[("a", "one"), ("b", "two")]);
        assert_eq!(whole, of(&[("b", "two"), ("a", "one")]));
        for other in
            [&[("a", "one")][..], &[("a", "one"), ("b", "more")], &[("a", "one"), ("c", "two")]]
        {
            assert_ne!(whole, of(other), "{other:?}");
        }
    }

    #[test]
    fn a_folder_inside_another_shows_its_own_files_only() {
        let files = ["a/meta.db", "a/src/x.c", "ab/meta.db", "top"];
        let files = files.map(|path| (path.to_owned(), path.as_bytes().to_vec()));
        let outer: Arc<dyn Folder> = Arc::new(MemoryFolder::new("runs", files));
        let inner = SubFolder::of(&outer, "a");
        assert_eq!(inner.name(), "runs/a");
        assert_eq!(paths(&inner.entries().unwrap()), ["meta.db"]);
        assert_eq!(paths(&inner.walk().unwrap()), ["meta.db", "src/x.c"]);
        let file = inner.open("src/x.c").unwrap().unwrap();
        assert_eq!(file.as_slice(), Some("a/src/x.c".as_bytes()));
        assert!(inner.open("../top").unwrap().is_none());
        assert_eq!(paths(&SubFolder::of(&outer, "").entries().unwrap()), ["top"]);
    }
}
