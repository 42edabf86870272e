//! Iterations found in traces: the answer of `iterations`.

mod phases;
mod tables;

use std::sync::{Arc, PoisonError};

use parallax_analysis::devices::Devices;
use parallax_analysis::events::{Activities, Activity};
use parallax_analysis::iterations::{
    Finding, GroupFinding, IterationState, Iterations, IterationsQuestion, Method, Repetition,
    Stall, Statistics, Units, find_iterations, statistics,
};
use parallax_analysis::taxonomy::FunctionNames;
use parallax_base::quantity::{amount, counted};
use parallax_base::{ContextIdx, Control, Remedy, TrackIdx, Unit};
use parallax_engine::query::{Range, parse_contexts};
use parallax_engine::resolve::resolve_contexts;
use parallax_protocol::{
    Answer, IterationCellTable, IterationCells, IterationContextTable, IterationLocationTable,
    IterationMapTable, IterationTable, IterationsFoundReply, IterationsGroupReply, IterationsReply,
    IterationsTables, RepetitionReply, StallReply,
};

use crate::clusters::excluded_without;
use crate::timeline::path;
use crate::{Answers, OpenExperiment, ServiceError};

pub(crate) use parallax_protocol::IterationsRequest;

/// What was asked last, and what was found.
pub(crate) type Last = Option<(IterationsQuestion, Arc<Finding>)>;

/// Iterations with everything that the tables are made of.
pub(crate) struct FoundIterations<'a> {
    opened: &'a OpenExperiment,
    iterations: &'a Iterations,
    pub(crate) statistics: &'a Statistics,
    pub(crate) locations: Vec<String>,
    start_nanos: u64,
    pub(crate) names: FunctionNames,
}

/// Cells of the map of locations and iterations; of more the page could not distinguish them.
const MOST_MAP_CELLS: usize = 4_000_000;

/// Definitions are those of [`parallax_analysis::iterations`].
impl Answers<IterationsRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &IterationsRequest,
        control: &Control,
    ) -> Result<Answer<IterationsRequest>, ServiceError> {
        if let Some(totals) = self.phases(control)? {
            return Ok(totals);
        }
        self.needs_whole_trace()?;
        let (finding, mut notes) = self.find_iterations(request, control)?;
        let mut found = None;
        let mut tables = IterationsTables {
            contexts: IterationContextTable::default(),
            locations: IterationLocationTable::default(),
            iterations: IterationTable::default(),
            cells: IterationCellTable::Map(IterationMapTable::default()),
        };
        if let Some((iterations, of)) = &finding.iterations {
            let it = self.found(iterations, of);
            found = Some(it.summary(&finding, &mut notes));
            tables.contexts = it.contexts();
            tables.locations = it.by_location();
            tables.iterations = it.by_iteration();
            let num_cells = iterations.len().saturating_mul(iterations.streams.len());
            match request.cells {
                IterationCells::None => {}
                IterationCells::All => {
                    tables.cells = IterationCellTable::All(it.cells(request, control)?);
                }
                IterationCells::Tree => {
                    tables.cells = IterationCellTable::Tree(it.trees(request, control)?);
                }
                IterationCells::Map if num_cells <= MOST_MAP_CELLS => {
                    tables.cells = IterationCellTable::Map(it.heat(request, control)?);
                }
                IterationCells::Map => notes.push(format!(
                    "no map of {} iterations on {} locations is drawn; choose locations or a window",
                    iterations.len(),
                    iterations.streams.len()
                )),
            }
            it.rows_note(&mut notes);
        }
        let groups = finding.groups.iter().map(|group| self.evidence(group)).collect();
        let stalls = match &finding.iterations {
            Some((iterations, of)) => {
                let it = self.found(iterations, of);
                finding.stalls.iter().map(|stall| it.stall(stall)).collect()
            }
            None => Vec::new(),
        };
        Ok(Answer::new(IterationsReply { found, groups, stalls, notes }, tables))
    }
}

