//! [`Reading`]: the costs of one execution in the rows of a comparison.

use std::collections::{BTreeMap, HashSet};

use parallax_base::{ContextIdx, Control, LocationIdx};
use parallax_engine::{EngineError, LocationChoice};
use parallax_model::{
    ContextChoice, ContextKind, ContextTree, MetricChoice, Plan, Scope, SliceRequest,
};

use super::merge::{Merged, RowMap};
use super::{Execution, Matching, Over, TestedRows, is_flat};
use crate::taxonomy::HelperThreads;

/// The cost of a row.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct RowCost {
    pub(crate) inclusive: f64,
    pub(crate) own: f64,
}

/// The costs of one execution.
pub(crate) struct Reading<'a> {
    execution: &'a Execution<'a>,
    map: &'a RowMap,
    matching: Matching,
    /// Functions stand next to each other, or callers were cut off, so only exclusive values add up.
    is_flat: bool,
    helpers: HelperThreads,
    /// Locations with values that are helper threads only.
    pub(crate) num_helpers: usize,
    /// Over all locations, by row.
    pub(crate) sums: Vec<RowCost>,
    /// Whether the execution has the row.
    has: Vec<bool>,
    /// Identities of the locations that took part, in the order of the catalog.
    pub(crate) members: Vec<String>,
    pub(crate) member_ids: Vec<LocationIdx>,
    /// The largest over locations, by row; empty until locations are read.
    largest: Vec<RowCost>,
    /// For each tested row the value at each member; empty until locations are read.
    cells: Vec<[Vec<f64>; 2]>,
    /// One for each watched set.
    pub(crate) watched: Vec<Watched>,
}

/// The inclusive cost of a watched set.
pub(crate) struct Watched {
    /// Over all members.
    sum: f64,
    /// At each member.
    pub(crate) by_location: Vec<f64>,
}

/// Callees that take more than their callers by less than this part of the whole were rounded.
const ROUNDED: f64 = 1e-3;

/// Whether callees take more than their callers: then the outer part of call paths was not recorded
/// (`TAU_CALLPATH_DEPTH`), a path stands for calls from several places, and only exclusive values
/// add up.
pub(super) fn is_cut(execution: &Execution<'_>) -> bool {
    let tree = execution.session.tree();
    execution.measure.operands().iter().any(|costs| {
        let mut below = vec![0.0; tree.len()];
        for context in tree.iter().skip(1) {
            let parent = tree.parent(context).and_then(|parent| below.get_mut(parent.idx()));
            if let Some(sum) = parent {
                *sum += costs.inclusive_of(context).max(0.0);
            }
        }
        // Some writers store no value for what is only passed through.
        let excess = |context| match costs.inclusive_of(context) {
            own if own > 0.0 => (below.get(context.idx()).copied().unwrap_or(0.0) - own).max(0.0),
            _ => 0.0,
        };
        tree.iter().map(excess).sum::<f64>() > costs.total.abs() * ROUNDED
    })
}

impl<'a> Reading<'a> {
    /// Reads the sums over locations.
    pub(crate) fn new(
        execution: &'a Execution<'a>,
        map: &'a RowMap,
        merged: &Merged,
        matching: Matching,
        control: &Control,
    ) -> Result<Self, EngineError> {
        let tree = execution.session.tree();
        let mut out = Self {
            execution,
            helpers: HelperThreads::of(tree),
            num_helpers: 0,
            map,
            matching,
            is_flat: is_flat(tree) || is_cut(execution),
            sums: Vec::new(),
            has: vec![false; merged.contexts.len()],
            members: Vec::new(),
            member_ids: Vec::new(),
            largest: Vec::new(),
            cells: Vec::new(),
            watched: Vec::new(),
        };
        let operands = execution.measure.operands().iter().map(|costs| {
            let value = |column: &[f64], context: ContextIdx| {
                column.get(context.idx()).copied().unwrap_or(0.0)
            };
            out.fold(
                |context| value(&costs.inclusive, context),
                |context| value(&costs.exclusive, context),
                merged.contexts.len(),
            )
        });
        let operands: Vec<Vec<RowCost>> = operands.collect();
        for costs in &operands {
            for (slot, cost) in out.has.iter_mut().zip(costs) {
                *slot |= cost.inclusive != 0.0 || cost.own != 0.0;
            }
        }
        out.sums = out.evaluate(&operands);
        out.find_members(control)?;
        Ok(out)
    }

