//! Files and databases as one ensemble.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use parallax_base::{Control, Folder, Limits, Source, Unit};
use parallax_engine::Session;
use parallax_import::scaling::{self as import, MeasurementOptions, RegionTime, open_measurements};
use parallax_import::{DataContent, DataSet, ImportError, is_experiment_file};
use parallax_model::ensemble::{
    Ensemble, EnsembleBuilder, Ids, LateLocation, ParameterValue, RunEvidence, ValueOrder,
    parameter_names,
};
use parallax_model::{Experiment, Metadata, TraceKind};

use parallax_analysis::comparison::is_flat;
use parallax_analysis::events::{Delay, Selection, WaitChoice, delays, waits};
use parallax_analysis::report::{ReportOptions, report};
use parallax_analysis::taxonomy::Roles;
use parallax_protocol::{EnsembleChoice, RegionEntries};

use super::clock::{ChosenMetric, Clock};
use super::contexts::{Added, ContextOptions, add_database};
use super::error::listed;
use super::parameters::{ParameterRule, ParameterTable, labelled, told_cores, told_input};
use super::runs::{RunGroup, group_runs, left_out};
use super::{Remedy, ScalingError};
use crate::Answer;

/// One thing to open: what the user named, and the bytes behind it.
#[derive(Clone)]
pub struct ScalingSource {
    /// The path as it was given; parameters may be read from it.
    pub name: String,
    /// What is there.
    pub content: ScalingContent,
}

/// What a [`ScalingSource`] is.
#[derive(Clone)]
pub enum ScalingContent {
    /// A file of measurements, or one that is an experiment on its own.
    File(Source),
    /// The folder of a database.
    Folder(Arc<dyn Folder>),
}

impl ScalingSource {
    /// Whether there is one experiment, not measurements of many.
    #[must_use]
    pub fn is_experiment(&self) -> bool {
        match &self.content {
            ScalingContent::File(file) => is_experiment_file(file),
            ScalingContent::Folder(_) => true,
        }
    }

    /// What was found, as a source; `None` for a trace, which must be converted first.
    #[must_use]
    pub fn of(data: &DataSet) -> Option<Self> {
        let content = match &data.content {
            DataContent::File(file) => ScalingContent::File(Arc::clone(file)),
            DataContent::Folder { folder, .. } => ScalingContent::Folder(Arc::clone(folder)),
            DataContent::Trace(_) => return None,
        };
        Some(Self { name: data.name.clone(), content })
    }

    /// Opens the experiment.
    ///
    /// # Errors
    /// When there is none.
    pub fn experiment(&self, limits: &Limits) -> Result<Experiment, ImportError> {
        match &self.content {
            ScalingContent::File(file) => parallax_import::open_file(file, &self.name, limits),
            ScalingContent::Folder(folder) => parallax_import::open(folder, limits),
        }
    }
}

/// How sources become an ensemble.
#[derive(Debug, Clone, Default)]
pub struct EnsembleOptions {
    /// Parameters that the sources do not tell, or tell differently.
    pub parameters: Vec<ParameterRule>,
    /// Parameters by path.
    pub table: Option<ParameterTable>,
    /// How databases are read.
    pub contexts: ContextOptions,
    /// How the entries of a region in one run become one time, for formats that keep entries.
    pub region_time: RegionTime,
    /// Bounds on memory.
    pub limits: Limits,
}

type Extra = Vec<(String, ParameterValue)>;

impl EnsembleOptions {
    /// What a request chooses.
    ///
    /// # Errors
    /// When a source of a parameter cannot be read.
    pub fn of(choice: &EnsembleChoice) -> Result<Self, ScalingError> {
        let rules = choice.parameters.iter().map(|text| ParameterRule::parse(text));
        Ok(Self {
            parameters: rules.collect::<Result<_, _>>()?,
            table: None,
            contexts: ContextOptions::from(choice),
            region_time: match choice.region_time {
                RegionEntries::Union => RegionTime::Union,
                RegionEntries::Sum => RegionTime::Sum,
                RegionEntries::Span => RegionTime::Span,
                RegionEntries::ThreadMax => RegionTime::ThreadMax,
            },
            limits: Limits::default(),
        })
    }

