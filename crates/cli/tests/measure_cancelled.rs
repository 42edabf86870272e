//! Jobs that are cancelled while they run. `scancel` sends SIGTERM to all processes of a job, which
//! get it in any order. Scripts stand for the commands of Slurm, and the program plants the order;
//! `measure_slurm.rs` has the real commands.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

/// Submits a job array: starts its elements, each of which has a number of its own.
const SBATCH: &str = r#"
for script; do :; done
last=$(sed -n 's/^#SBATCH --array=0-//p' "$script")
number=$(( $(cat jobs 2>/dev/null || echo 0) + 100 ))
echo $number > jobs
for element in $(seq 0 "$last"); do
    SLURM_ARRAY_TASK_ID=$element SLURM_ARRAY_JOB_ID=$number \
        setsid sh "$script" > "element$number-$element" 2>&1 &
done
echo $number"#;

/// No job waits or runs as far as the sweep is told; what a job is told of itself is in a file.
const SQUEUE: &str = r#"
case "$*" in
    *%T*) for job; do :; done; [ -e no-answer ] && exit 1; cat "state$job" 2>/dev/null || echo RUNNING;;
esac"#;

/// The order that its argument names. The process that watches it is its parent, and the parent of that
/// is the element of the job array.
const PROGRAM: &str = r#"
element=$(sed 's/.*) //' /proc/$PPID/stat | cut -d ' ' -f 2)
echo "$1" >> log
job=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
scancelled() { echo COMPLETING > "state$job"; }
# Ends the element a moment later, in a group of its own: that of the program is ended with it.
later() {
    setsid sh -c "touch later$job; sleep 0.05; kill -TERM $element" &
    while [ ! -e "later$job" ]; do sleep 0.01; done
}
case $1 in
    good) exit 0;;
    bad) exit 3;;
    by-itself) kill -TERM $$;;
    watcher) scancelled; kill -TERM $PPID; sleep 3;;
    watcher-killed) scancelled; kill -KILL $PPID; sleep 3;;
    element) scancelled; kill -TERM "$element"; sleep 3;;
    watcher-and-element) scancelled; kill -TERM $PPID "$element"; sleep 3;;
    program) scancelled; kill -TERM $$;;
    launcher) scancelled; exit 1;;
    unwatched) echo $$ > group; kill -KILL $PPID; sleep 60;;
    stubborn) trap '' TERM; echo $$ > group; kill -KILL $PPID; sleep 60;;
    unanswered) touch no-answer; later; kill -TERM $$;;
    handler) scancelled; later; exit 0;;
esac"#;

struct Cluster {
    folder: tempfile::TempDir,
}

