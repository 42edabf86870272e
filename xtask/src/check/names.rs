//! Names that code no longer has: the column `not in code` of GLOSSARY.md.
//!
//! Only definitions are looked at, of types, functions, modules and fields: the same word may be
//! right in a sentence.

use super::tree::TextFile;
use super::words::{Banned, listed};

/// The heading of the column with the names that code does not have.
const COLUMN: &str = "not in code";

/// What stands before the name in a definition.
const DEFINES: [&str; 13] = [
    "struct ",
    "enum ",
    "union ",
    "trait ",
    "type ",
    "fn ",
    "mod ",
    "const ",
    "static ",
    "class ",
    "interface ",
    "function ",
    "let ",
];

/// What stands before a definition.
const MODIFIERS: [&str; 9] = [
    "pub ",
    "pub(crate) ",
    "pub(super) ",
    "export ",
    "readonly ",
    "async ",
    "unsafe ",
    "default ",
    "declare ",
];

pub(super) fn findings(files: &[TextFile], glossary: &str) -> Vec<String> {
    let banned = listed(glossary, COLUMN);
    let is_code = |file: &&TextFile| {
        ["crates/", "xtask/", "fuzz/", "web/"].iter().any(|folder| file.path.starts_with(folder))
            && file.has_extension(&["rs", "ts", "svelte"])
    };
    let mut findings = Vec::new();
    for file in files.iter().filter(is_code) {
        let name = file.path.rsplit('/').next();
        findings.extend(known(&banned, name).map(|Banned { instead, .. }| {
            format!("{}: the name of the file; write \"{instead}\"", file.path)
        }));
        for (number, line) in (1..).zip(file.text.lines()) {
            findings.extend(known(&banned, defined(line)).map(|Banned { phrase, instead }| {
                format!("{}:{number}: defines `{phrase}`; write `{instead}`", file.path)
            }));
        }
    }
    findings
}

/// The entry of a name, if it is one of those.
fn known<'b>(banned: &'b [Banned], name: Option<&str>) -> Option<&'b Banned> {
    banned.iter().find(|word| Some(word.phrase.as_str()) == name)
}

/// The name that a line defines: of a type, a function, a module, a variable or a field.
fn defined(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    while let Some(after) = MODIFIERS.iter().find_map(|word| rest.strip_prefix(word)) {
        rest = after;
    }
    let named = DEFINES.iter().find_map(|word| rest.strip_prefix(word));
    let text = named.unwrap_or(rest);
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let (name, after) = text.split_at(end);
    // A field has its type behind it, and a path two colons.
    let is_field = after.starts_with(": ");
    ((named.is_some() || is_field) && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_found_and_other_uses_of_a_word_are_not() {
        let glossary = "| name | meaning | not in code |\n|---|---|---|\n\
            | OpenExperiment | An open one. | Opened |\n| delayed_by | The cause. | holdup |\n\
            | text | | beside.rs |\n";
        let code = [
            "pub struct Opened {",
            "    pub(crate) holdup: u32,",
            "// Opened again, holdup: no.",
            "let x = Opened::new(holdup);",
            "fn opened() -> Opened {}",
            "pub(crate) struct OpenedPair;",
            "mod opened;",
            "  export interface Opened {",
            "  readonly holdup: number;",
        ]
        .join("\n");
        let file = |path: &str, text: &str| TextFile { path: path.into(), text: text.into() };
        let files = [
            file("crates/service/src/a.rs", &code),
            file("crates/service/src/beside.rs", ""),
            file("docs/a.md", "struct Opened"),
        ];
        let found = findings(&files, glossary);
        let starts: Vec<&str> = found.iter().filter_map(|text| text.split(';').next()).collect();
        assert_eq!(
            starts,
            [
                "crates/service/src/a.rs:1: defines `Opened`",
                "crates/service/src/a.rs:2: defines `holdup`",
                "crates/service/src/a.rs:8: defines `Opened`",
                "crates/service/src/a.rs:9: defines `holdup`",
                "crates/service/src/beside.rs: the name of the file",
            ]
        );
    }
}
