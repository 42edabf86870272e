//! Whether events go to a device, and in how many parts.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use parallax_columns::{Compute, Computed, Events, Groups, Keys, Processor, summarise};

use crate::{DeviceKind, Gpu, GpuError};

/// What is asked of a device.
trait Device: Send + Sync {
    /// What it is called.
    fn name(&self) -> String;

    /// Whether it is the processor after all, through a driver.
    fn is_software(&self) -> bool;

    /// [`summarise`] there, copies included.
    fn summarise(&self, events: &Events<'_>, keys: Keys, shortest: u64)
    -> Result<Groups, GpuError>;
}

/// Does operations on a device, or on the processor where that takes less time or the device cannot.
///
/// Time is estimated from the first events: those of the question, copies included. What does not fit
/// is done in parts.
#[derive(Debug)]
pub struct Planner<D = Gpu> {
    device: OnceLock<Result<D, GpuError>>,
    open: fn() -> Result<D, GpuError>,
    is_forced: bool,
}

impl Planner {
    /// Wherever it takes less time: on the first device, or on the processor. The device is opened
    /// once there are enough events for it.
    #[must_use]
    pub fn auto() -> Self {
        Self { device: OnceLock::new(), open: || Gpu::open(0), is_forced: false }
    }

    /// On a device, whatever it takes.
    #[must_use]
    pub fn forced(gpu: Gpu) -> Self {
        Self { device: OnceLock::from(Ok(gpu)), open: || Gpu::open(0), is_forced: true }
    }
}

/// Below this many events the processor is done before a device has begun: on an H200 with 16 cores
/// next to it a device takes a millisecond for ten events.
pub(crate) const FEW: usize = 500_000;

/// Events that times are estimated from: of this many, and of eight times as many.
const SAMPLE: usize = 1 << 15;

/// Parts of fewer events are not worth a device.
const LEAST_PART: usize = 1 << 16;

impl<D: Device> Compute for Planner<D> {
    fn summarise(&self, events: &Events<'_>, keys: Keys, shortest: u64) -> Computed<Groups> {
        let on_processor = |reason| Processor { reason }.summarise(events, keys, shortest);
        if !self.is_forced && events.len() < FEW {
            return on_processor("too few for a GPU".to_owned());
        }
        let device = match self.device.get_or_init(self.open) {
            Ok(device) => device,
            Err(error) => return on_processor(error.to_string()),
        };
        let reason = if self.is_forced {
            "it was asked for".to_owned()
        } else {
            match chosen(device, events, keys, shortest) {
                Ok(reason) => reason,
                Err(reason) => return on_processor(reason),
            }
        };
        match in_parts(device, events, keys, shortest) {
            Ok((value, 1)) => Computed { value, device: device.name(), reason },
            Ok((value, parts)) => {
                let reason = format!("{reason}; in {parts} parts, as all do not fit");
                Computed { value, device: device.name(), reason }
            }
            Err(error) => on_processor(format!("{}: {error}", device.name())),
        }
    }
}

/// On the device, in halves of halves where there is no room for all; and in how many parts.
fn in_parts(
    device: &impl Device,
    events: &Events<'_>,
    keys: Keys,
    shortest: u64,
) -> Result<(Groups, usize), GpuError> {
    match device.summarise(events, keys, shortest) {
        Err(error) if error.is_full() && events.len() >= 2 * LEAST_PART => {
            let (first, second) = events.split_at(events.len() / 2);
            let (first, a) = in_parts(device, &first, keys, shortest)?;
            let (second, b) = in_parts(device, &second, keys, shortest)?;
            Ok((Groups::merged([first, second]), a + b))
        }
        other => Ok((other?, 1)),
    }
}

/// Why the device takes less time, or why not: estimated from the first events, of which the device
/// takes a fixed time and one for each.
fn chosen(
    device: &impl Device,
    events: &Events<'_>,
    keys: Keys,
    shortest: u64,
) -> Result<String, String> {
    let name = device.name();
    if device.is_software() {
        return Err(format!("{name} is the processor, too"));
    }
    let few = events.split_at(SAMPLE).0;
    let more = events.split_at(8 * SAMPLE).0;
    let on_device = |events: &Events<'_>| {
        let begin = Instant::now();
        device.summarise(events, keys, shortest).map(|_| begin.elapsed())
    };
    let failed = |error: GpuError| format!("{name}: {error}");
    // Once for the kernels to be compiled.
    on_device(&few).map_err(failed)?;
    let (short, long) = (on_device(&few).map_err(failed)?, on_device(&more).map_err(failed)?);
    let begin = Instant::now();
    let _ = summarise(&more, keys, shortest);
    let processor = begin.elapsed().mul_f64(events.len() as f64 / more.len() as f64);
    let each = long.saturating_sub(short).as_secs_f64() / (more.len() - few.len()) as f64;
    let device = short + Duration::from_secs_f64(each * (events.len() - few.len()) as f64);
    let times = format!(
        "estimated {:.3} s with copies, and {:.3} s on the processor",
        device.as_secs_f64(),
        processor.as_secs_f64()
    );
    if device < processor { Ok(times) } else { Err(format!("{name}: {times}")) }
}

