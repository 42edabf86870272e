//! Parts of a file as bytes: workers of a browser have no memory in common.
//!
//! Numbers are little-endian, texts and lists have their length before them. Both ends are the
//! same program, so the form may change at any time; all the same nothing in it is trusted.

use parallax_base::{Issue, Place, Severity, Stage, Unit};

use super::parts::PartRead;
use super::reader::RawRun;
use super::run::RunTimes;
use crate::scaling_data::{
    Collected, Metric, Outcome, Region, RegionKind, RegionTime, RunEstimate, Sample,
};

/// Every issue that reading a part may report. One that is missing here makes the file be read
/// from front to back.
const KINDS: &[&str] = &[
    "bad-entry",
    "bad-run-time",
    "config-unreadable",
    "count-series-rejected",
    "descriptor-without-times",
    "duplicate-name",
    "field-ignored",
    "no-descriptor",
    "no-run-time",
    "power-series-rejected",
    "region-energy-skipped",
    "run-failed",
    "trailing-data",
    "union-cut",
    "wrong-type",
];

const POLICIES: [RegionTime; 4] =
    [RegionTime::Union, RegionTime::Sum, RegionTime::Span, RegionTime::ThreadMax];
const REGION_KINDS: [RegionKind; 4] =
    [RegionKind::WholeProgram, RegionKind::Marked, RegionKind::Gap, RegionKind::Automatic];
const OUTCOMES: [Outcome; 4] =
    [Outcome::Completed, Outcome::Suspicious, Outcome::Failed, Outcome::Replaced];
const SEVERITIES: [Severity; 3] = [Severity::Note, Severity::Warning, Severity::Error];
const UNITS: [Unit; 7] =
    [Unit::Seconds, Unit::Nanos, Unit::Bytes, Unit::Cycles, Unit::Joules, Unit::Count, Unit::Ratio];

impl PartRead {
    /// The part as bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Out::default();
        out.one_of(&POLICIES, &self.region_time);
        out.u64(self.range.start);
        out.u64(self.range.end);
        out.maybe(self.fault.as_ref(), |out, (offset, fault)| {
            out.u64(*offset);
            out.text(fault);
        });
        out.list(&self.collected.regions, |out, region| {
            for text in [&region.id, &region.path, &region.name] {
                out.text(text);
            }
            out.maybe(region.parent, Out::u32);
            out.one_of(&REGION_KINDS, &region.kind);
            out.maybe(region.file.as_ref(), |out, file| out.text(file));
            out.maybe(region.lines, |out, (first, last)| {
                out.u32(first);
                out.u32(last);
            });
        });
        out.list(&self.collected.metrics, |out, metric| {
            out.text(&metric.name);
            out.one_of(&UNITS, &metric.unit);
            if let Unit::Other(text) = &metric.unit {
                out.text(text);
            }
        });
        out.list(&self.collected.samples, |out, sample| {
            out.u32(u32::from(sample.metric));
            out.u32(sample.region);
            out.u32(sample.run);
            out.f64(sample.value);
        });
        out.list(&self.keys, |out, (key, offset)| {
            out.text(key);
            out.u64(*offset);
        });
        out.list(&self.raw, |out, raw| {
            let times = &raw.times;
            for time in [times.start, times.stop, times.total, times.exit_status, raw.seconds] {
                out.maybe(time, Out::f64);
            }
            out.byte(u8::from(times.has_regions));
            out.maybe(times.estimate, |out, estimate| {
                out.u64(estimate.iterations);
                out.u64(estimate.of);
                out.f64(estimate.interval.0);
                out.f64(estimate.interval.1);
                out.maybe(estimate.with_trend, Out::f64);
            });
            out.one_of(&OUTCOMES, &raw.outcome);
        });
        out.list(&self.issues, |out, issue| {
            out.text(issue.kind);
            out.one_of(&SEVERITIES, &issue.severity);
            let offset = match &issue.place {
                Place::Byte { offset, .. } => Some(*offset),
                _ => None,
            };
            out.maybe(offset, Out::u64);
            out.text(&issue.message);
            out.u64(issue.count);
        });
        out.bytes
    }

    /// The part of the file called `file` that [`PartRead::to_bytes`] gave; `None` for anything
    /// else.
    pub(crate) fn from_bytes(bytes: &[u8], file: &str) -> Option<Self> {
        let mut from = Cursor { rest: bytes };
        let region_time = from.one_of(&POLICIES)??;
        let range = from.u64()?..from.u64()?;
        let fault = from.maybe(|from| Some((from.u64()?, from.text()?)))?;
        let regions = from.list(|from| {
            Some(Region {
                id: from.text()?,
                path: from.text()?,
                name: from.text()?,
                parent: from.maybe(Cursor::u32)?,
                kind: from.one_of(&REGION_KINDS)??,
                file: from.maybe(Cursor::text)?,
                lines: from.maybe(|from| Some((from.u32()?, from.u32()?)))?,
            })
        })?;
        let metrics = from.list(|from| {
            let name = from.text()?;
            let unit = match from.one_of(&UNITS)? {
                Some(unit) => unit,
                None => Unit::Other(from.text()?),
            };
            Some(Metric { name, unit })
        })?;
        let samples = from.list(|from| {
            Some(Sample {
                metric: u16::try_from(from.u32()?).ok()?,
                region: from.u32()?,
                run: from.u32()?,
                value: from.f64().filter(|value| value.is_finite())?,
            })
        })?;
        let keys = from.list(|from| Some((from.text()?.into_boxed_str(), from.u64()?)))?;
        let raw = from.list(|from| {
            let mut time = || from.maybe(Cursor::f64);
            let (start, stop, total) = (time()?, time()?, time()?);
            let (exit_status, seconds) = (time()?, time()?);
            let has_regions = from.byte()? == 1;
            let estimate = from.maybe(|from| {
                Some(RunEstimate {
                    iterations: from.u64()?,
                    of: from.u64()?,
                    interval: (from.f64()?, from.f64()?),
                    with_trend: from.maybe(Cursor::f64)?,
                })
            })?;
            let times = RunTimes { start, stop, total, exit_status, has_regions, estimate };
            Some(RawRun { times, seconds, outcome: from.one_of(&OUTCOMES)?? })
        })?;
        let issues = from.list(|from| {
            let kind = from.text()?;
            let kind = KINDS.iter().find(|known| **known == kind)?;
            let severity = from.one_of(&SEVERITIES)??;
            let file = file.to_owned();
            let place = match from.maybe(Cursor::u64)? {
                Some(offset) => Place::Byte { file, offset },
                None => Place::File { file },
            };
            let message = from.text()?;
            // Each cost a byte of the part at least.
            let count =
                from.u64().filter(|&n| n > 0 && n <= range.end.saturating_sub(range.start))?;
            Some(Issue { kind, severity, stage: Stage::Read, place, message, count, files: 1 })
        })?;
        let collected = Collected { regions, metrics, samples };
        from.rest.is_empty().then_some(Self {
            range,
            region_time,
            collected,
            keys,
            raw,
            issues,
            fault,
        })
    }
}

