//! The tree of the generated program.

use std::collections::HashMap;

use super::super::database::{
    ContextKind, Database, Function, LexicalType, Metric, Relation, SourceFile, u32_of,
};
use super::GenerateOptions;
use super::plan::Phase;
use super::random::Sequence;

/// Names of the metrics, with the units of each per second of the first.
pub(crate) const METRICS: [(&str, f64); 8] = [
    ("CPUTIME (sec)", 1.0),
    ("PAPI_TOT_CYC", 2.4e9),
    ("PAPI_TOT_INS", 3.1e9),
    ("PAPI_L2_DCM", 1.3e7),
    ("PAPI_L3_TCM", 2.1e6),
    ("PAPI_BR_MSP", 4.4e6),
    ("perf::PAGE-FAULTS", 900.0),
    ("perf::CONTEXT-SWITCHES", 40.0),
];

/// The program without its costs.
pub(crate) struct Program {
    pub(crate) database: Database,
    /// By phase, in the order of [`Phase::ALL`]; a program without threads lacks the last ones.
    pub(crate) phases: Vec<ProgramPhase>,
    /// Position of the time step loop.
    pub(crate) time_loop: usize,
}

/// A phase of the program.
pub(crate) struct ProgramPhase {
    pub(crate) phase: Phase,
    /// Position of the context that holds the whole phase.
    pub(crate) root: usize,
    /// Positions of the contexts that carry costs, the common ones first.
    pub(crate) carriers: Vec<usize>,
}

/// What grows below a context.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    Application,
    Mpi,
}

/// Deepest context; real trees go to about 70.
const MAX_DEPTH: u8 = 56;

struct Builder {
    database: Database,
    functions: HashMap<String, usize>,
    depths: Vec<u8>,
    random: Sequence,
    num_functions: usize,
}

/// Modules by position.
const MODULES: [&str; 5] = [
    "/app/bin/amg",
    "/opt/mpi/lib/libmpi.so.12",
    "/usr/lib64/libucp.so.0",
    "/usr/lib64/libuct.so.0",
    "/usr/lib64/libc.so.6",
];

const NOUNS: [&str; 16] = [
    "Matrix",
    "Vector",
    "Stencil",
    "Interp",
    "Coarsen",
    "Relax",
    "Residual",
    "Force",
    "Energy",
    "Strain",
    "Hourglass",
    "Boundary",
    "Graph",
    "Pack",
    "Norm",
    "Pressure",
];
const VERBS: [&str; 12] = [
    "Apply", "Build", "Sort", "Gather", "Scatter", "Update", "Multiply", "Truncate", "Reduce",
    "Init", "Copy", "Check",
];
const MPI_CALLS: [&str; 8] = [
    "MPI_Isend",
    "MPI_Irecv",
    "MPI_Waitall",
    "MPI_Allreduce",
    "MPI_Bcast",
    "MPI_Allgather",
    "MPI_Iprobe",
    "MPI_Test",
];
const INTERNALS: [(&str, usize); 8] = [
    ("MPIR_", 1),
    ("MPIDI_CH4_", 1),
    ("MPIDI_OFI_", 1),
    ("MPIDU_Sched_", 1),
    ("ucp_", 2),
    ("ucs_", 2),
    ("uct_", 3),
    ("__GI_", 4),
];
const INTERNAL_WORDS: [&str; 12] = [
    "progress",
    "wait_state",
    "Allreduce_intra_recursive_doubling",
    "request_test",
    "worker_poll",
    "isend_unsafe",
    "handle_cq_entries",
    "dispatch",
    "iface_progress",
    "memcpy",
    "lock",
    "sched_yield",
];

impl Builder {
    fn function_at(&mut self, name: &str, module: usize) -> usize {
        if let Some(&position) = self.functions.get(name) {
            return position;
        }
        let position = self.database.functions.len();
        let offset = 0x1000 + 0x40 * position as u64;
        let is_placeholder = name.starts_with('<');
        let source = (module == 0 && !is_placeholder)
            .then(|| (position % self.database.files.len(), 10 + position as u32 % 900));
        let module = (!is_placeholder).then_some((module, offset));
        self.database.functions.push(Function { name: Some(name.to_owned()), module, source });
        self.functions.insert(name.to_owned(), position);
        position
    }

    fn add(&mut self, parent: Option<usize>, kind: ContextKind) -> usize {
        // Ids are given at the end.
        let position = self.database.contexts.len();
        self.database.contexts.push(super::super::Context { id: 0, parent, kind });
        self.depths.push(parent.map_or(0, |parent| self.depths[parent] + 1));
        position
    }

    fn call(&mut self, parent: usize, name: &str, module: usize) -> usize {
        let function = Some(self.function_at(name, module));
        let relation = Relation::Call;
        let lexical = LexicalType::Function;
        let kind = ContextKind::Node { relation, lexical, function, source: None, point: None };
        self.add(Some(parent), kind)
    }

    fn part(&mut self, parent: usize, lexical: LexicalType, file: usize, line: u32) -> usize {
        let kind = ContextKind::Node {
            relation: Relation::Lexical,
            lexical,
            function: None,
            source: Some((file, line)),
            point: None,
        };
        self.add(Some(parent), kind)
    }

