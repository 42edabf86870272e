//! [`Picks`]: which rows of a block are chosen.

use std::ops::{Range, RangeInclusive};

/// Rows that a thread works on at a time: few enough that what is computed of them stays in its cache.
pub const BLOCK_ROWS: usize = 1 << 14;

/// So many rows in blocks; at least one block.
#[must_use]
pub fn blocks(rows: usize) -> Vec<Range<usize>> {
    let begins = (0..rows.max(1)).step_by(BLOCK_ROWS);
    begins.map(|begin| begin..rows.min(begin + BLOCK_ROWS)).collect()
}

/// Which rows of a block are chosen, by their places in it.
#[derive(Debug)]
pub struct Picks {
    places: Box<[u16; BLOCK_ROWS]>,
    len: usize,
}

impl Default for Picks {
    fn default() -> Self {
        Self { places: Box::new([0; BLOCK_ROWS]), len: 0 }
    }
}

impl Picks {
    /// Chooses rows of a block: `chosen` says of each whether it is. Without branches in `chosen` there
    /// are none here.
    pub fn push(&mut self, chosen: impl Iterator<Item = bool>) {
        // Every place is written, and those of rows that are not chosen are overwritten by the next.
        let mut len = 0;
        for (place, is_chosen) in (0_u16..).zip(chosen) {
            self.places[len % BLOCK_ROWS] = place;
            len += usize::from(is_chosen);
        }
        self.len = len;
    }

    /// Chooses the rows of a block whose values are in `range`.
    pub fn push_within<T: Ord + Copy>(
        &mut self,
        values: impl Iterator<Item = T>,
        range: &RangeInclusive<T>,
    ) {
        let (&low, &high) = (range.start(), range.end());
        // `&&` would be a branch, which is mispredicted often.
        self.push(values.map(|value| (low <= value) & (value <= high)));
    }

    /// Chooses the rows at these places, which ascend.
    pub fn push_places(&mut self, chosen: impl Iterator<Item = u32>) {
        self.len = 0;
        for (to, place) in self.places.iter_mut().zip(chosen) {
            *to = u16::try_from(place).unwrap_or(u16::MAX);
            self.len += 1;
        }
    }

    /// Chooses all rows of a block.
    pub fn push_all(&mut self, rows: usize) {
        self.push(std::iter::repeat_n(true, rows));
    }

    /// Leaves only some of the chosen rows.
    pub fn retain(&mut self, is_chosen: impl Fn(usize) -> bool) {
        let mut len = 0;
        for at in 0..self.len {
            let place = self.places[at];
            self.places[len] = place;
            len += usize::from(is_chosen(usize::from(place)));
        }
        self.len = len;
    }

    /// The places of the chosen rows.
    #[must_use]
    pub fn places(&self) -> &[u16] {
        &self.places[..self.len]
    }
}
