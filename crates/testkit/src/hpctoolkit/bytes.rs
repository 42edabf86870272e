//! Bytes as every file of the format begins and ends.

use super::database::u16_of;

/// Bytes that stand at a known place of a file; numbers are little-endian.
pub(crate) struct Bytes {
    base: u64,
    data: Vec<u8>,
}

impl Bytes {
    /// Bytes whose first one has the file offset `base`.
    pub(crate) fn at(base: u64) -> Self {
        Self { base, data: Vec::new() }
    }

    /// The header of a file: magic, four letters of the kind, version 4.0, then (size, pointer) per
    /// section, filled with zeros up to `size`.
    pub(crate) fn header(kind: [u8; 4], sections: &[Section], size: usize) -> Self {
        let mut header = Self::at(0);
        header.raw(b"HPCTOOLKIT").raw(&kind).raw(&[4, 0]);
        for section in sections {
            header.u64(section.size).u64(section.start);
        }
        header.fill_to(size as u64);
        header
    }

    pub(crate) fn end(&self) -> u64 {
        self.base + self.data.len() as u64
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.data.extend_from_slice(bytes);
        self
    }

    pub(crate) fn u8(&mut self, value: u8) -> &mut Self {
        self.raw(&[value])
    }

    pub(crate) fn u16(&mut self, value: u16) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    pub(crate) fn u32(&mut self, value: u32) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    pub(crate) fn u64(&mut self, value: u64) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    pub(crate) fn f64(&mut self, value: f64) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    /// Zeros until the end stands at a file offset.
    pub(crate) fn fill_to(&mut self, offset: u64) -> &mut Self {
        assert!(offset >= self.end(), "a structure is longer than the format says");
        let len = (offset - self.base) as usize;
        self.data.resize(len, 0);
        self
    }

    /// Zeros until the end is aligned in the file.
    pub(crate) fn align(&mut self, alignment: u64) -> &mut Self {
        self.fill_to(self.end().next_multiple_of(alignment))
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.data
    }

    pub(crate) fn into_vec(self) -> Vec<u8> {
        self.data
    }
}

/// A section of a file: its place and its length in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Section {
    pub(crate) start: u64,
    pub(crate) size: u64,
}

impl Section {
    /// The section that spans `start..end`.
    pub(crate) fn between(start: u64, end: u64) -> Self {
        Self { start, size: end - start }
    }
}

/// An identity tuple as profile.db stores it.
pub(crate) fn id_tuple(bytes: &mut Bytes, tuple: &[super::Id]) {
    bytes.u16(u16_of(tuple.len())).raw(&[0; 6]);
    for id in tuple {
        bytes.u8(id.kind).u8(0).u16(u16::from(id.is_physical));
        bytes.u32(id.logical).u64(id.physical);
    }
}
