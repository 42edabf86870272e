//! Traces as pictures: what there is, tiles, and calls one by one.

use parallax_base::{Control, TimeWindow};
use parallax_engine::{
    Bins, CallRow, CallsQuestion, Column, Table, Tile, TileQuestion, TrackRange,
};
use parallax_model::{Component, ContextTree, Counter, IdentityKind, RecordCounts, TraceKind};

use super::names::TimelineBy;
use crate::{Opened, ServiceError};

/// A number that means none, in tables.
pub(crate) const NONE: u32 = u32::MAX;

/// What there is to see in a trace.
#[derive(Debug, Clone)]
pub struct TimelineAnswer {
    /// What the trace says.
    pub kind: TraceKind,
    /// From the first record to the last, in nanoseconds on the trace's clock.
    pub span: TimeWindow,
    /// Records of all tracks.
    pub records: RecordCounts,
    /// The metrics whose values change.
    pub counters: Vec<Counter>,
    /// The coupled applications; empty where there is one.
    pub components: Vec<Component>,
    /// One row for each track: `location`, `label`, `calls`, and the kinds of identity that there
    /// are, `application` as `component`.
    pub tracks: Table,
    /// One row for each function, from the one that takes most time: `name`, `group`,
    /// `exclusive_ns`, `calls`.
    pub functions: Table,
    /// One row for each group: `name`, `exclusive_ns`, `calls`.
    pub groups: Table,
    /// One row for each context, in depth-first order: `context_id`, `parent`, `function`, `depth`.
    pub contexts: Table,
}

/// What a picture is asked to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TileRequest {
    /// Rows of the picture; each adds its tracks up.
    pub rows: Vec<TrackRange>,
    /// When.
    pub window: TimeWindow,
    /// Bins at most.
    pub max_bins: usize,
    /// What colours stand for.
    pub by: TimelineBy,
    /// Depth below which contexts count as the one above them.
    pub max_depth: Option<u32>,
    /// Functions or groups that are left out.
    pub hidden: Vec<u32>,
}

/// Calls of a stretch of time.
#[derive(Debug, Clone)]
pub struct CallsAnswer {
    /// Whether there were few enough.
    pub is_complete: bool,
    /// How many there are; where there are too many, about.
    pub num_calls: u64,
    /// Of these, those that are shorter than asked for, and left out.
    pub num_shorter: u64,
    /// One row for each: `track`, `context` (position in the tree), `depth`, `start_ns`, `end_ns`
    /// since the first record.
    pub table: Table,
}

impl Opened {
    /// From the first record of the trace to the last.
    ///
    /// # Errors
    /// When there are no traces.
    pub fn trace_span(&self) -> Result<TimeWindow, ServiceError> {
        Ok(self.session.traces()?.span())
    }

    /// What there is to see in the trace.
    ///
    /// # Errors
    /// When there are no traces, they cannot be read, or the question is withdrawn.
    pub fn timeline(&self, control: &Control) -> Result<TimelineAnswer, ServiceError> {
        let x = self.session.experiment();
        let store = self.session.traces()?;
        let names = self.timeline_names(control)?;
        let events = x.events.as_deref();
        let records = events.map(parallax_model::EventStore::records).unwrap_or_default();
        let tracks = store.tracks();
        let mut columns = vec![
            Column::u32s(
                "location",
                "Row of the location.",
                tracks.iter().map(|track| track.location.get()).collect(),
            ),
            Column::strings("label", "What it is called.", self.track_names()),
            Column::u64s(
                "calls",
                "",
                "Calls, or samples.",
                tracks.iter().map(|track| track.num_samples).collect(),
            ),
        ];
        for kind in x.locations.kinds() {
            let ids = tracks.iter().map(|track| x.locations.identity(track.location, kind));
            let name = match kind {
                IdentityKind::Application => "component",
                kind => kind.name(),
            };
            columns.push(Column::optional_u64s(name, "", "Part of the identity.", ids));
        }
        let key_columns = |keys: &[super::names::TimelineKey]| {
            vec![
                Column::strings("name", "What it is called.", keys.iter().map(|key| &key.name)),
                Column::f64s(
                    "exclusive_ns",
                    "ns",
                    "Time in it and in nothing below, over everything.",
                    keys.iter().map(|key| key.exclusive_nanos as f64).collect(),
                ),
                Column::f64s(
                    "calls",
                    "",
                    "How often it was entered.",
                    keys.iter().map(|key| key.calls as f64).collect(),
                ),
            ]
        };
        let mut functions = key_columns(&names.functions);
        let groups = names.functions.iter().map(|function| function.group).collect();
        functions.push(Column::u32s("group", "Row of its group.", groups));
        let tree = self.session.tree();
        Ok(TimelineAnswer {
            kind: store.kind(),
            span: store.span(),
            records: records.iter().fold(RecordCounts::default(), |sum, own| sum.plus(own)),
            counters: events.map(|events| events.counters().to_vec()).unwrap_or_default(),
            components: self.session.experiment().metadata.components.clone(),
            tracks: Table::new(columns),
            functions: Table::new(functions),
            groups: Table::new(key_columns(&names.groups)),
            contexts: contexts(tree, &names.function_of, &names.depth_of),
        })
    }

