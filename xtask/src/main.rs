//! `cargo xtask`: the one door to everything a developer or a new user does with the repository.
//!
//! One file per command; [`COMMANDS`] is the table that dispatches and that prints the help.

mod args;
mod bench;
mod bless;
mod check;
mod demo;
mod fresh;
mod fuzz;
mod generate;
mod metadata;
mod new;
mod node;
mod python;
mod setup;
mod shell;
mod test;
mod wasm;
mod web;
mod wheel;

use std::process::ExitCode;

use anyhow::Result;

use crate::args::Args;

/// One entry of the command table.
struct Command {
    name: &'static str,
    run: fn(Args) -> Result<()>,
    usage: &'static str,
    help: &'static str,
}

/// Every command, in the order in which a newcomer needs them.
const COMMANDS: &[Command] = &[
    Command {
        name: "demo",
        run: demo::run,
        usage: "demo",
        help: "build the tool, analyse databases of this repository, open the web application",
    },
    Command {
        name: "test",
        run: test::run,
        usage: "test [python|CARGO TEST FILTERS]",
        help: "run every test; filters such as `-p parallax-model` narrow it, `python` runs pytest",
    },
    Command {
        name: "check",
        run: check::run,
        usage: "check [STEP ...]",
        help: "what CI demands besides tests: fmt, clippy, page, wasm, docs, layers, licences, tidy",
    },
    Command {
        name: "web",
        run: web::run,
        usage: "web [types|engine|samples|page|report]",
        help: "build the application for the browser into web/dist; a name builds one part",
    },
    Command {
        name: "wheel",
        run: wheel::run,
        usage: "wheel",
        help: "build the Python package with the command line tool inside, and try it",
    },
    Command {
        name: "setup",
        run: setup::run,
        usage: "setup",
        help: "install what the other commands need, or name it; safe to repeat",
    },
    Command {
        name: "bench",
        run: bench::run,
        usage: "bench [ARGS]",
        help: "run the benchmarks next to other tools, in release mode",
    },
    Command {
        name: "fuzz",
        run: fuzz::run,
        usage: "fuzz [TARGET ...] [--seconds N] [--jobs N] [--list]",
        help: "run the fuzz targets, 60 seconds each unless told otherwise",
    },
    Command {
        name: "bless",
        run: bless::run,
        usage: "bless [CARGO TEST FILTERS]",
        help: "accept what the golden tests print now; read the diff before you commit it",
    },
    Command {
        name: "new",
        run: new::run,
        usage: "new analysis|format|view NAME",
        help: "write the skeleton of one: registered, compiling, with its test",
    },
    Command {
        name: "fresh",
        run: fresh::run,
        usage: "fresh [--with-corpus] [COMMAND ...]",
        help: "run `test`, or another of these commands, in a minimal Debian made for it (as root)",
    },
    Command {
        name: "generate",
        run: generate::run,
        usage: "generate hpctoolkit --ranks N --contexts C [...] OUT",
        help: "write a synthetic database; `generate hpctoolkit --help` lists the options",
    },
];

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let Some(name) = words.next() else {
        print_help();
        return ExitCode::SUCCESS;
    };
    if matches!(name.as_str(), "help" | "-h" | "--help") {
        print_help();
        return ExitCode::SUCCESS;
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        eprintln!("error: `{name}` is not a command of `cargo xtask`\n");
        print_help();
        return ExitCode::from(2);
    };
    match (command.run)(Args::new(command.usage, words.collect())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if !error.is::<shell::AlreadySaid>() {
                eprintln!("error: {error:#}");
            }
            ExitCode::FAILURE
        }
    }
}

fn print_help() {
    println!("cargo xtask <command>\n");
    for command in COMMANDS {
        println!("  {}\n      {}", command.usage, command.help);
    }
}
