//! [`Condition`]: which rows of a block meet all conditions of a statement.
//!
//! Most conditions compare a column, or the difference of two, with a number. These are looked at
//! without writing down anything but the places of the rows that meet them; all others are evaluated
//! as DataFusion does it.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::BooleanArray;
use datafusion::arrow::datatypes::{
    ArrowPrimitiveType, DataType, Int64Type, UInt16Type, UInt32Type,
};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Result;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{BinaryExpr, CastExpr, Column, Literal};
use datafusion::physical_expr::{PhysicalExpr, split_conjunction};
use parallax_base::{Control, threads};
use parallax_columns::{BLOCK_ROWS, Picks, blocks};

use super::rows::{Source, numbers, withdrawn};
use crate::device::{Operand, Share, spread};
use crate::filters::whole;

type Expr = Arc<dyn PhysicalExpr>;

/// Rows that are looked at to know about how many meet conditions: a tenth of a millisecond.
const SHARE_ROWS: usize = 1 << 16;

/// The conditions of a [`Source`] over one table.
pub(super) enum Condition<'t> {
    /// All numbers are in ranges.
    Ranges(Vec<Within<'t>>),
    /// What DataFusion evaluated: the rows of each block that meet them, `None` for all.
    Any(Vec<Option<BooleanArray>>),
}

/// That a number of each row is in a range.
pub(super) struct Within<'t> {
    /// What the number is made of.
    pub(super) operand: Operand,
    number: Number<'t>,
    pub(super) low: i64,
    pub(super) high: i64,
}

