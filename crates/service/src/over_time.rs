//! How a trace changes over time: the answer of `over-time`.

use std::cmp::Reverse;
use std::collections::HashMap;

use parallax_analysis::events::{
    Bins, Late, Selection, TrackTimes, UnderWay, imbalance_over_time, lateness, overlap,
    time_profile, track_times, track_times_by_bin,
};
use parallax_base::{Control, TrackIdx};
use parallax_model::{ContextTree, TraceStore};
use parallax_protocol::{
    Answer, IdleTimeTable, ImbalanceTable, LatenessTable, OverTimeBy, OverTimeReply,
    OverTimeRequest, OverTimeTable, OverTimeTables, OverTimeWhat, OverlapTable, TimeProfileTable,
};

use crate::{Answers, OpenExperiment, ServiceError};

/// What changes over time, and the shape of the change, for surfaces that draw it next to a row.
#[derive(Debug, Clone)]
pub struct OverTimeShapes {
    /// The answer.
    pub answer: Answer<OverTimeRequest>,
    /// For each row of `totals` a number for each bin; none for imbalance.
    pub shapes: Vec<Vec<f64>>,
}

/// One row of totals to be, with its cells.
struct Series<T> {
    name: String,
    cells: Vec<T>,
}

impl OpenExperiment {
    /// How a trace changes over time, with what draws it.
    ///
    /// # Errors
    /// When there is no trace, an expression is wrong, or the question is withdrawn.
    pub fn over_time(
        &self,
        request: &OverTimeRequest,
        control: &Control,
    ) -> Result<OverTimeShapes, ServiceError> {
        let mut notes = Vec::new();
        let selection = self.selected(&request.part, &mut notes, control)?;
        if request.what != OverTimeWhat::Profile {
            self.needs_whole_trace()?;
        }
        let bins = Bins::covering(&self.session, selection.window, request.bins as usize)?;
        if bins.len == 0 {
            notes.push("the window lies outside of the trace".into());
        }
        let ([rows, totals], shapes) = match request.what {
            OverTimeWhat::Profile => self.profile(request.by, &selection, &bins, control)?,
            OverTimeWhat::Idle => self.idle(&selection, &bins, control)?,
            OverTimeWhat::Lateness => {
                self.needs_mpi_calls()?;
                self.lateness(&selection, &bins, &mut notes, control)?
            }
            OverTimeWhat::Overlap => self.overlap(&selection, &bins, &mut notes, control)?,
            OverTimeWhat::Imbalance => {
                let table = OverTimeTable::Imbalance(self.imbalance(&selection, &bins, control)?);
                ([table.clone(), table], Vec::new())
            }
        };
        let reply = OverTimeReply {
            bin_ns: 1_u64.checked_shl(bins.exponent.into()).unwrap_or(u64::MAX),
            bins: u32::try_from(bins.len).unwrap_or(u32::MAX),
            notes,
        };
        Ok(OverTimeShapes { answer: Answer::new(reply, OverTimeTables { rows, totals }), shapes })
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
            // Samples lie in lines: they count to the function around them.
            let around = tree.enclosing_function(context).unwrap_or(context);
            let name = match by {
                OverTimeBy::Function => tree.label(around),
                OverTimeBy::Group => {
                    let function = tree.function(around);
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
        let [exclusive_s, share_percent, _] = long.values;
        let (start_s, end_s) = self.bin_edges(bins, &long.nth);
        let by_bin = TimeProfileTable {
            start_s: Some(start_s),
            end_s: Some(end_s),
            name: long.names,
            exclusive_s,
            share_percent,
        };
        let totals: Vec<u128> = rows.iter().map(total).collect();
        let totals = TimeProfileTable {
            name: rows.iter().map(|row| row.name.clone()).collect(),
            share_percent: totals.iter().map(|&nanos| percent(nanos, all)).collect(),
            exclusive_s: totals.into_iter().map(seconds).collect(),
            ..TimeProfileTable::default()
        };
        let shapes = rows.iter().map(|row| row.cells.iter().map(|&nanos| seconds(nanos)).collect());
        Ok(([by_bin, totals].map(OverTimeTable::Profile), shapes.collect()))
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
        let name = |track: &TrackIdx| names.get(track.idx()).cloned().unwrap_or_default();
        let has_calls = |track: &&TrackIdx| store.track(**track).is_some_and(|t| t.num_samples > 0);
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
        let (start_s, end_s) = self.bin_edges(bins, &long.nth);
        let [waiting_s, outside_s, idle_percent] = long.values;
        let by_bin = IdleTimeTable {
            start_s: Some(start_s),
            end_s: Some(end_s),
            location: long.names,
            waiting_s,
            outside_s,
            idle_percent,
        };
        let [waiting_s, outside_s, idle_percent] = transposed(exact.iter().map(idle_cells));
        let location = rows.iter().map(|row| row.name.clone()).collect();
        let totals = IdleTimeTable {
            location,
            waiting_s,
            outside_s,
            idle_percent,
            ..IdleTimeTable::default()
        };
        let shape = |row: &Series<TrackTimes>| {
            row.cells.iter().map(|times| percent(times.idle_nanos(), times.whole_nanos)).collect()
        };
        let shapes = rows.iter().map(shape).collect();
        Ok(([by_bin, totals].map(OverTimeTable::Idle), shapes))
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
            notes.push("No call path is called equally often by several locations here.".into());
        }
        if found.num_uneven > 0 {
            notes.push(format!(
                "{} call paths are excluded, because the number of calls differs between locations.",
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
        let (start_s, end_s) = self.bin_edges(bins, &long.nth);
        let [mean_s, longest_s, _] = long.values;
        let by_bin = LatenessTable {
            start_s: Some(start_s),
            end_s: Some(end_s),
            function: long.names,
            calls,
            mean_s,
            longest_s,
            latest: None,
        };
        let rows = &found.rows;
        let tracks = self.track_names();
        let latest =
            rows.iter().map(|row| tracks.get(row.latest.idx()).cloned().unwrap_or_default());
        let totals = LatenessTable {
            start_s: None,
            end_s: None,
            function: rows.iter().map(|row| name(row.key).to_owned()).collect(),
            calls: rows.iter().map(|row| row.whole.calls).collect(),
            mean_s: rows.iter().map(|row| mean(&row.whole)).collect(),
            longest_s: rows.iter().map(|row| seconds(row.whole.max_nanos)).collect(),
            latest: Some(latest.collect()),
        };
        let shapes = rows.iter().map(|row| row.bins.iter().map(mean).collect()).collect();
        Ok(([by_bin, totals].map(OverTimeTable::Lateness), shapes))
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
            notes.push("No messages or flows in this window.".into());
        }
        if found.is_flows {
            notes.push("The trace has no messages; flows are used.".into());
        }
        if found.backwards > 0 {
            notes.push(format!(
                "{} messages are received before they are sent and are excluded: clocks are not \
                 synchronised.",
                found.backwards
            ));
        }
        let names = self.track_names();
        let name = |track: TrackIdx| names.get(track.idx()).map_or("", String::as_str);
        let mut long = Long::default();
        for nth in 0..bins.len {
            for row in &found.tracks {
                if let Some(bin) = row.bins.get(nth).filter(|bin| bin.nanos > 0) {
                    long.add(nth, name(row.track), overlap_cells(bin));
                }
            }
        }
        let (start_s, end_s) = self.bin_edges(bins, &long.nth);
        let [under_way_s, computing_s, overlap_percent] = long.values;
        let by_bin = OverlapTable {
            start_s: Some(start_s),
            end_s: Some(end_s),
            location: long.names,
            messages: None,
            under_way_s,
            computing_s,
            overlap_percent,
        };
        let rows = &found.tracks;
        let [under_way_s, computing_s, overlap_percent] =
            transposed(rows.iter().map(|row| overlap_cells(&row.whole)));
        let totals = OverlapTable {
            start_s: None,
            end_s: None,
            location: rows.iter().map(|row| name(row.track).to_owned()).collect(),
            messages: Some(rows.iter().map(|row| row.messages).collect()),
            under_way_s,
            computing_s,
            overlap_percent,
        };
        let shapes = rows
            .iter()
            .map(|row| row.bins.iter().map(|bin| percent(bin.computing_nanos, bin.nanos)).collect())
            .collect();
        Ok(([by_bin, totals].map(OverTimeTable::Overlap), shapes))
    }

    fn imbalance(
        &self,
        selection: &Selection,
        bins: &Bins,
        control: &Control,
    ) -> Result<ImbalanceTable, ServiceError> {
        let rows = imbalance_over_time(&self.session, selection, bins, control)?;
        let names = self.track_names();
        let nths: Vec<usize> = (0..rows.len()).collect();
        let (start_s, end_s) = self.bin_edges(bins, &nths);
        let number = |of: fn(&parallax_analysis::balance::Distribution) -> f64| {
            rows.iter().map(|row| of(&row.distribution)).collect()
        };
        let balance_ratio: Vec<Option<f64>> =
            rows.iter().map(|row| row.distribution.balance_ratio).collect();
        let lost = balance_ratio.iter().map(|ratio| ratio.map(|ratio| (1.0 - ratio) * 100.0));
        let slowest = rows.iter().map(|row| {
            let is_any = row.distribution.max > 0.0;
            is_any.then(|| names.get(row.slowest.idx()).cloned().unwrap_or_default())
        });
        Ok(ImbalanceTable {
            start_s,
            end_s,
            mean_s: number(|d| d.mean),
            max_s: number(|d| d.max),
            saving_s: number(|d| d.saving),
            imbalance_percent: lost.collect(),
            balance_ratio,
            slowest: slowest.collect(),
        })
    }

    /// Start and end of the bins with these places, as far as the trace has them, in seconds after
    /// its start.
    fn bin_edges(&self, bins: &Bins, nths: &[usize]) -> (Vec<f64>, Vec<f64>) {
        let traces = self.session.experiment().traces.as_deref();
        let zero = traces.map(TraceStore::span).map_or(0, |span| span.start_nanos);
        let after = |nanos: u64| seconds(nanos.saturating_sub(zero));
        nths.iter()
            .map(|&nth| bins.inside(nth))
            .map(|bin| (after(bin.start_nanos), after(bin.end_nanos)))
            .unzip()
    }
}

impl Answers<OverTimeRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &OverTimeRequest,
        control: &Control,
    ) -> Result<Answer<OverTimeRequest>, ServiceError> {
        Ok(self.over_time(request, control)?.answer)
    }
}

/// Tables by bin and in all, and the shapes.
type Parts = ([OverTimeTable; 2], Vec<Vec<f64>>);

/// Rows of three numbers as three columns.
fn transposed(rows: impl Iterator<Item = [f64; 3]>) -> [Vec<f64>; 3] {
    let mut columns = <[Vec<f64>; 3]>::default();
    for row in rows {
        columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
    }
    columns
}

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

fn mean(late: &Late) -> f64 {
    if late.calls == 0 { 0.0 } else { late.sum_nanos as f64 / late.calls as f64 / 1e9 }
}

fn overlap_cells(under_way: &UnderWay) -> [f64; 3] {
    let UnderWay { nanos, computing_nanos } = *under_way;
    [seconds(nanos), seconds(computing_nanos), percent(computing_nanos, nanos)]
}

fn seconds(nanos: impl Into<u128>) -> f64 {
    nanos.into() as f64 / 1e9
}

fn percent(part: impl Into<u128>, whole: impl Into<u128>) -> f64 {
    let (part, whole): (u128, u128) = (part.into(), whole.into());
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 * 100.0 }
}
