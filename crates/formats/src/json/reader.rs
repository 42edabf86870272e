//! The pull reader: a window over a stream, a stack of open containers, one event at a time.

use std::fmt::Write as _;

use parallax_base::ByteSource;

use super::number::{self, Number};
use super::{JsonError, JsonErrorKind};
use crate::digits::{EACH, load};
use crate::stream::{BorrowedStream, ByteStream, SliceStream};

/// One step through a JSON text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event<'a> {
    /// `{`
    BeginObject,
    /// `}`
    EndObject,
    /// `[`
    BeginArray,
    /// `]`
    EndArray,
    /// A name in an object, unescaped; its value follows.
    Key(&'a str),
    /// A string, unescaped.
    String(&'a str),
    /// A number.
    Number(Number),
    /// `true` or `false`.
    Bool(bool),
    /// `null`
    Null,
    /// The end of the text, after its one value.
    End,
}

impl Event<'_> {
    /// What it is, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::BeginObject => "an object",
            Self::EndObject => "the end of an object",
            Self::BeginArray => "an array",
            Self::EndArray => "the end of an array",
            Self::Key(_) => "a name",
            Self::String(_) => "a string",
            Self::Number(_) => "a number",
            Self::Bool(_) => "true or false",
            Self::Null => "null",
            Self::End => "the end of the text",
        }
    }
}

/// Bounds of a [`JsonReader`], whatever the text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonLimits {
    /// Most containers open at once.
    pub depth: usize,
    /// Most bytes of one string or number.
    pub token_bytes: usize,
    /// Most values of one [`Value`](super::Value).
    pub values: usize,
}

impl Default for JsonLimits {
    fn default() -> Self {
        Self { depth: 256, token_bytes: 16 << 20, values: 1 << 20 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// A value must follow: at the start, after `:`, after `,` in an array.
    Value,
    /// After `[`: a value or `]`.
    FirstValue,
    /// After `{`: a name or `}`.
    FirstKey,
    /// After `,` in an object: a name.
    Key,
    /// After a value: `,` or the end of the container; at the top, the end of the text.
    After,
}

/// An open container.
#[derive(Debug, Clone, Copy)]
struct Open {
    array: bool,
    /// Where the current name starts in `names`.
    name_start: usize,
    /// Elements completed before the current one.
    index: u64,
}

/// Where a string's content lies until the next event.
enum Text {
    Window { start: usize, end: usize },
    Unescaped,
}

/// Reads a JSON text from a stream, one [`Event`] at a time, in memory that does not grow with
/// the text.
pub struct JsonReader<'s> {
    stream: Box<dyn ByteStream + 's>,
    pub(super) window: Vec<u8>,
    /// First byte of the window that is not used yet.
    pub(super) at: usize,
    /// First byte of the window that is not filled.
    pub(super) end: usize,
    /// Offset of the window's first byte in the text.
    base: u64,
    pub(super) at_end: bool,
    open: Vec<Open>,
    /// The current names of the open objects, one after the other, each cut to a sane length.
    names: Vec<u8>,
    unescaped: String,
    state: State,
    limits: JsonLimits,
}

/// Longest part of a name that is kept for the path in messages.
const NAME_KEPT: usize = 64;
const WINDOW: usize = 128 << 10;

impl<'s> JsonReader<'s> {
    /// Reads from `stream`.
    #[must_use]
    pub fn new(stream: impl ByteStream + 's, limits: JsonLimits) -> Self {
        Self::with_window(Box::new(stream), limits, WINDOW)
    }

    /// Reads a source from its first byte.
    #[must_use]
    pub fn from_source(source: &'s dyn ByteSource, limits: JsonLimits) -> Self {
        let window = usize::try_from(source.len()).unwrap_or(WINDOW).clamp(64, WINDOW);
        Self::with_window(Box::new(BorrowedStream::new(source)), limits, window)
    }

    /// Reads a text in memory.
    #[must_use]
    pub fn from_slice(text: &'s [u8], limits: JsonLimits) -> Self {
        let window = text.len().clamp(64, WINDOW);
        Self::with_window(Box::new(SliceStream::new(text)), limits, window)
    }