#[derive(Default)]
struct Out {
    bytes: Vec<u8>,
}

impl Out {
    fn byte(&mut self, value: u8) {
        self.bytes.push(value);
    }

    fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    fn f64(&mut self, value: f64) {
        self.u64(value.to_bits());
    }

    fn text(&mut self, text: &str) {
        self.u64(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// The place of a value among all that there are; 255 for others.
    fn one_of<T: PartialEq>(&mut self, all: &[T], value: &T) {
        let place = all.iter().position(|other| other == value);
        self.byte(place.and_then(|place| u8::try_from(place).ok()).unwrap_or(u8::MAX));
    }

    fn maybe<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.byte(u8::from(value.is_some()));
        if let Some(value) = value {
            write(self, value);
        }
    }

    fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.u64(items.len() as u64);
        for item in items {
            write(self, item);
        }
    }
}

struct Cursor<'b> {
    rest: &'b [u8],
}

impl Cursor<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (front, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*front)
    }

    fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn f64(&mut self) -> Option<f64> {
        self.u64().map(f64::from_bits)
    }

    fn text(&mut self) -> Option<String> {
        let len = usize::try_from(self.u64()?).ok()?;
        let (text, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        std::str::from_utf8(text).ok().map(str::to_owned)
    }

    /// `Some(None)` for a value that is none of these.
    fn one_of<T: Clone>(&mut self, all: &[T]) -> Option<Option<T>> {
        self.byte().map(|place| all.get(usize::from(place)).cloned())
    }

    fn maybe<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        match self.byte()? {
            0 => Some(None),
            _ => read(self).map(Some),
        }
    }

    /// Every item takes a byte at least, so memory follows what is there, not what is announced.
    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.u64()?;
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(read(self)?);
        }
        Some(items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_issue_of_a_part_has_a_number() {
        let sources =
            [include_str!("config.rs"), include_str!("run.rs"), include_str!("reader.rs")];
        let mut found = 0;
        for source in sources {
            for call in source.split("report.at(Severity::").skip(1) {
                let kind = call.split('"').nth(1).unwrap();
                // Known only when all parts are.
                found += usize::from(kind != "file-ends-early");
                assert!(KINDS.contains(&kind) || kind == "file-ends-early", "{kind}");
            }
        }
        assert!(found > 15, "{found}");
    }
}
