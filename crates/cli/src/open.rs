//! Opening what a person names, and showing progress while long questions run.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use parallax_base::{Folder, ReadError, Source};
use parallax_native::{DiskFolder, MappedFile};
use parallax_service::{
    Control, OpenLimits, Opened, discover, is_experiment_file, open, open_file,
};

use crate::{room, traces};

/// How long a question may run before its progress is shown.
const PATIENCE: Duration = Duration::from_millis(500);

/// Opens the database at `path`: a folder, or a file of it.
pub(crate) fn database(path: &Path, control: &Control) -> anyhow::Result<Opened> {
    let shown = path.display().to_string();
    if path.is_file() {
        let file = MappedFile::open(path).with_context(|| format!("cannot open {shown}"))?;
        let source: Source = Arc::new(file);
        if is_experiment_file(&source) {
            return Ok(open_file(&source, &shown, &OpenLimits::default())?);
        }
    }
    if let Some(opened) = traces::open_trace(path, control)? {
        return Ok(opened);
    }
    let folder =
        parallax_native::locate(path).with_context(|| format!("cannot open {}", path.display()))?;
    let folder: Arc<dyn Folder> = Arc::new(folder);
    open(&folder, &OpenLimits::default()).map_err(|error| {
        let inside = match databases_in(path) {
            Ok(inside) => inside,
            Err(cause) => return anyhow::Error::new(cause).context(error.to_string()),
        };
        if inside.is_empty() {
            return error.into();
        }
        anyhow::anyhow!("{shown} holds several databases; name one of {inside}")
    })
}

/// The databases below a folder that is none itself, as a person can type them.
fn databases_in(path: &Path) -> Result<String, ReadError> {
    const SHOWN: usize = 5;
    if !path.is_dir() {
        return Ok(String::new());
    }
    let folder: Arc<dyn Folder> = Arc::new(DiskFolder::new(path));
    let found = discover(&folder)?.databases;
    let mut found: Vec<String> =
        found.iter().map(|source| path.join(&source.name).display().to_string()).collect();
    let more = found.len().saturating_sub(SHOWN);
    found.truncate(SHOWN);
    if more > 0 {
        found.push(format!("{more} more"));
    }
    Ok(found.join(", "))
}

/// A control that shows a progress bar on the error stream once the question runs longer than
/// half a second, if a person is watching.
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
