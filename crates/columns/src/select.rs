//! [`select`]: some rows of columns, each written once, to where it stays.
//!
//! Of few rows, the conditions are looked at first, and then all rows that meet them are copied. Of
//! many, threads take blocks of rows in their order. Each looks at the conditions, is told where its
//! rows begin when the block before knows how many it has, and copies them while the block is in the
//! processor's cache: the columns are read once, and nothing is joined afterwards.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use parallax_base::threads;

use crate::picks::{BLOCK_ROWS, Picks, blocks};

/// Up to so many blocks, what is chosen of all is known before anything is copied: the columns are in
/// a cache then.
const FEW: usize = 16;

/// Blocks that are looked at first, to know about how many rows there will be; and of how many blocks
/// one at most.
const SAMPLED: usize = 32;
const SAMPLED_OF: usize = 8;

/// Numbers of a column, by their width.
#[derive(Debug, Clone, Copy)]
pub enum Numbers<'a> {
    /// Of 16 bits.
    Two(&'a [u16]),
    /// Of 32 bits.
    Four(&'a [u32]),
    /// Of 64 bits.
    Eight(&'a [u64]),
}

impl Numbers<'_> {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Two(all) => all.len(),
            Self::Four(all) => all.len(),
            Self::Eight(all) => all.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Room for so many of them.
    #[must_use]
    pub fn room(self, rows: usize) -> Room {
        match self {
            Self::Two(_) => Room::Two(vec![0; rows]),
            Self::Four(_) => Room::Four(vec![0; rows]),
            Self::Eight(_) => Room::Eight(vec![0; rows]),
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Room {
    /// Of 16 bits.
    Two(Vec<u16>),
    /// Of 32 bits.
    Four(Vec<u32>),
    /// Of 64 bits.
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

    fn numbers(&self) -> Numbers<'_> {
        match self {
            Self::Two(all) => Numbers::Two(all),
            Self::Four(all) => Numbers::Four(all),
            Self::Eight(all) => Numbers::Eight(all),
        }
    }

    /// How many there are, or fit in.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers().len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers().is_empty()
    }

    /// Leaves so many numbers, adds the rows of the blocks, and gives back what is not needed.
    fn complete(&mut self, here: usize, numbers: Numbers<'_>, others: &[Other]) {
        match (self, numbers) {
            (Self::Two(room), Numbers::Two(all)) => complete(room, here, all, others),
            (Self::Four(room), Numbers::Four(all)) => complete(room, here, all, others),
            (Self::Eight(room), Numbers::Eight(all)) => complete(room, here, all, others),
            // Rooms are made of the columns that are copied to them.
            _ => {}
        }
    }

    /// Its numbers, where they have 32 bits; else none.
    #[must_use]
    pub fn into_narrow(self) -> Vec<u32> {
        match self {
            Self::Four(all) => all,
            Self::Two(_) | Self::Eight(_) => Vec::new(),
        }
    }

    /// Its numbers, where they have 64 bits; else none.
    #[must_use]
    pub fn into_wide(self) -> Vec<u64> {
        match self {
            Self::Eight(all) => all,
            Self::Two(_) | Self::Four(_) => Vec::new(),
        }
    }
}

fn complete<T: Copy>(room: &mut Vec<T>, here: usize, all: &[T], others: &[Other]) {
    room.truncate(here);
    room.reserve_exact(others.iter().map(|other| other.places.len()).sum());
    for Other { block, places, .. } in others {
        let block = &all[block.clone()];
        room.extend(places.iter().map(|&place| block[usize::from(place)]));
    }
    room.shrink_to_fit();
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

/// Chosen rows of a block, by their places in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Other {
    /// The block.
    pub block: Range<usize>,
    /// Places in the block, ascending.
    pub places: Vec<u16>,
    /// Whether the rows have been copied.
    pub is_here: bool,
}

/// Chosen rows of columns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selected {
    /// How many there are.
    pub rows: usize,
    /// How many of them have been copied: the first ones.
    pub rows_here: usize,
    /// Their numbers, column by column, and maybe more.
    pub columns: Vec<Room>,
    /// Blocks whose rows have not been copied, in their order; all blocks where those were asked for.
    pub others: Vec<Other>,
}

/// About how many rows there will be, and some more: as many as there are of some blocks.
fn about<E: Send>(
    blocks: &[Range<usize>],
    pick: impl Fn(Range<usize>, &mut Picks) -> Result<(), E> + Send + Sync,
) -> Result<usize, E> {
    let all = blocks.last().map_or(0, |last| last.end);
    let step = (blocks.len() / SAMPLED).max(SAMPLED_OF);
    let sampled: Vec<_> = blocks.iter().skip(step / 2).step_by(step).cloned().collect();
    let count = sampled.len().max(1);
    let rows = threads::map(sampled, |block| {
        let mut picks = Picks::default();
        pick(block, &mut picks)?;
        Ok(picks.places().len())
    });
    let rows = rows.into_iter().sum::<Result<usize, E>>()?.div_ceil(count) * blocks.len();
    Ok((rows + rows / 8 + 2 * BLOCK_ROWS).min(all))
}

/// The rows of columns of `len` rows that `pick` chooses: it gives those of a block, waits for nothing,
/// and does nothing on other threads. `room` gives memory for at least so many numbers as a column has.
/// With `keeps_places` all blocks are in [`Selected::others`].
///
/// # Errors
/// Those of `pick`.
///
/// # Panics
/// When a column has fewer than `len` rows, or a place is outside of its block.
pub fn select<E: Send>(
    len: usize,
    columns: &[Numbers<'_>],
    keeps_places: bool,
    room: impl Fn(&Numbers<'_>, usize) -> Room + Send + Sync,
    pick: impl Fn(Range<usize>, &mut Picks) -> Result<(), E> + Send + Sync,
) -> Result<Selected, E> {
    let blocks = blocks(len);
    if blocks.len() <= FEW {
        return known_first(blocks, columns, keeps_places, room, pick);
    }
    let most = about(&blocks, &pick)?;
    // They are cleared, which takes a while.
    let mut rooms = threads::map(columns.iter().collect(), |numbers| room(numbers, most));
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
    let work = |_: usize| -> Result<Vec<Other>, E> {
        let mut stopping = Stopping { places: &places, is_done: false };
        let (mut picks, mut others) = (Picks::default(), Vec::new());
        loop {
            // Blocks before this one belong to threads that are at work, so waiting for them ends. It
            // would not if a thread took another's work in between, so only what waits for nothing is
            // done here.
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(block) = blocks.get(at) else { break };
            pick(block.clone(), &mut picks)?;
            let is_here = match places.of(at, picks.places().len()) {
                None => break,
                Some(Place::Elsewhere) => false,
                Some(Place::Here(parts)) => {
                    for (numbers, part) in columns.iter().zip(parts) {
                        numbers.copy(block.clone(), picks.places(), part);
                    }
                    true
                }
            };
            if !is_here || keeps_places {
                let places = picks.places().to_vec();
                others.push(Other { block: block.clone(), places, is_here });
            }
        }
        stopping.is_done = true;
        Ok(others)
    };
    let others = threads::map((0..threads::count().clamp(1, blocks.len())).collect(), work);
    let others = others.into_iter().collect::<Result<Vec<_>, E>>()?;
    let mut others: Vec<Other> = others.into_iter().flatten().collect();
    others.sort_unstable_by_key(|other| other.block.start);
    let (rows, rows_here) = {
        let state = places.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        (state.rows, state.rows_here)
    };
    Ok(Selected { rows, rows_here, columns: rooms, others })
}

/// [`select`] of few blocks: what is chosen is known of all of them before rows are copied, so that
/// there is no more room than for these.
fn known_first<E: Send>(
    blocks: Vec<Range<usize>>,
    columns: &[Numbers<'_>],
    keeps_places: bool,
    room: impl Fn(&Numbers<'_>, usize) -> Room,
    pick: impl Fn(Range<usize>, &mut Picks) -> Result<(), E> + Send + Sync,
) -> Result<Selected, E> {
    let picked = threads::map(blocks, |block| {
        let mut picks = Picks::default();
        pick(block.clone(), &mut picks)?;
        Ok(Other { block, places: picks.places().to_vec(), is_here: true })
    });
    let mut others = picked.into_iter().collect::<Result<Vec<_>, E>>()?;
    let rows = others.iter().map(|other| other.places.len()).sum();
    let mut rooms: Vec<Room> = columns.iter().map(|numbers| room(numbers, rows)).collect();
    let mut rest: Vec<Part<'_>> = rooms.iter_mut().map(Room::part).collect();
    let work = others.iter().map(|other| {
        let parts = rest.iter_mut().map(|part| part.take(other.places.len()));
        (other, parts.collect::<Vec<_>>())
    });
    threads::map(work.collect(), |(Other { block, places, .. }, parts)| {
        for (numbers, part) in columns.iter().zip(parts) {
            numbers.copy(block.clone(), places, part);
        }
    });
    if !keeps_places {
        others.clear();
    }
    Ok(Selected { rows, rows_here: rows, columns: rooms, others })
}

/// The rows of columns that `pick` chooses: it gives those of a block, waits for nothing, and does
/// nothing on other threads.
///
/// ```
/// use parallax_columns::{Numbers, Room, filter_columns};
///
/// let (starts, ends) = (vec![1, 5, 6], vec![3, 6, 9]);
/// let columns = [Numbers::Four(&[7, 8, 9]), Numbers::Eight(&starts)];
/// let long = filter_columns(&columns, |block, picks| {
///     picks.push(starts[block.clone()].iter().zip(&ends[block]).map(|(start, end)| end - start > 1));
/// });
/// assert_eq!(long, [Room::Four(vec![7, 9]), Room::Eight(vec![1, 6])]);
/// ```
///
/// # Panics
/// When the columns have different lengths, or a place is outside of its block.
#[must_use]
pub fn filter_columns(
    columns: &[Numbers<'_>],
    pick: impl Fn(Range<usize>, &mut Picks) + Send + Sync,
) -> Vec<Room> {
    let len = columns.first().map_or(0, Numbers::len);
    assert!(
        columns.iter().all(|column| column.len() == len),
        "columns of one table have one length"
    );
    let pick = |block: Range<usize>, picks: &mut Picks| {
        pick(block, picks);
        Ok::<_, Infallible>(())
    };
    let Ok(selected) = select(len, columns, false, |numbers, rows| numbers.room(rows), pick);
    let Selected { rows_here, columns: mut rooms, others, .. } = selected;
    for (room, &numbers) in rooms.iter_mut().zip(columns) {
        room.complete(rows_here, numbers, &others);
    }
    rooms
}
