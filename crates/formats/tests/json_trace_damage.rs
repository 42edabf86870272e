//! JSON traces that are cut, damaged, odd or hostile: what can be read is read, and the rest is
//! told.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod json_traces;

use json_traces::{chrome, codar, rows};
use parallax_base::{ByteSource, Issues, MemorySource, Place, ReadError, Severity};
use parallax_formats::FormatError;
use parallax_formats::json_trace::{
    ChromeReader, CodarKind, CodarReader, EventId, Phase, TraceLimits, TraceOptions, TrackId,
};
use parallax_formats::stream::{ChunkStream, SliceStream};
use parallax_testkit::json_trace::{JsonTrace, Style};
use proptest::prelude::*;

/// Names of the events and kinds of the issues.
fn told(text: &str) -> (Vec<String>, Vec<&'static str>) {
    let mut reader = ChromeReader::new(SliceStream::new(text.as_bytes()), &TraceOptions::new("t"));
    let (mut issues, mut ids) = (Issues::new(), Vec::new());
    while let Some(event) = reader.next_event(&mut issues).unwrap() {
        ids.push(event.name.unwrap());
    }
    let names = ids.into_iter().map(|id| reader.names().get(id).to_owned()).collect();
    (names, issues.list().iter().map(|issue| issue.kind).collect())
}

