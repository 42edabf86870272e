//! TAU's files: real ones against what a second reader found in them, written ones against what
//! was written, damaged ones against panics and hostile counts.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod scaling;

use std::path::Path;

use parallax_base::{Issues, Limits, MemoryFolder, MemorySource};
use parallax_formats::FormatError;
use parallax_formats::tau::{
    Definitions, Message, Profiles, ThreadId, Trace, TraceEvent, fact, find_profiles, is_packed,
    read_folder, read_packed, read_profile,
};
use parallax_testkit::tau as write;
use proptest::prelude::*;
use scaling::{Rng, corpus, gzip, has_issue, kinds};

fn packed(bytes: &[u8]) -> Result<(Profiles, Issues), FormatError> {
    let mut issues = Issues::new();
    let source = MemorySource::new(bytes);
    let read = read_packed(&source, "a.ppk", &Limits::default(), &mut issues)?;
    Ok((read, issues))
}

fn folder_of(path: &Path) -> MemoryFolder {
    let mut files = Vec::new();
    let mut open = vec![(String::new(), path.to_owned())];
    while let Some((prefix, folder)) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
            if entry.path().is_dir() {
                open.push((format!("{name}/"), entry.path()));
            } else {
                files.push((name, std::fs::read(entry.path()).unwrap()));
            }
        }
    }
    MemoryFolder::new("profiles", files)
}

fn text(folder: &MemoryFolder) -> (Profiles, Issues) {
    let mut issues = Issues::new();
    let read = read_folder(folder, &Limits::default(), &mut issues).unwrap();
    (read, issues)
}

