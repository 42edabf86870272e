//! Records of collective operations are put together as the ranks called them, also where some are
//! missing.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

mod events_support;

use std::sync::Arc;

use events_support::{Do, Do::*, trace};
use parallax_analysis::events::{Selection, WaitChoice, Waits, waits};
use parallax_base::{Control, Folder, Limits, MemorySink};
use parallax_engine::Session;
use parallax_import::archive;
use parallax_import::events::{Collective, Conversion, TrackIdentity};
use parallax_model::IdentityKind;
use proptest::prelude::*;

fn all(session: &Session) -> Waits {
    let selection = Selection::all(session).unwrap();
    waits(session, &selection, WaitChoice::ALL, &Control::new()).unwrap()
}

/// Who waits, for whom, from and to.
type Planted = (u32, u32, u64, u64);

fn listed(found: &Waits) -> Vec<Planted> {
    let mut list: Vec<Planted> = found
        .list
        .iter()
        .map(|wait| (wait.track.get(), wait.delayed_by.get(), wait.start_nanos, wait.end_nanos))
        .collect();
    list.sort_unstable();
    list
}

/// One operation of a program: its number, its root, and how long each rank computes before.
#[derive(Debug, Clone)]
struct Operation {
    number: u8,
    root: Option<u64>,
    computes: Vec<u64>,
}

const BARRIER: u8 = 0;
const BROADCAST: u8 = 1;
const ALL_REDUCE: u8 = 11;

/// What one rank does, with the time of each step.
type Steps = Vec<(u64, Do)>;

/// What `ranks` ranks record of a program, and whom each of them waits for in each operation.
/// `lost` are records that are not there: rank and number of the operation.
fn run(
    ranks: usize,
    program: &[Operation],
    lost: &[(usize, usize)],
) -> (Vec<Steps>, Vec<Vec<Planted>>) {
    let mut steps = vec![vec![(0, Enter("main"))]; ranks];
    let mut now = vec![10_u64; ranks];
    let mut planted = Vec::new();
    for (nth, operation) in program.iter().enumerate() {
        let enters: Vec<u64> = (0..ranks)
            .map(|rank| now[rank] + operation.computes[rank % operation.computes.len()])
            .collect();
        let last = *enters.iter().max().unwrap();
        let whose = |nanos| enters.iter().position(|&enter| enter == nanos).unwrap() as u32;
        let mut waits = Vec::new();
        for rank in 0..ranks {
            let (enter, name) = (
                enters[rank],
                match operation.number {
                    BARRIER => "MPI_Barrier",
                    BROADCAST => "MPI_Bcast",
                    _ => "MPI_Allreduce",
                },
            );
            let until = match operation.root {
                Some(root) => enters[root as usize],
                None => last,
            };
            let leave = enter.max(until) + 2;
            if enter < until {
                waits.push((rank as u32, whose(until), enter, until));
            }
            steps[rank].push((enter, Enter(name)));
            if !lost.contains(&(rank, nth)) {
                steps[rank].push((enter, Come));
                steps[rank].push((leave, Go(operation.number, operation.root)));
            }
            steps[rank].push((leave, Leave));
            now[rank] = leave;
        }
        planted.push(waits);
    }
    let end = now.iter().max().unwrap() + 5;
    steps.iter_mut().for_each(|steps| steps.push((end, Leave)));
    (steps, planted)
}

/// What is left of the planted waits when operations are left out.
fn without(planted: &[Vec<Planted>], lost: &[(usize, usize)]) -> Vec<Planted> {
    let is_whole = |nth: &usize| lost.iter().all(|(_, lost)| lost != nth);
    let whole = (0..planted.len()).filter(is_whole);
    let mut list: Vec<Planted> = whole.flat_map(|nth| planted[nth].clone()).collect();
    list.sort_unstable();
    list
}

fn reductions(computes: &[[u64; 3]]) -> Vec<Operation> {
    let operation = |computes: &[u64; 3]| Operation {
        number: ALL_REDUCE,
        root: None,
        computes: computes.to_vec(),
    };
    computes.iter().map(operation).collect()
}

