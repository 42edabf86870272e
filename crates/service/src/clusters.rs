//! Groups of locations that cost alike: the answer of `cluster`.

use parallax_analysis::balance::{Distribution, Grouping};
use parallax_analysis::clusters::{
    Clusters, Effect, FeatureRequest, MeasuredFeatures, Method, Stability, cluster, innermost,
    measure_features,
};
use parallax_base::{ContextIdx, Control};
use parallax_engine::query::{normalised_name, parse_contexts};
use parallax_engine::resolve::resolve_contexts;
use parallax_engine::{Column, EngineError, Table};
use parallax_model::{ContextKind, ContextTree, IdentityKind, Scope};

use crate::options::locations;
use crate::timeline::path;
use crate::{Answer, BalanceBy, Opened, ServiceError};

/// Features at most when nobody names contexts, and when somebody does.
const FEATURES: usize = 8;
const MOST_FEATURES: usize = 64;

/// How groups are found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ClusterMethod {
    /// By density; what is `None` is chosen from the data.
    Dbscan {
        /// Largest distance of neighbours, in standard deviations.
        eps: Option<f64>,
        /// Members within that distance that make a core.
        min_points: Option<u32>,
    },
    /// Around centres.
    KMeans {
        /// Number of groups; `None` chooses it from the data.
        k: Option<u32>,
    },
}

impl Default for ClusterMethod {
    fn default() -> Self {
        Self::Dbscan { eps: None, min_points: None }
    }
}

/// Which groups.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClusterRequest {
    /// Metric expressions; none for the metric that says most about time.
    pub metrics: Vec<String>,
    /// A context expression, each context a feature; `None` for the innermost functions that cost
    /// at least 1 %, those first that perfect balance would save most.
    pub contexts: Option<String>,
    /// A profile expression; `None` for all locations.
    pub profiles: Option<String>,
    /// Costs without what contexts call.
    pub is_exclusive: bool,
    /// What is put into groups: locations, ranks or nodes.
    pub by: BalanceBy,
    /// How.
    pub method: ClusterMethod,
}

/// The groups, and what a person should know about them.
#[derive(Debug, Clone)]
pub struct ClusterAnswer {
    /// The analysis.
    pub clusters: Clusters,
    /// What it rests on.
    pub measured: MeasuredFeatures,
    /// What the members are called, in the singular: `location`, `rank`, `node`.
    pub member: &'static str,
    /// Why this metric, where nobody named one.
    pub reason: Option<String>,
    /// What was found, as sentences with their numbers, the most important first.
    pub findings: Vec<String>,
    /// One row for each member. Columns: `location`, `label`, `node` (host id), `group` (from 1;
    /// null for outliers), `axis_1`, `axis_2`, and one column for each feature.
    pub members: Table,
    /// One row for each group and feature. Columns: `group`, `members`, `nodes`, `feature`, `mean`,
    /// `min`, `max`, `std_dev`, `unit`.
    pub groups: Table,
    /// One row for each feature, the one that separates best first. Columns: `feature`, `context`,
    /// `context_id`, `eta_squared`, `cohens_d`, `auc`, `disjoint`, `balance_ratio`, `used`.
    pub features: Table,
    /// One row for each number of groups of k-means and each pair of groups. Columns: `of`, `k`,
    /// `first`, `second`, `shared_nodes`, `split_nodes`.
    pub stability: Table,
    /// One row for each k. Columns: `k`, `explained_percent`, `silhouette`, `gap`, `gap_error`,
    /// `chosen`.
    pub scores: Table,
    /// One row for each eps of DBSCAN. Columns: `eps`, `groups`, `outliers`, `chosen`.
    pub steps: Table,
}

