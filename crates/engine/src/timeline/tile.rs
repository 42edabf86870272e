//! Pictures of tracks over time.

use std::collections::{BTreeMap, HashMap};

use parallax_base::{Control, TimeWindow, TrackIdx, threads};
use parallax_model::{BinTime, TraceStore, whole_bins};

use super::{TrackRange, store_window, tracks_of};
use crate::{EngineError, Session};

/// Most cells of one picture.
pub const MAX_TILE_CELLS: usize = 1 << 24;

/// Bins of 2^`exponent` nanoseconds over a time window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bins {
    /// Bins are 2^exponent nanoseconds long; bin b begins at b · 2^exponent.
    pub exponent: u8,
    /// Number of the first bin.
    pub first: u64,
    /// How many there are.
    pub len: usize,
}

impl Bins {
    /// Bins of 2^`exponent` nanoseconds that `window` reaches into.
    #[must_use]
    pub fn new(window: TimeWindow, exponent: u8) -> Self {
        let exponent = exponent.min(63);
        if window.is_empty() {
            return Self { exponent, first: 0, len: 0 };
        }
        let first = window.start_nanos >> exponent;
        let last = (window.end_nanos - 1) >> exponent;
        let len = usize::try_from(last - first).ok().and_then(|n| n.checked_add(1));
        Self { exponent, first, len: len.unwrap_or(usize::MAX) }
    }

    /// The shortest bins of which `window` has at most `most` (at least one).
    #[must_use]
    pub fn at_most(window: TimeWindow, most: usize) -> Self {
        let fits = |exponent: &u8| Self::new(window, *exponent).len <= most.max(1);
        // At 63 there are at most two bins.
        let exponent = (0..=63).find(fits).unwrap_or(63);
        Self::new(window, exponent)
    }

    /// Length of a bin in nanoseconds.
    #[must_use]
    pub fn nanos(&self) -> u64 {
        1 << self.exponent
    }

    /// The bin of a moment, counted from the first one; `None` outside.
    #[must_use]
    pub fn of(&self, nanos: u64) -> Option<usize> {
        let at = usize::try_from((nanos >> self.exponent).checked_sub(self.first)?).ok()?;
        (at < self.len).then_some(at)
    }
}

/// What a picture is asked to show.
#[derive(Debug, Clone, Copy)]
pub struct TileQuestion<'a> {
    /// Rows of the picture; each adds its tracks up.
    pub rows: &'a [TrackRange],
    /// When; it is grown to whole bins.
    pub window: TimeWindow,
    /// Bins are 2^exponent nanoseconds long.
    pub exponent: u8,
    /// For each context, by position, the number of what it counts to, such as its function or its
    /// group; `None` leaves it out.
    pub key_of: &'a [Option<u32>],
    /// For each context, by position, its depth.
    pub depth_of: &'a [u32],
}

/// A picture of tracks over time: one cell for each row and bin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tile {
    /// The bins of each row.
    pub bins: Bins,
    /// By row and bin, rows one after the other.
    pub cells: Vec<TileCell>,
}

/// What the tracks of a row did in a bin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TileCell {
    /// What had most of the time, by the numbers that the question gave; `None` where nothing that
    /// it asks for ran.
    pub dominant: Option<u32>,
    /// Time of it.
    pub dominant_nanos: u128,
    /// Time in which anything that the question asks for ran.
    pub busy_nanos: u128,
    /// How often contexts were entered.
    pub calls: u64,
    /// Depth of the deepest context that was active or entered; 0 where none was.
    pub depth: u32,
}

impl TileCell {
    /// Makes `key` the dominant one if it has more time; of equal times the smaller number wins.
    fn offer(&mut self, key: u32, nanos: u128) {
        let is_more = self.dominant.is_none_or(|known| {
            nanos > self.dominant_nanos || (nanos == self.dominant_nanos && key < known)
        });
        if nanos > 0 && is_more {
            (self.dominant, self.dominant_nanos) = (Some(key), nanos);
        }
    }
}

