//! OTF2 traces into archives. Locations are independent of each other, so they are read at the same
//! time, a slice of time after the other: that bounds the messages that wait for their other side.

use std::collections::HashMap;
use std::sync::Arc;

use parallax_base::{Control, Folder, Issues, Limits, Place, Severity, Stage, threads};
use parallax_formats::archive::{ArgumentText, FunctionRow, NONE_32, keys};
use parallax_formats::otf2::{
    Archive, Attribute, Base, ClockProperties, Definitions, Event, EventFile, EventReader,
    IoOperationMode, LocationGroupId, LocationId, LocationType, MetricId, Paradigm, Ranks, Record,
    RegionId, SystemTreeNodeId, Value,
};
use parallax_model::IdentityKind;

use crate::events::{
    Collective, Conversion, ConversionError, Endpoint, FileOperation, Peer, TrackBuilder,
    TrackIdentity, TrackKind, arguments_cut,
};

/// Events of all locations that one slice of time has, about.
const SLICE_EVENTS: u64 = 4 << 20;

/// Converts the trace whose anchor lies at `path` in `folder`.
pub(super) fn convert(
    folder: &Arc<dyn Folder>,
    path: &str,
    limits: &Limits,
    conversion: &mut Conversion,
    control: &Control,
) -> Result<(), ConversionError> {
    let mut issues = Issues::new();
    let trace = Archive::open(folder, path, *limits, &mut issues)?;
    let definitions = trace.definitions();
    conversion.fact(keys::FORMAT, format!("OTF2 {}", version(trace.anchor().version)));
    for (name, value) in [
        ("machine", &trace.anchor().machine),
        ("creator", &trace.anchor().creator),
        ("description", &trace.anchor().description),
    ] {
        if !value.is_empty() {
            conversion.fact(format!("{}{name}", keys::FACT), value.to_string());
        }
    }
    let clock = definitions.clock.clone().unwrap_or(ClockProperties {
        ticks_per_second: 1_000_000_000,
        global_offset_ticks: 0,
        length_ticks: 0,
        realtime_nanos: u64::MAX,
    });
    if clock.realtime_nanos != u64::MAX {
        conversion.fact(keys::EPOCH_OFFSET_NANOS, clock.realtime_nanos.to_string());
    }
    // Other traces of a workflow may have come before.
    let first_track = conversion.identities().len();
    let tables = Tables::new(definitions, clock.clone(), conversion);
    let mut files = Vec::new();
    for (id, _) in definitions.locations.iter() {
        control.check()?;
        files.push(trace.events(id, &mut issues)?);
    }
    conversion.issues.extend(issues);
    let readers = files.iter().map(|file| file.as_ref().map(EventFile::reader).transpose());
    let mut readers = readers.collect::<Result<Vec<_>, _>>()?;
    let mut started: Vec<Started> = vec![Started::new(); readers.len()];
    let declared = definitions.locations.iter().map(|(_, location)| location.event_count);
    let declared = declared.fold(0, u64::saturating_add);
    // A damaged file may declare any number; an event takes a byte at least.
    let bytes = files.iter().flatten().map(EventFile::len_bytes).fold(0, u64::saturating_add);
    let slices = declared.min(bytes) / SLICE_EVENTS + 1;
    let length = clock.nanos(clock.length_ticks);
    control.begin(slices);
    for slice in 1..=slices {
        // The last slice has no end: lengths of traces may be wrong.
        let until = if slice == slices { u64::MAX } else { length / slices * slice };
        let work: Vec<_> = conversion
            .builders()
            .iter_mut()
            .skip(first_track)
            .zip(&mut readers)
            .zip(definitions.locations.iter())
            .zip(&mut started)
            .filter_map(|(((builder, reader), (own, _)), started)| {
                Some((builder, reader.as_mut()?, own, started))
            })
            .collect();
        let done = threads::map(work, |(builder, reader, own, started)| {
            let mut issues = Issues::new();
            advance(&tables, own, reader, builder, started, until, &mut issues).map(|()| issues)
        });
        for issues in done {
            conversion.issues.extend(issues?);
        }
        conversion.commit()?;
        control.advance(1)?;
    }
    Ok(())
}

