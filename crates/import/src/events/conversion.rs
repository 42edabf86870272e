//! [`Conversion`]: from the events of all tracks to the tables of an archive.

use std::collections::HashMap;
use std::sync::Arc;

use parallax_base::{FolderSink, Issues, Severity};
use parallax_formats::archive::table::ColumnData;
use parallax_formats::archive::{
    ArchiveWriter, BATCH_INTERVALS, COARSER_NODES, CollectiveRow, ContextRow, CounterRow,
    FunctionRow, IntervalRow, IssueRow, MarkerRow, MessageRow, NONE_32, NONE_64, NodeRow, OpenRow,
    ProfileRow, Record, SpanRow, SumRow, TrackRow, ValueRow, WriteError, keys,
};
use parallax_model::IdentityKind;

use super::bins::Bins;
use super::components::{Components, InputPlan, Survey};
use super::messages::{Matcher, NO_RECEIVE, NO_SEND};
use super::sorter::Sorter;
use super::track::{Batch, Node, Peer, TrackBuilder};
use super::transfers::Transfers;

/// Rows of a batch of messages, collectives, values or markers.
const ROWS: usize = 1 << 14;

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
    /// What waits for its order cannot be kept.
    #[error("cannot keep what waits beside the archive: {0}")]
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
    /// What people call it.
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
    peers: Vec<Peer>,
    /// Space, rank and thread of peers, where the source says who they are.
    peers_at: HashMap<Peer, (usize, u64, u64)>,
    /// For each track: the archive's context of each of its own.
    maps: Vec<Vec<u32>>,
    nodes: Vec<NodeRow>,
    /// Starts of open contexts, by the number of the batch of intervals.
    open: Vec<Vec<u64>>,
    num_sums: u32,
    matcher: Matcher,
    /// Where the archive goes, and what waits for its order meanwhile.
    sink: Arc<dyn FolderSink>,
    transfers: Transfers,
    collectives: Vec<CollectiveRow>,
    markers: Vec<MarkerRow>,
    values: HashMap<(u32, u32), Vec<(u64, f64)>>,
    num_values: usize,
    spans: Vec<SpanRow>,
    components: Components,
    formats: Vec<String>,
    facts: Vec<(String, String)>,
    memory_bytes: usize,
    /// What was repaired so far, beside what tracks report.
    pub issues: Issues,
}

impl Conversion {
    /// Begins an archive in `sink`. Events that wait for their batch take about `memory_bytes` at
    /// most.
    ///
    /// # Errors
    /// When the archive cannot be written.
    pub fn new(sink: Arc<dyn FolderSink>, memory_bytes: usize) -> Result<Self, ConversionError> {
        Ok(Self {
            writer: ArchiveWriter::new(Arc::clone(&sink))?,
            functions: Vec::new(),
            function_numbers: HashMap::new(),
            contexts: vec![ContextRow { parent: NONE_32, function: NONE_32 }],
            children: HashMap::new(),
            counters: Vec::new(),
            identities: Vec::new(),
            tracks: Vec::new(),
            peers: Vec::new(),
            peers_at: HashMap::new(),
            maps: Vec::new(),
            nodes: Vec::new(),
            open: Vec::new(),
            num_sums: 0,
            matcher: Matcher::new(Arc::clone(&sink), memory_bytes),
            sink,
            transfers: Transfers::default(),
            collectives: Vec::new(),
            markers: Vec::new(),
            values: HashMap::new(),
            num_values: 0,
            spans: Vec::new(),
            components: Components::default(),
            formats: Vec::new(),
            facts: Vec::new(),
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
        };
        let number = self.add_function(row);
        self.function_numbers.insert(key, number);
        number
    }

    /// The row that a file is known by: it is no function that anything enters.
    pub fn file(&mut self, path: &str) -> u32 {
        self.function(path, FILE_GROUP)
    }

    /// Adds a function, although another one may have the same name.
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
        self.tracks.push(TrackBuilder::shifted(label, self.components.shift_nanos()));
        self.identities.push(identity);
        self.maps.push(vec![0]);
        number
    }

    /// Puts rows in order, on the disk where they do not fit into a `part`-th of the memory.
    pub(crate) fn sorter<const N: usize>(&self, name: &'static str, part: usize) -> Sorter<N> {
        Sorter::new(Arc::clone(&self.sink), name, self.memory_bytes / part.max(1))
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
        self.tracks.get_mut(track as usize)
    }

    /// The builders of all tracks.
    pub fn builders(&mut self) -> &mut [TrackBuilder] {
        &mut self.tracks
    }

    /// What is added from now on is of another input, with components and a clock of its own.
    pub fn begin_input(&mut self, plan: InputPlan) {
        self.components.begin(plan);
    }

    /// Adds a fact about the archive ([`keys`]) or the execution ([`keys::FACT`] before its name).
    /// What an input says about its format and its clock is kept for all inputs together, and facts
    /// are told apart by its name.
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

