//! Statements and questions on a cluster of a scheduler and executors, each a process of its own: the
//! results of one machine, and clear errors where something is lost, stalls, or is another one.
#![cfg(all(feature = "cluster", unix))]
#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

use parallax_testkit::hpctoolkit::generate::{GenerateOptions, generate};
use parallax_testkit::needs::{self, Without};

/// What no wait in a test exceeds.
const LONG: Duration = Duration::from_secs(120);

/// A scheduler and its executors, which end with this.
struct Cluster {
    folder: tempfile::TempDir,
    address: String,
    scheduler: Child,
    executors: Vec<Child>,
    /// The namespaces of the scheduler, of each executor, and of the client, where there are any.
    namespaces: Vec<String>,
}

/// The tool, in a namespace of the network where one is given.
fn parallax(namespace: Option<&String>) -> Command {
    let tool = env!("CARGO_BIN_EXE_parallax");
    let Some(namespace) = namespace else { return Command::new(tool) };
    let mut command = Command::new("ip");
    command.args(["netns", "exec", namespace, tool]);
    command
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.executors.iter_mut().for_each(end);
        end(&mut self.scheduler);
    }
}

impl Cluster {
    /// A scheduler, and so many executors of one part at a time, over databases in `database`.
    fn new(executors: usize) -> Self {
        Self::on(None, executors)
    }

    /// The same on a network, whose members are the scheduler, the executors, and the client.
    fn on(network: Option<&Network>, executors: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (bind, namespaces) = match network {
            Some(network) => {
                let members = (0..executors + 2).map(|member| network.member(member));
                (format!("{}:0", Network::address(0)), members.collect())
            }
            None => ("127.0.0.1:0".to_owned(), Vec::new()),
        };
        let token = folder.path().join("token");
        let (scheduler, address) = scheduler(namespaces.first(), &token, &bind);
        let mut cluster = Self { folder, address, scheduler, executors: Vec::new(), namespaces };
        let options = GenerateOptions {
            ranks: 64,
            contexts: 2000,
            values_per_rank: 2000,
            trace_samples: 500,
            elided: false,
            ..GenerateOptions::default()
        };
        generate(&cluster.database(), &options, |_, _, _| ()).unwrap();
        for name in 0..executors {
            let root = cluster.folder.path().to_owned();
            cluster.executor(&format!("executor-{name}"), &root);
        }
        // They are there once this ends.
        let there = cluster.status(&["--wait", &executors.to_string()]);
        assert_eq!(there.lines().count(), executors, "{there}");
        cluster
    }

    fn token(&self) -> PathBuf {
        self.folder.path().join("token")
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("database")
    }

    fn executor(&mut self, name: &str, root: &Path) {
        let mut command = parallax(self.namespaces.get(self.executors.len() + 1));
        command.args(["sql-cluster", "executor", "--quiet", "--lanes", "1", "--name", name]);
        command.args(["--scheduler", &self.address]).arg("--root").arg(root);
        command.arg("--token-file").arg(self.token());
        self.executors.push(command.stdin(Stdio::null()).spawn().unwrap());
    }

    /// The executors, a line each.
    fn status(&self, options: &[&str]) -> String {
        let mut command = parallax(self.namespaces.first());
        command.args(["sql-cluster", "status", "--scheduler", &self.address]).args(options);
        let status = command.arg("--token-file").arg(self.token()).output().unwrap();
        String::from_utf8(status.stdout).unwrap()
    }

