//! [`Conversion`]: from the events of all tracks to the tables of an archive.

mod counted;
mod fork;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parallax_base::{FolderSink, Issues, LimitExceeded, Limits};
use parallax_formats::archive::{
    ArchiveWriter, COARSER_NODES, CollectiveRow, ContextRow, CounterRow, FunctionRow, MarkerRow,
    MessageRow, NONE_32, NONE_64, NodeRow, OpenRow, SpanRow, ValueRow, WriteError, keys,
};
use parallax_model::IdentityKind;

use super::arguments::PendingArguments;
use super::components::{Components, InputPlan, Survey};
use super::messages::{Matcher, NO_RECEIVE, NO_SEND};
use super::pending::{PendingIntervals, PendingProfile, Touched};
use super::recorded::TrackFacts;
use super::rows::{issue_rows, node_row, set_first_children, span, track_row, write_sums};
use super::sorter::Sorter;
use super::spool::Spool;
use super::track::{Node, Peer, TrackBuilder};
use super::transfers::Transfers;

/// Rows of a batch of messages, collectives, values or markers.
const ROWS: usize = 1 << 14;

/// About what a track, a context of a track and a function take while a trace is converted.
const TRACK_BYTES: u64 = 1536;
const CONTEXT_BYTES: u64 = 128;
const FUNCTION_BYTES: u64 = 256;

/// Group of the rows of the function table that are files.
const FILE_GROUP: &str = "file";

/// Tables whose batches [`SpanRow`] describes.
const MESSAGES: u8 = 0;
const COLLECTIVES: u8 = 1;
const VALUES: u8 = 2;
const MARKERS: u8 = 3;

