//! [`Sorter`]: more rows than fit into memory, in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::Arc;

use parallax_base::{FolderSink, Remedy, Source};

/// Bytes that are read of a run at once, at least.
const LEAST_BUFFER: usize = 1 << 12;

/// Bytes of rows that may wait in memory where there is no disk: what a browser has less of.
const MOST_IN_MEMORY: usize = if usize::BITS < 64 { 1 << 30 } else { 8 << 30 };

/// How the names of files end that are read back while an archive is written.
pub(crate) const SCRATCH: &str = ".scratch";

/// Sorts rows of `N` bytes by these bytes. What does not fit into memory waits in files of the sink;
/// where these cannot be read back, as in memory, everything stays in memory.
pub(crate) struct Sorter<const N: usize> {
    sink: Arc<dyn FolderSink>,
    /// Begin of the names of its files.
    name: &'static str,
    rows: Vec<[u8; N]>,
    /// Rows in memory at most.
    most: usize,
    runs: Vec<Run>,
    can_spill: bool,
    len: u64,
}

/// Rows in order, in a file.
#[derive(Clone)]
struct Run {
    path: String,
    source: Source,
    len: usize,
}

impl<const N: usize> Sorter<N> {
    /// A sorter that takes about `memory_bytes` of memory; names of its files begin with `name`.
    pub(crate) fn new(sink: Arc<dyn FolderSink>, name: &'static str, memory_bytes: usize) -> Self {
        let most = (memory_bytes / N.max(1)).max(1024);
        Self { sink, name, rows: Vec::new(), most, runs: Vec::new(), can_spill: true, len: 0 }
    }

    /// The same rows once more. Those in files are read there, and are only removed by this one.
    pub(crate) fn fork(&self, sink: &Arc<dyn FolderSink>) -> Self {
        Self {
            sink: Arc::clone(sink),
            name: self.name,
            rows: self.rows.clone(),
            most: self.most,
            runs: self.runs.clone(),
            // Files of both would have the same names.
            can_spill: false,
            len: self.len,
        }
    }

    /// Whether nothing was pushed.
    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Takes a row.
    pub(crate) fn push(&mut self, row: [u8; N]) -> io::Result<()> {
        self.rows.push(row);
        self.len += 1;
        if self.rows.len() >= self.most && self.can_spill {
            self.spill()?;
        }
        if self.rows.len() > MOST_IN_MEMORY / N.max(1) {
            return Err(io::Error::new(io::ErrorKind::OutOfMemory, self.too_many()));
        }
        Ok(())
    }

    #[cold]
    fn too_many(&self) -> String {
        format!(
            "{} rows of {} of the trace are more than the {} MiB of memory that may wait; {} on \
             disk and open that",
            self.rows.len(),
            self.name,
            MOST_IN_MEMORY >> 20,
            Remedy::Convert
        )
    }

    fn spill(&mut self) -> io::Result<()> {
        let path = format!("{}-{}{SCRATCH}", self.name, self.runs.len());
        if self.runs.is_empty() {
            // Asked once, before anything is sorted for it.
            drop(self.sink.create(&path)?);
            if self.sink.reopen(&path)?.is_none() {
                self.can_spill = false;
                return self.sink.remove(&path);
            }
        }
        self.rows.sort_unstable();
        let mut file = self.sink.create(&path)?;
        for row in &self.rows {
            file.write_all(row)?;
        }
        file.flush()?;
        drop(file);
        let Some(source) = self.sink.reopen(&path)? else {
            return Err(io::Error::other(format!("{path} cannot be read back")));
        };
        self.runs.push(Run { path, source, len: self.rows.len() });
        self.rows.clear();
        Ok(())
    }

    /// All rows in order.
    pub(crate) fn finish(mut self) -> io::Result<Sorted<N>> {
        self.rows.sort_unstable();
        let rest = std::mem::take(&mut self.rows);
        let buffer = self.most / (self.runs.len() + 1);
        let buffer = buffer.max(LEAST_BUFFER / N.max(1)).max(1);
        let mut runs: Vec<Reading<N>> = self
            .runs
            .drain(..)
            .map(|run| Reading { run: Some(run), next: 0, rows: Vec::new(), at: 0, buffer })
            .collect();
        runs.push(Reading { run: None, next: 0, rows: rest, at: 0, buffer });
        let mut heap = BinaryHeap::new();
        for (number, run) in runs.iter_mut().enumerate() {
            if let Some(row) = run.next()? {
                heap.push(Reverse((row, number)));
            }
        }
        Ok(Sorted { sink: Arc::clone(&self.sink), runs, heap })
    }
}

/// A run that is read from its start.
struct Reading<const N: usize> {
    run: Option<Run>,
    /// Rows that were read of it.
    next: usize,
    rows: Vec<[u8; N]>,
    at: usize,
    buffer: usize,
}

