//! Contexts of several databases as the regions of one ensemble, matched by call path.

pub use parallax_analysis::comparison::{ContextDetail, LibraryFrames};
use parallax_analysis::comparison::{PathNode, PathTree, is_flat};
use parallax_base::{ContextIdx, Control, LocationIdx, MetricIdx, TimeWindow, Unit};
use parallax_engine::query::parse_profiles;
use parallax_engine::resolve::resolve_profiles;
use parallax_engine::{LocationChoice, Session, scopes};
use parallax_model::ensemble::{EnsembleBuilder, RegionPlace, metric_names};
use parallax_model::{
    ContextChoice, ContextKind, ContextTree, IdentityKind, MetricChoice, Plan, Scope, SliceRequest,
};
use parallax_protocol::{EnsembleChoice, OverLocations, RegionDetail};

use super::answer::is_mpi;
use super::clock::{ChosenMetric, Clock};
use super::error::listed;
use super::pop::{USEFUL_MAX, USEFUL_MEAN};
use super::{Remedy, ScalingError};

/// How databases are read into an ensemble.
#[derive(Debug, Clone, Default)]
pub struct ContextOptions {
    /// A metric expression; `None` for elapsed time where it is known, else the metric that says
    /// most about cost.
    pub metric: Option<String>,
    /// A profile expression; `None` for the first thread of each rank, whose time passes as wall
    /// time does.
    pub profiles: Option<String>,
    /// How locations become one number; `None` for the largest: an estimate of wall time, since the
    /// slowest rank decides.
    pub over: Option<OverLocations>,
    /// Which contexts become regions.
    pub detail: ContextDetail,
    /// What becomes of library internals.
    pub libraries: LibraryFrames,
}

impl From<&EnsembleChoice> for ContextOptions {
    fn from(choice: &EnsembleChoice) -> Self {
        Self {
            metric: choice.metric.clone(),
            profiles: choice.profiles.clone(),
            over: choice.over,
            detail: match choice.detail {
                RegionDetail::Loops => ContextDetail::Loops,
                RegionDetail::Functions => ContextDetail::Functions,
                RegionDetail::Lines => ContextDetail::Lines,
            },
            libraries: match choice.library_frames {
                true => LibraryFrames::Kept,
                false => LibraryFrames::Folded,
            },
        }
    }
}

/// What was added of one database.
pub(super) struct Added {
    /// The metric that holds its values, and the one that holds their means over locations.
    pub(super) metrics: [u16; 2],
    /// By context: its node, and by node: its region.
    nodes: Vec<Option<usize>>,
    regions: Vec<Option<u32>>,
    parents: Vec<Option<usize>>,
}

impl Added {
    /// The region that has a context: its own, or the nearest one around it.
    pub(super) fn region(&self, context: ContextIdx) -> Option<u32> {
        let mut at = self.nodes.get(context.idx()).copied().flatten()?;
        loop {
            if let Some(region) = self.regions.get(at).copied().flatten() {
                return Some(region);
            }
            at = self.parents.get(at).copied().flatten()?;
        }
    }

    /// Whether a context belongs to a region, or to one inside it.
    pub(super) fn is_within(&self, context: ContextIdx, region: u32) -> bool {
        let mut next = self.nodes.get(context.idx()).copied().flatten();
        while let Some(at) = next {
            if self.regions.get(at).copied().flatten() == Some(region) {
                return true;
            }
            next = self.parents.get(at).copied().flatten();
        }
        false
    }
}

