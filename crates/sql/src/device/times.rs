//! [`Times`]: how long jobs of a kind take, and how that is measured on a device.

use std::time::Instant;

use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::{DataFusionError, Result};
use parallax_columns::{ColumnDevice, DeviceError};

use super::job::{Job, JobResult};
use super::samples::{FEW, Sample, more_rows};

/// What the processor does with what a device found, so that it is what the processor gives alone.
pub(super) type Finish<'f> = dyn Fn(JobResult) -> Result<Option<RecordBatch>> + 'f;

/// Seconds that jobs of a kind take: always, and for each row.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Times {
    pub(super) fixed: f64,
    pub(super) row: f64,
    /// How often all rows were timed.
    pub(super) steps: usize,
    /// For each row, in the last of these times.
    pub(super) latest: [f64; LATEST],
}

/// Complete steps of a kind that say how long the next one takes.
const LATEST: usize = 3;

impl Times {
    /// From those of so many rows, and of more.
    fn of(few: (usize, f64), more: (usize, f64)) -> Self {
        let rows = more.0.saturating_sub(few.0).max(1);
        let row = (more.1 - few.1).max(0.0) / rows as f64;
        Self { fixed: (few.1 - row * few.0 as f64).max(0.0), row, ..Self::default() }
    }

    pub(super) fn all(self, rows: usize) -> f64 {
        self.fixed + self.row * rows as f64
    }

    /// After a job with so many rows. The shortest of the last ones counts: what else runs on a machine
    /// makes a step longer, and never shorter. One that took long by chance would keep a kind of steps
    /// where it is not done any more, and so not timed again.
    pub(super) fn learn(&mut self, rows: usize, seconds: f64) {
        let row = (seconds - self.fixed).max(0.0) / rows.max(1) as f64;
        self.latest[self.steps % LATEST] = row;
        self.steps += 1;
        let known = &self.latest[..self.steps.min(LATEST)];
        self.row = known.iter().copied().fold(f64::INFINITY, f64::min);
    }
}

/// Why a job ends without a result.
#[derive(Debug)]
pub(super) enum Stop {
    Device(DeviceError),
    Statement(DataFusionError),
}

impl From<DeviceError> for Stop {
    fn from(error: DeviceError) -> Self {
        Self::Device(error)
    }
}

/// How long a job takes on the device and what follows on the processor, without copies of columns:
/// for rows that stand for all. And seconds that a byte takes to the device.
pub(super) fn measured(
    device: &dyn ColumnDevice,
    table: &RecordBatch,
    job: &Job,
    finish: &Finish<'_>,
) -> Result<(Times, Option<f64>), Stop> {
    let columns = job.columns();
    let few = Sample::of(table, &columns, FEW, device)?;
    let more = Sample::of(table, &columns, more_rows(table.num_rows()), device)?;
    let byte = (more.bytes > few.bytes).then(|| {
        let seconds = (more.seconds - few.seconds).max(0.0);
        seconds / (more.bytes - few.bytes) as f64
    });
    let time = |sample: &Sample| -> Result<(f64, f64), Stop> {
        let begin = Instant::now();
        let found = job.done(device, &sample.columns, sample.rows)?;
        let there = begin.elapsed().as_secs_f64();
        finish(sample.in_table(found)).map_err(Stop::Statement)?;
        Ok((there, begin.elapsed().as_secs_f64() - there))
    };
    let timed = |sample: &Sample| -> Result<(usize, f64), Stop> {
        // The first time, kernels are compiled, and memory is new: that of the device stays, and that
        // of a result of all rows is as new as that of the first sample.
        let (_, new) = time(sample)?;
        let ((one, after_one), (other, after_other)) = (time(sample)?, time(sample)?);
        Ok((sample.rows, one.min(other) + new.max(after_one).max(after_other)))
    };
    Ok((Times::of(timed(&few)?, timed(&more)?), byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_took_long_by_chance_is_not_what_counts() {
        let mut times = Times::of((100, 0.001), (1100, 0.002));
        assert!((times.all(10_000) - 0.0109).abs() < 1e-9, "{times:?}");
        // Complete steps say more than samples.
        for (seconds, expected) in [
            (0.020, 0.020),
            (0.018, 0.018),
            (0.070, 0.018),
            (0.021, 0.018),
            // The three before have gone.
            (0.030, 0.021),
            (0.030, 0.021),
            (0.031, 0.030),
        ] {
            times.learn(10_000, seconds);
            assert!((times.all(10_000) - expected).abs() < 1e-9, "{seconds} {times:?}");
        }
    }
}
