//! One program for each cause of lost time, and programs in which nothing is wrong.

use super::{Program, Simulation};
use crate::hpctoolkit::generate::random::{Sequence, hash, unit};

const MS: u64 = 1_000_000;
/// Everything that ranks do differs by up to this part from its plan.
const NOISE: f64 = 0.01;
/// Seed of the noise.
const SEED: u64 = 53;

/// A program, what is wrong with it, and what it would gain without that.
#[derive(Clone, Debug, PartialEq)]
pub struct Planted {
    /// The program as it ran.
    pub program: Program,
    /// The function in which the cause lies.
    pub function: &'static str,
    /// The rank that it lies at; none where all are concerned.
    pub rank: Option<u32>,
    /// What removing the cause saves, in seconds of each rank that waits for it. 0 where the cause
    /// is not planted.
    pub saving_seconds: f64,
}

impl Planted {
    fn new(program: Program, function: &'static str, rank: Option<u32>, saving_nanos: f64) -> Self {
        Self { program, function, rank, saving_seconds: saving_nanos / 1e9 }
    }
}

/// A time that differs a little between ranks, iterations and what is done.
fn about(nanos: u64, rank: usize, iteration: u64, what: u64) -> u64 {
    let noise = 1.0 + NOISE * (2.0 * unit(hash(SEED + what, rank as u64, iteration)) - 1.0);
    (nanos as f64 * noise) as u64
}

/// The largest of these without their mean.
fn above_mean(sums: &[u64]) -> f64 {
    let mean = sums.iter().sum::<u64>() as f64 / sums.len().max(1) as f64;
    sums.iter().max().copied().unwrap_or(0) as f64 - mean
}

/// Eight ranks that solve, of which rank 5 takes nearly twice as long, and meet in a reduction.
#[must_use]
pub fn late_rank(is_planted: bool) -> Planted {
    const RANKS: usize = 8;
    const LATE: usize = 5;
    let mut run = Simulation::new(RANKS as u32, RANKS as u32).started();
    let mut solved = [0; RANKS];
    for iteration in 0..60 {
        run.next_iteration();
        for (rank, solved) in solved.iter_mut().enumerate() {
            run.compute(rank, &["step", "assemble"], about(10 * MS, rank, iteration, 1));
            let more = if is_planted && rank == LATE { 16 * MS } else { 0 };
            let nanos = about(20 * MS + more, rank, iteration, 2);
            run.compute(rank, &["step", "solve"], nanos);
            *solved += nanos;
        }
        run.collective(&["step", "norm", "MPI_Allreduce"], MS / 5);
    }
    let saving = if is_planted { above_mean(&solved) } else { 0.0 };
    Planted::new(run.finish("late_rank"), "solve", Some(LATE as u32), saving)
}

/// 32 ranks on four nodes, of which the third takes half as long again for everything.
#[must_use]
pub fn slow_node(is_planted: bool) -> Planted {
    const RANKS: usize = 32;
    const ON_NODE: usize = 8;
    let is_slow = |rank: usize| is_planted && rank / ON_NODE == 2;
    let mut run = Simulation::new(RANKS as u32, ON_NODE as u32).started();
    let mut worked = [0; RANKS];
    for iteration in 0..60 {
        run.next_iteration();
        for (rank, worked) in worked.iter_mut().enumerate() {
            let slower = |nanos| if is_slow(rank) { nanos * 3 / 2 } else { nanos };
            let assemble = about(slower(10 * MS), rank, iteration, 1);
            let solve = about(slower(20 * MS), rank, iteration, 2);
            run.compute(rank, &["step", "assemble"], assemble);
            run.compute(rank, &["step", "solve"], solve);
            *worked += assemble + solve;
        }
        run.collective(&["step", "norm", "MPI_Allreduce"], MS / 5);
    }
    let of = |slow: bool| {
        let of: Vec<u64> =
            (0..RANKS).filter(|&rank| is_slow(rank) == slow).map(|rank| worked[rank]).collect();
        of.iter().sum::<u64>() as f64 / of.len().max(1) as f64
    };
    let saving = if is_planted { of(true) - of(false) } else { 0.0 };
    Planted::new(run.finish("slow_node"), "solve", None, saving)
}

