//! Comparison of experiments: what became slower or faster, where, and whether it is more than
//! noise.
//!
//! - **Merging**: contexts of all experiments with the same call path become one row
//!   ([`PathTree`]); where call paths were not measured, functions of the same name do.
//! - **Cost** of a row in a version: of the inclusive cost, the sum, the mean or the largest over
//!   locations ([`Over`]), then the mean over the executions of the version. **Own** cost is what
//!   is left without the rows below, so that own costs add up to the cost of the whole program,
//!   and own differences to the whole difference.
//! - **Significance**: [`crate::math`]. Executions are what versions are compared by; with one execution
//!   of each, locations take their place, and say less.
//!
//! What each number means is in `docs/comparison.md`.

mod call_paths;
mod depth;
mod merge;
mod read;
mod sentences;

use parallax_base::{ContextIdx, Control, LocationIdx, MetricIdx, Unit};
use parallax_engine::{EngineError, LocationChoice, Measure, Session};
use parallax_model::ensemble::RegionKind;

use crate::math;
pub use crate::math::{Basis, Test};
pub use call_paths::{
    ContextDetail, LibraryFrames, PathNode, PathTree, common_name, function_name, is_flat,
    normal_name,
};

use depth::common_depth;
use merge::{Merged, merge};
use read::{Reading, is_cut};

/// One execution and what counts as cost in it.
pub struct Execution<'a> {
    /// The experiment.
    pub session: &'a Session,
    /// What is counted: a metric, or a formula.
    pub measure: Measure,
    /// The metrics behind `measure`, in the order of its operands.
    pub metrics: Vec<MetricIdx>,
    /// Which locations count.
    pub locations: LocationChoice,
    /// What values are multiplied by, so that those of all executions have one unit.
    pub scale: f64,
    /// Sets of contexts whose inclusive cost is compared as one, in addition to the rows: the same
    /// number of sets in every execution, each without contexts inside others of the set.
    pub watched: Vec<Vec<ContextIdx>>,
}

/// One version of the program: its executions are repetitions of each other.
pub struct Version<'a> {
    /// The display name.
    pub name: String,
    /// At least one.
    pub executions: Vec<Execution<'a>>,
}

/// What rows are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Matching {
    /// Contexts with the same call path.
    #[default]
    CallPath,
    /// Functions of the same name, wherever they are called from.
    Function,
}

/// How the values of many locations become one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Over {
    /// Their sum: what other views of an experiment show.
    #[default]
    Sum,
    /// Their mean over the locations that took part; one without a value counts as 0.
    Mean,
    /// The largest: the slowest location decides. Such values do not add up.
    Max,
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComparisonOptions {
    /// What rows are; `None` for call paths where all experiments come from one tool, else
    /// functions. Where call paths were not measured, functions are compared anyway.
    pub matching: Option<Matching>,
    /// Which contexts stand for themselves.
    pub detail: ContextDetail,
    /// What becomes of library internals.
    pub libraries: LibraryFrames,
    /// How locations become one value; `None` for the sum where versions have equally many
    /// locations, else the mean.
    pub over: Option<Over>,
    /// A difference whose adjusted probability is below this is called significant.
    pub level: f64,
    /// Rows below this share of the largest version's cost are not tested, in per cent.
    pub min_percent: f64,
}

impl Default for ComparisonOptions {
    /// Call paths of functions and loops, 5 %, tests from 0.1 % of the cost on.
    fn default() -> Self {
        Self {
            matching: None,
            detail: ContextDetail::default(),
            libraries: LibraryFrames::default(),
            over: None,
            level: 0.05,
            min_percent: 0.1,
        }
    }
}

/// A row: contexts of the experiments that are one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedContext {
    /// What it is called.
    pub name: String,
    /// Names from the outermost context down to this, the whole program left out.
    pub path: Vec<String>,
    /// What it is.
    pub kind: RegionKind,
    /// The row around it; `None` for the whole program.
    pub parent: Option<usize>,
    /// Number of rows around it.
    pub depth: u32,
    /// In the first execution of each version: the id in the database of a context of it, to link
    /// to.
    pub contexts: Vec<Option<u32>>,
}

