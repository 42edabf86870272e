//! Which call of CUDA started which work on a GPU: both have the same `correlationId`.

use std::io;

use parallax_formats::archive::{MessageRow, NONE_32, NONE_64};

use crate::events::{Conversion, ConversionError, Packer, Sorter, Unpacker};

/// Process, number, side, time and track.
const ROW_BYTES: usize = 3 * 8 + 1 + 4;
const CALL: u8 = 0;
const WORK: u8 = 1;

/// A track and a time.
type End = (usize, u64);

/// Calls and work by the number that they have in common, on the disk where they do not fit into
/// memory.
pub(super) struct Launches {
    ends: Sorter<ROW_BYTES>,
}

impl Launches {
    pub(super) fn new(conversion: &Conversion) -> Self {
        Self { ends: conversion.sorter("launches", 8) }
    }

    pub(super) fn call(&mut self, process: i64, id: i64, end: End) -> io::Result<()> {
        self.push(process, id, CALL, end)
    }

    pub(super) fn work(&mut self, process: i64, id: i64, end: End) -> io::Result<()> {
        self.push(process, id, WORK, end)
    }

    fn push(&mut self, process: i64, id: i64, side: u8, (track, nanos): End) -> io::Result<()> {
        let track = u32::try_from(track).unwrap_or(NONE_32);
        self.ends.push(Packer::new().i64(process).i64(id).u8(side).u64(nanos).u32(track).finish())
    }

    /// Writes a flow to each piece of work from the last call before it with its number, or from
    /// the first call. `rows` are the archive's tracks. Calls that start nothing have no flow.
    pub(super) fn write(
        self,
        rows: &[u32],
        conversion: &mut Conversion,
    ) -> Result<(), ConversionError> {
        let row = |track: u32| rows.get(track as usize).copied().unwrap_or(NONE_32);
        let mut ends = self.ends.finish()?;
        let (mut key, mut calls, mut nth) = (None, Vec::new(), 0_i64);
        while let Some(end) = ends.next()? {
            let mut end = Unpacker::new(&end);
            let own = (end.i64(), end.i64());
            let (side, nanos, track) = (end.u8(), end.u64(), end.u32());
            if key != Some(own) {
                calls.clear();
                key = Some(own);
                nth += 1;
            }
            if side == CALL {
                calls.push((nanos, track));
                continue;
            }
            let before = calls.partition_point(|&(start, _)| start <= nanos);
            let Some(&(start, caller)) = calls.get(before.saturating_sub(1)) else { continue };
            conversion.link(MessageRow {
                kind: 1,
                flags: 0,
                sender: row(caller),
                receiver: row(track),
                communicator: 0,
                tag: nth,
                bytes: 0,
                send_nanos: start,
                receive_nanos: nanos,
                posted_nanos: NONE_64,
                completed_nanos: NONE_64,
            })?;
        }
        Ok(())
    }
}
