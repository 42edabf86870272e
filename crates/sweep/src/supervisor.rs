//! The process between the tool and the measured program.
//!
//! It is small and single: the processor time and memory of its only child are exactly those that the
//! system keeps for the children of a process, binding itself binds the program, and the pipe from
//! the tool tells it when that is gone, however it ended. The program leads a process group of its
//! own, all of which is ended with it. The tool is told the group, and ends it where this process is
//! killed.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read, Seek as _, SeekFrom, Write};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use nix::errno::Errno;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, killpg};
use nix::sys::time::TimeVal;
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;

use parallax_record::EventCounters;

use crate::energy::{self, Counters, Meter};
use crate::frequency::Wanted;
use crate::job::{self, Ended, Order, Outcome, Stream, Usage};
use crate::series::{Sampler, Series, rounded, time_of};
use crate::watch::Watch;
use crate::{lock, machine, regions};

/// How long a program may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(2);

/// How often the marks of a program are looked at that is ended after its first iterations.
const LOOK: Duration = Duration::from_millis(10);

/// Bytes of the standard error that are kept for display.
const TAIL_BYTES: u64 = 2048;

/// Exit statuses that shells and `timeout` give.
const TIMED_OUT: i32 = 124;
const NOT_EXECUTABLE: i32 = 126;
const NOT_FOUND: i32 = 127;

/// What happens while a program runs.
enum Happened {
    /// It has ended, at this moment, and has not been waited for.
    Ended(Instant),
    /// The tool is gone.
    Orphaned,
}

/// Reads an order from `input`, runs it, and writes the outcome to `output`. `input` stays open as
/// long as the tool lives.
pub(crate) fn supervise(
    input: impl Read + Send + 'static,
    mut output: impl Write,
) -> io::Result<()> {
    let invalid =
        || io::Error::new(io::ErrorKind::InvalidData, "this is no order of parallax measure");
    let mut input = BufReader::new(input);
    let mut line = String::new();
    input.read_line(&mut line)?;
    let value = serde_json::from_str(&line).map_err(|_| invalid())?;
    let order = Order::from_value(&value).ok_or_else(invalid)?;
    // Held until this process ends.
    let Some(_lock) = lock::share(Path::new(&order.lock)) else {
        return Err(io::Error::other("the sweep is gone"));
    };
    let outcome = run(&order, input, &mut output)?;
    writeln!(output, "{}", outcome.to_value())?;
    output.flush()
}

fn run(
    order: &Order,
    input: impl Read + Send + 'static,
    output: &mut impl Write,
) -> io::Result<Outcome> {
    if let Some(processors) = &order.processors {
        bind(processors)?;
    }
    let (program, arguments) =
        order.command.split_first().ok_or_else(|| io::Error::other("there is no program"))?;
    let mut tail = None;
    let mut command = Command::new(program);
    command.args(arguments).envs(order.environment.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null());
    command.stdout(stream(&order.stdout, &mut tail)?).stderr(stream(&order.stderr, &mut tail)?);
    command.process_group(0);
    let counters = order.energy.as_ref().map(|place| Counters::open(Path::new(place)));
    let counters = counters.transpose().map_err(io::Error::other)?;
    // Put back when this returns.
    let held = order.frequency.as_ref().map(Wanted::hold).transpose().map_err(io::Error::other)?;
    let meter = counters.map(|all| Meter::start(all, order.sample)).transpose()?;
    // Opened by the thread that starts the program, and read by another one where that is asked for.
    let events = EventCounters::open(&order.counters).map_err(io::Error::other)?;
    let events = Events::new(events, order);
    let start = machine::epoch(SystemTime::now());
    let begun = Instant::now();
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Ok(not_started(start, begun, program, &error)),
    };
    let group = Pid::from_raw(i32::try_from(child.id()).map_err(io::Error::other)?);
    // The tool ends the group where this process is killed. If the tool is gone, `input` says so.
    let _ = writeln!(output, "{}", job::group_value(child.id())).and_then(|()| output.flush());
    let (sender, receiver) = channel();
    watch(group, input, sender);
    let found = until_ended(order, group, begun, &receiver);
    // Nothing that the program left may run at the same time as the next one. Its number is not
    // given to another group before it is waited for.
    let _ = killpg(group, Signal::SIGKILL);
    let status = child.wait()?;
    let metered = meter.and_then(Meter::stop).unwrap_or_default();
    let joules = energy::joules(&metered);
    let (counts, samples) = events.finish()?;
    drop(held);
    let (end, ended) = found?;
    let exit_status = match ended {
        Some(Ended::Iterations) => 0,
        Some(Ended::Timeout | Ended::Idle) => TIMED_OUT,
        None => status_of(status),
    };
    let said = match tail {
        // What a tool said is of interest where it left no database.
        Some(tail) if exit_status != 0 || order.database.is_some() => end_of(tail)?,
        _ => String::new(),
    };
    let epoch = |moment| time_of(moment, begun, start);
    let mut series = Series::default();
    series.counts.extend(samples.into_iter().map(|(moment, counts)| (epoch(moment), counts)));
    if order.sample.is_some() {
        let power = energy::power(&metered).into_iter();
        series.packages.extend(power.map(|(moment, watts)| (epoch(moment), rounded(watts, 1e3))));
    }
    Ok(Outcome {
        start,
        seconds: end.duration_since(begun).as_secs_f64(),
        exit_status,
        signal: status.signal(),
        ended,
        usage: usage(),
        joules,
        counts,
        series,
        said,
    })
}

