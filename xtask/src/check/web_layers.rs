//! Who may import whom in `web/src`.
//!
//! The table of layers in `web/README.md` is the rule: a folder imports from itself and from the
//! folders in the rows above its own. A view imports nothing of another view.

use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, Result};

use super::tree::{TextFile, text_files};
use crate::shell;

const SOURCES: &str = "web/src/";
const VIEWS: &str = "views";

/// Imports that go the wrong way, and folders that the table does not know.
pub(super) fn findings() -> Result<Vec<String>> {
    let text = std::fs::read_to_string(shell::root().join("web/README.md"))
        .context("cannot read web/README.md")?;
    let files: Vec<TextFile> = text_files(&["ts", "svelte"])?
        .into_iter()
        .filter(|file| file.path.starts_with(SOURCES))
        .collect();
    Ok(judge(&layers(&text), &files))
}

/// The folders of the table under `## Layers`, lowest first.
fn layers(text: &str) -> Vec<String> {
    text.lines()
        .skip_while(|line| *line != "## Layers")
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` |").map(|(name, _)| name))
        .map(str::to_owned)
        .collect()
}

fn judge(layers: &[String], files: &[TextFile]) -> Vec<String> {
    let rank = |folder: &str| layers.iter().position(|layer| layer == folder);
    let mut findings = Vec::new();
    for file in files {
        let path = Path::new(file.path.trim_start_matches(SOURCES));
        let Some(from) = FileLayer::of(path) else { continue };
        let Some(from_rank) = rank(&from.layer) else {
            findings.push(format!(
                "{}: web/README.md has no row for the folder `{}`",
                file.path, from.layer
            ));
            continue;
        };
        for (number, line) in (1..).zip(file.text.lines()) {
            for target in imports(line) {
                let Some(to) = FileLayer::of(&join(path, target)) else { continue };
                let is_upward = rank(&to.layer).is_none_or(|rank| rank > from_rank);
                let is_foreign_view =
                    from.view.is_some() && to.view.is_some() && from.view != to.view;
                if is_upward {
                    findings.push(format!(
                        "{}:{number}: `{}` may not import from `{}`",
                        file.path, from.layer, to.layer
                    ));
                } else if is_foreign_view {
                    findings.push(format!(
                        "{}:{number}: a view may not import from another view (`{target}`); what \
                         several views use belongs in a lower layer",
                        file.path
                    ));
                }
            }
        }
    }
    findings
}

/// The layer of a file, and its view if it belongs to one.
struct FileLayer {
    layer: String,
    view: Option<String>,
}

impl FileLayer {
    /// `None` of a file that is in no folder, such as the entry of the application.
    fn of(path: &Path) -> Option<Self> {
        let parts: Vec<String> =
            path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        let (layer, rest) = parts.split_first()?;
        if rest.is_empty() {
            return None;
        }
        let is_view = layer == VIEWS && rest.len() > 1;
        Some(Self { layer: layer.clone(), view: rest.first().filter(|_| is_view).cloned() })
    }
}

/// The relative paths that a line imports.
fn imports(line: &str) -> impl Iterator<Item = &str> {
    ["from \"", "import \"", "import(\""].into_iter().flat_map(move |start| {
        line.match_indices(start).filter_map(move |(at, _)| {
            let (target, _) = line.get(at + start.len()..)?.split_once('"')?;
            target.starts_with('.').then_some(target)
        })
    })
}

/// `target` as seen from the folder of `file`, without `.` and `..`.
fn join(file: &Path, target: &str) -> PathBuf {
    let mut found = file.parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir => {
                found.pop();
            }
            Component::Normal(name) => found.push(name),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let table = "## Layers\n\n| folder | what |\n|---|---|\n| `base` | x |\n| `views` | y |\n\
                     | `app` | z |\n\n## Next\n\n| `other` | not a layer |\n";
        let file = TextFile { path: format!("web/src/{path}"), text: text.to_owned() };
        judge(&layers(table), &[file])
    }

    #[test]
    fn imports_go_down_only() {
        let down = "import { a } from \"../../base/a.ts\";\nimport b from \"./b.ts\";\n";
        assert_eq!(found("views/tree/Tree.svelte", down), Vec::<String>::new());
        assert_eq!(found("main.ts", "import \"./app/App.svelte\";"), Vec::<String>::new());
        let up = found("base/a.ts", "\n} from \"../views/tree/b.ts\";");
        assert_eq!(up, ["web/src/base/a.ts:2: `base` may not import from `views`"]);
        assert_eq!(found("views/plugin.ts", "import(\"../app/x.ts\")").len(), 1);
        assert_eq!(found("base/a.ts", "import \"../other/x.ts\";").len(), 1);
        assert_eq!(found("other/a.ts", "").len(), 1);
    }

    #[test]
    fn views_do_not_know_each_other() {
        let foreign = "import { a } from \"../flame/a.ts\";";
        assert_eq!(found("views/tree/Tree.svelte", foreign).len(), 1);
        let own = "import { a } from \"../tree/a.ts\"; import { b } from \"../plugin.ts\";";
        assert_eq!(found("views/tree/Tree.svelte", own), Vec::<String>::new());
    }
}
