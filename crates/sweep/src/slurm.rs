//! Runs as jobs of Slurm: one job array for each core count, each element of it one run.
//!
//! Next to the file of the sweep lies a folder that the nodes see, too. It has an order for each run
//! that is waited for, and the outcomes of those that ended; what has been taken over into the file
//! is removed. So the tool may end while jobs wait, and go on later.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::thread;

use parallax_native::Unfinished;
use serde_json::{Value, json};

use crate::SweepError;
use crate::command_line::quoted;
use crate::job::{Order, Outcome};
use crate::launch::{ALSO_ENDED, Job, Opens, launch};
use crate::machine;

/// With this as its first argument, the tool is an element of a job array: it calls [`run_element`]
/// with the two arguments that follow.
pub const ELEMENT: &str = "run-measured-element";

/// Elements of an array at most: one less than Slurm's own limit (`MaxArraySize`) where nobody
/// changed it.
const MOST_ELEMENTS: usize = 1000;

/// States of a job whose processes are ended by Slurm. A job that ends by itself has them later.
const ENDING: [&str; 6] =
    ["CANCELLED", "COMPLETING", "DEADLINE", "NODE_FAIL", "PREEMPTED", "TIMEOUT"];

/// The file with what was submitted: a line for each array.
const SUBMITTED: &str = "submitted";

/// What a job array is like.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Slurm {
    /// Options for `sbatch`, such as `--partition=short`.
    pub options: Vec<String>,
}

/// One run, as the jobs know it.
pub(crate) struct Element {
    /// The name of its files.
    pub(crate) name: String,
    pub(crate) cores: u32,
    pub(crate) order: Order,
}

/// What an element left.
pub(crate) enum Left {
    /// How it went, and the node that it ran on.
    Outcome(Box<Outcome>, String),
    /// Why it could not run.
    Failed(String),
}

