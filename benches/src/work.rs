//! What is measured: each piece of work from the question to the answer in memory.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use parallax_analysis::balance::{Balance, BalanceRequest, balance};
use parallax_base::{Control, Folder, Issues, Limits, LocationIdx, TimeWindow, TrackIdx, threads};
use parallax_engine::{
    Callers, Column, Costs, FlatBy, FlatRow, LocationChoice, PruneRules, Session, Table, TopDown,
    TreeView, flat,
};
use parallax_formats::hpctoolkit::MetaDb;
use parallax_model::{
    ContextChoice, ContextKind, ContextTree, ContextTreeBuilder, Experiment, MetricChoice, Node,
    Plan, Scope, SliceColumns, SliceRequest,
};
use parallax_native::DiskFolder;

use crate::data::HUGE_RANKS;
use crate::peers::Peer;

/// Contexts of the pruned slice.
const PRUNED_CONTEXTS: usize = 62;

/// One thing that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    Open,
    Metadata,
    Tree,
    Summary,
    Pruned,
    PrunedByLocation,
    PrunedByContext,
    PrunedInclusive,
    Everything,
    TraceScan,
    TraceFlat,
    TopDown,
    Callers,
    Flat,
    Balance,
}

/// What came out: enough to compare it with what a peer found, and to weigh memory against.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Answer {
    /// Rows, samples or contexts.
    pub(crate) rows: u64,
    /// Bytes of the answer; 0 where it is small or stays in the experiment.
    pub(crate) bytes: u64,
    /// Sum of the values.
    pub(crate) sum: f64,
}

/// What must be reached, at how many ranks.
pub(crate) struct Target {
    pub(crate) millis: f64,
    ranks: u32,
}

impl Work {
    pub(crate) const ALL: [Self; 15] = [
        Self::Open,
        Self::Metadata,
        Self::Tree,
        Self::Summary,
        Self::Pruned,
        Self::PrunedByLocation,
        Self::PrunedByContext,
        Self::PrunedInclusive,
        Self::Everything,
        Self::TraceScan,
        Self::TraceFlat,
        Self::TopDown,
        Self::Callers,
        Self::Flat,
        Self::Balance,
    ];

    /// The name in tables, for `--only`, and for the process that measures it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Metadata => "open: read meta.db",
            Self::Tree => "open: build the tree",
            Self::Summary => "open + cost of every context",
            Self::Pruned => "62 contexts, all ranks",
            Self::PrunedByLocation => "62 contexts, by profile.db",
            Self::PrunedByContext => "62 contexts, by cct.db",
            Self::PrunedInclusive => "62 contexts, inclusive time",
            Self::Everything => "all contexts into Arrow",
            Self::TraceScan => "trace: visit all samples",
            Self::TraceFlat => "trace: flat profile",
            Self::TopDown => "top-down view",
            Self::Callers => "callers view",
            Self::Flat => "flat view",
            Self::Balance => "balance of 62 contexts",
        }
    }

    pub(crate) fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|work| work.name() == name)
    }

    /// Whether it makes sense at this size: all values of 10,000 ranks are no table that anybody
    /// wants at once.
    pub(crate) fn is_meant_for(self, ranks: u32) -> bool {
        match self {
            Self::Everything => ranks <= 1_000,
            Self::TraceScan | Self::TraceFlat => ranks < HUGE_RANKS,
            _ => true,
        }
    }

    /// The targets of the project.
    pub(crate) fn target(self, ranks: u32) -> Option<Target> {
        let targets: &[Target] = match self {
            Self::Open => &[Target { millis: 20.0, ranks: 10_000 }],
            Self::Pruned | Self::PrunedInclusive => &[
                Target { millis: 10.0, ranks: 10_000 },
                Target { millis: 2_000.0, ranks: HUGE_RANKS },
            ],
            Self::Everything => &[Target { millis: 60.0, ranks: 1_000 }],
            Self::TraceFlat => &[Target { millis: 100.0, ranks: 1_000 }],
            _ => &[],
        };
        targets.iter().find(|target| target.ranks == ranks).map(|t| Target { ..*t })
    }

    /// Whether memory is weighed against the bytes of the answer.
    pub(crate) fn has_memory_target(self) -> bool {
        matches!(self, Self::Pruned | Self::PrunedInclusive | Self::Everything)
    }

    /// Who else can do it.
    pub(crate) fn peers(self) -> &'static [Peer] {
        match self {
            Self::Summary => &[Peer::Hatchet],
            Self::Pruned | Self::Everything => &[Peer::HpcanalysisCpp, Peer::Numpy],
            Self::TraceScan => &[Peer::HpcanalysisCpp],
            Self::TraceFlat => &[Peer::Numpy],
            _ => &[],
        }
    }

    /// Whether the question is put to an experiment that is open already.
    pub(crate) fn needs_session(self) -> bool {
        !matches!(self, Self::Open | Self::Metadata | Self::Summary)
    }
}

