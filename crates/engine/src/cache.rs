//! A cache with a budget of bytes; the least recently used answers leave first.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

pub(crate) struct ByteCache<K, V> {
    entries: HashMap<K, Entry<V>>,
    budget: u64,
    held: u64,
    uses: u64,
}

struct Entry<V> {
    value: Arc<V>,
    bytes: u64,
    last_use: u64,
}

impl<K: Clone + Eq + Hash, V> ByteCache<K, V> {
    pub(crate) fn new(budget: u64) -> Self {
        Self { entries: HashMap::new(), budget, held: 0, uses: 0 }
    }

    pub(crate) fn get(&mut self, key: &K) -> Option<Arc<V>> {
        self.uses += 1;
        let entry = self.entries.get_mut(key)?;
        entry.last_use = self.uses;
        Some(Arc::clone(&entry.value))
    }

    /// Keeps `value`, unless it alone is larger than the budget.
    pub(crate) fn put(&mut self, key: K, value: &Arc<V>, bytes: u64) {
        if bytes > self.budget {
            return;
        }
        while self.held + bytes > self.budget {
            let oldest = self.entries.iter().min_by_key(|(_, e)| e.last_use);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else { break };
            self.held -= self.entries.remove(&oldest).map_or(0, |entry| entry.bytes);
        }
        self.uses += 1;
        let entry = Entry { value: Arc::clone(value), bytes, last_use: self.uses };
        self.held += bytes;
        if let Some(old) = self.entries.insert(key, entry) {
            self.held -= old.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_holds_and_the_least_recently_used_leaves() {
        let mut cache = ByteCache::new(100);
        for key in 0..3 {
            cache.put(key, &Arc::new(key), 40);
            cache.get(&0);
        }
        assert_eq!(cache.held, 80);
        assert_eq!(cache.get(&0).as_deref(), Some(&0));
        assert_eq!(cache.get(&1), None);
        assert_eq!(cache.get(&2).as_deref(), Some(&2));
        cache.put(9, &Arc::new(9), 101);
        assert_eq!((cache.get(&9), cache.held), (None, 80));
        cache.put(2, &Arc::new(5), 10);
        assert_eq!(cache.held, 50);
    }
}
