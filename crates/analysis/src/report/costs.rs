//! The costs of a report: by class and by routine.

use std::collections::{BTreeMap, HashMap};

use parallax_base::{ContextIdx, Control, LocationIdx, TimeWindow, TrackIdx, Unit};
use parallax_engine::{Costs, EngineError, Session};
use parallax_model::{
    ContextChoice, ContextKind, ContextTree, Interval, Metric, MetricChoice, Plan, Scope,
    SliceRequest,
};

use super::{Category, Routine};
use crate::taxonomy::classes::{Boundary, Classes, CostClass};
use crate::taxonomy::is_uninstrumented;

/// Smaller than this part of the whole is rounding.
const ROUNDING: f64 = 1e-9;

pub(super) struct ClassCosts {
    /// By class; costs below each boundary without the boundaries further inside.
    pub(super) by_class: BTreeMap<CostClass, f64>,
    /// Cost of each boundary without those further inside.
    pub(super) own: Vec<f64>,
}

impl ClassCosts {
    pub(super) fn new(tree: &ContextTree, classes: &Classes, costs: &Costs) -> Self {
        let mut own: Vec<f64> =
            classes.boundaries.iter().map(|b| costs.inclusive_of(b.context)).collect();
        let mut application = costs.total;
        // Boundaries come in depth-first order, so the open ones are those around the next.
        let mut open: Vec<usize> = Vec::new();
        for (at, boundary) in classes.boundaries.iter().enumerate() {
            let is_around = |&outer: &usize| {
                let outer = classes.boundaries.get(outer);
                outer.is_some_and(|outer| tree.is_within(boundary.context, outer.context))
            };
            while open.last().is_some_and(|outer| !is_around(outer)) {
                open.pop();
            }
            let cost = costs.inclusive_of(boundary.context);
            match open.last().and_then(|&outer| own.get_mut(outer)) {
                Some(outer) => *outer -= cost,
                None => application -= cost,
            }
            open.push(at);
        }
        let mut by_class = BTreeMap::from([(CostClass::Application, application)]);
        for (boundary, own) in classes.boundaries.iter().zip(&mut own) {
            if own.abs() < costs.total.abs() * ROUNDING {
                *own = 0.0;
            }
            *by_class.entry(boundary.inside).or_default() += *own;
        }
        for cost in by_class.values_mut() {
            if cost.abs() < costs.total.abs() * ROUNDING {
                *cost = 0.0;
            }
        }
        Self { by_class, own }
    }

    pub(super) fn of(&self, wanted: impl Fn(CostClass) -> bool) -> f64 {
        self.by_class.iter().filter(|(class, _)| wanted(**class)).map(|(_, cost)| cost).sum()
    }

    /// Lines of the report, group after group, the most expensive first.
    pub(super) fn categories(&self, classes: &Classes, program_total: f64) -> Vec<Category> {
        let mut groups: BTreeMap<&str, f64> = BTreeMap::new();
        for (class, cost) in &self.by_class {
            *groups.entry(class.major()).or_default() += cost;
        }
        let count = |class: CostClass| {
            classes.boundaries.iter().filter(|boundary| boundary.inside == class).count()
        };
        let mut out: Vec<Category> = self
            .by_class
            .iter()
            .filter(|(_, cost)| **cost != 0.0)
            .map(|(&class, &cost)| Category {
                class,
                cost,
                percent: percent(cost, program_total).filter(|_| class != CostClass::HelperThreads),
                num_contexts: count(class),
            })
            .collect();
        let group = |c: &Category| groups.get(c.class.major()).copied().unwrap_or(0.0);
        out.sort_by(|a, b| {
            let helper = |c: &Category| c.class == CostClass::HelperThreads;
            (helper(a).cmp(&helper(b)))
                .then(group(b).total_cmp(&group(a)))
                .then(a.class.major().cmp(b.class.major()))
                .then(b.cost.total_cmp(&a.cost))
                .then(a.class.cmp(&b.class))
        });
        out
    }

