//! Several PaScal files as one: runs pass from the old files to the new one as they are read.
//!
//! Keys are rewritten: inputs are numbered over all files, and the runs of a configuration that
//! several files have are numbered on as further repetitions. The content of each run is the same
//! value for value; only its white space is gone.

use std::collections::BTreeMap;
use std::io::{self, Write};

use parallax_base::Source;
use parallax_formats::FormatError;
use parallax_formats::json::{
    Event, JsonError, JsonErrorKind, JsonLimits, JsonReader, Number, Value,
};
use parallax_import::scaling::{MeasurementOptions, open_measurements};
use parallax_model::ensemble::parameter_names;

use super::ScalingError;

/// Why files could not be merged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// A file cannot be read, or does not fit.
    #[error(transparent)]
    Scaling(#[from] ScalingError),
    /// The merged file cannot be written.
    #[error("cannot write the merged file: {0}")]
    Write(#[from] io::Error),
}

/// What was merged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Merged {
    /// Number of runs written.
    pub runs: usize,
    /// The inputs, in the order of their numbers.
    pub inputs: Vec<String>,
    /// Remarks.
    pub notes: Vec<String>,
}

/// One file before its runs are read.
struct MergeInput<'a> {
    name: &'a str,
    source: &'a Source,
    config: Value,
    keys: Vec<String>,
    /// The new number of each input number; of the whole file where it has none.
    input_of: BTreeMap<String, usize>,
}

/// A name of a key that counts repetitions.
fn is_repetition(name: &str) -> bool {
    matches!(name, "repetitions" | "repetition")
}

/// Merges PaScal Analyzer files and writes the result to `out`.
///
/// # Errors
/// When a file is not PaScal JSON, files describe their regions differently, or `out` fails.
pub fn merge_pascal(files: &[(String, Source)], out: &mut dyn Write) -> Result<Merged, MergeError> {
    let mut merged = Merged::default();
    let mut parts = Vec::new();
    for (name, source) in files {
        parts.push(describe(name, source, &mut merged)?);
    }
    let first = parts.first().ok_or(ScalingError::NoSources)?;
    let has = |name: &str| parts.iter().any(|part| part.keys.iter().any(|key| key == name));
    let mut keys: Vec<String> = vec![parameter_names::CORES.to_owned()];
    let mut others: Vec<String> = parts.iter().flat_map(|part| part.keys.iter().cloned()).collect();
    others.sort();
    others.dedup();
    keys.extend(others.into_iter().filter(|key| {
        key != parameter_names::CORES && key != parameter_names::INPUT && !is_repetition(key)
    }));
    for part in &parts {
        let lacks = keys.iter().find(|key| !part.keys.contains(key));
        if let Some(lacking) = lacks {
            return Err(ScalingError::Missing {
                what: format!("{} has no {lacking} in the keys of its runs", part.name),
                hint: "merge files that varied the same parameters".to_owned(),
            }
            .into());
        }
    }
    let has_input = has(parameter_names::INPUT) || merged.inputs.len() > 1;
    if has_input {
        keys.push(parameter_names::INPUT.to_owned());
    }
    keys.push("repetitions".to_owned());
    let extras = extras(&parts)?;

    out.write_all(b"{\"config\":")?;
    write_value(&config(first, &parts, &keys, &extras, &merged, has_input), out)?;
    out.write_all(b",\"data\":{")?;
    let mut next: BTreeMap<String, u64> = BTreeMap::new();
    for part in &parts {
        copy_runs(part, &keys, &mut next, &mut merged.runs, out)?;
    }
    out.write_all(b"}}\n")?;
    Ok(merged)
}

fn json(name: &str, fault: &JsonError) -> ScalingError {
    ScalingError::Format(match &fault.kind {
        JsonErrorKind::Read(cause) => FormatError::read(name, cause.clone()),
        kind => FormatError::malformed(name, fault.offset, format!("{kind}, {}", fault.path)),
    })
}

