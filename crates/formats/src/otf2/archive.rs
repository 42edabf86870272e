//! [`Archive`]: a whole trace; [`EventFile`]: the events of one of its locations.

use std::sync::Arc;

use parallax_base::{Folder, Issues, Limits, Place, Severity, Source, Stage};

use super::anchor::Anchor;
use super::chunks::Chunks;
use super::fields::Fields;
use super::ids::LocationId;
use super::local::{LocalDefinitions, Mappings};
use super::reader::{EventCounts, EventReader};
use super::tables::Definitions;
use crate::FormatError;

/// A trace: its anchor and global definitions are read, its events are read on demand.
pub struct Archive {
    folder: Arc<dyn Folder>,
    /// Path of the anchor without `.otf2`.
    base: String,
    anchor: Anchor,
    definitions: Definitions,
    limits: Limits,
}

impl Archive {
    /// Opens the trace whose anchor lies at `path` in `folder`.
    ///
    /// # Errors
    /// When the anchor or the global definitions cannot be read at all, or need more memory than
    /// `limits` allow.
    pub fn open(
        folder: &Arc<dyn Folder>,
        path: &str,
        limits: Limits,
        issues: &mut Issues,
    ) -> Result<Self, FormatError> {
        let Some(source) = open(&**folder, path)? else {
            return Err(FormatError::malformed(path, 0, "there is no such file"));
        };
        let anchor = Anchor::read(&*source, path, issues)?;
        let base = path.strip_suffix(".otf2").unwrap_or(path).to_owned();
        let file = format!("{base}.def");
        let Some(source) = open(&**folder, &file)? else {
            return Err(FormatError::missing(path, &file));
        };
        let definitions = read_global(&source, &file, &anchor, &limits, issues)?;
        Ok(Self { folder: Arc::clone(folder), base, anchor, definitions, limits })
    }

    /// What the trace says about itself.
    #[must_use]
    pub const fn anchor(&self) -> &Anchor {
        &self.anchor
    }

    /// What all locations share.
    #[must_use]
    pub const fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// The path of a location's event file in the folder.
    #[must_use]
    pub fn event_path(&self, location: LocationId) -> String {
        format!("{}/{}.evt", self.base, location.0)
    }

    /// How `location` numbers things and how its clock runs; what cannot be read is reported and
    /// left out.
    ///
    /// # Errors
    /// When the storage fails, or the definitions need more memory than allowed.
    pub fn local_definitions(
        &self,
        location: LocationId,
        issues: &mut Issues,
    ) -> Result<LocalDefinitions, FormatError> {
        let file = format!("{}/{}.def", self.base, location.0);
        let mut local = LocalDefinitions::default();
        let Some(source) = open(&*self.folder, &file)? else { return Ok(local) };
        let chunk_size = self.anchor.definition_chunk_size;
        let mut chunks = match Chunks::new(&*source, &file, chunk_size) {
            Err(FormatError::Malformed { file, offset, what }) => {
                let place = Place::Byte { file, offset };
                issues.report(Severity::Error, Stage::Read, "local-definitions", place, || {
                    format!("{what}; the location's ids and times are taken as they are")
                });
                return Ok(local);
            }
            chunks => chunks?,
        };
        let none = Mappings::default();
        let mut spent = Budget::new(&file, &self.limits);
        while let Some(record) = chunks.next_record(issues)? {
            spent.add(record.payload.len())?;
            let payload = chunks.bytes(record.payload.clone());
            let mut fields = Fields::new(payload, chunks.order(), &none);
            if local.add(record.kind, &mut fields).is_none() {
                bad_definition(issues, &file, record.offset, record.kind);
            }
        }
        let unused = local.finish();
        if unused > 0 {
            let place = Place::File { file };
            issues.report(Severity::Warning, Stage::Read, "clock-offset", place, || {
                format!(
                    "{unused} clock offsets are not later than the one before; the others count"
                )
            });
        }
        Ok(local)
    }

    /// The events of `location`; `None` when it has no file, as locations without events do.
    ///
    /// # Errors
    /// As [`Self::local_definitions`].
    pub fn events(
        &self,
        location: LocationId,
        issues: &mut Issues,
    ) -> Result<Option<EventFile>, FormatError> {
        let file = self.event_path(location);
        let declared = self.definitions.locations.get(location).map_or(0, |l| l.event_count);
        let Some(source) = open(&*self.folder, &file)? else {
            if declared > 0 {
                issues.report(
                    Severity::Error,
                    Stage::Read,
                    "no-event-file",
                    Place::File { file },
                    || format!("the file with {declared} events of this location is missing"),
                );
            }
            return Ok(None);
        };
        let local = self.local_definitions(location, issues)?;
        let chunk_size = self.anchor.event_chunk_size;
        Ok(Some(EventFile { source, file, chunk_size, location, local, declared }))
    }
}