impl<const N: usize> Reading<N> {
    fn next(&mut self) -> io::Result<Option<[u8; N]>> {
        if self.at >= self.rows.len()
            && let Some(run) = &self.run
        {
            let count = self.buffer.min(run.len - self.next);
            let mut bytes = vec![0; count * N];
            run.source.read_at((self.next * N) as u64, &mut bytes).map_err(io::Error::other)?;
            self.next += count;
            self.at = 0;
            let (rows, _) = bytes.as_chunks::<N>();
            self.rows = rows.to_vec();
        }
        let row = self.rows.get(self.at).copied();
        self.at += 1;
        Ok(row)
    }
}

/// Rows in order. Files are removed when it is dropped.
pub(crate) struct Sorted<const N: usize> {
    sink: Arc<dyn FolderSink>,
    runs: Vec<Reading<N>>,
    heap: BinaryHeap<Reverse<([u8; N], usize)>>,
}

impl<const N: usize> Sorted<N> {
    /// The next row; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<[u8; N]>> {
        let Some(Reverse((row, number))) = self.heap.pop() else { return Ok(None) };
        let next = self.runs.get_mut(number).map(Reading::next).transpose()?.flatten();
        if let Some(next) = next {
            self.heap.push(Reverse((next, number)));
        }
        Ok(Some(row))
    }
}

impl<const N: usize> Drop for Sorted<N> {
    fn drop(&mut self) {
        for reading in self.runs.drain(..) {
            if let Some(run) = reading.run {
                drop(run.source);
                // What stays is removed with the folder, or does no harm in it.
                let _ = self.sink.remove(&run.path);
            }
        }
    }
}

/// Puts fields together as a row whose bytes are in the order of the fields.
pub(crate) struct Packer<const N: usize> {
    row: [u8; N],
    at: usize,
}

impl<const N: usize> Packer<N> {
    pub(crate) const fn new() -> Self {
        Self { row: [0; N], at: 0 }
    }

    fn bytes(mut self, bytes: &[u8]) -> Self {
        let end = self.at + bytes.len();
        debug_assert!(end <= N);
        if let Some(place) = self.row.get_mut(self.at..end) {
            place.copy_from_slice(bytes);
        }
        self.at = end;
        self
    }

    pub(crate) fn u8(self, value: u8) -> Self {
        self.bytes(&[value])
    }

    pub(crate) fn u32(self, value: u32) -> Self {
        self.bytes(&value.to_be_bytes())
    }

    pub(crate) fn u64(self, value: u64) -> Self {
        self.bytes(&value.to_be_bytes())
    }

    pub(crate) fn i64(self, value: i64) -> Self {
        self.u64(value.cast_unsigned() ^ (1 << 63))
    }

    pub(crate) fn finish(self) -> [u8; N] {
        debug_assert_eq!(self.at, N);
        self.row
    }
}

/// Takes a row apart again.
pub(crate) struct Unpacker<'r> {
    rest: &'r [u8],
}

impl<'r> Unpacker<'r> {
    pub(crate) const fn new(row: &'r [u8]) -> Self {
        Self { rest: row }
    }

    fn take<const M: usize>(&mut self) -> [u8; M] {
        let Some((head, rest)) = self.rest.split_first_chunk::<M>() else { return [0; M] };
        self.rest = rest;
        *head
    }

    pub(crate) fn u8(&mut self) -> u8 {
        self.take::<1>().first().copied().unwrap_or(0)
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from_be_bytes(self.take())
    }

    pub(crate) fn u64(&mut self) -> u64 {
        u64::from_be_bytes(self.take())
    }

    pub(crate) fn i64(&mut self) -> i64 {
        (self.u64() ^ (1 << 63)).cast_signed()
    }
}

#[cfg(test)]
mod tests {
    use parallax_base::MemorySink;
    use parallax_native::DiskSink;

    use super::*;

    fn sorted(sink: Arc<dyn FolderSink>) -> Vec<(i64, u32)> {
        let mut sorter = Sorter::<12>::new(sink, "test", 1);
        let mut number = 12_345_u64;
        for nth in 0..5_000 {
            // Any numbers will do, negative ones too.
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let row = Packer::new().i64((number >> 40) as i64 - (1 << 23)).u32(nth);
            sorter.push(row.finish()).unwrap();
        }
        let mut sorted = sorter.finish().unwrap();
        let mut out = Vec::new();
        while let Some(row) = sorted.next().unwrap() {
            let mut row = Unpacker::new(&row);
            out.push((row.i64(), row.u32()));
        }
        out
    }

    #[test]
    fn rows_are_in_order_wherever_they_waited() {
        let in_memory = sorted(Arc::new(MemorySink::new()));
        assert_eq!(in_memory.len(), 5_000);
        assert!(in_memory.is_sorted());
        assert!(in_memory[0].0 < 0 && in_memory[4_999].0 > 0);
        let place = tempfile::tempdir().unwrap();
        let sink = Arc::new(DiskSink::new(&place.path().join("a")).unwrap());
        assert_eq!(sorted(Arc::clone(&sink) as _), in_memory);
        sink.publish().unwrap();
        let left = std::fs::read_dir(place.path().join("a")).unwrap().count();
        assert_eq!(left, 0, "files are removed");
    }
}