/// Events that are counted: read once at the end, or at an interval as well.
enum Events {
    Once(EventCounters),
    Sampled(Sampler<Counts>),
}

/// How often each event has happened, by name.
type Counts = Vec<(String, Option<u64>)>;

/// When events were read, and how often each had happened by then.
type Readings = Vec<(Instant, Vec<u64>)>;

impl Events {
    fn new(mut counters: EventCounters, order: &Order) -> Self {
        match order.sample {
            Some(period) if !order.counters.is_empty() => {
                // The program has not begun.
                let zero = order.counters.iter().map(|name| (name.clone(), Some(0))).collect();
                let read = move |_| counters.read().map_err(io::Error::other);
                Self::Sampled(Sampler::start(period, Some(zero), read))
            }
            _ => Self::Once(counters),
        }
    }

    /// What was counted until now, and what it was from time to time. An event that had no counter
    /// yet has not happened, as far as one knows.
    fn finish(self) -> io::Result<(Counts, Readings)> {
        let samples = match self {
            Self::Once(mut counters) => {
                return Ok((counters.read().map_err(io::Error::other)?, Vec::new()));
            }
            Self::Sampled(sampler) => sampler.stop(),
        };
        let samples = samples.ok_or_else(|| io::Error::other("the events cannot be read"))?;
        let last = samples.last().map(|(_, counts)| counts.clone()).unwrap_or_default();
        let numbers = samples.into_iter().map(|(moment, counts)| {
            (moment, counts.into_iter().map(|(_, count)| count.unwrap_or(0)).collect())
        });
        Ok((last, numbers.collect()))
    }
}

/// Binds this thread, and what it starts, to these processors.
fn bind(processors: &[u32]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &id in processors {
        set.set(id as usize)?;
    }
    Ok(sched_setaffinity(Pid::from_raw(0), &set)?)
}

fn stream(stream: &Stream, tail: &mut Option<File>) -> io::Result<Stdio> {
    Ok(match stream {
        Stream::Null => Stdio::null(),
        Stream::Shown => Stdio::from(io::stderr()),
        Stream::File(path) => Stdio::from(File::create(path)?),
        Stream::Tail => {
            let file = tempfile::tempfile()?;
            *tail = Some(file.try_clone()?);
            Stdio::from(file)
        }
    })
}

