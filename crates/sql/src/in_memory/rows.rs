//! [`Source`]: what a part of a plan has of a table: conditions, columns, and what is computed of them.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array as _, ArrayRef, AsArray as _, BooleanArray, PrimitiveArray, UInt32Array, make_array,
};
use datafusion::arrow::buffer::{BooleanBuffer, NullBuffer};
use datafusion::arrow::compute::{and, prep_null_mask_filter, take};
use datafusion::arrow::datatypes::{
    ArrowPrimitiveType, DataType, Float64Type, Int64Type, SchemaRef, UInt16Type, UInt32Type,
    UInt64Type,
};
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::tree_node::{Transformed, TreeNode as _};
use datafusion::common::{DataFusionError, Result, exec_err};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr::{Partitioning, PhysicalExpr};
use datafusion::physical_expr_common::physical_expr::is_volatile;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use parallax_base::{Control, threads};
use parallax_columns::{BLOCK_ROWS, Picks};

use super::condition::Condition;
use super::select::{Selected, select};
use crate::SqlError;
use crate::kept::Keeper;
use crate::scan::Scan;

type Expr = Arc<dyn PhysicalExpr>;

/// What a part of a plan has of a table.
pub(super) struct Source {
    pub(super) scan: Scan,
    /// The columns, of columns of the whole table.
    pub(super) columns: Vec<Expr>,
    /// The conditions, of columns of the whole table.
    pub(super) conditions: Vec<Expr>,
    schema: SchemaRef,
}

impl Source {
    /// What a node has of a table, where it is nothing but conditions and columns of one table that
    /// may be in memory.
    pub(super) fn of(node: &Arc<dyn ExecutionPlan>) -> Option<Self> {
        let schema = node.schema();
        if let Some(scan) = node.downcast_ref::<Scan>() {
            let columns = scan.columns().into_iter().zip(schema.fields());
            let columns =
                columns.map(|(at, field)| Arc::new(Column::new(field.name(), at)) as Expr);
            let columns = columns.collect();
            let source = Self { scan: scan.clone(), columns, conditions: Vec::new(), schema };
            return source.scan.keeper().is_some().then_some(source);
        }
        if node.fetch().is_some() {
            return None;
        }
        if let Some(projection) = node.downcast_ref::<ProjectionExec>() {
            return Self::of(projection.input())?.projected(projection);
        }
        if let Some(filter) = node.downcast_ref::<FilterExec>() {
            let mut below = Self::of(filter.input())?;
            let condition = below.over_table(filter.predicate())?;
            below.conditions.push(condition);
            if let Some(chosen) = filter.projection() {
                let columns = chosen.iter().map(|&at| below.columns.get(at).cloned());
                below.columns = columns.collect::<Option<_>>()?;
            }
            return Some(Self { schema, ..below });
        }
        if let Some(other) = node.downcast_ref::<RepartitionExec>() {
            return match other.partitioning() {
                Partitioning::RoundRobinBatch(_) => Self::of(other.input()),
                _ => None,
            };
        }
        match node.is::<CooperativeExec>() || node.is::<CoalescePartitionsExec>() {
            true => Self::of(node.children().first()?),
            false => None,
        }
    }

    /// What a projection of it has.
    pub(super) fn projected(self, projection: &ProjectionExec) -> Option<Self> {
        let columns = projection.expr().iter().map(|one| self.over_table(&one.expr));
        let columns = columns.collect::<Option<_>>()?;
        Some(Self { columns, schema: projection.schema(), ..self })
    }

    /// The same expression, of columns of the whole table.
    pub(super) fn over_table(&self, expression: &Expr) -> Option<Expr> {
        // What is another number each time is computed as often as it was planned; what a subquery
        // gives is known later.
        if is_volatile(expression) || expression.to_string().contains("scalar_subquery(") {
            return None;
        }
        let replaced = Arc::clone(expression).transform_up(|one| {
            Ok(match one.downcast_ref::<Column>() {
                Some(column) => match self.columns.get(column.index()) {
                    Some(of_table) => Transformed::yes(Arc::clone(of_table)),
                    None => return exec_err!("there is no column {column}"),
                },
                None => Transformed::no(one),
            })
        });
        replaced.ok().map(|replaced| replaced.data)
    }

