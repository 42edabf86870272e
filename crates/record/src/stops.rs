//! Samples without the kernel's counters: this process traces the program, stops each thread for a
//! moment at a regular interval, and reads its registers and its stack (`ptrace`).
//!
//! All of it happens on one thread, which is the tracer; what is traced goes on by itself when that
//! thread ends. A thread that waits is stopped once, to learn where it waits, and then left alone until
//! it has run again. ADR 0108 has the reasons.

use std::collections::HashMap;
use std::io;
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::time::{ClockId, clock_gettime};
use parallax_native::{
    ThreadRegisters, TracedChange, changed_thread, interrupt_thread, keep_stopped, resume_thread,
    trace_program, traced_change, wait_for_any,
};

use crate::events::{Event, Sample, Source, Spare, What};
use crate::mapped::{Living, has_handler, name_of, process_of};
use crate::registers::Registers;
use crate::session::now;
use crate::usage::{Account, Meter, Turn, state};
use crate::{Recording, ranks};

/// Samples for each second in which a thread runs, where nothing is said: more would slow the program
/// down by more than one or two percent.
pub(crate) const FREQUENCY: u32 = 250;

/// Shortest time between two ticks.
const SHORTEST: Duration = Duration::from_micros(10);

/// Most events that wait to be taken.
const MOST_EVENTS: usize = 1024;

/// The tracer works no more than one part in so many of the time.
const MOST_WORK: u32 = 8;

/// Rounds in which nothing is to be seen of a thread that was asked to stop, until it is looked at
/// what it does.
const MOST_SILENT: u32 = 2;

/// A program that is traced.
#[derive(Debug)]
pub(crate) struct Stops {
    period: Duration,
    stack_bytes: usize,
    threads: HashMap<i32, Thread>,
    processes: HashMap<u32, Living>,
    events: Vec<Event>,
    spare: Spare,
    /// The first process.
    program: i32,
    /// Most files of threads that are kept open.
    most_files: usize,
    /// How that ended.
    ended: Option<u8>,
    next: Instant,
    /// Decides how long each pause is.
    random: u64,
    /// Before this, all is told: until the round before the last one, and until the last one.
    told: [u64; 2],
    ticks: u64,
    /// Ticks that were skipped because the ones before took long.
    skipped: u64,
}

#[derive(Debug)]
struct Thread {
    pid: u32,
    meter: Meter,
    account: Account,
    /// Whether it was asked to stop, and for how many ticks it has not done so.
    asked: Option<u32>,
    /// Whether it is stopped with its process.
    is_stopped: bool,
    /// Registers that say to the program that its call was interrupted, where it makes that again.
    interrupted: Option<ThreadRegisters>,
}

/// Processor time of this thread.
fn work() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

/// The time between two ticks: a quarter more or less, so that what a program does at regular intervals
/// is not always seen at the same point.
fn pause(random: &mut u64, period: Duration) -> Duration {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    let share = u32::try_from(*random % 513).unwrap_or(256);
    period * (768 + share) / 1024
}

impl Stops {
    pub(crate) fn new(program: i32, recording: &Recording, frequency: u32) -> Self {
        Self {
            period: (Duration::from_secs(1) / frequency.max(1)).max(SHORTEST),
            stack_bytes: recording.stack_bytes as usize,
            threads: HashMap::new(),
            processes: HashMap::new(),
            events: Vec::new(),
            spare: Spare::new(),
            program,
            most_files: 0,
            ended: None,
            next: Instant::now(),
            random: 0x9e37_79b9_7f4a_7c15,
            told: [0; 2],
            ticks: 0,
            skipped: 0,
        }
    }

    /// Begins to trace the program, which has not been executed yet.
    pub(crate) fn begin(&mut self) -> io::Result<()> {
        trace_program(self.program)?;
        // Each thread and each process has files; the program was started with the limit as it is.
        if let Ok((_, most)) = getrlimit(Resource::RLIMIT_NOFILE) {
            let _ = setrlimit(Resource::RLIMIT_NOFILE, most, most);
            self.most_files = usize::try_from(most / 4).unwrap_or(usize::MAX);
        }
        self.next = Instant::now();
        self.add(self.program, self.program.cast_unsigned(), now());
        Ok(())
    }

    /// How the program ended.
    pub(crate) const fn ended(&self) -> Option<u8> {
        self.ended
    }

