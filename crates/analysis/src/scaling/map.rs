//! One value per configuration, or none.

/// A matrix of inputs x cores whose cells may be undefined.
#[derive(Debug, Clone, PartialEq)]
pub struct Map {
    num_inputs: usize,
    num_cores: usize,
    /// Row by row (input by input); always `num_inputs * num_cores` cells.
    cells: Vec<Option<f64>>,
}

impl Map {
    /// A map whose cells come from `cell(input, core_idx)`. A value that is infinite or not a
    /// number becomes `None`.
    pub fn from_fn(
        num_inputs: usize,
        num_cores: usize,
        mut cell: impl FnMut(usize, usize) -> Option<f64>,
    ) -> Self {
        let mut cells = Vec::new();
        for input in 0..num_inputs {
            for core_idx in 0..num_cores {
                cells.push(cell(input, core_idx).filter(|value| value.is_finite()));
            }
        }
        Self { num_inputs, num_cores, cells }
    }

    /// Number of rows.
    #[must_use]
    pub fn num_inputs(&self) -> usize {
        self.num_inputs
    }

    /// Number of columns.
    #[must_use]
    pub fn num_cores(&self) -> usize {
        self.num_cores
    }

    /// The value at a configuration; `None` where undefined or outside the map.
    #[must_use]
    pub fn get(&self, input: usize, core_idx: usize) -> Option<f64> {
        if core_idx >= self.num_cores {
            return None;
        }
        let at = input.checked_mul(self.num_cores)?.checked_add(core_idx)?;
        self.cells.get(at).copied().flatten()
    }

    /// All cells, input by input; `num_inputs * num_cores` of them.
    #[must_use]
    pub fn cells(&self) -> &[Option<f64>] {
        &self.cells
    }

    /// The cells of one input, core count by core count; empty for an input outside the map.
    #[must_use]
    pub fn row(&self, input: usize) -> &[Option<f64>] {
        let start = input.saturating_mul(self.num_cores);
        let end = start.saturating_add(self.num_cores);
        self.cells.get(start..end).unwrap_or_default()
    }

    /// The same map with every defined cell replaced by `change(value)`.
    #[must_use]
    pub fn map(&self, mut change: impl FnMut(f64) -> f64) -> Self {
        Self::from_fn(self.num_inputs, self.num_cores, |input, core_idx| {
            self.get(input, core_idx).map(&mut change)
        })
    }

    /// Smallest and largest defined value.
    #[must_use]
    pub fn min_max(&self) -> Option<(f64, f64)> {
        self.cells.iter().flatten().fold(None, |range, &value| match range {
            None => Some((value, value)),
            Some((low, high)) => Some((low.min(value), high.max(value))),
        })
    }

    /// Whether no cell is defined.
    #[must_use]
    pub fn is_undefined(&self) -> bool {
        self.cells.iter().all(Option::is_none)
    }
}