/// The folder of a sweep's jobs.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// That of the sweep that writes `output`: `sweep.json.slurm`.
    pub(crate) fn of(output: &Path) -> Self {
        let output = std::path::absolute(output).unwrap_or_else(|_| output.to_owned());
        let mut name = output.file_name().unwrap_or_default().to_owned();
        name.push(".slurm");
        Self { path: output.with_file_name(name) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn make(&self) -> Result<(), SweepError> {
        fs::create_dir_all(&self.path).map_err(|cause| self.unwritable(cause))
    }

    fn unwritable(&self, cause: io::Error) -> SweepError {
        SweepError::Write { path: self.path.clone(), kept: None, cause }
    }

    fn file(&self, name: &str, end: &str) -> PathBuf {
        self.path.join(format!("{name}.{end}"))
    }

    /// Where the processes of a run put the times of their regions.
    pub(crate) fn regions(&self, name: &str) -> PathBuf {
        self.file(name, "regions")
    }

    /// Names of the runs that left something.
    pub(crate) fn done(&self) -> HashSet<String> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().filter_map(Result::ok);
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter_map(|name| Some(name.strip_suffix(".outcome")?.to_owned())).collect()
    }

    /// What a run left; none while it is not there.
    pub(crate) fn left(&self, name: &str) -> Option<Left> {
        let text = fs::read_to_string(self.file(name, "outcome")).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        if let Some(why) = value.get("failed").and_then(Value::as_str) {
            return Some(Left::Failed(why.to_owned()));
        }
        let node = value.get("node")?.as_str()?.to_owned();
        Some(Left::Outcome(Box::new(Outcome::from_value(value.get("outcome")?)?), node))
    }

    /// Removes the files of a run.
    pub(crate) fn forget(&self, name: &str) {
        for end in ["order", "outcome"] {
            let _ = fs::remove_file(self.file(name, end));
        }
        let _ = fs::remove_dir_all(self.regions(name));
    }

    /// Removes everything.
    pub(crate) fn remove(&self) {
        let _ = fs::remove_dir_all(&self.path);
    }

    /// Removes everything unless a job may need it.
    pub(crate) fn remove_unless_submitted(&self) {
        if self.submitted().is_empty() {
            self.remove();
        }
    }

    /// The runs that were submitted: the number of the array, and their names in it.
    fn submitted(&self) -> Vec<(String, Vec<String>)> {
        let text = fs::read_to_string(self.path.join(SUBMITTED)).unwrap_or_default();
        let arrays = text.lines().filter_map(|line| {
            let mut words = line.split(' ').map(str::to_owned);
            Some((words.next()?, words.collect()))
        });
        arrays.collect()
    }

    /// Names of the runs that wait or run.
    ///
    /// # Errors
    /// When Slurm does not say.
    pub(crate) fn queued(&self) -> Result<HashSet<String>, SweepError> {
        let mut names = HashSet::new();
        for (job, elements) in self.submitted() {
            let mut command = Command::new("squeue");
            command.args(["--noheader", "--array", "--format=%K", "--jobs", &job]);
            let output = said_by(&mut command, "squeue");
            let text = match output {
                Ok(text) => text,
                // Slurm has forgotten a job that ended long ago.
                Err(SweepError::Slurm(said)) if said.contains("Invalid job id") => continue,
                Err(error) => return Err(error),
            };
            let places = text.lines().filter_map(|line| line.trim().parse::<usize>().ok());
            names.extend(places.filter_map(|place| elements.get(place).cloned()));
        }
        Ok(names)
    }

    /// Submits runs: an array for each core count, or several where there are very many.
    ///
    /// # Errors
    /// When a file cannot be written, or Slurm refuses a job.
    pub(crate) fn submit(
        &self,
        slurm: &Slurm,
        program: &str,
        has_ranks: bool,
        elements: &[Element],
    ) -> Result<(), SweepError> {
        let tool = std::env::current_exe().map_err(|error| SweepError::Slurm(error.to_string()))?;
        for element in elements {
            let order = format!("{}\n", element.order.to_value());
            let regions = fs::create_dir_all(self.regions(&element.name));
            regions.map_err(|cause| self.unwritable(cause))?;
            fs::write(self.file(&element.name, "order"), order)
                .map_err(|cause| self.unwritable(cause))?;
        }
        let of_cores = elements.chunk_by(|one, other| one.cores == other.cores);
        for array in of_cores.flat_map(|elements| elements.chunks(MOST_ELEMENTS)) {
            let (Some(first), Some(last)) = (array.first(), array.len().checked_sub(1)) else {
                continue;
            };
            let cores = first.cores;
            let resources = if has_ranks {
                format!("--ntasks={cores}")
            } else {
                format!("--cpus-per-task={cores}")
            };
            let base = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
            let list: String = array.iter().fold(String::new(), |mut list, element| {
                let _ = writeln!(list, "{}", element.name);
                list
            });
            // An array that still waits may begin with the same run.
            let number = format!("array{}", self.submitted().len());
            let names = self.file(&number, "names");
            fs::write(&names, list).map_err(|cause| self.unwritable(cause))?;
            let quote = |path: &Path| quoted(&path.to_string_lossy()).into_owned();
            let script = format!(
                "#!/bin/sh\n#SBATCH --job-name={}\n#SBATCH --array=0-{last}\n#SBATCH {resources}\n\
                 #SBATCH --output={}\nexec {} {ELEMENT} {} \"$SLURM_ARRAY_TASK_ID\"\n",
                quoted(&format!("{base}-{cores}")),
                quote(&self.path.join("slurm-%A_%a.log")),
                quote(&tool),
                quote(&names),
            );
            let path = self.file(&number, "sh");
            fs::write(&path, script).map_err(|cause| self.unwritable(cause))?;
            let mut command = Command::new("sbatch");
            command.arg("--parsable").args(&slurm.options).arg(&path);
            let said = said_by(&mut command, "sbatch")?;
            let job = said.trim().split(';').next().unwrap_or_default().to_owned();
            let line = array.iter().fold(job, |line, element| format!("{line} {}", element.name));
            let mut text = fs::read_to_string(self.path.join(SUBMITTED)).unwrap_or_default();
            text.push_str(&line);
            text.push('\n');
            write_whole(&self.path.join(SUBMITTED), &text)
                .map_err(|cause| self.unwritable(cause))?;
        }
        Ok(())
    }
}

