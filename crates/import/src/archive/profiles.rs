//! What tracks spent in contexts as a profile: `TIME` inclusive and exclusive, and `CALLS`.

use parallax_base::{Limits, Unit};
use parallax_formats::FormatError;
use parallax_formats::archive::Archive;
use parallax_model::{Metric, MetricCatalog, Scope};

use super::order::Order;
use crate::memory_store::{MemoryStore, Row, sorted};

const TIME_INCLUSIVE: u16 = 0;
const TIME_EXCLUSIVE: u16 = 1;
const CALLS: u16 = 2;

/// Columns of the table of profiles.
const TRACK: usize = 0;
const CONTEXT: usize = 1;
const NUM_CALLS: usize = 2;
const EXCLUSIVE: usize = 3;
const INCLUSIVE: usize = 4;

/// The metrics of every archive.
pub(super) fn metrics() -> MetricCatalog {
    MetricCatalog::new(vec![
        Metric::summed(
            "TIME",
            Unit::Seconds,
            "time between entering and leaving",
            &[(Scope::Inclusive, TIME_INCLUSIVE), (Scope::Exclusive, TIME_EXCLUSIVE)],
        ),
        Metric::summed("CALLS", Unit::Count, "number of calls", &[(Scope::Exclusive, CALLS)]),
    ])
}

/// Reads the profile of the whole trace, and the number of values of each location: the summary
/// and all tracks in their order.
pub(super) fn read(
    archive: &Archive,
    order: &Order,
    limits: Limits,
) -> Result<(MemoryStore, Vec<u64>), FormatError> {
    let mut rows: Vec<Vec<Row>> = vec![Vec::new(); archive.tracks.len() + 1];
    for batch in archive.profile() {
        let batch = batch?;
        for i in 0..batch.rows() {
            let context = batch.u32_at(CONTEXT, i);
            let seconds = |column| batch.u64_at(column, i) as f64 / 1e9;
            let values = [
                (TIME_INCLUSIVE, seconds(INCLUSIVE)),
                (TIME_EXCLUSIVE, seconds(EXCLUSIVE)),
                (CALLS, batch.u64_at(NUM_CALLS, i) as f64),
            ];
            // The root is where no function runs: that is no cost.
            if context == 0 || context as usize >= archive.contexts.len() {
                continue;
            }
            let track = (order.track(batch.u32_at(TRACK, i)) as usize).saturating_add(1);
            for (metric, value) in values {
                for location in [0, track] {
                    if let Some(rows) = rows.get_mut(location) {
                        rows.push(Row { context, metric, value });
                    }
                }
            }
        }
    }
    for rows in &mut rows {
        let own = std::mem::take(rows);
        *rows = sorted(with_root(own, archive));
    }
    let num_values = rows.iter().map(|rows| rows.len() as u64).collect();
    Ok((MemoryStore::new(rows, limits), num_values))
}

/// Adds the inclusive time of the root: that of the contexts right below it.
fn with_root(mut rows: Vec<Row>, archive: &Archive) -> Vec<Row> {
    let is_outermost = |row: &&Row| {
        let context = archive.contexts.get(row.context as usize);
        row.metric == TIME_INCLUSIVE && context.is_some_and(|context| context.parent == 0)
    };
    let value = rows.iter().filter(is_outermost).map(|row| row.value).sum();
    rows.push(Row { context: 0, metric: TIME_INCLUSIVE, value });
    rows
}
