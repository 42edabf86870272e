//! [`select`]: some rows of a table, each written once, to where it stays.
//!
//! Threads take blocks of rows in their order. Each looks at the conditions, is told where its rows
//! begin when the block before knows how many it has, and copies them while the block is in the
//! processor's cache: the table is read once, and nothing is joined afterwards.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use datafusion::arrow::array::{Array as _, ArrayData, ArrayRef, UInt32Array, make_array};
use datafusion::arrow::buffer::{Buffer, ScalarBuffer};
use datafusion::arrow::compute::{concat, take_record_batch};
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use parallax_base::{Control, threads};

use super::rows::withdrawn;
use crate::kept::Keeper;

type Expr = Arc<dyn PhysicalExpr>;

/// Rows that a thread works on at a time: few enough that what is computed of them stays in its cache.
pub(super) const BLOCK_ROWS: usize = 1 << 14;

/// The rows of a table in blocks; at least one, so that there are arrays to join.
pub(super) fn blocks(rows: usize) -> Vec<Range<usize>> {
    let begins = (0..rows.max(1)).step_by(BLOCK_ROWS);
    begins.map(|begin| begin..rows.min(begin + BLOCK_ROWS)).collect()
}

/// Blocks that are looked at first, to know about how many rows there will be; and of how many blocks
/// one at most.
const SAMPLED: usize = 32;
const SAMPLED_OF: usize = 8;

/// Which rows of a block are chosen, by their places in it.
pub(super) struct Picks {
    places: Box<[u16; BLOCK_ROWS]>,
    len: usize,
}

impl Picks {
    pub(super) fn new() -> Self {
        Self { places: Box::new([0; BLOCK_ROWS]), len: 0 }
    }

    /// Chooses rows of a block: `chosen` says of each whether it is.
    pub(super) fn push(&mut self, chosen: impl Iterator<Item = bool>) {
        // Without branches: every place is written, and those of rows that are not chosen are
        // overwritten by the next.
        let mut len = 0;
        for (place, is_chosen) in (0_u16..).zip(chosen) {
            self.places[len % BLOCK_ROWS] = place;
            len += usize::from(is_chosen);
        }
        self.len = len;
    }

    /// Chooses the rows at these places, which ascend.
    pub(super) fn push_places(&mut self, chosen: impl Iterator<Item = u32>) {
        self.len = 0;
        for (to, place) in self.places.iter_mut().zip(chosen) {
            *to = u16::try_from(place).unwrap_or(u16::MAX);
            self.len += 1;
        }
    }

    /// Chooses all rows of a block.
    pub(super) fn push_all(&mut self, rows: usize) {
        self.push(std::iter::repeat_n(true, rows));
    }

    /// Leaves only some of the chosen rows.
    pub(super) fn retain(&mut self, is_chosen: impl Fn(usize) -> bool) {
        let mut len = 0;
        for at in 0..self.len {
            let place = self.places[at];
            self.places[len] = place;
            len += usize::from(is_chosen(usize::from(place)));
        }
        self.len = len;
    }

    /// The places of the chosen rows.
    pub(super) fn places(&self) -> &[u16] {
        &self.places[..self.len]
    }
}

/// Numbers of a column that has one in every row, by their width.
enum Numbers {
    Two(ScalarBuffer<u16>),
    Four(ScalarBuffer<u32>),
    Eight(ScalarBuffer<u64>),
}

impl Numbers {
    /// `None` for a column of something else.
    fn of(array: &ArrayRef) -> Option<Self> {
        let data = array.to_data();
        let width = data.data_type().primitive_width().filter(|_| data.null_count() == 0)?;
        let values = data.buffers().first()?;
        let values = values.slice_with_length(data.offset() * width, data.len() * width);
        Some(match width {
            2 => Self::Two(values.into()),
            4 => Self::Four(values.into()),
            8 => Self::Eight(values.into()),
            _ => return None,
        })
    }

    /// Room for so many of them.
    fn room(&self, rows: usize, keeper: &Keeper) -> Room {
        match self {
            Self::Two(_) => Room::Two(keeper.room(rows)),
            Self::Four(_) => Room::Four(keeper.room(rows)),
            Self::Eight(_) => Room::Eight(keeper.room(rows)),
        }
    }

    /// Copies the picks of a block.
    fn copy(&self, block: Range<usize>, picks: &[u16], to: Part<'_>) {
        match (self, to) {
            (Self::Two(all), Part::Two(to)) => copy(&all[block], picks, to),
            (Self::Four(all), Part::Four(to)) => copy(&all[block], picks, to),
            (Self::Eight(all), Part::Eight(to)) => copy(&all[block], picks, to),
            // Rooms are made of the columns that are copied to them.
            _ => {}
        }
    }
}

