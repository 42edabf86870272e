//! [`Count`]: how many rows meet conditions.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array};
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Result;
use datafusion::physical_expr::expressions::Literal;
use datafusion::physical_plan::ExecutionPlan;
use parallax_base::{Control, threads};
use parallax_columns::{Picks, blocks};

use super::condition::Condition;
use super::group::both_steps;
use super::job_of;
use super::rows::{Source, withdrawn};
use crate::device::{Job, What};

/// The number of rows that meet conditions, as the only row.
pub(super) struct Count {
    pub(super) source: Source,
    schema: SchemaRef,
}

impl Count {
    pub(super) fn of(node: &Arc<dyn ExecutionPlan>) -> Option<Self> {
        let (first, _) = both_steps(node)?;
        let counts = |function: &Arc<
            datafusion::physical_expr::aggregate::AggregateFunctionExpr,
        >| {
            let arguments = function.expressions();
            let is_one = |one: &Literal| !one.value().is_null();
            function.fun().name() == "count"
                && !function.is_distinct()
                && matches!(arguments.as_slice(), [one] if one.downcast_ref().is_some_and(is_one))
        };
        let schema = node.schema();
        let is_ours = first.group_expr().expr().is_empty()
            && !first.group_expr().has_grouping_set()
            && !first.aggr_expr().is_empty()
            && first.aggr_expr().iter().all(counts)
            && first.filter_expr().iter().all(Option::is_none)
            && schema.fields().iter().all(|field| *field.data_type() == DataType::Int64);
        is_ours.then_some(())?;
        let source = Source::of(first.input())?;
        // The number of all rows is known without looking at them.
        (!source.conditions.is_empty()).then_some(Self { source, schema })
    }

    /// What a device would do of it.
    pub(super) fn job(&self, table: &RecordBatch) -> Result<Job, String> {
        job_of(&self.source, table, What::Count)
    }

    /// The number, on the processor.
    ///
    /// # Errors
    /// When a condition cannot be evaluated, or the statement was withdrawn.
    pub(super) fn count(&self, table: &RecordBatch, control: &Control) -> Result<u64> {
        let condition = Condition::of(&self.source, table, control)?;
        let counted = threads::map(blocks(table.num_rows()), |block: Range<usize>| {
            control.check().map_err(withdrawn)?;
            let mut picks = Picks::default();
            condition.pick(&block, &mut picks);
            Ok(picks.places().len() as u64)
        });
        counted.into_iter().sum()
    }

    /// The row with the number.
    pub(super) fn rows(&self, count: u64) -> Result<RecordBatch> {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let column = Arc::new(Int64Array::from(vec![count])) as ArrayRef;
        let columns = self.schema.fields().iter().map(|_| Arc::clone(&column)).collect();
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}