    /// Waits until there are so many executors.
    fn wait_for(&self, executors: usize) {
        let begun = Instant::now();
        loop {
            let text = self.status(&[]);
            if text.lines().count() == executors {
                return;
            }
            assert!(begun.elapsed() < LONG, "{executors} executors: {text}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn command(&self, statement: &str) -> Command {
        let mut command = parallax(self.namespaces.last());
        command.arg("sql").arg(self.database()).args([statement, "--format", "csv", "--quiet"]);
        command.args(["--cluster", &self.address, "--part-rows", "5000"]);
        command.arg("--token-file").arg(self.token());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, statement: &str) -> Output {
        self.command(statement).output().unwrap()
    }

    /// What it prints; it must not fail.
    fn ask(&self, statement: &str) -> String {
        right(self.run(statement), statement)
    }

    /// What one machine prints.
    fn alone(&self, statement: &str) -> String {
        let database = self.database().display().to_string();
        common::printed(&["sql", &database, statement, "--format", "csv", "--quiet"])
    }
}

fn right(output: Output, what: &str) -> String {
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what}: {message}");
    String::from_utf8(output.stdout).unwrap()
}

/// Starts a scheduler; gives its address.
fn scheduler(namespace: Option<&String>, token: &Path, bind: &str) -> (Child, String) {
    let mut command = parallax(namespace);
    command.args(["sql-cluster", "scheduler", "--bind", bind, "--stall-limit", "2"]);
    command.arg("--token-file").arg(token).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on ").unwrap().to_owned();
    (child, address)
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// Whether a process may have mounts of its own.
fn namespaces() -> bool {
    let tried = Command::new("unshare").args(["--map-root-user", "--mount", "true"]).output();
    let has = tried.is_ok_and(|output| output.status.success());
    if !has {
        needs::skip(Without::Part, "no namespaces: an executor cannot see other files at a path");
    }
    has
}

/// Statements whose results are compared.
const STATEMENTS: &[&str] = &[
    "SELECT metric_id, count(*), sum(value), min(value), max(value) FROM values
     GROUP BY metric_id ORDER BY metric_id",
    "SELECT function, count(*) AS n, max(value) AS most FROM values JOIN contexts USING (context_id)
     WHERE metric_id = 1 GROUP BY function ORDER BY n DESC, function LIMIT 20",
    "SELECT * FROM values WHERE value > 90 AND profile_id < 12",
    "SELECT profile_id, context_id, start_ns, end_ns FROM samples WHERE profile_id BETWEEN 5 AND 9",
    "SELECT profile_id, bin(start_ns, 1000000) AS bin, sum(end_ns - start_ns) AS busy FROM samples
     GROUP BY profile_id, bin ORDER BY profile_id, bin",
    "SELECT location, count(*) AS n FROM samples JOIN locations USING (profile_id)
     WHERE overlaps(start_ns, end_ns, 0, 500000) GROUP BY location ORDER BY location",
    "SELECT count(*) FROM values WHERE is_descendant(context_id, 2)",
    "SELECT path(context_id) AS path, max(value) AS most FROM values
     JOIN subtree(1) AS below USING (context_id) GROUP BY context_id ORDER BY most DESC, path LIMIT 9",
    "SELECT context_id, value FROM values WHERE profile_id > 3
     ORDER BY value DESC, profile_id, context_id, metric_id LIMIT 25",
    "SELECT count(*) FROM values WHERE value > (SELECT avg(value) FROM values WHERE profile_id = 4)",
    "SELECT count(*) FROM contexts WHERE context_id NOT IN (SELECT context_id FROM values)",
    "SELECT a.profile_id, count(*) AS n FROM samples AS a
     LEFT JOIN (SELECT DISTINCT context_id FROM values WHERE value > 80) AS b USING (context_id)
     WHERE b.context_id IS NULL GROUP BY a.profile_id ORDER BY a.profile_id",
    "SELECT metric_id, avg(value), sum(value * 0.1), avg(value) FILTER (WHERE context_id > 9)
     FROM values GROUP BY metric_id ORDER BY metric_id",
    "SELECT avg(value), sum(value) FROM values",
    "SELECT profile_id, n, rank() OVER (ORDER BY n DESC, profile_id) AS rank
     FROM (SELECT profile_id, count(*) AS n FROM values GROUP BY profile_id) ORDER BY rank LIMIT 5",
    "SELECT flat.name, count(*) AS n FROM flat() AS flat JOIN contexts ON contexts.function = flat.name
     JOIN values USING (context_id) GROUP BY flat.name ORDER BY flat.name LIMIT 10",
    "SELECT * FROM values LIMIT 5",
    "SELECT count(*) FROM values WHERE now() > TIMESTAMP '2020-01-01'",
    "SELECT name, depth FROM contexts ORDER BY context_id LIMIT 5",
];

#[test]
fn a_cluster_gives_what_one_machine_gives() {
    let cluster = Cluster::new(4);
    let mut spread = 0;
    for statement in STATEMENTS {
        assert_eq!(cluster.ask(statement), cluster.alone(statement), "{statement}");
        let plan = cluster.ask(&format!("EXPLAIN {statement}"));
        spread += usize::from(plan.contains("Executors: parts="));
    }
    // What is so small, or has a limit, stays here.
    assert!(spread >= 11, "{spread} statements use the executors");
    // What a part may hold is bounded where it arrives as well.
    let output = cluster.command("SELECT * FROM values").args(["--memory-limit", "100kB"]).output();
    let message = String::from_utf8(output.unwrap().stderr).unwrap();
    assert!(message.contains("more memory than it may have"), "{message}");
}

/// A statement of many seconds, nearly all of which the executors need.
const SLOW: &str = "SELECT count(*) AS n, sum(a.value) AS total FROM values AS a
                    JOIN (SELECT depth FROM contexts LIMIT 1500) AS b ON a.value + b.depth > 3
                    WHERE a.metric_id = 1";

/// Waits until an executor computes.
fn wait_until_busy(cluster: &Cluster, name: &str) {
    let begun = Instant::now();
    loop {
        let text = cluster.status(&[]);
        if text
            .lines()
            .any(|line| line.starts_with(&format!("{name} ")) && line.contains("1 of 1 busy"))
        {
            return;
        }
        assert!(begun.elapsed() < LONG, "{name} is not busy: {text}");
    }
}

#[test]
fn executors_that_are_lost_or_stall_change_no_result() {
    let mut cluster = Cluster::new(4);
    let expected = cluster.alone(SLOW);

    // Killed in the middle of a part.
    let asked = cluster.command(SLOW).spawn().unwrap();
    wait_until_busy(&cluster, "executor-1");
    signal(&cluster.executors[1], "-KILL");
    assert_eq!(right(asked.wait_with_output().unwrap(), "killed"), expected);
    end(&mut cluster.executors[1]);
    cluster.wait_for(3);

    // Stopped in the middle of a part: others take it after the limit, and it comes back later.
    let root = cluster.folder.path().to_owned();
    cluster.executor("executor-1", &root);
    cluster.wait_for(4);
    let asked = cluster.command(SLOW).spawn().unwrap();
    wait_until_busy(&cluster, "executor-1");
    let stalled = cluster.executors.len() - 1;
    signal(&cluster.executors[stalled], "-STOP");
    let answer = right(asked.wait_with_output().unwrap(), "stalled");
    signal(&cluster.executors[stalled], "-CONT");
    assert_eq!(answer, expected);
    cluster.wait_for(4);
    assert_eq!(cluster.ask(STATEMENTS[0]), cluster.alone(STATEMENTS[0]), "{}", STATEMENTS[0]);

    // All are lost, and no other comes.
    let asked = cluster.command(SLOW).spawn().unwrap();
    wait_until_busy(&cluster, "executor-1");
    cluster.executors.iter_mut().for_each(end);
    let output = asked.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("no executor has been connected"), "{message}");
    assert!(output.stdout.is_empty());
    let output = cluster.run("SELECT 1");
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("has no executors"), "{message}");
}

