//! [`ThreadEvents`]: what one thread did, in order.

use std::borrow::Cow;

use parallax_base::{Issues, Place, Severity, Stage, read_range};

use super::chunks::{Chunk, Recording};
use crate::FormatError;

/// What happened. Places are numbers of [`Recording::place`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A function or region is entered.
    Call {
        /// Which one.
        place: u32,
        /// How many scopes are open around it.
        depth: u32,
    },
    /// A loop is entered.
    Loop {
        /// Which one.
        place: u32,
        /// How many scopes are open around it.
        depth: u32,
    },
    /// An iteration begins.
    Iteration {
        /// How many scopes are open around it.
        depth: u32,
    },
    /// A scope is left.
    Leave {
        /// How many scopes are still open.
        depth: u32,
    },
    /// Memory is read or written. It has no time of its own.
    Access {
        /// Where in the source.
        place: u32,
        /// The first byte.
        address: u64,
        /// How many.
        bytes: u64,
        /// Whether it writes.
        is_write: bool,
    },
    /// Memory has become an allocation or a variable.
    Allocated {
        /// Where in the source.
        place: u32,
        /// The first byte.
        address: u64,
        /// How many.
        bytes: u64,
        /// Where it lies: bits 1 stack, 2 heap, 4 static, 8 global.
        storage: u8,
    },
    /// Memory is given back.
    Released {
        /// Where in the source.
        place: u32,
        /// The first byte.
        address: u64,
    },
    /// Straight code of the function that is entered last begins.
    Block {
        /// Which one.
        place: u32,
        /// How many scopes are open around it, with the function.
        depth: u32,
    },
    /// A function returns, and its part of the stack is free. It has no time of its own.
    FrameEnds {
        /// The first byte.
        address: u64,
        /// How many.
        bytes: u64,
    },
    /// Another thread was started.
    Started {
        /// Where in the source.
        place: u32,
        /// What the program knows it by.
        handle: u64,
    },
    /// Another thread was waited for.
    Joined {
        /// Where in the source.
        place: u32,
        /// What the program knows it by.
        handle: u64,
    },
    /// A lock was taken, or is about to be given back.
    Lock {
        /// Where in the source.
        place: u32,
        /// Of the lock.
        address: u64,
        /// Whether it was taken.
        is_taken: bool,
    },
}

/// What happened when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// The time; of accesses and ends of frames that of the event before.
    pub ticks: u64,
    /// What.
    pub what: What,
}

impl Event {
    /// Whether the time is its own, and not that of the event before.
    #[must_use]
    pub const fn has_time(&self) -> bool {
        !matches!(self.what, What::Access { .. } | What::FrameEnds { .. })
    }
}

/// The events of one thread, in order of time. One chunk is in memory at a time.
pub struct ThreadEvents<'r> {
    recording: &'r Recording,
    chunks: std::slice::Iter<'r, Chunk>,
    bytes: Cow<'r, [u8]>,
    /// Of the current chunk, in bytes from the start of the file.
    start: u64,
    at: usize,
    last: Last,
    /// The number that the next chunk should have.
    part: u32,
}

/// What the next event counts from.
#[derive(Debug, Clone, Copy, Default)]
struct Last {
    ticks: u64,
    address: u64,
}

impl Recording {
    /// The events of a thread; none for one that does not exist.
    #[must_use]
    pub fn events(&self, thread: usize) -> ThreadEvents<'_> {
        let chunks = self.threads.get(thread).map_or(&[][..], |thread| &thread.chunks);
        ThreadEvents {
            recording: self,
            chunks: chunks.iter(),
            bytes: Cow::Borrowed(&[]),
            start: 0,
            at: 0,
            last: Last::default(),
            part: 0,
        }
    }
}

