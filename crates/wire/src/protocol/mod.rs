//! The protocol of the surfaces that talk to an engine: one request, one reply, some tables.
//!
//! A browser's worker and an HTTP server carry the same messages. A request is JSON
//! (`{"ask":"tree_table","with":{...}}`); its answer is a JSON reply and named tables in Arrow IPC.
//! The module `typescript`, behind the feature of that name, writes all of it down for the web.
//!
//! Fields that a request leaves out have the value that the command line has by default.

mod advise;
mod clusters;
mod common;
mod comparison;
mod correlations;
mod errors;
mod events;
mod iterations;
mod open;
mod profile;
mod scaling;
mod timeline;

use serde::{Deserialize, Serialize};

pub use advise::{AdviseAsk, AdviseReply, TasksReply};
pub use clusters::{
    ClustersAsk, ClustersReply, RackReply, RackRowReply, TextFileAsk, TopologyAsk, TopologyReply,
};
pub use common::{CostAsk, CostReply, CostsAsk, PruneAsk, WindowAsk};
pub use comparison::{DifferencesAsk, DifferencesReply};
pub use correlations::{
    CorrelationPointsAsk, CorrelationPointsReply, CorrelationsAsk, CorrelationsReply,
};
pub use errors::ErrorReply;
pub use events::{CriticalPathAsk, CriticalPathReply, OverTimeAsk, OverTimeReply, WaitsAsk};
pub use iterations::{
    IterationsAsk, IterationsFoundReply, IterationsGroupReply, IterationsReply, RepetitionReply,
};
pub use open::{
    CloseAsk, CloseReply, CombineAsk, EnsembleAsk, ExcludedReply, HelloAsk, HelloReply, InfoAsk,
    IssuesAsk, IssuesReply, ItemKind, ItemReply, OpenAsk, OpenReply, RootReply,
};
pub use parallax_protocol::NotesReply as TableOnlyReply;
pub use profile::{
    BalanceAsk, BalanceReply, CallersAsk, DistributionAsk, DistributionReply, FlatAsk, FlatReply,
    HistogramReply, IdlenessAsk, MetricsAsk, MetricsReply, QueryAsk, ReportAsk, SourceAsk,
    SourceFileReply, SourceFilesAsk, SourceFilesReply, SourceReply, StatisticsReply, TraceAsk,
    TreeReply, TreeTableAsk, TreeTableReply,
};
pub use scaling::{
    CompareAsk, CompareReply, ComparedRegionReply, CurveAsk, CurveReply, ModelReply, ModelsAsk,
    ModelsReply, ParameterReply, RegionReply, ScalingAsk, ScalingReply, ScalingTableAsk,
    SpreadReply, ViewAsk,
};

pub use timeline::{
    CallsAsk, CallsReply, ComponentReply, CounterBinsAsk, CounterBinsReply, CounterReply, FindAsk,
    FindOrderAsk, FindReply, LinkBinsAsk, LinkBinsReply, LinksAsk, LinksReply, MarkersAsk,
    MarkersReply, MessagesAsk, PathAtAsk, PathAtReply, StacksAsk, StacksReply, StatsAsk, TileAsk,
    TileReply, TimelineAsk, TimelineByAsk, TimelineReply, TrackRangeAsk, TracksAsk, tracks_choice,
};

/// The version of the protocol; both sides name it in `hello`.
pub const PROTOCOL_VERSION: u32 = 3;

/// What a request is answered with, beside its tables.
pub trait Ask {
    /// The reply.
    type Reply: Serialize;
}

