//! The repetition times of one region over inputs x cores.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::map::Pattern;

/// The times of one region: for every input and every core count, the times of its repetitions.
///
/// Invariants, checked by [`Grid::new`]: core counts are positive and strictly ascending; there is
/// one row per input and one cell per core count; every time is finite and not negative.
/// An empty cell means that this configuration was not measured; it takes no memory, and the names
/// of the inputs are shared between the grids of many regions.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    inputs: Arc<[String]>,
    cores: Arc<[u32]>,
    measured: Arc<Pattern>,
    /// Where the times of each measured cell end.
    ends: Vec<usize>,
    times: Vec<f64>,
}

/// Why times cannot become a [`Grid`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GridError {
    /// A core count is zero.
    #[error("core count {position} is 0: core counts start at 1")]
    ZeroCores {
        /// Position in the list of core counts.
        position: usize,
    },
    /// Core counts do not ascend strictly.
    #[error(
        "core counts must ascend without repeats, but {after} follows {before}: sort and merge them"
    )]
    CoresNotAscending {
        /// The earlier count.
        before: u32,
        /// The count that follows it.
        after: u32,
    },
    /// The number of rows is not the number of inputs.
    #[error("{rows} rows of times for {inputs} inputs: give one row per input")]
    RowCount {
        /// Rows found.
        rows: usize,
        /// Inputs given.
        inputs: usize,
    },
    /// A row does not have one cell per core count.
    #[error("input {input} has {cells} cells for {cores} core counts: give one cell per count")]
    CellCount {
        /// Position of the input.
        input: usize,
        /// Cells found.
        cells: usize,
        /// Core counts given.
        cores: usize,
    },
    /// A time is negative, infinite or not a number.
    #[error("time {value} of input {input} on {cores} cores is not a finite time of 0 s or more")]
    BadTime {
        /// Position of the input.
        input: usize,
        /// Core count.
        cores: u32,
        /// The value found, in seconds.
        value: f64,
    },
    /// An input position lies outside the list of inputs.
    #[error("input {input} does not exist: there are {inputs} inputs")]
    UnknownInput {
        /// The position asked for.
        input: usize,
        /// Inputs given.
        inputs: usize,
    },
}

impl Grid {
    /// A grid from its parts: `runs[input][core index]` are repetition times in seconds.
    ///
    /// # Errors
    /// When an invariant of [`Grid`] does not hold.
    pub fn new(
        inputs: Vec<String>,
        cores: Vec<u32>,
        runs: Vec<Vec<Vec<f64>>>,
    ) -> Result<Self, GridError> {
        if let Some(position) = cores.iter().position(|&count| count == 0) {
            return Err(GridError::ZeroCores { position });
        }
        if let Some(pair) = cores.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(GridError::CoresNotAscending { before: pair[0], after: pair[1] });
        }
        if runs.len() != inputs.len() {
            return Err(GridError::RowCount { rows: runs.len(), inputs: inputs.len() });
        }
        for (input, row) in runs.iter().enumerate() {
            if row.len() != cores.len() {
                return Err(GridError::CellCount { input, cells: row.len(), cores: cores.len() });
            }
            for (&count, cell) in cores.iter().zip(row) {
                if let Some(&value) = cell.iter().find(|&&value| !is_time(value)) {
                    return Err(GridError::BadTime { input, cores: count, value });
                }
            }
        }
        let cells = runs.into_iter().enumerate().flat_map(|(input, row)| {
            let cells = row.into_iter().enumerate().filter(|(_, cell)| !cell.is_empty());
            cells.map(move |(core_idx, cell)| ((input, core_idx), cell))
        });
        Ok(Self::of_cells(inputs.into(), cores.into(), cells))
    }

    /// A grid of measured cells, which ascend and are valid.
    fn of_cells(
        inputs: Arc<[String]>,
        cores: Arc<[u32]>,
        cells: impl IntoIterator<Item = ((usize, usize), Vec<f64>)>,
    ) -> Self {
        let (mut places, mut ends, mut times) = (Vec::new(), Vec::new(), Vec::new());
        for (place, mut cell) in cells {
            places.push(place);
            times.append(&mut cell);
            ends.push(times.len());
        }
        let measured = Arc::new(Pattern::new(inputs.len(), cores.len(), places));
        Self { inputs, cores, measured, ends, times }
    }

    /// The inputs (argument strings) in their order.
    #[must_use]
    pub fn inputs(&self) -> &[String] {
        &self.inputs
    }

    /// The core counts, ascending.
    #[must_use]
    pub fn cores(&self) -> &[u32] {
        &self.cores
    }

    /// Repetition times in seconds at a configuration; empty where nothing was measured.
    #[must_use]
    pub fn repetitions(&self, input: usize, core_idx: usize) -> &[f64] {
        self.measured.find(input, core_idx).map_or(&[], |at| self.times_of(at))
    }

    /// The measured configurations in order, input by input: input, position of the core count,
    /// and the times of the repetitions in seconds.
    pub fn measured(&self) -> impl Iterator<Item = (usize, usize, &[f64])> + '_ {
        let cells = self.measured.cells().enumerate();
        cells.map(|(at, (input, core_idx))| (input, core_idx, self.times_of(at)))
    }

    fn times_of(&self, at: usize) -> &[f64] {
        let end = |at: usize| self.ends.get(at).copied().unwrap_or(self.times.len());
        let start = at.checked_sub(1).map_or(0, end);
        self.times.get(start..end(at)).unwrap_or_default()
    }

    pub(super) fn pattern(&self) -> &Arc<Pattern> {
        &self.measured
    }

    pub(super) fn shared_inputs(&self) -> &Arc<[String]> {
        &self.inputs
    }

    pub(super) fn shared_cores(&self) -> &Arc<[u32]> {
        &self.cores
    }

    /// The grid on other axes: row k holds the runs of the input at `from[k]`, and a
    /// configuration that this grid lacks is empty. `cores` must ascend strictly.
    pub(super) fn select(&self, inputs: &[String], from: &[Option<usize>], cores: &[u32]) -> Self {
        let mut cells = Vec::new();
        for (input, own) in from.iter().enumerate() {
            let Some(own) = *own else { continue };
            let row = self.measured.row(own);
            let counts = self.measured.columns_of(own).iter().zip(row);
            for (&core_idx, at) in counts {
                let count = self.cores.get(core_idx);
                if let Some(Ok(column)) = count.map(|count| cores.binary_search(count)) {
                    cells.push(((input, column), self.times_of(at).to_vec()));
                }
            }
        }
        Self::of_cells(inputs.into(), cores.into(), cells)
    }
}

