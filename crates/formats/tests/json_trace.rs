//! JSON traces: real files with known counts, made ones with planted counts, and what sniffing
//! says about everything else.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod json_traces;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;

use json_traces::{chrome, codar, corpus, decompressed, executions, rows};
use parallax_base::{Issues, MemorySource};
use parallax_formats::json_trace::{
    Balance, ChimbukoReader, ChromeReader, CodarKind, CodarReader, EventCodes, EventId,
    ExecutionsReader, JsonTraceFormat, MessageEvidence, Phase, RowKind, TraceOptions, TrackId,
    function_names, sniff,
};
use parallax_formats::scaling_data;
use parallax_formats::stream::SliceStream;
use parallax_testkit::json_trace::{DEPTH, FUNCTIONS, JsonTrace, Style};
use serde_json::Value;

/// Events, complete ones, arrow starts, arrow ends, threads with complete events, empty objects.
const CHROME: [(&str, [u64; 6]); 7] = [
    ("chrome/critical_path_alexnet", [1408, 868, 155, 345, 5, 0]),
    ("chrome/memcpy-host-device", [2645, 2636, 2, 0, 7, 1]),
    ("chrome/nccl_parser_config", [40_573, 26_933, 4405, 9195, 6, 0]),
    ("chrome/ns_resolution", [68_692, 45_420, 7306, 15_928, 5, 0]),
    ("chrome/timeline_analysis", [4855, 4811, 0, 0, 8, 0]),
    ("other/trace-event_multiprocess", [17, 8, 0, 0, 8, 0]),
    ("other/Chrome_116", [3108, 2456, 13, 13, 12, 0]),
];

#[test]
fn chrome_traces_have_the_events_that_a_general_reader_finds() {
    for (stem, expected) in CHROME {
        let Some(text) = corpus(stem) else { return };
        assert_eq!(sniff(&text), Some(JsonTraceFormat::Chrome), "{stem}");
        let tree: Value = serde_json::from_slice(&text).unwrap();
        let list = tree.get("traceEvents").unwrap_or(&tree).as_array().unwrap();
        let mut others = list.iter().filter(|event| event.get("ph").is_some());
        let mut issues = Issues::new();
        let options = TraceOptions::new(stem);
        let mut reader = ChromeReader::new(SliceStream::new(&text), &options);
        let (mut found, mut threads) = ([0; 6], BTreeSet::new());
        let mut pairs = Vec::new();
        while let Some(event) = reader.next_event(&mut issues).unwrap() {
            found[0] += 1;
            match event.phase {
                Phase::Complete => {
                    found[1] += 1;
                    threads.insert((event.process, event.thread));
                }
                Phase::FlowStart => found[2] += 1,
                Phase::FlowEnd => found[3] += 1,
                _ => {}
            }
            let other = others.next().unwrap();
            assert_eq!(&serde_json::from_slice::<Value>(event.text).unwrap(), other);
            for (nanos, name) in [(event.time_nanos, "ts"), (event.duration_nanos, "dur")] {
                let number = |value: &Value| {
                    value.as_f64().or_else(|| value.as_str().and_then(|text| text.parse().ok()))
                };
                let micros = other.get(name).and_then(number);
                assert_eq!(nanos.is_some(), micros.is_some(), "{stem}: {other}");
                // A float is a quarter of a microsecond off at the times of our days.
                let off = nanos.unwrap_or(0) as f64 - micros.unwrap_or(0.0) * 1e3;
                assert!(off.abs() <= 500.0, "{stem}: {other}");
            }
            assert_eq!(
                event.args.entries().count(),
                other.get("args").map_or(0, |args| args.as_object().unwrap().len())
            );
            pairs.push((event.name, event.categories, event.process, event.thread, other));
        }
        assert_eq!(others.next(), None);
        found[4] = threads.len() as u64;
        found[5] = reader.empty_events();
        assert_eq!(found, expected, "{stem}");
        assert!(issues.is_empty(), "{stem}: {:?}", issues.list());
        assert_eq!(reader.bytes_read(), text.len() as u64);
        for (name, categories, process, thread, other) in pairs {
            let text = |id: Option<_>| id.map(|id| reader.names().get(id));
            let track = |id: Option<TrackId>| match id {
                None => None,
                Some(TrackId::Number(number)) => Some(number.to_string()),
                Some(TrackId::Name(id)) => Some(reader.names().get(id).to_owned()),
            };
            let plain = |name: &str| match other.get(name) {
                Some(Value::String(text)) => Some(text.clone()),
                Some(other) => Some(other.to_string()),
                None => None,
            };
            assert_eq!(text(name), other.get("name").and_then(Value::as_str));
            assert_eq!(text(categories), other.get("cat").and_then(Value::as_str));
            assert_eq!((track(process), track(thread)), (plain("pid"), plain("tid")));
        }
        let beside: BTreeSet<&str> = reader.metadata().iter().map(|m| m.name.as_str()).collect();
        let expected: BTreeSet<&str> = tree.as_object().map_or_else(BTreeSet::new, |tree| {
            tree.keys().map(String::as_str).filter(|&name| name != "traceEvents").collect()
        });
        assert_eq!(beside, expected);
    }
}

