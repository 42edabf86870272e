//! The named analyses by expressions: the answers of `balance`, `report` and `idleness`.

use parallax_analysis::balance::{
    Balance, BalanceRequest as Question, BalanceRow, Grouping, MemberRule, Pooling, balance,
    balance_by_function,
};
use parallax_analysis::idleness::{
    ContextBlame, CpuIdleness, CpuRow, GpuBlame, GpuProfiled, GpuRow, Idleness, IdlenessOptions,
    NO_ACTIVE_THREAD, SourceChoice, gpu_blame, idleness,
};
use parallax_analysis::report::{Report, ReportOptions, report};
use parallax_base::{ContextIdx, Control, MetricIdx};
use parallax_engine::query::{parse_contexts, parse_metrics};
use parallax_engine::resolve::{resolve_contexts, resolve_metric};
use parallax_engine::{LocationChoice, PruneRules, display_name};
use parallax_model::{ContextKind, IdentityKind, LocationCatalog, Scope};
use parallax_protocol::{
    self as protocol, BalanceBy, BalanceReply, BalanceRequest, BalanceTable, BalanceTableRow,
    BalanceTables, GpuBlameRow, GpuBlameTable, GpuIdlenessRow, GpuIdlenessTable, IdlenessRequest,
    IdlenessSource, IdlenessTable, IdlenessTables, NotesReply, ThreadIdlenessRow,
    ThreadIdlenessTable,
};

use crate::clusters::excluded_without;
use crate::options::program_locations;
use crate::timeline::path_names;
use crate::{Answer, Answers, OpenExperiment, ServiceError};

/// Functions that cost less than this share of the total, in per cent, are not compared unless the
/// user names them.
const WORTH_COMPARING: f64 = 1.0;

/// How evenly contexts cost, with how the metric was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct BalanceAnswer {
    /// The analysis.
    pub balance: Balance,
    /// Why this metric, where none is named.
    pub reason: Option<String>,
    /// The whole execution's inclusive cost over the chosen locations.
    pub total: f64,
}

impl OpenExperiment {
    pub(crate) fn metric(
        &self,
        expression: Option<&str>,
        control: &Control,
    ) -> Result<(MetricIdx, Option<String>), ServiceError> {
        let session = &self.session;
        Ok(match expression {
            Some(text) => {
                (resolve_metric(&session.experiment().metrics, &parse_metrics(text)?)?, None)
            }
            None => {
                let default = session.default_metric(control)?;
                (default.metric, default.reason)
            }
        })
    }

    /// The functions that are worth comparing when none are named; those of helper threads, which
    /// only wait, are not.
    pub(crate) fn costly_functions(
        &self,
        metric: MetricIdx,
        control: &Control,
    ) -> Result<Vec<ContextIdx>, ServiceError> {
        let session = &self.session;
        let tree = session.tree();
        let helpers = self.helpers();
        let costs = session.costs(metric, &LocationChoice::All, control)?;
        let costs = helpers.excluded(tree, &costs).unwrap_or(costs);
        let rules = PruneRules {
            mpi_internals: true,
            lines_and_loops: true,
            below_percent: Some(WORTH_COMPARING),
            ..PruneRules::default()
        };
        let view = rules.apply(tree, Some(&costs));
        let is_selected = |context: &ContextIdx| {
            tree.kind(*context) == ContextKind::Function && !helpers.has(*context)
        };
        Ok(view.contexts().iter().copied().filter(is_selected).collect())
    }

