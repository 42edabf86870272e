//! Arguments of calls that come in any order: they wait on the disk until their call is fed.

use std::collections::HashMap;
use std::io;

use parallax_base::Issues;
use parallax_formats::archive::ArgumentText;

use crate::events::{Conversion, Spool, TrackBuilder, arguments_cut, arguments_left_out};

/// Bytes of all different names at most.
const NAMES_BYTES: usize = 4 << 20;

/// Arguments by the number that [`Arguments::take`] gives; 0 for none.
pub(super) struct Arguments {
    /// Number of names and values of each call.
    texts: Spool,
    numbers: HashMap<String, u32>,
    names: Vec<String>,
    names_bytes: usize,
    packed: Vec<u8>,
}

impl Arguments {
    pub(super) fn new(conversion: &Conversion) -> Self {
        Self {
            texts: conversion.spool("arguments", 8),
            numbers: HashMap::new(),
            names: Vec::new(),
            names_bytes: 0,
            packed: Vec::new(),
        }
    }

    /// Takes the arguments of an event; gives the number of them.
    pub(super) fn take(
        &mut self,
        text: &ArgumentText,
        nanos: u64,
        issues: &mut Issues,
    ) -> io::Result<u64> {
        if text.len == 0 {
            return Ok(0);
        }
        if text.is_cut {
            arguments_cut(issues, nanos);
        }
        let place = match self.number(&text.names) {
            Some(number) => {
                self.packed.clear();
                self.packed.extend_from_slice(&number.to_be_bytes());
                self.packed.extend_from_slice(text.values.as_bytes());
                self.texts.push(&self.packed)?
            }
            None => None,
        };
        if place.is_none() {
            arguments_left_out(issues, nanos);
        }
        Ok(place.map_or(0, |place| place + 1))
    }

    /// The number of the names; `None` where there are too many.
    fn number(&mut self, names: &str) -> Option<u32> {
        if let Some(&known) = self.numbers.get(names) {
            return Some(known);
        }
        self.names_bytes += 2 * names.len() + 64;
        if self.names_bytes > NAMES_BYTES {
            return None;
        }
        let number = u32::try_from(self.names.len()).ok()?;
        self.names.push(names.to_owned());
        self.numbers.insert(names.to_owned(), number);
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
