//! Rows of the tables of an archive, from what a conversion has.

use std::collections::HashMap;

use parallax_base::{Issues, Severity};
use parallax_formats::archive::table::ColumnData;
use parallax_formats::archive::{
    ArchiveWriter, IssueRow, NONE_32, NONE_64, NodeRow, Record, SpanRow, SumRow, TrackRow,
    WriteError,
};
use parallax_model::IdentityKind;

use super::bins::Bins;
use super::conversion::{TrackIdentity, TrackKind};
use super::track::{Node, TrackBuilder};

/// Sets the first child of all nodes above level 0.
pub(super) fn set_first_children(nodes: &mut [NodeRow]) {
    // The nodes of one level and track are contiguous, and those above take them in order.
    let mut next: HashMap<(u8, u32), u32> = HashMap::new();
    for (row, node) in (0..).zip(nodes.iter()) {
        next.entry((node.level, node.track)).or_insert(row);
    }
    for node in nodes.iter_mut().filter(|node| node.level > 0) {
        if let Some(next) = next.get_mut(&(node.level - 1, node.track)) {
            node.first_child = *next;
            *next += node.children;
        }
    }
}

/// The row of a node above level 0; its first child is found when all nodes are there.
pub(super) fn node_row(track: u32, node: &Node, first_bin: u64, sums: u32) -> NodeRow {
    NodeRow {
        track,
        level: node.level,
        exponent: node.bins.exponent,
        first_bin,
        from_nanos: node.from_nanos,
        to_nanos: node.to_nanos,
        first_child: 0,
        children: node.children,
        sums,
        intervals: 0,
        open_context: 0,
        open_depth: 0,
    }
}

/// Writes the sums of a node; returns its first bin. `map` has the archive's contexts of those of
/// the sums, where they are the track's own.
pub(super) fn write_sums(
    writer: &mut ArchiveWriter,
    bins: &Bins,
    map: Option<&[u32]>,
) -> Result<u64, WriteError> {
    let first = bins.sums.first().map_or(0, |sum| sum.bin);
    let sums = &bins.sums;
    let context = |context: u32| match map {
        Some(map) => map.get(context as usize).copied().unwrap_or(0),
        None => context,
    };
    let bin = |bin: u64| u16::try_from(bin - first).unwrap_or(u16::MAX);
    let columns = vec![
        ColumnData::U16(sums.iter().map(|sum| bin(sum.bin)).collect()),
        ColumnData::U32(sums.iter().map(|sum| context(sum.context)).collect()),
        ColumnData::U32(sums.iter().map(|sum| sum.calls).collect()),
        ColumnData::U64(sums.iter().map(|sum| sum.nanos).collect()),
    ];
    writer.write_columns(SumRow::LAYOUT, columns)?;
    Ok(first)
}

/// The row of a batch that covers these times.
pub(super) fn span(table: u8, times: impl Iterator<Item = u64>, rows: usize) -> SpanRow {
    let (from_nanos, to_nanos) =
        times.fold((u64::MAX, 0), |(from, to), nanos| (from.min(nanos), to.max(nanos)));
    SpanRow {
        table,
        track: NONE_32,
        counter: NONE_32,
        from_nanos,
        to_nanos,
        rows: rows as u64,
        min: 0.0,
        max: 0.0,
    }
}

/// The row of a track that has ended.
pub(super) fn track_row(track: &TrackBuilder, identity: &TrackIdentity) -> TrackRow {
    let id = |kind| identity.part(kind).unwrap_or(NONE_64);
    let counts = track.counts;
    TrackRow {
        name: identity.name.clone(),
        kind: match identity.kind {
            TrackKind::Thread => 0,
            TrackKind::Stream => 1,
            TrackKind::Overlap => 2,
        },
        application: id(IdentityKind::Application),
        node: id(IdentityKind::Node),
        rank: id(IdentityKind::Rank),
        thread: id(IdentityKind::Thread),
        gpudevice: id(IdentityKind::GpuDevice),
        gpucontext: id(IdentityKind::GpuContext),
        gpustream: id(IdentityKind::GpuStream),
        enters: counts.enters,
        leaves: counts.leaves,
        sends: counts.sends,
        receives: counts.receives,
        metrics: counts.metrics,
        others: counts.others,
        declared: identity.declared.unwrap_or(NONE_64),
        intervals: track.num_intervals(),
        first_nanos: track.span().map_or(NONE_64, |span| span.0),
        last_nanos: track.span().map_or(0, |span| span.1),
    }
}

/// The rows of what was repaired.
pub(super) fn issue_rows(issues: &Issues) -> Vec<IssueRow> {
    let row = |issue: &parallax_base::Issue| IssueRow {
        severity: match issue.severity {
            Severity::Note => 0,
            Severity::Warning => 1,
            Severity::Error => 2,
        },
        kind: issue.kind.to_owned(),
        place: issue.place.to_string(),
        message: issue.message.clone(),
        count: issue.count,
    };
    issues.list().iter().map(row).collect()
}
