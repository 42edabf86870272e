//! The [`Issues`] sink: every record that was repaired, dropped or guessed.
//!
//! A damaged file can hold millions of faults of one kind, and a folder thousands of damaged files.
//! The sink therefore keeps one entry for each kind and file, with the first place and a count. Of
//! very many entries the later ones are aggregated: one for each kind, which says how many files it
//! stands for. No fault is ever left out of the counts.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// How much an issue matters to the numbers that users see.
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

impl Place {
    /// The file, where the place is in one.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Byte { file, .. } | Self::File { file } => Some(file),
            Self::Time { .. } | Self::Whole => None,
        }
    }

    /// The place that was written with [`fmt::Display`]; a text of any other form is taken for the
    /// name of a file.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        let file = || Self::File { file: text.to_owned() };
        if text == Self::Whole.to_string() {
            return Self::Whole;
        }
        let nanos = text.strip_prefix("time ").and_then(|rest| rest.strip_suffix(" ns"));
        if let Some(nanos) = nanos.and_then(|nanos| nanos.parse().ok()) {
            return Self::Time { nanos };
        }
        let byte = text.rsplit_once(" at byte ");
        let byte = byte.and_then(|(file, offset)| Some((file, offset.parse().ok()?)));
        byte.map_or_else(file, |(file, offset)| Self::Byte { file: file.to_owned(), offset })
    }
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

/// One kind of fault in one file, with the place where it was seen first and how often it was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// A short stable name of the kind, such as `child-outside-section`.
    pub kind: &'static str,
    /// How much it matters: the most serious of all that were counted.
    pub severity: Severity,
    /// Which step met it.
    pub stage: Stage,
    /// Where it was seen first.
    pub place: Place,
    /// What is wrong and what was kept, as one sentence about the first occurrence.
    pub message: String,
    /// How many faults there are in all.
    pub count: u64,
    /// Number of files that have them: 1, or more where the list was full and all further files
    /// with this kind became one entry.
    pub files: u64,
}

/// All faults of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindTotal {
    /// Name of the kind.
    pub kind: &'static str,
    /// The most serious of them.
    pub severity: Severity,
    /// Number of faults, in all files.
    pub count: u64,
    /// Number of files that have them; what belongs to no file counts as one.
    pub files: u64,
}

/// Where the faults of one kind are in the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Known {
    /// The entry of what belongs to no file.
    whole: Option<usize>,
    /// The entry of each file. Files of the rest all have the same.
    by_file: BTreeMap<String, usize>,
    /// The entry of all files beyond [`Issues::MAX_LISTED`], and what was said about the first.
    rest: Option<(usize, String)>,
}

/// Collects [`Issue`]s: one for each kind and file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Issues {
    list: Vec<Issue>,
    known: BTreeMap<&'static str, Known>,
}

/// Between the message about the first file and the number of further ones.
const MORE_FILES: &str = "; the same in ";

impl Issues {
    /// Kinds and files that are listed one by one; beyond it there is one entry for each kind.
    pub const MAX_LISTED: usize = 1000;

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
        self.report_many(severity, stage, kind, place, 1, message);
    }

    /// Reports `count` faults of one kind at once, as they were counted elsewhere; the first of
    /// them is at `place`. A count of 0 is taken for 1.
    pub fn report_many(
        &mut self,
        severity: Severity,
        stage: Stage,
        kind: &'static str,
        place: Place,
        count: u64,
        message: impl FnOnce() -> String,
    ) {
        self.add((severity, stage, kind), place, (count.max(1), 1), message);
    }

    /// The entries in the order in which they were first seen.
    #[must_use]
    pub fn list(&self) -> &[Issue] {
        &self.list
    }

    /// How many entries there are: pairs of a kind and a file.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether nothing was reported.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The number of faults of each kind over all files, by the names of the kinds.
    #[must_use]
    pub fn totals(&self) -> Vec<KindTotal> {
        let mut totals: BTreeMap<&'static str, KindTotal> = BTreeMap::new();
        for Issue { kind, severity, count, files, .. } in &self.list {
            let total = totals.entry(kind).or_insert(KindTotal {
                kind,
                severity: *severity,
                count: 0,
                files: 0,
            });
            total.severity = total.severity.max(*severity);
            total.count = total.count.saturating_add(*count);
            total.files = total.files.saturating_add(*files);
        }
        totals.into_values().collect()
    }

    /// Adds all of `other`'s.
    pub fn extend(&mut self, other: Self) {
        for issue in other.list {
            let Issue { kind, severity, stage, place, message, count, files } = issue;
            self.add((severity, stage, kind), place, (count, files), || message);
        }
    }

    fn add(
        &mut self,
        (severity, stage, kind): (Severity, Stage, &'static str),
        place: Place,
        (count, files): (u64, u64),
        message: impl FnOnce() -> String,
    ) {
        let known = self.known.entry(kind).or_default();
        let at = match place.file() {
            Some(file) => known.by_file.get(file).copied(),
            None => known.whole,
        };
        if let Some(issue) = at.and_then(|at| self.list.get_mut(at)) {
            issue.count = issue.count.saturating_add(count);
            issue.severity = issue.severity.max(severity);
            return;
        }
        if let Some(file) = place.file()
            && self.list.len() >= Self::MAX_LISTED
        {
            let file = file.to_owned();
            if let Some((at, first)) = &known.rest
                && let Some(issue) = self.list.get_mut(*at)
            {
                issue.count = issue.count.saturating_add(count);
                issue.files = issue.files.saturating_add(files);
                issue.severity = issue.severity.max(severity);
                issue.message = format!("{first}{MORE_FILES}{} more files", issue.files - 1);
                known.by_file.insert(file, *at);
                return;
            }
            let (at, message) = (self.list.len(), message());
            known.by_file.insert(file, at);
            // What another list aggregated already says how many it aggregated.
            let first = message.split(MORE_FILES).next().unwrap_or_default().to_owned();
            known.rest = Some((at, first));
            self.list.push(Issue { kind, severity, stage, place, message, count, files });
            return;
        }
        match place.file() {
            Some(file) => drop(known.by_file.insert(file.to_owned(), self.list.len())),
            None => known.whole = Some(self.list.len()),
        }
        self.list.push(Issue { kind, severity, stage, place, message: message(), count, files });
    }
}

