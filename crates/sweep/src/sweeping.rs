//! The sweep itself: one run after the other, and the file whole after each.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::SweepError;
use crate::automatic::{Library, Numbers};
use crate::batch;
use crate::energy;
use crate::files::{check_program, save};
use crate::frequency::Wanted;
use crate::iterations::{Estimate, FirstIterations, Request};
use crate::job::{Ended, Ending, Order, Outcome, Stream};
use crate::launch::Job;
use crate::lock::Lock;
use crate::plan::{Configuration, Key, Plan, ProgramOutput};
use crate::record::{Record, Run};
use crate::regions::{self, Regions};
use crate::schedule::{Next, Schedule, Skip};
use crate::series::SAMPLE_PERIOD;
use crate::slurm::Folder;
use crate::topology::{self, Processor};

/// How the recorder is called, before the name of the archive. The supervisor is the tool, too.
const RECORDER: [&str; 4] = ["/proc/self/exe", "record", "--quiet", "--output"];

/// Stands for a folder that is made when the sweep begins, in what [`dry_run`] gives.
pub const TEMPORARY: &str = "{temporary}";

/// Where a sweep writes, and how it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choices {
    /// The file.
    pub output: PathBuf,
    /// Whether what is in the file is gone on with.
    pub resume: bool,
    /// Whether runs of the file that failed are made again.
    pub retry_failed: bool,
    /// The command line as it was typed, for display.
    pub command_line: String,
}

/// Progress, for the user who waits.
#[derive(Debug)]
pub enum Event<'a> {
    /// The file is ready.
    Began {
        /// Runs that it has already.
        done: usize,
        /// Runs that follow, as far as one can tell.
        left: u64,
        /// What may mislead.
        remarks: &'a [String],
    },
    /// A run begins.
    Running {
        /// Which one.
        key: Key,
        /// Whether it is a warm-up.
        is_warmup: bool,
        /// Runs in the file.
        done: usize,
        /// Runs that follow with this one, and how long they take.
        left: (u64, Option<Duration>),
    },
    /// A run ended; unless it was a warm-up, the file has it.
    Ran {
        /// Which one.
        key: Key,
        /// Whether it was a warm-up.
        is_warmup: bool,
        /// How it went.
        outcome: &'a Outcome,
        /// What its iterations say, where some of them are to be enough.
        iterated: Option<Iterated>,
        /// Runs in the file.
        done: usize,
        /// Runs that follow, and how long they take.
        left: (u64, Option<Duration>),
    },
    /// The rest of a configuration is not run.
    Skipped {
        /// Which one.
        configuration: Configuration,
        /// Why.
        why: Skip,
    },
}

/// What the iterations of a run say of its time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Iterated {
    /// How many were measured.
    pub number: u64,
    /// What the first of them say; `None` where there were too few.
    pub estimate: Option<Estimate>,
    /// Whether the run was ended after these, so that nothing else is known of its time.
    pub is_ended: bool,
}

/// How a sweep ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// Runs in the file that succeeded.
    pub succeeded: usize,
    /// Runs in the file that failed.
    pub failed: usize,
    /// Runs in the file that were ended after their first iterations, so that their times are
    /// estimates.
    pub estimated: usize,
    /// Configurations of which runs were left out.
    pub skipped: usize,
    /// Runs in the file of which not all regions could be recorded.
    pub lacking_regions: usize,
    /// What was seen in the runs that were made now, where regions without marks were asked for.
    pub automatic: Option<Automatic>,
}

impl Summary {
    pub(crate) fn count(&mut self, record: &Record) {
        self.succeeded = record.runs().iter().filter(|run| run.is_success).count();
        self.failed = record.runs().len() - self.succeeded;
        self.estimated = record.runs().iter().filter(|run| run.is_estimate).count();
        self.lacking_regions = record.runs().iter().filter(|run| run.lacks_regions).count();
    }
}

/// Parallel regions without marks that were seen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Automatic {
    /// Whether there was any, or no run that could have had one.
    pub has_regions: bool,
    /// Programs and libraries with such regions of which no lines are known.
    pub without_lines: Vec<String>,
}

