//! Who waits for whom: the answer of `waits`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use parallax_analysis::events::{Selection, Wait, WaitChoice, WaitKind, waits};
use parallax_base::{ContextIdx, Control, TrackIdx};
use parallax_engine::EngineError;
use parallax_model::{ChosenCalls, ContextTree, TraceKind};
use parallax_protocol::{
    Answer, NotesReply, TracePart, WaitTable, WaitsBy, WaitsKind, WaitsRequest, WaitsTables,
};

use crate::options::{program_locations, stretch};
use crate::timeline::path;
use crate::{Answers, OpenExperiment, ServiceError};

/// What a row is about. Names are looked up at the end.
type Key = (WaitKind, Option<ContextIdx>, Option<TrackIdx>, Option<TrackIdx>);

#[derive(Default)]
struct Row {
    waits: u64,
    waiting_nanos: u128,
    longest_nanos: u64,
    in_calls_nanos: u128,
}

impl Row {
    fn add(&mut self, wait: &Wait) {
        self.waits += 1;
        self.waiting_nanos += u128::from(wait.nanos());
        self.longest_nanos = self.longest_nanos.max(wait.nanos());
        let in_call = wait.call_end_nanos.saturating_sub(wait.call_start_nanos);
        self.in_calls_nanos += u128::from(in_call);
    }
}

impl OpenExperiment {
    /// The selected tracks and window of a trace of calls.
    pub(crate) fn selection(
        &self,
        profiles: Option<&str>,
        window: Option<&str>,
        notes: &mut Vec<String>,
        control: &Control,
    ) -> Result<Selection, ServiceError> {
        let (profiles, window) = (profiles.map(str::to_owned), window.map(str::to_owned));
        self.selected(&TracePart { profiles, window, ..TracePart::default() }, notes, control)
    }

    /// The tracks and the time range that a request is about.
    pub(crate) fn selected(
        &self,
        part: &TracePart,
        notes: &mut Vec<String>,
        control: &Control,
    ) -> Result<Selection, ServiceError> {
        let session = &self.session;
        let profiles = part.profiles.as_deref();
        let mut said = Vec::new();
        let chosen = program_locations(self, profiles, profiles.is_some(), &mut said, control)?;
        let included = "; those that are named as locations are included.";
        notes.extend(said.into_iter().map(|note| note.trim_end_matches('.').to_owned() + included));
        let window = stretch(session, part)?;
        let tracks = session.chosen_tracks(session.traces()?, &chosen);
        Ok(Selection { tracks, window })
    }

    /// An error for traces that do not say when functions were entered and left.
    pub(crate) fn needs_calls(&self) -> Result<(), ServiceError> {
        let missing = || EngineError::Missing {
            what: "this trace has samples, not enter and leave events".into(),
            hint: "open an event trace, such as OTF2, or record calls of MPI".into(),
        };
        match self.session.traces()?.kind() {
            TraceKind::Calls => Ok(()),
            TraceKind::Samples => Err(missing().into()),
        }
    }

    /// An error for traces that do not say when functions of MPI were entered and left.
    pub(crate) fn needs_mpi_calls(&self) -> Result<(), ServiceError> {
        match self.session.traces()?.has_mpi_calls() {
            true => Ok(()),
            false => self.needs_calls(),
        }
    }

    /// As [`OpenExperiment::needs_mpi_calls`], and an error for traces that do not have all calls.
    pub(crate) fn needs_all_mpi_calls(&self) -> Result<(), ServiceError> {
        self.needs_mpi_calls()?;
        self.needs_whole_trace()
    }

    /// An error for traces with calls that were chosen: what follows from those that are not there
    /// is not known.
    pub(crate) fn needs_whole_trace(&self) -> Result<(), ServiceError> {
        let missing = |chosen: &ChosenCalls| EngineError::Missing {
            what: format!("this trace has only the calls that {} kept", chosen.by),
            hint: "open a trace with all calls".into(),
        };
        self.chosen_calls().map_or(Ok(()), |chosen| Err(missing(chosen).into()))
    }

