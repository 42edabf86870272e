//! The profile of a coupled workflow as JSON: components with their threads, timers and counters,
//! and how the components depend on each other.

use parallax_base::{ByteSource, Issues, Limits, Place, Severity, Stage};

use super::Facts;
use crate::FormatError;
use crate::json::{Event, JsonError, JsonLimits, JsonReader, Value};
use crate::pascal::file_error;

/// A timer of one thread of a component.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkflowTimerRow {
    /// Rank of the process inside its component.
    pub process: u32,
    /// Thread of the process.
    pub thread: u32,
    /// Name, maybe a call path.
    pub function: String,
    /// How often it was started.
    pub calls: f64,
    /// How often other timers were started inside.
    pub subroutines: f64,
    /// In microseconds.
    pub exclusive: f64,
    /// In microseconds.
    pub inclusive: f64,
}

/// A user event of one thread of a component.
#[derive(Debug, Clone, PartialEq)]
pub struct CounterRow {
    /// Rank of the process inside its component.
    pub process: u32,
    /// Thread of the process.
    pub thread: u32,
    /// Name, maybe with the call path it happened in.
    pub counter: String,
    /// How often it happened.
    pub count: f64,
    /// Largest value.
    pub max: f64,
    /// Smallest value.
    pub min: f64,
    /// Mean of the values.
    pub mean: f64,
    /// Sum of the squares of the values.
    pub sum_of_squares: f64,
}

/// One application of a workflow.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Component {
    /// The key it has in the file: the folder of its profiles.
    pub name: String,
    /// What is known of each thread, by `Rank 0, Thread 0`.
    pub metadata: Vec<(String, Facts)>,
    /// All timers of all threads.
    pub timers: Vec<WorkflowTimerRow>,
    /// All user events of all threads.
    pub counters: Vec<CounterRow>,
    /// Everything else, such as `aggr_io_time`: later versions of the tool add sums over threads.
    pub aggregates: Vec<(String, Value)>,
}

/// The profile of a workflow.
#[derive(Debug, Clone, PartialEq)]
pub struct Workflow {
    /// `Workflow metadata` as it is.
    pub metadata: Value,
    /// The components in the order of the file.
    pub components: Vec<Component>,
}

const METADATA: &str = "Workflow metadata";

/// Bytes after which `Workflow metadata` must have come: it is the first key.
const SNIFFED: u64 = 256;

/// Whether the first bytes are those of the profile of a workflow.
#[must_use]
pub fn is_workflow(source: &dyn ByteSource) -> bool {
    let Ok(head) = parallax_base::read_range(source, 0, source.len().min(SNIFFED)) else {
        return false;
    };
    let mut reader = JsonReader::from_slice(&head, JsonLimits::default());
    let is_object = matches!(reader.next_event(), Ok(Event::BeginObject));
    is_object && matches!(reader.next_key(), Ok(Some(name)) if name == METADATA)
}

impl Workflow {
    /// Reads the file. Rows without the fields they should have are reported and left out.
    ///
    /// # Errors
    /// When the file is no workflow profile or no JSON, or cannot be read.
    pub fn read(
        source: &dyn ByteSource,
        file: &str,
        limits: &Limits,
        issues: &mut Issues,
    ) -> Result<Self, FormatError> {
        limits
            .metadata("the profile of a workflow", source.len())
            .map_err(|cause| FormatError::Limit { file: file.to_owned(), cause })?;
        let mut reader = JsonReader::from_source(source, JsonLimits::default());
        let foreign = |found: String| FormatError::NotThisFormat {
            file: file.to_owned(),
            expected: "the profile of a workflow",
            found,
        };
        let fail = |error: JsonError| file_error(file, &error);
        match reader.next_event().map_err(fail)? {
            Event::BeginObject => {}
            other => {
                let found = other.kind().to_owned();
                return Err(foreign(found));
            }
        }
        let mut metadata = None;
        let mut components: Vec<Component> = Vec::new();
        let mut rows = Rows { file, issues };
        while let Some(name) = reader.next_key().map_err(fail)? {
            if name == METADATA {
                metadata = Some(reader.read_value().map_err(fail)?);
            } else {
                match rows.component(&mut reader, name) {
                    Ok(component) => components.push(component),
                    // A cut file has whole components before the cut.
                    Err(error) if metadata.is_some() && !components.is_empty() => {
                        rows.report("file-cut", reader.offset(), format!("{}", fail(error)));
                        break;
                    }
                    Err(error) => return Err(fail(error)),
                }
            }
        }
        let metadata = metadata.ok_or_else(|| foreign(format!("an object without {METADATA}")))?;
        Ok(Self { metadata, components })
    }

