//! Where nodes stand, and whether slow ones stand together: the answer of `topology`.

use std::collections::BTreeMap;

use parallax_analysis::topology::{
    Concentration, Description, Found, Host, HostTable, Level, Located, Part, Place, RackMap,
    System, concentrations, rack_map,
};
use parallax_base::{Control, LocationIdx};
use parallax_engine::query::QueryError;
use parallax_engine::{Column, EngineError, Table};
use parallax_formats::hosts::{self, HostRecord, NamePart, SystemText};
use parallax_model::IdentityKind;

use crate::clusters::{counted, figure};
use crate::{Answer, ClusterAnswer, ClusterRequest, Opened, ServiceError};

/// A host table, or the description of a system, with its name for messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostSource {
    /// What it is called.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// Which nodes, where, and in which groups.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TopologyRequest {
    /// Which groups. Nodes are put into groups by their locations or ranks, whichever `by` says.
    pub clusters: ClusterRequest,
    /// Host tables; they complete each other, and the first one wins.
    pub hosts: Vec<HostSource>,
    /// `aurora`, `frontier`, `polaris` or `xname`; `None` for `xname`.
    pub system: Option<String>,
    /// The description of another system.
    pub description: Option<HostSource>,
}

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
    /// One row for each node. Columns: `host_id`, `address`, `name`, `group` (from 1), `members`,
    /// `value`, `switch_group`, `rack`, `switch`, `chassis`, `slot`.
    pub nodes_table: Table,
    /// One row for each rack, chassis, ... Columns: `level`, `unit`, `nodes`, `group_1`, `group_2`,
    /// ..., `mean`, `min`, `max`.
    pub units_table: Table,
    /// One row for each group and level. Columns: `group`, `level`, `nodes`, `touched`, `units`,
    /// `expected_touched`, `whole`, `expected_whole`, `p_together`, `p_apart`,
    /// `p_together_adjusted`, `p_apart_adjusted`, `finding`.
    pub concentration_table: Table,
}

impl Opened {
    /// Where the nodes of the experiment stand, and whether those of a group stand together.
    ///
    /// # Errors
    /// When the experiment has no nodes, a host table cannot be read, and as [`Opened::clusters`].
    pub fn topology(
        &self,
        request: &TopologyRequest,
        control: &Control,
    ) -> Result<Answer<TopologyAnswer>, ServiceError> {
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
            nodes_table: nodes_table(&nodes, &feature(&clusters).1),
            units_table: units_table(&units, clusters.clusters.sizes.len(), &feature(&clusters).1),
            concentration_table: concentration_table(&found),
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
        return Ok(System::Described(described(hosts::read_system(&source.bytes, &source.name)?)));
    }
    let Some(name) = request.system.as_deref() else { return Ok(System::Xname) };
    System::from_name(name).ok_or_else(|| {
        let error = QueryError::unknown_name(name, name, "no system is called this");
        error
            .with_hint("known are aurora, frontier, polaris, xname, or a file that describes one")
            .into()
    })
}

fn described(text: SystemText) -> Description {
    let part = |part: NamePart| match part {
        NamePart::Literal(text) => Part::Literal(text),
        NamePart::Group => Part::Number(Level::Group),
        NamePart::Rack => Part::Number(Level::Rack),
        NamePart::Chassis => Part::Number(Level::Chassis),
        NamePart::Slot => Part::Number(Level::Slot),
        NamePart::Node => Part::Node,
    };
    let pattern = |pattern: Vec<NamePart>| pattern.into_iter().map(part).collect();
    Description {
        name: text.name,
        patterns: text.patterns.into_iter().map(pattern).collect(),
        racks_per_group: text.racks_per_group,
        slots_per_chassis: text.slots_per_chassis,
    }
}

