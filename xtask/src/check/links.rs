//! Relative links in the documents: each must lead to a file, and its `#anchor` to a heading. And
//! the tests that `docs/parity.md` names: each must be there.

use std::path::{Component, Path, PathBuf};

use anyhow::Result;

use super::Outcome;
use super::tree::{TextFile, text_files};
use crate::shell;

pub(super) fn check() -> Result<Outcome> {
    let files = text_files(&["md"])?;
    let mut findings = Vec::new();
    for file in &files {
        for (number, target) in links(&file.text) {
            if let Some(what) = broken(file, &target, &files) {
                findings.push(format!("{}:{number}: `{target}` {what}", file.path));
            }
        }
    }
    if let Some(parity) = files.iter().find(|file| file.path == PARITY) {
        let read = |path: &str| std::fs::read_to_string(shell::root().join(path)).ok();
        findings.extend(without_test(&parity.text, read));
    }
    Ok(Outcome::of(findings))
}

/// The table of features, each with the test that shows it.
const PARITY: &str = "docs/parity.md";

/// Rows of the table whose test does not exist.
fn without_test(text: &str, read: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let rows = (1..).zip(text.lines()).filter(|(_, line)| line.starts_with('|'));
    let rows = rows.filter(|(_, line)| !line.starts_with("|---") && !line.starts_with("| feature"));
    rows.filter_map(|(number, line)| {
        let named = line.trim_end_matches(['|', ' ']).rsplit('|').next().unwrap_or_default();
        let problem = match named.trim().trim_matches('`').split_once("::") {
            None => "names no test as `path::name`".to_owned(),
            Some((path, name)) => match read(path) {
                None => format!("names a test in `{path}`, which is not there"),
                Some(file) if is_test(&file, name) => return None,
                Some(_) => format!("names the test `{name}`, which is not in `{path}`"),
            },
        };
        Some(format!("{PARITY}:{number}: {problem}"))
    })
    .collect()
}

/// Whether a file of Rust, Python or TypeScript has a test of this name.
fn is_test(file: &str, name: &str) -> bool {
    ["fn {}(", "def {}(", "test(\"{}\"", "test(`{}`", "it(\"{}\""]
        .iter()
        .any(|form| file.contains(&form.replace("{}", name)))
}

/// The lines outside code blocks, numbered from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Relative targets of `[text](target)`, with their line numbers.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        // Text between single backticks is code.
        let plain: String = line.split('`').step_by(2).collect();
        for part in plain.split("](").skip(1) {
            let target = part.split([')', ' ']).next().unwrap_or_default();
            let is_remote = target.contains("://") || target.starts_with("mailto:");
            if !target.is_empty() && !is_remote {
                found.push((number, target.to_owned()));
            }
        }
    }
    found
}

fn broken(file: &TextFile, target: &str, files: &[TextFile]) -> Option<&'static str> {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if path.is_empty() {
        PathBuf::from(&file.path)
    } else {
        normal(&Path::new(&file.path).parent().unwrap_or(Path::new("")).join(path))
    };
    if !shell::root().join(&path).exists() {
        return Some("leads nowhere");
    }
    let text = files.iter().find(|file| Path::new(&file.path) == path).map(|file| &file.text);
    match text {
        Some(text) if !anchor.is_empty() && !headings(text).any(|h| h == anchor) => {
            Some("names a heading that is not there")
        }
        _ => None,
    }
}

/// The anchors that a forge makes of the headings.
fn headings(text: &str) -> impl Iterator<Item = String> {
    prose(text).filter(|(_, line)| line.starts_with('#')).map(|(_, line)| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        title
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect()
    })
}

fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_a_test_that_exists_is_found() {
        let read =
            |path: &str| (path == "tests/a.rs").then(|| "#[test]\nfn it_works() {}\n".to_owned());
        let table = "| feature | where | test |\n|---|---|---|\n\
                     | a | `a` | `tests/a.rs::it_works` |\n\
                     | b | `b` | `tests/a.rs::it_works_too` |\n\
                     | c | `c` | `tests/b.rs::it_works` |\n\
                     | d | `d` | by hand |\n";
        let found = without_test(table, read);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].starts_with("docs/parity.md:4: names the test `it_works_too`"));
        assert!(found[1].contains(":5: names a test in `tests/b.rs`"));
        assert!(found[2].contains(":6: names no test"));
    }

    fn file(text: &str) -> TextFile {
        TextFile { path: "docs/adr/README.md".to_owned(), text: text.to_owned() }
    }

    #[test]
    fn links_in_prose_are_found_and_code_is_not() {
        let text = "[a](b.md) and [c](d.md#e), [w](https://x.y)\n```\n[n](o)\n```\n`[p](q)` [r](s)";
        let found: Vec<String> = links(text).into_iter().map(|(_, target)| target).collect();
        assert_eq!(found, ["b.md", "d.md#e", "s"]);
    }

    #[test]
    fn broken_links_are_told_from_good_ones() {
        let here = file("# The first heading\n");
        assert_eq!(broken(&here, "../../README.md", &[]), None);
        assert!(broken(&here, "../../nowhere.md", &[]).is_some());
        let files = [file("# The first heading\n")];
        assert_eq!(broken(&here, "#the-first-heading", &files), None);
        assert!(broken(&here, "#another", &files).is_some());
    }
}
