//! [`StringTable`]: distinct strings in one buffer; and [`capitalised`] text.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// `text` with its first letter in upper case, for the beginning of a sentence.
#[must_use]
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// A string of a [`StringTable`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StringId(u32);

/// Distinct strings, each stored once, in the order they were first added.
#[derive(Debug, Clone, Default)]
pub struct StringTable {
    text: String,
    /// End of string i in `text`; its start is the end of i - 1.
    ends: Vec<usize>,
    /// Ids by hash; equal hashes share a bucket and are distinguished by content.
    by_hash: HashMap<u64, Vec<u32>>,
}

impl StringTable {
    /// An empty table.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The id of `text`, which is added if it is new.
    pub fn intern(&mut self, text: &str) -> StringId {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let hash = hasher.finish();
        if let Some(ids) = self.by_hash.get(&hash)
            && let Some(&id) = ids.iter().find(|&&id| self.get(StringId(id)) == text)
        {
            return StringId(id);
        }
        let id = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        self.text.push_str(text);
        self.ends.push(self.text.len());
        self.by_hash.entry(hash).or_default().push(id);
        StringId(id)
    }

    /// The string of `id`; empty for an id of another table that is not here.
    #[must_use]
    pub fn get(&self, id: StringId) -> &str {
        let i = id.0 as usize;
        let start = i.checked_sub(1).and_then(|p| self.ends.get(p)).copied().unwrap_or(0);
        let end = self.ends.get(i).copied().unwrap_or(start);
        self.text.get(start..end).unwrap_or("")
    }

    /// Number of distinct strings.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_strings_share_an_id_and_come_back() {
        let mut table = StringTable::new();
        let words = ["main", "", "MPI_Wait", "main", "ä", ""];
        let ids: Vec<_> = words.iter().map(|w| table.intern(w)).collect();
        assert_eq!(table.len(), 4);
        for (word, id) in words.iter().zip(&ids) {
            assert_eq!(table.get(*id), *word);
        }
        assert_eq!(ids[0], ids[3]);
    }
}
