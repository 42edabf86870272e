//! Finding the receive of each send.

use std::collections::{HashMap, VecDeque};

use parallax_base::{Issues, Place, Severity, Stage};
use parallax_formats::archive::{MessageRow, NONE_32};

use super::track::{Endpoint, Peer};

/// No receive was found for the send.
pub const NO_RECEIVE: u8 = 1;
/// No send was found for the receive.
pub const NO_SEND: u8 = 2;
/// It was received before it was sent: the clocks disagree.
pub const BACKWARDS: u8 = 4;
/// The two sides disagree about its size.
pub const OTHER_SIZE: u8 = 8;

/// Matches sends and receives: MPI delivers messages between two ranks on one communicator with one
/// tag in the order they were sent (MPI standard 4.1, section 3.5, "Order"), so the first send
/// without a receive belongs to the first receive without a send.
#[derive(Debug, Default)]
pub(super) struct Matcher {
    waiting: HashMap<Key, Waiting>,
    /// Row of the track of each peer, once it has been added.
    tracks: Vec<Option<u32>>,
    pub(super) done: Vec<MessageRow>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key {
    sender: Option<Peer>,
    receiver: Option<Peer>,
    communicator: u32,
    tag: i64,
}

/// Only one of the two is ever filled.
#[derive(Debug, Default)]
struct Waiting {
    sends: VecDeque<(u64, u64)>,
    receives: VecDeque<(u64, u64)>,
}

impl Matcher {
    /// A peer whose track may be added later.
    pub(super) fn peer(&mut self) -> Peer {
        self.tracks.push(None);
        Peer(u32::try_from(self.tracks.len() - 1).unwrap_or(NONE_32))
    }

    /// The track of a peer has been added.
    pub(super) fn bind(&mut self, peer: Peer, track: u32) {
        if let Some(known) = self.tracks.get_mut(peer.0 as usize) {
            *known = Some(track);
        }
    }

    fn track(&self, peer: Option<Peer>) -> u32 {
        let track = peer.and_then(|peer| self.tracks.get(peer.0 as usize).copied().flatten());
        track.unwrap_or(NONE_32)
    }

    /// Takes one side of a message of `own`. Sides of one track come in order of time.
    pub(super) fn offer(&mut self, own: Peer, endpoint: Endpoint, issues: &mut Issues) {
        let Endpoint { nanos, partner, communicator, tag, bytes, is_send } = endpoint;
        let (sender, receiver) = if is_send { (Some(own), partner) } else { (partner, Some(own)) };
        let key = Key { sender, receiver, communicator, tag };
        if partner.is_none() {
            self.alone(key, (nanos, bytes), is_send, issues);
            return;
        }
        let waiting = self.waiting.entry(key).or_default();
        let other = if is_send { &mut waiting.receives } else { &mut waiting.sends };
        let Some(found) = other.pop_front() else {
            let own = if is_send { &mut waiting.sends } else { &mut waiting.receives };
            own.push_back((nanos, bytes));
            return;
        };
        let own = (nanos, bytes);
        let (send, receive) = if is_send { (own, found) } else { (found, own) };
        let (sender, receiver) = (self.track(key.sender), self.track(key.receiver));
        let mut flags = 0;
        if receive.0 < send.0 {
            flags |= BACKWARDS;
            let by = send.0 - receive.0;
            let place = Place::Time { nanos: receive.0 };
            issues.report(Severity::Warning, Stage::Import, "message-backwards", place, || {
                format!(
                    "a message from track {sender} to track {receiver} is received {by} ns before \
                     it is sent; the clocks of the two disagree"
                )
            });
        }
        if receive.1 != send.1 {
            flags |= OTHER_SIZE;
            let place = Place::Time { nanos: send.0 };
            issues.report(Severity::Warning, Stage::Import, "message-sizes", place, || {
                format!(
                    "track {sender} sends {} bytes to track {receiver}, which receives {}: other \
                     messages may be matched wrongly too",
                    send.1, receive.1
                )
            });
        }
        self.done.push(self.row(key, flags, send, receive.0));
    }

