//! [`ScanTable`]: a table that reads only what a query wants of it.
//!
//! Conditions on ids and times go down to the [`Rows`] of a table: those of the query when it is
//! planned, and those that a join finds while it runs, which is when reading begins.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics};
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

    /// Reads what is wanted. The first batches should not be much larger than `most` rows, where no
    /// more are needed.
    ///
    /// # Errors
    /// When the data cannot be read.
    fn read(
        self: Arc<Self>,
        wanted: &Wanted,
        most: Option<usize>,
        control: &Control,
    ) -> Result<Batches>;
}

/// A table whose rows are read when a query wants them.
pub(crate) struct ScanTable {
    pub(crate) rows: Arc<dyn Rows>,
    pub(crate) opened: Arc<OpenExperiment>,
    pub(crate) control: Control,
}

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
        let rows = Arc::clone(&self.rows);
        Ok(Arc::new(Scan::new(rows, wanted, projection.cloned(), limit, self.control.clone())?))
    }
}

/// A part of a plan that reads a table.
#[derive(Clone)]
struct Scan {
    rows: Arc<dyn Rows>,
    wanted: Wanted,
    /// What other parts of the plan find while they run.
    running: Vec<Arc<dyn PhysicalExpr>>,
    projection: Option<Vec<usize>>,
    limit: Option<usize>,
    control: Control,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl Scan {
    fn new(
        rows: Arc<dyn Rows>,
        wanted: Wanted,
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
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Ok(Self {
            rows,
            wanted,
            running: Vec::new(),
            projection,
            limit,
            control,
            schema,
            properties: Arc::new(properties),
            metrics: ExecutionPlanMetricsSet::new(),
        })
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
        _: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        let mut statistics = Statistics::new_unknown(&self.schema);
        let most = self.rows.estimate(&self.wanted).and_then(|rows| usize::try_from(rows).ok());
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
        let scan = self.clone();
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
                    let (exact, others) = scan.rows.keys();
                    let known = [exact, others].concat();
                    let wanted = scan.running.iter().fold(scan.wanted.clone(), |so_far, more| {
                        so_far.and(&of_running(more).only(&known))
                    });
                    let rows = Arc::clone(&scan.rows);
                    match rows.read(&wanted, scan.limit, &scan.control) {
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
