//! The file of a sweep: that of PaScal Analyzer, with more fields.

use std::collections::HashMap;
use std::path::Path;
use std::time::SystemTime;

use serde_json::{Map, Value, json};

use crate::SweepError;
use crate::automatic::{self, Numbers};
use crate::energy;
use crate::iterations::{Estimate, FirstIterations};
use crate::job::{Ended, Outcome};
use crate::machine;
use crate::plan::{Key, Order, Plan, Repetitions};
use crate::regions::{self, Regions};
use crate::series;
use crate::tools::Tool;
use crate::topology::Processor;

/// Settings that must not change while a sweep is gone on with: they change what is measured.
const FIXED: [(&str, &str); 15] = [
    ("program", "the program"),
    ("program_arguments", "its arguments"),
    ("token", "the token for the core count"),
    ("environment", "the variables"),
    ("binding", "the binding"),
    ("launcher", "the launcher"),
    ("warmups", "the number of warm-up runs"),
    (AUTOMATIC, "automatic regions"),
    (GOVERNOR, "the governor"),
    (COUNTERS, "the counters"),
    (SAMPLE, "the intervals of sampling"),
    (CONTROLLER, "the management controllers"),
    (SLURM, "the jobs"),
    (ESTIMATE, "the estimates"),
    (TOOL, "the tool"),
];

/// Settings that are there only where they are on.
const AUTOMATIC: &str = "auto_regions";
const GOVERNOR: &str = "governor";
const COUNTERS: &str = "counters";
const FREQUENCIES: &str = "frequencies";
const SAMPLE: &str = "sample";
const CONTROLLER: &str = "ipmi";
const SLURM: &str = "slurm";

const ESTIMATE: &str = "estimate";
const TOOL: &str = "tool";

/// What the time of a run was estimated from; what the first iterations of a complete run say, with
/// the number of all.
const ESTIMATED: &str = "estimated";
const CHECK: &str = "estimate_check";
const ITERATIONS: &str = "iterations";

/// Fields that runs have that were ended after their first iterations: the first ones of [`VALUES`].
const NUM_ESTIMATED_VALUES: usize = 3;

/// Nodes on which jobs ran.
const NODES: &str = "nodes";

/// The fields of every run, as `data_descriptor.values` names them.
const VALUES: [&str; 10] = [
    "start_time",
    "stop_time",
    "exit_status",
    "user_time",
    "system_time",
    "max_resident_bytes",
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
];

/// A run in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Which one.
    pub key: Key,
    /// Seconds since 1970, UTC.
    pub start: f64,
    /// How long it took, or would have taken.
    pub seconds: f64,
    /// How long it took until it ended or was ended.
    pub(crate) spent: f64,
    /// Iterations of a complete run, where they were counted.
    iterations: Option<u64>,
    /// Whether its exit status was 0.
    pub is_success: bool,
    /// Whether its time was estimated from its first iterations.
    pub(crate) is_estimate: bool,
    /// Whether times of regions were taken.
    has_regions: bool,
    /// Whether something was read at an interval.
    has_series: bool,
    /// Whether there was no room for all of them.
    pub(crate) lacks_regions: bool,
    /// As the file has it.
    text: String,
}