impl Session {
    /// A picture of tracks over time. Exact: every cell is decided by all time in it.
    ///
    /// # Errors
    /// When there are no traces, they cannot be read, there would be more than
    /// [`MAX_TILE_CELLS`] cells, or the question is withdrawn.
    pub fn tile(
        &self,
        question: &TileQuestion<'_>,
        control: &Control,
    ) -> Result<Tile, EngineError> {
        let store = self.traces()?;
        let exponent = question.exponent.min(63);
        let whole = whole_bins(question.window.intersect(store_window(store)), exponent);
        let bins = Bins::new(whole, exponent);
        let num_cells = bins.len.saturating_mul(question.rows.len());
        if num_cells > MAX_TILE_CELLS {
            return Err(EngineError::Missing {
                what: format!("{num_cells} cells are more than a picture has"),
                hint: "ask for fewer tracks, a shorter window or longer bins".into(),
            });
        }
        let num_keys = question.key_of.iter().flatten().max().map_or(0, |&key| key as usize + 1);
        let shown = self.shown(question);
        let weight = |row: usize| {
            question
                .rows
                .get(row)
                .map_or(0, |range| u64::from(range.end.get().saturating_sub(range.start.get())))
        };
        control.begin((0..question.rows.len()).map(weight).sum());
        let ranges = threads::ranges(question.rows.len(), weight);
        let parts = threads::map(ranges, |range| -> Result<Vec<TileCell>, EngineError> {
            let own = question.rows.get(range).unwrap_or_default();
            let mut cells = vec![TileCell::default(); own.len() * bins.len];
            let view = View { shown: &shown, whole, bins, store };
            let mut painter = Painter { view, num_keys, sums: KeySums::new(num_keys) };
            for (nth, tracks) in own.iter().enumerate() {
                let row = cells.get_mut(nth * bins.len..(nth + 1) * bins.len);
                let Some(row) = row else { continue };
                let tracks = tracks_of(store, std::slice::from_ref(tracks));
                painter.row(&tracks, row, control)?;
            }
            Ok(cells)
        });
        let mut cells = Vec::with_capacity(num_cells);
        for part in parts {
            cells.extend(part?);
        }
        Ok(Tile { bins, cells })
    }

    /// Key and depth of each context, by its id in the source.
    fn shown(&self, question: &TileQuestion<'_>) -> Shown {
        let tree = self.tree();
        let highest = tree.source_ids().iter().max().map_or(0, |&id| id as usize + 1);
        // Ids of damaged files may be huge.
        let len = highest.min(tree.len().saturating_mul(64).max(1 << 16));
        let mut shown = Shown { dense: vec![(NO_KEY, 0); len], sparse: HashMap::new() };
        for ((&id, key), &depth) in
            tree.source_ids().iter().zip(question.key_of).zip(question.depth_of)
        {
            let Some(key) = key else { continue };
            match shown.dense.get_mut(id as usize) {
                Some(place) => *place = (*key, depth),
                None => {
                    shown.sparse.insert(id, (*key, depth));
                }
            }
        }
        shown
    }
}

/// Key and depth of contexts by their ids in the source: one place to look for nearly each piece.
struct Shown {
    dense: Vec<(u32, u32)>,
    /// Ids that are too large for that.
    sparse: HashMap<u32, (u32, u32)>,
}

impl Shown {
    fn get(&self, id: u32) -> Option<(u32, u32)> {
        self.dense.get(id as usize).copied().or_else(|| self.sparse.get(&id).copied())
    }
}

/// Fills rows.
struct Painter<'a> {
    view: View<'a>,
    num_keys: usize,
    sums: KeySums,
}

/// The time window of a trace that is shown.
#[derive(Clone, Copy)]
struct View<'a> {
    shown: &'a Shown,
    whole: TimeWindow,
    bins: Bins,
    store: &'a dyn TraceStore,
}

/// The key of what is left out.
const NO_KEY: u32 = u32::MAX;

const NO_LINE: usize = usize::MAX;

/// Keys that have a line of sums over all bins of a row; of more, only the bins that they are in
/// are kept.
const MOST_LINES: usize = 4096;