fn copy<T: Copy>(block: &[T], picks: &[u16], to: &mut [T]) {
    if picks.len() == block.len() {
        to.copy_from_slice(block);
    } else if let Ok(block) = <&[T; BLOCK_ROWS]>::try_from(block) {
        // The compiler sees that all places are in the block.
        for (to, &place) in to.iter_mut().zip(picks) {
            *to = block[usize::from(place) % BLOCK_ROWS];
        }
    } else {
        for (to, &place) in to.iter_mut().zip(picks) {
            *to = block[usize::from(place)];
        }
    }
}

/// Room for the numbers of a column.
enum Room {
    Two(Vec<u16>),
    Four(Vec<u32>),
    Eight(Vec<u64>),
}

impl Room {
    fn part(&mut self) -> Part<'_> {
        match self {
            Self::Two(all) => Part::Two(all),
            Self::Four(all) => Part::Four(all),
            Self::Eight(all) => Part::Eight(all),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Two(all) => all.len(),
            Self::Four(all) => all.len(),
            Self::Eight(all) => all.len(),
        }
    }

    fn into_buffer(self) -> Buffer {
        match self {
            Self::Two(all) => Buffer::from_vec(all),
            Self::Four(all) => Buffer::from_vec(all),
            Self::Eight(all) => Buffer::from_vec(all),
        }
    }
}

/// A part of a room.
enum Part<'r> {
    Two(&'r mut [u16]),
    Four(&'r mut [u32]),
    Eight(&'r mut [u64]),
}

impl Part<'_> {
    /// Takes so many numbers from the front.
    fn take(&mut self, rows: usize) -> Self {
        fn front<'r, T>(rest: &mut &'r mut [T], rows: usize) -> &'r mut [T] {
            let (front, back) = std::mem::take(rest).split_at_mut(rows);
            *rest = back;
            front
        }
        match self {
            Self::Two(rest) => Self::Two(front(rest, rows)),
            Self::Four(rest) => Self::Four(front(rest, rows)),
            Self::Eight(rest) => Self::Eight(front(rest, rows)),
        }
    }
}

/// Where the rows of blocks go, one block after the other.
struct Places<'r> {
    state: Mutex<State<'r>>,
    is_next: Condvar,
}

struct State<'r> {
    /// The block whose rows are next.
    next: usize,
    /// What is free of each column, and for how many rows.
    rest: Vec<Part<'r>>,
    free: usize,
    /// Rows of the blocks before, and how many of them have their places here.
    rows: usize,
    rows_here: usize,
    /// No block comes any more.
    is_stopped: bool,
}

/// Where the rows of a block go.
enum Place<'r> {
    /// Here, column by column.
    Here(Vec<Part<'r>>),
    /// There is no room; that of all later blocks is elsewhere, too.
    Elsewhere,
}

impl<'r> Places<'r> {
    fn locked(&self) -> MutexGuard<'_, State<'r>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The place of the rows of a block, once that of the blocks before is known; `None` when another
    /// thread stopped.
    fn of(&self, block: usize, rows: usize) -> Option<Place<'r>> {
        let is_early = |state: &mut State<'_>| state.next != block && !state.is_stopped;
        let state = self.is_next.wait_while(self.locked(), is_early);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        if state.is_stopped {
            return None;
        }
        state.next += 1;
        state.rows += rows;
        let place = match state.free.checked_sub(rows) {
            Some(free) => {
                state.free = free;
                state.rows_here += rows;
                Place::Here(state.rest.iter_mut().map(|part| part.take(rows)).collect())
            }
            None => {
                state.free = 0;
                state.rest.clear();
                Place::Elsewhere
            }
        };
        drop(state);
        self.is_next.notify_all();
        Some(place)
    }
}

/// Stops all threads when one of them ends before its work is done.
struct Stopping<'p, 'r> {
    places: &'p Places<'r>,
    is_done: bool,
}

impl Drop for Stopping<'_, '_> {
    fn drop(&mut self) {
        if !self.is_done {
            self.places.locked().is_stopped = true;
            self.places.is_next.notify_all();
        }
    }
}

/// Chosen rows of a block of which columns have yet to be made: all, or those that are computed.
struct Other {
    block: usize,
    places: Vec<u16>,
    is_here: bool,
}

/// About how many rows there will be, and some more: as many as there are of some blocks.
fn about(blocks: &[Range<usize>], pick: impl Fn(Range<usize>, &mut Picks) + Send + Sync) -> usize {
    let all = blocks.last().map_or(0, |last| last.end);
    let step = (blocks.len() / SAMPLED).max(SAMPLED_OF);
    let sampled: Vec<_> = blocks.iter().skip(step / 2).step_by(step).cloned().collect();
    if blocks.len() <= step || sampled.is_empty() {
        return all;
    }
    let count = sampled.len();
    let rows = threads::map(sampled, |block| {
        let mut picks = Picks::new();
        pick(block, &mut picks);
        picks.len
    });
    let rows = rows.into_iter().sum::<usize>().div_ceil(count) * blocks.len();
    (rows + rows / 8 + 2 * BLOCK_ROWS).min(all)
}

/// Chosen rows of a table.
pub(super) struct Selected {
    pub(super) rows: usize,
    pub(super) columns: Vec<ArrayRef>,
}

