//! Operations on columns of whole numbers, such as those of trace events: [`filter()`],
//! [`filter_columns`], [`gather`], [`sort()`], [`group()`], [`join()`], [`histogram()`],
//! [`nearest()`], [`times_in_cells`], [`products()`]; and those on all columns of a table,
//! [`ColumnTable`].
//!
//! These run on all cores of the processor; `parallax-gpu` has the same operations on a GPU, with the
//! same results, bit for bit. [`ColumnDevice`] is what keeps columns there between operations. What
//! could depend on an order of work is defined by the order of the input: sorting is stable, groups
//! ascend by key, pairs of a join come in the order of its left side.
//!
//! Rows are counted by `u32`: a column has at most [`MAX_ROWS`].

#![cfg_attr(not(test), warn(clippy::cast_possible_truncation))]

mod cells;
mod choice;
mod compute;
mod device;
mod error;
mod events;
mod filter;
mod group;
mod histogram;
mod join;
mod memory;
mod moments;
mod nearest;
mod picks;
mod pieces;
mod products;
mod select;
mod sort;
mod table;

pub use cells::{Bins, Cells, times_in_cells};
pub use choice::DeviceChoice;
pub use compute::{Compute, Computed, Processor};
pub use device::{ColumnDevice, DeviceColumn, DeviceError, Number, Traffic, Values, Within};
pub use error::TableError;
pub use events::{Events, Keys, summarise};
pub use filter::{durations, filter, gather};
pub use group::{Groups, group};
pub use histogram::histogram;
pub use join::{Pairs, TooManyPairs, join};
pub use memory::{Filtered, Host, InRange, Memory, Shared};
pub use moments::{Moments, Squares};
pub use nearest::nearest;
pub use picks::{BLOCK_ROWS, Picks, blocks};
pub use products::{Products, products};
pub use select::{Numbers, Other, Room, Selected, filter_columns, select};
pub use sort::{sort, sort_by, sort_u32};
pub use table::{ColumnTable, HostValues, TableColumn};

/// How many rows a column has at most: numbers of rows are `u32`, and there is one for "none".
pub const MAX_ROWS: usize = u32::MAX as usize;