impl Run {
    /// What was measured just now.
    pub(crate) fn new(key: Key, outcome: &Outcome, regions: Regions, plan: &Plan) -> Self {
        let Outcome { start, exit_status, .. } = *outcome;
        let estimate = regions.estimate.filter(|_| outcome.ended == Some(Ended::Iterations));
        let seconds = estimate.map_or(outcome.seconds, |estimate| estimate.seconds);
        let mut fields = Map::new();
        let mut set = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        set("start_time", json!(start));
        set("stop_time", json!(start + seconds));
        set("exit_status", json!(exit_status));
        match (&plan.estimate, estimate) {
            (Some(first), Some(estimate)) => {
                set(ESTIMATED, estimate.to_value(&first.region, outcome.seconds));
            }
            _ => of_whole_run(outcome, plan, &mut set),
        }
        let is_complete = outcome.is_success() && outcome.ended.is_none();
        let iterations = Some(regions.num_iterations).filter(|&n| n > 0 && is_complete);
        if let Some(number) = iterations {
            let mut check = regions.estimate.map_or_else(Map::new, Estimate::to_check);
            check.insert(ITERATIONS.to_owned(), json!(number));
            set(CHECK, Value::Object(check));
        }
        let (has_regions, lacks_regions) = (!regions.entries.is_empty(), regions.is_cut);
        if has_regions {
            set("regions", Value::Object(regions.entries));
        }
        if regions.num_added_up > 0 {
            set("regions_added_up", json!(regions.num_added_up));
        }
        if regions.is_cut {
            set("regions_cut", json!(true));
        }
        let is_success = outcome.is_success();
        let is_estimate = estimate.is_some();
        let has_series = fields.contains_key(series::GROUP);
        let text = Value::Object(fields).to_string();
        let spent = outcome.seconds;
        Self {
            key,
            start,
            seconds,
            spent,
            iterations,
            is_success,
            is_estimate,
            has_regions,
            has_series,
            lacks_regions,
            text,
        }
    }

    fn from_value(key: Key, value: &Value) -> Option<Self> {
        let float = |name| value.get(name)?.as_f64();
        let (start, stop) = (float("start_time")?, float("stop_time")?);
        let is_success = float("exit_status").is_none_or(|status| status == 0.0);
        let has_regions = value.get("regions").is_some();
        let lacks_regions = value.get("regions_cut").is_some();
        let has_series = value.get(series::GROUP).is_some();
        let (seconds, text) = (stop - start, value.to_string());
        let estimated = value.get(ESTIMATED).and_then(|own| own.get("measured_seconds"));
        let is_estimate = estimated.is_some();
        let spent = estimated.and_then(Value::as_f64).unwrap_or(seconds);
        let check = value.get(CHECK).and_then(|check| check.get(ITERATIONS));
        let iterations = check.and_then(Value::as_u64);
        Some(Self {
            key,
            start,
            seconds,
            spent,
            iterations,
            is_success,
            is_estimate,
            has_regions,
            has_series,
            lacks_regions,
            text,
        })
    }
}

/// What is known of a run that was not ended after its first iterations: what it used, and how it ended.
fn of_whole_run(
    outcome: &Outcome,
    plan: &Plan,
    set: &mut impl FnMut(&str, Value) -> Option<Value>,
) {
    let usage = outcome.usage;
    set("user_time", json!(usage.user_seconds));
    set("system_time", json!(usage.system_seconds));
    set("max_resident_bytes", json!(usage.max_resident_bytes));
    set("minor_faults", json!(usage.minor_faults));
    set("major_faults", json!(usage.major_faults));
    set("voluntary_switches", json!(usage.voluntary_switches));
    set("involuntary_switches", json!(usage.involuntary_switches));
    if let Some(signal) = outcome.signal {
        set("signal", json!(signal));
    }
    let limit = match outcome.ended {
        Some(Ended::Timeout) => plan.timeout,
        Some(Ended::Idle) => plan.idle_timeout,
        Some(Ended::Iterations) | None => None,
    };
    if let (Some(ended), Some(limit)) = (outcome.ended, limit) {
        set(ended.name(), json!(limit.as_secs_f64()));
    }
    if let Some(joules) = outcome.joules {
        set(energy::FIELD, json!(joules));
    }
    for (name, count) in &outcome.counts {
        if let Some(count) = count {
            set(name, json!(count));
        }
    }
    if let Some(sensors) = outcome.series.sensors() {
        set(series::GROUP, sensors);
    }
}

/// All that the file holds.
#[derive(Debug)]
pub(crate) struct Record {
    config: Value,
    /// In the order in which they were made.
    runs: Vec<Run>,
    place: HashMap<Key, usize>,
}

