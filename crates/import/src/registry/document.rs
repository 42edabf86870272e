//! The table of formats in texts: README, help, the start page, errors.

use std::fmt::Write as _;

use super::{FORMATS, Format, Kind, Reader};

fn is_read(format: &&Format) -> bool {
    !matches!(format.reader, Reader::None(_))
}

/// The tools whose data are read, in the order of the table, each once.
#[must_use]
pub fn families() -> String {
    read_families().join(", ")
}

fn read_families() -> Vec<&'static str> {
    let mut out: Vec<&'static str> = Vec::new();
    for format in FORMATS.iter().filter(is_read) {
        if !out.contains(&format.family) {
            out.push(format.family);
        }
    }
    out
}

/// The table as Markdown, a row for each format.
#[must_use]
pub fn markdown() -> String {
    let mut out =
        String::from("| format | versions | kind | files | state |\n|---|---|---|---|---|\n");
    for Format { name, versions, kind, files, state, .. } in FORMATS {
        let _ = writeln!(out, "| {name} | {versions} | {} | {files} | {state} |", kind.name());
    }
    out
}

/// The formats that have traces as Markdown: what a trace consists of, and its peculiarities.
#[must_use]
pub fn traces_markdown() -> String {
    let mut out = String::from("| format | files | how it is read | notes |\n|---|---|---|---|\n");
    let has_traces =
        |format: &&Format| format.kind == Kind::Trace || !format.trace_files.is_empty();
    for Format { name, files, state, notes, .. } in
        FORMATS.iter().filter(is_read).filter(has_traces)
    {
        let _ = writeln!(out, "| {name} | {files} | {state} | {notes} |");
    }
    out
}

/// The formats that are read with their files, a line for each, for a terminal.
#[must_use]
pub fn summary() -> String {
    let rows = || FORMATS.iter().filter(is_read);
    let width = rows().map(|format| format.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for Format { name, versions, .. } in rows() {
        let _ = writeln!(out, "  {name:width$}  {}", versions.replace('`', ""));
    }
    out
}

/// The names for the start page of the application, as TypeScript.
#[must_use]
pub fn typescript() -> String {
    let mut out = String::from(
        "// Generated from the table of formats in crates/import; `cargo xtask bless` writes it.\n\n\
         /** The tools whose data are read. */\nexport const FORMATS: readonly string[] = [\n",
    );
    for family in read_families() {
        let _ = writeln!(out, "  \"{family}\",");
    }
    out.push_str(
        "];\n\n/** Every format that is read: what it is called, what it is, and its files. */\n",
    );
    out.push_str(
        "export const READ_FORMATS: readonly { readonly name: string; readonly kind: string; readonly files: string }[] = [\n",
    );
    for Format { name, kind, files, .. } in FORMATS.iter().filter(is_read) {
        let (kind, files) = (kind.name(), files.replace('`', ""));
        let _ = writeln!(out, "  {{ name: {name:?}, kind: {kind:?}, files: {files:?} }},");
    }
    out.push_str("];\n\n/** Names of the files of a folder that cannot be listed. */\n");
    out.push_str("export const FILES_OF_FOLDERS: readonly string[] = [\n");
    for format in FORMATS.iter().filter(is_read) {
        for name in format.served_names {
            let _ = writeln!(out, "  \"{name}\",");
        }
    }
    out.push_str("];\n");
    out
}
