//! What the run time consists of: the answer of `critical-path`.

use std::collections::HashMap;

use parallax_analysis::events::{CriticalPath, OnPath, critical_path};
use parallax_analysis::taxonomy::is_gpu;
use parallax_base::{ContextIdx, Control};
use parallax_engine::{Column, LocationChoice, Table};
use parallax_model::{ContextTree, TraceStore};

use crate::timeline::path;
use crate::{Answer, Opened, ServiceError};

/// What the rows of a critical path are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CriticalPathBy {
    /// Functions.
    #[default]
    Function,
    /// Groups of functions, such as `MPI`.
    Group,
    /// Call paths.
    Context,
    /// Locations.
    Track,
}

/// Which part of the critical path, and how it is put together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CriticalPathRequest {
    /// A profile expression for the locations that the path runs through; `None` for all. The path
    /// is that of the whole trace.
    pub profiles: Option<String>,
    /// A time window that is cut out of the path; `None` for everything.
    pub window: Option<String>,
    /// What the rows are.
    pub by: CriticalPathBy,
    /// One row for each stretch of the path instead, in order of time.
    pub segments: bool,
}

/// The answer, and how long the path is.
#[derive(Debug, Clone)]
pub struct CriticalPathAnswer {
    /// The rows.
    pub table: Table,
    /// How long the path is in the window, on all locations, in seconds.
    pub length_seconds: f64,
    /// In how many stretches of one location each.
    pub num_segments: usize,
    /// Through how many locations.
    pub num_locations: usize,
}

impl Opened {
    /// What the run time consists of, if nobody's waiting is counted; the longest first.
    /// Definition: [`parallax_analysis::events::critical_path`]. Columns: `function`, `group`,
    /// `context` with `context_id`, or `location`; `on_path_s`, `share_percent` (of the path), and
    /// except for locations `all_locations_s`. Of segments: `start_s`, `length_s`, `location`,
    /// `context`, `context_percent`, `releases`.
    ///
    /// # Errors
    /// When there is no trace of events, an expression is wrong, or the question is withdrawn.
    pub fn critical_path(
        &self,
        request: &CriticalPathRequest,
        control: &Control,
    ) -> Result<Answer<CriticalPathAnswer>, ServiceError> {
        let mut notes = Vec::new();
        let (profiles, window) = (request.profiles.as_deref(), request.window.as_deref());
        let selection = self.selection(profiles, window, &mut notes)?;
        self.needs_calls()?;
        let found = critical_path(&self.session, &selection, control)?;
        notes.extend(found.counts.notes());
        if found.num_waits == 0 {
            notes.push(
                "nobody is known to wait for anybody: the path is that of the location that ends \
                 last"
                    .into(),
            );
        }
        let table = if request.segments {
            self.segments(&found)
        } else {
            let sums =
                self.session.context_sums(&LocationChoice::All, selection.window, control)?;
            self.on_path(request.by, &found, &sums.nanos)
        };
        let mut locations: Vec<u32> = found.segments.iter().map(|s| s.track).collect();
        locations.sort_unstable();
        locations.dedup();
        let value = CriticalPathAnswer {
            table,
            length_seconds: seconds(found.whole_nanos),
            num_segments: found.segments.len(),
            num_locations: locations.len(),
        };
        Ok(Answer { value, notes })
    }

    /// Which tracks are streams of GPUs.
    fn streams(&self) -> impl Fn(u32) -> bool + '_ {
        let experiment = self.session.experiment();
        let tracks = experiment.traces.as_deref().map_or(&[][..], TraceStore::tracks);
        move |track| {
            let track = tracks.get(track as usize);
            track.is_some_and(|track| is_gpu(&experiment.locations, track.location))
        }
    }

    fn segments(&self, found: &CriticalPath) -> Table {
        let tree = self.session.tree();
        let names = self.track_names();
        let traces = self.session.experiment().traces.as_deref();
        let zero = traces.map(TraceStore::span).map_or(0, |span| span.start_nanos);
        let is_stream = self.streams();
        let rows = &found.segments;
        let start = rows.iter().map(|s| seconds(s.start_nanos.saturating_sub(zero)));
        let doc = "When the path comes to the location, after the start of the trace.";
        let start = Column::f64s("start_s", "s", doc, start.collect());
        let length = rows.iter().map(|s| seconds(s.nanos())).collect();
        let doc = "How long it stays; the next row begins then.";
        let length = Column::f64s("length_s", "s", doc, length);
        let location = rows.iter().map(|s| names.get(s.track as usize).map_or("", |n| n));
        let share = rows.iter().map(|s| percent(s.context_nanos, s.nanos()));
        let releases =
            rows.iter().map(|s| s.releases.map(parallax_analysis::events::WaitKind::name));
        Table::new(vec![
            start,
            length,
            Column::strings("location", "Where the path is.", location),
            Column::strings(
                "context",
                "The call path that takes most of it.",
                rows.iter().map(|s| match s.context {
                    ContextTree::ROOT if is_stream(s.track) => BETWEEN_WORK.to_owned(),
                    context => name_of(tree, context),
                }),
            ),
            Column::f64s("context_percent", "%", "How much of it.", share.collect()),
            Column::optional_strings(
                "releases",
                "Why the location of the next row had waited for this one; nothing at the end.",
                releases,
            ),
        ])
    }

    fn on_path(&self, by: CriticalPathBy, found: &CriticalPath, all: &[u128]) -> Table {
        let tree = self.session.tree();
        let names = self.track_names();
        let whole = found.whole_nanos;
        let doc = "Time on the path, in it and in nothing below.";
        let on_path = |nanos: Vec<u64>| {
            let shares = nanos.iter().map(|&n| percent(n, whole)).collect();
            [
                Column::f64s("on_path_s", "s", doc, nanos.into_iter().map(seconds).collect()),
                Column::f64s("share_percent", "%", "Of the length of the path.", shares),
            ]
        };
        if by == CriticalPathBy::Track {
            let rows = add_up(&found.parts, |part| part.track);
            let named = rows.iter().map(|(track, _)| names.get(*track as usize).map_or("", |n| n));
            let mut columns = vec![Column::strings("location", "Where the path is.", named)];
            columns.extend(on_path(rows.iter().map(|row| row.1).collect()));
            return Table::new(columns);
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
        let name = match by {
            CriticalPathBy::Group => "group",
            CriticalPathBy::Context => "context",
            CriticalPathBy::Function | CriticalPathBy::Track => "function",
        };
        let mut columns =
            vec![Column::strings(name, "What the time goes into.", rows.iter().map(label))];
        columns.extend(on_path(rows.iter().map(|row| row.1).collect()));
        let doc = "Time in it on all locations in the window, on the path or not.";
        let totals = rows.iter().map(|row| (first(row.0), total.get(row.0).copied()));
        let totals = totals.map(|(context, nanos)| {
            (context != ContextTree::ROOT).then(|| nanos.unwrap_or(0) as f64 / 1e9)
        });
        columns.push(Column::optional_f64s("all_locations_s", "s", doc, totals.collect()));
        if by == CriticalPathBy::Context {
            let ids = rows.iter().map(|row| tree.source_id(first(row.0))).collect();
            columns.push(Column::u32s("context_id", "Id of it in the database.", ids));
        }
        Table::new(columns)
    }
}

/// What a row is called where no function was active.
const NOTHING: &str = "(nothing ran)";
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
