//! Text of `.cali`: a record a line.

use std::collections::HashMap;

use parallax_base::{ByteSource, Issues};

use super::{Attribute, CaliperProfile, Node, Record, dropped};
use crate::FormatError;
use crate::stream::{LineReader, SourceStream};

/// Numbers of the nodes that every file has without naming them: types of values, and the
/// attributes that describe attributes.
const TYPES: std::ops::RangeInclusive<u64> = 0..=7;
const NAME: u64 = 8;
const PROPERTIES: u64 = 10;
/// The property of attributes whose nodes nest.
const NESTED: u64 = 256;
/// Nodes above an attribute that are looked at, and facts about a run that are kept: bounds for
/// damaged files, far above what is written.
const MOST_ABOVE: usize = 64;
const MOST_GLOBALS: usize = 1024;
/// Names by which attributes say more of themselves.
const ALIAS: &str = "attribute.alias";
const UNIT: &str = "attribute.unit";

/// A node as the file has it.
struct Raw {
    /// Number of the node that names its attribute.
    attribute: u64,
    data: String,
    /// Position of the node above among the raw nodes.
    parent: Option<u32>,
}

#[derive(Default)]
struct File {
    raw: Vec<Raw>,
    /// Position of a node by its number.
    by_id: HashMap<u64, u32>,
    /// Index of an attribute in the profile by the number of the node that names it.
    attributes: HashMap<u64, u32>,
    profile: CaliperProfile,
}

pub(super) fn read(
    source: &dyn ByteSource,
    file: &str,
    issues: &mut Issues,
) -> Result<CaliperProfile, FormatError> {
    let mut lines = LineReader::new(SourceStream::new(source));
    let mut out = File::default();
    while let Some(line) = lines.next_line().map_err(|cause| FormatError::read(file, cause))? {
        let text = line.text();
        if text.trim().is_empty() {
            continue;
        }
        if let Err(what) = out.line(text.trim_end()) {
            let what = format!("{what}; the record is dropped");
            dropped(issues, "record-unreadable", file, line.offset, &what);
        }
    }
    Ok(out.profile)
}