impl Device for Gpu {
    fn name(&self) -> String {
        self.info().name.clone()
    }

    fn is_software(&self) -> bool {
        self.info().kind == DeviceKind::Software
    }

    fn summarise(
        &self,
        events: &Events<'_>,
        keys: Keys,
        shortest: u64,
    ) -> Result<Groups, GpuError> {
        let durations = self.durations(&self.upload(events.start)?, &self.upload(events.end)?)?;
        let (minor, major) = keys.of(events.location, events.context);
        let mut minor = self.upload(minor)?;
        let mut major = major.map(|major| self.upload(major)).transpose()?;
        if shortest == 0 {
            return self.group(&minor, major.as_ref(), &durations);
        }
        let rows = self.filter(&durations, shortest..=u64::MAX)?;
        minor = self.gather(&minor, &rows)?;
        major = major.map(|major| self.gather(&major, &rows)).transpose()?;
        self.group(&minor, major.as_ref(), &self.gather(&durations, &rows)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that has room for some events, and otherwise does what it should.
    struct Small(usize);

    impl Device for Small {
        fn name(&self) -> String {
            "a small one".to_owned()
        }

        fn is_software(&self) -> bool {
            false
        }

        fn summarise(
            &self,
            events: &Events<'_>,
            keys: Keys,
            shortest: u64,
        ) -> Result<Groups, GpuError> {
            if events.len() > self.0 {
                return Err(GpuError::OutOfMemory { bytes: events.len() as u64 });
            }
            Ok(summarise(events, keys, shortest))
        }
    }

    #[test]
    fn what_does_not_fit_is_done_in_parts_or_on_the_processor() {
        let len = 300_000_u32;
        let location: Vec<u32> = (0..len).map(|i| i / 1000).collect();
        let context: Vec<u32> = (0..len).map(|i| i.wrapping_mul(i) % 17).collect();
        let start: Vec<u64> = (0..u64::from(len)).collect();
        let end: Vec<u64> = start.iter().map(|at| at + at % 5).collect();
        let events = Events { location: &location, context: &context, start: &start, end: &end };
        let on = |room, is_forced| Planner {
            device: OnceLock::from(Ok(Small(room))),
            open: || Ok(Small(0)),
            is_forced,
        };
        for keys in [Keys::Context, Keys::Location, Keys::Both] {
            for shortest in [0, 3] {
                let expected = summarise(&events, keys, shortest);
                let total: u64 = expected.moments.iter().map(|of| of.count).sum();
                assert_eq!(total, if shortest == 0 { 300_000 } else { 120_000 });
                let in_parts = on(100_000, true).summarise(&events, keys, shortest);
                assert_eq!(in_parts.value, expected);
                assert_eq!(
                    (&*in_parts.device, in_parts.reason.contains("in 4 parts")),
                    ("a small one", true)
                );
                let none = on(0, true).summarise(&events, keys, shortest);
                assert_eq!(none.value, expected);
                assert!(
                    none.device == "cpu" && none.reason.contains("no memory"),
                    "{}",
                    none.reason
                );
                let few = on(1 << 20, false).summarise(&events, keys, shortest);
                assert_eq!((&*few.device, few.value == expected), ("cpu", true));
            }
        }
    }
}
