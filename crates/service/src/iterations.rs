//! Iterations found in traces: the answer of `iterations`.

mod tables;

use std::sync::{Arc, PoisonError};

use parallax_analysis::devices::Devices;
use parallax_analysis::events::{Activities, Activity};
use parallax_analysis::iterations::{
    Finding, GroupFinding, IterationState, Iterations, IterationsQuestion, Repetition, Statistics,
    Units, find_iterations, statistics,
};
use parallax_base::{ContextIdx, Control};
use parallax_engine::Table;
use parallax_engine::query::{Range, parse_contexts};
use parallax_engine::resolve::resolve_contexts;

use crate::timeline::path;
use crate::{Answer, Opened, ServiceError};

/// What the rows of iterations are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum IterationsBy {
    /// Contexts, with the savings that balancing them predicts.
    #[default]
    Context,
    /// Locations.
    Location,
    /// Iterations, in order of time.
    Iteration,
    /// The time of each context on each location in each iteration.
    Cell,
}

/// Which iterations, and what is asked about them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IterationsRequest {
    /// A profile expression; `None` for all.
    pub profiles: Option<String>,
    /// A time window; `None` for everything.
    pub window: Option<String>,
    /// A context expression: iterations begin where one of these is entered. `None` to find them.
    pub marker: Option<String>,
    /// A context expression: only these, with what they call, count. `None` for all.
    pub contexts: Option<String>,
    /// Only these iterations count, first and last included; `None` for all.
    pub chosen: Option<(u64, u64)>,
    /// What the rows are.
    pub by: IterationsBy,
}

/// How the locations of one kind repeat, for people.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupEvidence {
    /// Which locations: `GPU streams`, `GPUs` where some have several streams, `first threads` or
    /// `other threads`.
    pub group: String,
    /// How many of them are active.
    pub num_locations: usize,
    /// The way in which they repeat; `None` when there are no regular iterations.
    pub best: Option<RepetitionEvidence>,
    /// Other ways, best first.
    pub others: Vec<RepetitionEvidence>,
    /// Why there is none.
    pub why_not: Option<String>,
}

/// Why something is taken for iterations.
#[derive(Debug, Clone, PartialEq)]
pub struct RepetitionEvidence {
    /// The context with which iterations begin.
    pub marker: String,
    /// Its call path.
    pub path: String,
    /// Its id in the database.
    pub context_id: u32,
    /// How many iterations.
    pub count: usize,
    /// Median spacing in seconds.
    pub period_seconds: f64,
    /// Share of spacings within a factor of 1.5 of the median, in per cent.
    pub regular_percent: f64,
    /// Share of the time of these locations that regular iterations cover, in per cent.
    pub coverage_percent: f64,
    /// Share of the locations that show this many iterations, or of the iterations that a location
    /// shows, in per cent.
    pub agreement_percent: f64,
    /// Whether iterations were found on all locations together.
    pub is_pooled: bool,
    /// Share of the time in contexts that repeat as often, in per cent.
    pub explained_percent: f64,
    /// How many contexts repeat as often.
    pub num_contexts: usize,
    /// How likely anything in a program without iterations looks as regular.
    pub chance: f64,
    /// Whether only the order of contexts speaks for it, and distances differ: then
    /// `regular_percent` is the share of iterations that are alike in order, and `coverage_percent`
    /// the time of all iterations.
    pub is_order: bool,
}

