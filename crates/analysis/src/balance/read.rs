//! Reading values of many contexts and locations in parts of bounded size.

use parallax_base::{ContextIdx, Control, LocationIdx};
use parallax_engine::{EngineError, Session};
use parallax_model::{ContextChoice, MetricChoice, Plan, SliceRequest};

/// Values that are read at a time.
const MAX_ROWS: u64 = 4 << 20;

pub(crate) struct SliceParts<'a> {
    /// Ascending and distinct.
    pub(crate) locations: &'a [LocationIdx],
    /// Metric id in profiles of locations.
    pub(crate) metric: u16,
}

/// Calls `visit` with location row, context and value of every stored value of `contexts`
/// (distinct). Contexts come in parts whose answers are no larger than [`MAX_ROWS`], or are a
/// single context.
pub(crate) fn visit_values(
    session: &Session,
    parts: &SliceParts<'_>,
    contexts: &[ContextIdx],
    control: &Control,
    mut visit: impl FnMut(u32, ContextIdx, f64),
) -> Result<(), EngineError> {
    let tree = session.tree();
    let store = session.profiles()?;
    let mut ids: Vec<u32> = contexts.iter().map(|&context| tree.source_id(context)).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() || parts.locations.is_empty() {
        return Ok(());
    }
    let mut open = vec![ids];
    while let Some(mut ids) = open.pop() {
        control.check()?;
        let request = SliceRequest {
            locations: parts.locations.to_vec(),
            contexts: ContextChoice::Ids(ids.clone()),
            metrics: MetricChoice::Ids { values: vec![parts.metric], statistics: Vec::new() },
            plan: Plan::Cheapest,
        };
        if ids.len() > 1 && store.estimate(&request)?.1 > MAX_ROWS {
            open.push(ids.split_off(ids.len() / 2));
            open.push(ids);
            continue;
        }
        let columns = session.slice(&request, control)?;
        for ((&location, &id), &value) in
            columns.location.iter().zip(&columns.context).zip(&columns.value)
        {
            if let Some(context) = tree.by_source_id(id) {
                visit(location, context, value);
            }
        }
    }
    Ok(())
}