/// What a reader in Python found: threads, timers, user events, rows of timers, rows of user
/// events, facts; the sums of exclusive values, of calls and of how often user events happened.
type Expected = (&'static str, [usize; 6], f64, f64, f64);

const PACKED: [Expected; 18] = [
    ("GROMACS.MN.32.ppk", [32, 643, 5, 9948, 100, 27], 2_931_777_290.0, 60_165_543.0, 74_744.0),
    (
        "LoadImbalance-128.ppk",
        [128, 639, 5, 37_717, 409, 24],
        4_583_729_763.0,
        198_443_089.0,
        385_115.0,
    ),
    ("LoadImbalance-16.ppk", [16, 645, 5, 5113, 50, 29], 2_495_878_655.0, 35_577_087.0, 37_406.0),
    ("LoadImbalance-2.ppk", [2, 598, 5, 1003, 9, 32], 1_276_601_802.0, 14_452_994.0, 7_767.0),
    (
        "LoadImbalance-256.ppk",
        [256, 640, 5, 78_338, 822, 26],
        9_291_697_950.0,
        393_005_939.0,
        611_130.0,
    ),
    ("LoadImbalance-32.ppk", [32, 643, 5, 9948, 100, 27], 2_931_777_290.0, 60_165_543.0, 74_744.0),
    ("LoadImbalance-4.ppk", [4, 612, 5, 1854, 17, 32], 1_410_445_449.0, 19_891_132.0, 16_004.0),
    (
        "LoadImbalance-64.ppk",
        [64, 639, 5, 20_778, 207, 24],
        3_511_998_283.0,
        119_808_913.0,
        148_095.0,
    ),
    ("LoadImbalance-8.ppk", [8, 613, 5, 3511, 33, 26], 1_594_166_605.0, 30_637_591.0, 31_908.0),
    ("StackedBarChart-2.ppk", [2, 10, 3, 20, 6, 21], 4_295_555.0, 34.0, 20.0),
    ("StackedBarChart-4.ppk", [4, 10, 3, 40, 12, 21], 8_209_781.0, 68.0, 40.0),
    ("StackedBarChart-6.ppk", [6, 10, 3, 60, 18, 21], 12_461_865.0, 102.0, 60.0),
    ("StackedBarChart-8.ppk", [8, 10, 3, 80, 24, 21], 16_574_173.0, 136.0, 80.0),
    (
        "justtime.ppk",
        [16, 4678, 12_885, 74_848, 38_768, 29],
        2_951_964_479.0,
        10_271_408.0,
        309_296.0,
    ),
    ("matmult.ppk", [24, 51, 0, 694, 0, 133], 196_789_872.0, 25_598.0, 0.0),
    ("papi_tot_iis.ppk", [1, 1837, 0, 1837, 0, 56], 3_045_665_136_773.0, 1_815_424_316.0, 0.0),
    ("phases.ppk", [1, 1512, 0, 1512, 0, 37], 30_449.0, 3_505.0, 0.0),
    ("wrf.ppk", [16, 1139, 4, 17_544, 34, 24], 14_816_079_585.0, 75_483_790.0, 128_788.0),
];

#[test]
fn packed_profiles_hold_what_another_reader_finds() {
    let Some(corpus) = corpus() else { return };
    for (file, counts, exclusive, calls, happened) in PACKED {
        let bytes = std::fs::read(corpus.join("data/tau/ppk").join(file)).unwrap();
        assert!(is_packed(&MemorySource::new(bytes.clone())), "{file}");
        let (read, issues) = packed(&bytes).unwrap();
        assert!(issues.is_empty(), "{file}: {issues:?}");
        let rows: usize = read.threads.iter().map(|thread| thread.timers.len()).sum();
        let events: usize = read.threads.iter().map(|thread| thread.events.len()).sum();
        let (timers, names) = (read.timers.len(), read.events.len());
        let found = [read.threads.len(), timers, names, rows, events, read.metadata.len()];
        assert_eq!(found, counts, "{file}");
        let sums = read.threads.iter().fold([0.0; 3], |[a, b, c], thread| {
            [
                a + thread.values.iter().step_by(2).sum::<f64>(),
                b + thread.timers.iter().map(|row| row.calls).sum::<f64>(),
                c + thread.events.iter().map(|row| row.count).sum::<f64>(),
            ]
        });
        for (sum, expected) in sums.into_iter().zip([exclusive, calls, happened]) {
            assert!((sum - expected).abs() <= expected * 1e-12, "{file}: {sum} {expected}");
        }
    }
}

#[test]
fn groups_metadata_and_values_of_a_packed_profile_are_in_their_places() {
    let Some(corpus) = corpus() else { return };
    let bytes = std::fs::read(corpus.join("data/tau/ppk/LoadImbalance-2.ppk")).unwrap();
    let (read, _) = packed(&bytes).unwrap();
    assert_eq!(*read.metrics, ["TIME".into()]);
    let executable = "/gpfs/projects/bsc41/kevin/gromacs/installation/bin/mdrun";
    assert_eq!(fact(&read.metadata, "Executable"), Some(executable));
    let second = &read.threads[1];
    assert_eq!(second.id, ThreadId { node: 1, context: 0, thread: 0 });
    assert_eq!(fact(&second.metadata, "pid"), Some("18997"));
    let first = &read.threads[0];
    assert_eq!(
        read.timers[0].name.as_ref(),
        "FILE *ffopen(const char *, char *) C [{futil.c} {282,1}-{334,1}]"
    );
    assert_eq!((first.timers[0].calls, first.timers[0].subroutines), (2.0, 4.0));
    assert_eq!(first.value(0, 0, 1), (904.0, 15999.0));
    assert!(read.is_in_group(&read.timers[5], "MPI"), "{:?}", read.timers[5]);
    let event = first.events[2];
    assert_eq!(read.events[event.event as usize].as_ref(), "Message size for broadcast");
    assert_eq!((event.count, event.min, event.max), (863.0, 0.0, 594_720.0));
}

#[test]
fn profiles_of_several_metrics_are_put_together() {
    let Some(corpus) = corpus() else { return };
    let folder = folder_of(&corpus.join("data/tau/hpccg-4x1-multimetric"));
    let (read, issues) = text(&folder);
    assert!(issues.is_empty(), "{issues:?}");
    assert_eq!(*read.metrics, ["CPU_TIME".into(), "LINUX_TIMERS".into(), "TIME".into()]);
    assert_eq!(read.threads.len(), 4);
    let first = &read.threads[0];
    assert_eq!(first.timers.len(), 55);
    // `.TAU application` in the file of CPU_TIME.
    assert_eq!(read.timers[0].name.as_ref(), ".TAU application");
    assert_eq!(first.value(0, 0, 3), (4649.0, 225_304.0));
    assert_eq!(first.events.len(), 1);
    let sum = first.events[0];
    assert_eq!((sum.count, sum.max, sum.min, sum.sum_of_squares), (303.0, 16.0, 8.0, 19_776.0));
    assert_eq!(fact(&read.metadata, "CPU Vendor"), Some("AuthenticAMD"));
    assert!(fact(&read.metadata, "Metric Name").is_none());
    assert!(read.threads.iter().all(|thread| fact(&thread.metadata, "pid").is_some()));
}

#[test]
fn every_text_profile_of_the_corpus_is_read_without_an_issue() {
    let Some(corpus) = corpus() else { return };
    let data = corpus.join("data");
    let mut folders = vec![
        data.join("tau/lulesh-8x2-ebs"),
        data.join("tau/parse_tau_profile_test"),
        data.join("tau/wrap"),
        data.join("tau/workflow_consolidation/xmain_0"),
        data.join("tau/workflow_consolidation/reader2_0"),
    ];
    for parent in ["tau/scaling-hpccg", "reactor/tau-profiles"] {
        for entry in std::fs::read_dir(data.join(parent)).unwrap() {
            let entry = entry.unwrap().path();
            let raw = entry.join("raw");
            folders.push(if raw.is_dir() { raw } else { entry });
        }
    }
    assert_eq!(folders.len(), 5 + 25 + 4);
    for path in folders {
        let (read, issues) = text(&folder_of(&path));
        assert!(issues.is_empty(), "{path:?}: {issues:?}");
        assert!(read.threads.iter().all(|thread| !thread.timers.is_empty()), "{path:?}");
    }
}

/// The profiles as the reader should give them.
fn expected(drawn: &write::Profiles, with_metadata: bool) -> Profiles {
    let arc = |names: &[String]| names.iter().map(|name| name.as_str().into()).collect();
    let thread = |drawn: &write::Thread| {
        let [node, context, thread] = drawn.id;
        let mut out = parallax_formats::tau::Thread::new(ThreadId { node, context, thread });
        if with_metadata {
            out.metadata.clone_from(&drawn.metadata);
        }
        for row in &drawn.timers {
            let (timer, calls, subroutines) = (row.timer, row.calls, row.subroutines);
            out.timers.push(parallax_formats::tau::TimerRow { timer, calls, subroutines });
            out.values.extend(row.values.iter().flat_map(|&(e, i)| [e, i]));
        }
        for row in &drawn.events {
            let [max, min, mean, sum_of_squares] = row.statistics;
            let (event, count) = (row.event, f64::from(row.count));
            let row =
                parallax_formats::tau::EventRow { event, count, max, min, mean, sum_of_squares };
            out.events.push(row);
        }
        out
    };
    Profiles {
        metrics: arc(&drawn.metrics),
        groups: arc(&drawn.groups),
        timers: drawn
            .timers
            .iter()
            .map(|(name, groups)| parallax_formats::tau::Timer {
                name: name.as_str().into(),
                groups: groups.clone(),
            })
            .collect(),
        events: arc(&drawn.events),
        metadata: if with_metadata { drawn.metadata.clone() } else { Vec::new() },
        threads: drawn.threads.iter().map(thread).collect(),
    }
}

/// Values by thread, timer and metric, and user events by thread: what is the same whichever order
/// names come in.
fn by_name(read: &Profiles) -> Vec<String> {
    let mut out = Vec::new();
    for thread in &read.threads {
        for (row, timer) in thread.timers.iter().enumerate() {
            let name = &read.timers[timer.timer as usize].name;
            for (metric, of) in read.metrics.iter().enumerate() {
                let value = thread.value(row, metric, read.metrics.len());
                let calls = (timer.calls, timer.subroutines);
                out.push(format!("{:?} {name} {of} {value:?} {calls:?}", thread.id));
            }
        }
        for event in &thread.events {
            let name = &read.events[event.event as usize];
            let numbers = (event.count, event.max, event.min, event.mean, event.sum_of_squares);
            out.push(format!("{:?} {name} {numbers:?}", thread.id));
        }
    }
    out.sort();
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn packed_profiles_come_back(drawn in write::profiles()) {
        for version in [write::PackedVersion::One, write::PackedVersion::Two] {
            let bytes = write::to_packed(&drawn, version);
            let whole = expected(&drawn, version == write::PackedVersion::Two);
            let (read, issues) = packed(&bytes).unwrap();
            prop_assert_eq!(&read, &whole);
            prop_assert!(issues.is_empty());
            prop_assert_eq!(packed(&gzip(&bytes)).unwrap().0, whole);
        }
    }

    #[test]
    fn text_and_packed_profiles_say_the_same(drawn in write::profiles()) {
        let mut files = Vec::new();
        for (at, metric) in drawn.metrics.iter().enumerate() {
            // Names of metrics stand in names of folders.
            let folder = format!("MULTI__{}", metric.replace('/', "-"));
            let text = write::to_text(&drawn, at).into_iter();
            files.extend(text.map(|(name, text)| (format!("{folder}/{name}"), text.into_bytes())));
        }
        prop_assume!(!files.is_empty());
        let (read, issues) = text(&MemoryFolder::new("f", files));
        prop_assert!(issues.is_empty(), "{:?}", issues);
        let whole = expected(&drawn, true);
        if whole.threads.iter().any(|thread| !thread.timers.is_empty()) {
            prop_assert_eq!(by_name(&read), by_name(&whole));
        }
    }

    #[test]
    fn traces_come_back_in_every_layout(records in write::trace()) {
        for wide in [false, true] {
            for big_endian in [false, true] {
                let layout = write::Layout { wide, big_endian };
                let bytes = write::to_trace(&records, layout);
                let mut issues = Issues::new();
                let trace = Trace::open(MemorySource::shared(bytes), "a.trc", &mut issues).unwrap();
                let mut read = Vec::new();
                trace.visit(0..u64::MAX, |_, record| { read.push(record); true }).unwrap();
                prop_assert!(issues.is_empty());
                prop_assert_eq!(trace.layout().is_wide, wide);
                prop_assert_eq!(trace.layout().is_big_endian, big_endian);
                let found: Vec<write::Record> = read.iter().map(|record| write::Record {
                    event: i32::try_from(record.event).unwrap(),
                    node: record.node,
                    thread: record.thread,
                    parameter: record.parameter,
                    time: record.time_micros,
                }).collect();
                prop_assert_eq!(&found, &records);
            }
        }
    }

    #[test]
    fn parameters_of_messages_come_back(
        other_node: u16, tag: u16, len_bytes in 0_u32..1 << 26, communicator in 0_u8..64
    ) {
        let parameter = write::message_parameter(other_node, tag, len_bytes, communicator);
        let message = Message { other_node, tag, len_bytes, communicator };
        prop_assert_eq!(Message::from_parameter(parameter), message);
    }
}

fn small() -> write::Profiles {
    let timer = |timer, value: f64| write::Timer {
        timer,
        calls: 1.0,
        subroutines: 0.0,
        values: vec![(value, value * 2.0)],
    };
    let thread = |node| write::Thread {
        id: [node, 0, 0],
        metadata: vec![("pid".into(), node.to_string())],
        timers: vec![timer(0, 10.0), timer(1, 20.0)],
        events: vec![write::Event { event: 0, count: 3, statistics: [9.0, 1.0, 4.0, 90.0] }],
    };
    write::Profiles {
        metrics: vec!["TIME".into()],
        groups: vec!["MPI".into()],
        timers: vec![("main".into(), vec![]), ("MPI_Init()".into(), vec![0])],
        events: vec!["Bytes".into()],
        metadata: vec![("Hostname".into(), "n1".into())],
        threads: vec![thread(0), thread(1), thread(2)],
    }
}

#[test]
fn a_packed_profile_that_is_cut_keeps_whole_threads() {
    let whole = write::to_packed(&small(), write::PackedVersion::Two);
    let (all, _) = packed(&whole).unwrap();
    let mut kept = [0_usize; 4];
    for len in 0..whole.len() {
        let Ok((read, issues)) = packed(&whole[..len]) else { continue };
        assert!(has_issue(&issues, "threads-lost"), "{len}: {issues:?}");
        assert_eq!(read.threads[..], all.threads[..read.threads.len()], "{len}");
        kept[read.threads.len()] += 1;
    }
    assert!(kept[0] > 0 && kept[1] > 0 && kept[2] > 0 && kept[3] == 0, "{kept:?}");
}

#[test]
fn hostile_counts_ask_for_no_memory() {
    let whole = write::to_packed(&small(), write::PackedVersion::Two);
    // Every 32-bit word in turn becomes a huge, a negative and a slightly wrong number.
    for at in 6..whole.len() - 4 {
        for word in [i32::MAX, -1, 0x0100_0000, 5] {
            let mut damaged = whole.clone();
            damaged[at..at + 4].copy_from_slice(&word.to_be_bytes());
            if let Ok((read, _)) = packed(&damaged) {
                for thread in &read.threads {
                    assert!(
                        thread.timers.len() <= whole.len() && thread.events.len() <= whole.len()
                    );
                    assert_eq!(thread.values.len(), thread.timers.len() * read.metrics.len() * 2);
                    let timers = read.timers.len() as u32;
                    assert!(thread.timers.iter().all(|row| row.timer < timers));
                    assert!(thread.values.iter().all(|value| value.is_finite()));
                }
            }
        }
    }
}

#[test]
fn damaged_real_files_stop_nothing() {
    let Some(corpus) = corpus() else { return };
    let mut rng = Rng::new(11);
    for file in ["StackedBarChart-2.ppk", "matmult.ppk", "phases.ppk"] {
        let bytes = std::fs::read(corpus.join("data/tau/ppk").join(file)).unwrap();
        let mut plain = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&bytes[..]), &mut plain)
            .unwrap();
        for _ in 0..300 {
            let mut damaged = plain.clone();
            for _ in 0..1 + rng.next() % 4 {
                let at = (rng.next() as usize) % damaged.len();
                damaged[at] ^= (rng.next() % 255 + 1) as u8;
            }
            let _ = packed(&damaged);
        }
        for len in (0..plain.len()).step_by(plain.len() / 97) {
            let _ = packed(&plain[..len]);
        }
        // Of a cut stream what was read is kept, and what is missing is said.
        if let Ok((read, issues)) = packed(&bytes[..bytes.len() / 2]) {
            let whole = packed(&bytes).unwrap().0;
            assert!(!issues.is_empty() && read.threads.len() <= whole.threads.len(), "{file}");
            assert_ne!(read, whole, "{file}");
        }
    }
}

