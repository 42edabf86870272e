//! SQL over an open experiment or ensemble: its tables, functions of its tree and of time, and every
//! question of the protocol as a function that gives a table.
//!
//! Invariants: a statement only reads, and only what is open; no number is computed here that the
//! service does not give, except by what the statement itself says.

mod bridge;
mod computed;
mod device;
mod dialect;
mod distribute;
mod filters;
mod functions;
mod in_memory;
mod kept;
mod numbers;
mod order;
mod questions;
mod scan;
mod schema;
mod source;
mod spare;
mod statement;
mod stores;
mod subtree;
mod sums;
mod tables;
mod task;
mod withdrawal;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use datafusion::arrow::record_batch::RecordBatch;
use datafusion::catalog::{CatalogProvider, MemoryCatalogProvider};
use datafusion::common::DataFusionError;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder};
use datafusion::physical_plan::{ExecutionPlan, collect_partitioned};
use datafusion::prelude::{SQLOptions, SessionConfig, SessionContext};
use datafusion::sql::parser::Statement;
use parallax_base::Control;
use parallax_protocol::Table;
use parallax_service::ServiceError;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use computed::Computed;
pub use device::{SqlDevice, SqlStep};
use distribute::Distribute;
use in_memory::FromMemory;
use kept::{GivingWay, Keeper, Kept};
use order::TableOrder;
use questions::Notes;
pub use source::SqlSource;
use task::Planned;
pub use task::{SqlRoom, SqlTask, SqlWorkers};
use withdrawal::Withdrawal;

/// Why a statement has no result.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum SqlError {
    /// The statement is wrong: its syntax, a name, a type, or it would not only read.
    #[error("{0}")]
    Misuse(String),
    /// A table cannot be read.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// It was withdrawn.
    #[error("cancelled")]
    Cancelled,
    /// It took longer than it may.
    #[error("the statement takes longer than {} s; allow more, or ask for less", .0.as_secs_f64())]
    TooLong(Duration),
    /// It needs more memory than it may have.
    #[error("the statement needs more memory than it may have; allow more, or ask for less: {0}")]
    Memory(String),
    /// It cannot be computed.
    #[error("{0}")]
    Failed(String),
}

impl SqlError {
    /// Whether the person who asked can put it right by asking otherwise.
    #[must_use]
    pub fn is_misuse(&self) -> bool {
        match self {
            Self::Misuse(_) => true,
            Self::Service(error) => error.is_misuse(),
            _ => false,
        }
    }

    /// What an error of DataFusion means.
    #[expect(clippy::needless_pass_by_value, reason = "what `map_err` gives")]
    fn of(error: DataFusionError) -> Self {
        let root = error.find_root();
        if let DataFusionError::External(cause) = root
            && let Some(error) = cause.downcast_ref::<Self>()
        {
            return error.clone();
        }
        if let DataFusionError::External(cause) = root
            && let Some(error) = cause.downcast_ref::<ServiceError>()
        {
            return match error.is_cancelled() {
                true => Self::Cancelled,
                false => Self::Service(error.clone()),
            };
        }
        // Without the name of the kind of error, which says nothing to who asked.
        let mut text = root.message().trim().to_owned();
        // As errors of syntax have it.
        if let Some(place) = error.diagnostic().and_then(|known| known.span).map(|span| span.start)
            && !text.contains("at Line: ")
        {
            text = format!("{text} at Line: {}, Column: {}", place.line, place.column);
        }
        match root {
            DataFusionError::ResourcesExhausted(_) => Self::Memory(text),
            DataFusionError::SQL(..)
            | DataFusionError::Plan(_)
            | DataFusionError::SchemaError(..)
            | DataFusionError::NotImplemented(_)
            | DataFusionError::Configuration(_) => Self::Misuse(text),
            _ => Self::Failed(text),
        }
    }
}

