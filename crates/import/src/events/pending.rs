//! What waits until a batch is worth writing: calls and costs of small tracks, and which tracks
//! were fed at all.
//!
//! A batch of an Arrow file takes some hundred bytes by itself. A trace of 100,000 threads with one
//! call each would consist of little else if each had batches of its own.

use std::collections::BTreeMap;

use parallax_formats::archive::table::ColumnData;
use parallax_formats::archive::{
    ArchiveWriter, CountRow, IntervalRow, ProfileRow, Record, WriteError,
};

use super::track::{Batch, Spent};

/// Rows of a batch that several tracks share.
const SHARED_ROWS: usize = 1024;

/// Tracks that were fed.
#[derive(Debug, Clone, Default)]
pub(super) struct Touched {
    are_all: bool,
    is_touched: Vec<bool>,
    list: Vec<u32>,
}

impl Touched {
    /// A track is fed.
    pub(super) fn touch(&mut self, track: u32) {
        let at = track as usize;
        if at >= self.is_touched.len() {
            self.is_touched.resize(at + 1, false);
        }
        if let Some(is_touched) = self.is_touched.get_mut(at)
            && !std::mem::replace(is_touched, true)
        {
            self.list.push(track);
        }
    }

    /// Any track may be fed.
    pub(super) const fn touch_all(&mut self) {
        self.are_all = true;
    }

    /// The tracks that were fed since, ascending.
    pub(super) fn take(&mut self, num_tracks: usize) -> Vec<usize> {
        let mut list = std::mem::take(&mut self.list);
        for &track in &list {
            if let Some(is_touched) = self.is_touched.get_mut(track as usize) {
                *is_touched = false;
            }
        }
        if std::mem::take(&mut self.are_all) {
            return (0..num_tracks).collect();
        }
        list.sort_unstable();
        list.into_iter().map(|track| track as usize).filter(|&at| at < num_tracks).collect()
    }
}

/// Calls of small nodes, which share a batch: it is in the order of tracks, and has one node of
/// each at most.
#[derive(Debug, Clone, Default)]
pub(super) struct PendingIntervals {
    /// The track that was added last.
    last: Option<u32>,
    tracks: Vec<u32>,
    contexts: Vec<u32>,
    starts: Vec<u64>,
    ends: Vec<u64>,
    /// Batches that were written.
    written: u32,
}

impl PendingIntervals {
    /// Takes the calls of a node; returns the number of their batch. `map` has the archive's
    /// contexts of those of the track.
    pub(super) fn add(
        &mut self,
        track: u32,
        batch: &Batch,
        map: &[u32],
        writer: &mut ArchiveWriter,
    ) -> Result<u32, WriteError> {
        let rows = &batch.intervals;
        let is_next = self.last.is_none_or(|last| last < track);
        if !is_next || !batch.is_small() || self.tracks.len() + rows.len() > SHARED_ROWS {
            self.flush(writer)?;
        }
        self.tracks.extend(rows.iter().map(|_| track));
        let context = |local: u32| map.get(local as usize).copied().unwrap_or(0);
        self.contexts.extend(rows.iter().map(|row| context(row.context)));
        self.starts.extend(rows.iter().map(|row| row.start_nanos));
        self.ends.extend(rows.iter().map(|row| row.end_nanos));
        self.last = Some(track);
        let number = self.written;
        if !batch.is_small() {
            self.flush(writer)?;
        }
        Ok(number)
    }

    /// Writes what waits.
    pub(super) fn flush(&mut self, writer: &mut ArchiveWriter) -> Result<(), WriteError> {
        if self.last.take().is_none() {
            return Ok(());
        }
        let columns = vec![
            ColumnData::U32(std::mem::take(&mut self.tracks)),
            ColumnData::U32(std::mem::take(&mut self.contexts)),
            ColumnData::U64(std::mem::take(&mut self.starts)),
            ColumnData::U64(std::mem::take(&mut self.ends)),
        ];
        self.written += 1;
        writer.write_columns(IntervalRow::LAYOUT, columns)
    }
}

/// Costs of tracks, which come in order and share batches.
#[derive(Debug, Clone, Default)]
pub(super) struct PendingProfile {
    rows: Vec<ProfileRow>,
    counts: Vec<CountRow>,
}

impl PendingProfile {
    /// Takes what a track spent in its contexts.
    pub(super) fn add(
        &mut self,
        track: u32,
        spent: &[Spent],
        map: &[u32],
        writer: &mut ArchiveWriter,
    ) -> Result<(), WriteError> {
        let rows = spent.iter().zip(map);
        let rows = rows.filter(|(spent, _)| spent.calls > 0 || spent.exclusive_nanos > 0);
        self.rows.extend(rows.map(|(spent, &context)| ProfileRow {
            track,
            context,
            calls: spent.calls,
            exclusive_nanos: spent.exclusive_nanos,
            inclusive_nanos: spent.inclusive_nanos,
        }));
        if self.rows.len() >= SHARED_ROWS { self.flush(writer) } else { Ok(()) }
    }

    /// Takes how often events happened in the contexts of a track.
    pub(super) fn add_counts(
        &mut self,
        track: u32,
        counted: &BTreeMap<(u32, u32), u64>,
        map: &[u32],
        writer: &mut ArchiveWriter,
    ) -> Result<(), WriteError> {
        self.counts.extend(counted.iter().filter_map(|(&(context, counter), &count)| {
            let context = *map.get(context as usize)?;
            Some(CountRow { track, context, counter, count })
        }));
        if self.counts.len() >= SHARED_ROWS { self.flush_counts(writer) } else { Ok(()) }
    }

    fn flush_counts(&mut self, writer: &mut ArchiveWriter) -> Result<(), WriteError> {
        if self.counts.is_empty() {
            return Ok(());
        }
        writer.write(std::mem::take(&mut self.counts))
    }

    /// Writes what waits.
    pub(super) fn flush(&mut self, writer: &mut ArchiveWriter) -> Result<(), WriteError> {
        self.flush_counts(writer)?;
        if self.rows.is_empty() {
            return Ok(());
        }
        writer.write(std::mem::take(&mut self.rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_looks_at_what_was_fed_however_many_tracks_there_are() {
        let mut touched = Touched::default();
        for track in [900_000, 7, 900_000, 12] {
            touched.touch(track);
        }
        assert_eq!(touched.take(1_000_000), [7, 12, 900_000]);
        assert!(touched.take(1_000_000).is_empty());
        touched.touch(3);
        touched.touch_all();
        assert_eq!(touched.take(5).len(), 5);
        assert!(touched.take(5).is_empty());
    }
}
