//! Samples of call stacks: how often each call path was met, by thread.

use std::collections::{BTreeMap, HashMap};
use std::io;

use parallax_base::{Issues, Limits, Place, Severity, Stage};
use parallax_formats::archive::NONE_32;

use crate::events::{Conversion, ConversionError, Packer, Sorter, TrackBuilder, Unpacker};

/// Sample, depth, and its track or the function there.
const ROW_BYTES: usize = 8 + 4 + 4;

/// About what a node and a count take.
const NODE_BYTES: u64 = 96;

/// Samples and functions of their stacks, on the disk where they do not fit into memory.
pub(super) struct Samples {
    rows: Sorter<ROW_BYTES>,
}

impl Samples {
    pub(super) fn new(conversion: &Conversion) -> Self {
        Self { rows: conversion.sorter("samples", 8) }
    }

    pub(super) fn sample(&mut self, id: i64, track: usize) -> io::Result<()> {
        let track = u32::try_from(track).unwrap_or(NONE_32);
        self.rows.push(Packer::new().i64(id).u32(0).u32(track).finish())
    }

    /// A function of the stack of a sample; depth 0 is the innermost.
    pub(super) fn frame(&mut self, id: i64, depth: u32, function: u32) -> io::Result<()> {
        let depth = depth.saturating_add(1);
        self.rows.push(Packer::new().i64(id).u32(depth).u32(function).finish())
    }

    /// Whether there are none.
    pub(super) const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Counts call paths; `unknown` is the function of samples without a stack.
    pub(super) fn finish(
        self,
        unknown: u32,
        limits: &Limits,
        issues: &mut Issues,
    ) -> Result<Stacks, ConversionError> {
        let mut stacks = Stacks::default();
        let mut rows = self.rows.finish()?;
        // The sample whose functions come, its track, and the functions, the innermost first.
        let (mut id, mut track, mut path) = (None, None, Vec::new());
        let mut without_thread = 0;
        loop {
            let row = rows.next()?;
            let next = row.as_ref().map(|row| {
                let mut row = Unpacker::new(row);
                (row.i64(), row.u32(), row.u32())
            });
            if id.is_some() && next.map(|(own, ..)| own) != id {
                match track {
                    Some(track) => stacks.add(track, &path, unknown),
                    None => without_thread += 1,
                }
                let held = (stacks.nodes.len() + stacks.counts.len()) as u64 * NODE_BYTES;
                limits.metadata("the call stacks of the samples", held)?;
                (track, path) = (None, Vec::new());
            }
            let Some((own, depth, value)) = next else { break };
            id = Some(own);
            if depth == 0 {
                track = Some(value);
            } else if path.len() < limits.max_depth as usize {
                path.push(value);
            }
        }
        if without_thread > 0 {
            let (severity, kind) = (Severity::Warning, "sample-without-thread");
            let place = Place::Whole;
            issues.report_many(severity, Stage::Import, kind, place, without_thread, || {
                "call stacks are of samples that are missing; they are dropped".to_owned()
            });
        }
        Ok(stacks)
    }
}

/// Call paths and how many samples each has.
#[derive(Default)]
pub(super) struct Stacks {
    /// The node above, counted from 1, and the function.
    nodes: Vec<(u32, u32)>,
    children: HashMap<(u32, u32), u32>,
    /// By track and node.
    counts: BTreeMap<(u32, u32), u64>,
}

impl Stacks {
    fn add(&mut self, track: u32, path: &[u32], unknown: u32) {
        let mut node = 0;
        let functions = if path.is_empty() { std::slice::from_ref(&unknown) } else { path };
        for &function in functions.iter().rev() {
            let next = u32::try_from(self.nodes.len() + 1).unwrap_or(NONE_32);
            let child = *self.children.entry((node, function)).or_insert(next);
            if child == next {
                self.nodes.push((node, function));
            }
            node = child;
        }
        *self.counts.entry((track, node)).or_default() += 1;
    }

    /// Says that samples are counted; gives the number of their counter, where there are any.
    pub(super) fn tell(&self, conversion: &mut Conversion) -> Option<u32> {
        (!self.counts.is_empty()).then(|| conversion.counted("SAMPLES"))
    }

    /// Tells a track how often each of its call paths was met; `frame` is above all of them.
    pub(super) fn count(
        &self,
        track: usize,
        counter: Option<u32>,
        frame: Option<u32>,
        builder: &mut TrackBuilder,
    ) {
        let (Some(counter), Ok(track)) = (counter, u32::try_from(track)) else { return };
        for (&(_, node), &count) in self.counts.range((track, 0)..=(track, NONE_32)) {
            let (mut path, mut at) = (Vec::new(), node);
            while let Some(&(above, function)) =
                at.checked_sub(1).and_then(|at| self.nodes.get(at as usize))
            {
                path.push(function);
                at = above;
            }
            path.extend(frame);
            path.reverse();
            builder.count(&path, counter, count);
        }
    }
}
