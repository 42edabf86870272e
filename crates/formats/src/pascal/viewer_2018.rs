//! The list of regions that the first viewer reads.
//!
//! `[{"region": "108, 120", "filename": "a.c", "executions": [[{"argument": "...", "runs":
//! [{"threads": 1, "time": 0.5}, ...]}, ...], ...]}, ...]`; the region `0, 0` or `0, 9999` is the
//! whole program, an execution is one repetition of everything.

use parallax_base::{Severity, Unit};

use super::reader::file_error;
use crate::FormatError;
use crate::json::{Event, JsonLimits, JsonReader, Value};
use crate::scaling_data::{
    Builder, Measurements, Nesting, ReadOptions, RegionKind, RegionRow, Report, ScalingFormat,
    metric_names, parameter_names,
};
use crate::stream::ByteStream;

/// First and last line of a region such as `"108, 120"`.
pub(crate) fn line_range(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once(',')?;
    Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
}

/// Whether this range of lines stands for the whole program.
pub(crate) fn is_whole_program(lines: (u32, u32)) -> bool {
    matches!(lines, (0, 0 | 9999))
}

/// Adds a region known by file and lines.
pub(crate) fn region_by_lines(builder: &mut Builder, text: &str, file: &str) -> u32 {
    let lines = line_range(text);
    if lines.is_some_and(is_whole_program) {
        return builder.program();
    }
    let path = format!("{file}:{text}");
    let kind = Some(RegionKind::Marked);
    builder.region(&RegionRow { path: &path, name: "", file: Some(file), lines, kind })
}

/// Reads a 2018 list.
///
/// # Errors
/// When the text is not a list, or breaks before its first region is complete.
pub(crate) fn read(
    stream: &mut dyn ByteStream,
    options: &ReadOptions<'_>,
    report: &mut Report<'_>,
) -> Result<Measurements, FormatError> {
    let mut reader = JsonReader::new(stream, JsonLimits::default());
    let mut builder = Builder::new(ScalingFormat::PascalViewer2018, Nesting::Lines, options.limits);
    builder.program();
    let time = builder.metric(metric_names::TIME, &Unit::Seconds);
    builder.parameter(parameter_names::CORES);
    builder.parameter(parameter_names::INPUT);
    let found = reader.next_event().map_err(|fault| file_error(options.file, &fault))?.kind();
    if found != Event::BeginArray.kind() {
        let fault = reader.wrong_type("a list of regions", found);
        return Err(file_error(options.file, &fault));
    }
    let mut count = 0;
    loop {
        let depth = reader.depth();
        let offset = reader.offset();
        let value = match reader.read_value() {
            Ok(value) => value,
            // The end of the list looks like a missing value.
            Err(_) if reader.depth() < depth => break,
            Err(fault) if count == 0 => return Err(file_error(options.file, &fault)),
            Err(fault) => {
                report.at(Severity::Error, "file-ends-early", fault.offset, || {
                    format!("{fault}; the {count} regions before it are kept")
                });
                break;
            }
        };
        count += 1;
        read_region(&mut builder, time, &value, offset, report);
        builder.check_limits(options.file)?;
    }
    Ok(builder.finish(report))
}

fn read_region(
    builder: &mut Builder,
    time: u16,
    value: &Value,
    offset: u64,
    report: &mut Report<'_>,
) {
    let text = value.get("region").and_then(Value::as_str);
    let (Some(text), Some(executions)) = (text, value.get("executions")) else {
        report.at(Severity::Error, "wrong-type", offset, || {
            "an element of the list has no region and executions; it is omitted".to_owned()
        });
        return;
    };
    let file = value.get("filename").and_then(Value::as_str).unwrap_or_default();
    let region = region_by_lines(builder, text, file);
    if let Some(name) = value.repeated_name() {
        report.at(Severity::Warning, "duplicate-name", offset, || {
            format!("region {text} has {name:?} twice; the last one counts")
        });
    }
    if line_range(text).is_some_and(is_whole_program)
        && !file.is_empty()
        && let Some(program) = builder.regions.get_mut(region as usize)
    {
        program.file = Some(file.to_owned());
    }
    for (repetition, execution) in (1..).zip(executions.items()) {
        for input in execution.items() {
            let argument = input.get("argument").and_then(Value::as_str).unwrap_or_default();
            for run in input.get("runs").map(Value::items).unwrap_or_default() {
                let threads = run.get("threads").and_then(Value::as_f64);
                let seconds = run.get("time").and_then(Value::as_f64);
                let (Some(threads), Some(seconds)) = (
                    threads.filter(|n| *n > 0.0 && n.is_finite()),
                    seconds.filter(|s| s.is_finite() && *s >= 0.0),
                ) else {
                    report.at(Severity::Error, "bad-run", offset, || {
                        format!("a run of region {text} has no threads and time; it is omitted")
                    });
                    continue;
                };
                let cores = builder.value_of_number(0, threads);
                let input = builder.value(1, argument, None);
                let coordinate = builder.coordinate(vec![cores, input]);
                let run = builder.run(coordinate, repetition);
                builder.push(time, region, run, seconds);
            }
        }
    }
}
