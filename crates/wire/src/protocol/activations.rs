//! Questions about single calls, executions of loops, iterations, and what they read and write.
//!
//! Entities are asked for by kind and number, one question for many of them, so that a client can
//! put together what several views want at the same time.

use parallax_service::{EntityKind, Relation};
use serde::{Deserialize, Serialize};

/// What an entity is. Its number is a row of the experiment: the same as long as the bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum EntityKindAsk {
    /// A call, an execution of a loop, or an iteration; numbered in depth-first order.
    Activation,
    /// All calls of one function by one call, in its loops or not; its number is that of the first.
    Group,
    /// A variable or an allocation.
    Reference,
    /// A thread.
    Thread,
    /// A function.
    Function,
    /// A source file.
    File,
    /// A stretch of a thread that somebody marked with a name.
    Tag,
}

/// What is asked for about entities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RelationAsk {
    /// Of an activation: the call, execution or iteration around it. Activations.
    Parent,
    /// Of an activation or group: the call around it. Activations.
    Caller,
    /// Of an activation: all around it, innermost first. Activations.
    Ancestors,
    /// Of an activation: directly inside it, by time. Activations.
    Children,
    /// Of an activation: calls that it makes, in its loops or not; of a group: its calls; of a
    /// thread: its entry calls; of a function: its calls. Activations, by time.
    Calls,
    /// Of a call: the calls that it makes, by function; of a group: those of each of its calls.
    /// Groups; loops and iterations have none, for they make only some of the calls of one.
    Groups,
    /// Of a call or iteration: loops directly in it; of a group: those of all its calls.
    /// Activations.
    Executions,
    /// Of an execution of a loop: its iterations. Activations.
    Iterations,
    /// Of an activation: everything below it, in depth-first order. Activations.
    Within,
    /// What the code of an activation or group reads and writes, in its loops too, but not what it
    /// calls. References, with `reads` and `writes` of the entity.
    References,
    /// The same with everything below. References.
    ReferencesWithin,
    /// Of a reference: who reads and writes it. Activations, with `reads` and `writes`.
    Touchers,
    /// Of an activation: its thread; of a thread: those that it started. Threads.
    Threads,
    /// Of an activation or group: its function; of a file: those in it. Functions.
    Functions,
    /// Of a thread: what is marked in it. Tags.
    Tags,
}

/// Entities by their numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct EntitiesAsk {
    /// An experiment with activations.
    pub item: String,
    /// What they are.
    pub kind: EntityKindAsk,
    /// Which ones; null for all.
    #[serde(default)]
    pub ids: Option<Vec<u32>>,
    /// Rows at most; null for as many as an answer has at most.
    #[serde(default)]
    pub limit: Option<u32>,
}

/// What belongs to entities.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RelatedAsk {
    /// An experiment with activations.
    pub item: String,
    /// What they are.
    pub kind: EntityKindAsk,
    /// Which ones.
    pub ids: Vec<u32>,
    /// What is asked for about each of them.
    pub relation: RelationAsk,
    /// Of `within`, `calls` and `children`: only what takes longer than this; null for all. It is
    /// compared strictly, as Parceive does.
    #[serde(default)]
    pub longer_than_ns: Option<u64>,
    /// Rows at most; null for as many as an answer has at most.
    #[serde(default)]
    pub limit: Option<u32>,
}

/// Variables and allocations that all of several entities read or write; table `rows`, as of
/// references, with `reads` and `writes` of all of them together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SharedAsk {
    /// An experiment with activations.
    pub item: String,
    /// Activations.
    #[serde(default)]
    pub activations: Vec<u32>,
    /// Groups.
    #[serde(default)]
    pub groups: Vec<u32>,
    /// Whether what is below them counts, too.
    #[serde(default)]
    pub is_inclusive: bool,
}

