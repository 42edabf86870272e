//! Text reports of sprof and SPERF (2016 and 2017).
//!
//! ```text
//! -----> Execution number 1 for ./app:
//!         --> Result for 2 threads, application ./app, arguments: a, b,
//!                  Parallel execution time of the region 1, lines 108 to 120 on file X: 0.77 seconds
//!                  Total time of execution: 16.97 seconds
//! ```
//!
//! Speedups in the report are not read: they follow from the times.

use parallax_base::{Severity, Unit};

use crate::FormatError;
use crate::pascal::SUSPICIOUSLY_SHORT;
use crate::scaling_data::{
    Builder, Measurements, Nesting, ReadOptions, RegionKind, RegionRow, Report, ScalingFormat,
    metric_names, number, parameter_names,
};
use crate::stream::{ByteStream, LineReader};

/// What a line about a region says.
struct RegionLine<'a> {
    id: &'a str,
    lines: Option<(u32, u32)>,
    file: &'a str,
    seconds: f64,
}

fn region_line(rest: &str) -> Option<RegionLine<'_>> {
    let (place, seconds) = rest.rsplit_once(':')?;
    let seconds = number(seconds.trim().strip_suffix("seconds")?)?;
    let (id, place) = place.split_once(',').unwrap_or((place, ""));
    let place = place.trim().strip_prefix("lines ").unwrap_or_default();
    let (lines, file) = place.split_once(" on file").unwrap_or((place, ""));
    let lines = lines
        .split_once(" to ")
        .and_then(|(first, last)| Some((first.trim().parse().ok()?, last.trim().parse().ok()?)));
    Some(RegionLine { id: id.trim(), lines, file: file.trim(), seconds })
}

/// Reads a report.
///
/// # Errors
/// When it has no results.
pub(crate) fn read(
    stream: &mut dyn ByteStream,
    options: &ReadOptions<'_>,
    report: &mut Report<'_>,
) -> Result<Measurements, FormatError> {
    let mut lines = LineReader::new(stream);
    let mut builder = Builder::new(ScalingFormat::SperfText, Nesting::Flat, options.limits);
    let program = builder.program();
    let (cores, inputs) =
        (builder.parameter(parameter_names::CORES), builder.parameter(parameter_names::INPUT));
    let time = builder.metric(metric_names::TIME, &Unit::Seconds);
    let (mut repetition, mut run) = (1, None);
    let (mut too_short, mut timed) = (0_u64, 0_u64);
    loop {
        let line = match lines.next_line() {
            Ok(Some(line)) => line,
            Ok(None) => break,
            Err(cause) => return Err(FormatError::read(options.file, cause)),
        };
        let (text, offset, nth) = (line.text(), line.offset, line.number);
        let text = text.trim();
        let mut bad = |what: &str| {
            report.at(Severity::Error, "bad-line", offset, || {
                format!("line {nth}: {what}; it is omitted")
            });
        };
        if let Some(rest) = text.strip_prefix("-----> Execution number") {
            let word = rest.split_whitespace().next().unwrap_or_default();
            match word.parse() {
                Ok(number) => repetition = number,
                Err(_) => bad("the execution has no number"),
            }
            run = None;
        } else if let Some(rest) = text.strip_prefix("--> Result for") {
            run = None;
            let (count, rest) = rest.split_once("threads").unwrap_or((rest, ""));
            let arguments = rest.split_once("arguments:").map(|(_, list)| list).unwrap_or_default();
            // Each argument is followed by a comma and a space.
            let words: Vec<&str> =
                arguments.split(", ").map(str::trim).filter(|a| !a.is_empty()).collect();
            let Some(count) = number(count).filter(|n| *n > 0.0) else {
                bad("the result has no thread count");
                continue;
            };
            let count = builder.value_of_number(cores, count);
            let input = builder.value(inputs, words.join(" ").trim_end_matches(','), None);
            let coordinate = builder.coordinate(vec![count, input]);
            run = Some(builder.run(coordinate, repetition));
        } else if let Some(rest) = text.strip_prefix("Parallel execution time of the region") {
            let Some(run) = run else {
                bad("a region stands before any result");
                continue;
            };
            let Some(RegionLine { id, lines: range, file, seconds }) = region_line(rest) else {
                bad("a region has no time");
                continue;
            };
            if range == Some((0, 0)) && seconds == 0.0 {
                report.at(Severity::Note, "region-not-entered", offset, || {
                    format!(
                        "line {nth}: region {id} was not entered in this run; it has no time there"
                    )
                });
                continue;
            }
            let kind = Some(RegionKind::Marked);
            let region = builder.region(&RegionRow {
                path: id,
                name: id,
                file: Some(file),
                lines: range,
                kind,
            });
            builder.push(time, region, run, seconds);
        } else if let Some(rest) = text.strip_prefix("Total time of execution:") {
            let seconds = rest.trim().strip_suffix("seconds").and_then(number);
            match (run, seconds) {
                (Some(run), Some(seconds)) => {
                    builder.push(time, program, run, seconds);
                    timed += 1;
                    if seconds < SUSPICIOUSLY_SHORT {
                        too_short += 1;
                        builder.suspect(run);
                    }
                }
                _ => bad("a total time without a number or a result"),
            }
        }
        builder.check_limits(options.file)?;
    }
    if too_short > 0 {
        report.whole(Severity::Warning, "run-too-short", || {
            format!(
                "{too_short} of {timed} runs took less than 10 ms: the program may have failed at \
                 its start"
            )
        });
    }
    if builder.num_samples() == 0 {
        return Err(FormatError::malformed(options.file, 0, "the report has no results"));
    }
    Ok(builder.finish(report))
}
