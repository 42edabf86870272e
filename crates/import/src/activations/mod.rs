//! From single calls to an experiment: what every source of activations has in common.
//!
//! An importer reads rows or events of its format into an `ActivationTreeBuilder` and the tables of
//! a [`Program`]; contexts, touches, sums and tracks are made here.

mod contexts;
mod numbers;
mod profile;
mod touches;
mod traces;

use std::sync::Arc;

use parallax_base::casts::saturated_u64;
use parallax_base::paged::{Numbers, Paging};
use parallax_base::{ActivationIdx, Issues, Limits, Place, Severity, Source, Stage};
use parallax_formats::FormatError;
use parallax_model::{
    ActivationTree, Activations, Clock, ContextTree, Experiment, LocationCatalog, Metadata,
    ProfileStore, References, SyncEvent, Tag, Thread, Touches, TraceStore,
};

pub(crate) use contexts::{LoopSite, Program, build as build_contexts};
pub(crate) use numbers::NumberMap;
pub(crate) use touches::{Access, TouchCollector};

use crate::ImportError;

/// The sink of issues with the file they are about.
pub(crate) struct Reporter<'a> {
    pub(crate) file: &'a str,
    pub(crate) issues: &'a mut Issues,
}

impl Reporter<'_> {
    /// Reports `count` faults of a kind; nothing for none.
    pub(crate) fn many(
        &mut self,
        severity: Severity,
        kind: &'static str,
        count: u64,
        message: impl FnOnce() -> String,
    ) {
        if count > 0 {
            let place = Place::File { file: self.file.to_owned() };
            self.issues.report_many(severity, Stage::Import, kind, place, count, message);
        }
    }

    /// Reports activations that lost their parent.
    pub(crate) fn cut(&mut self, count: u64) {
        self.many(Severity::Error, "caller-cycle", count, || {
            "a call, loop or iteration is among its own callers; it is shown without a caller"
                .to_owned()
        });
    }
}

/// A column by number of push as one by position in the tree.
pub(crate) fn by_position(
    mut column: Numbers<u32>,
    position: &Numbers<ActivationIdx>,
    paging: &Paging,
) -> Numbers<u32> {
    let mut out = Numbers::filled(paging, column.len(), u32::MAX);
    for (number, at) in position.iter().enumerate() {
        out.set(at.idx(), column.at(number));
    }
    out
}

/// Where what is made of a file is kept.
pub(crate) fn paging(source: &Source, limits: &Limits) -> Paging {
    Paging::new(limits.paged_bytes, source.scratch())
}

/// Whether everything that was put out of memory could be had again.
pub(crate) fn check(paging: &Paging, file: &str) -> Result<(), FormatError> {
    paging.check().map_err(|cause| FormatError::Scratch { file: file.to_owned(), cause })
}

/// The experiment that `read` makes, with the issues that it met.
pub(crate) fn with_issues(
    name: &str,
    read: impl FnOnce(&mut Issues) -> Result<Experiment, FormatError>,
) -> Result<Experiment, ImportError> {
    let mut issues = Issues::new();
    let mut experiment = read(&mut issues)
        .map_err(|cause| ImportError::Format { origin: name.to_owned(), cause })?;
    experiment.issues = issues;
    Ok(experiment)
}

/// The first activation of each thread that has no parent.
pub(crate) fn entries(tree: &ActivationTree, num_threads: usize) -> Vec<Option<ActivationIdx>> {
    let mut entries = vec![None; num_threads];
    for root in tree.roots() {
        if let Some(slot) = entries.get_mut(tree.thread(root).idx()) {
            slot.get_or_insert(root);
        }
    }
    entries
}

/// Nanoseconds of a tick; before the first known one it is 0.
pub(crate) fn nanos(clock: &Clock, ticks: u64) -> u64 {
    let since = ticks.saturating_sub(clock.origin_ticks) as f64;
    // Saturates for times that damaged files claim.
    saturated_u64((since * 1e9 / clock.ticks_per_second).round())
}

/// Everything of a run but its threads.
pub(crate) struct Run {
    /// Its times are ticks of `clock`.
    pub(crate) tree: ActivationTree,
    pub(crate) contexts: ContextTree,
    pub(crate) references: References,
    pub(crate) touches: Touches,
    pub(crate) syncs: Vec<SyncEvent>,
    pub(crate) tags: Vec<Tag>,
    pub(crate) clock: Clock,
    pub(crate) num_threads: usize,
}

/// The experiment of a run. `threads` makes the threads and their locations from the tree, whose
/// times are nanoseconds by then, and the number of values of the summary and of each thread.
pub(crate) fn experiment(
    run: Run,
    mut metadata: Metadata,
    limits: &Limits,
    threads: impl FnOnce(&ActivationTree, &[u64]) -> (Vec<Thread>, LocationCatalog),
) -> Experiment {
    let Run { mut tree, contexts, references, touches, syncs, tags, clock, num_threads } = run;
    let rate = clock.ticks_per_second;
    let (profiles, num_values) =
        profile::build(&tree, &contexts, &touches, num_threads, rate, *limits);
    tree.map_times(|ticks| nanos(&clock, ticks));
    let (threads, locations) = threads(&tree, &num_values);
    let activations =
        Arc::new(Activations { tree, threads, references, touches, syncs, tags, clock });
    let traces = traces::Traces::new(&activations, &contexts);
    let note = if clock.is_assumed { " (assumed: no thread says its times)" } else { "" };
    let fact = format!("{:.6} GHz{note}", rate / 1e9);
    metadata.facts.push(("time stamp counter".to_owned(), fact));
    Experiment {
        metadata,
        contexts,
        metrics: profile::metrics(),
        locations,
        profiles: Some(Arc::new(profiles) as Arc<dyn ProfileStore>),
        traces: Some(Arc::new(traces) as Arc<dyn TraceStore>),
        events: None,
        activations: Some(activations),
        sources: None,
        issues: Issues::new(),
    }
}