/// Opens a database as the command line tool does.
pub(crate) fn open(folder: &Path) -> Result<Experiment> {
    let disk: Arc<dyn Folder> = Arc::new(DiskFolder::new(folder));
    Ok(parallax_import::open(&disk, &Limits::default())?)
}

/// What a measurement needs before its clock starts.
pub(crate) struct Bench<'a> {
    folder: &'a Path,
    /// Keeps no answers: each run is asked anew.
    session: Option<Session>,
    pruned: Vec<u32>,
}

impl<'a> Bench<'a> {
    pub(crate) fn new(work: Work, folder: &'a Path) -> Result<Self> {
        if !work.needs_session() {
            return Ok(Self { folder, session: None, pruned: Vec::new() });
        }
        let session = Session::with_cache(open(folder)?, 0);
        let is_pruned = matches!(
            work,
            Work::Pruned
                | Work::PrunedByLocation
                | Work::PrunedByContext
                | Work::PrunedInclusive
                | Work::Balance
        );
        let pruned = if is_pruned { pruned_ids(&session)? } else { Vec::new() };
        Ok(Self { folder, session: Some(session), pruned })
    }

    fn session(&self) -> Result<&Session> {
        self.session.as_ref().context("opened before the clock starts")
    }

    /// Does the work once. Looking at what came out, and dropping it, is left to the time after the
    /// clock has stopped.
    pub(crate) fn run(&self, work: Work) -> Result<Done> {
        Ok(match work {
            Work::Open => Done::Experiment(Box::new(open(self.folder)?)),
            Work::Metadata => self.metadata()?,
            Work::Tree => Done::Tree(Box::new(rebuilt(self.session()?.tree()))),
            Work::Summary => {
                let session = Session::new(open(self.folder)?);
                Done::Costs(Box::new((costs(&session)?, session)))
            }
            Work::Pruned => self.slice(MetricChoice::All, Plan::Cheapest)?,
            Work::PrunedByLocation => self.slice(MetricChoice::All, Plan::LocationMajor)?,
            Work::PrunedByContext => self.slice(MetricChoice::All, Plan::ContextMajor)?,
            Work::PrunedInclusive => {
                let session = self.session()?;
                let metric = session.default_metric(&Control::new())?.metric;
                let id = session.experiment().metrics.get(metric).id_in(&Scope::Inclusive);
                let values = id.into_iter().collect();
                let metrics = MetricChoice::Ids { values, statistics: Vec::new() };
                self.slice(metrics, Plan::Cheapest)?
            }
            Work::Everything => self.everything()?,
            Work::TraceScan => self.trace_scan()?,
            Work::TraceFlat => {
                let session = self.session()?;
                let (locations, control) = (LocationChoice::All, Control::new());
                let costs = session.trace_costs(&locations, TimeWindow::ALL, &control)?;
                let tree = session.tree();
                Done::Flat(flat(tree, &TreeView::whole(tree), &costs, FlatBy::Function, None))
            }
            Work::TopDown => {
                let session = self.session()?;
                let (tree, costs) = (session.tree(), costs(session)?);
                let view = TopDown::new(tree, TreeView::whole(tree), &costs);
                let path = view.hot_path(50.0);
                Done::TopDown(Box::new(view), path)
            }
            Work::Callers => {
                let session = self.session()?;
                let (tree, costs) = (session.tree(), costs(session)?);
                let view = TreeView::whole(tree);
                let callers = Callers::new(tree, &view, &costs, |_| true, None);
                let rows = callers.rows(u32::MAX, usize::MAX).rows.into_iter();
                Done::Callers(rows.map(|row| (row.node.depth, row.node.exclusive)).collect())
            }
            Work::Flat => {
                let session = self.session()?;
                let (tree, costs) = (session.tree(), costs(session)?);
                Done::Flat(flat(tree, &TreeView::whole(tree), &costs, FlatBy::Function, None))
            }
            Work::Balance => {
                let session = self.session()?;
                let control = Control::new();
                let metric = session.default_metric(&control)?.metric;
                let tree = session.tree();
                let ids = self.pruned.iter().filter_map(|&id| tree.by_source_id(id));
                let request = BalanceRequest::new(metric, ids.collect());
                Done::Balance(Box::new(balance(session, &request, &control)?))
            }
        })
    }

