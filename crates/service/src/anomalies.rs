//! The answer of `anomalies`.

use parallax_analysis::anomalies::{Anomalies, Anomaly, AnomalyChoice, anomalies, named_anomalies};
use parallax_base::{Control, TrackIdx, capitalised};
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
        let chosen = self.chosen_calls();
        let found = match chosen {
            Some(chosen) => {
                let by = &chosen.by;
                notes.push(format!(
                    "The anomalies are those of {by}; no calls are compared here. {}.",
                    capitalised(&chosen.words())
                ));
                notes.push(format!(
                    "Exclusive times include those of calls that {by} did not keep."
                ));
                named_anomalies(session, chosen, &selection, choice.max_rows, control)?
            }
            None => anomalies(session, &selection, choice, control)?,
        };
        if !request.waiting && chosen.is_none() {
            notes.push("Calls of MPI and calls that wait are excluded.".into());
        }
        if found.total == 0 && chosen.is_none() {
            notes.push(match found.compared {
                0 => format!("No function has {} calls on a location.", Anomalies::MIN_CALLS),
                compared => format!("No anomalies in {compared} calls."),
            });
        }
        let tree = session.tree();
        let names = self.track_names();
        let origin = session.traces()?.span().start_nanos;
        let compared = |value: f64| chosen.is_none().then_some(value);
        let row = |one: &Anomaly| AnomalyRow {
            track: one.track.get(),
            location: names.get(one.track.idx()).cloned().unwrap_or_default(),
            context: one.context.get(),
            context_id: tree.source_id(one.context),
            name: tree.label(one.context),
            start_ns: since(one.start_nanos, origin),
            end_ns: since(one.end_nanos, origin),
            exclusive_ns: one.exclusive_nanos as f64,
            median_ns: compared(one.median_nanos as f64),
            times_median: compared(one.exclusive_nanos as f64 / one.median_nanos.max(1) as f64),
            score: compared(one.score),
            calls: chosen.is_none().then_some(one.calls),
        };
        let rows = found.list.iter().map(row).collect();
        let reply = AnomaliesReply {
            detector: chosen.map(|chosen| chosen.by.clone()),
            total: found.total,
            excess_ns: found.excess_nanos as f64,
            compared: found.compared,
            too_few: found.too_few,
            notes,
        };
        Ok(Answer::new(reply, AnomaliesTables { rows }))
    }
}
