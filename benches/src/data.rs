//! The generated databases, made once and kept in `target/bench-data`.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use parallax_testkit::hpctoolkit::generate::{GENERATOR, GenerateOptions, generate};
use serde_json::Value;

/// Ranks of the database that only `--huge` makes.
pub(crate) const HUGE_RANKS: u32 = 100_000;

/// A generated database.
pub(crate) struct Database {
    pub(crate) ranks: u32,
    pub(crate) folder: PathBuf,
    /// `planted.json`: what is known about it.
    pub(crate) planted: Value,
}

/// A run of the size of the measured one that published figures are about (LULESH: 7,477
/// contexts, 2,530 values and 1,311 samples of each rank), on more and more ranks; the huge one
/// has the contexts of AMG2023 on Aurora.
fn options(ranks: u32) -> GenerateOptions {
    if ranks == HUGE_RANKS {
        let contexts = 97_833;
        return GenerateOptions { ranks, contexts, ..GenerateOptions::default() };
    }
    GenerateOptions {
        ranks,
        contexts: 7_477,
        values_per_rank: 2_530,
        trace_samples: 1_311,
        ..GenerateOptions::default()
    }
}

impl Database {
    /// The database of `ranks` ranks, generated when it is not there yet or an earlier generator
    /// made it.
    pub(crate) fn get(ranks: u32) -> Result<Self> {
        Self::with(&options(ranks))
    }

    /// The same for a database that is described otherwise.
    pub(crate) fn with(o: &GenerateOptions) -> Result<Self> {
        let ranks = o.ranks;
        let name = format!(
            "r{ranks}-c{}-v{}-s{}-seed{}",
            o.contexts, o.values_per_rank, o.trace_samples, o.seed
        );
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/bench-data");
        let folder = root.join(name);
        let answers = folder.join("planted.json");
        if !answers.exists() || read(&answers)?["generator"] != GENERATOR {
            make(&folder, o).with_context(|| format!("cannot generate {}", folder.display()))?;
        }
        let planted = read(&answers)?;
        Ok(Self { ranks, folder, planted })
    }

    /// A planted count: `values`, `samples`, `bytes`, `context_ids`.
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.planted[name].as_u64().unwrap_or(0)
    }

    /// A count of the options it was made with.
    pub(crate) fn option(&self, name: &str) -> u64 {
        self.planted["options"][name].as_u64().unwrap_or(0)
    }
}

fn read(answers: &Path) -> Result<Value> {
    let text = std::fs::read_to_string(answers)
        .with_context(|| format!("cannot read {}", answers.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", answers.display()))
}

fn make(folder: &Path, options: &GenerateOptions) -> std::io::Result<()> {
    eprintln!("generating {} ranks into {}", options.ranks, folder.display());
    let told = Cell::new(0);
    generate(folder, options, |done, all, file| {
        let tenth = done * 10 / all.max(1);
        if tenth != told.replace(tenth) {
            eprintln!("  {file}: {} %", tenth * 10);
        }
    })?;
    Ok(())
}
