//! Inputs of Extra-P 4: text, JSON (with names, and the older one with id tables), JSON Lines,
//! Talpas, and `.extra-p` experiments.
//!
//! Parameters are numbers with free names; call paths have `->` between their parts. CUBE files
//! are read elsewhere; models inside an experiment are not read, they can be computed again.

mod experiment;
mod json;
mod lines;
mod text;
mod zip;

pub(crate) use experiment::read as read_experiment;
pub(crate) use json::read as read_json;
pub(crate) use lines::read as read_lines;
pub(crate) use text::read as read_text;

use crate::scaling_data::{Builder, Nesting, ReadOptions, RegionRow, ScalingFormat};

/// The call path of a measurement that names none.
const NO_CALL_PATH: &str = "<root>";
/// The metric of a measurement that names none.
const NO_METRIC: &str = "<default>";

fn builder(format: ScalingFormat, options: &ReadOptions<'_>) -> Builder {
    Builder::new(format, Nesting::Path("->"), options.limits)
}

fn call_path(builder: &mut Builder, path: &str) -> u32 {
    let path = if path.trim().is_empty() { NO_CALL_PATH } else { path.trim() };
    builder.region(&RegionRow { path, ..RegionRow::default() })
}

fn metric(builder: &mut Builder, name: &str) -> u16 {
    let name = if name.trim().is_empty() { NO_METRIC } else { name.trim() };
    let unit = match name {
        "time" | "runtime" => parallax_base::Unit::Seconds,
        _ => parallax_base::Unit::Count,
    };
    builder.metric(name, &unit)
}

/// The coordinate with these numbers, in the order of the parameters.
fn coordinate(builder: &mut Builder, point: &[f64]) -> u32 {
    let values: Vec<u32> =
        (0..).zip(point).map(|(at, &number)| builder.value_of_number(at, number)).collect();
    builder.coordinate(values)
}

/// Counts the repetitions of each series as they come.
#[derive(Default)]
struct Repetitions {
    next: std::collections::HashMap<(u16, u32, u32), u32>,
}

impl Repetitions {
    /// Adds a value as the next repetition of its series.
    fn push(&mut self, builder: &mut Builder, metric: u16, region: u32, point: u32, value: f64) {
        let count = self.next.entry((metric, region, point)).or_insert(0);
        *count += 1;
        let run = builder.run(point, *count);
        builder.push(metric, region, run, value);
    }

    /// Skips a repetition whose value cannot be used, so that the others keep their numbers.
    fn skip(&mut self, metric: u16, region: u32, point: u32) {
        *self.next.entry((metric, region, point)).or_insert(0) += 1;
    }
}
