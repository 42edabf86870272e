//! Clusters of locations with similar cost: the answer of `clusters`.

use parallax_analysis::balance::{Distribution, Grouping};
use parallax_analysis::clusters::{
    Clusters, Effect, FeatureRequest, MeasuredFeatures, Method, Stability, cluster, innermost,
    measure_features,
};
use parallax_base::quantity::{counted, quantity};
use parallax_base::{ContextIdx, Control, Remedy};
use parallax_engine::query::parse_contexts;
use parallax_engine::resolve::resolve_contexts;
use parallax_engine::{EngineError, display_name};
use parallax_model::{ContextKind, ContextTree, IdentityKind, Scope};
use parallax_protocol::{
    self as protocol, BalanceBy, ClusterChoice, ClusterFeatureRow, ClusterFeatureTable,
    ClusterGroupRow, ClusterGroupTable, ClusterMemberTable, ClusterMethod, ClusterScoreRow,
    ClusterScoreTable, ClusterStabilityRow, ClusterStabilityTable, ClusterStepRow,
    ClusterStepTable, ClustersReply, ClustersRequest, ClustersTables, Column,
};

use crate::options::program_locations;
use crate::timeline::path;
use crate::{Answer, Answers, OpenExperiment, ServiceError};

/// Most features without named contexts, and with them.
const FEATURES: usize = 8;
const MOST_FEATURES: usize = 64;
/// Clusters of k-means at most.
const MOST_K: u32 = 64;

/// The groups, with remarks.
#[derive(Debug, Clone)]
pub struct ClusterAnswer {
    /// The analysis.
    pub clusters: Clusters,
    /// What it rests on.
    pub measured: MeasuredFeatures,
    /// What the members are called, in the singular: `location`, `rank`, `node`.
    pub member: &'static str,
    /// Why this metric, where none was named.
    pub reason: Option<String>,
    /// What was found, as sentences with their numbers, the most important first.
    pub findings: Vec<String>,
    /// Members, clusters, features and how they were found, as tables.
    pub tables: ClustersTables,
}

impl Answers<ClustersRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &ClustersRequest,
        control: &Control,
    ) -> Result<protocol::Answer<ClustersRequest>, ServiceError> {
        let Answer { value: found, mut notes } = self.clusters(&request.clusters, control)?;
        notes.extend(found.reason);
        let columns = || found.measured.features.columns.iter();
        let reply = ClustersReply {
            findings: found.findings,
            member: found.member,
            features: columns().map(|column| column.name.clone()).collect(),
            units: columns().map(|column| column.unit.clone()).collect(),
            sizes: found.clusters.sizes,
            axis_shares: found.clusters.axis_shares,
            notes,
        };
        Ok(protocol::Answer::new(reply, found.tables))
    }
}

