//! The rack map: nodes as they stand, for drawing.

use std::collections::{BTreeMap, BTreeSet};

use super::place::{Level, by_number};
use super::{Located, System};

/// Nodes next to each other in a rack without slots.
const ROW: usize = 16;
/// Slots that are drawn although they are empty, at most.
const MOST_SLOTS: u32 = 32;

/// One line of nodes: a chassis, or a part of a rack without any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What it is called inside of its rack: `c3`.
    pub label: String,
    /// Nodes, as positions in the list of nodes, from left to right; `None` where the run has none.
    pub cells: Vec<Option<usize>>,
}

/// A rack, or what comes closest: a switch, a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shelf {
    /// Its name.
    pub name: String,
    /// The group that it belongs to, where that is something else.
    pub group: Option<String>,
    /// From the top.
    pub rows: Vec<Row>,
}

/// All racks with nodes of the run, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RackMap {
    /// The racks.
    pub shelves: Vec<Shelf>,
    /// Nodes that no rack is known of.
    pub unplaced: Vec<usize>,
}

/// Puts nodes where they stand. Chassis are drawn with the highest number on top, as on Aurora.
#[must_use]
pub fn rack_map(nodes: &[Located], system: &System) -> RackMap {
    let mut by_shelf: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut out = RackMap::default();
    for (at, node) in nodes.iter().enumerate() {
        let shelf = [Level::Rack, Level::Switch, Level::Group]
            .into_iter()
            .find_map(|level| node.place.level(level));
        match shelf {
            Some(name) => by_shelf.entry(name).or_default().push(at),
            None => out.unplaced.push(at),
        }
    }
    // All chassis are as wide as the widest, so that racks look alike.
    let positions: BTreeSet<(u32, u32)> =
        nodes.iter().filter_map(|node| Some((node.place.slot?, node.place.node))).collect();
    let within: BTreeSet<u32> = positions.iter().map(|position| position.1).collect();
    let mut columns: BTreeSet<(u32, u32)> = positions.clone();
    if let Some(slots) = system.slots_per_chassis() {
        let all =
            (0..slots.min(MOST_SLOTS)).flat_map(|slot| within.iter().map(move |&n| (slot, n)));
        columns.extend(all);
    }
    let columns: BTreeMap<(u32, u32), usize> = columns.into_iter().zip(0..).collect();
    let mut names: Vec<&str> = by_shelf.keys().copied().collect();
    names.sort_by(|a, b| by_number(a, b));
    for name in names {
        let members = by_shelf.get(name).map_or(&[][..], Vec::as_slice);
        let of = |at: usize| nodes.get(at).map(|node| &node.place);
        let group =
            members.iter().find_map(|&at| of(at)?.level(Level::Group)).filter(|g| *g != name);
        let has_slots = members.iter().all(|&at| of(at).is_some_and(|place| place.slot.is_some()));
        let rows =
            if has_slots { in_slots(nodes, members, &columns) } else { in_order(nodes, members) };
        out.shelves.push(Shelf { name: name.to_owned(), group: group.map(str::to_owned), rows });
    }
    out
}

fn in_slots(
    nodes: &[Located],
    members: &[usize],
    columns: &BTreeMap<(u32, u32), usize>,
) -> Vec<Row> {
    let mut rows: BTreeMap<Option<u32>, Row> = BTreeMap::new();
    for &at in members {
        let Some(place) = nodes.get(at).map(|node| &node.place) else { continue };
        let row = rows.entry(place.chassis).or_insert_with(|| Row {
            label: place.chassis.map_or_else(String::new, |chassis| format!("c{chassis}")),
            cells: vec![None; columns.len()],
        });
        let column = place.slot.and_then(|slot| columns.get(&(slot, place.node)));
        if let Some(cell) = column.and_then(|&column| row.cells.get_mut(column)) {
            // Two nodes at one place are a mistake of the table; the first one is drawn.
            cell.get_or_insert(at);
        }
    }
    rows.into_values().rev().collect()
}

fn in_order(nodes: &[Located], members: &[usize]) -> Vec<Row> {
    let name = |at: usize| nodes.get(at).and_then(|node| node.name.as_deref()).unwrap_or_default();
    let mut sorted = members.to_vec();
    sorted.sort_by(|&a, &b| by_number(name(a), name(b)).then(a.cmp(&b)));
    let row = |part: &[usize]| Row {
        label: String::new(),
        cells: part.iter().copied().map(Some).collect(),
    };
    sorted.chunks(ROW).map(row).collect()
}
