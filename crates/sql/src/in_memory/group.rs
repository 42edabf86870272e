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
use parallax_columns::{BLOCK_ROWS, Groups, Moments, Squares};

use super::condition::operand;
use super::rows::{Source, numbers, withdrawn};
use super::{Ran, job_of};
use crate::device::{Job, JobResult, What};
use crate::kept::{Keeper, KeptTable};

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

/// The first step of grouping and the last one, which may be the same, where a node is both and gives
/// all groups.
pub(super) fn both_steps(
    node: &Arc<dyn ExecutionPlan>,
) -> Option<(&AggregateExec, &AggregateExec)> {
    let last: &AggregateExec = node.downcast_ref()?;
    let first = match last.mode() {
        AggregateMode::Final | AggregateMode::FinalPartitioned => {
            let first = first_step(last.input())?;
            (*first.mode() == AggregateMode::Partial).then_some(first)?
        }
        AggregateMode::Single | AggregateMode::SinglePartitioned => last,
        _ => return None,
    };
    let is_all = first.limit_options().is_none() && last.limit_options().is_none();
    is_all.then_some((first, last))
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
        let (first, _) = both_steps(node)?;
        let by = first.group_expr();
        let is_ours = !by.has_grouping_set()
            && by.is_single()
            && !by.is_empty()
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

    /// The groups, ascending by key, and where they were computed; no groups where keys are far
    /// apart, where a value is absent, or where the numbers are too large.
    ///
    /// # Errors
    /// When something cannot be computed, or the statement was withdrawn.
    pub(super) fn computed(
        &self,
        table: &KeptTable,
        keeper: &Keeper,
        control: &Control,
    ) -> Result<Ran> {
        let Some((keys, groups)) = self.ranges(table) else {
            return Ok(Ran::on_processor(
                keeper,
                None,
                "the keys have too large a range or are NULL",
            ));
        };
        let on_processor = |rows: &RecordBatch| self.rows(rows, &keys, groups, control);
        let on_device = |found: JobResult| match found {
            JobResult::Groups(found) => self.of_device(&keys, groups, &found),
            _ => Ok(None),
        };
        let job = || self.job(&table.rows);
        super::done(table, keeper, control, job, on_processor, on_device)
    }

    /// The ranges of the keys, and how many groups there may be; `None` where that are too many.
    fn ranges(&self, table: &KeptTable) -> Option<(Vec<Keys>, usize)> {
        let keys = self.keys.iter().map(|&at| {
            let span = table.span(at, |column| Keys::of(column).map(|key| (key.low, key.high)));
            span.map(|(low, high)| Keys { low, high })
        });
        let keys: Vec<Keys> = keys.collect::<Option<_>>()?;
        let groups = keys.iter().try_fold(1_usize, |groups, key| groups.checked_mul(key.len()));
        // More pieces than threads, so that all end at about the same time.
        let most = threads::count().saturating_mul(2).max(1);
        let fits = |&groups: &usize| {
            let bytes = groups.checked_mul(self.values.len() * size_of::<Slot>() * most);
            bytes.is_some_and(|bytes| bytes <= MOST_BYTES)
                && groups.saturating_mul(most) <= table.rows.num_rows().max(FEW)
        };
        groups.filter(fits).map(|groups| (keys, groups))
    }

    /// What a device would do of it.
    fn job(&self, table: &RecordBatch) -> Result<Job, String> {
        let values = self.values.iter().map(|value| operand(value, table));
        let values =
            values.collect::<Option<Vec<_>>>().ok_or("a value is computed on the CPU only")?;
        if self.keys.len() > 2 {
            return Err("there are more than two keys".to_owned());
        }
        job_of(&self.source, table, What::Group { keys: self.keys.clone(), values })
    }

    /// The groups that a device found.
    fn of_device(
        &self,
        keys: &[Keys],
        groups: usize,
        found: &[Groups],
    ) -> Result<Option<RecordBatch>> {
        let mut all = vec![Slot::NONE; groups * self.values.len()];
        for (of_value, slots) in found.iter().zip(all.chunks_exact_mut(groups)) {
            for (at, moments) in of_value.moments.iter().enumerate() {
                let major = of_value.major.get(at).into_iter();
                let numbers = major.chain(of_value.minor.get(at));
                let place = keys.iter().zip(numbers).try_fold(0_usize, |place, (key, &number)| {
                    let beyond = usize::try_from(i64::from(number) - key.low).ok()?;
                    (beyond < key.len()).then_some(place * key.len() + beyond)
                });
                let slot = place.and_then(|place| slots.get_mut(place));
                let (Some(slot), Some(found)) = (slot, Slot::of(moments)) else { return Ok(None) };
                *slot = found;
            }
        }
        if !self.is_exact(&all) {
            return Ok(None);
        }
        self.table(keys, &all)
    }

    /// The groups on the processor, ascending by key; `None` where a value is absent, or where the
    /// numbers are too large.
    ///
    /// # Errors
    /// When something cannot be computed, or the statement was withdrawn.
    fn rows(
        &self,
        table: &RecordBatch,
        keys: &[Keys],
        groups: usize,
        control: &Control,
    ) -> Result<Option<RecordBatch>> {
        let most = threads::count().saturating_mul(2).max(1);
        let len = table.num_rows();
        let step = len.div_ceil(most).next_multiple_of(BLOCK_ROWS);
        let pieces = (0..len).step_by(step).map(|begin| (begin, step.min(len - begin))).collect();
        let added = threads::map(pieces, |piece| self.added(table, piece, keys, groups, control));
        let mut all: Option<Vec<Slot>> = None;
        for slots in added {
            let Some(slots) = slots? else { return Ok(None) };
            match &mut all {
                None => all = Some(slots),
                Some(all) => all.iter_mut().zip(&slots).for_each(|(a, b)| a.merge(b)),
            }
        }
        let Some(all) = all.filter(|all| self.is_exact(all)) else { return Ok(None) };
        self.table(keys, &all)
    }

    /// Whether the squares did not become too many, where they are asked for.
    fn is_exact(&self, slots: &[Slot]) -> bool {
        let is_squared =
            |output: &Output| matches!(output, Output::Variance(_) | Output::Deviation(_));
        !self.outputs.iter().any(is_squared) || slots.iter().all(Slot::is_exact)
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

    /// What a device found of values that are not negative.
    fn of(moments: &Moments) -> Option<Self> {
        let Squares { low, high } = moments.squares;
        Some(Self {
            sum: i128::try_from(moments.sum).ok()?,
            squares: if high == 0 { low } else { u128::MAX },
            count: moments.count,
            min: i64::try_from(moments.min).ok()?,
            max: i64::try_from(moments.max).ok()?,
        })
    }

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
