//! Calls that Chimbuko kept: a window of time with each call as an object.

use std::borrow::Cow;

use parallax_base::{ByteSource, Issues};

use super::TraceOptions;
use super::args::Args;
use super::chrome::Reading;
use super::document::{Document, Element, Layout, Metadata};
use super::names::{NameId, NameTable, unescape};
use super::object::{Field, ObjectReader};
use super::scan::{self, Kind, Stop, space};
use crate::FormatError;
use crate::stream::ByteStream;

/// A call, borrowed from the reader until the next is requested.
///
/// A field is `None` where the call lacks it, and where it is of the wrong type (which is reported).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution<'a> {
    /// Offset of the first byte of its name in the (decompressed) file.
    pub offset: u64,
    /// Its name in the object of all calls; `findex` is the same.
    pub id: Cow<'a, str>,
    /// `name` of the function.
    pub name: Option<NameId>,
    /// `prog names`, where that is a number.
    pub program: Option<i64>,
    /// `comm ranks`
    pub rank: Option<i64>,
    /// `threads`
    pub thread: Option<i64>,
    /// `entry` in nanoseconds.
    pub entry_nanos: Option<i64>,
    /// `exit` in nanoseconds.
    pub exit_nanos: Option<i64>,
    /// `parent`: the id of its caller, which the file need not have.
    pub parent: Option<Cow<'a, str>>,
    /// `anomaly_score`: -1 for an anomaly, 1 for none.
    pub score: Option<i64>,
    /// How many of `messages` were sent.
    pub sends: u64,
    /// How many of `messages` were received.
    pub receives: u64,
}

const NAME: usize = 0;
const PROGRAM: usize = 1;
const RANK: usize = 2;
const THREAD: usize = 3;
const ENTRY: usize = 4;
const EXIT: usize = 5;
const PARENT: usize = 6;
const SCORE: usize = 7;
const MESSAGES: usize = 8;
const NAMES: [&str; 9] = [
    "name",
    "prog names",
    "comm ranks",
    "threads",
    "entry",
    "exit",
    "parent",
    "anomaly_score",
    "messages",
];

fn number_of(name: &[u8]) -> Option<usize> {
    NAMES.iter().position(|known| known.as_bytes() == name)
}

/// Reads a window of calls that Chimbuko kept: `{"executions": {id: {...}}, "stat": {...}}`.
pub struct ExecutionsReader<'s> {
    document: Document<'s>,
    objects: ObjectReader<{ NAMES.len() }>,
    names: NameTable,
    executions: u64,
}

