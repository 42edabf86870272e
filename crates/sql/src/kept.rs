//! [`Kept`]: whole tables whose columns stay in memory from one statement to the next.
//!
//! A table is kept when a second statement reads all of it, so a single statement costs what it reads
//! and no memory. What is kept counts as memory of statements, and gives way to them.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::buffer::Buffer;
use datafusion::arrow::datatypes::ArrowNativeType;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Result;
use datafusion::execution::memory_pool::{
    MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};
use parallax_base::Control;
use parallax_service::OpenExperiment;

use crate::device::{DeviceMemory, SqlDevice, SqlStep};
use crate::scan::Rows;
use crate::spare::Spare;

/// Bytes that are kept where memory has no limit.
const DEFAULT_BYTES: u64 = 1 << 30;

/// A table with all of its rows and columns.
pub(crate) struct KeptTable {
    /// The rows, in the order of the table.
    pub(crate) rows: RecordBatch,
    /// A number of its own on the device.
    pub(crate) number: u64,
    device: Arc<DeviceMemory>,
    /// The least and the greatest number of each column, once asked.
    spans: Box<[OnceLock<Option<Span>>]>,
    bytes: u64,
    reserved: MemoryReservation,
}

/// The least and the greatest number of a column.
pub(crate) type Span = (i64, i64);

impl KeptTable {
    /// The span of a column, which `find` finds the first time.
    pub(crate) fn span(
        &self,
        at: usize,
        find: impl FnOnce(&ArrayRef) -> Option<Span>,
    ) -> Option<Span> {
        let column = self.rows.columns().get(at)?;
        *self.spans.get(at)?.get_or_init(|| find(column))
    }
}

impl Drop for KeptTable {
    fn drop(&mut self) {
        self.device.forget(self.number);
    }
}

/// A table that statements have read whole.
struct Known {
    /// Where it is from; an experiment that is opened again is another one.
    opened: Weak<OpenExperiment>,
    name: &'static str,
    /// Its rows, where they are kept.
    table: Option<Arc<KeptTable>>,
}

