//! Folders that a disk does not have: a file alone, and several paths together.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parallax_base::{Folder, FolderEntry, NotListed, ReadError, Source, StableHash, Survey};
use parallax_native::{MappedFile, StreamedFile, file_stamp};

use crate::Reading;

/// A file as the only one of a folder: its neighbours were not offered.
pub(crate) struct FileAlone {
    path: PathBuf,
    name: String,
    file_name: String,
    reading: Reading,
}

impl FileAlone {
    pub(crate) fn new(path: &Path, file_name: String, reading: Reading) -> Self {
        Self { path: path.to_owned(), name: path.display().to_string(), file_name, reading }
    }
}

impl Folder for FileAlone {
    fn name(&self) -> &str {
        &self.name
    }

    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError> {
        let metadata = std::fs::metadata(&self.path).map_err(|error| failed(&error))?;
        Ok(vec![FolderEntry { path: self.file_name.clone(), len: metadata.len() }])
    }

    fn fingerprint(&self) -> Result<u64, ReadError> {
        file_stamp(&self.path).map_err(|error| failed(&error))
    }

    fn open(&self, path: &str) -> Result<Option<Source>, ReadError> {
        if path != self.file_name {
            return Ok(None);
        }
        let opened: std::io::Result<Source> = match self.reading {
            Reading::Streamed => StreamedFile::open(&self.path).map(|file| Arc::new(file) as _),
            Reading::Mapped => MappedFile::open(&self.path).map(|file| Arc::new(file) as _),
        };
        opened.map(Some).map_err(|error| failed(&error))
    }
}

fn failed(error: &std::io::Error) -> ReadError {
    ReadError::Storage { offset: 0, cause: error.to_string() }
}

/// Several folders as one, each below a name of its own.
pub(crate) struct MergedFolder {
    name: String,
    /// Paths of the folders inside, each with a `/` at its end; empty for files alone.
    parts: Vec<(String, Arc<dyn Folder>)>,
}

impl MergedFolder {
    pub(crate) fn new(name: String, parts: Vec<(String, Arc<dyn Folder>)>) -> Self {
        Self { name, parts }
    }
}

/// Says which of the folders cannot be listed.
fn of_part(error: ReadError, name: &str) -> ReadError {
    match error {
        ReadError::Storage { offset, cause } => {
            ReadError::Storage { offset, cause: format!("{name}: {cause}") }
        }
        other => other,
    }
}

impl Folder for MergedFolder {
    fn name(&self) -> &str {
        &self.name
    }

    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError> {
        let all = self.survey()?.files;
        Ok(all.into_iter().filter(|entry| !entry.path.contains('/')).collect())
    }

    fn survey(&self) -> Result<Survey, ReadError> {
        let mut out = Survey::default();
        for (prefix, folder) in &self.parts {
            // Without its files the others would be another measurement, with other answers.
            let Survey { files, not_listed } =
                folder.survey().map_err(|error| of_part(error, folder.name()))?;
            let path = |path: &str| format!("{prefix}{path}");
            let file = |file: FolderEntry| FolderEntry { path: path(&file.path), len: file.len };
            let folder =
                |folder: NotListed| NotListed { path: path(&folder.path), why: folder.why };
            out.files.extend(files.into_iter().map(file));
            out.not_listed.extend(not_listed.into_iter().map(folder));
        }
        out.files.sort_by(|a, b| a.path.cmp(&b.path));
        out.not_listed.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(out)
    }

    fn fingerprint(&self) -> Result<u64, ReadError> {
        let hash = self.parts.iter().try_fold(StableHash::default(), |hash, (_, folder)| {
            let of_part = folder.fingerprint().map_err(|error| of_part(error, folder.name()))?;
            Ok::<_, ReadError>(hash.with(&of_part.to_le_bytes()))
        })?;
        Ok(hash.bits())
    }

