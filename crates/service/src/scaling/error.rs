//! [`ScalingError`]: why there is no answer about scaling.

use parallax_analysis::growth::GrowthError;
use parallax_analysis::scaling::{GridError, ProgramError};
use parallax_base::LimitExceeded;
use parallax_engine::EngineError;
use parallax_engine::query::QueryError;
use parallax_formats::FormatError;
use parallax_import::ImportError;

use crate::ServiceError;

/// Why there is no answer about scaling.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScalingError {
    /// A file or folder cannot be opened.
    #[error(transparent)]
    Open(#[from] ImportError),
    /// A database cannot answer.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// A file cannot be merged.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// Nothing was given.
    #[error("nothing to open: name measurement files or folders of databases")]
    NoSources,
    /// Files of measurements and databases were given together.
    #[error(
        "{file} is a measurement file and {folder} a database: they cannot form one ensemble; open \
         them separately"
    )]
    MixedSources {
        /// One of the files.
        file: String,
        /// One of the databases.
        folder: String,
    },
    /// No two of the experiments are runs of one program with one metric.
    #[error("no two of these are runs of one program with the same metric: {what}")]
    Unrelated {
        /// Each with its program and metric.
        what: String,
    },
    /// A rule for a parameter cannot be understood.
    #[error("cannot understand the parameter {text:?}: {what}")]
    Rule {
        /// As typed.
        text: String,
        /// What is wrong with it, and what is possible.
        what: String,
    },
    /// A rule for a parameter gives nothing for a source.
    #[error("{origin} has no value for the parameter {parameter}: {what}")]
    NoValue {
        /// The parameter.
        parameter: String,
        /// Which file or folder.
        origin: String,
        /// Why, and what to do.
        what: String,
    },
    /// No parameter, region or metric has this name.
    #[error("there is no {what} {name:?}; known: {known}")]
    Unknown {
        /// What was looked for: `parameter`, `region`, `metric`.
        what: &'static str,
        /// The name.
        name: String,
        /// What there is instead.
        known: String,
    },
    /// The question lacks something.
    #[error("{what}; {hint}")]
    Missing {
        /// What is missing.
        what: String,
        /// What to do.
        hint: String,
    },
    /// Maps have too many cells to be laid out.
    #[error(
        "{regions} maps of {inputs} inputs x {cores} core counts have more than {limit} cells; hold \
         a parameter at one value, or choose another parameter for the cores"
    )]
    TooManyCells {
        /// Number of regions.
        regions: usize,
        /// Number of inputs.
        inputs: usize,
        /// Number of core counts.
        cores: usize,
        /// Most cells.
        limit: u64,
    },
    /// The answer would take more memory than is allowed.
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
    /// Regions or times do not fit together: a defect of the source or of this program.
    #[error("the measurements are inconsistent: {what}")]
    Inconsistent {
        /// What does not fit.
        what: String,
    },
    /// No growth model can be found.
    #[error("no model of {region}: {cause}")]
    Growth {
        /// Which region.
        region: String,
        /// Why.
        cause: GrowthError,
    },
}

impl ScalingError {
    /// Whether the person who asked can put it right by asking otherwise.
    #[must_use]
    pub fn is_misuse(&self) -> bool {
        match self {
            Self::Service(error) => error.is_misuse(),
            Self::NoSources
            | Self::MixedSources { .. }
            | Self::Unrelated { .. }
            | Self::Rule { .. }
            | Self::NoValue { .. }
            | Self::Unknown { .. } => true,
            Self::Open(_)
            | Self::Format(_)
            | Self::Missing { .. }
            | Self::TooManyCells { .. }
            | Self::Limit(_)
            | Self::Inconsistent { .. }
            | Self::Growth { .. } => false,
        }
    }

    /// Whether the question was withdrawn.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Service(error) if error.is_cancelled())
    }
}

/// Names in one error at most: a table may have any number of columns.
const MOST_NAMED: usize = 20;

/// Names to choose from, as an error lists them.
pub(super) fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let mut names = names.into_iter();
    let mut out = names.by_ref().take(MOST_NAMED).collect::<Vec<_>>().join(", ");
    let more = names.count();
    if more > 0 {
        out.push_str(&format!(" and {more} more"));
    }
    out
}

impl From<EngineError> for ScalingError {
    fn from(error: EngineError) -> Self {
        Self::Service(error.into())
    }
}

impl From<QueryError> for ScalingError {
    fn from(error: QueryError) -> Self {
        Self::Service(error.into())
    }
}

impl From<GridError> for ScalingError {
    fn from(error: GridError) -> Self {
        Self::Inconsistent { what: error.to_string() }
    }
}

impl From<ProgramError> for ScalingError {
    fn from(error: ProgramError) -> Self {
        Self::Inconsistent { what: error.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::listed;

    #[test]
    fn an_error_names_some_of_very_many_columns() {
        assert_eq!(listed(["a", "b"]), "a, b");
        let names: Vec<String> = (0..200_000).map(|column| format!("c{column}")).collect();
        let text = listed(names.iter().map(String::as_str));
        assert!(text.starts_with("c0, c1, ") && text.ends_with(" and 199980 more"), "{text}");
    }
}
