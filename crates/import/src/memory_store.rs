//! [`MemoryStore`]: values in memory, by location, context and metric.

use parallax_base::{Control, Limits};
use parallax_model::{ContextChoice, Plan, ProfileStore, SliceColumns, SliceRequest, StoreError};

/// One value. Context ids are positions in the tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Row {
    pub(crate) context: u32,
    pub(crate) metric: u16,
    pub(crate) value: f64,
}

/// The values of all locations; the summary is location 0.
pub(crate) struct MemoryStore {
    /// Ascending by context and metric, without zeros.
    rows: Vec<Vec<Row>>,
    limits: Limits,
}

impl MemoryStore {
    /// Takes the rows of each location in any order; the last of equal places counts.
    pub(crate) fn new(rows: Vec<Vec<Row>>, limits: Limits) -> Self {
        Self { rows, limits }
    }
}

/// Sorts rows as [`MemoryStore`] wants them; values of the same place are added.
pub(crate) fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_by_key(|row| (row.context, row.metric));
    rows.dedup_by(|later, first| {
        let is_same = (later.context, later.metric) == (first.context, first.metric);
        if is_same {
            first.value += later.value;
        }
        is_same
    });
    rows.retain(|row| row.value != 0.0);
    rows.shrink_to_fit();
    rows
}

impl ProfileStore for MemoryStore {
    fn slice(&self, request: &SliceRequest, control: &Control) -> Result<SliceColumns, StoreError> {
        let mut out = SliceColumns::default();
        control.begin(request.locations.len() as u64);
        for location in &request.locations {
            control.advance(1)?;
            let Some(rows) = self.rows.get(location.idx()) else { continue };
            let metrics = request.metrics.ids(location.get() == 0);
            let is_wanted = |metric| metrics.is_none_or(|ids| ids.binary_search(&metric).is_ok());
            let mut push = |rows: &[Row]| {
                for row in rows.iter().filter(|row| is_wanted(row.metric)) {
                    out.location.push(location.get());
                    out.context.push(row.context);
                    out.metric.push(row.metric);
                    out.value.push(row.value);
                }
            };
            let from = |id: u32, rows: &[Row]| rows.partition_point(|row| row.context < id);
            match &request.contexts {
                ContextChoice::Tree | ContextChoice::Stored => push(rows),
                ContextChoice::Nodes => push(rows.get(from(1, rows)..).unwrap_or_default()),
                ContextChoice::Ids(ids) => {
                    let mut rest = rows.as_slice();
                    for &id in ids {
                        rest = rest.get(from(id, rest)..).unwrap_or_default();
                        let end = rest.iter().take_while(|row| row.context == id).count();
                        push(rest.get(..end).unwrap_or_default());
                    }
                }
            }
            self.limits.answer("the answer", out.len() as u64 * SliceColumns::ROW_BYTES)?;
        }
        Ok(out)
    }

    fn estimate(&self, request: &SliceRequest) -> Result<(Plan, u64), StoreError> {
        let rows = request.locations.iter().filter_map(|location| self.rows.get(location.idx()));
        Ok((Plan::LocationMajor, rows.map(|rows| rows.len() as u64).sum()))
    }
}