fn is_time(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

/// Collects runs in any order, as a reader meets them, into a [`Grid`].
///
/// Repetitions of a configuration keep the order in which they came.
#[derive(Debug, Clone)]
pub struct GridBuilder {
    inputs: Arc<[String]>,
    cells: BTreeMap<(usize, u32), Vec<f64>>,
}

impl GridBuilder {
    /// A builder for these inputs, in the order in which the maps shall show them.
    #[must_use]
    pub fn new(inputs: impl Into<Arc<[String]>>) -> Self {
        Self { inputs: inputs.into(), cells: BTreeMap::new() }
    }

    /// Adds the time in seconds of one run of `input` (a position) on `cores` cores.
    ///
    /// # Errors
    /// When the input is unknown, the core count 0, or the time not a finite number of 0 or more.
    /// The builder is unchanged then, so the caller may report the run and go on.
    pub fn push(&mut self, input: usize, cores: u32, seconds: f64) -> Result<(), GridError> {
        if input >= self.inputs.len() {
            return Err(GridError::UnknownInput { input, inputs: self.inputs.len() });
        }
        if cores == 0 {
            return Err(GridError::ZeroCores { position: 0 });
        }
        if !is_time(seconds) {
            return Err(GridError::BadTime { input, cores, value: seconds });
        }
        self.cells.entry((input, cores)).or_default().push(seconds);
        Ok(())
    }

    /// The grid over all core counts seen.
    ///
    /// # Errors
    /// None in practice: every run was checked by [`GridBuilder::push`].
    pub fn finish(self) -> Result<Grid, GridError> {
        self.finish_with(Vec::new())
    }

    /// The grid over the given core counts and all others seen, so that the grids of several
    /// regions share their axes even where a region was not executed on some counts.
    ///
    /// # Errors
    /// When a given core count is 0.
    pub fn finish_with(self, cores: impl Into<Arc<[u32]>>) -> Result<Grid, GridError> {
        let mut cores: Arc<[u32]> = cores.into();
        let is_known = |count: &u32| cores.binary_search(count).is_ok();
        let ascends = cores.is_sorted_by(|a, b| a < b);
        if !ascends || !self.cells.keys().all(|(_, count)| is_known(count)) {
            let mut all = cores.to_vec();
            all.extend(self.cells.keys().map(|&(_, count)| count));
            all.sort_unstable();
            all.dedup();
            cores = all.into();
        }
        if cores.first() == Some(&0) {
            return Err(GridError::ZeroCores { position: 0 });
        }
        let cells = self.cells.into_iter().filter_map(|((input, count), times)| {
            Some(((input, cores.binary_search(&count).ok()?), times))
        });
        let cells: Vec<_> = cells.collect();
        Ok(Grid::of_cells(self.inputs, cores, cells))
    }
}
