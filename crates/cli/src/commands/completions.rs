//! `completions`: scripts that complete commands in a shell.

use clap::Args;

use super::Context;
use crate::args::Cli;

/// Which shell.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell to generate the script for.
    shell: clap_complete::Shell,
}

pub(super) fn completions(_: &Context, arguments: &CompletionsArgs) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "parallax", &mut script);
    std::io::Write::write_all(&mut std::io::stdout(), &script)?;
    Ok(())
}