impl Record {
    pub(crate) fn new(plan: &Plan, command_line: &str, processors: &[Processor]) -> Self {
        let config = config(plan, command_line, processors);
        Self { config, runs: Vec::new(), place: HashMap::new() }
    }

    pub(crate) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// How many iterations a complete run of an input has, as far as one was made.
    pub(crate) fn iterations(&self, input: Option<u32>) -> Option<u64> {
        let of_input = |run: &&Run| run.is_success && run.key.input == input;
        self.runs.iter().filter(of_input).find_map(|run| run.iterations)
    }

    /// Says which file the numbers of regions without marks are of.
    pub(crate) fn set_numbers(&mut self, numbers: &Numbers) {
        if let Some(config) = self.config.as_object_mut() {
            config.insert(automatic::FIELD.to_owned(), numbers.to_value());
        }
    }

    /// Says that a run was made on a node.
    pub(crate) fn add_node(&mut self, node: &str) {
        let Some(config) = self.config.as_object_mut() else { return };
        let nodes = config.entry(NODES).or_insert_with(|| json!([]));
        if let Some(nodes) = nodes.as_array_mut()
            && !nodes.iter().any(|known| known == node)
        {
            nodes.push(json!(node));
        }
    }

    /// What it says of these files.
    pub(crate) fn numbers(&self) -> Numbers {
        Numbers::resumed(&self.config)
    }

    /// Adds a run, in place of an older one of the same key.
    pub(crate) fn add(&mut self, run: Run) {
        let at = *self.place.entry(run.key).or_insert(self.runs.len());
        match self.runs.get_mut(at) {
            Some(known) => *known = run,
            None => self.runs.push(run),
        }
    }

    /// The text of the file.
    pub(crate) fn text(&self) -> String {
        let mut config = self.config.clone();
        let mut extras = Map::new();
        if self.runs.iter().any(|run| run.has_regions) {
            extras.insert("regions".to_owned(), json!({ "values": regions::VALUES }));
        }
        if self.runs.iter().any(|run| run.has_series) {
            extras.insert(series::GROUP.to_owned(), json!({ "values": series::VALUES }));
        }
        if !extras.is_empty()
            && let Some(descriptor) =
                config.get_mut("data_descriptor").and_then(Value::as_object_mut)
        {
            descriptor.insert("extras".to_owned(), Value::Object(extras));
        }
        let mut text = format!("{{\n\"config\": {config:#},\n\"data\": {{");
        for (at, run) in self.runs.iter().enumerate() {
            text.push_str(if at == 0 { "\n" } else { ",\n" });
            text.push_str(&format!("\"{}\": {}", run.key.text(), run.text));
        }
        text.push_str("\n}\n}\n");
        text
    }

    /// Takes over what the file at `path` has, which was written for the same plan or a part of it.
    /// Remarks for the user.
    ///
    /// # Errors
    /// When it cannot be read, is no file of a sweep, or of another one.
    pub(crate) fn resume(
        &mut self,
        path: &Path,
        plan: &Plan,
        keeps: impl Fn(&Run) -> bool,
    ) -> Result<Vec<String>, SweepError> {
        let read = |source| SweepError::Read { path: path.to_owned(), source };
        let other = |why: String| SweepError::Other { path: path.to_owned(), why };
        let text = std::fs::read_to_string(path).map_err(read)?;
        let file: Value = serde_json::from_str(&text)
            .map_err(|error| other(format!("it is no JSON document ({error})")))?;
        let config = file.get("config").cloned().unwrap_or_default();
        let remarks = self.check(&config, plan).map_err(other)?;
        let no_runs = Map::new();
        let data = file.get("data").and_then(Value::as_object).unwrap_or(&no_runs);
        let mut runs = Vec::new();
        for (text, value) in data {
            let run = plan
                .key_of(text)
                .and_then(|key| Run::from_value(key, value))
                .ok_or_else(|| other(format!("its run {text:?} cannot be read")))?;
            runs.push(run);
        }
        // The order of a JSON object is not kept while it is read.
        runs.sort_by(|a, b| a.start.total_cmp(&b.start));
        for run in runs.into_iter().filter(keeps) {
            self.add(run);
        }
        for name in [automatic::FIELD, NODES] {
            if let (Some(own), Some(kept)) = (self.config.as_object_mut(), config.get(name)) {
                own.insert(name.to_owned(), kept.clone());
            }
        }
        if let (Some(own), Some(date)) = (self.config.as_object_mut(), config.get("execdate")) {
            let now = own.insert("execdate".to_owned(), date.clone());
            let mut resumed =
                config.get("resumed").and_then(Value::as_array).cloned().unwrap_or_default();
            resumed.extend(now);
            own.insert("resumed".to_owned(), Value::Array(resumed));
        }
        Ok(remarks)
    }

