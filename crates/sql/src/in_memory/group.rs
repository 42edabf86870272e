//! [`Group`]: sums of whole numbers by keys that are close together, in tables by key.

use std::sync::Arc;

use datafusion::arrow::array::{Array as _, ArrayRef, Float64Array, Int64Array, UInt64Array};
use datafusion::arrow::compute::{cast, filter_record_batch};
use datafusion::arrow::datatypes::{
    DataType, FieldRef, Int64Type, Schema, SchemaRef, UInt16Type, UInt32Type,
};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::AggregateFunctionExpr;
use datafusion::physical_expr::expressions::{CastExpr, Column, Literal};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use parallax_base::{Control, threads};
use parallax_columns::{Moments, Squares};

use super::rows::{Source, numbers, withdrawn};
use super::select::BLOCK_ROWS;

type Expr = Arc<dyn PhysicalExpr>;

/// Bytes of all tables by key.
pub(super) const MOST_BYTES: usize = 256 << 20;
/// Groups for which a table by key is kept, whatever the number of rows.
const FEW: usize = 1 << 12;

/// What is known of values by key.
pub(super) struct Group {
    pub(super) source: Source,
    /// Columns of the whole table.
    keys: Vec<usize>,
    /// What is added: whole numbers, of columns of the whole table.
    values: Vec<Expr>,
    outputs: Vec<Output>,
    schema: SchemaRef,
}

/// A column of the result.
#[derive(Debug, Clone, Copy)]
enum Output {
    Count(usize),
    Sum(usize),
    Min(usize),
    Max(usize),
    Mean(usize),
    Variance(usize),
    Deviation(usize),
}

/// The first step of grouping, below what only passes its rows on.
fn first_step(node: &Arc<dyn ExecutionPlan>) -> Option<&AggregateExec> {
    let passes = node.is::<RepartitionExec>()
        || node.is::<CoalescePartitionsExec>()
        || node.is::<CooperativeExec>();
    match passes && node.fetch().is_none() {
        true => first_step(node.children().first()?),
        false => node.downcast_ref::<AggregateExec>(),
    }
}

/// Whether a node promises no other order of its rows than that of its keys. Where the table has an
/// order, groups are promised in that of the key that the table is ordered by.
fn ascends_by_key(node: &Arc<dyn ExecutionPlan>) -> bool {
    let promised = node.properties().equivalence_properties().oeq_class();
    promised.iter().all(|order| {
        order.iter().enumerate().all(|(at, by)| {
            let column = by.expr.downcast_ref::<Column>();
            column.is_some_and(|column| column.index() == at) && !by.options.descending
        })
    })
}

impl Group {
    pub(super) fn of(node: &Arc<dyn ExecutionPlan>) -> Option<Self> {
        let last: &AggregateExec = node.downcast_ref()?;
        let first = match last.mode() {
            AggregateMode::Final | AggregateMode::FinalPartitioned => {
                let first = first_step(last.input())?;
                (*first.mode() == AggregateMode::Partial).then_some(first)?
            }
            AggregateMode::Single | AggregateMode::SinglePartitioned => last,
            _ => return None,
        };
        let by = first.group_expr();
        let is_ours = !by.has_grouping_set()
            && by.is_single()
            && !by.is_empty()
            && first.limit_options().is_none()
            && last.limit_options().is_none()
            && ascends_by_key(node)
            && first.filter_expr().iter().all(Option::is_none);
        is_ours.then_some(())?;
        let source = Source::of(first.input())?;
        let table = source.scan.schema_of_table();
        let key = |one: &(Expr, String)| {
            let at = source.over_table(&one.0)?.downcast_ref::<Column>()?.index();
            let kind = table.fields().get(at)?.data_type();
            matches!(kind, DataType::UInt16 | DataType::UInt32).then_some(at)
        };
        let keys: Vec<usize> = by.expr().iter().map(key).collect::<Option<_>>()?;
        let mut values = Vec::new();
        let outputs = first.aggr_expr().iter();
        let outputs = outputs.map(|one| output(one, &source, &table, &mut values));
        let outputs = outputs.collect::<Option<_>>()?;
        if values.is_empty() {
            // Something to count.
            let name = table.fields().get(*keys.first()?)?.name();
            values.push(Arc::new(Column::new(name, *keys.first()?)) as Expr);
        }
        Some(Self { source, keys, values, outputs, schema: node.schema() })
    }

