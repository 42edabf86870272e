//! Where was measured: the answer of `locations`.

use std::collections::HashMap;

use parallax_base::{Control, LocationIdx};
use parallax_engine::LocationChoice;
use parallax_protocol::{Answer, LocationTable, LocationsRequest, LocationsTables, NotesReply};

use crate::options::{identities, locations};
use crate::{Answers, OpenExperiment, ServiceError};

impl Answers<LocationsRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &LocationsRequest,
        control: &Control,
    ) -> Result<Answer<LocationsRequest>, ServiceError> {
        let x = self.session().experiment();
        let catalog = &x.locations;
        let mut notes = Vec::new();
        let rows: Vec<LocationIdx> =
            match locations(self.session(), request.profiles.as_deref(), &mut notes)? {
                LocationChoice::All => catalog.iter().collect(),
                LocationChoice::Some(rows) => rows,
            };
        // As lists for users have them: by rank, thread, GPU, and not as profiles were written.
        let rows = catalog.in_order(rows);
        let mut samples: HashMap<LocationIdx, u64> = HashMap::new();
        let tracks =
            x.traces.as_deref().map(parallax_model::TraceStore::tracks).unwrap_or_default();
        for track in tracks {
            *samples.entry(track.location).or_default() += track.num_samples;
        }
        let roles = self.roles(control)?;
        let role = |&location: &LocationIdx| {
            let is_helper = roles.is_helper(location);
            if is_helper { "helper thread" } else { "application" }.to_owned()
        };
        let rows = LocationTable {
            profile_id: rows.iter().map(|location| location.get()).collect(),
            location: rows.iter().map(|&location| catalog.label(location)).collect(),
            role: rows.iter().map(role).collect(),
            identities: identities(catalog, &rows),
            values: rows.iter().map(|&location| catalog.num_values(location)).collect(),
            samples: rows.iter().map(|at| samples.get(at).copied().unwrap_or(0)).collect(),
        };
        Ok(Answer::new(NotesReply { notes }, LocationsTables { rows }))
    }
}
