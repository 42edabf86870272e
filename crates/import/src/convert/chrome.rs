//! Chrome trace events, Kineto's included, into archives.
//!
//! Events come in any order and overlap, so those of a track are gathered, sorted and laid on lanes
//! before they are fed. What is gathered is about a sixth of the file.

use std::collections::{BTreeMap, HashMap};

use parallax_base::{Control, Issues, Place, Severity, Source, Stage};
use parallax_formats::archive::{MessageRow, NONE_32, keys};
use parallax_formats::json_trace::{
    ArgValue, ChromeEvent, ChromeReader, EventId, NameId, Phase, TraceOptions, TrackId,
};
use parallax_model::{IdentityKind, RecordCounts};

use super::lanes::{Complete, feed, lanes};
use super::progress::Progress;
use crate::events::{Conversion, ConversionError, NO_RECEIVE, NO_SEND, TrackIdentity, TrackKind};

/// A process and a thread of it.
type Who = (Option<TrackId>, Option<TrackId>);

/// What names a function: name and categories.
type Called = (Option<NameId>, Option<NameId>);

/// What was gathered of a track. Functions have numbers of the gathering.
#[derive(Default)]
struct Gathered {
    complete: Vec<Complete>,
    /// Begun by `B` and not yet ended: start and function.
    open: Vec<(u64, u32)>,
    counts: RecordCounts,
    values: Vec<(u64, u32, f64)>,
    markers: Vec<(u64, u32)>,
    last_nanos: u64,
}

/// One end of a flow.
#[derive(Debug, Clone, Copy)]
struct End {
    track: usize,
    nanos: u64,
}

/// The ends of one flow: where it starts, and all places where it goes to.
#[derive(Default)]
struct Flow {
    starts: Vec<End>,
    ends: Vec<End>,
}

/// Category, name and id of what belongs together.
type Key = (Option<NameId>, Option<NameId>, Vec<u8>);

/// Everything that the file says, by track.
#[derive(Default)]
struct Gathering {
    numbers: HashMap<Who, usize>,
    whos: Vec<Who>,
    tracks: Vec<Gathered>,
    functions: HashMap<Called, u32>,
    called: Vec<Called>,
    counters: HashMap<(Option<NameId>, String), u32>,
    flows: BTreeMap<Key, Flow>,
    /// Operations across threads that have begun: start and function.
    asyncs: HashMap<Key, Vec<(u64, u32)>>,
    /// Finished ones, by process.
    operations: BTreeMap<Option<TrackId>, Vec<Complete>>,
    processes: BTreeMap<Option<TrackId>, String>,
    threads: BTreeMap<Who, String>,
    num_metadata: u64,
}

/// Converts a file of Chrome trace events.
pub(super) fn convert(
    source: &Source,
    file: &str,
    conversion: &mut Conversion,
    control: &Control,
) -> Result<(), ConversionError> {
    let mut reader = ChromeReader::open(&**source, &TraceOptions::new(file))?;
    let mut gathering = Gathering::default();
    let mut issues = Issues::new();
    let mut progress = Progress::new(source.len(), control);
    while let Some(event) = reader.next_event(&mut issues)? {
        gathering.take(&event, file, &mut issues);
        progress.at(reader.bytes_read())?;
    }
    conversion.issues.extend(issues);
    let is_kineto = facts(&reader, conversion);
    conversion.fact(keys::FORMAT, if is_kineto { "Kineto JSON" } else { "Chrome trace events" });
    gathering.feed(&reader, conversion, control)
}

/// Takes what stands beside the events as facts; tells whether it is Kineto's.
fn facts(reader: &ChromeReader<'_>, conversion: &mut Conversion) -> bool {
    /// Longer values are tables of their own, which no page of facts has room for.
    const LONGEST: usize = 200;
    let mut is_kineto = false;
    for part in reader.metadata() {
        is_kineto |= matches!(part.name.as_str(), "deviceProperties" | "distributedInfo");
        if part.text.len() <= LONGEST {
            let text = String::from_utf8_lossy(&part.text);
            let text = text.trim().trim_matches('"');
            conversion.fact(format!("{}{}", keys::FACT, part.name), text);
            if part.name == "baseTimeNanoseconds" {
                conversion.fact(keys::EPOCH_OFFSET_NANOS, text);
            }
        }
    }
    is_kineto
}

impl Gathering {
    fn track(&mut self, who: Who) -> usize {
        if let Some(&number) = self.numbers.get(&who) {
            return number;
        }
        let number = self.tracks.len();
        self.numbers.insert(who, number);
        self.whos.push(who);
        self.tracks.push(Gathered::default());
        number
    }

