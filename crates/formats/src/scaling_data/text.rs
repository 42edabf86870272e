//! What readers of small text files share.

use parallax_base::LimitExceeded;

use super::ReadOptions;
use crate::FormatError;
use crate::stream::{ByteStream, read_all};

/// Most bytes of a file that is kept as text while it is read.
const MOST_TEXT: u64 = 1 << 30;

/// All of a file that is small by nature.
pub(crate) fn whole(
    stream: &mut dyn ByteStream,
    options: &ReadOptions<'_>,
) -> Result<Vec<u8>, FormatError> {
    let limit = options.limits.metadata_bytes.min(MOST_TEXT);
    let bytes = read_all(stream, limit).map_err(|cause| FormatError::read(options.file, cause))?;
    bytes.ok_or_else(|| {
        let what = "the text of the file, unpacked where it is compressed,";
        let cause = LimitExceeded { what, wanted: limit.saturating_add(1), limit };
        FormatError::Limit { file: options.file.to_owned(), cause }
    })
}

/// A finite number of a text.
pub(crate) fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|x: &f64| x.is_finite())
}
