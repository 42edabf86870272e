//! The costs of the generated program: what one thread measures.

use std::ops::Range;

use super::super::database::{
    ContextKind, Id, LexicalType, Numbering, Sample, Scope, kind, u32_of,
};
use super::super::profiles::Value;
use super::super::scopes::{Fold, Tree};
use super::GenerateOptions;
use super::plan::{Laws, Phase, Planted, PlantedPhase, profile_order};
use super::program::{self, METRICS, Program};
use super::random::{Permutation, below, hash, unit};

/// Everything that is needed to make the values of any thread.
pub(crate) struct Model {
    pub(crate) options: GenerateOptions,
    pub(crate) program: Program,
    pub(crate) tree: Tree,
    pub(crate) numbering: Numbering,
    pub(crate) laws: Laws,
    order: Permutation,
    /// By node of the tree: the context id.
    ids: Vec<u32>,
    /// By phase.
    loads: Vec<Load>,
}

/// How the costs of a phase spread over its contexts.
struct Load {
    phase: Phase,
    /// Nodes that carry costs.
    carriers: Vec<u32>,
    /// By carrier: the id that a trace shows for it.
    traced: Vec<u32>,
    /// Number of leading carriers that every thread has.
    num_hot: usize,
    /// Number of other carriers that a thread has: one of each of as many equal ranges.
    num_cold: usize,
    /// Smallest and largest context id below the root of the phase, the root included.
    below: Range<u32>,
    /// Ids of the contexts above the root of the phase, the id 0 included.
    above: Vec<u32>,
}

impl Load {
    /// Whether a context whose id lies in the range can have costs of this phase.
    fn reaches(&self, ids: &Range<u32>) -> bool {
        (self.below.start < ids.end && ids.start < self.below.end)
            || self.above.iter().any(|id| ids.contains(id))
    }
}

impl Model {
    pub(crate) fn new(options: &GenerateOptions) -> Self {
        let program = program::build(options);
        let tree = program.database.tree();
        let mut ids = vec![0];
        ids.extend(program.database.contexts.iter().map(|context| context.id));
        let loads = program
            .phases
            .iter()
            .map(|phase| Load {
                phase: phase.phase,
                carriers: phase.carriers.iter().map(|&at| u32_of(at + 1)).collect(),
                traced: phase.carriers.iter().map(|&at| program.database.kept_id(at)).collect(),
                num_hot: 1,
                num_cold: 0,
                below: ids_below(&tree, &ids, u32_of(phase.root + 1)),
                above: ids_above(&tree, &ids, u32_of(phase.root + 1)),
            })
            .collect();
        let numbering = Numbering::new(&program.database.metrics, Scope::ALL.len());
        let mut model = Self {
            options: options.clone(),
            tree,
            numbering,
            laws: Laws::new(options),
            order: profile_order(options),
            ids,
            loads,
            program,
        };
        model.calibrate();
        model
    }

    /// The rank and thread of a profile (counted from 1, as in the files).
    pub(crate) fn location(&self, profile: u32) -> (u32, u32) {
        let location = self.order.apply(u64::from(profile) - 1);
        let threads = u64::from(self.options.threads_per_rank);
        ((location / threads) as u32, (location % threads) as u32)
    }

    /// The identity of a profile.
    pub(crate) fn tuple(&self, profile: u32) -> Vec<Id> {
        let (rank, thread) = self.location(profile);
        vec![
            Id::node(Planted::host_id(rank / self.options.ranks_per_node)),
            Id::logical(kind::RANK, rank),
            Id::logical(kind::THREAD, thread),
        ]
    }

    /// The number of profiles other than the summary.
    pub(crate) fn num_profiles(&self) -> u32 {
        u32_of(self.options.locations() as usize)
    }

    /// Chooses how many carriers a thread has, so that the number of values is the one asked for.
    fn calibrate(&mut self) {
        let wanted = self.options.values_per_rank as usize;
        let all: usize = self.loads.iter().map(|load| load.carriers.len()).sum();
        let mut scratch = Scratch::new(self);
        let mut measure = |model: &mut Self, points: usize| {
            for load in &mut model.loads {
                let share = points as f64 * load.carriers.len() as f64 / all as f64;
                load.num_hot = ((0.4 * share).round() as usize).clamp(1, load.carriers.len());
                load.num_cold =
                    ((0.6 * share).round() as usize).min(load.carriers.len() - load.num_hot);
            }
            let ranks = model.options.ranks.min(4);
            let count = |rank| scratch.values(model, (rank, 0), 0..u32::MAX).len();
            (0..ranks).map(count).sum::<usize>() / ranks as usize
        };
        let mut low = 1;
        let mut high = 2;
        while high < 2 * all && measure(self, high) < wanted {
            low = high;
            high *= 2;
        }
        while low + 1 < high {
            let middle = usize::midpoint(low, high);
            if measure(self, middle) <= wanted { low = middle } else { high = middle }
        }
        measure(self, low);
    }

    /// The trace of a thread: every phase begins exactly at its time.
    pub(crate) fn trace(&self, profile: u32) -> Vec<Sample> {
        let (rank, thread) = self.location(profile);
        let segments = self.laws.segments(rank, thread);
        let (Some(first), Some(last)) = (segments.first(), segments.last()) else {
            return Vec::new();
        };
        let per_nano = f64::from(self.options.trace_samples) / (last.end - first.start) as f64;
        let mut samples = Vec::new();
        for segment in &segments {
            let length = segment.end - segment.start;
            let count = ((length as f64 * per_nano).round() as u64).clamp(1, length.max(1));
            let load = &self.loads[segment.phase as usize];
            for nth in 0..count {
                let bits = hash(self.options.seed, u64::from(profile), samples.len() as u64);
                samples.push(Sample {
                    nanos: segment.start + length * nth / count,
                    context: load.traced[below(bits, load.num_hot)],
                });
            }
        }
        samples.push(Sample { nanos: last.end, context: 0 });
        samples
    }

