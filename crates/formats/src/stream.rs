//! Bytes in order, a piece at a time: what sequential readers (JSON, text) stand on.
//!
//! A [`ByteSource`] gives random access; many scaling files are read once from front to back and
//! may be compressed, so their readers see only [`ByteStream`].

use std::ops::Range;

use parallax_base::{ByteSource, ReadError, Source};

/// Bytes in order, a piece at a time.
pub trait ByteStream: Send {
    /// Fills the front of `buffer` and says how many bytes; 0 only at the end (or for an empty
    /// buffer).
    ///
    /// # Errors
    /// When the bytes cannot be had, or a compressed stream is damaged.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError>;
}

impl<S: ByteStream + ?Sized> ByteStream for Box<S> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        (**self).read(buffer)
    }
}

impl<S: ByteStream + ?Sized> ByteStream for &mut S {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        (**self).read(buffer)
    }
}

/// The bytes of a [`ByteSource`] from front to back.
pub struct SourceStream<S> {
    source: S,
    offset: u64,
}

/// A borrowed source as a stream.
pub type BorrowedStream<'s> = SourceStream<&'s dyn ByteSource>;

impl<'s> SourceStream<&'s dyn ByteSource> {
    /// Starts at the first byte of `source`.
    #[must_use]
    pub fn new(source: &'s dyn ByteSource) -> Self {
        Self { source, offset: 0 }
    }
}

/// A part of a borrowed source as a stream.
pub struct RangeStream<'s> {
    source: &'s dyn ByteSource,
    offset: u64,
    end: u64,
}

impl<'s> RangeStream<'s> {
    /// Starts at the first byte of `range`; what the source does not have is left out.
    #[must_use]
    pub fn new(source: &'s dyn ByteSource, range: Range<u64>) -> Self {
        Self { source, offset: range.start, end: range.end.min(source.len()) }
    }
}

impl ByteStream for RangeStream<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        let left = usize::try_from(self.end.saturating_sub(self.offset)).unwrap_or(usize::MAX);
        let take = left.min(buffer.len());
        read_source(self.source, &mut self.offset, buffer.get_mut(..take).unwrap_or_default())
    }
}

impl SourceStream<Source> {
    /// Starts at the first byte of a shared `source`.
    #[must_use]
    pub fn shared(source: Source) -> Self {
        Self { source, offset: 0 }
    }
}

fn read_source(
    source: &dyn ByteSource,
    offset: &mut u64,
    buffer: &mut [u8],
) -> Result<usize, ReadError> {
    let left = source.len().saturating_sub(*offset);
    let take = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
    if let Some(part) = buffer.get_mut(..take).filter(|part| !part.is_empty()) {
        source.read_at(*offset, part)?;
    }
    *offset += take as u64;
    Ok(take)
}

impl ByteStream for SourceStream<&dyn ByteSource> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        read_source(self.source, &mut self.offset, buffer)
    }
}

impl ByteStream for SourceStream<Source> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        read_source(&*self.source, &mut self.offset, buffer)
    }
}

/// Bytes that lie in memory.
pub struct SliceStream<'s> {
    rest: &'s [u8],
}

impl<'s> SliceStream<'s> {
    /// Starts at the first byte of `bytes`.
    #[must_use]
    pub fn new(bytes: &'s [u8]) -> Self {
        Self { rest: bytes }
    }
}

impl ByteStream for SliceStream<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        let take = self.rest.len().min(buffer.len());
        let (now, later) = self.rest.split_at_checked(take).unwrap_or((self.rest, &[]));
        if let Some(part) = buffer.get_mut(..take) {
            part.copy_from_slice(now);
        }
        self.rest = later;
        Ok(take)
    }
}

/// Pieces of bytes from anywhere (a network, a decompressor, a test) as a stream.
pub struct ChunkStream<I> {
    chunks: I,
    current: Vec<u8>,
    used: usize,
}

impl<I: Iterator<Item = Result<Vec<u8>, ReadError>>> ChunkStream<I> {
    /// Reads the chunks one after the other; empty ones are skipped.
    pub fn new(chunks: I) -> Self {
        Self { chunks, current: Vec::new(), used: 0 }
    }
}

impl<I: Iterator<Item = Result<Vec<u8>, ReadError>> + Send> ByteStream for ChunkStream<I> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while self.used >= self.current.len() {
            match self.chunks.next() {
                Some(chunk) => (self.current, self.used) = (chunk?, 0),
                None => return Ok(0),
            }
        }
        let rest = self.current.get(self.used..).unwrap_or_default();
        let take = rest.len().min(buffer.len());
        for (to, from) in buffer.iter_mut().zip(rest) {
            *to = *from;
        }
        self.used += take;
        Ok(take)
    }
}

/// A stream whose first bytes were already taken, to look at them.
pub struct Prefixed<S> {
    prefix: Vec<u8>,
    used: usize,
    rest: S,
}

impl<S: ByteStream> Prefixed<S> {
    /// Takes up to `len` bytes from the front of `stream` so that [`Prefixed::prefix`] shows them;
    /// reading starts at the first byte all the same.
    ///
    /// # Errors
    /// When the bytes cannot be had.
    pub fn peek(mut stream: S, len: usize) -> Result<Self, ReadError> {
        let mut prefix = vec![0; len];
        let mut done = 0;
        while let Some(part) = prefix.get_mut(done..).filter(|part| !part.is_empty()) {
            match stream.read(part)? {
                0 => break,
                n => done += n,
            }
        }
        prefix.truncate(done);
        Ok(Self { prefix, used: 0, rest: stream })
    }