/// A program that could not be started, as a shell counts it.
fn not_started(start: f64, begun: Instant, program: &str, error: &io::Error) -> Outcome {
    let is_absent = error.kind() == io::ErrorKind::NotFound;
    Outcome {
        start,
        seconds: begun.elapsed().as_secs_f64(),
        exit_status: if is_absent { NOT_FOUND } else { NOT_EXECUTABLE },
        signal: None,
        ended: None,
        usage: Usage::default(),
        joules: None,
        counts: Vec::new(),
        series: Series::default(),
        said: format!("cannot run {program}: {error}"),
    }
}

/// Starts the threads that tell what happens.
fn watch(child: Pid, mut input: impl Read + Send + 'static, sender: Sender<Happened>) {
    let orphaned = sender.clone();
    thread::spawn(move || {
        // The tool writes nothing more: this returns when it is gone.
        let _ = io::copy(&mut input, &mut io::sink());
        let _ = orphaned.send(Happened::Orphaned);
    });
    thread::spawn(move || {
        // Looked at and not waited for, so that its number remains its own.
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
        while waitid(Id::Pid(child), flags) == Err(Errno::EINTR) {}
        let _ = sender.send(Happened::Ended(Instant::now()));
    });
}

/// Waits for the end of the program, which is brought about when its time is up. When it ended, and
/// why.
fn until_ended(
    order: &Order,
    group: Pid,
    begun: Instant,
    receiver: &Receiver<Happened>,
) -> io::Result<(Instant, Option<Ended>)> {
    let gone = || io::Error::other("the program cannot be waited for");
    let mut idle = order.idle_timeout.map(|limit| Idleness::new(group, limit));
    let mut looked = begun;
    let mut watch = watch_of(order);
    loop {
        let to_timeout = order.timeout.map(|limit| limit.saturating_sub(begun.elapsed()));
        let to_look = idle.as_ref().map(|idle| idle.period.saturating_sub(looked.elapsed()));
        let to_watch = watch.as_ref().map(|_| LOOK);
        let happened = match to_timeout.into_iter().chain(to_look).chain(to_watch).min() {
            Some(patience) => receiver.recv_timeout(patience),
            None => receiver.recv().map_err(RecvTimeoutError::from),
        };
        let why = match happened {
            Ok(Happened::Ended(at)) => return Ok((at, None)),
            Ok(Happened::Orphaned) => {
                end(group, receiver);
                return Err(io::Error::other("the sweep is gone"));
            }
            Err(RecvTimeoutError::Disconnected) => return Err(gone()),
            Err(RecvTimeoutError::Timeout) => {
                let is_over = order.timeout.is_some_and(|limit| begun.elapsed() >= limit);
                if is_over {
                    Ended::Timeout
                } else if watch.as_mut().is_some_and(Watch::is_reached) {
                    Ended::Iterations
                } else if let Some(idle) = &mut idle
                    && looked.elapsed() >= idle.period
                {
                    looked = Instant::now();
                    if !idle.is_over() {
                        continue;
                    }
                    Ended::Idle
                } else {
                    continue;
                }
            }
        };
        return Ok((end(group, receiver).ok_or_else(gone)?, Some(why)));
    }
}

/// What looks for the iterations after which the program is ended.
fn watch_of(order: &Order) -> Option<Watch> {
    let ending = order.iterations.as_ref()?;
    let (_, folder) = order.environment.iter().find(|(name, _)| name == regions::VARIABLE)?;
    Some(Watch::new(folder.into(), ending.region.clone(), ending.from))
}

/// Ends the program and all of its group: asks first, so that a launcher can end what it started
/// elsewhere.
fn end(group: Pid, receiver: &Receiver<Happened>) -> Option<Instant> {
    let _ = killpg(group, Signal::SIGTERM);
    let deadline = Instant::now() + GRACE;
    let mut has_asked_only = true;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let patience = if has_asked_only { left } else { Duration::from_secs(60) };
        match receiver.recv_timeout(patience) {
            Ok(Happened::Ended(at)) => {
                let _ = killpg(group, Signal::SIGKILL);
                return Some(at);
            }
            Ok(Happened::Orphaned) => {}
            Err(_) if has_asked_only => {
                has_asked_only = false;
                let _ = killpg(group, Signal::SIGKILL);
            }
            Err(_) => return None,
        }
    }
}

