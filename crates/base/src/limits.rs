//! [`Limits`]: how much a reader may take from memory, whatever a file claims.

/// A file asked for more than the [`Limits`] allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{what} would need {wanted} bytes of memory, more than the limit of {limit}; use a part of the data"
)]
pub struct LimitExceeded {
    /// What the memory was for.
    pub what: &'static str,
    /// Bytes asked for.
    pub wanted: u64,
    /// Bytes allowed.
    pub limit: u64,
}

/// Bounds on what one open file may take.
///
/// Counts in files are checked against the file's own size first: a table of n records of s bytes
/// needs a file of n·s bytes. These limits come on top, for files that really are that large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of metadata (names, trees, tables) kept in memory.
    pub metadata_bytes: u64,
    /// Most rows of one table that are kept in memory although they can be read again.
    pub kept_rows: u64,
    /// Most bytes of packed rows of a run that are kept in memory although there is room elsewhere
    /// ([`crate::paged`]).
    pub paged_bytes: u64,
    /// Most bytes of one answer.
    pub answer_bytes: u64,
    /// Deepest nesting of contexts that is kept.
    pub max_depth: u32,
    /// Most cells of tables and pictures that are laid out with their gaps, such as inputs x core
    /// counts of all regions.
    pub max_cells: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            metadata_bytes: 8 << 30,
            kept_rows: 1 << 20,
            paged_bytes: 64 << 20,
            answer_bytes: 64 << 30,
            max_depth: 100_000,
            max_cells: 10_000_000,
        }
    }
}

impl Limits {
    /// # Errors
    /// When `bytes` of metadata are more than allowed.
    pub fn metadata(&self, what: &'static str, bytes: u64) -> Result<(), LimitExceeded> {
        Self::within(what, bytes, self.metadata_bytes)
    }

    /// # Errors
    /// When an answer of `bytes` is more than allowed.
    pub fn answer(&self, what: &'static str, bytes: u64) -> Result<(), LimitExceeded> {
        Self::within(what, bytes, self.answer_bytes)
    }

    fn within(what: &'static str, wanted: u64, limit: u64) -> Result<(), LimitExceeded> {
        if wanted > limit { Err(LimitExceeded { what, wanted, limit }) } else { Ok(()) }
    }
}
