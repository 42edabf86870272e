//! [`EventReader`]: the events of one location, one after the other.

use parallax_base::{ByteSource, Issues, Place, Severity, Stage};

use super::chunks::Chunks;
use super::event::{Event, is_bare};
use super::fields::{Field as _, Fields};
use super::ids::{MetricId, RegionId, StringId};
use super::local::LocalDefinitions;
use super::value::{Attribute, MetricValue};
use crate::FormatError;

/// Control byte: 8 bytes of time follow, which all events up to the next one have.
const TIMESTAMP: u8 = 5;
/// Control byte: the attributes of the next event follow.
const ATTRIBUTE_LIST: u8 = 6;
const ENTER: u8 = 12;
const LEAVE: u8 = 13;
const METRIC: u8 = 31;
const PROGRAM_BEGIN: u8 = 83;

/// One event with its time and what belongs to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Record<'r> {
    /// Where the event lies in the location's file, in bytes.
    pub offset: u64,
    /// When, in ticks of the trace: corrected by the location's clock offsets.
    pub ticks: u64,
    /// What.
    pub event: Event,
    /// The values of a metric event, one for each member of its class; empty for other events.
    pub values: &'r [MetricValue],
    /// The arguments of a program's begin; empty for other events.
    pub arguments: &'r [StringId],
    /// The event's attributes.
    pub attributes: &'r [Attribute],
}

/// Reads the events of one location from front to back, with one chunk in memory at most.
pub struct EventReader<'s> {
    chunks: Chunks<'s>,
    local: &'s LocalDefinitions,
    file: &'s str,
    /// How many events the location's definition promises.
    declared: u64,
    seen: u64,
    ticks: u64,
    values: Vec<MetricValue>,
    arguments: Vec<StringId>,
    attributes: Vec<Attribute>,
    is_finished: bool,
}

impl<'s> EventReader<'s> {
    pub(super) fn new(
        source: &'s dyn ByteSource,
        file: &'s str,
        chunk_size: u64,
        local: &'s LocalDefinitions,
        declared: u64,
    ) -> Result<Self, FormatError> {
        Ok(Self {
            chunks: Chunks::new(source, file, chunk_size)?,
            local,
            file,
            declared,
            seen: 0,
            ticks: 0,
            values: Vec::new(),
            arguments: Vec::new(),
            attributes: Vec::new(),
            is_finished: false,
        })
    }

    /// How many events were read so far.
    #[must_use]
    pub const fn seen(&self) -> u64 {
        self.seen
    }