impl OpenExperiment {
    /// Clusters locations, ranks or nodes with similar cost.
    ///
    /// # Errors
    /// When an expression is wrong, the values cannot be read, or the question is withdrawn.
    pub fn clusters(
        &self,
        request: &ClusterChoice,
        control: &Control,
    ) -> Result<Answer<ClusterAnswer>, ServiceError> {
        self.needs_whole_trace()?;
        let session = self.session();
        let mut notes = Vec::new();
        let mut metrics = Vec::new();
        let mut reason = None;
        if request.metrics.is_empty() {
            let (metric, why) = self.metric(None, control)?;
            metrics.push(metric);
            reason = why;
        }
        for text in &request.metrics {
            metrics.push(self.metric(Some(text), control)?.0);
        }
        let (profiles, helpers) = (request.profiles.as_deref(), request.helpers);
        let locations = program_locations(self, profiles, helpers, &mut notes, control)?;
        let (contexts, most) = match &request.contexts {
            Some(text) => {
                let (contexts, more) = resolve_contexts(session, &parse_contexts(text)?, control)?;
                notes.extend(more);
                (contexts, MOST_FEATURES)
            }
            None => {
                let metric = metrics.first().copied();
                let costly = match metric {
                    Some(metric) => self.costly_functions(metric, control)?,
                    None => Vec::new(),
                };
                (innermost(session.tree(), &costly), FEATURES)
            }
        };
        let grouping = match request.by {
            BalanceBy::Profile => Grouping::Location,
            BalanceBy::Rank => Grouping::Identity(IdentityKind::Rank),
            BalanceBy::Node => Grouping::Identity(IdentityKind::Node),
        };
        let question = FeatureRequest {
            metrics,
            contexts,
            scope: if request.is_exclusive { Scope::Exclusive } else { Scope::Inclusive },
            locations,
            grouping,
            most,
        };
        let measured = measure_features(session, &question, control)?;
        if measured.members.is_empty() {
            let what = "no values in these contexts at these locations".into();
            let hint = format!("name other contexts or metrics; {}", Remedy::SeeFlat);
            return Err(EngineError::Missing { what, hint }.into());
        }
        remarks(&measured, grouping.name(), request.contexts.is_some(), &mut notes);
        let nodes = numbered_nodes(&measured);
        let method = match request.method {
            ClusterMethod::Dbscan => Method::Dbscan {
                eps: request.eps.filter(|eps| eps.is_finite() && *eps > 0.0),
                min_points: request.min_points,
            },
            ClusterMethod::KMeans => Method::KMeans { k: request.k.map(|k| k.clamp(1, MOST_K)) },
        };
        let clusters = cluster(&measured.features, nodes.as_deref(), method, control)?;
        let told = SummaryWriter {
            tree: session.tree(),
            measured: &measured,
            clusters: &clusters,
            member: grouping.name(),
            request,
        };
        let value = ClusterAnswer {
            member: grouping.name(),
            reason,
            findings: told.findings(),
            tables: ClustersTables {
                members: told.members_table(),
                groups: told.groups_table(),
                features: told.features_table(),
                stability: told.stability_table(),
                scores: told.scores_table(),
                steps: told.steps_table(),
            },
            clusters,
            measured,
        };
        Ok(Answer { value, notes })
    }
}

fn remarks(measured: &MeasuredFeatures, member: &str, is_named: bool, notes: &mut Vec<String>) {
    if measured.num_ungrouped > 0 {
        notes.push(excluded_without(measured.num_ungrouped as u64, member));
    }
    if measured.num_absent > 0 {
        notes.push(excluded_without(measured.num_absent as u64, "values in these contexts"));
    }
    if measured.num_wrapped > 0 {
        notes.push(format!(
            "{} values are wrapped counters or not numbers; they are excluded.",
            measured.num_wrapped
        ));
    }
    notes.extend(measured.added_note());
    if measured.num_even > 0 {
        let n = counted(measured.num_even as u64, if is_named { "context" } else { "function" });
        notes.push(format!("{n} excluded: imbalance below a tenth of the largest."));
    }
    if measured.num_left_out > 0 {
        let n = measured.num_left_out;
        let which = if is_named { "contexts" } else { "functions" };
        notes.push(format!("{n} {which} with less imbalance are excluded."));
    }
}

/// The nodes of the members by numbers; `None` where a member's node is not known.
fn numbered_nodes(measured: &MeasuredFeatures) -> Option<Vec<u32>> {
    let ids: Option<Vec<u64>> = measured.members.iter().map(|member| member.node).collect();
    let ids = ids?;
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    sorted.dedup();
    let at = |id: &u64| sorted.binary_search(id).ok().and_then(|at| u32::try_from(at).ok());
    ids.iter().map(at).collect()
}

/// What is said of locations that are left out because they have no `what`.
pub(crate) fn excluded_without(n: u64, what: &str) -> String {
    let verb = if n == 1 { "is" } else { "are" };
    format!("{} without {what} {verb} excluded.", counted(n, "location"))
}

/// The functions of a call path by their short names.
fn calls(tree: &ContextTree, context: ContextIdx) -> String {
    let mut names: Vec<String> = std::iter::once(context)
        .chain(tree.ancestors(context))
        .filter(|&at| tree.kind(at) == ContextKind::Function)
        .filter_map(|at| tree.function_name(at))
        .map(display_name)
        .collect();
    names.reverse();
    names.join(" > ")
}

