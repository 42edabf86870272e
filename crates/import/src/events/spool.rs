//! [`Spool`]: texts that wait until their call is fed, on the disk where there is one.

use std::io;
use std::sync::Arc;

use parallax_base::{FolderSink, Source};

use super::sorter::SCRATCH;

/// Bytes that may wait in memory where there is no disk.
const MOST_IN_MEMORY: usize = if usize::BITS < 64 { 256 << 20 } else { 2 << 30 };

/// Bytes that are read at once: calls of a track lie near each other.
const WINDOW: usize = 1 << 16;

/// Takes texts one after the other, and gives them back by their place.
pub(crate) struct Spool {
    sink: Arc<dyn FolderSink>,
    /// Begin of the names of its files.
    name: &'static str,
    files: Vec<Part>,
    /// What is in no file yet, and the place of its first byte.
    rest: Vec<u8>,
    rest_from: u64,
    /// Bytes in memory at most.
    most: usize,
    can_spill: bool,
    /// What was read last: place and bytes.
    window: (u64, Vec<u8>),
}

struct Part {
    path: String,
    source: Source,
    from: u64,
    len: u64,
}

impl Spool {
    pub(crate) fn new(sink: Arc<dyn FolderSink>, name: &'static str, memory_bytes: usize) -> Self {
        Self {
            sink,
            name,
            files: Vec::new(),
            rest: Vec::new(),
            rest_from: 0,
            most: memory_bytes.max(WINDOW),
            can_spill: true,
            window: (0, Vec::new()),
        }
    }

    /// Takes a text; gives its place, or nothing where there is no room for it.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> io::Result<Option<u64>> {
        if self.rest.len() >= self.most && self.can_spill {
            self.spill()?;
        }
        let Ok(len) = u32::try_from(bytes.len()) else { return Ok(None) };
        if self.rest.len().saturating_add(bytes.len()) > MOST_IN_MEMORY {
            return Ok(None);
        }
        let place = self.rest_from + self.rest.len() as u64;
        self.rest.extend_from_slice(&len.to_be_bytes());
        self.rest.extend_from_slice(bytes);
        Ok(Some(place))
    }

    fn spill(&mut self) -> io::Result<()> {
        let path = format!("{}-{}{SCRATCH}", self.name, self.files.len());
        let mut file = self.sink.create(&path)?;
        file.write_all(&self.rest)?;
        file.flush()?;
        drop(file);
        let Some(source) = self.sink.reopen(&path)? else {
            self.can_spill = false;
            return self.sink.remove(&path);
        };
        let len = self.rest.len() as u64;
        self.files.push(Part { path, source, from: self.rest_from, len });
        self.rest_from += len;
        self.rest.clear();
        Ok(())
    }

    /// The text at a place that [`Spool::push`] gave.
    pub(crate) fn get(&mut self, place: u64) -> io::Result<Vec<u8>> {
        let head = self.read(place, 4)?;
        let len = head.first_chunk::<4>().map_or(0, |len| u32::from_be_bytes(*len));
        self.read(place + 4, len as usize)
    }

    fn read(&mut self, place: u64, len: usize) -> io::Result<Vec<u8>> {
        let part = |bytes: &[u8], from: u64| {
            let start = usize::try_from(place.checked_sub(from)?).ok()?;
            bytes.get(start..start.checked_add(len)?).map(<[u8]>::to_vec)
        };
        if let Some(found) = part(&self.rest, self.rest_from) {
            return Ok(found);
        }
        if let Some(found) = part(&self.window.1, self.window.0) {
            return Ok(found);
        }
        let lost = || io::Error::other("a text that waits is not there any more");
        let after = self.files.partition_point(|file| file.from <= place);
        let file = after.checked_sub(1).and_then(|at| self.files.get(at)).ok_or_else(lost)?;
        let left = (file.from + file.len).saturating_sub(place);
        let wanted = left.min(WINDOW.max(len) as u64);
        let mut bytes = vec![0; usize::try_from(wanted).map_err(io::Error::other)?];
        file.source.read_at(place - file.from, &mut bytes).map_err(io::Error::other)?;
        self.window = (place, bytes);
        part(&self.window.1, self.window.0).ok_or_else(lost)
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        for Part { path, source, .. } in self.files.drain(..) {
            drop(source);
            // What stays is removed with the folder, or does no harm in it.
            let _ = self.sink.remove(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use parallax_base::MemorySink;
    use parallax_native::DiskSink;

    use super::*;

    fn comes_back(sink: Arc<dyn FolderSink>) {
        let mut spool = Spool::new(sink, "texts", 1);
        let text = |nth: usize| format!("{nth}").repeat(nth % 90);
        let places: Vec<u64> =
            (0..20_000).map(|nth| spool.push(text(nth).as_bytes()).unwrap().unwrap()).collect();
        // Forwards, as they are fed, and anywhere.
        for step in [1, 7_919] {
            for nth in (0..20_000).map(|nth| nth * step % 20_000) {
                assert_eq!(spool.get(places[nth]).unwrap(), text(nth).into_bytes());
            }
        }
        assert!(spool.get(u64::MAX / 2).is_err());
    }

    #[test]
    fn texts_come_back_wherever_they_waited() {
        comes_back(Arc::new(MemorySink::new()));
        let place = tempfile::tempdir().unwrap();
        let sink = Arc::new(DiskSink::new(&place.path().join("a")).unwrap());
        comes_back(Arc::clone(&sink) as _);
        sink.publish().unwrap();
        let left = std::fs::read_dir(place.path().join("a")).unwrap().count();
        assert_eq!(left, 0, "files are removed");
    }
}
