//! Compressed sources as streams: gzip and zstd, told by their first bytes.

use std::io::{self, BufRead, Read};

use parallax_base::{ByteSource, ReadError, read_range};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::stream::{BorrowedStream, ByteStream};

/// How a source is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    Plain,
    /// gzip (RFC 1952), one or more members.
    Gzip,
    /// Zstandard (RFC 8878), one or more frames.
    Zstd,
}

impl Compression {
    /// The compression that the first four bytes tell.
    #[must_use]
    pub fn of(prefix: &[u8]) -> Self {
        match prefix {
            [0x1f, 0x8b, 8, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            _ => Self::Plain,
        }
    }
}

/// The content of a source from front to back, decompressed where it is compressed.
///
/// # Errors
/// When the first bytes cannot be read.
pub fn open(source: &dyn ByteSource) -> Result<Box<dyn ByteStream + '_>, ReadError> {
    let head = read_range(source, 0, source.len().min(4))?;
    Ok(match Compression::of(&head) {
        Compression::Plain => Box::new(BorrowedStream::new(source)),
        Compression::Gzip => {
            let input = io::BufReader::with_capacity(BLOCK, Cursor::new(source));
            Box::new(Decompressed::new(flate2::bufread::MultiGzDecoder::new(input)))
        }
        Compression::Zstd => Box::new(Decompressed::new(ZstdFrames::new(source))),
    })
}

/// The content of bytes that are compressed with deflate (RFC 1951) alone, as in a ZIP archive.
pub(crate) fn deflated(bytes: &[u8]) -> impl ByteStream + '_ {
    Decompressed::new(flate2::bufread::DeflateDecoder::new(bytes))
}

const BLOCK: usize = 64 << 10;

/// A source as the reader that decompressors want; nothing here touches an operating system.
struct Cursor<'s> {
    stream: BorrowedStream<'s>,
}

impl<'s> Cursor<'s> {
    fn new(source: &'s dyn ByteSource) -> Self {
        Self { stream: BorrowedStream::new(source) }
    }
}

impl Read for Cursor<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer).map_err(io::Error::other)
    }
}

/// A decompressor as a stream. Offsets in errors count decompressed bytes.
struct Decompressed<R> {
    inner: R,
    done: u64,
}

impl<R: Read> Decompressed<R> {
    fn new(inner: R) -> Self {
        Self { inner, done: 0 }
    }
}

impl<R: Read + Send> ByteStream for Decompressed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        loop {
            match self.inner.read(buffer) {
                Ok(n) => {
                    self.done += n as u64;
                    return Ok(n);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let cause = format!("the compressed data is damaged: {error}");
                    return Err(ReadError::Storage { offset: self.done, cause });
                }
            }
        }
    }
}

/// All frames of a zstd source, one after the other; skippable frames are passed over.
struct ZstdFrames<'s> {
    input: io::BufReader<Cursor<'s>>,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl<'s> ZstdFrames<'s> {
    fn new(source: &'s dyn ByteSource) -> Self {
        let input = io::BufReader::with_capacity(BLOCK, Cursor::new(source));
        Self { input, decoder: FrameDecoder::new(), in_frame: false }
    }

    /// Starts the next frame; false at the end of the source.
    fn next_frame(&mut self) -> io::Result<bool> {
        loop {
            if self.input.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.init(&mut self.input) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let wanted = u64::from(length);
                    let skipped = io::copy(&mut (&mut self.input).take(wanted), &mut io::sink())?;
                    if skipped < wanted {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
    }
}

impl Read for ZstdFrames<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if self.in_frame && self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            if !self.in_frame || self.decoder.is_finished() {
                self.in_frame = self.next_frame()?;
                if !self.in_frame {
                    return Ok(0);
                }
            }
            let some = BlockDecodingStrategy::UptoBlocks(1);
            self.decoder.decode_blocks(&mut self.input, some).map_err(io::Error::other)?;
        }
    }
}
