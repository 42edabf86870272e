//! Recordings of the project's own runtime (`crates/measure`) as experiments.

mod blocks;
mod merge;
mod references;
mod run;

use parallax_base::casts::saturated_i64;
use parallax_base::paged::Numbers;
use parallax_base::{ActivationIdx, Issues, Limits, Severity, Source};
use parallax_formats::FormatError;
use parallax_formats::plxm::{Recording, is_recording};
use parallax_model::{
    ActivationTree, Clock, Creator, Experiment, IdentityKind, LOCALS_NOT_RECORDED,
    LOOPS_NOT_RECORDED, LocationCatalog, LocationCatalogBuilder, Metadata, Reference, References,
    Site, SyncEvent, Thread,
};

use self::blocks::{Functions, find_loops};
use self::merge::{Merge, Overview};
use self::references::{Draft, PushedSite};
use self::run::{Places, Run};
use crate::ImportError;
use crate::activations::{self, Reporter, by_position, nanos};

/// Packed bytes that a call, execution or iteration takes while the tree is built, about.
const ACTIVATION_BYTES: u64 = 64;

/// Whether a file is a recording.
pub(crate) fn is_file(source: &Source) -> bool {
    is_recording(&**source)
}

/// Opens a file that [`is_file`] knows.
pub(crate) fn open_file(
    source: &Source,
    name: &str,
    limits: &Limits,
) -> Result<Experiment, ImportError> {
    activations::with_issues(name, |issues| read(source, name, limits, issues))
}

fn read(
    source: &Source,
    name: &str,
    limits: &Limits,
    issues: &mut Issues,
) -> Result<Experiment, FormatError> {
    let recording = Recording::open(Source::clone(source), name, limits, issues)?;
    let functions = Functions::new(&recording);
    let overview = Overview::read(&recording, &functions, issues)?;
    let loops = find_loops(&overview.graph, &recording);
    let num_activations = overview.num_activations.saturating_add(loops.num_activations);
    limits
        .metadata("the calls and loops", num_activations.saturating_mul(ACTIVATION_BYTES))
        .map_err(|cause| FormatError::Limit { file: name.to_owned(), cause })?;
    let places = Places::new(&recording, functions, &loops);
    let paging = activations::paging(source, limits);
    let mut run = Run::new(&recording, &overview, (&places, &loops), (limits, &paging));
    let mut merge = Merge::new(&recording, &overview)?;
    while let Some((thread, event)) = merge.next()? {
        run.take(thread, event, merge.counts(thread));
    }
    let mut report = Reporter { file: name, issues };
    run.finish(&mut report);
    report.many(Severity::Warning, "recording-cut", u64::from(recording.is_cut), || {
        "the recording reached its largest size and ended before the program; \
         PARALLAX_LIMIT_MB allows more"
            .to_owned()
    });

    report.many(Severity::Warning, "addresses-unnamed", recording.addresses.len() as u64, || {
        "a function or line is known by its address only: names are looked up when the program \
         ends, or later where the program still is as it was"
            .to_owned()
    });
    let without_marks = !recording.modules.is_empty();
    let without_loops = without_marks && overview.graph.is_empty();
    report.many(Severity::Note, LOOPS_NOT_RECORDED, u64::from(without_loops), || {
        "the program was compiled by a version of Parallax that records no loops; compile it \
         again with this one"
            .to_owned()
    });
    report.many(Severity::Note, LOCALS_NOT_RECORDED, u64::from(without_marks), || {
        "the program was recorded without marks: what a local variable or a register carries \
         from one iteration to the next is not here; look for it where a loop seems independent"
            .to_owned()
    });

    let Run { builder, what, references, touches, mut syncs, creators, .. } = run;
    let ordered = builder.finish();
    report.cut(ordered.num_cut);
    let (mut tree, position) = (ordered.tree, ordered.position);
    activations::check(&paging, name)?;
    let mut what = by_position(what, &position, &paging);
    let contexts =
        activations::build_contexts(&places.program, &mut tree, &mut what, limits, &mut report);
    let (touches, num_lost) = touches.finish();
    report.many(Severity::Error, "accesses-lost", num_lost, || {
        "there are more accesses than can be kept; the last ones are omitted".to_owned()
    });
    let touches = touches.finish(&tree, &position);
    activations::check(&paging, name)?;
    let mut placed_references = References::paged(&paging);
    for draft in references.finish() {
        placed_references.push(&placed(draft, &position));
    }
    let references = placed_references;
    for sync in &mut syncs {
        // Numbers of push until now; each was pushed.
        if let Some(at) = position.get(sync.activation.idx()) {
            sync.activation = at;
        }
    }
    let clock = clock(&recording, &tree, &mut report);
    let creators: Vec<_> = creators.into_iter().map(|at| creator(syncs.get(at?)?, &tree)).collect();
    let metadata = Metadata {
        title: base_name(if recording.program.is_empty() { name } else { &recording.program }),
        format: "Parallax recording (version 1)".to_owned(),
        origin: name.to_owned(),
        facts: vec![("process".to_owned(), recording.process.to_string())],
        ..Metadata::default()
    };
    let num_threads = recording.threads.len();
    let tags = Vec::new();
    let threads = |tree: &ActivationTree, num_values: &[u64]| {
        threads(&recording, &overview, creators, tree, &clock, num_values)
    };
    let run =
        activations::Run { tree, contexts, references, touches, syncs, tags, clock, num_threads };
    let experiment = activations::experiment(run, metadata, limits, threads);
    activations::check(&paging, name)?;
    Ok(experiment)
}