    fn reading<'a>(&self, name: &'a str) -> MeasurementOptions<'a> {
        let (limits, region_time) = (self.limits, self.region_time);
        MeasurementOptions { file: name, limits, region_time }
    }

    /// The parameters of one source by table and rules; rules win.
    fn extra(
        &self,
        origin: &str,
        metadata: &Metadata,
        session: Option<&Session>,
    ) -> Result<Extra, ScalingError> {
        let mut facts = metadata.facts.clone();
        facts.push(("title".to_owned(), metadata.title.clone()));
        facts.push(("format".to_owned(), metadata.format.clone()));
        let mut extra: Extra = Vec::new();
        if let Some(table) = &self.table {
            let values = table.values(origin)?;
            extra.extend(values.into_iter().map(|(name, value)| (name.to_owned(), value)));
        }
        for rule in &self.parameters {
            let value = rule.value(origin, &facts, session)?;
            extra.retain(|(name, _)| *name != rule.name);
            extra.push((rule.name.clone(), value));
        }
        Ok(extra)
    }

    fn names_parameter(&self, name: &str) -> bool {
        self.parameters.iter().any(|rule| rule.name == name)
    }
}

/// The ensembles that several experiments make.
pub struct Ensembles {
    /// Each with the positions of its sources, the largest first.
    pub ensembles: Vec<(Answer<Ensemble>, Vec<usize>)>,
    /// Sources that are in none, with the reason: they are of another program, or lack the metric.
    pub left_out: Vec<(usize, String)>,
}

/// Opens experiments as ensembles: runs of one program with the same metric make one. What is
/// unlike all others is left out, and the reason is given.
///
/// # Errors
/// When something cannot be opened, or a parameter has no value.
pub fn open_ensembles(
    sources: &[ScalingSource],
    options: &EnsembleOptions,
    control: &Control,
) -> Result<Ensembles, ScalingError> {
    let sources: Vec<&ScalingSource> = sources.iter().collect();
    let sessions = open_sessions(&sources, options)?;
    let groups = group_runs(&sessions, &options.contexts, control)?;
    let is_used = |group: &RunGroup| group.metric.is_some() && group.members.len() > 1;
    let left_out = left_out(&sessions, &groups, is_used).into_iter().collect();
    let mut ensembles = Vec::new();
    let mut sessions: Vec<Option<(&str, Session)>> = sessions.into_iter().map(Some).collect();
    for group in groups.into_iter().filter(|group| is_used(group)) {
        let members = group.members.iter();
        let own = members.filter_map(|&at| sessions.get_mut(at).and_then(Option::take));
        let own: Vec<(&str, Session)> = own.collect();
        ensembles.push((assemble_databases(&own, group.metric, options, control)?, group.members));
    }
    Ok(Ensembles { ensembles, left_out })
}

/// Opens files of measurements, or databases, as one ensemble. Of databases it has the runs of the
/// program and with the metric that most of them have; notes say which are left out.
///
/// # Errors
/// When there is nothing to open, something cannot be opened, no two databases are runs of one
/// program with one metric, or a parameter has no value.
pub fn open_ensemble(
    sources: &[ScalingSource],
    options: &EnsembleOptions,
    control: &Control,
) -> Result<Answer<Ensemble>, ScalingError> {
    let mut files: Vec<(&str, &Source)> = Vec::new();
    let mut databases: Vec<&ScalingSource> = Vec::new();
    for source in sources {
        match &source.content {
            ScalingContent::File(file) if !source.is_experiment() => {
                files.push((&source.name, file));
            }
            _ => databases.push(source),
        }
    }
    match (files.first(), databases.first()) {
        (None, None) => Err(ScalingError::NoSources),
        (Some((file, _)), Some(database)) => Err(ScalingError::MixedSources {
            file: (*file).to_owned(),
            folder: database.name.clone(),
        }),
        (Some(_), None) => open_files(&files, options, control),
        (None, Some(_)) => open_databases(&databases, options, control),
    }
}

/// Where the last part of a large file of measurements ends that is whole in `range`; `None` when
/// none does. [`read_measurement_part`] says whether it is a part indeed.
#[must_use]
pub fn measurement_part_end(source: &Source, range: Range<u64>) -> Option<u64> {
    import::measurement_part_end(&**source, range)
}

