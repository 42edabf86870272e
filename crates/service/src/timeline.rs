//! What happened in a time range: statistics and messages of traces, and pictures of them.

mod find;
mod links;
mod names;
mod picture;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use parallax_analysis::taxonomy::HelperThreads;
use parallax_base::{ContextIdx, Control, TimeWindow, TrackIdx};
use parallax_engine::{
    ContextSums, EngineError, Groups, LocationChoice, Session, TrackRange, TreeView,
};
use parallax_model::{ContextTree, EventStore, LinkKind, Message, TraceKind, TraceStore};
use parallax_protocol::{
    Answer, MessageRow, MessageSumTable, MessageTable, MessagesBy, MessagesRequest, MessagesTable,
    MessagesTables, NotesReply, StatsBy, StatsRequest, StatsTable, StatsTables, TrackSpan,
};

use crate::options::{locations, stretch};
use crate::{Answers, OpenExperiment, ServiceError};

pub use names::{TimelineKey, TimelineNames};
pub(crate) use picture::since;

/// Ranges of tracks; `None` for all.
pub type TracksChoice = Option<Vec<TrackRange>>;

/// The tracks that a request names.
fn tracks_of(spans: Option<&[TrackSpan]>) -> TracksChoice {
    spans.map(self::spans)
}

fn spans(spans: &[TrackSpan]) -> Vec<TrackRange> {
    spans.iter().map(|span| TrackIdx::new(span.from)..TrackIdx::new(span.to)).collect()
}

/// Bins, calls, messages and rows of one answer for pictures at most, whatever a request asks for.
fn most(number: u32) -> usize {
    number.min(1 << 20) as usize
}

impl Answers<StatsRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &StatsRequest,
        control: &Control,
    ) -> Result<Answer<StatsRequest>, ServiceError> {
        let session = &self.session;
        let mut notes = Vec::new();
        let chosen = locations(session, request.part.profiles.as_deref(), &mut notes)?;
        let window = stretch(session, &request.part)?;
        let chosen = narrowed(session, chosen, &tracks_of(request.tracks.as_deref()))?;
        let mut sums = session.context_sums(&chosen, window, control)?;
        let tree = session.tree();
        if !request.helpers {
            notes.extend(exclude_helpers(self.helpers(), &mut sums));
        }
        let mut inclusive = sums.nanos.clone();
        for context in tree.iter().rev() {
            let own = inclusive.get(context.idx()).copied().unwrap_or(0);
            if let Some(parent) = tree.parent(context)
                && let Some(above) = inclusive.get_mut(parent.idx())
            {
                *above += own;
            }
        }
        let functions = tree.functions();
        // Samples lie in lines: they count to the function around them.
        let around = |context: ContextIdx| tree.enclosing_function(context).unwrap_or(context);
        let group_of = |context: ContextIdx| {
            let function = tree.function(around(context)).and_then(|f| functions.get(f.idx()));
            function.and_then(|f| f.group.as_deref()).unwrap_or("").to_owned()
        };
        let name_of = |context: ContextIdx| match request.by {
            StatsBy::Function => tree.label(around(context)),
            StatsBy::Group => match group_of(context) {
                group if group.is_empty() => "(no group)".to_owned(),
                group => group,
            },
            StatsBy::Context => path(tree, context),
        };
        let view = TreeView::whole(tree);
        let is_row = |context| context != ContextTree::ROOT;
        // Paths are long; they are written out for the rows of the answer only.
        let groups = if request.by == StatsBy::Context {
            let numbers = path_numbers(tree);
            let key = |c: ContextIdx| numbers.get(c.idx()).copied().filter(|_| is_row(c));
            Groups::new(&view, key).0
        } else {
            Groups::new(&view, |context| is_row(context).then(|| name_of(context))).0
        };
        let exclusive = by_group(&groups, &view, &sums.nanos, |_| true);
        let calls = by_group(&groups, &view, &sums.calls, |_| true);
        let inclusive = by_group(&groups, &view, &inclusive, |row| groups.is_outermost(row));
        let busy: u128 = sums.nanos.iter().skip(1).sum();
        let mut order: Vec<usize> = (0..groups.len())
            .filter(|&row| {
                let has = |column: &[u128]| column.get(row).is_some_and(|&value| value > 0);
                let is_called = calls.get(row).is_some_and(|&calls| calls > 0);
                has(&exclusive) || is_called || has(&inclusive)
            })
            .collect();
        order.sort_by_key(|&row| {
            let at = |column: &[u128]| Reverse(column.get(row).copied().unwrap_or(0));
            (at(&exclusive), at(&inclusive), row)
        });
        let pick = |column: &[u128]| -> Vec<u128> {
            order.iter().map(|&row| column.get(row).copied().unwrap_or(0)).collect()
        };
        let seconds = |nanos: Vec<u128>| nanos.into_iter().map(|n| n as f64 / 1e9).collect();
        let exclusive = pick(&exclusive);
        let share =
            |&nanos: &u128| if busy == 0 { 0.0 } else { nanos as f64 / busy as f64 * 100.0 };
        let shares = exclusive.iter().map(share).collect();
        let group = || order.iter().map(|&row| group_of(groups.context(row))).collect();
        let has_calls = session.traces()?.kind() == TraceKind::Calls;
        let rows = StatsTable {
            name: order.iter().map(|&row| name_of(groups.context(row))).collect(),
            group: (request.by != StatsBy::Group).then(group),
            calls: has_calls
                .then(|| order.iter().map(|&row| calls.get(row).copied().unwrap_or(0)).collect()),
            exclusive_s: seconds(exclusive),
            inclusive_s: seconds(pick(&inclusive)),
            share_percent: shares,
        };
        Ok(Answer::new(NotesReply { notes }, StatsTables { rows }))
    }
}

