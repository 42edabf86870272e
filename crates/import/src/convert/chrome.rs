//! Chrome trace events, Kineto's included, into archives.
//!
//! Events come in any order and overlap, so they are gathered; flows and operations across threads
//! in memory.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;

use parallax_base::{Control, Issues, LimitExceeded, Limits, Place, Severity, Source, Stage};
use parallax_formats::archive::{NONE_32, keys};
use parallax_formats::json_trace::{
    ArgValue, ChromeEvent, ChromeReader, NameId, Phase, TraceOptions, TrackId,
};
use parallax_model::IdentityKind;

use super::chrome_arguments::EventArguments;
use super::chrome_flows::{End, Flows, KEY_BYTES, Key, id};
use super::gathered::{Begun, Events, Gathered, feed_lanes};
use super::lanes::Complete;
use super::progress::Progress;
use crate::events::{Conversion, ConversionError, TrackIdentity, TrackKind};

/// A process and a thread of it.
type Who = (Option<TrackId>, Option<TrackId>);

/// What names a function: name and categories.
type Called = (Option<NameId>, Option<NameId>);

/// Whether the text of an event has a part: names are numbers there.
fn has(event: &ChromeEvent<'_>, wanted: &[u8]) -> bool {
    event.text.windows(wanted.len()).any(|part| part == wanted)
}

/// Everything that the file says, by track.
#[derive(Default)]
struct Gathering {
    numbers: HashMap<Who, usize>,
    whos: Vec<Who>,
    tracks: Vec<Gathered>,
    functions: HashMap<Called, u32>,
    called: Vec<Called>,
    /// By function, whether it says for how long was recorded.
    is_recording: Vec<bool>,
    counters: HashMap<(Option<NameId>, String), u32>,
    flows: Flows,
    /// Those of the event that was taken last.
    arguments: EventArguments,
    /// Operations across threads that have begun.
    asyncs: HashMap<Key, Vec<Begun>>,
    /// Finished ones, by process.
    operations: BTreeMap<Option<TrackId>, Vec<Complete>>,
    processes: BTreeMap<Option<TrackId>, String>,
    threads: BTreeMap<Who, String>,
    /// Names that several threads of a process have; known once all events are read.
    shared: BTreeSet<(Option<TrackId>, String)>,
    num_metadata: u64,
    /// For how long was recorded, in nanoseconds: the longest of what says so.
    recorded_nanos: u64,
    /// About what all of this takes.
    held_bytes: u64,
}

/// About what a track and a name take, besides their texts.
const TRACK_BYTES: u64 = 1024;
const NAME_BYTES: u64 = 128;

/// Longest name of a process that labels are added to.
const LONGEST_LABELS: usize = 200;

