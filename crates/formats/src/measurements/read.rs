//! Any scaling file, whatever its format and compression.

use parallax_base::{ByteSource, Issues};

use super::sniff::PREFIX;
use super::{Measurements, ReadOptions, Report, ScalingFormat, sniff};
use crate::stream::{ByteStream, Prefixed};
use crate::{FormatError, compressed, extrap, pascal, scaling_peers};

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

/// Reads a file of any [`ScalingFormat`], plain or compressed with gzip or zstd.
///
/// # Errors
/// When the file is of none of the formats, or so damaged that nothing remains. Everything else
/// that is wrong goes to `issues`.
pub fn read(
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
        ScalingFormat::SperfJson => scaling_peers::read_sperf_json(stream, options, report),
        ScalingFormat::SperfXml => scaling_peers::read_sperf_xml(stream, options, report),
        ScalingFormat::SperfCsv => scaling_peers::read_sperf_csv(stream, options, report),
        ScalingFormat::SperfText => scaling_peers::read_sperf_text(stream, options, report),
        ScalingFormat::TalpJson => scaling_peers::read_talp(stream, options, report),
        ScalingFormat::PopCsv => scaling_peers::read_pop(stream, options, report),
        ScalingFormat::PlainCsv => scaling_peers::read_table(stream, options, report),
    }
}
