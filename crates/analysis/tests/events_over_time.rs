//! What tracks do over time adds up to what they do in all.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

mod events_support;

use events_support::{Do::*, Phase, run, trace};
use parallax_analysis::events::{
    Activities, Activity, Bins, Late, Selection, TrackTimes, UnderWay, imbalance_over_time,
    lateness, overlap, time_profile, track_times, track_times_by_bin,
};
use parallax_base::{Control, TimeWindow, TrackIdx};
use parallax_engine::{LocationChoice, Session};
use proptest::prelude::*;

/// Two ranks: one computes from 0 to 64 and waits until 128, the other computes all the time.
fn two_ranks() -> Session {
    trace(&[
        vec![
            (0, Enter("main")),
            (64, Enter("MPI_Recv")),
            (64 + 32, Enter("memcpy")),
            (64 + 48, Leave),
            (128, Leave),
            (160, Leave),
            (192, Enter("main")),
            (256, Leave),
        ],
        vec![(0, Enter("main")), (200, Enter("MPI_Isend")), (256, Leave), (256, Leave)],
    ])
}

#[test]
fn time_divides_into_computing_mpi_waiting_and_nothing() {
    let session = two_ranks();
    let selection = Selection::all(&session).unwrap();
    let times = track_times(&session, &selection, &Control::new()).unwrap();
    let first = TrackTimes {
        whole_nanos: 256,
        computing_nanos: 64 + 32 + 64,
        communicating_nanos: 0,
        waiting_nanos: 64,
    };
    assert_eq!(times[0], first);
    assert_eq!((first.outside_nanos(), first.idle_nanos()), (32, 96));
    assert_eq!((times[1].computing_nanos, times[1].communicating_nanos), (200, 56));
    let tree = session.tree();
    let activities = Activities::new(tree);
    let copy = tree.iter().find(|c| tree.label(*c) == "memcpy").unwrap();
    assert_eq!(activities.of(copy), Activity::Waiting, "what MPI calls is MPI");
}

#[test]
fn bins_are_the_shortest_that_are_few_enough() {
    let session = two_ranks();
    let bins =
        |from, to, at_most| Bins::covering(&session, TimeWindow::new(from, to), at_most).unwrap();
    let all = bins(0, u64::MAX, 4);
    assert_eq!((all.exponent, all.first, all.len), (6, 0, 4));
    assert_eq!(all.bin(3), TimeWindow::new(192, 256));
    let shifted = bins(60, 70, 1);
    assert_eq!((shifted.exponent, shifted.len), (7, 1), "64 lies inside, so 128 ns are needed");
    assert_eq!(bins(300, 400, 4).len, 0, "behind the trace");
    assert_eq!(bins(0, 256, 0).len, 1);
}

#[test]
fn imbalance_is_about_who_computes_in_a_bin() {
    let session = two_ranks();
    let bins = Bins::covering(&session, TimeWindow::ALL, 4).unwrap();
    let selection = Selection::all(&session).unwrap();
    let rows = imbalance_over_time(&session, &selection, &bins, &Control::new()).unwrap();
    let found: Vec<(u64, f64, Option<f64>, u32)> = rows
        .iter()
        .map(|row| {
            let d = &row.distribution;
            (row.bin.start_nanos, (d.saving * 1e9).round(), d.balance_ratio, row.slowest.get())
        })
        .collect();
    // 64 and 64; 0 and 64; 32 and 64; 64 and 8.
    let expected = [
        (0, 0.0, Some(1.0), 0),
        (64, 32.0, Some(0.5), 1),
        (128, 16.0, Some(0.75), 1),
        (192, 28.0, Some(36.0 / 64.0), 0),
    ];
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!((found.0, found.1, found.3), (expected.0, expected.1, expected.3));
        assert!((found.2.unwrap() - expected.2.unwrap()).abs() < 1e-12);
    }
    assert_eq!(found.len(), 4);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn bins_add_up_to_the_whole(
        times in prop::collection::vec(prop::collection::vec(0..90_u64, 3), 1..12),
        at_most in 1..40_usize,
    ) {
        let phases: Vec<Phase> =
            times.into_iter().flat_map(|t| [Phase::Compute(t), Phase::Barrier]).collect();
        let session = trace(&run(3, &phases, true).steps);
        let control = Control::new();
        let selection = Selection::all(&session).unwrap();
        let bins = Bins::covering(&session, TimeWindow::ALL, at_most).unwrap();
        prop_assert!(bins.len <= at_most);
        let whole = track_times(&session, &selection, &control).unwrap();
        let by_bin = track_times_by_bin(&session, &selection, &bins, &control).unwrap();
        let sums: Vec<TrackTimes> = by_bin
            .iter()
            .map(|cells| cells.iter().fold(TrackTimes::default(), |sum, cell| sum.plus(cell)))
            .collect();
        prop_assert_eq!(&sums, &whole);
        let keys: Vec<Option<u32>> = session.tree().iter().map(|c| Some(c.get())).collect();
        let profile = time_profile(&session, &selection, &bins, &keys, &control).unwrap();
        let all = session.context_sums(&LocationChoice::All, TimeWindow::ALL, &control).unwrap();
        for (context, cells) in profile.chunks(bins.len).enumerate().skip(1) {
            prop_assert_eq!(cells.iter().sum::<u128>(), all.nanos[context]);
        }
    }
}