    /// Goes on in the middle of a text: `stream` begins at byte `offset`, at a name of an object
    /// that is the value of `name` in the outermost object.
    #[must_use]
    pub fn resumed(
        stream: impl ByteStream + 's,
        limits: JsonLimits,
        offset: u64,
        name: &str,
    ) -> Self {
        let mut reader = Self::new(stream, limits);
        reader.base = offset;
        reader.names.extend_from_slice(name.as_bytes());
        let open = |name_start| Open { array: false, name_start, index: 0 };
        reader.open = vec![open(0), open(name.len())];
        reader.state = State::Key;
        reader
    }

    fn with_window(stream: Box<dyn ByteStream + 's>, limits: JsonLimits, window: usize) -> Self {
        Self {
            stream,
            window: vec![0; window],
            at: 0,
            end: 0,
            base: 0,
            at_end: false,
            open: Vec::new(),
            names: Vec::new(),
            unescaped: String::new(),
            state: State::Value,
            limits,
        }
    }

    /// The bounds in force.
    #[must_use]
    pub fn limits(&self) -> JsonLimits {
        self.limits
    }

    /// Offset of the first byte that no event covered yet.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// How many containers are open.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Where the reader stands, as a JSONPath: `$.data["4;0;1"].regions["1.2"][3]`.
    #[must_use]
    pub fn path(&self) -> String {
        let mut path = String::from("$");
        let mut frames = self.open.iter().peekable();
        while let Some(frame) = frames.next() {
            if frame.array {
                let _ = write!(path, "[{}]", frame.index);
                continue;
            }
            let stop = frames.peek().map_or(self.names.len(), |next| next.name_start);
            let name = self.names.get(frame.name_start..stop).unwrap_or_default();
            let name = String::from_utf8_lossy(name);
            if name.is_empty() && self.state == State::FirstKey && frames.peek().is_none() {
                break;
            }
            let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            if !name.is_empty() && name.chars().all(plain) {
                let _ = write!(path, ".{name}");
            } else {
                let _ = write!(path, "[{name:?}]");
            }
        }
        path
    }

    /// An error of `kind` at the current place.
    #[must_use]
    pub fn error(&self, kind: JsonErrorKind) -> JsonError {
        self.error_at(self.at, kind)
    }

    #[cold]
    pub(super) fn error_at(&self, at: usize, kind: JsonErrorKind) -> JsonError {
        JsonError { offset: self.base + at as u64, path: self.path(), kind }
    }

    /// The next event.
    ///
    /// # Errors
    /// When the text is not JSON, ends early, passes the limits, or cannot be read. The reader
    /// must not be used further then.
    pub fn next_event(&mut self) -> Result<Event<'_>, JsonError> {
        let mut byte = self.peek()?;
        if self.state == State::After {
            let Some(top) = self.open.last_mut() else {
                return match byte {
                    None => Ok(Event::End),
                    Some(_) => Err(self.unexpected("the end of the text")),
                };
            };
            match (byte, top.array) {
                (Some(b','), true) => {
                    top.index += 1;
                    self.at += 1;
                    self.state = State::Value;
                    byte = self.peek()?;
                }
                (Some(b','), false) => {
                    self.at += 1;
                    self.state = State::Key;
                    byte = self.peek()?;
                }
                (Some(b']'), true) => return Ok(self.close(Event::EndArray)),
                (Some(b'}'), false) => return Ok(self.close(Event::EndObject)),
                (_, true) => return Err(self.unexpected("',' or ']'")),
                (_, false) => return Err(self.unexpected("',' or '}'")),
            }
        }
        match (self.state, byte) {
            (State::FirstValue, Some(b']')) => Ok(self.close(Event::EndArray)),
            (State::FirstKey, Some(b'}')) => Ok(self.close(Event::EndObject)),
            (State::FirstKey | State::Key, Some(b'"')) => self.key(),
            (State::FirstKey, _) => Err(self.unexpected("a name or '}'")),
            (State::Key, _) => Err(self.unexpected("a name")),
            (_, Some(byte)) => self.value(byte),
            (_, None) => Err(self.unexpected("a value")),
        }
    }