/// Eight ranks that solve; in each iteration rank 0 alone writes a file, and the others wait.
#[must_use]
pub fn serial_part(is_planted: bool) -> Planted {
    const RANKS: usize = 8;
    let mut run = Simulation::new(RANKS as u32, RANKS as u32).started();
    let mut serial = [0; RANKS];
    for iteration in 0..60 {
        run.next_iteration();
        for rank in 0..RANKS {
            run.compute(rank, &["step", "solve"], about(20 * MS, rank, iteration, 1));
        }
        run.collective(&["step", "gather", "MPI_Gather"], MS / 5);
        if is_planted {
            let nanos = about(12 * MS, 0, iteration, 2);
            run.compute(0, &["step", "serial_update"], nanos);
            serial[0] += nanos;
        }
        run.collective(&["step", "scatter", "MPI_Bcast"], MS / 5);
    }
    let saving = if is_planted { above_mean(&serial) } else { 0.0 };
    Planted::new(run.finish("serial_part"), "serial_update", Some(0), saving)
}

/// Four ranks with 100 iterations of 20 ms; in one of them rank 2 takes 0.9 s longer.
#[must_use]
pub fn stall(is_planted: bool) -> Planted {
    const RANKS: usize = 4;
    const STALL: u64 = 900 * MS;
    let mut run = Simulation::new(RANKS as u32, RANKS as u32).started();
    for iteration in 0..100 {
        run.next_iteration();
        for rank in 0..RANKS {
            run.compute(rank, &["step", "solve"], about(19 * MS, rank, iteration, 1));
            if is_planted && rank == 2 && iteration == 41 {
                run.compute(rank, &["step", "reallocate"], STALL);
            }
        }
        run.collective(&["step", "norm", "MPI_Allreduce"], MS / 2);
    }
    let saving = if is_planted { STALL as f64 } else { 0.0 };
    Planted::new(run.finish("stall"), "reallocate", Some(2), saving)
}

/// Four ranks, each with a GPU that waits for what its host prepares.
#[must_use]
pub fn starved_gpu(is_planted: bool) -> Planted {
    const RANKS: usize = 4;
    let mut run = Simulation::new(RANKS as u32, RANKS as u32).started();
    for iteration in 0..60 {
        run.next_iteration();
        for rank in 0..RANKS {
            let nanos = if is_planted { 12 * MS } else { MS / 2 };
            run.compute(rank, &["step", "prepare"], about(nanos, rank, iteration, 1));
            let kernel = about(8 * MS, rank, iteration, 2);
            run.kernel(rank, &["step", "launch", "<gpu kernel>", "update_kernel"], kernel);
            run.synchronise(rank, &["step", "launch", "cudaStreamSynchronize"]);
        }
        run.collective(&["step", "norm", "MPI_Allreduce"], MS / 10);
    }
    let program = run.finish("starved_gpu");
    let busy = program.tracks.iter().filter(|track| track.place.is_stream());
    // From the first to the last kernel of each stream.
    let idle = busy.map(|track| {
        let pieces = &track.pieces;
        let busy: u64 = pieces.iter().map(|piece| piece.end_nanos - piece.start_nanos).sum();
        let ends = pieces.first().zip(pieces.last());
        ends.map_or(0, |(first, last)| last.end_nanos - first.start_nanos - busy)
    });
    let saving = if is_planted { idle.sum::<u64>() as f64 } else { 0.0 };
    Planted::new(program, "prepare", None, saving)
}

/// Four ranks, each with a GPU; one kernel takes twice as long on that of rank 1.
#[must_use]
pub fn unbalanced_gpu(is_planted: bool) -> Planted {
    const RANKS: usize = 4;
    const SLOW: usize = 1;
    let mut run = Simulation::new(RANKS as u32, RANKS as u32).started();
    let mut kernels = [0; RANKS];
    for iteration in 0..60 {
        run.next_iteration();
        for (rank, kernels) in kernels.iter_mut().enumerate() {
            run.compute(rank, &["step", "prepare"], about(MS / 4, rank, iteration, 1));
            let path = ["step", "launch", "<gpu kernel>", "stencil_kernel"];
            run.kernel(rank, &path, about(6 * MS, rank, iteration, 2));
            let more = if is_planted && rank == SLOW { 10 * MS } else { 0 };
            let nanos = about(10 * MS + more, rank, iteration, 3);
            run.kernel(rank, &["step", "launch", "<gpu kernel>", "force_kernel"], nanos);
            *kernels += nanos;
            run.synchronise(rank, &["step", "launch", "cudaStreamSynchronize"]);
        }
        run.collective(&["step", "norm", "MPI_Allreduce"], MS / 10);
    }
    let saving = if is_planted { above_mean(&kernels) } else { 0.0 };
    Planted::new(run.finish("unbalanced_gpu"), "force_kernel", Some(SLOW as u32), saving)
}