/// Adds the contexts and values of one database as `run`.
pub(super) fn add_database(
    builder: &mut EnsembleBuilder,
    run: u32,
    session: &Session,
    chosen: &ChosenMetric,
    options: &ContextOptions,
    control: &Control,
) -> Result<Added, ScalingError> {
    let catalog = &session.experiment().metrics;
    let found = catalog.iter().find(|(_, metric)| *metric.name == *chosen.name);
    let (name, unit, scale) = chosen.values(found.map(|(_, metric)| metric));
    let locations = chosen_locations(session, options)?;
    if locations.is_empty() {
        return Err(ScalingError::Missing {
            what: format!("{} has no matching location", session.experiment().metadata.origin),
            hint: Remedy::Locations.to_string(),
        });
    }
    let mut fold = Fold::new(session.tree().len(), locations.len());
    match (chosen.clock, found) {
        (Clock::Trace, _) => fold.read_trace(session, &locations, control)?,
        (Clock::Metric, Some((metric, _))) => fold.read(session, metric, &locations, control)?,
        (Clock::Metric, None) => {
            return Err(ScalingError::Unknown {
                what: "metric",
                name: chosen.name.clone(),
                known: listed(catalog.iter().map(|(_, metric)| &*metric.name)),
            });
        }
    }
    let regions = PathTree::of(session.tree(), options.detail, options.libraries);
    let totals = fold.totals(session.tree(), &regions);

    let main = builder.metric(&name, &unit);
    let longest = builder.metric(metric_names::LOCATION_MAX, &unit);
    let mean = builder.metric(metric_names::LOCATION_MEAN, &unit);
    let count = builder.metric(metric_names::LOCATIONS, &Unit::Count);
    // One rank of an MPI program has no call of MPI with samples, but is useful all the same.
    let has_mpi = unit.is_time()
        && (regions.nodes.iter().any(|node| is_mpi(&node.label))
            || session.experiment().locations.num_ranks() > 0);
    let useful =
        has_mpi.then(|| (builder.metric(USEFUL_MAX, &unit), builder.metric(USEFUL_MEAN, &unit)));
    let mut region_of: Vec<Option<u32>> = vec![None; totals.len()];
    for (at, total) in totals.iter().enumerate() {
        // Contexts without any value were not executed by the chosen locations.
        if at > 0 && total.max <= 0.0 {
            continue;
        }
        let Some(node) = regions.nodes.get(at) else { continue };
        let parent = node.parent.and_then(|above| region_of.get(above).copied().flatten());
        let region =
            builder.region(parent, &node.key, || place(session.tree(), node, &regions.nodes));
        if let Some(slot) = region_of.get_mut(at) {
            *slot = Some(region);
        }
        let locations = fold.num_locations as f64;
        let value = match options.over {
            None | Some(OverLocations::Max) => total.max,
            Some(OverLocations::Mean) => total.sum / locations,
            Some(OverLocations::Sum) => total.sum,
        };
        builder.push(main, region, run, value * scale);
        builder.push(longest, region, run, total.max * scale);
        builder.push(mean, region, run, total.sum / locations * scale);
        builder.push(count, region, run, locations);
        if let Some((longest, mean)) = useful {
            builder.push(longest, region, run, total.useful_max * scale);
            builder.push(mean, region, run, total.useful_sum / locations * scale);
        }
    }
    let parents = regions.nodes.iter().map(|node| node.parent).collect();
    Ok(Added { metrics: [main, mean], nodes: regions.own, regions: region_of, parents })
}

/// The locations that count: those asked for, else the first thread of each rank.
fn chosen_locations(
    session: &Session,
    options: &ContextOptions,
) -> Result<Vec<LocationIdx>, ScalingError> {
    let catalog = &session.experiment().locations;
    if let Some(text) = &options.profiles {
        let set = resolve_profiles(catalog, &parse_profiles(text)?);
        return Ok(match set.locations(catalog) {
            LocationChoice::All => catalog.iter().collect(),
            LocationChoice::Some(list) => list,
        });
    }
    let mut first: std::collections::BTreeMap<[Option<u64>; 3], (u64, LocationIdx)> =
        std::collections::BTreeMap::new();
    for location in catalog.iter() {
        let identity = |kind| catalog.identity(location, kind);
        if identity(IdentityKind::GpuStream).is_some() || catalog.num_values(location) == 0 {
            continue;
        }
        let rank = identity(IdentityKind::Rank);
        // Without ranks, every node of the run has its own process.
        let node = identity(IdentityKind::Node).filter(|_| rank.is_none());
        let thread = identity(IdentityKind::Thread).unwrap_or(0);
        let entry = first
            .entry([identity(IdentityKind::Application), node, rank])
            .or_insert((thread, location));
        if thread < entry.0 {
            *entry = (thread, location);
        }
    }
    let mut list: Vec<LocationIdx> = first.into_values().map(|(_, location)| location).collect();
    list.sort_unstable();
    Ok(list)
}

