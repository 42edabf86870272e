//! How far tracks compute while messages are under way.
//!
//! A message is under way from being sent until it is received (until the `MPI_Wait` that completes
//! it, where the receive is non-blocking). While at least one message from or to a track is under
//! way, the track may compute or not; the share of that time in which it computes is the overlap of
//! communication and computation, as Pipit's `comm_comp_breakdown` and Holistic Trace Analysis
//! define it, with messages in place of calls and kernels. Where a trace has flows instead of
//! messages, such as from the launch of a kernel to the kernel, these count.

use parallax_base::{Control, TimeWindow, TrackIdx, threads};
use parallax_engine::{EngineError, Session};
use parallax_model::LinkKind;

use super::activity::{Activities, Activity};
use super::bins::Bins;
use super::{Selection, events};

/// Time under way and the part of it in which the track computes, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnderWay {
    /// While at least one message is under way.
    pub nanos: u64,
    /// Of this, while the track computes.
    pub computing_nanos: u64,
}

/// The overlap on one track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackOverlap {
    /// The track.
    pub track: TrackIdx,
    /// Messages from and to it that are under way in the window.
    pub messages: u64,
    /// In the window, cut exactly at its edges.
    pub whole: UnderWay,
    /// In each bin, as far as the window has it.
    pub bins: Vec<UnderWay>,
}

/// The overlap on all tracks, and what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlap {
    /// Selected tracks with messages, in order.
    pub tracks: Vec<TrackOverlap>,
    /// Whether flows count, because the trace has no messages.
    pub is_flows: bool,
    /// Messages that are received before they are sent; they do not count.
    pub backwards: u64,
}

/// The overlap of communication and computation on the selected tracks.
///
/// # Errors
/// When there is no trace of events, it cannot be read, or the question is withdrawn.
pub fn overlap(
    session: &Session,
    selection: &Selection,
    bins: &Bins,
    control: &Control,
) -> Result<Overlap, EngineError> {
    let store = session.traces()?;
    let window = selection.window.intersect(store.span());
    // By kind: what is under way from or to each track, and how many go backwards.
    let num_tracks = store.tracks().len();
    let mut messages = Links::new(num_tracks);
    let mut flows = Links::new(num_tracks);
    events(session)?.messages(window, &mut |message| {
        let links = match message.kind {
            LinkKind::Message => &mut messages,
            LinkKind::Flow => &mut flows,
            // What is in a file keeps no location busy.
            LinkKind::Transfer => return,
        };
        let Some((send, receive)) = message.send_nanos.zip(message.receive_nanos) else { return };
        let sides = [message.sender, message.receiver].into_iter().flatten();
        let mut own = sides.filter(|track| selection.has(*track)).peekable();
        if message.is_backwards() {
            links.backwards += u64::from(own.peek().is_some());
            return;
        }
        let mut known = None;
        for track in own {
            // What a track sends itself counts once.
            if known.replace(track) != Some(track) {
                links.add(track, TimeWindow::new(send, receive).intersect(window));
            }
        }
    })?;
    let is_flows = messages.is_empty() && messages.backwards == 0 && !flows.is_empty();
    let links = if is_flows { flows } else { messages };
    let activities = Activities::new(session.tree());
    let work: Vec<(TrackIdx, Vec<TimeWindow>)> =
        store.track_ids().zip(links.of_track).filter(|(_, list)| !list.is_empty()).collect();
    control.begin(work.len() as u64);
    let tracks = threads::map(work, |(track, list)| {
        let found = on_track(session, &activities, bins, track, list)?;
        control.advance(1)?;
        Ok::<_, EngineError>(found)
    });
    let tracks = tracks.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(Overlap { tracks, is_flows, backwards: links.backwards })
}

struct Links {
    of_track: Vec<Vec<TimeWindow>>,
    backwards: u64,
}

impl Links {
    fn new(num_tracks: usize) -> Self {
        Self { of_track: vec![Vec::new(); num_tracks], backwards: 0 }
    }

    fn add(&mut self, track: TrackIdx, under_way: TimeWindow) {
        if let Some(list) = self.of_track.get_mut(track.idx()) {
            list.push(under_way);
        }
    }

    fn is_empty(&self) -> bool {
        self.of_track.iter().all(Vec::is_empty)
    }
}

fn on_track(
    session: &Session,
    activities: &Activities,
    bins: &Bins,
    track: TrackIdx,
    mut list: Vec<TimeWindow>,
) -> Result<TrackOverlap, EngineError> {
    let messages = list.len() as u64;
    list.sort_by_key(|under_way| (under_way.start_nanos, under_way.end_nanos));
    // Intervals with at least one message, apart from each other.
    list.dedup_by(|next, kept| {
        let touches = next.start_nanos <= kept.end_nanos;
        if touches {
            kept.end_nanos = kept.end_nanos.max(next.end_nanos);
        }
        touches
    });
    let mut out = TrackOverlap {
        track,
        messages,
        whole: UnderWay::default(),
        bins: vec![UnderWay::default(); bins.len],
    };
    for &interval in &list {
        out.whole.nanos += interval.nanos();
        bins.spread(interval, |nth, nanos| {
            if let Some(bin) = out.bins.get_mut(nth) {
                bin.nanos += nanos;
            }
        });
    }
    let (Some(first), Some(last)) = (list.first(), list.last()) else { return Ok(out) };
    let around = TimeWindow::new(first.start_nanos, last.end_nanos);
    let tree = session.tree();
    let mut at = 0;
    session.traces()?.visit(track, around, &mut |interval| {
        let computes = tree
            .by_source_id(interval.context)
            .is_some_and(|context| activities.of(context) == Activity::Computing);
        let active = TimeWindow::new(interval.start_nanos, interval.end_nanos);
        while let Some(&interval) = list.get(at) {
            let both = active.intersect(interval);
            if computes && !both.is_empty() {
                out.whole.computing_nanos += both.nanos();
                bins.spread(both, |nth, nanos| {
                    if let Some(bin) = out.bins.get_mut(nth) {
                        bin.computing_nanos += nanos;
                    }
                });
            }
            if active.end_nanos < interval.end_nanos {
                break;
            }
            at += 1;
        }
    })?;
    Ok(out)
}
