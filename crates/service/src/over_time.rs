//! How a trace changes over time: the answer of `over-time`.

use std::cmp::Reverse;
use std::collections::HashMap;

use parallax_analysis::events::{
    Bins, Late, Selection, TrackTimes, UnderWay, imbalance_over_time, lateness, overlap,
    time_profile, track_times, track_times_by_bin,
};
use parallax_base::Control;
use parallax_engine::{Column, Table};
use parallax_model::{ContextTree, TraceStore};

use crate::{Answer, Opened, ServiceError};

/// What changes over time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OverTimeWhat {
    /// Time by function or group.
    #[default]
    Profile,
    /// How evenly tracks compute.
    Imbalance,
    /// How long tracks do nothing or wait.
    Idle,
    /// How much later tracks come to the same call than the first of them.
    Lateness,
    /// How far tracks compute while messages are under way.
    Overlap,
}

/// What the rows of a time profile are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OverTimeBy {
    /// Functions.
    #[default]
    Function,
    /// Groups of functions, such as `MPI`.
    Group,
}

/// What is asked about which part of a trace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OverTimeRequest {
    /// A profile expression; `None` for all.
    pub profiles: Option<String>,
    /// A time window; `None` for everything. It grows to whole bins.
    pub window: Option<String>,
    /// What changes.
    pub what: OverTimeWhat,
    /// Most bins; bins are 2^k ns long, so there may be half as many.
    pub bins: usize,
    /// What the rows of a time profile are.
    pub by: OverTimeBy,
}

/// What changes over time, twice: by bin, and in all with the shape of the change.
#[derive(Debug, Clone)]
pub struct OverTimeAnswer {
    /// One row for each bin, or for each bin and function, group or location.
    pub by_bin: Table,
    /// One row for each function, group or location; of imbalance, one for each bin.
    pub totals: Table,
    /// For each row of `totals` a number for each bin, to draw; none for imbalance.
    pub shapes: Vec<Vec<f64>>,
    /// How long a bin is, in nanoseconds.
    pub bin_nanos: u64,
    /// How many bins there are.
    pub num_bins: usize,
}

/// One row of totals to be, with its cells.
struct Series<T> {
    name: String,
    cells: Vec<T>,
}

impl Opened {
    /// How a trace changes over time. Columns by bin start with `start_s` and `end_s`, after the
    /// start of the trace, and go on, by what is asked:
    ///
    /// - profile: `name`, `exclusive_s`, `share_percent` (of the time in which anything ran);
    /// - idle: `location`, `waiting_s`, `outside_s`, `idle_percent`;
    /// - lateness: `function`, `calls`, `mean_s`, `longest_s`;
    /// - overlap: `location`, `under_way_s`, `computing_s`, `overlap_percent`;
    /// - imbalance: `mean_s`, `max_s`, `balance_ratio`, `imbalance_percent`, `saving_s`, `slowest`.
    ///
    /// # Errors
    /// When there is no trace, an expression is wrong, or the question is withdrawn.
    pub fn over_time(
        &self,
        request: &OverTimeRequest,
        control: &Control,
    ) -> Result<Answer<OverTimeAnswer>, ServiceError> {
        let mut notes = Vec::new();
        let (profiles, window) = (request.profiles.as_deref(), request.window.as_deref());
        let selection = self.selection(profiles, window, &mut notes)?;
        let bins = Bins::covering(&self.session, selection.window, request.bins)?;
        if bins.len == 0 {
            notes.push("the window lies outside of the trace".into());
        }
        let (by_bin, totals, shapes) = match request.what {
            OverTimeWhat::Profile => self.profile(request.by, &selection, &bins, control)?,
            OverTimeWhat::Idle => self.idle(&selection, &bins, control)?,
            OverTimeWhat::Lateness => {
                self.needs_calls()?;
                self.lateness(&selection, &bins, &mut notes, control)?
            }
            OverTimeWhat::Overlap => self.overlap(&selection, &bins, &mut notes, control)?,
            OverTimeWhat::Imbalance => {
                let table = self.imbalance(&selection, &bins, control)?;
                (table.clone(), table, Vec::new())
            }
        };
        let bin_nanos = 1_u64.checked_shl(bins.exponent.into()).unwrap_or(u64::MAX);
        let num_bins = bins.len;
        let value = OverTimeAnswer { by_bin, totals, shapes, bin_nanos, num_bins };
        Ok(Answer { value, notes })
    }