    /// The functions that begin a class, by cost.
    pub(super) fn routines(&self, classes: &Classes, program_total: f64) -> Vec<Routine> {
        let mut by_name: HashMap<(CostClass, &str), Routine> = HashMap::new();
        let mut highest: HashMap<(CostClass, &str), f64> = HashMap::new();
        for (boundary, &cost) in classes.boundaries.iter().zip(&self.own) {
            if matches!(boundary.inside, CostClass::Application | CostClass::HelperThreads) {
                continue;
            }
            let routine =
                by_name.entry((boundary.inside, &boundary.name)).or_insert_with(|| Routine {
                    name: boundary.name.clone(),
                    class: boundary.inside,
                    cost: 0.0,
                    percent: None,
                    context: boundary.context,
                    num_contexts: 0,
                });
            routine.cost += cost;
            routine.num_contexts += 1;
            let known = highest.entry((boundary.inside, &boundary.name)).or_insert(cost);
            if cost > *known {
                (*known, routine.context) = (cost, boundary.context);
            }
        }
        let mut out: Vec<Routine> = by_name.into_values().filter(|r| r.cost > 0.0).collect();
        for routine in &mut out {
            routine.percent = percent(routine.cost, program_total);
        }
        out.sort_by(|a, b| {
            b.cost.total_cmp(&a.cost).then(a.name.cmp(&b.name)).then(a.class.cmp(&b.class))
        });
        out
    }
}

/// `part` of `whole` in per cent; `None` where there is no whole.
pub(super) fn percent(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole * 100.0)
}

/// Who calls the functions by which classes begin.
pub(super) struct Callers<'a> {
    tree: &'a ContextTree,
    classes: &'a Classes,
    /// By context and name of a boundary below it, the caller at the context or above. Without it,
    /// many boundaries below a deep chain would each walk up the whole chain.
    known: HashMap<(ContextIdx, &'a str), Option<ContextIdx>>,
}

impl<'a> Callers<'a> {
    pub(super) fn new(tree: &'a ContextTree, classes: &'a Classes) -> Self {
        Self { tree, classes, known: HashMap::new() }
    }

    /// The nearest function of the program around a boundary that is not a mere wrapper of the same
    /// name (`hypre_MPI_Waitall` around `MPI_Waitall`); `None` right below an entry.
    pub(super) fn of(&mut self, boundary: &'a Boundary) -> Option<ContextIdx> {
        let name = boundary.name.as_str();
        let mut found = None;
        let mut walked = Vec::new();
        for above in self.tree.ancestors(boundary.context) {
            if let Some(known) = self.known.get(&(above, name)) {
                found = *known;
                break;
            }
            walked.push(above);
            if self.is_caller(above, name) {
                found = Some(above);
                break;
            }
        }
        self.known.extend(walked.into_iter().map(|above| ((above, name), found)));
        found
    }

    fn is_caller(&self, context: ContextIdx, name: &str) -> bool {
        self.tree.kind(context) == ContextKind::Function
            && self.classes.of_context.get(context.idx()) == Some(&CostClass::Application)
            && !self
                .tree
                .function_name(context)
                .is_some_and(|own| own.contains(name) || is_uninstrumented(own))
    }
}

/// Locations whose values are looked at to see what one sample adds.
const LOOKED_AT: usize = 8;

/// Profilers sample at least so often, in seconds and in events (cycles, instructions): what costs
/// more was hit more than once.
const SLOWEST_SECONDS: f64 = 0.02;
const SLOWEST_EVENTS: f64 = 1e8;

