//! Every format carries the same columns with the same values.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops where it cannot go on")]

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, BooleanArray, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray,
    UInt16Array, UInt32Array, UInt64Array,
};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::SchemaRef;
use parallax_wire::{
    Cell, Cells, Column, ColumnType, Table, WireError, write_arrow, write_arrow_packed, write_csv,
    write_json, write_jsonl,
};
use proptest::prelude::*;

/// A value that owns its text; doubles by their bits, so that NaN equals NaN and -0 is not 0.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(u64),
    Text(String),
}

impl From<Cell<'_>> for Value {
    fn from(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Null => Self::Null,
            Cell::Bool(value) => Self::Bool(value),
            Cell::Unsigned(value) => Self::Unsigned(value),
            Cell::Signed(value) => Self::Signed(value),
            Cell::Float(value) => Self::Float(value.to_bits()),
            Cell::Text(text) => Self::Text(text.to_owned()),
        }
    }
}

fn rows_of(table: &Table) -> Vec<Vec<Value>> {
    let cells = Cells::of_table(table).unwrap();
    (0..table.num_rows()).map(|row| cells.iter().map(|c| c.get(row).into()).collect()).collect()
}

/// What JSON can say of a value.
fn without_odd_floats(value: Value) -> Value {
    match value {
        Value::Float(bits) if !f64::from_bits(bits).is_finite() => Value::Null,
        value => value,
    }
}

fn types_of(table: &Table) -> Vec<ColumnType> {
    Cells::of_table(table).unwrap().iter().map(Cells::column_type).collect()
}

fn from_json(value: &serde_json::Value, column_type: ColumnType) -> Value {
    use serde_json::Value as Json;
    match (value, column_type) {
        (Json::Null, _) => Value::Null,
        (Json::Bool(value), ColumnType::Bool) => Value::Bool(*value),
        (Json::String(text), ColumnType::String) => Value::Text(text.clone()),
        (Json::Number(n), ColumnType::F64) => Value::Float(n.as_f64().unwrap().to_bits()),
        (Json::Number(n), ColumnType::I64) => Value::Signed(n.as_i64().unwrap()),
        (Json::Number(n), _) => Value::Unsigned(n.as_u64().unwrap()),
        (value, _) => panic!("{value} in a column of {}", column_type.name()),
    }
}

/// Splits RFC 4180 text into records of fields; `None` is an empty field without quotes.
fn split_csv(text: &str) -> Vec<Vec<Option<String>>> {
    let mut records = Vec::new();
    let mut record = Vec::new();
    let mut field = String::new();
    let (mut is_quoted, mut had_quotes) = (false, false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if is_quoted && chars.peek() == Some(&'"') => {
                field.push('"');
                chars.next();
            }
            '"' => (is_quoted, had_quotes) = (!is_quoted, true),
            ',' | '\n' if !is_quoted => {
                let text = std::mem::take(&mut field);
                record.push((had_quotes || !text.is_empty()).then_some(text));
                had_quotes = false;
                if c == '\n' {
                    records.push(std::mem::take(&mut record));
                }
            }
            c => field.push(c),
        }
    }
    assert!(!is_quoted && record.is_empty() && field.is_empty(), "unfinished record");
    records
}

fn from_csv(field: Option<&str>, column_type: ColumnType) -> Value {
    let Some(text) = field else { return Value::Null };
    match column_type {
        ColumnType::Bool => Value::Bool(text.parse().unwrap()),
        ColumnType::U16 | ColumnType::U32 | ColumnType::U64 => {
            Value::Unsigned(text.parse().unwrap())
        }
        ColumnType::I64 => Value::Signed(text.parse().unwrap()),
        ColumnType::F64 => Value::Float(text.parse::<f64>().unwrap().to_bits()),
        ColumnType::String => Value::Text(text.to_owned()),
    }
}

/// A table that was read back from record batches, with names, units and meanings from the schema.
fn from_batches(
    schema: &SchemaRef,
    batches: &[RecordBatch],
) -> (Vec<[String; 3]>, Vec<Vec<Value>>) {
    let header = schema.fields().iter().map(|field| {
        let word = |key: &str| field.metadata().get(key).cloned().unwrap_or_default();
        [field.name().clone(), word("unit"), word("doc")]
    });
    let mut rows = Vec::new();
    for batch in batches {
        let column = |array: &Arc<dyn Array>| Column::new("", "", "", Arc::clone(array));
        rows.extend(rows_of(&Table::new(batch.columns().iter().map(column).collect())));
    }
    (header.collect(), rows)
}

