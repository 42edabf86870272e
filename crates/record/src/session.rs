//! A recording from start to end.
//!
//! One thread takes records out of the kernel's rings, so that nothing is lost while this one finds
//! callers and names and writes. Records of different processors come in any order; they are put in
//! order of time before they are understood, which is safe for what was taken a round before.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, SystemTime};

use nix::sys::signal::Signal;
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::time::{ClockId, clock_gettime};
use parallax_base::{Place as Where, Severity, Stage};
use parallax_formats::archive::keys;
use parallax_import::events::{Conversion, ConversionError};
use parallax_native::DiskSink;

use crate::events::{Event, Sample, What};
use crate::images::Images;
use crate::launch::{Program, kept_signals};
use crate::mpi::{Call, Mpi};
use crate::processes::{Place, Processes};
use crate::ranks;
use crate::rings::Rings;
use crate::symbols::Symbols;
use crate::threads::Threads;
use crate::{RecordError, Recorded, Recording};

/// Bytes that may wait to be written.
const MEMORY_BYTES: usize = 64 << 20;

/// Rounds that may wait to be understood; then the kernel's rings have to hold more.
const ROUNDS: usize = 1024;

/// Between two looks into the rings, when they are nearly empty and when they are not. Each look wakes
/// two threads, on a processor that the program could use; the largest ring holds a quarter of a
/// second of samples at the usual frequency.
const CALM: Duration = Duration::from_millis(20);
const HURRY: Duration = Duration::from_millis(1);

/// What one look into all rings found.
struct Round {
    /// When it began: what happened before is in this round, the next one or earlier ones.
    begun_nanos: u64,
    events: Vec<Event>,
}

/// See [`crate::record`].
pub(crate) fn record(recording: &Recording) -> Result<Recorded, RecordError> {
    let output = recording.output.as_path();
    let unwritable = |cause| RecordError::Output { path: output.to_owned(), cause };
    let sink = Arc::new(DiskSink::new(output).map_err(unwritable)?);
    let archive = |cause| RecordError::Archive { path: output.to_owned(), cause };
    let conversion = Conversion::new(Arc::clone(&sink) as _, MEMORY_BYTES).map_err(archive)?;
    // Before any thread is made, so that none of them is ended by these.
    let signals = Signals::kept().map_err(|error| RecordError::Kernel(error.into()))?;
    let mut mpi = recording.mpi.then(Mpi::new).transpose()?;
    let given = recording.environment.iter();
    let mut environment: Vec<(String, String)> =
        given.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    environment.extend(mpi.iter().flat_map(Mpi::environment));
    let mut program = Program::stopped(&recording.command, &environment)?;
    let mut rings = Rings::open(program.pid(), recording)?;
    let (has_kernel, has_switches) = (rings.has_kernel, rings.has_switches);
    let start_nanos = now();
    let mut understanding = Understanding::new(start_nanos, has_switches, conversion);
    let (sender, receiver) = sync_channel(ROUNDS);
    let (status, understood) = thread::scope(|scope| {
        let (program, sources, signals) = (&mut program, (&mut rings, mpi.as_mut()), &signals);
        let watching = scope.spawn(move || watch(program, sources, signals, &sender));
        let understood = understanding.take_all(&receiver);
        // Nobody listens any more: the other side ends when it sees that.
        drop(receiver);
        (watching.join(), understood)
    });
    understood.map_err(archive)?;
    let (status, mpi_cut) = match status {
        Ok(status) => status.map_err(RecordError::Kernel)?,
        Err(_) => return Err(RecordError::Kernel(std::io::Error::other("watching failed"))),
    };
    if understanding.threads.is_empty() {
        let cause = match status {
            127 => std::io::ErrorKind::NotFound.into(),
            _ => std::io::Error::other(format!("it ended before it began (exit status {status})")),
        };
        let program = recording.command.first().cloned().unwrap_or_default();
        return Err(RecordError::NotStarted { program, cause });
    }
    let samples = understanding.samples;
    let issues = understanding
        .finish(recording, (status, mpi_cut), (has_kernel, has_switches))
        .map_err(archive)?;
    sink.publish().map_err(unwritable)?;
    Ok(Recorded { status, samples, issues })
}

