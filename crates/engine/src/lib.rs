//! The query language, pruning, slices, aggregation and caches over the model.

pub mod query;
