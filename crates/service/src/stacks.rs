//! What each location spends on what.

use std::collections::HashMap;

use parallax_base::{ContextIdx, Control, LocationIdx, Remedy};
use parallax_engine::query::{QueryError, parse_metrics};
use parallax_engine::resolve::resolve_metric;
use parallax_engine::{EngineError, LocationChoice};
use parallax_model::{
    ContextChoice, ContextKind, ContextTree, MetricChoice, Plan, Scope, SliceRequest,
};
use parallax_protocol::{
    Answer, StackLocationTable, StackTable, StacksReply, StacksRequest, StacksTables, TimelineBy,
};

use crate::options::{NO_HELPERS, identities, locations};
use crate::{Answers, OpenExperiment, ServiceError};

/// The name of the parts that are not distinguished.
const OTHERS: &str = "(others)";

impl Answers<StacksRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &StacksRequest,
        control: &Control,
    ) -> Result<Answer<StacksRequest>, ServiceError> {
        let session = &self.session;
        let x = session.experiment();
        let tree = session.tree();
        let mut notes = Vec::new();
        let mut reason = None;
        let metric = match request.metric.as_deref() {
            Some(text) => resolve_metric(&x.metrics, &parse_metrics(text)?)?,
            None => {
                let default = session.default_metric(control)?;
                reason = default.reason;
                default.metric
            }
        };
        let described = x.metrics.get(metric);
        let Some(instance) = described.id_in(&Scope::Exclusive) else {
            let name = &described.name;
            let message = format!("{name} has no exclusive values");
            return Err(QueryError::unknown_name(name, name, message)
                .with_hint(format!("choose a metric with exclusive values; {}", Remedy::SeeMetrics))
                .into());
        };
        let chosen = locations(session, request.profiles.as_deref(), &mut notes)?;
        let mut rows: Vec<LocationIdx> = match chosen {
            LocationChoice::All => x.locations.iter().collect(),
            LocationChoice::Some(list) => list,
        };
        rows.retain(|&location| Some(location) != x.locations.summary());
        let row_of: HashMap<u32, usize> =
            rows.iter().enumerate().map(|(row, location)| (location.get(), row)).collect();
        let (part_of, names) = parts(tree, request.by);
        let helpers = if request.helpers { None } else { Some(self.helpers()) };
        let mut is_helper = vec![false; rows.len()];
        let mut sums: Vec<HashMap<u32, f64>> = vec![HashMap::new(); rows.len()];
        let mut totals = vec![0.0; names.len()];
        let slice = SliceRequest {
            locations: rows.clone(),
            contexts: ContextChoice::Ids(ids(tree, &part_of)),
            metrics: MetricChoice::Ids { values: vec![instance], statistics: Vec::new() },
            plan: Plan::Cheapest,
        };
        session.slice_in_parts(&slice, control, |columns| {
            for ((location, &id), &value) in
                columns.location.iter().zip(&columns.context).zip(&columns.value)
            {
                let Some(context) = tree.by_source_id(id) else { continue };
                let Some(&Some(part)) = part_of.get(context.idx()) else { continue };
                let row = row_of.get(location).copied();
                if helpers.is_some_and(|helpers| helpers.has(context)) {
                    if let Some(flag) = row.and_then(|row| is_helper.get_mut(row)) {
                        *flag |= value > 0.0;
                    }
                    continue;
                }
                let row = row.and_then(|row| sums.get_mut(row));
                if let (Some(row), true) = (row, value.is_finite()) {
                    *row.entry(part).or_insert(0.0) += value;
                    if let Some(total) = totals.get_mut(part as usize) {
                        *total += value;
                    }
                }
            }
        })?;
        control.check().map_err(EngineError::from)?;
        // Without the locations on which nothing but helpers ran.
        let num_locations = rows.len();
        let found = rows.into_iter().zip(sums).zip(is_helper);
        let kept = found.filter(|((_, own), is_helper)| !is_helper || !own.is_empty());
        let (rows, sums): (Vec<LocationIdx>, Vec<HashMap<u32, f64>>) =
            kept.map(|(kept, _)| kept).unzip();
        let excluded = (num_locations - rows.len()) as u64;
        let helpers = (excluded > 0).then(|| {
            let locations = if excluded == 1 { "location" } else { "locations" };
            format!("{NO_HELPERS}: {excluded} {locations}.")
        });
        let (place_of, shown) = ranked(&totals, &names, request.top as usize);
        let width = shown.len();
        let mut stack = vec![0.0; width * rows.len()];
        let mut total = vec![0.0; rows.len()];
        for (row, own) in sums.iter().enumerate() {
            let mut own: Vec<(&u32, &f64)> = own.iter().collect();
            // In a fixed order, so that sums are the same every time.
            own.sort_by_key(|(part, _)| **part);
            for (&part, value) in own {
                let place = place_of.get(part as usize).copied().flatten();
                let cell = place.and_then(|place| stack.get_mut(row * width + place));
                if let (Some(cell), Some(total)) = (cell, total.get_mut(row)) {
                    *cell += value;
                    *total += value;
                }
            }
        }
        if width == 0 && notes.is_empty() {
            notes.push("No values at these locations.".into());
        }
        let unit = described.unit.to_string();
        let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let cells = (0..rows.len()).flat_map(|row| (0..width).map(move |part| (row, part)));
        let (location, part): (Vec<u32>, Vec<u32>) =
            cells.map(|(row, part)| (number(row), number(part))).unzip();
        let locations = StackLocationTable {
            location: rows.iter().map(|location| location.get()).collect(),
            label: rows.iter().map(|&location| x.locations.label(location)).collect(),
            total,
            identities: identities(&x.locations, &rows),
        };
        let reply = StacksReply {
            metric: described.name.to_string(),
            unit: unit.clone(),
            reason,
            parts: shown,
            helpers,
            notes,
        };
        let stack = StackTable { location, part, value: stack };
        Ok(Answer { unit, ..Answer::new(reply, StacksTables { locations, stack }) })
    }
}

