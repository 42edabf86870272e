//! The views of the tree: top down, bottom up, flat, by line, and one context at every location.

use serde::Serialize;

use crate::macros::{choice, fields, question, table};
use crate::{Defined, Experiment, Family, Repeated};

fields! {
    /// Which cost to show, and over which locations.
    pub struct CostChoice {
        /// A metric expression, or a formula after `=`; null for the metric that says most about
        /// time.
        metric: Option<String>,
        /// A profile expression; null for all locations.
        profiles: Option<String>,
        /// Count time in the traces instead of a metric.
        is_trace: bool,
        /// A time window of the traces; implies `is_trace`.
        window: Option<String>,
        /// Include helper threads: those that MPI, networks or the measurement start for
        /// themselves.
        helpers: bool,
    }
}

fields! {
    /// Which costs to show where there are several metrics, and over which locations.
    pub struct CostsChoice {
        /// Metric expressions, or formulas after `=`; none for the metric that says most about
        /// time.
        metrics: Vec<String>,
        /// A profile expression; null for all locations.
        profiles: Option<String>,
        /// Count time in the traces instead of metrics.
        is_trace: bool,
        /// A time window of the traces; implies `is_trace`.
        window: Option<String>,
        /// Include helper threads: those that MPI, networks or the measurement start for
        /// themselves.
        helpers: bool,
    }
}

fields! {
    /// What to exclude from trees.
    pub struct PruneChoice {
        /// What lies below calls of MPI.
        mpi: bool,
        /// Functions of OpenMP runtimes.
        openmp: bool,
        /// Loops, lines and instructions.
        lines: bool,
        /// Contexts below this share of the total, in per cent.
        below_percent: Option<f64>,
        /// Functions whose own node is hidden; globs.
        hide: Vec<String>,
        /// Functions below which everything is hidden; globs.
        fold: Vec<String>,
        /// Functions that are hidden with everything below; globs.
        cut: Vec<String>,
    }
}

/// What the numbers of a view count.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CostReply {
    /// Name of the metric, its formula, or `trace time`.
    pub metric: String,
    /// Its unit symbol; empty for counts.
    pub unit: String,
    /// Why this metric, where the request names none.
    pub reason: Option<String>,
    /// Cost of the whole execution over the chosen locations; NaN where a formula is undefined.
    pub total: f64,
    /// Number of locations that the numbers are sums over.
    pub locations: u64,
    /// What is excluded because it ran on helper threads, in words; null where nothing is.
    pub helpers: Option<String>,
    /// Remarks.
    pub notes: Vec<String>,
}

question! {
    /// The calling context tree with several metrics side by side.
    "tree_table" of Experiment,
    request TreeTableRequest {
        /// Which costs to show. The first metric orders the rows and decides what is low cost.
        costs: CostsChoice,
        /// What to exclude.
        prune: PruneChoice,
    }
    reply CostsReply,
    tables TreeTableTables {
        /// The tree.
        rows: ContextTable,
    }
}

/// The reply of a view with several metrics.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CostsReply {
    /// What the columns count, one for each metric.
    pub costs: Vec<CostReply>,
}

table! {
    /// Contexts that are kept and in which any of the metrics was measured, parents before their
    /// children and these from the most expensive by the first metric.
    pub columns ContextTable {
        /// Levels below the top.
        depth: Vec<u32>,
        /// Row of the parent; 4294967295 at the top.
        parent: Vec<u32>,
        /// Context id in the database.
        context_id: Vec<u32>,
        /// What the row is.
        kind: Repeated,
        /// What it is called.
        name: Repeated,
        /// Where a function is defined, as file:line, and `throttled` where it was no longer timed,
        /// so that its costs are lower bounds; empty for everything else.
        place: Repeated,
        /// Path of the file in which a function is defined.
        definition_file: Repeated,
        /// Line in which a function is defined; 0 when unknown.
        definition_line: Vec<u32>,
        /// Path of the file in which a line or loop lies, or from which a function is called.
        file: Repeated,
        /// Line in `file`; 0 when unknown.
        line: Vec<u32>,
        /// Path of the executable or library.
        module: Repeated,
        /// For metric number K from 0 `inclusive:K` and `exclusive:K`: cost with everything below,
        /// and cost of its own code; null where a formula is undefined.
        costs: Family,
    }
}