    fn metadata(&self) -> Result<Done> {
        let disk = DiskFolder::new(self.folder);
        let Some(source) = disk.open("meta.db")? else { bail!("no meta.db") };
        let meta = MetaDb::read(&*source, &Limits::default(), &mut Issues::new())?;
        Ok(Done::Metadata(Box::new(meta)))
    }

    fn request(
        &self,
        contexts: ContextChoice,
        metrics: MetricChoice,
        plan: Plan,
    ) -> Result<SliceRequest> {
        let locations: Vec<LocationIdx> = self.session()?.experiment().locations.iter().collect();
        Ok(SliceRequest { locations, contexts, metrics, plan })
    }

    fn slice(&self, metrics: MetricChoice, plan: Plan) -> Result<Done> {
        let request = self.request(ContextChoice::Ids(self.pruned.clone()), metrics, plan)?;
        Ok(Done::Slice(self.session()?.slice(&request, &Control::new())?))
    }

    fn everything(&self) -> Result<Done> {
        let request = self.request(ContextChoice::Stored, MetricChoice::All, Plan::Cheapest)?;
        let columns = self.session()?.slice(&request, &Control::new())?;
        let Some(columns) = Arc::into_inner(columns) else { bail!("the session kept the slice") };
        let table = Table::new(vec![
            Column::u32s("profile_id", "Number of the profile.", columns.location),
            Column::u32s("context_id", "Id of the context.", columns.context),
            Column::u16s("metric_id", "Id of the metric.", columns.metric),
            Column::f64s(VALUE, "", "The value.", columns.value),
        ]);
        let batch = table.to_record_batch();
        Ok(Done::Arrow { num_rows: batch.num_rows(), table })
    }

    fn trace_scan(&self) -> Result<Done> {
        let store = self.session()?.traces()?;
        let tracks = store.tracks();
        let ranges = threads::ranges(tracks.len(), |i| tracks[i].num_samples);
        let parts = threads::map(ranges, |range| -> Result<(u64, u64)> {
            let (mut samples, mut nanos) = (0, 0);
            for track in range.map(TrackIdx::from_len) {
                store.visit(track, TimeWindow::ALL, &mut |interval| {
                    samples += 1;
                    nanos += interval.end_nanos - interval.start_nanos;
                })?;
            }
            Ok((samples, nanos))
        });
        let (mut samples, mut nanos) = (0, 0);
        for part in parts {
            let part = part?;
            samples += part.0;
            nanos += part.1;
        }
        Ok(Done::Samples { samples, nanos })
    }

    /// The contexts of the pruned slice, for peers that are asked for the same.
    pub(crate) fn pruned(&self) -> &[u32] {
        &self.pruned
    }
}

/// What a piece of work made.
pub(crate) enum Done {
    Experiment(Box<Experiment>),
    Metadata(Box<MetaDb>),
    Tree(Box<ContextTree>),
    Costs(Box<(Costs, Session)>),
    Slice(Arc<SliceColumns>),
    Arrow { num_rows: usize, table: Table },
    Samples { samples: u64, nanos: u64 },
    TopDown(Box<TopDown>, Vec<usize>),
    Callers(Vec<(u32, f64)>),
    Flat(Vec<FlatRow>),
    Balance(Box<Balance>),
}