fn check(text: &str, names: &[&str], kinds: &[&'static str]) {
    let (found, issues) = told(text);
    assert_eq!((found.as_slice(), issues.as_slice()), (&names.map_strings()[..], kinds), "{text}");
}

trait Strings {
    fn map_strings(&self) -> Vec<String>;
}

impl Strings for [&str] {
    fn map_strings(&self) -> Vec<String> {
        self.iter().map(|&text| text.to_owned()).collect()
    }
}

const A: &str = r#"{"ph":"B","name":"a","ts":1}"#;
const B: &str = r#"{"ph":"E","name":"b","ts":2}"#;
const C: &str = r#"{"ph":"E","name":"c","ts":3}"#;

#[test]
fn lists_without_an_end_or_with_odd_commas_are_read() {
    check(&format!("[{A},{B}]"), &["a", "b"], &[]);
    check(&format!("[{A},{B}"), &["a", "b"], &["unterminated-list"]);
    check(&format!("[{A},{B},\n"), &["a", "b"], &["unterminated-list"]);
    check(&format!("[{A},{B},\n]"), &["a", "b"], &[]);
    check(&format!("[{A},,{B}]"), &["a", "b"], &["extra-comma"]);
    check(&format!("[{A}\n{B}]"), &["a", "b"], &["missing-comma"]);
    check(&format!("[{{}},{A},{{ }}]"), &["a"], &[]);
    check(&format!("\u{feff}{{\"traceEvents\":[{A}]}}"), &["a"], &[]);
    check(&format!("{{\"traceEvents\":[{A}]"), &["a"], &["truncated"]);
    check(&format!("{{\"x\":[1,{{}}],\"traceEvents\":[{A}],\"y\":2}}"), &["a"], &[]);
    check(&format!("[{A}][{B}]"), &["a", "b"], &["several-documents"]);
    check("[]", &[], &[]);
    check("{}", &[], &["no-events"]);
}

#[test]
fn a_damaged_event_costs_no_other() {
    check(&format!("[{A},{{\"ph\":\"B\",\"name\":nonsense}},{C}]"), &["a", "c"], &["damaged"]);
    check(&format!("[{A},\0\0\0\0\0\0,{B},{C}]"), &["a", "c"], &["damaged"]);
    check(&format!("[{A},5,\"x\",[1],{C}]"), &["a", "c"], &["not-an-event"]);
    check(&format!("[{A},{{\"x\":1}},{C}]"), &["a", "c"], &["event-without-phase"]);
    check(&format!("[{A},{{\"ph\":7,\"name\":\"b\"}},{C}]"), &["a", "c"], &["event-without-phase"]);
    check(&format!("[{A}]garbage"), &["a"], &["damaged"]);
    check("{\"traceEvents\": 5}", &[], &["no-events"]);
    check(&format!("[{A},{{\"ph\":\"Q\",\"name\":\"q\"}}]"), &["a", "q"], &["unknown-phase"]);
    let text = format!("[{A},{{\"ph\":\"B\",\"name\":\"b\",\"ts\":[],\"dur\":true}},{C}]");
    check(&text, &["a", "b", "c"], &["bad-field"]);
    check("[{\"ph\":\"B\",\"name\":\"a\",\"ts\":0.0001}]", &["a"], &["time-rounded"]);
}

#[test]
fn the_place_of_damage_is_told() {
    let text = format!("[{A},{B},{{\"ph\":\"B\",");
    let mut reader = ChromeReader::new(SliceStream::new(text.as_bytes()), &TraceOptions::new("t"));
    let mut issues = Issues::new();
    while reader.next_event(&mut issues).unwrap().is_some() {}
    let issue = &issues.list()[0];
    let place = Place::Byte { file: "t".into(), offset: (A.len() + B.len() + 3) as u64 };
    assert_eq!((issue.kind, issue.severity, &issue.place), ("truncated", Severity::Error, &place));
    assert_eq!(reader.events(), 2);
}

#[test]
fn a_trace_cut_anywhere_keeps_the_events_before_the_cut() {
    for style in [Style::Tau, Style::Codar, Style::Chrome, Style::Kineto] {
        let (text, _) = JsonTrace::new(style, 1, 2).text();
        let read = |text: &[u8]| match style {
            Style::Tau | Style::Codar => {
                let mut reader = CodarReader::new(SliceStream::new(text), &TraceOptions::new("t"));
                let (mut issues, mut ends) = (Issues::new(), Vec::new());
                while let Ok(Some(event)) = reader.next_event(&mut issues) {
                    ends.push(event.offset as usize + event.text.len());
                }
                (ends, issues)
            }
            _ => {
                let mut reader = ChromeReader::new(SliceStream::new(text), &TraceOptions::new("t"));
                let (mut issues, mut ends) = (Issues::new(), Vec::new());
                while let Ok(Some(event)) = reader.next_event(&mut issues) {
                    ends.push(event.offset as usize + event.text.len());
                }
                (ends, issues)
            }
        };
        let (all, _) = read(&text);
        assert!(all.len() > 5);
        for cut in 2..text.trim_ascii_end().len() {
            let (ends, issues) = read(&text[..cut]);
            let expected = all.iter().filter(|&&end| end <= cut).count();
            assert_eq!(ends.len(), expected, "{style:?} cut at {cut}");
            assert_eq!(issues.len(), 1, "{style:?} cut at {cut}: {:?}", issues.list());
        }
    }
}

#[test]
fn a_document_whose_front_was_overwritten_gives_the_rest() {
    // tau_trace2json opens its file twice and writes the metadata over the first events.
    let (text, _) = JsonTrace::new(Style::Tau, 1, 20).text();
    let text = String::from_utf8(text).unwrap();
    let events = text.find("\t\"trace events\"").unwrap();
    let mut broken = text[..events].to_owned() + "}\n";
    let list = text[events..].to_owned();
    broken.push_str(list[broken.len()..].trim_end().strip_suffix('}').unwrap());
    let (out, issues) = codar(broken.as_bytes(), true, usize::MAX);
    let (whole, _) = codar(text.as_bytes(), true, usize::MAX);
    assert!(out.len() > 100 && out.len() < whole.len(), "{}", out.len());
    let kinds: Vec<_> = issues.list().iter().map(|issue| issue.kind).collect();
    assert_eq!(kinds, ["front-overwritten"]);
    // The events alone, as they stand before the metadata is written.
    let (out, issues) = codar(list.as_bytes(), true, usize::MAX);
    assert_eq!(issues.list()[0].kind, "no-opening-brace");
    assert_eq!(out.len(), whole.len());
}

#[test]
fn ids_and_threads_are_the_same_however_they_are_written() {
    let text = r#"[{"ph":"X","pid":"3","tid":"Stream","ts":"1.5","dur":2,"name":"a\u0062"},
        {"ph":"s","pid":3,"tid":-1,"id":"0x1F","scope":"7"},
        {"ph":"b","pid":3.0,"id2":{"local":"0x2"},"name":"ab"},
        {"ph":"f","id":"12","bp":"e"},{"ph":"f","id":"a b"},{"ph":"B","bind_id":5,"flow_out":true}]"#;
    let mut reader = ChromeReader::new(SliceStream::new(text.as_bytes()), &TraceOptions::new("t"));
    let mut issues = Issues::new();
    let first = reader.next_event(&mut issues).unwrap().unwrap();
    assert_eq!((first.process, first.time_nanos), (Some(TrackId::Number(3)), Some(1500)));
    let (name, thread) = (first.name, first.thread);
    let second = reader.next_event(&mut issues).unwrap().unwrap();
    assert_eq!(
        (second.process, second.thread),
        (Some(TrackId::Number(3)), Some(TrackId::Number(-1)))
    );
    assert_eq!((second.id(), second.id_scope()), (Some(EventId::Hex(31)), Some(&b"7"[..])));
    let third = reader.next_event(&mut issues).unwrap().unwrap();
    assert_eq!((third.process, third.name), (Some(TrackId::Number(3)), name));
    assert_eq!((third.id(), third.id_is_local()), (Some(EventId::Hex(2)), true));
    let fourth = reader.next_event(&mut issues).unwrap().unwrap();
    assert_eq!((fourth.id(), fourth.binds_enclosing()), (Some(EventId::Number(12)), true));
    let fifth = reader.next_event(&mut issues).unwrap().unwrap();
    assert_eq!(fifth.id(), Some(EventId::Text(b"a b")));
    let last = reader.next_event(&mut issues).unwrap().unwrap();
    assert_eq!(
        (last.phase, last.bind_id(), last.flow_out()),
        (Phase::Begin, Some(EventId::Number(5)), true)
    );
    let Some(TrackId::Name(thread)) = thread else { panic!("{thread:?}") };
    assert_eq!((reader.names().get(thread), reader.names().get(name.unwrap())), ("Stream", "ab"));
    assert!(issues.is_empty(), "{:?}", issues.list());
}

