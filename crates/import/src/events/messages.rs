//! Finding the receive of each send.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::sync::Arc;

use parallax_base::{FolderSink, Issues, Place, Severity, Stage};
use parallax_formats::archive::{MessageRow, NONE_32, NONE_64};

use super::conversion::ConversionError;
use super::requests::Side;
use super::sorter::{Packer, Sorter, Unpacker};
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
///
/// Sides that wait for their other one take memory. Where they take too much, those of the keys with
/// most of them are deferred: they, and all that follow under these keys, are sorted by key on the
/// disk, and the n-th send meets the n-th receive at the end. The messages are the same.
pub(super) struct Matcher {
    waiting: HashMap<Key, Waiting>,
    num_waiting: usize,
    /// Sides that may wait in memory.
    most_waiting: usize,
    deferred: Deferred,
    late: Sorter<SIDE_BYTES>,
    num_late: u64,
    /// Row of the track of each peer, once it has been added.
    tracks: Vec<Option<u32>>,
    pub(super) done: Vec<MessageRow>,
    sink: Arc<dyn FolderSink>,
    memory_bytes: usize,
}

/// Which sides are matched at the end.
#[derive(Clone)]
enum Deferred {
    /// Those of these keys.
    Keys(HashSet<Key>),
    /// All: there are too many keys.
    All,
}

/// What a waiting side takes, about: its numbers, and its part of a queue and a table.
const WAITING_BYTES: usize = 56;

/// Key, side, number, and what is known of a side.
const SIDE_BYTES: usize = KEY_BYTES + 1 + 8 + HALF_BYTES;
const KEY_BYTES: usize = 3 * 4 + 8;
const HALF_BYTES: usize = 3 * 8;
/// Key, position among those of its key and side, side, and what is known of it.
const PAIR_BYTES: usize = SIDE_BYTES;
/// Key, side, when it was posted, number, and what is known of it.
const JOINED_BYTES: usize = SIDE_BYTES + 8;
/// All fields of a row, the time of sending first.
const ROW_BYTES: usize = 6 * 8 + 3 * 4 + 2;

/// What is known of a side besides its key.
#[derive(Debug, Clone, Copy)]
struct Half {
    nanos: u64,
    bytes: u64,
    /// Of a receive when it was posted, of a send when it was complete; all-ones for none.
    request_nanos: u64,
}

impl Half {
    /// When it was posted, as far as that is known: sides are matched in this order.
    fn posted_nanos(&self, is_send: bool) -> u64 {
        if is_send { self.nanos } else { self.nanos.min(self.request_nanos) }
    }

    fn pack<const N: usize>(self, row: Packer<N>) -> [u8; N] {
        row.u64(self.nanos).u64(self.bytes).u64(self.request_nanos).finish()
    }

