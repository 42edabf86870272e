//! Questions about which locations cost alike, and where their nodes stand.

use serde::{Deserialize, Serialize};

/// Which locations cost alike.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ClustersAsk {
    /// An experiment.
    pub item: String,
    /// Metric expressions; none for the metric that says most about time.
    #[serde(default)]
    pub metrics: Vec<String>,
    /// A context expression, each context a feature; null for the innermost functions that cost at
    /// least 1 % and are least evenly spread.
    #[serde(default)]
    pub contexts: Option<String>,
    /// A profile expression; null for all locations.
    #[serde(default)]
    pub profiles: Option<String>,
    /// Costs without what contexts call.
    #[serde(default)]
    pub is_exclusive: bool,
    /// What is put into groups: `profile` (default), `rank` or `node`.
    #[serde(default)]
    pub by: Option<String>,
    /// How: `dbscan` (default) or `kmeans`.
    #[serde(default)]
    pub method: Option<String>,
    /// Number of groups of k-means; null chooses it from the data.
    #[serde(default)]
    pub k: Option<u32>,
    /// Largest distance of neighbours of DBSCAN, in standard deviations; null chooses it.
    #[serde(default)]
    pub eps: Option<f64>,
}

/// Groups; tables `members`: `location`, `label`, `node`, `group` (from 1, null for outliers),
/// `axis_1`, `axis_2`, and the features; `groups`: `group`, `members`, `nodes`, `feature`, `mean`, `min`,
/// `max`, `std_dev`, `unit`; `features`: `feature`, `context`, `context_id`, `eta_squared`, `cohens_d`, `auc`,
/// `disjoint`, `balance_ratio`, `used`; `stability`: `of`, `k`, `first`, `second`, `shared_nodes`,
/// `split_nodes`; `scores`: `k`, `explained_percent`, `silhouette`, `gap`, `gap_error`, `chosen`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ClustersReply {
    /// What was found, as sentences, the most important first.
    pub findings: Vec<String>,
    /// What the members are called: `location`, `rank`, `node`.
    pub member: String,
    /// Members of each group.
    pub sizes: Vec<u64>,
    /// Names of the features, in the order of their columns in `members`.
    pub features: Vec<String>,
    /// Their units.
    pub units: Vec<String>,
    /// Part of the variance along each of the two axes, 0 to 1.
    pub axis_shares: [f64; 2],
    /// What a person should know.
    pub notes: Vec<String>,
}

/// A file that a person chose, as text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TextFileAsk {
    /// What it is called, for messages.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// Where nodes stand, and whether those of a group stand together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TopologyAsk {
    /// Which groups.
    pub groups: ClustersAsk,
    /// Host tables: `hostid,xname`, `/etc/hosts`, `pbsnodes -F json`, `topology.conf`.
    #[serde(default)]
    pub hosts: Vec<TextFileAsk>,
    /// `aurora`, `frontier`, `polaris` or `xname`; null for `xname`.
    #[serde(default)]
    pub system: Option<String>,
    /// The description of another system.
    #[serde(default)]
    pub description: Option<TextFileAsk>,
}

/// A line of nodes in a rack: a chassis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RackRowReply {
    /// What it is called inside of its rack; may be empty.
    pub label: String,
    /// Rows of the table `nodes`, from left to right; null where the run has no node.
    pub cells: Vec<Option<u32>>,
}

/// A rack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RackReply {
    /// Its name.
    pub name: String,
    /// The group of switches that it belongs to, where that is something else.
    pub group: Option<String>,
    /// From the top.
    pub rows: Vec<RackRowReply>,
}

/// Where nodes stand; tables `nodes`: `host_id`, `address`, `name`, `group` (from 1), `members`, `value`,
/// `switch_group`, `rack`, `switch`, `chassis`, `slot`; `units`: `level`, `unit`, `nodes`, `group_1`, ...,
/// `mean`, `min`, `max`; `concentration`: `group`, `level`, `nodes`, `touched`, `units`,
/// `expected_touched`, `whole`, `expected_whole`, `p_together`, `p_apart`, `p_together_adjusted`,
/// `p_apart_adjusted`, `finding`; `members` as in
/// [`ClustersReply`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TopologyReply {
    /// What was found, as sentences.
    pub findings: Vec<String>,
    /// Members of each group.
    pub sizes: Vec<u64>,
    /// The feature whose means the nodes have.
    pub feature: String,
    /// Its unit.
    pub unit: String,
    /// The racks.
    pub racks: Vec<RackReply>,
    /// Number of nodes that no rack is known of.
    pub unplaced: u64,
    /// What a person should know.
    pub notes: Vec<String>,
}
