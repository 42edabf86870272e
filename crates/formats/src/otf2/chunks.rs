//! Chunks: the pages of `.def` and `.evt` files, and the records between their control bytes.
//!
//! A source that lends its bytes is read in place; of any other one chunk is in memory at a time.
//! Where records stop making sense, reading goes on at the next chunk.

use std::borrow::Cow;
use std::ops::{Range, RangeInclusive};

use parallax_base::{ByteSource, Issues, Place, Severity, Stage, read_range};

use super::fields::ByteOrder;
use crate::FormatError;

/// The first byte of every file and of every chunk.
pub(super) const CHUNK_HEADER: u8 = 3;
/// Control byte: the rest of the chunk is empty.
pub(super) const END_OF_CHUNK: u8 = 0;
/// Control byte: the writer's buffer ended here.
pub(super) const END_OF_BUFFER: u8 = 1;
/// Control byte: nothing follows in this file.
pub(super) const END_OF_FILE: u8 = 2;
/// The smallest kind of a record; what is below are control bytes.
pub(super) const FIRST_RECORD: u8 = 5;

/// Bytes of a chunk header: two marks, the numbers of the first and of the last event.
const HEADER_SIZE: usize = 18;
/// Chunk sizes that libotf2 accepts.
pub(super) const CHUNK_SIZES: RangeInclusive<u64> = 256 << 10..=16 << 20;

/// One record of the layout `kind, length, payload`.
pub(super) struct RawRecord {
    pub(super) kind: u8,
    /// Offset of the kind, in bytes from the start of the file.
    pub(super) offset: u64,
    /// Where the payload lies in the current chunk.
    pub(super) payload: Range<usize>,
}

/// Reads one chunked file from front to back.
pub(super) struct Chunks<'s> {
    source: &'s dyn ByteSource,
    file: &'s str,
    chunk_size: u64,
    /// The bytes of the current chunk.
    chunk: Cow<'s, [u8]>,
    /// Offset of the current chunk in the file.
    start: u64,
    /// The next byte in the current chunk.
    at: usize,
    order: ByteOrder,
    /// The number of the last event of the chunks so far, as their headers say.
    last_event: u64,
    /// Whether the end was reached.
    is_done: bool,
}

impl<'s> Chunks<'s> {
    /// Starts at the first chunk of `source`.
    pub(super) fn new(
        source: &'s dyn ByteSource,
        file: &'s str,
        chunk_size: u64,
    ) -> Result<Self, FormatError> {
        let mut chunks = Self {
            source,
            file,
            chunk_size,
            chunk: Cow::Borrowed(&[]),
            start: 0,
            at: 0,
            order: ByteOrder::Little,
            last_event: 0,
            is_done: false,
        };
        chunks.load()?;
        if let Err(what) = chunks.header() {
            return Err(FormatError::malformed(file, 0, what));
        }
        Ok(chunks)
    }

    pub(super) const fn order(&self) -> ByteOrder {
        self.order
    }

    /// How many events the chunks so far should have, as their headers say.
    pub(super) const fn last_event(&self) -> u64 {
        self.last_event
    }

    /// Whether the end was reached.
    pub(super) const fn is_done(&self) -> bool {
        self.is_done
    }

    /// The bytes of the current chunk that are not read yet.
    #[inline]
    pub(super) fn rest(&self) -> &[u8] {
        if self.is_done { &[] } else { self.chunk.get(self.at..).unwrap_or_default() }
    }

