//! `measure` on real programs: each writes down what it was given, and that is compared with what
//! was requested. Nothing here depends on how long a program takes.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::{answer, printed, rows, skip};
use serde_json::{Map, Value};

/// Writes down what it was told: threads, processors, arguments.
const PROBE: &str = r#"
IFS=: read -r _ processors <<END
$(grep Cpus_allowed_list /proc/self/status)
END
echo "$OMP_NUM_THREADS/$RAYON_NUM_THREADS/$EXTRA/$(echo $processors)/$*" >> "$LOG"
"#;

/// A folder with a program in it that logs, and what is measured of it.
struct Scratch {
    folder: tempfile::TempDir,
    /// For temporary files: what is killed leaves its own.
    temporary: tempfile::TempDir,
}

impl Scratch {
    /// With the program `app`, which is this script.
    fn new(script: &str) -> Self {
        let [folder, temporary] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
        let place = Self { folder, temporary };
        place.script("app", script);
        place
    }

    fn script(&self, name: &str, script: &str) {
        let path = self.path(name);
        // Written elsewhere and renamed: no process that is being started has it open for writing.
        let new = self.path(&format!("{name}.new"));
        fs::write(&new, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&new, fs::Permissions::from_mode(0o755)).unwrap();
        fs::rename(new, path).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self) -> String {
        self.path("sweep.json").to_str().unwrap().to_owned()
    }

    /// `measure` with these options, into `sweep.json`.
    fn command(&self, options: &[&str], program: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
        command.current_dir(self.folder.path()).env("LOG", self.path("log"));
        command.env("TMPDIR", self.temporary.path());
        // What a test's own environment has must not matter.
        command.env_remove("OMP_NUM_THREADS").env_remove("EXTRA");
        command.arg("measure").args(options).args(["-o", &self.file(), "--"]).args(program);
        command
    }

    fn measure(&self, options: &[&str], program: &[&str]) -> Output {
        self.command(options, program).output().unwrap()
    }

    /// The same; it must not fail. Its standard output and error.
    fn measured(&self, options: &[&str], program: &[&str]) -> (String, String) {
        let output = self.measure(options, program);
        let [out, err] = [output.stdout, output.stderr].map(|b| String::from_utf8(b).unwrap());
        assert!(output.status.success(), "{options:?}: {err}");
        (out, err)
    }