fn read_arrow(bytes: Vec<u8>) -> (Vec<[String; 3]>, Vec<Vec<Value>>) {
    let reader = FileReader::try_new(std::io::Cursor::new(bytes), None).unwrap();
    let schema = reader.schema();
    let batches: Vec<_> = reader.map(Result::unwrap).collect();
    from_batches(&schema, &batches)
}

#[cfg(feature = "parquet")]
fn read_parquet(bytes: Vec<u8>) -> (Vec<[String; 3]>, Vec<Vec<Value>>) {
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).unwrap();
    let schema = Arc::clone(builder.schema());
    let batches: Vec<_> = builder.build().unwrap().map(Result::unwrap).collect();
    from_batches(&schema, &batches)
}

/// Writes `table` in every format, reads each back, and compares with the table.
fn assert_every_format_carries(table: &Table) {
    let types = types_of(table);
    let expected = rows_of(table);
    let in_json: Vec<Vec<Value>> =
        expected.iter().map(|row| row.iter().cloned().map(without_odd_floats).collect()).collect();

    let mut out = Vec::new();
    write_json(table, &mut out).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
    let header: Vec<_> = json["columns"].as_array().unwrap().iter().collect();
    assert_eq!(header.len(), table.columns.len());
    for ((head, column), column_type) in header.iter().zip(&table.columns).zip(&types) {
        assert_eq!(head["name"], column.name.as_str());
        assert_eq!(head["type"], column_type.name());
        assert_eq!(head["unit"], column.unit.as_str());
    }
    let rows: Vec<Vec<Value>> = json["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let cells = row.as_array().unwrap().iter();
            cells.zip(&types).map(|(value, t)| from_json(value, *t)).collect()
        })
        .collect();
    assert_eq!(rows, in_json, "json");

    let mut out = Vec::new();
    write_jsonl(table, &mut out).unwrap();
    let rows: Vec<Vec<Value>> = String::from_utf8(out)
        .unwrap()
        .lines()
        .map(|line| {
            let object: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(object.as_object().unwrap().len(), table.columns.len());
            let cells = table.columns.iter().zip(&types);
            cells.map(|(column, t)| from_json(&object[&column.name], *t)).collect()
        })
        .collect();
    assert_eq!(rows, in_json, "jsonl");

    let mut out = Vec::new();
    write_csv(table, &mut out).unwrap();
    let mut records = split_csv(std::str::from_utf8(&out).unwrap()).into_iter();
    let names: Vec<String> = records.next().unwrap().into_iter().map(Option::unwrap).collect();
    assert!(names.iter().eq(table.columns.iter().map(|column| &column.name)));
    let rows: Vec<Vec<Value>> = records
        .map(|record| {
            let fields = record.iter().zip(&types);
            fields.map(|(field, t)| from_csv(field.as_deref(), *t)).collect()
        })
        .collect();
    assert_eq!(rows, expected, "csv");

    let header: Vec<[String; 3]> = table
        .columns
        .iter()
        .map(|column| [column.name.clone(), column.unit.clone(), column.doc.to_owned()])
        .collect();
    let mut out = Vec::new();
    write_arrow(table, &mut out).unwrap();
    assert_eq!(read_arrow(out), (header.clone(), expected.clone()), "arrow");

    #[cfg(feature = "parquet")]
    {
        let mut out = Vec::new();
        parallax_wire::write_parquet(table, &mut out).unwrap();
        assert_eq!(read_parquet(out), (header, expected), "parquet");
    }
}

type Drawn = (
    (Option<bool>, Option<u16>, Option<u32>, Option<u64>),
    (Option<i64>, Option<f64>, Option<String>, Option<u8>),
);

const REPEATED: [&str; 5] = ["main", "", "operator\"\"_s, \n", "größer ≥ 日本", "null"];