    /// Costs of rows from those of contexts.
    fn fold(
        &self,
        inclusive: impl Fn(ContextIdx) -> f64,
        exclusive: impl Fn(ContextIdx) -> f64,
        num_rows: usize,
    ) -> Vec<RowCost> {
        let nodes = &self.map.tree.nodes;
        let tree = self.execution.session.tree();
        let mut costs = vec![RowCost::default(); nodes.len()];
        let (mut below_root, mut functions) = (0.0, 0.0);
        for (context, node) in tree.iter().zip(&self.map.tree.own) {
            if tree.parent(context) == Some(ContextTree::ROOT) {
                below_root += inclusive(context);
            }
            if self.helpers.has(context) {
                continue;
            }
            let Some(cost) = node.and_then(|node| costs.get_mut(node)) else { continue };
            cost.inclusive += inclusive(context);
            if self.is_flat && tree.kind(context) == ContextKind::Function {
                cost.own += exclusive(context);
                functions += exclusive(context);
            }
        }
        if let Some(root) = costs.first_mut() {
            if self.is_flat {
                root.inclusive = functions;
            } else if root.inclusive == 0.0 {
                // Some writers store no value for the root.
                root.inclusive = below_root;
            }
        }
        if !self.is_flat {
            let whole = costs.first().map_or(0.0, |root| root.inclusive.abs());
            for &helper in self.helpers.starts() {
                for above in tree.ancestors(helper) {
                    let node = self.map.tree.own.get(above.idx()).copied().flatten();
                    if let Some(cost) = node.and_then(|node| costs.get_mut(node)) {
                        cost.inclusive -= inclusive(helper);
                        // A difference of equal sums may be off by their last digits.
                        if cost.inclusive.abs() <= whole * 1e-12 {
                            cost.inclusive = 0.0;
                        }
                    }
                }
            }
        }
        if !self.is_flat {
            let whole: Vec<f64> = costs.iter().map(|cost| cost.inclusive).collect();
            for (at, node) in nodes.iter().enumerate() {
                let inclusive = whole.get(at).copied().unwrap_or(0.0);
                if let Some(cost) = costs.get_mut(at) {
                    cost.own += inclusive;
                }
                if let Some(above) = node.parent.and_then(|above| costs.get_mut(above)) {
                    above.own -= inclusive;
                }
            }
            // A difference of equal sums may be off by their last digits.
            // Where callees take a little more than their caller, clocks were rounded: no time is
            // negative.
            for cost in &mut costs {
                let is_rounding = cost.own.abs() <= cost.inclusive.abs() * 1e-12;
                if is_rounding || (cost.own < 0.0 && cost.inclusive >= 0.0) {
                    cost.own = 0.0;
                }
            }
        }
        let mut out = vec![RowCost::default(); num_rows];
        let places = self.map.row_of.iter().zip(&self.map.is_outermost);
        let mut entries = 0.0;
        for (cost, (row, &is_outermost)) in costs.iter().zip(places) {
            let Some(slot) = row.and_then(|row| out.get_mut(row)) else {
                // What entries take themselves belongs to no function.
                entries += cost.own;
                continue;
            };
            slot.own += cost.own;
            if is_outermost {
                slot.inclusive += cost.inclusive;
            }
        }
        if self.matching == Matching::Function
            && let Some(root) = out.first_mut()
        {
            root.own += entries;
        }
        out
    }

