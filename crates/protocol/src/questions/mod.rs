//! The questions, one file for each subject, and the list of all of them.

mod activations;
mod user_events;

use serde::Serialize;

pub use activations::{
    ActivationTable, EntitiesReply, EntitiesRequest, EntitiesTables, EntityKind, EntityTable,
    FileTable, FunctionTable, LaneTable, LanesReply, LanesRequest, LanesTables, LineRow, LineTable,
    LinesRequest, LinesTables, ReferenceTable, RelatedRequest, RelatedTables, Relation,
    SharedRequest, SharedTables, TagTable, ThreadTable,
};
pub use user_events::{
    UserEventContextRow, UserEventContextTable, UserEventLocationTable, UserEventLocationsRequest,
    UserEventLocationsTables, UserEventRow, UserEventTable, UserEventsRequest, UserEventsTables,
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
            UserEventsRequest,
            UserEventLocationsRequest,
            EntitiesRequest,
            RelatedRequest,
            SharedRequest,
            LanesRequest,
            LinesRequest,
        }
    };
}
