//! What an experiment holds, row by row: the tables that queries over all of it combine.

mod recordings;

use std::ops::Range;

use parallax_base::{Control, Issues, LocationIdx, TimeWindow, TrackIdx};
use parallax_engine::{EngineError, LocationChoice, SampleColumns, trace_columns, track_columns};
use parallax_model::{
    CollectiveOperation, ContextChoice, ContextKind, Formula, LinkKind, MetricChoice, Plan,
    Relation, SliceRequest, TraceStore,
};
use parallax_protocol::{
    CollectiveRow, CollectiveTable, IssueRow, IssueTable, LocationValueTable, MeasuredRow,
    MeasuredTable, MomentRow, MomentTable, StatisticRow, StatisticTable, StoredContextRow,
    StoredContextTable, StoredCounterRow, StoredCounterTable, StoredLinkRow, StoredLinkTable,
    StoredSampleTable, TraceCallTable,
};

use crate::{OpenExperiment, ServiceError, issue_replies};

/// Records after which a long answer looks whether it was cancelled.
const CHECK_EVERY: usize = 4096;

/// Collects rows, and stops collecting once the question is withdrawn.
struct Rows<'c, R> {
    rows: Vec<R>,
    control: &'c Control,
    is_cancelled: bool,
}

impl<'c, R> Rows<'c, R> {
    const fn new(control: &'c Control) -> Self {
        Self { rows: Vec::new(), control, is_cancelled: false }
    }

    fn push(&mut self, row: impl FnOnce() -> R) {
        if self.rows.len().is_multiple_of(CHECK_EVERY) {
            self.is_cancelled |= self.control.check().is_err();
        }
        if !self.is_cancelled {
            self.rows.push(row());
        }
    }

    fn finish(self) -> Result<Vec<R>, EngineError> {
        self.control.check()?;
        Ok(self.rows)
    }
}

impl OpenExperiment {
    /// The calling context tree.
    ///
    /// # Errors
    /// When the question is withdrawn.
    pub fn context_relation(&self, control: &Control) -> Result<StoredContextTable, EngineError> {
        self.context_relation_of(0..self.session.tree().len(), control)
    }

    /// The contexts at some places of the tree, such as those of a subtree.
    ///
    /// # Errors
    /// When the question is withdrawn.
    pub fn context_relation_of(
        &self,
        places: Range<usize>,
        control: &Control,
    ) -> Result<StoredContextTable, EngineError> {
        let tree = self.session.tree();
        let mut rows = Rows::new(control);
        for context in tree.iter().skip(places.start).take(places.len()) {
            rows.push(|| {
                let function = tree.enclosing_function(context);
                let of_function = function.and_then(|above| tree.function(above));
                let described = of_function.and_then(|row| tree.functions().get(row.idx()));
                let file = tree.file_path(context).map(ToOwned::to_owned);
                let defined = described.and_then(|function| function.file);
                let defined = defined.and_then(|file| tree.files().get(file.idx()));
                let is_function = tree.kind(context) == ContextKind::Function;
                let line = match described {
                    Some(function) if is_function => function.line,
                    _ => tree.line(context),
                };
                let module = described.and_then(|function| function.module);
                let module = module.and_then(|module| tree.modules().get(module.idx()));
                StoredContextRow {
                    context_id: tree.source_id(context),
                    parent_id: tree.parent(context).map(|above| tree.source_id(above)),
                    name: tree.label(context),
                    kind: tree.kind(context).name(),
                    relation: relation(tree.relation(context)),
                    depth: tree.depth(context),
                    function: described.map(|function| function.name.to_string()),
                    function_group: described
                        .and_then(|f| f.group.as_deref().map(ToOwned::to_owned)),
                    file: match defined {
                        Some(file) if is_function => Some(file.path.to_string()),
                        _ => file,
                    },
                    line: Some(line).filter(|&line| line > 0),
                    module: match tree.module_path(context) {
                        Some(path) => Some(path.to_owned()),
                        None => module.map(|module| module.path.to_string()),
                    },
                    position: context.get(),
                    last_position: u32::try_from(tree.subtree(context).end.saturating_sub(1))
                        .unwrap_or(u32::MAX),
                }
            });
        }
        Ok(rows.finish()?.into_iter().collect())
    }

