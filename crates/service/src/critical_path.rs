//! What the run time consists of: the answer of `critical-path`.

use std::collections::HashMap;

use parallax_analysis::events::{Basis, CriticalPath, OnPath, Segment, critical_path};
use parallax_base::{ContextIdx, Control, TrackIdx};
use parallax_engine::LocationChoice;
use parallax_model::{ContextTree, TraceStore};
use parallax_protocol::{
    Answer, CriticalPathBy, CriticalPathReply, CriticalPathRequest, CriticalPathTable,
    CriticalPathTables, OnPathTable, PathSegmentRow, PathSegmentTable,
};

use crate::timeline::path;
use crate::{Answers, OpenExperiment, ServiceError};

/// Definition: [`parallax_analysis::events::critical_path`].
impl Answers<CriticalPathRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &CriticalPathRequest,
        control: &Control,
    ) -> Result<Answer<CriticalPathRequest>, ServiceError> {
        let mut notes = Vec::new();
        let selection = self.selected(&request.part, &mut notes, control)?;
        self.needs_all_mpi_calls()?;
        let found = critical_path(&self.session, &selection, control)?;
        notes.extend(found.counts.notes());
        if found.num_waits == 0 {
            notes.push(
                "No wait states found: the path is that of the location that ends last.".into(),
            );
        }
        let rows = if request.segments {
            CriticalPathTable::Segments(self.segments(&found))
        } else {
            let sums =
                self.session.context_sums(&LocationChoice::All, selection.window, control)?;
            CriticalPathTable::Sums(self.on_path(request.by, &found, &sums.nanos))
        };
        let is_matched =
            |segment: &&Segment| segment.releases.is_some_and(|(_, basis)| basis == Basis::Matched);
        let mut locations: Vec<TrackIdx> = found.segments.iter().map(|s| s.track).collect();
        locations.sort_unstable();
        locations.dedup();
        let reply = CriticalPathReply {
            length_s: seconds(found.whole_nanos),
            segments: found.segments.len() as u64,
            locations: locations.len() as u64,
            matched: found.segments.iter().filter(is_matched).count() as u64,
            notes,
        };
        Ok(Answer::new(reply, CriticalPathTables { rows }))
    }
}

