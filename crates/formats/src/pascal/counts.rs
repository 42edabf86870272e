//! Events that were read at an interval within a run, shared among its regions.

use super::run::leave_value;
use crate::json::{Event, JsonError, JsonReader};

/// Names of counters at most.
const MOST_COUNTERS: usize = 256;

/// A series of `[[count, ...], time]`: how often each event had happened by then.
#[derive(Debug, Default)]
pub(super) struct CountSeries {
    /// Counters of each sample.
    width: usize,
    times: Vec<f64>,
    /// The counts of all samples, one sample after the other.
    counts: Vec<f64>,
    /// Samples that are no such tuple, or that did not fit.
    bad: u64,
    /// The counts of one sample, kept for its memory.
    sample: Vec<f64>,
}

/// Why the counts of regions are not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum CountFault {
    #[error("fewer than two samples")]
    TooFewSamples,
    #[error("a sample is not a list of as many counts as the others with its time")]
    BadSample,
    #[error("its times or its counts go back")]
    Backwards,
}

impl CountSeries {
    /// Numbers that it keeps.
    pub(super) const fn size(&self) -> usize {
        self.times.len() + self.counts.len()
    }

    pub(super) const fn width(&self) -> usize {
        self.width
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Reads the rest of a tuple that has begun with an array or an object.
    pub(super) fn read(
        &mut self,
        reader: &mut JsonReader<'_>,
        begun: &'static str,
        has_room: bool,
    ) -> Result<(), JsonError> {
        self.sample.clear();
        let depth = reader.depth();
        let mut time = None;
        let mut is_bad = begun != Event::BeginArray.kind();
        let mut has_counts = false;
        while !is_bad {
            match reader.next_event()? {
                Event::EndArray | Event::End => {
                    self.add(time, !has_room);
                    return Ok(());
                }
                Event::Number(value) if has_counts && time.is_none() => time = Some(value.as_f64()),
                Event::BeginArray if !has_counts => {
                    has_counts = true;
                    loop {
                        match reader.next_event()? {
                            Event::EndArray | Event::End => break,
                            Event::Number(value) if self.sample.len() < MOST_COUNTERS => {
                                self.sample.push(value.as_f64());
                            }
                            other => {
                                let kind = other.kind();
                                leave_value(reader, kind)?;
                                is_bad = true;
                            }
                        }
                    }
                }
                _ => is_bad = true,
            }
        }
        reader.leave(depth)?;
        self.add(None, true);
        Ok(())
    }

    fn add(&mut self, time: Option<f64>, is_bad: bool) {
        let fits = self.times.is_empty() || self.sample.len() == self.width;
        match time {
            Some(time) if !is_bad && fits && !self.sample.is_empty() => {
                self.width = self.sample.len();
                self.times.push(time);
                self.counts.append(&mut self.sample);
            }
            _ => self.bad += 1,
        }
    }

    /// Whether it can be relied on, and the middle one of the times between two samples.
    pub(super) fn check(&self) -> Result<f64, CountFault> {
        if self.bad > 0 {
            return Err(CountFault::BadSample);
        }
        let ascends = |pair: (&f64, &f64)| pair.1 >= pair.0;
        let later = self.counts.get(self.width..).unwrap_or_default();
        if !self.times.iter().zip(self.times.iter().skip(1)).all(ascends)
            || !self.counts.iter().zip(later).all(ascends)
        {
            return Err(CountFault::Backwards);
        }
        let mut periods: Vec<f64> =
            self.times.iter().zip(self.times.iter().skip(1)).map(|(a, b)| b - a).collect();
        periods.sort_by(f64::total_cmp);
        periods.get(periods.len() / 2).copied().ok_or(CountFault::TooFewSamples)
    }

    /// Events of a counter within disjoint intervals, even between two samples. None where the
    /// intervals reach beyond the samples by more than `period`, or are shorter than that: what is
    /// between two samples is then not of them alone.
    pub(super) fn within(
        &self,
        counter: usize,
        intervals: &[(f64, f64)],
        period: f64,
    ) -> Option<f64> {
        let (first, last) = (*self.times.first()?, *self.times.last()?);
        let seconds: f64 = intervals.iter().map(|(start, stop)| stop - start).sum();
        let is_inside =
            |&(start, stop): &(f64, f64)| start >= first - period && stop <= last + period;
        if seconds < period * intervals.len() as f64 || !intervals.iter().all(is_inside) {
            return None;
        }
        let mut total = 0.0;
        for &(start, stop) in intervals {
            total += self.at(counter, stop)? - self.at(counter, start)?;
        }
        Some(total)
    }

    /// How often the event of a counter had happened by then.
    fn at(&self, counter: usize, time: f64) -> Option<f64> {
        let count = |sample: usize| self.counts.get(sample * self.width + counter).copied();
        let after = self.times.partition_point(|&known| known <= time);
        let Some(before) = after.checked_sub(1) else { return count(0) };
        let (low, from) = (count(before)?, *self.times.get(before)?);
        let Some(&until) = self.times.get(after) else { return Some(low) };
        Some(low + (count(after)? - low) * (time - from) / (until - from))
    }
}
