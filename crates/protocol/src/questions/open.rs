//! What can be opened, opening it, and how several runs become one ensemble.

use serde::{Deserialize, Serialize};

use super::OverLocations;
use crate::macros::{choice, fields, question};
use crate::{Engine, ErrorReply};

question! {
    /// Version of the engine, and what can be opened without being sent.
    "hello" of Engine,
    request HelloRequest {}
    reply HelloReply,
}

/// The reply to `hello`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HelloReply {
    /// Version of Parallax.
    pub version: String,
    /// Version of the protocol.
    pub protocol: u32,
    /// What can be opened.
    pub roots: Vec<RootReply>,
    /// Whether files of the roots may still be written, and are to be opened again when they are.
    pub follow: bool,
    /// Whether statements in SQL can be asked.
    pub sql: bool,
}

question! {
    /// Whether the files of a root have changed since it was opened.
    "fingerprint" of Engine,
    request FingerprintRequest {
        /// The key of the root.
        root: String,
    }
    reply FingerprintReply,
}

/// The reply to `fingerprint`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FingerprintReply {
    /// Another one when a file of the root was written, replaced, added or removed.
    pub fingerprint: String,
    /// Whether its files are still written.
    pub writing: Writing,
}

choice! {
    /// Whether the files of a root are still written.
    pub enum Writing {
        /// Nothing is known about it.
        Unknown = "unknown",
        /// There will be more.
        Growing = "growing",
        /// Whoever wrote them has ended before they were complete.
        Abandoned = "abandoned",
        /// They are complete.
        Complete = "complete",
    }
}

/// A file or folder that can be opened.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RootReply {
    /// How `open` names it.
    pub key: String,
    /// Its display name.
    pub name: String,
    /// Number of files; 0 where they cannot be listed.
    pub files: u64,
    /// Length of all of them together, in bytes.
    pub bytes: u64,
    /// Why it cannot be listed; null where it can.
    pub error: Option<String>,
}

choice! {
    /// Which contexts of databases become regions of an ensemble.
    pub enum RegionDetail {
        /// Functions and loops.
        Loops = "loops",
        /// Functions.
        Functions = "functions",
        /// Functions, loops and lines.
        Lines = "lines",
    }
}

choice! {
    /// How the entries of a region become one time, in files that have each of them.
    pub enum RegionEntries {
        /// The time during which any thread was inside.
        Union = "union",
        /// The sum over entries: thread-seconds.
        Sum = "sum",
        /// From the first start to the last stop.
        Span = "span",
        /// The largest sum of one thread.
        ThreadMax = "thread-max",
    }
}

fields! {
    /// How experiments or files of measurements become one ensemble.
    pub struct EnsembleChoice {
        /// Where parameters come from: `cores=ranks`, `input=path:n(\d+)`.
        parameters: Vec<String>,
        /// What counts as time; null for elapsed time where it is known.
        metric: Option<String>,
        /// Which locations count; null for the first thread of each rank.
        profiles: Option<String>,
        /// How locations become one value; null for the largest.
        over: Option<OverLocations>,
        /// Which contexts become regions.
        detail: RegionDetail,
        /// Regions for what system and MPI libraries call inside, too.
        library_frames: bool,
        /// How the entries of a region become one time.
        region_time: RegionEntries,
    }
}

question! {
    /// Opens everything that a root holds.
    "open" of Engine,
    request OpenRequest {
        /// Key of the root.
        root: String [required],
        /// How files or databases become one ensemble, where there are several.
        ensemble: EnsembleChoice,
    }
    reply OpenReply,
}

/// The reply to `open` and `combine`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OpenReply {
    /// The items, those that say most first: an ensemble before its members.
    pub items: Vec<ItemReply>,
    /// Notes and warnings.
    pub notes: Vec<String>,
    /// What could not be opened, one each.
    pub errors: Vec<ErrorReply>,
    /// Files and experiments that are excluded, and why.
    pub excluded: Vec<ExcludedReply>,
}

choice! {
    /// What an item is.
    pub enum ItemKind {
        /// One execution.
        Experiment = "experiment",
        /// Several executions under different parameters.
        Ensemble = "ensemble",
    }
}

/// Something that is open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ItemReply {
    /// How other requests name it.
    pub item: String,
    /// What it is.
    pub kind: ItemKind,
    /// Name of the program.
    pub title: String,
    /// Where it is from: the path as it was given.
    pub name: String,
    /// The format it was read from.
    pub format: String,
    /// Length of its files together, in bytes.
    pub size_bytes: u64,
    /// Kinds of issue met while opening.
    pub issues: u64,
    /// Items that an ensemble was made of.
    pub members: Vec<String>,
    /// Whether it has a trace, so that there is a timeline.
    pub has_trace: bool,
    /// Whether its trace has calls; otherwise it has samples.
    pub has_calls: bool,
    /// Whether its trace says what calls communicate, so that waits can be looked for.
    pub has_waits: bool,
    /// Whether its calls were chosen by a detector of anomalies: views that conclude something from
    /// all calls have nothing to show then.
    pub has_chosen_calls: bool,
    /// Number of the components of a workflow; 0 where there is one application.
    pub components: u64,
    /// Whether it has every call instance, with what it reads and writes.
    pub has_activations: bool,
    /// Whether it has user events.
    pub has_user_events: bool,
    /// Whether instructions of GPUs were sampled.
    pub has_gpu_stalls: bool,
    /// Whether tracks are linked by messages, flows or transfers.
    pub has_links: bool,
    /// Whether it has metrics whose values change over time.
    pub has_counters: bool,
    /// Whether GPUs executed a part of it.
    pub has_gpus: bool,
    /// Locations with values or a trace; 0 of an ensemble.
    pub locations: u64,
    /// Nodes that these are on; 0 where unknown.
    pub nodes: u64,
}

/// A file or experiment that is excluded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ExcludedReply {
    /// Its path.
    pub path: String,
    /// Why, as a clause that goes on from the path.
    pub reason: String,
}

question! {
    /// Makes one ensemble of several experiments or files of measurements that are open.
    "combine" of Engine,
    request CombineRequest {
        /// Keys of experiments, or of ensembles that are files of measurements.
        items: Vec<String> [required],
        /// How they become one ensemble.
        ensemble: EnsembleChoice,
    }
    reply OpenReply,
}

question! {
    /// Closes an item.
    "close" of Engine,
    request CloseRequest {
        /// Key of the item.
        item: String [required],
    }
    reply CloseReply,
}

/// The reply to `close`: it is closed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CloseReply {}
