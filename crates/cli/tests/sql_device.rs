//! `parallax sql --device`: the same results on a GPU, whose columns stay there between statements.
#![cfg(all(feature = "sql", feature = "gpu"))]
#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use parallax_testkit::hpctoolkit::generate::{GenerateOptions, generate};
use parallax_testkit::needs::{Without, skip};

const GROUP: &str = "SELECT context_id, count(*), sum(d), min(d), max(d), avg(d), var_pop(d) FROM \
                     (SELECT context_id, end_ns - start_ns AS d FROM samples) AS s \
                     GROUP BY context_id";
const STATEMENTS: &[&str] = &[
    GROUP,
    "SELECT profile_id, context_id, count(*), max(end_ns) FROM samples GROUP BY 1, 2",
    "SELECT profile_id, sum(context_id), stddev_pop(end_ns - start_ns) FROM samples \
     WHERE end_ns - start_ns BETWEEN 1000 AND 50000000 AND context_id > 3 GROUP BY 1",
    "SELECT context_id, count(*) FROM samples WHERE end_ns - start_ns < 0 GROUP BY 1",
    "SELECT count(*) FROM samples WHERE end_ns - start_ns >= 2000",
    "SELECT end_ns - start_ns AS d, start_ns FROM samples ORDER BY d DESC, start_ns LIMIT 25",
    "SELECT profile_id, end_ns FROM samples WHERE context_id > 7 AND context_id < 200 \
     ORDER BY end_ns DESC, profile_id LIMIT 7",
    "SELECT start_ns, profile_id FROM samples WHERE context_id > 2 \
     ORDER BY start_ns, profile_id LIMIT 7 OFFSET 3",
    "SELECT * FROM samples WHERE end_ns - start_ns >= 2000 AND context_id > 2",
    "SELECT profile_id, context_id + 1 AS c, end_ns FROM samples ORDER BY end_ns DESC, profile_id",
];

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/reactor/n1024-p8")
}

/// The answers to statements in one session. The second one that reads all samples brings them to
/// memory.
fn asked(database: &Path, statements: &[&str], arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
    command.arg("sql").arg(database).args(["--format", "csv"]).args(arguments);
    command.env_remove("PARALLAX_DEVICE");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let read = "SELECT min(start_ns), max(end_ns) FROM samples;\n";
    let text = format!("{read}{};\n", statements.join(";\n"));
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// What was printed, line by line in an order that does not depend on who computed it; and what was
/// told.
fn told(output: Output) -> (Vec<String>, String) {
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    let stdout = String::from_utf8(output.stdout).unwrap();
    (stdout.lines().map(ToOwned::to_owned).collect(), stderr)
}

fn has_device() -> bool {
    if parallax_gpu::devices().is_empty() {
        skip(Without::Test, "no driver for Vulkan");
        return false;
    }
    true
}

#[test]
fn a_gpu_gives_the_same_results() {
    if !has_device() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let options = GenerateOptions {
        ranks: 20,
        contexts: 300,
        values_per_rank: 30,
        trace_samples: 5000,
        elided: false,
        ..GenerateOptions::default()
    };
    generate(folder.path(), &options, |_, _, _| ()).unwrap();
    for database in [fixture(), folder.path().to_owned()] {
        for statement in STATEMENTS {
            // Of so few samples there are not many more than pairs of keys.
            if statement.contains("GROUP BY 1, 2") && database == fixture() {
                continue;
            }
            let on = |device: &str| {
                told(asked(&database, &[statement], &["--device", device, "--stats"]))
            };
            let (mut here, _) = on("cpu");
            let (mut there, why) = on("gpu");
            let name = &parallax_gpu::devices()[0].name;
            assert!(why.contains(&format!("on {name}: it was asked for;")), "{statement}: {why}");
            if !statement.contains("ORDER BY") {
                here.sort_unstable();
                there.sort_unstable();
            }
            assert_eq!(here, there, "{statement}");
            assert!(here.len() > 3 || statement.contains("count(*) FROM samples WHERE"));
        }
    }
}

#[test]
fn later_statements_copy_nothing_to_the_device() {
    if !has_device() {
        return;
    }
    let device = ["--device", "gpu:0", "--stats"];
    let (_, said) = told(asked(&fixture(), &[GROUP, GROUP], &device));
    // 28,539 samples, and 20 bytes of each.
    let steps: Vec<&str> =
        said.lines().filter(|line| line.contains("group of samples on")).collect();
    assert!(
        steps[0].contains("571 kB copied to the device") && steps[0].ends_with("571 kB stay there"),
        "{said}"
    );
    assert!(
        steps[1].contains("0 B copied to the device") && steps[1].ends_with("571 kB stay there"),
        "{said}"
    );
    // In a small memory, the step is left to the processor.
    let few = [&device[..], &["--keep-on-device", "1kB"]].concat();
    let (_, said) = told(asked(&fixture(), &[GROUP], &few));
    assert!(said.contains("group of samples on cpu") && said.contains("no room"), "{said}");
}

#[test]
fn the_software_device_is_used_only_if_it_is_asked_for() {
    for arguments in [&["--stats"][..], &["--stats", "--device", "auto"]] {
        let (_, said) = told(asked(&fixture(), &[GROUP], arguments));
        assert!(said.contains("group of samples on cpu: too few rows for a GPU"), "{said}");
    }
    let (_, said) = told(asked(&fixture(), &[GROUP], &["--stats", "--device", "cpu"]));
    assert!(!said.contains(" on cpu"), "{said}");
}

#[test]
fn a_device_that_is_not_there_is_an_error() {
    let output = asked(&fixture(), &[GROUP], &["--device", "gpu:99"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && said.contains("cannot use gpu:99"), "{said}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
    command.args(["open", "--no-browser", "--device", "gpu:99"]).arg(fixture());
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && said.contains("cannot use gpu:99"), "{said}");
}
