//! Analyses of a trace, as they are typed: a small program with a planted wait.

#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;

use std::path::{Path, PathBuf};

use common::{printed, rows, run};
use serde_json::Value;

/// Rank 0 works for 80 us before it sends; rank 1 waits for it from 10 us on, works for 100 us more
/// and comes last to a barrier.
fn trace(folder: &Path) -> PathBuf {
    let mut events = Vec::new();
    let mut call = |rank: u32, name: &str, from: u64, to: u64| {
        for (kind, time) in [("entry", from), ("exit", to)] {
            events.push((
                time,
                format!(
                    r#"{{"event-type":"{kind}","name":"{name}","time":{time},"node-id":{rank},"thread-id":0}}"#
                ),
            ));
        }
    };
    call(0, "produce", 1000, 1080);
    call(0, "MPI_Send()", 1080, 1085);
    call(0, "MPI_Barrier()", 1085, 1195);
    call(1, "MPI_Recv()", 1010, 1090);
    call(1, "consume", 1090, 1190);
    call(1, "MPI_Barrier()", 1190, 1200);
    let sides = r#""source-node-id":0,"source-thread-id":0,"destination-node-id":1,"destination-thread-id":0,"message-size":64,"message-tag":7"#;
    for (kind, time) in [("send", 1082), ("receive", 1088)] {
        events.push((time, format!(r#"{{"event-type":"{kind}","time":{time},{sides}}}"#)));
    }
    events.sort_by_key(|event| event.0);
    let texts: Vec<String> = events.into_iter().map(|event| event.1).collect();
    let path = folder.join("events.json");
    std::fs::write(&path, format!("[{}]", texts.join(",\n"))).unwrap();
    path
}

fn micros(value: &Value) -> i64 {
    (value.as_f64().unwrap() * 1e6).round() as i64
}

#[test]
fn waits_critical_path_and_change_over_time_of_a_small_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path());
    let path = path.to_str().unwrap();

    let waits = rows(&["waits", path, "--by", "pair"]);
    let found: Vec<_> = waits
        .iter()
        .map(|row| {
            let text = |name: &str| row[name].as_str().unwrap().to_owned();
            (text("kind"), text("location"), text("waits_for"), micros(&row["waiting_s"]))
        })
        .collect();
    let expected =
        [("wait at barrier", "rank 0", "rank 1", 105), ("late sender", "rank 1", "rank 0", 70)];
    let expected = expected.map(|(a, b, c, n)| (a.to_owned(), b.to_owned(), c.to_owned(), n));
    assert_eq!(found, expected);
    let only = rows(&["waits", path, "--kind", "late-sender"]);
    assert_eq!(only.len(), 1);
    assert_eq!(only[0]["function"], "MPI_Recv()");

    let functions = rows(&["critical-path", path]);
    let found: Vec<_> = functions
        .iter()
        .map(|row| (row["function"].as_str().unwrap(), micros(&row["on_path_s"])))
        .collect();
    let expected = [("consume", 100), ("produce", 80), ("MPI_Barrier()", 10), ("MPI_Recv()", 10)];
    assert_eq!(found, expected);
    let segments = rows(&["critical-path", path, "--segments"]);
    let found: Vec<_> = segments
        .iter()
        .map(|row| (row["location"].as_str().unwrap(), micros(&row["length_s"]), &row["releases"]))
        .collect();
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].0, found[0].1, found[0].2.as_str()), ("rank 0", 80, Some("late sender")));
    assert_eq!((found[1].0, found[1].1, found[1].2), ("rank 1", 120, &Value::Null));

    let idle = rows(&["over-time", path, "--what", "idle", "--totals"]);
    // Rank 0 is done 5 us before the end of the trace, rank 1 begins 10 us after its start.
    for (row, (waiting, outside)) in idle.iter().zip([(110, 5), (90, 10)]) {
        assert_eq!((micros(&row["waiting_s"]), micros(&row["outside_s"])), (waiting, outside));
    }
    let profile = rows(&["over-time", path, "--bins", "4"]);
    let produced: i64 = profile
        .iter()
        .filter(|row| row["name"] == "produce")
        .map(|row| micros(&row["exclusive_s"]))
        .sum();
    assert_eq!(produced, 80);
    for what in ["imbalance", "lateness", "overlap"] {
        assert!(!rows(&["over-time", path, "--what", what]).is_empty(), "{what}");
    }
}

