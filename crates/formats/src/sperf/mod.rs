//! Reports of SPERF. Its JSON and CSV are read here: one file for the program and one for each
//! parallel region.

mod text;
mod xml;

pub(crate) use text::read as read_text;
pub(crate) use xml::read as read_xml;

use parallax_base::{Severity, Unit};

use crate::FormatError;
use crate::json::{JsonLimits, JsonReader, Value};
use crate::pascal::{file_error, region_by_lines};
use crate::scaling_data::{
    Builder, Measurements, Nesting, ReadOptions, Report, ScalingFormat, metric_names, number,
    parameter_names, whole,
};
use crate::stream::ByteStream;

/// The number at the end of a name such as `Execution 2`.
fn numbered(name: &str, word: &str) -> Option<u32> {
    name.strip_prefix(word)?.trim().parse().ok()
}

/// Reads `{"Region": "108, 120", "Filename": "app", "Execution 1": {"InputData 1": {"arguments":
/// " a b ", "Run 1": {"Num threads": "1", "Time": "0.5", ...}}}}`. All values are texts.
///
/// # Errors
/// When the text is not JSON.
pub(crate) fn read_json(
    stream: &mut dyn ByteStream,
    options: &ReadOptions<'_>,
    report: &mut Report<'_>,
) -> Result<Measurements, FormatError> {
    let mut reader = JsonReader::new(stream, JsonLimits::default());
    let root = reader.read_value().map_err(|fault| file_error(options.file, &fault))?;
    let mut builder = Builder::new(ScalingFormat::SperfJson, Nesting::Lines, options.limits);
    builder.program();
    let (cores, inputs) =
        (builder.parameter(parameter_names::CORES), builder.parameter(parameter_names::INPUT));
    let time = builder.metric(metric_names::TIME, &Unit::Seconds);
    let text = |value: &Value, name: &str| -> Option<String> {
        match value.get(name)? {
            Value::String(text) => Some(text.trim().to_owned()),
            Value::Number(n) => Some(n.as_f64().to_string()),
            _ => None,
        }
    };
    let lines = text(&root, "Region").unwrap_or_else(|| "0, 0".to_owned());
    let file = text(&root, "Filename").unwrap_or_default();
    let region = region_by_lines(&mut builder, &lines, &file);
    if let Some(name) = root.repeated_name() {
        report.whole(Severity::Warning, "duplicate-name", || {
            format!("the file has {name:?} twice in one object; the last one counts")
        });
    }
    for (name, execution) in root.entries() {
        let Some(repetition) = numbered(name, "Execution") else { continue };
        for (name, input) in execution.entries() {
            if numbered(name, "InputData").is_none() {
                continue;
            }
            let label = text(input, "arguments").unwrap_or_else(|| name.clone());
            for (name, run) in input.entries() {
                if numbered(name, "Run").is_none() {
                    continue;
                }
                let threads =
                    text(run, "Num threads").and_then(|t| number(&t)).filter(|n| *n > 0.0);
                let seconds = text(run, "Time").and_then(|t| number(&t)).filter(|s| *s >= 0.0);
                let (Some(threads), Some(seconds)) = (threads, seconds) else {
                    report.whole(Severity::Error, "bad-run", || {
                        format!("{name} of execution {repetition} has no threads and time; it is omitted")
                    });
                    continue;
                };
                let threads = builder.value_of_number(cores, threads);
                let input = builder.value(inputs, &label, None);
                let coordinate = builder.coordinate(vec![threads, input]);
                let run = builder.run(coordinate, repetition);
                builder.push(time, region, run, seconds);
            }
        }
    }
    if builder.num_samples() == 0 {
        return Err(FormatError::malformed(options.file, 0, "the file has no runs"));
    }
    Ok(builder.finish(report))
}

/// Reads efficiencies: a header of thread counts (`,1,2,4,`), a `,` line before each execution,
/// and a row of efficiencies for each input.
///
/// # Errors
/// When the header has no thread counts.
pub(crate) fn read_csv(
    stream: &mut dyn ByteStream,
    options: &ReadOptions<'_>,
    report: &mut Report<'_>,
) -> Result<Measurements, FormatError> {
    let bytes = whole(stream, options)?;
    let content = String::from_utf8_lossy(&bytes);
    let mut builder = Builder::new(ScalingFormat::SperfCsv, Nesting::Flat, options.limits);
    let program = builder.program();
    let (cores, inputs) =
        (builder.parameter(parameter_names::CORES), builder.parameter(parameter_names::INPUT));
    let efficiency = builder.metric(metric_names::EFFICIENCY, &Unit::Ratio);
    let mut lines = content.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let header = lines.next().map(|(_, line)| line).unwrap_or_default();
    let threads: Option<Vec<f64>> = header
        .trim()
        .trim_matches(',')
        .split(',')
        .map(|n| number(n).filter(|n| *n > 0.0))
        .collect();
    let Some(threads) = threads else {
        return Err(FormatError::malformed(options.file, 0, "the header has no thread counts"));
    };
    let (mut repetition, mut rows_of_execution) = (1, 0);
    for (at, line) in lines {
        let line = line.trim();
        if line.chars().all(|c| c == ',') {
            repetition += u32::from(rows_of_execution > 0);
            rows_of_execution = 0;
            continue;
        }
        rows_of_execution += 1;
        let mut fields = line.split(',');
        let input = format!("input {}", fields.next().unwrap_or_default().trim());
        for (&count, field) in threads.iter().zip(fields) {
            if field.trim().is_empty() {
                continue;
            }
            let Some(value) = number(field) else {
                report.whole(Severity::Error, "bad-value", || {
                    format!("line {}: {field:?} is not a number; it is omitted", at + 1)
                });
                continue;
            };
            let count = builder.value_of_number(cores, count);
            let input = builder.value(inputs, &input, None);
            let coordinate = builder.coordinate(vec![count, input]);
            let run = builder.run(coordinate, repetition);
            builder.push(efficiency, program, run, value);
        }
    }
    report.whole(Severity::Note, "efficiency-only", || {
        "the file has efficiencies but no times; speedup follows from them, times do not".to_owned()
    });
    Ok(builder.finish(report))
}
