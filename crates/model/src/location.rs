//! [`LocationCatalog`]: where code ran, as identity tuples.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parallax_base::LocationIdx;

/// What an element of an identity tuple names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IdentityKind {
    /// One of several coupled applications.
    Application,
    /// A compute node, by host id.
    Node,
    /// A process of a parallel program (MPI rank).
    Rank,
    /// A thread of a process.
    Thread,
    /// A processor core.
    Core,
    /// A GPU.
    GpuDevice,
    /// A GPU context.
    GpuContext,
    /// A GPU stream.
    GpuStream,
}

impl IdentityKind {
    /// All kinds, from the outermost.
    pub const ALL: [Self; 8] = [
        Self::Application,
        Self::Node,
        Self::Rank,
        Self::Thread,
        Self::Core,
        Self::GpuDevice,
        Self::GpuContext,
        Self::GpuStream,
    ];

    /// The word that query expressions and tables use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Application => "application",
            Self::Node => "node",
            Self::Rank => "rank",
            Self::Thread => "thread",
            Self::Core => "core",
            Self::GpuDevice => "gpudevice",
            Self::GpuContext => "gpucontext",
            Self::GpuStream => "gpustream",
        }
    }

    /// The kind of a word in any case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name))
    }

    const fn column(self) -> usize {
        self as usize
    }
}

/// "No such element" in a column. Host ids have 32 bits and ranks are small, so no identity is it.
const ABSENT: u64 = u64::MAX;

/// All locations. Row i belongs to profile i of the source; the summary over all locations, where
/// the source has one, is a row without identity that [`LocationCatalog::iter`] leaves out.
///
/// A clone shares the rows: it costs the same for one rank and for 100,000.
#[derive(Debug, Clone, Default)]
pub struct LocationCatalog {
    rows: Arc<Rows>,
    /// Whether the numbers in place of ranks are those of processes that are none.
    has_processes: bool,
}

/// What a [`LocationCatalog`] knows.
#[derive(Debug, Default)]
struct Rows {
    len: usize,
    /// One column per kind, empty when no location has that kind.
    columns: [Vec<u64>; 8],
    num_values: Vec<u64>,
    /// Names that the source gives, by row.
    names: Vec<(u32, Arc<str>)>,
    /// Names of the coupled applications, by number.
    applications: BTreeMap<u64, Arc<str>>,
    summary: Option<u32>,
}

/// Builds a [`LocationCatalog`] row by row.
#[derive(Debug, Default)]
pub struct LocationCatalogBuilder {
    rows: Rows,
}

impl LocationCatalogBuilder {
    /// No rows yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a location with its identity tuple and the number of values of its profile.
    pub fn push(
        &mut self,
        identity: impl IntoIterator<Item = (IdentityKind, u64)>,
        num_values: u64,
    ) -> LocationIdx {
        let row = self.rows.len;
        for (kind, id) in identity {
            let column = &mut self.rows.columns[kind.column()];
            column.resize(row.max(column.len()), ABSENT);
            // The first of several elements of one kind is kept: no writer has two.
            if column.len() == row {
                column.push(id);
            }
        }
        self.rows.len += 1;
        self.rows.num_values.push(num_values);
        LocationIdx::from_len(row)
    }

    /// Adds the summary over all locations.
    pub fn push_summary(&mut self, num_values: u64) -> LocationIdx {
        let row = self.push([], num_values);
        self.rows.summary.get_or_insert(row.get());
        row
    }

    /// Names the location added last: what the source calls it, where its identity says less.
    pub fn name(&mut self, name: impl Into<Arc<str>>) {
        if let Some(row) = self.rows.len.checked_sub(1) {
            self.rows.names.push((LocationIdx::from_len(row).get(), name.into()));
        }
    }

    /// Names an application of a workflow: labels of its locations begin with that.
    pub fn application(&mut self, number: u64, name: impl Into<Arc<str>>) {
        self.rows.applications.entry(number).or_insert_with(|| name.into());
    }

    /// The finished catalog.
    #[must_use]
    pub fn finish(self) -> LocationCatalog {
        let mut rows = self.rows;
        for column in rows.columns.iter_mut().filter(|column| !column.is_empty()) {
            column.resize(rows.len, ABSENT);
        }
        let catalog = LocationCatalog { rows: Arc::new(rows), has_processes: false };
        let has_processes = catalog.has(IdentityKind::Rank) && catalog.num_ranks() == 0;
        LocationCatalog { has_processes, ..catalog }
    }
}