/// Ends the group of a program whose supervisor was killed, as that would have done it.
pub(crate) fn end_unsupervised(group: u32) {
    // 0 and 1 are no group of a program, but all processes that the tool may reach.
    let Some(group) = i32::try_from(group).ok().filter(|&group| group > 1).map(Pid::from_raw)
    else {
        return;
    };
    if killpg(group, Signal::SIGTERM).is_err() {
        return;
    }
    let deadline = Instant::now() + GRACE;
    while Instant::now() < deadline {
        thread::sleep(LOOK);
        if killpg(group, None) == Err(Errno::ESRCH) {
            return;
        }
    }
    let _ = killpg(group, Signal::SIGKILL);
}

/// Looks now and then whether a group of processes uses a processor.
struct Idleness {
    group: Pid,
    limit: Duration,
    period: Duration,
    ticks: u64,
    since: Instant,
}

impl Idleness {
    fn new(group: Pid, limit: Duration) -> Self {
        let period = (limit / 10).clamp(Duration::from_millis(20), Duration::from_secs(1));
        Self { group, limit, period, ticks: 0, since: Instant::now() }
    }

    /// Whether the time is up in which it may be idle.
    fn is_over(&mut self) -> bool {
        let ticks = ticks(self.group);
        if ticks != self.ticks {
            (self.ticks, self.since) = (ticks, Instant::now());
        }
        self.since.elapsed() >= self.limit
    }
}

/// Processor time of all processes of a group and of those that they waited for, in the ticks of
/// `/proc/PID/stat` (see proc(5)).
fn ticks(group: Pid) -> u64 {
    let Ok(entries) = fs::read_dir("/proc") else { return 0 };
    let processes = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit));
    let of_process = processes.filter_map(|entry| {
        let text = fs::read_to_string(entry.path().join("stat")).ok()?;
        // The name, in parentheses, may hold anything.
        let (_, fields) = text.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let is_member = fields.get(2)?.parse() == Ok(group.as_raw());
        let times = fields.get(11..15)?.iter().map(|field| field.parse::<u64>().unwrap_or(0));
        is_member.then(|| times.sum::<u64>())
    });
    of_process.sum()
}