    /// The rows of a block that meet the conditions; `None` where all do.
    pub(super) fn met(&self, block: &RecordBatch) -> Result<Option<BooleanArray>> {
        let mut met: Option<BooleanArray> = None;
        for condition in &self.conditions {
            let found = condition.evaluate(block)?.into_array(block.num_rows())?;
            let Some(found) = found.as_boolean_opt() else {
                return exec_err!("{condition} is no condition");
            };
            let found = match found.null_count() {
                0 => found.clone(),
                _ => prep_null_mask_filter(found),
            };
            met = Some(match &met {
                Some(before) => and(before, &found)?,
                None => found,
            });
        }
        Ok(met.filter(BooleanArray::has_false))
    }

    /// All rows.
    ///
    /// # Errors
    /// When something cannot be computed, or the statement was withdrawn.
    pub(super) fn rows(
        &self,
        table: &RecordBatch,
        keeper: &Keeper,
        control: &Control,
    ) -> Result<RecordBatch> {
        let is_all = self.conditions.is_empty();
        // Of all rows, the columns are those of the table.
        let shared = |column: &Expr| {
            let column = column.downcast_ref::<Column>().filter(|_| is_all)?;
            table.columns().get(column.index()).map(Arc::clone)
        };
        let shared: Vec<Option<ArrayRef>> = self.columns.iter().map(shared).collect();
        let others = self.columns.iter().zip(&shared).filter(|(_, shared)| shared.is_none());
        let others: Vec<Expr> = others.map(|(column, _)| Arc::clone(column)).collect();
        if is_all && others.is_empty() {
            return self.batch(table.num_rows(), shared.into_iter().flatten().collect());
        }
        let condition = Condition::of(self, table, control)?;
        let pick = |block: Range<usize>, picks: &mut Picks| condition.pick(&block, picks);
        let Selected { rows, columns } = select(table, &others, pick, keeper, control)?;
        let mut columns = columns.into_iter();
        let columns = shared.into_iter().filter_map(|shared| shared.or_else(|| columns.next()));
        self.batch(rows, columns.collect())
    }

    /// The rows of the table with these numbers, which all meet the conditions.
    ///
    /// # Errors
    /// When something cannot be computed, or the statement was withdrawn.
    pub(super) fn chosen(
        &self,
        table: &RecordBatch,
        rows: &[u32],
        control: &Control,
    ) -> Result<RecordBatch> {
        let read = self.columns.iter().flat_map(collect_columns).map(|column| column.index());
        let mut read: Vec<usize> = read.collect();
        read.sort_unstable();
        read.dedup();
        let table = table.project(&read)?;
        let columns = threads::map(table.columns().iter().collect(), |column: &ArrayRef| {
            control.check().map_err(withdrawn)?;
            gathered(column, rows)
        });
        let columns = columns.into_iter().collect::<Result<_>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        let chosen = RecordBatch::try_new_with_options(table.schema(), columns, &options)?;
        let column = |one: &Expr| {
            let place = |one: Expr| match one.downcast_ref::<Column>() {
                Some(column) => match read.binary_search(&column.index()) {
                    Ok(at) => {
                        Ok(Transformed::yes(Arc::new(Column::new(column.name(), at)) as Expr))
                    }
                    Err(_) => exec_err!("there is no column {column}"),
                },
                None => Ok(Transformed::no(one)),
            };
            let placed = Arc::clone(one).transform_up(place)?.data;
            placed.evaluate(&chosen)?.into_array(rows.len())
        };
        self.batch(rows.len(), self.columns.iter().map(column).collect::<Result<_>>()?)
    }

    fn batch(&self, rows: usize, columns: Vec<ArrayRef>) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?)
    }
}

/// That a statement was withdrawn, as DataFusion passes it on.
pub(super) fn withdrawn(_: parallax_base::Cancelled) -> DataFusionError {
    DataFusionError::External(Box::new(SqlError::Cancelled))
}

