//! Planted waits are found, with their time, call path, and whom they wait for.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

mod events_support;

use events_support::{Do::*, Phase, Planted, path, phases, run, trace, trace_in_batches};
use parallax_analysis::events::{Selection, WaitChoice, WaitKind, Waits, waits};
use parallax_base::{Control, TimeWindow};
use parallax_engine::Session;
use proptest::prelude::*;

fn all(session: &Session) -> Waits {
    let selection = Selection::all(session).unwrap();
    waits(session, &selection, WaitChoice::ALL, &Control::new()).unwrap()
}

fn planted(found: &Waits, kind: WaitKind) -> Vec<Planted> {
    let of_kind = found.list.iter().filter(|wait| wait.kind == kind);
    of_kind.map(|w| (w.track, w.holdup, w.start_nanos, w.end_nanos)).collect()
}

/// Enters a send to the second track at 100 and sends at 103.
fn sender() -> Vec<(u64, events_support::Do)> {
    vec![(0, Enter("main")), (100, Enter("MPI_Send")), (103, Send(1)), (110, Leave), (200, Leave)]
}

#[test]
fn a_receive_waits_until_the_send_is_entered() {
    let session = trace(&[
        sender(),
        vec![
            (0, Enter("main")),
            (10, Enter("exchange")),
            (40, Enter("MPI_Recv")),
            (111, Receive(0)),
            (112, Leave),
            (113, Leave),
            (200, Leave),
        ],
    ]);
    let found = all(&session);
    assert_eq!(planted(&found, WaitKind::LateSender), [(1, 0, 40, 100)]);
    assert_eq!(found.list.len(), 1);
    assert_eq!(found.list[0].call_end_nanos, 112);
    assert_eq!(path(&session, found.list[0].context), "main > exchange > MPI_Recv");
    assert_eq!((found.counts.messages, found.counts.unplaced), (1, 0));
    assert_eq!(found.counts.notes(), Vec::<String>::new());
}

#[test]
fn a_call_that_completes_two_messages_waits_once_for_the_last() {
    let sender = |to, at| {
        vec![
            (0, Enter("main")),
            (at, Enter("MPI_Isend")),
            (at + 1, Send(to)),
            (at + 2, Leave),
            (200, Leave),
        ]
    };
    let session = trace(&[
        vec![
            (0, Enter("main")),
            (30, Enter("MPI_Waitall")),
            (95, Receive(2)),
            (96, Receive(1)),
            (97, Leave),
            (200, Leave),
        ],
        sender(0, 50),
        sender(0, 90),
    ]);
    assert_eq!(planted(&all(&session), WaitKind::LateSender), [(0, 2, 30, 90)]);
}

#[test]
fn a_send_waits_only_while_it_is_blocked() {
    let session = |send: u64| {
        trace(&[
            vec![
                (0, Enter("main")),
                (20, Enter("MPI_Send")),
                (21, Send(1)),
                (send, Leave),
                (200, Leave),
            ],
            vec![
                (0, Enter("main")),
                (90, Enter("MPI_Recv")),
                (95, Receive(0)),
                (96, Leave),
                (200, Leave),
            ],
        ])
    };
    assert_eq!(planted(&all(&session(94)), WaitKind::LateReceiver), [(0, 1, 20, 90)]);
    assert_eq!(planted(&all(&session(60)), WaitKind::LateReceiver), [], "it was buffered");
}

#[test]
fn in_a_barrier_everybody_waits_for_the_last() {
    for has_records in [true, false] {
        let phases = [Phase::Compute(vec![10, 50, 30]), Phase::Barrier];
        let run = run(3, &phases, has_records);
        let found = all(&trace(&run.steps));
        // main at 1000, work from 1001, barriers entered 1 ns after that.
        let expected = [(0, 1, 1012, 1052), (2, 1, 1032, 1052)];
        assert_eq!(planted(&found, WaitKind::Barrier), expected);
        assert_eq!(found.counts.is_inferred, !has_records);
        let is_told = found.counts.notes().iter().any(|note| note.contains("inferred"));
        assert_eq!(is_told, !has_records);
    }
}

/// Three ranks in one collective that they enter at these times.
fn collective(name: &'static str, operation: u8, root: Option<u64>, enters: [u64; 3]) -> Session {
    let rank = |enter: u64| {
        vec![
            (0, Enter("main")),
            (enter, Enter(name)),
            (enter + 1, Come),
            (98, Go(operation, root)),
            (99, Leave),
            (200, Leave),
        ]
    };
    trace(&enters.map(rank))
}

