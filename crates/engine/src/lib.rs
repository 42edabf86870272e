//! Questions to an experiment: the query language, pruning, slices, sums over the tree, views of
//! it, and tables of answers.
//!
//! Invariants: no file, no clock, no format. A number has one definition here, whoever asks.

pub mod query;

mod table;

pub use table::{Column, Table};
