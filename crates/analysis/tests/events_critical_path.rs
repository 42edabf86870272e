//! The critical path of planted programs, to the nanosecond.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

mod events_support;

use events_support::{Do::*, Phase, phases, run, trace, trace_in_batches};
use parallax_analysis::events::{
    CriticalPath, Segment, Selection, WaitChoice, WaitKind, critical_path, waits,
};
use parallax_base::{Control, TimeWindow, TrackIdx};
use parallax_engine::Session;
use proptest::prelude::*;

fn path_of(session: &Session) -> CriticalPath {
    critical_path(session, &Selection::all(session).unwrap(), &Control::new()).unwrap()
}

type Listed = (u32, u64, u64, String, Option<WaitKind>);

fn segments(session: &Session, found: &CriticalPath) -> Vec<Listed> {
    let name = |context| events_support::path(session, context);
    let segments = found.segments.iter();
    segments
        .map(|s| {
            (
                s.track.get(),
                s.start_nanos,
                s.end_nanos,
                name(s.context),
                s.releases.map(|(kind, _)| kind),
            )
        })
        .collect()
}

/// Rank 0 works and sends; rank 1 waits for it, works and comes late to a barrier, where rank 0
/// waits; rank 2 only comes to the barrier.
fn three_ranks() -> Session {
    let barrier = |enter: u64| {
        [(enter, Enter("MPI_Barrier")), (enter, Come), (302, Go(0, None)), (302, Leave)]
    };
    let mut ranks = vec![
        vec![
            (0, Enter("main")),
            (10, Enter("setup")),
            (100, Leave),
            (110, Enter("MPI_Send")),
            (111, Send(1)),
            (115, Leave),
        ],
        vec![
            (0, Enter("main")),
            (20, Enter("MPI_Recv")),
            (118, Receive(0)),
            (120, Leave),
            (120, Enter("solve")),
            (290, Leave),
        ],
        vec![(0, Enter("main")), (5, Enter("idle")), (6, Leave)],
    ];
    for (steps, enter) in ranks.iter_mut().zip([130, 300, 10]) {
        steps.extend(barrier(enter));
    }
    ranks[0].push((320, Leave));
    ranks[1].push((310, Leave));
    ranks[2].extend([(303, Enter("finish")), (340, Leave), (350, Leave)]);
    trace(&ranks)
}

#[test]
fn the_path_goes_back_through_who_was_waited_for() {
    let session = three_ranks();
    let found = path_of(&session);
    let expected = [
        (0, 0, 110, "main > setup", Some(WaitKind::LateSender)),
        (1, 110, 300, "main > solve", Some(WaitKind::Barrier)),
        (2, 300, 350, "main > finish", None),
    ];
    let expected: Vec<Listed> = expected
        .into_iter()
        .map(|(track, from, to, name, releases)| (track, from, to, name.to_owned(), releases))
        .collect();
    assert_eq!(segments(&session, &found), expected);
    let mut parts: Vec<(u32, String, u64)> = found
        .parts
        .iter()
        .map(|part| (part.track.get(), events_support::path(&session, part.context), part.nanos))
        .collect();
    parts.sort();
    let expected = [
        (0, "main", 20),
        (0, "main > setup", 90),
        // Of receiving, only what follows the send.
        (1, "main", 10),
        (1, "main > MPI_Recv", 10),
        (1, "main > solve", 170),
        (2, "main", 11),
        (2, "main > MPI_Barrier", 2),
        (2, "main > finish", 37),
    ];
    let expected: Vec<(u32, String, u64)> =
        expected.into_iter().map(|(track, name, nanos)| (track, name.to_owned(), nanos)).collect();
    assert_eq!(parts, expected);
    assert_eq!((found.whole_nanos, found.num_waits), (350, 3));
}

#[test]
fn a_window_cuts_the_path_and_tracks_pick_from_it() {
    let session = three_ranks();
    let selection = Selection {
        tracks: [0, 1, 2].map(TrackIdx::new).into(),
        window: TimeWindow::new(100, 200),
    };
    let found = critical_path(&session, &selection, &Control::new()).unwrap();
    let places: Vec<_> =
        found.segments.iter().map(|s| (s.track.get(), s.start_nanos, s.end_nanos)).collect();
    assert_eq!((places, found.whole_nanos), (vec![(0, 100, 110), (1, 110, 200)], 100));
    let selection =
        Selection { tracks: [1].map(TrackIdx::new).into(), window: TimeWindow::new(100, 200) };
    let found = critical_path(&session, &selection, &Control::new()).unwrap();
    assert_eq!((found.segments.len(), found.whole_nanos), (1, 100));
}

