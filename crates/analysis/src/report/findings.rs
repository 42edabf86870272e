//! How findings are made: what bounds the program, in plain sentences with the numbers they rest
//! on.
//!
//! A finding is made only of what stands out: at least [`MIN_PERCENT`] of the program's cost, and
//! more than chance makes of so few samples. With N samples a share p is uncertain by
//! 2 sqrt(p (1 - p) / N) (two standard errors of a proportion), and a count of n samples by
//! sqrt(n) (Poisson).

use std::collections::{BTreeMap, BTreeSet};

use parallax_base::quantity::amount;
use parallax_base::{ContextIdx, Control, LocationIdx, Remedy, Unit, capitalised};
use parallax_engine::{EngineError, FlatRow, Session, display_name};
use parallax_model::{ContextKind, ContextTree};

use super::balancing::MIN_IMBALANCE;
use super::costs::Callers;
use super::finding::{
    Evidence, Finding, FindingKind, NextAction, NextStep, Potential, rank_findings,
};
use super::leak::leak;
use super::measurement::{caution, few_samples, wrapped};
use super::sentences::{metric_words, part_words, percents};
use super::{Facts, Late, Report};
use crate::balance::{BalanceRow, Grouping};
use crate::cautions::{Caution, CautionKind};
use crate::math::numeric::count;
use crate::taxonomy::classes::CostClass;
use crate::taxonomy::{
    GpuOperation, is_collective_kernel, is_collective_sync, is_uninstrumented, waits_for_gpu,
};

/// Title of the finding on calls of the runtime of GPUs, before the name of the call.
const HOST_CODE: &str = "Host code of the GPU runtime";
/// Less than this share of the cost of the program does not bound it, in per cent.
const MIN_PERCENT: f64 = 5.0;
/// A function of the program that costs less by itself than this is no finding, in per cent.
const MIN_HOT_PERCENT: f64 = 20.0;
/// Balance that saves less than this share of what a member takes is no finding, in per cent.
const MIN_SAVING_PERCENT: f64 = 2.0;
/// Functions that are frames around everything a thread does.
const FRAMES: [&str; 7] = [
    "main",
    "MAIN__",
    "_start",
    "__libc_start_main",
    "__libc_start_call_main",
    "start_thread",
    "clone",
];
/// Copies that take at least this share of the time of a GPU are a finding, in per cent.
const MIN_COPY_PERCENT: f64 = 20.0;
/// A difference counts from this many standard deviations on: many contexts and members are
/// compared, of which some differ by two by chance.
const CHANCE: f64 = 3.0;
/// Number of findings on imbalance.
const MAX_UNEVEN: usize = 3;
/// Number of uneven contexts that are looked at more closely.
const MAX_CHECKED: usize = 8;
/// An imbalance of which less than this part can be saved is made up for elsewhere.
const MADE_UP: f64 = 0.5;

/// A context whose work is spread unevenly.
pub(super) struct Uneven<'a> {
    pub(super) row: &'a BalanceRow,
    pub(super) name: String,
    /// What balancing it saves at most, in the metric's unit: what the slowest does more than the
    /// mean, and not more than what is saved where all work is spread evenly.
    pub(super) saving: f64,
    /// The same as share of what a member takes on average, in per cent.
    percent: f64,
    /// Functions with the same imbalance that call it or are called by it, where no call path tells
    /// which: their names, and what the slowest member spends in them.
    pub(super) inside: Vec<(String, f64)>,
}

impl Uneven<'_> {
    /// What the slowest member spends in functions with the same imbalance.
    pub(super) fn inner_evidence(&self, report: &Report) -> Vec<Evidence> {
        let unit = report.unit.to_string();
        let balance = report.balance.as_ref();
        let slowest = balance.and_then(|balance| balance.slowest_labels(self.row).next());
        let who = slowest.unwrap_or("the slowest");
        let of = |(name, value): &(String, f64)| Evidence {
            what: format!("{name}, the same imbalance, on {who}"),
            value: *value,
            unit: unit.clone(),
        };
        self.inside.iter().map(of).collect()
    }
}

