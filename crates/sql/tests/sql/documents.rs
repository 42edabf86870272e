//! The examples of the manual run, and it has every table.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use parallax_sql::SqlSource;
use parallax_testkit::needs;

use crate::common::{ask, ensemble, fixture, rows, source, try_ask};

/// The statements of a document: blocks of SQL.
fn examples(text: &str) -> Vec<String> {
    let blocks = text.split("```sql\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

/// The manual.
fn manual() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sql.md");
    std::fs::read_to_string(path).unwrap()
}

/// Databases and ensembles that together have all tables.
fn databases() -> Option<[SqlSource; 7]> {
    let trace = needs::corpus_path("data/reactor/otf2-p4")?;
    Some([
        source(&fixture("reactor/hybrid-n1024-p2x2")),
        source(&trace),
        source(&fixture("otf2/all-records")),
        source(&fixture("measured")),
        source(&fixture("reactor-tau/p4")),
        ensemble(&[1, 2, 4, 8].map(|ranks| fixture(&format!("reactor/n1024-p{ranks}")))),
        source(&fixture("pascal/solver-v1.json")),
    ])
}

/// The words in backquotes outside of parentheses.
fn words(text: &str) -> Vec<&str> {
    let outside: Vec<&str> = text
        .split('(')
        .enumerate()
        .filter_map(|(at, part)| match at {
            0 => Some(part),
            _ => part.split_once(')').map(|(_, behind)| behind),
        })
        .collect();
    outside.into_iter().flat_map(|part| part.split('`').skip(1).step_by(2)).collect()
}

#[test]
fn the_manual_has_every_table_and_the_columns_that_it_names() {
    let manual = manual();
    let Some(databases) = databases() else { return };
    let mut documented: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for row in manual.lines() {
        let cells: Vec<&str> = row.split(" | ").collect();
        if let [name, _, columns] = cells[..]
            && let Some(name) = name.strip_prefix("| `").and_then(|name| name.strip_suffix('`'))
        {
            documented.entry(name).or_default().extend(words(columns));
        }
    }
    let mut there: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for database in &databases {
        let columns = "SELECT table_name, column_name FROM information_schema.columns
                       WHERE table_schema = 'public'";
        for row in rows(&ask(database, columns)) {
            there.entry(row[0].clone()).or_default().insert(row[1].clone());
        }
    }
    let names: BTreeSet<&str> = there.keys().map(String::as_str).collect();
    assert_eq!(documented.keys().copied().collect::<BTreeSet<_>>(), names);
    for (table, columns) in documented {
        for column in columns {
            assert!(there[table].contains(column), "{table} has no {column}: {:?}", there[table]);
        }
    }
}

#[test]
fn every_example_has_rows() {
    let examples = examples(&manual());
    assert!(examples.len() >= 10, "{}", examples.len());
    let Some(databases) = databases() else { return };
    for example in examples {
        let found = databases.iter().map(|database| try_ask(database, &example));
        let found: Vec<_> = found.collect();
        let has_rows = found.iter().flatten().any(|table| table.num_rows() > 0);
        let why: Vec<String> = found
            .iter()
            .map(|found| match found {
                Ok(table) => format!("{} rows", table.num_rows()),
                Err(error) => error.to_string(),
            })
            .collect();
        assert!(has_rows, "{example}\n{why:?}");
    }
}

/// The examples of the manual with their titles, as the page offers them.
fn typescript(manual: &str) -> String {
    let section = manual.split("\n## Examples\n").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let mut out = String::from(
        "// Generated from docs/sql.md; `cargo xtask bless` writes it.\n\n\
         /** A statement and what it is about. */\n\
         export interface SqlExample {\n  readonly title: string;\n  readonly statement: string;\n}\n\n\
         /** The examples of the manual. */\n\
         export const SQL_EXAMPLES: readonly SqlExample[] = [\n",
    );
    let mut title = "";
    for part in section.split("```") {
        if let Some(statement) = part.strip_prefix("sql\n") {
            let text = |text: &str| serde_json::to_string(text).unwrap();
            let statement = text(statement.trim_end());
            out += &format!("  {{ title: {}, statement: {statement} }},\n", text(title));
        } else {
            title = part.trim().lines().last().unwrap_or_default().trim_end_matches(':');
        }
    }
    out + "];\n"
}

#[test]
fn the_page_offers_the_examples_of_the_manual() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src/wire/sql-examples.ts");
    let expected = typescript(&manual());
    assert_eq!(expected.matches("statement: \"").count(), examples(&manual()).len());
    if std::env::var_os("PARALLAX_BLESS").is_some() {
        std::fs::write(kept, expected).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(kept).unwrap();
    assert!(kept == expected, "web/src/wire/sql-examples.ts is old; `cargo xtask bless` writes it");
}
