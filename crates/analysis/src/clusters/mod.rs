//! Groups of locations that cost alike, by features: the cost of chosen contexts in chosen metrics.
//!
//! Features are put on one scale (less their mean, divided by their standard deviation). DBSCAN says
//! which members lie close together and which are outliers; k-means divides them into k groups. Both
//! choose their parameters themselves and say why. Groups are numbered from the largest.
//!
//! Nothing depends on the order of the members or on names: points are sorted by their coordinates
//! before anything is computed, and nothing is drawn at random.

mod axes;
mod choice;
mod dbscan;
mod effects;
mod kmeans;
mod points;
mod read;
mod stability;

use parallax_base::Control;
use parallax_engine::EngineError;

use crate::math::numeric::count;
use axes::Axes;
use points::{Points, standardise};

pub use choice::KScore;
pub use dbscan::{EpsChoice, EpsStep};
pub use effects::{Effect, GroupStats};
pub use points::Scaling;
pub use read::{ClusterMember, FeatureRequest, MeasuredFeatures, innermost, measure_features};
pub use stability::{STABILITY_KS, SharedNodes, Stability};

/// One number per member.
#[derive(Debug, Clone, PartialEq)]
pub struct Feature {
    /// What it is called: the context and the metric.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// One value per member.
    pub values: Vec<f64>,
    /// Whether groups are made by it; otherwise it is only described.
    pub is_used: bool,
}

/// What is known about the members.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Features {
    /// All of the same length.
    pub columns: Vec<Feature>,
}

impl Features {
    /// Features that are all used, without units.
    #[must_use]
    pub fn of_columns(columns: &[(&str, &[f64])]) -> Self {
        let column = |(name, values): &(&str, &[f64])| Feature {
            name: (*name).to_owned(),
            unit: String::new(),
            values: values.to_vec(),
            is_used: true,
        };
        Self { columns: columns.iter().map(column).collect() }
    }

    /// Number of members.
    #[must_use]
    pub fn num_members(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }
}

/// How groups are found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    /// DBSCAN; what is `None` is chosen from the data.
    Dbscan {
        /// Largest distance of neighbours, in standard deviations.
        eps: Option<f64>,
        /// Members within that distance that make a core.
        min_points: Option<u32>,
    },
    /// k-means; `None` chooses the number of groups.
    KMeans {
        /// Number of groups.
        k: Option<u32>,
    },
}

impl Default for Method {
    fn default() -> Self {
        Self::Dbscan { eps: None, min_points: None }
    }
}

/// Largest number of groups that is tried when k is chosen; of few members the square root of their
/// number, because more groups would be single members.
pub const MOST_GROUPS: usize = 8;

/// The groups, and why they are what they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Clusters {
    /// How each feature was put on the common scale, in their order.
    pub scalings: Vec<Scaling>,
    /// Group of each member, from 0 for the largest; `None` for outliers.
    pub groups: Vec<Option<u32>>,
    /// Members of each group.
    pub sizes: Vec<u64>,
    /// How good k groups are, for each k that was tried.
    pub k_scores: Vec<KScore>,
    /// The number of groups that these scores speak for.
    pub best_k: u32,
    /// How `eps` was chosen.
    pub eps: EpsChoice,
    /// How far the other method (k-means with `best_k`, or DBSCAN) agrees: the adjusted Rand index
    /// (Hubert and Arabie, 1985), 1 for the same groups and about 0 for unrelated ones. Outliers
    /// count as a group.
    pub agreement: Option<f64>,
    /// How well each feature separates the groups, best first.
    pub effects: Vec<Effect>,
    /// Positions of the members along the two axes in which they differ most, in standard
    /// deviations.
    pub positions: Vec<[f64; 2]>,
    /// Part of the variance along each of these two axes, 0 to 1.
    pub axis_shares: [f64; 2],
    /// The nodes of the groups; `None` where nodes are not known.
    pub nodes: Option<Stability>,
    /// k-means over all members, with other k.
    pub stability: Vec<Stability>,
    /// k-means over the members of the largest group alone, with other k.
    pub stability_inside: Vec<Stability>,
}