/// Which cost of a context a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cost {
    /// With everything below, of outermost contexts.
    Inclusive,
    /// Its own.
    Exclusive,
}

impl Facts<'_> {
    pub(super) fn findings(
        &self,
        report: &Report,
        late: &mut Option<Late>,
        limits: &mut Vec<String>,
        control: &Control,
    ) -> Result<Vec<Finding>, EngineError> {
        let mut out = Vec::new();
        let mut uneven = self.uneven(report, limits, control)?;
        out.extend(self.mpi(report, &mut uneven, late, limits, control)?);
        out.extend(uneven.iter().take(MAX_UNEVEN).map(|uneven| self.imbalance(report, uneven)));
        let others = uneven.iter().skip(MAX_UNEVEN);
        match others.filter(|uneven| is_certain(uneven.percent, report.num_samples)).count() {
            0 => {}
            more => limits.push(format!(
                "load imbalance: the {MAX_UNEVEN} functions with the highest potential savings \
                 are findings; {more} more would save at least {MIN_SAVING_PERCENT} %{}; {}",
                if more == 1 { "" } else { " each" },
                Remedy::SeeBalance
            )),
        }
        out.extend(self.openmp(report));
        for (kind, major) in [
            (FindingKind::Io, "I/O"),
            (FindingKind::Memory, "Memory allocation"),
            (FindingKind::Locks, "Locks and barriers"),
            (FindingKind::Sleeping, "Sleeping and polling"),
        ] {
            let percent = self.percent(report.major_cost(major));
            let is_in = |class: CostClass| class.major() == major;
            out.extend(self.group(report, kind, &capitalised(major), percent, is_in));
        }
        // A host that waits for a busy GPU loses nothing; idle GPUs are a finding of their own.
        let host = report.routines.iter().find(|routine| routine.class == CostClass::GpuRuntime);
        if host.is_some_and(|routine| !waits_for_gpu(&routine.name)) {
            let host = self.percent(self.class_costs.of(|class| class == CostClass::GpuRuntime));
            out.extend(self.group(report, FindingKind::GpuHost, HOST_CODE, host, |class| {
                class == CostClass::GpuRuntime
            }));
        }
        out.extend(gpu_copies(self.session, report));
        out.extend(self.hot_function(report));
        out.retain(|finding| is_certain(finding.percent, report.num_samples));
        out.extend(few_samples(report));
        let (certain, extrapolated): (Vec<&Caution>, Vec<&Caution>) =
            report.cautions.iter().partition(|one| one.kind != CautionKind::Multiplexed);
        out.extend(certain.into_iter().map(caution));
        limits.extend(extrapolated.into_iter().map(|one| one.text.clone()));
        out.extend(leak(self.session, &self.classes, control)?);
        out.extend(wrapped(report));
        rank_findings(&mut out);
        Ok(out)
    }

    pub(super) fn percent(&self, cost: f64) -> f64 {
        self.costs.percent(cost)
    }

    pub(super) fn tree(&self) -> &ContextTree {
        self.session.tree()
    }

    /// The exclusive cost of a context.
    fn own(&self, context: ContextIdx) -> f64 {
        self.costs.exclusive.get(context.idx()).copied().unwrap_or(0.0)
    }

    /// Functions of the program itself that are spread unevenly, from the largest saving. Of a
    /// chain of callers with the same imbalance only the outermost one.
    fn uneven<'r>(
        &self,
        report: &'r Report,
        limits: &mut Vec<String>,
        control: &Control,
    ) -> Result<Vec<Uneven<'r>>, EngineError> {
        let Some(balance) = &report.balance else { return Ok(Vec::new()) };
        let tree = self.tree();
        let num_members = balance.members.iter().filter(|member| member.has_samples).count();
        if num_members < 2 {
            return Ok(Vec::new());
        }
        let mean = report.program_total / count(num_members);
        let most = self.most_saving(balance, num_members, control)?;
        // Where a program has no ranks and its threads have names, as those of a browser, each is
        // there for something else.
        let locations = &self.session.experiment().locations;
        let has_roles = locations.num_ranks() == 0 && locations.has_names();
        let is_role = |row: &BalanceRow| {
            let slowest = row.slowest.first().and_then(|slow| balance.members.get(slow.member));
            has_roles && slowest.is_some_and(|member| !locations.is_gpu(member.location))
        };
        let mut by_part: BTreeMap<ContextIdx, f64> = BTreeMap::new();
        let mut out: Vec<Uneven<'r>> = Vec::new();
        for row in &balance.rows {
            let d = &row.distribution;
            if d.num_members < 2
                || d.imbalance.is_none_or(|factor| factor < MIN_IMBALANCE)
                || is_role(row)
            {
                continue;
            }
            let mut most = most;
            if let Some(part) = self.part_of_program(row.context) {
                let of_part = match by_part.get(&part) {
                    Some(known) => *known,
                    None => self.most_saving_in(balance, part, num_members, control)?,
                };
                by_part.insert(part, of_part);
                most = most.min(of_part);
            }
            let saving = d.saving.min(most.max(0.0));
            let percent = if mean > 0.0 { (saving / mean * 100.0).min(100.0) } else { 0.0 };
            let noise = report.num_samples.map_or(0.0, |n| {
                CHANCE * (d.max.max(0.0) * report.program_total / n.max(1.0)).sqrt()
            });
            // What members do more of here, they do less of elsewhere, and no member waits for
            // them.
            let is_made_up = d.saving * MADE_UP > most;
            let is_uneven = !is_made_up && percent >= MIN_SAVING_PERCENT && d.saving > noise;
            let is_own = tree.kind(row.context) == ContextKind::Function
                && self.classes.of_context.get(row.context.idx()) == Some(&CostClass::Application)
                && self.waiting_share(row.context) < 0.5;
            let name = self.names.display(tree, row.context);
            let waits = is_collective_kernel(&row.name) || is_collective_sync(&name);
            let is_frame = FRAMES.contains(&&*name) || is_uninstrumented(&row.name);
            let is_work = !is_frame && !waits;
            if is_uneven && is_own && is_work {
                out.push(Uneven { row, name, saving, percent, inside: Vec::new() });
            }
        }
        let is_covered = |inner: &Uneven<'_>| {
            out.iter().any(|outer| {
                outer.row.context != inner.row.context
                    && self.names.phases.is_within(tree, inner.row.context, outer.row.context)
                    && outer.percent >= inner.percent * 0.8
            })
        };
        let covered: Vec<bool> = out.iter().map(is_covered).collect();
        let mut covered = covered.into_iter();
        out.retain(|_| !covered.next().unwrap_or(false));
        let mut out = self.of_work(balance, out, control)?;
        // A function with several contexts (its outlined parallel loop among them) is told once.
        let mut told = BTreeSet::new();
        out.retain(|uneven| told.insert(uneven.name.clone()));
        match out.len().saturating_sub(MAX_CHECKED) {
            0 => {}
            more => limits.push(format!(
                "load imbalance: the {MAX_CHECKED} functions with the highest potential savings \
                 were examined; {more} more that would save at least {MIN_SAVING_PERCENT} %{} not",
                if more == 1 { " was" } else { " each were" },
            )),
        }
        out.truncate(MAX_CHECKED);
        let out = self.joined(balance, out, control)?;
        let mut kept = Vec::new();
        for uneven in out {
            if !self.is_by_design(report, balance, uneven.row, control)? {
                kept.push(uneven);
            }
        }
        Ok(kept)
    }

    /// Part of the inclusive cost of a context, in all phases, that is spent in MPI or in OpenMP
    /// waiting.
    pub(super) fn waiting_share(&self, context: ContextIdx) -> f64 {
        let same = self.names.phases.all(context);
        let waiting: f64 = same.iter().map(|&one| self.waiting_in(one)).sum();
        let all: f64 = same.iter().map(|&one| self.costs.inclusive_of(one)).sum();
        waiting / all.max(f64::MIN_POSITIVE)
    }

    fn waiting_in(&self, context: ContextIdx) -> f64 {
        let tree = self.tree();
        let below = tree.subtree(context);
        let boundaries = &self.classes.boundaries;
        let first = boundaries.partition_point(|b| b.context.idx() < below.start);
        boundaries
            .iter()
            .zip(&self.class_costs.own)
            .skip(first)
            .take_while(|(boundary, _)| boundary.context.idx() < below.end)
            .filter(|(boundary, _)| boundary.inside.is_waiting())
            .map(|(_, own)| own)
            .sum()
    }

    /// The most expensive caller of the routines that `is_in` accepts: name, cost, context.
    fn top_caller(&self, is_in: impl Fn(CostClass, &str) -> bool) -> Option<(String, f64)> {
        let tree = self.tree();
        let mut by_name: BTreeMap<String, f64> = BTreeMap::new();
        let mut callers = Callers::new(tree, &self.classes);
        for (boundary, own) in self.classes.boundaries.iter().zip(&self.class_costs.own) {
            if is_in(boundary.inside, &boundary.name)
                && let Some(caller) = callers.of(boundary)
            {
                let name = self.names.display(tree, caller);
                *by_name.entry(name).or_default() += own;
            }
        }
        by_name.into_iter().reduce(|best, next| if next.1 > best.1 { next } else { best })
    }

    /// "X takes P % of T, most of it (Q %) in R called from C."
    pub(super) fn group(
        &self,
        report: &Report,
        kind: FindingKind,
        what: &str,
        percent: f64,
        is_in: impl Fn(CostClass) -> bool,
    ) -> Option<Finding> {
        if percent < MIN_PERCENT {
            return None;
        }
        let top = report.routines.iter().find(|routine| is_in(routine.class))?;
        let metric = metric_words(&report.metric_name);
        let share = self.percent(top.cost);
        let called_from = self.top_caller(|class, name| class == top.class && name == top.name);
        let routine = display_name(&top.name);
        let unit = report.unit.to_string();
        let mut evidence = vec![
            Evidence { what: what.into(), value: percent, unit: "%".into() },
            Evidence { what: routine.clone(), value: top.cost, unit: unit.clone() },
        ];
        let from = match &called_from {
            Some((name, cost)) => {
                let what = format!("{routine} called from {name}");
                evidence.push(Evidence { what, value: *cost, unit: unit.clone() });
                let most = if *cost < top.cost * 0.95 { "mostly " } else { "" };
                format!(" {most}called from {name}")
            }
            None => String::new(),
        };
        // `MPI takes`, but `Locks and barriers take`.
        let takes = if what.contains(" and ") { "take" } else { "takes" };
        let text = if share >= percent * 0.95 {
            format!("{what} {takes} {} of {metric}: {routine}{from}.", percents(percent))
        } else {
            let part = part_words(share / percent);
            let (percent, share) = (percents(percent), percents(share));
            format!("{what} {takes} {percent} of {metric}, {part} ({share}) in {routine}{from}.")
        };
        if top.num_contexts > 1 {
            let value = self.costs.inclusive_of(top.context);
            let what = format!("{routine} on its most expensive call path");
            evidence.push(Evidence { what, value, unit });
        }
        Some(Finding {
            kind,
            title: format!("{what}: {routine}"),
            text,
            percent,
            potential: None,
            evidence,
            context: Some(top.context),
            next: self.callers_of(top.context, top.cost, Cost::Inclusive),
        })
    }

    /// The callers of the function of a context. They are shown of all its contexts where these add
    /// up to `cost`, and else of this one only.
    fn callers_of(&self, context: ContextIdx, cost: f64, of: Cost) -> NextStep {
        let tree = self.tree();
        let name = tree.label(context);
        let (mut sum, mut open_until) = (0.0, 0);
        for other in tree.iter().skip(1) {
            let is_same = tree.kind(other) == ContextKind::Function
                && tree.function_name(other) == Some(&name);
            if !is_same {
                continue;
            }
            match of {
                Cost::Exclusive => sum += self.own(other),
                Cost::Inclusive if other.idx() >= open_until => {
                    sum += self.costs.inclusive_of(other);
                    open_until = tree.subtree(other).end;
                }
                Cost::Inclusive => {}
            }
        }
        let step = NextStep { function: Some(name), ..NextStep::new(NextAction::Callers) };
        if (sum - cost).abs() <= cost.abs() * 1e-9 {
            return step.showing(cost);
        }
        let own = match of {
            Cost::Inclusive => self.costs.inclusive_of(context),
            Cost::Exclusive => self.own(context),
        };
        NextStep { contexts: vec![context], ..step }.showing(own)
    }

    fn imbalance(&self, report: &Report, uneven: &Uneven<'_>) -> Finding {
        let d = &uneven.row.distribution;
        let unit = report.unit.to_string();
        let balance = report.balance.as_ref();
        let what = balance.map_or("location", |balance| balance.grouping.name());
        let slowest = balance
            .and_then(|balance| balance.slowest_labels(uneven.row).next())
            .unwrap_or("the slowest");
        let text = format!(
            "Over {what}s, {slowest} spends {}{}, {:.1} times the mean of {}.",
            amount(d.max, &report.unit),
            self.on_threads(report),
            d.imbalance.unwrap_or(1.0),
            amount(d.mean, &report.unit),
        );
        let mut evidence = vec![
            Evidence { what: slowest.to_owned(), value: d.max, unit: unit.clone() },
            Evidence { what: "mean".into(), value: d.mean, unit: unit.clone() },
            Evidence { what: "potential saving".into(), value: uneven.saving, unit },
            Evidence { what: "members".into(), value: count(d.num_members), unit: String::new() },
        ];
        evidence.extend(uneven.inner_evidence(report));
        Finding {
            kind: FindingKind::Imbalance,
            title: format!("Load imbalance in {}", uneven.name),
            text,
            percent: uneven.percent,
            potential: Some(self.balanced(report, uneven)),
            evidence,
            context: Some(uneven.row.context),
            next: self.balance_of(uneven.row),
        }
    }

    /// The balance of what a row is about; of several phases that of the most expensive one, as a
    /// sum of them is not shown anywhere.
    pub(super) fn balance_of(&self, row: &BalanceRow) -> NextStep {
        let same = self.names.phases.all(row.context);
        let [_, _, ..] = same.as_slice() else {
            return NextStep::balance(row.context, row.distribution.max);
        };
        let cost = |context: &ContextIdx| self.costs.inclusive_of(*context);
        let most = same.into_iter().reduce(|a, b| if cost(&b) > cost(&a) { b } else { a });
        NextStep { contexts: most.into_iter().collect(), ..NextStep::new(NextAction::Balance) }
    }

    /// How many threads of the program a member has on average: what a rank spends is the sum over
    /// them, and a run ends earlier by a part of that only.
    fn threads_of_members(&self, report: &Report) -> f64 {
        let Some(balance) = &report.balance else { return 1.0 };
        if balance.grouping == Grouping::Location {
            return 1.0;
        }
        let locations = &self.session.experiment().locations;
        let is_counted = |location: &LocationIdx| {
            locations.num_values(*location) > 0 && !self.roles.is_helper(*location)
        };
        let threads = locations.threads().iter().filter(|location| is_counted(location)).count();
        let members = balance.members.iter().filter(|member| member.has_samples).count();
        (count(threads) / count(members.max(1))).max(1.0)
    }

    /// ` on 3 threads`, where members have several.
    pub(super) fn on_threads(&self, report: &Report) -> String {
        let threads = self.threads_of_members(report);
        match threads.fract() == 0.0 {
            _ if threads <= 1.0 => String::new(),
            true => format!(" on {threads:.0} threads"),
            false => " on its threads".to_owned(),
        }
    }

    /// What is saved where all members spend the mean.
    pub(super) fn balanced(&self, report: &Report, uneven: &Uneven<'_>) -> Potential {
        Potential {
            amount: uneven.saving / self.threads_of_members(report),
            unit: report.unit.clone(),
            percent: uneven.percent,
            condition: "if balanced",
        }
    }

    fn openmp(&self, report: &Report) -> Option<Finding> {
        let parts = [
            (CostClass::OpenMpIdle, "idle"),
            (CostClass::OpenMpWait, "waiting"),
            (CostClass::OpenMpOverhead, "overhead"),
            (CostClass::OpenMpRuntime, "in the runtime"),
        ];
        let percent_of = |class| self.percent(self.class_costs.of(|c| c == class));
        let percent: f64 = parts.iter().map(|(class, _)| percent_of(*class)).sum();
        if percent < MIN_PERCENT {
            return None;
        }
        let mut evidence = vec![];
        let mut words = vec![];
        for (class, what) in parts {
            let percent = percent_of(class);
            if percent > 0.05 {
                words.push(format!("{} {what}", percents(percent)));
                let what = format!("OpenMP {what}");
                evidence.push(Evidence { what, value: percent, unit: "%".into() });
            }
        }
        let metric = metric_words(&report.metric_name);
        // Of a single part the share is that of all.
        let parts_of = match evidence.as_slice() {
            [only] => only.what.replacen("OpenMP", "all of it", 1),
            _ => words.join(", "),
        };
        let text = format!(
            "OpenMP threads spend {} of {metric} without useful work: {parts_of}.",
            percents(percent),
        );
        let is_in = |class: CostClass| parts.iter().any(|(part, _)| *part == class);
        let top = report.routines.iter().find(|r| is_in(r.class));
        if let Some(top) = top {
            let what = display_name(&top.name);
            evidence.push(Evidence { what, value: top.cost, unit: report.unit.to_string() });
        }
        Some(Finding {
            kind: FindingKind::OpenMp,
            title: "OpenMP threads without useful work".into(),
            text,
            percent,
            potential: None,
            evidence,
            context: top.map(|top| top.context),
            next: top.map_or(NextStep::new(NextAction::Idleness), |top| {
                self.callers_of(top.context, top.cost, Cost::Inclusive)
            }),
        })
    }

    /// Of the contexts of the same function the one that costs most itself; of those that cost nothing
    /// but what hangs below them, such as instructions of GPUs, the one with most of that.
    fn most_expensive(&self, context: ContextIdx) -> ContextIdx {
        let tree = self.tree();
        let own = |context: &ContextIdx| (self.own(*context), self.costs.inclusive_of(*context));
        let is_same = |other: &ContextIdx| {
            tree.kind(*other) == ContextKind::Function
                && tree.function(*other) == tree.function(context)
        };
        let same = tree.iter().skip(1).filter(is_same);
        // The first of several that cost as much.
        same.reduce(|best, next| if own(&next) > own(&best) { next } else { best })
            .unwrap_or(context)
    }

    fn hot_function(&self, report: &Report) -> Option<Finding> {
        // Kernels have time where that of GPUs was measured, and nothing of the host was.
        let is_own = |context: ContextIdx| {
            let class = self.classes.of_context.get(context.idx());
            matches!(class, Some(CostClass::Application | CostClass::Gpu(GpuOperation::Kernel)))
        };
        let is_told = |row: &&FlatRow| {
            let waits = is_collective_kernel(&row.name) || is_collective_sync(&row.name);
            let is_phase = self.names.phases.is_phase(self.tree(), row.context);
            is_own(row.context) && !is_phase && !is_uninstrumented(&row.name) && !waits
        };
        let row = self.functions.iter().find(is_told)?;
        let percent = self.percent(row.exclusive);
        if percent < MIN_HOT_PERCENT {
            return None;
        }
        let context = self.most_expensive(row.context);
        let name = self.names.display(self.tree(), row.context);
        let places = match row.num_contexts {
            1 => "in 1 context".to_owned(),
            n => format!("in {n} contexts"),
        };
        // Of library code the function of the program that needs it says more.
        let below = self
            .classes
            .program_caller(self.tree(), row.context)
            .map_or_else(String::new, |above| {
                format!(" below {}", self.names.display(self.tree(), above))
            });
        let what = if report.unit.is_time() { "Exclusive time" } else { "Exclusive value" };
        let text = format!(
            "{what} of {name} is {}{} of {} ({}), {places}{below}.",
            if self.tree().is_throttled(row.context) { "at least (throttled) " } else { "" },
            percents(percent),
            metric_words(&report.metric_name),
            amount(row.exclusive, &report.unit),
        );
        let unit = report.unit.to_string();
        Some(Finding {
            kind: FindingKind::HotFunction,
            title: format!("{what} of {name}"),
            text,
            percent,
            potential: None,
            evidence: vec![
                Evidence {
                    what: format!("{name}, exclusive"),
                    value: row.exclusive,
                    unit: unit.clone(),
                },
                Evidence { what: format!("{name}, inclusive"), value: row.inclusive, unit },
            ],
            context: Some(context),
            // What hangs below a function that costs nothing itself is its cost as well.
            next: match self.own(context) > 0.0 {
                true => self.callers_of(context, row.exclusive, Cost::Exclusive),
                false => self.callers_of(context, row.exclusive, Cost::Inclusive),
            },
        })
    }
}

