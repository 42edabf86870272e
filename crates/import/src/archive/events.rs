//! The messages, collective operations, counters and markers of an archive as an [`EventStore`].

use std::collections::HashMap;
use std::sync::Arc;

use parallax_base::{TimeWindow, TrackIdx};
use parallax_formats::FormatError;
use parallax_formats::archive::{
    Archive, ArgumentRow, CollectiveRow, MarkerRow, MessageRow, NONE_32, NONE_64, Record, SpanRow,
    arguments,
};
use parallax_model::{
    Call, CollectiveOperation, CollectivePart, Counter, EventStore, LinkKind, Message,
    RecordCounts, StoreError,
};

use super::order::Order;
use crate::events::{NO_RECEIVE, NO_SEND, OTHER_SIZE};

/// Numbers of tables in [`SpanRow::table`].
const MESSAGES: u8 = 0;
const VALUES: u8 = 2;
const ARGUMENTS: u8 = 4;

/// Columns of the table of arguments.
const ARGUMENT_TRACK: usize = 0;
const ARGUMENT_CONTEXT: usize = 1;
const ARGUMENT_START: usize = 2;
const ARGUMENT_END: usize = 3;
const ARGUMENT_NAMES: usize = 4;
const ARGUMENT_VALUES: usize = 5;

pub(super) struct Events {
    archive: Arc<Archive>,
    order: Arc<Order>,
    records: Vec<RecordCounts>,
    counters: Vec<Counter>,
    names: Vec<Arc<str>>,
    /// Batches of values by track and counter, and the rows of the spans that describe them.
    values: HashMap<(u32, u32), Vec<(usize, usize)>>,
}

fn failed(error: &FormatError) -> StoreError {
    StoreError::Read(error.to_string())
}

impl Events {
    pub(super) fn new(archive: Arc<Archive>, order: Arc<Order>) -> Self {
        let records = order.ordered(&archive.tracks).map(|row| RecordCounts {
            enters: row.enters,
            leaves: row.leaves,
            sends: row.sends,
            receives: row.receives,
            metrics: row.metrics,
            others: row.others,
            declared: some_64(row.declared),
        });
        let counters = archive
            .counters
            .iter()
            .map(|row| Counter { name: row.name.as_str().into(), unit: row.unit.as_str().into() });
        let spans = archive.spans.iter().enumerate().filter(|(_, span)| span.table == VALUES);
        let mut values: HashMap<(u32, u32), Vec<(usize, usize)>> = HashMap::new();
        for (index, (row, span)) in spans.enumerate() {
            values.entry((order.track(span.track), span.counter)).or_default().push((index, row));
        }
        Self {
            values,
            records: records.collect(),
            counters: counters.collect(),
            names: archive.functions.iter().map(|row| row.name.as_str().into()).collect(),
            archive,
            order,
        }
    }

    /// Number and span of the batches of a table that reach into `window`.
    fn batches(&self, table: u8, window: TimeWindow) -> impl Iterator<Item = (usize, &SpanRow)> {
        let rows = self.archive.spans.iter().filter(move |span| span.table == table);
        rows.enumerate().filter(move |(_, span)| {
            span.to_nanos >= window.start_nanos && span.from_nanos < window.end_nanos
        })
    }
}

fn some_32(value: u32) -> Option<u32> {
    (value != NONE_32).then_some(value)
}

fn some_64(value: u64) -> Option<u64> {
    (value != NONE_64).then_some(value)
}

fn message(row: &MessageRow, order: &Order) -> Message {
    let has = |flag: u8| row.flags & flag != 0;
    Message {
        kind: match row.kind {
            0 => LinkKind::Message,
            2 => LinkKind::Transfer,
            _ => LinkKind::Flow,
        },
        sender: some_32(order.track(row.sender)).map(TrackIdx::new),
        receiver: some_32(order.track(row.receiver)).map(TrackIdx::new),
        send_nanos: (!has(NO_SEND)).then_some(row.send_nanos),
        receive_nanos: (!has(NO_RECEIVE)).then_some(row.receive_nanos),
        communicator: row.communicator,
        tag: row.tag,
        bytes: row.bytes,
        posted_nanos: some_64(row.posted_nanos),
        completed_nanos: some_64(row.completed_nanos),
        is_doubtful: has(OTHER_SIZE),
    }
}

