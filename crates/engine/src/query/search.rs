//! What is typed to find functions: words as in any search, or an expression for those who write
//! one.

use std::collections::HashSet;
use std::fmt;

use super::{ContextExpr, QueryError, parse_contexts};

/// How functions are found by name.
#[derive(Debug, Clone, PartialEq)]
pub enum NameSearch {
    /// Each of some words occurs in the name, whatever its case.
    Words {
        /// As they were typed.
        typed: String,
        /// Each once, in lower case.
        lower: Vec<String>,
    },
    /// The names are those of an expression `function(...)`.
    Names(ContextExpr),
}

impl NameSearch {
    /// Reads what was typed. Without the signs of an expression it is words; these signs are `*` and
    /// `?` of a glob, `|` between several names, quotes around a name and slashes around a regular
    /// expression. What has signs but is not an expression, such as `operator|(`, is words as well.
    ///
    /// # Errors
    /// When a regular expression cannot be read.
    ///
    /// ```
    /// use parallax_engine::query::NameSearch;
    /// let search = NameSearch::parse("nccl Reduce").unwrap();
    /// assert!(search.has_words("ncclDevKernel_AllReduce_Sum_f32"));
    /// assert!(!search.has_words("ncclDevKernel_Broadcast"));
    /// assert_eq!(NameSearch::parse("MPI_*").unwrap().to_string(), "function(MPI_*)");
    /// ```
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        let text = text.trim();
        let is_regex = text.len() > 1
            && text.starts_with('/')
            && (text.ends_with('/') || text.ends_with("/i"));
        let is_quoted = ['"', '\''].iter().any(|&q| text.starts_with(q) && text.ends_with(q));
        if is_regex || is_quoted || text.contains(['*', '?', '|']) {
            match parse_contexts(&format!("function({text})")) {
                Ok(names) => return Ok(Self::Names(names)),
                Err(error) if is_regex => return Err(error),
                Err(_) => {}
            }
        }
        let mut words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        // The same word a hundred thousand times is looked for once.
        let mut seen = HashSet::new();
        words.retain(|word| seen.insert(word.clone()));
        Ok(Self::Words { typed: text.to_owned(), lower: words })
    }

    /// Whether a name has all words; false for an expression.
    #[must_use]
    pub fn has_words(&self, name: &str) -> bool {
        let Self::Words { lower, .. } = self else { return false };
        let name = name.to_lowercase();
        lower.iter().all(|word| name.contains(word.as_str()))
    }
}

impl fmt::Display for NameSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words { typed, .. } => f.write_str(typed),
            Self::Names(names) => write!(f, "{names}"),
        }
    }
}
