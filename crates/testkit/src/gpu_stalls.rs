//! Databases of HPCToolkit with instruction sampling of GPUs, whose stalls are planted.
//!
//! A host thread sets up, launches two kernels, and waits for them. What of each kernel is issued,
//! hidden and stalled for which reason is given by line, in samples.

use crate::hpctoolkit::{
    ContextKind, Database, Derived, Id, LexicalType, Metric, Point, Profile, Relation, kind,
};

/// Cycles for which one sample stands.
pub const PERIOD: f64 = 4096.0;

/// Whose devices the program runs on, which decides the names of metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    /// NVIDIA, as databases until 2024 have it: `GINS:STL_GMEM`.
    Nvidia,
    /// AMD with hardware support: `GCYCLES:STL:MEM`.
    Amd,
    /// AMD without: `GCYCLES` only.
    AmdSoftware,
    /// Intel: `GCYCLES:STL:MEM` for scoreboards, `GCYCLES:STL:GMEM` for sends.
    Intel,
}

/// What was sampled on one line of a kernel, in samples.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    /// The line in the file of the kernel.
    pub line: u32,
    /// An instruction was issued.
    pub issued: u32,
    /// Stalled while another one was issued; counted as issued on NVIDIA devices.
    pub hidden: u32,
    /// Nothing was issued, because memory had not answered.
    pub memory: u32,
    /// Nothing was issued, because an operand was not ready.
    pub dependency: u32,
    /// Nothing was issued, because a unit was busy.
    pub pipeline: u32,
}

/// A kernel of a planted program.
#[derive(Debug, Clone, Copy)]
pub struct Kernel {
    /// Its name; its file is called the same, with `.cu`.
    pub name: &'static str,
    /// How long it runs, in seconds.
    pub seconds: f64,
    /// Its lines.
    pub lines: &'static [Line],
}

/// Most of the time one kernel waits for memory: 5,200 of its 8,000 samples, 5,000 of them on
/// line 14.
pub const MEMORY_BOUND: [Kernel; 2] = [
    Kernel {
        name: "gather",
        seconds: 8.0,
        lines: &[
            Line { line: 12, issued: 900, hidden: 100, memory: 200, dependency: 100, pipeline: 0 },
            Line {
                line: 14,
                issued: 1200,
                hidden: 200,
                memory: 5000,
                dependency: 300,
                pipeline: 0,
            },
        ],
    },
    SCALE,
];

/// Most of the time one kernel issues instructions: 7,200 of its 8,000 samples.
pub const COMPUTE_BOUND: [Kernel; 2] = [
    Kernel {
        name: "multiply",
        seconds: 8.0,
        lines: &[
            Line { line: 20, issued: 7000, hidden: 0, memory: 250, dependency: 150, pipeline: 300 },
            Line { line: 24, issued: 200, hidden: 0, memory: 50, dependency: 50, pipeline: 0 },
        ],
    },
    SCALE,
];

/// The kernel that waits for memory, with 65 of its 8,000 samples: too few to say anything.
pub const FEW_SAMPLES: [Kernel; 1] = [Kernel {
    name: "gather",
    seconds: 8.0,
    lines: &[Line { line: 14, issued: 20, hidden: 3, memory: 38, dependency: 4, pipeline: 0 }],
}];

const SCALE: Kernel = Kernel {
    name: "scale",
    seconds: 2.0,
    lines: &[Line {
        line: 5,
        issued: 1700,
        hidden: 0,
        memory: 100,
        dependency: 100,
        pipeline: 100,
    }],
};

/// Positions of the metrics of a database.
struct Metrics {
    time: usize,
    kernel_time: usize,
    operation_time: usize,
    /// Samples taken and expected, which only CUPTI tells.
    samples: Option<(usize, usize)>,
    cycles: usize,
    issued: Option<usize>,
    stalled: Option<usize>,
    memory: Option<usize>,
    dependency: Option<usize>,
    pipeline: Option<usize>,
}

impl Metrics {
    fn of(device: Device, database: &mut Database) -> Self {
        let mut add = |name: &str| {
            database.metrics.push(Metric::new(name));
            database.metrics.len() - 1
        };
        let (time, kernel_time) = (add("CPUTIME (sec)"), add("GKER (sec)"));
        let operation_time = add("GPUOP (sec)");
        let samples = (device == Device::Nvidia).then(|| (add("GSAMP:TOT"), add("GSAMP:EXP")));
        let (cycles, issued, stalled, prefix) = match device {
            Device::Nvidia => (add("GINS"), None, Some(add("GINS:STL_ANY")), "GINS:STL_"),
            _ => {
                let cycles = add("GCYCLES");
                let has_reasons = device != Device::AmdSoftware;
                let issued = has_reasons.then(|| add("GCYCLES:ISU"));
                (cycles, issued, has_reasons.then(|| add("GCYCLES:STL")), "GCYCLES:STL:")
            }
        };
        let memory = if device == Device::Nvidia { "GMEM" } else { "MEM" };
        let mut reason = |code: &str| stalled.map(|_| add(&format!("{prefix}{code}")));
        let (memory, dependency) = (reason(memory), reason("IDEP"));
        let pipeline = reason("PIPE");
        Self {
            time,
            kernel_time,
            operation_time,
            samples,
            cycles,
            issued,
            stalled,
            memory,
            dependency,
            pipeline,
        }
    }
}

