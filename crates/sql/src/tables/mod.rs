//! The tables of an experiment or an ensemble, by name.

mod catalogue;
mod derived;
mod ensembles;
mod events;
mod recordings;
mod samples;
mod values;

use std::sync::Arc;

use datafusion::common::DataFusionError;
use parallax_service::ServiceError;

pub(crate) use catalogue::{Catalogue, of};

/// Why a table cannot be read, as DataFusion passes it on.
pub(crate) fn failed(error: impl Into<ServiceError>) -> DataFusionError {
    DataFusionError::External(Box::new(error.into()))
}

/// Rows that are read at a time.
const BATCH_ROWS: u64 = 1 << 20;

/// Parts of a list that are read one after the other: each with about as many rows as are wanted at
/// once, given how many all have together.
pub(crate) fn parts<T: Clone>(list: &[T], rows: u64, most: Option<usize>) -> Vec<Arc<[T]>> {
    let at_once = most.map_or(BATCH_ROWS, |most| (most as u64).clamp(1, BATCH_ROWS));
    let parts = rows.div_ceil(at_once).max(1);
    let len = (list.len() as u64).div_ceil(parts).max(1);
    list.chunks(usize::try_from(len).unwrap_or(usize::MAX)).map(Into::into).collect()
}
