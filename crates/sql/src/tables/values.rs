//! `values` and `summary`: measured values, by slices.

use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Result;
use parallax_base::{Control, LocationIdx};
use parallax_model::{ContextChoice, MetricChoice, Plan, SliceRequest};
use parallax_protocol::{LocationValueTable, SummaryValueTable, TypedTable as _};
use parallax_service::OpenExperiment;

use super::{by_location, failed, parts};
use crate::bridge;
use crate::filters::Wanted;
use crate::numbers::Numbers;
use crate::scan::{Batches, Rows};

/// Which contexts a slice covers, by their ids in the database.
fn contexts(opened: &OpenExperiment, wanted: &Numbers) -> ContextChoice {
    if wanted.is_all() {
        return ContextChoice::Tree;
    }
    let ids = opened.session().tree().source_ids().iter().copied();
    let mut ids: Vec<u32> = ids.filter(|&id| wanted.contains(id.into())).collect();
    ids.sort_unstable();
    ContextChoice::Ids(ids)
}

/// Values of locations.
pub(super) struct Values(pub(super) Arc<OpenExperiment>);

impl Values {
    fn request(&self, wanted: &Wanted) -> SliceRequest {
        let x = self.0.session().experiment();
        let (locations, metrics) = (wanted.of("profile_id"), wanted.of("metric_id"));
        let mut ids: Vec<u16> = x
            .metrics
            .iter()
            .flat_map(|(_, metric)| &metric.instances)
            .map(|instance| instance.id)
            .filter(|&id| metrics.contains(id.into()))
            .collect();
        ids.sort_unstable();
        ids.dedup();
        let mut rows: Vec<LocationIdx> =
            x.locations.iter().filter(|row| locations.contains(row.get().into())).collect();
        rows.sort_unstable();
        SliceRequest {
            locations: rows,
            contexts: contexts(&self.0, &wanted.of("context_id")),
            metrics: match metrics.is_all() {
                true => MetricChoice::All,
                false => MetricChoice::Ids { values: ids, statistics: Vec::new() },
            },
            plan: Plan::Cheapest,
        }
    }
}

/// Whether a slice has no rows, whatever the files hold: ids that there are not were asked for.
fn is_nothing(request: &SliceRequest) -> bool {
    let has_contexts = match &request.contexts {
        ContextChoice::Ids(ids) => !ids.is_empty(),
        ContextChoice::Tree | ContextChoice::Nodes | ContextChoice::Stored => true,
    };
    let has_metrics = match &request.metrics {
        MetricChoice::Ids { values, statistics } => !(values.is_empty() && statistics.is_empty()),
        MetricChoice::All => true,
    };
    request.locations.is_empty() || !has_contexts || !has_metrics
}

/// The number of rows that a slice has at most.
fn estimate(opened: &OpenExperiment, request: &SliceRequest) -> Option<u64> {
    if is_nothing(request) {
        return Some(0);
    }
    opened.session().profiles().ok()?.estimate(request).ok().map(|(_, rows)| rows)
}

impl Rows for Values {
    fn name(&self) -> &'static str {
        "values"
    }

    fn schema(&self) -> SchemaRef {
        bridge::schema(&LocationValueTable::SCHEMA)
    }

    fn keys(&self) -> (&'static [&'static str], &'static [&'static str]) {
        (&["profile_id", "context_id", "metric_id"], &[])
    }

    fn order(&self) -> &'static [&'static str] {
        &["profile_id", "context_id", "metric_id"]
    }

    fn estimate(&self, wanted: &Wanted) -> Option<u64> {
        estimate(&self.0, &self.request(wanted))
    }

    fn cut(&self, wanted: &Wanted, most: usize, rows: u64) -> Vec<Wanted> {
        let mut request = self.request(wanted);
        if is_nothing(&request) {
            return vec![wanted.clone()];
        }
        let Ok(store) = self.0.session().profiles() else { return vec![wanted.clone()] };
        match store.estimate(&request) {
            Ok((Plan::LocationMajor, whole)) if most > 1 && whole / rows.max(1) > 1 => {}
            // In order of contexts each part would look at all blocks.
            _ => return vec![wanted.clone()],
        }
        request.plan = Plan::LocationMajor;
        let locations = std::mem::take(&mut request.locations);
        let of_one = |location: LocationIdx| {
            request.locations.clear();
            request.locations.push(location);
            (location, store.estimate(&request).map_or(0, |(_, rows)| rows))
        };
        let each: Vec<_> = locations.into_iter().map(of_one).collect();
        by_location(wanted, &each, most, rows)
    }

    fn read(self: Arc<Self>, wanted: &Wanted, most: usize, control: &Control) -> Result<Batches> {
        let request = self.request(wanted);
        if is_nothing(&request) {
            return Ok(Box::new(std::iter::empty()));
        }
        let rows = estimate(&self.0, &request).unwrap_or_default();
        let (schema, control) = (self.schema(), control.clone());
        let parts = parts(&request.locations, rows, most);
        let read = move |locations: Arc<[LocationIdx]>| -> Result<RecordBatch> {
            let part = SliceRequest { locations: locations.to_vec(), ..request.clone() };
            let values = self.0.value_relation(&part, &control).map_err(failed)?;
            bridge::batch_of(&values.into_table(), &schema)
        };
        Ok(Box::new(parts.into_iter().map(read)))
    }
}

/// Values of the summary over all locations.
pub(super) struct Summary(pub(super) Arc<OpenExperiment>);

impl Summary {
    fn request(&self, wanted: &Wanted) -> SliceRequest {
        let x = self.0.session().experiment();
        let chosen = wanted.of("statistic_id");
        let mut statistics: Vec<u16> = x
            .metrics
            .iter()
            .flat_map(|(_, metric)| &metric.statistics)
            .map(|statistic| statistic.id)
            .filter(|&id| chosen.contains(id.into()))
            .collect();
        statistics.sort_unstable();
        statistics.dedup();
        SliceRequest {
            locations: x.locations.summary().into_iter().collect(),
            contexts: contexts(&self.0, &wanted.of("context_id")),
            metrics: match chosen.is_all() {
                true => MetricChoice::All,
                false => MetricChoice::Ids { values: Vec::new(), statistics },
            },
            plan: Plan::Cheapest,
        }
    }
}

impl Rows for Summary {
    fn name(&self) -> &'static str {
        "summary"
    }

    fn schema(&self) -> SchemaRef {
        bridge::schema(&SummaryValueTable::SCHEMA)
    }

    fn keys(&self) -> (&'static [&'static str], &'static [&'static str]) {
        (&["context_id", "statistic_id"], &[])
    }

    fn order(&self) -> &'static [&'static str] {
        &["context_id", "statistic_id"]
    }

    fn estimate(&self, wanted: &Wanted) -> Option<u64> {
        estimate(&self.0, &self.request(wanted))
    }

    fn read(self: Arc<Self>, wanted: &Wanted, _: usize, control: &Control) -> Result<Batches> {
        let (request, schema, control) = (self.request(wanted), self.schema(), control.clone());
        if is_nothing(&request) {
            return Ok(Box::new(std::iter::empty()));
        }
        let read = move |()| -> Result<RecordBatch> {
            let values = self.0.value_relation(&request, &control).map_err(failed)?;
            let summary = SummaryValueTable {
                context_id: values.context_id,
                statistic_id: values.metric_id,
                value: values.value,
            };
            bridge::batch_of(&summary.into_table(), &schema)
        };
        Ok(Box::new(std::iter::once(()).map(read)))
    }
}
