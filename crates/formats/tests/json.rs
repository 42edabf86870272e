//! The JSON reader against an independent one, in every chunking, and on damaged texts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests stop at the first surprise")]

use parallax_formats::json::{Event, JsonErrorKind, JsonLimits, JsonReader, Number, Row, Value};
use parallax_formats::stream::ChunkStream;

const TEXT: &str = r#"{"a": [1, -2.5e3, true, false, null, "x\ty é 😀"], "b c": {}, "d": [[], [{"e": 0.1}]],
 "long": "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789", "n": 9007199254740993}"#;

fn events(text: &[u8], piece: usize) -> Result<Vec<String>, (u64, String)> {
    let chunks: Vec<_> = text.chunks(piece).map(|c| Ok(c.to_vec())).collect();
    let mut reader = JsonReader::new(ChunkStream::new(chunks.into_iter()), JsonLimits::default());
    let mut all = Vec::new();
    loop {
        match reader.next_event() {
            Ok(Event::End) => return Ok(all),
            Ok(event) => all.push(format!("{event:?}")),
            Err(fault) => return Err((fault.offset, fault.to_string())),
        }
    }
}

fn same(ours: &Value, theirs: &serde_json::Value) -> bool {
    use serde_json::Value as Json;
    match (ours, theirs) {
        (Value::Null, Json::Null) => true,
        (Value::Bool(a), Json::Bool(b)) => a == b,
        (Value::String(a), Json::String(b)) => a == b,
        (Value::Number(a), Json::Number(b)) => {
            let exact = matches!(a, Number::Integer(n) if b.as_i64() == Some(*n));
            exact || Some(a.as_f64()) == b.as_f64()
        }
        (Value::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(k, v)| b.get(k).is_some_and(|w| same(v, w)))
        }
        _ => false,
    }
}

fn read(text: &[u8]) -> Result<Value, parallax_formats::json::JsonError> {
    let mut reader = JsonReader::from_slice(text, JsonLimits::default());
    let value = reader.read_value()?;
    reader.next_event()?;
    Ok(value)
}

#[test]
fn values_equal_those_of_an_independent_reader() {
    let theirs: serde_json::Value = serde_json::from_str(TEXT).unwrap();
    assert!(same(&read(TEXT.as_bytes()).unwrap(), &theirs));
}

