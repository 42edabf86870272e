//! `open --live` and `record --open`: a recording in the browser while it runs.

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::task::Waker;
use std::thread;
use std::time::Duration;

use parallax_native::{LiveFolder, LiveState};
use parallax_places::{DataRoot, live_place};
use parallax_server::until_interrupted;

use super::Context;
use super::live::LiveArgs;
use crate::text::{Level, Notice, Style};

/// Between two looks whether there is something to show.
const LOOK: Duration = Duration::from_millis(200);

/// Waits until there is something to show of the recording at the only path of `paths`. Nothing when
/// `closed` completes before.
pub(super) fn place(
    context: &Context,
    paths: &[PathBuf],
    mut closed: Option<&mut (impl Future<Output = ()> + Unpin)>,
) -> anyhow::Result<Option<DataRoot>> {
    let [path] = paths else { anyhow::bail!("--live shows one recording; name one path") };
    let (place, folder) = live_place(path)?;
    let mut has_told = closed.is_some();
    loop {
        let state = folder.look().map_err(|cause| {
            anyhow::anyhow!("cannot look at the recording {}: {cause}", path.display())
        })?;
        match state {
            LiveState::Absent if !has_told => {
                let path = path.display();
                context.note(format!(
                    "waiting for a recording: start it with `parallax record -o {path} -- PROGRAM`"
                ));
                has_told = true;
            }
            LiveState::Absent | LiveState::Begun => {}
            // It is of an earlier recorder: the one that started this process goes on.
            LiveState::Abandoned if closed.is_some() => {}
            LiveState::Growing | LiveState::Abandoned | LiveState::Complete => {
                tell(context, path, state);
                if state == LiveState::Growing {
                    tell_of_the_end(context, path, folder);
                }
                return Ok(Some(place));
            }
        }
        let mut now = std::task::Context::from_waker(Waker::noop());
        if closed.as_mut().is_some_and(|closed| Pin::new(&mut **closed).poll(&mut now).is_ready()) {
            return Ok(None);
        }
        thread::sleep(LOOK);
    }
}

/// Says what became of a recording.
fn tell(context: &Context, path: &Path, state: LiveState) {
    if let Some(notice) = notice(path, state)
        && !context.is_quiet
    {
        notice.print(&context.stderr);
    }
}

fn notice(path: &Path, state: LiveState) -> Option<Notice> {
    let path = path.display();
    let (level, text) = match state {
        LiveState::Growing => (
            Level::Note,
            format!("{path} is being recorded; the page shows what has been recorded so far"),
        ),
        LiveState::Complete => (Level::Note, format!("{path} is complete")),
        LiveState::Abandoned => (
            Level::Warning,
            format!(
                "the recorder ended before {path} was complete; its last snapshot is shown, and \
                 `parallax record --recover {path}` keeps it"
            ),
        ),
        LiveState::Absent => (
            Level::Warning,
            format!("the recorder ended before {path} was complete; its last snapshot is shown"),
        ),
        LiveState::Begun => return None,
    };
    Some(Notice::new(level, text))
}

/// Says when a recording has ended, while the server answers.
fn tell_of_the_end(context: &Context, path: &Path, folder: Arc<LiveFolder>) {
    let (style, is_quiet, path): (Style, bool, PathBuf) =
        (context.stderr, context.is_quiet, path.to_owned());
    let watch = move || {
        loop {
            thread::sleep(LOOK);
            let state = folder.state();
            if !matches!(state, LiveState::Begun | LiveState::Growing) {
                return if let Some(notice) = notice(&path, state).filter(|_| !is_quiet) {
                    notice.print(&style);
                };
            }
        }
    };
    // Without a thread, the page says it.
    let _ = thread::Builder::new().name("recording".to_owned()).spawn(watch);
}

/// Another process of this program that shows a recording: what it needs is not taken from the
/// recorder, and it ends with this one.
pub(super) struct Viewer(Child);

impl Viewer {
    /// Shows the recording at `path` once there is something of it. The recording goes on where that
    /// fails.
    pub(super) fn start(context: &Context, path: &Path, arguments: &LiveArgs) -> Option<Self> {
        let started = Self::started(context, path, arguments);
        let failed = |cause: std::io::Error| {
            let message = format!("cannot show the recording in the browser: {cause}");
            Notice::new(Level::Warning, message).print(&context.stderr);
        };
        started.map_err(failed).ok().map(Self)
    }

    fn started(context: &Context, path: &Path, arguments: &LiveArgs) -> std::io::Result<Child> {
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            std::fs::create_dir_all(parent)?;
        }
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["open", "--live", "--until-stdin-closes"]);
        command.args(["--port", &arguments.port.to_string()]);
        command.args(arguments.no_browser.then_some("--no-browser"));
        command.args(context.is_quiet.then_some("--quiet"));
        command.arg("--").arg(path).stdin(Stdio::piped());
        #[cfg(unix)]
        {
            use std::os::fd::AsFd as _;
            // The output is the program's; and Ctrl+C is for that, too.
            command.stdout(std::io::stderr().as_fd().try_clone_to_owned()?);
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
        }
        command.spawn()
    }

    /// Keeps showing the recording until Ctrl+C, unless that has ended.
    pub(super) fn until_interrupted(mut self, context: &Context) -> anyhow::Result<()> {
        if self.0.try_wait()?.is_none() {
            let tell = || {
                context.note("the recording remains available in the browser until Ctrl+C");
            };
            until_interrupted(tell)?;
        }
        drop(self.0.stdin.take());
        self.0.wait()?;
        Ok(())
    }
}
