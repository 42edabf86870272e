//! Calls by name and duration.

use parallax_base::Control;
use parallax_engine::query::NameSearch;
use parallax_engine::resolve::find_functions;
use parallax_engine::{CallRow, EngineError, FindQuestion};
use parallax_protocol::{
    Answer, CallDurationRow, FindOrder, FindReply, FindRequest, FindTables, FoundCallRow,
};

use super::picture::since;
use super::{all_tracks, tracks_of};
use crate::options::{locations, stretch};
use crate::{Answers, OpenExperiment, ServiceError};

impl Answers<FindRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &FindRequest,
        control: &Control,
    ) -> Result<Answer<FindRequest>, ServiceError> {
        let session = &self.session;
        let tree = session.tree();
        let store = session.traces()?;
        let origin = store.span().start_nanos;
        let mut notes = Vec::new();
        let wanted = match request.name.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
            None => vec![true; tree.len()],
            Some(name) => {
                let search = NameSearch::parse(name)?;
                let (contexts, more) = find_functions(session, &search, control)?;
                notes.extend(more);
                let mut wanted = vec![false; tree.len()];
                for context in contexts {
                    if let Some(place) = wanted.get_mut(context.idx()) {
                        *place = true;
                    }
                }
                wanted
            }
        };
        let chosen = locations(session, request.part.profiles.as_deref(), &mut notes)?;
        let tracks = all_tracks(session, &chosen, &tracks_of(request.tracks.as_deref()))?;
        let question = FindQuestion {
            wanted: &wanted,
            tracks: &tracks,
            window: stretch(session, &request.part)?,
            min_nanos: request.min_ns.unwrap_or(0),
            max_nanos: request.max_ns.unwrap_or(u64::MAX),
            is_longest_first: request.order == FindOrder::Longest,
            max_rows: request.max_rows as usize,
        };
        let found = session.find(&question, control)?;
        if found.calls == 0 && notes.is_empty() {
            notes.push("No matching calls.".into());
        }
        let names = self.track_names();
        let row = |row: &CallRow| -> Result<FoundCallRow, ServiceError> {
            let arguments = if request.arguments { self.arguments(row)? } else { Vec::new() };
            let arguments = arguments.iter().map(|(name, value)| format!("{name}={value}"));
            let arguments: Vec<String> = arguments.collect();
            control.check().map_err(EngineError::from)?;
            Ok(FoundCallRow {
                track: row.track.get(),
                location: names.get(row.track.idx()).cloned().unwrap_or_default(),
                context: row.context.get(),
                context_id: tree.source_id(row.context),
                name: tree.label(row.context),
                start_ns: since(row.start_nanos, origin),
                end_ns: since(row.end_nanos, origin),
                duration_ns: (row.end_nanos - row.start_nanos) as f64,
                arguments: (!arguments.is_empty()).then(|| arguments.join(", ")),
            })
        };
        let tables = FindTables {
            rows: found.rows.iter().map(row).collect::<Result<_, _>>()?,
            histogram: (found.histogram.iter())
                .map(|bin| CallDurationRow {
                    from_ns: bin.from_nanos as f64,
                    calls: bin.calls,
                    total_ns: bin.nanos as f64,
                })
                .collect(),
        };
        let total_ns = u64::try_from(found.nanos).unwrap_or_else(|_| {
            notes.push(format!(
                "the calls take {} ns together; the total is cut at 2^64 - 1 ns",
                found.nanos
            ));
            u64::MAX
        });
        let reply = FindReply { total: found.calls, total_ns, notes };
        Ok(Answer::new(reply, tables))
    }
}