#[test]
fn events_are_the_same_however_the_text_arrives() {
    let whole = events(TEXT.as_bytes(), usize::MAX).unwrap();
    assert!(whole.contains(&r#"String("x\ty é 😀")"#.to_owned()), "{whole:?}");
    for piece in 1..80 {
        assert_eq!(events(TEXT.as_bytes(), piece).unwrap(), whole, "pieces of {piece}");
    }
}

#[test]
fn every_truncation_is_an_error_at_its_end() {
    for len in 0..TEXT.len() {
        let (offset, message) = events(&TEXT.as_bytes()[..len], 7).unwrap_err();
        // A cut inside a multi-byte character is noticed with the string's end.
        assert!(offset as usize <= len, "{len}: {message}");
        assert!(
            message.contains(&format!("at byte {offset}")) && message.contains('$'),
            "{message}"
        );
    }
}

#[test]
fn every_changed_byte_is_judged_as_the_independent_reader_does() {
    let mut text = TEXT.as_bytes().to_vec();
    for at in 0..text.len() {
        let kept = text[at];
        for byte in [0, b' ', b'"', b'\\', b'{', b']', b',', b'0', b'-', b'.', b'e', 0x80, 0xff] {
            text[at] = byte;
            let theirs = serde_json::from_slice::<serde_json::Value>(&text);
            match (read(&text), theirs) {
                (Ok(ours), Ok(theirs)) => {
                    // Theirs merges repeated names, ours keeps them.
                    assert!(
                        same(&ours, &theirs) || ours.repeated_name().is_some(),
                        "byte {at} = {byte}"
                    );
                }
                (Err(_), Err(_)) => {}
                // Too large for a float: they refuse it, here it is infinite as in Python.
                (Ok(_), Err(theirs)) if theirs.to_string().contains("out of range") => {}
                (ours, theirs) => panic!("byte {at} = {byte}: {ours:?} but {theirs:?}"),
            }
        }
        text[at] = kept;
    }
}

#[test]
fn errors_name_the_byte_and_the_path() {
    let cases = [
        (
            r#"{"data": {"4;0;1": {"regions": {"1.2": [[1, 2], [3, x]]}}}}"#,
            52,
            r#"$.data["4;0;1"].regions["1.2"][1][1]"#,
        ),
        (r#"{"a": [1, 2, 03]}"#, 14, "$.a[2]"),
        (r#"{"a": 1 "b": 2}"#, 8, "$.a"),
        ("[1, 2", 5, "$[1]"),
        ("[1] 2", 4, "$"),
        (
            r#"{"a": "b
"}"#,
            8,
            "$.a",
        ),
    ];
    for (text, offset, path) in cases {
        let fault = read(text.as_bytes()).unwrap_err();
        assert_eq!((fault.offset, fault.path.as_str()), (offset, path), "{text}: {fault}");
    }
}

#[test]
fn depth_length_and_number_of_values_are_bounded() {
    let deep = "[".repeat(1_000_000);
    let fault = read(deep.as_bytes()).unwrap_err();
    assert_eq!(fault.kind, JsonErrorKind::TooDeep { limit: 256 });
    assert_eq!(fault.offset, 256);
    let limits = JsonLimits { token_bytes: 1000, values: 100, ..JsonLimits::default() };
    let long = format!("\"{}\"", "x".repeat(100_000));
    let escaped = format!("\"\\n{}\"", "x".repeat(100_000));
    let many = format!("[{}1]", "1,".repeat(1000));
    for text in [long, escaped, many] {
        let chunks: Vec<_> = text.as_bytes().chunks(64).map(|c| Ok(c.to_vec())).collect();
        let mut reader = JsonReader::new(ChunkStream::new(chunks.into_iter()), limits);
        // The window starts larger than this limit, so only what does not fit it is refused.
        let outcome = reader.read_value();
        let large = matches!(outcome, Err(ref fault) if matches!(fault.kind, JsonErrorKind::TooLarge { .. }));
        assert!(large || text.len() < 128 << 10, "{outcome:?}");
    }
}

#[test]
fn rows_are_the_same_fast_and_slow_in_any_window() {
    let mut text = String::from("{\"r\": [");
    for i in 0..3000 {
        let comma = if i > 0 { ", " } else { "" };
        text += &format!(
            "{comma}[{}.{:06}, -{i}e-3, \"f{}.c\"]",
            1_758_626_047 + i,
            i * 17 % 1_000_000,
            i % 7
        );
    }
    text += "]}";
    let theirs: serde_json::Value = serde_json::from_str(&text).unwrap();
    for piece in [1, 13, 100, 5000, usize::MAX] {
        let chunks: Vec<_> = text.as_bytes().chunks(piece).map(|c| Ok(c.to_vec())).collect();
        let mut reader =
            JsonReader::new(ChunkStream::new(chunks.into_iter()), JsonLimits::default());
        reader.next_event().unwrap();
        assert_eq!(reader.next_key().unwrap().as_deref(), Some("r"));
        reader.next_event().unwrap();
        let mut row = Row::default();
        for (i, expected) in theirs["r"].as_array().unwrap().iter().enumerate() {
            assert!(reader.next_row(&mut row).unwrap(), "row {i} in pieces of {piece}");
            assert_eq!(row.len(), 3);
            assert_eq!(row.number(0), expected[0].as_f64());
            assert_eq!(row.number(1), expected[1].as_f64());
            assert_eq!(row.text(2), expected[2].as_str());
            assert_eq!((row.number(2), row.text(0), row.number(3)), (None, None, None));
        }
        assert!(!reader.next_row(&mut row).unwrap());
        assert_eq!(reader.next_event().unwrap(), Event::EndArray);
        assert_eq!(reader.next_event().unwrap(), Event::EndObject);
        assert_eq!(reader.next_event().unwrap(), Event::End);
    }
}

#[test]
fn what_is_not_a_flat_row_is_left_for_events() {
    for text in ["[[1, [2]]]", r#"[["a\n"]]"#, "[[]]", "[5]", "[{}]", "[[1 2]]", "[[1,]]"] {
        let mut reader = JsonReader::from_slice(text.as_bytes(), JsonLimits::default());
        reader.next_event().unwrap();
        let before = reader.offset();
        assert!(!reader.next_row(&mut Row::default()).unwrap(), "{text}");
        assert_eq!(reader.offset(), before, "{text}");
    }
}

/// The fields of a row, bit for bit.
fn written(row: &Row) -> String {
    let bits = |i| row.number(i).map(f64::to_bits);
    let fields: Vec<_> = (0..row.len()).map(|i| (bits(i), row.text(i))).collect();
    format!("{fields:?}")
}

/// Every row of a list and what follows it; `reuse` reads all into one row, which compares them.
fn rows(text: &[u8], reuse: bool) -> Vec<String> {
    let mut reader = JsonReader::from_slice(text, JsonLimits::default());
    let (mut out, mut row) = (Vec::new(), Row::default());
    loop {
        if !reuse {
            row = Row::default();
        }
        if reader.next_row(&mut row).unwrap() {
            out.push(written(&row));
            continue;
        }
        let event = reader.next_event().map(|event| format!("{event:?}"));
        let last = event.is_err() || event.as_deref() == Ok("End");
        out.push(format!("{event:?} {} {}", reader.offset(), reader.path()));
        if last {
            return out;
        }
    }
}

/// As [`rows`], as many at once as there are.
fn rows_at_once(text: &[u8]) -> Vec<String> {
    let mut reader = JsonReader::from_slice(text, JsonLimits::default());
    let (mut out, mut row) = (Vec::new(), Row::default());
    loop {
        reader.rows(&mut row, |row| out.push(written(row))).unwrap();
        let event = reader.next_event().map(|event| format!("{event:?}"));
        let last = event.is_err() || event.as_deref() == Ok("End");
        out.push(format!("{event:?} {} {}", reader.offset(), reader.path()));
        if last {
            return out;
        }
    }
}

#[test]
fn rows_that_are_compared_are_those_that_are_read() {
    let mut state = 11_u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 24) % below
    };
    for round in 0..6000 {
        let fields: Vec<u64> = (0..1 + next(7)).map(|_| next(12)).collect();
        let (comma, gap) = [(",", ""), (", ", ", "), (" ,\r\n ", ",\n")][next(3) as usize];
        let mut text = String::from("[");
        for row in 0..4 + next(20) {
            let values: Vec<String> = fields
                .iter()
                .map(|kind| match kind {
                    0 => format!("{}.{:06}", 1_758_626_047 + next(3), next(1_000_000)),
                    1 => format!("{}.{:07}", 1_758_626_047 + next(3), next(10_000_000)),
                    2 => format!("{}", 1_758_626_047.0 + next(100_000_000) as f64 / 1e7),
                    3 => format!("{}", next(130)),
                    4 => "\"solver.c\"".to_owned(),
                    5 => format!("\"f{}.c\"", next(2)),
                    6 => "117".to_owned(),
                    8 => format!("{}{}.5e{}", ["", "-"][next(2) as usize], next(12), next(3)),
                    9 => format!("{}.{}", next(3), next(1000)),
                    10 => format!("{}.{}", 12_345_678_900 + next(900), next(100_000)),
                    7 => format!("{}", 10_u64.pow(next(16) as u32) + next(9)),
                    _ => format!("{}", f64::from_bits(next(1 << 40) << 20 | 0x3ff << 52) - 1.5),
                })
                .collect();
            let before = if row == 0 { "" } else { gap };
            text += &format!("{before}[{}]", values.join(comma));
        }
        text += &format!("]{}", " ".repeat(64));
        let mut bytes = text.into_bytes();
        let whole = rows(&bytes, false);
        assert_eq!(rows(&bytes, true), whole, "round {round}");
        assert_eq!(rows_at_once(&bytes), whole, "round {round}");
        for _ in 0..4 {
            let at = next(bytes.len() as u64) as usize;
            let kept = bytes[at];
            bytes[at] = b"0123456789.,-+eE[]{}\" \0\\a\xff"[next(26) as usize];
            let text = String::from_utf8_lossy(&bytes);
            let whole = rows(&bytes, false);
            assert_eq!(rows(&bytes, true), whole, "round {round}: {text}");
            assert_eq!(rows_at_once(&bytes), whole, "round {round}: {text}");
            if next(2) == 0 {
                bytes[at] = kept;
            }
        }
    }
}
