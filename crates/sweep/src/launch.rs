//! Starting a run: the tool's side of the supervisor.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::SweepError;
use crate::automatic::Library;
use crate::command_line::line;
use crate::ipmi::{self, Controller};
use crate::job::{self, Ending, Order, Outcome, Stream};
use crate::series::{Sampler, time_of};
use crate::tools::make_folder;
use crate::{machine, regions};

/// Where a job is cancelled (`scancel`), all of its processes are ended, in any order, and such a run
/// is to have no outcome: it did not fail by itself. The program may be ended before this process, by
/// this much.
pub(crate) const ALSO_ENDED: Duration = Duration::from_millis(300);

/// The exit status, as a shell has it, of a program that was asked to end (`SIGTERM`).
const ASKED_TO_END: i32 = 128 + 15;

/// Signals by which somebody else ends a process: `SIGHUP`, `SIGINT`, `SIGKILL` and `SIGTERM`.
#[cfg(unix)]
const ENDING: [i32; 4] = [1, 2, 9, 15];

/// With this as its only argument, the tool is a supervisor: it calls [`supervise`].
pub const SUPERVISOR: &str = "supervise-measured-program";

/// One run, ready to be launched.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    pub(crate) order: Order,
    /// The archive that the run makes, if it is recorded.
    pub(crate) archive: Option<PathBuf>,
    /// The folder that a tool fills, if there is one.
    pub(crate) tool_folder: Option<PathBuf>,
    /// Whom the power of the machine is asked of meanwhile, and how often.
    pub(crate) controller: Option<(Controller, Duration)>,
}

impl Job {
    /// The command line, launcher and all.
    #[must_use]
    pub fn command(&self) -> &[String] {
        &self.order.command
    }

    /// What is run after it, to make the database of a tool.
    #[must_use]
    pub fn then(&self) -> &[Vec<String>] {
        &self.order.then
    }

    /// The variables that are set for it.
    #[must_use]
    pub fn variables(&self) -> &[(String, String)] {
        &self.order.environment
    }

    /// The processors that it may use; `None`: all.
    #[must_use]
    pub fn processors(&self) -> Option<&[u32]> {
        self.order.processors.as_deref()
    }

    /// The longest that it may take.
    #[must_use]
    pub const fn timeout(&self) -> Option<Duration> {
        self.order.timeout
    }

    /// Tells the program where the times of its regions go.
    pub(crate) fn record_regions(&mut self, folder: &Path) {
        let folder = folder.to_string_lossy().into_owned();
        self.order.environment.push((regions::VARIABLE.to_owned(), folder));
    }

    /// Has the program ended after its first iterations.
    pub(crate) fn end_after(&mut self, ending: Ending) {
        // What marks collect before they write it is written earlier.
        self.order.environment.push((regions::LIVE.to_owned(), "1".to_owned()));
        self.order.iterations = Some(ending);
    }

    /// After how many iterations the run is ended, and how many a complete one has.
    #[must_use]
    pub fn iterations(&self) -> Option<(u64, u64)> {
        self.order.iterations.as_ref().map(|ending| (ending.from, ending.of))
    }

    /// Has the program load the library that records its parallel regions.
    pub(crate) fn load(&mut self, library: &Library) {
        library.add_to(&mut self.order.environment);
    }

    /// The same for a library that would be made in a folder.
    pub(crate) fn load_planned(&mut self, folder: &Path) {
        Library::add_planned_to(folder, &mut self.order.environment);
    }

    /// Makes the folders of the files into which it writes, and takes the archive of an earlier run
    /// away: that of one that failed, or that is not in the file because the sweep was ended.
    pub(crate) fn prepare(&self) -> Result<(), SweepError> {
        for stream in [&self.order.stdout, &self.order.stderr] {
            if let Stream::File(path) = stream
                && let Some(folder) = Path::new(path).parent()
            {
                let write = |cause| SweepError::Write { path: path.into(), kept: None, cause };
                std::fs::create_dir_all(folder).map_err(write)?;
            }
        }
        if let Some(folder) = &self.tool_folder {
            let write = |cause| SweepError::Write { path: folder.clone(), kept: None, cause };
            make_folder(folder, &self.order.command).map_err(write)?;
        }
        if let Some(archive) = &self.archive {
            parallax_native::forget_abandoned(archive);
        }
        if let Some(archive) = &self.archive
            && archive.exists()
        {
            let write = |cause| SweepError::Write { path: archive.clone(), kept: None, cause };
            parallax_native::discard(archive).map_err(write)?;
        }
        Ok(())
    }
}

/// What says why a database cannot be opened.
pub type Opens<'a> = &'a dyn Fn(&Path) -> Result<(), String>;

