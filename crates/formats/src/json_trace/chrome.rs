//! Chrome trace events and Kineto's: objects with a phase `ph`, in `traceEvents` or alone.

use parallax_base::{ByteSource, Issues, Severity};

use super::TraceOptions;
use super::args::{ArgValue, Args};
use super::document::{Document, Element, Layout, Metadata};
use super::names::{Kept, NameId, NameTable};
use super::number;
use super::object::{Field, Fields, ObjectReader};
use super::scan::Kind;
use crate::FormatError;
use crate::stream::ByteStream;

/// What an event says, by its letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// `B`: a function begins.
    Begin,
    /// `E`: the innermost open function ends.
    End,
    /// `X`: begin and duration in one. Such events of a thread may overlap without nesting.
    Complete,
    /// `i`, `I`: something at a moment.
    Instant,
    /// `R`: a mark, as pages set them.
    Mark,
    /// `C`: values of counters.
    Counter,
    /// `M`: names and order of processes and threads.
    Metadata,
    /// `s`: an arrow starts. Several ends may have the same id.
    FlowStart,
    /// `t`: an arrow passes.
    FlowStep,
    /// `f`: an arrow ends.
    FlowEnd,
    /// `b`, and `S` of old: an operation across threads begins.
    AsyncBegin,
    /// `n`, and `T`, `p` of old: an operation across threads makes a step.
    AsyncStep,
    /// `e`, and `F` of old: an operation across threads ends.
    AsyncEnd,
    /// `N`: an object comes into being.
    ObjectCreated,
    /// `O`: a picture of an object.
    ObjectSnapshot,
    /// `D`: an object is gone.
    ObjectDestroyed,
    /// `P`: a sample.
    Sample,
    /// `v`, `V`: a memory dump of a process, or of all.
    MemoryDump,
    /// `c`: a moment on two clocks.
    ClockSync,
    /// `(`: a context is entered.
    ContextEnter,
    /// `)`: a context is left.
    ContextLeave,
    /// Any other letter; 0 where it is not one character.
    Other(u8),
}

impl Phase {
    /// The phase of a letter.
    #[must_use]
    pub fn of(letter: u8) -> Self {
        match letter {
            b'B' => Self::Begin,
            b'E' => Self::End,
            b'X' => Self::Complete,
            b'i' | b'I' => Self::Instant,
            b'R' => Self::Mark,
            b'C' => Self::Counter,
            b'M' => Self::Metadata,
            b's' => Self::FlowStart,
            b't' => Self::FlowStep,
            b'f' => Self::FlowEnd,
            b'b' | b'S' => Self::AsyncBegin,
            b'n' | b'T' | b'p' => Self::AsyncStep,
            b'e' | b'F' => Self::AsyncEnd,
            b'N' => Self::ObjectCreated,
            b'O' => Self::ObjectSnapshot,
            b'D' => Self::ObjectDestroyed,
            b'P' => Self::Sample,
            b'v' | b'V' => Self::MemoryDump,
            b'c' => Self::ClockSync,
            b'(' => Self::ContextEnter,
            b')' => Self::ContextLeave,
            other => Self::Other(other),
        }
    }
}

/// A process or thread: a number, or a name where the file has a text that is no number.
/// `"12"` is the number 12: one file may write the same thread both ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TrackId {
    /// A number.
    Number(i64),
    /// A name.
    Name(NameId),
}

/// What belongs together has the same id. `"12"` is the number 12; `"0x12"` is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventId<'a> {
    /// A number in decimal.
    Number(i64),
    /// A number in hexadecimal with `0x`.
    Hex(u64),
    /// Any other text, as it stands between the quotes.
    Text(&'a [u8]),
}

/// One event, borrowed from the reader until the next is requested.
///
/// A field is `None` where the event lacks it, and where it is of the wrong type (which is
/// reported).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChromeEvent<'a> {
    /// Offset of the event's first byte in the (decompressed) file.
    pub offset: u64,
    /// `ph`
    pub phase: Phase,
    /// `name`
    pub name: Option<NameId>,
    /// `cat`: one or more categories, with commas between them.
    pub categories: Option<NameId>,
    /// `pid`
    pub process: Option<TrackId>,
    /// `tid`
    pub thread: Option<TrackId>,
    /// `ts` in nanoseconds; what is finer is rounded, and reported.
    pub time_nanos: Option<i64>,
    /// `dur` in nanoseconds.
    pub duration_nanos: Option<i64>,
    /// `args`: values of counters, names, Kineto's `External id`, `correlation`, `stream`, ...
    pub args: Args<'a>,
    /// The whole event as it stands in the file.
    pub text: &'a [u8],
    fields: &'a Fields<{ NAMES.len() }>,
}

