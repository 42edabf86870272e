//! Databases of Parceive as experiments: every call, execution of a loop, iteration and access.
//!
//! What Parceive's own user interface computes with SQL after the fact, with the faults it has
//! there, is done while reading: see the list in `crates/formats/src/parceive/FORMAT.md`.

mod accesses;
mod clock;
mod instructions;
mod key_map;
mod program;
mod structure;
mod tags;
mod threads;

use std::collections::BTreeMap;
use std::sync::Arc;

use parallax_base::paged::{Numbers, Paging};
use parallax_base::{ActivationIdx, Issues, Limits, Source};
use parallax_formats::FormatError;
use parallax_formats::parceive::{MemberRow, ParceiveDb, ReferenceRow, is_parceive};
use parallax_model::{
    ActivationTree, ContextTree, Experiment, Metadata, Reference, References, Site, StorageClass,
    Tag,
};

use self::accesses::Numbering;
use self::instructions::Instructions;
use self::key_map::KeyMap;
use self::structure::Structure;
use self::tags::Marked;
use crate::ImportError;
use crate::activations::{self, Reporter, Run, by_position, nanos};

/// Whether a file is a database of Parceive.
pub(crate) fn is_file(source: &Source) -> bool {
    is_parceive(source)
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
    let paging = activations::paging(source, limits);
    let mut db = ParceiveDb::open(Source::clone(source), name, limits, issues)?;
    let generation = db.generation();
    let Structure { builder, program, instructions, what, mut threads, tags } =
        structure::read(&mut db, limits, &paging, issues)?;
    activations::check(&paging, name)?;

    let mut report = Reporter { file: name, issues };
    let ordered = builder.finish();
    report.cut(ordered.num_cut);
    let (mut tree, position) = (ordered.tree, ordered.position);
    activations::check(&paging, name)?;
    let mut what = by_position(what, &position, &paging);
    let contexts = activations::build_contexts(&program, &mut tree, &mut what, limits, &mut report);
    drop((what, program));

    let clock = clock::of(&threads, &tree, &mut report);
    let mut syncs = threads.syncs(&instructions, &tree, &position, &mut report);
    let references = references(&mut db, &instructions, &position, (&mut report, &paging))?;
    let numbering =
        Numbering { tree: &tree, position: &position, references: &references.at, limits };
    let touches = accesses::read(&mut db, &instructions, &numbering, &mut syncs, &mut report)?;
    instructions.check()?;
    drop(instructions);
    activations::check(&paging, name)?;
    let touches = touches.finish(&tree, &position);
    activations::check(&paging, name)?;
    let tags = on_clock(tags, &clock, &position);
    drop(position);

    let metadata = Metadata {
        title: title(&contexts, name),
        format: format!("Parceive ({} schema)", generation.name()),
        origin: name.to_owned(),
        facts: tag_facts(&tags),
        ..Metadata::default()
    };
    let num_threads = threads.len();
    let references = references.list;
    let run = Run { tree, contexts, references, touches, syncs, tags, clock, num_threads };
    let threads = |tree: &ActivationTree, num_values: &[u64]| threads.finish(tree, num_values);
    let experiment = activations::experiment(run, metadata, limits, threads);
    activations::check(&paging, name)?;
    Ok(experiment)
}

/// The variables and allocations, and where each id is among them.
struct Numbered {
    list: References,
    at: KeyMap,
}

fn references(
    db: &mut ParceiveDb,
    instructions: &Instructions,
    position: &Numbers<ActivationIdx>,
    (report, paging): (&mut Reporter<'_>, &Paging),
) -> Result<Numbered, FormatError> {
    let mut members: Vec<Option<Arc<str>>> = Vec::new();
    let mut member_at = KeyMap::default();
    db.scan(report.issues, |row: MemberRow| {
        member_at.add(row.id);
        members.push(row.name.map(Into::into));
    })?;
    let mut list = References::paged(paging);
    let mut at = KeyMap::new(paging);
    let site = |instruction| {
        let found = instructions.find(instruction)?;
        let activation = position.get(found.activation? as usize)?;
        Some(Site { activation, line: found.line })
    };
    db.scan(report.issues, |row: ReferenceRow| {
        at.add(row.id);
        let member = member_at.find(row.member).and_then(|at| members.get(at as usize));
        let name = row.name.filter(|name| !name.is_empty());
        list.push(&Reference {
            name: name.map_or_else(|| "<unnamed>".into(), Into::into),
            member: member.cloned().flatten(),
            storage: StorageClass::from_bits(row.storage),
            size_bytes: row.size,
            allocated: site(row.allocator),
            freed: site(row.deallocator),
            source_id: row.id,
        });
    })?;
    Ok(Numbered { list, at })
}

/// What was marked, and how often: `section Solve (1), task First (12)`.
fn tag_facts(tags: &[Tag]) -> Vec<(String, String)> {
    let mut counts: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for tag in tags {
        *counts.entry((&tag.kind, &tag.name)).or_default() += 1;
    }
    let texts: Vec<_> =
        counts.iter().map(|((kind, name), count)| format!("{kind} {name} ({count})")).collect();
    let fact = ("tags".to_owned(), texts.join(", "));
    if texts.is_empty() { Vec::new() } else { vec![fact] }
}

/// Marked intervals on the run's clock.
fn on_clock(
    marked: Vec<Marked>,
    clock: &parallax_model::Clock,
    position: &Numbers<ActivationIdx>,
) -> Vec<Tag> {
    let tag = |own: Marked| Tag {
        name: own.name,
        kind: own.kind,
        thread: own.thread,
        start_nanos: nanos(clock, own.start),
        end_nanos: nanos(clock, own.end),
        counter: own.counter,
        activation: own.scope.and_then(|scope| position.get(scope as usize)),
    };
    marked.into_iter().map(tag).collect()
}

/// The program's name: that of the binary of the first function that runs, else that of the file.
fn title(contexts: &ContextTree, file: &str) -> String {
    let first = contexts.children(ContextTree::ROOT).next();
    let module = first
        .and_then(|context| contexts.function(context))
        .and_then(|function| contexts.functions().get(function.idx()))
        .and_then(|function| contexts.modules().get(function.module?.idx()))
        .map(|module| &*module.path);
    let path = module.unwrap_or(file);
    path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned()
}
