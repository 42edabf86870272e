//! What a folder holds that can be opened: databases, and files of measurements.

use std::sync::Arc;

use parallax_base::{Folder, FolderEntry, ReadError, SubFolder};
use parallax_import::convert::{TraceInput, recognise};
use parallax_import::scaling::holds_measurements;
use parallax_import::{ARCHIVE_MANIFEST, is_experiment_file, profile_folder};

use crate::scaling::{ScalingContent, ScalingSource};

/// The file that every database has, those that tell of a database whose `meta.db` is gone, and the
/// one that makes a folder an archive of a trace.
const DATABASE_FILES: [&str; 5] = ["meta.db", "profile.db", "cct.db", "trace.db", ARCHIVE_MANIFEST];

/// Ends of names of the files that belong to an OTF2 anchor: there may be one for each of 100,000
/// locations.
const OTF2_PARTS: [&str; 2] = [".evt", ".def"];

/// Files that are sniffed at most, so that a home folder named by mistake does not take minutes;
/// the nearest ones, because they are likelier meant than those far inside.
const MAX_SNIFFED: usize = 2_000;

/// Things that can be opened.
#[derive(Clone, Default)]
pub struct Found {
    /// Databases, then files that are an experiment on their own, each with the path that a person
    /// sees; sorted by path.
    pub databases: Vec<ScalingSource>,
    /// Traces that must be converted first, each with the path that a person sees; sorted by path.
    pub traces: Vec<(String, TraceInput)>,
    /// Files of measurements, sorted by path.
    pub measurements: Vec<ScalingSource>,
    /// Files that are neither, as paths: for the message when nothing else was found.
    pub others: Vec<String>,
    /// Files that were not looked at, because there are too many and others lie nearer.
    pub num_unread: usize,
}

impl Found {
    /// What a person should know about files that were not looked at.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        (self.num_unread > 0).then(|| {
            format!(
                "{} files far inside were not looked at: the {MAX_SNIFFED} nearest ones were; \
                 name a folder inside to have the others",
                self.num_unread
            )
        })
    }
}