/// The iterations that were found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundIterations {
    /// Which locations: `GPU streams`, `GPUs` where some have several streams, `first threads` or
    /// `other threads`.
    pub group: String,
    /// What iterations begin with.
    pub marker: String,
    /// Whether a person named the marker.
    pub is_named: bool,
    /// Names of the locations, in their order.
    pub locations: Vec<String>,
    /// Their tracks, as rows of the timeline; of a GPU with several streams the first one.
    pub tracks: Vec<u32>,
    /// How many iterations there are.
    pub count: usize,
    /// How many count in statistics.
    pub num_whole: usize,
    /// How many at the beginning do not, because they are much longer or shorter.
    pub num_warm_up: usize,
    /// How many at the end do not, because most of them is missing.
    pub num_partial: usize,
    /// Median length in seconds.
    pub period_seconds: f64,
    /// From the first begin to the last end, in seconds after the start of the trace.
    pub from_seconds: f64,
    /// See `from_seconds`.
    pub to_seconds: f64,
    /// That time, as a share of the window, in per cent.
    pub span_percent: f64,
    /// How long the window is, in seconds: what savings are a share of.
    pub window_seconds: f64,
    /// Whether iterations begin at about the same time on all locations.
    pub is_aligned: bool,
    /// Share of the begins that were not seen and taken from the neighbours, in per cent.
    pub guessed_percent: f64,
    /// How many locations do not have these iterations.
    pub num_left_out: usize,
    /// How far samples are apart, in seconds; `None` where times are exact.
    pub interval_seconds: Option<f64>,
    /// How alike iterations are, in per cent.
    pub similarity_percent: f64,
    /// What balancing each context that computes on its own saves, in seconds.
    pub saving_seconds: f64,
    /// What balancing the sum of the computing of each location saves, in seconds.
    pub joint_saving_seconds: f64,
    /// What balancing the differences that last saves, in seconds.
    pub lasting_saving_seconds: f64,
    /// How many contexts that compute take too few samples to be judged by iteration.
    pub num_unresolved: usize,
}

/// Iterations, and what they say.
#[derive(Debug, Clone)]
pub struct IterationsAnswer {
    /// What was found; `None` when there are no regular iterations.
    pub found: Option<FoundIterations>,
    /// By kind of location why, or why not.
    pub groups: Vec<GroupEvidence>,
    /// The rows that were asked for.
    pub table: Table,
}

impl IterationsAnswer {
    /// Why there are no regular iterations, or a word about it.
    #[must_use]
    pub fn why_not(&self) -> Vec<String> {
        let why = |group: &GroupEvidence| {
            group.why_not.as_ref().map(|why| format!("{}: {why}", group.group))
        };
        self.groups.iter().filter_map(why).collect()
    }
}

/// What a picture of iterations shows.
#[derive(Debug, Clone)]
pub struct IterationsView {
    /// What was found; `None` when there are no regular iterations.
    pub found: Option<FoundIterations>,
    /// By kind of location why, or why not.
    pub groups: Vec<GroupEvidence>,
    /// By context.
    pub contexts: Table,
    /// By location.
    pub locations: Table,
    /// By iteration.
    pub iterations: Table,
    /// By location and iteration.
    pub cells: Table,
}

/// What was asked last, and what was found.
pub(crate) type Last = Option<(IterationsQuestion, Arc<Finding>)>;

/// Iterations with everything that the tables are made of.
pub(crate) struct Found<'a> {
    opened: &'a Opened,
    iterations: &'a Iterations,
    pub(crate) statistics: &'a Statistics,
    pub(crate) locations: Vec<String>,
    start_nanos: u64,
}

/// Cells of the map of locations and iterations; of more the page could not tell any apart.
const MOST_MAP_CELLS: usize = 4_000_000;

impl Opened {
    /// The iterations of the program, and what each context costs in them. Definitions are those of
    /// [`parallax_analysis::iterations`]. Columns:
    ///
    /// - contexts: `context`, `does`, `share_percent`, `mean_s`, `max_s`, `balance_ratio`,
    ///   `across_percent`, `within_percent`, `saving_s`, `total_saving_s`, `lasting_saving_s`,
    ///   `resolved`, `slowest`, `call_path`, `context_id`;
    /// - locations: `location`, `length_s`, `computing_s`, `communicating_s`, `waiting_s`,
    ///   `variation_percent`, `slowest_in`;
    /// - iterations: `iteration`, `state`, `start_s`, `length_s`, `mean_s`, `max_s`,
    ///   `balance_ratio`, `imbalance_percent`, `saving_s`, `waiting_s`, `slowest`;
    /// - cells: `iteration`, `location`, `context`, `context_id`, `time_s`.
    ///
    /// # Errors
    /// When there are no traces, an expression is wrong, or the question is withdrawn.
    pub fn iterations(
        &self,
        request: &IterationsRequest,
        control: &Control,
    ) -> Result<Answer<IterationsAnswer>, ServiceError> {
        let (finding, mut notes) = self.find_iterations(request, control)?;
        let found = finding.iterations.as_ref().map(|(iterations, of)| self.found(iterations, of));
        let groups = finding.groups.iter().map(|group| self.evidence(group)).collect();
        let summary = found.as_ref().map(|found| found.summary(&finding, &mut notes));
        let table = match &found {
            Some(found) => found.table(request, control, &mut notes)?,
            None => Table::new(Vec::new()),
        };
        Ok(Answer { value: IterationsAnswer { found: summary, groups, table }, notes })
    }

