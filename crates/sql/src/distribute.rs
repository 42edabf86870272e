//! [`Distribute`]: the parts of a plan that other processes compute, and [`Remote`], in whose place
//! their rows arrive.
//!
//! A part is a table that is cut by locations with everything above it that works on each cut alone:
//! conditions, projections, the first step of grouping, the larger side of a join. What has to see
//! all rows stays with the client.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::ipc::reader::StreamReader;
use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, JoinType, Result, exec_err, plan_err};
use datafusion::config::ConfigOptions;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::{
    CrossJoinExec, HashJoinExec, NestedLoopJoinExec, PartitionMode,
};
use datafusion::physical_plan::limit::LocalLimitExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan,
    ExecutionPlanProperties as _, PlanProperties, ReplaceChildrenOptions,
    SendableRecordBatchStream, displayable,
};
use futures::TryStreamExt as _;
use parallax_base::{Control, StableHash};
use tokio::sync::Semaphore;

use crate::SqlError;
use crate::filters::Wanted;
use crate::scan::Scan;
use crate::task::{Planned, SqlRoom, SqlTask, SqlWorkers};

/// The child of a node whose parts are the parts of the node, computed each alone.
fn spine(node: &Arc<dyn ExecutionPlan>) -> Option<usize> {
    // Rows of the other side that have no partner are known only when all parts have been seen.
    let is_by_right = |join: JoinType| {
        matches!(
            join,
            JoinType::Inner
                | JoinType::Right
                | JoinType::RightSemi
                | JoinType::RightAnti
                | JoinType::RightMark
        )
    };
    if node.is::<FilterExec>()
        || node.is::<ProjectionExec>()
        || node.is::<LocalLimitExec>()
        || matches!(node.name(), "CoalesceBatchesExec" | "CooperativeExec")
    {
        return Some(0);
    }
    if let Some(group) = node.downcast_ref::<AggregateExec>() {
        return (*group.mode() == AggregateMode::Partial).then_some(0);
    }
    if let Some(sort) = node.downcast_ref::<SortExec>() {
        return sort.preserve_partitioning().then_some(0);
    }
    if let Some(join) = node.downcast_ref::<HashJoinExec>() {
        let is_collected = *join.partition_mode() == PartitionMode::CollectLeft;
        return (is_collected && is_by_right(*join.join_type())).then_some(1);
    }
    if let Some(join) = node.downcast_ref::<NestedLoopJoinExec>() {
        return is_by_right(*join.join_type()).then_some(1);
    }
    node.is::<CrossJoinExec>().then_some(1)
}

/// The table that a node reads in parts, where each part of the node is computed alone.
fn scan(node: &Arc<dyn ExecutionPlan>) -> Option<&Scan> {
    match node.downcast_ref::<Scan>() {
        Some(scan) => Some(scan),
        None => scan(node.children().get(spine(node)?).copied()?),
    }
}

/// What a node and everything below it do, as text.
fn shown(node: &Arc<dyn ExecutionPlan>) -> String {
    displayable(node.as_ref()).indent(true).to_string()
}

/// A number made of that.
fn number_of(shown: &str) -> u64 {
    StableHash::default().with(shown.as_bytes()).bits()
}

/// Puts [`Remote`] in the place of what others compute.
pub(crate) struct Distribute {
    pub(crate) workers: Arc<dyn SqlWorkers>,
    pub(crate) planned: Planned,
    pub(crate) control: Control,
    /// Parts that are asked for at the same time.
    pub(crate) lanes: Arc<Semaphore>,
}

impl fmt::Debug for Distribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Distribute")
    }
}

impl Distribute {
    fn spread(
        &self,
        node: Arc<dyn ExecutionPlan>,
        path: &mut Vec<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if scan(&node).is_some() && node.output_partitioning().partition_count() > 1 {
            let shown = shown(&node);
            // The value of a subquery is known to the client.
            if !shown.contains("scalar_subquery(") {
                let task = SqlTask {
                    planned: self.planned.clone(),
                    node: path.clone(),
                    plan: number_of(&shown),
                    part: 0,
                    found: Wanted::default(),
                };
                return Ok(Arc::new(Remote {
                    node,
                    task,
                    workers: Arc::clone(&self.workers),
                    control: self.control.clone(),
                    lanes: Arc::clone(&self.lanes),
                }));
            }
        }
        let mut children = Vec::new();
        let mut is_other = false;
        for (at, child) in node.children().into_iter().enumerate() {
            path.push(at);
            let new = self.spread(Arc::clone(child), path)?;
            path.pop();
            is_other |= !Arc::ptr_eq(&new, child);
            children.push(new);
        }
        if is_other { with_children(node, children) } else { Ok(node) }
    }
}

impl PhysicalOptimizerRule for Distribute {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.spread(plan, &mut Vec::new())
    }

    fn name(&self) -> &'static str {
        "Distribute"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// A node whose parts others compute.
struct Remote {
    /// What they compute.
    node: Arc<dyn ExecutionPlan>,
    /// Its first part.
    task: SqlTask,
    workers: Arc<dyn SqlWorkers>,
    control: Control,
    lanes: Arc<Semaphore>,
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_as(DisplayFormatType::Verbose, f)
    }
}

impl DisplayAs for Remote {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.node.output_partitioning().partition_count();
        write!(f, "Executors: parts={parts}")
    }
}

/// Tells whoever computes for a stream that it is no longer wanted.
struct Unwanted(Arc<AtomicBool>);