impl<'a> ChromeEvent<'a> {
    fn content(&self, name: usize) -> Option<(Kind, &'a [u8])> {
        let field = self.fields.get(name)?;
        Some((field.kind, self.text.get(field.start as usize..field.stop as usize)?))
    }

    fn nanos(&self, name: usize) -> Option<i64> {
        match self.content(name)? {
            (Kind::Number | Kind::Text, text) => number::scaled(text, 3).map(|time| time.units),
            _ => None,
        }
    }

    fn is(&self, name: usize, wanted: &[&[u8]]) -> bool {
        self.content(name).is_some_and(|(_, text)| wanted.contains(&text))
    }

    /// `tts`: processor time of the thread in nanoseconds.
    #[must_use]
    pub fn thread_time_nanos(&self) -> Option<i64> {
        self.nanos(TTS)
    }

    /// `tdur`: processor time of the thread in nanoseconds.
    #[must_use]
    pub fn thread_duration_nanos(&self) -> Option<i64> {
        self.nanos(TDUR)
    }

    /// `id`, or what `id2` has.
    #[must_use]
    pub fn id(&self) -> Option<EventId<'a>> {
        if let Some((Kind::Nested, text)) = self.content(ID2) {
            let ids = Args::new(text);
            return match ids.get("local").or_else(|| ids.get("global"))? {
                ArgValue::Text(text) | ArgValue::Number(text) => Some(id_of(text)),
                _ => None,
            };
        }
        self.id_in(ID)
    }

    fn id_in(&self, name: usize) -> Option<EventId<'a>> {
        match self.content(name)? {
            (Kind::Number | Kind::Text | Kind::Escaped, text) => Some(id_of(text)),
            _ => None,
        }
    }

    /// The id means something in its process only (`id2.local`).
    #[must_use]
    pub fn id_is_local(&self) -> bool {
        let local = |(kind, text)| kind == Kind::Nested && Args::new(text).get("local").is_some();
        self.content(ID2).is_some_and(local)
    }

    /// `scope`: ids are the same only within one scope. The bytes between the quotes.
    #[must_use]
    pub fn id_scope(&self) -> Option<&'a [u8]> {
        self.content(SCOPE).map(|(_, text)| text)
    }

    /// `bind_id`: the arrow that an event with `flow_in` or `flow_out` belongs to.
    #[must_use]
    pub fn bind_id(&self) -> Option<EventId<'a>> {
        self.id_in(BIND_ID)
    }

    /// `flow_in`: the arrow ends here.
    #[must_use]
    pub fn flow_in(&self) -> bool {
        self.is(FLOW_IN, &[b"true", b"1"])
    }

    /// `flow_out`: the arrow starts here.
    #[must_use]
    pub fn flow_out(&self) -> bool {
        self.is(FLOW_OUT, &[b"true", b"1"])
    }

    /// `bp` is `e`: the arrow belongs to the enclosing function, not to the next one.
    #[must_use]
    pub fn binds_enclosing(&self) -> bool {
        self.is(BP, &[b"e"])
    }

    /// `s` of an instant: `g` all, `p` its process, `t` its thread.
    #[must_use]
    pub fn instant_scope(&self) -> Option<u8> {
        self.content(S).and_then(|(_, text)| text.first().copied())
    }

    /// `sort_index` next to `args`, as rocprofiler writes it.
    #[must_use]
    pub fn sort_index(&self) -> Option<i64> {
        number::integer(self.content(SORT_INDEX)?.1)
    }
}

const PH: usize = 0;
const NAME: usize = 1;
const CAT: usize = 2;
const PID: usize = 3;
const TID: usize = 4;
const TS: usize = 5;
const DUR: usize = 6;
const ARGS: usize = 7;
const ID: usize = 8;
const BP: usize = 9;
const S: usize = 10;
const TTS: usize = 11;
const TDUR: usize = 12;
const ID2: usize = 13;
const SCOPE: usize = 14;
const BIND_ID: usize = 15;
const FLOW_IN: usize = 16;
const FLOW_OUT: usize = 17;
const SORT_INDEX: usize = 18;
const NAMES: [&str; 19] = [
    "ph",
    "name",
    "cat",
    "pid",
    "tid",
    "ts",
    "dur",
    "args",
    "id",
    "bp",
    "s",
    "tts",
    "tdur",
    "id2",
    "scope",
    "bind_id",
    "flow_in",
    "flow_out",
    "sort_index",
];