fn table_of(rows: &[Drawn]) -> Table {
    let mut columns: Vec<(&str, &str, Arc<dyn Array>)> = vec![
        ("flag", "", Arc::new(rows.iter().map(|r| r.0.0).collect::<BooleanArray>())),
        ("metric_id", "", Arc::new(rows.iter().map(|r| r.0.1).collect::<UInt16Array>())),
        ("context_id", "", Arc::new(rows.iter().map(|r| r.0.2).collect::<UInt32Array>())),
        ("start_ns", "ns", Arc::new(rows.iter().map(|r| r.0.3).collect::<UInt64Array>())),
        ("change", "B", Arc::new(rows.iter().map(|r| r.1.0).collect::<Int64Array>())),
        ("value", "s", Arc::new(rows.iter().map(|r| r.1.1).collect::<Float64Array>())),
        (
            "name, \"full\"",
            "",
            Arc::new(rows.iter().map(|r| r.1.2.clone()).collect::<StringArray>()),
        ),
    ];
    let repeated = rows.iter().map(|r| r.1.3.map(|n| REPEATED[usize::from(n) % REPEATED.len()]));
    columns.push(("context", "", Arc::new(repeated.collect::<DictionaryArray<Int32Type>>())));
    let column = |(name, unit, values)| Column::new(name, unit, "What it means, in words.", values);
    Table::new(columns.into_iter().map(column).collect())
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[,\"\\r\\n\\\\a\\x00-\\x1f\\u{2028}]{0,8}"]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn drawn_tables_are_equal_in_every_format(rows in prop::collection::vec(
        (
            (any::<Option<bool>>(), any::<Option<u16>>(), any::<Option<u32>>(), any::<Option<u64>>()),
            (
                any::<Option<i64>>(),
                prop::option::of(any::<f64>()),
                prop::option::of(any_text()),
                any::<Option<u8>>(),
            ),
        ),
        0..20,
    )) {
        assert_every_format_carries(&table_of(&rows));
    }
}

#[test]
fn the_ends_of_every_range_survive() {
    let floats = [
        0.0,
        -0.0,
        f64::MIN_POSITIVE / 4.0,
        5e-324,
        f64::MAX,
        f64::MIN,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.1,
        1e21,
        123_456_789_012_345_680.0,
        9_007_199_254_740_993.0,
    ];
    let rows: Vec<Drawn> = floats
        .into_iter()
        .enumerate()
        .map(|(idx, float)| {
            let is_low = idx % 2 == 0;
            let unsigned = if is_low {
                (Some(false), Some(0), Some(0), Some(0))
            } else {
                (Some(true), Some(u16::MAX), Some(u32::MAX), Some(u64::MAX))
            };
            let signed = if is_low { i64::MIN } else { i64::MAX };
            (unsigned, (Some(signed), Some(float), Some("\u{feff}\r\n\"".into()), Some(2)))
        })
        .collect();
    assert_every_format_carries(&table_of(&rows));
}

#[test]
fn a_table_without_rows_keeps_its_columns() {
    assert_every_format_carries(&table_of(&[]));
    let mut out = Vec::new();
    write_json(&table_of(&[]), &mut out).unwrap();
    assert!(String::from_utf8(out).unwrap().ends_with("],\"rows\":[]}\n"));
}

#[test]
fn a_table_of_several_blocks_is_whole() {
    let rows: Vec<Drawn> = (0..150_000u32)
        .map(|n| {
            let unsigned = (Some(n % 3 == 0), Some(1), Some(n), Some(u64::from(n) << 32));
            (unsigned, (None, Some(f64::from(n) / 7.0), None, (n % 7 != 0).then_some(3)))
        })
        .collect();
    let table = table_of(&rows);
    let mut out = Vec::new();
    write_arrow(&table, &mut out).unwrap();
    assert!(read_arrow(out).1 == rows_of(&table));
    let mut out = Vec::new();
    write_csv(&table, &mut out).unwrap();
    assert_eq!(out.iter().filter(|&&byte| byte == b'\n').count(), 150_001);
}

