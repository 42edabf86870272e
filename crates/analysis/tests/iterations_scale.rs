//! Iterations of long traces, of many locations and of deep calls: none is cut off without a word,
//! and work and memory grow with the trace.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops where it cannot go on")]

mod events_support;
mod report_support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use events_support::{Do, trace};
use parallax_analysis::iterations::{
    Finding, Iterations, IterationsQuestion, Statistics, find_iterations,
};
use parallax_base::{Control, LocationIdx, TimeWindow, TrackIdx};
use parallax_engine::Session;
use parallax_model::{Interval, LocationCatalogBuilder, StoreError, TraceStore, Track};
use parallax_testkit::hpctoolkit::iterations::{IterationPlan, PlannedPhase, Recording};
use report_support::{contexts_of, open};

const MS: u64 = 1_000_000;
const PHASES: usize = 5;
const PERIOD: u64 = 50 * MS;
/// How long the phase of that number is on the location of that number.
fn planned(phase: usize, location: usize) -> u64 {
    (5 + phase as u64) * MS + if location == 0 { MS } else { 0 }
}

fn ask(session: &Session) -> Finding {
    let tracks = session.traces().unwrap().track_ids().collect();
    let question = IterationsQuestion { tracks, window: TimeWindow::ALL, marker: Vec::new() };
    find_iterations(session, &question, &Control::new()).unwrap()
}

fn found(session: &Session) -> (Iterations, Statistics) {
    let finding = ask(session);
    let why = format!("{:?}", finding.groups);
    finding.iterations.unwrap_or_else(|| panic!("no iterations: {why}"))
}

/// Streams that do the same five kernels again and again; nothing of it is in memory.
struct Endless {
    tracks: Vec<Track>,
    contexts: [u32; PHASES],
    iterations: u64,
    /// Intervals that were handed out.
    read: AtomicU64,
}

impl TraceStore for Endless {
    fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    fn span(&self) -> TimeWindow {
        TimeWindow::new(0, self.iterations * PERIOD)
    }

    fn visit(
        &self,
        track: TrackIdx,
        window: TimeWindow,
        visit: &mut dyn FnMut(Interval),
    ) -> Result<(), StoreError> {
        let end = window.end_nanos.min(self.iterations * PERIOD);
        let mut read = 0;
        for iteration in window.start_nanos / PERIOD..end.div_ceil(PERIOD) {
            let mut at = iteration * PERIOD;
            let idle = (iteration + 1) * PERIOD;
            let phases = self.contexts.iter().enumerate();
            let phases = phases.map(|(phase, &context)| (context, planned(phase, track.idx())));
            for (context, nanos) in phases.chain([(0, u64::MAX)]) {
                let end_nanos = at.saturating_add(nanos).min(idle);
                if at < window.end_nanos && end_nanos > window.start_nanos {
                    visit(Interval { context, start_nanos: at, end_nanos });
                    read += 1;
                }
                at = end_nanos;
            }
        }
        self.read.fetch_add(read, Ordering::Relaxed);
        Ok(())
    }
}

/// A session of `locations` GPUs, each on a rank of its own, with that many iterations.
fn endless(locations: usize, iterations: u64) -> (Session, Arc<Endless>) {
    let phase = |number: usize| PlannedPhase {
        name: format!("phase_{number}"),
        pieces: 1,
        nanos: vec![vec![MS; 2]],
    };
    let plan = IterationPlan {
        title: "endless".into(),
        caller: "step".into(),
        phases: (0..PHASES).map(phase).collect(),
        begins_nanos: vec![0, PERIOD],
        span_nanos: 2 * PERIOD,
        recording: Recording::GpuStreams,
        waiting_ranks: 0,
    };
    let small = open(&plan.database());
    let id = |phase: usize| {
        let found = contexts_of(&small, &format!("phase_{phase}"));
        small.tree().source_id(found[0])
    };
    let contexts = std::array::from_fn(id);
    let mut x = small.experiment().clone();
    let mut catalog = LocationCatalogBuilder::new();
    for rank in 0..locations as u64 {
        let kinds = [parallax_model::IdentityKind::Rank, parallax_model::IdentityKind::GpuStream];
        catalog.push(kinds.into_iter().zip([rank, 1]), 0);
    }
    x.locations = catalog.finish();
    let track = |nth: usize| Track {
        location: LocationIdx::from_len(nth),
        num_samples: iterations * (PHASES as u64 + 1),
    };
    let tracks = (0..locations).map(track).collect();
    let store = Arc::new(Endless { tracks, contexts, iterations, read: AtomicU64::new(0) });
    x.traces = Some(store.clone());
    (Session::new(x), store)
}

