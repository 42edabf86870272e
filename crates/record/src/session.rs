//! A recording from start to end.
//!
//! One thread takes samples, from the kernel's rings or by stopping threads, so that nothing is lost while this one finds
//! callers and writes. Records of different processors come in any order; they are put in order of
//! time before they are understood, which is safe for what was taken a round before. Names are looked
//! up by a third thread when a processor is free, and `steps` waits for them.

use std::fmt::Write as _;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use nix::sys::signal::Signal;
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::time::{ClockId, clock_gettime};
use parallax_base::{FolderSink, Place as Where, Severity, Stage};
use parallax_formats::archive::keys;
use parallax_import::events::{Conversion, ConversionError};
use parallax_native::DiskSink;

use crate::events::{Event, Sample, Source, Spare, What};
use crate::images::Images;
use crate::launch::{Program, kept_signals};
use crate::live::{Live, Purpose};
use crate::mpi::Mpi;
use crate::processes::{Place, Processes};
use crate::ranks;
use crate::sampling::Sampling;
use crate::steps::{Kind, Step, Steps};
use crate::threads::Threads;
use crate::{CountedEvent, Detail, RecordError, Recorded, Recording, counters, sources};

/// Bytes that may wait to be written.
const MEMORY_BYTES: usize = 64 << 20;

/// Rounds that may wait to be understood; then the kernel's rings have to hold more.
const ROUNDS: usize = 1024;

/// Longest time between two looks into the rings: usually, and while there are new programs, which
/// have to be looked at before they end. Each look wakes two threads, on a processor that the program
/// could use. The kernel wakes them earlier where a ring fills.
const CALM: Duration = Duration::from_millis(100);
const ATTENTIVE: Duration = Duration::from_millis(20);

/// How long a program is new.
const NEW: Duration = Duration::from_millis(300);

/// Most pieces of memory that are kept for stacks.
const MOST_SPARE: usize = 1024;

/// Why calls of MPI are missing, usually.
const NO_ROOM: &str = "a thread had no room for them";

/// What one look into all rings found.
struct Round {
    /// When it began, or earlier: what happened before is in this round, the next one or earlier ones.
    told_nanos: u64,
    events: Vec<Event>,
    /// Whether calls of MPI are missing.
    is_cut: bool,
}

