//! Programs that call very deeply: the work of an analysis grows with the trace, not with the
//! square of its depth. Counted are the bytes that are asked for, and the steps from a context to
//! the one above it.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

mod events_support;
#[path = "../../formats/tests/peak/mod.rs"]
mod peak;

use events_support::{Do, trace};
use parallax_analysis::balance::{BalanceRequest, balance};
use parallax_analysis::events::{Selection, critical_path};
use parallax_analysis::idleness::{IdlenessOptions, idleness};
use parallax_analysis::iterations::{IterationsQuestion, find_iterations};
use parallax_analysis::report::{FindingKind, ReportOptions, report};
use parallax_base::{ContextIdx, Control, TimeWindow, TrackIdx};
use parallax_engine::Session;
use parallax_model::steps_up;

/// A rank that calls itself until it is `depth` deep, again and again; at each level it calls a
/// function of another class, whose caller is asked for.
fn recursion(depth: usize, iterations: u64) -> Session {
    let mut steps = vec![(0, Do::Enter("main"))];
    let mut at = 1;
    for _ in 0..iterations {
        for _ in 0..depth {
            steps.extend([
                (at, Do::Enter("read_tree")),
                (at + 10, Do::Enter("read")),
                (at + 20, Do::Leave),
            ]);
            at += 20;
        }
        for _ in 0..depth {
            at += 10;
            steps.push((at, Do::Leave));
        }
        at += 1000;
    }
    steps.push((at, Do::Leave));
    let other = vec![(0, Do::Enter("main")), (at / 2, Do::Leave)];
    trace(&[steps, other])
}

/// Bytes that `ask` asks for, and steps up the tree, at a depth and at twice that.
fn grows_linearly(name: &str, iterations: u64, ask: impl Fn(&Session)) {
    let work = |depth: usize| {
        let session = recursion(depth, iterations);
        let (bytes, steps) = (peak::allocated(), steps_up().unwrap_or(0));
        ask(&session);
        (peak::allocated() - bytes, steps_up().unwrap_or(0) - steps)
    };
    let (small, large) = (work(4_000), work(8_000));
    assert!(large.0 < 3 * small.0, "{name}: {} and {} bytes", small.0, large.0);
    assert!(large.1 <= 3 * small.1, "{name}: {} and {} steps up", small.1, large.1);
}

#[test]
fn iterations_of_deep_calls_cost_what_the_calls_cost() {
    let _turn = peak::turn();
    grows_linearly("iterations", 12, |session| {
        let question = IterationsQuestion {
            tracks: [0, 1].map(TrackIdx::new).into(),
            window: TimeWindow::ALL,
            marker: Vec::new(),
        };
        let finding = find_iterations(session, &question, &Control::new()).unwrap();
        assert_eq!(finding.iterations.unwrap().0.len(), 12);
    });
}

#[test]
fn a_report_on_deep_calls_costs_what_the_calls_cost() {
    let _turn = peak::turn();
    grows_linearly("report", 1, |session| {
        let found = report(session, &ReportOptions::default(), &Control::new()).unwrap();
        let io = found.findings.iter().find(|finding| finding.kind == FindingKind::Io).unwrap();
        assert!(io.text.contains("read called from main"), "{}", io.text);
    });
}

#[test]
fn other_analyses_of_deep_calls_cost_what_the_calls_cost() {
    let _turn = peak::turn();
    grows_linearly("balance", 1, |session| {
        let metrics = &session.experiment().metrics;
        let (time, _) = metrics.iter().find(|(_, metric)| metric.unit.is_time()).unwrap();
        let contexts: Vec<ContextIdx> = session.tree().iter().skip(1).collect();
        balance(session, &BalanceRequest::new(time, contexts), &Control::new()).unwrap();
    });
    grows_linearly("idleness", 1, |session| {
        idleness(session, &IdlenessOptions::default(), &Control::new()).unwrap();
    });
    grows_linearly("critical path", 1, |session| {
        let selection =
            Selection { tracks: [0, 1].map(TrackIdx::new).into(), window: TimeWindow::ALL };
        critical_path(session, &selection, &Control::new()).unwrap();
    });
}
