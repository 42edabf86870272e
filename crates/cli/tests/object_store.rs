//! Databases in an object store, by moto's server of S3: the answers of a disk, few requests, and
//! clear errors where the store refuses, changes or is lost.
#![cfg(all(feature = "store", feature = "cluster", unix))]
#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use parallax_testkit::hpctoolkit::generate::{GenerateOptions, generate};
use parallax_testkit::needs::{self, Without};

/// A server of S3, which ends with this.
struct Server {
    process: Child,
    address: String,
    talk: Mutex<(ChildStdin, BufReader<ChildStdout>)>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    /// A server with a bucket `runs`; without its libraries the test is skipped.
    fn start() -> Option<Arc<Self>> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let python = root.join("../../target/tools/object-store/bin/python");
        if !python.exists() {
            needs::skip(Without::Test, "no server of S3: `cargo xtask setup` installs one");
            return None;
        }
        let mut command = Command::new(python);
        command.arg(root.join("tests/store/server.py"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let words = process.stdin.take().unwrap();
        let mut replies = BufReader::new(process.stdout.take().unwrap());
        let mut address = String::new();
        replies.read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        assert!(address.starts_with("http://"), "{address}");
        let server = Self { process, address, talk: Mutex::new((words, replies)) };
        server.tell(&["bucket", "runs"]);
        Some(Arc::new(server))
    }

    /// Says what happens, and gives the reply.
    fn tell(&self, words: &[&str]) -> String {
        let mut talk = self.talk.lock().unwrap();
        writeln!(talk.0, "{}", words.join("\t")).unwrap();
        let mut reply = String::new();
        talk.1.read_line(&mut reply).unwrap();
        assert!(!reply.is_empty(), "{words:?}");
        reply.trim().to_owned()
    }

    fn put(&self, prefix: &str, place: &Path) {
        self.tell(&["put", "runs", prefix, place.to_str().unwrap()]);
    }

    fn requests(&self) -> u64 {
        self.tell(&["requests"]).parse().unwrap()
    }
}

/// The tool, which finds the store at an address.
fn parallax(address: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
    let inherited = std::env::vars().filter(|(name, _)| name.starts_with("AWS_"));
    for (name, _) in inherited {
        command.env_remove(name);
    }
    command.env("AWS_ENDPOINT_URL", address).env("AWS_ALLOW_HTTP", "true");
    command.env("AWS_ACCESS_KEY_ID", "test").env("AWS_SECRET_ACCESS_KEY", "test");
    command.args(arguments).stdin(Stdio::null());
    command
}

fn printed(mut command: Command) -> String {
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {message}");
    String::from_utf8(output.stdout).unwrap()
}

/// What it says when it fails, as it must.
fn error(mut command: Command) -> String {
    let begun = Instant::now();
    let Output { status, stdout, stderr } = command.output().unwrap();
    let message = String::from_utf8(stderr).unwrap();
    assert!(!status.success() && stdout.is_empty(), "{command:?}: {message}");
    assert!(begun.elapsed() < Duration::from_secs(100), "{:?}: {message}", begun.elapsed());
    message
}

/// A profile of HPCToolkit with traces.
fn database(folder: &Path, ranks: u32, trace_samples: u32) -> PathBuf {
    let path = folder.join("database");
    let options = GenerateOptions {
        ranks,
        contexts: 500,
        values_per_rank: 500,
        trace_samples,
        elided: false,
        ..GenerateOptions::default()
    };
    generate(&path, &options, |_, _, _| ()).unwrap();
    path
}

#[test]
fn a_database_in_a_store_gives_the_answers_of_a_disk() {
    let Some(server) = Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let archive = folder.path().join("halo.parallax");
    let halo = fixtures.join("traces/halo.json");
    common::printed(&["convert", halo.to_str().unwrap(), archive.to_str().unwrap()]);
    let otf2 = fixtures.join("otf2/all-records");
    let sql = "SELECT metric_id, count(*), sum(value) FROM values GROUP BY metric_id ORDER BY 1";
    let profile: &[&[&str]] = &[
        &["info"],
        &["report"],
        &["tree", "--json"],
        &["flat", "--json"],
        &["balance", "--json"],
        &["trace", "--json"],
        &["sql", "", sql, "--format", "csv"],
    ];
    let trace: &[&[&str]] = &[&["info"], &["report"], &["flat", "--json"], &["trace", "--json"]];
    let small = fixtures.join("reactor/n1024-p8");
    let generated = database(folder.path(), 16, 400);
    let databases: [(&str, PathBuf, &[&[&str]]); 6] = [
        ("reactor", small, profile),
        ("deep/er/database", generated, profile),
        ("halo.parallax", archive, trace),
        ("halo.json", halo, trace),
        ("otf2", otf2, trace),
        ("heat.cali", fixtures.join("caliper/heat.cali"), &[&["info"], &["flat", "--json"]]),
    ];
    for (prefix, disk, commands) in databases {
        server.put(prefix, &disk);
        let (disk, address) = (disk.display().to_string(), format!("s3://runs/{prefix}"));
        for command in commands {
            let with = |path: &str| -> Vec<String> {
                let mut words: Vec<String> =
                    command.iter().filter(|word| !word.is_empty()).map(|&w| w.into()).collect();
                words.insert(1, path.to_owned());
                words
            };
            let ask = |path: &str| {
                let mut asked = parallax(&server.address, &[]);
                asked.args(with(path)).env("PARALLAX_CACHE", folder.path().join("cache"));
                printed(asked)
            };
            // Which archive a trace was converted into: small ones on a disk into none.
            let without_archive = |text: String| {
                let lines = text.lines().filter(|line| !line.starts_with("  from "));
                lines.collect::<Vec<_>>().join("\n")
            };
            let (here, there) = (without_archive(ask(&disk)), without_archive(ask(&address)));
            assert!(here.len() > 20, "{command:?} {disk}: {here}");
            assert_eq!(there.replace(&address, &disk), here, "{command:?} {address}");
        }
    }
    // A trace was converted into the cache, and another content of its name is another trace.
    let gpu = fixtures.join("traces/gpu.json");
    server.put("halo.json", &gpu);
    let ask = |path: &str| {
        let mut asked = parallax(&server.address, &["flat", path, "--json"]);
        asked.env("PARALLAX_CACHE", folder.path().join("cache"));
        printed(asked)
    };
    assert_eq!(ask("s3://runs/halo.json"), ask(gpu.to_str().unwrap()));
}

/// What passes between the tool and the server, and what happens to it.
struct Proxy {
    address: String,
    /// Bytes of answers.
    bytes: Arc<AtomicU64>,
}

/// What a proxy does with a request.
enum Fate {
    Pass,
    /// Part of the answer, and then the end of the connection.
    Cut,
    /// No answer, as long as the other side waits.
    Stall,
}

impl Proxy {
    fn new(server: &Server, fate: impl Fn(&str) -> Fate + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let target = server.address.trim_start_matches("http://").to_owned();
        let (bytes, fate) = (Arc::new(AtomicU64::new(0)), Arc::new(fate));
        let counted = Arc::clone(&bytes);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (target, fate, bytes) = (target.clone(), Arc::clone(&fate), Arc::clone(&bytes));
                std::thread::spawn(move || pass(&client.unwrap(), &target, &*fate, &bytes));
            }
        });
        Self { address, bytes: counted }
    }
}

