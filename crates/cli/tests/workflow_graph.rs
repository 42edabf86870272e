//! What goes between the components of planted and real workflows, and what is known of their
//! processes.

#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

use std::path::Path;
use std::process::Command;

use parallax_testkit::tau::{Definition, Layout, Record, to_definitions, to_trace};
use serde_json::{Value, json};

/// What the tool writes to stdout and to stderr.
fn parallax(folder: &Path, arguments: &[&str]) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
    command.env("PARALLAX_CACHE", folder.join("cache")).env("LC_ALL", "C.UTF-8");
    let output = command.args(arguments).current_dir(folder).output().unwrap();
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    (stdout, stderr)
}

fn rows(folder: &Path, arguments: &[&str]) -> Vec<Value> {
    let (text, _) = parallax(folder, &[arguments, &["--format", "jsonl"]].concat());
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn info(folder: &Path, what: &str) -> Value {
    serde_json::from_str(&parallax(folder, &["info", what, "--json"]).0).unwrap()
}

const FRAMES: &str = "run/frames.bp/data.0";

/// Writes a trace of TAU into `name.trc` and `name.edf`: each rank enters `main`, says its host and
/// its process number, does `operations` (microseconds, rank, event, value), and leaves after 9 ms.
fn tau(place: &Path, name: &str, host: &str, ranks: u16, operations: &[(u64, u16, i32, i64)]) {
    let define = |id, name: &str, kind| Definition {
        id,
        group: "TAUEVENT".to_owned(),
        tag: 0,
        name: name.to_owned(),
        kind,
    };
    let mut definitions = vec![
        define(1, "main", "EntryExit"),
        define(2, "EV_INIT", "none"),
        define(3, &format!("Bytes Written <file=\"{FRAMES}\">"), "TriggerValue"),
        define(4, &format!("Bytes Read <file=\"{FRAMES}\">"), "TriggerValue"),
        define(5, "Bytes Written <file=\"log.txt\">", "TriggerValue"),
        define(6, "Bytes Read <file=\"log.txt\">", "TriggerValue"),
        define(7, &format!("Hostname | {host}"), "TriggerValue"),
        define(8, &format!("Command Line | ./{name} 12"), "TriggerValue"),
    ];
    let mut records = Vec::new();
    let record = |event, node, parameter, time| Record { event, node, thread: 0, parameter, time };
    for rank in 0..ranks {
        let pid = 20 + i32::from(rank);
        definitions.push(define(pid, &format!("pid | {name}-{rank}"), "TriggerValue"));
        records.push(record(2, rank, 3, 0));
        records.push(record(1, rank, 1, 0));
        for event in [7, 8, pid] {
            records.push(record(event, rank, 0, 0));
        }
        let own = operations.iter().filter(|(_, of, ..)| *of == rank);
        records.extend(own.map(|&(time, of, event, value)| record(event, of, value, time)));
        records.push(record(1, rank, -1, 9_000));
    }
    records.sort_by_key(|record| record.time);
    let layout = Layout { wide: false, big_endian: false };
    std::fs::write(place.join(format!("{name}.trc")), to_trace(&records, layout)).unwrap();
    std::fs::write(place.join(format!("{name}.edf")), to_definitions(&definitions)).unwrap();
}

/// Two ranks of `md` write frames, which `viz` reads, and a log that `md` reads itself.
fn planted() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let writes = [(1_000, 0, 3, 400), (2_000, 1, 3, 600), (3_000, 0, 5, 50), (4_000, 1, 6, 50)];
    tau(place.path(), "md", "n1", 2, &writes);
    tau(place.path(), "viz", "n2", 1, &[(1_500, 0, 4, 300), (5_000, 0, 4, 700)]);
    let convert = ["convert", "md.trc", "viz.trc", "run.parallax", "--align", "none"];
    parallax(place.path(), &[&convert[..], &["--depends", "viz=md"]].concat());
    place
}

