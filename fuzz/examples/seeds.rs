//! Writes the seeds of the HPCToolkit and TAU targets: small databases and profiles made up at random.
//!
//! The same seeds on every machine; run again after a change of the writer.

use std::fs;
use std::path::Path;

use parallax_testkit::hpctoolkit::{Layout, WriteOptions, arbitrary};
use parallax_testkit::tau;
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;

fn main() -> std::io::Result<()> {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    let mut runner = TestRunner::deterministic();
    for number in 0..8 {
        let Ok(database) = arbitrary::database().new_tree(&mut runner) else { continue };
        let layout = if number % 4 == 3 { Layout::Draft } else { Layout::Final };
        let options = WriteOptions { layout, elide_instructions: number % 2 == 0, traces: true };
        let files = database.current().to_files(&options);
        for (target, file) in [
            ("hpctoolkit_meta", "meta.db"),
            ("hpctoolkit_profile", "profile.db"),
            ("hpctoolkit_cct", "cct.db"),
            ("hpctoolkit_trace", "trace.db"),
            ("hpctoolkit_taxonomy", "metrics/default.yaml"),
        ] {
            let folder = seeds.join(target);
            fs::create_dir_all(&folder)?;
            fs::write(folder.join(format!("{number:02}")), files.get(file))?;
        }
    }
    for number in 0..4 {
        let Ok(profiles) = tau::profiles().new_tree(&mut runner) else { continue };
        let Ok(records) = tau::trace().new_tree(&mut runner) else { continue };
        let profiles = profiles.current();
        let version =
            if number == 0 { tau::PackedVersion::One } else { tau::PackedVersion::Two };
        let layout = tau::Layout { wide: number % 2 == 1, big_endian: number > 1 };
        let mut trace = DEFINITIONS.as_bytes().to_vec();
        trace.extend(tau::to_trace(&records.current(), layout));
        let text = tau::to_text(&profiles, 0).pop().map(|(_, text)| text).unwrap_or_default();
        for (target, bytes) in [
            ("tau_packed", tau::to_packed(&profiles, version)),
            ("tau_profile", text.into_bytes()),
            ("tau_trace", trace),
            ("tau_workflow", WORKFLOW.as_bytes().to_vec()),
        ] {
            let folder = seeds.join(target);
            fs::create_dir_all(&folder)?;
            fs::write(folder.join(format!("{number:02}")), bytes)?;
        }
    }
    Ok(())
}

const DEFINITIONS: &str = "3 dynamic_trace_events\n# Id Group Tag \"Name Type\" Parameters\n\
    1 MPI 0 \"MPI_Send() \" EntryExit\n2 TAUEVENT 0 \"Bytes\" TriggerValue\n\
    3 TAU_MESSAGE -7 \"MESSAGE_SEND\" par\n=\n";

const WORKFLOW: &str = r#"{"Workflow metadata": {"Dependency Graph": {"b": ["a"]}}, "a": {
"metadata": {"Rank 0, Thread 0": {"pid": "7"}}, "Timers": [{"process index": 0, "thread index": 0,
"Function": "main", "Calls": 1, "Subroutines": 0, "Exclusive Time": 5, "Inclusive Time": 6}],
"Counters": [{"process index": 0, "thread index": 0, "Counter": "Bytes", "Num Events": 2,
"Max Value": 8.0, "Min Value": 4.0, "Mean Value": 6.0, "SumSqr Value": 80.0}]}, "b": {}}"#;
