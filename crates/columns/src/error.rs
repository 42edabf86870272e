//! Why an operation on a table cannot be done.

use std::fmt;

use crate::MAX_ROWS;

/// Why an operation on a [`ColumnTable`](crate::ColumnTable) cannot be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableError<E> {
    /// There is no column with this name.
    NoColumn {
        /// The name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// Two columns would have one name.
    SameName {
        /// The name.
        name: String,
    },
    /// A column is shorter or longer than those before it.
    Lengths {
        /// Its name.
        name: String,
        /// How many rows it has.
        rows: usize,
        /// How many the others have.
        expected: usize,
    },
    /// There are more rows than 32 bits can count.
    TooManyRows {
        /// So many.
        rows: usize,
    },
    /// A key has 64 bits.
    WideKey {
        /// Its name.
        name: String,
    },
    /// Values are grouped by one column or two.
    NumberOfKeys {
        /// How many were given.
        keys: usize,
    },
    /// Edges of a histogram do not ascend, or are fewer than two.
    Edges,
    /// The memory has no room, or its device failed.
    Memory(E),
}

impl<E> From<E> for TableError<E> {
    fn from(error: E) -> Self {
        Self::Memory(error)
    }
}

impl<E: fmt::Display> fmt::Display for TableError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoColumn { name, known } => {
                write!(f, "there is no column `{name}`; there are {}", known.join(", "))
            }
            Self::SameName { name } => write!(f, "two columns would have the name `{name}`"),
            Self::Lengths { name, rows, expected } => {
                write!(f, "column `{name}` has {rows} rows, and those before it have {expected}")
            }
            Self::TooManyRows { rows } => {
                write!(f, "{rows} rows are more than {MAX_ROWS}, the most that a table can have")
            }
            Self::WideKey { name } => {
                write!(f, "`{name}` has 64 bits; a key has 32 bits, such as an id or a name")
            }
            Self::NumberOfKeys { keys } => {
                write!(f, "values are grouped by one or two columns, not by {keys}")
            }
            Self::Edges => f.write_str("a histogram needs two or more edges in ascending order"),
            Self::Memory(error) => error.fmt(f),
        }
    }
}

impl<E: std::error::Error> std::error::Error for TableError<E> {}
