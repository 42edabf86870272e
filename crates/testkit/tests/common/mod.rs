//! The independent validator of the corpus, as a judge of what this crate writes.

use std::path::{Path, PathBuf};
use std::process::Command;

use parallax_testkit::needs::{self, Without};
use serde_json::Value;

const SCRIPT: &str = "
import sys, json
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import v4check
for d in sys.argv[2:]:
    r = v4check.load(d)
    print(json.dumps(dict(
        transposed=r['transposed_ok'], checked=r['summary_check'][0], bad=r['summary_check'][1],
        warnings=[w for w in r['warn'] if not w.startswith('unknown ctx')],
        unknown=len(r['warn']), contexts=len(r['ctx']), profiles=r['nprof'],
        values=sum(p['nv'] for p in r['profs']), samples=r.get('nsamp'))))
";

/// The folder of the validator; without the corpus the test is skipped.
fn tools() -> Option<PathBuf> {
    let script = needs::corpus_path("tools/v4check.py")?;
    script.parent().map(Path::to_path_buf)
}

/// What the validator says of each database; without Python or the validator the test is skipped.
#[expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
pub(crate) fn validate(databases: &[PathBuf]) -> Option<Vec<Value>> {
    let tools = tools()?;
    if !needs::program("python3", Without::Test) {
        return None;
    }
    let output =
        Command::new("python3").args(["-c", SCRIPT]).arg(tools).args(databases).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the validator refuses: {errors}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let verdicts: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(verdicts.len(), databases.len());
    for (verdict, path) in verdicts.iter().zip(databases) {
        assert_eq!(verdict["transposed"], true, "{path:?}: {verdict}");
        assert_eq!(verdict["bad"], 0, "{path:?}: {verdict}");
        assert_eq!(verdict["warnings"], Value::Array(vec![]), "{path:?}: {verdict}");
    }
    Some(verdicts)
}
