//! CODAR event JSON, as `tau_trace2json` writes it and the CODAR tools keep it.

use parallax_base::{ByteSource, Issues, Severity};

use super::TraceOptions;
use super::chrome::Reading;
use super::document::{Document, Element, Layout, Metadata};
use super::names::{NameId, NameTable};
use super::number;
use super::object::ObjectReader;
use super::scan::Kind;
use crate::FormatError;
use crate::json::Value;
use crate::stream::ByteStream;

/// What an event says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CodarKind {
    /// `entry`: a function begins.
    Entry,
    /// `exit`: a function ends.
    Exit,
    /// `counter`: a counter has a value.
    Counter,
    /// `send`
    Send,
    /// `receive`
    Receive,
    /// `trace end`, the last event; it has nothing else.
    TraceEnd,
    /// Any other type.
    Other(NameId),
}

/// Who sent what to whom. `None` where the event lacks the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CodarMessage {
    /// `source-node-id`
    pub source_node: Option<i32>,
    /// `source-thread-id`
    pub source_thread: Option<i32>,
    /// `destination-node-id`
    pub destination_node: Option<i32>,
    /// `destination-thread-id`
    pub destination_thread: Option<i32>,
    /// `message-size`, in bytes.
    pub bytes: Option<i64>,
    /// `message-tag`
    pub tag: Option<i32>,
}

/// One event, borrowed from the reader until the next is requested.
///
/// A field is `None` where the event lacks it, and where it is of the wrong type (which is
/// reported).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CodarEvent<'a> {
    /// Offset of the event's first byte in the (decompressed) file.
    pub offset: u64,
    /// `event-type`
    pub kind: CodarKind,
    /// `name`, of a function or counter.
    pub name: Option<NameId>,
    /// `time` or `timestamp` in nanoseconds.
    pub time_nanos: Option<i64>,
    /// `node-id`: the rank. Messages have it in [`CodarEvent::message`] instead.
    pub node: Option<i32>,
    /// `thread-id`
    pub thread: Option<i32>,
    /// `group-id`, which the CODAR tools add.
    pub group: Option<i32>,
    /// `value` of a counter.
    pub value: Option<f64>,
    /// The fields of a message; all `None` for other events.
    pub message: CodarMessage,
    /// The whole event as it stands in the file.
    pub text: &'a [u8],
}

/// A function in the document of `tau_trace2json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodarState {
    /// Its name, as events have it.
    pub name: String,
    /// Its number in TAU's trace.
    pub event: Option<i64>,
    /// The number of its group.
    pub group: Option<i64>,
    /// The name of its group, where `groups` has it.
    pub group_name: Option<String>,
}

const TYPE: usize = 0;
const NAME: usize = 1;
const TIME: usize = 2;
const TIMESTAMP: usize = 3;
const NODE: usize = 4;
const THREAD: usize = 5;
const VALUE: usize = 6;
const GROUP: usize = 7;
const SOURCE_NODE: usize = 8;
const SOURCE_THREAD: usize = 9;
const DESTINATION_NODE: usize = 10;
const DESTINATION_THREAD: usize = 11;
const SIZE: usize = 12;
const TAG: usize = 13;
const NAMES: [&str; 14] = [
    "event-type",
    "name",
    "time",
    "timestamp",
    "node-id",
    "thread-id",
    "value",
    "group-id",
    "source-node-id",
    "source-thread-id",
    "destination-node-id",
    "destination-thread-id",
    "message-size",
    "message-tag",
];

fn number_of(name: &[u8]) -> Option<usize> {
    NAMES.iter().position(|known| known.as_bytes() == name)
}

/// How long one unit of `time` is.
#[derive(Debug, Clone, Copy)]
enum Clock {
    /// 10 to this power nanoseconds.
    Power(i32),
    /// So many femtoseconds.
    Odd(i64),
}

/// Reads CODAR event JSON.
pub struct CodarReader<'s> {
    document: Document<'s>,
    objects: ObjectReader<{ NAMES.len() }>,
    names: NameTable,
    clock: Clock,
    /// How much of the metadata was examined for the clock.
    seen: usize,
    events: u64,
    empty: u64,
}

