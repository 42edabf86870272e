//! The examples of the documents run.

use std::path::Path;

use parallax_testkit::needs;

use crate::common::{ensemble, fixture, source, try_ask};

/// The statements of a document: blocks of SQL.
fn examples(text: &str) -> Vec<String> {
    let blocks = text.split("```sql\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn every_example_has_rows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sql.md");
    let examples = examples(&std::fs::read_to_string(path).unwrap());
    assert!(examples.len() >= 10, "{}", examples.len());
    let Some(trace) = needs::corpus_path("data/reactor/otf2-p4") else { return };
    let databases = [
        source(&fixture("reactor/hybrid-n1024-p2x2")),
        source(&trace),
        source(&fixture("otf2/all-records")),
        source(&fixture("measured")),
        ensemble(&[1, 2, 4, 8].map(|ranks| fixture(&format!("reactor/n1024-p{ranks}")))),
        source(&fixture("pascal/solver-v1.json")),
    ];
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
