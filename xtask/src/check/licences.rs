//! Licences of all dependencies against the list in `deny.toml`.
//!
//! `cargo deny` does it when it is installed; without it the same list is applied to what
//! `cargo metadata` says, so that the check never depends on a tool that takes minutes to build.

use anyhow::{Context as _, Result, bail};

use super::{Outcome, spdx};
use crate::{metadata, shell};

pub(super) fn check() -> Result<Outcome> {
    if shell::output(shell::cargo(&["deny", "--version"])).is_some() {
        let deny =
            shell::cargo(&["deny", "--all-features", "check", "bans", "licenses", "sources"]);
        let failure = shell::run(deny).err().map(|error| format!("{error:#}"));
        return Ok(Outcome::of(failure.into_iter().collect()));
    }
    let allowed = allowed()?;
    let findings = metadata::packages(&["--locked", "--all-features"])?
        .into_iter()
        .filter(|package| {
            !package.license.as_ref().is_some_and(|licence| spdx::is_allowed(licence, &allowed))
        })
        .map(|package| {
            let licence = package.license.as_deref().unwrap_or("no licence");
            format!(
                "{} {}: {licence} is not in the list of deny.toml",
                package.name, package.version
            )
        })
        .collect();
    Ok(Outcome::of(findings))
}

/// The strings of `allow = [ ... ]` in the `[licenses]` table.
fn allowed() -> Result<Vec<String>> {
    let path = shell::root().join("deny.toml");
    let text = std::fs::read_to_string(&path).context("cannot read deny.toml")?;
    let list = text
        .split_once("[licenses]")
        .and_then(|(_, table)| table.split_once("allow = ["))
        .and_then(|(_, list)| list.split_once(']'))
        .map(|(list, _)| list)
        .context("deny.toml has no `allow = [` under [licenses]")?;
    let names: Vec<String> = list.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    if names.is_empty() {
        bail!("deny.toml allows no licence at all");
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_deny_toml_is_read() {
        let allowed = allowed().unwrap();
        assert!(allowed.iter().any(|name| name == "MIT"));
        assert!(spdx::is_allowed("MIT OR Apache-2.0", &allowed));
        assert!(!spdx::is_allowed("AGPL-3.0-only", &allowed));
    }
}
