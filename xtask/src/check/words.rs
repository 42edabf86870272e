//! Words that users do not read: the column `not` of GLOSSARY.md.
//!
//! The list is in the glossary because that is where a writer looks up what to write, and because
//! a word and what replaces it must not part.
//!
//! Names that code no longer has are in another column; [`names`] finds them.
//!
//! What more than one surface says must name no command and no option of the tool either: the page
//! has neither. `parallax_base::Remedy` has the words for advice.

use anyhow::{Result, bail};

use super::Outcome;
use super::layers;
use super::names;
use super::tree::text_files;
use super::visible::{GAP, visible};

/// Where the words are defined.
const GLOSSARY: &str = "GLOSSARY.md";

/// The heading of the column with the words that are not used.
const COLUMN: &str = "not";

/// Options in texts of all surfaces, because they are those of other tools, or of the command lines
/// that files of PaScal Analyzer have.
const OTHERS_OPTIONS: [&str; 7] =
    ["--collect-systime", "--pack", "--rple", "--rpls", "--ipmi", "--ipts", "--outp"];

/// A word that is not used, and what to write instead.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Banned {
    /// With single spaces.
    pub(super) phrase: String,
    pub(super) instead: String,
}

pub(super) fn check() -> Result<Outcome> {
    let files = text_files(&["rs", "py", "ts", "svelte", "html", "md"])?;
    let Some(glossary) = files.iter().find(|file| file.path == GLOSSARY) else {
        bail!("{GLOSSARY} is gone, which lists the words");
    };
    let banned = banned_words(&glossary.text);
    if banned.is_empty() {
        bail!("no table of {GLOSSARY} has a column `{COLUMN}`");
    }
    let mut findings = names::findings(&files, &glossary.text);
    for file in files.iter().filter(|file| is_for_users(&file.path)) {
        let Some(text) = visible(&file.path, &file.text) else {
            continue;
        };
        for (line, word) in find(&text, &banned) {
            let Banned { phrase, instead } = word;
            findings.push(format!("{}:{line}: \"{phrase}\"; write \"{instead}\"", file.path));
        }
        if layers::is_below_surfaces(&file.path) {
            findings.extend(commands(&text).map(|(line, what)| {
                format!("{}:{line}: names {what}; write a Remedy of parallax_base", file.path)
            }));
        }
    }
    Ok(Outcome::of(findings))
}

/// Commands and options of the tool in a text, with their lines from 1.
fn commands(text: &str) -> impl Iterator<Item = (usize, String)> + '_ {
    (1..).zip(text.lines()).flat_map(|(line, text)| {
        let is_word = |c: char| c.is_ascii_lowercase() || c == '-';
        let word = move |at: usize| {
            let rest = text.get(at..).unwrap_or_default();
            rest.get(..rest.find(|c| !is_word(c)).unwrap_or(rest.len())).unwrap_or_default()
        };
        let command = text
            .match_indices("`parallax ")
            .map(|(at, start)| format!("the command `{}`", word(at + start.len())));
        let options = text.match_indices("--").filter_map(move |(at, _)| {
            let before = text.get(..at).and_then(|text| text.chars().next_back());
            let option = word(at);
            let is_option = option.len() > 3 && !option.starts_with("---");
            let is_ours = !OTHERS_OPTIONS.contains(&option);
            let is_start = !before.is_some_and(|c| c.is_alphanumeric() || c == '-');
            (is_option && is_ours && is_start).then(|| format!("the option {option}"))
        });
        command.chain(options).map(move |what| (line, what)).collect::<Vec<_>>()
    })
}

