//! Slices and traces by expressions: the answers of `query` and `trace`.

use parallax_base::Control;
use parallax_engine::query::{parse_contexts, parse_metrics, parse_profiles};
use parallax_engine::resolve::{resolve_contexts, resolve_metrics, resolve_profiles};
use parallax_engine::{Names, slice_request, slice_table, trace_table};
use parallax_protocol::{
    self as protocol, CostChoice, NotesReply, QueryRequest, QueryTables, TraceRequest, TraceTables,
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
        let rows = trace_table(session, &locations, window, names(request.is_raw), control)?;
        Ok(protocol::Answer::new(NotesReply { notes }, TraceTables { rows }))
    }
}

fn engine(error: parallax_model::StoreError) -> ServiceError {
    ServiceError::Engine(error.into())
}