#[test]
fn a_text_profile_that_is_cut_keeps_whole_lines() {
    let (name, whole) = write::to_text(&small(), 0).remove(1);
    let mut complete = 0;
    for len in 0..whole.len() {
        let mut issues = Issues::new();
        let source = MemorySource::new(whole.as_bytes()[..len].to_vec());
        let Ok(read) = read_profile(&source, &name, &Limits::default(), &mut issues) else {
            continue;
        };
        // A thread without user events ends with its aggregates.
        let may_be_whole = whole[..len].ends_with("0 aggregates\n");
        assert!(!issues.is_empty() || may_be_whole, "{len} bytes look whole");
        let thread = &read.threads[0];
        assert_eq!(thread.id, ThreadId { node: 1, context: 0, thread: 0 });
        for (row, timer) in thread.timers.iter().enumerate() {
            let value = if timer.timer == 0 { (10.0, 20.0) } else { (20.0, 40.0) };
            assert_eq!(thread.value(row, 0, 1), value, "{len}");
        }
        assert!(thread.events.is_empty(), "{len}");
        complete = complete.max(thread.timers.len());
    }
    assert_eq!(complete, 2);
}

#[test]
fn lines_with_bad_numbers_are_left_out_and_reported() {
    let text = "3 templated_functions_MULTI_TIME\n# Name <metadata></metadata>\n\
                \"a\" 1 0 5 5 0 GROUP=\"G\" \n\"b\" 1 0 x 5 0 GROUP=\"G\" \n\
                \"c\" 1 0 nan 5 0 GROUP=\"G\" \nwhat is this\n0 aggregates\n1 userevents\n\
                # eventname\n\"e\" 1 2 3 4\n";
    let mut issues = Issues::new();
    let source = MemorySource::new(text.as_bytes().to_vec());
    let read = read_profile(&source, "profile.0.0.0", &Limits::default(), &mut issues).unwrap();
    assert_eq!(read.timers.len(), 1);
    assert!(read.events.is_empty());
    assert_eq!(kinds(&issues), ["line-bad", "line-unknown", "count-differs"]);
    let bad = issues.list().iter().find(|issue| issue.kind == "line-bad").unwrap();
    assert_eq!(bad.count, 3);
}

