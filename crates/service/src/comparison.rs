//! Experiments side by side: the answer of `compare`.

use std::sync::Arc;

use parallax_analysis::comparison::{
    Basis, Comparison, ComparisonOptions, ContextDelta, Delta, Execution, Matching, Over, Version,
    VersionPair, compare,
};
use parallax_analysis::math::adjust;
use parallax_base::quantity::compared as amount;
use parallax_base::{ContextIdx, Control, Issues, MetricIdx, Remedy, Unit};
use parallax_engine::query::{QueryError, parse_metrics};
use parallax_engine::resolve::{resolve_contexts, resolve_metric};
use parallax_engine::{EngineError, LocationChoice, Measure, Session};
use parallax_model::ContextTree;
use parallax_protocol::{
    self as protocol, DifferenceTable, DifferencesBy, DifferencesReply, DifferencesRequest,
    DifferencesTables, OverLocations, Table, TypedTable as _,
};

use crate::gate::Gate;
use crate::options::{Computed, locations};
use crate::{Answer, Answers, OpenExperiment, ServiceError};

/// What is compared, and how.
#[derive(Debug, Clone, Default)]
pub struct ComparisonRequest {
    /// A metric expression, or a formula after `=`; `None` for a time that all experiments have.
    pub metric: Option<String>,
    /// A profile expression; `None` for all locations.
    pub profiles: Option<String>,
    /// How.
    pub options: ComparisonOptions,
    /// What must not happen.
    pub gates: Vec<Gate>,
}

/// One version: experiments that are repetitions of each other.
pub struct ComparedVersion<'a> {
    /// The display name.
    pub name: String,
    /// At least one.
    pub experiments: Vec<&'a OpenExperiment>,
}

/// What became of a gate, for one version versus the first.
#[derive(Debug, Clone, PartialEq)]
pub struct GateOutcome {
    /// As typed.
    pub gate: String,
    /// The version that is compared with the first.
    pub version: String,
    /// Whether the condition holds, which is a failure.
    pub is_failed: bool,
    /// What was found, in words.
    pub text: String,
}

/// Experiments side by side.
#[derive(Debug, Clone)]
pub struct ComparisonOutcome {
    /// The analysis.
    pub comparison: Comparison,
    /// One for each gate and each version but the first.
    pub gates: Vec<GateOutcome>,
    /// Issues of all experiments.
    pub issues: Issues,
}

/// How rows are ordered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ComparisonOrder {
    /// The largest difference first, of own costs.
    #[default]
    Difference,
    /// The largest change in per cent first; what is new before all.
    Relative,
    /// The highest cost in the new version first.
    New,
    /// The highest cost in the old version first.
    Old,
    /// The least likely to be noise first.
    Significance,
    /// As in the tree.
    Tree,
}

/// Metrics that are time on the wall, by whatever tool.
const WALL_TIME: [&str; 2] = ["realtime", "time"];
/// Metrics of time, from the one that people mean first.
const TIMES: [&str; 6] = ["cputime", "realtime", "time", "cycles", "perf::cycles", "task-clock"];

