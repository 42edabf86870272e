//! Opening what the user names, and showing progress while long questions run.

use std::path::Path;
#[cfg(feature = "sql")]
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
#[cfg(feature = "sql")]
use parallax_base::{BytesRead, CountedFile, CountedFolder, Folder};
use parallax_places::{Located, Reading, archive_of, around, locate};
use parallax_service::{
    Control, DataContent, DataSet, ImportError, OpenExperiment, OpenLimits, experiment_at, open,
    open_data, recognise_file,
};

use crate::room;

/// How long a question may run before its progress is shown.
const PATIENCE: Duration = Duration::from_millis(500);

/// Opens the experiment at `path`: a folder, or a file of it.
pub(crate) fn database(path: &Path, control: &Control) -> anyhow::Result<OpenExperiment> {
    let data = data_at(path)?;
    match &data.content {
        DataContent::Trace(input) => {
            let archive = archive_of(input, &data.name, control)?;
            Ok(open(&archive, &OpenLimits::default())?)
        }
        _ => Ok(open_data(&data, &OpenLimits::default())?),
    }
}

/// An experiment whose files are counted as they are read.
#[cfg(feature = "sql")]
pub(crate) struct Counted {
    /// The experiment.
    pub(crate) opened: OpenExperiment,
    /// What was read so far.
    pub(crate) read: BytesRead,
    /// Length of its files together.
    pub(crate) len_bytes: u64,
}

/// Opens the experiment at `path` and counts what is read of its files.
#[cfg(feature = "sql")]
pub(crate) fn counted(path: &Path, control: &Control) -> anyhow::Result<Counted> {
    let (mut data, read) = (data_at(path)?, BytesRead::new());
    let count = |folder: &Arc<dyn Folder>| -> Arc<dyn Folder> {
        Arc::new(CountedFolder::new(Arc::clone(folder), read.clone()))
    };
    let limits = OpenLimits::default();
    let (opened, len_bytes) = match &data.content {
        DataContent::Trace(input) => {
            let archive = archive_of(input, &data.name, control)?;
            let len = archive.walk()?.iter().map(|file| file.len).sum();
            (open(&count(&archive), &limits)?, len)
        }
        DataContent::Folder { folder, place, files } => {
            let len = data.size_bytes()?;
            let (folder, place, files) = (count(folder), place.clone(), files.clone());
            data.content = DataContent::Folder { folder, place, files };
            (open_data(&data, &limits)?, len)
        }
        DataContent::File(file) => {
            let len = data.size_bytes()?;
            data.content =
                DataContent::File(Arc::new(CountedFile::new(Arc::clone(file), read.clone())));
            (open_data(&data, &limits)?, len)
        }
    };
    Ok(Counted { opened, read, len_bytes })
}

/// What the user means by `path`: the only experiment of a folder, or what a file is a part of.
/// Names are paths that the user can type.
pub(crate) fn data_at(path: &Path) -> anyhow::Result<DataSet> {
    let shown = path.display().to_string();
    let failed = || format!("cannot open {shown}");
    if let Located::Folder(folder) = locate(path, Reading::Mapped).with_context(failed)? {
        let mut data = experiment_at(&folder)?;
        if let DataContent::Trace(input) = &data.content {
            return data_at(&path.join(input.path()));
        }
        if !matches!(&data.content, DataContent::Folder { place, .. } if place.is_empty()) {
            data.name = path.join(&data.name).display().to_string();
        }
        return Ok(data);
    }
    let (folder, name) = around(path, Reading::Mapped).with_context(failed)?;
    let mut data = recognise_file(&folder, &name).map_err(|error| named(error, &shown))?;
    if !matches!(data.content, DataContent::Folder { .. }) {
        data.name = shown;
    }
    Ok(data)
}

/// An error about a file, by the path that was typed.
fn named(error: ImportError, shown: &str) -> ImportError {
    let origin = shown.to_owned();
    match error {
        ImportError::NotRecognised { found, hint, .. } => {
            ImportError::NotRecognised { origin, found, hint }
        }
        ImportError::Folder { cause, .. } => ImportError::Folder { origin, cause },
        other => other,
    }
}

/// A control that shows a progress bar on the error stream once the question runs longer than half
/// a second, if the user is watching.
pub(crate) fn control(is_quiet: bool) -> Control {
    if is_quiet || !std::io::IsTerminal::is_terminal(&std::io::stderr()) {
        return Control::with_progress(room::keep_progress);
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    if let Ok(style) = ProgressStyle::with_template("{bar:32} {percent:>3} %  {eta} left") {
        bar.set_style(style);
    }
    let start = Instant::now();
    Control::with_progress(move |done, total| {
        room::keep_progress(done, total);
        if total == 0 || done >= total {
            bar.finish_and_clear();
        } else if start.elapsed() > PATIENCE {
            if bar.is_hidden() {
                bar.set_draw_target(ProgressDrawTarget::stderr());
            }
            bar.set_length(total);
            bar.set_position(done);
        }
    })
}