/// Converts a file of Chrome trace events.
pub(super) fn convert(
    source: &Source,
    file: &str,
    limits: &Limits,
    conversion: &mut Conversion,
    control: &Control,
) -> Result<(), ConversionError> {
    let mut reader = ChromeReader::open(&**source, &TraceOptions::new(file))?;
    let (mut gathering, mut events) = (Gathering::default(), Events::new(conversion));
    let mut issues = Issues::new();
    let mut progress = Progress::new(source.len(), control);
    while let Some(event) = reader.next_event(&mut issues)? {
        gathering.take(&event, file, &mut events, &mut issues)?;
        gathering.check(limits)?;
        progress.at(reader.bytes_read())?;
    }
    conversion.issues.extend(issues);
    let is_kineto = facts(&reader, conversion);
    conversion.fact(keys::FORMAT, if is_kineto { "Kineto JSON" } else { "Chrome trace events" });
    gathering.feed(&reader, events, conversion, control)
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
    /// Whether what is in memory is within the limits.
    fn check(&self, limits: &Limits) -> Result<(), LimitExceeded> {
        limits.metadata("the threads, flows and operations of the trace", self.held_bytes)
    }

    fn track(&mut self, who: Who) -> usize {
        if let Some(&number) = self.numbers.get(&who) {
            return number;
        }
        self.held_bytes += TRACK_BYTES;
        let number = self.tracks.len();
        self.numbers.insert(who, number);
        self.whos.push(who);
        self.tracks.push(Gathered::default());
        number
    }

    fn function(&mut self, event: &ChromeEvent<'_>) -> u32 {
        let called = (event.name, event.categories);
        let next = u32::try_from(self.called.len()).unwrap_or(NONE_32);
        let number = *self.functions.entry(called).or_insert(next);
        if number == next {
            self.called.push(called);
            self.is_recording.push(has(event, b"\"Trace\"") && has(event, b"\"PyTorch Profiler"));
            self.held_bytes += NAME_BYTES;
        }
        number
    }

    /// Kineto's spans of category `Trace` say for how long was recorded: nothing ran in them, and
    /// the processes `Spans` and `Traces` that they are of are none.
    fn take_recording(&mut self, event: &ChromeEvent<'_>) -> bool {
        if event.phase != Phase::Complete {
            return false;
        }
        let function = self.function(event);
        let is_recording = self.is_recording.get(function as usize) == Some(&true);
        if is_recording {
            let nanos = event.duration_nanos.and_then(|nanos| u64::try_from(nanos).ok());
            self.recorded_nanos = self.recorded_nanos.max(nanos.unwrap_or(0));
        }
        is_recording
    }

    fn take(
        &mut self,
        event: &ChromeEvent<'_>,
        file: &str,
        events: &mut Events,
        issues: &mut Issues,
    ) -> io::Result<()> {
        if event.phase == Phase::Metadata {
            self.num_metadata += 1;
            self.take_names(event);
            return Ok(());
        }
        if self.take_recording(event) {
            self.num_metadata += 1;
            return Ok(());
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
        let function = match event.phase {
            Phase::Begin | Phase::Complete | Phase::Instant | Phase::Mark | Phase::AsyncBegin => {
                self.function(event)
            }
            _ => 0,
        };
        let arguments = match event.phase {
            Phase::Begin | Phase::End | Phase::Complete | Phase::AsyncBegin | Phase::AsyncEnd => {
                self.arguments.read(&event.args);
                events.arguments.take(&self.arguments.text, nanos, issues)?
            }
            _ => 0,
        };
        let Some(own) = self.tracks.get_mut(track) else { return Ok(()) };
        own.last_nanos = nanos;
        match event.phase {
            Phase::Begin => {
                own.counts.enters += 1;
                own.open.push(Begun { start_nanos: nanos, function, arguments });
                self.held_bytes += size_of::<Begun>() as u64;
            }
            Phase::End => {
                own.counts.leaves += 1;
                match own.open.pop() {
                    Some(begun) => {
                        let held = size_of::<Begun>() as u64;
                        self.held_bytes = self.held_bytes.saturating_sub(held);
                        let call = begun.ended(nanos, arguments);
                        own.end_nanos = own.end_nanos.max(call.end_nanos);
                        events.call(track, call)?;
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
                own.end_nanos = own.end_nanos.max(end_nanos);
                let start_nanos = nanos;
                events.call(track, Complete { start_nanos, end_nanos, function, arguments })?;
                let end = End { track, nanos };
                self.held_bytes += self.flows.bind(event, end);
                if let Some(correlation) = self.arguments.correlation() {
                    self.held_bytes += self.flows.correlate(event, correlation, end);
                }
            }
            Phase::Counter => {
                own.counts.metrics += 1;
                self.take_values(event, track, nanos, events)?;
            }
            Phase::FlowStart | Phase::FlowStep | Phase::FlowEnd => {
                own.counts.others += 1;
                self.held_bytes += self.flows.take(event, End { track, nanos });
            }
            Phase::Instant | Phase::Mark => {
                own.counts.others += 1;
                events.marker(track, nanos, function)?;
            }
            Phase::AsyncBegin | Phase::AsyncStep | Phase::AsyncEnd => {
                own.counts.others += 1;
                if !self.take_async(event, Begun { start_nanos: nanos, function, arguments }) {
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
        Ok(())
    }

    /// Names of processes and threads.
    fn take_names(&mut self, event: &ChromeEvent<'_>) {
        let Some(name) = event.args.string("name") else {
            let Some(labels) = event.args.string("labels") else { return };
            let name = self.processes.entry(event.process).or_default();
            self.held_bytes += NAME_BYTES;
            if name.len() < LONGEST_LABELS && !name.contains(&*labels) {
                name.push_str(if name.is_empty() { "" } else { " " });
                name.push_str(&labels);
            }
            return;
        };
        self.held_bytes += NAME_BYTES + name.len() as u64;
        if has(event, b"\"process_name\"") {
            let labels = self.processes.remove(&event.process).unwrap_or_default();
            let full =
                if labels.is_empty() { name.into_owned() } else { format!("{name} {labels}") };
            self.processes.insert(event.process, full);
        } else if has(event, b"\"thread_name\"") {
            self.threads.insert((event.process, event.thread), name.into_owned());
        }
    }

    fn take_values(
        &mut self,
        event: &ChromeEvent<'_>,
        track: usize,
        nanos: u64,
        events: &mut Events,
    ) -> io::Result<()> {
        for (name, value) in event.args.entries() {
            let value = match value {
                ArgValue::Number(_) | ArgValue::Text(_) => value.as_f64(),
                _ => None,
            };
            let Some(value) = value else { continue };
            let next = u32::try_from(self.counters.len()).unwrap_or(NONE_32);
            let counter = *self.counters.entry((event.name, name.into_owned())).or_insert(next);
            if counter == next {
                self.held_bytes += NAME_BYTES;
            }
            events.value(track, nanos, counter, value)?;
        }
        Ok(())
    }

    /// Takes a part of an operation; `false` for an end without a begin.
    fn take_async(&mut self, event: &ChromeEvent<'_>, now: Begun) -> bool {
        let key = (event.categories, event.name, id(event.id()));
        match event.phase {
            Phase::AsyncBegin => {
                let begun = self.asyncs.entry(key).or_default();
                self.held_bytes += if begun.is_empty() { KEY_BYTES } else { 0 };
                begun.push(now);
                true
            }
            Phase::AsyncEnd => {
                let begun = self.asyncs.get_mut(&key).and_then(Vec::pop);
                let Some(begun) = begun else { return false };
                let done = begun.ended(now.start_nanos, now.arguments);
                self.held_bytes += size_of::<Complete>() as u64;
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
        mut events: Events,
        conversion: &mut Conversion,
        control: &Control,
    ) -> Result<(), ConversionError> {
        let text = |name: Option<NameId>| name.map_or("", |name| reader.names().get(name));
        let functions: Vec<u32> = self
            .called
            .iter()
            .zip(&self.is_recording)
            .map(|(&(name, group), &is_recording)| {
                if is_recording {
                    return 0;
                }
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
        if self.recorded_nanos > 0 {
            let seconds = self.recorded_nanos as f64 / 1e9;
            conversion.fact(format!("{}recorded", keys::FACT), format!("{seconds} s"));
        }
        let mut rows = Vec::new();
        for (number, track) in self.tracks.iter_mut().enumerate() {
            events.close_open(number, track, &mut conversion.issues)?;
        }
        let mut fed = events.finish(Some(functions), counters)?;
        self.shared = self.shared_names();
        for (number, track) in self.tracks.iter().enumerate() {
            control.check()?;
            let Some(&who) = self.whos.get(number) else { continue };
            let identity = self.identity(who, reader);
            rows.push(fed.track(number, track.counts, &identity, conversion)?);
        }
        for (process, mut operations) in std::mem::take(&mut self.operations) {
            let mut identity = self.identity((process, None), reader);
            identity.name.push_str(", operations across threads");
            operations.sort_by_key(|event| (event.start_nanos, u64::MAX - event.end_nanos));
            let row = conversion.track(identity.clone());
            let operations: Vec<_> = operations.into_iter().map(|call| fed.named(call)).collect();
            let mut operations = operations.into_iter().map(Ok);
            feed_lanes(row, &identity, &mut operations, &mut fed.arguments, conversion)?;
        }
        self.flows.write(&rows, conversion)
    }

    /// Names that several threads of a process have.
    fn shared_names(&self) -> BTreeSet<(Option<TrackId>, String)> {
        let mut seen = BTreeSet::new();
        let of = self.threads.iter().map(|(who, name)| (who.0, name.clone()));
        of.filter(|name| !seen.insert(name.clone())).collect()
    }

    fn is_stream(&self, who: Who) -> bool {
        self.threads.get(&who).is_some_and(|name| name.starts_with("stream "))
    }

    fn identity(&self, who: Who, reader: &ChromeReader<'_>) -> TrackIdentity {
        let (process, thread) = who;
        let label = |id: Option<TrackId>| match id {
            Some(TrackId::Number(number)) => number.to_string(),
            // Some writers fill in what they do not know with an empty text.
            Some(TrackId::Name(name)) if reader.names().get(name).trim().is_empty() => {
                "(no name)".to_owned()
            }
            Some(TrackId::Name(name)) => reader.names().get(name).to_owned(),
            None => "?".to_owned(),
        };
        let number = |id: Option<TrackId>| match id {
            Some(TrackId::Number(number)) => u64::try_from(number).ok(),
            _ => None,
        };
        let own = self.processes.get(&process).filter(|name| !name.trim().is_empty());
        let own = own.map_or_else(
            || format!("process {}", label(process)),
            |name| format!("{name} {}", label(process)),
        );
        let named = self.threads.get(&who).filter(|name| !name.trim().is_empty());
        let is_shared = |name: &String| self.shared.contains(&(process, name.clone()));
        let name = match (named, thread) {
            (Some(name), Some(_)) if is_shared(name) => format!("{own}, {name} {}", label(thread)),
            (Some(name), _) => format!("{own}, {name}"),
            (None, Some(_)) => format!("{own}, thread {}", label(thread)),
            (None, None) => own,
        };
        let is_stream = self.is_stream(who);
        let inner = if is_stream { IdentityKind::GpuStream } else { IdentityKind::Thread };
        let identity = [(IdentityKind::Rank, number(process)), (inner, number(thread))];
        TrackIdentity {
            name,
            kind: if is_stream { TrackKind::Stream } else { TrackKind::Thread },
            identity: identity.into_iter().filter_map(|(kind, id)| Some((kind, id?))).collect(),
            declared: None,
        }
    }
}
