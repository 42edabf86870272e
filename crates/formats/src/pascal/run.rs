//! One run: its fields are folded as they pass.

use parallax_base::casts::saturated_u32;
use parallax_base::{Severity, Unit};

use super::config::{Config, TupleFields};
use super::counts::{CountFault, CountSeries};
use super::energy;
use super::fold::Fold;
use super::siblings::Siblings;
use crate::json::{Event, JsonError, JsonReader, Row, Value};
use crate::scaling_data::RegionKind;
use crate::scaling_data::{Builder, RegionRow, RegionTime, Report, RunEstimate, metric_names};

/// Indices of the metrics that regions have.
struct RegionMetrics {
    time: u16,
    union: u16,
    sum: u16,
    span: u16,
    thread_max: u16,
    thread_min: u16,
    thread_mean: u16,
    threads: u16,
    visits: u16,
    overlap: u16,
}

/// Where most tuples have their start, stop and thread.
struct Usual {
    /// Bit i: field i is one of the three; none fits where there are not three.
    wanted: u32,
    places: [usize; 3],
}

impl Usual {
    fn new(fields: &TupleFields) -> Self {
        let places = [fields.start, fields.stop, fields.thread];
        let places = places.map(|place| place.filter(|&place| place < Row::MOST));
        let wanted = places.iter().try_fold(0, |all, place| Some(all | 1 << (*place)?));
        Self { wanted: wanted.unwrap_or(u32::MAX), places: places.map(Option::unwrap_or_default) }
    }

    #[inline]
    fn of(&self, row: &Row) -> Option<(f64, f64, f64)> {
        let numbers = row.numbers(self.wanted)?;
        // A place is below the number of fields, so the remainder is the place itself.
        let [start, stop, thread] = self.places.map(|place| numbers.get(place % Row::MOST));
        Some((*start?, *stop?, *thread?))
    }
}

/// What a run has outside its regions.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct RunTimes {
    pub(super) start: Option<f64>,
    pub(super) stop: Option<f64>,
    pub(super) total: Option<f64>,
    pub(super) exit_status: Option<f64>,
    pub(super) has_regions: bool,
    pub(super) estimate: Option<RunEstimate>,
}

/// A series of one power sensor.
struct Series {
    name: String,
    samples: Vec<(f64, f64)>,
    /// Samples beyond the bound, which are not kept: the series is then not used.
    dropped: u64,
    /// Samples of several counters.
    counts: CountSeries,
}

/// Reads runs, one after the other, into a builder.
pub(super) struct RunReader {
    metrics: RegionMetrics,
    policy: RegionTime,
    fold: Fold,
    siblings: Siblings,
    row: Row,
    series: Vec<Series>,
    samples_kept: usize,
    /// Intervals of the regions of the current run, kept for the energy.
    region_intervals: Vec<(u32, Vec<(f64, f64)>)>,
    intervals_kept: usize,
    intervals_lost: bool,
}

/// The field of a run whose time was estimated.
const ESTIMATED: &str = "estimated";

/// Most samples of all sensors and most intervals kept for one run: 16 MiB each.
const MOST_OF_RUN: usize = 1 << 20;

impl RunReader {
    pub(super) fn new(builder: &mut Builder, policy: RegionTime) -> Self {
        let mut seconds = |name| builder.metric(name, &Unit::Seconds);
        let time = seconds(metric_names::TIME);
        let (sum, span) = (seconds(metric_names::TIME_SUM), seconds(metric_names::TIME_SPAN));
        let (union, thread_max) =
            (seconds(metric_names::TIME_UNION), seconds(metric_names::LOCATION_MAX));
        let overlap = seconds(metric_names::OVERLAP);
        let thread_min = seconds(metric_names::LOCATION_MIN);
        let thread_mean = seconds(metric_names::LOCATION_MEAN);
        let threads = builder.metric(metric_names::LOCATIONS, &Unit::Count);
        let visits = builder.metric(metric_names::VISITS, &Unit::Count);
        let metrics = RegionMetrics {
            time,
            union,
            sum,
            span,
            thread_max,
            thread_min,
            thread_mean,
            threads,
            visits,
            overlap,
        };
        Self {
            metrics,
            policy,
            fold: Fold::new(),
            siblings: Siblings::default(),
            row: Row::default(),
            series: Vec::new(),
            samples_kept: 0,
            region_intervals: Vec::new(),
            intervals_kept: 0,
            intervals_lost: false,
        }
    }

