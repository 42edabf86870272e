//! Statements with the rows that they give, in files as sqllogictest has them.
//!
//! A file begins with `database PATH` below the fixtures; a file of measurements is an ensemble. `query` is followed by a statement, `----`
//! and its rows, columns separated by a space; `error` by a statement, `----` and a part of the
//! message. Records are separated by an empty line.

use std::fs;
use std::path::Path;

use crate::common::{fixture, rows, source, try_ask};

#[test]
fn statements_of_files_give_their_rows() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slt");
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let (first, records) = text.split_once('\n').unwrap();
        let database = source(&fixture(first.strip_prefix("database ").unwrap()));
        let records = records.split("\n\n").map(str::trim).filter(|record| !record.is_empty());
        for record in records.filter(|record| !record.starts_with('#')) {
            let (kind, rest) = record.split_once('\n').unwrap();
            let (statement, expected) = rest.split_once("----").unwrap();
            let found = try_ask(&database, statement);
            let place = file.display();
            match (kind, found) {
                ("query", Ok(table)) => {
                    let rows = rows(&table).into_iter().map(|row| row.join(" "));
                    let found = rows.collect::<Vec<_>>().join("\n");
                    assert_eq!(found, expected.trim(), "{place}: {statement}");
                }
                ("error", Err(error)) => {
                    let (found, expected) = (error.to_string(), expected.trim());
                    assert!(found.contains(expected), "{place}: {statement}: {found}");
                }
                (_, Ok(_)) => panic!("{place}: {statement}: no error"),
                (_, Err(error)) => panic!("{place}: {statement}: {error}"),
            }
        }
    }
}