/// For each context that stands for a call its part; and the names of the parts.
fn parts(tree: &ContextTree, by: TimelineBy) -> (Vec<Option<u32>>, Vec<String>) {
    let mut known: HashMap<String, u32> = HashMap::new();
    let mut names = Vec::new();
    let part = |context: ContextIdx| {
        let context = tree.caller_of_unnamed(context).unwrap_or(context);
        if tree.kind(context) != ContextKind::Function {
            return None;
        }
        let group = || {
            let function = tree.function(context).and_then(|f| tree.functions().get(f.idx()))?;
            function.group.as_deref().filter(|group| !group.is_empty()).map(str::to_owned)
        };
        let name = match by {
            TimelineBy::Function => tree.label(context),
            TimelineBy::Group => group().unwrap_or_else(|| "(no group)".to_owned()),
        };
        Some(*known.entry(name).or_insert_with_key(|name| {
            names.push(name.clone());
            u32::try_from(names.len() - 1).unwrap_or(u32::MAX)
        }))
    };
    let part_of = tree.iter().map(part).collect();
    (part_of, names)
}

/// Ids of the contexts that have a part, ascending.
fn ids(tree: &ContextTree, part_of: &[Option<u32>]) -> Vec<u32> {
    let own = tree.iter().zip(part_of).filter(|(_, part)| part.is_some());
    let mut ids: Vec<u32> = own.map(|(context, _)| tree.source_id(context)).collect();
    ids.sort_unstable();
    ids
}

/// Where each part goes, and what is shown there: the `top` most expensive ones, then the others
/// together.
fn ranked(totals: &[f64], names: &[String], top: usize) -> (Vec<Option<usize>>, Vec<String>) {
    let mut order: Vec<usize> = (0..totals.len()).filter(|&part| totals[part] != 0.0).collect();
    order.sort_by(|&a, &b| totals[b].total_cmp(&totals[a]).then(a.cmp(&b)));
    let num_shown = if order.len() > top { top } else { order.len() };
    let mut place_of = vec![None; totals.len()];
    for (place, &part) in order.iter().enumerate() {
        place_of[part] = Some(place.min(num_shown));
    }
    let mut shown: Vec<String> =
        order.iter().take(num_shown).filter_map(|&part| names.get(part).cloned()).collect();
    if order.len() > num_shown {
        shown.push(OTHERS.to_owned());
    }
    (place_of, shown)
}
