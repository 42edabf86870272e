//! Values of threads as values of contexts.

use std::collections::{BTreeMap, HashMap, HashSet};

use parallax_base::{ContextIdx, Issues, Limits, Place, Severity, Stage, threads};
use parallax_formats::tau::Thread;
use parallax_model::{Combine, ContextTree, IdentityKind, LocationCatalog, LocationCatalogBuilder};

use super::Group;
use super::catalog::{Catalog, EventIds, Id};
use super::tree::{Placement, Role, Tree};
use crate::memory_store::{MemoryStore, Row, sorted};

/// Smaller than this part of a value is rounding.
const ROUNDING: f64 = 1e-12;

/// The values of all threads, and where they ran. The summary is added up here: TAU has none.
pub(super) fn read(
    groups: &[Group],
    tree: &Tree,
    catalog: &Catalog,
    limits: Limits,
    issues: &mut Issues,
) -> (MemoryStore, LocationCatalog) {
    let mut threads_of = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        threads_of.extend(group.profiles.threads.iter().map(move |thread| (at, thread)));
    }
    let read = threads::map(threads_of.clone(), |(at, thread)| {
        let (Some(group), Some(placement)) = (groups.get(at), tree.placements.get(at)) else {
            return (Vec::new(), 0);
        };
        let measured = catalog.measured.get(at).map_or(&[][..], Vec::as_slice);
        let mut out = ThreadRows {
            contexts: &tree.contexts,
            catalog,
            placement,
            rows: Vec::new(),
            repeated: 0,
        };
        let scales: Vec<_> = measured.iter().map(|found| (found.id, found.scale)).collect();
        out.timers(thread, group.profiles.metrics.len(), &scales);
        out.events(thread);
        (sorted(out.rows), out.repeated)
    });
    let repeated: u64 = read.iter().map(|(_, repeated)| repeated).sum();
    if repeated > 0 {
        issues.report(Severity::Note, Stage::Import, "event-repeated", Place::Whole, || {
            format!("{repeated} user events are stored twice for one thread; the first counts")
        });
    }
    let rows: Vec<Vec<Row>> = read.into_iter().map(|(rows, _)| rows).collect();
    let summary = summary(&rows, &catalog.combine);
    let locations = locations(groups, &rows, summary.len());
    let mut all = vec![summary];
    all.extend(rows);
    (MemoryStore::new(all, limits), locations)
}

/// Sums, smallest and largest values over all threads.
fn summary(rows: &[Vec<Row>], combine: &[Option<Combine>]) -> Vec<Row> {
    let mut found: HashMap<(u32, u16), f64> = HashMap::new();
    for row in rows.iter().flatten() {
        let Some(Some(combine)) = combine.get(usize::from(row.metric)) else { continue };
        let place = found.entry((row.context, row.metric));
        let known = place.or_insert(match combine {
            Combine::Sum | Combine::Other(_) => 0.0,
            Combine::Min | Combine::Max => row.value,
        });
        match combine {
            Combine::Sum | Combine::Other(_) => *known += row.value,
            Combine::Min => *known = known.min(row.value),
            Combine::Max => *known = known.max(row.value),
        }
    }
    let rows = found.into_iter().map(|((context, metric), value)| Row { context, metric, value });
    sorted(rows.collect())
}