/// Questions, each with whether executors read for it; what is not a part of the database is small.
const QUESTIONS: &[(&[&str], bool)] = &[
    // The summary profile has the sums already.
    (&["flat"], false),
    (&["flat", "--profiles", "rank(0-40)", "--all"], true),
    (&["flat", "--by", "module", "--profiles", "rank(3-63)", "--format", "csv"], true),
    (&["flat", "--trace", "--all"], true),
    (&["flat", "--trace", "--window", "20%..60%", "--profiles", "rank(0-50)", "--json"], true),
    (&["balance"], true),
    (&["balance", "-c", "function(*)", "--by-context", "--format", "csv"], true),
    (&["report"], true),
    (&["report", "--json"], true),
];

impl Cluster {
    /// Parts that all executors have computed.
    fn parts(&self) -> u64 {
        let number = |line: &str| {
            let words = line.rsplit_once(" busy, ").unwrap().1;
            words.split_once(' ').unwrap().0.parse::<u64>().unwrap()
        };
        self.status(&[]).lines().map(number).sum()
    }

    /// A question about the database, with the cluster.
    fn question(&self, words: &[&str]) -> Command {
        let mut command = self.question_alone(words);
        command.args(["--cluster", &self.address, "--part-rows", "500"]);
        command.arg("--token-file").arg(self.token());
        command
    }