/// Runs a job under a supervisor, which is this program started again with [`SUPERVISOR`], and waits
/// for it. The program is ended when this process or the supervisor ends. A run under a tool has
/// failed if it leaves no database, or one that `opens` refuses.
///
/// # Errors
/// When no supervisor can be started or it ends without saying how the run went:
/// [`SweepError::Terminated`] if that was done from outside.
pub fn launch(job: &Job, opens: Opens<'_>) -> Result<Outcome, SweepError> {
    let mut outcome = supervised(job)?;
    if outcome.ended.is_none() && outcome.exit_status == ASKED_TO_END {
        thread::sleep(ALSO_ENDED);
    }
    if let Some(database) = &job.order.database
        && outcome.is_success()
    {
        if let Some((exit_status, why)) = collected(job, database, opens)? {
            outcome.exit_status = exit_status;
            outcome.said = [why, std::mem::take(&mut outcome.said)].join("\n").trim().to_owned();
        } else {
            outcome.said.clear();
        }
    }
    Ok(outcome)
}

/// Has the database of a run made. Why there is none, with an exit status.
fn collected(
    job: &Job,
    database: &str,
    opens: Opens<'_>,
) -> Result<Option<(i32, String)>, SweepError> {
    for command in &job.order.then {
        let order = Order {
            command: command.clone(),
            environment: Vec::new(),
            processors: None,
            idle_timeout: None,
            // The program's own is kept as it is.
            stdout: Stream::Null,
            stderr: Stream::Tail,
            energy: None,
            counters: Vec::new(),
            sample: None,
            frequency: None,
            iterations: None,
            then: Vec::new(),
            database: None,
            ..job.order.clone()
        };
        let made = supervised(&Job { order, archive: None, tool_folder: None, controller: None })?;
        if !made.is_success() {
            let why = format!("{} failed (exit status {})", line(command), made.exit_status);
            return Ok(Some((made.exit_status, [why, made.said].join("\n").trim().to_owned())));
        }
    }
    let path = Path::new(database);
    Ok(opens(path)
        .err()
        .map(|why| (1, format!("the run left no database in {}: {why}", path.display()))))
}

/// Runs one order under a supervisor.
fn supervised(job: &Job) -> Result<Outcome, SweepError> {
    if !cfg!(target_os = "linux") {
        return Err(SweepError::Supervisor("this is possible on Linux only".to_owned()));
    }
    let failed = |what: String| SweepError::Supervisor(what);
    // The file of this process, also when it was replaced meanwhile.
    let mut command = Command::new("/proc/self/exe");
    command.arg(SUPERVISOR).stdin(Stdio::piped()).stdout(Stdio::piped());
    // No concern of the program.
    command.env_remove(ipmi::PASSWORD);
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        // What Ctrl+C sends goes to the tool alone; the supervisor sees it end, and ends the program.
        command.process_group(0);
    }
    let power = job.controller.clone().map(|(controller, period)| {
        // A controller that does not answer once may do so the next time.
        Sampler::start(period.max(ipmi::SHORTEST), None, move |is_last: bool| {
            // The program has ended then, and the machine needs less.
            Ok(if is_last { None } else { controller.read().ok() })
        })
    });
    let (now, epoch) = (Instant::now(), machine::epoch(SystemTime::now()));
    let mut child = command.spawn().map_err(|error| failed(format!("no supervisor: {error}")))?;
    let (mut group, mut outcome) = (None, None);
    // Open until the end: its closing tells the supervisor that this process is gone.
    let pipe = child.stdin.take();
    if let (Some(mut input), Some(output)) = (pipe.as_ref(), child.stdout.take()) {
        let order = format!("{}\n", job.order.to_value());
        // When it cannot be written, the supervisor has ended, and its silence says so below.
        let _ = input.write_all(order.as_bytes());
        for line in BufReader::new(output).lines() {
            let line = line.map_err(|error| failed(error.to_string()))?;
            let Ok(value) = serde_json::from_str(&line) else { continue };
            match job::group_of(&value) {
                Some(number) => group = Some(number),
                None => outcome = Outcome::from_value(&value),
            }
        }
    }
    let status = child.wait().map_err(|error| failed(error.to_string()))?;
    drop(pipe);
    // Killed before it could end the program. One that returned has waited for it, and its number
    // may be that of another process.
    #[cfg(target_os = "linux")]
    if outcome.is_none()
        && status.code().is_none()
        && let Some(group) = group
    {
        crate::supervisor::end_unsupervised(group);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = group;
    if let (Some(outcome), Some(power)) = (&mut outcome, power) {
        let samples = power.stop().unwrap_or_default().into_iter();
        let samples = samples.filter_map(|(at, watts)| Some((time_of(at, now, epoch), watts?)));
        outcome.series.machine.extend(samples);
    }
    outcome.ok_or_else(|| match signal_from_outside(status) {
        Some(signal) => SweepError::Terminated { signal },
        None => failed(format!("the process that watches the program ended ({status})")),
    })
}

/// The signal by which somebody else ended a process.
fn signal_from_outside(status: ExitStatus) -> Option<i32> {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt as _;
        status.signal().filter(|signal| ENDING.contains(signal))
    }
    #[cfg(not(unix))]
    {
        let _ = status;
        None
    }
}

/// Is a supervisor: reads what to run from standard input and writes to standard output how it went.
/// Its failures go to standard error.
#[must_use]
pub fn supervise() -> ExitCode {
    #[cfg(target_os = "linux")]
    {
        let done = crate::supervisor::supervise(std::io::stdin(), std::io::stdout().lock());
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "error: cannot measure: {error}");
                ExitCode::FAILURE
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    ExitCode::FAILURE
}
