//! [`EventCounters`]: how often something happens in a program and all that it starts.
//!
//! The counters are opened for the calling thread before it starts the program: what it starts
//! inherits them, and they begin when that executes a program. So this thread itself is not counted.

use std::io;
use std::time::Duration;

use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Hardware, Software};
use perf_event::{Builder, Counter};

/// An event that the kernel counts.
#[derive(Clone, Copy)]
enum What {
    Software(Software),
    Hardware(Hardware),
    /// Loads of a cache: all, or those that miss it.
    Loads(CacheId, CacheResult),
}

/// The names that `perf` has for events of all machines, and what they are.
const EVENTS: [(&str, What); 27] = [
    ("task-clock", What::Software(Software::TASK_CLOCK)),
    ("cpu-clock", What::Software(Software::CPU_CLOCK)),
    ("page-faults", What::Software(Software::PAGE_FAULTS)),
    ("minor-faults", What::Software(Software::PAGE_FAULTS_MIN)),
    ("major-faults", What::Software(Software::PAGE_FAULTS_MAJ)),
    ("context-switches", What::Software(Software::CONTEXT_SWITCHES)),
    ("cpu-migrations", What::Software(Software::CPU_MIGRATIONS)),
    ("alignment-faults", What::Software(Software::ALIGNMENT_FAULTS)),
    ("emulation-faults", What::Software(Software::EMULATION_FAULTS)),
    ("cycles", What::Hardware(Hardware::CPU_CYCLES)),
    ("instructions", What::Hardware(Hardware::INSTRUCTIONS)),
    ("cache-references", What::Hardware(Hardware::CACHE_REFERENCES)),
    ("cache-misses", What::Hardware(Hardware::CACHE_MISSES)),
    ("branches", What::Hardware(Hardware::BRANCH_INSTRUCTIONS)),
    ("branch-misses", What::Hardware(Hardware::BRANCH_MISSES)),
    ("bus-cycles", What::Hardware(Hardware::BUS_CYCLES)),
    ("ref-cycles", What::Hardware(Hardware::REF_CPU_CYCLES)),
    ("stalled-cycles-frontend", What::Hardware(Hardware::STALLED_CYCLES_FRONTEND)),
    ("stalled-cycles-backend", What::Hardware(Hardware::STALLED_CYCLES_BACKEND)),
    ("L1-dcache-loads", What::Loads(CacheId::L1D, CacheResult::ACCESS)),
    ("L1-dcache-load-misses", What::Loads(CacheId::L1D, CacheResult::MISS)),
    ("L1-icache-load-misses", What::Loads(CacheId::L1I, CacheResult::MISS)),
    ("LLC-loads", What::Loads(CacheId::LL, CacheResult::ACCESS)),
    ("LLC-load-misses", What::Loads(CacheId::LL, CacheResult::MISS)),
    ("dTLB-loads", What::Loads(CacheId::DTLB, CacheResult::ACCESS)),
    ("dTLB-load-misses", What::Loads(CacheId::DTLB, CacheResult::MISS)),
    ("iTLB-load-misses", What::Loads(CacheId::ITLB, CacheResult::MISS)),
];

/// Events that happen in the kernel only: without the right to count there they would be 0.
const IN_KERNEL: [&str; 2] = ["context-switches", "cpu-migrations"];

/// Why an event cannot be counted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CounterError {
    /// No event of this name.
    #[error("there is no event {name:?}; there are {}", known())]
    Unknown {
        /// As it was named.
        name: String,
    },
    /// The processor, or the virtual machine, does not count it.
    #[error(
        "this machine cannot count {name} ({cause}): virtual machines often have no counters of the \
         processor; measure without it, or on the machine itself"
    )]
    Absent {
        /// The event.
        name: String,
        /// What the kernel said.
        cause: io::Error,
    },
    /// The kernel does not let this user.
    #[error(
        "the kernel does not let this user count {name} ({cause}): it needs root, or \
         `sysctl kernel.perf_event_paranoid=1`"
    )]
    NotAllowed {
        /// The event.
        name: String,
        /// What the kernel said.
        cause: io::Error,
    },
    /// A counter cannot be read.
    #[error("cannot read the counter of {name}: {cause}")]
    Read {
        /// The event.
        name: String,
        /// What the kernel said.
        cause: io::Error,
    },
}

fn known() -> String {
    EVENTS.map(|(name, _)| name).join(", ")
}

/// Counters of what the calling thread will start.
pub struct EventCounters {
    counters: Vec<(String, Counter)>,
}

impl EventCounters {
    /// Opens a counter for each of these events. They count in programs that this thread starts from
    /// now on, and in all that those start.
    ///
    /// # Errors
    /// Names the first event that cannot be counted, and why.
    pub fn open(names: &[String]) -> Result<Self, CounterError> {
        let mut counters = Vec::new();
        for name in names {
            let (_, what) = EVENTS
                .iter()
                .find(|(known, _)| known == name)
                .ok_or_else(|| CounterError::Unknown { name: name.clone() })?;
            let mut counter = build(*what, true);
            if counter.as_ref().is_err_and(is_forbidden) && !IN_KERNEL.contains(&name.as_str()) {
                counter = build(*what, false);
            }
            let counter = counter.map_err(|cause| {
                let name = name.clone();
                match is_forbidden(&cause) {
                    true => CounterError::NotAllowed { name, cause },
                    false => CounterError::Absent { name, cause },
                }
            })?;
            counters.push((name.clone(), counter));
        }
        Ok(Self { counters })
    }

