//! Planted waits are found, with their time, call path, and whom they wait for.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

mod events_support;

use events_support::{
    Do, Do::*, Phase, Planted, joined, path, phases, run, trace, trace_in_batches,
};
use parallax_analysis::events::{Selection, Wait, WaitChoice, WaitKind, Waits, waits};
use parallax_base::{Control, TimeWindow, TrackIdx};
use parallax_engine::Session;
use proptest::prelude::*;

fn all(session: &Session) -> Waits {
    let selection = Selection::all(session).unwrap();
    waits(session, &selection, WaitChoice::ALL, &Control::new()).unwrap()
}

fn planted(found: &Waits, kind: WaitKind) -> Vec<Planted> {
    let of_kind = found.list.iter().filter(|wait| wait.kind == kind);
    of_kind.map(|w| (w.track.get(), w.delayed_by.get(), w.start_nanos, w.end_nanos)).collect()
}

/// Enters a send to the second track at 100 and sends at 103.
fn sender() -> Vec<(u64, Do)> {
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

/// Enters a call, does something in it, and leaves it.
fn call(name: &'static str, from: u64, to: u64, inside: &[(u64, Do)]) -> Vec<(u64, Do)> {
    let mut steps = vec![(from, Enter(name))];
    steps.extend(inside);
    steps.push((to, Leave));
    steps
}

/// `main` with these calls in it, until 200.
fn main(calls: &[Vec<(u64, Do)>]) -> Vec<(u64, Do)> {
    let mut steps = vec![(0, Enter("main"))];
    steps.extend(calls.iter().flatten());
    steps.push((200, Leave));
    steps
}

/// Kind, rank, whom it waits for, from, to.
fn listed(found: &Waits) -> Vec<(&'static str, u32, u32, u64, u64)> {
    let row =
        |w: &Wait| (w.kind.name(), w.track.get(), w.delayed_by.get(), w.start_nanos, w.end_nanos);
    found.list.iter().map(row).collect()
}

#[test]
fn a_call_that_sends_and_receives_waits_once() {
    for name in ["MPI_Sendrecv", "MPI_Sendrecv_replace"] {
        let session = trace(&[
            main(&[call(name, 10, 100, &[(10, Send(1)), (99, Receive(1))])]),
            main(&[call(name, 90, 101, &[(90, Send(0)), (100, Receive(0))])]),
        ]);
        let found = all(&session);
        assert_eq!(listed(&found), [("late sender", 0, 1, 10, 90)], "{name}");
        check_invariants(&session, &found);
    }
    // From one, to another that comes still later: what is certain comes first.
    let session = trace(&[
        main(&[call("MPI_Sendrecv", 10, 100, &[(10, Send(1)), (99, Receive(2))])]),
        main(&[call("MPI_Recv", 90, 101, &[(100, Receive(0))])]),
        main(&[call("MPI_Send", 50, 55, &[(50, Send(0))])]),
    ]);
    let found = all(&session);
    let expected = [("late sender", 0, 2, 10, 50), ("late receiver", 0, 1, 50, 90)];
    assert_eq!(listed(&found), expected);
    assert_eq!(found.list.iter().map(|w| w.call_start_nanos).collect::<Vec<_>>(), [10, 10]);
    // What is asked for does not change what it counts for.
    let only = WaitChoice { late_sender: false, ..WaitChoice::ALL };
    let selection = Selection::all(&session).unwrap();
    let found = waits(&session, &selection, only, &Control::new()).unwrap();
    assert_eq!(listed(&found), expected[1..]);
}

#[test]
fn a_receive_is_late_when_it_is_posted_late() {
    let session = |posted: u64| {
        trace(&[
            main(&[call("MPI_Ssend", 20, 94, &[(20, Send(1))])]),
            main(&[
                call("MPI_Irecv", posted, posted + 2, &[(posted + 1, Post(7))]),
                call("MPI_Wait", 92, 96, &[(95, Got(0, 7))]),
            ]),
        ])
    };
    let found = |posted| listed(&all(&session(posted)));
    assert_eq!(found(80), [("late receiver", 0, 1, 20, 80)], "not until MPI_Wait");
    assert_eq!(found(10), [], "it was posted before the send began");
    // Without requests nobody knows; this is told.
    let found = all(&trace(&[
        main(&[call("MPI_Ssend", 20, 94, &[(20, Send(1))])]),
        main(&[call("MPI_Wait", 92, 96, &[(95, Receive(0))])]),
    ]));
    assert_eq!((listed(&found), found.counts.unposted), (Vec::new(), 1));
    assert!(found.counts.notes()[0].contains("lacks the time of posting the receive"));
}

#[test]
fn what_completes_requests_waits_for_both_sides() {
    // A send that does not block waits where it is completed, for the receive to be posted.
    let isend = call("MPI_Isend", 10, 12, &[(11, Isend(1, 1))]);
    let session = |wait: &[(u64, Do)], posted: u64| {
        trace(&[
            main(&[isend.clone(), wait.to_vec()]),
            main(&[
                call("MPI_Irecv", posted, posted + 2, &[(posted + 1, Post(1))]),
                call("MPI_Wait", 150, 160, &[(159, Got(0, 1))]),
            ]),
        ])
    };
    let wait = call("MPI_Wait", 30, 90, &[(90, Sent(1))]);
    assert_eq!(listed(&all(&session(&wait, 70))), [("late receiver", 0, 1, 30, 70)]);
    assert_eq!(listed(&all(&session(&wait, 20))), [], "the receive was there");
    assert_eq!(listed(&all(&session(&wait, 95))), [], "it was buffered");
    let test = call("MPI_Testall", 30, 90, &[(90, Sent(1))]);
    assert_eq!(listed(&all(&session(&test, 70))), [], "a test waits for nobody");
}

#[test]
fn several_requests_of_one_call_share_its_time() {
    let sender = |at: u64| main(&[call("MPI_Isend", at, at + 2, &[(at + 1, Isend(0, 1))])]);
    let found = |name, completed: &[(u64, Do)]| {
        let posts = [(2, Post(1)), (3, Post(2))];
        let session = trace(&[
            main(&[call("MPI_Startall", 1, 4, &posts), call(name, 30, 97, completed)]),
            sender(50),
            sender(90),
        ]);
        let found = all(&session);
        check_invariants(&session, &found);
        listed(&found)
    };
    let both = [(95, Got(2, 2)), (96, Got(1, 1))];
    assert_eq!(found("MPI_Waitall", &both), [("late sender", 0, 2, 30, 90)]);
    // These need one of them only.
    assert_eq!(found("MPI_Waitsome", &both), [("late sender", 0, 1, 30, 50)]);
    assert_eq!(found("MPI_Waitany", &[(96, Got(1, 1))]), [("late sender", 0, 1, 30, 50)]);
    assert_eq!(found("MPI_Testsome", &both), []);
}

#[test]
fn persistent_requests_are_posted_where_they_are_started() {
    let session = trace(&[
        main(&[
            call("MPI_Send_init", 1, 2, &[]),
            call("MPI_Start", 40, 44, &[(42, Isend(1, 1))]),
            call("MPI_Wait", 50, 90, &[(90, Sent(1))]),
        ]),
        main(&[
            call("MPI_Recv_init", 1, 2, &[]),
            call("MPI_Start", 80, 84, &[(82, Post(1))]),
            call("MPI_Wait", 85, 95, &[(95, Got(0, 1))]),
        ]),
    ]);
    assert_eq!(listed(&all(&session)), [("late receiver", 0, 1, 50, 80)]);
}

#[test]
fn calls_in_each_other_do_not_count_a_moment_twice() {
    // A library's collective over neighbours, built of messages that are recorded, too.
    let inner = call("MPI_Waitall", 42, 98, &[(97, Receive(1))]);
    let mut outer = vec![(40, Enter("MPI_Neighbor_alltoall")), (40, Come)];
    outer.extend(inner);
    outer.extend([(98, Go(9, None)), (99, Leave)]);
    let session = trace(&[
        main(&[outer]),
        main(&[
            call("MPI_Isend", 60, 62, &[(61, Send(0))]),
            call("MPI_Neighbor_alltoall", 90, 99, &[(90, Come), (98, Go(9, None))]),
        ]),
    ]);
    let found = all(&session);
    assert_eq!(listed(&found), [("wait at all-to-all", 0, 1, 40, 90)]);
    check_invariants(&session, &found);
}

#[test]
fn windows_have_the_waits_of_calls_that_end_in_them() {
    let sender = |at: u64| main(&[call("MPI_Send", at, at + 2, &[(at, Send(0))])]);
    let received = [(60, Receive(1)), (95, Receive(2))];
    let session = trace(&[main(&[call("MPI_Waitall", 30, 97, &received)]), sender(50), sender(90)]);
    for edge in [40, 55, 70, 96] {
        let found = |from, to| {
            let selection = Selection {
                tracks: [0, 1, 2].map(TrackIdx::new).into(),
                window: TimeWindow::new(from, to),
            };
            listed(&waits(&session, &selection, WaitChoice::ALL, &Control::new()).unwrap())
        };
        assert_eq!(found(0, edge), []);
        assert_eq!(found(edge, 1000), [("late sender", 0, 2, 30, 90)], "{edge}");
    }
}

/// Intervals in which ranks wait for messages.
fn of_messages(found: &Waits) -> Vec<(u32, u64, u64)> {
    let kinds = [WaitKind::LateSender, WaitKind::LateReceiver];
    let of_kind = found.list.iter().filter(|wait| kinds.contains(&wait.kind));
    of_kind.map(|wait| (wait.track.get(), wait.start_nanos, wait.end_nanos)).collect()
}

/// What holds whatever the trace: waits lie in their calls, those of one track do not overlap, and
/// kinds have together what they have one by one.
fn check_invariants(session: &Session, found: &Waits) {
    let mut last = (TrackIdx::new(u32::MAX), 0);
    let mut list = found.list.clone();
    list.sort_by_key(|wait| (wait.track, wait.start_nanos));
    for wait in &list {
        assert!(wait.call_start_nanos <= wait.start_nanos && wait.start_nanos < wait.end_nanos);
        assert!(wait.end_nanos <= wait.call_end_nanos);
        assert!(
            wait.track != last.0 || last.1 <= wait.start_nanos,
            "{wait:?} begins before {last:?}"
        );
        last = (wait.track, wait.end_nanos);
    }
    let none = WaitChoice {
        late_sender: false,
        late_receiver: false,
        collective: false,
        late_launch: false,
        for_gpu: false,
    };
    let selection = Selection::all(session).unwrap();
    let of_kind = |choice| waits(session, &selection, choice, &Control::new()).unwrap().list;
    let mut by_kind = of_kind(WaitChoice { late_sender: true, ..none });
    by_kind.extend(of_kind(WaitChoice { late_receiver: true, ..none }));
    by_kind.extend(of_kind(WaitChoice { collective: true, ..none }));
    assert_eq!(by_kind, found.list);
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
    assert_eq!((broken.list.len(), broken.counts.without_root), (0, 1));
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
    // A barrier that one leaves before the other comes is none, recorded or inferred.
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
    assert_eq!(found.list, []);
    assert_eq!((found.counts.collectives, found.counts.left_early), (1, 1));
    let notes = found.counts.notes();
    assert!(notes.iter().any(|note| note.contains("left before")), "{notes:?}");
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
        // The program knows when its ranks could not go on, and nothing of kinds and calls.
        prop_assert_eq!(joined(of_messages(&found)), joined(run.blocked.clone()));
        let is_plain = |phase: &Phase| {
            matches!(phase, Phase::Compute(_) | Phase::Message { .. } | Phase::Barrier)
        };
        if phases.iter().all(is_plain) {
            let kinds = [WaitKind::LateSender, WaitKind::LateReceiver];
            let [senders, receivers] = kinds.map(|kind| sorted(planted(&found, kind)));
            prop_assert_eq!(senders, sorted(run.late_senders));
            prop_assert_eq!(receivers, sorted(run.late_receivers));
        }
        check_invariants(&session, &found);
        let mut barriers = planted(&found, WaitKind::Barrier);
        // Of those that come last together any may be named.
        barriers.iter_mut().for_each(|wait| wait.1 = 0);
        let mut expected = run.barriers.clone();
        expected.iter_mut().for_each(|wait| wait.1 = 0);
        prop_assert_eq!(sorted(barriers), sorted(expected));
        // Adjacent windows have the waits of the whole.
        let mut edges = vec![0, u64::MAX];
        edges.extend(cuts.iter().map(|cut| 1000 + cut));
        edges.sort_unstable();
        let mut pieces = Vec::new();
        for pair in edges.windows(2) {
            let window = TimeWindow::new(pair[0], pair[1]);
            let selection = Selection { tracks: [0, 1, 2, 3].map(TrackIdx::new).into(), window };
            let part = waits(&session, &selection, WaitChoice::ALL, &Control::new()).unwrap();
            pieces.extend(part.list);
        }
        pieces.sort_by_key(|w| (w.kind, w.track, w.start_nanos, w.delayed_by));
        prop_assert_eq!(pieces, found.list);
    }
}

