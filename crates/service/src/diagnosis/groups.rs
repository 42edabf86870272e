//! Groups of ranks that differ clearly, and where their nodes stand.

use parallax_analysis::clusters::Effect;
use parallax_analysis::mpi_routine;
use parallax_analysis::report::{
    Finding, FindingKind, NextAction, NextStep, Potential, Purposes, Report,
};
use parallax_analysis::taxonomy::FunctionNames;
use parallax_analysis::topology::Level;
use parallax_base::{ContextIdx, Control, Remedy};
use parallax_model::{ContextKind, ContextTree, IdentityKind};
use parallax_protocol::{BalanceBy, ClusterChoice, TopologyRequest};

use super::{Findings, evidence};
use crate::{
    Answer, ClusterAnswer, OpenExperiment, ServiceError, TopologyAnswer, TopologyNode, UnitRow,
};
use parallax_base::quantity::{counted, quantity};

/// Groups of fewer ranks are told one by one by the balance of contexts.
const MIN_RANKS: usize = 8;
/// With more ranks nodes are grouped instead, which differ as much and are fewer.
const MOST_RANKS: usize = 20_000;
/// More groups than this are a spread, not groups.
const MOST_GROUPS: usize = 3;
/// k-means must find nearly the same groups (adjusted Rand index).
const MIN_AGREEMENT: f64 = 0.9;
/// The groups must hold at least this part of the variance of the context that separates them best.
const MIN_ETA_SQUARED: f64 = 0.8;
/// At least this part of the members is in a group.
const MIN_GROUPED: f64 = 0.9;
/// Where one group has less than this part of what another has, they do different work by design:
/// masters and workers, servers and clients.
const OTHER_WORK: f64 = 0.05;
/// Groups that differ by less than this share of what a member takes are no finding, in per cent.
const MIN_PERCENT: f64 = 5.0;
/// Whole executions that differ by less than this share are equally long, in per cent.
const SAME_LENGTH_PERCENT: f64 = 2.0;
/// Names that are told.
const NAMED: usize = 3;
/// What the evidence calls the difference.
const SAVING: &str = "potential saving of each slow member";
/// Ranges of ranks that are told.
const RANGES: usize = 4;

/// How much longer the members of one group take than those of another.
struct Difference {
    /// The group that takes longer, and the one it is compared with, from 0.
    slow: usize,
    fast: usize,
    /// What says so.
    why: Why,
    /// In the unit of the metric, for each member.
    saving: f64,
}

/// What tells a slow group from the others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    /// Its members take longer in all.
    Whole,
    /// They do more work, while the others wait for as long.
    Work,
    /// They wait longer in one place, and others elsewhere.
    Place,
}

