//! `cargo xtask bless`: lets the golden tests write what they see instead of comparing it.

use anyhow::Result;

use crate::args::Args;
use crate::{shell, test};

pub(crate) fn run(args: Args) -> Result<()> {
    let mut tests = test::runner(&args.rest());
    tests.env("PARALLAX_BLESS", "1");
    shell::run(tests)?;
    println!("\nblessed; these files changed:");
    shell::run(shell::command("git", &["status", "--short"]))
}
