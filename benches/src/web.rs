//! `parallax-benches web-data`: makes what the benchmark of the page opens, and says where it lies.
//!
//! The page itself is measured by `web/bench`, in one Chromium; `cargo xtask bench web` does both.

use std::path::Path;

use anyhow::{Context as _, Result};
use parallax_testkit::hpctoolkit::generate::GenerateOptions;

use crate::data::Database;
use crate::scaling;

/// The first word of this command line.
pub(crate) const COMMAND: &str = "web-data";

/// Prints one line for each: its name and its path.
pub(crate) fn answer() -> Result<()> {
    say("pascal", &scaling::file(scaling::MEGABYTES)?)?;
    // More than 2 GB; one rank has what a rank of the measured run has (LULESH).
    let large = GenerateOptions {
        ranks: 30_000,
        contexts: 7_477,
        values_per_rank: 2_530,
        trace_samples: 1_311,
        ..GenerateOptions::default()
    };
    say("large", &Database::with(&large)?.folder)?;
    // Half of the contexts are elided ones: 100,000 are in the tree.
    let wide = GenerateOptions {
        ranks: 4,
        contexts: 200_100,
        values_per_rank: 150_000,
        trace_samples: 100,
        ..GenerateOptions::default()
    };
    say("wide", &Database::with(&wide)?.folder)
}

fn say(name: &str, path: &Path) -> Result<()> {
    let path = path.canonicalize().with_context(|| format!("no {}", path.display()))?;
    println!("{name} {}", path.display());
    Ok(())
}