/// Looks for everything in and below `folder` that can be opened. Reads the first bytes of files
/// only.
///
/// # Errors
/// When the folder cannot be listed.
pub fn discover(folder: &Arc<dyn Folder>) -> Result<Found, ReadError> {
    let entries = folder.walk()?;
    let mut found = Found::default();
    let mut databases: Vec<&str> = Vec::new();
    for entry in &entries {
        let (place, file) = entry.path.rsplit_once('/').unwrap_or(("", &entry.path));
        let place = match profile_folder(&entry.path) {
            Some(folder) => folder,
            None if DATABASE_FILES.contains(&file) => place,
            None => continue,
        };
        if !databases.contains(&place) {
            databases.push(place);
        }
    }
    databases.sort_unstable();
    let mut experiments = Vec::new();
    let is_in_database = |entry: &FolderEntry| {
        databases.iter().any(|database| {
            database.is_empty()
                || entry.path.strip_prefix(database).is_some_and(|rest| rest.starts_with('/'))
        })
    };
    let is_part = |entry: &FolderEntry| OTF2_PARTS.iter().any(|end| entry.path.ends_with(end));
    let single = entries.iter().filter(|entry| !is_in_database(entry) && !is_part(entry));
    let mut single: Vec<&FolderEntry> = single.collect();
    found.num_unread = single.len().saturating_sub(MAX_SNIFFED);
    if found.num_unread > 0 {
        let depth = |entry: &FolderEntry| entry.path.matches('/').count();
        single.sort_by(|a, b| depth(a).cmp(&depth(b)).then(a.path.cmp(&b.path)));
        single.truncate(MAX_SNIFFED);
        single.sort_by(|a, b| a.path.cmp(&b.path));
    }
    for entry in single {
        // A file that cannot be read is not lost: it is named among the others.
        match folder.open(&entry.path) {
            Ok(Some(source)) if is_experiment_file(&source) => {
                experiments.push(ScalingSource {
                    name: entry.path.clone(),
                    content: ScalingContent::File(source),
                });
            }
            Ok(Some(source)) if holds_measurements(&*source, &entry.path) => {
                found.measurements.push(ScalingSource {
                    name: entry.path.clone(),
                    content: ScalingContent::File(source),
                });
            }
            Ok(Some(_)) => match recognise(folder, &entry.path) {
                // Of a trace in many files, one is named.
                Ok(Some(trace)) if trace.file() != entry.path => {}
                Ok(Some(trace)) => found.traces.push((entry.path.clone(), trace)),
                _ => found.others.push(entry.path.clone()),
            },
            _ => found.others.push(entry.path.clone()),
        }
    }
    found.databases = databases
        .iter()
        .map(|place| {
            let inner = SubFolder::of(folder, place);
            let name =
                if place.is_empty() { folder.name().to_owned() } else { (*place).to_owned() };
            ScalingSource { name, content: ScalingContent::Folder(inner) }
        })
        .collect();
    found.databases.append(&mut experiments);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use parallax_base::MemoryFolder;

    use super::*;

    fn found(files: &[(&str, &str)]) -> [Vec<String>; 3] {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
        let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("dropped", files));
        let found = discover(&folder).unwrap();
        let names = |list: Vec<ScalingSource>| list.into_iter().map(|source| source.name).collect();
        [names(found.databases), names(found.measurements), found.others]
    }

    #[test]
    fn databases_measurements_and_the_rest_are_told_apart() {
        let pascal =
            r#"{"config":{"data_descriptor":{"keys":["cores","input","repetitions"]}},"data":{}}"#;
        let [databases, measurements, others] = found(&[
            ("runs/p1/meta.db", ""),
            ("runs/p1/src/main.c", "int main;"),
            ("runs/p2/profile.db", ""),
            ("a.json", pascal),
            ("notes.txt", "hello"),
        ]);
        assert_eq!(databases, ["runs/p1", "runs/p2"]);
        assert_eq!(measurements, ["a.json"]);
        assert_eq!(others, ["notes.txt"]);
    }

    #[test]
    fn of_too_many_files_the_nearest_are_looked_at_and_the_rest_is_said() {
        let table = "cores,input,time\n1,a,4.0\n2,a,2.0\n";
        let mut files: Vec<(String, Vec<u8>)> =
            (0..MAX_SNIFFED + 7).map(|at| (format!("a/b/{at}.txt"), b"x".to_vec())).collect();
        files.push(("z.csv".to_owned(), table.as_bytes().to_vec()));
        let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("home", files));
        let found = discover(&folder).unwrap();
        let names: Vec<&str> = found.measurements.iter().map(|file| &*file.name).collect();
        assert_eq!((names, found.num_unread), (vec!["z.csv"], 8));
        assert!(found.note().unwrap().starts_with("8 files far inside were not looked at"));
    }

    #[test]
    fn traces_and_archives_are_found() {
        let files = [
            ("a/manifest.arrow", "ARROW1"),
            ("a/tracks.arrow", "ARROW1"),
            ("b.json", r#"{"traceEvents": [{"ph": "X", "ts": 1, "dur": 2, "pid": 1, "tid": 1}]}"#),
            ("c/traces.otf2", "\u{3}BOTF2\0"),
            ("c/traces/0.evt", "\u{3}B"),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
        let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("dropped", files));
        let found = discover(&folder).unwrap();
        let names: Vec<_> = found.databases.iter().map(|source| source.name.as_str()).collect();
        assert_eq!(names, ["a"]);
        let traces = found.traces.iter().map(|(path, trace)| (path.as_str(), trace.format()));
        let traces: Vec<_> = traces.collect();
        assert_eq!(traces, [("b.json", "Chrome trace events"), ("c/traces.otf2", "OTF2")]);
        assert!(found.others.is_empty());
    }

    #[test]
    fn a_folder_that_is_a_database_has_the_name_of_the_folder() {
        let [databases, measurements, others] = found(&[("meta.db", ""), ("src/a.json", "{}")]);
        assert_eq!(databases, ["dropped"]);
        assert!(measurements.is_empty() && others.is_empty());
    }

    #[test]
    fn folders_of_tau_profiles_are_found_once_whatever_they_measured() {
        let workflow = r#"{"Workflow metadata": {}}"#;
        let [databases, measurements, others] = found(&[
            ("p4/profile.0.0.0", ""),
            ("p4/profile.1.0.0", ""),
            ("p4/notes.txt", ""),
            ("papi/MULTI__TIME/profile.0.0.0", ""),
            ("papi/MULTI__PAPI_TOT_CYC/profile.0.0.0", ""),
            ("merged.json", workflow),
            ("profile.txt", ""),
        ]);
        assert_eq!(databases, ["p4", "papi", "merged.json"]);
        assert!(measurements.is_empty());
        assert_eq!(others, ["profile.txt"]);
    }
}
