//! `sum` and `avg` of numbers with fractions, added with twice the digits, so that neither threads
//! nor machines that share the rows show in the result.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray as _, BooleanArray};
use datafusion::arrow::array::{Float64Array, UInt64Array};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Float64Type, UInt64Type};
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::functions_aggregate::average::avg_udaf;
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, EmitTo, GroupsAccumulator,
    ReversedUDAF, Signature,
};

/// What replaces the functions of the same names.
pub(crate) fn all() -> [AggregateUDF; 2] {
    [sum_udaf(), avg_udaf()].map(|plain| AggregateUDF::from(Sums { plain }))
}

/// The function that adds `f64` in this way, and leaves everything else to the plain one.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Sums {
    plain: Arc<AggregateUDF>,
}

impl Sums {
    fn is_mean(&self) -> bool {
        self.plain.name() == "avg"
    }
}

/// Whether these are numbers with fractions, each of which counts.
fn is_ours(fields: &[FieldRef], is_distinct: bool) -> bool {
    let first = fields.first().map(|field| field.data_type());
    !is_distinct && first == Some(&DataType::Float64)
}

impl AggregateUDFImpl for Sums {
    fn name(&self) -> &str {
        self.plain.name()
    }

    fn aliases(&self) -> &[String] {
        self.plain.aliases()
    }

    fn signature(&self) -> &Signature {
        self.plain.signature()
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.plain.inner().return_type(types)
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        if !is_ours(args.input_fields, args.is_distinct) {
            return self.plain.inner().state_fields(args);
        }
        let field = |name: &str, values: DataType| -> FieldRef {
            Arc::new(Field::new(format_state_name(args.name, name), values, false))
        };
        Ok(vec![
            field("count", DataType::UInt64),
            field("sum", DataType::Float64),
            field("rest", DataType::Float64),
        ])
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        match is_ours(args.expr_fields, args.is_distinct) {
            true => Ok(Box::new(One(Cells::new(self.is_mean(), 1)))),
            false => self.plain.inner().accumulator(args),
        }
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        self.plain.inner().create_sliding_accumulator(args)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        is_ours(args.expr_fields, args.is_distinct)
            || self.plain.inner().groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        match is_ours(args.expr_fields, args.is_distinct) {
            true => Ok(Box::new(Cells::new(self.is_mean(), 0))),
            false => self.plain.inner().create_groups_accumulator(args),
        }
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.plain.documentation()
    }
}

/// A sum so far: a number, and what it lacks of the exact sum.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Cell {
    count: u64,
    sum: f64,
    rest: f64,
}

impl Cell {
    fn add(&mut self, count: u64, value: f64, rest: f64) {
        self.count += count;
        let sum = self.sum + value;
        if !sum.is_finite() {
            (self.sum, self.rest) = (sum, 0.0);
            return;
        }
        // What was lost of either when they were added (Knuth).
        let of_value = sum - self.sum;
        let lost = (self.sum - (sum - of_value)) + (value - of_value);
        let rest = self.rest + rest + lost;
        self.sum = sum + rest;
        self.rest = rest - (self.sum - sum);
    }
}

/// Sums of groups.
struct Cells {
    is_mean: bool,
    cells: Vec<Cell>,
}

impl Cells {
    fn new(is_mean: bool, groups: usize) -> Self {
        Self { is_mean, cells: vec![Cell::default(); groups] }
    }

    fn value(&self, cell: &Cell) -> Option<f64> {
        let divisor = if self.is_mean { cell.count as f64 } else { 1.0 };
        (cell.count > 0).then(|| cell.sum / divisor)
    }

    fn update(&mut self, values: &ArrayRef, group: impl Fn(usize) -> Option<usize>) -> Result<()> {
        let Some(values) = values.as_primitive_opt::<Float64Type>() else {
            return exec_err!("numbers to be added are of another type");
        };
        for row in 0..values.len() {
            if values.is_valid(row)
                && let Some(cell) = group(row).and_then(|group| self.cells.get_mut(group))
            {
                cell.add(1, values.value(row), 0.0);
            }
        }
        Ok(())
    }