    /// A line of main.c with a call on it.
    fn call_at(&mut self, parent: usize, line: u32, name: &str, module: usize) -> usize {
        let line = self.part(parent, LexicalType::Line, 0, line);
        self.call(line, name, module)
    }

    fn application_name(&mut self) -> String {
        let number = self.random.below(self.num_functions);
        let (noun, verb) = (NOUNS[number % 16], VERBS[number / 16 % 12]);
        match number / 192 {
            0 => format!("hypre_{noun}{verb}"),
            more => format!("hypre_{noun}{verb}{more}"),
        }
    }

    /// Adds one context below a parent; returns it with what grows below it.
    fn grow(&mut self, parent: usize, style: Style) -> (usize, Style) {
        let lexical = match self.database.contexts[parent].kind {
            ContextKind::Node { lexical, .. } => lexical,
            ContextKind::Entry { .. } => LexicalType::Function,
        };
        let choice = self.random.unit();
        let detail = self.random.bits();
        let files = self.database.files.len();
        let (file, line) = match style {
            Style::Application => (detail as usize % files, (detail >> 32) as u32 % 2000 + 1),
            Style::Mpi => (files - 1, 0),
        };
        match (lexical, style) {
            (LexicalType::Function | LexicalType::Loop, _) if choice < 0.22 => {
                (self.part(parent, LexicalType::Loop, file, line), style)
            }
            (LexicalType::Function, Style::Mpi) if choice < 0.3 => {
                let point = Some((1 + detail as usize % 4, detail >> 40 << 2));
                let kind = ContextKind::Node {
                    relation: Relation::Call,
                    lexical: LexicalType::Instruction,
                    function: None,
                    source: None,
                    point,
                };
                (self.add(Some(parent), kind), style)
            }
            (LexicalType::Function | LexicalType::Loop, _) => {
                (self.part(parent, LexicalType::Line, file, line), style)
            }
            (LexicalType::Line | LexicalType::Instruction, Style::Mpi) => {
                let (prefix, module) = INTERNALS[detail as usize % 8];
                let word = INTERNAL_WORDS[(detail >> 16) as usize % 12];
                let number = (detail >> 32) % 4;
                (self.call(parent, &format!("{prefix}{word}{number}"), module), style)
            }
            (_, Style::Application) if choice < 0.06 => {
                (self.call(parent, MPI_CALLS[detail as usize % 8], 1), Style::Mpi)
            }
            (_, Style::Application) => {
                let name = self.application_name();
                let function = Some(self.function_at(&name, 0));
                let relation = if choice < 0.35 { Relation::Inlined } else { Relation::Call };
                let kind = ContextKind::Node {
                    relation,
                    lexical: LexicalType::Function,
                    function,
                    source: None,
                    point: None,
                };
                (self.add(Some(parent), kind), style)
            }
        }
    }

    /// Grows a number of contexts below a root; returns the positions that carry costs.
    fn grow_phase(&mut self, root: usize, count: usize, style: Style) -> Vec<usize> {
        let first = self.database.contexts.len();
        let mut open = vec![(root, style)];
        let mut is_parent = vec![false; count];
        let mut is_carrier = vec![false; count];
        for _ in 0..count {
            // Mostly go on where the last one was added: chains of calls are deep.
            let mut at = match self.random.unit() < 0.62 {
                true => open.len() - 1,
                false => self.random.below(open.len()),
            };
            while self.depths[open[at].0] >= MAX_DEPTH {
                at = self.random.below(at.max(1));
            }
            let (parent, style) = open[at];
            let child = self.grow(parent, style);
            if parent >= first {
                is_parent[parent - first] = true;
            }
            // Lines that call something often have costs of their own, too.
            let kind = &self.database.contexts[child.0].kind;
            let is_line = matches!(kind, ContextKind::Node { lexical: LexicalType::Line, .. });
            is_carrier[child.0 - first] = is_line && self.random.unit() < 0.3;
            open.push(child);
        }
        let carriers: Vec<usize> = (0..count)
            .filter(|&at| is_carrier[at] || !is_parent[at])
            .map(|at| first + at)
            .collect();
        if carriers.is_empty() { vec![root] } else { carriers }
    }
}

