//! [`Blocks`]: what was read of objects, in blocks, in a bounded amount of memory.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;

use crate::StoreError;

/// Size of a block: what a small read costs in bytes, so that a large one does not cost more
/// requests.
pub(crate) const BLOCK_BYTES: u64 = 256 << 10;
/// Blocks that one request reads at most, where a file is read from front to back.
pub(crate) const MOST_AHEAD: u64 = 16;
/// Memory for blocks.
const CACHE_BYTES: u64 = 128 << 20;

/// Blocks of all objects, by the number of their file.
pub(crate) struct Blocks {
    state: Mutex<State>,
    /// A block arrived, or will not.
    arrived: Condvar,
    most: usize,
    /// Numbers of files, by what they are called: one that is opened again is the same one.
    files: Mutex<HashMap<String, u64>>,
}

#[derive(Default)]
struct State {
    slots: HashMap<(u64, u64), Slot>,
    num_ready: usize,
    clock: u64,
}

enum Slot {
    /// A thread reads it.
    Loading,
    Ready {
        bytes: Bytes,
        used: u64,
    },
}

impl Blocks {
    /// Those that all buckets of the process share.
    pub(crate) fn shared() -> Arc<Self> {
        static SHARED: OnceLock<Arc<Blocks>> = OnceLock::new();
        let most = usize::try_from(CACHE_BYTES / BLOCK_BYTES).unwrap_or(1);
        Arc::clone(SHARED.get_or_init(|| Arc::new(Self::new(most))))
    }

    /// Room for so many blocks.
    pub(crate) fn new(most: usize) -> Self {
        let (state, arrived) = (Mutex::default(), Condvar::new());
        Self { state, arrived, most: most.max(1), files: Mutex::default() }
    }

    /// A number for the file of this name, which is that of one content.
    pub(crate) fn file(&self, name: String) -> u64 {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let next = files.len() as u64;
        *files.entry(name).or_insert(next)
    }

    /// The block of a file. Where it is not there, `ahead` says up to which block it is worth reading,
    /// and `read` reads a range of blocks; others who want one of them wait.
    pub(crate) fn get(
        &self,
        file: u64,
        block: u64,
        ahead: impl Fn() -> u64,
        read: impl Fn(Range<u64>) -> Result<Vec<Bytes>, StoreError>,
    ) -> Result<Bytes, StoreError> {
        let mut state = self.lock();
        loop {
            let clock = state.clock + 1;
            match state.slots.get_mut(&(file, block)) {
                Some(Slot::Ready { bytes, used }) => {
                    *used = clock;
                    let bytes = bytes.clone();
                    state.clock = clock;
                    return Ok(bytes);
                }
                Some(Slot::Loading) => {
                    state = self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                None => break,
            }
        }
        let end = ahead().max(block + 1);
        let is_known = |at: &u64| state.slots.contains_key(&(file, *at));
        let end = (block + 1..end).find(is_known).unwrap_or(end);
        for at in block..end {
            state.slots.insert((file, at), Slot::Loading);
        }
        drop(state);
        let loading = Loading { blocks: self, file, range: block..end };
        let bytes = read(block..end)?;
        let first = bytes.first().cloned().unwrap_or_default();
        loading.arrived(bytes);
        Ok(first)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Blocks that are being read; what does not arrive is not there for others either.
struct Loading<'a> {
    blocks: &'a Blocks,
    file: u64,
    range: Range<u64>,
}

impl Loading<'_> {
    fn arrived(&self, bytes: Vec<Bytes>) {
        let mut state = self.blocks.lock();
        for (at, bytes) in self.range.clone().zip(bytes) {
            state.clock += 1;
            let used = state.clock;
            state.slots.insert((self.file, at), Slot::Ready { bytes, used });
            state.num_ready += 1;
        }
        while state.num_ready > self.blocks.most {
            let used = |(key, slot): (&(u64, u64), &Slot)| match slot {
                Slot::Ready { used, .. } => Some((*used, *key)),
                Slot::Loading => None,
            };
            let Some((_, oldest)) = state.slots.iter().filter_map(used).min() else { break };
            state.slots.remove(&oldest);
            state.num_ready -= 1;
        }
    }
}

impl Drop for Loading<'_> {
    fn drop(&mut self) {
        let mut state = self.blocks.lock();
        for at in self.range.clone() {
            if matches!(state.slots.get(&(self.file, at)), Some(Slot::Loading)) {
                state.slots.remove(&(self.file, at));
            }
        }
        drop(state);
        self.blocks.arrived.notify_all();
    }
}