/// At most one finding; none where ranks form no groups, or only such as the program is made of.
/// `place` says where nodes stand.
pub(super) fn unlike_ranks(
    opened: &OpenExperiment,
    report: &Report,
    metric: Option<&str>,
    place: &TopologyRequest,
    control: &Control,
) -> Result<Findings, ServiceError> {
    let none = |notes| Ok(Answer { value: Vec::new(), notes });
    let locations = &opened.session.experiment().locations;
    if report.metric.is_none() || report.num_ranks < MIN_RANKS {
        return none(Vec::new());
    }
    let num_nodes = locations.count_distinct(IdentityKind::Node);
    let is_by_node = report.num_ranks > MOST_RANKS && num_nodes >= MIN_RANKS;
    let clusters = ClusterChoice {
        metrics: metric.map(str::to_owned).into_iter().collect(),
        by: if is_by_node { BalanceBy::Node } else { BalanceBy::Rank },
        ..ClusterChoice::default()
    };
    let (answer, topology, notes) = if num_nodes > 1 {
        let request = TopologyRequest { clusters, ..place.clone() };
        let topology = opened.topology(&request, control)?.value;
        // What a table lacks matters only to those who gave one.
        let notes = if place.hosts.is_empty() { Vec::new() } else { topology.place_notes.clone() };
        (topology.clusters.clone(), Some(topology), notes)
    } else {
        (opened.clusters(&clusters, control)?.value, None, Vec::new())
    };
    let groups = Groups::new(opened, report, &answer);
    let Some(difference) = groups.difference() else { return none(notes) };
    let Some(told) = groups.told(&difference) else { return none(notes) };
    let percent = groups.percent(&difference);
    let is_other_work = mean(told, difference.fast) < OTHER_WORK * mean(told, difference.slow);
    let is_known = topology.is_none() && groups.is_told_already(told);
    if percent < MIN_PERCENT || is_other_work || is_known {
        return none(notes);
    }
    let has_racks = !place.hosts.is_empty() && topology.is_some();
    let stand = match &topology {
        Some(topology) if groups.divide_nodes() => nodes(topology, difference.slow, has_racks),
        _ => groups.ranks(difference.slow),
    };
    let unit = report.unit.to_string();
    let condition = match difference.why {
        Why::Whole => "for each slow one, if as fast as the others",
        Why::Work => "of waiting by the others, if the slow ones were as fast",
        Why::Place => "there for each slow one, if as fast as the others",
    };
    let text = format!("{}.{stand}", groups.sentence(&difference, told));
    let mut numbers = vec![evidence(SAVING, difference.saving, &unit)];
    for (group, stats) in told.groups.iter().enumerate() {
        let what = |what: &str| format!("cluster {}: {what}", group + 1);
        numbers.push(evidence(&what(&format!("{}s", answer.member)), stats.members as f64, ""));
        numbers.push(evidence(&what(&groups.name(told)), stats.mean, &unit));
    }
    if let Some(eta) = told.eta_squared {
        numbers.push(evidence("variance between clusters", eta * 100.0, "%"));
    }
    let action = match (has_racks, is_by_node) {
        (true, true) => NextAction::NodeRacks,
        (true, false) => NextAction::RankRacks,
        (false, true) => NextAction::NodeClusters,
        (false, false) => NextAction::RankClusters,
    };
    let slow = if groups.are_nodes() { "nodes" } else { "ranks" };
    let finding = Finding {
        kind: FindingKind::Groups,
        title: format!("Slow {slow} in {}", groups.name(told)),
        text,
        percent,
        potential: Some(Potential {
            amount: difference.saving,
            unit: report.unit.clone(),
            percent,
            condition,
        }),
        evidence: numbers,
        context: groups.context(told),
        next: NextStep::new(action),
    };
    Ok(Answer { value: vec![finding], notes })
}

/// Whether the finding on groups tells the same difference as one on the imbalance of a caller.
pub(super) fn says_more(groups: &Finding, other: &Finding, tree: &ContextTree) -> bool {
    /// The mean of a group is a little less than its slowest member.
    const SAME: f64 = 1.2;
    let number = |finding: &Finding, what: &str| {
        finding.evidence.iter().find(|one| one.what == what).map(|one| one.value)
    };
    let Some((inner, outer)) = groups.context.zip(other.context) else { return false };
    let savings = number(groups, SAVING).zip(number(other, "potential saving"));
    other.kind == FindingKind::Imbalance
        && tree.is_within(inner, outer)
        && savings.is_some_and(|(groups, balance)| balance <= groups * SAME)
}

fn mean(effect: &Effect, group: usize) -> f64 {
    effect.groups.get(group).map_or(0.0, |stats| stats.mean)
}

/// The groups with the largest and the smallest of these.
fn extremes(values: &[f64]) -> (usize, usize) {
    let by = |a: &usize, b: &usize| {
        let value = |at: &usize| values.get(*at).copied().unwrap_or(0.0);
        value(a).total_cmp(&value(b)).then(b.cmp(a))
    };
    let all = || 0..values.len();
    (all().max_by(by).unwrap_or(0), all().min_by(by).unwrap_or(0))
}

struct Groups<'a> {
    opened: &'a OpenExperiment,
    report: &'a Report,
    answer: &'a ClusterAnswer,
    purposes: Purposes<'a>,
    names: FunctionNames,
}