fn version([major, minor, patch]: [u8; 3]) -> String {
    format!("{major}.{minor}.{patch}")
}

/// Reads events up to and with the first one that is not before `until`.
fn advance(
    tables: &Tables<'_>,
    own: LocationId,
    reader: &mut EventReader<'_>,
    builder: &mut TrackBuilder,
    started: &mut Started,
    until: u64,
    issues: &mut Issues,
) -> Result<(), ConversionError> {
    let mut text = ArgumentText::default();
    while let Some(record) = reader.next(issues)? {
        let nanos = tables.nanos(record.ticks);
        // What a record of leaving says is about the call that it ends.
        let is_leave = matches!(record.event, Event::Leave { .. });
        if is_leave {
            describe(tables, record.attributes, nanos, &mut text, builder, issues);
        }
        if let Event::Enter { region } = record.event
            && tables.function(region) == tables.unknown
        {
            let place = Place::Time { nanos };
            issues.report(Severity::Warning, Stage::Import, "region-undefined", place, || {
                format!("location {} enters region {}, which is not defined", own.0, region.0)
            });
        }
        apply(tables, own, &record, nanos, builder);
        if matches!(record.event, Event::Enter { .. }) {
            describe(tables, record.attributes, nanos, &mut text, builder, issues);
        }
        if let Some(operation) = file_operation(tables, &record.event, nanos, started) {
            builder.file(operation);
        }
        if nanos >= until {
            break;
        }
    }
    Ok(())
}

/// Tells the track the attributes of the call that was entered last.
fn describe(
    tables: &Tables<'_>,
    attributes: &[Attribute],
    nanos: u64,
    text: &mut ArgumentText,
    builder: &mut TrackBuilder,
    issues: &mut Issues,
) {
    if attributes.is_empty() {
        return;
    }
    text.clear();
    let strings = |id| tables.definitions.string(id);
    for attribute in attributes {
        let named = tables.definitions.attributes.get(attribute.attribute);
        let name = named.map_or("", |named| strings(named.name));
        let name = if name.is_empty() { "(undefined attribute)" } else { name };
        match attribute.value {
            Value::U8(value) => text.push_json(name, &value.to_string()),
            Value::U16(value) => text.push_json(name, &value.to_string()),
            Value::U32(value) => text.push_json(name, &value.to_string()),
            Value::U64(value) => text.push_json(name, &value.to_string()),
            Value::I8(value) => text.push_json(name, &value.to_string()),
            Value::I16(value) => text.push_json(name, &value.to_string()),
            Value::I32(value) => text.push_json(name, &value.to_string()),
            Value::I64(value) => text.push_json(name, &value.to_string()),
            Value::F32(value) => text.push_json(name, &value.to_string()),
            Value::F64(value) => text.push_json(name, &value.to_string()),
            Value::String(id) => text.push_text(name, strings(id)),
            Value::Region(id) => match tables.definitions.regions.get(id) {
                Some(region) => text.push_text(name, strings(region.name)),
                None => text.push_text(name, &format!("region {}", id.0)),
            },
            Value::Location(id) => text.push_text(name, &format!("location {}", id.0)),
            Value::Comm(id) => text.push_text(name, &format!("communicator {}", id.0)),
            // Numbers of other definitions, which mean nothing outside of the file.
            other => text.push_text(name, &format!("{other:?}")),
        }
    }
    if text.is_cut {
        arguments_cut(issues, nanos);
    }
    builder.describe(&text.names, &text.values);
}

/// Operations on files that have begun and are not complete: whether they write, by handle and by
/// what names them.
type Started = HashMap<(u32, u64), bool>;

