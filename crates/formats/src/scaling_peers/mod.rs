//! Scaling data of other tools: SPERF (JSON, XML, CSV, text), TALP JSON of DLB, POP metrics as
//! CSV, and tables with named columns.

mod csv;
mod pop;
mod sperf;
mod sperf_text;
mod sperf_xml;
mod table;
mod talp;

pub(crate) use csv::split_header;
pub(crate) use pop::read as read_pop;
pub(crate) use sperf::{read_csv as read_sperf_csv, read_json as read_sperf_json};
pub(crate) use sperf_text::read as read_sperf_text;
pub(crate) use sperf_xml::read as read_sperf_xml;
pub(crate) use table::{read as read_table, tells_scaling};
pub(crate) use talp::read as read_talp;

use parallax_base::LimitExceeded;

use crate::FormatError;
use crate::scaling_data::ReadOptions;
use crate::stream::{ByteStream, read_all};

/// All of a file that is small by nature.
fn whole(stream: &mut dyn ByteStream, options: &ReadOptions<'_>) -> Result<Vec<u8>, FormatError> {
    let limit = options.limits.metadata_bytes.min(MOST_TEXT);
    let bytes = read_all(stream, limit).map_err(|cause| FormatError::read(options.file, cause))?;
    bytes.ok_or_else(|| {
        let what = "the text of the file, unpacked where it is compressed,";
        let cause = LimitExceeded { what, wanted: limit.saturating_add(1), limit };
        FormatError::Limit { file: options.file.to_owned(), cause }
    })
}

/// Most bytes of a file that is kept as text while it is read.
const MOST_TEXT: u64 = 1 << 30;

/// A finite number of a text.
fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|x: &f64| x.is_finite())
}
