//! [`Simulation`]: ranks that compute and wait for each other.

use super::{Executor, Piece, Program, Track};

/// A program while it runs: each rank has a clock, and one more where it has a GPU.
#[derive(Clone, Debug)]
pub struct Simulation {
    threads: Vec<Track>,
    streams: Vec<Track>,
    clocks: Vec<u64>,
    stream_clocks: Vec<u64>,
    iteration: u32,
}

impl Simulation {
    /// A program of so many ranks, of which so many share a node.
    #[must_use]
    pub fn new(ranks: u32, ranks_per_node: u32) -> Self {
        let track = |rank: u32, place| Track {
            place,
            node: rank / ranks_per_node.max(1),
            pieces: Vec::new(),
        };
        Self {
            threads: (0..ranks)
                .map(|r| track(r, Executor::Thread { rank: r, thread: 0 }))
                .collect(),
            streams: (0..ranks).map(|r| track(r, Executor::Stream { rank: r })).collect(),
            clocks: vec![0; ranks as usize],
            stream_clocks: vec![0; ranks as usize],
            iteration: 0,
        }
    }

    /// What every program does before its first iteration: each rank executes many small functions
    /// once, of which a sampling profiler sees some.
    #[must_use]
    pub fn started(mut self) -> Self {
        const PARTS: [&str; 12] = [
            "read_arguments",
            "read_mesh",
            "check_mesh",
            "make_faces",
            "make_edges",
            "number_nodes",
            "set_materials",
            "set_boundaries",
            "set_sources",
            "allocate_fields",
            "fill_fields",
            "print_summary",
        ];
        for rank in 0..self.ranks() {
            for part in PARTS {
                self.compute(rank, &["initialise", part], 2_000_000);
            }
        }
        self
    }

    /// Number of ranks.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.clocks.len()
    }

    /// The following belongs to the next iteration.
    pub fn next_iteration(&mut self) {
        self.iteration += 1;
    }

    /// A rank executes `path` for so long.
    pub fn compute(&mut self, rank: usize, path: &[&str], nanos: u64) {
        self.compute_slowly(rank, path, nanos, 1000);
    }

    /// The same, with a core for a part of the time only, in per mille.
    pub fn compute_slowly(&mut self, rank: usize, path: &[&str], nanos: u64, cpu_permille: u16) {
        let end_nanos = self.clocks[rank] + nanos;
        self.until(rank, path, end_nanos, cpu_permille);
    }

    /// All ranks wait in `path` for the last one, and then exchange data for `transfer_nanos`.
    pub fn collective(&mut self, path: &[&str], transfer_nanos: u64) {
        let end_nanos = self.clocks.iter().max().copied().unwrap_or(0) + transfer_nanos;
        for rank in 0..self.ranks() {
            self.until(rank, path, end_nanos, 1000);
        }
    }

    /// A rank launches a kernel, which runs after those before it. `path` is where it is launched.
    pub fn kernel(&mut self, rank: usize, path: &[&str], nanos: u64) {
        let start_nanos = self.stream_clocks[rank].max(self.clocks[rank]);
        self.stream_clocks[rank] = start_nanos + nanos;
        let iteration = self.iteration;
        self.streams[rank].pieces.push(piece(start_nanos, start_nanos + nanos, path, iteration));
    }

    /// A rank waits in `path` for the kernels that it launched.
    pub fn synchronise(&mut self, rank: usize, path: &[&str]) {
        self.until(rank, path, self.stream_clocks[rank], 1000);
    }

    /// The program as it ran.
    #[must_use]
    pub fn finish(mut self, title: &str) -> Program {
        self.streams.retain(|stream| !stream.pieces.is_empty());
        let tracks = [self.threads, self.streams].concat();
        Program { title: title.to_owned(), tracks }
    }

    fn until(&mut self, rank: usize, path: &[&str], end_nanos: u64, cpu_permille: u16) {
        let start_nanos = self.clocks[rank];
        if end_nanos > start_nanos {
            let piece = piece(start_nanos, end_nanos, path, self.iteration);
            self.threads[rank].pieces.push(Piece { cpu_permille, ..piece });
            self.clocks[rank] = end_nanos;
        }
    }
}

fn piece(start_nanos: u64, end_nanos: u64, path: &[&str], iteration: u32) -> Piece {
    let path = path.iter().map(|&name| name.to_owned()).collect();
    Piece { start_nanos, end_nanos, path, iteration, cpu_permille: 1000 }
}
