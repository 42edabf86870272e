//! What takes the samples: counters of the kernel, or stops by this process where the user may not
//! have those.

use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

use nix::unistd::Pid;

use crate::events::{Event, Spare};
use crate::launch::Program;
use crate::rings::Rings;
use crate::stops::{self, Stops};
use crate::{RecordError, Recording, Sampler, rings};

/// Where samples of a recording come from.
pub(crate) struct Sampling {
    source: Source,
    /// Samples for each second.
    pub(crate) frequency: u32,
    /// Why samples do not come from the kernel's counters, where those were tried.
    pub(crate) instead_of: Option<RecordError>,
}

enum Source {
    Rings(Rings),
    Stops(Box<Stops>),
}

impl Sampling {
    /// Gets ready to sample a process that has not executed its program yet.
    pub(crate) fn open(pid: Pid, recording: &Recording) -> Result<Self, RecordError> {
        let rings = || {
            let frequency = recording.frequency.unwrap_or(rings::FREQUENCY);
            let source = Source::Rings(Rings::open(pid, recording, frequency)?);
            Ok(Self { source, frequency, instead_of: None })
        };
        let stops = |instead_of| {
            let frequency = recording.frequency.unwrap_or(stops::FREQUENCY);
            let stops = Stops::new(pid.as_raw(), recording, frequency);
            let source = Source::Stops(Box::new(stops));
            Self { source, frequency, instead_of }
        };
        match recording.sampler {
            Sampler::PerfEvent => rings(),
            Sampler::Ptrace if recording.counters.is_empty() => Ok(stops(None)),
            Sampler::Ptrace => Err(RecordError::CountersWithoutPerfEvent),
            Sampler::Automatic => or_stops(rings(), recording, |error| stops(Some(error))),
        }
    }

    /// Lets the program run, sampled by the calling thread.
    pub(crate) fn begin(&mut self, program: &Program) -> Result<(), RecordError> {
        if let Source::Stops(stops) = &mut self.source {
            let refused = |cause| RecordError::not_traced(cause, self.instead_of.take());
            stops.begin().map_err(refused)?;
        }
        program.go_on().map_err(RecordError::Kernel)
    }

    /// How the program ended, as a shell says it; `None` while it runs.
    pub(crate) fn ended(&self, program: &mut Program) -> io::Result<Option<u8>> {
        match &self.source {
            Source::Rings(_) => program.ended(),
            // Who traces a process is told how it ended.
            Source::Stops(stops) => Ok(program.has_ended(stops.ended())),
        }
    }

    /// Until when all that happened is told in the round that begins now, or will be in the next one.
    pub(crate) fn told_until(&mut self, nanos: u64) -> u64 {
        match &mut self.source {
            Source::Rings(_) => nanos,
            Source::Stops(stops) => stops.told_until(nanos),
        }
    }

    /// Takes what was found.
    pub(crate) fn drain(&mut self, taken: &mut Vec<Event>, spare: &mut Spare) {
        match &mut self.source {
            Source::Rings(rings) => rings.drain(taken, spare),
            Source::Stops(stops) => stops.drain(taken, spare),
        }
    }

    /// Waits until the time is over, there is much to be taken, or signals of this process came, which
    /// `hand_on` takes out of `signals`.
    pub(crate) fn wait(
        &mut self,
        signals: RawFd,
        hand_on: &dyn Fn(),
        longest: Duration,
    ) -> io::Result<()> {
        match &mut self.source {
            Source::Rings(rings) => rings.wait(signals, longest),
            Source::Stops(stops) => stops.wait(signals, hand_on, longest),
        }
    }

    /// How often each of `count` events happened.
    pub(crate) fn totals(&mut self, count: usize) -> Vec<Option<u64>> {
        match &mut self.source {
            Source::Rings(rings) => rings.totals(count),
            Source::Stops(_) => Vec::new(),
        }
    }

    /// Whether there is a sample wherever a thread gives its processor away.
    pub(crate) const fn has_switches(&self) -> bool {
        match &self.source {
            Source::Rings(rings) => rings.has_switches,
            Source::Stops(_) => false,
        }
    }

