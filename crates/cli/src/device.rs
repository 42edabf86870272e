//! Where operations on many rows run: `--device`.

use std::str::FromStr;
use std::sync::Arc;

use parallax_columns::{Compute, Processor};

/// What `--device` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeviceChoice {
    /// Where it takes less time.
    Auto,
    /// The processor.
    Cpu,
    /// The GPU with this number.
    Gpu(usize),
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text} is not a device; expected auto, cpu, gpu or gpu:N");
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "gpu" => Ok(Self::Gpu(0)),
            _ => {
                let number = text.strip_prefix("gpu:").ok_or_else(wrong)?;
                number.parse().map(Self::Gpu).map_err(|_| wrong())
            }
        }
    }
}

impl DeviceChoice {
    /// What does the operations.
    ///
    /// # Errors
    /// When a GPU was asked for by its number, and cannot be had.
    #[cfg(feature = "gpu")]
    pub(crate) fn compute(self) -> anyhow::Result<Arc<dyn Compute>> {
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

    /// What does the operations.
    ///
    /// # Errors
    /// When a GPU was asked for, which this build cannot use.
    #[cfg(not(feature = "gpu"))]
    pub(crate) fn compute(self) -> anyhow::Result<Arc<dyn Compute>> {
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