#[test]
fn a_record_that_is_missing_shifts_nothing() {
    let program = reductions(&[
        [30, 10, 20],
        [11, 40, 12],
        [10, 20, 50],
        [60, 10, 15],
        [10, 70, 11],
        [33, 22, 44],
    ]);
    for rank in 0..3 {
        for nth in 0..program.len() {
            let lost = [(rank, nth)];
            let (steps, planted) = run(3, &program, &lost);
            let found = all(&trace(&steps));
            assert_eq!(listed(&found), without(&planted, &lost), "rank {rank}, operation {nth}");
            let counts = &found.counts;
            assert_eq!((counts.collectives, counts.incomplete_collectives), (6, 1));
            assert_eq!(counts.left_early, 0);
            let notes = counts.notes();
            assert!(
                notes[0].starts_with("1 of 6 collective operations lack the record"),
                "{notes:?}"
            );
        }
    }
    // All ranks lack one, so that numbers tell nothing.
    let program: Vec<_> = program.iter().cycle().take(14).cloned().collect();
    let lost = [(0, 2), (1, 6), (2, 10)];
    let (steps, planted) = run(3, &program, &lost);
    let found = all(&trace(&steps));
    assert_eq!(listed(&found), without(&planted, &lost));
    assert_eq!((found.counts.left_early, found.counts.incomplete_collectives), (0, 3));
}

#[test]
fn operations_of_another_kind_or_root_are_not_put_together() {
    let broadcast = |root, computes: [u64; 3]| Operation {
        number: BROADCAST,
        root: Some(root),
        computes: computes.to_vec(),
    };
    let barrier =
        |computes: [u64; 3]| Operation { number: BARRIER, root: None, computes: computes.to_vec() };
    let program = [
        broadcast(0, [90, 10, 20]),
        broadcast(1, [10, 80, 20]),
        barrier([10, 20, 70]),
        broadcast(2, [10, 20, 60]),
        broadcast(0, [90, 10, 20]),
    ];
    for rank in 0..3 {
        for nth in 0..program.len() {
            let lost = [(rank, nth)];
            let (steps, planted) = run(3, &program, &lost);
            let found = all(&trace(&steps));
            assert_eq!(listed(&found), without(&planted, &lost), "rank {rank}, operation {nth}");
        }
    }
}

#[test]
fn a_rank_that_stops_recording_leaves_what_was_before() {
    let program = reductions(&[[30, 10, 20], [11, 40, 12], [10, 20, 50], [60, 10, 15]]);
    let lost = [(1, 2), (1, 3)];
    let (steps, planted) = run(3, &program, &lost);
    let found = all(&trace(&steps));
    assert_eq!(listed(&found), without(&planted, &lost));
    assert_eq!((found.counts.collectives, found.counts.incomplete_collectives), (4, 2));
}

/// A part in a barrier.
#[derive(Debug, Clone, Copy)]
struct Call {
    enter: u64,
    leave: u64,
    communicator: u32,
}

/// Application, rank and thread of a track, and its barriers.
type Track<'p> = ((u64, u64, u64), &'p [Call]);

