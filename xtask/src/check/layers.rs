//! Who may depend on whom.
//!
//! The table below is the rule; the manifests and `ARCHITECTURE.md` are compared with it.
//! A crate that is not here, or a dependency that is not here, is a finding.

use anyhow::{Context as _, Result};

use super::Outcome;
use crate::metadata::{self, Package};
use crate::shell;

/// A crate of the workspace and what it may know.
struct Crate {
    name: &'static str,
    folder: &'static str,
    /// True for layers 0 to 4: no files, no clock, no threads; compiles for wasm32.
    is_for_browser: bool,
    /// Crates of ours that it may depend on: always entries above its own.
    uses: &'static [&'static str],
}

/// Lower layers first.
const CRATES: &[Crate] = &[
    // L0
    Crate { name: "parallax-base", folder: "crates/base", is_for_browser: true, uses: &[] },
    Crate { name: "parallax-protocol", folder: "crates/protocol", is_for_browser: true, uses: &[] },
    // L1
    Crate {
        name: "parallax-formats",
        folder: "crates/formats",
        is_for_browser: true,
        uses: &["parallax-base"],
    },
    Crate {
        name: "parallax-model",
        folder: "crates/model",
        is_for_browser: true,
        uses: &["parallax-base"],
    },
    Crate {
        name: "parallax-columns",
        folder: "crates/columns",
        is_for_browser: true,
        uses: &["parallax-base"],
    },
    // L2
    Crate {
        name: "parallax-import",
        folder: "crates/import",
        is_for_browser: true,
        uses: &["parallax-base", "parallax-formats", "parallax-model"],
    },
    Crate {
        name: "parallax-engine",
        folder: "crates/engine",
        is_for_browser: true,
        uses: &["parallax-base", "parallax-protocol", "parallax-model"],
    },
    // L3
    Crate {
        name: "parallax-analysis",
        folder: "crates/analysis",
        is_for_browser: true,
        uses: &["parallax-base", "parallax-model", "parallax-engine"],
    },
    // L4
    Crate {
        name: "parallax-service",
        folder: "crates/service",
        is_for_browser: true,
        uses: &[
            "parallax-base",
            "parallax-columns",
            "parallax-protocol",
            "parallax-formats",
            "parallax-model",
            "parallax-import",
            "parallax-engine",
            "parallax-analysis",
        ],
    },
    Crate {
        name: "parallax-wire",
        folder: "crates/wire",
        is_for_browser: true,
        uses: &["parallax-protocol"],
    },
    Crate {
        name: "parallax-dispatch",
        folder: "crates/dispatch",
        is_for_browser: true,
        uses: &["parallax-base", "parallax-protocol", "parallax-service", "parallax-wire"],
    },
    // L5
    Crate {
        name: "parallax-wasm",
        folder: "crates/wasm",
        is_for_browser: true,
        uses: &["parallax-base", "parallax-dispatch", "parallax-protocol"],
    },
    Crate {
        name: "parallax-native",
        folder: "crates/native",
        is_for_browser: false,
        uses: &["parallax-base"],
    },
    Crate {
        name: "parallax-measure-macros",
        folder: "crates/measure-macros",
        is_for_browser: false,
        uses: &[],
    },
    Crate {
        name: "parallax-measure",
        folder: "crates/measure",
        is_for_browser: false,
        uses: &["parallax-base", "parallax-measure-macros"],
    },
    Crate {
        name: "parallax-record",
        folder: "crates/record",
        is_for_browser: false,
        uses: &[
            "parallax-base",
            "parallax-formats",
            "parallax-import",
            "parallax-model",
            "parallax-native",
        ],
    },
    Crate {
        name: "parallax-sweep",
        folder: "crates/sweep",
        is_for_browser: false,
        // Of `record` it takes the lines of code, for regions that were not marked.
        uses: &["parallax-analysis", "parallax-native", "parallax-record"],
    },
    Crate {
        name: "parallax-gpu",
        folder: "crates/gpu",
        is_for_browser: false,
        uses: &["parallax-base", "parallax-columns"],
    },
    Crate {
        name: "parallax-store",
        folder: "crates/store",
        is_for_browser: false,
        uses: &["parallax-base", "parallax-native"],
    },
    Crate {
        name: "parallax-places",
        folder: "crates/places",
        is_for_browser: false,
        uses: &["parallax-base", "parallax-native", "parallax-service", "parallax-store"],
    },
    Crate {
        name: "parallax-server",
        folder: "crates/server",
        is_for_browser: false,
        uses: &[
            "parallax-base",
            "parallax-dispatch",
            "parallax-native",
            "parallax-places",
            "parallax-protocol",
            "parallax-service",
        ],
    },
    Crate {
        name: "parallax-sql",
        folder: "crates/sql",
        is_for_browser: false,
        uses: &[
            "parallax-base",
            "parallax-columns",
            "parallax-engine",
            "parallax-model",
            "parallax-protocol",
            "parallax-service",
        ],
    },
    Crate {
        name: "parallax-cluster",
        folder: "crates/cluster",
        is_for_browser: false,
        uses: &[
            "parallax-base",
            "parallax-engine",
            "parallax-model",
            "parallax-service",
            "parallax-sql",
        ],
    },
    Crate {
        name: "parallax-cli",
        folder: "crates/cli",
        is_for_browser: false,
        uses: &[
            "parallax-base",
            "parallax-cluster",
            "parallax-columns",
            "parallax-gpu",
            "parallax-native",
            "parallax-places",
            "parallax-protocol",
            "parallax-record",
            "parallax-server",
            "parallax-service",
            "parallax-sql",
            "parallax-sweep",
            "parallax-wire",
        ],
    },
    Crate {
        name: "parallax-python",
        folder: "crates/python",
        is_for_browser: false,
        uses: &[
            "parallax-base",
            "parallax-columns",
            "parallax-dispatch",
            "parallax-gpu",
            "parallax-places",
            "parallax-protocol",
            "parallax-sql",
            "parallax-wire",
        ],
    },
    // Outside the layers: never part of what a user installs.
    Crate {
        name: "parallax-testkit",
        folder: "crates/testkit",
        is_for_browser: false,
        // An independent implementation of the bytes, so that it can check the readers.
        uses: &[],
    },
    Crate {
        name: "parallax-benches",
        folder: "benches",
        is_for_browser: false,
        uses: &[
            "parallax-base",
            "parallax-formats",
            "parallax-model",
            "parallax-import",
            "parallax-engine",
            "parallax-analysis",
            "parallax-service",
            "parallax-wire",
            "parallax-native",
            "parallax-testkit",
        ],
    },
    Crate { name: "xtask", folder: "xtask", is_for_browser: false, uses: &[] },
    Crate { name: "xtask-bindgen", folder: "xtask/bindgen", is_for_browser: false, uses: &[] },
];

