//! Databases of programs whose iterations are known beforehand.
//!
//! [`IterationPlan`] says how long each phase takes on each location in each iteration;
//! [`IterationPlan::database`] writes what HPCToolkit would have recorded of it: streams of GPUs with
//! the begin and end of every kernel, or threads that are sampled. [`gamess`] is the run of
//! arXiv 2605.03561, section VI-A.

use super::database::{
    ContextKind, Database, Id, LexicalType, Metric, Point, Profile, Relation, Sample, kind,
};

/// Nanoseconds since the epoch at which planted programs start.
pub const START_NANOS: u64 = 1_700_000_000_000_000_000;

/// A phase of an iteration: a kernel, or a function of the main loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedPhase {
    /// Name of the function.
    pub name: String,
    /// In how many pieces it runs, one after the other, with a short gap between them.
    pub pieces: u32,
    /// Nanoseconds by location and iteration.
    pub nanos: Vec<Vec<u64>>,
}

/// How the program is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording {
    /// Each location is a stream of a GPU with exact times, in addition to the thread of its rank.
    GpuStreams,
    /// Each location is a thread that is sampled at intervals of so many nanoseconds, at other
    /// moments on each.
    Samples(u64),
}

/// A program with a main loop, as it ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IterationPlan {
    /// Name of the program.
    pub title: String,
    /// Name of the function around the phases.
    pub caller: String,
    /// The phases, in the order in which they run.
    pub phases: Vec<PlannedPhase>,
    /// When each iteration begins on all locations, in nanoseconds after the start.
    pub begins_nanos: Vec<u64>,
    /// How long the program runs. What of an iteration lies behind is not recorded.
    pub span_nanos: u64,
    /// How it is recorded.
    pub recording: Recording,
    /// Ranks in addition to those that compute, which wait all the time.
    pub waiting_ranks: u32,
}

/// Between two pieces of work on a location.
const GAP_NANOS: u64 = 20_000;

impl IterationPlan {
    /// Number of locations.
    #[must_use]
    pub fn locations(&self) -> usize {
        self.phases.first().map_or(0, |phase| phase.nanos.len())
    }

    /// What one location does: start, end and number of the phase, in order.
    #[must_use]
    pub fn pieces(&self, location: usize) -> Vec<(u64, u64, usize)> {
        let mut out = Vec::new();
        for (iteration, &begin) in self.begins_nanos.iter().enumerate() {
            let mut at = begin;
            for (number, phase) in self.phases.iter().enumerate() {
                let nanos = phase.nanos[location][iteration];
                let pieces = u64::from(phase.pieces.max(1)).min(nanos.max(1));
                for piece in 0..pieces {
                    // The first pieces get what does not divide.
                    let part = nanos / pieces + u64::from(piece < nanos % pieces);
                    if part > 0 && at + part <= self.span_nanos {
                        out.push((at, at + part, number));
                    }
                    at += part + GAP_NANOS;
                }
            }
        }
        out
    }

