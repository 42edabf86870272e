//! What a folder holds, by the bytes of its files.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::fmt::Write as _;
use std::sync::Arc;

use parallax_base::{
    Folder, FolderEntry, Limits, MemoryFolder, NotListed, ReadError, Source, Survey,
};
use parallax_import::{DataContent, FORMATS, FoundData, Reason, find, open, recognise_file};
use proptest::prelude::{ProptestConfig, any, prop_assert, proptest};

const META: &[u8] = b"HPCTOOLKITmeta\x04\0";
const PROFILE: &[u8] = b"HPCTOOLKITprof\x04\0";
const TAU: &[u8] = b"1 templated_functions_MULTI_TIME\n";
const CHROME: &[u8] = br#"{"traceEvents": [{"ph": "X", "ts": 1, "dur": 2, "pid": 1, "tid": 1}]}"#;
const ANCHOR: &[u8] = b"\x03BOTF2\0";
const TABLE: &[u8] = b"cores,input,time\n1,a,4.0\n2,a,2.0\n";
const MANIFEST: &[u8] = b"ARROW1\0\0archive-version";

fn folder(files: &[(&str, &[u8])]) -> Arc<dyn Folder> {
    let files = files.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec()));
    Arc::new(MemoryFolder::new("dropped", files))
}

/// Data sets and what is not used, a line each.
fn shown(found: &FoundData) -> String {
    let mut out = String::new();
    for data in &found.data {
        let what = match &data.content {
            DataContent::File(_) => "file",
            DataContent::Folder { .. } => "folder",
            DataContent::Trace(_) => "trace",
        };
        writeln!(out, "{}: {} ({what})", data.name, data.format.name).unwrap();
    }
    for file in &found.not_used {
        writeln!(out, "{} {}", file.path, file.reason).unwrap();
    }
    out
}

fn found(files: &[(&str, &[u8])]) -> String {
    shown(&find(&folder(files)).unwrap())
}

#[test]
fn databases_measurements_and_the_rest_are_distinguished() {
    let pascal =
        br#"{"config":{"data_descriptor":{"keys":["cores","input","repetitions"]}},"data":{}}"#;
    let files: &[(&str, &[u8])] = &[
        ("runs/p1/meta.db", META),
        ("runs/p1/src/a.json", b"{}"),
        ("runs/p2/profile.db", PROFILE),
        ("a.json", pascal),
        ("notes.txt", b"hello"),
    ];
    assert_eq!(
        found(files),
        "runs/p1: HPCToolkit database (folder)\n\
         runs/p2: HPCToolkit database (folder)\n\
         a.json: PaScal Analyzer (file)\n\
         notes.txt is of no known format\n"
    );
}

#[test]
fn a_name_without_the_bytes_is_no_database() {
    let files: &[(&str, &[u8])] = &[
        ("a/meta.db", b""),
        ("b/profile.db", b"something else"),
        ("c/profile.0.0.0", b"no profile"),
        ("d/manifest.arrow", b"ARROW1 of another program"),
        ("e/callgrind.out.1", b"hello"),
    ];
    assert_eq!(
        found(files),
        "a/meta.db is empty\n\
         b/profile.db is of no known format\n\
         c/profile.0.0.0 is of no known format\n\
         d/manifest.arrow is of no known format\n\
         e/callgrind.out.1 is of no known format\n"
    );
}

#[test]
fn bytes_without_the_name_are_a_database() {
    let files: &[(&str, &[u8])] = &[("run/a.bin", META), ("run/b.bin", PROFILE)];
    assert_eq!(found(files), "run: HPCToolkit database (folder)\n");
}

#[test]
fn of_too_many_files_the_nearest_are_looked_at_and_the_rest_is_said() {
    let mut files: Vec<(String, Vec<u8>)> =
        (0..2_007).map(|at| (format!("a/b/{at}.txt"), b"x".to_vec())).collect();
    files.push(("z.csv".to_owned(), TABLE.to_vec()));
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("home", files));
    let found = find(&folder).unwrap();
    let names: Vec<&str> = found.data.iter().map(|data| &*data.name).collect();
    assert_eq!((names, found.num_unread), (vec!["z.csv"], 8));
    assert!(
        found.notes().next().unwrap().starts_with("8 files in deeper folders were not examined")
    );
}

