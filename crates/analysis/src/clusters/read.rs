//! Features as a database has them: costs of contexts at locations.

use std::collections::{BTreeMap, BTreeSet};

use parallax_base::{ContextIdx, Control, LocationIdx, MetricIdx};
use parallax_engine::{EngineError, LocationChoice, Session, display_name};
use parallax_model::{ContextKind, ContextTree, IdentityKind, Scope};

use super::{Feature, Features};
use crate::balance::{Balance, BalanceRequest, Grouping, added_note, balance};

/// Part of the largest saving by perfect balance below which a context says too little: on the
/// common scale its noise would count as much as what matters.
const WORTH: f64 = 0.1;

/// Which features.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureRequest {
    /// The metrics.
    pub metrics: Vec<MetricIdx>,
    /// The contexts.
    pub contexts: Vec<ContextIdx>,
    /// The scope of the values.
    pub scope: Scope,
    /// The locations.
    pub locations: LocationChoice,
    /// What the members are: locations, ranks (their locations added up) or nodes (the mean over
    /// their ranks, or over their locations where there are none).
    pub grouping: Grouping,
    /// Features at most, for each metric. Of more contexts those count in which perfect balance
    /// would save most.
    pub most: usize,
}

/// One that is put into a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterMember {
    /// Display name.
    pub label: String,
    /// Its location; of several, the first one.
    pub location: LocationIdx,
    /// The host id of its node.
    pub node: Option<u64>,
    /// How many locations it consists of.
    pub num_locations: u64,
}

/// Features as they were measured.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredFeatures {
    /// Those that have a value in any of the contexts.
    pub members: Vec<ClusterMember>,
    /// Their features; the last of each metric is the whole execution, which is not used.
    pub features: Features,
    /// The context of each feature; the root for the whole execution.
    pub contexts: Vec<ContextIdx>,
    /// Contexts that were left out, because there are more than `most`.
    pub num_left_out: usize,
    /// Contexts that were left out, because perfect balance would save less than a tenth of what it
    /// saves in the least even one.
    pub num_even: usize,
    /// Locations without the identity that they are grouped by.
    pub num_ungrouped: usize,
    /// Members without a value in any of the contexts, which are left out.
    pub num_absent: usize,
    /// Values that are no numbers.
    pub num_wrapped: u64,
    /// As [`Balance::num_added`]; of several metrics the largest.
    pub num_added: usize,
}

impl MeasuredFeatures {
    /// A note on [`MeasuredFeatures::num_added`]; `None` where it is 0.
    #[must_use]
    pub fn added_note(&self) -> Option<String> {
        added_note(self.num_added)
    }
}

/// Those of `contexts` below which none of the others lies.
#[must_use]
pub fn innermost(tree: &ContextTree, contexts: &[ContextIdx]) -> Vec<ContextIdx> {
    let mut sorted = contexts.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let is_inner = |at: usize| match (sorted.get(at), sorted.get(at + 1)) {
        // Contexts are in depth-first order: what lies below comes right after.
        (Some(&own), Some(&next)) => next.idx() >= tree.subtree(own).end,
        _ => true,
    };
    (0..sorted.len()).filter(|&at| is_inner(at)).filter_map(|at| sorted.get(at)).copied().collect()
}

