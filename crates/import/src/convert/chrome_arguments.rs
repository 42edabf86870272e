//! Arguments of Chrome's events as texts.

use parallax_formats::archive::ArgumentText;
use parallax_formats::json_trace::{ArgValue, Args};

/// What joins a call with the GPU work that it launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Correlation {
    /// The number that both have.
    pub(super) id: i64,
    /// The event ran on a stream; otherwise it is the call.
    pub(super) is_of_stream: bool,
}

/// The arguments of one event.
#[derive(Debug, Default)]
pub(super) struct EventArguments {
    pub(super) text: ArgumentText,
    /// `correlation` and `stream`.
    correlation: Option<i64>,
    stream: Option<i64>,
}

impl EventArguments {
    /// Forgets those before.
    pub(super) fn read(&mut self, args: &Args<'_>) {
        self.text.clear();
        (self.correlation, self.stream) = (None, None);
        for (name, value) in args.entries() {
            match &*name {
                "correlation" => self.correlation = value.as_i64(),
                "stream" => self.stream = value.as_i64(),
                _ => {}
            }
            match value {
                ArgValue::Text(inside) => {
                    self.text.push_escaped(&name, &String::from_utf8_lossy(inside));
                }
                ArgValue::Number(json) | ArgValue::Nested(json) => {
                    self.text.push_json(&name, &String::from_utf8_lossy(json));
                }
                ArgValue::Bool(is_true) => {
                    self.text.push_json(&name, if is_true { "true" } else { "false" });
                }
                ArgValue::Nothing => self.text.push_json(&name, "null"),
            }
        }
    }

    /// The correlation of the event. Writers put 0 where they know none.
    pub(super) fn correlation(&self) -> Option<Correlation> {
        let id = self.correlation.filter(|&id| id != 0)?;
        Some(Correlation { id, is_of_stream: self.stream.is_some() })
    }
}
