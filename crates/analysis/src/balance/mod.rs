//! Load balance: how evenly a cost is spread over locations, ranks or nodes.
//!
//! For each context (or function) the values of all members are read in batches of contexts, so
//! that memory stays bounded at any number of ranks.
//!
//! **Who counts.** A sampled profile stores no zeros, so "no value" may mean "spent nothing there"
//! or "never was there". [`MemberRule::Ran`] counts a location with 0 when it ran below the same
//! outermost context (the entry: main thread, application thread, ...). So a rank that never
//! reached a function counts as 0, and the helper threads of MPI, which have an entry of their own,
//! do not count among the ranks. Groups (ranks, nodes) count whenever they have any sample at all.
//! [`MemberRule::TakesPart`] counts stored values only, as hpcanalysis does, and
//! [`BalanceRow::num_absent`] says how many locations ran without one.
//!
//! **GPUs.** The streams of a GPU are one member. Its times are those in which any of its streams is
//! busy, as far as a trace says when that is, or else the sum over its streams; all else is a sum.

mod distribution;
mod functions;
mod histogram;
mod members;
pub(crate) mod read;
mod streams;

use std::collections::HashMap;

use parallax_base::{ContextIdx, Control, MetricIdx, Remedy, Unit, threads};
use parallax_engine::{EngineError, LocationChoice, Session};
use parallax_model::{ContextKind, ContextTree, IdentityKind, Scope};

pub use distribution::{Distribution, PERCENTILES};
pub use functions::{Pooling, balance_by_function};
pub use histogram::{Bins, Histogram, MAX_BINS, histogram};
pub use members::Member;

use members::{Members, Presence};
use read::{SliceParts, visit_values};
use streams::Streams;

/// Values at least this large are counters that ran below zero in one sample.
pub(crate) const WRAPPED: f64 = parallax_engine::WRAPPED_COUNT;

/// Numbers of the matrix of rows and members that are in memory at a time.
const MAX_CELLS: usize = 4 << 20;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Grouping {
    /// Every location for itself; the streams of a GPU together.
    Location,
    /// The values of all locations with the same rank, node, ... are added up first. Locations
    /// without such an element are left out.
    Identity(IdentityKind),
}

impl Grouping {
    /// Ranks where there are at least two, otherwise locations.
    #[must_use]
    pub fn natural(session: &Session) -> Self {
        if session.experiment().locations.num_ranks() > 1 {
            Self::Identity(IdentityKind::Rank)
        } else {
            Self::Location
        }
    }

    /// What the members are called, in the singular: `location`, `rank`, `node`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Location => "location",
            Self::Identity(kind) => kind.name(),
        }
    }
}

/// Which members count in a context in which they have no value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum MemberRule {
    /// Those that ran below the same outermost context; of groups, those with any sample.
    #[default]
    Ran,
    /// None: only those that take part, with a stored value, count.
    TakesPart,
}

/// A question about balance.
#[derive(Debug, Clone, PartialEq)]
pub struct BalanceRequest {
    /// The metric.
    pub metric: MetricIdx,
    /// The scope of its values. [`Scope::LexicalAware`] is computed from [`Scope::Exclusive`],
    /// because writers store wrong values for some loops.
    pub scope: Scope,
    /// The contexts, distinct, in any order.
    pub contexts: Vec<ContextIdx>,
    /// The locations to compare.
    pub locations: LocationChoice,
    /// What is compared.
    pub grouping: Grouping,
    /// Which members count with nothing.
    pub members: MemberRule,
    /// How many of the slowest members each row names.
    pub num_slowest: usize,
    /// Number of bins of the histograms.
    pub num_bins: usize,
}

impl BalanceRequest {
    /// The inclusive cost of `contexts` over all locations, one by one, with five slowest members
    /// and 16 bins.
    #[must_use]
    pub fn new(metric: MetricIdx, contexts: Vec<ContextIdx>) -> Self {
        Self {
            metric,
            scope: Scope::Inclusive,
            contexts,
            locations: LocationChoice::All,
            grouping: Grouping::Location,
            members: MemberRule::Ran,
            num_slowest: 5,
            num_bins: 16,
        }
    }
}

/// A member with its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slow {
    /// Position in [`Balance::members`].
    pub member: usize,
    /// Its value, in the metric's unit.
    pub value: f64,
}