impl EventStore for Events {
    fn records(&self) -> &[RecordCounts] {
        &self.records
    }

    fn counters(&self) -> &[Counter] {
        &self.counters
    }

    fn has_links(&self) -> bool {
        self.archive.spans.iter().any(|span| span.table == MESSAGES)
    }

    fn messages(
        &self,
        window: TimeWindow,
        visit: &mut dyn FnMut(Message),
    ) -> Result<(), StoreError> {
        for (index, _) in self.batches(MESSAGES, window) {
            for row in self.archive.messages(index).map_err(|e| failed(&e))? {
                let from = row.send_nanos.min(row.receive_nanos);
                let to = row.send_nanos.max(row.receive_nanos);
                if from < window.end_nanos && to >= window.start_nanos {
                    visit(message(&row, &self.order));
                }
            }
        }
        Ok(())
    }

    fn file_of(&self, message: &Message) -> Option<&Arc<str>> {
        let is_transfer = message.kind == LinkKind::Transfer;
        let row = is_transfer.then(|| usize::try_from(message.tag).ok()).flatten()?;
        self.names.get(row)
    }

    fn collectives(
        &self,
        window: TimeWindow,
        visit: &mut dyn FnMut(CollectivePart),
    ) -> Result<(), StoreError> {
        for (index, _) in self.batches(1, window) {
            for row in
                CollectiveRow::rows(&self.archive.collectives(index).map_err(|e| failed(&e))?)
            {
                if row.start_nanos < window.end_nanos && row.end_nanos >= window.start_nanos {
                    visit(CollectivePart {
                        track: TrackIdx::new(self.order.track(row.track)),
                        operation: operation_of(row.operation),
                        communicator: row.communicator,
                        root: some_64(row.root),
                        sent: row.sent,
                        received: row.received,
                        start_nanos: row.start_nanos,
                        end_nanos: row.end_nanos,
                    });
                }
            }
        }
        Ok(())
    }

    fn values(
        &self,
        track: TrackIdx,
        counter: u32,
        window: TimeWindow,
        visit: &mut dyn FnMut(u64, f64),
    ) -> Result<(), StoreError> {
        // Batches of one counter come in order of time; the last value before the window counts.
        let mut before = None;
        let own = self.values.get(&(track.get(), counter)).map(Vec::as_slice).unwrap_or_default();
        for &(index, row) in own {
            let Some(span) = self.archive.spans.get(row) else { continue };
            if span.from_nanos >= window.end_nanos {
                continue;
            }
            let is_before = span.to_nanos < window.start_nanos;
            let rows = self.archive.values(index).map_err(|e| failed(&e))?;
            if is_before {
                before = rows.u64s(2).zip(rows.f64s(3)).next_back();
                continue;
            }
            for (nanos, value) in rows.u64s(2).zip(rows.f64s(3)) {
                if nanos < window.start_nanos {
                    before = Some((nanos, value));
                } else if nanos < window.end_nanos {
                    if let Some((nanos, value)) = before.take() {
                        visit(nanos, value);
                    }
                    visit(nanos, value);
                }
            }
        }
        if let Some((nanos, value)) = before {
            visit(nanos, value);
        }
        Ok(())
    }

    fn markers(
        &self,
        window: TimeWindow,
        visit: &mut dyn FnMut(TrackIdx, &Arc<str>, u64),
    ) -> Result<(), StoreError> {
        for (index, _) in self.batches(3, window) {
            for row in MarkerRow::rows(&self.archive.markers(index).map_err(|e| failed(&e))?) {
                let is_inside = window.start_nanos <= row.nanos && row.nanos < window.end_nanos;
                if is_inside && let Some(name) = self.names.get(row.name as usize) {
                    visit(TrackIdx::new(self.order.track(row.track)), name, row.nanos);
                }
            }
        }
        Ok(())
    }