    /// The same on one machine.
    fn question_alone(&self, words: &[&str]) -> Command {
        let mut command = parallax(None);
        command.args(words).arg(self.database());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Has the tables written into a folder of that name; gives the folder.
    fn convert(&self, name: &str, has_cluster: bool) -> (Command, PathBuf) {
        let folder = self.folder.path().join(name);
        let words = ["convert", "--to", "parquet", "--part-rows", "5000"];
        let mut command = self.question_alone(&words);
        command.arg(&folder);
        if has_cluster {
            command.args(["--cluster", &self.address]).arg("--token-file").arg(self.token());
        }
        (command, folder)
    }
}

/// The files below a folder, by their paths in it.
fn content(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = common::files_in(folder).into_iter();
    files.map(|(path, bytes)| (path.strip_prefix(folder).unwrap().to_owned(), bytes)).collect()
}

#[test]
fn questions_and_tables_on_a_cluster_are_those_of_one_machine() {
    let cluster = Cluster::new(2);
    for &(words, is_read_by_executors) in QUESTIONS {
        let before = cluster.parts();
        let output = cluster.question(words).output().unwrap();
        let alone = cluster.question_alone(words).output().unwrap();
        assert!(alone.status.success(), "{words:?}: {}", String::from_utf8_lossy(&alone.stderr));
        assert_eq!(output, alone, "{words:?}");
        assert_eq!(cluster.parts() > before, is_read_by_executors, "{words:?}");
    }
    // Values that mean nothing, which only reading shows.
    let file = cluster.database().join("profile.db");
    let sound = std::fs::read(&file).unwrap();
    let mut damaged = sound.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 4096].fill(0xff);
    std::fs::write(&file, damaged).unwrap();
    for &(words, _) in QUESTIONS {
        let output = cluster.question(words).output().unwrap();
        assert_eq!(output, cluster.question_alone(words).output().unwrap(), "damaged: {words:?}");
    }
    std::fs::write(&file, sound).unwrap();

    let (mut command, alone) = cluster.convert("alone", false);
    right(command.output().unwrap(), "alone");
    let (mut command, together) = cluster.convert("together", true);
    let before = cluster.parts();
    right(command.output().unwrap(), "together");
    let (alone, together) = (content(&alone), content(&together));
    let names = |of: &[(PathBuf, Vec<u8>)]| -> Vec<PathBuf> {
        of.iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(&together), names(&alone));
    assert!(together == alone, "the same bytes");
    let in_parts = alone.iter().filter(|(name, _)| name.components().count() > 1).count();
    assert!(in_parts > 10, "{in_parts}");
    assert_eq!(cluster.parts() - before, in_parts as u64);
}

#[test]
fn questions_and_tables_survive_lost_executors_and_fail_whole_without_any() {
    let mut cluster = Cluster::new(3);
    let (mut command, alone) = cluster.convert("alone", false);
    right(command.output().unwrap(), "alone");
    let report = cluster.question_alone(&["report"]).output().unwrap();

    // One takes a part and says nothing any more; others compute it after the limit.
    signal(&cluster.executors[2], "-STOP");
    assert_eq!(cluster.question(&["report"]).output().unwrap(), report);
    signal(&cluster.executors[2], "-CONT");
    cluster.wait_for(3);
    // One ends while it has a part, for certain: it does not come to the end of it.
    signal(&cluster.executors[2], "-STOP");
    let (mut command, folder) = cluster.convert("killed", true);
    let asked = command.spawn().unwrap();
    wait_until_busy(&cluster, "executor-2");
    signal(&cluster.executors[2], "-KILL");
    right(asked.wait_with_output().unwrap(), "killed");
    assert!(content(&folder) == content(&alone), "the same bytes");
    cluster.wait_for(2);

    // All end.
    let fails = |cluster: &mut Cluster, mut command: Command| {
        cluster.executors.iter().take(2).for_each(|executor| signal(executor, "-STOP"));
        let asked = command.spawn().unwrap();
        wait_until_busy(cluster, "executor-0");
        cluster.executors.iter_mut().for_each(end);
        let output = asked.wait_with_output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains("no executor has been connected"), "{message}");
        assert!(output.stdout.is_empty());
        cluster.executors.clear();
    };
    let (command, folder) = cluster.convert("lost", true);
    fails(&mut cluster, command);
    assert!(!folder.exists());
    let entries = std::fs::read_dir(cluster.folder.path()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(!names.into_iter().any(|name| name.contains("lost")), "nothing half written is left");
    let root = cluster.folder.path().to_owned();
    for name in ["executor-0", "executor-1"] {
        cluster.executor(name, &root);
    }
    cluster.wait_for(2);
    // Analyses make remarks of what they cannot read; a lost cluster is an error.
    let command = cluster.question(&["report"]);
    fails(&mut cluster, command);

    // None at all, none that may read the files, and another token.
    let refused = |mut command: Command, expected: &str| {
        let output = command.output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains(expected), "{expected}: {message}");
        assert!(output.stdout.is_empty());
    };
    let asked: [&[&str]; 3] = [&["report"], &["balance"], &["flat", "--trace"]];
    let each = |cluster: &Cluster, expected: &str| {
        asked.iter().for_each(|words| refused(cluster.question(words), expected));
        let (command, folder) = cluster.convert("refused", true);
        refused(command, expected);
        assert!(!folder.exists());
    };
    each(&cluster, "has no executors");
    let elsewhere = tempfile::tempdir().unwrap();
    cluster.executor("elsewhere", elsewhere.path());
    cluster.wait_for(1);
    each(&cluster, "below none of the roots");
    let token = cluster.token();
    std::fs::write(&token, "a token of another cluster\n").unwrap();
    each(&cluster, "has a different token");
}

