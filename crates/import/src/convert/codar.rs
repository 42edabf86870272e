//! CODAR event JSON, and Chimbuko's rows, into archives.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use parallax_base::casts::saturated_u64;
use parallax_base::{
    Control, Folder, FolderEntry, Issues, Place, Severity, Source, Stage, read_range,
};
use parallax_formats::FormatError;
use parallax_formats::archive::{ArgumentText, keys};
use parallax_formats::json_trace::{
    ChimbukoReader, ChimbukoRow, CodarKind, CodarReader, EventCodes, NameId, RowKind, TraceOptions,
    function_names, row_numbers,
};
use parallax_model::NamedAnomalies;

use super::progress::Progress;
use super::tracks::Tracks;
use crate::events::{Conversion, ConversionError, Endpoint, FileOperation, Peer, file_of_counter};

/// Events after which what is complete is written.
const COMMIT_EVENTS: u64 = 1 << 18;

/// What may be in memory of a file with names.
const NAMES_BYTES: u64 = 64 << 20;

/// Files beside the rows that are looked at for the meaning of codes.
const MOST_BESIDE: usize = 64;

/// Longest file that declares codes: a short list of names.
const CODES_BYTES: u64 = 64 << 10;

/// Rows that the meaning of codes is guessed from.
const GUESS_ROWS: usize = 100_000;

/// Rows of functions by the reader's names.
#[derive(Default)]
struct Names {
    functions: Vec<Option<u32>>,
    counters: Vec<Option<u32>>,
    /// Counters of what was read from files or written to them.
    files: HashMap<u32, (u32, bool)>,
}

/// The number that `make` gives to a name, asked for once.
fn number(list: &mut Vec<Option<u32>>, name: NameId, make: impl FnOnce() -> u32) -> u32 {
    if list.len() <= name.idx() {
        list.resize(name.idx() + 1, None);
    }
    match list.get_mut(name.idx()) {
        Some(slot) => *slot.get_or_insert_with(make),
        None => make(),
    }
}

/// Time before the start of the clock is no time of a trace.
pub(super) fn nanos(time: i64) -> u64 {
    u64::try_from(time).unwrap_or(0)
}

/// Counts what an event lacks, once for each kind.
pub(super) fn incomplete(issues: &mut Issues, file: &str, offset: u64, what: &'static str) {
    let place = Place::Byte { file: file.to_owned(), offset };
    issues.report(Severity::Error, Stage::Import, "event-incomplete", place, || {
        format!("an event has no {what}; it is omitted")
    });
}

