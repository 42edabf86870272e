//! The calls that Chimbuko kept, as an archive in memory: windows of time in a file each.
//!
//! A call has its begin, its end and the id of its caller, which is often not there: Chimbuko keeps
//! what it takes for anomalies. Calls are therefore nested by time. If `main` calls `solve`, which
//! calls `MPI_Recv`, and only `main` and `MPI_Recv` were kept, then `MPI_Recv` is called by `main`:
//!
//! ```text
//! kept                       becomes
//! main      0..100           main
//! MPI_Recv 40..60 (solve)      MPI_Recv
//! ```
//!
//! Its argument `parent` has the id of `solve`. Ends of messages are counted and not matched: the
//! other end may be one of a call that was not kept, and then the next one would be taken for it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use parallax_base::{
    Folder, FolderEntry, Issues, Limits, MemorySink, Place, Severity, Source, Stage,
};
use parallax_formats::FormatError;
use parallax_formats::archive::{ArgumentText, keys};
use parallax_formats::json_trace::{
    Execution, ExecutionsReader, JsonTraceFormat, NameId, TraceOptions,
};
use parallax_model::{ChosenCalls, Experiment, NamedAnomalies};

use super::codar::{group_of, incomplete, nanos};
use super::lanes::{Complete, Lanes};
use super::tracks::{Who, identity};
use crate::ImportError;
use crate::events::{Conversion, ConversionError, TrackIdentity, TrackKind};
use crate::registry::Probe;

/// Who kept the calls.
const DETECTOR: &str = "Chimbuko";

/// About what a call takes until it is in the archive, besides its texts.
const CALL_BYTES: u64 = 256;

/// Bytes of calls that may wait for their batch.
const MEMORY_BYTES: usize = 64 << 20;

/// Callers that are followed to find out which of two calls of the same time is the outer one.
const MOST_CALLERS: usize = 64;

/// What the windows of one trace are called: their names without the numbers.
pub(crate) fn series(path: &str) -> String {
    let mut out = String::new();
    for letter in path.chars() {
        match letter {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            letter => out.push(letter),
        }
    }
    out
}

/// Opens one window.
pub(crate) fn open_file(
    source: &Source,
    name: &str,
    limits: &Limits,
) -> Result<Experiment, ImportError> {
    let mut kept = Kept::default();
    kept.read(source, name).map_err(|cause| failed(name, cause.into()))?;
    kept.experiment(name, limits)
}

/// Opens all windows of a folder as one trace.
pub(crate) fn open_folder(
    folder: &Arc<dyn Folder>,
    limits: &Limits,
) -> Result<Experiment, ImportError> {
    let origin = folder.name();
    let fail = |cause| ImportError::Folder { origin: origin.to_owned(), cause };
    let mut entries = folder.entries().map_err(fail)?;
    entries.sort_by_key(|entry| (entry.path.len(), entry.path.clone()));
    let (windows, others): (Vec<FolderEntry>, Vec<FolderEntry>) =
        entries.into_iter().partition(|entry| is_window(folder, &entry.path));
    let names: BTreeSet<String> = windows.iter().map(|window| series(&window.path)).collect();
    let mut kept = Kept::default();
    for entry in &windows {
        if let Some(source) = folder.open(&entry.path).map_err(fail)? {
            // What keeps a window from being read is in its issues, or in the error of the only one.
            match kept.read(&source, &entry.path) {
                Err(cause) if windows.len() == 1 => return Err(failed(origin, cause.into())),
                Err(cause) => kept.lacks(&entry.path, &cause.to_string()),
                Ok(()) => {}
            }
        }
    }
    for entry in others.iter().filter(|entry| names.contains(&series(&entry.path))) {
        kept.lacks(&entry.path, "it does not begin with calls of Chimbuko");
    }
    let mut experiment = kept.experiment(origin, limits)?;
    experiment.sources = Some(Arc::clone(folder));
    Ok(experiment)
}

fn is_window(folder: &Arc<dyn Folder>, path: &str) -> bool {
    let probe = Probe::of(folder, path).ok().flatten();
    probe.is_some_and(|probe| probe.json_trace() == Some(JsonTraceFormat::Executions))
}

fn failed(origin: &str, error: ConversionError) -> ImportError {
    let file = || origin.to_owned();
    let cause = match error {
        ConversionError::Format(cause) => cause,
        ConversionError::Limit(cause) => FormatError::Limit { file: file(), cause },
        other => FormatError::malformed(origin, 0, other.to_string()),
    };
    ImportError::Format { origin: file(), cause }
}

/// A call that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Call {
    start_nanos: u64,
    end_nanos: u64,
    function: usize,
    id: String,
    parent: Option<String>,
    score: Option<i64>,
    sends: u64,
    receives: u64,
}

/// The calls of all windows.
#[derive(Default)]
struct Kept {
    calls: BTreeMap<Who, Vec<Call>>,
    functions: Vec<String>,
    numbers: HashMap<String, usize>,
    /// What distinguishes calls: an id may begin anew in another window.
    known: HashSet<(Who, String, u64, u64)>,
    held_bytes: u64,
    issues: Issues,
}

