//! What a reader of measurements is told, and how it reports.

use parallax_base::{Issues, Limits, Place, Severity, Stage};

use super::metric_names;

/// How the entries of a region in one run become one time.
///
/// With entries \[s_i, e_i\] on threads t_i:
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RegionTime {
    /// Length of the union of the intervals: the time during which anyone was inside. Equal to
    /// the sum where entries do not overlap.
    #[default]
    Union,
    /// Sum of e_i - s_i.
    Sum,
    /// max e_i - min s_i: from the first start to the last stop, pauses included.
    Span,
    /// The largest sum of one thread.
    ThreadMax,
}

impl RegionTime {
    /// The metric that holds the times of this policy where they differ from the default.
    #[must_use]
    pub fn metric_name(self) -> &'static str {
        match self {
            Self::Union => metric_names::TIME_UNION,
            Self::Sum => metric_names::TIME_SUM,
            Self::Span => metric_names::TIME_SPAN,
            Self::ThreadMax => metric_names::LOCATION_MAX,
        }
    }
}

/// What a reader of measurements is told.
#[derive(Debug, Clone, Copy)]
pub struct ReadOptions<'a> {
    /// The file's name, for messages and as a hint; never trusted.
    pub file: &'a str,
    /// Bounds on memory.
    pub limits: Limits,
    /// Which of a region's times becomes the metric `time`.
    pub region_time: RegionTime,
}

impl<'a> ReadOptions<'a> {
    /// Default bounds and policy for the file called `file`.
    #[must_use]
    pub fn new(file: &'a str) -> Self {
        Self { file, limits: Limits::default(), region_time: RegionTime::default() }
    }
}

/// Reports issues of one file at the stage of reading.
pub(crate) struct Report<'a> {
    pub(crate) file: &'a str,
    pub(crate) issues: &'a mut Issues,
}

impl Report<'_> {
    /// A fault at a byte of the file.
    pub(crate) fn at(
        &mut self,
        severity: Severity,
        kind: &'static str,
        offset: u64,
        message: impl FnOnce() -> String,
    ) {
        let place = Place::Byte { file: self.file.to_owned(), offset };
        self.issues.report(severity, Stage::Read, kind, place, message);
    }

    /// A fault of the file as a whole.
    pub(crate) fn whole(
        &mut self,
        severity: Severity,
        kind: &'static str,
        message: impl FnOnce() -> String,
    ) {
        let place = Place::File { file: self.file.to_owned() };
        self.issues.report(severity, Stage::Read, kind, place, message);
    }
}
