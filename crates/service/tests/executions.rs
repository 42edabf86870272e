//! The calls that Chimbuko kept: a planted document, the real folders, and damage.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use parallax_base::{Folder, MemoryFolder};
use parallax_native::DiskFolder;
use parallax_protocol::{
    AnomaliesRequest, Answer, BalanceRequest, ClustersRequest, CorrelationsRequest,
    CriticalPathRequest, IdlenessRequest, InfoReply, InfoRequest, IterationsRequest,
    OverTimeRequest, OverTimeWhat, ReportRequest, TopologyRequest, TracePart, WaitsRequest,
};
use parallax_service::scaling::{EnsembleOptions, ScalingContent, ScalingSource, open_ensemble};
use parallax_service::{
    Answers as _, ComparedVersion, ComparisonRequest, Control, OpenExperiment, OpenLimits,
    compare_experiments, open, open_file_in, recognise_file,
};
use parallax_testkit::needs;
use serde_json::{Value, json};

/// A call from `entry` to `exit` microseconds with so many messages sent and received.
fn call(
    (rank, id, parent): (u64, &str, &str),
    name: &str,
    (entry, exit): (u64, u64),
    score: i64,
    (sends, receives): (usize, usize),
) -> (String, Value) {
    let message = |kind: &str| {
        json!({
            "event-type": kind, "source-node-id": 0, "destination-node-id": 1, "thread-id": 0,
            "message_size": "40", "message_tag": "7", "time": (entry + 1).to_string(),
        })
    };
    let mut messages = vec![message("send"); sends];
    messages.extend(vec![message("receive"); receives]);
    let value = json!({
        "name": name, "prog names": "0", "comm ranks": rank, "threads": 0, "findex": id,
        "entry": entry.to_string(), "exit": exit.to_string(), "parent": parent, "children": [],
        "messages": messages, "anomaly_score": score.to_string(),
    });
    (id.to_owned(), value)
}

fn window(calls: impl IntoIterator<Item = (String, Value)>) -> String {
    let executions: serde_json::Map<String, Value> = calls.into_iter().collect();
    json!({
        "executions": executions,
        "stat": {"solve": {"abnormal": 3, "regular": 97.0, "ratio": 3.0}},
    })
    .to_string()
}