    /// The planted answers, without the sizes of the files.
    pub(crate) fn planted(&self) -> Planted {
        let database = &self.program.database;
        let phases = self
            .program
            .phases
            .iter()
            .map(|phase| PlantedPhase {
                phase: phase.phase,
                context_id: database.contexts[phase.root].id,
                call_path: self.call_path(phase.root),
            })
            .collect();
        let segments = self.laws.segments(0, 0);
        let iterations = &segments[4..segments.len() - 1];
        let mut iteration_nanos: Vec<u64> =
            iterations.chunks(4).map(|iteration| iteration[0].start).collect();
        iteration_nanos.extend(iterations.last().map(|segment| segment.end));
        Planted {
            options: self.options.clone(),
            phases,
            slow_nodes: (self.options.slow_nodes.is_some() || self.options.congestion.is_some())
                .then(|| self.laws.slow_nodes()),
            iteration_context_id: database.contexts[self.program.time_loop].id,
            iteration_nanos,
            span_nanos: (segments[0].start, segments[segments.len() - 1].end),
            context_ids: self.ids.len() as u64,
            values: 0,
            samples: 0,
            bytes: 0,
        }
    }

    fn call_path(&self, root: usize) -> Vec<String> {
        let database = &self.program.database;
        let mut path = Vec::new();
        let mut at = Some(root);
        while let Some(position) = at {
            let context = &database.contexts[position];
            if let ContextKind::Node { lexical: LexicalType::Function, function: Some(f), .. } =
                context.kind
            {
                path.extend(database.functions[f].name.clone());
            }
            at = context.parent;
        }
        path.reverse();
        path
    }
}

/// The range of the ids of a node and of everything below it.
fn ids_below(tree: &Tree, ids: &[u32], root: u32) -> Range<u32> {
    let mut is_below = vec![false; ids.len()];
    let mut range = ids[root as usize]..ids[root as usize] + 1;
    for node in root..u32_of(ids.len()) {
        is_below[node as usize] = node == root || is_below[tree.parent(node) as usize];
        if is_below[node as usize] {
            let id = ids[node as usize];
            range = range.start.min(id)..range.end.max(id + 1);
        }
    }
    range
}

/// The ids of the nodes above a node, up to the id 0.
fn ids_above(tree: &Tree, ids: &[u32], root: u32) -> Vec<u32> {
    let mut above = Vec::new();
    let mut node = root;
    while node != 0 {
        node = tree.parent(node);
        above.push(ids[node as usize]);
    }
    above
}

/// What one core needs to make values.
pub(crate) struct Scratch {
    fold: Fold,
    picks: Vec<(u32, f64)>,
}

impl Scratch {
    pub(crate) fn new(model: &Model) -> Self {
        let fold = Fold::new(&model.tree, model.program.database.metrics.len());
        Self { fold, picks: Vec::new() }
    }

    /// The values of a thread whose context ids lie in a range, in no order.
    pub(crate) fn values(
        &mut self,
        model: &Model,
        (rank, thread): (u32, u32),
        wanted: Range<u32>,
    ) -> Vec<Value> {
        let seed = model.options.seed;
        let location =
            u64::from(rank) * u64::from(model.options.threads_per_rank) + u64::from(thread);
        let seconds = model.laws.seconds(rank, thread);
        for load in &model.loads {
            let time = seconds[load.phase as usize];
            if time == 0.0 || !load.reaches(&wanted) {
                continue;
            }
            self.picks.clear();
            let (hot, cold) = load.carriers.split_at(load.num_hot);
            for &node in hot {
                let common = unit(hash(seed, u64::from(node), u64::MAX));
                let own = unit(hash(seed, u64::from(node), location));
                self.picks.push((node, (0.1 + 10.0 * common.powi(4)) * (0.9 + 0.2 * own)));
            }
            for stratum in 0..load.num_cold {
                let start = stratum * cold.len() / load.num_cold;
                let end = (stratum + 1) * cold.len() / load.num_cold;
                let bits = hash(seed, cold[start].into(), location);
                let node = cold[start + below(bits, end - start)];
                self.picks.push((node, 0.02 * (1.0 + unit(bits.rotate_left(32)))));
            }
            let scale = time / self.picks.iter().map(|(_, weight)| weight).sum::<f64>();
            for &(node, weight) in &self.picks {
                self.fold.add(&model.tree, node, 0, weight * scale);
                let num_metrics = model.program.database.metrics.len();
                for (metric, (_, rate)) in METRICS.iter().enumerate().take(num_metrics).skip(1) {
                    let bits = hash(seed, u64::from(node), u64::MAX - metric as u64);
                    let events = weight * scale * rate * (0.5 + unit(bits));
                    if events >= 0.5 {
                        self.fold.add(&model.tree, node, metric, events.round());
                    }
                }
            }
        }
        let mut values = Vec::with_capacity(model.options.values_per_rank as usize);
        self.fold.finish(&model.tree, |node, metric, scopes| {
            let context = model.ids[node as usize];
            if wanted.contains(&context) {
                for (position, &scope) in Scope::ALL.iter().enumerate() {
                    let value = scopes.get(scope);
                    if value != 0.0 {
                        let metric = model.numbering.value_id(metric, position);
                        values.push(Value { context, metric, value });
                    }
                }
            }
        });
        values
    }
}
