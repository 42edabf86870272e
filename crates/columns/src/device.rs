//! [`ColumnDevice`]: a device with memory of its own, in which columns stay from one operation to the
//! next.

use std::any::Any;
use std::sync::Arc;

use crate::Groups;

/// What is known of a device, and what it does with columns that are in its memory.
///
/// Results are those of the processor, bit for bit.
pub trait ColumnDevice: Send + Sync {
    /// What it is called.
    fn name(&self) -> String;

    /// Whether it is the processor after all, through a driver.
    fn is_software(&self) -> bool;

    /// Bytes of its memory, where its driver says so.
    fn memory_bytes(&self) -> Option<u64>;

    /// Bytes that were copied to it and from it since it was opened.
    fn traffic(&self) -> Traffic;

    /// Copies a column to it, and waits until it is there.
    ///
    /// # Errors
    /// When the device fails or has no room.
    fn copy(&self, values: Values<'_>) -> Result<DeviceColumn, DeviceError>;

    /// Gives memory that no column has any more back to the system.
    fn release(&self);

    /// The number of rows whose numbers are all in their ranges, of columns with so many rows.
    ///
    /// # Errors
    /// When the device fails or has no room.
    fn count(&self, rows: usize, within: &[Within<'_>]) -> Result<u64, DeviceError>;

    /// Groups of the numbers of rows that are in all ranges, by one key or by two, of which the first
    /// one is the major one: the same groups for each of `values`.
    ///
    /// # Errors
    /// When the device fails or has no room, and when a value is negative.
    fn group(
        &self,
        keys: &[&DeviceColumn],
        within: &[Within<'_>],
        values: &[Number<'_>],
    ) -> Result<Vec<Groups>, DeviceError>;

    /// The first rows that are in all ranges, in ascending order of numbers, the first of which counts
    /// most; those of numbers with `true` descend. Equal ones keep their order, and without numbers
    /// all that are in the ranges do, of which there must be one.
    ///
    /// # Errors
    /// When the device fails or has no room.
    fn first(
        &self,
        most: usize,
        order: &[(Number<'_>, bool)],
        within: &[Within<'_>],
    ) -> Result<Vec<u32>, DeviceError>;
}

/// Bytes that were copied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// To the device.
    pub to_bytes: u64,
    /// From the device.
    pub from_bytes: u64,
}

/// Values of a column.
#[derive(Debug, Clone, Copy)]
pub enum Values<'a> {
    /// Of 32 bits.
    Narrow(&'a [u32]),
    /// Of 64 bits.
    Wide(&'a [i64]),
}

impl Values<'_> {
    /// Their bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Narrow(values) => size_of_val(*values) as u64,
            Self::Wide(values) => size_of_val(*values) as u64,
        }
    }
}

/// A column in the memory of a device, which is freed with the last clone.
#[derive(Clone)]
pub struct DeviceColumn {
    column: Arc<dyn Any + Send + Sync>,
    bytes: u64,
}

impl std::fmt::Debug for DeviceColumn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeviceColumn").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl DeviceColumn {
    /// What a device has for a column of so many bytes.
    pub fn new(column: impl Any + Send + Sync, bytes: u64) -> Self {
        Self { column: Arc::new(column), bytes }
    }

    /// What the device has, where it is of this type.
    #[must_use]
    pub fn get<C: Any>(&self) -> Option<&C> {
        self.column.downcast_ref()
    }

    /// Bytes of its values.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// A whole number of each row.
#[derive(Debug, Clone, Copy)]
pub enum Number<'a> {
    /// The value of a column.
    Column(&'a DeviceColumn),
    /// The value of a wide column less that of another one, without the bits that are too many.
    Difference(&'a DeviceColumn, &'a DeviceColumn),
}

/// That a number is in a range, both ends included; an empty one has no numbers.
#[derive(Debug, Clone, Copy)]
pub struct Within<'a> {
    /// The number.
    pub number: Number<'a>,
    /// The least one.
    pub low: i64,
    /// The greatest one.
    pub high: i64,
}

/// Why a device has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceError {
    /// There was no room for all; a part of the rows could still be done.
    Full(String),
    /// The values are none that it computes with.
    Unsuitable(String),
    /// It failed.
    Failed(String),
}

impl std::fmt::Display for DeviceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Full(why) | Self::Unsuitable(why) | Self::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for DeviceError {}
