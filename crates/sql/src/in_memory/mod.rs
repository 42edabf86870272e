//! [`FromMemory`]: parts of plans that are computed at once, over a whole table whose columns are in
//! memory, by all threads.
//!
//! What DataFusion does a batch of thousands of rows at a time, with copies in between, is here one
//! step for all rows: sorting by counting, groups in tables by key, columns that a join passes on as
//! they are. Where the table is not in memory, or a column is not as a step needs it, DataFusion
//! computes the part.

mod condition;
mod count;
mod first;
mod group;
mod merge;
mod rows;
mod select;
mod sort;

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

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

use self::condition::Within;
use self::count::Count;
use self::first::First;
use self::group::Group;
use self::merge::Merge;
use self::rows::Source;
use self::sort::Sort;
use crate::device::{Job, JobResult, Operand, Outcome, SqlStep, What};
use crate::kept::{Keeper, KeptTable, Worth};

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
    /// How many rows meet conditions.
    Count(Count),
    /// The first rows in an order.
    First(First),
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
    if let Some(first) = First::of(node) {
        return Some(Work::First(first));
    }
    if above.is_any_partition
        && let Some(count) = Count::of(node)
    {
        return Some(Work::Count(count));
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
            Self::Count(_) => "count",
            Self::First(_) => "first rows",
            Self::Merge(_) => "merge",
        }
    }

    fn source(&self) -> &Source {
        match self {
            Self::Rows(source) => source,
            Self::Sort(sort) => &sort.source,
            Self::Group(group) => &group.source,
            Self::Count(count) => &count.source,
            Self::First(first) => &first.source,
            Self::Merge(merge) => &merge.source,
        }
    }

    /// The device that it is planned for, where there may be one.
    fn planned_device(&self) -> Option<String> {
        let planned = self.source().scan.keeper()?.device()?.planned()?;
        let is_there = match self {
            Self::Group(_) | Self::Count(_) | Self::First(_) | Self::Sort(_) => true,
            Self::Rows(source) => !source.conditions.is_empty(),
            Self::Merge(_) => false,
        };
        Some(if is_there { planned } else { "cpu".to_owned() })
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
            Self::Rows(_) | Self::Count(_) | Self::First(_) => 0,
            Self::Sort(_) => table.num_rows() * sort::ROW_BYTES,
            Self::Group(_) => group::MOST_BYTES,
            Self::Merge(_) => table.num_rows() * size_of::<u32>(),
        }
    }

    /// All rows, and where they were computed. `other` are those of the other table of a join.
    fn rows(
        &self,
        table: &KeptTable,
        other: Option<&RecordBatch>,
        keeper: &Keeper,
        control: &Control,
    ) -> Result<Ran> {
        let all = |rows| Ran::on_processor(keeper, rows, ALL_ROWS);
        match (self, other) {
            (Self::Rows(source), _) => {
                let here = |rows: &RecordBatch| source.rows(rows, keeper, control).map(Some);
                let order = source.conditions.first().map(|_| Vec::new()).ok_or(ALL_ROWS);
                in_order(source, &order, table, keeper, control, here)
            }
            (Self::Sort(sort), _) => {
                let here = |rows: &RecordBatch| sort.rows(rows, keeper, control);
                let order = sort.order(&table.rows).ok_or(NO_ORDER);
                in_order(&sort.source, &order, table, keeper, control, here)
            }
            (Self::Group(group), _) => group.computed(table, keeper, control),
            (Self::Count(count), _) => {
                let job = || count.job(&table.rows);
                let here = |rows: &RecordBatch| count.rows(count.count(rows, control)?).map(Some);
                done(table, keeper, control, job, here, |found| match found {
                    JobResult::Count(found) => count.rows(found).map(Some),
                    _ => Ok(None),
                })
            }
            (Self::First(first), _) => {
                let job = || first.job(&table.rows);
                let here = |rows: &RecordBatch| match first.found(rows, control)? {
                    Some(found) => first.rows(rows, found, control),
                    None => Ok(None),
                };
                done(table, keeper, control, job, here, |found| match found {
                    JobResult::Rows(found) => first.rows(&table.rows, found, control),
                    _ => Ok(None),
                })
            }
            (Self::Merge(merge), Some(other)) => {
                merge.rows(&table.rows, other, keeper, control).map(all)
            }
            (Self::Merge(_), None) => Ok(all(None)),
        }
    }
}

/// What a step gave.
#[derive(Debug)]
struct Ran {
    /// All rows; `None` where they are computed as it was planned.
    rows: Option<RecordBatch>,
    /// Where, if there is a device.
    step: Option<SqlStep>,
}

impl Ran {
    /// On the processor, and why, if there is a device.
    fn on_processor(keeper: &Keeper, rows: Option<RecordBatch>, why: &str) -> Self {
        Self { rows, step: keeper.device().map(|_| SqlStep::on_processor(why)) }
    }
}