/// What the tests of any crate may use besides: files from disk, generated databases, what turns
/// either into an experiment, and the marks of programs that are measured.
const FOR_TESTS: &[&str] =
    &["parallax-import", "parallax-measure", "parallax-native", "parallax-testkit"];

/// Foreign crates that only some of ours may use, and why.
const RESERVED: &[(&str, &[&str], &str)] = &[
    (
        "serde",
        &["parallax-protocol", "parallax-wire"],
        "only `protocol` and `wire` are serialisable",
    ),
    ("memmap2", &["parallax-native"], "only `native` maps files"),
    ("rayon", &["parallax-base", "parallax-testkit"], "threads come through the seam in `base`"),
    (
        "anyhow",
        &["parallax-cli", "parallax-benches", "xtask", "xtask-bindgen"],
        "libraries name their errors",
    ),
    ("clap", &["parallax-cli", "parallax-benches"], "only surfaces have a command line"),
];

/// Crates that must compile for the browser.
pub(super) fn browser_crates() -> impl Iterator<Item = &'static str> {
    CRATES.iter().filter(|known| known.is_for_browser).map(|known| known.name)
}

/// Whether a file belongs to what all surfaces share: its texts are read in the browser as well as
/// on the command line.
pub(super) fn is_below_surfaces(path: &str) -> bool {
    CRATES
        .iter()
        .filter(|known| known.is_for_browser)
        .any(|known| path.strip_prefix(known.folder).is_some_and(|rest| rest.starts_with("/src/")))
}

pub(super) fn check() -> Result<Outcome> {
    let members = metadata::packages(&["--no-deps"])?;
    let mut findings = agree(&members);
    for member in &members {
        findings.extend(dependencies(member));
    }
    findings.extend(architecture()?);
    findings.extend(super::web_layers::findings()?);
    Ok(Outcome::of(findings))
}

/// The table and the workspace name the same crates in the same folders.
fn agree(members: &[Package]) -> Vec<String> {
    let mut findings = Vec::new();
    for member in members {
        let folder = member.folder.as_deref().unwrap_or_default();
        if !CRATES.iter().any(|known| known.name == member.name && known.folder == folder) {
            findings
                .push(format!("{} in {folder} is not in the layer table of xtask", member.name));
        }
    }
    for known in CRATES {
        if members.iter().all(|member| member.name != known.name) {
            findings.push(format!("{} is in the layer table but not in the workspace", known.name));
        }
    }
    findings
}

