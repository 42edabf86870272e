//! `.extra-p`: a ZIP archive with `experiment.json`.

use super::{json, zip};
use crate::FormatError;
use crate::compressed;
use crate::scaling_data::{Measurements, ReadOptions, Report, ScalingFormat};
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
    let member = zip::member(&archive, "experiment.json")
        .map_err(|fault| FormatError::malformed(options.file, fault.offset, fault.what))?;
    // Unpacked as it is read: what it unpacks to may be a thousand times as large.
    let format = ScalingFormat::ExtrapExperiment;
    match member {
        zip::Member::Stored(text) => {
            json::read_as(&mut SliceStream::new(text), format, options, report)
        }
        zip::Member::Deflated(packed) => {
            json::read_as(&mut compressed::deflated(packed), format, options, report)
        }
    }
}
