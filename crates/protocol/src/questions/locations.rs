//! Where was measured.

use super::NotesReply;
use crate::Experiment;
use crate::Family;
use crate::macros::{question, table};

question! {
    /// Profiles with the parts of their identity: node, rank, thread, core, GPU, context and stream.
    "locations" of Experiment,
    request LocationsRequest {
        /// A profile expression; null for all locations.
        profiles: Option<String>,
    }
    reply NotesReply,
    tables LocationsTables {
        /// The locations, in the order of the database.
        rows: LocationTable,
    }
}

table! {
    /// Locations with their identity: by application, node, rank, thread, GPU and stream.
    pub columns LocationTable {
        /// Profile number in the database.
        profile_id: Vec<u32>,
        /// What it is called.
        location: Vec<String>,
        /// `application`, or `helper thread` of MPI, the network, a driver or the measurement.
        role: Vec<String>,
        /// One column for each kind of identity that any location has.
        identities: Family,
        /// Number of values in the profile.
        values: Vec<u64>,
        /// Number of samples or calls in the trace.
        samples: Vec<u64>,
    }
}