fn host_table(sources: &[HostSource], notes: &mut Vec<String>) -> Result<HostTable, ServiceError> {
    let mut all = Vec::new();
    for source in sources {
        let file = hosts::read(&source.bytes, &source.name)?;
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
    let mut place = Place::default();
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
    sources: &[HostSource],
    notes: &mut Vec<String>,
) {
    let count = |found: Found| nodes.iter().filter(|node| node.found == found).count() as u64;
    let loopback = count(Found::Loopback);
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
    let unknown = count(Found::Unknown);
    if unknown > 0 {
        let example = nodes.iter().find(|node| node.found == Found::Unknown);
        let address =
            example.and_then(|node| node.address).map_or_else(String::new, |a| a.to_string());
        notes.push(format!(
            "{} of {} are not in the tables of {}; the first one has the address {address}.",
            unknown,
            counted(nodes.len() as u64, "node"),
            counted(table.len() as u64, "host"),
        ));
    }
    let nameless = nodes
        .iter()
        .filter(|n| matches!(n.found, Found::ById | Found::ByAddress) && n.place.is_empty());
    let names: Vec<&str> = nameless.filter_map(|node| node.name.as_deref()).collect();
    if let Some(first) = names.first() {
        notes.push(format!(
            "{} have names without a location, such as {first}; a file that describes the system \
             (--system) adds it.",
            counted(names.len() as u64, "node")
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
        let what = figure(value, &feature(clusters).1);
        for level in levels {
            out.push(format!("Cluster {} ({what}): {}.", group + 1, level.sentence()));
        }
    }
    out
}

fn hexadecimal(id: u64) -> String {
    format!("{id:#010x}")
}

fn nodes_table(nodes: &[TopologyNode], unit: &str) -> Table {
    let level = |level: Level| {
        let name = move |node: &TopologyNode| node.located.place.level(level).map(str::to_owned);
        nodes.iter().map(name).collect::<Vec<Option<String>>>()
    };
    let address = |node: &TopologyNode| node.located.address.map(|address| address.to_string());
    let mut columns = vec![
        Column::strings(
            "host_id",
            "Id of the node, as gethostid gives it.",
            nodes.iter().map(|n| hexadecimal(n.located.host_id)),
        ),
        Column::optional_strings(
            "address",
            "The address that the id holds.",
            nodes.iter().map(address).collect::<Vec<_>>(),
        ),
        Column::optional_strings(
            "name",
            "Its name, where a host table has it.",
            nodes.iter().map(|n| n.located.name.clone()).collect::<Vec<_>>(),
        ),
        Column::optional_u64s(
            "group",
            "",
            "Group of most of its members, from 1; null where most are outliers.",
            nodes.iter().map(|n| n.group.map(|g| u64::from(g) + 1)),
        ),
        Column::u64s("members", "", "Members on it.", nodes.iter().map(|n| n.members).collect()),
        Column::f64s(
            "value",
            unit,
            "Mean of the feature that separates the groups best.",
            nodes.iter().map(|n| n.value).collect(),
        ),
    ];
    for (name, doc, of) in [
        ("switch_group", "Group of switches, such as a group of a dragonfly.", Level::Group),
        ("rack", "Rack.", Level::Rack),
        ("switch", "Switch.", Level::Switch),
        ("chassis", "Chassis.", Level::Chassis),
        ("slot", "Slot.", Level::Slot),
    ] {
        columns.push(Column::optional_strings(name, doc, level(of)));
    }
    Table::new(columns)
}

fn units_table(units: &[UnitRow], num_groups: usize, unit: &str) -> Table {
    let mut columns = vec![
        Column::strings("level", "What it is.", units.iter().map(|u| u.level.name())),
        Column::strings("unit", "Its name.", units.iter().map(|u| &u.name)),
        Column::u64s(
            "nodes",
            "",
            "Nodes of the run in it.",
            units.iter().map(|u| u.nodes).collect(),
        ),
    ];
    for group in 0..num_groups {
        let in_group = |u: &UnitRow| u.by_group.get(group).copied().unwrap_or(0);
        let doc = "Of these, those of this group.";
        columns.push(Column::u64s(
            format!("group_{}", group + 1),
            "",
            doc,
            units.iter().map(in_group).collect(),
        ));
    }
    columns.push(Column::f64s(
        "mean",
        unit,
        "Mean over its nodes.",
        units.iter().map(|u| u.mean).collect(),
    ));
    columns.push(Column::f64s("min", unit, "The smallest.", units.iter().map(|u| u.min).collect()));
    columns.push(Column::f64s("max", unit, "The largest.", units.iter().map(|u| u.max).collect()));
    Table::new(columns)
}

fn concentration_table(found: &[(u32, Vec<Concentration>)]) -> Table {
    let rows: Vec<(u32, &Concentration)> =
        found.iter().flat_map(|(group, list)| list.iter().map(move |one| (*group, one))).collect();
    let counts =
        |of: fn(&Concentration) -> u64| rows.iter().map(|row| of(row.1)).collect::<Vec<_>>();
    let numbers =
        |of: fn(&Concentration) -> f64| rows.iter().map(|row| of(row.1)).collect::<Vec<_>>();
    Table::new(vec![
        Column::u64s(
            "group",
            "",
            "The group, from 1.",
            rows.iter().map(|row| u64::from(row.0) + 1).collect(),
        ),
        Column::strings(
            "level",
            "Over which parts of the machine.",
            rows.iter().map(|row| row.1.level.name()),
        ),
        Column::u64s("nodes", "", "Nodes of the group.", counts(|c| c.marked)),
        Column::u64s("touched", "", "Parts with nodes of the group.", counts(|c| c.touched)),
        Column::u64s("units", "", "Parts with nodes of the run.", counts(|c| c.units.len() as u64)),
        Column::f64s(
            "expected_touched",
            "",
            "Parts with some by chance, in the mean.",
            numbers(|c| c.expected_touched),
        ),
        Column::u64s(
            "whole",
            "",
            "Parts of at least two nodes that are all of the group.",
            counts(|c| c.whole),
        ),
        Column::f64s(
            "expected_whole",
            "",
            "Whole parts by chance, in the mean.",
            numbers(|c| c.expected_whole),
        ),
        Column::f64s(
            "p_together",
            "",
            "How likely they are so close together by chance.",
            numbers(|c| c.p_together),
        ),
        Column::f64s(
            "p_apart",
            "",
            "How likely they are so evenly spread by chance.",
            numbers(|c| c.p_apart),
        ),
        Column::f64s(
            "p_together_adjusted",
            "",
            "The same for all groups and levels at once (Holm).",
            numbers(|c| c.adjusted_together),
        ),
        Column::f64s(
            "p_apart_adjusted",
            "",
            "The same for all groups and levels at once (Holm).",
            numbers(|c| c.adjusted_apart),
        ),
        Column::strings(
            "finding",
            "The same as a sentence.",
            rows.iter().map(|row| row.1.sentence()),
        ),
    ])
}
