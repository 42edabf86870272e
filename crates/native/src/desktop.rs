//! Running where there is no desktop.

use std::process::Command;

/// The variable that says where the desktop is.
const DESKTOP: &str = "WAYLAND_DISPLAY";
/// A path that is absolute needs no folder, and nothing listens at this one.
const NOWHERE: &str = "/dev/null";

/// Has drivers of GPUs ask no desktop for its GPU where there is none. They report on the error
/// stream that the environment names none, and go on as with a desktop that does not answer, which
/// is what they find from then on: they choose the same GPU.
///
/// Programs that are started inherit it, except [`with_desktop`]. Does nothing once the process has
/// a second thread.
#[cfg(target_os = "linux")]
pub fn without_desktop() {
    let told = ["XDG_RUNTIME_DIR", "WAYLAND_SOCKET", DESKTOP];
    let is_alone = || std::fs::read_dir("/proc/self/task").is_ok_and(|all| all.count() == 1);
    if told.iter().any(|name| std::env::var_os(name).is_some()) || !is_alone() {
        return;
    }
    // SAFETY: No other thread reads the environment, because there is none.
    #[expect(unsafe_code, reason = "the environment of a process has no lock")]
    unsafe {
        std::env::set_var(DESKTOP, NOWHERE);
    }
}

/// Other systems have no such drivers.
#[cfg(not(target_os = "linux"))]
pub fn without_desktop() {}

/// Whether this process was told so by [`without_desktop`].
#[must_use]
pub fn is_without_desktop() -> bool {
    std::env::var_os(DESKTOP).is_some_and(|place| place == NOWHERE)
}

/// Has a program that is to be started look for a desktop itself, as without [`without_desktop`].
pub fn with_desktop(command: &mut Command) {
    if is_without_desktop() {
        command.env_remove(DESKTOP);
    }
}