#[test]
fn kineto_tells_when_its_clock_began_and_what_an_event_belongs_to() {
    let Some(text) = corpus("chrome/nccl_parser_config") else { return };
    let mut reader = ChromeReader::new(SliceStream::new(&text), &TraceOptions::new("nccl"));
    let mut issues = Issues::new();
    let (mut correlated, mut kernels, mut starts, mut ends) = (0, 0, BTreeSet::new(), 0);
    while let Some(event) = reader.next_event(&mut issues).unwrap() {
        let correlation = event.args.integer("correlation");
        correlated += usize::from(correlation.is_some());
        if event.args.get("stream").is_some() && correlation.is_some() {
            kernels += 1;
            assert!(event.args.integer("device").is_some());
        }
        match (event.phase, event.id()) {
            (Phase::FlowStart, Some(EventId::Number(id))) => {
                starts.insert(id);
            }
            (Phase::FlowEnd, Some(EventId::Number(_))) => {
                assert!(event.binds_enclosing());
                ends += 1;
            }
            (_, id) => assert_eq!(id, None),
        }
    }
    let base = reader.metadata().iter().find(|part| part.name == "baseTimeNanoseconds").unwrap();
    assert_eq!(base.text, b"1711964646000000000");
    let info = reader.metadata().iter().find(|part| part.name == "distributedInfo").unwrap();
    assert!(info.value().unwrap().get("rank").is_some());
    assert!(correlated > 1000 && kernels > 1000, "{correlated} {kernels}");
    assert!(starts.len() > 1000 && ends > starts.len());
}

#[test]
fn the_layout_of_events_and_the_size_of_pieces_change_nothing() {
    for (stem, _) in CHROME {
        let Some(text) = corpus(stem) else { return };
        let expected = chrome(&text, false, usize::MAX);
        for piece in [usize::MAX, 1 << 12] {
            assert!(chrome(&text, true, piece) == expected, "{stem} in pieces of {piece}");
        }
        let front = &text[..text.len().min(100_000)];
        assert!(chrome(front, true, 7) == chrome(front, false, usize::MAX), "{stem}");
    }
    for style in [Style::Tau, Style::Codar] {
        let (text, _) = JsonTrace::new(style, 3, 3000).text();
        let expected = codar(&text, false, usize::MAX);
        for piece in [usize::MAX, 1 << 12, 7] {
            assert!(codar(&text, true, piece) == expected, "{style:?} in pieces of {piece}");
        }
    }
}