impl File {
    fn line(&mut self, text: &str) -> Result<(), &'static str> {
        let mut fields = HashMap::new();
        for field in split(text, ',') {
            let (name, value) = cut(field);
            fields.insert(name, value);
        }
        match fields.get("__rec").copied() {
            Some("node") => self.node(&fields),
            Some("ctx") => self.record(&fields),
            Some("globals") => self.globals(&fields),
            Some(_) => Ok(()),
            None => Err("the line is no record"),
        }
    }

    fn node(&mut self, fields: &HashMap<&str, &str>) -> Result<(), &'static str> {
        let number = |name: &str| fields.get(name).and_then(|text| text.parse::<u64>().ok());
        let id = number("id").ok_or("a node has no number")?;
        let attribute = number("attr").ok_or("a node has no attribute")?;
        let data = plain(fields.get("data").copied().unwrap_or_default());
        let parent = match number("parent") {
            Some(parent) if TYPES.contains(&parent) => None,
            Some(parent) => {
                Some(*self.by_id.get(&parent).ok_or("the node above does not come before")?)
            }
            None => None,
        };
        let here = u32::try_from(self.raw.len()).map_err(|_| "there are too many nodes")?;
        self.raw.push(Raw { attribute, data, parent });
        self.by_id.insert(id, here);
        if attribute == NAME {
            self.define(id, here);
        }
        // Nodes of the profile stand for nodes of the file, one for one, so that parents agree.
        let attribute = self.attribute(attribute);
        let label = self.raw.last().map(|raw| raw.data.clone()).unwrap_or_default();
        self.profile.nodes.push(Node { attribute, label, parent });
        Ok(())
    }

    /// An attribute from the node that names it and those above.
    fn define(&mut self, id: u64, here: u32) {
        let mut made = Attribute::default();
        let mut at = Some(here);
        for _ in 0..MOST_ABOVE {
            let Some(raw) = at.and_then(|at| self.raw.get(at as usize)) else { break };
            if at == Some(here) {
                made.name.clone_from(&raw.data);
            } else if raw.attribute == PROPERTIES {
                made.is_nested |= raw.data.parse::<u64>().is_ok_and(|bits| bits & NESTED != 0);
            } else {
                let name = self.attributes.get(&raw.attribute);
                let name = name.and_then(|&at| self.profile.attributes.get(at as usize));
                match name.map(|attribute| attribute.name.as_str()) {
                    Some(ALIAS) => made.alias = Some(raw.data.clone()),
                    Some(UNIT) => made.unit = Some(raw.data.clone()),
                    _ => {}
                }
            }
            at = raw.parent;
        }
        let index = self.attribute(id);
        if let Some(attribute) = self.profile.attributes.get_mut(index as usize) {
            *attribute = made;
        }
    }

    /// The index of an attribute; one of which nothing is known yet where the file has not named it.
    fn attribute(&mut self, id: u64) -> u32 {
        let next = u32::try_from(self.profile.attributes.len()).unwrap_or(u32::MAX);
        *self.attributes.entry(id).or_insert_with(|| {
            self.profile.attributes.push(Attribute::default());
            next
        })
    }

    fn record(&mut self, fields: &HashMap<&str, &str>) -> Result<(), &'static str> {
        let mut record = Record::default();
        for id in list(fields.get("ref").copied()) {
            let id = id.parse::<u64>().map_err(|_| "the number of a node is no number")?;
            record.nodes.push(*self.by_id.get(&id).ok_or("it names a node that does not exist")?);
        }
        for (attribute, value) in self.pairs(fields)? {
            // Texts as values: nothing that could be added up.
            let value = value.parse::<f64>().ok().filter(|value| value.is_finite());
            record.values.extend(value.map(|value| (attribute, value)));
        }
        self.profile.records.push(record);
        Ok(())
    }

    /// Attributes and values that lie side by side.
    fn pairs(&mut self, fields: &HashMap<&str, &str>) -> Result<Vec<(u32, String)>, &'static str> {
        let attributes: Vec<&str> = list(fields.get("attr").copied()).collect();
        let values: Vec<&str> = list(fields.get("data").copied()).collect();
        if attributes.len() != values.len() {
            return Err("it has not as many values as attributes");
        }
        let mut out = Vec::with_capacity(values.len());
        for (id, value) in attributes.into_iter().zip(values) {
            let id = id.parse().map_err(|_| "the number of an attribute is no number")?;
            out.push((self.attribute(id), plain(value)));
        }
        Ok(out)
    }

    fn globals(&mut self, fields: &HashMap<&str, &str>) -> Result<(), &'static str> {
        if self.profile.globals.len() >= MOST_GLOBALS {
            return Ok(());
        }
        let mut found = Vec::new();
        for id in list(fields.get("ref").copied()) {
            let id = id.parse::<u64>().map_err(|_| "the number of a node is no number")?;
            let mut at = self.by_id.get(&id).copied();
            while let Some(node) = at.and_then(|at| self.profile.nodes.get(at as usize)) {
                if found.len() >= MOST_GLOBALS {
                    break;
                }
                found.push((node.attribute, node.label.clone()));
                at = node.parent;
            }
        }
        found.extend(self.pairs(fields)?);
        for (attribute, value) in found {
            let named = self.profile.attributes.get(attribute as usize);
            let Some(name) = named.map(|attribute| attribute.name.clone()) else { continue };
            if !name.is_empty() && !self.profile.globals.iter().any(|(known, _)| *known == name) {
                self.profile.globals.push((name, value));
            }
        }
        Ok(())
    }
}

/// The elements of a list; none where there is no list.
fn list(text: Option<&str>) -> impl Iterator<Item = &str> {
    text.into_iter().flat_map(|text| split(text, '='))
}

/// Parts between separators that no backslash precedes.
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut is_escaped = false;
    text.split(move |letter| {
        let is_end = letter == separator && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        is_end
    })
}

/// A name and what follows the first `=`.
fn cut(field: &str) -> (&str, &str) {
    field.split_once('=').unwrap_or((field, ""))
}

/// A text without the backslashes that protect separators.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('n') => out.push('\n'),
                Some(other) => out.push(other),
                None => {}
            },
            other => out.push(other),
        }
    }
    out
}
