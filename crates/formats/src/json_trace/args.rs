//! [`Args`]: what an event carries besides its common fields, read on demand.

use std::borrow::Cow;

use super::names::unescape;
use super::number;
use super::scan::{self, Kind, space};

/// The arguments of an event: its JSON object as it stands in the file, read on demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Args<'a> {
    text: &'a [u8],
}

/// One argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgValue<'a> {
    /// A string: the bytes between the quotes, escapes included.
    Text(&'a [u8]),
    /// A number: its digits as they stand.
    Number(&'a [u8]),
    /// `true` or `false`.
    Bool(bool),
    /// `null`, or a word for what is no number.
    Nothing,
    /// An object or array: its JSON text.
    Nested(&'a [u8]),
}

impl<'a> ArgValue<'a> {
    fn of(bytes: &'a [u8], value: scan::Value) -> Self {
        let content = bytes.get(value.start..value.stop).unwrap_or_default();
        match value.kind {
            Kind::Text | Kind::Escaped => Self::Text(content),
            Kind::Number => Self::Number(content),
            Kind::Nested => Self::Nested(content),
            Kind::Word if content == b"true" => Self::Bool(true),
            Kind::Word if content == b"false" => Self::Bool(false),
            Kind::Word => Self::Nothing,
        }
    }

    /// The value as a float, also where a string holds the number.
    #[must_use]
    pub fn as_f64(self) -> Option<f64> {
        match self {
            Self::Text(text) | Self::Number(text) => {
                number::float(text).filter(|value| value.is_finite())
            }
            _ => None,
        }
    }

    /// The value as a whole number, also where a string holds it.
    #[must_use]
    pub fn as_i64(self) -> Option<i64> {
        match self {
            Self::Text(text) | Self::Number(text) => number::integer(text),
            _ => None,
        }
    }

    /// The text of a string, unescaped.
    #[must_use]
    pub fn as_text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(text) => Some(unescape(text).0),
            _ => None,
        }
    }
}

impl<'a> Args<'a> {
    /// The arguments in an object's JSON text.
    #[must_use]
    pub fn new(text: &'a [u8]) -> Self {
        Self { text }
    }

    /// The JSON text; empty where the event has no arguments.
    #[must_use]
    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    /// Names and values in the order of the file.
    #[must_use]
    pub fn entries(&self) -> Entries<'a> {
        let text = self.text;
        let inside = text.first() == Some(&b'{');
        Entries { text, at: 1, done: !inside, damaged: !inside && !text.is_empty() }
    }

    /// The value of `name`; the last one where there are several.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<ArgValue<'a>> {
        self.entries().filter(|(found, _)| found == name).map(|(_, value)| value).last()
    }

    /// The whole number of `name`.
    #[must_use]
    pub fn integer(&self, name: &str) -> Option<i64> {
        self.get(name)?.as_i64()
    }

    /// The number of `name`.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.as_f64()
    }

    /// The string of `name`, unescaped.
    #[must_use]
    pub fn string(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.as_text()
    }
}

/// The arguments of an event one after the other.
#[derive(Debug, Clone)]
pub struct Entries<'a> {
    text: &'a [u8],
    at: usize,
    done: bool,
    damaged: bool,
}

impl Entries<'_> {
    /// Whether the text turned out not to be an object: what follows the last entry is lost.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.damaged
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = (Cow<'a, str>, ArgValue<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let text = self.text;
        // Until an entry is complete.
        (self.done, self.damaged) = (true, true);
        let at = space(text, self.at);
        match text.get(at)? {
            b'}' => {
                self.damaged = false;
                return None;
            }
            b'"' => {}
            _ => return None,
        }
        let (stop, _) = scan::string_end(text, at + 1)?;
        let name = unescape(text.get(at + 1..stop)?).0;
        let colon = space(text, stop + 1);
        if text.get(colon) != Some(&b':') {
            return None;
        }
        let value = scan::value(text, space(text, colon + 1)).ok()?;
        let at = space(text, value.end);
        self.at = match text.get(at)? {
            b',' => at + 1,
            b'}' => at,
            _ => return None,
        };
        (self.done, self.damaged) = (false, false);
        Some((name, ArgValue::of(text, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_when_asked_for() {
        let args = Args::new(
            br#"{ "External id": 41506, "a\u0062":"x\ny", "s": "12" ,"d": [[1,"}"],{}], "n":null,
                 "f": 0.5, "t": true, "s": 7 }"#,
        );
        assert_eq!(args.integer("External id"), Some(41506));
        assert_eq!(args.string("ab").as_deref(), Some("x\ny"));
        assert_eq!(args.integer("s"), Some(7));
        assert_eq!(args.get("d"), Some(ArgValue::Nested(br#"[[1,"}"],{}]"#)));
        assert_eq!(args.number("f"), Some(0.5));
        assert_eq!(
            (args.get("n"), args.get("t")),
            (Some(ArgValue::Nothing), Some(ArgValue::Bool(true)))
        );
        assert_eq!(args.get("missing"), None);
        let mut entries = args.entries();
        assert_eq!(entries.by_ref().count(), 8);
        assert!(!entries.is_damaged());
    }

    #[test]
    fn damaged_arguments_say_so() {
        for text in ["{\"a\" 5}", "[1]", "{\"a\":1 \"b\":2}", "{\"a\":1]", "{\"a\":", "{x}"] {
            let mut entries = Args::new(text.as_bytes()).entries();
            assert!(entries.by_ref().count() < 2, "{text}");
            assert!(entries.is_damaged(), "{text}");
        }
        let mut none = Args::default().entries();
        assert!(none.next().is_none() && !none.is_damaged());
    }
}
