//! [`Sort`]: rows in the order of whole numbers.

use std::sync::Arc;

use datafusion::arrow::array::{Array as _, ArrayRef};
use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::{DataType, Int64Type, UInt16Type, UInt32Type, UInt64Type};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Result;
use datafusion::physical_expr::LexOrdering;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use parallax_base::{Control, threads};
use parallax_columns::{MAX_ROWS, gather, sort_by};

use super::condition::operand;
use super::rows::{Source, gathered, numbers, withdrawn};
use crate::device::Operand;
use crate::kept::Keeper;

/// Bytes for each row while rows are sorted: a key with the number of its row, in two places, and
/// the order.
pub(super) const ROW_BYTES: usize = 36;

/// All rows in an order; rows with equal keys in that of the table.
pub(super) struct Sort {
    pub(super) source: Source,
    /// Columns of the rows, from that which counts most.
    keys: Vec<(usize, SortOptions)>,
}

/// The bit of the sign.
pub(super) const SIGN: u64 = 1 << 63;

impl Sort {
    pub(super) fn of(node: &Arc<dyn ExecutionPlan>) -> Option<Self> {
        let (sort, order): (&SortExec, &LexOrdering) = match node
            .downcast_ref::<SortPreservingMergeExec>()
        {
            Some(merge) if merge.fetch().is_none() => (merge.input().downcast_ref()?, merge.expr()),
            Some(_) => return None,
            None => {
                let sort: &SortExec = node.downcast_ref()?;
                // Parts that are sorted each alone are merged by the node above.
                (!sort.preserve_partitioning()).then_some(())?;
                (sort, sort.expr())
            }
        };
        if sort.fetch().is_some() || sort.expr() != order {
            return None;
        }
        let source = Source::of(sort.input())?;
        let key = |one: &datafusion::physical_expr::PhysicalSortExpr| {
            Some((one.expr.downcast_ref::<Column>()?.index(), one.options))
        };
        Some(Self { keys: order.iter().map(key).collect::<Option<_>>()?, source })
    }

    /// What the order is made of; `None` where that is more than whole numbers.
    pub(super) fn order(&self, table: &RecordBatch) -> Option<Vec<(Operand, bool)>> {
        let key = |&(at, options): &(usize, SortOptions)| {
            Some((operand(self.source.columns.get(at)?, table)?, options.descending))
        };
        self.keys.iter().map(key).collect()
    }

    /// The rows; `None` where a key is no whole number, or there is none in a row.
    ///
    /// # Errors
    /// When something cannot be computed, or the statement was withdrawn.
    pub(super) fn rows(
        &self,
        table: &RecordBatch,
        keeper: &Keeper,
        control: &Control,
    ) -> Result<Option<RecordBatch>> {
        let rows = self.source.rows(table, keeper, control)?;
        if rows.num_rows() > MAX_ROWS {
            return Ok(None);
        }
        let mut order: Option<Vec<u32>> = None;
        // From the key that counts least: sorting keeps the order of rows with equal keys.
        for &(at, options) in self.keys.iter().rev() {
            control.check().map_err(withdrawn)?;
            match ordered(rows.column(at), options, order.as_deref()) {
                Some(sorted) => order = Some(sorted),
                None => return Ok(None),
            }
        }
        let Some(order) = order else { return Ok(None) };
        let columns = threads::map(rows.columns().iter().collect(), |column: &ArrayRef| {
            control.check().map_err(withdrawn)?;
            gathered(column, &order)
        });
        let columns = columns.into_iter().collect::<Result<_>>()?;
        Ok(Some(RecordBatch::try_new(rows.schema(), columns)?))
    }
}

/// The numbers of the rows in the order of a column, of those that have an order already.
fn ordered(column: &ArrayRef, options: SortOptions, before: Option<&[u32]>) -> Option<Vec<u32>> {
    match column.data_type() {
        DataType::UInt16 => {
            let values = numbers::<UInt16Type>(column)?;
            Some(sorted(values.len(), |row| values[row].into(), options, before))
        }
        DataType::UInt32 => {
            let values = numbers::<UInt32Type>(column)?;
            Some(sorted(values.len(), |row| values[row].into(), options, before))
        }
        DataType::UInt64 => {
            let values = numbers::<UInt64Type>(column)?;
            Some(sorted(values.len(), |row| values[row], options, before))
        }
        DataType::Int64 => {
            let values = numbers::<Int64Type>(column)?;
            let key = |row: usize| values[row].cast_unsigned() ^ SIGN;
            Some(sorted(values.len(), key, options, before))
        }
        _ => None,
    }
}

fn sorted(
    len: usize,
    key: impl Fn(usize) -> u64 + Send + Sync,
    options: SortOptions,
    before: Option<&[u32]>,
) -> Vec<u32> {
    let turn = if options.descending { u64::MAX } else { 0 };
    match before {
        None => sort_by(len, |row| key(row) ^ turn),
        Some(before) => {
            let sorted = sort_by(len, |row| key(before[row] as usize) ^ turn);
            gather(before, &sorted)
        }
    }
}