/// Groups the members. `nodes` is the node of each member by any numbers.
///
/// # Errors
/// When the question is withdrawn.
pub fn cluster(
    features: &Features,
    nodes: Option<&[u32]>,
    method: Method,
    control: &Control,
) -> Result<Clusters, EngineError> {
    let (scalings, points) = standardise(features);
    let wanted = match method {
        Method::KMeans { k: Some(k) } => (k as usize).max(1),
        _ => 1,
    };
    let partitions = kmeans::partitions(&points, MOST_GROUPS.max(wanted), control)?;
    let few = count(points.len()).sqrt().ceil() as usize;
    let scored = partitions.get(..MOST_GROUPS.min(few).min(partitions.len())).unwrap_or_default();
    let (k_scores, best_k) = choice::choose(&points, scored, control)?;
    let axes = Axes::new(&points);
    let num_axes = points.width().min(dbscan::MOST_AXES);
    let projected = if points.width() > num_axes {
        let rows = points.by_member(&(0..points.len()).collect::<Vec<_>>());
        let coordinates = rows.iter().flat_map(|&row| axes.project(points.row(row), num_axes));
        Points::new(num_axes, &coordinates.collect::<Vec<f64>>())
    } else {
        points.clone()
    };
    let (given_eps, min_points) = match method {
        Method::Dbscan { eps, min_points } => (eps, min_points),
        Method::KMeans { .. } => (None, None),
    };
    let (mut eps, of) = dbscan::dbscan(&projected, given_eps, min_points, control)?;
    eps.explained = axes.explained(num_axes);
    let by_density: Vec<Option<u32>> = projected
        .by_member(&of)
        .into_iter()
        .map(|group| (group != dbscan::OUTLIER).then_some(group))
        .collect();
    let k = match method {
        Method::KMeans { k: Some(_) } => wanted,
        _ => best_k,
    };
    let by_centre: Vec<Option<u32>> =
        match partitions.get(k.min(partitions.len()).saturating_sub(1)) {
            Some(partition) => points.by_member(&partition.of).into_iter().map(Some).collect(),
            None => vec![Some(0); features.num_members()],
        };
    // Members that differ in nothing are one group.
    let (groups, other) = match method {
        _ if points.width() == 0 => (vec![Some(0); features.num_members()], None),
        Method::Dbscan { .. } => (by_density, Some(by_centre)),
        Method::KMeans { .. } => (by_centre, Some(by_density)),
    };
    let sizes = sizes(&groups);
    let mut positions = vec![[0.0; 2]; features.num_members()];
    for (row, &member) in points.member.iter().enumerate() {
        if let Some(position) = positions.get_mut(member as usize) {
            let along = axes.project(points.row(row), 2);
            position.iter_mut().zip(along).for_each(|(slot, value)| *slot = value);
        }
    }
    let share = |number: usize| match number {
        1 => axes.explained(1),
        _ if points.width() > 1 => axes.explained(2) - axes.explained(1),
        _ => 0.0,
    };
    let (mut stability, mut stability_inside) = (Vec::new(), Vec::new());
    if let Some(nodes) = nodes.filter(|_| points.width() > 0) {
        stability = stability::stability(&points, nodes, control)?;
        let is_first = |row: usize| {
            let member = points.member.get(row).map_or(0, |member| *member as usize);
            groups.get(member) == Some(&Some(0))
        };
        if sizes.len() > 1 {
            let (inside, members) = points.some(is_first);
            let of_those: Vec<u32> =
                members.iter().filter_map(|&m| nodes.get(m as usize)).copied().collect();
            stability_inside = stability::stability(&inside, &of_those, control)?;
        }
    }
    Ok(Clusters {
        scalings,
        sizes,
        k_scores,
        best_k: u32::try_from(best_k).unwrap_or(u32::MAX),
        eps,
        agreement: other.map(|other| adjusted_rand(&groups, &other)),
        effects: effects::effects(features, &groups),
        positions,
        axis_shares: [share(1), share(2)],
        nodes: nodes.map(|nodes| stability::shared_nodes(&groups, nodes)),
        stability,
        stability_inside,
        groups,
    })
}

fn sizes(groups: &[Option<u32>]) -> Vec<u64> {
    let number = groups.iter().flatten().max().map_or(0, |most| *most as usize + 1);
    let mut sizes = vec![0; number];
    groups.iter().flatten().for_each(|&group| sizes[group as usize] += 1);
    sizes
}

/// The adjusted Rand index of two groupings of the same members.
fn adjusted_rand(a: &[Option<u32>], b: &[Option<u32>]) -> f64 {
    use std::collections::HashMap;
    let mut cells: HashMap<(Option<u32>, Option<u32>), u64> = HashMap::new();
    let (mut rows, mut columns) = (HashMap::new(), HashMap::new());
    for (&a, &b) in a.iter().zip(b) {
        *cells.entry((a, b)).or_default() += 1;
        *rows.entry(a).or_insert(0_u64) += 1;
        *columns.entry(b).or_insert(0_u64) += 1;
    }
    let pairs = |n: u64| (n * n.saturating_sub(1) / 2) as f64;
    // Whole numbers add up to the same in any order.
    let together: f64 = cells.values().map(|&n| pairs(n)).sum();
    let by_row: f64 = rows.values().map(|&n| pairs(n)).sum();
    let by_column: f64 = columns.values().map(|&n| pairs(n)).sum();
    let all = pairs(a.len() as u64);
    let expected = if all > 0.0 { by_row * by_column / all } else { 0.0 };
    let most = f64::midpoint(by_row, by_column);
    if most - expected > 0.0 { (together - expected) / (most - expected) } else { 1.0 }
}