impl Opened {
    /// Puts locations, ranks or nodes that cost alike into groups.
    ///
    /// # Errors
    /// When an expression is wrong, the values cannot be read, or the question is withdrawn.
    pub fn clusters(
        &self,
        request: &ClusterRequest,
        control: &Control,
    ) -> Result<Answer<ClusterAnswer>, ServiceError> {
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
        let locations = locations(session, request.profiles.as_deref(), &mut notes)?;
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
            let hint = "name other contexts or metrics; `parallax flat` lists them".into();
            return Err(EngineError::Missing { what, hint }.into());
        }
        remarks(&measured, grouping.name(), request.contexts.is_some(), &mut notes);
        let nodes = numbered_nodes(&measured);
        let method = match request.method {
            ClusterMethod::Dbscan { eps, min_points } => Method::Dbscan { eps, min_points },
            ClusterMethod::KMeans { k } => Method::KMeans { k },
        };
        let clusters = cluster(&measured.features, nodes.as_deref(), method, control)?;
        let told = Told {
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
            members: told.members_table(),
            groups: told.groups_table(),
            features: told.features_table(),
            stability: told.stability_table(),
            scores: told.scores_table(),
            steps: told.steps_table(),
            clusters,
            measured,
        };
        Ok(Answer { value, notes })
    }
}

fn remarks(measured: &MeasuredFeatures, member: &str, is_named: bool, notes: &mut Vec<String>) {
    if measured.num_ungrouped > 0 {
        notes.push(format!("{} locations without {member} are excluded.", measured.num_ungrouped));
    }
    if measured.num_absent > 0 {
        let n = measured.num_absent;
        notes.push(format!("{n} locations without values in these contexts are excluded."));
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

/// A number with its unit, as a sentence has it.
pub(crate) fn figure(value: f64, unit: &str) -> String {
    let size = value.abs();
    let text = match size {
        _ if size == 0.0 => "0".to_owned(),
        _ if !(1e-3..1e7).contains(&size) => format!("{value:.3e}"),
        _ if size >= 1000.0 => format!("{value:.0}"),
        _ if size >= 100.0 => format!("{value:.1}"),
        _ if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    };
    if unit.is_empty() { text } else { format!("{text} {unit}") }
}

/// A count with its word.
pub(crate) fn counted(n: u64, one: &str) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if n == 1 { format!("{text} {one}") } else { format!("{text} {one}s") }
}

/// The functions of a call path by their short names.
fn calls(tree: &ContextTree, context: ContextIdx) -> String {
    let mut names: Vec<String> = std::iter::once(context)
        .chain(tree.ancestors(context))
        .filter(|&at| tree.kind(at) == ContextKind::Function)
        .filter_map(|at| tree.function_name(at))
        .map(|name| normalised_name(name).into_owned())
        .collect();
    names.reverse();
    names.join(" > ")
}

struct Told<'a> {
    tree: &'a ContextTree,
    measured: &'a MeasuredFeatures,
    clusters: &'a Clusters,
    member: &'a str,
    request: &'a ClusterRequest,
}

