//! One context's cost at every location: the answer of `distribution`.

use std::collections::HashMap;

use parallax_analysis::balance::{
    BalanceRequest as Question, Bins, Distribution, Grouping, Member, MemberRule, balance,
    histogram,
};
use parallax_base::{ContextIdx, Control, LocationIdx, MetricIdx, Remedy};
use parallax_engine::query::{QueryError, parse_contexts, parse_metrics};
use parallax_engine::resolve::{OperandScope, ResolvedFormula, resolve_contexts, resolve_metric};
use parallax_engine::{EngineError, LocationChoice};
use parallax_model::{ContextKind, ContextTree, IdentityKind, Scope};
use parallax_protocol::{
    Answer, BalanceBy, CostChoice, Defined, DistributionReply, DistributionRequest,
    DistributionTables, HistogramReply, MemberTable, StatisticsReply,
};

use crate::clusters::excluded_without;
use crate::options::{Computed, Resolve as _, identities, locations};
use crate::{Answer as Noted, Answers, OpenExperiment, ServiceError};

/// Which costs of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CostScope {
    /// With everything below.
    Inclusive,
    /// Of its own code: as the exclusive column of trees, without the loops inside a loop.
    Exclusive,
}

/// One context's cost at every location, with everything about how it is spread.
#[derive(Debug, Clone)]
pub struct Spread {
    /// The answer.
    pub answer: Answer<DistributionRequest>,
    /// How the cost is spread over the members whose value is defined; `None` when no member has a
    /// value. Defined as in [`OpenExperiment::balance`].
    pub statistics: Option<Distribution>,
}

/// Members and the values of those that count.
struct Values {
    members: Vec<Member>,
    by_member: HashMap<usize, f64>,
    /// Members that ran, but never entered the context, and do not count.
    num_absent: usize,
    num_ungrouped: usize,
    num_wrapped: u64,
}

/// What all readings of one question share.
struct Reading<'a> {
    opened: &'a OpenExperiment,
    locations: LocationChoice,
    grouping: Grouping,
    members: MemberRule,
    control: &'a Control,
}

impl Reading<'_> {
    fn values(
        &self,
        metric: MetricIdx,
        context: ContextIdx,
        scope: CostScope,
    ) -> Result<Values, ServiceError> {
        let session = self.opened.session();
        let question = Question {
            scope: match scope {
                CostScope::Inclusive => Scope::Inclusive,
                // Only loops have loops that are theirs alone.
                CostScope::Exclusive if session.tree().kind(context) == ContextKind::Loop => {
                    Scope::LexicalAware
                }
                CostScope::Exclusive => Scope::Exclusive,
            },
            locations: self.locations.clone(),
            grouping: self.grouping,
            members: self.members,
            num_slowest: usize::MAX,
            num_bins: 1,
            ..Question::new(metric, vec![context])
        };
        let found = balance(session, &question, self.control)?;
        let num_absent = found.rows.iter().map(|row| row.num_absent).sum();
        let slowest = found.rows.into_iter().flat_map(|row| row.slowest);
        Ok(Values {
            num_absent,
            members: found.members,
            by_member: slowest.map(|slow| (slow.member, slow.value)).collect(),
            num_ungrouped: found.num_ungrouped,
            num_wrapped: found.num_wrapped,
        })
    }

    /// The values of a formula, evaluated for each member.
    fn formula(
        &self,
        formula: &ResolvedFormula,
        context: ContextIdx,
        scope: CostScope,
    ) -> Result<Values, ServiceError> {
        let mut operands = Vec::new();
        for operand in &formula.operands {
            let Some(&metric) = formula.metrics.get(operand.metric) else { continue };
            operands.push(match operand.scope {
                OperandScope::Column => self.values(metric, context, scope)?,
                OperandScope::Inclusive => self.values(metric, context, CostScope::Inclusive)?,
                OperandScope::Exclusive => self.values(metric, context, CostScope::Exclusive)?,
                OperandScope::Whole => self.whole(metric)?,
            });
        }
        // Whoever ran the context counts; that a location ran at all does not make it a member.
        let is_here = |(operand, _): &(&parallax_engine::resolve::Operand, &Values)| {
            operand.scope != OperandScope::Whole
        };
        let here: Vec<&Values> =
            formula.operands.iter().zip(&operands).filter(is_here).map(|(_, v)| v).collect();
        let here = if here.is_empty() { operands.iter().collect() } else { here };
        let mut counted: Vec<usize> =
            here.iter().flat_map(|values| values.by_member.keys().copied()).collect();
        counted.sort_unstable();
        counted.dedup();
        let mut stack = Vec::new();
        let mut evaluate = |member: usize| {
            formula.formula.evaluate(&mut stack, |reference| {
                let values = operands.get(reference);
                values.and_then(|values| values.by_member.get(&member)).copied().unwrap_or(0.0)
            })
        };
        let by_member = counted.into_iter().map(|member| (member, evaluate(member))).collect();
        let num_ungrouped = operands.first().map_or(0, |values| values.num_ungrouped);
        let num_wrapped = operands.iter().map(|values| values.num_wrapped).sum();
        let members = operands.into_iter().next().map(|values| values.members).unwrap_or_default();
        Ok(Values { members, by_member, num_absent: 0, num_ungrouped, num_wrapped })
    }

    /// What the whole execution cost each member.
    fn whole(&self, metric: MetricIdx) -> Result<Values, ServiceError> {
        let mut values = self.values(metric, ContextTree::ROOT, CostScope::Inclusive)?;
        if values.by_member.values().any(|value| *value != 0.0) {
            return Ok(values);
        }
        // Some sources store nothing for the root.
        let tree = self.opened.session().tree();
        for entry in tree.children(ContextTree::ROOT) {
            for (member, value) in self.values(metric, entry, CostScope::Inclusive)?.by_member {
                *values.by_member.entry(member).or_insert(0.0) += value;
            }
        }
        Ok(values)
    }
}

