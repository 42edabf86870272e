//! Complete events that overlap without nesting: each gets a place, none is dropped.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::events::TrackBuilder;

/// A function with its begin and end, as one record has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Complete {
    pub start_nanos: u64,
    pub end_nanos: u64,
    pub function: u32,
    /// Number of its arguments; 0 for none.
    pub arguments: u64,
}

/// Distributes events over lanes so that those of one lane nest. Lane 0 is the track itself; an
/// event goes to the first lane where it lies inside what is open, or after it. Events of one start
/// nest by length.
///
/// The first lane with room is found in a tree over the lanes, as there may be one for each event.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    lanes: Vec<Lane>,
    /// Ends of all that is open, with their lanes.
    ends: BinaryHeap<Reverse<(u64, usize)>>,
    /// Node i is above 2i and 2i + 1, the root is node 1, the lanes are the last half: until when
    /// an event may last that goes below the node.
    room: Vec<u64>,
}

/// Ends of what is open, the outermost first: for the choice of a lane, and as fed to its track.
#[derive(Debug, Default)]
struct Lane {
    open: Vec<u64>,
    fed: Vec<u64>,
}

impl Lane {
    /// Until when an event may last that begins now.
    fn room(&self) -> u64 {
        self.open.last().copied().unwrap_or(u64::MAX)
    }
}

impl Lanes {
    /// The lane of the next event. Events come by start, of equal starts the longest first; of equal
    /// events, the one that the file has first is the outer one.
    pub(super) fn place(&mut self, event: Complete) -> usize {
        let Complete { start_nanos: start, end_nanos: end, .. } = event;
        while let Some(&Reverse((first, lane))) = self.ends.peek()
            && (first < start || (first == start && first < end))
        {
            self.ends.pop();
            let Some(own) = self.lanes.get_mut(lane) else { continue };
            // Calls of a lane nest, so what is open last ends first.
            own.open.pop();
            self.set_room(lane);
        }
        let lane = self.first_with_room(end);
        while lane >= self.lanes.len() {
            self.lanes.push(Lane::default());
        }
        if let Some(own) = self.lanes.get_mut(lane) {
            own.open.push(end);
            self.ends.push(Reverse((end, lane)));
        }
        self.set_room(lane);
        lane
    }

    /// The first lane on which an event may last until `end`; the number of lanes where none is.
    fn first_with_room(&self, end: u64) -> usize {
        let leaves = self.room.len() / 2;
        if leaves == 0 || self.room.get(1).is_none_or(|&room| room < end) {
            return self.lanes.len();
        }
        let mut node = 1;
        while node < leaves {
            node *= 2;
            if self.room.get(node).is_none_or(|&room| room < end) {
                node += 1;
            }
        }
        (node - leaves).min(self.lanes.len())
    }

    /// Tells the tree how much room a lane has.
    fn set_room(&mut self, lane: usize) {
        let mut leaves = self.room.len() / 2;
        if lane >= leaves {
            leaves = (lane + 1).next_power_of_two();
            self.room = vec![0; 2 * leaves];
            for (at, own) in self.lanes.iter().enumerate() {
                if let Some(room) = self.room.get_mut(leaves + at) {
                    *room = own.room();
                }
            }
            for node in (1..leaves).rev() {
                self.join(node);
            }
            return;
        }
        let mut node = leaves + lane;
        if let (Some(room), Some(own)) = (self.room.get_mut(node), self.lanes.get(lane)) {
            *room = own.room();
        }
        while node > 1 {
            node /= 2;
            self.join(node);
        }
    }

    fn join(&mut self, node: usize) {
        let below = |at: usize| self.room.get(at).copied().unwrap_or(0);
        let most = below(2 * node).max(below(2 * node + 1));
        if let Some(room) = self.room.get_mut(node) {
            *room = most;
        }
    }

    /// Feeds an event to the track of its lane.
    pub(super) fn feed(&mut self, lane: usize, event: Complete, builder: &mut TrackBuilder) {
        let Some(Lane { fed, .. }) = self.lanes.get_mut(lane) else { return };
        while let Some(&end) = fed.last()
            && (end < event.start_nanos || (end == event.start_nanos && end < event.end_nanos))
        {
            builder.end_complete(end);
            fed.pop();
        }
        builder.begin_complete(event.start_nanos, event.function);
        fed.push(event.end_nanos);
    }