    /// The database.
    #[must_use]
    pub fn database(&self) -> Database {
        let mut database = Database {
            title: self.title.clone(),
            metrics: vec![Metric::new("CPUTIME (sec)"), Metric::new("GKER (sec)")],
            ..Database::default()
        };
        let entry = ContextKind::Entry { entry_point: 1, name: "main thread".into() };
        let entry = database.add_context(None, entry);
        let main = call(&mut database, entry, "main");
        let setup = call(&mut database, main, "setup");
        let main_loop = database.add_context(
            Some(main),
            ContextKind::Node {
                relation: Relation::Lexical,
                lexical: LexicalType::Loop,
                function: None,
                source: None,
                point: None,
            },
        );
        let caller = call(&mut database, main_loop, &self.caller);
        let wait = call(&mut database, caller, "hipStreamSynchronize");
        let above = match self.recording {
            Recording::GpuStreams => call(&mut database, caller, "<gpu kernel>"),
            Recording::Samples(_) => caller,
        };
        let phases: Vec<u32> = self
            .phases
            .iter()
            .map(|phase| {
                let at = call(&mut database, above, &phase.name);
                database.contexts[at].id
            })
            .collect();
        let finish = call(&mut database, main, "finish");
        let server = call(&mut database, main, "ddi_server");
        let receive = call(&mut database, server, "MPI_Recv");
        let id = |database: &Database, at: usize| database.contexts[at].id;
        let (setup, finish) = (id(&database, setup), id(&database, finish));
        let (wait, receive) = (id(&database, wait), id(&database, receive));
        let rank = |number: usize| {
            let node = Id::node(0x5A09_0500 + number as u32 / 16);
            vec![node, Id::logical(kind::RANK, number as u32)]
        };
        let thread = |number| [rank(number), vec![Id::logical(kind::THREAD, 0)]].concat();
        for location in 0..self.locations() {
            let pieces = self.pieces(location);
            let first = self.begins_nanos.first().copied().unwrap_or(self.span_nanos);
            let last = pieces.last().map_or(first, |piece| piece.1);
            match self.recording {
                Recording::GpuStreams => {
                    let intervals =
                        [(0, first, setup), (first, last, wait), (last, self.span_nanos, finish)];
                    let every = self.span_nanos / 500 + 1;
                    let points = kernel_points(&pieces, &phases);
                    database.profiles.push(Profile {
                        tuple: thread(location),
                        points: [points, cpu_points(&intervals)].concat(),
                        trace: sampled(&intervals, every, location as u64 * every / 7, 0),
                    });
                }
                Recording::Samples(every) => {
                    let mut intervals = vec![(0, first, setup)];
                    let work =
                        pieces.iter().map(|&(start, end, phase)| (start, end, phases[phase]));
                    intervals.extend(work);
                    intervals.push((last, self.span_nanos, finish));
                    let shift = (location as u64 * 7919 * every / 100) % every;
                    database.profiles.push(Profile {
                        tuple: thread(location),
                        points: cpu_points(&intervals),
                        // Between two phases a thread is in the function around them.
                        trace: sampled(&intervals, every, shift, database.contexts[caller].id),
                    });
                }
            }
        }
        for number in 0..self.waiting_ranks as usize {
            let intervals = [(0, self.span_nanos, receive)];
            let every = self.span_nanos / 500 + 1;
            database.profiles.push(Profile {
                tuple: thread(self.locations() + number),
                points: cpu_points(&intervals),
                trace: sampled(&intervals, every, 0, 0),
            });
        }
        if self.recording == Recording::GpuStreams {
            for location in 0..self.locations() {
                let ids = vec![Id::logical(kind::GPUCONTEXT, 1), Id::logical(kind::GPUSTREAM, 1)];
                let pieces = self.pieces(location);
                database.profiles.push(Profile {
                    tuple: [rank(location), ids].concat(),
                    points: Vec::new(),
                    trace: exact(&pieces, &phases),
                });
            }
        }
        database
    }
}

fn call(database: &mut Database, parent: usize, name: &str) -> usize {
    let function = Some(database.function(name));
    let (relation, lexical) = (Relation::Call, LexicalType::Function);
    let node = ContextKind::Node { relation, lexical, function, source: None, point: None };
    database.add_context(Some(parent), node)
}

/// The time of each kernel, as the thread that launched it has it.
fn kernel_points(pieces: &[(u64, u64, usize)], phases: &[u32]) -> Vec<Point> {
    let of = |number: usize| -> u64 {
        pieces.iter().filter(|piece| piece.2 == number).map(|piece| piece.1 - piece.0).sum()
    };
    let point = |(number, &context): (usize, &u32)| Point {
        context,
        metric: 1,
        value: of(number) as f64 / 1e9,
    };
    phases.iter().enumerate().map(point).filter(|point| point.value > 0.0).collect()
}

fn cpu_points(intervals: &[(u64, u64, u32)]) -> Vec<Point> {
    let point = |&(start, end, context): &(u64, u64, u32)| Point {
        context,
        metric: 0,
        value: (end - start) as f64 / 1e9,
    };
    intervals.iter().map(point).filter(|point| point.value > 0.0).collect()
}

