//! Times of threads on the wall clock: `2016-06-30T14:44:24.81298566Z`.

/// A time as the database has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WallTime {
    /// Seconds from 1970 (UTC).
    pub seconds: i64,
    /// The digits behind the point, as a number.
    pub fraction: u32,
    /// How many digits there are.
    pub digits: u8,
}

impl WallTime {
    /// Reads a time; `None` for anything else, dates that do not exist included.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (date, time) = text.trim().trim_end_matches('Z').split_once(['T', ' '])?;
        let mut parts = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
        let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
        let (clock, fraction) = time.split_once('.').unwrap_or((time, ""));
        let mut parts = clock.splitn(3, ':').map(|part| part.parse::<i64>().ok());
        let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
        let is_sound = (1970..=9999).contains(&year)
            && (1..=12).contains(&month)
            && (1..=days_of(year, month)).contains(&day)
            && (0..24).contains(&hour)
            && (0..60).contains(&minute)
            && (0..=60).contains(&second);
        let is_number = fraction.len() <= 9 && fraction.bytes().all(|byte| byte.is_ascii_digit());
        if !is_sound || !is_number {
            return None;
        }
        let seconds = days_before(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
        let digits = u8::try_from(fraction.len()).ok()?;
        Some(Self { seconds, fraction: fraction.parse().unwrap_or(0), digits })
    }

    /// Nanoseconds from 1970 (UTC). The tool prints the number of nanoseconds without leading
    /// zeros: `.81298566` is 81,298,566 ns, not 812,985,660. `is_decimal` says that the digits are
    /// what is usual instead.
    #[must_use]
    pub fn nanos(&self, is_decimal: bool) -> i64 {
        let missing = if is_decimal { 9_u32.saturating_sub(self.digits.into()) } else { 0 };
        let nanos = i64::from(self.fraction) * 10_i64.pow(missing);
        self.seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
    }

    /// Whether the digits of all these times are a decimal fraction: all have the same number of
    /// digits, and that of milliseconds or microseconds, or one has a zero at its front that the
    /// tool would not print.
    #[must_use]
    pub fn are_decimal(times: &[Self]) -> bool {
        let Some(first) = times.first() else { return false };
        let is_padded = |time: &Self| {
            let least = 10_u32.pow(u32::from(time.digits).saturating_sub(1));
            time.digits > 1 && time.digits < 9 && time.fraction < least
        };
        let is_usual = |time: &Self| time.digits == first.digits && matches!(time.digits, 3 | 6);
        times.iter().any(is_padded) || times.iter().all(is_usual)
    }
}

const fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

const fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01, in the calendar that repeats every 400 years.
fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let before = year - 1;
    let of_years = before * 365 + before / 4 - before / 100 + before / 400 - 719_162;
    let of_months: i64 = (1..month).map(|month| days_of(year, month)).sum();
    of_years + of_months + day - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nanos(text: &str) -> Option<i64> {
        WallTime::parse(text).map(|time| time.nanos(false))
    }

    #[test]
    fn days_are_counted_as_the_calendar_does() {
        assert_eq!(nanos("1970-01-01T00:00:00.0Z"), Some(0));
        assert_eq!(nanos("2016-02-29T00:00:00Z"), Some(1_456_704_000_000_000_000));
        assert_eq!(nanos("2016-07-03T07:06:13.960384777Z"), Some(1_467_529_573_960_384_777));
        assert_eq!(nanos("2000-03-01 12:30:45.5Z"), Some(951_913_845_000_000_005));
    }

    #[test]
    fn nanoseconds_without_their_leading_zeros_are_nanoseconds() {
        // 20 ms apart, as the counters of the two threads say.
        let (a, b) = ("2016-06-30T14:44:24.81298566Z", "2016-06-30T14:44:24.101349232Z");
        assert_eq!(nanos(b).unwrap() - nanos(a).unwrap(), 101_349_232 - 81_298_566);
    }

    #[test]
    fn milliseconds_and_padded_digits_are_decimal() {
        let parsed = |texts: &[&str]| -> Vec<_> {
            texts.iter().map(|text| WallTime::parse(text).unwrap()).collect()
        };
        let milliseconds = parsed(&["2016-06-30T14:44:24.250Z", "2016-06-30T14:44:25.500Z"]);
        assert!(WallTime::are_decimal(&milliseconds));
        let first = milliseconds.first().unwrap();
        assert_eq!(first.nanos(true) % 1_000_000_000, 250_000_000);
        let mixed = parsed(&["2016-06-30T14:44:24.81298566Z", "2016-06-30T14:44:24.567791303Z"]);
        assert!(!WallTime::are_decimal(&mixed));
        assert!(WallTime::are_decimal(&parsed(&["2016-06-30T14:44:24.0812Z"])));
        assert!(!WallTime::are_decimal(&[]));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "T",
            "2016-13-01T00:00:00Z",
            "2016-02-30T00:00:00Z",
            "2015-02-29T00:00:00Z",
            "2016-01-01T24:00:00Z",
            "2016-01-01T00:00:00.1234567890Z",
            "2016-01-01T00:00:00.-1Z",
            "999999999999-01-01T00:00:00Z",
            "2016-01-01",
        ] {
            assert_eq!(WallTime::parse(text), None, "{text}");
        }
    }
}
