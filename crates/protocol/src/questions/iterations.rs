//! Iterations: repeated phases of traces, and their load imbalance.

use serde::Serialize;

use super::TracePart;
use crate::Experiment;
use crate::macros::{choice, one_of, question, table};

choice! {
    /// Which times by location and iteration an answer has.
    pub enum IterationCells {
        /// One number for each location and iteration: the time of one context, or of all that
        /// computes.
        Map = "map",
        /// The time of each context on each location in each iteration.
        All = "all",
        /// The calling context tree of each iteration: times of each context over locations.
        Tree = "tree",
        /// None.
        None = "none",
    }
}

question! {
    /// Repeated phases of a trace, their load imbalance, and the potential saving.
    "iterations" of Experiment,
    request IterationsRequest {
        ..part: TracePart,
        /// A context expression: iterations begin where one of these is entered; null to find
        /// them.
        marker: Option<String>,
        /// A context expression: only these, with what they call, count; null for all.
        contexts: Option<String>,
        /// Only these iterations count, such as `3` or `3-7`, counted from 0; null for all.
        chosen: Option<String>,
        /// What the table `cells` has.
        cells: IterationCells,
        /// Of a map: id of the context whose times it has; null for all that computes.
        context: Option<u32>,
    }
    reply IterationsReply,
    tables IterationsTables {
        /// By context.
        contexts: IterationContextTable,
        /// By location.
        locations: IterationLocationTable,
        /// By iteration.
        iterations: IterationTable,
        /// By location and iteration.
        cells: IterationCellTable,
    }
}

/// The reply to `iterations`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct IterationsReply {
    /// What was found; null when there are no regular iterations.
    pub found: Option<IterationsFoundReply>,
    /// By kind of location why, or why not.
    pub groups: Vec<IterationsGroupReply>,
    /// Iterations that take far longer than all others and do not count in statistics, the longest
    /// first.
    pub stalls: Vec<StallReply>,
    /// Remarks.
    pub notes: Vec<String>,
}

/// An iteration that takes far longer than all others.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StallReply {
    /// Counted from 0.
    pub iteration: u64,
    /// When the first location begins it, after the start of the trace.
    pub start_s: f64,
    /// How long it takes, mean over locations.
    pub length_s: f64,
    /// The median length of the others.
    pub usual_s: f64,
    /// The location where most of the time is spent that others do not take; null where that is
    /// unknown.
    pub location: Option<String>,
    /// Id of the context where it is spent.
    pub context_id: Option<u32>,
    /// Time of that location in that context.
    pub time_s: Option<f64>,
    /// How many locations wait or communicate for most of it.
    pub waiting: u64,
    /// The same in a sentence.
    pub text: String,
}

/// Why something is taken for iterations.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RepetitionReply {
    /// The context with which iterations begin.
    pub marker: String,
    /// Its call path.
    pub path: String,
    /// Its id.
    pub context_id: u32,
    /// How many.
    pub count: u64,
    /// Median distance of two begins.
    pub period_s: f64,
    /// Share of the distances within a factor of 1.5 of the median.
    pub regular_percent: f64,
    /// Share of the time of the locations that regular iterations cover.
    pub coverage_percent: f64,
    /// Share of the locations that show as many; where all locations together show them, the share
    /// that one location shows.
    pub agreement_percent: f64,
    /// Whether all locations together show them.
    pub is_pooled: bool,
    /// Whether they were counted by the synchronisations that all locations pass together.
    pub is_in_step: bool,
    /// Whether the number may be off.
    pub is_estimate: bool,
    /// Share of that time in contexts that repeat as often.
    pub explained_percent: f64,
    /// How many contexts do.
    pub contexts: u64,
    /// How likely anything in a program without iterations looks as regular.
    pub chance: f64,
    /// Whether only the order of contexts speaks for it, and distances differ: then
    /// `regular_percent` is the share of iterations that are alike in order, and `coverage_percent`
    /// the time of all iterations.
    pub is_order: bool,
}

