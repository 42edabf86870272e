//! Which kind of JSON trace a file is, from its first bytes.

use super::args::{ArgValue, Args};
use super::names::unescape;
use super::scan::{self, Stop, space};

/// A kind of trace in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JsonTraceFormat {
    /// Chrome trace events, Kineto's included.
    Chrome,
    /// CODAR event JSON.
    Codar,
    /// Chimbuko's rows.
    Chimbuko,
    /// Calls that Chimbuko kept.
    Executions,
}

impl JsonTraceFormat {
    /// Display name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chrome => "Chrome trace events",
            Self::Codar => "CODAR event JSON",
            Self::Chimbuko => "Chimbuko event rows",
            Self::Executions => "Chimbuko executions",
        }
    }
}

/// Most bytes that [`sniff`] looks at.
pub const SNIFF_BYTES: usize = 64 << 10;

/// Events of a list that are examined: some lists begin with empty or odd ones.
const MOST_EVENTS: usize = 64;

/// The kind of trace that begins with `prefix`, the first bytes of the (decompressed) file;
/// `None` for anything else. The name of the file plays no part.
#[must_use]
pub fn sniff(prefix: &[u8]) -> Option<JsonTraceFormat> {
    let prefix = prefix.get(..SNIFF_BYTES).unwrap_or(prefix);
    let body = prefix.strip_prefix(b"\xef\xbb\xbf").unwrap_or(prefix);
    let at = space(body, 0);
    match body.get(at)? {
        b'[' => sniff_list(body, at + 1),
        b'{' => sniff_object(body, at + 1, 1),
        b'"' => sniff_object(body, at, 1).filter(|&format| format == JsonTraceFormat::Codar),
        _ => None,
    }
}

/// The elements of a list.
fn sniff_list(bytes: &[u8], mut at: usize) -> Option<JsonTraceFormat> {
    for _ in 0..MOST_EVENTS {
        at = space(bytes, at);
        if bytes.get(at) == Some(&b',') {
            at = space(bytes, at + 1);
        }
        // The first event may be longer than what there is of the file.
        let (event, end) = match scan::value(bytes, at) {
            Ok(value) => (bytes.get(at..value.end)?, Some(value.end)),
            Err(Stop::Cut) => (bytes.get(at..)?, None),
            Err(Stop::Bad { .. }) => return None,
        };
        match event.first()? {
            b'{' => {
                if let Some(format) = sniff_event(event) {
                    return Some(format);
                }
            }
            b'[' => return is_row(event).then_some(JsonTraceFormat::Chimbuko),
            _ => return None,
        }
        at = end?;
    }
    None
}

fn sniff_event(event: &[u8]) -> Option<JsonTraceFormat> {
    let (mut phase, mut anchored) = (false, false);
    for (name, value) in Args::new(event).entries() {
        match (&*name, value) {
            ("event-type", ArgValue::Text(_)) => return Some(JsonTraceFormat::Codar),
            ("ph", ArgValue::Text([_])) => phase = true,
            ("ts" | "pid" | "tid" | "name", _) => anchored = true,
            _ => {}
        }
    }
    (phase && anchored).then_some(JsonTraceFormat::Chrome)
}

/// Whether an array is a row: who, when, and something that happened, with columns that do not
/// apply left out. A matrix of numbers has none of these gaps.
fn is_row(row: &[u8]) -> bool {
    let mut at = space(row, 1);
    let mut columns: Vec<Option<f64>> = Vec::new();
    while let Ok(value) = scan::value(row, at) {
        let content = row.get(value.start..value.stop).unwrap_or_default();
        if value.kind == scan::Kind::Nested || columns.len() > 13 {
            return false;
        }
        columns.push(super::number::float(content).filter(|value| value.is_finite()));
        at = space(row, value.end);
        if row.get(at) != Some(&b',') {
            break;
        }
        at = space(row, at + 1);
    }
    let whole = |column: usize| {
        let value = columns.get(column).copied().flatten();
        value.is_some_and(|value| value >= 0.0 && value.fract() == 0.0)
    };
    let about = |column: usize| columns.get(column).copied().flatten().is_some();
    row.get(at) == Some(&b']')
        && matches!(columns.len(), 12 | 13)
        && (0..3).all(whole)
        && about(11)
        && [4, 5, 9].into_iter().any(whole)
        && (4..11).any(|column| !about(column))
}

