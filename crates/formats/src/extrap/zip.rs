//! One member of a ZIP archive: enough for `.extra-p` files.
//!
//! Reads through the central directory, with the fields of ZIP64 where sizes, offsets or the number
//! of members need them; stored and deflated members; no encryption, no archives in several parts.
//!
//! Source: PKWARE, "APPNOTE.TXT - .ZIP File Format Specification", sections 4.3.12 to 4.3.16 and
//! 4.5.3.

/// Why a member cannot be had.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ZipFault {
    /// Byte of the archive.
    pub(super) offset: u64,
    /// What is wrong.
    pub(super) what: String,
}

/// The bytes of a member as they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Member<'a> {
    /// As they are.
    Stored(&'a [u8]),
    /// Compressed with deflate.
    Deflated(&'a [u8]),
}

fn fault(offset: usize, what: impl Into<String>) -> ZipFault {
    ZipFault { offset: offset as u64, what: what.into() }
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<usize> {
    array_at(bytes, at).map(u16::from_le_bytes).map(usize::from)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    array_at(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(array_at(bytes, at).map(u64::from_le_bytes)?).ok()
}

/// What a field of 32 bits holds whose value stands in a field of ZIP64.
const IN_ZIP64: u32 = u32::MAX;
/// The number of the extra field of ZIP64.
const ZIP64_EXTRA: usize = 1;

/// The member called `name`.
pub(super) fn member<'a>(archive: &'a [u8], name: &str) -> Result<Member<'a>, ZipFault> {
    // The end record stands within the last 64 KiB + 22 bytes, before a comment of any length.
    let from = archive.len().saturating_sub((1 << 16) + 22);
    let tail = archive.get(from..).unwrap_or_default();
    let end = tail.windows(4).rposition(|w| w == b"PK\x05\x06").map(|at| from + at);
    let end =
        end.ok_or_else(|| fault(archive.len(), "the ZIP archive has no end record: it was cut"))?;
    let mut at = directory(archive, end)?;
    while archive.get(at..).is_some_and(|rest| rest.starts_with(b"PK\x01\x02")) {
        let cut = || fault(at, "the central directory is cut");
        let length = |offset: usize| u16_at(archive, at + offset).ok_or_else(cut);
        let (name_len, extra, comment) = (length(28)?, length(30)?, length(32)?);
        let entry_name = archive.get(at + 46..at + 46 + name_len).ok_or_else(cut)?;
        let after_name = at + 46 + name_len;
        if entry_name == name.as_bytes() {
            let (flags, method) = (length(8)?, length(10)?);
            let field = |offset: usize| u32_at(archive, at + offset).ok_or_else(cut);
            let (packed, unpacked, local) = (field(20)?, field(24)?, field(42)?);
            let extra = archive.get(after_name..after_name + extra).ok_or_else(cut)?;
            let [_, packed, local] = zip64([unpacked, packed, local], extra).ok_or_else(cut)?;
            if flags & 1 == 1 {
                return Err(fault(at, format!("{name} is encrypted")));
            }
            return stored(archive, local, packed, method);
        }
        at = after_name + extra + comment;
    }
    Err(fault(end, format!("the archive has no {name}")))
}

/// Where the central directory begins: as the end record says, or the one of ZIP64 before it.
fn directory(archive: &[u8], end: usize) -> Result<usize, ZipFault> {
    let cut = || fault(end, "the end record is cut");
    let offset = u32_at(archive, end + 16).ok_or_else(cut)?;
    let locator = end
        .checked_sub(20)
        .filter(|&at| archive.get(at..).is_some_and(|rest| rest.starts_with(b"PK\x06\x07")));
    let Some(locator) = locator else {
        if offset == IN_ZIP64 {
            return Err(fault(end, "the archive is a ZIP64 without its locator: it is damaged"));
        }
        return usize::try_from(offset).map_err(|_| cut());
    };
    let record = u64_at(archive, locator + 8)
        .filter(|&at| archive.get(at..).is_some_and(|rest| rest.starts_with(b"PK\x06\x06")));
    let record = record.ok_or_else(|| fault(locator, "the end record of ZIP64 is missing"))?;
    u64_at(archive, record.saturating_add(48)).ok_or_else(|| fault(record, "the end record is cut"))
}

/// Unpacked size, packed size and offset of a member: those that do not fit into 32 bits stand in
/// the extra field of ZIP64, in this order.
fn zip64(short: [u32; 3], extra: &[u8]) -> Option<[usize; 3]> {
    let mut rest = extra;
    let mut long: &[u8] = &[];
    while let (Some(id), Some(len)) = (u16_at(rest, 0), u16_at(rest, 2)) {
        let (own, after) = rest.get(4..)?.split_at_checked(len)?;
        if id == ZIP64_EXTRA {
            long = own;
            break;
        }
        rest = after;
    }
    let mut at = 0;
    let mut out = [0; 3];
    for (value, short) in out.iter_mut().zip(short) {
        *value = if short == IN_ZIP64 {
            let found = u64_at(long, at)?;
            at += 8;
            found
        } else {
            usize::try_from(short).ok()?
        };
    }
    Some(out)
}

fn stored(
    archive: &[u8],
    local: usize,
    size: usize,
    method: usize,
) -> Result<Member<'_>, ZipFault> {
    let cut = || fault(local, "a member reaches past the end of the archive");
    let name_len = local.checked_add(26).and_then(|at| u16_at(archive, at)).ok_or_else(cut)?;
    let extra = local.checked_add(28).and_then(|at| u16_at(archive, at)).ok_or_else(cut)?;
    let start = local.checked_add(30 + name_len + extra).ok_or_else(cut)?;
    let packed = start.checked_add(size).and_then(|end| archive.get(start..end)).ok_or_else(cut)?;
    match method {
        0 => Ok(Member::Stored(packed)),
        8 => Ok(Member::Deflated(packed)),
        other => Err(fault(local, format!("compression method {other} is not supported"))),
    }
}