/// What a statement may use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SqlLimits {
    /// Bytes for sorting, grouping and joining; beyond it goes to temporary files where an operation
    /// can, and fails where it cannot. `None` for no limit.
    pub memory_bytes: Option<u64>,
    /// How long it may take. `None` for no limit.
    pub time: Option<Duration>,
    /// Bytes of tables that stay in memory when a second statement has read all of them. `None` for
    /// half of `memory_bytes`, or 1 GiB where that has no limit.
    pub kept_bytes: Option<u64>,
}

/// A statement that only reads.
#[derive(Debug, Clone, PartialEq)]
pub struct SqlStatement(Statement);

impl SqlStatement {
    /// The statements of a text; `;` separates them.
    ///
    /// # Errors
    /// When one cannot be understood, or does not only read.
    pub fn all(text: &str) -> Result<Vec<Self>, SqlError> {
        Ok(statement::read(text)?.into_iter().map(Self).collect())
    }

    /// The only statement of a text.
    ///
    /// # Errors
    /// As [`SqlStatement::all`], and when there are several statements, or none.
    pub fn only(text: &str) -> Result<Self, SqlError> {
        let mut statements = Self::all(text)?;
        match (statements.pop(), statements.is_empty()) {
            (Some(statement), true) => Ok(statement),
            (None, _) => Err(SqlError::Misuse("there is no statement; write SELECT ...".into())),
            (Some(_), false) => Err(SqlError::Misuse(
                "there are several statements; write one, without `;` in between".into(),
            )),
        }
    }
}

/// What a statement gives.
#[derive(Debug, Clone)]
pub struct SqlAnswer {
    /// The rows.
    pub table: Table,
    /// Remarks of the questions that it asks, such as that nothing was found and why.
    pub notes: Vec<String>,
    /// The tables that were in memory, and not read.
    pub from_memory: Vec<&'static str>,
    /// Where steps over these ran; nothing where only the processor was asked for.
    pub steps: Vec<SqlStep>,
}

/// What computes statements: threads, and memory that all statements have together.
pub struct SqlEngine {
    limits: SqlLimits,
    environment: Arc<RuntimeEnv>,
    runtime: Option<Runtime>,
    /// Tables that stay in memory from one statement to the next.
    kept: Arc<Kept>,
}

/// An experiment or ensemble that answers statements.
pub struct SqlSession {
    source: SqlSource,
    engine: Arc<SqlEngine>,
    /// How many interrupts there were, where they are heard.
    interrupts: Option<Arc<AtomicU64>>,
    /// Those who compute parts of statements, and the rows of a part.
    workers: Option<(Arc<dyn SqlWorkers>, u64)>,
    /// Tables of the statements of which parts were computed for others, the latest first.
    computed: Mutex<Vec<(Planned, Computed)>>,
}

/// Statements whose tables are kept while their parts are computed.
const MOST_KNOWN: usize = 2;

/// Parts for each worker at a time, so that all end at about the same time.
const PARTS_PER_LANE: usize = 3;
/// Parts of all workers that are asked for at the same time, each by a thread.
const MOST_LANES: usize = 1000;

/// How often the clock and the control are looked at while a statement runs.
const PAUSE: Duration = Duration::from_millis(20);

/// The schema with the tables.
const SCHEMA: &str = "public";
/// The catalog with that schema.
const CATALOG: &str = "parallax";

impl SqlEngine {
    /// An engine whose statements may use so much.
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn new(limits: SqlLimits) -> Result<Self, SqlError> {
        Self::on_device(limits, SqlDevice::processor())
    }