question! {
    /// Functions by their exclusive cost, and their callers.
    "callers" of Experiment,
    request CallersRequest {
        /// Which cost to show.
        cost: CostChoice,
        /// What to exclude.
        prune: PruneChoice,
        /// A context expression: only the contexts that it names and what lies below them; null
        /// for everything.
        from: Option<String>,
        /// Exact name of one function; null for all.
        function: Option<String>,
        /// A glob of functions; null for all.
        matching: Option<String>,
        /// Callers in a chain at most; 0 for the functions alone, null for all.
        max_depth: Option<u32>,
        /// Rows at most, the most expensive ones; null for as many as an answer may have.
        max_rows: Option<u32>,
    }
    reply CostOnlyReply,
    tables CallersTables {
        /// The functions with their callers.
        rows: CostTreeTable,
    }
}

/// The reply of a view with one metric.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CostOnlyReply {
    /// What the numbers count.
    pub cost: CostReply,
}

table! {
    /// A tree in the order it is read; `depth` and the order carry the shape.
    pub columns CostTreeTable {
        /// Levels below the top.
        depth: Vec<u32>,
        /// Row of the parent; 4294967295 at the top.
        parent: Vec<u32>,
        /// Context id in the database.
        context_id: Vec<u32>,
        /// What the row is.
        kind: Repeated,
        /// What it is called.
        name: Repeated,
        /// Where a function is defined, and `throttled` where it was no longer timed, so that its
        /// costs are lower bounds.
        place: Repeated,
        /// The executable or library of the code.
        module: Repeated,
        /// Offset of an instruction in its module; null of other contexts.
        offset: Vec<Option<u64>>,
        /// Cost with everything below, summed over the chosen locations.
        inclusive: Vec<f64> [metric],
        /// Cost of its own code, summed over the chosen locations.
        exclusive: Vec<f64> [metric],
        /// Inclusive cost as a share of the whole execution.
        inclusive_percent: Vec<f64> ["%"],
        /// Exclusive cost as a share of the whole execution.
        exclusive_percent: Vec<f64> ["%"],
    }
}

choice! {
    /// What a flat profile groups by.
    pub enum FlatBy {
        /// Functions.
        Function = "function",
        /// Source files.
        File = "file",
        /// Executables and libraries.
        Module = "module",
        /// Loops.
        Loop = "loop",
        /// Source lines.
        Line = "line",
    }
}

question! {
    /// Contexts grouped by what they are, wherever they are called from.
    "flat" of Experiment,
    request FlatRequest {
        /// Which cost to show.
        cost: CostChoice,
        /// What to exclude.
        prune: PruneChoice,
        /// A context expression: only the contexts that it names and what lies below them; null
        /// for everything.
        from: Option<String>,
        /// What to group by.
        by: FlatBy,
    }
    reply CostOnlyReply,
    tables FlatTables {
        /// The groups.
        rows: FlatTable,
    }
}

table! {
    /// Groups, from the highest exclusive cost.
    pub struct FlatTableRow => FlatTable {
        /// What the group is called.
        name: String,
        /// Where it is; for functions also `throttled` where they were no longer timed, so that
        /// their costs are lower bounds.
        place: String,
        /// Cost of its own code, summed over the chosen locations.
        exclusive: f64 [metric],
        /// Cost with everything below; of nested contexts of a group only the outermost.
        inclusive: f64 [metric],
        /// Exclusive cost as a share of the whole execution.
        exclusive_percent: f64 ["%"],
        /// Inclusive cost as a share of the whole execution.
        inclusive_percent: f64 ["%"],
        /// Number of contexts in the group.
        contexts: u32,
    }
}

choice! {
    /// What is compared.
    pub enum BalanceBy {
        /// Single profiles: threads and GPU streams.
        Profile = "profile",
        /// Ranks: their threads added up.
        Rank = "rank",
        /// Nodes: their ranks added up.
        Node = "node",
    }
}

question! {
    /// One context's cost at every location, rank or node.
    ///
    /// Zeros are not stored: members without a value do not take part and are counted in a note,
    /// unless all are asked for. Then those that ran below the same entry count with 0; others, such
    /// as helper threads, are omitted.
    "distribution" of Experiment,
    request DistributionRequest {
        /// Context id in the database; 0 is the whole execution.
        context_id: u32,
        /// A metric expression, or a formula after `=`, which is evaluated for each member; null
        /// for the metric that says most about time.
        metric: Option<String>,
        /// A profile expression; null for all locations.
        profiles: Option<String>,
        /// Cost of the context itself, without what lies below.
        is_exclusive: bool,
        /// What is compared.
        by: BalanceBy,
        /// Members that ran, but have no value here, count with 0. With a formula they always do.
        all_locations: bool,
        /// Bins of the histogram; null for as many as the values suggest.
        bins: Option<u32>,
    }
    reply DistributionReply,
    tables DistributionTables {
        /// The members that count, in their order.
        rows: MemberTable,
    }
}