impl Kept {
    /// Takes the calls of a window.
    fn read(&mut self, source: &Source, file: &str) -> Result<(), FormatError> {
        let mut issues = Issues::new();
        let mut reader = ExecutionsReader::open(&**source, &TraceOptions::new(file))?;
        let mut taken: Vec<(Who, Call)> = Vec::new();
        let mut names: Vec<NameId> = Vec::new();
        while let Some(execution) = reader.next_execution(&mut issues)? {
            let Some((who, name, call)) = complete(&execution, file, &mut issues) else { continue };
            names.push(name);
            taken.push((who, call));
        }
        for ((who, mut call), name) in taken.into_iter().zip(names) {
            call.function = self.function(reader.names().get(name));
            let key = (who, call.id.clone(), call.start_nanos, call.end_nanos);
            if !self.known.insert(key) {
                let place = Place::File { file: file.to_owned() };
                issues.report(Severity::Note, Stage::Import, "call-repeated", place, || {
                    format!("the call {} is in an earlier window too; it counts once", call.id)
                });
                continue;
            }
            let parent = call.parent.as_ref().map_or(0, String::len);
            self.held_bytes += CALL_BYTES + (2 * call.id.len() + parent) as u64;
            self.calls.entry(who).or_default().push(call);
        }
        self.issues.extend(issues);
        Ok(())
    }

    fn function(&mut self, name: &str) -> usize {
        if let Some(&known) = self.numbers.get(name) {
            return known;
        }
        let number = self.functions.len();
        self.functions.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        self.held_bytes += 2 * name.len() as u64 + 64;
        number
    }

    /// A window that cannot be read.
    fn lacks(&mut self, file: &str, why: &str) {
        let place = Place::File { file: file.to_owned() };
        self.issues.report(Severity::Error, Stage::Import, "window-unreadable", place, || {
            format!("the window is named as one of this trace and cannot be read: {why}")
        });
    }

    fn experiment(self, origin: &str, limits: &Limits) -> Result<Experiment, ImportError> {
        let sink = MemorySink::new();
        let title = origin.trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or(origin);
        self.convert(title, &sink, limits).map_err(|error| failed(origin, error))?;
        let archive: Arc<dyn Folder> = Arc::new(sink.into_folder(origin));
        crate::archive::open(&archive, limits)
    }

    fn convert(
        mut self,
        title: &str,
        sink: &MemorySink,
        limits: &Limits,
    ) -> Result<(), ConversionError> {
        limits.metadata("the calls that Chimbuko kept", self.held_bytes)?;
        let mut conversion = Conversion::within(Arc::new(sink.clone()), MEMORY_BYTES, limits)?;
        let all = || self.calls.values().flatten();
        let number = all().count() as u64;
        let is_anomaly = |call: &&Call| call.score == Some(-1);
        let anomalies = all().filter(is_anomaly).count() as u64;
        let ends: u64 = all().map(|call| call.sends + call.receives).sum();
        let chosen = ChosenCalls { by: DETECTOR.to_owned(), calls: number, anomalies };
        conversion.fact(keys::TITLE, title);
        conversion.fact(keys::FORMAT, JsonTraceFormat::Executions.name());
        conversion.fact(keys::CHOSEN_BY, DETECTOR);
        conversion.fact(keys::CHOSEN_ANOMALIES, anomalies.to_string());
        conversion.fact(format!("{}calls chosen by", keys::FACT), DETECTOR);
        conversion.fact(format!("{}anomalies of {DETECTOR}", keys::FACT), anomalies.to_string());
        self.issues.report(Severity::Warning, Stage::Import, "calls-chosen", Place::Whole, || {
            format!("{}; nothing is concluded from them about the program", chosen.words())
        });
        if ends > 0 {
            let (kind, place) = ("messages-counted", Place::Whole);
            self.issues.report_many(Severity::Note, Stage::Import, kind, place, ends, || {
                "messages that were sent or received in these calls are counted and not matched: \
                 the call with the other end need not be there"
                    .into()
            });
        }
        conversion.issues.extend(std::mem::take(&mut self.issues));
        let programs: BTreeSet<Option<i64>> = self.calls.keys().map(|who| who.0).collect();
        for ((program, rank, thread), calls) in self.calls {
            // Of one program there is nothing to say which one it is.
            let program = program.filter(|_| programs.len() > 1);
            let identity = identity((program, rank, thread));
            let label = format!("rank {rank} thread {thread}");
            feed(&identity, &label, in_order(calls), &self.functions, &mut conversion)?;
        }
        conversion.finish()?;
        Ok(())
    }
}