    /// Passes over the comma before the next name of an object and says where that name begins;
    /// `None` where none follows: the next event tells why.
    ///
    /// # Errors
    /// When the bytes cannot be read.
    pub fn next_name_offset(&mut self) -> Result<Option<u64>, JsonError> {
        let inside = self.open.last().is_some_and(|top| !top.array);
        if inside && self.state == State::After && self.peek()? == Some(b',') {
            self.at += 1;
            self.state = State::Key;
        }
        let before = inside && matches!(self.state, State::Key | State::FirstKey);
        let found = before && self.peek()? == Some(b'"');
        Ok(found.then(|| self.offset()))
    }

    fn close(&mut self, event: Event<'static>) -> Event<'static> {
        self.at += 1;
        if let Some(frame) = self.open.pop() {
            self.names.truncate(frame.name_start);
        }
        self.state = State::After;
        event
    }

    fn begin(&mut self, array: bool) -> Result<(), JsonError> {
        if self.open.len() >= self.limits.depth {
            return Err(self.error(JsonErrorKind::TooDeep { limit: self.limits.depth }));
        }
        self.at += 1;
        self.open.push(Open { array, name_start: self.names.len(), index: 0 });
        self.state = if array { State::FirstValue } else { State::FirstKey };
        Ok(())
    }

    fn value(&mut self, byte: u8) -> Result<Event<'_>, JsonError> {
        match byte {
            b'{' => self.begin(false).map(|()| Event::BeginObject),
            b'[' => self.begin(true).map(|()| Event::BeginArray),
            b'"' => {
                let text = self.string()?;
                self.state = State::After;
                Ok(Event::String(self.text(&text)))
            }
            b't' => self.word(b"true", Event::Bool(true)),
            b'f' => self.word(b"false", Event::Bool(false)),
            b'n' => self.word(b"null", Event::Null),
            b'-' | b'0'..=b'9' | b'N' | b'I' => self.number(),
            _ => Err(self.unexpected("a value")),
        }
    }

    fn word(&mut self, word: &[u8], event: Event<'static>) -> Result<Event<'static>, JsonError> {
        for (i, &expected) in word.iter().enumerate() {
            while self.at + i >= self.end && !self.at_end {
                self.fill()?;
            }
            if self.window.get(self.at + i).filter(|_| self.at + i < self.end) != Some(&expected) {
                self.at += i;
                return Err(self.unexpected("true, false or null"));
            }
        }
        self.at += word.len();
        self.state = State::After;
        Ok(event)
    }

    fn number(&mut self) -> Result<Event<'_>, JsonError> {
        loop {
            let bytes = self.window.get(self.at..self.end).unwrap_or_default();
            let scanned = number::scan(bytes);
            let reached = match scanned {
                Ok(scanned) => scanned.len,
                Err(at) => at,
            };
            if reached >= bytes.len() && !self.at_end {
                self.fill()?;
                continue;
            }
            return match scanned {
                Ok(scanned) => {
                    self.at += scanned.len;
                    self.state = State::After;
                    Ok(Event::Number(scanned.number))
                }
                Err(at) if at >= bytes.len() => {
                    let kind = JsonErrorKind::Truncated { expected: "the rest of a number" };
                    Err(self.error_at(self.at + at, kind))
                }
                Err(at) => Err(self.error_at(self.at + at, JsonErrorKind::Number)),
            };
        }
    }

