//! One file read in parts that may be read at the same time, by threads or by workers.
//!
//! Where parts begin is guessed: at what looks like the name of a run. A guess may be wrong, for
//! instance inside a string. So a part counts only if the part before it, read to its end, arrived
//! exactly there between two runs of the first `data`: then the guess was right, and by induction
//! all were. Otherwise [`assemble`] gives nothing and the file is read from front to back. What is
//! assembled equals what is read from front to back, issues included.

use std::ops::Range;

use parallax_base::{ByteSource, Issue, Issues};

use super::config::Config;
use super::reader::{Fault, File, RawRun};
use crate::json::{Event, JsonLimits, JsonReader};
use crate::scaling_data::{Collected, Measurements, ReadOptions, RegionTime, Report};
use crate::stream::RangeStream;

/// Most bytes before the first run that every part reads again for `config`.
const MOST_FRONT: u64 = 1 << 20;
/// Bytes examined in one go for the name of a run.
const WINDOW: u64 = 64 << 10;
/// Bytes in which it is looked for at once.
const BLOCK: usize = 128;
/// Longest name of a run, with what stands around it.
const MOST_KEY: u64 = 512;

/// What was read of a part of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PartRead {
    pub(super) range: Range<u64>,
    pub(super) region_time: RegionTime,
    pub(super) collected: Collected,
    pub(super) keys: Vec<(Box<str>, u64)>,
    pub(super) raw: Vec<RawRun>,
    pub(super) issues: Vec<Issue>,
    /// Where and why the text breaks off, in the last part.
    pub(super) fault: Option<(u64, String)>,
}

/// Cuts a PaScal Analyzer file into up to `parts` ranges of about equal length that begin where
/// runs seem to. `None` when there are not two, or the runs do not follow `config`.
pub(crate) fn split(source: &dyn ByteSource, parts: usize) -> Option<Vec<Range<u64>>> {
    front(source)?;
    let len = source.len();
    let share = (len / (parts as u64).max(1)).max(1);
    let mut starts = vec![0];
    for from in (1..parts as u64).map(|i| share * i) {
        if let Some(start) = find_run(source, from, (from + share).min(len))
            && starts.last().is_some_and(|&last| last < start)
        {
            starts.push(start);
        }
    }
    let ends = starts.iter().skip(1).copied().chain([len]);
    let ranges: Vec<Range<u64>> = starts.iter().zip(ends).map(|(&from, to)| from..to).collect();
    (ranges.len() > 1).then_some(ranges)
}

/// Reads one of the ranges of [`split`]; `None` when it does not end where it should.
pub(crate) fn read_part(
    source: &dyn ByteSource,
    range: Range<u64>,
    options: &ReadOptions<'_>,
) -> Option<PartRead> {
    let config = front(source)?;
    let is_last = range.end >= source.len();
    let mut issues = Issues::new();
    let mut report = Report { file: options.file, issues: &mut issues };
    let mut file = File::new(options);
    file.stop = (!is_last).then_some(range.end);
    // One byte more: the quote where the next part begins.
    let stream = RangeStream::new(source, range.start..range.end.saturating_add(1));
    let limits = JsonLimits::default();
    let outcome = if range.start == 0 {
        file.read(&mut JsonReader::new(stream, limits), &mut report)
    } else {
        let mut reader = JsonReader::resumed(stream, limits, range.start, "data");
        file.resume(&mut reader, config.clone(), &mut report)
    };
    let fault = match outcome {
        Err(Fault::Boundary { met: true }) => None,
        Ok(()) if is_last => None,
        Err(Fault::Json(fault)) if is_last => Some((fault.offset, fault.to_string())),
        _ => return None,
    };
    // A second `config` after the runs would hold for all parts.
    if file.config.as_ref() != Some(&config) {
        return None;
    }
    Some(PartRead {
        range,
        region_time: options.region_time,
        collected: file.builder.into_collected(),
        keys: file.keys,
        raw: file.raw,
        issues: issues.list().to_vec(),
        fault,
    })
}

/// Puts the parts of a whole file together; `None` when they do not fit, and the file must be read
/// from front to back.
pub(crate) fn assemble(
    source: &dyn ByteSource,
    parts: Vec<PartRead>,
    options: &ReadOptions<'_>,
    issues: &mut Issues,
) -> Option<Measurements> {
    let config = front(source)?;
    let mut own = Issues::new();
    let mut file = File::new(options);
    let (mut end, mut broken) = (0, None);
    for part in parts {
        let fits = part.range.start == end && part.region_time == options.region_time;
        if !fits || part.keys.len() != part.raw.len() || broken.is_some() {
            return None;
        }
        end = part.range.end;
        broken = part.fault;
        file.builder.absorb(part.collected, u32::try_from(file.keys.len()).ok()?)?;
        file.keys.extend(part.keys);
        file.raw.extend(part.raw);
        for issue in part.issues {
            let Issue { severity, stage, kind, place, message, count, .. } = issue;
            own.report_many(severity, stage, kind, place, count, || message);
        }
    }
    if end != source.len() || file.builder.check_limits(options.file).is_err() {
        return None;
    }
    let mut report = Report { file: options.file, issues: &mut own };
    if let Some((offset, fault)) = broken {
        // A text without one whole run is an error, which reading it again gives.
        if file.keys.is_empty() {
            return None;
        }
        file.ends_early(offset, &fault, &mut report);
    }
    file.has_data = true;
    file.config = Some(config);
    let read = file.finish(&mut report).ok()?;
    if issues.is_empty() {
        *issues = own;
    } else {
        issues.extend(own);
    }
    Some(read)
}