    /// Names of contexts by what rows are, and the number of each context's name.
    fn names_of_contexts(&self, by: OverTimeBy) -> (Vec<String>, Vec<Option<u32>>) {
        let tree = self.session.tree();
        let mut names: Vec<String> = Vec::new();
        let mut known: HashMap<String, u32> = HashMap::new();
        let key_of = tree.iter().map(|context| {
            if context == ContextTree::ROOT {
                return None;
            }
            let name = match by {
                OverTimeBy::Function => tree.label(context),
                OverTimeBy::Group => {
                    let function = tree.function(context);
                    let function = function.and_then(|f| tree.functions().get(f.idx()));
                    let group = function.and_then(|function| function.group.as_deref());
                    group.filter(|group| !group.is_empty()).unwrap_or("(no group)").to_owned()
                }
            };
            let next = u32::try_from(names.len()).unwrap_or(u32::MAX);
            Some(*known.entry(name).or_insert_with_key(|name| {
                names.push(name.clone());
                next
            }))
        });
        let key_of = key_of.collect();
        (names, key_of)
    }

    fn profile(
        &self,
        by: OverTimeBy,
        selection: &Selection,
        bins: &Bins,
        control: &Control,
    ) -> Result<Parts, ServiceError> {
        let (names, key_of) = self.names_of_contexts(by);
        let sums = time_profile(&self.session, selection, bins, &key_of, control)?;
        let mut rows: Vec<Series<u128>> = names
            .into_iter()
            .zip(sums.chunks(bins.len.max(1)))
            .map(|(name, cells)| Series { name, cells: cells.to_vec() })
            .collect();
        let total = |row: &Series<u128>| row.cells.iter().sum::<u128>();
        rows.retain(|row| total(row) > 0);
        rows.sort_by_key(|row| Reverse(total(row)));
        let of_bin = |nth: usize| rows.iter().filter_map(|r| r.cells.get(nth)).sum::<u128>();
        let busy: Vec<u128> = (0..bins.len).map(of_bin).collect();
        let all: u128 = busy.iter().sum();
        let mut long = Long::default();
        for nth in 0..bins.len {
            for row in &rows {
                let nanos = row.cells.get(nth).copied().unwrap_or(0);
                if nanos > 0 {
                    let of_all = busy.get(nth).copied().unwrap_or(0);
                    long.add(nth, &row.name, [seconds(nanos), percent(nanos, of_all), 0.0]);
                }
            }
        }
        let [exclusive, shares, _] = long.values;
        let mut columns = self.bin_columns(bins, &long.nth);
        let doc = "What ran.";
        columns.push(Column::strings("name", doc, &long.names));
        let doc = "Time in it and in nothing below, in the bin.";
        columns.push(Column::f64s("exclusive_s", "s", doc, exclusive));
        let doc = "Of the time in which anything ran in the bin.";
        columns.push(Column::f64s("share_percent", "%", doc, shares));
        let totals: Vec<u128> = rows.iter().map(total).collect();
        let shares = totals.iter().map(|&nanos| percent(nanos, all)).collect();
        let totals = Table::new(vec![
            Column::strings("name", "What ran.", rows.iter().map(|row| &row.name)),
            Column::f64s(
                "exclusive_s",
                "s",
                "Time in it and in nothing below, in all bins.",
                totals.into_iter().map(seconds).collect(),
            ),
            Column::f64s("share_percent", "%", "Of the time in which anything ran.", shares),
        ]);
        let shapes = rows.iter().map(|row| row.cells.iter().map(|&nanos| seconds(nanos)).collect());
        Ok((Table::new(columns), totals, shapes.collect()))
    }