/// Makes the runs of a plan that the file does not have yet. `launch` makes one run, such as
/// [`crate::launch()`]; `tell` hears what happens.
///
/// # Errors
/// When the plan, the program, or the file is not fit for it, before anything is run; when the file
/// cannot be written any more; and what `launch` fails with.
pub fn sweep(
    plan: &Plan,
    choices: &Choices,
    launch: &mut dyn FnMut(&Job) -> Result<Outcome, SweepError>,
    tell: &mut dyn FnMut(&Event<'_>),
) -> Result<Summary, SweepError> {
    plan.check()?;
    check_programs(plan)?;
    if choices.output.exists() && !choices.resume {
        return Err(SweepError::Exists { path: choices.output.clone() });
    }
    let lock = Lock::new(&choices.output)?;
    let (mut record, remarks, processors) = begin(plan, choices)?;
    let library = if plan.has_automatic_regions { Some(Library::new()?) } else { None };
    let calls = CallLibrary::of(plan)?;
    let mut numbers = record.numbers();
    let mut num_succeeded = 0;
    // What cannot be written is said before anything is measured.
    save(&choices.output, &record.text(), false)?;
    let mut schedule = schedule(plan, &record);
    let mpi_library = calls.as_ref().map(CallLibrary::path);
    let jobs = Jobs { plan, processors: &processors, lock: lock.path(), mpi_library };
    let (done, left) = (record.runs().len(), schedule.left().0);
    tell(&Event::Began { done, left, remarks: &remarks });
    if let Some(slurm) = &plan.slurm {
        return batch::by_slurm((plan, slurm), choices, &jobs, record, schedule, tell);
    }
    let mut summary = Summary::default();
    let mut warm = HashSet::new();
    let mut is_first = true;
    while let Some(next) = schedule.next() {
        let key = match next {
            Next::Run(key) => key,
            Next::Skip(configuration, why) => {
                summary.skipped += 1;
                tell(&Event::Skipped { configuration, why });
                continue;
            }
        };
        let warmups = if warm.insert(key.configuration()) { plan.warmups } else { 0 };
        for number in (1..=warmups).map(Some).chain([None]) {
            if !is_first {
                thread::sleep(plan.pause);
            }
            is_first = false;
            let is_warmup = number.is_some();
            let (done, left) = (record.runs().len(), schedule.left());
            tell(&Event::Running { key, is_warmup, done, left });
            let mut job = jobs.job(key, number)?;
            job.prepare()?;
            let regions = tempfile::tempdir().map_err(SweepError::Regions)?;
            job.record_regions(regions.path());
            if let Some(library) = &library {
                job.load(library);
            }
            let ending = ending(plan, &record, key);
            let of = ending.as_ref().map(|ending| ending.of);
            if let Some(ending) = ending {
                job.end_after(ending);
            }
            let mut outcome = launch(&job)?;
            let mut iterated = None;
            if !is_warmup {
                let regions = read_regions(regions.path(), &mut numbers, of, plan, &mut outcome)?;
                iterated = plan.estimate.as_ref().map(|_| Iterated::of(&regions, &outcome));
                if library.is_some() {
                    record.set_numbers(&numbers);
                    num_succeeded += usize::from(outcome.is_success());
                }
                let run = Run::new(key, &outcome, regions, plan);
                schedule.add(key, run.is_success, run.seconds, run.spent);
                record.add(run);
                save(&choices.output, &record.text(), true)?;
                write_table(plan, &record)?;
            }
            let (done, left) = (record.runs().len(), schedule.left());
            tell(&Event::Ran { key, is_warmup, outcome: &outcome, iterated, done, left });
        }
    }
    summary.count(&record);
    if library.is_some() {
        let (num_seen, without_lines) = numbers.seen();
        summary.automatic = Some(Automatic {
            has_regions: num_seen > 0 || num_succeeded == 0,
            without_lines: without_lines.iter().cloned().collect(),
        });
    }
    Ok(summary)
}

/// Writes the table of the databases that are there, for runs under a tool.
pub(crate) fn write_table(plan: &Plan, record: &Record) -> Result<(), SweepError> {
    let Some(tool) = &plan.tool else { return Ok(()) };
    let runs = record.runs().iter().filter(|run| run.is_success);
    tool.write_table(plan, runs.map(|run| (run.key, name(run.key, None))))
}

/// After how many iterations a run is ended, where that is known and worth it.
pub(crate) fn ending(plan: &Plan, record: &Record, key: Key) -> Option<Ending> {
    let first = plan.estimate.as_ref()?;
    let of = first.of(key.input).or_else(|| record.iterations(key.input))?;
    let FirstIterations { region, from, .. } = first.clone();
    (of > from).then_some(Ending { region, from, of })
}

/// Reads the regions of a run, and what its iterations say. A run that was ended after these and does
/// not have them has failed.
pub(crate) fn read_regions(
    folder: &Path,
    numbers: &mut Numbers,
    of: Option<u64>,
    plan: &Plan,
    outcome: &mut Outcome,
) -> Result<Regions, SweepError> {
    let is_ended = outcome.ended == Some(Ended::Iterations);
    let request = plan.estimate.as_ref().map(|first| Request {
        region: &first.region,
        from: first.from,
        ended_of: of.filter(|_| is_ended),
        start: outcome.start,
    });
    let regions = regions::read(folder, numbers, request.as_ref()).map_err(SweepError::Regions)?;
    if is_ended && regions.estimate.is_none() {
        outcome.exit_status = 1;
        outcome.said =
            "it was ended after its first iterations, whose times cannot be read".to_owned();
    }
    Ok(regions)
}

impl Iterated {
    pub(crate) fn of(regions: &Regions, outcome: &Outcome) -> Self {
        let Regions { num_iterations: number, estimate, .. } = *regions;
        Self { number, estimate, is_ended: outcome.ended == Some(Ended::Iterations) }
    }
}

/// The runs that [`sweep`] would make, in order, as far as that does not depend on their times, with all
/// variables that are set for them. Nothing is run or written: folders that would be made are
/// [`TEMPORARY`].
///
/// # Errors
/// As [`sweep`] before its first run, less those of writing.
pub fn dry_run(plan: &Plan, choices: &Choices) -> Result<Vec<(Key, Job)>, SweepError> {
    plan.check()?;
    check_programs(plan)?;
    if choices.output.exists() && !choices.resume {
        return Err(SweepError::Exists { path: choices.output.clone() });
    }
    let (record, _, processors) = begin(plan, choices)?;
    let temporary = Path::new(TEMPORARY);
    let mpi_library = CallLibrary::planned(plan, temporary);
    let jobs = Jobs { plan, processors: &processors, lock: Path::new(""), mpi_library };
    let of_jobs = plan.slurm.as_ref().map(|_| Folder::of(&choices.output));
    let there: HashSet<Key> = record.runs().iter().map(|run| run.key).collect();
    let mut warm = HashSet::new();
    let mut all = Vec::new();
    for key in plan.keys().into_iter().filter(|key| !there.contains(key)) {
        let warmups = if warm.insert(key.configuration()) { plan.warmups } else { 0 };
        for number in (1..=warmups).map(Some).chain([None]) {
            let mut job = jobs.job(key, number)?;
            job.record_regions(&match &of_jobs {
                Some(folder) => folder.regions(&name(key, None)),
                None => temporary.join("regions"),
            });
            if plan.has_automatic_regions {
                job.load_planned(temporary);
            }
            if let Some(ending) = ending(plan, &record, key) {
                job.end_after(ending);
            }
            all.push((key, job));
        }
    }
    Ok(all)
}

fn check_programs(plan: &Plan) -> Result<(), SweepError> {
    if let Some(launcher) = plan.launcher.as_ref().map(|words| words.first()) {
        let launcher = launcher.ok_or_else(|| SweepError::Plan("the launcher is empty".into()))?;
        check_program(launcher)?;
    }
    if let Some(tool) = &plan.tool {
        tool.check()?;
    }
    if plan.slurm.is_some() {
        // What the nodes have is seen there.
        return check_program(&plan.program);
    }
    if plan.has_energy {
        energy::Counters::open(Path::new(energy::SYSTEM))?;
    }
    for wanted in plan.frequencies.iter().map(|&kilohertz| Some(kilohertz)).chain([None]) {
        if let Some(wanted) = wanted_frequency(plan, wanted) {
            wanted.check()?;
        }
    }
    if let Some(controller) = &plan.controller {
        controller.check()?;
    }
    check_counters(&plan.counters)?;
    check_program(&plan.program)
}

/// What a run at a frequency has the processors set to; `None`: nothing.
fn wanted_frequency(plan: &Plan, kilohertz: Option<u64>) -> Option<Wanted> {
    let (system, governor) = (plan.system.clone(), plan.governor.clone());
    (kilohertz.is_some() || governor.is_some()).then_some(Wanted { system, kilohertz, governor })
}

#[cfg(target_os = "linux")]
fn check_counters(names: &[String]) -> Result<(), SweepError> {
    let opened = parallax_record::EventCounters::open(names);
    opened.map(drop).map_err(|error| SweepError::Plan(error.to_string()))
}

#[cfg(not(target_os = "linux"))]
fn check_counters(names: &[String]) -> Result<(), SweepError> {
    match names {
        [] => Ok(()),
        _ => Err(SweepError::Plan("events are counted on Linux only".to_owned())),
    }
}

/// What the file has, or would have at first; what may mislead; and the processors of this machine.
fn begin(
    plan: &Plan,
    choices: &Choices,
) -> Result<(Record, Vec<String>, Vec<Processor>), SweepError> {
    let allowed = topology::allowed();
    let processors = match &plan.slurm {
        Some(_) => Vec::new(),
        None => topology::processors(Path::new(topology::SYSTEM), &allowed),
    };
    let mut record = Record::new(plan, &choices.command_line, &processors);
    let mut remarks = Vec::new();
    if choices.resume && choices.output.exists() {
        let keeps = |run: &Run| run.is_success || !choices.retry_failed;
        remarks = record.resume(&choices.output, plan, keeps)?;
    }
    let most = plan.cores.last().copied().unwrap_or_default();
    if processors.len() < most as usize && !processors.is_empty() {
        remarks.push(format!(
            "{most} cores are asked for, and this process may use {} processors: runs on more share them",
            processors.len()
        ));
    }
    Ok((record, remarks, processors))
}

fn schedule<'p>(plan: &'p Plan, record: &Record) -> Schedule<'p> {
    let mut schedule = Schedule::new(plan);
    for run in record.runs() {
        schedule.add(run.key, run.is_success, run.seconds, run.spent);
    }
    schedule
}

