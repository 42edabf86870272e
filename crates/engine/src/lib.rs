//! Questions to an experiment: the query language, pruning, slices, sums over the tree, views of
//! it, and tables of answers.
//!
//! Invariants: no file, no clock, no format. A number has one definition here, whoever asks.

#![cfg_attr(not(test), warn(clippy::cast_possible_truncation))]

pub mod query;
pub mod resolve;
pub mod scopes;

mod answers;
mod cache;
mod callers;
mod costs;
mod derived;
mod error;
mod groups;
mod names;
mod prune;
mod session;
mod subtrees;
mod timeline;
mod views;

pub use answers::{
    Names, SampleColumns, location_names, sample_context_names, slice_request, slice_table,
    trace_columns, trace_table, track_columns,
};
pub use callers::{CallerNode, CallerRow, CallerRows, Callers};
pub use costs::{Costs, DefaultMetric};
pub use derived::{CostColumns, Measure};
pub use error::EngineError;
pub use groups::Groups;
pub use names::{display_name, display_name_with_templates};
pub use parallax_protocol::{Column, FlatBy, Table};
pub use prune::{FilterMode, PruneRules, TreeView};
pub use session::{LocationChoice, Session, WRAPPED_COUNT};
pub use subtrees::Subtrees;
pub use timeline::{
    Bins, CallList, CallRow, CallsQuestion, ContextSums, DurationBin, FindQuestion, FindResult,
    MAX_TILE_CELLS, Tile, TileCell, TileQuestion, TrackRange, call_depths,
};
pub use views::{FlatRow, TopDown, flat, row_costs};
