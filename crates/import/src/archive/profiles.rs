//! What tracks spent in contexts as a profile: `TIME` inclusive and exclusive, and `CALLS`.
//!
//! Where the intervals come from samples, `REALTIME` is that time, `CPUTIME` the part of it in which
//! the thread had a processor, and how often something was called is not known.

use std::collections::BTreeMap;

use parallax_base::{Limits, Unit};
use parallax_formats::FormatError;
use parallax_formats::archive::{Archive, ContextRow, keys};
use parallax_model::{Metric, MetricCatalog, PREEMPTED, Scope, WAITING};

use super::order::Order;
use crate::memory_store::{MemoryStore, Row, sorted};

const TIME_INCLUSIVE: u16 = 0;
const TIME_EXCLUSIVE: u16 = 1;
const CALLS: u16 = 2;
const CPU_INCLUSIVE: u16 = 3;
const CPU_EXCLUSIVE: u16 = 4;

/// Columns of the table of profiles.
const TRACK: usize = 0;
const CONTEXT: usize = 1;
const NUM_CALLS: usize = 2;
const EXCLUSIVE: usize = 3;
const INCLUSIVE: usize = 4;

/// The metrics of an archive.
pub(super) fn metrics(archive: &Archive) -> MetricCatalog {
    if archive.fact(keys::SAMPLED).is_some() {
        return MetricCatalog::new(vec![
            Metric::summed(
                "CPUTIME",
                Unit::Seconds,
                "time on a processor, by samples",
                &[(Scope::Inclusive, CPU_INCLUSIVE), (Scope::Exclusive, CPU_EXCLUSIVE)],
            ),
            Metric::summed(
                "REALTIME",
                Unit::Seconds,
                "time on a processor and off it, by samples",
                &[(Scope::Inclusive, TIME_INCLUSIVE), (Scope::Exclusive, TIME_EXCLUSIVE)],
            ),
        ]);
    }
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
    let is_sampled = archive.fact(keys::SAMPLED).is_some();
    let off = if is_sampled { OffProcessor::of(archive) } else { OffProcessor::default() };
    for batch in archive.profile() {
        let batch = batch?;
        for i in 0..batch.rows() {
            let context = batch.u32_at(CONTEXT, i);
            let seconds = |column| batch.u64_at(column, i) as f64 / 1e9;
            let third = if is_sampled && !off.is(context) {
                (CPU_EXCLUSIVE, seconds(EXCLUSIVE))
            } else {
                // Of samples, calls are only how often one followed one of another context.
                (CALLS, if is_sampled { 0.0 } else { batch.u64_at(NUM_CALLS, i) as f64 })
            };
            let values =
                [(TIME_INCLUSIVE, seconds(INCLUSIVE)), (TIME_EXCLUSIVE, seconds(EXCLUSIVE)), third];
            // The root is where no function runs: that is no cost.
            if context == 0 || context as usize >= archive.contexts.len() {
                continue;
            }
            let values = values.into_iter().filter(|(metric, _)| !is_sampled || *metric != CALLS);
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
        let own = if is_sampled { with_processor_time(own, archive) } else { own };
        *rows = sorted(with_root(own, archive));
    }
    let num_values = rows.iter().map(|rows| rows.len() as u64).collect();
    Ok((MemoryStore::new(rows, limits), num_values))
}

/// Contexts in which a thread has no processor.
#[derive(Default)]
struct OffProcessor(Vec<bool>);

impl OffProcessor {
    fn of(archive: &Archive) -> Self {
        let is_off = |row: &ContextRow| {
            let function = archive.functions.get(row.function as usize);
            function.is_some_and(|function| [WAITING, PREEMPTED].contains(&function.name.as_str()))
        };
        Self(archive.contexts.iter().map(is_off).collect())
    }

    fn is(&self, context: u32) -> bool {
        self.0.get(context as usize).copied().unwrap_or(false)
    }
}

/// Adds the inclusive time on a processor: that of each context and of all below it. A parent has an
/// earlier row than its children, so going backwards meets children first.
fn with_processor_time(mut rows: Vec<Row>, archive: &Archive) -> Vec<Row> {
    let mut times: BTreeMap<u32, f64> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.metric == CPU_EXCLUSIVE) {
        *times.entry(row.context).or_default() += row.value;
    }
    while let Some((context, value)) = times.pop_last() {
        rows.push(Row { context, metric: CPU_INCLUSIVE, value });
        let parent = archive.contexts.get(context as usize).map(|row| row.parent);
        if let Some(parent) = parent.filter(|parent| *parent < context) {
            *times.entry(parent).or_default() += value;
        }
    }
    rows
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
