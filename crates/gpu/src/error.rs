//! Why something could not be done on a GPU.

/// Why something could not be done on a GPU. Whoever has the columns in memory can do it there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GpuError {
    /// There is no such device.
    #[error("{0}")]
    NoDevice(String),
    /// The device lacks what the kernels need.
    #[error("{device} has no {lacks}, which the kernels need")]
    Unsupported {
        /// The device.
        device: String,
        /// What it lacks.
        lacks: &'static str,
    },
    /// A column is larger than the device allows.
    #[error(
        "a column of {bytes} bytes is larger than {limit} bytes, the most that the device allows"
    )]
    TooLarge {
        /// Size of the column.
        bytes: u64,
        /// What the device allows.
        limit: u64,
    },
    /// The device's memory is used up.
    #[error("no memory on the device for {bytes} more bytes")]
    OutOfMemory {
        /// What did not fit.
        bytes: u64,
    },
    /// A join has more pairs than a column can have rows.
    #[error("the join has more pairs of rows with equal keys than a column can have rows")]
    TooManyPairs,
    /// Columns of one table have different numbers of rows.
    #[error("a column of {one} rows and one of {other} rows do not belong to one table")]
    Lengths {
        /// Rows of one of them.
        one: usize,
        /// Rows of the other one.
        other: usize,
    },
    /// The driver failed.
    #[error("the device failed: {0}")]
    Failed(String),
}

impl GpuError {
    /// Whether a part of the rows could still be done: there was no room for all.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self, Self::TooLarge { .. } | Self::OutOfMemory { .. })
    }
}