    pub(crate) fn found<'a>(
        &'a self,
        iterations: &'a Iterations,
        statistics: &'a Statistics,
    ) -> Found<'a> {
        let names = self.track_names();
        let x = self.session.experiment();
        let devices = Devices::new(&x.locations);
        let store = x.traces.as_deref();
        let name = |tracks: &Vec<usize>| match tracks.as_slice() {
            [track] => names.get(*track).cloned().unwrap_or_default(),
            several => {
                let all = store.map(parallax_model::TraceStore::tracks).unwrap_or_default();
                let locations = several.iter().filter_map(|&track| all.get(track));
                devices.label(&locations.map(|track| track.location).collect::<Vec<_>>())
            }
        };
        Found {
            opened: self,
            iterations,
            statistics,
            locations: iterations.streams.iter().map(name).collect(),
            start_nanos: store.map_or(0, |store| store.span().start_nanos),
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
        let (profiles, window) = (request.profiles.as_deref(), request.window.as_deref());
        let selection = self.selection(profiles, window, &mut notes)?;
        let mut contexts = |text: &Option<String>| -> Result<Vec<ContextIdx>, ServiceError> {
            let Some(text) = text else { return Ok(Vec::new()) };
            let (list, more) = resolve_contexts(session, &parse_contexts(text)?, control)?;
            notes.extend(more);
            Ok(list)
        };
        let marker = contexts(&request.marker)?;
        contexts(&request.contexts)?;
        if request.marker.is_some() && marker.is_empty() {
            let none = Finding { iterations: None, groups: Vec::new(), window: selection.window };
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
            && (request.contexts.is_some() || request.chosen.is_some())
        {
            if let Some((first, last)) = request.chosen {
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

    /// Everything that a picture of iterations shows: the tables of [`Opened::iterations`], and of
    /// the context with the id `context` the time on each location in each iteration (of all that
    /// computes where `context` is `None`): `location` and `iteration` as numbers, `time_s` and
    /// `difference_s` from the mean of the locations.
    ///
    /// # Errors
    /// As [`Opened::iterations`].
    pub fn iterations_view(
        &self,
        request: &IterationsRequest,
        context: Option<u32>,
        control: &Control,
    ) -> Result<Answer<IterationsView>, ServiceError> {
        let (finding, mut notes) = self.find_iterations(request, control)?;
        let groups = finding.groups.iter().map(|group| self.evidence(group)).collect();
        let none = || Table::new(Vec::new());
        let mut view = IterationsView {
            found: None,
            groups,
            contexts: none(),
            locations: none(),
            iterations: none(),
            cells: none(),
        };
        if let Some((iterations, of)) = &finding.iterations {
            let found = self.found(iterations, of);
            view.found = Some(found.summary(&finding, &mut notes));
            view.contexts = found.contexts();
            view.locations = found.by_location();
            view.iterations = found.by_iteration();
            let num_cells = iterations.len().saturating_mul(iterations.streams.len());
            if num_cells <= MOST_MAP_CELLS {
                view.cells = found.heat(request, context, control)?;
            } else {
                notes.push(format!(
                    "no map of {} iterations on {} locations is drawn; choose locations or a window",
                    iterations.len(),
                    iterations.streams.len()
                ));
            }
            found.rows_note(&mut notes);
        }
        Ok(Answer { value: view, notes })
    }

    fn evidence(&self, group: &GroupFinding) -> GroupEvidence {
        let tree = self.session.tree();
        let of = |r: &Repetition| RepetitionEvidence {
            marker: tree.label(r.marker),
            path: path(tree, r.marker),
            context_id: tree.source_id(r.marker),
            count: r.count,
            period_seconds: r.period_nanos / 1e9,
            regular_percent: r.regular_share * 100.0,
            coverage_percent: r.coverage * 100.0,
            agreement_percent: r.agreement * 100.0,
            is_pooled: r.is_pooled,
            explained_percent: r.explained * 100.0,
            num_contexts: r.num_contexts,
            chance: r.chance,
            is_order: r.is_order,
        };
        GroupEvidence {
            group: group.group.name_of(group.is_merged).into(),
            num_locations: group.num_tracks,
            best: group.best.as_ref().map(of),
            others: group.others.iter().map(of).collect(),
            why_not: group.why_not.clone(),
        }
    }
}

/// The iterations that a text such as `3-7` or `4` chooses.
///
/// # Errors
/// When it is neither a number nor a range.
pub fn parse_iterations(text: &str) -> Result<(u64, u64), ServiceError> {
    let wrong = || {
        let message = "iterations are a number or a range such as 3-7, counted from 0";
        parallax_engine::query::QueryError::unknown_name(text, text, message)
    };
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |part: &str| part.trim().parse::<u64>().map_err(|_| wrong());
    let range = Range::new(number(first)?, number(last)?, 1).ok_or_else(wrong)?;
    Ok((range.first(), range.last()))
}

impl Found<'_> {
    pub(crate) fn summary(&self, finding: &Finding, notes: &mut Vec<String>) -> FoundIterations {
        let it = self.iterations;
        let tree = self.opened.session.tree();
        let mut names: Vec<String> = it.marker.iter().map(|&context| tree.label(context)).collect();
        names.sort_unstable();
        names.dedup();
        let span = it.span();
        let seconds = |nanos: u64| nanos as f64 / 1e9;
        let after = |nanos: u64| seconds(nanos.saturating_sub(self.start_nanos));
        let starts = (it.len() * it.streams.len()).max(1);
        let first = |tracks: &Vec<usize>| tracks.first().copied().unwrap_or(usize::MAX);
        let window_nanos = finding.window.nanos().max(1);
        let statistics = self.statistics;
        let summary = FoundIterations {
            group: it.locations_name().into(),
            marker: names.join(", "),
            is_named: it.repetition.is_none(),
            locations: self.locations.clone(),
            tracks: it
                .streams
                .iter()
                .map(|tracks| u32::try_from(first(tracks)).unwrap_or(u32::MAX))
                .collect(),
            count: it.len(),
            num_whole: statistics.num_whole,
            num_warm_up: it.count(IterationState::WarmUp),
            num_partial: it.count(IterationState::Partial),
            period_seconds: it.period_nanos() / 1e9,
            from_seconds: after(span.start_nanos),
            to_seconds: after(span.end_nanos),
            span_percent: span.nanos() as f64 / window_nanos as f64 * 100.0,
            window_seconds: seconds(window_nanos),
            is_aligned: it.is_aligned,
            guessed_percent: it.num_guessed as f64 / starts as f64 * 100.0,
            num_left_out: it.left_out.len(),
            interval_seconds: it.interval_nanos.map(seconds),
            similarity_percent: statistics.similarity * 100.0,
            saving_seconds: statistics.saving_seconds,
            joint_saving_seconds: statistics.joint_saving_seconds,
            lasting_saving_seconds: statistics.lasting_saving_seconds,
            num_unresolved: statistics.num_unresolved,
        };
        let others = finding.groups.iter().filter(|group| group.group != it.group);
        for other in others.filter(|other| other.num_tracks > 0) {
            let (kind, verb) = match other.num_tracks {
                1 => (other.group.name_of(other.is_merged).trim_end_matches('s'), "is"),
                _ => (other.group.name_of(other.is_merged), "are"),
            };
            notes.push(format!(
                "{} {kind} {verb} not in this; -p '{}' shows {}",
                other.num_tracks,
                other.group.expression(),
                if verb == "is" { "it" } else { "them" },
            ));
        }
        if summary.num_left_out > 0 {
            notes.push(format!(
                "{} locations do not show these iterations and are left out",
                summary.num_left_out
            ));
        }
        summary
    }

    fn table(
        &self,
        request: &IterationsRequest,
        control: &Control,
        notes: &mut Vec<String>,
    ) -> Result<Table, ServiceError> {
        Ok(match request.by {
            IterationsBy::Context => self.contexts(),
            IterationsBy::Location => self.by_location(),
            IterationsBy::Iteration => {
                self.rows_note(notes);
                self.by_iteration()
            }
            IterationsBy::Cell => self.cells(request, control)?,
        })
    }

    /// Says where rows stand for several iterations.
    fn rows_note(&self, notes: &mut Vec<String>) {
        let each = self.statistics.iterations.first().map_or(1, |row| row.num_iterations);
        if each > 1 {
            notes.push(format!(
                "rows of iterations stand for {each} each, from the number in the first column on: \
                 times are means over them"
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
