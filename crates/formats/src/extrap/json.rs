//! Extra-P JSON: names (`{"parameters": [..], "measurements": {path: {metric: [..]}}}`), id tables
//! (the older form), and the `experiment.json` of an `.extra-p` file.

use std::collections::HashMap;

use parallax_base::casts::saturated_u32;
use parallax_base::{Limits, Severity};

use super::{Repetitions, builder, call_path, coordinate, metric};
use crate::FormatError;
use crate::json::{Event, JsonError, JsonLimits, JsonReader, Value};
use crate::pascal::file_error;
use crate::scaling_data::{Builder, Measurements, ReadOptions, Report, ScalingFormat, Statistic};
use crate::stream::ByteStream;

/// Reads a JSON input.
///
/// # Errors
/// When the text is not JSON of this format; a text that ends early gives what is complete.
pub(crate) fn read(
    stream: &mut dyn ByteStream,
    options: &ReadOptions<'_>,
    report: &mut Report<'_>,
) -> Result<Measurements, FormatError> {
    read_as(stream, ScalingFormat::ExtrapJson, options, report)
}

pub(super) fn read_as(
    stream: &mut dyn ByteStream,
    format: ScalingFormat,
    options: &ReadOptions<'_>,
    report: &mut Report<'_>,
) -> Result<Measurements, FormatError> {
    let mut reader = JsonReader::new(stream, JsonLimits::default());
    let mut input = Input {
        builder: builder(format, options),
        tables: Tables::default(),
        pending: Vec::new(),
        repetitions: Repetitions::default(),
        parameters_known: false,
        file: options.file,
        limits: options.limits,
        waiting_bytes: 0,
        exceeded: None,
    };
    let read = input.document(&mut reader, report);
    if let Some(cause) = input.exceeded.take() {
        return Err(cause);
    }
    if let Err(fault) = read {
        if input.builder.num_samples() == 0 && input.tables.measurements.is_empty() {
            return Err(file_error(options.file, &fault));
        }
        report.at(Severity::Error, "file-ends-early", fault.offset, || {
            format!("{fault}; the measurements before it are kept")
        });
    }
    input.builder.check_limits(options.file)?;
    input.finish(options, report)
}

/// The id tables of the older form, by id.
#[derive(Default)]
struct Tables {
    parameters: HashMap<u64, String>,
    parameter_order: Vec<u64>,
    call_paths: HashMap<u64, String>,
    metrics: HashMap<u64, String>,
    coordinates: HashMap<u64, Vec<(u64, f64)>>,
    /// (call path, coordinate, metric, value) in file order.
    measurements: Vec<(u64, u64, u64, f64)>,
}

/// Points of the named form that stand before `parameters`.
struct Pending {
    call_path: String,
    metric: String,
    value: Value,
    offset: u64,
}

struct Input<'o> {
    file: &'o str,
    limits: Limits,
    /// Bytes of what waits for the parameters or the tables to be known.
    waiting_bytes: u64,
    /// Set when memory is at its limit: reading ends then.
    exceeded: Option<FormatError>,
    builder: Builder,
    tables: Tables,
    pending: Vec<Pending>,
    repetitions: Repetitions,
    parameters_known: bool,
}

