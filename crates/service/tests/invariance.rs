//! Findings do not depend on what functions are called, nor on how ranks are numbered; and none
//! saves more than the time that it rests on.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parallax_base::{Folder, MemoryFolder};
use parallax_service::analysis::report::{Finding, FindingKind, Report};
use parallax_service::{Control, OpenLimits, open};
use parallax_testkit::needs::{self, Without};

/// Files of a database, by name.
type Files = BTreeMap<String, Vec<u8>>;

/// Larger ones take too long in a build for tests; what is said about them has tests of its own.
const MOST_BYTES: usize = 32 << 20;

/// The databases of the repository and the corpus.
fn databases() -> Vec<(String, Files)> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut folders = vec![fixtures];
    if let Some(corpus) = needs::corpus_of(Without::Part) {
        folders.extend(["data/hpctoolkit", "data/reactor"].map(|folder| corpus.join(folder)));
    }
    let mut out = Vec::new();
    while let Some(folder) = folders.pop() {
        if folder.join("meta.db").is_file() && folder.join("profile.db").is_file() {
            let files = ["meta.db", "profile.db", "cct.db", "trace.db", "metrics/default.yaml"];
            let read = |name: &str| Some((name.to_owned(), std::fs::read(folder.join(name)).ok()?));
            let files: Files = files.into_iter().filter_map(read).collect();
            if files.values().map(Vec::len).sum::<usize>() <= MOST_BYTES {
                out.push((folder.display().to_string(), files));
            }
            continue;
        }
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let inner: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        folders.extend(inner.into_iter().filter(|path| path.is_dir()));
    }
    out.sort();
    out
}

/// What is found; nothing where the database cannot be read, as some of the corpus.
fn diagnosed(files: &Files) -> Option<Report> {
    let files = files.iter().map(|(name, bytes)| (name.clone(), bytes.clone()));
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("database", files));
    let opened = open(&folder, &OpenLimits::default()).ok()?;
    Some(opened.diagnose(None, &Control::default()).ok()?.value)
}

fn u64_at(bytes: &[u8], at: usize) -> usize {
    usize::try_from(u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())).unwrap()
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn u16_at(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap()))
}

/// Where a section of a file of HPCToolkit begins; they are listed after the first 16 bytes.
fn section(bytes: &[u8], number: usize) -> usize {
    u64_at(bytes, 16 + 16 * number + 8)
}

fn text_at(bytes: &[u8], at: usize) -> &str {
    let end = bytes[at..].iter().position(|byte| *byte == 0).unwrap();
    std::str::from_utf8(&bytes[at..at + end]).unwrap_or_default()
}

/// The file name of a path.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// `meta.db` with other names for the functions of the program itself; how many were renamed. Names
/// that say the class of a function stay, and so does what a compiler adds to a name.
fn renamed(meta: &[u8]) -> (Vec<u8>, usize) {
    // The runtimes of CUDA and HIP can be linked into the program.
    const KEPT: [&str; 10] =
        ["main", "MAIN", "MPI_", "mpi_", "omp_set", "_start", "<", "GOMP", "cu", "hip"];
    let mut out = meta.to_vec();
    let program = text_at(meta, u64_at(meta, section(meta, 0)));
    let functions = section(meta, 7);
    let (first, size) = (u64_at(meta, functions), u16_at(meta, functions + 12));
    let mut done = BTreeSet::new();
    for number in 0..u32_at(meta, functions + 8) as usize {
        let function = first + number * size;
        let (name, module) = (u64_at(meta, function), u64_at(meta, function + 8));
        let is_own = module != 0 && file_name(text_at(meta, u64_at(meta, module + 8))) == program;
        if name == 0 || !is_own || !done.insert(name) {
            continue;
        }
        let text = text_at(meta, name);
        let end = ["._omp_fn", " [", "@plt"].iter().filter_map(|added| text.find(added)).min();
        let own = &text[..end.unwrap_or(text.len())];
        if KEPT.iter().any(|kept| own.contains(kept)) {
            done.remove(&name);
            continue;
        }
        for byte in &mut out[name..name + own.len()] {
            if byte.is_ascii_lowercase() {
                *byte = b'z' - (*byte - b'a');
            }
        }
    }
    (out, done.len())
}

