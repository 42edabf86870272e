//! `cargo xtask check`: everything that CI demands besides the tests.
//!
//! Each step reports all it finds, and all steps run, so that one round of repair is enough.

mod cargo;
mod layers;
mod licences;
mod links;
mod names;
mod page;
mod spdx;
mod tidy;
mod tree;
mod visible;
mod web_layers;
mod words;

use std::time::Instant;

use anyhow::{Result, bail};

use crate::args::Args;
use crate::shell;

/// How a step ended.
enum Outcome {
    Ok,
    /// The step could not run here; the line says why.
    Skipped(String),
    /// One line per finding.
    Found(Vec<String>),
}

impl Outcome {
    fn of(findings: Vec<String>) -> Self {
        if findings.is_empty() { Self::Ok } else { Self::Found(findings) }
    }
}

struct Step {
    name: &'static str,
    run: fn() -> Result<Outcome>,
    help: &'static str,
}

/// Cheap steps first: their findings are there before the compiler starts.
const STEPS: &[Step] = &[
    Step { name: "fmt", run: cargo::fmt, help: "rustfmt changes nothing" },
    Step { name: "tidy", run: tidy::check, help: "notes, file sizes, ignored tests, unsafe code" },
    Step { name: "links", run: links::check, help: "relative links in *.md lead somewhere" },
    Step {
        name: "words",
        run: words::check,
        help: "texts for users and names in code keep to the glossary",
    },
    Step {
        name: "layers",
        run: layers::check,
        help: "crates and folders of the page know lower layers only",
    },
    Step {
        name: "licences",
        run: licences::check,
        help: "dependencies are under allowed licences",
    },
    Step { name: "page", run: page::check, help: "ESLint finds nothing in the page" },
    Step { name: "clippy", run: cargo::clippy, help: "no warning in any target" },
    Step { name: "docs", run: cargo::docs, help: "no warning from rustdoc" },
    Step { name: "wasm", run: cargo::wasm, help: "layers 0 to 4 compile for the browser" },
];

pub(crate) fn run(args: Args) -> Result<()> {
    let wanted = args.positional()?;
    if let Some(unknown) = wanted.iter().find(|name| STEPS.iter().all(|s| s.name != **name)) {
        let steps: Vec<String> =
            STEPS.iter().map(|step| format!("  {:<9} {}", step.name, step.help)).collect();
        bail!("no step `{unknown}`; there are\n{}", steps.join("\n"));
    }
    let mut summary = Vec::new();
    let mut failed = 0;
    for step in STEPS {
        if !wanted.is_empty() && !wanted.iter().any(|name| name == step.name) {
            continue;
        }
        let started = Instant::now();
        let outcome =
            (step.run)().unwrap_or_else(|error| Outcome::Found(vec![format!("{error:#}")]));
        let verdict = match outcome {
            Outcome::Ok => "ok".to_owned(),
            // Green must mean the same in CI every day.
            Outcome::Skipped(why) if shell::must_be_whole() => {
                failed += 1;
                println!("{}: could not run: {why}", step.name);
                "could not run".to_owned()
            }
            Outcome::Skipped(why) => format!("skipped: {why}"),
            Outcome::Found(findings) => {
                failed += 1;
                for finding in &findings {
                    println!("{}: {finding}", step.name);
                }
                format!("{} found", findings.len())
            }
        };
        summary.push(format!(
            "{:<9} {:>12}  {verdict}",
            step.name,
            shell::seconds(started.elapsed())
        ));
    }
    println!("\n{}", summary.join("\n"));
    if failed > 0 {
        bail!("{failed} of {} checks did not pass", summary.len());
    }
    Ok(())
}
