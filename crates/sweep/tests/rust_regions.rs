//! Regions of a program in Rust: this program itself, run again as `parallax measure` would.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

use std::path::Path;
use std::process::Command;

use parallax_measure::pascal::region;
use parallax_sweep::{Choices, Outcome, Plan, Usage, sweep};
use serde_json::Value;

/// How often the thread enters its region: more than it collects, and more than a block has.
const MANY: usize = 10_000;

struct Mesh<const N: usize>([u64; N]);

impl<const N: usize> Mesh<N> {
    /// A region with the number that it is called with, left in the middle.
    #[region(number)]
    fn refine<T>(&mut self, number: i64, by: T) -> Option<&u64>
    where
        T: Into<u64>,
    {
        let _inside = by.into();
        *self.0.first_mut()? += _inside;
        self.0.first()
    }
}

/// The line of the attribute above.
const REFINE_LINE: u32 = line!() - 12;

#[test]
fn marks_do_nothing_unless_they_are_measured() {
    let _whole = region(1);
    for _ in 0..3 {
        let _inside = region(-2);
    }
    let thread = std::thread::spawn(|| {
        for _ in 0..MANY {
            let _other = region(7);
        }
    });
    thread.join().unwrap();
    let outer = region(3);
    let inner = region(4);
    // In the wrong order.
    drop(outer);
    drop(inner);
    assert_eq!(Mesh([5]).refine(8, 2_u32), Some(&7));
    assert_eq!(Mesh([]).refine(8, 2_u8), None);
}

/// Measures the test above; the run in the file.
fn measured(folder: &Path, limit: &str) -> Value {
    let program = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    let arguments = ["--exact", "marks_do_nothing_unless_they_are_measured", "--test-threads=1"];
    let plan = Plan {
        environment: vec![("PARALLAX_LIMIT_MB".to_owned(), limit.to_owned())],
        ..Plan::new(&program, arguments.map(str::to_owned).to_vec(), vec![1])
    };
    let choices = Choices {
        output: folder.join("sweep.json"),
        resume: false,
        retry_failed: false,
        command_line: String::new(),
    };
    let summary = sweep(
        &plan,
        &choices,
        &mut |job| {
            let (program, arguments) = job.command().split_first().unwrap();
            let mut command = Command::new(program);
            command.args(arguments).envs(job.variables().iter().cloned());
            assert!(command.output().unwrap().status.success());
            Ok(Outcome {
                start: 0.0,
                seconds: 1.0,
                exit_status: 0,
                signal: None,
                ended: None,
                usage: Usage::default(),
                joules: None,
                counts: Vec::new(),
                series: parallax_sweep::Series::default(),
                said: String::new(),
            })
        },
        &mut |_| {},
    );
    assert_eq!(summary.unwrap().lacking_regions, usize::from(limit == "0"));
    let file: Value = serde_json::from_slice(&std::fs::read(choices.output).unwrap()).unwrap();
    file["data"]["1;1"].clone()
}

#[test]
fn regions_of_all_threads_are_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let run = measured(folder.path(), "64");
    let counts: Vec<(&str, usize)> = run["regions"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(path, entries)| (path.as_str(), entries.as_array().unwrap().len()))
        .collect();
    assert_eq!(counts, [("1", 1), ("1.-2", 3), ("1.3", 1), ("1.3.4", 1), ("1.8", 2), ("7", MANY)]);
    for entry in run["regions"]["1.8"].as_array().unwrap() {
        assert_eq!(entry[2], REFINE_LINE, "{entry}");
    }
    let whole = &run["regions"]["1"][0];
    for entry in
        run["regions"].as_object().unwrap().values().flat_map(|all| all.as_array().unwrap())
    {
        let at = |entry: &Value, at: usize| entry[at].as_f64().unwrap();
        assert!(at(entry, 0) <= at(entry, 1), "{entry}");
        assert!(at(whole, 0) <= at(entry, 0) && at(entry, 1) <= at(whole, 1), "{entry}");
        assert!(entry[5].as_str().unwrap().ends_with("rust_regions.rs"), "{entry}");
    }
}

#[test]
fn without_room_the_program_runs_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    assert!(measured(folder.path(), "0")["regions"].is_null());
}
