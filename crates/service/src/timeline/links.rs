//! Messages, counters and markers over time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use parallax_base::{Control, TimeWindow};
use parallax_engine::{Bins, Column, EngineError, Table, TrackRange};
use parallax_model::{LinkKind, Message};

use super::TracksChoice;
use super::picture::{NONE, since};
use crate::{Opened, ServiceError};

/// Which messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinksRequest {
    /// Tracks of which the sender or the receiver is one.
    pub tracks: TracksChoice,
    /// When they are under way.
    pub window: TimeWindow,
    /// Flows instead of messages.
    pub flows: bool,
}

/// Messages, one by one.
#[derive(Debug, Clone)]
pub struct LinksAnswer {
    /// How many there are.
    pub total: u64,
    /// Those that take longest, in order of sending: `sender`, `receiver` (tracks; 4294967295 when
    /// not in the trace), `send_ns`, `receive_ns` (null where not found), `bytes`, `tag`,
    /// `communicator`.
    pub table: Table,
}

/// Numbers over bins of time.
#[derive(Debug, Clone)]
pub struct BinsAnswer {
    /// The bins.
    pub bins: Bins,
    /// The numbers.
    pub table: Table,
}

/// The bin of the value that held before the first bin.
const BEFORE: u32 = u32::MAX;

impl Opened {
    /// Messages that are under way in a window, at most `max_links`: those that take longest.
    ///
    /// # Errors
    /// When there are no events, they cannot be read, or the question is withdrawn.
    pub fn links(
        &self,
        request: &LinksRequest,
        max_links: usize,
        control: &Control,
    ) -> Result<LinksAnswer, ServiceError> {
        let origin = self.session.traces()?.span().start_nanos;
        let mut total = 0_u64;
        // The one that takes least is on top.
        let mut longest: BinaryHeap<(Reverse<u64>, u64)> = BinaryHeap::new();
        let mut kept: Vec<Option<Message>> = Vec::new();
        let mut free: Vec<u64> = Vec::new();
        self.for_each_link(request, control, &mut |message| {
            total += 1;
            let nanos = match message.send_nanos.zip(message.receive_nanos) {
                Some((send, receive)) => receive.abs_diff(send),
                None => 0,
            };
            if longest.len() >= max_links {
                let Some(&(Reverse(shortest), slot)) = longest.peek() else { return };
                if nanos <= shortest {
                    return;
                }
                longest.pop();
                free.push(slot);
            }
            let slot = free.pop().unwrap_or(kept.len() as u64);
            match usize::try_from(slot).ok().and_then(|slot| kept.get_mut(slot)) {
                Some(place) => *place = Some(message),
                None => kept.push(Some(message)),
            }
            longest.push((Reverse(nanos), slot));
        })?;
        let mut rows: Vec<Message> = kept.into_iter().flatten().collect();
        rows.sort_by_key(|m| (m.send_nanos.or(m.receive_nanos), m.sender, m.receiver));
        let at = |nanos: Option<u64>| nanos.map(|nanos| since(nanos, origin));
        let table = Table::new(vec![
            Column::u32s(
                "sender",
                "Row of the sending track.",
                rows.iter().map(|m| m.sender.unwrap_or(NONE)).collect(),
            ),
            Column::u32s(
                "receiver",
                "Row of the receiving track.",
                rows.iter().map(|m| m.receiver.unwrap_or(NONE)).collect(),
            ),
            Column::optional_f64s(
                "send_ns",
                "ns",
                "When it was sent, since the first record.",
                rows.iter().map(|m| at(m.send_nanos)).collect(),
            ),
            Column::optional_f64s(
                "receive_ns",
                "ns",
                "When it was received, since the first record.",
                rows.iter().map(|m| at(m.receive_nanos)).collect(),
            ),
            Column::f64s("bytes", "B", "Size.", rows.iter().map(|m| m.bytes as f64).collect()),
            Column::f64s("tag", "", "Tag.", rows.iter().map(|m| m.tag as f64).collect()),
            Column::u32s(
                "communicator",
                "Communicator.",
                rows.iter().map(|m| m.communicator).collect(),
            ),
        ]);
        Ok(LinksAnswer { total, table })
    }

    /// How many messages were sent when: `messages`, `bytes` for each bin. A message of which only
    /// the receipt is known counts when it was received.
    ///
    /// # Errors
    /// When there are no events, they cannot be read, or the question is withdrawn.
    pub fn link_bins(
        &self,
        request: &LinksRequest,
        max_bins: usize,
        control: &Control,
    ) -> Result<BinsAnswer, ServiceError> {
        let bins = self.bins(request.window, max_bins)?;
        let mut messages = vec![0_u32; bins.len];
        let mut bytes = vec![0.0; bins.len];
        self.for_each_link(request, control, &mut |message| {
            let at = message.send_nanos.or(message.receive_nanos).and_then(|at| bins.of(at));
            let cell = at.and_then(|at| messages.get_mut(at).zip(bytes.get_mut(at)));
            if let Some((count, sum)) = cell {
                *count += 1;
                *sum += message.bytes as f64;
            }
        })?;
        let table = Table::new(vec![
            Column::u32s("messages", "How many were sent.", messages),
            Column::f64s("bytes", "B", "Their sizes together.", bytes),
        ]);
        Ok(BinsAnswer { bins, table })
    }

