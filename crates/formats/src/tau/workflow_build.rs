//! The profile of a workflow from its parts: what `tau_prof2json.py` makes of a description of the
//! workflow and the folders of profiles of its components.

use parallax_base::casts::saturated_u64;

use super::records::{Facts, Profiles, Thread, fact};
use super::workflow::{Component, CounterRow, Workflow, WorkflowTimerRow};
use crate::json::{Number, Value};

/// A component: its name in the description, and its profiles.
#[derive(Debug, Clone, Copy)]
pub struct ComponentProfiles<'p> {
    /// The name of its folder, which the description calls it by.
    pub name: &'p str,
    /// What its threads measured.
    pub profiles: &'p Profiles,
}

/// Builds the profile of a workflow from its description (`workflow_in.json`) and the profiles of
/// its components, in the order of `parts`.
///
/// To the description are added, from the profiles:
/// - for each component the start (`Timestamp` of its first thread), the end (start plus the
///   longest inclusive time of that thread) and the local time of the start;
/// - for the workflow the start and local time of the component that started first;
/// - `Application` (executable) and `Application-instance` (process id) of each component.
///
/// Two values cannot be had from the parts: the version and the address of an application. As the
/// tool does, the version is `0.1` and the address empty. Times are of the first metric.
#[must_use]
pub fn build_workflow(description: &Value, parts: &[ComponentProfiles<'_>]) -> Workflow {
    let mut entries: Vec<(String, Value)> = description.entries().to_vec();
    let spans: Vec<Span> = parts.iter().map(|part| Span::of(part.profiles)).collect();
    let span_of = |name: &str| {
        let at = parts.iter().position(|part| part.name == name)?;
        spans.get(at)
    };
    let location = |name: &str| {
        let listed = description.get("Workflow Component").map_or(&[][..], Value::items);
        let known = listed.iter().find(|c| c.get("name").and_then(Value::as_str) == Some(name));
        known.and_then(|c| c.get("location-id")).cloned().unwrap_or(integer(1))
    };
    for (key, value) in &mut entries {
        let Value::Array(items) = value else { continue };
        for item in items {
            let Value::Object(fields) = item else { continue };
            if key == "Workflow Component" {
                let name = fields.iter().find(|(key, _)| key == "name");
                let name = name.and_then(|(_, value)| value.as_str());
                if let Some(span) = name.and_then(span_of) {
                    span.append_to(fields);
                }
            } else if key == "Workflow Instance"
                && let Some(first) = spans.iter().min_by_key(|span| span.start)
            {
                fields.push(("timestamp".into(), text(first.start)));
                fields.push(("Local-Time".into(), Value::String(first.local_time.clone())));
            }
        }
    }
    let numbered = || (1_i64..).zip(parts).zip(&spans);
    let applications = numbered().map(|((id, part), _)| {
        let executable = first_fact(part.profiles, "Executable").unwrap_or_default();
        object([
            ("id", integer(id)),
            ("location-id", location(part.name)),
            ("name", Value::String(executable)),
            ("version", Value::String("0.1".into())),
            ("uri", Value::String(String::new())),
        ])
    });
    entries.push(("Application".into(), Value::Array(applications.collect())));
    let instances = numbered().map(|((id, part), span)| {
        let process = first_fact(part.profiles, "pid").unwrap_or_default();
        let mut instance = vec![
            ("id".to_owned(), integer(id)),
            ("process-id".to_owned(), Value::String(process)),
            ("application-id".to_owned(), integer(id)),
            ("event-type".to_owned(), Value::String(String::new())),
        ];
        span.append_to(&mut instance);
        Value::Object(instance)
    });
    entries.push(("Application-instance".into(), Value::Array(instances.collect())));
    let components = parts.iter().map(|part| component(part.name, part.profiles)).collect();
    Workflow { metadata: Value::Object(entries), components }
}

/// When a component ran.
struct Span {
    /// Microseconds since 1970.
    start: u64,
    end: u64,
    local_time: String,
}

impl Span {
    fn of(profiles: &Profiles) -> Self {
        let start = first_fact(profiles, "Timestamp").and_then(|text| text.parse().ok());
        let start: u64 = start.unwrap_or(0);
        let metrics = profiles.metrics.len();
        let longest = profiles.threads.first().map_or(0.0, |thread| {
            let rows = 0..thread.timers.len();
            rows.map(|row| thread.value(row, 0, metrics).1).fold(0.0, f64::max)
        });
        let local_time = first_fact(profiles, "Local Time").unwrap_or_default();
        Self { start, end: start.saturating_add(saturated_u64(longest)), local_time }
    }

    fn append_to(&self, fields: &mut Vec<(String, Value)>) {
        fields.push(("start-timestamp".into(), text(self.start)));
        fields.push(("end-timestamp".into(), text(self.end)));
        fields.push(("Local-Time".into(), Value::String(self.local_time.clone())));
    }
}

/// What the first thread says, on its own or with all others.
fn first_fact(profiles: &Profiles, name: &str) -> Option<String> {
    let own = profiles.threads.first().and_then(|thread| fact(&thread.metadata, name));
    own.or_else(|| fact(&profiles.metadata, name)).map(str::to_owned)
}

fn text(number: u64) -> Value {
    Value::String(number.to_string())
}

fn integer(number: i64) -> Value {
    Value::Number(Number::Integer(number))
}

fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn component(name: &str, profiles: &Profiles) -> Component {
    let mut out = Component { name: name.to_owned(), ..Component::default() };
    let metrics = profiles.metrics.len();
    for thread in &profiles.threads {
        let (process, of) = (thread.id.node, thread.id.thread);
        let key = format!("Rank {process}, Thread {of}");
        out.metadata.push((key, facts(profiles, thread)));
        for (row, timer) in thread.timers.iter().enumerate() {
            let (exclusive, inclusive) = thread.value(row, 0, metrics);
            let function = profiles.timers.get(timer.timer as usize);
            out.timers.push(WorkflowTimerRow {
                process,
                thread: of,
                function: function.map(|timer| timer.name.to_string()).unwrap_or_default(),
                calls: timer.calls,
                subroutines: timer.subroutines,
                exclusive,
                inclusive,
            });
        }
        for event in &thread.events {
            let counter = profiles.events.get(event.event as usize);
            out.counters.push(CounterRow {
                process,
                thread: of,
                counter: counter.map(ToString::to_string).unwrap_or_default(),
                count: event.count,
                max: event.max,
                min: event.min,
                mean: event.mean,
                sum_of_squares: event.sum_of_squares,
            });
        }
    }
    out
}

fn facts(profiles: &Profiles, thread: &Thread) -> Facts {
    let mut facts = profiles.metadata.clone();
    facts.extend(thread.metadata.iter().cloned());
    facts
}