/// Defines [`Request`] and which reply each request has, and keeps the list for TypeScript.
macro_rules! protocol {
    ($($(#[$doc:meta])* $variant:ident($ask:ty) => $reply:ty,)*) => {
        /// A question to an engine.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "ask", content = "with", rename_all = "snake_case")]
        pub enum Request {
            $($(#[$doc])* $variant($ask),)*
        }

        $(impl Ask for $ask { type Reply = $reply; })*

        /// Adds these requests to the types of the page.
        #[cfg(feature = "typescript")]
        pub fn describe(pages: &mut parallax_protocol::typescript::Pages) {
            pages.add::<ErrorReply>();
            $(pages.request::<$ask, $reply>(stringify!($variant), &[$(stringify!($doc)),*]);)*
        }
    };
}

protocol! {
    /// Who is there, and what can be opened without being sent.
    Hello(HelloAsk) => HelloReply,
    /// Open everything that a root holds.
    Open(OpenAsk) => OpenReply,
    /// Make one ensemble of several experiments or files that are open.
    Combine(CombineAsk) => OpenReply,
    /// Forget an item.
    Close(CloseAsk) => CloseReply,
    /// What an experiment is.
    Info(InfoAsk) => crate::InfoReply,
    /// What was repaired, dropped or guessed.
    Issues(IssuesAsk) => IssuesReply,
    /// The metrics of an experiment.
    Metrics(MetricsAsk) => MetricsReply,
    /// The calling context tree with several metrics; table `rows`.
    TreeTable(TreeTableAsk) => TreeTableReply,
    /// Who called functions; table `rows`.
    Callers(CallersAsk) => TreeReply,
    /// Contexts grouped by what they are; table `rows`.
    Flat(FlatAsk) => FlatReply,
    /// A context's cost over locations; table `rows`.
    Distribution(DistributionAsk) => DistributionReply,
    /// Source files that the experiment brought along.
    SourceFiles(SourceFilesAsk) => SourceFilesReply,
    /// A source file with the costs of its lines; tables `lines` and `contexts`.
    Source(SourceAsk) => SourceReply,
    /// What bounds the program.
    Report(ReportAsk) => crate::ReportReply,
    /// How evenly contexts cost; table `rows`.
    Balance(BalanceAsk) => BalanceReply,
    /// Which locations cost alike; table `members` and others.
    Clusters(ClustersAsk) => ClustersReply,
    /// Where nodes stand; table `nodes` and others.
    Topology(TopologyAsk) => TopologyReply,
    /// What rises and falls together over locations; table `pairs`.
    Correlations(CorrelationsAsk) => CorrelationsReply,
    /// Two columns of `correlations` at each location; table `points`.
    CorrelationPoints(CorrelationPointsAsk) => CorrelationPointsReply,
    /// When threads and GPUs had nothing to do; table `rows`.
    Idleness(IdlenessAsk) => TableOnlyReply,
    /// Values as stored; table `rows`.
    Query(QueryAsk) => TableOnlyReply,
    /// Samples; table `rows`.
    Trace(TraceAsk) => TableOnlyReply,
    /// What there is to see in a trace; tables `tracks`, `functions`, `groups` and `contexts`.
    Timeline(TimelineAsk) => TimelineReply,
    /// A picture of tracks over time; table `cells`.
    Tile(TileAsk) => TileReply,
    /// Calls, one by one; table `calls`.
    Calls(CallsAsk) => CallsReply,
    /// What was active at a moment; table `path`.
    PathAt(PathAtAsk) => PathAtReply,
    /// Messages or flows, one by one; table `links`.
    Links(LinksAsk) => LinksReply,
    /// Messages or flows over time; table `bins`.
    LinkBins(LinkBinsAsk) => LinkBinsReply,
    /// Time and calls in a stretch of time; table `rows`.
    Stats(StatsAsk) => TableOnlyReply,
    /// Messages or flows put together; table `rows`.
    Messages(MessagesAsk) => TableOnlyReply,
    /// Calls by name and duration; tables `rows` and `histogram`.
    Find(FindAsk) => FindReply,
    /// A counter over time; table `values`.
    CounterBins(CounterBinsAsk) => CounterBinsReply,
    /// Markers; table `markers`.
    Markers(MarkersAsk) => MarkersReply,
    /// What could run in parallel; table `rows`.
    Advise(AdviseAsk) => AdviseReply,
    /// Who waits for whom, and for how long; table `rows`.
    Waits(WaitsAsk) => TableOnlyReply,
    /// What the run time consists of, if nobody's waiting is counted; table `rows`.
    CriticalPath(CriticalPathAsk) => CriticalPathReply,
    /// How a trace changes over time; tables `rows` and `totals`.
    OverTime(OverTimeAsk) => OverTimeReply,
    /// Repeated phases and how even they are; tables `contexts`, `locations`, `iterations`, `cells`.
    Iterations(IterationsAsk) => IterationsReply,
    /// What each location spends on what; tables `locations` and `stack`.
    Stacks(StacksAsk) => StacksReply,
    /// Regions, verdict and maps of an ensemble; tables `cells` and `losses`.
    Scaling(ScalingAsk) => ScalingReply,
    /// Another table of an ensemble; table `rows`.
    ScalingTable(ScalingTableAsk) => TableOnlyReply,
    /// Growth models of the regions of an ensemble.
    Models(ModelsAsk) => ModelsReply,
    /// Two ensembles as versions of one program; table `cells`.
    Compare(CompareAsk) => CompareReply,
    /// What changed from one experiment to another; table `rows`.
    Differences(DifferencesAsk) => DifferencesReply,
}