/// Some rows of a table: columns of it, and what is computed of them. `pick` gives the rows of a
/// block, and waits for nothing.
///
/// # Errors
/// When something cannot be computed, and when the statement was withdrawn.
pub(super) fn select(
    table: &RecordBatch,
    columns: &[Expr],
    pick: impl Fn(Range<usize>, &mut Picks) + Send + Sync,
    keeper: &Keeper,
    control: &Control,
) -> Result<Selected> {
    let own = |column: &Expr| {
        let column = table.columns().get(column.downcast_ref::<Column>()?.index())?;
        Numbers::of(column)
    };
    let own: Vec<Option<Numbers>> = columns.iter().map(own).collect();
    let copied: Vec<&Numbers> = own.iter().flatten().collect();
    let blocks = blocks(table.num_rows());
    let most = about(&blocks, &pick);
    let mut rooms = threads::map(copied.clone(), |numbers| numbers.room(most, keeper));
    let places = Places {
        state: Mutex::new(State {
            next: 0,
            rows_here: 0,
            rows: 0,
            free: rooms.iter().map(Room::len).min().unwrap_or(usize::MAX),
            rest: rooms.iter_mut().map(Room::part).collect(),
            is_stopped: false,
        }),
        is_next: Condvar::new(),
    };
    let next = AtomicUsize::new(0);
    let work = |_: usize| -> Result<Vec<Other>> {
        let mut stopping = Stopping { places: &places, is_done: false };
        let (mut picks, mut others) = (Picks::new(), Vec::new());
        loop {
            // Blocks before this one belong to threads that are at work, so waiting for them ends. It
            // would not if a thread took another's work in between, so only what waits for nothing is
            // done here, and nothing is evaluated.
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(block) = blocks.get(at) else { break };
            control.check().map_err(withdrawn)?;
            pick(block.clone(), &mut picks);
            let is_here = match places.of(at, picks.len) {
                None => break,
                Some(Place::Elsewhere) => false,
                Some(Place::Here(parts)) => {
                    for (numbers, part) in copied.iter().zip(parts) {
                        numbers.copy(block.clone(), picks.places(), part);
                    }
                    true
                }
            };
            if !is_here || copied.len() < columns.len() {
                others.push(Other { block: at, places: picks.places().to_vec(), is_here });
            }
        }
        stopping.is_done = true;
        Ok(others)
    };
    let others = threads::map((0..threads::count().clamp(1, blocks.len())).collect(), work);
    let others = others.into_iter().collect::<Result<Vec<_>>>()?;
    let mut others: Vec<Other> = others.into_iter().flatten().collect();
    others.sort_unstable_by_key(|other| other.block);
    let (rows, rows_here) = {
        let state = places.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        (state.rows, state.rows_here)
    };
    let made = threads::map(others, |other| -> Result<Vec<Option<ArrayRef>>> {
        control.check().map_err(withdrawn)?;
        let block = blocks.get(other.block).cloned().unwrap_or_default();
        let mut chosen = table.slice(block.start, block.len());
        if other.places.len() < block.len() {
            let places = other.places.iter().map(|&place| u32::from(place));
            chosen = take_record_batch(&chosen, &places.collect::<UInt32Array>())?;
        }
        let array = |(column, own): (&Expr, &Option<Numbers>)| match own {
            Some(_) if other.is_here => Ok(None),
            _ => column.evaluate(&chosen)?.into_array(chosen.num_rows()).map(Some),
        };
        columns.iter().zip(&own).map(array).collect()
    });
    let made = made.into_iter().collect::<Result<Vec<_>>>()?;

    let buffers: Vec<Buffer> = rooms.into_iter().map(Room::into_buffer).collect();
    keeper.keep_room(&buffers);
    let mut buffers = buffers.into_iter();
    let join = |(at, (column, own)): (usize, (&Expr, &Option<Numbers>))| -> Result<ArrayRef> {
        let mut arrays: Vec<ArrayRef> = Vec::new();
        if own.is_some()
            && let Some(buffer) = buffers.next()
        {
            arrays.push(array_of(&column.data_type(table.schema_ref())?, &buffer, rows_here)?);
        }
        arrays.extend(made.iter().filter_map(|arrays| arrays.get(at).cloned().flatten()));
        match arrays.as_slice() {
            [one] => Ok(Arc::clone(one)),
            several => Ok(concat(&several.iter().map(|array| &**array).collect::<Vec<_>>())?),
        }
    };
    let columns = columns.iter().zip(&own).enumerate().map(join).collect::<Result<_>>()?;
    Ok(Selected { rows, columns })
}

/// The first numbers of a buffer as an array.
fn array_of(kind: &DataType, numbers: &Buffer, rows: usize) -> Result<ArrayRef> {
    let width = kind.primitive_width().unwrap_or_default();
    let numbers = numbers.slice_with_length(0, rows * width);
    Ok(make_array(ArrayData::builder(kind.clone()).len(rows).add_buffer(numbers).build()?))
}
