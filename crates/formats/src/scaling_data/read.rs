//! Any scaling file, whatever its format and compression.

use std::ops::Range;

use parallax_base::{ByteSource, Issues, threads};

use super::sniff::PREFIX;
use super::{Measurements, ReadOptions, Report, ScalingFormat, sniff};
use crate::stream::{ByteStream, Prefixed};
use crate::{FormatError, compressed, csv_table, extrap, pascal, pop, sperf, talp};

/// The format of a file, compressed or not; `None` when it holds no scaling measurements.
///
/// # Errors
/// When its first bytes cannot be read or decompressed.
pub fn sniff_source(
    source: &dyn ByteSource,
    name: &str,
) -> Result<Option<ScalingFormat>, FormatError> {
    let stream = compressed::open(source).map_err(|cause| FormatError::read(name, cause))?;
    let peeked = Prefixed::peek(stream, PREFIX).map_err(|cause| FormatError::read(name, cause))?;
    Ok(sniff(peeked.prefix(), name))
}

/// Files of fewer bytes are not worth reading in parts.
pub const SPLIT_FROM: u64 = 8 << 20;

/// Cuts a large file into up to `parts` ranges of bytes that [`read_part`] can read at the same
/// time, in order and without gaps. `None` for files of fewer than `least` bytes
/// ([`SPLIT_FROM`] is a good choice), for compressed ones, and for formats other than
/// [`ScalingFormat::PascalAnalyzer`].
#[must_use]
pub fn split(
    source: &dyn ByteSource,
    name: &str,
    parts: usize,
    least: u64,
) -> Option<Vec<Range<u64>>> {
    if source.len() < least || parts < 2 {
        return None;
    }
    let mut prefix = vec![0; usize::try_from(source.len()).unwrap_or(PREFIX).min(PREFIX)];
    source.read_at(0, &mut prefix).ok()?;
    let format = sniff(&prefix, name)?;
    (format == ScalingFormat::PascalAnalyzer).then(|| pascal::split(source, parts))?
}

/// Where the last part ends that is whole in `range`, for those who have the bytes of a file only
/// one piece after the other: what is from there on belongs to the next part. `None` when no part
/// ends in `range`.
#[must_use]
pub fn part_end(source: &dyn ByteSource, range: Range<u64>) -> Option<u64> {
    pascal::part_end(source, range)
}

/// Reads one range of [`split`], or between two ends of [`part_end`], into bytes for [`assemble_parts`], in this process or another one.
/// Empty where the range turns out not to be a part of its own.
#[must_use]
pub fn read_part(source: &dyn ByteSource, range: Range<u64>, options: &ReadOptions<'_>) -> Vec<u8> {
    pascal::read_part(source, range, options).map(|part| part.to_bytes()).unwrap_or_default()
}

/// Joins what [`read_part`] gave for all ranges of [`split`], in their order: equal to what
/// [`read`] gives, issues included. Where the parts do not fit together, or some are empty or
/// damaged, the file is read from front to back.
///
/// # Errors
/// As [`read`].
pub fn assemble_parts(
    source: &dyn ByteSource,
    parts: &[Vec<u8>],
    options: &ReadOptions<'_>,
    issues: &mut Issues,
) -> Result<Measurements, FormatError> {
    let parts = parts.iter().map(|bytes| pascal::PartRead::from_bytes(bytes, options.file));
    let whole = parts
        .collect::<Option<Vec<_>>>()
        .and_then(|parts| pascal::assemble(source, parts, options, issues));
    match whole {
        Some(read) => Ok(read),
        None => read_in_order(source, options, issues),
    }
}

/// Reads a file of any [`ScalingFormat`], plain or compressed with gzip or zstd. Large PaScal files
/// are read in parts where there are threads for it.
///
/// # Errors
/// When the file is of none of the formats, or so damaged that nothing remains. Everything else
/// that is wrong goes to `issues`.
pub fn read(
    source: &dyn ByteSource,
    options: &ReadOptions<'_>,
    issues: &mut Issues,
) -> Result<Measurements, FormatError> {
    let pieces = match threads::count() {
        1 => None,
        // More parts than threads: they are not equally quick.
        count => split(source, options.file, count * 4, SPLIT_FROM),
    };
    let parts = pieces.and_then(|ranges| {
        let parts = threads::map(ranges, |range| pascal::read_part(source, range, options));
        parts.into_iter().collect::<Option<Vec<_>>>()
    });
    match parts.and_then(|parts| pascal::assemble(source, parts, options, issues)) {
        Some(read) => Ok(read),
        None => read_in_order(source, options, issues),
    }
}

fn read_in_order(
    source: &dyn ByteSource,
    options: &ReadOptions<'_>,
    issues: &mut Issues,
) -> Result<Measurements, FormatError> {
    let stream =
        compressed::open(source).map_err(|cause| FormatError::read(options.file, cause))?;
    read_stream(stream, options, issues)
}

/// As [`read`], from decompressed bytes in order.
///
/// # Errors
/// As [`read`].
pub fn read_stream(
    stream: impl ByteStream,
    options: &ReadOptions<'_>,
    issues: &mut Issues,
) -> Result<Measurements, FormatError> {
    let file = options.file;
    let mut stream =
        Prefixed::peek(stream, PREFIX).map_err(|cause| FormatError::read(file, cause))?;
    let Some(format) = sniff(stream.prefix(), file) else {
        let found: String = String::from_utf8_lossy(stream.prefix()).chars().take(40).collect();
        return Err(FormatError::NotThisFormat {
            file: file.to_owned(),
            expected: "a file with scaling measurements",
            found: format!("{found:?}"),
        });
    };
    read_format(&mut stream, format, options, issues)
}

fn read_format(
    stream: &mut dyn ByteStream,
    format: ScalingFormat,
    options: &ReadOptions<'_>,
    issues: &mut Issues,
) -> Result<Measurements, FormatError> {
    let mut report = Report { file: options.file, issues };
    let report = &mut report;
    match format {
        ScalingFormat::PascalAnalyzer => pascal::read(stream, options, report),
        ScalingFormat::PascalViewer2018 => pascal::read_viewer_2018(stream, options, report),
        ScalingFormat::ExtrapText => extrap::read_text(stream, options, report),
        ScalingFormat::ExtrapJson => extrap::read_json(stream, options, report),
        ScalingFormat::ExtrapJsonLines | ScalingFormat::ExtrapTalpas => {
            extrap::read_lines(stream, format, options, report)
        }
        ScalingFormat::ExtrapExperiment => extrap::read_experiment(stream, options, report),
        ScalingFormat::SperfJson => sperf::read_json(stream, options, report),
        ScalingFormat::SperfXml => sperf::read_xml(stream, options, report),
        ScalingFormat::SperfCsv => sperf::read_csv(stream, options, report),
        ScalingFormat::SperfText => sperf::read_text(stream, options, report),
        ScalingFormat::TalpJson => talp::read(stream, options, report),
        ScalingFormat::PopCsv => pop::read(stream, options, report),
        ScalingFormat::PlainCsv => csv_table::read(stream, options, report),
    }
}
