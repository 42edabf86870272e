//! Sweeps whose runs are jobs of Slurm: a controller and one node of their own, on this machine.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

#[path = "common/iterations.rs"]
mod iterations;
#[path = "common/tools.rs"]
mod tools;

use std::fs::{self, File};
use std::io::Read as _;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use parallax_testkit::needs::{self, Without};
use serde_json::Value;
use tools::hpctoolkit;

/// A cluster of one machine with two processors, which ends with this.
struct Cluster {
    folder: tempfile::TempDir,
    /// The last one is ended first.
    daemons: Vec<Child>,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.run("scancel", &["--user", &user()]);
        while let Some(mut daemon) = self.daemons.pop() {
            let _ = Command::new("kill").arg(daemon.id().to_string()).status();
            let begun = Instant::now();
            while daemon.try_wait().is_ok_and(|status| status.is_none()) {
                if begun.elapsed() > Duration::from_secs(10) {
                    let _ = daemon.kill();
                    let _ = daemon.wait();
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

fn user() -> String {
    let output = Command::new("id").arg("-un").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(120), "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

impl Cluster {
    /// `None` where Slurm is not installed, or does not run in this environment.
    fn new() -> Option<Self> {
        for program in ["munged", "slurmctld", "slurmd"] {
            if !needs::program(program, Without::Test) {
                return None;
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let mut cluster = Self { folder, daemons: Vec::new() };
        // What is killed leaves its temporary files.
        fs::create_dir(cluster.path("temporary")).unwrap();
        cluster.start();
        let begun = Instant::now();
        loop {
            let said = cluster.run("sinfo", &["--noheader", "--format=%T"]);
            if String::from_utf8_lossy(&said.stdout).trim() == "idle" {
                return Some(cluster);
            }
            let has_ended = cluster.daemons.iter_mut().any(|one| one.try_wait().unwrap().is_some());
            if has_ended || begun.elapsed() > Duration::from_secs(60) {
                needs::skip(Without::Test, &format!("Slurm does not start: {}", cluster.log()));
                return None;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn start(&mut self) {
        let mut key = [0; 1024];
        File::open("/dev/urandom").unwrap().read_exact(&mut key).unwrap();
        fs::write(self.path("key"), key).unwrap();
        fs::set_permissions(self.path("key"), fs::Permissions::from_mode(0o600)).unwrap();
        let option = |name: &str, file: &str| format!("--{name}={}", self.path(file).display());
        let munge = [
            "--foreground".to_owned(),
            option("key-file", "key"),
            option("socket", "munge.socket"),
            option("pid-file", "munge.pid"),
            option("log-file", "munge.log"),
            option("seed-file", "munge.seed"),
        ];
        let munge: Vec<&str> = munge.iter().map(String::as_str).collect();
        self.daemon("munged", &munge);
        // Where it does not start, nothing else does, and the test is skipped.
        let socket = self.path("munge.socket");
        let munged = self.daemons.last_mut().unwrap();
        wait_until("munged has no socket", || {
            socket.exists() || munged.try_wait().unwrap().is_some()
        });
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_owned();
        fs::write(self.path("slurm.conf"), configuration(self.folder.path(), &host)).unwrap();
        self.daemon("slurmctld", &["-D", "-c"]);
        self.daemon("slurmd", &["-D", "-N", &host]);
    }

    fn daemon(&mut self, name: &str, words: &[&str]) {
        let log = File::create(self.path(&format!("{name}.out"))).unwrap();
        let mut command = Command::new(name);
        command.args(words).env("SLURM_CONF", self.path("slurm.conf")).stdin(Stdio::null());
        command.stdout(log.try_clone().unwrap()).stderr(log);
        self.daemons.push(command.spawn().unwrap());
    }

    fn log(&self) -> String {
        let read = |name: &str| fs::read_to_string(self.path(name)).unwrap_or_default();
        let all = read("munged.out") + &read("slurmctld.out") + &read("slurmd.out");
        let last: Vec<&str> = all.lines().rev().take(8).collect();
        last.join(" | ")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, program: &str, words: &[&str]) -> Output {
        let mut command = Command::new(program);
        command.args(words).env("SLURM_CONF", self.path("slurm.conf")).output().unwrap()
    }

    /// `measure --slurm` of `app` with these options.
    fn measure(&self, options: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
        command.current_dir(self.folder.path()).env("SLURM_CONF", self.path("slurm.conf"));
        command.env("TMPDIR", self.path("temporary"));
        command.args(["measure", "--slurm", "--cores", "1,2", "-o", "sweep.json"]);
        command.args(options).args(["--", "./app"]);
        command
    }

    fn script(&self, text: &str) {
        self.command("app", text);
    }

    fn command(&self, name: &str, text: &str) {
        fs::write(self.path(name), format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn file(&self) -> Value {
        serde_json::from_slice(&fs::read(self.path("sweep.json")).unwrap_or_default())
            .unwrap_or_default()
    }

    fn keys(&self) -> Vec<String> {
        let file = self.file();
        let runs = file["data"].as_object().into_iter().flatten();
        let mut keys: Vec<String> = runs.map(|(key, _)| key.clone()).collect();
        keys.sort();
        keys
    }
}

/// A node with two processors and few demands on the machine.
fn configuration(folder: &Path, host: &str) -> String {
    // Ports that nobody has now.
    let [controller, node] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
    let (folder, user) = (folder.display(), user());
    let _ = fs::create_dir(format!("{folder}/state"));
    let _ = fs::create_dir(format!("{folder}/spool"));
    format!(
        "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser={user}\nSlurmdUser={user}\n\
         AuthType=auth/munge\nAuthInfo=socket={folder}/munge.socket\nCredType=cred/munge\n\
         StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool\n\
         SlurmctldPidFile={folder}/controller.pid\nSlurmdPidFile={folder}/node.pid\n\
         SlurmctldPort={}\nSlurmdPort={}\nMpiDefault=none\nProctrackType=proctrack/linuxproc\n\
         TaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\n\
         AccountingStorageType=accounting_storage/none\nSwitchType=switch/none\n\
         ReturnToService=2\nSchedulerType=sched/backfill\nSelectType=select/cons_tres\n\
         SelectTypeParameters=CR_Core\nSchedulerParameters=batch_sched_delay=0,sched_interval=1,\
         sched_min_interval=0,bf_interval=1\nMinJobAge=300\nKillWait=2\n\
         NodeName={host} NodeAddr=127.0.0.1 CPUs=2 Boards=1 SocketsPerBoard=1 CoresPerSocket=2 \
         ThreadsPerCore=1 RealMemory=100 State=UNKNOWN\n\
         PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
        port(&controller),
        port(&node),
    )
}

#[test]
fn runs_are_elements_of_job_arrays_and_go_on_after_scancel() {
    let Some(cluster) = Cluster::new() else { return };
    // Each run says with what it was started; with `hold` there, those of two cores wait.
    cluster.script(
        "echo \"$SLURM_ARRAY_JOB_ID $SLURM_CPUS_PER_TASK $OMP_NUM_THREADS $1\" >> log\n\
         while [ $OMP_NUM_THREADS = 2 ] && [ -e hold ]; do sleep 0.1; done\n\
         [ \"$1\" != bad ]",
    );
    fs::write(cluster.path("hold"), "").unwrap();
    let options = ["-i", "good", "-i", "bad", "--reps", "2", "--sbatch", "--time=5"];
    let child = cluster.measure(&options).stderr(Stdio::piped()).spawn().unwrap();
    // Runs on one core end, and are in the file while others go on.
    wait_until("the first array does not end", || cluster.keys().len() == 4);
    assert_eq!(cluster.keys(), ["1;0;1", "1;0;2", "1;1;1", "1;1;2"]);
    wait_until("the second array does not begin", || {
        fs::read_to_string(cluster.path("log")).unwrap().lines().count() == 5
    });
    let queue = cluster.run("squeue", &["--noheader", "--array", "--format=%j"]);
    let queue = String::from_utf8(queue.stdout).unwrap();
    assert_eq!(queue.lines().collect::<Vec<_>>(), ["app-2"; 4]);
    cluster.run("scancel", &["--user", &user()]);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("4 runs have no outcome") && said.contains("--resume"), "{said}");
    assert_eq!(cluster.keys().len(), 4);

    // The tool is ended while jobs run; what they measured is taken over later.
    let resumed = [&options[..], &["--resume"]].concat();
    let mut child = cluster.measure(&resumed).stderr(Stdio::null()).spawn().unwrap();
    wait_until("nothing is submitted again", || {
        fs::read_to_string(cluster.path("log")).unwrap().lines().count() == 6
    });
    child.kill().unwrap();
    child.wait().unwrap();
    fs::remove_file(cluster.path("hold")).unwrap();
    let output = cluster.measure(&resumed).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    // Half of the runs fail, and are marked.
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("4 of 8 runs failed"), "{said}");
    let file = cluster.file();
    let runs = file["data"].as_object().unwrap();
    assert_eq!(runs.len(), 8);
    for (key, run) in runs {
        let is_bad = key.split(';').nth(1) == Some("1");
        assert_eq!(run["exit_status"], i32::from(is_bad), "{key}");
    }
    assert_eq!(file["config"]["nodes"].as_array().unwrap().len(), 1);
    // No run was made twice but the one that was cancelled while it ran, and each had its cores.
    let log = fs::read_to_string(cluster.path("log")).unwrap();
    assert_eq!(log.lines().count(), 9, "{log}");
    let mut arrays: Vec<&str> = log.lines().map(|line| line.split(' ').next().unwrap()).collect();
    arrays.sort_unstable();
    arrays.dedup();
    assert_eq!(arrays.len(), 3, "{log}");
    for line in log.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(words[1], words[2], "{log}");
    }
    assert!(!cluster.path("sweep.json.slurm").exists());
}

#[test]
fn what_slurm_refuses_is_said_as_it_says_it() {
    let Some(cluster) = Cluster::new() else { return };
    cluster.script("exit 0");
    let output = cluster.measure(&["--sbatch", "--partition=fast"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("sbatch") && said.contains("partition"), "{said}");
    // What depends on earlier runs or on this machine has no place in jobs.
    let output = cluster.measure(&["--bind", "close"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn runs_on_nodes_are_ended_after_their_first_iterations() {
    if !needs::program("cc", Without::Test) {
        return;
    }
    let Some(cluster) = Cluster::new() else { return };
    iterations::compile(cluster.folder.path());
    // Nobody can count the iterations of the first run before the others are submitted.
    let output = cluster.measure(&["-i", "3000 20 0", "--estimate-from", "5"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("--iterations"), "{said}");
    assert!(!cluster.path("sweep.json.slurm").exists());
    // The second input never makes so many.
    let options = ["-i", "3000 20 0", "-i", "4 20 0", "--estimate-from", "5"];
    let options = [&options[..], &["--iterations", "3000,9"]].concat();
    let output = cluster.measure(&options).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("2 of 4 times are estimates"), "{said}");
    let file = cluster.file();
    let number = |value: &Value| value.as_f64().unwrap();
    for key in ["1;0;1", "2;0;1"] {
        let run = &file["data"][key];
        let own = &run["estimated"];
        assert_eq!((&own["from"], &own["of"]), (&5.into(), &3000.into()), "{run}");
        assert_eq!(run["exit_status"], 0);
        let seconds = number(&run["stop_time"]) - number(&run["start_time"]);
        assert!(number(&own["median"]) >= 0.02 && seconds >= 3000.0 * 0.02, "{run}");
        // A minute, if it had not been ended.
        assert!(number(&own["measured_seconds"]) < 30.0, "{run}");
    }
    for key in ["1;1;1", "2;1;1"] {
        let run = &file["data"][key];
        assert!(run.get("estimated").is_none() && run["exit_status"] == 0, "{run}");
    }
    assert!(!cluster.path("sweep.json.slurm").exists());
}

#[test]
fn databases_of_tools_are_made_on_the_nodes() {
    let Some(data) = needs::corpus_path("data/hpctoolkit/measured/small-minife-2x2") else {
        return;
    };
    let Some(cluster) = Cluster::new() else { return };
    cluster.script("echo \"$SLURM_JOB_ID $*\" >> log");
    fs::create_dir(cluster.path("bin")).unwrap();
    for (name, text) in hpctoolkit() {
        cluster
            .command(&format!("bin/{name}"), &format!("echo \"$SLURM_JOB_ID\" >> tools\n{text}"));
    }
    let path = format!("{}:{}", cluster.path("bin").display(), std::env::var("PATH").unwrap());
    let measure = |data: &Path, options: &[&str]| {
        let sweep = ["-i", "small", "-i", "a, 'b c'", "--tool", "hpctoolkit"];
        let mut command = cluster.measure(&[&sweep, options].concat());
        let output = command.env("PATH", &path).env("DATA", data).output().unwrap();
        let [out, err] = [output.stdout, output.stderr];
        (output.status.code(), [String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap()])
    };
    // No database comes out: a node says why, and the run is made again when that is asked for.
    cluster.command("bin/hpcprof", "echo no measurements here >&2; exit 7");
    let (status, [_, said]) = measure(&data, &[]);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("4 of 4 runs failed"), "{said}");
    for part in ["hpcprof -o", "exit status 7", "no measurements here", "hpcrun said this"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(cluster.file()["data"]["1;0;1"]["exit_status"], 7);
    let (_, last) = hpctoolkit().into_iter().last().unwrap();
    cluster.command("bin/hpcprof", &last);
    let (status, [_, said]) = measure(&data, &["--resume", "--retry-failed"]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("--params sweep-hpctoolkit/runs.csv"), "{said}");
    let table = fs::read_to_string(cluster.path("sweep-hpctoolkit/runs.csv")).unwrap();
    let mut lines: Vec<&str> = table.lines().collect();
    lines.sort_unstable();
    let expected = [
        "cores1-input0-run1/database,1,small",
        "cores1-input1-run1/database,1,\"a, 'b c'\"",
        "cores2-input0-run1/database,2,small",
        "cores2-input1-run1/database,2,\"a, 'b c'\"",
        "path,cores,input",
    ];
    assert_eq!(lines, expected);
    for line in &expected[..4] {
        let database = line.split(',').next().unwrap();
        assert!(cluster.path("sweep-hpctoolkit").join(database).join("meta.db").exists(), "{line}");
    }
    // The program and its tools were in jobs, and in the same one.
    let numbers = |name: &str| -> Vec<String> {
        let log = fs::read_to_string(cluster.path(name)).unwrap();
        let mut numbers: Vec<String> =
            log.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
        numbers.sort();
        numbers.dedup();
        numbers
    };
    assert_eq!(numbers("log").len(), 8, "{:?}", numbers("log"));
    assert_eq!(numbers("log"), numbers("tools"));
    let command =
        fs::read_to_string(cluster.path("sweep-hpctoolkit/cores1-input0-run1/command.txt"));
    assert!(command.unwrap().starts_with("hpcrun -t -e REALTIME -o /"));
    // Nothing is left to be run.
    let (status, [_, said]) = measure(&data, &["--resume"]);
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(numbers("log").len(), 8);
    assert!(!cluster.path("sweep.json.slurm").exists());
}