impl Painter<'_> {
    fn row(
        &mut self,
        tracks: &[TrackIdx],
        row: &mut [TileCell],
        control: &Control,
    ) -> Result<(), EngineError> {
        if row.is_empty() {
            return Ok(());
        }
        if let [track] = *tracks {
            let mut current = usize::MAX;
            let (sums, view) = (&mut self.sums, self.view);
            view.visit(track, row, &mut |row, at, key, nanos| {
                if current != at {
                    sums.finish(row.get_mut(current));
                    current = at;
                }
                sums.add(key, nanos);
            })?;
            sums.finish(row.get_mut(current));
            control.advance(1)?;
            return Ok(());
        }
        // Time by key and bin of all tracks; only keys that are there have a line.
        let mut line_of = vec![NO_LINE; self.num_keys];
        let mut lines: Vec<(u32, Vec<u64>)> = Vec::new();
        let mut rest: BTreeMap<(u32, usize), u128> = BTreeMap::new();
        let len = row.len();
        for &track in tracks {
            self.view.visit(track, row, &mut |_, at, key, nanos| {
                let Some(line) = line_of.get_mut(key as usize) else { return };
                if *line == NO_LINE && lines.len() >= MOST_LINES {
                    *rest.entry((key, at)).or_insert(0) += u128::from(nanos);
                    return;
                }
                if *line == NO_LINE {
                    *line = lines.len();
                    lines.push((key, vec![0; len]));
                }
                if let Some(sum) = lines.get_mut(*line).and_then(|(_, line)| line.get_mut(at)) {
                    // What 64 bits cannot hold is kept next to the line.
                    let (more, is_over) = sum.overflowing_add(nanos);
                    *sum = more;
                    if is_over {
                        *rest.entry((key, at)).or_insert(0) += 1 << u64::BITS;
                    }
                }
            })?;
            control.advance(1)?;
        }
        for (key, line) in lines {
            for (at, (cell, nanos)) in row.iter_mut().zip(line).enumerate() {
                cell.offer(key, u128::from(nanos) + rest.remove(&(key, at)).unwrap_or(0));
            }
        }
        for ((key, at), nanos) in rest {
            if let Some(cell) = row.get_mut(at) {
                cell.offer(key, nanos);
            }
        }
        Ok(())
    }
}

impl View<'_> {
    /// Adds a track to its row, and tells `dominant` the row, bin, key and time of each piece.
    fn visit(
        &self,
        track: TrackIdx,
        row: &mut [TileCell],
        dominant: &mut impl FnMut(&mut [TileCell], usize, u32, u64),
    ) -> Result<(), EngineError> {
        let Bins { first, exponent, .. } = self.bins;
        self.store.bins(track, self.whole, exponent, &mut |times| {
            for &BinTime { bin, time } in times {
                let Ok(at) = usize::try_from(bin.wrapping_sub(first)) else { continue };
                let Some((key, depth)) = self.shown.get(time.context) else { continue };
                let Some(cell) = row.get_mut(at).filter(|_| key != NO_KEY) else { continue };
                cell.busy_nanos += u128::from(time.nanos);
                cell.calls += time.calls;
                cell.depth = cell.depth.max(depth);
                dominant(row, at, key, time.nanos);
            }
        })?;
        Ok(())
    }
}

/// Time by key in one bin; reused from bin to bin.
struct KeySums {
    nanos: Vec<u128>,
    touched: Vec<u32>,
}

impl KeySums {
    fn new(num_keys: usize) -> Self {
        Self { nanos: vec![0; num_keys], touched: Vec::new() }
    }

    fn add(&mut self, key: u32, nanos: u64) {
        let Some(sum) = self.nanos.get_mut(key as usize) else { return };
        if *sum == 0 {
            self.touched.push(key);
        }
        *sum += u128::from(nanos);
    }

    /// Decides the cell and begins the next bin.
    fn finish(&mut self, mut cell: Option<&mut TileCell>) {
        for key in self.touched.drain(..) {
            let nanos = self.nanos.get_mut(key as usize).map_or(0, std::mem::take);
            if let Some(cell) = cell.as_deref_mut() {
                cell.offer(key, nanos);
            }
        }
    }
}