    fn key(&mut self) -> Result<Event<'_>, JsonError> {
        let start = self.open.last().map_or(0, |frame| frame.name_start);
        self.names.truncate(start);
        let text = self.string()?;
        // The text must be remembered before `:` is looked for, which may move the window.
        let name = match text {
            Text::Window { start, end } => {
                let bytes = self.window.get(start..end).unwrap_or_default();
                self.unescaped.clear();
                self.unescaped.push_str(std::str::from_utf8(bytes).unwrap_or_default());
                self.unescaped.as_bytes()
            }
            Text::Unescaped => self.unescaped.as_bytes(),
        };
        self.names.extend_from_slice(name.get(..NAME_KEPT).unwrap_or(name));
        if self.peek()? != Some(b':') {
            return Err(self.unexpected("':'"));
        }
        self.at += 1;
        self.state = State::Value;
        Ok(Event::Key(&self.unescaped))
    }

    fn text(&self, text: &Text) -> &str {
        match *text {
            Text::Window { start, end } => {
                let bytes = self.window.get(start..end).unwrap_or_default();
                std::str::from_utf8(bytes).unwrap_or_default()
            }
            Text::Unescaped => &self.unescaped,
        }
    }

    /// Reads a string whose quote stands at the current place.
    fn string(&mut self) -> Result<Text, JsonError> {
        let mut done = 1;
        loop {
            let bytes = self.window.get(self.at + done..self.end).unwrap_or_default();
            let skip = plain_len(bytes);
            match bytes.get(skip) {
                Some(b'"') => {
                    let (start, end) = (self.at + 1, self.at + done + skip);
                    let content = self.window.get(start..end).unwrap_or_default();
                    if let Err(fault) = std::str::from_utf8(content) {
                        let kind = JsonErrorKind::Text { cause: "bytes that are not UTF-8" };
                        return Err(self.error_at(start + fault.valid_up_to(), kind));
                    }
                    self.at = end + 1;
                    return Ok(Text::Window { start, end });
                }
                Some(b'\\') => return self.escaped_string(done + skip),
                Some(_) => {
                    self.at += done + skip;
                    return Err(self.error(JsonErrorKind::Text { cause: "a control character" }));
                }
                None if self.at_end => {
                    self.at = self.end;
                    let kind = JsonErrorKind::Truncated { expected: "the rest of a string" };
                    return Err(self.error(kind));
                }
                None => {
                    done += skip;
                    self.fill()?;
                }
            }
        }
    }

    /// Reads a string that has escapes; the first `plain` bytes (with the quote) have none.
    #[cold]
    fn escaped_string(&mut self, plain: usize) -> Result<Text, JsonError> {
        let mut raw: Vec<u8> = Vec::new();
        let head = self.window.get(self.at + 1..self.at + plain).unwrap_or_default();
        raw.extend_from_slice(head);
        self.at += plain;
        loop {
            if raw.len() > self.limits.token_bytes {
                return Err(self.too_long());
            }
            match self.byte("the rest of a string")? {
                b'"' => break,
                b'\\' => {
                    let c = self.escape()?;
                    raw.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
                0..0x20 => {
                    self.at -= 1;
                    return Err(self.error(JsonErrorKind::Text { cause: "a control character" }));
                }
                byte => raw.push(byte),
            }
        }
        let text = String::from_utf8(raw);
        self.unescaped = text
            .map_err(|_| self.error(JsonErrorKind::Text { cause: "bytes that are not UTF-8" }))?;
        Ok(Text::Unescaped)
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        Ok(match self.byte("an escape")? {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let high = self.hex()?;
                if !(0xd800..0xdc00).contains(&high) {
                    // A lone low surrogate has no character; the replacement keeps the text.
                    return Ok(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                if self.byte("an escape")? != b'\\' || self.byte("an escape")? != b'u' {
                    self.at -= 1;
                    return Err(self.error(JsonErrorKind::Text { cause: "half a surrogate pair" }));
                }
                let low = self.hex()?.wrapping_sub(0xdc00);
                if low >= 0x400 {
                    return Err(self.error(JsonErrorKind::Text { cause: "half a surrogate pair" }));
                }
                char::from_u32(0x10000 + ((high - 0xd800) << 10) + low)
                    .unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => {
                self.at -= 1;
                return Err(self.error(JsonErrorKind::Text { cause: "an unknown escape" }));
            }
        })
    }

    fn hex(&mut self) -> Result<u32, JsonError> {
        let mut value = 0;
        for _ in 0..4 {
            let byte = self.byte("four hexadecimal digits")?;
            let Some(digit) = char::from(byte).to_digit(16) else {
                self.at -= 1;
                return Err(self.error(JsonErrorKind::Text { cause: "a bad \\u escape" }));
            };
            value = value << 4 | digit;
        }
        Ok(value)
    }

    fn byte(&mut self, expected: &'static str) -> Result<u8, JsonError> {
        while self.at >= self.end {
            if self.at_end {
                return Err(self.error(JsonErrorKind::Truncated { expected }));
            }
            self.fill()?;
        }
        let byte = self.window.get(self.at).copied().unwrap_or_default();
        self.at += 1;
        Ok(byte)
    }

    /// The next byte that is not white space, which stays; `None` at the end.
    #[inline]
    fn peek(&mut self) -> Result<Option<u8>, JsonError> {
        loop {
            while self.at < self.end {
                match self.window.get(self.at) {
                    Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                    // A byte order mark, which only the very front may have.
                    Some(0xef) if self.base == 0 && self.at == 0 => {
                        while self.end < 3 && !self.at_end {
                            self.fill()?;
                        }
                        if !self.window.starts_with(b"\xef\xbb\xbf") {
                            return Ok(Some(0xef));
                        }
                        self.at = 3;
                    }
                    byte => return Ok(byte.copied()),
                }
            }
            if self.at_end {
                return Ok(None);
            }
            self.fill()?;
        }
    }

    #[cold]
    fn unexpected(&self, expected: &'static str) -> JsonError {
        let found = self.window.get(self.at).filter(|_| self.at < self.end);
        self.error(match found {
            Some(&byte) => JsonErrorKind::Unexpected { expected, found: char::from(byte) },
            None => JsonErrorKind::Truncated { expected },
        })
    }

    fn too_long(&self) -> JsonError {
        let limit = self.limits.token_bytes;
        self.error(JsonErrorKind::TooLarge { what: "bytes of one string or number", limit })
    }

    /// Brings more bytes into the window, keeping those from `at` on. The window grows only when
    /// one token fills it.
    #[cold]
    pub(super) fn fill(&mut self) -> Result<(), JsonError> {
        if self.at > 0 {
            self.window.copy_within(self.at..self.end, 0);
            self.base += self.at as u64;
            self.end -= self.at;
            self.at = 0;
        }
        if self.end == self.window.len() {
            if self.window.len() >= self.limits.token_bytes {
                return Err(self.too_long());
            }
            let len = (self.window.len() * 2).min(self.limits.token_bytes);
            self.window.resize(len, 0);
        }
        while self.end < self.window.len() {
            let Some(room) = self.window.get_mut(self.end..) else { break };
            match self.stream.read(room) {
                Ok(0) => {
                    self.at_end = true;
                    break;
                }
                Ok(n) => self.end = (self.end + n).min(self.window.len()),
                Err(cause) => return Err(self.error(JsonErrorKind::Read(cause))),
            }
        }
        Ok(())
    }

    /// Whether a row may start here: inside an array, at an element or before its comma.
    pub(super) fn row_state(&self) -> Option<bool> {
        match (self.state, self.open.last()) {
            (State::FirstValue | State::Value, Some(top)) if top.array => Some(false),
            (State::After, Some(top)) if top.array => Some(true),
            _ => None,
        }
    }

    /// Takes `len` bytes as whole elements of the open array, of which `after_comma` come after a
    /// comma that is among the bytes.
    pub(super) fn take_elements(&mut self, len: usize, after_comma: u64) {
        self.at += len;
        if let Some(top) = self.open.last_mut() {
            top.index += after_comma;
        }
        self.state = State::After;
    }
}

/// Length of the front of `bytes` that needs no care in a string: no quote, backslash or control
/// character. Eight bytes at a time.
#[inline]
pub(super) fn plain_len(bytes: &[u8]) -> usize {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let mut at = 0;
    while let Some(chunk) = load(bytes, at) {
        // The lowest marked byte is exact: borrows only reach higher ones.
        let zero = |x: u64| x.wrapping_sub(EACH) & !x & HIGH;
        let quote = zero(chunk ^ (u64::from(b'"') * EACH));
        let slash = zero(chunk ^ (u64::from(b'\\') * EACH));
        let control = chunk.wrapping_sub(0x20 * EACH) & !chunk & HIGH;
        let care = quote | slash | control;
        if care != 0 {
            return at + (care.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|&b| b == b'"' || b == b'\\' || b < 0x20).unwrap_or(rest.len())
}