/// The database of a program that runs `kernels` on a device: 0.5 s of setting up, and waiting for
/// as long as the kernels run.
#[must_use]
pub fn database(device: Device, kernels: &[Kernel]) -> Database {
    let mut database = Database { title: "planted".into(), ..Database::default() };
    let metrics = Metrics::of(device, &mut database);
    database.derived.extend(metrics.samples.map(|(numerator, denominator)| Derived {
        name: "GSAMP:UTIL".into(),
        description: "GPU utilization computed using PC sampling".into(),
        format: "%6.2f %%".into(),
        factor: 100.0,
        numerator,
        denominator,
    }));
    let entry = ContextKind::Entry { entry_point: 1, name: "main thread".into() };
    let root = database.add_context(None, entry);
    let main = call(&mut database, root, "main");
    let setup = call(&mut database, main, "setup");
    let waiting = call(&mut database, main, "cudaDeviceSynchronize");
    let seconds: f64 = kernels.iter().map(|kernel| kernel.seconds).sum();
    let mut points = vec![
        point(&database, main, metrics.time, 0.005),
        point(&database, setup, metrics.time, 0.5),
        point(&database, waiting, metrics.time, seconds),
    ];
    for kernel in kernels {
        let launch = call(&mut database, main, "cudaLaunchKernel");
        let placeholder = call(&mut database, launch, "<gpu kernel>");
        let context = call(&mut database, placeholder, kernel.name);
        let file = database.file(&format!("/src/{}.cu", kernel.name));
        let module = database.module("/gpubins/0123.gpubin");
        let samples: u32 = kernel.lines.iter().map(samples_of).sum();
        for metric in [metrics.kernel_time, metrics.operation_time] {
            points.push(point(&database, context, metric, kernel.seconds));
        }
        if let Some((taken, expected)) = metrics.samples {
            points.push(point(&database, context, taken, f64::from(samples)));
            points.push(point(&database, context, expected, f64::from(samples) * 1.25));
        }
        for line in kernel.lines {
            let of_line = part(&mut database, context, LexicalType::Line, |node| {
                node.source = Some((file, line.line));
            });
            // All of a line is one instruction.
            let instruction = part(&mut database, of_line, LexicalType::Instruction, |node| {
                node.point = Some((module, u64::from(line.line) * 16));
            });
            let stalled = line.memory + line.dependency + line.pipeline;
            for (metric, samples) in [
                (Some(metrics.cycles), samples_of(line)),
                (metrics.issued, line.issued),
                (metrics.stalled, stalled),
                (metrics.memory, line.memory),
                (metrics.dependency, line.dependency),
                (metrics.pipeline, line.pipeline),
            ] {
                if let Some(metric) = metric.filter(|_| samples > 0) {
                    let cycles = f64::from(samples) * PERIOD;
                    points.push(point(&database, instruction, metric, cycles));
                }
            }
        }
    }
    let tuple = vec![Id::node(0x0100_007f), Id::logical(kind::THREAD, 0)];
    database.profiles.push(Profile { tuple, points, ..Profile::default() });
    database
}

fn samples_of(line: &Line) -> u32 {
    line.issued + line.hidden + line.memory + line.dependency + line.pipeline
}

fn point(database: &Database, context: usize, metric: usize, value: f64) -> Point {
    Point { context: database.contexts[context].id, metric, value }
}

/// What a context that is no function has.
#[derive(Default)]
struct Node {
    source: Option<(usize, u32)>,
    point: Option<(usize, u64)>,
}

fn part(
    database: &mut Database,
    parent: usize,
    lexical: LexicalType,
    fill: impl Fn(&mut Node),
) -> usize {
    let mut node = Node::default();
    fill(&mut node);
    let Node { source, point } = node;
    let (relation, function) = (Relation::Lexical, None);
    let kind = ContextKind::Node { relation, lexical, function, source, point };
    database.add_context(Some(parent), kind)
}

fn call(database: &mut Database, parent: usize, name: &str) -> usize {
    let function = Some(database.function(name));
    let (relation, lexical) = (Relation::Call, LexicalType::Function);
    let kind = ContextKind::Node { relation, lexical, function, source: None, point: None };
    database.add_context(Some(parent), kind)
}
