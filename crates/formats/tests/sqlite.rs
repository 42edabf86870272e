//! Databases that SQLite wrote, read without it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

use std::ops::ControlFlow;

use parallax_base::{ByteSource, Issues, Limits, MemorySource, ReadError, Source};
use parallax_formats::FormatError;
use parallax_formats::sqlite::{Column, Database, Row, is_sqlite};
use parallax_testkit::sqlite::{self, Value, params};
use proptest::prelude::*;

/// A source that cannot lend its bytes, as in a browser.
struct Copying(MemorySource);

impl ByteSource for Copying {
    fn len(&self) -> u64 {
        self.0.len()
    }
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.0.read_at(offset, buffer)
    }
}

fn open(bytes: &[u8], issues: &mut Issues) -> Result<Database, FormatError> {
    Database::open(MemorySource::shared(bytes), "x.db", &Limits::default(), issues)
}

/// A row as the values that were written.
fn values(
    row: &Row<'_>,
    columns: &[Column],
    encoding: parallax_formats::sqlite::Encoding,
) -> Vec<Value> {
    use parallax_formats::sqlite::Value as Read;
    let value = |column: &Column| match row.get(*column) {
        Read::Null => Value::Null,
        Read::Integer(value) => Value::Integer(value),
        Read::Real(value) => Value::Real(value),
        Read::Text(text) => Value::Text(encoding.decode(text)),
        Read::Blob(bytes) => Value::Blob(bytes.to_vec()),
    };
    columns.iter().map(value).collect()
}

/// All rows of a table, each with its number.
fn rows(database: &Database, table: &str, issues: &mut Issues) -> Rows {
    let table = database.table(table).expect("the table");
    let columns: Vec<_> = table.column_names().map(|name| table.column(name)).collect();
    let encoding = database.header().encoding;
    let mut out = Vec::new();
    database
        .scan(table, issues, &mut |row| {
            out.push((row.rowid(), values(row, &columns, encoding)));
            ControlFlow::Continue(())
        })
        .expect("rows");
    out
}

/// Rows of a table with their numbers.
type Rows = Vec<(i64, Vec<Value>)>;

/// Opens and reads everything; what is read must not be more than the file can hold.
fn everything(source: Source) -> (Vec<Rows>, Issues, Option<FormatError>) {
    let len = source.len();
    let mut issues = Issues::new();
    let database = match Database::open(source, "x.db", &Limits::default(), &mut issues) {
        Ok(database) => database,
        Err(error) => return (Vec::new(), issues, Some(error)),
    };
    let names: Vec<_> =
        database.tables().iter().filter(|t| !t.is_without_rowid).map(|t| t.name.clone()).collect();
    let mut out = Vec::new();
    for name in names {
        let found = rows(&database, &name, &mut issues);
        assert!(found.len() as u64 <= len, "more rows than bytes");
        out.push(found);
    }
    (out, issues, None)
}

fn value() -> impl Strategy<Value = Value> {
    let edge = prop::sample::select(vec![
        0,
        1,
        -1,
        127,
        128,
        -128,
        -129,
        32767,
        32768,
        -32769,
        8_388_607,
        8_388_608,
        -8_388_609,
        2_147_483_647,
        2_147_483_648,
        -2_147_483_649,
        140_737_488_355_327,
        140_737_488_355_328,
        i64::MAX,
        i64::MIN,
    ]);
    prop_oneof![
        1 => Just(Value::Null),
        4 => edge.prop_map(Value::Integer),
        2 => any::<i64>().prop_map(Value::Integer),
        2 => (-1e9..1e9_f64).prop_map(Value::Real),
        4 => "[a-zäöü€𝄞]{0,30}".prop_map(Value::Text),
        1 => (0..4000_usize, prop::sample::select(vec!["x", "ß", "€"]))
            .prop_map(|(n, text)| Value::Text(text.repeat(n))),
        1 => prop::collection::vec(any::<u8>(), 0..3000).prop_map(Value::Blob),
    ]
}

#[derive(Debug, Clone)]
struct Planted {
    page_size: u32,
    encoding: &'static str,
    auto_vacuum: u8,
    rows: Vec<(i64, [Value; 3])>,
    /// Rows that are deleted again, by position.
    deleted: Vec<bool>,
}