/// `profile.db` with ranks numbered the other way round; how many ranks there are.
fn reversed(meta: &[u8], profile: &[u8]) -> (Vec<u8>, u32) {
    let names = section(meta, 1);
    let kind = |number: usize| text_at(meta, u64_at(meta, u64_at(meta, names) + 8 * number));
    let rank = (0..usize::from(meta[names + 8])).find(|number| kind(*number) == "RANK");
    let infos = section(profile, 0);
    let (first, count) = (u64_at(profile, infos), u32_at(profile, infos + 8) as usize);
    let size = usize::from(profile[infos + 12]);
    // Where each rank is written: its logical number, the physical one follows.
    let mut places = BTreeSet::new();
    for number in 0..count {
        let tuple = u64_at(profile, first + number * size + 32);
        if tuple == 0 {
            continue;
        }
        for member in 0..u16_at(profile, tuple) {
            let at = tuple + 8 + 16 * member;
            if Some(usize::from(profile[at])) == rank {
                places.insert(at + 4);
            }
        }
    }
    let last = places.iter().map(|&at| u32_at(profile, at)).max().unwrap_or(0);
    let mut out = profile.to_vec();
    for at in places {
        let number = last - u32_at(profile, at);
        out[at..at + 4].copy_from_slice(&number.to_le_bytes());
        out[at + 4..at + 12].copy_from_slice(&u64::from(number).to_le_bytes());
    }
    (out, last + 1)
}

/// A bound whose value depends on the order of locations.
const BOUND: &str = "probability by chance";

/// What of findings must stay: what they are about, and all numbers.
fn numbers(report: &Report) -> Vec<(FindingKind, f64, Vec<f64>)> {
    let of = |finding: &Finding| {
        let values = finding.evidence.iter().filter(|one| one.what != BOUND);
        let values = values.map(|one| one.value).collect();
        (finding.kind, finding.percent, values)
    };
    report.findings.iter().map(of).collect()
}

fn assert_same(before: &Report, after: &Report, what: &str) {
    let (a, b) = (numbers(before), numbers(after));
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1e-6);
    let is_same = a.len() == b.len()
        && a.iter().zip(&b).all(|(a, b)| {
            a.0 == b.0
                && near(a.1, b.1)
                && a.2.len() == b.2.len()
                && a.2.iter().zip(&b.2).all(|(a, b)| near(*a, *b))
        });
    let texts = |report: &Report| -> Vec<String> {
        let of = |finding: &Finding| format!("{} {:?}", finding.text, finding.evidence);
        report.findings.iter().map(of).collect()
    };
    assert!(is_same, "{what}: {:#?} became {:#?}", texts(before), texts(after));
}

#[test]
fn findings_stay_when_functions_are_renamed() {
    let mut compared = 0;
    for (path, files) in databases() {
        let Some(before) = diagnosed(&files) else { continue };
        let (meta, number) = renamed(&files["meta.db"]);
        if number < 2 {
            continue;
        }
        let mut other = files.clone();
        other.insert("meta.db".into(), meta);
        assert_same(&before, &diagnosed(&other).unwrap(), &path);
        compared += 1;
    }
    assert!(compared >= 10, "only {compared} databases were compared");
}

#[test]
fn findings_stay_when_ranks_are_numbered_the_other_way_round() {
    let mut compared = 0;
    for (path, files) in databases() {
        let (profile, ranks) = reversed(&files["meta.db"], &files["profile.db"]);
        if ranks < 2 {
            continue;
        }
        let Some(before) = diagnosed(&files) else { continue };
        let mut other = files.clone();
        other.insert("profile.db".into(), profile);
        assert_same(&before, &diagnosed(&other).unwrap(), &path);
        compared += 1;
    }
    assert!(compared >= 8, "only {compared} databases were compared");
}

#[test]
fn no_finding_saves_more_than_the_time_it_rests_on() {
    let mut savings = 0;
    for (path, files) in databases() {
        let Some(report) = diagnosed(&files) else { continue };
        for finding in &report.findings {
            let what = format!("{path}: {} {:?}", finding.text, finding.evidence);
            assert!((0.0..=100.0).contains(&finding.percent), "{what}");
            let number = |name: &str| {
                finding.evidence.iter().find(|one| one.what == name).map(|one| one.value)
            };
            // A member cannot save more than it spends, an iteration not more than its length.
            let spent = match finding.kind {
                FindingKind::Iterations => {
                    number("iterations").zip(number("period")).map(|(count, each)| count * each)
                }
                FindingKind::IdleGpu => number("time of GPUs"),
                FindingKind::Waiting => number("time of all locations"),
                _ => {
                    let values = finding.evidence.iter().filter(|one| {
                        one.unit == report.unit.to_string() && !one.what.contains("saving")
                    });
                    values.map(|one| one.value).reduce(f64::max)
                }
            };
            let saved = finding.evidence.iter().filter(|one| one.what.contains("saving"));
            for saving in saved {
                let spent = spent.unwrap_or_else(|| panic!("rests on nothing: {what}"));
                assert!(saving.value >= 0.0 && saving.value <= spent * (1.0 + 1e-9), "{what}");
                savings += 1;
            }
        }
    }
    assert!(savings >= 8, "only {savings} savings were compared");
}
