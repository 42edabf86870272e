//! Addresses in place of names, and the names that are added when the program is over.
//!
//! A program that is recorded without marks writes where its calls return to, and which files were
//! mapped where. Whoever has these files writes a chunk with the names behind the rest.

use super::chunks::{CHUNK_HEADER, CHUNK_MAGIC, PLACES, PlaceKind, SourceLocation};
use super::events::Fields;

/// A file that was mapped as code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// What addresses of the file have in addition.
    pub base: u64,
    /// The first byte in memory.
    pub start: u64,
    /// The byte after the last one.
    pub end: u64,
    /// Where it is, as the program knew.
    pub path: String,
}

impl Module {
    pub(super) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let (base, start, end) = (fields.number()?, fields.number()?, fields.number()?);
        Some(Self { base, start, end, path: fields.text()? })
    }

    /// Whether an address is in it.
    #[must_use]
    pub const fn holds(&self, address: u64) -> bool {
        self.start <= address && address < self.end
    }
}

/// A place that is an address of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeAddress {
    /// Number of the place.
    pub number: u32,
    /// What it is.
    pub kind: PlaceKind,
    /// Where a call returns to, in memory.
    pub address: u64,
    /// What is known of it all the same, such as `malloc`; may be empty.
    pub name: String,
}

impl CodeAddress {
    pub(super) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let (number, kind) = (fields.small()?, PlaceKind::from_number(fields.small()?));
        Some(Self { number, kind, address: fields.number()?, name: fields.text()? })
    }
}

/// A variable outside of functions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// The first byte in memory.
    pub address: u64,
    /// How many.
    pub bytes: u64,
    /// Where it lies: bits 4 static, 8 global.
    pub storage: u8,
    /// Its name.
    pub name: String,
}

impl Variable {
    pub(super) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let (address, bytes) = (fields.number()?, fields.number()?);
        let storage = u8::try_from(fields.small()? & 15).unwrap_or(0);
        Some(Self { address, bytes, storage, name: fields.text()? })
    }
}

/// The names of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Number of the place.
    pub number: u32,
    /// What it is.
    pub place: SourceLocation,
}

/// A chunk that gives places names, to be written at the end of a recording whose length is a
/// multiple of 64.
#[must_use]
pub fn names_chunk(places: &[Named], variables: &[Variable]) -> Vec<u8> {
    let mut records = Vec::new();
    for Named { number, place } in places {
        records.push(1);
        for value in [u64::from(*number), place.kind.number(), u64::from(place.line)] {
            put_number(&mut records, value);
        }
        for text in [&place.name, &place.file, &place.function] {
            put_text(&mut records, text);
        }
        if place.kind == PlaceKind::Block {
            put_number(&mut records, u64::from(place.inline_depth));
        }
    }
    for variable in variables {
        records.push(5);
        for value in [variable.address, variable.bytes, u64::from(variable.storage)] {
            put_number(&mut records, value);
        }
        put_text(&mut records, &variable.name);
    }
    let len = (CHUNK_HEADER + records.len() as u64).next_multiple_of(CHUNK_HEADER);
    let mut chunk = Vec::new();
    chunk.extend(CHUNK_MAGIC);
    chunk.extend(len.to_le_bytes());
    chunk.extend(PLACES.to_le_bytes());
    // The part, the thread, its handle and the time mean nothing here.
    chunk.resize(usize::try_from(CHUNK_HEADER).unwrap_or(0), 0);
    chunk.extend(records);
    chunk.resize(usize::try_from(len).unwrap_or(0), 0);
    chunk
}

fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push((number & 0x7f) as u8);
}

/// Longer texts are cut, as the format says.
fn put_text(out: &mut Vec<u8>, text: &str) {
    const LONGEST: usize = 1000;
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let bytes = text.get(..end).unwrap_or_default();
    put_number(out, bytes.len() as u64);
    out.extend(bytes.as_bytes());
}