/// The `config` of a file, if it and nothing long stands before the runs.
fn front(source: &dyn ByteSource) -> Option<Config> {
    // What is wrong with it is reported where it is read with the first part.
    let mut issues = Issues::new();
    let mut report = Report { file: "", issues: &mut issues };
    let stream = RangeStream::new(source, 0..MOST_FRONT);
    let mut reader = JsonReader::new(stream, JsonLimits::default());
    if reader.next_event().ok()? != Event::BeginObject {
        return None;
    }
    let mut config = None;
    while let Some(name) = reader.next_key().ok()? {
        match name.as_str() {
            "config" => {
                let offset = reader.offset();
                let value = reader.read_value().ok()?;
                config = Some(Config::from_value(&value, offset, &mut report));
            }
            "data" => {
                let runs = reader.next_event().ok()? == Event::BeginObject;
                return config.filter(|_| runs);
            }
            _ => reader.skip_value().ok()?,
        }
    }
    None
}

/// Where the last part ends that is whole in `range`: the last thing there, but not at its very
/// front, that looks like the name of a run.
pub(crate) fn part_end(source: &dyn ByteSource, range: Range<u64>) -> Option<u64> {
    let mut end = range.end.min(source.len());
    while end > range.start {
        let place = end.saturating_sub(WINDOW).max(range.start);
        let start = place.saturating_sub(MOST_KEY).max(range.start);
        let mut bytes = vec![0; usize::try_from(end - start).ok()?];
        source.read_at(start, &mut bytes).ok()?;
        let fresh = usize::try_from(place - start).ok()?;
        for brace in braces_from_the_end(&bytes, fresh) {
            if let Some(quote) = bytes.get(..brace).and_then(run_name)
                && start + quote as u64 > range.start
            {
                return Some(start + quote as u64);
            }
        }
        end = place;
    }
    None
}

/// Where `bytes` have `{` at `from` or later, the last one first.
fn braces_from_the_end(bytes: &[u8], from: usize) -> impl Iterator<Item = usize> + '_ {
    let fresh = bytes.get(from..).unwrap_or_default();
    // Nearly all bytes are numbers: looking at many at once passes over them quickly.
    let hit = |chunk: &[u8]| chunk.iter().fold(false, |any, &byte| any | (byte == b'{'));
    let blocks = fresh.chunks(BLOCK).enumerate().rev().filter(move |(_, chunk)| hit(chunk));
    blocks.flat_map(move |(nth, chunk)| {
        let found = chunk.iter().enumerate().rev().filter(|(_, byte)| **byte == b'{');
        found.map(move |(at, _)| from + nth * BLOCK + at)
    })
}

/// Offset of the first thing between `from` and `to` that looks like the name of a run.
fn find_run(source: &dyn ByteSource, from: u64, to: u64) -> Option<u64> {
    let mut place = from;
    while place < to {
        let start = place.saturating_sub(MOST_KEY);
        let end = (place + WINDOW).min(to);
        let mut bytes = vec![0; usize::try_from(end - start).ok()?];
        source.read_at(start, &mut bytes).ok()?;
        let fresh = usize::try_from(place - start).ok()?;
        let braces = bytes.iter().enumerate().skip(fresh).filter(|(_, byte)| **byte == b'{');
        for (brace, _) in braces {
            if let Some(quote) = bytes.get(..brace).and_then(run_name)
                && start + quote as u64 >= from
            {
                return Some(start + quote as u64);
            }
        }
        place = end;
    }
    None
}

/// Where the name of a run begins (`, "4;0;1": `) if `bytes` end with one.
fn run_name(bytes: &[u8]) -> Option<usize> {
    let bytes = bytes.trim_ascii_end().strip_suffix(b":")?;
    let bytes = bytes.trim_ascii_end().strip_suffix(b"\"")?;
    let quote = bytes.iter().rposition(|&byte| byte == b'"')?;
    let (before, name) = bytes.split_at_checked(quote)?;
    let name = name.get(1..)?;
    let fits = |&byte: &u8| byte >= b' ' && byte != b'\\';
    let parts = name.contains(&b';') || name.iter().all(u8::is_ascii_digit);
    let after = matches!(before.trim_ascii_end().last(), Some(b',' | b'{'));
    (parts && !name.is_empty() && name.iter().all(fits) && after).then_some(quote)
}