    /// An engine whose statements may use so much, and a device for steps over tables in memory.
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn on_device(limits: SqlLimits, device: SqlDevice) -> Result<Self, SqlError> {
        let kept = Arc::new(Kept::new(limits.kept_bytes, limits.memory_bytes, device));
        // Without a limit of memory nothing is written anywhere.
        let mode = match limits.memory_bytes {
            Some(_) => DiskManagerMode::OsTmpDirectory,
            None => DiskManagerMode::Disabled,
        };
        let mut builder = RuntimeEnvBuilder::new()
            .with_object_store_registry(Arc::new(stores::NoStores))
            .with_disk_manager_builder(DiskManagerBuilder::default().with_mode(mode));
        if let Some(bytes) = limits.memory_bytes {
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            let (pool, kept) = (FairSpillPool::new(bytes), Arc::downgrade(&kept));
            builder = builder.with_memory_pool(Arc::new(GivingWay { pool, kept }));
        }
        let environment = builder.build_arc().map_err(SqlError::of)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            // What DataFusion visits without growing the stack is at most as deep as a statement;
            // where nothing is optimised, a level takes tens of kilobytes.
            .thread_stack_size(64 << 20)
            // Some are left for temporary files.
            .max_blocking_threads(MOST_LANES + 100)
            .build();
        let runtime = runtime.map_err(|error| SqlError::Failed(error.to_string()))?;
        Ok(Self { limits, environment, runtime: Some(runtime), kept })
    }

    /// A session over an experiment or an ensemble.
    pub fn session(self: &Arc<Self>, source: impl Into<SqlSource>) -> SqlSession {
        let (source, engine) = (source.into(), Arc::clone(self));
        let (interrupts, workers, computed) = (None, None, Mutex::default());
        SqlSession { source, engine, interrupts, workers, computed }
    }
}

impl SqlSession {
    /// A session over an experiment or an ensemble, with an engine of its own.
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn new(source: impl Into<SqlSource>, limits: SqlLimits) -> Result<Self, SqlError> {
        Ok(Arc::new(SqlEngine::new(limits)?).session(source))
    }

    /// The same, whose statements have parts computed by others: those that read a table of which a
    /// part has about `part_rows` rows or more.
    #[must_use]
    pub fn with_workers(mut self, workers: Arc<dyn SqlWorkers>, part_rows: u64) -> Self {
        self.workers = Some((workers, part_rows.max(1)));
        self
    }

