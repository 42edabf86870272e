//! The whole file: `config`, `data`, and what only all runs together show.

use std::collections::HashSet;

use parallax_base::Severity;

use super::config::{Config, TupleFields};
use super::keys;
use super::run::{RunReader, RunTimes, leave_value};
use crate::FormatError;
use crate::json::{Event, JsonError, JsonErrorKind, JsonLimits, JsonReader};
use crate::scaling_data::{
    Builder, Measurements, Nesting, Outcome, ReadOptions, Report, Run, ScalingFormat, metric_names,
    parameter_names,
};
use crate::stream::ByteStream;

/// A run as it was read, before its key was understood.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RawRun {
    pub(super) times: RunTimes,
    pub(super) seconds: Option<f64>,
    pub(super) outcome: Outcome,
}

/// Reads a PaScal Analyzer file.
///
/// # Errors
/// When there is no `data`, or the text breaks before the first complete run.
pub(crate) fn read(
    stream: &mut dyn ByteStream,
    options: &ReadOptions<'_>,
    report: &mut Report<'_>,
) -> Result<Measurements, FormatError> {
    let mut reader = JsonReader::new(stream, JsonLimits::default());
    let mut file = File::new(options);
    let outcome = file.read(&mut reader, report);
    if let Err(fault) = outcome {
        let fault = match fault {
            Fault::Json(fault) => fault,
            Fault::Format(fault) => return Err(fault),
            // Only parts of a file have a boundary.
            Fault::Boundary { .. } => return file.finish(report),
        };
        if file.keys.is_empty() {
            return Err(file_error(options.file, &fault));
        }
        file.ends_early(fault.offset, &fault.to_string(), report);
    }
    if !file.has_data {
        return Err(FormatError::NotThisFormat {
            file: options.file.to_owned(),
            expected: "a PaScal Analyzer file (an object with config and data)",
            found: "an object without data".to_owned(),
        });
    }
    file.finish(report)
}

/// A JSON fault as an error of the file.
pub(crate) fn file_error(file: &str, fault: &JsonError) -> FormatError {
    match &fault.kind {
        JsonErrorKind::Read(cause) => FormatError::read(file, cause.clone()),
        kind => FormatError::malformed(file, fault.offset, format!("{kind}, {}", fault.path)),
    }
}

pub(super) enum Fault {
    Json(JsonError),
    Format(FormatError),
    /// Not a fault: a part of the file ends here; whether this is where it should.
    Boundary {
        met: bool,
    },
}

impl From<JsonError> for Fault {
    fn from(fault: JsonError) -> Self {
        Self::Json(fault)
    }
}

pub(super) struct File<'o> {
    options: &'o ReadOptions<'o>,
    pub(super) builder: Builder,
    runs: RunReader,
    pub(super) config: Option<Config>,
    pub(super) keys: Vec<(Box<str>, u64)>,
    pub(super) raw: Vec<RawRun>,
    pub(super) has_data: bool,
    data_before_config: bool,
    /// Where a run must begin that is not read any more.
    pub(super) stop: Option<u64>,
}

impl<'o> File<'o> {
    pub(super) fn new(options: &'o ReadOptions<'o>) -> Self {
        let nesting = Nesting::Path(".");
        let mut builder = Builder::new(ScalingFormat::PascalAnalyzer, nesting, options.limits);
        builder.program();
        let runs = RunReader::new(&mut builder, options.region_time);
        Self {
            options,
            builder,
            runs,
            config: None,
            keys: Vec::new(),
            raw: Vec::new(),
            has_data: false,
            data_before_config: false,
            stop: None,
        }
    }

    /// Reports that the text breaks off at `offset`, after the runs that are kept.
    pub(super) fn ends_early(&self, offset: u64, fault: &str, report: &mut Report<'_>) {
        report.at(Severity::Error, "file-ends-early", offset, || {
            format!("{fault}; the {} runs before it are kept", self.keys.len())
        });
    }