fn number_of(name: &[u8]) -> Option<usize> {
    NAMES.iter().position(|known| known.as_bytes() == name)
}

/// Reads Chrome trace events, Kineto's included.
pub struct ChromeReader<'s> {
    document: Document<'s>,
    objects: ObjectReader<{ NAMES.len() }>,
    names: NameTable,
    events: u64,
    empty: u64,
}

impl<'s> ChromeReader<'s> {
    /// Reads from `stream`, which is not compressed.
    #[must_use]
    pub fn new(stream: impl ByteStream + 's, options: &TraceOptions<'_>) -> Self {
        let layout =
            Layout { format: "Chrome trace events", list: "traceEvents", inside: None, open: b'{' };
        Self {
            document: Document::new(stream, layout, options),
            objects: options.objects(number_of),
            names: NameTable::new(options.limits.name_bytes),
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

    /// The names met so far.
    #[must_use]
    pub fn names(&self) -> &NameTable {
        &self.names
    }

    /// What the file has besides the events, as far as it was passed: `baseTimeNanoseconds`,
    /// `deviceProperties`, `distributedInfo`, `displayTimeUnit`, ... Much of it may stand behind
    /// the events.
    #[must_use]
    pub fn metadata(&self) -> &[Metadata] {
        self.document.metadata()
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

    /// Empty objects passed so far: some writers begin their list with one.
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
    ) -> Result<Option<ChromeEvent<'_>>, FormatError> {
        let element = loop {
            let objects = &mut self.objects;
            let Some(element) = self.document.next(issues, |bytes| objects.read(bytes))? else {
                return Ok(None);
            };
            if self.objects.fields.get(PH).is_some_and(|ph| ph.kind == Kind::Text) {
                break element;
            }
            self.without_phase(issues, element);
        };
        self.events += 1;
        Ok(Some(self.event(issues, element)))
    }

    #[cold]
    fn without_phase(&mut self, issues: &mut Issues, element: Element) {
        if self.objects.fields.is_empty {
            self.empty += 1;
            return;
        }
        self.document.report(
            issues,
            Severity::Error,
            "event-without-phase",
            element.offset,
            || "an object without ph in the list of events is passed over".into(),
        );
    }

    #[inline]
    fn event(&mut self, issues: &mut Issues, element: Element) -> ChromeEvent<'_> {
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
        let phase = match fields.get(PH).map(|field| r.content(field)) {
            Some(&[letter]) => Phase::of(letter),
            _ => Phase::Other(0),
        };
        let event = ChromeEvent {
            offset: element.offset,
            phase,
            name: r.name(NAME, fields.get(NAME)),
            categories: r.name(CAT, fields.get(CAT)),
            process: r.track(PID, fields.get(PID)),
            thread: r.track(TID, fields.get(TID)),
            time_nanos: r.time(TS, fields.get(TS)),
            duration_nanos: r.time(DUR, fields.get(DUR)),
            args: fields.get(ARGS).map_or_else(Args::default, |field| r.args(field)),
            text: r.text,
            fields,
        };
        let unusual = r.bad != 0 || r.rounded || r.repaired || r.overflow;
        if unusual || matches!(phase, Phase::Other(_)) {
            reading.report(&self.document, issues, &NAMES, element.offset);
            if let Phase::Other(letter) = phase {
                let offset = element.offset;
                let kind = "unknown-phase";
                self.document.report(issues, Severity::Warning, kind, offset, || {
                    format!("events of phase {:?} have no meaning here", char::from(letter))
                });
            }
        }
        event
    }
}

/// Turns the fields of one event into values and remembers what was wrong with them.
pub(super) struct Reading<'a, 'n> {
    pub(super) text: &'a [u8],
    pub(super) names: &'n mut NameTable,
    /// Bit i: the value of name i is of the wrong type.
    pub(super) bad: u32,
    pub(super) rounded: bool,
    pub(super) repaired: bool,
    pub(super) overflow: bool,
}