    /// Compares the settings of a file with those of this sweep.
    fn check(&self, config: &Value, plan: &Plan) -> Result<Vec<String>, String> {
        let theirs = config.get("sweep").filter(|sweep| sweep.is_object());
        let theirs = theirs.ok_or("it was not written by parallax measure")?;
        let ours = self.config.get("sweep").unwrap_or(&Value::Null);
        for (name, what) in FIXED {
            let (theirs, ours) = (theirs.get(name), ours.get(name));
            if theirs != ours {
                let shown = |value: Option<&Value>| match value {
                    None => "no".to_owned(),
                    Some(Value::Bool(true)) => "yes".to_owned(),
                    Some(value) => value.to_string(),
                };
                let (theirs, ours) = (shown(theirs), shown(ours));
                return Err(format!("{what} differ: there {theirs}, now {ours}"));
            }
        }
        if theirs.get(FREQUENCIES).is_some() != ours.get(FREQUENCIES).is_some() {
            return Err(
                "frequencies were chosen there and are not now, or the other way round".into()
            );
        }
        let inputs = config.get("arguments").and_then(Value::as_array).cloned();
        let inputs: Vec<&str> = inputs.iter().flatten().filter_map(Value::as_str).collect();
        let is_part = plan.inputs.iter().zip(&inputs).all(|(ours, theirs)| ours == theirs);
        if !is_part || inputs.is_empty() != plan.inputs.is_empty() {
            return Err(format!(
                "its inputs are others: {}; new inputs can be added behind these",
                if inputs.is_empty() { "none".to_owned() } else { inputs.join(", ") }
            ));
        }
        if inputs.len() > plan.inputs.len() {
            return Err(format!(
                "it has {} inputs, and {} are named now; name them all, and new ones behind",
                inputs.len(),
                plan.inputs.len()
            ));
        }
        let mut remarks = Vec::new();
        for (name, what) in [("hostname", "host"), ("kernel", "kernel")] {
            let (theirs, ours) = (config.get(name), self.config.get(name));
            if theirs != ours {
                let shown = |value: Option<&Value>| {
                    value.and_then(Value::as_str).unwrap_or("unknown").to_owned()
                };
                remarks.push(format!(
                    "the runs in the file were made on another {what}: {}, now {}",
                    shown(theirs),
                    shown(ours)
                ));
            }
        }
        Ok(remarks)
    }
}