/// Dependencies of one crate that its place in the table does not allow.
fn dependencies(member: &Package) -> Vec<String> {
    let Some(known) = CRATES.iter().find(|known| known.name == member.name) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for dependency in &member.dependencies {
        let name = dependency.name.as_str();
        let is_ours = CRATES.iter().any(|ours| ours.name == name);
        let is_for_tests = dependency.is_dev && FOR_TESTS.contains(&name);
        if is_ours && !is_for_tests && !known.uses.contains(&name) {
            findings.push(format!("{} may not depend on {name}", known.name));
        }
        for (reserved, owners, why) in RESERVED {
            if *reserved == name && !dependency.is_dev && !owners.contains(&known.name) {
                findings.push(format!("{} may not depend on {name}: {why}", known.name));
            }
        }
    }
    findings
}

/// The crate table of `ARCHITECTURE.md` has one row for each crate and no other, and its last column
/// says what that crate may use.
fn architecture() -> Result<Vec<String>> {
    let text = std::fs::read_to_string(shell::root().join("ARCHITECTURE.md"))
        .context("cannot read ARCHITECTURE.md")?;
    Ok(described(&text))
}

fn described(text: &str) -> Vec<String> {
    let row = |line: &'_ str| {
        let (folder, rest) = line.strip_prefix("| `")?.split_once("` |")?;
        let uses = rest.trim_end().strip_suffix('|')?.rsplit('|').next()?.trim();
        Some((folder.to_owned(), uses.to_owned()))
    };
    let rows: Vec<(String, String)> = text.lines().filter_map(row).collect();
    let mut findings = Vec::new();
    for known in CRATES {
        let Some((_, says)) = rows.iter().find(|(folder, _)| folder == known.folder) else {
            findings.push(format!("ARCHITECTURE.md has no row for `{}`", known.folder));
            continue;
        };
        // What stands behind a semicolon is about tests and examples.
        let says = says.split(';').next().unwrap_or_default().trim();
        let mut said: Vec<&str> = says.split(", ").filter(|name| *name != "none of ours").collect();
        let short = |name: &'static str| name.strip_prefix("parallax-").unwrap_or(name);
        let mut uses: Vec<&str> = known.uses.iter().map(|name| short(name)).collect();
        said.sort_unstable();
        uses.sort_unstable();
        if says != "anything" && said != uses {
            findings.push(format!(
                "ARCHITECTURE.md says that `{}` may use {says}; the rule says {}",
                known.folder,
                uses.join(", ")
            ));
        }
    }
    for (row, _) in rows {
        if CRATES.iter().all(|known| known.folder != row) {
            findings.push(format!("ARCHITECTURE.md has a row for `{row}`, which is no crate"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Dependency;

    #[test]
    fn the_table_has_no_cycle_and_keeps_the_browser_clean() {
        for (at, known) in CRATES.iter().enumerate() {
            for used in known.uses {
                let below = CRATES.iter().take(at).find(|below| below.name == *used);
                let below =
                    below.unwrap_or_else(|| panic!("{} uses {used}, not below", known.name));
                assert!(
                    !known.is_for_browser || below.is_for_browser,
                    "{} uses {used}",
                    known.name
                );
            }
        }
    }

    #[test]
    fn the_workspace_keeps_to_the_table() {
        let members = metadata::packages(&["--no-deps"]).unwrap();
        let mut findings = agree(&members);
        findings.extend(members.iter().flat_map(dependencies));
        findings.extend(architecture().unwrap());
        assert!(findings.is_empty(), "{findings:#?}");
    }

    #[test]
    fn a_row_that_says_something_else_is_found() {
        let text = std::fs::read_to_string(shell::root().join("ARCHITECTURE.md")).unwrap();
        let (own, other) = ("| base, formats, model |", "| base, formats, model, engine |");
        assert_eq!(text.matches(own).count(), 1);
        let found = described(&text.replace(own, other));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("`crates/import` may use"), "{found:?}");
        let found = described(&text.replace("| `crates/wire` |", "| `crates/wires` |"));
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn forbidden_dependencies_are_named() {
        let depends_on = |name: &str, is_dev| Package {
            name: "parallax-model".to_owned(),
            version: String::new(),
            license: None,
            folder: None,
            dependencies: vec![Dependency { name: name.to_owned(), is_dev }],
            binaries: Vec::new(),
        };
        assert_eq!(dependencies(&depends_on("parallax-formats", false)).len(), 1);
        assert_eq!(dependencies(&depends_on("parallax-testkit", false)).len(), 1);
        assert_eq!(dependencies(&depends_on("parallax-testkit", true)).len(), 0);
        assert_eq!(dependencies(&depends_on("serde", false)).len(), 1);
        assert_eq!(dependencies(&depends_on("parallax-base", false)).len(), 0);
    }
}
