//! Flows of Chrome's events: arrows, and launches of GPU work that only `correlation` joins.

use std::collections::{BTreeMap, HashSet};

use parallax_formats::archive::{MessageRow, NONE_32, NONE_64};
use parallax_formats::json_trace::{ChromeEvent, EventId, NameId, Phase, TrackId};

use super::chrome_arguments::Correlation;
use crate::events::{Conversion, ConversionError, NO_RECEIVE, NO_SEND};

/// About what a flow takes, besides its ends.
pub(super) const KEY_BYTES: u64 = 192;

/// Category, name and id of what belongs together.
pub(super) type Key = (Option<NameId>, Option<NameId>, Vec<u8>);

/// One end of a flow.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    pub(super) track: usize,
    pub(super) nanos: u64,
}

/// The ends of one flow: where it starts, and all places where it goes to.
#[derive(Default)]
struct Flow {
    starts: Vec<End>,
    ends: Vec<End>,
}

impl Flow {
    /// About what one more end takes.
    fn bytes_of_next(&self) -> u64 {
        let is_new = self.starts.is_empty() && self.ends.is_empty();
        size_of::<End>() as u64 * 2 + if is_new { KEY_BYTES } else { 0 }
    }
}

/// Calls and GPU work of the same `correlation`.
#[derive(Default)]
struct Launch {
    flow: Flow,
    /// The process of the calls.
    process: Option<TrackId>,
    /// Several processes count their calls from the same number on: nothing tells them apart.
    is_ambiguous: bool,
}

/// All flows of a file.
#[derive(Default)]
pub(super) struct Flows {
    arrows: BTreeMap<Key, Flow>,
    launches: BTreeMap<i64, Launch>,
}

impl Flows {
    /// Takes an end of an arrow; gives about how many bytes that takes.
    pub(super) fn take(&mut self, event: &ChromeEvent<'_>, end: End) -> u64 {
        let flow = self.arrows.entry((event.categories, event.name, id(event.id()))).or_default();
        let bytes = flow.bytes_of_next();
        match event.phase {
            Phase::FlowStart => flow.starts.push(end),
            _ => flow.ends.push(end),
        }
        bytes
    }

    /// Arrows of events that are themselves the ends (`bind_id`).
    pub(super) fn bind(&mut self, event: &ChromeEvent<'_>, end: End) -> u64 {
        let Some(bound) = event.bind_id() else { return 0 };
        let flow = self.arrows.entry((None, None, id(Some(bound)))).or_default();
        let bytes = flow.bytes_of_next();
        if event.flow_out() {
            flow.starts.push(end);
        }
        if event.flow_in() {
            flow.ends.push(end);
        }
        bytes
    }

    /// Takes an event that says with which others it belongs together.
    pub(super) fn correlate(
        &mut self,
        event: &ChromeEvent<'_>,
        correlation: Correlation,
        end: End,
    ) -> u64 {
        let launch = self.launches.entry(correlation.id).or_default();
        let bytes = launch.flow.bytes_of_next();
        if correlation.is_of_stream {
            launch.flow.ends.push(end);
            return bytes;
        }
        launch.is_ambiguous |= !launch.flow.starts.is_empty() && launch.process != event.process;
        launch.process = event.process;
        launch.flow.starts.push(end);
        bytes
    }

    /// Writes flows: every end is linked to the last start before it, or to the first one. Work that
    /// no arrow goes to is linked to the call with its `correlation`.
    pub(super) fn write(
        self,
        rows: &[u32],
        conversion: &mut Conversion,
    ) -> Result<(), ConversionError> {
        let Self { arrows, launches } = self;
        let ends = arrows.values().flat_map(|flow| &flow.ends);
        let is_linked: HashSet<_> = ends.map(|end| (end.track, end.nanos)).collect();
        let launches = launches.into_values().filter(|launch| !launch.is_ambiguous);
        let launches = launches.filter_map(|launch| {
            let mut flow = launch.flow;
            flow.ends.retain(|end| !is_linked.contains(&(end.track, end.nanos)));
            // A call that launches nothing is no half of a flow.
            (!flow.starts.is_empty() && !flow.ends.is_empty()).then_some(flow)
        });
        for (nth, mut flow) in arrows.into_values().chain(launches).enumerate() {
            flow.starts.sort_by_key(|end| end.nanos);
            let row = |end: &End| rows.get(end.track).copied().unwrap_or(NONE_32);
            let mut link = |start: Option<&End>, end: Option<&End>| {
                let (some, flags) = match (start, end) {
                    (Some(start), Some(_)) => (start, 0),
                    (Some(start), None) => (start, NO_RECEIVE),
                    (None, Some(end)) => (end, NO_SEND),
                    (None, None) => return Ok(()),
                };
                conversion.link(MessageRow {
                    kind: 1,
                    flags,
                    sender: start.map_or(NONE_32, row),
                    receiver: end.map_or(NONE_32, row),
                    communicator: 0,
                    tag: i64::try_from(nth).unwrap_or(0),
                    bytes: 0,
                    send_nanos: start.unwrap_or(some).nanos,
                    receive_nanos: end.unwrap_or(some).nanos,
                    posted_nanos: NONE_64,
                    completed_nanos: NONE_64,
                })
            };
            for end in &flow.ends {
                let before = flow.starts.partition_point(|start| start.nanos <= end.nanos);
                link(flow.starts.get(before.saturating_sub(1)), Some(end))?;
            }
            if flow.ends.is_empty() {
                for start in &flow.starts {
                    link(Some(start), None)?;
                }
            }
        }
        Ok(())
    }
}

/// An id as the bytes that stand for it.
pub(super) fn id(id: Option<EventId<'_>>) -> Vec<u8> {
    match id {
        Some(EventId::Number(number)) => number.to_string().into_bytes(),
        Some(EventId::Hex(number)) => format!("{number:#x}").into_bytes(),
        Some(EventId::Text(text)) => text.to_vec(),
        None => Vec::new(),
    }
}
