//! Writes the seeds of the HPCToolkit targets (small databases made up at random, in both layouts),
//! those of `archive` (each table of a sound one) and those of `convert`.
//!
//! The same seeds on every machine; run again after a change of the writer.

use std::fs;
use std::path::Path;

#[path = "../../crates/import/tests/archives/mod.rs"]
mod archives;

use parallax_testkit::hpctoolkit::{Layout, WriteOptions, arbitrary};
use parallax_testkit::json_trace::{JsonTrace, Style};
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
    let folder = seeds.join("archive");
    fs::create_dir_all(&folder)?;
    for (number, (_, bytes)) in (0_u8..).zip(archives::files(parallax_fuzz::STEPS)) {
        let seed: Vec<u8> = [number].into_iter().chain(bytes).collect();
        fs::write(folder.join(format!("{number:02}")), seed)?;
    }
    let folder = seeds.join("convert");
    fs::create_dir_all(&folder)?;
    let styles = [Style::Tau, Style::Codar, Style::Chrome, Style::Kineto];
    for (number, style) in styles.into_iter().enumerate() {
        fs::write(folder.join(format!("{number:02}")), JsonTrace::new(style, 2, 3).text().0)?;
    }
    Ok(())
}