    /// The same, whose statements an interrupt from the terminal withdraws. From then on the process
    /// is not ended by interrupts; a program that handles them itself withdraws by the control.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn hearing_interrupts(mut self) -> Result<Self, SqlError> {
        let interrupts = count_interrupts().map_err(|error| SqlError::Failed(error.to_string()))?;
        self.interrupts = Some(interrupts);
        Ok(self)
    }

    /// What statements are asked of.
    #[must_use]
    pub fn source(&self) -> &SqlSource {
        &self.source
    }

    /// What the only statement of a text gives. Cancelling `control` withdraws it.
    ///
    /// # Errors
    /// As [`SqlSession::run`], and when there are several statements, or none.
    pub fn query(&self, text: &str, control: &Control) -> Result<Table, SqlError> {
        Ok(self.run(SqlStatement::only(text)?, control)?.table)
    }

    /// What a statement gives. Cancelling `control` withdraws it.
    ///
    /// # Errors
    /// When the statement is wrong, when data cannot be read, when it exceeds its limits, or when it
    /// is withdrawn.
    pub fn run(&self, statement: SqlStatement, control: &Control) -> Result<SqlAnswer, SqlError> {
        Ok(self.run_at_most(statement, None, control)?.0)
    }

    /// The first `rows` rows of what a statement gives, and whether there are more; further rows are
    /// not computed where the statement allows it. Cancelling `control` withdraws it.
    ///
    /// # Errors
    /// As [`SqlSession::run`].
    pub fn run_first(
        &self,
        statement: SqlStatement,
        rows: usize,
        control: &Control,
    ) -> Result<(SqlAnswer, bool), SqlError> {
        self.run_at_most(statement, Some(rows), control)
    }

    fn run_at_most(
        &self,
        statement: SqlStatement,
        most: Option<usize>,
        control: &Control,
    ) -> Result<(SqlAnswer, bool), SqlError> {
        let notes = Notes::default();
        let planned = self.planned(statement.0.to_string());
        // Others read the text again, without a limit of rows; they would plan something else where
        // that is another statement.
        let is_exact = most.is_none()
            && SqlStatement::only(&planned.statement).is_ok_and(|again| again == statement);
        let others = self.workers.as_ref().filter(|_| is_exact).map(|(workers, _)| Distribute {
            workers: Arc::clone(workers),
            planned: planned.clone(),
            control: control.clone(),
            lanes: Arc::new(Semaphore::new(workers.lanes().clamp(1, MOST_LANES))),
        });
        if self.workers.is_some() && !is_exact {
            let what = "this statement cannot be sent to executors and is computed here";
            notes.lock().unwrap_or_else(PoisonError::into_inner).push(what.to_owned());
        }
        let keeper = self.keeper();
        let own = Own { others, keeper: keeper.clone() };
        let context = self.context(control, &notes, &planned, &Computed::default(), own)?;
        let work = computed(context, statement.0, planned.begun, most);
        let (table, is_cut) = self.waited(work, control)?;
        let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
        let notes = std::mem::take(&mut *notes);
        let from_memory = keeper.as_ref().map(Keeper::used).unwrap_or_default();
        let steps = keeper.as_ref().map(Keeper::steps).unwrap_or_default();
        Ok((SqlAnswer { table, notes, from_memory, steps }, is_cut))
    }

    /// What a statement has of tables in memory. None where others compute parts: their plans would
    /// not be the same, and they read for all.
    fn keeper(&self) -> Option<Keeper> {
        let SqlSource::Experiment(opened) = &self.source else { return None };
        let pool = &self.engine.environment.memory_pool;
        let keeper = Keeper::new(&self.engine.kept, opened, pool);
        self.workers.is_none().then_some(keeper)
    }

    /// What `work` gives, unless it is withdrawn or takes too long.
    fn waited<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, DataFusionError>> + Send + 'static,
        control: &Control,
    ) -> Result<T, SqlError> {
        let Some(runtime) = &self.engine.runtime else { return Err(SqlError::Cancelled) };
        // Waited for here and not by the runtime, whose threads may be busy with other statements.
        let (send, receive) = mpsc::sync_channel(1);
        let work = runtime.spawn(async move {
            // Nobody waits any more where the statement was withdrawn.
            let _ = send.send(work.await);
        });
        let (since, limit) = (Instant::now(), self.engine.limits.time);
        let interrupts = || self.interrupts.as_ref().map(|seen| seen.load(Ordering::Relaxed));
        let before = interrupts();
        let why = loop {
            match receive.recv_timeout(PAUSE) {
                Ok(done) => return done.map_err(SqlError::of),
                Err(RecvTimeoutError::Disconnected) => {
                    break SqlError::Failed(DEFECT.to_owned());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if control.check().is_err() || interrupts() != before {
                break SqlError::Cancelled;
            }
            if let Some(limit) = limit
                && since.elapsed() > limit
            {
                break SqlError::TooLong(limit);
            }
        };
        // Whatever still reads stops as well.
        control.cancel();
        work.abort();
        Err(why)
    }

    /// Computes a part of a statement for another process, and gives its bytes to `give` as they are
    /// computed. Cancelling `control` withdraws it. Gives the number of rows.
    ///
    /// # Errors
    /// When the part is of another plan, when data cannot be read, when it exceeds its limits, when
    /// it is withdrawn, and errors of `give`.
    pub fn part(
        &self,
        task: &SqlTask,
        control: &Control,
        give: &mut dyn FnMut(Vec<u8>) -> Result<(), SqlError>,
    ) -> Result<u64, SqlError> {
        let Some(runtime) = &self.engine.runtime else { return Err(SqlError::Cancelled) };
        let statement = SqlStatement::only(&task.planned.statement)?;
        let computed = self.computed_for(&task.planned);
        let own = Own::default();
        let context = self.context(control, &Notes::default(), &task.planned, &computed, own)?;
        // Few batches wait for whoever takes them.
        let (send, receive) = mpsc::sync_channel(2);
        let task = task.clone();
        let ended = send.clone();
        let work = runtime.spawn(async move {
            let rows = async {
                let (plan, state) = planned(context, statement.0, task.planned.begun, None).await?;
                let part = distribute::part_of(&plan, &task)?;
                let give = |bytes| send.send(Piece::Rows(bytes)).is_ok();
                distribute::written(part, state.task_ctx(), give).await
            };
            // Nobody waits any more where the part was withdrawn.
            let _ = ended.send(Piece::End(rows.await));
        });
        let why = loop {
            match receive.recv_timeout(PAUSE) {
                Ok(Piece::Rows(bytes)) => {
                    if let Err(error) = give(bytes) {
                        break error;
                    }
                }
                Ok(Piece::End(rows)) => return rows.map_err(SqlError::of),
                Err(RecvTimeoutError::Disconnected) => break SqlError::Failed(DEFECT.to_owned()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if control.check().is_err() {
                break SqlError::Cancelled;
            }
        };
        control.cancel();
        work.abort();
        Err(why)
    }

    /// The tables that earlier parts of a statement have computed.
    fn computed_for(&self, planned: &Planned) -> Computed {
        let mut known = self.computed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, computed)) = known.iter().find(|(of, _)| of == planned) {
            return computed.clone();
        }
        let computed = Computed::default();
        known.truncate(MOST_KNOWN - 1);
        known.insert(0, (planned.clone(), computed.clone()));
        computed
    }

    /// What the plan of a statement follows from.
    fn planned(&self, statement: String) -> Planned {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let cut = match &self.workers {
            Some((workers, rows)) => {
                let parts = workers.lanes().clamp(1, MOST_LANES) * PARTS_PER_LANE;
                scan::Cut { parts, rows: *rows }
            }
            None => scan::Cut { parts: threads, rows: scan::PART_ROWS },
        };
        Planned { statement, begun: SystemTime::now(), threads, cut }
    }

    /// Names that statements may use, for completion: tables and functions.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let tables = tables::of(&self.source).iter().map(|table| table.name.to_owned());
        let functions = questions::functions(&self.source).into_iter();
        tables.chain(functions.map(|named| named.function)).collect()
    }

    /// What one statement is planned with.
    fn context(
        &self,
        control: &Control,
        notes: &Notes,
        planned: &Planned,
        computed: &Computed,
        own: Own,
    ) -> Result<SessionContext, SqlError> {
        let mut config = SessionConfig::new()
            .with_target_partitions(planned.threads)
            .with_information_schema(true)
            .with_default_catalog_and_schema(CATALOG, SCHEMA)
            .with_create_default_catalog_and_schema(false);
        let options = config.options_mut();
        // Errors then say where in the statement they are.
        options.sql_parser.collect_spans = true;
        // One table of the smaller side of a join: its keys say what to read of the other side.
        options.optimizer.prefer_hash_join = true;
        options.optimizer.hash_join_single_partition_threshold = 256 << 20;
        options.optimizer.hash_join_single_partition_threshold_rows = 16 << 20;
        let mut builder = SessionStateBuilder::new()
            .with_config(config)
            .with_runtime_env(Arc::clone(&self.engine.environment))
            .with_default_features()
            .with_physical_optimizer_rule(Arc::new(TableOrder));
        if own.keeper.is_some() {
            builder = builder.with_physical_optimizer_rule(Arc::new(FromMemory(control.clone())));
        }
        builder = builder.with_physical_optimizer_rule(Arc::new(Withdrawal(control.clone())));
        // After all others, which see the same plan everywhere.
        if let Some(others) = own.others {
            builder = builder.with_physical_optimizer_rule(Arc::new(others));
        }
        let state = builder.build();
        let context = SessionContext::new_with_state(state);
        let catalog = Arc::new(MemoryCatalogProvider::new());
        let schema = tables::Catalogue {
            source: self.source.clone(),
            control: control.clone(),
            notes: Arc::clone(notes),
            cut: planned.cut,
            computed: computed.clone(),
            keeper: own.keeper,
        };
        catalog.register_schema(SCHEMA, Arc::new(schema)).map_err(SqlError::of)?;
        context.register_catalog(CATALOG, catalog);
        for function in functions::all(&self.source) {
            context.register_udf(function);
        }
        for function in sums::all() {
            context.register_udaf(function);
        }
        if let SqlSource::Experiment(opened) = &self.source {
            let (opened, control) = (Arc::clone(opened), control.clone());
            let subtree = subtree::Subtree { opened, control, computed: computed.clone() };
            context.register_udtf(subtree::NAME, Arc::new(subtree));
        }
        for named in questions::asked_of(&self.source) {
            let name = named.function.clone();
            let source = self.source.clone();
            let (control, notes) = (control.clone(), Arc::clone(notes));
            let computed = computed.clone();
            let function = questions::Function { named, source, control, notes, computed };
            context.register_udtf(&name, Arc::new(function));
        }
        Ok(context)
    }
}