/// The tables that an engine keeps, the latest first.
pub(crate) struct Kept {
    most_bytes: u64,
    known: Mutex<Vec<Known>>,
    /// Columns of them on a device.
    device: Arc<DeviceMemory>,
    /// Memory of results, for those of the next statements.
    spare: Spare,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kept {
    /// Keeps at most so many bytes: what was asked for, or half of the memory of statements, or what
    /// is usual where neither is said.
    pub(crate) fn new(asked: Option<u64>, memory: Option<u64>, device: SqlDevice) -> Self {
        let most_bytes = asked.or(memory.map(|bytes| bytes / 2)).unwrap_or(DEFAULT_BYTES);
        let device = Arc::new(DeviceMemory::new(device));
        Self { most_bytes, known: Mutex::default(), device, spare: Spare::default() }
    }

    /// The rows of a table that are in memory.
    fn there(&self, opened: &Arc<OpenExperiment>, name: &str) -> Option<Arc<KeptTable>> {
        let mut known = locked(&self.known);
        known.retain(|one| one.opened.strong_count() > 0);
        let at = known.iter().position(|one| one.is(opened, name))?;
        let one = known.remove(at);
        let table = one.table.clone();
        known.insert(0, one);
        table
    }

    /// Notes that a table is read whole, and gives whether it was before.
    fn asked(&self, opened: &Arc<OpenExperiment>, name: &'static str) -> bool {
        let mut known = locked(&self.known);
        known.retain(|one| one.opened.strong_count() > 0);
        let is_known = known.iter().any(|one| one.is(opened, name));
        if !is_known {
            known.insert(0, Known { opened: Arc::downgrade(opened), name, table: None });
        }
        is_known
    }

    /// Keeps a table, for which the least recently used ones have to go where both do not fit.
    fn keep(&self, opened: &Arc<OpenExperiment>, name: &'static str, table: &Arc<KeptTable>) {
        let mut known = locked(&self.known);
        known.retain(|one| one.opened.strong_count() > 0 && !one.is(opened, name));
        let table = Some(Arc::clone(table));
        known.insert(0, Known { opened: Arc::downgrade(opened), name, table });
        self.spare.give_way();
        let mut bytes = 0_u64;
        for one in &mut *known {
            bytes = bytes.saturating_add(one.table.as_ref().map_or(0, |table| table.bytes));
            if bytes > self.most_bytes {
                one.table = None;
            }
        }
    }

    /// Keeps nothing any more, and gives whether that frees memory of statements. A statement that
    /// uses a table goes on with it.
    fn give_way(&self) -> bool {
        let mut is_freed = self.spare.give_way();
        for one in &mut *locked(&self.known) {
            if let Some(table) = one.table.take() {
                is_freed |= table.reserved.free() > 0;
            }
        }
        is_freed
    }

    /// Bytes that are not taken by tables.
    fn free_bytes(&self) -> u64 {
        let known = locked(&self.known);
        let tables = known.iter().filter_map(|one| one.table.as_ref());
        self.most_bytes.saturating_sub(tables.map(|table| table.bytes).sum())
    }
}

impl Known {
    fn is(&self, opened: &Arc<OpenExperiment>, name: &str) -> bool {
        self.name == name && std::ptr::eq(self.opened.as_ptr(), Arc::as_ptr(opened))
    }
}

/// Tables by their names; `None` for those that are read.
type Chosen = HashMap<&'static str, Option<Arc<KeptTable>>>;

/// What one statement has of the tables that are kept.
#[derive(Clone)]
pub(crate) struct Keeper {
    pub(crate) kept: Arc<Kept>,
    pub(crate) opened: Arc<OpenExperiment>,
    pub(crate) pool: Arc<dyn MemoryPool>,
    /// The tables that the statement has from memory, and those that it reads. Whoever asks first
    /// decides for the whole statement.
    chosen: Arc<Mutex<Chosen>>,
    /// Where its steps ran.
    steps: Arc<Mutex<Vec<SqlStep>>>,
}

/// When a table that is not in memory is worth being there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Worth {
    /// When an earlier statement has read it.
    Again,
    /// Now: the statement needs all rows at the same time.
    Now,
}

impl Keeper {
    pub(crate) fn new(
        kept: &Arc<Kept>,
        opened: &Arc<OpenExperiment>,
        pool: &Arc<dyn MemoryPool>,
    ) -> Self {
        let (kept, opened, pool) = (Arc::clone(kept), Arc::clone(opened), Arc::clone(pool));
        Self { kept, opened, pool, chosen: Arc::default(), steps: Arc::default() }
    }

    /// Whether the table is in memory.
    pub(crate) fn has(&self, rows: &dyn Rows) -> bool {
        self.kept.there(&self.opened, rows.name()).is_some()
    }

    /// Whether the table may be in memory.
    pub(crate) fn fits(&self, rows: &dyn Rows) -> bool {
        rows.whole_bytes().is_some_and(|bytes| bytes <= self.kept.most_bytes)
    }

    /// The whole table, where it is in memory or worth being there; `None` where it is to be read.
    ///
    /// # Errors
    /// When the table cannot be read.
    pub(crate) fn table(
        &self,
        rows: &Arc<dyn Rows>,
        worth: Worth,
        control: &Control,
    ) -> Result<Option<Arc<KeptTable>>> {
        let mut chosen = locked(&self.chosen);
        if let Some(table) = chosen.get(rows.name()) {
            return Ok(table.clone());
        }
        let table = self.choose(rows, worth, control)?;
        chosen.insert(rows.name(), table.clone());
        Ok(table)
    }

