//! What balancing a function can save at most, and which differences are meant to be.

use std::collections::BTreeSet;

use parallax_base::{ContextIdx, Control};
use parallax_engine::EngineError;
use parallax_model::{ContextKind, ContextTree, IdentityKind, Scope};

use super::findings::Uneven;
use super::{Facts, Report};
use crate::balance::{Balance, BalanceRequest, BalanceRow, Distribution, Member, balance_of_sum};
use crate::math::numeric::count;
use crate::taxonomy::classes::CostClass;

/// A context is uneven when its slowest member takes this many times the mean.
pub(super) const MIN_IMBALANCE: f64 = 1.1;

/// A function is uneven itself where at least this part of the excess of the slowest member is its
/// own.
const ITSELF: f64 = 0.2;
/// Of two imbalances that are one, the inner one is at least this part of the outer one.
const NEARLY: f64 = 0.8;

/// Work that lasts a second longer on one member than on another is that much less waiting there;
/// of an imbalance of work at least this part of it is seen.
const ITS_WORK: f64 = 0.2;

/// Slope of the line of least squares through points (x, y); none where all x are the same.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let n = count(points.len().max(1));
    let mean_x = points.iter().map(|point| point.0).sum::<f64>() / n;
    let mean_y = points.iter().map(|point| point.1).sum::<f64>() / n;
    let var = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum::<f64>();
    let cov = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>();
    (var > 0.0).then(|| cov / var)
}

/// Whether one imbalance can be that of another one, seen from further inside: the same member is
/// slowest, by nearly as much.
fn is_same(outer: &Uneven<'_>, inner: &Uneven<'_>) -> bool {
    let slowest = |uneven: &Uneven<'_>| uneven.row.slowest.first().map(|slow| slow.member);
    let (of_outer, of_inner) = (&outer.row.distribution, &inner.row.distribution);
    slowest(outer) == slowest(inner)
        && of_inner.saving >= NEARLY * of_outer.saving
        && of_inner.max <= of_outer.max
        && of_inner.mean <= of_outer.mean
}