/// Where a row exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// In both versions.
    Both,
    /// Only in the old one.
    OnlyOld,
    /// Only in the new one.
    OnlyNew,
    /// In neither; in another version it is.
    Neither,
}

impl Presence {
    /// The word of tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::OnlyOld => "old",
            Self::OnlyNew => "new",
            Self::Neither => "neither",
        }
    }
}

/// One value in two versions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Delta {
    /// In the old version.
    pub old: f64,
    /// In the new version.
    pub new: f64,
    /// Share of the difference of the whole program, in per cent; `None` where that is 0, and for
    /// what does not add up.
    pub share: Option<f64>,
    /// Whether the difference is more than noise; `None` where that cannot be told.
    pub test: Option<Test>,
}

impl Delta {
    /// New minus old.
    #[must_use]
    pub fn difference(&self) -> f64 {
        self.new - self.old
    }

    /// New over old; `None` where the old value is 0.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        (self.old != 0.0).then(|| self.new / self.old).filter(|ratio| ratio.is_finite())
    }

    /// The difference in per cent of the old value; `None` where that is 0.
    #[must_use]
    pub fn percent(&self) -> Option<f64> {
        let percent = self.difference() / self.old.abs() * 100.0;
        (self.old != 0.0 && percent.is_finite()).then_some(percent)
    }

    /// The 95 % interval of [`Delta::percent`]: that of the difference, by the old value as it was
    /// measured.
    #[must_use]
    pub fn percent_interval(&self) -> Option<(f64, f64)> {
        let (low, high) = self.test?.interval;
        (self.old != 0.0)
            .then(|| (low / self.old.abs() * 100.0, high / self.old.abs() * 100.0))
            .filter(|(low, high)| low.is_finite() && high.is_finite())
    }

    /// Whether the difference is more than noise at `level`; `None` where it was not tested.
    #[must_use]
    pub fn is_significant(&self, level: f64) -> Option<bool> {
        self.test.map(|test| test.adjusted_p < level)
    }
}

/// A row in two versions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContextDelta {
    /// Where it exists.
    pub presence: Presence,
    /// With everything below.
    pub inclusive: Delta,
    /// Without the rows below.
    pub own: Delta,
}

/// The first version versus another one.
#[derive(Debug, Clone, PartialEq)]
pub struct VersionPair {
    /// Which version is the new one.
    pub new: usize,
    /// One for each row.
    pub rows: Vec<ContextDelta>,
    /// One for each set of [`Execution::watched`].
    pub watched: Vec<Delta>,
    /// What tests stand on; `None` where nothing could be tested.
    pub basis: Option<Basis>,
    /// Number of values of the old and the new version that a difference of the whole program is
    /// judged by: executions, or locations; `None` where it was not tested.
    pub counts: Option<(usize, usize)>,
}

impl VersionPair {
    /// The whole program.
    #[must_use]
    pub fn total(&self) -> Option<&Delta> {
        self.rows.first().map(|row| &row.inclusive)
    }
}

/// What a version consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionFacts {
    /// The display name.
    pub name: String,
    /// Number of executions.
    pub executions: usize,
    /// Locations that took part, over all executions.
    pub locations: usize,
}

/// Experiments side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The versions; the first is what others are compared with.
    pub versions: Vec<VersionFacts>,
    /// What is counted.
    pub metric: String,
    /// Its unit.
    pub unit: Unit,
    /// What rows are, after looking at the experiments.
    pub matching: Matching,
    /// How locations became one value.
    pub over: Over,
    /// Whether own values add up to the whole: not of formulas, nor of largest values.
    pub is_additive: bool,
    /// What is called significant.
    pub level: f64,
    /// Differences that were tested, inclusive and own ones of all pairs: what their probabilities
    /// are adjusted for.
    pub num_tested: usize,
    /// The rows, each before those inside it; the first is the whole program.
    pub contexts: Vec<ComparedContext>,
    /// One for each version but the first.
    pub pairs: Vec<VersionPair>,
    /// Remarks.
    pub notes: Vec<String>,
}