/// What the endless program is known to say.
fn check(iterations: &Iterations, statistics: &Statistics, planted: u64) {
    let locations = iterations.streams.len();
    assert_eq!(iterations.len() as u64, planted);
    assert_eq!(statistics.num_whole as u64, planted);
    for bounds in &iterations.bounds {
        let begins = bounds.iter().take(iterations.len()).zip(0..);
        assert!(begins.into_iter().all(|(begin, nth)| *begin == nth * PERIOD));
    }
    // Each phase is a millisecond longer on one of the locations.
    let saving = 1e-3 - 1e-3 / locations as f64;
    for row in &statistics.contexts {
        assert!((row.saving_seconds - saving).abs() < 1e-12, "{row:?}");
        assert!(row.within_location.is_none_or(|within| within.abs() < 1e-9), "{row:?}");
    }
    let all = saving * PHASES as f64 * planted as f64;
    for sum in [
        statistics.saving_seconds,
        statistics.joint_saving_seconds,
        statistics.lasting_saving_seconds,
    ] {
        assert!((sum - all).abs() < all * 1e-9 + 1e-12, "{sum}, not {all}");
    }
    assert!((statistics.similarity - 1.0).abs() < 0.01, "{}", statistics.similarity);
    let counted: usize = statistics.iterations.iter().map(|row| row.num_iterations).sum();
    assert_eq!(counted as u64, planted);
}

#[test]
fn iterations_are_not_cut_off() {
    // More than 2^16 runs of contexts, more than 2^16 visits of one, and more than are in memory
    // at once to find the marker. `PARALLAX_ITERATIONS` asks for other numbers.
    let asked = std::env::var("PARALLAX_ITERATIONS").ok().and_then(|text| text.parse().ok());
    let numbers = asked.map_or(vec![20_000, 70_000, 1_500_000], |number| vec![number]);
    for planted in numbers {
        let (session, _) = endless(2, planted);
        let (iterations, statistics) = found(&session);
        check(&iterations, &statistics, planted);
    }
}

#[test]
fn what_is_not_looked_at_is_said() {
    let (session, _) = endless(2, 1_500_000);
    let limits = ask(&session).groups[0].limits.clone();
    assert!(limits.iter().any(|limit| limit.contains("% of the window")), "{limits:?}");
    let (session, _) = endless(100, 50);
    let finding = ask(&session);
    let limits = finding.groups[0].limits.clone();
    assert!(limits.iter().any(|limit| limit.contains("48 of the 100 locations")), "{limits:?}");
    let (iterations, statistics) = finding.iterations.unwrap();
    check(&iterations, &statistics, 50);
    let (session, _) = endless(20, 50);
    assert_eq!(ask(&session).groups[0].limits, Vec::<String>::new());
}

#[test]
fn each_location_is_read_a_few_times() {
    let read = |locations: usize| {
        let (session, store) = endless(locations, 100);
        found(&session);
        store.read.load(Ordering::Relaxed) as f64 / (locations * 100 * (PHASES + 1)) as f64
    };
    let (few, many) = (read(100), read(1000));
    assert!(few < 8.0 && many < 4.0, "{few}, {many} times");
}

/// A rank that calls itself until it is `depth` deep, again and again.
fn recursion(depth: usize, iterations: u64) -> Vec<(u64, Do)> {
    let mut steps = vec![(0, Do::Enter("main"))];
    let mut at = 1;
    for _ in 0..iterations {
        for _ in 0..depth {
            steps.push((at, Do::Enter("descend")));
            at += 10;
        }
        for _ in 0..depth {
            at += 10;
            steps.push((at, Do::Leave));
        }
        at += 1000;
    }
    steps.push((at, Do::Leave));
    steps
}

#[test]
fn deep_calls_are_judged_as_fast_as_many_calls() {
    // How much work that is, and how it grows, is counted in `deep_calls.rs`.
    for (depth, iterations) in [(100_000, 1), (50_000, 12)] {
        let session = trace(&[recursion(depth, iterations)]);
        let finding = ask(&session);
        match finding.iterations {
            Some((found, _)) => assert_eq!(found.len() as u64, iterations),
            None => assert_eq!(iterations, 1, "{:?}", finding.groups),
        }
    }
}
