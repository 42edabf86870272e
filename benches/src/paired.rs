//! Two builds against each other: the same measurements by the programs of both, in turn.
//!
//! Every round runs old, new, new, old, so that a machine that gets slower or faster on the way
//! favours neither. Times of one build scatter too, so a ratio counts only where the middle halves
//! of both do not overlap: everything else is noise.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};

use crate::data::Database;
use crate::machine;
use crate::options::Options;
use crate::probe;
use crate::report::{Report, grouped, millis};
use crate::work::Work;

/// Rounds of a measurement: each build is measured twice as often.
const ROUNDS: u32 = 6;

/// Questions to the command line, on what is in the repository.
const COMMANDS: [(&str, &[&str]); 6] = [
    ("parallax info", &["info", "fixtures/reactor/n1024-p8"]),
    ("parallax tree", &["tree", "fixtures/reactor/n1024-p8"]),
    ("parallax flat", &["flat", "fixtures/reactor/n1024-p8"]),
    ("parallax balance", &["balance", "fixtures/reactor/n1024-p8"]),
    ("parallax iterations", &["iterations", "fixtures/reactor/n1024-p8"]),
    ("parallax report", &["report", "fixtures/reactor/n1024-p8"]),
];

/// The programs of a build.
struct Build {
    benches: PathBuf,
    command_line: PathBuf,
}

impl Build {
    fn in_folder(folder: &Path) -> Result<Self> {
        let program = |name: &str| -> Result<PathBuf> {
            let path = folder.join(name);
            ensure!(path.is_file(), "no {name} in {}", folder.display());
            Ok(path)
        };
        Ok(Self { benches: program("parallax-benches")?, command_line: program("parallax")? })
    }
}

/// Measures this build against the one whose programs are in `old`.
pub(crate) fn run(options: &Options, old: &Path) -> Result<()> {
    let here = std::env::current_exe().context("where this program is")?;
    let new = Build::in_folder(here.parent().context("this program is in no folder")?)?;
    let builds = [Build::in_folder(old)?, new];
    let mut report = Report::new(machine::describe(), options.format);
    for ranks in &options.ranks {
        let database = Database::get(*ranks)?;
        report.database(&database);
        for work in Work::ALL.into_iter().filter(|work| work.is_meant_for(*ranks)) {
            if !options.wants(work.name()) {
                continue;
            }
            eprintln!("{ranks} ranks: {}", work.name());
            let pair = Pair::measure(|build| {
                let program = &builds[build].benches;
                Ok(probe::time_of(program, work, &database, options.repeats)?.median)
            })?;
            report.pair(pair.row(work.name(), &grouped(u64::from(*ranks))));
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (name, words) in COMMANDS.into_iter().filter(|(name, _)| options.wants(name)) {
        eprintln!("{name}");
        let pair = Pair::measure(|build| {
            let once = |_| command(&builds[build].command_line, words, &root);
            let mut times = (0..options.repeats).map(once).collect::<Result<Vec<f64>>>()?;
            times.sort_by(f64::total_cmp);
            Ok(at(&times, 0.5))
        })?;
        report.pair(pair.row(name, "8"));
    }
    report.print();
    Ok(())
}

/// Milliseconds of a command from its start to its end.
fn command(program: &Path, words: &[&str], root: &Path) -> Result<f64> {
    let started = Instant::now();
    let mut command = Command::new(program);
    command.args(words).current_dir(root).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status().with_context(|| format!("cannot start {}", program.display()))?;
    if !status.success() {
        bail!("`{} {}` ended with {status}", program.display(), words.join(" "));
    }
    Ok(started.elapsed().as_secs_f64() * 1e3)
}

/// Times of both builds, in milliseconds, ascending.
struct Pair {
    old: Vec<f64>,
    new: Vec<f64>,
}

impl Pair {
    /// Measures build 0 and build 1 in turn.
    fn measure(mut time: impl FnMut(usize) -> Result<f64>) -> Result<Self> {
        let (mut old, mut new) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            for build in [0, 1, 1, 0] {
                let times = if build == 0 { &mut old } else { &mut new };
                times.push(time(build)?);
            }
        }
        Ok(Self::new(old, new))
    }

    fn new(mut old: Vec<f64>, mut new: Vec<f64>) -> Self {
        old.sort_by(f64::total_cmp);
        new.sort_by(f64::total_cmp);
        Self { old, new }
    }

    /// How the new build compares.
    fn verdict(&self) -> &'static str {
        if at(&self.new, 0.25) > at(&self.old, 0.75) {
            "slower"
        } else if at(&self.new, 0.75) < at(&self.old, 0.25) {
            "faster"
        } else {
            "within noise"
        }
    }

    fn row(&self, name: &str, ranks: &str) -> Vec<String> {
        let shown = |times: &[f64]| {
            let [low, middle, high] = [0.25, 0.5, 0.75].map(|part| millis(at(times, part)));
            [middle, format!("{low} to {high}")]
        };
        let ratio = at(&self.new, 0.5) / at(&self.old, 0.5);
        let mut row = vec![name.to_owned(), ranks.to_owned()];
        row.extend(shown(&self.old));
        row.extend(shown(&self.new));
        row.extend([format!("{ratio:.2}"), self.verdict().to_owned()]);
        row
    }
}

/// The value below which a part of the ascending values is.
fn at(values: &[f64], part: f64) -> f64 {
    let last = values.len().saturating_sub(1) as f64;
    values.get((part * last).round() as usize).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(old: &[f64], new: &[f64]) -> &'static str {
        Pair::new(old.to_vec(), new.to_vec()).verdict()
    }

    #[test]
    fn only_what_is_beyond_the_scatter_of_both_builds_counts() {
        let old = [10.0, 10.4, 9.8, 10.1];
        assert_eq!(verdict(&old, &[10.3, 10.0, 10.2, 9.9]), "within noise");
        assert_eq!(verdict(&old, &[12.0, 12.5, 11.9, 12.2]), "slower");
        assert_eq!(verdict(&old, &[8.0, 8.5, 7.9, 8.2]), "faster");
        // One run in the way of something else proves nothing.
        assert_eq!(verdict(&old, &[10.0, 10.1, 9.9, 90.0]), "within noise");
    }
}