    pub(super) fn read(
        &mut self,
        reader: &mut JsonReader<'_>,
        report: &mut Report<'_>,
    ) -> Result<(), Fault> {
        let found = reader.next_event()?.kind();
        if found != Event::BeginObject.kind() {
            return Err(reader.wrong_type("an object", found).into());
        }
        self.fields(reader, report)
    }

    /// Goes on at a run of the first `data`, whose `config` is known, and reads to the end.
    pub(super) fn resume(
        &mut self,
        reader: &mut JsonReader<'_>,
        config: Config,
        report: &mut Report<'_>,
    ) -> Result<(), Fault> {
        self.has_data = true;
        let outcome = self.runs_of(reader, &config, true, report);
        self.config = Some(config);
        outcome?;
        self.fields(reader, report)
    }

    fn fields(
        &mut self,
        reader: &mut JsonReader<'_>,
        report: &mut Report<'_>,
    ) -> Result<(), Fault> {
        while let Some(name) = reader.next_key()? {
            let offset = reader.offset();
            match name.as_str() {
                "config" => {
                    if self.config.is_some() {
                        report.at(Severity::Warning, "duplicate-name", offset, || {
                            "the file has config twice; the last one counts".to_owned()
                        });
                    }
                    let value = reader.read_value()?;
                    self.config = Some(Config::from_value(&value, offset, report));
                }
                "data" => {
                    if self.has_data {
                        report.at(Severity::Warning, "duplicate-name", offset, || {
                            "the file has data twice; the runs of both are read".to_owned()
                        });
                    }
                    let first = !std::mem::replace(&mut self.has_data, true);
                    self.data(reader, first, report)?;
                }
                _ => {
                    report.at(Severity::Note, "field-ignored", offset, || {
                        format!("the field {name:?} is not used")
                    });
                    reader.skip_value()?;
                }
            }
        }
        let offset = reader.offset();
        if let Err(fault) = reader.next_event() {
            report.at(Severity::Warning, "trailing-data", offset, || {
                format!("{fault}; what follows the document is not read")
            });
        }
        Ok(())
    }

    fn data(
        &mut self,
        reader: &mut JsonReader<'_>,
        first: bool,
        report: &mut Report<'_>,
    ) -> Result<(), Fault> {
        let found = reader.next_event()?.kind();
        if found != Event::BeginObject.kind() {
            let fault = reader.wrong_type("an object of runs", found);
            leave_value(reader, found)?;
            return Err(fault.into());
        }
        self.data_before_config |= self.config.is_none();
        let assumed = Config { declares_sensors: true, ..Config::default() };
        let config = self.config.take().unwrap_or(assumed);
        let known = !self.data_before_config;
        let outcome = self.runs_of(reader, &config, first && known, report);
        self.config = known.then_some(config);
        outcome
    }

    fn runs_of(
        &mut self,
        reader: &mut JsonReader<'_>,
        config: &Config,
        may_stop: bool,
        report: &mut Report<'_>,
    ) -> Result<(), Fault> {
        loop {
            if let Some(stop) = self.stop
                && let Some(here) = reader.next_name_offset()?
                && here >= stop
            {
                return Err(Fault::Boundary { met: may_stop && here == stop });
            }
            let Some(key) = reader.next_key()? else { return Ok(()) };
            let offset = reader.offset();
            let run = u32::try_from(self.keys.len()).unwrap_or(u32::MAX);
            let before = self.builder.num_samples();
            let read = self.runs.read(reader, &mut self.builder, run, config, report);
            let times = match read {
                Ok(Some(times)) => times,
                Ok(None) => continue,
                Err(fault) => {
                    // Half a run must not pass for a whole one.
                    self.builder.truncate_samples(before);
                    return Err(fault.into());
                }
            };
            let (seconds, outcome) = whole_program(&key, &times, offset, report);
            let about = (config, &mut *report);
            self.runs.finish(&mut self.builder, run, &times, seconds, offset, about);
            if outcome == Outcome::Failed {
                self.builder.truncate_samples(before);
            } else if let Some(seconds) = seconds {
                let time = self.builder.metric(metric_names::TIME, &parallax_base::Unit::Seconds);
                let program = self.builder.program();
                self.builder.push(time, program, run, seconds);
            }
            self.keys.push((key.into_boxed_str(), offset));
            self.raw.push(RawRun { times, seconds, outcome });
            self.builder.check_limits(self.options.file).map_err(Fault::Format)?;
        }
    }

