//! Random small databases for property tests.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::subsequence;

use super::database::{
    Context, ContextKind, Database, Function, Id, LexicalType, Metric, Point, Profile, Relation,
    Sample, Scope, SourceFile, Statistic, kind,
};
use super::files::{Layout, WriteOptions};

const NAMES: [&str; 12] = [
    "main",
    "solve",
    "compute",
    "MPI_Waitall",
    "PMPI_Allreduce",
    "MPIDI_Progress",
    "<omp idle>",
    "<gpu kernel>",
    "operator()(int, char const*)",
    "<unknown procedure> 0x12 [libx.so]",
    "größe",
    "malloc",
];

/// A random valid database: up to a few dozen contexts of every kind (recursion included), up to
/// three metrics, up to eight profiles, of which some are empty, share a tuple, belong to a GPU
/// or have no trace.
///
/// Values are multiples of 1/64, so that sums are exact whatever their order.
pub fn database() -> impl Strategy<Value = Database> {
    let scopes = prop_oneof![
        3 => Just(Scope::ALL.to_vec()),
        1 => Just(Scope::WITHOUT_LEX_AWARE.to_vec()),
    ];
    (scopes, metrics(), vec(node(), 0..40), 1..4_usize, any::<u64>()).prop_flat_map(
        |(scopes, metrics, nodes, num_entries, seed)| {
            let contexts = contexts(&nodes, num_entries, seed);
            let ids: Vec<u32> = contexts.iter().map(|context| context.id).collect();
            vec(profile(ids, metrics.len()), 0..8).prop_map(move |profiles| Database {
                title: "random".into(),
                scopes: scopes.clone(),
                metrics: metrics.clone(),
                modules: vec!["/bin/app".into(), "/lib/libmpi.so".into()],
                files: vec![
                    SourceFile { path: "src/app.c".into(), copied: true },
                    SourceFile { path: "/usr/include/x.h".into(), copied: false },
                ],
                functions: functions(),
                contexts: contexts.clone(),
                profiles,
                ..Database::default()
            })
        },
    )
}

/// Random ways to write a database.
pub fn write_options() -> impl Strategy<Value = WriteOptions> {
    let layout = prop_oneof![4 => Just(Layout::Final), 1 => Just(Layout::Draft)];
    (layout, any::<bool>(), any::<bool>()).prop_map(|(layout, elide_instructions, traces)| {
        WriteOptions { layout, elide_instructions, traces }
    })
}

fn functions() -> Vec<Function> {
    let mut functions: Vec<Function> = NAMES.iter().map(|&name| Function::named(name)).collect();
    functions[0].module = Some((0, 0x1000));
    functions[0].source = Some((0, 7));
    functions.push(Function { name: None, module: Some((1, 0x4f0)), source: None });
    functions
}

fn metrics() -> impl Strategy<Value = Vec<Metric>> {
    let names = vec!["CPUTIME (sec)", "perf::PAGE-FAULTS", "GKER (sec)", "IO Bytes Read", "cycles"];
    let statistics = prop_oneof![
        2 => Just(vec![Statistic::Sum]),
        1 => Just(Statistic::STATS.to_vec()),
    ];
    (subsequence(names, 1..=3), statistics).prop_map(|(names, statistics)| {
        names
            .into_iter()
            .map(|name| Metric { name: name.into(), statistics: statistics.clone() })
            .collect()
    })
}

/// A context to be: where it hangs and what it is.
type Node = (u32, u8, u16);

fn node() -> impl Strategy<Value = Node> {
    (any::<u32>(), 0..8_u8, any::<u16>())
}

fn contexts(nodes: &[Node], num_entries: usize, seed: u64) -> Vec<Context> {
    let mut contexts = Vec::new();
    let len = nodes.len() + num_entries;
    // Ids are dense but in no order of the tree.
    let mut ids: Vec<u32> = (1..=len as u32).collect();
    let mut state = seed;
    for at in (1..len).rev() {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ids.swap(at, (state >> 33) as usize % (at + 1));
    }
    for (entry, &id) in ids.iter().enumerate().take(num_entries) {
        let name = ["unknown entry", "main thread", "application thread"][entry % 3];
        let kind = ContextKind::Entry { entry_point: (entry % 3) as u16, name: name.into() };
        contexts.push(Context { id, parent: None, kind });
    }
    for (&(parent, what, detail), &id) in nodes.iter().zip(&ids[num_entries..]) {
        // Half of all contexts hang below the last ones, so that the tree grows deep.
        let recent = contexts.len().min(3);
        let parent = match parent % 2 {
            0 => contexts.len() - 1 - (parent >> 1) as usize % recent,
            _ => (parent >> 1) as usize % contexts.len(),
        };
        let function = Some(usize::from(detail) % (NAMES.len() + 1));
        let source = Some((usize::from(detail) % 2, u32::from(detail)));
        let point = Some((usize::from(detail) % 2, u64::from(detail) << 4));
        use LexicalType::{Function, Instruction, Line, Loop};
        let (relation, lexical, function, source, point) = match what {
            0 | 1 => (Relation::Call, Function, function, None, None),
            2 => (Relation::Inlined, Function, function, None, None),
            3 => (Relation::Call, Function, None, None, None),
            4 => (Relation::Lexical, Loop, None, source, point.filter(|_| detail % 3 == 0)),
            5 => (Relation::Lexical, Line, None, source, None),
            6 => (Relation::Lexical, Instruction, None, None, point),
            _ => (Relation::Call, Instruction, None, None, point),
        };
        let kind = ContextKind::Node { relation, lexical, function, source, point };
        contexts.push(Context { id, parent: Some(parent), kind });
    }
    contexts
}

fn profile(ids: Vec<u32>, num_metrics: usize) -> impl Strategy<Value = Profile> {
    let traced = ids.clone();
    let point = (0..ids.len(), 0..num_metrics, 1..100_000_u32).prop_map(move |(at, metric, n)| {
        Point { context: ids[at], metric, value: f64::from(n) / 64.0 }
    });
    let points = prop_oneof![1 => Just(Vec::new()), 5 => vec(point, 0..30)];
    let step = (0..1_000_000_u64, proptest::option::weighted(0.9, 0..traced.len()));
    let trace = prop_oneof![1 => Just(Vec::new()), 3 => vec(step, 1..20)];
    (tuple(), points, trace).prop_map(move |(tuple, points, steps)| {
        let mut nanos = 1_700_000_000_000_000_000;
        let mut trace: Vec<Sample> = Vec::new();
        for (step, at) in steps {
            nanos += step;
            let context = at.map_or(0, |at| traced[at]);
            // Two idle samples in a row do not occur.
            if context != 0 || trace.last().is_none_or(|last| last.context != 0) {
                trace.push(Sample { nanos, context });
            }
        }
        Profile { tuple, points, trace }
    })
}

fn tuple() -> impl Strategy<Value = Vec<Id>> {
    (0..3_u32, 0..4_u32, 0..2_u32, 0..6_u8).prop_map(|(node, rank, thread, shape)| {
        let node = Id::node(0x8001_0a80 + node);
        let thread_id = Id::logical(kind::THREAD, thread);
        let rank_id = Id::logical(kind::RANK, rank);
        match shape {
            0 => vec![node, thread_id],
            1 | 2 => vec![node, rank_id, thread_id],
            3 => vec![node, Id::core(rank), rank_id, thread_id],
            4 => vec![
                node,
                rank_id,
                Id::logical(kind::GPUCONTEXT, thread),
                Id::logical(kind::GPUSTREAM, thread),
            ],
            _ => vec![node, Id::core(rank), thread_id],
        }
    })
}