/// One location for each thread; the number of the component is the application.
fn locations(groups: &[Group], rows: &[Vec<Row>], summary: usize) -> LocationCatalog {
    let mut builder = LocationCatalogBuilder::new();
    builder.push_summary(summary as u64);
    let mut rows = rows.iter();
    for (application, group) in (0_u64..).zip(groups) {
        if let Some(name) = &group.component {
            builder.application(application, name.as_str());
        }
        let threads = &group.profiles.threads;
        let has_contexts = threads.iter().any(|thread| thread.id.context > 0);
        let mut processes: Vec<(u32, u32)> =
            threads.iter().map(|thread| (thread.id.node, thread.id.context)).collect();
        processes.sort_unstable();
        processes.dedup();
        for thread in threads {
            let process = (thread.id.node, thread.id.context);
            // Several address spaces of a node are processes of their own, in their order.
            let rank = match processes.binary_search(&process) {
                Ok(at) if has_contexts => at as u64,
                _ => u64::from(thread.id.node),
            };
            let mut identity = Vec::new();
            if group.component.is_some() {
                identity.push((IdentityKind::Application, application));
            }
            if has_contexts {
                identity.push((IdentityKind::Node, u64::from(thread.id.node)));
            }
            identity.push((IdentityKind::Rank, rank));
            identity.push((IdentityKind::Thread, u64::from(thread.id.thread)));
            builder.push(identity, rows.next().map_or(0, |rows| rows.len() as u64));
        }
    }
    builder.finish()
}

/// A value for every context.
struct Column(Vec<f64>);

impl Column {
    fn new(tree: &ContextTree) -> Self {
        Self(vec![0.0; tree.len()])
    }

    fn get(&self, context: u32) -> f64 {
        self.0.get(context as usize).copied().unwrap_or(0.0)
    }

    fn add(&mut self, context: u32, value: f64) {
        if let Some(slot) = self.0.get_mut(context as usize) {
            *slot += value;
        }
    }

    /// What lies at lines counts to the functions around them, too.
    fn owned(&self, tree: &ContextTree) -> Self {
        let mut out = Self(self.0.clone());
        for context in tree.iter().rev() {
            if let Some(parent) = tree.parent(context)
                && !tree.relation(context).is_call()
            {
                out.add(parent.get(), out.get(context.get()));
            }
        }
        out
    }

    /// Each context with everything below it.
    fn rolled_up(&self, tree: &ContextTree) -> Self {
        let mut out = Self(self.0.clone());
        for context in tree.iter().rev() {
            if let Some(parent) = tree.parent(context) {
                out.add(parent.get(), out.get(context.get()));
            }
        }
        out
    }
}

/// The values of a user event, aggregated.
#[derive(Debug, Clone, Copy, Default)]
struct AggregatedEvent {
    count: f64,
    max: f64,
    min: f64,
    mean: f64,
    sum_of_squares: f64,
}

impl AggregatedEvent {
    /// Adds values that are not among these yet. What never happened has no extremes, whatever
    /// the file says.
    fn add(&mut self, other: Self) {
        if other.count <= 0.0 {
            return;
        }
        if self.count <= 0.0 {
            *self = other;
            return;
        }
        let count = self.count + other.count;
        *self = Self {
            count,
            max: self.max.max(other.max),
            min: self.min.min(other.min),
            mean: (self.mean * self.count + other.mean * other.count) / count,
            sum_of_squares: self.sum_of_squares + other.sum_of_squares,
        };
    }
}

/// A user event in one thread: on its own, and at contexts.
struct Happened {
    ids: EventIds,
    alone: AggregatedEvent,
    at_contexts: BTreeMap<u32, AggregatedEvent>,
}

/// The rows of one thread while they are found.
struct ThreadRows<'t> {
    contexts: &'t ContextTree,
    catalog: &'t Catalog,
    placement: &'t Placement,
    rows: Vec<Row>,
    repeated: u64,
}