impl OpenExperiment {
    /// The id of the context that a context expression names; of several, the one that costs most
    /// by the default metric, with a note.
    ///
    /// # Errors
    /// When the expression is wrong or names no context, or the costs cannot be read.
    pub fn context_id(
        &self,
        expression: &str,
        control: &Control,
    ) -> Result<Noted<u32>, ServiceError> {
        let session = self.session();
        let tree = session.tree();
        let (contexts, mut notes) =
            resolve_contexts(session, &parse_contexts(expression)?, control)?;
        if contexts.len() > 1 {
            notes.push(format!(
                "{} contexts match {expression}; the one with the largest value is shown.",
                contexts.len()
            ));
        }
        let cost = CostChoice::default().resolve(self, control)?.measure;
        let cost = |context: ContextIdx| {
            cost.operands().first().map_or(0.0, |costs| costs.inclusive_of(context))
        };
        // Of equal ones the first.
        let best = contexts.into_iter().rev().max_by(|&a, &b| cost(a).total_cmp(&cost(b)));
        let best = best.ok_or_else(|| {
            let message = format!("no context is named by {expression}");
            let error = QueryError::unknown_name(expression, expression, message);
            match notes.first() {
                Some(note) => error.with_hint(note.clone()),
                None => error,
            }
        })?;
        Ok(Noted { value: tree.source_id(best), notes })
    }