    /// Ends what is open on a lane.
    pub(super) fn finish(&mut self, lane: usize, builder: &mut TrackBuilder) {
        let Some(Lane { fed, .. }) = self.lanes.get_mut(lane) else { return };
        while let Some(end) = fed.pop() {
            builder.end_complete(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All events by lane, fed to a builder each.
    fn lanes(mut events: Vec<Complete>) -> Vec<(Vec<Complete>, TrackBuilder)> {
        events.sort_by_key(|event| (event.start_nanos, u64::MAX - event.end_nanos));
        let mut lanes = Lanes::default();
        let mut out: Vec<(Vec<Complete>, TrackBuilder)> = Vec::new();
        for event in events {
            let lane = lanes.place(event);
            if lane == out.len() {
                out.push((Vec::new(), TrackBuilder::new("lane")));
            }
            out[lane].0.push(event);
            lanes.feed(lane, event, &mut out[lane].1);
        }
        for (lane, (_, builder)) in out.iter_mut().enumerate() {
            lanes.finish(lane, builder);
        }
        out
    }

    fn event((start, len, function): (u64, u64, u32)) -> Complete {
        Complete { start_nanos: start, end_nanos: start + len, function, arguments: 0 }
    }

    #[test]
    fn what_nests_stays_and_what_overlaps_moves() {
        let events = [(0, 100, 0), (10, 20, 1), (25, 20, 2), (50, 50, 3), (100, 5, 4)].map(event);
        let lanes = lanes(events.to_vec());
        let functions: Vec<Vec<u32>> =
            lanes.iter().map(|lane| lane.0.iter().map(|e| e.function).collect()).collect();
        assert_eq!(functions, [vec![0, 1, 3, 4], vec![2]]);
    }

    /// The first lane with room, by looking at all of them.
    fn first_fit(events: &[Complete]) -> Vec<usize> {
        let mut lanes: Vec<Vec<u64>> = Vec::new();
        let mut out = Vec::new();
        for event in events {
            let fits = |open: &mut Vec<u64>| {
                let (start, end) = (event.start_nanos, event.end_nanos);
                while open.last().is_some_and(|&top| top < start || (top == start && top < end)) {
                    open.pop();
                }
                open.last().is_none_or(|&top| end <= top)
            };
            let lane = lanes.iter_mut().position(fits).unwrap_or(lanes.len());
            if lane == lanes.len() {
                lanes.push(Vec::new());
            }
            lanes[lane].push(event.end_nanos);
            out.push(lane);
        }
        out
    }

    proptest! {
        #[test]
        fn the_tree_finds_the_first_lane_with_room(
            list in prop::collection::vec((0..60_u64, 0..30_u64, 0..3_u32), 0..80),
        ) {
            let mut events: Vec<_> = list.into_iter().map(event).collect();
            events.sort_by_key(|event| (event.start_nanos, u64::MAX - event.end_nanos));
            let mut lanes = Lanes::default();
            let found: Vec<usize> = events.iter().map(|&event| lanes.place(event)).collect();
            prop_assert_eq!(found, first_fit(&events));
        }

        #[test]
        fn every_event_is_on_one_lane_and_lanes_nest(
            list in prop::collection::vec((0..60_u64, 0..30_u64, 0..3_u32), 0..80),
        ) {
            let events: Vec<_> = list.into_iter().map(event).collect();
            let lanes = lanes(events.clone());
            let key = |e: &Complete| (e.start_nanos, e.end_nanos, e.function);
            let mut all: Vec<_> = lanes.iter().flat_map(|lane| &lane.0).map(key).collect();
            let mut expected: Vec<_> = events.iter().map(key).collect();
            all.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(all, expected);
            for (lane, builder) in &lanes {
                for (at, a) in lane.iter().enumerate() {
                    for b in lane.iter().skip(at + 1) {
                        let nests = b.end_nanos <= a.end_nanos || b.start_nanos >= a.end_nanos;
                        prop_assert!(nests, "{:?} and {:?} overlap on one lane", a, b);
                    }
                }
                prop_assert_eq!(builder.num_intervals(), lane.len() as u64);
                prop_assert_eq!(builder.depth(), 0);
            }
        }
    }
}
