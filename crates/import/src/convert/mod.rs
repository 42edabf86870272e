//! Traces of other formats into archives: one adapter a format, all feeding a [`Conversion`].

mod align;
mod arguments;
mod chrome;
mod chrome_arguments;
mod chrome_flows;
mod codar;
pub(crate) mod executions;
mod gathered;
mod lanes;
mod nsight;
mod otf2;
mod progress;
pub(crate) mod tau;
mod tracks;
mod workflow;

use std::collections::HashSet;
use std::sync::Arc;

use parallax_base::{Control, Folder, FolderEntry, FolderSink, Issues, Limits, ReadError, Source};
use parallax_formats::FormatError;
use parallax_formats::archive::keys;
use parallax_formats::json_trace::JsonTraceFormat;

pub use align::Alignment;
pub use workflow::{WorkflowInput, convert_workflow};

use crate::events::{Conversion, ConversionError};
use crate::registry::{self, Probe, Reader};

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

/// How one format of traces is converted: part of its row in the table of formats.
pub struct TraceReader {
    /// Display name of the format.
    pub(crate) name: &'static str,
    /// Whether the file that stands for the trace is an index of others, which have the events.
    pub(crate) is_anchor: bool,
    /// Whether the only file is read once from front to back.
    pub(crate) is_stream: bool,
    /// The files of the trace at a path among those of a folder, the one that stands for it first.
    pub(crate) files: fn(&[FolderEntry], &str) -> Vec<String>,
    /// Feeds all events of the trace at a path.
    pub(crate) convert: ConvertFn,
}

type ConvertFn =
    fn(&Arc<dyn Folder>, &str, &Limits, &mut Conversion, &Control) -> Result<(), ConversionError>;

/// A trace that can be converted.
#[derive(Clone)]
pub struct TraceInput {
    reader: &'static TraceReader,
    folder: Arc<dyn Folder>,
    path: String,
}

impl TraceInput {
    /// The trace at `path` in `folder`, of the format of `reader`.
    pub(crate) fn new(reader: &'static TraceReader, folder: &Arc<dyn Folder>, path: &str) -> Self {
        Self { reader, folder: Arc::clone(folder), path: path.to_owned() }
    }

    /// Display name of its format.
    #[must_use]
    pub fn format(&self) -> &'static str {
        self.reader.name
    }

    /// Whether the file that was named is an index: its size says nothing about the trace.
    #[must_use]
    pub fn is_anchor(&self) -> bool {
        self.reader.is_anchor
    }

    /// Whether it is one file that is read once from front to back.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        self.reader.is_stream
    }

    /// The same trace, read through another view of its folder.
    #[must_use]
    pub fn within(self, folder: Arc<dyn Folder>) -> Self {
        Self { folder, ..self }
    }

    /// The path of its file in its folder.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The folder that its paths are relative to.
    #[must_use]
    pub fn folder(&self) -> &Arc<dyn Folder> {
        &self.folder
    }

    /// Length of all its files, in bytes.
    ///
    /// # Errors
    /// When the storage fails.
    pub fn size_bytes(&self) -> Result<u64, ReadError> {
        if self.reader.is_stream {
            return Ok(self.folder.open(&self.path)?.map_or(0, |source| source.len()));
        }
        let listing = self.folder.walk()?;
        let own: HashSet<String> = (self.reader.files)(&listing, &self.path).into_iter().collect();
        Ok(listing.iter().filter(|entry| own.contains(&entry.path)).map(|entry| entry.len).sum())
    }

    /// The paths of all files that the archive is made of, in order; for rows of Chimbuko also those
    /// beside them that may have the names.
    ///
    /// # Errors
    /// When the folder cannot be listed.
    pub fn files(&self) -> Result<Vec<String>, ReadError> {
        let mut files = self.files_among(&self.folder.walk()?);
        files.sort_unstable();
        Ok(files)
    }

    /// Its files among those of `listing`, the one that stands for the trace first.
    pub(crate) fn files_among(&self, listing: &[FolderEntry]) -> Vec<String> {
        (self.reader.files)(listing, &self.path)
    }
}