/// The values of an array without nulls.
pub(super) fn numbers<T: ArrowPrimitiveType>(array: &ArrayRef) -> Option<&[T::Native]> {
    let array = array.as_primitive_opt::<T>()?;
    (array.null_count() == 0).then(|| &**array.values())
}

pub(super) fn array_of<T: ArrowPrimitiveType>(values: Vec<T::Native>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(values.into(), None))
}

/// Does something for a column of numbers, by its type; `$numbers` are its values.
macro_rules! by_type {
    ($array:expr, $numbers:ident, $kind:ident => $done:expr) => {
        match $array.data_type() {
            DataType::UInt16 => {
                type $kind = UInt16Type;
                numbers::<$kind>($array).map(|$numbers| $done)
            }
            DataType::UInt32 => {
                type $kind = UInt32Type;
                numbers::<$kind>($array).map(|$numbers| $done)
            }
            DataType::UInt64 => {
                type $kind = UInt64Type;
                numbers::<$kind>($array).map(|$numbers| $done)
            }
            DataType::Int64 => {
                type $kind = Int64Type;
                numbers::<$kind>($array).map(|$numbers| $done)
            }
            DataType::Float64 => {
                type $kind = Float64Type;
                numbers::<$kind>($array).map(|$numbers| $done)
            }
            _ => None,
        }
    };
}

/// The rows of a column with these numbers.
pub(super) fn gathered(array: &ArrayRef, rows: &[u32]) -> Result<ArrayRef> {
    let of_numbers =
        by_type!(array, values, Kind => array_of::<Kind>(parallax_columns::gather(values, rows)));
    match of_numbers {
        Some(gathered) => Ok(gathered),
        None => Ok(take(array, &UInt32Array::from(rows.to_vec()), None)?),
    }
}

/// The values of a column for keys: of row `places[key] - 1`, for keys that all have one.
pub(super) fn looked_up(
    array: &ArrayRef,
    places: &[u32],
    keys: &[u32],
    low: u32,
) -> Option<ArrayRef> {
    let found = values_for(&with_nulls(array, None)?, places, keys, low)?;
    let Some(nulls) = array.nulls() else { return Some(found) };
    // The first context has no parent, and nearly no row is of it.
    let has_row = places.iter().map(|place| place.checked_sub(1));
    let is_absent: Vec<bool> =
        has_row.map(|row| row.is_some_and(|row| nulls.is_null(row as usize))).collect();
    let is_absent = |key: u32| is_absent[(key - low) as usize];
    let blocks = keys.chunks(BLOCK_ROWS).collect();
    let absent = threads::map(blocks, |keys: &[u32]| keys.iter().any(|&key| is_absent(key)));
    if !absent.contains(&true) {
        return Some(found);
    }
    let present = BooleanBuffer::collect_bool(keys.len(), |at| !is_absent(keys[at]));
    with_nulls(&found, Some(NullBuffer::new(present)))
}

/// The same values with these nulls.
fn with_nulls(array: &ArrayRef, nulls: Option<NullBuffer>) -> Option<ArrayRef> {
    let data = array.to_data().into_builder().nulls(nulls).build().ok()?;
    Some(make_array(data))
}

fn values_for(array: &ArrayRef, places: &[u32], keys: &[u32], low: u32) -> Option<ArrayRef> {
    by_type!(array, values, Kind => {
        // By key, so that a row looks up once.
        let by_key: Vec<_> = places
            .iter()
            .map(|&place| match place.checked_sub(1) {
                Some(row) => values[row as usize],
                None => Default::default(),
            })
            .collect();
        let mut out = vec![Default::default(); keys.len()];
        let blocks = out.chunks_mut(BLOCK_ROWS).zip(keys.chunks(BLOCK_ROWS)).collect();
        threads::map(blocks, |(here, keys): (&mut [_], &[u32])| {
            for (value, &key) in here.iter_mut().zip(keys) {
                *value = by_key[(key - low) as usize];
            }
        });
        array_of::<Kind>(out)
    })
}