    pub(super) fn finish(mut self, report: &mut Report<'_>) -> Result<Measurements, FormatError> {
        let config = self.config.take().unwrap_or_else(|| {
            report.whole(Severity::Warning, "no-config", || {
                "the file has no config before its data; the usual fields are assumed".to_owned()
            });
            Config::default()
        });
        if self.data_before_config && config.tuple != TupleFields::default() {
            return Err(FormatError::Unsupported {
                file: self.options.file.to_owned(),
                what: "a PaScal file whose data stands before its config and has unusual fields"
                    .to_owned(),
                hint: "write config before data, as the Analyzer does",
            });
        }
        self.builder.metadata.clone_from(&config.metadata);
        let placed = keys::place(&mut self.builder, &self.keys, &config, report);
        let any_regions = self.raw.iter().any(|raw| raw.times.has_regions);
        let mut without_regions = 0_usize;
        let measured: HashSet<u32> = self
            .raw
            .iter()
            .zip(&placed)
            .filter(|(raw, _)| raw.seconds.is_some() && raw.times.estimate.is_none())
            .filter_map(|(_, placed)| placed.as_ref().map(|placed| placed.coordinate))
            .collect();
        let mut replaced = HashSet::new();
        for ((raw, placed), number) in self.raw.iter().zip(&placed).zip(0..) {
            let mut outcome = raw.outcome;
            if any_regions && !raw.times.has_regions && outcome == Outcome::Completed {
                without_regions += 1;
                outcome = Outcome::Suspicious;
            }
            if raw.seconds.is_some_and(|s| s < SUSPICIOUSLY_SHORT) && outcome == Outcome::Completed
            {
                outcome = Outcome::Suspicious;
            }
            let interval = raw.times.start.zip(raw.times.stop);
            // A run whose key is not understood keeps its number but belongs nowhere.
            let (coordinate, repetition) =
                placed.as_ref().map_or((u32::MAX, 0), |p| (p.coordinate, p.repetition));
            let estimate = raw.times.estimate;
            if estimate.is_some() && outcome != Outcome::Failed && measured.contains(&coordinate) {
                outcome = Outcome::Replaced;
                replaced.insert(number);
            }
            self.builder.add_run(Run { coordinate, repetition, interval, outcome, estimate });
        }
        if !replaced.is_empty() {
            self.builder.forget_runs(&replaced);
        }
        self.report_estimates(replaced.len(), report);
        self.report_runs(&config, any_regions, without_regions, report);
        let measurements = self.builder.finish(report);
        report_coverage(&measurements, report);
        Ok(measurements)
    }

    /// Says which times were not measured.
    fn report_estimates(&self, num_replaced: usize, report: &mut Report<'_>) {
        let is_estimate = |raw: &&RawRun| raw.times.estimate.is_some() && raw.seconds.is_some();
        let number = self.raw.iter().filter(is_estimate).count() - num_replaced;
        if number > 0 {
            report.whole(Severity::Note, "run-estimated", || {
                format!("{number} runs were ended after their first iterations: their times are estimates")
            });
        }
        if num_replaced > 0 {
            report.whole(Severity::Note, "estimate-replaced", || {
                format!("{num_replaced} estimates are omitted, because other runs of their configurations were measured completely")
            });
        }
    }