struct SummaryWriter<'a> {
    tree: &'a ContextTree,
    measured: &'a MeasuredFeatures,
    clusters: &'a Clusters,
    member: &'a str,
    request: &'a ClusterChoice,
}

impl SummaryWriter<'_> {
    fn feature(&self, effect: &Effect) -> Option<&parallax_analysis::clusters::Feature> {
        self.measured.features.columns.get(effect.feature)
    }

    fn findings(&self) -> Vec<String> {
        let found = self.clusters;
        let mut out = vec![self.sizes()];
        let used = |effect: &&Effect| {
            found.scalings.get(effect.feature).is_some_and(|scaling| scaling.is_used)
        };
        if found.sizes.len() > 1 {
            if let Some(best) = found.effects.iter().find(used) {
                out.extend(self.separation(best));
                let context = self.measured.contexts.get(best.feature);
                if let Some(&context) = context.filter(|context| **context != ContextTree::ROOT) {
                    out.push(format!("Call path: {}.", calls(self.tree, context)));
                }
            }
            let whole = found
                .effects
                .iter()
                .find(|effect| self.feature(effect).is_some_and(|feature| !feature.is_used));
            if let Some(whole) = whole.filter(|effect| effect.pair.is_some()) {
                out.extend(self.means(whole).map(|means| means + "."));
            }
        }
        if found.groups.len() > 1 {
            out.push(self.how());
        }
        let constant: Vec<&str> = self
            .measured
            .features
            .columns
            .iter()
            .zip(&found.scalings)
            .filter(|(feature, scaling)| feature.is_used && !scaling.is_used)
            .map(|(feature, _)| feature.name.as_str())
            .collect();
        if !constant.is_empty() {
            const NAMED: usize = 3;
            let more = match constant.len().saturating_sub(NAMED) {
                0 => String::new(),
                n => format!(" and {n} more"),
            };
            let named = constant.get(..NAMED.min(constant.len())).unwrap_or_default().join(", ");
            out.push(format!("Constant over members, so not used: {named}{more}."));
        }
        out
    }

    fn sizes(&self) -> String {
        let found = self.clusters;
        let outliers = found.groups.iter().filter(|group| group.is_none()).count() as u64;
        let each = |(group, &size): (usize, &u64)| {
            let nodes = found.nodes.as_ref().and_then(|nodes| nodes.nodes.get(group));
            let on = match nodes {
                Some(&nodes) if self.member != "node" => format!(" on {}", counted(nodes, "node")),
                _ => String::new(),
            };
            format!("{}{on}", counted(size, self.member))
        };
        let groups: Vec<String> = found.sizes.iter().enumerate().map(each).collect();
        let mut text = match groups.as_slice() {
            [] => "No clusters".to_owned(),
            [one] => format!("1 cluster: {one}"),
            several => format!("{} clusters: {}", several.len(), several.join("; ")),
        };
        if outliers > 0 {
            text.push_str(&format!("; {} (outliers)", counted(outliers, self.member)));
        }
        if let Some(nodes) =
            found.nodes.as_ref().filter(|_| found.sizes.len() > 1 && self.member != "node")
        {
            text.push_str(&match nodes.split_nodes {
                0 => "; no node is in more than one cluster".to_owned(),
                1 => "; 1 node is in more than one cluster".to_owned(),
                n => format!("; {n} nodes are in more than one cluster"),
            });
        }
        text + "."
    }

    fn separation(&self, effect: &Effect) -> Option<String> {
        let means = self.means(effect)?;
        let eta = effect.eta_squared?;
        let values = &self.feature(effect)?.values;
        let balance = Distribution::new(values, 1).and_then(|all| all.balance_ratio);
        let balance = balance.map_or_else(String::new, |b| format!("; balance ratio {b:.2}"));
        let ranges = if effect.is_disjoint {
            "values of the clusters do not overlap"
        } else {
            "values of the clusters overlap"
        };
        Some(format!(
            "Best separated by {means} ({:.1} % of its variance is between clusters; \
             {ranges}{balance}).",
            100.0 * eta
        ))
    }

    /// `MPI_Allreduce · CPUTIME: 0.691 s in cluster 1, 2.76 s in cluster 2`.
    fn means(&self, effect: &Effect) -> Option<String> {
        let feature = self.feature(effect)?;
        let each = |(group, stats): (usize, &parallax_analysis::clusters::GroupStats)| {
            format!("{} in cluster {}", quantity(stats.mean, &feature.unit), group + 1)
        };
        const NAMED: usize = 6;
        let means: Vec<String> = effect.groups.iter().enumerate().take(NAMED).map(each).collect();
        // Groups are numbered from the largest.
        let more = match effect.groups.len().saturating_sub(NAMED) {
            0 => String::new(),
            1 => ", and 1 smaller cluster".to_owned(),
            n => format!(", and {n} smaller clusters"),
        };
        Some(format!("{}: {}{more}", feature.name, means.join(", ")))
    }

    fn how(&self) -> String {
        let found = self.clusters;
        let agreement = found.agreement.map(|agreement| match agreement {
            a if a > 0.999_999 => "finds the same clusters".to_owned(),
            a if a < 0.2 => format!("finds different clusters (adjusted Rand index {a:.2})"),
            a => format!("agrees partly (adjusted Rand index {a:.2})"),
        });
        let best = found.k_scores.iter().find(|score| score.k == found.best_k);
        let k = match best.and_then(|score| Some((score, score.silhouette?))) {
            Some((score, silhouette)) => format!(
                "k = {}, chosen by the best separation (silhouette {silhouette:.2}, gap {:.2} ± \
                 {:.2} versus {:.2} for one cluster)",
                score.k,
                score.gap,
                score.gap_error,
                found.k_scores.first().map_or(0.0, |one| one.gap)
            ),
            None => {
                "k = 1, because no k separates better than uniformly distributed members".to_owned()
            }
        };
        match (self.request.method, self.request.k) {
            (ClusterMethod::Dbscan, _) => {
                let eps = &found.eps;
                let chosen = if eps.is_given {
                    format!("eps {}", quantity(eps.eps, ""))
                } else if eps.stable.1 > eps.stable.0 {
                    format!(
                        "eps {}, the middle of {} to {} standard deviations in which the number of \
                         clusters is constant",
                        quantity(eps.eps, ""),
                        quantity(eps.stable.0, ""),
                        quantity(eps.stable.1, "")
                    )
                } else {
                    format!(
                        "eps {} standard deviations, the smallest with one cluster",
                        quantity(eps.eps, "")
                    )
                };
                let axes = if eps.explained < 0.9995 {
                    let held = 100.0 * eps.explained;
                    format!(", on {} principal axes with {held:.0} % of the variance", eps.num_axes)
                } else {
                    String::new()
                };
                let other =
                    agreement.map_or_else(String::new, |a| format!("; k-means with {k} {a}"));
                let least = counted(u64::from(eps.min_points), "member");
                format!(
                    "DBSCAN with {chosen}, core points with at least {least} within \
                     eps{axes}{other}."
                )
            }
            (ClusterMethod::KMeans, Some(k)) => {
                let k = k.clamp(1, MOST_K);
                let other = agreement.map_or_else(String::new, |a| format!("; DBSCAN {a}"));
                format!("k-means with k = {k} as requested{other}.")
            }
            (ClusterMethod::KMeans, None) => {
                let other = agreement.map_or_else(String::new, |a| format!("; DBSCAN {a}"));
                format!("k-means with {k}{other}.")
            }
        }
    }

    fn members_table(&self) -> ClusterMemberTable {
        let members = &self.measured.members;
        let found = self.clusters;
        let axis = |nth: usize| {
            found.positions.iter().map(|at| at.get(nth).copied().unwrap_or(0.0)).collect()
        };
        let feature = |feature: &parallax_analysis::clusters::Feature| {
            let doc = "Value of this feature.";
            Column::f64s(feature.name.clone(), &feature.unit, doc, feature.values.clone())
        };
        ClusterMemberTable {
            location: members.iter().map(|member| member.location.get()).collect(),
            label: members.iter().map(|member| member.label.clone()).collect(),
            node: members.iter().map(|member| member.node).collect(),
            group: found.groups.iter().map(|group| group.map(number)).collect(),
            axis_1: axis(0),
            axis_2: axis(1),
            feature: self.measured.features.columns.iter().map(feature).collect(),
        }
    }

    fn groups_table(&self) -> ClusterGroupTable {
        let effects = self.clusters.effects.iter();
        let mut rows: Vec<_> = effects
            .flat_map(|effect| {
                let groups = effect.groups.iter().enumerate();
                groups.map(move |(group, stats)| (group, self.feature(effect), stats))
            })
            .collect();
        rows.sort_by_key(|(group, ..)| *group);
        let nodes = |group: usize| {
            self.clusters.nodes.as_ref().and_then(|nodes| nodes.nodes.get(group)).copied()
        };
        let row = |(group, feature, stats): (
            usize,
            Option<&parallax_analysis::clusters::Feature>,
            &parallax_analysis::clusters::GroupStats,
        )| ClusterGroupRow {
            group: group as u64 + 1,
            members: stats.members,
            nodes: nodes(group),
            feature: feature.map(|feature| feature.name.clone()).unwrap_or_default(),
            mean: stats.mean,
            min: stats.range.0,
            max: stats.range.1,
            std_dev: stats.std_dev,
            unit: feature.map(|feature| feature.unit.clone()).unwrap_or_default(),
        };
        rows.into_iter().map(row).collect()
    }

    fn features_table(&self) -> ClusterFeatureTable {
        let row = |effect: &Effect| {
            let context = self.measured.contexts.get(effect.feature).copied();
            let context = context.unwrap_or(ContextTree::ROOT);
            let feature = self.feature(effect);
            let spread = feature.and_then(|feature| Distribution::new(&feature.values, 1));
            let scaling = self.clusters.scalings.get(effect.feature);
            ClusterFeatureRow {
                feature: feature.map(|feature| feature.name.clone()).unwrap_or_default(),
                context: path(self.tree, context),
                context_id: self.tree.source_id(context),
                eta_squared: effect.eta_squared,
                cohens_d: effect.cohens_d,
                auc: effect.auc,
                disjoint: u64::from(effect.is_disjoint),
                balance_ratio: spread.and_then(|spread| spread.balance_ratio),
                used: u64::from(scaling.is_some_and(|scaling| scaling.is_used)),
            }
        };
        self.clusters.effects.iter().map(row).collect()
    }

    fn stability_table(&self) -> ClusterStabilityTable {
        let mut table = ClusterStabilityTable::default();
        let lists: [(&'static str, &[Stability]); 2] =
            [("all", &self.clusters.stability), ("group 1", &self.clusters.stability_inside)];
        for (of, list) in lists {
            for one in list {
                let none = ClusterStabilityRow {
                    of,
                    k: one.k,
                    first: None,
                    second: None,
                    shared_nodes: 0,
                    split_nodes: one.split_nodes,
                };
                table.extend(one.shared.is_empty().then(|| none.clone()));
                table.extend(one.shared.iter().map(|pair| ClusterStabilityRow {
                    first: Some(number(pair.first)),
                    second: Some(number(pair.second)),
                    shared_nodes: pair.nodes,
                    ..none.clone()
                }));
            }
        }
        table
    }

    fn scores_table(&self) -> ClusterScoreTable {
        let row = |score: &parallax_analysis::clusters::KScore| ClusterScoreRow {
            k: score.k,
            explained_percent: 100.0 * score.explained,
            silhouette: score.silhouette,
            gap: score.gap,
            gap_error: score.gap_error,
            chosen: u64::from(score.k == self.clusters.best_k),
        };
        self.clusters.k_scores.iter().map(row).collect()
    }

    fn steps_table(&self) -> ClusterStepTable {
        let eps = &self.clusters.eps;
        let row = |step: &parallax_analysis::clusters::EpsStep| ClusterStepRow {
            eps: step.eps,
            groups: step.groups,
            outliers: step.outliers,
            chosen: u64::from(step.eps == eps.eps),
        };
        eps.steps.iter().map(row).collect()
    }
}

/// The number of a cluster as displayed, from 1.
fn number(group: u32) -> u64 {
    u64::from(group) + 1
}