/// The exit status as a shell has it.
fn status_of(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// What the only child of this process used, and what that waited for.
fn usage() -> Usage {
    let Ok(found) = getrusage(UsageWho::RUSAGE_CHILDREN) else { return Usage::default() };
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6;
    let number = |value: i64| u64::try_from(value).unwrap_or(0);
    Usage {
        user_seconds: seconds(found.user_time()),
        system_seconds: seconds(found.system_time()),
        max_resident_bytes: number(found.max_rss()).saturating_mul(1024),
        minor_faults: number(found.minor_page_faults()),
        major_faults: number(found.major_page_faults()),
        voluntary_switches: number(found.voluntary_context_switches()),
        involuntary_switches: number(found.involuntary_context_switches()),
    }
}

/// The last lines that the program wrote.
fn end_of(mut file: File) -> io::Result<String> {
    let len = file.metadata()?.len();
    file.seek(SeekFrom::Start(len.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    // What is cut off in front is a part of a line.
    let whole = match text.split_once('\n') {
        Some((_, rest)) if len > TAIL_BYTES => rest,
        _ => &text,
    };
    Ok(whole.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_energy_of_a_run_is_what_the_counter_has_grown_by() {
        let place = tempfile::tempdir().unwrap();
        let package = place.path().join("intel-rapl:0");
        fs::create_dir(&package).unwrap();
        for (name, text) in
            [("name", "package-0"), ("energy_uj", "1000000"), ("max_energy_range_uj", "9000000")]
        {
            fs::write(package.join(name), text).unwrap();
        }
        let lock = place.path().join("lock");
        fs::write(&lock, "").unwrap();
        let order = Order {
            command: ["sh", "-c", "echo 4500000 > \"$COUNTER\""].map(str::to_owned).to_vec(),
            environment: vec![(
                "COUNTER".to_owned(),
                package.join("energy_uj").to_string_lossy().into_owned(),
            )],
            processors: None,
            timeout: None,
            idle_timeout: None,
            stdout: Stream::Null,
            stderr: Stream::Null,
            energy: Some(place.path().to_string_lossy().into_owned()),
            counters: Vec::new(),
            sample: None,
            frequency: None,
            iterations: None,
            then: Vec::new(),
            database: None,
            lock: lock.to_string_lossy().into_owned(),
        };
        // A tool that lives as long as the run.
        let (input, _tool) = io::pipe().unwrap();
        let outcome = run(&order, input, &mut Vec::new()).unwrap();
        assert_eq!((outcome.exit_status, outcome.joules), (0, Some(3.5)));
        assert!(outcome.series.packages.is_empty());
        // Read at an interval, it is power as well.
        // In place: a file that is emptied first could be read then.
        let script = "sleep 0.3; printf 8000000 1<> \"$COUNTER\"; sleep 0.1";
        let mut sampled = Order { sample: Some(Duration::from_millis(5)), ..order.clone() };
        sampled.command = ["sh", "-c", script].map(str::to_owned).to_vec();
        let (input, _tool) = io::pipe().unwrap();
        let outcome = run(&sampled, input, &mut Vec::new()).unwrap();
        assert_eq!(outcome.joules, Some(3.5));
        let power = &outcome.series.packages;
        assert!(power.len() > 2 && power[0].1 == 0.0, "{power:?}");
        assert!(power.iter().any(|sample| sample.1 > 0.0), "{power:?}");
        let (from, until) = (outcome.start - 1.0, outcome.start + outcome.seconds + 1.0);
        assert!(power.iter().all(|sample| (from..until).contains(&sample.0)), "{power:?}");
        let (input, _tool) = io::pipe().unwrap();
        assert_eq!(
            run(&Order { energy: None, ..order }, input, &mut Vec::new()).unwrap().joules,
            None
        );
    }

    #[test]
    fn a_program_runs_at_its_frequency_and_the_processors_are_put_back() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("cpu0/cpufreq");
        fs::create_dir_all(&folder).unwrap();
        for (name, text) in [
            ("scaling_available_governors", "powersave userspace"),
            ("scaling_governor", "powersave"),
            ("scaling_setspeed", "1000000"),
            ("cpuinfo_min_freq", "1000000"),
            ("cpuinfo_max_freq", "3000000"),
        ] {
            fs::write(folder.join(name), text).unwrap();
        }
        let (lock, seen) = (place.path().join("lock"), place.path().join("seen"));
        fs::write(&lock, "").unwrap();
        let script = format!("cat {0}/scaling_governor {0}/scaling_setspeed", folder.display());
        let order = Order {
            command: vec!["sh".to_owned(), "-c".to_owned(), script],
            environment: Vec::new(),
            processors: None,
            timeout: None,
            idle_timeout: None,
            stdout: Stream::File(seen.to_string_lossy().into_owned()),
            stderr: Stream::Null,
            energy: None,
            counters: Vec::new(),
            sample: None,
            frequency: Some(Wanted {
                system: place.path().to_owned(),
                kilohertz: Some(2_000_000),
                governor: None,
            }),
            iterations: None,
            then: Vec::new(),
            database: None,
            lock: lock.to_string_lossy().into_owned(),
        };
        let (input, _tool) = io::pipe().unwrap();
        assert_eq!(run(&order, input, &mut Vec::new()).unwrap().exit_status, 0);
        assert_eq!(fs::read_to_string(seen).unwrap(), "userspace2000000");
        assert_eq!(fs::read_to_string(folder.join("scaling_governor")).unwrap(), "powersave");
        assert_eq!(fs::read_to_string(folder.join("scaling_setspeed")).unwrap(), "1000000");
    }
}
