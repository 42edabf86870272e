//! [`Document`]: the way to the list of events and through it, whatever the file's state.

use parallax_base::{Issues, Place, Severity, Stage};

use super::names::unescape;
use super::scan::{self, Nest, Stop, space};
use super::window::Window;
use super::{TraceLimits, TraceOptions};
use crate::FormatError;
use crate::json::{JsonLimits, JsonReader, Value};
use crate::stream::ByteStream;

/// A value next to the list of events, as the file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metadata {
    /// Its name in the outermost object.
    pub name: String,
    /// Its JSON text.
    pub text: Vec<u8>,
    /// Offset of the text in the (decompressed) file.
    pub offset: u64,
}

impl Metadata {
    /// The value; `None` where the text is not JSON after all, or holds more than a million
    /// values.
    #[must_use]
    pub fn value(&self) -> Option<Value> {
        JsonReader::from_slice(&self.text, JsonLimits::default()).read_value().ok()
    }
}

/// Where a format has its list of events.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    /// Display name of the format.
    pub(super) format: &'static str,
    /// The name of the list, unless the list stands alone.
    pub(super) list: &'static str,
    /// The name of an object in the outermost one that may hold the list.
    pub(super) inside: Option<&'static str>,
    /// The byte with which an event begins: a bracket, or a quote where the list is an object and
    /// each event stands behind its name.
    pub(super) open: u8,
}

impl Layout {
    /// Whether the list is an object, in which each event has a name.
    const fn is_named(&self) -> bool {
        self.open == b'"'
    }

    /// The brackets around the list.
    const fn list_brackets(&self) -> (u8, u8) {
        if self.is_named() { (b'{', b'}') } else { (b'[', b']') }
    }

    /// The bracket with which an event ends.
    const fn close(&self) -> u8 {
        if self.open == b'[' { b']' } else { b'}' }
    }
}

/// An event whose bytes were just taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) offset: u64,
    pub(super) len: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    /// In an object, before a name.
    Name,
    /// In an object, behind a value.
    AfterValue,
    /// In the list, before an event.
    Element,
    /// In the list, behind an event.
    AfterElement,
    /// Behind the outermost value.
    Outside,
    Done,
}

/// A JSON text with a list of events.
pub(super) struct Document<'s> {
    window: Window<'s>,
    layout: Layout,
    state: State,
    /// Open objects around the list.
    level: usize,
    /// Whether there was a list of events at all.
    found_list: bool,
    /// Events found.
    elements: u64,
    metadata: Vec<Metadata>,
    metadata_left: usize,
    limits: TraceLimits,
    file: String,
}

impl<'s> Document<'s> {
    pub(super) fn new(
        stream: impl ByteStream + 's,
        layout: Layout,
        options: &TraceOptions<'_>,
    ) -> Self {
        let limits = options.limits;
        Self {
            window: Window::new(stream, limits.event_bytes),
            layout,
            state: State::Start,
            level: 0,
            found_list: false,
            elements: 0,
            metadata: Vec::new(),
            metadata_left: limits.metadata_bytes,
            limits,
            file: options.file.to_owned(),
        }
    }

    /// Values next to the list that were passed so far.
    pub(super) fn metadata(&self) -> &[Metadata] {
        &self.metadata
    }

    /// Offset of the first byte that was not examined yet.
    pub(super) fn offset(&self) -> u64 {
        self.window.offset()
    }

    /// The bytes of the event that was found last.
    #[inline]
    pub(super) fn bytes(&self, element: Element) -> &[u8] {
        self.window.taken(element.len)
    }

    /// Reports a fault at a byte.
    #[cold]
    pub(super) fn report(
        &self,
        issues: &mut Issues,
        severity: Severity,
        kind: &'static str,
        offset: u64,
        message: impl FnOnce() -> String,
    ) {
        let place = Place::Byte { file: self.file.clone(), offset };
        issues.report(severity, Stage::Read, kind, place, message);
    }

