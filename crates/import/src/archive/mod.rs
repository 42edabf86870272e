//! Archives as experiments.

mod events;
mod order;
mod profiles;
mod traces;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parallax_base::{
    ContextIdx, FileIdx, Folder, FunctionIdx, Issues, Limits, LocationIdx, Place, Severity, Stage,
    interned_kind,
};
use parallax_formats::archive::{
    Archive, ContextRow, FunctionRow, NONE_32, NONE_64, TrackRow, keys,
};
use parallax_model::{
    ChosenCalls, Component, ContextKind, ContextTree, ContextTreeBuilder, EventStore, Experiment,
    Function, IdentityKind, LocationCatalog, LocationCatalogBuilder, Metadata, NamedAnomalies,
    Node, ProfileStore, RecordedFacts, Relation, SourceFile, TraceStore,
};

use crate::ImportError;
use order::Order;

/// Opens the archive in `folder`.
///
/// # Errors
/// When it is no archive that can be read.
pub fn open(folder: &Arc<dyn Folder>, limits: &Limits) -> Result<Experiment, ImportError> {
    let origin = folder.name().to_owned();
    let archive = Archive::open(folder, limits)
        .map_err(|cause| ImportError::Format { origin: origin.clone(), cause })?;
    let mut issues = Issues::new();
    for row in &archive.issues {
        let severity = match row.severity {
            0 => Severity::Note,
            1 => Severity::Warning,
            _ => Severity::Error,
        };
        // As the conversion reported it: what it is, and where it is in the trace.
        let (kind, place) = (interned_kind(&row.kind), Place::from_text(&row.place));
        issues.report_many(severity, Stage::Import, kind, place, row.count, || row.message.clone());
    }
    let contexts = contexts(&archive);
    let components = components(&archive);
    let in_file = locations(archive.tracks.iter(), &[], &components);
    let order = Arc::new(Order::of(&in_file, archive.tracks.len()));
    let (profiles, num_values) = profiles::read(&archive, &order, *limits)
        .map_err(|cause| ImportError::Format { origin: origin.clone(), cause })?;
    let locations = locations(order.ordered(&archive.tracks), &num_values, &components);
    let facts = archive.execution_facts();
    let metrics = profiles::metrics(&archive);
    let is_sampled = archive.fact(keys::SAMPLED).is_some();
    let metadata = Metadata {
        title: archive.fact(keys::TITLE).unwrap_or("trace").to_owned(),
        format: format!(
            "{}{}",
            archive.fact(keys::FORMAT).unwrap_or("trace of an unknown format"),
            if is_sampled { "" } else { " (converted)" }
        ),
        origin,
        facts: facts.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        components,
        samples: archive.fact(keys::NUM_SAMPLES).and_then(|number| number.parse().ok()),
        chosen: chosen(&archive),
        named: named(&archive),
        recorded: recorded(&archive, &order),
    };
    let archive = Arc::new(archive);
    // What was sampled alone has neither calls nor messages.
    let events = (!is_sampled || has_mpi_calls(&archive))
        .then(|| Arc::new(events::Events::new(Arc::clone(&archive), Arc::clone(&order))));
    let traces = Arc::new(traces::Traces::new(archive, order));
    Ok(Experiment {
        metadata,
        contexts,
        metrics,
        locations,
        profiles: Some(Arc::new(profiles) as Arc<dyn ProfileStore>),
        traces: Some(traces as Arc<dyn TraceStore>),
        events: events.map(|events| events as Arc<dyn EventStore>),
        activations: None,
        sources: Some(Arc::clone(folder)),
        issues,
    })
}

/// Whether calls of MPI were recorded, although others were sampled.
fn has_mpi_calls(archive: &Archive) -> bool {
    archive.fact(keys::MPI_CALLS) == Some("exact")
}

/// What is known about single tracks.
fn recorded(archive: &Archive, order: &Order) -> Vec<RecordedFacts> {
    let mut of_tracks: BTreeMap<u32, RecordedFacts> = BTreeMap::new();
    for (row, name, value) in archive.track_facts() {
        let track = order.track(row);
        if track != NONE_32 {
            let none = || RecordedFacts { location: location(track), facts: Vec::new() };
            let own = of_tracks.entry(track).or_insert_with(none);
            own.facts.push((name.into(), value.into()));
        }
    }
    of_tracks.into_values().collect()
}

/// Who chose the calls, and how many there are.
fn chosen(archive: &Archive) -> Option<ChosenCalls> {
    Some(ChosenCalls {
        by: archive.fact(keys::CHOSEN_BY)?.to_owned(),
        calls: archive.tracks.iter().map(|track| track.intervals).sum(),
        anomalies: num_anomalies(archive),
    })
}

/// Who named anomalies in a trace with all calls.
fn named(archive: &Archive) -> Option<NamedAnomalies> {
    let by = archive.fact(keys::NAMED_BY)?.to_owned();
    Some(NamedAnomalies { by, calls: num_anomalies(archive) })
}

