//! `cargo xtask generate`: databases with planted answers, of any size.
//!
//! The generator is an example of this crate, built in release mode, so that the other commands
//! do not wait for the model and the formats to compile.

use anyhow::Result;

use crate::args::Args;
use crate::shell;

pub(crate) fn run(args: Args) -> Result<()> {
    let mut generator = shell::cargo(&["run", "--quiet", "--release", "--locked"]);
    generator.args(["--package", "xtask", "--example", "generate", "--"]).args(args.rest());
    shell::run_ours(generator)
}