/// About how many samples the costs stand on: each adds about the same, so what stands at contexts
/// of one location that were hit once is the cost of one. `None` without costs, and where all
/// contexts cost more than one sample can: then nothing was hit only once, and nobody knows how
/// often.
///
/// The cost of one sample is the tenth percentile of what contexts cost themselves on some
/// locations, evenly chosen from those with samples; the smallest of these costs where few contexts
/// have any.
pub(super) fn estimated_samples(
    session: &Session,
    metric: &Metric,
    total: f64,
    control: &Control,
) -> Result<Option<f64>, EngineError> {
    let tree = session.tree();
    let locations = &session.experiment().locations;
    let sampled: Vec<LocationIdx> =
        locations.iter().filter(|&l| locations.num_values(l) > 0).collect();
    let Some(id) = metric.id_in(&Scope::Inclusive) else { return Ok(None) };
    let step = sampled.len().div_ceil(LOOKED_AT).max(1);
    let mut own_costs = Vec::new();
    for &location in sampled.iter().step_by(step) {
        let request = SliceRequest {
            locations: vec![location],
            contexts: ContextChoice::Tree,
            metrics: MetricChoice::Ids { values: vec![id], statistics: Vec::new() },
            plan: Plan::Cheapest,
        };
        let columns = session.slice(&request, control)?;
        let mut own: HashMap<ContextIdx, f64> = HashMap::new();
        let mut whole = 0.0_f64;
        for (&source_id, &value) in columns.context.iter().zip(&columns.value) {
            let Some(context) = tree.by_source_id(source_id) else { continue };
            whole = whole.max(value);
            *own.entry(context).or_default() += value;
            if let Some(above) = tree.parent(context) {
                *own.entry(above).or_default() -= value;
            }
        }
        own_costs.extend(own.into_values().filter(|cost| *cost > whole * ROUNDING));
    }
    own_costs.sort_unstable_by(f64::total_cmp);
    let slowest = match metric.unit {
        Unit::Seconds => SLOWEST_SECONDS,
        // Clocks of perf have a period in events as well, of nanoseconds.
        _ => SLOWEST_EVENTS,
    };
    let candidates = [own_costs.get(own_costs.len() / 10), own_costs.first()];
    let one = candidates.into_iter().flatten().find(|one| **one <= slowest);
    Ok(one.map(|one| total / one))
}

/// Gaps between records of traces from which on their tenth percentile is the period.
const ENOUGH_GAPS: usize = 10;

/// How many samples the traces of threads have, also where writers keep only the first of several
/// equal ones that follow each other: then the time of the tracks divided by the period, which the
/// shortest gaps between records tell. `None` where the traces have none, or too few to tell.
pub(super) fn traced_samples(
    session: &Session,
    control: &Control,
) -> Result<Option<f64>, EngineError> {
    let x = session.experiment();
    let Some(traces) = x.traces.as_deref() else { return Ok(None) };
    let is_thread = |track: &TrackIdx| {
        traces
            .track(*track)
            .is_some_and(|track| track.num_samples > 0 && !x.locations.is_gpu(track.location))
    };
    let tracks: Vec<TrackIdx> = traces.track_ids().filter(is_thread).collect();
    let stored: u64 = tracks.iter().filter_map(|t| traces.track(*t)).map(|t| t.num_samples).sum();
    let step = tracks.len().div_ceil(LOOKED_AT).max(1);
    let (mut gaps, mut nanos, mut looked_at) = (Vec::new(), 0_u64, 0_u64);
    let mut has_equal = false;
    for &track in tracks.iter().step_by(step) {
        control.check()?;
        let mut last: Option<Interval> = None;
        traces.visit(track, TimeWindow::ALL, &mut |next| {
            if let Some(last) = last {
                gaps.push(next.start_nanos.saturating_sub(last.start_nanos));
                has_equal |= next.context == last.context;
            }
            nanos += next.end_nanos.saturating_sub(next.start_nanos);
            last = Some(next);
        })?;
        looked_at += 1;
    }
    let stored = stored as f64;
    if stored == 0.0 || has_equal {
        return Ok((stored > 0.0).then_some(stored));
    }
    gaps.retain(|gap| *gap > 0);
    gaps.sort_unstable();
    if gaps.len() < ENOUGH_GAPS {
        return Ok(None);
    }
    let period = gaps.get(gaps.len() / 10).copied().unwrap_or(1).max(1);
    let of_all = nanos as f64 * tracks.len() as f64 / looked_at.max(1) as f64;
    Ok(Some((of_all / period as f64).max(stored)))
}