    /// The components that `component` needs, by `Dependency Graph`.
    #[must_use]
    pub fn dependencies(&self, component: &str) -> Vec<&str> {
        let graph = self.metadata.get("Dependency Graph");
        let needed = graph.and_then(|graph| graph.get(component));
        needed.map_or(&[][..], Value::items).iter().filter_map(Value::as_str).collect()
    }
}

/// Reads components and reports rows that are none.
struct Rows<'r> {
    file: &'r str,
    issues: &'r mut Issues,
}

impl Rows<'_> {
    fn report(&mut self, kind: &'static str, offset: u64, what: String) {
        let place = Place::Byte { file: self.file.to_owned(), offset };
        self.issues.report(Severity::Error, Stage::Read, kind, place, || what);
    }

    fn component(
        &mut self,
        reader: &mut JsonReader<'_>,
        name: String,
    ) -> Result<Component, JsonError> {
        let mut out = Component { name, ..Component::default() };
        let depth = reader.depth();
        let found = match reader.next_event()? {
            Event::BeginObject => None,
            other => Some(other.kind()),
        };
        if let Some(found) = found {
            if reader.depth() > depth {
                reader.leave(depth + 1)?;
            }
            let what = format!("component {} is {found}, not an object", out.name);
            self.report("component-bad", reader.offset(), what);
            return Ok(out);
        }
        while let Some(key) = reader.next_key()? {
            match key.as_str() {
                "metadata" => {
                    out.metadata =
                        reader.read_value()?.entries().iter().map(thread_facts).collect();
                }
                "Timers" => self.rows(reader, &mut out.timers, timer)?,
                "Counters" => self.rows(reader, &mut out.counters, counter)?,
                _ => out.aggregates.push((key, reader.read_value()?)),
            }
        }
        Ok(out)
    }

    /// The objects of an array, each by `row`.
    fn rows<T>(
        &mut self,
        reader: &mut JsonReader<'_>,
        out: &mut Vec<T>,
        row: impl Fn(&Value) -> Option<T>,
    ) -> Result<(), JsonError> {
        match reader.next_event()? {
            Event::BeginArray => {}
            other => {
                let found = other.kind();
                return Err(reader.wrong_type("an array", found));
            }
        }
        loop {
            let value = match reader.next_event()? {
                Event::EndArray | Event::End => return Ok(()),
                Event::BeginObject => {
                    let mut entries = Vec::new();
                    while let Some(name) = reader.next_key()? {
                        entries.push((name, reader.read_value()?));
                    }
                    row(&Value::Object(entries))
                }
                Event::BeginArray => {
                    let depth = reader.depth();
                    reader.leave(depth)?;
                    None
                }
                _ => None,
            };
            match value {
                Some(row) => out.push(row),
                None => {
                    let what = "a row without the fields it should have is omitted".to_owned();
                    self.report("row-bad", reader.offset(), what);
                }
            }
        }
    }
}

fn thread_facts((thread, facts): &(String, Value)) -> (String, Facts) {
    let facts = facts.entries().iter().map(|(name, value)| (name.clone(), text(value)));
    (thread.clone(), facts.collect())
}

/// A scalar as text.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(crate::json::Number::Integer(n)) => n.to_string(),
        Value::Number(number) => number.as_f64().to_string(),
        Value::Bool(value) => value.to_string(),
        other => other.kind().to_owned(),
    }
}

fn index(row: &Value, name: &str) -> Option<u32> {
    match row.get(name)? {
        Value::Number(number) => u32::try_from(number.as_u64()?).ok(),
        _ => None,
    }
}

fn number(row: &Value, name: &str) -> Option<f64> {
    row.get(name)?.as_f64().filter(|value| value.is_finite())
}

fn timer(row: &Value) -> Option<WorkflowTimerRow> {
    Some(WorkflowTimerRow {
        process: index(row, "process index")?,
        thread: index(row, "thread index")?,
        function: row.get("Function")?.as_str()?.to_owned(),
        calls: number(row, "Calls")?,
        subroutines: number(row, "Subroutines")?,
        exclusive: number(row, "Exclusive Time")?,
        inclusive: number(row, "Inclusive Time")?,
    })
}

fn counter(row: &Value) -> Option<CounterRow> {
    Some(CounterRow {
        process: index(row, "process index")?,
        thread: index(row, "thread index")?,
        counter: row.get("Counter")?.as_str()?.to_owned(),
        count: number(row, "Num Events")?,
        max: number(row, "Max Value")?,
        min: number(row, "Min Value")?,
        mean: number(row, "Mean Value")?,
        sum_of_squares: number(row, "SumSqr Value")?,
    })
}