impl OpenExperiment {
    pub(crate) fn found<'a>(
        &'a self,
        iterations: &'a Iterations,
        statistics: &'a Statistics,
    ) -> FoundIterations<'a> {
        let names = self.track_names();
        let x = self.session.experiment();
        let devices = Devices::new(&x.locations);
        let store = x.traces.as_deref();
        let name = |tracks: &Vec<TrackIdx>| match tracks.as_slice() {
            [track] => names.get(track.idx()).cloned().unwrap_or_default(),
            several => {
                let all = store.map(parallax_model::TraceStore::tracks).unwrap_or_default();
                let locations = several.iter().filter_map(|&track| all.get(track.idx()));
                devices.label(&locations.map(|track| track.location).collect::<Vec<_>>())
            }
        };
        FoundIterations {
            opened: self,
            iterations,
            statistics,
            locations: iterations.streams.iter().map(name).collect(),
            start_nanos: store.map_or(0, |store| store.span().start_nanos),
            names: FunctionNames::new(self.session.tree()),
        }
    }

    /// What time is counted to: all units, or those below the contexts that are asked for.
    fn units(&self, request: &IterationsRequest, control: &Control) -> Result<Units, ServiceError> {
        let tree = self.session.tree();
        let units = Units::new(tree, &Activities::new(tree));
        let Some(text) = &request.contexts else { return Ok(units) };
        let (only, _) = resolve_contexts(&self.session, &parse_contexts(text)?, control)?;
        Ok(units.below(tree, &only))
    }

    /// Finds the iterations, without those and without the contexts that are not asked for.
    pub(crate) fn find_iterations(
        &self,
        request: &IterationsRequest,
        control: &Control,
    ) -> Result<(Finding, Vec<String>), ServiceError> {
        let session = &self.session;
        let mut notes = Vec::new();
        let selection = self.selected(&request.part, &mut notes, control)?;
        let chosen = request.chosen.as_deref().map(parse_iterations).transpose()?;
        let mut contexts = |text: &Option<String>| -> Result<Vec<ContextIdx>, ServiceError> {
            let Some(text) = text else { return Ok(Vec::new()) };
            let (list, more) = resolve_contexts(session, &parse_contexts(text)?, control)?;
            notes.extend(more);
            Ok(list)
        };
        let marker = contexts(&request.marker)?;
        contexts(&request.contexts)?;
        if request.marker.is_some() && marker.is_empty() {
            let window = selection.window;
            let none = Finding { iterations: None, groups: Vec::new(), stalls: Vec::new(), window };
            return Ok((none, notes));
        }
        let (tracks, window) = (selection.tracks, selection.window);
        let question = IterationsQuestion { tracks, window, marker };
        let mut finding = self.find_or_known(question, control)?;
        for group in &finding.groups {
            let name = group.group.name_of(group.is_merged);
            notes.extend(group.limits.iter().map(|limit| format!("{name}: {limit}")));
        }
        if let Some((iterations, of)) = &mut finding.iterations
            && (request.contexts.is_some() || chosen.is_some())
        {
            if let Some((first, last)) = chosen {
                for (number, state) in (0..).zip(&mut iterations.states) {
                    if number < first || number > last {
                        *state = IterationState::LeftOut;
                    } else {
                        *state = IterationState::Whole;
                    }
                }
            }
            let units = self.units(request, control)?;
            *of = statistics(session, iterations, &units, control)?;
        }
        Ok((finding, notes))
    }

    /// The finding, from memory where the same was asked before.
    fn find_or_known(
        &self,
        question: IterationsQuestion,
        control: &Control,
    ) -> Result<Finding, ServiceError> {
        let last = self.found.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((asked, finding)) = last
            && asked == question
        {
            return Ok(Finding::clone(&finding));
        }
        let finding = find_iterations(&self.session, &question, control)?;
        let kept = Some((question, Arc::new(finding.clone())));
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = kept;
        Ok(finding)
    }

    fn evidence(&self, group: &GroupFinding) -> IterationsGroupReply {
        let tree = self.session.tree();
        let of = |r: &Repetition| RepetitionReply {
            marker: tree.label(r.marker),
            path: path(tree, r.marker),
            context_id: tree.source_id(r.marker),
            count: r.count as u64,
            period_s: r.period_nanos / 1e9,
            regular_percent: r.regular_share * 100.0,
            coverage_percent: r.coverage * 100.0,
            agreement_percent: r.agreement * 100.0,
            is_pooled: r.method.is_pooled(),
            is_in_step: r.method == Method::InStep,
            is_estimate: r.is_estimate,
            explained_percent: r.explained * 100.0,
            contexts: r.num_contexts as u64,
            chance: r.chance,
            is_order: r.method == Method::Order,
        };
        IterationsGroupReply {
            group: group.group.name_of(group.is_merged).into(),
            locations: group.num_tracks as u64,
            best: group.best.as_ref().map(of),
            others: group.others.iter().map(of).collect(),
            why_not: group.why_not.clone(),
        }
    }
}

