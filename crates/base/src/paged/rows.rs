//! [`Paged`]: rows in blocks.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{MOST_SLOTS, Paging, ROWS, SLOTS, Stored, codec};

/// Rows of `N` whole numbers each, by position.
///
/// Readers may share it; those who write have it for themselves. Rows that cannot be read any more
/// because their storage failed are zeros, and [`Paging::check`] says so.
#[derive(Debug)]
pub struct Paged<const N: usize> {
    blocks: Mutex<Blocks<N>>,
    len: usize,
}

#[derive(Debug)]
struct Blocks<const N: usize> {
    paging: Paging,
    list: Vec<Block<N>>,
    slots: Vec<Slot<N>>,
    /// Blocks that may be at hand.
    most: usize,
    /// The slot that is looked at next when one is needed.
    hand: usize,
    /// Rows asked for since a block was decoded.
    uses: usize,
    /// How often few rows were asked for in between, less how often many were.
    jumps: usize,
    bytes: Vec<u8>,
    room: codec::Room,
}

#[derive(Debug)]
struct Block<const N: usize> {
    /// The slot it is in; [`NONE`] when it is not at hand.
    slot: u32,
    len: usize,
    /// The first row, by which rows in order are found.
    first: [u64; N],
    /// All of its rows as long as it was never written to.
    stored: Stored,
}

const NONE: u32 = u32::MAX;

#[derive(Debug)]
struct Slot<const N: usize> {
    block: usize,
    /// Whether it was used since it was looked at last.
    is_used: bool,
    is_changed: bool,
    rows: Vec<[u64; N]>,
}

impl<const N: usize> Blocks<N> {
    fn new(paging: &Paging) -> Self {
        Self {
            paging: paging.clone(),
            list: Vec::new(),
            slots: Vec::new(),
            most: SLOTS,
            hand: 0,
            uses: 0,
            jumps: 0,
            bytes: Vec::new(),
            room: codec::Room::default(),
        }
    }

    /// The block that has a row, at hand.
    #[inline]
    fn slot(&mut self, block: usize) -> Option<&mut Slot<N>> {
        let slot = self.list.get(block)?.slot as usize;
        self.uses += 1;
        if slot < self.slots.len() {
            let slot = self.slots.get_mut(slot)?;
            slot.is_used = true;
            return Some(slot);
        }
        self.load(block)
    }

    #[cold]
    fn load(&mut self, block: usize) -> Option<&mut Slot<N>> {
        self.watch();
        let at = self.free_slot(block);
        let found = self.list.get_mut(block)?;
        found.slot = u32::try_from(at).unwrap_or(NONE);
        let slot = self.slots.get_mut(at)?;
        let len = found.len;
        if matches!(found.stored, Stored::Nothing) {
            slot.rows.resize(len, found.first);
            return Some(slot);
        }
        slot.rows.resize(len, [0; N]);
        let rows = slot.rows.as_flattened_mut();
        self.paging.read(&found.stored, &mut self.bytes, N, rows);
        Some(slot)
    }

    /// Keeps more blocks at hand when the same ones are decoded again and again.
    fn watch(&mut self) {
        if self.uses < ROWS / 64 {
            self.jumps += 1;
        } else {
            self.jumps = self.jumps.saturating_sub(1);
        }
        self.uses = 0;
        if self.jumps > 16 * self.most {
            self.jumps = 0;
            self.most = (2 * self.most).min(MOST_SLOTS);
        }
    }

    /// A slot for a block, empty.
    fn free_slot(&mut self, block: usize) -> usize {
        if self.slots.len() < self.most {
            let rows = Vec::new();
            self.slots.push(Slot { block, is_used: true, is_changed: false, rows });
            return self.slots.len() - 1;
        }
        loop {
            self.hand = (self.hand + 1) % self.slots.len().max(1);
            let Some(slot) = self.slots.get_mut(self.hand) else { return self.hand };
            if !std::mem::take(&mut slot.is_used) {
                break;
            }
        }
        self.put_away(self.hand);
        if let Some(slot) = self.slots.get_mut(self.hand) {
            (slot.block, slot.is_used, slot.is_changed) = (block, true, false);
            slot.rows.clear();
        }
        self.hand
    }

    /// Packs the block of a slot.
    fn put_away(&mut self, at: usize) {
        let Some(slot) = self.slots.get(at) else { return };
        let Some(block) = self.list.get_mut(slot.block) else { return };
        block.slot = NONE;
        if !slot.is_changed {
            return;
        }
        self.bytes.clear();
        codec::encode(slot.rows.as_flattened(), N, &mut self.room, &mut self.bytes);
        block.stored = self.paging.put(&self.bytes, std::mem::take(&mut block.stored));
    }
}