/// OTF2: an anchor, the definitions, and a folder with two files for each location.
pub(crate) static OTF2: TraceReader = TraceReader {
    name: "OTF2",
    is_anchor: true,
    is_stream: false,
    files: |listing, path| {
        let base = path.strip_suffix(".otf2").unwrap_or(path);
        // The definitions, and the folder of locations.
        let is_own = |rest: &str| rest == ".def" || rest.starts_with('/');
        let own = listing.iter().map(|entry| &entry.path);
        let own = own.filter(|path| path.strip_prefix(base).is_some_and(is_own)).cloned();
        std::iter::once(path.to_owned()).chain(own).collect()
    },
    convert: otf2::convert,
};

/// TAU's own records, each file with one of definitions.
pub(crate) static TAU: TraceReader = TraceReader {
    name: "TAU trace",
    is_anchor: false,
    is_stream: false,
    files: |listing, path| {
        let parts = tau::files(listing, path).into_iter();
        let mut all: Vec<String> = Vec::new();
        for file in parts.flat_map(|part| [part.records, part.definitions]) {
            // One file of definitions may be of several threads.
            if !all.contains(&file) {
                all.push(file);
            }
        }
        all
    },
    convert: tau::convert,
};

/// Chrome's trace events, Kineto's included.
pub(crate) static CHROME: TraceReader = TraceReader {
    convert: |folder, path, limits, conversion, control| {
        chrome::convert(&required(folder, path)?, path, limits, conversion, control)
    },
    ..stream(JsonTraceFormat::Chrome)
};

/// CODAR's event JSON.
pub(crate) static CODAR: TraceReader = TraceReader {
    convert: |folder, path, _, conversion, control| {
        codar::convert(&required(folder, path)?, path, conversion, control)
    },
    ..stream(JsonTraceFormat::Codar)
};

/// Chimbuko's rows, with names in files beside them.
pub(crate) static CHIMBUKO: TraceReader = TraceReader {
    files: |listing, path| {
        let beside = codar::beside(listing, path).map(|entry| entry.path.clone());
        std::iter::once(path.to_owned()).chain(beside).collect()
    },
    convert: |folder, path, _, conversion, control| {
        codar::convert_rows(&required(folder, path)?, &**folder, path, conversion, control)
    },
    ..stream(JsonTraceFormat::Chimbuko)
};

/// SQLite exports of Nsight Systems.
pub(crate) static NSIGHT: TraceReader = TraceReader {
    name: "Nsight Systems",
    is_anchor: false,
    is_stream: false,
    files: |_, path| vec![path.to_owned()],
    convert: |folder, path, limits, conversion, control| {
        nsight::convert(&required(folder, path)?, path, limits, conversion, control)
    },
};

/// A trace in one file; what the converter is comes from the row.
const fn stream(format: JsonTraceFormat) -> TraceReader {
    TraceReader {
        name: format.name(),
        is_anchor: false,
        is_stream: true,
        files: |_, path| vec![path.to_owned()],
        convert: |_, _, _, _, _| Ok(()),
    }
}

fn required(folder: &Arc<dyn Folder>, path: &str) -> Result<Source, FormatError> {
    let found = folder.open(path).map_err(|cause| FormatError::read(path, cause))?;
    found.ok_or_else(|| FormatError::malformed(path, 0, "there is no such file"))
}

/// Finds out whether the file at `path` in `folder` is a trace that can be converted.
///
/// # Errors
/// When the file cannot be read.
pub fn recognise(folder: &Arc<dyn Folder>, path: &str) -> Result<Option<TraceInput>, ReadError> {
    let Some(probe) = Probe::of(folder, path)? else { return Ok(None) };
    let found = registry::FORMATS.iter().find_map(|format| match format.reader {
        Reader::Trace(reader) => (format.recognise)(&probe).map(|_| reader),
        _ => None,
    });
    Ok(found.map(|reader| TraceInput::new(reader, folder, path)))
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
    let mut conversion = Conversion::within(sink, options.memory_bytes, &options.limits)?;
    conversion.fact(keys::TITLE, title);
    read(input, &mut conversion, &options.limits, control)?;
    conversion.finish()
}

/// Feeds all events of a trace.
fn read(
    input: &TraceInput,
    conversion: &mut Conversion,
    limits: &Limits,
    control: &Control,
) -> Result<(), ConversionError> {
    (input.reader.convert)(&input.folder, &input.path, limits, conversion, control)
}
