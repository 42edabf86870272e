//! Traces of other formats into archives: one adapter a format, all feeding a [`Conversion`].

mod align;
mod chrome;
mod codar;
mod lanes;
mod otf2;
mod progress;
mod tau;
mod tracks;
mod workflow;

use std::collections::HashSet;
use std::sync::Arc;

use parallax_base::{Control, Folder, FolderEntry, FolderSink, Issues, Limits, ReadError, Source};
use parallax_formats::archive::keys;
use parallax_formats::json_trace::{self, JsonTraceFormat};
use parallax_formats::{FormatError, compressed};

pub use align::Alignment;
pub use workflow::{WorkflowInput, convert_workflow};

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
    /// JSON: its kind, the folder, and the path of the file in it.
    Json(JsonTraceFormat, Arc<dyn Folder>, String),
    /// TAU's own records: the folder, and the path of a file of them in it.
    Tau(Arc<dyn Folder>, String),
}

impl TraceInput {
    /// What people call its format.
    #[must_use]
    pub fn format(&self) -> &'static str {
        match self {
            Self::Otf2(..) => "OTF2",
            Self::Json(format, ..) => format.name(),
            Self::Tau(..) => "TAU trace",
        }
    }
}

impl TraceInput {
    /// The file that stands for the trace where several do: that of the first thread.
    #[must_use]
    pub fn file(&self) -> String {
        match self {
            Self::Otf2(_, path) | Self::Json(_, _, path) => path.clone(),
            Self::Tau(folder, path) => {
                // A folder that cannot be listed is an error when the trace is read.
                let first =
                    tau::files(&**folder, path).ok().and_then(|parts| parts.into_iter().next());
                first.map_or_else(|| path.clone(), |part| part.records)
            }
        }
    }

    /// Length of all its files, in bytes.
    ///
    /// # Errors
    /// When the storage fails.
    pub fn size_bytes(&self) -> Result<u64, ReadError> {
        if let Self::Json(_, folder, path) = self {
            return Ok(folder.open(path)?.map_or(0, |source| source.len()));
        }
        Ok(self.entries()?.iter().map(|entry| entry.len).sum())
    }

    /// The paths of all files that the archive is made of, in order; for rows of Chimbuko also those
    /// beside them that may have the names.
    ///
    /// # Errors
    /// When the folder cannot be listed.
    pub fn files(&self) -> Result<Vec<String>, ReadError> {
        let mut files: Vec<String> = self.entries()?.into_iter().map(|entry| entry.path).collect();
        files.sort_unstable();
        Ok(files)
    }

    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError> {
        let (Self::Otf2(folder, path) | Self::Json(_, folder, path) | Self::Tau(folder, path)) =
            self;
        let mut entries = folder.walk()?;
        match self {
            Self::Otf2(..) => {
                let base = path.strip_suffix(".otf2").unwrap_or(path);
                // The definitions, and the folder of locations.
                let is_own = |rest: &str| matches!(rest, ".otf2" | ".def") || rest.starts_with('/');
                entries.retain(|e| e.path.strip_prefix(base).is_some_and(is_own));
            }
            Self::Tau(..) => {
                let parts = tau::files(&**folder, path)?.into_iter();
                let parts: HashSet<String> =
                    parts.flat_map(|part| [part.records, part.definitions]).collect();
                entries.retain(|e| parts.contains(&e.path));
            }
            Self::Json(JsonTraceFormat::Chimbuko, ..) => {
                let beside = codar::beside(&**folder, path)?.into_iter().map(|entry| entry.path);
                let beside: HashSet<String> = beside.collect();
                entries.retain(|e| e.path == *path || beside.contains(&e.path));
            }
            Self::Json(..) => entries.retain(|e| e.path == *path),
        }
        Ok(entries)
    }
}

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
    if tau::is_trace(&**folder, &source, path) {
        return Ok(Some(TraceInput::Tau(Arc::clone(folder), path.to_owned())));
    }
    let json = json_trace::sniff(&prefix);
    Ok(json.map(|format| TraceInput::Json(format, Arc::clone(folder), path.to_owned())))
}

/// The first bytes of a file, decompressed.
fn prefix(source: &Source) -> Result<Vec<u8>, ReadError> {
    let mut stream = compressed::open(&**source)?;
    let mut out = Vec::new();
    while out.len() < json_trace::SNIFF_BYTES {
        let mut buffer = vec![0; json_trace::SNIFF_BYTES - out.len()];
        let read = stream.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        out.extend(buffer.into_iter().take(read));
    }
    Ok(out)
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
    match input {
        TraceInput::Otf2(folder, path) => otf2::convert(folder, path, limits, conversion, control),
        TraceInput::Tau(folder, path) => tau::convert(&**folder, path, limits, conversion, control),
        TraceInput::Json(format, folder, path) => {
            let missing = || FormatError::malformed(path, 0, "there is no such file");
            let source = folder
                .open(path)
                .map_err(|cause| FormatError::read(path, cause))?
                .ok_or_else(missing)?;
            match format {
                JsonTraceFormat::Codar => codar::convert(&source, path, conversion, control),
                JsonTraceFormat::Chimbuko => {
                    codar::convert_rows(&source, &**folder, path, conversion, control)
                }
                _ => chrome::convert(&source, path, limits, conversion, control),
            }
        }
    }
}
