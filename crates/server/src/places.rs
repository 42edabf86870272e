//! [`Place`]: what a path on the command line offers.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use parallax_base::{ChosenFiles, Folder, StableHash};
use parallax_native::DiskFolder;
use parallax_service::{DataContent, recognise_file};

use crate::ServerError;
use crate::folders::{FileAlone, Together};

/// Something that may be opened: a root of the protocol.
#[derive(Clone)]
pub struct Place {
    /// How requests name it: made of the path, so that a page finds it again after a restart.
    pub key: String,
    /// What a person calls it: the last part of the path.
    pub name: String,
    /// Its files.
    pub folder: Arc<dyn Folder>,
}

/// A path that was examined.
struct Looked {
    /// Absolute and without links: two ways to one folder are one place.
    canonical: PathBuf,
    name: String,
    is_file: bool,
    folder: Arc<dyn Folder>,
}

/// What `paths` offer: each path is a place. Several are also offered together, first, as if they
/// lay in one folder: runs of one program become an ensemble.
///
/// A folder is everything in and below it. A file is itself alone; the file of a trace comes with the
/// other files of that trace, and one of a database is the folder of the database.
///
/// # Errors
/// When a path leads nowhere.
pub fn places(paths: &[PathBuf]) -> Result<Vec<Place>, ServerError> {
    let mut looked: Vec<Looked> = Vec::new();
    for path in paths {
        let one = look(path)
            .map_err(|cause| ServerError::Path { path: path.display().to_string(), cause })?;
        if looked.iter().all(|known| known.canonical != one.canonical) {
            looked.push(one);
        }
    }
    let mut out = Vec::new();
    if let (Some(first), true) = (looked.first(), looked.len() > 1) {
        let name = format!("{} and {} more", first.name, looked.len() - 1);
        let all: Vec<String> =
            looked.iter().map(|one| one.canonical.to_string_lossy().into_owned()).collect();
        let parts = prefixes(&looked)
            .into_iter()
            .zip(&looked)
            .map(|(prefix, one)| (prefix, Arc::clone(&one.folder)))
            .collect();
        let folder = Arc::new(Together::new(name.clone(), parts));
        out.push(Place { key: key(&all.join("\n")), name, folder });
    }
    out.extend(looked.into_iter().map(|one| Place {
        key: key(&one.canonical.to_string_lossy()),
        name: one.name,
        folder: one.folder,
    }));
    Ok(out)
}

fn look(path: &Path) -> std::io::Result<Looked> {
    let canonical = path.canonicalize()?;
    let name = |path: &Path| {
        let name = path.file_name().unwrap_or(path.as_os_str());
        name.to_string_lossy().into_owned()
    };
    if canonical.is_dir() {
        // Read and not mapped: whoever writes there may shorten a file at any time (ADR 0031).
        let folder = Arc::new(DiskFolder::streamed(path));
        return Ok(Looked { name: name(&canonical), canonical, is_file: false, folder });
    }
    // The name that was typed counts, not that of what a link leads to.
    let file_name = name(path);
    let alone = FileAlone::new(path, file_name.clone());
    // What cannot be read says so here, and not when it is opened in the page.
    alone.open(&file_name).map_err(std::io::Error::other)?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or_else(|| Path::new("."));
    let folder: Arc<dyn Folder> = Arc::new(DiskFolder::streamed(parent));
    match recognise_file(&folder, &file_name).map(|data| data.content) {
        Ok(DataContent::Folder { .. }) => return look(parent),
        Ok(DataContent::Trace(input)) => {
            let files = input.files().map_err(std::io::Error::other)?;
            if files.len() > 1 {
                let folder = Arc::new(ChosenFiles::new(&folder, file_name.clone(), files));
                return Ok(Looked { name: file_name, canonical, is_file: true, folder });
            }
        }
        _ => {}
    }
    Ok(Looked { name: file_name, canonical, is_file: true, folder: Arc::new(alone) })
}

/// Under which folder each path lies when all are seen together: the last part of it, and as many
/// before that as it takes to tell all apart.
fn prefixes(looked: &[Looked]) -> Vec<String> {
    let longest = looked.iter().map(|one| one.canonical.components().count()).max().unwrap_or(1);
    let mut num_parts = vec![1; looked.len()];
    let mut out: Vec<String> = Vec::new();
    for _ in 0..longest {
        out = looked.iter().zip(&num_parts).map(|(one, &parts)| prefix(one, parts)).collect();
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
    for (prefix, one) in out.iter_mut().zip(looked) {
        if one.is_file {
            let cut = prefix.trim_end_matches('/').rfind('/').map_or(0, |at| at + 1);
            prefix.truncate(cut);
        }
    }
    out
}

fn prefix(one: &Looked, num_parts: usize) -> String {
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

    fn walked(place: &Place) -> Vec<String> {
        place.folder.walk().unwrap().into_iter().map(|entry| entry.path).collect()
    }

    #[test]
    fn a_file_alone_shows_no_neighbour() {
        let folder = make(&["a.json", "secret.json"]);
        let places = places(&[folder.path().join("a.json")]).unwrap();
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
        let places = places(&[folder.path().join("db/meta.db"), folder.path().join("db")]).unwrap();
        assert_eq!(places.len(), 1, "both are the same database");
        assert_eq!(places[0].name, "db");
        assert_eq!(walked(&places[0]), ["meta.db", "profile.db"]);
    }

    #[test]
    fn several_paths_are_offered_together_and_alone() {
        let folder = make(&["a/run/meta.db", "b/run/meta.db", "c.json"]);
        let paths = ["a/run", "b/run", "c.json"].map(|path| folder.path().join(path));
        let places = places(&paths).unwrap();
        let names: Vec<&str> = places.iter().map(|place| place.name.as_str()).collect();
        assert_eq!(names, ["run and 2 more", "run", "run", "c.json"]);
        let together = walked(&places[0]);
        let expected = ["a/run/meta.db", "b/run/meta.db", "c.json"];
        assert_eq!(together, expected, "told apart by no more of the path than it takes");
        let keys: BTreeSet<&str> = places.iter().map(|place| place.key.as_str()).collect();
        assert_eq!(keys.len(), 4);
    }

    #[test]
    fn a_path_that_leads_nowhere_is_named() {
        let message = places(&["no/such/place".into()]).err().unwrap().to_string();
        assert!(message.contains("no/such/place"), "{message}");
    }
}