    fn wait_table(&self, by: WaitsBy, rows: &[(Key, Row)], whole_nanos: f64) -> WaitTable {
        let tree = self.session.tree();
        let names = self.track_names();
        let track = |track: Option<TrackIdx>| {
            track.and_then(|track| names.get(track.idx())).cloned().unwrap_or_default()
        };
        let context = |key: &Key| key.1.unwrap_or(ContextTree::ROOT);
        let seconds = |of: fn(&Row) -> u128| -> Vec<f64> {
            rows.iter().map(|(_, row)| of(row) as f64 / 1e9).collect()
        };
        let share = |(_, row): &(Key, Row)| match whole_nanos {
            whole if whole > 0.0 => row.waiting_nanos as f64 / whole * 100.0,
            _ => 0.0,
        };
        let texts = |is_there: bool, of: &dyn Fn(&Key) -> String| {
            is_there.then(|| rows.iter().map(|(key, _)| of(key)).collect())
        };
        let is_located = matches!(by, WaitsBy::Track | WaitsBy::Pair);
        WaitTable {
            kind: rows.iter().map(|row| row.0.0.name()).collect(),
            function: texts(by == WaitsBy::Function, &|key| tree.label(context(key))),
            context: texts(by == WaitsBy::Context, &|key| path(tree, context(key))),
            context_id: (by == WaitsBy::Context)
                .then(|| rows.iter().map(|(key, _)| tree.source_id(context(key))).collect()),
            location: texts(is_located, &|key| track(key.2)),
            waits_for: texts(by == WaitsBy::Pair, &|key| track(key.3)),
            waits: rows.iter().map(|(_, row)| row.waits).collect(),
            waiting_s: seconds(|row| row.waiting_nanos),
            share_percent: rows.iter().map(share).collect(),
            longest_s: seconds(|row| row.longest_nanos.into()),
            in_calls_s: seconds(|row| row.in_calls_nanos),
        }
    }
}

/// Definitions are those of [`mod@parallax_analysis::events`].
impl Answers<WaitsRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &WaitsRequest,
        control: &Control,
    ) -> Result<Answer<WaitsRequest>, ServiceError> {
        let session = &self.session;
        let mut notes = Vec::new();
        let selection = self.selected(&request.part, &mut notes, control)?;
        self.needs_all_mpi_calls()?;
        let is_asked = |kind| request.kind.is_none_or(|asked| asked == kind);
        let choice = WaitChoice {
            late_sender: is_asked(WaitsKind::LateSender),
            late_receiver: is_asked(WaitsKind::LateReceiver),
            collective: is_asked(WaitsKind::Collective),
            late_launch: is_asked(WaitsKind::LateLaunch),
            for_gpu: is_asked(WaitsKind::ForGpu),
        };
        let found = waits(session, &selection, choice, control)?;
        notes.extend(found.counts.notes());
        if found.list.is_empty() {
            let counts = &found.counts;
            notes.push(if counts.judged() == 0 {
                "No messages, collective operations of several tracks or GPU activities in this \
                 window."
                    .into()
            } else {
                format!(
                    "No wait states in {} messages, {} collective operations, {} launches and {} \
                     synchronisations with GPUs.",
                    counts.messages,
                    counts.collectives,
                    counts.gpu_work - counts.not_launched,
                    counts.synchronisations
                )
            });
        }
        let tree = session.tree();
        let first_of_name = first_of_name(tree, &found.list);
        let mut rows: BTreeMap<Key, Row> = BTreeMap::new();
        for wait in &found.list {
            let key = match request.by {
                WaitsBy::Context => (wait.kind, Some(wait.context), None, None),
                WaitsBy::Function => {
                    (wait.kind, first_of_name.get(&wait.context).copied(), None, None)
                }
                WaitsBy::Track => (wait.kind, None, Some(wait.track), None),
                WaitsBy::Pair => (wait.kind, None, Some(wait.track), Some(wait.delayed_by)),
            };
            rows.entry(key).or_default().add(wait);
        }
        let mut rows: Vec<(Key, Row)> = rows.into_iter().collect();
        rows.sort_by_key(|(key, row)| (Reverse(row.waiting_nanos), *key));
        let store = session.traces()?;
        let has_calls = |track: &&TrackIdx| store.track(**track).is_some_and(|t| t.num_samples > 0);
        let num_tracks = selection.tracks.iter().filter(has_calls).count();
        let whole = selection.window.intersect(store.span()).nanos() as f64 * num_tracks as f64;
        let rows = self.wait_table(request.by, &rows, whole);
        Ok(Answer::new(NotesReply { notes }, WaitsTables { rows }))
    }
}

/// For each context the first one of the same name, so that call paths of a routine come together.
fn first_of_name(tree: &ContextTree, list: &[Wait]) -> BTreeMap<ContextIdx, ContextIdx> {
    let mut by_name: BTreeMap<String, ContextIdx> = BTreeMap::new();
    let mut first = BTreeMap::new();
    let contexts: std::collections::BTreeSet<ContextIdx> =
        list.iter().map(|wait| wait.context).collect();
    for context in contexts {
        let of_name = *by_name.entry(tree.label(context)).or_insert(context);
        first.insert(context, of_name);
    }
    first
}