    /// The metrics, in each scope in which locations have them.
    #[must_use]
    pub fn metric_relation(&self) -> MeasuredTable {
        let metrics = &self.session.experiment().metrics;
        let of = metrics.iter();
        of.flat_map(|(_, metric)| {
            metric.instances.iter().map(move |instance| MeasuredRow {
                metric_id: instance.id,
                metric: metric.name.to_string(),
                scope: instance.scope.source_name().to_owned(),
                unit: metric.unit.to_string(),
                description: metric.description.to_string(),
            })
        })
        .collect()
    }

    /// The statistics that the summary holds.
    #[must_use]
    pub fn statistic_relation(&self) -> StatisticTable {
        let metrics = &self.session.experiment().metrics;
        let of = metrics.iter();
        of.flat_map(|(_, metric)| {
            metric.statistics.iter().map(move |statistic| StatisticRow {
                statistic_id: statistic.id,
                metric: metric.name.to_string(),
                scope: statistic.scope.source_name().to_owned(),
                statistic: statistic.name().unwrap_or("other").to_owned(),
                // A count or a square of seconds is not in seconds.
                unit: match statistic.formula {
                    Formula::Value => metric.unit.to_string(),
                    _ => String::new(),
                },
            })
        })
        .collect()
    }

    /// What was repaired, dropped or guessed so far.
    #[must_use]
    pub fn issue_relation(&self) -> IssueTable {
        issue_table(&self.issues())
    }

    /// Values of locations.
    ///
    /// # Errors
    /// When there are none, they cannot be read, or the question is withdrawn.
    pub fn value_relation(
        &self,
        request: &SliceRequest,
        control: &Control,
    ) -> Result<LocationValueTable, EngineError> {
        let columns = self.session.profiles()?.slice(request, control)?;
        Ok(LocationValueTable {
            profile_id: columns.location,
            context_id: columns.context,
            metric_id: columns.metric,
            value: columns.value,
        })
    }

    /// All values of some locations, which are ascending and distinct.
    ///
    /// # Errors
    /// As [`OpenExperiment::value_relation`].
    pub fn value_relation_of(
        &self,
        locations: &[LocationIdx],
        control: &Control,
    ) -> Result<LocationValueTable, EngineError> {
        let request = SliceRequest {
            locations: locations.to_vec(),
            contexts: ContextChoice::Tree,
            metrics: MetricChoice::All,
            plan: Plan::Cheapest,
        };
        self.value_relation(&request, control)
    }

    /// The samples of some locations that reach into a window, not cut at it.
    ///
    /// # Errors
    /// When there are no traces, they cannot be read, or the question is withdrawn.
    pub fn sample_relation(
        &self,
        locations: &[LocationIdx],
        window: TimeWindow,
        control: &Control,
    ) -> Result<StoredSampleTable, EngineError> {
        let locations = LocationChoice::Some(locations.to_vec());
        Ok(samples(trace_columns(&self.session, &locations, window, control)?))
    }

    /// The same of some tracks, in their order.
    ///
    /// # Errors
    /// As [`OpenExperiment::sample_relation`].
    pub fn sample_relation_of(
        &self,
        tracks: &[TrackIdx],
        window: TimeWindow,
        control: &Control,
    ) -> Result<StoredSampleTable, EngineError> {
        Ok(samples(track_columns(&self.session, tracks, window, control)?))
    }

    /// The calls of some tracks that overlap a window, not cut at it.
    ///
    /// # Errors
    /// When there are no traces, they cannot be read, or the question is withdrawn.
    pub fn call_relation(
        &self,
        tracks: &[TrackIdx],
        window: TimeWindow,
        control: &Control,
    ) -> Result<TraceCallTable, EngineError> {
        let store = self.session.traces()?;
        let mut table = TraceCallTable::default();
        for &track in tracks {
            control.check()?;
            let location = location_of(store, track).unwrap_or_default();
            store.visit_calls(track, window, &mut |call| {
                table.profile_id.push(location);
                table.context_id.push(call.context);
                table.start_ns.push(call.start_nanos);
                table.end_ns.push(Some(call.end_nanos).filter(|&end| end != u64::MAX));
            })?;
        }
        Ok(table)
    }

