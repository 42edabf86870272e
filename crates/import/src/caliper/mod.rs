//! Profiles of Caliper as experiments.
//!
//! Nested regions and call paths are contexts, ranks and threads locations. What Caliper added up
//! over ranks is a location of its own, with the mean of the ranks.

mod metrics;
mod tree;

use std::collections::BTreeMap;
use std::sync::Arc;

use parallax_base::{Issues, Limits, Place, Severity, Source, Stage};
use parallax_formats::caliper::{CaliperProfile, Record, read_caliper};
use parallax_model::{Experiment, IdentityKind, LocationCatalogBuilder, Metadata};

use crate::ImportError;
use crate::memory_store::{MemoryStore, Row, sorted};
use metrics::Columns;
use tree::Tree;

/// Name of the fact that says over how many ranks the values of the only location are means.
pub const RANKS_IN_MEAN: &str = "Ranks in the mean";

/// Rank and thread.
type Identity = (Option<u64>, u64);

/// Opens one file.
pub(crate) fn open_file(
    source: &Source,
    name: &str,
    limits: &Limits,
) -> Result<Experiment, ImportError> {
    let mut issues = Issues::new();
    let profile = read_caliper(&**source, name, limits, &mut issues)
        .map_err(|cause| ImportError::Format { origin: name.to_owned(), cause })?;
    let columns = Columns::of(&profile);
    columns.say_unused(&mut issues);
    let tree = Tree::of(&profile, limits);
    let ranks = columns.ranks_added_up(&profile);
    if let Some(ranks) = ranks {
        issues.report(Severity::Note, Stage::Import, "ranks-added-up", Place::Whole, || {
            format!(
                "Caliper added up {ranks} ranks: values are means over them, and nothing is known \
                 of a single rank"
            )
        });
    }

    let mut by_location: BTreeMap<Identity, Vec<&Record>> = BTreeMap::new();
    for record in &profile.records {
        if columns.has_metric(record) {
            by_location.entry(columns.identity(record)).or_default().push(record);
        }
    }
    // What no rank measured, such as sums over all of them, is no location beside ranks.
    if by_location.keys().any(|(rank, _)| rank.is_some()) {
        by_location.retain(|(rank, _), _| rank.is_some());
    }
    let mut rows: Vec<Vec<Row>> = vec![Vec::new()];
    for records in by_location.values() {
        let mut own = columns.values(records, &tree, ranks.unwrap_or(1.0));
        columns.complete(&mut own, &tree);
        rows.push(sorted(own));
    }
    let summary = sorted(rows.iter().flatten().copied().collect());
    let mut locations = LocationCatalogBuilder::new();
    locations.push_summary(summary.len() as u64);
    for ((rank, thread), rows) in by_location.keys().zip(rows.iter().skip(1)) {
        // A mean over ranks is no rank.
        let rank = (rank.is_some() || ranks.is_none()).then(|| rank.unwrap_or(0));
        let rank = rank.map(|rank| (IdentityKind::Rank, rank));
        let identity = rank.into_iter().chain([(IdentityKind::Thread, *thread)]);
        locations.push(identity, rows.len() as u64);
        if let Some(ranks) = ranks {
            locations.name(format!("mean of {ranks} ranks"));
        }
    }
    if let Some(first) = rows.first_mut() {
        *first = summary;
    }
    Ok(Experiment {
        metadata: metadata(&profile, name, ranks),
        contexts: tree.contexts,
        metrics: columns.catalog(),
        locations: locations.finish(),
        profiles: Some(Arc::new(MemoryStore::new(rows, *limits))),
        traces: None,
        events: None,
        activations: None,
        sources: None,
        issues,
    })
}

/// What is known of the run; its title is the executable, if the file names one.
fn metadata(profile: &CaliperProfile, origin: &str, ranks: Option<f64>) -> Metadata {
    let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let global = |name: &str| {
        let found = profile.globals.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    };
    let title = global("executable").or_else(|| global("executablepath"));
    let mut facts = profile.globals.clone();
    facts.extend(ranks.map(|ranks| (RANKS_IN_MEAN.to_owned(), ranks.to_string())));
    Metadata {
        title: base(title.unwrap_or(origin)),
        format: "Caliper profile".to_owned(),
        origin: origin.to_owned(),
        facts,
        ..Metadata::default()
    }
}
