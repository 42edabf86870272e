//! OTF2 traces: a writer of records, and traces of any size with answers known beforehand.
//!
//! The layout follows the format description, not the reader of Parallax; what the writer makes is
//! read by `otf2-print`, too.

use std::collections::BTreeMap;

/// The order of the bytes of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Least significant first.
    Little,
    /// Most significant first.
    Big,
}

/// The smallest chunk that libotf2 accepts, in bytes.
pub const SMALL_CHUNK: usize = 256 << 10;

/// Builds the bytes of one record's fields.
#[derive(Debug, Clone)]
pub struct Fields {
    bytes: Vec<u8>,
    order: Order,
}

impl Fields {
    /// No fields yet.
    #[must_use]
    pub const fn new(order: Order) -> Self {
        Self { bytes: Vec::new(), order }
    }

    /// One byte.
    #[must_use]
    pub fn u8(mut self, n: u8) -> Self {
        self.bytes.push(n);
        self
    }

    /// Four bytes.
    #[must_use]
    pub fn full32(mut self, n: u32) -> Self {
        match self.order {
            Order::Little => self.bytes.extend(n.to_le_bytes()),
            Order::Big => self.bytes.extend(n.to_be_bytes()),
        }
        self
    }

    /// Eight bytes.
    #[must_use]
    pub fn full64(mut self, n: u64) -> Self {
        match self.order {
            Order::Little => self.bytes.extend(n.to_le_bytes()),
            Order::Big => self.bytes.extend(n.to_be_bytes()),
        }
        self
    }

    /// A compressed number of 32 bits.
    #[must_use]
    pub fn c32(self, n: u32) -> Self {
        if n == u32::MAX { self.u8(255) } else { self.c64(n.into()) }
    }

    /// A compressed number of 64 bits.
    #[must_use]
    pub fn c64(mut self, n: u64) -> Self {
        if n == u64::MAX {
            return self.u8(255);
        }
        let len = 8 - n.leading_zeros() as usize / 8;
        self.bytes.push(len as u8);
        match self.order {
            Order::Little => self.bytes.extend(&n.to_le_bytes()[..len]),
            Order::Big => self.bytes.extend(&n.to_be_bytes()[8 - len..]),
        }
        self
    }

    /// A compressed number with sign.
    #[must_use]
    pub fn signed(mut self, n: i64) -> Self {
        if n == -1 {
            // libotf2 writes all eight bytes here.
            self.bytes.push(8);
            return self.full64(u64::MAX);
        }
        self.c64(n.cast_unsigned())
    }

    /// A text and its zero byte.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        self.bytes.extend(text.as_bytes());
        self.u8(0)
    }
}

/// Builds a chunked file: definitions or events.
#[derive(Debug, Clone)]
pub struct File {
    bytes: Vec<u8>,
    order: Order,
    chunk_size: usize,
    /// Where the current chunk starts.
    start: usize,
    events: u64,
    time: Option<u64>,
    has_events: bool,
}

impl File {
    /// A file of definitions.
    #[must_use]
    pub fn definitions(order: Order, chunk_size: usize) -> Self {
        let mut file = Self {
            bytes: Vec::new(),
            order,
            chunk_size,
            start: 0,
            events: 0,
            time: None,
            has_events: false,
        };
        file.header();
        file
    }

    /// A file of events.
    #[must_use]
    pub fn events(order: Order, chunk_size: usize) -> Self {
        Self { has_events: true, ..Self::definitions(order, chunk_size) }
    }

    /// Fields in the byte order of the file.
    #[must_use]
    pub const fn fields(&self) -> Fields {
        Fields::new(self.order)
    }

    /// Adds a definition, or something else without a time.
    pub fn record(&mut self, kind: u8, fields: &Fields) {
        let bytes = with_length(kind, fields);
        self.place(&bytes);
    }

    /// Adds an event.
    pub fn event(&mut self, time: u64, kind: u8, fields: &Fields) {
        let bytes = with_length(kind, fields);
        self.timed(time, &bytes);
    }

    /// Adds an event with attributes.
    pub fn event_with(&mut self, time: u64, attributes: &Fields, kind: u8, fields: &Fields) {
        let mut bytes = with_length(6, attributes);
        bytes.extend(with_length(kind, fields));
        self.timed(time, &bytes);
    }

    /// Adds an event that is its kind and one number, such as the begin and the end of a region.
    pub fn bare(&mut self, time: u64, kind: u8, number: u64) {
        let mut bytes = [0; 10];
        bytes[0] = kind;
        let fields = Fields::new(self.order);
        let number = if kind <= 13 { fields.c32(number as u32) } else { fields.c64(number) };
        let len = number.bytes.len();
        bytes[1..=len].copy_from_slice(&number.bytes);
        self.timed(time, &bytes[..=len]);
    }

