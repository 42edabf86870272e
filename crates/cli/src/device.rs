//! Where operations on many rows run: `--device`.

use std::sync::Arc;

use parallax_columns::{Compute, Processor};
#[cfg(feature = "sql")]
use parallax_sql::SqlDevice;

pub(crate) use parallax_columns::DeviceChoice;

/// What does the operations for a choice.
pub(crate) trait Chosen {
    /// What does the operations.
    ///
    /// # Errors
    /// When a GPU was asked for by its number, and cannot be had.
    fn compute(self) -> anyhow::Result<Arc<dyn Compute>>;

    /// What does steps of statements over tables in memory, with so many bytes of columns on the
    /// device at most.
    ///
    /// # Errors
    /// When a GPU was asked for by its number, and cannot be had.
    #[cfg(feature = "sql")]
    fn statements(self, bytes: Option<u64>) -> anyhow::Result<SqlDevice>;

    /// Why statements use the processor alone, where this build leaves no choice.
    #[cfg(feature = "sql")]
    fn why_processor(self) -> Option<&'static str>;
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

    #[cfg(all(feature = "sql", feature = "gpu"))]
    fn statements(self, bytes: Option<u64>) -> anyhow::Result<SqlDevice> {
        use anyhow::Context as _;
        use parallax_columns::ColumnDevice;
        use parallax_gpu::Gpu;
        let device = match self {
            Self::Cpu => SqlDevice::processor(),
            Self::Gpu(number) => {
                let gpu = Gpu::open(number);
                let gpu = gpu.with_context(|| format!("cannot use gpu:{number}"))?;
                SqlDevice::forced(Arc::new(gpu))
            }
            Self::Auto => SqlDevice::auto(|| match Gpu::open(0) {
                Ok(gpu) => Ok(Arc::new(gpu) as Arc<dyn ColumnDevice>),
                Err(error) => Err(error.to_string()),
            }),
        };
        Ok(device.keeping(bytes))
    }

    #[cfg(all(feature = "sql", not(feature = "gpu")))]
    fn statements(self, _: Option<u64>) -> anyhow::Result<SqlDevice> {
        match self {
            Self::Cpu | Self::Auto => Ok(SqlDevice::processor()),
            Self::Gpu(number) => anyhow::bail!("cannot use gpu:{number}: {WITHOUT}"),
        }
    }

    #[cfg(feature = "sql")]
    fn why_processor(self) -> Option<&'static str> {
        #[cfg(not(feature = "gpu"))]
        if self == Self::Auto {
            return Some(WITHOUT);
        }
        None
    }
}

/// Why there are no GPUs in this build.
#[cfg(not(feature = "gpu"))]
pub(crate) const WITHOUT: &str = "this parallax was built without the feature `gpu`";
