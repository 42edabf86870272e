//! The `config` object: what the run keys, the tuples and the inputs mean.

use std::collections::HashMap;

use parallax_base::Severity;

use crate::json::Value;
use crate::scaling_data::{Report, fact_names};

/// Places of the fields in a tuple of `regions`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TupleFields {
    pub(super) start: Option<usize>,
    pub(super) stop: Option<usize>,
    /// A duration instead of start and stop.
    pub(super) duration: Option<usize>,
    pub(super) first_line: Option<usize>,
    pub(super) last_line: Option<usize>,
    pub(super) thread: Option<usize>,
    pub(super) file: Option<usize>,
}

impl Default for TupleFields {
    fn default() -> Self {
        Self {
            start: Some(0),
            stop: Some(1),
            duration: None,
            first_line: Some(2),
            last_line: Some(3),
            thread: Some(4),
            file: Some(5),
        }
    }
}

impl TupleFields {
    fn from_names(names: &[&str]) -> Self {
        let at = |wanted: &[&str]| names.iter().position(|name| wanted.contains(name));
        Self {
            start: at(&["start_time"]),
            stop: at(&["stop_time"]),
            duration: at(&["total_time", "time", "duration"]),
            first_line: at(&["start_line"]),
            last_line: at(&["stop_line"]),
            thread: at(&["thread_id"]),
            file: at(&["filename"]),
        }
    }
}

/// What `config` says.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Config {
    /// Names of the parts of a run's key.
    pub(super) keys: Option<Vec<String>>,
    pub(super) arguments: Vec<String>,
    /// Whether the writer says that `arguments` is in the order of the input numbers.
    pub(super) arguments_in_order: bool,
    pub(super) command: Option<String>,
    pub(super) tuple: TupleFields,
    /// Regions, sensors: whether the file says that runs have them.
    pub(super) declares_regions: bool,
    pub(super) declares_sensors: bool,
    pub(super) gaps_requested: bool,
    /// Names of the events that are sampled, where the writer is `parallax measure`.
    pub(super) counters: Vec<String>,
    /// Every scalar, for users.
    pub(super) metadata: Vec<(String, String)>,
}

impl Config {
    /// Reads the object; what has another type than expected is reported and left out.
    pub(super) fn from_value(value: &Value, offset: u64, report: &mut Report<'_>) -> Self {
        let mut config = Self::default();
        if value.entries().is_empty() {
            report.at(Severity::Error, "config-unreadable", offset, || {
                format!("config is {}, not an object with fields; defaults are used", value.kind())
            });
        }
        if let Some(name) = value.repeated_name() {
            report.at(Severity::Warning, "duplicate-name", offset, || {
                format!("config has {name:?} twice; the last one counts")
            });
        }
        let mut known: HashMap<&str, usize> = HashMap::new();
        for (name, field) in value.entries() {
            let text = match field {
                Value::String(text) => text.clone(),
                Value::Bool(flag) => flag.to_string(),
                Value::Number(number) => number.as_f64().to_string(),
                _ => continue,
            };
            // The last of equal names counts.
            let at = *known.entry(name).or_insert(config.metadata.len());
            match config.metadata.get_mut(at) {
                Some((_, known)) => *known = text,
                None => config.metadata.push((name.clone(), text)),
            }
        }
        config.read_machine(value);
        let counters = value.get("sweep").and_then(|sweep| sweep.get("counters"));
        let counters = counters.into_iter().flat_map(Value::items).filter_map(Value::as_str);
        config.counters = counters.map(str::to_owned).collect();
        config.command = value.get("command").and_then(Value::as_str).map(str::to_owned);
        config.arguments_in_order = value.get("arguments_in_order") == Some(&Value::Bool(true));
        if let Some(arguments) = value.get("arguments") {
            let texts: Vec<String> =
                arguments.items().iter().filter_map(Value::as_str).map(str::to_owned).collect();
            if texts.len() != arguments.items().len() || arguments.kind() != "an array" {
                report.at(Severity::Warning, "wrong-type", offset, || {
                    "config.arguments is not a list of texts; inputs are numbered".to_owned()
                });
            } else {
                config.arguments = texts;
            }
        }
        let gap = |word: &str| word == "-g" || word == "--gapr";
        config.gaps_requested =
            config.command.as_deref().is_some_and(|c| c.split_whitespace().any(gap));
        config.read_descriptor(value, offset, report);
        config
    }

    /// What the event at this place of a series is called: as in the totals of the run.
    pub(super) fn name_of_counter(&self, series: &str, at: usize) -> String {
        match (self.counters.get(at), at) {
            (Some(name), _) => name.clone(),
            (None, 0) => series.to_owned(),
            (None, _) => format!("{series}[{at}]"),
        }
    }

    /// What `parallax measure` says of the machine: how many processors it has, where the program
    /// ran on them and not where a launcher chose.
    fn read_machine(&mut self, value: &Value) {
        let launcher = value.get("sweep").and_then(|sweep| sweep.get("launcher"));
        let is_launched = launcher.is_some_and(|launcher| *launcher != Value::Null);
        let processors = value.get("machine").and_then(|machine| machine.get("processors"));
        let number = processors.map_or(0, |processors| processors.items().len());
        if number > 0 && !is_launched {
            self.metadata.push((fact_names::PROCESSORS.to_owned(), number.to_string()));
        }
    }

    fn read_descriptor(&mut self, value: &Value, offset: u64, report: &mut Report<'_>) {
        let Some(descriptor) = value.get("data_descriptor") else {
            report.at(Severity::Warning, "no-descriptor", offset, || {
                "config has no data_descriptor; the usual fields are assumed".to_owned()
            });
            return;
        };
        let names = |value: &Value| -> Vec<String> {
            value.items().iter().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        self.keys = descriptor.get("keys").map(names).filter(|keys| !keys.is_empty());
        // Published descriptions have `extras` next to the descriptor; real files have it inside.
        let extras = descriptor.get("extras").or_else(|| value.get("extras"));
        let Some(extras) = extras else { return };
        self.declares_sensors = extras.get("sensors").is_some();
        if let Some(regions) = extras.get("regions") {
            self.declares_regions = true;
            let fields = regions.get("values").map(names).unwrap_or_default();
            if !fields.is_empty() {
                let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
                self.tuple = TupleFields::from_names(&fields);
            }
            let timed = self.tuple.start.is_some() && self.tuple.stop.is_some();
            if !timed && self.tuple.duration.is_none() {
                report.at(Severity::Error, "descriptor-without-times", offset, || {
                    "the descriptor of regions names no start_time and stop_time; region times cannot be read".to_owned()
                });
            }
        }
    }
}
