//! The process whose threads and devices are used: a fork is a copy without them.

use std::sync::OnceLock;

use parallax_protocol::ErrorReply;

/// The first process that used the package.
static PROCESS: OnceLock<u32> = OnceLock::new();

/// Whether this is the process that used the package first, which it becomes if none did.
pub(crate) fn is_first() -> bool {
    *PROCESS.get_or_init(std::process::id) == std::process::id()
}

/// Refuses in a process that is a copy without the threads of the one that used the package first.
pub(crate) fn check() -> Result<(), ErrorReply> {
    if is_first() {
        return Ok(());
    }
    let what = "Parallax was used before this process was forked, and its threads are gone";
    Err(ErrorReply::new("process", what).with_hint(
        "start processes with `spawn` or `forkserver`, or import parallax after the fork",
    ))
}
