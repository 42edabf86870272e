//! One context's cost at every location: the answer of `distribution`.

use std::collections::HashMap;

use parallax_analysis::balance::{
    BalanceRequest as Question, Distribution, Grouping, Member, MemberRule, balance,
};
use parallax_base::{ContextIdx, Control, LocationIdx, MetricIdx, Unit};
use parallax_engine::query::{
    QueryError, is_formula, parse_contexts, parse_formula, parse_metrics,
};
use parallax_engine::resolve::{
    OperandScope, ResolvedFormula, resolve_contexts, resolve_formula, resolve_metric,
};
use parallax_engine::{EngineError, LocationChoice};
use parallax_model::{ContextKind, ContextTree, IdentityKind, Scope};

use crate::options::locations;
use crate::tree_table::defined;
use crate::{Answer, BalanceBy, Column, CostChoice, Opened, ServiceError, Table};

/// Which costs of a context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum CostScope {
    /// With everything below.
    #[default]
    Inclusive,
    /// Of its own code: as the exclusive column of trees, without the loops inside a loop.
    Exclusive,
}

/// One context's cost at every location.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DistributionRequest {
    /// Context id in the database.
    pub context_id: u32,
    /// A metric expression, or a formula after `=`, which is evaluated for each member; `@name` is
    /// then the value of the member's whole execution. `None` for the metric that says most about
    /// time.
    pub metric: Option<String>,
    /// Which costs.
    pub scope: CostScope,
    /// A profile expression; `None` for all locations.
    pub profiles: Option<String>,
    /// What is compared: the members.
    pub by: BalanceBy,
}

/// One context's cost at every location.
///
/// Zeros are not stored: a member without a value counts with 0 when it ran below the same entry,
/// as in [`Opened::balance`] ([`MemberRule::Ran`]); others, such as helper threads, are left out.
#[derive(Debug, Clone)]
pub struct DistributionAnswer {
    /// What the context is called.
    pub context: String,
    /// Name of the metric, or the formula.
    pub metric: String,
    /// Its unit.
    pub unit: Unit,
    /// Why this metric, where nobody named one.
    pub reason: Option<String>,
    /// What the members are called, in the singular: `location`, `rank`, `node`.
    pub member: &'static str,
    /// How the cost is spread over the members whose value is defined; `None` when no member has a
    /// value. Defined as in [`Opened::balance`].
    pub statistics: Option<Distribution>,
    /// One row for each member that counts, in their order. Columns: `location` (profile number in
    /// the database; of a rank or node, of its first location), `label`, one column for each kind
    /// of identity that any row has (`node`, `rank`, `thread`, ...), `value` (null where a formula
    /// is undefined).
    pub table: Table,
}

/// Members and the values of those that count.
struct Values {
    members: Vec<Member>,
    by_member: HashMap<usize, f64>,
    num_ungrouped: usize,
    num_wrapped: u64,
}

/// What all readings of one question share.
struct Reading<'a> {
    opened: &'a Opened,
    locations: LocationChoice,
    grouping: Grouping,
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
            members: MemberRule::Ran,
            num_slowest: usize::MAX,
            num_bins: 1,
            ..Question::new(metric, vec![context])
        };
        let found = balance(session, &question, self.control)?;
        let slowest = found.rows.into_iter().flat_map(|row| row.slowest);
        Ok(Values {
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
        Ok(Values { members, by_member, num_ungrouped, num_wrapped })
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

impl Opened {
    /// The id of the context that a context expression names; of several, the one that costs most
    /// by the default metric, with a note.
    ///
    /// # Errors
    /// When the expression is wrong or names no context, or the costs cannot be read.
    pub fn context_id(
        &self,
        expression: &str,
        control: &Control,
    ) -> Result<Answer<u32>, ServiceError> {
        let session = self.session();
        let tree = session.tree();
        let (contexts, mut notes) =
            resolve_contexts(session, &parse_contexts(expression)?, control)?;
        if contexts.len() > 1 {
            notes.push(format!(
                "{} contexts match {expression}; this is the most expensive one",
                contexts.len()
            ));
        }
        let cost = CostChoice::default().resolve(session, control)?.measure;
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
        Ok(Answer { value: tree.source_id(best), notes })
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
    ) -> Result<Answer<DistributionAnswer>, ServiceError> {
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
        let reading = Reading { opened: self, locations, grouping, control };
        let mut reason = None;
        let (metric, unit, values) = match request.metric.as_deref() {
            Some(text) if is_formula(text) => {
                let formula = resolve_formula(&x.metrics, parse_formula(text)?, text)?;
                let values = reading.formula(&formula, context, request.scope)?;
                (formula.formula.to_string(), formula.unit(&x.metrics), values)
            }
            chosen => {
                let metric = match chosen {
                    Some(text) => resolve_metric(&x.metrics, &parse_metrics(text)?)?,
                    None => {
                        let default = session.default_metric(control)?;
                        reason = Some(default.reason);
                        default.metric
                    }
                };
                let described = x.metrics.get(metric);
                let values = reading.values(metric, context, request.scope)?;
                (described.name.to_string(), described.unit.clone(), values)
            }
        };
        if values.num_ungrouped > 0 {
            notes.push(format!(
                "{} locations have no {} and are left out",
                values.num_ungrouped,
                grouping.name()
            ));
        }
        if values.num_wrapped > 0 {
            notes.push(format!(
                "{} values are counters that ran below zero, or not numbers; they are left out",
                values.num_wrapped
            ));
        }
        if values.by_member.is_empty() {
            notes.push("nothing was measured in this context at these locations".into());
        }
        control.check().map_err(EngineError::from)?;
        let rows: Vec<(&Member, f64)> = (0..)
            .zip(&values.members)
            .filter_map(|(i, member)| Some((member, *values.by_member.get(&i)?)))
            .collect();
        let known: Vec<f64> = rows.iter().map(|row| row.1).filter(|v| !v.is_nan()).collect();
        if known.len() < rows.len() {
            let missing = rows.len() - known.len();
            notes.push(format!("the formula is undefined at {missing} of {}", rows.len()));
        }
        let value = DistributionAnswer {
            context: session.tree().label(context),
            metric,
            reason,
            member: grouping.name(),
            statistics: Distribution::new(&known, 16),
            table: self.members_table(&rows, grouping, &unit.to_string()),
            unit,
        };
        Ok(Answer { value, notes })
    }

    fn members_table(&self, rows: &[(&Member, f64)], grouping: Grouping, unit: &str) -> Table {
        let catalog = &self.session().experiment().locations;
        let mut columns = vec![
            Column::u32s(
                "location",
                "Profile number in the database; of a rank or node, of its first location.",
                rows.iter().map(|(member, _)| member.location.get()).collect(),
            ),
            Column::strings("label", "What it is called.", rows.iter().map(|(m, _)| &m.label)),
        ];
        for kind in catalog.kinds() {
            // What the locations of a group do not have in common says nothing about it.
            let is_apart = |group| match kind {
                IdentityKind::Application => group != IdentityKind::Rank,
                kind => group != kind,
            };
            if matches!(grouping, Grouping::Identity(group) if is_apart(group)) {
                continue;
            }
            let id = |location: LocationIdx| catalog.identity(location, kind);
            let doc = "Part of the identity of the location; null where it has none.";
            let ids = rows.iter().map(|(member, _)| id(member.location));
            columns.push(Column::optional_u64s(kind.name(), "", doc, ids));
        }
        columns.push(defined(
            "value",
            unit,
            "Cost of the context there; null where a formula is undefined.",
            rows.iter().map(|row| row.1),
        ));
        Table::new(columns)
    }
}