    /// Messages, flows and transfers that are under way at some moment of a window.
    ///
    /// # Errors
    /// When there is no trace of events, it cannot be read, or the question is withdrawn.
    pub fn link_relation(
        &self,
        window: TimeWindow,
        control: &Control,
    ) -> Result<StoredLinkTable, ServiceError> {
        let (events, store) = (self.events()?, self.session.traces()?);
        let at = |track: Option<TrackIdx>| track.and_then(|track| location_of(store, track));
        let mut rows = Rows::new(control);
        events
            .messages(window, &mut |link| {
                rows.push(|| StoredLinkRow {
                    kind: match link.kind {
                        LinkKind::Message => "message",
                        LinkKind::Flow => "flow",
                        LinkKind::Transfer => "transfer",
                    },
                    sender_id: at(link.sender),
                    receiver_id: at(link.receiver),
                    send_ns: link.send_nanos,
                    receive_ns: link.receive_nanos,
                    bytes: link.bytes,
                    tag: link.tag,
                    communicator: link.communicator,
                    file: events.file_of(&link).map(ToString::to_string),
                });
            })
            .map_err(EngineError::from)?;
        Ok(rows.finish()?.into_iter().collect())
    }

    /// Parts of locations in collective operations that overlap a window.
    ///
    /// # Errors
    /// As [`OpenExperiment::link_relation`].
    pub fn collective_relation(
        &self,
        window: TimeWindow,
        control: &Control,
    ) -> Result<CollectiveTable, ServiceError> {
        let (events, store) = (self.events()?, self.session.traces()?);
        let mut rows = Rows::new(control);
        events
            .collectives(window, &mut |part| {
                rows.push(|| CollectiveRow {
                    profile_id: location_of(store, part.track).unwrap_or_default(),
                    operation: match part.operation {
                        CollectiveOperation::Unknown => "unknown".to_owned(),
                        CollectiveOperation::Other(number) => format!("other {number}"),
                        operation => format!("{operation:?}"),
                    },
                    communicator: part.communicator,
                    root: part.root,
                    sent_bytes: part.sent,
                    received_bytes: part.received,
                    start_ns: part.start_nanos,
                    end_ns: part.end_nanos,
                });
            })
            .map_err(EngineError::from)?;
        Ok(rows.finish()?.into_iter().collect())
    }

    /// Values of the metrics that change over time, of one track, inside a window.
    ///
    /// # Errors
    /// As [`OpenExperiment::link_relation`].
    pub fn counter_relation(
        &self,
        track: TrackIdx,
        window: TimeWindow,
        control: &Control,
    ) -> Result<StoredCounterTable, ServiceError> {
        let (events, store) = (self.events()?, self.session.traces()?);
        let profile_id = location_of(store, track).unwrap_or_default();
        let mut rows = Rows::new(control);
        for (number, counter) in (0..).zip(events.counters()) {
            events
                .values(track, number, window, &mut |time_ns, value| {
                    // The store also says which value holds when the window begins.
                    if time_ns >= window.start_nanos {
                        rows.push(|| StoredCounterRow {
                            profile_id,
                            counter: counter.name.to_string(),
                            unit: counter.unit.to_string(),
                            time_ns,
                            value,
                        });
                    }
                })
                .map_err(EngineError::from)?;
        }
        Ok(rows.finish()?.into_iter().collect())
    }

    /// Named moments inside a window.
    ///
    /// # Errors
    /// As [`OpenExperiment::link_relation`].
    pub fn marker_relation(
        &self,
        window: TimeWindow,
        control: &Control,
    ) -> Result<MomentTable, ServiceError> {
        let (events, store) = (self.events()?, self.session.traces()?);
        let mut rows = Rows::new(control);
        events
            .markers(window, &mut |track, name, time_ns| {
                rows.push(|| MomentRow {
                    profile_id: location_of(store, track).unwrap_or_default(),
                    name: name.to_string(),
                    time_ns,
                });
            })
            .map_err(EngineError::from)?;
        Ok(rows.finish()?.into_iter().collect())
    }
}

/// Issues as a table.
pub(crate) fn issue_table(issues: &Issues) -> IssueTable {
    let issues = issue_replies(issues).into_iter();
    issues
        .map(|issue| IssueRow {
            kind: issue.kind,
            severity: issue.severity.to_string(),
            stage: issue.stage.to_string(),
            place: issue.place,
            file: issue.file,
            byte_offset: issue.offset,
            message: issue.message,
            count: issue.count,
        })
        .collect()
}

fn samples(columns: SampleColumns) -> StoredSampleTable {
    StoredSampleTable {
        profile_id: columns.location,
        context_id: columns.context,
        start_ns: columns.start,
        end_ns: columns.end,
    }
}

fn location_of(store: &dyn TraceStore, track: TrackIdx) -> Option<u32> {
    store.track(track).map(|track| LocationIdx::get(track.location))
}

const fn relation(relation: Relation) -> &'static str {
    match relation {
        Relation::Lexical => "lexical",
        Relation::Call => "call",
        Relation::Inlined => "inlined",
        Relation::Other(_) => "other",
    }
}