/// Lets the program run, and takes records until it ends. Gives its exit status, and why calls of MPI
/// are missing, where some are.
fn watch(
    program: &mut Program,
    (rings, mut mpi): (&mut Rings, Option<&mut Mpi>),
    signals: &Signals,
    sender: &SyncSender<Round>,
) -> std::io::Result<(u8, Option<String>)> {
    program.go_on()?;
    let mut cut = None;
    // Processes that became another program in the round before.
    let mut new: Vec<u32> = Vec::new();
    loop {
        signals.hand_on(program);
        let ended = program.ended()?;
        let begun_nanos = now();
        let mut events = Vec::new();
        let fullest = rings.drain(&mut events);
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
        if sender.send(Round { begun_nanos, events }).is_err() {
            // The archive cannot be written: what the program does is not recorded any further.
            return Ok((ended.unwrap_or(0), cut));
        }
        if let Some(status) = ended {
            let is_cut = mpi.is_some_and(|mpi| mpi.is_cut());
            let why = || "a thread had no room for them".to_owned();
            return Ok((status, cut.or_else(|| is_cut.then(why))));
        }
        thread::sleep(if fullest > 0.1 { HURRY } else { CALM });
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
    /// handed on.
    fn hand_on(&self, program: &Program) {
        while let Ok(Some(info)) = self.0.read_signal() {
            let signal = Signal::try_from(info.ssi_signo.cast_signed());
            let is_typed =
                matches!(signal, Ok(Signal::SIGINT | Signal::SIGQUIT)) && info.ssi_code > 0;
            if let Ok(signal) = signal
                && !is_typed
            {
                program.signal(signal);
            }
        }
    }
}

/// The monotonic clock.
fn now() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC);
    time.map_or(0, |time| Duration::from(time).as_nanos() as u64)
}

/// What records mean.
struct Understanding {
    conversion: Conversion,
    images: Images,
    processes: Processes,
    symbols: Symbols,
    threads: Threads,
    start_nanos: u64,
    last_nanos: u64,
    samples: u64,
    lost: u64,
    /// Samples whose stack was longer than what was taken of it.
    cut: u64,
    kernel: u32,
    partial: u32,
    /// Reused for each sample.
    places: Vec<Place>,
    /// Open functions by process and call path.
    called: HashMap<(u32, u64), Arc<[u32]>>,
}

impl Understanding {
    fn new(start_nanos: u64, has_switches: bool, mut conversion: Conversion) -> Self {
        let threads = Threads::new(start_nanos, has_switches, &mut conversion);
        let kernel = conversion.function("<kernel>", "");
        let partial = conversion.function("<partial call paths>", "");
        Self {
            conversion,
            images: Images::default(),
            processes: Processes::default(),
            symbols: Symbols::default(),
            threads,
            start_nanos,
            last_nanos: start_nanos,
            samples: 0,
            lost: 0,
            cut: 0,
            kernel,
            partial,
            places: Vec::new(),
            called: HashMap::new(),
        }
    }

    fn take_all(&mut self, rounds: &Receiver<Round>) -> Result<(), ConversionError> {
        let mut waiting: Vec<Event> = Vec::new();
        let mut safe_nanos = 0;
        for round in rounds {
            waiting.extend(round.events);
            waiting.sort_by_key(|event| event.nanos);
            let ready = waiting.partition_point(|event| event.nanos < safe_nanos);
            safe_nanos = round.begun_nanos;
            for event in waiting.drain(..ready) {
                self.take(event)?;
            }
            self.conversion.commit()?;
        }
        for event in waiting {
            self.take(event)?;
        }
        self.conversion.commit()
    }

    fn take(&mut self, event: Event) -> Result<(), ConversionError> {
        let Event { nanos, pid, tid, what } = event;
        let (conversion, ids) = (&mut self.conversion, (pid, tid));
        if !matches!(what, What::Lost(_)) {
            self.last_nanos = self.last_nanos.max(nanos);
        }
        match what {
            What::Sample(sample) => self.sample(nanos, ids, &sample),
            What::Map(map) => self.processes.map(pid, &map, &mut self.images),
            What::Name { name, is_exec } => {
                if is_exec {
                    self.processes.forget(pid);
                }
                self.threads.name(pid, tid, name, conversion);
            }
            What::Begun { parent_pid } => {
                if parent_pid != pid {
                    self.processes.copy(parent_pid, pid);
                    self.threads.process(parent_pid, pid);
                }
                self.threads.begun(pid, tid, conversion);
            }
            What::Rank(rank) => self.threads.rank(pid, rank),
            What::Mpi(call) => self.call(nanos, ids, call),
            What::Ended => return self.threads.ended(nanos, tid, conversion),
            What::On => self.threads.on(nanos, ids, conversion),
            What::Off { is_preempted } => self.threads.off(nanos, ids, is_preempted, conversion),
            What::Lost(count) => self.lost = self.lost.saturating_add(count),
        }
        Ok(())
    }

