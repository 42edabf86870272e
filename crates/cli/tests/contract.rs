//! What programs rely on: exit codes, formats with the same columns, errors that help, files that
//! appear complete or not at all.

#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/reactor").join(name)
}

fn parallax(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
    command.args(arguments).current_dir(fixture("..").join("reactor")).output().unwrap()
}

fn stdout(arguments: &[&str]) -> String {
    let output = parallax(arguments);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout(arguments)).unwrap()
}

#[test]
fn info_counts_what_is_there() {
    let info = json(&["info", "n1024-p8", "--json"]);
    assert_eq!(info["format"], "HPCToolkit 4.0");
    assert_eq!(info["contexts"], 877);
    assert_eq!(info["locations"], 24);
    assert_eq!(info["metrics"], 1);
    assert_eq!(info["traces"], 24);
    assert_eq!(info["samples"], 28_539);
    assert_eq!(info["issues"], 0);
}

#[test]
fn a_query_has_the_promised_columns_and_raw_leaves_names_out() {
    let names = |value: &Value| -> Vec<String> {
        let columns = value["columns"].as_array().unwrap();
        columns.iter().map(|column| column["name"].as_str().unwrap().to_owned()).collect()
    };
    let arguments = ["query", "n256-p2", "-c", "function(MPI_*)", "--json"];
    let readable = json(&arguments);
    let ids = ["profile_id", "context_id", "metric_id", "value"];
    assert_eq!(names(&readable)[..4], ids);
    assert_eq!(names(&readable)[4..], ["location", "context", "metric"]);
    let raw = json(&[&arguments[..], &["--raw"]].concat());
    assert_eq!(names(&raw), ids);
    let rows = |value: &Value| value["rows"].as_array().unwrap().len();
    assert!(rows(&raw) > 0);
    assert_eq!(rows(&raw), rows(&readable));
    let trace = json(&["trace", "n256-p2", "--raw", "--json"]);
    assert_eq!(names(&trace), ["profile_id", "context_id", "start_ns", "end_ns"]);
    assert_eq!(rows(&trace) as u64, json(&["info", "n256-p2", "--json"])["samples"]);
}

