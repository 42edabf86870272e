//! POP metrics: the row table of basicanalysis (`Number of processes;1;2;4`, percent, with raw
//! numbers behind `#`) and the column table of pypop (`,Parallel Efficiency,...`, ratios).
//!
//! Percentages become ratios; `Runtime (us)` becomes `time` in seconds; other names are kept.

use parallax_base::{Severity, Unit};

use crate::FormatError;
use crate::csv::{fields, separator};
use crate::scaling_data::{
    Builder, Measurements, Nesting, ReadOptions, Report, ScalingFormat, metric_names, number,
    parameter_names, whole,
};
use crate::stream::ByteStream;

/// Reads either table.
///
/// # Errors
/// When there are no process counts.
pub(crate) fn read(
    stream: &mut dyn ByteStream,
    options: &ReadOptions<'_>,
    report: &mut Report<'_>,
) -> Result<Measurements, FormatError> {
    let bytes = whole(stream, options)?;
    let content = String::from_utf8_lossy(&bytes);
    let content = content.trim_start_matches('\u{feff}');
    let mut builder = Builder::new(ScalingFormat::PopCsv, Nesting::Flat, options.limits);
    builder.program();
    builder.parameter(parameter_names::CORES);
    let header = content.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let done = if header.to_ascii_lowercase().starts_with("number of processes") {
        rows(content, &mut builder, report)
    } else {
        columns(content, &mut builder, report)
    };
    done.map_err(|what| FormatError::malformed(options.file, 0, what))?;
    Ok(builder.finish(report))
}

/// Whether basicanalysis writes this metric in percent.
fn is_percent(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("efficiency") || name.contains("scalability") || name.contains("balance")
}

fn add(builder: &mut Builder, name: &str, run: u32, value: f64) {
    let program = builder.program();
    let plain = name.trim();
    if plain == "Runtime (us)" {
        let time = builder.metric(metric_names::TIME, &Unit::Seconds);
        builder.push(time, program, run, value * 1e-6);
        return;
    }
    let unit = if is_percent(plain) || plain == "Speedup" { Unit::Ratio } else { Unit::Count };
    let metric = builder.metric(plain, &unit);
    builder.push(metric, program, run, value);
}

fn rows(content: &str, builder: &mut Builder, report: &mut Report<'_>) -> Result<(), &'static str> {
    let mut runs: Vec<u32> = Vec::new();
    for (at, line) in content.lines().enumerate() {
        // Raw numbers stand behind comment signs.
        let line = line.trim().trim_start_matches('#');
        if line.is_empty() {
            continue;
        }
        let mut parts = line.split(';');
        let name = parts.next().unwrap_or_default();
        let values: Vec<Option<f64>> = parts.map(number).collect();
        if runs.is_empty() {
            let counts: Option<Vec<f64>> = values.into_iter().collect();
            let counts = counts.filter(|c| !c.is_empty() && c.iter().all(|n| *n > 0.0));
            for count in counts.ok_or("the first line has no process counts")? {
                let value = builder.value_of_number(0, count);
                let coordinate = builder.coordinate(vec![value]);
                runs.push(builder.run(coordinate, 1));
            }
            continue;
        }
        if values.len() != runs.len() {
            report.whole(Severity::Warning, "bad-line", || {
                format!("line {} has {} values for {} runs", at + 1, values.len(), runs.len())
            });
        }
        for (&run, value) in runs.iter().zip(&values) {
            match value {
                Some(value) if is_percent(name) => add(builder, name, run, value / 100.0),
                Some(value) => add(builder, name, run, *value),
                None => report.whole(Severity::Warning, "bad-value", || {
                    format!("line {}: {name} has a value that is not a number", at + 1)
                }),
            }
        }
    }
    Ok(())
}

fn columns(
    content: &str,
    builder: &mut Builder,
    report: &mut Report<'_>,
) -> Result<(), &'static str> {
    let mut lines = content.lines().filter(|line| !line.trim().is_empty());
    let header = lines.next().ok_or("the file is empty")?;
    let separator = separator(header).ok_or("the first line has no column names")?;
    let names = fields(header, separator);
    let cores_at = ["Total Threads", "Number of Processes"]
        .iter()
        .find_map(|wanted| names.iter().position(|name| name == *wanted))
        .unwrap_or(0);
    for line in lines {
        let values = fields(line, separator);
        let count = values.get(cores_at).and_then(|text| number(text)).filter(|n| *n > 0.0);
        let Some(count) = count else {
            report.whole(Severity::Error, "bad-line", || {
                format!("{line:?} has no process count; it is omitted")
            });
            continue;
        };
        let value = builder.value_of_number(0, count);
        let coordinate = builder.coordinate(vec![value]);
        let run = builder.run(coordinate, 1);
        for (at, (name, text)) in names.iter().zip(&values).enumerate() {
            if at == cores_at || name.is_empty() {
                continue;
            }
            if let Some(value) = number(text) {
                add(builder, name, run, value);
            }
        }
    }
    if builder.num_samples() == 0 { Err("the table has no values") } else { Ok(()) }
}