/// What a statement is planned with by who asks it, and not by others who compute its parts.
#[derive(Default)]
struct Own {
    /// What has parts computed by others.
    others: Option<Distribute>,
    /// What has tables in memory.
    keeper: Option<Keeper>,
}

/// What a part gives while it is computed.
enum Piece {
    Rows(Vec<u8>),
    End(Result<u64, DataFusionError>),
}

/// What must not happen.
const DEFECT: &str = "the statement ended without a result; this is a defect of Parallax";

/// The plan of a statement that only reads, of at most so many rows, and what it is computed in.
async fn planned(
    context: SessionContext,
    statement: Statement,
    begun: SystemTime,
    most: Option<usize>,
) -> Result<(Arc<dyn ExecutionPlan>, SessionState), DataFusionError> {
    let mut state = context.state();
    state.execution_props_mut().query_execution_start_time = Some(begun.into());
    let mut plan = state.statement_to_plan(statement).await?;
    let reads =
        SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    reads.verify_plan(&plan).map_err(|error| {
        let what = error.strip_backtrace();
        DataFusionError::Plan(format!("statements only read; write SELECT: {what}"))
    })?;
    // Descriptions are short, and no part of a larger plan.
    let is_description = matches!(
        plan,
        LogicalPlan::Explain(_) | LogicalPlan::Analyze(_) | LogicalPlan::DescribeTable(_)
    );
    if let Some(most) = most.filter(|_| !is_description) {
        plan = LogicalPlanBuilder::from(plan).limit(0, Some(most))?.build()?;
    }
    Ok((state.create_physical_plan(&plan).await?, state))
}

