//! Small parts of a JSON text, held whole.

use super::{Event, JsonError, JsonErrorKind, JsonReader, Number};

/// A JSON value in memory: for configurations and short lines, never for data.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Value>),
    /// Names and values in the order of the text, repeated names included.
    Object(Vec<(String, Value)>),
}

impl Value {
    /// The value of `name` in an object. Of repeated names the last counts, as in every common
    /// JSON library.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.entries().iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Names and values of an object; empty for anything else.
    #[must_use]
    pub fn entries(&self) -> &[(String, Self)] {
        match self {
            Self::Object(entries) => entries,
            _ => &[],
        }
    }

    /// Elements of an array; empty for anything else.
    #[must_use]
    pub fn items(&self) -> &[Self] {
        match self {
            Self::Array(items) => items,
            _ => &[],
        }
    }

    /// The text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a number.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(number.as_f64()),
            _ => None,
        }
    }

    /// The value of a whole number that is not negative.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Number(number) => number.as_u64(),
            _ => None,
        }
    }

    /// What it is, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }

    /// A name that an object anywhere inside has more than once.
    #[must_use]
    pub fn repeated_name(&self) -> Option<&str> {
        let mut names: Vec<&str> = self.entries().iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        let twice = names.iter().zip(names.iter().skip(1)).find(|(a, b)| a == b).map(|(a, _)| *a);
        let parts = self.entries().iter().map(|(_, value)| value).chain(self.items());
        twice.or_else(|| parts.into_iter().find_map(Self::repeated_name))
    }
}

impl JsonReader<'_> {
    /// Reads the next value whole, within the limit on values.
    ///
    /// # Errors
    /// As [`JsonReader::next_event`]; also when the value is too large.
    pub fn read_value(&mut self) -> Result<Value, JsonError> {
        let mut budget = self.limits().values;
        match self.value_within(&mut budget)? {
            Some(value) => Ok(value),
            None => Err(self.wrong_type("a value", "the end of a container")),
        }
    }

    /// The next value; `None` where the open container ends. The depth limit bounds the recursion.
    fn value_within(&mut self, budget: &mut usize) -> Result<Option<Value>, JsonError> {
        let Some(left) = budget.checked_sub(1) else {
            let limit = self.limits().values;
            return Err(self.error(JsonErrorKind::TooLarge { what: "values in one part", limit }));
        };
        *budget = left;
        Ok(Some(match self.next_event()? {
            Event::BeginObject => {
                let mut entries = Vec::new();
                while let Some(name) = self.next_key()? {
                    if let Some(value) = self.value_within(budget)? {
                        entries.push((name, value));
                    }
                }
                Value::Object(entries)
            }
            Event::BeginArray => {
                let mut items = Vec::new();
                while let Some(value) = self.value_within(budget)? {
                    items.push(value);
                }
                Value::Array(items)
            }
            Event::String(text) | Event::Key(text) => Value::String(text.to_owned()),
            Event::Number(number) => Value::Number(number),
            Event::Bool(value) => Value::Bool(value),
            Event::Null => Value::Null,
            Event::EndObject | Event::EndArray | Event::End => return Ok(None),
        }))
    }

    /// The next name of the open object; `None` at its end.
    ///
    /// # Errors
    /// As [`JsonReader::next_event`].
    pub fn next_key(&mut self) -> Result<Option<String>, JsonError> {
        match self.next_event()? {
            Event::Key(name) => Ok(Some(name.to_owned())),
            _ => Ok(None),
        }
    }

    /// Passes over the next value.
    ///
    /// # Errors
    /// As [`JsonReader::next_event`].
    pub fn skip_value(&mut self) -> Result<(), JsonError> {
        let depth = self.depth();
        loop {
            let event = self.next_event()?;
            if event == Event::End || !matches!(event, Event::Key(_)) && self.depth() <= depth {
                return Ok(());
            }
        }
    }

    /// Passes over the rest of the container that was open at `depth`, until fewer are open.
    ///
    /// # Errors
    /// As [`JsonReader::next_event`].
    pub fn leave(&mut self, depth: usize) -> Result<(), JsonError> {
        while self.depth() >= depth {
            self.next_event()?;
        }
        Ok(())
    }

    /// An error that the format has another type here.
    #[must_use]
    pub fn wrong_type(&self, expected: &'static str, found: &'static str) -> JsonError {
        self.error(JsonErrorKind::WrongType { expected, found })
    }
}
