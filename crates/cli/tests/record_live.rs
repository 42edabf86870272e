//! Recordings that are looked at while the program runs. Programs wait for files, so that what they
//! have done is known whenever somebody looks.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;
#[path = "common/recorded.rs"]
mod recorded;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command};
use std::thread;
use std::time::Duration;

use common::{answer, posted, rows, run};
use parallax_base::{Folder as _, read_range};
use parallax_native::{LiveFolder, LiveState};
use recorded::{Recorded, Running, wait_for};
use serde_json::Value;

/// Works in `phase_one` until there is a file `go`, then in `phase_two` until there is a file `stop`.
const PHASES: &str = r#"
#include <unistd.h>
#define NOINLINE __attribute__((noinline, noclone))
volatile unsigned long sink;
static inline __attribute__((always_inline)) void work(void) {
    unsigned long x = 88172645463325252ul;
    for (long i = 0; i < 1000000l; i++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; }
    sink = x;
}
NOINLINE void phase_one(void) { work(); sink++; }
NOINLINE void phase_two(void) { work(); sink++; sink++; }
int main(void) {
    alarm(120);
    while (access("go", F_OK) != 0) phase_one();
    while (access("stop", F_OK) != 0) phase_two();
    return 3;
}
"#;

/// A folder with the program.
struct Place(Recorded);

impl Deref for Place {
    type Target = Recorded;

    fn deref(&self) -> &Recorded {
        &self.0
    }
}

impl Place {
    fn new() -> Option<Self> {
        Recorded::new(PHASES).map(Self)
    }

    fn record(&self, options: &[&str]) -> Running {
        let arguments = [&["record", "-o", "run.parallax"], options, &["--", "./app"]].concat();
        Running::new(&mut self.tool(&arguments))
    }

    /// A snapshot that has a function, as an archive called `name`.
    fn snapshot(&self, name: &str, function: &str) -> PathBuf {
        let live = LiveFolder::new(&self.path("run.parallax"));
        let copy = self.path(name);
        wait_for(|| {
            if live.look().unwrap() != LiveState::Growing {
                return None;
            }
            let _ = fs::remove_dir_all(&copy);
            copied(&live, &copy);
            has_time(&copy, function).then(|| copy.clone())
        })
    }
}

fn copied(live: &LiveFolder, to: &Path) {
    let folder = live.frozen().unwrap();
    fs::create_dir(to).unwrap();
    for file in folder.walk().unwrap() {
        let source = folder.open(&file.path).unwrap().unwrap();
        fs::write(to.join(&file.path), read_range(&*source, 0, source.len()).unwrap()).unwrap();
    }
}

/// Seconds by function, at most so far: exclusive processor time.
fn times(archive: &Path, more: &[&str]) -> Vec<(String, f64)> {
    let arguments = [&["flat", archive.to_str().unwrap(), "--all", "--metric", "cputime"], more];
    let rows = rows(&arguments.concat());
    let inclusive = |row: &serde_json::Map<String, Value>| row["inclusive"].as_f64().unwrap();
    rows.iter().map(|row| (row["name"].as_str().unwrap().to_owned(), inclusive(row))).collect()
}

fn time_of(times: &[(String, f64)], name: &str) -> f64 {
    times.iter().filter(|(known, _)| known == name).map(|(_, seconds)| seconds).sum()
}

fn has_time(archive: &Path, function: &str) -> bool {
    time_of(&times(archive, &[]), function) > 0.2
}

/// What says that an archive is a snapshot.
const NOT_COMPLETE: &str = "recording-not-complete";

