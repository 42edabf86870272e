//! Questions to one experiment, on drawn databases whose answers can be computed by hand and on
//! real ones, where different questions must agree.

#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod callers;
mod databases;
mod distribution;
#[path = "../drawn/mod.rs"]
mod drawn;
mod formulas;
mod helpers;
mod source;
mod tree_table;
