//! The profile of a workflow as text, as [`Workflow::read`] and TAU's tools read it.

use std::io::{self, Write};

use parallax_base::casts::saturated_i64;

use super::workflow::{Component, CounterRow, Workflow, WorkflowTimerRow};
use crate::json::{Number, Value};

impl Workflow {
    /// Writes the file: what is known of the workflow first, then each component.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{{\n  \"Workflow metadata\": ")?;
        self.metadata.write(1, out)?;
        for component in &self.components {
            write!(out, ",\n  ")?;
            Value::String(component.name.clone()).write(1, out)?;
            write!(out, ": ")?;
            write_component(component, out)?;
        }
        writeln!(out, "\n}}")
    }
}

fn write_component(component: &Component, out: &mut dyn Write) -> io::Result<()> {
    let threads = component.metadata.iter().map(|(thread, facts)| {
        let facts = facts.iter().map(|(name, value)| (name.clone(), Value::String(value.clone())));
        (thread.clone(), Value::Object(facts.collect()))
    });
    write!(out, "{{\n    \"metadata\": ")?;
    Value::Object(threads.collect()).write(2, out)?;
    // Row by row: there are as many as in all profiles together.
    write_rows("Timers", component.timers.iter().map(timer), out)?;
    write_rows("Counters", component.counters.iter().map(counter), out)?;
    for (name, value) in &component.aggregates {
        write!(out, ",\n    ")?;
        Value::String(name.clone()).write(2, out)?;
        write!(out, ": ")?;
        value.write(2, out)?;
    }
    write!(out, "\n  }}")
}

fn write_rows(
    name: &str,
    rows: impl Iterator<Item = Value>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, ",\n    \"{name}\": [")?;
    for (nth, row) in rows.enumerate() {
        write!(out, "{}\n      ", if nth == 0 { "" } else { "," })?;
        row.write(3, out)?;
    }
    write!(out, "\n    ]")
}

/// Whole numbers as such: the profiles have most values so.
fn number(value: f64) -> Value {
    let is_whole = value.fract() == 0.0 && value.abs() < 9e15;
    Value::Number(if is_whole {
        Number::Integer(saturated_i64(value))
    } else {
        Number::Float(value)
    })
}

fn row<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn timer(timer: &WorkflowTimerRow) -> Value {
    row([
        ("process index", number(timer.process.into())),
        ("thread index", number(timer.thread.into())),
        ("Function", Value::String(timer.function.clone())),
        ("Calls", number(timer.calls)),
        ("Subroutines", number(timer.subroutines)),
        ("Exclusive Time", number(timer.exclusive)),
        ("Inclusive Time", number(timer.inclusive)),
    ])
}

fn counter(counter: &CounterRow) -> Value {
    row([
        ("process index", number(counter.process.into())),
        ("thread index", number(counter.thread.into())),
        ("Counter", Value::String(counter.counter.clone())),
        ("Num Events", number(counter.count)),
        ("Max Value", number(counter.max)),
        ("Min Value", number(counter.min)),
        ("Mean Value", number(counter.mean)),
        ("SumSqr Value", number(counter.sum_of_squares)),
    ])
}