/// A folder of one table, which cannot look into some of its folders.
struct Closed {
    inner: MemoryFolder,
    num_closed: usize,
}

impl Folder for Closed {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError> {
        self.inner.entries()
    }

    fn survey(&self) -> Result<Survey, ReadError> {
        let closed = |at: usize| NotListed { path: format!("p{at}"), why: "is closed".into() };
        let not_listed = (0..self.num_closed).map(closed).collect();
        Ok(Survey { not_listed, ..self.inner.survey()? })
    }

    fn open(&self, path: &str) -> Result<Option<Source>, ReadError> {
        self.inner.open(path)
    }
}

#[test]
fn folders_that_cannot_be_looked_into_are_said() {
    let notes = |num_closed: usize| -> Vec<String> {
        let inner = MemoryFolder::new("home", [("z.csv".to_owned(), TABLE.to_vec())]);
        let folder: Arc<dyn Folder> = Arc::new(Closed { inner, num_closed });
        find(&folder).unwrap().notes().collect()
    };
    assert!(notes(0).is_empty());
    assert_eq!(notes(1), ["the folder p0 is closed; its files were not examined"]);
    assert_eq!(notes(5).len(), 5);
    let many = notes(9);
    assert_eq!(many.len(), 6);
    assert_eq!(many[5], "4 more folders were not examined");
}

#[test]
fn traces_and_archives_are_found_with_their_files() {
    let files: &[(&str, &[u8])] = &[
        ("a/manifest.arrow", MANIFEST),
        ("a/tracks.arrow", b"ARROW1"),
        ("b.json", CHROME),
        ("c/traces.otf2", ANCHOR),
        ("c/traces.def", b"x"),
        ("c/traces/0.evt", b"x"),
    ];
    assert_eq!(
        found(files),
        "a: Parallax archive (folder)\n\
         b.json: Chrome trace events, Kineto JSON (trace)\n\
         c/traces.otf2: OTF2 trace (trace)\n"
    );
    let all = find(&folder(files)).unwrap();
    let paths: Vec<String> =
        all.data[2].files().unwrap().into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["c/traces.def", "c/traces.otf2", "c/traces/0.evt"]);
}

#[test]
fn parts_without_their_anchor_are_named() {
    let files: &[(&str, &[u8])] = &[("traces.def", b"x"), ("traces/0.evt", b"x")];
    let shown = found(files);
    for path in ["traces.def", "traces/0.evt"] {
        let wanted = format!("{path} is named as a part of the format OTF2 trace");
        assert!(shown.contains(&wanted), "{shown}");
    }
}

#[test]
fn a_folder_that_is_a_database_has_the_name_of_the_folder() {
    let files: &[(&str, &[u8])] = &[("meta.db", META), ("src/a.json", b"{}")];
    assert_eq!(found(files), "dropped: HPCToolkit database (folder)\n");
}