/// Reads the configuration of a file and numbers its inputs.
fn describe<'a>(
    name: &'a str,
    source: &'a Source,
    merged: &mut Merged,
) -> Result<MergeInput<'a>, ScalingError> {
    let fail = |fault: &JsonError| json(name, fault);
    let mut config = None;
    let mut keys_seen: Vec<String> = Vec::new();
    let mut reader = JsonReader::from_source(&**source, JsonLimits::default());
    reader.next_event().map_err(|fault| fail(&fault))?;
    while let Some(field) = reader.next_key().map_err(|fault| fail(&fault))? {
        match field.as_str() {
            "config" => config = Some(reader.read_value().map_err(|fault| fail(&fault))?),
            "data" => {
                reader.next_event().map_err(|fault| fail(&fault))?;
                while let Some(key) = reader.next_key().map_err(|fault| fail(&fault))? {
                    keys_seen.push(key);
                    reader.skip_value().map_err(|fault| fail(&fault))?;
                }
            }
            _ => reader.skip_value().map_err(|fault| fail(&fault))?,
        }
    }
    let config = config.ok_or_else(|| ScalingError::Missing {
        what: format!("{name} has no config"),
        hint: "only files of PaScal Analyzer can be merged".to_owned(),
    })?;
    let descriptor = config.get("data_descriptor").and_then(|d| d.get("keys"));
    let keys: Vec<String> = descriptor
        .map(|list| list.items().iter().filter_map(Value::as_str).map(str::to_owned).collect())
        .filter(|keys: &Vec<String>| !keys.is_empty())
        .ok_or_else(|| ScalingError::Missing {
            what: format!("{name} does not say what the keys of its runs are"),
            hint: "only files of PaScal Analyzer with a data_descriptor can be merged".to_owned(),
        })?;
    let mut number = |label: &str| {
        merged.inputs.iter().position(|known| known == label).unwrap_or_else(|| {
            merged.inputs.push(label.to_owned());
            merged.inputs.len() - 1
        })
    };
    let mut input_of = BTreeMap::new();
    if let Some(at) = keys.iter().position(|key| key == parameter_names::INPUT) {
        let mut used: Vec<(u64, String)> = Vec::new();
        for key in &keys_seen {
            let part = key.split(';').nth(at).unwrap_or("").trim().to_owned();
            if let Ok(index) = part.parse()
                && !used.iter().any(|(known, _)| *known == index)
            {
                used.push((index, part));
            }
        }
        used.sort();
        // The reader has the inputs in use in the order of the command line, which is that of
        // their numbers.
        let options = MeasurementOptions::new(name);
        let read = open_measurements(&**source, &options)?;
        let labels = read
            .parameter(parameter_names::INPUT)
            .and_then(|at| read.parameters().get(at))
            .map(|parameter| parameter.values.as_slice())
            .unwrap_or_default();
        for ((_, part), value) in used.into_iter().zip(labels) {
            input_of.insert(part, number(&value.label));
        }
    } else {
        let stem = name.rsplit('/').next().unwrap_or(name);
        let stem = stem.split('.').next().unwrap_or(stem);
        merged.notes.push(format!(
            "{name} names no inputs; its runs are assigned to the input \
                                   {stem:?}."
        ));
        input_of.insert(String::new(), number(stem));
    }
    Ok(MergeInput { name, source, config, keys, input_of })
}