/// Cells of the table of rows and locations at most, so that memory follows the answer.
const MAX_CELLS: usize = 8 << 20;

/// Puts the experiments of all versions side by side. The unit is that of the first execution
/// after scaling, which the caller made the same for all.
///
/// # Errors
/// When values cannot be read, a metric lacks inclusive values, or the question is withdrawn.
pub fn compare(
    versions: &[Version<'_>],
    metric: &str,
    unit: &Unit,
    options: &ComparisonOptions,
    control: &Control,
) -> Result<Comparison, EngineError> {
    let mut notes = Vec::new();
    let executions = || versions.iter().flat_map(|version| &version.executions);
    let flat = executions().filter(|execution| is_flat(execution.session.tree())).count();
    let mut formats: Vec<&str> = executions().map(|execution| tool(execution.session)).collect();
    formats.sort_unstable();
    formats.dedup();
    let mut matching = options.matching.unwrap_or(match formats.len() {
        0 | 1 => Matching::CallPath,
        _ => Matching::Function,
    });
    if options.matching.is_none() && matching == Matching::Function && flat == 0 {
        notes.push(format!(
            "The executions come from different tools ({}), whose call paths differ; functions are \
             compared.",
            formats.join(", ")
        ));
    }
    if flat > 0 && matching == Matching::CallPath {
        matching = Matching::Function;
        let all = executions().count();
        notes.push(if flat == all {
            "Call paths were not measured; functions are compared.".to_owned()
        } else {
            format!("{flat} of {all} executions have no call paths; functions are compared.")
        });
    }
    let cut = executions().filter(|execution| is_cut(execution)).count();
    if cut > 0 && matching == Matching::CallPath {
        matching = Matching::Function;
        notes.push(format!(
            "Of {cut} of {} executions only the inner part of call paths was recorded, in which \
             callees take more than their callers; functions are compared, by their exclusive \
             values.",
            executions().count()
        ));
    }
    let whole = merge(versions, matching, options, None);
    let mut readings = read(versions, &whole, matching, control)?;
    let at_depth = match matching {
        Matching::CallPath => common_depth(versions, &whole, &readings),
        Matching::Function => None,
    };
    let folded = at_depth.as_ref().map(|found| {
        notes.push(found.note(versions));
        merge(versions, matching, options, Some(found.depth))
    });
    if let Some(folded) = &folded {
        readings = read(versions, folded, matching, control)?;
    }
    let merged = folded.as_ref().unwrap_or(&whole);
    let counts: Vec<usize> = readings.iter().map(|reading| reading.members.len()).collect();
    let is_even = counts.windows(2).all(|pair| pair.first() == pair.last());
    let over = options.over.unwrap_or(if is_even { Over::Sum } else { Over::Mean });
    if !is_even && options.over.is_none() {
        let told: Vec<String> = counts.iter().map(ToString::to_string).collect();
        notes.push(format!(
            "The executions have {} locations; means over locations are compared.",
            told.join(", ")
        ));
    }
    let is_formula = executions().any(|execution| execution.measure.operands().len() > 1);
    let is_additive = !is_formula && over != Over::Max;
    let has_repetitions = versions.iter().any(|version| version.executions.len() > 1);
    let tested = tested_rows(&readings, options.min_percent, &counts);
    // Locations are read only when something stands on them.
    if over == Over::Max || !has_repetitions {
        for reading in &mut readings {
            reading.read_locations(&tested, merged, control)?;
        }
    }
    for reading in &mut readings {
        reading.read_watched(control)?;
    }
    let facts = facts(versions, &readings);
    let mut at = 0;
    let ranges: Vec<std::ops::Range<usize>> = versions
        .iter()
        .map(|version| {
            let range = at..at + version.executions.len();
            at = range.end;
            range
        })
        .collect();
    let of = |version: usize| {
        ranges.get(version).and_then(|range| readings.get(range.clone())).unwrap_or_default()
    };
    let mut pairs = Vec::new();
    for new in 1..versions.len() {
        let context = PairContext {
            merged,
            tested: &tested,
            over,
            is_even,
            is_additive,
            is_time: unit.is_time(),
        };
        pairs.push(context.pair(new, of(0), of(new)));
    }
    let rows = pairs.iter_mut().flat_map(|pair: &mut VersionPair| &mut pair.rows);
    let tests = rows.flat_map(|row| [&mut row.inclusive, &mut row.own]);
    let num_tested = math::adjust(tests.filter_map(|delta| delta.test.as_mut()));
    if has_repetitions && pairs.iter().any(|pair| pair.basis.is_none()) {
        notes.push(
            "One version was executed once and another several times: noise is unknown; repeat \
             each version."
                .to_owned(),
        );
    } else if pairs.iter().all(|pair| pair.basis.is_none()) {
        notes.push(match over {
            Over::Max => "Maxima of one execution each: noise is unknown; repeat each version, or \
                          compare sums."
                .to_owned(),
            Over::Sum if !is_even => {
                "Sums over different numbers of locations: noise is unknown; repeat each version, \
                 or compare means."
                    .to_owned()
            }
            _ => "One location and one execution each: noise is unknown; repeat each version."
                .to_owned(),
        });
    } else if !has_repetitions {
        notes.push(
            "One execution of each version: significance is over locations and excludes the noise \
             between executions; repeat each version to include it."
                .to_owned(),
        );
    }
    let helpers: usize = readings.iter().map(|reading| reading.num_helpers).sum();
    if helpers > 0 {
        notes.push(format!(
            "{helpers} helper threads of MPI, drivers or the measurement tool are excluded."
        ));
    }
    let num_rows = merged.contexts.len();
    if tested.rows.len() < tested.wanted {
        notes.push(format!(
            "The {} contexts with the largest values of {num_rows} are tested: more would not fit \
             in memory.",
            tested.rows.len()
        ));
    }
    Ok(Comparison {
        versions: facts,
        metric: metric.to_owned(),
        unit: unit.clone(),
        matching,
        over,
        is_additive,
        level: options.level,
        num_tested,
        contexts: merged.contexts.clone(),
        pairs,
        notes,
    })
}

/// Reads what each execution costs in the rows.
fn read<'a>(
    versions: &'a [Version<'_>],
    merged: &'a Merged,
    matching: Matching,
    control: &Control,
) -> Result<Vec<Reading<'a>>, EngineError> {
    let mut out = Vec::new();
    for (version, maps) in versions.iter().zip(&merged.executions) {
        for (execution, map) in version.executions.iter().zip(maps) {
            control.check()?;
            out.push(Reading::new(execution, map, merged, matching, control)?);
        }
    }
    Ok(out)
}

