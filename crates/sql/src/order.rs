//! [`TableOrder`]: rows that are only filtered come in the order of their table.
//!
//! DataFusion deals the batches of a table in one part out to all threads, so that they filter at the
//! same time. Nothing puts the rows back in order afterwards, and with a limit it depends on the
//! threads which rows these are.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::config::ConfigOptions;
use datafusion::physical_expr::Partitioning;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ChildrenPropertiesMode, ExecutionPlan, ReplaceChildrenOptions};

/// Has one thread filter a table in one part. Tables with many rows are read in several parts, whose
/// results are joined in their order.
#[derive(Debug)]
pub(crate) struct TableOrder;

impl PhysicalOptimizerRule for TableOrder {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        in_order(plan)
    }

    fn name(&self) -> &'static str {
        "TableOrder"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn in_order(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    if let Some(dealt) = plan.downcast_ref::<RepartitionExec>()
        && matches!(dealt.partitioning(), Partitioning::RoundRobinBatch(_))
    {
        return in_order(Arc::clone(dealt.input()));
    }
    let is_passed = plan.is::<FilterExec>()
        || plan.is::<ProjectionExec>()
        || plan.is::<CoalescePartitionsExec>()
        || plan.is::<GlobalLimitExec>()
        || plan.is::<LocalLimitExec>();
    let Some(input) = plan.children().first().copied().cloned().filter(|_| is_passed) else {
        return Ok(plan);
    };
    let below = in_order(Arc::clone(&input))?;
    if Arc::ptr_eq(&below, &input) {
        return Ok(plan);
    }
    let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
    plan.replace_children(vec![below], options)
}