/// Reads the range between two ends of [`measurement_part_end`] into bytes for [`assemble_measurements`]. The bytes
/// may be made by another worker of the same program; they are empty where the range turns out not
/// to be a part of its own.
#[must_use]
pub fn read_measurement_part(
    source: &Source,
    name: &str,
    range: Range<u64>,
    options: &EnsembleOptions,
) -> Vec<u8> {
    import::read_measurement_part(&**source, range, &options.reading(name))
}

/// Joins what [`read_measurement_part`] gave for all ranges, in their order: equal to what
/// [`open_ensemble`] gives for this one file. Where the parts do not fit together, or `options`
/// name parameters, the file is read from front to back.
///
/// # Errors
/// As [`open_ensemble`].
pub fn assemble_measurements(
    source: &Source,
    name: &str,
    parts: &[Vec<u8>],
    options: &EnsembleOptions,
) -> Result<Answer<Ensemble>, ScalingError> {
    if !options.parameters.is_empty() || options.table.is_some() {
        let content = ScalingContent::File(source.clone());
        let file = ScalingSource { name: name.to_owned(), content };
        return open_ensemble(&[file], options, &Control::new());
    }
    let value = import::assemble_measurements(&**source, parts, &options.reading(name))?;
    Ok(Answer { value, notes: Vec::new() })
}

fn open_files(
    files: &[(&str, &Source)],
    options: &EnsembleOptions,
    control: &Control,
) -> Result<Answer<Ensemble>, ScalingError> {
    let open = |name: &str, source: &Source| open_measurements(&**source, &options.reading(name));
    if let ([(name, source)], [], None) = (files, options.parameters.as_slice(), &options.table) {
        return Ok(Answer { value: open(name, source)?, notes: Vec::new() });
    }
    control.begin(files.len() as u64);
    let mut notes = Vec::new();
    let mut builder: Option<EnsembleBuilder> = None;
    let mut repeated = 0;
    for (name, source) in files {
        let part = open(name, source)?;
        let extra = options.extra(name, &part.metadata, None)?;
        let extra: Vec<(&str, ParameterValue)> =
            extra.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        let builder = builder.get_or_insert_with(|| {
            let origin = match files.len() {
                1 => (*name).to_owned(),
                more => format!("{name} and {} more", more - 1),
            };
            EnsembleBuilder::new(Metadata { origin, ..part.metadata.clone() }, Ids::Kept)
        });
        repeated += usize::from(builder.absorb(part, &extra));
        control.advance(1).map_err(parallax_model::StoreError::from).map_err(engine)?;
    }
    if repeated > 0 {
        notes.push(format!(
            "{repeated} files have the same configurations as other files; their runs are counted \
             as repetitions; {}.",
            Remedy::TellApart
        ));
    }
    let builder = builder.ok_or(ScalingError::NoSources)?;
    let value = builder.finish().map_err(|what| ScalingError::Inconsistent { what })?;
    Ok(Answer { value, notes })
}

fn engine(error: parallax_model::StoreError) -> ScalingError {
    ScalingError::from(parallax_engine::EngineError::from(error))
}

fn open_databases(
    sources: &[&ScalingSource],
    options: &EnsembleOptions,
    control: &Control,
) -> Result<Answer<Ensemble>, ScalingError> {
    let sessions = open_sessions(sources, options)?;
    let groups = group_runs(&sessions, &options.contexts, control)?;
    let is_used = |group: &RunGroup| groups.first().is_some_and(|main| std::ptr::eq(main, group));
    let left_out = left_out(&sessions, &groups, is_used);
    let Some(main) = groups.first() else { return Err(ScalingError::NoSources) };
    if main.members.len() < 2 && sessions.len() > 1 {
        let named = groups.iter().flat_map(|group| {
            let metric = group.metric.as_ref().map_or("another metric", ChosenMetric::label);
            let names = group.members.iter().filter_map(|&at| sessions.get(at));
            names.map(move |(name, _)| format!("{name} (program {}, {metric})", group.program))
        });
        let named: Vec<String> = named.collect();
        return Err(ScalingError::Unrelated { what: listed(named.iter().map(String::as_str)) });
    }
    let mut notes: Vec<String> = left_out
        .iter()
        .filter_map(|(&at, reason)| Some(format!("{} is excluded: {reason}", sessions.get(at)?.0)))
        .collect();
    let (metric, members) = (main.metric.clone(), main.members.clone());
    let own = sessions.into_iter().enumerate().filter(|(at, _)| members.contains(at));
    let own: Vec<(&str, Session)> = own.map(|(_, session)| session).collect();
    let mut made = assemble_databases(&own, metric, options, control)?;
    notes.append(&mut made.notes);
    Ok(Answer { value: made.value, notes })
}

