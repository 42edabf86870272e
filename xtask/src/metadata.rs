//! The workspace and its dependencies as `cargo metadata` tells them.

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::shell;

/// One package of the dependency graph.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// The SPDX expression of the manifest; `None` when there is none.
    pub(crate) license: Option<String>,
    /// Relative to the repository root, for members of the workspace only.
    pub(crate) folder: Option<String>,
    pub(crate) dependencies: Vec<Dependency>,
    /// Names of the binaries.
    pub(crate) binaries: Vec<String>,
}

/// One line of a `[dependencies]`, `[dev-dependencies]` or `[build-dependencies]` table.
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) is_dev: bool,
}

/// Every package in the graph, members of the workspace first.
pub(crate) fn packages(extra: &[&str]) -> Result<Vec<Package>> {
    let mut words = vec!["metadata", "--format-version", "1"];
    words.extend(extra);
    let text = shell::output(shell::cargo(&words))
        .context("`cargo metadata` failed; run it by hand to see why")?;
    let root: Value = serde_json::from_str(&text)?;
    let members: Vec<&str> =
        list(&root, "workspace_members").iter().filter_map(Value::as_str).collect();
    let top = format!("{}/", root["workspace_root"].as_str().unwrap_or_default());

    let mut packages: Vec<Package> = list(&root, "packages")
        .iter()
        .map(|package| {
            let is_member = package["id"].as_str().is_some_and(|id| members.contains(&id));
            let manifest = package["manifest_path"].as_str().unwrap_or_default();
            let folder =
                manifest.strip_prefix(&top).and_then(|path| path.strip_suffix("/Cargo.toml"));
            Package {
                name: text_of(package, "name"),
                version: text_of(package, "version"),
                license: package["license"].as_str().map(str::to_owned),
                folder: folder.filter(|_| is_member).map(str::to_owned),
                dependencies: list(package, "dependencies")
                    .iter()
                    .map(|dependency| Dependency {
                        name: text_of(dependency, "name"),
                        is_dev: dependency["kind"].as_str() == Some("dev"),
                    })
                    .collect(),
                binaries: list(package, "targets")
                    .iter()
                    .filter(|target| list(target, "kind").iter().any(|kind| kind == "bin"))
                    .map(|target| text_of(target, "name"))
                    .collect(),
            }
        })
        .collect();
    packages.sort_by(|a, b| {
        (a.folder.is_none(), &a.name, &a.version).cmp(&(b.folder.is_none(), &b.name, &b.version))
    });
    Ok(packages)
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn text_of(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}
