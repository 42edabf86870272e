//! [`WireError`]: why an answer could not be written.

use std::io;

use arrow_schema::{ArrowError, DataType};

/// Why an answer could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// Where it is written to failed: a full disk, a pipe whose reader has gone.
    #[error("cannot write the answer: {source}")]
    Io {
        /// What failed.
        source: io::Error,
    },
    /// A column of a type that answers do not carry.
    #[error(
        "column {column} holds {found}, which no answer may carry; \
         use bool, u16, u32, u64, i64, f64 or string"
    )]
    UnsupportedType {
        /// Name of the column.
        column: String,
        /// Its Arrow type.
        found: DataType,
    },
    /// Columns of different length: a defect of the analysis that made the table.
    #[error("column {column} has {found} rows, but the first column has {expected}")]
    UnequalColumns {
        /// Name of the column.
        column: String,
        /// Its number of rows.
        found: usize,
        /// The number of rows of the first column.
        expected: usize,
    },
    /// The values do not fit the columnar format, such as texts of over 2 GiB in one block.
    #[error("cannot encode the answer as Arrow columns: {source}")]
    Arrow {
        /// What did not fit.
        source: ArrowError,
    },
    /// The values do not fit Parquet.
    #[cfg(feature = "parquet")]
    #[error("cannot encode the answer as Parquet: {source}")]
    Parquet {
        /// What did not fit.
        source: ::parquet::errors::ParquetError,
    },
}

impl From<io::Error> for WireError {
    fn from(source: io::Error) -> Self {
        Self::Io { source }
    }
}

impl From<ArrowError> for WireError {
    /// Encoders wrap errors of the output; they are unwrapped here so that a closed pipe looks the
    /// same in every format.
    fn from(source: ArrowError) -> Self {
        match source {
            ArrowError::IoError(_, source) => Self::Io { source },
            source => Self::Arrow { source },
        }
    }
}

#[cfg(feature = "parquet")]
impl From<::parquet::errors::ParquetError> for WireError {
    fn from(source: ::parquet::errors::ParquetError) -> Self {
        use ::parquet::errors::ParquetError;
        match source {
            ParquetError::External(source) => match source.downcast::<io::Error>() {
                Ok(source) => Self::Io { source: *source },
                Err(source) => Self::Parquet { source: ParquetError::External(source) },
            },
            source => Self::Parquet { source },
        }
    }
}

impl From<WireError> for io::Error {
    /// An error of the output keeps its kind, so that callers can tell a closed pipe.
    fn from(error: WireError) -> Self {
        match error {
            WireError::Io { source } => source,
            other => Self::new(io::ErrorKind::InvalidData, other),
        }
    }
}