/// What an archive says about the recording that it is of.
struct About<'r> {
    recording: &'r Recording,
    frequency: u32,
    facts: [(&'static str, String); 3],
    notes: Vec<(&'static str, String)>,
}

impl<'r> About<'r> {
    fn new(recording: &'r Recording, sampling: &Sampling) -> Self {
        let (facts, notes) = (sampling.facts(), sampling.notes());
        Self { recording, frequency: sampling.frequency, facts, notes }
    }
}

/// Of what has no names yet, how old the oldest may be in a snapshot, by who wants it.
const fn most_behind_nanos(purpose: Purpose) -> u64 {
    match purpose {
        Purpose::Shown => 3_000_000_000,
        Purpose::Kept => 10_000_000_000,
    }
}

/// See [`crate::record`].
pub(crate) fn record(recording: &Recording) -> Result<Recorded, RecordError> {
    let output = recording.output.as_path();
    let unwritable = |cause| RecordError::Output { path: output.to_owned(), cause };
    let sink = Arc::new(DiskSink::new(output).map_err(unwritable)?);
    record_into(recording, &sink).map_err(|cause| match sink.keep_snapshot() {
        true => RecordError::Incomplete { path: output.to_owned(), cause: Box::new(cause) },
        false => cause,
    })
}

/// Records into a folder that has its name when the recording is complete.
fn record_into(recording: &Recording, sink: &Arc<DiskSink>) -> Result<Recorded, RecordError> {
    let output = recording.output.as_path();
    let unwritable = |cause| RecordError::Output { path: output.to_owned(), cause };
    let archive = |cause| RecordError::Archive { path: output.to_owned(), cause };
    let mut conversion = Conversion::new(Arc::clone(sink) as _, MEMORY_BYTES).map_err(archive)?;
    // Before any thread is made, so that none of them is ended by these.
    let signals = Signals::kept().map_err(|error| RecordError::Kernel(error.into()))?;
    let mut mpi = recording.mpi.then(|| Mpi::new(recording.mpi_library.as_deref())).transpose()?;
    let given = recording.environment.iter();
    let mut environment: Vec<(String, String)> =
        given.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    environment.extend(mpi.iter().flat_map(Mpi::environment));
    let mut program = Program::stopped(&recording.command, &environment)?;
    let mut sampling = Sampling::open(program.pid(), recording)?;
    let start_nanos = now();
    let spare = Mutex::new(Spare::new());
    let name =
        |counter: &CountedEvent| conversion.counter(&counter.event, counters::unit(&counter.event));
    let counted = recording.counters.iter().map(name).collect();
    let mut understanding = Understanding::new(
        start_nanos,
        sampling.has_switches(),
        (conversion, recording.detail),
        &spare,
    );
    understanding.counted = counted;
    let (sender, receiver) = sync_channel(ROUNDS);
    let about = About::new(recording, &sampling);
    let (status, understood) = thread::scope(|scope| {
        let (program, sources, signals) = (&mut program, (&mut sampling, mpi.as_mut()), &signals);
        let spare = &spare;
        let watching = scope.spawn(move || watch(program, sources, signals, (&sender, spare)));
        let understood =
            understanding.take_all(&receiver, &about, &mut Live::new(sink.snapshots()));
        // Nobody listens any more: the other side ends when it sees that.
        drop(receiver);
        (watching.join(), understood)
    });
    understood.map_err(archive)?;
    let (status, mpi_cut) = match status {
        Ok(status) => status?,
        Err(_) => return Err(RecordError::Kernel(std::io::Error::other("watching failed"))),
    };
    if understanding.steps.threads.is_empty() {
        let cause = match status {
            127 => std::io::ErrorKind::NotFound.into(),
            _ => std::io::Error::other(format!("it ended before it began (exit status {status})")),
        };
        let program = recording.command.first().cloned().unwrap_or_default();
        return Err(RecordError::NotStarted { program, cause });
    }
    let samples = understanding.samples;
    understanding.say_totals(&sampling.totals(recording.counters.len()));
    if recording.sources {
        let files = understanding.steps.symbols.source_files();
        sources::copy(&files, &**sink).map_err(unwritable)?;
    }
    let about = About::new(recording, &sampling);
    let issues = understanding.finish(&about, (status, mpi_cut)).map_err(archive)?;
    sink.publish().map_err(unwritable)?;
    Ok(Recorded { status, samples, fallback: sampling.fallback(), issues })
}

/// Lets the program run, and takes records until it ends. Gives its exit status, and why calls of MPI
/// are missing, where some are.
fn watch(
    program: &mut Program,
    (sampling, mut mpi): (&mut Sampling, Option<&mut Mpi>),
    signals: &Signals,
    (sender, spare): (&SyncSender<Round>, &Mutex<Spare>),
) -> Result<(u8, Option<String>), RecordError> {
    sampling.begin(program)?;
    let mut cut = None;
    let mut stacks = Spare::new();
    let mut newest = Instant::now();
    // Processes that became another program in the round before.
    let mut new: Vec<u32> = Vec::new();
    loop {
        signals.hand_on(program);
        let ended = sampling.ended(program).map_err(RecordError::Kernel)?;
        let begun_nanos = now();
        let told_nanos = sampling.told_until(begun_nanos);
        let mut events = Vec::new();
        if let Ok(mut spare) = spare.lock() {
            stacks.append(&mut spare);
        }
        sampling.drain(&mut events, &mut stacks);
        // The program is not to suffer where its calls cannot be read any further.
        if let Some(own) = &mut mpi
            && let Err(error) = own.drain(&mut events)
        {
            cut = Some(error.to_string());
            mpi = None;
        }
        // Looked at a round after it became the program, when its environment is in place, and now,
        // because it may have ended when the record is understood.
        for pid in std::mem::take(&mut new) {
            events.extend(ranks::of(pid).map(|rank| Event {
                nanos: begun_nanos,
                pid,
                tid: pid,
                what: What::Rank(rank),
            }));
        }
        let is_exec = |event: &&Event| matches!(event.what, What::Name { is_exec: true, .. });
        new.extend(events.iter().filter(is_exec).map(|event| event.pid));
        if !new.is_empty() {
            newest = Instant::now();
        }
        let is_cut = cut.is_some() || mpi.as_ref().is_some_and(|mpi| mpi.is_cut());
        if sender.send(Round { told_nanos, events, is_cut }).is_err() {
            // The archive cannot be written: what the program does is not recorded any further.
            return Ok((ended.unwrap_or(0), cut));
        }
        if let Some(status) = ended {
            return Ok((status, cut.or_else(|| is_cut.then(|| NO_ROOM.to_owned()))));
        }
        let longest = if newest.elapsed() < NEW { ATTENTIVE } else { CALM };
        let signal_file = signals.0.as_fd().as_raw_fd();
        if sampling.wait(signal_file, &|| signals.hand_on(program), longest).is_err() {
            thread::sleep(ATTENTIVE);
        }
    }
}

/// Signals that are for the program, or that must not end a recording half-way.
struct Signals(SignalFd);

impl Signals {
    fn kept() -> nix::Result<Self> {
        let set = kept_signals();
        set.thread_block()?;
        Ok(Self(SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?))
    }

    /// What a terminal sends goes to the program as well; what was sent to this process only is
    /// handed on. That the program ended or stopped is for this process.
    fn hand_on(&self, program: &Program) {
        while let Ok(Some(info)) = self.0.read_signal() {
            let signal = Signal::try_from(info.ssi_signo.cast_signed());
            let is_typed =
                matches!(signal, Ok(Signal::SIGINT | Signal::SIGQUIT)) && info.ssi_code > 0;
            if let Ok(signal) = signal
                && !is_typed
                && signal != Signal::SIGCHLD
            {
                program.signal(signal);
            }
        }
    }
}

impl Drop for Signals {
    /// What came for the program and not in time is of no use; what comes from now on is for the tool.
    fn drop(&mut self) {
        while let Ok(Some(_)) = self.0.read_signal() {}
        let _ = kept_signals().thread_unblock();
    }
}

/// The monotonic clock.
pub(crate) fn now() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC);
    time.map_or(0, |time| Duration::from(time).as_nanos() as u64)
}

