//! Chimbuko's events: rows of twelve or thirteen numbers.

use parallax_base::casts::position_u32;
use parallax_base::{ByteSource, Issues, Severity};

use super::TraceOptions;
use super::document::{Document, Element, Layout, Metadata};
use super::number;
use super::object::Field;
use super::scan::{self, Kind, Stop, space};
use crate::FormatError;
use crate::json::{JsonLimits, JsonReader, Value};
use crate::stream::ByteStream;

/// One row. A column is `None` where the row has `NaN`, `"NA"` or `null`, and where it holds
/// something else than a whole number (which is reported).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ChimbukoRow {
    /// Offset of the row's first byte in the (decompressed) file.
    pub offset: u64,
    /// Column 0: the program of a workflow.
    pub program: Option<i64>,
    /// Column 1: the rank.
    pub rank: Option<i64>,
    /// Column 2: the thread.
    pub thread: Option<i64>,
    /// Column 3: what the row says; which number says what differs from file to file, see
    /// [`EventCodes`](super::EventCodes). Rows of counters may have none.
    pub code: Option<i64>,
    /// Column 4: which function.
    pub function: Option<i64>,
    /// Column 5: which counter.
    pub counter: Option<i64>,
    /// Column 6: the value of the counter.
    pub counter_value: Option<f64>,
    /// Column 7: what a message says, where column 3 does not.
    pub message_code: Option<i64>,
    /// Column 8: the tag of a message.
    pub tag: Option<i64>,
    /// Column 9: the other rank of a message.
    pub partner: Option<i64>,
    /// Column 10: the length of a message in bytes.
    pub bytes: Option<i64>,
    /// Column 11, microseconds, in nanoseconds.
    pub time_nanos: Option<i64>,
    /// Column 12, where there is one: the number of the row in the stream.
    pub line: Option<i64>,
}

/// Columns that are kept of one row; what has more is no row.
const COLUMNS: usize = 16;

/// Where the columns of a row are.
#[derive(Debug, Clone, Default)]
struct Columns {
    fields: [Field; COLUMNS],
    len: usize,
}

impl Columns {
    /// Reads the array at the front of `bytes`.
    fn read(&mut self, bytes: &[u8]) -> Result<usize, Stop> {
        self.len = 0;
        let mut at = space(bytes, 1);
        loop {
            if bytes.get(at) == Some(&b']') {
                return Ok(at + 1);
            }
            let value = scan::value(bytes, at)?;
            if let Some(field) = self.fields.get_mut(self.len) {
                let (start, stop) = (position_u32(value.start), position_u32(value.stop));
                *field = Field { start, stop, kind: value.kind };
            }
            self.len += 1;
            at = space(bytes, value.end);
            match bytes.get(at) {
                Some(b',') => at = space(bytes, at + 1),
                Some(b']') => return Ok(at + 1),
                Some(_) => return Err(Stop::Bad { at, what: "',' or ']'" }),
                None => return Err(Stop::Cut),
            }
        }
    }
}

/// Reads Chimbuko's rows, from a bare list or from a message `{"type": ..., "value": {"events":
/// [...]}}`.
pub struct ChimbukoReader<'s> {
    document: Document<'s>,
    columns: Columns,
    rows: u64,
}

impl<'s> ChimbukoReader<'s> {
    /// Reads from `stream`, which is not compressed.
    #[must_use]
    pub fn new(stream: impl ByteStream + 's, options: &TraceOptions<'_>) -> Self {
        let layout = Layout {
            format: "Chimbuko event rows",
            list: "events",
            inside: Some("value"),
            open: b'[',
        };
        let document = Document::new(stream, layout, options);
        Self { document, columns: Columns::default(), rows: 0 }
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

    /// The first rows of a file, at most `most`, for [`EventCodes::infer`](super::EventCodes).
    ///
    /// # Errors
    /// As [`ChimbukoReader::next_row`].
    pub fn first_rows(
        source: &dyn ByteSource,
        options: &TraceOptions<'_>,
        most: usize,
    ) -> Result<Vec<ChimbukoRow>, FormatError> {
        let mut reader = ChimbukoReader::open(source, options)?;
        // What is wrong with them is told when they are read in earnest.
        let mut issues = Issues::new();
        let mut rows = Vec::new();
        while rows.len() < most
            && let Some(row) = reader.next_row(&mut issues)?
        {
            rows.push(row);
        }
        Ok(rows)
    }

    /// What the file has besides the rows: `type`, `foi` and `labels` of a message.
    #[must_use]
    pub fn metadata(&self) -> &[Metadata] {
        self.document.metadata()
    }

    /// Bytes of the (decompressed) file that were read.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.document.offset()
    }

