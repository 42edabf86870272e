//! [`TimeWindow`]: a half-open interval of time.

/// From `start` (included) to `end` (excluded), in nanoseconds on the trace's own clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeWindow {
    /// First nanosecond inside.
    pub start_nanos: u64,
    /// First nanosecond after.
    pub end_nanos: u64,
}

impl TimeWindow {
    /// All of time.
    pub const ALL: Self = Self { start_nanos: 0, end_nanos: u64::MAX };

    /// From `start_nanos` to `end_nanos`; empty when the end is not after the start.
    #[must_use]
    pub const fn new(start_nanos: u64, end_nanos: u64) -> Self {
        Self { start_nanos, end_nanos }
    }

    /// Length in nanoseconds; 0 when empty.
    #[must_use]
    pub const fn nanos(self) -> u64 {
        self.end_nanos.saturating_sub(self.start_nanos)
    }

    /// Whether no nanosecond is inside.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.end_nanos <= self.start_nanos
    }

    /// The part that both windows share; empty when they do not overlap.
    #[must_use]
    pub fn intersect(self, other: Self) -> Self {
        Self {
            start_nanos: self.start_nanos.max(other.start_nanos),
            end_nanos: self.end_nanos.min(other.end_nanos),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_that_touch_do_not_overlap() {
        let a = TimeWindow::new(0, 10);
        assert!(a.intersect(TimeWindow::new(10, 20)).is_empty());
        assert_eq!(a.intersect(TimeWindow::new(9, 20)).nanos(), 1);
        assert_eq!(a.intersect(TimeWindow::ALL), a);
    }
}