    fn arguments(
        &self,
        track: TrackIdx,
        call: &Call,
        visit: &mut dyn FnMut(&str, &str),
    ) -> Result<(), StoreError> {
        let own = self.order.row(track);
        let at = TimeWindow::new(call.start_nanos, call.start_nanos.saturating_add(1));
        for (index, span) in self.batches(ARGUMENTS, at) {
            if span.track != NONE_32 && span.track != own {
                continue;
            }
            let Some(rows) = self.archive.arguments(index).map_err(|e| failed(&e))? else {
                return Ok(());
            };
            let times = rows.u64s(ARGUMENT_START).zip(rows.u64s(ARGUMENT_END));
            let calls = rows.u32s(ARGUMENT_TRACK).zip(rows.u32s(ARGUMENT_CONTEXT)).zip(times);
            let wanted = ((own, call.context), (call.start_nanos, call.end_nanos));
            let Some(row) = calls.into_iter().position(|one| one == wanted) else { continue };
            let names = self.archive.argument_names.get(rows.u32_at(ARGUMENT_NAMES, row) as usize);
            let values = rows.texts(ARGUMENT_VALUES).nth(row);
            if let (Some(names), Some(values)) = (names, values) {
                for (name, value) in arguments(&names.names, values) {
                    visit(name, &value);
                }
            }
            return Ok(());
        }
        Ok(())
    }

    fn described(
        &self,
        name: &str,
        value: &str,
        visit: &mut dyn FnMut(TrackIdx, Call),
    ) -> Result<(), StoreError> {
        let names = self.archive.argument_names.iter();
        let has_name: Vec<bool> =
            names.map(|row| row.names.split('\n').any(|one| one == name)).collect();
        if !has_name.contains(&true) {
            return Ok(());
        }
        for (index, _) in self.batches(ARGUMENTS, TimeWindow::ALL) {
            let Some(rows) = self.archive.arguments(index).map_err(|e| failed(&e))? else {
                return Ok(());
            };
            for row in ArgumentRow::rows(&rows) {
                let number = row.names as usize;
                let names = self.archive.argument_names.get(number);
                let Some(names) = names.filter(|_| has_name.get(number) == Some(&true)) else {
                    continue;
                };
                let mut pairs = arguments(&names.names, &row.values);
                if pairs.any(|(own, said)| own == name && said == value) {
                    let track = TrackIdx::new(self.order.track(row.track));
                    let ArgumentRow { context, start_nanos, end_nanos, .. } = row;
                    visit(track, Call { context, start_nanos, end_nanos });
                }
            }
        }
        Ok(())
    }
}

/// The operation of a number in an archive, which counts as `OTF2_CollectiveOp` does.
const fn operation_of(code: u8) -> CollectiveOperation {
    match code {
        0 => CollectiveOperation::Barrier,
        1 => CollectiveOperation::Bcast,
        2 => CollectiveOperation::Gather,
        3 => CollectiveOperation::Gatherv,
        4 => CollectiveOperation::Scatter,
        5 => CollectiveOperation::Scatterv,
        6 => CollectiveOperation::Allgather,
        7 => CollectiveOperation::Allgatherv,
        8 => CollectiveOperation::Alltoall,
        9 => CollectiveOperation::Alltoallv,
        10 => CollectiveOperation::Alltoallw,
        11 => CollectiveOperation::Allreduce,
        12 => CollectiveOperation::Reduce,
        13 => CollectiveOperation::ReduceScatter,
        14 => CollectiveOperation::Scan,
        15 => CollectiveOperation::Exscan,
        16 => CollectiveOperation::ReduceScatterBlock,
        u8::MAX => CollectiveOperation::Unknown,
        other => CollectiveOperation::Other(other),
    }
}
