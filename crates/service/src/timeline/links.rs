//! Messages, counters and markers over time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use parallax_base::{Control, TimeWindow, TrackIdx};
use parallax_engine::{EngineError, TrackRange};
use parallax_model::{LinkKind, Message};
use parallax_protocol::{
    Answer, CounterBinsRequest, CounterBinsTables, CounterValueTable, LinkBinTable,
    LinkBinsRequest, LinkBinsTables, LinkRow, LinksRequest, LinksTables, MarkerRow, MarkersRequest,
    MarkersTables, TotalReply,
};

use super::picture::{NONE, since};
use super::{TracksChoice, most, tracks_of};
use crate::{Answers, OpenExperiment, ServiceError};

/// Which messages.
struct Links {
    tracks: TracksChoice,
    window: TimeWindow,
    kind: LinkKind,
}

/// The bin of the value that held before the first bin.
const BEFORE: u32 = u32::MAX;

impl Answers<LinksRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &LinksRequest,
        control: &Control,
    ) -> Result<Answer<LinksRequest>, ServiceError> {
        let links = Links {
            tracks: tracks_of(request.tracks.as_deref()),
            window: self.since_first(request.from_ns, request.to_ns)?,
            kind: if request.flows { LinkKind::Flow } else { LinkKind::Message },
        };
        let max_links = most(request.max_links);
        let origin = self.session.traces()?.span().start_nanos;
        let mut total = 0_u64;
        // The one that takes least is on top.
        let mut longest: BinaryHeap<(Reverse<u64>, u64)> = BinaryHeap::new();
        let mut kept: Vec<Option<Message>> = Vec::new();
        let mut free: Vec<u64> = Vec::new();
        self.for_each_link(&links, control, &mut |message| {
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
        let row = |message: &Message| LinkRow {
            sender: message.sender.map_or(NONE, TrackIdx::get),
            receiver: message.receiver.map_or(NONE, TrackIdx::get),
            send_ns: at(message.send_nanos),
            receive_ns: at(message.receive_nanos),
            bytes: message.bytes as f64,
            tag: message.tag as f64,
            communicator: message.communicator,
        };
        let links = rows.iter().map(row).collect();
        Ok(Answer::new(TotalReply { total }, LinksTables { links }))
    }
}

impl Answers<LinkBinsRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &LinkBinsRequest,
        control: &Control,
    ) -> Result<Answer<LinkBinsRequest>, ServiceError> {
        let links = Links {
            tracks: tracks_of(request.tracks.as_deref()),
            window: self.since_first(request.from_ns, request.to_ns)?,
            kind: if request.flows { LinkKind::Flow } else { LinkKind::Message },
        };
        let bins = self.bins(links.window, most(request.bins))?;
        let mut messages = vec![0_u32; bins.len];
        let mut bytes = vec![0.0; bins.len];
        self.for_each_link(&links, control, &mut |message| {
            let at = message.send_nanos.or(message.receive_nanos).and_then(|at| bins.of(at));
            let cell = at.and_then(|at| messages.get_mut(at).zip(bytes.get_mut(at)));
            if let Some((count, sum)) = cell {
                *count += 1;
                *sum += message.bytes as f64;
            }
        })?;
        let reply = self.bins_reply(&bins)?;
        Ok(Answer::new(reply, LinkBinsTables { bins: LinkBinTable { messages, bytes } }))
    }
}

impl OpenExperiment {
    fn for_each_link(
        &self,
        links: &Links,
        control: &Control,
        visit: &mut dyn FnMut(Message),
    ) -> Result<(), ServiceError> {
        let has = |track: Option<TrackIdx>| has_track(&links.tracks, track);
        self.events()?
            .messages(links.window, &mut |message| {
                let is_chosen = has(message.sender) || has(message.receiver);
                if message.kind == links.kind && is_chosen && is_under_way(&message, links.window) {
                    visit(message);
                }
            })
            .map_err(EngineError::from)?;
        control.check().map_err(EngineError::from)?;
        Ok(())
    }
}

impl Answers<CounterBinsRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &CounterBinsRequest,
        control: &Control,
    ) -> Result<Answer<CounterBinsRequest>, ServiceError> {
        let counter = request.counter;
        let events = self.events()?;
        if counter as usize >= events.counters().len() {
            return Err(ServiceError::from(EngineError::Missing {
                what: format!("this trace has no counter {counter}"),
                hint: format!("it has {} counters", events.counters().len()),
            }));
        }
        let tracks = tracks_of(request.tracks.as_deref());
        let window = self.since_first(request.from_ns, request.to_ns)?;
        let bins = self.bins(window, most(request.bins))?;
        let ids = self.session.traces()?.track_ids();
        let (mut of_track, mut bin_of) = (Vec::new(), Vec::new());
        let (mut min, mut max, mut last) = (Vec::new(), Vec::new(), Vec::new());
        control.begin(ids.len() as u64);
        for track in ids.filter(|&track| has_track(&tracks, Some(track))) {
            control.advance(1).map_err(EngineError::from)?;
            let mut current = None;
            let mut add = |at: u64, value: f64| {
                let bin = bins.of(at).and_then(|bin| u32::try_from(bin).ok());
                // A value before the window holds until the next one comes.
                let bin = bin.unwrap_or(BEFORE);
                if current != Some(bin) {
                    current = Some(bin);
                    of_track.push(track.get());
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
        let values = CounterValueTable { track: of_track, bin: bin_of, min, max, last };
        Ok(Answer::new(self.bins_reply(&bins)?, CounterBinsTables { values }))
    }
}

impl Answers<MarkersRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &MarkersRequest,
        _: &Control,
    ) -> Result<Answer<MarkersRequest>, ServiceError> {
        let window = self.since_first(request.from_ns, request.to_ns)?;
        let max_markers = most(request.max_markers);
        let origin = self.session.traces()?.span().start_nanos;
        let mut rows = Vec::new();
        let mut total = 0_u64;
        let mut visit = |track: TrackIdx, name: &std::sync::Arc<str>, nanos: u64| {
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
        let row = |(nanos, track, name): (u64, TrackIdx, std::sync::Arc<str>)| MarkerRow {
            track: track.get(),
            name: name.to_string(),
            at_ns: since(nanos, origin),
        };
        let markers = rows.into_iter().map(row).collect();
        Ok(Answer::new(TotalReply { total }, MarkersTables { markers }))
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
pub(crate) fn has_track(choice: &TracksChoice, track: Option<TrackIdx>) -> bool {
    let Some(ranges) = choice else { return true };
    track.is_some_and(|track| ranges.iter().any(|range: &TrackRange| range.contains(&track)))
}
