//! The report: where the cost of a whole execution goes, and what bounds the program.
//!
//! It follows hpcreport of hpcanalysis (CPU total, MPI by class, OpenMP by placeholder, GPU by
//! metric family), with four differences:
//!
//! - The classes are disjoint and add up to the total. The cost of a class is the inclusive cost
//!   of the outermost contexts of the class, without contexts of other classes further inside; for
//!   MPI, inside which nothing else is distinguished, that is the inclusive cost at the outermost
//!   routine, so that a routine that calls another is not counted twice.
//! - Threads that MPI or the measurement started to wait for events are a class of their own, and
//!   percentages are of the rest: with real time as metric they would otherwise be most of it.
//! - I/O, memory allocation, locks and sleeping are classes too.
//! - It works without a time metric, without MPI, without GPU, and without any values.

mod balancing;
pub(crate) mod costs;
mod finding;
mod findings;
mod leak;
mod measurement;
mod mpi;
mod sentences;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};

use parallax_base::{ContextIdx, Control, LocationIdx, MetricIdx, Unit, capitalised};
use parallax_engine::{
    Costs, EngineError, FlatBy, FlatRow, LocationChoice, PruneRules, Session, TopDown, flat,
};
use parallax_model::{ChosenCalls, ContextKind, IdentityKind, Scope};

pub use crate::taxonomy::{CostClass, GpuOperation, Purposes};
pub use finding::{Evidence, Finding, FindingKind, NextAction, NextStep, Potential, rank_findings};

pub use sentences::part_words;
pub use verdict::{Bound, Verdict};

use crate::balance::{Balance, BalanceRequest, Grouping, balance_of_sums};
use crate::cautions::{Caution, cautions};
use crate::taxonomy::classes::Classes;
use crate::taxonomy::{FunctionNames, HelperThreads, Roles};
use costs::{ClassCosts, estimated_samples, percent, traced_samples};

/// Contexts whose balance is looked at, at most: the most expensive ones.
const MAX_BALANCED: usize = 100;

/// What a report should say.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportOptions {
    /// The metric that stands for cost; [`Session::default_metric`] when `None`.
    pub metric: Option<MetricIdx>,
    /// Number of functions to list.
    pub num_functions: usize,
    /// The hot path goes on while a child bears at least this share of its parent, in per cent.
    pub hot_path_percent: f64,
    /// Contexts whose cost is below this share of the program's are not looked at for balance, and
    /// no finding is made of less, in per cent.
    pub min_percent: f64,
}

impl Default for ReportOptions {
    fn default() -> Self {
        Self { metric: None, num_functions: 20, hot_path_percent: 50.0, min_percent: 1.0 }
    }
}

/// The cost of one class.
#[derive(Debug, Clone, PartialEq)]
pub struct Category {
    /// The class.
    pub class: CostClass,
    /// Its cost, in the metric's unit.
    pub cost: f64,
    /// Share of [`Report::program_total`], in per cent; `None` for helper threads, which are not
    /// part of it.
    pub percent: Option<f64>,
    /// Number of outermost contexts of the class; 0 for the program's own code where nothing else
    /// is around it.
    pub num_contexts: usize,
}

/// A function by which a class begins: a routine of MPI, `fwrite`, `malloc`, ...
#[derive(Debug, Clone, PartialEq)]
pub struct Routine {
    /// Its name, normalised.
    pub name: String,
    /// Its class.
    pub class: CostClass,
    /// Its cost at outermost contexts, in the metric's unit.
    pub cost: f64,
    /// Share of [`Report::program_total`], in per cent.
    pub percent: Option<f64>,
    /// The context where it is called that costs most.
    pub context: ContextIdx,
    /// Number of contexts where it is called.
    pub num_contexts: usize,
}

/// A step of the hot path.
#[derive(Debug, Clone, PartialEq)]
pub struct HotStep {
    /// The context.
    pub context: ContextIdx,
    /// What it is called.
    pub name: String,
    /// Its cost with everything below.
    pub inclusive: f64,
    /// Share of [`Report::program_total`], in per cent.
    pub percent: Option<f64>,
}

/// One metric of a GPU family.
#[derive(Debug, Clone, PartialEq)]
pub struct GpuRow {
    /// What it measures, in words: `Kernels`, `Copies host to device`.
    pub what: &'static str,
    /// Name of the metric.
    pub metric: String,
    /// Sum over all locations.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
    /// Share of the time of all GPU operations (`GPUOP`), in per cent; `None` for what is no time.
    pub percent: Option<f64>,
}