    /// How many ticks there were, and how many were skipped.
    pub(crate) const fn ticks(&self) -> (u64, u64) {
        (self.ticks, self.skipped)
    }

    /// Until when all that happened is told in the round that begins now, or will be in the next one:
    /// what a thread did is known when it stops.
    pub(crate) fn told_until(&mut self, nanos: u64) -> u64 {
        let lag = (self.period * (MOST_SILENT + 2)).as_nanos() as u64;
        let [_, before] = self.told;
        let until = nanos.saturating_sub(lag).max(before);
        self.told = [before, until];
        until
    }

    /// Traces until the time is over, the program has ended or much was found. `signals` has signals of
    /// this process, one of which says that something happened, and `hand_on` takes them out.
    pub(crate) fn wait(
        &mut self,
        signals: RawFd,
        hand_on: &dyn Fn(),
        longest: Duration,
    ) -> io::Result<()> {
        let until = Instant::now() + longest;
        loop {
            self.take_changes();
            if Instant::now() >= self.next {
                self.tick();
                self.take_changes();
            }
            let now = Instant::now();
            if self.ended.is_some() || now >= until || self.events.len() >= MOST_EVENTS {
                return Ok(());
            }
            wait_for_any(&[signals], self.next.min(until).saturating_duration_since(now))?;
            hand_on();
        }
    }

    /// Takes what was found.
    pub(crate) fn drain(&mut self, taken: &mut Vec<Event>, spare: &mut Spare) {
        self.spare.append(spare);
        if self.ended.is_some() {
            self.last();
        }
        taken.append(&mut self.events);
    }

    /// What is known of threads that do not end with the program.
    fn last(&mut self) {
        let left: Vec<i32> = self.threads.keys().copied().collect();
        for tid in left {
            self.over(tid, now());
        }
    }

    /// Asks all threads to stop that did something.
    fn tick(&mut self) {
        let begun = work();
        let mut all: Vec<i32> = self.threads.keys().copied().collect();
        all.sort_unstable();
        for tid in all {
            let nanos = now();
            let Some(thread) = self.threads.get_mut(&tid) else { continue };
            let ids = (thread.pid, tid.cast_unsigned());
            if thread.is_stopped || !self.processes.contains_key(&thread.pid) {
                continue;
            }
            if let Some(silent) = &mut thread.asked {
                *silent += 1;
                // It may wait for a disk, or for a child that has its memory.
                if *silent > MOST_SILENT
                    && thread.account.is_running
                    && state(ids.0, ids.1) == Some('D')
                {
                    self.account(tid, nanos, false);
                }
                continue;
            }
            let usage = thread.meter.read(ids, nanos, None);
            if thread.account.still_waits(nanos, usage) {
                continue;
            }
            if interrupt_thread(tid).is_ok() {
                thread.asked = Some(0);
            }
            // Meanwhile the one before has stopped.
            self.take_changes();
        }
        self.ticks += 1;
        let soonest = Instant::now() + work().saturating_sub(begun) * MOST_WORK;
        self.next += pause(&mut self.random, self.period);
        let late = soonest.saturating_duration_since(self.next);
        if !late.is_zero() {
            self.skipped += (late.as_nanos() / self.period.as_nanos()) as u64 + 1;
            self.next = soonest;
        }
    }

    /// Sees what happened to threads, and lets them go on.
    fn take_changes(&mut self) {
        while let Some((tid, has_ended)) = changed_thread() {
            let nanos = now();
            if has_ended {
                self.over(tid, nanos);
            }
            let Some(change) = traced_change(tid) else { return };
            // A thread that stops for another reason does not stop once more.
            let thread = self.threads.get_mut(&tid);
            let was_asked = thread.is_some_and(|thread| thread.asked.take().is_some());
            // It may have been ended by SIGKILL meanwhile: then all of these fail, and its end is next.
            let _ = match change {
                TracedChange::Exited(status) => {
                    self.gone(tid, status & 0xff);
                    Ok(())
                }
                TracedChange::Killed(signal) => {
                    self.gone(tid, 128 + signal);
                    Ok(())
                }
                TracedChange::Stopped => self.stopped(tid, nanos, was_asked),
                TracedChange::Made => resume_thread(tid, 0),
                TracedChange::Exec(former) => {
                    self.executed(tid, former, nanos);
                    resume_thread(tid, 0)
                }
                TracedChange::Signal(signal) => {
                    self.before_signal(tid, signal);
                    resume_thread(tid, signal)
                }
                TracedChange::WithProcess => {
                    self.account(tid, nanos, false);
                    if let Some(thread) = self.threads.get_mut(&tid) {
                        thread.is_stopped = true;
                    }
                    keep_stopped(tid)
                }
            };
        }
    }