    /// What the measure makes of its operands.
    fn evaluate(&self, operands: &[Vec<RowCost>]) -> Vec<RowCost> {
        let rows = operands.first().map_or(0, Vec::len);
        let mut stack = Vec::new();
        let cost = |at: usize, row: usize| {
            operands.get(at).and_then(|costs| costs.get(row)).copied().unwrap_or_default()
        };
        (0..rows)
            .map(|row| {
                let of = |at: usize| (cost(at, row).inclusive, cost(at, row).own);
                let (inclusive, own) = self.execution.measure.evaluate(&mut stack, of);
                let clean = |value: f64| {
                    if value.is_finite() { value * self.execution.scale } else { 0.0 }
                };
                RowCost { inclusive: clean(inclusive), own: clean(own) }
            })
            .collect()
    }

    fn request(&self, locations: Vec<LocationIdx>, contexts: ContextChoice) -> SliceRequest {
        let catalog = &self.execution.session.experiment().metrics;
        let scopes = [Some(Scope::Inclusive), self.is_flat.then_some(Scope::Exclusive)];
        let mut values: Vec<u16> = Vec::new();
        for &metric in &self.execution.metrics {
            for scope in scopes.iter().flatten() {
                values.extend(catalog.get(metric).id_in(scope));
            }
        }
        values.sort_unstable();
        values.dedup();
        SliceRequest {
            locations,
            contexts,
            metrics: MetricChoice::Ids { values, statistics: Vec::new() },
            plan: Plan::Cheapest,
        }
    }

    /// Locations took part when any context directly below the root has a value there.
    fn find_members(&mut self, control: &Control) -> Result<(), EngineError> {
        let session = self.execution.session;
        let catalog = &session.experiment().locations;
        let chosen: Vec<LocationIdx> = match &self.execution.locations {
            LocationChoice::All => catalog.iter().collect(),
            LocationChoice::Some(list) => list.clone(),
        };
        let chosen: Vec<LocationIdx> =
            chosen.into_iter().filter(|&location| Some(location) != catalog.summary()).collect();
        let tree = session.tree();
        let outer: Vec<u32> =
            tree.children(ContextTree::ROOT).map(|context| tree.source_id(context)).collect();
        let helpers: HashSet<u32> =
            self.helpers.starts().iter().map(|&context| tree.source_id(context)).collect();
        let outside: HashSet<u32> = outer.iter().copied().collect();
        let mut ids: Vec<u32> = outer.iter().chain(&helpers).copied().collect();
        ids.push(tree.source_id(ContextTree::ROOT));
        ids.sort_unstable();
        ids.dedup();
        let request = self.request(chosen.clone(), ContextChoice::Ids(ids));
        // For each location and metric the cost of the root, of what is below it, and of helpers.
        let mut costs: BTreeMap<(u32, u16), [f64; 3]> = BTreeMap::new();
        session.slice_in_parts(&request, control, |part| {
            let places = part.location.iter().zip(&part.metric);
            for ((&location, &metric), (context, value)) in
                places.zip(part.context.iter().zip(&part.value))
            {
                let [root, below, helper] = costs.entry((location, metric)).or_default();
                if outside.contains(context) {
                    *below += value;
                } else if !helpers.contains(context) {
                    *root += value;
                }
                if helpers.contains(context) {
                    *helper += value;
                }
            }
        })?;
        let mut took_part: HashSet<u32> = HashSet::new();
        let mut only_helps: HashSet<u32> = HashSet::new();
        for (&(location, _), [root, below, helper]) in &costs {
            let whole = if *below == 0.0 { root } else { below };
            if (whole - helper).abs() > whole.abs() * 1e-9 {
                took_part.insert(location);
            } else if *helper != 0.0 {
                only_helps.insert(location);
            }
        }
        self.num_helpers = only_helps.difference(&took_part).count();
        self.member_ids =
            chosen.into_iter().filter(|location| took_part.contains(&location.get())).collect();
        self.members = self.member_ids.iter().map(|&location| catalog.label(location)).collect();
        Ok(())
    }

