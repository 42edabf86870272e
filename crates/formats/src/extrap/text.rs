//! Extra-P text: `PARAMETER`, `POINTS`, `METRIC`, `REGION`, `DATA`, one per line.

use parallax_base::Severity;

use super::{NO_CALL_PATH, NO_METRIC, Repetitions, builder, call_path, coordinate, metric};
use crate::FormatError;
use crate::scaling_data::{Builder, Measurements, ReadOptions, Report, ScalingFormat};
use crate::stream::{ByteStream, LineReader};

/// Reads a text input.
///
/// # Errors
/// When the file has no points, or a line is not one of the format's.
pub(crate) fn read(
    stream: &mut dyn ByteStream,
    options: &ReadOptions<'_>,
    report: &mut Report<'_>,
) -> Result<Measurements, FormatError> {
    let mut lines = LineReader::new(stream);
    let mut text = Text {
        builder: builder(ScalingFormat::ExtrapText, options),
        points: Vec::new(),
        raw_points: Vec::new(),
        metric: None,
        region: None,
        next_point: 0,
        repetitions: Repetitions::default(),
        any_data: false,
    };
    loop {
        let line = match lines.next_line() {
            Ok(Some(line)) => line,
            Ok(None) => break,
            Err(cause) => return Err(FormatError::read(options.file, cause)),
        };
        let content = line.text();
        let content = content.trim_start_matches('\u{feff}').trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let (number, offset) = (line.number, line.offset);
        let (word, rest) = content.split_once(char::is_whitespace).unwrap_or((content, ""));
        let fault = |what: String| {
            FormatError::malformed(options.file, offset, format!("line {number}: {what}"))
        };
        match word {
            "PARAMETER" => {
                if !text.raw_points.is_empty() {
                    return Err(fault("a parameter after the points".to_owned()));
                }
                for name in rest.split_whitespace() {
                    text.builder.parameter(name);
                }
            }
            "POINTS" => text.points_line(rest).map_err(fault)?,
            "METRIC" => {
                text.resolve_points().map_err(fault)?;
                text.metric = Some(metric(&mut text.builder, rest));
                text.next_point = 0;
            }
            "REGION" => {
                text.resolve_points().map_err(fault)?;
                text.region = Some(call_path(&mut text.builder, rest));
                text.next_point = 0;
            }
            "DATA" => {
                text.resolve_points().map_err(fault)?;
                text.data_line(rest, offset, number, report).map_err(fault)?;
                text.builder.check_limits(options.file)?;
            }
            _ => {
                return Err(fault(format!(
                    "{word:?} is not one of PARAMETER, POINTS, METRIC, REGION and DATA"
                )));
            }
        }
    }
    if !text.any_data {
        return Err(FormatError::malformed(options.file, 0, "the file has no DATA lines"));
    }
    Ok(text.builder.finish(report))
}

struct Text {
    builder: Builder,
    /// Coordinates in file order, once all points are known.
    points: Vec<u32>,
    raw_points: Vec<Vec<f64>>,
    metric: Option<u16>,
    region: Option<u32>,
    next_point: usize,
    repetitions: Repetitions,
    any_data: bool,
}

impl Text {
    fn points_line(&mut self, rest: &str) -> Result<(), String> {
        if self.any_data {
            return Err("points after data".to_owned());
        }
        if !rest.contains('(') {
            for word in rest.split_whitespace() {
                self.raw_points.push(vec![number(word)?]);
            }
            return Ok(());
        }
        let mut left = rest.trim();
        while !left.is_empty() {
            let inner =
                left.strip_prefix('(').ok_or_else(|| format!("'(' expected at {left:?}"))?;
            let (inside, after) =
                inner.split_once(')').ok_or_else(|| "')' expected at the end".to_owned())?;
            let separators = |c: char| c.is_whitespace() || c == ',';
            let words = inside.split(separators).filter(|word| !word.is_empty());
            self.raw_points.push(words.map(number).collect::<Result<_, _>>()?);
            left = after.trim_start();
        }
        Ok(())
    }

    fn resolve_points(&mut self) -> Result<(), String> {
        let parameters = self.builder.num_parameters();
        let fresh = self.raw_points.get(self.points.len()..).unwrap_or_default();
        if let Some(odd) = fresh.iter().find(|point| point.len() != parameters) {
            return Err(format!("a point has {} values for {parameters} parameters", odd.len()));
        }
        for point in fresh {
            self.points.push(coordinate(&mut self.builder, point));
        }
        Ok(())
    }

    fn data_line(
        &mut self,
        rest: &str,
        offset: u64,
        line: u64,
        report: &mut Report<'_>,
    ) -> Result<(), String> {
        let Some(&point) = self.points.get(self.next_point) else {
            let all = self.points.len();
            return Err(format!("more DATA lines than the {all} points"));
        };
        self.next_point += 1;
        self.any_data = true;
        let metric = match self.metric {
            Some(metric) => metric,
            None => metric(&mut self.builder, NO_METRIC),
        };
        let region = match self.region {
            Some(region) => region,
            None => call_path(&mut self.builder, NO_CALL_PATH),
        };
        for word in rest.split_whitespace() {
            let value = word.parse::<f64>().map_err(|_| format!("{word:?} is not a number"))?;
            if value.is_finite() {
                self.repetitions.push(&mut self.builder, metric, region, point, value);
            } else {
                self.repetitions.skip(metric, region, point);
                report.at(Severity::Error, "bad-value", offset, || {
                    format!("line {line}: {word} is not a finite number; it is omitted")
                });
            }
        }
        Ok(())
    }
}

fn number(word: &str) -> Result<f64, String> {
    let value = word.parse::<f64>().ok().filter(|value| value.is_finite());
    value.ok_or_else(|| format!("{word:?} is not a number"))
}
