//! TALP JSON of DLB: one run per file, regions with times, counters and efficiencies.
//!
//! `elapsedTime` (nanoseconds) becomes `time` in seconds. Every other number of a region is kept
//! under its own name: times in nanoseconds, efficiencies as ratios.

use parallax_base::{Severity, Unit};

use crate::FormatError;
use crate::json::{JsonLimits, JsonReader, Value};
use crate::pascal::file_error;
use crate::scaling_data::{
    Builder, Measurements, Nesting, ReadOptions, RegionKind, RegionRow, Report, ScalingFormat,
    metric_names, parameter_names,
};
use crate::stream::ByteStream;

/// Names that TALP gives the region of the whole program.
const WHOLE: [&str; 2] = ["Global", "Application"];

fn unit_of(name: &str) -> Unit {
    match name {
        "cycles" => Unit::Cycles,
        _ if name.ends_with("Time")
            || name.contains("Norm")
            || name.contains("Nomrd")
            || name.starts_with("maxGpu") =>
        {
            Unit::Nanos
        }
        _ if name.ends_with("Efficiency") || name.contains("LoadBalance") => Unit::Ratio,
        _ => Unit::Count,
    }
}

/// Reads a TALP file.
///
/// # Errors
/// When the text is not JSON or has no regions.
pub(crate) fn read(
    stream: &mut dyn ByteStream,
    options: &ReadOptions<'_>,
    report: &mut Report<'_>,
) -> Result<Measurements, FormatError> {
    let mut reader = JsonReader::new(stream, JsonLimits::default());
    let root = reader.read_value().map_err(|fault| file_error(options.file, &fault))?;
    let mut builder = Builder::new(ScalingFormat::TalpJson, Nesting::Flat, options.limits);
    let program = builder.program();
    let time = builder.metric(metric_names::TIME, &Unit::Seconds);
    for (name, value) in
        root.entries().iter().chain(root.get("metadata").map(Value::entries).unwrap_or_default())
    {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Bool(flag) => flag.to_string(),
            Value::Number(n) => n.as_f64().to_string(),
            _ => continue,
        };
        builder.metadata.push((name.clone(), text));
    }
    if let Some(name) = root.repeated_name() {
        report.whole(Severity::Warning, "duplicate-name", || {
            format!("the file has {name:?} twice in one object; the last one counts")
        });
    }
    let regions = root.get("Application").map(Value::entries).unwrap_or_default();
    let first = regions.first().map(|(_, region)| region);
    let whole_name = WHOLE.iter().find(|name| regions.iter().any(|(region, _)| region == *name));
    let overall = root.get("resources").or(first);
    // What the run used; the program's region says it where `resources` is missing.
    let mut point = Vec::new();
    for (parameter, field) in [
        (parameter_names::CORES, "numCpus"),
        ("ranks", "numMpiRanks"),
        ("nodes", "numNodes"),
        ("gpus", "numGpus"),
    ] {
        let used = overall.and_then(|part| part.get(field)).or_else(|| first?.get(field));
        if let Some(count) = used.and_then(Value::as_f64).filter(|n| n.is_finite()) {
            let at = builder.parameter(parameter);
            point.push(builder.value_of_number(at, count));
        }
    }
    let coordinate = builder.coordinate(point);
    let run = builder.run(coordinate, 1);
    for (name, region) in regions {
        let kind = Some(RegionKind::Marked);
        let region_idx = if whole_name.is_some_and(|whole| whole == name) {
            program
        } else {
            builder.region(&RegionRow { path: name, name, kind, ..RegionRow::default() })
        };
        for (field, value) in region.entries() {
            let Some(number) = value.as_f64().filter(|x| x.is_finite()) else {
                report.whole(Severity::Warning, "wrong-type", || {
                    format!("{field} of region {name} is not a finite number; it is omitted")
                });
                continue;
            };
            if field == "elapsedTime" {
                builder.push(time, region_idx, run, number * 1e-9);
            } else {
                let metric = builder.metric(field, &unit_of(field));
                builder.push(metric, region_idx, run, number);
            }
        }
    }
    if builder.num_samples() == 0 {
        return Err(FormatError::malformed(options.file, 0, "the file has no regions"));
    }
    Ok(builder.finish(report))
}