/// Whether a share is larger than its uncertainty.
fn is_certain(percent: f64, num_samples: Option<f64>) -> bool {
    let share = (percent / 100.0).clamp(0.0, 1.0);
    num_samples.is_none_or(|n| share > 2.0 * (share * (1.0 - share) / n.max(1.0)).sqrt())
}

fn gpu_copies(session: &Session, report: &Report) -> Option<Finding> {
    let time = |name: &str| {
        let row = report.gpu.iter().find(|row| row.metric == name && row.unit.is_time());
        row.map_or(0.0, |row| row.value)
    };
    let (all, copies) = (time("GPUOP"), time("GXCOPY") + time("GICOPY"));
    let percent = if all > 0.0 { copies / all * 100.0 } else { 0.0 };
    // Where GPUs do hardly anything, what they do does not limit the run time.
    let run = session.experiment().traces.as_ref().map_or(0.0, |t| t.span().nanos() as f64 / 1e9);
    let of_run = if run > 0.0 { (copies / run * 100.0).min(percent) } else { percent };
    if percent < MIN_COPY_PERCENT || of_run < MIN_PERCENT {
        return None;
    }
    let bytes = |name: &str| {
        let row = report.gpu.iter().find(|row| row.metric == name);
        row.map(|row| amount(row.value, &Unit::Bytes))
    };
    let directions: Vec<String> = [("GXCOPY:H2D", "to"), ("GXCOPY:D2H", "from")]
        .iter()
        .filter_map(|(name, way)| Some(format!("{} {way} the device", bytes(name)?)))
        .collect();
    let detail =
        if directions.is_empty() { String::new() } else { format!(" ({})", directions.join(", ")) };
    let text =
        format!("GPU copies take {} of the time of GPU operations{detail}.", percents(percent));
    Some(Finding {
        kind: FindingKind::Gpu,
        title: "GPU copies".into(),
        text,
        percent: of_run,
        potential: None,
        evidence: vec![
            Evidence { what: "copies".into(), value: copies, unit: "s".into() },
            Evidence { what: "all GPU operations".into(), value: all, unit: "s".into() },
        ],
        context: None,
        next: NextStep::new(NextAction::Idleness),
    })
}
