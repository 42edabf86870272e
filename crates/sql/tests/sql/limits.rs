//! Statements only read, only what is open, and not for ever.

use std::sync::Arc;
use std::time::Duration;

use parallax_base::Control;
use parallax_sql::{SqlEngine, SqlError, SqlLimits, SqlSession, SqlStatement};

use crate::common::{fixture, opened, rows, session, try_ask};

const PROFILE: &str = "reactor/n1024-p1";

#[test]
fn what_does_not_only_read_is_refused() {
    let opened = opened(&fixture(PROFILE));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.csv");
    let path = file.display();
    std::fs::write(&file, "a\n1\n").unwrap();
    let refused = [
        format!("COPY (SELECT 1) TO '{path}2'"),
        format!("COPY contexts TO '{path}2' STORED AS CSV"),
        format!("CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '{path}'"),
        "CREATE TABLE t AS SELECT 1".to_owned(),
        "CREATE VIEW v AS SELECT 1".to_owned(),
        "SELECT 1 AS a INTO t".to_owned(),
        "INSERT INTO contexts VALUES (1)".to_owned(),
        "UPDATE contexts SET name = 'x'".to_owned(),
        "DELETE FROM contexts".to_owned(),
        "DROP TABLE contexts".to_owned(),
        "SET datafusion.execution.batch_size = 1".to_owned(),
        "BEGIN".to_owned(),
        "PREPARE p AS SELECT 1".to_owned(),
        format!("EXPLAIN ANALYZE COPY (SELECT 1) TO '{path}2'"),
        format!("SELECT * FROM '{path}'"),
        "SELECT 1; SELECT 2".to_owned(),
        "SELECT".to_owned() + &"(".repeat(10_000),
        String::new(),
    ];
    for statement in refused {
        let error = try_ask(&opened, &statement).unwrap_err();
        assert!(error.is_misuse(), "{statement}: {error:?}");
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    let error = try_ask(&opened, &format!("COPY (SELECT 1) TO '{path}2'")).unwrap_err();
    assert!(error.to_string().starts_with("COPY is refused: statements only read"), "{error}");
}

#[test]
fn mistakes_are_named() {
    let opened = opened(&fixture(PROFILE));
    let cases = [
        ("SELECT nam FROM contexts", "nam"),
        ("SELECT * FROM context", "context"),
        ("SELECT * FROM messages", "it needs a trace of events with messages"),
        ("SELECT * FROM flat(b => 'module')", "`flat` has no field `b`; it has"),
        ("SELECT * FROM flat('module')", "write flat(field => value, ...)"),
        ("SELECT * FROM flat(by => name)", "the value must be a text"),
        ("SELECT * FROM flat(metric => 'no such')", "no such"),
        ("SELECT 1 +", "Expected"),
        ("SELECT name,\n nam FROM contexts", "at Line: 2, Column: 2"),
    ];
    for (statement, expected) in cases {
        let error = try_ask(&opened, statement).unwrap_err();
        assert!(error.is_misuse(), "{statement}: {error:?}");
        assert!(error.to_string().contains(expected), "{statement}: {error}");
    }
}

/// A statement of which a part is repeated.
type Repeated = fn(usize) -> String;

const TOO_DEEP: &str = "more than 500 levels";

/// Statements that are nested in all ways in which one can be.
const NESTED: [Repeated; 11] = [
    |n| vec!["SELECT 1 AS a"; n].join(" UNION ALL "),
    |n| {
        let one = |i| format!("depth = {i} OR context_id > {i}");
        let all: Vec<_> = (0..n / 2).map(one).collect();
        format!("SELECT count(*) FROM contexts WHERE {}", all.join(" OR "))
    },
    |n| format!("SELECT {} FROM contexts LIMIT 1", vec!["depth"; n].join(" + ")),
    |n| format!("SELECT {}1{}", "(1 + ".repeat(n / 2), ")".repeat(n / 2)),
    |n| format!("SELECT {}true", "NOT ".repeat(n)),
    |n| format!("SELECT {}1{}", "CASE WHEN true THEN ".repeat(n), " END".repeat(n)),
    |n| {
        let (open, close) = ("(SELECT * FROM ".repeat(n / 3), ")".repeat(n / 3));
        format!("SELECT * FROM {open}contexts{close} LIMIT 1")
    },
    |n| {
        let more = (1..n).map(|i| format!(", c{i} AS (SELECT a FROM c{})", i - 1));
        let more: String = more.collect();
        format!("WITH c0 AS (SELECT 1 AS a){more} SELECT * FROM c{}", n - 1)
    },
    |n| format!("SELECT {}1{}", "abs(".repeat(n / 2), ")".repeat(n / 2)),
    |n| format!("SELECT {}1{}", "(".repeat(n), ")".repeat(n)),
    |n| {
        let inner = "context_id IN (SELECT context_id FROM contexts WHERE ".repeat(n / 32);
        format!("SELECT count(*) FROM contexts WHERE {inner}true{}", ")".repeat(n / 32))
    },
];

/// Statements that are wrong as well, of which some are nested without brackets and operators.
const NESTED_WRONGLY: [Repeated; 5] = [
    |n| format!("{}SELECT 1", "EXPLAIN ".repeat(n)),
    |n| format!("{}SELECT 1", "DESC ".repeat(n)),
    |n| format!("{}SELECT 1", "PREPARE p AS ".repeat(n)),
    |n| format!("SELECT {}'1' DAY", "INTERVAL ".repeat(n)),
    |n| format!("SELECT * FROM {}contexts{}", "(".repeat(n), ")".repeat(n)),
];

#[test]
fn statements_may_be_nested_up_to_a_limit_that_is_named() {
    let opened = opened(&fixture(PROFILE));
    // Python and servers have threads of this size.
    let small = std::thread::Builder::new().stack_size(2 << 20);
    let asked = small.spawn(move || {
        let session = session(&opened);
        for nested in NESTED {
            for n in [20, 100, 240, 480] {
                if let Err(error) = session.query(&nested(n), &Control::new()) {
                    panic!("{n}: {}: {error}", nested(3));
                }
            }
            for n in [2_000, 100_000] {
                let error = session.query(&nested(n), &Control::new()).unwrap_err();
                assert!(error.is_misuse(), "{error:?}");
                let text = error.to_string();
                assert!(text.contains(TOO_DEEP), "{}: {text}", nested(3));
            }
        }
        for wrong in NESTED_WRONGLY {
            for n in [100, 480, 2_000, 100_000] {
                let error = session.query(&wrong(n), &Control::new()).unwrap_err();
                assert!(error.is_misuse(), "{n}: {}: {error:?}", wrong(3));
                assert!(!error.to_string().contains("limit: "), "{n}: {}: {error}", wrong(3));
            }
        }
        // Long statements need not be deep ones.
        let many: Vec<_> = (0..20_000).map(|i| format!("{i}")).collect();
        let text =
            format!("SELECT count(*) FROM contexts WHERE context_id IN ({})", many.join(", "));
        session.query(&text, &Control::new()).unwrap();
        let joined: Vec<_> = (1..30)
            .map(|i| format!("JOIN contexts c{i} ON c{i}.context_id = c{}.context_id", i - 1))
            .collect();
        let text = format!("SELECT count(*) FROM contexts c0 {}", joined.join(" "));
        session.query(&text, &Control::new()).unwrap();
    });
    asked.unwrap().join().unwrap();
}

/// A statement that would run for hours.
const ENDLESS: &str = "SELECT count(*) FROM contexts a, contexts b, contexts c, contexts d
                       WHERE a.depth + b.depth + c.depth > d.depth * 7";

#[test]
fn statements_end_when_their_time_is_over_or_they_are_withdrawn() {
    let opened = opened(&fixture(PROFILE));
    let limits = SqlLimits { time: Some(Duration::from_secs(1)), ..SqlLimits::default() };
    let limited = SqlSession::new(Arc::clone(&opened), limits).unwrap();
    let error = limited.query(ENDLESS, &Control::new()).unwrap_err();
    assert!(matches!(error, SqlError::TooLong(_)), "{error:?}");
    // The next statement has its own time.
    let next = limited.query("SELECT 1 + 1", &Control::new()).unwrap();
    assert_eq!(rows(&next), [["2"]]);

    let (session, control) = (session(&opened), Control::new());
    let withdrawn = control.clone();
    let other = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        withdrawn.cancel();
    });
    let error = session.query(ENDLESS, &control).unwrap_err();
    assert!(matches!(error, SqlError::Cancelled), "{error:?}");
    other.join().unwrap();
}