impl Facts<'_> {
    /// What balancing anything can save at most for each member: with all work spread evenly, and
    /// nothing else, the slowest would take as long as the mean work.
    pub(super) fn most_saving(
        &self,
        balance: &Balance,
        num_members: usize,
        control: &Control,
    ) -> Result<f64, EngineError> {
        let tree = self.tree();
        let is_program = |context: &ContextIdx| {
            let is_top =
                |above| above == ContextTree::ROOT || tree.kind(above) == ContextKind::Entry;
            tree.kind(*context) != ContextKind::Entry
                && tree.parent(*context).is_some_and(is_top)
                && self.classes.of_context.get(context.idx()) != Some(&CostClass::HelperThreads)
        };
        let contexts: Vec<ContextIdx> = tree.iter().filter(is_program).collect();
        if contexts.is_empty() {
            return Ok(f64::INFINITY);
        }
        let slowest = self.values(balance, contexts, control)?.into_iter().fold(0.0, f64::max);
        let is_work = |class: CostClass| {
            use CostClass::{Application, LibraryIo, Memory, OpenMpWork, PosixIo};
            matches!(class, Application | OpenMpWork | PosixIo | LibraryIo | Memory)
        };
        Ok(slowest - self.class_costs.of(is_work) / count(num_members))
    }

    /// The outermost context around `context` that is of the program.
    pub(super) fn part_of_program(&self, context: ContextIdx) -> Option<ContextIdx> {
        let tree = self.tree();
        let is_part =
            |at: &ContextIdx| !matches!(tree.kind(*at), ContextKind::Root | ContextKind::Entry);
        std::iter::once(context).chain(tree.ancestors(context)).take_while(is_part).last()
    }

    /// What balancing anything inside `part`, an outermost context, can save at most for each member
    /// that runs it. Threads that a program starts with functions of their own do other work than
    /// those that start and join them: how long these take says nothing about the share of work
    /// among those. No limit where all members run it: then they are compared as a whole.
    pub(super) fn most_saving_in(
        &self,
        balance: &Balance,
        part: ContextIdx,
        num_members: usize,
        control: &Control,
    ) -> Result<f64, EngineError> {
        let values = self.values(balance, self.names.phases.all(part), control)?;
        let present = values.iter().filter(|value| **value > 0.0).count();
        if present == 0 || present >= num_members {
            return Ok(f64::INFINITY);
        }
        let slowest = values.iter().copied().fold(0.0, f64::max);
        let work = values.iter().sum::<f64>() * (1.0 - self.waiting_share(part));
        let mean = work / count(present);
        // What is even as a whole is not made better by balancing what is inside.
        Ok(if slowest < MIN_IMBALANCE * mean { 0.0 } else { slowest - mean })
    }

    /// Whether calls are known below `context`. Where they are not, as in a profile without call
    /// paths, the time in a function includes what the functions take that it calls.
    fn has_calls(&self, context: ContextIdx) -> bool {
        let tree = self.tree();
        tree.descendants(context).any(|at| tree.relation(at).is_call())
    }

    /// Imbalances of work, without those of waiting. Where calls are known, waiting is seen below a
    /// function; where they are not, it is told by the members: those that work longer in a function
    /// wait less in MPI, and those that wait inside it wait more. What shows neither is not claimed.
    pub(super) fn of_work<'r>(
        &self,
        balance: &Balance,
        all: Vec<Uneven<'r>>,
        control: &Control,
    ) -> Result<Vec<Uneven<'r>>, EngineError> {
        let boundaries = self.classes.boundaries.iter();
        let waits = boundaries.filter(|one| one.inside.is_waiting()).map(|one| one.context);
        let waits: Vec<ContextIdx> = waits.collect();
        if waits.is_empty() || all.iter().all(|uneven| self.has_calls(uneven.row.context)) {
            return Ok(all);
        }
        let waiting = self.values_in(balance, waits, Scope::Exclusive, control)?;
        let mut out = Vec::new();
        for uneven in all {
            let is_work = self.has_calls(uneven.row.context) || {
                let contexts = self.names.phases.all(uneven.row.context);
                let own = self.values(balance, contexts, control)?;
                let members = balance.members.iter().zip(own.into_iter().zip(&waiting));
                let points: Vec<(f64, f64)> = members
                    .filter(|(member, _)| member.has_samples)
                    .map(|(_, (own, waiting))| (own, *waiting))
                    .collect();
                slope(&points).is_some_and(|slope| slope <= -ITS_WORK)
            };
            if is_work {
                out.push(uneven);
            }
        }
        Ok(out)
    }

    /// Imbalances without those that lie inside another one, where a profile has no call paths: there
    /// a function has no others below it, though most of what it costs is that of those it calls.
    pub(super) fn joined<'r>(
        &self,
        balance: &Balance,
        all: Vec<Uneven<'r>>,
        control: &Control,
    ) -> Result<Vec<Uneven<'r>>, EngineError> {
        let cost = |uneven: &Uneven<'_>| self.costs.inclusive_of(uneven.row.context);
        let mut by_cost = all;
        by_cost.sort_by(|a, b| cost(b).total_cmp(&cost(a)).then(a.row.context.cmp(&b.row.context)));
        let mut out: Vec<Uneven<'r>> = Vec::new();
        for inner in by_cost {
            let mut outer = None;
            for (at, candidate) in out.iter().enumerate() {
                let is_candidate =
                    !self.has_calls(candidate.row.context) && is_same(candidate, &inner);
                if is_candidate && !self.is_of_itself(balance, candidate, control)? {
                    outer = Some(at);
                    break;
                }
            }
            match outer.and_then(|at| out.get_mut(at)) {
                Some(outer) => outer.inside.push((inner.name, inner.row.distribution.max)),
                None => out.push(inner),
            }
        }
        out.sort_by(|a, b| b.saving.total_cmp(&a.saving).then(a.row.context.cmp(&b.row.context)));
        Ok(out)
    }

    /// Whether what the slowest member does longer is in the function itself, and not in what it
    /// calls. Where that is not stored, it is taken to be.
    fn is_of_itself(
        &self,
        balance: &Balance,
        uneven: &Uneven<'_>,
        control: &Control,
    ) -> Result<bool, EngineError> {
        let metric = self.session.experiment().metrics.get(self.metric);
        let Some(slowest) = uneven.row.slowest.first() else { return Ok(true) };
        if metric.id_in(&Scope::Exclusive).is_none() {
            return Ok(true);
        }
        let contexts = self.names.phases.all(uneven.row.context);
        let own = self.values_in(balance, contexts, Scope::Exclusive, control)?;
        let mean = own.iter().sum::<f64>() / count(own.len().max(1));
        let excess = own.get(slowest.member).copied().unwrap_or(0.0) - mean;
        Ok(excess >= ITSELF * uneven.row.distribution.saving)
    }

    /// The cost of each member in the sum of `contexts`, none of which lies below another.
    pub(super) fn values(
        &self,
        balance: &Balance,
        contexts: Vec<ContextIdx>,
        control: &Control,
    ) -> Result<Vec<f64>, EngineError> {
        self.values_in(balance, contexts, Scope::Inclusive, control)
    }

    fn values_in(
        &self,
        balance: &Balance,
        contexts: Vec<ContextIdx>,
        scope: Scope,
        control: &Control,
    ) -> Result<Vec<f64>, EngineError> {
        let request = BalanceRequest {
            scope,
            grouping: balance.grouping,
            locations: self.compared.clone(),
            num_slowest: usize::MAX,
            ..BalanceRequest::new(self.metric, contexts)
        };
        let answer = balance_of_sum(self.session, &request, "sum", control)?;
        let mut out = vec![0.0; balance.members.len()];
        for slow in answer.rows.iter().flat_map(|row| &row.slowest) {
            if let Some(value) = out.get_mut(slow.member) {
                *value = slow.value;
            }
        }
        Ok(out)
    }

    /// Whether some members have nothing there because they do something else all the time, which
    /// the others do not, such as servers of data, and the others are even among themselves.
    pub(super) fn is_by_design(
        &self,
        report: &Report,
        balance: &Balance,
        row: &BalanceRow,
        control: &Control,
    ) -> Result<bool, EngineError> {
        let d = &row.distribution;
        let absent = d.num_members.saturating_sub(d.num_values);
        if absent < 2 || d.num_values < 2 {
            return Ok(false);
        }
        let own = self.values(balance, self.names.phases.all(row.context), control)?;
        let present: Vec<f64> = own.iter().copied().filter(|value| *value > 0.0).collect();
        let imbalance = Distribution::new(&present, 1).and_then(|present| present.imbalance);
        if imbalance.is_none_or(|factor| factor >= MIN_IMBALANCE) {
            return Ok(false);
        }
        // Several programs that run together each have functions of their own.
        let locations = &self.session.experiment().locations;
        let program =
            |member: &Member| locations.identity(member.location, IdentityKind::Application);
        let with = |is_present: bool| {
            let members = balance.members.iter().zip(&own).filter(|(member, _)| member.has_samples);
            let some = members.filter(move |(_, value)| (**value > 0.0) == is_present);
            some.map(|(member, _)| program(member)).collect::<BTreeSet<_>>()
        };
        let (present, missing) = (with(true), with(false));
        if !missing.contains(&None) && present.is_disjoint(&missing) {
            return Ok(true);
        }
        // What they do instead takes at least half of their time.
        let least = 0.5 * report.program_total * count(absent) / count(d.num_members);
        let is_instead = |other: &&BalanceRow| {
            other.distribution.num_values == absent && other.distribution.sum >= least
        };
        for other in balance.rows.iter().filter(is_instead) {
            let theirs = self.values(balance, self.names.phases.all(other.context), control)?;
            if own.iter().zip(&theirs).all(|(own, theirs)| *own <= 0.0 || *theirs <= 0.0) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
