//! What the columns of a profile of Caliper are: metrics, places, and statistics over ranks.
//!
//! The name of a column says what was done to the values, the last step first:
//! `min#inclusive#sum#time.duration` is the least over the ranks of the inclusive sum.

use std::collections::BTreeMap;

use parallax_base::{Issues, Place, Severity, Stage, Unit};
use parallax_formats::caliper::{Attribute, CaliperProfile, Record};
use parallax_model::{Metric, MetricCatalog, Scope};

use super::Identity;
use super::tree::Tree;
use crate::memory_store::Row;

/// Attributes that number ranks.
const RANKS: [&str; 2] = ["mpi.rank", "rank"];
/// Attributes that number the threads of a process.
const THREADS: [&str; 3] = ["omp.thread.id", "thread.id", "thread"];
/// Names of times; without a unit they are in microseconds, as Caliper wrote them before 2.
const TIMES: [&str; 4] =
    ["time.duration", "time.duration.ns", "time.inclusive.duration", "time.exclusive.duration"];
/// How many ranks a mean is over.
const NUM_RANKS: &str = "avg.count";
const TIME: &str = "time";

/// What a column is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Use {
    Rank,
    Thread,
    Value {
        metric: u16,
        factor: f64,
    },
    /// How many ranks a mean is over.
    NumRanks,
    /// Anything else: statistics over ranks, texts, shares.
    Other,
}

/// The columns of a profile.
pub(super) struct Columns {
    uses: Vec<Use>,
    metrics: Vec<Metric>,
    /// By metric id: whether the file has values of that scope.
    is_given: Vec<bool>,
    /// Columns with steps that are neither sums nor statistics over ranks.
    unused: Vec<String>,
    are_ranks_added_up: bool,
}

/// The name of a column in parts.
struct Name<'a> {
    what: &'a str,
    is_inclusive: bool,
    is_sum: bool,
    /// Whether it is something over the ranks, which Caliper writes before all other steps.
    is_over_ranks: bool,
}

impl<'a> Name<'a> {
    fn of(name: &'a str) -> Self {
        let (steps, what) = name.rsplit_once('#').unwrap_or(("", name));
        let steps: Vec<&str> = steps.split('#').filter(|step| !step.is_empty()).collect();
        let first = steps.first().copied().unwrap_or_default();
        let is_sum = |step: &&str| matches!(*step, "sum" | "inclusive" | "scale");
        Self {
            what,
            is_inclusive: steps.contains(&"inclusive") || what == "time.inclusive.duration",
            is_sum: steps.iter().all(is_sum)
                && (!steps.is_empty() || what == "count" || TIMES.contains(&what)),
            is_over_ranks: first.starts_with("avg") || matches!(first, "min" | "max"),
        }
    }
}

impl Columns {
    pub(super) fn of(profile: &CaliperProfile) -> Self {
        let has = |names: &[&str]| {
            profile.attributes.iter().any(|attribute| names.contains(&attribute.name.as_str()))
        };
        let mut known: BTreeMap<String, u16> = BTreeMap::new();
        let mut out = Self {
            uses: Vec::new(),
            metrics: Vec::new(),
            is_given: Vec::new(),
            unused: Vec::new(),
            are_ranks_added_up: !has(&RANKS),
        };
        // Columns count that have values; attributes describe many other things.
        let mut has_values = vec![false; profile.attributes.len()];
        for (column, _) in profile.records.iter().flat_map(|record| &record.values) {
            has_values.get_mut(*column as usize).into_iter().for_each(|has| *has = true);
        }
        for (attribute, has_values) in profile.attributes.iter().zip(has_values) {
            let of = out.use_of(attribute, has_values, &mut known);
            out.uses.push(of);
        }
        out
    }

    fn use_of(
        &mut self,
        attribute: &Attribute,
        has_values: bool,
        known: &mut BTreeMap<String, u16>,
    ) -> Use {
        let name = Name::of(&attribute.name);
        match attribute.name.as_str() {
            name if RANKS.contains(&name) => return Use::Rank,
            name if THREADS.contains(&name) => return Use::Thread,
            _ if !has_values => return Use::Other,
            name if name.starts_with(NUM_RANKS) => return Use::NumRanks,
            _ => {}
        }
        if !name.is_sum {
            if !name.is_over_ranks {
                self.unused.push(attribute.name.clone());
            }
            return Use::Other;
        }
        let (title, unit, factor) = measured(&name, attribute);
        // Two columns for one metric would count twice.
        let full = u16::MAX / 2;
        let next = u16::try_from(known.len()).unwrap_or(full).min(full);
        let index = *known.entry(title.clone()).or_insert(next);
        if index == full {
            self.unused.push(attribute.name.clone());
            return Use::Other;
        }
        let scopes = [(Scope::Inclusive, index * 2), (Scope::Exclusive, index * 2 + 1)];
        if usize::from(index) == self.metrics.len() {
            let description = attribute.alias.as_deref().unwrap_or(name.what);
            self.metrics.push(Metric::summed(&title, unit, description, &scopes));
            self.is_given.extend([false, false]);
        }
        let metric = index * 2 + u16::from(!name.is_inclusive);
        let Some(is_given) = self.is_given.get_mut(usize::from(metric)) else { return Use::Other };
        if std::mem::replace(is_given, true) {
            self.unused.push(attribute.name.clone());
            return Use::Other;
        }
        Use::Value { metric, factor }
    }

