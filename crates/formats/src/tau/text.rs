//! `profile.N.C.T`: the profile of one thread and one metric as text.

use std::borrow::Cow;
use std::sync::Arc;

use parallax_base::{ByteSource, Issues, Limits, Place, Severity, Stage, read_range};

use super::metadata;
use super::records::{EventRow, Facts};
use crate::FormatError;
use crate::compressed;
use crate::stream::read_all;

/// Whether the first bytes of a file are those of a profile: a number and `templated_functions`.
#[must_use]
pub fn is_profile_text(head: &[u8]) -> bool {
    let line = head.split(|&b| b == b'\n').next().unwrap_or_default();
    let digits = line.iter().take_while(|b| b.is_ascii_digit()).count();
    let rest = line.get(digits..).unwrap_or_default();
    (1..=10).contains(&digits) && rest.starts_with(b" templated_functions")
}

/// A row of timers as the file has it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TextTimer {
    pub(super) name: String,
    pub(super) groups: Vec<String>,
    pub(super) calls: f64,
    pub(super) subroutines: f64,
    pub(super) exclusive: f64,
    pub(super) inclusive: f64,
}

/// One file as it is; names of events are trimmed, rows with bad numbers are left out.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct TextProfile {
    pub(super) metric: Option<Arc<str>>,
    pub(super) metadata: Facts,
    pub(super) timers: Vec<TextTimer>,
    pub(super) events: Vec<(String, EventRow)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Timers,
    Aggregates,
    Events,
}

/// Reads one profile on its own, as [`super::Profiles`] of one thread and one metric.
///
/// # Errors
/// When the file is no profile, or cannot be read.
pub fn read_profile(
    source: &dyn ByteSource,
    file: &str,
    limits: &Limits,
    issues: &mut Issues,
) -> Result<super::Profiles, FormatError> {
    let text = read(source, file, limits, issues)?;
    let mut merge = super::folder::Merge::default();
    let id = super::folder::thread_of_name(file).unwrap_or(super::ThreadId::FIRST);
    merge.add(id, file, text, issues);
    merge.finish(file, limits, issues)
}

/// Reads the lines of one file.
pub(super) fn read(
    source: &dyn ByteSource,
    file: &str,
    limits: &Limits,
    issues: &mut Issues,
) -> Result<TextProfile, FormatError> {
    let fail = |cause| FormatError::read(file, cause);
    let head = read_range(source, 0, source.len().min(HEAD)).map_err(fail)?;
    let is_plain = compressed::Compression::of(&head) == compressed::Compression::Plain;
    let foreign = |head: &[u8]| FormatError::NotThisFormat {
        file: file.to_owned(),
        expected: "a profile of TAU",
        found: String::from_utf8_lossy(head.get(..16).unwrap_or(head)).into_owned(),
    };
    if is_plain && !is_profile_text(&head) {
        return Err(foreign(&head));
    }
    let bytes: Cow<'_, [u8]> = if is_plain {
        limits
            .metadata("a profile of TAU", source.len())
            .map_err(|cause| FormatError::Limit { file: file.to_owned(), cause })?;
        read_range(source, 0, source.len()).map_err(fail)?
    } else {
        let mut stream = compressed::open(source).map_err(fail)?;
        let all = read_all(&mut *stream, limits.metadata_bytes).map_err(fail)?;
        let wanted = limits.metadata_bytes.saturating_add(1);
        let limit = limits.metadata("a profile of TAU", wanted);
        match (all, limit) {
            (Some(all), _) => Cow::Owned(all),
            (None, Err(cause)) => return Err(FormatError::Limit { file: file.to_owned(), cause }),
            (None, Ok(())) => Cow::Owned(Vec::new()),
        }
    };
    if !is_profile_text(&bytes) {
        return Err(foreign(&bytes));
    }
    Ok(lines(&bytes, file, issues))
}

/// Bytes that decide whether a file is a profile.
const HEAD: u64 = 64;