#[test]
fn one_unreadable_profile_does_not_take_the_others_away() {
    let mut files: Vec<(String, Vec<u8>)> = write::to_text(&small(), 0)
        .into_iter()
        .map(|(name, text)| (name, text.into_bytes()))
        .collect();
    files[1].1 = b"<html>gone</html>".to_vec();
    let (read, issues) = text(&MemoryFolder::new("f", files));
    assert_eq!(read.threads.len(), 2);
    assert!(has_issue(&issues, "file-unusable"));
}

#[test]
fn only_names_of_profiles_are_profiles() {
    let names = [
        "profile.0.0.0",
        "profile.10.0.3",
        "profile.x.0.0",
        "profile.0.0.0.bak",
        "p",
        "profile.0.0",
    ];
    let folder = MemoryFolder::new("f", names.map(|name| (name.to_owned(), Vec::new())));
    let found: Vec<String> = find_profiles(&folder).unwrap().into_iter().map(|f| f.path).collect();
    assert_eq!(found, ["profile.0.0.0", "profile.10.0.3"]);
}

#[test]
fn foreign_files_are_not_this_format() {
    for bytes in [&b""[..], b"P", b"\0P\0P", b"PPK", b"{}", b"60000 x"] {
        assert!(matches!(packed(bytes), Err(FormatError::NotThisFormat { .. })), "{bytes:?}");
        let source = MemorySource::new(bytes.to_vec());
        let mut issues = Issues::new();
        assert!(read_profile(&source, "p", &Limits::default(), &mut issues).is_err());
        assert!(Trace::open(MemorySource::shared(bytes.to_vec()), "t", &mut issues).is_err());
        assert!(Definitions::read(&source, "e", &Limits::default(), &mut issues).is_err());
    }
    let mut newer = write::to_packed(&small(), write::PackedVersion::Two);
    newer[6..14].copy_from_slice(&[0, 0, 0, 9, 0, 0, 0, 9]);
    assert!(matches!(packed(&newer), Err(FormatError::Unsupported { .. })));
}