impl<const N: usize> Drop for Blocks<N> {
    fn drop(&mut self) {
        for block in &self.list {
            self.paging.release(&block.stored);
        }
    }
}

impl<const N: usize> Paged<N> {
    /// No rows.
    #[must_use]
    pub fn new(paging: &Paging) -> Self {
        Self { blocks: Mutex::new(Blocks::new(paging)), len: 0 }
    }

    /// The same row so many times, which takes no memory until they are set.
    #[must_use]
    pub fn filled(paging: &Paging, len: usize, row: [u64; N]) -> Self {
        let mut blocks = Blocks::new(paging);
        let block = |at: usize| {
            let len = ROWS.min(len - at * ROWS);
            Block { slot: NONE, len, first: row, stored: Stored::Nothing }
        };
        blocks.list = (0..len.div_ceil(ROWS)).map(block).collect();
        Self { blocks: Mutex::new(blocks), len }
    }

    /// Number of rows.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What the rows share with others.
    #[must_use]
    pub fn paging(&self) -> Paging {
        self.lock().paging.clone()
    }

    /// A row; zeros behind the last one.
    #[inline]
    #[must_use]
    pub fn get(&self, at: usize) -> [u64; N] {
        row(&mut self.lock(), at).unwrap_or([0; N])
    }

    /// One number of a row; 0 behind the last one.
    #[inline]
    #[must_use]
    pub fn cell(&self, at: usize, number: usize) -> u64 {
        let mut blocks = self.lock();
        let slot = blocks.slot(at / ROWS);
        slot.and_then(|slot| slot.rows.get(at % ROWS)?.get(number).copied()).unwrap_or(0)
    }

    /// As [`Paged::get`], for those who have the rows for themselves.
    #[inline]
    pub fn at(&mut self, at: usize) -> [u64; N] {
        row(self.blocks_mut(), at).unwrap_or([0; N])
    }

    /// Changes a row; nothing behind the last one.
    #[inline]
    pub fn update(&mut self, at: usize, change: impl FnOnce(&mut [u64; N])) {
        let blocks = self.blocks_mut();
        let Some(slot) = blocks.slot(at / ROWS) else { return };
        let Some(row) = slot.rows.get_mut(at % ROWS) else { return };
        change(row);
        slot.is_changed = true;
        if at.is_multiple_of(ROWS) {
            let row = *row;
            if let Some(block) = blocks.list.get_mut(at / ROWS) {
                block.first = row;
            }
        }
    }

    /// Sets a row; nothing behind the last one.
    #[inline]
    pub fn set(&mut self, at: usize, row: [u64; N]) {
        self.update(at, |slot| *slot = row);
    }

    /// Adds a row.
    #[inline]
    pub fn push(&mut self, row: [u64; N]) {
        let at = self.len;
        self.len += 1;
        let blocks = self.blocks_mut();
        if at.is_multiple_of(ROWS) {
            let slot = blocks.free_slot(at / ROWS);
            let slot = u32::try_from(slot).unwrap_or(NONE);
            blocks.list.push(Block { slot, len: 0, first: row, stored: Stored::Nothing });
        }
        if let Some(slot) = blocks.slot(at / ROWS) {
            slot.rows.push(row);
            slot.is_changed = true;
        }
        if let Some(block) = blocks.list.last_mut() {
            block.len += 1;
        }
    }

    /// How many rows come before the first one of which `is_before` does not hold; it must hold of
    /// no row after that one.
    #[must_use]
    pub fn partition_point(&self, is_before: impl Fn(&[u64; N]) -> bool) -> usize {
        let mut blocks = self.lock();
        let after = blocks.list.partition_point(|block| is_before(&block.first));
        let Some(last) = after.checked_sub(1) else { return 0 };
        let rows = blocks.slot(last).map_or(0, |slot| slot.rows.partition_point(&is_before));
        last * ROWS + rows
    }

    fn lock(&self) -> MutexGuard<'_, Blocks<N>> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn blocks_mut(&mut self) -> &mut Blocks<N> {
        self.blocks.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

#[inline]
fn row<const N: usize>(blocks: &mut Blocks<N>, at: usize) -> Option<[u64; N]> {
    blocks.slot(at / ROWS)?.rows.get(at % ROWS).copied()
}

impl<const N: usize> Default for Paged<N> {
    fn default() -> Self {
        Self::new(&Paging::in_memory())
    }
}

impl<const N: usize> Clone for Paged<N> {
    fn clone(&self) -> Self {
        let mut out = Self::new(&self.paging());
        for at in 0..self.len {
            out.push(self.get(at));
        }
        out
    }
}
