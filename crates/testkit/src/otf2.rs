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

    /// The begin or the end of a region, with attributes.
    pub fn region_with(&mut self, time: u64, attributes: &Fields, kind: u8, region: u32) {
        let mut bytes = with_length(6, attributes);
        bytes.push(kind);
        bytes.extend(&self.fields().c32(region).bytes);
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
    let events: Vec<u64> = planted.iter().map(|known| 2 * (known.calls + known.messages)).collect();
    let end = planted.iter().map(|known| known.last_ticks).max().unwrap_or(START_TICKS);
    finish(shape, &mut files, &["main", "solve", "step"], &events, &[], end);
    (files, planted)
}

/// Adds what a trace has besides its events: definitions and the anchor.
fn finish(
    shape: &Shape,
    files: &mut BTreeMap<String, Vec<u8>>,
    regions: &[&str],
    events: &[u64],
    streams: &[u32],
    end_ticks: u64,
) {
    let (definitions, count) = definitions(shape, regions, events, streams, end_ticks);
    files.insert("traces.def".into(), definitions.finish());
    let anchor = Anchor {
        order: shape.order,
        chunk_size: shape.chunk_size,
        substrate: 1,
        compression: 1,
        locations: events.len() as u64,
        definitions: count,
    };
    files.insert("traces.otf2".into(), anchor.bytes());
}

/// The communicator of all ranks of a written program.
pub const WORLD: u32 = 0;
/// The communicator of each rank alone, one definition for all, as Score-P writes it.
pub const ALONE: u32 = 1;

/// What a rank of a written program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Enters a region, by its name.
    Enter(&'static str),
    /// Leaves the region that it entered last.
    Leave,
    /// Sends bytes to a rank, and blocks.
    Send(u32, u64),
    /// Has received bytes from a rank, in a call that blocks.
    Receive(u32, u64),
    /// Starts to send bytes to a rank, with the number of a request.
    Isend(u32, u64, u64),
    /// What the request started to send is sent.
    IsendComplete(u64),
    /// Posts a receive, with the number of a request.
    IrecvRequest(u64),
    /// Has received bytes from a rank for a request.
    Irecv(u32, u64, u64),
    /// Gives up a request.
    Cancel(u64),
    /// Comes to a collective operation.
    CollectiveBegin,
    /// Goes on after one: its number, communicator and root.
    CollectiveEnd(u8, u32, Option<u32>),
}

/// The files of a trace in which each rank does these steps, at these nanoseconds after
/// [`START_TICKS`]. Messages have tag 0.
#[must_use]
pub fn write(shape: &Shape, ranks: &[Vec<(u64, Step)>]) -> BTreeMap<String, Vec<u8>> {
    write_with_streams(shape, ranks, &[])
}

/// The same with streams of GPUs, each of a rank. Like HIP's adapters, it has no record of what
/// launched what.
#[must_use]
pub fn write_with_streams(
    shape: &Shape,
    ranks: &[Vec<(u64, Step)>],
    streams: &[(u32, Vec<(u64, Step)>)],
) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut regions: Vec<&str> = Vec::new();
    let (mut events, mut end) = (Vec::new(), START_TICKS);
    let of_streams = streams.iter().map(|(_, steps)| steps);
    for (rank, steps) in ranks.iter().chain(of_streams).enumerate() {
        let mut file = File::events(shape.order, shape.chunk_size);
        let mut open = Vec::new();
        for &(nanos, step) in steps {
            let time = START_TICKS + nanos;
            end = end.max(time);
            let message = |peer, bytes| file.fields().c32(peer).c32(WORLD).c32(0).c64(bytes);
            match step {
                Step::Enter(name) => {
                    let known = regions.iter().position(|region| *region == name);
                    let region = known.unwrap_or(regions.len());
                    if known.is_none() {
                        regions.push(name);
                    }
                    open.push(region as u32);
                    file.enter(time, region as u32);
                }
                Step::Leave => file.leave(time, open.pop().unwrap_or(0)),
                Step::Send(peer, bytes) => file.event(time, 14, &message(peer, bytes)),
                Step::Receive(peer, bytes) => file.event(time, 18, &message(peer, bytes)),
                Step::Isend(peer, bytes, request) => {
                    file.event(time, 15, &message(peer, bytes).c64(request));
                }
                Step::Irecv(peer, bytes, request) => {
                    file.event(time, 19, &message(peer, bytes).c64(request));
                }
                Step::IsendComplete(request) => file.bare(time, 16, request),
                Step::IrecvRequest(request) => file.bare(time, 17, request),
                Step::Cancel(request) => file.bare(time, 21, request),
                Step::CollectiveBegin => file.event(time, 22, &file.fields()),
                Step::CollectiveEnd(operation, communicator, root) => {
                    let fields = file.fields().u8(operation).c32(communicator);
                    let fields = fields.c32(root.unwrap_or(u32::MAX)).c64(8).c64(8);
                    file.event(time, 23, &fields);
                }
            }
        }
        events.push(file.event_count());
        files.insert(format!("traces/{rank}.evt"), file.finish());
        let local = File::definitions(shape.order, shape.chunk_size);
        files.insert(format!("traces/{rank}.def"), local.finish());
    }
    let streams: Vec<u32> = streams.iter().map(|(rank, _)| *rank).collect();
    finish(shape, &mut files, &regions, &events, &streams, end);
    files
}