/// A whole number of each row.
pub(super) enum Number<'t> {
    Two(&'t [u16]),
    Four(&'t [u32]),
    Eight(&'t [i64]),
    /// The first less the second, without the bits that are too many.
    Difference(&'t [i64], &'t [i64]),
}

impl<'t> Condition<'t> {
    /// # Errors
    /// When a condition cannot be evaluated, or the statement was withdrawn.
    pub(super) fn of(source: &Source, table: &'t RecordBatch, control: &Control) -> Result<Self> {
        let ranges = Within::all(source, table);
        if let Some(ranges) = ranges.filter(|ranges| !ranges.is_empty()) {
            return Ok(Self::Ranges(ranges));
        }
        let met = threads::map(blocks(table.num_rows()), |block| {
            control.check().map_err(withdrawn)?;
            source.met(&table.slice(block.start, block.len()))
        });
        Ok(Self::Any(met.into_iter().collect::<Result<_>>()?))
    }

    /// Chooses the rows of a block that meet the conditions.
    pub(super) fn pick(&self, block: &Range<usize>, picks: &mut Picks) {
        match self {
            Self::Ranges(ranges) => {
                let mut ranges = ranges.iter();
                if let Some(first) = ranges.next() {
                    first.pick(block.clone(), picks);
                }
                ranges.for_each(|next| next.narrow(block.clone(), picks));
            }
            Self::Any(met) => match met.get(block.start / BLOCK_ROWS) {
                Some(Some(met)) => picks.push_places(met.values().set_indices_u32()),
                _ => picks.push_all(block.len()),
            },
        }
    }
}

impl<'t> Within<'t> {
    /// What all conditions say; `None` where one says something else.
    pub(super) fn all(source: &Source, table: &'t RecordBatch) -> Option<Vec<Self>> {
        let all = source.conditions.iter().flat_map(split_conjunction);
        all.map(|one| Self::of(one, table)).collect()
    }

    /// About which part of the rows of a table is in all ranges.
    pub(super) fn share(all: &[Self], rows: usize) -> Share {
        if all.is_empty() {
            return Share::default();
        }
        let is_met = |one: &Self, row: usize| (one.low..=one.high).contains(&one.number.at(row));
        let (mut met, mut looked_at) = (0, 0);
        for block in spread(rows, SHARE_ROWS) {
            looked_at += block.len();
            met += block.filter(|&row| all.iter().all(|one| is_met(one, row))).count();
        }
        Share::of(met, looked_at)
    }

    /// What a comparison with a number says; `None` where it says something else.
    fn of(condition: &Expr, table: &'t RecordBatch) -> Option<Self> {
        let comparison = condition.downcast_ref::<BinaryExpr>()?;
        let (left, right) = (comparison.left(), comparison.right());
        let (number, op, than) = match (literal(left), literal(right)) {
            (None, Some(than)) => (left, *comparison.op(), than),
            (Some(than), None) => (right, comparison.op().swap()?, than),
            _ => return None,
        };
        let operand = operand(number, table)?;
        let number = Number::of(operand, table)?;
        let (least, most) = (i128::from(i64::MIN), i128::from(i64::MAX));
        let (low, high) = match op {
            Operator::Eq => (than, than),
            Operator::Lt => (least, than - 1),
            Operator::LtEq => (least, than),
            Operator::Gt => (than + 1, most),
            Operator::GtEq => (than, most),
            _ => return None,
        };
        // No number is in a range from the largest to the least.
        let none = Self { operand, number, low: i64::MAX, high: i64::MIN };
        Some(match (i64::try_from(low.max(least)), i64::try_from(high.min(most))) {
            (Ok(low), Ok(high)) => Self { low, high, ..none },
            _ => none,
        })
    }

    fn pick(&self, block: Range<usize>, picks: &mut Picks) {
        let (low, high) = (self.low, self.high);
        // One of the two is no limit, nearly always. `&&` would be a branch, which is mispredicted often.
        if high == i64::MAX {
            self.number.pick(block, picks, |number| number >= low);
        } else {
            self.number.pick(block, picks, |number| (low <= number) & (number <= high));
        }
    }

    /// Leaves only those rows of `picks` that meet this as well.
    fn narrow(&self, block: Range<usize>, picks: &mut Picks) {
        let is_met = |number: i64| (self.low <= number) & (number <= self.high);
        match self.number {
            Number::Two(all) => {
                let all = &all[block];
                picks.retain(|at| is_met(all[at].into()));
            }
            Number::Four(all) => {
                let all = &all[block];
                picks.retain(|at| is_met(all[at].into()));
            }
            Number::Eight(all) => {
                let all = &all[block];
                picks.retain(|at| is_met(all[at]));
            }
            Number::Difference(from, less) => {
                let (from, less) = (&from[block.clone()], &less[block]);
                picks.retain(|at| is_met(from[at].wrapping_sub(less[at])));
            }
        }
    }
}

impl<'t> Number<'t> {
    /// `None` where a column has no whole number in a row.
    pub(super) fn of(operand: Operand, table: &'t RecordBatch) -> Option<Self> {
        let at = match operand {
            Operand::Column(at) => at,
            Operand::Difference(from, less) => {
                let from = column::<Int64Type>(from, table)?;
                return Some(Self::Difference(from, column::<Int64Type>(less, table)?));
            }
        };
        let two = || column::<UInt16Type>(at, table).map(Self::Two);
        let four = || column::<UInt32Type>(at, table).map(Self::Four);
        column::<Int64Type>(at, table).map(Self::Eight).or_else(four).or_else(two)
    }

    /// The number of a row.
    pub(super) fn at(&self, row: usize) -> i64 {
        match self {
            Self::Two(all) => all[row].into(),
            Self::Four(all) => all[row].into(),
            Self::Eight(all) => all[row],
            Self::Difference(from, less) => from[row].wrapping_sub(less[row]),
        }
    }

    fn pick(&self, block: Range<usize>, picks: &mut Picks, is_met: impl Fn(i64) -> bool) {
        match self {
            Self::Two(all) => picks.push(all[block].iter().map(|&number| is_met(number.into()))),
            Self::Four(all) => picks.push(all[block].iter().map(|&number| is_met(number.into()))),
            Self::Eight(all) => picks.push(all[block].iter().map(|&number| is_met(number))),
            Self::Difference(from, less) => {
                let both = from[block.clone()].iter().zip(&less[block]);
                picks.push(both.map(|(from, less)| is_met(from.wrapping_sub(*less))));
            }
        }
    }
}

/// The expression without a cast that only makes a column wider.
fn widened<'e>(expression: &'e Expr, table: &RecordBatch) -> &'e Expr {
    let Some(cast) = expression.downcast_ref::<CastExpr>() else { return expression };
    let from = cast.expr().data_type(table.schema_ref());
    let is_wider = matches!(
        (from, cast.cast_type()),
        (Ok(DataType::UInt16), DataType::UInt32 | DataType::UInt64 | DataType::Int64)
            | (Ok(DataType::UInt32), DataType::UInt64 | DataType::Int64)
    );
    if is_wider { cast.expr() } else { expression }
}

/// What a whole number of each row is made of; `None` where it is something else.
pub(super) fn operand(expression: &Expr, table: &RecordBatch) -> Option<Operand> {
    let column = |expression: &Expr| {
        let at = expression.downcast_ref::<Column>()?.index();
        table.columns().get(at).map(|column| (at, column.data_type()))
    };
    let expression = widened(expression, table);
    if let Some(difference) = expression.downcast_ref::<BinaryExpr>() {
        (*difference.op() == Operator::Minus).then_some(())?;
        let both = (column(difference.left())?, column(difference.right())?);
        return match both {
            ((from, DataType::Int64), (less, DataType::Int64)) => {
                Some(Operand::Difference(from, less))
            }
            _ => None,
        };
    }
    match column(expression)? {
        (at, DataType::UInt16 | DataType::UInt32 | DataType::Int64) => Some(Operand::Column(at)),
        _ => None,
    }
}

/// The values of a column of this type that has one in every row.
fn column<T: ArrowPrimitiveType>(at: usize, table: &RecordBatch) -> Option<&[T::Native]> {
    numbers::<T>(table.columns().get(at)?)
}

fn literal(expression: &Expr) -> Option<i128> {
    whole(expression.downcast_ref::<Literal>()?.value())
}