/// A thread of PyTorch that launches a kernel, launches another one 30 us after that has ended, and
/// waits for it; a watchdog ends last.
fn training(folder: &Path) -> PathBuf {
    let call = |cat: &str, name: &str, place: &str, from: u32, to: u32| {
        let long = to - from;
        format!(
            r#"{{"ph":"X","cat":"{cat}","name":"{name}",{place},"ts":{from},"dur":{long},"args":{{}}}}"#
        )
    };
    let (thread, stream) = (r#""pid":41,"tid":41"#, r#""pid":0,"tid":7"#);
    let flow = |ph: &str, id: u32, place: &str, at: u32| {
        format!(r#"{{"ph":"{ph}","cat":"ac2g","name":"ac2g","id":{id},{place},"ts":{at}}}"#)
    };
    let name =
        format!(r#"{{"ph":"M","name":"thread_name",{stream},"args":{{"name":"stream 7 "}}}}"#);
    let events = [
        name,
        call("user_annotation", "step", thread, 0, 200),
        call("cuda_runtime", "cudaLaunchKernel", thread, 10, 15),
        call("cpu_op", "prepare", thread, 20, 80),
        call("cuda_runtime", "cudaLaunchKernel", thread, 80, 85),
        call("cuda_runtime", "cudaDeviceSynchronize", thread, 90, 180),
        call("kernel", "first", stream, 18, 50),
        call("kernel", "second", stream, 88, 170),
        call("gpu_user_annotation", "step", stream, 18, 170),
        flow("s", 1, thread, 10),
        flow("f", 1, stream, 18),
        flow("s", 2, thread, 80),
        flow("f", 2, stream, 88),
        call("cuda_runtime", "cudaEventQuery", r#""pid":41,"tid":99"#, 205, 210),
    ];
    let path = folder.join("training.json");
    let text = format!(
        r#"{{"deviceProperties":[],"distributedInfo":{{"rank":0}},"traceEvents":[{}]}}"#,
        events.join(",\n")
    );
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn waits_between_threads_and_gpus_of_a_small_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = training(folder.path());
    let path = path.to_str().unwrap();
    for (kind, function, waiting) in
        [("late-launch", "second", 30), ("for-gpu", "cudaDeviceSynchronize", 80)]
    {
        let found = rows(&["waits", path, "--kind", kind]);
        assert_eq!(found[0]["function"], function);
        assert_eq!(micros(&found[0]["waiting_s"]), waiting);
        assert_eq!(found[0]["kind"], kind.replace('-', " ").replace("for gpu", "wait for GPU"));
    }
    let found = rows(&["critical-path", path]);
    let found: Vec<_> = found
        .iter()
        .map(|row| (row["function"].as_str().unwrap(), micros(&row["on_path_s"])))
        .collect();
    // After the synchronisation, 20 us of the step and 10 us of nothing; the latency is 8 us.
    let expected = [
        ("second", 82),
        ("prepare", 60),
        ("step", 35),
        ("(no activity)", 10),
        ("cudaDeviceSynchronize", 10),
        ("(between GPU work)", 8),
        ("cudaLaunchKernel", 5),
    ];
    assert_eq!(found, expected);
    let segments = rows(&["critical-path", path, "--segments"]);
    let releases: Vec<_> = segments.iter().map(|row| row["releases"].as_str()).collect();
    assert_eq!(releases, [Some("late launch"), Some("wait for GPU"), None]);
    let by_context = rows(&["critical-path", path, "--by", "context"]);
    assert!(by_context.iter().any(|row| row["context"] == "(between GPU work)"));
}

#[test]
fn without_launch_records_the_path_is_matched_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in parallax_testkit::otf2::hip_program() {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    let path = folder.path().join("traces.otf2");
    let path = path.to_str().unwrap();
    let found = rows(&["critical-path", path]);
    let found: Vec<_> = found
        .iter()
        .map(|row| (row["function"].as_str().unwrap(), micros(&row["on_path_s"])))
        .collect();
    // The kernel that everybody waits for leads; of the stream only latencies are without work.
    assert_eq!(found[..3], [("solve_kernel", 85), ("prepare", 60), ("init_kernel", 28)]);
    assert!(found.contains(&("(between GPU work)", 12)), "{found:?}");
    let segments = rows(&["critical-path", path, "--segments"]);
    let ends: Vec<_> =
        segments.iter().map(|row| (row["releases"].as_str(), row["basis"].as_str())).collect();
    let late = (Some("late launch"), Some("matched by time"));
    let wait = (Some("wait for GPU"), Some("recorded"));
    assert_eq!(ends, [late, wait, late, wait, (None, None)]);
    let said = run(&["critical-path", path]);
    let notes = String::from_utf8_lossy(&said.stderr);
    let notes = notes.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(notes.contains("2 of 2 kernels and copies on GPU streams have no launch record"));
    // What is advised is on the path.
    let report = printed(&["report", path]);
    assert!(report.contains("solve_kernel is on the critical path"), "{report}");
    assert!(!report.contains("hipEventSynchronize is on the critical path"), "{report}");
}

#[test]
fn the_text_fits_and_says_what_was_inferred() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path());
    let path = path.to_str().unwrap();
    for arguments in [
        vec!["waits", path, "--by", "pair"],
        vec!["critical-path", path],
        vec!["critical-path", path, "--segments"],
        vec!["over-time", path, "--what", "idle"],
        vec!["over-time", path, "--what", "imbalance"],
        vec!["over-time", path, "--what", "lateness"],
    ] {
        for width in ["80", "200"] {
            let text = printed(&[&arguments[..], &["--width", width]].concat());
            let limit: usize = width.parse().unwrap();
            assert!(text.lines().count() > 2, "{arguments:?}");
            assert!(text.lines().all(|line| line.chars().count() <= limit), "{text}");
        }
    }
    let output = run(&["critical-path", path]);
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(notes.contains("Collective operations are inferred"), "{notes}");
}

#[test]
fn arguments_that_do_not_fit_stand_below_their_call_with_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gpu.json");
    let text = r#"{"traceEvents":[
        {"ph":"X","name":"kernel","pid":0,"tid":2,"ts":1,"dur":5,"args":{"External id":7069517,"queued":0,
            "registers per thread":96,"shared memory":41744,"grid":[16,1,1],"block":[640,1,1],"est. achieved occupancy %":5}},
        {"ph":"X","name":"kernel","pid":0,"tid":2,"ts":9,"dur":2}
    ]}"#;
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    let narrow = printed(&["find", path, "kernel", "--arguments", "--width", "80"]);
    for argument in ["External id=7069517", "grid=[16,1,1]", "est. achieved occupancy %=5"] {
        assert!(narrow.lines().any(|line| line.contains(argument)), "{argument}: {narrow}");
    }
    assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
    // The second call has none, and so no line more.
    let last = narrow.lines().last().unwrap();
    assert!(last.starts_with("kernel"), "{narrow}");
    let wide = printed(&["find", path, "kernel", "--arguments", "--width", "250"]);
    assert_eq!(wide.lines().count(), 3, "{wide}");
}

#[test]
fn calls_are_found_with_their_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gpu.json");
    let text = r#"{"traceEvents":[
        {"ph":"X","name":"kernel","pid":0,"tid":10,"ts":1,"dur":5,"args":{"grid":[8,1,1],"stream":7}},
        {"ph":"X","name":"kernel","pid":0,"tid":2,"ts":2,"dur":9}
    ]}"#;
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    let found = rows(&["find", path, "kernel", "--arguments"]);
    let cell = |row: usize, name: &str| found[row][name].clone();
    assert_eq!(found.len(), 2);
    // Tracks are in the order of threads, whatever order the file has.
    assert_eq!((cell(0, "track"), cell(1, "track")), (Value::from(0), Value::from(1)));
    assert_eq!(cell(0, "arguments"), Value::Null);
    assert_eq!(cell(1, "arguments"), Value::from("grid=[8,1,1], stream=7"));
    let text = printed(&["find", path, "kernel", "--arguments"]);
    assert!(text.contains("grid=[8,1,1], stream=7"), "{text}");
    let text = printed(&["find", path, "kernel"]);
    assert!(!text.contains("grid"), "{text}");
    assert!(rows(&["find", path, "kernel"]).iter().all(|row| row["arguments"].is_null()));
}
