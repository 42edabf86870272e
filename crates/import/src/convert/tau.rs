//! TAU's own traces into archives: `tau.trc` with `tau.edf`, or the files of each thread before they
//! were merged.

use std::collections::HashMap;
use std::sync::Arc;

use parallax_base::{Control, Folder, FolderEntry, Issues, Limits, Place, Severity, Source, Stage};
use parallax_formats::FormatError;
use parallax_formats::archive::keys;
use parallax_formats::tau::{DefinitionKind, Definitions, Message, Trace, TraceEvent};

use super::progress::Progress;
use super::tracks::{Tracks, Who};
use crate::events::{Conversion, ConversionError, Endpoint, FileOperation, file_of_counter};
use crate::tau::addresses::in_page;

/// Records after which what is complete is written.
const COMMIT_RECORDS: u64 = 1 << 16;

/// A file of records and the file that says what they mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TraceFiles {
    pub(super) records: String,
    pub(super) definitions: String,
}

/// The files of the trace that `path` belongs to: itself where it is merged, the files of all
/// threads (`tautrace.NODE.CONTEXT.THREAD.trc`) where it is one of them.
pub(super) fn files(listing: &[FolderEntry], path: &str) -> Vec<TraceFiles> {
    let place = place_of(path);
    if !path.strip_prefix(place).is_some_and(|name| name.starts_with("tautrace.")) {
        return part_of(path).into_iter().collect();
    }
    let is_sibling = |own: &str| {
        own.strip_prefix(place)
            .is_some_and(|name| name.starts_with("tautrace.") && !name.contains('/'))
    };
    let siblings = listing.iter().map(|entry| entry.path.as_str());
    siblings.filter(|own| is_sibling(own)).filter_map(part_of).collect()
}

/// The folder of a file, with the slash at its end.
fn place_of(path: &str) -> &str {
    path.rfind('/').and_then(|at| path.get(..=at)).unwrap_or_default()
}

/// A file of records with its definitions, by their names.
fn part_of(path: &str) -> Option<TraceFiles> {
    let place = place_of(path);
    let stem = path.strip_prefix(place)?.strip_suffix(".trc")?;
    let definitions = match stem.strip_prefix("tautrace.").and_then(|ids| ids.split('.').next()) {
        Some(node) => format!("{place}events.{node}.edf"),
        None => format!("{place}{stem}.edf"),
    };
    Some(TraceFiles { records: path.to_owned(), definitions })
}

/// Whether `path` is a trace of TAU with the file that says what its records mean.
pub(crate) fn is_trace(folder: &dyn Folder, source: &Source, path: &str) -> bool {
    // The first record is all that tells, and little: the name must fit too.
    let has_definitions = part_of(path)
        .is_some_and(|part| folder.open(&part.definitions).is_ok_and(|found| found.is_some()));
    has_definitions && Trace::open(Arc::clone(source), path, &mut Issues::new()).is_ok()
}

/// Converts the trace that `path` belongs to.
pub(super) fn convert(
    folder: &Arc<dyn Folder>,
    path: &str,
    limits: &Limits,
    conversion: &mut Conversion,
    control: &Control,
) -> Result<(), ConversionError> {
    conversion.fact(keys::FORMAT, "TAU trace");
    let listing = folder.walk().map_err(|cause| FormatError::read(path, cause))?;
    let parts = files(&listing, path);
    let mut tracks = Tracks::default();
    let mut issues = Issues::new();
    let open = |file: &str| {
        let found = folder.open(file).map_err(|cause| FormatError::read(file, cause))?;
        found.ok_or_else(|| FormatError::missing(path, file))
    };
    for part in &parts {
        let source = open(&part.definitions)?;
        let definitions = Definitions::read(&*source, &part.definitions, limits, &mut issues)?;
        let trace = Trace::open(open(&part.records)?, &part.records, &mut issues)?;
        let mut file = File {
            name: &part.records,
            names: Names::new(&definitions, conversion),
            definitions: &definitions,
            tracks: &mut tracks,
            issues: &mut issues,
        };
        let mut progress = Progress::new(trace.num_records() * 24, control);
        let mut from = 0;
        while from < trace.num_records() {
            let to = trace.num_records().min(from + COMMIT_RECORDS);
            trace.visit(from..to, |_, record| {
                file.take(&record, conversion);
                true
            })?;
            conversion.commit()?;
            progress.at(to * 24)?;
            from = to;
        }
    }
    conversion.issues.extend(issues);
    Ok(())
}