/// The total of a metric.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricTotal {
    /// The metric.
    pub metric: MetricIdx,
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// Sum over all locations; `None` when a wrapped counter makes it meaningless.
    pub total: Option<f64>,
}

/// A rank (or location) that computes longer than the others, which wait for it in MPI. Costs are
/// in [`Report::unit`].
#[derive(Debug, Clone, PartialEq)]
pub struct Late {
    /// Where it computes.
    pub context: ContextIdx,
    /// Display name of the function.
    pub function: String,
    /// What the member is called.
    pub member: String,
    /// What it spends there.
    pub value: f64,
    /// What members spend there on average.
    pub mean: f64,
    /// What the others wait for it in sum: what they spend less there, and at most what they spend
    /// more in MPI.
    pub waiting: f64,
}

/// Where the cost of an execution goes. All costs are in [`Report::unit`].
#[derive(Debug, Clone)]
pub struct Report {
    /// Name of the program.
    pub title: String,
    /// The metric that stands for cost; `None` when nothing was measured.
    pub metric: Option<MetricIdx>,
    /// Its name.
    pub metric_name: String,
    /// Its unit.
    pub unit: Unit,
    /// Why it was chosen, in a clause; what is missing when there is none.
    pub reason: String,
    /// Why nothing can be concluded about the program, in a clause; `None` where it can.
    pub inconclusive: Option<String>,
    /// Cost of everything that was measured.
    pub total: f64,
    /// The part of it on helper threads.
    pub helper_total: f64,
    /// The rest: what percentages are of.
    pub program_total: f64,
    /// About how many samples the total stands on; `None` for metrics that are not sampled times
    /// or cycles.
    pub num_samples: Option<f64>,
    /// Number of ranks, 0 for programs without.
    pub num_ranks: usize,
    /// Number of locations.
    pub num_locations: usize,
    /// Number of locations with samples.
    pub num_sampled: usize,
    /// Cost by class, group after group, the most expensive first; helper threads last.
    pub categories: Vec<Category>,
    /// The functions by which classes begin, from the most expensive.
    pub routines: Vec<Routine>,
    /// Metrics of GPUs that have values.
    pub gpu: Vec<GpuRow>,
    /// Functions with the highest exclusive cost, that of MPI routines with their internals.
    pub top_functions: Vec<FlatRow>,
    /// The hot path, without the internals of MPI, lines and loops.
    pub hot_path: Vec<HotStep>,
    /// Balance of the most expensive functions and loops over ranks (or locations); `None` when
    /// there is nothing to compare.
    pub balance: Option<Balance>,
    /// Totals of all metrics that have values.
    pub metrics: Vec<MetricTotal>,
    /// The member that others wait for, as the finding on MPI says it.
    pub late: Option<Late>,
    /// What speaks for caution with the measurement.
    pub cautions: Vec<Caution>,
    /// What bounds the program, the most important first.
    pub findings: Vec<Finding>,
    /// What was not examined or is not listed, and how much of it, and what the balance rests on;
    /// one sentence each.
    pub limits: Vec<String>,
}

impl Report {
    /// Cost of all classes of a group ([`CostClass::major`]).
    #[must_use]
    pub fn major_cost(&self, major: &str) -> f64 {
        self.categories.iter().filter(|c| c.class.major() == major).map(|c| c.cost).sum()
    }

    /// Where only some calls are there, neither their time nor what is missing says anything about
    /// the program.
    fn of_chosen_calls(session: &Session, chosen: &ChosenCalls) -> Self {
        let why = format!("only the calls that {} kept are known", chosen.by);
        let note = capitalised(&format!("{}; nothing is concluded from them.", chosen.words()));
        Self {
            inconclusive: Some(why.clone()),
            limits: vec![note],
            ..Self::empty(session, format!("none: {why}"))
        }
    }

