//! Writes the seeds of the HPCToolkit targets (small databases made up at random, in both layouts),
//! those of `archive` (each table of a sound one), `convert`, `sqlite`, `parceive`, `plxm`,
//! `callgrind`, and small inputs of the shapes that once took too much time or memory.
//!
//! The same seeds on every machine; run again after a change of the writer.

use std::fs;
use std::path::Path;

#[path = "../../../crates/import/tests/archives/mod.rs"]
mod archives;
mod shapes;

use parallax_testkit::hpctoolkit::{Layout, WriteOptions, arbitrary};
use parallax_testkit::json_trace::{JsonTrace, Style};
use parallax_testkit::nsight;
use parallax_testkit::parceive::{Program, Schema};
use parallax_testkit::sqlite;
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
    fs::write(folder.join("nsight"), nsight::small())?;
    let small = |schema| {
        let program = Program { schema, threads: 2, rounds: 1, depth: 2, inner: 2, accesses: 2 };
        // Each table takes a page at least.
        sqlite::bytes(|connection| {
            connection.execute_batch("PRAGMA page_size = 512")?;
            program.write(connection).map(|_| ())
        })
    };
    let plain = "PRAGMA page_size = 512; CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b REAL);
        CREATE INDEX i ON t (a); INSERT INTO t VALUES (1, 'x', 1.5), (7, hex(zeroblob(600)), NULL);";
    for target in ["sqlite", "parceive"] {
        let folder = seeds.join(target);
        fs::create_dir_all(&folder)?;
        for (number, schema) in [Schema::Y2015, Schema::Y2016].into_iter().enumerate() {
            fs::write(folder.join(format!("{number:02}")), small(schema))?;
        }
    }
    fs::write(seeds.join("sqlite/02"), sqlite::of_sql(plain))?;
    let folder = seeds.join("plxm");
    fs::create_dir_all(&folder)?;
    let real = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/measured");
    fs::copy(real.join("image.plxm"), folder.join("00"))?;
    let folder = seeds.join("callgrind");
    fs::create_dir_all(&folder)?;
    let real = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/callgrind");
    fs::copy(real.join("callgrind.out.orbit-02"), folder.join("00"))?;
    let cachegrind = "desc: I1 cache: 32768 B, 64 B, 8-way\ncmd: ./a\nevents: Ir I1mr\nfl=a.c\nfn=main\n3 7 1\n4 9 0\nsummary: 16 1\n";
    fs::write(folder.join("01"), cachegrind)?;
    shapes::write(&seeds)
}
