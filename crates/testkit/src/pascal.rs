//! Files as PaScal Analyzer writes them, of a solver whose scaling is known beforehand.
//!
//! Two versions of one program: the first has a region that only one thread executes and a region
//! in which one thread has more work than the others, the second has neither.
//! Times are the planted ones times a factor of the repetition: one repetition is as planted, one
//! is shorter and one is longer, so the median over repetitions is the planted time.

use std::fmt::Write as _;

/// Core counts of the runs.
pub const CORES: [u32; 5] = [1, 2, 4, 8, 16];
/// Sizes of the inputs; the program takes them as its argument. Work grows like the size.
pub const SIZES: [u32; 5] = [1_000, 2_000, 4_000, 8_000, 16_000];
/// Repetitions of each configuration.
pub const REPETITIONS: u32 = 3;
/// Time steps: how often a region inside the time loop is entered.
pub const STEPS: u32 = 2;
/// Work of the slowest thread over the mean, in the region `1.2.3` of the first version.
pub const IMBALANCE: f64 = 1.6;

/// Which of the two versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// A serial region and an uneven one.
    First,
    /// Both repaired.
    Second,
}

/// How the work of a region is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Division {
    /// One thread does all of it, whatever the input.
    Constant,
    /// One thread does all of it, and it grows with the input.
    Serial,
    /// Every thread does the same part.
    Even,
    /// The first thread does [`IMBALANCE`] times the mean.
    Uneven,
    /// The cost of telling all others: grows with the logarithm of the core count.
    Exchange,
}

/// One region without regions inside: those above are as long as what they contain.
struct Leaf {
    path: &'static str,
    /// Seconds of one entry for the smallest input on one core.
    seconds: f64,
    lines: [u32; 2],
    division: Division,
}

const SETUP: [Leaf; 2] = [
    Leaf { path: "1.1.1", seconds: 0.020, lines: [44, 49], division: Division::Constant },
    Leaf { path: "1.1.2", seconds: 0.120, lines: [51, 57], division: Division::Even },
];

const STEP: [Leaf; 6] = [
    Leaf { path: "1.2.3.1", seconds: 0.180, lines: [78, 84], division: Division::Uneven },
    Leaf { path: "1.2.3.2", seconds: 0.060, lines: [86, 90], division: Division::Uneven },
    Leaf { path: "1.2.4", seconds: 0.160, lines: [93, 99], division: Division::Even },
    Leaf { path: "1.2.5", seconds: 0.040, lines: [102, 107], division: Division::Serial },
    Leaf { path: "1.2.6", seconds: 0.004, lines: [110, 118], division: Division::Exchange },
    Leaf { path: "1.2.7", seconds: 0.006, lines: [121, 126], division: Division::Constant },
];

/// Regions with regions inside, innermost first, with their lines.
const OUTER: [(&str, [u32; 2]); 4] =
    [("1.1", [40, 59]), ("1.2.3", [74, 91]), ("1.2", [66, 130]), ("1", [36, 134])];

/// Seconds before the first region, and again after the last.
const OUTSIDE: f64 = 0.010;
const FILE: &str = "solver.c";
const EPOCH: f64 = 1_700_000_000.0;

/// The text of the file that PaScal Analyzer would have written for a version.
///
/// `seed` decides which repetition is the shorter and which the longer one; it changes no median.
#[must_use]
pub fn solver(version: Version, seed: u64) -> String {
    let name = match version {
        Version::First => "solver-v1",
        Version::Second => "solver-v2",
    };
    let sizes = SIZES.map(|size| size.to_string());
    let cores = CORES.map(|cores| cores.to_string()).join(",");
    let mut out = String::new();
    let quoted = sizes.clone().map(|size| format!("\"{size}\"")).join(", ");
    let _ = write!(
        out,
        "{{\"config\": {{\"pkg\": \"./{name}\", \"command\": \"pascalanalyzer ./{name} --inst man \
         --cors {cores} --ipts {} --rpts {REPETITIONS} --outp {name}.json\", \"data_descriptor\": \
         {{\"values\": [\"start_time\", \"stop_time\"], \"extras\": {{\"regions\": {{\"values\": \
         [\"start_time\", \"stop_time\", \"start_line\", \"stop_line\", \"thread_id\", \
         \"filename\"]}}}}, \"keys\": [\"cores\", \"input\", \"repetitions\"]}}, \"arguments\": \
         [{quoted}]}},\n\"data\": {{",
        sizes.join(","),
    );
    let mut clock = EPOCH;
    let mut state = seed;
    let mut is_first = true;
    for cores in CORES.into_iter().rev() {
        for (input, size) in SIZES.into_iter().enumerate() {
            let factors = shuffled([1.0, 0.995, 1.005], &mut state);
            for (repetition, factor) in (1..).zip(factors) {
                let run = Run { version, cores, work: f64::from(size) / 1_000.0, factor };
                let comma = if is_first { "" } else { "," };
                is_first = false;
                let _ = write!(out, "{comma}\n\"{cores};{input};{repetition}\": ");
                clock = run.write(&mut out, clock) + 1.0;
            }
        }
    }
    out.push_str("\n}}\n");
    out
}

