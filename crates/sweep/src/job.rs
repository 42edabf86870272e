//! One run: what the supervisor is told, and what it tells.

use std::time::Duration;

use serde_json::{Value, json};

use crate::frequency::Wanted;
use crate::iterations::IterationRegion;
use crate::series::Series;

/// Where a stream of the program goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Nowhere.
    Null,
    /// To the tool's standard error.
    Shown,
    /// Into a file.
    File(String),
    /// The end of it is kept for the case that the program fails.
    Tail,
}

impl Stream {
    fn to_value(&self) -> Value {
        match self {
            Self::Null => json!("null"),
            Self::Shown => json!("shown"),
            Self::Tail => json!("tail"),
            Self::File(path) => json!({ "file": path }),
        }
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value.as_str() {
            Some("null") => Some(Self::Null),
            Some("shown") => Some(Self::Shown),
            Some("tail") => Some(Self::Tail),
            Some(_) => None,
            None => Some(Self::File(value.get("file")?.as_str()?.to_owned())),
        }
    }
}

/// What the supervisor is told, as one line of JSON.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Order {
    pub(crate) command: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    /// `None`: it is not bound.
    pub(crate) processors: Option<Vec<u32>>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) stdout: Stream,
    pub(crate) stderr: Stream,
    /// Where the counters of energy are, if it is measured.
    pub(crate) energy: Option<String>,
    /// Events that are counted.
    pub(crate) counters: Vec<String>,
    /// How often energy and events are read meanwhile.
    pub(crate) sample: Option<Duration>,
    /// What the processors are set to meanwhile.
    pub(crate) frequency: Option<Wanted>,
    /// After which iterations the program is ended, whose marks are in the folder of its regions.
    pub(crate) iterations: Option<Ending>,
    /// What makes the database of a tool when the program has succeeded, one command after the other.
    pub(crate) then: Vec<Vec<String>>,
    /// The database that is there then, and whether it must be one that can be opened.
    pub(crate) database: Option<String>,
    /// The file that is locked as long as a program of this sweep runs.
    pub(crate) lock: String,
}

/// After how many iterations a program is ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) region: IterationRegion,
    pub(crate) from: u64,
    /// How many a complete run has.
    pub(crate) of: u64,
}

impl Ending {
    fn to_value(&self) -> Value {
        json!({ "region": self.region.to_string(), "from": self.from, "of": self.of })
    }

    fn from_value(value: &Value) -> Option<Self> {
        Some(Self {
            region: value.get("region")?.as_str()?.parse().ok()?,
            from: value.get("from")?.as_u64()?,
            of: value.get("of")?.as_u64()?,
        })
    }
}

impl Order {
    pub(crate) fn to_value(&self) -> Value {
        json!({
            "command": self.command,
            "environment": self.environment,
            "processors": self.processors,
            "timeout": self.timeout.map(|time| time.as_secs_f64()),
            "idle_timeout": self.idle_timeout.map(|time| time.as_secs_f64()),
            "stdout": self.stdout.to_value(),
            "stderr": self.stderr.to_value(),
            "energy": self.energy,
            "counters": self.counters,
            "sample": self.sample.map(|time| time.as_secs_f64()),
            "frequency": self.frequency.as_ref().map(|wanted| json!({
                "system": wanted.system.to_string_lossy(),
                "kilohertz": wanted.kilohertz,
                "governor": wanted.governor,
            })),
            "iterations": self.iterations.as_ref().map(Ending::to_value),
            "then": self.then,
            "database": self.database,
            "lock": self.lock,
        })
    }

