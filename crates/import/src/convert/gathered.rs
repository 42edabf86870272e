//! Events that come in any order: sorted by track and time, on the disk where they do not fit into
//! memory, and laid on lanes while they are fed.

use std::io;

use parallax_base::{Issues, Place, Severity, Stage};
use parallax_formats::archive::NONE_32;
use parallax_model::RecordCounts;

use super::arguments::Arguments;
use super::lanes::{Complete, Lanes};
use crate::events::{
    Conversion, ConversionError, Packer, Sorted, Sorter, TrackIdentity, TrackKind, Unpacker,
};

/// Events after which what is complete is written.
const COMMIT_EVENTS: u64 = 1 << 16;

/// Track, start, end (backwards, as longer ones come first), place in the file, function and
/// arguments.
const CALL_BYTES: usize = 2 * 4 + 4 * 8;
/// Track, time, place in the file, counter and value.
const VALUE_BYTES: usize = 2 * 4 + 3 * 8;
/// Track, time and name.
const MARKER_BYTES: usize = 2 * 4 + 8;

/// What was gathered of a track. Functions have numbers of the gathering.
#[derive(Default)]
pub(super) struct Gathered {
    /// Calls that have begun and not ended.
    pub(super) open: Vec<Begun>,
    pub(super) counts: RecordCounts,
    /// Start of the first call, where that is wanted.
    pub(super) first_nanos: Option<u64>,
    /// Time of the record before.
    pub(super) last_nanos: u64,
    /// Latest end of all calls.
    pub(super) end_nanos: u64,
}

/// A call or operation of which only the begin is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Begun {
    pub(super) start_nanos: u64,
    pub(super) function: u32,
    pub(super) arguments: u64,
}

impl Begun {
    /// The whole, with what the record of its end says where that of the begin says nothing.
    pub(super) fn ended(self, nanos: u64, arguments: u64) -> Complete {
        let Self { start_nanos, function, arguments: own } = self;
        let arguments = if own == 0 { arguments } else { own };
        Complete { start_nanos, end_nanos: nanos.max(start_nanos), function, arguments }
    }
}

/// Events by track and time.
pub(super) struct Events {
    pub(super) arguments: Arguments,
    calls: Sorter<CALL_BYTES>,
    values: Sorter<VALUE_BYTES>,
    markers: Sorter<MARKER_BYTES>,
    number: u64,
}

impl Events {
    pub(super) fn new(conversion: &Conversion) -> Self {
        Self {
            arguments: Arguments::new(conversion),
            calls: conversion.sorter("calls", 4),
            values: conversion.sorter("values", 16),
            markers: conversion.sorter("markers", 16),
            number: 0,
        }
    }

    pub(super) fn call(&mut self, track: usize, call: Complete) -> io::Result<()> {
        self.number += 1;
        self.push(track, self.number, call)
    }

    /// As [`Events::call`], of a call that encloses all that begin and end with it.
    pub(super) fn frame(&mut self, track: usize, call: Complete) -> io::Result<()> {
        self.push(track, 0, call)
    }

    fn push(&mut self, track: usize, number: u64, call: Complete) -> io::Result<()> {
        let row = Packer::new().u32(row_of(track)).u64(call.start_nanos);
        let row = row.u64(u64::MAX - call.end_nanos).u64(number).u32(call.function);
        self.calls.push(row.u64(call.arguments).finish())
    }

    pub(super) fn value(
        &mut self,
        track: usize,
        nanos: u64,
        counter: u32,
        value: f64,
    ) -> io::Result<()> {
        self.number += 1;
        let row = Packer::new().u32(row_of(track)).u64(nanos).u64(self.number);
        self.values.push(row.u32(counter).u64(value.to_bits()).finish())
    }

    pub(super) fn marker(&mut self, track: usize, nanos: u64, name: u32) -> io::Result<()> {
        self.markers.push(Packer::new().u32(row_of(track)).u64(nanos).u32(name).finish())
    }

    /// What never ends ends with the last event of its track.
    pub(super) fn close_open(
        &mut self,
        number: usize,
        track: &mut Gathered,
        issues: &mut Issues,
    ) -> io::Result<()> {
        let last = track.end_nanos.max(track.last_nanos);
        for begun in std::mem::take(&mut track.open) {
            let place = Place::Time { nanos: begun.start_nanos };
            issues.report(Severity::Warning, Stage::Import, "open-at-end", place, || {
                "a function never ends; it ends with the last event of its thread".into()
            });
            self.call(number, begun.ended(last, 0))?;
        }
        Ok(())
    }

    /// All events in order; `functions` and `counters` are the archive's numbers of those that were
    /// gathered, and `None` where these are the archive's.
    pub(super) fn finish(self, functions: Option<Vec<u32>>, counters: Vec<u32>) -> io::Result<Fed> {
        Ok(Fed {
            functions,
            counters,
            arguments: self.arguments,
            calls: Cursor::new(self.calls)?,
            values: Cursor::new(self.values)?,
            markers: Cursor::new(self.markers)?,
        })
    }
}

fn row_of(track: usize) -> u32 {
    u32::try_from(track).unwrap_or(NONE_32)
}

/// Rows of a sorter, of which those of one track are taken after those of the one before.
struct Cursor<const N: usize> {
    sorted: Sorted<N>,
    next: Option<[u8; N]>,
}

