//! [`DataRoot`]: what a path on the command line offers.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use parallax_base::{ChosenFiles, Folder, StableHash};
use parallax_native::{DiskFolder, LiveFolder};
use parallax_service::{DataContent, recognise_file};

use crate::folders::MergedFolder;
use crate::location::{self, Located, canonical, is_in_store, locate};

/// Something that may be opened: a root of the protocol.
#[derive(Clone)]
pub struct DataRoot {
    /// How requests name it: made of the path, so that a page finds it again after a restart.
    pub key: String,
    /// Display name: the last part of the path.
    pub name: String,
    /// Its files.
    pub folder: Arc<dyn Folder>,
    /// Where its files are on disk: for those below a prefix, the folder that the rest of their path
    /// is relative to.
    pub parts: Vec<(String, PathBuf)>,
}

impl DataRoot {
    /// Where the file at `path` of [`DataRoot::folder`] is on disk, if it is there.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<PathBuf> {
        let files = self.parts.iter().filter_map(|(prefix, folder)| {
            path.strip_prefix(prefix.as_str()).map(|rest| folder.join(rest))
        });
        let is_there = |file: &PathBuf| {
            file.is_file() || (is_in_store(file) && matches!(self.folder.open(path), Ok(Some(_))))
        };
        files.into_iter().find(is_there)
    }
}

/// A path that does not exist or may not be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot open {path}: {cause}")]
pub struct PathError {
    /// The path as it was typed.
    pub path: String,
    /// What the system said.
    pub cause: std::io::Error,
}

/// How files are read; ADR 0031 says which surface does what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Piece by piece: whoever writes there may shorten a file at any time.
    Streamed,
    /// Mapped into memory.
    Mapped,
}

impl Reading {
    pub(crate) fn folder(self, path: &Path) -> DiskFolder {
        match self {
            Self::Streamed => DiskFolder::streamed(path),
            Self::Mapped => DiskFolder::new(path),
        }
    }
}

/// A path that was examined.
struct ResolvedPath {
    /// Absolute and without links: two ways to one folder are one place.
    canonical: PathBuf,
    name: String,
    is_file: bool,
    folder: Arc<dyn Folder>,
    /// What paths in `folder` are relative to.
    base: PathBuf,
}

/// What `paths` offer: each path is a place. Several are also offered together, first, as if they
/// lay in one folder: runs of one program become an ensemble.
///
/// A folder is everything in and below it. A file is itself alone; the file of a trace comes with the
/// other files of that trace, and one of a database is the folder of the database.
///
/// # Errors
/// When a path leads nowhere.
pub fn places(paths: &[PathBuf], reading: Reading) -> Result<Vec<DataRoot>, PathError> {
    let mut resolved: Vec<ResolvedPath> = Vec::new();
    for path in paths {
        let one = resolve(path, reading)
            .map_err(|cause| PathError { path: path.display().to_string(), cause })?;
        if resolved.iter().all(|known| known.canonical != one.canonical) {
            resolved.push(one);
        }
    }
    let mut out = Vec::new();
    if let (Some(first), true) = (resolved.first(), resolved.len() > 1) {
        let name = format!("{} and {} more", first.name, resolved.len() - 1);
        let all: Vec<String> =
            resolved.iter().map(|one| one.canonical.to_string_lossy().into_owned()).collect();
        let prefixes = prefixes(&resolved);
        let parts = prefixes.iter().cloned().zip(&resolved);
        let parts = parts.map(|(prefix, one)| (prefix, Arc::clone(&one.folder))).collect();
        let folder = Arc::new(MergedFolder::new(name.clone(), parts));
        let bases = resolved.iter().map(|one| one.base.clone());
        let parts = prefixes.into_iter().zip(bases).collect();
        out.push(DataRoot { key: key(&all.join("\n")), name, folder, parts });
    }
    out.extend(resolved.into_iter().map(|one| DataRoot {
        key: key(&one.canonical.to_string_lossy()),
        name: one.name,
        folder: one.folder,
        parts: vec![(String::new(), one.base)],
    }));
    Ok(out)
}

/// The place of what is or will be at `path`, and shows itself while it is written.
///
/// # Errors
/// When nothing can be there: the folder around it does not exist, or there is a file.
pub fn live_place(path: &Path) -> Result<(DataRoot, Arc<LiveFolder>), PathError> {
    let failed = |cause| PathError { path: path.display().to_string(), cause };
    let wrong = |why: &str| failed(std::io::Error::other(why.to_owned()));
    if is_in_store(path) {
        return Err(wrong("it is in an object store, and recordings are written to disks"));
    }
    if path.is_file() {
        return Err(wrong("it is a file, and recordings are folders"));
    }
    let name = path.file_name().ok_or_else(|| wrong("the path does not end in a name"))?;
    let canonical = location::parent(path).canonicalize().map_err(failed)?.join(name);
    let folder = Arc::new(LiveFolder::new(path));
    let root = DataRoot {
        key: key(&canonical.to_string_lossy()),
        name: name.to_string_lossy().into_owned(),
        folder: Arc::clone(&folder) as _,
        parts: vec![(String::new(), path.to_owned())],
    };
    Ok((root, folder))
}

