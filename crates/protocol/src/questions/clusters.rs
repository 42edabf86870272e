//! Clusters of locations with similar cost.

use serde::Serialize;

use super::BalanceBy;
use crate::macros::{choice, fields, question, table};
use crate::{Experiment, Family};

choice! {
    /// Clustering method.
    pub enum ClusterMethod {
        /// Density-based; members in sparse regions are outliers.
        Dbscan = "dbscan",
        /// Centroid-based, with k clusters.
        KMeans = "kmeans",
    }
}

fields! {
    /// Which members are clustered, by which features, and how.
    pub struct ClusterChoice {
        /// Metric expressions; none for the metric that says most about time.
        metrics: Vec<String>,
        /// A context expression, each context a feature; null for the innermost functions that
        /// cost at least 1 %, those first that perfect balance would save most.
        contexts: Option<String>,
        /// A profile expression; null for all locations.
        profiles: Option<String>,
        /// Costs without what contexts call.
        is_exclusive: bool,
        /// What is clustered. A node has the mean of its ranks.
        by: BalanceBy,
        /// How.
        method: ClusterMethod,
        /// Number of clusters of k-means, 1 to 64; null chooses it from the data.
        k: Option<u32>,
        /// Largest distance of neighbours of DBSCAN, in standard deviations; null chooses it from
        /// the data.
        eps: Option<f64>,
        /// Members within that distance of a core point of DBSCAN; null chooses it from the data.
        min_points: Option<u32>,
        /// Include helper threads: those that MPI, networks, drivers or the measurement start for
        /// themselves.
        helpers: bool,
    }
}

question! {
    /// Clusters of locations, ranks or nodes with similar cost, and what separates them.
    "clusters" of Experiment,
    request ClustersRequest {
        ..clusters: ClusterChoice,
    }
    reply ClustersReply,
    tables ClustersTables {
        /// The members.
        members: ClusterMemberTable,
        /// The clusters.
        groups: ClusterGroupTable,
        /// What separates them.
        features: ClusterFeatureTable,
        /// Nodes in several clusters of k-means.
        stability: ClusterStabilityTable,
        /// Quality of each number of clusters of k-means.
        scores: ClusterScoreTable,
        /// Results of DBSCAN for each eps.
        steps: ClusterStepTable,
    }
}

/// The reply to `clusters`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ClustersReply {
    /// What was found, as sentences, the most important first.
    pub findings: Vec<String>,
    /// What the members are called: `location`, `rank`, `node`.
    pub member: &'static str,
    /// Members of each cluster.
    pub sizes: Vec<u64>,
    /// Names of the features, in the order of their columns in `members`.
    pub features: Vec<String>,
    /// Their units.
    pub units: Vec<String>,
    /// Part of the variance along each of the two axes, 0 to 1.
    pub axis_shares: [f64; 2],
    /// Remarks.
    pub notes: Vec<String>,
}

table! {
    /// The members, in the order of the database.
    pub columns ClusterMemberTable {
        /// Profile number in the database; of a rank or node, of its first location.
        location: Vec<u32>,
        /// What it is called.
        label: Vec<String>,
        /// Host id of its node.
        node: Vec<Option<u64>>,
        /// Its group, from 1; null for outliers.
        group: Vec<Option<u64>>,
        /// Position along the axis in which members differ most, in standard deviations.
        axis_1: Vec<f64>,
        /// Position along the second axis.
        axis_2: Vec<f64>,
        /// Value of each feature, in its unit.
        feature: Family,
    }
}

table! {
    /// Each cluster and feature, the largest cluster first.
    pub struct ClusterGroupRow => ClusterGroupTable {
        /// Number of the group, the largest first.
        group: u64,
        /// Members of the group.
        members: u64,
        /// Nodes with members of the group.
        nodes: Option<u64>,
        /// Context and metric.
        feature: String,
        /// Mean over the members of the group.
        mean: f64 [of unit],
        /// Smallest.
        min: f64 [of unit],
        /// Largest.
        max: f64 [of unit],
        /// Sample standard deviation.
        std_dev: f64 [of unit],
        /// Unit of these numbers.
        unit: String,
    }
}

table! {
    /// The features, the one that separates best first.
    pub struct ClusterFeatureRow => ClusterFeatureTable {
        /// Context and metric.
        feature: String,
        /// Its call path.
        context: String,
        /// Id of it in the database.
        context_id: u32,
        /// Part of its variance that lies between the groups; null with one cluster.
        eta_squared: Option<f64> => "Variance between clusters",
        /// Difference of the two groups that are farthest apart, in standard deviations.
        cohens_d: Option<f64> => "Cohen's d",
        /// Probability that a member of one cluster has more than a member of the other.
        auc: Option<f64> => "AUC",
        /// 1: values of the clusters do not overlap.
        disjoint: u64,
        /// Mean divided by the largest, over all members.
        balance_ratio: Option<f64> => "Balance",
        /// 1: groups are made by it. 0: the same everywhere, or the whole execution.
        used: u64,
    }
}

table! {
    /// Each number of clusters of k-means with each pair of clusters that share nodes.
    pub struct ClusterStabilityRow => ClusterStabilityTable {
        /// Which members k-means was run on.
        of: &'static str,
        /// Number of groups.
        k: u32 => "k",
        /// A group; null where no groups share nodes.
        first: Option<u64>,
        /// Another group.
        second: Option<u64>,
        /// Nodes with members in both.
        shared_nodes: u64,
        /// Nodes with members in several of the k groups.
        split_nodes: u64,
    }
}

table! {
    /// Each number of clusters of k-means, ascending.
    pub struct ClusterScoreRow => ClusterScoreTable {
        /// Number of groups.
        k: u32 => "k",
        /// Part of the variance that lies between the groups.
        explained_percent: f64 ["%"] => "Variance between clusters",
        /// How clear the groups are: 1 is perfect.
        silhouette: Option<f64>,
        /// How much closer together than evenly spread members, as a difference of logarithms.
        gap: f64,
        /// Standard error of the gap.
        gap_error: f64,
        /// 1: the k that these speak for.
        chosen: u64,
    }
}

table! {
    /// Each eps of DBSCAN that was tried.
    pub struct ClusterStepRow => ClusterStepTable {
        /// Largest distance of neighbours, in standard deviations.
        eps: f64 => "eps",
        /// Groups with it.
        groups: u32,
        /// Outliers.
        outliers: u64,
        /// 1: the eps that was used.
        chosen: u64,
    }
}