    /// Ends matching: what still waits has no other side.
    pub(super) fn finish(&mut self, issues: &mut Issues) {
        let mut waiting: Vec<_> = self.waiting.drain().collect();
        // The order of a hash table must not show.
        waiting.sort_unstable_by_key(|(key, _)| *key);
        for (key, waiting) in waiting {
            for side in waiting.sends {
                self.alone(key, side, true, issues);
            }
            for side in waiting.receives {
                self.alone(key, side, false, issues);
            }
        }
    }

    fn alone(&mut self, key: Key, side: (u64, u64), is_send: bool, issues: &mut Issues) {
        let (flags, kind) = if is_send {
            (NO_RECEIVE, "send-without-receive")
        } else {
            (NO_SEND, "receive-without-send")
        };
        let (sender, receiver) = (self.track(key.sender), self.track(key.receiver));
        let (severity, why) = if sender == NONE_32 || receiver == NONE_32 {
            (Severity::Note, "the other side is not in the trace")
        } else {
            (Severity::Warning, "the trace has no other side for it")
        };
        let place = Place::Time { nanos: side.0 };
        issues.report(severity, Stage::Import, kind, place, || {
            let (verb, track) = if is_send { ("sent", sender) } else { ("received", receiver) };
            format!("a message {verb} by track {track} is not matched: {why}")
        });
        self.done.push(self.row(key, flags, side, side.0));
    }

    fn row(&self, key: Key, flags: u8, send: (u64, u64), receive_nanos: u64) -> MessageRow {
        MessageRow {
            kind: 0,
            flags,
            sender: self.track(key.sender),
            receiver: self.track(key.receiver),
            communicator: key.communicator,
            tag: key.tag,
            bytes: send.1,
            send_nanos: send.0,
            receive_nanos,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(nanos: u64, partner: Peer, tag: i64, bytes: u64, is_send: bool) -> Endpoint {
        Endpoint { nanos, partner: Some(partner), communicator: 0, tag, bytes, is_send }
    }

    /// A matcher that knows two tracks.
    fn two() -> (Matcher, Peer, Peer) {
        let mut matcher = Matcher::default();
        let (a, b) = (matcher.peer(), matcher.peer());
        matcher.bind(a, 0);
        matcher.bind(b, 1);
        (matcher, a, b)
    }

    #[test]
    fn the_first_send_belongs_to_the_first_receive_of_its_tag() {
        let ((mut matcher, a, b), mut issues) = (two(), Issues::new());
        // The receiver's events come first: tracks are read one after the other.
        matcher.offer(b, side(20, a, 7, 100, false), &mut issues);
        matcher.offer(b, side(30, a, 8, 50, false), &mut issues);
        matcher.offer(b, side(40, a, 7, 200, false), &mut issues);
        matcher.offer(a, side(1, b, 7, 100, true), &mut issues);
        matcher.offer(a, side(2, b, 7, 200, true), &mut issues);
        matcher.offer(a, side(35, b, 8, 50, true), &mut issues);
        matcher.offer(a, side(50, b, 9, 1, true), &mut issues);
        matcher.finish(&mut issues);
        let pairs: Vec<_> =
            matcher.done.iter().map(|m| (m.send_nanos, m.receive_nanos, m.flags)).collect();
        assert_eq!(pairs, [(1, 20, 0), (2, 40, 0), (35, 30, BACKWARDS), (50, 50, NO_RECEIVE)]);
        let kinds: Vec<_> = issues.list().iter().map(|i| i.kind).collect();
        assert_eq!(kinds, ["message-backwards", "send-without-receive"]);
    }

    #[test]
    fn sides_that_disagree_about_the_size_are_told() {
        let ((mut matcher, a, b), mut issues) = (two(), Issues::new());
        matcher.offer(a, side(1, b, 7, 100, true), &mut issues);
        matcher.offer(b, side(2, a, 7, 101, false), &mut issues);
        assert_eq!(matcher.done.first().map(|m| (m.flags, m.bytes)), Some((OTHER_SIZE, 100)));
    }
}
