//! [`DataSet`]: files that are opened as one.

use std::sync::Arc;

use parallax_base::{Folder, Limits, ListedFolder, ReadError, Source};
use parallax_model::Experiment;

use super::{Extent, FORMATS, Format, Kind, Probe, Reader, Reason, find};
use crate::ImportError;
use crate::convert::TraceInput;

/// Files that are opened as one: an experiment, or a file of measurements.
#[derive(Clone)]
pub struct DataSet {
    /// The path of the file or folder, as the user sees it.
    pub name: String,
    /// What it is.
    pub format: &'static Format,
    /// Its bytes.
    pub content: DataContent,
}

/// What a [`DataSet`] consists of.
#[derive(Clone)]
pub enum DataContent {
    /// A file.
    File(Source),
    /// A folder.
    Folder {
        /// Its files, and those next to them.
        folder: Arc<dyn Folder>,
        /// Its path in the folder that was looked through; empty for that folder.
        place: String,
        /// The paths, in the folder that was looked through, of the files that belong to the data
        /// set; `None` when all do.
        files: Option<Arc<[String]>>,
    },
    /// A trace that must be converted first.
    Trace(TraceInput),
}

impl DataSet {
    /// Whether it is one execution, and not measurements of several.
    #[must_use]
    pub fn is_experiment(&self) -> bool {
        self.format.kind != Kind::Measurements
    }

    /// Length of all its files, in bytes; for folders of the files directly inside.
    ///
    /// # Errors
    /// When the storage fails.
    pub fn size_bytes(&self) -> Result<u64, ReadError> {
        match &self.content {
            DataContent::File(source) => Ok(source.len()),
            DataContent::Folder { folder, .. } => {
                Ok(folder.entries()?.iter().map(|entry| entry.len).sum())
            }
            DataContent::Trace(input) => input.size_bytes(),
        }
    }

    /// All its files with their paths in the folder that was looked through.
    ///
    /// # Errors
    /// When the storage fails.
    pub fn files(&self) -> Result<Vec<(String, Source)>, ReadError> {
        let (folder, prefix, paths) = match &self.content {
            DataContent::File(source) => return Ok(vec![(self.name.clone(), Arc::clone(source))]),
            DataContent::Trace(input) => (input.folder(), String::new(), input.files()?),
            DataContent::Folder { folder, place, files } => {
                let prefix = if place.is_empty() { String::new() } else { format!("{place}/") };
                let paths: Vec<String> = match files {
                    None => folder.walk()?.into_iter().map(|entry| entry.path).collect(),
                    Some(own) => {
                        let inside = own.iter().filter_map(|path| path.strip_prefix(&prefix));
                        inside.map(ToOwned::to_owned).collect()
                    }
                };
                (folder, prefix, paths)
            }
        };
        let mut files = Vec::new();
        for path in paths {
            files.extend(folder.open(&path)?.map(|source| (format!("{prefix}{path}"), source)));
        }
        Ok(files)
    }

    /// Opens the experiment, at the cost of its metadata where the format allows that.
    ///
    /// # Errors
    /// When it is broken, a trace that must be converted first, or measurements.
    pub fn open(&self, limits: &Limits) -> Result<Experiment, ImportError> {
        let other = |what| ImportError::OtherKind { origin: self.name.clone(), what };
        match (&self.content, self.format.reader) {
            (DataContent::Folder { folder, .. }, Reader::Folder(read) | Reader::Files(_, read)) => {
                read(folder, limits)
            }
            (DataContent::File(source), Reader::File(read) | Reader::Files(read, _)) => {
                let mut experiment = read(source, &self.name, limits)?;
                experiment.sources = Some(alone(&self.name, source));
                Ok(experiment)
            }
            (_, Reader::Trace(_)) => Err(other("it is a trace; convert it first")),
            _ => Err(other("it has measurements of several executions; `scaling` reads them")),
        }
    }
}

/// The format of a file that is looked at alone; `None` when it is of none that is read.
pub(super) fn format_of(source: &Source, name: &str) -> Option<&'static Format> {
    let alone = alone(name, source);
    let name = alone.name().to_owned();
    let probe = Probe::of(&alone, &name).ok()??;
    let found = FORMATS.iter().find_map(|format| Some((format, (format.recognise)(&probe)?)));
    found.filter(|(_, extent)| !matches!(extent, Extent::NotRead(_))).map(|(format, _)| format)
}

/// Opens the experiment in a file, whatever lies in its folder.
///
/// # Errors
/// When the file is no experiment on its own, or broken.
pub fn open_file(source: &Source, name: &str, limits: &Limits) -> Result<Experiment, ImportError> {
    let alone = alone(name, source);
    let file = alone.name().to_owned();
    let found = find::recognise_file(&alone, &file);
    let found = found.map_err(|error| match error {
        ImportError::NotRecognised { found, hint, .. } => {
            ImportError::NotRecognised { origin: name.to_owned(), found, hint }
        }
        other => other,
    })?;
    match found.content {
        DataContent::File(_) => DataSet { name: name.to_owned(), ..found }.open(limits),
        DataContent::Trace(_) => DataSet { name: name.to_owned(), ..found }.open(limits),
        DataContent::Folder { .. } => Err(ImportError::NotRecognised {
            origin: name.to_owned(),
            found: Reason::PartOf(found.format.name).to_string(),
            hint: "open the whole folder".to_owned(),
        }),
    }
}

/// A file that is an experiment on its own, as the folder that experiments have.
fn alone(path: &str, source: &Source) -> Arc<dyn Folder> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    Arc::new(ListedFolder::<Source>::new(name, [(name.to_owned(), Arc::clone(source))]))
}
