//! The planted answers: who spends how long in which phase, and when.

use serde_json::{Value, json};

use super::congestion::{self, Congestion};
use super::random::{Permutation, hash};
use super::{GENERATOR, GenerateOptions, ImbalanceLaw};

/// A part of the program whose time on every thread is planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Once, below `MPI_Init`.
    Startup,
    /// Once, in `hypre_BoomerAMGBuildCoarseOperator`.
    Setup,
    /// Once, the `MPI_Allreduce` in which slow nodes are slow.
    SetupAllreduce,
    /// Once, the `MPI_Barrier` in which the others wait for the slow nodes.
    SetupBarrier,
    /// In every iteration, `compute_forces`: imbalanced.
    Compute,
    /// In every iteration, the `MPI_Waitall` that waits for the slowest rank.
    Exchange,
    /// In every iteration, `hypre_GMRESSolve`.
    Solve,
    /// In every iteration, `MPI_Allreduce`.
    Reduce,
    /// Once, below `MPI_Finalize`.
    Finish,
    /// In every iteration, on threads other than 0: `<omp barrier wait>`.
    OmpBarrier,
    /// On threads other than 0, whenever they do nothing else: `<omp idle>`.
    OmpIdle,
}

impl Phase {
    /// All phases; a program with one thread per rank has no OpenMP phases.
    pub const ALL: [Self; 11] = [
        Self::Startup,
        Self::Setup,
        Self::SetupAllreduce,
        Self::SetupBarrier,
        Self::Compute,
        Self::Exchange,
        Self::Solve,
        Self::Reduce,
        Self::Finish,
        Self::OmpBarrier,
        Self::OmpIdle,
    ];

    /// The name in `planted.json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Setup => "setup",
            Self::SetupAllreduce => "setup_allreduce",
            Self::SetupBarrier => "setup_barrier",
            Self::Compute => "compute",
            Self::Exchange => "exchange",
            Self::Solve => "solve",
            Self::Reduce => "reduce",
            Self::Finish => "finish",
            Self::OmpBarrier => "omp_barrier",
            Self::OmpIdle => "omp_idle",
        }
    }

    /// Whether the phase belongs to the iterations.
    #[must_use]
    pub fn is_iterated(self) -> bool {
        matches!(
            self,
            Self::Compute | Self::Exchange | Self::Solve | Self::Reduce | Self::OmpBarrier
        )
    }
}

// Seconds of the phases that happen once, and of one ordinary iteration when all ranks are equal.
const STARTUP: f64 = 0.4;
const SETUP: f64 = 1.6;
const SETUP_ALLREDUCE: f64 = 3.12;
const SETUP_BARRIER: f64 = 0.05;
const FINISH: f64 = 0.2;
const COMPUTE: f64 = 0.1;
const EXCHANGE: f64 = 0.02;
const SOLVE: f64 = 0.06;
const REDUCE: f64 = 0.02;
/// Part of the compute phase that a worker thread works; it waits at a barrier for the rest of it.
const WORKER_SHARE: f64 = 0.9;
/// Every tenth iteration takes this many times as long as the others, in all of its phases.
const LONG_ITERATION: f64 = 1.5;

/// When all traces begin, in nanoseconds since the Unix epoch.
const START_NANOS: u64 = 1_700_000_000_000_000_000;

/// A phase and the context in which all of it is spent.
#[derive(Clone, Debug, PartialEq)]
pub struct PlantedPhase {
    /// The phase.
    pub phase: Phase,
    /// Id of the context whose inclusive `CPUTIME (sec)` is [`Planted::phase_seconds`].
    pub context_id: u32,
    /// Names of the functions from the entry down to the context.
    pub call_path: Vec<String>,
}

/// The slow nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct PlantedSlowNodes {
    /// Numbers of the nodes (rank divided by ranks per node), ascending.
    pub nodes: Vec<u32>,
    /// Inclusive seconds of the planted context on every rank of these nodes.
    pub slow_seconds: f64,
    /// Inclusive seconds of the planted context on every other rank.
    pub normal_seconds: f64,
}

/// The answers that a generated database holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Planted {
    /// The options of the database.
    pub options: GenerateOptions,
    /// Phases with their contexts.
    pub phases: Vec<PlantedPhase>,
    /// The slow nodes; none when the options ask for none.
    pub slow_nodes: Option<PlantedSlowNodes>,
    /// Id of the loop whose iterations are planted.
    pub iteration_context_id: u32,
    /// Start of each iteration in nanoseconds since the Unix epoch, the same on all ranks (with
    /// congestion, that of rank 0), then the
    /// end of the last one. Every tenth iteration is half as long again as the others.
    pub iteration_nanos: Vec<u64>,
    /// Start and end of all traces in nanoseconds since the Unix epoch.
    pub span_nanos: (u64, u64),
    /// Number of context ids, the id 0 and elided contexts included.
    pub context_ids: u64,
    /// Number of values of all profiles other than the summary.
    pub values: u64,
    /// Number of trace samples.
    pub samples: u64,
    /// Bytes of all files of the database.
    pub bytes: u64,
}