fn open_sessions<'s>(
    sources: &[&'s ScalingSource],
    options: &EnsembleOptions,
) -> Result<Vec<(&'s str, Session)>, ScalingError> {
    let open = |source: &&'s ScalingSource| {
        let experiment = source.experiment(&options.limits)?;
        if experiment.metadata.chosen.is_some() {
            let what = "it has only calls that a detector of anomalies kept, of which nothing is \
                        concluded about the run";
            return Err(ImportError::OtherKind { origin: source.name.clone(), what }.into());
        }
        Ok((source.name.as_str(), Session::new(experiment)))
    };
    sources.iter().map(open).collect()
}

/// Runs of one program as one ensemble, of the metric that all have.
fn assemble_databases(
    sessions: &[(&str, Session)],
    metric: Option<ChosenMetric>,
    options: &EnsembleOptions,
    control: &Control,
) -> Result<Answer<Ensemble>, ScalingError> {
    let mut notes = Vec::new();
    let mut extras: Vec<Extra> = sessions
        .iter()
        .map(|(name, session)| options.extra(name, &session.experiment().metadata, Some(session)))
        .collect::<Result<_, _>>()?;
    tell_parameters(sessions, options, &mut extras, &mut notes);

    let Some((first_name, first)) = sessions.first() else { return Err(ScalingError::NoSources) };
    let chosen = match metric {
        Some(metric) => metric,
        None => ChosenMetric::of(first, &options.contexts, control)?,
    };
    notes.push(chosen.sentence());
    notes.extend(chosen.reason.clone());
    if sessions.iter().any(|(_, session)| is_flat(session.tree())) {
        notes.push("Call paths were not measured: times of functions are exclusive.".to_owned());
    }
    let metadata = &first.experiment().metadata;
    let origin = match sessions.len() {
        1 => (*first_name).to_owned(),
        more => format!("{first_name} and {} more", more - 1),
    };
    let mut builder = EnsembleBuilder::new(Metadata { origin, ..metadata.clone() }, Ids::Counted);
    let mut runs_at: BTreeMap<u32, usize> = BTreeMap::new();
    let mut metric = None;
    control.begin(sessions.len() as u64);
    for ((_, session), extra) in sessions.iter().zip(&extras) {
        let values: Vec<(&str, ParameterValue, ValueOrder)> = extra
            .iter()
            .map(|(name, value)| (name.as_str(), value.clone(), ValueOrder::Numeric))
            .collect();
        let coordinate = builder.coordinate(&values);
        *runs_at.entry(coordinate).or_default() += 1;
        let run = builder.add_run(coordinate, 1, true);
        let contexts = &options.contexts;
        let added = add_database(&mut builder, run, session, &chosen, contexts, &Control::new())?;
        builder.evidence(run, run_evidence(session, &chosen, &added, control)?);
        metric = Some(added.metrics);
        builder.issues().extend(session.issues());
        control.advance(1).map_err(parallax_model::StoreError::from).map_err(engine)?;
    }
    for metric in metric.into_iter().flatten() {
        builder.fill_with_zero(metric, &options.limits)?;
    }
    let most = runs_at.values().copied().max().unwrap_or(0);
    if most > 1 {
        notes.push(format!(
            "Up to {most} databases have the same parameters and are counted as repetitions; {}.",
            Remedy::TellApart
        ));
    }
    let value = builder.finish().map_err(|what| ScalingError::Inconsistent { what })?;
    Ok(Answer { value, notes })
}

