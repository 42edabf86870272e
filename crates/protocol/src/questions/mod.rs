//! The questions, one file for each subject, and the list of all of them.

mod activations;
mod advise;
mod balance;
mod calls;
mod correlations;
mod differences;
mod events;
mod idleness;
mod iterations;
mod part;
mod query;
mod timeline;
mod user_events;
mod views;

use serde::Serialize;

pub use activations::{
    ActivationTable, EntitiesReply, EntitiesRequest, EntitiesTables, EntityKind, EntityTable,
    FileTable, FunctionTable, LaneTable, LanesReply, LanesRequest, LanesTables, LineRow, LineTable,
    LinesRequest, LinesTables, ReferenceTable, RelatedRequest, RelatedTables, Relation,
    SharedRequest, SharedTables, TagTable, ThreadTable,
};
pub use advise::{
    AdviseBy, AdviseReply, AdviseRequest, AdviseTable, AdviseTables, ContextWorkRow,
    ContextWorkTable, DependentPairRow, DependentPairTable, LoopAdviceRow, LoopAdviceTable,
    RaceRow, RaceTable, SharedReferenceRow, SharedReferenceTable, TaskRow, TaskTable, TasksReply,
};
pub use balance::{BalanceReply, BalanceRequest, BalanceTable, BalanceTableRow, BalanceTables};
pub use calls::{
    CallDurationRow, CallDurationTable, FindOrder, FindReply, FindRequest, FindTables,
    FoundCallRow, FoundCallTable, MessageRow, MessageSumTable, MessageTable, MessagesBy,
    MessagesRequest, MessagesTable, MessagesTables, StatsBy, StatsRequest, StatsTable, StatsTables,
};
pub use correlations::{
    CorrelatedPairRow, CorrelatedPairTable, CorrelationBy, CorrelationOrder, CorrelationPointRow,
    CorrelationPointTable, CorrelationPointsReply, CorrelationPointsRequest,
    CorrelationPointsTables, CorrelationsReply, CorrelationsRequest, CorrelationsTables,
};
pub use differences::{
    DifferenceTable, DifferencesBy, DifferencesOver, DifferencesReply, DifferencesRequest,
    DifferencesTables,
};
pub use events::{
    CriticalPathBy, CriticalPathReply, CriticalPathRequest, CriticalPathTable, CriticalPathTables,
    IdleTimeTable, ImbalanceTable, LatenessTable, OnPathTable, OverTimeBy, OverTimeReply,
    OverTimeRequest, OverTimeTable, OverTimeTables, OverTimeWhat, OverlapTable, PathSegmentRow,
    PathSegmentTable, TimeProfileTable, WaitTable, WaitsBy, WaitsKind, WaitsRequest, WaitsTables,
};
pub use idleness::{
    GpuBlameRow, GpuBlameTable, GpuIdlenessRow, GpuIdlenessTable, IdlenessRequest, IdlenessSource,
    IdlenessTable, IdlenessTables, ThreadIdlenessRow, ThreadIdlenessTable,
};
pub use iterations::{
    IterationCellTable, IterationCells, IterationContextCell, IterationContextCellTable,
    IterationContextRow, IterationContextTable, IterationLocationRow, IterationLocationTable,
    IterationMapTable, IterationRow, IterationTable, IterationsFoundReply, IterationsGroupReply,
    IterationsReply, IterationsRequest, IterationsTables, RepetitionReply,
};
pub use part::{TracePart, TrackSpan};
pub use query::{QueryRequest, QueryTables, SampleTable, TraceRequest, TraceTables, ValueTable};
pub use timeline::{
    BinsReply, CallTable, CallTableRow, CallsReply, CallsRequest, CallsTables, ComponentReply,
    CounterBinsRequest, CounterBinsTables, CounterReply, CounterValueTable, LinkBinTable,
    LinkBinsRequest, LinkBinsTables, LinkRow, LinkTable, LinksRequest, LinksTables, MarkerRow,
    MarkerTable, MarkersRequest, MarkersTables, PathAtRequest, PathAtRow, PathAtTable,
    PathAtTables, StackLocationTable, StackTable, StacksReply, StacksRequest, StacksTables,
    TileCellRow, TileCellTable, TileRequest, TileTables, TimelineBy, TimelineContextTable,
    TimelineFunctionRow, TimelineFunctionTable, TimelineGroupRow, TimelineGroupTable,
    TimelineReply, TimelineRequest, TimelineTables, TotalReply, TrackTable,
};
pub use user_events::{
    UserEventContextRow, UserEventContextTable, UserEventLocationTable, UserEventLocationsRequest,
    UserEventLocationsTables, UserEventRow, UserEventTable, UserEventsRequest, UserEventsTables,
};

pub use views::{
    BalanceBy, CallersRequest, CallersTables, ContextTable, CostChoice, CostOnlyReply, CostReply,
    CostTreeTable, CostsChoice, CostsReply, DistributionReply, DistributionRequest,
    DistributionTables, FlatBy, FlatRequest, FlatTable, FlatTableRow, FlatTables, HistogramReply,
    LineContextTable, MemberTable, PruneChoice, SourceFileReply, SourceFilesReply,
    SourceFilesRequest, SourceLineTable, SourceReply, SourceRequest, SourceTables, StatisticsReply,
    TreeTableRequest, TreeTableTables,
};

/// The reply of a question whose answer is its tables.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NotesReply {
    /// Remarks, such as that nothing matched and why.
    pub notes: Vec<String>,
}

/// Calls `$then!` with the type of every request, in the order of the documents: the one list that
/// dispatch, types of the page and documents are made from.
#[macro_export]
macro_rules! for_each_question {
    ($then:ident) => {
        $then! {
            TreeTableRequest,
            CallersRequest,
            FlatRequest,
            DistributionRequest,
            SourceFilesRequest,
            SourceRequest,
            QueryRequest,
            TraceRequest,
            UserEventsRequest,
            UserEventLocationsRequest,
            EntitiesRequest,
            RelatedRequest,
            SharedRequest,
            LanesRequest,
            LinesRequest,
            TimelineRequest,
            TileRequest,
            CallsRequest,
            PathAtRequest,
            LinksRequest,
            LinkBinsRequest,
            CounterBinsRequest,
            MarkersRequest,
            StacksRequest,
            StatsRequest,
            MessagesRequest,
            FindRequest,
            WaitsRequest,
            CriticalPathRequest,
            OverTimeRequest,
            IterationsRequest,
            BalanceRequest,
            IdlenessRequest,
            CorrelationsRequest,
            CorrelationPointsRequest,
            AdviseRequest,
            DifferencesRequest,
        }
    };
}