/// Why a conversion stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConversionError {
    /// The archive cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// It was withdrawn.
    #[error(transparent)]
    Cancelled(#[from] parallax_base::Cancelled),
    /// The trace has more of something than may be kept.
    #[error("{0}; raise the limit of memory, or convert a part of the trace")]
    Limit(#[from] LimitExceeded),
    /// What waits for its order cannot be kept.
    #[error("cannot keep what waits next to the archive: {0}")]
    Scratch(#[from] std::io::Error),
    /// The source cannot be read at all.
    #[error(transparent)]
    Format(#[from] parallax_formats::FormatError),
    /// Clocks cannot be brought together as it was asked.
    #[error("{component} says nothing about the time of day; {hint}")]
    NoTimeOfDay {
        /// The component whose trace lacks it.
        component: String,
        /// What to do.
        hint: &'static str,
    },
}

/// What a track is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum TrackKind {
    /// A thread.
    #[default]
    Thread,
    /// A stream of a GPU.
    Stream,
    /// Intervals that overlap those of another track without nesting in them.
    Overlap,
}

/// Who a track is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrackIdentity {
    /// The display name.
    pub name: String,
    /// What it is.
    pub kind: TrackKind,
    /// Its identity tuple.
    pub identity: Vec<(IdentityKind, u64)>,
    /// Records that the source says it has.
    pub declared: Option<u64>,
}

impl TrackIdentity {
    /// A part of the identity tuple.
    pub(super) fn part(&self, wanted: IdentityKind) -> Option<u64> {
        self.identity.iter().find(|(kind, _)| *kind == wanted).map(|(_, id)| *id)
    }

    /// What messages call the track: its name, or its identity, behind that of its component.
    fn label(&self, component: Option<&str>) -> String {
        let parts = self.identity.iter().filter(|(kind, _)| *kind != IdentityKind::Application);
        let parts: Vec<_> = parts.map(|(kind, id)| format!("{} {id}", kind.name())).collect();
        let own = if self.name.is_empty() { parts.join(" ") } else { self.name.clone() };
        component.map_or_else(|| own.clone(), |component| format!("{component} {own}"))
    }
}

/// Takes events of all tracks and writes an archive.
///
/// Readers add functions and tracks, feed the [`TrackBuilder`]s (several at the same time if they
/// can), and call [`Conversion::commit`] now and then, which takes what is complete.
pub struct Conversion {
    writer: ArchiveWriter,
    functions: Vec<FunctionRow>,
    function_numbers: HashMap<(String, String), u32>,
    contexts: Vec<ContextRow>,
    children: HashMap<(u32, u32), u32>,
    counters: Vec<CounterRow>,
    identities: Vec<TrackIdentity>,
    tracks: Vec<TrackBuilder>,
    /// Tracks that were fed since the last commit.
    touched: Touched,
    /// Bytes that wait in each track, and in all, as of the last commit.
    waiting: Vec<usize>,
    all_waiting: usize,
    peers: Vec<Peer>,
    /// Space, rank and thread of peers, where the source says who they are.
    peers_at: HashMap<Peer, (usize, u64, u64)>,
    /// For each track: the archive's context of each of its own.
    maps: Vec<Vec<u32>>,
    /// Nodes of level 0 have their place in `leaves` for their first child.
    nodes: Vec<NodeRow>,
    /// For each node of level 0: the number of its batch, and starts of open contexts.
    leaves: Vec<(u32, Vec<u64>)>,
    /// Nodes over the highest ones of all tracks; contexts are the archive's.
    coarser: Vec<(u32, usize, Node)>,
    intervals: PendingIntervals,
    arguments: PendingArguments,
    profile: PendingProfile,
    /// Tracks that have ended; the profile has all before the first that has not.
    ended: Vec<bool>,
    num_profiled: usize,
    num_sums: u32,
    limits: Limits,
    matcher: Matcher,
    /// Where the archive goes, and what waits for its order meanwhile.
    sink: Arc<dyn FolderSink>,
    transfers: Transfers,
    collectives: Vec<CollectiveRow>,
    markers: Vec<MarkerRow>,
    values: HashMap<(u32, u32), Vec<(u64, f64)>>,
    /// Keys of those that fill a batch.
    full_values: Vec<(u32, u32)>,
    num_values: usize,
    spans: Vec<SpanRow>,
    components: Components,
    formats: Vec<String>,
    facts: Vec<(String, String)>,
    track_facts: TrackFacts,
    memory_bytes: usize,
    /// What was repaired so far, besides what tracks report.
    pub issues: Issues,
}

impl Conversion {
    /// Begins an archive in `sink`. Events that wait for their batch take about `memory_bytes` at
    /// most.
    ///
    /// # Errors
    /// When the archive cannot be written.
    pub fn new(sink: Arc<dyn FolderSink>, memory_bytes: usize) -> Result<Self, ConversionError> {
        Self::within(sink, memory_bytes, &Limits::default())
    }

    /// As [`Conversion::new`], within other limits.
    ///
    /// # Errors
    /// When the archive cannot be written.
    pub fn within(
        sink: Arc<dyn FolderSink>,
        memory_bytes: usize,
        limits: &Limits,
    ) -> Result<Self, ConversionError> {
        Ok(Self {
            writer: ArchiveWriter::new(Arc::clone(&sink))?,
            functions: Vec::new(),
            function_numbers: HashMap::new(),
            contexts: vec![ContextRow { parent: NONE_32, function: NONE_32 }],
            children: HashMap::new(),
            counters: Vec::new(),
            identities: Vec::new(),
            tracks: Vec::new(),
            touched: Touched::default(),
            waiting: Vec::new(),
            all_waiting: 0,
            peers: Vec::new(),
            peers_at: HashMap::new(),
            maps: Vec::new(),
            nodes: Vec::new(),
            leaves: Vec::new(),
            coarser: Vec::new(),
            intervals: PendingIntervals::default(),
            arguments: PendingArguments::default(),
            profile: PendingProfile::default(),
            ended: Vec::new(),
            num_profiled: 0,
            num_sums: 0,
            limits: *limits,
            matcher: Matcher::new(Arc::clone(&sink), memory_bytes),
            sink,
            transfers: Transfers::default(),
            collectives: Vec::new(),
            markers: Vec::new(),
            values: HashMap::new(),
            full_values: Vec::new(),
            num_values: 0,
            spans: Vec::new(),
            components: Components::default(),
            formats: Vec::new(),
            facts: Vec::new(),
            track_facts: TrackFacts::default(),
            memory_bytes,
            issues: Issues::new(),
        })
    }

    /// The row of a function, by name and group; it is added when it is new.
    pub fn function(&mut self, name: &str, group: &str) -> u32 {
        let key = (name.to_owned(), group.to_owned());
        if let Some(&known) = self.function_numbers.get(&key) {
            return known;
        }
        let row = FunctionRow {
            name: name.to_owned(),
            group: group.to_owned(),
            file: String::new(),
            line: 0,
            kind: FunctionRow::FUNCTION,
        };
        let number = self.add_function(row);
        self.function_numbers.insert(key, number);
        number
    }

    /// The row that a file is known by: it is no function that anything enters.
    pub fn file(&mut self, path: &str) -> u32 {
        self.function(path, FILE_GROUP)
    }

    /// Adds a function, loop or line, although another one may have the same name.
    pub fn add_function(&mut self, row: FunctionRow) -> u32 {
        let number = u32::try_from(self.functions.len()).unwrap_or(NONE_32);
        self.functions.push(row);
        number
    }

    /// Adds a counter.
    pub fn counter(&mut self, name: &str, unit: &str) -> u32 {
        let number = u32::try_from(self.counters.len()).unwrap_or(NONE_32);
        self.counters.push(CounterRow { name: name.to_owned(), unit: unit.to_owned() });
        number
    }

    /// Adds a track; its number is its row.
    pub fn track(&mut self, identity: TrackIdentity) -> u32 {
        let peer = self.peer();
        self.track_of(peer, identity)
    }

    /// Adds the track that others spoke of as `peer` before.
    pub fn track_of(&mut self, peer: Peer, mut identity: TrackIdentity) -> u32 {
        let number = u32::try_from(self.tracks.len()).unwrap_or(NONE_32);
        self.matcher.bind(peer, number);
        self.peers.push(peer);
        self.components.place(number, &mut identity);
        let label = identity.label(self.components.name());
        let shift = self.components.shift_nanos();
        self.tracks.push(TrackBuilder::shifted(label, shift, self.limits.max_depth));
        self.identities.push(identity);
        self.maps.push(vec![0]);
        self.waiting.push(0);
        self.ended.push(false);
        number
    }

    /// Puts rows in order, on the disk where they do not fit into a `part`-th of the memory.
    pub(crate) fn sorter<const N: usize>(&self, name: &'static str, part: usize) -> Sorter<N> {
        Sorter::new(Arc::clone(&self.sink), name, self.memory_bytes / part.max(1))
    }

    /// Keeps texts, on the disk where they do not fit into a `part`-th of the memory.
    pub(crate) fn spool(&self, name: &'static str, part: usize) -> Spool {
        Spool::new(Arc::clone(&self.sink), name, self.memory_bytes / part.max(1))
    }

    /// Somebody to send messages to whose track may be added later, or never.
    pub fn peer(&mut self) -> Peer {
        self.matcher.peer()
    }

    /// As [`Conversion::peer`], where the source says who it is: an application in the source's
    /// numbers, a rank and a thread. Such a peer may turn out to be of another component.
    pub fn peer_at(&mut self, application: Option<u64>, rank: u64, thread: u64) -> Peer {
        let peer = self.matcher.peer();
        let space = self.components.space(application);
        self.peers_at.insert(peer, (space, rank, thread));
        peer
    }

    /// How others speak of a track.
    #[must_use]
    pub fn peer_of(&self, track: u32) -> Option<Peer> {
        self.peers.get(track as usize).copied()
    }

    /// Others speak of a track as `peer`, which comes from [`Conversion::peer`]. To be said before
    /// anything is sent or received by the track. Of several tracks, such as threads of a rank, the
    /// first is the one that messages are of.
    pub fn set_peer(&mut self, track: u32, peer: Peer) {
        if let Some(own) = self.peers.get_mut(track as usize) {
            *own = peer;
            if !self.matcher.is_bound(peer) {
                self.matcher.bind(peer, track);
            }
        }
    }

    /// Changes who a track is, where the source tells later.
    pub fn identity_mut(&mut self, track: u32) -> Option<&mut TrackIdentity> {
        self.identities.get_mut(track as usize)
    }

    /// All identities, by track.
    #[must_use]
    pub fn identities(&self) -> &[TrackIdentity] {
        &self.identities
    }

    /// The builder of a track.
    pub fn builder(&mut self, track: u32) -> Option<&mut TrackBuilder> {
        self.touched.touch(track);
        self.tracks.get_mut(track as usize)
    }

    /// The builders of all tracks.
    pub fn builders(&mut self) -> &mut [TrackBuilder] {
        self.touched.touch_all();
        &mut self.tracks
    }

    /// What is added from now on is of another input, with components and a clock of its own.
    pub fn begin_input(&mut self, plan: InputPlan) {
        self.components.begin(plan);
    }

    /// Adds a fact about the archive ([`keys`]) or the execution ([`keys::FACT`] before its name).
    /// What an input says about its format and its clock is kept for all inputs together, and facts
    /// are distinguished by its name.
    pub fn fact(&mut self, key: impl Into<String>, value: impl Into<String>) {
        let (mut key, value) = (key.into(), value.into());
        if self.components.input().is_some() {
            if key == keys::FORMAT {
                if !self.formats.contains(&value) {
                    self.formats.push(value);
                }
                return;
            }
            if key == keys::EPOCH_OFFSET_NANOS {
                if let Ok(nanos) = value.trim().parse() {
                    self.components.set_epoch(nanos);
                }
                return;
            }
            if let (Some(own), Some(name)) = (key.strip_prefix(keys::FACT), self.components.name())
            {
                key = format!("{}{name}: {own}", keys::FACT);
            }
        }
        self.facts.push((key, value));
    }

    /// Adds a fact about a track, such as its host; of repeated names the first counts.
    pub fn track_fact(&mut self, track: u32, name: &str, value: &str) {
        self.track_facts.take(track, name, value);
    }

    /// Writes the facts about tracks, those that an input has in common as facts about it.
    fn finish_track_facts(&mut self) {
        let components = &self.components;
        let found =
            std::mem::take(&mut self.track_facts).finish(|track| components.place_of(track));
        let mut known: HashSet<String> = self.facts.iter().map(|(key, _)| key.clone()).collect();
        for (input, name, value) in found.shared {
            let component = self.components.name_of_input(input);
            let before = component.map_or_else(String::new, |component| format!("{component}: "));
            let key = format!("{}{before}{name}", keys::FACT);
            if known.insert(key.clone()) {
                self.facts.push((key, value));
            }
        }
        for (track, name, value) in found.own {
            self.facts.push((format!("{}{track}:{name}", keys::TRACK_FACT), value));
        }
    }

    /// A link that is no message of two ranks: it is known as a whole.
    ///
    /// # Errors
    /// When the archive cannot be written.
    pub fn link(&mut self, mut row: MessageRow) -> Result<(), ConversionError> {
        let shift = self.components.shift_nanos();
        row.send_nanos = row.send_nanos.saturating_add_signed(shift);
        row.receive_nanos = row.receive_nanos.saturating_add_signed(shift);
        self.matcher.done.push(row);
        self.write_messages(ROWS)
    }

    /// Writes what the tracks have completed. Costs what was fed, however many tracks there are.
    ///
    /// # Errors
    /// When the archive cannot be written.
    pub fn commit(&mut self) -> Result<(), ConversionError> {
        self.check_limits()?;
        let mut fed = self.touched.take(self.tracks.len());
        for &number in &fed {
            self.note_waiting(number);
        }
        if self.all_waiting > self.memory_bytes {
            // The tracks that hold most give it up; many small ones would make small batches.
            let mean = self.all_waiting / self.tracks.len().max(1);
            for number in 0..self.tracks.len() {
                if self.waiting.get(number).is_some_and(|&bytes| bytes > 0 && bytes >= mean) {
                    self.tracks.get_mut(number).into_iter().for_each(TrackBuilder::cut);
                    self.note_waiting(number);
                    fed.push(number);
                }
            }
            fed.sort_unstable();
            fed.dedup();
        }
        for number in fed {
            self.take(number)?;
        }
        self.write_full()
    }

    /// Ends a track: nothing more of it comes. What only a track needs that goes on is given up,
    /// which matters where there are many.
    ///
    /// # Errors
    /// When the archive cannot be written.
    pub fn end_track(&mut self, track: u32) -> Result<(), ConversionError> {
        let number = track as usize;
        if self.ended.get(number) != Some(&false) {
            return Ok(());
        }
        if let Some(track) = self.tracks.get_mut(number) {
            track.finish();
        }
        self.note_waiting(number);
        self.take(number)?;
        let (Some(builder), Some(map)) = (self.tracks.get_mut(number), self.maps.get(number))
        else {
            return Ok(());
        };
        for (nth, mut node) in std::mem::take(&mut builder.coarser).into_iter().enumerate() {
            for sum in &mut node.bins.sums {
                sum.context = map.get(sum.context as usize).copied().unwrap_or(0);
            }
            self.coarser.push((track, nth, node));
        }
        if let Some(ended) = self.ended.get_mut(number) {
            *ended = true;
        }
        while self.ended.get(self.num_profiled) == Some(&true) {
            self.profile_next()?;
        }
        self.write_full()
    }

    /// Writes what the first track that is not in the profile yet has spent.
    fn profile_next(&mut self) -> Result<(), ConversionError> {
        let number = self.num_profiled;
        self.num_profiled += 1;
        let Some(builder) = self.tracks.get_mut(number) else { return Ok(()) };
        let map = self.maps.get_mut(number).map(std::mem::take).unwrap_or_default();
        let row = u32::try_from(number).unwrap_or(NONE_32);
        self.profile.add(row, &builder.spent, &map, &mut self.writer)?;
        self.profile.add_counts(row, &builder.counted, &map, &mut self.writer)?;
        builder.release();
        Ok(())
    }

    /// Whether what is in memory to the end is within the limits.
    fn check_limits(&self) -> Result<(), LimitExceeded> {
        let bytes = |len: usize, each: u64| (len as u64).saturating_mul(each);
        let tracks = bytes(self.tracks.len(), TRACK_BYTES);
        self.limits.metadata("the threads and streams of the trace", tracks)?;
        let contexts = bytes(self.contexts.len(), CONTEXT_BYTES);
        let all = tracks
            .saturating_add(contexts)
            .saturating_add(bytes(self.functions.len(), FUNCTION_BYTES));
        self.limits.metadata("the call paths of the trace", all)
    }

    fn note_waiting(&mut self, number: usize) {
        let now = self.tracks.get(number).map_or(0, TrackBuilder::waiting_bytes);
        if let Some(before) = self.waiting.get_mut(number) {
            self.all_waiting = self.all_waiting.saturating_sub(*before).saturating_add(now);
            *before = now;
        }
    }

    /// Writes what fills a batch.
    fn write_full(&mut self) -> Result<(), ConversionError> {
        self.write_messages(ROWS)?;
        self.write_collectives(ROWS)?;
        self.write_markers(ROWS)?;
        self.arguments.write(false, &mut self.writer, &mut self.spans)?;
        self.write_values(false)
    }

    /// Takes what track `number` has completed.
    fn take(&mut self, number: usize) -> Result<(), ConversionError> {
        let row = u32::try_from(number).unwrap_or(NONE_32);
        let Some(track) = self.tracks.get_mut(number) else { return Ok(()) };
        if let Some(&own) = self.peers.get(number) {
            for side in track.endpoints.drain(..) {
                self.matcher.offer(own, side, &mut self.issues)?;
            }
        }
        for part in track.collectives.drain(..) {
            self.collectives.push(CollectiveRow {
                track: row,
                operation: part.operation,
                communicator: part.communicator,
                root: part.root.unwrap_or(NONE_64),
                sent: part.sent,
                received: part.received,
                start_nanos: part.start_nanos,
                end_nanos: part.end_nanos,
            });
        }
        for operation in track.files.drain(..) {
            self.transfers.take(row, operation);
        }
        for (name, nanos) in track.markers.drain(..) {
            self.markers.push(MarkerRow { track: row, name, nanos });
        }
        for (counter, nanos, value) in track.values.drain(..) {
            let own = self.values.entry((row, counter)).or_default();
            own.push((nanos, value));
            self.num_values += 1;
            if own.len() == ROWS {
                self.full_values.push((row, counter));
            }
        }
        let Some(map) = self.maps.get_mut(number) else { return Ok(()) };
        for (parent, function) in track.new_contexts() {
            let parent = map.get(parent as usize).copied().unwrap_or(0);
            let next = u32::try_from(self.contexts.len()).unwrap_or(NONE_32);
            let context = *self.children.entry((parent, function)).or_insert(next);
            if context == next {
                self.contexts.push(ContextRow { parent, function });
            }
            map.push(context);
        }
        track.taken = track.num_contexts();
        self.arguments.take(row, &mut track.described, map, &mut self.issues);
        for mut node in std::mem::take(&mut track.nodes) {
            let batch = node.batch.take();
            // The calls of a small node say as much as its sums would.
            let has_sums = batch.as_ref().is_none_or(|batch| !batch.is_small());
            let (mut first_bin, mut sums) = (0, NONE_32);
            if has_sums {
                first_bin = write_sums(&mut self.writer, &node.bins, Some(map))?;
                sums = self.num_sums;
                self.num_sums += 1;
            }
            let mut node = node_row(row, &node, first_bin, sums);
            if let Some(batch) = batch {
                node.first_child = u32::try_from(self.leaves.len()).unwrap_or(NONE_32);
                node.intervals = u32::try_from(batch.intervals.len()).unwrap_or(NONE_32);
                node.open_context = map.get(batch.open_context as usize).copied().unwrap_or(0);
                node.open_depth = u32::try_from(batch.open_starts.len()).unwrap_or(NONE_32);
                let number = self.intervals.add(row, &batch, map, &mut self.writer)?;
                self.leaves.push((number, batch.open_starts));
            }
            self.nodes.push(node);
        }
        Ok(())
    }

    /// Writes the coarser nodes of all tracks one after the other, so that a picture of all tracks
    /// reads them in one go: where the browser is asked, each read takes a millisecond.
    fn write_coarser(&mut self) -> Result<(), ConversionError> {
        let mut coarser = std::mem::take(&mut self.coarser);
        coarser.sort_by_key(|(track, nth, _)| (*nth, *track));
        debug_assert!(coarser.iter().all(|(_, nth, _)| *nth < usize::from(COARSER_NODES)));
        for (track, _, node) in &coarser {
            let first_bin = write_sums(&mut self.writer, &node.bins, None)?;
            self.nodes.push(node_row(*track, node, first_bin, self.num_sums));
            self.num_sums += 1;
        }
        Ok(())
    }

    fn write_messages(&mut self, least: usize) -> Result<(), ConversionError> {
        while self.matcher.done.len() >= least.max(1) {
            let rest = self.matcher.done.split_off(self.matcher.done.len().min(ROWS));
            let mut rows = std::mem::replace(&mut self.matcher.done, rest);
            rows.sort_by_key(|row| (row.send_nanos, row.receive_nanos, row.sender, row.receiver));
            for row in
                rows.iter().filter(|row| row.kind == 0 && row.flags & (NO_SEND | NO_RECEIVE) == 0)
            {
                let nanos = row.receive_nanos.wrapping_sub(row.send_nanos).cast_signed();
                self.components.count(row.sender, row.receiver, nanos);
            }
            let times = rows.iter().flat_map(|row| [row.send_nanos, row.receive_nanos]);
            self.spans.push(span(MESSAGES, times, rows.len()));
            self.writer.write(rows)?;
        }
        Ok(())
    }

    fn write_collectives(&mut self, least: usize) -> Result<(), ConversionError> {
        while self.collectives.len() >= least.max(1) {
            let rest = self.collectives.split_off(self.collectives.len().min(ROWS));
            let mut rows = std::mem::replace(&mut self.collectives, rest);
            rows.sort_by_key(|row| (row.start_nanos, row.track));
            let times = rows.iter().flat_map(|row| [row.start_nanos, row.end_nanos]);
            self.spans.push(span(COLLECTIVES, times, rows.len()));
            self.writer.write(rows)?;
        }
        Ok(())
    }

    fn write_markers(&mut self, least: usize) -> Result<(), ConversionError> {
        while self.markers.len() >= least.max(1) {
            let rest = self.markers.split_off(self.markers.len().min(ROWS));
            let mut rows = std::mem::replace(&mut self.markers, rest);
            rows.sort_by_key(|row| (row.nanos, row.track));
            let times = rows.iter().map(|row| row.nanos);
            self.spans.push(span(MARKERS, times, rows.len()));
            self.writer.write(rows)?;
        }
        Ok(())
    }

    /// Writes values of counters that fill a batch, and more of them when there are many in all, or
    /// all of them.
    fn write_values(&mut self, is_all: bool) -> Result<(), ConversionError> {
        let mut keys = std::mem::take(&mut self.full_values);
        let is_full = self.num_values * size_of::<(u64, f64)>() > self.memory_bytes / 4;
        if is_all || is_full {
            let mean = if is_all { 1 } else { self.num_values / self.values.len().max(1) };
            let most = self.values.iter().filter(|(_, values)| values.len() >= mean);
            keys = most.map(|(key, _)| *key).collect();
        }
        keys.sort_unstable();
        for (track, counter) in keys {
            let Some(values) = self.values.remove(&(track, counter)) else { continue };
            self.num_values -= values.len();
            let range = values.iter().map(|value| value.1);
            let (min, max) = range
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                    (low.min(value), high.max(value))
                });
            let times = values.iter().map(|value| value.0);
            let rows = span(VALUES, times, values.len());
            self.spans.push(SpanRow { track, counter, min, max, ..rows });
            let row = |(nanos, value)| ValueRow { track, counter, nanos, value };
            self.writer.write(values.into_iter().map(row).collect())?;
        }
        Ok(())
    }

    /// Ends all tracks and the archive. Returns what was repaired in all.
    ///
    /// # Errors
    /// When the archive cannot be written.
    pub fn finish(self) -> Result<Issues, ConversionError> {
        self.finish_with_survey().map(|(issues, _)| issues)
    }

    /// As [`Conversion::finish`]; says what was found about the inputs, too.
    ///
    /// # Errors
    /// When the archive cannot be written.
    pub fn finish_with_survey(mut self) -> Result<(Issues, Survey), ConversionError> {
        self.forget_only_application();
        for number in (0..).take(self.tracks.len()) {
            self.end_track(number)?;
        }
        self.intervals.flush(&mut self.writer)?;
        self.profile.flush(&mut self.writer)?;
        self.write_coarser()?;
        let across = self.across();
        let rest = Matcher::new(Arc::clone(&self.sink), 0);
        let matcher = std::mem::replace(&mut self.matcher, rest);
        let mut issues = std::mem::take(&mut self.issues);
        matcher.finish(&across, &mut issues, &mut |row| {
            self.matcher.done.push(row);
            self.write_messages(ROWS)
        })?;
        self.issues = issues;
        let transfers = std::mem::take(&mut self.transfers);
        let components = &self.components;
        self.matcher.done.extend(transfers.finish(|track| components.application(track)));
        self.write_messages(1)?;
        self.write_collectives(1)?;
        self.write_markers(1)?;
        self.write_values(true)?;
        self.arguments.finish(&mut self.writer, &mut self.spans)?;
        let mut all = std::mem::take(&mut self.issues);
        for track in &mut self.tracks {
            all.extend(std::mem::take(&mut track.issues));
        }
        self.write_nodes()?;
        self.writer.write(std::mem::take(&mut self.spans))?;
        self.writer.write(std::mem::take(&mut self.functions))?;
        self.writer.write(std::mem::take(&mut self.contexts))?;
        self.writer.write(std::mem::take(&mut self.counters))?;
        self.writer.write(self.components.rows())?;
        let rows = self.tracks.iter().zip(&self.identities);
        let rows: Vec<_> = rows.map(|(track, identity)| track_row(track, identity)).collect();
        let first = rows.iter().map(|row| row.first_nanos).min().unwrap_or(0);
        let last = rows.iter().map(|row| row.last_nanos).max().unwrap_or(0);
        self.writer.write(rows)?;
        self.writer.write(issue_rows(&all))?;
        self.fact(keys::FIRST_NANOS, if first == NONE_64 { 0 } else { first }.to_string());
        self.fact(keys::LAST_NANOS, last.to_string());
        self.finish_track_facts();
        if !self.formats.is_empty() {
            self.facts.push((keys::FORMAT.to_owned(), self.formats.join(", ")));
        }
        for (number, track) in (0..).zip(&self.tracks) {
            if let Some(span) = track.span() {
                self.components.widen(number, span);
            }
        }
        self.writer.finish(self.facts)?;
        let Components { surveys: inputs, latencies, .. } = self.components;
        Ok((all, Survey { inputs, latencies }))
    }

    /// Peers that turned out to be tracks of another component.
    fn across(&self) -> HashMap<Peer, Peer> {
        let unknown = self.peers_at.iter().filter(|(peer, _)| !self.matcher.is_bound(**peer));
        let wanted = unknown.map(|(peer, at)| (peer.0, *at)).collect();
        let found = self.components.across(&wanted).into_iter();
        found.filter_map(|(peer, track)| Some((Peer(peer), self.peer_of(track)?))).collect()
    }

    /// Where there is one application only, its number tells nothing.
    fn forget_only_application(&mut self) {
        let is_application = |(kind, _): &(IdentityKind, u64)| *kind == IdentityKind::Application;
        let own = |identity: &TrackIdentity| identity.part(IdentityKind::Application);
        let first = self.identities.first().and_then(own);
        if self.identities.iter().all(|identity| own(identity) == first) {
            for identity in &mut self.identities {
                identity.identity.retain(|part| !is_application(part));
            }
        }
    }

    /// Nodes by level, track and time, so that what is below one is contiguous.
    fn write_nodes(&mut self) -> Result<(), ConversionError> {
        let mut nodes = std::mem::take(&mut self.nodes);
        // The number of the sums tells the order in time.
        nodes.sort_by_key(|node| (node.level, node.track, node.sums));
        set_first_children(&mut nodes);
        let (mut rows, leaves) = (Vec::new(), std::mem::take(&mut self.leaves));
        for node in nodes.iter_mut().filter(|node| node.level == 0) {
            let Some((batch, starts)) = leaves.get(node.first_child as usize) else { continue };
            node.first_child = *batch;
            rows.extend(starts.iter().map(|&start_nanos| OpenRow { start_nanos }));
        }
        self.writer.write(rows)?;
        self.writer.write(nodes)?;
        Ok(())
    }
}