/// Rows of an answer by the names of its columns.
fn rows(answer: &Value) -> Vec<serde_json::Map<String, Value>> {
    let columns = answer["columns"].as_array().unwrap();
    let names: Vec<&str> = columns.iter().map(|column| column["name"].as_str().unwrap()).collect();
    let of = |row: &Value| {
        let cells = row.as_array().unwrap().iter().cloned();
        names.iter().map(ToString::to_string).zip(cells).collect()
    };
    answer["rows"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn trees_have_the_parent_the_module_and_the_offset_of_contexts() {
    let tree = rows(&json(&["tree", "n256-p2", "--json"]));
    let top = u64::from(u32::MAX);
    let mut modules = 0;
    for (at, row) in tree.iter().enumerate() {
        let depth = row["depth"].as_u64().unwrap();
        match row["parent"].as_u64().unwrap() {
            parent if parent == top => assert_eq!(depth, 0),
            parent => {
                let parent = parent as usize;
                assert!(parent < at);
                assert_eq!(tree[parent]["depth"].as_u64().unwrap() + 1, depth);
                // Everything in between lies below the parent, too.
                assert!(
                    tree[parent + 1..at].iter().all(|row| row["depth"].as_u64() >= Some(depth))
                );
            }
        }
        modules += usize::from(row["module"].as_str().is_some_and(|path| !path.is_empty()));
        assert_eq!(row["offset"].is_null(), row["kind"] != "instruction", "{row:?}");
    }
    let of = |name: &str| tree.iter().find(|row| row["name"] == name).unwrap();
    assert!(of("react")["module"].as_str().unwrap().ends_with("/reactor"));
    assert!(modules > tree.len() / 2, "{modules} of {}", tree.len());
}

#[test]
fn locations_have_the_parts_of_their_identity() {
    let list = rows(&json(&["locations", "hybrid-n1024-p2x2", "--json"]));
    let info = json(&["info", "hybrid-n1024-p2x2", "--json"]);
    assert_eq!(list.len() as u64, info["locations"].as_u64().unwrap());
    assert!(list.iter().all(|row| row["node"].as_u64().is_some()));
    let program: Vec<(u64, u64)> = list
        .iter()
        .filter(|row| row["role"] == "application")
        .map(|row| (row["rank"].as_u64().unwrap(), row["thread"].as_u64().unwrap()))
        .collect();
    assert!(program.contains(&(0, 0)) && program.contains(&(1, 0)), "{program:?}");
    assert!(list.iter().any(|row| row["role"] == "helper thread"));
    let samples: u64 = list.iter().map(|row| row["samples"].as_u64().unwrap()).sum();
    assert_eq!(samples, info["samples"].as_u64().unwrap());
    let one = rows(&json(&["locations", "hybrid-n1024-p2x2", "-p", "rank(1).thread(0)", "--json"]));
    assert_eq!(one.len(), 1);
    assert_eq!(one[0]["location"], "rank 1 thread 0");
}

#[test]
fn balance_is_over_the_locations_that_take_part() {
    let ask = |more: &[&str]| {
        let arguments = ["balance", "n1024-p8", "-c", "function(__GI_fprintf)", "--json"];
        rows(&json(&[&arguments[..], more].concat())).remove(0)
    };
    // Rank 0 alone writes checkpoints to a file.
    let taking_part = ask(&[]);
    assert_eq!((&taking_part["members"], &taking_part["absent"]), (&1.into(), &7.into()));
    assert_eq!(taking_part["balance_ratio"], 1.0);
    let all = ask(&["--all-locations"]);
    assert_eq!((&all["members"], &all["absent"]), (&8.into(), &0.into()));
    assert_eq!(all["balance_ratio"], 0.125);
    let shown = stdout(&["balance", "n1024-p8", "-c", "function(__GI_fprintf)", "--width", "160"]);
    let mut lines = shown.lines().skip_while(|line| !line.contains("  of 8  "));
    assert!(lines.next().unwrap().contains("(ms)  of 8  distribution"), "{shown}");
    let row: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    assert_eq!(row[5..6], ["1"], "{shown}");
    // The number of the paper.
    let Some(lulesh) = parallax_testkit::needs::corpus_path("data/hpctoolkit/hpcviewer/issue-233")
    else {
        return;
    };
    let lulesh = lulesh.to_str().unwrap();
    let found = json(&["balance", lulesh, "-c", "function(MPI_Allreduce)", "--json"]);
    let ratio = rows(&found)[0]["balance_ratio"].as_f64().unwrap();
    assert!((ratio - 0.341_992).abs() < 5e-7, "{ratio}");
}

#[test]
fn values_of_metrics_with_different_units_have_their_own() {
    let path = "data/hpctoolkit/upstream/loops-cuda-nvidia-t.d";
    let Some(database) = parallax_testkit::needs::corpus_path(path) else { return };
    let database = database.to_str().unwrap();
    let answer = rows(&json(&["query", database, "-p", "summary", "--json"]));
    let unit = |metric: &str| {
        let row = answer.iter().find(|row| row["metric"].as_str().unwrap().starts_with(metric));
        row.unwrap()["unit"].as_str().unwrap().to_owned()
    };
    assert_eq!(unit("GKER:sum"), "s");
    assert_eq!(unit("GKER:COUNT:sum"), "");
    let shown = stdout(&["query", database, "-p", "summary", "--all", "--width", "160"]);
    for (value, metric) in [(" 29.8 ms ", " GKER:sum (i)"), (" 100 ", " GKER:COUNT:sum (i)")] {
        let is_there = |line: &str| line.contains(value) && line.ends_with(metric);
        assert!(shown.lines().any(is_there), "{value}: {shown}");
    }
    // With one unit for all, the column of values has it.
    let one = json(&["query", "n256-p2", "-c", "function(MPI_*)", "--json"]);
    assert!(rows(&one).iter().all(|row| !row.contains_key("unit")));
}

#[test]
fn csv_and_json_lines_carry_the_same_rows_as_json() {
    let query = ["query", "n256-p2", "-p", "rank(0)", "--raw", "--format"];
    let with = |format| stdout(&[&query[..], &[format]].concat());
    let json: Value = serde_json::from_str(&with("json")).unwrap();
    let rows = json["rows"].as_array().unwrap();
    let csv = with("csv");
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("profile_id,context_id,metric_id,value"));
    assert_eq!(lines.clone().count(), rows.len());
    for (line, row) in lines.zip(rows) {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        let expected: Vec<f64> =
            row.as_array().unwrap().iter().map(|cell| cell.as_f64().unwrap()).collect();
        assert_eq!(cells, expected);
    }
    for (line, row) in with("jsonl").lines().zip(rows) {
        let object: Value = serde_json::from_str(line).unwrap();
        assert_eq!(object["value"], row[3]);
    }
}

#[test]
fn wrong_questions_exit_with_2_and_unusable_data_with_1() {
    let code = |arguments: &[&str]| parallax(arguments).status.code();
    assert_eq!(code(&["info", "n256-p1"]), Some(0));
    assert_eq!(code(&["info"]), Some(2));
    assert_eq!(code(&["tree", "n256-p1", "--prune", "nonsense"]), Some(2));
    assert_eq!(code(&["query", "n256-p1", "-p", "rnak(0)"]), Some(2));
    assert_eq!(code(&["query", "n256-p1", "-c", "function(raect)"]), Some(2));
    assert_eq!(code(&["info", "no-such-folder"]), Some(1));
    assert_eq!(code(&["info", ".."]), Some(1));
}

/// Clap takes descriptions from doc comments, also from those that are about the code.
#[test]
fn help_begins_with_what_parallax_and_each_command_do() {
    let first = |text: String| {
        let paragraph = text.split("\n\n").next().unwrap_or_default().replace('\n', " ");
        paragraph.trim_end_matches('.').to_owned()
    };
    for arguments in [["help"], ["--help"], ["-h"]] {
        assert_eq!(
            first(stdout(&arguments)),
            "Parallax analyses the performance of parallel programs",
            "{arguments:?}"
        );
    }
    let alone = parallax(&[]);
    assert!(String::from_utf8(alone.stderr).unwrap().starts_with("Parallax analyses"));
    // The list and the help of a command say the same.
    let list: Vec<String> = stdout(&["-h"]).split_whitespace().map(str::to_owned).collect();
    let list = list.join(" ");
    for name in ["info", "trace", "sql", "measure", "completions"] {
        let about = first(stdout(&[name, "-h"]));
        assert!(list.contains(&format!("{name} {about}")), "{name}: {about}");
    }
}

/// A command that is typed has its own options alone; the list of commands has all.
#[test]
fn a_command_is_the_same_in_the_list_and_alone() {
    let list = stdout(&["--help"]);
    let names: Vec<&str> = list
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        // What an entry says about itself may go on in lines with more space before them.
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty())
        .collect();
    assert!(names.len() > 30 && names.contains(&"scaling"), "{list}");
    for name in names.iter().filter(|&&name| name != "help") {
        let of_list = stdout(&["help", name]);
        assert_eq!(stdout(&[name, "--help"]), of_list, "{name}");
        assert!(of_list.contains("Usage: parallax "), "{name}: {of_list}");
        // What is wrong with it is told as before the list of commands was left out.
        let alone = parallax(&[name, "--no-such-option"]);
        let of_list = parallax(&["--quiet", name, "--no-such-option"]);
        assert_eq!(alone.status.code(), Some(2), "{name}");
        assert_eq!(alone.stderr, of_list.stderr, "{name}");
    }
}