/// Builds the program that the options ask for.
pub(crate) fn build(options: &GenerateOptions) -> Program {
    let mut files = vec![SourceFile { path: "src/main.c".into(), copied: false }];
    files.extend((1..60).map(|number| SourceFile {
        path: format!("/home/user/amg/{}_{number}.c", NOUNS[number % 16].to_lowercase()),
        copied: false,
    }));
    files.push(SourceFile { path: "<unknown file>".into(), copied: false });
    let database = Database {
        title: "amg".into(),
        metrics: METRICS[..options.metrics as usize]
            .iter()
            .map(|(name, _)| Metric::new(*name))
            .collect(),
        modules: MODULES.iter().map(|&module| module.to_owned()).collect(),
        files,
        ..Database::default()
    };
    let mut builder = Builder {
        database,
        functions: HashMap::new(),
        depths: Vec::new(),
        random: Sequence::new(options.seed),
        num_functions: (options.contexts as usize / 20).clamp(40, 4000),
    };
    let b = &mut builder;
    let entry = b.add(None, ContextKind::Entry { entry_point: 1, name: "main thread".into() });
    let main = b.call(entry, "main", 0);
    let startup = b.call_at(main, 107, "MPI_Init", 1);
    let gmres = b.call_at(main, 121, "hypre_GMRESSetup", 0);
    let amg = b.call_at(gmres, 88, "hypre_BoomerAMGSetup", 0);
    let levels = b.part(amg, LexicalType::Loop, 1, 240);
    let setup = b.call_at(levels, 251, "hypre_BoomerAMGBuildCoarseOperator", 0);
    let nonzeros = b.call_at(levels, 260, "hypre_ParCSRMatrixSetNumNonzeros_core", 0);
    let allreduce = b.call_at(nonzeros, 402, "MPI_Allreduce", 1);
    let barrier = b.call_at(main, 130, "MPI_Barrier", 1);
    let time_loop = b.part(main, LexicalType::Loop, 0, 140);
    let compute = b.call_at(time_loop, 142, "compute_forces", 0);
    let halo = b.call_at(time_loop, 145, "exchange_halo", 0);
    let exchange = b.call_at(halo, 61, "MPI_Waitall", 1);
    let solve = b.call_at(time_loop, 150, "hypre_GMRESSolve", 0);
    let reduce = b.call_at(time_loop, 153, "MPI_Allreduce", 1);
    let finish = b.call_at(main, 171, "MPI_Finalize", 1);
    let mut compute_body = compute;
    if options.threads_per_rank > 1 {
        let parallel = b.call_at(compute, 310, "GOMP_parallel", 4);
        compute_body = b.call(parallel, "compute_forces._omp_fn.0", 0);
    }
    let mut places = vec![
        (Phase::Startup, startup, startup, 8, Style::Mpi),
        (Phase::Setup, setup, setup, 24, Style::Application),
        (Phase::SetupAllreduce, allreduce, allreduce, 5, Style::Mpi),
        (Phase::SetupBarrier, barrier, barrier, 2, Style::Mpi),
        (Phase::Compute, compute, compute_body, 18, Style::Application),
        (Phase::Exchange, exchange, exchange, 8, Style::Mpi),
        (Phase::Solve, solve, solve, 24, Style::Application),
        (Phase::Reduce, reduce, reduce, 4, Style::Mpi),
        (Phase::Finish, finish, finish, 7, Style::Mpi),
    ];
    if options.threads_per_rank > 1 {
        let kind = ContextKind::Entry { entry_point: 2, name: "application thread".into() };
        let entry = b.add(None, kind);
        let start = b.call(entry, "gomp_thread_start", 4);
        let barrier = b.call(start, "<omp barrier wait>", 4);
        let idle = b.call(start, "<omp idle>", 4);
        places.push((Phase::OmpBarrier, barrier, barrier, 0, Style::Mpi));
        places.push((Phase::OmpIdle, idle, idle, 0, Style::Mpi));
    }

    let spare = options.contexts as usize - b.database.contexts.len();
    let parts: usize = places.iter().map(|place| place.3).sum();
    let mut phases = Vec::new();
    let (mut seen, mut grown) = (0, 0);
    for (phase, root, body, part, style) in places {
        seen += part;
        // What is left after the parts before, so that the sum is exact.
        let count = spare * seen / parts - grown;
        grown += count;
        let carriers = b.grow_phase(body, count, style);
        phases.push(ProgramPhase { phase, root, carriers });
    }
    if options.elided {
        for phase in &mut phases {
            for carrier in &mut phase.carriers {
                let offset = 0x10_0000 + 4 * *carrier as u64;
                let kind = ContextKind::Node {
                    relation: Relation::Lexical,
                    lexical: LexicalType::Instruction,
                    function: None,
                    source: None,
                    point: Some((0, offset)),
                };
                *carrier = b.add(Some(*carrier), kind);
            }
        }
    }
    number(&mut builder);
    Program { database: builder.database, phases, time_loop }
}

/// Gives the contexts their ids: children before parents, as real writers do, in no exact order.
fn number(builder: &mut Builder) {
    let contexts = &mut builder.database.contexts;
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); contexts.len()];
    let mut stack: Vec<u32> = Vec::new();
    for (position, context) in contexts.iter().enumerate() {
        match context.parent {
            Some(parent) => children[parent].push(u32_of(position)),
            None => stack.push(u32_of(position)),
        }
    }
    // Visiting parents first and reversing puts children first.
    let mut order = Vec::with_capacity(contexts.len());
    while let Some(position) = stack.pop() {
        order.push(position);
        stack.extend_from_slice(&children[position as usize]);
    }
    order.reverse();
    for window in order.chunks_mut(16) {
        for at in (1..window.len()).rev() {
            window.swap(at, builder.random.below(at + 1));
        }
    }
    for (id, position) in (1..).zip(order) {
        contexts[position as usize].id = id;
    }
}