impl ThreadEvents<'_> {
    /// The next event; `None` at the end.
    ///
    /// # Errors
    /// When the storage fails.
    pub fn next(&mut self, issues: &mut Issues) -> Result<Option<Event>, FormatError> {
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            if rest.first().is_none_or(|&tag| tag == 0) {
                if self.next_chunk(issues)? {
                    continue;
                }
                return Ok(None);
            }
            let mut fields = Fields::new(rest);
            let mut last = self.last;
            if let Some(what) = last.event(&mut fields) {
                self.at += usize::try_from(fields.position()).unwrap_or(usize::MAX);
                self.last = last;
                return Ok(Some(Event { ticks: last.ticks, what }));
            }
            let offset = self.start.saturating_add(self.at as u64);
            let spot = Place::Byte { file: self.recording.file.clone(), offset };
            issues.report(Severity::Error, Stage::Read, "bad-record", spot, || {
                "an event cannot be read; those after it in its chunk are omitted".into()
            });
            self.at = self.bytes.len();
        }
    }

    /// Goes to the next chunk; false when there is none.
    fn next_chunk(&mut self, issues: &mut Issues) -> Result<bool, FormatError> {
        let file = || self.recording.file.clone();
        let Some(&chunk) = self.chunks.next() else { return Ok(false) };
        if chunk.part != self.part {
            let spot = Place::Byte { file: file(), offset: chunk.offset };
            issues.report(Severity::Error, Stage::Read, "chunk-missing", spot, || {
                "a chunk of a thread is missing before this one; its events are lost".into()
            });
        }
        self.bytes = read_range(&*self.recording.source, chunk.offset, chunk.len)
            .map_err(|cause| FormatError::read(&self.recording.file, cause))?;
        (self.start, self.at) = (chunk.offset, 0);
        // Times of one thread never go back, whatever a damaged chunk says.
        self.last = Last { ticks: self.last.ticks.max(chunk.ticks), address: 0 };
        self.part = chunk.part.saturating_add(1);
        Ok(true)
    }
}

impl Last {
    /// The event that fields hold; `None` when they hold none.
    fn event(&mut self, fields: &mut Fields<'_>) -> Option<What> {
        let tag = fields.u8()?;
        let what = match tag {
            1 | 2 => {
                let (depth, place) = (fields.small()?, fields.small()?);
                if tag == 1 { What::Call { place, depth } } else { What::Loop { place, depth } }
            }
            3 => What::Iteration { depth: fields.small()? },
            4 => What::Leave { depth: fields.small()? },
            5 | 6 => {
                let (place, address) = (fields.small()?, self.address(fields)?);
                let bytes = fields.number()?;
                return Some(What::Access { place, address, bytes, is_write: tag == 6 });
            }
            7 => {
                let (place, address) = (fields.small()?, self.address(fields)?);
                let bytes = fields.number()?;
                let storage = u8::try_from(fields.small()? & 15).unwrap_or(0);
                What::Allocated { place, address, bytes, storage }
            }
            8 => What::Released { place: fields.small()?, address: self.address(fields)? },
            9 => What::Started { place: fields.small()?, handle: fields.number()? },
            10 => What::Joined { place: fields.small()?, handle: fields.number()? },
            11 | 12 => {
                let (place, address) = (fields.small()?, self.address(fields)?);
                What::Lock { place, address, is_taken: tag == 11 }
            }
            13 => {
                let (address, bytes) = (self.address(fields)?, fields.number()?);
                return Some(What::FrameEnds { address, bytes });
            }
            14 => {
                let (depth, place) = (fields.small()?, fields.small()?);
                What::Block { place, depth }
            }
            _ => return None,
        };
        self.ticks = self.ticks.checked_add(fields.number()?)?;
        Some(what)
    }

    /// An address, stored as the distance to the one before.
    fn address(&mut self, fields: &mut Fields<'_>) -> Option<u64> {
        let step = fields.number()?;
        let step = (step >> 1) ^ (0_u64.wrapping_sub(step & 1));
        self.address = self.address.wrapping_add(step);
        Some(self.address)
    }
}

/// Takes fields from the front of bytes; `None` where they end too early.
pub(super) struct Fields<'b> {
    bytes: &'b [u8],
    len: usize,
}

impl<'b> Fields<'b> {
    pub(super) const fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, len: bytes.len() }
    }

    /// How many bytes were taken.
    pub(super) const fn position(&self) -> u64 {
        (self.len - self.bytes.len()) as u64
    }

    pub(super) fn bytes(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        let (&byte, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(byte)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.bytes(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.bytes(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    /// A number of seven bits a byte, the lowest first.
    pub(super) fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// A number below 2^32.
    pub(super) fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    /// A length and as many bytes of text. What is no UTF-8 is replaced.
    pub(super) fn text(&mut self) -> Option<String> {
        let len = usize::try_from(self.number()?).ok()?;
        self.bytes(len).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }
}
