//! `.trc`: records of fixed size, of one thread or, merged, of all.

use std::sync::Arc;

use parallax_base::casts::{low_u8, low_u16, low_u32};
use parallax_base::{Issues, Place, Severity, Source, Stage, read_range};

use super::ThreadId;
use super::edf::{DefinitionKind, Definitions};
use crate::FormatError;

/// How the records of a file lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceLayout {
    /// 32 bytes with an event number of 64 bits, else 24 bytes.
    pub is_wide: bool,
    /// The highest byte first.
    pub is_big_endian: bool,
}

impl TraceLayout {
    const ALL: [Self; 4] = [
        Self { is_wide: false, is_big_endian: false },
        Self { is_wide: false, is_big_endian: true },
        Self { is_wide: true, is_big_endian: false },
        Self { is_wide: true, is_big_endian: true },
    ];

    /// Bytes of a record.
    #[must_use]
    pub const fn record_size(self) -> usize {
        if self.is_wide { 32 } else { 24 }
    }

    /// The layout that makes the first record what a tracer writes first: parameter 3. The event
    /// number does not tell: merging files renumbers the events.
    fn of(head: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|layout| {
            layout.record(head).is_some_and(|record| {
                record.parameter == FIRST_PARAMETER && record.event > 0 && record.event < 1 << 32
            })
        })
    }

    fn record(self, bytes: &[u8]) -> Option<Record> {
        let (event, node, thread, parameter, time) = if self.is_wide {
            let event = i64::from_le_bytes(self.field(bytes, 0)?);
            (event, self.field(bytes, 8)?, self.field(bytes, 10)?, 16, 24)
        } else {
            let event = i32::from_le_bytes(self.field(bytes, 0)?);
            (i64::from(event), self.field(bytes, 4)?, self.field(bytes, 6)?, 8, 16)
        };
        Some(Record {
            event,
            node: u16::from_le_bytes(node),
            thread: u16::from_le_bytes(thread),
            parameter: i64::from_le_bytes(self.field(bytes, parameter)?),
            time_micros: u64::from_le_bytes(self.field(bytes, time)?),
        })
    }

    /// A field with its lowest byte first.
    fn field<const N: usize>(self, bytes: &[u8], at: usize) -> Option<[u8; N]> {
        let mut field = *bytes.get(at..)?.first_chunk::<N>()?;
        if self.is_big_endian {
            field.reverse();
        }
        Some(field)
    }
}

/// The parameter of the record that begins every file.
const FIRST_PARAMETER: i64 = 3;

/// A record as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Event number; see [`Definitions::get`].
    pub event: i64,
    /// Rank of the process.
    pub node: u16,
    /// Thread of the process.
    pub thread: u16,
    /// What it means depends on the event.
    pub parameter: i64,
    /// Microseconds, usually since 1970.
    pub time_micros: u64,
}

/// The parameter of a message, taken apart. Each part has few bits: ranks above 65,535 and
/// messages of 64 MiB and more do not fit into the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Rank of the other process.
    pub other_node: u16,
    /// Tag, modulo 2^16.
    pub tag: u16,
    /// Bytes, modulo 2^26.
    pub len_bytes: u32,
    /// Number of the communicator, modulo 2^6.
    pub communicator: u8,
}

impl Message {
    /// Takes a parameter apart: from the lowest bit 16 of the length, 8 of the tag, 8 of the rank,
    /// 10 of the length, 6 of the communicator, 8 of the tag, 8 of the rank.
    #[must_use]
    pub const fn from_parameter(parameter: i64) -> Self {
        let p = parameter.cast_unsigned();
        let (low, high) = (low_u32(p), low_u32(p >> 32));
        Self {
            len_bytes: (low & 0xffff) | ((high & 0x3ff) << 16),
            tag: low_u16((low >> 16) & 0xff) | (low_u16((high >> 16) & 0xff) << 8),
            other_node: low_u16(low >> 24) | (low_u16(high >> 24) << 8),
            communicator: low_u8((high >> 10) & 0x3f),
        }
    }
}

/// What happened, by the definition of the event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TraceEvent {
    /// A timer was started.
    Enter {
        /// Event number of the timer.
        event: i64,
    },
    /// A timer was stopped.
    Leave {
        /// Event number of the timer.
        event: i64,
    },
    /// A message was sent.
    Send(Message),
    /// A message was received.
    Receive(Message),
    /// A user event, a counter or a fact.
    Value {
        /// Event number.
        event: i64,
        /// The value. Around each user event TAU writes a 0 before and behind, so that a drawn
        /// curve falls back.
        value: i64,
    },
    /// The clock on the wall, in whole seconds since 1970.
    WallClock {
        /// Seconds.
        seconds: u32,
    },
    /// A record of the tracer for itself.
    Tracer {
        /// Event number.
        event: i64,
    },
    /// An event number without a definition, or one with a parameter that it cannot have.
    Unknown {
        /// Event number.
        event: i64,
    },
}

