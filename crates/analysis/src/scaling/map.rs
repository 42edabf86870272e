//! One value per configuration, or none.

use std::sync::Arc;

/// Which configurations of a matrix of inputs x cores have something.
///
/// Of a few thousand inputs and core counts nearly no configuration was measured, so only those
/// that were take memory.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    num_cores: usize,
    /// Where the cells of each input start; one more than there are inputs.
    starts: Vec<usize>,
    /// Positions of core counts, ascending within an input.
    columns: Vec<usize>,
}

impl Pattern {
    /// The cells `(input, core_idx)` of `cells`, which ascend without repeats.
    pub(super) fn new(
        num_inputs: usize,
        num_cores: usize,
        cells: impl IntoIterator<Item = (usize, usize)>,
    ) -> Self {
        let (mut starts, mut columns) = (Vec::with_capacity(num_inputs + 1), Vec::new());
        for (input, core_idx) in cells {
            while starts.len() <= input {
                starts.push(columns.len());
            }
            columns.push(core_idx);
        }
        starts.resize(num_inputs + 1, columns.len());
        Self { num_cores, starts, columns }
    }

    pub(super) fn num_inputs(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    pub(super) fn len(&self) -> usize {
        self.columns.len()
    }

    /// The positions of the cells of an input.
    pub(super) fn row(&self, input: usize) -> std::ops::Range<usize> {
        let at = |input: usize| self.starts.get(input).copied().unwrap_or(self.columns.len());
        at(input)..at(input.saturating_add(1))
    }

    /// The positions of the core counts of an input.
    pub(super) fn columns_of(&self, input: usize) -> &[usize] {
        self.columns.get(self.row(input)).unwrap_or_default()
    }

    /// The position of a cell.
    pub(super) fn find(&self, input: usize, core_idx: usize) -> Option<usize> {
        let row = self.row(input);
        let found = self.columns_of(input).binary_search(&core_idx).ok()?;
        Some(row.start + found)
    }

    /// The cells `(input, core_idx)`, input by input.
    pub(super) fn cells(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.num_inputs()).flat_map(move |input| {
            self.columns_of(input).iter().map(move |&core_idx| (input, core_idx))
        })
    }
}

/// A matrix of inputs x cores whose cells may be undefined. Memory follows the defined cells.
#[derive(Debug, Clone)]
pub struct Map {
    pattern: Arc<Pattern>,
    /// The values of the cells of the pattern; not a number where undefined after all.
    values: Vec<f64>,
}

/// Maps are equal that have the same axes and the same values in the same cells.
impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        self.num_inputs() == other.num_inputs()
            && self.num_cores() == other.num_cores()
            && self.iter().eq(other.iter())
    }
}

impl Map {
    /// A map whose cells come from `cell(input, core_idx)`, which is asked for every cell: for
    /// small matrices only. A value that is infinite or not a number becomes `None`.
    pub fn from_fn(
        num_inputs: usize,
        num_cores: usize,
        mut cell: impl FnMut(usize, usize) -> Option<f64>,
    ) -> Self {
        let mut values = Vec::new();
        let mut cells = Vec::new();
        for input in 0..num_inputs {
            for core_idx in 0..num_cores {
                if let Some(value) = cell(input, core_idx).filter(|value| value.is_finite()) {
                    cells.push((input, core_idx));
                    values.push(value);
                }
            }
        }
        Self { pattern: Arc::new(Pattern::new(num_inputs, num_cores, cells)), values }
    }

    /// A map whose cells come from `cell(input, core_idx)`, which is asked for the cells of
    /// `pattern` only.
    pub(super) fn on(
        pattern: &Arc<Pattern>,
        mut cell: impl FnMut(usize, usize) -> Option<f64>,
    ) -> Self {
        let value = |(input, core_idx)| {
            cell(input, core_idx).filter(|value| value.is_finite()).unwrap_or(f64::NAN)
        };
        Self { pattern: Arc::clone(pattern), values: pattern.cells().map(value).collect() }
    }

    /// Number of rows.
    #[must_use]
    pub fn num_inputs(&self) -> usize {
        self.pattern.num_inputs()
    }

    /// Number of columns.
    #[must_use]
    pub fn num_cores(&self) -> usize {
        self.pattern.num_cores
    }

    /// The value at a configuration; `None` where undefined or outside the map.
    #[must_use]
    pub fn get(&self, input: usize, core_idx: usize) -> Option<f64> {
        let at = self.pattern.find(input, core_idx)?;
        self.values.get(at).copied().filter(|value| !value.is_nan())
    }

    /// The defined cells in order, input by input: input, position of the core count, value.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let cells = self.pattern.cells().zip(&self.values);
        cells.map(|((input, core_idx), &value)| (input, core_idx, value)).filter(is_defined)
    }

    /// The defined cells of one input, core count by core count: position and value.
    pub fn row(&self, input: usize) -> impl DoubleEndedIterator<Item = (usize, f64)> + '_ {
        let row = self.pattern.row(input);
        let columns = self.pattern.columns_of(input);
        let values = self.values.get(row).unwrap_or_default();
        columns.iter().copied().zip(values.iter().copied()).filter(|(_, value)| !value.is_nan())
    }

    /// The same map with every defined cell replaced by `change(value)`.
    #[must_use]
    pub fn map(&self, mut change: impl FnMut(f64) -> f64) -> Self {
        self.map_cells(|_, _, value| Some(change(value)))
    }

    /// The map with every defined cell replaced by what `change(input, core_idx, value)` gives.
    #[must_use]
    pub fn map_cells(&self, mut change: impl FnMut(usize, usize, f64) -> Option<f64>) -> Self {
        let values = self.pattern.cells().zip(&self.values).map(|((input, core_idx), &value)| {
            let changed = if value.is_nan() { None } else { change(input, core_idx, value) };
            changed.filter(|value| value.is_finite()).unwrap_or(f64::NAN)
        });
        Self { values: values.collect(), pattern: Arc::clone(&self.pattern) }
    }

    /// The map whose core counts are those at the positions `order`, each once.
    #[must_use]
    pub fn with_cores(&self, order: &[usize]) -> Self {
        if order.iter().copied().eq(0..self.num_cores()) {
            return self.clone();
        }
        let mut place = vec![None; self.num_cores()];
        for (at, &old) in order.iter().enumerate() {
            if let Some(place) = place.get_mut(old) {
                *place = Some(at);
            }
        }
        let (mut cells, mut values) = (Vec::new(), Vec::new());
        for input in 0..self.num_inputs() {
            let moved = |(old, value)| Some((place.get(old).copied().flatten()?, value));
            let mut row: Vec<(usize, f64)> = self.row(input).filter_map(moved).collect();
            row.sort_unstable_by_key(|&(at, _)| at);
            cells.extend(row.iter().map(|&(at, _)| (input, at)));
            values.extend(row.iter().map(|&(_, value)| value));
        }
        Self { pattern: Arc::new(Pattern::new(self.num_inputs(), order.len(), cells)), values }
    }

    /// Smallest and largest defined value.
    #[must_use]
    pub fn min_max(&self) -> Option<(f64, f64)> {
        let defined = self.values.iter().filter(|value| !value.is_nan());
        defined.fold(None, |range, &value| match range {
            None => Some((value, value)),
            Some((low, high)) => Some((low.min(value), high.max(value))),
        })
    }

    /// Whether no cell is defined.
    #[must_use]
    pub fn is_undefined(&self) -> bool {
        self.values.iter().all(|value| value.is_nan())
    }
}

fn is_defined((_, _, value): &(usize, usize, f64)) -> bool {
    !value.is_nan()
}