/// The name of a kind that was read from a file which this program wrote earlier. Names that are
/// too long, or come when too many different ones are known already, become `other`.
#[must_use]
pub fn interned_kind(name: &str) -> &'static str {
    const MOST: usize = 1000;
    const LONGEST: usize = 64;
    static NAMES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_default();
    if let Some(known) = names.get(name) {
        return known;
    }
    if name.is_empty() || name.len() > LONGEST || names.len() >= MOST {
        return "other";
    }
    // Kept for ever, as names in the code are: at most MOST times LONGEST bytes.
    let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(kept);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn byte(file: &str, offset: u64) -> Place {
        Place::Byte { file: file.into(), offset }
    }

    fn file(file: &str) -> Place {
        Place::File { file: file.into() }
    }

    /// Kind, file, count and number of files of each entry.
    fn entries(issues: &Issues) -> Vec<(&str, &str, u64, u64)> {
        let entry = |i: &'_ Issue| (i.kind, i.count, i.files);
        let rows = issues.list().iter().map(|i| (entry(i), i.place.file().unwrap_or("")));
        rows.map(|((kind, count, files), file)| (kind, file, count, files)).collect()
    }

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

    #[test]
    fn faults_counted_elsewhere_add_to_those_of_their_own_file() {
        let mut issues = Issues::new();
        let mut many = |place, count| {
            let (severity, stage) = (Severity::Warning, Stage::Import);
            issues.report_many(severity, stage, "overlap", place, count, || "x".into());
        };
        many(file("a"), 5);
        many(byte("b", 7), 20);
        many(byte("a", 3), 100);
        many(Place::Whole, 2);
        many(byte("b", 9), 0);
        many(Place::Time { nanos: 1 }, 3);
        let expected = [("overlap", "a", 105, 1), ("overlap", "b", 21, 1), ("overlap", "", 5, 1)];
        assert_eq!(entries(&issues), expected);
    }

    #[test]
    fn issues_put_together_keep_kinds_and_files_apart() {
        let of = |places: &[(&'static str, Place, u64)]| {
            let mut issues = Issues::new();
            for (kind, place, count) in places {
                let (severity, stage) = (Severity::Note, Stage::Read);
                issues.report_many(severity, stage, kind, place.clone(), *count, || "x".into());
            }
            issues
        };
        let mut all = of(&[("cut", file("a"), 1), ("cut", file("b"), 2), ("odd", file("a"), 4)]);
        all.extend(of(&[("odd", file("b"), 30), ("cut", byte("b", 1), 10), ("odd", file("a"), 9)]));
        let expected =
            [("cut", "a", 1, 1), ("cut", "b", 12, 1), ("odd", "a", 13, 1), ("odd", "b", 30, 1)];
        assert_eq!(entries(&all), expected);
        let totals: Vec<_> = all.totals().iter().map(|t| (t.kind, t.count, t.files)).collect();
        assert_eq!(totals, [("cut", 13, 2), ("odd", 43, 2)]);
    }

    #[test]
    fn three_thousand_damaged_files_are_all_counted() {
        let mut issues = Issues::new();
        let mut other = Issues::new();
        for i in 0..3000 {
            let sink = if i < 1500 { &mut issues } else { &mut other };
            let name = format!("profile.{i}.0.0");
            for _ in 0..2 {
                let severity = if i == 2999 { Severity::Error } else { Severity::Warning };
                sink.report(severity, Stage::Read, "cut", file(&name), || format!("{name} is cut"));
            }
        }
        issues.extend(other);
        issues.report(Severity::Error, Stage::Read, "late", file("z"), || "late".into());
        let totals: Vec<_> = issues.totals().iter().map(|t| (t.kind, t.count, t.files)).collect();
        assert_eq!(totals, [("cut", 6000, 3000), ("late", 1, 1)]);
        // The list stays short, and its last entries say what they stand for.
        assert_eq!(issues.len(), Issues::MAX_LISTED + 2);
        let rest = &issues.list()[Issues::MAX_LISTED];
        assert_eq!((rest.count, rest.files, rest.severity), (4000, 2000, Severity::Error));
        assert_eq!(rest.message, "profile.1000.0.0 is cut; the same in 1999 more files");
        assert_eq!(issues.list()[Issues::MAX_LISTED + 1].message, "late");
    }

    #[test]
    fn places_are_what_they_were_when_read_again() {
        let places = [
            byte("a b at byte c", 12),
            file("traces/1.evt"),
            Place::Time { nanos: 5 },
            Place::Whole,
        ];
        for place in places {
            assert_eq!(Place::from_text(&place.to_string()), place);
        }
    }

    #[test]
    fn kinds_read_from_files_are_bounded() {
        assert_eq!(interned_kind("cut-short"), "cut-short");
        assert_eq!(interned_kind(&"x".repeat(65)), "other");
        assert!((0..5000).any(|i| interned_kind(&format!("kind-{i}")) == "other"));
    }
}
