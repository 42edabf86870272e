//! Rows of two tables with equal keys.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use foldhash::fast::RandomState;
use parallax_base::casts::saturated_usize;
use parallax_base::threads;

use crate::pieces::{filled, map_pieces, row};
use crate::{MAX_ROWS, filter, gather, sort_u32};

/// Rows that belong together: `left[i]` and `right[i]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pairs {
    /// Rows of the left side, ascending.
    pub left: Vec<u32>,
    /// Rows of the right side, ascending for each of the left.
    pub right: Vec<u32>,
}

/// A join has more pairs than a table can have rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyPairs;

impl std::fmt::Display for TooManyPairs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the tables have more than {MAX_ROWS} pairs of rows with equal keys")
    }
}

impl std::error::Error for TooManyPairs {}

/// Starts by key are kept in a table up to this many keys for each row of the right side.
const SPREAD: usize = 16;

/// Whether a table by key is small enough for so many rows.
fn is_dense(keys: usize, rows: usize) -> bool {
    keys <= rows * SPREAD + 1024
}

/// Where the rows with a key begin and end in the order of keys.
enum Starts {
    /// For each key from the first number on; one more for the end.
    Dense(u32, Vec<u32>),
    Sparse(HashMap<u32, (u32, u32), RandomState>),
}

impl Starts {
    fn of(sorted: &[u32]) -> Self {
        let (Some(&low), Some(&high)) = (sorted.first(), sorted.last()) else {
            return Self::Dense(0, vec![0]);
        };
        let len = (high - low) as usize + 1;
        if is_dense(len, sorted.len()) {
            let mut starts = vec![0; len + 1];
            sorted.iter().for_each(|&key| starts[(key - low) as usize + 1] += 1);
            for i in 1..starts.len() {
                starts[i] += starts[i - 1];
            }
            return Self::Dense(low, starts);
        }
        let mut starts = HashMap::default();
        for (i, &key) in sorted.iter().enumerate() {
            starts.entry(key).or_insert((row(i), row(i))).1 = row(i + 1);
        }
        Self::Sparse(starts)
    }

    fn rows(&self, key: u32) -> (u32, u32) {
        match self {
            Self::Dense(low, starts) => key
                .checked_sub(*low)
                .and_then(|at| starts.get(at as usize..)?.first_chunk::<2>())
                .map_or((0, 0), |&[start, end]| (start, end)),
            Self::Sparse(starts) => starts.get(&key).copied().unwrap_or((0, 0)),
        }
    }
}

/// The pairs of rows with equal keys (an inner join).
///
/// ```
/// let pairs = parallax_columns::join(&[4, 8, 4], &[8, 4])?;
/// assert_eq!((pairs.left, pairs.right), (vec![0, 1, 2], vec![1, 0, 1]));
/// # Ok::<(), parallax_columns::TooManyPairs>(())
/// ```
///
/// # Errors
/// When there are more than [`MAX_ROWS`] pairs.
pub fn join(left: &[u32], right: &[u32]) -> Result<Pairs, TooManyPairs> {
    let order = sort_u32(right);
    let sorted = gather(right, &order);
    if let Some(pairs) = with_one_each(left, &order, &sorted) {
        return Ok(pairs);
    }
    let starts = Starts::of(&sorted);
    let counts = map_pieces(left.len(), |piece| {
        let rows = left[piece.clone()].iter().map(|&key| starts.rows(key));
        (piece, rows.map(|(start, end)| u64::from(end - start)).sum::<u64>())
    });
    let total = counts.iter().map(|(_, count)| count).sum::<u64>();
    let total = usize::try_from(total).ok().filter(|&total| total <= MAX_ROWS);
    let total = total.ok_or(TooManyPairs)?;
    // Each piece writes its pairs where they stay: memory is touched once.
    let mut pairs = Pairs { left: vec![0; total], right: vec![0; total] };
    let (mut lefts, mut rights) = (&mut pairs.left[..], &mut pairs.right[..]);
    let mut work = Vec::with_capacity(counts.len());
    for (piece, count) in counts {
        let count = saturated_usize(count);
        let (here, others) = lefts.split_at_mut(count);
        lefts = others;
        let (with, others) = rights.split_at_mut(count);
        rights = others;
        work.push((piece, here, with));
    }
    threads::map(work, |(piece, here, with)| {
        let mut places = here.iter_mut().zip(with);
        for i in piece {
            let (start, end) = starts.rows(left[i]);
            for (&other, place) in order[start as usize..end as usize].iter().zip(&mut places) {
                (*place.0, *place.1) = (row(i), other);
            }
        }
    });
    Ok(pairs)
}

/// No row: there are fewer than this.
const NONE: u32 = u32::MAX;

/// The pairs, where no two rows of the right side have one key and keys are close together: a row of the
/// left side has one partner or none, so that nothing has to be counted first.
fn with_one_each(left: &[u32], order: &[u32], sorted: &[u32]) -> Option<Pairs> {
    let (&low, &high) = (sorted.first()?, sorted.last()?);
    let keys = (high - low) as usize + 1;
    let is_unique = sorted.windows(2).all(|keys| keys.first() < keys.last());
    if !is_unique || !is_dense(keys, sorted.len()) {
        return None;
    }
    let mut partners = vec![NONE; keys];
    for (&key, &row) in sorted.iter().zip(order) {
        partners[(key - low) as usize] = row;
    }
    let is_one_alone = AtomicBool::new(false);
    let right = filled(left.len(), |piece, here: &mut [u32]| {
        let mut is_alone = false;
        for (partner, key) in here.iter_mut().zip(&left[piece]) {
            *partner = partners.get(key.wrapping_sub(low) as usize).copied().unwrap_or(NONE);
            is_alone |= *partner == NONE;
        }
        if is_alone {
            is_one_alone.store(true, Ordering::Relaxed);
        }
    });
    Some(if is_one_alone.into_inner() {
        let left = filter(&right, 0..=NONE - 1);
        let right = gather(&right, &left);
        Pairs { left, right }
    } else {
        let left = filled(right.len(), |piece, here| {
            here.iter_mut().zip(piece).for_each(|(to, at)| *to = row(at));
        });
        Pairs { left, right }
    })
}