    /// The begin of a region.
    pub fn enter(&mut self, time: u64, region: u32) {
        self.bare(time, 12, region.into());
    }

    /// The end of a region.
    pub fn leave(&mut self, time: u64, region: u32) {
        self.bare(time, 13, region.into());
    }

    /// How many events were added.
    #[must_use]
    pub const fn event_count(&self) -> u64 {
        self.events
    }

    /// The bytes of the file.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.extend([2, 1]);
        self.number_chunk();
        self.bytes
    }

    fn timed(&mut self, time: u64, bytes: &[u8]) {
        if !self.fits(bytes.len() + 9) {
            self.next_chunk();
        }
        self.events += 1;
        if self.time != Some(time) {
            self.bytes.push(5);
            match self.order {
                Order::Little => self.bytes.extend(time.to_le_bytes()),
                Order::Big => self.bytes.extend(time.to_be_bytes()),
            }
            self.time = Some(time);
        }
        self.bytes.extend(bytes);
    }

    fn place(&mut self, bytes: &[u8]) {
        if !self.fits(bytes.len()) {
            self.next_chunk();
        }
        self.bytes.extend(bytes);
    }

    /// Whether a record of `len` bytes and the marks of an end fit the chunk.
    fn fits(&self, len: usize) -> bool {
        self.bytes.len() - self.start + len + 2 <= self.chunk_size
    }

    fn next_chunk(&mut self) {
        self.number_chunk();
        self.start += self.chunk_size;
        self.bytes.resize(self.start, 0);
        self.header();
        // Every chunk can be read by itself, so its first event has its time again.
        self.time = None;
    }

    fn header(&mut self) {
        let mark = if self.order == Order::Little { b'B' } else { b'#' };
        self.bytes.extend([3, mark]);
        self.put(self.bytes.len(), self.events + 1);
        self.put(self.bytes.len(), 0);
    }

    /// Writes the number of the chunk's last event into its header.
    fn number_chunk(&mut self) {
        if self.has_events {
            self.put(self.start + 10, self.events);
        }
    }

    fn put(&mut self, at: usize, n: u64) {
        let bytes = match self.order {
            Order::Little => n.to_le_bytes(),
            Order::Big => n.to_be_bytes(),
        };
        self.bytes.resize(self.bytes.len().max(at + 8), 0);
        self.bytes[at..at + 8].copy_from_slice(&bytes);
    }
}

fn with_length(kind: u8, fields: &Fields) -> Vec<u8> {
    let len = fields.bytes.len();
    let mut bytes = vec![kind];
    if len < 255 {
        bytes.push(len as u8);
    } else {
        let len = Fields::new(fields.order).u8(255).full64(len as u64);
        bytes.extend(&len.bytes);
    }
    bytes.extend(&fields.bytes);
    bytes
}

/// What an anchor file says.
#[derive(Debug, Clone, Copy)]
pub struct Anchor {
    /// The byte order.
    pub order: Order,
    /// Bytes of a chunk.
    pub chunk_size: usize,
    /// 1 for plain files, 2 for SION containers.
    pub substrate: u8,
    /// 1 for none, 2 for zlib.
    pub compression: u8,
    /// How many locations there are.
    pub locations: u64,
    /// How many global definitions there are.
    pub definitions: u64,
}

impl Anchor {
    /// The bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mark = if self.order == Order::Little { b'B' } else { b'#' };
        let chunk = self.chunk_size as u64;
        let fields = Fields::new(self.order).u8(3).u8(mark).text("OTF2");
        let fields = fields.u8(3).u8(2).u8(3).u8(0).u8(2).full64(chunk).full64(chunk);
        let fields = fields.u8(self.substrate).u8(self.compression);
        let fields = fields.full64(self.locations).full64(self.definitions);
        let fields = fields.text("").text("testkit").text("").full32(0);
        fields.full64(1).full32(0).full32(0).u8(2).u8(1).u8(0).bytes
    }
}

/// The shape of a generated trace.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// The byte order.
    pub order: Order,
    /// Bytes of a chunk.
    pub chunk_size: usize,
    /// How many locations there are, each a rank of one communicator.
    pub locations: u32,
    /// How often each location enters and leaves a region.
    pub calls: u64,
    /// Every so many calls a location sends a message to the next rank, and receives one; 0 for
    /// never.
    pub message_every: u64,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            order: Order::Little,
            chunk_size: 1 << 20,
            locations: 2,
            calls: 1000,
            message_every: 10,
        }
    }
}