/// Begin and end of each piece, as streams have them.
fn exact(pieces: &[(u64, u64, usize)], phases: &[u32]) -> Vec<Sample> {
    let mut out: Vec<Sample> = Vec::new();
    for &(start, end, phase) in pieces {
        out.push(Sample { nanos: START_NANOS + start, context: phases[phase] });
        out.push(Sample { nanos: START_NANOS + end, context: 0 });
    }
    out
}

/// What is active at `shift`, `shift + every` and so on; `between` where nothing is.
fn sampled(intervals: &[(u64, u64, u32)], every: u64, shift: u64, between: u32) -> Vec<Sample> {
    let end = intervals.last().map_or(0, |interval| interval.1);
    let mut at = 0;
    (0..)
        .map(|nth| shift + nth * every)
        .take_while(|&nanos| nanos < end)
        .map(|nanos| {
            while intervals.get(at).is_some_and(|interval| interval.1 <= nanos) {
                at += 1;
            }
            let active = intervals.get(at).filter(|interval| interval.0 <= nanos);
            Sample {
                nanos: START_NANOS + nanos,
                context: active.map_or(between, |interval| interval.2),
            }
        })
        .collect()
}

/// One kernel of the run of GAMESS.
struct Kernel {
    name: &'static str,
    /// Mean and maximum over the GPUs, seconds in an iteration.
    mean: f64,
    max: f64,
    /// Standard deviation over the GPUs, of their mean: Table IV.
    across: f64,
    /// Standard deviation over the iterations of a GPU, of its mean: Table IV.
    within: f64,
    pieces: u32,
}

/// Tables IV and V of arXiv 2605.03561. Where they round to one digit, the digits behind are chosen
/// so that mean, maximum, saving and balance ratio round to what they say.
const GAMESS: [Kernel; 6] = [
    Kernel {
        name: "gpu_rhf_j01_ssss_",
        mean: 0.006_52,
        max: 0.009_52,
        across: 0.2751,
        within: 0.0628,
        pieces: 1,
    },
    Kernel {
        name: "gpu_rhf_j02_psss_",
        mean: 0.239,
        max: 0.300,
        across: 0.1968,
        within: 0.0909,
        pieces: 2,
    },
    Kernel {
        name: "gpu_rhf_j03_ppss_",
        mean: 0.734,
        max: 0.945,
        across: 0.1984,
        within: 0.0779,
        pieces: 3,
    },
    Kernel {
        name: "gpu_rhf_j04_psps_",
        mean: 0.483,
        max: 0.958,
        across: 0.4631,
        within: 0.0266,
        pieces: 2,
    },
    Kernel {
        name: "gpu_rhf_j05_ppps_",
        mean: 2.963,
        max: 4.650,
        across: 0.3421,
        within: 0.0145,
        pieces: 4,
    },
    Kernel {
        name: "gpu_rhf_j06_pppp_",
        mean: 2.483,
        max: 2.599,
        across: 0.0720,
        within: 0.0136,
        pieces: 4,
    },
];

