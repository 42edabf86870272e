//! [`FromMemory`]: parts of plans that are computed at once, over a whole table whose columns are in
//! memory, by all threads.
//!
//! What DataFusion does a batch of thousands of rows at a time, with copies in between, is here one
//! step for all rows: sorting by counting, groups in tables by key, columns that a join passes on as
//! they are. Where the table is not in memory, or a column is not as a step needs it, DataFusion
//! computes the part.

mod condition;
mod group;
mod merge;
mod rows;
mod select;
mod sort;

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::config::ConfigOptions;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::analyze::AnalyzeExec;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::execution_plan::reset_plan_states;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties,
    ReplaceChildrenOptions, SendableRecordBatchStream, collect,
};
use futures::{StreamExt as _, TryStreamExt as _};
use parallax_base::Control;
use tokio::sync::OnceCell;

use self::group::Group;
use self::merge::Merge;
use self::rows::Source;
use self::sort::Sort;
use crate::kept::{KeptTable, Worth};

/// Puts [`InMemory`] in the place of what it can compute.
pub(crate) struct FromMemory(pub(crate) Control);

impl fmt::Debug for FromMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FromMemory")
    }
}

/// What the nodes above one do with its rows.
#[derive(Debug, Clone, Copy)]
struct Above {
    /// They are the result, as they are.
    is_result: bool,
    /// It makes no difference to them which partition has which rows.
    is_any_partition: bool,
}

impl FromMemory {
    fn rewritten(
        &self,
        node: Arc<dyn ExecutionPlan>,
        above: Above,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if let Some(work) = work(&node, above) {
            return Ok(Arc::new(InMemory {
                original: node,
                work: Arc::new(work),
                is_result: above.is_result,
                control: self.0.clone(),
                computed: Arc::default(),
            }));
        }
        let passes = node.is::<ProjectionExec>()
            // Runs what is the result without it, in the same way.
            || node.is::<AnalyzeExec>()
            || node.is::<CooperativeExec>()
            || (node.fetch().is_none()
                && (node.is::<CoalescePartitionsExec>() || node.is::<SortPreservingMergeExec>()));
        let group = node.downcast_ref::<AggregateExec>();
        let is_any_partition = passes
            || node.is::<CoalescePartitionsExec>()
            || node.is::<SortPreservingMergeExec>()
            || node.is::<SortExec>()
            || node.is::<FilterExec>()
            || node.is::<GlobalLimitExec>()
            || node.is::<LocalLimitExec>()
            || group.is_some_and(|group| *group.mode() == AggregateMode::Partial);
        let below = Above {
            is_result: above.is_result && passes,
            is_any_partition: above.is_any_partition && is_any_partition,
        };
        let mut is_other = false;
        let mut children = Vec::new();
        for child in node.children() {
            let new = self.rewritten(Arc::clone(child), below)?;
            is_other |= !Arc::ptr_eq(&new, child);
            children.push(new);
        }
        if !is_other {
            return Ok(node);
        }
        let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        node.replace_children(children, options)
    }
}

impl PhysicalOptimizerRule for FromMemory {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.rewritten(plan, Above { is_result: true, is_any_partition: true })
    }

    fn name(&self) -> &'static str {
        "FromMemory"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// What is computed of a table.
enum Work {
    /// Rows that meet conditions, with columns and what is computed of them.
    Rows(Source),
    /// The same in order.
    Sort(Sort),
    /// Sums by key.
    Group(Group),
    /// The same with columns of another table, of which a row belongs to each.
    Merge(Merge),
}

/// What a node computes, where it can be computed in memory.
fn work(node: &Arc<dyn ExecutionPlan>, above: Above) -> Option<Work> {
    if let Some(sort) = Sort::of(node) {
        return Some(Work::Sort(sort));
    }
    if above.is_any_partition
        && let Some(group) = Group::of(node)
    {
        return Some(Work::Group(group));
    }
    if !above.is_result {
        return None;
    }
    if let Some(merge) = Merge::of(node) {
        return Some(Work::Merge(merge));
    }
    Source::of(node).map(Work::Rows)
}

impl Work {
    fn name(&self) -> &'static str {
        match self {
            Self::Rows(_) => "rows",
            Self::Sort(_) => "sort",
            Self::Group(_) => "group",
            Self::Merge(_) => "merge",
        }
    }

    fn source(&self) -> &Source {
        match self {
            Self::Rows(source) => source,
            Self::Sort(sort) => &sort.source,
            Self::Group(group) => &group.source,
            Self::Merge(merge) => &merge.source,
        }
    }

    /// The table, where it is in memory or worth being there.
    fn table(&self) -> Result<Option<Arc<KeptTable>>> {
        let worth = match self {
            // All rows are in memory anyway before the first one is given.
            Self::Sort(_) => Worth::Now,
            _ => Worth::Again,
        };
        self.source().scan.whole(worth)
    }

    /// Bytes that it needs, besides the table and the result.
    fn room(&self, table: &RecordBatch) -> usize {
        match self {
            Self::Rows(_) => 0,
            Self::Sort(_) => table.num_rows() * sort::ROW_BYTES,
            Self::Group(_) => group::MOST_BYTES,
            Self::Merge(_) => table.num_rows() * size_of::<u32>(),
        }
    }
}

