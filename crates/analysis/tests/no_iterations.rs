//! Programs that have no iterations are given none.
//!
//! Four kinds of programs whose parts come in any order. Seeds are fixed; `PARALLAX_PROGRAMS` asks
//! for more of them.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

mod events_support;
mod report_support;

use events_support::{Do, trace};
use parallax_analysis::iterations::{Finding, IterationsQuestion, find_iterations};
use parallax_analysis::math::Random;
use parallax_base::{Control, TimeWindow};
use parallax_engine::Session;
use parallax_testkit::hpctoolkit::Database;
use parallax_testkit::hpctoolkit::iterations::{IterationPlan, PlannedPhase, Recording};
use report_support::open;

const MS: u64 = 1_000_000;
/// Programs of each kind.
const PROGRAMS: u64 = 100;

/// How long parts of a program last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lengths {
    /// Without memory, 40 ms on average.
    Exponential,
    /// All 40 ms.
    Equal,
    /// From 1 to 79 ms.
    Uniform,
}

/// What programs are drawn by.
struct Draw(Random);

impl Draw {
    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        self.0.unit()
    }

    /// Below `end`.
    fn below(&mut self, end: usize) -> usize {
        (self.0.bits() % end.max(1) as u64) as usize
    }

    fn nanos(&mut self, lengths: Lengths) -> u64 {
        let times = match lengths {
            Lengths::Exponential => -(1.0 - self.share()).ln() * 40.0 + 1.0,
            Lengths::Equal => 40.0,
            Lengths::Uniform => 1.0 + self.share() * 78.0,
        };
        (times * MS as f64) as u64
    }
}

fn ask(session: &Session) -> Finding {
    let tracks = session.traces().unwrap().track_ids().collect();
    let question = IterationsQuestion { tracks, window: TimeWindow::ALL, marker: Vec::new() };
    find_iterations(session, &question, &Control::new()).unwrap()
}

/// Sixty parts of a program in any order, the same on three locations.
fn parts(seed: u64, lengths: Lengths) -> Database {
    let mut draw = Draw(Random(seed));
    let is_gpu = draw.below(2) == 0;
    let num_parts = 60;
    let num_kinds = 2 + draw.below(6);
    let order: Vec<(usize, u64)> =
        (0..num_parts).map(|_| (draw.below(num_kinds), draw.nanos(lengths))).collect();
    let mut at = 10 * MS;
    let mut begins = Vec::new();
    for &(_, nanos) in &order {
        begins.push(at);
        at += nanos + MS / 10;
    }
    let phases = (0..num_kinds).map(|number| {
        let of = |&(kind, nanos): &(usize, u64)| if kind == number { nanos } else { 0 };
        let nanos: Vec<u64> = order.iter().map(of).collect();
        PlannedPhase { name: format!("part_{number}"), pieces: 1, nanos: vec![nanos; 3] }
    });
    IterationPlan {
        title: "irregular".into(),
        caller: "work".into(),
        phases: phases.collect(),
        begins_nanos: begins,
        span_nanos: at + 10 * MS,
        recording: if is_gpu { Recording::GpuStreams } else { Recording::Samples(2 * MS) },
        waiting_ranks: 0,
    }
    .database()
}

const NAMES: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];

/// A program that goes through its functions at random: which ones a function may call is fixed,
/// how many of them it calls, and which, is not. All calls are recorded.
fn walk(seed: u64) -> Session {
    let mut draw = Draw(Random(seed));
    let lengths = [Lengths::Exponential, Lengths::Equal, Lengths::Uniform][draw.below(3)];
    // Functions call those behind them, so that no call is below itself.
    let callees: Vec<Vec<usize>> = (0..NAMES.len())
        .map(|caller| {
            let behind = NAMES.len() - caller - 1;
            let num = if caller == 0 { 2 + draw.below(4) } else { draw.below(4) };
            let mut all: Vec<usize> = (caller + 1..NAMES.len()).collect();
            (0..num.min(behind)).map(|_| all.swap_remove(draw.below(all.len()))).collect()
        })
        .collect();
    let mut steps: Vec<(u64, Do)> = vec![(0, Do::Enter("main"))];
    let mut at = MS;
    let num_calls = 100 + draw.below(200);
    let mut calls = 0;
    // Functions that are open, and how many calls each still makes.
    let mut open: Vec<(usize, usize)> = vec![(0, usize::MAX)];
    while calls < num_calls || open.len() > 1 {
        let Some((caller, left)) = open.last_mut() else { break };
        let may_call = &callees[*caller];
        if *left == 0 || may_call.is_empty() {
            open.pop();
            at += draw.nanos(lengths);
            steps.push((at, Do::Leave));
            at += MS / 100;
        } else {
            *left -= 1;
            let callee = may_call[draw.below(may_call.len())];
            steps.push((at, Do::Enter(NAMES[callee])));
            at += MS / 100;
            calls += 1;
            open.push((callee, draw.below(4)));
        }
    }
    steps.push((at, Do::Leave));
    trace(&vec![steps; 2])
}

/// What was found where there is nothing, for each program in which something was.
fn found(programs: impl Fn(u64) -> Session, kind: u64) -> Vec<String> {
    let asked = std::env::var("PARALLAX_PROGRAMS").ok().and_then(|number| number.parse().ok());
    let mut out = Vec::new();
    for number in 0..asked.unwrap_or(PROGRAMS) {
        let session = programs(number << 3 | kind);
        let finding = ask(&session);
        if finding.iterations.is_some() {
            out.push(format!("program {number}: {:#?}", finding.groups));
        } else {
            assert!(finding.groups.iter().all(|group| group.why_not.is_some()));
        }
    }
    println!("{} of {}", out.len(), asked.unwrap_or(PROGRAMS));
    out
}

#[test]
fn parts_of_any_length_in_any_order_are_no_iterations() {
    assert_eq!(found(|seed| open(&parts(seed, Lengths::Exponential)), 0), [""; 0]);
}

#[test]
fn parts_of_one_length_in_any_order_are_no_iterations() {
    assert_eq!(found(|seed| open(&parts(seed, Lengths::Equal)), 1), [""; 0]);
}

#[test]
fn parts_of_similar_length_in_any_order_are_no_iterations() {
    assert_eq!(found(|seed| open(&parts(seed, Lengths::Uniform)), 2), [""; 0]);
}

#[test]
fn calls_at_random_are_no_iterations() {
    assert_eq!(found(walk, 3), [""; 0]);
}