/// Whether users read texts of this file.
fn is_for_users(path: &str) -> bool {
    let is_test = ["/tests/", "/tests.rs", "/examples/"].iter().any(|part| path.contains(part));
    let is_python = path.starts_with("crates/python/python/parallax/");
    let is_crate = path.starts_with("crates/") && !path.starts_with("crates/testkit/");
    if path.ends_with(".py") {
        return is_python;
    }
    let is_page = path.starts_with("web/src/") && !path.contains("/pkg/");
    let is_document = path.starts_with("docs/") && !path.starts_with("docs/adr/");
    // What `cargo xtask demo` and the others print is the first that a stranger reads.
    let is_xtask = path.starts_with("xtask/src/");
    let is_other = ["README.md", GLOSSARY, "web/index.html"].contains(&path);
    !is_test && (is_crate || is_page || is_document || is_xtask || is_other)
}

/// The cells of a row of a Markdown table, without spaces around them.
pub(super) fn cells(line: &str) -> Option<Vec<&str>> {
    let row = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(row.split('|').map(str::trim).collect())
}

/// The words of all tables with a column `not`, in lower case.
fn banned_words(glossary: &str) -> Vec<Banned> {
    let mut found = listed(glossary, COLUMN);
    found.iter_mut().for_each(|word| word.phrase = word.phrase.to_lowercase());
    found
}

/// The words in the column `title` of all tables; the first column says what to write instead.
pub(super) fn listed(glossary: &str, title: &str) -> Vec<Banned> {
    let mut column = None;
    let mut found = Vec::new();
    for line in glossary.lines() {
        let Some(cells) = cells(line) else {
            column = None;
            continue;
        };
        let Some(at) = column else {
            column = Some(cells.iter().position(|cell| *cell == title));
            continue;
        };
        let listed = at.and_then(|at| cells.get(at)).copied().unwrap_or_default();
        for phrase in listed.split(',').map(normal).filter(|phrase| !phrase.is_empty()) {
            // A line of dashes separates the heading from the rows.
            if !phrase.starts_with("---") {
                let instead = cells.first().copied().unwrap_or_default().to_owned();
                found.push(Banned { phrase, instead });
            }
        }
    }
    found
}

fn normal(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The banned words in a text, with their lines from 1, in their order.
fn find<'a>(text: &str, banned: &'a [Banned]) -> Vec<(usize, &'a Banned)> {
    let (plain, lines) = single_spaced(text);
    let mut found = Vec::new();
    for word in banned {
        for (at, _) in plain.match_indices(&word.phrase) {
            let before = plain.get(..at).and_then(|text| text.chars().next_back());
            let after = plain.get(at + word.phrase.len()..).and_then(|text| text.chars().next());
            let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            if !is_part(before) && !is_part(after) {
                found.push((lines.get(at).copied().unwrap_or_default(), word));
            }
        }
    }
    found.sort_by_key(|(line, _)| *line);
    found
}