/// What the report on one run says about its evidence, and about who is late.
fn run_evidence(
    session: &Session,
    chosen: &ChosenMetric,
    added: &Added,
    control: &Control,
) -> Result<RunEvidence, ScalingError> {
    let catalog = &session.experiment().metrics;
    // Elapsed time in a trace has the report of the metric that it was sampled by.
    let metric = catalog.iter().find(|(_, metric)| *metric.name == *chosen.name);
    let options =
        ReportOptions { metric: metric.map(|(metric, _)| metric), ..ReportOptions::default() };
    let report = match report(session, &options, &Control::new()) {
        Ok(report) => report,
        // What cannot be reported has no evidence; its values are there.
        Err(_) => return Ok(RunEvidence::default()),
    };
    control.check().map_err(parallax_model::StoreError::from).map_err(engine)?;
    let scale = if report.unit == Unit::Nanos { 1e-9 } else { 1.0 };
    let mut late = report.late.filter(|_| report.unit.is_time()).and_then(|late| {
        Some(LateLocation {
            region: added.region(late.context)?,
            location: late.member,
            value: late.value * scale,
            mean: late.mean * scale,
            waiting: late.waiting * scale,
        })
    });
    let traced = traced_delays(session, control)?;
    if let Some(late) = &mut late {
        let inside = traced.iter().filter(|delay| added.is_within(delay.context, late.region));
        let nanos: f64 = inside.map(|delay| delay.nanos).sum();
        if nanos > 0.0 {
            late.waiting = nanos * 1e-9;
        }
    }
    let mut delays: BTreeMap<u32, f64> = BTreeMap::new();
    for delay in &traced {
        if let Some(region) = added.region(delay.context) {
            *delays.entry(region).or_default() += delay.nanos * 1e-9;
        }
    }
    let helpers = Roles::of(session, &Control::new()).map_or(0, |roles| roles.num_helpers());
    let locations = report.num_sampled.saturating_sub(helpers).max(1) as f64;
    // Elapsed time in a trace of samples rests on as many of them.
    let traces = session.experiment().traces.as_ref();
    let is_sampled = chosen.clock == Clock::Metric
        || traces.is_some_and(|traces| traces.kind() == TraceKind::Samples);
    Ok(RunEvidence {
        samples: report.num_samples.filter(|_| is_sampled).map(|all| all / locations),
        late,
        delays: delays.into_iter().collect(),
        cautions: report.cautions.into_iter().map(|caution| caution.text).collect(),
        estimate: None,
    })
}

/// What others wait for those who compute, by context, as the trace of a run tells; empty where there
/// is none of calls.
fn traced_delays(session: &Session, control: &Control) -> Result<Vec<Delay>, ScalingError> {
    let x = session.experiment();
    let has_calls = x.traces.as_ref().is_some_and(|traces| traces.kind() == TraceKind::Calls);
    if !has_calls || x.events.is_none() {
        return Ok(Vec::new());
    }
    let found = Selection::all(session)
        .and_then(|selection| waits(session, &selection, WaitChoice::ALL, control))
        .and_then(|found| delays(session, &found.list, control))?;
    Ok(found)
}

/// Core counts and inputs that were not given, from what databases and their paths tell.
fn tell_parameters(
    sessions: &[(&str, Session)],
    options: &EnsembleOptions,
    extras: &mut [Extra],
    notes: &mut Vec<String>,
) {
    if options.table.is_some() {
        return;
    }
    if !options.names_parameter(parameter_names::CORES) {
        let mut by = "";
        for ((_, session), extra) in sessions.iter().zip(extras.iter_mut()) {
            let (value, what) = told_cores(session);
            by = what;
            extra.insert(0, (parameter_names::CORES.to_owned(), value));
        }
        notes.push(format!(
            "Cores are the number of {by} in each database; otherwise {}.",
            Remedy::Cores
        ));
    }
    let has_more = options.parameters.iter().any(|rule| rule.name != parameter_names::CORES);
    if has_more || sessions.len() < 2 {
        return;
    }
    let cores: Vec<ParameterValue> = extras
        .iter()
        .map(|extra| {
            let known = extra.iter().find(|(name, _)| name == parameter_names::CORES);
            known.map_or_else(|| labelled(""), |(_, value)| value.clone())
        })
        .collect();
    let paths: Vec<&str> = sessions.iter().map(|(name, _)| *name).collect();
    if let Some(inputs) = told_input(&paths, &cores) {
        for (extra, input) in extras.iter_mut().zip(inputs) {
            extra.push((parameter_names::INPUT.to_owned(), input));
        }
        notes.push(format!(
            "Inputs are taken from the paths of the databases; otherwise {}.",
            Remedy::Inputs
        ));
    }
}