#[test]
fn a_scheduler_that_is_started_again_goes_on_and_one_that_is_not_is_named() {
    let mut cluster = Cluster::new(2);
    let expected = cluster.alone(SLOW);
    let asked = cluster.command(SLOW).spawn().unwrap();
    wait_until_busy(&cluster, "executor-1");
    end(&mut cluster.scheduler);
    let (again, address) = scheduler(None, &cluster.token(), &cluster.address);
    assert_eq!(address, cluster.address);
    cluster.scheduler = again;
    assert_eq!(right(asked.wait_with_output().unwrap(), "started again"), expected);

    let asked = cluster.command(SLOW).spawn().unwrap();
    wait_until_busy(&cluster, "executor-1");
    let begun = Instant::now();
    end(&mut cluster.scheduler);
    let output = asked.wait_with_output().unwrap();
    assert!(begun.elapsed() < LONG, "{:?}", begun.elapsed());
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains(&cluster.address), "{message}");
    let output = cluster.run("SELECT 1");
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("no scheduler at"), "{message}");
}

#[test]
fn statements_on_a_cluster_end_when_their_time_is_over() {
    let cluster = Cluster::new(2);
    let begun = Instant::now();
    let output = cluster.command(SLOW).args(["--time-limit", "1"]).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("takes longer than 1 s"), "{message}");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    // The executors stop as well, and are never lost meanwhile.
    let ended = Instant::now();
    while ended.elapsed() < Duration::from_secs(4) {
        let status = cluster.status(&[]);
        assert_eq!(status.lines().count(), 2, "{status}");
    }
    assert_eq!(cluster.ask(STATEMENTS[0]), cluster.alone(STATEMENTS[0]), "{}", STATEMENTS[0]);
}