    /// The groups, ascending by key; `None` where keys are far apart, where a value is absent, or
    /// where the numbers are too large.
    ///
    /// # Errors
    /// When something cannot be computed, or the statement was withdrawn.
    pub(super) fn rows(
        &self,
        table: &RecordBatch,
        control: &Control,
    ) -> Result<Option<RecordBatch>> {
        let keys: Option<Vec<Keys>> =
            self.keys.iter().map(|&at| Keys::of(table.column(at))).collect();
        let Some(keys) = keys else { return Ok(None) };
        let groups = keys.iter().try_fold(1_usize, |groups, key| groups.checked_mul(key.len()));
        // More pieces than threads, so that all end at about the same time.
        let most = threads::count().saturating_mul(2).max(1);
        let fits = |&groups: &usize| {
            let bytes = groups.checked_mul(self.values.len() * size_of::<Slot>() * most);
            bytes.is_some_and(|bytes| bytes <= MOST_BYTES)
                && groups.saturating_mul(most) <= table.num_rows().max(FEW)
        };
        let Some(groups) = groups.filter(fits) else { return Ok(None) };
        let len = table.num_rows();
        let step = len.div_ceil(most).next_multiple_of(BLOCK_ROWS);
        let pieces = (0..len).step_by(step).map(|begin| (begin, step.min(len - begin))).collect();
        let added = threads::map(pieces, |piece| self.added(table, piece, &keys, groups, control));
        let mut all: Option<Vec<Slot>> = None;
        for slots in added {
            let Some(slots) = slots? else { return Ok(None) };
            match &mut all {
                None => all = Some(slots),
                Some(all) => all.iter_mut().zip(&slots).for_each(|(a, b)| a.merge(b)),
            }
        }
        let Some(all) = all.filter(|all| all.iter().all(Slot::is_exact)) else { return Ok(None) };
        self.table(&keys, &all)
    }

    /// What a piece of the table adds to each group: slots by key, of one value after the other.
    fn added(
        &self,
        table: &RecordBatch,
        (begin, len): (usize, usize),
        keys: &[Keys],
        groups: usize,
        control: &Control,
    ) -> Result<Option<Vec<Slot>>> {
        let mut slots = vec![Slot::NONE; groups * self.values.len()];
        let mut places: Vec<u32> = Vec::with_capacity(BLOCK_ROWS);
        for at in (begin..begin + len).step_by(BLOCK_ROWS) {
            control.check().map_err(withdrawn)?;
            let block = table.slice(at, BLOCK_ROWS.min(begin + len - at));
            let block = match self.source.met(&block)? {
                Some(met) => filter_record_batch(&block, &met)?,
                None => block,
            };
            places.clear();
            places.resize(block.num_rows(), 0);
            for (key, &at) in keys.iter().zip(&self.keys) {
                if key.place(block.column(at), &mut places).is_none() {
                    return Ok(None);
                }
            }
            for (value, slots) in self.values.iter().zip(slots.chunks_exact_mut(groups)) {
                let values = value.evaluate(&block)?.into_array(block.num_rows())?;
                let values = match values.data_type() {
                    DataType::Int64 => values,
                    _ => cast(&values, &DataType::Int64)?,
                };
                let Some(values) = numbers::<Int64Type>(&values) else { return Ok(None) };
                for (&place, &value) in places.iter().zip(values) {
                    slots[place as usize].push(value);
                }
            }
        }
        Ok(Some(slots))
    }