impl<'a> Groups<'a> {
    fn new(opened: &'a OpenExperiment, report: &'a Report, answer: &'a ClusterAnswer) -> Self {
        let tree = opened.session.tree();
        let (purposes, names) = (Purposes::new(tree), FunctionNames::new(tree));
        Self { opened, report, answer, purposes, names }
    }

    fn context(&self, effect: &Effect) -> Option<ContextIdx> {
        self.answer.measured.contexts.get(effect.feature).copied()
    }

    /// Features that groups are made by, the one that separates best first.
    fn used(&self) -> impl Iterator<Item = &'a Effect> {
        let clusters = &self.answer.clusters;
        let is_used = |effect: &&Effect| {
            clusters.scalings.get(effect.feature).is_some_and(|scaling| scaling.is_used)
        };
        clusters.effects.iter().filter(is_used)
    }

    /// The whole execution.
    fn whole(&self) -> Option<&'a Effect> {
        let columns = &self.answer.measured.features.columns;
        let is_whole = |e: &&Effect| columns.get(e.feature).is_some_and(|column| !column.is_used);
        self.answer.clusters.effects.iter().find(is_whole)
    }

    /// Whether both methods find the same few groups, with hardly anybody outside.
    fn are_clear(&self) -> bool {
        let found = &self.answer.clusters;
        let grouped = found.groups.iter().flatten().count() as f64;
        (2..=MOST_GROUPS).contains(&found.sizes.len())
            && found.sizes.iter().all(|size| *size > 1)
            && grouped >= MIN_GROUPED * found.groups.len() as f64
            && found.agreement.is_some_and(|agreement| agreement >= MIN_AGREEMENT)
            && self.used().next().and_then(|best| best.eta_squared) >= Some(MIN_ETA_SQUARED)
    }

    /// Whether each group consists of several nodes that no other one has.
    fn are_nodes(&self) -> bool {
        let nodes = self.answer.clusters.nodes.as_ref();
        nodes.is_some_and(|n| n.split_nodes == 0 && n.nodes.iter().all(|nodes| *nodes > 1))
    }

    /// Whether the groups divide the nodes among them, of which there are several: no node has ranks
    /// of two groups.
    fn divide_nodes(&self) -> bool {
        let nodes = self.answer.clusters.nodes.as_ref();
        nodes.is_some_and(|n| n.split_nodes == 0 && n.nodes.iter().filter(|n| **n > 0).count() > 1)
    }

    /// What a member takes on average, without helper threads: of a rank the sum of its locations,
    /// of a node the mean of its ranks.
    fn program_mean(&self) -> f64 {
        self.report.program_total / (self.report.num_ranks as f64).max(1.0)
    }

    fn difference(&self) -> Option<Difference> {
        if !self.are_clear() {
            return None;
        }
        let between = |values: &[f64], why| {
            let (slow, fast) = extremes(values);
            let saving = values.get(slow)? - values.get(fast)?;
            Some(Difference { slow, fast, why, saving })
        };
        let means = |effect: &Effect| effect.groups.iter().map(|g| g.mean).collect::<Vec<f64>>();
        let is_much =
            |found: &Difference, least: f64| found.saving >= least / 100.0 * self.program_mean();
        let whole = between(&means(self.whole()?), Why::Whole)?;
        if is_much(&whole, SAME_LENGTH_PERCENT) {
            return Some(whole);
        }
        // What one does more of in one context, it may do less of in another.
        let mut work = vec![0.0; self.answer.clusters.sizes.len()];
        for effect in self.used().filter(|effect| !self.is_waiting(effect)) {
            work.iter_mut().zip(&effect.groups).for_each(|(sum, stats)| *sum += stats.mean);
        }
        let work = between(&work, Why::Work)?;
        if is_much(&work, MIN_PERCENT) {
            return Some(work);
        }
        // All wait as long, but in different places: what is slow there is the node.
        let best = self.used().next().filter(|best| self.is_waiting(best) && self.are_nodes())?;
        between(&means(best), Why::Place)
    }

    fn is_waiting(&self, effect: &Effect) -> bool {
        self.context(effect).is_some_and(|context| self.purposes.is_waiting(context))
    }

    /// The feature in which the slow group takes longer by most.
    fn told(&self, difference: &Difference) -> Option<&'a Effect> {
        let more = |effect: &Effect| mean(effect, difference.slow) - mean(effect, difference.fast);
        let is_clear = |effect: &&Effect| effect.eta_squared >= Some(MIN_ETA_SQUARED);
        let most = self.used().filter(is_clear).max_by(|a, b| more(a).total_cmp(&more(b)));
        most.or_else(|| self.used().next())
    }

    /// What is at stake, in per cent of what a slow member takes; of waiting in one place, which
    /// others do elsewhere, only the part of the slow members.
    fn percent(&self, difference: &Difference) -> f64 {
        let of_slow = self.whole().map_or(0.0, |whole| mean(whole, difference.slow));
        let all = self.whole().map_or(0.0, |whole| {
            let sums = whole.groups.iter().map(|g| g.mean * g.members as f64);
            sums.sum::<f64>() / whole.groups.iter().map(|g| g.members as f64).sum::<f64>().max(1.0)
        });
        let takes = (self.program_mean() + of_slow - all).max(f64::MIN_POSITIVE);
        let slow = self.answer.clusters.sizes.get(difference.slow).copied().unwrap_or(0) as f64;
        let part = match difference.why {
            Why::Place => slow / (self.answer.clusters.groups.len() as f64).max(1.0),
            Why::Whole | Why::Work => 1.0,
        };
        (difference.saving / takes * part * 100.0).clamp(0.0, 100.0)
    }

    /// Whether a finding on imbalance or waiting is about the same code.
    fn is_told_already(&self, told: &Effect) -> bool {
        let Some(own) = self.context(told) else { return false };
        let tree = self.opened.session.tree();
        let is_same = |finding: &Finding| {
            matches!(finding.kind, FindingKind::Imbalance | FindingKind::Mpi)
                && finding.context.is_some_and(|c| tree.is_within(own, c) || tree.is_within(c, own))
        };
        self.report.findings.iter().any(is_same)
    }

    /// A routine of MPI with its caller, a function of a library with the one that needs it.
    fn name(&self, effect: &Effect) -> String {
        let tree = self.opened.session.tree();
        let Some(context) = self.context(effect) else { return String::new() };
        let own = tree.label(context);
        let name = |context| self.names.display(tree, context);
        let caller = match mpi_routine(&own) {
            Some(_) => tree.ancestors(context).find(|&c| tree.kind(c) == ContextKind::Function),
            None => self.purposes.program_caller(context),
        };
        match caller {
            Some(caller) => format!("{} below {}", name(context), name(caller)),
            None => name(context),
        }
    }

    /// `24 of 96 ranks on 24 nodes take 2.76 s each in f, the other 72 take 0.691 s`.
    fn sentence(&self, difference: &Difference, told: &Effect) -> String {
        let found = &self.answer.clusters;
        let member = self.answer.member;
        let unit = self.report.unit.to_string();
        let value = |group: usize| quantity(mean(told, group), &unit);
        let size = |group: usize| found.sizes.get(group).copied().unwrap_or(0);
        let nodes = found.nodes.as_ref().and_then(|nodes| nodes.nodes.get(difference.slow));
        let on = match nodes {
            Some(&nodes) if member != "node" && self.divide_nodes() => {
                format!(" on {}", counted(nodes, "node"))
            }
            _ => String::new(),
        };
        let others: Vec<String> = (0..found.sizes.len())
            .filter(|group| *group != difference.slow)
            .map(|group| format!("{} take {}", counted_only(size(group)), value(group)))
            .collect();
        let each = if member == "node" { "for each rank" } else { "each" };
        format!(
            "{} of {}{on} take {} {each} in {}, the other {}",
            counted_only(size(difference.slow)),
            counted(found.groups.len() as u64, member),
            value(difference.slow),
            self.name(told),
            others.join(", and "),
        )
    }

    /// Which ranks are in a group, in a sentence with a space before it.
    fn ranks(&self, group: usize) -> String {
        let locations = &self.opened.session.experiment().locations;
        let members = self.answer.measured.members.iter().zip(&self.answer.clusters.groups);
        let mut ranks: Vec<u64> = members
            .filter(|(_, of)| of.is_some_and(|of| of as usize == group))
            .filter_map(|(member, _)| locations.identity(member.location, IdentityKind::Rank))
            .collect();
        ranks.sort_unstable();
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for rank in ranks {
            match ranges.last_mut() {
                Some((_, last)) if last.checked_add(1) == Some(rank) => *last = rank,
                _ => ranges.push((rank, rank)),
            }
        }
        let range = |&(first, last): &(u64, u64)| match last - first {
            0 => first.to_string(),
            1 => format!("{first} and {last}"),
            _ => format!("{first} to {last}"),
        };
        let named: Vec<String> = ranges.iter().take(RANGES).map(range).collect();
        let left_out = ranges.get(RANGES..).unwrap_or_default();
        let more = match left_out.iter().map(|(first, last)| last - first + 1).sum() {
            0 => String::new(),
            n => format!(" and {}", counted(n, "more rank")),
        };
        format!(" The slow ones are ranks {}{more}.", named.join(", "))
    }
}