/// Reads features.
///
/// # Errors
/// As [`balance`].
pub fn measure_features(
    session: &Session,
    request: &FeatureRequest,
    control: &Control,
) -> Result<MeasuredFeatures, EngineError> {
    let x = session.experiment();
    let tree = session.tree();
    // Nodes are means over their ranks, so that nodes with fewer ranks are not faster.
    let read_as = match request.grouping {
        Grouping::Identity(IdentityKind::Node) if x.locations.has(IdentityKind::Rank) => {
            Grouping::Identity(IdentityKind::Rank)
        }
        Grouping::Identity(IdentityKind::Node) => Grouping::Location,
        other => other,
    };
    let mut out = MeasuredFeatures {
        members: Vec::new(),
        features: Features::default(),
        contexts: Vec::new(),
        num_left_out: 0,
        num_even: 0,
        num_ungrouped: 0,
        num_absent: 0,
        num_wrapped: 0,
        num_added: 0,
    };
    let mut columns: Vec<(ContextIdx, Feature)> = Vec::new();
    let mut counted: BTreeSet<usize> = BTreeSet::new();
    let mut members = Vec::new();
    for &metric in &request.metrics {
        let question = BalanceRequest {
            scope: request.scope.clone(),
            locations: request.locations.clone(),
            grouping: read_as,
            num_slowest: 0,
            num_bins: 1,
            ..BalanceRequest::new(metric, request.contexts.clone())
        };
        let mut chosen = request.contexts.clone();
        if chosen.len() > request.most {
            let found = balance(session, &question, control)?;
            out.num_left_out = out.num_left_out.max(found.rows.len().saturating_sub(request.most));
            chosen = found.rows.iter().take(request.most).map(|row| row.context).collect();
        }
        let all = |contexts, scope| BalanceRequest {
            contexts,
            scope,
            num_slowest: usize::MAX,
            ..question.clone()
        };
        let mut found = balance(session, &all(chosen, request.scope.clone()), control)?;
        let savings = || found.rows.iter().map(|row| row.distribution.saving);
        let least = WORTH * savings().fold(0.0, f64::max);
        let uneven = savings().filter(|saving| *saving >= least).count();
        out.num_even += found.rows.len() - uneven;
        found.rows.retain(|row| row.distribution.saving >= least);
        out.num_ungrouped = out.num_ungrouped.max(found.num_ungrouped);
        out.num_wrapped += found.num_wrapped;
        out.num_added = out.num_added.max(found.num_added);
        counted.extend(found.rows.iter().flat_map(|row| row.slowest.iter().map(|s| s.member)));
        let named =
            |context: ContextIdx| format!("{} · {}", short_label(tree, context), found.metric);
        for (context, values) in values(&found) {
            let unit = found.unit.to_string();
            let feature = Feature { name: named(context), unit, values, is_used: true };
            columns.push((context, feature));
        }
        let whole = whole(session, &all(vec![ContextTree::ROOT], Scope::Inclusive), control)?;
        if let Some(values) = whole {
            let name = format!("whole execution · {}", found.metric);
            let feature = Feature { name, unit: found.unit.to_string(), values, is_used: false };
            columns.push((ContextTree::ROOT, feature));
        }
        members = found.members;
    }
    out.num_absent = members.len() - counted.len();
    let kept: Vec<usize> = counted.into_iter().collect();
    for (_, feature) in &mut columns {
        feature.values = kept.iter().filter_map(|&at| feature.values.get(at)).copied().collect();
    }
    let num_locations = locations_of(session, request, read_as);
    out.members = kept
        .iter()
        .filter_map(|&at| members.get(at))
        .map(|member| ClusterMember {
            label: member.label.clone(),
            location: member.location,
            node: x.locations.identity(member.location, IdentityKind::Node),
            num_locations: num_locations(member.id),
        })
        .collect();
    tell_apart(tree, &mut columns);
    (out.contexts, out.features.columns) = columns.into_iter().unzip();
    if request.grouping == Grouping::Identity(IdentityKind::Node) {
        by_node(&mut out);
    }
    Ok(out)
}

/// A context as a feature is called by: a function without its arguments.
fn short_label(tree: &ContextTree, context: ContextIdx) -> String {
    match tree.function_name(context) {
        Some(name) if tree.kind(context) == ContextKind::Function => display_name(name),
        _ => tree.label(context),
    }
}