    fn report_runs(
        &self,
        config: &Config,
        any_regions: bool,
        without_regions: usize,
        report: &mut Report<'_>,
    ) {
        if self.raw.is_empty() {
            report.whole(Severity::Error, "no-runs", || "data has no runs".to_owned());
        } else if config.declares_regions && !any_regions {
            report.whole(Severity::Warning, "no-regions", || {
                "the file announces regions but no run has any: the instrumentation did not work".to_owned()
            });
        }
        if without_regions > 0 {
            report.whole(Severity::Warning, "run-without-regions", || {
                format!("{without_regions} runs have no regions although others have: they may have failed")
            });
        }
        let short = |raw: &&RawRun| raw.seconds.is_some_and(|s| s < SUSPICIOUSLY_SHORT);
        let num_short = self.raw.iter().filter(short).count();
        if num_short > 0 {
            report.whole(Severity::Warning, "run-too-short", || {
                format!(
                    "{num_short} of {} runs took less than {} ms: the program may have failed at its start (the Analyzer does not record exit codes)",
                    self.raw.len(),
                    SUSPICIOUSLY_SHORT * 1e3
                )
            });
        }
        self.report_overlaps(report);
    }

    /// The Analyzer runs one program at a time; overlaps mean that files were merged by hand.
    fn report_overlaps(&self, report: &mut Report<'_>) {
        // Estimates end when a complete run would have ended, which is after the next one began.
        let measured = self.raw.iter().filter(|raw| raw.times.estimate.is_none());
        let mut spans: Vec<(f64, f64)> =
            measured.filter_map(|raw| raw.times.start.zip(raw.times.stop)).collect();
        spans.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut latest = f64::NEG_INFINITY;
        let mut overlaps = 0_u64;
        for (start, stop) in spans {
            overlaps += u64::from(start < latest);
            latest = latest.max(stop);
        }
        if overlaps > 0 {
            report.whole(Severity::Warning, "overlapping-runs", || {
                format!("{overlaps} runs start before an earlier one stops: the file was merged by hand or measured in parallel, and the runs may have disturbed each other")
            });
        }
    }
}

/// Whole programs that end sooner (in seconds), process start included, did not compute anything.
pub(crate) const SUSPICIOUSLY_SHORT: f64 = 0.01;

/// The time of the whole program and whether the run can be used.
fn whole_program(
    key: &str,
    times: &RunTimes,
    offset: u64,
    report: &mut Report<'_>,
) -> (Option<f64>, Outcome) {
    if times.exit_status.is_some_and(|status| status != 0.0) {
        report.at(Severity::Warning, "run-failed", offset, || {
            format!("the run {key} ended with an error; its values are omitted")
        });
        return (None, Outcome::Failed);
    }
    let seconds = match (times.start.zip(times.stop), times.total) {
        (Some((start, stop)), _) => Some(stop - start),
        (None, total) => total,
    };
    match seconds {
        Some(seconds) if seconds.is_finite() && seconds > 0.0 => {
            (Some(seconds), Outcome::Completed)
        }
        Some(_) => {
            report.at(Severity::Error, "bad-run-time", offset, || {
                format!("the run {key} does not stop after its start; its values are omitted")
            });
            (None, Outcome::Failed)
        }
        None => {
            report.at(Severity::Error, "no-run-time", offset, || {
                format!("the run {key} has neither start_time and stop_time nor total_time; only its regions are used")
            });
            (None, Outcome::Suspicious)
        }
    }
}

/// Reports what makes maps impossible or incomplete: no run on one core, missing combinations.
fn report_coverage(measurements: &Measurements, report: &mut Report<'_>) {
    let Some(cores) = measurements.parameter(parameter_names::CORES) else { return };
    let values =
        measurements.parameters.get(cores).map(|p| p.values.as_slice()).unwrap_or_default();
    if !values.is_empty() && values.iter().all(|value| value.number != Some(1.0)) {
        let lowest = values.first().map(|value| value.label.clone()).unwrap_or_default();
        report.whole(Severity::Warning, "no-one-core-run", || {
            format!("there is no run with 1 core, so speedup and efficiency have no baseline; the fewest cores are {lowest}")
        });
    }
    let all: u64 =
        measurements.parameters.iter().map(|p| p.values.len() as u64).fold(1, u64::saturating_mul);
    let missing = all.saturating_sub(measurements.coordinates.len() as u64);
    if missing > 0 {
        report.whole(Severity::Note, "missing-configurations", || {
            format!("{missing} of {all} combinations of the parameters were not measured")
        });
    }
}