fn config(plan: &Plan, command_line: &str, processors: &[Processor]) -> Value {
    let now = SystemTime::now();
    let keys = [
        Some("cores"),
        (!plan.frequencies.is_empty()).then_some("frequency"),
        (!plan.inputs.is_empty()).then_some("input"),
        Some("repetitions"),
    ];
    let keys: Vec<&str> = keys.into_iter().flatten().collect();
    let energy = plan.has_energy.then_some(energy::FIELD);
    let counters = plan.counters.iter().map(String::as_str);
    let number = if plan.estimate.is_some() { NUM_ESTIMATED_VALUES } else { VALUES.len() };
    let values: Vec<&str> = VALUES.into_iter().take(number).chain(energy).chain(counters).collect();
    let mut config = json!({
        "tool": concat!("parallax ", env!("CARGO_PKG_VERSION")),
        "pkg": plan.program,
        "execdate": machine::date(now),
        "command": command_line,
        "hostname": machine::host(),
        "kernel": machine::kernel(),
        "disable_hyperthread": false,
        "disable_cores": false,
        "auto_instrumentation": plan.has_automatic_regions,
        "discard_ompnt": true,
        "idle_time": plan.pause.as_secs_f64(),
        "data_descriptor": { "keys": keys, "values": values },
        "machine": machine::machine(processors),
        "environment": machine::environment(),
        "sweep": settings(plan, processors),
    });
    if let Some(config) = config.as_object_mut() {
        if !plan.inputs.is_empty() {
            config.insert("arguments".to_owned(), json!(plan.inputs));
            config.insert("arguments_in_order".to_owned(), json!(true));
        }
        if let Some(governor) = &plan.governor {
            config.insert(GOVERNOR.to_owned(), json!(governor));
        }
        if let Some(sample) = plan.sample {
            config.insert("sample_rate".to_owned(), json!(sample.as_secs_f64()));
        }
    }
    config
}

fn settings(plan: &Plan, processors: &[Processor]) -> Value {
    let bound = plan.cores.iter().filter_map(|&cores| {
        let chosen = plan.binding.processors(processors, cores)?;
        Some((cores.to_string(), json!(chosen)))
    });
    let environment = plan.environment.iter().map(|(name, value)| (name.clone(), json!(value)));
    let repetitions = match plan.repetitions {
        Repetitions::Fixed(number) => json!(number),
        Repetitions::UntilInterval { relative, least, most } => {
            json!({ "relative_interval": relative, "least": least, "most": most })
        }
    };
    let (order, seed) = match plan.order {
        Order::Interleaved => ("interleave", None),
        Order::Ascending => ("ascending", None),
        Order::Descending => ("descending", None),
        Order::Random { seed } => ("random", Some(seed)),
    };
    let mut settings = json!({
        "program": plan.program,
        "program_arguments": plan.arguments,
        "token": plan.token,
        "environment": environment.collect::<Map<_, _>>(),
        "binding": plan.binding.name(),
        "processors": bound.collect::<Map<_, _>>(),
        "launcher": plan.launcher,
        "cores": plan.cores,
        "repetitions": repetitions,
        "order": order,
        "seed": seed,
        "warmups": plan.warmups,
        "timeout": plan.timeout.map(|time| time.as_secs_f64()),
        "idle_timeout": plan.idle_timeout.map(|time| time.as_secs_f64()),
        "give_up": plan.stop.failures,
        "stop_below": plan.stop.efficiency,
    });
    let optional = [
        (AUTOMATIC, plan.has_automatic_regions.then_some(json!(true))),
        (GOVERNOR, plan.governor.as_ref().map(|name| json!(name))),
        (COUNTERS, (!plan.counters.is_empty()).then(|| json!(plan.counters))),
        (SAMPLE, plan.sample.map(|time| json!(time.as_secs_f64()))),
        (CONTROLLER, plan.controller.as_ref().map(|controller| json!(controller.text()))),
        (SLURM, plan.slurm.is_some().then_some(json!(true))),
        (ESTIMATE, plan.estimate.as_ref().map(FirstIterations::to_value)),
        (TOOL, plan.tool.as_ref().map(Tool::to_value)),
        (FREQUENCIES, (!plan.frequencies.is_empty()).then(|| json!(plan.frequencies))),
    ];
    if let Some(settings) = settings.as_object_mut() {
        let there =
            optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        settings.extend(there);
    }
    settings
}
