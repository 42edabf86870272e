//! [`ScanTable`]: a table that reads only what a query wants of it.
//!
//! Conditions on ids and times go down to the [`Rows`] of a table: those of the query when it is
//! planned, and those that a join finds while it runs, which is when reading begins.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::AsArray as _;
use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::{SchemaRef, UInt32Type};
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics, plan_err};
use datafusion::config::ConfigOptions;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{
    EquivalenceProperties, LexOrdering, PhysicalExpr, PhysicalSortExpr,
};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::filter_pushdown::{
    ChildPushdownResult, FilterPushdownPhase, FilterPushdownPropagation, PushedDown,
};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning,
    PlanProperties, ReplaceChildrenOptions, SendableRecordBatchStream,
};
use parallax_base::Control;
use parallax_service::OpenExperiment;

use crate::filters::{Wanted, of_condition, of_running};
use crate::kept::{Keeper, KeptTable, Worth};

/// Rows that are read at a time, by all parts together.
const BATCH_ROWS: usize = 1 << 20;
/// Rows that a part reads at a time, however many parts there are.
const LEAST_ROWS: usize = 1 << 16;

/// Batches of rows, one after the other.
pub(crate) type Batches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// Where the rows of a table come from.
pub(crate) trait Rows: Send + Sync {
    /// Name of the table.
    fn name(&self) -> &'static str;

    /// The columns.
    fn schema(&self) -> SchemaRef;

    /// Columns by which parts are read. Rows that [`Rows::read`] gives have wanted numbers in those
    /// of the first list; of the second list, others may be among them.
    fn keys(&self) -> (&'static [&'static str], &'static [&'static str]);

    /// Columns by which rows ascend.
    fn order(&self) -> &'static [&'static str] {
        &[]
    }

    /// How many rows there are at most; `None` where that is not known.
    fn estimate(&self, wanted: &Wanted) -> Option<u64>;

    /// What is wanted in parts that may be read at the same time: at most `most`, each of about
    /// `rows` rows or more. Rows of a part come before those of the next one, and together they are
    /// the rows of the whole. One part where the files are not read faster in several.
    fn cut(&self, wanted: &Wanted, most: usize, rows: u64) -> Vec<Wanted> {
        let _ = (most, rows);
        vec![wanted.clone()]
    }

    /// Bytes of the whole table in memory, where it may stay there (`kept.rs`); `None` where it does
    /// not.
    fn whole_bytes(&self) -> Option<u64> {
        None
    }

    /// All rows at once, of a table that may stay in memory.
    ///
    /// # Errors
    /// When the data cannot be read.
    fn whole(self: Arc<Self>, control: &Control) -> Result<Option<RecordBatch>> {
        let _ = control;
        Ok(None)
    }

    /// Reads what is wanted, in batches of not much more than `most` rows, where no more are wanted
    /// at once.
    ///
    /// # Errors
    /// When the data cannot be read.
    fn read(self: Arc<Self>, wanted: &Wanted, most: usize, control: &Control) -> Result<Batches>;
}

/// A table whose rows are read when a query wants them.
pub(crate) struct ScanTable {
    pub(crate) rows: Arc<dyn Rows>,
    pub(crate) opened: Arc<OpenExperiment>,
    pub(crate) control: Control,
    pub(crate) cut: Cut,
    /// What has whole tables in memory, where statements have that.
    pub(crate) keeper: Option<Keeper>,
}

/// Into how many parts a table is cut that may be read at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    /// So many at most.
    pub(crate) parts: usize,
    /// Each with about so many rows or more.
    pub(crate) rows: u64,
}

/// Rows of a part that is worth a thread.
pub(crate) const PART_ROWS: u64 = 1 << 18;

impl fmt::Debug for ScanTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScanTable({})", self.rows.name())
    }
}

impl ScanTable {
    /// What a condition wants of this table, and whether it needs no other check.
    fn wanted(&self, condition: &Expr) -> Option<(Wanted, bool)> {
        let found = of_condition(condition, self.opened.session().tree())?;
        let (exact, others) = self.rows.keys();
        let is_exact = found.is_exact && found.wanted.is_about(exact);
        let wanted = found.wanted.only(&[exact, others].concat());
        (!wanted.is_all()).then_some((wanted, is_exact))
    }
}

#[async_trait]
impl TableProvider for ScanTable {
    fn schema(&self) -> SchemaRef {
        self.rows.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let support = |filter: &&Expr| match self.wanted(filter) {
            Some((_, true)) => TableProviderFilterPushDown::Exact,
            Some((_, false)) => TableProviderFilterPushDown::Inexact,
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(support).collect())
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let wanted = filters.iter().filter_map(|filter| self.wanted(filter));
        let wanted = wanted.fold(Wanted::default(), |so_far, (one, _)| so_far.and(&one));
        let parts = match limit {
            // Parts would all read until each has so many rows.
            Some(_) => vec![wanted.clone()],
            None => self.rows.cut(&wanted, self.cut.parts, self.cut.rows),
        };
        let rows = Arc::clone(&self.rows);
        let (projection, control) = (projection.cloned(), self.control.clone());
        // Only tables that are read whole.
        let keeper = self
            .keeper
            .as_ref()
            .filter(|keeper| limit.is_none() && wanted.is_all() && keeper.fits(&*self.rows));
        let keeper = keeper.cloned();
        let scan = Scan::new(rows, wanted, parts, projection, limit, control)?;
        Ok(Arc::new(Scan { keeper, ..scan }))
    }
}

