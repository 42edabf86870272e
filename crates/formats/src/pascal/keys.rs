//! From run keys (`"4;0;1"`) to coordinates and repetitions.

use parallax_base::Severity;

use super::arguments::{Origin, in_command_order};
use super::config::Config;
use crate::scaling_data::{Builder, Report, parameter_names};

/// A run's coordinate and repetition number.
pub(super) struct Placed {
    pub(super) coordinate: u32,
    pub(super) repetition: u32,
}

/// What the parts of the keys are called when the file does not say.
fn usual_names(parts: usize) -> Vec<String> {
    let names: &[&str] = match parts {
        0 | 1 => &["cores"],
        2 => &["cores", "repetitions"],
        3 => &["cores", "input", "repetitions"],
        _ => &["cores", "frequency", "input", "repetitions"],
    };
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn is_repetition(name: &str) -> bool {
    matches!(name, "repetitions" | "repetition")
}

/// Frequencies are written in kHz (2300000) or GHz (2.3); returns hertz.
pub(crate) fn hertz(value: f64) -> f64 {
    match value {
        v if v >= 1e8 => v,
        v if v >= 1e5 => v * 1e3,
        v if v >= 100.0 => v * 1e6,
        // Rounded, so that 2.3 gives exactly 2300000000.
        v => (v * 1e9).round(),
    }
}

/// Places every run. `keys` are the texts of the run keys in file order, with their offsets; a key
/// that does not fit is reported and gives `None`.
pub(super) fn place(
    builder: &mut Builder,
    keys: &[(Box<str>, u64)],
    config: &Config,
    report: &mut Report<'_>,
) -> Vec<Option<Placed>> {
    let parts_of_first = keys.first().map_or(0, |(key, _)| key.split(';').count());
    let mut names = config.keys.clone().unwrap_or_else(|| usual_names(parts_of_first));
    if names.iter().enumerate().any(|(i, name)| names.iter().take(i).any(|other| other == name)) {
        report.whole(Severity::Error, "bad-descriptor", || {
            format!("the keys {} are not distinct; the usual ones are assumed", names.join(";"))
        });
        names = usual_names(parts_of_first);
    }
    for name in names.iter().filter(|name| !is_repetition(name)) {
        builder.parameter(name);
    }
    let input_at = names.iter().position(|name| name == parameter_names::INPUT);
    let labels = input_at.map(|at| input_labels(builder, at, keys, config, report));
    let mut placed = Vec::with_capacity(keys.len());
    for (key, offset) in keys {
        let parts: Vec<&str> = key.split(';').map(str::trim).collect();
        if parts.len() != names.len() || parts.iter().any(|part| part.is_empty()) {
            report.at(Severity::Error, "bad-key", *offset, || {
                format!(
                    "the key {key:?} has not the parts {}; this run is omitted",
                    names.join(";")
                )
            });
            placed.push(None);
            continue;
        }
        placed.push(place_one(builder, &names, &parts, labels.as_ref(), *offset, report));
    }
    placed
}

fn place_one(
    builder: &mut Builder,
    names: &[String],
    parts: &[&str],
    labels: Option<&Labels>,
    offset: u64,
    report: &mut Report<'_>,
) -> Option<Placed> {
    let mut repetition = 1;
    let mut values = Vec::with_capacity(parts.len());
    for (name, part) in names.iter().zip(parts) {
        if is_repetition(name) {
            let Ok(number) = part.parse() else {
                report.at(Severity::Error, "bad-key", offset, || {
                    format!("the repetition {part:?} is not a number; this run is omitted")
                });
                return None;
            };
            repetition = number;
            continue;
        }
        let parameter = builder.parameter(name);
        let number = part.parse::<f64>().ok().filter(|x| x.is_finite());
        let value = match name.as_str() {
            parameter_names::INPUT => {
                let label = labels.and_then(|labels| labels.of(part));
                let label = label.unwrap_or_else(|| format!("input {part}"));
                builder.value(parameter, &label, None)
            }
            parameter_names::FREQUENCY => match number {
                Some(number) => builder.value(parameter, part, Some(hertz(number))),
                None => builder.value_of_text(parameter, part),
            },
            parameter_names::CORES if number.is_none_or(|n| n <= 0.0) => {
                report.at(Severity::Error, "bad-key", offset, || {
                    format!("{part:?} is not a number of cores; this run is omitted")
                });
                return None;
            }
            _ => builder.value_of_text(parameter, part),
        };
        values.push(value);
    }
    Some(Placed { coordinate: builder.coordinate(values), repetition })
}

/// The inputs by number.
struct Labels {
    arguments: Vec<String>,
    first: u64,
}

impl Labels {
    fn of(&self, part: &str) -> Option<String> {
        let at = part.parse::<u64>().ok()?.checked_sub(self.first)?;
        self.arguments.get(usize::try_from(at).ok()?).cloned()
    }
}

/// Finds the order of the inputs and whether they are counted from 0 or 1, and declares those in
/// use so that they keep their order.
fn input_labels(
    builder: &mut Builder,
    input_at: usize,
    keys: &[(Box<str>, u64)],
    config: &Config,
    report: &mut Report<'_>,
) -> Labels {
    let (arguments, origin) = if config.arguments_in_order {
        (config.arguments.clone(), Origin::Confirmed)
    } else {
        in_command_order(&config.arguments, config.command.as_deref())
    };
    match origin {
        Origin::Reordered => report.whole(Severity::Note, "arguments-reordered", || {
            format!(
                "config.arguments is not in the order of the command line, which the input numbers follow; the inputs are {}",
                arguments.join(", ")
            )
        }),
        Origin::Unconfirmed if config.command.is_some() => {
            report.whole(Severity::Warning, "arguments-unconfirmed", || {
                "the command line does not show the inputs, and config.arguments may be shuffled; check that times grow with the input".to_owned()
            });
        }
        Origin::Unconfirmed => report.whole(Severity::Note, "arguments-unconfirmed", || {
            "the file has no command line to confirm the order of config.arguments".to_owned()
        }),
        Origin::Confirmed => {}
    }
    let mut used: Vec<u64> = keys
        .iter()
        .filter_map(|(key, _)| key.split(';').nth(input_at)?.trim().parse().ok())
        .collect();
    used.sort_unstable();
    used.dedup();
    let (lowest, highest) = (used.first().copied(), used.last().copied());
    let first = u64::from(lowest >= Some(1) && highest == Some(arguments.len() as u64));
    if first == 1 {
        report.whole(Severity::Note, "inputs-from-one", || {
            "the input numbers in the keys count from 1".to_owned()
        });
    }
    let labels = Labels { arguments, first };
    let unknown = used.iter().filter(|n| labels.of(&n.to_string()).is_none()).count();
    if unknown > 0 {
        report.whole(Severity::Warning, "unknown-input", || {
            format!("{unknown} input numbers have no entry in config.arguments; they are named by number")
        });
    }
    let parameter_at = builder.parameter(parameter_names::INPUT);
    for number in used {
        let text = number.to_string();
        let label = labels.of(&text).unwrap_or_else(|| format!("input {text}"));
        builder.value(parameter_at, &label, None);
    }
    labels
}