#[test]
fn without_waits_the_path_is_that_of_the_track_that_ends_last() {
    let session =
        trace(&[vec![(5, Enter("main")), (90, Leave)], vec![(10, Enter("main")), (100, Leave)]]);
    let found = path_of(&session);
    let expected = vec![(1, 5, 100, "main".to_owned(), None)];
    assert_eq!(segments(&session, &found), expected);
    assert_eq!(found.parts.iter().map(|part| part.nanos).sum::<u64>(), 95);
    assert_eq!(found.parts.len(), 2, "main, and five nanoseconds of nothing before it");
}

#[test]
fn clocks_that_contradict_each_other_do_not_stop_the_walk() {
    // Each leaves a barrier before the other has come, twice at the same times.
    let rank = |enter: u64, leave: u64| {
        let barrier = |at: u64| {
            [
                (enter + at, Enter("MPI_Barrier")),
                (enter + at, Come),
                (leave + at, Go(0, None)),
                (leave + at, Leave),
            ]
        };
        let mut steps = vec![(0, Enter("main"))];
        steps.extend(barrier(0));
        steps.extend(barrier(100));
        steps.push((400, Leave));
        steps
    };
    let session = trace(&[rank(10, 20), rank(20, 30), rank(30, 31)]);
    let found = path_of(&session);
    assert_eq!(found.segments.first().map(|s| s.start_nanos), Some(0));
    assert_eq!(found.segments.iter().map(Segment::nanos).sum::<u64>(), 400);
    assert!(found.counts.left_early > 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_path_is_as_long_as_the_execution_and_never_waits(
        phases in phases(4),
        has_records in any::<bool>(),
        every in 3..30_usize,
    ) {
        let run = run(4, &phases, has_records);
        let session = trace_in_batches(&run.steps, every);
        let found = path_of(&session);
        let last = *run.ends.iter().max().unwrap();
        let mut now = 1000;
        for segment in &found.segments {
            prop_assert!(segment.start_nanos == now && segment.end_nanos > now);
            prop_assert!(segment.context_nanos <= segment.nanos());
            now = segment.end_nanos;
        }
        prop_assert_eq!(now, last);
        prop_assert_eq!(found.whole_nanos, last - 1000);
        prop_assert_eq!(found.parts.iter().map(|part| part.nanos).sum::<u64>(), last - 1000);
        let end = found.segments.last().unwrap();
        prop_assert_eq!(run.ends[end.track.idx()], last);
        let all = Selection::all(&session).unwrap();
        let waits = waits(&session, &all, WaitChoice::ALL, &Control::new()).unwrap();
        for segment in &found.segments {
            let on_path = TimeWindow::new(segment.start_nanos, segment.end_nanos);
            for wait in waits.list.iter().filter(|wait| wait.track == segment.track) {
                let waiting = TimeWindow::new(wait.start_nanos, wait.end_nanos);
                prop_assert!(on_path.intersect(waiting).is_empty(), "{:?} in {:?}", wait, segment);
            }
        }
    }

    #[test]
    fn less_work_on_the_path_shortens_the_execution_by_no_more_than_it(
        times in prop::collection::vec(prop::collection::vec(1..90_u64, 3), 1..10),
    ) {
        // Without waiting, the path of programs with barriers is the longest work of each phase.
        let phases: Vec<Phase> =
            times.iter().cloned().flat_map(|t| [Phase::Compute(t), Phase::Barrier]).collect();
        let session = trace(&run(3, &phases, true).steps);
        let found = path_of(&session);
        let tree = session.tree();
        let work: u64 = found
            .parts
            .iter()
            .filter(|part| tree.label(part.context) == "work")
            .map(|part| part.nanos)
            .sum();
        let expected: u64 = times.iter().map(|times| times.iter().max().unwrap()).sum();
        prop_assert_eq!(work, expected);
    }
}