#[test]
fn errors_say_what_where_and_what_to_do() {
    let error = |arguments: &[&str]| String::from_utf8(parallax(arguments).stderr).unwrap();
    let message = error(&["query", "n256-p1", "-c", "function(raect)"]);
    assert!(message.contains("this experiment has no function raect"), "{message}");
    assert!(message.contains("did you mean react?"), "{message}");
    let message = error(&["query", "n256-p1", "-p", "rnak(0)"]);
    assert!(message.contains("^^^^"), "{message}");
    let message = error(&["info", "n256-p1/src"]);
    assert!(message.contains("Parallax reads data of HPCToolkit, TAU"), "{message}");
    let message = error(&["info", "."]);
    assert!(message.contains("name one of them: ./hybrid-n1024-p2x2"), "{message}");
    let message = error(&["info", "no-such-folder"]);
    assert!(message.contains("no-such-folder"), "{message}");
}

#[test]
fn a_file_is_complete_or_absent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("values.csv");
    let path = path.to_str().unwrap();
    assert_eq!(stdout(&["query", "n256-p1", "--raw", "-o", path]), "");
    let written = std::fs::read_to_string(path).unwrap();
    assert_eq!(written, stdout(&["query", "n256-p1", "--raw", "--format", "csv"]));
    let bad = folder.path().join("bad.csv");
    let output = parallax(&["query", "n256-p1", "-c", "function(x", "-o", bad.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn the_name_of_the_folder_and_stray_files_do_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    // The parts under other names, beside a stray file.
    for (from, to) in
        [("meta.db", "a"), ("profile.db", "b.bin"), ("cct.db", "c"), ("trace.db", "d")]
    {
        std::fs::copy(fixture("n256-p2").join(from), folder.path().join(to)).unwrap();
    }
    std::fs::write(folder.path().join("hpctoolkit.db"), b"").unwrap();
    let renamed = folder.path().to_str().unwrap();
    for question in ["flat", "trace", "query"] {
        assert_eq!(
            stdout(&[question, renamed, "--format", "csv"]),
            stdout(&[question, "n256-p2", "--format", "csv"]),
            "{question}"
        );
    }
}

#[test]
fn a_database_without_cct_or_trace_answers_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["meta.db", "profile.db"] {
        std::fs::copy(fixture("n256-p2").join(name), folder.path().join(name)).unwrap();
    }
    let lean = folder.path().to_str().unwrap();
    for question in [&["flat"][..], &["query"], &["balance"]] {
        let asked = |path| {
            let mut arguments = vec![question[0], path, "--format", "csv"];
            arguments.extend(&question[1..]);
            stdout(&arguments)
        };
        assert_eq!(asked(lean), asked("n256-p2"), "{question:?}");
    }
    let output = parallax(&["trace", lean]);
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("no traces"), "{message}");
}