/// What an execution says, where it says who called what from when to when.
fn complete(
    execution: &Execution<'_>,
    file: &str,
    issues: &mut Issues,
) -> Option<(Who, NameId, Call)> {
    let mut lacks = |what| {
        incomplete(issues, file, execution.offset, what);
        None
    };
    let Some(name) = execution.name else { return lacks("name") };
    let Some(rank) = execution.rank else { return lacks("rank") };
    let Some(entry) = execution.entry_nanos else { return lacks("entry") };
    let Some(exit) = execution.exit_nanos else { return lacks("exit") };
    if exit < entry {
        return lacks("exit behind its entry");
    }
    let call = Call {
        start_nanos: nanos(entry),
        end_nanos: nanos(exit),
        function: 0,
        id: execution.id.clone().into_owned(),
        parent: execution.parent.as_deref().map(str::to_owned),
        score: execution.score,
        sends: execution.sends,
        receives: execution.receives,
    };
    Some(((execution.program, rank, execution.thread.unwrap_or(0)), name, call))
}

/// The calls of a track by start, the outer ones first: the longest of equal starts, and callers of
/// equal times.
fn in_order(mut calls: Vec<Call>) -> Vec<Call> {
    let times = |call: &Call| (call.start_nanos, Reverse(call.end_nanos));
    calls.sort_by_key(times);
    for same in calls.chunk_by_mut(|a, b| times(a) == times(b)) {
        if same.len() < 2 {
            continue;
        }
        let parents: HashMap<String, Option<String>> =
            same.iter().map(|call| (call.id.clone(), call.parent.clone())).collect();
        same.sort_by_cached_key(|call| {
            let mut at = call.parent.as_ref();
            let mut depth = 0;
            while depth < MOST_CALLERS
                && let Some(parent) = at.and_then(|id| parents.get(id))
            {
                at = parent.as_ref();
                depth += 1;
            }
            depth
        });
    }
    calls
}

/// Feeds the calls of a track; what overlaps without nesting goes to tracks of its own.
fn feed(
    identity: &TrackIdentity,
    label: &str,
    calls: Vec<Call>,
    functions: &[String],
    conversion: &mut Conversion,
) -> Result<(), ConversionError> {
    let first = conversion.track(identity.clone());
    let (mut lanes, mut rows, mut moved) = (Lanes::default(), vec![first], 0);
    let mut text = ArgumentText::default();
    for call in calls {
        let name = functions.get(call.function).map_or("", String::as_str);
        let function = conversion.function(name, group_of(name));
        let (start_nanos, end_nanos) = (call.start_nanos, call.end_nanos);
        let event = Complete { start_nanos, end_nanos, function, arguments: 0 };
        let lane = lanes.place(event);
        if lane >= rows.len() {
            rows.push(conversion.track(TrackIdentity {
                name: format!("{label} (overlap {lane})"),
                kind: TrackKind::Overlap,
                ..identity.clone()
            }));
        }
        moved += u64::from(lane > 0);
        let row = rows.get(lane).copied().unwrap_or(first);
        let Some(builder) = conversion.builder(row) else { continue };
        lanes.feed(lane, event, builder);
        arguments(&call, &mut text);
        builder.describe(&text.names, &text.values);
        let counts = builder.counts_mut();
        counts.others += 1;
        counts.sends += call.sends;
        counts.receives += call.receives;
    }
    for (lane, row) in rows.into_iter().enumerate() {
        if let Some(builder) = conversion.builder(row) {
            lanes.finish(lane, builder);
        }
        conversion.end_track(row)?;
    }
    if moved > 0 {
        let place = Place::File { file: label.to_owned() };
        let severity = Severity::Note;
        conversion.issues.report_many(severity, Stage::Import, "overlap", place, moved, || {
            format!("calls of {label} overlap without nesting; they have tracks of their own")
        });
    }
    Ok(())
}

/// What the detector says of a call.
fn arguments(call: &Call, text: &mut ArgumentText) {
    text.clear();
    if let Some(score) = call.score {
        text.push_json(NamedAnomalies::SCORE, &score.to_string());
    }
    text.push_text("id", &call.id);
    if let Some(parent) = &call.parent {
        text.push_text("parent", parent);
    }
    for (name, ends) in [("sends", call.sends), ("receives", call.receives)] {
        if ends > 0 {
            text.push_json(name, &ends.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_one_trace_differ_in_their_numbers() {
        assert_eq!(series("trace.000001.json"), series("trace.12.json"));
        assert_eq!(series("rank.0.execution.8.json"), "rank.#.execution.#.json");
        assert_ne!(series("trace.1.json"), series("trace.1.json.gz"));
    }

    #[test]
    fn of_calls_at_the_same_time_the_caller_is_the_outer_one() {
        let call = |id: &str, parent: &str, end_nanos| Call {
            start_nanos: 10,
            end_nanos,
            function: 0,
            id: id.to_owned(),
            parent: Some(parent.to_owned()),
            score: None,
            sends: 0,
            receives: 0,
        };
        let calls = vec![call("1", "2", 20), call("2", "3", 20), call("3", "9", 20)];
        let ids = |calls: Vec<Call>| calls.into_iter().map(|call| call.id).collect::<Vec<_>>();
        assert_eq!(ids(in_order(calls)), ["3", "2", "1"]);
        // Callers in a circle are no order, and no endless loop.
        let circle = vec![call("1", "2", 20), call("2", "1", 20), call("0", "-", 30)];
        assert_eq!(ids(in_order(circle)), ["0", "1", "2"]);
    }
}
