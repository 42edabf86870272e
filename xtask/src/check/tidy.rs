//! Small rules that no compiler knows.

use anyhow::Result;

use super::Outcome;
use super::tree::{TextFile, text_files};

/// A file above this is hard to read in one sitting.
const MAX_LINES: usize = 800;

/// Files that are longer than [`MAX_LINES`] all the same, with the length they may not exceed.
/// The numbers may only fall; an entry goes when its file is short enough.
const LONG_FILES: &[(&str, usize)] = &[];

/// The only places that may hold unsafe code: what maps files into memory, and what has kernels
/// compiled without bounds checks.
const UNSAFE_PLACES: [&str; 2] = ["crates/native/", "crates/gpu/src/device.rs"];

const COMMENT_MARKS: &[&str] = &["//", "/*", "<!--", "#"];

pub(super) fn check() -> Result<Outcome> {
    let files = text_files(&["rs", "toml", "md", "sh", "py", "ts", "svelte", "css", "html"])?;
    let mut findings = Vec::new();
    for file in &files {
        findings.extend(long_file(file, LONG_FILES));
        for (number, line) in (1..).zip(file.text.lines()) {
            let found = open_note(line).or_else(|| rust_rule(file, line));
            findings.extend(found.map(|what| format!("{}:{number}: {what}", file.path)));
        }
    }
    for (path, _) in LONG_FILES {
        if files.iter().all(|file| file.path != *path) {
            findings.push(format!("{path}: listed as a long file, but it is gone"));
        }
    }
    Ok(Outcome::of(findings))
}

/// Compares the length of a file with what it may have.
fn long_file(file: &TextFile, listed: &[(&str, usize)]) -> Option<String> {
    if !file.has_extension(&["rs", "py", "ts", "svelte", "sh"]) {
        return None;
    }
    // A generated file is not read in one sitting, and must not be edited.
    let first = file.text.lines().next().unwrap_or_default();
    if ["// Generated from ", "# Generated from "].iter().any(|how| first.starts_with(how)) {
        return None;
    }
    let lines = file.text.lines().count();
    let path = &file.path;
    match listed.iter().find(|(listed, _)| listed == path) {
        None if lines > MAX_LINES => {
            Some(format!("{path}: {lines} lines; split it (a file may have {MAX_LINES})"))
        }
        Some((_, most)) if lines > *most => {
            Some(format!("{path}: grew from {most} to {lines} lines; it may only shrink"))
        }
        Some((_, most)) if lines < *most => {
            Some(format!("{path}: shrank to {lines} lines; lower its number in xtask, well done"))
        }
        _ => None,
    }
}

/// A note to self in a comment that names no issue. `TODO(#12)` is fine.
fn open_note(line: &str) -> Option<String> {
    let comment = COMMENT_MARKS.iter().filter_map(|mark| line.find(mark)).min()?;
    let comment = line.get(comment..)?;
    for word in ["TODO", "FIXME", "XXX"] {
        for (at, _) in comment.match_indices(word) {
            let before = comment.get(..at).and_then(|text| text.chars().next_back());
            let after = comment.get(at + word.len()..).unwrap_or_default();
            // Quoted, it is talked about and not left behind.
            let is_quoted = before.is_some_and(|c| matches!(c, '`' | '"' | '\''));
            let is_part = before.is_some_and(char::is_alphanumeric)
                || after.chars().next().is_some_and(char::is_alphanumeric);
            if !is_quoted && !is_part && !after.starts_with("(#") {
                return Some(format!("{word} without an issue; write {word}(#N) or do it now"));
            }
        }
    }
    None
}

fn rust_rule(file: &TextFile, line: &str) -> Option<String> {
    if !file.has_extension(&["rs"]) {
        return None;
    }
    let code = line.trim_start();
    if code.starts_with("#[ignore") {
        return Some("an ignored test proves nothing; repair or remove it".to_owned());
    }
    // A test may do what a library may not: it fails alone, on a developer's machine.
    let is_test = file.path.contains("/tests/");
    let loosens = ["allow(", "expect("]
        .iter()
        .any(|how| code.starts_with("#") && code.contains(&format!("{how}unsafe_code")));
    if loosens && !is_test && !UNSAFE_PLACES.iter().any(|place| file.path.starts_with(place)) {
        return Some(format!("unsafe code belongs in {} only", UNSAFE_PLACES.join(" and ")));
    }
    if code.starts_with("#![allow(") && !is_test {
        return Some(
            "a lint is silenced for a whole crate; use `expect` with a reason on the item".into(),
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, lines: usize) -> TextFile {
        TextFile { path: path.to_owned(), text: "x\n".repeat(lines) }
    }

    #[test]
    fn notes_need_an_issue() {
        let note = ["TO", "DO"].concat();
        assert!(open_note(&format!("let x = 1; // {note}: later")).is_some());
        assert!(open_note(&format!("# {note} later")).is_some());
        assert!(open_note(&format!("// {note}(#12): later")).is_none());
        assert!(open_note(&format!("// the writer says `{note} database description`")).is_none());
        assert!(open_note(&format!("let text = \"{note}\";")).is_none());
    }

    #[test]
    fn long_files_may_only_shrink() {
        let listed = [("a.rs", 900)];
        assert!(long_file(&file("a.rs", 901), &listed).is_some_and(|f| f.contains("grew")));
        assert!(long_file(&file("a.rs", 899), &listed).is_some_and(|f| f.contains("shrank")));
        assert!(long_file(&file("a.rs", 900), &listed).is_none());
        assert!(long_file(&file("b.rs", 801), &listed).is_some());
        assert!(long_file(&file("b.rs", 800), &listed).is_none());
        assert!(long_file(&file("b.md", 5000), &listed).is_none());
        let text = format!("// Generated from crates/x by a tool.\n{}", "x\n".repeat(900));
        let generated = TextFile { path: "c.ts".to_owned(), text };
        assert!(long_file(&generated, &listed).is_none());
    }

    #[test]
    fn rust_rules_see_what_they_forbid() {
        let rust = file("crates/model/src/a.rs", 1);
        let ignored = ["#[ig", "nore]"].concat();
        assert!(rust_rule(&rust, &format!("    {ignored}")).is_some());
        assert!(rust_rule(&rust, "#[allow(unsafe_code)]").is_some());
        assert!(rust_rule(&file("crates/native/src/a.rs", 1), "#[expect(unsafe_code)]").is_none());
    }
}
