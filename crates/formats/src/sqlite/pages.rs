//! Pages of the file, borrowed where it lies in memory, else read in blocks.

use parallax_base::{ReadError, Source, end_inside};

/// Bytes that are read at once from a source that cannot lend them: tables lie mostly in
/// consecutive pages.
const STRETCH_BYTES: u64 = 256 << 10;

/// Reads pages one after the other.
pub(super) struct Pages {
    source: Source,
    page_size: u64,
    /// The block that was read last, where the source cannot lend its bytes.
    buffer: Vec<u8>,
    buffer_start: u64,
    /// Bytes read since the source was told that they are not needed any more.
    read_bytes: u64,
}

/// Bytes that are read before a source may let them go.
const FORGET_BYTES: u64 = 16 << 20;

impl Pages {
    pub(super) fn new(source: &Source, page_size: u32) -> Self {
        let (buffer, buffer_start, read_bytes) = (Vec::new(), 0, 0);
        let page_size = page_size.into();
        Self { source: Source::clone(source), page_size, buffer, buffer_start, read_bytes }
    }

    /// The offset of page `number`, counted from 1.
    pub(super) fn offset(&self, number: u32) -> u64 {
        u64::from(number).saturating_sub(1) * self.page_size
    }

    /// The bytes of page `number`, counted from 1.
    pub(super) fn get(&mut self, number: u32) -> Result<&[u8], ReadError> {
        let offset = self.offset(number);
        let out = |wanted| ReadError::OutOfBounds { offset, wanted, len: self.source.len() };
        let end = end_inside(offset, self.page_size, self.source.len())?;
        self.read_bytes += self.page_size;
        if self.read_bytes >= FORGET_BYTES {
            self.read_bytes = 0;
            self.source.forget();
        }
        if let Some(all) = self.source.as_slice() {
            let range = usize::try_from(offset).ok().zip(usize::try_from(end).ok());
            return range
                .and_then(|(start, end)| all.get(start..end))
                .ok_or_else(|| out(self.page_size));
        }
        let buffered = self.buffer_start..self.buffer_start + self.buffer.len() as u64;
        if !(buffered.contains(&offset) && end <= buffered.end) {
            let len = STRETCH_BYTES.max(self.page_size).min(self.source.len() - offset);
            self.buffer.resize(usize::try_from(len).unwrap_or(0), 0);
            // A failed read must not leave bytes behind that look like a page.
            if let Err(error) = self.source.read_at(offset, &mut self.buffer) {
                self.buffer.clear();
                return Err(error);
            }
            self.buffer_start = offset;
        }
        let start = usize::try_from(offset - self.buffer_start).unwrap_or(usize::MAX);
        let size = usize::try_from(self.page_size).unwrap_or(usize::MAX);
        start
            .checked_add(size)
            .and_then(|end| self.buffer.get(start..end))
            .ok_or_else(|| out(self.page_size))
    }
}
