//! Calls by name and duration.

use parallax_base::{ContextIdx, Control};
use parallax_engine::query::parse_contexts;
use parallax_engine::resolve::resolve_contexts;
use parallax_engine::{Column, FindQuestion, Table};

use super::picture::call_columns;
use super::{TracksChoice, all_tracks};
use crate::options::window;
use crate::{Answer, Opened, ServiceError};

/// Which calls come first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FindOrder {
    /// Those that take longest.
    #[default]
    Longest,
    /// Those that begin first.
    First,
}

/// Which calls are looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FindRequest {
    /// Name of functions, as in `function(...)`: a name, a glob, or a regular expression between
    /// slashes; `None` for all.
    pub name: Option<String>,
    /// A profile expression; `None` for all locations.
    pub profiles: Option<String>,
    /// Which tracks.
    pub tracks: TracksChoice,
    /// A time window in which they begin; `None` for everything.
    pub window: Option<String>,
    /// They take at least so long, in nanoseconds.
    pub min_nanos: Option<u64>,
    /// They take at most so long, in nanoseconds.
    pub max_nanos: Option<u64>,
    /// Which come first.
    pub order: FindOrder,
    /// Rows at most.
    pub max_rows: usize,
}

/// Calls that were found.
#[derive(Debug, Clone)]
pub struct FindAnswer {
    /// How many.
    pub total: u64,
    /// What they take together, in nanoseconds.
    pub total_nanos: u64,
    /// The first of them: `track`, `location`, `context` (position in the tree), `context_id`,
    /// `name`, `start_ns`, `end_ns` since the first record, `duration_ns`.
    pub rows: Table,
    /// All calls with the name, whatever they take: `from_ns` (durations up to twice that),
    /// `calls`, `total_ns`.
    pub histogram: Table,
}

impl Opened {
    /// Looks for calls by name and duration.
    ///
    /// # Errors
    /// When there are no traces, an expression is wrong, or the question is withdrawn.
    pub fn find(
        &self,
        request: &FindRequest,
        control: &Control,
    ) -> Result<Answer<FindAnswer>, ServiceError> {
        let session = &self.session;
        let tree = session.tree();
        let store = session.traces()?;
        let origin = store.span().start_nanos;
        let mut notes = Vec::new();
        let wanted = match request.name.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
            None => vec![true; tree.len()],
            Some(name) => {
                let quoted = || format!("function(\"{}\")", name.replace(['"', '\\'], "?"));
                let expression = parse_contexts(&format!("function({name})"))
                    .or_else(|error| parse_contexts(&quoted()).map_err(|_| error))?;
                let (contexts, more) = resolve_contexts(session, &expression, control)?;
                notes.extend(more);
                let mut wanted = vec![false; tree.len()];
                for context in contexts {
                    if let Some(place) = wanted.get_mut(context.idx()) {
                        *place = true;
                    }
                }
                wanted
            }
        };
        let chosen = crate::options::locations(session, request.profiles.as_deref(), &mut notes)?;
        let tracks = all_tracks(session, &chosen, &request.tracks)?;
        let question = FindQuestion {
            wanted: &wanted,
            tracks: &tracks,
            window: window(session, request.window.as_deref())?,
            min_nanos: request.min_nanos.unwrap_or(0),
            max_nanos: request.max_nanos.unwrap_or(u64::MAX),
            is_longest_first: request.order == FindOrder::Longest,
            max_rows: request.max_rows,
        };
        let found = session.find(&question, control)?;
        if found.calls == 0 && notes.is_empty() {
            notes.push("no call is like that here".into());
        }
        let rows = &found.rows;
        let names = self.track_names();
        let label = |track: u32| names.get(track as usize).cloned().unwrap_or_default();
        let id = |context: ContextIdx| tree.source_id(context);
        let [track, context, start, end] = call_columns(rows, origin);
        let table = Table::new(vec![
            track,
            Column::strings("location", "Where.", rows.iter().map(|row| label(row.track))),
            context,
            Column::u32s(
                "context_id",
                "Id of the context.",
                rows.iter().map(|row| id(row.context)).collect(),
            ),
            Column::strings("name", "The function.", rows.iter().map(|r| tree.label(r.context))),
            start,
            end,
            Column::f64s(
                "duration_ns",
                "ns",
                "How long it took.",
                rows.iter().map(|row| (row.end_nanos - row.start_nanos) as f64).collect(),
            ),
        ]);
        let bins = &found.histogram;
        let histogram = Table::new(vec![
            Column::f64s(
                "from_ns",
                "ns",
                "Shortest duration of the bin; the next bin begins at twice that.",
                bins.iter().map(|bin| bin.from_nanos as f64).collect(),
            ),
            Column::u64s("calls", "", "How many.", bins.iter().map(|bin| bin.calls).collect()),
            Column::f64s(
                "total_ns",
                "ns",
                "What they take together.",
                bins.iter().map(|bin| bin.nanos as f64).collect(),
            ),
        ]);
        let total_nanos = u64::try_from(found.nanos).unwrap_or_else(|_| {
            notes.push(format!(
                "the calls take {} ns together; the total is cut at 2^64 - 1 ns",
                found.nanos
            ));
            u64::MAX
        });
        let value = FindAnswer { total: found.calls, total_nanos, rows: table, histogram };
        Ok(Answer { value, notes })
    }
}