/// A part of a plan that reads a table.
#[derive(Clone)]
pub(crate) struct Scan {
    rows: Arc<dyn Rows>,
    wanted: Wanted,
    /// What each partition reads of that.
    parts: Vec<Wanted>,
    /// What other parts of the plan find while they run.
    running: Vec<Arc<dyn PhysicalExpr>>,
    projection: Option<Vec<usize>>,
    limit: Option<usize>,
    control: Control,
    /// Has the whole table in memory, or will.
    keeper: Option<Keeper>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl Scan {
    fn new(
        rows: Arc<dyn Rows>,
        wanted: Wanted,
        parts: Vec<Wanted>,
        projection: Option<Vec<usize>>,
        limit: Option<usize>,
        control: Control,
    ) -> Result<Self> {
        let full = rows.schema();
        let schema = match &projection {
            Some(columns) => Arc::new(full.project(columns)?),
            None => full,
        };
        // Rows ascend by the first columns of the order that the query still has.
        let ordered = rows.order().iter().map_while(|name| {
            let at = schema.index_of(name).ok()?;
            let options = SortOptions { descending: false, nulls_first: false };
            Some(PhysicalSortExpr::new(Arc::new(Column::new(name, at)), options))
        });
        let orderings = LexOrdering::new(ordered.collect::<Vec<_>>());
        let equivalence = EquivalenceProperties::new_with_orderings(Arc::clone(&schema), orderings);
        let properties = PlanProperties::new(
            equivalence,
            Partitioning::UnknownPartitioning(parts.len()),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Ok(Self {
            rows,
            wanted,
            parts,
            running: Vec::new(),
            projection,
            limit,
            control,
            keeper: None,
            schema,
            properties: Arc::new(properties),
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }

    /// What other parts of the plan want of this table by now.
    pub(crate) fn running(&self) -> Wanted {
        let (exact, others) = self.rows.keys();
        let known = [exact, others].concat();
        let found = self.running.iter().map(|more| of_running(more).only(&known));
        found.fold(Wanted::default(), |so_far, more| so_far.and(&more))
    }

    /// What has the whole table in memory, or will.
    pub(crate) fn keeper(&self) -> Option<&Keeper> {
        self.keeper.as_ref()
    }

    /// The name of the table.
    pub(crate) fn table(&self) -> &'static str {
        self.rows.name()
    }

    /// All columns of the table.
    pub(crate) fn schema_of_table(&self) -> SchemaRef {
        self.rows.schema()
    }

    /// The columns of the table that it gives, in their order.
    pub(crate) fn columns(&self) -> Vec<usize> {
        let all = || (0..self.schema.fields().len()).collect();
        self.projection.clone().unwrap_or_else(all)
    }

    /// The whole table with all columns, where it is in memory or worth being there.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn whole(&self, worth: Worth) -> Result<Option<Arc<KeptTable>>> {
        match &self.keeper {
            Some(keeper) => keeper.table(&self.rows, worth, &self.control),
            None => Ok(None),
        }
    }

    /// What one part has of the table in memory, where it is there: all rows of a range of locations.
    fn in_memory(&self, wanted: &Wanted, most: usize) -> Result<Option<Batches>> {
        let Some(table) = self.whole(Worth::Again)? else { return Ok(None) };
        let rows = &table.rows;
        let locations = rows.column_by_name("profile_id");
        let Some(locations) = locations.and_then(|ids| ids.as_primitive_opt::<UInt32Type>()) else {
            return Ok(None);
        };
        // The table ascends by location.
        let (first, last) = wanted.of("profile_id").span().unwrap_or((1, 0));
        let begin = locations.values().partition_point(|&id| u64::from(id) < first);
        let end = locations.values().partition_point(|&id| u64::from(id) <= last).max(begin);
        let slices = (begin..end).step_by(most.max(1)).map(|at| (at, most.min(end - at)));
        let batches: Vec<_> = slices.map(|(at, len)| Ok(rows.slice(at, len))).collect();
        Ok(Some(Box::new(batches.into_iter())))
    }

    /// The same with only one of its parts, narrowed by what others found.
    ///
    /// # Errors
    /// When it has no such part.
    pub(crate) fn part(&self, part: usize, found: &Wanted) -> Result<Self> {
        let Some(wanted) = self.parts.get(part) else {
            return plan_err!("{} has no part {part}", self.rows.name());
        };
        let wanted = wanted.clone().and(found);
        let (rows, control) = (Arc::clone(&self.rows), self.control.clone());
        let parts = vec![wanted.clone()];
        let new = Self::new(rows, wanted, parts, self.projection.clone(), self.limit, control)?;
        Ok(Self { running: self.running.clone(), ..new })
    }
}

impl fmt::Debug for Scan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_as(DisplayFormatType::Verbose, f)
    }
}