/// What a record says about data in a file.
fn file_operation(
    tables: &Tables<'_>,
    event: &Event,
    nanos: u64,
    started: &mut Started,
) -> Option<FileOperation> {
    match *event {
        Event::IoOperationBegin { handle, mode, matching, .. } => {
            if mode == IoOperationMode::READ || mode == IoOperationMode::WRITE {
                started.insert((handle.0, matching), mode == IoOperationMode::WRITE);
            }
            None
        }
        Event::IoOperationCancelled { handle, matching } => {
            started.remove(&(handle.0, matching));
            None
        }
        Event::IoOperationComplete { handle, result_bytes, matching } => {
            let is_write = started.remove(&(handle.0, matching))?;
            // Nothing was read at the end of a file.
            let bytes = Some(result_bytes).filter(|&bytes| bytes != 0 && bytes != u64::MAX)?;
            let file = tables.files.get(&handle.0).copied()?;
            Some(FileOperation { nanos, file, bytes, is_write })
        }
        _ => None,
    }
}

fn apply(
    tables: &Tables<'_>,
    own: LocationId,
    record: &Record<'_>,
    nanos: u64,
    builder: &mut TrackBuilder,
) {
    let message = |rank, comm, tag: u32, bytes, is_send| Endpoint {
        nanos,
        partner: tables.peer(comm, rank, own),
        communicator: comm.0,
        tag: i64::from(tag),
        bytes,
        is_send,
    };
    match record.event {
        Event::Enter { region } => builder.enter(nanos, tables.function(region)),
        Event::Leave { region } => builder.leave(nanos, Some(tables.function(region))),
        Event::MpiSend { receiver, comm, tag, length_bytes } => {
            builder.message(message(receiver, comm, tag, length_bytes, true));
        }
        Event::MpiIsend { receiver, comm, tag, length_bytes, request } => {
            builder.post_send(message(receiver, comm, tag, length_bytes, true), request);
        }
        Event::MpiIsendComplete { request } => builder.complete_send(nanos, request),
        Event::MpiIrecvRequest { request } => builder.post_receive(nanos, request),
        Event::MpiRecv { sender, comm, tag, length_bytes } => {
            builder.message(message(sender, comm, tag, length_bytes, false));
        }
        Event::MpiIrecv { sender, comm, tag, length_bytes, request } => {
            builder.complete_receive(message(sender, comm, tag, length_bytes, false), request);
        }
        Event::MpiRequestCancelled { request } => builder.cancel_request(nanos, request),
        Event::MpiCollectiveBegin {} => builder.begin_collective(nanos),
        Event::MpiCollectiveEnd { op, comm, root, sent_bytes, received_bytes } => {
            builder.end_collective(Collective {
                start_nanos: nanos,
                end_nanos: nanos,
                operation: op.0,
                communicator: if tables.ranks.is_self(comm) { NONE_32 } else { comm.0 },
                root: (root < u32::MAX - 1).then_some(u64::from(root)),
                sent: sent_bytes,
                received: received_bytes,
            });
        }
        Event::CallingContextEnter { context, .. } => {
            // Others too, as the source counts them: these are neither enter nor leave records.
            builder.other(nanos);
            builder.begin_complete(nanos, tables.context_function(context));
        }
        Event::CallingContextLeave { .. } => {
            builder.other(nanos);
            builder.end_complete(nanos);
        }
        Event::Metric { metric } => {
            builder.counts_mut().metrics += 1;
            let columns = tables.columns.get(&metric.0).map(Vec::as_slice).unwrap_or_default();
            for (column, value) in columns.iter().zip(record.values) {
                builder.value(nanos, column.counter, value.as_f64() * column.scale);
            }
        }
        _ => builder.other(nanos),
    }
}

/// A column of a metric class.
struct Column {
    counter: u32,
    scale: f64,
}

