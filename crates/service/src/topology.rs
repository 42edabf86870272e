//! Where nodes stand, and whether slow ones stand together: the answer of `topology`.

use std::collections::BTreeMap;

use parallax_analysis::topology::{
    Concentration, Description, Host, HostMatch, HostTable, Level, Located, NodePosition,
    PatternPart, RackMap, Row, Shelf, System, concentrations, rack_map,
};
use parallax_base::{Control, LocationIdx, Remedy};
use parallax_engine::EngineError;
use parallax_engine::query::QueryError;
use parallax_formats::hosts::{self, HostRecord, NamePart, SystemText};
use parallax_model::IdentityKind;
use parallax_protocol::{
    self as protocol, Choice as _, Column, ConcentrationRow, ConcentrationTable, NodeNames,
    RackReply, RackRowReply, TextFile, TopologyNodeRow, TopologyReply, TopologyRequest,
    TopologyTables, TopologyUnitTable,
};

use crate::{Answer, Answers, ClusterAnswer, OpenExperiment, ServiceError};
use parallax_base::quantity::{counted, quantity};

/// A node with what is known about it.
#[derive(Debug, Clone, PartialEq)]
pub struct TopologyNode {
    /// Where it stands.
    pub located: Located,
    /// Group of most of its members, from 0; `None` where most are outliers.
    pub group: Option<u32>,
    /// Number of groups that its members are in.
    pub num_groups: u32,
    /// Number of members on it.
    pub members: u64,
    /// Mean of the feature that separates the groups best, over its members.
    pub value: f64,
    /// Its first location.
    pub location: LocationIdx,
}

/// A rack, chassis, ... with its numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitRow {
    /// What it is.
    pub level: Level,
    /// Its name.
    pub name: String,
    /// Nodes of the run in it.
    pub nodes: u64,
    /// Of these, those in each group, from the first.
    pub by_group: Vec<u64>,
    /// Mean, smallest and largest value of its nodes.
    pub mean: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

/// The nodes where they stand.
#[derive(Debug, Clone)]
pub struct TopologyAnswer {
    /// The groups.
    pub clusters: ClusterAnswer,
    /// The nodes, by host id.
    pub nodes: Vec<TopologyNode>,
    /// Racks with their nodes, as positions in `nodes`.
    pub map: RackMap,
    /// Racks, chassis, ... with their numbers.
    pub units: Vec<UnitRow>,
    /// How the nodes of each group but the largest lie, by group.
    pub concentrations: Vec<(u32, Vec<Concentration>)>,
    /// The system.
    pub system: String,
    /// Name of the feature whose means the nodes have; its unit.
    pub feature: (String, String),
    /// What was found, as sentences with their numbers.
    pub findings: Vec<String>,
    /// Remarks on where nodes stand; they are among the notes of the answer, too.
    pub place_notes: Vec<String>,
    /// Nodes, parts of the machine and concentrations as tables; values are in the unit of
    /// `feature`.
    pub tables: TopologyTables,
}

impl Answers<TopologyRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &TopologyRequest,
        control: &Control,
    ) -> Result<protocol::Answer<TopologyRequest>, ServiceError> {
        let Answer { value: found, notes } = self.topology(request, control)?;
        let (feature, unit) = found.feature;
        let reply = TopologyReply {
            findings: found.findings,
            sizes: found.clusters.clusters.sizes,
            feature,
            unit: unit.clone(),
            racks: found.map.shelves.into_iter().map(rack).collect(),
            unplaced: found.map.unplaced.len() as u64,
            notes,
        };
        Ok(protocol::Answer { unit, ..protocol::Answer::new(reply, found.tables) })
    }
}

fn rack(shelf: Shelf) -> RackReply {
    let cell = |node: Option<usize>| node.and_then(|node| u32::try_from(node).ok());
    let row = |row: Row| RackRowReply {
        label: row.label,
        cells: row.cells.into_iter().map(cell).collect(),
    };
    let rows = shelf.rows.into_iter().map(row).collect();
    RackReply { name: shelf.name, group: shelf.group, rows }
}

/// The naming scheme called `name`, in any case.
///
/// # Errors
/// When none is called this.
pub fn node_names(name: &str) -> Result<NodeNames, ServiceError> {
    let mut known = NodeNames::ALL.iter().copied();
    known.find(|scheme| scheme.value().name.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let error = QueryError::unknown_name(name, name, "no system is called this");
        error
            .with_hint("known are aurora, frontier, polaris, xname, or a file that describes one")
            .into()
    })
}