/// The balance of one context or function.
#[derive(Debug, Clone, PartialEq)]
pub struct BalanceRow {
    /// Label of the context, or name of the function.
    pub name: String,
    /// The context; of a function, the first one.
    pub context: ContextIdx,
    /// Number of contexts that were added up.
    pub num_contexts: usize,
    /// How its cost is spread.
    pub distribution: Distribution,
    /// Members that ran below the same outermost context, but spent nothing here and do not count.
    pub num_absent: usize,
    /// The members with the largest values, from the largest; equal ones in their order.
    pub slowest: Vec<Slow>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Balance {
    /// Name of the metric.
    pub metric: String,
    /// Its unit.
    pub unit: Unit,
    /// The scope of the values.
    pub scope: Scope,
    /// What is compared.
    pub grouping: Grouping,
    /// Those that are compared.
    pub members: Vec<Member>,
    /// From the row that perfect balance would save most; equal ones in the order of the tree.
    /// Contexts without any value have no row.
    pub rows: Vec<BalanceRow>,
    /// Chosen locations that have no element of the kind they are grouped by, and are left out.
    pub num_ungrouped: usize,
    /// Values that were left out because they are not finite, or counters that wrapped below zero.
    pub num_wrapped: u64,
    /// GPUs the times of whose streams were added up, because no trace says when they overlap: they
    /// may be more than the time of the GPU.
    pub num_added: usize,
}

impl Balance {
    /// A note on [`Balance::num_added`]; `None` where it is 0.
    #[must_use]
    pub fn added_note(&self) -> Option<String> {
        added_note(self.num_added)
    }

