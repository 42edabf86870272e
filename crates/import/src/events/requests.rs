//! Sends and receives that do not block: what was posted, and what has completed.
//!
//! MPI matches receives in the order in which they were *posted* (MPI standard 4.1, section 3.5,
//! "Order"), but a receive that does not block is known only when it completes: before that nobody
//! knows its sender and its tag. A send is known when it is posted, but not when it completes. So
//! both wait in line from when they are posted:
//!
//! ```text
//! post 1   post 2   blocking   2 completes   1 completes
//!   1        1 2      1 2 b       1 2 b        (1 2 b go on)
//! ```

use std::collections::{HashMap, VecDeque};

use super::track::Endpoint;

/// Most sides of a track that wait in line. A program that gives up requests
/// (`MPI_Request_free`) never completes them; what is at the front then goes on as it is.
const MOST_IN_LINE: usize = 1 << 16;

/// One side of a message that can be matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) endpoint: Endpoint,
    /// Of a receive when it was posted, of a send when it was complete; `None` where it blocks or
    /// the source does not say.
    pub(super) request_nanos: Option<u64>,
}

/// The sends and receives of a track that are not complete, and those behind them.
#[derive(Debug, Clone, Default)]
pub(super) struct Requests {
    sends: Line,
    receives: Line,
}

/// Sides in the order in which they were posted.
#[derive(Debug, Clone, Default)]
struct Line {
    slots: VecDeque<Slot>,
    /// Number of the first slot.
    first: u64,
    /// Number of the slot of each request, and when it was posted.
    open: HashMap<u64, (u64, u64)>,
}

#[derive(Debug, Clone)]
enum Slot {
    /// A request that is not complete; of a receive nothing more is known.
    Open { request: u64, endpoint: Option<Endpoint> },
    /// Can be matched when it is at the front.
    Ready(Side),
    /// Was cancelled.
    Cancelled,
}

impl Requests {
    /// A side that blocks, or of which no request is known.
    pub(super) fn blocking(&mut self, endpoint: Endpoint, out: &mut Vec<Side>) {
        let line = if endpoint.is_send { &mut self.sends } else { &mut self.receives };
        line.slots.push_back(Slot::Ready(Side { endpoint, request_nanos: None }));
        line.release(out);
    }

    /// A receive is posted.
    pub(super) fn post_receive(&mut self, nanos: u64, request: u64, out: &mut Vec<Side>) {
        self.receives.post(nanos, request, None, out);
    }

    /// A send is posted.
    pub(super) fn post_send(&mut self, endpoint: Endpoint, request: u64, out: &mut Vec<Side>) {
        self.sends.post(endpoint.nanos, request, Some(endpoint), out);
    }

    /// A receive that was posted completes.
    pub(super) fn complete_receive(
        &mut self,
        endpoint: Endpoint,
        request: u64,
        out: &mut Vec<Side>,
    ) {
        let Some((number, posted)) = self.receives.open.remove(&request) else {
            return self.blocking(endpoint, out);
        };
        let side = Side { endpoint, request_nanos: Some(posted) };
        self.receives.set(number, Slot::Ready(side), out);
    }

    /// A send that was posted completes.
    pub(super) fn complete_send(&mut self, nanos: u64, request: u64, out: &mut Vec<Side>) {
        let Some((number, _)) = self.sends.open.remove(&request) else { return };
        if let Some(Slot::Open { endpoint: Some(endpoint), .. }) = self.sends.slot(number) {
            let side = Side { endpoint: *endpoint, request_nanos: Some(nanos) };
            self.sends.set(number, Slot::Ready(side), out);
        }
    }

    /// What was posted is cancelled: it is no side of any message.
    pub(super) fn cancel(&mut self, request: u64, out: &mut Vec<Side>) {
        for line in [&mut self.sends, &mut self.receives] {
            if let Some((number, _)) = line.open.remove(&request) {
                line.set(number, Slot::Cancelled, out);
            }
        }
    }

    /// Nothing completes any more.
    pub(super) fn finish(&mut self, out: &mut Vec<Side>) {
        for line in [&mut self.sends, &mut self.receives] {
            while !line.slots.is_empty() {
                line.give_up(out);
            }
            line.open.clear();
        }
    }
}