    fn unpack(row: &mut Unpacker<'_>) -> Self {
        Self { nanos: row.u64(), bytes: row.u64(), request_nanos: row.u64() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key {
    sender: Option<Peer>,
    receiver: Option<Peer>,
    communicator: u32,
    tag: i64,
}

/// Only one of the two is filled while tracks are read.
#[derive(Debug, Clone, Default)]
struct Waiting {
    sends: VecDeque<Half>,
    receives: VecDeque<Half>,
}

impl Waiting {
    fn len(&self) -> usize {
        self.sends.len() + self.receives.len()
    }
}

impl Key {
    fn pack<const N: usize>(self) -> Packer<N> {
        let number = |peer: Option<Peer>| peer.map_or(NONE_32, |peer| peer.0);
        let packer = Packer::new().u32(number(self.sender)).u32(number(self.receiver));
        packer.u32(self.communicator).i64(self.tag)
    }

    fn unpack(row: &mut Unpacker<'_>) -> Self {
        let peer = |number: u32| (number != NONE_32).then_some(Peer(number));
        let (sender, receiver) = (peer(row.u32()), peer(row.u32()));
        Self { sender, receiver, communicator: row.u32(), tag: row.i64() }
    }

    /// With other peers where some turned out to be others.
    fn joined(self, others: &HashMap<Peer, Peer>) -> Self {
        let other =
            |peer: Option<Peer>| peer.map(|peer| others.get(&peer).copied().unwrap_or(peer));
        Self { sender: other(self.sender), receiver: other(self.receiver), ..self }
    }
}

impl Matcher {
    /// Nothing waits yet. Sides that wait take about a quarter of `memory_bytes` at most.
    pub(super) fn new(sink: Arc<dyn FolderSink>, memory_bytes: usize) -> Self {
        Self {
            waiting: HashMap::new(),
            num_waiting: 0,
            most_waiting: (memory_bytes / 4 / WAITING_BYTES).max(1024),
            deferred: Deferred::Keys(HashSet::new()),
            late: Sorter::new(Arc::clone(&sink), "sides", memory_bytes / 8),
            num_late: 0,
            tracks: Vec::new(),
            done: Vec::new(),
            sink,
            memory_bytes,
        }
    }

    /// The same once more; what does not fit into memory goes to `sink`.
    pub(super) fn fork(&self, sink: &Arc<dyn FolderSink>) -> Self {
        Self {
            waiting: self.waiting.clone(),
            num_waiting: self.num_waiting,
            most_waiting: self.most_waiting,
            deferred: self.deferred.clone(),
            late: self.late.fork(sink),
            num_late: self.num_late,
            tracks: self.tracks.clone(),
            done: self.done.clone(),
            sink: Arc::clone(sink),
            memory_bytes: self.memory_bytes,
        }
    }

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

    /// Whether the track of a peer has been added.
    pub(super) fn is_bound(&self, peer: Peer) -> bool {
        self.tracks.get(peer.0 as usize).is_some_and(Option::is_some)
    }

    fn track(&self, peer: Option<Peer>) -> u32 {
        let track = peer.and_then(|peer| self.tracks.get(peer.0 as usize).copied().flatten());
        track.unwrap_or(NONE_32)
    }

    /// Takes one side of a message of `own`. Sides of one track come in the order in which they
    /// were posted.
    pub(super) fn offer(&mut self, own: Peer, side: Side, issues: &mut Issues) -> io::Result<()> {
        let Endpoint { nanos, partner, communicator, tag, bytes, is_send } = side.endpoint;
        let (sender, receiver) = if is_send { (Some(own), partner) } else { (partner, Some(own)) };
        let key = Key { sender, receiver, communicator, tag };
        let own = Half { nanos, bytes, request_nanos: side.request_nanos.unwrap_or(NONE_64) };
        if partner.is_none() {
            self.alone(key, own, is_send, issues);
            return Ok(());
        }
        let is_deferred = match &self.deferred {
            Deferred::Keys(keys) => keys.contains(&key),
            Deferred::All => true,
        };
        if is_deferred {
            return self.defer(key, own, is_send);
        }
        let waiting = self.waiting.entry(key).or_default();
        let other = if is_send { &mut waiting.receives } else { &mut waiting.sends };
        let Some(found) = other.pop_front() else {
            let queue = if is_send { &mut waiting.sends } else { &mut waiting.receives };
            queue.push_back(own);
            self.num_waiting += 1;
            return if self.num_waiting > self.most_waiting { self.spill() } else { Ok(()) };
        };
        self.num_waiting -= 1;
        let (send, receive) = if is_send { (own, found) } else { (found, own) };
        self.matched(key, send, receive, issues);
        Ok(())
    }

    /// A side is matched at the end.
    fn defer(&mut self, key: Key, side: Half, is_send: bool) -> io::Result<()> {
        let row = key.pack().u8(u8::from(!is_send)).u64(self.num_late);
        self.num_late += 1;
        self.late.push(side.pack(row))
    }

    /// Defers the keys under which most waits.
    fn spill(&mut self) -> io::Result<()> {
        self.waiting.retain(|_, waiting| waiting.len() > 0);
        let mean = self.num_waiting / self.waiting.len().max(1);
        let mut moved: Vec<Key> = Vec::new();
        moved.extend(self.waiting.iter().filter(|(_, w)| w.len() >= mean).map(|(key, _)| *key));
        let has_too_many = match &mut self.deferred {
            Deferred::Keys(keys) => {
                keys.extend(&moved);
                keys.len() > self.most_waiting
            }
            Deferred::All => true,
        };
        if has_too_many {
            self.deferred = Deferred::All;
            moved = self.waiting.keys().copied().collect();
        }
        self.move_waiting(moved)
    }

    fn move_waiting(&mut self, keys: Vec<Key>) -> io::Result<()> {
        for key in keys {
            let Some(waiting) = self.waiting.remove(&key) else { continue };
            self.num_waiting -= waiting.len();
            for side in waiting.sends {
                self.defer(key, side, true)?;
            }
            for side in waiting.receives {
                self.defer(key, side, false)?;
            }
        }
        Ok(())
    }

    /// Two sides belong together.
    fn matched(&mut self, key: Key, send: Half, receive: Half, issues: &mut Issues) {
        let (sender, receiver) = (self.track(key.sender), self.track(key.receiver));
        let mut flags = 0;
        if receive.nanos < send.nanos {
            flags |= BACKWARDS;
            let by = send.nanos - receive.nanos;
            let place = Place::Time { nanos: receive.nanos };
            issues.report(Severity::Warning, Stage::Import, "message-backwards", place, || {
                format!(
                    "a message from track {sender} to track {receiver} is received {by} ns before \
                     it is sent; the clocks of the two disagree"
                )
            });
        }
        if receive.bytes != send.bytes {
            flags |= OTHER_SIZE;
            let place = Place::Time { nanos: send.nanos };
            issues.report(Severity::Warning, Stage::Import, "message-sizes", place, || {
                format!(
                    "track {sender} sends {} bytes to track {receiver}, which receives {}: other \
                     messages may be matched wrongly too",
                    send.bytes, receive.bytes
                )
            });
        }
        self.done.push(self.row(key, flags, Some(send), Some(receive)));
    }

    /// Ends matching; `others` are peers that turned out to be others. What still waits then has no
    /// other side. All messages that are left go to `take`.
    pub(super) fn finish(
        mut self,
        others: &HashMap<Peer, Peer>,
        issues: &mut Issues,
        take: &mut dyn FnMut(MessageRow) -> Result<(), ConversionError>,
    ) -> Result<(), ConversionError> {
        if !self.late.is_empty() {
            return self.finish_late(others, issues, take);
        }
        self.join(others);
        let mut waiting: Vec<_> = self.waiting.drain().collect();
        // The order of a hash table must not show.
        waiting.sort_unstable_by_key(|(key, _)| *key);
        for (key, mut waiting) in waiting {
            while !waiting.sends.is_empty() && !waiting.receives.is_empty() {
                let (send, receive) = (waiting.sends.pop_front(), waiting.receives.pop_front());
                if let Some((send, receive)) = send.zip(receive) {
                    self.matched(key, send, receive, issues);
                }
            }
            for side in waiting.sends {
                self.alone(key, side, true, issues);
            }
            for side in waiting.receives {
                self.alone(key, side, false, issues);
            }
        }
        // Batches of messages that were sent at about the same time are read together.
        self.done.sort_by_key(|row| row.send_nanos);
        self.done.into_iter().try_for_each(take)
    }

    /// Sides of peers that turned out to be others wait together from now on.
    fn join(&mut self, others: &HashMap<Peer, Peer>) {
        let keys = self.waiting.keys();
        let moved: Vec<Key> = keys.filter(|key| key.joined(others) != **key).copied().collect();
        for key in moved {
            let Some(mut waiting) = self.waiting.remove(&key) else { continue };
            let known = self.waiting.entry(key.joined(others)).or_default();
            known.sends.append(&mut waiting.sends);
            known.receives.append(&mut waiting.receives);
            // Several peers may have turned out to be one.
            known.sends.make_contiguous().sort_by_key(|side| side.posted_nanos(true));
            known.receives.make_contiguous().sort_by_key(|side| side.posted_nanos(false));
        }
    }

    /// As [`Matcher::finish`], where sides are on the disk: they are sorted by key and side, which
    /// numbers them, then by key and number, which brings pairs together, then by time.
    fn finish_late(
        mut self,
        others: &HashMap<Peer, Peer>,
        issues: &mut Issues,
        take: &mut dyn FnMut(MessageRow) -> Result<(), ConversionError>,
    ) -> Result<(), ConversionError> {
        self.move_waiting(self.waiting.keys().copied().collect())?;
        let part = self.memory_bytes / 8;
        let empty = Sorter::new(Arc::clone(&self.sink), "none", 0);
        let sides = std::mem::replace(&mut self.late, empty);
        let mut joined = Sorter::<JOINED_BYTES>::new(Arc::clone(&self.sink), "joined", part);
        let mut pairs = Sorter::<PAIR_BYTES>::new(Arc::clone(&self.sink), "pairs", part);
        let mut numbers = Numbers::default();
        let mut sides = sides.finish()?;
        while let Some(row) = sides.next()? {
            let mut row = Unpacker::new(&row);
            let (key, side, number) = (Key::unpack(&mut row), row.u8(), row.u64());
            let half = Half::unpack(&mut row);
            let other = key.joined(others);
            if other == key {
                let number = numbers.next(key, side);
                pairs.push(half.pack(key.pack().u64(number).u8(side)))?;
            } else {
                // Sides of several peers come together in order of time.
                let posted = half.posted_nanos(side == 0);
                joined.push(half.pack(other.pack().u8(side).u64(posted).u64(number)))?;
            }
        }
        drop(sides);
        let mut joined = joined.finish()?;
        let mut numbers = Numbers::default();
        while let Some(row) = joined.next()? {
            let mut row = Unpacker::new(&row);
            let (key, side, _, _) = (Key::unpack(&mut row), row.u8(), row.u64(), row.u64());
            let number = numbers.next(key, side);
            pairs.push(Half::unpack(&mut row).pack(key.pack().u64(number).u8(side)))?;
        }
        drop(joined);
        let mut rows = Sorter::<ROW_BYTES>::new(Arc::clone(&self.sink), "messages", part);
        let mut pairs = pairs.finish()?;
        let mut send: Option<(Key, u64, Half)> = None;
        loop {
            let next = pairs.next()?;
            let side = next.as_ref().map(|row| {
                let mut row = Unpacker::new(row);
                let (key, number) = (Key::unpack(&mut row), row.u64());
                (key, number, row.u8() == 0, Half::unpack(&mut row))
            });
            match (send.take(), side) {
                (Some((key, number, send)), Some((other, n, false, receive)))
                    if (key, number) == (other, n) =>
                {
                    self.matched(key, send, receive, issues);
                }
                (before, side) => {
                    if let Some((key, _, send)) = before {
                        self.alone(key, send, true, issues);
                    }
                    match side {
                        Some((key, number, true, own)) => send = Some((key, number, own)),
                        Some((key, _, false, own)) => self.alone(key, own, false, issues),
                        None => {}
                    }
                }
            }
            for row in self.done.drain(..) {
                rows.push(pack_row(&row))?;
            }
            if next.is_none() {
                break;
            }
        }
        drop(pairs);
        let mut rows = rows.finish()?;
        while let Some(row) = rows.next()? {
            take(unpack_row(&row))?;
        }
        Ok(())
    }

    fn alone(&mut self, key: Key, side: Half, is_send: bool, issues: &mut Issues) {
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
        let place = Place::Time { nanos: side.nanos };
        issues.report(severity, Stage::Import, kind, place, || {
            let (verb, track) = if is_send { ("sent", sender) } else { ("received", receiver) };
            format!("a message {verb} by track {track} is not matched: {why}")
        });
        let (send, receive) = if is_send { (Some(side), None) } else { (None, Some(side)) };
        self.done.push(self.row(key, flags, send, receive));
    }

    /// The row of a message; a side that was not found has the time of the other one.
    fn row(&self, key: Key, flags: u8, send: Option<Half>, receive: Option<Half>) -> MessageRow {
        let nanos = |side: Option<Half>| side.map_or(0, |side| side.nanos);
        let request = |side: Option<Half>| side.map_or(NONE_64, |side| side.request_nanos);
        MessageRow {
            kind: 0,
            flags,
            sender: self.track(key.sender),
            receiver: self.track(key.receiver),
            communicator: key.communicator,
            tag: key.tag,
            bytes: send.or(receive).map_or(0, |side| side.bytes),
            send_nanos: nanos(send.or(receive)),
            receive_nanos: nanos(receive.or(send)),
            posted_nanos: request(receive),
            completed_nanos: request(send),
        }
    }
}

/// Numbers sides of one key in the order they come.
#[derive(Default)]
struct Numbers {
    last: Option<(Key, u8)>,
    next: u64,
}

impl Numbers {
    fn next(&mut self, key: Key, side: u8) -> u64 {
        if self.last != Some((key, side)) {
            (self.last, self.next) = (Some((key, side)), 0);
        }
        self.next += 1;
        self.next - 1
    }
}

fn pack_row(row: &MessageRow) -> [u8; ROW_BYTES] {
    let packer = Packer::new().u64(row.send_nanos).u64(row.receive_nanos);
    let packer = packer.u32(row.sender).u32(row.receiver).u32(row.communicator).i64(row.tag);
    let packer = packer.u64(row.bytes).u8(row.kind).u8(row.flags);
    packer.u64(row.posted_nanos).u64(row.completed_nanos).finish()
}

fn unpack_row(row: &[u8; ROW_BYTES]) -> MessageRow {
    let mut row = Unpacker::new(row);
    let (send_nanos, receive_nanos) = (row.u64(), row.u64());
    let (sender, receiver, communicator) = (row.u32(), row.u32(), row.u32());
    let (tag, bytes) = (row.i64(), row.u64());
    let (kind, flags) = (row.u8(), row.u8());
    let (posted_nanos, completed_nanos) = (row.u64(), row.u64());
    MessageRow {
        kind,
        flags,
        sender,
        receiver,
        communicator,
        tag,
        bytes,
        send_nanos,
        receive_nanos,
        posted_nanos,
        completed_nanos,
    }
}

#[cfg(test)]
mod tests {
    use parallax_base::MemorySink;
    use parallax_native::DiskSink;
    use proptest::prelude::*;

    use super::*;

    fn side(nanos: u64, partner: Peer, tag: i64, bytes: u64, is_send: bool) -> Side {
        let partner = Some(partner);
        let endpoint = Endpoint { nanos, partner, communicator: 0, tag, bytes, is_send };
        // Some have requests.
        Side { endpoint, request_nanos: nanos.is_multiple_of(3).then_some(nanos) }
    }

    /// A matcher that knows two tracks.
    fn two() -> (Matcher, Peer, Peer) {
        let mut matcher = Matcher::new(Arc::new(MemorySink::new()), 1 << 20);
        let (a, b) = (matcher.peer(), matcher.peer());
        matcher.bind(a, 0);
        matcher.bind(b, 1);
        (matcher, a, b)
    }

    #[test]
    fn the_first_send_belongs_to_the_first_receive_of_its_tag() {
        let ((mut matcher, a, b), mut issues) = (two(), Issues::new());
        // The receiver's events come first: tracks are read one after the other.
        matcher.offer(b, side(20, a, 7, 100, false), &mut issues).unwrap();
        matcher.offer(b, side(30, a, 8, 50, false), &mut issues).unwrap();
        matcher.offer(b, side(40, a, 7, 200, false), &mut issues).unwrap();
        matcher.offer(a, side(1, b, 7, 100, true), &mut issues).unwrap();
        matcher.offer(a, side(2, b, 7, 200, true), &mut issues).unwrap();
        matcher.offer(a, side(35, b, 8, 50, true), &mut issues).unwrap();
        matcher.offer(a, side(50, b, 9, 1, true), &mut issues).unwrap();
        let rows = finished(matcher, &mut issues);
        let pairs: Vec<_> = rows.iter().map(|m| (m.send_nanos, m.receive_nanos, m.flags)).collect();
        assert_eq!(pairs, [(1, 20, 0), (2, 40, 0), (35, 30, BACKWARDS), (50, 50, NO_RECEIVE)]);
        let kinds: Vec<_> = issues.list().iter().map(|i| i.kind).collect();
        assert_eq!(kinds, ["message-backwards", "send-without-receive"]);
    }

    #[test]
    fn sides_that_disagree_about_the_size_are_told() {
        let ((mut matcher, a, b), mut issues) = (two(), Issues::new());
        matcher.offer(a, side(1, b, 7, 100, true), &mut issues).unwrap();
        matcher.offer(b, side(2, a, 7, 101, false), &mut issues).unwrap();
        assert_eq!(matcher.done.first().map(|m| (m.flags, m.bytes)), Some((OTHER_SIZE, 100)));
    }

    /// All messages, those left included.
    fn finished(matcher: Matcher, issues: &mut Issues) -> Vec<MessageRow> {
        let mut rows = Vec::new();
        let mut take = |row| {
            rows.push(row);
            Ok(())
        };
        matcher.finish(&HashMap::new(), issues, &mut take).unwrap();
        rows
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn messages_are_the_same_wherever_their_sides_waited(
            sides in prop::collection::vec((0..3_u32, 0..4_u32, 0..5_i64, any::<bool>()), 0..400),
            most_waiting in 0..40_usize,
        ) {
            let run = |sink: Arc<dyn FolderSink>, most: usize| {
                let (mut matcher, mut issues) = (Matcher::new(sink, 1 << 20), Issues::new());
                let peers: Vec<Peer> = (0..4).map(|_| matcher.peer()).collect();
                // The last one has no track: its messages are never whole.
                for (peer, track) in peers.iter().zip(0..3) {
                    matcher.bind(*peer, track);
                }
                matcher.most_waiting = most;
                for (nanos, &(own, partner, tag, is_send)) in (0..).zip(&sides) {
                    let side = side(nanos, peers[partner as usize], tag, nanos % 7, is_send);
                    matcher.offer(peers[own as usize], side, &mut issues).unwrap();
                }
                let mut rows = finished(matcher, &mut issues);
                rows.sort_by_key(pack_row);
                let kinds: Vec<_> = issues.list().iter().map(|i| (i.kind, i.count)).collect();
                let mut kinds = kinds;
                kinds.sort_unstable();
                (rows, kinds)
            };
            let place = tempfile::tempdir().unwrap();
            let disk = Arc::new(DiskSink::new(&place.path().join("a")).unwrap());
            let all = run(Arc::new(MemorySink::new()), usize::MAX);
            prop_assert_eq!(&run(Arc::new(MemorySink::new()), most_waiting), &all);
            prop_assert_eq!(&run(disk, most_waiting), &all);
        }
    }
}
