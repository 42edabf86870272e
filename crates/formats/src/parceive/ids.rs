//! Ids of rows: numbers, or text such as `0_2` in databases of 2015.

use std::collections::HashMap;

use crate::sqlite::{Column, Row, Value};

/// The id of a row, or what refers to one, as a number.
pub type Key = u64;

/// Numbers for ids that are text: above all numbers that a database has as ids itself.
#[derive(Debug, Default)]
pub struct Ids {
    by_text: HashMap<Box<str>, Key>,
}

impl Ids {
    /// The first number that stands for text.
    pub const FIRST_TEXT: Key = 1 << 62;

    /// 2^32 − 1: what a writer of 32 bits makes of −1.
    const NO_INSTRUCTION: Key = u32::MAX as Key;

    /// The id in a column. The same text is the same number in all tables; text that is a number is
    /// that number, because old databases keep numbers in columns of text. Null and negative
    /// numbers are no id.
    pub(super) fn key(&mut self, row: &Row<'_>, column: Column) -> Option<Key> {
        match row.get(column) {
            Value::Integer(id) => u64::try_from(id).ok().filter(|&id| id < Self::FIRST_TEXT),
            Value::Null => None,
            _ => self.of_text(&row.text(column)?),
        }
    }

    /// As [`Ids::key`], for what refers to an instruction: 4294967295 means none.
    pub(super) fn instruction(&mut self, row: &Row<'_>, column: Column) -> Option<Key> {
        self.key(row, column).filter(|&key| key != Self::NO_INSTRUCTION)
    }

    fn of_text(&mut self, text: &str) -> Option<Key> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        if let Ok(number) = text.parse::<i64>() {
            return u64::try_from(number).ok().filter(|&id| id < Self::FIRST_TEXT);
        }
        let next = Self::FIRST_TEXT + self.by_text.len() as Key;
        Some(*self.by_text.entry(text.into()).or_insert(next))
    }

    /// How many different texts were met as ids.
    #[must_use]
    pub fn num_texts(&self) -> usize {
        self.by_text.len()
    }
}