/// Converts a file of CODAR events.
pub(super) fn convert(
    source: &Source,
    file: &str,
    conversion: &mut Conversion,
    control: &Control,
) -> Result<(), ConversionError> {
    conversion.fact(keys::FORMAT, "CODAR event JSON");
    let mut reader = CodarReader::open(&**source, &TraceOptions::new(file))?;
    let (mut tracks, mut names, mut issues) = (Tracks::default(), Names::default(), Issues::new());
    let mut groups: Option<HashMap<String, String>> = None;
    let mut progress = Progress::new(source.len(), control);
    while let Some(event) = reader.next_event(&mut issues)? {
        let (kind, name, offset) = (event.kind, event.name, event.offset);
        let (time, node, thread, value) = (event.time_nanos, event.node, event.thread, event.value);
        let message = event.message;
        if kind == CodarKind::TraceEnd {
            continue;
        }
        let Some(time) = time.map(nanos) else {
            incomplete(&mut issues, file, offset, "time");
            continue;
        };
        let node = match kind {
            CodarKind::Send => message.source_node.or(node),
            CodarKind::Receive => message.destination_node.or(node),
            _ => node,
        };
        let thread = match kind {
            CodarKind::Send => message.source_thread.or(thread),
            CodarKind::Receive => message.destination_thread.or(thread),
            _ => thread,
        };
        let Some(node) = node else {
            incomplete(&mut issues, file, offset, "node-id");
            continue;
        };
        let who = (None, i64::from(node), i64::from(thread.unwrap_or(0)));
        let track = tracks.track(who, conversion);
        match (kind, name) {
            (CodarKind::Entry | CodarKind::Exit, Some(name)) => {
                let known = names.functions.get(name.idx()).copied().flatten();
                let function = known.unwrap_or_else(|| {
                    let groups = groups.get_or_insert_with(|| groups_of(&reader));
                    let text = reader.names().get(name);
                    let group = groups.get(text).map_or_else(|| group_of(text), String::as_str);
                    number(&mut names.functions, name, || conversion.function(text, group))
                });
                let Some(builder) = conversion.builder(track) else { continue };
                if kind == CodarKind::Entry {
                    builder.enter(time, function);
                } else {
                    builder.leave(time, Some(function));
                }
            }
            (CodarKind::Counter, Some(name)) => {
                let text = reader.names().get(name);
                let known = names.counters.get(name.idx()).copied().flatten();
                let counter = known.unwrap_or_else(|| {
                    let counter = conversion.counter(text, "");
                    if let Some((file, is_write)) = file_of_counter(text) {
                        names.files.insert(counter, (conversion.file(file), is_write));
                    }
                    number(&mut names.counters, name, || counter)
                });
                let value = value.unwrap_or(0.0);
                if let Some(builder) = conversion.builder(track) {
                    builder.counts_mut().metrics += 1;
                    builder.value(time, counter, value);
                    if let Some(&(file, is_write)) = names.files.get(&counter) {
                        let bytes = saturated_u64(value);
                        builder.file(FileOperation { nanos: time, file, bytes, is_write });
                    }
                }
            }
            (CodarKind::Send | CodarKind::Receive, _) => {
                let is_send = kind == CodarKind::Send;
                let (node, thread) = if is_send {
                    (message.destination_node, message.destination_thread)
                } else {
                    (message.source_node, message.source_thread)
                };
                let other =
                    node.map(|node| (None, i64::from(node), i64::from(thread.unwrap_or(0))));
                let partner = other.map(|who| tracks.peer(who, conversion));
                if let Some(builder) = conversion.builder(track) {
                    builder.message(Endpoint {
                        nanos: time,
                        partner,
                        communicator: 0,
                        tag: i64::from(message.tag.unwrap_or(0)),
                        bytes: message.bytes.map_or(0, nanos),
                        is_send,
                    });
                }
            }
            (CodarKind::Other(_), _) => {
                if let Some(builder) = conversion.builder(track) {
                    builder.other(time);
                }
            }
            _ => incomplete(&mut issues, file, offset, "name"),
        }
        if reader.events().is_multiple_of(COMMIT_EVENTS) {
            conversion.commit()?;
        }
        progress.at(reader.bytes_read())?;
    }
    conversion.issues.extend(issues);
    Ok(())
}

/// Groups of functions, where the document has them.
fn groups_of(reader: &CodarReader<'_>) -> HashMap<String, String> {
    let states = reader.states().into_iter();
    states.filter_map(|state| Some((state.name, state.group_name?))).collect()
}

/// The group that a name tells, for lists of events that have no groups.
pub(super) fn group_of(name: &str) -> &'static str {
    if name.starts_with("MPI_") { "MPI" } else { "" }
}