#[test]
fn the_clock_of_a_document_decides_what_a_time_is() {
    for (period, nanos) in [
        ("\"1e-06\"", 2_500),
        ("1e-09", 2),
        ("\"1e-12\"", 0),
        ("0.001", 2_500_000),
        ("\"2e-06\"", 5_000),
        ("\"x\"", 2_500),
    ] {
        let text = format!(
            "{{\"metadata\":{{\"clock-period\":{period}}},\"trace events\":[{{\"event-type\":\"entry\",\"time\":\"2.500000\"}}]}}"
        );
        let mut reader =
            CodarReader::new(SliceStream::new(text.as_bytes()), &TraceOptions::new("t"));
        let mut issues = Issues::new();
        let event = reader.next_event(&mut issues).unwrap().unwrap();
        // Half a nanosecond is rounded up.
        let nanos = if nanos == 2 { 3 } else { nanos };
        assert_eq!((event.kind, event.time_nanos), (CodarKind::Entry, Some(nanos)), "{period}");
        assert_eq!(issues.is_empty(), !matches!(period, "\"x\"" | "1e-09" | "\"1e-12\""));
    }
}

#[test]
fn sizes_that_a_file_claims_are_bounded() {
    let limits = TraceLimits { event_bytes: 4096, name_bytes: 64, metadata_bytes: 256 };
    let options = TraceOptions { limits, ..TraceOptions::new("t") };
    let large = "x".repeat(20_000);
    let list = vec!["[1],"; 5000].concat();
    let text = format!(
        "{{\"a\":[{list}[]],\"b\":1,\"traceEvents\":[{A},{{\"ph\":\"B\",\"name\":\"{large}\"}},{B},{{\"ph\":\"B\",\"args\":{}{}}},{C}],\"c\":\"{large}\"}}",
        "[".repeat(100_000),
        "]".repeat(100_000),
    );
    let mut reader = ChromeReader::new(SliceStream::new(text.as_bytes()), &options);
    let (mut issues, mut names) = (Issues::new(), Vec::new());
    while let Some(event) = reader.next_event(&mut issues).unwrap() {
        names.push(event.name.unwrap());
    }
    let names: Vec<&str> = names.into_iter().map(|id| reader.names().get(id)).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let kept: Vec<_> = reader.metadata().iter().map(|part| part.name.as_str()).collect();
    assert_eq!(kept, ["b"]);
    let kinds: Vec<_> = issues.list().iter().map(|issue| (issue.kind, issue.count)).collect();
    assert_eq!(kinds[..2], [("metadata-too-large", 1), ("event-too-large", 1)]);
    assert!(kinds[2..].iter().all(|(kind, _)| *kind == "damaged"), "{kinds:?}");
}

#[test]
fn names_beyond_the_limit_are_told() {
    let limits = TraceLimits { name_bytes: 8, ..TraceLimits::default() };
    let options = TraceOptions { limits, ..TraceOptions::new("t") };
    let text = format!("[{A},{{\"ph\":\"B\",\"name\":\"a longer name\"}},{B}]");
    let mut reader = ChromeReader::new(SliceStream::new(text.as_bytes()), &options);
    let mut issues = Issues::new();
    while reader.next_event(&mut issues).unwrap().is_some() {}
    assert_eq!(reader.events(), 3);
    assert_eq!(issues.list()[0].kind, "too-many-names");
}

#[test]
fn storage_that_fails_ends_the_trace_with_a_word() {
    let text = format!("[{A},{B},{{\"ph\":");
    let fault = || ReadError::Storage { offset: 77, cause: "the disk is gone".into() };
    let chunks = vec![Ok(text.into_bytes()), Err(fault())];
    let mut reader =
        ChromeReader::new(ChunkStream::new(chunks.into_iter()), &TraceOptions::new("t"));
    let mut issues = Issues::new();
    while reader.next_event(&mut issues).unwrap().is_some() {}
    assert_eq!(reader.events(), 2);
    let kinds: Vec<_> = issues.list().iter().map(|issue| issue.kind).collect();
    assert_eq!(kinds, ["unreadable"]);
    let mut reader = ChromeReader::new(
        ChunkStream::new(vec![Err(fault())].into_iter()),
        &TraceOptions::new("t"),
    );
    assert!(matches!(reader.next_event(&mut issues), Err(FormatError::Read { .. })));
}

