//! How a system's node names say where nodes stand: a small text, written by hand.

use super::{HostError, decoded, lines};

/// Parts of a pattern at most.
pub const MAX_PARTS: usize = 64;

/// A part of a pattern for names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamePart {
    /// These letters.
    Literal(String),
    /// The number of the group.
    Group,
    /// The number of the rack.
    Rack,
    /// The number of the chassis.
    Chassis,
    /// The number of the slot.
    Slot,
    /// The number of the node in its slot, or any other number that does not matter.
    Node,
}

/// A system as the user describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SystemText {
    /// What it is called.
    pub name: String,
    /// Patterns of names; the first one that fits counts.
    pub patterns: Vec<Vec<NamePart>>,
    /// Racks that make a group, counted from 0 by their number.
    pub racks_per_group: Option<u32>,
    /// Slots of a chassis, where they are to be drawn although the run does not use them.
    pub slots_per_chassis: Option<u32>,
}

/// Reads the description of a system: lines `name = ...`, `node = r{rack}c{chassis}s{slot}`,
/// `racks_per_group = 4`, `slots_per_chassis = 8`; `#` begins a comment.
///
/// # Errors
/// When a line cannot be read, or no line says what nodes are called.
pub fn read_system(bytes: &[u8], file: &str) -> Result<SystemText, HostError> {
    let mut out = SystemText::default();
    for (line, content) in lines(decoded(bytes, file)?).filter(|(_, content)| !content.is_empty()) {
        let wrong = |what: String| HostError::line(file, line, what);
        let (key, value) = content
            .split_once('=')
            .ok_or_else(|| wrong(format!("expected key = value, found {content:?}")))?;
        let (key, value) = (key.trim(), value.trim().trim_matches('"'));
        let number = || match value.parse::<u32>() {
            Ok(number) if number > 0 => Ok(Some(number)),
            _ => Err(wrong(format!("expected a number above 0, found {value:?}"))),
        };
        match key.replace('-', "_").as_str() {
            "name" => out.name = value.to_owned(),
            "node" => out.patterns.push(pattern(value).map_err(wrong)?),
            "racks_per_group" => out.racks_per_group = number()?,
            "slots_per_chassis" => out.slots_per_chassis = number()?,
            _ => {
                let known = "name, node, racks_per_group, slots_per_chassis";
                return Err(wrong(format!("unknown {key:?}; known are {known}")));
            }
        }
    }
    if out.patterns.is_empty() {
        let what = "no line says what nodes are called, such as node = r{rack}c{chassis}s{slot}";
        return Err(HostError::Unknown { file: file.to_owned(), what: what.into() });
    }
    if out.name.is_empty() {
        out.name = file.to_owned();
    }
    Ok(out)
}

fn pattern(text: &str) -> Result<Vec<NamePart>, String> {
    let (mut out, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once('{') {
        if !before.is_empty() {
            out.push(NamePart::Literal(before.to_owned()));
        }
        let Some((word, after)) = after.split_once('}') else {
            return Err(format!("{{ without }} in {text:?}"));
        };
        let part = match word {
            "group" => NamePart::Group,
            "rack" => NamePart::Rack,
            "chassis" => NamePart::Chassis,
            "slot" => NamePart::Slot,
            "node" => NamePart::Node,
            _ => {
                let known = "{group}, {rack}, {chassis}, {slot}, {node}";
                return Err(format!("unknown {{{word}}}; known are {known}"));
            }
        };
        if out.last().is_some_and(|last| !matches!(last, NamePart::Literal(_))) {
            return Err(format!("nothing between two numbers in {text:?}"));
        }
        out.push(part);
        rest = after;
    }
    if !rest.is_empty() {
        out.push(NamePart::Literal(rest.to_owned()));
    }
    if out.len() > MAX_PARTS {
        return Err(format!("more than {MAX_PARTS} parts"));
    }
    if out.iter().all(|part| matches!(part, NamePart::Literal(_) | NamePart::Node)) {
        return Err(format!("{text:?} says nothing about where a node stands"));
    }
    Ok(out)
}