/// The extras of all files, which must describe the same tuples.
fn extras(parts: &[MergeInput<'_>]) -> Result<Vec<(String, Value)>, ScalingError> {
    let mut all: Vec<(String, Value)> = Vec::new();
    for part in parts {
        let extras = part.config.get("data_descriptor").and_then(|d| d.get("extras"));
        for (name, value) in extras.map(Value::entries).unwrap_or_default() {
            match all.iter().find(|(known, _)| known == name) {
                None => all.push((name.clone(), value.clone())),
                Some((_, known)) if known == value => {}
                Some(_) => {
                    return Err(ScalingError::Inconsistent {
                        what: format!(
                            "{} describes {name} differently from the previous files.",
                            part.name
                        ),
                    });
                }
            }
        }
    }
    Ok(all)
}

fn strings(list: &[String]) -> Value {
    Value::Array(list.iter().map(|text| Value::String(text.clone())).collect())
}

/// The configuration of the first file with what the merge changes.
fn config(
    first: &MergeInput<'_>,
    parts: &[MergeInput<'_>],
    keys: &[String],
    extras: &[(String, Value)],
    merged: &Merged,
    has_input: bool,
) -> Value {
    let replaced = ["command", "arguments", "data_descriptor", "merged_from"];
    let mut entries: Vec<(String, Value)> = first
        .config
        .entries()
        .iter()
        .filter(|(name, _)| !replaced.contains(&name.as_str()))
        .cloned()
        .collect();
    let inputs = if has_input { merged.inputs.as_slice() } else { &[] };
    // Readers take the order of the inputs from the command line.
    entries.push((
        "command".to_owned(),
        Value::String(format!("parallax merge --ipts {} --outp merged", inputs.join(","))),
    ));
    if has_input {
        entries.push(("arguments".to_owned(), strings(inputs)));
    }
    let values = first
        .config
        .get("data_descriptor")
        .and_then(|descriptor| descriptor.get("values"))
        .cloned()
        .unwrap_or_else(|| strings(&["start_time".to_owned(), "stop_time".to_owned()]));
    entries.push((
        "data_descriptor".to_owned(),
        Value::Object(vec![
            ("values".to_owned(), values),
            ("extras".to_owned(), Value::Object(extras.to_vec())),
            ("keys".to_owned(), strings(keys)),
        ]),
    ));
    let from = parts.iter().map(|part| {
        let mut about = vec![("file".to_owned(), Value::String(part.name.to_owned()))];
        for name in ["command", "execdate", "hostname"] {
            if let Some(value) = part.config.get(name) {
                about.push((name.to_owned(), value.clone()));
            }
        }
        Value::Object(about)
    });
    entries.push(("merged_from".to_owned(), Value::Array(from.collect())));
    Value::Object(entries)
}

/// Copies the runs of one file with new keys.
fn copy_runs(
    part: &MergeInput<'_>,
    keys: &[String],
    next: &mut BTreeMap<String, u64>,
    runs: &mut usize,
    out: &mut dyn Write,
) -> Result<(), MergeError> {
    let fail = |fault: &JsonError| MergeError::from(json(part.name, fault));
    let mut reader = JsonReader::from_source(&**part.source, JsonLimits::default());
    reader.next_event().map_err(|fault| fail(&fault))?;
    while let Some(field) = reader.next_key().map_err(|fault| fail(&fault))? {
        if field != "data" {
            reader.skip_value().map_err(|fault| fail(&fault))?;
            continue;
        }
        reader.next_event().map_err(|fault| fail(&fault))?;
        while let Some(old) = reader.next_key().map_err(|fault| fail(&fault))? {
            let Some(configuration) = new_configuration(part, keys, &old) else {
                return Err(ScalingError::Format(FormatError::malformed(
                    part.name,
                    reader.offset(),
                    format!("the key {old:?} does not have the parts {}", part.keys.join(", ")),
                ))
                .into());
            };
            let repetition = next.entry(configuration.clone()).or_insert(0);
            *repetition += 1;
            if *runs > 0 {
                out.write_all(b",")?;
            }
            out.write_all(b"\n")?;
            write_string(&format!("{configuration}{repetition}"), out)?;
            out.write_all(b":")?;
            copy_value(&mut reader, part.name, out)?;
            *runs += 1;
        }
    }
    Ok(())
}

/// The new key of a run up to its repetition.
fn new_configuration(part: &MergeInput<'_>, keys: &[String], old: &str) -> Option<String> {
    let parts: Vec<&str> = old.split(';').map(str::trim).collect();
    if parts.len() != part.keys.len() {
        return None;
    }
    let of = |name: &str| {
        part.keys.iter().position(|key| key == name).and_then(|at| parts.get(at)).copied()
    };
    let mut out = String::new();
    for name in keys.iter().filter(|name| !is_repetition(name)) {
        if name == parameter_names::INPUT {
            let input = part.input_of.get(of(name).unwrap_or(""))?;
            out.push_str(&input.to_string());
        } else {
            out.push_str(of(name)?);
        }
        out.push(';');
    }
    Some(out)
}

/// Copies one value, event by event: a run may be larger than memory.
fn copy_value(
    reader: &mut JsonReader<'_>,
    name: &str,
    out: &mut dyn Write,
) -> Result<(), MergeError> {
    let start = reader.depth();
    // Whether a comma must stand before the next element of each open container.
    let mut after_first: Vec<bool> = Vec::new();
    let mut after_key = false;
    loop {
        let event = reader.next_event().map_err(|fault| MergeError::from(json(name, &fault)))?;
        let is_end = matches!(event, Event::EndObject | Event::EndArray);
        if !is_end && !after_key {
            match after_first.last_mut() {
                Some(true) => out.write_all(b",")?,
                Some(first) => *first = true,
                None => {}
            }
        }
        after_key = false;
        match event {
            Event::BeginObject => {
                out.write_all(b"{")?;
                after_first.push(false);
            }
            Event::BeginArray => {
                out.write_all(b"[")?;
                after_first.push(false);
            }
            Event::EndObject => {
                out.write_all(b"}")?;
                after_first.pop();
            }
            Event::EndArray => {
                out.write_all(b"]")?;
                after_first.pop();
            }
            Event::Key(text) => {
                write_string(text, out)?;
                out.write_all(b":")?;
                after_key = true;
            }
            Event::String(text) => write_string(text, out)?,
            Event::Number(number) => write_number(number, out)?,
            Event::Bool(value) => out.write_all(if value { b"true" } else { b"false" })?,
            Event::Null => out.write_all(b"null")?,
            Event::End => return Ok(()),
        }
        if !after_key && reader.depth() <= start {
            return Ok(());
        }
    }
}

fn write_value(value: &Value, out: &mut dyn Write) -> io::Result<()> {
    match value {
        Value::Null => out.write_all(b"null"),
        Value::Bool(value) => out.write_all(if *value { b"true" } else { b"false" }),
        Value::Number(number) => write_number(*number, out),
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.write_all(b"[")?;
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.write_all(b",")?;
                }
                write_value(item, out)?;
            }
            out.write_all(b"]")
        }
        Value::Object(entries) => {
            out.write_all(b"{")?;
            for (at, (name, value)) in entries.iter().enumerate() {
                if at > 0 {
                    out.write_all(b",")?;
                }
                write_string(name, out)?;
                out.write_all(b":")?;
                write_value(value, out)?;
            }
            out.write_all(b"}")
        }
    }
}

/// The shortest digits that give the same number back.
fn write_number(number: Number, out: &mut dyn Write) -> io::Result<()> {
    match number {
        Number::Integer(number) => write!(out, "{number}"),
        Number::Float(number) if number.is_finite() => write!(out, "{number:?}"),
        // As Python writes them, whose files have them in the first place.
        Number::Float(number) if number.is_nan() => out.write_all(b"NaN"),
        Number::Float(number) if number > 0.0 => out.write_all(b"Infinity"),
        Number::Float(_) => out.write_all(b"-Infinity"),
    }
}

fn write_string(text: &str, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"\"")?;
    for c in text.chars() {
        match c {
            '"' => out.write_all(b"\\\"")?,
            '\\' => out.write_all(b"\\\\")?,
            c if c.is_control() => write!(out, "\\u{:04x}", u32::from(c))?,
            c => write!(out, "{c}")?,
        }
    }
    out.write_all(b"\"")
}