    /// A picture of tracks over time; table columns as [`tile_table`] has them.
    ///
    /// # Errors
    /// When there are no traces, they cannot be read, the picture is too large, or the question is
    /// withdrawn.
    pub fn tile(&self, request: &TileRequest, control: &Control) -> Result<Tile, ServiceError> {
        let names = self.timeline_names(control)?;
        let tree = self.session.tree();
        let parent = |context: usize| {
            let context = parallax_base::ContextIdx::new(u32::try_from(context).ok()?);
            tree.parent(context).map(parallax_base::ContextIdx::idx)
        };
        let keys = names.keys(parent, request.by, request.max_depth, &request.hidden);
        let depths: Vec<u32> = match request.max_depth {
            Some(max) => names.depth_of.iter().map(|&depth| depth.min(max)).collect(),
            None => names.depth_of.clone(),
        };
        let question = TileQuestion {
            rows: &request.rows,
            window: request.window,
            exponent: self.bins(request.window, request.max_bins)?.exponent,
            key_of: &keys,
            depth_of: &depths,
        };
        Ok(self.session.tile(&question, control)?)
    }

    /// The bins that pictures of a window have: as many as asked for, or fewer.
    pub(crate) fn bins(&self, window: TimeWindow, max_bins: usize) -> Result<Bins, ServiceError> {
        let span = self.session.traces()?.span();
        let span = TimeWindow::new(span.start_nanos, span.end_nanos.saturating_add(1));
        Ok(Bins::at_most(window.intersect(span), max_bins))
    }

    /// Calls of a stretch of time, one by one.
    ///
    /// # Errors
    /// When there are no traces, they cannot be read, or the question is withdrawn.
    pub fn calls(
        &self,
        question: &CallsQuestion<'_>,
        control: &Control,
    ) -> Result<CallsAnswer, ServiceError> {
        let origin = self.session.traces()?.span().start_nanos;
        let names = self.timeline_names(control)?;
        let list = self.session.calls(question, control)?;
        let rows = &list.rows;
        let depth = |context: parallax_base::ContextIdx| names.depth_of.get(context.idx()).copied();
        let [track, context, start, end] = call_columns(rows, origin);
        let table = Table::new(vec![
            track,
            context,
            Column::u32s(
                "depth",
                "1 for the outermost.",
                rows.iter().map(|row| depth(row.context).unwrap_or(0)).collect(),
            ),
            start,
            end,
        ]);
        Ok(CallsAnswer {
            is_complete: list.is_complete,
            num_calls: list.num_calls,
            num_shorter: list.num_shorter,
            table,
        })
    }