#[test]
fn another_file_is_refused_at_its_first_byte() {
    let source = MemorySource::new(b"HPCTOOLKITmeta".to_vec());
    let mut reader = ChromeReader::open(&source, &TraceOptions::new("meta.db")).unwrap();
    let error = reader.next_event(&mut Issues::new()).unwrap_err();
    assert!(matches!(error, FormatError::NotThisFormat { .. }), "{error}");
    assert!(!source.is_empty());
}

#[test]
fn garbage_that_looks_like_events_is_passed_over_soon() {
    for unit in ["},{\"a\":[", "},{\"", "},{\"a\":\"", "]]},{\"a\":[[[[", "[", "{\"a\":", "\"\\"] {
        let text = format!("[{A},{}", unit.repeat((4 << 20) / unit.len()));
        let (out, issues) = chrome(text.as_bytes(), true, usize::MAX);
        assert!(!out.is_empty() && !issues.is_empty(), "{unit}");
    }
}

/// Events with damage here and there: pieces of JSON in any order.
fn fragments() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        A.to_owned(),
        B.to_owned(),
        r#"{"ph":"X","name":"n","ts":5,"dur":1.25,"args":{"a":[1,{"b":"}"}],"c":"\""}}"#.to_owned(),
        r#"{"ph":"X","name":"m","ts":6,"dur":2.25,"args":{"a":[2],"c":"\\"}}"#.to_owned(),
        r#"{"event-type":"entry","name":"f","time":"5.0","node-id":1,"thread-id":0}"#.to_owned(),
        r#"{"event-type":"exit","name":"f","time":"6.0","node-id":1,"thread-id":0}"#.to_owned(),
        r#"{"event-type":"exit","name":"f","time":null,"node-id":"1" ,"thread-id":0}"#.to_owned(),
        r#"[0,0,0,1,2,NaN,"NA",null,NaN,NaN,NaN,17]"#.to_owned(),
        r#"[0,0,0,2,NaN,NaN,NaN,NaN,"3",1,"4",17.5,9]"#.to_owned(),
        ",".to_owned(),
        ",".to_owned(),
        ",\n ".to_owned(),
        "[".to_owned(),
        "]".to_owned(),
        "{".to_owned(),
        "}".to_owned(),
        "\"".to_owned(),
        "\\".to_owned(),
        "{\"traceEvents\":[".to_owned(),
        "{\"trace events\":[".to_owned(),
        "\"ph\":".to_owned(),
        "1e5".to_owned(),
        " ".to_owned(),
        "\u{fffd}".to_owned(),
    ]);
    let front = prop::sample::select(vec!["[", "{\"traceEvents\":[", "{\"trace events\":[", ""]);
    (front, prop::collection::vec(piece, 0..60))
        .prop_map(|(front, all)| front.to_owned() + &all.concat())
}

proptest! {
    #[test]
    fn layouts_and_pieces_change_nothing_whatever_the_text(text in fragments(), piece in 1..40_usize) {
        let text = text.as_bytes();
        let expected = chrome(text, false, usize::MAX);
        prop_assert_eq!(&chrome(text, true, usize::MAX), &expected);
        prop_assert_eq!(&chrome(text, true, piece), &expected);
        let expected = codar(text, false, usize::MAX);
        prop_assert_eq!(&codar(text, true, usize::MAX), &expected);
        prop_assert_eq!(&codar(text, true, piece), &expected);
        // Rows have values that differ from themselves, so their text is compared.
        prop_assert_eq!(format!("{:?}", rows(text, usize::MAX)), format!("{:?}", rows(text, piece)));
    }

    #[test]
    fn flipped_bytes_change_nothing_about_that(
        at in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        style in prop::sample::select(vec![Style::Tau, Style::Codar, Style::Chrome, Style::Kineto]),
        piece in 1..200_usize,
    ) {
        let (mut text, _) = JsonTrace::new(style, 1, 9).text();
        for (at, byte) in at {
            let at = at.index(text.len());
            text[at] = byte;
        }
        let read = if matches!(style, Style::Tau | Style::Codar) { codar } else { chrome };
        let expected = read(&text, false, usize::MAX);
        prop_assert_eq!(&read(&text, true, usize::MAX), &expected);
        prop_assert_eq!(&read(&text, true, piece), &expected);
        prop_assert!(expected.0.len() > 20 || !expected.1.is_empty());
    }
}