fn lines(bytes: &[u8], file: &str, issues: &mut Issues) -> TextProfile {
    let mut out = TextProfile::default();
    let mut section = Section::Timers;
    let (mut declared_timers, mut declared_events) = (0_u64, 0_u64);
    // Names contain no line ends, and every line that TAU writes has one: a last line without is cut.
    let is_whole = bytes.last() == Some(&b'\n');
    let mut offset = 0_u64;
    let mut rest = bytes;
    while !rest.is_empty() {
        let end = rest.iter().position(|&b| b == b'\n');
        let (line, after) = match end {
            Some(end) => (rest.get(..end), rest.get(end + 1..)),
            None => (Some(rest), None),
        };
        let line = String::from_utf8_lossy(line.unwrap_or_default());
        let line = line.trim_end_matches('\r');
        let is_cut = end.is_none();
        let mut fault = |kind: &'static str, what: String| {
            let place = Place::Byte { file: file.to_owned(), offset };
            issues.report(Severity::Error, Stage::Read, kind, place, || what);
        };
        if offset == 0 {
            declared_timers = leading_number(line).unwrap_or(0);
            let metric = line.split_once("templated_functions").map(|(_, rest)| rest);
            let metric = metric.and_then(|rest| rest.strip_prefix("_MULTI_")).map(str::trim);
            out.metric = metric.filter(|name| !name.is_empty()).map(Into::into);
        } else if line.starts_with('"') && is_cut {
            fault("line-cut", "the last line is cut; it is omitted".to_owned());
        } else if line.starts_with('"') {
            let known = match section {
                Section::Timers => timer(line).map(|timer| out.timers.push(timer)),
                Section::Events => event(line).map(|event| out.events.push(event)),
                Section::Aggregates => Some(()),
            };
            if known.is_none() {
                fault("line-bad", "a line without the numbers it should have is omitted".into());
            }
        } else if line.starts_with('#') {
            if out.metadata.is_empty() {
                out.metadata = metadata::parse(line);
            }
        } else if let Some(words) = leading_number(line) {
            if line.ends_with("aggregates") {
                section = Section::Aggregates;
            } else if line.ends_with("userevents") {
                section = Section::Events;
                declared_events = words;
            } else {
                fault("line-unknown", "a line of unknown meaning is omitted".to_owned());
            }
        } else if !line.trim().is_empty() {
            fault("line-unknown", "a line of unknown meaning is omitted".to_owned());
        }
        let Some(after) = after else { break };
        offset += (rest.len() - after.len()) as u64;
        rest = after;
    }
    for (what, declared, found) in [
        ("timers", declared_timers, out.timers.len()),
        ("user events", declared_events, out.events.len()),
    ] {
        if declared != found as u64 {
            let place = Place::File { file: file.to_owned() };
            issues.report(Severity::Error, Stage::Read, "count-differs", place, || {
                format!("{declared} {what} are announced, {found} are there; the file may be cut")
            });
        }
    }
    if section == Section::Timers || !is_whole {
        let place = Place::File { file: file.to_owned() };
        issues.report(Severity::Error, Stage::Read, "file-cut", place, || {
            "the file ends before its aggregates or inside a line; it is cut".to_owned()
        });
    }
    out
}

fn leading_number(line: &str) -> Option<u64> {
    line.split_whitespace().next()?.parse().ok()
}

/// `"name" calls subrs excl incl profcalls [sumexclsqr] GROUP="A | B"`. The name ends at the last
/// quote before the group, because names may have quotes inside.
fn timer(line: &str) -> Option<TextTimer> {
    let (front, group) = match line.rfind("GROUP=\"") {
        Some(at) => (line.get(..at)?, line.get(at + "GROUP=\"".len()..)?),
        None => (line, ""),
    };
    let close = front.rfind('"').filter(|&at| at > 0)?;
    let name = front.get(1..close)?.trim();
    let mut numbers = front.get(close + 1..)?.split_whitespace().map(number);
    let mut next = || numbers.next().flatten();
    let (calls, subroutines, exclusive, inclusive) = (next()?, next()?, next()?, next()?);
    // A line that ends before the number of profile calls is cut.
    next()?;
    let groups = group.trim_end().trim_end_matches('"').split('|').map(str::trim);
    let groups = groups.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    Some(TextTimer { name: name.to_owned(), groups, calls, subroutines, exclusive, inclusive })
}

/// `"name" count max min mean sumsqr`
fn event(line: &str) -> Option<(String, EventRow)> {
    let close = line.rfind('"').filter(|&at| at > 0)?;
    let name = line.get(1..close)?.trim();
    let mut numbers = line.get(close + 1..)?.split_whitespace().map(number);
    let mut next = || numbers.next().flatten();
    let (count, max, min, mean, sum_of_squares) = (next()?, next()?, next()?, next()?, next()?);
    Some((name.to_owned(), EventRow { event: 0, count, max, min, mean, sum_of_squares }))
}

/// A number that is one: TAU writes `nan` where it divides by zero.
fn number(word: &str) -> Option<f64> {
    word.parse::<f64>().ok().filter(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_at_the_last_quote_before_the_group() {
        let line = r#""say "hi" [{a.c} {1,0}]" 2 1 1e+06 2000000 0 9 GROUP="MPI | TAU_USER" "#;
        let read = timer(line).unwrap();
        assert_eq!(read.name, r#"say "hi" [{a.c} {1,0}]"#);
        assert_eq!((read.calls, read.exclusive, read.inclusive), (2.0, 1e6, 2e6));
        assert_eq!(read.groups, ["MPI", "TAU_USER"]);
    }

    #[test]
    fn rows_without_all_numbers_are_no_rows() {
        for line in [
            r#""a" 1 2 3 4"#,
            r#""a" 1 2 3 x 0 GROUP="G""#,
            r#""a" 1 2 nan 4 0 GROUP="G""#,
            r#""a"#,
            "\"",
        ] {
            assert_eq!(timer(line), None, "{line}");
        }
        assert_eq!(event(r#""e" 1 2 3 4"#), None);
        assert!(event(r#""e "q" x" 1 2 3 4 5"#).is_some_and(|(name, _)| name == r#"e "q" x"#));
    }
}