struct Events {
    trace: Trace,
    definitions: Definitions,
}

fn trace_at(path: &Path) -> Events {
    let mut issues = Issues::new();
    let edf = MemorySource::new(std::fs::read(path.join("tau.edf")).unwrap());
    let definitions = Definitions::read(&edf, "tau.edf", &Limits::default(), &mut issues).unwrap();
    let source = MemorySource::shared(std::fs::read(path.join("tau.trc")).unwrap());
    let trace = Trace::open(source, "tau.trc", &mut issues).unwrap();
    assert!(issues.is_empty(), "{issues:?}");
    Events { trace, definitions }
}

/// Entries, exits, sends, receives, values, records of the tracer.
fn counts(events: &Events) -> [u64; 6] {
    let mut out = [0; 6];
    let count = |_, record: parallax_formats::tau::Record| {
        out[match record.event(&events.definitions) {
            TraceEvent::Enter { .. } => 0,
            TraceEvent::Leave { .. } => 1,
            TraceEvent::Send(_) => 2,
            TraceEvent::Receive(_) => 3,
            TraceEvent::Value { .. } => 4,
            TraceEvent::WallClock { .. } | TraceEvent::Tracer { .. } => 5,
            TraceEvent::Unknown { event } => panic!("event {event} is not defined"),
        }] += 1;
        true
    };
    events.trace.visit(0..u64::MAX, count).unwrap();
    out
}