/// What events refer to, in the archive's numbers.
struct Tables<'d> {
    definitions: &'d Definitions,
    clock: ClockProperties,
    ranks: Ranks<'d>,
    /// Functions by region, where numbers are dense.
    dense: Vec<u32>,
    sparse: HashMap<u32, u32>,
    unknown: u32,
    peers: HashMap<u64, Peer>,
    columns: HashMap<u32, Vec<Column>>,
    /// The file behind each handle.
    files: HashMap<u32, u32>,
}

/// Numbers of regions below this are looked up in a list.
const DENSE: u32 = 1 << 20;

impl<'d> Tables<'d> {
    fn new(
        definitions: &'d Definitions,
        clock: ClockProperties,
        conversion: &mut Conversion,
    ) -> Self {
        let unknown = conversion.function("(undefined region)", "");
        let (mut dense, mut sparse) = (Vec::new(), HashMap::new());
        for (id, region) in definitions.regions.iter() {
            let name = [region.name, region.canonical_name]
                .map(|id| definitions.string(id))
                .into_iter()
                .find(|name| !name.is_empty());
            let function = conversion.add_function(FunctionRow {
                name: name.unwrap_or("(unnamed region)").to_owned(),
                group: group(definitions, region.paradigm),
                file: definitions.string(region.file).to_owned(),
                line: if region.begin_line == u32::MAX { 0 } else { region.begin_line },
                kind: FunctionRow::FUNCTION,
            });
            if id.0 < DENSE {
                let at = id.0 as usize;
                dense.resize(dense.len().max(at + 1), unknown);
                if let Some(slot) = dense.get_mut(at) {
                    *slot = function;
                }
            } else {
                sparse.insert(id.0, function);
            }
        }
        let peers = tracks(definitions, conversion);
        let mut columns: HashMap<u32, Vec<Column>> = HashMap::new();
        for (id, class) in definitions.metric_classes.iter() {
            let members = class.members.iter().map(|&member| {
                let Some(member) = definitions.metric_members.get(member) else {
                    return Column {
                        counter: conversion.counter("(undefined metric)", ""),
                        scale: 1.0,
                    };
                };
                let base: f64 = if member.base == Base::BINARY { 2.0 } else { 10.0 };
                let exponent = i32::try_from(member.exponent).unwrap_or(0);
                let name = definitions.string(member.name);
                let counter = conversion.counter(name, definitions.string(member.unit));
                Column { counter, scale: base.powi(exponent) }
            });
            columns.insert(id.0, members.collect());
        }
        let instances = definitions.metric_instances.iter();
        let instances: Vec<_> = instances.map(|(id, instance)| (id, instance.class)).collect();
        for (id, MetricId(class)) in instances {
            let copy = columns.get(&class).map(|columns| {
                let copy = |c: &Column| Column { counter: c.counter, scale: c.scale };
                columns.iter().map(copy).collect()
            });
            columns.insert(id.0, copy.unwrap_or_default());
        }
        let mut files = HashMap::new();
        for (id, handle) in definitions.io_handles.iter() {
            let file = definitions.io_files.get(handle.file);
            let name = file.map_or("", |file| definitions.string(file.fields.name));
            if !name.is_empty() {
                files.insert(id.0, conversion.file(name));
            }
        }
        let ranks = Ranks::new(definitions);
        Self { definitions, clock, ranks, dense, sparse, unknown, peers, columns, files }
    }

    fn nanos(&self, ticks: u64) -> u64 {
        u64::try_from(self.clock.nanos_since_start(ticks)).unwrap_or(0)
    }

    fn function(&self, region: RegionId) -> u32 {
        let dense = self.dense.get(region.0 as usize).copied();
        dense.or_else(|| self.sparse.get(&region.0).copied()).unwrap_or(self.unknown)
    }