    /// Reads the run at the reader's place as run number `run`.
    pub(super) fn read(
        &mut self,
        reader: &mut JsonReader<'_>,
        builder: &mut Builder,
        run: u32,
        config: &Config,
        report: &mut Report<'_>,
    ) -> Result<Option<RunTimes>, JsonError> {
        self.series.clear();
        self.region_intervals.clear();
        (self.samples_kept, self.intervals_kept, self.intervals_lost) = (0, 0, false);
        let offset = reader.offset();
        let path = reader.path();
        let found = reader.next_event()?.kind();
        if found != Event::BeginObject.kind() {
            report.at(Severity::Error, "wrong-type", offset, || {
                format!("{path} is {found}, not a run; it is omitted")
            });
            leave_value(reader, found)?;
            return Ok(None);
        }
        let mut times = RunTimes::default();
        while let Some(name) = reader.next_key()? {
            match name.as_str() {
                "start_time" => times.start = number(reader, report)?.or(times.start),
                "stop_time" => times.stop = number(reader, report)?.or(times.stop),
                "total_time" => times.total = number(reader, report)?.or(times.total),
                "exit_status" => times.exit_status = number(reader, report)?,
                "regions" => {
                    times.has_regions |= self.regions(reader, builder, run, config, report)?;
                }
                "imbalances" => {
                    self.by_region(
                        reader,
                        builder,
                        run,
                        metric_names::IMBALANCE,
                        &Unit::Ratio,
                        report,
                    )?;
                }
                "sensors" => self.sensors(reader, report)?,
                ESTIMATED => times.estimate = estimate(reader, report)?,
                // What the first iterations of a complete run would have said of it.
                "estimate_check" => reader.skip_value()?,
                _ => self.other_field(reader, builder, run, &name, report)?,
            }
        }
        Ok(Some(times))
    }

