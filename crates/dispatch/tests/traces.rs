//! Traces that were dropped open like databases: they are converted in memory.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::sync::Arc;

use parallax_base::{Control, Folder, Limits, MemoryFolder};
use parallax_dispatch::Dispatcher;
use parallax_protocol::{InfoReply, OpenReply};

const CHROME: &str = r#"{"traceEvents": [
    {"ph": "X", "name": "step", "cat": "app", "pid": 1, "tid": 1, "ts": 10, "dur": 100},
    {"ph": "X", "name": "solve", "cat": "app", "pid": 1, "tid": 1, "ts": 20, "dur": 30.5},
    {"ph": "X", "name": "late", "cat": "app", "pid": 1, "tid": 1, "ts": 100, "dur": 50},
    {"ph": "B", "name": "io", "pid": 1, "tid": 2, "ts": "5"},
    {"ph": "E", "name": "io", "pid": 1, "tid": 2, "ts": "9"},
    {"ph": "E", "pid": 1, "tid": 2, "ts": 11},
    {"ph": "C", "name": "load", "pid": 1, "tid": 1, "ts": 30, "args": {"value": 0.5}}
"#;

fn opened(files: &[(&str, &str)]) -> (Dispatcher, OpenReply) {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("dropped", files));
    let dispatcher = Dispatcher::new(Limits::default());
    dispatcher.add_root("r", "dropped", folder);
    let ask = r#"{"ask":"open","with":{"root":"r"}}"#;
    let answer = dispatcher.answer_json(ask, &Control::new()).unwrap();
    let reply = serde_json::from_str(&answer.json).unwrap();
    (dispatcher, reply)
}

fn info(dispatcher: &Dispatcher, item: &str) -> InfoReply {
    let ask = serde_json::json!({ "ask": "info", "with": { "item": item } }).to_string();
    serde_json::from_str(&dispatcher.answer_json(&ask, &Control::new()).unwrap().json).unwrap()
}

#[test]
fn a_dropped_chrome_trace_is_an_experiment() {
    // The list is not ended, as a program that was killed leaves it.
    let (dispatcher, reply) = opened(&[("run/trace.json", CHROME)]);
    assert!(reply.errors.is_empty(), "{:?}", reply.errors);
    let item = reply.items.first().unwrap();
    assert_eq!((item.name.as_str(), item.title.as_str()), ("run/trace.json", "trace.json"));
    let info = info(&dispatcher, &item.item);
    assert_eq!((info.events, info.calls), (Some(7), Some(4)));
    assert_eq!((info.enters, info.leaves, info.metric_records), (Some(1), Some(2), Some(1)));
    // `late` overlaps `step` and has a track of its own.
    assert_eq!(info.locations, 3);
    let kinds: Vec<_> = info.issue_list.iter().map(|issue| issue.message.as_str()).collect();
    for wanted in ["overlap", "did not begin"] {
        assert!(kinds.iter().any(|message| message.contains(wanted)), "{wanted}: {kinds:?}");
    }
}

#[test]
fn an_item_says_what_it_holds_and_what_it_lacks() {
    const GPU: &str = r#"{"traceEvents": [
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "args": {"name": "stream 7 "}},
        {"ph": "X", "name": "cudaLaunchKernel", "cat": "cuda_runtime", "pid": 7, "tid": 1, "ts": 10, "dur": 5, "args": {"correlation": 3}},
        {"ph": "X", "name": "gemm", "cat": "kernel", "pid": 0, "tid": 7, "ts": 20, "dur": 30, "args": {"correlation": 3, "stream": 7, "device": 0}},
        {"ph": "s", "id": 3, "pid": 7, "tid": 1, "ts": 12, "cat": "ac2g", "name": "ac2g"},
        {"ph": "f", "id": 3, "pid": 0, "tid": 7, "ts": 20, "cat": "ac2g", "name": "ac2g", "bp": "e"}
    ], "deviceProperties": []}"#;
    let (_, reply) = opened(&[("trace.json", CHROME)]);
    let item = reply.items.first().unwrap();
    assert!(item.has_trace && item.has_calls && item.has_waits && item.has_counters);
    assert!(!item.has_links && !item.has_gpus && !item.has_activations && !item.has_user_events);
    assert_eq!((item.locations, item.nodes), (3, 0));

    let (_, reply) = opened(&[("trace.json", GPU)]);
    let item = reply.items.first().unwrap();
    assert!(item.has_trace && item.has_links && item.has_gpus, "{item:?}");
    assert!(!item.has_counters);
    assert_eq!(item.locations, 2);
}

#[test]
fn a_trace_beside_something_else_is_opened_too() {
    let (_, reply) = opened(&[("notes.txt", "hello"), ("a.json", CHROME), ("b.json", CHROME)]);
    let names: Vec<_> = reply.items.iter().map(|item| item.name.as_str()).collect();
    assert!(names.contains(&"a.json") && names.contains(&"b.json"), "{names:?}");
}