    fn idle(
        &self,
        selection: &Selection,
        bins: &Bins,
        control: &Control,
    ) -> Result<Parts, ServiceError> {
        let session = &self.session;
        let store = session.traces()?;
        let names = self.track_names();
        let name = |track: &usize| names.get(*track).cloned().unwrap_or_default();
        let has_calls =
            |track: &&usize| store.tracks().get(**track).is_some_and(|t| t.num_samples > 0);
        let tracks = selection.tracks.iter().filter(has_calls).copied().collect();
        let selection = Selection { tracks, window: selection.window };
        let exact = track_times(session, &selection, control)?;
        let by_bin = track_times_by_bin(session, &selection, bins, control)?;
        let rows: Vec<Series<TrackTimes>> = selection
            .tracks
            .iter()
            .zip(by_bin)
            .map(|(track, cells)| Series { name: name(track), cells })
            .collect();
        let mut long = Long::default();
        for nth in 0..bins.len {
            for row in &rows {
                let Some(times) = row.cells.get(nth) else { continue };
                long.add(nth, &row.name, idle_cells(times));
            }
        }
        let mut columns = self.bin_columns(bins, &long.nth);
        columns.push(Column::strings("location", "Whose time.", &long.names));
        let [waiting, outside, idle] = long.values;
        columns.extend(idle_columns(waiting, outside, idle));
        let cells: Vec<[f64; 3]> = exact.iter().map(idle_cells).collect();
        let pick = |at: usize| cells.iter().filter_map(|cells| cells.get(at)).copied().collect();
        let mut totals = vec![Column::strings(
            "location",
            "Whose time.",
            rows.iter().map(|row| row.name.as_str()),
        )];
        totals.extend(idle_columns(pick(0), pick(1), pick(2)));
        let shape = |row: &Series<TrackTimes>| {
            row.cells.iter().map(|times| percent(times.idle_nanos(), times.whole_nanos)).collect()
        };
        let shapes = rows.iter().map(shape).collect();
        Ok((Table::new(columns), Table::new(totals), shapes))
    }

    fn lateness(
        &self,
        selection: &Selection,
        bins: &Bins,
        notes: &mut Vec<String>,
        control: &Control,
    ) -> Result<Parts, ServiceError> {
        let (names, key_of) = self.names_of_contexts(OverTimeBy::Function);
        let mut found = lateness(&self.session, selection, bins, &key_of, control)?;
        if found.rows.is_empty() {
            notes.push("no call path is called equally often by several locations here".into());
        }
        if found.num_uneven > 0 {
            notes.push(format!(
                "{} call paths are left out, because locations call them differently often",
                found.num_uneven
            ));
        }
        found.rows.sort_by_key(|row| (Reverse(row.whole.sum_nanos), row.key));
        let name = |key: u32| names.get(key as usize).map_or("", String::as_str);
        let mut long = Long::default();
        let mut calls = Vec::new();
        for nth in 0..bins.len {
            for row in &found.rows {
                let Some(late) = row.bins.get(nth).filter(|late| late.calls > 0) else { continue };
                long.add(nth, name(row.key), [mean(late), seconds(late.max_nanos), 0.0]);
                calls.push(late.calls);
            }
        }
        let late_columns = |names: Vec<String>, calls, means, longest| {
            let doc = "What was called.";
            let doc_mean = "How much later than the first location, on average over all calls.";
            [
                Column::strings("function", doc, names),
                Column::u64s("calls", "", "How many calls are compared.", calls),
                Column::f64s("mean_s", "s", doc_mean, means),
                Column::f64s("longest_s", "s", "The latest call.", longest),
            ]
        };
        let mut columns = self.bin_columns(bins, &long.nth);
        let [means, longest, _] = long.values;
        columns.extend(late_columns(long.names, calls, means, longest));
        let rows = &found.rows;
        let mut totals = Vec::from(late_columns(
            rows.iter().map(|row| name(row.key).to_owned()).collect(),
            rows.iter().map(|row| row.whole.calls).collect(),
            rows.iter().map(|row| mean(&row.whole)).collect(),
            rows.iter().map(|row| seconds(row.whole.max_nanos)).collect(),
        ));
        let tracks = self.track_names();
        let latest = rows.iter().map(|row| tracks.get(row.latest).map_or("", String::as_str));
        let doc = "Who is late for the longest time in all.";
        totals.push(Column::strings("latest", doc, latest));
        let shapes = rows.iter().map(|row| row.bins.iter().map(mean).collect()).collect();
        Ok((Table::new(columns), Table::new(totals), shapes))
    }