/// What records mean.
struct Understanding<'s> {
    images: Images,
    processes: Processes,
    steps: Steps,
    start_nanos: u64,
    last_nanos: u64,
    samples: u64,
    lost: u64,
    /// Samples whose stack was longer than what was taken of it.
    cut: u64,
    /// Whether calls of MPI are missing.
    is_mpi_cut: bool,
    /// Counters of the archive, of the events that are counted.
    counted: Vec<u32>,
    /// Reused for each sample.
    places: Vec<Place>,
    /// Memory of stacks that were understood, until it is given back.
    used: Spare,
    spare: &'s Mutex<Spare>,
}

impl<'s> Understanding<'s> {
    fn new(
        start_nanos: u64,
        has_switches: bool,
        (mut conversion, detail): (Conversion, Detail),
        spare: &'s Mutex<Spare>,
    ) -> Self {
        let threads = Threads::new(start_nanos, has_switches, &mut conversion);
        Self {
            images: Images::default(),
            processes: Processes::default(),
            steps: Steps::new(threads, conversion, detail),
            start_nanos,
            last_nanos: start_nanos,
            samples: 0,
            lost: 0,
            cut: 0,
            is_mpi_cut: false,
            counted: Vec::new(),
            places: Vec::new(),
            used: Spare::new(),
            spare,
        }
    }

    fn take_all(
        &mut self,
        rounds: &Receiver<Round>,
        about: &About<'_>,
        live: &mut Live,
    ) -> Result<(), ConversionError> {
        let mut waiting: Vec<Event> = Vec::new();
        let mut safe_nanos = 0;
        for round in rounds {
            waiting.extend(round.events);
            waiting.sort_by_key(|event| event.nanos);
            let ready = waiting.partition_point(|event| event.nanos < safe_nanos);
            let understood_nanos = std::mem::replace(&mut safe_nanos, round.told_nanos);
            self.is_mpi_cut |= round.is_cut;
            for event in waiting.drain(..ready) {
                self.take(event)?;
            }
            let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
            self.used.truncate(MOST_SPARE.saturating_sub(spare.len()));
            spare.append(&mut self.used);
            drop(spare);
            self.steps.go_on(&self.images)?;
            if understood_nanos > self.start_nanos
                && let Some(purpose) = live.due()
            {
                self.catch_up(understood_nanos, purpose)?;
                live.make(|sink| self.snapshot(understood_nanos, about, sink));
            }
        }
        for event in waiting {
            self.take(event)?;
        }
        self.steps.go_to_end(&self.images)
    }