/// Two windows: rank 0 calls `MPI_Recv` by way of something that was not kept; the call `12.0` of
/// rank 1 is in both.
fn planted() -> [(&'static str, String); 3] {
    let shared = || call((1, "12.0", "11.0"), "solve", (2_000, 2_400), -1, (0, 0));
    [
        (
            "trace.000001.json",
            window([
                call((0, "1.0", "0.0"), "main", (1_000, 5_000), 1, (0, 0)),
                call((0, "2.0", "1.0"), "solve", (1_500, 3_000), -1, (0, 0)),
                call((0, "4.0", "3.0"), "MPI_Recv()", (1_600, 2_900), -1, (1, 2)),
                shared(),
            ]),
        ),
        ("trace.000002.json", window([])),
        (
            "trace.000010.json",
            window([shared(), call((1, "13.0", "9.0"), "solve", (4_000, 4_100), 1, (0, 0))]),
        ),
    ]
}

fn folder(files: impl IntoIterator<Item = (&'static str, String)>) -> Arc<dyn Folder> {
    let files = files.into_iter().map(|(name, text)| (name.to_owned(), text.into_bytes()));
    Arc::new(MemoryFolder::new("kept", files))
}

fn opened(folder: &Arc<dyn Folder>) -> OpenExperiment {
    open(folder, &OpenLimits::default()).unwrap()
}

fn info(opened: &OpenExperiment) -> InfoReply {
    opened.answer(&InfoRequest::default(), &Control::new()).unwrap().reply
}

fn anomalies(opened: &OpenExperiment, request: &AnomaliesRequest) -> Answer<AnomaliesRequest> {
    opened.answer(request, &Control::new()).unwrap()
}

/// Kind and count of all issues.
fn issues(info: &InfoReply) -> BTreeMap<&str, u64> {
    let mut out = BTreeMap::new();
    for issue in &info.issue_list {
        *out.entry(issue.kind.as_str()).or_insert(0) += issue.count;
    }
    out
}

#[test]
fn windows_of_a_folder_are_one_trace_of_the_calls_that_were_kept() {
    let opened = opened(&folder(planted()));
    let info = info(&opened);
    assert_eq!(info.title, "kept");
    assert_eq!(info.format, "Chimbuko executions (converted)");
    // Five calls, one of them in two windows.
    assert_eq!((info.calls, info.traces), (Some(5), 2));
    assert_eq!((info.sends, info.receives), (Some(1), Some(2)));
    let expected = [("call-repeated", 1), ("calls-chosen", 1), ("messages-counted", 3)];
    assert_eq!(issues(&info), BTreeMap::from(expected));
    let fact = |name: &str| info.fact_list.iter().find(|fact| fact.name == name).unwrap();
    assert_eq!(fact("calls chosen by").value, "Chimbuko");
    assert_eq!(fact("anomalies of Chimbuko").value, "3");
    // What was called by way of a call that was not kept is below the next one around it.
    let tree = &opened.session().experiment().contexts;
    let mut paths: Vec<String> = Vec::new();
    for context in tree.iter().skip(1) {
        let above = tree.parent(context).map_or(String::new(), |parent| tree.label(parent));
        paths.push(format!("{above} > {}", tree.label(context)));
    }
    let root = tree.label(tree.iter().next().unwrap());
    let top = |name: &str| format!("{root} > {name}");
    paths.sort();
    let mut expected =
        vec![top("main"), top("solve"), "main > solve".into(), "solve > MPI_Recv()".into()];
    expected.sort();
    assert_eq!(paths, expected);
}

#[test]
fn the_anomalies_are_those_that_the_detector_named() {
    let opened = opened(&folder(planted()));
    let Answer { reply, tables, .. } = anomalies(&opened, &AnomaliesRequest::default());
    assert_eq!(reply.detector.as_deref(), Some("Chimbuko"));
    assert_eq!((reply.total, reply.compared, reply.too_few), (3, 0, 0));
    let rows = tables.rows;
    assert_eq!(rows.name, ["MPI_Recv()", "solve", "solve"]);
    assert_eq!(rows.location, ["rank 0", "rank 1", "rank 0"]);
    // Of `solve` on rank 0, what is not in `MPI_Recv`.
    assert_eq!(rows.exclusive_ns, [1_300_000.0, 400_000.0, 200_000.0]);
    assert!(rows.median_ns.iter().all(Option::is_none) && rows.score.iter().all(Option::is_none));
    let told = "These are the calls that Chimbuko kept (5, of which it takes 3 for anomalies), which \
                need not be all calls of the program";
    assert!(reply.notes.iter().any(|note| note.contains(told)), "{:?}", reply.notes);
    let few = AnomaliesRequest { max_rows: 1, ..AnomaliesRequest::default() };
    let few = anomalies(&opened, &few);
    assert_eq!((few.reply.total, few.tables.rows.name.len()), (3, 1));
    let part = TracePart { profiles: Some("rank(1)".into()), ..TracePart::default() };
    let part = AnomaliesRequest { part, ..AnomaliesRequest::default() };
    assert_eq!(anomalies(&opened, &part).tables.rows.start_ns, [1_000_000.0]);
}

/// Calls of ranks, one of which waits in MPI nearly all the time.
fn uneven() -> OpenExperiment {
    let calls = (0..200_u64).flat_map(|step| {
        (0..4_u64).flat_map(move |rank| {
            let (from, computed) = (step * 1_000, if rank == 3 { 950 } else { 50 });
            let id = |what: u64| format!("{}.{what}", step * 4 + rank);
            let (work, wait) = (id(0), id(1));
            [
                call((rank, &work, "0"), "work", (from, from + computed), -1, (0, 0)),
                call(
                    (rank, &wait, "0"),
                    "MPI_Barrier()",
                    (from + computed, from + 999),
                    -1,
                    (0, 0),
                ),
            ]
        })
    });
    opened(&folder([("trace.1.json", window(calls))]))
}

fn lateness() -> OverTimeRequest {
    OverTimeRequest { what: OverTimeWhat::Lateness, ..OverTimeRequest::default() }
}

#[test]
fn nothing_is_concluded_about_the_program() {
    let opened = uneven();
    assert_eq!(info(&opened).calls, Some(1_600));
    let report = opened.answer(&ReportRequest::default(), &Control::new()).unwrap();
    let (reply, tables) = (report.reply, report.tables);
    assert!(reply.findings.is_empty() && reply.verdict.bound.is_none());
    assert_eq!(reply.verdict.reason, "only the calls that Chimbuko kept are known");
    assert!(reply.verdict.evidence.is_empty() && reply.metric.is_none());
    let note = "These are the calls that Chimbuko kept (1600, of which it takes 1600 for anomalies), \
                which need not be all calls of the program; nothing is concluded from them.";
    assert_eq!(reply.notes, [note]);
    assert!(tables.categories.cost.is_empty() && tables.hot_path.context.is_empty());
    assert!(!opened.holds().has_waits);
    let refused = [
        opened.answer(&WaitsRequest::default(), &Control::new()).err(),
        opened.answer(&CriticalPathRequest::default(), &Control::new()).err(),
        opened.answer(&IterationsRequest::default(), &Control::new()).err(),
        opened.answer(&BalanceRequest::default(), &Control::new()).err(),
        opened.answer(&IdlenessRequest::default(), &Control::new()).err(),
        opened.answer(&lateness(), &Control::new()).err(),
        opened.answer(&ClustersRequest::default(), &Control::new()).err(),
        opened.answer(&CorrelationsRequest::default(), &Control::new()).err(),
        opened.answer(&TopologyRequest::default(), &Control::new()).err(),
    ];
    for error in refused {
        let error = error.unwrap().to_string();
        assert!(error.contains("only the calls that Chimbuko kept"), "{error}");
    }
    let version = |name: &str| ComparedVersion { name: name.into(), experiments: vec![&opened] };
    let versions = [version("old"), version("new")];
    let compared = compare_experiments(&versions, &ComparisonRequest::default(), &Control::new());
    assert!(compared.is_err());
    let source = |name: &str| ScalingSource {
        name: name.to_owned(),
        content: ScalingContent::Folder(folder(planted())),
    };
    let runs = [source("a"), source("b")];
    let scaling = open_ensemble(&runs, &EnsembleOptions::default(), &Control::new());
    let error = scaling.err().unwrap().to_string();
    assert!(error.contains("only calls that a detector of anomalies kept"), "{error}");
}

#[test]
fn a_window_alone_is_a_trace_too() {
    let folder = folder(planted());
    let data = recognise_file(&folder, "trace.000001.json").unwrap();
    assert_eq!(data.format.name, "Chimbuko executions");
    let source = folder.open("trace.000001.json").unwrap().unwrap();
    let one = open_file_in(&folder, &source, "trace.000001.json", &OpenLimits::default());
    assert_eq!(info(&one.unwrap()).calls, Some(4));
}

#[test]
fn calls_without_times_or_ranks_are_skipped_and_counted() {
    let mut calls: Vec<(String, Value)> = (0..6)
        .map(|n| call((0, &n.to_string(), "-1"), "solve", (n * 100, n * 100 + 50), -1, (0, 0)))
        .collect();
    for (at, field) in ["name", "comm ranks", "entry", "exit"].into_iter().enumerate() {
        calls[at].1.as_object_mut().unwrap().remove(field);
    }
    calls[4].1["exit"] = json!("3");
    let opened = opened(&folder([("trace.1.json", window(calls))]));
    let info = info(&opened);
    assert_eq!((info.calls, issues(&info)["event-incomplete"]), (Some(1), 5));
}

#[test]
fn what_is_no_window_is_said_and_calls_that_overlap_are_kept() {
    let overlapping = window([
        call((0, "1", "0"), "a", (100, 300), -1, (0, 0)),
        call((0, "2", "0"), "b", (200, 400), -1, (0, 0)),
    ]);
    let none = window([]);
    let files = [
        ("trace.1.json", overlapping),
        ("trace.2.json", "[1, 2".to_owned()),
        ("trace.3.json", none),
    ];
    let info = info(&opened(&folder(files)));
    assert_eq!((info.calls, info.traces), (Some(2), 2));
    let issues = issues(&info);
    assert_eq!((issues["overlap"], issues["window-unreadable"]), (1, 1));
}

#[test]
fn a_window_that_is_cut_gives_the_calls_before() {
    let [(_, text), ..] = planted();
    let whole = text.len();
    for cut in 0..=whole {
        let files = folder([("trace.1.json", text[..cut].to_owned())]);
        let Ok(opened) = open(&files, &OpenLimits::default()) else {
            // Nothing that says what it is.
            assert!(cut < 120, "{cut}");
            continue;
        };
        let info = info(&opened);
        assert!(info.calls <= Some(4), "{cut}");
        let is_told = issues(&info).contains_key("truncated");
        assert_eq!(is_told, cut < whole, "{cut}: {:?}", info.issue_list);
    }
}

#[test]
fn any_byte_may_be_damaged() {
    let [(_, text), ..] = planted();
    for at in 0..text.len() {
        for byte in [b'"', b'}', b'{', b'0', b' '] {
            let mut damaged = text.clone().into_bytes();
            damaged[at] = byte;
            let files = [("trace.1.json".to_owned(), damaged)];
            let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("kept", files));
            if let Ok(opened) = open(&folder, &OpenLimits::default()) {
                assert!(info(&opened).calls <= Some(6), "{at}");
            }
        }
    }
}

/// What a general reader of JSON finds in a folder: calls, and ends of messages.
fn counted(folder: &Path) -> (u64, u64, u64) {
    let mut out = (0, 0, 0);
    for file in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        for call in value["executions"].as_object().unwrap().values() {
            out.0 += 1;
            for message in call["messages"].as_array().unwrap() {
                match message["event-type"].as_str().unwrap() {
                    "send" => out.1 += 1,
                    "receive" => out.2 += 1,
                    _ => {}
                }
            }
        }
    }
    out
}