impl<'s> ExecutionsReader<'s> {
    /// Reads from `stream`, which is not compressed.
    #[must_use]
    pub fn new(stream: impl ByteStream + 's, options: &TraceOptions<'_>) -> Self {
        let layout =
            Layout { format: "Chimbuko executions", list: "executions", inside: None, open: b'"' };
        Self {
            document: Document::new(stream, layout, options),
            objects: options.objects(number_of),
            names: NameTable::new(options.limits.name_bytes),
            executions: 0,
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

    /// The names of functions met so far.
    #[must_use]
    pub fn names(&self) -> &NameTable {
        &self.names
    }

    /// What the file has besides the calls, as far as it was passed: `stat`, which counts calls and
    /// anomalies by function.
    #[must_use]
    pub fn metadata(&self) -> &[Metadata] {
        self.document.metadata()
    }

    /// Calls given so far.
    #[must_use]
    pub fn executions(&self) -> u64 {
        self.executions
    }

    /// The next call; `None` behind the last.
    ///
    /// # Errors
    /// When the file is of another format or nothing of it can be read. Whatever is damaged later
    /// is reported to `issues`.
    pub fn next_execution(
        &mut self,
        issues: &mut Issues,
    ) -> Result<Option<Execution<'_>>, FormatError> {
        let objects = &mut self.objects;
        let mut head = 0;
        let element = self.document.next(issues, |bytes| {
            head = object_at(bytes)?;
            let object = bytes.get(head..).unwrap_or_default();
            let len = objects.read(object).map_err(|stop| match stop {
                Stop::Bad { at, what } => Stop::Bad { at: head + at, what },
                Stop::Cut => Stop::Cut,
            })?;
            Ok(head + len)
        })?;
        let Some(element) = element else { return Ok(None) };
        self.executions += 1;
        Ok(Some(self.execution(issues, element, head)))
    }

    fn execution(&mut self, issues: &mut Issues, element: Element, head: usize) -> Execution<'_> {
        let fields = &self.objects.fields;
        let bytes = self.document.bytes(element);
        let mut reading = Reading {
            text: bytes.get(head..).unwrap_or_default(),
            names: &mut self.names,
            bad: 0,
            rounded: false,
            repaired: false,
            overflow: false,
        };
        let r = &mut reading;
        let id = scan::string_end(bytes, 1).and_then(|(stop, _)| bytes.get(1..stop));
        let program = fields.get(PROGRAM).filter(|field| {
            matches!(field.kind, Kind::Number | Kind::Text)
                && super::number::integer(r.content(*field)).is_some()
        });
        let parent = fields.get(PARENT).and_then(|field| match field.kind {
            Kind::Text | Kind::Escaped | Kind::Number => Some(unescape(r.content(field)).0),
            Kind::Word | Kind::Nested => r.wrong(PARENT, field),
        });
        let messages = fields.get(MESSAGES).and_then(|field: Field| match field.kind {
            Kind::Nested => Some(ends_of(r.content(field))),
            _ => r.wrong(MESSAGES, field),
        });
        let (sends, receives) = messages.unwrap_or_default();
        let execution = Execution {
            offset: element.offset,
            id: unescape(id.unwrap_or_default()).0,
            name: r.name(NAME, fields.get(NAME)),
            program: r.integer(PROGRAM, program),
            rank: r.integer(RANK, fields.get(RANK)),
            thread: r.integer(THREAD, fields.get(THREAD)),
            entry_nanos: r.scaled(ENTRY, fields.get(ENTRY), 3),
            exit_nanos: r.scaled(EXIT, fields.get(EXIT), 3),
            parent,
            score: r.integer(SCORE, fields.get(SCORE)),
            sends,
            receives,
        };
        if r.bad != 0 || r.rounded || r.repaired || r.overflow {
            reading.report(&self.document, issues, &NAMES, element.offset);
        }
        execution
    }
}

/// Where in a member the object behind its name begins.
fn object_at(bytes: &[u8]) -> Result<usize, Stop> {
    let (stop, _) = scan::string_end(bytes, 1).ok_or(Stop::Cut)?;
    let colon = space(bytes, stop + 1);
    match bytes.get(colon) {
        Some(b':') => {}
        Some(_) => return Err(Stop::Bad { at: colon, what: "':'" }),
        None => return Err(Stop::Cut),
    }
    let at = space(bytes, colon + 1);
    match bytes.get(at) {
        Some(b'{') => Ok(at),
        Some(_) => Err(Stop::Bad { at, what: "an object" }),
        None => Err(Stop::Cut),
    }
}

/// How many of the messages in an array were sent, and how many were received.
fn ends_of(array: &[u8]) -> (u64, u64) {
    let (mut sends, mut receives) = (0, 0);
    let mut at = space(array, 1);
    while let Ok(value) = scan::value(array, at) {
        let message = Args::new(array.get(value.start..value.stop).unwrap_or_default());
        match message.string("event-type").as_deref() {
            Some("send") => sends += 1,
            Some("receive") => receives += 1,
            _ => {}
        }
        at = space(array, value.end);
        if array.get(at) != Some(&b',') {
            break;
        }
        at = space(array, at + 1);
    }
    (sends, receives)
}