/// What is known about a generated location.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Planted {
    /// Regions entered, and left.
    pub calls: u64,
    /// Messages sent, and received.
    pub messages: u64,
    /// Time in region 2, the innermost, in ticks of a nanosecond.
    pub innermost_ticks: u64,
    /// The last time stamp.
    pub last_ticks: u64,
}

/// When every generated trace starts, in ticks.
pub const START_TICKS: u64 = 1_000_000_000_000;

/// The files of a trace, by their paths, and what is known about each location.
///
/// Every location calls region 0, that region 1, that region 2, and then region 2 again, until the
/// calls are used up. A call of region 2 takes 100 ticks plus the rank.
#[must_use]
pub fn generate(shape: &Shape) -> (BTreeMap<String, Vec<u8>>, Vec<Planted>) {
    let mut files = BTreeMap::new();
    let mut planted = Vec::new();
    for rank in 0..shape.locations {
        let (events, known) = location(shape, rank);
        files.insert(format!("traces/{rank}.evt"), events.finish());
        let local = File::definitions(shape.order, shape.chunk_size);
        files.insert(format!("traces/{rank}.def"), local.finish());
        planted.push(known);
    }
    let (definitions, count) = definitions(shape, &planted);
    files.insert("traces.def".into(), definitions.finish());
    let anchor = Anchor {
        order: shape.order,
        chunk_size: shape.chunk_size,
        substrate: 1,
        compression: 1,
        locations: shape.locations.into(),
        definitions: count,
    };
    files.insert("traces.otf2".into(), anchor.bytes());
    (files, planted)
}

/// How deep the regions of a generated trace are nested.
const DEPTH: u64 = 3;

fn location(shape: &Shape, rank: u32) -> (File, Planted) {
    let mut file = File::events(shape.order, shape.chunk_size);
    let mut known = Planted { calls: shape.calls, last_ticks: START_TICKS, ..Planted::default() };
    let outer = shape.calls.min(DEPTH - 1);
    for region in 0..outer {
        known.last_ticks += 10;
        file.enter(known.last_ticks, region as u32);
    }
    for call in outer..shape.calls {
        known.last_ticks += 7;
        file.enter(known.last_ticks, 2);
        if shape.message_every > 0 && call % shape.message_every == 0 {
            known.messages += 1;
            let to = (rank + 1) % shape.locations;
            let from = (rank + shape.locations - 1) % shape.locations;
            for (kind, peer) in [(14, to), (18, from)] {
                let fields = file.fields().c32(peer).c32(0).c32(call as u32).c64(call * 8);
                file.event(known.last_ticks, kind, &fields);
            }
        }
        let takes = 100 + u64::from(rank);
        known.last_ticks += takes;
        known.innermost_ticks += takes;
        file.leave(known.last_ticks, 2);
    }
    for region in (0..outer).rev() {
        known.last_ticks += 10;
        file.leave(known.last_ticks, region as u32);
    }
    (file, known)
}

fn definitions(shape: &Shape, planted: &[Planted]) -> (File, u64) {
    let mut file = File::definitions(shape.order, shape.chunk_size);
    let mut count = 0;
    let mut add = |kind, fields: Fields| {
        file.record(kind, &fields);
        count += 1;
    };
    let f = || Fields::new(shape.order);
    let end = planted.iter().map(|known| known.last_ticks).max().unwrap_or(START_TICKS);
    add(5, f().c64(1_000_000_000).c64(START_TICKS).c64(end - START_TICKS).c64(u64::MAX));
    let names = ["", "machine", "main", "solve", "step", "world", "rank"];
    for (id, name) in (0..).zip(names) {
        add(10, f().c32(id).text(name));
    }
    add(12, f().c32(0).c32(1).c32(1).c32(u32::MAX));
    for (rank, known) in (0..).zip(planted) {
        let events = 2 * (known.calls + known.messages);
        add(13, f().c32(rank).c32(6).u8(1).c32(0).c32(u32::MAX));
        add(14, f().c64(rank.into()).c32(6).u8(1).c64(events).c32(rank));
    }
    for region in 0..DEPTH as u32 {
        let fields = f().c32(region).c32(2 + region).c32(0).u8(0).c32(0).c32(0).c32(0);
        add(15, fields.c32(2 + region).u8(1).u8(1).c32(0));
    }
    for (id, kind) in [(0, 4), (1, 5)] {
        let head = f().c32(id).c32(0).u8(kind).c32(shape.locations);
        let members = (0..shape.locations).fold(head, |fields, rank| fields.c64(rank.into()));
        add(18, members.u8(kind).u8(4).c32(0));
    }
    add(22, f().c32(0).c32(5).c32(1).c32(u32::MAX).c32(0));
    (file, count)
}
