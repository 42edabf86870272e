//! What the source recorded with calls: gathered by track while calls are open, written in batches.

use std::collections::HashMap;
use std::sync::Arc;

use parallax_base::{Issues, Place, Severity, Stage};
use parallax_formats::archive::{
    ArchiveWriter, ArgumentNamesRow, ArgumentRow, NONE_32, SpanRow, WriteError,
};

use super::rows::span;

/// The number of the table in [`SpanRow::table`].
const ARGUMENTS: u8 = 4;

/// Rows of a batch, and bytes of their values, at most.
const ROWS: usize = 1 << 13;
const VALUE_BYTES: usize = 1 << 20;

/// Bytes of all different names at most: whoever has more makes them up for each call.
const NAMES_BYTES: usize = 4 << 20;

/// About what arguments take besides their values.
const ROW_BYTES: usize = 64;

/// Arguments of a call that is open.
#[derive(Debug, Clone)]
struct Arguments {
    names: Arc<str>,
    values: String,
}

/// Arguments of a call that has ended.
#[derive(Debug, Clone)]
struct Closed {
    context: u32,
    start_nanos: u64,
    end_nanos: u64,
    arguments: Arguments,
}

/// The arguments of the calls of a track.
#[derive(Debug, Clone, Default)]
pub(super) struct Described {
    /// Those of open calls with their depth, ascending.
    open: Vec<(usize, Arguments)>,
    closed: Vec<Closed>,
    last_names: Option<Arc<str>>,
}

impl Described {
    /// Takes arguments of the call at `depth`, which is the innermost; those that it has already
    /// stay.
    pub(super) fn describe(&mut self, depth: usize, names: &str, values: &str) {
        if let Some((own, known)) = self.open.last_mut()
            && *own == depth
        {
            known.names = format!("{}\n{names}", known.names).into();
            known.values.push('\n');
            known.values.push_str(values);
            return;
        }
        // Most calls of a track have arguments of the same names.
        let names = match &self.last_names {
            Some(last) if **last == *names => Arc::clone(last),
            _ => Arc::clone(self.last_names.insert(names.into())),
        };
        self.open.push((depth, Arguments { names, values: values.to_owned() }));
    }

    /// The innermost call, which is at `depth`, has ended.
    pub(super) fn close(&mut self, depth: usize, context: u32, start_nanos: u64, end_nanos: u64) {
        if self.open.last().is_none_or(|(own, _)| *own != depth) {
            return;
        }
        if let Some((_, arguments)) = self.open.pop() {
            self.closed.push(Closed { context, start_nanos, end_nanos, arguments });
        }
    }
}

/// Arguments of all tracks that wait for their batch, and all names.
#[derive(Debug, Clone, Default)]
pub(super) struct PendingArguments {
    rows: Vec<ArgumentRow>,
    bytes: usize,
    numbers: HashMap<Arc<str>, u32>,
    names: Vec<ArgumentNamesRow>,
    names_bytes: usize,
}

impl PendingArguments {
    /// Takes what a track has; `map` has the archive's contexts of those of the track.
    pub(super) fn take(
        &mut self,
        track: u32,
        described: &mut Described,
        map: &[u32],
        issues: &mut Issues,
    ) {
        for closed in described.closed.drain(..) {
            let Closed { context, start_nanos, end_nanos, arguments } = closed;
            let Some(names) = self.number(&arguments.names) else {
                left_out(issues, start_nanos);
                continue;
            };
            self.bytes += arguments.values.len() + ROW_BYTES;
            self.rows.push(ArgumentRow {
                track,
                context: map.get(context as usize).copied().unwrap_or(0),
                start_nanos,
                end_nanos,
                names,
                values: arguments.values,
            });
        }
    }

    fn number(&mut self, names: &Arc<str>) -> Option<u32> {
        if let Some(&known) = self.numbers.get(names) {
            return Some(known);
        }
        self.names_bytes += names.len() + ROW_BYTES;
        if self.names_bytes > NAMES_BYTES {
            return None;
        }
        let number = u32::try_from(self.names.len()).ok()?;
        self.names.push(ArgumentNamesRow { names: names.to_string() });
        self.numbers.insert(Arc::clone(names), number);
        Some(number)
    }

    /// Writes what fills batches, or everything.
    pub(super) fn write(
        &mut self,
        is_all: bool,
        writer: &mut ArchiveWriter,
        spans: &mut Vec<SpanRow>,
    ) -> Result<(), WriteError> {
        if self.rows.is_empty() || (!is_all && self.rows.len() < ROWS && self.bytes < VALUE_BYTES) {
            return Ok(());
        }
        let mut rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        rows.sort_by_key(|row| (row.track, row.start_nanos, u64::MAX - row.end_nanos));
        let mut rows = rows.into_iter().peekable();
        while rows.peek().is_some() {
            let (mut batch, mut bytes) = (Vec::new(), 0);
            while batch.len() < ROWS
                && bytes < VALUE_BYTES
                && let Some(row) = rows.next()
            {
                bytes += row.values.len();
                batch.push(row);
            }
            let own = batch.first().map_or(NONE_32, |row: &ArgumentRow| row.track);
            let is_of_one = batch.iter().all(|row| row.track == own);
            let of = span(ARGUMENTS, batch.iter().map(|row| row.start_nanos), batch.len());
            spans.push(SpanRow { track: if is_of_one { own } else { NONE_32 }, ..of });
            writer.write(batch)?;
        }
        Ok(())
    }

    /// Writes everything, and the names.
    pub(super) fn finish(
        &mut self,
        writer: &mut ArchiveWriter,
        spans: &mut Vec<SpanRow>,
    ) -> Result<(), WriteError> {
        self.write(true, writer, spans)?;
        writer.write(std::mem::take(&mut self.names))
    }
}

/// Says that the arguments of a call are not kept.
pub(crate) fn left_out(issues: &mut Issues, nanos: u64) {
    let place = Place::Time { nanos };
    issues.report(Severity::Note, Stage::Import, "arguments-left-out", place, || {
        "arguments of calls are omitted: there are too many different names, or they take more \
         memory than there may be"
            .into()
    });
}

/// Says that a value was cut.
pub(crate) fn cut(issues: &mut Issues, nanos: u64) {
    let place = Place::Time { nanos };
    issues.report(Severity::Note, Stage::Import, "arguments-cut", place, || {
        format!(
            "arguments of calls are cut: of each value {} bytes are kept, of each call {} \
             arguments",
            parallax_formats::archive::LONGEST_VALUE,
            parallax_formats::archive::MOST_ARGUMENTS
        )
    });
}
