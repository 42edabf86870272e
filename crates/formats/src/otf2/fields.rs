//! Checked access to the fields of one record, in the order in which the file stores them.

use parallax_base::casts::low_u32;

use super::ids::{Id32, IoParadigmId, Kind, LocationId};
use super::local::Mappings;
use super::value::Value;

/// The order of the bytes of numbers in one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl ByteOrder {
    /// The order that the second byte of every file names.
    pub(super) const fn of_mark(mark: u8) -> Option<Self> {
        match mark {
            b'B' => Some(Self::Little),
            b'#' => Some(Self::Big),
            _ => None,
        }
    }

    pub(super) const fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            Self::Little => u64::from_le_bytes(bytes),
            Self::Big => u64::from_be_bytes(bytes),
        }
    }
}

/// The bytes of a record that are not read yet; every reading is checked and gives `None` at their
/// end.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
    order: ByteOrder,
    maps: &'a Mappings,
}

impl<'a> Fields<'a> {
    pub(super) const fn new(rest: &'a [u8], order: ByteOrder, maps: &'a Mappings) -> Self {
        Self { rest, order, maps }
    }

    pub(super) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*first)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        let bytes = self.array()?;
        Some(match self.order {
            ByteOrder::Little => u16::from_le_bytes(bytes),
            ByteOrder::Big => u16::from_be_bytes(bytes),
        })
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        let bytes = self.array()?;
        Some(match self.order {
            ByteOrder::Little => u32::from_le_bytes(bytes),
            ByteOrder::Big => u32::from_be_bytes(bytes),
        })
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        Some(self.order.u64(self.array()?))
    }

    pub(super) fn f32(&mut self) -> Option<f32> {
        self.u32().map(f32::from_bits)
    }

    pub(super) fn f64(&mut self) -> Option<f64> {
        self.u64().map(f64::from_bits)
    }

    /// A compressed number of at most `most` bytes: its length, then its bytes without the leading
    /// zeros; a length of 255 stands for a number of ones only.
    #[inline]
    fn compressed(&mut self, most: usize) -> Option<u64> {
        // Most numbers are this short.
        if let [1, byte, rest @ ..] = self.rest {
            self.rest = rest;
            return Some(u64::from(*byte));
        }
        let (&len, rest) = self.rest.split_first()?;
        if len == u8::MAX {
            self.rest = rest;
            return Some(u64::MAX);
        }
        let len = usize::from(len);
        if len > most {
            return None;
        }
        let (digits, rest) = rest.split_at_checked(len)?;
        self.rest = rest;
        Some(match self.order {
            ByteOrder::Little => digits.iter().rev().fold(0, |n, &b| (n << 8) | u64::from(b)),
            ByteOrder::Big => digits.iter().fold(0, |n, &b| (n << 8) | u64::from(b)),
        })
    }

    #[inline]
    pub(super) fn c32(&mut self) -> Option<u32> {
        self.compressed(4).map(low_u32)
    }

    #[inline]
    pub(super) fn c64(&mut self) -> Option<u64> {
        self.compressed(8)
    }

    /// A string up to its zero byte; bytes that are not UTF-8 are replaced.
    pub(super) fn string(&mut self) -> Option<Box<str>> {
        let len = self.rest.iter().position(|&byte| byte == 0)?;
        let (text, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest.get(1..).unwrap_or_default();
        Some(String::from_utf8_lossy(text).into())
    }

    /// An id as the trace as a whole numbers it.
    #[inline]
    pub(super) fn mapped(&mut self, kind: Kind) -> Option<u64> {
        self.c64().map(|local| self.maps.global(kind, local))
    }

    /// A field of a type that knows how it is stored.
    #[inline]
    pub(super) fn get<T: Field>(&mut self) -> Option<T> {
        T::read(self)
    }

    /// Like [`Self::get`]; `otherwise` where the record ends before it, as older writers' do.
    pub(super) fn later<T: Field>(&mut self, otherwise: T) -> Option<T> {
        if self.is_empty() { Some(otherwise) } else { T::read(self) }
    }

    /// `count` fields, one after the other. The count is the file's, so nothing is set aside for it.
    pub(super) fn list<T: Field>(&mut self, count: u64) -> Option<Vec<T>> {
        // Every field takes a byte at least.
        if count > self.rest.len() as u64 {
            return None;
        }
        (0..count).map(|_| T::read(self)).collect()
    }

    /// A time in ticks, corrected by the location's clock offsets.
    pub(super) fn time(&mut self) -> Option<u64> {
        self.u64().map(|ticks| self.maps.clock.corrected(ticks))
    }
}

/// A type that knows how it is stored in a record.
pub(super) trait Field: Sized {
    fn read(fields: &mut Fields<'_>) -> Option<Self>;
}

impl Field for u8 {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        fields.u8()
    }
}

impl Field for u32 {
    #[inline]
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        fields.c32()
    }
}

impl Field for u64 {
    #[inline]
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        fields.c64()
    }
}

impl Field for i64 {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        fields.c64().map(u64::cast_signed)
    }
}

impl Field for Box<str> {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        fields.string()
    }
}

impl<T: Id32> Field for T {
    #[inline]
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let local = fields.c32()?;
        Some(T::new(match T::KIND {
            Some(kind) => fields.maps.global32(kind, local),
            None => local,
        }))
    }
}

impl Field for LocationId {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        fields.mapped(Kind::Location).map(Self)
    }
}

impl Field for IoParadigmId {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        fields.u8().map(Self)
    }
}

impl Field for Value {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let kind = fields.u8()?;
        Self::read_of(kind, fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn c32(bytes: &[u8], order: ByteOrder) -> Option<u32> {
        Fields::new(bytes, order, &Mappings::default()).c32()
    }

    fn c64(bytes: &[u8], order: ByteOrder) -> Option<u64> {
        Fields::new(bytes, order, &Mappings::default()).c64()
    }

    #[test]
    fn compressed_numbers_have_a_length_and_two_extremes() {
        let little = |bytes: &[u8]| c64(bytes, ByteOrder::Little);
        assert_eq!(little(&[0]), Some(0));
        assert_eq!(little(&[1, 200]), Some(200));
        assert_eq!(little(&[2, 1, 2]), Some(0x201));
        assert_eq!(little(&[8, 1, 0, 0, 0, 0, 0, 0, 0x80]), Some((1 << 63) + 1));
        assert_eq!(little(&[255]), Some(u64::MAX));
        assert_eq!(c64(&[2, 1, 2], ByteOrder::Big), Some(0x102));
        assert_eq!(c32(&[255], ByteOrder::Big), Some(u32::MAX));
    }

    #[test]
    fn numbers_that_are_too_long_or_cut_are_none() {
        for bytes in [&[9, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &[2, 1], &[254], &[]] {
            assert_eq!(c64(bytes, ByteOrder::Little), None, "{bytes:?}");
        }
        assert_eq!(c32(&[5, 1, 1, 1, 1, 1], ByteOrder::Little), None);
    }

    #[test]
    fn a_count_beyond_the_record_sets_nothing_aside() {
        let maps = Mappings::default();
        let mut fields = Fields::new(&[0, 0, 0], ByteOrder::Little, &maps);
        assert_eq!(fields.list::<u32>(u64::MAX), None);
    }
}