impl<'s> CodarReader<'s> {
    /// Reads from `stream`, which is not compressed.
    #[must_use]
    pub fn new(stream: impl ByteStream + 's, options: &TraceOptions<'_>) -> Self {
        let layout =
            Layout { format: "CODAR event JSON", list: "trace events", inside: None, open: b'{' };
        Self {
            document: Document::new(stream, layout, options),
            objects: options.objects(number_of),
            names: NameTable::new(options.limits.name_bytes),
            clock: Clock::Power(3),
            seen: 0,
            events: 0,
            empty: 0,
        }
    }

    /// Reads a file, compressed or not.
    ///
    /// # Errors
    /// When its first bytes cannot be read.
    pub fn open(
        source: &'s dyn ByteSource,
        options: &TraceOptions<'_>,
    ) -> Result<Self, FormatError> {
        Ok(Self::new(options.stream(source)?, options))
    }

    /// The names met so far: functions, counters, unknown event types.
    #[must_use]
    pub fn names(&self) -> &NameTable {
        &self.names
    }

    /// What the file has besides the events, as far as it was passed: `metadata`, `counters`,
    /// `groups`, `states`, `threads`. `tau_trace2json` writes all of it before the events.
    #[must_use]
    pub fn metadata(&self) -> &[Metadata] {
        self.document.metadata()
    }

    /// The functions of `states` with their groups; empty in a bare list of events.
    #[must_use]
    pub fn states(&self) -> Vec<CodarState> {
        let part = |name: &str| {
            let found = self.metadata().iter().find(|part| part.name == name);
            found.and_then(Metadata::value).unwrap_or(Value::Null)
        };
        let groups = part("groups");
        let groups: std::collections::BTreeMap<i64, &str> = groups
            .items()
            .iter()
            .filter_map(|group| Some((whole(group.get("id")?)?, group.get("name")?.as_str()?)))
            .collect();
        let states = part("states");
        let states = states.items().iter().filter_map(|state| {
            let group = state.get("group-id").and_then(whole);
            Some(CodarState {
                name: state.get("name")?.as_str()?.to_owned(),
                event: state.get("event-id").and_then(whole),
                group,
                group_name: group.and_then(|id| groups.get(&id)).map(|&name| name.to_owned()),
            })
        });
        states.collect()
    }