/// Passes one request, which has no body, as none of the tool has.
fn pass(mut client: &TcpStream, target: &str, fate: &dyn Fn(&str) -> Fate, bytes: &AtomicU64) {
    let mut requests = BufReader::new(client.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if requests.read_line(&mut head).unwrap_or(0) == 0 {
            return;
        }
    }
    let fate = fate(head.lines().next().unwrap());
    if matches!(fate, Fate::Stall) {
        std::thread::sleep(Duration::from_secs(600));
        return;
    }
    let mut server = TcpStream::connect(target).unwrap();
    let head = head.replacen("\r\n", "\r\nConnection: close\r\n", 1);
    server.write_all(head.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = server.read_to_end(&mut answer);
    let is_cut = matches!(fate, Fate::Cut);
    let len = if is_cut { answer.len() - answer.len().min(100) } else { answer.len() };
    bytes.fetch_add(len as u64, Ordering::Relaxed);
    let _ = client.write_all(&answer[..len]);
    // The server has said that this connection ends.
    let _ = client.shutdown(Shutdown::Both);
}

#[test]
fn a_statement_reads_few_bytes_of_a_large_database() {
    let Some(server) = Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let disk = database(folder.path(), 400, 8000);
    server.put("large", &disk);
    let len: u64 = common::files_in(&disk).values().map(|content| content.len() as u64).sum();
    assert!(len > 30_000_000, "{len} bytes");
    let proxy = Proxy::new(&server, |_| Fate::Pass);
    let statement = "SELECT count(*) AS n, sum(end_ns - start_ns) AS busy FROM samples
                     WHERE profile_id BETWEEN 77 AND 79";
    let before = server.requests();
    let mut asked = parallax(&proxy.address, &["sql", "s3://runs/large", statement, "--stats"]);
    let output = asked.args(["--format", "csv"]).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    let alone = ["sql", disk.to_str().unwrap(), statement, "--format", "csv"];
    assert_eq!(String::from_utf8(output.stdout).unwrap(), common::printed(&alone), "{message}");
    let (requests, bytes) = (server.requests() - before, proxy.bytes.load(Ordering::Relaxed));
    assert!(requests <= 30, "{requests} requests: {message}");
    assert!(bytes < len / 5, "{bytes} of {len} bytes: {message}");
    // What the tool says that it asked is what the server was asked.
    let told: u64 = message
        .lines()
        .filter_map(|line| line.split_once("; ")?.1.split_once(" request"))
        .map(|(number, _)| number.parse::<u64>().unwrap())
        .sum();
    assert_eq!(told, requests, "{message}");

    // The whole of a table takes more bytes, and large requests.
    let before = server.requests();
    let whole = "SELECT count(*), sum(end_ns - start_ns) FROM samples";
    let there = printed(parallax(&server.address, &["sql", "s3://runs/large", whole]));
    assert_eq!(there, common::printed(&["sql", disk.to_str().unwrap(), whole]));
    let requests = server.requests() - before;
    assert!(requests < 120, "{requests} requests");
}

#[test]
fn what_a_store_refuses_is_said_with_what_to_do() {
    let Some(server) = Server::start() else { return };
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let disk = fixtures.join("reactor/n1024-p8");
    server.put("reactor", &disk);
    server.tell(&["bucket", "secret"]);
    server.tell(&["put", "secret", "reactor", disk.to_str().unwrap()]);
    server.tell(&["deny", "secret"]);
    let said = |address: &str, words: &[&str]| {
        let message = error(parallax(&server.address, &["info", address]));
        for word in words {
            assert!(message.contains(word), "{address}: {message}");
        }
        assert!(message.lines().count() < 5, "{message}");
    };
    said("s3://rums/reactor", &["s3://rums", "no bucket", &server.address]);
    said("s3://runs/reactors", &["s3://runs/reactors", "no object"]);
    said("s3://secret/reactor", &["s3://secret/reactor/", "access denied", "AWS_ACCESS_KEY_ID"]);
    said("s3://", &["s3://BUCKET/PATH"]);
    said("gs://runs/reactor", &["gs://", "s3://"]);

    // Nobody listens there.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let message = error(parallax(&format!("http://{free}"), &["info", "s3://runs/reactor"]));
    let words = [format!("http://{free}"), "no answer".to_owned(), "AWS_ENDPOINT_URL".to_owned()];
    words.iter().for_each(|word| assert!(message.contains(word), "{message}"));

    let mut plain = parallax(&server.address, &["info", "s3://runs/reactor"]);
    plain.env_remove("AWS_ALLOW_HTTP");
    let message = error(plain);
    assert!(message.contains("AWS_ALLOW_HTTP=true"), "{message}");

    // Nothing is written there.
    let output = "s3://runs/new.csv";
    let message =
        error(parallax(&server.address, &["flat", disk.to_str().unwrap(), "--output", output]));
    assert!(message.contains("only read"), "{message}");
    assert!(!Path::new("s3:").exists());
}

#[test]
fn connections_that_break_are_made_again_and_those_that_cannot_be_end_with_an_error() {
    let Some(server) = Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let disk = database(folder.path(), 64, 1000);
    server.put("database", &disk);
    let is_of_profile = |line: &str| line.contains("profile.db");
    let statement = "SELECT metric_id, count(*), sum(value) FROM values GROUP BY 1 ORDER BY 1";
    let expected = common::printed(&["sql", disk.to_str().unwrap(), statement]);
    let ask = |proxy: &Proxy| parallax(&proxy.address, &["sql", "s3://runs/database", statement]);

    // Every second answer ends too early.
    let number = AtomicU64::new(0);
    let proxy = Proxy::new(&server, move |_| {
        if number.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
            Fate::Cut
        } else {
            Fate::Pass
        }
    });
    assert_eq!(printed(ask(&proxy)), expected);

    // From some time on all do.
    let proxy =
        Proxy::new(&server, move |line| if is_of_profile(line) { Fate::Cut } else { Fate::Pass });
    let message = error(ask(&proxy));
    assert!(message.contains("s3://runs/database/profile.db"), "{message}");

    // A server that does not answer is waited for no longer than was said.
    let proxy =
        Proxy::new(&server, move |line| if is_of_profile(line) { Fate::Stall } else { Fate::Pass });
    let mut asked = ask(&proxy);
    asked.env("AWS_TIMEOUT", "1 second");
    let message = error(asked);
    assert!(message.contains("s3://runs/database/profile.db"), "{message}");
    assert!(message.contains("no answer"), "{message}");
}

