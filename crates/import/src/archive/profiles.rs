//! What tracks spent in contexts as a profile: `TIME` inclusive and exclusive, and `CALLS`.
//!
//! Exclusive is what functions and loops spent in their own code: with the loops and lines of it, which
//! are contexts of their own.
//!
//! Where the intervals come from samples, `REALTIME` is that time, `CPUTIME` the part of it in which
//! the thread had a processor, and how often something was called is not known. Events that were
//! counted are metrics of their names.

use std::collections::BTreeMap;

use parallax_base::{Limits, Unit};
use parallax_formats::FormatError;
use parallax_formats::archive::{Archive, ContextRow, FunctionRow, keys};
use parallax_model::{Metric, MetricCatalog, PREEMPTED, Scope, WAITING};

use super::order::Order;
use crate::memory_store::{MemoryStore, Row, sorted};

const TIME_INCLUSIVE: u16 = 0;
const TIME_EXCLUSIVE: u16 = 1;
const CALLS: u16 = 2;
const CPU_INCLUSIVE: u16 = 3;
const CPU_EXCLUSIVE: u16 = 4;
/// The first event that was counted; two numbers for each.
const EVENTS: u16 = 5;

/// Columns of the table of profiles.
const TRACK: usize = 0;
const CONTEXT: usize = 1;
const NUM_CALLS: usize = 2;
const EXCLUSIVE: usize = 3;
const INCLUSIVE: usize = 4;

/// Columns of the table of counts, whose first one is the track, too.
const COUNT_CONTEXT: usize = 1;
const COUNT_COUNTER: usize = 2;
const COUNT: usize = 3;

/// The metrics of an archive.
pub(super) fn metrics(archive: &Archive) -> MetricCatalog {
    if archive.fact(keys::SAMPLED).is_some() {
        let mut metrics = vec![
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
        ];
        metrics.extend(event_metrics(archive, "counted by the kernel, attributed by samples"));
        return MetricCatalog::new(metrics);
    }
    let mut metrics = vec![
        Metric::summed(
            "TIME",
            Unit::Seconds,
            "time between entering and leaving",
            &[(Scope::Inclusive, TIME_INCLUSIVE), (Scope::Exclusive, TIME_EXCLUSIVE)],
        ),
        Metric::summed("CALLS", Unit::Count, "number of calls", &[(Scope::Exclusive, CALLS)]),
    ];
    metrics.extend(event_metrics(archive, "counted by call stack, apart from calls"));
    MetricCatalog::new(metrics)
}

/// A metric for each event that was counted.
fn event_metrics(archive: &Archive, about: &'static str) -> impl Iterator<Item = Metric> {
    Event::all(archive).filter_map(move |event| {
        let counter = archive.counters.get(event.counter as usize)?;
        let scopes = [(Scope::Inclusive, event.inclusive), (Scope::Exclusive, event.exclusive)];
        Some(Metric::summed(&counter.name, event.unit(archive).0, about, &scopes))
    })
}

/// An event that was counted, and the numbers of its metric.
#[derive(Debug, Clone, Copy)]
struct Event {
    counter: u32,
    /// How often it happened, where that is known: samples only distribute that.
    total: Option<u64>,
    inclusive: u16,
    exclusive: u16,
}

impl Event {
    fn all(archive: &Archive) -> impl Iterator<Item = Self> {
        let numbers = (EVENTS..u16::MAX).step_by(2);
        archive.counted_events().zip(numbers).map(|((counter, total), number)| Self {
            counter,
            total,
            inclusive: number,
            exclusive: number + 1,
        })
    }
}

