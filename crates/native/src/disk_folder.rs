//! [`DiskFolder`]: a directory as a [`Folder`].

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use parallax_base::{Folder, FolderEntry, NotListed, ReadError, Source, StableHash, Survey};

use crate::{MappedFile, StreamedFile};

/// Folders inside folders that are looked into; also what stops at links that lead in a circle.
const MAX_DEPTH: u32 = 12;

/// Files that a walk lists at most, unless told otherwise. Profiles of TAU are one file for each of
/// 100,000 ranks and each of several metrics.
const MAX_FILES: usize = 1 << 20;

/// A directory. Files are mapped when they are opened, or read piece by piece.
#[derive(Debug, Clone)]
pub struct DiskFolder {
    path: PathBuf,
    name: String,
    is_streamed: bool,
    max_files: usize,
}

impl DiskFolder {
    /// The directory at `path`.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        let name = path.display().to_string();
        Self { path: path.to_owned(), name, is_streamed: false, max_files: MAX_FILES }
    }

    /// The directory at `path`, whose files are read piece by piece ([`StreamedFile`]): because they
    /// are read once from front to back, or because others may change them meanwhile.
    #[must_use]
    pub fn streamed(path: &Path) -> Self {
        Self { is_streamed: true, ..Self::new(path) }
    }

    /// The same folder, whose walks end with an error beyond so many files.
    #[must_use]
    pub fn with_max_files(self, max_files: usize) -> Self {
        Self { max_files, ..self }
    }

    fn open_file(&self, path: &Path) -> io::Result<Source> {
        Ok(if self.is_streamed {
            Arc::new(StreamedFile::open(path)?)
        } else {
            Arc::new(MappedFile::open(path)?)
        })
    }
}

/// The directory that the user means by `path`: the path itself, or the folder of a file.
///
/// # Errors
/// When there is nothing at `path` or it cannot be looked at.
pub fn locate(path: &Path) -> io::Result<DiskFolder> {
    let metadata = std::fs::metadata(path)?;
    if metadata.is_dir() {
        return Ok(DiskFolder::new(path));
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    Ok(DiskFolder::new(parent.unwrap_or_else(|| Path::new("."))))
}

/// A number that changes when the file at `path` is written or replaced: of its size, of when it was
/// written last, and of which file it is.
///
/// # Errors
/// When it cannot be looked at.
pub fn file_stamp(path: &Path) -> io::Result<u64> {
    let metadata = std::fs::metadata(path)?;
    let written = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&metadata);
    #[cfg(not(unix))]
    let number = 0_u64;
    let hash = StableHash::of(&metadata.len().to_le_bytes())
        .with(&written.unwrap_or_default().as_nanos().to_le_bytes())
        .with(&number.to_le_bytes());
    Ok(hash.bits())
}

fn failed(error: &io::Error) -> ReadError {
    ReadError::Storage { offset: 0, cause: error.to_string() }
}

impl Folder for DiskFolder {
    fn name(&self) -> &str {
        &self.name
    }

    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError> {
        let mut out = Vec::new();
        for entry in std::fs::read_dir(&self.path).map_err(|e| failed(&e))? {
            let entry = entry.map_err(|e| failed(&e))?;
            // Follows links: databases are often assembled from them.
            let Ok(metadata) = std::fs::metadata(entry.path()) else { continue };
            if metadata.is_file()
                && let Some(path) = entry.file_name().to_str()
            {
                out.push(FolderEntry { path: path.to_owned(), len: metadata.len() });
            }
        }
        out.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(out)
    }

    fn survey(&self) -> Result<Survey, ReadError> {
        let mut out = Survey::default();
        // Folders still to look into: path below this one, and how deep it lies.
        let mut folders = vec![(String::new(), 0)];
        while let Some((prefix, depth)) = folders.pop() {
            let listed = std::fs::read_dir(self.path.join(&prefix));
            let entries = match listed {
                Ok(entries) => entries,
                Err(error) if prefix.is_empty() => return Err(failed(&error)),
                // A folder inside that may not be read hides its own files only.
                Err(error) => {
                    let path = prefix.trim_end_matches('/').to_owned();
                    out.not_listed
                        .push(NotListed { path, why: format!("cannot be read: {error}") });
                    continue;
                }
            };
            for entry in entries.filter_map(Result::ok) {
                let Ok(metadata) = std::fs::metadata(entry.path()) else { continue };
                let Some(name) = entry.file_name().to_str().map(|name| format!("{prefix}{name}"))
                else {
                    continue;
                };
                if metadata.is_file() {
                    if out.files.len() >= self.max_files {
                        let (folder, most) = (self.name.clone(), self.max_files);
                        return Err(ReadError::TooManyFiles { folder, most });
                    }
                    out.files.push(FolderEntry { path: name, len: metadata.len() });
                } else if metadata.is_dir() && depth < MAX_DEPTH {
                    folders.push((format!("{name}/"), depth + 1));
                } else if metadata.is_dir() {
                    let why = format!("lies deeper than {MAX_DEPTH} folders");
                    out.not_listed.push(NotListed { path: name, why });
                }
            }
        }
        out.files.sort_by(|a, b| a.path.cmp(&b.path));
        out.not_listed.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(out)
    }