#[test]
fn folders_of_tau_profiles_are_found_once_whatever_they_measured() {
    let files: &[(&str, &[u8])] = &[
        ("p4/profile.0.0.0", TAU),
        ("p4/profile.1.0.0", TAU),
        ("p4/notes.txt", b"x"),
        ("papi/MULTI__TIME/profile.0.0.0", TAU),
        ("papi/MULTI__PAPI_TOT_CYC/profile.0.0.0", TAU),
        ("merged.json", br#"{"Workflow metadata": {}}"#),
        ("profile.txt", b"x"),
    ];
    assert_eq!(
        found(files),
        "p4: TAU profiles (folder)\n\
         papi: TAU profiles (folder)\n\
         merged.json: TAU workflow profile (file)\n\
         p4/notes.txt is of no known format\n\
         profile.txt is of no known format\n"
    );
}

#[test]
fn profiles_of_callgrind_in_a_folder_are_one_experiment_for_each_program() {
    fn profile(command: &str, process: u32) -> Vec<u8> {
        let head = format!("# callgrind format\npid: {process}\ncmd: {command}");
        format!("{head}\nevents: Ir\nfn=main\n1 2\n").into_bytes()
    }
    let (orbit, second) = (profile("./orbit", 7), profile("./orbit", 8));
    let other = profile("./other", 9);
    let one: &[(&str, &[u8])] = &[
        ("run/callgrind.out.1-01", &orbit),
        ("run/callgrind.out.1-02", &orbit),
        ("run/orbit.c", b"int main;"),
        ("single/callgrind.out.7", &orbit),
    ];
    assert_eq!(
        found(one),
        "run: Callgrind, Cachegrind (folder)\n\
         single/callgrind.out.7: Callgrind, Cachegrind (file)\n"
    );
    let two: &[(&str, &[u8])] = &[("a.1", &orbit), ("a.2", &second), ("b.1", &other)];
    let found = find(&folder(two)).unwrap();
    assert_eq!(
        shown(&found),
        "a.1 and 1 more: Callgrind, Cachegrind (folder)\n\
         b.1: Callgrind, Cachegrind (file)\n"
    );
    let opened = found.data[0].open(&Limits::default()).unwrap();
    assert_eq!(opened.locations.len(), 2);
    // A file that was named is that file.
    let named = recognise_file(&folder(two), "a.1").unwrap();
    assert!(matches!(named.content, DataContent::File(_)));
}

#[test]
fn formats_that_are_not_read_are_named() {
    let mut cube = vec![0_u8; 512];
    cube[..10].copy_from_slice(b"anchor.xml");
    cube[257..262].copy_from_slice(b"ustar");
    let files: &[(&str, &[u8])] = &[
        ("profile.cubex", &cube),
        ("gmon.out", b"gmon\x01\0\0\0"),
        ("perf.data", b"PERFILE2xxxxxxxx"),
        ("old/experiment.xml", b"<?xml version=\"1.0\"?><HPCToolkitExperiment version=\"2.2\">"),
    ];
    let found = find(&folder(files)).unwrap();
    assert!(found.data.is_empty());
    let all = shown(&found);
    for what in [
        "profile.cubex is a CUBE file of Score-P or Scalasca, a format that is recognised but not",
        "gmon.out is a gmon.out file of gprof",
        "perf.data is a perf.data file of Linux perf",
        "old/experiment.xml is an HPCToolkit experiment.xml",
    ] {
        assert!(all.contains(what), "{all}");
    }
}

#[test]
fn the_error_about_a_file_is_about_that_file() {
    let files: &[(&str, &[u8])] =
        &[("empty.json", b""), ("notes.txt", b"hello"), ("other.txt", b"hello")];
    let all = folder(files);
    let message = |path| recognise_file(&all, path).err().unwrap().to_string();
    assert_eq!(
        message("empty.json"),
        "nothing to open in empty.json: empty.json is empty; the measurement or the copy was not \
         completed"
    );
    let text = message("notes.txt");
    assert!(text.contains("notes.txt is of no known format"), "{text}");
    assert!(text.contains("HPCToolkit, TAU, Callgrind") && !text.contains("other.txt"), "{text}");
}

#[test]
fn many_files_of_a_format_that_is_not_read_are_named_together() {
    let head: &[u8] = b"gmon\x01\0\0\0";
    let files: Vec<(String, Vec<u8>)> =
        (0..8).map(|at| (format!("r{at}.out"), head.to_vec())).collect();
    let all: Arc<dyn Folder> = Arc::new(MemoryFolder::new("runs", files));
    let error = open(&all, &Limits::default()).err().unwrap().to_string();
    assert_eq!(
        error,
        "nothing to open in runs: r0.out, r1.out, r2.out, r3.out, r4.out, and 3 more: each is a \
         gmon.out file of gprof, a format that is recognised but not read; measure with hpcrun of \
         HPCToolkit or with Callgrind instead"
    );
}

#[test]
fn a_folder_opens_as_its_only_experiment_or_names_several() {
    let orbit = b"events: Ir\nfn=main\n1 2\n";
    let one: &[(&str, &[u8])] = &[("deep/callgrind.out.1", orbit), ("notes.txt", b"x")];
    assert!(open(&folder(one), &Limits::default()).is_ok());
    let two: &[(&str, &[u8])] = &[("a/callgrind.out.1", orbit), ("b/callgrind.out.1", orbit)];
    let error = open(&folder(two), &Limits::default()).err().unwrap().to_string();
    assert_eq!(
        error,
        "dropped holds 2 experiments; name one of them: dropped/a/callgrind.out.1, \
         dropped/b/callgrind.out.1"
    );
    let tables: &[(&str, &[u8])] = &[("z.csv", TABLE)];
    let error = open(&folder(tables), &Limits::default()).err().unwrap().to_string();
    assert!(error.contains("measurements of several executions"), "{error}");
}

#[test]
fn an_empty_meta_db_is_named_where_the_rest_of_the_database_is_there() {
    let files: &[(&str, &[u8])] = &[("meta.db", b""), ("profile.db", PROFILE)];
    let error = open(&folder(files), &Limits::default()).err().unwrap().to_string();
    assert!(error.contains("its meta.db is empty; copy the whole database folder"), "{error}");
    let files: &[(&str, &[u8])] = &[("profile.db", PROFILE)];
    let error = open(&folder(files), &Limits::default()).err().unwrap().to_string();
    assert!(error.contains("no meta.db; copy the whole database folder"), "{error}");
}

#[test]
fn a_reason_is_no_longer_than_what_the_file_is() {
    // Foreign bytes of every length are unknown and never a panic.
    for length in 0..300_usize {
        let bytes: Vec<u8> = (0..length).map(|at| (at * 37 % 251) as u8).collect();
        let found = find(&folder(&[("x", &bytes)])).unwrap();
        let wanted = if length == 0 { Reason::Empty } else { Reason::Unknown };
        assert_eq!(found.not_used[0].reason, wanted, "{length}");
    }
}

#[test]
fn rows_have_what_texts_show() {
    for format in FORMATS {
        assert!(!format.name.is_empty() && !format.family.is_empty(), "{}", format.name);
        assert!(!format.versions.is_empty() && !format.state.is_empty(), "{}", format.name);
    }
}

/// Beginnings of files of many formats, and of none.
const HEADS: [&[u8]; 12] = [
    META,
    PROFILE,
    TAU,
    CHROME,
    ANCHOR,
    TABLE,
    MANIFEST,
    b"# callgrind format\ncmd: ./a\nevents: Ir\n",
    b"# callgrind format\ncmd: ./b\nevents: Ir\n",
    b"SQLite format 3\0",
    b"__rec=node",
    b"",
];

const PATHS: [&str; 12] = [
    "meta.db",
    "a/meta.db",
    "a/profile.db",
    "a/src/x.txt",
    "profile.0.0.0",
    "b/MULTI__TIME/profile.1.0.0",
    "b/callgrind.out.1",
    "b/callgrind.out.2",
    "traces.otf2",
    "traces.def",
    "traces/0.evt",
    "c/manifest.arrow",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever files lie together: each is in a data set, or is not used for a reason, and never both.
    #[test]
    fn every_file_is_accounted_for(
        files in proptest::collection::btree_map(
            proptest::sample::select(&PATHS[..]),
            (proptest::sample::select(&HEADS[..]), proptest::collection::vec(any::<u8>(), 0..40)),
            1..9,
        )
    ) {
        let files: Vec<(String, Vec<u8>)> = files
            .into_iter()
            .map(|(path, (head, rest))| (path.to_owned(), [head, &rest].concat()))
            .collect();
        let paths: Vec<String> = files.iter().map(|(path, _)| path.clone()).collect();
        let all: Arc<dyn Folder> = Arc::new(MemoryFolder::new("drawn", files));
        let found = find(&all).unwrap();
        let mut used: Vec<String> = Vec::new();
        for data in &found.data {
            used.extend(data.files().unwrap().into_iter().map(|(path, _)| path));
            let _ = data.open(&Limits::default());
        }
        for path in paths {
            let is_excluded = found.not_used.iter().any(|file| file.path == path);
            prop_assert!(used.contains(&path) != is_excluded, "{path}: {}", shown(&found));
        }
    }
}