    /// Energy of the run and its regions, once its times are known.
    pub(super) fn finish(
        &mut self,
        builder: &mut Builder,
        run: u32,
        times: &RunTimes,
        seconds: Option<f64>,
        offset: u64,
        (config, report): (&Config, &mut Report<'_>),
    ) {
        for series in &self.series {
            if !series.counts.is_empty() {
                let (counts, regions) = (&series.counts, &self.region_intervals);
                let name = |at| config.name_of_counter(&series.name, at);
                if let Err(cause) = push_counts(builder, run, counts, regions, name) {
                    report.at(Severity::Warning, "count-series-rejected", offset, || {
                        format!("no counts of regions from {} in this run: {cause}", series.name)
                    });
                }
            }
        }
        for series in &mut self.series {
            if is_power(&series.name) {
                let energy = format!("{}{}", metric_names::ENERGY, series.name);
                let metric = builder.metric(&energy, &Unit::Joules);
                let outcome = match (times.start.zip(times.stop), seconds) {
                    _ if series.dropped > 0 => Err("it has too many samples".to_owned()),
                    (Some(interval), _) => energy_of_run(series, interval, &self.region_intervals)
                        .map(|values| {
                            for (region, joules) in values {
                                let region = region.unwrap_or_else(|| builder.program());
                                builder.push(metric, region, run, joules);
                            }
                        }),
                    // Without start and stop the samples' times have no common clock: mean power
                    // times duration.
                    (None, Some(seconds)) => mean_power(series).map(|watts| {
                        let program = builder.program();
                        builder.push(metric, program, run, watts * seconds);
                    }),
                    (None, None) => Ok(()),
                };
                if let Err(cause) = outcome {
                    report.at(Severity::Warning, "power-series-rejected", offset, || {
                        format!("no energy from the sensor {} in this run: {cause}", series.name)
                    });
                }
            }
            if let Ok(mean) = mean_power(series) {
                let (name, unit) = if is_power(&series.name) {
                    (format!("{}{}", metric_names::POWER, series.name), Unit::Other("W".to_owned()))
                } else {
                    (series.name.clone(), Unit::Count)
                };
                let metric = builder.metric(&name, &unit);
                let program = builder.program();
                builder.push(metric, program, run, mean);
            }
        }
        if self.intervals_lost && !self.series.is_empty() {
            report.at(Severity::Warning, "region-energy-skipped", offset, || {
                "a run has too many region entries to compute the energy of each region".to_owned()
            });
        }
    }

    /// `regions`: region path -> entries. Whether there was any.
    fn regions(
        &mut self,
        reader: &mut JsonReader<'_>,
        builder: &mut Builder,
        run: u32,
        config: &Config,
        report: &mut Report<'_>,
    ) -> Result<bool, JsonError> {
        if !begin(reader, &Event::BeginObject, report)? {
            return Ok(false);
        }
        let mut any = false;
        self.siblings.clear();
        while let Some(path) = reader.next_key()? {
            self.fold.clear();
            let offset = reader.offset();
            let mut place = (None, None);
            let keep = config.declares_sensors && self.intervals_kept < MOST_OF_RUN;
            let entries = self.entries(reader, &config.tuple, &mut place, report)?;
            if !entries {
                continue;
            }
            any = true;
            let region = region_of(builder, &path, place);
            if self.fold.bad > 0 {
                let bad = self.fold.bad;
                report.at(Severity::Error, "bad-entry", offset, || {
                    format!("{bad} entries of region {path} end before they start or are not numbers; they are omitted")
                });
            }
            self.push_region(builder, region, run);
            if self.fold.thread_sums().nth(1).is_some() && !self.fold.union.is_folded() {
                let length = self.fold.union.length();
                self.siblings.add(&path, region, self.fold.union.merged(), length);
            }
            if self.fold.union.was_cut() {
                report.at(Severity::Warning, "union-cut", offset, || {
                    format!("the entries of region {path} are far out of order; the union of their times may be too short")
                });
            }
            if config.declares_sensors {
                let intervals = self.fold.union.merged();
                if keep && self.intervals_kept + intervals.len() <= MOST_OF_RUN {
                    self.intervals_kept += intervals.len();
                    self.region_intervals.push((region, intervals.to_vec()));
                } else {
                    self.intervals_lost = true;
                }
            }
        }
        for (region, seconds) in self.siblings.overlaps() {
            builder.push(self.metrics.overlap, region, run, seconds);
        }
        Ok(any)
    }

    /// The entries of one region: a list of tuples, one tuple, or one number (accumulated).
    fn entries(
        &mut self,
        reader: &mut JsonReader<'_>,
        fields: &TupleFields,
        place: &mut (Option<String>, Option<(u32, u32)>),
        report: &mut Report<'_>,
    ) -> Result<bool, JsonError> {
        let offset = reader.offset();
        match reader.next_event()? {
            Event::BeginArray => {}
            Event::Number(value) => {
                self.fold.add_duration(value.as_f64(), None);
                return Ok(true);
            }
            other => {
                let found = other.kind();
                wrong_type(reader, offset, "a list of entries", found, report);
                leave_value(reader, found)?;
                return Ok(false);
            }
        }
        let mut first = true;
        let mut flat: Vec<f64> = Vec::new();
        let usual = Usual::new(fields);
        loop {
            let fold = &mut self.fold;
            reader.rows(&mut self.row, |row| {
                if first {
                    first = false;
                    *place = source_place(row, fields);
                }
                match usual.of(row) {
                    Some((start, stop, thread)) => fold.add(start, stop, Some(thread)),
                    None => fold.add_row(row, fields),
                }
            })?;
            // Not a plain row: the end, a tuple with escapes or containers, or something else.
            match reader.next_event()? {
                Event::EndArray => break,
                Event::Number(value) if flat.len() < Row::MOST => flat.push(value.as_f64()),
                Event::BeginArray => self.slow_tuple(reader, fields)?,
                Event::BeginObject => {
                    self.fold.bad += 1;
                    let depth = reader.depth();
                    reader.leave(depth)?;
                }
                Event::End => break,
                Event::String(_) if !flat.is_empty() => {}
                _ => self.fold.bad += 1,
            }
        }
        // One tuple without a list around it.
        let number = |at: Option<usize>| at.and_then(|at| flat.get(at).copied());
        if let (Some(start), Some(stop)) = (number(fields.start), number(fields.stop)) {
            self.fold.add(start, stop, number(fields.thread));
        }
        Ok(true)
    }

    fn slow_tuple(
        &mut self,
        reader: &mut JsonReader<'_>,
        fields: &TupleFields,
    ) -> Result<(), JsonError> {
        let depth = reader.depth();
        let mut numbers: Vec<f64> = Vec::new();
        loop {
            let value = match reader.next_event()? {
                Event::EndArray | Event::End => break,
                Event::Number(value) => value.as_f64(),
                Event::BeginArray | Event::BeginObject => {
                    reader.leave(depth + 1)?;
                    f64::NAN
                }
                _ => f64::NAN,
            };
            if numbers.len() < Row::MOST {
                numbers.push(value);
            }
        }
        let number = |at: Option<usize>| at.and_then(|at| numbers.get(at).copied());
        let thread = number(fields.thread).filter(|id| id.is_finite());
        match (number(fields.start), number(fields.stop), number(fields.duration)) {
            (Some(start), Some(stop), _) => self.fold.add(start, stop, thread),
            (_, _, Some(seconds)) => self.fold.add_duration(seconds, thread),
            _ => self.fold.bad += 1,
        }
        Ok(())
    }

    /// Writes the folded entries; values that follow from others are left out.
    fn push_region(&mut self, builder: &mut Builder, region: u32, run: u32) {
        let fold = &mut self.fold;
        if fold.visits == 0 {
            return;
        }
        let timed = fold.last >= fold.first;
        let union = if timed { fold.union.length() } else { fold.sum };
        let span = if timed { fold.last - fold.first } else { fold.sum };
        let (mut threads, mut most, mut least) = (0_u32, 0.0_f64, f64::INFINITY);
        for seconds in fold.thread_sums() {
            threads += 1;
            most = most.max(seconds);
            least = least.min(seconds);
        }
        let many = threads > 1;
        let thread_max = if many { most } else { fold.sum };
        let time = match self.policy {
            RegionTime::Union => union,
            RegionTime::Sum => fold.sum,
            RegionTime::Span => span,
            RegionTime::ThreadMax => thread_max,
        };
        let m = &self.metrics;
        builder.push(m.time, region, run, time);
        let mut differing = |metric, value: f64| {
            if value != time && value.is_finite() {
                builder.push(metric, region, run, value);
            }
        };
        differing(m.union, union);
        differing(m.sum, fold.sum);
        differing(m.span, span);
        differing(m.thread_max, thread_max);
        if many {
            builder.push(m.thread_min, region, run, least);
            builder.push(m.thread_mean, region, run, fold.sum / f64::from(threads));
            builder.push(m.threads, region, run, f64::from(threads));
        }
        if fold.visits > 1 {
            builder.push(m.visits, region, run, fold.visits as f64);
        }
    }

    /// A map from region path to one number.
    fn by_region(
        &mut self,
        reader: &mut JsonReader<'_>,
        builder: &mut Builder,
        run: u32,
        metric: &str,
        unit: &Unit,
        report: &mut Report<'_>,
    ) -> Result<(), JsonError> {
        if begin(reader, &Event::BeginObject, report)? {
            self.region_values(reader, builder, run, metric, unit, report)?;
        }
        Ok(())
    }

    fn region_values(
        &mut self,
        reader: &mut JsonReader<'_>,
        builder: &mut Builder,
        run: u32,
        metric: &str,
        unit: &Unit,
        report: &mut Report<'_>,
    ) -> Result<(), JsonError> {
        let metric = builder.metric(metric, unit);
        while let Some(path) = reader.next_key()? {
            if let Some(value) = last_number(reader, report)? {
                let region = region_of(builder, &path, (None, None));
                builder.push(metric, region, run, value);
            }
        }
        Ok(())
    }

    /// `sensors`: name -> list of `[value, time]`.
    fn sensors(
        &mut self,
        reader: &mut JsonReader<'_>,
        report: &mut Report<'_>,
    ) -> Result<(), JsonError> {
        if !begin(reader, &Event::BeginObject, report)? {
            return Ok(());
        }
        while let Some(name) = reader.next_key()? {
            let mut series =
                Series { name, samples: Vec::new(), dropped: 0, counts: CountSeries::default() };
            if !begin(reader, &Event::BeginArray, report)? {
                continue;
            }
            loop {
                while reader.next_row(&mut self.row)? {
                    let value = self.row.number(0).unwrap_or(f64::NAN);
                    let time = self.row.number(1).unwrap_or(f64::NAN);
                    if self.samples_kept < MOST_OF_RUN {
                        self.samples_kept += 1;
                        series.samples.push((time, value));
                    } else {
                        series.dropped += 1;
                    }
                }
                match reader.next_event()? {
                    Event::EndArray | Event::End => break,
                    // `[[counters ...], time]` of sampled counters, or damage: not a power sample.
                    begin @ (Event::BeginArray | Event::BeginObject) => {
                        let begun = begin.kind();
                        let size = series.counts.size();
                        let has_room = self.samples_kept < MOST_OF_RUN;
                        series.counts.read(reader, begun, has_room)?;
                        self.samples_kept += series.counts.size() - size;
                        series.dropped += 1;
                    }
                    _ => series.dropped += 1,
                }
            }
            // A sensor without a sample takes memory, too.
            self.samples_kept += 1;
            if self.samples_kept < 2 * MOST_OF_RUN {
                self.series.push(series);
            }
        }
        Ok(())
    }

    /// Energy (`rapl...`), counters, and what newer tools add.
    fn other_field(
        &mut self,
        reader: &mut JsonReader<'_>,
        builder: &mut Builder,
        run: u32,
        name: &str,
        report: &mut Report<'_>,
    ) -> Result<(), JsonError> {
        let unit = if name.starts_with("rapl") { Unit::Joules } else { Unit::Count };
        let offset = reader.offset();
        match reader.next_event()? {
            Event::Number(value) if value.as_f64().is_finite() => {
                let metric = builder.metric(name, &unit);
                let program = builder.program();
                builder.push(metric, program, run, value.as_f64());
            }
            Event::BeginObject => self.region_values(reader, builder, run, name, &unit, report)?,
            Event::BeginArray => {
                let depth = reader.depth();
                let mut at = 0_usize;
                loop {
                    match reader.next_event()? {
                        Event::EndArray | Event::End => break,
                        Event::Number(value) if value.as_f64().is_finite() && at < 256 => {
                            let full =
                                if at == 0 { name.to_owned() } else { format!("{name}[{at}]") };
                            let metric = builder.metric(&full, &unit);
                            let program = builder.program();
                            builder.push(metric, program, run, value.as_f64());
                        }
                        Event::BeginArray | Event::BeginObject => reader.leave(depth + 1)?,
                        _ => {}
                    }
                    at += 1;
                }
            }
            other => {
                let found = other.kind();
                report.at(Severity::Note, "field-ignored", offset, || {
                    format!("the field {name:?} of a run is {found}, which is not used")
                });
            }
        }
        Ok(())
    }
}

/// What the time of a run was estimated from. What cannot be read is reported, and the run then passes
/// for one that was measured.
fn estimate(
    reader: &mut JsonReader<'_>,
    report: &mut Report<'_>,
) -> Result<Option<RunEstimate>, JsonError> {
    let (offset, path) = (reader.offset(), reader.path());
    let value = reader.read_value()?;
    let finite = |value: &Value| value.as_f64().filter(|number| number.is_finite());
    let read = || {
        let [low, high] = value.get("interval")?.items() else { return None };
        Some(RunEstimate {
            iterations: value.get("from")?.as_u64()?,
            of: value.get("of")?.as_u64()?,
            interval: (finite(low)?, finite(high)?),
            with_trend: value.get("with_trend").and_then(finite),
        })
    };
    let found = read();
    if found.is_none() {
        report.at(Severity::Warning, "wrong-type", offset, || {
            format!("{path} does not say what was estimated; the run counts as measured")
        });
    }
    Ok(found)
}

fn is_power(sensor: &str) -> bool {
    sensor.starts_with("ipmi") || sensor.starts_with("rapl")
}

fn mean_power(series: &Series) -> Result<f64, String> {
    let bad = |&(_, watts): &(f64, f64)| !watts.is_finite() || watts < 0.0;
    if series.samples.is_empty() {
        return Err("it has no samples".to_owned());
    }
    if series.samples.iter().any(bad) {
        return Err(energy::EnergyFault::BadSample.to_string());
    }
    let sum: f64 = series.samples.iter().map(|s| s.1).sum();
    Ok(sum / series.samples.len() as f64)
}

/// Energy of the whole program (`None`) and of each region that the samples cover.
fn energy_of_run(
    series: &mut Series,
    run: (f64, f64),
    regions: &[(u32, Vec<(f64, f64)>)],
) -> Result<Vec<(Option<u32>, f64)>, String> {
    let period = energy::prepare(&mut series.samples).map_err(|fault| fault.to_string())?;
    let whole = energy::integrate(&series.samples, period, &[run]);
    let mut values = Vec::new();
    for (region, intervals) in regions {
        if let Ok(energy) = energy::integrate(&series.samples, period, intervals) {
            values.push((Some(*region), energy.joules));
        }
    }
    match whole {
        Ok(energy) => values.push((None, energy.joules)),
        Err(fault) if values.is_empty() => return Err(fault.to_string()),
        Err(_) => {}
    }
    Ok(values)
}

/// Counts of all regions that are long enough. That of the whole program is a field of the run.
fn push_counts(
    builder: &mut Builder,
    run: u32,
    counts: &CountSeries,
    regions: &[(u32, Vec<(f64, f64)>)],
    name: impl Fn(usize) -> String,
) -> Result<(), CountFault> {
    let period = counts.check()?;
    for counter in 0..counts.width() {
        let metric = builder.metric(&name(counter), &Unit::Count);
        for (region, intervals) in regions {
            if let Some(count) = counts.within(counter, intervals, period) {
                builder.push(metric, *region, run, count);
            }
        }
    }
    Ok(())
}

fn region_of(
    builder: &mut Builder,
    path: &str,
    (file, lines): (Option<String>, Option<(u32, u32)>),
) -> u32 {
    let gap = path.strip_prefix('p').is_some_and(|n| n.parse::<u64>().is_ok());
    let lines = lines.filter(|&lines| lines != (0, 0));
    let place = file.as_deref().and_then(|file| file.strip_prefix("binary:"));
    let kind = match file.as_deref() {
        Some("gapregion") => RegionKind::Gap,
        None if gap => RegionKind::Gap,
        Some("binary") => RegionKind::Automatic,
        _ if place.is_some() => RegionKind::Automatic,
        _ => RegionKind::Marked,
    };
    // Nobody chose the number of an automatic region, so its place is its name.
    let name = match (place, lines) {
        (Some(place), Some((line, _))) => {
            format!("{}:{line}", place.rsplit('/').next().unwrap_or(place))
        }
        (Some(place), None) => place.to_owned(),
        (None, _) => String::new(),
    };
    let file = match place {
        Some(place) => lines.map(|_| place.to_owned()),
        None => file.filter(|_| kind == RegionKind::Marked),
    };
    // The empty path means the whole program; a region without a name must not become it.
    let path = if path.is_empty() { "?" } else { path };
    builder.region(&RegionRow { path, name: &name, file: file.as_deref(), lines, kind: Some(kind) })
}

fn source_place(row: &Row, fields: &TupleFields) -> (Option<String>, Option<(u32, u32)>) {
    let line = |at: Option<usize>| row.number(at?).map(saturated_u32);
    let file = fields.file.and_then(|at| row.text(at)).map(str::to_owned);
    (file, line(fields.first_line).zip(line(fields.last_line)))
}

/// The number at the reader's place; anything else is reported and passed over.
fn number(reader: &mut JsonReader<'_>, report: &mut Report<'_>) -> Result<Option<f64>, JsonError> {
    let offset = reader.offset();
    let found = match reader.next_event()? {
        Event::Number(value) if value.as_f64().is_finite() => return Ok(Some(value.as_f64())),
        Event::Number(_) => "not finite",
        other => other.kind(),
    };
    wrong_type(reader, offset, "a number", found, report);
    leave_value(reader, found)?;
    Ok(None)
}

/// A number, or the last number of a list.
fn last_number(
    reader: &mut JsonReader<'_>,
    report: &mut Report<'_>,
) -> Result<Option<f64>, JsonError> {
    let offset = reader.offset();
    let found = match reader.next_event()? {
        Event::Number(value) if value.as_f64().is_finite() => return Ok(Some(value.as_f64())),
        Event::BeginArray => {
            let depth = reader.depth();
            let mut last = None;
            loop {
                match reader.next_event()? {
                    Event::EndArray | Event::End => return Ok(last),
                    Event::Number(value) if value.as_f64().is_finite() => {
                        last = Some(value.as_f64());
                    }
                    Event::BeginArray | Event::BeginObject => reader.leave(depth + 1)?,
                    _ => {}
                }
            }
        }
        Event::Number(_) => "not finite",
        other => other.kind(),
    };
    wrong_type(reader, offset, "a number", found, report);
    leave_value(reader, found)?;
    Ok(None)
}

/// Enters the expected container; anything else is reported and passed over.
fn begin(
    reader: &mut JsonReader<'_>,
    expected: &Event<'_>,
    report: &mut Report<'_>,
) -> Result<bool, JsonError> {
    let offset = reader.offset();
    let found = reader.next_event()?.kind();
    if found == expected.kind() {
        return Ok(true);
    }
    wrong_type(reader, offset, expected.kind(), found, report);
    leave_value(reader, found)?;
    Ok(false)
}

fn wrong_type(
    reader: &JsonReader<'_>,
    offset: u64,
    expected: &str,
    found: &str,
    report: &mut Report<'_>,
) {
    report.at(Severity::Error, "wrong-type", offset, || {
        format!("{} is {found}, not {expected}; it is omitted", reader.path())
    });
}

/// Leaves the value whose first event had this kind.
pub(super) fn leave_value(reader: &mut JsonReader<'_>, kind: &str) -> Result<(), JsonError> {
    if kind == Event::BeginObject.kind() || kind == Event::BeginArray.kind() {
        let depth = reader.depth();
        reader.leave(depth)?;
    }
    Ok(())
}