impl Event {
    /// The unit of its metric, and how much of that one event is.
    fn unit(self, archive: &Archive) -> (Unit, f64) {
        match archive.counters.get(self.counter as usize) {
            Some(counter) if counter.unit == "ns" => (Unit::Seconds, 1e-9),
            _ => (Unit::Count, 1.0),
        }
    }
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
    let events = scaled_events(archive)?;
    for batch in archive.counts() {
        let batch = batch?;
        for i in 0..batch.rows() {
            let context = batch.u32_at(COUNT_CONTEXT, i);
            let counter = batch.u32_at(COUNT_COUNTER, i);
            let event = events.iter().find(|(event, _)| event.counter == counter);
            let is_known = (context as usize) < archive.contexts.len();
            let Some((event, scale)) = event.filter(|_| is_known) else { continue };
            let track = (order.track(batch.u32_at(TRACK, i)) as usize).saturating_add(1);
            let value = batch.u64_at(COUNT, i) as f64 * scale;
            for location in [0, track] {
                if let Some(rows) = rows.get_mut(location) {
                    rows.push(Row { context, metric: event.exclusive, value });
                }
            }
        }
    }
    let has_lexical = archive.functions.iter().any(FunctionRow::is_lexical);
    let of_events = events.iter().map(|(event, _)| event.exclusive);
    let exclusive: Vec<u16> =
        [TIME_EXCLUSIVE, CPU_EXCLUSIVE].into_iter().chain(of_events).collect();
    for rows in &mut rows {
        let mut own = std::mem::take(rows);
        if is_sampled {
            add_inclusive(&mut own, (CPU_EXCLUSIVE, CPU_INCLUSIVE), archive);
        }
        for (event, _) in &events {
            add_inclusive(&mut own, (event.exclusive, event.inclusive), archive);
        }
        if has_lexical {
            add_code(&mut own, &exclusive, archive);
        }
        *rows = sorted(with_root(own, archive));
    }
    let num_values = rows.iter().map(|rows| rows.len() as u64).collect();
    Ok((MemoryStore::new(rows, limits), num_values))
}

/// The events that were counted, each with what a count in the archive is multiplied by: so that all
/// add up to what the counter says, and in the unit of the metric.
fn scaled_events(archive: &Archive) -> Result<Vec<(Event, f64)>, FormatError> {
    let mut sums: BTreeMap<u32, u128> = BTreeMap::new();
    for batch in archive.counts() {
        let batch = batch?;
        for i in 0..batch.rows() {
            let sum = sums.entry(batch.u32_at(COUNT_COUNTER, i)).or_default();
            *sum += u128::from(batch.u64_at(COUNT, i));
        }
    }
    let scale = |event: Event| {
        let sum = sums.get(&event.counter).copied().unwrap_or(0);
        let of_all = match event.total {
            Some(total) if sum > 0 => total as f64 / sum as f64,
            _ => 1.0,
        };
        (event, of_all * event.unit(archive).1)
    };
    Ok(Event::all(archive).map(scale).collect())
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

/// Adds the inclusive values of a metric: those of each context and of all below it.
fn add_inclusive(rows: &mut Vec<Row>, (exclusive, inclusive): (u16, u16), archive: &Archive) {
    let of_metric = rows.iter().filter(|row| row.metric == exclusive);
    let sums = upwards(of_metric, archive, |_| true);
    rows.extend(sums.into_iter().map(|(context, value)| Row { context, metric: inclusive, value }));
}

/// Adds what loops and lines have to what they are in: to loops around them and to their function.
fn add_code(rows: &mut Vec<Row>, exclusive: &[u16], archive: &Archive) {
    for &metric in exclusive {
        let of_metric = rows.iter().filter(|row| row.metric == metric);
        let sums = upwards(of_metric, archive, |context| archive.is_lexical(context));
        rows.retain(|row| row.metric != metric);
        rows.extend(sums.into_iter().map(|(context, value)| Row { context, metric, value }));
    }
}

/// Values of contexts, with those of what is below them as far as that `is_part` of its parent. A
/// parent has an earlier row than its children, so going backwards meets children first.
fn upwards<'r>(
    rows: impl Iterator<Item = &'r Row>,
    archive: &Archive,
    is_part: impl Fn(u32) -> bool,
) -> Vec<(u32, f64)> {
    let mut sums: BTreeMap<u32, f64> = BTreeMap::new();
    for row in rows {
        *sums.entry(row.context).or_default() += row.value;
    }
    let mut out = Vec::with_capacity(sums.len());
    while let Some((context, value)) = sums.pop_last() {
        out.push((context, value));
        let parent = archive.contexts.get(context as usize).map(|row| row.parent);
        if let Some(parent) = parent.filter(|parent| *parent < context)
            && is_part(context)
        {
            *sums.entry(parent).or_default() += value;
        }
    }
    out
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
