//! Threads as locations, events as metrics.

use parallax_base::Unit;
use parallax_model::{
    IdentityKind, LocationCatalog, LocationCatalogBuilder, Metric, MetricCatalog, Scope,
};

use super::table::Table;
use crate::memory_store::Row;

/// What events of Callgrind and Cachegrind count, where files do not say it.
const MEANINGS: [(&str, &str); 20] = [
    ("Ir", "instructions executed"),
    ("Dr", "reads of memory"),
    ("Dw", "writes to memory"),
    ("I1mr", "instructions that missed the first-level cache"),
    ("D1mr", "reads that missed the first-level cache"),
    ("D1mw", "writes that missed the first-level cache"),
    ("ILmr", "instructions that missed the last-level cache"),
    ("DLmr", "reads that missed the last-level cache"),
    ("DLmw", "writes that missed the last-level cache"),
    ("I2mr", "instructions that missed the second-level cache"),
    ("D2mr", "reads that missed the second-level cache"),
    ("D2mw", "writes that missed the second-level cache"),
    ("Bc", "conditional branches executed"),
    ("Bcm", "conditional branches predicted wrongly"),
    ("Bi", "indirect branches executed"),
    ("Bim", "indirect branches predicted wrongly"),
    ("Ge", "global bus events"),
    ("sysCount", "system calls"),
    ("sysTime", "time in system calls, in the unit of --collect-systime"),
    ("sysCpuTime", "processor time in system calls, in nanoseconds"),
];

/// The metrics, by the ids of the values.
pub(super) fn metrics(table: &Table) -> MetricCatalog {
    let mut out = Vec::new();
    let mut add = |name: &str, text: &str, has_sum: bool| {
        let Ok(id) = u16::try_from(out.len() * 2) else { return };
        let scopes = [(Scope::Inclusive, id), (Scope::Exclusive, id + 1)];
        let mut metric = Metric::summed(name, Unit::Count, text, &scopes);
        if !has_sum {
            metric.statistics.clear();
        }
        out.push(metric);
    };
    for event in &table.events {
        let known = MEANINGS.iter().find(|(name, _)| *name == &*event.name);
        let known = known.map_or("", |(_, text)| text);
        let text = if event.long_name.is_empty() { known } else { &*event.long_name };
        add(&event.name, text, true);
    }
    add("CALLS", "number of calls", false);
    for event in &table.derived {
        add(&event.name, &event.long_name, true);
    }
    MetricCatalog::new(out)
}

/// One location for each thread of each process.
pub(super) fn catalog(table: &Table, rows: &[Vec<Row>]) -> LocationCatalog {
    let mut builder = LocationCatalogBuilder::new();
    let count = |at: usize| rows.get(at).map_or(0, |rows| rows.len() as u64);
    builder.push_summary(count(0));
    let mut processes: Vec<u64> = table.places.iter().map(|place| place.process).collect();
    processes.dedup();
    for (at, place) in table.places.iter().enumerate() {
        let rank = processes.binary_search(&place.process).unwrap_or(0) as u64;
        let identity = [(IdentityKind::Rank, rank), (IdentityKind::Thread, place.thread)];
        builder.push(identity, count(at + 1));
    }
    builder.finish()
}