#[test]
fn executions_are_read_with_ids_of_both_kinds_and_counted_messages() {
    let message = |kind: &str| format!(r#"{{"event-type": "{kind}", "time": "3"}}"#);
    let messages = [message("send"), message("receive"), message("receive")].join(", ");
    let text = format!(
        r#"{{"executions": {{
            "7.0": {{"name": "f \u0041", "prog names": "0", "comm ranks": 3, "threads": 1,
                    "entry": "1500", "exit": "1600.25", "parent": "6.0", "children": ["8.0"],
                    "messages": [{messages}], "anomaly_score": "-1"}},
            "-8": {{"name": "g", "prog names": "writer", "comm ranks": 2, "entry": 1, "exit": 2,
                   "findex": -8, "parent": -7, "messages": [], "anomaly_score": 1}},
            "9": {{"name": "g", "entry": "soon"}}
        }}, "stat": {{"f A": {{"abnormal": 1}}}}}}"#
    );
    let mut issues = Issues::new();
    let mut reader =
        ExecutionsReader::new(SliceStream::new(text.as_bytes()), &TraceOptions::new("a.json"));
    let first = reader.next_execution(&mut issues).unwrap().unwrap();
    assert_eq!((&*first.id, first.parent.as_deref()), ("7.0", Some("6.0")));
    assert_eq!((first.program, first.rank, first.thread), (Some(0), Some(3), Some(1)));
    assert_eq!((first.entry_nanos, first.exit_nanos), (Some(1_500_000), Some(1_600_250)));
    assert_eq!((first.score, first.sends, first.receives), (Some(-1), 1, 2));
    let second = reader.next_execution(&mut issues).unwrap().unwrap();
    assert_eq!((&*second.id, second.parent.as_deref()), ("-8", Some("-7")));
    assert_eq!((second.program, second.rank, second.thread), (None, Some(2), None));
    assert!(issues.list().is_empty(), "{:?}", issues.list());
    let third = reader.next_execution(&mut issues).unwrap().unwrap();
    assert_eq!((third.entry_nanos, third.exit_nanos, third.score), (None, None, None));
    assert!(reader.next_execution(&mut issues).unwrap().is_none());
    assert_eq!(issues.list().iter().map(|issue| issue.kind).collect::<Vec<_>>(), ["bad-field"]);
    assert_eq!(reader.names().iter().collect::<Vec<_>>(), ["f A", "g"]);
    assert_eq!(reader.metadata()[0].name, "stat");
    let expected = executions(text.as_bytes(), false, usize::MAX);
    for piece in [1, 7, 64] {
        assert!(executions(text.as_bytes(), true, piece) == expected, "in pieces of {piece}");
    }
}

#[test]
fn the_rows_of_lammps_balance_under_the_codes_that_are_found() {
    let Some(text) = corpus("codar/lammps-event_list") else { return };
    let names = function_names(&corpus("codar/functions_lammps_ref").unwrap()).unwrap();
    assert_eq!(names.len(), 16);
    assert_eq!(sniff(&text), Some(JsonTraceFormat::Chimbuko));
    let source = MemorySource::new(text.clone());
    let options = TraceOptions::new("event_list.json");
    for names in [&names[..], &[]] {
        let first = ChimbukoReader::first_rows(&source, &options, 10_000).unwrap();
        let guess = EventCodes::infer(&first, names).unwrap();
        let expected =
            EventCodes { entry: Some(1), exit: Some(0), send: Some(2), receive: Some(3) };
        assert_eq!((guess.codes, guess.misfits), (expected, 0));
        assert!(guess.next_misfits.unwrap() > 1000);
        let evidence = if names.is_empty() { guess.messages } else { Some(MessageEvidence::Names) };
        assert_eq!(guess.messages, evidence);
    }
    let codes = EventCodes { entry: Some(1), exit: Some(0), send: Some(2), receive: Some(3) };
    let (mut issues, mut balance) = (Issues::new(), Balance::new());
    let mut reader = ChimbukoReader::open(&source, &options).unwrap();
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut ranks, mut partners, mut times) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    while let Some(row) = reader.next_row(&mut issues).unwrap() {
        let kind = codes.kind(&row);
        balance.push(kind, &row);
        let name = match kind {
            RowKind::Entry => "entry",
            RowKind::Exit => "exit",
            RowKind::Send => "send",
            RowKind::Receive => "receive",
            _ => "other",
        };
        *kinds.entry(name).or_default() += 1;
        ranks.insert(row.rank.unwrap());
        partners.extend(row.partner);
        times.push(row.time_nanos.unwrap() / 1000);
        assert_eq!(row.tag.is_some() && row.bytes.is_some(), row.partner.is_some());
    }
    assert!(issues.is_empty(), "{:?}", issues.list());
    let expected = [("entry", 171_310), ("exit", 171_310), ("receive", 40_920), ("send", 40_919)];
    assert_eq!(kinds, BTreeMap::from(expected));
    assert_eq!((reader.rows(), ranks.len(), partners.last()), (424_459, 2, Some(&15)));
    assert_eq!((balance.misfits(), balance.still_open(), balance.deepest), (0, 0, 4));
    assert_eq!((times.iter().min(), times.iter().max()), (Some(&63_963), Some(&2_446_620)));
}

