//! Opening what a person names, and showing progress while long questions run.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use parallax_base::Folder;
use parallax_service::{Control, OpenLimits, Opened, open};

/// How long a question may run before its progress is shown.
const PATIENCE: Duration = Duration::from_millis(500);

/// Opens the database at `path`: a folder, or a file of it.
pub(crate) fn database(path: &Path) -> anyhow::Result<Opened> {
    let folder =
        parallax_native::locate(path).with_context(|| format!("cannot open {}", path.display()))?;
    let folder: Arc<dyn Folder> = Arc::new(folder);
    Ok(open(&folder, &OpenLimits::default())?)
}

/// A control that shows a progress bar on the error stream once the question runs longer than
/// half a second, if a person is watching.
pub(crate) fn control(is_quiet: bool) -> Control {
    if is_quiet || !std::io::IsTerminal::is_terminal(&std::io::stderr()) {
        return Control::new();
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    if let Ok(style) = ProgressStyle::with_template("{bar:32} {percent:>3} %  {eta} left") {
        bar.set_style(style);
    }
    let start = Instant::now();
    Control::with_progress(move |done, total| {
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