    /// Writes what the tracks have completed.
    ///
    /// # Errors
    /// When the archive cannot be written.
    pub fn commit(&mut self) -> Result<(), ConversionError> {
        let waiting: usize = self.tracks.iter().map(TrackBuilder::waiting_bytes).sum();
        if waiting > self.memory_bytes {
            // The tracks that hold most give it up; many small ones would make small batches.
            let mean = waiting / self.tracks.len().max(1);
            for track in self.tracks.iter_mut().filter(|track| track.waiting_bytes() >= mean) {
                track.cut();
            }
        }
        for number in 0..self.tracks.len() {
            self.take(number)?;
        }
        self.write_messages(ROWS)?;
        self.write_collectives(ROWS)?;
        self.write_markers(ROWS)?;
        self.write_values(ROWS)
    }

    /// Takes what track `number` has completed.
    fn take(&mut self, number: usize) -> Result<(), ConversionError> {
        let row = u32::try_from(number).unwrap_or(NONE_32);
        let Some(track) = self.tracks.get_mut(number) else { return Ok(()) };
        if let Some(&own) = self.peers.get(number) {
            for endpoint in track.endpoints.drain(..) {
                self.matcher.offer(own, endpoint, &mut self.issues)?;
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
            self.values.entry((row, counter)).or_default().push((nanos, value));
            self.num_values += 1;
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
        for mut node in std::mem::take(&mut track.nodes) {
            let (mut first_child, mut intervals, mut open_context, mut open_depth) = (0, 0, 0, 0);
            if let Some(batch) = node.batch.take() {
                first_child = u32::try_from(self.open.len()).unwrap_or(NONE_32);
                intervals = u32::try_from(batch.intervals.len()).unwrap_or(NONE_32);
                open_context = map.get(batch.open_context as usize).copied().unwrap_or(0);
                open_depth = u32::try_from(batch.open_starts.len()).unwrap_or(NONE_32);
                write_intervals(&mut self.writer, row, &batch, map)?;
                self.open.push(batch.open_starts);
            }
            let first_bin = write_sums(&mut self.writer, &node.bins, map)?;
            self.nodes.push(NodeRow {
                first_child,
                intervals,
                open_context,
                open_depth,
                ..node_row(row, &node, first_bin, self.num_sums)
            });
            self.num_sums += 1;
        }
        Ok(())
    }

    /// Writes the coarser nodes of all tracks one after the other, so that a picture of all tracks
    /// reads them in one go: where the browser is asked, each read takes a millisecond.
    fn write_coarser(&mut self) -> Result<(), ConversionError> {
        for nth in 0..usize::from(COARSER_NODES) {
            for (row, (track, map)) in (0..).zip(self.tracks.iter().zip(&self.maps)) {
                let Some(node) = track.coarser.get(nth) else { continue };
                let first_bin = write_sums(&mut self.writer, &node.bins, map)?;
                self.nodes.push(node_row(row, node, first_bin, self.num_sums));
                self.num_sums += 1;
            }
        }
        for track in &mut self.tracks {
            track.coarser = Vec::new();
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

    /// Writes values of counters that fill a batch, or all when there are many in all.
    fn write_values(&mut self, least: usize) -> Result<(), ConversionError> {
        let is_full = self.num_values * size_of::<(u64, f64)>() > self.memory_bytes / 4;
        let least = if is_full { 1 } else { least.max(1) };
        let mut keys: Vec<_> =
            self.values.iter().filter(|(_, v)| v.len() >= least).map(|(key, _)| *key).collect();
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
        for track in &mut self.tracks {
            track.finish();
        }
        self.forget_only_application();
        self.commit()?;
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
        self.write_values(1)?;
        let mut all = std::mem::take(&mut self.issues);
        for track in &mut self.tracks {
            all.extend(std::mem::take(&mut track.issues));
        }
        self.write_nodes()?;
        self.write_profile()?;
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
        let starts = nodes.iter().filter(|node| node.level == 0);
        let starts = starts.filter_map(|node| self.open.get(node.first_child as usize)).flatten();
        let rows: Vec<_> = starts.map(|&start_nanos| OpenRow { start_nanos }).collect();
        self.writer.write(rows)?;
        self.writer.write(nodes)?;
        Ok(())
    }

    fn write_profile(&mut self) -> Result<(), ConversionError> {
        for (number, (track, map)) in self.tracks.iter().zip(&self.maps).enumerate() {
            let spent = track.spent.iter().zip(map);
            let rows: Vec<_> = spent
                .filter(|(spent, _)| spent.calls > 0 || spent.exclusive_nanos > 0)
                .map(|(spent, &context)| ProfileRow {
                    track: u32::try_from(number).unwrap_or(NONE_32),
                    context,
                    calls: spent.calls,
                    exclusive_nanos: spent.exclusive_nanos,
                    inclusive_nanos: spent.inclusive_nanos,
                })
                .collect();
            self.writer.write(rows)?;
        }
        Ok(())
    }
}

/// Sets the first child of all nodes above level 0.
fn set_first_children(nodes: &mut [NodeRow]) {
    // The nodes of one level and track are contiguous, and those above take them in order.
    let mut next: HashMap<(u8, u32), u32> = HashMap::new();
    for (row, node) in (0..).zip(nodes.iter()) {
        next.entry((node.level, node.track)).or_insert(row);
    }
    for node in nodes.iter_mut().filter(|node| node.level > 0) {
        if let Some(next) = next.get_mut(&(node.level - 1, node.track)) {
            node.first_child = *next;
            *next += node.children;
        }
    }
}

fn write_intervals(
    writer: &mut ArchiveWriter,
    track: u32,
    batch: &Batch,
    map: &[u32],
) -> Result<(), WriteError> {
    let rows = &batch.intervals;
    debug_assert!(rows.len() <= BATCH_INTERVALS);
    let context = |local: u32| map.get(local as usize).copied().unwrap_or(0);
    let columns = vec![
        ColumnData::U32(vec![track; rows.len()]),
        ColumnData::U32(rows.iter().map(|row| context(row.context)).collect()),
        ColumnData::U64(rows.iter().map(|row| row.start_nanos).collect()),
        ColumnData::U64(rows.iter().map(|row| row.end_nanos).collect()),
    ];
    writer.write_columns(IntervalRow::LAYOUT, columns)
}

/// The row of a node above level 0; its first child is found when all nodes are there.
fn node_row(track: u32, node: &Node, first_bin: u64, sums: u32) -> NodeRow {
    NodeRow {
        track,
        level: node.level,
        exponent: node.bins.exponent,
        first_bin,
        from_nanos: node.from_nanos,
        to_nanos: node.to_nanos,
        first_child: 0,
        children: node.children,
        sums,
        intervals: 0,
        open_context: 0,
        open_depth: 0,
    }
}

/// Writes the sums of a node; returns its first bin.
fn write_sums(writer: &mut ArchiveWriter, bins: &Bins, map: &[u32]) -> Result<u64, WriteError> {
    let first = bins.sums.first().map_or(0, |sum| sum.bin);
    let sums = &bins.sums;
    let context = |local: u32| map.get(local as usize).copied().unwrap_or(0);
    let bin = |bin: u64| u16::try_from(bin - first).unwrap_or(u16::MAX);
    let columns = vec![
        ColumnData::U16(sums.iter().map(|sum| bin(sum.bin)).collect()),
        ColumnData::U32(sums.iter().map(|sum| context(sum.context)).collect()),
        ColumnData::U32(sums.iter().map(|sum| sum.calls).collect()),
        ColumnData::U64(sums.iter().map(|sum| sum.nanos).collect()),
    ];
    writer.write_columns(SumRow::LAYOUT, columns)?;
    Ok(first)
}

fn span(table: u8, times: impl Iterator<Item = u64>, rows: usize) -> SpanRow {
    let (from_nanos, to_nanos) =
        times.fold((u64::MAX, 0), |(from, to), nanos| (from.min(nanos), to.max(nanos)));
    SpanRow {
        table,
        track: NONE_32,
        counter: NONE_32,
        from_nanos,
        to_nanos,
        rows: rows as u64,
        min: 0.0,
        max: 0.0,
    }
}

fn track_row(track: &TrackBuilder, identity: &TrackIdentity) -> TrackRow {
    let id = |kind| identity.part(kind).unwrap_or(NONE_64);
    let counts = track.counts;
    TrackRow {
        name: identity.name.clone(),
        kind: match identity.kind {
            TrackKind::Thread => 0,
            TrackKind::Stream => 1,
            TrackKind::Overlap => 2,
        },
        application: id(IdentityKind::Application),
        node: id(IdentityKind::Node),
        rank: id(IdentityKind::Rank),
        thread: id(IdentityKind::Thread),
        gpudevice: id(IdentityKind::GpuDevice),
        gpucontext: id(IdentityKind::GpuContext),
        gpustream: id(IdentityKind::GpuStream),
        enters: counts.enters,
        leaves: counts.leaves,
        sends: counts.sends,
        receives: counts.receives,
        metrics: counts.metrics,
        others: counts.others,
        declared: identity.declared.unwrap_or(NONE_64),
        intervals: track.num_intervals(),
        first_nanos: track.span().map_or(NONE_64, |span| span.0),
        last_nanos: track.span().map_or(0, |span| span.1),
    }
}

fn issue_rows(issues: &Issues) -> Vec<IssueRow> {
    let row = |issue: &parallax_base::Issue| IssueRow {
        severity: match issue.severity {
            Severity::Note => 0,
            Severity::Warning => 1,
            Severity::Error => 2,
        },
        kind: issue.kind.to_owned(),
        place: issue.place.to_string(),
        message: issue.message.clone(),
        count: issue.count,
    };
    issues.list().iter().map(row).collect()
}