impl Planted {
    /// Inclusive seconds of a phase on one thread.
    #[must_use]
    pub fn phase_seconds(&self, phase: Phase, rank: u32, thread: u32) -> f64 {
        Laws::new(&self.options).seconds(rank, thread)[phase as usize]
    }

    /// Nanoseconds at which the phases of one iteration begin on thread 0 of a rank: compute,
    /// exchange, solve, reduce, then the end of the iteration.
    #[must_use]
    pub fn iteration_phase_nanos(&self, rank: u32, iteration: u32) -> [u64; 5] {
        let segments = Laws::new(&self.options).segments(rank, 0);
        let at = 4 + 4 * iteration as usize;
        std::array::from_fn(|nth| segments[at + nth].start)
    }

    /// Index in profile.db of the profile of a thread.
    #[must_use]
    pub fn profile_index(&self, rank: u32, thread: u32) -> Option<u64> {
        let location =
            u64::from(rank) * u64::from(self.options.threads_per_rank) + u64::from(thread);
        let order = profile_order(&self.options);
        (0..self.options.locations()).find(|&at| order.apply(at) == location).map(|at| at + 1)
    }

    /// The POSIX host id of a node, made from the address `10.128.x.y` as the C library makes it.
    #[must_use]
    pub fn host_id(node: u32) -> u32 {
        let [_, high, middle, low] = (node + 1).to_be_bytes();
        let address = u32::from_le_bytes([10, 128 + high, middle, low]);
        address.rotate_left(16)
    }

    /// The name of a node of a run with congestion: an xname of Aurora.
    #[must_use]
    pub fn xname(node: u32) -> String {
        congestion::xname(node)
    }

    /// The table `hostid,xname` of a run with congestion.
    #[must_use]
    pub fn hosts_csv(&self) -> String {
        let line = |node| format!("{:#010x},{}\n", Self::host_id(node), Self::xname(node));
        let lines: String = (0..self.options.nodes()).map(line).collect();
        format!("hostid,xname\n{lines}")
    }

    /// The answers as the text of `planted.json`.
    #[must_use]
    pub fn to_json(&self) -> String {
        let options = &self.options;
        let phases: Vec<Value> = self
            .phases
            .iter()
            .map(|planted| {
                json!({
                    "name": planted.phase.name(),
                    "iterated": planted.phase.is_iterated(),
                    "context_id": planted.context_id,
                    "call_path": planted.call_path,
                    "seconds_of_rank_0": self.phase_seconds(planted.phase, 0, 0),
                })
            })
            .collect();
        let imbalance = options.imbalance.map(|imbalance| {
            let law = match imbalance.law {
                ImbalanceLaw::Linear => "rank / (ranks - 1)".to_owned(),
                ImbalanceLaw::Sine => "(1 + sin(2 pi rank / ranks)) / 2".to_owned(),
                ImbalanceLaw::Step { fraction } => {
                    format!("1 for rank < ceil({fraction} * ranks), else 0")
                }
            };
            let balanced = COMPUTE * Laws::new(options).iteration_weight();
            json!({
                "phase": Phase::Compute.name(),
                "balanced_seconds": balanced,
                "amplitude": imbalance.amplitude,
                "share": law,
                "seconds": "balanced_seconds * (1 + amplitude * share)",
            })
        });
        let slow_nodes = self.slow_nodes.as_ref().map(|slow| {
            let host_ids: Vec<u32> = slow.nodes.iter().map(|&node| Self::host_id(node)).collect();
            json!({
                "phase": Phase::SetupAllreduce.name(),
                "nodes": slow.nodes,
                "host_ids": host_ids,
                "slow_seconds": slow.slow_seconds,
                "normal_seconds": slow.normal_seconds,
            })
        });
        let json = json!({
            "generator": GENERATOR,
            "options": {
                "ranks": options.ranks,
                "threads_per_rank": options.threads_per_rank,
                "ranks_per_node": options.ranks_per_node,
                "contexts": options.contexts,
                "values_per_rank": options.values_per_rank,
                "metrics": options.metrics,
                "trace_samples": options.trace_samples,
                "iterations": options.iterations,
                "seed": options.seed,
                "trace": options.trace,
                "elided": options.elided,
            },
            "locations": options.locations(),
            "nodes": options.nodes(),
            "context_ids": self.context_ids,
            "values": self.values,
            "samples": self.samples,
            "bytes": self.bytes,
            "phases": phases,
            "imbalance": imbalance,
            "slow_nodes": slow_nodes,
            "iterations": {
                "count": options.iterations,
                "context_id": self.iteration_context_id,
                "boundaries_ns": self.iteration_nanos,
            },
            "span_ns": [self.span_nanos.0, self.span_nanos.1],
        });
        format!("{json:#}\n")
    }
}

