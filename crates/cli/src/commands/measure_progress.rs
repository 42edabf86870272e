//! What `measure` says on standard error while its runs are made.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use parallax_sweep::{
    Configuration, Ended, Event, FirstIterations, Iterated, Key, Order, Outcome, Plan, Repetitions,
    Skip,
};

use super::Context;
use crate::text::{Level, Notice, Style, duration, printable};

/// A run in words: `4 cores, input '1000', repetition 2`.
pub(super) fn named(key: Key, plan: &Plan) -> String {
    let configuration = configuration(key.configuration(), plan);
    if plan.repetitions.most() == 1 {
        return configuration;
    }
    format!("{configuration}, repetition {}", key.repetition)
}

fn configuration(of: Configuration, plan: &Plan) -> String {
    let plural = if of.cores == 1 { "core" } else { "cores" };
    let mut text = format!("{} {plural}", of.cores);
    if let Some(kilohertz) = of.frequency {
        text.push_str(&format!(", {} GHz", kilohertz as f64 / 1e6));
    }
    if let Some(input) = of.input.and_then(|at| plan.inputs.get(at as usize)) {
        text.push_str(&format!(", input '{}'", printable(input)));
    }
    text
}

/// What is said on standard error while a sweep goes on: a line for each run, and on a terminal one
/// that says what runs now.
pub(super) struct Progress<'a> {
    context: &'a Context,
    plan: &'a Plan,
    /// Whether a line that says what runs now is there.
    has_line: bool,
    is_terminal: bool,
}

impl<'a> Progress<'a> {
    pub(super) fn new(context: &'a Context, plan: &'a Plan) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        Self { context, plan, has_line: false, is_terminal }
    }

    pub(super) fn tell(&mut self, event: &Event<'_>) {
        let style = &self.context.stderr;
        match *event {
            Event::Began { done, left, remarks } => {
                for remark in remarks {
                    Notice::new(Level::Warning, remark.clone()).print(style);
                }
                let there = if done > 0 { format!("{done} finished, ") } else { String::new() };
                let most = match self.plan.repetitions {
                    Repetitions::Fixed(_) => "",
                    Repetitions::UntilInterval { .. } => "at least ",
                };
                let runs = if left == 1 { "run" } else { "runs" };
                let ends = match self.plan.slurm {
                    Some(_) => "Ctrl+C stops waiting but not the jobs",
                    None => "Ctrl+C stops the sweep",
                };
                self.say(&format!(
                    "{there}{most}{left} {runs} to execute; {ends}, and --resume continues it"
                ));
                if let Order::Random { seed } = self.plan.order {
                    self.say(&format!("the order is random:{seed}"));
                }
            }
            Event::Running { key, is_warmup, done, left: (left, time) } => {
                if self.is_terminal && !self.context.is_quiet {
                    let warmup = if is_warmup { "warm-up, " } else { "" };
                    let total = done as u64 + left;
                    let text = format!(
                        "[{}/{total}] {warmup}{}{}",
                        done + 1,
                        named(key, self.plan),
                        time_left(time)
                    );
                    let text: String = text.chars().take(style.width.saturating_sub(1)).collect();
                    self.clear();
                    let _ = write!(std::io::stderr(), "{text}");
                    self.has_line = true;
                }
            }
            Event::Ran { key, is_warmup, outcome, iterated, done, left: (left, time) } => {
                if outcome.is_success() {
                    self.succeeded(key, is_warmup, outcome, iterated, (done, left, time));
                } else {
                    self.failed(key, outcome);
                }
            }
            Event::Skipped { configuration: skipped, why } => {
                let why = match why {
                    Skip::Failures(number) => {
                        format!("it failed {number} times and never succeeded")
                    }
                    Skip::Efficiency { cores, efficiency } => format!(
                        "the efficiency on {cores} cores is already {:.0} %",
                        efficiency * 100.0
                    ),
                };
                self.say(&format!("skipped: {}: {why}", configuration(skipped, self.plan)));
            }
        }
    }

    fn succeeded(
        &mut self,
        key: Key,
        is_warmup: bool,
        outcome: &Outcome,
        iterated: Option<Iterated>,
        (done, left, time): (usize, u64, Option<Duration>),
    ) {
        let style = self.context.stderr;
        let took = duration(outcome.seconds, &style);
        let name = named(key, self.plan);
        if is_warmup {
            return self.say(&format!("[warm-up] {name}: {took}"));
        }
        let total = done as u64 + left;
        let iterated = iterated.zip(self.plan.estimate.as_ref());
        let about = match iterated {
            Some((iterated, first)) => with_iterations(outcome, iterated, first, &style),
            None => took,
        };
        self.say(&format!("[{done}/{total}] {name}: {about}{}", time_left(time)));
        if let Some((Iterated { estimate: Some(estimate), is_ended: true, .. }, _)) = iterated
            && let Some(time) = estimate.with_trend
        {
            self.clear();
            let (how, what) =
                if time > estimate.seconds { ("slower", "low") } else { ("faster", "high") };
            let text = format!(
                "{name}: iterations get {how} within the first {}: if that continues, the run takes \
                 {}, and the estimate is too {what}; measure it without --estimate-from",
                estimate.from,
                duration(time, &style)
            );
            Notice::new(Level::Warning, text).print(&style);
        }
    }

    fn failed(&mut self, key: Key, outcome: &Outcome) {
        let style = self.context.stderr;
        self.clear();
        let mut message =
            format!("{}: {}", named(key, self.plan), failure(outcome, self.plan, &style));
        if !outcome.said.is_empty() {
            message.push('\n');
            message.push_str(&printable_lines(&outcome.said));
        }
        Notice::new(Level::Warning, message).print(&style);
    }

    fn say(&mut self, text: &str) {
        self.clear();
        if !self.context.is_quiet {
            let _ = writeln!(std::io::stderr(), "{text}");
        }
    }

    /// Takes the line away that says what runs now.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.has_line) {
            // Back to the start of the line, and clear to its end.
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

