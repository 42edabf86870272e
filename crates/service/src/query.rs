//! Slices and traces by expressions: the answers of `query` and `trace`.

use parallax_base::Control;
use parallax_engine::query::{parse_contexts, parse_metrics, parse_profiles};
use parallax_engine::resolve::{resolve_contexts, resolve_metrics, resolve_profiles};
use parallax_engine::{Names, Table, slice_request, slice_table, trace_table};

use crate::options::{locations, window};
use crate::{CostChoice, Opened, PruneChoice, ServiceError};

/// An answer with what a person should know about it.
#[derive(Debug, Clone, Default)]
pub struct Answer<T> {
    /// The answer.
    pub value: T,
    /// Remarks, such as that nothing matched and why.
    pub notes: Vec<String>,
}

/// Which values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QueryRequest {
    /// A profile expression; `None` for all profiles, the summary included.
    pub profiles: Option<String>,
    /// A context expression; `None` for all contexts of the tree.
    pub contexts: Option<String>,
    /// A metric expression; `None` for all.
    pub metrics: Option<String>,
    /// Contexts that are left out although the expression names them. Values stay as stored.
    pub prune: PruneChoice,
    /// Leave the readable names out.
    pub is_raw: bool,
    /// Also values of elided contexts, which the database keeps but the tree lacks; only without
    /// a context expression and without pruning.
    pub with_elided: bool,
}

/// Which samples.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceRequest {
    /// A profile expression; `None` for all locations.
    pub profiles: Option<String>,
    /// A time window; `None` for everything.
    pub window: Option<String>,
    /// Leave the readable names out.
    pub is_raw: bool,
}

const fn names(is_raw: bool) -> Names {
    if is_raw { Names::Raw } else { Names::Readable }
}

impl Opened {
    /// The values that a request names, as stored: `profile_id`, `context_id`, `metric_id`,
    /// `value` and, unless raw, `location`, `context`, `metric`; ascending by the three ids.
    ///
    /// # Errors
    /// When an expression is wrong, or the values cannot be read.
    pub fn query(
        &self,
        request: &QueryRequest,
        control: &Control,
    ) -> Result<Answer<Table>, ServiceError> {
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
                let chosen = CostChoice::default().resolve(session, control)?;
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
                "nothing is stored for these profiles, contexts and metrics (zeros are not \
                        stored)"
                    .into(),
            );
        }
        Ok(Answer { value: slice_table(session, columns, names(request.is_raw)), notes })
    }

    /// The samples that a request names; see [`trace_table`] for the columns.
    ///
    /// # Errors
    /// When an expression is wrong, there are no traces, or they cannot be read.
    pub fn trace(
        &self,
        request: &TraceRequest,
        control: &Control,
    ) -> Result<Answer<Table>, ServiceError> {
        let mut notes = Vec::new();
        let session = &self.session;
        let locations = locations(session, request.profiles.as_deref(), &mut notes)?;
        let window = window(session, request.window.as_deref())?;
        let table = trace_table(session, &locations, window, names(request.is_raw), control)?;
        Ok(Answer { value: table, notes })
    }
}

fn engine(error: parallax_model::StoreError) -> ServiceError {
    ServiceError::Engine(error.into())
}
