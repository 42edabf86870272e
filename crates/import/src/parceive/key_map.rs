//! [`KeyMap`]: ids of the source as positions.

use parallax_base::paged::{Numbers, Paging};
use parallax_formats::parceive::Key;

use crate::activations::NumberMap;

const NONE: u32 = u32::MAX;

/// Positions of rows by their ids. Ids that follow each other, as they nearly always do, take no
/// memory; with gaps they take 4 bytes each.
#[derive(Default)]
pub(super) struct KeyMap {
    paging: Paging,
    first: Key,
    /// As long as there is no gap: position is id less `first`.
    run: u32,
    len: u32,
    dense: Numbers<u32>,
    sparse: NumberMap<Key, u32>,
}

impl KeyMap {
    /// No rows; `paging` says where a table of ids with gaps is.
    pub(super) fn new(paging: &Paging) -> Self {
        Self { paging: paging.clone(), ..Self::default() }
    }

    /// The next position, for the row with this id.
    pub(super) fn add(&mut self, key: Key) -> u32 {
        let position = self.len;
        self.set(key, position);
        position
    }

    /// Says where the row with an id is. Positions must not fall.
    pub(super) fn set(&mut self, key: Key, position: u32) {
        self.len = self.len.max(position.saturating_add(1));
        if self.dense.is_empty() && self.sparse.is_empty() {
            if self.run == 0 && position == 0 {
                (self.first, self.run) = (key, 1);
                return;
            }
            if position == self.run && key == self.first + Key::from(self.run) {
                self.run += 1;
                return;
            }
        }
        // The first gap: what was said so far moves to the table.
        if self.dense.is_empty() {
            self.dense = Numbers::new(&self.paging);
            (0..self.run).for_each(|position| self.dense.push(position));
        }
        let at = key.checked_sub(self.first).and_then(|at| usize::try_from(at).ok());
        // Ids far apart must not ask for a table of their range.
        match at.filter(|&at| at < 4 * self.len as usize + (1 << 16)) {
            Some(at) => {
                while self.dense.len() <= at {
                    self.dense.push(NONE);
                }
                self.dense.set(at, position);
            }
            None => {
                self.sparse.insert(key, position);
            }
        }
    }

    /// Where the row with an id is.
    pub(super) fn get(&self, key: Key) -> Option<u32> {
        if let Some(at) = key.checked_sub(self.first) {
            if self.dense.is_empty() && at < Key::from(self.run) {
                return u32::try_from(at).ok();
            }
            let dense = usize::try_from(at).ok().and_then(|at| self.dense.get(at));
            if let Some(position) = dense.filter(|&position| position != NONE) {
                return Some(position);
            }
        }
        self.sparse.get(&key).copied()
    }

    /// Where the row is that another one refers to.
    pub(super) fn find(&self, key: Option<Key>) -> Option<u32> {
        key.and_then(|key| self.get(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_with_and_without_gaps_are_found() {
        for keys in [
            vec![1, 2, 3, 4],
            vec![0],
            vec![5, 6, 9, 7, 100],
            vec![10, 3, 4, 5],
            vec![7, 1 << 62, (1 << 62) + 1, 8],
            vec![1 << 40, 3, 1 << 50],
        ] {
            let mut map = KeyMap::default();
            for (position, &key) in (0..).zip(&keys) {
                assert_eq!(map.add(key), position);
            }
            for (position, &key) in (0..).zip(&keys) {
                assert_eq!(map.get(key), Some(position), "{key} of {keys:?}");
            }
            for absent in [2000, 1 << 61, 999_999] {
                assert_eq!(map.get(absent), None);
            }
            assert_eq!((map.find(None), map.len as usize), (None, keys.len()));
            // Many ids far apart take no table of their range.
            assert!(map.dense.len() < 1 << 18);
        }
    }
}