    fn overlap(
        &self,
        selection: &Selection,
        bins: &Bins,
        notes: &mut Vec<String>,
        control: &Control,
    ) -> Result<Parts, ServiceError> {
        let found = overlap(&self.session, selection, bins, control)?;
        if found.tracks.is_empty() {
            notes.push("no messages or flows are under way here".into());
        }
        if found.is_flows {
            notes.push("the trace has flows instead of messages, so these count".into());
        }
        if found.backwards > 0 {
            notes.push(format!(
                "{} messages are received before they are sent and are left out: the clocks \
                 disagree",
                found.backwards
            ));
        }
        let names = self.track_names();
        let name = |track: usize| names.get(track).map_or("", String::as_str);
        let mut long = Long::default();
        for nth in 0..bins.len {
            for row in &found.tracks {
                if let Some(bin) = row.bins.get(nth).filter(|bin| bin.nanos > 0) {
                    long.add(nth, name(row.track), overlap_cells(bin));
                }
            }
        }
        let mut columns = self.bin_columns(bins, &long.nth);
        columns.push(Column::strings("location", "Whose time.", &long.names));
        let [under_way, computing, share] = long.values;
        columns.extend(overlap_columns(under_way, computing, share));
        let rows = &found.tracks;
        let cells: Vec<[f64; 3]> = rows.iter().map(|row| overlap_cells(&row.whole)).collect();
        let pick = |at: usize| cells.iter().filter_map(|cells| cells.get(at)).copied().collect();
        let of = rows.iter().map(|row| name(row.track));
        let mut totals = vec![Column::strings("location", "Whose time.", of)];
        let doc = "Messages from and to it.";
        let messages = rows.iter().map(|row| row.messages).collect();
        totals.push(Column::u64s("messages", "", doc, messages));
        totals.extend(overlap_columns(pick(0), pick(1), pick(2)));
        let shapes = rows
            .iter()
            .map(|row| row.bins.iter().map(|bin| percent(bin.computing_nanos, bin.nanos)).collect())
            .collect();
        Ok((Table::new(columns), Table::new(totals), shapes))
    }

    fn imbalance(
        &self,
        selection: &Selection,
        bins: &Bins,
        control: &Control,
    ) -> Result<Table, ServiceError> {
        let rows = imbalance_over_time(&self.session, selection, bins, control)?;
        let names = self.track_names();
        let nths: Vec<usize> = (0..rows.len()).collect();
        let mut columns = self.bin_columns(bins, &nths);
        let mut number =
            |name: &str, doc, of: fn(&parallax_analysis::balance::Distribution) -> f64| {
                let values = rows.iter().map(|row| of(&row.distribution)).collect();
                columns.push(Column::f64s(name, "s", doc, values));
            };
        number("mean_s", "Computing in the bin, on average over the locations.", |d| d.mean);
        number("max_s", "Of the location that computes most.", |d| d.max);
        number("saving_s", "max - mean: what perfect balance would save.", |d| d.saving);
        let ratios: Vec<Option<f64>> =
            rows.iter().map(|row| row.distribution.balance_ratio).collect();
        let lost = ratios.iter().map(|ratio| ratio.map(|ratio| (1.0 - ratio) * 100.0)).collect();
        let doc = "mean / max: 1 is perfect; nothing where nobody computes.";
        columns.push(Column::optional_f64s("balance_ratio", "", doc, ratios));
        let doc = "(max - mean) / max: the share that the average location has nothing to do.";
        columns.push(Column::optional_f64s("imbalance_percent", "%", doc, lost));
        let slowest = rows.iter().map(|row| {
            let is_any = row.distribution.max > 0.0;
            is_any.then(|| names.get(row.slowest).cloned().unwrap_or_default())
        });
        let doc = "Who computes most; nothing where nobody does.";
        columns.push(Column::optional_strings("slowest", doc, slowest));
        Ok(Table::new(columns))
    }

