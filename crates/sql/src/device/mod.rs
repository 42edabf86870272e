//! [`SqlDevice`]: on which device steps of statements run, over tables in memory.

mod job;
mod memory;
mod samples;
mod times;

use std::fmt;
use std::sync::Arc;

use parallax_columns::{ColumnDevice, Traffic};

pub(crate) use job::{Job, JobResult, Operand, Share, What};
pub(crate) use memory::{DeviceMemory, Outcome};
pub(crate) use samples::spread;

/// What opens a device, or says why there is none.
type Open = dyn Fn() -> Result<Arc<dyn ColumnDevice>, String> + Send + Sync;

/// On which device steps of statements run, over tables in memory. Results do not depend on it.
pub struct SqlDevice {
    on: On,
    most_bytes: Option<u64>,
}

enum On {
    Processor,
    Auto(Box<Open>),
    Forced(Arc<dyn ColumnDevice>),
}

impl Default for SqlDevice {
    fn default() -> Self {
        Self::processor()
    }
}

impl fmt::Debug for SqlDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.on {
            On::Processor => "SqlDevice::processor",
            On::Auto(_) => "SqlDevice::auto",
            On::Forced(_) => "SqlDevice::forced",
        })
    }
}

impl SqlDevice {
    /// The processor.
    #[must_use]
    pub fn processor() -> Self {
        Self { on: On::Processor, most_bytes: None }
    }

    /// Wherever it takes less time. The device is opened when a table has enough rows for it.
    pub fn auto(
        open: impl Fn() -> Result<Arc<dyn ColumnDevice>, String> + Send + Sync + 'static,
    ) -> Self {
        Self { on: On::Auto(Box::new(open)), most_bytes: None }
    }

    /// This device, whatever it takes.
    #[must_use]
    pub fn forced(device: Arc<dyn ColumnDevice>) -> Self {
        Self { on: On::Forced(device), most_bytes: None }
    }

    /// The same, with so many bytes of columns on the device at most. By default half of its memory.
    #[must_use]
    pub fn keeping(self, bytes: Option<u64>) -> Self {
        Self { most_bytes: bytes, ..self }
    }
}

/// Where a step of a statement ran, over a table in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlStep {
    /// What it does of which table.
    pub step: String,
    /// The name of the device; `cpu` for the processor.
    pub device: String,
    /// Why there.
    pub reason: String,
    /// Bytes that were copied to the device for it, and from it.
    pub traffic: Traffic,
    /// Bytes of columns that stay on the device afterwards.
    pub resident_bytes: u64,
}

impl SqlStep {
    /// A step on the processor, and why.
    pub(crate) fn on_processor(reason: impl Into<String>) -> Self {
        Self {
            step: String::new(),
            device: "cpu".to_owned(),
            reason: reason.into(),
            traffic: Traffic::default(),
            resident_bytes: 0,
        }
    }
}