/// The events of one location. Files are independent of each other: read as many at once as there
/// are cores.
pub struct EventFile {
    source: Source,
    file: String,
    chunk_size: u64,
    location: LocationId,
    local: LocalDefinitions,
    declared: u64,
}

impl EventFile {
    /// Length of the file.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.source.len()
    }

    /// Whose events these are.
    #[must_use]
    pub const fn location(&self) -> LocationId {
        self.location
    }

    /// How the location numbers things and how its clock runs.
    #[must_use]
    pub const fn local(&self) -> &LocalDefinitions {
        &self.local
    }

    /// How many events the definitions promise.
    #[must_use]
    pub const fn declared(&self) -> u64 {
        self.declared
    }

    /// Starts at the first event.
    ///
    /// # Errors
    /// When the storage fails, or the file does not start as a file of events does.
    pub fn reader(&self) -> Result<EventReader<'_>, FormatError> {
        EventReader::new(&*self.source, &self.file, self.chunk_size, &self.local, self.declared)
    }

    /// Reads all events and counts them.
    ///
    /// # Errors
    /// As [`Self::reader`].
    pub fn count(&self, issues: &mut Issues) -> Result<EventCounts, FormatError> {
        let mut reader = self.reader()?;
        let mut counts = EventCounts::default();
        while let Some(record) = reader.next(issues)? {
            counts.add(&record);
        }
        Ok(counts)
    }
}

fn open(folder: &dyn Folder, file: &str) -> Result<Option<Source>, FormatError> {
    folder.open(file).map_err(|error| FormatError::read(file, error))
}

fn read_global(
    source: &Source,
    file: &str,
    anchor: &Anchor,
    limits: &Limits,
    issues: &mut Issues,
) -> Result<Definitions, FormatError> {
    let mut definitions = Definitions::default();
    let mut chunks = Chunks::new(&**source, file, anchor.definition_chunk_size)?;
    let none = Mappings::default();
    let mut spent = Budget::new(file, limits);
    let mut count = 0_u64;
    while let Some(record) = chunks.next_record(issues)? {
        spent.add(record.payload.len())?;
        count += 1;
        let payload = chunks.bytes(record.payload.clone());
        let mut fields = Fields::new(payload, chunks.order(), &none);
        if definitions.add(record.kind, &mut fields).is_none() {
            bad_definition(issues, file, record.offset, record.kind);
        }
    }
    let mut report = |severity, kind, message: &dyn Fn() -> String| {
        let place = Place::File { file: file.into() };
        issues.report(severity, Stage::Read, kind, place, message);
    };
    let repeated = definitions.sort();
    if repeated > 0 {
        report(Severity::Warning, "repeated-id", &|| {
            format!(
                "{repeated} definitions have an id that was defined before; the first ones count"
            )
        });
    }
    if count != anchor.definition_count {
        report(Severity::Warning, "definition-count", &|| {
            let promised = anchor.definition_count;
            format!("the anchor promises {promised} definitions, {count} could be read")
        });
    }
    for (kind, count) in &definitions.unknown {
        report(Severity::Note, "unknown-definition", &|| {
            format!("{count} definitions are of the unknown kind {kind}; they were skipped")
        });
    }
    if definitions.clock.is_none() {
        report(Severity::Error, "no-clock", &|| {
            "the definitions do not say how long a tick is; one nanosecond is assumed".into()
        });
    }
    Ok(definitions)
}

#[cold]
fn bad_definition(issues: &mut Issues, file: &str, offset: u64, kind: u8) {
    let place = Place::Byte { file: file.into(), offset };
    issues.report(Severity::Error, Stage::Read, "definition-fields", place, || {
        format!("the fields of a definition of kind {kind} do not fit it; it is omitted")
    });
}

/// Memory for definitions, about.
struct Budget<'a> {
    file: &'a str,
    limits: &'a Limits,
    spent: u64,
}

impl<'a> Budget<'a> {
    /// In memory a definition takes a row of this many bytes, and a compressed number 8.
    const ROW: u64 = 96;
    const NUMBER: u64 = 8;

    const fn new(file: &'a str, limits: &'a Limits) -> Self {
        Self { file, limits, spent: 0 }
    }

    fn add(&mut self, payload: usize) -> Result<(), FormatError> {
        self.spent += Self::ROW + Self::NUMBER * payload as u64;
        let cause = self.limits.metadata("OTF2 definitions", self.spent);
        cause.map_err(|cause| FormatError::Limit { file: self.file.into(), cause })
    }
}