impl OpenExperiment {
    /// Where the nodes of the experiment stand, and whether those of a group stand together.
    ///
    /// # Errors
    /// When the experiment has no nodes, a host table cannot be read, and as [`OpenExperiment::clusters`].
    pub fn topology(
        &self,
        request: &TopologyRequest,
        control: &Control,
    ) -> Result<Answer<TopologyAnswer>, ServiceError> {
        self.needs_whole_trace()?;
        if !self.session().experiment().locations.has(IdentityKind::Node) {
            let what = "this experiment does not say on which nodes its locations ran".into();
            let hint = "HPCToolkit's databases do; other sources may not".into();
            return Err(EngineError::Missing { what, hint }.into());
        }
        let system = system(request)?;
        let mut notes = Vec::new();
        let table = host_table(&request.hosts, &mut notes)?;
        let Answer { value: clusters, notes: more } = self.clusters(&request.clusters, control)?;
        let nodes = nodes(&clusters, &table, &system);
        let located: Vec<Located> = nodes.iter().map(|node| node.located.clone()).collect();
        let groups: Vec<u32> =
            (1..).take(clusters.clusters.sizes.len().saturating_sub(1)).collect();
        let marks = |&group: &u32| nodes.iter().map(|node| node.group == Some(group)).collect();
        let sets: Vec<Vec<bool>> = groups.iter().map(marks).collect();
        let lists = concentrations(&located, &sets, control)?;
        let found: Vec<(u32, Vec<Concentration>)> = groups.into_iter().zip(lists).collect();
        say_unknown(&located, &table, &request.hosts, &mut notes);
        let place_notes = notes.clone();
        notes.extend(more);
        let units = units(&nodes, clusters.clusters.sizes.len());
        let value = TopologyAnswer {
            findings: findings(&clusters, &nodes, &found),
            map: rack_map(&located, &system),
            tables: TopologyTables {
                nodes: nodes.iter().map(node_row).collect(),
                units: units_table(&units, clusters.clusters.sizes.len()),
                concentration: concentration_table(&found),
                members: clusters.tables.members.clone(),
            },
            system: system.name().to_owned(),
            place_notes,
            feature: feature(&clusters),
            concentrations: found,
            units,
            nodes,
            clusters,
        };
        Ok(Answer { value, notes })
    }
}

fn system(request: &TopologyRequest) -> Result<System, ServiceError> {
    if let Some(source) = &request.description {
        let text = hosts::read_system(source.text.as_bytes(), &source.name)?;
        return Ok(System::Described(described(text)));
    }
    Ok(match request.system {
        NodeNames::Xname => System::Xname,
        NodeNames::Aurora => System::Aurora,
        NodeNames::Frontier => System::Frontier,
        NodeNames::Polaris => System::Polaris,
    })
}

fn described(text: SystemText) -> Description {
    let part = |part: NamePart| match part {
        NamePart::Literal(text) => PatternPart::Literal(text),
        NamePart::Group => PatternPart::Number(Level::Group),
        NamePart::Rack => PatternPart::Number(Level::Rack),
        NamePart::Chassis => PatternPart::Number(Level::Chassis),
        NamePart::Slot => PatternPart::Number(Level::Slot),
        NamePart::Node => PatternPart::Node,
    };
    let pattern = |pattern: Vec<NamePart>| pattern.into_iter().map(part).collect();
    Description {
        name: text.name,
        patterns: text.patterns.into_iter().map(pattern).collect(),
        racks_per_group: text.racks_per_group,
        slots_per_chassis: text.slots_per_chassis,
    }
}

fn host_table(sources: &[TextFile], notes: &mut Vec<String>) -> Result<HostTable, ServiceError> {
    let mut all = Vec::new();
    for source in sources {
        let file = hosts::read(source.text.as_bytes(), &source.name)?;
        notes.push(format!(
            "{}: {} of {}",
            source.name,
            counted(file.hosts.len() as u64, "host"),
            file.format.name()
        ));
        notes.extend(file.notes);
        all.extend(file.hosts.into_iter().map(host));
    }
    let table = HostTable::new(all);
    if table.num_repeated > 0 {
        let n = table.num_repeated;
        notes.push(format!("{n} hosts have a duplicate host id; the first one is used."));
    }
    Ok(table)
}