impl Answers<MessagesRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &MessagesRequest,
        control: &Control,
    ) -> Result<Answer<MessagesRequest>, ServiceError> {
        let session = &self.session;
        let mut notes = Vec::new();
        let tracks = tracks_of(request.tracks.as_deref());
        let chosen = locations(session, request.part.profiles.as_deref(), &mut notes)?;
        let window = stretch(session, &request.part)?;
        let chosen = narrowed(session, chosen, &tracks)?;
        if matches!(request.by, MessagesBy::Component | MessagesBy::File) {
            let rows =
                self.messages_of_components(request, &chosen, window, &mut notes, control)?;
            let rows = MessagesTable::Sums(rows);
            return Ok(Answer::new(NotesReply { notes }, MessagesTables { rows }));
        }
        let all = self.gather(&chosen, window, request.flows)?;
        control.check().map_err(EngineError::from)?;
        if all.is_empty() && notes.is_empty() {
            notes.push("No messages in this window.".into());
        }
        let names = self.track_names();
        let name = |track: Option<TrackIdx>| match track {
            Some(track) => names.get(track.idx()).cloned().unwrap_or_default(),
            None => "(not in the trace)".to_owned(),
        };
        if request.by == MessagesBy::Message {
            let rows = MessagesTable::Single(list(&all, name));
            return Ok(Answer::new(NotesReply { notes }, MessagesTables { rows }));
        }
        let mut rows: BTreeMap<(u64, u64), Row> = BTreeMap::new();
        for message in &all {
            let key = match request.by {
                MessagesBy::Size => (message.bytes.checked_ilog2().map_or(0, |n| 1 << n), 0),
                // Signed order.
                MessagesBy::Tag => (message.tag.cast_unsigned() ^ (1 << 63), 0),
                _ => (place(message.sender), place(message.receiver)),
            };
            rows.entry(key).or_default().add(message);
        }
        let (keys, rows): (Vec<(u64, u64)>, Vec<Row>) = rows.into_iter().unzip();
        let track = |place: u64| u32::try_from(place).ok().map(TrackIdx::new);
        let mut table = sums(&rows, &mut notes);
        match request.by {
            MessagesBy::Size => table.from_bytes = Some(keys.iter().map(|key| key.0).collect()),
            MessagesBy::Tag => {
                let tags = keys.iter().map(|key| (key.0 ^ (1 << 63)).cast_signed().to_string());
                table.tag = Some(tags.collect());
            }
            _ => {
                table.sender = Some(keys.iter().map(|key| name(track(key.0))).collect());
                table.receiver = Some(keys.iter().map(|key| name(track(key.1))).collect());
            }
        }
        let rows = MessagesTable::Sums(table);
        Ok(Answer::new(NotesReply { notes }, MessagesTables { rows }))
    }
}

impl OpenExperiment {
    pub(crate) fn events(&self) -> Result<&dyn EventStore, ServiceError> {
        let missing = || EngineError::Missing {
            what: "this experiment has no messages".into(),
            hint: "open an event trace, such as OTF2".into(),
        };
        Ok(self.session.experiment().events.as_deref().ok_or_else(missing)?)
    }

    /// The display names of the tracks, in their order.
    pub(crate) fn track_names(&self) -> Vec<String> {
        let x = self.session.experiment();
        let tracks = x.traces.as_deref().map(TraceStore::tracks).unwrap_or_default();
        let mut names: Vec<String> =
            tracks.iter().map(|track| x.locations.label(track.location)).collect();
        // Where every rank has one thread, saying so fills columns that have other things to say.
        let only = " thread 0";
        if names.iter().all(|name| name.ends_with(only)) {
            for name in &mut names {
                name.truncate(name.len() - only.len());
            }
        }
        names
    }