    /// The next event: `read` says how long the event at the front of some bytes is. `None` at
    /// the end of the text.
    ///
    /// # Errors
    /// When the text cannot be of this format, or nothing of it can be read.
    #[inline]
    pub(super) fn next(
        &mut self,
        issues: &mut Issues,
        mut read: impl FnMut(&[u8]) -> Result<usize, Stop>,
    ) -> Result<Option<Element>, FormatError> {
        loop {
            // What stands between two events of one writer.
            if self.state == State::AfterElement && self.window.peek() == Some(b',') {
                self.window.take(1);
                self.state = State::Element;
            }
            if self.state == State::Element && self.window.peek() == Some(self.layout.open) {
                let offset = self.window.offset();
                match read(self.window.bytes()) {
                    Ok(len) => {
                        self.window.take(len);
                        self.elements += 1;
                        self.state = State::AfterElement;
                        return Ok(Some(Element { offset, len }));
                    }
                    Err(stop) => self.unfinished(issues, stop),
                }
            } else if self.state == State::Done {
                return Ok(None);
            } else {
                self.step(issues)?;
            }
        }
    }

    /// One step outside events.
    #[inline(never)]
    fn step(&mut self, issues: &mut Issues) -> Result<(), FormatError> {
        let byte = self.window.peek();
        match (self.state, byte) {
            (State::Start, _) => return self.start(issues, byte),
            (State::Done, _) => {}
            (State::Outside, None) => {
                self.state = State::Done;
                self.report_failure(issues);
                let list = self.layout.list;
                if !self.found_list {
                    let offset = self.offset();
                    self.report(issues, Severity::Error, "no-events", offset, || {
                        format!("there is no list {list:?} in the text")
                    });
                }
            }
            (State::Outside, Some(byte @ (b'[' | b'{')))
                if (self.elements > 0 || self.level > 0)
                    && (byte == b'{' || !self.layout.is_named()) =>
            {
                let offset = self.offset();
                self.report(issues, Severity::Note, "several-documents", offset, || {
                    "another JSON text follows; its events are read too".into()
                });
                self.state = State::Start;
            }
            (_, None) => self.ends_early(issues),
            (State::Name, Some(b'"')) => self.name(issues),
            (State::Name | State::AfterValue, Some(b'}')) => {
                self.window.take(1);
                self.level = self.level.saturating_sub(1);
                self.state = if self.level == 0 { State::Outside } else { State::AfterValue };
            }
            (State::AfterValue, Some(b',')) => {
                self.window.take(1);
                self.state = State::Name;
            }
            (State::Element | State::AfterElement, Some(byte))
                if byte == self.layout.list_brackets().1 =>
            {
                self.window.take(1);
                self.state = if self.level == 0 { State::Outside } else { State::AfterValue };
            }
            (State::AfterElement, Some(byte)) if byte == self.layout.open => {
                let offset = self.offset();
                self.report(issues, Severity::Warning, "missing-comma", offset, || {
                    "no comma between two events; both are kept".into()
                });
                self.state = State::Element;
            }
            (State::Element, Some(b',')) => {
                let offset = self.offset();
                self.report(issues, Severity::Note, "extra-comma", offset, || {
                    "two commas between two events".into()
                });
                self.window.take(1);
            }
            (State::Element, Some(_)) => self.other_element(issues),
            (State::Name, _) => self.damaged(issues, 0, "a name"),
            (State::AfterValue, _) => self.damaged(issues, 0, "',' or '}'"),
            (State::AfterElement, _) => self.damaged(issues, 0, "',' or ']'"),
            (State::Outside, _) => self.damaged(issues, 0, "the end of the text"),
        }
        Ok(())
    }

    fn start(&mut self, issues: &mut Issues, byte: Option<u8>) -> Result<(), FormatError> {
        if self.window.offset() == 0 && self.window.bytes().starts_with(b"\xef\xbb\xbf") {
            self.window.take(3);
            return Ok(());
        }
        match byte {
            Some(b'[') if !self.layout.is_named() => {
                (self.state, self.level) = (State::Element, 0);
                self.found_list = true;
            }
            Some(b'{') => (self.state, self.level) = (State::Name, 1),
            Some(b'"') => {
                // The events of a document whose first part was written to a file of its own.
                let offset = self.offset();
                self.report(issues, Severity::Note, "no-opening-brace", offset, || {
                    "the text begins inside an object".into()
                });
                (self.state, self.level) = (State::Name, 1);
                return Ok(());
            }
            _ => {
                if let Some(cause) = self.window.failure() {
                    return Err(FormatError::read(&self.file, cause.clone()));
                }
                let front = self.window.bytes();
                let front = String::from_utf8_lossy(front.get(..20).unwrap_or(front));
                let found = if front.is_empty() { "nothing".into() } else { format!("{front:?}") };
                return Err(FormatError::NotThisFormat {
                    file: self.file.clone(),
                    expected: self.layout.format,
                    found,
                });
            }
        }
        self.window.take(1);
        Ok(())
    }

