//! Profiles of Caliper: text of `.cali`, and JSON of `cali-query` ([FORMAT.md](FORMAT.md)).
//!
//! Both say the same: attributes, nodes of trees whose paths are call paths and other hierarchies,
//! and records that name nodes and have values. The readers bring both into one form.

mod json;
mod records;

use parallax_base::{ByteSource, Issues, Limits, Place, Severity, Stage, read_range};

use crate::FormatError;

/// An attribute: what a node or a value is of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attribute {
    /// Name, such as `sum#time.duration`.
    pub name: String,
    /// The name that people read, where the writer gives one.
    pub alias: Option<String>,
    /// The unit, where the writer gives one.
    pub unit: Option<String>,
    /// Whether its nodes nest in one another and make a call path.
    pub is_nested: bool,
}

/// A node of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Index of its attribute.
    pub attribute: u32,
    /// Its text: the name of a region, a function.
    pub label: String,
    /// The node above; always before this one.
    pub parent: Option<u32>,
}

/// What was measured at some place.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Record {
    /// Nodes that it names, each with those above it.
    pub nodes: Vec<u32>,
    /// Numbers by index of the attribute; finite.
    pub values: Vec<(u32, f64)>,
}

/// A profile. Every index is of something that exists.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CaliperProfile {
    /// Attributes.
    pub attributes: Vec<Attribute>,
    /// Nodes, parents first.
    pub nodes: Vec<Node>,
    /// Records in the order of the file.
    pub records: Vec<Record>,
    /// What is true of the whole run: attributes and values, as text.
    pub globals: Vec<(String, String)>,
}

impl CaliperProfile {
    /// Nodes from the outermost to `node`, at most `max_depth`.
    #[must_use]
    pub fn path(&self, node: u32, max_depth: u32) -> Vec<u32> {
        let parent = |&node: &u32| self.nodes.get(node as usize)?.parent;
        let most = usize::try_from(max_depth).unwrap_or(usize::MAX);
        let mut path: Vec<u32> = std::iter::successors(Some(node), parent).take(most).collect();
        path.reverse();
        path
    }
}

/// How much of a file shows which format it is.
const HEAD_BYTES: u64 = 4096;

/// The first characters of a file of records.
const RECORD: &[u8] = b"__rec=";

/// Whether `text`, the first bytes of a file, is of Caliper.
#[must_use]
pub fn is_caliper(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii_start();
    if text.starts_with(RECORD) {
        return true;
    }
    let has = |name: &[u8]| text.windows(name.len()).any(|window| window == name);
    text.first() == Some(&b'{')
        && has(b"\"column_metadata\"")
        && [&b"\"data\""[..], b"\"columns\"", b"\"nodes\""].iter().filter(|name| has(name)).count()
            >= 2
}

/// Reads a profile.
///
/// # Errors
/// When the file cannot be read, is of another format, or needs more memory than `limits` allow.
pub fn read_caliper(
    source: &dyn ByteSource,
    file: &str,
    limits: &Limits,
    issues: &mut Issues,
) -> Result<CaliperProfile, FormatError> {
    // A value of two bytes of the file becomes a pair, a node of 20 bytes a text with its place.
    let bytes = source.len().saturating_mul(size_of::<Node>() as u64);
    let limit = |cause| FormatError::Limit { file: file.to_owned(), cause };
    limits.metadata("the profile", bytes).map_err(limit)?;
    let head = read_range(source, 0, source.len().min(HEAD_BYTES))
        .map_err(|cause| FormatError::read(file, cause))?;
    if head.trim_ascii_start().starts_with(RECORD) {
        records::read(source, file, issues)
    } else {
        json::read(source, file, issues)
    }
}

/// Says what is dropped, and where.
fn dropped(issues: &mut Issues, kind: &'static str, file: &str, offset: u64, what: &str) {
    let place = Place::Byte { file: file.to_owned(), offset };
    issues.report(Severity::Warning, Stage::Read, kind, place, || what.to_owned());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_caliper_are_not_a_table() {
        assert!(is_caliper(b"__rec=node,id=12,attr=10,data=64,parent=3\n"));
        assert!(is_caliper(br#"{"data": [[1]], "columns": ["a"], "column_metadata": [{}]}"#));
        assert!(!is_caliper(br#"{"data": {}, "columns": []}"#) && !is_caliper(b""));
    }
}