/// Entities; table `rows`. Of related ones, `of` comes first: the number of the entity that the row
/// belongs to; rows are in the order of the question.
///
/// - activations and groups: `activation` (of a group its first call), `kind` (`call`, `loop`,
///   `iteration`, `group`), `name`, `context_id`, `function` (number, of a loop or iteration that
///   of its function), `parent`, `caller` (activations; null for entry calls), `thread`, `depth`
///   (0 for entry calls), `start_ns` (since the run's first), `end_ns` (of a group that of its
///   last call), `length_ns` (of a group: of all its calls together), `count` (calls of a group,
///   else 1), `number` (of an iteration), `line` (of the call; null when unknown), `children`
///   (directly inside), `groups` (functions that a call or iteration calls, in its loops or not),
///   `executions` (of loops directly inside), `iterations` (of an execution), `is_in_loop`,
///   `is_estimated` (its times), `touched` (references that it reads or writes itself, in loops
///   too), `is_touching_within` (whether it or anything below does), `source_id`. Related to
///   references they have `reads` and `writes`, `read_line` and `write_line` (null when unknown).
/// - references: `reference`, `name`, `storage`, `size_bytes` (null when unknown), `reads`, `writes`
///   (of the whole run, or of the entity), `allocated_by`, `freed_by` (activations; null for
///   variables), `allocated_line`, `freed_line` (null when unknown), `source_id`. Related to
///   activations they have `read_line`, `write_line`.
/// - threads: `thread`, `name`, `entry` (activation), `creator` (thread), `created_by` (activation),
///   `created_line`, `start_ns`, `length_ns`, `calls`, `source_id`; null where there is none.
/// - functions: `function`, `name`, `file` (number), `path`, `line` (of the definition), `calls`,
///   `time_ns` (recursive calls count once).
/// - files: `file`, `path`, `functions`.
/// - tags: `tag`, `name`, `what`, `thread`, `start_ns`, `length_ns`, `counter`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct EntitiesReply {
    /// Rows that the limit left out.
    pub left_out: u64,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// Lanes of calls over time, one for each entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LanesAsk {
    /// An experiment with activations.
    pub item: String,
    /// The call that each lane begins with: entry calls of threads, or what somebody zoomed into.
    pub tops: Vec<u32>,
    /// Calls of one function by the same calls put together (profiling), rather than one by one in
    /// order of time (tracing).
    #[serde(default)]
    pub is_merged: bool,
    /// What takes less than this share of its lane's top is left out with all below it, in per
    /// cent.
    #[serde(default)]
    pub below_percent: f64,
    /// Whether executions of loops come as rows, too, which is of use where calls are not merged.
    #[serde(default)]
    pub loops: bool,
}

/// Lanes; table `rows`, in depth-first order, lane after lane: `lane` (place in `tops`),
/// `activation` (of merged calls the first), `kind` (`call`, `loop`), `name`, `context_id`, `level`
/// (0 for the top; loops are on the level of the call that they are in), `start_ns` (of calls one
/// by one since the run's first; of merged ones since the beginning of the lane, siblings longest
/// first), `length_ns`, `count` (calls put together), `iterations` (of an execution).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LanesReply {
    /// Calls that are left out because they are short, without those below them, by lane.
    pub left_out: Vec<u64>,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// What happens on the lines of a source file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LinesAsk {
    /// An experiment with activations.
    pub item: String,
    /// The file, as the experiment names it.
    pub path: String,
}

/// What happens on lines; table `rows`, by line: `line`, `what` (`definition` of a function, `call`,
/// `loop`, `read`, `write`, `allocation`, `release`), `name` (of the function or reference), `times`
/// (how many calls, executions, or activations that read or write), `context_id` (where first),
/// `reference` (null but for reads, writes, allocations and releases).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LinesReply {
    /// What a person should know.
    pub notes: Vec<String>,
}

impl From<EntityKindAsk> for EntityKind {
    fn from(ask: EntityKindAsk) -> Self {
        match ask {
            EntityKindAsk::Activation => Self::Activation,
            EntityKindAsk::Group => Self::Group,
            EntityKindAsk::Reference => Self::Reference,
            EntityKindAsk::Thread => Self::Thread,
            EntityKindAsk::Function => Self::Function,
            EntityKindAsk::File => Self::File,
            EntityKindAsk::Tag => Self::Tag,
        }
    }
}

impl From<RelationAsk> for Relation {
    fn from(ask: RelationAsk) -> Self {
        match ask {
            RelationAsk::Parent => Self::Parent,
            RelationAsk::Caller => Self::Caller,
            RelationAsk::Ancestors => Self::Ancestors,
            RelationAsk::Children => Self::Children,
            RelationAsk::Calls => Self::Calls,
            RelationAsk::Groups => Self::Groups,
            RelationAsk::Executions => Self::Executions,
            RelationAsk::Iterations => Self::Iterations,
            RelationAsk::Within => Self::Within,
            RelationAsk::References => Self::References,
            RelationAsk::ReferencesWithin => Self::ReferencesWithin,
            RelationAsk::Touchers => Self::Touchers,
            RelationAsk::Threads => Self::Threads,
            RelationAsk::Functions => Self::Functions,
            RelationAsk::Tags => Self::Tags,
        }
    }
}
