//! Profiles of TAU, and of workflows that TAU measured, as experiments.
//!
//! TAU keeps names and values in the same file, so opening reads them whole and values stay in
//! memory, a few bytes for each.

pub(crate) mod addresses;
mod catalog;
mod place;
mod recorded;
mod tree;
mod values;
mod workflow;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parallax_base::{Folder, Issues, Limits, Source};
use parallax_formats::FormatError;
use parallax_formats::tau::{
    Facts, METRIC_FOLDER, Profiles, Workflow, fact, read_folder, read_packed, thread_of_name,
};
use parallax_model::{Experiment, Metadata, ProfileStore};

use crate::ImportError;

/// The folder of an experiment, for the path of one of its profiles.
pub(crate) fn folder_of(path: &str) -> Option<&str> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    thread_of_name(name)?;
    let (above, metric) = folder.rsplit_once('/').unwrap_or(("", folder));
    Some(if metric.starts_with(METRIC_FOLDER) { above } else { folder })
}

/// One set of profiles that becomes a part of an experiment.
struct Group {
    /// The component of a workflow; `None` for an experiment of one application.
    component: Option<String>,
    profiles: Profiles,
}

/// Opens a folder of profiles.
pub(crate) fn open_folder(
    folder: &Arc<dyn Folder>,
    limits: &Limits,
) -> Result<Experiment, ImportError> {
    let origin = folder.name().to_owned();
    let mut issues = Issues::new();
    let profiles = read_folder(&**folder, limits, &mut issues)
        .map_err(|cause| ImportError::Format { origin: origin.clone(), cause })?;
    let metadata = metadata(&profiles, "TAU profiles", &origin);
    let group = Group { component: None, profiles };
    let mut experiment = experiment(vec![group], metadata, limits, issues, &origin)?;
    experiment.sources = Some(Arc::clone(folder));
    Ok(experiment)
}

/// Opens the profile of a workflow.
pub(crate) fn open_workflow(
    source: &Source,
    name: &str,
    limits: &Limits,
) -> Result<Experiment, ImportError> {
    let mut issues = Issues::new();
    let fail = |cause: FormatError| ImportError::Format { origin: name.to_owned(), cause };
    let read = Workflow::read(&**source, name, limits, &mut issues).map_err(fail)?;
    let metadata = workflow::metadata(&read, name);
    experiment(workflow::groups(read), metadata, limits, issues, name)
}

/// Opens a packed profile.
pub(crate) fn open_packed(
    source: &Source,
    name: &str,
    limits: &Limits,
) -> Result<Experiment, ImportError> {
    let mut issues = Issues::new();
    let fail = |cause: FormatError| ImportError::Format { origin: name.to_owned(), cause };
    let profiles = read_packed(&**source, name, limits, &mut issues).map_err(fail)?;
    let metadata = metadata(&profiles, "TAU packed profile", name);
    experiment(vec![Group { component: None, profiles }], metadata, limits, issues, name)
}

fn experiment(
    mut groups: Vec<Group>,
    mut metadata: Metadata,
    limits: &Limits,
    mut issues: Issues,
    origin: &str,
) -> Result<Experiment, ImportError> {
    for group in &mut groups {
        addresses::align(&mut group.profiles, &mut issues);
    }
    metadata.recorded = recorded::recorded(&groups);
    let tree = tree::Tree::of(&groups, limits, &mut issues)
        .map_err(|cause| FormatError::Limit { file: origin.to_owned(), cause })
        .map_err(|cause| ImportError::Format { origin: origin.to_owned(), cause })?;
    let catalog = catalog::Catalog::of(&groups, &tree, &mut issues);
    let (store, locations) = values::read(&groups, &tree, &catalog, *limits, &mut issues);
    Ok(Experiment {
        metadata,
        contexts: tree.contexts,
        metrics: catalog.metrics,
        locations,
        profiles: Some(Arc::new(store) as Arc<dyn ProfileStore>),
        traces: None,
        events: None,
        activations: None,
        sources: None,
        issues,
    })
}

/// What is known of the execution: what all threads say, and what they say differently.
fn metadata(profiles: &Profiles, format: &str, origin: &str) -> Metadata {
    let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let first = |name: &str| {
        let own = profiles.threads.first().and_then(|thread| fact(&thread.metadata, name));
        fact(&profiles.metadata, name).or(own)
    };
    let command = first("Command Line").and_then(|line| line.split_whitespace().next());
    let title = first("Executable").or(command).map(base).filter(|title| !title.is_empty());
    Metadata {
        title: title.unwrap_or_else(|| base(origin)),
        format: format.to_owned(),
        origin: origin.to_owned(),
        facts: facts(profiles),
        ..Metadata::default()
    }
}

/// Distinct values of a fact that are shown.
const SHOWN: usize = 4;

/// The values of a fact in the threads.
#[derive(Default)]
struct Values<'p> {
    /// Those that are shown, as they come.
    first: Vec<&'p str>,
    all: HashSet<&'p str>,
}

/// Facts by name; where threads differ, their first values.
fn facts(profiles: &Profiles) -> Facts {
    let mut out = profiles.metadata.clone();
    let mut order: Vec<&str> = Vec::new();
    let mut values: HashMap<&str, Values<'_>> = HashMap::new();
    for (name, value) in profiles.threads.iter().flat_map(|thread| &thread.metadata) {
        let known = values.entry(name).or_insert_with(|| {
            order.push(name);
            Values::default()
        });
        if known.all.insert(value) && known.first.len() < SHOWN {
            known.first.push(value);
        }
    }
    for name in order {
        let known = values.remove(name).unwrap_or_default();
        let more = match known.all.len() - known.first.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        out.push((name.to_owned(), format!("{}{more}", known.first.join(", "))));
    }
    out
}
