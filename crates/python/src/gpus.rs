//! GPUs that are open: one each for the whole process, so that tables there can be combined.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use parallax_gpu::{Gpu, GpuError};

static OPEN: Mutex<BTreeMap<usize, Arc<Gpu>>> = Mutex::new(BTreeMap::new());

/// The GPU with this number. It stays open, because opening compiles its kernels.
pub(crate) fn gpu(number: usize) -> Result<Arc<Gpu>, GpuError> {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(gpu) = open.get(&number) {
        return Ok(Arc::clone(gpu));
    }
    let gpu = Arc::new(Gpu::open(number)?);
    open.insert(number, Arc::clone(&gpu));
    Ok(gpu)
}

/// Opens a GPU that has failed anew the next time: it does nothing any more.
pub(crate) fn forget(gpu: &Arc<Gpu>) {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.retain(|_, known| !Arc::ptr_eq(known, gpu));
}
