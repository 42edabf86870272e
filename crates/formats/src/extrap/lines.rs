//! One measurement per line: JSON Lines and Talpas.
//!
//! JSON Lines: `{"params": {"x": 1}, "value": 2.5, "callpath": "main", "metric": "time"}`, where
//! `value` may be a list of repetitions. Talpas: `{"parameters": {"x": 20};"metric": "time";
//! "callpath": "compute";"value": 82.0}`, with `;` between the fields.

use parallax_base::Severity;

use super::{NO_CALL_PATH, NO_METRIC, Repetitions, builder, call_path, metric};
use crate::FormatError;
use crate::json::{JsonLimits, JsonReader, Value};
use crate::scaling_data::{Builder, Measurements, ReadOptions, Report, ScalingFormat};
use crate::stream::{ByteStream, LineReader};

/// Reads lines of either format.
///
/// # Errors
/// When no line can be read.
pub(crate) fn read(
    stream: &mut dyn ByteStream,
    format: ScalingFormat,
    options: &ReadOptions<'_>,
    report: &mut Report<'_>,
) -> Result<Measurements, FormatError> {
    let mut lines = LineReader::new(stream);
    let mut builder = builder(format, options);
    let mut repetitions = Repetitions::default();
    let (mut read, mut first_fault) = (0_u64, None);
    loop {
        let line = match lines.next_line() {
            Ok(Some(line)) => line,
            Ok(None) => break,
            Err(cause) => return Err(FormatError::read(options.file, cause)),
        };
        let mut bytes = line.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line.bytes).to_vec();
        if bytes.iter().all(u8::is_ascii_whitespace) || bytes.starts_with(b"#") {
            continue;
        }
        if format == ScalingFormat::ExtrapTalpas {
            commas_for_semicolons(&mut bytes);
        }
        let (number, offset) = (line.number, line.offset);
        let outcome = one(&bytes, &mut builder, &mut repetitions);
        match outcome {
            Ok(()) => read += 1,
            Err((within, what)) => {
                let offset = offset + within;
                let what = format!("line {number}: {what}");
                report.at(Severity::Error, "bad-line", offset, || format!("{what}; it is omitted"));
                first_fault.get_or_insert((offset, what));
            }
        }
        builder.check_limits(options.file)?;
    }
    match first_fault {
        _ if read > 0 => Ok(builder.finish(report)),
        Some((offset, what)) => Err(FormatError::malformed(options.file, offset, what)),
        None => Err(FormatError::malformed(options.file, 0, "the file has no measurements")),
    }
}

/// Talpas writes `;` between fields; inside strings it stays.
fn commas_for_semicolons(bytes: &mut [u8]) {
    let (mut in_string, mut escaped) = (false, false);
    for byte in bytes {
        match *byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b';' if !in_string => *byte = b',',
            _ => {}
        }
    }
}

/// Adds the measurement of one line; the error is the byte within the line and what is wrong.
fn one(
    bytes: &[u8],
    builder: &mut Builder,
    repetitions: &mut Repetitions,
) -> Result<(), (u64, String)> {
    let mut reader =
        JsonReader::from_slice(bytes, JsonLimits { depth: 16, ..JsonLimits::default() });
    let value = reader.read_value().map_err(|fault| (fault.offset, fault.to_string()))?;
    reader.next_event().map_err(|fault| (fault.offset, fault.to_string()))?;
    let wrong = |what: &str| (0, what.to_owned());
    let parameters = value.get("params").or_else(|| value.get("parameters"));
    let parameters = parameters.ok_or_else(|| wrong("there are no params"))?;
    let values: &[Value] = match value.get("value") {
        Some(list @ Value::Array(_)) => list.items(),
        Some(single @ Value::Number(_)) => std::slice::from_ref(single),
        _ => return Err(wrong("there is no number or list of numbers called value")),
    };
    let numbers: Option<Vec<f64>> =
        values.iter().map(|v| v.as_f64().filter(|x| x.is_finite())).collect();
    let numbers = numbers.ok_or_else(|| wrong("a value is not a finite number"))?;
    let mut point = Vec::new();
    for (name, parameter) in parameters.entries() {
        let number = parameter.as_f64().filter(|x| x.is_finite());
        let number = number.ok_or_else(|| wrong("a parameter is not a finite number"))?;
        point.push((name.as_str(), number));
    }
    if point.iter().zip(point.iter().skip(1)).any(|(a, b)| a.0 == b.0) || point.is_empty() {
        return Err(wrong("a parameter is missing or given twice"));
    }
    if builder.num_parameters() == 0 {
        point.iter().for_each(|(name, _)| {
            builder.parameter(name);
        });
    }
    let places: Option<Vec<usize>> =
        point.iter().map(|(name, _)| builder.find_parameter(name)).collect();
    let mut numbers_of = vec![None; builder.num_parameters()];
    for (at, (_, number)) in places.unwrap_or_default().into_iter().zip(&point) {
        if let Some(slot) = numbers_of.get_mut(at) {
            *slot = Some(*number);
        }
    }
    let all: Option<Vec<f64>> = numbers_of.into_iter().collect();
    let Some(all) = all.filter(|all| all.len() == point.len()) else {
        return Err(wrong("its parameters are not those of the lines before"));
    };
    let coordinate = super::coordinate(builder, &all);
    let text = |name| value.get(name).and_then(Value::as_str);
    let region = call_path(builder, text("callpath").unwrap_or(NO_CALL_PATH));
    let metric = metric(builder, text("metric").unwrap_or(NO_METRIC));
    for number in numbers {
        repetitions.push(builder, metric, region, coordinate, number);
    }
    Ok(())
}