impl ThreadRows<'_> {
    fn push(&mut self, column: &Column, metric: u16) {
        let values = (0..).zip(&column.0).filter(|(_, value)| **value != 0.0);
        self.rows.extend(values.map(|(context, &value)| Row { context, metric, value }));
    }

    /// Pushes what adds up: the values themselves, and with everything below.
    fn push_additive(&mut self, column: &Column, id: Id) {
        self.push(column, id.exclusive());
        self.push(&column.rolled_up(self.contexts), id.inclusive());
    }

    fn timers(&mut self, thread: &Thread, metrics: usize, measured: &[(Id, f64)]) {
        let roles = &self.placement.roles;
        let role = |timer: u32| roles.get(timer as usize).copied().unwrap_or(Role::Unused);
        let (mut calls, mut subroutines) = (Column::new(self.contexts), Column::new(self.contexts));
        let mut parts = Vec::new();
        let mut samples = Column::new(self.contexts);
        let left = self.left_over(thread, None, |_, row| (row.calls, row.subroutines));
        for row in &thread.timers {
            match role(row.timer) {
                Role::Context(context) => {
                    calls.add(context, row.calls);
                    subroutines.add(context, row.subroutines);
                }
                Role::Remainder(context) => {
                    let (left_calls, left_subroutines) =
                        left.get(&row.timer).copied().unwrap_or_default();
                    calls.add(context, left_calls);
                    subroutines.add(context, left_subroutines);
                }
                // Calls with a certain parameter are calls of the function already.
                Role::Part(context) => parts.push((context, row.calls)),
                Role::Sampled { at, .. } => samples.add(at, row.calls),
                Role::Unused => {}
            }
        }
        let (calls_id, subroutines_id) = (self.catalog.calls, self.catalog.subroutines);
        self.push_additive(&calls, calls_id);
        self.push_additive(&subroutines, subroutines_id);
        for (context, value) in parts {
            for metric in [calls_id.exclusive(), calls_id.inclusive()] {
                self.rows.push(Row { context, metric, value });
            }
        }
        if let Some(id) = self.catalog.samples {
            self.push(&samples.owned(self.contexts), id.exclusive());
            self.push(&samples.rolled_up(self.contexts), id.inclusive());
        }
        for (metric, &(id, scale)) in measured.iter().enumerate() {
            self.measured(thread, metric, metrics, id, scale);
        }
    }

    /// Moves what samples tell from the timers that they were taken in to the contexts of the
    /// samples below: a sample says where a timer spent its own time, it is no time of its own.
    ///
    /// A sample stands for the whole period before it, so that those of short timers add up to more
    /// than the timer took; then each is the less of it.
    fn part_by_samples(
        &self,
        thread: &Thread,
        value: impl Fn(usize) -> (f64, f64),
        exclusive: &mut Column,
        inclusive: &mut Column,
    ) {
        let mut by_timer: BTreeMap<u32, Vec<(u32, f64)>> = BTreeMap::new();
        for (at, row) in thread.timers.iter().enumerate() {
            if let Some(&Role::Sampled { at: context, timer: Some(timer) }) =
                self.placement.roles.get(row.timer as usize)
            {
                by_timer.entry(timer).or_default().push((context, value(at).0));
            }
        }
        if by_timer.is_empty() {
            return;
        }
        let tree = self.contexts;
        let mut parts = Column::new(tree);
        for (timer, samples) in by_timer {
            let own = exclusive.get(timer).max(0.0);
            let sum: f64 = samples.iter().map(|(_, value)| value.max(0.0)).sum();
            let factor = if sum > own { own / sum } else { 1.0 };
            for (context, value) in samples {
                parts.add(context, value.max(0.0) * factor);
            }
            exclusive.add(timer, -sum.min(own));
            // What rounding leaves is nothing.
            if exclusive.get(timer).abs() < own * ROUNDING {
                exclusive.add(timer, -exclusive.get(timer));
            }
        }
        let (owned, below) = (parts.owned(tree), parts.rolled_up(tree));
        for context in tree.iter().map(ContextIdx::get) {
            exclusive.add(context, owned.get(context));
            // The timers have what their samples have already.
            if inclusive.get(context) == 0.0 {
                inclusive.add(context, below.get(context));
            }
        }
    }

    /// For each timer that is a sum over paths, what its paths leave over; nothing where they had
    /// all calls.
    fn left_over<V>(
        &self,
        thread: &Thread,
        only: Option<&HashMap<u32, (f64, f64)>>,
        value: V,
    ) -> HashMap<u32, (f64, f64)>
    where
        V: Fn(usize, &parallax_formats::tau::TimerRow) -> (f64, f64),
    {
        let placement = self.placement;
        let mut out = HashMap::new();
        if !placement.roles.iter().any(|role| matches!(role, Role::Remainder(_))) {
            return out;
        }
        let end = |timer: u32| placement.ends.get(timer as usize).copied().unwrap_or(u32::MAX);
        let mut in_paths: HashMap<u32, (f64, f64)> = HashMap::new();
        let mut sums = Vec::new();
        for (at, row) in thread.timers.iter().enumerate() {
            let is_flat = placement.is_flat.get(row.timer as usize).copied().unwrap_or(false);
            match placement.roles.get(row.timer as usize) {
                Some(Role::Remainder(_)) => sums.push((row.timer, value(at, row))),
                Some(Role::Context(_)) if !is_flat => {
                    let known = in_paths.entry(end(row.timer)).or_default();
                    let (first, second) = value(at, row);
                    *known = (known.0 + first, known.1 + second);
                }
                _ => {}
            }
        }
        for (timer, (first, second)) in sums {
            let known = in_paths.get(&end(timer)).copied().unwrap_or_default();
            let left = ((first - known.0).max(0.0), (second - known.1).max(0.0));
            let is_wanted = only.is_none_or(|only| only.contains_key(&timer));
            // Half a call is no call; times alone may differ by rounding.
            if is_wanted && (only.is_some() || left.0 > 0.5) {
                out.insert(timer, left);
            }
        }
        out
    }

    fn measured(&mut self, thread: &Thread, metric: usize, metrics: usize, id: Id, scale: f64) {
        let placement = self.placement;
        let tree = self.contexts;
        let (mut exclusive, mut inclusive) = (Column::new(tree), Column::new(tree));
        let (mut total, mut longest, mut all) = (0.0, 0.0_f64, 0.0);
        let called = self.left_over(thread, None, |_, row| (row.calls, row.subroutines));
        let value = |at| {
            let (exclusive, inclusive) = thread.value(at, metric, metrics);
            (exclusive * scale, inclusive * scale)
        };
        let left = self.left_over(thread, Some(&called), |at, _| value(at));
        for (at, row) in thread.timers.iter().enumerate() {
            let (own, whole) = value(at);
            if placement.is_flat.get(row.timer as usize) == Some(&true) {
                total += own;
                longest = longest.max(whole);
            }
            match placement.roles.get(row.timer as usize) {
                Some(&Role::Context(context)) => {
                    exclusive.add(context, own);
                    inclusive.add(context, whole);
                    all += own;
                }
                Some(&Role::Remainder(context)) => {
                    let (own, whole) = left.get(&row.timer).copied().unwrap_or_default();
                    exclusive.add(context, own);
                    // Recursive paths count their inner calls twice.
                    inclusive.add(context, whole.max(own));
                }
                Some(&Role::Part(context)) => {
                    exclusive.add(context, own);
                    inclusive.add(context, whole);
                }
                _ => {}
            }
        }
        // Contexts that were only passed through, such as those above cut paths.
        let mut below = Column::new(tree);
        for context in tree.iter().rev() {
            let at = context.get();
            if inclusive.get(at) == 0.0 && below.get(at) > 0.0 {
                inclusive.add(at, below.get(at));
            }
            if let Some(parent) = tree.parent(context) {
                below.add(parent.get(), inclusive.get(at));
            }
        }
        self.part_by_samples(thread, value, &mut exclusive, &mut inclusive);
        // What all functions took themselves is the whole, wherever they were called from.
        let whole = if total > 0.0 { total.max(longest) } else { all };
        for context in [placement.base, ContextTree::ROOT.get()] {
            if let Some(slot) = inclusive.0.get_mut(context as usize) {
                *slot = whole;
            }
        }
        self.push(&exclusive, id.exclusive());
        self.push(&inclusive, id.inclusive());
    }

    fn events(&mut self, thread: &Thread) {
        let placement = self.placement;
        let mut seen = HashSet::new();
        let mut found: HashMap<&str, Happened> = HashMap::new();
        for event in &thread.events {
            let Some((name, context)) = placement.events.get(event.event as usize) else {
                continue;
            };
            let Some(ids) = self.catalog.event(name) else { continue };
            if !seen.insert(event.event) {
                self.repeated += 1;
                continue;
            }
            let values = AggregatedEvent {
                count: event.count,
                max: event.max,
                min: event.min,
                mean: event.mean,
                sum_of_squares: event.sum_of_squares,
            };
            let happened = found.entry(name).or_insert_with(|| Happened {
                ids,
                alone: AggregatedEvent::default(),
                at_contexts: BTreeMap::new(),
            });
            // Two paths may lead to one context where no call paths were measured.
            match context {
                Some(context) => happened.at_contexts.entry(*context).or_default().add(values),
                None => happened.alone.add(values),
            }
        }
        for happened in found.into_values() {
            self.happened(&happened);
        }
    }

    /// The event as a whole belongs to the base; what contexts have of it is a part of that.
    fn happened(&mut self, happened: &Happened) {
        let Happened { ids, alone, at_contexts } = happened;
        let (base, root) = (self.placement.base, ContextTree::ROOT.get());
        let mut known = AggregatedEvent::default();
        for (&context, &values) in at_contexts {
            known.add(values);
            for is_inclusive in [true, false] {
                self.push_values(*ids, context, is_inclusive, values);
            }
        }
        // TAU writes the event itself, too; without it there is only what its contexts say.
        let whole = if alone.count >= known.count { *alone } else { known };
        self.push_values(*ids, base, true, whole);
        self.push_values(*ids, base, false, *alone);
        if base != root {
            self.push_values(*ids, root, true, whole);
        }
        let counts = at_contexts.iter().map(|(&context, values)| (context, values.count));
        self.push_event(ids.count, whole.count, counts);
        let squares = at_contexts.iter().map(|(&context, values)| (context, values.sum_of_squares));
        self.push_event(ids.sum_of_squares, whole.sum_of_squares, squares);
    }

    /// Pushes what does not add up: extremes and mean.
    fn push_values(
        &mut self,
        ids: EventIds,
        context: u32,
        is_inclusive: bool,
        values: AggregatedEvent,
    ) {
        let statistics = [(ids.max, values.max), (ids.min, values.min), (ids.mean, values.mean)];
        self.rows.extend(statistics.map(|(id, value)| {
            let metric = if is_inclusive { id.inclusive() } else { id.exclusive() };
            Row { context, metric, value }
        }));
    }

    fn push_event(&mut self, id: Id, whole: f64, at_contexts: impl Iterator<Item = (u32, f64)>) {
        let tree = self.contexts;
        let base = self.placement.base;
        let (mut inclusive, mut known) = (HashMap::<u32, f64>::new(), 0.0);
        for (context, value) in at_contexts {
            known += value;
            self.rows.push(Row { context, metric: id.exclusive(), value });
            *inclusive.entry(context).or_default() += value;
            for above in tree.ancestors(ContextIdx::new(context)) {
                *inclusive.entry(above.get()).or_default() += value;
            }
        }
        let rest = (whole - known).max(0.0);
        self.rows.push(Row { context: base, metric: id.exclusive(), value: rest });
        for context in [base, ContextTree::ROOT.get()] {
            inclusive.insert(context, whole.max(known));
        }
        let metric = id.inclusive();
        let rows = inclusive.into_iter().map(|(context, value)| Row { context, metric, value });
        self.rows.extend(rows);
    }
}