impl Cluster {
    fn new() -> Self {
        let cluster = Self { folder: tempfile::tempdir().unwrap() };
        // What is killed leaves its temporary files.
        for name in ["bin", "temporary"] {
            fs::create_dir(cluster.path(name)).unwrap();
        }
        for (name, text) in [("bin/sbatch", SBATCH), ("bin/squeue", SQUEUE), ("app", PROGRAM)] {
            fs::write(cluster.path(name), format!("#!/bin/sh\n{text}\n")).unwrap();
            fs::set_permissions(cluster.path(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        cluster
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn measure(&self, options: &[&str]) -> Output {
        let path = std::env::var("PATH").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
        command.current_dir(self.folder.path()).env("TMPDIR", self.path("temporary"));
        command.env("PATH", format!("{}:{path}", self.path("bin").display()));
        command.args(["measure", "--cores", "1", "-o", "sweep.json"]).args(options);
        command.args(["--", "./app"]).output().unwrap()
    }

    /// Exit status by input.
    fn statuses(&self) -> Map<String, Value> {
        let file: Value =
            serde_json::from_slice(&fs::read(self.path("sweep.json")).unwrap()).unwrap();
        let inputs = file["config"]["arguments"].clone();
        let runs = file["data"].as_object().unwrap().iter();
        let status = |(key, run): (&String, &Value)| {
            let input: usize = key.split(';').nth(1).unwrap().parse().unwrap();
            (inputs[input].as_str().unwrap().to_owned(), run["exit_status"].clone())
        };
        runs.map(status).collect()
    }
}

/// Whether a process of a group runs; one that has ended and was not waited for does not.
fn runs(group: &str) -> bool {
    fs::read_dir("/proc").unwrap().filter_map(Result::ok).any(|entry| {
        // Absent where a process has ended meanwhile, or is none.
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let mut fields = stat.rsplit(") ").next().unwrap().split(' ');
        let state = fields.next();
        state.is_some_and(|state| state != "Z" && state != "X") && fields.nth(1) == Some(group)
    })
}

fn in_one_line(text: &[u8]) -> String {
    String::from_utf8_lossy(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_cancelled_run_has_no_outcome_whichever_process_is_told_first() {
    let orders = [
        "watcher",
        "watcher-killed",
        "element",
        "watcher-and-element",
        "program",
        "launcher",
        "handler",
    ];
    let cluster = Cluster::new();
    let inputs = ["good", "bad", "by-itself"].into_iter().chain(orders);
    let options: Vec<&str> =
        ["--slurm"].into_iter().chain(inputs.flat_map(|i| ["-i", i])).collect();
    let output = cluster.measure(&options);
    let said = in_one_line(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("7 runs have no outcome") && said.contains("--resume"), "{said}");
    // What ended by itself is kept as it ended.
    let expected = [("bad", 3), ("by-itself", 143), ("good", 0)];
    let expected: Map<String, Value> =
        expected.into_iter().map(|(name, status)| (name.to_owned(), status.into())).collect();
    assert_eq!(cluster.statuses(), expected, "{said}");
    let log = fs::read_to_string(cluster.path("log")).unwrap();
    assert_eq!(log.lines().count(), 10, "{log}");

    // They are made again, and nothing else is.
    fs::write(cluster.path("app"), "#!/bin/sh\necho \"$1\" >> again\n").unwrap();
    let output = cluster.measure(&[&options[..], &["--resume"]].concat());
    assert!(in_one_line(&output.stderr).contains("2 of 10 runs failed"), "{output:?}");
    let again = fs::read_to_string(cluster.path("again")).unwrap();
    let mut again: Vec<&str> = again.lines().collect();
    again.sort_unstable();
    let mut orders = orders;
    orders.sort_unstable();
    assert_eq!(again, orders);
}

#[test]
fn a_cancelled_run_has_no_outcome_where_slurm_does_not_answer() {
    let cluster = Cluster::new();
    let output = cluster.measure(&["--slurm", "-i", "unanswered", "-i", "good"]);
    let said = in_one_line(&output.stderr);
    assert!(said.contains("1 run has no outcome"), "{said}");
    let statuses = cluster.statuses();
    assert_eq!(statuses.keys().collect::<Vec<_>>(), ["good"], "{said}");
}

#[test]
fn a_sweep_on_this_machine_goes_on_where_the_process_that_watches_was_ended() {
    let cluster = Cluster::new();
    let options = ["-i", "good", "-i", "watcher"];
    let output = cluster.measure(&options);
    let said = in_one_line(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("(signal 15); --resume continues with this run"), "{said}");
    assert_eq!(cluster.statuses().keys().collect::<Vec<_>>(), ["good"]);
    fs::write(cluster.path("app"), "#!/bin/sh\nexit 0\n").unwrap();
    let output = cluster.measure(&[&options[..], &["--resume"]].concat());
    assert!(output.status.success(), "{}", in_one_line(&output.stderr));
    assert_eq!(cluster.statuses().len(), 2);
}

#[test]
fn a_program_ends_with_the_process_that_watches_it_and_is_run_again_by_a_resumed_sweep() {
    for input in ["unwatched", "stubborn"] {
        let cluster = Cluster::new();
        let options = ["-i", "good", "-i", input];
        let output = cluster.measure(&options);
        let said = in_one_line(&output.stderr);
        assert!(said.contains("(signal 9); --resume continues with this run"), "{said}");
        let group = fs::read_to_string(cluster.path("group")).unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        while runs(group.trim()) {
            assert!(Instant::now() < deadline, "{input} still runs");
            thread::sleep(Duration::from_millis(20));
        }
        fs::write(cluster.path("app"), "#!/bin/sh\nexit 0\n").unwrap();
        let output = cluster.measure(&[&options[..], &["--resume"]].concat());
        assert!(output.status.success(), "{}", in_one_line(&output.stderr));
        assert_eq!(cluster.statuses().len(), 2);
    }
}