    fn call(&mut self, nanos: u64, ids: (u32, u32), call: Call) {
        let path = match &call {
            Call::Enter { hash, stack } => {
                let key = (ids.0, *hash);
                match self.called.get(&key) {
                    Some(path) => Arc::clone(path),
                    None => {
                        let path = self.path_of(ids.0, stack);
                        self.called.insert(key, Arc::clone(&path));
                        path
                    }
                }
            }
            _ => Arc::default(),
        };
        self.threads.call(nanos, ids, (call, path), &mut self.conversion);
    }

    /// The functions to which calls return, the outermost first.
    fn path_of(&mut self, pid: u32, stack: &[u64]) -> Arc<[u32]> {
        let mut path = Vec::with_capacity(stack.len() + 2);
        for address in stack.iter().rev() {
            // What it returns to is behind the call.
            let place = self.processes.place(pid, address.saturating_sub(1));
            path.extend(self.symbols.at(pid, place, &self.images, &mut self.conversion).iter());
        }
        path.into()
    }

    fn sample(&mut self, nanos: u64, ids: (u32, u32), sample: &Sample) {
        let mut places = std::mem::take(&mut self.places);
        let is_whole = {
            let known = (&self.images, self.symbols.generated());
            self.processes.callers(ids.0, sample, known, &mut places)
        };
        let mut path = Vec::with_capacity(places.len() + 2);
        if !is_whole {
            self.cut += u64::from(!sample.is_switch);
            path.push(self.partial);
        }
        for place in places.iter().rev() {
            path.extend(self.symbols.at(ids.0, *place, &self.images, &mut self.conversion).iter());
        }
        self.places = places;
        if self.threads.has_ranks_of_mpi() {
            self.symbols.keep_one_of_mpi(&mut path);
        }
        if sample.is_switch {
            self.threads.at_switch(ids, path, &mut self.conversion);
            return;
        }
        if sample.is_kernel {
            path.push(self.kernel);
        }
        self.samples += 1;
        self.threads.sample(nanos, ids, path, &mut self.conversion);
    }

    fn finish(
        mut self,
        recording: &Recording,
        (status, mpi_cut): (u8, Option<String>),
        (has_kernel, has_switches): (bool, bool),
    ) -> Result<parallax_base::Issues, ConversionError> {
        self.threads.finish(self.last_nanos, &mut self.conversion)?;
        let has_mpi = self.threads.has_ranks_of_mpi();
        let conversion = &mut self.conversion;
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
        if recording.mpi && !has_mpi {
            let message =
                "no process called MPI_Init by the library that records calls of MPI: the \
                           program is linked with MPI statically, uses mpi_f08 of Fortran, or does \
                           not use MPI"
                    .to_owned();
            whole("mpi-not-called", message, 1, &mut conversion.issues);
        }
        if !has_switches {
            conversion.issues.report(
                Severity::Note,
                Stage::Import,
                "switches-guessed",
                Where::from_text("recording"),
                || {
                    "where threads wait is known as far as the samples before and after agree, \
                     because the kernel does not allow this user to see more"
                        .to_owned()
                },
            );
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
        fact("exit status", status.to_string());
        fact("sampling frequency", format!("{} Hz", recording.frequency));
        fact("kernel time", if has_kernel { "recorded" } else { "not recorded" }.to_owned());
        if has_mpi && mpi_cut.is_none() {
            conversion.fact(keys::MPI_CALLS, "exact");
        }
        conversion.fact(keys::TITLE, name);
        conversion.fact(keys::FORMAT, "samples of Parallax");
        conversion.fact(keys::SAMPLED, recording.frequency.to_string());
        conversion.fact(keys::NUM_SAMPLES, self.samples.to_string());
        conversion.fact(keys::EPOCH_OFFSET_NANOS, epoch.to_string());
        self.conversion.finish()
    }
}