/// A number with commas.
fn counted_only(n: u64) -> String {
    counted(n, "").trim_end_matches(['s', ' ']).to_owned()
}

/// Where the nodes of a group stand, in a sentence with a space before it: by rack where host tables
/// say so, else by name.
fn nodes(topology: &TopologyAnswer, group: usize, has_racks: bool) -> String {
    let is_own = |of: Option<u32>| of.is_some_and(|of| of as usize == group);
    let own: Vec<_> = topology.nodes.iter().filter(|node| is_own(node.group)).collect();
    let level = Level::ALL.into_iter().find(|level| {
        *level >= Level::Rack && topology.units.iter().any(|unit| unit.level == *level)
    });
    if let Some(level) = level.filter(|_| has_racks) {
        let in_group = |unit: &UnitRow| unit.by_group.get(group).copied().unwrap_or(0);
        let all = || topology.units.iter().filter(|unit| unit.level == level);
        let mut units: Vec<&UnitRow> = all().filter(|unit| in_group(unit) > 0).collect();
        units.sort_by(|a, b| in_group(b).cmp(&in_group(a)).then(a.name.cmp(&b.name)));
        let named: Vec<String> = (units.iter().take(NAMED))
            .map(|unit| format!("{} of {} nodes of {}", in_group(unit), unit.nodes, unit.name))
            .collect();
        let what = if all().count() == 1 { level.name() } else { level.plural() };
        let most = if units.len() > NAMED { "most in " } else { "" };
        let mut text = format!(
            " The slow ones are in {} of {} {what} ({most}{})",
            units.len(),
            all().count(),
            named.join(", ")
        );
        let found = (topology.concentrations.iter())
            .filter(|(of, _)| is_own(Some(*of)))
            .flat_map(|(_, levels)| levels);
        let mut is_together = false;
        for one in found {
            if one.is_together() && !is_together {
                text.push_str(", more concentrated than by chance");
                is_together = true;
            }
            if one.whole > 0 {
                let units = if one.whole == 1 { one.level.name() } else { one.level.plural() };
                text.push_str(&format!(", including all nodes of {} {units}", one.whole));
            }
        }
        text.push('.');
        return text;
    }
    let name = |node: &&TopologyNode| {
        let address = node.located.address.map(|address| address.to_string());
        let id = || format!("{:#010x}", node.located.host_id);
        node.located.name.clone().or(address).unwrap_or_else(id)
    };
    let named: Vec<String> = own.iter().copied().take(NAMED).map(|node| name(&node)).collect();
    let more = match own.len().saturating_sub(NAMED) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let are = if own.len() == 1 { "one is" } else { "ones are" };
    format!(" The slow {are} {}{more}; {} to see their racks.", named.join(", "), Remedy::HostTable)
}
