//! [`ProfileStore`]: values that stay where they are until they are needed.

use parallax_base::{Control, Issues, LimitExceeded, LocationIdx};

/// Why a store could not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The source behind the store failed.
    #[error("{0}")]
    Read(String),
    /// The question was withdrawn.
    #[error(transparent)]
    Cancelled(#[from] parallax_base::Cancelled),
    /// The answer would be larger than allowed.
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
}

/// Which contexts a slice covers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ContextChoice {
    /// All contexts of the tree, the root included.
    Tree,
    /// All contexts of the tree but the root: what `*` means in expressions.
    Nodes,
    /// Everything stored, elided contexts (which are not in the tree) included.
    Stored,
    /// The contexts with these source ids, ascending and distinct.
    Ids(Vec<u32>),
}

/// Which metrics a slice covers, in the two numberings.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum MetricChoice {
    /// All.
    All,
    /// These, each ascending and distinct.
    Ids {
        /// Ids in the profiles of locations.
        values: Vec<u16>,
        /// Ids in the summary profile.
        statistics: Vec<u16>,
    },
}

impl MetricChoice {
    /// The ids that apply to a profile; `None` for all.
    #[must_use]
    pub fn ids(&self, is_summary: bool) -> Option<&[u16]> {
        match self {
            Self::All => None,
            Self::Ids { values, statistics } => Some(if is_summary { statistics } else { values }),
        }
    }
}

/// In which order a store reads what it has in two orders. The answer is the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Plan {
    /// Whichever is estimated to touch fewer bytes.
    #[default]
    Cheapest,
    /// One location after the other.
    LocationMajor,
    /// One context after the other.
    ContextMajor,
}

/// A part of the values of an experiment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SliceRequest {
    /// Locations (and the summary, where wanted), ascending and distinct.
    pub locations: Vec<LocationIdx>,
    /// Contexts.
    pub contexts: ContextChoice,
    /// Metrics.
    pub metrics: MetricChoice,
    /// How to read.
    pub plan: Plan,
}

/// Values as columns of equal length, sorted by location, context id and metric id.
/// Values that are zero are not stored and therefore not in slices.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SliceColumns {
    /// Location row (profile number).
    pub location: Vec<u32>,
    /// Context id of the source.
    pub context: Vec<u32>,
    /// Metric id: of a statistic for the summary, of a metric instance otherwise.
    pub metric: Vec<u16>,
    /// The value, in the metric's unit.
    pub value: Vec<f64>,
}

impl SliceColumns {
    /// Bytes of one row.
    pub const ROW_BYTES: u64 = 4 + 4 + 2 + 8;

    /// Columns of `rows` zeros, to be filled.
    #[must_use]
    pub fn zeroed(rows: usize) -> Self {
        Self {
            location: vec![0; rows],
            context: vec![0; rows],
            metric: vec![0; rows],
            value: vec![0.0; rows],
        }
    }

    /// Adds a value, which follows the others in their order.
    pub fn push(&mut self, location: u32, context: u32, metric: u16, value: f64) {
        self.location.push(location);
        self.context.push(context);
        self.metric.push(metric);
        self.value.push(value);
    }

    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.value.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.value.is_empty()
    }
}

/// Values by location, context and metric.
pub trait ProfileStore: Send + Sync {
    /// Reads a slice.
    ///
    /// # Errors
    /// When the source fails, the answer is larger than the limits, or the question is withdrawn.
    fn slice(&self, request: &SliceRequest, control: &Control) -> Result<SliceColumns, StoreError>;

    /// The plan that [`Plan::Cheapest`] takes for a request, and an upper bound of its rows.
    ///
    /// # Errors
    /// When the source fails.
    fn estimate(&self, request: &SliceRequest) -> Result<(Plan, u64), StoreError>;

    /// The sum of the values of each context, added up by location in ascending order, as context
    /// ids of the source and sums; contexts without values may be missing. `None` where a slice has
    /// to be read and added up, as always where the values are read by this process itself.
    ///
    /// # Errors
    /// As [`ProfileStore::slice`].
    fn sums(
        &self,
        _request: &SliceRequest,
        _control: &Control,
    ) -> Result<Option<Vec<(u32, f64)>>, StoreError> {
        Ok(None)
    }

    /// Faults met since opening, while values were read.
    fn late_issues(&self) -> Issues {
        Issues::new()
    }
}