    /// How evenly contexts cost over locations, ranks or nodes.
    ///
    /// # Errors
    /// When an expression is wrong, or the values cannot be read.
    pub fn balance(
        &self,
        request: &BalanceRequest,
        control: &Control,
    ) -> Result<Answer<BalanceAnswer>, ServiceError> {
        self.needs_whole_trace()?;
        let session = &self.session;
        let mut notes = Vec::new();
        let (metric, reason) = self.metric(request.metric.as_deref(), control)?;
        let (profiles, helpers) = (request.profiles.as_deref(), request.helpers);
        let locations = program_locations(self, profiles, helpers, &mut notes, control)?;
        let contexts = match &request.contexts {
            Some(text) => {
                let (contexts, more) = resolve_contexts(session, &parse_contexts(text)?, control)?;
                notes.extend(more);
                contexts
            }
            None => self.costly_functions(metric, control)?,
        };
        let chosen = locations.clone();
        let tree = session.tree();
        // A function of which nothing is known is in no group of functions of one name.
        let is_function = |&context: &ContextIdx| {
            tree.kind(context) == ContextKind::Function && tree.function(context).is_some()
        };
        let only_functions = contexts.iter().all(is_function);
        let question = Question {
            scope: if request.is_exclusive { Scope::Exclusive } else { Scope::Inclusive },
            locations,
            grouping: match request.by {
                BalanceBy::Profile => Grouping::Location,
                BalanceBy::Rank => Grouping::Identity(IdentityKind::Rank),
                BalanceBy::Node => Grouping::Identity(IdentityKind::Node),
            },
            members: if request.all_locations { MemberRule::Ran } else { MemberRule::TakesPart },
            num_slowest: request.slowest as usize,
            ..Question::new(metric, contexts)
        };
        let balance = if request.by_context || !only_functions {
            balance(session, &question, control)?
        } else {
            balance_by_function(session, &question, Pooling::PerMember, control)?
        };
        if balance.num_ungrouped > 0 {
            notes.push(excluded_without(balance.num_ungrouped as u64, balance.grouping.name()));
        }
        if balance.num_wrapped > 0 {
            notes.push(format!(
                "{} values are wrapped counters or not numbers; they are excluded.",
                balance.num_wrapped
            ));
        }
        notes.extend(balance.added_note());
        let total = session.total_over(metric, &chosen, control)?;
        Ok(Answer { value: BalanceAnswer { balance, reason, total }, notes })
    }

    /// Where the cost of the whole execution goes, and what bounds the program.
    /// `metric` is a metric expression; `None` for the metric that says most about time.
    ///
    /// # Errors
    /// When the expression is wrong, or the values cannot be read.
    pub fn report(&self, metric: Option<&str>, control: &Control) -> Result<Report, ServiceError> {
        let metric = match metric {
            Some(_) => Some(self.metric(metric, control)?.0),
            None => None,
        };
        Ok(report(&self.session, &ReportOptions { metric, ..ReportOptions::default() }, control)?)
    }

    /// When GPUs had nothing to do, and when threads did not work.
    ///
    /// # Errors
    /// When the expression is wrong, or samples or values cannot be read.
    pub fn idleness(
        &self,
        metric: Option<&str>,
        source: SourceChoice,
        control: &Control,
    ) -> Result<Idleness, ServiceError> {
        self.needs_whole_trace()?;
        let metric = match metric {
            Some(_) => Some(self.metric(metric, control)?.0),
            None => None,
        };
        Ok(idleness(&self.session, &IdlenessOptions { source, metric }, control)?)
    }

    /// What the threads of each rank did while its GPUs had nothing to do: needs traces.
    /// [`OpenExperiment::blame_table`] makes a table of it.
    ///
    /// # Errors
    /// When there are no traces, they cannot be read, or the question is withdrawn.
    pub fn gpu_blame(&self, control: &Control) -> Result<Answer<GpuBlame>, ServiceError> {
        let blame = gpu_blame(&self.session, control)?;
        let mut notes = Vec::new();
        if blame.ranks.is_empty() {
            notes.push("No GPU streams in this trace.".to_owned());
            return Ok(Answer { value: blame, notes });
        }
        notes.push(
            "Blame: idle time of a GPU, shared equally among the active threads of its ranks; calls \
             of MPI, GPU runtimes and system libraries are not expanded."
                .into(),
        );
        let alone = blame.ranks.iter().filter(|rank| rank.num_threads == 0).count();
        if alone > 0 {
            notes.push(format!(
                "{alone} of {} GPUs have no thread traces: their idle time is not attributed.",
                blame.ranks.len()
            ));
        }
        Ok(Answer { value: blame, notes })
    }
}

