//! Databases of any size with answers that are known beforehand.
//!
//! The generated program looks like a real MPI solver:
//!
//! ```text
//! main
//!   MPI_Init                                             phase startup
//!   hypre_GMRESSetup > hypre_BoomerAMGSetup
//!     hypre_BoomerAMGBuildCoarseOperator                 phase setup
//!     hypre_ParCSRMatrixSetNumNonzeros_core
//!       MPI_Allreduce                                    phase setup_allreduce  (slow nodes)
//!   MPI_Barrier                                          phase setup_barrier
//!   loop main.c:140                                      (iterations)
//!     compute_forces                                     phase compute          (imbalance)
//!     exchange_halo > MPI_Waitall                        phase exchange
//!     hypre_GMRESSolve                                   phase solve
//!     MPI_Allreduce                                      phase reduce
//!   MPI_Finalize                                         phase finish
//! ```
//!
//! Below each of these grow functions, loops, lines, inlined calls, MPI internals and, if
//! requested, instructions that meta.db leaves out. A rank holds values for the common ("hot")
//! contexts and for a sample of the rare ones, as in a sampled run; contexts that no rank happened
//! to hit stay in the tree without values.
//!
//! The time of every phase on every rank follows a closed formula ([`Planted::phase_seconds`]);
//! points below the phase are scaled so that they add up to it, and the trace spends exactly that
//! time there. Other phases take up the slack, so that all ranks end together.
//!
//! Everything is a function of the options: equal options give equal bytes, on any number of cores.

mod congestion;
mod model;
mod plan;
mod program;
pub(crate) mod random;
mod stream;

use std::io::{Error, ErrorKind, Result};
use std::path::Path;

use model::Model;

pub use congestion::Congestion;
pub use plan::{Phase, Planted, PlantedPhase, PlantedSlowNodes};

/// The number of the generator, `generator` in `planted.json`.
///
/// It grows when equal options no longer give equal bytes; databases that are kept are then made
/// again.
pub const GENERATOR: u64 = 2;

/// What to generate.
#[derive(Clone, Debug, PartialEq)]
pub struct GenerateOptions {
    /// Number of MPI ranks, at least 1.
    pub ranks: u32,
    /// Number of threads of each rank, at least 1; each one has a profile.
    pub threads_per_rank: u32,
    /// Number of consecutive ranks that share a node, at least 1.
    pub ranks_per_node: u32,
    /// Number of contexts in the tree of meta.db, entries included; at least [`MIN_CONTEXTS`].
    pub contexts: u32,
    /// Number of values that thread 0 of a rank has over all contexts, metrics and scopes, about.
    /// Small trees may not have as many.
    pub values_per_rank: u32,
    /// Number of metrics, 1 to 8; the first is `CPUTIME (sec)`.
    pub metrics: u32,
    /// Number of trace samples of each thread, about; every phase of every iteration has at least
    /// one.
    pub trace_samples: u32,
    /// Number of iterations of the time step loop, at least 1.
    pub iterations: u32,
    /// Everything random follows from this number.
    pub seed: u64,
    /// An uneven distribution of work over the ranks in phase `compute`.
    pub imbalance: Option<Imbalance>,
    /// Nodes that are slow in phase `setup_allreduce`.
    pub slow_nodes: Option<SlowNodes>,
    /// Slow nodes as they were seen on Aurora, with the names of nodes in `hosts.csv`; needs one
    /// iteration, one thread, no imbalance and no trace.
    pub congestion: Option<Congestion>,
    /// Whether there is a trace.db.
    pub trace: bool,
    /// Whether costs lie on instructions whose contexts are left out of meta.db, as writers before
    /// 2025 do; otherwise they lie on lines.
    pub elided: bool,
}

/// The smallest tree that holds all phases.
pub const MIN_CONTEXTS: u32 = 64;

impl Default for GenerateOptions {
    fn default() -> Self {
        Self {
            ranks: 100,
            threads_per_rank: 1,
            ranks_per_node: 8,
            contexts: 10_000,
            values_per_rank: 2_500,
            metrics: 1,
            trace_samples: 3_000,
            iterations: 50,
            seed: 1,
            imbalance: Some(Imbalance::default()),
            slow_nodes: None,
            congestion: None,
            trace: true,
            elided: true,
        }
    }
}

/// Work that differs between ranks by a known law.
///
/// The time of phase `compute` on rank `r` of `n` is the balanced time multiplied by
/// `1 + amplitude * share(r)`, where the share of [`ImbalanceLaw`] lies in 0 to 1; phase `exchange`
/// waits for the slowest rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Imbalance {
    /// How the share depends on the rank.
    pub law: ImbalanceLaw,
    /// Additional work of the rank with share 1, as a part of the balanced work; not negative.
    pub amplitude: f64,
}