    fn gather(
        &self,
        chosen: &LocationChoice,
        window: TimeWindow,
        flows: bool,
    ) -> Result<Vec<Message>, ServiceError> {
        let store = self.session.traces()?;
        let tracks = self.session.chosen_tracks(store, chosen);
        let has = |track: Option<TrackIdx>| {
            track.is_some_and(|track| tracks.binary_search(&track).is_ok())
        };
        let is_all = *chosen == LocationChoice::All;
        let kind = if flows { LinkKind::Flow } else { LinkKind::Message };
        let mut all = Vec::new();
        let mut visit = |message: Message| {
            if message.kind == kind && (is_all || has(message.sender) || has(message.receiver)) {
                all.push(message);
            }
        };
        self.events()?.messages(window, &mut visit).map_err(EngineError::from)?;
        all.sort_by_key(|m| (m.send_nanos.or(m.receive_nanos), m.sender, m.receiver));
        Ok(all)
    }
}

/// Takes what ran on helper threads out of the sums, unless nothing else ran, and says so.
fn exclude_helpers(helpers: &HelperThreads, sums: &mut ContextSums) -> Option<String> {
    let time = |is_counted: &dyn Fn(ContextIdx) -> bool| -> u128 {
        let all = sums.nanos.iter().enumerate().skip(1);
        let counted = all
            .filter(|(at, _)| u32::try_from(*at).is_ok_and(|at| is_counted(ContextIdx::new(at))));
        counted.map(|(_, nanos)| nanos).sum()
    };
    let (all, removed) = (time(&|_| true), time(&|context| helpers.has(context)));
    if removed == 0 || removed == all {
        return None;
    }
    for (at, (nanos, calls)) in sums.nanos.iter_mut().zip(&mut sums.calls).enumerate() {
        if u32::try_from(at).is_ok_and(|at| helpers.has(ContextIdx::new(at))) {
            *nanos = 0;
            *calls = 0;
        }
    }
    let share = removed as f64 / all as f64 * 100.0;
    Some(format!("{}: {share:.1} % of the time.", crate::options::NO_HELPERS))
}

/// The chosen locations of which the choice has the track.
pub(crate) fn narrowed(
    session: &Session,
    locations: LocationChoice,
    tracks: &TracksChoice,
) -> Result<LocationChoice, ServiceError> {
    if tracks.is_none() {
        return Ok(locations);
    }
    let store = session.traces()?;
    let ranges = all_tracks(session, &locations, tracks)?;
    let all = store.tracks();
    let own = ranges.iter().filter_map(|range| all.get(range.start.idx()..range.end.idx()));
    let mut list: Vec<_> = own.flatten().map(|track| track.location).collect();
    list.sort_unstable();
    Ok(LocationChoice::Some(list))
}

/// The tracks of the chosen locations that a choice has, as ranges.
fn all_tracks(
    session: &Session,
    locations: &LocationChoice,
    tracks: &TracksChoice,
) -> Result<Vec<TrackRange>, ServiceError> {
    let store = session.traces()?;
    let mut ranges: Vec<TrackRange> = Vec::new();
    for track in session.chosen_tracks(store, locations) {
        if !links::has_track(tracks, Some(track)) {
            continue;
        }
        let end = TrackIdx::new(track.get().saturating_add(1));
        match ranges.last_mut() {
            Some(last) if last.end == track => last.end = end,
            _ => ranges.push(track..end),
        }
    }
    Ok(ranges)
}

/// Adds a column by context up by group, over the rows that `counts` picks.
fn by_group<T: Copy + Default + std::ops::AddAssign>(
    groups: &Groups,
    view: &TreeView,
    column: &[T],
    counts: impl Fn(usize) -> bool,
) -> Vec<T> {
    let mut sums = vec![T::default(); groups.len()];
    for (row, &context) in view.contexts().iter().enumerate().filter(|(row, _)| counts(*row)) {
        let sum = groups.of_row(row).and_then(|group| sums.get_mut(group));
        if let Some((sum, &value)) = sum.zip(column.get(context.idx())) {
            *sum += value;
        }
    }
    sums
}

/// The functions on the way to a context.
pub(crate) fn path(tree: &ContextTree, context: ContextIdx) -> String {
    path_names(tree, context, |_| true, |at| tree.label(at)).join(" > ")
}

/// Contexts on a path that are looked at for its names. The paths of all contexts of a deep tree
/// would be as long as the square of its depth.
const MOST_ON_PATH: usize = 128;