impl Drop for Unwanted {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl ExecutionPlan for Remote {
    fn name(&self) -> &'static str {
        "Executors"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.node.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.node]
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        // Others plan the node themselves, and would compute another one.
        match children.first() {
            Some(node) if children.len() == 1 && Arc::ptr_eq(node, &self.node) => Ok(self),
            _ => plan_err!("a part that others compute was changed; this is a defect of Parallax"),
        }
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

    fn execute(&self, part: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let schema = self.node.schema();
        let (node, task) = (Arc::clone(&self.node), SqlTask { part, ..self.task.clone() });
        let (workers, lanes) = (Arc::clone(&self.workers), Arc::clone(&self.lanes));
        let (control, expected) = (self.control.clone(), Arc::clone(&schema));
        let is_unwanted = Arc::new(AtomicBool::new(false));
        let unwanted = Unwanted(Arc::clone(&is_unwanted));
        let batches = async move {
            let _unwanted = unwanted;
            let lane = lanes.acquire_owned().await;
            let lane = lane.map_err(|error| DataFusionError::External(Box::new(error)))?;
            let reserved = MemoryConsumer::new("rows of executors").register(context.memory_pool());
            let compute = move || -> Result<_> {
                // By now what a join wants of the table is known.
                let found = scan(&node).map(Scan::running).unwrap_or_default();
                let task = SqlTask { found, ..task };
                let mut room = SqlRoom::new(reserved);
                let stop = || is_unwanted.load(Ordering::Relaxed) || control.check().is_err();
                let computed = workers.compute(&task, &stop, &mut room);
                drop(lane);
                computed.map_err(|error| DataFusionError::External(Box::new(error)))?;
                decoded(room, &expected)
            };
            let (batches, reserved) = tokio::task::spawn_blocking(compute)
                .await
                .map_err(|error| DataFusionError::External(Box::new(error)))??;
            Ok::<_, DataFusionError>(futures::stream::iter(batches.into_iter().map(move |batch| {
                // As long as there may be more rows, these count.
                let _counted = &reserved;
                Ok(batch)
            })))
        };
        let stream = futures::stream::once(batches).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream)))
    }
}

type Decoded = (Vec<RecordBatch>, datafusion::execution::memory_pool::MemoryReservation);

/// The rows that others have computed.
fn decoded(room: SqlRoom, expected: &SchemaRef) -> Result<Decoded> {
    let (bytes, reserved) = room.into_parts();
    let reader = StreamReader::try_new(bytes, None)?;
    let mut batches = Vec::new();
    for batch in reader {
        let batch = batch?;
        let types = |schema: &SchemaRef| {
            schema.fields().iter().map(|field| field.data_type().clone()).collect::<Vec<_>>()
        };
        if types(&batch.schema()) != types(expected) {
            return exec_err!("an executor has sent other columns than it was asked for");
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let columns = batch.columns().to_vec();
        batches.push(RecordBatch::try_new_with_options(Arc::clone(expected), columns, &options)?);
    }
    Ok((batches, reserved))
}

/// The node of a plan that computes a part, and only that part.
///
/// # Errors
/// When the plan is another one than that of the client.
pub(crate) fn part_of(
    plan: &Arc<dyn ExecutionPlan>,
    task: &SqlTask,
) -> Result<Arc<dyn ExecutionPlan>> {
    let mut node = plan;
    for &at in &task.node {
        match node.children().get(at) {
            Some(&child) => node = child,
            None => return other_plan(),
        }
    }
    if number_of(&shown(node)) != task.plan {
        return other_plan();
    }
    alone(node, task.part, &task.found)
}

fn other_plan<T>() -> Result<T> {
    exec_err!(
        "the plan of the statement differs from that of the client; all members of a cluster must be \
         the same build of Parallax"
    )
}

/// A node that reads only one part of its table.
fn alone(
    node: &Arc<dyn ExecutionPlan>,
    part: usize,
    found: &Wanted,
) -> Result<Arc<dyn ExecutionPlan>> {
    if let Some(scan) = node.downcast_ref::<Scan>() {
        return Ok(Arc::new(scan.part(part, found)?));
    }
    let mut children: Vec<_> = node.children().into_iter().map(Arc::clone).collect();
    let Some(child) = spine(node).and_then(|at| children.get_mut(at)) else {
        return other_plan();
    };
    *child = alone(child, part, found)?;
    with_children(Arc::clone(node), children)
}

fn with_children(
    node: Arc<dyn ExecutionPlan>,
    children: Vec<Arc<dyn ExecutionPlan>>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
    node.replace_children(children, options)
}

/// Writes the rows of a part, and gives their number.
pub(crate) async fn written(
    part: Arc<dyn ExecutionPlan>,
    context: Arc<TaskContext>,
    mut send: impl FnMut(Vec<u8>) -> bool,
) -> Result<u64> {
    let gone = || DataFusionError::External(Box::new(SqlError::Cancelled));
    let mut rows = 0;
    let mut writer = StreamWriter::try_new(Vec::new(), &part.schema())?;
    let mut batches = part.execute(0, context)?;
    while let Some(batch) = batches.try_next().await? {
        rows += batch.num_rows() as u64;
        writer.write(&batch)?;
        if !send(std::mem::take(writer.get_mut())) {
            return Err(gone());
        }
    }
    writer.finish()?;
    match send(std::mem::take(writer.get_mut())) {
        true => Ok(rows),
        false => Err(gone()),
    }
}