    /// A thread stopped because it was asked to, or is new.
    fn stopped(&mut self, tid: i32, nanos: u64, was_asked: bool) -> io::Result<()> {
        let Some(thread) = self.threads.get_mut(&tid) else {
            self.begun(tid, nanos);
            return resume_thread(tid, 0);
        };
        thread.is_stopped = false;
        thread.interrupted = None;
        let pid = thread.pid;
        let registers = ThreadRegisters::of(tid).ok();
        if let Some(again) = registers.filter(|_| was_asked).and_then(|own| own.again())
            && again.give(tid).is_ok()
        {
            thread.interrupted = registers;
        }
        let Some(living) = self.processes.get_mut(&pid).filter(|_| was_asked) else {
            return resume_thread(tid, 0);
        };
        let Some(registers) = registers else {
            self.account(tid, nanos, true);
            return resume_thread(tid, 0);
        };
        let mut stack = self.spare.pop().unwrap_or_default();
        living.read(registers.stack(), self.stack_bytes, &mut stack);
        let is_known = living.knows(registers.instruction());
        if !is_known {
            self.find_code(pid, nanos, registers.instruction());
        }
        // What it did until now is read while it is still stopped, and all else when it goes on.
        let turns = self.turns(tid, nanos, !registers.is_waiting());
        let gone_on = resume_thread(tid, 0);
        if is_known {
            self.find_code(pid, nanos, registers.instruction());
        }
        let sample = Sample {
            is_kernel: registers.is_in_call(),
            source: if registers.is_waiting() { Source::Switch } else { Source::Clock },
            period: 0,
            is_cut: stack.len() == self.stack_bytes,
            registers: Some(Registers::of(&registers)),
            stack,
        };
        self.tell(tid, pid, turns, Some((nanos, sample)));
        gone_on
    }

    /// What a thread did until now.
    fn turns(&mut self, tid: i32, nanos: u64, is_running: bool) -> Vec<(u64, Turn)> {
        let Some(thread) = self.threads.get_mut(&tid) else { return Vec::new() };
        if !self.processes.contains_key(&thread.pid) {
            return Vec::new();
        }
        let runs = Some(is_running && thread.account.is_running);
        let usage = thread.meter.read((thread.pid, tid.cast_unsigned()), nanos, runs);
        thread.account.close(nanos, usage, is_running)
    }

    fn account(&mut self, tid: i32, nanos: u64, is_running: bool) {
        let turns = self.turns(tid, nanos, is_running);
        let Some(pid) = self.threads.get(&tid).map(|thread| thread.pid) else { return };
        self.tell(tid, pid, turns, None);
    }

    /// Makes events of what a thread did, with a sample of where it waits or runs in the end.
    fn tell(&mut self, tid: i32, pid: u32, turns: Vec<(u64, Turn)>, sample: Option<(u64, Sample)>) {
        let tid = tid.cast_unsigned();
        let [told, _] = self.told;
        let (mut sample, is_switch) = match sample {
            Some((nanos, sample)) => {
                let is_switch = sample.source == Source::Switch;
                (Some((nanos, What::Sample(sample))), is_switch)
            }
            None => (None, false),
        };
        let last = turns.len().saturating_sub(1);
        for (number, (nanos, turn)) in turns.into_iter().enumerate() {
            let nanos = nanos.max(told);
            if is_switch
                && number == last
                && let Some((_, what)) = sample.take()
            {
                self.events.push(Event { nanos, pid, tid, what });
            }
            let what = match turn {
                Turn::On => What::On,
                Turn::Preempted => What::Off { is_preempted: true },
                Turn::Waits => What::Off { is_preempted: false },
            };
            self.events.push(Event { nanos, pid, tid, what });
        }
        if let Some((nanos, what)) = sample {
            self.events.push(Event { nanos, pid, tid, what });
        }
    }

    /// Code that was mapped in a process since the last time.
    fn find_code(&mut self, pid: u32, nanos: u64, instruction: u64) {
        let Some(living) = self.processes.get_mut(&pid) else { return };
        let (since, maps) = living.new_code(nanos, instruction);
        let of = |map| Event { nanos: since, pid, tid: pid, what: What::Map(map) };
        self.events.extend(maps.into_iter().map(of));
    }

