//! [`Computed`]: tables that a statement has whole, each computed once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::record_batch::RecordBatch;
use datafusion::catalog::{MemTable, TableProvider};
use datafusion::common::Result;

/// A table, once it is computed.
type Slot = Arc<Mutex<Option<RecordBatch>>>;

/// The tables that a statement has whole, by what was asked. A statement names some more than once,
/// and executors plan it again for each part.
#[derive(Clone, Default)]
pub(crate) struct Computed(Arc<Mutex<HashMap<String, Slot>>>);

impl Computed {
    /// The table that was asked for, which `make` computes where it is not there yet; whoever asks
    /// for it meanwhile waits.
    ///
    /// # Errors
    /// Those of `make`; the next one tries again.
    pub(crate) fn table(
        &self,
        asked: String,
        make: impl FnOnce() -> Result<RecordBatch>,
    ) -> Result<Arc<dyn TableProvider>> {
        let slot = {
            let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(slots.entry(asked).or_default())
        };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        let batch = match &*slot {
            Some(batch) => batch.clone(),
            None => slot.insert(make()?).clone(),
        };
        Ok(Arc::new(MemTable::try_new(batch.schema(), vec![vec![batch]])?))
    }
}