    pub(crate) fn from_value(value: &Value) -> Option<Self> {
        let texts = |value: &Value| -> Option<Vec<String>> {
            value.as_array()?.iter().map(|text| Some(text.as_str()?.to_owned())).collect()
        };
        let time = |name| {
            let seconds = value.get(name)?.as_f64()?;
            Duration::try_from_secs_f64(seconds).ok()
        };
        let pairs = value.get("environment")?.as_array()?.iter().map(|pair| {
            let pair = texts(pair)?;
            let [name, value] = pair.try_into().ok()?;
            Some((name, value))
        });
        let numbers = value.get("processors")?.as_array().map(|all| {
            all.iter().map(|id| u32::try_from(id.as_u64()?).ok()).collect::<Option<Vec<u32>>>()
        });
        Some(Self {
            command: texts(value.get("command")?)?,
            environment: pairs.collect::<Option<_>>()?,
            processors: match numbers {
                Some(numbers) => Some(numbers?),
                None => None,
            },
            timeout: time("timeout"),
            idle_timeout: time("idle_timeout"),
            stdout: Stream::from_value(value.get("stdout")?)?,
            stderr: Stream::from_value(value.get("stderr")?)?,
            energy: value.get("energy")?.as_str().map(str::to_owned),
            counters: texts(value.get("counters")?)?,
            sample: time("sample"),
            frequency: match value.get("frequency")? {
                Value::Null => None,
                wanted => Some(Wanted {
                    system: wanted.get("system")?.as_str()?.into(),
                    kilohertz: wanted.get("kilohertz")?.as_u64(),
                    governor: wanted.get("governor")?.as_str().map(str::to_owned),
                }),
            },
            iterations: match value.get("iterations")? {
                Value::Null => None,
                ending => Some(Ending::from_value(ending)?),
            },
            then: value.get("then")?.as_array()?.iter().map(texts).collect::<Option<_>>()?,
            database: match value.get("database")? {
                Value::Null => None,
                database => Some(database.as_str()?.to_owned()),
            },
            lock: value.get("lock")?.as_str()?.to_owned(),
        })
    }
}

/// Why a program was ended from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It took longer than the timeout.
    Timeout,
    /// It used no processor for the idle timeout.
    Idle,
    /// It had made enough iterations to estimate its time, which is no failure.
    Iterations,
}

impl Ended {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Idle => "idle_timeout",
            Self::Iterations => "iterations",
        }
    }
}

/// What a run used: of the program and all its descendants that it waited for.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Usage {
    /// Processor time outside of the kernel, in seconds.
    pub user_seconds: f64,
    /// Processor time in the kernel, in seconds.
    pub system_seconds: f64,
    /// Largest resident memory of a single process, in bytes. The supervisor's own, some megabytes,
    /// is the least that the system reports.
    pub max_resident_bytes: u64,
    /// Page faults without reading.
    pub minor_faults: u64,
    /// Page faults that read from a disk.
    pub major_faults: u64,
    /// How often a thread waited for something.
    pub voluntary_switches: u64,
    /// How often a thread had to give way to another one.
    pub involuntary_switches: u64,
}

/// How a run went.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// When it was started: seconds since 1970, UTC.
    pub start: f64,
    /// How long it took, by a monotonic clock.
    pub seconds: f64,
    /// Exit status as a shell has it: 128 and the signal of one that a signal ended, 124 after a
    /// timeout, 126 or 127 when it could not be started; 0 where it was ended after its first
    /// iterations.
    pub exit_status: i32,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Why it was ended from outside.
    pub ended: Option<Ended>,
    /// What it used.
    pub usage: Usage,
    /// Energy of the processors meanwhile, in joules, where it was measured.
    pub joules: Option<f64>,
    /// How often each of the events that are counted happened, by name; `None` where the processor
    /// had no counter free.
    pub counts: Vec<(String, Option<u64>)>,
    /// What was read at an interval meanwhile.
    pub series: Series,
    /// For display: why it could not be started, or the end of its standard error.
    pub said: String,
}

/// What the supervisor says when the program has begun: the process group that it leads.
pub(crate) fn group_value(group: u32) -> Value {
    json!({ "group": group })
}

/// The group, where the supervisor says that and not how the run went.
pub(crate) fn group_of(value: &Value) -> Option<u32> {
    u32::try_from(value.get("group")?.as_u64()?).ok()
}

impl Outcome {
    /// Whether it ended as a program does that did its work.
    #[must_use]
    pub const fn is_success(&self) -> bool {
        self.exit_status == 0
    }