/// For each node whether it is a call of MPI that no other such call encloses.
fn outermost_mpi(regions: &PathTree) -> Vec<bool> {
    let mut is_inside = vec![false; regions.nodes.len()];
    let mut out = vec![false; regions.nodes.len()];
    for (at, node) in regions.nodes.iter().enumerate() {
        let is_enclosed =
            node.parent.and_then(|above| is_inside.get(above).copied()).unwrap_or(false);
        let is_call = is_mpi(&node.label);
        if let (Some(inside), Some(outermost)) = (is_inside.get_mut(at), out.get_mut(at)) {
            *inside = is_enclosed || is_call;
            *outermost = is_call && !is_enclosed;
        }
    }
    out
}

fn place(tree: &ContextTree, node: &PathNode, nodes: &[PathNode]) -> RegionPlace {
    let mut path = Vec::new();
    let mut next = node.parent;
    while let Some(above) = next.and_then(|at| nodes.get(at)) {
        if above.parent.is_some() {
            path.push(above.label.as_str());
        }
        next = above.parent;
    }
    path.reverse();
    if node.parent.is_some() {
        path.push(&node.label);
    }
    let line = match tree.kind(node.context) {
        ContextKind::Function => tree
            .function(node.context)
            .and_then(|row| tree.functions().get(row.idx()))
            .map_or(0, |function| function.line),
        _ => tree.line(node.context),
    };
    let file = match tree.kind(node.context) {
        ContextKind::Function => tree
            .function(node.context)
            .and_then(|row| tree.functions().get(row.idx()))
            .and_then(|function| tree.files().get(function.file?.idx()))
            .map(|file| file.path.to_string()),
        _ => tree.file_path(node.context).map(str::to_owned),
    };
    RegionPlace {
        id: String::new(),
        path: path.join(" > "),
        name: node.label.clone(),
        kind: node.kind,
        lines: file.as_ref().filter(|_| line > 0).map(|_| (line, line)),
        file,
    }
}

/// Largest and summed value over locations, whole and without what calls of MPI take.
#[derive(Debug, Clone, Copy, Default)]
struct Total {
    max: f64,
    sum: f64,
    useful_max: f64,
    useful_sum: f64,
}

/// Inclusive values by location and context; as many as the slice has.
struct Fold {
    num_locations: usize,
    num_contexts: usize,
    /// (location, context, value), sorted by location.
    values: Vec<(u32, u32, f64)>,
}

impl Fold {
    fn new(num_contexts: usize, num_locations: usize) -> Self {
        Self { num_locations, num_contexts, values: Vec::new() }
    }

    fn read(
        &mut self,
        session: &Session,
        metric: MetricIdx,
        locations: &[LocationIdx],
        control: &Control,
    ) -> Result<(), ScalingError> {
        let described = session.experiment().metrics.get(metric);
        let id = described.id_in(&Scope::Inclusive).ok_or_else(|| ScalingError::Missing {
            what: format!("metric {} has no inclusive values", described.name),
            hint: Remedy::Metric.to_string(),
        })?;
        let tree = session.tree();
        let exclusive = described.id_in(&Scope::Exclusive).filter(|_| is_flat(tree));
        let request = |id| SliceRequest {
            locations: locations.to_vec(),
            contexts: ContextChoice::Tree,
            metrics: MetricChoice::Ids { values: vec![id], statistics: Vec::new() },
            plan: Plan::Cheapest,
        };
        let is_function = |context: ContextIdx| tree.kind(context) == ContextKind::Function;
        self.read_where(session, &request(id), control, |c| {
            exclusive.is_none() || !is_function(c)
        })?;
        if let Some(id) = exclusive {
            self.read_where(session, &request(id), control, is_function)?;
            self.values.sort_by_key(|&(location, context, _)| (location, context));
        }
        Ok(())
    }

