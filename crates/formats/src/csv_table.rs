//! Tables with named columns: `cores,input,repetition,region,time,...`.
//!
//! Columns are told by their names, without case, units in brackets and blanks. Known parameters
//! are cores (also threads, processes, ranks, p), input, size, nodes, frequency and the like;
//! columns that hold text are parameters too; other columns with numbers are metrics. With
//! columns `metric` and `value`, each row is one value (long form).

use std::borrow::Cow;
use std::collections::HashMap;

use parallax_base::{Severity, Unit};

use crate::FormatError;
use crate::csv::{fields, separator};
use crate::scaling_data::{
    Builder, Measurements, Nesting, ReadOptions, RegionRow, Report, ScalingFormat, metric_names,
    number, parameter_names, whole,
};
use crate::stream::ByteStream;

/// What a column is.
#[derive(Debug, Clone, PartialEq)]
enum Role {
    Parameter(String),
    Repetition,
    Region,
    MetricName,
    MetricValue,
    /// Name, unit, and what brings values to that unit.
    Metric(String, Unit, f64),
    /// Told by the values: numbers are a metric, texts a parameter.
    Open(String),
}

/// Name and unit of a column title such as `time [ms]` or `energy (J)`.
fn name_and_unit(title: &str) -> (String, Option<&str>) {
    let title = title.trim();
    let split = title.rfind(['[', '(']).filter(|_| title.ends_with([']', ')']));
    match split.map(|at| title.split_at(at)) {
        Some((name, unit)) if !name.trim().is_empty() => {
            (name.trim().to_owned(), Some(unit.trim_matches(['[', ']', '(', ')']).trim()))
        }
        _ => (title.to_owned(), None),
    }
}

fn role_of(title: &str) -> Role {
    let (name, unit) = name_and_unit(title);
    let plain: String = name.to_ascii_lowercase().chars().filter(|c| c.is_alphanumeric()).collect();
    match plain.as_str() {
        "cores" | "core" | "ncores" | "numcores" | "threads" | "nthreads" | "numthreads"
        | "processes" | "procs" | "nprocs" | "ranks" | "nranks" | "numprocs"
        | "numberofprocesses" | "p" | "np" | "cpus" | "ncpus" | "pes" => {
            Role::Parameter(parameter_names::CORES.to_owned())
        }
        "input" | "inputs" | "argument" | "arguments" | "args" | "problem" => {
            Role::Parameter(parameter_names::INPUT.to_owned())
        }
        "frequency" | "freq" => Role::Parameter(parameter_names::FREQUENCY.to_owned()),
        "size" | "inputsize" | "problemsize" | "n" | "nodes" | "numnodes" | "gpus" | "version" => {
            Role::Parameter(name)
        }
        "repetition" | "repetitions" | "rep" | "run" | "iteration" | "trial" | "execution" => {
            Role::Repetition
        }
        "region" | "callpath" | "function" | "kernel" | "regionid" => Role::Region,
        "metric" => Role::MetricName,
        "value" => Role::MetricValue,
        "time" | "runtime" | "seconds" | "elapsed" | "elapsedtime" | "walltime" | "walltimes"
        | "executiontime" | "totaltime" | "duration" | "times" | "timems" | "timens" | "timeus" => {
            let given = match plain.as_str() {
                "timems" => Some("ms"),
                "timeus" => Some("us"),
                "timens" => Some("ns"),
                _ => unit,
            };
            let factor = match given {
                Some("ms" | "milliseconds") => 1e-3,
                Some("us" | "µs" | "microseconds") => 1e-6,
                Some("ns" | "nanoseconds") => 1e-9,
                Some("min" | "minutes") => 60.0,
                _ => 1.0,
            };
            Role::Metric(metric_names::TIME.to_owned(), Unit::Seconds, factor)
        }
        "efficiency" => Role::Metric(metric_names::EFFICIENCY.to_owned(), Unit::Ratio, 1.0),
        _ => match unit {
            Some(unit) => Role::Metric(name, Unit::from_source(unit), 1.0),
            None => Role::Open(name),
        },
    }
}