impl Done {
    /// What can be compared with others.
    pub(crate) fn answer(&self) -> Answer {
        let counted = |rows: usize| Answer { rows: rows as u64, ..Answer::default() };
        let slice = |rows: usize, sum: f64| Answer {
            rows: rows as u64,
            bytes: rows as u64 * SliceColumns::ROW_BYTES,
            sum,
        };
        match self {
            Self::Experiment(experiment) => counted(experiment.locations.len()),
            Self::Metadata(meta) => counted(meta.contexts.len()),
            Self::Tree(tree) => counted(tree.len()),
            Self::Costs(made) => {
                // The root is no row in the tables of others.
                let sum = made.0.inclusive.iter().skip(1).sum();
                Answer { sum, ..counted(made.0.inclusive.len().saturating_sub(1)) }
            }
            Self::Slice(columns) => slice(columns.len(), columns.value.iter().sum()),
            Self::Arrow { num_rows, table } => {
                slice(*num_rows, table.column(VALUE).map_or(f64::NAN, sum))
            }
            Self::Samples { samples, nanos } => {
                Answer { rows: *samples, bytes: 0, sum: *nanos as f64 / 1e9 }
            }
            Self::TopDown(top, path) => {
                let sum = path.first().map_or(0.0, |&row| top.inclusive[row]);
                Answer { sum, ..counted(top.view.len()) }
            }
            Self::Callers(nodes) => {
                let roots = nodes.iter().filter(|(depth, _)| *depth == 0);
                let sum = roots.clone().map(|(_, exclusive)| exclusive).sum();
                Answer { sum, ..counted(roots.count()) }
            }
            Self::Flat(rows) => {
                let sum = rows.iter().map(|row| row.exclusive).sum();
                Answer { sum, ..counted(rows.len()) }
            }
            Self::Balance(balance) => counted(balance.rows.len()),
        }
    }
}

/// Name of the column of values.
const VALUE: &str = "value";

fn sum(column: &Column) -> f64 {
    let values = column.values.to_data();
    values.buffer::<f64>(0).iter().take(values.len()).sum()
}

fn costs(session: &Session) -> Result<Costs> {
    let control = Control::new();
    let chosen = session.default_metric(&control)?;
    Ok(session.costs(chosen.metric, &LocationChoice::All, &control)?)
}

/// The functions left by the pruning rules (no MPI internals, no lines and loops, no cost below
/// 1 %), or the most expensive ones without the last rule where that leaves too few. Ascending ids.
fn pruned_ids(session: &Session) -> Result<Vec<u32>> {
    let (tree, costs) = (session.tree(), costs(session)?);
    let mut chosen = Vec::new();
    for below_percent in [Some(1.0), None] {
        let rules = PruneRules {
            mpi_internals: true,
            lines_and_loops: true,
            below_percent,
            ..PruneRules::default()
        };
        let view = rules.apply(tree, Some(&costs));
        let functions = view.contexts().iter().copied();
        chosen = functions.filter(|&c| tree.kind(c) == ContextKind::Function).collect();
        if chosen.len() >= PRUNED_CONTEXTS {
            break;
        }
    }
    chosen.sort_by(|&a, &b| costs.inclusive_of(b).total_cmp(&costs.inclusive_of(a)));
    chosen.truncate(PRUNED_CONTEXTS);
    let ids: HashSet<u32> = chosen.into_iter().map(|context| tree.source_id(context)).collect();
    let mut ids: Vec<u32> = ids.into_iter().collect();
    ids.sort_unstable();
    Ok(ids)
}

/// The tree built once more from its own contexts: what building costs without reading.
fn rebuilt(tree: &ContextTree) -> ContextTree {
    let mut builder = ContextTreeBuilder::new(
        tree.source_id(ContextTree::ROOT),
        tree.functions().to_vec(),
        tree.files().to_vec(),
        tree.modules().to_vec(),
    );
    for context in tree.iter().skip(1) {
        let parent = tree.parent(context).unwrap_or(ContextTree::ROOT);
        if tree.kind(context) == ContextKind::Entry {
            builder.push_entry(tree.source_id(context), tree.label(context).into());
            continue;
        }
        builder.push(
            parent,
            Node {
                source_id: tree.source_id(context),
                kind: tree.kind(context),
                relation: tree.relation(context),
                function: tree.function(context),
                file: tree.file(context),
                line: tree.line(context),
                module: tree.module(context),
                offset: tree.offset(context),
            },
        );
    }
    builder.finish()
}
