//! The anchor file: what a trace says about itself.

use parallax_base::{ByteSource, Issues, Place, Severity, Stage, read_range};

use super::chunks::{CHUNK_HEADER, CHUNK_SIZES, END_OF_FILE};
use super::fields::{ByteOrder, Fields};
use super::local::Mappings;
use crate::FormatError;

/// What the anchor has after its two first bytes.
const MAGIC: &[u8; 5] = b"OTF2\0";
/// The newest layout of traces that is known.
const TRACE_FORMAT: u8 = 2;
/// Anchors are a page at most; longer ones are not examined to their end.
const MOST_BYTES: u64 = 1 << 20;
/// What libotf2 uses for chunks of events when it is not told.
const USUAL_CHUNK: u64 = 1 << 20;

/// Whether `prefix` (7 bytes are enough) starts an OTF2 anchor file.
#[must_use]
pub fn sniff(prefix: &[u8]) -> bool {
    match prefix {
        [CHUNK_HEADER, mark, rest @ ..] => {
            ByteOrder::of_mark(*mark).is_some() && rest.starts_with(MAGIC)
        }
        _ => false,
    }
}

/// The anchor file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// The order of bytes that the anchor was written in.
    pub byte_order: ByteOrder,
    /// The layout of the trace.
    pub trace_format: u8,
    /// The version of the library that wrote the trace.
    pub version: [u8; 3],
    /// Size of a chunk of event files, in bytes.
    pub event_chunk_size: u64,
    /// Size of a chunk of definition files, in bytes.
    pub definition_chunk_size: u64,
    /// How many locations the writer counted.
    pub location_count: u64,
    /// How many global definitions the writer counted.
    pub definition_count: u64,
    /// The machine that the trace was recorded on.
    pub machine: Box<str>,
    /// The tool that recorded it.
    pub creator: Box<str>,
    /// What the trace is, in words.
    pub description: Box<str>,
    /// Names and values of properties.
    pub properties: Vec<(Box<str>, Box<str>)>,
    /// A random number that names the trace.
    pub trace_id: u64,
    /// How many snapshots it has; they are not read.
    pub snapshot_count: u32,
    /// How many thumbnails it has; they are not read.
    pub thumbnail_count: u32,
}

impl Anchor {
    /// Reads the anchor from `source`, which messages call `file`.
    ///
    /// # Errors
    /// When the bytes are not an anchor, it ends early, or the trace is of a kind that is not read.
    pub fn read(
        source: &dyn ByteSource,
        file: &str,
        issues: &mut Issues,
    ) -> Result<Self, FormatError> {
        let len = source.len().min(MOST_BYTES);
        let bytes = read_range(source, 0, len).map_err(|error| FormatError::read(file, error))?;
        if !sniff(&bytes) {
            let found = bytes.get(..bytes.len().min(16)).unwrap_or_default();
            return Err(FormatError::NotThisFormat {
                file: file.into(),
                expected: "an OTF2 anchor file",
                found: if found.is_empty() {
                    "nothing (the file is empty)".into()
                } else {
                    format!("\"{}\"", found.escape_ascii())
                },
            });
        }
        let mark = bytes.get(1).copied().unwrap_or_default();
        let order = ByteOrder::of_mark(mark).unwrap_or(ByteOrder::Little);
        let (_, rest) = bytes.split_at_checked(2 + MAGIC.len()).unwrap_or_default();
        let maps = Mappings::default();
        let mut fields = Fields::new(rest, order, &maps);
        let parsed = Self::fields(&mut fields, order, file)?;
        let at = len - fields.rest().len() as u64;
        let Some(mut anchor) = parsed else {
            return Err(FormatError::malformed(file, at, "the anchor file ends inside its fields"));
        };
        let place = |offset| Place::Byte { file: file.into(), offset };
        if fields.u8() != Some(END_OF_FILE) {
            issues.report(Severity::Warning, Stage::Read, "anchor-end", place(at), || {
                "the anchor file has no end mark after its fields; they are used as they are".into()
            });
        }
        if anchor.trace_format > TRACE_FORMAT {
            issues.report(Severity::Warning, Stage::Read, "newer-format", place(8), || {
                format!(
                    "the trace is of format {}, newer than {TRACE_FORMAT}; what is known is read",
                    anchor.trace_format
                )
            });
        }
        for size in [&mut anchor.event_chunk_size, &mut anchor.definition_chunk_size] {
            if !CHUNK_SIZES.contains(size) {
                let found = std::mem::replace(size, USUAL_CHUNK);
                issues.report(Severity::Warning, Stage::Read, "chunk-size", place(12), || {
                    format!(
                        "chunks of {found} bytes are outside what OTF2 allows (256 KiB to 16 MiB); \
                         chunks of 1 MiB are assumed"
                    )
                });
            }
        }
        Ok(anchor)
    }

    /// The fields after the magic; `None` when they end early.
    fn fields(
        f: &mut Fields<'_>,
        byte_order: ByteOrder,
        file: &str,
    ) -> Result<Option<Self>, FormatError> {
        let unsupported =
            |what: String, hint| Err(FormatError::Unsupported { file: file.into(), what, hint });
        let Some([anchor_format, trace_format, major, minor, bugfix]) = f.array() else {
            return Ok(None);
        };
        let (Some(event_chunk_size), Some(definition_chunk_size), Some([substrate, compression])) =
            (f.u64(), f.u64(), f.array())
        else {
            return Ok(None);
        };
        match substrate {
            1 => {}
            2 => {
                return unsupported(
                    "an OTF2 trace in a SION container".into(),
                    "record it again into plain files (Score-P: SCOREP_TRACING_USE_SION=false)",
                );
            }
            other => {
                return unsupported(
                    format!("an OTF2 trace in containers of unknown kind {other}"),
                    "this program reads traces in plain files",
                );
            }
        }
        if compression == 2 {
            return unsupported(
                "an OTF2 trace whose chunks are compressed with zlib".into(),
                "record it again without compression",
            );
        }
        Ok(Self::counted(f, anchor_format).map(|rest| Self {
            byte_order,
            trace_format,
            version: [major, minor, bugfix],
            event_chunk_size,
            definition_chunk_size,
            ..rest
        }))
    }

    /// The fields from the counts on.
    fn counted(f: &mut Fields<'_>, anchor_format: u8) -> Option<Self> {
        Some(Self {
            byte_order: ByteOrder::Little,
            trace_format: 0,
            version: [0; 3],
            event_chunk_size: 0,
            definition_chunk_size: 0,
            location_count: f.u64()?,
            definition_count: f.u64()?,
            machine: f.string()?,
            creator: f.string()?,
            description: f.string()?,
            properties: if anchor_format > 1 {
                let count = f.u32()?;
                f.list(u64::from(count))?
            } else {
                Vec::new()
            },
            trace_id: f.u64()?,
            snapshot_count: if anchor_format > 2 { f.u32()? } else { 0 },
            thumbnail_count: if anchor_format > 2 { f.u32()? } else { 0 },
        })
    }
}

impl super::fields::Field for (Box<str>, Box<str>) {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        Some((fields.get()?, fields.get()?))
    }
}
