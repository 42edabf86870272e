//! Who waits for whom: the answer of `waits`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use parallax_analysis::events::{Selection, Wait, WaitChoice, WaitKind, waits};
use parallax_base::{ContextIdx, Control};
use parallax_engine::{Column, EngineError, Table};
use parallax_model::{ContextTree, TraceKind};

use crate::options::{locations, window};
use crate::timeline::path;
use crate::{Answer, Opened, ServiceError};

/// Which waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitsKind {
    /// Receives, because their message is sent late.
    LateSender,
    /// Sends, because their message is received late.
    LateReceiver,
    /// At collective operations.
    Collective,
    /// GPU streams, because their next work is launched late.
    LateLaunch,
    /// Threads that synchronise with GPUs.
    ForGpu,
}

/// What the rows of waits are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WaitsBy {
    /// Routines that wait.
    #[default]
    Function,
    /// Call paths that wait.
    Context,
    /// Those who wait.
    Track,
    /// Those who wait, and for whom.
    Pair,
}

/// Which waits, and how they are put together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WaitsRequest {
    /// A profile expression for those who wait; `None` for all.
    pub profiles: Option<String>,
    /// A time window in which they end; `None` for everything.
    pub window: Option<String>,
    /// Which; `None` for all.
    pub kind: Option<WaitsKind>,
    /// What the rows are.
    pub by: WaitsBy,
}

/// What a row is about. Names are looked up at the end.
type Key = (WaitKind, Option<ContextIdx>, Option<u32>, Option<u32>);

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

impl Opened {
    /// The selected tracks and window of a trace of calls.
    pub(crate) fn selection(
        &self,
        profiles: Option<&str>,
        expression: Option<&str>,
        notes: &mut Vec<String>,
    ) -> Result<Selection, ServiceError> {
        let session = &self.session;
        let chosen = locations(session, profiles, notes)?;
        let window = window(session, expression)?;
        let tracks = session.chosen_tracks(session.traces()?, &chosen);
        Ok(Selection { tracks, window })
    }

    /// An error for traces that do not say when functions were entered and left.
    pub(crate) fn needs_calls(&self) -> Result<(), ServiceError> {
        let missing = || EngineError::Missing {
            what: "this trace has samples; it does not say when functions were entered".into(),
            hint: "open a trace of events, such as OTF2".into(),
        };
        match self.session.traces()?.kind() {
            TraceKind::Calls => Ok(()),
            TraceKind::Samples => Err(missing().into()),
        }
    }

    /// Who waits for whom, and for how long; most waiting first. Definitions are those of
    /// [`mod@parallax_analysis::events`]. Columns: `kind`; by what the request says `function`,
    /// `context` with `context_id`, `location`, or `location` and `waits_for`; `waits`,
    /// `waiting_s`, `longest_s`, `share_percent` (of the time of the chosen tracks), `in_calls_s`.
    ///
    /// # Errors
    /// When there is no trace of events, an expression is wrong, or the question is withdrawn.
    pub fn waits(
        &self,
        request: &WaitsRequest,
        control: &Control,
    ) -> Result<Answer<Table>, ServiceError> {
        let session = &self.session;
        let mut notes = Vec::new();
        let (profiles, window) = (request.profiles.as_deref(), request.window.as_deref());
        let selection = self.selection(profiles, window, &mut notes)?;
        self.needs_calls()?;
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
                "the trace has no messages, collective operations of several tracks, or work of \
                 GPUs here"
                    .into()
            } else {
                format!(
                    "nobody waits: {} messages, {} collective operations, {} launches and {} \
                     synchronisations with GPUs were judged",
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
                WaitsBy::Pair => (wait.kind, None, Some(wait.track), Some(wait.holdup)),
            };
            rows.entry(key).or_default().add(wait);
        }
        let mut rows: Vec<(Key, Row)> = rows.into_iter().collect();
        rows.sort_by_key(|(key, row)| (Reverse(row.waiting_nanos), *key));
        let store = session.traces()?;
        let has_calls =
            |track: &&usize| store.tracks().get(**track).is_some_and(|t| t.num_samples > 0);
        let num_tracks = selection.tracks.iter().filter(has_calls).count();
        let whole = selection.window.intersect(store.span()).nanos() as f64 * num_tracks as f64;
        let answer = self.waits_table(request.by, &rows, whole);
        Ok(Answer { value: answer, notes })
    }

    fn waits_table(&self, by: WaitsBy, rows: &[(Key, Row)], whole_nanos: f64) -> Table {
        let tree = self.session.tree();
        let names = self.track_names();
        let track = |track: Option<u32>| {
            track.and_then(|track| names.get(track as usize)).cloned().unwrap_or_default()
        };
        let context = |key: &Key| key.1.unwrap_or(ContextTree::ROOT);
        let doc = "Why: late sender or late receiver of a message, the sort of collective, late launch \
                   of GPU work, or wait for a GPU.";
        let mut columns = vec![Column::strings("kind", doc, rows.iter().map(|r| r.0.0.name()))];
        match by {
            WaitsBy::Function => {
                let named = rows.iter().map(|(key, _)| tree.label(context(key)));
                let doc = "The routine that waits, or the GPU work that is launched late.";
                columns.push(Column::strings("function", doc, named));
            }
            WaitsBy::Context => {
                let named = rows.iter().map(|(key, _)| path(tree, context(key)));
                let doc = "The call path that waits, or the GPU work that is launched late.";
                columns.push(Column::strings("context", doc, named));
                let ids = rows.iter().map(|(key, _)| tree.source_id(context(key))).collect();
                columns.push(Column::u32s("context_id", "Id of it in the database.", ids));
            }
            WaitsBy::Track | WaitsBy::Pair => {
                let named = rows.iter().map(|(key, _)| track(key.2));
                columns.push(Column::strings("location", "Who waits.", named));
            }
        }
        if by == WaitsBy::Pair {
            let named = rows.iter().map(|(key, _)| track(key.3));
            columns.push(Column::strings("waits_for", "For whom.", named));
        }
        let seconds = |of: fn(&Row) -> u128| -> Vec<f64> {
            rows.iter().map(|(_, row)| of(row) as f64 / 1e9).collect()
        };
        let share = |(_, row): &(Key, Row)| match whole_nanos {
            whole if whole > 0.0 => row.waiting_nanos as f64 / whole * 100.0,
            _ => 0.0,
        };
        let doc = "How many calls wait.";
        columns.push(Column::u64s("waits", "", doc, rows.iter().map(|(_, r)| r.waits).collect()));
        let doc = "From entering the call, or from when the stream has nothing to do, until the other \
                   one comes, added up.";
        columns.push(Column::f64s("waiting_s", "s", doc, seconds(|row| row.waiting_nanos)));
        let doc = "Waiting, of the time of all chosen tracks in the window.";
        columns.push(Column::f64s("share_percent", "%", doc, rows.iter().map(share).collect()));
        let doc = "The longest of them.";
        columns.push(Column::f64s("longest_s", "s", doc, seconds(|row| row.longest_nanos.into())));
        let doc = "Time in the calls that wait, waiting or not, and in GPU work launched late.";
        columns.push(Column::f64s("in_calls_s", "s", doc, seconds(|row| row.in_calls_nanos)));
        Table::new(columns)
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
