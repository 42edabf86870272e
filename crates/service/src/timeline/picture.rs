//! Traces as pictures: what there is, tiles, and calls one by one.

use parallax_base::{ContextIdx, Control, TimeWindow, TrackIdx};
use parallax_engine::query::QueryError;
use parallax_engine::{Bins, CallRow, CallsQuestion, EngineError, TileCell, TileQuestion};
use parallax_model::{Call, ContextTree, IdentityKind, RecordCounts, TraceKind};
use parallax_protocol::{
    Answer, ArgumentRow, BinsReply, CallTableRow, CallsReply, CallsRequest, CallsTables,
    ComponentReply, CounterReply, NotesReply, PathAtRequest, PathAtRow, PathAtTables, TileCellRow,
    TileRequest, TileTables, TimelineContextTable, TimelineFunctionRow, TimelineGroupRow,
    TimelineReply, TimelineRequest, TimelineTables, TrackSpan, TrackTable,
};

use super::names::TimelineKey;
use super::{most, spans};
use crate::options::{identities, program_locations};
use crate::{Answers, OpenExperiment, ServiceError};

/// A number that means none, in tables.
pub(crate) const NONE: u32 = u32::MAX;

/// Most cells of a picture: more than screens have points, and less than a gigabyte.
const MOST_CELLS: usize = 1 << 24;

impl OpenExperiment {
    /// Nanoseconds since the first record as a window on the trace's clock.
    pub(crate) fn since_first(&self, from: u64, to: u64) -> Result<TimeWindow, ServiceError> {
        let origin = self.session.traces()?.span().start_nanos;
        Ok(TimeWindow::new(origin.saturating_add(from), origin.saturating_add(to)))
    }

    /// The tracks without those of helper threads, and what is excluded; `None` where none is one.
    fn program_tracks(
        &self,
        control: &Control,
    ) -> Result<Option<(Vec<TrackSpan>, String)>, ServiceError> {
        let mut said = Vec::new();
        let chosen = program_locations(self, None, false, &mut said, control)?;
        let Some(said) = said.pop() else { return Ok(None) };
        let mut spans: Vec<TrackSpan> = Vec::new();
        for track in self.session.chosen_tracks(self.session.traces()?, &chosen) {
            let at = track.get();
            match spans.last_mut().filter(|span| span.to == at) {
                Some(span) => span.to = at + 1,
                None => spans.push(TrackSpan { from: at, to: at + 1 }),
            }
        }
        Ok((!spans.is_empty()).then_some((spans, said)))
    }

    /// What a reply says about bins.
    pub(crate) fn bins_reply(&self, bins: &Bins) -> Result<BinsReply, ServiceError> {
        let origin = self.session.traces()?.span().start_nanos;
        Ok(BinsReply {
            first_ns: since(bins.first << bins.exponent, origin),
            bin_ns: bins.nanos(),
            bins: u32::try_from(bins.len).unwrap_or(u32::MAX),
        })
    }

    /// The bins that pictures of a window have: as many as asked for, or fewer.
    pub(crate) fn bins(&self, window: TimeWindow, max_bins: usize) -> Result<Bins, ServiceError> {
        let span = self.session.traces()?.span();
        let span = TimeWindow::new(span.start_nanos, span.end_nanos.saturating_add(1));
        Ok(Bins::at_most(window.intersect(span), max_bins))
    }
}