#[test]
fn the_rows_of_the_heat_workflow_have_two_programs_and_counters() {
    let Some(text) = corpus("codar/heat/events_test1") else { return };
    assert_eq!(sniff(&text), Some(JsonTraceFormat::Chimbuko));
    let names = function_names(&corpus("codar/heat/functions_test1").unwrap()).unwrap();
    let (all, issues) = rows(&text, usize::MAX);
    assert!(issues.is_empty(), "{:?}", issues.list());
    let guess = EventCodes::infer(&all, &names).unwrap();
    let expected = EventCodes { entry: Some(0), exit: Some(1), send: Some(2), receive: Some(3) };
    assert_eq!(guess.codes, expected);
    let count = |kind| all.iter().filter(|row| guess.codes.kind(row) == kind).count();
    let kinds = [RowKind::Entry, RowKind::Exit, RowKind::Counter, RowKind::Send, RowKind::Receive];
    assert_eq!(kinds.map(count), [858, 858, 354, 16, 16]);
    assert_eq!(all.len(), 2102);
    let programs: BTreeSet<_> = all.iter().map(|row| row.program).collect();
    assert_eq!(programs.len(), 2);
    assert!(rows(&text, 7) == (all, issues));
}

#[test]
fn a_message_of_chimbuko_has_rows_and_declared_codes() {
    let Some(text) = corpus("codar/executions/aggregated/events/trace.0") else { return };
    assert_eq!(sniff(&text), Some(JsonTraceFormat::Chimbuko));
    let (rows, issues) = rows(&text, usize::MAX);
    assert!(issues.is_empty(), "{:?}", issues.list());
    let tree = String::from_utf8(text).unwrap().replace("NaN", "null");
    let tree: Value = serde_json::from_str(&tree).unwrap();
    let list = tree["value"]["events"].as_array().unwrap();
    assert!(!list.is_empty());
    assert_eq!(rows.len(), list.len());
    for (row, other) in rows.iter().zip(list) {
        let number = |column: usize| other[column].as_f64().map(|value| value as i64);
        let found = [row.program, row.rank, row.thread, row.code, row.function, row.counter];
        assert_eq!(found, [0, 1, 2, 3, 4, 5].map(number));
        assert_eq!((row.time_nanos.map(|nanos| nanos / 1000), row.line), (number(11), number(12)));
    }
    let declared =
        EventCodes::declared(&corpus("codar/executions/aggregated/events/et").unwrap()).unwrap();
    assert!(rows.iter().all(|row| declared.kind(row) != RowKind::Other));
}

#[test]
fn what_tau_writes_is_read_though_it_overwrites_its_own_front() {
    let Some(text) = corpus("reactor/tau-trace-p4/trace.json") else { return };
    let mut reader = CodarReader::new(SliceStream::new(&text), &TraceOptions::new("trace.json"));
    let (mut issues, mut kinds) = (Issues::new(), BTreeMap::new());
    while let Some(event) = reader.next_event(&mut issues).unwrap() {
        *kinds.entry(format!("{:?}", event.kind)).or_insert(0) += 1;
    }
    let expected = [
        ("Counter", 2581),
        ("Entry", 82_812),
        ("Exit", 82_825),
        ("Receive", 119),
        ("Send", 116),
        ("TraceEnd", 1),
    ];
    assert!(kinds.iter().map(|(kind, &n)| (kind.as_str(), n)).eq(expected), "{kinds:?}");
    let states = reader.states();
    assert!(states.iter().any(|state| state.name.starts_with("main [{")), "{states:?}");
    assert!(states.iter().any(|state| state.group_name.as_deref() == Some("MPI")), "{states:?}");
    let issues: Vec<_> = issues.list().iter().map(|issue| (issue.kind, issue.count)).collect();
    assert_eq!(issues, [("front-overwritten", 1)]);

    // The same run as Chrome trace events is whole.
    let text = corpus("reactor/tau-trace-p4/trace-chrome").unwrap();
    let mut reader = ChromeReader::new(SliceStream::new(&text), &TraceOptions::new("trace.json"));
    let (mut issues, mut kinds) = (Issues::new(), BTreeMap::new());
    while let Some(event) = reader.next_event(&mut issues).unwrap() {
        assert!(event.time_nanos.is_some() && event.process.is_some());
        *kinds.entry(format!("{:?}", event.phase)).or_insert(0) += 1;
    }
    let expected =
        [("Begin", 82_852), ("End", 82_852), ("FlowEnd", 120), ("FlowStart", 120), ("Mark", 240)];
    assert!(kinds.iter().map(|(kind, &n)| (kind.as_str(), n)).eq(expected), "{kinds:?}");
    assert_eq!(issues.list()[0].kind, "unterminated-list");
}

