//! Iterations of sampled programs: the number is right, or the answer says that it may be off.
//!
//! Planted are ranks that synchronise once in an iteration, whose phases are as long as a few
//! samples, or shorter. Real are the runs of `reactor.c`, whose steps are known.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

mod report_support;

use parallax_analysis::iterations::{Finding, IterationsQuestion, find_iterations};
use parallax_base::{Control, TimeWindow};
use parallax_engine::Session;
use parallax_testkit::hpctoolkit::iterations::{IterationPlan, PlannedPhase, Recording};
use report_support::{corpus, open, open_path};

const MS: u64 = 1_000_000;
const ITERATIONS: usize = 60;
const PERIOD: u64 = 50 * MS;

fn ask(session: &Session) -> Finding {
    let tracks = session.traces().unwrap().track_ids().collect();
    let question = IterationsQuestion { tracks, window: TimeWindow::ALL, marker: Vec::new() };
    find_iterations(session, &question, &Control::new()).unwrap()
}

/// A number from -1 to 1 that looks random.
fn noise(seed: u64, a: usize, b: usize, c: usize) -> f64 {
    let mut x = (seed + 1) << 50 ^ (a as u64) << 40 ^ (b as u64) << 20 ^ c as u64;
    for _ in 0..3 {
        x = x.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (x >> 29);
    }
    (x >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// Four ranks that begin each iteration together and compute, exchange and reduce in it: how long
/// differs by 40 % between ranks and iterations, and iterations differ by `drift` in length.
fn program(seed: u64, every: u64, drift: f64) -> Session {
    let lengths: Vec<f64> =
        (0..ITERATIONS).map(|i| PERIOD as f64 * (1.0 + drift * noise(seed, 9, 0, i))).collect();
    let phase = |number: usize, name: &str, share: f64| PlannedPhase {
        name: name.into(),
        pieces: 1,
        nanos: (0..4)
            .map(|rank| {
                let own = |i: usize| share * (1.0 + 0.4 * noise(seed, number, rank, i));
                lengths.iter().enumerate().map(|(i, length)| (own(i) * length) as u64).collect()
            })
            .collect(),
    };
    let mut at = 300 * MS;
    let begins_nanos = lengths
        .iter()
        .map(|length| {
            let begin = at;
            at += *length as u64;
            begin
        })
        .collect();
    open(
        &IterationPlan {
            title: "planted".into(),
            caller: "step".into(),
            phases: vec![
                phase(0, "exchange", 0.12),
                phase(1, "compute", 0.35),
                phase(2, "reduce", 0.15),
            ],
            begins_nanos,
            span_nanos: at + 200 * MS,
            recording: Recording::Samples(every),
            waiting_ranks: 0,
        }
        .database(),
    )
}

/// The number of iterations that is claimed, and whether without reservation.
fn claim(finding: &Finding) -> Option<(usize, bool)> {
    let (iterations, _) = finding.iterations.as_ref()?;
    Some((iterations.len(), !iterations.repetition.as_ref().unwrap().is_estimate))
}

#[test]
fn the_number_is_right_or_said_to_be_unsure() {
    // Samples from a fiftieth of an iteration apart to ten iterations.
    let parts = [0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0];
    let mut sure = 0;
    for part in parts {
        for seed in 0..10 {
            let every = (PERIOD as f64 * part) as u64;
            for drift in [0.02, 0.15] {
                let finding = ask(&program(seed, every, drift));
                let claimed = claim(&finding);
                let what = format!("{part} {seed} {drift}: {claimed:?} {:?}", finding.groups);
                match claimed {
                    // Two per cent of sixty.
                    Some((number, true)) => assert!(number.abs_diff(ITERATIONS) <= 1, "{what}"),
                    Some((number, false)) => assert!(number > ITERATIONS / 3, "{what}"),
                    None => assert!(finding.groups.iter().all(|group| group.why_not.is_some())),
                }
                // Ten samples in an iteration show each.
                if part <= 0.1 {
                    assert!(claimed.is_some(), "{what}");
                    sure += usize::from(claimed.is_some_and(|(_, is_sure)| is_sure));
                }
                assert!(part < 0.5 || claimed.is_none_or(|(_, is_sure)| !is_sure), "{what}");
            }
        }
    }
    // Most of these 60 without reservation.
    assert!(sure >= 50, "{sure}");
}

#[test]
fn a_processor_that_is_taken_away_regularly_makes_no_iterations() {
    const TIMES: u64 = 100;
    let program = |name: &str| {
        let nanos = vec![vec![8 * MS; TIMES as usize]];
        open(
            &IterationPlan {
                title: "planted".into(),
                caller: "compute".into(),
                phases: vec![PlannedPhase { name: name.into(), pieces: 1, nanos }],
                begins_nanos: (0..TIMES).map(|at| (10 + 20 * at) * MS).collect(),
                span_nanos: (20 * TIMES + 20) * MS,
                recording: Recording::Samples(MS),
                waiting_ranks: 0,
            }
            .database(),
        )
    };
    let (found, _) = claim(&ask(&program("work"))).unwrap();
    assert!(found.abs_diff(TIMES as usize) <= 1, "{found}");
    assert_eq!(claim(&ask(&program(parallax_model::PREEMPTED))), None);
}

#[test]
fn steps_of_real_runs_are_counted_or_the_answer_is_unsure() {
    let Some(root) = corpus() else { return };
    let of = |name: &str| ask(&open_path(&root.join("data/reactor/hpctoolkit").join(name)));
    // Forty steps, with a checkpoint every tenth: each run has four. Sure where every location
    // shows enough.
    for name in ["n1024-p8", "n512-p8"] {
        assert_eq!(claim(&of(name)), Some((40, true)), "{name}");
    }
    for name in
        ["n1024-p1", "n1024-p2", "n1024-p4", "n512-p1", "n512-p2", "n512-p4", "hybrid-n1024-p2x2"]
    {
        let finding = of(name);
        match claim(&finding) {
            Some((number, true)) => assert_eq!(number, 40, "{name}"),
            Some((number, false)) => assert!((38..=42).contains(&number), "{name}: {number}"),
            None => assert!(finding.groups.iter().all(|group| group.why_not.is_some()), "{name}"),
        }
    }
    // Two samples in an iteration: too few for a number.
    for name in ["n256-p1", "n256-p2", "n256-p4", "n256-p8"] {
        assert_eq!(claim(&of(name)), None, "{name}");
    }
    // Two hundred steps; the checkpoints alone come twenty times.
    assert_eq!(claim(&of("long-n512-p8")).map(|(number, _)| number), Some(200));
}

#[test]
fn iterations_of_a_real_solver_are_counted() {
    let Some(root) = corpus() else { return };
    // PCG of AMG: twenty iterations, in each of which the multigrid cycle is called once.
    let session = open_path(&root.join("data/hpctoolkit/measured/medium-amg-8x2"));
    assert_eq!(claim(&ask(&session)), Some((20, true)));
}