/// A part of a plan that is computed in memory where its table is there, and as it was planned where
/// it is not.
struct InMemory {
    original: Arc<dyn ExecutionPlan>,
    work: Arc<Work>,
    /// Whether its rows are the result.
    is_result: bool,
    control: Control,
    /// All rows; `None` where the original computes them.
    computed: Arc<OnceCell<Option<RecordBatch>>>,
}

impl fmt::Debug for InMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_as(DisplayFormatType::Verbose, f)
    }
}

impl DisplayAs for InMemory {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InMemory: {} of {}", self.work.name(), self.work.source().scan.table())?;
        // Known once it has run, as in EXPLAIN ANALYZE.
        match self.computed.get() {
            Some(Some(_)) => f.write_str(", ran=from_memory"),
            Some(None) => f.write_str(", ran=as_planned"),
            None => Ok(()),
        }
    }
}

/// Rows of a batch for nodes that take several.
const BATCH_ROWS: usize = 1 << 16;

/// Why a part that runs on another thread has no result.
fn lost(error: tokio::task::JoinError) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// All rows of a part, in memory; `None` where it has to be computed as it was planned.
async fn computed(
    work: Arc<Work>,
    original: Arc<dyn ExecutionPlan>,
    control: Control,
    context: Arc<TaskContext>,
) -> Result<Option<RecordBatch>> {
    let asked = Arc::clone(&work);
    let table = tokio::task::spawn_blocking(move || asked.table()).await.map_err(lost)??;
    let (Some(table), Some(keeper)) = (table, work.source().scan.keeper().cloned()) else {
        return Ok(None);
    };
    let room = MemoryConsumer::new("rows in memory").register(context.memory_pool());
    if room.try_grow(work.room(&table.rows)).is_err() {
        return Ok(None);
    }
    let other = match (&*work, merge::join(&original)) {
        (Work::Merge(_), Some(join)) => {
            // The join itself may still have to read it.
            let other = reset_plan_states(Arc::clone(join.left()))?;
            let schema = other.schema();
            let batches = collect(other, Arc::clone(&context)).await?;
            Some(datafusion::arrow::compute::concat_batches(&schema, &batches)?)
        }
        _ => None,
    };
    let compute = move || {
        let _room = room;
        match (&*work, other) {
            (Work::Rows(source), _) => source.rows(&table.rows, &keeper, &control).map(Some),
            (Work::Sort(sort), _) => sort.rows(&table.rows, &keeper, &control),
            (Work::Group(group), _) => group.rows(&table.rows, &control),
            (Work::Merge(merge), Some(other)) => merge.rows(&table.rows, &other, &keeper, &control),
            (Work::Merge(_), None) => Ok(None),
        }
    };
    tokio::task::spawn_blocking(compute).await.map_err(lost)?
}

impl ExecutionPlan for InMemory {
    fn name(&self) -> &'static str {
        "InMemory"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.original.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.original]
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(original) = children.into_iter().next() else {
            return plan_err!(
                "what is computed in memory has a plan; this is a defect of Parallax"
            );
        };
        Ok(Arc::new(Self {
            original,
            work: Arc::clone(&self.work),
            is_result: self.is_result,
            control: self.control.clone(),
            computed: Arc::default(),
        }))
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        self.replace_children(children, options)
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let schema = self.original.schema();
        let (work, original) = (Arc::clone(&self.work), Arc::clone(&self.original));
        let (control, all) = (self.control.clone(), Arc::clone(&self.computed));
        let most = if self.is_result { usize::MAX } else { BATCH_ROWS };
        let rows = async move {
            let compute = || computed(work, Arc::clone(&original), control, Arc::clone(&context));
            let rows = match all.get_or_try_init(compute).await? {
                None => return original.execute(partition, context),
                // All of them are in the first part.
                Some(rows) if partition == 0 => rows.clone(),
                Some(rows) => rows.slice(0, 0),
            };
            let schema = rows.schema();
            let len = rows.num_rows();
            let slices = (0..len).step_by(most.min(len.max(1)));
            let slices = slices.map(move |at| Ok(rows.slice(at, most.min(len - at))));
            let slices = futures::stream::iter(slices).boxed();
            Ok(Box::pin(RecordBatchStreamAdapter::new(schema, slices)) as SendableRecordBatchStream)
        };
        let stream = futures::stream::once(rows).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream)))
    }
}