impl Answers<BalanceRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &BalanceRequest,
        control: &Control,
    ) -> Result<protocol::Answer<BalanceRequest>, ServiceError> {
        let Answer { value: found, notes } = self.balance(request, control)?;
        let reply = BalanceReply { reason: found.reason, total: found.total, notes };
        let rows = self.balance_table(&found.balance);
        let unit = found.balance.unit.to_string();
        Ok(protocol::Answer { unit, ..protocol::Answer::new(reply, BalanceTables { rows }) })
    }
}

impl Answers<IdlenessRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &IdlenessRequest,
        control: &Control,
    ) -> Result<protocol::Answer<IdlenessRequest>, ServiceError> {
        if request.blame {
            let Answer { value: blame, notes } = self.gpu_blame(control)?;
            let rows = IdlenessTable::Blame(self.blame_table(&blame));
            return Ok(protocol::Answer::new(NotesReply { notes }, IdlenessTables { rows }));
        }
        let source = match request.source {
            IdlenessSource::Best => SourceChoice::Best,
            IdlenessSource::Trace => SourceChoice::Trace,
            IdlenessSource::Profile => SourceChoice::Profile,
        };
        let found = self.idleness(request.metric.as_deref(), source, control)?;
        let (rows, unit) = match &found.cpu {
            Some(cpu) => (IdlenessTable::Threads(thread_table(cpu)), cpu.unit.to_string()),
            None => (
                IdlenessTable::Gpus(gpu_table(&found, &self.session.experiment().locations)),
                String::new(),
            ),
        };
        let notes = found.notes;
        let answer = protocol::Answer::new(NotesReply { notes }, IdlenessTables { rows });
        Ok(protocol::Answer { unit, ..answer })
    }
}

/// Threads, helper threads included.
#[must_use]
pub fn thread_table(cpu: &CpuIdleness) -> ThreadIdlenessTable {
    let row = |row: &CpuRow| {
        let times = &row.times;
        ThreadIdlenessRow {
            profile_id: row.location.get(),
            location: row.label.clone(),
            whole: times.whole,
            working: times.working(),
            idle: times.idle(),
            idle_percent: times.percent(times.idle()),
            not_running: times.not_running,
            openmp_idle: times.openmp_idle,
            openmp_wait: times.openmp_wait,
            mpi: times.mpi,
            other_wait: times.other_wait,
            without_core: times.without_core,
            kind: if row.is_helper { "helper" } else { "thread" },
        }
    };
    cpu.rows.iter().map(row).collect()
}

/// GPUs, by rank or node where each has one of its own.
#[must_use]
pub fn gpu_table(found: &Idleness, locations: &LocationCatalog) -> GpuIdlenessTable {
    let seconds = |nanos: u64| nanos as f64 / 1e9;
    let row = |row: &GpuRow| GpuIdlenessRow {
        group: row.group.label(locations),
        streams: row.traced.map_or(0, |traced| traced.num_streams as u64),
        trace_span: row.traced.map(|traced| seconds(traced.span_nanos)),
        trace_active: row.traced.map(|traced| seconds(traced.active_nanos)),
        trace_idle: row.traced.map(|traced| seconds(traced.idle_nanos())),
        trace_idle_percent: (row.traced.filter(|traced| traced.span_nanos > 0))
            .map(|t| t.idle_nanos() as f64 / t.span_nanos as f64 * 100.0),
        thread_time: row.profiled.map(|profiled| profiled.thread_seconds),
        operation_time: row.profiled.map(|profiled| profiled.operation_seconds),
        profile_idle: row.profiled.map(GpuProfiled::idle_seconds),
    };
    found.gpu.iter().map(row).collect()
}

