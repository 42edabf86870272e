//! Arguments of Chrome's events: they wait on the disk until their call is fed.

use std::collections::HashMap;
use std::io;

use parallax_base::Issues;
use parallax_formats::archive::ArgumentText;
use parallax_formats::json_trace::{ArgValue, Args};

use crate::events::{Conversion, Spool, TrackBuilder, arguments_cut, arguments_left_out};

/// Bytes of all different names at most.
const NAMES_BYTES: usize = 4 << 20;

/// What joins a call with the GPU work that it launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Correlation {
    /// The number that both have.
    pub(super) id: i64,
    /// The event ran on a stream; otherwise it is the call.
    pub(super) is_of_stream: bool,
}

/// Arguments by the number that [`Arguments::take`] gives; 0 for none.
pub(super) struct Arguments {
    /// Number of names and values of each call.
    texts: Spool,
    numbers: HashMap<String, u32>,
    names: Vec<String>,
    names_bytes: usize,
    text: ArgumentText,
    packed: Vec<u8>,
    /// `correlation` and `stream` of the event that was taken last.
    correlation: Option<i64>,
    stream: Option<i64>,
}

impl Arguments {
    pub(super) fn new(conversion: &Conversion) -> Self {
        Self {
            texts: conversion.spool("arguments", 8),
            numbers: HashMap::new(),
            names: Vec::new(),
            names_bytes: 0,
            text: ArgumentText::default(),
            packed: Vec::new(),
            correlation: None,
            stream: None,
        }
    }

    /// Takes the arguments of an event; gives the number of them.
    pub(super) fn take(
        &mut self,
        args: &Args<'_>,
        nanos: u64,
        issues: &mut Issues,
    ) -> io::Result<u64> {
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
        if self.text.len == 0 {
            return Ok(0);
        }
        if self.text.is_cut {
            arguments_cut(issues, nanos);
        }
        let place = match self.number() {
            Some(number) => {
                self.packed.clear();
                self.packed.extend_from_slice(&number.to_be_bytes());
                self.packed.extend_from_slice(self.text.values.as_bytes());
                self.texts.push(&self.packed)?
            }
            None => None,
        };
        if place.is_none() {
            arguments_left_out(issues, nanos);
        }
        Ok(place.map_or(0, |place| place + 1))
    }

    /// The correlation of the event that was taken last. Writers put 0 where they know none.
    pub(super) fn correlation(&self) -> Option<Correlation> {
        let id = self.correlation.filter(|&id| id != 0)?;
        Some(Correlation { id, is_of_stream: self.stream.is_some() })
    }

    /// The number of the names; `None` where there are too many.
    fn number(&mut self) -> Option<u32> {
        if let Some(&known) = self.numbers.get(&self.text.names) {
            return Some(known);
        }
        self.names_bytes += 2 * self.text.names.len() + 64;
        if self.names_bytes > NAMES_BYTES {
            return None;
        }
        let number = u32::try_from(self.names.len()).ok()?;
        self.names.push(self.text.names.clone());
        self.numbers.insert(self.text.names.clone(), number);
        Some(number)
    }

    /// Tells the track the arguments of the call that was entered last.
    pub(super) fn describe(&mut self, taken: u64, builder: &mut TrackBuilder) -> io::Result<()> {
        let Some(place) = taken.checked_sub(1) else { return Ok(()) };
        let packed = self.texts.get(place)?;
        let Some((number, values)) = packed.split_first_chunk::<4>() else { return Ok(()) };
        let names = self.names.get(u32::from_be_bytes(*number) as usize);
        if let (Some(names), Ok(values)) = (names, std::str::from_utf8(values)) {
            builder.describe(names, values);
        }
        Ok(())
    }
}
