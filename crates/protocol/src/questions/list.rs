//! The list of all questions: a question that is not in it is not asked.

/// Calls `$then!` with the type of every request, in the order of the documents: the one list that
/// dispatch, types of the page and documents are made from.
#[macro_export]
macro_rules! for_each_question {
    ($then:ident) => {
        $then! {
            HelloRequest,
            OpenRequest,
            CombineRequest,
            CloseRequest,
            IssuesRequest,
            InfoRequest,
            MetricsRequest,
            ReportRequest,
            TreeTableRequest,
            CallersRequest,
            FlatRequest,
            DistributionRequest,
            SourceFilesRequest,
            SourceRequest,
            QueryRequest,
            TraceRequest,
            ReferencesRequest,
            LoopsRequest,
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