#[test]
fn real_traces_have_the_events_that_another_reader_counts() {
    let Some(corpus) = corpus() else { return };
    let lulesh = trace_at(&corpus.join("data/tau/trace-lulesh-8x2"));
    assert_eq!(lulesh.trace.num_records(), 75_696);
    assert_eq!(counts(&lulesh), [13_432, 13_432, 3_296, 3_296, 42_112, 128]);
    let reactor = trace_at(&corpus.join("data/reactor/tau-trace-p4"));
    assert_eq!(counts(&reactor), [82_852, 82_852, 120, 120, 2_606, 16]);
    let facts: Vec<_> = reactor.definitions.list().iter().filter_map(|d| d.as_fact()).collect();
    assert!(facts.contains(&("Executable", "/home/user/reactor/reactor-tau")));
}

#[test]
fn stacks_balance_and_messages_match_on_every_thread() {
    let Some(corpus) = corpus() else { return };
    for path in ["data/tau/trace-lulesh-8x2", "data/reactor/tau-trace-p4"] {
        let events = trace_at(&corpus.join(path));
        let mut stacks: std::collections::BTreeMap<ThreadId, Vec<i64>> = Default::default();
        let mut open: std::collections::BTreeMap<[u32; 4], i64> = Default::default();
        let mut last = 0;
        let see = |_, record: parallax_formats::tau::Record| {
            assert!(record.time_micros >= last);
            last = record.time_micros;
            let (stack, node) =
                (stacks.entry(record.thread_id()).or_default(), u32::from(record.node));
            match record.event(&events.definitions) {
                TraceEvent::Enter { event } => stack.push(event),
                TraceEvent::Leave { event } => assert_eq!(stack.pop(), Some(event)),
                TraceEvent::Send(m) => {
                    let key = [node, m.other_node.into(), m.tag.into(), m.len_bytes];
                    *open.entry(key).or_default() += 1;
                }
                TraceEvent::Receive(m) => {
                    let key = [m.other_node.into(), node, m.tag.into(), m.len_bytes];
                    *open.entry(key).or_default() -= 1;
                }
                _ => {}
            }
            true
        };
        events.trace.visit(0..u64::MAX, see).unwrap();
        assert!(stacks.values().all(Vec::is_empty), "{path}: {stacks:?}");
        assert!(open.values().all(|&n| n == 0), "{path}: {open:?}");
    }
}

