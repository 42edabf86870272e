//! The tables of recordings of single calls, and subtrees of contexts.

use crate::common::{ask, fixture, opened, rows, try_ask};

#[test]
fn activations_and_accesses_are_those_of_the_questions() {
    let recording = opened(&fixture("measured"));
    let counted = "SELECT kind, count(*) FROM activations GROUP BY kind ORDER BY 1";
    let entities = "SELECT CASE kind WHEN 'loop' THEN 'loop execution' ELSE kind END AS k, count(*)
                    FROM entities(kind => 'activation') GROUP BY k ORDER BY 1";
    let found = rows(&ask(&recording, counted));
    assert!(found.len() > 1, "{found:?}");
    assert_eq!(found, rows(&ask(&recording, entities)));
    let sums = "SELECT reference, sum(reads), sum(writes) FROM accesses
                JOIN \"references\" USING (reference_id) GROUP BY reference ORDER BY 1";
    let question = "SELECT reference, sum(reads), sum(writes) FROM references()
                    GROUP BY reference ORDER BY 1";
    let found = rows(&ask(&recording, sums));
    assert!(!found.is_empty());
    assert_eq!(found, rows(&ask(&recording, question)));
    // A part is what a filter of all of it gives.
    for (part, all) in [
        ("activation_id BETWEEN 2 AND 4", "activation_id + 0 BETWEEN 2 AND 4"),
        ("activation_id > 3", "activation_id + 0 > 3"),
        ("activation_id = 100000000", "false"),
        ("activation_id IN (1, 5)", "activation_id + 0 IN (1, 5)"),
    ] {
        for table in ["activations", "accesses"] {
            let rows_where = |condition: &str| {
                rows(&ask(&recording, &format!("SELECT * FROM {table} WHERE {condition}")))
            };
            assert_eq!(rows_where(part), rows_where(all), "{table} {part}");
        }
    }
    let plan = rows(&ask(&recording, "EXPLAIN SELECT * FROM activations WHERE activation_id = 3"));
    assert!(plan.concat().concat().contains("read=[activation_id=3]"), "{plan:?}");
}

#[test]
fn a_subtree_is_a_context_and_its_descendants() {
    let profile = opened(&fixture("reactor/n1024-p2"));
    let tree = profile.session().tree();
    for context in tree.iter().step_by(11) {
        let id = tree.source_id(context);
        let subtree = format!("SELECT * FROM subtree({id}) ORDER BY position");
        let filtered = format!(
            "SELECT * FROM contexts WHERE context_id = {id} OR is_descendant(context_id, {id})
             ORDER BY position"
        );
        assert_eq!(rows(&ask(&profile, &subtree)), rows(&ask(&profile, &filtered)), "{id}");
    }
    // Its ids choose what is read of the values.
    let plan = "EXPLAIN SELECT sum(value) FROM values JOIN subtree(2) USING (context_id)";
    let plan = rows(&ask(&profile, plan)).concat().concat();
    assert!(plan.contains("narrowed_by"), "{plan}");
    for (statement, expected) in [
        ("SELECT * FROM subtree(4000000)", "there is no context 4000000"),
        ("SELECT * FROM subtree()", "write subtree(context_id)"),
        ("SELECT * FROM subtree(context => 5)", "write subtree(context_id)"),
        ("SELECT * FROM activations", "needs a recording of calls"),
    ] {
        let error = try_ask(&profile, statement).unwrap_err().to_string();
        assert!(error.contains(expected), "{statement}: {error}");
    }
}