#[test]
fn lateness_is_behind_the_first_that_comes() {
    let rank = |first: u64, second: u64, extra: bool| {
        let mut steps = vec![(0, Enter("main")), (first, Enter("MPI_Barrier")), (60, Leave)];
        if extra {
            steps.extend([(70, Enter("MPI_Send")), (71, Leave)]);
        }
        steps.extend([(second, Enter("MPI_Barrier")), (200, Leave), (200, Leave)]);
        steps
    };
    let session = trace(&[rank(10, 130, false), rank(50, 140, true), rank(10, 180, true)]);
    let bins = Bins::covering(&session, TimeWindow::ALL, 2).unwrap();
    let keys: Vec<Option<u32>> = session.tree().iter().map(|c| Some(c.get())).collect();
    let selection = Selection::all(&session).unwrap();
    let found = lateness(&session, &selection, &bins, &keys, &Control::new()).unwrap();
    // Ranks 1 and 2 send at the same time; rank 0 does not, and is not compared.
    let tree = session.tree();
    let row = |name: &str| {
        let context = tree.iter().find(|c| tree.label(*c) == name).unwrap();
        found.rows.iter().find(|row| row.key == context.get()).unwrap()
    };
    let barrier = row("MPI_Barrier");
    assert_eq!(barrier.whole, Late { calls: 6, sum_nanos: 40 + 10 + 50, max_nanos: 50 });
    assert_eq!(
        barrier.latest.get(),
        1,
        "ranks 1 and 2 are 50 ns late in all, and the first is named"
    );
    assert_eq!(barrier.bins[0], Late { calls: 3, sum_nanos: 40, max_nanos: 40 });
    assert_eq!(barrier.bins[1], Late { calls: 3, sum_nanos: 60, max_nanos: 50 });
    assert_eq!(row("MPI_Send").whole, Late { calls: 2, sum_nanos: 0, max_nanos: 0 });
    assert_eq!((found.rows.len(), found.num_uneven), (2, 0));
    let later =
        Selection { tracks: [2].map(TrackIdx::new).into(), window: TimeWindow::new(100, 150) };
    let found = lateness(&session, &later, &bins, &keys, &Control::new()).unwrap();
    assert_eq!(found.rows.len(), 0, "rank 2 comes at 180");
}

#[test]
fn computing_counts_as_overlap_while_a_message_is_under_way() {
    let session = trace(&[
        vec![
            (0, Enter("main")),
            (10, Enter("MPI_Isend")),
            (12, Send(1)),
            (20, Leave),
            (80, Enter("MPI_Wait")),
            (120, Leave),
            (200, Leave),
        ],
        vec![
            (0, Enter("main")),
            (40, Enter("MPI_Recv")),
            (112, Receive(0)),
            (115, Leave),
            (200, Leave),
        ],
    ]);
    let bins = Bins::covering(&session, TimeWindow::ALL, 4).unwrap();
    let all = Selection::all(&session).unwrap();
    let found = overlap(&session, &all, &bins, &Control::new()).unwrap();
    let whole: Vec<(u64, u64)> =
        found.tracks.iter().map(|t| (t.whole.nanos, t.whole.computing_nanos)).collect();
    // From 12 to 112; rank 0 computes from 20 to 80, rank 1 from 12 to 40.
    assert_eq!(whole, [(100, 60), (100, 28)]);
    assert!(!found.is_flows && found.backwards == 0);
    for track in &found.tracks {
        let sum = |of: fn(&UnderWay) -> u64| track.bins.iter().map(of).sum::<u64>();
        assert_eq!(sum(|bin| bin.nanos), track.whole.nanos);
        assert_eq!(sum(|bin| bin.computing_nanos), track.whole.computing_nanos);
    }
    let part = Selection { tracks: [1].map(TrackIdx::new).into(), window: TimeWindow::new(30, 50) };
    let found = overlap(&session, &part, &bins, &Control::new()).unwrap();
    let only = found.tracks[0].whole;
    assert_eq!((found.tracks.len(), only.nanos, only.computing_nanos), (1, 20, 10));
}