fn barriers(tracks: &[Track<'_>]) -> Session {
    let sink = MemorySink::new();
    let mut conversion = Conversion::new(Arc::new(sink.clone()), 1 << 20).unwrap();
    let barrier = conversion.function("MPI_Barrier", "MPI");
    for &((application, rank, thread), parts) in tracks {
        let identity = vec![
            (IdentityKind::Application, application),
            (IdentityKind::Rank, rank),
            (IdentityKind::Thread, thread),
        ];
        let track = conversion.track(TrackIdentity { identity, ..TrackIdentity::default() });
        let builder = conversion.builder(track).unwrap();
        for part in parts {
            builder.enter(part.enter, barrier);
            builder.begin_collective(part.enter);
            builder.end_collective(Collective {
                start_nanos: part.enter,
                end_nanos: part.leave,
                operation: BARRIER,
                communicator: part.communicator,
                root: None,
                sent: 0,
                received: 0,
            });
            builder.leave(part.leave, None);
        }
    }
    conversion.finish().unwrap();
    let folder: Arc<dyn Folder> = Arc::new(sink.into_folder("memory"));
    Session::new(archive::open(&folder, &Limits::default()).unwrap())
}

fn part(enter: u64, leave: u64, communicator: u32) -> Call {
    Call { enter, leave, communicator }
}

#[test]
fn communicators_of_two_components_are_two() {
    // Both number theirs from 0, and are not in step.
    let session = barriers(&[
        ((0, 0, 0), &[part(10, 32, 0)]),
        ((0, 1, 0), &[part(30, 32, 0)]),
        ((1, 0, 0), &[part(50, 92, 0)]),
        ((1, 1, 0), &[part(90, 92, 0)]),
    ]);
    let found = all(&session);
    assert_eq!(listed(&found), [(0, 1, 10, 30), (2, 3, 50, 90)]);
    assert_eq!((found.counts.collectives, found.counts.left_early), (2, 0));
}

#[test]
fn threads_of_a_rank_take_part_as_the_rank() {
    let session = barriers(&[
        ((0, 0, 0), &[part(10, 32, 0)]),
        ((0, 0, 1), &[part(50, 92, 0)]),
        ((0, 1, 0), &[part(30, 32, 0), part(90, 92, 0)]),
    ]);
    assert_eq!(listed(&all(&session)), [(0, 2, 10, 30), (1, 2, 50, 90)]);
}

#[test]
fn nobody_waits_in_a_communicator_of_one() {
    let alone = u32::MAX;
    let session =
        barriers(&[((0, 0, 0), &[part(10, 12, alone)]), ((0, 1, 0), &[part(30, 32, alone)])]);
    let found = all(&session);
    assert_eq!((found.list.len(), found.counts.collectives), (0, 0));
}

#[test]
fn clocks_that_are_off_all_the_time_are_not_taken_for_missing_records() {
    // Rank 1 is 100 ns late in everything.
    let own: Vec<Call> = (0..20).map(|n| part(n * 50, n * 50 + 5, 0)).collect();
    let late: Vec<Call> = (0..20).map(|n| part(n * 50 + 100, n * 50 + 105, 0)).collect();
    let found = all(&barriers(&[((0, 0, 0), &own), ((0, 1, 0), &late)]));
    assert_eq!((found.list.len(), found.counts.incomplete_collectives), (0, 0));
    assert_eq!((found.counts.collectives, found.counts.left_early), (20, 20));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn waits_of_operations_with_all_their_records_stay(
        program in prop::collection::vec(
            (any::<bool>(), prop::collection::vec(1..60_u64, 4)), 6..40,
        ),
        lost in prop::collection::vec((0..4_usize, any::<prop::sample::Index>()), 0..5),
    ) {
        let program: Vec<Operation> = program
            .into_iter()
            .map(|(is_barrier, computes)| {
                let number = if is_barrier { BARRIER } else { ALL_REDUCE };
                Operation { number, root: None, computes }
            })
            .collect();
        let lost: Vec<(usize, usize)> =
            lost.iter().map(|(rank, at)| (*rank, at.index(program.len()))).collect();
        let (steps, planted) = run(4, &program, &lost);
        let found = all(&trace(&steps));
        let mut waits = listed(&found);
        let mut expected = without(&planted, &lost);
        // Of those that come last together any may be named.
        waits.iter_mut().chain(&mut expected).for_each(|wait| wait.1 = 0);
        // Never of operations that are mixed.
        for wait in &waits {
            prop_assert!(expected.contains(wait), "{:?} is none of {:?}", wait, expected);
        }
        let is_one_rank = lost.iter().all(|(rank, _)| *rank == lost[0].0);
        // A rank without any record is none of the communicator.
        let is_known = lost.len() < program.len();
        if is_one_rank && is_known {
            prop_assert_eq!(waits, expected);
        }
    }
}