impl OpenExperiment {
    /// The rows of a balance, in their order.
    #[must_use]
    pub fn balance_table(&self, balance: &Balance) -> BalanceTable {
        let tree = self.session.tree();
        let row = |row: &BalanceRow| {
            let labels: Vec<String> =
                tree.path(row.context).into_iter().map(|context| tree.label(context)).collect();
            let spread = &row.distribution;
            let [p5, p25, p50, p75, p95] = spread.percentiles;
            let bins: Vec<String> = spread.histogram.iter().map(ToString::to_string).collect();
            BalanceTableRow {
                context_id: tree.source_id(row.context),
                name: row.name.clone(),
                path: labels.join(" > "),
                contexts: row.num_contexts as u64,
                members: spread.num_members as u64,
                with_value: spread.num_values as u64,
                absent: row.num_absent as u64,
                saving: spread.saving,
                wasted: spread.wasted,
                balance_ratio: spread.balance_ratio,
                imbalance: spread.imbalance,
                sum: spread.sum,
                mean: spread.mean,
                min: spread.min,
                p5,
                p25,
                p50,
                p75,
                p95,
                max: spread.max,
                variance: spread.variance,
                std_dev: spread.std_dev,
                variation: spread.variation,
                slowest: balance.slowest_labels(row).collect::<Vec<_>>().join(", "),
                histogram: bins.join(" "),
            }
        };
        balance.rows.iter().map(row).collect()
    }

    /// What threads did while GPUs had nothing to do, with one row for unattributed idle time; the largest first.
    #[must_use]
    pub fn blame_table(&self, blame: &GpuBlame) -> GpuBlameTable {
        let tree = self.session.tree();
        let (idle, unattributed) = (blame.idle_nanos(), blame.unattributed_nanos());
        let row = |r: &ContextBlame| (Some(r.context), r.exclusive_nanos, r.inclusive_nanos);
        let mut rows: Vec<_> = blame.calls.iter().map(row).collect();
        if unattributed > 0 {
            let at = rows.partition_point(|row| row.1 >= unattributed);
            rows.insert(at, (None, unattributed, unattributed));
        }
        let share = |nanos: u128| match idle {
            0 => 0.0,
            idle => nanos as f64 / idle as f64 * 100.0,
        };
        let row = |(context, exclusive, inclusive): (Option<ContextIdx>, u128, u128)| GpuBlameRow {
            idle_percent: share(exclusive),
            idle: exclusive as f64 / 1e9,
            idle_with_calls: inclusive as f64 / 1e9,
            context_id: context.map(|context| u64::from(tree.source_id(context))),
            call_path: context.map_or_else(|| NO_ACTIVE_THREAD.to_owned(), |c| self.call_path(c)),
        };
        rows.into_iter().map(row).collect()
    }

    /// The functions that lead to a context, outermost first: `main > initMC > cudaMallocManaged`.
    #[must_use]
    pub fn call_path(&self, context: ContextIdx) -> String {
        self.functions_to(context).join(" > ")
    }

    /// The same with names as short as they can be: without entry, arguments and libraries.
    #[must_use]
    pub fn short_call_path(&self, context: ContextIdx) -> String {
        let names = self.functions_to(context);
        let from =
            usize::from(names.len() > 1 && names.first().is_some_and(|n| n.starts_with('<')));
        let names: Vec<String> = names.iter().skip(from).map(|name| display_name(name)).collect();
        names.join(" > ")
    }

    fn functions_to(&self, context: ContextIdx) -> Vec<String> {
        let tree = self.session.tree();
        let is_named = |c: ContextIdx| {
            c == context || matches!(tree.kind(c), ContextKind::Function | ContextKind::Entry)
        };
        let names = path_names(tree, context, is_named, |at| tree.label(at));
        if names.is_empty() { vec![tree.label(context)] } else { names }
    }
}
