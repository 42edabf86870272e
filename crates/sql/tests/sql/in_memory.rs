//! Statements over tables that are in memory give what they give from the files.

use std::sync::Arc;

use parallax_base::Control;
use parallax_protocol::Table;
use parallax_service::OpenExperiment;
use parallax_sql::{SqlAnswer, SqlError, SqlLimits, SqlSession, SqlStatement};
use parallax_testkit::hpctoolkit::generate::{GenerateOptions, generate};

use crate::common::{fixture, opened, rows};

/// Whether the rows come in an order.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Order {
    /// In that of the table, or of all columns.
    Whole,
    /// In that of the first column; of rows that are equal there in any.
    First,
    Any,
}

/// What is asked of a table of `profile_id`, `context_id`, `start_ns` and `end_ns`.
const STATEMENTS: &[(&str, Order)] = &[
    // Counts, and first rows.
    ("SELECT count(*) FROM {table} AS t WHERE end_ns - start_ns > 2000 AND context_id <> 0", Order::Any),
    ("SELECT count(*) FROM {table} AS t WHERE end_ns - start_ns > 2000", Order::Any),
    ("SELECT profile_id, start_ns FROM {table} AS t ORDER BY end_ns - start_ns DESC, profile_id, start_ns LIMIT 30", Order::Any),
    ("SELECT end_ns, start_ns FROM {table} AS t WHERE context_id > 2 ORDER BY end_ns, start_ns LIMIT 500", Order::Whole),
    // Groups. Of a variance DataFusion has as many digits as its steps leave.
    ("SELECT context_id, count(*), sum(d), min(d), max(d), avg(d), round(ln(1 + var_pop(d)), 6) FROM
      (SELECT context_id, end_ns - start_ns AS d FROM {table} AS t) AS s GROUP BY context_id", Order::Any),
    ("SELECT profile_id, context_id, count(*) AS n FROM {table} AS t GROUP BY profile_id, context_id", Order::Any),
    ("SELECT context_id, profile_id, max(end_ns) FROM {table} AS t WHERE profile_id > 3 GROUP BY 1, 2", Order::Any),
    ("SELECT profile_id, sum(context_id), avg(context_id), round(ln(1 + stddev_pop(context_id)), 6),
      min(context_id), max(context_id) FROM {table} AS t WHERE context_id > 2 GROUP BY profile_id", Order::Any),
    ("SELECT context_id, count(end_ns), sum(-d), min(-d), avg(d) - min(d) FROM
      (SELECT context_id, end_ns, CAST((end_ns - start_ns) % 1000 AS BIGINT) AS d FROM {table} AS t
       WHERE profile_id <> 1) AS s GROUP BY context_id HAVING count(*) > 2
      ORDER BY context_id DESC LIMIT 7", Order::Whole),
    (
        "SELECT profile_id, context_id, count(*) FROM {table} AS t
         GROUP BY context_id, profile_id ORDER BY profile_id",
        Order::First,
    ),
    // Absent values, values that a real number cannot have, and sums that are too large.
    ("SELECT context_id, count(v), sum(v), min(v), avg(v) FROM
      (SELECT context_id, CASE WHEN profile_id % 3 = 1 THEN NULL ELSE end_ns - start_ns END AS v
       FROM {table} AS t) AS s GROUP BY context_id", Order::Any),
    ("SELECT context_id, min(v), max(v), sum(v) FROM
      (SELECT context_id, 9223372036854775807 - profile_id AS v FROM {table} AS t) AS s GROUP BY context_id",
     Order::Any),
    ("SELECT context_id % 7 AS k, count(*) FROM {table} AS t GROUP BY k", Order::Any),
    ("SELECT context_id, count(DISTINCT profile_id), count(*) FILTER (WHERE profile_id = 2) FROM {table} AS t
      GROUP BY context_id", Order::Any),
    ("SELECT context_id, count(*) FROM {table} AS t WHERE profile_id < 0 GROUP BY context_id", Order::Any),
    ("SELECT context_id, count(*) FROM {table} AS t WHERE end_ns < start_ns GROUP BY context_id", Order::Any),
    ("SELECT count(*), sum(n) FROM (SELECT context_id, count(*) AS n FROM {table} AS t GROUP BY context_id) s",
     Order::Whole),
    ("SELECT a.context_id, a.n, b.n FROM (SELECT context_id, count(*) AS n FROM {table} AS t GROUP BY 1) a
      JOIN (SELECT context_id, max(profile_id) AS n FROM {table} AS t GROUP BY 1) b USING (context_id)",
     Order::Any),
    // Conditions and columns.
    ("SELECT * FROM {table} AS t", Order::Whole),
    ("SELECT end_ns, profile_id FROM {table} AS t", Order::Whole),
    ("SELECT end_ns - start_ns AS d, context_id, 5 AS five FROM {table} AS t", Order::Whole),
    ("SELECT * FROM {table} AS t WHERE end_ns - start_ns >= 4000", Order::Whole),
    ("SELECT context_id * 2 AS double, start_ns FROM {table} AS t WHERE (end_ns - start_ns) % 3 = 1
      AND context_id > 5", Order::Whole),
    ("SELECT * FROM {table} AS t WHERE end_ns < start_ns", Order::Whole),
    ("SELECT *, path(context_id) AS path FROM {table} AS t WHERE context_id % 50 = 1 AND profile_id = 2",
     Order::Whole),
    ("SELECT * FROM {table} AS t WHERE nullif(context_id, 3) % 4 = 1", Order::Whole),
    ("SELECT * FROM {table} AS t WHERE end_ns - start_ns > (SELECT avg(end_ns - start_ns) FROM {table} AS t)", Order::Whole),
    ("SELECT * FROM {table} AS t WHERE end_ns - start_ns >= 4000 LIMIT 5", Order::Whole),
    ("SELECT count(*), min(start_ns) FROM {table} AS t WHERE end_ns - start_ns >= 4000", Order::Whole),
    ("SELECT * FROM {table} AS t WHERE profile_id IN (1, 3) AND context_id < 9", Order::Whole),
    // Ranges of numbers, and what is no such range.
    ("SELECT * FROM {table} AS t WHERE end_ns - start_ns BETWEEN 2000 AND 6000 AND context_id > 7", Order::Whole),
    ("SELECT start_ns FROM {table} AS t WHERE context_id <= 9 AND end_ns - start_ns < 9000
      AND 3 < context_id", Order::Whole),
    ("SELECT end_ns, end_ns - start_ns AS d FROM {table} AS t WHERE end_ns - start_ns = 4000
      OR context_id = 5", Order::Whole),
    ("SELECT * FROM {table} AS t WHERE context_id > -1 AND context_id < 5000000000", Order::Whole),
    ("SELECT * FROM {table} AS t WHERE context_id > 5000000000", Order::Whole),
    ("SELECT * FROM {table} AS t WHERE end_ns - start_ns > 9223372036854775807", Order::Whole),
    ("SELECT * FROM {table} AS t WHERE end_ns - start_ns > NULL", Order::Whole),
    ("SELECT * FROM {table} AS t WHERE context_id <> 5 AND end_ns > start_ns", Order::Whole),
    ("SELECT * FROM {table} AS t WHERE end_ns - start_ns > 4000.5", Order::Whole),
    ("SELECT context_id > 5 AS large, nullif(context_id, 5) AS k FROM {table} AS t WHERE context_id > 3",
     Order::Whole),
    // Order.
    ("SELECT start_ns, profile_id, context_id, end_ns FROM {table} AS t ORDER BY start_ns", Order::First),
    ("SELECT start_ns, profile_id, context_id, end_ns FROM {table} AS t ORDER BY start_ns DESC", Order::First),
    ("SELECT * FROM {table} AS t ORDER BY context_id DESC, start_ns, profile_id DESC", Order::Whole),
    ("SELECT end_ns - start_ns AS d, * FROM {table} AS t WHERE context_id > 3 ORDER BY d DESC", Order::First),
    ("SELECT *, nullif(context_id, 5) AS k FROM {table} AS t ORDER BY k, start_ns, profile_id", Order::Whole),
    ("SELECT *, path(context_id) AS p FROM {table} AS t WHERE profile_id < 3 ORDER BY p, start_ns, profile_id",
     Order::Whole),
    ("SELECT 1 AS one, start_ns FROM {table} AS t ORDER BY one", Order::First),
    ("SELECT * FROM {table} AS t ORDER BY start_ns, profile_id LIMIT 9", Order::Whole),
    ("SELECT * FROM {table} AS t WHERE end_ns < start_ns ORDER BY start_ns", Order::Whole),
    ("SELECT * FROM {table} AS t ORDER BY profile_id, start_ns", Order::Whole),
    ("SELECT profile_id, start_ns, sum(end_ns - start_ns) OVER
      (PARTITION BY profile_id ORDER BY start_ns) AS so_far FROM {table} AS t", Order::Any),
    // Merges: with all, with some, with several, with texts, and with none.
    ("SELECT t.*, c.parent_id, c.depth, c.position FROM {table} AS t JOIN contexts AS c USING (context_id)",
     Order::Any),
    ("SELECT c.position, t.start_ns FROM {table} AS t JOIN contexts AS c ON t.context_id = c.context_id
      WHERE c.depth > 2", Order::Any),
    ("SELECT c.depth, t.context_id FROM contexts AS c JOIN {table} AS t USING (context_id)
      WHERE c.depth > 2 AND (t.end_ns - t.start_ns) % 2 = 0", Order::Any),
    ("SELECT c.name, t.start_ns FROM {table} AS t JOIN contexts AS c USING (context_id)", Order::Any),
    ("SELECT c.context_id, t.start_ns FROM {table} AS t JOIN contexts AS c ON t.context_id = c.depth", Order::Any),
    ("SELECT t.start_ns, c.depth FROM {table} AS t JOIN contexts AS c ON t.context_id = c.context_id
      WHERE c.depth < 0", Order::Any),
    ("SELECT t.start_ns, l.location FROM {table} AS t JOIN locations AS l USING (profile_id)", Order::Any),
    ("SELECT t.start_ns, c.depth FROM {table} AS t LEFT JOIN (SELECT * FROM contexts WHERE depth > 2) AS c
      USING (context_id)", Order::Any),
    ("SELECT name, count(*), sum(end_ns - start_ns) FROM {table} AS t JOIN contexts USING (context_id)
      GROUP BY name", Order::Any),
    // Others.
    ("SELECT a.start_ns, count(*) FROM {table} AS a JOIN {table} AS b ON a.start_ns = b.end_ns GROUP BY 1",
     Order::Any),
    ("SELECT * FROM {table} AS t WHERE profile_id = 1 UNION ALL SELECT * FROM {table} AS t WHERE profile_id = 2", Order::Any),
    ("SELECT DISTINCT context_id FROM {table} AS t", Order::Any),
];

/// A database with so many samples.
fn traced(ranks: u32, samples: u32) -> (tempfile::TempDir, Arc<OpenExperiment>) {
    let folder = tempfile::tempdir().unwrap();
    let options = GenerateOptions {
        ranks,
        contexts: 400,
        values_per_rank: 40,
        trace_samples: samples,
        elided: false,
        ..GenerateOptions::default()
    };
    generate(folder.path(), &options, |_, _, _| ()).unwrap();
    let experiment = opened(folder.path());
    (folder, experiment)
}

fn run(session: &SqlSession, statement: &str) -> SqlAnswer {
    let parsed = SqlStatement::only(statement).unwrap();
    session.run(parsed, &Control::new()).unwrap_or_else(|error| panic!("{error}\n{statement}"))
}

fn with_limits(opened: &Arc<OpenExperiment>, limits: SqlLimits) -> SqlSession {
    SqlSession::new(Arc::clone(opened), limits).unwrap()
}

/// A session that keeps so many bytes.
fn keeping(opened: &Arc<OpenExperiment>, bytes: u64) -> SqlSession {
    with_limits(opened, SqlLimits { kept_bytes: Some(bytes), ..SqlLimits::default() })
}

/// The rows, in an order that does not depend on who computed them.
fn comparable(table: &Table, order: Order) -> Vec<Vec<String>> {
    let mut found = rows(table);
    if order != Order::Whole {
        found.sort_unstable();
    }
    found
}

/// Compares all statements about a table, from files and from memory.
fn compare(opened: &Arc<OpenExperiment>, table: &str) {
    let (from_files, kept) = (keeping(opened, 0), keeping(opened, 1 << 30));
    let mut in_memory = 0;
    for (statement, order) in STATEMENTS {
        let statement = statement.replace("{table}", table);
        let expected = run(&from_files, &statement);
        assert!(expected.from_memory.is_empty(), "{statement}");
        let again = keeping(opened, 1 << 30);
        for (session, times) in [(&again, 3), (&kept, 2)] {
            for time in 0..times {
                let found = run(session, &statement);
                in_memory += usize::from(!found.from_memory.is_empty());
                let names = |table: &Table| -> Vec<(String, String)> {
                    let columns = table.columns.iter();
                    columns.map(|column| (column.name.clone(), column.unit.clone())).collect()
                };
                assert_eq!(names(&found.table), names(&expected.table), "{statement}");
                let (a, b) =
                    (comparable(&found.table, *order), comparable(&expected.table, *order));
                assert!(a == b, "{time}: {} and {} rows\n{statement}", a.len(), b.len());
                if *order == Order::First {
                    // Nothing is in another order where keys differ.
                    let first = |table: &Table| -> Vec<String> {
                        rows(table).into_iter().map(|row| row[0].clone()).collect()
                    };
                    assert!(first(&found.table) == first(&expected.table), "{statement}");
                }
            }
        }
    }
    assert!(in_memory > STATEMENTS.len() * 2, "{in_memory} answers from memory");
}

#[test]
fn statements_about_samples_are_the_same_from_memory() {
    let (_folder, opened) = traced(14, 1500);
    compare(&opened, "samples");
}

#[test]
fn statements_about_calls_are_the_same_from_memory() {
    let opened = opened(&fixture("otf2/all-records"));
    compare(&opened, "trace_events");
}

#[test]
fn rows_with_equal_keys_keep_the_order_of_the_table() {
    let (_folder, opened) = traced(14, 1500);
    let session = keeping(&opened, 1 << 30);
    let whole = rows(&run(&session, "SELECT * FROM samples").table);
    for (order, is_descending) in [("context_id", false), ("context_id DESC", true)] {
        let sorted = run(&session, &format!("SELECT * FROM samples ORDER BY {order}"));
        let mut expected = whole.clone();
        expected.sort_by_key(|row| {
            let context = row[1].parse::<i64>().unwrap();
            if is_descending { -context } else { context }
        });
        assert!(rows(&sorted.table) == expected, "{order}");
    }
}

#[test]
fn rows_that_are_only_filtered_keep_the_order_of_the_table() {
    let (_folder, opened) = traced(14, 15_000);
    // Several batches, and few enough rows for one part.
    let session = keeping(&opened, 0);
    let whole = rows(&run(&session, "SELECT * FROM samples").table);
    let long = |row: &Vec<String>| {
        let [start, end] = [2, 3].map(|at: usize| row[at].parse::<i64>().unwrap());
        (end - start) % 3 != 1
    };
    let expected: Vec<_> = whole.iter().filter(|row| long(row)).cloned().collect();
    assert!(expected.len() > 100_000, "{}", expected.len());
    let statement = "SELECT * FROM samples WHERE (end_ns - start_ns) % 3 <> 1";
    for _ in 0..3 {
        assert!(rows(&run(&session, statement).table) == expected);
        let first = run(&session, &format!("{statement} LIMIT 100000"));
        assert!(rows(&first.table) == expected[..100_000]);
    }
}

#[test]
fn a_table_is_in_memory_from_the_second_statement_on() {
    let (_folder, opened) = traced(8, 600);
    let session = keeping(&opened, 1 << 30);
    let plan = |session: &SqlSession, statement: &str| {
        rows(&run(session, &format!("EXPLAIN {statement}")).table).concat().join("\n")
    };
    let group = "SELECT context_id, count(*) FROM samples GROUP BY context_id";
    assert!(
        plan(&session, group).contains("InMemory: group of samples"),
        "{}",
        plan(&session, group)
    );
    assert!(!plan(&session, group).contains("in_memory=true"), "{}", plan(&session, group));
    assert!(run(&session, group).from_memory.is_empty());
    assert_eq!(run(&session, group).from_memory, ["samples"]);
    assert!(plan(&session, group).contains("in_memory=true"), "{}", plan(&session, group));
    for (statement, work) in [
        ("SELECT * FROM samples", "rows"),
        ("SELECT * FROM samples WHERE end_ns - start_ns > 10", "rows"),
        ("SELECT * FROM samples ORDER BY end_ns", "sort"),
        ("SELECT s.*, c.depth FROM samples AS s JOIN contexts AS c USING (context_id)", "merge"),
    ] {
        let plan = plan(&session, statement);
        assert!(plan.contains(&format!("InMemory: {work} of samples")), "{plan}");
        assert_eq!(run(&session, statement).from_memory, ["samples"], "{statement}");
    }
    // Whoever wants a part of it reads that part.
    let part = "SELECT count(*) FROM samples WHERE profile_id = 3";
    assert!(run(&session, part).from_memory.is_empty());
    // What does not fit is not kept, nor where nothing may be.
    for small in [keeping(&opened, 8 * 600 * 12), keeping(&opened, 0)] {
        for _ in 0..3 {
            assert!(run(&small, group).from_memory.is_empty());
        }
        assert!(!plan(&small, group).contains("InMemory"), "{}", plan(&small, group));
    }
    // The rows of another experiment are others.
    let (_other, second) = traced(5, 500);
    let engine = Arc::new(parallax_sql::SqlEngine::new(SqlLimits::default()).unwrap());
    let (one, two) = (engine.session(Arc::clone(&opened)), engine.session(Arc::clone(&second)));
    let count = "SELECT count(*), max(profile_id) FROM samples";
    for _ in 0..3 {
        for (session, experiment) in [(&one, &opened), (&two, &second)] {
            let expected = rows(&run(&keeping(experiment, 0), count).table);
            assert_eq!(rows(&run(session, count).table), expected);
        }
    }
}

#[test]
fn explain_analyze_says_whether_a_step_ran_from_memory() {
    let (_folder, opened) = traced(8, 600);
    let session = keeping(&opened, 1 << 30);
    let ran = |statement: &str| {
        let plan = rows(&run(&session, &format!("EXPLAIN ANALYZE {statement}")).table);
        plan.concat().join("\n")
    };
    let group = "SELECT context_id, count(*) FROM samples GROUP BY context_id";
    let plan = ran(group);
    assert!(plan.contains("InMemory: group of samples, ran=as_planned"), "{plan}");
    for (statement, work) in [
        (group, "group"),
        ("SELECT end_ns FROM samples", "rows"),
        ("SELECT * FROM samples WHERE end_ns - start_ns > 10", "rows"),
        ("SELECT * FROM samples WHERE start_ns % 3 = 1", "rows"),
        ("SELECT * FROM samples ORDER BY end_ns", "sort"),
        ("SELECT s.*, c.depth FROM samples AS s JOIN contexts AS c USING (context_id)", "merge"),
    ] {
        let plan = ran(statement);
        let expected = format!("InMemory: {work} of samples, ran=from_memory");
        assert!(plan.contains(&expected), "{statement}\n{plan}");
    }
    // Values that are absent, and a key that is there several times.
    for (statement, work) in [
        ("SELECT context_id, sum(nullif(profile_id, 3)) FROM samples GROUP BY context_id", "group"),
        ("SELECT *, nullif(profile_id, 3) AS k FROM samples ORDER BY k", "sort"),
        (
            "SELECT s.start_ns, c.depth FROM samples AS s JOIN contexts AS c ON s.context_id = c.depth",
            "merge",
        ),
    ] {
        let plan = ran(statement);
        let expected = format!("InMemory: {work} of samples, ran=as_planned");
        assert!(plan.contains(&expected), "{statement}\n{plan}");
    }
}

#[test]
fn rows_are_all_there_where_other_blocks_have_more_than_those_looked_at_first() {
    let (_folder, opened) = traced(15, 20_000);
    let (from_files, kept) = (keeping(&opened, 0), keeping(&opened, 1 << 30));
    // Blocks are of 16,384 rows, and of 19 of them the fifth and the 13th are looked at first: rows of
    // these profiles.
    let others = "(profile_id + 0) NOT IN (4, 5, 10, 11)";
    for statement in [
        format!("SELECT * FROM samples WHERE {others}"),
        format!(
            "SELECT profile_id, start_ns, end_ns - start_ns AS d, 7 AS seven FROM samples
             WHERE {others}"
        ),
        "SELECT * FROM samples WHERE end_ns - start_ns >= 1".to_owned(),
        "SELECT * FROM samples WHERE end_ns - start_ns < 0".to_owned(),
    ] {
        // The order of the table.
        let expected =
            run(&from_files, &format!("{statement} ORDER BY profile_id, start_ns")).table;
        run(&kept, &statement);
        for _ in 0..2 {
            let SqlAnswer { table, from_memory, .. } = run(&kept, &statement);
            assert_eq!(from_memory, ["samples"], "{statement}");
            assert_eq!(table.num_rows(), expected.num_rows(), "{statement}");
            for (found, expected) in table.columns.iter().zip(&expected.columns) {
                assert!(*found.values == *expected.values, "{statement}: {}", found.name);
            }
        }
    }
}

#[test]
fn results_that_are_held_stay_as_they_are() {
    let (_folder, opened) = traced(8, 20_000);
    let session = keeping(&opened, 1 << 30);
    let statement = |least: u32| format!("SELECT * FROM samples WHERE context_id >= {least}");
    let from_files = keeping(&opened, 0);
    let in_order = |at: u32| format!("{} ORDER BY profile_id, start_ns", statement(at * 9));
    let expected: Vec<_> = (0..4).map(|at| rows(&run(&from_files, &in_order(at)).table)).collect();
    for _ in 0..2 {
        run(&session, &statement(0));
    }
    // One after the other, so that memory is used again, and then all at the same time.
    for (at, expected) in (0..).zip(&expected) {
        assert!(rows(&run(&session, &statement(at * 9)).table) == *expected, "{at}");
    }
    let held: Vec<_> = (0..4).map(|at| run(&session, &statement(at * 9))).collect();
    for (held, expected) in held.iter().zip(&expected) {
        assert_eq!(held.from_memory, ["samples"]);
        assert!(rows(&held.table) == *expected);
    }
}

#[test]
fn an_error_in_one_block_ends_the_statement() {
    let (_folder, opened) = traced(8, 20_000);
    let session = keeping(&opened, 1 << 30);
    for _ in 0..3 {
        let statement = SqlStatement::only("SELECT * FROM samples WHERE 1 / (profile_id - 5) = 0");
        let error = session.run(statement.unwrap(), &Control::new()).unwrap_err();
        assert!(error.to_string().contains("ivide by zero"), "{error}");
        run(&session, "SELECT * FROM samples WHERE end_ns - start_ns >= 1");
    }
}

#[test]
fn what_is_in_memory_gives_way_to_statements() {
    let (_folder, opened) = traced(14, 1500);
    let large = "SELECT count(*) FROM samples AS a JOIN samples AS b
                 ON a.start_ns = b.start_ns AND a.profile_id = b.profile_id";
    let small = "SELECT context_id, count(*) FROM samples GROUP BY context_id";
    let asked =
        |bytes: u64, kept: Option<u64>, times: usize| -> Result<Vec<Vec<String>>, SqlError> {
            let limits =
                SqlLimits { memory_bytes: Some(bytes), kept_bytes: kept, ..SqlLimits::default() };
            let session = with_limits(&opened, limits);
            for _ in 0..times {
                session.query(small, &Control::new())?;
            }
            if times > 0 {
                let statement = SqlStatement::only(small)?;
                assert_eq!(session.run(statement, &Control::new())?.from_memory, ["samples"]);
            }
            session.query(large, &Control::new()).map(|table| rows(&table))
        };
    let table_bytes = rows(&run(&keeping(&opened, 0), "SELECT 24 * count(*) FROM samples").table);
    let table_bytes: u64 = table_bytes[0][0].parse().unwrap();
    // The least memory, about, that the statement needs alone.
    let mut bytes = table_bytes;
    while let Err(error) = asked(bytes, Some(0), 0) {
        assert!(matches!(error, SqlError::Memory(_)), "{error:?}");
        bytes += bytes / 8;
    }
    let bytes = bytes + bytes / 8;
    let expected = asked(bytes, Some(0), 0).unwrap();
    assert_eq!(asked(bytes, Some(bytes), 2).unwrap(), expected);
}

#[test]
fn withdrawn_statements_end_in_memory_too() {
    let (_folder, opened) = traced(8, 600);
    let session = keeping(&opened, 1 << 30);
    let sort = "SELECT * FROM samples ORDER BY end_ns";
    run(&session, sort);
    let control = Control::new();
    control.cancel();
    let error = session.query(sort, &control).unwrap_err();
    assert!(matches!(error, SqlError::Cancelled), "{error:?}");
    assert_eq!(run(&session, sort).from_memory, ["samples"]);
}
