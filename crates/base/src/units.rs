//! [`Unit`]: what a number counts.

use std::fmt;

/// The unit of a metric's values.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Nanoseconds.
    Nanos,
    /// Bytes.
    Bytes,
    /// Processor cycles.
    Cycles,
    /// Joules.
    Joules,
    /// Events of any other kind: instructions, faults, calls.
    Count,
    /// A ratio without a unit.
    Ratio,
    /// A unit this program does not know, in the source's own words.
    Other(String),
}

impl Unit {
    /// The unit that measurement tools write in parentheses after a metric's name.
    #[must_use]
    pub fn from_source(text: &str) -> Self {
        match text.trim().to_ascii_lowercase().as_str() {
            "s" | "sec" | "secs" | "second" | "seconds" => Self::Seconds,
            "ns" | "nsec" | "nanoseconds" => Self::Nanos,
            "b" | "byte" | "bytes" => Self::Bytes,
            "cycles" => Self::Cycles,
            "j" | "joule" | "joules" => Self::Joules,
            "" | "#" | "count" | "events" => Self::Count,
            _ => Self::Other(text.trim().to_owned()),
        }
    }

    /// Whether values are durations.
    #[must_use]
    pub const fn is_time(&self) -> bool {
        matches!(self, Self::Seconds | Self::Nanos)
    }
}

impl fmt::Display for Unit {
    /// The symbol: `s`, `ns`, `B`, `cycles`, `J`, nothing for counts and ratios.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Seconds => "s",
            Self::Nanos => "ns",
            Self::Bytes => "B",
            Self::Cycles => "cycles",
            Self::Joules => "J",
            Self::Count | Self::Ratio => "",
            Self::Other(text) => text,
        })
    }
}