    /// The next event; `None` at the end.
    ///
    /// Damage is reported to `issues` and costs the rest of its chunk; an event whose fields cannot
    /// be read is [`Event::Unknown`].
    ///
    /// # Errors
    /// When the storage fails.
    pub fn next(&mut self, issues: &mut Issues) -> Result<Option<Record<'_>>, FormatError> {
        self.values.clear();
        self.arguments.clear();
        self.attributes.clear();
        let (offset, event) = loop {
            let rest = self.chunks.rest();
            let Some((&kind, after)) = rest.split_first() else {
                if self.chunks.is_done() {
                    self.finish(issues);
                    return Ok(None);
                }
                self.chunks.control(None, issues)?;
                continue;
            };
            match kind {
                TIMESTAMP => {
                    let mut fields = self.fields(after);
                    match fields.time() {
                        Some(ticks) => {
                            self.ticks = ticks;
                            self.chunks.advance(9);
                        }
                        None => self.chunks.record_outside(issues)?,
                    }
                }
                // Nearly all events of nearly all traces are one of these two.
                ENTER | LEAVE => {
                    let mut fields = self.fields(after);
                    let Some(region) = RegionId::read(&mut fields) else {
                        self.chunks.record_outside(issues)?;
                        continue;
                    };
                    let len = rest.len() - fields.rest().len();
                    let offset = self.chunks.offset();
                    self.chunks.advance(len);
                    let event = if kind == ENTER {
                        Event::Enter { region }
                    } else {
                        Event::Leave { region }
                    };
                    break (offset, event);
                }
                ATTRIBUTE_LIST => self.attribute_list(issues)?,
                0..=9 => self.chunks.control(Some(kind), issues)?,
                _ if is_bare(kind) => {
                    let mut fields = self.fields(after);
                    let Some(event) = Event::read(kind, &mut fields) else {
                        self.chunks.record_outside(issues)?;
                        continue;
                    };
                    let len = rest.len() - fields.rest().len();
                    let offset = self.chunks.offset();
                    self.chunks.advance(len);
                    break (offset, event);
                }
                _ => {
                    if let Some(found) = self.long(issues)? {
                        break found;
                    }
                }
            }
        };
        self.seen += 1;
        Ok(Some(Record {
            offset,
            ticks: self.ticks,
            event,
            values: &self.values,
            arguments: &self.arguments,
            attributes: &self.attributes,
        }))
    }

    fn fields<'a>(&self, bytes: &'a [u8]) -> Fields<'a>
    where
        's: 'a,
    {
        Fields::new(bytes, self.chunks.order(), &self.local.mappings)
    }

    /// An event with a length; `None` when it reaches past its chunk.
    fn long(&mut self, issues: &mut Issues) -> Result<Option<(u64, Event)>, FormatError> {
        let Some(record) = self.chunks.peek() else {
            self.chunks.record_outside(issues)?;
            return Ok(None);
        };
        let payload = self.chunks.bytes(record.payload.clone());
        let mut fields = Fields::new(payload, self.chunks.order(), &self.local.mappings);
        let event = match record.kind {
            METRIC => read_metric(&mut fields, &mut self.values),
            PROGRAM_BEGIN => read_program(&mut fields, &mut self.arguments),
            kind => Event::read(kind, &mut fields),
        };
        if event.is_none() {
            let len = payload.len();
            self.chunks.report(issues, Severity::Error, "event-fields", || {
                format!(
                    "the fields of an event of kind {} do not fit its {len} bytes; \
                     its time is kept, its fields are not",
                    record.kind
                )
            });
            self.values.clear();
            self.arguments.clear();
        }
        self.chunks.skip(&record);
        Ok(Some((record.offset, event.unwrap_or(Event::Unknown { kind: record.kind }))))
    }

    /// Keeps the attributes for the next event.
    fn attribute_list(&mut self, issues: &mut Issues) -> Result<(), FormatError> {
        let Some(record) = self.chunks.peek() else {
            return self.chunks.record_outside(issues);
        };
        let payload = self.chunks.bytes(record.payload.clone());
        let mut fields = Fields::new(payload, self.chunks.order(), &self.local.mappings);
        if read_attributes(&mut fields, &mut self.attributes).is_none() {
            let kept = self.attributes.len();
            self.chunks.report(issues, Severity::Error, "attribute-list", || {
                format!("a list of attributes does not fit its record; the first {kept} are kept")
            });
        }
        self.chunks.skip(&record);
        Ok(())
    }

    /// Compares what was read with what was promised, once.
    fn finish(&mut self, issues: &mut Issues) {
        if std::mem::replace(&mut self.is_finished, true) {
            return;
        }
        let place = Place::File { file: self.file.into() };
        let (seen, declared) = (self.seen, self.declared);
        let promised = declared.max(self.chunks.last_event());
        if seen < promised {
            issues.report(Severity::Error, Stage::Read, "event-count", place, || {
                format!(
                    "the trace promises {promised} events of this location, {seen} could be read"
                )
            });
        } else if seen > declared {
            // TAU counts its events before it writes the last ones.
            issues.report(Severity::Note, Stage::Read, "declared-count", place, || {
                format!("the definitions declare {declared} events of this location, it has {seen}")
            });
        }
    }
}

fn read_metric(f: &mut Fields<'_>, values: &mut Vec<MetricValue>) -> Option<Event> {
    let metric: MetricId = f.get()?;
    for _ in 0..f.u8()? {
        let kind = f.u8()?;
        values.push(MetricValue::of(kind, f.c64()?));
    }
    Some(Event::Metric { metric })
}

fn read_program(f: &mut Fields<'_>, arguments: &mut Vec<StringId>) -> Option<Event> {
    let name = f.get()?;
    let count = f.c32()?;
    *arguments = f.list(u64::from(count))?;
    Some(Event::ProgramBegin { name })
}

fn read_attributes(f: &mut Fields<'_>, attributes: &mut Vec<Attribute>) -> Option<()> {
    for _ in 0..f.c32()? {
        attributes.push(Attribute { attribute: f.get()?, value: f.get()? });
    }
    Some(())
}

/// How many events of each sort there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EventCounts {
    /// Regions that begin.
    pub enters: u64,
    /// Regions that end.
    pub leaves: u64,
    /// Messages sent: `MpiSend` and `MpiIsend`.
    pub sends: u64,
    /// Messages received: `MpiRecv` and `MpiIrecv`.
    pub receives: u64,
    /// Metric events.
    pub metrics: u64,
    /// All others.
    pub others: u64,
    /// Values in attribute lists; not events themselves.
    pub attributes: u64,
}

impl EventCounts {
    /// Counts one event.
    pub const fn add(&mut self, record: &Record<'_>) {
        let count = match record.event {
            Event::Enter { .. } => &mut self.enters,
            Event::Leave { .. } => &mut self.leaves,
            Event::MpiSend { .. } | Event::MpiIsend { .. } => &mut self.sends,
            Event::MpiRecv { .. } | Event::MpiIrecv { .. } => &mut self.receives,
            Event::Metric { .. } => &mut self.metrics,
            _ => &mut self.others,
        };
        *count += 1;
        self.attributes += record.attributes.len() as u64;
    }

    /// All events.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.enters + self.leaves + self.sends + self.receives + self.metrics + self.others
    }
}

impl std::ops::AddAssign for EventCounts {
    fn add_assign(&mut self, other: Self) {
        self.enters += other.enters;
        self.leaves += other.leaves;
        self.sends += other.sends;
        self.receives += other.receives;
        self.metrics += other.metrics;
        self.others += other.others;
        self.attributes += other.attributes;
    }
}
