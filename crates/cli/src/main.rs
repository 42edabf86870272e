//! The command line tool `parallax`: what can be typed, how answers look, exit codes.
//!
//! No number is computed here: commands turn arguments into requests of `parallax_service` and
//! answers into text or into one of the formats of `parallax_wire`.

mod args;
mod browser;
mod choice;
mod commands;
mod device;
mod open;
mod output;
mod scaling;
mod statements;
mod text;
mod traces;

use std::process::ExitCode;

use parallax_places::room;
use parallax_record::RecordError;
use parallax_service::ServiceError;
use parallax_service::scaling::ScalingError;
use parallax_sweep::SweepError;

use args::Cli;
use text::{ColourChoice, Level, Notice, Style};

/// Answers are large and short-lived; this allocator keeps their pages instead of giving them back
/// to the system and having them cleared again (ADR 0010).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The data cannot be read, or cannot answer the question.
const NO_ANSWER: u8 = 1;
/// The question is wrong: arguments, expressions, unknown names.
const MISUSE: u8 = 2;
/// The answer was given, and what the user said must not happen did.
const CONDITION: u8 = 3;

fn main() -> ExitCode {
    // `measure` starts this program again to watch what it measures.
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|word| word == parallax_sweep::SUPERVISOR) {
        return parallax_sweep::supervise();
    }
    // Slurm starts it on the nodes.
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    if let [word, names, index] = words.as_slice()
        && word == parallax_sweep::ELEMENT
    {
        return parallax_sweep::run_element(
            names.as_ref(),
            &index.to_string_lossy(),
            &commands::opens_database,
        );
    }
    // So does `record`, for the process that becomes the program.
    if std::env::args_os().nth(1).is_some_and(|word| word == parallax_record::STARTER) {
        return parallax_record::start();
    }
    let cli = Cli::typed();
    // Before there are threads. Commands that run a user's program have no work for a device.
    if cli.command.uses_device() {
        parallax_native::without_desktop();
    }
    let colour = cli.common.color;
    let done = commands::run(cli);
    // What follows from a file that lost its end, be it an answer or an error, says nothing about it.
    let done = match parallax_native::lost_file() {
        Some(path) => Err(output::LostFile(path).into()),
        None => done,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // What a recorded program says by its exit status is passed on, and nothing is said.
            if let Some(commands::Ended(status)) = error.downcast_ref() {
                return ExitCode::from(*status);
            }
            report(&error, colour);
            let written = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
            let is_misuse = written
                .and_then(|cause| cause.downcast_ref::<parallax_wire::UnknownColumn>())
                .is_some()
                || error.downcast_ref::<ServiceError>().is_some_and(ServiceError::is_misuse)
                || error.downcast_ref::<ScalingError>().is_some_and(ScalingError::is_misuse)
                || error.downcast_ref::<SweepError>().is_some_and(SweepError::is_misuse)
                || commands::is_wrong_statement(&error);
            if error.is::<commands::ConditionsHold>() {
                return ExitCode::from(CONDITION);
            }
            if let Some(status) = error.downcast_ref::<RecordError>().and_then(RecordError::status)
            {
                return ExitCode::from(status);
            }
            ExitCode::from(if is_misuse { MISUSE } else { NO_ANSWER })
        }
    }
}

/// The error and what it comes from, the hint of an expression's error on a line of its own.
fn report(error: &anyhow::Error, colour: ColourChoice) {
    let style = Style::of_stderr(colour);
    let mut causes: Vec<String> = error.chain().map(ToString::to_string).collect();
    // Errors that only pass on another one repeat its text.
    causes.dedup();
    Notice::new(Level::Error, causes.join(": ")).print(&style);
}