    /// Start and end of the bins with these places, as far as the trace has them.
    pub(crate) fn bin_columns(&self, bins: &Bins, nths: &[usize]) -> Vec<Column> {
        let traces = self.session.experiment().traces.as_deref();
        let zero = traces.map(TraceStore::span).map_or(0, |span| span.start_nanos);
        let after = |nanos: u64| seconds(nanos.saturating_sub(zero));
        let of = |pick: fn(parallax_base::TimeWindow) -> u64| {
            nths.iter().map(|&nth| after(pick(bins.inside(nth)))).collect()
        };
        let doc = "Start of the bin, after the start of the trace.";
        let start = Column::f64s("start_s", "s", doc, of(|bin| bin.start_nanos));
        let doc = "End of the bin.";
        vec![start, Column::f64s("end_s", "s", doc, of(|bin| bin.end_nanos))]
    }
}

/// Tables by bin and in all, and the shapes.
type Parts = (Table, Table, Vec<Vec<f64>>);

/// Rows of bins under each other.
#[derive(Default)]
struct Long {
    nth: Vec<usize>,
    names: Vec<String>,
    values: [Vec<f64>; 3],
}

impl Long {
    fn add(&mut self, nth: usize, name: &str, values: [f64; 3]) {
        self.nth.push(nth);
        self.names.push(name.to_owned());
        self.values.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
    }
}

fn idle_cells(times: &TrackTimes) -> [f64; 3] {
    [
        seconds(times.waiting_nanos),
        seconds(times.outside_nanos()),
        percent(times.idle_nanos(), times.whole_nanos),
    ]
}

fn idle_columns(waiting: Vec<f64>, outside: Vec<f64>, idle: Vec<f64>) -> [Column; 3] {
    let doc = "In functions that wait for somebody else.";
    let waiting = Column::f64s("waiting_s", "s", doc, waiting);
    let outside = Column::f64s("outside_s", "s", "In no function.", outside);
    [waiting, outside, Column::f64s("idle_percent", "%", "Both, of the time there is.", idle)]
}

fn mean(late: &Late) -> f64 {
    if late.calls == 0 { 0.0 } else { late.sum_nanos as f64 / late.calls as f64 / 1e9 }
}

fn overlap_cells(under_way: &UnderWay) -> [f64; 3] {
    let UnderWay { nanos, computing_nanos } = *under_way;
    [seconds(nanos), seconds(computing_nanos), percent(computing_nanos, nanos)]
}

fn overlap_columns(under_way: Vec<f64>, computing: Vec<f64>, share: Vec<f64>) -> [Column; 3] {
    let doc = "While at least one message from or to it is under way.";
    let under_way = Column::f64s("under_way_s", "s", doc, under_way);
    let doc = "Of this, while it computes.";
    let computing = Column::f64s("computing_s", "s", doc, computing);
    let doc = "The share of the time under way in which it computes.";
    [under_way, computing, Column::f64s("overlap_percent", "%", doc, share)]
}

fn seconds(nanos: impl Into<u128>) -> f64 {
    nanos.into() as f64 / 1e9
}

fn percent(part: impl Into<u128>, whole: impl Into<u128>) -> f64 {
    let (part, whole): (u128, u128) = (part.into(), whole.into());
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 * 100.0 }
}