fn planted() -> impl Strategy<Value = Planted> {
    let row = (any::<i64>(), [value(), value(), value()]);
    let rows = prop::collection::vec((row, prop::bool::weighted(0.3)), 0..60);
    let encoding = prop::sample::select(vec!["UTF-8", "UTF-16le", "UTF-16be"]);
    (9..=16_u32, encoding, 0..=2_u8, rows).prop_map(|(bits, encoding, auto_vacuum, rows)| {
        let mut rows = rows;
        rows.sort_by_key(|((id, _), _)| *id);
        rows.dedup_by_key(|((id, _), _)| *id);
        let (rows, deleted) = rows.into_iter().unzip();
        Planted { page_size: 1 << bits, encoding, auto_vacuum, rows, deleted }
    })
}

impl Planted {
    fn bytes(&self) -> Vec<u8> {
        sqlite::bytes(|connection| {
            connection.execute_batch(&format!(
                "PRAGMA page_size = {}; PRAGMA encoding = '{}'; PRAGMA auto_vacuum = {};
                 CREATE TABLE other(a); CREATE TABLE planted(a, id INTEGER PRIMARY KEY, b, c);
                 CREATE INDEX by_a ON planted(a);",
                self.page_size, self.encoding, self.auto_vacuum
            ))?;
            let mut insert = connection.prepare("INSERT INTO planted VALUES (?, ?, ?, ?)")?;
            // Written from both ends, so that pages split in the middle.
            let (first, second) = self.rows.split_at(self.rows.len() / 2);
            for (id, [a, b, c]) in first.iter().chain(second.iter().rev()) {
                insert.execute(params![a, id, b, c])?;
            }
            for ((id, _), _) in self.rows.iter().zip(&self.deleted).filter(|(_, gone)| **gone) {
                connection.execute("DELETE FROM planted WHERE id = ?", params![id])?;
            }
            Ok(())
        })
    }

    fn kept(&self) -> Vec<(i64, Vec<Value>)> {
        let kept = self.rows.iter().zip(&self.deleted).filter(|(_, gone)| !**gone);
        kept.map(|((id, [a, b, c]), _)| {
            (*id, vec![a.clone(), Value::Integer(*id), b.clone(), c.clone()])
        })
        .collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rows_come_back_as_they_were_written(planted in planted()) {
        let bytes = planted.bytes();
        let mut issues = Issues::new();
        let database = open(&bytes, &mut issues).unwrap();
        prop_assert_eq!(database.header().page_size, planted.page_size);
        prop_assert_eq!(rows(&database, "PLANTED", &mut issues), planted.kept());
        prop_assert_eq!(rows(&database, "other", &mut issues), vec![]);
        prop_assert!(issues.is_empty(), "{:?}", issues);
        let copied = everything(std::sync::Arc::new(Copying(bytes.clone().into())));
        prop_assert_eq!(copied, everything(MemorySource::shared(bytes)));
    }

    #[test]
    fn a_cut_file_gives_the_rows_that_are_there(planted in planted(), cut in 0.0..1.0_f64) {
        let bytes = planted.bytes();
        let cut = (bytes.len() as f64 * cut) as usize;
        let (found, issues, error) = everything(MemorySource::shared(&bytes[..cut]));
        prop_assert!(error.is_some() || !issues.is_empty(), "nobody is told");
        let kept = planted.kept();
        for row in found.iter().flatten().filter(|(_, values)| values.len() == 4) {
            prop_assert!(kept.contains(row), "a row that was never written: {:?}", row);
        }
    }

    #[test]
    fn damage_is_survived(
        planted in planted(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let mut bytes = planted.bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let lent = everything(MemorySource::shared(bytes.clone()));
        let copied = everything(std::sync::Arc::new(Copying(bytes.into())));
        prop_assert_eq!(format!("{lent:?}"), format!("{copied:?}"));
    }
}

#[test]
fn a_deep_tree_is_read_in_order() {
    let bytes = sqlite::of_sql(
        "PRAGMA page_size = 512; CREATE TABLE t(id INTEGER PRIMARY KEY, square);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
         INSERT INTO t SELECT i * 7, i * i FROM n;",
    );
    let mut issues = Issues::new();
    let database = open(&bytes, &mut issues).unwrap();
    let found = rows(&database, "t", &mut issues);
    assert_eq!(found.len(), 50_000);
    for (i, (id, values)) in (1_i64..).zip(found) {
        assert_eq!((id, &values[..]), (i * 7, &[Value::Integer(i * 7), Value::Integer(i * i)][..]));
    }
    assert!(issues.is_empty());
}

#[test]
fn a_scan_ends_when_it_is_told_to() {
    let bytes = sqlite::of_sql(
        "CREATE TABLE t(a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
         WHERE i < 5000) INSERT INTO t SELECT i FROM n;",
    );
    let mut issues = Issues::new();
    let database = open(&bytes, &mut issues).unwrap();
    let mut seen = 0;
    let visit = &mut |_: &Row<'_>| {
        seen += 1;
        if seen == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    database.scan(database.table("t").unwrap(), &mut issues, visit).unwrap();
    assert_eq!(seen, 3);
}

#[test]
fn numbers_in_columns_of_text_are_numbers_and_added_columns_are_null() {
    let bytes = sqlite::of_sql(
        "CREATE TABLE t(Start CHAR(12), End INT); INSERT INTO t VALUES (30142287403143, '17');
         INSERT INTO t VALUES ('0_2', 18446744073709551615);
         ALTER TABLE t ADD COLUMN later;",
    );
    let mut issues = Issues::new();
    let database = open(&bytes, &mut issues).unwrap();
    let table = database.table("T").unwrap();
    assert!(table.has("start") && !table.has("begin"));
    let mut found = Vec::new();
    database
        .scan(table, &mut issues, &mut |row| {
            let column = |name: &str| table.column(name);
            found.push((
                row.integer(column("Start")),
                row.text(column("Start")),
                row.integer(column("End")),
                row.integer(column("later")),
                row.text(column("no such column")),
            ));
            ControlFlow::Continue(())
        })
        .unwrap();
    let start = "30142287403143".to_owned();
    assert_eq!(found[0], (Some(30_142_287_403_143), Some(start), Some(17), None, None));
    assert_eq!(found[1].1.as_deref(), Some("0_2"));
    assert_eq!(found[1].0, None);
}

#[test]
fn a_table_without_row_numbers_is_said_to_be_unsupported() {
    let bytes = sqlite::of_sql("CREATE TABLE t(a PRIMARY KEY, b) WITHOUT ROWID;");
    let mut issues = Issues::new();
    let database = open(&bytes, &mut issues).unwrap();
    let error = database
        .scan(&database.tables()[0], &mut issues, &mut |_| ControlFlow::Continue(()))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "x.db is a database whose table t is kept WITHOUT ROWID, which is not supported; \
         copy the table into an ordinary one with SQLite"
    );
}