impl Told<'_> {
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
            format!("{} in cluster {}", figure(stats.mean, &feature.unit), group + 1)
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
        match self.request.method {
            ClusterMethod::Dbscan { .. } => {
                let eps = &found.eps;
                let chosen = if eps.is_given {
                    format!("eps {}", figure(eps.eps, ""))
                } else if eps.stable.1 > eps.stable.0 {
                    format!(
                        "eps {}, the middle of {} to {} standard deviations in which the number of \
                         clusters is constant",
                        figure(eps.eps, ""),
                        figure(eps.stable.0, ""),
                        figure(eps.stable.1, "")
                    )
                } else {
                    format!(
                        "eps {} standard deviations, the smallest with one cluster",
                        figure(eps.eps, "")
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
            ClusterMethod::KMeans { k: Some(k) } => {
                let other = agreement.map_or_else(String::new, |a| format!("; DBSCAN {a}"));
                format!("k-means with k = {k} as requested{other}.")
            }
            ClusterMethod::KMeans { k: None } => {
                let other = agreement.map_or_else(String::new, |a| format!("; DBSCAN {a}"));
                format!("k-means with {k}{other}.")
            }
        }
    }

    fn members_table(&self) -> Table {
        let members = &self.measured.members;
        let found = self.clusters;
        let group = found.groups.iter().map(|group| group.map(|group| u64::from(group) + 1));
        let axis = |nth: usize| {
            found.positions.iter().map(|at| at.get(nth).copied().unwrap_or(0.0)).collect()
        };
        let mut columns = vec![
            Column::u32s(
                "location",
                "Profile number in the database; of a rank or node, of its first location.",
                members.iter().map(|member| member.location.get()).collect(),
            ),
            Column::strings("label", "What it is called.", members.iter().map(|m| &m.label)),
            Column::optional_u64s(
                "node",
                "",
                "Host id of its node.",
                members.iter().map(|m| m.node),
            ),
            Column::optional_u64s("group", "", "Its group, from 1; null for outliers.", group),
            Column::f64s(
                "axis_1",
                "",
                "Position along the axis in which members differ most, in standard deviations.",
                axis(0),
            ),
            Column::f64s("axis_2", "", "Position along the second axis.", axis(1)),
        ];
        for feature in &self.measured.features.columns {
            let doc = "Value of this feature.";
            columns.push(Column::f64s(
                feature.name.clone(),
                &feature.unit,
                doc,
                feature.values.clone(),
            ));
        }
        Table::new(columns)
    }

    fn groups_table(&self) -> Table {
        let rows: Vec<(usize, &Effect, &parallax_analysis::clusters::GroupStats)> = {
            let by_effect = |effect| -> Vec<_> {
                let effect: &Effect = effect;
                effect
                    .groups
                    .iter()
                    .enumerate()
                    .map(move |(group, stats)| (group, effect, stats))
                    .collect()
            };
            let mut rows: Vec<_> = self.clusters.effects.iter().flat_map(by_effect).collect();
            rows.sort_by_key(|(group, _, _)| *group);
            rows
        };
        let nodes = |group: usize| {
            self.clusters.nodes.as_ref().and_then(|nodes| nodes.nodes.get(group)).copied()
        };
        let number = |of: fn(&parallax_analysis::clusters::GroupStats) -> f64| {
            rows.iter().map(|row| of(row.2)).collect::<Vec<f64>>()
        };
        let feature = |row: &(usize, &Effect, _)| self.feature(row.1).map_or("", |f| &f.name);
        let unit = |row: &(usize, &Effect, _)| self.feature(row.1).map_or("", |f| &f.unit);
        Table::new(vec![
            Column::u64s(
                "group",
                "",
                "Number of the group, the largest first.",
                rows.iter().map(|r| r.0 as u64 + 1).collect(),
            ),
            Column::u64s(
                "members",
                "",
                "Members of the group.",
                rows.iter().map(|r| r.2.members).collect(),
            ),
            Column::optional_u64s(
                "nodes",
                "",
                "Nodes with members of the group.",
                rows.iter().map(|r| nodes(r.0)),
            ),
            Column::strings(
                "feature",
                "Context and metric.",
                rows.iter().map(|r| feature(&(r.0, r.1, ()))),
            ),
            Column::f64s("mean", "", "Mean over the members of the group.", number(|s| s.mean)),
            Column::f64s("min", "", "Smallest.", number(|s| s.range.0)),
            Column::f64s("max", "", "Largest.", number(|s| s.range.1)),
            Column::f64s("std_dev", "", "Sample standard deviation.", number(|s| s.std_dev)),
            Column::strings(
                "unit",
                "Unit of these numbers.",
                rows.iter().map(|r| unit(&(r.0, r.1, ()))),
            ),
        ])
    }

    fn features_table(&self) -> Table {
        let effects = &self.clusters.effects;
        let context = |effect: &Effect| {
            self.measured.contexts.get(effect.feature).copied().unwrap_or(ContextTree::ROOT)
        };
        let balance = |effect: &Effect| {
            let values = &self.feature(effect)?.values;
            Distribution::new(values, 1)?.balance_ratio
        };
        let used = |effect: &Effect| {
            u64::from(self.clusters.scalings.get(effect.feature).is_some_and(|s| s.is_used))
        };
        let eta = effects.iter().map(|e| e.eta_squared).collect();
        Table::new(vec![
            Column::strings(
                "feature",
                "Context and metric.",
                effects.iter().map(|e| self.feature(e).map_or("", |f| &f.name)),
            ),
            Column::strings(
                "context",
                "Its call path.",
                effects.iter().map(|e| path(self.tree, context(e))),
            ),
            Column::u32s(
                "context_id",
                "Id of it in the database.",
                effects.iter().map(|e| self.tree.source_id(context(e))).collect(),
            ),
            Column::optional_f64s(
                "eta_squared",
                "",
                "Part of its variance that lies between the groups; null with one cluster.",
                eta,
            ),
            Column::optional_f64s(
                "cohens_d",
                "",
                "Difference of the two groups that are farthest apart, in standard deviations.",
                effects.iter().map(|e| e.cohens_d).collect(),
            ),
            Column::optional_f64s(
                "auc",
                "",
                "Probability that a member of one cluster has more than a member of the other.",
                effects.iter().map(|e| e.auc).collect(),
            ),
            Column::u64s(
                "disjoint",
                "",
                "1: values of the clusters do not overlap.",
                effects.iter().map(|e| u64::from(e.is_disjoint)).collect(),
            ),
            Column::optional_f64s(
                "balance_ratio",
                "",
                "Mean divided by the largest, over all members.",
                effects.iter().map(balance).collect(),
            ),
            Column::u64s(
                "used",
                "",
                "1: groups are made by it. 0: the same everywhere, or the whole execution.",
                effects.iter().map(used).collect(),
            ),
        ])
    }

    fn stability_table(&self) -> Table {
        type Row<'a> = (&'a str, u32, Option<u64>, Option<u64>, u64, u64);
        let mut rows: Vec<Row<'_>> = Vec::new();
        let lists: [(&str, &[Stability]); 2] =
            [("all", &self.clusters.stability), ("group 1", &self.clusters.stability_inside)];
        for (of, list) in lists {
            for one in list {
                let split = one.split_nodes;
                if one.shared.is_empty() {
                    rows.push((of, one.k, None, None, 0, split));
                }
                for pair in &one.shared {
                    let number = |group: u32| Some(u64::from(group) + 1);
                    rows.push((
                        of,
                        one.k,
                        number(pair.first),
                        number(pair.second),
                        pair.nodes,
                        split,
                    ));
                }
            }
        }
        Table::new(vec![
            Column::strings("of", "Which members k-means was run on.", rows.iter().map(|r| r.0)),
            Column::u32s("k", "Number of groups.", rows.iter().map(|r| r.1).collect()),
            Column::optional_u64s(
                "first",
                "",
                "A group; null where no groups share nodes.",
                rows.iter().map(|r| r.2),
            ),
            Column::optional_u64s("second", "", "Another group.", rows.iter().map(|r| r.3)),
            Column::u64s(
                "shared_nodes",
                "",
                "Nodes with members in both.",
                rows.iter().map(|r| r.4).collect(),
            ),
            Column::u64s(
                "split_nodes",
                "",
                "Nodes with members in several of the k groups.",
                rows.iter().map(|r| r.5).collect(),
            ),
        ])
    }

    fn scores_table(&self) -> Table {
        let scores = &self.clusters.k_scores;
        let best = self.clusters.best_k;
        Table::new(vec![
            Column::u32s("k", "Number of groups.", scores.iter().map(|s| s.k).collect()),
            Column::f64s(
                "explained_percent",
                "%",
                "Part of the variance that lies between the groups.",
                scores.iter().map(|s| 100.0 * s.explained).collect(),
            ),
            Column::optional_f64s(
                "silhouette",
                "",
                "How clear the groups are: 1 is perfect.",
                scores.iter().map(|s| s.silhouette).collect(),
            ),
            Column::f64s(
                "gap",
                "",
                "How much closer together than evenly spread members, as a difference of logarithms.",
                scores.iter().map(|s| s.gap).collect(),
            ),
            Column::f64s(
                "gap_error",
                "",
                "Standard error of the gap.",
                scores.iter().map(|s| s.gap_error).collect(),
            ),
            Column::u64s(
                "chosen",
                "",
                "1: the k that these speak for.",
                scores.iter().map(|s| u64::from(s.k == best)).collect(),
            ),
        ])
    }

    fn steps_table(&self) -> Table {
        let eps = &self.clusters.eps;
        let chosen = |step: &parallax_analysis::clusters::EpsStep| u64::from(step.eps == eps.eps);
        Table::new(vec![
            Column::f64s(
                "eps",
                "",
                "Largest distance of neighbours, in standard deviations.",
                eps.steps.iter().map(|s| s.eps).collect(),
            ),
            Column::u32s("groups", "Groups with it.", eps.steps.iter().map(|s| s.groups).collect()),
            Column::u64s(
                "outliers",
                "",
                "Outliers.",
                eps.steps.iter().map(|s| s.outliers).collect(),
            ),
            Column::u64s(
                "chosen",
                "",
                "1: the eps that was used.",
                eps.steps.iter().map(chosen).collect(),
            ),
        ])
    }
}