impl Line {
    fn post(&mut self, nanos: u64, request: u64, endpoint: Option<Endpoint>, out: &mut Vec<Side>) {
        let number = self.first + self.slots.len() as u64;
        self.slots.push_back(Slot::Open { request, endpoint });
        // A number that is used again: of the request before nothing more will be heard.
        if let Some((before, _)) = self.open.insert(request, (number, nanos)) {
            let known = match self.slot(before) {
                Some(Slot::Open { endpoint, .. }) => *endpoint,
                _ => None,
            };
            let slot = known.map_or(Slot::Cancelled, |endpoint| {
                Slot::Ready(Side { endpoint, request_nanos: None })
            });
            self.set(before, slot, out);
        }
        if self.slots.len() > MOST_IN_LINE {
            self.give_up(out);
            self.release(out);
        }
    }

    fn slot(&mut self, number: u64) -> Option<&mut Slot> {
        let at = number.checked_sub(self.first).and_then(|at| usize::try_from(at).ok())?;
        self.slots.get_mut(at)
    }

    fn set(&mut self, number: u64, slot: Slot, out: &mut Vec<Side>) {
        if let Some(known) = self.slot(number) {
            *known = slot;
        }
        self.release(out);
    }

    /// What is at the front and not open goes on.
    fn release(&mut self, out: &mut Vec<Side>) {
        while self.slots.front().is_some_and(|slot| !matches!(slot, Slot::Open { .. })) {
            self.give_up(out);
        }
    }

    /// What is at the front goes on, complete or not.
    fn give_up(&mut self, out: &mut Vec<Side>) {
        let Some(slot) = self.slots.pop_front() else { return };
        self.first += 1;
        match slot {
            Slot::Ready(side) => out.push(side),
            Slot::Open { request, endpoint } => {
                self.open.remove(&request);
                out.extend(endpoint.map(|endpoint| Side { endpoint, request_nanos: None }));
            }
            Slot::Cancelled => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(nanos: u64, is_send: bool) -> Endpoint {
        Endpoint { nanos, partner: None, communicator: 0, tag: 0, bytes: nanos, is_send }
    }

    fn times(sides: &[Side]) -> Vec<(u64, Option<u64>)> {
        sides.iter().map(|side| (side.endpoint.nanos, side.request_nanos)).collect()
    }

    #[test]
    fn receives_go_on_in_the_order_they_were_posted() {
        let (mut requests, mut out) = (Requests::default(), Vec::new());
        for (nanos, request) in [(1, 7), (2, 8), (3, 9)] {
            requests.post_receive(nanos, request, &mut out);
        }
        requests.blocking(side(4, false), &mut out);
        requests.complete_receive(side(10, false), 8, &mut out);
        requests.cancel(9, &mut out);
        assert_eq!(times(&out), []);
        requests.complete_receive(side(11, false), 7, &mut out);
        assert_eq!(times(&out), [(11, Some(1)), (10, Some(2)), (4, None)]);
    }

    #[test]
    fn sends_go_on_with_the_time_of_their_completion() {
        let (mut requests, mut out) = (Requests::default(), Vec::new());
        requests.post_send(side(1, true), 7, &mut out);
        requests.post_send(side(2, true), 8, &mut out);
        requests.blocking(side(3, true), &mut out);
        requests.complete_send(20, 8, &mut out);
        requests.complete_send(21, 7, &mut out);
        requests.post_send(side(30, true), 9, &mut out);
        // Nothing says when it was complete, or what is complete here.
        requests.complete_send(31, 4, &mut out);
        requests.finish(&mut out);
        assert_eq!(times(&out), [(1, Some(21)), (2, Some(20)), (3, None), (30, None)]);
    }

    #[test]
    fn requests_that_never_complete_hold_up_only_so_many() {
        let (mut requests, mut out) = (Requests::default(), Vec::new());
        let most = MOST_IN_LINE as u64;
        for request in 0..most + 5 {
            requests.post_send(side(request, true), request, &mut out);
            requests.post_receive(request, request, &mut out);
        }
        assert_eq!(times(&out), [0, 1, 2, 3, 4].map(|n| (n, None)), "sends without completion");
        assert_eq!(requests.receives.open.len(), MOST_IN_LINE);
        out.clear();
        // Completes although it has left the line.
        requests.complete_receive(side(most + 9, false), 0, &mut out);
        requests.finish(&mut out);
        assert_eq!(out.iter().filter(|side| side.endpoint.is_send).count(), MOST_IN_LINE);
        assert_eq!(out.iter().filter(|side| !side.endpoint.is_send).count(), 1);
    }
}