impl Input<'_> {
    /// Counts what is kept until more of the file is known; false when that is too much.
    fn has_room(&mut self, waiting_bytes: u64) -> bool {
        self.waiting_bytes += waiting_bytes;
        let waiting =
            self.limits.metadata("measurements that wait for their names", self.waiting_bytes);
        let waiting =
            waiting.map_err(|cause| FormatError::Limit { file: self.file.to_owned(), cause });
        self.exceeded = waiting.and_then(|()| self.builder.check_limits(self.file)).err();
        self.exceeded.is_none()
    }

    fn document(
        &mut self,
        reader: &mut JsonReader<'_>,
        report: &mut Report<'_>,
    ) -> Result<(), JsonError> {
        let found = reader.next_event()?.kind();
        if found != Event::BeginObject.kind() {
            return Err(reader.wrong_type("an object", found));
        }
        while let Some(name) = reader.next_key()? {
            let offset = reader.offset();
            if self.exceeded.is_some() {
                return Ok(());
            }
            match name.as_str() {
                "parameters" => {
                    let value = reader.read_value()?;
                    self.parameters(&value);
                }
                "callpaths" | "metrics" => {
                    let value = reader.read_value()?;
                    let table = if name == "metrics" {
                        &mut self.tables.metrics
                    } else {
                        &mut self.tables.call_paths
                    };
                    table.extend(value.items().iter().filter_map(id_and_name));
                }
                "coordinates" => {
                    let value = reader.read_value()?;
                    for coordinate in value.items() {
                        if let Some(id) = id_of(coordinate, "id") {
                            self.tables.coordinates.insert(id, pairs_of(coordinate));
                        }
                    }
                }
                "measurements" => self.measurements(reader, offset, report)?,
                "Extra-P" => {
                    let version = reader.read_value()?;
                    if let Some(text) = version.as_str() {
                        self.builder.metadata.push((name, text.to_owned()));
                    }
                }
                _ => reader.skip_value()?,
            }
        }
        reader.next_event()?;
        Ok(())
    }

    fn parameters(&mut self, value: &Value) {
        for item in value.items() {
            if let Some(name) = item.as_str() {
                self.builder.parameter(name);
                self.parameters_known = true;
            } else if let Some((id, name)) = id_and_name(item) {
                self.tables.parameter_order.push(id);
                self.tables.parameters.insert(id, name);
            }
        }
    }

    fn measurements(
        &mut self,
        reader: &mut JsonReader<'_>,
        offset: u64,
        report: &mut Report<'_>,
    ) -> Result<(), JsonError> {
        match reader.next_event()? {
            Event::BeginArray => self.table_rows(reader, report),
            Event::BeginObject => {
                while let Some(call_path) = reader.next_key()? {
                    let found = reader.next_event()?.kind();
                    if found != Event::BeginObject.kind() {
                        return Err(reader.wrong_type("an object of metrics", found));
                    }
                    while let Some(metric) = reader.next_key()? {
                        self.points(reader, &call_path, &metric, report)?;
                        if self.exceeded.is_some() {
                            return Ok(());
                        }
                    }
                }
                Ok(())
            }
            other => {
                let found = other.kind();
                report.at(Severity::Error, "wrong-type", offset, || {
                    format!("measurements is {found}")
                });
                Ok(())
            }
        }
    }

    /// Rows of the older form.
    fn table_rows(
        &mut self,
        reader: &mut JsonReader<'_>,
        report: &mut Report<'_>,
    ) -> Result<(), JsonError> {
        loop {
            let offset = reader.offset();
            match reader.next_event()? {
                Event::BeginObject => {}
                Event::EndArray | Event::End => return Ok(()),
                other => {
                    let found = other.kind();
                    return Err(reader.wrong_type("an object", found));
                }
            }
            if !self.has_room(64) {
                return Ok(());
            }
            let (mut ids, mut value) = ([None; 3], None);
            while let Some(name) = reader.next_key()? {
                let number = match reader.read_value()? {
                    Value::Number(number) => number,
                    _ => continue,
                };
                match (name.as_str(), &mut ids) {
                    ("callpath_id", [id, _, _])
                    | ("coordinate_id", [_, id, _])
                    | ("metric_id", [_, _, id]) => *id = number.as_u64(),
                    ("value", _) => value = Some(number.as_f64()).filter(|x| x.is_finite()),
                    _ => {}
                }
            }
            match (ids, value) {
                ([Some(path), Some(coordinate), Some(metric)], Some(value)) => {
                    self.tables.measurements.push((path, coordinate, metric, value));
                }
                _ => report.at(Severity::Error, "bad-measurement", offset, || {
                    "a measurement lacks an id or a finite value; it is omitted".to_owned()
                }),
            }
        }
    }

    /// The points of one call path and metric.
    fn points(
        &mut self,
        reader: &mut JsonReader<'_>,
        call_path: &str,
        metric: &str,
        report: &mut Report<'_>,
    ) -> Result<(), JsonError> {
        let found = reader.next_event()?.kind();
        if found != Event::BeginArray.kind() {
            return Err(reader.wrong_type("a list of points", found));
        }
        let depth = reader.depth();
        loop {
            let offset = reader.offset();
            let value = match reader.read_value() {
                Ok(value) => value,
                Err(_) if reader.depth() < depth => return Ok(()),
                Err(fault) => return Err(fault),
            };
            let bytes = if self.parameters_known { 0 } else { reader.offset() - offset };
            // A number takes few bytes as text and many as a value.
            let names = (call_path.len() + metric.len()) as u64;
            if !self.has_room(if bytes > 0 { 32 * bytes + names + 200 } else { 0 }) {
                return Ok(());
            }
            let (call_path, metric) = (call_path.to_owned(), metric.to_owned());
            let pending = Pending { call_path, metric, value, offset };
            if self.parameters_known {
                self.point(&pending, report);
            } else {
                self.pending.push(pending);
            }
        }
    }

    fn point(&mut self, pending: &Pending, report: &mut Report<'_>) {
        let Pending { value, offset, .. } = pending;
        let numbers = |name: &str| -> Option<Vec<f64>> {
            let items = value.get(name)?.items();
            items.iter().map(|item| item.as_f64().filter(|x| x.is_finite())).collect()
        };
        let point = numbers("point").or_else(|| numbers("coordinate"));
        let Some(point) = point.filter(|p| p.len() == self.builder.num_parameters()) else {
            report.at(Severity::Error, "bad-point", *offset, || {
                format!(
                    "a point of {} has not one number for each parameter; it is omitted",
                    pending.call_path
                )
            });
            return;
        };
        let point = coordinate(&mut self.builder, &point);
        let region = call_path(&mut self.builder, &pending.call_path);
        let metric = metric(&mut self.builder, &pending.metric);
        let mut any = false;
        for item in value.get("values").map(Value::items).unwrap_or_default() {
            any = true;
            if let Some(number) = item.as_f64().filter(|x| x.is_finite()) {
                self.repetitions.push(&mut self.builder, metric, region, point, number);
            } else {
                self.repetitions.skip(metric, region, point);
                report.at(Severity::Error, "bad-value", *offset, || {
                    format!(
                        "a value of {} is not a finite number; it is omitted",
                        pending.call_path
                    )
                });
            }
        }
        if any {
            return;
        }
        let number = |name: &str| value.get(name).and_then(Value::as_f64).filter(|x| x.is_finite());
        let (Some(mean), Some(median)) = (number("mean"), number("median")) else {
            report.at(Severity::Error, "bad-point", *offset, || {
                format!("a point of {} has no values; it is omitted", pending.call_path)
            });
            return;
        };
        self.builder.push_statistic(Statistic {
            metric,
            region,
            coordinate: point,
            mean,
            median,
            minimum: number("minimum").unwrap_or(mean),
            maximum: number("maximum").unwrap_or(mean),
            deviation: number("std").unwrap_or(0.0),
            repetitions: saturated_u32(number("repetitions").unwrap_or(1.0)),
        });
    }

    fn finish(
        mut self,
        options: &ReadOptions<'_>,
        report: &mut Report<'_>,
    ) -> Result<Measurements, FormatError> {
        for pending in std::mem::take(&mut self.pending) {
            self.point(&pending, report);
        }
        self.resolve_tables(report);
        self.builder.check_limits(options.file)?;
        let m = self.builder.finish(report);
        if m.samples.is_empty() && m.statistics.is_empty() {
            return Err(FormatError::malformed(options.file, 0, "the file has no measurements"));
        }
        Ok(m)
    }

    fn resolve_tables(&mut self, report: &mut Report<'_>) {
        let tables = std::mem::take(&mut self.tables);
        for id in &tables.parameter_order {
            if let Some(name) = tables.parameters.get(id) {
                self.builder.parameter(name);
            }
        }
        let order = &tables.parameter_order;
        let point_of = |pairs: &Vec<(u64, f64)>| {
            // Of pairs with the same parameter the first counts.
            let values: HashMap<u64, f64> = pairs.iter().rev().copied().collect();
            order.iter().map(|id| values.get(id).copied()).collect::<Option<Vec<f64>>>()
        };
        let mut points: HashMap<u64, Option<u32>> = HashMap::new();
        for &(path, coordinate_id, metric_id, value) in &tables.measurements {
            let names = tables.call_paths.get(&path).zip(tables.metrics.get(&metric_id));
            let point = names.and_then(|_| {
                *points.entry(coordinate_id).or_insert_with(|| {
                    let point = point_of(tables.coordinates.get(&coordinate_id)?)?;
                    Some(coordinate(&mut self.builder, &point))
                })
            });
            let Some(((path, name), point)) = names.zip(point) else {
                report.whole(Severity::Error, "unknown-id", || {
                    "measurements refer to ids that are in no table; they are omitted".to_owned()
                });
                continue;
            };
            let region = call_path(&mut self.builder, path);
            let metric = metric(&mut self.builder, name);
            self.repetitions.push(&mut self.builder, metric, region, point, value);
        }
    }
}

fn id_of(value: &Value, name: &str) -> Option<u64> {
    match value.get(name)? {
        Value::Number(number) => number.as_u64(),
        _ => None,
    }
}

fn id_and_name(value: &Value) -> Option<(u64, String)> {
    Some((id_of(value, "id")?, value.get("name")?.as_str()?.to_owned()))
}

fn pairs_of(coordinate: &Value) -> Vec<(u64, f64)> {
    let pairs = coordinate.get("parameter_value_pairs").map(Value::items).unwrap_or_default();
    let pair = |pair: &Value| {
        let value = pair.get("parameter_value")?.as_f64().filter(|x| x.is_finite())?;
        Some((id_of(pair, "parameter_id")?, value))
    };
    pairs.iter().filter_map(pair).collect()
}