/// Kinds of what was reported.
fn issues(archive: &Path) -> Vec<String> {
    let info = answer(&["info", archive.to_str().unwrap()]);
    let issues = info["issue_list"].as_array().unwrap();
    issues.iter().map(|issue| issue["kind"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_snapshot_has_what_happened_until_then_and_changes_nothing_of_the_recording() {
    let Some(place) = Place::new() else { return };
    let recorder = place.record(&[]);
    let first = place.snapshot("first.parallax", "phase_one");
    let of_first = times(&first, &[]);
    assert_eq!(time_of(&of_first, "phase_two"), 0.0, "{of_first:?}");
    assert!(issues(&first).iter().any(|kind| kind == NOT_COMPLETE));
    place.say("go");
    let second = place.snapshot("second.parallax", "phase_two");
    place.say("stop");
    let output = recorder.ended();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let whole = place.path("run.parallax");
    assert!(issues(&whole).iter().all(|kind| kind != NOT_COMPLETE));
    for snapshot in [&first, &second] {
        // The time line of the whole has the same until the last sample before the snapshot.
        let stats = |archive: &Path, window: &str| {
            let archive = archive.to_str().unwrap();
            let rows = rows(&["stats", archive, "--all", "--window", window]);
            let time = |name: &str| {
                let own = rows.iter().filter(|row| row["name"] == name);
                own.map(|row| row["exclusive_s"].as_f64().unwrap()).sum::<f64>()
            };
            ["phase_one", "phase_two", "<waiting>", "<preempted>"].map(time)
        };
        let window = "0s..0.15s";
        assert_eq!(stats(snapshot, window), stats(&whole, window));
        // Times add up to the time that passed.
        let all = rows(&["stats", snapshot.to_str().unwrap(), "--all"]);
        let sum: f64 = all.iter().map(|row| row["exclusive_s"].as_f64().unwrap()).sum();
        let info = answer(&["info", snapshot.to_str().unwrap()]);
        let span = |end: &str| info["span"][end].as_u64().unwrap();
        let passed = (span("end_ns") - span("start_ns")) as f64 / 1e9;
        assert!((sum - passed).abs() < 1e-6, "{sum} s of {passed} s");
    }
    let of_whole = times(&whole, &[]);
    for name in ["phase_one", "phase_two"] {
        let (now, before) = (time_of(&of_whole, name), time_of(&times(&second, &[]), name));
        assert!(now >= before - 0.005, "{name}: {now} s, and {before} s in the snapshot");
    }
    assert!(place.hidden().is_empty());
}

/// A server of `open`.
struct Served {
    running: Running,
    stderr: BufReader<ChildStderr>,
    line: Value,
}

impl Served {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        let arguments = [&["open", "--json", "--no-browser"], arguments].concat();
        let mut running = Running::new(&mut place.tool(&arguments));
        let stderr = BufReader::new(running.child().stderr.take().unwrap());
        Self { running, stderr, line: Value::Null }
    }

    /// Waits until it says where it is.
    fn is_there(&mut self) {
        let mut line = String::new();
        let stdout = self.running.child().stdout.as_mut().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        self.line = serde_json::from_str(&line).unwrap();
    }

    /// The reply to a question.
    fn ask(&self, question: &str, with: &Value) -> Value {
        let (url, token) =
            (self.line["url"].as_str().unwrap(), self.line["token"].as_str().unwrap());
        let place = url.strip_prefix("http://").unwrap().split('/').next().unwrap();
        let question = serde_json::json!({ "ask": question, "with": with }).to_string();
        let mut stream = TcpStream::connect(place).unwrap();
        stream.write_all(posted(place, token, &question).as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        let reply = text.find("{\"").unwrap();
        let mut values =
            serde_json::Deserializer::from_slice(&text.as_bytes()[reply..]).into_iter();
        values.next().unwrap().unwrap()
    }

    /// What a page asks each second.
    fn look(&self) -> (String, String) {
        let reply = self.ask("fingerprint", &serde_json::json!({ "root": self.root() }));
        let field = |name: &str| found(&reply, name).unwrap().as_str().unwrap().to_owned();
        (field("fingerprint"), field("writing"))
    }

    fn root(&self) -> &str {
        self.line["roots"][0]["key"].as_str().unwrap()
    }

    /// Whether what is open now is said to be complete.
    fn is_complete(&self) -> bool {
        let reply = self.ask("open", &serde_json::json!({ "root": self.root() }));
        let item = found(&reply, "item").unwrap();
        let reply = self.ask("issues", &serde_json::json!({ "item": item }));
        !reply.to_string().contains(NOT_COMPLETE)
    }

    fn says(&mut self, what: &str) {
        let mut said = String::new();
        while !in_one_line(&said).contains(what) {
            assert!(self.stderr.read_line(&mut said).unwrap() > 0, "{what} is not said: {said}");
        }
    }
}

/// A text without line breaks.
fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A field, wherever it is.
fn found<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Object(fields) => {
            fields.get(name).or_else(|| fields.values().find_map(|field| found(field, name)))
        }
        Value::Array(values) => values.iter().find_map(|value| found(value, name)),
        _ => None,
    }
}

#[test]
fn a_server_waits_for_a_recording_shows_it_while_it_grows_and_when_it_is_complete() {
    let Some(place) = Place::new() else { return };
    let mut served = Served::start(&place, &["--live", "run.parallax"]);
    served.says("waiting for a recording");
    let recorder = place.record(&[]);
    served.is_there();
    served.says("is being recorded");
    let (first, writing) = served.look();
    assert_eq!((writing.as_str(), served.is_complete()), ("growing", false));
    // Whoever looks asks for more.
    wait_for(|| (served.look().0 != first).then_some(()));
    assert!(!served.is_complete());
    // Other commands say why there is nothing yet.
    let error = run(&["flat", place.path("run.parallax").to_str().unwrap()]);
    let error = in_one_line(&String::from_utf8_lossy(&error.stderr));
    assert!(error.contains("not complete yet") && error.contains("open --live"), "{error}");
    place.say("go");
    place.say("stop");
    assert_eq!(recorder.ended().status.code(), Some(3));
    served.says("is complete");
    assert_eq!((served.look().1.as_str(), served.is_complete()), ("complete", true));
}

#[test]
fn a_recording_goes_on_where_no_snapshot_can_be_written() {
    let Some(place) = Place::new() else { return };
    let recorder = place.record(&[]);
    let begun = wait_for(|| place.hidden().pop().filter(|folder| folder.join("content").exists()));
    // Nothing can be written where the next snapshot goes.
    fs::create_dir(begun.join("snapshot.new")).unwrap();
    let live = LiveFolder::new(&place.path("run.parallax"));
    assert_eq!(live.look().unwrap(), LiveState::Begun);
    wait_for(|| (!begun.join("wanted").exists()).then_some(()));
    thread::sleep(Duration::from_secs(2));
    assert_eq!(live.look().unwrap(), LiveState::Begun);
    place.say("go");
    place.say("stop");
    assert_eq!(recorder.ended().status.code(), Some(3));
    assert_eq!(live.look().unwrap(), LiveState::Complete);
    assert!(time_of(&times(&place.path("run.parallax"), &[]), "main") > 0.0);
    assert!(place.hidden().is_empty());
}

#[test]
fn what_a_killed_recorder_left_is_shown_and_can_be_recovered_meanwhile() {
    let Some(place) = Place::new() else { return };
    let mut recorder = place.record(&[]);
    let mut served = Served::start(&place, &["--live", "run.parallax"]);
    served.is_there();
    served.says("is being recorded");
    recorder.child().kill().unwrap();
    recorder.child().wait().unwrap();
    served.says(
        "the recorder ended before run.parallax was complete; its last snapshot is shown, and `parallax \
         record --recover run.parallax` keeps it",
    );
    assert_eq!((served.look().1.as_str(), served.is_complete()), ("abandoned", false));
    assert!(!place.path("run.parallax").exists());
    place.say("go");
    place.say("stop");
    let output = place.tool(&["record", "--recover", "run.parallax"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(place.path("run.parallax").exists() && place.hidden().is_empty());
    // It is as complete as it will be.
    assert_eq!((served.look().1.as_str(), served.is_complete()), ("complete", false));
}

#[test]
fn a_recording_with_a_browser_stays_there_until_it_is_interrupted() {
    let Some(place) = Place::new() else { return };
    let mut recorder = place.record(&["--open", "--no-browser"]);
    let mut stderr = BufReader::new(recorder.child().stderr.take().unwrap());
    let mut said = String::new();
    let mut until = |what: &str| {
        while !in_one_line(&said).contains(what) {
            assert!(stderr.read_line(&mut said).unwrap() > 0, "{what} is not said: {said}");
        }
    };
    until("Parallax is at http://");
    place.say("go");
    place.say("stop");
    until("until Ctrl+C");
    assert!(recorder.child().try_wait().unwrap().is_none());
    let number = recorder.child().id().to_string();
    let interrupted = Command::new("kill").args(["-INT", &number]).status().unwrap();
    assert!(interrupted.success());
    let status = wait_for(|| recorder.child().try_wait().unwrap());
    assert_eq!(status.code(), Some(3), "that of the program");
}

#[test]
fn a_recording_may_come_where_there_is_none_but_not_anywhere() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("run.csv"), "cores,region,time").unwrap();
    let fails = |paths: &[&str]| {
        let arguments = [&["open", "--live", "--no-browser"], paths].concat();
        let mut tool = Command::new(env!("CARGO_BIN_EXE_parallax"));
        let output = tool.args(arguments).current_dir(place.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        in_one_line(&String::from_utf8_lossy(&output.stderr))
    };
    for (paths, why) in [
        (&["run.csv"][..], "run.csv: it is a file"),
        (&["s3://runs/run.parallax"], "it is in an object store"),
        (&["/"], "does not end in a name"),
        (&["no/run.parallax"], "no/run.parallax: No such file"),
        (&["a.parallax", "b.parallax"], "name one path"),
    ] {
        let error = fails(paths);
        assert!(error.contains(why), "{error}");
    }
}