    fn fingerprint(&self) -> Result<u64, ReadError> {
        let files = self.walk()?;
        Ok(files
            .iter()
            .fold(StableHash::default(), |hash, file| {
                // One that vanished meanwhile is missed next time.
                let stamp = file_stamp(&self.path.join(&file.path)).unwrap_or_default();
                hash.with(file.path.as_bytes()).with(&stamp.to_le_bytes())
            })
            .bits())
    }

    fn open(&self, path: &str) -> Result<Option<Source>, ReadError> {
        let relative = Path::new(path);
        if !relative.components().all(|part| matches!(part, Component::Normal(_))) {
            return Ok(None);
        }
        match self.open_file(&self.path.join(relative)) {
            Ok(file) => Ok(Some(file)),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound
                        | io::ErrorKind::NotADirectory
                        | io::ErrorKind::InvalidInput
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(failed(&error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_leave_the_folder_are_missing() {
        let folder = DiskFolder::new(Path::new(env!("CARGO_MANIFEST_DIR")));
        assert!(folder.open("Cargo.toml").unwrap().is_some());
        assert!(folder.open("src/lib.rs").unwrap().is_some());
        for outside in ["../cli/Cargo.toml", "/etc/passwd", "src/../Cargo.toml", "src", "nothing"] {
            assert!(folder.open(outside).unwrap().is_none(), "{outside}");
        }
    }

    #[test]
    fn folders_that_are_not_listed_are_named_with_the_reason() {
        let dir = tempfile::tempdir().unwrap();
        let deepest = |depth: u32| vec!["d"; depth as usize].join("/");
        std::fs::create_dir_all(dir.path().join(deepest(MAX_DEPTH + 2))).unwrap();
        std::fs::write(dir.path().join(deepest(MAX_DEPTH)).join("in"), "x").unwrap();
        std::fs::write(dir.path().join(deepest(MAX_DEPTH + 1)).join("out"), "x").unwrap();
        let found = DiskFolder::new(dir.path()).survey().unwrap();
        let paths: Vec<&str> = found.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, [format!("{}/in", deepest(MAX_DEPTH))]);
        let why = "lies deeper than 12 folders".to_owned();
        assert_eq!(found.not_listed, [NotListed { path: deepest(MAX_DEPTH + 1), why }]);
    }

    #[test]
    #[cfg(unix)]
    fn a_folder_that_nobody_may_read_hides_its_own_files_only_and_says_so() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        for name in ["a", "b"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
            std::fs::write(dir.path().join(name).join("file"), "x").unwrap();
        }
        let closed = dir.path().join("a");
        std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o000)).unwrap();
        // The super-user may read everything.
        let is_closed = std::fs::read_dir(&closed).is_err();
        let found = DiskFolder::new(dir.path()).survey();
        std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o700)).unwrap();
        let found = found.unwrap();
        let names: Vec<&str> = found.not_listed.iter().map(|folder| &*folder.path).collect();
        assert_eq!(names, if is_closed { vec!["a"] } else { Vec::new() });
        assert_eq!(found.files.len(), if is_closed { 1 } else { 2 });
    }

    #[test]
    fn a_folder_of_too_many_files_says_so_instead_of_listing_some() {
        let folder = DiskFolder::new(Path::new(env!("CARGO_MANIFEST_DIR")));
        let all = folder.walk().unwrap().len();
        assert!(all > 5, "{all}");
        assert_eq!(folder.clone().with_max_files(all).walk().unwrap().len(), all);
        let error = folder.with_max_files(all - 1).walk().unwrap_err().to_string();
        let expected = format!("more than {} files lie in and below ", all - 1);
        assert!(error.starts_with(&expected) && error.contains("name a folder inside"), "{error}");
    }

    #[test]
    fn a_file_that_is_read_piece_by_piece_has_the_same_bytes() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"));
        let open = |folder: DiskFolder| folder.open("Cargo.toml").unwrap().unwrap();
        let (mapped, streamed) = (open(DiskFolder::new(path)), open(DiskFolder::streamed(path)));
        assert_eq!(mapped.len(), streamed.len());
        assert_eq!((mapped.as_slice().is_some(), streamed.as_slice()), (true, None));
        let mut bytes = [0; 20];
        streamed.read_at(7, &mut bytes).unwrap();
        assert_eq!(mapped.as_slice().unwrap()[7..27], bytes);
        assert!(streamed.read_at(mapped.len() - 1, &mut bytes).is_err(), "past the end");
    }

    #[test]
    fn a_file_stands_for_its_folder() {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let folder = locate(&manifest).unwrap();
        assert!(folder.entries().unwrap().iter().any(|entry| entry.path == "Cargo.toml"));
        assert!(locate(Path::new("/no/such/place")).is_err());
    }
}