    /// Nanoseconds in the trace: what each context takes with everything below it.
    fn read_trace(
        &mut self,
        session: &Session,
        locations: &[LocationIdx],
        control: &Control,
    ) -> Result<(), ScalingError> {
        let tree = session.tree();
        for &location in locations {
            let one = LocationChoice::Some(vec![location]);
            let sums = session.context_sums(&one, TimeWindow::ALL, &Control::new())?;
            control.check().map_err(parallax_engine::EngineError::from)?;
            // The root keeps the time between the first and the last record in which nothing ran:
            // it passed, too.
            let point: Vec<f64> = sums.nanos.iter().map(|&nanos| nanos as f64).collect();
            let inclusive = scopes::inclusive(tree, &point);
            let values = tree.iter().zip(inclusive).filter(|(_, value)| *value > 0.0);
            self.values.extend(values.map(|(context, v)| (location.get(), context.get(), v)));
        }
        Ok(())
    }

    /// The values of the contexts that `is_wanted`.
    fn read_where(
        &mut self,
        session: &Session,
        request: &SliceRequest,
        control: &Control,
        is_wanted: impl Fn(ContextIdx) -> bool,
    ) -> Result<(), ScalingError> {
        let tree = session.tree();
        session.slice_in_parts(request, control, |part| {
            let rows = part.location.iter().zip(&part.context).zip(&part.value);
            for ((&location, &context), &value) in rows {
                // A counter that ran below zero comes out huge or negative: no time is that.
                if let Some(context) = tree.by_source_id(context).filter(|&c| is_wanted(c))
                    && value.is_finite()
                    && (0.0..1e18).contains(&value)
                {
                    self.values.push((location, context.get(), value));
                }
            }
        })?;
        Ok(())
    }

    /// For each node, the largest and the summed value over locations. Contexts of one node are
    /// siblings in the simplified tree, so their values add up within a location.
    fn totals(&self, tree: &ContextTree, regions: &PathTree) -> Vec<Total> {
        let mut totals = vec![Total::default(); regions.nodes.len()];
        let mut here = vec![0.0; regions.nodes.len()];
        let mut in_mpi = vec![0.0; regions.nodes.len()];
        let outermost = outermost_mpi(regions);
        let mut touched: Vec<usize> = Vec::new();
        debug_assert_eq!(self.num_contexts, tree.len());
        for chunk in self.values.chunk_by(|a, b| a.0 == b.0) {
            let mut below_root = 0.0;
            for &(_, context, value) in chunk {
                let context = ContextIdx::new(context);
                if tree.parent(context) == Some(ContextTree::ROOT) {
                    below_root += value;
                }
                let Some(node) = regions.own.get(context.idx()).copied().flatten() else {
                    continue;
                };
                if let Some(slot) = here.get_mut(node) {
                    *slot += value;
                    touched.push(node);
                }
            }
            // Some writers store no value for the root.
            if let Some(root) = here.first_mut()
                && *root == 0.0
            {
                *root = below_root;
                touched.push(0);
            }
            touched.sort_unstable();
            touched.dedup();
            for &node in touched.iter().filter(|&&node| outermost.get(node) == Some(&true)) {
                let value = here.get(node).copied().unwrap_or(0.0);
                let mut next = Some(node);
                while let Some(at) = next {
                    if let Some(slot) = in_mpi.get_mut(at) {
                        *slot += value;
                    }
                    next = regions.nodes.get(at).and_then(|node| node.parent);
                }
            }
            for node in touched.drain(..) {
                if let (Some(slot), Some(in_mpi), Some(total)) =
                    (here.get_mut(node), in_mpi.get_mut(node), totals.get_mut(node))
                {
                    let useful = (*slot - *in_mpi).max(0.0);
                    total.max = total.max.max(*slot);
                    total.sum += *slot;
                    total.useful_max = total.useful_max.max(useful);
                    total.useful_sum += useful;
                    *slot = 0.0;
                }
            }
            in_mpi.fill(0.0);
        }
        totals
    }
}