/// Whether these column names say that the table has scaling measurements: something that was
/// varied and something that was measured.
pub(crate) fn tells_scaling(titles: &[String]) -> bool {
    let roles: Vec<Role> = titles.iter().map(|title| role_of(title)).collect();
    let varied = roles.iter().any(|role| {
        matches!(role, Role::Parameter(name) if name == parameter_names::CORES || name == parameter_names::INPUT)
    });
    let measured = roles.iter().any(|role| match role {
        Role::Metric(name, ..) => name == metric_names::TIME || name == metric_names::EFFICIENCY,
        Role::MetricValue => true,
        _ => false,
    });
    varied && measured
}

/// Reads a table.
///
/// # Errors
/// When it has no header, no parameter or no metric.
pub(crate) fn read(
    stream: &mut dyn ByteStream,
    options: &ReadOptions<'_>,
    report: &mut Report<'_>,
) -> Result<Measurements, FormatError> {
    let bytes = whole(stream, options)?;
    let content = String::from_utf8_lossy(&bytes);
    let content = content.trim_start_matches('\u{feff}');
    let malformed = |what: &str| FormatError::malformed(options.file, 0, what);
    // Passed over twice rather than taken apart and kept: fields take many times their bytes.
    let is_row = |(_, line): &(u64, &str)| !line.trim().is_empty() && !line.starts_with('#');
    let mut lines = (1..).zip(content.lines()).filter(is_row);
    let (_, header) = lines.next().ok_or_else(|| malformed("the table is empty"))?;
    let separator = separator(header).ok_or_else(|| malformed("the table has one column"))?;
    let titles = fields(header, separator);
    let roles = settle(&titles, lines.clone(), separator);
    let is_metric = |role: &Role| matches!(role, Role::Metric(..) | Role::MetricValue);
    if !roles.iter().any(is_metric) {
        return Err(malformed("no column holds measured numbers"));
    }
    if !roles.iter().any(|role| matches!(role, Role::Parameter(_))) {
        return Err(malformed("no column holds a parameter such as cores or input"));
    }
    let mut builder = Builder::new(ScalingFormat::PlainCsv, Nesting::Flat, options.limits);
    if !roles.contains(&Role::Region) {
        builder.program();
    }
    for role in &roles {
        if let Role::Parameter(name) = role {
            builder.parameter(name);
        }
    }
    if builder.num_parameters() < roles.iter().filter(|r| matches!(r, Role::Parameter(_))).count() {
        return Err(malformed("two columns stand for the same parameter; rename one of them"));
    }
    let columns = columns(roles, &mut builder);
    let mut table = Table { builder, columns, next: HashMap::new() };
    for (line, text) in lines {
        let row = fields(text, separator);
        if row.len() != table.columns.len() {
            report.whole(Severity::Error, "bad-line", || {
                format!(
                    "line {line} has {} fields for {} columns; it is omitted",
                    row.len(),
                    table.columns.len()
                )
            });
            continue;
        }
        table.row(line, &row, report);
        table.builder.check_limits(options.file)?;
    }
    if table.builder.num_samples() == 0 {
        return Err(malformed("no row has a value"));
    }
    Ok(table.builder.finish(report))
}

