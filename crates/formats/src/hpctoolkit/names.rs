//! Strings of `meta.db`, each read once and shared by all records that point to it.

use std::collections::HashMap;
use std::sync::Arc;

use super::record::Record;

/// Reads strings by their file offset.
pub(super) struct Names<'a> {
    meta: Record<'a>,
    by_pointer: HashMap<u64, Arc<str>>,
    /// Bytes that may still be copied. Distinct strings of a valid file do not overlap (but for
    /// shared endings), so together they are about as long as the file at most; a hostile file
    /// could point many records into one long string.
    budget: u64,
}

impl<'a> Names<'a> {
    pub(super) fn new(meta: Record<'a>) -> Self {
        Self { meta, by_pointer: HashMap::new(), budget: meta.len().saturating_mul(4) }
    }

    /// The string at `pointer`; `None` when it lies outside the file, does not end inside it, or
    /// the budget is spent.
    pub(super) fn get(&mut self, pointer: u64) -> Option<Arc<str>> {
        if let Some(known) = self.by_pointer.get(&pointer) {
            return Some(Arc::clone(known));
        }
        let text = self.meta.text(pointer)?;
        self.budget = self.budget.checked_sub(text.len() as u64)?;
        let name: Arc<str> = text.into();
        self.by_pointer.insert(pointer, Arc::clone(&name));
        Some(name)
    }
}
