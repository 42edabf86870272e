//! Where nodes are in the machine.

use serde::{Deserialize, Serialize};

use super::{ClusterChoice, ClusterMemberTable};
use crate::macros::{choice, question, table};
use crate::{Experiment, Family};

choice! {
    /// A naming scheme of nodes.
    pub enum NodeNames {
        /// Racks, chassis and slots of xnames.
        Xname = "xname",
        /// Aurora (ALCF): xnames; a rack is a group of the dragonfly.
        Aurora = "aurora",
        /// Frontier (OLCF): xnames; a cabinet is a group of the dragonfly.
        Frontier = "frontier",
        /// Polaris (ALCF): xnames; four neighbouring racks of a row are a group.
        Polaris = "polaris",
    }
}

/// A file that was chosen, as text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TextFile {
    /// What it is called, for messages.
    pub name: String,
    /// What is in it.
    pub text: String,
}

question! {
    /// Where nodes are in the machine, and whether those of a cluster are close together.
    "topology" of Experiment,
    request TopologyRequest {
        ..clusters: ClusterChoice,
        /// Host tables: `hostid,xname`, `/etc/hosts`, `pbsnodes -F json`, `topology.conf`. They
        /// complete each other, and the first one wins.
        hosts: Vec<TextFile>,
        /// How nodes are named.
        system: NodeNames,
        /// The description of another system, which counts instead of `system`; null for none.
        description: Option<TextFile>,
    }
    reply TopologyReply,
    tables TopologyTables {
        /// The nodes.
        nodes: TopologyNodeTable,
        /// Racks, chassis, switches.
        units: TopologyUnitTable,
        /// How the nodes of each cluster but the largest lie.
        concentration: ConcentrationTable,
        /// The members of the clusters.
        members: ClusterMemberTable,
    }
}

/// A line of nodes in a rack: a chassis.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RackRowReply {
    /// What it is called inside of its rack; may be empty.
    pub label: String,
    /// Rows of the table `nodes`, from left to right; null where the run has no node.
    pub cells: Vec<Option<u32>>,
}

/// A rack.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RackReply {
    /// Its name.
    pub name: String,
    /// The group of switches that it belongs to, where that is something else.
    pub group: Option<String>,
    /// From the top.
    pub rows: Vec<RackRowReply>,
}

/// The reply to `topology`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TopologyReply {
    /// What was found, as sentences.
    pub findings: Vec<String>,
    /// Members of each cluster.
    pub sizes: Vec<u64>,
    /// The feature whose means the nodes have.
    pub feature: String,
    /// Its unit symbol.
    pub unit: String,
    /// Racks with their nodes.
    pub racks: Vec<RackReply>,
    /// Nodes that no rack is known of.
    pub unplaced: u64,
    /// Remarks.
    pub notes: Vec<String>,
}

table! {
    /// The nodes, by host id.
    pub struct TopologyNodeRow => TopologyNodeTable {
        /// Id of the node, as gethostid gives it.
        host_id: String,
        /// The address that the id holds.
        address: Option<String>,
        /// Its name, where a host table has it.
        name: Option<String>,
        /// Group of most of its members, from 1; null where most are outliers.
        group: Option<u64>,
        /// Members on it.
        members: u64,
        /// Mean of the feature that separates the groups best.
        value: f64 [metric],
        /// Group of switches, such as a group of a dragonfly.
        switch_group: Option<String>,
        /// Rack.
        rack: Option<String>,
        /// Switch.
        switch: Option<String>,
        /// Chassis.
        chassis: Option<String>,
        /// Slot.
        slot: Option<String>,
    }
}

table! {
    /// Racks, chassis, switches, by level and name.
    pub columns TopologyUnitTable {
        /// What it is.
        level: Vec<&'static str>,
        /// Its name.
        unit: Vec<String>,
        /// Nodes of the run in it.
        nodes: Vec<u64>,
        /// Of these, those of each group: `group_1`, `group_2`, ...
        group: Family,
        /// Mean over its nodes.
        mean: Vec<f64> [metric],
        /// The smallest.
        min: Vec<f64> [metric],
        /// The largest.
        max: Vec<f64> [metric],
    }
}

table! {
    /// Each cluster but the largest with each level of the machine.
    pub struct ConcentrationRow => ConcentrationTable {
        /// The group, from 1.
        group: u64,
        /// Over which parts of the machine.
        level: &'static str,
        /// Nodes of the group.
        nodes: u64,
        /// Parts with nodes of the group.
        touched: u64,
        /// Parts with nodes of the run.
        units: u64,
        /// Parts with some by chance, in the mean.
        expected_touched: f64,
        /// Parts of at least two nodes that are all of the group.
        whole: u64,
        /// Whole parts by chance, in the mean.
        expected_whole: f64,
        /// How likely they are so close together by chance.
        p_together: f64,
        /// How likely they are so evenly spread by chance.
        p_apart: f64,
        /// The same for all groups and levels at once (Holm).
        p_together_adjusted: f64,
        /// The same for all groups and levels at once (Holm).
        p_apart_adjusted: f64,
        /// The same as a sentence.
        finding: String,
    }
}