    /// The first bytes.
    #[must_use]
    pub fn prefix(&self) -> &[u8] {
        &self.prefix
    }
}

impl<S: ByteStream> ByteStream for Prefixed<S> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        let left = self.prefix.get(self.used..).unwrap_or_default();
        if left.is_empty() {
            return self.rest.read(buffer);
        }
        let take = left.len().min(buffer.len());
        for (to, from) in buffer.iter_mut().zip(left) {
            *to = *from;
        }
        self.used += take;
        Ok(take)
    }
}

/// Reads all of `stream`, but not more than `limit` bytes: `None` when there are more.
///
/// # Errors
/// When the bytes cannot be had.
pub fn read_all(stream: &mut dyn ByteStream, limit: u64) -> Result<Option<Vec<u8>>, ReadError> {
    let mut all = Vec::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        let n = stream.read(&mut piece)?;
        if n == 0 {
            return Ok(Some(all));
        }
        if (all.len() + n) as u64 > limit {
            return Ok(None);
        }
        all.extend_from_slice(piece.get(..n).unwrap_or_default());
    }
}

/// The lines of a stream, without their ends, one at a time in a buffer that is reused.
pub struct LineReader<S> {
    stream: S,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Offset of the first byte of `buffer` in the stream.
    base: u64,
    at_end: bool,
    number: u64,
    longest: usize,
}

/// One line of a [`LineReader`].
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// The bytes without the line end (`\n` or `\r\n`).
    pub bytes: &'a [u8],
    /// Its number, from 1.
    pub number: u64,
    /// Offset of its first byte in the stream.
    pub offset: u64,
}

impl Line<'_> {
    /// The line as text; bytes that are not UTF-8 become U+FFFD.
    #[must_use]
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.bytes)
    }
}

impl<S: ByteStream> LineReader<S> {
    /// Longest line that is read whole; longer ones are an error.
    pub const LONGEST: usize = 64 << 20;

    /// Starts at the first line of `stream`.
    pub fn new(stream: S) -> Self {
        Self {
            stream,
            buffer: vec![0; 1 << 16],
            start: 0,
            end: 0,
            base: 0,
            at_end: false,
            number: 0,
            longest: Self::LONGEST,
        }
    }

    /// The next line; `None` after the last.
    ///
    /// # Errors
    /// When the bytes cannot be had, or a line is longer than [`LineReader::LONGEST`].
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>, ReadError> {
        let mut searched = self.start;
        let stop = loop {
            let fresh = self.buffer.get(searched..self.end).unwrap_or_default();
            if let Some(at) = fresh.iter().position(|&b| b == b'\n') {
                break searched + at;
            }
            if self.at_end {
                if self.start == self.end {
                    return Ok(None);
                }
                break self.end;
            }
            let kept = self.end - self.start;
            self.fill()?;
            searched = self.start + kept;
        };
        let line_start = self.start;
        self.start = (stop + 1).min(self.end);
        self.number += 1;
        let bytes = self.buffer.get(line_start..stop).unwrap_or_default();
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        Ok(Some(Line { bytes, number: self.number, offset: self.base + line_start as u64 }))
    }

    fn fill(&mut self) -> Result<(), ReadError> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.base += self.start as u64;
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            if self.buffer.len() >= self.longest {
                let cause = format!("a line is longer than {} bytes", self.longest);
                return Err(ReadError::Storage { offset: self.base, cause });
            }
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let n = match self.buffer.get_mut(self.end..) {
            Some(room) => self.stream.read(room)?,
            None => 0,
        };
        self.end += n;
        self.at_end = n == 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(text: &[u8], piece: usize) -> Vec<(u64, u64, String)> {
        let chunks: Vec<Vec<u8>> = text.chunks(piece).map(<[u8]>::to_vec).collect();
        let mut reader = LineReader::new(ChunkStream::new(chunks.into_iter().map(Ok)));
        let mut out = Vec::new();
        while let Some(line) = reader.next_line().unwrap() {
            out.push((line.number, line.offset, line.text().into_owned()));
        }
        out
    }

    #[test]
    fn lines_are_the_same_however_the_bytes_arrive() {
        let long = "x".repeat(200_000);
        let text = format!("a\r\n\nb {long}\nlast");
        let expected = vec![
            (1, 0, "a".to_owned()),
            (2, 3, String::new()),
            (3, 4, format!("b {long}")),
            (4, 200_007, "last".to_owned()),
        ];
        for piece in [1, 7, 4096, 1 << 20] {
            assert_eq!(lines_of(text.as_bytes(), piece), expected, "pieces of {piece}");
        }
    }

    #[test]
    fn peeking_loses_nothing() {
        let text: Vec<u8> = (0..=255).collect();
        for len in [0, 1, 100, 256, 1000] {
            let mut stream = Prefixed::peek(SliceStream::new(&text), len).unwrap();
            assert_eq!(stream.prefix(), text.get(..len).unwrap_or(&text));
            assert_eq!(read_all(&mut stream, 1 << 20).unwrap().unwrap(), text);
        }
        assert_eq!(read_all(&mut SliceStream::new(&text), 255).unwrap(), None);
    }
}