#[test]
fn notes_of_a_report_are_in_every_format() {
    let hosts = "../congested/hosts.csv";
    let arguments = ["report", "../congested", "--hosts", hosts, "--system", "aurora"];
    let note = "hosts.csv: 96 hosts of a host table";
    let report = json(&[&arguments[..], &["--json"]].concat());
    assert_eq!(report["notes"], serde_json::json!([note]));
    let groups = report["findings"].as_array().unwrap().iter().find(|f| f["kind"] == "Groups");
    let next = groups.unwrap()["next"].as_str().unwrap();
    assert_eq!(
        next,
        format!("parallax topology ../congested --by rank --hosts {hosts} --system aurora")
    );
    // What it says can be typed.
    let words: Vec<&str> = next.split(' ').skip(1).collect();
    assert!(stdout(&words).contains("whole"));
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    let output = parallax(&[&arguments[..], &["--html", page.to_str().unwrap()]].concat());
    assert!(String::from_utf8(output.stderr).unwrap().contains(note));
    assert!(std::fs::read_to_string(&page).unwrap().contains(&format!("<li>{note}</li>")));
    assert_eq!(json(&["report", "n1024-p8", "--json"])["notes"], serde_json::json!([]));
}

/// Page faults ran below zero in every rank of this run, which makes sums of about 10^19.
#[test]
fn a_counter_that_wrapped_is_an_issue_and_in_no_total() {
    let root = std::env::var_os("PARALLAX_CORPUS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let run = root.join("data/hpctoolkit/measured/model-minife/p4.n60");
    if !run.is_dir() {
        println!("skipped: no corpus");
        return;
    }
    let path = run.to_str().unwrap();
    let info = json(&["info", path, "--json"]);
    assert_eq!(info["issues"], 1);
    let issue = &info["issue_list"][0];
    assert_eq!(issue["kind"], "wrapped-value");
    assert!(issue["message"].as_str().unwrap().contains("perf::PAGE-FAULTS"), "{issue}");
    for metric in info["metric_list"].as_array().unwrap() {
        let is_wrapped = metric["name"] == "perf::PAGE-FAULTS";
        assert_eq!(metric["total"].is_null(), is_wrapped, "{metric}");
    }
    // What only this answer met is said with it, not sent for to `info`.
    let report = parallax(&["report", path]);
    let said =
        String::from_utf8_lossy(&report.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("Values of perf::PAGE-FAULTS"), "{said}");
    assert!(!said.contains("lists"), "{said}");
}