/// The iterations that a text such as `3-7` or `4` chooses.
fn parse_iterations(text: &str) -> Result<(u64, u64), ServiceError> {
    let wrong = || {
        let message = "iterations are a number or a range such as 3-7, counted from 0";
        parallax_engine::query::QueryError::unknown_name(text, text, message)
    };
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |part: &str| part.trim().parse::<u64>().map_err(|_| wrong());
    let range = Range::new(number(first)?, number(last)?, 1).ok_or_else(wrong)?;
    Ok((range.first(), range.last()))
}

impl FoundIterations<'_> {
    pub(crate) fn summary(
        &self,
        finding: &Finding,
        notes: &mut Vec<String>,
    ) -> IterationsFoundReply {
        let it = self.iterations;
        let tree = self.opened.session.tree();
        let mut names: Vec<String> = it.marker.iter().map(|&context| tree.label(context)).collect();
        names.sort_unstable();
        names.dedup();
        let span = it.span();
        let seconds = |nanos: u64| nanos as f64 / 1e9;
        let after = |nanos: u64| seconds(nanos.saturating_sub(self.start_nanos));
        let starts = (it.len() * it.streams.len()).max(1);
        let first = |tracks: &Vec<TrackIdx>| tracks.first().map_or(u32::MAX, |track| track.get());
        let window_nanos = finding.window.nanos().max(1);
        let statistics = self.statistics;
        let summary = IterationsFoundReply {
            group: it.locations_name().into(),
            marker: it.marked_by.clone().unwrap_or_else(|| names.join(", ")),
            is_named: it.repetition.is_none() && it.marked_by.is_none(),
            marked_by: it.marked_by.clone(),
            locations: self.locations.clone(),
            tracks: it.streams.iter().map(first).collect(),
            count: it.len() as u64,
            whole: statistics.num_whole as u64,
            warm_up: it.count(IterationState::WarmUp) as u64,
            partial: it.count(IterationState::Partial) as u64,
            extraordinary: it.count(IterationState::Extraordinary) as u64,
            period_s: it.period_nanos() / 1e9,
            from_s: after(span.start_nanos),
            to_s: after(span.end_nanos),
            span_percent: span.nanos() as f64 / window_nanos as f64 * 100.0,
            window_s: seconds(window_nanos),
            is_aligned: it.is_aligned,
            guessed_percent: it.num_guessed as f64 / starts as f64 * 100.0,
            left_out: it.left_out.len() as u64,
            interval_s: it.interval_nanos.map(seconds),
            similarity_percent: statistics.similarity * 100.0,
            waited_s: statistics.waited_seconds,
            saving_s: statistics.saving_seconds,
            joint_saving_s: statistics.joint_saving_seconds,
            lasting_saving_s: statistics.lasting_saving_seconds,
            unresolved: statistics.num_unresolved as u64,
        };
        let others = finding.groups.iter().filter(|group| group.group != it.group);
        for other in others.filter(|other| other.num_tracks > 0) {
            let (kind, verb) = match other.num_tracks {
                1 => (other.group.name_of(other.is_merged).trim_end_matches('s'), "is"),
                _ => (other.group.name_of(other.is_merged), "are"),
            };
            notes.push(format!(
                "{} {kind} {verb} not included; {}: '{}'.",
                other.num_tracks,
                Remedy::Locations,
                other.group.expression(),
            ));
        }
        if summary.left_out > 0 {
            notes.push(excluded_without(summary.left_out, "these iterations"));
        }
        summary
    }

    /// How far samples are apart; `None` where times are exact.
    pub(crate) fn interval_seconds(&self) -> Option<f64> {
        self.iterations.interval_nanos.map(|nanos| nanos as f64 / 1e9)
    }

    /// A stall with its place, its time and who waits.
    pub(crate) fn stall(&self, stall: &Stall) -> StallReply {
        let tree = self.opened.session.tree();
        let seconds = |nanos: f64| nanos / 1e9;
        let start_s = seconds(stall.start_nanos.saturating_sub(self.start_nanos) as f64);
        let location = stall.place.and_then(|(at, ..)| self.locations.get(at).cloned());
        let told = |nanos: f64| amount(seconds(nanos), &Unit::Seconds);
        let mut text = format!(
            "Iteration {} begins {} after the start of the trace and takes {} instead of {}",
            stall.iteration,
            amount(start_s, &Unit::Seconds),
            told(stall.nanos),
            told(stall.usual_nanos),
        );
        if let Some((_, context, nanos)) = stall.place {
            let called = |context| self.names.display(tree, context);
            let caller = tree.parent(context).and_then(|above| tree.enclosing_function(above));
            let from =
                caller.map_or_else(String::new, |caller| format!(" below {}", called(caller)));
            text.push_str(&format!(
                ": {} spends {} in {}{from}",
                location.as_deref().unwrap_or("a location"),
                told(nanos as f64),
                called(context),
            ));
        }
        let others = stall.num_waiting.min(self.locations.len());
        match (others, stall.is_computing) {
            (0, _) => {}
            (1, true) => text.push_str("; 1 location waits meanwhile"),
            (n, true) => text.push_str(&format!("; {n} locations wait meanwhile")),
            // All of what waits or communicates is seen, so what they wait for is not in the trace.
            (n, false) => text.push_str(&format!(
                "; {n} of {} {}, and what for is not in the trace",
                counted(self.locations.len() as u64, "location"),
                if n == 1 { "waits or communicates" } else { "wait or communicate" },
            )),
        }
        text.push('.');
        StallReply {
            iteration: stall.iteration as u64,
            start_s,
            length_s: seconds(stall.nanos),
            usual_s: seconds(stall.usual_nanos),
            location,
            context_id: stall.place.map(|(_, context, _)| tree.source_id(context)),
            time_s: stall.place.map(|(.., nanos)| seconds(nanos as f64)),
            waiting: stall.num_waiting as u64,
            text,
        }
    }

    /// Says where rows stand for several iterations.
    fn rows_note(&self, notes: &mut Vec<String>) {
        let each = self.statistics.iterations.first().map_or(1, |row| row.num_iterations);
        if each > 1 {
            notes.push(format!(
                "Each row covers {each}, from the number in the first column: times are means over \
                 them."
            ));
        }
    }
}

pub(crate) const fn does(activity: Activity) -> &'static str {
    match activity {
        Activity::Computing => "computing",
        Activity::Communicating => "communicating",
        Activity::Waiting => "waiting",
        Activity::Outside => "nothing",
    }
}
