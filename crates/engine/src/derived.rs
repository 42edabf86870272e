//! [`Measure`]: a metric, or a formula over several, as what a view counts.
//!
//! A ratio of sums is not the sum of ratios: views add up the metrics that a formula names, each
//! for itself, and evaluate the formula on what comes out for each row.

use std::cmp::Ordering;

use parallax_base::{Control, Unit};

use crate::resolve::{OperandScope, ResolvedFormula};
use crate::{Costs, EngineError, LocationChoice, Session};

/// What a view counts: the costs of one metric, or a derived metric.
#[derive(Debug, Clone)]
pub struct Measure {
    /// Name of the metric, or the formula.
    pub name: String,
    /// The unit of the result.
    pub unit: Unit,
    /// The result for the whole execution; NaN where it is undefined.
    pub total: f64,
    operands: Vec<Costs>,
    /// `None`: the only operand itself.
    formula: Option<ResolvedFormula>,
}

/// Costs of the rows of a view.
#[derive(Debug, Clone, PartialEq)]
pub struct CostColumns {
    /// Cost of each row with everything below it; NaN where a formula is undefined.
    pub inclusive: Vec<f64>,
    /// Cost of each row itself; NaN where a formula is undefined.
    pub exclusive: Vec<f64>,
    /// Whether any metric was measured there.
    pub is_measured: Vec<bool>,
}

impl From<Costs> for Measure {
    fn from(costs: Costs) -> Self {
        Self {
            name: costs.name.clone(),
            unit: costs.unit.clone(),
            total: costs.total,
            operands: vec![costs],
            formula: None,
        }
    }
}

impl From<&Costs> for Measure {
    fn from(costs: &Costs) -> Self {
        costs.clone().into()
    }
}

impl From<&Self> for Measure {
    fn from(measure: &Self) -> Self {
        measure.clone()
    }
}

impl Session {
    /// What contexts cost by a formula.
    ///
    /// # Errors
    /// As [`Session::costs`].
    pub fn derived(
        &self,
        formula: ResolvedFormula,
        locations: &LocationChoice,
        control: &Control,
    ) -> Result<Measure, EngineError> {
        let operands = formula.metrics.iter().map(|&m| self.costs(m, locations, control));
        let operands = operands.collect::<Result<Vec<_>, _>>()?;
        let totals: Vec<f64> = operands.iter().map(|costs| costs.total).collect();
        let total = evaluate(&formula, &totals, &mut Vec::new(), |i| (totals[i], totals[i])).0;
        Ok(Measure {
            name: formula.formula.to_string(),
            unit: formula.unit(&self.experiment().metrics),
            total,
            operands,
            formula: Some(formula),
        })
    }
}

impl Measure {
    /// The same with other costs for each metric: what `other` gives, else what they were.
    #[must_use]
    pub fn with_costs(mut self, other: impl Fn(&Costs) -> Option<Costs>) -> Self {
        for costs in &mut self.operands {
            if let Some(new) = other(costs) {
                *costs = new;
            }
        }
        let totals: Vec<f64> = self.operands.iter().map(|costs| costs.total).collect();
        let of = |i: usize| (totals[i], totals[i]);
        self.total = self.evaluate(&mut Vec::new(), of).0;
        self
    }

    /// The costs of the metrics that are added up; of these, the first decides what is low cost.
    #[must_use]
    pub fn operands(&self) -> &[Costs] {
        &self.operands
    }

    /// The inclusive and the exclusive result from those of the operands: `of(i)` is a sum of
    /// inclusive and one of exclusive costs of operand i. `stack` is room to be used again.
    pub fn evaluate(&self, stack: &mut Vec<f64>, of: impl Fn(usize) -> (f64, f64)) -> (f64, f64) {
        match &self.formula {
            None => of(0),
            Some(formula) => {
                let totals: Vec<f64> = self.operands.iter().map(|costs| costs.total).collect();
                evaluate(formula, &totals, stack, of)
            }
        }
    }

    /// The results of all rows from the columns of the operands.
    #[must_use]
    pub fn combine(&self, mut columns: Vec<CostColumns>) -> CostColumns {
        let Some(formula) = &self.formula else { return columns.swap_remove(0) };
        let totals: Vec<f64> = self.operands.iter().map(|costs| costs.total).collect();
        let rows = columns.first().map_or(0, |column| column.inclusive.len());
        let mut out = CostColumns {
            inclusive: Vec::with_capacity(rows),
            exclusive: Vec::with_capacity(rows),
            is_measured: Vec::with_capacity(rows),
        };
        let mut stack = Vec::new();
        for row in 0..rows {
            let of = |i: usize| (columns[i].inclusive[row], columns[i].exclusive[row]);
            let (inclusive, exclusive) = evaluate(formula, &totals, &mut stack, of);
            out.inclusive.push(inclusive);
            out.exclusive.push(exclusive);
            out.is_measured.push(columns.iter().any(|column| column.is_measured[row]));
        }
        out
    }
}

/// The inclusive and the exclusive result of a formula.
fn evaluate(
    formula: &ResolvedFormula,
    totals: &[f64],
    stack: &mut Vec<f64>,
    of: impl Fn(usize) -> (f64, f64),
) -> (f64, f64) {
    let mut column = |is_inclusive: bool| {
        formula.formula.evaluate(stack, |reference| {
            let operand = formula.operands[reference];
            let (inclusive, exclusive) = of(operand.metric);
            match operand.scope {
                OperandScope::Column if is_inclusive => inclusive,
                OperandScope::Column | OperandScope::Exclusive => exclusive,
                OperandScope::Inclusive => inclusive,
                OperandScope::Whole => totals[operand.metric],
            }
        })
    };
    (column(true), column(false))
}

/// From the highest cost; undefined ones come last.
pub(crate) fn descending(a: f64, b: f64) -> Ordering {
    a.is_nan().cmp(&b.is_nan()).then_with(|| b.total_cmp(&a))
}