impl LocationCatalog {
    /// Number of locations, without the summary.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len - usize::from(self.rows.summary.is_some())
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of rows, the summary included.
    #[must_use]
    pub fn num_rows(&self) -> usize {
        self.rows.len
    }

    /// The row of the summary.
    #[must_use]
    pub fn summary(&self) -> Option<LocationIdx> {
        self.rows.summary.map(LocationIdx::new)
    }

    /// All locations without the summary, in the order of the source.
    pub fn iter(&self) -> impl Iterator<Item = LocationIdx> + '_ {
        let rows = (0..).take(self.rows.len).map(LocationIdx::new);
        rows.filter(|row| Some(*row) != self.summary())
    }

    /// `locations` in the order of lists for users, see [`LocationCatalog::order`].
    #[must_use]
    pub fn in_order(&self, locations: impl IntoIterator<Item = LocationIdx>) -> Vec<LocationIdx> {
        let order = self.order();
        let mut ordered: Vec<LocationIdx> = locations.into_iter().collect();
        ordered.sort_by_cached_key(|&location| order.of(location));
        ordered
    }

    /// The order of lists for users: application, node, rank, thread, device and stream, each by
    /// number. Nodes are ordered by the first rank on them, because their own numbers are addresses.
    /// What a GPU executed comes after the threads of its rank, what has no identity last; equal
    /// ones stay in the order of the source.
    #[must_use]
    pub fn order(&self) -> LocationOrder<'_> {
        let mut first_ranks: BTreeMap<NodeOf, u64> = BTreeMap::new();
        // Ranks of a node are mostly next to each other.
        let mut last: Option<(NodeOf, u64)> = None;
        for location in self.iter() {
            let Some(rank) = self.identity(location, IdentityKind::Rank) else { continue };
            let node = self.node_of(location);
            if last.is_some_and(|(known, first)| known == node && first <= rank) {
                continue;
            }
            let first = first_ranks.entry(node).or_insert(rank);
            *first = rank.min(*first);
            last = Some((node, *first));
        }
        LocationOrder { catalog: self, first_ranks }
    }

    /// Application and node of a location.
    fn node_of(&self, location: LocationIdx) -> NodeOf {
        let of = |kind| self.identity(location, kind);
        (of(IdentityKind::Application), of(IdentityKind::Node))
    }

    /// One element of the identity of a location.
    #[must_use]
    pub fn identity(&self, location: LocationIdx, kind: IdentityKind) -> Option<u64> {
        let id = self.rows.columns[kind.column()].get(location.idx()).copied();
        id.filter(|&id| id != ABSENT)
    }

    /// What an element of a kind is called here, in the singular: `process` in place of `rank`
    /// where tools write the numbers of processes that are no ranks.
    #[must_use]
    pub fn word(&self, kind: IdentityKind) -> &'static str {
        if kind == IdentityKind::Rank && self.has_processes { "process" } else { kind.name() }
    }

    /// Whether the source gives names to locations.
    #[must_use]
    pub fn has_names(&self) -> bool {
        !self.rows.names.is_empty()
    }

    /// Whether any location has an element of this kind.
    #[must_use]
    pub fn has(&self, kind: IdentityKind) -> bool {
        !self.rows.columns[kind.column()].is_empty()
    }

    /// The kinds that any location has, from the outermost.
    pub fn kinds(&self) -> impl Iterator<Item = IdentityKind> + '_ {
        IdentityKind::ALL.into_iter().filter(|&kind| self.has(kind))
    }

    /// How many different values a kind takes. Ranks of different applications are different.
    #[must_use]
    pub fn count_distinct(&self, kind: IdentityKind) -> usize {
        let own = |l| Some((self.application_of(l, kind), self.identity(l, kind)?));
        let mut ids: Vec<_> = self.iter().filter_map(own).collect();
        ids.sort_unstable();
        ids.dedup();
        ids.len()
    }

    /// Whether a location is a stream, context or device of a GPU.
    #[must_use]
    pub fn is_gpu(&self, location: LocationIdx) -> bool {
        [IdentityKind::GpuStream, IdentityKind::GpuContext, IdentityKind::GpuDevice]
            .iter()
            .any(|&kind| self.identity(location, kind).is_some())
    }

    /// Number of ranks of the parallel program. What executes on GPUs is no rank, nor is a process
    /// that is not one: tools that name locations (PyTorch's profiler, rocprofiler) write the
    /// number of each process in place of a rank, which for ranks are 0, 1, 2 and so on.
    #[must_use]
    pub fn num_ranks(&self) -> usize {
        let processes = self.processes();
        let is_run_of_ranks =
            |numbers: &BTreeSet<u64>| (0..).zip(numbers).all(|(n, own)| n == *own);
        if !self.rows.names.is_empty() && !processes.values().all(is_run_of_ranks) {
            return 0;
        }
        processes.values().map(BTreeSet::len).sum()
    }

    /// Number of processes: ranks, and processes that are none.
    #[must_use]
    pub fn num_processes(&self) -> usize {
        self.processes().values().map(BTreeSet::len).sum()
    }

    /// By application, the numbers of processes with threads. Where no process has any, those of
    /// its GPUs that are in a database of HPCToolkit without its threads.
    fn processes(&self) -> BTreeMap<Option<u64>, BTreeSet<u64>> {
        let mut hosts = self.threads();
        if !hosts.iter().any(|&location| self.process_of(location).is_some()) {
            hosts = self.iter().collect();
        }
        let mut out: BTreeMap<Option<u64>, BTreeSet<u64>> = BTreeMap::new();
        for (application, rank) in hosts.into_iter().filter_map(|host| self.process_of(host)) {
            out.entry(application).or_default().insert(rank);
        }
        out
    }

    /// The application and the number of the process of a location.
    fn process_of(&self, location: LocationIdx) -> Option<(Option<u64>, u64)> {
        let rank = self.identity(location, IdentityKind::Rank)?;
        Some((self.application_of(location, IdentityKind::Rank), rank))
    }

    /// The locations that are threads, in the order of the source. What GPUs execute is none, and
    /// neither is what PyTorch's profiler writes about a GPU as a whole: a process of its own, with
    /// a track of the device beside its streams.
    #[must_use]
    pub fn threads(&self) -> Vec<LocationIdx> {
        let gpus: BTreeSet<_> = self
            .iter()
            .filter(|&location| self.is_gpu(location))
            .filter_map(|location| self.process_of(location))
            .collect();
        let is_device = |location: LocationIdx| {
            self.identity(location, IdentityKind::Thread).is_none()
                && self.process_of(location).is_some_and(|of| gpus.contains(&of))
        };
        let is_thread = |location: &LocationIdx| !self.is_gpu(*location) && !is_device(*location);
        self.iter().filter(is_thread).collect()
    }

    /// The application in which an element of the identity of a location counts: each numbers its
    /// ranks on its own. `None` for other kinds, and where there is one application.
    #[must_use]
    pub fn application_of(&self, location: LocationIdx, kind: IdentityKind) -> Option<u64> {
        let is_own = kind == IdentityKind::Rank;
        is_own.then(|| self.identity(location, IdentityKind::Application)).flatten()
    }

    /// Number of values in the profile of a location.
    #[must_use]
    pub fn num_values(&self, location: LocationIdx) -> u64 {
        self.rows.num_values.get(location.idx()).copied().unwrap_or(0)
    }

    /// Display name of an application: `reader`, or `application 1` where it has no name.
    #[must_use]
    pub fn application_label(&self, number: u64) -> String {
        let named = self.rows.applications.get(&number);
        named.map_or_else(|| format!("application {number}"), ToString::to_string)
    }

    /// Display name of the location: the name that the source gives, or its identity: `rank 3
    /// thread 0`, `node 0x2a803c80 thread 0`, `rank 0 gpucontext 1 gpustream 7`; `summary` for the
    /// summary. In a workflow the name of the application comes first.
    ///
    /// Nodes and cores are left out where a rank distinguishes locations.
    #[must_use]
    pub fn label(&self, location: LocationIdx) -> String {
        if Some(location) == self.summary() {
            return "summary".into();
        }
        if let Ok(at) = self.rows.names.binary_search_by_key(&location.get(), |(row, _)| *row)
            && let Some((_, name)) = self.rows.names.get(at)
        {
            let application = self.identity(location, IdentityKind::Application);
            return application.map_or_else(
                || name.to_string(),
                |number| format!("{}, {name}", self.application_label(number)),
            );
        }
        let has_rank = self.identity(location, IdentityKind::Rank).is_some();
        let mut parts = Vec::new();
        for kind in IdentityKind::ALL {
            let Some(id) = self.identity(location, kind) else { continue };
            match kind {
                IdentityKind::Node if has_rank => {}
                IdentityKind::Core => {}
                IdentityKind::Node => parts.push(format!("node {id:#x}")),
                IdentityKind::Application => parts.push(self.application_label(id)),
                _ => parts.push(format!("{} {id}", self.word(kind))),
            }
        }
        if parts.is_empty() { format!("profile {}", location.get()) } else { parts.join(" ") }
    }
}