    /// What the programs wrote down, in the order in which they ran.
    fn log(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// `config` and `data` of the file.
    fn sweep(&self) -> (Value, Map<String, Value>) {
        let file: Value = serde_json::from_slice(&fs::read(self.file()).unwrap()).unwrap();
        (file["config"].clone(), file["data"].as_object().unwrap().clone())
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn error_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Waits for something that is bound to happen.
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a process runs: one that has ended and is not waited for does not.
fn is_running(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

#[test]
fn the_plain_form_runs_everything_and_shows_the_maps() {
    let place = Scratch::new(PROBE);
    let options =
        ["--cores", "1,2", "--input", "small 'a b'", "--input", "-n __nt__", "--reps", "2"];
    let (out, err) = place.measured(&options, &["./app", "-t", "__nt__"]);
    let arguments: Vec<String> = place
        .log()
        .iter()
        .map(|line| {
            let parts: Vec<&str> = line.splitn(5, '/').collect();
            format!("{} {} {}", parts[0], parts[1], parts[4])
        })
        .collect();
    let round = ["1 1 -t 1 small a b", "1 1 -t 1 -n 1", "2 2 -t 2 small a b", "2 2 -t 2 -n 2"];
    assert_eq!(arguments, [round, round].concat());
    // The file: every run, with its times and what it used.
    let (config, data) = place.sweep();
    let mut keys: Vec<&String> = data.keys().collect();
    keys.sort();
    let expected = ["1;0;1", "1;0;2", "1;1;1", "1;1;2", "2;0;1", "2;0;2", "2;1;1", "2;1;2"];
    assert_eq!(keys, expected);
    assert_eq!(config["arguments"], serde_json::json!(["small 'a b'", "-n __nt__"]));
    assert_eq!(config["pkg"], "./app");
    assert!(!config["machine"]["processors"].as_array().unwrap().is_empty());
    for run in data.values() {
        assert_eq!(run["exit_status"], 0);
        assert!(run["max_resident_bytes"].as_u64().unwrap() > 100_000, "{run}");
        assert!(run["stop_time"].as_f64() > run["start_time"].as_f64());
    }
    // The same file as others see it: the median of two is their mean.
    let shown = rows(&["scaling", &place.file()]);
    let seconds = |key: &str| {
        data[key]["stop_time"].as_f64().unwrap() - data[key]["start_time"].as_f64().unwrap()
    };
    for (cores, input, key) in [(1, "small 'a b'", "1;0"), (2, "-n __nt__", "2;1")] {
        let is_it = |row: &&Map<String, Value>| row["cores"] == cores && row["input"] == input;
        let row = shown.iter().find(is_it).unwrap_or_else(|| panic!("{shown:?}"));
        let expected = (seconds(&format!("{key};1")) + seconds(&format!("{key};2"))) / 2.0;
        let found = row["time"].as_f64().unwrap();
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
    assert!(out.contains("Scaling of"), "{out}");
    assert!(err.contains("[8/8] 2 cores, input '-n __nt__', repetition 2"), "{err}");
    assert!(err.contains("parallax scaling"), "{err}");
    let info = printed(&["scaling", &place.file(), "--table", "dispersion"]);
    assert!(!info.contains("shuffled"), "{info}");
    assert_eq!(place.names(), ["app", "log", "sweep.json"]);
    // Nothing is left to be run; the maps for programs are those of `scaling`.
    let again = [&options[..], &["--resume", "--json"]].concat();
    let (out, _) = place.measured(&again, &["./app", "-t", "__nt__"]);
    assert_eq!(out, printed(&["scaling", &place.file(), "--json"]));
    assert_eq!(place.log().len(), 8);
}

#[test]
fn programs_get_the_variables_and_processors_that_were_asked_for() {
    let place = Scratch::new(PROBE);
    let options = ["-c", "1,2,64", "--env", "EXTRA=<__nt__>", "--env", "RAYON_NUM_THREADS=7", "-q"];
    let bound = [&options[..], &["--bind", "close", "--order", "descending"]].concat();
    let (_, err) = place.measured(&bound, &["./app"]);
    assert!(err.contains("64 cores are asked for"), "{err}");
    let (config, data) = place.sweep();
    assert_eq!(data.len(), 3);
    let processors = config["machine"]["processors"].as_array().unwrap();
    let log = place.log();
    assert_eq!(log.len(), 3);
    for (line, cores) in log.iter().zip([64, 2, 1]) {
        let parts: Vec<&str> = line.splitn(5, '/').collect();
        let cores_text = cores.to_string();
        assert_eq!(
            (parts[0], parts[1], parts[2]),
            (cores_text.as_str(), "7", format!("<{cores}>").as_str())
        );
        let chosen = config["sweep"]["processors"][&cores_text].as_array().unwrap();
        assert_eq!(chosen.len(), cores.min(processors.len()));
        assert_eq!(
            listed(parts[3]),
            chosen.iter().map(|id| id.as_u64().unwrap()).collect::<Vec<_>>()
        );
    }
    // Not bound: all that this process may use.
    fs::remove_file(place.path("sweep.json")).unwrap();
    place.measured(&options, &["./app"]);
    for line in place.log().iter().skip(3) {
        let all: Vec<u64> = processors.iter().map(|id| id.as_u64().unwrap()).collect();
        assert_eq!(listed(line.split('/').nth(3).unwrap()), all);
    }
}

/// The processors of a list such as `0-3,8`.
fn listed(text: &str) -> Vec<u64> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        first.parse::<u64>().unwrap()..=last.parse().unwrap()
    };
    text.split(',').flat_map(range).collect()
}

#[test]
fn launchers_get_the_ranks_and_programs_one_thread_each() {
    let place = Scratch::new(PROBE);
    place.script("mpi", "echo \"ranks $2\" >> \"$LOG\"; shift 2; exec \"$@\"");
    let options = ["-c", "2,4", "--mpi", "./mpi -n {p}"];
    place.measured(&options, &["./app", "x"]);
    let log = place.log();
    let heads: Vec<String> = log
        .iter()
        .map(|line| if line.starts_with("ranks") { line.clone() } else { line[..3].to_owned() })
        .collect();
    assert_eq!(heads, ["ranks 2", "1/1", "ranks 4", "1/1"]);
}

#[test]
fn failed_runs_are_marked_and_not_averaged_and_can_be_made_again() {
    let place = Scratch::new(&format!(
        "{PROBE}\ncase $OMP_NUM_THREADS in 2) echo no luck >&2; exit 3;; 4) kill -SEGV $$;; esac"
    ));
    let options = ["-c", "1,2,4", "--reps", "2"];
    let output = place.measure(&options, &["./app"]);
    let error = error_of(&output);
    assert_eq!(output.status.code(), Some(1), "{error}");
    for part in ["no luck", "exit status 3", "signal 11", "4 of 6 runs failed", "--retry-failed"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let (_, data) = place.sweep();
    assert_eq!(
        (&data["2;1"]["exit_status"], &data["4;2"]["exit_status"]),
        (&3.into(), &139.into())
    );
    assert_eq!((&data["1;1"]["exit_status"], &data["4;1"]["signal"]), (&0.into(), &11.into()));
    let shown = rows(&["scaling", &place.file()]);
    let times = shown.iter().filter(|row| !row["time"].is_null());
    let cores: Vec<&Value> = times.map(|row| &row["cores"]).collect();
    assert_eq!(cores, [&Value::from(1)]);
    // What failed is kept, unless it is asked for again.
    let again = [&options[..], &["--resume"]].concat();
    assert_eq!(place.measure(&again, &["./app"]).status.code(), Some(1));
    assert_eq!(place.log().len(), 6);
    place.script("app", PROBE);
    place.measured(&[&again[..], &["--retry-failed"]].concat(), &["./app"]);
    let repeated: Vec<String> = place.log()[6..].iter().map(|line| line[..1].to_owned()).collect();
    assert_eq!(repeated, ["2", "4", "2", "4"]);
    assert!(place.sweep().1.values().all(|run| run["exit_status"] == 0));
    assert_eq!(place.sweep().1.len(), 6);
}

#[test]
fn hanging_programs_are_ended_with_all_that_they_started() {
    // It has a child, and neither ends when asked to.
    let hang = "trap '' TERM\n(echo child $(exec sh -c 'echo $PPID') >> \"$LOG\"; while :; do sleep 0.1; done) &\n\
                echo self $$ >> \"$LOG\"; wait; while :; do sleep 0.1; done";
    let place = Scratch::new(hang);
    let output = place.measure(&["-c", "1", "--timeout", "1s"], &["./app"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(error_of(&output).contains("took longer than 1"), "{}", error_of(&output));
    let (_, data) = place.sweep();
    assert_eq!((&data["1;1"]["exit_status"], &data["1;1"]["timeout"]), (&124.into(), &1.0.into()));
    let log = place.log();
    assert_eq!(log.len(), 2, "{log:?}");
    for line in log {
        let pid = line.rsplit(' ').next().unwrap().to_owned();
        wait_until(&line, || !is_running(&pid));
    }
}

#[test]
fn programs_that_do_nothing_are_ended_and_busy_ones_are_not() {
    let place = Scratch::new(
        "case $1 in idle) exec sleep 1000;; *) i=0; while [ $i -lt 600000 ]; do i=$((i+1)); done;; esac",
    );
    let options =
        ["-c", "1", "-i", "busy", "-i", "idle", "--idle-timeout", "2s", "--timeout", "10min"];
    let output = place.measure(&options, &["./app"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(error_of(&output).contains("used no CPU time for 2"), "{}", error_of(&output));
    let (_, data) = place.sweep();
    let (busy, idle) = (&data["1;0;1"], &data["1;1;1"]);
    assert_eq!((&busy["exit_status"], &idle["exit_status"]), (&0.into(), &124.into()));
    assert_eq!(idle["idle_timeout"], 2.0);
    // What they used: counting takes processor time, sleeping takes none.
    let used =
        |run: &Value| run["user_time"].as_f64().unwrap() + run["system_time"].as_f64().unwrap();
    assert!(used(busy) > 0.05 && used(idle) < used(busy), "{busy} {idle}");
}

#[test]
fn what_cannot_be_run_is_said_before_anything_is_run_or_written() {
    let place = Scratch::new(PROBE);
    fs::write(place.path("plain"), "text").unwrap();
    let one = ["-c", "1"];
    let with_launcher = ["-c", "1", "--mpi", "no-such-mpirun -n {p}"];
    let cases: [(&[&str], &str, i32, &str); 8] = [
        (&one, "./absent", 1, "cannot run ./absent: No such file"),
        (&one, "app", 1, "the one in this folder is ./app"),
        (&one, "./plain", 1, "no executable file"),
        (&with_launcher, "./app", 1, "cannot run no-such-mpirun"),
        (&["-c", "4:1"], "./app", 2, "ends before it begins"),
        (&["-c", "1", "-i", "'x"], "./app", 2, "not closed"),
        (&["-c", "1", "--reps", "0"], "./app", 2, "no repetitions"),
        (&["-c", "1", "--retry-failed"], "./app", 2, "--resume"),
    ];
    for (options, program, code, part) in cases {
        let output = place.measure(options, &[program]);
        let error = error_of(&output);
        assert_eq!(output.status.code(), Some(code), "{error}");
        assert!(error.contains(part), "{part}: {error}");
        assert_eq!(place.names(), ["app", "plain"]);
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
    let target = place.path("no/such/folder/sweep.json");
    command.args(["measure", "-c", "1", "-o"]).arg(&target).arg("--").arg(place.path("app"));
    let output = command.output().unwrap();
    let error = error_of(&output);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("cannot write") && error.contains("no/such/folder"), "{error}");
    // A program that vanishes meanwhile fails, like any other that does.
    let place = Scratch::new("rm \"$0\"");
    let output = place.measure(&["-c", "1,2"], &["./app"]);
    assert!(error_of(&output).contains("cannot run ./app"), "{}", error_of(&output));
    assert_eq!(place.sweep().1["2;1"]["exit_status"], 127);
}

#[test]
fn a_dry_run_says_everything_and_runs_nothing() {
    let place = Scratch::new(PROBE);
    let options = ["-c", "1,2", "-i", "a 'b c'", "--warmup", "1", "--bind", "close", "--dry-run"];
    let (out, err) = place.measured(&options, &["./app", "__nt__"]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 4, "{out}");
    assert!(lines[2].contains("OMP_NUM_THREADS=2 ") && lines[2].contains("taskset -c "), "{out}");
    assert!(lines[2].contains("./app 2 a 'b c'"), "{out}");
    assert!(err.contains("nothing was executed"), "{err}");
    assert_eq!(place.names(), ["app"]);
}

#[test]
fn warmups_are_run_and_not_kept() {
    let place = Scratch::new(PROBE);
    place.measured(&["-c", "1,2", "--warmup", "2", "--reps", "2"], &["./app"]);
    let cores: String = place.log().iter().map(|line| line[..1].to_owned()).collect();
    assert_eq!(cores, "11122212");
    assert_eq!(place.sweep().1.len(), 4);
}

#[test]
fn output_goes_where_it_is_wanted() {
    let place = Scratch::new("echo out-$OMP_NUM_THREADS; echo err-$OMP_NUM_THREADS >&2");
    let kept = place.path("kept");
    let options = ["-c", "2", "-i", "x", "--reps", "2", "--warmup", "1", "--keep-output"];
    place.measured(&[&options[..], &[kept.to_str().unwrap()]].concat(), &["./app"]);
    let read = |name: &str| fs::read_to_string(kept.join(name)).unwrap();
    assert_eq!(read("cores2-input0-run1.out"), "out-2\n");
    assert_eq!(read("cores2-input0-run2.err"), "err-2\n");
    assert_eq!(read("cores2-input0-warmup1.out"), "out-2\n");
    assert_eq!(fs::read_dir(&kept).unwrap().count(), 6);
    for (option, is_shown) in [("--show-output", true), ("--discard-output", false)] {
        fs::remove_file(place.path("sweep.json")).unwrap();
        let (out, err) = place.measured(&["-c", "1", option], &["./app"]);
        let is_there = |text: &str| err.lines().any(|line| line == text);
        assert_eq!((is_there("out-1"), is_there("err-1")), (is_shown, is_shown), "{err}");
        // The maps alone are on standard output.
        assert!(!out.contains("out-1"), "{out}");
    }
}

#[test]
fn a_sweep_goes_on_only_with_its_own_file() {
    let place = Scratch::new(PROBE);
    place.measured(&["-c", "1,2", "-i", "a"], &["./app"]);
    let before = fs::read(place.file()).unwrap();
    let refused = |options: &[&str], program: &[&str], code, part: &str| {
        let output = place.measure(options, program);
        let error = error_of(&output);
        assert_eq!(output.status.code(), Some(code), "{error}");
        assert!(error.contains(part), "{part}: {error}");
        assert_eq!(fs::read(place.file()).unwrap(), before);
        assert_eq!(place.log().len(), 2);
    };
    refused(&["-c", "1,2", "-i", "a"], &["./app"], 2, "--resume");
    let resume = ["-c", "1,2", "--resume"];
    refused(&[&resume[..], &["-i", "b"]].concat(), &["./app"], 1, "inputs");
    refused(&resume, &["./app"], 1, "inputs");
    refused(&[&resume[..], &["-i", "a"]].concat(), &["./app", "x"], 1, "its arguments differ");
    refused(
        &[&resume[..], &["-i", "a", "--env", "A=1"]].concat(),
        &["./app"],
        1,
        "variables differ",
    );
    refused(
        &[&resume[..], &["-i", "a", "--bind", "close"]].concat(),
        &["./app"],
        1,
        "binding differ",
    );
    // More of the same may follow: cores, inputs, repetitions.
    let more = ["-c", "1,2,3", "-i", "a", "-i", "b", "--reps", "2", "--resume"];
    place.measured(&more, &["./app"]);
    assert_eq!(place.log().len(), 12);
    assert_eq!(place.sweep().1.len(), 12);
    assert_eq!(place.sweep().0["resumed"].as_array().unwrap().len(), 1);
    // A file of somebody else.
    fs::write(place.file(), r#"{"config": {"pkg": "./app"}, "data": {}}"#).unwrap();
    let output = place.measure(&more, &["./app"]);
    assert!(error_of(&output).contains("not written by parallax measure"), "{}", error_of(&output));
}

#[test]
fn a_sweep_that_is_killed_at_any_moment_loses_nothing_and_ends_its_program() {
    const KILLS: u64 = 50;
    // Each notes its beginning and its end, and whether another one still ran.
    let place = Scratch::new(
        "read other 2>/dev/null < current\n\
         case $(cat /proc/${other:-none}/stat 2>/dev/null) in ''|*') Z '*) ;; *) echo overlap $other;; esac >> log\n\
         echo $$ > current; echo begin $OMP_NUM_THREADS $1 >> log; sleep 0.01\n\
         echo end $OMP_NUM_THREADS $1 >> log; echo > current",
    );
    let options = ["-c", "1,2,4", "-i", "a", "-i", "b", "--reps", "12", "--resume", "-q"];
    let runs = 72;
    let mut killed_inside = 0;
    let mut last: Map<String, Value> = Map::new();
    let mut kills = 0;
    while kills < KILLS {
        let mut command = place.command(&options, &["./app"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // From before the first run to some runs later.
        std::thread::sleep(Duration::from_millis(kills * 37 % 211));
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        if !place.path("sweep.json").exists() {
            continue;
        }
        let (_, data) = place.sweep();
        for (key, run) in &last {
            assert_eq!(data.get(key), Some(run), "{key} is lost");
        }
        killed_inside += u64::from(!data.is_empty() && data.len() < runs);
        last = data;
        if last.len() == runs {
            // Once more from the beginning.
            check_complete(&place, runs);
            for name in ["sweep.json", "log"] {
                fs::remove_file(place.path(name)).unwrap();
            }
            last.clear();
        }
    }
    assert!(killed_inside > KILLS / 4, "{killed_inside}");
    let before = last.len();
    place.measured(&options, &["./app"]);
    let (_, data) = place.sweep();
    assert!(last.iter().all(|(key, run)| data.get(key) == Some(run)), "of {before}");
    check_complete(&place, runs);
    assert_eq!(place.names(), ["app", "current", "log", "sweep.json"]);
}

/// All runs are there, each program that was recorded ran to its end, and none beside another.
fn check_complete(place: &Scratch, runs: usize) {
    let (_, data) = place.sweep();
    assert_eq!(data.len(), runs);
    assert!(data.values().all(|run| run["exit_status"] == 0));
    let log = place.log();
    let of = |start: &str| log.iter().filter(|line| line.starts_with(start)).count();
    assert_eq!(of("overlap"), 0, "{log:?}");
    for configuration in ["1 a", "1 b", "2 a", "2 b", "4 a", "4 b"] {
        // One more where the tool was killed between the end of the program and the file.
        assert!(of(&format!("end {configuration}")) >= runs / 6, "{configuration}: {log:?}");
        assert!(of(&format!("begin {configuration}")) >= of(&format!("end {configuration}")));
    }
}

#[test]
fn two_sweeps_do_not_write_one_file() {
    let place = Scratch::new("echo $$ >> log; while [ ! -e go ]; do sleep 0.02; done");
    let mut first =
        place.command(&["-c", "1", "-q"], &["./app"]).stdout(Stdio::null()).spawn().unwrap();
    wait_until("the first one runs", || place.log().len() == 1);
    let second = place.measure(&["-c", "1", "--resume"], &["./app"]);
    assert!(error_of(&second).contains("another sweep is writing"), "{}", error_of(&second));
    fs::write(place.path("go"), "").unwrap();
    assert!(first.wait().unwrap().success());
    assert_eq!(place.log().len(), 1);
}

#[test]
fn a_disk_that_becomes_full_keeps_every_run() {
    // The third program fills the disk.
    let place = Scratch::new(
        "echo x >> \"$LOG\"; [ $(wc -l < \"$LOG\") -lt 3 ] || cat /dev/zero > disk/fill; :",
    );
    fs::create_dir(place.path("disk")).unwrap();
    fs::create_dir(place.path("tmp")).unwrap();
    const SCRIPT: &str = "mount -t tmpfs -o size=200k none disk || exit 99; \
        \"$@\"; code=$?; cp disk/sweep.json whole.json; exit $code";
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", SCRIPT, "sh", env!("CARGO_BIN_EXE_parallax"), "measure"]);
    command.args(["-c", "1:5", "-q", "-o", "disk/sweep.json", "--", "./app"]);
    command.current_dir(place.folder.path()).env("LOG", place.path("log"));
    let Ok(output) = command.env("TMPDIR", place.path("tmp")).output() else {
        return skip("no file system can be mounted here");
    };
    let error = error_of(&output);
    if output.status.code() == Some(99) || error.contains("unshare") {
        return skip("no file system can be mounted here");
    }
    assert_eq!(output.status.code(), Some(1), "{error}");
    let keys = |path: &Path| {
        let file: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        file["data"].as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(keys(&place.path("whole.json")), ["1;1", "2;1"]);
    for part in ["cannot write disk/sweep.json", "No space left", "all runs are in", "--resume"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let kept = fs::read_dir(place.path("tmp")).unwrap().next().unwrap().unwrap().path();
    assert_eq!(keys(&kept), ["1;1", "2;1", "3;1"]);
    // As the message says.
    fs::copy(kept, place.path("sweep.json")).unwrap();
    place.script("app", PROBE);
    place.measured(&["-c", "1:5", "--resume"], &["./app"]);
    assert_eq!(place.sweep().1.len(), 5);
    assert_eq!(place.log().len(), 5);
}

#[test]
fn the_openmp_example_can_be_measured() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/openmp/serial_part.c");
    let place = Scratch::new("");
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-fopenmp", "-o"]).arg(place.path("app")).arg(source);
    if !compiler.stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        return skip("there is no C compiler with OpenMP");
    }
    let kept = place.path("kept");
    let options =
        ["-c", "1,2", "-i", "4 25", "-i", "8 25", "--keep-output", kept.to_str().unwrap()];
    let (out, _) = place.measured(&options, &["./app"]);
    assert!(out.contains("Scaling of"), "{out}");
    // Planted: a quarter of 4 and of 8 million steps is serial, and the rest is shared.
    let said = |name: &str| fs::read_to_string(kept.join(name)).unwrap();
    assert_eq!(
        said("cores1-input0-run1.out"),
        "1 threads, 1000000 serial and 3000000 parallel steps\n"
    );
    assert_eq!(
        said("cores2-input1-run1.out"),
        "2 threads, 2000000 serial and 6000000 parallel steps\n"
    );
    let found = answer(&["scaling", &place.file(), "--table", "laws"]);
    assert!(!found["rows"].as_array().unwrap().is_empty(), "{found}");
}

#[test]
fn a_sweep_in_a_file_is_the_sweep_of_its_options() {
    let place = Scratch::new(PROBE);
    let plan = place.path("parallax.toml");
    fs::write(
        &plan,
        "program = ['./app', 'a b']\ncores = [1, 2]\ninput = ['x', 'y']\nreps = 2\n\
         order = 'ascending'\nnt_token = 'N'\nenv = { EXTRA = 'N cores' }\n",
    )
    .unwrap();
    let measure = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
        command.current_dir(place.folder.path()).env("LOG", place.path("log"));
        command.args(["measure", "--plan", "parallax.toml", "-o", &place.file()]).args(words);
        command.output().unwrap()
    };
    let output = measure(&[]);
    assert!(output.status.success(), "{}", error_of(&output));
    let told = place.log();
    assert_eq!(told.len(), 8);
    assert!(told[0].starts_with("1/1/1 cores/") && told[0].ends_with("/a b x"), "{told:?}");
    assert!(told[7].starts_with("2/2/2 cores/") && told[7].ends_with("/a b y"), "{told:?}");
    let (config, _) = place.sweep();
    assert_eq!(config["sweep"]["repetitions"], 2);
    // What is typed counts.
    fs::remove_file(place.path("log")).unwrap();
    let output = measure(&["-c", "3", "--reps=1", "--resume", "--", "./app", "other"]);
    assert!(!output.status.success(), "another program is another sweep");
    fs::remove_file(place.file()).unwrap();
    let output = measure(&["-c3", "--reps=1", "--", "./app", "other"]);
    assert!(output.status.success(), "{}", error_of(&output));
    let told = place.log();
    assert_eq!(told.len(), 2);
    assert!(told[0].starts_with("3/3/3 cores/") && told[0].ends_with("/other x"), "{told:?}");
    // What is wrong is said with its place.
    for (text, said) in [
        ("reps = \n", "parallax.toml is not valid TOML: "),
        ("repetitions = 2\n", "parallax.toml: repetitions is not an option of measure"),
        ("cores = [[1]]\n", "parallax.toml: cores is array, expected a string or a number"),
        ("reps = 'many'\n", "invalid value 'many' for '--reps <N>'"),
    ] {
        fs::write(&plan, text).unwrap();
        let output = measure(&["--", "./app"]);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(error_of(&output).contains(said), "{text}: {}", error_of(&output));
    }
    fs::remove_file(&plan).unwrap();
    assert!(error_of(&measure(&[])).contains("cannot read parallax.toml"));
}

/// Compiles a program of `examples/`; false where there is no such compiler.
fn is_compiled(place: &Scratch, compiler: &str, options: &[&str], source: &str) -> bool {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(compiler);
    command.args(["-O2"]).args(options).arg("-I").arg(root.join("crates/measure/include"));
    command.arg(root.join("examples").join(source)).arg("-o").arg(place.path("app"));
    command.stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

#[test]
fn the_imbalance_of_an_example_is_found_in_its_region() {
    let place = Scratch::new("");
    if !is_compiled(&place, "cc", &["-fopenmp"], "openmp/imbalance.c") {
        return skip("there is no C compiler with OpenMP");
    }
    // 19 of 20 parts of the work are that of one thread: more than what a busy machine makes even.
    place.measured(&["-c", "1,2", "-i", "60 90"], &["./app"]);
    let rows = rows(&["scaling", &place.file(), "--table", "maps"]);
    let region = rows.iter().find(|row| row["region"] == "1" && row["cores"] == 2).unwrap();
    let imbalance = region["imbalance"].as_f64().unwrap();
    assert!((0.2..=0.5).contains(&imbalance), "{region:?}");
}

#[test]
fn the_lock_of_an_example_is_no_more_than_the_program_loses() {
    let place = Scratch::new("");
    if !is_compiled(&place, "cc", &["-fopenmp"], "openmp/lock.c") {
        return skip("there is no C compiler with OpenMP");
    }
    let machine = std::thread::available_parallelism().map_or(1, usize::from);
    place.measured(&["-c", "1,2", "-i", "40 70", "--reps", "3"], &["./app"]);
    let out = printed(&["scaling", &place.file()]);
    // Both threads are in one of the two regions at any time: shares are those of a whole.
    if machine > 1 {
        assert!(!out.contains("Shares add up to more than 100 %"), "{out}");
    } else {
        assert!(out.contains("The machine has 1 processor"), "{out}");
    }
}

#[test]
fn the_ranks_of_the_mpi_example_are_measured() {
    let place = Scratch::new("");
    if !is_compiled(&place, "mpicc", &[], "mpi/late_rank.c") {
        return skip("there is no mpicc");
    }
    let options =
        ["-c", "1,2", "-i", "20 100", "--mpi", "mpirun --oversubscribe -n {p}", "--keep-output"];
    let kept = place.path("kept");
    let mut command =
        place.command(&[&options[..], &[kept.to_str().unwrap()]].concat(), &["./app"]);
    // Open MPI refuses the super-user, who runs tests in containers.
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", error_of(&output));
    let said = fs::read_to_string(kept.join("cores2-input0-run1.out")).unwrap();
    assert_eq!(said, "2 ranks, the last with 1000000 of 1000000 steps\n");
    let rows = rows(&["scaling", &place.file(), "--table", "maps"]);
    let region = rows.iter().find(|row| row["region"] == "1" && row["cores"] == 2).unwrap();
    assert!((region["imbalance"].as_f64().unwrap() - 0.5).abs() < 0.05, "{region:?}");
}

#[test]
fn repetitions_follow_the_interval_and_hopeless_configurations_are_left() {
    let place = Scratch::new(&format!("{PROBE}\n[ $OMP_NUM_THREADS != 2 ]"));
    let options = ["-c", "1,2,4", "--rel-ci", "100000", "--min-reps", "2", "--max-reps", "5"];
    let output = place.measure(&[&options[..], &["--give-up", "3"]].concat(), &["./app"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        error_of(&output).contains("skipped: 2 cores: it failed 3 times"),
        "{}",
        error_of(&output)
    );
    // Two values are enough for so wide an interval; what only fails is given up.
    let cores: String = place.log().iter().map(|line| line[..1].to_owned()).collect();
    assert_eq!(cores, "1241242");
}

#[test]
fn an_order_by_lot_can_be_had_again() {
    let place = Scratch::new(PROBE);
    let options = ["-c", "1:6", "--reps", "2", "--order", "random"];
    let (_, err) = place.measured(&options, &["./app"]);
    let order = err.lines().find_map(|line| line.strip_prefix("the order is ")).unwrap().to_owned();
    fs::remove_file(place.path("sweep.json")).unwrap();
    place.measured(&["-c", "1:6", "--reps", "2", "--order", &order], &["./app"]);
    let log = place.log();
    assert_eq!(log.len(), 24);
    assert_eq!(log[..12], log[12..]);
}

#[test]
fn energy_is_measured_or_refused_before_anything_runs() {
    let place = Scratch::new(PROBE);
    let output = place.measure(&["--cores", "1", "--energy"], &["./app"]);
    if output.status.success() {
        let (config, data) = place.sweep();
        assert!(data["1;1"]["rapl-sysfs"].as_f64().unwrap() >= 0.0);
        let values = config["data_descriptor"]["values"].as_array().unwrap().clone();
        assert!(values.contains(&Value::from("rapl-sysfs")));
        return;
    }
    // A virtual machine has no counters, and most machines let only root read them.
    let error = error_of(&output);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("--energy") || error.contains("energy needs root"), "{error}");
    assert_eq!(place.names(), ["app"]);
    assert!(place.log().is_empty());
}

#[test]
fn events_of_the_kernel_are_counted_in_each_run() {
    let place = Scratch::new(
        "[ \"$1\" = big ] && for i in 1 2 3 4 5 6 7 8; do sh -c 'exit 0'; done; exit 0",
    );
    let options =
        ["--cores", "1", "-i", "small", "-i", "big", "--counters", "task-clock,page-faults"];
    place.measured(&options, &["./app"]);
    let file: Value = serde_json::from_str(&fs::read_to_string(place.file()).unwrap()).unwrap();
    let values = file["config"]["data_descriptor"]["values"].to_string();
    assert!(values.contains("task-clock") && values.contains("page-faults"), "{values}");
    let count =
        |input: u32, name: &str| file["data"][format!("1;{input};1")][name].as_u64().unwrap();
    // Eight more programs have many more pages, and take more time.
    assert!(count(1, "page-faults") > 3 * count(0, "page-faults"), "{file:#}");
    assert!(count(1, "task-clock") > count(0, "task-clock"), "{file:#}");
    // The page faults that the system adds up for the program are the same ones, less those of
    // starting it.
    let of_usage = count(1, "minor_faults") + count(1, "major_faults");
    assert!(count(1, "page-faults") <= of_usage, "{file:#}");
    assert!(2 * count(1, "page-faults") > of_usage, "{file:#}");
    // A count is a metric like any other one.
    let maps = rows(&["scaling", &place.file(), "--metric", "page-faults"]);
    assert_eq!(maps.len(), 2);
    assert!(maps.iter().any(|row| row["time"].as_f64() == Some(count(1, "page-faults") as f64)));
    // Going on needs the same counters.
    let other =
        place.measure(&["--cores", "1", "-i", "small", "-i", "big", "--resume"], &["./app"]);
    assert!(String::from_utf8_lossy(&other.stderr).contains("counters"), "{other:?}");
}

#[test]
fn events_and_frequencies_that_there_are_not_are_refused_before_anything_runs() {
    let place = Scratch::new("echo ran >> \"$LOG\"");
    let refused = |options: &[&str]| {
        let output = place.measure(&[&["--cores", "1"], options].concat(), &["./app"]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let said = refused(&["--counters", "page-faults,heat"]);
    assert!(said.contains("\"heat\"") && said.contains("instructions"), "{said}");
    let said = refused(&["--frequencies", "2.3"]);
    assert!(said.contains("kHz"), "{said}");
    // No machine has this one; one without cpufreq says that.
    for option in ["--frequencies", "--frqs"] {
        let said = refused(&[option, "100001"]);
        assert!(said.contains("cpufreq"), "{said}");
    }
    let said = refused(&["--governor", "no-such-governor"]);
    assert!(said.contains("cpufreq"), "{said}");
    assert!(place.log().is_empty());
}
