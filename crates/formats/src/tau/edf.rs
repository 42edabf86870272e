//! `.edf`: what the event numbers of a trace mean.

use std::collections::HashMap;
use std::sync::Arc;

use parallax_base::{ByteSource, Issues, Limits, Place, Severity, Stage};

use crate::FormatError;
use crate::compressed;
use crate::stream::read_all;

/// What a record with a certain event number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionKind {
    /// `EntryExit`: parameter 1 enters, -1 leaves.
    EntryExit,
    /// `TriggerValue`: the parameter is a value.
    Trigger,
    /// `MESSAGE_SEND`.
    Send,
    /// `MESSAGE_RECV`.
    Receive,
    /// `EV_INIT`, the first record of each thread.
    Init,
    /// `WALL_CLOCK`: the parameter is the time in whole seconds since 1970.
    WallClock,
    /// Anything else that the tracer writes for itself: `FLUSH_CLOSE`, `CONT_EVENT`.
    Other,
}

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// Event number.
    pub id: i64,
    /// Group: `MPI`, `TAUEVENT`.
    pub group: Arc<str>,
    /// For messages -7 and -8; for values 1 where they only grow.
    pub tag: i64,
    /// Name without blanks at its ends.
    pub name: Arc<str>,
    /// What records are.
    pub kind: DefinitionKind,
}

impl Definition {
    /// Facts about the execution are written as events that are called `name | value`.
    #[must_use]
    pub fn as_fact(&self) -> Option<(&str, &str)> {
        let is_value = self.kind == DefinitionKind::Trigger;
        let (name, value) = self.name.split_once(" | ").filter(|_| is_value)?;
        Some((name.trim(), value.trim()))
    }
}

/// All definitions of a trace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Definitions {
    list: Vec<Definition>,
    by_id: HashMap<i64, u32>,
}

impl Definitions {
    /// Reads an `.edf` file. Lines that are no definition are reported and left out.
    ///
    /// # Errors
    /// When the file is not of this format, cannot be read or is larger than the limits.
    pub fn read(
        source: &dyn ByteSource,
        file: &str,
        limits: &Limits,
        issues: &mut Issues,
    ) -> Result<Self, FormatError> {
        let fail = |cause| FormatError::read(file, cause);
        let limit = |wanted| {
            limits
                .metadata("the definitions of a trace", wanted)
                .map_err(|cause| FormatError::Limit { file: file.to_owned(), cause })
        };
        let mut stream = compressed::open(source).map_err(fail)?;
        let bytes = read_all(&mut *stream, limits.metadata_bytes).map_err(fail)?;
        let Some(bytes) = bytes else {
            limit(limits.metadata_bytes.saturating_add(1))?;
            return Ok(Self::default());
        };
        let text = String::from_utf8_lossy(&bytes);
        let mut lines = text.lines();
        let head = lines.next().unwrap_or_default();
        let declared = head
            .split_once(' ')
            .filter(|(_, rest)| rest.trim() == "dynamic_trace_events")
            .and_then(|(number, _)| number.parse::<u64>().ok());
        let Some(declared) = declared else {
            return Err(FormatError::NotThisFormat {
                file: file.to_owned(),
                expected: "definitions of a TAU trace",
                found: head.chars().take(40).collect(),
            });
        };
        let mut out = Self::default();
        for (number, line) in (2..).zip(lines) {
            if line.starts_with('#') || line.trim().is_empty() {
                continue;
            }
            let place = || Place::File { file: file.to_owned() };
            let Some(definition) = definition(line) else {
                issues.report(Severity::Error, Stage::Read, "definition-bad", place(), || {
                    format!("line {number} is no definition; it is omitted")
                });
                continue;
            };
            let row = u32::try_from(out.list.len()).unwrap_or(u32::MAX);
            if *out.by_id.entry(definition.id).or_insert(row) == row {
                out.list.push(definition);
            } else {
                issues.report(
                    Severity::Warning,
                    Stage::Read,
                    "definition-repeated",
                    place(),
                    || format!("event {} is defined twice; the first counts", definition.id),
                );
            }
        }
        let found = out.list.len() as u64;
        if declared != found {
            let place = Place::File { file: file.to_owned() };
            issues.report(Severity::Warning, Stage::Read, "count-differs", place, || {
                format!("{declared} definitions are announced, {found} are there")
            });
        }
        Ok(out)
    }

    /// All definitions in the order of the file.
    #[must_use]
    pub fn list(&self) -> &[Definition] {
        &self.list
    }

    /// The definition of an event number.
    #[must_use]
    pub fn get(&self, id: i64) -> Option<&Definition> {
        self.list.get(*self.by_id.get(&id)? as usize)
    }
}

/// `id GROUP tag "name" kind`; the name may have quotes inside.
fn definition(line: &str) -> Option<Definition> {
    let open = line.find('"')?;
    let close = line.rfind('"').filter(|&close| close > open)?;
    let name = line.get(open + 1..close)?.trim();
    let mut front = line.get(..open)?.split_whitespace();
    let id = front.next()?.parse().ok()?;
    let rest: Vec<&str> = front.collect();
    // Groups are joined by ` | `, so the tag is what stands last.
    let (tag, group) = rest.split_last()?;
    let kind = match (line.get(close + 1..)?.trim(), name) {
        ("EntryExit", _) => DefinitionKind::EntryExit,
        ("TriggerValue", _) => DefinitionKind::Trigger,
        (_, "MESSAGE_SEND") => DefinitionKind::Send,
        (_, "MESSAGE_RECV") => DefinitionKind::Receive,
        (_, "EV_INIT") => DefinitionKind::Init,
        (_, "WALL_CLOCK") => DefinitionKind::WallClock,
        _ => DefinitionKind::Other,
    };
    Some(Definition {
        id,
        group: group.join(" ").into(),
        tag: tag.parse().ok()?,
        name: name.into(),
        kind,
    })
}