#[test]
fn json_and_csv_read_as_people_expect() {
    let table = Table::new(vec![
        Column::u32s("context_id", "Id.", vec![7, 8, 9]),
        Column::f64s("value", "s", "Cost.", vec![1.5, f64::NAN, 1e300]),
        Column::repeated_strings(
            "context",
            "Label.",
            vec![0, -1, 1],
            &["main".to_owned(), "f<a, \"b\">\n".to_owned()],
        ),
        Column::strings("location", "Label.", ["", "rank 1", "é"]),
    ]);
    let text = |write: fn(&Table, &mut Vec<u8>) -> Result<(), WireError>| {
        let mut out = Vec::new();
        write(&table, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    assert_eq!(
        text(|table, out| write_json(table, out)),
        "{\"columns\":[{\"name\":\"context_id\",\"type\":\"u32\",\"unit\":\"\"},\
         {\"name\":\"value\",\"type\":\"f64\",\"unit\":\"s\"},\
         {\"name\":\"context\",\"type\":\"string\",\"unit\":\"\"},\
         {\"name\":\"location\",\"type\":\"string\",\"unit\":\"\"}],\"rows\":[\n\
         [7,1.5,\"main\",\"\"],\n\
         [8,null,null,\"rank 1\"],\n\
         [9,1e+300,\"f<a, \\\"b\\\">\\n\",\"é\"]]}\n"
    );
    assert_eq!(
        text(|table, out| write_jsonl(table, out)).lines().nth(1).unwrap(),
        "{\"context_id\":8,\"value\":null,\"context\":null,\"location\":\"rank 1\"}"
    );
    assert_eq!(
        text(|table, out| write_csv(table, out)),
        "context_id,value,context,location\n\
         7,1.5,main,\"\"\n\
         8,NaN,,rank 1\n\
         9,1e+300,\"f<a, \"\"b\"\">\n\",é\n"
    );
}

#[test]
fn a_null_in_a_table_of_one_column_is_not_an_empty_line() {
    let table = Table::new(vec![Column::optional_strings("name", "Name.", [None, Some("a")])]);
    let mut out = Vec::new();
    write_csv(&table, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "name\n\"\"\na\n");
}

#[test]
fn columns_that_answers_do_not_carry_are_errors_that_name_them() {
    let column =
        Column::new("odd", "", "Odd.", Arc::new(arrow_array::Float32Array::from(vec![1.0])));
    let error = write_json(&Table { columns: vec![column] }, Vec::new()).unwrap_err();
    assert!(error.to_string().starts_with("column odd holds Float32"), "{error}");

    let columns =
        vec![Column::u32s("a", "A.", vec![1, 2]), Column::f64s("b", "s", "B.", vec![1.0])];
    let error = write_arrow(&Table { columns }, Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "column b has 1 rows, but the first column has 2");
}

/// A reader that has gone.
struct Closed;

impl std::io::Write for Closed {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_closed_pipe_looks_the_same_in_every_format() {
    let table = table_of(&[((None, None, None, None), (None, None, None, None))]);
    let mut results = vec![
        write_json(&table, Closed),
        write_jsonl(&table, Closed),
        write_csv(&table, Closed),
        write_arrow(&table, Closed),
    ];
    #[cfg(feature = "parquet")]
    results.push(parallax_wire::write_parquet(&table, Closed));
    for result in results.drain(..) {
        let error = std::io::Error::from(result.unwrap_err());
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe, "{error}");
    }
}

#[test]
fn columns_travel_with_display_name_unit_and_meaning() {
    let cost = Column::f64s("cost_s", "s", "What it costs.", vec![1.5]);
    let named = Column { head: "Std. dev.", ..Column::f64s("std_dev", "", "Spread.", vec![0.5]) };
    let mut bytes = Vec::new();
    write_arrow_packed(&Table::new(vec![cost, named]), &mut bytes).unwrap();
    let reader = StreamReader::try_new(bytes.as_slice(), None).unwrap();
    let told = |at: usize, key: &str| reader.schema().field(at).metadata().get(key).cloned();
    assert_eq!(told(0, "head").as_deref(), Some("Cost"));
    assert_eq!(told(0, "unit").as_deref(), Some("s"));
    assert_eq!(told(0, "doc").as_deref(), Some("What it costs."));
    assert_eq!(told(1, "head").as_deref(), Some("Std. dev."));
    assert_eq!(told(1, "unit"), None);
}