    /// A name in an object and what follows it.
    fn name(&mut self, issues: &mut Issues) {
        let bytes = self.window.bytes();
        let header = || {
            let (stop, _) = scan::string_end(bytes, 1).ok_or(Stop::Cut)?;
            let colon = space(bytes, stop + 1);
            let at = space(bytes, colon + 1);
            match (bytes.get(colon), bytes.get(at)) {
                (Some(b':'), Some(&first)) => Ok((stop, at, first)),
                (Some(b':') | None, None) => Err(Stop::Cut),
                _ => Err(Stop::Bad { at: colon, what: "':'" }),
            }
        };
        let (stop, at, first) = match header() {
            Ok(found) => found,
            Err(stop) => return self.unfinished(issues, stop),
        };
        let name = unescape(bytes.get(1..stop).unwrap_or_default()).0.into_owned();
        self.window.take(at);
        if name == self.layout.list && first == self.layout.list_brackets().0 {
            self.window.take(1);
            self.found_list = true;
            self.state = State::Element;
        } else if self.level == 1 && self.layout.inside == Some(&name) && first == b'{' {
            self.window.take(1);
            self.level += 1;
        } else {
            self.value_beside(issues, name);
        }
    }

    /// Keeps a value next to the list of events.
    fn value_beside(&mut self, issues: &mut Issues, name: String) {
        loop {
            let (bytes, offset) = (self.window.bytes(), self.offset());
            match scan::value(bytes, 0) {
                Ok(value) if value.end <= self.metadata_left => {
                    let text = bytes.get(..value.end).unwrap_or_default().to_vec();
                    // A name costs memory too, and an entry some in addition.
                    self.metadata_left -= value.end;
                    self.metadata_left = self.metadata_left.saturating_sub(name.len() + 64);
                    self.metadata.push(Metadata { name, text, offset });
                    self.window.take(value.end);
                }
                Ok(value) => {
                    self.dropped(issues, &name, offset);
                    self.window.take(value.end);
                }
                Err(Stop::Cut) if !self.window.is_last() && !self.window.is_full() => {
                    if bytes.len() <= self.metadata_left || !matches!(bytes, [b'{' | b'[', ..]) {
                        self.window.fill();
                        continue;
                    }
                    self.dropped(issues, &name, offset);
                    if !self.skip_nested() {
                        return self.ends_early(issues);
                    }
                }
                Err(Stop::Cut) if self.window.is_last() => return self.ends_early(issues),
                Err(Stop::Cut) if matches!(bytes, [b'{' | b'[', ..]) => {
                    self.dropped(issues, &name, offset);
                    if !self.skip_nested() {
                        return self.ends_early(issues);
                    }
                }
                Err(Stop::Cut) => return self.damaged(issues, 0, "a shorter value"),
                Err(Stop::Bad { at, what }) => return self.damaged(issues, at, what),
            }
            self.state = State::AfterValue;
            return;
        }
    }

    fn dropped(&self, issues: &mut Issues, name: &str, offset: u64) {
        let limit = self.limits.metadata_bytes;
        self.report(issues, Severity::Warning, "metadata-too-large", offset, || {
            format!("{name:?} is omitted: more than {limit} bytes in addition to the events")
        });
    }

    /// Passes over the object or array at the current place without holding it; false when the
    /// text ends inside.
    fn skip_nested(&mut self) -> bool {
        let mut nest = Nest::opened();
        self.window.take(1);
        loop {
            let bytes = self.window.bytes();
            if let Some(end) = nest.walk(bytes) {
                self.window.take(end);
                return true;
            }
            let all = bytes.len();
            self.window.take(all);
            if self.window.is_last() {
                return false;
            }
            self.window.fill();
        }
    }

    /// An element of the list that does not begin as events do.
    fn other_element(&mut self, issues: &mut Issues) {
        let offset = self.offset();
        match scan::value(self.window.bytes(), 0) {
            Ok(value) => {
                self.report(issues, Severity::Error, "not-an-event", offset, || {
                    "something else than an event in the list of events is passed over".into()
                });
                self.window.take(value.end);
                self.state = State::AfterElement;
            }
            Err(stop) => self.unfinished(issues, stop),
        }
    }