/// The reply to `distribution`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DistributionReply {
    /// What the context is called.
    pub context: String,
    /// Name of the metric, or the formula.
    pub metric: String,
    /// Its unit symbol.
    pub unit: String,
    /// Why this metric, where the request names none.
    pub reason: Option<String>,
    /// What members are called, in the singular: `location`, `rank`, `node`.
    pub member: &'static str,
    /// How the cost is spread; null when no member has a value.
    pub statistics: Option<StatisticsReply>,
    /// The histogram; null when no member has a value.
    pub histogram: Option<HistogramReply>,
    /// Members that ran, but have no value here: not among the rows.
    pub absent: u64,
    /// Remarks.
    pub notes: Vec<String>,
}

/// How a cost is spread over members: locations, ranks or nodes.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StatisticsReply {
    /// Members that count.
    pub members: u64,
    /// Of these, members that spent something.
    pub values: u64,
    /// Sum over all members.
    pub sum: f64,
    /// Smallest value.
    pub min: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Middle value.
    pub median: f64,
    /// 95th percentile.
    pub p95: f64,
    /// Largest value.
    pub max: f64,
    /// Sample standard deviation; null for a single member.
    pub std_dev: Option<f64>,
    /// Coefficient of variation: standard deviation over mean.
    pub variation: Option<f64>,
    /// Balance ratio: mean over maximum; 1 is balanced.
    pub balance_ratio: Option<f64>,
    /// Potential saving: maximum minus mean.
    pub saving: f64,
}

/// Number of values in bins of one width.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HistogramReply {
    /// Where the first bin begins.
    pub start: f64,
    /// Width of a bin; 0 when all values are equal.
    pub width: f64,
    /// Number of values in each bin.
    pub counts: Vec<u64>,
}

table! {
    /// Members with the cost of the context.
    pub columns MemberTable {
        /// Profile number in the database; of a rank or node, of its first location.
        location: Vec<u32>,
        /// What it is called.
        label: Vec<String>,
        /// One column for each kind of identity that members have in common.
        identities: Family,
        /// Cost of the context there; null where a formula is undefined.
        value: Defined [metric],
    }
}

question! {
    /// Source files whose text came with the experiment.
    "source_files" of Experiment,
    request SourceFilesRequest {}
    reply SourceFilesReply,
}

/// The reply to `source_files`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SourceFilesReply {
    /// The files, sorted by path.
    pub files: Vec<SourceFileReply>,
}

/// A source file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SourceFileReply {
    /// Path, as contexts name it.
    pub path: String,
    /// Length of its text, in bytes.
    pub bytes: u64,
}

question! {
    /// A source file with the costs of its lines.
    "source" of Experiment,
    request SourceRequest {
        /// Path, as contexts name it, or the end of one that no other file has.
        path: String [required],
        /// Which costs to show.
        costs: CostsChoice,
        /// Contexts of each line that are listed at most.
        contexts_per_line: u32 = 100,
    }
    reply SourceReply,
    tables SourceTables {
        /// The lines with a cost.
        lines: SourceLineTable,
        /// The contexts of each line.
        contexts: LineContextTable,
    }
}

/// The reply to `source`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SourceReply {
    /// Path, as contexts name it.
    pub path: String,
    /// The text; null when the experiment did not bring it along.
    pub text: Option<String>,
    /// Where in the folder of the database the text lies, or is missing.
    pub text_path: String,
    /// What the columns count, one for each metric.
    pub costs: Vec<CostReply>,
    /// Remarks.
    pub notes: Vec<String>,
}

table! {
    /// Lines with a cost, ascending.
    pub columns SourceLineTable {
        /// Line in the file; 0 where only the file is known.
        line: Vec<u32>,
        /// Number of contexts in the line.
        contexts: Vec<u32>,
        /// For metric number K from 0 `inclusive:K` and `exclusive:K`: cost of the line with the
        /// calls made there, of nested activations only the outermost, and cost of its own code;
        /// null where a formula is undefined.
        costs: Family,
    }
}

table! {
    /// Contexts of lines, from the most expensive by the first metric.
    pub columns LineContextTable {
        /// Line in the file.
        line: Vec<u32>,
        /// Context id in the database.
        context_id: Vec<u32>,
    }
}