#[test]
fn threads_of_withdrawn_statements_are_free_again() {
    let opened = opened(&fixture(PROFILE));
    let session = session(&opened);
    let endless = [
        ENDLESS,
        "SELECT sum(a.depth + b.depth + c.depth + d.depth)
         FROM contexts a, contexts b, contexts c, contexts d",
        "SELECT count(*) FROM contexts a, contexts b, contexts c, contexts d
         WHERE a.depth + b.depth + c.depth + d.depth < -random()",
        "SELECT count(*) FROM contexts a JOIN (SELECT 1 AS one, b.depth FROM contexts b, contexts c) f
         ON a.kind IS NOT NULL AND f.one = 1 AND a.depth > f.depth * 1000 JOIN contexts g
         ON f.one = length('a' || substr(g.name, 1, 0)) AND g.depth < f.depth - 1000 + a.depth
         JOIN contexts h ON f.one = length('b' || substr(h.name, 1, 0)) AND h.depth > 1000 * a.depth",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
        "SELECT count(*) FROM generate_series(1, 1000000000000)",
    ];
    // Each more often than there are threads.
    let threads = std::thread::available_parallelism().unwrap().get();
    for statement in endless {
        for _ in 0..=threads {
            let control = Control::new();
            let withdrawn = control.clone();
            let other = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(150));
                withdrawn.cancel();
            });
            let error = session.query(statement, &control).unwrap_err();
            assert!(matches!(error, SqlError::Cancelled), "{statement}: {error:?}");
            other.join().unwrap();
        }
        let next = session.query("SELECT 1 + 1", &Control::new()).unwrap();
        assert_eq!(rows(&next), [["2"]], "{statement}");
    }
}