/// The order of profiles: position to location (rank times threads plus thread).
pub(crate) fn profile_order(options: &GenerateOptions) -> Permutation {
    Permutation::new(options.seed, options.locations())
}

/// An interval of a trace that is spent in one phase.
#[derive(Clone, Copy)]
pub(crate) struct Segment {
    pub(crate) phase: Phase,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// The formulas behind the planted answers.
pub(crate) struct Laws {
    ranks: u32,
    ranks_per_node: u32,
    iterations: u32,
    imbalance: Option<super::Imbalance>,
    factor: f64,
    congestion: Option<Congestion>,
    seed: u64,
    /// By node.
    is_slow: Vec<bool>,
}

impl Laws {
    pub(crate) fn new(options: &GenerateOptions) -> Self {
        let nodes = options.nodes();
        let mut is_slow = vec![false; nodes as usize];
        if let Some(slow) = options.slow_nodes {
            let mut order: Vec<u32> = (0..nodes).collect();
            order.sort_by_key(|&node| (hash(options.seed, u64::from(node), 0x534c_4f57), node));
            order.iter().take(slow.count as usize).for_each(|&node| is_slow[node as usize] = true);
        }
        if let Some(congestion) = options.congestion {
            is_slow = congestion.slow(nodes, options.seed);
        }
        Self {
            congestion: options.congestion,
            seed: options.seed,
            ranks: options.ranks,
            ranks_per_node: options.ranks_per_node,
            iterations: options.iterations,
            imbalance: options.imbalance,
            factor: options.slow_nodes.map_or(1.0, |slow| slow.factor),
            is_slow,
        }
    }

    pub(crate) fn slow_nodes(&self) -> PlantedSlowNodes {
        let nodes = (0_u32..).zip(&self.is_slow).filter(|(_, slow)| **slow).map(|(node, _)| node);
        if self.congestion.is_some() {
            return PlantedSlowNodes {
                nodes: nodes.collect(),
                slow_seconds: Congestion::allreduce(true),
                normal_seconds: Congestion::allreduce(false),
            };
        }
        PlantedSlowNodes {
            nodes: nodes.collect(),
            slow_seconds: SETUP_ALLREDUCE * self.factor,
            normal_seconds: SETUP_ALLREDUCE,
        }
    }

    /// Part of the additional work of the imbalance that a rank has, 0 to 1.
    fn share(&self, rank: u32) -> f64 {
        let (rank, ranks) = (f64::from(rank), f64::from(self.ranks));
        match self.imbalance.map(|imbalance| imbalance.law) {
            None => 0.0,
            Some(ImbalanceLaw::Linear) => rank / (ranks - 1.0).max(1.0),
            Some(ImbalanceLaw::Sine) => {
                f64::midpoint(1.0, (std::f64::consts::TAU * rank / ranks).sin())
            }
            Some(ImbalanceLaw::Step { fraction }) => {
                f64::from(u8::from(rank < (fraction * ranks).ceil()))
            }
        }
    }

    fn weight(iteration: u32) -> f64 {
        if iteration % 10 == 9 { LONG_ITERATION } else { 1.0 }
    }

    /// The length of all iterations, in ordinary iterations.
    pub(crate) fn iteration_weight(&self) -> f64 {
        (0..self.iterations).map(Self::weight).sum()
    }

    /// Seconds of the phases of one ordinary iteration on thread 0: compute, exchange, solve,
    /// reduce. Their sum is the same on all ranks.
    fn iteration(&self, rank: u32) -> [f64; 4] {
        let amplitude = self.imbalance.map_or(0.0, |imbalance| imbalance.amplitude);
        let share = self.share(rank);
        [
            COMPUTE * (1.0 + amplitude * share),
            EXCHANGE + COMPUTE * amplitude * (1.0 - share),
            SOLVE,
            REDUCE,
        ]
    }