#[test]
fn made_traces_have_the_planted_counts() {
    for style in [Style::Tau, Style::Codar, Style::Chrome, Style::Kineto] {
        let (text, planted) = JsonTrace::new(style, 4, 500).text();
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(&text).unwrap();
        let source = MemorySource::new(packed.finish().unwrap());
        let options = TraceOptions::new("made.json.gz");
        let mut issues = Issues::new();
        let mut found = parallax_testkit::json_trace::Counts::default();
        let (mut depth, mut deepest) = (BTreeMap::new(), 0);
        let mut follow = |thread: i64, step: i64| {
            let depth: &mut i64 = depth.entry(thread).or_default();
            *depth += step;
            assert!(*depth >= 0);
            deepest = deepest.max(*depth);
        };
        if matches!(style, Style::Tau | Style::Codar) {
            assert_eq!(sniff(&text), Some(JsonTraceFormat::Codar));
            let mut reader = CodarReader::open(&source, &options).unwrap();
            let (mut ended, mut receives) = (false, 0);
            while let Some(event) = reader.next_event(&mut issues).unwrap() {
                let thread = i64::from(event.node.unwrap_or(-1));
                match event.kind {
                    CodarKind::Entry => {
                        found.entries += 1;
                        follow(thread, 1);
                    }
                    CodarKind::Exit => follow(thread, -1),
                    CodarKind::Send => found.sends += 1,
                    CodarKind::Receive => {
                        receives += 1;
                        let message = event.message;
                        let next = message.source_node.unwrap() + 1;
                        assert_eq!(message.destination_node, Some(next % 4));
                        assert_eq!(message.bytes, Some(4096));
                    }
                    CodarKind::Counter => {
                        found.counters += 1;
                        assert!(event.value.unwrap() >= 100.0);
                    }
                    CodarKind::TraceEnd => ended = true,
                    CodarKind::Other(_) => panic!("{event:?}"),
                }
                assert!(ended || event.time_nanos.unwrap() > 1_529_543_791_035_675_000);
            }
            assert_eq!(receives, found.sends);
            assert_eq!(
                (ended, reader.empty_events()),
                if style == Style::Tau { (true, 0) } else { (false, 1) }
            );
            let states = reader.states();
            assert_eq!(states.len(), if style == Style::Tau { FUNCTIONS.len() } else { 0 });
            assert!(states.iter().all(|state| state.group_name.as_deref() == Some("TAU_USER")));
            assert_eq!(reader.names().len(), FUNCTIONS.len() + 1);
            assert!(issues.is_empty(), "{:?}", issues.list());
        } else {
            assert_eq!(sniff(&text), Some(JsonTraceFormat::Chrome));
            let mut reader = ChromeReader::open(&source, &options).unwrap();
            while let Some(event) = reader.next_event(&mut issues).unwrap() {
                let Some(TrackId::Number(thread)) = event.process else { panic!("{event:?}") };
                match event.phase {
                    Phase::Begin => {
                        found.entries += 1;
                        follow(thread, 1);
                    }
                    Phase::Complete => found.entries += 1,
                    Phase::End => follow(thread, -1),
                    Phase::FlowStart => found.sends += 1,
                    Phase::FlowEnd => assert!(event.binds_enclosing() && event.id().is_some()),
                    Phase::Counter => {
                        found.counters += 1;
                        assert!(event.args.integer("counts").unwrap() >= 100);
                    }
                    _ => panic!("{event:?}"),
                }
            }
            let kinds: Vec<&str> = issues.list().iter().map(|issue| issue.kind).collect();
            let expected: &[&str] =
                if style == Style::Chrome { &["unterminated-list"] } else { &[] };
            assert_eq!(kinds, expected);
        }
        assert_eq!(found, planted, "{style:?}");
        let depth = if style == Style::Kineto { 0 } else { i64::from(DEPTH) };
        assert_eq!(deepest, depth);
    }
}