    /// What was counted, by event; the programs must have ended. Where the processor has fewer
    /// counters than events, each was counted for a part of the time and is scaled to all of it;
    /// `None` where that part is nothing.
    ///
    /// # Errors
    /// Names the event whose counter cannot be read.
    pub fn read(&mut self) -> Result<Vec<(String, Option<u64>)>, CounterError> {
        let read = |(name, counter): &mut (String, Counter)| {
            let found = counter.read_count_and_time();
            let found = found.map_err(|cause| CounterError::Read { name: name.clone(), cause })?;
            let [running, enabled] = [found.time_running, found.time_enabled];
            // A counter that never ran says nothing, even where it was not enabled either.
            let has_run = running > 0;
            let [running, enabled] = [running, enabled].map(Duration::from_nanos);
            let found = scaled(found.count, running, enabled).filter(|_| has_run);
            Ok((name.clone(), found))
        };
        self.counters.iter_mut().map(read).collect()
    }
}

/// A count, scaled from the part of the time in which there was a counter for it to all of it; `None`
/// where that part is nothing.
pub(crate) fn scaled(count: u64, running: Duration, enabled: Duration) -> Option<u64> {
    if running >= enabled {
        return Some(count);
    }
    let scaled = (u128::from(count) * enabled.as_nanos()).checked_div(running.as_nanos());
    scaled.and_then(|count| u64::try_from(count).ok())
}

/// The unit in which an event is counted; empty for a number of events.
pub(crate) fn unit(name: &str) -> &'static str {
    if ["task-clock", "cpu-clock"].contains(&name) { "ns" } else { "" }
}

/// A counter of an event to be set up; `None` for an event of no known name.
pub(crate) fn builder(name: &str) -> Option<Builder<'static>> {
    EVENTS.iter().find(|(known, _)| *known == name).map(|(_, what)| builder_of(*what))
}

fn builder_of(what: What) -> Builder<'static> {
    match what {
        What::Software(event) => Builder::new(event),
        What::Hardware(event) => Builder::new(event),
        What::Loads(which, result) => {
            Builder::new(Cache { which, operation: CacheOp::READ, result })
        }
    }
}

fn build(what: What, kernel: bool) -> io::Result<Counter> {
    let mut builder = builder_of(what);
    builder.observe_self().any_cpu().inherit(true).enabled(false).enable_on_exec(true);
    builder.exclude_kernel(!kernel).build()
}

fn is_forbidden(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn what_a_program_and_its_children_do_is_counted_and_nothing_else() {
        let mut counters = match EventCounters::open(&names(&["task-clock", "page-faults"])) {
            Err(CounterError::NotAllowed { .. }) => return,
            opened => opened.unwrap(),
        };
        let pages: Vec<u8> = vec![1; 8 << 20];
        assert_eq!(counters.read().unwrap().iter().filter_map(|(_, count)| *count).sum::<u64>(), 0);
        let script = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; (sh -c 'exit 0')";
        assert!(Command::new("sh").args(["-c", script]).status().unwrap().success());
        let found = counters.read().unwrap();
        let of = |name: &str| found.iter().find(|(known, _)| known == name).unwrap().1.unwrap();
        // A shell that counts to 20,000 takes more than a tenth of a millisecond on any machine.
        assert!((100_000..60_000_000_000).contains(&of("task-clock")), "{found:?}");
        assert!((20..100_000).contains(&of("page-faults")), "{found:?}");
        assert_eq!(pages.len(), 8 << 20);
    }

    #[test]
    fn counts_of_a_part_of_the_time_are_scaled_to_all_of_it() {
        let [one, four] = [1, 4].map(Duration::from_secs);
        assert_eq!(scaled(10, four, four), Some(10));
        assert_eq!(scaled(10, one, four), Some(40));
        assert_eq!(scaled(0, Duration::ZERO, Duration::ZERO), Some(0));
        assert_eq!(scaled(10, Duration::ZERO, four), None);
        assert_eq!(scaled(u64::MAX, one, four), None);
    }

    #[test]
    fn events_that_there_are_not_are_refused_by_name() {
        let error = EventCounters::open(&names(&["page-faults", "fuel"])).err().unwrap();
        let said = error.to_string();
        assert!(said.contains("\"fuel\"") && said.contains("instructions"), "{said}");
        // Where the machine has no such counter, the message says which one.
        if let Err(error) = EventCounters::open(&names(&["stalled-cycles-backend"])) {
            assert!(error.to_string().contains("stalled-cycles-backend"), "{error}");
        }
    }
}
