//! Writers: tables and replies as JSON, JSON Lines, CSV, Arrow IPC and Parquet.
//!
//! Every answer is a [`Table`], and every writer here carries the same columns in the same order
//! with the same values. Writers stream: memory is bounded by a block of rows, never by the table.
//!
//! | writer | null | not a number, infinite | 64-bit integers | units |
//! | --- | --- | --- | --- | --- |
//! | [`write_json`] | `null` | `null` | digits; readers with doubles only round above 2^53 | `columns[].unit` |
//! | [`write_jsonl`] | `null` | `null` | the same | not carried |
//! | [`write_csv`] | nothing | `NaN`, `inf`, `-inf` | digits | not carried |
//! | [`write_arrow`] | null | kept | kept | metadata of the field |
//! | [`write_parquet`] | null | kept | kept | metadata of the field, in the Arrow schema |
//!
//! Invariant: what is written is a promise to other programs, as are the types of
//! `parallax_protocol`; types elsewhere are not serialisable and may change.

mod cells;
mod chunks;
mod columnar;
mod csv;
mod document;
mod error;
mod json;
#[cfg(feature = "parquet")]
mod parquet;
mod replies;
mod top;

pub use cells::{Cell, Cells};
pub use columnar::{write_arrow, write_arrow_packed};
pub use csv::write_csv;
pub use document::Document;
pub use error::WireError;
pub use json::{write_json, write_jsonl};
pub use parallax_protocol::{Column, ColumnType, Table};
#[cfg(feature = "parquet")]
pub use parquet::write_parquet;
pub use replies::write_reply;
pub use serde::Serialize;
pub use top::{TopRows, UnknownColumn};