/// The tool behind an experiment: its format without the version.
fn tool(session: &Session) -> &str {
    let format = session.experiment().metadata.format.as_str();
    format.split([' ', ',']).next().unwrap_or(format)
}

fn facts(versions: &[Version<'_>], readings: &[Reading<'_>]) -> Vec<VersionFacts> {
    let mut at = 0;
    let of = |version: &Version<'_>| {
        let own = readings.get(at..at + version.executions.len()).unwrap_or_default();
        at += version.executions.len();
        VersionFacts {
            name: version.name.clone(),
            executions: version.executions.len(),
            locations: own.iter().map(|reading| reading.members.len()).sum(),
        }
    };
    versions.iter().map(of).collect()
}

/// Rows whose differences are tested.
pub(crate) struct TestedRows {
    /// Ascending.
    pub(crate) rows: Vec<usize>,
    /// How many were expensive enough.
    wanted: usize,
}

fn tested_rows(readings: &[Reading<'_>], min_percent: f64, counts: &[usize]) -> TestedRows {
    let num_rows = readings.first().map_or(0, |reading| reading.sums.len());
    let largest = |row: usize| {
        let costs = readings.iter().filter_map(|reading| reading.sums.get(row));
        costs.map(|cost| cost.inclusive.abs().max(cost.own.abs())).fold(0.0, f64::max)
    };
    let least = largest(0) * min_percent / 100.0;
    let mut rows: Vec<(f64, usize)> = (0..num_rows)
        .map(|row| (largest(row), row))
        .filter(|(cost, _)| *cost > 0.0 && *cost >= least)
        .collect();
    let wanted = rows.len();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let per_row = 2 * counts.iter().sum::<usize>().max(1);
    rows.truncate((MAX_CELLS / per_row).max(1));
    let mut rows: Vec<usize> = rows.into_iter().map(|(_, row)| row).collect();
    rows.sort_unstable();
    TestedRows { rows, wanted }
}

/// What pairs of versions have in common.
struct PairContext<'a> {
    merged: &'a Merged,
    tested: &'a TestedRows,
    over: Over,
    is_even: bool,
    is_additive: bool,
    /// Whether times are compared, which are rounded; counts are exact.
    is_time: bool,
}

