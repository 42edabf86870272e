//! The first 100 bytes.

use parallax_base::{ByteSource, read_range};

use super::{HEADER_LEN, MAGIC};
use crate::FormatError;

/// How text is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-16, the lower byte first.
    Utf16Le,
    /// UTF-16, the higher byte first.
    Utf16Be,
}

impl Encoding {
    /// Text as a string; what is not valid becomes the replacement character.
    #[must_use]
    pub fn decode(self, bytes: &[u8]) -> String {
        let wide = |read: fn([u8; 2]) -> u16| {
            let units = bytes.chunks_exact(2).filter_map(|pair| pair.try_into().ok()).map(read);
            char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
        };
        match self {
            Self::Utf8 => String::from_utf8_lossy(bytes).into_owned(),
            Self::Utf16Le => wide(u16::from_le_bytes),
            Self::Utf16Be => wide(u16::from_be_bytes),
        }
    }
}

/// What a reader needs of the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Bytes of a page: a power of two from 512 to 65,536.
    pub page_size: u32,
    /// Bytes of a page that are used: its size without what is reserved at its end.
    pub usable_size: u32,
    /// Number of pages.
    pub page_count: u32,
    /// How text is stored.
    pub encoding: Encoding,
    /// Whether the last writer used a write-ahead log.
    pub is_write_ahead: bool,
}

impl Header {
    pub(super) fn read(source: &dyn ByteSource, file: &str) -> Result<Self, FormatError> {
        let start = read_range(source, 0, source.len().min(HEADER_LEN))
            .map_err(|cause| FormatError::read(file, cause))?;
        if !start.starts_with(MAGIC) {
            let shown = start.get(..start.len().min(16)).unwrap_or_default();
            return Err(FormatError::NotThisFormat {
                file: file.to_owned(),
                expected: "a database of SQLite",
                found: shown.escape_ascii().to_string(),
            });
        }
        let end = FormatError::malformed(file, start.len() as u64, "the file ends in its header");
        if (start.len() as u64) < HEADER_LEN {
            return Err(end);
        }
        let byte = |at: usize| start.get(at).copied().unwrap_or(0);
        let half = |at: usize| u16::from_be_bytes([byte(at), byte(at + 1)]);
        let word = |at: usize| u32::from(half(at)) << 16 | u32::from(half(at + 2));
        let page_size = match half(16) {
            // 65,536 does not fit.
            1 => 65_536,
            size => u32::from(size),
        };
        let reserved = u32::from(byte(20));
        let usable_size = page_size.saturating_sub(reserved);
        // The format's own bound: smaller pages could not hold four cells of an index.
        if !page_size.is_power_of_two() || page_size < 512 || usable_size < 480 {
            let what = format!("pages of {page_size} bytes, {reserved} of them reserved");
            return Err(FormatError::malformed(file, 16, what));
        }
        let (read_version, schema_format) = (byte(19), word(44));
        if read_version > 2 || schema_format > 4 {
            return Err(FormatError::Unsupported {
                file: file.to_owned(),
                what: format!(
                    "a database of SQLite with read version {read_version} and schema format \
                     {schema_format}"
                ),
                hint: "copy it with VACUUM INTO to a new file",
            });
        }
        let encoding = match word(56) {
            2 => Encoding::Utf16Le,
            3 => Encoding::Utf16Be,
            // A database without tables has none yet.
            _ => Encoding::Utf8,
        };
        // Versions before 3.7.0 leave the size in the header stale; then the two counters differ.
        let pages_of_file = source.len().div_ceil(u64::from(page_size));
        let pages_of_file = u32::try_from(pages_of_file).unwrap_or(u32::MAX);
        let page_count = match word(28) {
            0 => pages_of_file,
            stated if word(24) == word(92) => stated,
            _ => pages_of_file,
        };
        Ok(Self { page_size, usable_size, page_count, encoding, is_write_ahead: read_version == 2 })
    }
}
