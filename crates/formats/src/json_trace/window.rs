//! [`Window`]: the part of a stream that is examined, moved on value by value.

use parallax_base::ReadError;

use crate::stream::ByteStream;

/// Bytes of a window until a value asks for more.
const START: usize = 256 << 10;

/// A part of a stream in memory.
pub(super) struct Window<'s> {
    stream: Box<dyn ByteStream + 's>,
    buffer: Vec<u8>,
    at: usize,
    end: usize,
    /// Offset of the buffer's first byte in the stream.
    base: u64,
    /// Nothing more can be read.
    ended: bool,
    failure: Option<ReadError>,
    most: usize,
}

impl<'s> Window<'s> {
    /// Starts at the first byte of `stream`; holds at most `most` bytes.
    pub(super) fn new(stream: impl ByteStream + 's, most: usize) -> Self {
        Self {
            stream: Box::new(stream),
            buffer: vec![0; START.min(most.max(64))],
            at: 0,
            end: 0,
            base: 0,
            ended: false,
            failure: None,
            most: most.max(64),
        }
    }

    /// The bytes from the current place on that are in memory.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        self.buffer.get(self.at..self.end).unwrap_or_default()
    }

    /// The bytes that were taken last.
    #[inline]
    pub(super) fn taken(&self, len: usize) -> &[u8] {
        self.buffer.get(self.at.saturating_sub(len)..self.at).unwrap_or_default()
    }

    /// Offset of the current place in the stream.
    #[inline]
    pub(super) fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// Passes over `len` bytes.
    #[inline]
    pub(super) fn take(&mut self, len: usize) {
        self.at = (self.at + len).min(self.end);
    }

    /// Whether the bytes in memory are the last.
    pub(super) fn is_last(&self) -> bool {
        self.ended
    }

    /// What kept the stream from being read to its end.
    pub(super) fn failure(&self) -> Option<&ReadError> {
        self.failure.as_ref()
    }

    /// Whether there is no room for more bytes behind those in memory.
    pub(super) fn is_full(&self) -> bool {
        self.at == 0 && self.end == self.buffer.len() && self.buffer.len() >= self.most
    }

    /// Brings more bytes into memory and keeps those from the current place on; what was taken is
    /// gone. A stream that fails ends, and [`Window::failure`] says why.
    #[cold]
    #[inline(never)]
    pub(super) fn fill(&mut self) {
        if self.at > 0 {
            self.buffer.copy_within(self.at..self.end, 0);
            self.base += self.at as u64;
            self.end -= self.at;
            self.at = 0;
        }
        if self.end == self.buffer.len() {
            let len = (self.buffer.len() * 2).min(self.most);
            self.buffer.resize(len.max(self.buffer.len()), 0);
        } else if self.end < START && self.buffer.len() > 16 * START {
            // One large value must not keep its room for the rest of the file.
            self.buffer.truncate(START);
            self.buffer.shrink_to_fit();
        }
        while self.end < self.buffer.len() && !self.ended {
            let Some(room) = self.buffer.get_mut(self.end..) else { break };
            match self.stream.read(room) {
                Ok(0) => self.ended = true,
                Ok(n) => self.end = (self.end + n).min(self.buffer.len()),
                Err(cause) => (self.ended, self.failure) = (true, Some(cause)),
            }
        }
    }

    /// The next byte that is not white space, which stays; `None` at the end.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            let skip = super::scan::space(self.bytes(), 0);
            self.at += skip;
            match self.bytes().first() {
                Some(&byte) => return Some(byte),
                None if self.ended => return None,
                None => self.fill(),
            }
        }
    }
}
