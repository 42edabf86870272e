//! Strings of `meta.db`, each read once and shared by all records that point to it.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use parallax_base::casts::saturated_usize;

use super::record::Record;

/// Bytes of a file for each of its strings: these themselves, and the records that point to them.
const USUAL_BYTES: u64 = 128;

/// Strings that there is room for from the start, at the most.
const MOST_ROOM: usize = 1 << 16;

/// Reads strings by their file offset.
pub(super) struct Names<'a> {
    meta: Record<'a>,
    by_pointer: HashMap<u64, Arc<str>, RandomState>,
    /// Bytes that may still be examined. Distinct strings of a valid file do not overlap (but for
    /// shared endings), so together they are about as long as the file at most; a hostile file
    /// could point many records into one long string, or one without an end.
    budget: u64,
}

impl<'a> Names<'a> {
    pub(super) fn new(meta: Record<'a>) -> Self {
        // Growing the map costs as much as reading the strings: it begins with room for as many as
        // the file may have.
        let room = saturated_usize(meta.len() / USUAL_BYTES).min(MOST_ROOM);
        Self {
            meta,
            by_pointer: HashMap::with_capacity_and_hasher(room, RandomState::default()),
            budget: meta.len().saturating_mul(4),
        }
    }

    /// The string at `pointer`; `None` when it lies outside the file, does not end inside it, or
    /// the budget is spent. Bytes that are not UTF-8 are replaced.
    pub(super) fn get(&mut self, pointer: u64) -> Option<Arc<str>> {
        if let Some(known) = self.by_pointer.get(&pointer) {
            return Some(Arc::clone(known));
        }
        let text = self.meta.until_nul(pointer, self.budget);
        // A string without an end was examined up to the end of the file.
        let looked_at = text.map_or(self.meta.len().saturating_sub(pointer), |t| t.len() as u64);
        self.budget = self.budget.saturating_sub(looked_at + 1);
        let name: Arc<str> = String::from_utf8_lossy(text?).into();
        self.by_pointer.insert(pointer, Arc::clone(&name));
        Some(name)
    }
}