/// Decides what the open columns are from their values.
fn settle<'t>(
    titles: &[Cow<'_, str>],
    lines: impl Iterator<Item = (u64, &'t str)>,
    separator: char,
) -> Vec<Role> {
    let mut roles: Vec<Role> = titles.iter().map(|title| role_of(title)).collect();
    // Columns that may still hold nothing but numbers.
    let is_open = |(_, role): &(usize, &Role)| matches!(role, Role::Open(_));
    let mut numeric: Vec<usize> =
        roles.iter().enumerate().filter(is_open).map(|(at, _)| at).collect();
    let mut text = Vec::new();
    for (_, line) in lines {
        if numeric.is_empty() {
            break;
        }
        let row = fields(line, separator);
        numeric.retain(|&at| {
            let value = row.get(at).map_or("", |value| value);
            let is_number = value.is_empty() || value.parse::<f64>().is_ok();
            if !is_number {
                text.push(at);
            }
            is_number
        });
    }
    for at in numeric {
        if let Some(role) = roles.get_mut(at)
            && let Role::Open(name) = role
        {
            *role = Role::Metric(std::mem::take(name), Unit::Count, 1.0);
        }
    }
    for at in text {
        if let Some(role) = roles.get_mut(at)
            && let Role::Open(name) = role
        {
            *role = Role::Parameter(std::mem::take(name));
        }
    }
    roles
}

/// What is done with the fields of a column.
enum Column {
    /// A value of the parameter with this number.
    Parameter(usize, ParameterKind),
    Repetition,
    Region,
    MetricName,
    MetricValue,
    /// A value of the metric with this number, and what brings it to the metric's unit.
    Metric(u16, f64),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ParameterKind {
    Frequency,
    Input,
    Other,
}

/// Looks up once what all rows need.
fn columns(roles: Vec<Role>, builder: &mut Builder) -> Vec<Column> {
    let column = |role| match role {
        Role::Parameter(name) => {
            let kind = match name.as_str() {
                parameter_names::FREQUENCY => ParameterKind::Frequency,
                parameter_names::INPUT => ParameterKind::Input,
                _ => ParameterKind::Other,
            };
            Column::Parameter(builder.parameter(&name), kind)
        }
        Role::Repetition => Column::Repetition,
        Role::Region => Column::Region,
        Role::MetricName => Column::MetricName,
        Role::MetricValue => Column::MetricValue,
        Role::Metric(name, unit, factor) => Column::Metric(builder.metric(&name, &unit), factor),
        Role::Open(name) => Column::Metric(builder.metric(&name, &Unit::Count), 1.0),
    };
    roles.into_iter().map(column).collect()
}

struct Table {
    builder: Builder,
    columns: Vec<Column>,
    /// Repetitions seen, where no column numbers them.
    next: HashMap<(u32, u32, u16), u32>,
}

impl Table {
    fn row(&mut self, line: u64, row: &[Cow<'_, str>], report: &mut Report<'_>) {
        let mut coordinate = Vec::new();
        let (mut repetition, mut region, mut metric_name) = (None, None, None);
        for (column, text) in self.columns.iter().zip(row) {
            let text: &str = text;
            match *column {
                Column::Parameter(at, kind) => coordinate.push(match kind {
                    ParameterKind::Frequency => match number(text) {
                        Some(n) => self.builder.value(at, text, Some(crate::pascal::hertz(n))),
                        None => self.builder.value_of_text(at, text),
                    },
                    ParameterKind::Input => self.builder.value(at, text, None),
                    ParameterKind::Other => self.builder.value_of_text(at, text),
                }),
                Column::Repetition => repetition = text.parse::<u32>().ok(),
                Column::Region => region = Some(text),
                Column::MetricName => metric_name = Some(text),
                Column::MetricValue | Column::Metric(..) => {}
            }
        }
        let region = match region {
            Some("0" | "") | None => self.builder.program(),
            Some(path) => {
                self.builder.region(&RegionRow { path, name: path, ..RegionRow::default() })
            }
        };
        let coordinate = self.builder.coordinate(coordinate);
        for (column, text) in self.columns.iter().zip(row) {
            let (metric, factor) = match *column {
                Column::Metric(metric, factor) => (metric, factor),
                Column::MetricValue => {
                    let name = metric_name.unwrap_or(metric_names::TIME);
                    let unit = if name == metric_names::TIME { Unit::Seconds } else { Unit::Count };
                    (self.builder.metric(name, &unit), 1.0)
                }
                _ => continue,
            };
            if text.is_empty() {
                continue;
            }
            let Some(value) = number(text) else {
                report.whole(Severity::Error, "bad-value", || {
                    format!("line {line}: {text:?} is not a finite number; it is omitted")
                });
                continue;
            };
            let counted = self.next.entry((coordinate, region, metric)).or_insert(0);
            *counted += 1;
            let run = self.builder.run(coordinate, repetition.unwrap_or(*counted));
            self.builder.push(metric, region, run, value * factor);
        }
    }
}