/// Makes jobs of keys.
pub(crate) struct Jobs<'a> {
    plan: &'a Plan,
    processors: &'a [Processor],
    lock: &'a Path,
    /// The library that records calls of MPI, compiled for all runs.
    mpi_library: Option<PathBuf>,
}

impl Jobs<'_> {
    /// The run of a key, or a warm-up before it.
    pub(crate) fn job(&self, key: Key, warmup: Option<u32>) -> Result<Job, SweepError> {
        let plan = self.plan;
        let (stdout, stderr) = match &plan.output {
            ProgramOutput::OnFailure => (Stream::Null, Stream::Tail),
            ProgramOutput::Discarded => (Stream::Null, Stream::Null),
            ProgramOutput::Shown => (Stream::Shown, Stream::Shown),
            ProgramOutput::Kept(folder) => {
                let name = name(key, warmup);
                let file = |end: &str| {
                    Stream::File(
                        folder.join(format!("{name}.{end}")).to_string_lossy().into_owned(),
                    )
                };
                (file("out"), file("err"))
            }
        };
        let mut command = plan.command(key)?;
        let mut environment = plan.variables(key.cores);
        let run_name = name(key, None);
        let tool = plan.tool.as_ref().filter(|_| warmup.is_none());
        let tool_run = tool.map(|tool| (tool, tool.run(&run_name)));
        if let Some((_, run)) = &tool_run {
            command = run.command(plan.launcher(key), plan.started(key)?);
            run.variables(&mut environment, &plan.environment);
        }
        let archive = plan.archives.as_ref().filter(|_| warmup.is_none());
        let archive = archive.map(|folder| folder.join(format!("{}.parallax", name(key, None))));
        if let Some(archive) = &archive {
            command = self.recorded(key, archive, command);
        }
        let lock = std::path::absolute(self.lock).unwrap_or_else(|_| self.lock.to_owned());
        let order = Order {
            command,
            environment,
            processors: plan.binding.processors(self.processors, key.cores),
            timeout: plan.timeout,
            idle_timeout: plan.idle_timeout,
            stdout,
            stderr,
            energy: plan.has_energy.then(|| energy::SYSTEM.to_owned()),
            counters: plan.counters.clone(),
            sample: plan.sample,
            frequency: wanted_frequency(plan, key.frequency),
            iterations: None,
            then: tool_run.as_ref().map(|(_, run)| run.then()).unwrap_or_default(),
            database: tool_run.as_ref().map(|(_, run)| run.database()),
            lock: lock.to_string_lossy().into_owned(),
        };
        let period = plan.sample.unwrap_or(SAMPLE_PERIOD);
        let controller = plan.controller.clone().map(|controller| (controller, period));
        let tool_folder = tool_run.map(|(_, run)| run.folder().to_owned());
        Ok(Job { order, archive, tool_folder, controller })
    }

    /// A command under the recorder, which is this program; its archive says what is varied.
    fn recorded(&self, key: Key, archive: &Path, command: Vec<String>) -> Vec<String> {
        let plan = self.plan;
        let mut words = RECORDER.map(str::to_owned).to_vec();
        words.push(archive.to_string_lossy().into_owned());
        words.extend(plan.has_mpi_calls.then(|| "--mpi".to_owned()));
        if let Some(library) = &self.mpi_library {
            words.push("--mpi-library".to_owned());
            words.push(library.to_string_lossy().into_owned());
        }
        let input = key.input.and_then(|at| plan.inputs.get(at as usize));
        let facts = [
            Some(format!("cores={}", key.cores)),
            key.frequency.map(|kilohertz| format!("frequency={kilohertz}")),
            input.map(|text| format!("input={text}")),
        ];
        words.extend(facts.into_iter().flatten().flat_map(|fact| ["--fact".to_owned(), fact]));
        words.push("--".to_owned());
        words.extend(command);
        words
    }
}

