//! User events: how often, and which values, by event, context and location.

use super::NotesReply;
use crate::macros::{question, table};
use crate::{Experiment, Family};

question! {
    /// User events over all locations, as a whole and by context.
    "user_events" of Experiment,
    request UserEventsRequest {
        /// Name of an event, or a glob such as `Message size*`; null for all.
        event: Option<String>,
        /// A profile expression; null for all locations.
        profiles: Option<String>,
    }
    reply NotesReply,
    tables UserEventsTables {
        /// One row for each event.
        events: UserEventTable,
        /// One row for each event and context.
        contexts: UserEventContextTable,
    }
}

table! {
    /// One row for each event that occurred, the most frequent first.
    pub struct UserEventRow => UserEventTable {
        /// Name of the user event.
        event: String,
        /// Unit of its values; empty for counts.
        unit: String,
        /// Number of occurrences.
        count: u64,
        /// Sum of all values: mean x count.
        sum: Option<f64> [of unit],
        /// Mean of all values; null where it did not occur.
        mean: Option<f64> [of unit],
        /// Smallest value; null where that is not known.
        min: Option<f64> [of unit] => "Minimum",
        /// Largest value; null where that is not known.
        max: Option<f64> [of unit] => "Maximum",
        /// Standard deviation of all values.
        std_dev: Option<f64> [of unit] => "Std. dev.",
        /// Number of locations where it occurred.
        locations: u64,
        /// Number of contexts in which it is known to have occurred.
        contexts: u64,
    }
}

table! {
    /// One row for each event and context, in the order of `events`, then the most frequent first.
    /// The last row of an event holds what occurred in no known context.
    pub struct UserEventContextRow => UserEventContextTable {
        /// Name of the user event.
        event: String,
        /// Id of the context in the database; null for no known context.
        context_id: Option<u64>,
        /// The context.
        name: String => "Context",
        /// Its call path from the entry down.
        path: String => "Call path",
        /// Unit of the values; empty for counts.
        unit: String,
        /// Number of occurrences.
        count: u64,
        /// Sum of all values: mean x count.
        sum: Option<f64> [of unit],
        /// Mean of all values; null where it did not occur.
        mean: Option<f64> [of unit],
        /// Smallest value; null where that is not known.
        min: Option<f64> [of unit] => "Minimum",
        /// Largest value; null where that is not known.
        max: Option<f64> [of unit] => "Maximum",
        /// Standard deviation of all values.
        std_dev: Option<f64> [of unit] => "Std. dev.",
        /// Number of locations where it occurred.
        locations: u64,
    }
}

question! {
    /// User events at each location.
    "user_event_locations" of Experiment,
    request UserEventLocationsRequest {
        /// Name of an event, or a glob; null for all.
        event: Option<String>,
        /// Only what occurred in this context, by its id in the database; null for everywhere.
        context_id: Option<u32>,
        /// A profile expression; null for all locations.
        profiles: Option<String>,
    }
    reply NotesReply,
    tables UserEventLocationsTables {
        /// One row for each event and location.
        locations: UserEventLocationTable,
    }
}

table! {
    /// One row for each event and location, those without the event included.
    pub columns UserEventLocationTable {
        /// Name of the user event.
        event: Vec<String>,
        /// Profile number.
        location: Vec<u32>,
        /// Display name of the location.
        label: Vec<String> => "Location",
        /// One column for each kind of identity (`rank`, `thread`, ...); null where a location has
        /// none.
        identities: Family,
        /// Unit of the values; empty for counts.
        unit: Vec<String>,
        /// Number of occurrences.
        count: Vec<u64>,
        /// Sum of all values: mean x count.
        sum: Vec<Option<f64>> [of unit],
        /// Mean of all values; null where it did not occur.
        mean: Vec<Option<f64>> [of unit],
        /// Smallest value; null where that is not known.
        min: Vec<Option<f64>> [of unit] => "Minimum",
        /// Largest value; null where that is not known.
        max: Vec<Option<f64>> [of unit] => "Maximum",
        /// Standard deviation of all values.
        std_dev: Vec<Option<f64>> [of unit] => "Std. dev.",
    }
}