/// Converts a file of Chimbuko's rows. Names of functions come from a file beside it.
pub(super) fn convert_rows(
    source: &Source,
    folder: &dyn Folder,
    file: &str,
    conversion: &mut Conversion,
    control: &Control,
) -> Result<(), ConversionError> {
    conversion.fact(keys::FORMAT, "Chimbuko event rows");
    let mut issues = Issues::new();
    let options = TraceOptions::new(file);
    let listing = folder.walk().map_err(|cause| FormatError::read(file, cause))?;
    let beside: Vec<FolderEntry> = beside(&listing, file).cloned().collect();
    let names = names_beside(folder, file, &beside, &mut issues);
    let named = anomalies_beside(folder, &beside);
    let codes = codes(source, folder, (file, beside), &names, &mut issues)?;
    let mut reader = ChimbukoReader::open(&**source, &options)?;
    let mut tracks = Tracks::default();
    let mut functions: HashMap<i64, u32> = HashMap::new();
    let mut counters: HashMap<i64, u32> = HashMap::new();
    let (mut marked, mut anomaly) = (0_u64, ArgumentText::default());
    anomaly.push_json(NamedAnomalies::SCORE, NamedAnomalies::ANOMALY);
    let mut progress = Progress::new(source.len(), control);
    while let Some(row) = reader.next_row(&mut issues)? {
        let Some(time) = row.time_nanos.map(nanos) else {
            incomplete(&mut issues, file, row.offset, "time");
            continue;
        };
        let Some(rank) = row.rank else {
            incomplete(&mut issues, file, row.offset, "rank");
            continue;
        };
        let kind = codes.kind(&row);
        let who = (row.program, rank, row.thread.unwrap_or(0));
        let track = tracks.track(who, conversion);
        let partner = match kind {
            RowKind::Send | RowKind::Receive => {
                row.partner.map(|rank| tracks.peer((row.program, rank, 0), conversion))
            }
            _ => None,
        };
        let function = row.function.map(|number| {
            *functions.entry(number).or_insert_with(|| {
                let name = usize::try_from(number).ok().and_then(|n| names.get(n));
                let name = name.cloned().unwrap_or_else(|| format!("function {number}"));
                conversion.function(&name, group_of(&name))
            })
        });
        match (kind, function) {
            (RowKind::Entry, Some(function)) => {
                if let Some(builder) = conversion.builder(track) {
                    builder.enter(time, function);
                    if named.as_ref().is_some_and(|named| named.has(&row, reader.rows())) {
                        builder.describe(&anomaly.names, &anomaly.values);
                        marked += 1;
                    }
                }
            }
            (RowKind::Exit, function) => {
                if let Some(builder) = conversion.builder(track) {
                    builder.leave(time, function);
                }
            }
            (RowKind::Send | RowKind::Receive, _) => {
                if let Some(builder) = conversion.builder(track) {
                    builder.message(endpoint(&row, time, partner, kind == RowKind::Send));
                }
            }
            (RowKind::Counter, _) => {
                let number = row.counter.unwrap_or(-1);
                let counter = *counters
                    .entry(number)
                    .or_insert_with(|| conversion.counter(&format!("counter {number}"), ""));
                if let Some(builder) = conversion.builder(track) {
                    builder.counts_mut().metrics += 1;
                    builder.value(time, counter, row.counter_value.unwrap_or(0.0));
                }
            }
            _ => {
                if let Some(builder) = conversion.builder(track) {
                    builder.other(time);
                }
            }
        }
        if reader.rows().is_multiple_of(COMMIT_EVENTS) {
            conversion.commit()?;
        }
        progress.at(reader.bytes_read())?;
    }
    if let Some(named) = named {
        named.tell(marked, conversion, &mut issues);
    }
    conversion.issues.extend(issues);
    Ok(())
}

fn endpoint(row: &ChimbukoRow, nanos: u64, partner: Option<Peer>, is_send: bool) -> Endpoint {
    Endpoint {
        nanos,
        partner,
        communicator: 0,
        tag: row.tag.unwrap_or(0),
        bytes: row.bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0),
        is_send,
    }
}

/// The JSON files of `listing` in the folder of `file`, itself left out.
pub(super) fn beside<'f>(
    listing: &'f [FolderEntry],
    file: &'f str,
) -> impl Iterator<Item = &'f FolderEntry> + 'f {
    let place = file.rfind('/').map_or("", |at| file.get(..=at).unwrap_or_default());
    listing.iter().filter(move |entry| {
        let own = entry.path.strip_prefix(place);
        entry.path != file && own.is_some_and(|own| !own.contains('/') && own.ends_with(".json"))
    })
}

/// Files of `beside` that may declare the meaning of codes, the likeliest first: short ones whose
/// name speaks of types, then from the shortest to the longest.
fn by_likelihood(mut beside: Vec<FolderEntry>) -> Vec<FolderEntry> {
    beside.retain(|entry| entry.len <= CODES_BYTES);
    // Some call the file event_types.json, others et.json.
    let is_named = |entry: &FolderEntry| {
        let name = entry.path.rsplit('/').next().unwrap_or_default();
        name == "et.json" || name.contains("type")
    };
    beside.sort_by_cached_key(|entry| (!is_named(entry), entry.len, entry.path.clone()));
    beside
}

fn small_file(folder: &dyn Folder, path: &str, most_bytes: u64) -> Option<Vec<u8>> {
    let source = folder.open(path).ok().flatten()?;
    let len = source.len();
    (len <= most_bytes).then(|| read_range(&*source, 0, len).ok().map(Cow::into_owned))?
}