/// What event numbers of one file are in the archive.
#[derive(Default)]
struct Names {
    functions: HashMap<i64, u32>,
    counters: HashMap<i64, u32>,
    /// Counters of what was read from files or written to them.
    files: HashMap<i64, (u32, bool)>,
    /// Facts, which each rank has a record of: names and values.
    facts: HashMap<i64, (String, String)>,
}

impl Names {
    fn new(definitions: &Definitions, conversion: &mut Conversion) -> Self {
        let mut names = Self::default();
        for definition in definitions.list() {
            if let Some((name, value)) = definition.as_fact() {
                // Of ranks that differ, one definition each.
                if names.facts.values().all(|(known, _)| known != name) {
                    conversion.fact(format!("{}{name}", keys::FACT), value);
                }
                names.facts.insert(definition.id, (name.to_owned(), value.to_owned()));
                continue;
            }
            match definition.kind {
                DefinitionKind::EntryExit => {
                    let name = in_page(&definition.name);
                    let function = conversion.function(&name, &definition.group);
                    names.functions.insert(definition.id, function);
                }
                DefinitionKind::Trigger => {
                    let counter = conversion.counter(&definition.name, "");
                    names.counters.insert(definition.id, counter);
                    if let Some((file, is_write)) = file_of_counter(&definition.name) {
                        names.files.insert(definition.id, (conversion.file(file), is_write));
                    }
                }
                _ => {}
            }
        }
        names
    }
}

struct File<'f> {
    name: &'f str,
    names: Names,
    definitions: &'f Definitions,
    tracks: &'f mut Tracks,
    issues: &'f mut Issues,
}

impl File<'_> {
    fn take(&mut self, record: &parallax_formats::tau::Record, conversion: &mut Conversion) {
        let who: Who = (None, i64::from(record.node), i64::from(record.thread));
        let track = self.tracks.track(who, conversion);
        let nanos = record.time_micros.saturating_mul(1000);
        let event = record.event(self.definitions);
        let message = |m: Message, partner, is_send| Endpoint {
            nanos,
            partner: Some(partner),
            communicator: u32::from(m.communicator),
            tag: i64::from(m.tag),
            bytes: u64::from(m.len_bytes),
            is_send,
        };
        let partner = match event {
            TraceEvent::Send(m) | TraceEvent::Receive(m) => {
                Some(self.tracks.peer((None, i64::from(m.other_node), 0), conversion))
            }
            _ => None,
        };
        if let TraceEvent::Value { event, .. } = event
            && let Some((name, value)) = self.names.facts.get(&event)
        {
            conversion.track_fact(track, name, value);
        }
        let Some(builder) = conversion.builder(track) else { return };
        match (event, partner) {
            (TraceEvent::Enter { event }, _) => {
                if let Some(&function) = self.names.functions.get(&event) {
                    builder.enter(nanos, function);
                }
            }
            (TraceEvent::Leave { event }, _) => {
                builder.leave(nanos, self.names.functions.get(&event).copied());
            }
            (TraceEvent::Send(m), Some(partner)) => builder.message(message(m, partner, true)),
            (TraceEvent::Receive(m), Some(partner)) => builder.message(message(m, partner, false)),
            (TraceEvent::Value { event, value }, _) => {
                builder.counts_mut().metrics += 1;
                if let Some(&counter) = self.names.counters.get(&event) {
                    builder.value(nanos, counter, value as f64);
                }
                if let Some(&(file, is_write)) = self.names.files.get(&event) {
                    let bytes = u64::try_from(value).unwrap_or(0);
                    builder.file(FileOperation { nanos, file, bytes, is_write });
                }
            }
            (TraceEvent::Unknown { event }, _) => {
                builder.other(nanos);
                let place = Place::File { file: self.name.to_owned() };
                self.issues.report(
                    Severity::Warning,
                    Stage::Import,
                    "event-unknown",
                    place,
                    || format!("event {event} has no definition; its records are counted only"),
                );
            }
            _ => builder.other(nanos),
        }
    }
}