    fn table(&self, keys: &[Keys], slots: &[Slot]) -> Result<Option<RecordBatch>> {
        let groups = slots.len() / self.values.len().max(1);
        let counted = slots.iter().take(groups).zip(0_usize..);
        let found: Vec<usize> =
            counted.filter(|(slot, _)| slot.count > 0).map(|(_, at)| at).collect();
        let mut columns: Vec<ArrayRef> = Vec::new();
        let mut below = groups;
        for (key, field) in keys.iter().zip(self.schema.fields()) {
            below /= key.len();
            let number = |&at: &usize| key.low + (at / below % key.len()) as i64;
            columns
                .push(of_type(Arc::new(found.iter().map(number).collect::<Int64Array>()), field)?);
        }
        for (output, field) in self.outputs.iter().zip(self.schema.fields().iter().skip(keys.len()))
        {
            let slots_of = |value: usize| found.iter().map(move |&at| &slots[value * groups + at]);
            columns.push(match output.array(slots_of, field.data_type()) {
                Some(array) => of_type(array, field)?,
                None => return Ok(None),
            });
        }
        Ok(Some(RecordBatch::try_new(Arc::clone(&self.schema), columns)?))
    }
}

fn of_type(array: ArrayRef, field: &FieldRef) -> Result<ArrayRef> {
    match array.data_type() == field.data_type() {
        true => Ok(array),
        false => Ok(cast(&array, field.data_type())?),
    }
}

/// What a function gives of which value; it is put into `values` where it is not there yet.
fn output(
    function: &Arc<AggregateFunctionExpr>,
    source: &Source,
    table: &Schema,
    values: &mut Vec<Expr>,
) -> Option<Output> {
    if function.is_distinct() || !function.order_bys().is_empty() {
        return None;
    }
    let name = function.fun().name().to_owned();
    let arguments = function.expressions();
    let [argument] = arguments.as_slice() else { return None };
    if name == "count"
        && let Some(one) = argument.downcast_ref::<Literal>()
    {
        return (!one.value().is_null()).then_some(Output::Count(0));
    }
    let value = whole(source.over_table(argument)?, table)?;
    let at = match values.iter().position(|known| **known == *value) {
        Some(at) => at,
        None => {
            values.push(value);
            values.len() - 1
        }
    };
    Some(match name.as_str() {
        "count" => Output::Count(at),
        "sum" => Output::Sum(at),
        "min" => Output::Min(at),
        "max" => Output::Max(at),
        "avg" => Output::Mean(at),
        "var_pop" => Output::Variance(at),
        "stddev_pop" => Output::Deviation(at),
        _ => return None,
    })
}

/// The whole number that an expression is, without the casts that only make it another type.
fn whole(mut expression: Expr, table: &Schema) -> Option<Expr> {
    let is_whole =
        |kind: &DataType| matches!(kind, DataType::UInt16 | DataType::UInt32 | DataType::Int64);
    while let Some(cast) = expression.downcast_ref::<CastExpr>() {
        let is_widened = matches!(
            (cast.expr().data_type(table).ok()?, cast.cast_type()),
            (DataType::UInt16, DataType::UInt32)
                | (
                    DataType::UInt16 | DataType::UInt32,
                    DataType::UInt64 | DataType::Int64 | DataType::Float64
                )
                | (DataType::Int64, DataType::Float64)
        );
        if !is_widened {
            break;
        }
        let inner = Arc::clone(cast.expr());
        expression = inner;
    }
    is_whole(&expression.data_type(table).ok()?).then_some(expression)
}

/// The range of a key.
struct Keys {
    low: i64,
    high: i64,
}

impl Keys {
    /// Of a column that has whole numbers in all rows, and a row.
    fn of(column: &ArrayRef) -> Option<Self> {
        fn span<T: Copy + Ord + Sync + Send + Into<i64>>(values: &[T]) -> Option<Keys> {
            let spans = threads::map(values.chunks(BLOCK_ROWS).collect(), |block: &[T]| {
                block.iter().fold(None, |so_far: Option<(T, T)>, &value| match so_far {
                    None => Some((value, value)),
                    Some((low, high)) => Some((low.min(value), high.max(value))),
                })
            });
            let both = |a: (T, T), b: (T, T)| (a.0.min(b.0), a.1.max(b.1));
            let (low, high) = spans.into_iter().flatten().reduce(both)?;
            Some(Keys { low: low.into(), high: high.into() })
        }
        match column.data_type() {
            DataType::UInt16 => span(numbers::<UInt16Type>(column)?),
            DataType::UInt32 => span(numbers::<UInt32Type>(column)?),
            _ => None,
        }
    }

