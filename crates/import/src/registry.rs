//! Finding out what a folder is.

use std::sync::Arc;

use parallax_base::{Folder, FolderEntry, Limits, ReadError, Source, read_range};
use parallax_formats::hpctoolkit::{FileKind, Recognised, recognise};
use parallax_model::Experiment;

use crate::{ImportError, archive, callgrind, hpctoolkit, measured, parceive, tau};

/// Bytes that recognising a format may look at.
const SNIFF_BYTES: u64 = 512;

/// Files that are looked at; a folder with more is not a database.
const MAX_FILES: usize = 10_000;

/// Opens the experiment in `folder`.
///
/// Costs what the metadata costs: values and samples are read when asked for.
///
/// # Errors
/// When the folder holds nothing of a known format, or a required file of it is broken.
pub fn open(folder: &Arc<dyn Folder>, limits: &Limits) -> Result<Experiment, ImportError> {
    let origin = folder.name().to_owned();
    let fail = |cause| ImportError::Folder { origin: origin.clone(), cause };
    let mut files = hpctoolkit::Files::default();
    let mut old = Vec::new();
    let mut unreadable = None;
    let entries = folder.entries().map_err(fail)?;
    for entry in by_likelihood(&entries).take(MAX_FILES) {
        if files.is_complete() {
            break;
        }
        let Some(source) = folder.open(&entry.path).map_err(fail)? else { continue };
        match sniff(&source) {
            Ok(Recognised::V4(kind)) => files.offer(kind, source),
            Ok(Recognised::Old(what)) => old.push(format!("{} is {what}", entry.path)),
            Ok(Recognised::Foreign) => {}
            Err(error) => unreadable = Some((entry.path.clone(), error)),
        }
    }
    if files.has_any() {
        return hpctoolkit::open(folder, files, limits);
    }
    if is_archive(&**folder) {
        return archive::open(folder, limits);
    }
    if tau::is_folder(&**folder) {
        return tau::open_folder(folder, limits);
    }
    if callgrind::is_folder(&**folder) {
        return callgrind::open_folder(folder, limits);
    }
    if !old.is_empty() {
        old.truncate(3);
        return Err(ImportError::NotRecognised {
            origin,
            found: old.join(", "),
            hint: "only HPCToolkit databases of version 4 (2022 and later) are read; \
                   run a current hpcprof on the measurements",
        });
    }
    // "Not known" would hide that nobody could look.
    if let Some((path, cause)) = unreadable {
        return Err(ImportError::Folder { origin: format!("{origin}/{path}"), cause });
    }
    let mut names: Vec<_> = entries.iter().take(5).map(|entry| entry.path.clone()).collect();
    if entries.len() > names.len() {
        names.push(format!("and {} more", entries.len() - names.len()));
    }
    let found = if names.is_empty() {
        "it has no files".to_owned()
    } else {
        let looked_at = if entries.len() > MAX_FILES {
            format!("; the {MAX_FILES} likeliest were looked at")
        } else {
            String::new()
        };
        format!("none of its files is known ({}{looked_at})", names.join(", "))
    };
    Err(ImportError::NotRecognised {
        origin,
        found,
        hint: "name an HPCToolkit database (the folder with meta.db and profile.db), a folder with \
               profiles of TAU (profile.0.0.0), a .ppk file, or a profile of Callgrind",
    })
}

/// Whether a file is an experiment on its own. Looks at its first bytes.
#[must_use]
pub fn is_experiment_file(source: &Source) -> bool {
    tau::is_file(source)
        || callgrind::is_file(source)
        || parceive::is_file(source)
        || measured::is_file(source)
}

/// Whether a folder holds profiles that [`open`] reads although no file in it is a database.
/// Looks at names.
#[must_use]
pub fn holds_experiment(folder: &dyn Folder) -> bool {
    tau::is_folder(folder) || is_archive(folder) || callgrind::is_folder(folder)
}

/// Whether a folder is an archive of a trace. Looks at names.
fn is_archive(folder: &dyn Folder) -> bool {
    let entries = folder.entries().unwrap_or_default();
    entries.iter().any(|entry| entry.path == parallax_formats::archive::MANIFEST)
}

/// The folder that [`open`] wants for a file whose name says that it is one profile of several;
/// `None` for any other name.
#[must_use]
pub fn profile_folder(path: &str) -> Option<&str> {
    tau::folder_of(path)
}

/// Opens the experiment in a file that [`is_experiment_file`] knows.
///
/// # Errors
/// When the file is of no known format, or broken.
pub fn open_file(source: &Source, name: &str, limits: &Limits) -> Result<Experiment, ImportError> {
    let read = if tau::is_file(source) {
        tau::open_file
    } else if callgrind::is_file(source) {
        callgrind::open_file
    } else if parceive::is_file(source) {
        parceive::open_file
    } else if measured::is_file(source) {
        measured::open_file
    } else {
        return Err(ImportError::NotRecognised {
            origin: name.to_owned(),
            found: "the file is of no known format".to_owned(),
            hint: "name a packed profile (.ppk) or a workflow profile of TAU, a database of \
                   Parceive, a recording of parallax.h (.plxm), or the folder of a database",
        });
    };
    let mut experiment = read(source, name, limits)?;
    experiment.sources = Some(Arc::new(OneFile::new(name, source)));
    Ok(experiment)
}

/// A file that is an experiment on its own, as the folder that experiments have.
struct OneFile {
    name: String,
    source: Source,
}

impl OneFile {
    fn new(path: &str, source: &Source) -> Self {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        Self { name: name.to_owned(), source: Arc::clone(source) }
    }
}

impl Folder for OneFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError> {
        Ok(vec![FolderEntry { path: self.name.clone(), len: self.source.len() }])
    }

    fn open(&self, path: &str) -> Result<Option<Source>, ReadError> {
        Ok((path == self.name).then(|| Arc::clone(&self.source)))
    }
}

/// Files under the names that writers use come first; a stray file cannot take their place.
fn by_likelihood(entries: &[FolderEntry]) -> impl Iterator<Item = &FolderEntry> {
    let is_usual = |e: &&FolderEntry| FileKind::ALL.iter().any(|k| k.file_name() == e.path);
    entries.iter().filter(is_usual).chain(entries.iter().filter(move |e| !is_usual(e)))
}

fn sniff(source: &Source) -> Result<Recognised, ReadError> {
    Ok(recognise(&read_range(&**source, 0, source.len().min(SNIFF_BYTES))?))
}