/// How the locations of one kind repeat.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct IterationsGroupReply {
    /// `GPU streams`, `GPUs` where some have several streams, `main threads` or `other threads`.
    pub group: String,
    /// How many of them are active.
    pub locations: u64,
    /// The best way; null when they do not repeat regularly.
    pub best: Option<RepetitionReply>,
    /// Other ways, best first.
    pub others: Vec<RepetitionReply>,
    /// Why there is none.
    pub why_not: Option<String>,
}

/// The iterations that were found.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct IterationsFoundReply {
    /// Which locations: `GPU streams`, `GPUs` where some have several streams, `main threads` or
    /// `other threads`.
    pub group: String,
    /// What iterations begin with.
    pub marker: String,
    /// Whether the request named it.
    pub is_named: bool,
    /// By what the program marks iterations itself, such as `ProfilerStep of PyTorch`; null where
    /// they were found otherwise.
    pub marked_by: Option<String>,
    /// Names of the locations; a map has their places in this list.
    pub locations: Vec<String>,
    /// Their tracks, as rows of the table `tracks` of `timeline`; of a GPU with several streams the
    /// first one.
    pub tracks: Vec<u32>,
    /// How many more of this kind do not have these iterations.
    pub left_out: u64,
    /// How many iterations.
    pub count: u64,
    /// How many count in statistics.
    pub whole: u64,
    /// How many at the beginning do not, because they are much longer or shorter.
    pub warm_up: u64,
    /// How many at the end do not, because most of them is missing.
    pub partial: u64,
    /// How many do not, because they take far longer than all others.
    pub extraordinary: u64,
    /// Median length.
    pub period_s: f64,
    /// From the first begin, after the start of the trace.
    pub from_s: f64,
    /// To the last end.
    pub to_s: f64,
    /// That time as a share of what was analysed.
    pub span_percent: f64,
    /// The time that potential savings are a share of.
    pub window_s: f64,
    /// Whether iterations begin at about the same time everywhere.
    pub is_aligned: bool,
    /// Share of the begins that were not seen and taken from the neighbours.
    pub guessed_percent: f64,
    /// How far samples are apart; null where times are exact.
    pub interval_s: Option<f64>,
    /// How alike iterations are.
    pub similarity_percent: f64,
    /// Time in iterations that count in which locations do not compute, mean over locations: no
    /// balance saves more.
    pub waited_s: f64,
    /// Potential saving from balancing each context that computes on its own.
    pub saving_s: f64,
    /// Potential saving from balancing the total computing of each location.
    pub joint_saving_s: f64,
    /// Potential saving from static imbalance.
    pub lasting_saving_s: f64,
    /// Contexts whose imbalance may be noise of sampling; they are not in `saving_s`.
    pub unresolved: u64,
}

table! {
    /// Contexts, with the potential saving from balancing them.
    pub struct IterationContextRow => IterationContextTable {
        /// The function. What a program numbers is one: `Step[*]` is all of `Step[0]`, `Step[1]`,
        /// and so is what they call.
        context: String,
        /// `computing`, `communicating` (in MPI) or `waiting`.
        does: &'static str => "Activity",
        /// Share of the active time of locations in iterations.
        share_percent: f64 ["%"],
        /// Mean over locations, per iteration.
        mean_s: f64 ["s"],
        /// Maximum over locations, mean over iterations.
        max_s: f64 ["s"] => "Largest",
        /// Mean / maximum over locations, over all iterations; 1 is balanced.
        balance_ratio: f64,
        /// Coefficient of variation across locations.
        across_percent: Option<f64> ["%"],
        /// Coefficient of variation within one location over iterations, on average.
        within_percent: Option<f64> ["%"],
        /// Maximum minus mean: the potential saving per iteration.
        saving_s: f64 ["s"],
        /// Maximum minus mean over all iterations, `waited_s` at most; where that may be noise of
        /// sampling the static part, where it is more than noise. Null for waiting and
        /// communication, and where nothing can be said.
        total_saving_s: Option<f64> ["s"] => "Potential saving",
        /// Potential saving from static imbalance: the same in all iterations.
        lasting_saving_s: f64 ["s"] => "Static",
        /// `no` when samples are too far apart to judge single iterations.
        resolved: &'static str,
        /// The location with the largest mean.
        slowest: String,
        /// From the outermost caller.
        call_path: String,
        /// Id in the database; of numbered phases that of the first one.
        context_id: u32,
    }
}