impl Answers<TimelineRequest> for OpenExperiment {
    fn answer(
        &self,
        _: &TimelineRequest,
        control: &Control,
    ) -> Result<Answer<TimelineRequest>, ServiceError> {
        let x = self.session.experiment();
        let store = self.session.traces()?;
        let names = self.timeline_names(control)?;
        let events = x.events.as_deref();
        let records = events.map(parallax_model::EventStore::records).unwrap_or_default();
        let records = records.iter().fold(RecordCounts::default(), |sum, own| sum.plus(own));
        let tracks = store.tracks();
        let locations: Vec<_> = tracks.iter().map(|track| track.location).collect();
        let mut kinds = identities(&x.locations, &locations);
        for column in &mut kinds.columns {
            if column.name == IdentityKind::Application.name() {
                column.name = "component".to_owned();
            }
        }
        let program_tracks = self.program_tracks(control)?;
        let counters = events.map(parallax_model::EventStore::counters).unwrap_or_default();
        let reply = TimelineReply {
            has_calls: store.kind() == TraceKind::Calls,
            origin_ns: store.span().start_nanos.to_string(),
            span_ns: store.span().nanos(),
            sends: records.sends,
            receives: records.receives,
            counters: (counters.iter())
                .map(|counter| CounterReply {
                    name: counter.name.to_string(),
                    unit: counter.unit.to_string(),
                })
                .collect(),
            components: (x.metadata.components.iter())
                .map(|component| ComponentReply {
                    application: component.application,
                    name: component.name.to_string(),
                    depends_on: component.depends_on.iter().map(ToString::to_string).collect(),
                })
                .collect(),
            helpers: program_tracks.as_ref().map(|(_, said)| said.clone()),
            program_tracks: program_tracks.map(|(spans, _)| spans),
            notes: names.note().into_iter().collect(),
        };
        let function = |key: &TimelineKey| TimelineFunctionRow {
            name: key.name.clone(),
            exclusive_ns: key.exclusive_nanos as f64,
            calls: key.calls as f64,
            group: key.group,
        };
        let group = |key: &TimelineKey| TimelineGroupRow {
            name: key.name.clone(),
            exclusive_ns: key.exclusive_nanos as f64,
            calls: key.calls as f64,
        };
        let tables = TimelineTables {
            tracks: TrackTable {
                location: locations.iter().map(|location| location.get()).collect(),
                label: self.track_names(),
                calls: tracks.iter().map(|track| track.num_samples).collect(),
                identities: kinds,
            },
            functions: names.functions.iter().map(function).collect(),
            groups: names.groups.iter().map(group).collect(),
            contexts: contexts(self.session.tree(), &names.function_of, &names.depth_of),
        };
        Ok(Answer::new(reply, tables))
    }
}

impl Answers<TileRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &TileRequest,
        control: &Control,
    ) -> Result<Answer<TileRequest>, ServiceError> {
        let max_bins = most(request.bins);
        if request.rows.len().saturating_mul(max_bins) > MOST_CELLS {
            let what = format!(
                "a picture of {} rows by {max_bins} bins has more than {MOST_CELLS} cells",
                request.rows.len()
            );
            let hint = "ask for fewer bins, or for rows that add several tracks up";
            return Err(QueryError::unknown_name("", "", what).with_hint(hint).into());
        }
        let names = self.timeline_names(control)?;
        let tree = self.session.tree();
        let parent = |context: usize| {
            let context = ContextIdx::new(u32::try_from(context).ok()?);
            tree.parent(context).map(ContextIdx::idx)
        };
        let keys = names.keys(parent, request.by, request.max_depth, &request.hidden);
        let depths: Vec<u32> = match request.max_depth {
            Some(max) => names.depth_of.iter().map(|&depth| depth.min(max)).collect(),
            None => names.depth_of.clone(),
        };
        let window = self.since_first(request.from_ns, request.to_ns)?;
        let question = TileQuestion {
            rows: &spans(&request.rows),
            window,
            exponent: self.bins(window, max_bins)?.exponent,
            key_of: &keys,
            depth_of: &depths,
        };
        let tile = self.session.tile(&question, control)?;
        let cell = |cell: &TileCell| TileCellRow {
            key: cell.dominant.unwrap_or(NONE),
            dominant_ns: cell.dominant_nanos as f64,
            busy_ns: cell.busy_nanos as f64,
            calls: cell.calls as f64,
            depth: cell.depth,
        };
        let cells = tile.cells.iter().map(cell).collect();
        Ok(Answer::new(self.bins_reply(&tile.bins)?, TileTables { cells }))
    }
}

impl Answers<CallsRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &CallsRequest,
        control: &Control,
    ) -> Result<Answer<CallsRequest>, ServiceError> {
        let origin = self.session.traces()?.span().start_nanos;
        let names = self.timeline_names(control)?;
        let question = CallsQuestion {
            tracks: &spans(&request.tracks),
            window: self.since_first(request.from_ns, request.to_ns)?,
            max_calls: most(request.max_calls),
            shortest_nanos: request.shortest_ns,
        };
        let list = self.session.calls(&question, control)?;
        let row = |row: &CallRow| CallTableRow {
            track: row.track.get(),
            context: row.context.get(),
            depth: names.depth_of.get(row.context.idx()).copied().unwrap_or(0),
            start_ns: since(row.start_nanos, origin),
            end_ns: since(row.end_nanos, origin),
        };
        let reply = CallsReply {
            is_complete: list.is_complete,
            calls: list.num_calls,
            shorter: list.num_shorter,
        };
        Ok(Answer::new(reply, CallsTables { calls: list.rows.iter().map(row).collect() }))
    }
}

