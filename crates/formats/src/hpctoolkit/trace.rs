//! `trace.db`: samples of which context was active when.

use std::borrow::Cow;

use parallax_base::{Issues, Limits, Place, Severity, Source, Stage, read_range};

use super::header::{FileKind, Header};
use super::layout::{SAMPLE_SIZE, trace, traces};
use super::record::{Record, Table};
use crate::FormatError;

/// Where the samples of one profile lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceInfo {
    /// Profile number.
    pub profile: u32,
    /// Number of samples.
    pub num_samples: u64,
    start: u64,
}

/// A context became active at a time; it stays so until the next sample of the same trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Nanoseconds since the Unix epoch.
    pub nanos: u64,
    /// Context id; 0 when the thread was not running.
    pub context: u32,
}

/// The content of `trace.db`; samples are read on demand.
pub struct TraceDb {
    source: Source,
    infos: Vec<TraceInfo>,
    /// Time of the earliest sample, nanoseconds since the Unix epoch.
    pub min_nanos: u64,
    /// Time of the latest sample.
    pub max_nanos: u64,
}

impl TraceDb {
    /// Reads the table of the file, not the samples: 24 bytes per profile.
    ///
    /// # Errors
    /// When the file is not a `trace.db` of version 4 or cannot be read.
    pub fn open(source: Source, limits: &Limits, issues: &mut Issues) -> Result<Self, FormatError> {
        let file = FileKind::Trace.file_name();
        let header = Header::read(&*source, FileKind::Trace, 1, issues)?;
        let fail = |e| FormatError::read(file, e);
        let section = header.section(0);
        let head =
            read_range(&*source, section.start, section.size.min(traces::SIZE)).map_err(fail)?;
        let head = Record::new(&head);
        let (start, count) = (head.u64(traces::START), head.u32(traces::COUNT));
        let (Some(start), Some(count), Some(stride)) = (start, count, head.u8(traces::STRIDE))
        else {
            return Err(FormatError::malformed(file, section.start, "no table of traces"));
        };
        let min_nanos = head.u64(traces::MIN_NANOS).unwrap_or(0);
        let max_nanos = head.u64(traces::MAX_NANOS).unwrap_or(0);
        let (count, stride) = (u64::from(count), u64::from(stride));
        if count > 0 && stride < trace::SIZE {
            let least = trace::SIZE;
            let what = format!("trace records of {stride} bytes; at least {least} needed");
            return Err(FormatError::malformed(file, section.start + traces::STRIDE, what));
        }
        let (table, lost) = Table::clamped(start, count, stride, source.len());
        let mut fault = |kind, offset, what: String| {
            let place = Place::Byte { file: file.into(), offset };
            issues.report(Severity::Error, Stage::Read, kind, place, || what);
        };
        if lost > 0 {
            let what = format!("{lost} of {count} traces lie outside the file; they are omitted");
            fault("traces-outside", section.start, what);
        }
        limits
            .metadata("the table of traces", table.len * table.stride)
            .map_err(|cause| FormatError::Limit { file: file.into(), cause })?;
        let bytes = read_range(&*source, table.start.min(source.len()), table.len * table.stride)
            .map_err(fail)?;
        let records = Record::new(&bytes);
        let mut infos = Vec::new();
        // Traces of a valid file do not share bytes.
        let mut room = source.len();
        for i in 0..table.len {
            let at = i * table.stride;
            let profile = records.u32(at + trace::PROFILE).unwrap_or(0);
            let start = records.u64(at + trace::START).unwrap_or(0);
            let end = records.u64(at + trace::END).unwrap_or(0);
            let kept_end = end.min(source.len());
            let bytes = kept_end.saturating_sub(start);
            let size = SAMPLE_SIZE as u64;
            if start > end || kept_end < end || !bytes.is_multiple_of(size) {
                let what = format!(
                    "the samples of profile {profile} from {start} to {end} are not whole samples \
                     inside the file; {} are kept",
                    bytes / size
                );
                fault("samples-outside", table.at(i), what);
            }
            let mut num_samples = bytes / size;
            if num_samples * size > room {
                let what = format!(
                    "the samples of profile {profile} overlap those of others; they are omitted"
                );
                fault("samples-overlap", table.at(i), what);
                num_samples = 0;
            }
            room -= num_samples * size;
            infos.push(TraceInfo { profile, num_samples, start });
        }
        Ok(Self { source, infos, min_nanos, max_nanos })
    }

    /// All traces in file order, untraced threads included.
    #[must_use]
    pub fn infos(&self) -> &[TraceInfo] {
        &self.infos
    }

    /// The raw samples of a trace, twelve bytes each, in order of time.
    ///
    /// # Errors
    /// When the source fails.
    pub fn samples(&self, info: &TraceInfo) -> Result<Cow<'_, [u8]>, FormatError> {
        if info.num_samples == 0 {
            return Ok(Cow::Borrowed(&[]));
        }
        read_range(&*self.source, info.start, info.num_samples * SAMPLE_SIZE as u64)
            .map_err(|e| FormatError::read(FileKind::Trace.file_name(), e))
    }

    /// Raw samples as times and contexts.
    pub fn decode(raw: &[u8]) -> impl DoubleEndedIterator<Item = Sample> + ExactSizeIterator + '_ {
        raw.as_chunks::<SAMPLE_SIZE>().0.iter().map(
            |&[t0, t1, t2, t3, t4, t5, t6, t7, c0, c1, c2, c3]| Sample {
                nanos: u64::from_le_bytes([t0, t1, t2, t3, t4, t5, t6, t7]),
                context: u32::from_le_bytes([c0, c1, c2, c3]),
            },
        )
    }

    /// The part of raw samples that decides what was active in `start_nanos..end_nanos`: from the
    /// last sample at or before the start to the last one before the end.
    #[must_use]
    pub fn narrow(raw: &[u8], start_nanos: u64, end_nanos: u64) -> &[u8] {
        let samples = raw.as_chunks::<SAMPLE_SIZE>().0;
        let time = |&[t0, t1, t2, t3, t4, t5, t6, t7, ..]: &[u8; SAMPLE_SIZE]| {
            u64::from_le_bytes([t0, t1, t2, t3, t4, t5, t6, t7])
        };
        let start = samples.partition_point(|s| time(s) <= start_nanos).saturating_sub(1);
        let end = samples.partition_point(|s| time(s) < end_nanos);
        raw.get(start * SAMPLE_SIZE..end * SAMPLE_SIZE).unwrap_or_default()
    }
}