/// The names, by `label`, of the contexts on the way to a context that `is_named` accepts, the
/// outermost first. Of a path that is too deep to be read, the innermost ones, after how many are above them.
pub(crate) fn path_names(
    tree: &ContextTree,
    context: ContextIdx,
    is_named: impl Fn(ContextIdx) -> bool,
    label: impl Fn(ContextIdx) -> String,
) -> Vec<String> {
    let path = std::iter::once(context).chain(tree.ancestors(context));
    let path = path.take_while(|&c| c != ContextTree::ROOT).take(MOST_ON_PATH + 1);
    let mut path: Vec<ContextIdx> = path.collect();
    let num_above = path.get(MOST_ON_PATH).map_or(0, |&c| tree.depth(c));
    path.truncate(MOST_ON_PATH);
    let above = (num_above > 0).then(|| format!("... {num_above} above"));
    let names = path.into_iter().rev().filter(|&c| is_named(c)).map(label);
    above.into_iter().chain(names).collect()
}

/// A number for each context that those with the same names on their paths share; 0 for the root.
fn path_numbers(tree: &ContextTree) -> Vec<u32> {
    let mut known: HashMap<(u32, String), u32> = HashMap::new();
    let mut out: Vec<u32> = Vec::with_capacity(tree.len());
    for context in tree.iter() {
        let above = tree.parent(context).and_then(|above| out.get(above.idx())).copied();
        let number = above.map_or(0, |above| {
            let next = u32::try_from(known.len() + 1).unwrap_or(u32::MAX);
            *known.entry((above, tree.label(context))).or_insert(next)
        });
        out.push(number);
    }
    out
}

/// Tracks in order, those that are not in the trace last.
fn place(track: Option<TrackIdx>) -> u64 {
    track.map_or(u64::MAX, |track| track.get().into())
}

/// Messages together, one row for each of `rows`.
pub(crate) fn sums(rows: &[Row], notes: &mut Vec<String>) -> MessageSumTable {
    notes.extend(too_many_bytes(rows.iter().map(|row| row.bytes)));
    let column = |of: fn(&Row) -> u64| rows.iter().map(of).collect();
    let longest = rows.iter().map(|row| row.longest.map(|nanos| nanos as f64 / 1e9));
    MessageSumTable {
        messages: column(|row| row.messages),
        bytes: rows.iter().map(|row| in_64_bits(row.bytes)).collect(),
        mean_s: rows.iter().map(Row::mean).collect(),
        longest_s: longest.collect(),
        unmatched: column(|row| row.unmatched),
        backwards: column(|row| row.backwards),
        ..MessageSumTable::default()
    }
}

/// A number of bytes as answers have it; [`too_many_bytes`] says where that is too small.
fn in_64_bits(bytes: u128) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// That some sums do not fit into the numbers of an answer: of sizes that a damaged trace makes up.
fn too_many_bytes(sums: impl Iterator<Item = u128>) -> Option<String> {
    let num = sums.filter(|&sum| u64::try_from(sum).is_err()).count();
    (num > 0).then(|| {
        let (s, verb) = if num == 1 { ("", "exceeds") } else { ("s", "exceed") };
        format!(
            "{num} sum{s} of bytes {verb} 2^64 - 1, shown as that number; the sizes of messages in \
             the trace are implausible."
        )
    })
}

#[derive(Default)]
pub(crate) struct Row {
    messages: u64,
    bytes: u128,
    matched: u64,
    nanos: i128,
    longest: Option<i64>,
    unmatched: u64,
    backwards: u64,
}

impl Row {
    pub(crate) fn add(&mut self, message: &Message) {
        self.messages += 1;
        self.bytes += u128::from(message.bytes);
        self.backwards += u64::from(message.is_backwards());
        match message.send_nanos.zip(message.receive_nanos) {
            Some((send, receive)) => {
                let nanos = receive.wrapping_sub(send).cast_signed();
                self.matched += 1;
                self.nanos += i128::from(nanos);
                self.longest = Some(self.longest.map_or(nanos, |longest| longest.max(nanos)));
            }
            None => self.unmatched += 1,
        }
    }

    fn mean(&self) -> Option<f64> {
        (self.matched > 0).then(|| self.nanos as f64 / self.matched as f64 / 1e9)
    }
}

fn list(all: &[Message], name: impl Fn(Option<TrackIdx>) -> String) -> MessageTable {
    let row = |message: &Message| MessageRow {
        send_ns: message.send_nanos,
        receive_ns: message.receive_nanos,
        sender: name(message.sender),
        receiver: name(message.receiver),
        bytes: message.bytes,
        tag: message.tag.to_string(),
        communicator: u64::from(message.communicator),
    };
    all.iter().map(row).collect()
}
