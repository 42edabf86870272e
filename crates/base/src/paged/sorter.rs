//! [`Sorter`]: puts rows into order of which there may be more than memory has room for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Paging, Stored, codec};

/// Rows that are sorted at a time.
const RUN: usize = 1 << 17;

/// Rows of a run that are in memory while runs are merged.
const PART: usize = 512;

/// Collects rows and gives them back in ascending order: sorted by parts, which are packed, and
/// merged.
pub struct Sorter<const N: usize> {
    paging: Paging,
    rows: Vec<[u64; N]>,
    runs: Vec<Run>,
}

/// Rows in order, packed.
#[derive(Default)]
struct Run {
    /// With the number of rows of each.
    parts: std::collections::VecDeque<(usize, Stored)>,
}

impl<const N: usize> Sorter<N> {
    /// No rows.
    #[must_use]
    pub fn new(paging: &Paging) -> Self {
        Self { paging: paging.clone(), rows: Vec::new(), runs: Vec::new() }
    }

    /// Adds a row.
    pub fn push(&mut self, row: [u64; N]) {
        self.rows.push(row);
        if self.rows.len() >= RUN {
            self.end_run();
        }
    }

    /// The rows in order.
    #[must_use]
    pub fn finish(mut self) -> Sorted<N> {
        if !self.runs.is_empty() {
            self.end_run();
            self.rows = Vec::new();
        }
        self.rows.sort_unstable();
        let mut sorted = Sorted {
            paging: self.paging,
            rows: self.rows.into_iter(),
            runs: self.runs.into_iter().map(|run| (run, Vec::new().into_iter())).collect(),
            heads: BinaryHeap::new(),
            bytes: Vec::new(),
        };
        for run in 0..sorted.runs.len() {
            sorted.advance(run);
        }
        sorted
    }

    fn end_run(&mut self) {
        self.rows.sort_unstable();
        let (mut bytes, mut room) = (Vec::new(), codec::Room::default());
        let mut run = Run::default();
        for part in self.rows.chunks(PART) {
            bytes.clear();
            codec::encode(part.as_flattened(), N, &mut room, &mut bytes);
            run.parts.push_back((part.len(), self.paging.put(&bytes, Stored::Nothing)));
        }
        self.rows.clear();
        self.runs.push(run);
    }
}

/// Rows in ascending order.
pub struct Sorted<const N: usize> {
    paging: Paging,
    /// All of them where they were few.
    rows: std::vec::IntoIter<[u64; N]>,
    runs: Vec<(Run, std::vec::IntoIter<[u64; N]>)>,
    /// The next row of each run.
    heads: BinaryHeap<Reverse<([u64; N], usize)>>,
    bytes: Vec<u8>,
}

impl<const N: usize> Sorted<N> {
    /// Takes the next row of a run to the heads.
    fn advance(&mut self, number: usize) {
        let Some((run, rows)) = self.runs.get_mut(number) else { return };
        if rows.len() == 0
            && let Some((len, stored)) = run.parts.pop_front()
        {
            let mut part = vec![[0; N]; len];
            self.paging.read(&stored, &mut self.bytes, N, part.as_flattened_mut());
            self.paging.release(&stored);
            *rows = part.into_iter();
        }
        if let Some(row) = rows.next() {
            self.heads.push(Reverse((row, number)));
        }
    }
}

impl<const N: usize> Iterator for Sorted<N> {
    type Item = [u64; N];

    fn next(&mut self) -> Option<[u64; N]> {
        if self.runs.is_empty() {
            return self.rows.next();
        }
        let Reverse((row, run)) = self.heads.pop()?;
        self.advance(run);
        Some(row)
    }
}

impl<const N: usize> Drop for Sorted<N> {
    fn drop(&mut self) {
        for (_, stored) in self.runs.iter().flat_map(|(run, _)| &run.parts) {
            self.paging.release(stored);
        }
    }
}