impl PairContext<'_> {
    /// The test of the values of executions.
    fn repeated(&self, old: &[f64], new: &[f64]) -> Option<Test> {
        let test = math::welch(old, new, Basis::Repetitions)?;
        Some(if self.is_time { test.of_rounded() } else { test })
    }

    fn pair(&self, new: usize, old: &[Reading<'_>], new_readings: &[Reading<'_>]) -> VersionPair {
        let rows = self.merged.contexts.len();
        let value = |readings: &[Reading<'_>], row: usize, is_own: bool| {
            let values: Vec<f64> =
                readings.iter().map(|reading| reading.value(row, is_own, self.over)).collect();
            (ordered_mean(&values), values)
        };
        let has_repetitions = old.len() > 1 && new_readings.len() > 1;
        let pairing = match (old, new_readings) {
            ([a], [b]) if self.over != Over::Max && (self.is_even || self.over == Over::Mean) => {
                Some(Pairing::new(a, b, self.over))
            }
            _ => None,
        };
        let mut deltas: Vec<[Delta; 2]> = Vec::with_capacity(rows);
        for row in 0..rows {
            let delta = |is_own: bool| {
                let (before, old_values) = value(old, row, is_own);
                let (after, new_values) = value(new_readings, row, is_own);
                let test = if has_repetitions && self.tested.rows.binary_search(&row).is_ok() {
                    self.repeated(&old_values, &new_values)
                } else {
                    None
                };
                Delta { old: before, new: after, share: None, test }
            };
            deltas.push([delta(false), delta(true)]);
        }
        if let Some(pairing) = &pairing {
            for (at, &row) in self.tested.rows.iter().enumerate() {
                for (delta, is_own) in deltas.get_mut(row).into_iter().flatten().zip([false, true])
                {
                    delta.test = pairing.test(at, is_own);
                }
            }
        }
        let whole = deltas.first().and_then(|[whole, _]| self.whole(whole));
        let presence = |row: usize, inclusive: &Delta| {
            let is_in = |readings: &[Reading<'_>], value: f64| {
                value != 0.0 || readings.iter().any(|reading| reading.has(row))
            };
            match (is_in(old, inclusive.old), is_in(new_readings, inclusive.new)) {
                (true, true) => Presence::Both,
                (true, false) => Presence::OnlyOld,
                (false, true) => Presence::OnlyNew,
                (false, false) => Presence::Neither,
            }
        };
        let rows: Vec<ContextDelta> = deltas
            .into_iter()
            .enumerate()
            .map(|(row, [mut inclusive, mut own])| {
                let share = |delta: &Delta| whole.map(|whole| delta.difference() / whole * 100.0);
                inclusive.share = share(&inclusive);
                own.share = share(&own);
                ContextDelta { presence: presence(row, &inclusive), inclusive, own }
            })
            .collect();
        let basis =
            rows.iter().find_map(|row| row.inclusive.test.or(row.own.test)).map(|test| test.basis);
        let counts = rows.first().and_then(|row| row.inclusive.test).map(|test| test.counts);
        let num_watched = old.first().map_or(0, |reading| reading.watched.len());
        let watched = (0..num_watched)
            .map(|set| {
                let values = |readings: &[Reading<'_>]| -> Vec<f64> {
                    readings.iter().map(|reading| reading.watched_value(set, self.over)).collect()
                };
                let (before, after) = (values(old), values(new_readings));
                let test = if has_repetitions {
                    self.repeated(&before, &after)
                } else {
                    pairing.as_ref().and_then(|pairing| {
                        let old = pairing.old.watched.get(set)?;
                        let new = pairing.new.watched.get(set)?;
                        pairing.test_of(&old.by_location, &new.by_location)
                    })
                };
                let (old, new) = (ordered_mean(&before), ordered_mean(&after));
                Delta { old, new, share: None, test }
            })
            .collect();
        VersionPair { new, rows, watched, basis, counts }
    }

    /// The difference of the whole program, where parts of it mean something.
    fn whole(&self, total: &Delta) -> Option<f64> {
        let difference = total.difference();
        let size = total.old.abs().max(total.new.abs());
        (self.is_additive && difference.abs() > size * 1e-12).then_some(difference)
    }
}

