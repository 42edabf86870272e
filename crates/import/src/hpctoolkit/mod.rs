//! HPCToolkit v4 databases as experiments.

mod derived;
mod metadata;
mod profiles;
mod slice;
mod traces;

use std::sync::Arc;

use parallax_base::{
    Folder, FolderEntry, Issues, Limits, Place, Severity, Source, Stage, read_range,
};
use parallax_formats::FormatError;
use parallax_formats::hpctoolkit::{
    CctDb, FileKind, MetaDb, ProfileDb, Recognised, TraceDb, recognise,
};
use parallax_model::{Experiment, Metadata, ProfileStore, TraceStore};

use crate::ImportError;

/// The files of a database that were found in a folder.
#[derive(Default)]
struct Files {
    found: [Option<Source>; 4],
}

impl Files {
    /// Takes `source` unless there is one of its kind already.
    fn offer(&mut self, kind: FileKind, source: Source) {
        if let Some(slot) = self.found.get_mut(kind as usize) {
            slot.get_or_insert(source);
        }
    }

    fn is_complete(&self) -> bool {
        self.found.iter().all(Option::is_some)
    }

    fn take(&mut self, kind: FileKind) -> Option<Source> {
        self.found.get_mut(kind as usize).and_then(Option::take)
    }
}

/// Opens the database in `folder`, whose files are found by their bytes: those with the names that
/// writers use come first, so that a stray file cannot take their place.
pub(crate) fn open_folder(
    folder: &Arc<dyn Folder>,
    limits: &Limits,
) -> Result<Experiment, ImportError> {
    let fail = |cause| ImportError::Folder { origin: folder.name().to_owned(), cause };
    let mut files = Files::default();
    let entries = folder.entries().map_err(fail)?;
    let is_usual = |e: &&FolderEntry| FileKind::ALL.iter().any(|k| k.file_name() == e.path);
    let by_likelihood =
        entries.iter().filter(is_usual).chain(entries.iter().filter(|e| !is_usual(e)));
    let mut num_unread = entries.len().saturating_sub(MAX_FILES);
    for entry in by_likelihood.take(MAX_FILES) {
        if files.is_complete() {
            num_unread = 0;
            break;
        }
        let Some(source) = folder.open(&entry.path).map_err(fail)? else { continue };
        let head = read_range(&*source, 0, source.len().min(HEAD_BYTES)).map_err(|cause| {
            ImportError::Folder { origin: format!("{}/{}", folder.name(), entry.path), cause }
        })?;
        if let Recognised::V4(kind) = recognise(&head) {
            drop(head);
            files.offer(kind, source);
        }
    }
    open(folder, files, num_unread, limits)
}

/// Files that are looked at; a folder with more is not a database.
const MAX_FILES: usize = 10_000;

/// Bytes that say what a file is.
const HEAD_BYTES: u64 = 32;

/// Opens a database. `meta.db` and `profile.db` are required; without `cct.db` everything is
/// answered from `profile.db`, without `trace.db` there are no traces.
fn open(
    folder: &Arc<dyn Folder>,
    mut files: Files,
    num_unread: usize,
    limits: &Limits,
) -> Result<Experiment, ImportError> {
    let origin = folder.name().to_owned();
    let fail = |cause| ImportError::Format { origin: origin.clone(), cause };
    let mut issues = Issues::new();
    if num_unread > 0 {
        issues.report(Severity::Warning, Stage::Import, "files-unread", Place::Whole, || {
            format!(
                "{num_unread} more files of the folder were not examined: only the first \
                 {MAX_FILES} were; a cct.db or trace.db under another name may be among them"
            )
        });
    }
    let lacks = |kind: FileKind| {
        let name = kind.file_name();
        match folder.open(name).ok().flatten().map(|source| source.len()) {
            None => format!("no {name}"),
            Some(0) => format!("its {name} is empty"),
            Some(_) => format!("its {name} is of another format"),
        }
    };
    let mut required = |kind: FileKind| {
        files.take(kind).ok_or_else(|| ImportError::NotRecognised {
            origin: origin.clone(),
            found: format!("the folder has files of an HPCToolkit database but {}", lacks(kind)),
            hint: "copy the whole database folder, not single files of it".to_owned(),
        })
    };
    let meta_source = required(FileKind::Meta)?;
    let profile_source = required(FileKind::Profile)?;
    let meta = MetaDb::read(&*meta_source, limits, &mut issues).map_err(fail)?;
    drop(meta_source);
    let before = issues.len();
    let profiles = ProfileDb::open(profile_source, limits, &mut issues).map_err(fail)?;
    let is_damaged = issues.len() > before;

    let cct = files.take(FileKind::Context);
    let cct = optional(FileKind::Context, cct, &mut issues, CctDb::open);
    let traces = files.take(FileKind::Trace);
    let traces = optional(FileKind::Trace, traces, &mut issues, |source, issues| {
        TraceDb::open(source, limits, issues)
    });

    let taxonomy = metadata::taxonomy(&**folder, limits, &mut issues);
    let metrics = metadata::metrics(&meta, &taxonomy);
    let locations = metadata::locations(&meta, &profiles, &mut issues);
    let version = if meta.is_draft { "4.0 (draft of 2022)" } else { "4.0" };
    let metadata = Metadata {
        title: meta.title.to_string(),
        format: format!("HPCToolkit {version}"),
        origin,
        ..Metadata::default()
    };
    let contexts = metadata::contexts(meta, &mut issues);
    let store = profiles::Profiles::new(profiles, cct, contexts.source_ids(), is_damaged, *limits);
    let traces =
        traces.map(|db| Arc::new(traces::Traces::new(db, &locations)) as Arc<dyn TraceStore>);
    Ok(Experiment {
        metadata,
        contexts,
        metrics,
        locations,
        profiles: Some(Arc::new(store) as Arc<dyn ProfileStore>),
        traces,
        events: None,
        activations: None,
        sources: Some(Arc::clone(folder)),
        issues,
    })
}

/// A file that the experiment can do without: when it is broken, it is reported and left out.
fn optional<T>(
    kind: FileKind,
    source: Option<Source>,
    issues: &mut Issues,
    open: impl FnOnce(Source, &mut Issues) -> Result<T, FormatError>,
) -> Option<T> {
    let Some(source) = source else {
        if kind == FileKind::Context {
            let place = Place::File { file: kind.file_name().into() };
            issues.report(Severity::Warning, Stage::Import, "file-missing", place, || {
                "cct.db is missing; everything is read from profile.db, which can be slower".into()
            });
        }
        return None;
    };
    match open(source, issues) {
        Ok(opened) => Some(opened),
        Err(error) => {
            let place = Place::File { file: kind.file_name().into() };
            issues.report(Severity::Error, Stage::Import, "file-unusable", place, || {
                format!("{error}; the experiment is opened without it")
            });
            None
        }
    }
}