impl Answers<PathAtRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &PathAtRequest,
        control: &Control,
    ) -> Result<Answer<PathAtRequest>, ServiceError> {
        let origin = self.session.traces()?.span().start_nanos;
        let at = origin.saturating_add(request.at_ns);
        let names = self.timeline_names(control)?;
        let next = request.track.saturating_add(1);
        let track = TrackIdx::new(request.track)..TrackIdx::new(next);
        let question = CallsQuestion {
            tracks: std::slice::from_ref(&track),
            window: TimeWindow::new(at, at.saturating_add(1)),
            max_calls: usize::MAX,
            shortest_nanos: 1,
        };
        let mut rows = self.session.calls(&question, control)?.rows;
        rows.retain(|row| row.start_nanos <= at && at < row.end_nanos);
        let depth = |row: &CallRow| names.depth_of.get(row.context.idx()).copied().unwrap_or(0);
        rows.sort_by_key(depth);
        let tree = self.session.tree();
        let mut path = Vec::with_capacity(rows.len());
        let mut arguments = Vec::new();
        for row in &rows {
            let exclusive = request.exclusive.then(|| self.exclusive_nanos(row)).transpose()?;
            path.push(PathAtRow {
                context: row.context.get(),
                name: tree.label(row.context),
                depth: depth(row),
                start_ns: since(row.start_nanos, origin),
                end_ns: since(row.end_nanos, origin),
                exclusive_ns: exclusive.map(|nanos| nanos as f64),
            });
            if request.arguments {
                let of_call = self.arguments(row)?.into_iter();
                let depth = depth(row);
                arguments.extend(of_call.map(|(name, value)| ArgumentRow { depth, name, value }));
            }
            control.check().map_err(EngineError::from)?;
        }
        let arguments = arguments.into_iter().collect();
        let tables = PathAtTables { path: path.into_iter().collect(), arguments };
        Ok(Answer::new(NotesReply::default(), tables))
    }
}

impl OpenExperiment {
    /// Names and values of what the source recorded with a call.
    pub(super) fn arguments(&self, row: &CallRow) -> Result<Vec<(String, String)>, ServiceError> {
        let mut out = Vec::new();
        if let Some(events) = self.session.experiment().events.as_deref() {
            let context = self.session.tree().source_id(row.context);
            let (start_nanos, end_nanos) = (row.start_nanos, row.end_nanos);
            let call = Call { context, start_nanos, end_nanos };
            events
                .arguments(row.track, &call, &mut |name, value| {
                    out.push((name.to_owned(), value.to_owned()));
                })
                .map_err(EngineError::from)?;
        }
        Ok(out)
    }

    /// Time in a call and in nothing below it. Its context is active nowhere else while it goes on,
    /// because calls of a track nest, so that the sums of its time range are those of the call.
    fn exclusive_nanos(&self, call: &CallRow) -> Result<u64, ServiceError> {
        let wanted = self.session.tree().source_id(call.context);
        let window = TimeWindow::new(call.start_nanos, call.end_nanos);
        let mut nanos = 0_u64;
        self.session
            .traces()?
            .sums(call.track, window, &mut |time| {
                if time.context == wanted {
                    nanos = nanos.saturating_add(time.nanos);
                }
            })
            .map_err(EngineError::from)?;
        Ok(nanos)
    }
}

/// Nanoseconds since the first record; negative before it.
pub(crate) fn since(nanos: u64, origin: u64) -> f64 {
    if nanos >= origin { (nanos - origin) as f64 } else { -((origin - nanos) as f64) }
}

fn contexts(
    tree: &ContextTree,
    function_of: &[Option<u32>],
    depth_of: &[u32],
) -> TimelineContextTable {
    TimelineContextTable {
        context_id: tree.source_ids().to_vec(),
        parent: tree.iter().map(|c| tree.parent(c).map_or(NONE, ContextIdx::get)).collect(),
        function: function_of.iter().map(|function| function.unwrap_or(NONE)).collect(),
        depth: depth_of.to_vec(),
    }
}