fn host(record: HostRecord) -> Host {
    let mut place = NodePosition::default();
    let told = record.place;
    // Numbers alone are distinguished by what they are in.
    let inside = |above: &Option<String>, own: &str| match above {
        Some(above) if !own.starts_with(above.as_str()) => format!("{above} {own}"),
        _ => own.to_owned(),
    };
    let chassis = told.chassis.as_ref().map(|own| inside(&told.rack, own));
    let slot = told
        .slot
        .as_ref()
        .map(|own| inside(if chassis.is_some() { &chassis } else { &told.rack }, own));
    let number = |text: &Option<String>| {
        let text = text.as_deref()?;
        let digits = text.rsplit(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse().ok()
    };
    place.chassis = number(&told.chassis);
    place.slot = number(&told.slot);
    let levels = [
        (Level::Group, told.group),
        (Level::Rack, told.rack),
        (Level::Switch, told.switch),
        (Level::Chassis, chassis),
        (Level::Slot, slot),
    ];
    for (level, name) in levels {
        if let Some(name) = name {
            place.set(level, name);
        }
    }
    Host { host_id: record.host_id, addresses: record.addresses, names: record.names, place }
}

/// The feature that separates the groups best, or the one that differs most.
fn best_feature(answer: &ClusterAnswer) -> usize {
    let used = |feature: usize| answer.clusters.scalings.get(feature).is_some_and(|s| s.is_used);
    let best = answer.clusters.effects.iter().find(|effect| used(effect.feature));
    best.or(answer.clusters.effects.first()).map_or(0, |effect| effect.feature)
}

fn feature(answer: &ClusterAnswer) -> (String, String) {
    let column = answer.measured.features.columns.get(best_feature(answer));
    column.map(|column| (column.name.clone(), column.unit.clone())).unwrap_or_default()
}

fn nodes(answer: &ClusterAnswer, table: &HostTable, system: &System) -> Vec<TopologyNode> {
    let values = answer.measured.features.columns.get(best_feature(answer));
    let mut by_id: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (at, member) in answer.measured.members.iter().enumerate() {
        if let Some(id) = member.node {
            by_id.entry(id).or_default().push(at);
        }
    }
    let node = |(host_id, members): (u64, Vec<usize>)| {
        let mut groups: BTreeMap<Option<u32>, u64> = BTreeMap::new();
        for at in &members {
            *groups.entry(answer.clusters.groups.get(*at).copied().flatten()).or_default() += 1;
        }
        // Of equally many the lower group.
        let most = groups.iter().rev().max_by_key(|(_, n)| **n).and_then(|(group, _)| *group);
        let mut own: Vec<f64> =
            members.iter().filter_map(|at| values?.values.get(*at)).copied().collect();
        // Sorted, so that the sum does not depend on the order of the members.
        own.sort_by(f64::total_cmp);
        let first = members.first().and_then(|at| answer.measured.members.get(*at));
        TopologyNode {
            located: table.locate(host_id, system),
            group: most,
            num_groups: groups.keys().flatten().count() as u32,
            members: members.len() as u64,
            value: own.iter().sum::<f64>() / (own.len() as f64).max(1.0),
            location: first.map_or(LocationIdx::new(0), |member| member.location),
        }
    };
    by_id.into_iter().map(node).collect()
}

fn say_unknown(
    nodes: &[Located],
    table: &HostTable,
    sources: &[TextFile],
    notes: &mut Vec<String>,
) {
    let count = |found: HostMatch| nodes.iter().filter(|node| node.found == found).count() as u64;
    let loopback = count(HostMatch::Loopback);
    if loopback > 0 {
        notes.push(format!(
            "{} with the host id of a loopback address, such as 127.0.1.1: nodes of such a run \
             cannot be distinguished.",
            counted(loopback, "node")
        ));
    }
    if sources.is_empty() {
        notes.push(
            "No host table was given, so racks are unknown; use /etc/hosts of the system, a table \
             hostid,xname, or the output of pbsnodes -F json."
                .into(),
        );
        return;
    }
    let unknown = count(HostMatch::Unknown);
    if unknown > 0 {
        let example = nodes.iter().find(|node| node.found == HostMatch::Unknown);
        let address =
            example.and_then(|node| node.address).map_or_else(String::new, |a| a.to_string());
        notes.push(format!(
            "{} of {} are not in the tables of {}; the first one has the address {address}.",
            unknown,
            counted(nodes.len() as u64, "node"),
            counted(table.len() as u64, "host"),
        ));
    }
    let nameless = nodes.iter().filter(|n| {
        matches!(n.found, HostMatch::ById | HostMatch::ByAddress) && n.place.is_empty()
    });
    let names: Vec<&str> = nameless.filter_map(|node| node.name.as_deref()).collect();
    if let Some(first) = names.first() {
        notes.push(format!(
            "{} have names without a location, such as {first}; {} to add it.",
            counted(names.len() as u64, "node"),
            Remedy::System
        ));
    }
}

fn units(nodes: &[TopologyNode], num_groups: usize) -> Vec<UnitRow> {
    let mut out = Vec::new();
    for level in Level::ALL {
        let mut by_name: BTreeMap<&str, Vec<&TopologyNode>> = BTreeMap::new();
        for node in nodes {
            if let Some(name) = node.located.place.level(level) {
                by_name.entry(name).or_default().push(node);
            }
        }
        // Slots of one node each repeat the nodes.
        if level == Level::Slot && by_name.values().all(|nodes| nodes.len() == 1) {
            continue;
        }
        let mut rows: Vec<UnitRow> = by_name
            .into_iter()
            .map(|(name, nodes)| {
                let mut values: Vec<f64> = nodes.iter().map(|node| node.value).collect();
                values.sort_by(f64::total_cmp);
                let mut by_group = vec![0; num_groups];
                for group in nodes.iter().filter_map(|node| node.group) {
                    if let Some(count) = by_group.get_mut(group as usize) {
                        *count += 1;
                    }
                }
                UnitRow {
                    level,
                    name: name.to_owned(),
                    nodes: nodes.len() as u64,
                    by_group,
                    mean: values.iter().sum::<f64>() / (values.len() as f64).max(1.0),
                    min: values.first().copied().unwrap_or(0.0),
                    max: values.last().copied().unwrap_or(0.0),
                }
            })
            .collect();
        rows.sort_by(|a, b| parallax_analysis::topology::by_number(&a.name, &b.name));
        out.extend(rows);
    }
    out
}

fn findings(
    clusters: &ClusterAnswer,
    nodes: &[TopologyNode],
    found: &[(u32, Vec<Concentration>)],
) -> Vec<String> {
    let mut out = clusters.findings.clone();
    for (group, levels) in found {
        let those: Vec<&TopologyNode> = nodes.iter().filter(|n| n.group == Some(*group)).collect();
        if those.is_empty() {
            out.push(format!(
                "Cluster {}: no node has most of its {}s in it.",
                group + 1,
                clusters.member
            ));
            continue;
        }
        let value = those.iter().map(|n| n.value).sum::<f64>() / (those.len() as f64).max(1.0);
        let what = quantity(value, &feature(clusters).1);
        for level in levels {
            out.push(format!("Cluster {} ({what}): {}.", group + 1, level.sentence()));
        }
    }
    out
}

fn hexadecimal(id: u64) -> String {
    format!("{id:#010x}")
}

fn node_row(node: &TopologyNode) -> TopologyNodeRow {
    let level = |level: Level| node.located.place.level(level).map(str::to_owned);
    TopologyNodeRow {
        host_id: hexadecimal(node.located.host_id),
        address: node.located.address.map(|address| address.to_string()),
        name: node.located.name.clone(),
        group: node.group.map(|group| u64::from(group) + 1),
        members: node.members,
        value: node.value,
        switch_group: level(Level::Group),
        rack: level(Level::Rack),
        switch: level(Level::Switch),
        chassis: level(Level::Chassis),
        slot: level(Level::Slot),
    }
}

fn units_table(units: &[UnitRow], num_groups: usize) -> TopologyUnitTable {
    let group = |group: usize| {
        let own = units.iter().map(|u| u.by_group.get(group).copied().unwrap_or(0)).collect();
        Column::u64s(format!("group_{}", group + 1), "", "Of these, those of this group.", own)
    };
    TopologyUnitTable {
        level: units.iter().map(|u| u.level.name()).collect(),
        unit: units.iter().map(|u| u.name.clone()).collect(),
        nodes: units.iter().map(|u| u.nodes).collect(),
        group: (0..num_groups).map(group).collect(),
        mean: units.iter().map(|u| u.mean).collect(),
        min: units.iter().map(|u| u.min).collect(),
        max: units.iter().map(|u| u.max).collect(),
    }
}

fn concentration_table(found: &[(u32, Vec<Concentration>)]) -> ConcentrationTable {
    let rows = found.iter().flat_map(|(group, list)| list.iter().map(move |one| (*group, one)));
    rows.map(|(group, one)| ConcentrationRow {
        group: u64::from(group) + 1,
        level: one.level.name(),
        nodes: one.marked,
        touched: one.touched,
        units: one.units.len() as u64,
        expected_touched: one.expected_touched,
        whole: one.whole,
        expected_whole: one.expected_whole,
        p_together: one.p_together,
        p_apart: one.p_apart,
        p_together_adjusted: one.adjusted_together,
        p_apart_adjusted: one.adjusted_apart,
        finding: one.sentence(),
    })
    .collect()
}