fn base_name(path: &str) -> String {
    path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned()
}

/// The clock of the run. Nanosecond 0 is the first event.
fn clock(recording: &Recording, tree: &ActivationTree, report: &mut Reporter<'_>) -> Clock {
    let rate = recording.ticks_per_second as f64;
    // What no clock has had is a fault of the file.
    let is_assumed = !(1e3..1e12).contains(&rate);
    report.many(Severity::Warning, "clock-rate-unknown", u64::from(is_assumed), || {
        "the rate of the clock is not in the recording; one tick is taken for one nanosecond"
            .to_owned()
    });
    let ticks_per_second = if is_assumed { 1e9 } else { rate };
    let origin_ticks = tree.span().start_nanos;
    let since = origin_ticks as f64 - recording.anchor_ticks as f64;
    let since = saturated_i64((since * 1e9 / ticks_per_second).round());
    let wall_origin_nanos = recording.anchor_nanos.checked_add(since);
    Clock { ticks_per_second, is_assumed, origin_ticks, wall_origin_nanos }
}

fn placed(draft: Draft, position: &Numbers<ActivationIdx>) -> Reference {
    let site = |site: PushedSite| {
        let (activation, line) = site?;
        Some(Site { activation: position.get(activation as usize)?, line })
    };
    let (allocated, freed) = (site(draft.allocated), site(draft.freed));
    Reference { allocated, freed, ..draft.reference }
}

fn creator(start: &SyncEvent, tree: &ActivationTree) -> Option<Creator> {
    let SyncEvent { activation, line, .. } = *start;
    let is_there = activation.idx() < tree.len();
    is_there.then(|| Creator { thread: tree.thread(activation), site: Site { activation, line } })
}

/// The threads, and one location for each, after the summary.
fn threads(
    recording: &Recording,
    overview: &Overview,
    creators: Vec<Option<Creator>>,
    tree: &ActivationTree,
    clock: &Clock,
    num_values: &[u64],
) -> (Vec<Thread>, LocationCatalog) {
    let entries = activations::entries(tree, recording.threads.len());
    let mut locations = LocationCatalogBuilder::new();
    let values = |at: usize| num_values.get(at).copied().unwrap_or(0);
    locations.push_summary(values(0));
    let lives = overview.threads.iter().zip(creators).zip(entries);
    let threads = recording.threads.iter().zip(lives).enumerate();
    let threads = threads.map(|(at, (thread, ((life, creator), entry)))| {
        let wall = |ticks| {
            let nanos = i64::try_from(nanos(clock, ticks)).ok()?;
            clock.wall_origin_nanos?.checked_add(nanos)
        };
        Thread {
            location: locations.push([(IdentityKind::Thread, thread.number)], values(at + 1)),
            source_id: thread.number,
            creator,
            entry,
            wall_start_nanos: wall(life.first_ticks),
            wall_end_nanos: wall(life.last_ticks),
            lifetime_cycles: life.last_ticks.checked_sub(life.first_ticks),
        }
    });
    let threads = threads.collect();
    (threads, locations.finish())
}