/// Eight ranks that compute; where it is planted, they share four cores, so that each one has a core
/// for half of the time and everything takes twice as long.
#[must_use]
pub fn oversubscribed_node(is_planted: bool) -> Planted {
    const RANKS: usize = 8;
    let (factor, cpu_permille) = if is_planted { (2, 500) } else { (1, 1000) };
    let mut run = Simulation::new(RANKS as u32, RANKS as u32).started();
    let mut computed = [0; RANKS];
    for iteration in 0..60 {
        run.next_iteration();
        for (rank, computed) in computed.iter_mut().enumerate() {
            let nanos = about(20 * factor * MS, rank, iteration, 1);
            run.compute_slowly(rank, &["step", "solve"], nanos, cpu_permille);
            *computed += nanos;
        }
        run.collective(&["step", "norm", "MPI_Allreduce"], MS / 5);
    }
    let mean = computed.iter().sum::<u64>() as f64 / RANKS as f64;
    let saving = mean * (1.0 - f64::from(cpu_permille) / 1000.0);
    Planted::new(run.finish("oversubscribed_node"), "solve", None, saving)
}

/// A program whose functions are each slow on another rank, in an order and by factors that are
/// random; ranks meet once in an iteration. What one rank does longer in one function it makes up for
/// in others, so that balancing each function on its own promises more than ranks wait.
#[must_use]
pub fn uneven_program(seed: u64) -> Program {
    let mut random = Sequence::new(seed);
    let ranks = 2 + random.below(8);
    let functions = 2 + random.below(5);
    let iterations = 12 + random.below(24) as u64;
    let plan: Vec<(u64, usize, f64)> = (0..functions)
        .map(|_| {
            let nanos = 2 * MS + random.below(15 * MS as usize) as u64;
            (nanos, random.below(ranks), 1.0 + 2.0 * random.unit())
        })
        .collect();
    let mut run = Simulation::new(ranks as u32, ranks as u32).started();
    for iteration in 0..iterations {
        run.next_iteration();
        for rank in 0..ranks {
            for (at, &(nanos, slow, factor)) in plan.iter().enumerate() {
                let times = if rank == slow { factor } else { 1.0 };
                let nanos = about((nanos as f64 * times) as u64, rank, iteration, at as u64);
                run.compute(rank, &["step", NAMES[at]], nanos);
            }
        }
        run.collective(&["step", "norm", "MPI_Allreduce"], MS / 5);
    }
    run.finish("uneven")
}

/// Names of functions of random programs, which say nothing about what they are.
const NAMES: [&str; 8] =
    ["assemble", "solve", "advect", "limit", "smooth", "collide", "stream", "project"];

/// A program in which nothing is wrong: all ranks do the same, give or take a little chance, in
/// iterations of the same length, and exchange little. Its shape is random: ranks, nodes, functions
/// and how deep they are called, iterations, GPUs.
#[must_use]
pub fn random_program(seed: u64) -> Program {
    let mut random = Sequence::new(seed);
    let ranks = 1 + random.below(12);
    let mut run = Simulation::new(ranks as u32, 1 + random.below(4) as u32);
    let iterations = 8 + random.below(24) as u64;
    let has_gpus = random.below(4) == 0;
    let noise = 0.03 * random.unit();
    let mut nanos_of = |least: u64, more: usize| least + random.below(more) as u64;
    let functions: Vec<(Vec<&str>, u64)> = (0..nanos_of(1, 4))
        .map(|_| {
            let depth = 1 + nanos_of(0, 3) as usize;
            let path: Vec<&str> =
                (0..depth).map(|_| NAMES[nanos_of(0, NAMES.len()) as usize]).collect();
            ([vec!["step"], path].concat(), nanos_of(2 * MS, 20 * MS as usize))
        })
        .collect();
    let whole: u64 = functions.iter().map(|(_, nanos)| nanos).sum();
    let transfer = nanos_of(whole / 1000, (whole / 50) as usize);
    let mut differ = |nanos: u64| (nanos as f64 * (1.0 + noise * (random.unit() - 0.5))) as u64;
    for _ in 0..iterations {
        run.next_iteration();
        for rank in 0..ranks {
            for (path, nanos) in &functions {
                let path: Vec<&str> = path.clone();
                if has_gpus {
                    run.compute(rank, &["step", "launch"], MS / 20);
                    let kernel = [&path[..], &["<gpu kernel>", "kernel"]].concat();
                    run.kernel(rank, &kernel, differ(*nanos));
                    run.synchronise(rank, &[&path[..], &["cudaDeviceSynchronize"]].concat());
                } else {
                    run.compute(rank, &path, differ(*nanos));
                }
            }
        }
        if ranks > 1 {
            run.collective(&["step", "norm", "MPI_Allreduce"], transfer);
        }
    }
    run.finish("random")
}