    fn function(&mut self, called: Called) -> u32 {
        let next = u32::try_from(self.called.len()).unwrap_or(NONE_32);
        let number = *self.functions.entry(called).or_insert(next);
        if number == next {
            self.called.push(called);
        }
        number
    }

    fn take(&mut self, event: &ChromeEvent<'_>, file: &str, issues: &mut Issues) {
        if event.phase == Phase::Metadata {
            self.num_metadata += 1;
            self.take_names(event);
            return;
        }
        let fault = |kind, message: &'static str| {
            let place = Place::Byte { file: file.to_owned(), offset: event.offset };
            (kind, place, message)
        };
        let report = |issues: &mut Issues, (kind, place, message): (_, _, &'static str)| {
            issues.report(Severity::Warning, Stage::Import, kind, place, || message.into());
        };
        let who = (event.process, event.thread);
        let track = self.track(who);
        let nanos = match event.time_nanos.map(u64::try_from) {
            Some(Ok(nanos)) => nanos,
            Some(Err(_)) => {
                let what = "an event is before the start of its clock; it is moved to the start";
                report(issues, fault("time-negative", what));
                0
            }
            None => {
                let what = "an event has no time; it is put at the time of the one before it";
                report(issues, fault("time-missing", what));
                self.tracks.get(track).map_or(0, |track| track.last_nanos)
            }
        };
        let called = (event.name, event.categories);
        let function = match event.phase {
            Phase::Begin | Phase::Complete | Phase::Instant | Phase::Mark | Phase::AsyncBegin => {
                self.function(called)
            }
            _ => 0,
        };
        let Some(own) = self.tracks.get_mut(track) else { return };
        own.last_nanos = nanos;
        match event.phase {
            Phase::Begin => {
                own.counts.enters += 1;
                own.open.push((nanos, function));
            }
            Phase::End => {
                own.counts.leaves += 1;
                match own.open.pop() {
                    Some((start_nanos, function)) => {
                        let end_nanos = nanos.max(start_nanos);
                        own.complete.push(Complete { start_nanos, end_nanos, function });
                    }
                    None => {
                        let what = "a function ends that did not begin; the record is dropped";
                        report(issues, fault("leave-without-enter", what));
                    }
                }
            }
            Phase::Complete => {
                own.counts.others += 1;
                let long = event.duration_nanos.and_then(|nanos| u64::try_from(nanos).ok());
                if long.is_none() {
                    let what = "an event has no duration; it is taken for a moment";
                    report(issues, fault("duration-missing", what));
                }
                let end_nanos = nanos.saturating_add(long.unwrap_or(0));
                own.complete.push(Complete { start_nanos: nanos, end_nanos, function });
                self.bind(event, End { track, nanos });
            }
            Phase::Counter => {
                own.counts.metrics += 1;
                self.take_values(event, track, nanos);
            }
            Phase::FlowStart | Phase::FlowStep | Phase::FlowEnd => {
                own.counts.others += 1;
                self.take_flow(event, End { track, nanos });
            }
            Phase::Instant | Phase::Mark => {
                own.counts.others += 1;
                own.markers.push((nanos, function));
            }
            Phase::AsyncBegin | Phase::AsyncStep | Phase::AsyncEnd => {
                own.counts.others += 1;
                if !self.take_async(event, nanos, function) {
                    let what = "an operation ends that did not begin; the record is dropped";
                    report(issues, fault("operation-without-begin", what));
                }
            }
            _ => {
                own.counts.others += 1;
                let what = "events of this kind are counted, and nothing of them is shown";
                report(issues, fault("phase-not-shown", what));
            }
        }
    }

    /// Names of processes and threads.
    fn take_names(&mut self, event: &ChromeEvent<'_>) {
        let Some(name) = event.args.string("name") else {
            let Some(labels) = event.args.string("labels") else { return };
            let name = self.processes.entry(event.process).or_default();
            if !name.contains(&*labels) {
                name.push_str(if name.is_empty() { "" } else { " " });
                name.push_str(&labels);
            }
            return;
        };
        let text = |wanted: &[u8]| {
            // Names are numbers here; what the event says is in its text.
            event.text.windows(wanted.len()).any(|part| part == wanted)
        };
        if text(b"\"process_name\"") {
            let labels = self.processes.remove(&event.process).unwrap_or_default();
            let full =
                if labels.is_empty() { name.into_owned() } else { format!("{name} {labels}") };
            self.processes.insert(event.process, full);
        } else if text(b"\"thread_name\"") {
            self.threads.insert((event.process, event.thread), name.into_owned());
        }
    }

    fn take_values(&mut self, event: &ChromeEvent<'_>, track: usize, nanos: u64) {
        for (name, value) in event.args.entries() {
            let value = match value {
                ArgValue::Number(_) | ArgValue::Text(_) => value.as_f64(),
                _ => None,
            };
            let Some(value) = value else { continue };
            let next = u32::try_from(self.counters.len()).unwrap_or(NONE_32);
            let counter = *self.counters.entry((event.name, name.into_owned())).or_insert(next);
            if let Some(own) = self.tracks.get_mut(track) {
                own.values.push((nanos, counter, value));
            }
        }
    }

    fn take_flow(&mut self, event: &ChromeEvent<'_>, end: End) {
        let flow = self.flows.entry((event.categories, event.name, id(event.id()))).or_default();
        match event.phase {
            Phase::FlowStart => flow.starts.push(end),
            _ => flow.ends.push(end),
        }
    }

    /// Flows of events that are themselves the ends (`bind_id`).
    fn bind(&mut self, event: &ChromeEvent<'_>, end: End) {
        let Some(bound) = event.bind_id() else { return };
        let flow = self.flows.entry((None, None, id(Some(bound)))).or_default();
        if event.flow_out() {
            flow.starts.push(end);
        }
        if event.flow_in() {
            flow.ends.push(end);
        }
    }

    /// Takes a part of an operation; `false` for an end without a begin.
    fn take_async(&mut self, event: &ChromeEvent<'_>, nanos: u64, function: u32) -> bool {
        let key = (event.categories, event.name, id(event.id()));
        match event.phase {
            Phase::AsyncBegin => {
                self.asyncs.entry(key).or_default().push((nanos, function));
                true
            }
            Phase::AsyncEnd => {
                let begun = self.asyncs.get_mut(&key).and_then(Vec::pop);
                let Some((start_nanos, function)) = begun else { return false };
                let end_nanos = nanos.max(start_nanos);
                let done = Complete { start_nanos, end_nanos, function };
                self.operations.entry(event.process).or_default().push(done);
                true
            }
            _ => true,
        }
    }

    /// Feeds everything, track after track.
    fn feed(
        mut self,
        reader: &ChromeReader<'_>,
        conversion: &mut Conversion,
        control: &Control,
    ) -> Result<(), ConversionError> {
        let text = |name: Option<NameId>| name.map_or("", |name| reader.names().get(name));
        let functions: Vec<u32> = self
            .called
            .iter()
            .map(|&(name, group)| {
                let name = text(name);
                conversion.function(if name.is_empty() { "(unnamed)" } else { name }, text(group))
            })
            .collect();
        let mut counters: Vec<_> = self.counters.drain().collect();
        counters.sort_by_key(|(_, number)| *number);
        let counters: Vec<u32> = counters
            .into_iter()
            .map(|((name, argument), _)| match text(name) {
                "" => conversion.counter(&argument, ""),
                name if argument == name || argument == "value" => conversion.counter(name, ""),
                name => conversion.counter(&format!("{name} {argument}"), ""),
            })
            .collect();
        if self.num_metadata > 0 {
            conversion
                .fact(format!("{}metadata events", keys::FACT), self.num_metadata.to_string());
        }
        let mut rows = Vec::new();
        for (number, mut track) in std::mem::take(&mut self.tracks).into_iter().enumerate() {
            control.check()?;
            let Some(&who) = self.whos.get(number) else { continue };
            self.close_open(&mut track, conversion);
            let gathered = Fed { functions: &functions, counters: &counters };
            rows.push(gathered.track(track, &self.identity(who, reader), conversion)?);
        }
        for (process, operations) in std::mem::take(&mut self.operations) {
            let mut identity = self.identity((process, None), reader);
            identity.name.push_str(", operations across threads");
            let track = Gathered { complete: operations, ..Gathered::default() };
            let gathered = Fed { functions: &functions, counters: &counters };
            gathered.track(track, &identity, conversion)?;
        }
        self.link(&rows, conversion)
    }

    fn close_open(&self, track: &mut Gathered, conversion: &mut Conversion) {
        let last = track.complete.iter().map(|event| event.end_nanos).max().unwrap_or(0);
        let last = last.max(track.last_nanos);
        for (start_nanos, function) in std::mem::take(&mut track.open) {
            let place = Place::Time { nanos: start_nanos };
            conversion.issues.report(
                Severity::Warning,
                Stage::Import,
                "open-at-end",
                place,
                || "a function never ends; it ends with the last event of its thread".into(),
            );
            let end_nanos = last.max(start_nanos);
            track.complete.push(Complete { start_nanos, end_nanos, function });
        }
    }

    fn identity(&self, who: Who, reader: &ChromeReader<'_>) -> TrackIdentity {
        let (process, thread) = who;
        let label = |id: Option<TrackId>| match id {
            Some(TrackId::Number(number)) => number.to_string(),
            Some(TrackId::Name(name)) => reader.names().get(name).to_owned(),
            None => "?".to_owned(),
        };
        let number = |id: Option<TrackId>| match id {
            Some(TrackId::Number(number)) => u64::try_from(number).ok(),
            _ => None,
        };
        let own = self.processes.get(&process).filter(|name| !name.is_empty());
        let own = own.map_or_else(
            || format!("process {}", label(process)),
            |name| format!("{name} {}", label(process)),
        );
        let name = match (self.threads.get(&who), thread) {
            (Some(name), _) => format!("{own}, {name}"),
            (None, Some(_)) => format!("{own}, thread {}", label(thread)),
            (None, None) => own,
        };
        let is_stream = self.threads.get(&who).is_some_and(|name| name.starts_with("stream "));
        let inner = if is_stream { IdentityKind::GpuStream } else { IdentityKind::Thread };
        let identity = [(IdentityKind::Rank, number(process)), (inner, number(thread))];
        TrackIdentity {
            name,
            kind: if is_stream { TrackKind::Stream } else { TrackKind::Thread },
            identity: identity.into_iter().filter_map(|(kind, id)| Some((kind, id?))).collect(),
            declared: None,
        }
    }

    /// Writes flows: every end is linked to the last start before it, or to the first one.
    fn link(self, rows: &[u32], conversion: &mut Conversion) -> Result<(), ConversionError> {
        for (nth, mut flow) in self.flows.into_values().enumerate() {
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

fn id(id: Option<EventId<'_>>) -> Vec<u8> {
    match id {
        Some(EventId::Number(number)) => number.to_string().into_bytes(),
        Some(EventId::Hex(number)) => format!("{number:#x}").into_bytes(),
        Some(EventId::Text(text)) => text.to_vec(),
        None => Vec::new(),
    }
}

/// The archive's numbers of what was gathered.
struct Fed<'f> {
    functions: &'f [u32],
    counters: &'f [u32],
}

impl Fed<'_> {
    /// Feeds a track and those that hold what overlaps in it; returns its row.
    fn track(
        &self,
        gathered: Gathered,
        identity: &TrackIdentity,
        conversion: &mut Conversion,
    ) -> Result<u32, ConversionError> {
        let Gathered { mut complete, counts, mut values, mut markers, .. } = gathered;
        for event in &mut complete {
            event.function = self.functions.get(event.function as usize).copied().unwrap_or(0);
        }
        let lanes = lanes(complete);
        let moved: usize = lanes.iter().skip(1).map(Vec::len).sum();
        if moved > 0 {
            let name = identity.name.clone();
            let place = Place::File { file: name.clone() };
            let count = u64::try_from(moved).unwrap_or(u64::MAX);
            conversion.issues.report_many(
                Severity::Note,
                Stage::Import,
                "overlap",
                place,
                count,
                || {
                    format!(
                        "events of {name} overlap without nesting; they have tracks of their own"
                    )
                },
            );
        }
        let row = conversion.track(identity.clone());
        values.sort_by_key(|value| value.0);
        markers.sort_unstable();
        if let Some(builder) = conversion.builder(row) {
            *builder.counts_mut() = counts;
            // Counters and markers do not nest in calls; order among them is by time.
            for (nanos, counter, value) in values {
                builder.value_at(
                    nanos,
                    self.counters.get(counter as usize).copied().unwrap_or(0),
                    value,
                );
            }
            for (nanos, name) in markers {
                let name = self.functions.get(name as usize).copied().unwrap_or(0);
                builder.marker_at(nanos, name);
            }
        }
        for (nth, lane) in lanes.iter().enumerate() {
            let number = if nth == 0 {
                row
            } else {
                conversion.track(TrackIdentity {
                    name: format!("{} (overlap {nth})", identity.name),
                    kind: TrackKind::Overlap,
                    ..identity.clone()
                })
            };
            if let Some(builder) = conversion.builder(number) {
                feed(lane, builder);
            }
            conversion.commit()?;
        }
        Ok(row)
    }
}
