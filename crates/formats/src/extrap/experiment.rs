//! `.extra-p`: a ZIP archive with `experiment.json`.

use super::{json, zip};
use crate::FormatError;
use crate::measurements::{Measurements, ReadOptions, Report, ScalingFormat};
use crate::stream::{ByteStream, SliceStream, read_all};

/// Reads an experiment. Its models are passed over.
///
/// # Errors
/// When the archive is damaged or has no `experiment.json`.
pub(crate) fn read(
    stream: &mut dyn ByteStream,
    options: &ReadOptions<'_>,
    report: &mut Report<'_>,
) -> Result<Measurements, FormatError> {
    let archive = read_all(stream, options.limits.metadata_bytes)
        .map_err(|cause| FormatError::read(options.file, cause))?;
    let malformed = |what: &str| FormatError::malformed(options.file, 0, what);
    let archive = archive.ok_or_else(|| malformed("the archive is too large"))?;
    let text = zip::member(&archive, "experiment.json", options.limits.metadata_bytes)
        .map_err(|fault| FormatError::malformed(options.file, fault.offset, fault.what))?;
    json::read_as(&mut SliceStream::new(&text), ScalingFormat::ExtrapExperiment, options, report)
}