#[test]
fn files_of_one_adios_stream_are_one_exchange_with_its_reads_and_times() {
    let place = planted();
    let found = rows(place.path(), &["workflow", "run.parallax", "--by", "exchange"]);
    let expected = json!({
        "from": "md", "to": "viz", "from_row": 0, "to_row": 1, "by": "ADIOS",
        "name": "run/frames.bp", "count": 2, "bytes": 1000, "senders": 2, "receivers": 1,
        "first_ns": 1_000_000.0, "last_ns": 5_000_000.0, "evidence": "recorded",
    });
    // What md writes and reads itself is no exchange, and the dependency is known by its data.
    assert_eq!(found, [expected]);
    let components = rows(place.path(), &["workflow", "run.parallax", "--by", "component"]);
    let of = |name: &str| components.iter().find(|row| row["component"] == name).unwrap().clone();
    let (md, viz) = (of("md"), of("viz"));
    assert_eq!((&md["ranks"], &md["hosts"]), (&json!(2), &json!("n1")));
    assert_eq!((&viz["ranks"], &viz["depends_on"]), (&json!(1), &json!("md")));
    assert_eq!((&md["end_ns"], &md["busy_percent"]), (&json!(9_000_000.0), &json!(100.0)));
    assert_eq!(viz["command"], "./viz 12");
    // The same sums as those of the messages by file.
    let files = rows(place.path(), &["messages", "run.parallax", "--by", "file"]);
    assert_eq!((&files[0]["messages"], &files[0]["bytes"]), (&json!(2), &json!(1000)));
    // Of a part of the time, what is under way in it.
    let window = ["workflow", "run.parallax", "--by", "exchange", "--window", "6ms..8ms"];
    assert_eq!(rows(place.path(), &window)[0]["by"], "dependency");
    let (text, notes) = parallax(place.path(), &["workflow", "run.parallax", "--width", "80"]);
    assert!(text.contains("Exchanges") && text.contains("run/frames.bp"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(!notes.contains("one component"), "{notes}");
}

#[test]
fn processes_of_components_have_their_hosts_commands_and_numbers() {
    let place = planted();
    let info = info(place.path(), "run.parallax");
    assert_eq!(info["component_list"][0]["hosts"], json!(["n1"]));
    let facts = &info["component_list"][1]["fact_list"];
    assert!(
        facts.as_array().unwrap().contains(&json!({"name": "Hostname", "value": "n2"})),
        "{facts}"
    );
    let list = info["process_list"].as_array().unwrap();
    assert_eq!(info["processes"], 3);
    let said: Vec<_> = list
        .iter()
        .map(|one| ["component", "process", "host", "command", "pid"].map(|key| one[key].as_str()))
        .collect();
    // The only process of viz has nothing that differs from others of viz: it is known of all of it.
    let expected = [
        ["md", "rank 0", "n1", "./md 12", "md-0"],
        ["md", "rank 1", "n1", "./md 12", "md-1"],
        ["viz", "rank 0", "n2", "./viz 12", "viz-0"],
    ];
    assert_eq!(said, expected.map(|row| row.map(Some)));
    let (text, _) = parallax(place.path(), &["info", "run.parallax", "--width", "120"]);
    let section = text.split("Metadata of components").nth(1).unwrap();
    assert!(
        section.lines().any(|line| line.split_whitespace().eq(["Hostname", "n1", "n2"])),
        "{text}"
    );
    assert!(section.contains("Processes"), "{text}");
}

/// A trace of one rank that sends `sends` messages of 100 bytes to `to`, one each millisecond.
fn messages(rank: u32, to: u32, sends: u64, receives: u64) -> String {
    let call = |kind: &str, time: u64| json!({"event-type": kind, "name": "work", "time": time, "node-id": rank, "thread-id": 0});
    let mut events = vec![call("entry", 0)];
    for nth in 0..sends.max(receives) {
        let kind = if nth < sends { "send" } else { "receive" };
        let (from, to) = if kind == "send" { (rank, to) } else { (to, rank) };
        events.push(json!({
            "event-type": kind, "time": 1000 * (nth + 1), "source-node-id": from,
            "source-thread-id": 0, "destination-node-id": to, "destination-thread-id": 0,
            "message-size": 100, "message-tag": 1
        }));
    }
    events.push(call("exit", 50_000));
    Value::Array(events).to_string()
}

#[test]
fn messages_between_components_and_inside_of_one_are_exchanges() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    std::fs::write(place.join("md.json"), messages(0, 1, 5, 0)).unwrap();
    std::fs::write(place.join("viz.json"), messages(1, 0, 0, 5)).unwrap();
    parallax(place, &["convert", "md.json", "viz.json", "run.parallax", "--offset", "viz=0.002"]);
    let found = rows(place, &["workflow", "run.parallax"]);
    assert_eq!(found.len(), 1, "{found:?}");
    let only = &found[0];
    let said = ["from", "to", "by", "name"].map(|key| only[key].as_str());
    assert_eq!(said, [Some("md"), Some("viz"), Some("message"), None]);
    assert_eq!((&only["count"], &only["bytes"]), (&json!(5), &json!(500)));
    // Sent from 1 to 5 ms, received 2 ms later.
    assert_eq!((&only["first_ns"], &only["last_ns"]), (&json!(1e6), &json!(7e6)));
    // Alone, one has messages of which the other side is missing, and says so.
    let alone = rows(place, &["workflow", "md.json"]);
    assert_eq!(
        (&alone[0]["to"], &alone[0]["to_row"]),
        (&json!("(not in the trace)"), &json!(null))
    );
    let (_, notes) = parallax(place, &["workflow", "md.json"]);
    assert!(notes.contains("There is one component"), "{notes}");
    assert!(notes.contains("5 messages have one side that is not in the trace"), "{notes}");
}

#[test]
fn the_profile_of_a_real_workflow_has_its_stream_hosts_and_processes() {
    let needs = parallax_testkit::needs::corpus_path;
    let Some(folder) = needs("data/tau/workflow_consolidation") else { return };
    let place = tempfile::tempdir().unwrap();
    let file = folder.join("merged_workflow.json").display().to_string();
    let found = rows(place.path(), &["workflow", &file]);
    assert_eq!(found.len(), 1, "{found:?}");
    let said = ["from", "to", "by", "name", "evidence"].map(|key| found[0][key].as_str().unwrap());
    assert_eq!(said, ["xmain_0", "reader2_0", "ADIOS", "start00001.bp", "described"]);
    // What all ranks of the writer counted, by a general reader of JSON.
    let text = std::fs::read(folder.join("merged_workflow.json")).unwrap();
    let golden: Value = serde_json::from_slice(&text).unwrap();
    let counters = golden["xmain_0"]["Counters"].as_array().unwrap();
    let sum: f64 = counters
        .iter()
        .filter(|row| row["Counter"] == "ADIOS data size")
        .map(|row| row["Num Events"].as_f64().unwrap() * row["Mean Value"].as_f64().unwrap())
        .sum();
    assert!(sum > 0.0);
    assert_eq!(found[0]["bytes"], json!(sum.round() as u64));
    assert_eq!((&found[0]["count"], &found[0]["first_ns"]), (&json!(null), &json!(null)));
    let components = rows(place.path(), &["workflow", &file, "--by", "component"]);
    let hosts: Vec<_> = components.iter().map(|row| row["hosts"].as_str().unwrap()).collect();
    assert_eq!(hosts, ["n076", "n077"]);
    assert!(components[1]["command"].as_str().unwrap().ends_with("reader2 5 x z"));

    let info = info(place.path(), &file);
    let list = info["process_list"].as_array().unwrap();
    assert_eq!(list.len(), 12);
    // TAU writes what ranks have in common with the first of them only.
    for (at, pid) in [(0, "94763"), (1, "94764"), (8, "94778")] {
        let key = |name: &str| list[at][name].as_str().unwrap().to_owned();
        assert_eq!(key("pid"), pid);
        assert_eq!(key("host"), if at < 8 { "n076" } else { "n077" });
        assert!(key("cpu").contains("E5-2690 v4"));
    }
    let start = |at: usize| list[at]["start_s"].as_f64().unwrap();
    assert!((start(0) - (1_497_063_437_427_470.0 - 1_497_063_437_148_626.0) / 1e6).abs() < 1e-9);
    assert!(start(8).abs() < 1e-9);
}

#[test]
fn hosts_of_otf2_come_from_its_system_tree() {
    let needs = parallax_testkit::needs::corpus_path;
    let place = tempfile::tempdir().unwrap();
    // Score-P calls nodes by their hosts; what TAU calls a node is a rank.
    for (trace, host) in
        [("data/otf2/ping-pong-otf2", Some("quartz10")), ("data/otf2/tau-minife-4", None)]
    {
        let Some(folder) = needs(trace) else { return };
        let info = info(place.path(), folder.to_str().unwrap());
        let facts = info["fact_list"].as_array().unwrap();
        let found = facts.iter().find(|fact| fact["name"] == "Hostname");
        assert_eq!(found.map(|fact| fact["value"].as_str().unwrap()), host, "{trace}");
        assert_eq!(info["processes"], 0, "nothing differs between ranks of {trace}");
    }
}