/// The mean in the order of size, so that the order of the executions changes no bit.
fn ordered_mean(values: &[f64]) -> f64 {
    if let [only] = values {
        return *only;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.iter().sum::<f64>() / sorted.len().max(1) as f64
}

/// The locations of two executions, put side by side.
struct Pairing<'a> {
    old: &'a Reading<'a>,
    new: &'a Reading<'a>,
    /// For each location of the old execution that of the new one with the same identity, where
    /// all of both have one.
    partner: Option<Vec<usize>>,
    /// What means are multiplied by to be in the unit of the values that are compared.
    scale: f64,
}

impl<'a> Pairing<'a> {
    fn new(old: &'a Reading<'a>, new: &'a Reading<'a>, over: Over) -> Self {
        let place: std::collections::HashMap<&str, usize> =
            new.members.iter().enumerate().map(|(at, member)| (member.as_str(), at)).collect();
        let partner: Option<Vec<usize>> =
            old.members.iter().map(|member| place.get(member.as_str()).copied()).collect();
        let partner = partner
            .filter(|list| list.len() == new.members.len() && place.len() == new.members.len());
        let scale = if over == Over::Sum { old.members.len() as f64 } else { 1.0 };
        Self { old, new, partner, scale }
    }

    fn test(&self, tested: usize, is_own: bool) -> Option<Test> {
        let old = self.old.by_location(tested, is_own)?;
        self.test_of(old, self.new.by_location(tested, is_own)?)
    }

    /// A location where neither execution ever was says nothing about what was executed there, so
    /// only the others count.
    fn test_of(&self, old: &[f64], new: &[f64]) -> Option<Test> {
        match &self.partner {
            Some(partner) => {
                let (mut before, mut after) = (Vec::new(), Vec::new());
                for (old, &at) in old.iter().zip(partner) {
                    let new = new.get(at)?;
                    if *old != 0.0 || *new != 0.0 {
                        before.push(*old);
                        after.push(*new);
                    }
                }
                let test = math::paired_ratio(&before, &after, Basis::PairedLocations)?;
                let part = before.len() as f64 / old.len().max(1) as f64 * self.scale;
                let (low, high) = test.interval;
                Some(Test { interval: (low * part, high * part), ..test })
            }
            None => {
                let part = |values: &[f64]| -> Vec<f64> {
                    let there: Vec<f64> = values.iter().copied().filter(|v| *v != 0.0).collect();
                    let part = there.len() as f64 / values.len().max(1) as f64 * self.scale;
                    there.iter().map(|value| value * part).collect()
                };
                math::welch(&part(old), &part(new), Basis::Locations)
            }
        }
    }
}

