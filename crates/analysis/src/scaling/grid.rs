//! The repetition times of one region over inputs x cores.

use std::collections::BTreeMap;

/// The times of one region: for every input and every core count, the times of its repetitions.
///
/// Invariants, checked by [`Grid::new`]: core counts are positive and strictly ascending; there is
/// one row per input and one cell per core count; every time is finite and not negative.
/// An empty cell means that this configuration was not measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    inputs: Vec<String>,
    cores: Vec<u32>,
    runs: Vec<Vec<Vec<f64>>>,
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
        Ok(Self { inputs, cores, runs })
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
        self.runs.get(input).and_then(|row| row.get(core_idx)).map_or(&[], Vec::as_slice)
    }

    /// The grid on other axes: row k holds the runs of the input at `from[k]`, and a
    /// configuration that this grid lacks is empty. `cores` must ascend strictly.
    pub(super) fn select(&self, inputs: &[String], from: &[Option<usize>], cores: &[u32]) -> Self {
        let runs = from
            .iter()
            .map(|input| {
                cores
                    .iter()
                    .map(|count| {
                        let at = input.zip(self.cores.binary_search(count).ok());
                        at.map(|(i, j)| self.repetitions(i, j).to_vec()).unwrap_or_default()
                    })
                    .collect()
            })
            .collect();
        Self { inputs: inputs.to_vec(), cores: cores.to_vec(), runs }
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
    inputs: Vec<String>,
    cells: BTreeMap<(u32, usize), Vec<f64>>,
}

impl GridBuilder {
    /// A builder for these inputs, in the order in which the maps shall show them.
    #[must_use]
    pub fn new(inputs: Vec<String>) -> Self {
        Self { inputs, cells: BTreeMap::new() }
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
        self.cells.entry((cores, input)).or_default().push(seconds);
        Ok(())
    }

    /// The grid over all core counts seen.
    ///
    /// # Errors
    /// None in practice: every run was checked by [`GridBuilder::push`].
    pub fn finish(self) -> Result<Grid, GridError> {
        let cores = self.cells.keys().map(|&(count, _)| count).collect();
        self.finish_with(cores)
    }

    /// The grid over the given core counts and all others seen, so that the grids of several
    /// regions share their axes even where a region was not executed on some counts.
    ///
    /// # Errors
    /// When a given core count is 0.
    pub fn finish_with(mut self, mut cores: Vec<u32>) -> Result<Grid, GridError> {
        cores.extend(self.cells.keys().map(|&(count, _)| count));
        cores.sort_unstable();
        cores.dedup();
        let runs = (0..self.inputs.len())
            .map(|input| {
                cores
                    .iter()
                    .map(|&count| self.cells.remove(&(count, input)).unwrap_or_default())
                    .collect()
            })
            .collect();
        Grid::new(self.inputs, cores, runs)
    }
}