    fn empty(session: &Session, reason: String) -> Self {
        let x = session.experiment();
        Self {
            title: x.metadata.title.clone(),
            metric: None,
            metric_name: String::new(),
            unit: Unit::Count,
            reason,
            inconclusive: None,
            total: 0.0,
            helper_total: 0.0,
            program_total: 0.0,
            num_samples: None,
            num_ranks: x.locations.num_ranks(),
            num_locations: x.locations.len(),
            num_sampled: x.locations.iter().filter(|&l| x.locations.num_values(l) > 0).count(),
            categories: Vec::new(),
            routines: Vec::new(),
            gpu: Vec::new(),
            top_functions: Vec::new(),
            hot_path: Vec::new(),
            balance: None,
            metrics: Vec::new(),
            late: None,
            cautions: Vec::new(),
            findings: Vec::new(),
            limits: Vec::new(),
        }
    }
}

/// What findings are made from.
struct Facts<'a> {
    session: &'a Session,
    options: &'a ReportOptions,
    metric: MetricIdx,
    classes: Classes,
    class_costs: ClassCosts,
    /// Without helper threads.
    costs: Costs,
    /// The locations whose balance is compared.
    compared: LocationChoice,
    /// What functions are called; findings take what the program numbers as one.
    names: FunctionNames,
    /// Functions by exclusive cost, numbered phases as one.
    functions: Vec<FlatRow>,
    /// Which locations are helper threads.
    roles: Roles,
}

/// Where the cost of the whole execution goes, and what bounds it.
///
/// An experiment without values gives an empty report that says so, and so does one whose calls were
/// chosen.
///
/// # Errors
/// When values cannot be read, the chosen metric lacks the inclusive or exclusive scope, or the
/// question is withdrawn.
pub fn report(
    session: &Session,
    options: &ReportOptions,
    control: &Control,
) -> Result<Report, EngineError> {
    if let Some(chosen) = &session.experiment().metadata.chosen {
        return Ok(Report::of_chosen_calls(session, chosen));
    }
    let (metric, reason) = match options.metric {
        Some(metric) => (metric, String::new()),
        None => match session.default_metric(control) {
            Ok(chosen) => (chosen.metric, chosen.reason.unwrap_or_default()),
            Err(EngineError::Missing { what, hint }) => {
                return Ok(Report::empty(session, format!("{what}; {hint}")));
            }
            Err(error) => return Err(error),
        },
    };
    let tree = session.tree();
    let all = session.costs(metric, &LocationChoice::All, control)?;
    let classes = Classes::new(tree);
    let class_costs = ClassCosts::new(tree, &classes, &all);
    let costs = HelperThreads::new(&classes).excluded(tree, &all).unwrap_or_else(|| all.clone());
    let mut out = Report::empty(session, reason);
    out.metric = Some(metric);
    out.metric_name.clone_from(&all.name);
    out.unit = all.unit.clone();
    out.total = all.total;
    out.helper_total = all.total - costs.total;
    out.program_total = costs.total;
    let program_share = percent(costs.total, all.total).unwrap_or(0.0) / 100.0;
    out.num_samples = num_samples(session, metric, &costs, program_share, control)?;
    out.categories = class_costs.categories(&classes, costs.total);
    out.routines = class_costs.routines(&classes, costs.total);
    out.metrics = metric_totals(session, control)?;
    out.gpu = gpu_rows(&out.metrics);

    let functions_only =
        PruneRules { mpi_internals: true, lines_and_loops: true, ..PruneRules::default() };
    let view = functions_only.apply(tree, None);
    out.top_functions = flat(tree, &view, &costs, FlatBy::Function, None);
    out.top_functions.retain(|row| row.exclusive > 0.0);
    let names = FunctionNames::new(tree);
    let functions = names.phases.functions(tree, &out.top_functions);
    out.top_functions.truncate(options.num_functions);
    let top_down = TopDown::new(tree, view, &costs);
    out.hot_path = top_down
        .hot_path(options.hot_path_percent)
        .into_iter()
        .filter_map(|row| top_down.view.contexts().get(row).copied())
        .map(|context| {
            let inclusive = costs.inclusive_of(context);
            let name = tree.label(context);
            HotStep { context, name, inclusive, percent: percent(inclusive, costs.total) }
        })
        .collect();
    let compared = compared_locations(session);
    let roles = Roles::with(session, &HelperThreads::new(&classes), control)?;
    let facts = Facts {
        session,
        options,
        metric,
        classes,
        class_costs,
        costs,
        compared,
        names,
        functions,
        roles,
    };
    let mut limits = Vec::new();
    out.balance = facts.balance(&mut limits, control)?;
    if out.unit.is_time() {
        out.cautions = cautions(session, &facts.classes, &facts.costs, control)?;
    }
    let mut late = None;
    out.findings = facts.findings(&out, &mut late, &mut limits, control)?;
    let has_mpi = out.findings.iter().any(|finding| finding.kind == FindingKind::Mpi);
    out.late = late.filter(|_| has_mpi);
    out.limits = limits;
    Ok(out)
}