impl Default for Imbalance {
    fn default() -> Self {
        Self { law: ImbalanceLaw::Linear, amplitude: 0.5 }
    }
}

/// How the additional work depends on the rank `r` of `n`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ImbalanceLaw {
    /// `r / (n - 1)`: the last rank has the most.
    Linear,
    /// `(1 + sin(2 pi r / n)) / 2`.
    Sine,
    /// 1 for the first `ceil(fraction * n)` ranks, 0 for the others.
    Step {
        /// Part of the ranks that have more work, 0 to 1.
        fraction: f64,
    },
}

/// Nodes on which every rank takes longer in the call path `hypre_GMRESSetup` >
/// `hypre_BoomerAMGSetup` > `hypre_ParCSRMatrixSetNumNonzeros_core` > `MPI_Allreduce`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowNodes {
    /// Number of slow nodes; which ones follows from the seed.
    pub count: u32,
    /// Time there divided by the time on the other nodes (3.12 s); at least 1.
    pub factor: f64,
}

impl Default for SlowNodes {
    /// The congestion that was seen in a run of AMG: 202 nodes of 1,000 with 5.19 s, the others
    /// with 3.12 s.
    fn default() -> Self {
        Self { count: 202, factor: 5.19 / 3.12 }
    }
}

impl GenerateOptions {
    /// The number of nodes that the ranks occupy.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        self.ranks.div_ceil(self.ranks_per_node.max(1))
    }

    /// The number of profiles other than the summary.
    #[must_use]
    pub fn locations(&self) -> u64 {
        u64::from(self.ranks) * u64::from(self.threads_per_rank)
    }

    fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::new(ErrorKind::InvalidInput, what));
        let positive = [
            ("ranks", self.ranks),
            ("threads_per_rank", self.threads_per_rank),
            ("ranks_per_node", self.ranks_per_node),
            ("iterations", self.iterations),
        ];
        if let Some((name, _)) = positive.iter().find(|(_, number)| *number == 0) {
            return wrong(format!("{name} is 0; give at least 1"));
        }
        if self.locations() >= u64::from(u32::MAX) {
            return wrong("ranks times threads_per_rank does not fit 32 bits".into());
        }
        if self.contexts < MIN_CONTEXTS || self.contexts > 50_000_000 {
            return wrong(format!(
                "contexts is {}; give {MIN_CONTEXTS} to 50000000",
                self.contexts
            ));
        }
        if !(1..=program::METRICS.len() as u32).contains(&self.metrics) {
            let max = program::METRICS.len();
            return wrong(format!("metrics is {}; give 1 to {max}", self.metrics));
        }
        if let Some(Imbalance { law, amplitude }) = self.imbalance {
            let fraction_fits = match law {
                ImbalanceLaw::Step { fraction } => (0.0..=1.0).contains(&fraction),
                ImbalanceLaw::Linear | ImbalanceLaw::Sine => true,
            };
            if !(amplitude.is_finite() && amplitude >= 0.0 && fraction_fits) {
                return wrong("imbalance: an amplitude of at least 0, a fraction of 0 to 1".into());
            }
        }
        if let Some(Congestion { nodes, .. }) = self.congestion {
            let is_plain = self.iterations == 1
                && self.threads_per_rank == 1
                && self.imbalance.is_none()
                && self.slow_nodes.is_none()
                && !self.trace;
            if !is_plain || nodes > self.nodes() {
                return wrong(format!(
                    "congestion: {nodes} of {} nodes; give one iteration and one thread, and no \
                     imbalance, slow nodes or trace",
                    self.nodes()
                ));
            }
        }
        if let Some(SlowNodes { count, factor }) = self.slow_nodes {
            if count > self.nodes() {
                return wrong(format!("{count} slow nodes, but only {} nodes", self.nodes()));
            }
            if !(factor.is_finite() && factor >= 1.0) {
                return wrong(format!("slow nodes: the factor {factor} is less than 1"));
            }
        }
        Ok(())
    }
}

/// Writes a database into a folder, which is created when it is not there, and returns the planted
/// answers, which are also written next to the database as `planted.json`.
///
/// Memory stays below 1 GB at any size.
/// A file has its final name only when it is complete; until then it ends in `.partial`. Files of
/// an earlier database in the folder are removed first.
/// `progress` is told how many steps of how many are done, and of which file; the count starts again
/// with every file.
///
/// # Errors
/// Options that contradict each other ([`ErrorKind::InvalidInput`]), and what the file system says.
pub fn generate(
    dir: &Path,
    options: &GenerateOptions,
    progress: impl Fn(u64, u64, &str),
) -> Result<Planted> {
    options.check()?;
    let model = Model::new(options);
    stream::write(dir, &model, stream::BLOCK_BYTES, &progress)
}
