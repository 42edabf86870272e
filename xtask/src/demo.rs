//! `cargo xtask demo`: the main job, on the databases of this repository.

use anyhow::{Result, bail};

use crate::args::Args;
use crate::{setup, shell};

/// A question that an analyst asks, and the command that answers it.
struct Step {
    question: &'static str,
    /// Words after `parallax`; `@name` stands for data under `fixtures`.
    command: &'static [&'static str],
}

const FIXTURES: &str = "fixtures";

const STEPS: &[Step] = &[
    Step {
        question: "What is in this database: how many ranks, contexts, metrics, and is it sound?",
        command: &["info", "@reactor/n1024-p8"],
    },
    Step {
        question: "Where does the time go, from main downwards, and which path is hottest?",
        command: &["tree", "@reactor/n1024-p8"],
    },
    Step {
        question: "What bounds the program: computing, MPI, OpenMP, files, a GPU?",
        command: &["report", "@reactor/n1024-p8"],
    },
    Step {
        question: "Is the work shared fairly among the ranks, and which of them are slow?",
        // Thread 0 of each rank: the others are helpers that Open MPI starts to wait for events.
        command: &["balance", "@reactor/n1024-p8", "--profiles", "thread(0)"],
    },
    Step {
        question: "The same on a longer run with 512 cells: does the imbalance stay?",
        command: &["balance", "@reactor/long-n512-p8", "--profiles", "thread(0)"],
    },
    Step {
        question: "Why does the program stop scaling over 1, 2, 4 and 8 ranks, and where?",
        command: &[
            "scaling",
            "@reactor/n256-p1",
            "@reactor/n256-p2",
            "@reactor/n256-p4",
            "@reactor/n256-p8",
            "@reactor/n512-p1",
            "@reactor/n512-p2",
            "@reactor/n512-p4",
            "@reactor/n512-p8",
            "@reactor/n1024-p1",
            "@reactor/n1024-p2",
            "@reactor/n1024-p4",
            "@reactor/n1024-p8",
            "--param",
            "cores=ranks",
            "--param",
            r"input=path:n(\d+)-",
        ],
    },
    Step {
        question: "Every call, iteration and access of another program: what could run in parallel?",
        command: &["advise", "@measured/image.plxm"],
    },
];

pub(crate) fn run(args: Args) -> Result<()> {
    args.finish()?;
    setup::base()?;
    println!("\nbuilding the command line tool");
    shell::run(shell::cargo(&["build", "--locked", "--package", "parallax-cli"]))?;

    let mut failed = 0;
    for step in STEPS {
        let words: Vec<String> = step
            .command
            .iter()
            .map(|word| match word.strip_prefix('@') {
                Some(name) => format!("{FIXTURES}/{name}"),
                None => (*word).to_owned(),
            })
            .collect();
        println!("\n\n{}\n$ parallax {}\n", step.question, words.join(" "));
        let mut parallax =
            shell::cargo(&["run", "--quiet", "--locked", "--package", "parallax-cli", "--"]);
        parallax.args(&words);
        if let Err(error) = shell::run(parallax) {
            eprintln!("{error:#}");
            failed += 1;
        }
    }
    if failed > 0 {
        bail!("{failed} of {} demo commands failed", STEPS.len());
    }
    println!(
        "\n\nYour own database: `cargo install --path crates/cli`, then `parallax report DIRECTORY`."
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_database_of_the_demo_is_in_the_repository() {
        for word in STEPS.iter().flat_map(|step| step.command) {
            if let Some(name) = word.strip_prefix('@') {
                let path = shell::root().join(FIXTURES).join(name);
                let is_there = path.is_file() || path.join("meta.db").is_file();
                assert!(is_there, "{} is not there", path.display());
            }
        }
    }
}