/// All locations; where some processes are GPUs, which Kineto numbers like ranks, those of the
/// others: what a process does and a GPU does not is no imbalance.
fn compared_locations(session: &Session) -> LocationChoice {
    let locations = &session.experiment().locations;
    let rank = |location| locations.identity(location, IdentityKind::Rank);
    let is_thread = |location: &LocationIdx| !locations.is_gpu(*location);
    let with_threads: BTreeSet<u64> = locations.iter().filter(is_thread).filter_map(rank).collect();
    let mut ranks = locations.iter().filter_map(rank);
    if with_threads.is_empty() || ranks.all(|rank| with_threads.contains(&rank)) {
        return LocationChoice::All;
    }
    LocationChoice::Some(locations.iter().filter(is_thread).collect())
}

/// About how many samples the costs stand on: what the recorder counted, an estimate from the costs,
/// or the samples of the traces where these are more (equal ones that follow each other are one
/// there), or what the traces tell where the costs do not. `None` for what is measured without sampling, and where
/// neither tells. Helper threads are traced as well; `program_share` is the part
/// of the cost that is not theirs.
fn num_samples(
    session: &Session,
    metric: MetricIdx,
    costs: &Costs,
    program_share: f64,
    control: &Control,
) -> Result<Option<f64>, EngineError> {
    let x = session.experiment();
    let is_sampled = ["cputime", "realtime", "cycles", "instructions"]
        .iter()
        .any(|name| costs.name.eq_ignore_ascii_case(name))
        || costs.name.to_ascii_lowercase().starts_with("perf::");
    if !is_sampled {
        return Ok(None);
    }
    if let Some(samples) = x.metadata.samples {
        return Ok(Some(samples as f64 * program_share));
    }
    let described = x.metrics.get(metric);
    let estimate = estimated_samples(session, described, costs.total, control)?;
    let tracks = x.traces.iter().flat_map(|traces| traces.tracks());
    let threads = tracks.filter(|track| !x.locations.is_gpu(track.location));
    let traced: u64 = threads.map(|track| track.num_samples).sum();
    let traced = traced as f64 * program_share;
    // Kernels add parts of a period in some databases; no profiler samples so often.
    let is_plausible = |estimate: &f64| match described.unit {
        Unit::Cycles => costs.total / estimate >= LEAST_CYCLES,
        Unit::Seconds => costs.total / estimate >= LEAST_SECONDS,
        _ => true,
    };
    if let Some(estimate) = estimate.filter(is_plausible) {
        return Ok(Some(estimate.max(traced)));
    }
    Ok(traced_samples(session, control)?.map(|samples| samples * program_share))
}

/// A sample stands for at least so many cycles, or seconds: a hundred thousand samples a second on
/// a processor of one gigahertz.
const LEAST_CYCLES: f64 = 1e4;
const LEAST_SECONDS: f64 = 1e-5;