impl<const N: usize> Cursor<N> {
    fn new(sorter: Sorter<N>) -> io::Result<Self> {
        let mut sorted = sorter.finish()?;
        let next = sorted.next()?;
        Ok(Self { sorted, next })
    }

    /// The next row of a track.
    fn of(&mut self, track: usize) -> io::Result<Option<[u8; N]>> {
        let row = self.next.filter(|row| Unpacker::new(row).u32() == row_of(track));
        if row.is_some() {
            self.next = self.sorted.next()?;
        }
        Ok(row)
    }
}

/// What was gathered, in order, and the archive's numbers of it.
pub(super) struct Fed {
    functions: Option<Vec<u32>>,
    counters: Vec<u32>,
    pub(super) arguments: Arguments,
    calls: Cursor<CALL_BYTES>,
    values: Cursor<VALUE_BYTES>,
    markers: Cursor<MARKER_BYTES>,
}

impl Fed {
    /// The call with the archive's number of its function.
    pub(super) fn named(&self, call: Complete) -> Complete {
        Complete { function: named(self.functions.as_deref(), call.function), ..call }
    }

    /// Adds a track, and feeds it and those that hold what overlaps in it; returns its row.
    pub(super) fn track(
        &mut self,
        number: usize,
        counts: RecordCounts,
        identity: &TrackIdentity,
        conversion: &mut Conversion,
    ) -> Result<u32, ConversionError> {
        let row = conversion.track(identity.clone());
        self.feed(number, row, counts, identity, conversion)?;
        Ok(row)
    }

    /// As [`Fed::track`], of a track that was added.
    pub(super) fn feed(
        &mut self,
        number: usize,
        row: u32,
        counts: RecordCounts,
        identity: &TrackIdentity,
        conversion: &mut Conversion,
    ) -> Result<(), ConversionError> {
        if let Some(builder) = conversion.builder(row) {
            *builder.counts_mut() = counts;
        }
        // Counters and markers do not nest in calls; order among them is by time.
        let mut taken = 0_u64;
        while let Some(value) = self.values.of(number)? {
            let mut value = Unpacker::new(&value);
            let (_, nanos, _) = (value.u32(), value.u64(), value.u64());
            let counter = self.counters.get(value.u32() as usize).copied().unwrap_or(0);
            if let Some(builder) = conversion.builder(row) {
                builder.value_at(nanos, counter, f64::from_bits(value.u64()));
            }
            taken += 1;
            if taken.is_multiple_of(COMMIT_EVENTS) {
                conversion.commit()?;
            }
        }
        while let Some(marker) = self.markers.of(number)? {
            let mut marker = Unpacker::new(&marker);
            let (_, nanos) = (marker.u32(), marker.u64());
            let name = named(self.functions.as_deref(), marker.u32());
            if let Some(builder) = conversion.builder(row) {
                builder.marker_at(nanos, name);
            }
            taken += 1;
            if taken.is_multiple_of(COMMIT_EVENTS) {
                conversion.commit()?;
            }
        }
        let (calls, functions) = (&mut self.calls, self.functions.as_deref());
        let mut calls = std::iter::from_fn(|| {
            let call = calls.of(number).transpose()?;
            Some(call.map(|call| {
                let mut call = Unpacker::new(&call);
                let (_, start_nanos) = (call.u32(), call.u64());
                let end_nanos = u64::MAX - call.u64();
                let _ = call.u64();
                let function = named(functions, call.u32());
                Complete { start_nanos, end_nanos, function, arguments: call.u64() }
            }))
        });
        feed_lanes(row, identity, &mut calls, &mut self.arguments, conversion)
    }
}

/// The archive's number of a function.
fn named(functions: Option<&[u32]>, number: u32) -> u32 {
    match functions {
        Some(functions) => functions.get(number as usize).copied().unwrap_or(0),
        None => number,
    }
}

/// Feeds the calls of a track; what overlaps goes to tracks of its own.
pub(super) fn feed_lanes(
    row: u32,
    identity: &TrackIdentity,
    calls: &mut dyn Iterator<Item = io::Result<Complete>>,
    arguments: &mut Arguments,
    conversion: &mut Conversion,
) -> Result<(), ConversionError> {
    let (mut lanes, mut rows) = (Lanes::default(), vec![row]);
    let (mut taken, mut moved) = (0_u64, 0);
    for call in calls {
        let call = call?;
        let lane = lanes.place(call);
        if lane >= rows.len() {
            rows.push(conversion.track(TrackIdentity {
                name: format!("{} (overlap {lane})", identity.name),
                kind: TrackKind::Overlap,
                ..identity.clone()
            }));
        }
        moved += u64::from(lane > 0);
        let own = rows.get(lane).copied().unwrap_or(row);
        if let Some(builder) = conversion.builder(own) {
            lanes.feed(lane, call, builder);
            arguments.describe(call.arguments, builder)?;
        }
        taken += 1;
        if taken.is_multiple_of(COMMIT_EVENTS) {
            conversion.commit()?;
        }
    }
    for (lane, row) in rows.into_iter().enumerate() {
        if let Some(builder) = conversion.builder(row) {
            lanes.finish(lane, builder);
        }
        conversion.end_track(row)?;
    }
    if moved > 0 {
        let name = &identity.name;
        let place = Place::File { file: name.clone() };
        let message =
            || format!("events of {name} overlap without nesting; they have tracks of their own");
        let severity = Severity::Note;
        conversion.issues.report_many(severity, Stage::Import, "overlap", place, moved, message);
    }
    Ok(())
}
