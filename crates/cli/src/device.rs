//! Where operations on many rows run: `--device`.

use std::sync::Arc;

use parallax_columns::{Compute, Processor};

pub(crate) use parallax_columns::DeviceChoice;

/// What does the operations for a choice.
pub(crate) trait Chosen {
    /// What does the operations.
    ///
    /// # Errors
    /// When a GPU was asked for by its number, and cannot be had.
    fn compute(self) -> anyhow::Result<Arc<dyn Compute>>;
}

impl Chosen for DeviceChoice {
    #[cfg(feature = "gpu")]
    fn compute(self) -> anyhow::Result<Arc<dyn Compute>> {
        use anyhow::Context as _;
        use parallax_gpu::{Gpu, Planner};
        Ok(match self {
            Self::Cpu => Arc::new(Processor::default()),
            Self::Gpu(number) => {
                let gpu = Gpu::open(number);
                Arc::new(Planner::forced(gpu.with_context(|| format!("cannot use gpu:{number}"))?))
            }
            Self::Auto => Arc::new(Planner::auto()),
        })
    }

    #[cfg(not(feature = "gpu"))]
    fn compute(self) -> anyhow::Result<Arc<dyn Compute>> {
        match self {
            Self::Cpu => Ok(Arc::new(Processor::default())),
            Self::Auto => Ok(Arc::new(Processor { reason: WITHOUT.to_owned() })),
            Self::Gpu(number) => anyhow::bail!("cannot use gpu:{number}: {WITHOUT}"),
        }
    }
}

/// Why there are no GPUs in this build.
#[cfg(not(feature = "gpu"))]
pub(crate) const WITHOUT: &str = "this parallax was built without the feature `gpu`";