/// The library that records calls of MPI, which is compiled once for all runs, so that no run takes
/// longer for it.
#[cfg(target_os = "linux")]
struct CallLibrary(parallax_record::MpiLibrary);

#[cfg(target_os = "linux")]
impl CallLibrary {
    fn of(plan: &Plan) -> Result<Option<Self>, SweepError> {
        let library = plan.has_mpi_calls.then(parallax_record::MpiLibrary::new).transpose();
        Ok(library.map_err(|error| SweepError::Recorder(error.to_string()))?.map(Self))
    }

    fn path(&self) -> PathBuf {
        self.0.path()
    }

    /// Where it would be in a folder.
    fn planned(plan: &Plan, folder: &Path) -> Option<PathBuf> {
        plan.has_mpi_calls.then(|| folder.join(parallax_record::MpiLibrary::NAME))
    }
}

/// Runs are made on Linux only.
#[cfg(not(target_os = "linux"))]
struct CallLibrary(PathBuf);

#[cfg(not(target_os = "linux"))]
impl CallLibrary {
    fn of(_plan: &Plan) -> Result<Option<Self>, SweepError> {
        Ok(None)
    }

    fn path(&self) -> PathBuf {
        self.0.clone()
    }

    fn planned(_plan: &Plan, _folder: &Path) -> Option<PathBuf> {
        None
    }
}

/// The name of what a run wrote: `cores4-input0-run1`.
pub(crate) fn name(key: Key, warmup: Option<u32>) -> String {
    let frequency = key.frequency.map_or_else(String::new, |khz| format!("-frequency{khz}"));
    let input = key.input.map_or_else(String::new, |input| format!("-input{input}"));
    let cores = key.cores;
    match warmup {
        Some(number) => format!("cores{cores}{frequency}{input}-warmup{number}"),
        None => format!("cores{cores}{frequency}{input}-run{}", key.repetition),
    }
}