/// The text in lower case with one space for each run of them, and the line of each byte.
fn single_spaced(text: &str) -> (String, Vec<usize>) {
    let mut plain = String::with_capacity(text.len());
    let mut lines = Vec::with_capacity(text.len());
    for (number, line) in (1..).zip(text.lines()) {
        for c in line.chars().chain([' ']) {
            let is_space = c.is_whitespace();
            if is_space && (plain.is_empty() || plain.ends_with([' ', GAP])) {
                continue;
            }
            let before = plain.len();
            if is_space {
                plain.push(' ');
            } else {
                plain.extend(c.to_lowercase());
            }
            lines.resize(lines.len() + plain.len() - before, number);
        }
    }
    (plain, lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLES: &str = "# Words\n\n| word | meaning | not |\n|---|---|---|\n\
        | interval | A time. | stretch, stretches |\n| unknown | | Nobody knows |\n\n\
        | word | elsewhere |\n|---|---|\n| rank | node |\n";

    fn found(path: &str, text: &str) -> Vec<(usize, String)> {
        let banned = banned_words(TABLES);
        let text = visible(path, text).unwrap_or_default();
        find(&text, &banned).iter().map(|(line, word)| (*line, word.phrase.clone())).collect()
    }

    #[test]
    fn words_are_read_from_the_column_not() {
        let word = |phrase: &str, instead: &str| Banned {
            phrase: phrase.to_owned(),
            instead: instead.to_owned(),
        };
        assert_eq!(
            banned_words(TABLES),
            [
                word("stretch", "interval"),
                word("stretches", "interval"),
                word("nobody knows", "unknown"),
            ]
        );
    }

    #[test]
    fn planted_words_are_found_with_their_lines() {
        let text = "fn f() {\n    note(\"Nobody \\\n         knows, one Stretch\");\n}\n";
        assert_eq!(
            found("crates/model/src/a.rs", text),
            [(2, "nobody knows".to_owned()), (3, "stretch".to_owned())]
        );
        let text =
            "<script>\n  const a = `two ${b} stretches`;\n</script>\n<p>nobody\n  knows</p>\n";
        assert_eq!(
            found("web/src/a.svelte", text),
            [(2, "stretches".to_owned()), (4, "nobody knows".to_owned())]
        );
        assert_eq!(found("docs/a.md", "# A\nA stretch.\n"), [(2, "stretch".to_owned())]);
        let text = "stretch = \"stretch\"\n\"\"\"One stretch,\nand `stretch`.\"\"\"  # stretch\n";
        assert_eq!(found("crates/python/python/parallax/a.py", text), [(2, "stretch".to_owned())]);
    }

    #[test]
    fn names_in_code_and_parts_of_words_are_not_found() {
        let text = "fn stretch() { let key = \"stretch\"; let t = \"{stretch} outstretched a_stretch b\"; }\n";
        assert_eq!(found("crates/model/src/a.rs", text), []);
        assert_eq!(found("web/src/a.ts", "import { stretch } from \"./stretch.ts\";\n"), []);
        assert_eq!(found("web/src/a.svelte", "<p class=\"stretch b\">{stretch}</p>\n"), []);
        assert_eq!(found("docs/a.md", "A `stretch` of code.\n"), []);
        // A heading ends before the next paragraph begins, as a string does.
        assert_eq!(found("crates/model/src/a.rs", "f(\"for nobody \", \" knows it\");\n"), []);
    }

    #[test]
    fn commands_and_options_in_texts_of_all_surfaces_are_found() {
        let text = "fn f() {\n    hint(\"see `parallax user-events` without --event\");\n    \
            hint(\"paraprof --pack\");\n    note(\"a--b, --- and -- or (--hosts) -p\");\n}\n";
        let text = visible("crates/service/src/a.rs", text).unwrap();
        assert_eq!(
            commands(&text).collect::<Vec<_>>(),
            [
                (2, "the command `user-events`".to_owned()),
                (2, "the option --event".to_owned()),
                (4, "the option --hosts".to_owned()),
            ]
        );
        assert!(layers::is_below_surfaces("crates/service/src/a.rs"));
        assert!(!layers::is_below_surfaces("crates/cli/src/a.rs"));
    }

    #[test]
    fn the_glossary_may_name_what_is_not_used() {
        assert_eq!(found(GLOSSARY, TABLES), []);
        assert_eq!(found(GLOSSARY, "| a | a stretch | b |\n"), [(1, "stretch".to_owned())]);
    }

    #[test]
    fn texts_of_tests_and_tools_are_not_for_users() {
        assert!(is_for_users("crates/cli/src/args.rs"));
        assert!(is_for_users("README.md"));
        assert!(is_for_users("docs/traces.md"));
        assert!(!is_for_users("docs/adr/0001-layers-as-crates.md"));
        assert!(is_for_users("web/src/views/a.svelte"));
        assert!(!is_for_users("crates/cli/tests/golden.rs"));
        assert!(!is_for_users("crates/testkit/src/lib.rs"));
        assert!(is_for_users("crates/python/python/parallax/types.py"));
        assert!(!is_for_users("crates/python/tests/test_open.py"));
        assert!(is_for_users("xtask/src/demo.rs"));
        assert!(!is_for_users("xtask/templates/analysis/test.rs"));
        assert!(!is_for_users("web/e2e/open.spec.ts"));
    }
}