    /// There is a thread that was not there before.
    fn begun(&mut self, tid: i32, nanos: u64) {
        let own = tid.cast_unsigned();
        let Some((pid, maker)) = process_of(own) else { return };
        let parent_pid = if pid == own { maker } else { pid };
        if pid == own
            && let Some(parent) = self.processes.get(&maker)
        {
            let living = parent.copied(pid, nanos);
            self.processes.insert(pid, living);
        }
        self.add(tid, pid, nanos);
        if self.processes.contains_key(&pid) {
            let event = |what| Event { nanos, pid, tid: own, what };
            self.events.extend([event(What::Begun { parent_pid }), event(What::On)]);
        }
    }

    fn add(&mut self, tid: i32, pid: u32, nanos: u64) {
        let ids = (pid, tid.cast_unsigned());
        let mut meter = Meter::new(ids, self.threads.len() < self.most_files, nanos);
        let account = Account::new(nanos, meter.read(ids, nanos, Some(false)));
        let (asked, is_stopped, interrupted) = (None, false, None);
        self.threads.insert(tid, Thread { pid, meter, account, asked, is_stopped, interrupted });
    }

    /// A process became another program, in a thread that had another number before.
    fn executed(&mut self, tid: i32, former: i32, nanos: u64) {
        let pid = tid.cast_unsigned();
        // The other threads are not there any more.
        let of = |(known, thread): (&i32, &Thread)| {
            (thread.pid == pid && *known != tid).then_some(*known)
        };
        let others: Vec<i32> = self.threads.iter().filter_map(of).collect();
        for other in others {
            self.over(other, nanos);
        }
        if former != tid || !self.threads.contains_key(&tid) {
            self.threads.remove(&tid);
            self.add(tid, pid, nanos);
        }
        self.account(tid, nanos, true);
        if !self.processes.contains_key(&pid)
            && let Some(thread) = self.threads.get_mut(&tid)
        {
            // The starter is no part of the program.
            let usage = thread.meter.read((pid, pid), nanos, Some(false));
            thread.account = Account::new(nanos, usage);
        }
        self.processes.insert(pid, Living::new(pid, nanos));
        let event = |what| Event { nanos, pid, tid: pid, what };
        let name = name_of(pid, pid).unwrap_or_default();
        self.events.push(event(What::Name { name, is_exec: true }));
        self.events.extend(ranks::of(pid).map(|rank| event(What::Rank(rank))));
        self.find_code(pid, nanos, 0);
        self.events.push(event(What::On));
    }

    /// A thread is about to get a signal. If the program has a handler for it, that interrupts the call
    /// in which the thread waits; if not, the thread would not have been woken up alone.
    fn before_signal(&mut self, tid: i32, signal: i32) {
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        let Ok(now) = ThreadRegisters::of(tid) else { return };
        let is_handled = || has_handler(tid.cast_unsigned(), signal);
        if let Some(before) = thread.interrupted.take()
            && before.again().is_some_and(|again| again.instruction() == now.instruction())
        {
            match is_handled() {
                true => drop(before.give(tid)),
                false => thread.interrupted = Some(before),
            }
        } else if let Some(again) = now.again()
            && !is_handled()
            && again.give(tid).is_ok()
        {
            thread.interrupted = Some(now);
        }
    }

    /// A thread has ended, and is still there to be looked at.
    fn over(&mut self, tid: i32, nanos: u64) {
        self.account(tid, nanos, true);
        let Some(thread) = self.threads.remove(&tid) else { return };
        let (pid, tid) = (thread.pid, tid.cast_unsigned());
        if !self.processes.contains_key(&pid) {
            return;
        }
        let event = |what| Event { nanos, pid, tid, what };
        if let Some(name) = name_of(pid, tid) {
            self.events.push(event(What::Name { name, is_exec: false }));
        }
        self.events.push(event(What::Ended));
        if !self.threads.values().any(|thread| thread.pid == pid) {
            self.processes.remove(&pid);
        }
    }

    /// A thread is not there any more.
    fn gone(&mut self, tid: i32, status: i32) {
        self.threads.remove(&tid);
        if tid == self.program {
            self.ended = Some(u8::try_from(status).unwrap_or(u8::MAX));
        }
    }
}
