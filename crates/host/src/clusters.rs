//! Answers about which locations cost alike, and where their nodes stand.

use parallax_base::Control;
use parallax_service::{
    BalanceBy, ClusterMethod, ClusterRequest, HostSource, Opened, TopologyRequest,
};
use parallax_wire::protocol::{
    ClustersAsk, ClustersReply, ErrorReply, RackReply, RackRowReply, TextFileAsk, TopologyAsk,
    TopologyReply,
};

use crate::errors::{service_error, unknown};
use crate::response::{Response, with_tables};

type Answered = Result<Response, ErrorReply>;

fn request(ask: &ClustersAsk) -> Result<ClusterRequest, ErrorReply> {
    Ok(ClusterRequest {
        metrics: ask.metrics.clone(),
        contexts: ask.contexts.clone(),
        profiles: ask.profiles.clone(),
        is_exclusive: ask.is_exclusive,
        by: match ask.by.as_deref() {
            None | Some("profile") => BalanceBy::Profile,
            Some("rank") => BalanceBy::Rank,
            Some("node") => BalanceBy::Node,
            Some(word) => return Err(unknown("by", word, "profile, rank, node")),
        },
        method: match ask.method.as_deref() {
            None | Some("dbscan") => {
                let eps = ask.eps.filter(|eps| eps.is_finite() && *eps > 0.0);
                ClusterMethod::Dbscan { eps, min_points: None }
            }
            Some("kmeans") => ClusterMethod::KMeans { k: ask.k.map(|k| k.clamp(1, 64)) },
            Some(word) => return Err(unknown("method", word, "dbscan, kmeans")),
        },
    })
}

pub(crate) fn clusters(opened: &Opened, ask: &ClustersAsk, control: &Control) -> Answered {
    let answer = opened.clusters(&request(ask)?, control).map_err(|error| service_error(&error))?;
    let (value, mut notes) = (answer.value, answer.notes);
    notes.extend(value.reason.clone());
    let columns = || value.measured.features.columns.iter();
    let reply = ClustersReply {
        findings: value.findings.clone(),
        member: value.member.to_owned(),
        sizes: value.clusters.sizes.clone(),
        features: columns().map(|column| column.name.clone()).collect(),
        units: columns().map(|column| column.unit.clone()).collect(),
        axis_shares: value.clusters.axis_shares,
        notes,
    };
    let tables = [
        ("members", &value.members),
        ("groups", &value.groups),
        ("features", &value.features),
        ("stability", &value.stability),
        ("scores", &value.scores),
    ];
    with_tables(ask, &reply, &tables)
}

pub(crate) fn topology(opened: &Opened, ask: &TopologyAsk, control: &Control) -> Answered {
    let source = |file: &TextFileAsk| HostSource {
        name: file.name.clone(),
        bytes: file.text.clone().into_bytes(),
    };
    let question = TopologyRequest {
        clusters: request(&ask.groups)?,
        hosts: ask.hosts.iter().map(source).collect(),
        system: ask.system.clone(),
        description: ask.description.as_ref().map(source),
    };
    let answer = opened.topology(&question, control).map_err(|error| service_error(&error))?;
    let value = answer.value;
    let racks = value.map.shelves.iter().map(|shelf| RackReply {
        name: shelf.name.clone(),
        group: shelf.group.clone(),
        rows: shelf
            .rows
            .iter()
            .map(|row| RackRowReply {
                label: row.label.clone(),
                cells: row
                    .cells
                    .iter()
                    .map(|cell| cell.and_then(|node| u32::try_from(node).ok()))
                    .collect(),
            })
            .collect(),
    });
    let reply = TopologyReply {
        findings: value.findings.clone(),
        sizes: value.clusters.clusters.sizes.clone(),
        feature: value.feature.0.clone(),
        unit: value.feature.1.clone(),
        racks: racks.collect(),
        unplaced: value.map.unplaced.len() as u64,
        notes: answer.notes,
    };
    let tables = [
        ("nodes", &value.nodes_table),
        ("units", &value.units_table),
        ("concentration", &value.concentration_table),
        ("members", &value.clusters.members),
    ];
    with_tables(ask, &reply, &tables)
}