/// Names of functions by number, from a file beside the rows that is a list of names.
fn names_beside(
    folder: &dyn Folder,
    file: &str,
    beside: &[FolderEntry],
    issues: &mut Issues,
) -> Vec<String> {
    for FolderEntry { path, .. } in beside.iter().filter(|entry| entry.path.contains("function")) {
        let names = small_file(folder, path, NAMES_BYTES).and_then(|text| function_names(&text));
        if let Some(names) = names {
            let place = Place::File { file: path.to_owned() };
            issues.report(Severity::Note, Stage::Import, "names-beside", place, || {
                format!("the names of functions are those of {path}")
            });
            return names;
        }
    }
    let place = Place::File { file: file.to_owned() };
    issues.report(Severity::Warning, Stage::Import, "names-missing", place, || {
        "no file with the names of functions lies next to the rows; functions have numbers".into()
    });
    Vec::new()
}

/// The rows that a detector named, from a file beside the rows.
struct NamedRows {
    path: String,
    rows: HashSet<u64>,
}

impl NamedRows {
    /// Whether `row` is one of them, which is the `nth` of its file. Rows that have a number of
    /// their own are named by it.
    fn has(&self, row: &ChimbukoRow, nth: u64) -> bool {
        let own = row.line.and_then(|line| u64::try_from(line).ok());
        self.rows.contains(&own.unwrap_or(nth.saturating_sub(1)))
    }

    /// Says who named calls, and how many of the rows that it names begin none.
    fn tell(self, marked: u64, conversion: &mut Conversion, issues: &mut Issues) {
        let Self { path, rows } = self;
        let by = path.rsplit('/').next().unwrap_or(&path);
        conversion.fact(keys::NAMED_BY, by);
        conversion.fact(keys::CHOSEN_ANOMALIES, marked.to_string());
        conversion.fact(format!("{}anomalies of {by}", keys::FACT), marked.to_string());
        let others = (rows.len() as u64).saturating_sub(marked);
        if others > 0 {
            let place = Place::File { file: path };
            let (severity, kind) = (Severity::Warning, "anomaly-no-call");
            issues.report_many(severity, Stage::Import, kind, place, others, || {
                "an anomaly is the number of a row that does not begin a call; it is omitted".into()
            });
        }
    }
}

/// The numbers of rows that begin anomalous calls, from a file beside the rows that is a list of
/// them.
fn anomalies_beside(folder: &dyn Folder, beside: &[FolderEntry]) -> Option<NamedRows> {
    let is_named = |entry: &&FolderEntry| {
        let name = entry.path.rsplit('/').next().unwrap_or_default();
        name.to_ascii_lowercase().contains("anomal")
    };
    beside.iter().filter(is_named).find_map(|FolderEntry { path, .. }| {
        let rows = row_numbers(&small_file(folder, path, NAMES_BYTES)?)?;
        Some(NamedRows { path: path.clone(), rows: rows.into_iter().collect() })
    })
}

/// What the codes of rows mean: declared in a file beside them, or guessed.
fn codes(
    source: &Source,
    folder: &dyn Folder,
    (file, beside): (&str, Vec<FolderEntry>),
    names: &[String],
    issues: &mut Issues,
) -> Result<EventCodes, ConversionError> {
    let candidates = by_likelihood(beside);
    for FolderEntry { path, .. } in candidates.iter().take(MOST_BESIDE) {
        let declared =
            small_file(folder, path, CODES_BYTES).and_then(|text| EventCodes::declared(&text));
        if let Some(codes) = declared {
            return Ok(codes);
        }
    }
    let num_unread = candidates.len().saturating_sub(MOST_BESIDE);
    if num_unread > 0 {
        let place = Place::File { file: file.to_owned() };
        issues.report(Severity::Warning, Stage::Import, "codes-unread", place, || {
            format!(
                "{MOST_BESIDE} short JSON files in the folder of the rows were read, and none declares event \
                 types; {num_unread} more were not read: call the one that does event_types.json"
            )
        });
    }
    let rows = ChimbukoReader::first_rows(&**source, &TraceOptions::new(file), GUESS_ROWS)?;
    let place = Place::File { file: file.to_owned() };
    let Some(guess) = EventCodes::infer(&rows, names) else {
        issues.report(Severity::Error, Stage::Import, "codes-unknown", place, || {
            "nothing says which rows are entries and which are exits, and no choice fits".into()
        });
        return Ok(EventCodes::default());
    };
    issues.report(Severity::Note, Stage::Import, "codes-guessed", place, || {
        format!(
            "which rows are entries and which are exits is guessed from {} rows: {} do not fit \
             their function{}",
            guess.rows,
            guess.misfits,
            guess
                .next_misfits
                .map_or(String::new(), |next| format!(", and {next} under the next best choice"))
        )
    });
    Ok(guess.codes)
}