impl DisplayAs for Scan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = self.schema.fields().iter().map(|field| field.name().as_str());
        let columns = fields.collect::<Vec<_>>().join(", ");
        write!(f, "Scan: table={}, columns=[{columns}]", self.rows.name())?;
        if !self.wanted.is_all() {
            write!(f, ", read=[{}]", self.wanted)?;
        }
        if !self.running.is_empty() {
            let running = self.running.iter().map(ToString::to_string);
            write!(f, ", narrowed_by=[{}]", running.collect::<Vec<_>>().join(", "))?;
        }
        if self.parts.len() > 1 {
            write!(f, ", parts={}", self.parts.len())?;
        }
        if self.keeper.as_ref().is_some_and(|keeper| keeper.has(&*self.rows)) {
            write!(f, ", in_memory=true")?;
        }
        match self.limit {
            Some(limit) => write!(f, ", limit={limit}"),
            None => Ok(()),
        }
    }
}

impl ExecutionPlan for Scan {
    fn name(&self) -> &'static str {
        "Scan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn replace_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
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
        visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        for expression in &self.running {
            if visit(expression)? == TreeNodeRecursion::Stop {
                return Ok(TreeNodeRecursion::Stop);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    }

    fn fetch(&self) -> Option<usize> {
        self.limit
    }

    fn statistics_from_inputs(
        &self,
        _: &[Arc<Statistics>],
        arguments: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        let mut statistics = Statistics::new_unknown(&self.schema);
        let part = arguments.partition().and_then(|part| self.parts.get(part));
        let most = self
            .rows
            .estimate(part.unwrap_or(&self.wanted))
            .and_then(|rows| usize::try_from(rows).ok());
        if let Some(rows) = most {
            let rows = self.limit.map_or(rows, |limit| limit.min(rows));
            statistics.num_rows = Precision::Inexact(rows);
        }
        Ok(Arc::new(statistics))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    /// Takes the conditions that other parts of the plan find while they run; these only spare
    /// reading, so whoever has them still checks them.
    fn handle_child_pushdown_result(
        &self,
        phase: FilterPushdownPhase,
        result: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        let refused = vec![PushedDown::No; result.parent_filters.len()];
        let propagation = FilterPushdownPropagation::with_parent_pushdown_result(refused);
        if phase == FilterPushdownPhase::Pre || result.parent_filters.is_empty() {
            return Ok(propagation);
        }
        let mut narrowed = self.clone();
        narrowed.running.extend(result.parent_filters.into_iter().map(|filter| filter.filter));
        Ok(propagation.with_updated_node(Arc::new(narrowed)))
    }

    fn execute(&self, partition: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let Some(part) = self.parts.get(partition).cloned() else {
            return plan_err!("{} has no part {partition}", self.rows.name());
        };
        let scan = self.clone();
        // Parts that are read at the same time are in memory together.
        let at_once = (BATCH_ROWS / self.parts.len().max(1)).max(LEAST_ROWS);
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        // Nothing is read, and no condition looked at, before rows are asked for: what a join finds
        // on its other side is known then.
        let mut batches: Option<Batches> = None;
        let mut left = self.limit.unwrap_or(usize::MAX);
        let next = move || -> Option<Result<RecordBatch>> {
            if left == 0 {
                return None;
            }
            let reading = match &mut batches {
                Some(reading) => reading,
                None => {
                    let wanted = part.clone().and(&scan.running());
                    let rows = Arc::clone(&scan.rows);
                    let most = scan.limit.map_or(at_once, |limit| limit.clamp(1, at_once));
                    let kept = scan.in_memory(&wanted, LEAST_ROWS).transpose();
                    match kept.unwrap_or_else(|| rows.read(&wanted, most, &scan.control)) {
                        Ok(reading) => batches.insert(reading),
                        Err(error) => {
                            left = 0;
                            return Some(Err(error));
                        }
                    }
                }
            };
            let batch = reading.next()?;
            let batch = batch.and_then(|batch| {
                let batch = batch.slice(0, batch.num_rows().min(left));
                left -= batch.num_rows();
                metrics.record_output(batch.num_rows());
                match &scan.projection {
                    Some(columns) => Ok(project(&batch, columns)?),
                    None => Ok(batch),
                }
            });
            if batch.is_err() {
                left = 0;
            }
            Some(batch)
        };
        let stream = futures::stream::iter(std::iter::from_fn(next));
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), stream)))
    }
}

/// The chosen columns of a batch; where these are none, its number of rows.
fn project(batch: &RecordBatch, columns: &[usize]) -> Result<RecordBatch> {
    let schema = Arc::new(batch.schema().project(columns)?);
    let arrays = columns.iter().map(|&at| Arc::clone(batch.column(at))).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(schema, arrays, &options)?)
}