    /// What the archive is to say about it: name and value.
    pub(crate) fn facts(&self) -> [(&'static str, String); 3] {
        let (sampler, kernel) = match &self.source {
            Source::Rings(rings) if rings.has_kernel => (Sampler::PerfEvent, "recorded"),
            Source::Rings(_) => (Sampler::PerfEvent, "not recorded"),
            Source::Stops(_) => (Sampler::Ptrace, "recorded in system calls"),
        };
        [
            ("sampler", sampler.name().to_owned()),
            ("sampling frequency", format!("{} Hz", self.frequency)),
            ("kernel time", kernel.to_owned()),
        ]
    }

    /// That another sampler would be more exact, and what it needs.
    pub(crate) fn fallback(&self) -> Option<String> {
        let error = self.instead_of.as_ref()?;
        Some(format!(
            "sampled by ptrace at {} Hz instead of perf_event: short functions, short waits and threads \
             that end early are known less exactly; {error}",
            self.frequency
        ))
    }

    /// What is less exact than it might be: a kind and a message.
    pub(crate) fn notes(&self) -> Vec<(&'static str, String)> {
        let stops = match &self.source {
            Source::Rings(rings) if rings.has_switches => return Vec::new(),
            Source::Rings(_) => {
                let message = "where threads wait is known as far as the samples before and after \
                               agree, because the kernel does not allow this user to see more";
                return vec![("switches-guessed", message.to_owned())];
            }
            Source::Stops(stops) => stops,
        };
        let mut notes = Vec::new();
        notes.extend(self.fallback().map(|message| ("sampled-by-ptrace", message)));
        let (ticks, skipped) = stops.ticks();
        let all = ticks + skipped;
        // Of a short program, little is to be said.
        if skipped > ticks / 10 && all >= 100 {
            let message = format!(
                "{skipped} of {all} times no sample was taken, because there are very many threads or \
                 no processor was free: call paths are known less often, and times are still right"
            );
            notes.push(("samples-skipped", message));
        }
        notes
    }
}

/// What the kernel's counters give, or stops where it has none for this user. Events are only counted
/// by the kernel.
fn or_stops<T>(
    rings: Result<T, RecordError>,
    recording: &Recording,
    stops: impl FnOnce(RecordError) -> T,
) -> Result<T, RecordError> {
    rings.or_else(|error| match error {
        RecordError::NotAllowed { .. } | RecordError::Kernel(_)
            if recording.counters.is_empty() =>
        {
            Ok(stops(error))
        }
        _ => Err(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(counters: &[&str]) -> Recording {
        Recording {
            command: vec!["./app".into()],
            output: "app.parallax".into(),
            sampler: Sampler::Automatic,
            frequency: None,
            stack_bytes: 16 << 10,
            counters: counters.iter().map(|name| name.parse().unwrap()).collect(),
            detail: crate::Detail::Lines,
            sources: false,
            facts: Vec::new(),
            environment: Vec::new(),
            mpi: false,
            mpi_library: None,
        }
    }

    fn forbidden() -> RecordError {
        let cause = io::ErrorKind::PermissionDenied.into();
        RecordError::NotAllowed { cause, paranoid: "4".into(), remedy: "ask an administrator" }
    }

    #[test]
    fn stops_are_for_users_without_counters_who_count_no_events() {
        let taken = |rings, counters: &[&str]| {
            or_stops(rings, &recording(counters), |error| error.to_string())
        };
        assert_eq!(taken(Ok("rings".into()), &[]).unwrap(), "rings");
        assert!(taken(Err(forbidden()), &[]).unwrap().contains("ask an administrator"));
        assert!(taken(Err(RecordError::Kernel(io::ErrorKind::NotFound.into())), &[]).is_ok());
        assert!(taken(Err(forbidden()), &["page-faults"]).is_err());
        assert!(taken(Err(RecordError::OtherSystem), &[]).is_err());
    }

    #[test]
    fn what_is_less_exact_is_said_with_what_to_do() {
        let mut recording = recording(&[]);
        recording.sampler = Sampler::Ptrace;
        let mut sampling = Sampling::open(Pid::this(), &recording).unwrap();
        assert!(sampling.notes().is_empty() && !sampling.has_switches());
        assert_eq!(sampling.facts()[0], ("sampler", "ptrace".to_owned()));
        sampling.instead_of = Some(forbidden());
        let [(kind, message)] = &sampling.notes()[..] else { panic!("no note") };
        assert_eq!(*kind, "sampled-by-ptrace");
        assert!(message.contains("250 Hz") && message.contains("ask an administrator"));
        let error =
            RecordError::not_traced(io::ErrorKind::PermissionDenied.into(), Some(forbidden()));
        let said = error.to_string();
        assert!(said.contains("ask an administrator") && said.contains("ptrace_scope"), "{said}");
        recording.counters = vec!["page-faults".parse().unwrap()];
        let error = Sampling::open(Pid::this(), &recording).err().unwrap();
        assert!(matches!(error, RecordError::CountersWithoutPerfEvent));
    }
}
