//! Which locations are streams of one GPU, and when a GPU is busy.
//!
//! A GPU executes several streams at once, and how programs spread work over streams says nothing
//! about how evenly GPUs are used. So GPUs are compared with each other, and streams are not: a GPU
//! is busy when any of its streams is, which is the union of their intervals and not their sum.

use std::collections::{BTreeMap, BTreeSet};

use parallax_base::{LocationIdx, TimeWindow, TrackIdx};
use parallax_model::{IdentityKind, Interval, LocationCatalog, StoreError, TraceStore};

/// What tells GPUs from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId {
    /// The application, rank and node; the rank and the application are `None` where ranks share
    /// GPUs.
    process: (Option<u64>, Option<u64>, Option<u64>),
    /// The number of the GPU; `None` where it is not stored.
    device: Option<u64>,
    /// The GPU context, where the number of the GPU is not stored: a context belongs to one GPU.
    context: Option<u64>,
}

impl DeviceId {
    /// Its number: that of the GPU or of its context, else of the process by which it is written.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.device.or(self.context).or(self.process.1).unwrap_or(0)
    }

    /// The node it is on, where that is stored.
    #[must_use]
    pub const fn node(&self) -> Option<u64> {
        self.process.2
    }
}

/// Which GPU each location belongs to.
///
/// - Where the identity has the number of the GPU, streams of a rank with the same number are of one
///   GPU. Runtimes number the GPUs that a process may use from 0. Where the numbers of a rank on a
///   node do not begin at 0 or leave some out, they are those of the node, and ranks with the same
///   number share a GPU. Otherwise each rank is taken to have GPUs of its own.
/// - Where it has a GPU context only, streams of one context are of one GPU.
/// - Where it has neither, all streams of a rank are of one GPU. Kineto writes each GPU as a process
///   of its own, whose number is the rank.
#[derive(Debug, Clone)]
pub struct Devices<'a> {
    locations: &'a LocationCatalog,
    /// Nodes on which numbers of GPUs are those of the node.
    counted_by_node: BTreeSet<u64>,
    /// Whether ranks on one node may share GPUs, which their numbers do not tell.
    is_unclear: bool,
}

impl<'a> Devices<'a> {
    /// Of all locations.
    #[must_use]
    pub fn new(locations: &'a LocationCatalog) -> Self {
        let mut out = Self { locations, counted_by_node: BTreeSet::new(), is_unclear: false };
        if !locations.has(IdentityKind::GpuDevice) || !locations.has(IdentityKind::Node) {
            return out;
        }
        type Process = (Option<u64>, Option<u64>);
        let mut numbers: BTreeMap<u64, BTreeMap<Process, BTreeSet<u64>>> = BTreeMap::new();
        for location in locations.iter() {
            let id = |kind| locations.identity(location, kind);
            let (Some(device), Some(node)) = (id(IdentityKind::GpuDevice), id(IdentityKind::Node))
            else {
                continue;
            };
            let process = (id(IdentityKind::Application), id(IdentityKind::Rank));
            numbers.entry(node).or_default().entry(process).or_default().insert(device);
        }
        for (node, ranks) in numbers {
            let from_0 = |of: &BTreeSet<u64>| (0..).zip(of).all(|(nth, &number)| nth == number);
            if !ranks.values().all(from_0) {
                out.counted_by_node.insert(node);
            } else if ranks.len() > 1 {
                out.is_unclear = true;
            }
        }
        out
    }

    /// The GPU that a location belongs to; `None` of threads.
    #[must_use]
    pub fn of(&self, location: LocationIdx) -> Option<DeviceId> {
        if !self.locations.is_gpu(location) {
            return None;
        }
        let id = |kind| self.locations.identity(location, kind);
        let (device, node) = (id(IdentityKind::GpuDevice), id(IdentityKind::Node));
        let is_shared =
            device.is_some() && node.is_some_and(|node| self.counted_by_node.contains(&node));
        let own = |kind| id(kind).filter(|_| !is_shared);
        Some(DeviceId {
            process: (own(IdentityKind::Application), own(IdentityKind::Rank), node),
            device,
            context: id(IdentityKind::GpuContext).filter(|_| device.is_none()),
        })
    }

    /// Display name of the location that consists of some streams: the name of a single one, or
    /// what the streams of a GPU have in common.
    #[must_use]
    pub fn label(&self, streams: &[LocationIdx]) -> String {
        let names: Vec<String> = streams.iter().map(|&one| self.locations.label(one)).collect();
        let [first, more @ ..] = names.as_slice() else { return String::new() };
        if more.is_empty() {
            return first.clone();
        }
        let mut common: Vec<&str> = first.split(' ').collect();
        for name in more {
            let same = common.iter().zip(name.split(' ')).take_while(|(a, b)| *a == b).count();
            common.truncate(same);
        }
        while common.last().is_some_and(|word| word.chars().all(|c| c.is_ascii_lowercase())) {
            common.pop();
        }
        let own = common.join(" ");
        let mut own = own.trim_end_matches(',').to_owned();
        if own.is_empty()
            && let Some(id) = streams.first().and_then(|&one| self.of(one))
        {
            let number = id.device.or(id.context).unwrap_or(0);
            own = match id.process.2 {
                Some(node) => format!("node {node:#x} gpudevice {number}"),
                None => format!("GPU {number}"),
            };
        }
        format!("{own} ({} streams)", names.len())
    }

    /// What cannot be told, in a sentence for users; `None` where all is clear.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        self.is_unclear.then(|| {
            "Each rank numbers its GPUs from 0: ranks of a node are assumed to have separate GPUs."
                .into()
        })
    }
}

/// Intervals that are in memory at once, about.
const AT_ONCE: u64 = 1 << 19;

/// Calls `visit` with the intervals of several tracks in order of their begins. Those of a single
/// track come as they are stored; of several, they are cut at the window, and may come in several
/// pieces.
///
/// # Errors
/// When the traces cannot be read.
pub(crate) fn visit_in_order(
    store: &dyn TraceStore,
    tracks: &[TrackIdx],
    window: TimeWindow,
    visit: &mut dyn FnMut(Interval),
) -> Result<(), StoreError> {
    if let [track] = tracks {
        return store.visit(*track, window, visit);
    }
    let span = store.span();
    let span = TimeWindow::new(span.start_nanos, span.end_nanos.saturating_add(1));
    let window = window.intersect(span);
    let records = |&track: &TrackIdx| store.track(track).map_or(0, |t| t.num_samples);
    let all: u64 = tracks.iter().map(records).sum();
    let share = window.nanos() as f64 / span.nanos().max(1) as f64;
    let pieces = ((all as f64 * share) as u64 / AT_ONCE + 1).min(window.nanos().max(1));
    let edge = |piece: u64| {
        let inside = u128::from(window.nanos()) * u128::from(piece) / u128::from(pieces);
        window.start_nanos + u64::try_from(inside).unwrap_or(0)
    };
    let mut found: Vec<(u64, u64, u32)> = Vec::new();
    for piece in 0..pieces {
        let part = TimeWindow::new(edge(piece), edge(piece + 1));
        found.clear();
        for &track in tracks {
            store.visit(track, part, &mut |interval| {
                let inside =
                    TimeWindow::new(interval.start_nanos, interval.end_nanos).intersect(part);
                if inside.nanos() > 0 {
                    found.push((inside.start_nanos, inside.end_nanos, interval.context));
                }
            })?;
        }
        found.sort_unstable();
        for &(start_nanos, end_nanos, context) in &found {
            visit(Interval { context, start_nanos, end_nanos });
        }
    }
    Ok(())
}