#[test]
fn who_waits_in_a_collective_depends_on_how_data_moves() {
    let enters = [10, 60, 30];
    let found = |name, operation, root, kind| {
        planted(&all(&collective(name, operation, root, enters)), kind)
    };
    assert_eq!(
        found("MPI_Allreduce", 11, None, WaitKind::AllToAll),
        [(0, 1, 10, 60), (2, 1, 30, 60)]
    );
    // The root comes between the others.
    assert_eq!(found("MPI_Bcast", 1, Some(2), WaitKind::LateBroadcast), [(0, 2, 10, 30)]);
    assert_eq!(found("MPI_Reduce", 12, Some(2), WaitKind::EarlyReduce), [(2, 1, 30, 60)]);
    assert_eq!(found("MPI_Reduce", 12, Some(1), WaitKind::EarlyReduce), []);
    assert_eq!(found("MPI_Scan", 14, None, WaitKind::EarlyScan), [(2, 1, 30, 60)]);
    let broken = all(&collective("MPI_Bcast", 1, None, enters));
    assert_eq!((broken.list.len(), broken.counts.unmatched_collectives), (0, 1));
}

#[test]
fn wrong_clocks_give_no_waits_and_are_counted() {
    let session = trace(&[
        sender(),
        vec![
            (0, Enter("main")),
            (40, Enter("MPI_Recv")),
            (80, Receive(0)),
            (81, Leave),
            (200, Leave),
        ],
    ]);
    let found = all(&session);
    assert_eq!(found.list, []);
    assert_eq!((found.counts.messages, found.counts.backwards), (1, 1));
    assert!(
        found.counts.notes()[0].starts_with("1 of 1 messages are received before"),
        "{:?}",
        found.counts.notes()
    );
    // A barrier that one leaves before the other comes: the wait ends with the call.
    let rank = |enter, leave| {
        vec![
            (0, Enter("main")),
            (enter, Enter("MPI_Barrier")),
            (enter, Come),
            (leave, Go(0, None)),
            (leave, Leave),
            (200, Leave),
        ]
    };
    let found = all(&trace(&[rank(10, 30), rank(50, 55)]));
    assert_eq!(planted(&found, WaitKind::Barrier), [(0, 1, 10, 30)]);
    assert_eq!(found.counts.left_early, 1);
}

#[test]
fn what_is_not_alike_is_not_inferred() {
    let rank = |times: &[u64]| {
        let mut steps = vec![(0, Enter("main"))];
        for &at in times {
            steps.extend([(at, Enter("MPI_Allreduce")), (at + 5, Leave)]);
        }
        steps.push((200, Leave));
        steps
    };
    let found = all(&trace(&[rank(&[10, 50]), rank(&[12])]));
    assert_eq!((found.list.len(), found.counts.collectives), (0, 0));
    assert_eq!(found.counts.not_inferred, ["MPI_Allreduce"]);
    // Alike, but one has left before the other comes: these do not belong together.
    let found = all(&trace(&[rank(&[10]), rank(&[100])]));
    assert_eq!((found.list.len(), found.counts.left_early), (0, 1));
}

#[test]
fn a_trace_without_messages_has_no_waits() {
    let session = trace(&[vec![(0, Enter("main")), (10, Leave)]]);
    let found = all(&session);
    assert_eq!((found.list.len(), found.counts.notes().len()), (0, 0));
    assert_eq!(found.counts.messages + found.counts.collectives, 0);
}

fn sorted(mut planted: Vec<Planted>) -> Vec<Planted> {
    planted.sort_unstable();
    planted
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn all_waits_of_a_program_are_found(
        phases in phases(4),
        has_records in any::<bool>(),
        every in 3..30_usize,
        cuts in prop::collection::vec(0..3000_u64, 0..3),
    ) {
        let run = run(4, &phases, has_records);
        let session = trace_in_batches(&run.steps, every);
        let found = all(&session);
        prop_assert_eq!(sorted(planted(&found, WaitKind::LateSender)), sorted(run.late_senders));
        prop_assert_eq!(sorted(planted(&found, WaitKind::LateReceiver)), sorted(run.late_receivers));
        let mut barriers = planted(&found, WaitKind::Barrier);
        // Of those that come last together any may be named.
        barriers.iter_mut().for_each(|wait| wait.1 = 0);
        let mut expected = run.barriers.clone();
        expected.iter_mut().for_each(|wait| wait.1 = 0);
        prop_assert_eq!(sorted(barriers), sorted(expected));
        for wait in &found.list {
            prop_assert!(wait.start_nanos < wait.end_nanos && wait.end_nanos <= wait.call_end_nanos);
        }
        // Windows side by side have the waits of the whole.
        let mut edges = vec![0, u64::MAX];
        edges.extend(cuts.iter().map(|cut| 1000 + cut));
        edges.sort_unstable();
        let mut pieces = Vec::new();
        for pair in edges.windows(2) {
            let window = TimeWindow::new(pair[0], pair[1]);
            let selection = Selection { tracks: vec![0, 1, 2, 3], window };
            let part = waits(&session, &selection, WaitChoice::ALL, &Control::new()).unwrap();
            pieces.extend(part.list);
        }
        pieces.sort_by_key(|w| (w.kind, w.track, w.start_nanos, w.holdup));
        prop_assert_eq!(pieces, found.list);
    }
}