/// Whether the members of an object are calls; there may be none in a window of time.
fn is_executions(bytes: &[u8], at: usize) -> bool {
    let at = space(bytes, at);
    match bytes.get(at) {
        Some(b'}') => true,
        Some(b'"') => {
            let Some((stop, _)) = scan::string_end(bytes, at + 1) else { return false };
            let colon = space(bytes, stop + 1);
            let at = space(bytes, colon + 1);
            if (bytes.get(colon), bytes.get(at)) != (Some(&b':'), Some(&b'{')) {
                return false;
            }
            // The first call may be longer than what there is of the file.
            let call = match scan::value(bytes, at) {
                Ok(value) => bytes.get(at..value.end),
                Err(_) => bytes.get(at..),
            };
            let names = Args::new(call.unwrap_or_default()).entries();
            names.filter(|(name, _)| matches!(&**name, "entry" | "exit")).count() == 2
        }
        _ => false,
    }
}

/// The names of the outermost object, or of `value` in it.
fn sniff_object(bytes: &[u8], mut at: usize, level: usize) -> Option<JsonTraceFormat> {
    let mut kineto = 0;
    loop {
        at = space(bytes, at);
        if bytes.get(at) == Some(&b',') {
            at = space(bytes, at + 1);
        }
        if bytes.get(at) != Some(&b'"') {
            return None;
        }
        let (stop, _) = scan::string_end(bytes, at + 1)?;
        let name = unescape(bytes.get(at + 1..stop)?).0;
        let colon = space(bytes, stop + 1);
        if bytes.get(colon) != Some(&b':') {
            return None;
        }
        at = space(bytes, colon + 1);
        let first = bytes.get(at).copied();
        match (&*name, first, level) {
            ("traceEvents", Some(b'['), 1) => {
                // An empty list is a trace without events; odd ones are for the reader to tell.
                return Some(JsonTraceFormat::Chrome);
            }
            ("trace events", Some(b'['), 1) => return Some(JsonTraceFormat::Codar),
            ("executions", Some(b'{'), 1) => {
                return is_executions(bytes, at + 1).then_some(JsonTraceFormat::Executions);
            }
            ("value", Some(b'{'), 1) => {
                if let Some(format) = sniff_object(bytes, at + 1, 2) {
                    return Some(format);
                }
            }
            ("events", Some(b'['), 2) => {
                let found = sniff_list(bytes, at + 1);
                return found.filter(|&format| format == JsonTraceFormat::Chimbuko);
            }
            ("metadata", Some(b'{'), 1) => {
                let mut names = Args::new(bytes.get(at..)?).entries().take(256);
                if names.any(|(name, _)| matches!(&*name, "clock-period" | "clock-units")) {
                    return Some(JsonTraceFormat::Codar);
                }
            }
            ("schemaVersion" | "deviceProperties" | "distributedInfo", _, 1) => kineto += 1,
            _ => {}
        }
        match scan::value(bytes, at) {
            Ok(value) => at = value.end,
            // Kineto's own values may fill the whole prefix before the events.
            Err(Stop::Cut) => return (kineto >= 2).then_some(JsonTraceFormat::Chrome),
            Err(Stop::Bad { .. }) => return None,
        }
        at = space(bytes, at);
        match bytes.get(at) {
            Some(b',') => {}
            None => return (kineto >= 2).then_some(JsonTraceFormat::Chrome),
            Some(_) => return None,
        }
    }
}