impl OpenExperiment {
    /// Which tracks are streams of GPUs.
    fn streams(&self) -> impl Fn(TrackIdx) -> bool + '_ {
        let experiment = self.session.experiment();
        let tracks = experiment.traces.as_deref().map_or(&[][..], TraceStore::tracks);
        move |track| {
            let track = tracks.get(track.idx());
            track.is_some_and(|track| experiment.locations.is_gpu(track.location))
        }
    }

    fn segments(&self, found: &CriticalPath) -> PathSegmentTable {
        let tree = self.session.tree();
        let names = self.track_names();
        let traces = self.session.experiment().traces.as_deref();
        let zero = traces.map(TraceStore::span).map_or(0, |span| span.start_nanos);
        let is_stream = self.streams();
        let row = |segment: &Segment| PathSegmentRow {
            start_s: seconds(segment.start_nanos.saturating_sub(zero)),
            length_s: seconds(segment.nanos()),
            location: names.get(segment.track.idx()).cloned().unwrap_or_default(),
            context: match segment.context {
                ContextTree::ROOT if is_stream(segment.track) => BETWEEN_WORK.to_owned(),
                context => name_of(tree, context),
            },
            context_percent: percent(segment.context_nanos, segment.nanos()),
            releases: segment.releases.map(|(kind, _)| kind.name()),
            basis: segment.releases.map(|(_, basis)| basis.name()),
        };
        found.segments.iter().map(row).collect()
    }

    fn on_path(&self, by: CriticalPathBy, found: &CriticalPath, all: &[u128]) -> OnPathTable {
        let tree = self.session.tree();
        let names = self.track_names();
        let sums = |nanos: &mut dyn Iterator<Item = u64>| {
            let nanos: Vec<u64> = nanos.collect();
            OnPathTable {
                share_percent: nanos.iter().map(|&n| percent(n, found.whole_nanos)).collect(),
                on_path_s: nanos.into_iter().map(seconds).collect(),
                ..OnPathTable::default()
            }
        };
        if by == CriticalPathBy::Track {
            let rows = add_up(&found.parts, |part| part.track);
            let name = |track: TrackIdx| names.get(track.idx()).cloned().unwrap_or_default();
            let location = Some(rows.iter().map(|row| name(row.0)).collect());
            return OnPathTable { location, ..sums(&mut rows.iter().map(|row| row.1)) };
        }
        // The number of each context's row.
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut labels: Vec<(String, ContextIdx)> = Vec::new();
        let number_of: Vec<usize> = tree
            .iter()
            .map(|context| {
                let label = match by {
                    CriticalPathBy::Context => format!("{}", context.get()),
                    CriticalPathBy::Group if context != ContextTree::ROOT => {
                        let function = tree.function(context);
                        let function = function.and_then(|f| tree.functions().get(f.idx()));
                        let group = function.and_then(|f| f.group.as_deref()).unwrap_or("");
                        if group.is_empty() { "(no group)".to_owned() } else { group.to_owned() }
                    }
                    _ if context == ContextTree::ROOT => NOTHING.to_owned(),
                    _ => tree.label(context),
                };
                *numbers.entry(label).or_insert_with_key(|label| {
                    labels.push((label.clone(), context));
                    labels.len() - 1
                })
            })
            .collect();
        let number = |context: ContextIdx| number_of.get(context.idx()).copied().unwrap_or(0);
        let between = labels.len();
        labels.push((BETWEEN_WORK.to_owned(), ContextTree::ROOT));
        let is_stream = self.streams();
        let rows = add_up(&found.parts, |part| {
            let is_between = part.context == ContextTree::ROOT && is_stream(part.track);
            if is_between { between } else { number(part.context) }
        });
        let mut total = vec![0_u128; labels.len()];
        for (context, &nanos) in tree.iter().zip(all).skip(1) {
            if let Some(sum) = total.get_mut(number(context)) {
                *sum += nanos;
            }
        }
        let first = |row: usize| labels.get(row).map_or(ContextTree::ROOT, |label| label.1);
        let label = |row: &(usize, u64)| match by {
            CriticalPathBy::Context if row.0 != between => name_of(tree, first(row.0)),
            _ => labels.get(row.0).map(|label| label.0.clone()).unwrap_or_default(),
        };
        let named = rows.iter().map(label).collect();
        let totals = rows.iter().map(|row| (first(row.0), total.get(row.0).copied()));
        let totals = totals.map(|(context, nanos)| {
            (context != ContextTree::ROOT).then(|| nanos.unwrap_or(0) as f64 / 1e9)
        });
        let mut table = sums(&mut rows.iter().map(|row| row.1));
        table.all_locations_s = Some(totals.collect());
        match by {
            CriticalPathBy::Group => table.group = Some(named),
            CriticalPathBy::Context => {
                table.context = Some(named);
                table.context_id =
                    Some(rows.iter().map(|row| tree.source_id(first(row.0))).collect());
            }
            CriticalPathBy::Function | CriticalPathBy::Track => table.function = Some(named),
        }
        table
    }
}

/// What a row is called where no function was active.
const NOTHING: &str = "(no activity)";
/// The same on a stream of a GPU: latency of launches, and gaps between work launched in time.
const BETWEEN_WORK: &str = "(between GPU work)";

fn name_of(tree: &ContextTree, context: ContextIdx) -> String {
    if context == ContextTree::ROOT { NOTHING.to_owned() } else { path(tree, context) }
}

/// The sums of the parts with equal keys, the largest first.
fn add_up<K: Copy + Ord + std::hash::Hash>(
    parts: &[OnPath],
    key_of: impl Fn(&OnPath) -> K,
) -> Vec<(K, u64)> {
    let mut sums: HashMap<K, u64> = HashMap::new();
    for part in parts {
        *sums.entry(key_of(part)).or_default() += part.nanos;
    }
    let mut rows: Vec<(K, u64)> = sums.into_iter().collect();
    rows.sort_by_key(|&(key, nanos)| (u64::MAX - nanos, key));
    rows
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 * 100.0 }
}