    /// Says which columns are not shown.
    pub(super) fn say_unused(&self, issues: &mut Issues) {
        for name in &self.unused {
            issues.report(Severity::Note, Stage::Import, "column-unused", Place::Whole, || {
                format!("the column {name} is no sum over the run; it is not shown")
            });
        }
    }

    pub(super) fn has_metric(&self, record: &Record) -> bool {
        let is_metric = |column: u32| matches!(self.of_column(column), Use::Value { .. });
        record.values.iter().any(|&(column, _)| is_metric(column))
    }

    fn of_column(&self, column: u32) -> Use {
        self.uses.get(column as usize).copied().unwrap_or(Use::Other)
    }

    pub(super) fn identity(&self, record: &Record) -> Identity {
        let number = |wanted: Use| {
            let is_wanted = |column: u32| self.of_column(column) == wanted;
            let found = record.values.iter().find(|&&(column, _)| is_wanted(column));
            found.and_then(|&(_, value)| whole(value))
        };
        (number(Use::Rank), number(Use::Thread).unwrap_or(0))
    }

    /// How many ranks each value is the sum of, where Caliper added ranks up.
    pub(super) fn ranks_added_up(&self, profile: &CaliperProfile) -> Option<f64> {
        let is_count = |column: u32| self.of_column(column) == Use::NumRanks;
        let counts = profile
            .records
            .iter()
            .flat_map(|record| &record.values)
            .filter(|(column, _)| self.are_ranks_added_up && is_count(*column));
        let most = counts.map(|&(_, count)| count).max_by(f64::total_cmp);
        most.filter(|&count| count >= 2.0)
    }

    /// Values of the records as the file has them, `ranks` of them added up.
    pub(super) fn values(&self, records: &[&Record], tree: &Tree, ranks: f64) -> Vec<Row> {
        let mut rows = Vec::new();
        for record in records {
            let context = tree.place(record);
            for &(column, value) in &record.values {
                let Use::Value { metric, factor } = self.of_column(column) else { continue };
                rows.push(Row { context, metric, value: value * factor / ranks });
            }
        }
        rows
    }

    /// Adds the scopes that the file does not have, and the values of the whole run.
    pub(super) fn complete(&self, rows: &mut Vec<Row>, tree: &Tree) {
        let parent = |context: u32| tree.parents.get(context as usize).copied().unwrap_or(0);
        let mut more = Vec::new();
        for (metric, pair) in (0_u16..).step_by(2).zip(self.is_given.chunks(2)) {
            let [inclusive, exclusive] = [metric, metric + 1];
            let of = |id: u16| rows.iter().filter(move |row| row.metric == id);
            match pair {
                [false, true] => {
                    for row in of(exclusive) {
                        let mut context = row.context;
                        more.push(Row { context, metric: inclusive, value: row.value });
                        while context != 0 {
                            context = parent(context);
                            more.push(Row { context, metric: inclusive, value: row.value });
                        }
                    }
                }
                [true, has_exclusive] => {
                    for row in of(inclusive) {
                        // What is in no region is the root's own, and the whole run is that and
                        // what is in the outermost regions.
                        if row.context != 0 && parent(row.context) == 0 {
                            more.push(Row { context: 0, ..*row });
                        }
                        if *has_exclusive {
                            continue;
                        }
                        more.push(Row { metric: exclusive, ..*row });
                        if row.context != 0 && parent(row.context) != 0 {
                            let context = parent(row.context);
                            more.push(Row { context, metric: exclusive, value: -row.value });
                        }
                    }
                }
                _ => {}
            }
        }
        // Clocks have a grain: parts may be longer than their whole by less than that.
        let more = super::sorted(more).into_iter();
        let is_derived = |metric: u16| metric % 2 == 1;
        rows.extend(more.map(|row| match is_derived(row.metric) {
            true => Row { value: row.value.max(0.0), ..row },
            false => row,
        }));
    }

    pub(super) fn catalog(self) -> MetricCatalog {
        MetricCatalog::new(self.metrics)
    }
}

/// Title, unit and factor of what a column measures.
fn measured(name: &Name<'_>, attribute: &Attribute) -> (String, Unit, f64) {
    let unit = attribute.unit.as_deref().map(Unit::from_source);
    if TIMES.contains(&name.what) {
        let factor = match unit {
            Some(Unit::Seconds) => 1.0,
            Some(Unit::Nanos) => 1e-9,
            _ if name.what.ends_with(".ns") => 1e-9,
            _ => 1e-6,
        };
        return (TIME.to_owned(), Unit::Seconds, factor);
    }
    let what = name.what.strip_prefix("papi.").unwrap_or(name.what);
    (what.to_owned(), unit.unwrap_or(Unit::Count), 1.0)
}

/// A number of a rank or a thread.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked before")]
fn whole(value: f64) -> Option<u64> {
    let is_whole = value >= 0.0 && value.fract() == 0.0 && value < f64::from(u32::MAX);
    is_whole.then_some(value as u64)
}
