//! Programs with one planted cause of lost time, and programs without any.
//!
//! A [`Simulation`] executes a program of ranks, threads and GPUs that compute, wait for each other
//! and go through iterations; what it did is a [`Program`]: for each thread and stream, what was
//! executed when, below which calls. That is recorded as measurement tools would: as a database of
//! HPCToolkit with sampled profiles and traces ([`Program::database`]), or as a trace of calls
//! ([`Track::events`]).
//!
//! `causes` has one program for each cause, with what removing it would save, and the same program
//! without it; [`random_program`] has programs in which nothing is wrong, and [`uneven_program`] some in
//! which functions are slow on different ranks.

mod causes;
mod record;
mod simulate;

pub use causes::{
    Planted, late_rank, oversubscribed_node, random_program, serial_part, slow_node, stall,
    starved_gpu, unbalanced_gpu, uneven_program,
};
pub use record::Recording;
pub use simulate::Simulation;

/// What executes a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Executor {
    /// A thread of a rank.
    Thread {
        /// Number of the rank.
        rank: u32,
        /// Number of the thread in its rank.
        thread: u32,
    },
    /// The only stream of the only GPU of a rank.
    Stream {
        /// Number of the rank.
        rank: u32,
    },
}

impl Executor {
    /// The rank that it belongs to.
    #[must_use]
    pub fn rank(self) -> u32 {
        match self {
            Self::Thread { rank, .. } | Self::Stream { rank } => rank,
        }
    }

    fn with_rank(self, rank: u32) -> Self {
        match self {
            Self::Thread { thread, .. } => Self::Thread { rank, thread },
            Self::Stream { .. } => Self::Stream { rank },
        }
    }
}

/// Something that a track executed without interruption.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Start, in nanoseconds after the start of the program.
    pub start_nanos: u64,
    /// End.
    pub end_nanos: u64,
    /// The functions around it from below `main` on, itself last.
    pub path: Vec<String>,
    /// Number of the iteration: calls do not span iterations.
    pub iteration: u32,
    /// Part of the time that it has a core, in per mille; the rest it is ready or sleeps.
    pub cpu_permille: u16,
}

/// What one thread or stream executed, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Track {
    /// What it is.
    pub place: Executor,
    /// Node of its rank.
    pub node: u32,
    /// What it executed; gaps are idle time.
    pub pieces: Vec<Piece>,
}

/// The begin of a call, or the end of the innermost open one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A function is entered.
    Enter(u64, String),
    /// The innermost function is left.
    Leave(u64),
}

impl Track {
    /// What a tool that records calls would have written: `main` around everything on threads,
    /// calls that go on from one piece to the next in one iteration, and every innermost call once
    /// for each piece.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        let mut out = Vec::new();
        let Some(last) = self.pieces.last() else { return out };
        let is_thread = matches!(self.place, Executor::Thread { .. });
        if is_thread {
            out.push(Event::Enter(0, "main".into()));
        }
        // Calls that are open, the innermost last, and the iteration they belong to.
        let mut open: Vec<&str> = Vec::new();
        let mut iteration = 0;
        let mut at_nanos = 0;
        for piece in &self.pieces {
            let around = piece.path.split_last().map_or(&[][..], |(_, around)| around);
            let common = match piece.iteration == iteration && piece.start_nanos == at_nanos {
                true => open.iter().zip(around).take_while(|(a, b)| *a == b).count(),
                false => 0,
            };
            out.extend(open.drain(common..).map(|_| Event::Leave(at_nanos)));
            for name in around.iter().skip(common) {
                out.push(Event::Enter(piece.start_nanos, name.clone()));
                open.push(name);
            }
            if let Some(name) = piece.path.last() {
                out.push(Event::Enter(piece.start_nanos, name.clone()));
                out.push(Event::Leave(piece.end_nanos));
            }
            (iteration, at_nanos) = (piece.iteration, piece.end_nanos);
        }
        out.extend(open.iter().map(|_| Event::Leave(at_nanos)));
        if is_thread {
            out.push(Event::Leave(last.end_nanos));
        }
        out
    }
}

/// A program as it ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its name.
    pub title: String,
    /// Its threads and streams.
    pub tracks: Vec<Track>,
}

impl Program {
    /// The time in which its ranks do not compute, mean over them, in seconds: nobody can save more
    /// by spreading what they compute otherwise.
    #[must_use]
    pub fn waited_seconds(&self) -> f64 {
        let threads = self.tracks.iter().filter(|track| !track.place.is_stream());
        let computed = |track: &Track| -> u64 {
            let is_mpi =
                |piece: &&Piece| piece.path.last().is_some_and(|name| name.starts_with("MPI_"));
            let own = track.pieces.iter().filter(|piece| !is_mpi(piece));
            own.map(|piece| piece.end_nanos - piece.start_nanos).sum()
        };
        let each: Vec<u64> = threads.map(computed).collect();
        let mean = each.iter().sum::<u64>() as f64 / each.len().max(1) as f64;
        (self.span_nanos() as f64 - mean) / 1e9
    }

    /// When its last track ends, in nanoseconds.
    #[must_use]
    pub fn span_nanos(&self) -> u64 {
        let ends = self.tracks.iter().filter_map(|track| track.pieces.last());
        ends.map(|piece| piece.end_nanos).max().unwrap_or(0)
    }

    /// The same program as a recording of ours tells it: what has a core for a part of the time only
    /// is split into turns on a core, and turns of `<preempted>` below it.
    #[must_use]
    pub fn with_preemption(mut self) -> Self {
        /// How long a thread and its turn without a core take together.
        const TURN: u64 = 4_000_000;
        for track in &mut self.tracks {
            let mut pieces = Vec::with_capacity(track.pieces.len());
            for piece in track.pieces.drain(..) {
                if piece.cpu_permille >= 1000 {
                    pieces.push(piece);
                    continue;
                }
                let mut at = piece.start_nanos;
                while at < piece.end_nanos {
                    let end = (at + TURN).min(piece.end_nanos);
                    let left = at + (end - at) * u64::from(piece.cpu_permille) / 1000;
                    let on_core = Piece { start_nanos: at, end_nanos: left, ..piece.clone() };
                    let mut off = Piece { start_nanos: left, end_nanos: end, ..piece.clone() };
                    off.path.push("<preempted>".into());
                    pieces.extend([on_core, off]);
                    at = end;
                }
            }
            track.pieces = pieces;
        }
        self
    }

    /// The same program with other names of its own functions: what says the class of a function
    /// (`MPI_`, `<omp`, `cuda`, `main`) stays.
    #[must_use]
    pub fn renamed(mut self) -> Self {
        for name in self.tracks.iter_mut().flat_map(|t| &mut t.pieces).flat_map(|p| &mut p.path) {
            let is_of_class = ["MPI_", "<", "cuda"].iter().any(|class| name.starts_with(class));
            if !is_of_class {
                // Another order of the alphabet as well, so that ties cannot hide behind it.
                let turned = name.bytes().map(|byte| match byte {
                    b'a'..=b'z' => char::from(b'z' - (byte - b'a')),
                    other => char::from(other),
                });
                *name = turned.collect();
            }
        }
        self
    }

    /// The same program with ranks numbered in reverse; nodes keep their ranks.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        let last = self.tracks.iter().map(|track| track.place.rank()).max().unwrap_or(0);
        for track in &mut self.tracks {
            track.place = track.place.with_rank(last - track.place.rank());
        }
        self.tracks.sort_by_key(|track| track.place);
        self
    }
}
