//! When a thread had a processor, where only sums of that are known.
//!
//! The kernel counts for each thread how long it had a processor, how long it was kept from one, and
//! how often it got one (`/proc/PID/task/TID/schedstat`). Between two moments at which these are exact,
//! because the thread is stopped or waits, the sums of the time line are exact; when within that time
//! the thread gave its processor away is known as far as what it did at the two moments says.
//!
//! ```text
//!  runs, runs     |-----on-----|..off..|-----on-----|      in the middle
//!  runs, waits    |-----on-----|..........off.......|
//!  waits, runs    |.........off.........|----on-----|
//!  waits, waits   |....off....|---on---|.....off....|      in the middle
//! ```

use std::fs::File;
use std::os::unix::fs::FileExt as _;

/// Shortest time without a processor that is told: to stop a thread takes some microseconds, and would
/// make three intervals of each one.
const SHORT_NANOS: u64 = 200_000;

/// Longest that a thread may run on its own until it waits again after it was stopped while it waited.
const RESUMED_NANOS: u64 = 100_000;

/// What the kernel counts of a thread, from its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Nanoseconds on a processor.
    pub(crate) on: u64,
    /// Nanoseconds without one, although it had something to do.
    pub(crate) delay: u64,
    /// How often it got one.
    pub(crate) turns: u64,
}

impl Usage {
    /// As the kernel writes it: `on delay turns`. `None` where it does not count.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let mut numbers = text.split_whitespace().map(str::parse);
        let mut next = || numbers.next()?.ok();
        let own = Self { on: next()?, delay: next()?, turns: next()? };
        // A thread that is looked at has had a processor.
        (own.turns > 0).then_some(own)
    }
}

/// Reads what the kernel counts of a thread.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    file: Option<File>,
    /// Where the kernel does not count: what is estimated from the states of the thread.
    estimated: Usage,
    last_nanos: u64,
}

impl Meter {
    /// The meter of a thread, which keeps its file open or not.
    pub(crate) fn new((pid, tid): (u32, u32), is_kept: bool, nanos: u64) -> Self {
        let file = is_kept.then(|| File::open(path(pid, tid)).ok()).flatten();
        Self { file, estimated: Usage::default(), last_nanos: nanos }
    }

    /// What was counted until now; `runs` where that is known.
    pub(crate) fn read(&mut self, ids: (u32, u32), nanos: u64, runs: Option<bool>) -> Usage {
        let (pid, tid) = ids;
        let mut text = [0; 80];
        let len = match &self.file {
            Some(file) => file.read_at(&mut text, 0).ok(),
            None => File::open(path(pid, tid)).and_then(|file| file.read_at(&mut text, 0)).ok(),
        };
        let text = text.get(..len.unwrap_or(0)).and_then(|text| str::from_utf8(text).ok());
        if let Some(usage) = text.and_then(Usage::from_text) {
            return usage;
        }
        if runs.unwrap_or_else(|| state(pid, tid) == Some('R')) {
            self.estimated.on += nanos.saturating_sub(self.last_nanos);
        }
        self.last_nanos = nanos;
        self.estimated
    }
}

fn path(pid: u32, tid: u32) -> String {
    format!("/proc/{pid}/task/{tid}/schedstat")
}

/// What a thread does, by the letter that the kernel has for it.
pub(crate) fn state(pid: u32, tid: u32) -> Option<char> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/stat")).ok()?;
    // Behind the name, which may have anything in it.
    text.rsplit_once(") ")?.1.chars().next()
}

/// What a thread does from a moment on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    On,
    Preempted,
    Waits,
}

/// The time of a thread until the last moment at which it was exact.
#[derive(Debug)]
pub(crate) struct Account {
    until: u64,
    usage: Usage,
    /// Whether it ran then.
    pub(crate) is_running: bool,
    /// Time without a processor that was too short to be told.
    owed: u64,
}

impl Account {
    /// A thread that runs.
    pub(crate) const fn new(nanos: u64, usage: Usage) -> Self {
        Self { until: nanos, usage, is_running: true, owed: 0 }
    }

    /// Whether the thread still waits, as it did at the last moment: then nothing is to be learned from
    /// it. To go on waiting after it was stopped takes it a turn on a processor.
    pub(crate) const fn still_waits(&mut self, nanos: u64, usage: Usage) -> bool {
        let is_same = usage.turns <= self.usage.turns + 1
            && usage.on.saturating_sub(self.usage.on) < RESUMED_NANOS;
        if self.is_running || !is_same {
            return false;
        }
        self.until = nanos;
        true
    }