impl<'a> Reading<'a, '_> {
    #[inline]
    pub(super) fn content(&self, field: Field) -> &'a [u8] {
        self.text.get(field.start as usize..field.stop as usize).unwrap_or_default()
    }

    #[inline]
    pub(super) fn intern(&mut self, field: Field) -> NameId {
        let (id, kept) = self.names.intern(self.content(field), field.kind == Kind::Escaped);
        if kept != Kept::Whole {
            self.repaired |= kept == Kept::Repaired;
            self.overflow |= kept == Kept::Overflow;
        }
        id
    }

    /// A value of the wrong type; `null` is none.
    #[cold]
    pub(super) fn wrong<T>(&mut self, name: usize, field: Field) -> Option<T> {
        if self.content(field) != b"null" || field.kind != Kind::Word {
            self.bad |= 1 << name;
        }
        None
    }

    /// A text; numbers and words are taken as they stand.
    #[inline]
    pub(super) fn name(&mut self, name: usize, field: Option<Field>) -> Option<NameId> {
        let field = field?;
        match field.kind {
            Kind::Text | Kind::Escaped | Kind::Number => Some(self.intern(field)),
            Kind::Word | Kind::Nested => self.wrong(name, field),
        }
    }

    #[inline]
    pub(super) fn integer(&mut self, name: usize, field: Option<Field>) -> Option<i64> {
        let field = field?;
        match field.kind {
            Kind::Number | Kind::Text => match number::integer(self.content(field)) {
                None => self.wrong(name, field),
                value => value,
            },
            _ => self.wrong(name, field),
        }
    }

    /// A whole number of 32 bits.
    #[inline]
    pub(super) fn small(&mut self, name: usize, field: Option<Field>) -> Option<i32> {
        let value = self.integer(name, field)?;
        let small = i32::try_from(value).ok();
        self.bad |= u32::from(small.is_none()) << name;
        small
    }

    /// A time in units of 10 to the `-power` of what comes out.
    #[inline]
    pub(super) fn scaled(&mut self, name: usize, field: Option<Field>, power: i32) -> Option<i64> {
        let field = field?;
        if !matches!(field.kind, Kind::Number | Kind::Text) {
            return self.wrong(name, field);
        }
        let Some(time) = number::scaled(self.content(field), power) else {
            return self.wrong(name, field);
        };
        self.rounded |= !time.exact;
        Some(time.units)
    }

    #[inline]
    fn time(&mut self, name: usize, field: Option<Field>) -> Option<i64> {
        self.scaled(name, field, 3)
    }

    #[inline]
    fn track(&mut self, name: usize, field: Option<Field>) -> Option<TrackId> {
        let field = field?;
        let number = match field.kind {
            Kind::Number | Kind::Text => number::integer(self.content(field)),
            Kind::Escaped => None,
            Kind::Word | Kind::Nested => return self.wrong(name, field),
        };
        match number {
            Some(number) => Some(TrackId::Number(number)),
            None => Some(TrackId::Name(self.intern(field))),
        }
    }

    fn args(&mut self, field: Field) -> Args<'a> {
        if field.kind == Kind::Nested {
            return Args::new(self.content(field));
        }
        self.wrong(ARGS, field).unwrap_or_default()
    }

    /// Reports what was wrong with the event at `offset`.
    #[cold]
    pub(super) fn report(
        &self,
        document: &Document<'_>,
        issues: &mut Issues,
        names: &[&str],
        offset: u64,
    ) {
        for (_, name) in names.iter().enumerate().filter(|(i, _)| self.bad >> i & 1 == 1) {
            document.report(issues, Severity::Warning, "bad-field", offset, || {
                format!("the value of {name:?} is not of the type it should be; it is omitted")
            });
        }
        if self.rounded {
            document.report(issues, Severity::Note, "time-rounded", offset, || {
                "times finer than a nanosecond are rounded".into()
            });
        }
        if self.repaired {
            document.report(issues, Severity::Warning, "bad-text", offset, || {
                "a name has bytes that are not UTF-8, or bad escapes; they are marked".into()
            });
        }
        if self.overflow {
            document.report(issues, Severity::Error, "too-many-names", offset, || {
                "there is no room for more names; further ones share one name".into()
            });
        }
    }
}

fn id_of(text: &[u8]) -> EventId<'_> {
    if let Some(number) = number::integer(text) {
        return EventId::Number(number);
    }
    let digits = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X"));
    let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
    match digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()) {
        Some(number) => EventId::Hex(number),
        None => EventId::Text(text),
    }
}