/// TAU's own conversion of this trace was written by several ranks over each other, so that lines
/// are lost; those that are whole must be in the trace, with all their values.
#[test]
fn events_are_those_of_taus_own_conversion() {
    let Some(corpus) = corpus() else { return };
    let path = corpus.join("data/reactor/tau-trace-p4");
    let events = trace_at(&path);
    let mut start = None;
    let mut known: std::collections::HashMap<String, i64> = std::collections::HashMap::new();
    let name = |event| events.definitions.get(event).map_or("?", |d| &d.name);
    let see = |_, record: parallax_formats::tau::Record| {
        let time = record.time_micros - *start.get_or_insert(record.time_micros);
        let (node, thread) = (record.node, record.thread);
        let line = match record.event(&events.definitions) {
            TraceEvent::Enter { event } => format!("entry {} {time} {node} {thread}", name(event)),
            TraceEvent::Leave { event } => format!("exit {} {time} {node} {thread}", name(event)),
            TraceEvent::Value { event, value } => {
                format!("counter {} {time} {node} {thread} {value}", name(event))
            }
            TraceEvent::Send(m) => {
                format!("send {time} {node} {} {} {}", m.other_node, m.len_bytes, m.tag)
            }
            TraceEvent::Receive(m) => {
                format!("receive {time} {} {node} {} {}", m.other_node, m.len_bytes, m.tag)
            }
            _ => return true,
        };
        *known.entry(line).or_default() += 1;
        true
    };
    events.trace.visit(0..u64::MAX, see).unwrap();
    let mut text = String::new();
    let packed = std::fs::read(path.join("trace.json.gz")).unwrap();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&packed[..]), &mut text)
        .unwrap();
    let mut seen = std::collections::BTreeMap::<String, u64>::new();
    for line in text.lines().filter(|line| line.starts_with('{')) {
        let line = line.trim_end_matches(',');
        let Ok(value) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        let field = |name: &str| value[name].as_str().unwrap_or("?").trim().to_owned();
        let time = |name: &str| field(name).trim_end_matches(".000000").to_owned();
        let kind = field("event-type");
        let key = match kind.as_str() {
            "entry" | "exit" => format!(
                "{kind} {} {} {} {}",
                field("name"),
                time("time"),
                field("node-id"),
                field("thread-id")
            ),
            "counter" => format!(
                "{kind} {} {} {} {} {}",
                field("name"),
                time("time"),
                field("node-id"),
                field("thread-id"),
                field("value")
            ),
            "send" | "receive" => format!(
                "{kind} {} {} {} {} {}",
                time("timestamp"),
                field("source-node-id"),
                field("destination-node-id"),
                field("message-size"),
                field("message-tag")
            ),
            _ => continue,
        };
        let left = known.get_mut(&key).unwrap_or_else(|| panic!("not in the trace: {key}"));
        *left -= 1;
        assert!(*left >= 0, "too often: {key}");
        *seen.entry(kind).or_default() += 1;
    }
    for (kind, least) in
        [("entry", 80_000), ("exit", 80_000), ("counter", 2_500), ("send", 110), ("receive", 110)]
    {
        assert!(seen.get(kind).is_some_and(|&n| n >= least), "{seen:?}");
    }
}