#[test]
fn a_page_that_leads_to_itself_is_visited_once() {
    let mut bytes = sqlite::of_sql(
        "PRAGMA page_size = 512; CREATE TABLE t(a);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
         INSERT INTO t SELECT i FROM n;",
    );
    // Page 2 is the root: its right-most child becomes itself.
    assert_eq!(bytes[512], 5);
    bytes[512 + 8..512 + 12].copy_from_slice(&2_u32.to_be_bytes());
    let (found, issues, error) = everything(MemorySource::shared(bytes));
    assert_eq!(error, None);
    assert!(!found[0].is_empty() && found[0].len() < 500);
    let kinds: Vec<_> = issues.list().iter().map(|issue| issue.kind).collect();
    assert_eq!(kinds, ["page-damaged"]);
}

#[test]
fn a_write_ahead_log_beside_the_file_is_mentioned() {
    let mut bytes = sqlite::of_sql("CREATE TABLE t(a); INSERT INTO t VALUES (1);");
    bytes[18..20].copy_from_slice(&[2, 2]);
    let mut issues = Issues::new();
    open(&bytes, &mut issues).unwrap();
    assert!(issues.list().iter().any(|issue| issue.message.contains("x.db-wal")), "{issues:?}");
}

#[test]
fn other_files_are_told_apart() {
    let mut issues = Issues::new();
    assert!(!is_sqlite(&MemorySource::new(b"SQLite form".to_vec())));
    let error = open(b"HPCPROF-cct_____", &mut issues).err().unwrap();
    assert_eq!(
        error.to_string(),
        "x.db is not a database of SQLite: it starts with HPCPROF-cct_____"
    );
    let error = open(b"SQLite format 3\0", &mut issues).err().unwrap();
    assert!(matches!(error, FormatError::Malformed { .. }), "{error}");
    let empty = sqlite::of_sql("PRAGMA user_version = 1;");
    assert!(is_sqlite(&MemorySource::new(empty.clone())));
    assert_eq!(open(&empty, &mut issues).unwrap().tables(), []);
}