#[test]
fn nothing_else_is_taken_for_a_trace_and_no_trace_for_measurements() {
    let no_traces = [
        r#"{"config": {"pkg": "x"}, "data": {"4;0;1": {"regions": {}}}}"#,
        r#"[{"region": "1,2", "executions": []}]"#,
        r#"{"parameters": ["p"], "measurements": {}}"#,
        r#"[[1,2,3,4,5,6,7,8,9,10,11,12]]"#,
        r#"[[0,0,0,1.5,2.5,3.5,4.5,5.5,6.5,7.5,8.5,9.5]]"#,
        r#"{"executions": {"1": {"name": "f"}}}"#,
        r#"["a", "b"]"#,
        r#"[{"ph": 7.2, "name": "acid"}]"#,
        r#"{"name": "x", "traceEvents": "none"}"#,
        "[",
        "{",
        "",
        "[{},{},{}]",
    ];
    for text in no_traces {
        assert_eq!(sniff(text.as_bytes()), None, "{text}");
    }
    let traces = [
        (r#"[{"name":"a","ph":"B","ts":1"#, JsonTraceFormat::Chrome),
        (r#"{"traceEvents":[]}"#, JsonTraceFormat::Chrome),
        ("\t\"trace events\": [\n", JsonTraceFormat::Codar),
        (r#"[{}, {"event-type":"entry"}]"#, JsonTraceFormat::Codar),
        (r#"{"metadata":{"clock-period":"1e-06","#, JsonTraceFormat::Codar),
        (r#"[[0,0,0,1,2,NaN,NaN,NaN,NaN,NaN,NaN,5]"#, JsonTraceFormat::Chimbuko),
        (r#"{"stat": {}, "executions": {}}"#, JsonTraceFormat::Executions),
        (r#"{"executions": {"1": {"entry": "1", "exit": 2, "#, JsonTraceFormat::Executions),
    ];
    for (text, format) in traces {
        assert_eq!(sniff(text.as_bytes()), Some(format), "{text}");
        assert_eq!(scaling_data::sniff(text.as_bytes(), "a.json"), None, "{text}");
    }
    let Some(all) = json_traces::all_json() else { return };
    let mut seen = 0;
    for path in all {
        let text = decompressed(&path);
        let (trace, name) = (sniff(&text), path.to_string_lossy());
        seen += usize::from(trace.is_some());
        let other = scaling_data::sniff(&text, &name);
        assert!(trace.is_none() || other.is_none(), "{name}: {trace:?} and {other:?}");
        assert_eq!(trace.is_some(), has_events(&text), "{name}: {trace:?}");
    }
    assert!(seen >= 10, "{seen}");
}

/// Whether a file holds events, told by what stands in its first megabyte and not by its place:
/// single events of Chrome or CODAR, calls that Chimbuko kept, or its rows of twelve or thirteen
/// numbers.
fn has_events(text: &[u8]) -> bool {
    let front = &text[..text.len().min(1 << 20)];
    let front: Vec<u8> = front.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let front = String::from_utf8_lossy(&front);
    // A window of time may have no calls.
    let is_kept = front.starts_with("{\"executions\":{}")
        || front.starts_with("{\"executions\":{") && front.contains("\"anomaly_score\":");
    let is_made_of_events =
        front.contains("\"executions\":{") || front.contains("\"WorkflowInstance\":");
    let rows = front.strip_prefix("[[").or_else(|| Some(front.split_once("\"events\":[[")?.1));
    let is_row = |row: &str| {
        let cells: Vec<&str> = row.split(',').collect();
        matches!(cells.len(), 12 | 13)
            && cells.iter().all(|cell| *cell == "\"NA\"" || cell.parse::<f64>().is_ok())
    };
    is_kept
        || front.contains("\"ph\":\"")
        || front.contains("\"event-type\":") && !is_made_of_events
        || rows.and_then(|rows| rows.split(']').next()).is_some_and(is_row)
}