#[test]
fn executors_refuse_other_files_other_places_and_other_tokens() {
    let mut cluster = Cluster::new(1);
    let statement = STATEMENTS[0];
    let refused = |cluster: &Cluster, expected: &[&str]| {
        let output = cluster.run(statement);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(expected.iter().all(|part| message.contains(part)), "{expected:?}: {message}");
    };

    // The files change while the statement runs: the parts that are left are of other files.
    let file = cluster.database().join("profile.db");
    let asked = cluster.command(SLOW).spawn().unwrap();
    wait_until_busy(&cluster, "executor-0");
    let open = std::fs::File::options().append(true).open(&file).unwrap();
    open.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).unwrap();
    let output = asked.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("executor executor-0: the files of /"), "{message}");
    assert!(message.contains("/database differ from those on the client"), "{message}");
    assert!(output.stdout.is_empty());
    // Asked anew, it is about the files as they are.
    assert_eq!(cluster.ask(statement), cluster.alone(statement), "{statement}");
    end(&mut cluster.executors[0]);
    cluster.executors.clear();

    // One that has an older copy at the same path, as on a disk of its own.
    if namespaces() {
        let old = cluster.folder.path().join("old");
        let options = GenerateOptions { ranks: 9, contexts: 100, ..GenerateOptions::default() };
        generate(&old, &options, |_, _, _| ()).unwrap();
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c"]);
        command.arg("mount --bind \"$0\" \"$1\" && shift && exec \"$@\"");
        command.arg(&old).arg(cluster.database()).arg(env!("CARGO_BIN_EXE_parallax"));
        command.args(["sql-cluster", "executor", "--quiet", "--lanes", "1", "--name", "behind"]);
        command.args(["--scheduler", &cluster.address, "--root"]).arg(cluster.folder.path());
        command.arg("--token-file").arg(cluster.token());
        cluster.executors.push(command.stdin(Stdio::null()).spawn().unwrap());
        cluster.wait_for(1);
        refused(
            &cluster,
            &["executor behind: the files of /", "/database differ from those on the client"],
        );
        end(&mut cluster.executors[0]);
        cluster.executors.clear();
    }

    let elsewhere = tempfile::tempdir().unwrap();
    cluster.executor("elsewhere", elsewhere.path());
    cluster.wait_for(1);
    refused(&cluster, &["executor elsewhere", "below none of the roots"]);

    // Another token: of the client, and of an executor.
    let other = cluster.folder.path().join("other");
    std::fs::write(&other, "a token of another cluster\n").unwrap();
    let with = |file: &Path| {
        let mut command = parallax(None);
        command.arg("sql").arg(cluster.database()).args([statement, "--cluster", &cluster.address]);
        let output = command.arg("--token-file").arg(file).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(with(&other).contains("other users may read"), "{}", with(&other));
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert!(with(&other).contains("has a different token"), "{}", with(&other));
    let mut command = parallax(None);
    command.args(["sql-cluster", "executor", "--scheduler", &cluster.address, "--root", "/"]);
    let output = command.arg("--token-file").arg(&other).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("has a different token"));
    let mode = std::fs::metadata(cluster.token()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// Namespaces of the network, each with one end of a link to a bridge in one of their own.
struct Network {
    prefix: String,
    members: usize,
}

impl Network {
    /// `None` where this process may not make them.
    fn new(members: usize) -> Option<Self> {
        if !needs::program("ip", Without::Test) {
            return None;
        }
        let network = Self { prefix: format!("plx{}", std::process::id()), members };
        let bridge = network.bridge();
        if !ip(&["netns", "add", &bridge]) {
            needs::skip(Without::Test, "namespaces of the network need the rights of root");
            return None;
        }
        assert!(ip(&["-n", &bridge, "link", "add", "bridge", "type", "bridge"]));
        assert!(ip(&["-n", &bridge, "link", "set", "bridge", "up"]));
        for member in 0..members {
            let (name, port) = (network.member(member), format!("port{member}"));
            let address = format!("{}/24", Self::address(member));
            let steps: [&[&str]; 6] = [
                &["netns", "add", &name],
                &[
                    "-n", &name, "link", "add", "end", "type", "veth", "peer", "name", &port,
                    "netns", &bridge,
                ],
                &["-n", &bridge, "link", "set", &port, "master", "bridge", "up"],
                &["-n", &name, "address", "add", &address, "dev", "end"],
                &["-n", &name, "link", "set", "end", "up"],
                &["-n", &name, "link", "set", "lo", "up"],
            ];
            assert!(steps.into_iter().all(ip), "{name}");
        }
        Some(network)
    }

    fn bridge(&self) -> String {
        format!("{}-bridge", self.prefix)
    }

    fn member(&self, member: usize) -> String {
        format!("{}-{member}", self.prefix)
    }

    fn address(member: usize) -> String {
        format!("10.213.7.{}", member + 1)
    }

    /// Takes a member from the network, or back; nobody is told that connections are gone.
    fn link(&self, member: usize, is_up: bool) {
        let state = if is_up { "up" } else { "down" };
        assert!(ip(&["-n", &self.bridge(), "link", "set", &format!("port{member}"), state]));
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for member in 0..self.members {
            ip(&["netns", "delete", &self.member(member)]);
        }
        ip(&["netns", "delete", &self.bridge()]);
    }
}

fn ip(arguments: &[&str]) -> bool {
    let mut command = Command::new("ip");
    command.args(arguments).stdin(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[test]
fn machines_of_a_network_give_what_one_gives_and_may_leave_it() {
    let Some(network) = Network::new(6) else { return };
    let mut cluster = Cluster::on(Some(&network), 4);
    for statement in &STATEMENTS[..6] {
        assert_eq!(cluster.ask(statement), cluster.alone(statement), "{statement}");
    }
    // The second executor is the third member: its connections stay, and nothing comes over them.
    let expected = cluster.alone(SLOW);
    let asked = cluster.command(SLOW).spawn().unwrap();
    wait_until_busy(&cluster, "executor-1");
    network.link(2, false);
    assert_eq!(right(asked.wait_with_output().unwrap(), "left the network"), expected);
    network.link(2, true);
    // The scheduler as well: the client gets an error.
    let asked = cluster.command(SLOW).spawn().unwrap();
    wait_until_busy(&cluster, "executor-0");
    let begun = Instant::now();
    network.link(0, false);
    let output = asked.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains(&cluster.address), "{message}");
    assert!(begun.elapsed() < LONG, "{:?}", begun.elapsed());
    cluster.executors.iter_mut().for_each(end);
}
