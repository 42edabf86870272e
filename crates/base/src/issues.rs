//! The [`Issues`] sink: every record that was repaired, dropped or guessed.
//!
//! A damaged file can hold millions of faults of one kind, so the sink folds them: the first few
//! of a kind are kept with their places, the rest are counted.

use std::fmt;

/// How much an issue matters to the numbers a person sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; no number is affected.
    Note,
    /// Something was repaired or guessed; numbers are probably right.
    Warning,
    /// Something was lost; numbers may be incomplete.
    Error,
}

/// Which step met the issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Reading bytes into raw records.
    Read,
    /// Mapping raw records to the model.
    Import,
    /// Computing an answer.
    Analysis,
}

/// Where an issue is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// At a byte of a file.
    Byte {
        /// File, relative to what was opened.
        file: String,
        /// Offset in bytes from its start.
        offset: u64,
    },
    /// At a time of a trace, in nanoseconds on the trace's own clock.
    Time {
        /// Nanoseconds.
        nanos: u64,
    },
    /// A file as a whole.
    File {
        /// File, relative to what was opened.
        file: String,
    },
    /// The experiment as a whole.
    Whole,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Byte { file, offset } => write!(f, "{file} at byte {offset}"),
            Self::Time { nanos } => write!(f, "time {nanos} ns"),
            Self::File { file } => f.write_str(file),
            Self::Whole => f.write_str("the experiment"),
        }
    }
}

/// One kind of fault, with the place it was first seen and how often it was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// A short stable name of the kind, such as `child-outside-section`.
    pub kind: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// Which step met it.
    pub stage: Stage,
    /// Where it was seen first.
    pub place: Place,
    /// What is wrong and what was kept, as one sentence about the first occurrence.
    pub message: String,
    /// How many of the kind there are in all.
    pub count: u64,
}

/// Collects [`Issue`]s; at most [`Issues::MAX_KINDS`] kinds, each with a count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Issues {
    list: Vec<Issue>,
}

impl Issues {
    /// Kinds are names in the code, so this bound is only a second belt.
    pub const MAX_KINDS: usize = 1000;

    /// An empty sink.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reports one fault. `message` is only called for the first of its kind and file.
    pub fn report(
        &mut self,
        severity: Severity,
        stage: Stage,
        kind: &'static str,
        place: Place,
        message: impl FnOnce() -> String,
    ) {
        let same_file = |other: &Place| match (other, &place) {
            (
                Place::Byte { file: a, .. } | Place::File { file: a },
                Place::Byte { file: b, .. } | Place::File { file: b },
            ) => a == b,
            _ => true,
        };
        let known = self.list.iter_mut().find(|i| i.kind == kind && same_file(&i.place));
        if let Some(issue) = known {
            issue.count += 1;
            issue.severity = issue.severity.max(severity);
        } else if self.list.len() < Self::MAX_KINDS {
            self.list.push(Issue { kind, severity, stage, place, message: message(), count: 1 });
        }
    }

    /// Reports `count` faults of one kind at once, as they were counted elsewhere.
    pub fn report_many(
        &mut self,
        severity: Severity,
        stage: Stage,
        kind: &'static str,
        place: Place,
        count: u64,
        message: impl FnOnce() -> String,
    ) {
        let before = self.list.len();
        self.report(severity, stage, kind, place, message);
        // A kind that is new is the last one; a known one got its count already.
        if let Some(issue) = self.list.get_mut(before) {
            issue.count = count.max(1);
        }
    }

    /// The kinds seen, in the order they were first seen.
    #[must_use]
    pub fn list(&self) -> &[Issue] {
        &self.list
    }

    /// How many kinds of issue there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether nothing was reported.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Adds all of `other`'s.
    pub fn extend(&mut self, other: Self) {
        for issue in other.list {
            let count = issue.count;
            let (kind, place) = (issue.kind, issue.place.clone());
            let message = issue.message;
            self.report(issue.severity, issue.stage, kind, place, || message);
            if let Some(kept) = self.list.iter_mut().find(|i| i.kind == kind) {
                kept.count += count - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_equal_faults_cost_one_entry() {
        let mut issues = Issues::new();
        for offset in 0..1_000_000 {
            let place = Place::Byte { file: "meta.db".into(), offset };
            issues.report(Severity::Error, Stage::Read, "bad-child", place, || "x".into());
        }
        assert_eq!(issues.len(), 1);
        assert_eq!(issues.list()[0].count, 1_000_000);
        assert_eq!(issues.list()[0].place, Place::Byte { file: "meta.db".into(), offset: 0 });
    }
}