    /// Seconds of the phases before the iterations on thread 0. Their sum is the same on all ranks.
    fn before(&self, rank: u32) -> [f64; 4] {
        let node = (rank / self.ranks_per_node) as usize;
        if self.congestion.is_some() {
            let noise = Congestion::noise(self.seed, rank / self.ranks_per_node, rank);
            let other = |phase: Phase| Congestion::other_noise(self.seed, rank, phase as usize);
            // The barrier takes what is left of the total after the iteration and the end.
            let iteration = COMPUTE + EXCHANGE + SOLVE + REDUCE;
            let fixed = STARTUP + SETUP + FINISH + iteration * self.iteration_weight();
            let barrier = congestion::NORMAL_TOTAL - congestion::NORMAL_ALLREDUCE - fixed;
            return [
                STARTUP * other(Phase::Startup),
                SETUP * other(Phase::Setup),
                Congestion::allreduce(self.is_slow[node]) * noise,
                barrier * other(Phase::SetupBarrier),
            ];
        }
        let slow = SETUP_ALLREDUCE * self.factor;
        let allreduce = if self.is_slow[node] { slow } else { SETUP_ALLREDUCE };
        [STARTUP, SETUP, allreduce, SETUP_BARRIER + (slow - allreduce)]
    }

    /// Seconds of every phase on one thread, in the order of [`Phase::ALL`].
    pub(crate) fn seconds(&self, rank: u32, thread: u32) -> [f64; 11] {
        let weight = self.iteration_weight();
        let before = self.before(rank);
        let iteration = self.iteration(rank).map(|seconds| seconds * weight);
        let mut seconds = [0.0; 11];
        if thread == 0 {
            seconds[..4].copy_from_slice(&before);
            seconds[4..8].copy_from_slice(&iteration);
            seconds[Phase::Finish as usize] = FINISH;
        } else {
            let total = before.iter().chain(&iteration).sum::<f64>() + FINISH;
            seconds[Phase::Compute as usize] = iteration[0] * WORKER_SHARE;
            seconds[Phase::OmpBarrier as usize] = iteration[0] * (1.0 - WORKER_SHARE);
            seconds[Phase::OmpIdle as usize] = total - iteration[0];
        }
        seconds
    }

    /// What one thread does from the start to the end, without gaps.
    pub(crate) fn segments(&self, rank: u32, thread: u32) -> Vec<Segment> {
        let nanos = |seconds: f64| START_NANOS + (seconds * 1e9).round() as u64;
        let mut segments: Vec<Segment> = Vec::with_capacity(5 + 4 * self.iterations as usize);
        let mut push = |phase, start: f64, end: f64| match segments.last_mut() {
            Some(last) if last.phase == phase => last.end = nanos(end),
            _ => segments.push(Segment { phase, start: nanos(start), end: nanos(end) }),
        };
        let mut now = 0.0;
        let phase = |phase| if thread == 0 { phase } else { Phase::OmpIdle };
        for (nth, seconds) in self.before(rank).into_iter().enumerate() {
            push(phase(Phase::ALL[nth]), now, now + seconds);
            now += seconds;
        }
        let iteration = self.iteration(rank);
        // Iterations begin at the same moment on all ranks: their sums may differ in the last bit.
        let (mut start, all) = (self.before_iterations(rank), EXCHANGE + COMPUTE + SOLVE + REDUCE);
        let amplitude = self.imbalance.map_or(0.0, |imbalance| imbalance.amplitude);
        let length = all + COMPUTE * amplitude;
        for number in 0..self.iterations {
            let weight = Self::weight(number);
            let ends =
                [0, 1, 2, 3].map(|nth| start + weight * iteration[..=nth].iter().sum::<f64>());
            let end = start + weight * length;
            if thread == 0 {
                push(Phase::Compute, start, ends[0]);
                push(Phase::Exchange, ends[0], ends[1]);
                push(Phase::Solve, ends[1], ends[2]);
                push(Phase::Reduce, ends[2], end);
            } else {
                let work = start + WORKER_SHARE * (ends[0] - start);
                push(Phase::Compute, start, work);
                push(Phase::OmpBarrier, work, ends[0]);
                push(Phase::OmpIdle, ends[0], end);
            }
            start = end;
        }
        push(phase(Phase::Finish), start, start + FINISH);
        segments
    }

    /// Seconds from the start to the first iteration.
    fn before_iterations(&self, rank: u32) -> f64 {
        if self.congestion.is_some() {
            return self.before(rank).iter().sum();
        }
        STARTUP + SETUP + SETUP_ALLREDUCE * self.factor + SETUP_BARRIER
    }
}
