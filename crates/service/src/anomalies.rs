//! The answer of `anomalies`.

use parallax_analysis::anomalies::{Anomalies, Anomaly, AnomalyChoice, anomalies};
use parallax_base::{Control, TrackIdx};
use parallax_protocol::{AnomaliesReply, AnomaliesRequest, AnomaliesTables, AnomalyRow, Answer};

use crate::timeline::since;
use crate::{Answers, OpenExperiment, ServiceError};

impl Answers<AnomaliesRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &AnomaliesRequest,
        control: &Control,
    ) -> Result<Answer<AnomaliesRequest>, ServiceError> {
        let session = &self.session;
        let mut notes = Vec::new();
        let mut selection = self.selected(&request.part, &mut notes, control)?;
        self.needs_calls()?;
        if let Some(spans) = &request.tracks {
            let is_asked = |track: &TrackIdx| {
                spans.iter().any(|span| (span.from..span.to).contains(&track.get()))
            };
            selection.tracks.retain(is_asked);
        }
        let choice = AnomalyChoice {
            has_waits: request.waiting,
            min_excess_nanos: request.min_excess_ns,
            max_rows: request.max_rows as usize,
        };
        let found = anomalies(session, &selection, choice, control)?;
        if !request.waiting {
            notes.push("Calls of MPI and calls that wait are excluded.".into());
        }
        if found.total == 0 {
            notes.push(match found.compared {
                0 => format!("No function has {} calls on a location.", Anomalies::MIN_CALLS),
                compared => format!("No anomalies in {compared} calls."),
            });
        }
        let tree = session.tree();
        let names = self.track_names();
        let origin = session.traces()?.span().start_nanos;
        let row = |one: &Anomaly| AnomalyRow {
            track: one.track.get(),
            location: names.get(one.track.idx()).cloned().unwrap_or_default(),
            context: one.context.get(),
            context_id: tree.source_id(one.context),
            name: tree.label(one.context),
            start_ns: since(one.start_nanos, origin),
            end_ns: since(one.end_nanos, origin),
            exclusive_ns: one.exclusive_nanos as f64,
            median_ns: one.median_nanos as f64,
            times_median: one.exclusive_nanos as f64 / one.median_nanos.max(1) as f64,
            score: one.score,
            calls: one.calls,
        };
        let rows = found.list.iter().map(row).collect();
        let reply = AnomaliesReply {
            total: found.total,
            excess_ns: found.excess_nanos as f64,
            compared: found.compared,
            too_few: found.too_few,
            notes,
        };
        Ok(Answer::new(reply, AnomaliesTables { rows }))
    }
}
