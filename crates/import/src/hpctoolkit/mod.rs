//! HPCToolkit v4 databases as experiments.

mod metadata;
mod profiles;
mod slice;
mod traces;

use std::sync::Arc;

use parallax_base::{Folder, Issues, Limits, Place, Severity, Source, Stage};
use parallax_formats::FormatError;
use parallax_formats::hpctoolkit::{CctDb, FileKind, MetaDb, ProfileDb, TraceDb};
use parallax_model::{Experiment, Metadata, ProfileStore, TraceStore};

use crate::ImportError;

/// The files of a database that were found in a folder.
#[derive(Default)]
pub(crate) struct Files {
    found: [Option<Source>; 4],
}

impl Files {
    /// Takes `source` unless there is one of its kind already.
    pub(crate) fn offer(&mut self, kind: FileKind, source: Source) {
        if let Some(slot) = self.found.get_mut(kind as usize) {
            slot.get_or_insert(source);
        }
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.found.iter().all(Option::is_some)
    }

    pub(crate) fn has_any(&self) -> bool {
        self.found.iter().any(Option::is_some)
    }

    fn take(&mut self, kind: FileKind) -> Option<Source> {
        self.found.get_mut(kind as usize).and_then(Option::take)
    }
}

/// Opens a database. `meta.db` and `profile.db` are required; without `cct.db` everything is
/// answered from `profile.db`, without `trace.db` there are no traces.
pub(crate) fn open(
    folder: &Arc<dyn Folder>,
    mut files: Files,
    limits: &Limits,
) -> Result<Experiment, ImportError> {
    let origin = folder.name().to_owned();
    let fail = |cause| ImportError::Format { origin: origin.clone(), cause };
    let mut issues = Issues::new();
    let mut required = |kind: FileKind| {
        files.take(kind).ok_or_else(|| ImportError::NotRecognised {
            origin: origin.clone(),
            found: format!(
                "the folder has files of an HPCToolkit database but no {}",
                kind.file_name()
            ),
            hint: "copy the whole database folder, not single files of it",
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
        facts: Vec::new(),
        components: Vec::new(),
    };
    let contexts = metadata::contexts(meta, &mut issues);
    let store = profiles::Profiles::new(profiles, cct, contexts.source_ids(), is_damaged, *limits);
    let traces = traces.map(|db| Arc::new(traces::Traces::new(db)) as Arc<dyn TraceStore>);
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
