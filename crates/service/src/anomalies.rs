//! The answer of `anomalies`.

use parallax_analysis::anomalies::{Anomalies, Anomaly, AnomalyChoice, anomalies, named_anomalies};
use parallax_base::quantity::counted;
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
        let named_by = session.experiment().metadata.named.as_ref().map(|named| &named.by);
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
        if chosen.is_none() {
            notes.extend(remarks(request, &found, named_by));
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
            found: one.is_outlier,
            named: one.is_named,
            median_ns: one.evidence.map(|evidence| evidence.median_nanos as f64),
            times_median: one
                .evidence
                .map(|evidence| one.exclusive_nanos as f64 / evidence.median_nanos.max(1) as f64),
            score: one.evidence.map(|evidence| evidence.score),
            calls: one.evidence.map(|evidence| evidence.calls),
        };
        let rows = found.list.iter().map(row).collect();
        let reply = AnomaliesReply {
            detector: chosen.map(|chosen| &chosen.by).or(named_by).cloned(),
            is_compared: chosen.is_none(),
            total: found.total,
            found: found.outliers,
            named: found.named,
            excess_ns: found.excess_nanos as f64,
            compared: found.compared,
            too_few: found.too_few,
            notes,
        };
        Ok(Answer::new(reply, AnomaliesTables { rows }))
    }
}

/// What to know about calls that were compared.
fn remarks(
    request: &AnomaliesRequest,
    found: &Anomalies,
    named_by: Option<&String>,
) -> Vec<String> {
    let mut notes = Vec::new();
    if !request.waiting {
        notes.push(match named_by {
            None => "Calls of MPI and calls that wait are excluded.".to_owned(),
            Some(by) => format!(
                "Calls of MPI and calls that wait are not compared; those that {by} names are listed."
            ),
        });
    }
    if found.outliers == 0 {
        notes.push(match found.compared {
            0 => format!("No function has {} calls on a location.", Anomalies::MIN_CALLS),
            compared if named_by.is_none() => format!("No anomalies in {compared} calls."),
            compared => format!(
                "None of {compared} calls takes much longer than the others of its function."
            ),
        });
    }
    if let Some(by) = named_by {
        let are_both = found.list.iter().filter(|one| one.is_named && one.is_outlier).count();
        let calls = counted(found.named, "call");
        notes.push(format!(
            "{by} names {calls} of this part; {are_both} of them are found by comparison, too."
        ));
    }
    notes
}