    /// Reads the values of each location in the tested rows, and the largest of all rows.
    pub(crate) fn read_locations(
        &mut self,
        tested: &TestedRows,
        merged: &Merged,
        control: &Control,
    ) -> Result<(), EngineError> {
        let session = self.execution.session;
        let tree = session.tree();
        let catalog = &session.experiment().metrics;
        let request = self.request(self.member_ids.clone(), ContextChoice::Tree);
        let operands = self.execution.metrics.len();
        let zeros = vec![0.0; tree.len()];
        let mut inclusive = vec![zeros.clone(); operands];
        let mut exclusive = vec![zeros; operands];
        let num_rows = merged.contexts.len();
        let mut largest = vec![RowCost::default(); num_rows];
        let num_members = self.member_ids.len();
        let mut cells = vec![[vec![0.0; num_members], vec![0.0; num_members]]; tested.rows.len()];
        // A metric may be named by several operands.
        let targets = |id: u16| {
            let metrics = self.execution.metrics.iter().enumerate();
            metrics.filter_map(move |(at, &metric)| {
                let described = catalog.get(metric);
                if described.id_in(&Scope::Inclusive) == Some(id) {
                    Some((at, true))
                } else if described.id_in(&Scope::Exclusive) == Some(id) {
                    Some((at, false))
                } else {
                    None
                }
            })
        };
        session.slice_in_parts(&request, control, |part| {
            let mut row = 0;
            for same in part.location.chunk_by(|a, b| a == b) {
                let range = row..row + same.len();
                row = range.end;
                for column in inclusive.iter_mut().chain(&mut exclusive) {
                    column.fill(0.0);
                }
                for at in range {
                    let (Some(&id), Some(&context), Some(&value)) =
                        (part.metric.get(at), part.context.get(at), part.value.get(at))
                    else {
                        continue;
                    };
                    let Some(context) = tree.by_source_id(context) else { continue };
                    for (operand, is_inclusive) in targets(id) {
                        let columns = if is_inclusive { &mut inclusive } else { &mut exclusive };
                        let column = columns.get_mut(operand);
                        if let Some(slot) = column.and_then(|c| c.get_mut(context.idx())) {
                            *slot += value;
                        }
                    }
                }
                let Some(&location) = same.first() else { continue };
                let member = self.member_ids.binary_search_by_key(&location, |known| known.get());
                let Ok(member) = member else { continue };
                let costs: Vec<Vec<RowCost>> = inclusive
                    .iter()
                    .zip(&exclusive)
                    .map(|(inclusive, exclusive)| {
                        let of = |column: &[f64], context: ContextIdx| {
                            column.get(context.idx()).copied().unwrap_or(0.0)
                        };
                        self.fold(|c| of(inclusive, c), |c| of(exclusive, c), num_rows)
                    })
                    .collect();
                let costs = self.evaluate(&costs);
                for (most, cost) in largest.iter_mut().zip(&costs) {
                    most.inclusive = most.inclusive.max(cost.inclusive);
                    most.own = most.own.max(cost.own);
                }
                for (&row, [whole, own]) in tested.rows.iter().zip(&mut cells) {
                    let cost = costs.get(row).copied().unwrap_or_default();
                    if let (Some(whole), Some(own)) = (whole.get_mut(member), own.get_mut(member)) {
                        (*whole, *own) = (cost.inclusive, cost.own);
                    }
                }
            }
        })?;
        self.largest = largest;
        self.cells = cells;
        Ok(())
    }