table! {
    /// Locations: how long they compute and wait in an iteration.
    pub struct IterationLocationRow => IterationLocationTable {
        /// The location.
        location: String,
        /// Mean length of an iteration.
        length_s: f64 ["s"],
        /// Mean time of computing in an iteration.
        computing_s: f64 ["s"],
        /// Mean time in MPI, excluding wait time.
        communicating_s: f64 ["s"],
        /// Mean wait time.
        waiting_s: f64 ["s"],
        /// Coefficient of variation of computing over iterations.
        variation_percent: Option<f64> ["%"],
        /// Number of iterations in which this location computes longest.
        slowest_in: u64,
    }
}

table! {
    /// Iterations in order of time.
    pub struct IterationRow => IterationTable {
        /// Counted from 0.
        iteration: u64,
        /// Only `whole` iterations count in statistics.
        state: &'static str,
        /// When the first location begins it, after the start of the trace.
        start_s: f64 ["s"],
        /// Mean over locations.
        length_s: f64 ["s"],
        /// Computing: mean over locations.
        mean_s: f64 ["s"],
        /// Computing: the largest of the locations.
        max_s: f64 ["s"] => "Largest",
        /// Mean / maximum of computing; 1 is balanced.
        balance_ratio: Option<f64>,
        /// Maximum minus mean of computing, as a share of the maximum.
        imbalance_percent: Option<f64> ["%"],
        /// Potential saving from balancing each context that computes on its own.
        saving_s: f64 ["s"],
        /// Mean wait time.
        waiting_s: f64 ["s"],
        /// The location that computes longest.
        slowest: String,
    }
}

one_of! {
    /// Times by location and iteration.
    pub enum IterationCellTable {
        "a map" => Map(IterationMapTable),
        "all contexts" => All(IterationContextCellTable),
        "calling context trees" => Tree(IterationTreeTable),
    }
}

table! {
    /// One number for each location and iteration.
    pub columns IterationMapTable {
        /// Its place among the locations.
        location: Vec<u32>,
        /// Counted from 0.
        iteration: Vec<u32>,
        /// Time.
        time_s: Vec<f64> ["s"],
        /// Time - mean over the locations in that iteration.
        difference_s: Vec<f64> ["s"],
    }
}

table! {
    /// The time of each context on each location in each iteration.
    pub struct IterationContextCell => IterationContextCellTable {
        /// Counted from 0.
        iteration: u32,
        /// The location.
        location: String,
        /// What. Numbered phases are one, as in the table of contexts.
        context: String,
        /// Id in the database; of numbered phases that of the first one.
        context_id: u32,
        /// Time in it without what it calls; of MPI with what lies below.
        time_s: f64 ["s"],
    }
}

table! {
    /// The calling context tree of each iteration: by iteration, and callers before what they call.
    /// Times are over all locations of the iterations; one that is never in a context has 0 there.
    pub struct IterationTreeRow => IterationTreeTable {
        /// Counted from 0.
        iteration: u32,
        /// What. Numbered phases are one, as in the table of contexts.
        context: String,
        /// Number of functions above it.
        depth: u32,
        /// Number of locations that are in it, or in what it calls.
        locations: u32,
        /// Mean time with what it calls.
        inclusive_s: f64 ["s"],
        /// The shortest.
        inclusive_min_s: f64 ["s"],
        /// The longest.
        inclusive_max_s: f64 ["s"],
        /// Standard deviation of the population.
        inclusive_deviation_s: f64 ["s"],
        /// Mean time without what it calls; of MPI with what lies below.
        exclusive_s: f64 ["s"],
        /// The shortest.
        exclusive_min_s: f64 ["s"],
        /// The longest.
        exclusive_max_s: f64 ["s"],
        /// Standard deviation of the population.
        exclusive_deviation_s: f64 ["s"],
        /// Id in the database; of numbered phases that of the first one.
        context_id: u32,
        /// Id of the context that calls it; null for the roots.
        parent_id: Option<u32>,
    }
}
