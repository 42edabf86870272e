//! One member of a ZIP archive: enough for `.extra-p` files.
//!
//! Reads through the central directory; stored and deflated members; no encryption, no ZIP64.

use std::io::Read as _;

/// Why a member cannot be had.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ZipFault {
    /// Byte of the archive.
    pub(super) offset: u64,
    /// What is wrong.
    pub(super) what: String,
}

fn fault(offset: usize, what: impl Into<String>) -> ZipFault {
    ZipFault { offset: offset as u64, what: what.into() }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<usize> {
    let field = bytes.get(at..at.checked_add(2)?)?.try_into().ok()?;
    Some(usize::from(u16::from_le_bytes(field)))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    let field = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
    usize::try_from(u32::from_le_bytes(field)).ok()
}

/// The content of the member called `name`, which may unpack to at most `limit` bytes.
pub(super) fn member(archive: &[u8], name: &str, limit: u64) -> Result<Vec<u8>, ZipFault> {
    // The end record stands within the last 64 KiB + 22 bytes, after a comment of any length.
    let from = archive.len().saturating_sub((1 << 16) + 22);
    let tail = archive.get(from..).unwrap_or_default();
    let end = tail.windows(4).rposition(|w| w == b"PK\x05\x06").map(|at| from + at);
    let end =
        end.ok_or_else(|| fault(archive.len(), "the ZIP archive has no end record: it was cut"))?;
    let field = |at: usize, what: &str| u32_at(archive, at).ok_or_else(|| fault(at, what));
    let mut at = field(end + 16, "the end record is cut")?;
    while archive.get(at..).is_some_and(|rest| rest.starts_with(b"PK\x01\x02")) {
        let cut = || fault(at, "the central directory is cut");
        let length = |offset: usize| u16_at(archive, at + offset).ok_or_else(cut);
        let (name_len, extra, comment) = (length(28)?, length(30)?, length(32)?);
        let entry_name = archive.get(at + 46..at + 46 + name_len).ok_or_else(cut)?;
        if entry_name == name.as_bytes() {
            let (flags, method) = (length(8)?, length(10)?);
            let size = u32_at(archive, at + 20).ok_or_else(cut)?;
            let local = u32_at(archive, at + 42).ok_or_else(cut)?;
            if flags & 1 == 1 {
                return Err(fault(at, format!("{name} is encrypted")));
            }
            return unpack(archive, local, size, method, limit);
        }
        at += 46 + name_len + extra + comment;
    }
    Err(fault(end, format!("the archive has no {name}")))
}

fn unpack(
    archive: &[u8],
    local: usize,
    size: usize,
    method: usize,
    limit: u64,
) -> Result<Vec<u8>, ZipFault> {
    let cut = || fault(local, "a member reaches past the end of the archive");
    let name_len = local.checked_add(26).and_then(|at| u16_at(archive, at)).ok_or_else(cut)?;
    let extra = local.checked_add(28).and_then(|at| u16_at(archive, at)).ok_or_else(cut)?;
    let start = local.checked_add(30 + name_len + extra).ok_or_else(cut)?;
    let packed = start.checked_add(size).and_then(|end| archive.get(start..end)).ok_or_else(cut)?;
    match method {
        0 if packed.len() as u64 <= limit => Ok(packed.to_vec()),
        8 => {
            let mut content = Vec::new();
            let mut unpacked =
                flate2::read::DeflateDecoder::new(packed).take(limit.saturating_add(1));
            unpacked
                .read_to_end(&mut content)
                .map_err(|error| fault(start, format!("a member is damaged: {error}")))?;
            if content.len() as u64 > limit {
                return Err(fault(start, "a member is too large"));
            }
            Ok(content)
        }
        0 => Err(fault(start, "a member is too large")),
        other => Err(fault(local, format!("compression method {other} is not supported"))),
    }
}