    /// The value of a row.
    pub(crate) fn value(&self, row: usize, is_own: bool, over: Over) -> f64 {
        let costs = if over == Over::Max { &self.largest } else { &self.sums };
        let cost = costs.get(row).copied().unwrap_or_default();
        let value = if is_own { cost.own } else { cost.inclusive };
        match over {
            Over::Mean if !self.is_formula() => value / self.members.len().max(1) as f64,
            _ => value,
        }
    }

    /// Reads the watched sets, location by location.
    pub(crate) fn read_watched(&mut self, control: &Control) -> Result<(), EngineError> {
        let session = self.execution.session;
        let (tree, catalog) = (session.tree(), &session.experiment().metrics);
        let num_members = self.member_ids.len();
        let mut out = Vec::new();
        for set in &self.execution.watched {
            let mut ids: Vec<u32> = set.iter().map(|&context| tree.source_id(context)).collect();
            ids.sort_unstable();
            let request = self.request(self.member_ids.clone(), ContextChoice::Ids(ids));
            let operands = self.execution.metrics.iter();
            let inclusive: Vec<Option<u16>> =
                operands.map(|&metric| catalog.get(metric).id_in(&Scope::Inclusive)).collect();
            let mut cells = vec![vec![0.0; num_members]; inclusive.len()];
            session.slice_in_parts(&request, control, |part| {
                let rows = part.location.iter().zip(&part.metric).zip(&part.value);
                for ((location, metric), value) in rows {
                    let member = self.member_ids.binary_search_by_key(location, |id| id.get());
                    let Ok(member) = member else { continue };
                    for (cells, id) in cells.iter_mut().zip(&inclusive) {
                        if *id == Some(*metric)
                            && let Some(cell) = cells.get_mut(member)
                        {
                            *cell += value;
                        }
                    }
                }
            })?;
            let cost = |at: usize| -> Vec<RowCost> {
                let value = |column: &Vec<f64>| column.get(at).copied().unwrap_or(0.0);
                let cost = |inclusive| RowCost { inclusive, own: inclusive };
                cells.iter().map(|column| cost(value(column))).collect()
            };
            let evaluate = |costs: Vec<RowCost>| {
                let costs: Vec<Vec<RowCost>> = costs.into_iter().map(|cost| vec![cost]).collect();
                self.evaluate(&costs).first().map_or(0.0, |cost| cost.inclusive)
            };
            let by_location = (0..num_members).map(|at| evaluate(cost(at))).collect();
            let whole = cells.iter().map(|column| column.iter().sum());
            let sum =
                evaluate(whole.map(|inclusive| RowCost { inclusive, own: inclusive }).collect());
            out.push(Watched { sum, by_location });
        }
        self.watched = out;
        Ok(())
    }

    /// The value of a watched set.
    pub(crate) fn watched_value(&self, set: usize, over: Over) -> f64 {
        let Some(watched) = self.watched.get(set) else { return 0.0 };
        match over {
            Over::Max => watched.by_location.iter().copied().fold(0.0, f64::max),
            Over::Mean if !self.is_formula() => watched.sum / self.members.len().max(1) as f64,
            _ => watched.sum,
        }
    }

    /// A ratio over all locations is their mean already.
    fn is_formula(&self) -> bool {
        self.execution.measure.operands().len() > 1
    }

    /// Whether the execution has the row.
    pub(crate) fn has(&self, row: usize) -> bool {
        self.has.get(row) == Some(&true)
    }

    /// The values of the `tested`th row by location.
    pub(crate) fn cells_of(&self, tested: usize, is_own: bool) -> Vec<f64> {
        let cells = self.cells.get(tested);
        cells.map(|[whole, own]| if is_own { own } else { whole }.clone()).unwrap_or_default()
    }

    /// The values of the `tested`th row by location; `None` below two locations.
    pub(crate) fn by_location(&self, tested: usize, is_own: bool) -> Option<&[f64]> {
        let [whole, own] = self.cells.get(tested)?;
        let values = if is_own { own } else { whole };
        (values.len() > 1).then_some(values)
    }
}