    fn take(&mut self, event: Event) -> Result<(), ConversionError> {
        let Event { nanos, pid, tid, what } = event;
        let ids = (pid, tid);
        if !matches!(what, What::Lost(_)) {
            self.last_nanos = self.last_nanos.max(nanos);
        }
        let step = match what {
            What::Sample(sample) => self.sample(ids, sample),
            What::Map(map) => {
                self.processes.map(pid, &map, &mut self.images);
                return Ok(());
            }
            What::Name { name, is_exec } => {
                if is_exec {
                    self.processes.forget(pid);
                }
                Step::Name(name)
            }
            What::Begun { parent_pid } => {
                if parent_pid != pid {
                    self.processes.copy(parent_pid, pid);
                }
                Step::Begun { parent_pid }
            }
            What::Rank(rank) => Step::Rank(rank),
            What::Mpi(call) => {
                let (processes, images) = (&self.processes, &self.images);
                self.steps.call(pid, call, |address| processes.place(pid, address), images)
            }
            What::Ended => Step::Ended,
            What::On => Step::On,
            What::Off { is_preempted } => Step::Off { is_preempted },
            What::Lost(count) => {
                self.lost = self.lost.saturating_add(count);
                return Ok(());
            }
        };
        self.steps.take((nanos, ids, step), &self.images)
    }

    fn sample(&mut self, ids: (u32, u32), sample: Sample) -> Step {
        let mut places = std::mem::take(&mut self.places);
        let known = (&self.images, self.steps.symbols.generated());
        let is_whole = self.processes.callers(ids.0, &sample, known, &mut places);
        let frames = self.steps.frames(ids.0, places.iter().rev().copied(), &self.images);
        self.places = places;
        let Sample { is_kernel, source, period, stack, .. } = sample;
        if stack.capacity() > 0 && self.used.len() < MOST_SPARE {
            self.used.push(stack);
        }
        if source == Source::Clock {
            self.samples += 1;
        }
        self.cut += u64::from(!is_whole && source != Source::Switch);
        let kind = match source {
            Source::Clock => Kind::Time,
            Source::Switch => Kind::Switch,
            Source::Counter { at, .. } => {
                let counter = self.counted.get(at).copied().unwrap_or_default();
                Kind::Count { counter, count: period }
            }
        };
        Step::Sample { kind, is_kernel, is_whole, frames }
    }

    /// Says which events are counted, and how often each happened in all.
    fn say_totals(&mut self, totals: &[Option<u64>]) {
        let event = |(counter, total): (&u32, &Option<u64>)| match total {
            Some(total) => format!("{counter}:{total}"),
            None => counter.to_string(),
        };
        let events: Vec<String> = self.counted.iter().zip(totals).map(event).collect();
        if !events.is_empty() {
            self.steps.conversion.fact(keys::COUNTED, events.join(","));
        }
    }

    fn finish(
        mut self,
        about: &About<'_>,
        ended: (u8, Option<String>),
    ) -> Result<parallax_base::Issues, ConversionError> {
        self.say_all(self.last_nanos, about, Some(ended))?;
        self.steps.conversion.finish()
    }

    /// What happened is not to be missing in snapshots for long only because no processor is free to look
    /// names up.
    fn catch_up(&mut self, understood_nanos: u64, purpose: Purpose) -> Result<(), ConversionError> {
        let since = self.steps.waits_since().unwrap_or(understood_nanos);
        if understood_nanos.saturating_sub(since) > most_behind_nanos(purpose) {
            self.steps.catch_up(&self.images)?;
        }
        Ok(())
    }

    /// The archive of what is known, as if everything ended there: what follows the files of the one
    /// that is written, and how much of these belongs to it. Nothing where nothing is known.
    fn snapshot(
        &mut self,
        understood_nanos: u64,
        about: &About<'_>,
        sink: &Arc<dyn FolderSink>,
    ) -> Result<Vec<(&'static str, u64)>, ConversionError> {
        let until = self.steps.waits_since().unwrap_or(understood_nanos).min(understood_nanos);
        if self.steps.threads.is_empty() || until <= self.start_nanos {
            return Ok(Vec::new());
        }
        let fork = self.steps.conversion.fork(sink)?;
        let lengths = fork.lengths().collect();
        let threads = self.steps.threads.clone();
        let conversion = std::mem::replace(&mut self.steps.conversion, fork);
        let threads = std::mem::replace(&mut self.steps.threads, threads);
        // Counters are read at the end: until then, what samples stand for is all that is known.
        self.say_totals(&vec![None; self.counted.len()]);
        let said = self.say_all(until, about, None);
        self.steps.threads = threads;
        let fork = std::mem::replace(&mut self.steps.conversion, conversion);
        said?;
        fork.finish()?;
        Ok(lengths)
    }

