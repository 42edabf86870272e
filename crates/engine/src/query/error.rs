//! Errors of the query language: what is wrong, where, and what to write instead.

use std::fmt;

/// Characters of the expression that an error shows at most.
const SHOWN: usize = 96;

/// Characters of a message or hint at most; they may quote a word of any length.
const SAID: usize = 240;

/// The sort of mistake an expression holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QueryErrorKind {
    /// The expression is empty or blank.
    Empty,
    /// The expression is longer than [`MAX_LENGTH`](super::MAX_LENGTH) bytes.
    TooLong,
    /// Parentheses and negations nest deeper than [`MAX_DEPTH`](super::MAX_DEPTH).
    TooDeep,
    /// Something is missing, left over or out of place.
    Syntax,
    /// A word is not one of those that the language knows at this place.
    UnknownWord,
    /// A number does not fit or cannot be read.
    BadNumber,
    /// A range runs backwards, has step 0 or no beginning.
    BadRange,
    /// A regular expression or glob cannot be used.
    BadPattern,
    /// A unit is unknown, or makes no sense for the quantity it follows.
    BadUnit,
    /// The expression is well formed, but names something that the experiment lacks.
    UnknownName,
}

/// A mistake in a query expression.
///
/// `Display` gives the message, the expression with carets under the place, and the hint:
///
/// ```text
/// there is no field `rnak` in a profile expression
///   rnak(0-3).thread(0)
///   ^^^^
/// hint: did you mean `rank`?
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryError {
    /// The sort of mistake.
    pub kind: QueryErrorKind,
    /// The whole expression as it was given.
    pub expression: String,
    /// Where the mistake begins: the 1-based character (not byte) of `expression`; one more than
    /// its length when something is missing at the end.
    pub column: usize,
    /// How many characters the mistake spans, at least 1.
    pub length: usize,
    /// What is wrong, one sentence without a full stop.
    pub message: String,
    /// What to write instead, where that can be said.
    pub hint: Option<String>,
}

impl QueryError {
    /// An error for the bytes `from..to` of `expression`.
    pub(super) fn at(
        kind: QueryErrorKind,
        expression: &str,
        from: usize,
        to: usize,
        message: impl Into<String>,
    ) -> Self {
        let before = expression.get(..from).unwrap_or(expression);
        let spanned = expression.get(from..to).unwrap_or("");
        Self {
            kind,
            expression: expression.to_owned(),
            column: before.chars().count() + 1,
            length: spanned.chars().count().max(1),
            message: shortened(message.into()),
            hint: None,
        }
    }

    /// The same error with a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(shortened(hint.into()));
        self
    }

    /// An error of evaluation: `expression` is well formed, but `name`, which stands in it, names
    /// nothing in the experiment. The place is the first occurrence of `name` in `expression`
    /// (whatever its case), or the whole expression where it does not occur literally.
    pub fn unknown_name(expression: &str, name: &str, message: impl Into<String>) -> Self {
        let kind = QueryErrorKind::UnknownName;
        // ASCII folding keeps every byte offset.
        let found = expression.to_ascii_lowercase().find(&name.to_ascii_lowercase());
        match found {
            Some(from) if !name.is_empty() => {
                Self::at(kind, expression, from, from + name.len(), message)
            }
            _ => Self::at(kind, expression, 0, expression.len(), message),
        }
    }
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(SAID) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        if !self.expression.trim().is_empty() {
            self.show_place(f)?;
        }
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl QueryError {
    /// Writes the expression and, below it, carets at the place.
    fn show_place(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.expression.chars().count();
        let place = self.column.saturating_sub(1).min(total);
        // A long expression is shown around the mistake only.
        let first = if total <= SHOWN || place < SHOWN / 2 { 0 } else { place - SHOWN / 2 };
        let shown: String = self
            .expression
            .chars()
            .skip(first)
            .take(SHOWN)
            .map(|c| if c.is_control() || c.is_whitespace() { ' ' } else { c })
            .collect();
        let shown_count = shown.chars().count();
        let lead = if first > 0 { "…" } else { "" };
        let tail = if first + shown_count < total { "…" } else { "" };
        writeln!(f, "\n  {lead}{}{tail}", if tail.is_empty() { shown.trim_end() } else { &shown })?;
        let indent = place - first + lead.chars().count();
        let carets = self.length.clamp(1, (first + shown_count).saturating_sub(place).max(1));
        write!(f, "  {:indent$}{}", "", "^".repeat(carets))
    }
}

impl std::error::Error for QueryError {}
