//! Opening an address in the browser of the person who sits there.

use std::process::{Command, Stdio};

/// Asks the system to open `url`; false when there is no display.
pub(crate) fn open(url: &str) -> bool {
    openers().iter().any(|(program, arguments)| {
        let mut command = Command::new(program);
        parallax_native::with_desktop(&mut command);
        let child = command
            .args(arguments)
            .arg(url)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut child) = child else { return false };
        // Openers end at once, browsers late; either wants to be waited for.
        std::thread::spawn(move || child.wait());
        true
    })
}

/// What to do where no browser could be opened.
pub(crate) fn advice(port: u16) -> String {
    if std::env::var_os("SSH_CONNECTION").is_some() {
        return format!(
            "no browser available; run `ssh -L {port}:localhost:{port}` to this machine on your \
             own computer, and open the address there"
        );
    }
    "cannot open a browser; open the address manually".to_owned()
}

/// Programs that open addresses, the best first, with arguments that come before the address.
fn openers() -> Vec<(String, Vec<&'static str>)> {
    let plain = |name: &str| (name.to_owned(), Vec::new());
    if cfg!(target_os = "macos") {
        return vec![plain("open")];
    }
    if cfg!(windows) {
        // Not `cmd /c start`: it would read the address as a command line.
        return vec![("rundll32".to_owned(), vec!["url.dll,FileProtocolHandler"])];
    }
    let has = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let mut out = Vec::new();
    if let Ok(named) = std::env::var("BROWSER")
        && !named.is_empty()
        && !named.contains([':', ' ', '%'])
    {
        out.push((named, Vec::new()));
    }
    if has("WSL_DISTRO_NAME") {
        out.push(plain("wslview"));
    }
    // Without a display a browser of the terminal would take it over.
    let has_wayland = has("WAYLAND_DISPLAY") && !parallax_native::is_without_desktop();
    if has("DISPLAY") || has_wayland {
        out.push(plain("xdg-open"));
    }
    out
}
