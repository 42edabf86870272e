//! Questions about user events.

use serde::{Deserialize, Serialize};

/// User events over locations; table `events`: `event`, `unit`, `count`, `sum`, `mean`, `min`, `max`,
/// `std_dev`, `locations`, `contexts`; table `contexts`, for each event the contexts that it happened
/// in: `event`, `context_id` (null for no known context), `name`, `path`, `unit`, `count`, `sum`,
/// `mean`, `min`, `max`, `std_dev`, `locations`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct UserEventsAsk {
    /// An experiment with user events.
    pub item: String,
    /// Name of an event, or a glob; null for all.
    #[serde(default)]
    pub event: Option<String>,
    /// A profile expression; null for all locations.
    #[serde(default)]
    pub profiles: Option<String>,
}

/// User events at each location; table `locations`, one row for each event and location, those where
/// it did not happen too: `event`, `location`, `label`, one column for each identity kind that there
/// is, `unit`, `count`, `sum`, `mean`, `min`, `max`, `std_dev`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct UserEventLocationsAsk {
    /// An experiment with user events.
    pub item: String,
    /// Name of an event, or a glob; null for all.
    #[serde(default)]
    pub event: Option<String>,
    /// Only what happened in this context, by its id in the database; null for everywhere.
    #[serde(default)]
    pub context_id: Option<u32>,
    /// A profile expression; null for all locations.
    #[serde(default)]
    pub profiles: Option<String>,
}