/// Names of functions, of which most have to do with messages.
const NAMES: [&str; 12] = [
    "work",
    "MPI_Send",
    "MPI_Recv",
    "MPI_Sendrecv",
    "MPI_Isend",
    "MPI_Irecv",
    "MPI_Wait",
    "MPI_Waitall",
    "MPI_Waitsome",
    "MPI_Testall",
    "MPI_Start",
    "MPI_Allreduce",
];

/// Steps that no program does: calls in each other, requests that nobody has heard of, and
/// operations that do not belong together.
fn anything() -> impl Strategy<Value = Vec<(u64, Do)>> {
    let what = prop_oneof![
        4 => (0..NAMES.len()).prop_map(|name| Enter(NAMES[name])),
        4 => Just(Leave),
        2 => (0..3_u32).prop_map(Send),
        2 => (0..3_u32).prop_map(Receive),
        1 => (0..3_u32, 0..4_u64).prop_map(|(to, request)| Isend(to, request)),
        1 => (0..4_u64).prop_map(Sent),
        1 => (0..4_u64).prop_map(Post),
        1 => (0..3_u32, 0..4_u64).prop_map(|(from, request)| Got(from, request)),
        1 => Just(Come),
        1 => prop::sample::select(vec![0_u8, 1, 11, 12, 14])
            .prop_map(|operation| Go(operation, Some(0))),
    ];
    prop::collection::vec((0..9_u64, what), 0..60).prop_map(|steps| {
        let mut now = 100;
        let mut after = |(nanos, step)| {
            now += nanos;
            (now, step)
        };
        steps.into_iter().map(&mut after).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn waiting_in_a_call_is_at_most_the_call(ranks in prop::collection::vec(anything(), 3)) {
        let session = trace(&ranks);
        check_invariants(&session, &all(&session));
    }
}