/// Application and node.
type NodeOf = (Option<u64>, Option<u64>);

/// The order of lists for users, see [`LocationCatalog::order`].
#[derive(Debug)]
pub struct LocationOrder<'c> {
    catalog: &'c LocationCatalog,
    /// The first rank on each node.
    first_ranks: BTreeMap<NodeOf, u64>,
}

/// Where a location belongs in the order of lists for users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct OrderKey([u64; 14]);

impl LocationOrder<'_> {
    /// What locations are sorted by.
    #[must_use]
    pub fn of(&self, location: LocationIdx) -> OrderKey {
        let catalog = self.catalog;
        let identity = IdentityKind::ALL.map(|kind| catalog.identity(location, kind));
        let node = catalog.node_of(location);
        let first_rank = self.first_ranks.get(&node).copied();
        let is_of_gpu = catalog.is_gpu(location);
        let is_nameless = identity.iter().all(Option::is_none);
        let rank = catalog.identity(location, IdentityKind::Rank);
        // No identity is `ABSENT`, so that one more than it has room; what is absent comes first.
        let number = |id: Option<u64>| id.map_or(0, |id| id.saturating_add(1));
        let [a, b, c, d, e, f, g, h] = identity.map(number);
        let outer = [is_nameless.into(), number(node.0), number(first_rank), number(node.1)];
        let [o0, o1, o2, o3] = outer;
        OrderKey([o0, o1, o2, o3, number(rank), is_of_gpu.into(), a, b, c, d, e, f, g, h])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog(rows: &[(&str, &[(IdentityKind, u64)])]) -> LocationCatalog {
        let mut builder = LocationCatalogBuilder::new();
        for (name, identity) in rows {
            builder.push(identity.iter().copied(), 1);
            if !name.is_empty() {
                builder.name(*name);
            }
        }
        builder.finish()
    }

    #[test]
    fn gpus_and_processes_of_profilers_are_no_ranks() {
        use IdentityKind::{GpuStream, Rank, Thread};
        let ranks = catalog(&[
            ("", &[(Rank, 3), (Thread, 0)]),
            ("", &[(Rank, 3), (GpuStream, 7)]),
            ("", &[(Rank, 5), (Thread, 0)]),
            ("", &[(Rank, 5), (Thread, 1)]),
        ]);
        assert_eq!((ranks.num_ranks(), ranks.num_processes()), (2, 2));
        // As PyTorch's profiler writes it: the GPU and the program are processes.
        let pytorch = catalog(&[
            ("python GPU 0 0, Device 0", &[(Rank, 0)]),
            ("python GPU 0 0, stream 7", &[(Rank, 0), (GpuStream, 7)]),
            ("python CPU 4711, thread 4711", &[(Rank, 4711), (Thread, 4711)]),
        ]);
        assert_eq!((pytorch.num_ranks(), pytorch.num_processes()), (0, 1));
        // As rocprofiler does: layers of the runtime.
        let rocprofiler = catalog(&[
            ("COPY 1, thread 0", &[(Rank, 1), (Thread, 0)]),
            ("CPU HIP API 2, thread 97", &[(Rank, 2), (Thread, 97)]),
        ]);
        assert_eq!((rocprofiler.num_ranks(), rocprofiler.num_processes()), (0, 2));
        // Names alone do not make ranks something else.
        let named = catalog(&[
            ("Master thread", &[(Rank, 0), (Thread, 0)]),
            ("Master thread", &[(Rank, 1), (Thread, 0)]),
        ]);
        assert_eq!((named.num_ranks(), named.num_processes()), (2, 2));
        let only_gpus =
            catalog(&[("", &[(Rank, 0), (GpuStream, 1)]), ("", &[(Rank, 1), (GpuStream, 1)])]);
        assert_eq!(only_gpus.num_ranks(), 2);
    }
}