/// Puts experiments side by side; the first version is what the others are compared with.
///
/// # Errors
/// When an expression is wrong, a metric is not in all experiments or in different units, or
/// values cannot be read.
pub fn compare_experiments(
    versions: &[ComparedVersion<'_>],
    request: &ComparisonRequest,
    control: &Control,
) -> Result<Answer<ComparisonOutcome>, ServiceError> {
    let mut notes = Vec::new();
    let all: Vec<(&str, &OpenExperiment)> = versions
        .iter()
        .flat_map(|version| version.experiments.iter().map(|opened| (&*version.name, *opened)))
        .collect();
    for (_, opened) in &all {
        opened.needs_whole_trace()?;
    }
    let default = match &request.metric {
        Some(_) => None,
        None => Some(default_metrics(&all, &mut notes, control)?),
    };
    let mut chosen = Vec::new();
    let mut units: Vec<(Unit, String)> = Vec::new();
    for (at, (name, opened)) in all.iter().enumerate() {
        let session = opened.session();
        let places = locations(session, request.profiles.as_deref(), &mut notes)?;
        let catalog = &session.experiment().metrics;
        let computed = request.metric.as_deref().and_then(|text| Computed::of(catalog, text));
        let (measure, metrics) = match (computed, &request.metric, default.as_ref()) {
            (Some(computed), ..) => {
                let formula = computed.resolve(catalog).map_err(|error| in_version(error, name))?;
                let metrics = formula.metrics.clone();
                (computed.named(session.derived(formula, &places, control)?), metrics)
            }
            (None, Some(text), _) => one(session, named(session, text, name)?, &places, control)?,
            (None, None, Some(list)) => {
                let metric = list.get(at).copied().unwrap_or(MetricIdx::new(0));
                one(session, metric, &places, control)?
            }
            (None, None, None) => continue,
        };
        let (unit, scale) = match &measure.unit {
            Unit::Nanos => (Unit::Seconds, 1e-9),
            other => (other.clone(), 1.0),
        };
        if let Some((known, first)) = units.first()
            && *known != unit
        {
            let symbol = |unit: &Unit| match unit.to_string() {
                text if text.is_empty() => "numbers".to_owned(),
                text => text,
            };
            return Err(EngineError::Missing {
                what: format!(
                    "{} is in {} in {first}, but {} is in {} in {name}",
                    chosen_name(&chosen),
                    symbol(known),
                    measure.name,
                    symbol(&unit)
                ),
                hint: format!("{} that both have", Remedy::Metric),
            }
            .into());
        }
        units.push((unit, (*name).to_owned()));
        chosen.push((measure, metrics, places, scale));
    }
    let Some((unit, _)) = units.first().cloned() else {
        return Err(EngineError::Missing {
            what: "nothing to compare".into(),
            hint: "name two or more experiments".into(),
        }
        .into());
    };
    let mut names: Vec<String> = chosen.iter().map(|(measure, ..)| measure.name.clone()).collect();
    names.dedup_by(|a, b| a.eq_ignore_ascii_case(b));
    let metric = names.join(" / ");
    let watched = watched(&request.gates, &all, &mut notes, control)?;
    for gate in &request.gates {
        gate.check_unit(&unit)?;
    }
    let mut parts = chosen.into_iter().zip(watched);
    let versions: Vec<Version<'_>> = versions
        .iter()
        .map(|version| Version {
            name: version.name.clone(),
            executions: version
                .experiments
                .iter()
                .zip(parts.by_ref())
                .map(|(opened, ((measure, metrics, locations, scale), watched))| Execution {
                    session: opened.session(),
                    measure,
                    metrics,
                    locations,
                    scale,
                    watched,
                })
                .collect(),
        })
        .collect();
    let comparison = compare(&versions, &metric, &unit, &request.options, control)?;
    notes.extend(comparison.notes.iter().cloned());
    notes.dedup();
    let mut issues = Issues::default();
    for (_, opened) in &all {
        issues.extend(opened.issues());
    }
    let gates = outcomes(&comparison, &request.gates);
    Ok(Answer { value: ComparisonOutcome { comparison, gates, issues }, notes })
}

/// Costs with the rows below, or without.
type Side = fn(&ContextDelta) -> &Delta;

type Chosen = (Measure, Vec<MetricIdx>, LocationChoice, f64);

fn chosen_name(chosen: &[Chosen]) -> String {
    chosen.first().map(|(measure, ..)| measure.name.clone()).unwrap_or_default()
}

fn one(
    session: &Session,
    metric: MetricIdx,
    places: &LocationChoice,
    control: &Control,
) -> Result<(Measure, Vec<MetricIdx>), ServiceError> {
    Ok((session.costs(metric, places, control)?.into(), vec![metric]))
}

fn in_version(error: QueryError, name: &str) -> ServiceError {
    QueryError { message: format!("{name}: {}", error.message), ..error }.into()
}

fn find(session: &Session, name: &str) -> Option<MetricIdx> {
    let mut catalog = session.experiment().metrics.iter();
    catalog.find(|(_, metric)| metric.name.eq_ignore_ascii_case(name)).map(|(at, _)| at)
}

/// The metric called `text`, or, for the time on the wall, what another tool calls it.
fn named(session: &Session, text: &str, version: &str) -> Result<MetricIdx, ServiceError> {
    let expression = parse_metrics(text)?;
    let found = resolve_metric(&session.experiment().metrics, &expression);
    let word = text.trim();
    if found.is_err() && WALL_TIME.iter().any(|name| name.eq_ignore_ascii_case(word)) {
        let other = WALL_TIME.iter().find_map(|name| find(session, name));
        if let Some(metric) = other {
            return Ok(metric);
        }
    }
    found.map_err(|error| in_version(error, version))
}

/// A metric for each experiment that counts the same: a time that all have under one name, else
/// the time on the wall of each, else what says most about time in each.
fn default_metrics(
    all: &[(&str, &OpenExperiment)],
    notes: &mut Vec<String>,
    control: &Control,
) -> Result<Vec<MetricIdx>, ServiceError> {
    let with_values =
        |opened: &OpenExperiment, name: &str| -> Result<Option<MetricIdx>, ServiceError> {
            let session = opened.session();
            match find(session, name) {
                Some(metric) if session.total(metric, control)? > 0.0 => Ok(Some(metric)),
                _ => Ok(None),
            }
        };
    for name in TIMES {
        let mut found = Vec::new();
        for (_, opened) in all {
            found.extend(with_values(opened, name)?);
        }
        if found.len() == all.len() {
            return Ok(found);
        }
    }
    let mut walls = Vec::new();
    let mut told = Vec::new();
    for (version, opened) in all {
        for name in WALL_TIME {
            if let Some(metric) = with_values(opened, name)? {
                walls.push(metric);
                let called = &opened.session().experiment().metrics.get(metric).name;
                told.push(format!("{called} in {version}"));
                break;
            }
        }
    }
    if walls.len() == all.len() {
        notes.push(format!("Wall-clock time is {}.", told.join(", ")));
        return Ok(walls);
    }
    let mut found = Vec::new();
    let mut told = Vec::new();
    for (version, opened) in all {
        let default = opened.session().default_metric(control)?;
        let called = &opened.session().experiment().metrics.get(default.metric).name;
        told.push(format!("{called} in {version}"));
        found.push(default.metric);
    }
    notes
        .push(format!("No time metric has the same name in all experiments: {}.", told.join(", ")));
    Ok(found)
}

/// For each experiment and gate the contexts that are looked at, without those inside others.
fn watched(
    gates: &[Gate],
    all: &[(&str, &OpenExperiment)],
    notes: &mut Vec<String>,
    control: &Control,
) -> Result<Vec<Vec<Vec<ContextIdx>>>, ServiceError> {
    let mut out: Vec<Vec<Vec<ContextIdx>>> = vec![Vec::new(); all.len()];
    for gate in gates {
        let Some(expression) = &gate.contexts else { continue };
        let mut failure = None;
        let mut found_any = false;
        for ((_, opened), sets) in all.iter().zip(&mut out) {
            let session = opened.session();
            let contexts = match resolve_contexts(session, expression, control) {
                Ok((contexts, _)) => contexts,
                Err(EngineError::Query(error)) => {
                    failure = failure.or(Some(error));
                    Vec::new()
                }
                Err(error) => return Err(error.into()),
            };
            found_any |= !contexts.is_empty();
            sets.push(outermost(session.tree(), &contexts));
        }
        if !found_any {
            // A name that nothing bears in any version is a mistake; in one of them it is news.
            if let Some(error) = failure {
                return Err(gate.moved(error).into());
            }
            notes.push(format!("no context of any version matches {expression}"));
        }
    }
    Ok(out)
}

fn outermost(tree: &ContextTree, contexts: &[ContextIdx]) -> Vec<ContextIdx> {
    let mut out: Vec<ContextIdx> = Vec::new();
    for &context in contexts {
        if out.last().is_none_or(|&last| !tree.is_within(context, last)) {
            out.push(context);
        }
    }
    out
}

fn outcomes(comparison: &Comparison, gates: &[Gate]) -> Vec<GateOutcome> {
    let mut out = Vec::new();
    // Conditions are a question of their own, adjusted for as many as there are: who sets two looks
    // twice.
    let mut asked: Vec<(&VersionPair, &Gate, Delta)> = Vec::new();
    for pair in &comparison.pairs {
        let mut sets = pair.watched.iter();
        for gate in gates {
            let delta = match gate.contexts {
                Some(_) => sets.next().copied(),
                None => pair.total().copied(),
            };
            asked.extend(delta.map(|delta| (pair, gate, delta)));
        }
    }
    adjust(asked.iter_mut().filter_map(|(.., delta)| delta.test.as_mut()));
    for (pair, gate, delta) in asked {
        let is_noise = delta.is_significant(comparison.level) == Some(false);
        let chance = delta.test.map_or("", |test| test.basis.chance());
        let change = gate.change(delta.old, delta.new).unwrap_or(0.0);
        let is_beyond = gate.is_beyond(change);
        let is_failed = is_beyond && !(gate.is_significant_only && is_noise);
        let told = if gate.is_percent() && change.is_finite() {
            format!("{change:+.2} %")
        } else if gate.is_percent() {
            "only in the new version".to_owned()
        } else {
            let sign = if change > 0.0 { "+" } else { "" };
            format!("{sign}{}", amount(change, &comparison.unit))
        };
        let noise = match (is_beyond, is_noise, gate.is_significant_only) {
            (true, true, true) => format!("; {chance}, so ignored"),
            (true, true, false) => format!("; {chance}"),
            _ => String::new(),
        };
        let version = comparison.versions.get(pair.new);
        out.push(GateOutcome {
            gate: gate.text.clone(),
            version: version.map(|version| version.name.clone()).unwrap_or_default(),
            is_failed,
            text: format!(
                "{told}: {} versus {}{noise}",
                amount(delta.new, &comparison.unit),
                amount(delta.old, &comparison.unit)
            ),
        });
    }
    out
}

impl ComparisonOutcome {
    /// Rows of a pair of versions in an order; rows that neither has, or that cost nothing in
    /// both, are left out.
    #[must_use]
    pub fn ordered(&self, pair: &VersionPair, order: ComparisonOrder) -> Vec<usize> {
        let row = |at: usize| pair.rows.get(at);
        let mut rows: Vec<usize> = (0..pair.rows.len())
            .filter(|&at| {
                row(at).is_some_and(|r| {
                    [&r.inclusive, &r.own].iter().any(|d| d.old != 0.0 || d.new != 0.0)
                })
            })
            .collect();
        let own = |at: usize| row(at).map(|row| row.own);
        let key = |at: usize| -> f64 {
            let Some(delta) = own(at) else { return f64::NEG_INFINITY };
            match order {
                ComparisonOrder::Difference => delta.difference().abs(),
                ComparisonOrder::Relative => match delta.percent() {
                    Some(percent) => percent.abs(),
                    None if delta.new != 0.0 => f64::INFINITY,
                    None => -1.0,
                },
                ComparisonOrder::New => delta.new,
                ComparisonOrder::Old => delta.old,
                ComparisonOrder::Significance => delta.test.map_or(-2.0, |test| -test.adjusted_p),
                ComparisonOrder::Tree => 0.0,
            }
        };
        let tie = |at: usize| own(at).map_or(0.0, |delta| delta.difference().abs());
        if order != ComparisonOrder::Tree {
            rows.sort_by(|&a, &b| {
                key(b).total_cmp(&key(a)).then(tie(b).total_cmp(&tie(a))).then(a.cmp(&b))
            });
        }
        rows
    }

    /// One row for each context and each version but the first; the last columns say what its
    /// probabilities stand on.
    #[must_use]
    pub fn table(&self, order: ComparisonOrder) -> Table {
        let mut rows: Vec<(&VersionPair, usize, ContextDelta)> = Vec::new();
        for pair in &self.comparison.pairs {
            for at in self.ordered(pair, order) {
                if let Some(row) = pair.rows.get(at) {
                    rows.push((pair, at, *row));
                }
            }
        }
        let mut table = self.columns(&rows);
        table.basis = Some(rows.iter().map(|(pair, ..)| pair.basis.map(Basis::name)).collect());
        table.tested = Some(vec![self.comparison.num_tested as u64; rows.len()]);
        table.into_table_in(&self.comparison.unit.to_string())
    }

    /// The rows of one pair of versions in the order of the tree, the whole program first, with
    /// its place in it: what a picture of the tree needs.
    #[must_use]
    pub fn tree_table(&self, pair: usize) -> DifferenceTable {
        let Some(pair) = self.comparison.pairs.get(pair) else { return DifferenceTable::default() };
        let rows: Vec<(&VersionPair, usize, ContextDelta)> =
            pair.rows.iter().enumerate().map(|(at, row)| (pair, at, *row)).collect();
        let contexts = &self.comparison.contexts;
        let number = |at: Option<usize>| at.and_then(|at| u32::try_from(at).ok());
        let parent = contexts.iter().map(|context| number(context.parent).unwrap_or(u32::MAX));
        let ids = |version: usize| {
            let ids = contexts.iter().map(|c| c.contexts.get(version).copied().flatten());
            Some(ids.map(|id| id.map(u64::from)).collect())
        };
        DifferenceTable {
            parent: Some(parent.collect()),
            depth: Some(contexts.iter().map(|context| context.depth).collect()),
            width_new: Some(self.widths(pair, |own| own.new)),
            width_either: Some(self.widths(pair, |own| own.old.max(own.new))),
            old_context_id: ids(0),
            new_context_id: ids(pair.new),
            ..self.columns(&rows)
        }
    }

    /// For each row the sum of a part of its own cost and of those below.
    fn widths(&self, pair: &VersionPair, of: impl Fn(&Delta) -> f64) -> Vec<f64> {
        let mut out: Vec<f64> = pair.rows.iter().map(|row| of(&row.own).max(0.0)).collect();
        // Rows stand before those inside them.
        for (at, context) in self.comparison.contexts.iter().enumerate().rev() {
            let own = out.get(at).copied().unwrap_or(0.0);
            if let Some(above) = context.parent.and_then(|above| out.get_mut(above)) {
                *above += own;
            }
        }
        out
    }

    fn columns(&self, rows: &[(&VersionPair, usize, ContextDelta)]) -> DifferenceTable {
        let comparison = &self.comparison;
        let context = |at: usize| comparison.contexts.get(at);
        let version = |pair: &VersionPair| {
            comparison.versions.get(pair.new).map(|version| version.name.clone())
        };
        let path = |at: usize| context(at).map(|context| context.path.join(" > "));
        let sides: [Side; 2] = [|row| &row.inclusive, |row| &row.own];
        let [all, own] = sides.map(|of| {
            let verdict = |row: &ContextDelta| {
                let delta = of(row);
                Some(match delta.is_significant(comparison.level)? {
                    false => delta.test?.basis.chance(),
                    true if delta.difference() > 0.0 => "more",
                    true => "less",
                })
            };
            let numbers = |value: fn(&Delta) -> f64| -> Vec<f64> {
                rows.iter().map(|(.., row)| value(of(row))).collect()
            };
            let optional = |value: fn(&Delta) -> Option<f64>| -> Vec<Option<f64>> {
                rows.iter().map(|(.., row)| value(of(row))).collect()
            };
            DifferenceTable {
                old: numbers(|d| d.old),
                new: numbers(|d| d.new),
                difference: numbers(Delta::difference),
                change_percent: optional(Delta::percent),
                ratio: optional(Delta::ratio),
                share_percent: optional(|d| d.share),
                low: optional(|d| Some(d.test?.interval.0)),
                high: optional(|d| Some(d.test?.interval.1)),
                p: optional(|d| Some(d.test?.p)),
                p_adjusted: optional(|d| Some(d.test?.adjusted_p)),
                effect: optional(|d| d.test?.effect),
                verdict: rows.iter().map(|(.., row)| verdict(row)).collect(),
                ..DifferenceTable::default()
            }
        });
        DifferenceTable {
            version: (comparison.pairs.len() > 1)
                .then(|| rows.iter().map(|(pair, ..)| version(pair).unwrap_or_default()).collect()),
            name: rows.iter().map(|row| context(row.1).map_or("", |c| &c.name).into()).collect(),
            context: rows.iter().map(|row| path(row.1).unwrap_or_default()).collect(),
            kind: rows.iter().map(|row| context(row.1).map_or("", |c| c.kind.name())).collect(),
            r#in: rows.iter().map(|(.., row)| row.presence.name()).collect(),
            own_old: own.old,
            own_new: own.new,
            own_difference: own.difference,
            own_change_percent: own.change_percent,
            own_ratio: own.ratio,
            own_share_percent: own.share_percent,
            own_low: own.low,
            own_high: own.high,
            own_p: own.p,
            own_p_adjusted: own.p_adjusted,
            own_effect: own.effect,
            own_verdict: own.verdict,
            ..all
        }
    }

    /// Folded stacks of two versions, as `difffolded.pl` writes them: one line for each context
    /// with own cost, names joined by semicolons, the old and the new cost as whole numbers
    /// (nanoseconds of times).
    #[must_use]
    pub fn folded(&self, pair: usize) -> String {
        let comparison = &self.comparison;
        let Some(pair) = comparison.pairs.get(pair) else { return String::new() };
        let factor = if comparison.unit == Unit::Seconds { 1e9 } else { 1.0 };
        let whole = |value: f64| format!("{:.0}", (value * factor).max(0.0).round());
        let mut out = String::new();
        for (context, row) in comparison.contexts.iter().zip(&pair.rows) {
            let (old, new) = (whole(row.own.old), whole(row.own.new));
            if old == "0" && new == "0" {
                continue;
            }
            let names: Vec<String> =
                context.path.iter().map(|name| name.replace([';', '\n'], ":")).collect();
            let stack =
                if names.is_empty() { "(whole program)".to_owned() } else { names.join(";") };
            out.push_str(&format!("{stack} {old} {new}\n"));
        }
        out
    }

    /// Whether any gate failed.
    #[must_use]
    pub fn is_failed(&self) -> bool {
        self.gates.iter().any(|gate| gate.is_failed)
    }
}

/// Two experiments that are asked what changed from one to the other.
pub struct OpenPair {
    /// The old version.
    pub old: Arc<OpenExperiment>,
    /// The new version.
    pub new: Arc<OpenExperiment>,
}

impl Answers<DifferencesRequest> for OpenPair {
    fn answer(
        &self,
        request: &DifferencesRequest,
        control: &Control,
    ) -> Result<protocol::Answer<DifferencesRequest>, ServiceError> {
        let version = |name: &str, opened| ComparedVersion {
            name: name.to_owned(),
            experiments: vec![opened],
        };
        let versions =
            [version("the old version", &*self.old), version("the new version", &*self.new)];
        let options = ComparisonOptions {
            matching: request.by.map(|by| match by {
                DifferencesBy::Context => Matching::CallPath,
                DifferencesBy::Function => Matching::Function,
            }),
            over: request.over.map(|over| match over {
                OverLocations::Sum => Over::Sum,
                OverLocations::Mean => Over::Mean,
                OverLocations::Max => Over::Max,
            }),
            ..ComparisonOptions::default()
        };
        let comparison = ComparisonRequest {
            metric: request.metric.clone(),
            profiles: request.profiles.clone(),
            options,
            gates: Vec::new(),
        };
        let Answer { value, notes } = compare_experiments(&versions, &comparison, control)?;
        let comparison = &value.comparison;
        let pair = comparison.pairs.first();
        let unit = comparison.unit.to_string();
        let reply = DifferencesReply {
            metric: comparison.metric.clone(),
            unit: unit.clone(),
            by: match comparison.matching {
                Matching::CallPath => DifferencesBy::Context,
                Matching::Function => DifferencesBy::Function,
            },
            over: match comparison.over {
                Over::Sum => OverLocations::Sum,
                Over::Mean => OverLocations::Mean,
                Over::Max => OverLocations::Max,
            },
            basis: pair.and_then(|pair| pair.basis).map(Basis::name),
            evidence: pair.map(|pair| comparison.evidence(pair)).unwrap_or_default(),
            sentences: pair.map(|pair| comparison.sentences(pair)).unwrap_or_default(),
            notes,
        };
        let tables = DifferencesTables { rows: value.tree_table(0) };
        Ok(protocol::Answer { unit, ..protocol::Answer::new(reply, tables) })
    }
}