    fn merge(&mut self, states: &[ArrayRef], group: impl Fn(usize) -> usize) -> Result<()> {
        let [count, sum, rest] = states else { return exec_err!("no sums") };
        let (Some(count), Some(sum), Some(rest)) = (
            count.as_primitive_opt::<UInt64Type>(),
            sum.as_primitive_opt::<Float64Type>(),
            rest.as_primitive_opt::<Float64Type>(),
        ) else {
            return exec_err!("sums are of another type");
        };
        for row in 0..count.len() {
            if let Some(cell) = self.cells.get_mut(group(row)) {
                cell.add(count.value(row), sum.value(row), rest.value(row));
            }
        }
        Ok(())
    }
}

fn states(cells: &[Cell]) -> Vec<ArrayRef> {
    vec![
        Arc::new(cells.iter().map(|cell| cell.count).collect::<UInt64Array>()),
        Arc::new(cells.iter().map(|cell| cell.sum).collect::<Float64Array>()),
        Arc::new(cells.iter().map(|cell| cell.rest).collect::<Float64Array>()),
    ]
}

impl GroupsAccumulator for Cells {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        total: usize,
    ) -> Result<()> {
        self.cells.resize(total, Cell::default());
        let [values] = values else { return exec_err!("one column is added at a time") };
        let is_wanted =
            |row: usize| filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
        self.update(values, |row| groups.get(row).copied().filter(|_| is_wanted(row)))
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let cells = emit.take_needed(&mut self.cells);
        Ok(Arc::new(cells.iter().map(|cell| self.value(cell)).collect::<Float64Array>()))
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(states(&emit.take_needed(&mut self.cells)))
    }

    fn merge_batch(&mut self, values: &[ArrayRef], groups: &[usize], total: usize) -> Result<()> {
        self.cells.resize(total, Cell::default());
        self.merge(values, |row| groups.get(row).copied().unwrap_or(usize::MAX))
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let rows = values.first().map_or(0, Array::len);
        let each: Vec<usize> = (0..rows).collect();
        let mut alone = Self::new(self.is_mean, rows);
        alone.update_batch(values, &each, filter, rows)?;
        Ok(states(&alone.cells))
    }

    fn size(&self) -> usize {
        self.cells.capacity() * size_of::<Cell>()
    }
}

/// The sum of all rows.
struct One(Cells);

impl std::fmt::Debug for One {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "One({:?})", self.0.cells)
    }
}

impl Accumulator for One {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let [values] = values else { return exec_err!("one column is added at a time") };
        self.0.update(values, |_| Some(0))
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let first = self.0.cells.first();
        Ok(ScalarValue::Float64(first.and_then(|cell| self.0.value(cell))))
    }

    fn size(&self) -> usize {
        size_of::<Self>() + size_of::<Cell>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let cell = self.0.cells.first().copied().unwrap_or_default();
        let numbers = [cell.sum, cell.rest].map(|number| ScalarValue::Float64(Some(number)));
        Ok([ScalarValue::UInt64(Some(cell.count))].into_iter().chain(numbers).collect())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.0.merge(states, |_| 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of shares of some values that are then added up, in some order.
    fn shared(values: &[f64], shares: usize) -> f64 {
        let mut whole = Cell::default();
        for share in 0..shares {
            let mut part = Cell::default();
            values.iter().skip(share).step_by(shares).for_each(|&value| part.add(1, value, 0.0));
            whole.add(part.count, part.sum, part.rest);
        }
        assert_eq!(whole.count, values.len() as u64);
        whole.sum
    }

    #[test]
    fn sums_do_not_depend_on_who_adds_what() {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 * 2_f64.powi(-40)
        };
        let values: Vec<f64> = (0..20_000).map(|at| next() * 10_f64.powi(at % 9 - 4)).collect();
        let alone = shared(&values, 1);
        for shares in [2, 3, 8, 100, 19_999] {
            assert_eq!(shared(&values, shares).to_bits(), alone.to_bits(), "{shares}");
        }
        // What is small is not lost beside what is large.
        assert_eq!(shared(&[1e16, 1.0, 1.0, -1e16], 1), 2.0);
        assert_eq!(shared(&[f64::INFINITY, 1.0], 1), f64::INFINITY);
        assert!(shared(&[f64::INFINITY, f64::NEG_INFINITY], 1).is_nan());
    }
}