/// One execution of the program.
struct Run {
    version: Version,
    cores: u32,
    work: f64,
    factor: f64,
}

/// One entry of a region by one thread.
type Entry = ([f64; 2], [u32; 2], u32);

impl Run {
    /// Writes the run that starts at `start`, and gives the time at which it stops.
    fn write(&self, out: &mut String, start: f64) -> f64 {
        let mut regions: Vec<(&str, Vec<Entry>)> = Vec::new();
        let mut clock = start + OUTSIDE * self.factor;
        let begin = clock;
        for leaf in &SETUP {
            clock = self.enter(&mut regions, leaf, clock);
        }
        outer(&mut regions, "1.1", [begin, clock]);
        let loop_begin = clock;
        for _ in 0..STEPS {
            let step_begin = clock;
            for leaf in &STEP {
                clock = self.enter(&mut regions, leaf, clock);
                if leaf.path == "1.2.3.2" {
                    outer(&mut regions, "1.2.3", [step_begin, clock]);
                }
            }
        }
        outer(&mut regions, "1.2", [loop_begin, clock]);
        outer(&mut regions, "1", [begin, clock]);
        let stop = clock + OUTSIDE * self.factor;
        out.push_str("{\"regions\": {");
        for (at, (path, entries)) in regions.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            let _ = write!(out, "{comma}\"{path}\": [");
            for (at, ([start, stop], [first, last], thread)) in entries.iter().enumerate() {
                let comma = if at == 0 { "" } else { ", " };
                let _ = write!(
                    out,
                    "{comma}[{start:.6}, {stop:.6}, {first}, {last}, {thread}, \"{FILE}\"]"
                );
            }
            out.push(']');
        }
        let _ = write!(out, "}}, \"start_time\": {start:.6}, \"stop_time\": {stop:.6}}}");
        stop
    }

    /// Adds one entry of a region by each of its threads, and gives the time at which the last of
    /// them leaves it.
    fn enter(&self, regions: &mut Vec<(&'static str, Vec<Entry>)>, leaf: &Leaf, at: f64) -> f64 {
        let times = self.times(leaf);
        let entries = times.iter().zip(0..).map(|(time, thread)| {
            let lines = leaf.lines;
            ([at, at + time * self.factor], lines, thread)
        });
        place(regions, leaf.path).extend(entries);
        at + times.into_iter().fold(0.0, f64::max) * self.factor
    }

    /// Seconds of each thread in one entry of a region.
    fn times(&self, leaf: &Leaf) -> Vec<f64> {
        let cores = f64::from(self.cores);
        let all = leaf.seconds * self.work;
        let division = match (self.version, leaf.division) {
            (Version::Second, Division::Serial | Division::Uneven) => Division::Even,
            (_, division) => division,
        };
        match division {
            Division::Constant => vec![leaf.seconds],
            Division::Serial => vec![all],
            Division::Exchange => vec![leaf.seconds * (1.0 + cores.log2())],
            Division::Uneven if self.cores > 1 => {
                let mean = all / cores;
                let other = mean * (cores - IMBALANCE) / (cores - 1.0);
                let mut times = vec![other; self.cores as usize];
                times[0] = mean * IMBALANCE;
                times
            }
            Division::Even | Division::Uneven => vec![all / cores; self.cores as usize],
        }
    }
}

fn outer(regions: &mut Vec<(&'static str, Vec<Entry>)>, path: &str, [start, stop]: [f64; 2]) {
    let Some((path, lines)) = OUTER.into_iter().find(|(outer, _)| *outer == path) else { return };
    place(regions, path).push(([start, stop], lines, 0));
}

/// The entries of a region. Regions come in the order in which they were left first, as the
/// Analyzer writes them.
fn place<'a>(
    regions: &'a mut Vec<(&'static str, Vec<Entry>)>,
    path: &'static str,
) -> &'a mut Vec<Entry> {
    let at = regions.iter().position(|(known, _)| *known == path).unwrap_or_else(|| {
        regions.push((path, Vec::new()));
        regions.len() - 1
    });
    &mut regions[at].1
}

/// The values in an order that the seed decides.
fn shuffled(mut values: [f64; 3], state: &mut u64) -> [f64; 3] {
    for at in (1..values.len()).rev() {
        // Knuth's linear congruential generator: the high bits are the good ones.
        *state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let other = (*state >> 33) as usize % (at + 1);
        values.swap(at, other);
    }
    values
}
