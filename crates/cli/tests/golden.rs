//! What the user sees: the text of every command on the reactor runs, at 80 and 200 columns.
//!
//! Expected texts lie in `golden/`; `cargo xtask bless` rewrites them.

use std::path::{Path, PathBuf};
use std::process::Command;

const CASES: [(&str, &[&str]); 26] = [
    ("info", &["info", "n1024-p8"]),
    ("info-hybrid", &["info", "hybrid-n1024-p2x2"]),
    ("tree", &["tree", "n1024-p8", "--profiles", "thread(0)"]),
    ("tree-pruned", &["tree", "n1024-p8", "--prune", "mpi,openmp,lines,1%"]),
    ("tree-from", &["tree", "n512-p4", "--from", "function(residual)", "--depth", "4"]),
    ("callers", &["callers", "n1024-p8", "--function", "MPI_*"]),
    ("flat", &["flat", "n1024-p8"]),
    ("flat-trace", &["flat", "n256-p4", "--window", "25%..75%", "--by", "module"]),
    ("query", &["query", "n1024-p8", "-p", "rank(0-3)", "-c", "function(MPI_*)", "-m", "time (i)"]),
    ("trace", &["trace", "n256-p2", "-p", "rank(1).thread(0)", "-w", "60%..70%"]),
    ("balance", &["balance", "n1024-p8", "--profiles", "thread(0)"]),
    ("distribution", &["distribution", "n1024-p8", "-c", "function(react)"]),
    ("source", &["source", "n1024-p8", "reactor.c"]),
    ("flat-formula", &["flat", "n1024-p8", "-m", "=100 * $realtime / @realtime", "--by", "file"]),
    ("report", &["report", "n1024-p8"]),
    (
        "report-racks",
        &["report", "../congested", "--hosts", "../congested/hosts.csv", "--system", "aurora"],
    ),
    ("report-iterations", &["report", "long-n512-p8"]),
    ("cluster", &["cluster", "../congested"]),
    ("cluster-one", &["cluster", "long-n512-p8"]),
    (
        "topology",
        &["topology", "../congested", "--hosts", "../congested/hosts.csv", "--system", "aurora"],
    ),
    ("topology-nodes", &["topology", "../congested", "--rows", "12"]),
    ("iterations", &["iterations", "long-n512-p8"]),
    ("iterations-location", &["iterations", "n1024-p8", "--by", "location"]),
    ("iterations-iteration", &["iterations", "n1024-p8", "--by", "iteration", "--rows", "12"]),
    ("idleness", &["idleness", "n512-p4"]),
    ("query-nothing", &["query", "n256-p1", "-m", "gpu:prop (i)"]),
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/reactor")
}

#[test]
fn commands_print_what_the_golden_texts_say() {
    let is_blessing = std::env::var_os("PARALLAX_BLESS").is_some();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut differing = Vec::new();
    for (name, arguments) in CASES {
        for width in ["80", "200"] {
            let output = Command::new(env!("CARGO_BIN_EXE_parallax"))
                .args(arguments)
                .args(["--width", width, "--color", "never"])
                .env("LC_ALL", "C.UTF-8")
                .current_dir(fixtures())
                .output()
                .unwrap();
            let stdout = String::from_utf8(output.stdout).unwrap();
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.success(), "{name}: {stderr}");
            let limit: usize = width.parse().unwrap();
            for line in stdout.lines() {
                // `info` prints facts, whose words are not cut.
                let is_fitted = name.starts_with("info") || line.chars().count() <= limit;
                assert!(is_fitted, "{name} at {width}: {line}");
            }
            let text = format!(
                "$ parallax {}\n{stdout}{}",
                arguments.join(" "),
                if stderr.is_empty() { String::new() } else { format!("--- stderr\n{stderr}") }
            );
            let path = golden.join(format!("{name}.{width}.txt"));
            if is_blessing {
                std::fs::write(&path, &text).unwrap();
            } else if std::fs::read_to_string(&path).ok().as_deref() != Some(&text) {
                differing.push(format!("{}\n{text}", path.display()));
            }
        }
    }
    assert!(
        differing.is_empty(),
        "these texts differ from their golden file (look, then `cargo xtask bless`):\n{}",
        differing.join("\n")
    );
}