/// What one execution costs at each location: the whole, and the own cost of each row.
#[derive(Debug, Clone, PartialEq)]
pub struct LocationCosts {
    /// Labels of the locations that took part.
    pub members: Vec<String>,
    /// Their numbers in the catalog.
    pub member_ids: Vec<LocationIdx>,
    /// The inclusive cost of the whole at each.
    pub whole: Vec<f64>,
    /// Names and own costs of the rows that cost at least the share asked for, the most expensive
    /// first.
    pub rows: Vec<(String, Vec<f64>)>,
    /// Rows that cost as much as that, too, but less than these, and are left out because they
    /// would not fit in memory.
    pub left_out: usize,
}

/// Numbers that [`location_costs`] reads at most unless asked otherwise: two for each row and
/// location.
pub const MOST_LOCATION_CELLS: usize = MAX_CELLS;

/// Reads what an execution costs at each location, in rows as a comparison has them; two numbers
/// for each row and location, of which there are `most_cells` at most.
///
/// # Errors
/// As [`compare`].
pub fn location_costs(
    version: &Version<'_>,
    matching: Matching,
    min_percent: f64,
    most_cells: usize,
    control: &Control,
) -> Result<LocationCosts, EngineError> {
    let empty = || LocationCosts {
        members: Vec::new(),
        member_ids: Vec::new(),
        whole: Vec::new(),
        rows: Vec::new(),
        left_out: 0,
    };
    let (Some(execution), options) = (version.executions.first(), ComparisonOptions::default())
    else {
        return Ok(empty());
    };
    let matching = if is_flat(execution.session.tree()) { Matching::Function } else { matching };
    let merged = merge(std::slice::from_ref(version), matching, &options, None);
    let Some(map) = merged.executions.first().and_then(|maps| maps.first()) else {
        return Ok(empty());
    };
    let mut reading = Reading::new(execution, map, &merged, matching, control)?;
    let own = |reading: &Reading<'_>, row: usize| {
        reading.sums.get(row).map_or(0.0, |cost| cost.own.abs())
    };
    let least = reading.sums.first().map_or(0.0, |cost| cost.inclusive.abs()) * min_percent / 100.0;
    let mut rows: Vec<usize> = (0..merged.contexts.len())
        .filter(|&row| row == 0 || own(&reading, row) > 0.0 && own(&reading, row) >= least)
        .collect();
    // The whole program first, then by cost: what is cut costs less than what is kept.
    rows.sort_by(|&a, &b| {
        let key = |row: usize| if row == 0 { f64::INFINITY } else { own(&reading, row) };
        key(b).total_cmp(&key(a)).then(a.cmp(&b))
    });
    let wanted = rows.len();
    rows.truncate((most_cells / (2 * reading.members.len().max(1))).max(2));
    let left_out = wanted - rows.len();
    rows.sort_unstable();
    let tested = TestedRows { wanted, rows };
    reading.read_locations(&tested, &merged, control)?;
    let mut out: Vec<(f64, usize, usize)> = tested
        .rows
        .iter()
        .enumerate()
        .filter(|&(_, &row)| row > 0)
        .map(|(at, &row)| (own(&reading, row), at, row))
        .collect();
    out.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.2.cmp(&b.2)));
    let name = |row: usize| {
        let context = merged.contexts.get(row);
        match (matching, context) {
            (Matching::CallPath, Some(context)) => context.path.join(" > "),
            (_, Some(context)) => context.name.clone(),
            _ => String::new(),
        }
    };
    let rows = out.into_iter().map(|(_, at, row)| (name(row), reading.cells_of(at, true)));
    Ok(LocationCosts {
        rows: rows.collect(),
        whole: reading.cells_of(0, false),
        member_ids: reading.member_ids.clone(),
        members: reading.members.clone(),
        left_out,
    })
}