#[test]
fn real_folders_have_the_calls_that_a_general_reader_finds() {
    let Some(executions) = needs::corpus_path("data/codar/executions") else { return };
    for (path, calls, tracks) in [("aggregated/executions", 1_059, 4), ("per_rank", 2_118, 8)] {
        let path = executions.join(path);
        let (all, sends, receives) = counted(&path);
        assert_eq!(all, calls);
        let folder: Arc<dyn Folder> = Arc::new(DiskFolder::new(&path));
        let opened = opened(&folder);
        let info = info(&opened);
        assert_eq!((info.calls, info.traces), (Some(calls), tracks));
        assert_eq!((info.sends, info.receives), (Some(sends), Some(receives)));
        let name = path.file_name().unwrap().to_string_lossy();
        assert_eq!(info.title, name);
        let issues = issues(&info);
        let expected = [("calls-chosen", 1), ("messages-counted", sends + receives)];
        assert_eq!(issues, BTreeMap::from(expected));
        let found = anomalies(&opened, &AnomaliesRequest::default()).reply;
        assert_eq!((found.total, found.detector.as_deref()), (calls, Some("Chimbuko")));
        let report = opened.answer(&ReportRequest::default(), &Control::new()).unwrap().reply;
        assert!(report.findings.is_empty() && report.verdict.bound.is_none());
    }
}