/// How long a run took, or is estimated to take.
fn with_iterations(
    outcome: &Outcome,
    iterated: Iterated,
    first: &FirstIterations,
    style: &Style,
) -> String {
    let took = duration(outcome.seconds, style);
    match iterated.estimate {
        Some(estimate) if iterated.is_ended => {
            let [time, low, high] = [estimate.seconds, estimate.interval.0, estimate.interval.1]
                .map(|seconds| duration(seconds, style));
            format!(
                "about {time} ({low} to {high}), estimated from {} of {} iterations after {took}",
                estimate.from, estimate.of
            )
        }
        Some(estimate) => format!(
            "{took}, complete with {} iterations; the first {} give {} ({:+.1} %)",
            iterated.number,
            estimate.from,
            duration(estimate.seconds, style),
            100.0 * (estimate.seconds / outcome.seconds - 1.0)
        ),
        None => format!(
            "{took}, complete: region {} ended {} times, and not {}",
            first.region, iterated.number, first.from
        ),
    }
}

/// What a program said, without what would garble the terminal.
fn printable_lines(text: &str) -> String {
    text.lines().map(|line| printable(line).into_owned()).collect::<Vec<_>>().join("\n")
}

/// How a run failed.
fn failure(outcome: &Outcome, plan: &Plan, style: &Style) -> String {
    let took = duration(outcome.seconds, style);
    let limit = |limit: Option<Duration>| duration(limit.unwrap_or_default().as_secs_f64(), style);
    match (outcome.ended, outcome.signal) {
        (Some(Ended::Timeout), _) => {
            format!("took longer than {} and was terminated", limit(plan.timeout))
        }
        (Some(Ended::Iterations), _) => format!("no estimate after {took}"),
        (Some(Ended::Idle), _) => {
            format!(
                "used no CPU time for {} and was terminated after {took}",
                limit(plan.idle_timeout)
            )
        }
        (None, Some(signal)) => format!("terminated by signal {signal} after {took}"),
        (None, None) => format!("exit status {} after {took}", outcome.exit_status),
    }
}

/// `; about 3 min left`.
fn time_left(time: Option<Duration>) -> String {
    let Some(time) = time.filter(|time| !time.is_zero()) else { return String::new() };
    let seconds = time.as_secs_f64();
    let text = match seconds {
        s if s < 90.0 => format!("{} s", s.ceil()),
        s if s < 90.0 * 60.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    };
    format!("; about {text} left")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_has_few_digits() {
        let text = |seconds| time_left(Some(Duration::from_secs(seconds)));
        assert_eq!(text(61), "; about 61 s left");
        assert_eq!(text(200), "; about 3 min left");
        assert_eq!(text(9000), "; about 2.5 h left");
        assert_eq!(time_left(None), "");
    }
}
