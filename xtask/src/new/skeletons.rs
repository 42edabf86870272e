//! The files of what can be added.

use super::NewFile;
use super::edits::{Edit, InsertionPoint};
use super::name::Name;

/// Something that can be added.
pub(crate) struct Kind {
    pub(crate) word: &'static str,
    pub(crate) files: fn(&Name) -> Vec<NewFile>,
    /// What it adds to files that are there.
    pub(crate) edits: fn(&Name) -> Vec<Edit>,
    /// What to do with it.
    pub(crate) next: &'static str,
}

pub(crate) const KINDS: &[Kind] = &[
    Kind {
        word: "view",
        files: view,
        edits: |_| Vec::new(),
        next: "The registry of views finds it. `cargo xtask web page` builds it; its test is run by \
               `npm run e2e` in web/.",
    },
    Kind {
        word: "analysis",
        files: analysis,
        edits: analysis_edits,
        next: "It compiles and answers as it is. `cargo xtask bless` writes the types of the page \
               and docs/questions.md; then `cargo xtask web engine` and `cargo xtask web page` \
               build the page. Its tests are in crates/service/tests and web/e2e.",
    },
    Kind {
        word: "format",
        files: format,
        edits: format_edits,
        next: "It compiles and reads its fixture as it is. `cargo xtask bless` writes the tables of \
               formats. Its tests are in crates/formats/tests and crates/import/tests; \
               `cargo xtask fuzz` has its target.",
    },
];

fn view(name: &Name) -> Vec<NewFile> {
    let folder = format!("web/src/views/{}", name.kebab());
    vec![
        NewFile {
            path: format!("{folder}/index.ts"),
            text: include_str!("../../templates/view/index.ts.txt"),
        },
        NewFile {
            path: format!("{folder}/{}.svelte", name.pascal()),
            text: include_str!("../../templates/view/view.svelte.txt"),
        },
        NewFile {
            path: format!("web/e2e/{}.spec.ts", name.kebab()),
            text: include_str!("../../templates/view/spec.ts.txt"),
        },
    ]
}

/// Files of a skeleton: where each goes, and its template.
macro_rules! files {
    ($($path:expr => $template:literal,)*) => {
        vec![$(NewFile { path: $path, text: include_str!(concat!("../../templates/", $template)) },)*]
    };
}

fn analysis(name: &Name) -> Vec<NewFile> {
    let (snake, kebab) = (name.snake(), name.kebab());
    let view = format!("web/src/views/{kebab}");
    files![
        format!("crates/analysis/src/{snake}.rs") => "analysis/analysis.rs.txt",
        format!("crates/protocol/src/questions/{snake}.rs") => "analysis/question.rs.txt",
        format!("crates/service/src/{snake}.rs") => "analysis/service.rs.txt",
        format!("crates/service/tests/{snake}.rs") => "analysis/service_test.rs.txt",
        format!("crates/cli/src/commands/{snake}.rs") => "analysis/command.rs.txt",
        format!("docs/{kebab}.md") => "analysis/page.md.txt",
        format!("{view}/index.ts") => "analysis/index.ts.txt",
        format!("{view}/{}.svelte", name.pascal()) => "analysis/view.svelte.txt",
        format!("web/e2e/{kebab}.spec.ts") => "analysis/spec.ts.txt",
    ]
}

fn analysis_edits(name: &Name) -> Vec<Edit> {
    let (snake, pascal) = (name.snake(), name.pascal());
    let edit = |path, text, place| Edit { path, text, place };
    let module = format!("mod {snake};\n");
    let about = "Contexts and exclusive cost at each depth of the calling context tree.";
    vec![
        edit("crates/analysis/src/lib.rs", format!("pub {module}"), InsertionPoint::Module),
        edit(
            "crates/protocol/src/questions/mod.rs",
            format!("{module}pub use {snake}::*;\n"),
            InsertionPoint::Module,
        ),
        edit(
            "crates/protocol/src/questions/list.rs",
            format!("            {pascal}Request,\n"),
            InsertionPoint::Before("        }"),
        ),
        edit("crates/service/src/lib.rs", module.clone(), InsertionPoint::Module),
        edit("crates/cli/src/commands/mod.rs", module, InsertionPoint::Module),
        edit(
            "crates/cli/src/commands/list.rs",
            format!("    /// {about}\n    {pascal}({snake}::{pascal}Args) = {snake},\n"),
            InsertionPoint::Before("    /// Print a completion script"),
        ),
    ]
}

fn format(name: &Name) -> Vec<NewFile> {
    let (snake, kebab) = (name.snake(), name.kebab());
    files![
        format!("crates/formats/src/{snake}/mod.rs") => "format/reader.rs.txt",
        format!("crates/formats/src/{snake}/FORMAT.md") => "format/FORMAT.md.txt",
        format!("crates/formats/tests/{snake}.rs") => "format/reader_test.rs.txt",
        format!("crates/import/src/{snake}.rs") => "format/import.rs.txt",
        format!("crates/import/tests/{snake}.rs") => "format/import_test.rs.txt",
        format!("fuzz/fuzz_targets/{snake}.rs") => "format/fuzz.rs.txt",
        format!("fixtures/{kebab}/README.md") => "format/fixture.md.txt",
        format!("fixtures/{kebab}/sample.txt") => "format/sample.txt.txt",
    ]
}

fn format_edits(name: &Name) -> Vec<Edit> {
    let edit = |path, text: &str, place| Edit { path, text: name.fill(text), place };
    vec![
        edit("crates/formats/src/lib.rs", "pub mod __snake__;\n", InsertionPoint::Module),
        edit("crates/import/src/lib.rs", "mod __snake__;\n", InsertionPoint::Module),
        edit(
            "crates/import/src/registry/table.rs",
            include_str!("../../templates/format/row.rs.txt"),
            InsertionPoint::Before("    // Measurements:"),
        ),
        edit(
            "fuzz/Cargo.toml",
            include_str!("../../templates/format/bin.toml.txt"),
            InsertionPoint::AfterLast("bench = false"),
        ),
        edit(
            "fuzz/README.md",
            "| `__snake__` | __Title__, also as an experiment | finite times; the tree |\n",
            InsertionPoint::Before("| `archive`"),
        ),
        edit(
            "fixtures/README.md",
            "- [__kebab__](__kebab__/README.md): three call paths, written by hand.\n",
            InsertionPoint::AfterLast("- ["),
        ),
    ]
}