/// A rank that launches a kernel, waits for it, prepares for 60 us, launches `solve_kernel` and
/// waits for that, as HIP's adapter records it: with calls and kernels, and nothing between them.
/// The run takes 200 us, of which `solve_kernel` takes 85 us.
#[must_use]
pub fn hip_program() -> BTreeMap<String, Vec<u8>> {
    let calls = |calls: &[(u64, u64, &'static str)]| -> Vec<(u64, Step)> {
        let steps = calls.iter().flat_map(|&(from, to, name)| {
            [(from * 1000, Step::Enter(name)), (to * 1000, Step::Leave)]
        });
        steps.collect()
    };
    let mut thread = calls(&[
        (5, 8, "hipLaunchKernel"),
        (10, 40, "hipEventSynchronize"),
        (40, 100, "prepare"),
        (100, 103, "hipLaunchKernel"),
        (105, 195, "hipEventSynchronize"),
    ]);
    thread.insert(0, (0, Step::Enter("main")));
    thread.push((200_000, Step::Leave));
    let stream = calls(&[(10, 38, "init_kernel"), (107, 192, "solve_kernel")]);
    write_with_streams(&Shape::default(), &[thread], &[(0, stream)])
}

/// How long each rank of [`halo_exchange`] is in `MPI_Sendrecv` in all, in nanoseconds, and how
/// long of that it waits.
pub const HALO_NANOS: [(u64, u64); 2] = [(91_100_000, 90_000_000), (1_100_000, 0)];

/// Two ranks that exchange with `MPI_Sendrecv` after each of 100 steps of 1 ms, of which rank 1
/// computes 0.989 ms and rank 0 0.089 ms: rank 0 waits 0.9 ms in each, and the exchange takes
/// 0.011 ms.
#[must_use]
pub fn halo_exchange() -> BTreeMap<String, Vec<u8>> {
    let rank = |rank: u32, computes: u64| {
        let mut steps = vec![(0, Step::Enter("main"))];
        for step in 0..100 {
            let begin = step * 1_000_000;
            steps.extend([
                (begin, Step::Enter("compute")),
                (begin + computes, Step::Leave),
                (begin + computes, Step::Enter("MPI_Sendrecv")),
                (begin + computes, Step::Send(1 - rank, 8192)),
                (begin + 1_000_000, Step::Receive(1 - rank, 8192)),
                (begin + 1_000_000, Step::Leave),
            ]);
        }
        steps.push((100_000_000, Step::Leave));
        steps
    };
    write(&Shape::default(), &[rank(0, 89_000), rank(1, 989_000)])
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

fn definitions(
    shape: &Shape,
    regions: &[&str],
    events: &[u64],
    streams: &[u32],
    end_ticks: u64,
) -> (File, u64) {
    let ranks = events.len() - streams.len();
    let mut file = File::definitions(shape.order, shape.chunk_size);
    let mut count = 0;
    let mut add = |kind, fields: Fields| {
        file.record(kind, &fields);
        count += 1;
    };
    let f = || Fields::new(shape.order);
    add(5, f().c64(1_000_000_000).c64(START_TICKS).c64(end_ticks - START_TICKS).c64(u64::MAX));
    let names = ["", "machine", "world", "self", "rank"];
    let first = names.len() as u32;
    for (id, name) in (0..).zip(names.iter().chain(regions)) {
        add(10, f().c32(id).text(name));
    }
    add(12, f().c32(0).c32(1).c32(1).c32(u32::MAX));
    for (rank, events) in (0..).zip(events.iter().take(ranks)) {
        add(13, f().c32(rank).c32(4).u8(1).c32(0).c32(u32::MAX));
        add(14, f().c64(rank.into()).c32(4).u8(1).c64(*events).c32(rank));
    }
    for ((stream, events), rank) in (0..).zip(events).skip(ranks).zip(streams) {
        let id: u32 = stream;
        add(14, f().c64(id.into()).c32(4).u8(2).c64(*events).c32(*rank));
    }
    for (region, name) in (0..).zip(regions) {
        let is_hip = name.starts_with("hip") || name.ends_with("_kernel");
        let paradigm = match is_hip {
            true => 23,
            false if name.starts_with("MPI_") => 4,
            false => 1,
        };
        let fields = f().c32(region).c32(first + region).c32(0).u8(0).c32(0).c32(0).c32(0);
        add(15, fields.c32(first + region).u8(1).u8(paradigm).c32(0));
    }
    let locations = ranks as u32;
    for (id, kind, members) in [(0, 4, locations), (1, 5, locations), (2, 6, 0)] {
        let head = f().c32(id).c32(0).u8(kind).c32(members);
        let members = (0..members).fold(head, |fields, rank| fields.c64(rank.into()));
        add(18, members.u8(kind).u8(4).c32(0));
    }
    for (id, name, group) in [(WORLD, 2, 1), (ALONE, 3, 2)] {
        add(22, f().c32(id).c32(name).c32(group).c32(u32::MAX).c32(0));
    }
    (file, count)
}
