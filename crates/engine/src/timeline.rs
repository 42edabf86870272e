//! Time by context over stretches of time, and pictures of it.

use parallax_base::{Control, TimeWindow, threads};
use parallax_model::{TraceStore, whole_bins};

use crate::{EngineError, LocationChoice, Session};

/// What contexts take of a window, added up over tracks; by position in the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextSums {
    /// How often each was entered; zeros for traces of samples.
    pub calls: Vec<u64>,
    /// Nanoseconds during which each was the active one. The root has the time in which nothing
    /// ran between the first and the last call of a track.
    pub nanos: Vec<u64>,
}

impl ContextSums {
    fn zeros(len: usize) -> Self {
        Self { calls: vec![0; len], nanos: vec![0; len] }
    }

    fn add(&mut self, other: &Self) {
        for (sum, more) in self.calls.iter_mut().zip(&other.calls) {
            *sum += more;
        }
        for (sum, more) in self.nanos.iter_mut().zip(&other.nanos) {
            *sum += more;
        }
    }
}

/// A picture of tracks over time: one cell for each track and bin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tile {
    /// Bins are 2^exponent nanoseconds long; bin b begins at b · 2^exponent.
    pub exponent: u8,
    /// Number of the first bin.
    pub first_bin: u64,
    /// Bins of each track.
    pub num_bins: usize,
    /// By track and bin, tracks one after the other.
    pub cells: Vec<TileCell>,
}

/// What a track did in a bin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TileCell {
    /// What had most of the time, by the numbers that the question gave; `None` where nothing that
    /// it asks for ran.
    pub dominant: Option<u32>,
    /// Time of it.
    pub dominant_nanos: u64,
    /// Time in which anything that the question asks for ran.
    pub busy_nanos: u64,
    /// How often contexts were entered.
    pub calls: u64,
    /// Depth of the deepest context that was active or entered; 0 where none was.
    pub depth: u32,
}

/// Most cells of one tile.
pub const MAX_TILE_CELLS: usize = 1 << 24;

impl Session {
    /// What each context takes of `window`, cut exactly at its edges, added up over the chosen
    /// locations.
    ///
    /// # Errors
    /// When there are no traces, they cannot be read, or the question is withdrawn.
    pub fn context_sums(
        &self,
        locations: &LocationChoice,
        window: TimeWindow,
        control: &Control,
    ) -> Result<ContextSums, EngineError> {
        let store = self.traces()?;
        let tree = self.tree();
        let tracks: Vec<usize> = self.chosen_tracks(store, locations);
        let weight = |i: usize| {
            tracks.get(i).and_then(|&t| store.tracks().get(t)).map_or(0, |t| t.num_samples)
        };
        let ranges = threads::ranges(tracks.len(), weight);
        control.begin(tracks.len() as u64);
        let parts = threads::map(ranges, |range| -> Result<ContextSums, EngineError> {
            let mut sums = ContextSums::zeros(tree.len());
            for &track in tracks.get(range).unwrap_or_default() {
                store.sums(track, window, &mut |time| {
                    let Some(context) = tree.by_source_id(time.context) else { return };
                    if let Some(nanos) = sums.nanos.get_mut(context.idx()) {
                        *nanos += time.nanos;
                    }
                    if let Some(calls) = sums.calls.get_mut(context.idx()) {
                        *calls += time.calls;
                    }
                })?;
                control.advance(1)?;
            }
            Ok(sums)
        });
        let mut sum = ContextSums::zeros(tree.len());
        for part in parts {
            sum.add(&part?);
        }
        Ok(sum)
    }

