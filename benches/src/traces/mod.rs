//! `parallax-benches traces [PART]`: archives of traces and the readers that make them.
//!
//! - `questions`: an archive of 10^8 events; pictures and sums of random windows.
//! - `otf2`: 10^7 events, beside `otf2-print` and the Python package of OTF2.
//! - `json`: 200 MB of CODAR and Chrome events, beside `serde_json` and Perfetto.
//!
//! Each part is a process of its own, so that memory and caches of one say nothing about another.

mod archive;
mod json;
mod otf2;
mod peers;
mod questions;

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail};
use parallax_analysis::math::Random;

use crate::machine;

/// The first word of this benchmark's command line.
pub(crate) const COMMAND: &str = "traces";

type Part = fn() -> Result<()>;

const PARTS: [(&str, Part); 3] =
    [("questions", questions::run), ("otf2", otf2::run), ("json", json::run)];

/// Runs all parts, or the one that is named.
pub(crate) fn answer(words: &[String]) -> Result<()> {
    match words {
        [] => {
            println!("{}", machine::describe());
            for (name, _) in PARTS {
                println!();
                let program = std::env::current_exe()?;
                let status = Command::new(program).args([COMMAND, name]).status()?;
                if !status.success() {
                    bail!("`{COMMAND} {name}` failed");
                }
            }
            Ok(())
        }
        [name] => match PARTS.iter().find(|(known, _)| known == name) {
            Some((_, part)) => part(),
            None => bail!("no part `{name}`; there are questions, otf2 and json"),
        },
        _ => bail!("usage: parallax-benches {COMMAND} [questions|otf2|json]"),
    }
}

/// Where data is kept between runs.
fn data() -> Result<PathBuf> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/bench-data"));
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Seconds of the fastest of `times` runs, and what it gave.
fn best<T>(times: u32, mut work: impl FnMut() -> Result<T>) -> Result<(f64, T)> {
    let start = Instant::now();
    let mut result = work()?;
    let mut seconds = start.elapsed().as_secs_f64();
    for _ in 1..times {
        let start = Instant::now();
        result = work()?;
        seconds = seconds.min(start.elapsed().as_secs_f64());
    }
    Ok((seconds, result))
}

/// One line of a table: what, how much of it in how many seconds, and the rate.
fn say(what: &str, count: f64, unit: &str, seconds: f64, note: &str) {
    println!("| {what} | {seconds:.3} s | {:.1} M{unit}/s | {note} |", count / seconds / 1e6);
}

fn verdict(is_met: bool) -> &'static str {
    if is_met { "ok" } else { "MISSED" }
}

/// Numbers that look random and are the same in every run.
struct Dice(Random);

impl Dice {
    /// A number below `bound`.
    fn below(&mut self, bound: u64) -> u64 {
        self.0.bits() % bound.max(1)
    }

    /// A number from 0 up to 1.
    fn part(&mut self) -> f64 {
        self.0.unit()
    }
}