    /// One context's cost at every location, rank or node. Reads the values of this context, not
    /// those of others.
    ///
    /// # Errors
    /// When there is no such context, an expression is wrong, or the values cannot be read.
    pub fn distribution(
        &self,
        request: &DistributionRequest,
        control: &Control,
    ) -> Result<Spread, ServiceError> {
        let session = self.session();
        let x = session.experiment();
        let mut notes = Vec::new();
        let id = request.context_id;
        let context = session.tree().by_source_id(id).ok_or_else(|| {
            let name = format!("context({id})");
            let message = format!("this experiment has no context {id}");
            QueryError::unknown_name(&name, &name, message)
                .with_hint("the tables of the tree have the ids of contexts")
        })?;
        let grouping = match request.by {
            BalanceBy::Profile => Grouping::Location,
            BalanceBy::Rank => Grouping::Identity(IdentityKind::Rank),
            BalanceBy::Node => Grouping::Identity(IdentityKind::Node),
        };
        let locations = locations(session, request.profiles.as_deref(), &mut notes)?;
        let mut reason = None;
        let computed = request.metric.as_deref().and_then(|text| Computed::of(&x.metrics, text));
        // A formula may have a value where its metrics have none.
        let members = match request.all_locations || computed.is_some() {
            true => MemberRule::Ran,
            false => MemberRule::TakesPart,
        };
        let reading = Reading { opened: self, locations, grouping, members, control };
        let scope = if request.is_exclusive { CostScope::Exclusive } else { CostScope::Inclusive };
        let (metric, unit, values) = match computed {
            Some(computed) => {
                let formula = computed.resolve(&x.metrics)?;
                let values = reading.formula(&formula, context, scope)?;
                (computed.name(&formula), computed.unit(&formula, &x.metrics), values)
            }
            None => {
                let metric = match request.metric.as_deref() {
                    Some(text) => resolve_metric(&x.metrics, &parse_metrics(text)?)?,
                    None => {
                        let default = session.default_metric(control)?;
                        reason = default.reason;
                        default.metric
                    }
                };
                let described = x.metrics.get(metric);
                let values = reading.values(metric, context, scope)?;
                (described.name.to_string(), described.unit.clone(), values)
            }
        };
        if values.num_ungrouped > 0 {
            notes.push(excluded_without(values.num_ungrouped as u64, grouping.name()));
        }
        if values.num_absent > 0 {
            notes.push(absent_note(values.num_absent, grouping));
        }
        if values.num_wrapped > 0 {
            notes.push(format!(
                "{} values are wrapped counters or not numbers; they are excluded.",
                values.num_wrapped
            ));
        }
        if values.by_member.is_empty() {
            notes.push("No values in this context at these locations.".into());
        }
        control.check().map_err(EngineError::from)?;
        let rows: Vec<(&Member, f64)> = (0..)
            .zip(&values.members)
            .filter_map(|(i, member)| Some((member, *values.by_member.get(&i)?)))
            .collect();
        let known: Vec<f64> = rows.iter().map(|row| row.1).filter(|v| !v.is_nan()).collect();
        if known.len() < rows.len() {
            let missing = rows.len() - known.len();
            notes.push(format!("The formula is undefined at {missing} of {}.", rows.len()));
        }
        let statistics = Distribution::new(&known, 16);
        let bins = request.bins.map_or(Bins::Natural, |bins| Bins::Count(bins as usize));
        let histogram = histogram(&known, bins).map(|found| HistogramReply {
            start: found.start,
            width: found.width,
            counts: found.counts,
        });
        let unit = unit.to_string();
        let reply = DistributionReply {
            context: session.tree().label(context),
            metric,
            unit: unit.clone(),
            reason,
            member: grouping.name(),
            statistics: statistics.as_ref().map(statistics_reply),
            histogram,
            absent: values.num_absent as u64,
            notes,
        };
        let tables = DistributionTables { rows: self.members_table(&rows, grouping) };
        Ok(Spread { answer: Answer { unit, ..Answer::new(reply, tables) }, statistics })
    }

    fn members_table(&self, rows: &[(&Member, f64)], grouping: Grouping) -> MemberTable {
        let catalog = &self.session().experiment().locations;
        let locations: Vec<LocationIdx> = rows.iter().map(|(member, _)| member.location).collect();
        // What the locations of a group do not have in common says nothing about it.
        let is_apart = |group: IdentityKind, name: &str| match group {
            IdentityKind::Rank if name == IdentityKind::Application.name() => false,
            group => group.name() != name,
        };
        let mut kinds = identities(catalog, &locations);
        if let Grouping::Identity(group) = grouping {
            kinds.columns.retain(|column| !is_apart(group, &column.name));
        }
        MemberTable {
            location: locations.iter().map(|location| location.get()).collect(),
            label: rows.iter().map(|(member, _)| member.label.clone()).collect(),
            identities: kinds,
            value: Defined(rows.iter().map(|row| row.1).collect()),
        }
    }
}

/// That locations are not compared, for users.
fn absent_note(num_absent: usize, grouping: Grouping) -> String {
    let name = grouping.name();
    match num_absent {
        1 => format!("1 {name} has no time in it and is not included; {}.", Remedy::AllLocations),
        n => {
            format!(
                "{n} {name}s have no time in it and are not included; {}.",
                Remedy::AllLocations
            )
        }
    }
}

fn statistics_reply(found: &Distribution) -> StatisticsReply {
    let [_, _, median, _, p95] = found.percentiles;
    StatisticsReply {
        members: found.num_members as u64,
        values: found.num_values as u64,
        sum: found.sum,
        min: found.min,
        mean: found.mean,
        median,
        p95,
        max: found.max,
        std_dev: found.std_dev,
        variation: found.variation,
        balance_ratio: found.balance_ratio,
        saving: found.saving,
    }
}

impl Answers<DistributionRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &DistributionRequest,
        control: &Control,
    ) -> Result<Answer<DistributionRequest>, ServiceError> {
        Ok(self.distribution(request, control)?.answer)
    }
}