    /// A picture of `tracks` (by their place in the store) over `window` grown to whole bins of
    /// 2^`exponent` nanoseconds. `key_of` gives each context, by position, the number of what it
    /// counts to, such as its function or its group; `None` leaves it out. Exact: every cell is
    /// decided by all time in it.
    ///
    /// # Errors
    /// When there are no traces, they cannot be read, there would be more than
    /// [`MAX_TILE_CELLS`] cells, or the question is withdrawn.
    pub fn tile(
        &self,
        tracks: &[usize],
        window: TimeWindow,
        exponent: u8,
        key_of: &[Option<u32>],
        control: &Control,
    ) -> Result<Tile, EngineError> {
        let store = self.traces()?;
        let exponent = exponent.min(63);
        let whole = whole_bins(window.intersect(store_window(store)), exponent);
        let first_bin = whole.start_nanos >> exponent;
        let num_bins = if whole.is_empty() {
            0
        } else {
            usize::try_from(((whole.end_nanos - 1) >> exponent) - first_bin + 1)
                .unwrap_or(usize::MAX)
        };
        let num_cells = num_bins.saturating_mul(tracks.len());
        if num_cells > MAX_TILE_CELLS {
            return Err(EngineError::Missing {
                what: format!("{num_cells} cells are more than a picture has"),
                hint: "ask for fewer tracks, a shorter window or longer bins".into(),
            });
        }
        let num_keys = key_of.iter().flatten().max().map_or(0, |&key| key as usize + 1);
        control.begin(tracks.len() as u64);
        let ranges = threads::ranges(tracks.len(), |_| 1);
        let parts = threads::map(ranges, |range| -> Result<Vec<TileCell>, EngineError> {
            let own = tracks.get(range).unwrap_or_default();
            let mut cells = vec![TileCell::default(); own.len() * num_bins];
            let mut sums = KeySums::new(num_keys);
            for (nth, &track) in own.iter().enumerate() {
                let row = cells.get_mut(nth * num_bins..(nth + 1) * num_bins);
                let Some(row) = row else { continue };
                self.fill(store, track, whole, exponent, key_of, &mut sums, row)?;
                control.advance(1)?;
            }
            Ok(cells)
        });
        let mut cells = Vec::with_capacity(num_cells);
        for part in parts {
            cells.extend(part?);
        }
        Ok(Tile { exponent, first_bin, num_bins, cells })
    }

    #[expect(clippy::too_many_arguments, reason = "one place, and all of them differ in kind")]
    fn fill(
        &self,
        store: &dyn TraceStore,
        track: usize,
        window: TimeWindow,
        exponent: u8,
        key_of: &[Option<u32>],
        sums: &mut KeySums,
        row: &mut [TileCell],
    ) -> Result<(), EngineError> {
        let tree = self.tree();
        let first = window.start_nanos >> exponent;
        let mut current = None;
        store.bins(track, window, exponent, &mut |bin, time| {
            let Some(at) = bin.checked_sub(first).and_then(|at| usize::try_from(at).ok()) else {
                return;
            };
            if current != Some(at) {
                sums.finish(current.and_then(|at| row.get_mut(at)));
                current = Some(at);
            }
            let Some(context) = tree.by_source_id(time.context) else { return };
            let Some(Some(key)) = key_of.get(context.idx()).copied() else { return };
            if let Some(cell) = row.get_mut(at) {
                cell.busy_nanos += time.nanos;
                cell.calls += time.calls;
                cell.depth = cell.depth.max(tree.depth(context));
            }
            sums.add(key, time.nanos);
        })?;
        sums.finish(current.and_then(|at| row.get_mut(at)));
        Ok(())
    }
}

/// The store's span with its last moment inside.
fn store_window(store: &dyn TraceStore) -> TimeWindow {
    let span = store.span();
    TimeWindow::new(span.start_nanos, span.end_nanos.saturating_add(1))
}

/// Time by key in one bin; reused from bin to bin.
struct KeySums {
    nanos: Vec<u64>,
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
        *sum += nanos;
    }

    /// Decides the cell and begins the next bin. Of equal times the smaller number wins.
    fn finish(&mut self, cell: Option<&mut TileCell>) {
        let mut best: Option<(u32, u64)> = None;
        for key in self.touched.drain(..) {
            let nanos = self.nanos.get_mut(key as usize).map_or(0, std::mem::take);
            let is_better = best.is_none_or(|(known, most)| {
                nanos > most || (nanos == most && nanos > 0 && key < known)
            });
            if is_better {
                best = Some((key, nanos));
            }
        }
        if let (Some(cell), Some((key, nanos))) = (cell, best) {
            (cell.dominant, cell.dominant_nanos) = (Some(key), nanos);
        }
    }
}
