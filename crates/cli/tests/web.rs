//! `open` and `export`: what a program reads from them, and what the user gets.

#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use common::posted;
use parallax_testkit::needs::{self, Without};
use serde_json::Value;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/reactor")
}

fn parallax(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
    command.args(arguments).current_dir(fixtures());
    command
}

fn output(arguments: &[&str]) -> Output {
    parallax(arguments).output().unwrap()
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A server that ends with the test.
struct Served {
    child: Child,
    line: Value,
}

impl Served {
    fn start(arguments: &[&str]) -> Self {
        let arguments = [&["open", "--json", "--no-browser"], arguments].concat();
        let mut child =
            parallax(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        Self { child, line: serde_json::from_str(&line).unwrap() }
    }

    fn token(&self) -> &str {
        self.line["token"].as_str().unwrap()
    }

    /// The status and all that follows.
    fn ask(&self, token: &str, question: &str) -> (u16, Vec<u8>) {
        let url = self.line["url"].as_str().unwrap();
        let place = url.strip_prefix("http://").unwrap().split('/').next().unwrap();
        let mut stream = TcpStream::connect(place).unwrap();
        stream.write_all(posted(place, token, question).as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let status = std::str::from_utf8(&bytes[9..12]).unwrap().parse().unwrap();
        (status, bytes)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn a_program_reads_where_the_server_is_and_asks_it() {
    let served = Served::start(&["n1024-p8"]);
    assert_eq!(served.token().len(), 32);
    let url = served.line["url"].as_str().unwrap();
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    assert!(url.ends_with(&format!("/?token={}", served.token())), "{url}");
    let roots = served.line["roots"].as_array().unwrap();
    assert_eq!(roots.len(), 1);
    assert_eq!(roots[0]["name"], "n1024-p8");
    let open = format!(r#"{{"ask":"open","with":{{"root":{}}}}}"#, roots[0]["key"]);
    let (status, bytes) = served.ask(served.token(), &open);
    assert_eq!(status, 200);
    assert!(has(&bytes, r#""kind":"experiment""#));
    let (status, bytes) = served.ask(served.token(), r#"{"ask":"info","with":{"item":"x1"}}"#);
    assert_eq!(status, 200);
    // What `parallax info` says.
    assert!(has(&bytes, r#""contexts":877"#) && has(&bytes, r#""samples":28539"#));
    assert_eq!(served.ask("0123456789abcdef0123456789abcdef", &open).0, 401);
}

#[test]
fn several_paths_are_offered_together_first() {
    let served = Served::start(&["n256-p1", "n256-p2"]);
    let names: Vec<&str> = served.line["roots"]
        .as_array()
        .unwrap()
        .iter()
        .map(|root| root["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["n256-p1 and 1 more", "n256-p1", "n256-p2"]);
}

#[test]
fn a_server_can_end_with_the_program_that_started_it() {
    let words = ["open", "--json", "--no-browser", "--until-stdin-closes", "n1024-p8"];
    let mut started = parallax(&words);
    started.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = started.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let served = Served { child, line: serde_json::from_str(&line).unwrap() };
    // What is written there is ignored.
    stdin.write_all(b"quit\n").unwrap();
    let (status, _) = served.ask(served.token(), r#"{"ask":"hello","with":{}}"#);
    assert_eq!(status, 200);
    drop(stdin);
    let mut served = served;
    let begun = std::time::Instant::now();
    let status = loop {
        match served.child.try_wait().unwrap() {
            Some(status) => break status,
            None => assert!(begun.elapsed().as_secs() < 60, "it goes on"),
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    assert!(status.success(), "{status}");
}

#[test]
fn a_token_file_keeps_the_address() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    let arguments = ["n256-p1", "--token-file", file.to_str().unwrap()];
    let first = Served::start(&arguments).token().to_owned();
    assert_eq!(std::fs::read_to_string(&file).unwrap().trim(), first);
    assert_eq!(Served::start(&arguments).token(), first);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "others may not read it");
    }
    std::fs::write(&file, "short").unwrap();
    let refused = output(&["open", "n256-p1", "--token-file", file.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(message(&refused).contains("token"), "{}", message(&refused));
}

#[test]
fn what_cannot_be_served_is_said_at_once() {
    let cases = [
        (&["open", "no-such-folder"][..], 1, "cannot open no-such-folder"),
        (&["open", "n256-p1/src"], 1, "nothing to open in n256-p1/src"),
        (&["open"], 2, "PATH"),
        (&["open", "n256-p1", "--port", "99999"], 2, "port"),
        (&["open", "n256-p1", "--bind", "192.0.2.1"], 1, "cannot listen on 192.0.2.1"),
        (&["export", "n256-p1"], 2, "--html"),
        (&["export", "n256-p1", "--html", "x.html", "--max-size", "many"], 2, "200MB"),
        (&["export", "no-such-folder", "--html", "x.html"], 1, "no-such-folder"),
        (&["export", "n256-p1/src", "--html", "x.html"], 1, "nothing to open"),
    ];
    for (arguments, code, text) in cases {
        let output = output(arguments);
        let message = message(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
        assert!(message.contains(text), "{arguments:?}: {message}");
    }
}

#[cfg(unix)]
#[test]
fn the_server_ends_when_it_is_asked_to() {
    let mut served = Served::start(&["n256-p1"]);
    let id = served.child.id().to_string();
    // The shell's own `kill`: a small system has no program of that name.
    let asked = Command::new("sh").args(["-c", r#"kill -TERM "$0""#, &id]).status().unwrap();
    assert!(asked.success());
    assert_eq!(served.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_page_that_would_be_too_large_says_what_to_leave_out() {
    let folder = tempfile::tempdir().unwrap();
    let html = folder.path().join("report.html");
    let html = html.to_str().unwrap();
    let refused = output(&["export", "n1024-p8", "--html", html, "--max-size", "500kB"]);
    assert_eq!(refused.status.code(), Some(1));
    let message = message(&refused);
    for part in ["trace.db", "--no-trace", "--max-size", "parallax open", "500.0 kB"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was left behind");
}

/// Builds of the tool without the page cannot write reports; they have to say how they can.
#[test]
fn a_report_has_the_data_or_the_build_says_what_it_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    let html = path.to_str().unwrap();
    let done = output(&["export", "n1024-p8", "--html", html, "--title", "Eight <ranks>"]);
    if done.status.code() == Some(1) {
        assert!(message(&done).contains("cargo xtask web"), "{}", message(&done));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        return;
    }
    assert!(done.status.success(), "{}", message(&done));
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains("<title>Eight &lt;ranks&gt; – Parallax</title>"));
    for file in ["meta.db", "profile.db", "cct.db", "trace.db"] {
        let mark = format!("data-root=\"Eight &lt;ranks&gt;\" data-path=\"{file}\">");
        assert_eq!(page.matches(&mark).count(), 1, "{file}");
    }
    assert!(page.contains("application/x-parallax-engine"));
    for (attribute, wanted) in [("src=\"./", 0), ("href=\"./", 0)] {
        assert_eq!(page.matches(attribute).count(), wanted, "a report has no second file");
    }
    let lean = output(&["export", "n1024-p8", "--html", html, "--no-trace"]);
    assert!(lean.status.success(), "{}", message(&lean));
    assert!(!std::fs::read_to_string(&path).unwrap().contains("data-path=\"trace.db\""));
}

/// A small trace of Chrome, and the OTF2 fixture.
fn traces(folder: &Path) -> [String; 3] {
    let chrome = folder.join("step.json");
    let text = r#"{"traceEvents": [
        {"ph": "X", "name": "step", "pid": 1, "tid": 1, "ts": 10, "dur": 100}]}"#;
    std::fs::write(&chrome, text).unwrap();
    let otf2 = fixtures().join("../otf2/all-records");
    [chrome, otf2.join("traces.otf2"), otf2].map(|path| path.to_str().unwrap().to_owned())
}

#[test]
fn raw_traces_are_served_and_exported() {
    let folder = tempfile::tempdir().unwrap();
    for trace in traces(folder.path()) {
        let served = Served::start(&[&trace]);
        let roots = served.line["roots"].as_array().unwrap();
        let open = format!(r#"{{"ask":"open","with":{{"root":{}}}}}"#, roots[0]["key"]);
        let (status, bytes) = served.ask(served.token(), &open);
        assert_eq!(status, 200, "{trace}");
        assert!(has(&bytes, r#""has_trace":true"#), "{trace}");
        let page = folder.path().join("page.html");
        let output = output(&["export", &trace, "--html", page.to_str().unwrap()]);
        // A build without the page says so; what it does not say is that there is nothing.
        let message = message(&output);
        assert!(!message.contains("nothing to open"), "{trace}: {message}");
        if output.status.success() {
            let page = std::fs::read_to_string(&page).unwrap();
            let file = Path::new(&trace).file_name().unwrap().to_str().unwrap();
            let file = if file == "all-records" { "traces.otf2" } else { file };
            assert!(page.contains(&format!("data-path=\"{file}\"")), "{trace}");
            assert_eq!(page.contains("data-path=\"traces/"), file == "traces.otf2", "{trace}");
        }
    }
}

#[test]
fn a_file_of_no_known_format_is_the_only_one_that_its_error_names() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [("notes.txt", "hello"), ("other.txt", "hello"), ("empty.json", "")] {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let cases = [("notes.txt", "notes.txt is of no known format"), ("empty.json", "is empty")];
    for command in ["info", "scaling", "open"] {
        for (name, text) in cases {
            let path = folder.path().join(name);
            let output = output(&[command, path.to_str().unwrap()]);
            let message = message(&output);
            assert_eq!(output.status.code(), Some(1), "{command} {name}: {message}");
            assert!(message.contains(text), "{command} {name}: {message}");
            assert!(!message.contains("other.txt"), "{command} {name}: {message}");
        }
    }
}

/// The client of docs/protocol.md.
#[test]
fn the_example_client_in_python_reads_what_a_server_answers() {
    if !needs::program("python3", Without::Test) {
        return;
    }
    let served = Served::start(&["n1024-p8"]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/client/client.py");
    let run = |token: &str| {
        let url = served.line["url"].as_str().unwrap();
        Command::new("python3").arg(&script).args([url, token]).output().unwrap()
    };
    let output = run(served.token());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // What `parallax info` says.
    assert!(text.contains(": 877 contexts, 24 locations"), "{text}");
    assert!(text.contains("table metrics: "), "{text}");
    assert!(!run("0123456789abcdef0123456789abcdef").status.success());
}