/// Call sites of one function get their ids.
fn tell_apart(tree: &ContextTree, columns: &mut [(ContextIdx, Feature)]) {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for (_, feature) in columns.iter() {
        *counts.entry(feature.name.clone()).or_default() += 1;
    }
    for (context, feature) in columns {
        if counts.get(&feature.name).is_some_and(|n| *n > 1) {
            feature.name = format!("{} (context {})", feature.name, tree.source_id(*context));
        }
    }
}

/// How many locations a member consists of.
fn locations_of<'a>(
    session: &'a Session,
    request: &'a FeatureRequest,
    grouping: Grouping,
) -> impl Fn(Option<u64>) -> u64 + 'a {
    let mut by_id: std::collections::HashMap<u64, u64> = std::collections::HashMap::new();
    if let Grouping::Identity(kind) = grouping {
        let catalog = &session.experiment().locations;
        let all: Vec<LocationIdx> = match &request.locations {
            LocationChoice::All => catalog.iter().collect(),
            LocationChoice::Some(list) => list.clone(),
        };
        for id in all.into_iter().filter_map(|location| catalog.identity(location, kind)) {
            *by_id.entry(id).or_default() += 1;
        }
    }
    move |id| id.and_then(|id| by_id.get(&id)).copied().unwrap_or(1)
}

/// The values of all members by context, in the order of the tree.
fn values(found: &Balance) -> Vec<(ContextIdx, Vec<f64>)> {
    let mut out: Vec<(ContextIdx, Vec<f64>)> = found
        .rows
        .iter()
        .map(|row| {
            let mut values = vec![0.0; found.members.len()];
            for slow in &row.slowest {
                if let Some(value) = values.get_mut(slow.member) {
                    *value = slow.value;
                }
            }
            (row.context, values)
        })
        .collect();
    out.sort_by_key(|(context, _)| *context);
    out
}

/// The cost of the whole execution at each member; `None` where nothing is stored for it.
fn whole(
    session: &Session,
    question: &BalanceRequest,
    control: &Control,
) -> Result<Option<Vec<f64>>, EngineError> {
    let mut found = balance(session, question, control)?;
    if found.rows.is_empty() {
        // Some sources store nothing for the root.
        let contexts = session.tree().children(ContextTree::ROOT).collect();
        found = balance(session, &BalanceRequest { contexts, ..question.clone() }, control)?;
    }
    Ok(values(&found).into_iter().map(|(_, values)| values).reduce(|mut sum, next| {
        sum.iter_mut().zip(next).for_each(|(sum, next)| *sum += next);
        sum
    }))
}

/// Puts members of the same node together: means of their features.
fn by_node(found: &mut MeasuredFeatures) {
    let mut ids: Vec<u64> = found.members.iter().filter_map(|member| member.node).collect();
    ids.sort_unstable();
    ids.dedup();
    let at: std::collections::HashMap<u64, usize> = ids.iter().copied().zip(0..).collect();
    let mut members: Vec<Option<ClusterMember>> = vec![None; ids.len()];
    let mut counts = vec![0.0; ids.len()];
    let mut sums = vec![vec![0.0; ids.len()]; found.features.columns.len()];
    for (row, member) in found.members.iter().enumerate() {
        let Some(&node) = member.node.and_then(|id| at.get(&id)) else {
            found.num_ungrouped += 1;
            continue;
        };
        let of_node = members[node].get_or_insert_with(|| ClusterMember {
            label: format!("node {:#x}", member.node.unwrap_or_default()),
            num_locations: 0,
            ..member.clone()
        });
        of_node.num_locations += member.num_locations;
        counts[node] += 1.0;
        for (sums, column) in sums.iter_mut().zip(&found.features.columns) {
            sums[node] += column.values.get(row).copied().unwrap_or(0.0);
        }
    }
    for (column, sums) in found.features.columns.iter_mut().zip(sums) {
        column.values =
            sums.iter().zip(&counts).map(|(sum, count)| sum / f64::max(*count, 1.0)).collect();
    }
    found.members = members.into_iter().flatten().collect();
}