/// The run of GAMESS on one node of Frontier: 8 GPUs, 11 iterations, 87 s, six kernels.
///
/// Means and maxima are those of Table V, balance ratios those of Table IV. Which GPU is the slowest
/// differs between kernels, so that an iteration fits into the time there is; for `j03` it differs
/// between iterations, too, which is why its balance ratio is larger than mean / maximum.
#[must_use]
pub fn gamess() -> IterationPlan {
    const GPUS: usize = 8;
    const ITERATIONS: usize = 11;
    const SECOND: f64 = 1e9;
    let mut sums = [0.0_f64; GPUS];
    let mut phases: Vec<PlannedPhase> = Vec::new();
    // The largest kernels are handed out first, each GPU getting the less the more it has.
    for kernel in GAMESS.iter().rev() {
        let values = spread(kernel.mean, kernel.max, kernel.across * kernel.mean);
        let mut order: Vec<usize> = (0..GPUS).collect();
        order.sort_by(|&a, &b| sums[a].total_cmp(&sums[b]));
        let mut of_gpu = [0.0; GPUS];
        for (&gpu, value) in order.iter().zip(values) {
            of_gpu[gpu] = value;
            sums[gpu] += value;
        }
        // A factor for each iteration, the same on all GPUs, keeps means and maxima.
        let shape: Vec<f64> =
            (0..ITERATIONS).map(|i| ((i * 7) % ITERATIONS) as f64 - 5.0).collect();
        let deviation = (shape.iter().map(|s| s * s).sum::<f64>() / (ITERATIONS - 1) as f64).sqrt();
        let swaps = kernel.name == "gpu_rhf_j03_ppss_";
        let nanos = (0..GPUS)
            .map(|gpu| {
                (0..ITERATIONS)
                    .map(|i| {
                        let other = if gpu == order[0] { order[1] } else { order[0] };
                        let is_swapped = swaps && i == 3;
                        let is_one = gpu == order[0] || gpu == order[1];
                        let from = if is_swapped && is_one { other } else { gpu };
                        let factor =
                            if swaps { 1.0 } else { 1.0 + kernel.within * shape[i] / deviation };
                        (of_gpu[from] * factor * SECOND).round() as u64
                    })
                    .collect()
            })
            .collect();
        let name = kernel.name.into();
        phases.insert(0, PlannedPhase { name, pieces: kernel.pieces, nanos });
    }
    let begins_nanos = (0..ITERATIONS as u64).map(|i| 1_200_000_000 + i * 7_770_000_000).collect();
    IterationPlan {
        title: "gamess".into(),
        caller: "gpu_ompmod_twoei_jk_".into(),
        phases,
        begins_nanos,
        span_nanos: 87_000_000_000,
        recording: Recording::GpuStreams,
        waiting_ranks: 8,
    }
}

/// Eight numbers with a mean, a largest (the first) and a sample standard deviation.
fn spread(mean: f64, max: f64, deviation: f64) -> [f64; 8] {
    let rest = (8.0 * mean - max) / 7.0;
    let squares = 7.0 * deviation * deviation - (max - mean).powi(2) - 7.0 * (rest - mean).powi(2);
    let shapes = [
        [3.0, 2.0, 1.0, 0.0, -1.0, -2.0, -3.0],
        [1.0, 1.0, 1.0, 1.0, 1.0, -2.0, -3.0],
        [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -6.0],
    ];
    let made = shapes.map(|shape| {
        let factor = (squares.max(0.0) / shape.iter().map(|s| s * s).sum::<f64>()).sqrt();
        shape.map(|s| rest + factor * s)
    });
    let fits = made.iter().find(|made| made[0] <= max * 0.92 && made[6] > 0.0);
    let others = fits.or(made.last()).copied().unwrap_or([rest; 7]);
    let mut out = [max; 8];
    out[1..].copy_from_slice(&others);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_planted_run_has_the_numbers_of_the_paper() {
        let plan = gamess();
        for (phase, kernel) in plan.phases.iter().zip(&GAMESS) {
            let of = |i: usize| phase.nanos.iter().map(move |row| row[i] as f64 / 1e9);
            let means = (0..11).map(|i| of(i).sum::<f64>() / 8.0);
            let maxima = (0..11).map(|i| of(i).fold(0.0, f64::max));
            assert!((means.sum::<f64>() / 11.0 - kernel.mean).abs() < 1e-8, "{}", kernel.name);
            assert!((maxima.sum::<f64>() / 11.0 - kernel.max).abs() < 1e-8, "{}", kernel.name);
        }
        for gpu in 0..8 {
            let pieces = plan.pieces(gpu);
            let all: u64 = plan.phases.iter().flat_map(|phase| &phase.nanos[gpu]).sum();
            assert_eq!(pieces.iter().map(|p| p.1 - p.0).sum::<u64>(), all, "nothing is cut off");
            let ordered = pieces.iter().zip(pieces.iter().skip(1)).all(|(a, b)| a.1 <= b.0);
            assert!(ordered, "iterations of GPU {gpu} do not overlap");
        }
    }
}
