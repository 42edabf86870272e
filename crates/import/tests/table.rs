//! Texts that list formats say what the table of formats says.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::path::PathBuf;

use parallax_import::{markdown, traces_markdown, typescript};

fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// With `PARALLAX_BLESS` set, the file is written instead.
fn compare(path: &str, expected: &str) {
    let file = root().join(path);
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    if kept != expected && std::env::var_os("PARALLAX_BLESS").is_some() {
        std::fs::write(&file, expected).unwrap();
        return;
    }
    assert!(kept == expected, "{path} is old; `cargo xtask bless` writes it");
}

/// The text with what lies between its marks replaced.
fn between(text: &str, new: &str) -> String {
    const BEGIN: &str = "<!-- formats: generated from crates/import/src/registry/table.rs -->\n\n";
    const END: &str = "\n<!-- end of formats -->";
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    format!("{before}{BEGIN}{new}{END}{after}")
}

#[test]
fn the_table_of_the_readme_is_current() {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    compare("README.md", &between(&text, &markdown()));
}

#[test]
fn the_table_of_traces_is_current() {
    let text = std::fs::read_to_string(root().join("docs/traces.md")).unwrap();
    compare("docs/traces.md", &between(&text, &traces_markdown()));
}

#[test]
fn the_names_of_the_start_page_are_current() {
    compare("web/src/wire/formats.ts", &typescript());
}
