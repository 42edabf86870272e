//! Profiles of Callgrind and Cachegrind as experiments.
//!
//! The files have a call graph; the model wants a calling context tree. How one becomes the other,
//! and what of it is an estimate, is in the `FORMAT.md` of `formats::callgrind`. In short: what a
//! function costs itself is exact; how that divides among its callers is an estimate wherever a
//! function has several, by what the calls from each of them cost.

mod contexts;
mod expand;
mod graph;
mod locations;
mod share;
mod table;

use std::sync::Arc;

use parallax_base::{Folder, Issues, Limits, ReadError, Source};
use parallax_formats::FormatError;
use parallax_formats::callgrind::{CallgrindProfile, command, is_callgrind, read_callgrind};
use parallax_model::{Experiment, Metadata, ProfileStore};

use crate::ImportError;
use crate::memory_store::MemoryStore;

/// What one context costs in memory, about.
const NODE_BYTES: u64 = 256;

/// The command line of the program that a profile is of, from its head; empty where it does not say
/// so, `None` when the file is no profile.
pub(crate) fn command_of(source: &Source) -> Option<String> {
    is_callgrind(&**source).then(|| command(&**source).unwrap_or_default())
}

/// The profiles of a folder, those with short names first: ranks and threads are numbers at the end.
fn profiles_in(folder: &dyn Folder) -> Result<Vec<(String, Source)>, ReadError> {
    let mut entries = folder.entries()?;
    entries.sort_by_key(|entry| (entry.path.len(), entry.path.clone()));
    let mut profiles = Vec::new();
    for entry in entries {
        let source = folder.open(&entry.path)?;
        let profile = source.filter(|source| is_callgrind(&**source));
        profiles.extend(profile.map(|source| (entry.path, source)));
    }
    Ok(profiles)
}

/// Opens all profiles of a folder as one experiment: the threads and processes of one run.
pub(crate) fn open_folder(
    folder: &Arc<dyn Folder>,
    limits: &Limits,
) -> Result<Experiment, ImportError> {
    let origin = folder.name().to_owned();
    let mut issues = Issues::new();
    let mut read = Vec::new();
    let fail = |cause| ImportError::Folder { origin: origin.clone(), cause };
    for (path, source) in profiles_in(&**folder).map_err(fail)? {
        let profile = read_callgrind(&*source, &path, limits, &mut issues)
            .map_err(|cause| ImportError::Format { origin: origin.clone(), cause })?;
        read.push(profile);
    }
    let mut experiment = experiment(&read, &origin, limits, issues)?;
    experiment.sources = Some(Arc::clone(folder));
    Ok(experiment)
}

/// Opens one profile.
pub(crate) fn open_file(
    source: &Source,
    name: &str,
    limits: &Limits,
) -> Result<Experiment, ImportError> {
    let mut issues = Issues::new();
    let read = read_callgrind(&**source, name, limits, &mut issues)
        .map_err(|cause| ImportError::Format { origin: name.to_owned(), cause })?;
    experiment(&[read], name, limits, issues)
}

fn experiment(
    profiles: &[CallgrindProfile],
    origin: &str,
    limits: &Limits,
    mut issues: Issues,
) -> Result<Experiment, ImportError> {
    let table = table::Table::of(profiles);
    let graph = graph::Graph::of(&table);
    let expanded = expand::expand(&table, &graph, limits, &mut issues);
    let bytes = expanded.nodes.len() as u64 * (NODE_BYTES + table.columns() as u64 * 16);
    limits
        .metadata("the calling context tree", bytes)
        .map_err(|cause| FormatError::Limit { file: origin.to_owned(), cause })
        .map_err(|cause| ImportError::Format { origin: origin.to_owned(), cause })?;
    let contexts::Made { contexts, rows } = contexts::make(&table, &graph, &expanded, &mut issues);
    let locations = locations::catalog(&table, &rows);
    Ok(Experiment {
        metadata: metadata(profiles, origin),
        contexts,
        metrics: locations::metrics(&table),
        locations,
        profiles: Some(Arc::new(MemoryStore::new(rows, *limits)) as Arc<dyn ProfileStore>),
        traces: None,
        events: None,
        activations: None,
        sources: None,
        issues,
    })
}

fn metadata(profiles: &[CallgrindProfile], origin: &str) -> Metadata {
    let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let first = profiles.first();
    let command = first.map_or("", |profile| profile.command.as_str());
    let creator = first.map_or("", |profile| profile.creator.as_str());
    let title = command.split_whitespace().next().map(base).filter(|title| !title.is_empty());
    let is_flat = profiles.iter().flat_map(|p| &p.parts).all(|part| part.calls.is_empty());
    let tool = if creator.is_empty() && is_flat { "Cachegrind" } else { "Callgrind" };
    let mut facts = Vec::new();
    let mut fact = |name: &str, value: &str| {
        let pair = (name.to_owned(), value.to_owned());
        if !value.is_empty() && !facts.contains(&pair) {
            facts.push(pair);
        }
    };
    fact("Command Line", command);
    fact("Creator", creator);
    for part in profiles.iter().flat_map(|profile| &profile.parts) {
        if let Some(process) = part.process {
            fact("Process", &process.to_string());
        }
        for (name, value) in &part.descriptions {
            fact(name, value);
        }
    }
    Metadata {
        title: title.unwrap_or_else(|| base(origin)),
        format: format!("{tool} profile"),
        origin: origin.to_owned(),
        facts,
        ..Metadata::default()
    }
}
