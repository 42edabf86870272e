//! Slices and traces by expressions: the answers of `query`, `trace` and `trace_groups`.

use parallax_base::Control;
use parallax_columns::{Computed, Events, Groups, Keys, Moments};
use parallax_engine::query::{parse_contexts, parse_metrics, parse_profiles};
use parallax_engine::resolve::{resolve_contexts, resolve_metrics, resolve_profiles};
use parallax_engine::{
    Names, SampleColumns, Session, location_names, sample_context_names, slice_request,
    slice_table, trace_columns, trace_table,
};
use parallax_protocol::{
    self as protocol, CostChoice, NotesReply, QueryRequest, QueryTables, TraceBy, TraceGroupTable,
    TraceGroupsReply, TraceGroupsRequest, TraceGroupsTables, TraceRequest, TraceTables,
};

use crate::options::{Prune as _, Resolve as _, locations, window};
use crate::{Answers, OpenExperiment, ServiceError};

/// An answer with remarks.
#[derive(Debug, Clone, Default)]
pub struct Answer<T> {
    /// The answer.
    pub value: T,
    /// Remarks, such as that nothing matched and why.
    pub notes: Vec<String>,
}

const fn names(is_raw: bool) -> Names {
    if is_raw { Names::Raw } else { Names::Readable }
}

impl Answers<QueryRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &QueryRequest,
        control: &Control,
    ) -> Result<protocol::Answer<QueryRequest>, ServiceError> {
        let session = &self.session;
        let x = session.experiment();
        let profiles = resolve_profiles(
            &x.locations,
            &parse_profiles(request.profiles.as_deref().unwrap_or("*"))?,
        );
        let metrics = resolve_metrics(
            &x.metrics,
            &parse_metrics(request.metrics.as_deref().unwrap_or("*"))?,
        )?;
        let mut notes = profiles.notes.clone();
        notes.extend(metrics.notes.iter().cloned());
        let is_all = request.contexts.as_deref().is_none_or(|text| text.trim() == "*");
        let rules = request.prune.rules()?;
        let contexts = if is_all && rules.is_empty() {
            None
        } else {
            let expression = parse_contexts(request.contexts.as_deref().unwrap_or("*"))?;
            let (mut contexts, more) = resolve_contexts(session, &expression, control)?;
            notes.extend(more);
            if !rules.is_empty() {
                // What is low cost is decided once, on the summary, for all locations alike.
                let chosen = CostChoice::default().resolve(self, control)?;
                let view = rules.apply(session.tree(), chosen.measure.operands().first());
                contexts.retain(|&context| view.keeps(context));
            }
            Some(contexts)
        };
        let mut slice = slice_request(session.tree(), &profiles, contexts.as_deref(), &metrics);
        if request.with_elided && contexts.is_none() {
            slice.contexts = parallax_model::ContextChoice::Stored;
        }
        // Not through the cache: one answer may be as large as memory allows.
        let columns = session.profiles()?.slice(&slice, control).map_err(engine)?;
        if columns.is_empty() && notes.is_empty() {
            notes.push(
                "No values are stored for these profiles, contexts and metrics (zeros are not \
                 stored)."
                    .into(),
            );
        }
        let (rows, unit) = slice_table(session, columns, names(request.is_raw));
        let answer = protocol::Answer::new(NotesReply { notes }, QueryTables { rows });
        Ok(protocol::Answer { unit, ..answer })
    }
}

impl Answers<TraceRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &TraceRequest,
        control: &Control,
    ) -> Result<protocol::Answer<TraceRequest>, ServiceError> {
        let mut notes = Vec::new();
        let session = &self.session;
        let locations = locations(session, request.profiles.as_deref(), &mut notes)?;
        let window = window(session, request.window.as_deref())?;
        let samples = trace_columns(session, &locations, window, control)?;
        let rows = trace_table(session, samples, names(request.is_raw));
        Ok(protocol::Answer::new(NotesReply { notes }, TraceTables { rows }))
    }
}

impl Answers<TraceGroupsRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &TraceGroupsRequest,
        control: &Control,
    ) -> Result<protocol::Answer<TraceGroupsRequest>, ServiceError> {
        let mut notes = Vec::new();
        let session = &self.session;
        let locations = locations(session, request.profiles.as_deref(), &mut notes)?;
        let window = window(session, request.window.as_deref())?;
        let mut samples = trace_columns(session, &locations, window, control)?;
        for time in samples.start.iter_mut().chain(&mut samples.end) {
            *time = (*time).min(window.end_nanos).max(window.start_nanos);
        }
        let SampleColumns { location, context, start, end } = &samples;
        let events = Events { location, context, start, end };
        let keys = match request.by {
            TraceBy::Context => Keys::Context,
            TraceBy::Location => Keys::Location,
            TraceBy::Both => Keys::Both,
        };
        let Computed { value, device, reason } =
            self.compute.summarise(&events, keys, request.min_ns);
        if value.moments.is_empty() && notes.is_empty() {
            notes.push("No samples of these locations in this window.".to_owned());
        }
        let reply =
            TraceGroupsReply { samples: events.len() as u64, device, device_reason: reason, notes };
        let rows = group_table(session, &value, keys);
        Ok(protocol::Answer::new(reply, TraceGroupsTables { rows }))
    }
}

/// Groups of samples, the longest total first.
fn group_table(session: &Session, groups: &Groups, keys: Keys) -> TraceGroupTable {
    let mut order: Vec<usize> = (0..groups.moments.len()).collect();
    order.sort_by_key(|&group| std::cmp::Reverse(groups.moments[group].sum));
    let ids = |column: &[u32]| order.iter().map(|&group| column[group]).collect::<Vec<u32>>();
    let (location, context) = match keys {
        Keys::Context => (None, Some(ids(&groups.minor))),
        Keys::Location => (Some(ids(&groups.minor)), None),
        Keys::Both => (Some(ids(&groups.major)), Some(ids(&groups.minor))),
    };
    let of = || order.iter().map(|&group| &groups.moments[group]);
    TraceGroupTable {
        location: location.as_ref().map(|ids| location_names(session, ids)),
        context: context.as_ref().map(|ids| sample_context_names(session, ids)),
        profile_id: location,
        context_id: context,
        samples: of().map(|of| of.count).collect(),
        // The time of 2^64 ns is that of 18 threads over a year each: more counts as that.
        total_ns: of().map(|of| u64::try_from(of.sum).unwrap_or(u64::MAX)).collect(),
        mean_ns: of().map(Moments::mean).collect(),
        min_ns: of().map(|of| of.min).collect(),
        max_ns: of().map(|of| of.max).collect(),
        std_dev_ns: of().map(Moments::deviation).collect(),
    }
}

fn engine(error: parallax_model::StoreError) -> ServiceError {
    ServiceError::Engine(error.into())
}