    /// The bytes of the current chunk.
    #[inline]
    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        self.chunk.get(range).unwrap_or_default()
    }

    /// Goes on by `len` bytes of the current chunk.
    #[inline]
    pub(super) const fn advance(&mut self, len: usize) {
        self.at = self.at.saturating_add(len);
    }

    /// Where the next byte lies in the file.
    #[inline]
    pub(super) const fn offset(&self) -> u64 {
        self.start.saturating_add(self.at as u64)
    }

    /// The extent of the record `kind, length, payload` that comes next, without going on;
    /// `None` when it reaches past the chunk.
    #[inline]
    pub(super) fn peek(&self) -> Option<RawRecord> {
        let rest = self.rest();
        let (&kind, rest) = rest.split_first()?;
        let (&short, rest) = rest.split_first()?;
        let (len, head) = if short == u8::MAX {
            let bytes = *rest.first_chunk::<8>()?;
            (usize::try_from(self.order.u64(bytes)).ok()?, 10)
        } else {
            (usize::from(short), 2)
        };
        let start = self.at.checked_add(head)?;
        let end = start.checked_add(len).filter(|&end| end <= self.chunk.len())?;
        Some(RawRecord { kind, offset: self.offset(), payload: start..end })
    }

    /// Goes on behind a record.
    #[inline]
    pub(super) const fn skip(&mut self, record: &RawRecord) {
        self.at = record.payload.end;
    }

    /// The next record of a definition file; `None` at the end.
    pub(super) fn next_record(
        &mut self,
        issues: &mut Issues,
    ) -> Result<Option<RawRecord>, FormatError> {
        loop {
            if self.is_done {
                return Ok(None);
            }
            match self.rest().first() {
                Some(&kind) if kind >= FIRST_RECORD => match self.peek() {
                    Some(record) => {
                        self.skip(&record);
                        return Ok(Some(record));
                    }
                    None => self.record_outside(issues)?,
                },
                other => {
                    let control = other.copied();
                    self.control(control, issues)?;
                }
            }
        }
    }

    /// Does what a control byte says; `None` where the chunk ends without one.
    #[cold]
    pub(super) fn control(
        &mut self,
        byte: Option<u8>,
        issues: &mut Issues,
    ) -> Result<(), FormatError> {
        match byte {
            Some(END_OF_CHUNK) => self.next_chunk(issues),
            Some(END_OF_BUFFER | END_OF_FILE) => {
                self.is_done = true;
                Ok(())
            }
            Some(byte) => self.damaged(issues, "bad-control-byte", || {
                format!("no record starts with {byte}; records up to here are kept")
            }),
            None => self.damaged(issues, "no-end", || {
                "the file ends without an end mark: it is truncated or was not finished; \
                 complete records are kept"
                    .into()
            }),
        }
    }

    /// Reports that the next record reaches past its chunk.
    #[cold]
    pub(super) fn record_outside(&mut self, issues: &mut Issues) -> Result<(), FormatError> {
        self.damaged(issues, "record-outside", || {
            "a record reaches past the end of its chunk: the file is truncated or damaged here; \
             records up to here are kept"
                .into()
        })
    }

    /// Reports a fault at the next byte and goes on at the next chunk.
    #[cold]
    pub(super) fn damaged(
        &mut self,
        issues: &mut Issues,
        kind: &'static str,
        what: impl FnOnce() -> String,
    ) -> Result<(), FormatError> {
        self.report(issues, Severity::Error, kind, what);
        self.next_chunk(issues)
    }

    /// Reports something about the next byte.
    pub(super) fn report(
        &self,
        issues: &mut Issues,
        severity: Severity,
        kind: &'static str,
        what: impl FnOnce() -> String,
    ) {
        let place = Place::Byte { file: self.file.into(), offset: self.offset() };
        issues.report(severity, Stage::Read, kind, place, what);
    }

    /// Goes to the next chunk whose header can be read, or to the end.
    fn next_chunk(&mut self, issues: &mut Issues) -> Result<(), FormatError> {
        loop {
            let next = self.start.checked_add(self.chunk_size);
            let Some(next) = next.filter(|&next| next < self.source.len()) else {
                self.is_done = true;
                return Ok(());
            };
            self.start = next;
            self.load()?;
            match self.header() {
                Ok(()) => return Ok(()),
                Err(what) => self.report(issues, Severity::Error, "bad-chunk", || {
                    format!("{what}; this chunk of {} bytes is omitted", self.chunk.len())
                }),
            }
        }
    }

    /// Makes the chunk at `start` the current one.
    fn load(&mut self) -> Result<(), FormatError> {
        let left = self.source.len().saturating_sub(self.start);
        let bytes = read_range(self.source, self.start, left.min(self.chunk_size));
        self.chunk = bytes.map_err(|error| FormatError::read(self.file, error))?;
        self.at = 0;
        Ok(())
    }

    /// Reads the header of the current chunk; says what is wrong with it otherwise.
    fn header(&mut self) -> Result<(), String> {
        let Some(header) = self.chunk.first_chunk::<HEADER_SIZE>() else {
            return Err("the file ends inside the header of a chunk".into());
        };
        let &[first, mark, _, _, _, _, _, _, _, _, ref last @ ..] = header;
        let Some(order) = ByteOrder::of_mark(mark).filter(|_| first == CHUNK_HEADER) else {
            return Err(format!(
                "a chunk starts with {first:#04x} {mark:#04x} instead of 0x03 and 0x42 or 0x23 \
                 (compressed chunks are not supported)"
            ));
        };
        self.order = order;
        self.last_event = self.last_event.max(order.u64(*last));
        self.at = HEADER_SIZE;
        Ok(())
    }
}
