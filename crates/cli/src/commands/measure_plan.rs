//! `measure --plan FILE`: the options of a sweep, kept in a file.
//!
//! The file is turned into the words that would have been typed, so that it means what the options
//! mean, and nothing is defined twice.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;

use parallax_sweep::split;
use toml::{Table, Value};

/// Names of options that are also typed as a letter.
const LETTERS: [(&str, &str); 4] =
    [("-c", "cores"), ("-i", "input"), ("-r", "reps"), ("-o", "output")];

/// The words of a command line with what is in the file that `--plan` names; the same words where it
/// names none. Options that are typed count instead of those in the file, and so does a program.
///
/// # Errors
/// What is wrong with the file, and where.
pub(crate) fn expanded(
    words: Vec<OsString>,
    command: &clap::Command,
) -> Result<Vec<OsString>, String> {
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let typed: Vec<&str> = words.iter().take(end).filter_map(|word| word.to_str()).collect();
    let Some(path) = named(&typed) else { return Ok(words) };
    let text = fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))?;
    let plan: Table = text.parse().map_err(|error| format!("{path} is not valid TOML: {error}"))?;
    let given = given(&typed);
    let known: BTreeSet<&str> = command.get_arguments().filter_map(clap::Arg::get_long).collect();
    let mut options = Vec::new();
    let mut program = Vec::new();
    for (key, value) in &plan {
        let name = key.replace('_', "-");
        if name == "program" {
            program = program_of(value).map_err(|why| format!("{path}: program {why}"))?;
        } else if !known.contains(name.as_str()) || name == "plan" {
            return Err(format!(
                "{path}: {key} is not an option of measure; `parallax measure --help` lists the \
                 options"
            ));
        } else if !given.contains(name.as_str()) {
            options.extend(option(&name, value).map_err(|why| format!("{path}: {key} {why}"))?);
        }
    }
    let mut out: Vec<OsString> = words.iter().take(2).cloned().collect();
    out.extend(options.into_iter().map(OsString::from));
    out.extend(words.iter().skip(2).cloned());
    if words.len() <= end + 1 && !program.is_empty() {
        if end == words.len() {
            out.push("--".into());
        }
        out.extend(program.into_iter().map(OsString::from));
    }
    Ok(out)
}

/// The file that `--plan` names.
fn named<'w>(typed: &[&'w str]) -> Option<&'w str> {
    let joined = typed.iter().find_map(|word| word.strip_prefix("--plan="));
    let apart = || {
        let at = typed.iter().position(|word| *word == "--plan")?;
        typed.get(at + 1).copied()
    };
    joined.or_else(apart)
}

/// Long names of the options that were typed.
fn given<'w>(typed: &[&'w str]) -> BTreeSet<&'w str> {
    let name = |word: &&'w str| -> Option<&'w str> {
        if let Some(long) = word.strip_prefix("--") {
            return long.split('=').next();
        }
        let letter = LETTERS.iter().find(|(letter, _)| word.starts_with(letter));
        letter.map(|(_, name)| *name)
    };
    typed.iter().filter_map(name).collect()
}

/// An option as it is typed.
fn option(name: &str, value: &Value) -> Result<Vec<String>, String> {
    Ok(match value {
        Value::Boolean(true) => vec![format!("--{name}")],
        Value::Boolean(false) => Vec::new(),
        Value::Array(values) if name == "cores" => {
            let cores: Vec<String> = values.iter().map(scalar).collect::<Result<_, _>>()?;
            vec![format!("--{name}={}", cores.join(","))]
        }
        Value::Array(values) => values
            .iter()
            .map(|value| Ok(format!("--{name}={}", scalar(value)?)))
            .collect::<Result<_, String>>()?,
        Value::Table(variables) if name == "env" => variables
            .iter()
            .map(|(variable, value)| Ok(format!("--{name}={variable}={}", scalar(value)?)))
            .collect::<Result<_, String>>()?,
        other => vec![format!("--{name}={}", scalar(other)?)],
    })
}

fn scalar(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        other => Err(format!("is {}, expected a string or a number", other.type_str())),
    }
}

/// The program and its arguments: a list, or one text with quotes as in a shell.
fn program_of(value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::Array(words) => words.iter().map(scalar).collect(),
        Value::String(text) => split(text).map_err(|error| error.to_string()),
        other => Err(format!("is {}, expected a string or a list", other.type_str())),
    }
}