    fn choose(
        &self,
        rows: &Arc<dyn Rows>,
        worth: Worth,
        control: &Control,
    ) -> Result<Option<Arc<KeptTable>>> {
        let name = rows.name();
        let Some(bytes) = rows.whole_bytes().filter(|_| self.fits(&**rows)) else {
            return Ok(None);
        };
        if let Some(table) = self.kept.there(&self.opened, name) {
            return Ok(Some(table));
        }
        if !self.kept.asked(&self.opened, name) && worth == Worth::Again {
            return Ok(None);
        }
        let reserved = MemoryConsumer::new("columns in memory").register(&self.pool);
        // What does not fit is read as it would be without.
        if reserved.try_grow(usize::try_from(bytes).unwrap_or(usize::MAX)).is_err() {
            return Ok(None);
        }
        let Some(rows) = Arc::clone(rows).whole(control)? else { return Ok(None) };
        let device = Arc::clone(&self.kept.device);
        let spans = rows.columns().iter().map(|_| OnceLock::new()).collect();
        let number = device.number();
        let table = Arc::new(KeptTable { rows, number, device, spans, bytes, reserved });
        self.kept.keep(&self.opened, name, &table);
        Ok(Some(table))
    }

    /// The device of the engine, where there may be one.
    pub(crate) fn device(&self) -> Option<&DeviceMemory> {
        Some(&*self.kept.device).filter(|device| device.is_any())
    }

    /// Notes where a step ran.
    pub(crate) fn ran(&self, step: SqlStep) {
        locked(&self.steps).push(step);
    }

    /// Where the steps ran.
    pub(crate) fn steps(&self) -> Vec<SqlStep> {
        locked(&self.steps).clone()
    }

    /// Room for at least so many values of a result, which are any.
    pub(crate) fn room<T: ArrowNativeType>(&self, rows: usize) -> Vec<T> {
        self.kept.spare.room(rows)
    }

    /// Keeps the memory of a result for that of the next statement.
    pub(crate) fn keep_room(&self, columns: &[Buffer]) {
        self.kept.spare.keep(columns, self.kept.free_bytes(), &self.pool);
    }

    /// The tables that the statement had from memory.
    pub(crate) fn used(&self) -> Vec<&'static str> {
        let chosen = locked(&self.chosen);
        let used = chosen.iter().filter(|(_, table)| table.is_some()).map(|(name, _)| *name);
        used.collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// Memory of statements, for which tables give way.
pub(crate) struct GivingWay<P> {
    pub(crate) pool: P,
    pub(crate) kept: Weak<Kept>,
}

impl<P> fmt::Debug for GivingWay<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GivingWay")
    }
}

impl<P: MemoryPool> fmt::Display for GivingWay<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.pool, f)
    }
}

impl<P: MemoryPool> MemoryPool for GivingWay<P> {
    fn name(&self) -> &str {
        self.pool.name()
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.pool.register(consumer);
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.pool.unregister(consumer);
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        self.pool.grow(reservation, additional);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        self.pool.shrink(reservation, shrink);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        match self.pool.try_grow(reservation, additional) {
            Err(_) if self.kept.upgrade().is_some_and(|kept| kept.give_way()) => {
                self.pool.try_grow(reservation, additional)
            }
            done => done,
        }
    }

    fn reserved(&self) -> usize {
        self.pool.reserved()
    }

    fn memory_limit(&self) -> MemoryLimit {
        self.pool.memory_limit()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use datafusion::arrow::array::UInt32Array;
    use datafusion::execution::memory_pool::UnboundedMemoryPool;

    use super::*;

    /// A table of so many rows with a column `k` of zeros.
    pub(crate) fn table(device: &Arc<DeviceMemory>, rows: usize) -> KeptTable {
        let pool: Arc<dyn MemoryPool> = Arc::new(UnboundedMemoryPool::default());
        let column: ArrayRef = Arc::new(UInt32Array::from(vec![0; rows]));
        KeptTable {
            rows: RecordBatch::try_from_iter([("k", column)]).unwrap(),
            number: device.number(),
            device: Arc::clone(device),
            spans: [OnceLock::new()].into(),
            bytes: 4 * rows as u64,
            reserved: MemoryConsumer::new("a table").register(&pool),
        }
    }
}