    fn context_function(&self, context: parallax_formats::otf2::CallingContextId) -> u32 {
        let region = self.definitions.calling_contexts.get(context).map(|context| context.region);
        region.map_or(self.unknown, |region| self.function(region))
    }

    fn peer(
        &self,
        comm: parallax_formats::otf2::CommId,
        rank: u32,
        own: LocationId,
    ) -> Option<Peer> {
        let location = self.ranks.location(comm, rank, own)?;
        self.peers.get(&location.0).copied()
    }
}

fn group(definitions: &Definitions, paradigm: Paradigm) -> String {
    let named = definitions.paradigm_name(paradigm).filter(|name| !name.is_empty());
    named.or(paradigm.name()).unwrap_or("other").to_owned()
}

/// Adds a track for each location; returns how messages speak of them.
fn tracks(definitions: &Definitions, conversion: &mut Conversion) -> HashMap<u64, Peer> {
    let ranks = rank_numbers(definitions);
    let mut in_group: HashMap<u32, u64> = HashMap::new();
    let mut peers = HashMap::new();
    for (id, location) in definitions.locations.iter() {
        let group = definitions.location_groups.get(location.group);
        let nth = in_group.entry(location.group.0).or_insert(0);
        let is_gpu = location.location_type == LocationType::ACCELERATOR_STREAM;
        let mut identity = Vec::new();
        if let Some(&rank) = ranks.get(&location.group) {
            identity.push((IdentityKind::Rank, rank));
        }
        let kind = if is_gpu { IdentityKind::GpuStream } else { IdentityKind::Thread };
        identity.push((kind, *nth));
        *nth += 1;
        let own = definitions.string(location.name);
        let process = group.map(|group| definitions.string(group.name)).unwrap_or_default();
        let name = match (process, own) {
            // The identity says who a thread of a rank is, and every tool names it otherwise.
            _ if !is_gpu && ranks.contains_key(&location.group) => String::new(),
            ("", own) => own.to_owned(),
            (process, "") => process.to_owned(),
            (process, own) => format!("{process}, {own}"),
        };
        let track = conversion.track(TrackIdentity {
            name,
            kind: if is_gpu { TrackKind::Stream } else { TrackKind::Thread },
            identity,
            declared: Some(location.event_count),
        });
        if let Some(host) = group.and_then(|group| host(definitions, group.system_tree_parent)) {
            conversion.track_fact(track, "Hostname", host);
        }
        if let Some(peer) = conversion.peer_of(track) {
            peers.insert(id.0, peer);
        }
    }
    peers
}

/// Levels of the tree of machines and nodes that are looked at: loops in it come from damage.
const MOST_LEVELS: usize = 16;

/// The name of the node on which a process runs, which Score-P calls by its host.
fn host(definitions: &Definitions, start: SystemTreeNodeId) -> Option<&str> {
    let mut at = start;
    for _ in 0..MOST_LEVELS {
        let node = definitions.system_tree_nodes.get(at)?;
        if definitions.string(node.class).eq_ignore_ascii_case("node") {
            let name = definitions.string(node.name);
            // TAU calls each rank a node: `node 3` is no host.
            let is_number = name.strip_prefix("node ").is_some_and(|n| n.parse::<u64>().is_ok());
            return Some(name).filter(|name| !name.is_empty() && !is_number);
        }
        at = node.parent;
    }
    None
}

/// The rank of each process: its place among the groups, as no record says it. Groups of
/// accelerators have the rank of the process that made them.
fn rank_numbers(definitions: &Definitions) -> HashMap<LocationGroupId, u64> {
    let mut ranks = HashMap::new();
    let mut next = 0;
    for (id, group) in definitions.location_groups.iter() {
        if !group.creating_group.is_defined() {
            ranks.insert(id, next);
            next += 1;
        }
    }
    for (id, group) in definitions.location_groups.iter() {
        if let Some(&rank) = ranks.get(&group.creating_group) {
            ranks.insert(id, rank);
        }
    }
    ranks
}