    /// Bytes of the (decompressed) file that were read.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.document.offset()
    }

    /// Events given so far.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Empty objects passed so far: the CODAR tools end their list with one.
    #[must_use]
    pub fn empty_events(&self) -> u64 {
        self.empty
    }

    /// The next event; `None` behind the last.
    ///
    /// # Errors
    /// When the file is of another format or nothing of it can be read. Whatever is damaged later
    /// is reported to `issues`.
    #[inline]
    pub fn next_event(
        &mut self,
        issues: &mut Issues,
    ) -> Result<Option<CodarEvent<'_>>, FormatError> {
        let element = loop {
            let objects = &mut self.objects;
            let Some(element) = self.document.next(issues, |bytes| objects.read(bytes))? else {
                return Ok(None);
            };
            let kind = self.objects.fields.get(TYPE);
            if kind.is_some_and(|kind| matches!(kind.kind, Kind::Text | Kind::Escaped)) {
                break element;
            }
            self.without_type(issues, element);
        };
        if self.seen < self.document.metadata().len() {
            self.find_clock(issues);
        }
        self.events += 1;
        Ok(Some(self.event(issues, element)))
    }

    #[cold]
    fn without_type(&mut self, issues: &mut Issues, element: Element) {
        if self.objects.fields.is_empty {
            self.empty += 1;
            return;
        }
        self.document.report(issues, Severity::Error, "event-without-type", element.offset, || {
            "an object without event-type in the list of events is passed over".into()
        });
    }

    /// The clock's period in seconds stands in `metadata`; times are microseconds without it.
    #[cold]
    fn find_clock(&mut self, issues: &mut Issues) {
        let news = self.document.metadata().get(self.seen..).unwrap_or_default();
        self.seen = self.document.metadata().len();
        let Some(part) = news.iter().find(|part| part.name == "metadata") else { return };
        let Some(period) = super::args::Args::new(&part.text).get("clock-period") else { return };
        let text = match period {
            super::args::ArgValue::Text(text) | super::args::ArgValue::Number(text) => text,
            _ => b"",
        };
        let power = (-9..=9).find(|&power| {
            number::scaled(text, 9 - power).is_some_and(|one| one.exact && one.units == 1)
        });
        let odd = number::scaled(text, 15).filter(|period| period.units > 0);
        self.clock = match (power, odd) {
            (Some(power), _) => Clock::Power(power),
            (None, Some(period)) => Clock::Odd(period.units),
            (None, None) => {
                self.document.report(issues, Severity::Warning, "bad-clock", part.offset, || {
                    "the clock-period is no duration; times are taken for microseconds".into()
                });
                return;
            }
        };
    }

    #[inline]
    fn event(&mut self, issues: &mut Issues, element: Element) -> CodarEvent<'_> {
        let fields = &self.objects.fields;
        let mut reading = Reading {
            text: self.document.bytes(element),
            names: &mut self.names,
            bad: 0,
            rounded: false,
            repaired: false,
            overflow: false,
        };
        let r = &mut reading;
        let (time, time_field) = match fields.get(TIME) {
            None => (TIMESTAMP, fields.get(TIMESTAMP)),
            field => (TIME, field),
        };
        let kind = fields.get(TYPE).map_or(CodarKind::TraceEnd, |field| match r.content(field) {
            b"entry" => CodarKind::Entry,
            b"exit" => CodarKind::Exit,
            b"counter" => CodarKind::Counter,
            b"send" => CodarKind::Send,
            b"receive" => CodarKind::Receive,
            b"trace end" => CodarKind::TraceEnd,
            _ => CodarKind::Other(r.intern(field)),
        });
        let message = match kind {
            CodarKind::Entry | CodarKind::Exit | CodarKind::Counter => CodarMessage::default(),
            _ => CodarMessage {
                source_node: r.small(SOURCE_NODE, fields.get(SOURCE_NODE)),
                source_thread: r.small(SOURCE_THREAD, fields.get(SOURCE_THREAD)),
                destination_node: r.small(DESTINATION_NODE, fields.get(DESTINATION_NODE)),
                destination_thread: r.small(DESTINATION_THREAD, fields.get(DESTINATION_THREAD)),
                bytes: r.integer(SIZE, fields.get(SIZE)),
                tag: r.small(TAG, fields.get(TAG)),
            },
        };
        let value = fields.get(VALUE).and_then(|field| match number::float(r.content(field)) {
            Some(value) if matches!(field.kind, Kind::Text | Kind::Number) => Some(value),
            _ => r.wrong(VALUE, field),
        });
        let time_nanos = match self.clock {
            Clock::Power(power) => r.scaled(time, time_field, power),
            Clock::Odd(period) => r.scaled(time, time_field, 3).and_then(|thousandths| {
                let product = i128::from(thousandths) * i128::from(period);
                i64::try_from(product.div_euclid(1_000_000_000)).ok()
            }),
        };
        let event = CodarEvent {
            offset: element.offset,
            kind,
            name: r.name(NAME, fields.get(NAME)),
            time_nanos,
            node: r.small(NODE, fields.get(NODE)),
            thread: r.small(THREAD, fields.get(THREAD)),
            group: r.small(GROUP, fields.get(GROUP)),
            value,
            message,
            text: r.text,
        };
        let unusual = r.bad != 0 || r.rounded || r.repaired || r.overflow;
        if unusual || matches!(kind, CodarKind::Other(_)) {
            reading.report(&self.document, issues, &NAMES, element.offset);
            if matches!(kind, CodarKind::Other(_)) {
                let offset = element.offset;
                let kind = "unknown-event-type";
                self.document.report(issues, Severity::Warning, kind, offset, || {
                    "an event-type has no meaning here".into()
                });
            }
        }
        event
    }
}

/// A number, also where a string holds it: `tau_trace2json` quotes all of them.
fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Number(crate::json::Number::Integer(number)) => Some(*number),
        Value::String(text) => number::integer(text.as_bytes()),
        _ => None,
    }
}
