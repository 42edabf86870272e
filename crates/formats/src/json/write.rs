//! Small JSON values as text.

use std::io::{self, Write};

use super::{Number, Value};

impl Value {
    /// Writes the value with names and elements on lines of their own, `depth` steps to the right.
    /// Numbers that are none are `null`.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn write(&self, depth: usize, out: &mut dyn Write) -> io::Result<()> {
        // Values come from a reader that bounds how deep they are.
        match self {
            Self::Null => write!(out, "null"),
            Self::Bool(value) => write!(out, "{value}"),
            Self::Number(number) => write_number(*number, out),
            Self::String(text) => write_text(text, out),
            Self::Array(items) if items.is_empty() => write!(out, "[]"),
            Self::Object(entries) if entries.is_empty() => write!(out, "{{}}"),
            Self::Array(items) => {
                let mut lead = "[";
                for item in items {
                    write!(out, "{lead}\n{:1$}", "", 2 * (depth + 1))?;
                    item.write(depth + 1, out)?;
                    lead = ",";
                }
                write!(out, "\n{:1$}]", "", 2 * depth)
            }
            Self::Object(entries) => {
                let mut lead = "{";
                for (name, value) in entries {
                    write!(out, "{lead}\n{:1$}", "", 2 * (depth + 1))?;
                    write_text(name, out)?;
                    write!(out, ": ")?;
                    value.write(depth + 1, out)?;
                    lead = ",";
                }
                write!(out, "\n{:1$}}}", "", 2 * depth)
            }
        }
    }
}

fn write_number(number: Number, out: &mut dyn Write) -> io::Result<()> {
    match number {
        Number::Integer(number) => write!(out, "{number}"),
        // Shortest digits that read back to the same number.
        Number::Float(number) if number.is_finite() => write!(out, "{number:?}"),
        Number::Float(_) => write!(out, "null"),
    }
}

fn write_text(text: &str, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "\"")?;
    for c in text.chars() {
        match c {
            '"' => write!(out, "\\\"")?,
            '\\' => write!(out, "\\\\")?,
            '\n' => write!(out, "\\n")?,
            c if u32::from(c) < 0x20 => write!(out, "\\u{:04x}", u32::from(c))?,
            c => write!(out, "{c}")?,
        }
    }
    write!(out, "\"")
}

#[cfg(test)]
mod tests {
    use crate::json::{JsonLimits, JsonReader};

    #[test]
    fn what_is_written_is_read_again() {
        let text =
            r#"{"a": [1, 2.5, -3, 1e300, null, true], "b\"\n\u0001": {}, "c": [], "d": "ü\\"}"#;
        let read =
            |text: &[u8]| JsonReader::from_slice(text, JsonLimits::default()).read_value().unwrap();
        let value = read(text.as_bytes());
        let mut out = Vec::new();
        value.write(0, &mut out).unwrap();
        assert_eq!(read(&out), value);
        let lines = String::from_utf8(out).unwrap();
        assert!(lines.starts_with("{\n  \"a\": [\n    1,\n    2.5,"), "{lines}");
    }
}
