//! [`Withdrawal`]: makes joins end soon after their statement was withdrawn.
//!
//! A join multiplies rows, so one may compute for hours between two rows that it reads, and then
//! between two rows that it gives. While it does, it keeps a thread that other statements need.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::{Transformed, TreeNode as _};
use datafusion::common::{DataFusionError, Result};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{
    CrossJoinExec, HashJoinExec, HashJoinExecBuilder, NestedLoopJoinExec,
    NestedLoopJoinExecBuilder, PiecewiseMergeJoinExec, SortMergeJoinExec,
};
use parallax_base::Control;

use crate::SqlError;

/// Lets the runtime end a join between two batches that it gives, and the control between two
/// batches for which it computes its condition.
pub(crate) struct Withdrawal(pub(crate) Control);

impl fmt::Debug for Withdrawal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Withdrawal")
    }
}

impl Withdrawal {
    fn condition(&self, filter: &JoinFilter) -> JoinFilter {
        let condition = Arc::clone(filter.expression());
        let condition = UntilWithdrawn { condition, control: self.0.clone() };
        let columns = filter.column_indices().to_vec();
        JoinFilter::new(Arc::new(condition), columns, Arc::clone(filter.schema()))
    }

    /// The same join, if it is one.
    fn join(&self, node: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        if let Some(join) = node.downcast_ref::<NestedLoopJoinExec>() {
            let filter = join.filter().map(|filter| self.condition(filter));
            let join = NestedLoopJoinExecBuilder::from(join).with_filter(filter).build()?;
            return Ok(Some(Arc::new(join)));
        }
        if let Some(join) = node.downcast_ref::<HashJoinExec>() {
            let filter = join.filter().map(|filter| self.condition(filter));
            return Ok(Some(HashJoinExecBuilder::from(join).with_filter(filter).build_exec()?));
        }
        let is_other = node.is::<CrossJoinExec>()
            || node.is::<SortMergeJoinExec>()
            || node.is::<PiecewiseMergeJoinExec>();
        Ok(is_other.then(|| Arc::clone(node)))
    }
}

impl PhysicalOptimizerRule for Withdrawal {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let ends = plan.transform_up(|node| {
            Ok(match self.join(&node)? {
                Some(join) => Transformed::yes(Arc::new(CooperativeExec::new(join)) as _),
                None => Transformed::no(node),
            })
        })?;
        Ok(ends.data)
    }

    fn name(&self) -> &'static str {
        "Withdrawal"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The condition of a join, which fails once the statement was withdrawn. Looks like the condition
/// where plans are shown.
struct UntilWithdrawn {
    condition: Arc<dyn PhysicalExpr>,
    control: Control,
}

impl fmt::Debug for UntilWithdrawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.condition.fmt(f)
    }
}

impl fmt::Display for UntilWithdrawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.condition.fmt(f)
    }
}

impl PartialEq for UntilWithdrawn {
    fn eq(&self, other: &Self) -> bool {
        self.condition.eq(&other.condition)
    }
}

impl Eq for UntilWithdrawn {}

impl Hash for UntilWithdrawn {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.condition.hash(state);
    }
}

impl PhysicalExpr for UntilWithdrawn {
    fn data_type(&self, schema: &Schema) -> Result<DataType> {
        self.condition.data_type(schema)
    }

    fn nullable(&self, schema: &Schema) -> Result<bool> {
        self.condition.nullable(schema)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let withdrawn = |_| DataFusionError::External(Box::new(SqlError::Cancelled));
        self.control.check().map_err(withdrawn)?;
        self.condition.evaluate(batch)
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.condition]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        let condition = children.into_iter().next().unwrap_or_else(|| Arc::clone(&self.condition));
        Ok(Arc::new(Self { condition, control: self.control.clone() }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.condition.fmt_sql(f)
    }
}