    /// What the thread did until `nanos`, where its usage is exact, and whether it runs then. The last
    /// turn, if there is any, leads to that.
    pub(crate) fn close(&mut self, nanos: u64, usage: Usage, is_running: bool) -> Vec<(u64, Turn)> {
        let from = self.until;
        let span = nanos.saturating_sub(from);
        let on = usage.on.saturating_sub(self.usage.on).min(span);
        let mut delay = usage.delay.saturating_sub(self.usage.delay).min(span - on);
        let mut rest = span - on - delay;
        // Where it got a processor once, it gave that away because it was stopped. What is too short to
        // be told is owed.
        let turns = usage.turns.saturating_sub(self.usage.turns);
        if self.is_running && is_running && (turns <= 1 || rest <= SHORT_NANOS) {
            delay += rest;
            rest = 0;
        }
        delay = (delay + self.owed).min(span - rest);
        let owed = if delay <= SHORT_NANOS { std::mem::take(&mut delay) } else { 0 };
        let on = span - rest - delay;
        let mut told = Vec::new();
        let mut at = match (self.is_running, is_running) {
            (true, _) => from + on / 2,
            (false, true) => from + rest,
            (false, false) => from + rest / 2,
        };
        if delay > 0 {
            told.push((at, Turn::Preempted));
            at += delay;
        }
        match (self.is_running, is_running) {
            (true, true) => {
                if rest > 0 {
                    told.push((at, Turn::Waits));
                    at += rest;
                }
                if !told.is_empty() {
                    told.push((at, Turn::On));
                }
            }
            (true, false) => {
                if delay > 0 {
                    told.push((at, Turn::On));
                }
                told.push((nanos - rest, Turn::Waits));
            }
            (false, true) => told.push((at, Turn::On)),
            (false, false) => told.extend([(at, Turn::On), (at + on, Turn::Waits)]),
        }
        *self = Self { until: nanos, usage, is_running, owed };
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    const fn usage(on: u64, delay: u64, turns: u64) -> Usage {
        Usage { on: on * MS, delay: delay * MS, turns }
    }

    #[test]
    fn what_the_kernel_writes_is_read_and_nothing_else() {
        let read = Usage::from_text("98296 3889831 2\n").unwrap();
        assert_eq!(read, Usage { on: 98_296, delay: 3_889_831, turns: 2 });
        for text in ["", "0 0 0\n", "1 2", "1 2 x"] {
            assert_eq!(Usage::from_text(text), None, "{text:?}");
        }
    }

    #[test]
    fn where_the_kernel_does_not_count_the_time_on_a_processor_is_estimated() {
        let absent = (0, 0);
        let mut meter = Meter::new(absent, true, 100);
        assert_eq!(meter.read(absent, 300, Some(true)).on, 200);
        assert_eq!(meter.read(absent, 400, Some(false)).on, 200);
        assert_eq!(meter.read(absent, 500, None).on, 200);
        assert_eq!(meter.read(absent, 600, Some(true)).on, 300);
        let own = (std::process::id(), nix::unistd::gettid().as_raw().cast_unsigned());
        for is_kept in [true, false] {
            assert!(Meter::new(own, is_kept, 0).read(own, 1, None).turns > 0);
            assert_eq!(state(own.0, own.1), Some('R'));
        }
    }

    #[test]
    fn time_without_a_processor_lies_where_what_was_seen_allows_it() {
        let from =
            |runs: bool| Account { is_running: runs, ..Account::new(100 * MS, usage(1, 0, 5)) };
        let closed = |began: bool, ends: bool, usage: Usage| {
            let told = from(began).close(110 * MS, usage, ends);
            told.iter().map(|(at, turn)| format!("{turn:?} {}", at / MS)).collect::<Vec<_>>()
        };
        // 10 ms, of which it had a processor for 4 and was kept from one for 2.
        let mixed = usage(5, 2, 9);
        assert_eq!(closed(true, true, mixed), ["Preempted 102", "Waits 104", "On 108"]);
        assert_eq!(closed(true, false, mixed), ["Preempted 102", "On 104", "Waits 106"]);
        assert_eq!(closed(false, true, mixed), ["Preempted 104", "On 106"]);
        assert_eq!(closed(false, false, mixed), ["Preempted 102", "On 104", "Waits 108"]);
        // It only lost its processor because it was stopped.
        assert_eq!(closed(true, true, usage(9, 0, 6)), ["Preempted 104", "On 106"]);
    }

    #[test]
    fn short_stops_are_told_together() {
        let mut account = Account::new(0, usage(0, 0, 1));
        let (mut nanos, mut lost, mut turns) = (0, 0, Vec::new());
        for number in 1..=100_u64 {
            nanos += 4 * MS;
            let own = Usage { on: nanos - 30_000 * number, delay: 0, turns: 1 + number };
            turns.push(account.close(nanos, own, true));
        }
        for told in turns {
            let [(from, Turn::Preempted), (to, Turn::On)] = told[..] else {
                assert!(told.is_empty());
                continue;
            };
            lost += to - from;
        }
        assert!((100 * 30_000 - SHORT_NANOS..=100 * 30_000).contains(&lost), "{lost}");
    }

    #[test]
    fn sums_are_exact_whatever_the_thread_did() {
        for turns in 2..4 {
            for (began, ends) in [(true, true), (true, false), (false, true), (false, false)] {
                for (on, delay) in [(0, 0), (10, 0), (0, 10), (3, 4), (1, 8), (12, 5), (9, 1)] {
                    let mut account = Account::new(0, usage(0, 0, 0));
                    account.is_running = began;
                    let told = account.close(10 * MS, usage(on, delay, turns), ends);
                    let (mut runs, mut since, mut sum) = (began, 0, 0);
                    for (at, turn) in told {
                        assert!(at >= since && at <= 10 * MS);
                        sum += if runs { at - since } else { 0 };
                        (runs, since) = (turn == Turn::On, at);
                    }
                    assert_eq!(runs, ends);
                    sum += if runs { 10 * MS - since } else { 0 };
                    assert_eq!(sum, on.min(10) * MS, "{began} {ends} {on} {delay}");
                }
            }
        }
    }

    #[test]
    fn a_thread_that_was_stopped_while_it_waited_is_left_alone_until_it_runs() {
        let mut account = Account::new(0, usage(1, 0, 5));
        account.close(10 * MS, usage(2, 0, 6), false);
        let mut resumed = usage(2, 0, 7);
        resumed.on += 9_000;
        assert!(account.still_waits(14 * MS, resumed));
        assert!(!account.still_waits(18 * MS, usage(2, 0, 8)));
        assert!(!account.still_waits(18 * MS, usage(3, 0, 7)));
        // It woke up after it was last seen to wait.
        let told = account.close(18 * MS, usage(3, 0, 8), true);
        assert_eq!(told, [(17 * MS, Turn::On)]);
        assert!(!account.still_waits(22 * MS, usage(3, 0, 8)));
    }
}
