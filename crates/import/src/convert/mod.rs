//! Traces of other formats into archives: one adapter a format, all feeding a [`Conversion`].

mod otf2;

use std::sync::Arc;

use parallax_base::{Control, Folder, FolderSink, Issues, Limits, ReadError, Source, read_range};
use parallax_formats::archive::keys;

use crate::events::{Conversion, ConversionError};

/// How a trace is converted.
#[derive(Debug, Clone, Copy)]
pub struct ConvertOptions {
    /// Bounds on what readers keep.
    pub limits: Limits,
    /// About how many bytes of events may wait in memory for their batch to be complete.
    pub memory_bytes: usize,
}

impl Default for ConvertOptions {
    fn default() -> Self {
        Self { limits: Limits::default(), memory_bytes: 256 << 20 }
    }
}

/// A trace that can be converted.
#[derive(Clone)]
pub enum TraceInput {
    /// OTF2: the folder, and the path of the anchor in it.
    Otf2(Arc<dyn Folder>, String),
}

impl TraceInput {
    /// What people call its format.
    #[must_use]
    pub const fn format(&self) -> &'static str {
        match self {
            Self::Otf2(..) => "OTF2",
        }
    }
}

/// Bytes that recognising a trace may look at.
const SNIFF_BYTES: u64 = 64 << 10;

/// Finds out whether the file at `path` in `folder` is a trace that can be converted.
///
/// # Errors
/// When the file cannot be read.
pub fn recognise(folder: &Arc<dyn Folder>, path: &str) -> Result<Option<TraceInput>, ReadError> {
    let Some(source) = folder.open(path)? else { return Ok(None) };
    let prefix = prefix(&source)?;
    if parallax_formats::otf2::sniff(&prefix) {
        return Ok(Some(TraceInput::Otf2(Arc::clone(folder), path.to_owned())));
    }
    Ok(None)
}

fn prefix(source: &Source) -> Result<Vec<u8>, ReadError> {
    let len = source.len().min(SNIFF_BYTES);
    Ok(read_range(&**source, 0, len)?.into_owned())
}

/// Converts a trace into an archive in `sink`; returns what was repaired on the way.
///
/// # Errors
/// When the trace cannot be read at all, the archive cannot be written, or the conversion is
/// withdrawn.
pub fn convert(
    input: &TraceInput,
    title: &str,
    sink: Arc<dyn FolderSink>,
    options: &ConvertOptions,
    control: &Control,
) -> Result<Issues, ConversionError> {
    let mut conversion = Conversion::new(sink, options.memory_bytes)?;
    conversion.fact(keys::TITLE, title);
    match input {
        TraceInput::Otf2(folder, path) => {
            otf2::convert(folder, path, &options.limits, &mut conversion, control)?;
        }
    }
    conversion.finish()
}