/// What a command of Slurm writes.
fn said_by(command: &mut Command, name: &str) -> Result<String, SweepError> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => SweepError::Plan(format!(
            "there is no {name} here: --slurm runs where jobs can be submitted, such as a login node"
        )),
        _ => SweepError::Slurm(format!("cannot run {name}: {error}")),
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(SweepError::Slurm(format!("{name}: {}", said.trim())))
}

fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let unfinished = Unfinished::new(path)?;
    fs::write(unfinished.content(), text)?;
    unfinished.publish(path)
}

/// Is an element of a job array: makes the run that `names`, a file, has at the place `index`, and
/// leaves its outcome in the folder of that file. Its failures go to standard error, too.
#[must_use]
pub fn run_element(names: &Path, index: &str, opens: Opens<'_>) -> ExitCode {
    let text = fs::read_to_string(names).unwrap_or_default();
    let name = index.parse::<usize>().ok().and_then(|index| text.lines().nth(index));
    let (Some(name), Some(path)) = (name, names.parent()) else {
        eprintln!("error: cannot measure: {} has no run {index}", names.display());
        return ExitCode::FAILURE;
    };
    let folder = Folder { path: path.to_owned() };
    let result = element(&folder, name, opens);
    if is_cancelled(&result) {
        eprintln!("error: the job was cancelled: this run has no outcome");
        return ExitCode::FAILURE;
    }
    let value = match &result {
        Ok(outcome) => json!({ "outcome": outcome.to_value(), "node": machine::host() }),
        Err(error) => json!({ "failed": error.to_string() }),
    };
    let written = write_whole(&folder.file(name, "outcome"), &value.to_string());
    let why = match (&result, &written) {
        (Ok(_), Ok(())) => return ExitCode::SUCCESS,
        (Err(error), _) => error.to_string(),
        (_, Err(error)) => format!("cannot write the outcome: {error}"),
    };
    eprintln!("error: {why}");
    ExitCode::FAILURE
}

/// Whether the job is being ended (`scancel`, its time limit), so that the run did not end by itself.
/// All processes of a job are told to end, in any order; if this one is the last, it is to leave no
/// outcome either.
fn is_cancelled(result: &Result<Outcome, SweepError>) -> bool {
    match result {
        Err(error) => matches!(error, SweepError::Terminated { .. }),
        Ok(outcome) if outcome.is_success() => {
            // A program may answer the signal by ending well. This process is then ended here.
            thread::sleep(ALSO_ENDED);
            false
        }
        // It was ended by its own limits.
        Ok(outcome) if outcome.ended.is_some() => false,
        // Ranks on other nodes may be told long before; Slurm has noted it before anybody is told.
        Ok(_) => match job_state() {
            Some(state) => ENDING.contains(&state.as_str()),
            None => {
                thread::sleep(ALSO_ENDED);
                false
            }
        },
    }
}

/// The state of the element of an array that this process is part of, if Slurm says it.
fn job_state() -> Option<String> {
    // The number of the job alone may be that of the whole array.
    let [array, element] = ["SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID"].map(std::env::var);
    let job = format!("{}_{}", array.ok()?, element.ok()?);
    let mut command = Command::new("squeue");
    command.args(["--noheader", "--format=%T", "--jobs", &job]);
    let said = said_by(&mut command, "squeue").ok()?;
    Some(said.trim().to_owned()).filter(|state| !state.is_empty())
}

fn element(folder: &Folder, name: &str, opens: Opens<'_>) -> Result<Outcome, SweepError> {
    let path = folder.file(name, "order");
    let read = |source| SweepError::Read { path: path.clone(), source };
    let text = fs::read_to_string(&path).map_err(read)?;
    let order = serde_json::from_str(&text).ok().as_ref().and_then(Order::from_value);
    let mut order = order.ok_or_else(|| read(io::Error::other("it is no order")))?;
    // The lock of the sweep is for runs on its own machine.
    let lock = tempfile::NamedTempFile::new().map_err(read)?;
    order.lock = lock.path().to_string_lossy().into_owned();
    launch(&Job { order, archive: None, tool_folder: None, controller: None }, opens)
}
