//! [`Spare`]: memory of results, which those of later statements are written to.
//!
//! Memory that the system gives anew is cleared first, which takes as long as writing a result. A
//! result can be in use for any time; its memory is used again only once it is not.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use datafusion::arrow::buffer::Buffer;
use datafusion::arrow::datatypes::ArrowNativeType;
use datafusion::execution::memory_pool::{
    MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};

/// Room that is larger than what is needed is used up to this factor, and this many bytes.
const FACTOR: usize = 2;
const FEW_BYTES: usize = 1 << 20;

/// Memory of the latest results.
#[derive(Default)]
pub(crate) struct Spare(Mutex<Vec<Room>>);

/// Memory of one column.
struct Room {
    values: Buffer,
    reserved: MemoryReservation,
}

impl Spare {
    fn locked(&self) -> MutexGuard<'_, Vec<Room>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Room for at least so many values, which are any.
    pub(crate) fn room<T: ArrowNativeType>(&self, rows: usize) -> Vec<T> {
        let bytes = rows.saturating_mul(size_of::<T>());
        let most = bytes.saturating_mul(FACTOR).saturating_add(FEW_BYTES);
        let mut rooms = self.locked();
        for at in 0..rooms.len() {
            if !(bytes..=most).contains(&rooms[at].values.len()) {
                continue;
            }
            let Room { values, reserved } = rooms.swap_remove(at);
            match values.into_vec() {
                Ok(values) => return values,
                // Of another width, or of a result that is still in use.
                Err(values) => {
                    rooms.push(Room { values, reserved });
                    let last = rooms.len() - 1;
                    rooms.swap(at, last);
                }
            }
        }
        drop(rooms);
        vec![T::default(); rows]
    }

    /// Keeps the memory of a result in place of that of earlier ones, where it has at most so many
    /// bytes and statements need no more of theirs.
    pub(crate) fn keep(&self, columns: &[Buffer], most_bytes: u64, pool: &Arc<dyn MemoryPool>) {
        let bytes: u64 = columns.iter().map(|values| values.len() as u64).sum();
        drop(std::mem::take(&mut *self.locked()));
        // Tables that are kept do not give way to it.
        let is_room = match pool.memory_limit() {
            MemoryLimit::Finite(limit) => bytes <= limit.saturating_sub(pool.reserved()) as u64,
            MemoryLimit::Infinite | MemoryLimit::Unknown => true,
        };
        if bytes > most_bytes || !is_room {
            return;
        }
        let mut rooms = Vec::with_capacity(columns.len());
        for values in columns {
            let reserved = MemoryConsumer::new("memory of the last result").register(pool);
            if reserved.try_grow(values.len()).is_err() {
                return;
            }
            rooms.push(Room { values: values.clone(), reserved });
        }
        *self.locked() = rooms;
    }

    /// Keeps nothing any more, and gives whether that frees memory of statements.
    pub(crate) fn give_way(&self) -> bool {
        let rooms = std::mem::take(&mut *self.locked());
        rooms.iter().fold(false, |is_freed, room| is_freed | (room.reserved.free() > 0))
    }
}

#[cfg(test)]
mod tests {
    use datafusion::execution::memory_pool::GreedyMemoryPool;

    use super::*;

    fn pool(bytes: usize) -> Arc<dyn MemoryPool> {
        Arc::new(GreedyMemoryPool::new(bytes))
    }

    fn place<T>(values: &[T]) -> usize {
        values.as_ptr().addr()
    }

    #[test]
    fn memory_of_a_result_is_used_again_when_the_result_is_not() {
        let (spare, pool) = (Spare::default(), pool(1 << 30));
        let rows = 1 << 20;
        let result = Buffer::from_vec(spare.room::<u64>(rows));
        let first = place(&result);
        spare.keep(std::slice::from_ref(&result), 1 << 30, &pool);
        assert_eq!(pool.reserved(), rows * 8);
        // While it is in use, another place is given.
        assert_ne!(place(&spare.room::<u64>(rows)), first);
        drop(result);
        // Numbers of another width, and many fewer or more, go elsewhere.
        assert_ne!(place(&spare.room::<u32>(rows * 2)), first);
        assert_ne!(place(&spare.room::<u64>(rows + 1)), first);
        assert_ne!(place(&spare.room::<u64>(rows / 4)), first);
        let again = spare.room::<u64>(rows - 5);
        assert_eq!((place(&again), again.len()), (first, rows));
        assert_eq!(pool.reserved(), 0);
        assert_ne!(place(&spare.room::<u64>(rows)), first);
    }

    #[test]
    fn memory_of_results_has_a_limit_and_gives_way() {
        let (spare, pool) = (Spare::default(), pool(10_000));
        let result = |rows: usize| [Buffer::from_vec(vec![1_u64; rows])];
        spare.keep(&result(1000), 8000, &pool);
        assert_eq!(pool.reserved(), 8000);
        // The next one takes its place.
        spare.keep(&result(500), 8000, &pool);
        assert_eq!(pool.reserved(), 4000);
        assert!(spare.give_way());
        assert_eq!(pool.reserved(), 0);
        assert!(!spare.give_way());
        // More than is allowed, and more than statements have.
        spare.keep(&result(1001), 8000, &pool);
        assert_eq!(pool.reserved(), 0);
        spare.keep(&result(2000), 1 << 20, &pool);
        assert_eq!(pool.reserved(), 0);
    }
}
