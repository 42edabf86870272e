//! How programs are recorded as databases of HPCToolkit.

use std::collections::{BTreeMap, HashMap};

use super::{Executor, Program, Track};
use crate::hpctoolkit::{
    ContextKind, Database, Id, LexicalType, Metric, Point, Profile, Relation, Sample, kind,
};

/// Nanoseconds since the epoch at which planted programs start.
const START_NANOS: u64 = 1_700_000_000_000_000_000;

/// Position of the metric of the second clock.
const CPU_CLOCK: usize = 3;

/// What a measurement records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Whether samples count wall-clock time; CPU time otherwise.
    pub wall_clock: bool,
    /// Time between two samples of a thread.
    pub every_nanos: u64,
    /// Whether traces are kept.
    pub trace: bool,
    /// Whether CPU time is recorded as well, by a second clock.
    pub cpu_clock: bool,
}

impl Default for Recording {
    fn default() -> Self {
        Self { wall_clock: true, every_nanos: 2_000_000, trace: true, cpu_clock: false }
    }
}

impl Program {
    /// The database that HPCToolkit would have written: threads are sampled, each at other moments,
    /// and streams of GPUs have exact times.
    #[must_use]
    pub fn database(&self, recording: &Recording) -> Database {
        let time = if recording.wall_clock { "REALTIME (sec)" } else { "CPUTIME (sec)" };
        let mut database = Database {
            title: self.title.clone(),
            metrics: vec![Metric::new(time), Metric::new("GKER (sec)"), Metric::new("GPUOP (sec)")],
            ..Database::default()
        };
        if recording.cpu_clock {
            database.metrics.push(Metric::new("CPUTIME (sec)"));
        }
        let mut contexts = Contexts::new(&mut database);
        // What each rank's GPU did, as the thread that launched it has it.
        let mut launched: BTreeMap<u32, Vec<Point>> = BTreeMap::new();
        let mut profiles: Vec<(Executor, Profile)> = Vec::new();
        for track in self.tracks.iter().filter(|track| track.place.is_stream()) {
            let mut trace = Vec::new();
            let points = launched.entry(track.place.rank()).or_default();
            for piece in &track.pieces {
                let context = contexts.of(&mut database, &piece.path);
                let seconds = (piece.end_nanos - piece.start_nanos) as f64 / 1e9;
                for metric in [1, 2] {
                    points.push(Point { context, metric, value: seconds });
                }
                trace.push(Sample { nanos: START_NANOS + piece.start_nanos, context });
                trace.push(Sample { nanos: START_NANOS + piece.end_nanos, context: 0 });
            }
            if !recording.trace {
                trace.clear();
            }
            profiles.push((track.place, Profile { tuple: tuple(track), points: vec![], trace }));
        }
        for track in self.tracks.iter().filter(|track| !track.place.is_stream()) {
            let mut profile = sampled(track, recording, |path| contexts.of(&mut database, path));
            let is_first = matches!(track.place, Executor::Thread { thread: 0, .. });
            if is_first && let Some(points) = launched.remove(&track.place.rank()) {
                profile.points.extend(points);
            }
            profiles.push((track.place, profile));
        }
        profiles.sort_by_key(|(place, _)| *place);
        database.profiles = profiles.into_iter().map(|(_, profile)| profile).collect();
        database
    }
}

impl Executor {
    pub(super) fn is_stream(self) -> bool {
        matches!(self, Self::Stream { .. })
    }
}

fn tuple(track: &Track) -> Vec<Id> {
    let mut out =
        vec![Id::node(0x0A00_0100 + track.node), Id::logical(kind::RANK, track.place.rank())];
    match track.place {
        Executor::Thread { thread, .. } => out.push(Id::logical(kind::THREAD, thread)),
        Executor::Stream { .. } => {
            out.push(Id::logical(kind::GPUCONTEXT, 1));
            out.push(Id::logical(kind::GPUSTREAM, 1));
        }
    }
    out
}

/// A thread that is sampled: each sample counts for the whole interval before it.
fn sampled(
    track: &Track,
    recording: &Recording,
    mut context: impl FnMut(&[String]) -> u32,
) -> Profile {
    let every = recording.every_nanos.max(1);
    let rank = u64::from(track.place.rank());
    let mut next_nanos = (rank * 7919 + 1) * (every / 97 + 1) % every;
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    let mut on_core: BTreeMap<u32, u64> = BTreeMap::new();
    let mut trace: Vec<Sample> = Vec::new();
    // CPU time that went by since the last sample, in nanoseconds times 1000.
    let mut cpu: u64 = 0;
    for piece in &track.pieces {
        let at = context(&piece.path);
        while next_nanos < piece.end_nanos {
            if next_nanos >= piece.start_nanos {
                cpu += every * u64::from(piece.cpu_permille);
                if recording.wall_clock || cpu >= every * 1000 {
                    cpu = cpu.saturating_sub(every * 1000);
                    *counts.entry(at).or_default() += 1;
                    *on_core.entry(at).or_default() += u64::from(piece.cpu_permille);
                    trace.push(Sample { nanos: START_NANOS + next_nanos, context: at });
                }
            }
            next_nanos += every;
        }
    }
    if !recording.trace {
        trace.clear();
    }
    let seconds = every as f64 / 1e9;
    let mut points: Vec<Point> = counts
        .into_iter()
        .map(|(context, count)| Point { context, metric: 0, value: count as f64 * seconds })
        .collect();
    if recording.cpu_clock {
        points.extend(on_core.into_iter().map(|(context, permille)| Point {
            context,
            metric: CPU_CLOCK,
            value: permille as f64 / 1000.0 * seconds,
        }));
    }
    Profile { tuple: tuple(track), points, trace }
}

/// Contexts by their path below `main`.
struct Contexts {
    main: usize,
    known: HashMap<(usize, String), usize>,
}

impl Contexts {
    fn new(database: &mut Database) -> Self {
        let entry = ContextKind::Entry { entry_point: 1, name: "main thread".into() };
        let entry = database.add_context(None, entry);
        let main = call(database, entry, "main");
        Self { main, known: HashMap::new() }
    }

    fn of(&mut self, database: &mut Database, path: &[String]) -> u32 {
        let mut at = self.main;
        for name in path {
            let known = self.known.entry((at, name.clone()));
            at = *known.or_insert_with_key(|(above, name)| call(database, *above, name));
        }
        database.contexts[at].id
    }
}

fn call(database: &mut Database, parent: usize, name: &str) -> usize {
    let function = Some(database.function(name));
    let (relation, lexical) = (Relation::Call, LexicalType::Function);
    let node = ContextKind::Node { relation, lexical, function, source: None, point: None };
    database.add_context(Some(parent), node)
}