    /// Rows given so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The next row; `None` behind the last.
    ///
    /// # Errors
    /// When the file is of another format or nothing of it can be read. Whatever is damaged later
    /// is reported to `issues`.
    #[inline]
    pub fn next_row(&mut self, issues: &mut Issues) -> Result<Option<ChimbukoRow>, FormatError> {
        loop {
            let columns = &mut self.columns;
            let Some(element) = self.document.next(issues, |bytes| columns.read(bytes))? else {
                return Ok(None);
            };
            if matches!(self.columns.len, 12 | 13) {
                self.rows += 1;
                return Ok(Some(self.row(issues, element)));
            }
            if self.columns.len > 0 {
                self.odd(issues, element);
            }
        }
    }

    #[cold]
    fn odd(&self, issues: &mut Issues, element: Element) {
        let len = self.columns.len;
        self.document.report(issues, Severity::Error, "odd-row", element.offset, || {
            format!("a row has {len} columns instead of 12 or 13; it is passed over")
        });
    }

    fn row(&self, issues: &mut Issues, element: Element) -> ChimbukoRow {
        let text = self.document.bytes(element);
        let fields = self.columns.fields.get(..self.columns.len).unwrap_or_default();
        let mut bad = 0_u32;
        let mut present = |column: usize| {
            let field = *fields.get(column)?;
            let content = text.get(field.start as usize..field.stop as usize)?;
            match field.kind {
                Kind::Number => Some(content),
                Kind::Text if matches!(content, b"NA" | b"NaN" | b"nan" | b"") => None,
                Kind::Text => Some(content),
                Kind::Word if !matches!(content, b"true" | b"false") => None,
                _ => {
                    bad |= 1 << column;
                    None
                }
            }
        };
        let contents: [Option<&[u8]>; 13] = std::array::from_fn(&mut present);
        let mut whole = |column: usize| {
            let content = contents.get(column).copied().flatten()?;
            let value = number::integer(content);
            bad |= u32::from(value.is_none()) << column;
            value
        };
        let mut row = ChimbukoRow {
            offset: element.offset,
            program: whole(0),
            rank: whole(1),
            thread: whole(2),
            code: whole(3),
            function: whole(4),
            counter: whole(5),
            counter_value: None,
            message_code: whole(7),
            tag: whole(8),
            partner: whole(9),
            bytes: whole(10),
            time_nanos: None,
            line: whole(12),
        };
        let [_, _, _, _, _, _, value, _, _, _, _, time, _] = contents;
        row.counter_value = value.and_then(number::float).filter(|value| value.is_finite());
        bad |= u32::from(value.is_some() && row.counter_value.is_none()) << 6;
        let nanos = time.and_then(|time| number::scaled(time, 3));
        bad |= u32::from(time.is_some() && nanos.is_none()) << 11;
        row.time_nanos = nanos.map(|nanos| nanos.units);
        let rounded = nanos.is_some_and(|nanos| !nanos.exact);
        if bad != 0 || rounded {
            self.unusual(issues, element.offset, bad, rounded);
        }
        row
    }

    #[cold]
    fn unusual(&self, issues: &mut Issues, offset: u64, bad: u32, rounded: bool) {
        for column in (0..13).filter(|column| bad >> column & 1 == 1) {
            self.document.report(issues, Severity::Warning, "bad-field", offset, || {
                format!("column {column} is not a number of the kind it should be; it is omitted")
            });
        }
        if rounded {
            self.document.report(issues, Severity::Note, "time-rounded", offset, || {
                "times finer than a nanosecond are rounded".into()
            });
        }
    }
}

/// The names of the functions, from the file next to the rows (a list of strings) or from a message
/// `{"type": "functions", "value": [...]}`. `None` where `text` is neither.
#[must_use]
pub fn function_names(text: &[u8]) -> Option<Vec<String>> {
    let value = JsonReader::from_slice(text, JsonLimits::default()).read_value().ok()?;
    strings(&value)
}

/// The numbers of rows in a file of anomalies: a list of whole numbers, alone or as the `value` of a
/// message. `None` where `text` is neither.
#[must_use]
pub fn row_numbers(text: &[u8]) -> Option<Vec<u64>> {
    let value = JsonReader::from_slice(text, JsonLimits::default()).read_value().ok()?;
    list(&value)?.iter().map(Value::as_u64).collect()
}

/// A list of strings, alone or as `value`.
pub(super) fn strings(value: &Value) -> Option<Vec<String>> {
    list(value)?.iter().map(|name| name.as_str().map(str::to_owned)).collect()
}

/// A list, alone or as `value`.
fn list(value: &Value) -> Option<&[Value]> {
    match value {
        Value::Array(items) => Some(items),
        Value::Object(_) => match value.get("value")? {
            Value::Array(items) => Some(items),
            _ => None,
        },
        _ => None,
    }
}