    /// What was active on a track at a moment, the outermost first: `context` (position in the
    /// tree), `name`, `depth`, `start_ns`, `end_ns` since the first record.
    ///
    /// # Errors
    /// When there are no traces, they cannot be read, or the question is withdrawn.
    pub fn path_at(
        &self,
        track: u32,
        nanos: u64,
        control: &Control,
    ) -> Result<Table, ServiceError> {
        let origin = self.session.traces()?.span().start_nanos;
        let names = self.timeline_names(control)?;
        let track = track..track.saturating_add(1);
        let question = CallsQuestion {
            tracks: std::slice::from_ref(&track),
            window: TimeWindow::new(nanos, nanos.saturating_add(1)),
            max_calls: usize::MAX,
            shortest_nanos: 1,
        };
        let mut rows = self.session.calls(&question, control)?.rows;
        rows.retain(|row| row.start_nanos <= nanos && nanos < row.end_nanos);
        let depth = |context: parallax_base::ContextIdx| {
            names.depth_of.get(context.idx()).copied().unwrap_or(0)
        };
        rows.sort_by_key(|row| depth(row.context));
        let tree = self.session.tree();
        let [start, end] = time_columns(&rows, origin);
        Ok(Table::new(vec![
            Column::u32s(
                "context",
                "Row of the context.",
                rows.iter().map(|row| row.context.get()).collect(),
            ),
            Column::strings(
                "name",
                "What it is called.",
                rows.iter().map(|row| tree.label(row.context)),
            ),
            Column::u32s(
                "depth",
                "1 for the outermost.",
                rows.iter().map(|row| depth(row.context)).collect(),
            ),
            start,
            end,
        ]))
    }
}

/// When calls were entered and left: the columns `start_ns` and `end_ns`.
fn time_columns(rows: &[CallRow], origin: u64) -> [Column; 2] {
    let times = |name, doc, of: fn(&CallRow) -> u64| {
        Column::f64s(name, "ns", doc, rows.iter().map(|row| since(of(row), origin)).collect())
    };
    [
        times("start_ns", "When it was entered, since the first record.", |row| row.start_nanos),
        times("end_ns", "When it was left, since the first record.", |row| row.end_nanos),
    ]
}

/// Who, what and when, in every table of calls: the columns `track`, `context`, `start_ns`, `end_ns`.
pub(crate) fn call_columns(rows: &[CallRow], origin: u64) -> [Column; 4] {
    let [start, end] = time_columns(rows, origin);
    [
        Column::u32s("track", "Row of the track.", rows.iter().map(|r| r.track).collect()),
        Column::u32s(
            "context",
            "Row of the context.",
            rows.iter().map(|row| row.context.get()).collect(),
        ),
        start,
        end,
    ]
}

/// Nanoseconds since the first record; negative before it.
pub(crate) fn since(nanos: u64, origin: u64) -> f64 {
    if nanos >= origin { (nanos - origin) as f64 } else { -((origin - nanos) as f64) }
}

/// A picture as a table, row after row, each with all bins: `key`, `dominant_ns`, `busy_ns`,
/// `calls`, `depth`.
#[must_use]
pub fn tile_table(tile: &Tile) -> Table {
    let cells = &tile.cells;
    Table::new(vec![
        Column::u32s(
            "key",
            "Function or group with most of the time; 4294967295 where nothing ran.",
            cells.iter().map(|cell| cell.dominant.unwrap_or(NONE)).collect(),
        ),
        Column::f64s(
            "dominant_ns",
            "ns",
            "Time of it.",
            cells.iter().map(|cell| cell.dominant_nanos as f64).collect(),
        ),
        Column::f64s(
            "busy_ns",
            "ns",
            "Time in which anything ran.",
            cells.iter().map(|cell| cell.busy_nanos as f64).collect(),
        ),
        Column::f64s(
            "calls",
            "",
            "How often contexts were entered.",
            cells.iter().map(|cell| cell.calls as f64).collect(),
        ),
        Column::u32s(
            "depth",
            "Depth of the deepest context.",
            cells.iter().map(|cell| cell.depth).collect(),
        ),
    ])
}

fn contexts(tree: &ContextTree, function_of: &[Option<u32>], depth_of: &[u32]) -> Table {
    Table::new(vec![
        Column::u32s("context_id", "Id in the source.", tree.source_ids().to_vec()),
        Column::u32s(
            "parent",
            "Row of the context above; 4294967295 for the root.",
            tree.iter()
                .map(|c| tree.parent(c).map_or(NONE, parallax_base::ContextIdx::get))
                .collect(),
        ),
        Column::u32s(
            "function",
            "Row of its function; 4294967295 above all functions.",
            function_of.iter().map(|function| function.unwrap_or(NONE)).collect(),
        ),
        Column::u32s("depth", "Functions down to it, itself included.", depth_of.to_vec()),
    ])
}