/// The result of a statement: all of it, or at most so many rows and whether there are more.
async fn computed(
    context: SessionContext,
    statement: Statement,
    begun: SystemTime,
    most: Option<usize>,
) -> Result<(Table, bool), DataFusionError> {
    // One row more tells whether there are more.
    let wanted = most.map(|most| most.saturating_add(1));
    let (plan, state) = planned(context, statement, begun, wanted).await?;
    let schema = plan.schema();
    // Parts in their order, not in that in which they end.
    let parts = collect_partitioned(plan, state.task_ctx()).await?;
    let batches: Vec<RecordBatch> = parts.into_iter().flatten().collect();
    let schema = batches.first().map_or(schema, RecordBatch::schema);
    let mut table = bridge::table(&schema, &batches)?;
    let is_cut = most.is_some_and(|most| table.num_rows() > most);
    if let Some(most) = most.filter(|_| is_cut) {
        for column in &mut table.columns {
            column.values = column.values.slice(0, most);
        }
    }
    Ok((table, is_cut))
}

/// Counts interrupts from the terminal from now on.
fn count_interrupts() -> Result<Arc<AtomicU64>, std::io::Error> {
    let seen = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&seen);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let listen = async move {
        while tokio::signal::ctrl_c().await.is_ok() {
            count.fetch_add(1, Ordering::Relaxed);
        }
    };
    let thread = std::thread::Builder::new().name("interrupts".to_owned());
    thread.spawn(move || runtime.block_on(listen))?;
    Ok(seen)
}

impl Drop for SqlEngine {
    fn drop(&mut self) {
        // A statement that was withdrawn may still read its last part; nobody waits for it.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
