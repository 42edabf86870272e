//! Checked access to fields of little-endian records.

/// Bytes of a file (or of a part of it) whose every access is checked.
#[derive(Clone, Copy)]
pub(super) struct Record<'a>(&'a [u8]);

impl<'a> Record<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) const fn len(self) -> u64 {
        self.0.len() as u64
    }

    /// `len` bytes at `offset`, when they are inside.
    pub(super) fn slice(self, offset: u64, len: u64) -> Option<&'a [u8]> {
        let end = offset.checked_add(len)?;
        self.0.get(usize::try_from(offset).ok()?..usize::try_from(end).ok()?)
    }

    /// The record of `len` bytes at `offset`, when it is inside.
    pub(super) fn sub(self, offset: u64, len: u64) -> Option<Self> {
        self.slice(offset, len).map(Self)
    }

    fn array<const N: usize>(self, offset: u64) -> Option<[u8; N]> {
        self.slice(offset, N as u64)?.try_into().ok()
    }

    pub(super) fn u8(self, offset: u64) -> Option<u8> {
        self.array::<1>(offset).map(|[byte]| byte)
    }

    pub(super) fn u16(self, offset: u64) -> Option<u16> {
        self.array(offset).map(u16::from_le_bytes)
    }

    pub(super) fn u32(self, offset: u64) -> Option<u32> {
        self.array(offset).map(u32::from_le_bytes)
    }

    pub(super) fn u64(self, offset: u64) -> Option<u64> {
        self.array(offset).map(u64::from_le_bytes)
    }

    /// The bytes at `offset` up to the first NUL, of which there are at most `longest`.
    /// `None` when the offset or the NUL is not inside.
    pub(super) fn until_nul(self, offset: u64, longest: u64) -> Option<&'a [u8]> {
        let rest = self.0.get(usize::try_from(offset).ok()?..)?;
        let within = usize::try_from(longest).unwrap_or(usize::MAX).saturating_add(1);
        let rest = rest.get(..within).unwrap_or(rest);
        let end = rest.iter().position(|&byte| byte == 0)?;
        rest.get(..end)
    }
}

/// An array of records of one stride inside a [`Record`], as files describe them.
#[derive(Clone, Copy)]
pub(super) struct Table {
    /// Offset of the first record.
    pub(super) start: u64,
    /// Number of records that lie inside the file.
    pub(super) len: u64,
    /// Bytes from one record to the next.
    pub(super) stride: u64,
}

impl Table {
    /// A table of which only the records inside `file_len` bytes are kept.
    /// The second value is how many had to be left out.
    pub(super) fn clamped(start: u64, len: u64, stride: u64, file_len: u64) -> (Self, u64) {
        let room = file_len.saturating_sub(start).checked_div(stride).unwrap_or(0);
        let kept = len.min(room);
        (Self { start, len: kept, stride }, len - kept)
    }

    /// Offset of record `i`. The table lies inside the file, so this cannot overflow.
    pub(super) const fn at(self, i: u64) -> u64 {
        self.start.wrapping_add(i.wrapping_mul(self.stride))
    }

    /// The number of the record that `pointer` points to, when it points to the start of one.
    pub(super) fn index_of(self, pointer: u64) -> Option<u64> {
        let distance = pointer.checked_sub(self.start)?;
        let i = distance.checked_div(self.stride)?;
        (i < self.len && distance == i * self.stride).then_some(i)
    }
}
