//! `instrument`: runs a compiler so that programs record their calls, loops and accesses.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Args;

use super::{Context, Ended};

const EXAMPLES: &str = "\
Examples:
  parallax instrument gcc -O1 prog.c -o prog -pthread
  PARALLAX_OUT=run.plxm ./prog
  parallax references run.plxm
  parallax advise run.plxm --by race

  make CC='parallax instrument gcc' CXX='parallax instrument g++'
  cmake -DCMAKE_C_COMPILER_LAUNCHER='parallax;instrument' \\
        -DCMAKE_C_LINKER_LAUNCHER='parallax;instrument' ...

Requires Linux and gcc or clang, for C and C++. See docs/measure.md for the recorded data and \
the overhead.";

/// What is compiled, or which recording gets names.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(override_usage = "parallax instrument <COMPILER> [ARGUMENTS]...\n       \
                            parallax instrument --names <FILE>")]
pub(crate) struct InstrumentArgs {
    /// Resolve the addresses in this recording to names. Programs do this when they exit; use this
    /// option after a program was killed.
    #[arg(long, value_name = "FILE", conflicts_with = "compiler")]
    names: Option<PathBuf>,
    /// Compiler command with its arguments.
    #[arg(value_name = "COMPILER", required_unless_present = "names", trailing_var_arg = true)]
    compiler: Vec<String>,
}

#[cfg(target_os = "linux")]
pub(super) fn instrument(context: &Context, arguments: &InstrumentArgs) -> anyhow::Result<()> {
    if let Some(file) = &arguments.names {
        let named = parallax_record::add_names(file)?;
        if named == 0 && !context.is_quiet {
            context.note(
                "no addresses were resolved: all have names already, or the program no longer \
                 exists",
            );
        }
        return Ok(());
    }
    let Some(cache) = parallax_places::cache_folder() else {
        bail!("no cache folder for the library that is linked to the program; set PARALLAX_CACHE");
    };
    let tool = std::env::current_exe().context("cannot determine the path of this executable")?;
    let status = parallax_record::compile(&arguments.compiler, &cache, &tool)?;
    match status.code() {
        Some(0) => Ok(()),
        Some(status) => Err(Ended(u8::try_from(status).unwrap_or(1)).into()),
        None => bail!("the compiler was terminated by a signal"),
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn instrument(_: &Context, _: &InstrumentArgs) -> anyhow::Result<()> {
    bail!("programs can be instrumented only on Linux")
}