impl Record {
    /// Whose record it is.
    #[must_use]
    pub fn thread_id(&self) -> ThreadId {
        ThreadId { node: u32::from(self.node), context: 0, thread: u32::from(self.thread) }
    }

    /// What the record says.
    #[must_use]
    pub fn event(&self, definitions: &Definitions) -> TraceEvent {
        let event = self.event;
        match (definitions.get(event).map(|definition| definition.kind), self.parameter) {
            (Some(DefinitionKind::EntryExit), 1) => TraceEvent::Enter { event },
            (Some(DefinitionKind::EntryExit), -1) => TraceEvent::Leave { event },
            (Some(DefinitionKind::Trigger), value) => TraceEvent::Value { event, value },
            (Some(DefinitionKind::Send), p) => TraceEvent::Send(Message::from_parameter(p)),
            (Some(DefinitionKind::Receive), p) => TraceEvent::Receive(Message::from_parameter(p)),
            (Some(DefinitionKind::WallClock), p) => {
                TraceEvent::WallClock { seconds: u32::try_from(p).unwrap_or(u32::MAX) }
            }
            (Some(DefinitionKind::Init | DefinitionKind::Other), _) => TraceEvent::Tracer { event },
            (Some(DefinitionKind::EntryExit) | None, _) => TraceEvent::Unknown { event },
        }
    }
}

/// An open trace; records are read on demand.
#[derive(Clone)]
pub struct Trace {
    source: Source,
    file: Arc<str>,
    layout: TraceLayout,
    num_records: u64,
}

/// Records that are read at once.
const BLOCK_RECORDS: u64 = 4096;

impl Trace {
    /// Looks at the first record.
    ///
    /// # Errors
    /// When the first record is not that of a trace, or cannot be read.
    pub fn open(source: Source, file: &str, issues: &mut Issues) -> Result<Self, FormatError> {
        let head = read_range(&*source, 0, source.len().min(32));
        let head = head.map_err(|cause| FormatError::read(file, cause))?;
        let Some(layout) = TraceLayout::of(&head) else {
            return Err(FormatError::NotThisFormat {
                file: file.to_owned(),
                expected: "a trace of TAU",
                found: String::from_utf8_lossy(head.get(..8).unwrap_or(&head)).into_owned(),
            });
        };
        drop(head);
        let size = layout.record_size() as u64;
        let (num_records, left) = (source.len() / size, source.len() % size);
        if left > 0 {
            let place = Place::Byte { file: file.to_owned(), offset: num_records * size };
            issues.report(Severity::Error, Stage::Read, "record-cut", place, || {
                format!("the last {left} bytes are no whole record; the file is cut")
            });
        }
        Ok(Self { source, file: file.into(), layout, num_records })
    }

    /// How records lie.
    #[must_use]
    pub fn layout(&self) -> TraceLayout {
        self.layout
    }

    /// Number of whole records.
    #[must_use]
    pub fn num_records(&self) -> u64 {
        self.num_records
    }

    /// Calls `visit` with the records of a range, in the order of the file, until it says false.
    /// Needs memory for 4,096 records, whatever the file.
    ///
    /// # Errors
    /// When the source fails.
    pub fn visit(
        &self,
        records: std::ops::Range<u64>,
        mut visit: impl FnMut(u64, Record) -> bool,
    ) -> Result<(), FormatError> {
        let size = self.layout.record_size();
        let end = records.end.min(self.num_records);
        let mut next = records.start;
        while next < end {
            let count = (end - next).min(BLOCK_RECORDS);
            let (start, len) = (next * size as u64, count * size as u64);
            let bytes = read_range(&*self.source, start, len)
                .map_err(|cause| FormatError::read(&self.file, cause))?;
            for (number, bytes) in (next..).zip(bytes.chunks_exact(size)) {
                let Some(record) = self.layout.record(bytes) else { continue };
                if !visit(number, record) {
                    return Ok(());
                }
            }
            next += count;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_messages_are_taken_apart() {
        // The parts as the tracer puts them together, from the reference.
        let pack = |m: Message| {
            let (tag, other) = (u64::from(m.tag), u64::from(m.other_node));
            let (len, comm) = (u64::from(m.len_bytes), u64::from(m.communicator));
            let low = (len & 0xffff) | (tag & 0xff) << 16 | (other & 0xff) << 24;
            let high = (len >> 16) | comm << 10 | (tag >> 8) << 16 | (other >> 8) << 24;
            (low | high << 32).cast_signed()
        };
        for message in [
            Message { other_node: 1, tag: 0, len_bytes: 512, communicator: 0 },
            Message { other_node: 0xffff, tag: 0xffff, len_bytes: (1 << 26) - 1, communicator: 63 },
            Message { other_node: 0x0102, tag: 0x0304, len_bytes: 0x0123_4567, communicator: 5 },
        ] {
            assert_eq!(Message::from_parameter(pack(message)), message);
        }
    }
}