#[test]
fn an_object_that_changes_while_it_is_read_is_named() {
    let Some(server) = Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let disk = database(folder.path(), 64, 8000);
    let other = folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let other = database(&other, 65, 8000).join("trace.db");
    server.put("database", &disk);
    // The last request for the traces meets another file.
    let number = Arc::new(AtomicU64::new(0));
    let last = Arc::new(AtomicU64::new(u64::MAX));
    let (counted, until, target) = (Arc::clone(&number), Arc::clone(&last), Arc::clone(&server));
    let proxy = Proxy::new(&server, move |line| {
        let is_last = counted.fetch_add(u64::from(line.contains("trace.db")), Ordering::Relaxed)
            + 1
            == until.load(Ordering::Relaxed);
        if line.contains("trace.db") && is_last {
            target.put("database/trace.db", &other);
        }
        Fate::Pass
    });
    let statement = "SELECT count(*), sum(end_ns - start_ns) FROM samples";
    printed(parallax(&proxy.address, &["sql", "s3://runs/database", statement]));
    last.store(number.swap(0, Ordering::Relaxed), Ordering::Relaxed);
    assert!(last.load(Ordering::Relaxed) > 2, "{last:?} requests for the traces");
    let message = error(parallax(&proxy.address, &["sql", "s3://runs/database", statement]));
    assert!(message.contains("s3://runs/database/trace.db was changed"), "{message}");
}

