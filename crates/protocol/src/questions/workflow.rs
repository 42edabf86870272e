//! The programs of a workflow and what goes from one to the other.

use super::TracePart;
use crate::Experiment;
use crate::macros::{choice, question, table};

choice! {
    /// By what data goes from one component to another.
    pub enum ExchangeBy {
        /// Messages between ranks.
        Message = "message",
        /// A file that one writes and the other reads.
        File = "file",
        /// A stream or file of ADIOS.
        Adios = "ADIOS",
        /// The description of the workflow says that one takes data from the other, and nothing
        /// about how.
        Dependency = "dependency",
    }
}

choice! {
    /// What an exchange is known by.
    pub enum ExchangeEvidence {
        /// It was recorded: messages, reads and writes.
        Recorded = "recorded",
        /// The description of the workflow names it.
        Described = "described",
    }
}

question! {
    /// The components of a workflow, and what goes from one to the other: by messages, files and
    /// streams of ADIOS; see [traces.md](traces.md#workflow-components-and-what-goes-between-them).
    "workflow" of Experiment,
    request WorkflowGraphRequest {
        ..part: TracePart,
        /// Parts of equal length into which the time of the window is divided for the table
        /// `over_time`; 0 for none.
        bins: u32,
    }
    reply WorkflowGraphReply,
    tables WorkflowGraphTables {
        /// The components.
        components: WorkflowComponentTable,
        /// What goes from one component to another, or inside of one.
        exchanges: ExchangeTable,
        /// When it was.
        over_time: ExchangeBinTable,
    }
}

/// The reply to `workflow`.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct WorkflowGraphReply {
    /// Name of the workflow.
    pub title: String,
    /// Start of the window, in nanoseconds since the first record; null without a trace.
    pub start_ns: Option<f64>,
    /// Its end, likewise.
    pub end_ns: Option<f64>,
    /// Length of a part of `over_time`, in nanoseconds; null without them.
    pub bin_ns: Option<f64>,
    /// Remarks.
    pub notes: Vec<String>,
}

table! {
    /// The components of a workflow, by number; one row where there is one application.
    pub struct WorkflowComponentRow => WorkflowComponentTable {
        /// Name.
        component: String,
        /// Its number, as `application(NUMBER)` chooses it; null where there is one application.
        application: Option<u64>,
        /// How many ranks it has.
        ranks: u64,
        /// How many locations it has.
        locations: u64,
        /// When it began, since the first record; null where that is not known.
        start_ns: Option<f64> ["ns"],
        /// When it ended, likewise.
        end_ns: Option<f64> ["ns"],
        /// Share of the time of its locations in which they compute: are in no routine of MPI and
        /// do not wait; null where no time was measured.
        busy_percent: Option<f64> ["%"] => "Busy",
        /// Names of its hosts, the first ones; null where they are not known.
        hosts: Option<String>,
        /// Command line, else executable; null where that is not known.
        command: Option<String>,
        /// The components that it takes data from, as the workflow describes it.
        depends_on: String,
    }
}

table! {
    /// What goes from one component to another, or inside of one, by what it goes through: in the
    /// order of the senders, the receivers and most bytes first.
    pub struct ExchangeRow => ExchangeTable {
        /// The component that sends or writes.
        from: String,
        /// The component that receives or reads.
        to: String,
        /// Row of the sender in the table of components; null where it is not in the trace.
        from_row: Option<u32>,
        /// Row of the receiver, likewise.
        to_row: Option<u32>,
        /// By what.
        by: &'static str,
        /// Name of the file or stream; null for messages.
        name: Option<String>,
        /// How many messages or reads; null where that was not recorded.
        count: Option<u64>,
        /// Their sizes together; null where that was not recorded. Of a stream of ADIOS that is
        /// known from a description only, what its writer wrote by ADIOS.
        bytes: Option<u64> ["B"],
        /// How many locations of the sender take part; null where that was not recorded.
        senders: Option<u64>,
        /// How many locations of the receiver, likewise.
        receivers: Option<u64>,
        /// The first time something was sent or written, since the first record; null where that
        /// was not recorded.
        first_ns: Option<f64> ["ns"],
        /// The last time something was received or read, likewise.
        last_ns: Option<f64> ["ns"],
        /// What it is known by.
        evidence: &'static str,
    }
}

table! {
    /// Messages and reads by the time of their arrival, in order of exchange and time; parts
    /// without any are omitted.
    pub struct ExchangeBinRow => ExchangeBinTable {
        /// Row of the exchange.
        exchange: u32,
        /// Number of the part of the window.
        bin: u32,
        /// How many arrive.
        count: u64,
        /// Their sizes together.
        bytes: u64 ["B"],
    }
}