#[test]
fn the_first_rows_are_told_from_all_rows() {
    let opened = opened(&fixture(PROFILE));
    let engine = Arc::new(SqlEngine::new(SqlLimits::default()).unwrap());
    let first = |statement: &str, rows: usize| {
        let statement = SqlStatement::only(statement).unwrap();
        let session = engine.session(Arc::clone(&opened));
        let (answer, is_cut) = session.run_first(statement, rows, &Control::new()).unwrap();
        (answer.table.num_rows(), is_cut)
    };
    assert_eq!(first("SELECT * FROM contexts ORDER BY name", 3), (3, true));
    assert_eq!(first("SELECT * FROM contexts LIMIT 3", 3), (3, false));
    assert_eq!(first("SELECT * FROM contexts LIMIT 4", 3), (3, true));
    assert_eq!(first("SELECT * FROM contexts WHERE false", 3), (0, false));
    // Ends with its first rows, of which there would be more than anybody can count.
    let endless = "SELECT a.depth FROM contexts a, contexts b, contexts c, contexts d, contexts e";
    assert_eq!(first(endless, 3), (3, true));
    assert!(first("EXPLAIN SELECT * FROM contexts", 1).0 > 0);
    assert!(first("DESCRIBE contexts", 100).0 > 3);
    assert!(!first("SHOW TABLES", 100).1);
}

#[test]
fn memory_is_bounded() {
    let opened = opened(&fixture(PROFILE));
    let limits = SqlLimits { memory_bytes: Some(2_000_000), ..SqlLimits::default() };
    let limited = SqlSession::new(Arc::clone(&opened), limits).unwrap();
    let large = "SELECT a.name || b.name || c.name AS n, count(*) FROM contexts a, contexts b,
                 (SELECT * FROM contexts LIMIT 3) c GROUP BY n ORDER BY n LIMIT 1";
    let unlimited = rows(&session(&opened).query(large, &Control::new()).unwrap());
    match limited.query(large, &Control::new()) {
        // What does not fit went to temporary files.
        Ok(table) => assert_eq!(rows(&table), unlimited),
        Err(error) => assert!(matches!(error, SqlError::Memory(_)), "{error:?}"),
    }
    let hopeless = "SELECT array_agg(a.name || b.name || c.name) FROM contexts a, contexts b,
                    (SELECT * FROM contexts LIMIT 50) c";
    let error = limited.query(hopeless, &Control::new()).unwrap_err();
    assert!(matches!(error, SqlError::Memory(_)), "{error:?}");
}