    fn for_each_link(
        &self,
        request: &LinksRequest,
        control: &Control,
        visit: &mut dyn FnMut(Message),
    ) -> Result<(), ServiceError> {
        let kind = if request.flows { LinkKind::Flow } else { LinkKind::Message };
        let has = |track: Option<u32>| has_track(&request.tracks, track);
        self.events()?
            .messages(request.window, &mut |message| {
                let is_chosen = has(message.sender) || has(message.receiver);
                if message.kind == kind && is_chosen && is_under_way(&message, request.window) {
                    visit(message);
                }
            })
            .map_err(EngineError::from)?;
        control.check().map_err(EngineError::from)?;
        Ok(())
    }

    /// A counter over time. For each chosen track and each bin in which a value came: `track`,
    /// `bin` (4294967295 for the value that held before the first bin), `min`, `max`, `last`.
    ///
    /// # Errors
    /// When there is no such counter, its values cannot be read, or the question is withdrawn.
    pub fn counter_bins(
        &self,
        counter: u32,
        tracks: &TracksChoice,
        window: TimeWindow,
        max_bins: usize,
        control: &Control,
    ) -> Result<BinsAnswer, ServiceError> {
        let events = self.events()?;
        if counter as usize >= events.counters().len() {
            return Err(ServiceError::from(EngineError::Missing {
                what: format!("this trace has no counter {counter}"),
                hint: format!("it has {} counters", events.counters().len()),
            }));
        }
        let bins = self.bins(window, max_bins)?;
        let num = self.session.traces()?.tracks().len();
        let num = u32::try_from(num).unwrap_or(u32::MAX);
        let (mut of_track, mut bin_of) = (Vec::new(), Vec::new());
        let (mut min, mut max, mut last) = (Vec::new(), Vec::new(), Vec::new());
        control.begin(u64::from(num));
        for track in (0..num).filter(|&track| has_track(tracks, Some(track))) {
            control.advance(1).map_err(EngineError::from)?;
            let mut current = None;
            let mut add = |at: u64, value: f64| {
                let bin = bins.of(at).and_then(|bin| u32::try_from(bin).ok());
                // A value before the window holds until the next one comes.
                let bin = bin.unwrap_or(BEFORE);
                if current != Some(bin) {
                    current = Some(bin);
                    of_track.push(track);
                    bin_of.push(bin);
                    min.push(value);
                    max.push(value);
                    last.push(value);
                    return;
                }
                let ends = min.last_mut().zip(max.last_mut()).zip(last.last_mut());
                if let Some(((min, max), last)) = ends {
                    *min = f64::min(*min, value);
                    *max = f64::max(*max, value);
                    *last = value;
                }
            };
            events.values(track, counter, window, &mut add).map_err(EngineError::from)?;
        }
        let table = Table::new(vec![
            Column::u32s("track", "Row of the track.", of_track),
            Column::u32s("bin", "The bin; 4294967295 for before the first.", bin_of),
            Column::f64s("min", "", "Smallest value.", min),
            Column::f64s("max", "", "Largest value.", max),
            Column::f64s("last", "", "Last value.", last),
        ]);
        Ok(BinsAnswer { bins, table })
    }

    /// What happened at moments of a window: how often in all, and the first `max_markers`:
    /// `track`, `name`, `at_ns` since the first record.
    ///
    /// # Errors
    /// When there are no events, or they cannot be read.
    pub fn markers(
        &self,
        window: TimeWindow,
        max_markers: usize,
    ) -> Result<(u64, Table), ServiceError> {
        let origin = self.session.traces()?.span().start_nanos;
        let mut rows = Vec::new();
        let mut total = 0_u64;
        let mut visit = |track: u32, name: &std::sync::Arc<str>, nanos: u64| {
            total += 1;
            rows.push((nanos, track, std::sync::Arc::clone(name)));
            // Twice as many are kept before the later half is dropped.
            if rows.len() >= max_markers.saturating_mul(2).max(1024) {
                rows.sort();
                rows.truncate(max_markers);
            }
        };
        self.events()?.markers(window, &mut visit).map_err(EngineError::from)?;
        rows.sort();
        rows.truncate(max_markers);
        let table = Table::new(vec![
            Column::u32s("track", "Row of the track.", rows.iter().map(|row| row.1).collect()),
            Column::strings("name", "What happened.", rows.iter().map(|row| &row.2)),
            Column::f64s(
                "at_ns",
                "ns",
                "When, since the first record.",
                rows.iter().map(|row| since(row.0, origin)).collect(),
            ),
        ]);
        Ok((total, table))
    }
}

/// Whether a message is on its way at some moment of `window`; where its end is not known, whether
/// its one moment is inside.
fn is_under_way(message: &Message, window: TimeWindow) -> bool {
    let ends = (
        message.send_nanos.or(message.receive_nanos),
        message.receive_nanos.or(message.send_nanos),
    );
    let (Some(a), Some(b)) = ends else { return false };
    a.min(b) < window.end_nanos && a.max(b) >= window.start_nanos
}

/// Whether a choice has a track; one that is not in the trace is only in "all".
pub(crate) fn has_track(choice: &TracksChoice, track: Option<u32>) -> bool {
    let Some(ranges) = choice else { return true };
    track.is_some_and(|track| ranges.iter().any(|range: &TrackRange| range.contains(&track)))
}
