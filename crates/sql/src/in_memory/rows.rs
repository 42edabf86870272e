//! [`Source`]: what a part of a plan has of a table: conditions, columns, and what is computed of them.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array as _, ArrayRef, AsArray as _, BooleanArray, PrimitiveArray, UInt32Array, make_array,
};
use datafusion::arrow::buffer::{BooleanBuffer, NullBuffer};
use datafusion::arrow::compute::{and, concat, filter_record_batch, prep_null_mask_filter, take};
use datafusion::arrow::datatypes::{
    ArrowPrimitiveType, DataType, Float64Type, Int64Type, SchemaRef, UInt16Type, UInt32Type,
    UInt64Type,
};
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::tree_node::{Transformed, TreeNode as _};
use datafusion::common::{DataFusionError, Result, exec_err};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{Partitioning, PhysicalExpr};
use datafusion::physical_expr_common::physical_expr::is_volatile;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use parallax_base::{Control, threads};

use crate::SqlError;
use crate::scan::Scan;

/// Rows that a thread works on at a time: few enough that what is computed of them stays in its cache.
pub(super) const BLOCK_ROWS: usize = 1 << 14;

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
            return source.scan.may_be_kept().then_some(source);
        }
        if node.fetch().is_some() {
            return None;
        }
        if let Some(projection) = node.downcast_ref::<ProjectionExec>() {
            let below = Self::of(projection.input())?;
            let columns = projection.expr().iter().map(|one| below.over_table(&one.expr));
            return Some(Self { columns: columns.collect::<Option<_>>()?, schema, ..below });
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

    /// Whether it is all rows, with columns as they are.
    fn is_plain(&self) -> bool {
        self.conditions.is_empty() && self.columns.iter().all(|one| one.is::<Column>())
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
    pub(super) fn rows(&self, table: &RecordBatch, control: &Control) -> Result<RecordBatch> {
        let is_plain = self.is_plain();
        let blocks = if is_plain { Vec::new() } else { self.blocks(table, control)? };
        let rows = match is_plain {
            true => table.num_rows(),
            false => blocks.iter().map(Block::rows).sum(),
        };
        let mut computed = 0;
        let numbered = self.columns.iter().map(|column| {
            let at = computed;
            computed += usize::from(!column.is::<Column>());
            (column, at)
        });
        let work = |(column, at): (&Expr, usize)| -> Result<ArrayRef> {
            control.check().map_err(withdrawn)?;
            match column.downcast_ref::<Column>() {
                Some(column) if is_plain => Ok(Arc::clone(table.column(column.index()))),
                Some(column) => picked(table.column(column.index()), &blocks),
                None => {
                    let arrays = blocks.iter().filter_map(|block| block.computed.get(at));
                    Ok(concat(&arrays.map(|array| &**array).collect::<Vec<_>>())?)
                }
            }
        };
        let columns = threads::map(numbered.collect(), work);
        let columns = columns.into_iter().collect::<Result<_>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?)
    }

    /// What is chosen and computed of each block of rows; at least one.
    fn blocks(&self, table: &RecordBatch, control: &Control) -> Result<Vec<Block>> {
        let computed: Vec<_> = self.columns.iter().filter(|one| !one.is::<Column>()).collect();
        let work = |(begin, len): (usize, usize)| -> Result<Block> {
            control.check().map_err(withdrawn)?;
            let block = table.slice(begin, len);
            let met = self.met(&block)?;
            let block = match &met {
                Some(met) if !computed.is_empty() => filter_record_batch(&block, met)?,
                _ => block,
            };
            let compute = |one: &&Expr| one.evaluate(&block)?.into_array(block.num_rows());
            let computed = computed.iter().map(compute).collect::<Result<_>>()?;
            let picks = met.map(|met| {
                let mut picks = Vec::with_capacity(met.true_count());
                picks.extend(met.values().set_indices_u32());
                picks
            });
            Ok(Block { begin, len, picks, computed })
        };
        let len = table.num_rows();
        let begins = (0..len.max(1)).step_by(BLOCK_ROWS);
        let blocks = begins.map(|begin| (begin, BLOCK_ROWS.min(len - begin)));
        threads::map(blocks.collect(), work).into_iter().collect()
    }
}

/// Rows that follow each other in a table, and what is chosen of them.
pub(super) struct Block {
    pub(super) begin: usize,
    pub(super) len: usize,
    /// Which of them, by their places in the block; `None` for all.
    pub(super) picks: Option<Vec<u32>>,
    /// What was computed of these.
    pub(super) computed: Vec<ArrayRef>,
}

impl Block {
    pub(super) fn rows(&self) -> usize {
        self.picks.as_ref().map_or(self.len, Vec::len)
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

/// What is chosen of a column.
pub(super) fn picked(array: &ArrayRef, blocks: &[Block]) -> Result<ArrayRef> {
    let of_numbers =
        by_type!(array, values, Kind => array_of::<Kind>(picked_numbers(values, blocks)));
    if let Some(picked) = of_numbers {
        return Ok(picked);
    }
    let pick = |block: &Block| -> Result<ArrayRef> {
        let all = array.slice(block.begin, block.len);
        Ok(match &block.picks {
            Some(picks) => take(&all, &UInt32Array::from(picks.clone()), None)?,
            None => all,
        })
    };
    let arrays = threads::map(blocks.iter().collect(), pick);
    let arrays = arrays.into_iter().collect::<Result<Vec<_>>>()?;
    Ok(concat(&arrays.iter().map(|array| &**array).collect::<Vec<_>>())?)
}

pub(super) fn picked_numbers<T>(values: &[T], blocks: &[Block]) -> Vec<T>
where
    T: Copy + Default + Send + Sync,
{
    let mut out = vec![T::default(); blocks.iter().map(Block::rows).sum()];
    let mut rest = out.as_mut_slice();
    let mut work = Vec::with_capacity(blocks.len());
    for block in blocks {
        let (here, others) = rest.split_at_mut(block.rows());
        work.push((block, here));
        rest = others;
    }
    threads::map(work, |(block, here)| {
        let all = &values[block.begin..block.begin + block.len];
        match &block.picks {
            None => here.copy_from_slice(all),
            Some(picks) => {
                for (value, &at) in here.iter_mut().zip(picks) {
                    *value = all[at as usize];
                }
            }
        }
    });
    out
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