    /// The labels of the slowest members of a row, from the slowest.
    pub fn slowest_labels<'a>(&'a self, row: &'a BalanceRow) -> impl Iterator<Item = &'a str> {
        row.slowest.iter().filter_map(|slow| self.members.get(slow.member)).map(|m| &*m.label)
    }
}

/// What [`Balance::num_added`] means, as a note; `None` of 0. `cluster` and `report` say the same.
pub(crate) fn added_note(num_added: usize) -> Option<String> {
    (num_added > 0).then(|| {
        format!(
            "the times of the streams of {num_added} GPUs are added up, because no trace says when \
             they overlap: they may be more than the time of the GPU"
        )
    })
}

/// One row to be: a weighted sum of contexts.
struct RowPlan {
    name: String,
    context: ContextIdx,
    /// Contexts that the row is about; decide who counts.
    subject: Vec<ContextIdx>,
    terms: Vec<(ContextIdx, f64)>,
}

/// How evenly the cost of each of the requested contexts is spread over locations.
///
/// # Errors
/// When the metric is not stored in the scope, the values cannot be read, or the question is
/// withdrawn.
pub fn balance(
    session: &Session,
    request: &BalanceRequest,
    control: &Control,
) -> Result<Balance, EngineError> {
    let tree = session.tree();
    let mut contexts = request.contexts.clone();
    contexts.sort_unstable();
    contexts.dedup();
    let inner = if request.scope == Scope::LexicalAware { inner_loops(tree) } else { Vec::new() };
    let plan = |context: ContextIdx| {
        let mut terms = vec![(context, 1.0)];
        let nested = inner.get(context.idx()).into_iter().flatten();
        terms.extend(nested.map(|&inner| (inner, -1.0)));
        RowPlan { name: tree.label(context), context, subject: vec![context], terms }
    };
    let plans: Vec<RowPlan> = contexts.into_iter().map(plan).collect();
    compute(session, request, &plans, control)
}

/// The balance of the sum of all requested contexts, as one row. None of them may lie below
/// another.
pub(crate) fn balance_of_sum(
    session: &Session,
    request: &BalanceRequest,
    name: &str,
    control: &Control,
) -> Result<Balance, EngineError> {
    balance_of_sums(session, request, vec![(name.into(), request.contexts.clone())], control)
}

/// The balance of sums of contexts, one row for each of the sums, which have names. No context of one
/// may lie below another; those of the request are not used.
pub(crate) fn balance_of_sums(
    session: &Session,
    request: &BalanceRequest,
    sums: Vec<(String, Vec<ContextIdx>)>,
    control: &Control,
) -> Result<Balance, EngineError> {
    let plan = |(name, subject): (String, Vec<ContextIdx>)| {
        let context = subject.first().copied()?;
        let terms = subject.iter().map(|&context| (context, 1.0)).collect();
        Some(RowPlan { name, context, subject, terms })
    };
    let plans: Vec<RowPlan> = sums.into_iter().filter_map(plan).collect();
    compute(session, request, &plans, control)
}

/// For each loop the loops directly within it, reached without a call.
fn inner_loops(tree: &ContextTree) -> Vec<Vec<ContextIdx>> {
    let mut out = vec![Vec::new(); tree.len()];
    let is_loop = |context| tree.kind(context) == ContextKind::Loop;
    for context in tree.iter().filter(|&context| is_loop(context)) {
        let mut at = context;
        while !tree.relation(at).is_call()
            && let Some(above) = tree.parent(at)
        {
            if is_loop(above) {
                out[above.idx()].push(context);
                break;
            }
            at = above;
        }
    }
    out
}

/// The metric id whose values the scope is made of.
fn value_id(session: &Session, request: &BalanceRequest) -> Result<u16, EngineError> {
    let metric = session.experiment().metrics.get(request.metric);
    let stored = match request.scope {
        Scope::LexicalAware => &Scope::Exclusive,
        ref scope => scope,
    };
    metric.id_in(stored).ok_or_else(|| EngineError::Missing {
        what: format!("metric {} is not stored in scope {}", metric.name, stored.source_name()),
        hint: format!("{} for the scopes of each", Remedy::SeeMetrics),
    })
}

fn compute(
    session: &Session,
    request: &BalanceRequest,
    plans: &[RowPlan],
    control: &Control,
) -> Result<Balance, EngineError> {
    let x = session.experiment();
    let id = value_id(session, request)?;
    let members = Members::new(&x.locations, &request.locations, request.grouping);
    let parts = SliceParts { locations: &members.locations, metric: id };
    let subjects = plans.iter().flat_map(|plan| plan.subject.iter().copied());
    let presence = Presence::new(session, request, &members, subjects, control)?;
    let streams = Streams::new(session, request, &members.locations);
    let width = members.list.len();
    let is_difference = request.scope == Scope::LexicalAware;
    let batch = (MAX_CELLS / width.max(1)).max(1);
    let (mut rows, mut num_wrapped) = (Vec::new(), 0);
    for plans in plans.chunks(batch) {
        let mut cells = vec![0.0; plans.len() * width];
        // Sizes of what is subtracted from each other: a difference of equal sums may be off by
        // their last digits.
        let mut sizes = vec![0.0; if is_difference { cells.len() } else { 0 }];
        let mut uses: HashMap<ContextIdx, Vec<(usize, f64)>> = HashMap::new();
        for (row, plan) in plans.iter().enumerate() {
            for &(context, weight) in &plan.terms {
                uses.entry(context).or_default().push((row, weight));
            }
        }
        let contexts: Vec<ContextIdx> = uses.keys().copied().collect();
        let factors = streams.factors(session, &request.scope, plans, control)?;
        visit_values(session, &parts, &contexts, control, |location, context, value| {
            if !value.is_finite() || value.abs() >= WRAPPED {
                num_wrapped += 1;
            } else if let Some(member) = members.of(location) {
                for &(row, weight) in uses.get(&context).into_iter().flatten() {
                    let value = value * factors.of(location, row);
                    cells[row * width + member] += weight * value;
                    if is_difference {
                        sizes[row * width + member] += value.abs();
                    }
                }
            }
        })?;
        for (cell, size) in cells.iter_mut().zip(&sizes) {
            if cell.abs() <= size * 1e-12 {
                *cell = 0.0;
            }
        }
        let work: Vec<usize> = (0..plans.len()).collect();
        rows.extend(
            threads::map(work, |row| {
                let values = cells.get(row * width..(row + 1) * width).unwrap_or_default();
                finish(request, &plans[row], values, &presence)
            })
            .into_iter()
            .flatten(),
        );
    }
    sort(&mut rows);
    Ok(Balance {
        metric: x.metrics.get(request.metric).name.to_string(),
        unit: x.metrics.get(request.metric).unit.clone(),
        scope: request.scope.clone(),
        grouping: request.grouping,
        num_ungrouped: members.num_ungrouped,
        members: members.list,
        rows,
        num_wrapped,
        num_added: streams.num_added,
    })
}

fn sort(rows: &mut [BalanceRow]) {
    let saving = |row: &BalanceRow| row.distribution.saving;
    rows.sort_by(|a, b| saving(b).total_cmp(&saving(a)).then(a.context.cmp(&b.context)));
}

/// The row of `values`, one per member; `None` when no member has any.
fn finish(
    request: &BalanceRequest,
    plan: &RowPlan,
    values: &[f64],
    presence: &Presence,
) -> Option<BalanceRow> {
    if values.iter().all(|value| *value == 0.0) {
        return None;
    }
    let ran = presence.counts(&plan.subject);
    let takes_part_only = request.members == MemberRule::TakesPart;
    let mut num_absent = 0;
    let mut present: Vec<Slow> = Vec::new();
    for (member, (&value, &ran)) in values.iter().zip(&ran).enumerate() {
        if value != 0.0 || (ran && !takes_part_only) {
            present.push(Slow { member, value });
        } else if ran {
            num_absent += 1;
        }
    }
    let found = row(plan.name.clone(), plan.context, plan.subject.len(), present, request)?;
    Some(BalanceRow { num_absent, ..found })
}

/// The row of the given members and values.
fn row(
    name: String,
    context: ContextIdx,
    num_contexts: usize,
    mut values: Vec<Slow>,
    request: &BalanceRequest,
) -> Option<BalanceRow> {
    let plain: Vec<f64> = values.iter().map(|slow| slow.value).collect();
    let distribution = Distribution::new(&plain, request.num_bins)?;
    let slower = |a: &Slow, b: &Slow| b.value.total_cmp(&a.value).then(a.member.cmp(&b.member));
    if request.num_slowest < values.len() {
        values.select_nth_unstable_by(request.num_slowest, slower);
        values.truncate(request.num_slowest);
    }
    values.sort_unstable_by(slower);
    Some(BalanceRow { name, context, num_contexts, distribution, num_absent: 0, slowest: values })
}