#[test]
fn a_cut_trace_gives_whole_records() {
    let first = write::Record { event: 60_000, node: 0, thread: 0, parameter: 3, time: 5 };
    let enter = write::Record { event: 1, parameter: 1, time: 7, ..first };
    let layout = write::Layout { wide: false, big_endian: false };
    let whole = write::to_trace(&[first, enter, enter], layout);
    for len in 0..whole.len() {
        let mut issues = Issues::new();
        let source = MemorySource::shared(whole[..len].to_vec());
        let Ok(trace) = Trace::open(source, "a.trc", &mut issues) else {
            assert!(len < 24, "{len}");
            continue;
        };
        assert_eq!(trace.num_records(), len as u64 / 24);
        assert_eq!(has_issue(&issues, "record-cut"), len % 24 != 0, "{len}");
    }
}

#[test]
fn definitions_with_quotes_and_groups_are_read_and_bad_lines_reported() {
    let definition = |id, group: &str, tag, name: &str, kind| write::Definition {
        id,
        group: group.into(),
        tag,
        name: name.into(),
        kind,
    };
    let mut text = write::to_definitions(&[
        definition(1, "TAU_USER | MPI", 0, r#"say "hi" "#, "EntryExit"),
        definition(2, "TAUEVENT", 1, "Bytes", "TriggerValue"),
        definition(60_007, "TAU_MESSAGE", -7, "MESSAGE_SEND", "par"),
    ]);
    text.push_str("4 nothing here\n1 X 0 \"again\" EntryExit\n");
    let mut issues = Issues::new();
    let source = MemorySource::new(text.into_bytes());
    let read = Definitions::read(&source, "a.edf", &Limits::default(), &mut issues).unwrap();
    let first = read.get(1).unwrap();
    assert_eq!((first.name.as_ref(), first.group.as_ref()), (r#"say "hi""#, "TAU_USER | MPI"));
    assert_eq!(read.get(60_007).map(|d| d.tag), Some(-7));
    assert_eq!(kinds(&issues), ["definition-bad", "definition-repeated"]);
    let record = write::Record {
        event: 60_007,
        node: 0,
        thread: 0,
        parameter: write::message_parameter(3, 9, 70_000, 2),
        time: 9,
    };
    let first = write::Record { event: 60_000, parameter: 3, ..record };
    let layout = write::Layout { wide: true, big_endian: true };
    let bytes = write::to_trace(&[first, record], layout);
    let trace = Trace::open(MemorySource::shared(bytes), "a.trc", &mut issues).unwrap();
    let mut found = Vec::new();
    trace
        .visit(1..2, |_, record| {
            found.push(record.event(&read));
            true
        })
        .unwrap();
    let message = Message { other_node: 3, tag: 9, len_bytes: 70_000, communicator: 2 };
    assert_eq!(found, [TraceEvent::Send(message)]);
}