    /// Ends all time lines, and says what else the archive says. `ended` is the status of the program
    /// and why calls of MPI are missing; nothing while it runs.
    fn say_all(
        &mut self,
        until_nanos: u64,
        about: &About<'_>,
        ended: Option<(u8, Option<String>)>,
    ) -> Result<(), ConversionError> {
        let recording = about.recording;
        let Steps { threads, conversion, .. } = &mut self.steps;
        threads.finish(until_nanos, conversion)?;
        let (status, mpi_cut) = match ended {
            Some((status, mpi_cut)) => (Some(status), mpi_cut),
            None => (None, self.is_mpi_cut.then(|| NO_ROOM.to_owned())),
        };
        let has_mpi = threads.has_ranks_of_mpi();
        let name = recording.command.first().map(Path::new).and_then(Path::file_name);
        let name = name.unwrap_or_default().to_string_lossy().into_owned();
        let whole = |kind, message: String, count, issues: &mut parallax_base::Issues| {
            let place = Where::from_text("recording");
            issues.report_many(Severity::Warning, Stage::Import, kind, place, count, || message);
        };
        if self.lost > 0 {
            let message = format!(
                "{} records were lost because they came faster than they could be read; record with \
                 a lower frequency, or fewer bytes of the stack",
                self.lost
            );
            whole("samples-lost", message, self.lost, &mut conversion.issues);
        }
        if self.cut > 0 {
            let message = format!(
                "the stack of {} samples is longer than the {} bytes that were taken of it; their \
                 callers are unknown",
                self.cut, recording.stack_bytes
            );
            whole("stack-cut", message, self.cut, &mut conversion.issues);
        }
        if let Some(why) = &mpi_cut {
            let message = format!(
                "not all calls of MPI were recorded: {why}; wait states and the critical path would \
                 be wrong"
            );
            whole("mpi-cut", message, 1, &mut conversion.issues);
        }
        if recording.mpi && !has_mpi && status.is_some() {
            let message =
                "no process called MPI_Init by the library that records calls of MPI: the \
                           program is linked with MPI statically, uses mpi_f08 of MPICH, or does \
                           not use MPI"
                    .to_owned();
            whole("mpi-not-called", message, 1, &mut conversion.issues);
        }
        for (kind, message) in &about.notes {
            let place = Where::from_text("recording");
            let message = || message.clone();
            conversion.issues.report(Severity::Note, Stage::Import, kind, place, message);
        }
        let passed = Duration::from_nanos(until_nanos.saturating_sub(self.start_nanos));
        let state = format!("not complete: its first {:.1} s", passed.as_secs_f64());
        if status.is_none() {
            let message = format!(
                "the recording is not complete: this is a snapshot of its first {:.1} s, made while it \
                 ran",
                passed.as_secs_f64()
            );
            whole("recording-not-complete", message, 1, &mut conversion.issues);
        }
        let mut command = String::new();
        for word in &recording.command {
            let _ = write!(command, "{}{word}", if command.is_empty() { "" } else { " " });
        }
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let ago = now().saturating_sub(self.start_nanos);
        let epoch = (since.as_nanos() as u64).saturating_sub(ago);
        let mut fact = |name: &str, value: String| {
            conversion.fact(format!("{}{name}", keys::FACT), value);
        };
        fact("command", command);
        for (name, value) in &recording.facts {
            fact(name, value.clone());
        }
        match status {
            Some(status) => fact("exit status", status.to_string()),
            None => fact("state", state),
        }
        for (name, value) in &about.facts {
            fact(name, value.clone());
        }
        if has_mpi && mpi_cut.is_none() {
            conversion.fact(keys::MPI_CALLS, "exact");
        }
        conversion.fact(keys::TITLE, name);
        conversion.fact(keys::FORMAT, "samples of Parallax");
        conversion.fact(keys::SAMPLED, about.frequency.to_string());
        conversion.fact(keys::NUM_SAMPLES, self.samples.to_string());
        conversion.fact(keys::EPOCH_OFFSET_NANOS, epoch.to_string());
        Ok(())
    }
}