fn num_anomalies(archive: &Archive) -> u64 {
    archive.fact(keys::CHOSEN_ANOMALIES).and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The coupled applications, with the times of their tracks.
fn components(archive: &Archive) -> Vec<Component> {
    let mut spans: HashMap<u64, (u64, u64)> = HashMap::new();
    for track in archive.tracks.iter().filter(|track| track.first_nanos <= track.last_nanos) {
        let own = (track.first_nanos, track.last_nanos);
        let all = spans.entry(track.application).or_insert(own);
        *all = (all.0.min(own.0), all.1.max(own.1));
    }
    let rows = archive.components.iter().map(|row| Component {
        application: row.application,
        name: row.name.as_str().into(),
        depends_on: row.depends_on.lines().map(Arc::from).collect(),
        first_rank: row.first_rank,
        shift_nanos: row.shift_nanos,
        span: spans.get(&row.application).copied(),
        inputs: Vec::new(),
        outputs: Vec::new(),
    });
    rows.collect()
}

/// Row 0 is the summary, row i + 1 is track i. Tracks of components are called by theirs.
fn locations<'t>(
    tracks: impl Iterator<Item = &'t TrackRow>,
    num_values: &[u64],
    components: &[Component],
) -> LocationCatalog {
    let mut builder = LocationCatalogBuilder::new();
    let mut num_values = num_values.iter().copied();
    builder.push_summary(num_values.next().unwrap_or(0));
    for component in components {
        builder.application(component.application, Arc::clone(&component.name));
    }
    for track in tracks {
        let identity = [
            (IdentityKind::Application, track.application),
            (IdentityKind::Node, track.node),
            (IdentityKind::Rank, track.rank),
            (IdentityKind::Thread, track.thread),
            (IdentityKind::GpuDevice, track.gpudevice),
            (IdentityKind::GpuContext, track.gpucontext),
            (IdentityKind::GpuStream, track.gpustream),
        ];
        let identity = identity.into_iter().filter(|(_, id)| *id != NONE_64);
        builder.push(identity, num_values.next().unwrap_or(0));
        if !track.name.is_empty() {
            builder.name(track.name.as_str());
        }
    }
    builder.finish()
}

/// The tree in depth-first order, children by name, loops and lines by place; ids of the source are the
/// archive's rows.
fn contexts(archive: &Archive) -> ContextTree {
    let mut files: Vec<SourceFile> = Vec::new();
    let mut known: HashMap<&str, FileIdx> = HashMap::new();
    let mut file = |path| -> Option<FileIdx> {
        let path: &str = path;
        if path.is_empty() {
            return None;
        }
        Some(*known.entry(path).or_insert_with(|| {
            files.push(SourceFile { path: path.into(), is_copied: false });
            FileIdx::from_len(files.len() - 1)
        }))
    };
    let mut functions = Vec::new();
    // By row of the function table: what contexts of it are.
    let blank = |row: &FunctionRow| match row.kind {
        FunctionRow::LOOP => Node::new(ContextKind::Loop, Relation::Lexical),
        FunctionRow::LINE => Node::new(ContextKind::Line, Relation::Lexical),
        _ => Node::new(ContextKind::Function, Relation::Call),
    };
    let nodes = archive.functions.iter().map(|row| {
        let (node, file) = (blank(row), file(&row.file));
        if row.is_lexical() {
            return Node { file, line: row.line, ..node };
        }
        functions.push(Function {
            name: row.name.as_str().into(),
            group: (!row.group.is_empty()).then(|| row.group.as_str().into()),
            module: None,
            file,
            line: row.line,
        });
        Node { function: Some(FunctionIdx::from_len(functions.len() - 1)), ..node }
    });
    let nodes: Vec<Node> = nodes.collect();
    let rows = &archive.contexts;
    let children = children_in_order(archive);
    let mut builder = ContextTreeBuilder::new(0, functions, files, Vec::new());
    // Rows still to add, with the position of what they hang under.
    let mut waiting: Vec<(u32, ContextIdx)> = Vec::new();
    let push_children = |row: usize, at: ContextIdx, waiting: &mut Vec<(u32, ContextIdx)>| {
        let below = children.get(row).map(Vec::as_slice).unwrap_or_default();
        waiting.extend(below.iter().rev().map(|&child| (child, at)));
    };
    push_children(0, ContextTree::ROOT, &mut waiting);
    while let Some((row, parent)) = waiting.pop() {
        let context = rows.get(row as usize);
        let node = context.and_then(|context| nodes.get(context.function as usize));
        let Some(node) = node else { continue };
        let at = builder.push(parent, Node { source_id: row, ..*node });
        push_children(row as usize, at, &mut waiting);
    }
    builder.finish()
}

/// Rows of the children of each row, in the order of the tree.
fn children_in_order(archive: &Archive) -> Vec<Vec<u32>> {
    let rows = &archive.contexts;
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); rows.len()];
    for (row, context) in (0..).zip(rows) {
        if context.parent != NONE_32
            && let Some(list) = children.get_mut(context.parent as usize)
        {
            list.push(row);
        }
    }
    let name = |row: &u32| {
        let context: Option<&ContextRow> = rows.get(*row as usize);
        let function = context.and_then(|c| archive.functions.get(c.function as usize));
        // Of functions the name only: what has the same one stays in the order of the archive.
        function.map(|row| match row.is_lexical() {
            true => ("", row.kind, row.file.as_str(), row.line),
            false => (row.name.as_str(), row.kind, "", 0),
        })
    };
    for list in &mut children {
        list.sort_by(|a, b| name(a).cmp(&name(b)));
    }
    children
}

/// The location of track `number`.
const fn location(number: u32) -> LocationIdx {
    LocationIdx::new(number.saturating_add(1))
}
