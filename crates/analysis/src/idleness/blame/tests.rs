//! The sweep against going through time nanosecond by nanosecond.

use parallax_base::{LocationIdx, TrackIdx};
use parallax_model::{ContextTreeBuilder, Interval, StoreError, Track};
use proptest::prelude::*;

use super::*;

/// Contexts 1 to 5; in 5, streams and threads do nothing.
const NUM_CONTEXTS: u32 = 6;
const RESTING: u32 = 5;
/// Not in the tree.
const UNKNOWN: u32 = 9;

/// Tracks as lists of samples, each with a context that holds until the next one.
#[derive(Debug, Clone)]
struct Samples {
    tracks: Vec<Track>,
    samples: Vec<Vec<(u64, u32)>>,
}

impl Samples {
    fn new(samples: Vec<Vec<(u64, u32)>>) -> Self {
        let track = |(at, of): (u32, &Vec<_>)| Track {
            location: LocationIdx::new(at),
            num_samples: of.len() as u64,
        };
        Self { tracks: (0..).zip(&samples).map(track).collect(), samples }
    }

    fn intervals(&self, track: TrackIdx) -> impl Iterator<Item = Interval> + '_ {
        let samples = &self.samples[track.idx()];
        samples.iter().enumerate().map(move |(at, &(start_nanos, context))| Interval {
            context,
            start_nanos,
            end_nanos: samples.get(at + 1).map_or(start_nanos, |next| next.0),
        })
    }
}

impl TraceStore for Samples {
    fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    fn span(&self) -> TimeWindow {
        let times = || self.samples.iter().flatten().map(|sample| sample.0);
        TimeWindow::new(times().min().unwrap_or(0), times().max().unwrap_or(0))
    }

    fn visit(
        &self,
        track: TrackIdx,
        window: TimeWindow,
        visit: &mut dyn FnMut(Interval),
    ) -> Result<(), StoreError> {
        let is_last = |i: &Interval| i.start_nanos == i.end_nanos;
        self.intervals(track)
            .filter(|i| i.start_nanos < window.end_nanos)
            .filter(|i| {
                i.end_nanos > window.start_nanos
                    || is_last(i) && i.start_nanos >= window.start_nanos
            })
            .for_each(visit);
        Ok(())
    }
}

fn tree() -> ContextTree {
    let mut tree = ContextTreeBuilder::new(0, Vec::new(), Vec::new(), Vec::new());
    for id in 1..NUM_CONTEXTS {
        tree.push_entry(id, format!("context {id}").into());
    }
    tree.finish()
}

fn sweep(store: &Samples, members: &Members, at_once: usize) -> Swept {
    let tree = tree();
    let rests: Vec<bool> = (0..NUM_CONTEXTS).map(|context| context == RESTING).collect();
    let works: Vec<bool> = rests.iter().map(|rests| !rests).collect();
    let question = Question { store, tree: &tree, is_idle: &rests, is_working: &works, at_once };
    question.sweep(members, &Control::new()).unwrap()
}

/// What is active at a moment: the context of the last sample that holds.
fn active(store: &Samples, track: TrackIdx, nanos: u64) -> Option<u32> {
    store
        .intervals(track)
        .find(|i| i.start_nanos <= nanos && nanos < i.end_nanos)
        .map(|i| i.context)
        .filter(|context| ![0, RESTING].contains(context))
}

/// Divisible by every number of threads that is drawn.
const PARTS: u64 = 60;

/// Span, idle time, time of nobody, and by context 1/60 ns of blame.
fn nanosecond_by_nanosecond(
    store: &Samples,
    members: &Members,
) -> (Option<u64>, u64, u64, BTreeMap<u32, u64>) {
    let all = || members.streams.iter().chain(&members.threads);
    let times =
        || all().flat_map(|&track| store.samples[track.idx()].iter().map(|sample| sample.0));
    let (Some(first), Some(last)) = (times().min(), times().max()) else {
        return (None, 0, 0, BTreeMap::new());
    };
    let (mut idle, mut nobody, mut blame) = (0, 0, BTreeMap::new());
    for nanos in first..last {
        if members.streams.iter().any(|&track| active(store, track, nanos).is_some()) {
            continue;
        }
        idle += 1;
        let threads = members.threads.iter().filter_map(|&track| active(store, track, nanos));
        let threads: Vec<u32> = threads.collect();
        nobody += u64::from(threads.is_empty());
        for &context in &threads {
            let context = if context == UNKNOWN { 0 } else { context };
            *blame.entry(context).or_default() += PARTS / threads.len() as u64;
        }
    }
    (Some(last - first), idle, nobody, blame)
}

fn drawn_samples() -> impl Strategy<Value = Vec<(u64, u32)>> {
    let context = prop_oneof![Just(0), 1..NUM_CONTEXTS, Just(UNKNOWN)];
    proptest::collection::vec((0_u64..120, context), 0..14).prop_map(|mut samples| {
        samples.sort_by_key(|sample| sample.0);
        samples.into_iter().map(|(nanos, context)| (1_000 + nanos, context)).collect()
    })
}

fn ids(rows: std::ops::Range<usize>) -> Vec<TrackIdx> {
    rows.map(TrackIdx::from_len).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn shares_are_those_of_every_single_nanosecond(
        streams in proptest::collection::vec(drawn_samples(), 0..4),
        threads in proptest::collection::vec(drawn_samples(), 0..6),
        others in drawn_samples(),
        at_once in 1_usize..40,
    ) {
        let first = streams.len();
        let members = Members {
            streams: ids(0..first),
            threads: ids(first..first + threads.len()),
        };
        // The last track is another rank's.
        let store = Samples::new([streams, threads, vec![others]].concat());
        let swept = sweep(&store, &members, AT_ONCE);
        let (span, idle, nobody, blame) = nanosecond_by_nanosecond(&store, &members);
        prop_assert_eq!((swept.span_nanos, swept.idle_nanos, swept.unattributed_nanos), (span, idle, nobody));
        let parts: BTreeMap<u32, u64> = swept.parts.iter().map(|(c, n)| (c.get(), *n)).collect();
        prop_assert_eq!(parts.values().sum::<u64>(), idle - nobody);
        prop_assert!(parts.keys().all(|context| blame.contains_key(context)));
        for (context, exact) in blame {
            let nanos = parts.get(&context).copied().unwrap_or(0);
            prop_assert!((nanos * PARTS).abs_diff(exact) < PARTS, "{context}: {nanos} {exact}/60");
        }
        // However little is read at once.
        prop_assert_eq!(sweep(&store, &members, at_once), swept);
    }
}

#[test]
fn remainders_go_to_the_largest_fractions_and_then_to_the_first() {
    // 10 ns of three threads, and 1 ns of two of them.
    let long = |context| vec![(0, context), (10, 0)];
    let store = Samples::new(vec![
        vec![(0, 0), (11, 0)],
        long(3),
        [vec![(0, 2)], vec![(11, 0)]].concat(),
        [vec![(0, 1)], vec![(11, 0)]].concat(),
    ]);
    let members = Members { streams: ids(0..1), threads: ids(1..4) };
    let swept = sweep(&store, &members, AT_ONCE);
    let parts: Vec<(u32, u64)> = swept.parts.iter().map(|(c, n)| (c.get(), *n)).collect();
    // 3 5/6, 3 5/6 and 3 1/3: both large fractions are filled up.
    assert_eq!(parts, [(1, 4), (2, 4), (3, 3)]);
    assert_eq!((swept.idle_nanos, swept.unattributed_nanos), (11, 0));
}