    fn open(&self, path: &str) -> Result<Option<Source>, ReadError> {
        for (prefix, folder) in &self.parts {
            if let Some(inner) = path.strip_prefix(prefix.as_str())
                && let Some(source) = folder.open(inner)?
            {
                return Ok(Some(source));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use parallax_base::MemoryFolder;
    use parallax_native::DiskFolder;

    use super::*;

    #[test]
    fn folders_together_keep_their_files_apart() {
        let part = |bytes: &str| -> Arc<dyn Folder> {
            let files = [("meta.db".to_owned(), bytes.as_bytes().to_vec())];
            Arc::new(MemoryFolder::new("part", files))
        };
        let parts = vec![("p1/".to_owned(), part("one")), ("p2/".to_owned(), part("two"))];
        let both = MergedFolder::new("p1 and 1 more".to_owned(), parts);
        let paths: Vec<String> = both.walk().unwrap().into_iter().map(|e| e.path).collect();
        assert_eq!(paths, ["p1/meta.db", "p2/meta.db"]);
        assert!(both.entries().unwrap().is_empty());
        let second = both.open("p2/meta.db").unwrap().unwrap();
        assert_eq!(second.as_slice(), Some("two".as_bytes()));
        assert!(both.open("meta.db").unwrap().is_none());
        assert!(both.open("p3/meta.db").unwrap().is_none());
    }

    #[test]
    fn a_file_that_is_written_or_replaced_has_another_fingerprint() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sweep.json");
        std::fs::write(&path, "one").unwrap();
        let alone: Arc<dyn Folder> =
            Arc::new(FileAlone::new(&path, "sweep.json".to_owned(), Reading::Streamed));
        let folder: Arc<dyn Folder> = Arc::new(DiskFolder::new(dir.path()));
        let parts =
            vec![("a".to_owned(), Arc::clone(&alone)), ("b".to_owned(), Arc::clone(&folder))];
        let both: Arc<dyn Folder> = Arc::new(MergedFolder::new("both".to_owned(), parts));
        for each in [&alone, &folder, &both] {
            let first = each.fingerprint().unwrap();
            assert_eq!(first, each.fingerprint().unwrap());
            std::fs::write(&path, "three").unwrap();
            let written = each.fingerprint().unwrap();
            assert_ne!(first, written);
            // As sweeps are written: a new file takes the place of the old one. Its size is the same.
            let new = dir.path().join("new");
            std::fs::write(&new, "seven").unwrap();
            std::fs::rename(&new, &path).unwrap();
            assert_ne!(written, each.fingerprint().unwrap());
            std::fs::write(&path, "one").unwrap();
        }
        std::fs::remove_file(&path).unwrap();
        assert!(alone.fingerprint().unwrap_err().to_string().contains("No such file"));
    }

    #[test]
    fn a_folder_that_cannot_be_listed_is_an_error_that_names_it() {
        let dir = tempfile::tempdir().unwrap();
        for run in ["p1", "p2"] {
            std::fs::create_dir(dir.path().join(run)).unwrap();
            std::fs::write(dir.path().join(run).join("meta.db"), run).unwrap();
        }
        let part = |run: &str, most: usize| -> (String, Arc<dyn Folder>) {
            let folder = DiskFolder::new(&dir.path().join(run)).with_max_files(most);
            (format!("{run}/"), Arc::new(folder))
        };
        let both = MergedFolder::new("runs".into(), vec![part("p1", 9), part("p2", 9)]);
        assert_eq!(both.walk().unwrap().len(), 2);
        let few = MergedFolder::new("runs".into(), vec![part("p1", 9), part("p2", 0)]);
        let error = few.walk().unwrap_err().to_string();
        assert!(error.contains("more than 0 files lie in and below") && error.contains("p2"));
        std::fs::remove_dir_all(dir.path().join("p2")).unwrap();
        let error = both.walk().unwrap_err().to_string();
        assert!(error.contains("p2: No such file"), "{error}");
        assert!(both.entries().is_err());
    }
}