/// Processes that end with this.
#[derive(Default)]
struct Processes(Vec<Child>);

impl Drop for Processes {
    fn drop(&mut self) {
        for process in &mut self.0 {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

#[test]
fn executors_read_databases_in_a_store() {
    let Some(server) = Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let disk = database(folder.path(), 64, 500);
    server.put("mine/database", &disk);
    server.put("theirs/database", &disk);
    let token = folder.path().join("token").display().to_string();
    let mut processes = Processes::default();
    let member = |arguments: &[&str]| {
        let mut command = parallax(&server.address, &["sql-cluster"]);
        command.args(arguments).args(["--token-file", &token]);
        command
    };
    let mut scheduler = member(&["scheduler", "--bind", "127.0.0.1:0"]);
    let mut scheduler = scheduler.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(scheduler.stdout.take().unwrap()).read_line(&mut line).unwrap();
    processes.0.push(scheduler);
    let address = line.trim().strip_prefix("listening on ").unwrap().to_owned();
    for name in ["executor-1", "executor-2"] {
        let root = ["--root", "s3://runs/mine/", "--lanes", "1", "--name", name, "--quiet"];
        let mut executor = member(&["executor", "--scheduler", &address]);
        processes.0.push(executor.args(root).spawn().unwrap());
    }
    let begun = Instant::now();
    while printed(member(&["status", "--scheduler", &address])).lines().count() < 2 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no executors");
        std::thread::sleep(Duration::from_millis(20));
    }
    let on_cluster = |database: &str, statement: &str| {
        let mut command = parallax(&server.address, &["sql", database, statement]);
        command.args(["--format", "csv", "--quiet", "--cluster", &address]);
        command.args(["--part-rows", "5000", "--token-file", &token]);
        command
    };
    let statements = [
        "SELECT metric_id, count(*), sum(value) FROM values GROUP BY 1 ORDER BY 1",
        "SELECT profile_id, sum(end_ns - start_ns) FROM samples GROUP BY 1 ORDER BY 1",
    ];
    for statement in statements {
        let explain = format!("EXPLAIN {statement}");
        let plan = printed(on_cluster("s3://runs/mine/database", &explain));
        assert!(plan.contains("Executors: parts="), "{plan}");
        let alone = common::printed(&["sql", disk.to_str().unwrap(), statement, "--format", "csv"]);
        assert_eq!(printed(on_cluster("s3://runs/mine/database", statement)), alone);
    }
    // The name of a root is no right for names that begin like it.
    server.put("mine2/database", &disk);
    for place in ["s3://runs/theirs/database", "s3://runs/mine2/database"] {
        let message = error(on_cluster(place, statements[0]));
        assert!(message.contains("none of the roots"), "{message}");
    }
}