    fn len(&self) -> usize {
        usize::try_from(self.high - self.low).unwrap_or(usize::MAX).saturating_add(1)
    }

    /// Goes from places of the keys before to those with this one, which counts less.
    fn place(&self, column: &ArrayRef, places: &mut [u32]) -> Option<()> {
        fn go_on<T: Copy + Into<u32>>(values: &[T], low: u32, len: u32, places: &mut [u32]) {
            for (place, &value) in places.iter_mut().zip(values) {
                *place = *place * len + (value.into() - low);
            }
        }
        let (low, len) = (u32::try_from(self.low).ok()?, u32::try_from(self.len()).ok()?);
        match column.data_type() {
            DataType::UInt16 => go_on(numbers::<UInt16Type>(column)?, low, len, places),
            DataType::UInt32 => go_on(numbers::<UInt32Type>(column)?, low, len, places),
            _ => return None,
        }
        Some(())
    }
}

/// What is known of the values of a group, exactly.
#[derive(Debug, Clone, Copy)]
struct Slot {
    sum: i128,
    squares: u128,
    count: u64,
    min: i64,
    max: i64,
}

impl Slot {
    const NONE: Self = Self { sum: 0, squares: 0, count: 0, min: i64::MAX, max: i64::MIN };

    fn push(&mut self, value: i64) {
        self.count += 1;
        self.sum += i128::from(value);
        let size = u128::from(value.unsigned_abs());
        self.squares = self.squares.saturating_add(size * size);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares = self.squares.saturating_add(other.squares);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Whether the squares did not become too many.
    fn is_exact(&self) -> bool {
        self.squares < u128::MAX
    }

    /// Whether all values are numbers with fractions as well.
    fn is_real(&self) -> bool {
        const MOST: i64 = 1 << 53;
        self.count == 0 || (self.min >= -MOST && self.max <= MOST)
    }

    fn moments(&self) -> Moments {
        // Values and their negatives vary in the same way.
        Moments {
            count: self.count,
            sum: self.sum.unsigned_abs(),
            squares: Squares { low: self.squares, high: 0 },
            ..Moments::NONE
        }
    }
}

impl Output {
    /// The column; `None` where it is not exact.
    fn array<'s, I: Iterator<Item = &'s Slot> + Clone>(
        self,
        slots: impl Fn(usize) -> I,
        kind: &DataType,
    ) -> Option<ArrayRef> {
        let reals = |at: usize, number: fn(&Slot) -> f64| -> Option<ArrayRef> {
            let slots = slots(at);
            let are_real = slots.clone().all(Slot::is_real);
            are_real.then(|| Arc::new(slots.map(number).collect::<Float64Array>()) as ArrayRef)
        };
        Some(match self {
            Self::Count(at) => {
                let counts = slots(at).map(|slot| i64::try_from(slot.count).unwrap_or(i64::MAX));
                Arc::new(counts.collect::<Int64Array>())
            }
            Self::Sum(at) if *kind == DataType::Float64 => reals(at, |slot| slot.sum as f64)?,
            // As DataFusion adds: without the bits that are too many.
            Self::Sum(at) if *kind == DataType::UInt64 => {
                Arc::new(slots(at).map(|slot| slot.sum as u64).collect::<UInt64Array>())
            }
            Self::Sum(at) => {
                Arc::new(slots(at).map(|slot| slot.sum as i64).collect::<Int64Array>())
            }
            Self::Min(at) => Arc::new(slots(at).map(|slot| slot.min).collect::<Int64Array>()),
            Self::Max(at) => Arc::new(slots(at).map(|slot| slot.max).collect::<Int64Array>()),
            Self::Mean(at) => reals(at, |slot| slot.sum as f64 / slot.count as f64)?,
            Self::Variance(at) => reals(at, |slot| slot.moments().variance())?,
            Self::Deviation(at) => reals(at, |slot| slot.moments().deviation())?,
        })
    }
}