    pub(crate) fn to_value(&self) -> Value {
        let usage = self.usage;
        json!({
            "start": self.start,
            "seconds": self.seconds,
            "exit_status": self.exit_status,
            "signal": self.signal,
            "ended": self.ended.map(Ended::name),
            "user": usage.user_seconds,
            "system": usage.system_seconds,
            "resident": usage.max_resident_bytes,
            "faults": [usage.minor_faults, usage.major_faults],
            "switches": [usage.voluntary_switches, usage.involuntary_switches],
            "joules": self.joules,
            "counts": self.counts,
            "series": self.series.to_value(),
            "said": self.said,
        })
    }

    pub(crate) fn from_value(value: &Value) -> Option<Self> {
        let float = |name| value.get(name)?.as_f64();
        let status = |name: &str| i32::try_from(value.get(name)?.as_i64()?).ok();
        let pair = |name: &str, at| value.get(name)?.get(at)?.as_u64();
        Some(Self {
            start: float("start")?,
            seconds: float("seconds")?,
            exit_status: status("exit_status")?,
            signal: status("signal"),
            ended: match value.get("ended")?.as_str() {
                Some("timeout") => Some(Ended::Timeout),
                Some("idle_timeout") => Some(Ended::Idle),
                Some("iterations") => Some(Ended::Iterations),
                _ => None,
            },
            usage: Usage {
                user_seconds: float("user")?,
                system_seconds: float("system")?,
                max_resident_bytes: value.get("resident")?.as_u64()?,
                minor_faults: pair("faults", 0)?,
                major_faults: pair("faults", 1)?,
                voluntary_switches: pair("switches", 0)?,
                involuntary_switches: pair("switches", 1)?,
            },
            joules: float("joules"),
            counts: counts(value.get("counts")?)?,
            series: Series::from_value(value.get("series")?)?,
            said: value.get("said")?.as_str()?.to_owned(),
        })
    }
}

/// Pairs of a name and a number or null.
fn counts(value: &Value) -> Option<Vec<(String, Option<u64>)>> {
    let pairs = value.as_array()?.iter().map(|pair| {
        let name = pair.get(0)?.as_str()?.to_owned();
        Some((name, pair.get(1)?.as_u64()))
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_arrives() {
        let order = Order {
            command: vec!["./a b".into(), "\"\n".into()],
            environment: vec![("A".into(), "1=2".into())],
            processors: Some(vec![0, 3]),
            timeout: Some(Duration::from_millis(1500)),
            idle_timeout: None,
            stdout: Stream::File("/x".into()),
            stderr: Stream::Tail,
            energy: Some("/sys".into()),
            counters: vec!["cycles".into()],
            sample: Some(Duration::from_millis(250)),
            frequency: Some(Wanted {
                system: "/sys/cpu".into(),
                kilohertz: Some(2_300_000),
                governor: None,
            }),
            iterations: Some(Ending {
                region: IterationRegion::Line { file: "a.c".into(), line: 7 },
                from: 5,
                of: 100,
            }),
            then: vec![vec!["make".into(), "a b".into()], vec!["check".into()]],
            database: Some("/z".into()),
            lock: "/y".into(),
        };
        assert_eq!(Order::from_value(&order.to_value()), Some(order.clone()));
        let free =
            Order { processors: None, frequency: None, iterations: None, database: None, ..order };
        assert_eq!(Order::from_value(&free.to_value()), Some(free));
        let outcome = Outcome {
            start: 1.5e9,
            seconds: 0.25,
            exit_status: 139,
            signal: Some(11),
            ended: Some(Ended::Idle),
            usage: Usage { user_seconds: 0.5, minor_faults: 7, ..Usage::default() },
            joules: Some(1.25),
            counts: vec![("cycles".into(), Some(7)), ("instructions".into(), None)],
            series: Series {
                packages: vec![(1.5e9, 20.5)],
                machine: vec![(1.5e9, 236.0), (1.5e9 + 1.0, 240.0)],
                counts: vec![(1.5e9, vec![0, 0]), (1.5e9 + 0.25, vec![7, u64::MAX])],
            },
            said: "bad\n".into(),
        };
        assert_eq!(Outcome::from_value(&outcome.to_value()), Some(outcome));
    }
}
