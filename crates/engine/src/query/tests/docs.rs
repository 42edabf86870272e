//! The reference shows only what the language accepts.

use super::super::parse_contexts;
use super::{CONTEXTS, FORMULA, METRICS, PROFILES, WINDOW};

const REFERENCE: &str = include_str!("../../../../../docs/query-language.md");

/// The code spans in the first column of the tables under a heading.
fn expressions(heading: &str) -> Vec<String> {
    let section = REFERENCE.lines().skip_while(|line| *line != heading).skip(1);
    let rows =
        section.take_while(|line| !line.starts_with('#')).filter(|line| line.starts_with('|'));
    let mut found = Vec::new();
    for row in rows {
        let row = row.replace("\\|", "\u{1}");
        let cell = row.split('|').nth(1).unwrap_or("");
        let spans = cell.split('`').skip(1).step_by(2);
        found.extend(spans.map(|span| span.replace('\u{1}', "|")));
    }
    found
}

#[test]
fn every_expression_of_the_reference_is_accepted() {
    let predicate = |text: &str| CONTEXTS(&format!("any[{text}]"));
    let sections: [(&str, super::Canonical, usize); 6] = [
        ("## Profiles", PROFILES, 12),
        ("## Contexts", CONTEXTS, 25),
        ("### Predicates", predicate, 12),
        ("## Metrics", METRICS, 12),
        ("### Formulas", FORMULA, 6),
        ("## Time windows", WINDOW, 6),
    ];
    for (heading, read, at_least) in sections {
        let found = expressions(heading);
        assert!(found.len() >= at_least, "{heading}: {found:?}");
        for expression in found {
            read(&expression).unwrap_or_else(|error| panic!("{heading}: {error}"));
        }
    }
}

#[test]
fn every_block_of_the_reference_says_what_the_parser_says() {
    let blocks = REFERENCE.split("```").skip(1).step_by(2);
    let (mut patterns, mut errors) = (0, 0);
    for block in blocks {
        let (_, text) = block.split_once('\n').unwrap_or_default();
        let text = text.trim_end();
        if text.starts_with('[') || text.starts_with("MATCH") {
            parse_contexts(text).unwrap_or_else(|error| panic!("{error}"));
            patterns += 1;
        } else {
            let expression = text.lines().nth(1).unwrap_or("").trim();
            let said = [PROFILES, METRICS].map(|read| read(expression).map_err(|e| e.to_string()));
            assert!(said.contains(&Err(text.to_owned())), "{said:?}");
            errors += 1;
        }
    }
    assert_eq!((patterns, errors), (2, 3));
}