    /// A value that does not end in the window.
    #[cold]
    fn unfinished(&mut self, issues: &mut Issues, stop: Stop) {
        match stop {
            Stop::Bad { at, what } => self.damaged(issues, at, what),
            Stop::Cut if self.window.is_last() => {
                let offset = self.offset();
                if self.window.failure().is_none() {
                    self.report(issues, Severity::Error, "truncated", offset, || {
                        "the text ends inside what begins here; all before it is kept".into()
                    });
                }
                self.report_failure(issues);
                self.state = State::Done;
            }
            Stop::Cut if self.window.is_full() => {
                let (offset, limit) = (self.offset(), self.limits.event_bytes);
                self.report(issues, Severity::Error, "event-too-large", offset, || {
                    format!("what begins here is longer than {limit} bytes and is passed over")
                });
                let nested = matches!(self.window.bytes(), [b'{' | b'[', ..]);
                if nested && self.skip_nested() {
                    self.state = State::AfterElement;
                } else if !nested {
                    self.damaged(issues, 0, "a shorter value");
                }
            }
            Stop::Cut => self.window.fill(),
        }
    }

    /// The text ends between values.
    fn ends_early(&mut self, issues: &mut Issues) {
        let offset = self.offset();
        let in_list = matches!(self.state, State::Element | State::AfterElement);
        if self.window.failure().is_none() {
            let (severity, kind) = if in_list && self.level == 0 {
                (Severity::Note, "unterminated-list")
            } else {
                (Severity::Warning, "truncated")
            };
            self.report(issues, severity, kind, offset, || {
                "the text ends before its last bracket; all events up to here are kept".into()
            });
        }
        self.report_failure(issues);
        self.state = State::Done;
    }

    fn report_failure(&self, issues: &mut Issues) {
        if let Some(cause) = self.window.failure() {
            let offset = self.offset();
            self.report(issues, Severity::Error, "unreadable", offset, || {
                format!("{cause}; what was read before is kept")
            });
        }
    }

    /// A byte that cannot be: goes on at the next place that looks like the start of an event.
    #[cold]
    fn damaged(&mut self, issues: &mut Issues, at: usize, what: &'static str) {
        let offset = self.offset() + at as u64;
        let found = self.window.bytes().get(at).copied();
        let from = self.offset();
        let in_list = matches!(self.state, State::Element | State::AfterElement);
        let overwritten =
            self.state == State::Outside && !self.found_list && !self.layout.is_named();
        let resumed = self.resume();
        let to = self.offset();
        if resumed && overwritten {
            self.report(issues, Severity::Error, "front-overwritten", offset, || {
                format!(
                    "what stands in addition to the events was written over the first of them \
                     (tau_trace2json without -chrome does so); the events from byte {to} on are \
                     read"
                )
            });
            (self.state, self.level, self.found_list) = (State::Element, 0, true);
            return;
        }
        self.report(issues, Severity::Error, "damaged", offset, || {
            let found = found.map_or("the end".into(), |b| format!("{:?}", char::from(b)));
            format!("{what} expected, found {found}; {} bytes are passed over", to - from)
        });
        if resumed {
            self.found_list = true;
            self.state = State::Element;
            self.level = if in_list { self.level } else { 1 };
        } else {
            self.report_failure(issues);
            self.state = State::Done;
        }
    }

    /// Passes over bytes up to where an event begins behind a closing bracket and a comma.
    fn resume(&mut self) -> bool {
        let (open, close) = (self.layout.open, self.layout.close());
        // What was seen last but white space: nothing of interest, a bracket, and a comma.
        let mut seen = 0;
        let mut skip = 1;
        loop {
            let bytes = self.window.bytes();
            let all = bytes.len();
            for (i, &byte) in bytes.iter().enumerate().skip(skip) {
                seen = match (seen, byte) {
                    (2, byte) if byte == open => {
                        self.window.take(i);
                        return true;
                    }
                    (_, byte) if byte == close => 1,
                    (1, b',') => 2,
                    (seen, b' ' | b'\n' | b'\r' | b'\t') => seen,
                    _ => 0,
                };
            }
            self.window.take(all);
            if self.window.is_last() {
                return false;
            }
            self.window.fill();
            skip = 0;
        }
    }
}
