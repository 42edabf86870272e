//! JSON of `cali-query`, as its formatter `json-split` writes it.

use parallax_base::{ByteSource, Issues};

use super::{Attribute, CaliperProfile, Node, Record, dropped};
use crate::FormatError;
use crate::json::{JsonLimits, JsonReader, Value};
use crate::pascal::file_error;

/// The column that holds all nested regions.
const PATH: &str = "path";

pub(super) fn read(
    source: &dyn ByteSource,
    file: &str,
    issues: &mut Issues,
) -> Result<CaliperProfile, FormatError> {
    let values = usize::try_from(source.len()).unwrap_or(usize::MAX);
    let limits = JsonLimits { values, ..JsonLimits::default() };
    let mut reader = JsonReader::from_source(source, limits);
    let root = reader.read_value().map_err(|fault| file_error(file, &fault))?;
    let (Some(columns), Some(data)) = (root.get("columns"), root.get("data")) else {
        return Err(FormatError::malformed(file, 0, "there are no columns or no data"));
    };
    let meta = root.get("column_metadata").map(Value::items).unwrap_or_default();
    let mut profile = CaliperProfile::default();
    let mut is_value = Vec::new();
    for (at, name) in columns.items().iter().enumerate() {
        let meta = meta.get(at);
        let text = |name: &str| meta?.get(name)?.as_str().map(ToOwned::to_owned);
        let name = name.as_str().unwrap_or_default().to_owned();
        is_value.push(meta.and_then(|meta| meta.get("is_value")) == Some(&Value::Bool(true)));
        profile.attributes.push(Attribute {
            is_nested: name == PATH,
            alias: text("attribute.alias"),
            unit: text("attribute.unit"),
            name,
        });
    }
    // Damage has no byte here: the whole text is one value by now.
    let mut drop = |what: &str| dropped(issues, "record-unreadable", file, 0, what);
    for node in root.get("nodes").map(Value::items).unwrap_or_default() {
        let here = profile.nodes.len() as u64;
        let column = node.get("column").and_then(Value::as_str);
        let attribute = profile.attributes.iter().position(|a| Some(a.name.as_str()) == column);
        let label = match node.get("label") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.as_f64().to_string(),
            _ => String::new(),
        };
        let above = node.get("parent").map(|parent| index(parent, here));
        if attribute.is_none() {
            drop("a node is of a column that does not exist; it is kept without one");
        }
        if above == Some(None) {
            drop("the node above a node does not come before it; the node is kept without one");
        }
        let attribute = attribute.and_then(|at| u32::try_from(at).ok()).unwrap_or(u32::MAX);
        profile.nodes.push(Node { attribute, label, parent: above.flatten() });
    }
    // A node of no column keeps its number, for those that come after it.
    if profile.nodes.iter().any(|node| node.attribute == u32::MAX) {
        let unknown = u32::try_from(profile.attributes.len()).unwrap_or(u32::MAX);
        profile.attributes.push(Attribute::default());
        profile.nodes.iter_mut().for_each(|node| node.attribute = node.attribute.min(unknown));
    }
    nest_call_paths(&mut profile);
    let num_nodes = profile.nodes.len() as u64;
    for row in data.items() {
        let mut record = Record::default();
        if row.items().len() != is_value.len() {
            drop("a record has not as many cells as there are columns; it is dropped");
            continue;
        }
        for ((cell, &is_value), column) in row.items().iter().zip(&is_value).zip(0..) {
            match (cell, is_value) {
                (Value::Null, _) => {}
                (cell, true) => match cell.as_f64().filter(|value| value.is_finite()) {
                    Some(value) => record.values.push((column, value)),
                    None => drop("a value is no number; it is dropped"),
                },
                (cell, false) => match index(cell, num_nodes) {
                    Some(node) => record.nodes.push(node),
                    None => drop("a record names a node that does not exist; the name is dropped"),
                },
            }
        }
        profile.records.push(record);
    }
    let known = ["columns", "column_metadata", "data", "nodes"];
    let rest = root.entries().iter().filter(|(name, _)| !known.contains(&name.as_str()));
    for (name, value) in rest {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.as_f64().to_string(),
            _ => continue,
        };
        profile.globals.push((name.clone(), text));
    }
    Ok(profile)
}

/// Without a column of regions, call paths are what has nodes below nodes.
fn nest_call_paths(profile: &mut CaliperProfile) {
    if profile.attributes.iter().any(|attribute| attribute.is_nested) {
        return;
    }
    for node in profile.nodes.iter().filter(|node| node.parent.is_some()) {
        if let Some(attribute) = profile.attributes.get_mut(node.attribute as usize) {
            attribute.is_nested = true;
        }
    }
}

/// A whole number below `end`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked before")]
fn index(value: &Value, end: u64) -> Option<u32> {
    let number = value.as_f64()?;
    let is_index = number >= 0.0 && number.fract() == 0.0 && number < f64::from(u32::MAX);
    let number = is_index.then_some(number as u32)?;
    (u64::from(number) < end).then_some(number)
}