/// What a device would do of a table, of the rows that meet the conditions; or why it does not.
fn job_of(source: &Source, table: &RecordBatch, what: What) -> Result<Job, String> {
    let within = Within::all(source, table).ok_or("a condition is evaluated on the CPU only")?;
    let share = Within::share(&within, table.num_rows());
    let within = within.iter().map(|one| (one.operand, one.low, one.high)).collect();
    Ok(Job { within, share, what })
}

/// Why a device has nothing to do.
const ALL_ROWS: &str = "all rows are the result";
/// Why a device does not put rows in order.
const NO_ORDER: &str = "the order is not one of integer columns";

/// All rows that meet the conditions, in an order, which is that of the table without numbers; or why
/// there is nothing for a device, which finds the numbers of the rows.
fn in_order(
    source: &Source,
    order: &Result<Vec<(Operand, bool)>, &str>,
    table: &KeptTable,
    keeper: &Keeper,
    control: &Control,
    on_processor: impl Fn(&RecordBatch) -> Result<Option<RecordBatch>>,
) -> Result<Ran> {
    let job = || {
        let what = What::All { order: order.clone()?, columns: source.columns.len() };
        job_of(source, &table.rows, what)
    };
    done(table, keeper, control, job, on_processor, |found| match found {
        JobResult::Rows(rows) => source.chosen(&table.rows, &rows, control).map(Some),
        _ => Ok(None),
    })
}

/// Does a step on the device of the engine or on the processor.
fn done(
    table: &KeptTable,
    keeper: &Keeper,
    control: &Control,
    job: impl Fn() -> Result<Job, String>,
    on_processor: impl Fn(&RecordBatch) -> Result<Option<RecordBatch>>,
    on_device: impl Fn(JobResult) -> Result<Option<RecordBatch>>,
) -> Result<Ran> {
    let Some(device) = keeper.device() else {
        return Ok(Ran { rows: on_processor(&table.rows)?, step: None });
    };
    let job = job();
    let Outcome { found, seconds, mut step } = device.run(table, &job, &on_device, control)?;
    if let Some(found) = found {
        let since = Instant::now();
        let rows = on_device(found)?;
        if rows.is_some() {
            if let Some(seconds) = seconds {
                device.did(&job, &table.rows, seconds + since.elapsed().as_secs_f64());
            }
            return Ok(Ran { rows, step: Some(step) });
        }
        step.device = "cpu".to_owned();
        step.reason = format!("{}; values are too large for exact numbers", step.reason);
    }
    let since = Instant::now();
    let rows = on_processor(&table.rows)?;
    if rows.is_some() {
        device.took(&job, &table.rows, since);
    }
    Ok(Ran { rows, step: Some(step) })
}

/// A part of a plan that is computed in memory where its table is there, and as it was planned where
/// it is not.
struct InMemory {
    original: Arc<dyn ExecutionPlan>,
    work: Arc<Work>,
    /// Whether its rows are the result.
    is_result: bool,
    control: Control,
    /// All rows, and where they were computed.
    computed: Arc<OnceCell<Ran>>,
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
        let Some(Ran { rows, step }) = self.computed.get() else {
            return match self.work.planned_device() {
                Some(device) => write!(f, ", device={device:?}"),
                None => Ok(()),
            };
        };
        f.write_str(if rows.is_some() { ", ran=from_memory" } else { ", ran=as_planned" })?;
        match step {
            Some(SqlStep { device, reason, .. }) => {
                write!(f, ", device={device:?}, reason={reason:?}")
            }
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

/// All rows of a part, in memory, and where they were computed.
async fn computed(
    work: Arc<Work>,
    original: Arc<dyn ExecutionPlan>,
    control: Control,
    context: Arc<TaskContext>,
) -> Result<Ran> {
    let asked = Arc::clone(&work);
    let table = tokio::task::spawn_blocking(move || asked.table()).await.map_err(lost)??;
    let Some(keeper) = work.source().scan.keeper().cloned() else {
        return Ok(Ran { rows: None, step: None });
    };
    let Some(table) = table else {
        return Ok(Ran::on_processor(&keeper, None, "the table is not in memory"));
    };
    let room = MemoryConsumer::new("rows in memory").register(context.memory_pool());
    if room.try_grow(work.room(&table.rows)).is_err() {
        return Ok(Ran::on_processor(&keeper, None, "there is no memory for the step"));
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
        let ran = work.rows(&table, other.as_ref(), &keeper, &control)?;
        if let Some(step) = &ran.step {
            let name = format!("{} of {}", work.name(), work.source().scan.table());
            keeper.ran(SqlStep { step: name, ..step.clone() });
        }
        Ok(ran)
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
            let rows = match &all.get_or_try_init(compute).await?.rows {
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