impl Facts<'_> {
    /// The balance of what costs most, over ranks or else over locations.
    fn balance(
        &self,
        limits: &mut Vec<String>,
        control: &Control,
    ) -> Result<Option<Balance>, EngineError> {
        let tree = self.session.tree();
        let view = PruneRules { mpi_internals: true, ..PruneRules::default() }.apply(tree, None);
        let least = self.costs.total * self.options.min_percent / 100.0;
        // What is the same in numbered phases is one.
        let mut same: BTreeMap<ContextIdx, (f64, Vec<ContextIdx>)> = BTreeMap::new();
        let is_code =
            |c: &ContextIdx| matches!(tree.kind(*c), ContextKind::Function | ContextKind::Loop);
        for &context in view.contexts().iter().filter(|context| is_code(context)) {
            let cost = self.costs.inclusive_of(context);
            if cost > 0.0 {
                let (sum, contexts) = same.entry(self.names.phases.first(context)).or_default();
                *sum += cost;
                contexts.push(context);
            }
        }
        let mut contexts: Vec<(f64, Vec<ContextIdx>)> =
            same.into_values().filter(|(cost, _)| *cost >= least).collect();
        contexts.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let num_left_out = contexts.len().saturating_sub(MAX_BALANCED);
        contexts.truncate(MAX_BALANCED);
        let named = |(_, contexts): (f64, Vec<ContextIdx>)| {
            let name = contexts.first().map(|&first| self.names.phases.label(tree, first));
            (name.unwrap_or_default(), contexts)
        };
        let sums: Vec<(String, Vec<ContextIdx>)> = contexts.into_iter().map(named).collect();
        let metric = self.session.experiment().metrics.get(self.metric);
        if sums.is_empty() || metric.id_in(&Scope::Inclusive).is_none() {
            return Ok(None);
        }
        let request = BalanceRequest {
            grouping: Grouping::natural(self.session),
            locations: self.compared.clone(),
            ..BalanceRequest::new(self.metric, Vec::new())
        };
        let answer = balance_of_sums(self.session, &request, sums, control)?;
        let is_comparison = answer.rows.iter().any(|row| row.distribution.num_members > 1);
        if is_comparison && num_left_out > 0 {
            limits.push(format!(
                "load imbalance: the {MAX_BALANCED} functions and loops with the highest \
                 inclusive {} were examined; {num_left_out} more with at least {} % were not",
                self.costs.name, self.options.min_percent
            ));
        }
        if is_comparison {
            limits.extend(answer.added_note());
        }
        Ok(is_comparison.then_some(answer))
    }
}

fn metric_totals(session: &Session, control: &Control) -> Result<Vec<MetricTotal>, EngineError> {
    let mut out = Vec::new();
    for (metric, described) in session.experiment().metrics.iter() {
        let total = match session.total(metric, control) {
            Ok(total) => total,
            Err(EngineError::Missing { .. }) => continue,
            Err(error) => return Err(error),
        };
        let is_wrapped = session.has_wrapped(metric);
        if is_wrapped || total != 0.0 {
            out.push(MetricTotal {
                metric,
                name: described.name.to_string(),
                unit: described.unit.clone(),
                total: Some(total).filter(|_| !is_wrapped),
            });
        }
    }
    Ok(out)
}

/// Metrics of GPUs and what they measure, in the order of the report. Counts and times of the
/// families of HPCToolkit, and bytes by direction.
const GPU_METRICS: [(&str, &str); 27] = [
    ("GPUOP", "All operations"),
    ("GKER", "Kernels"),
    ("GKER:COUNT", "Kernel launches"),
    ("GXCOPY", "Explicit copies"),
    ("GICOPY", "Implicit copies"),
    ("GXCOPY:COUNT", "Explicit copies, number"),
    ("GXCOPY:H2D", "Copies host to device"),
    ("GXCOPY:D2H", "Copies device to host"),
    ("GXCOPY:D2D", "Copies device to device"),
    ("GXCOPY:H2H", "Copies host to host"),
    ("GXCOPY:P2P", "Copies peer to peer"),
    ("GXCOPY:H2A", "Copies host to array"),
    ("GXCOPY:A2H", "Copies array to host"),
    ("GXCOPY:D2A", "Copies device to array"),
    ("GXCOPY:A2D", "Copies array to device"),
    ("GXCOPY:A2A", "Copies array to array"),
    ("GXCOPY:UNK", "Copies of unknown direction"),
    ("GMEM", "Memory allocation"),
    ("GMEM:COUNT", "Memory allocations, number"),
    ("GMSET", "Memory setting"),
    ("GMSET:COUNT", "Memory settings, number"),
    ("GSYNC", "Synchronisation"),
    ("GSYNC:COUNT", "Synchronisations, number"),
    ("GSYNC:CTX", "Synchronisation of contexts"),
    ("GSYNC:STR", "Synchronisation of streams"),
    ("GSYNC:EVT", "Synchronisation of events"),
    ("GINS", "Instruction samples"),
];

fn gpu_rows(metrics: &[MetricTotal]) -> Vec<GpuRow> {
    let find = |name: &str| metrics.iter().find(|m| m.name.eq_ignore_ascii_case(name));
    let whole = find("GPUOP").and_then(|m| m.total).unwrap_or(0.0);
    GPU_METRICS
        .iter()
        .filter_map(|(name, what)| {
            let found = find(name)?;
            let value = found.total?;
            Some(GpuRow {
                what,
                metric: found.name.clone(),
                value,
                unit: found.unit.clone(),
                percent: percent(value, whole).filter(|_| found.unit.is_time()),
            })
        })
        .collect()
}