fn resolve(path: &Path, reading: Reading) -> std::io::Result<ResolvedPath> {
    let canonical = canonical(path)?;
    let name = |path: &Path| {
        let name = path.file_name().unwrap_or(path.as_os_str());
        name.to_string_lossy().into_owned()
    };
    let (folder, file_name) = match locate(path, reading)? {
        Located::File(folder, name) => (folder, name),
        Located::Folder(folder) => {
            let base = path.to_owned();
            return Ok(ResolvedPath {
                name: name(&canonical),
                canonical,
                is_file: false,
                folder,
                base,
            });
        }
    };
    // The name that was typed counts, not that of what a link leads to.
    let alone = location::alone(path, &file_name, reading)?;
    // What cannot be read says so here, and not when it is opened in the page.
    alone.open(&file_name).map_err(std::io::Error::other)?;
    let parent = location::parent(path);
    let base = parent.to_owned();
    match recognise_file(&folder, &file_name).map(|data| data.content) {
        Ok(DataContent::Folder { .. }) => return resolve(parent, reading),
        Ok(DataContent::Trace(input)) => {
            let files = input.files().map_err(std::io::Error::other)?;
            if files.len() > 1 {
                let folder = Arc::new(ChosenFiles::new(&folder, file_name.clone(), files));
                return Ok(ResolvedPath {
                    name: file_name,
                    canonical,
                    is_file: true,
                    folder,
                    base,
                });
            }
        }
        _ => {}
    }
    Ok(ResolvedPath { name: file_name, canonical, is_file: true, folder: alone, base })
}

/// Under which folder each path lies when all are seen together: the last part of it, and as many
/// before that as it takes to distinguish all.
fn prefixes(resolved: &[ResolvedPath]) -> Vec<String> {
    let longest = resolved.iter().map(|one| one.canonical.components().count()).max().unwrap_or(1);
    let mut num_parts = vec![1; resolved.len()];
    let mut out: Vec<String> = Vec::new();
    for _ in 0..longest {
        out = resolved.iter().zip(&num_parts).map(|(one, &parts)| prefix(one, parts)).collect();
        let shared = |path: &String| out.iter().filter(|other| *other == path).count() > 1;
        let ambiguous: Vec<bool> = out.iter().map(shared).collect();
        if !ambiguous.contains(&true) {
            break;
        }
        for (parts, is_ambiguous) in num_parts.iter_mut().zip(ambiguous) {
            *parts += usize::from(is_ambiguous);
        }
    }
    // A file alone has its name already.
    for (prefix, one) in out.iter_mut().zip(resolved) {
        if one.is_file {
            let cut = prefix.trim_end_matches('/').rfind('/').map_or(0, |at| at + 1);
            prefix.truncate(cut);
        }
    }
    out
}

fn prefix(one: &ResolvedPath, num_parts: usize) -> String {
    let parts: Vec<String> = one
        .canonical
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        })
        .collect();
    let first = parts.len().saturating_sub(num_parts);
    let kept = parts.get(first..).unwrap_or_default().join("/");
    if kept.is_empty() { String::new() } else { format!("{kept}/") }
}

/// A short name that is the same whenever the path is.
fn key(text: &str) -> String {
    format!("{:016x}", StableHash::of(text.as_bytes()).bits())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn make(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let is_meta = file.ends_with("meta.db");
            std::fs::write(path, if is_meta { "HPCTOOLKITmeta\x04\0" } else { "x" }).unwrap();
        }
        folder
    }

    fn walked(place: &DataRoot) -> Vec<String> {
        place.folder.walk().unwrap().into_iter().map(|entry| entry.path).collect()
    }

    #[test]
    fn a_file_alone_shows_no_neighbour() {
        let folder = make(&["a.json", "secret.json"]);
        let places = places(&[folder.path().join("a.json")], Reading::Streamed).unwrap();
        assert_eq!(places.len(), 1);
        assert_eq!(places[0].name, "a.json");
        assert_eq!(walked(&places[0]), ["a.json"]);
        for outside in ["secret.json", "../a.json", "./a.json", "/etc/passwd"] {
            assert!(places[0].folder.open(outside).unwrap().is_none(), "{outside}");
        }
    }

    #[test]
    fn a_file_of_a_database_is_its_database() {
        let folder = make(&["db/meta.db", "db/profile.db"]);
        let places = places(
            &[folder.path().join("db/meta.db"), folder.path().join("db")],
            Reading::Streamed,
        )
        .unwrap();
        assert_eq!(places.len(), 1, "both are the same database");
        assert_eq!(places[0].name, "db");
        assert_eq!(walked(&places[0]), ["meta.db", "profile.db"]);
    }

    #[test]
    fn several_paths_are_offered_together_and_alone() {
        let folder = make(&["a/run/meta.db", "b/run/meta.db", "c.json"]);
        let paths = ["a/run", "b/run", "c.json"].map(|path| folder.path().join(path));
        let places = places(&paths, Reading::Streamed).unwrap();
        let names: Vec<&str> = places.iter().map(|place| place.name.as_str()).collect();
        assert_eq!(names, ["run and 2 more", "run", "run", "c.json"]);
        let together = walked(&places[0]);
        let expected = ["a/run/meta.db", "b/run/meta.db", "c.json"];
        assert_eq!(together, expected, "told apart by no more of the path than it takes");
        assert_eq!(places[0].file("b/run/meta.db"), Some(folder.path().join("b/run/meta.db")));
        assert_eq!(places[0].file("c.json"), Some(folder.path().join("c.json")));
        assert_eq!(places[0].file("b/run/other.db"), None);
        let keys: BTreeSet<&str> = places.iter().map(|place| place.key.as_str()).collect();
        assert_eq!(keys.len(), 4);
    }

    #[test]
    fn a_path_that_leads_nowhere_is_named() {
        let message =
            places(&["no/such/place".into()], Reading::Streamed).err().unwrap().to_string();
        assert!(message.contains("no/such/place"), "{message}");
    }
}
