//! What a source records with calls is kept, and found again by the call.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use common::{files_of, manifest, old_functions};
use parallax_base::{
    Control, Folder, FunctionIdx, Limits, MemoryFolder, MemorySink, TimeWindow, TrackIdx,
};
use parallax_formats::archive::{MANIFEST, keys};
use parallax_import::archive;
use parallax_import::convert::{ConvertOptions, convert, recognise};
use parallax_import::events::{Conversion, TrackIdentity};
use parallax_model::{Call, Experiment};
use parallax_native::{DiskFolder, DiskSink};
use proptest::prelude::*;

/// Converts one file with so much memory for what waits.
fn converted(name: &str, bytes: Vec<u8>) -> Experiment {
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("m", [(name.to_owned(), bytes)]));
    let input = recognise(&folder, name).unwrap().unwrap();
    let sink = MemorySink::new();
    let options = ConvertOptions::default();
    convert(&input, "t", Arc::new(sink.clone()), &options, &Control::new()).unwrap();
    let folder: Arc<dyn Folder> = Arc::new(sink.into_folder("t"));
    archive::open(&folder, &Limits::default()).unwrap()
}

fn chrome(events: &[&str]) -> Experiment {
    let text = format!(r#"{{"traceEvents":[{}]}}"#, events.join(","));
    converted("t.json", text.into_bytes())
}

/// Arguments of a call, `name=value` each.
fn of_call(experiment: &Experiment, track: TrackIdx, call: &Call) -> Vec<String> {
    let mut out = Vec::new();
    let events = experiment.events.as_deref().unwrap();
    events.arguments(track, call, &mut |name, value| out.push(format!("{name}={value}"))).unwrap();
    out
}

/// All calls: name, start and arguments.
fn all(experiment: &Experiment) -> Vec<(String, u64, Vec<String>)> {
    let store = experiment.traces.as_deref().unwrap();
    let mut out = Vec::new();
    for track in store.track_ids() {
        let mut calls = Vec::new();
        store.visit_calls(track, TimeWindow::ALL, &mut |call| calls.push(call)).unwrap();
        for call in calls {
            let context = experiment.contexts.by_source_id(call.context).unwrap();
            let name = experiment.contexts.label(context).clone();
            out.push((name, call.start_nanos, of_call(experiment, track, &call)));
        }
    }
    out.sort();
    out
}

#[test]
fn arguments_of_all_sorts_of_chrome_events_are_kept() {
    let experiment = chrome(&[
        r#"{"ph":"X","name":"kernel","pid":1,"tid":7,"ts":1,"dur":2,
            "args":{"grid":[128, 1,1],"stream":7,"External id":41506,"label":"a\nb","ok":true,"no":null}}"#,
        r#"{"ph":"X","name":"plain","pid":1,"tid":7,"ts":5,"dur":2}"#,
        r#"{"ph":"X","name":"empty","pid":1,"tid":7,"ts":8,"dur":2,"args":{}}"#,
        r#"{"ph":"B","name":"outer","pid":1,"tid":8,"ts":1,"args":{"of":"begin"}}"#,
        r#"{"ph":"B","name":"inner","pid":1,"tid":8,"ts":2}"#,
        r#"{"ph":"E","pid":1,"tid":8,"ts":3,"args":{"of":"end"}}"#,
        r#"{"ph":"E","pid":1,"tid":8,"ts":4}"#,
        r#"{"ph":"b","cat":"io","name":"read","id":3,"pid":1,"tid":8,"ts":2,"args":{"bytes":4096}}"#,
        r#"{"ph":"e","cat":"io","name":"read","id":3,"pid":1,"tid":9,"ts":7}"#,
    ]);
    let kernel =
        ["grid=[128, 1,1]", "stream=7", "External id=41506", "label=a\nb", "ok=true", "no=null"];
    let strings = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
    let expected = [
        ("empty", 8000, vec![]),
        ("inner", 2000, strings(&["of=end"])),
        ("kernel", 1000, strings(&kernel)),
        ("outer", 1000, strings(&["of=begin"])),
        ("plain", 5000, vec![]),
        ("read", 2000, strings(&["bytes=4096"])),
    ];
    let expected = expected.map(|(name, start, own)| (name.to_owned(), start, own));
    assert_eq!(all(&experiment), expected);
    let kinds: Vec<_> = experiment.issues.list().iter().map(|issue| issue.kind).collect();
    assert_eq!(kinds, Vec::<&str>::new());
}

#[test]
fn long_values_are_cut_and_said_so() {
    let long = "x".repeat(10_000);
    let event = format!(
        r#"{{"ph":"X","name":"call","pid":1,"tid":7,"ts":1,"dur":2,"args":{{"stack":"{long}","n":1}}}}"#
    );
    let experiment = chrome(&[&event, &event]);
    for (_, _, own) in all(&experiment) {
        assert!(own[0].starts_with("stack=xxx") && own[0].ends_with('…'), "{}", own[0]);
        assert!(own[0].len() < 300);
        assert_eq!(own[1], "n=1");
    }
    let cut = experiment.issues.list().iter().find(|issue| issue.kind == "arguments-cut").unwrap();
    assert_eq!(cut.count, 2);
}

#[test]
fn names_without_end_are_left_out_and_said_so() {
    let events: Vec<String> = (0..30_000)
        .map(|nth| {
            format!(
                r#"{{"ph":"X","name":"call","pid":1,"tid":7,"ts":{nth},"dur":1,"args":{{"{}{nth}":{nth}}}}}"#,
                "n".repeat(100)
            )
        })
        .collect();
    let experiment = chrome(&events.iter().map(String::as_str).collect::<Vec<_>>());
    let store = experiment.traces.as_deref().unwrap();
    assert_eq!(store.tracks()[0].num_samples, 30_000);
    let left = experiment.issues.list().iter().find(|i| i.kind == "arguments-left-out").unwrap();
    assert!(left.count > 1000 && left.count < 29_000, "{}", left.count);
    let first = all(&experiment).into_iter().find(|(_, start, _)| *start == 0).unwrap();
    assert_eq!(first.2, [format!("{}0=0", "n".repeat(100))]);
}

#[test]
fn texts_that_wait_on_the_disk_come_back() {
    let events: Vec<String> = (0..60_000)
        .map(|nth| {
            let (tid, text) = (nth % 7, format!("{nth}").repeat(nth % 12));
            format!(
                r#"{{"ph":"X","name":"call","pid":1,"tid":{tid},"ts":{nth},"dur":1,"args":{{"n":{nth},"text":"{text}"}}}}"#
            )
        })
        .collect();
    let text = format!(r#"{{"traceEvents":[{}]}}"#, events.join(",")).into_bytes();
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("m", [("t.json".to_owned(), text)]));
    let input = recognise(&folder, "t.json").unwrap().unwrap();
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("t.parallax");
    let sink = Arc::new(DiskSink::new(&path).unwrap());
    let options = ConvertOptions { memory_bytes: 1 << 16, ..ConvertOptions::default() };
    convert(&input, "t", Arc::clone(&sink) as _, &options, &Control::new()).unwrap();
    sink.publish().unwrap();
    let folder = Arc::new(DiskFolder::new(&path)) as Arc<dyn Folder>;
    let experiment = archive::open(&folder, &Limits::default()).unwrap();
    let store = experiment.traces.as_deref().unwrap();
    for track in store.track_ids() {
        let mut calls = Vec::new();
        store.visit_calls(track, TimeWindow::ALL, &mut |call| calls.push(call)).unwrap();
        for call in calls.iter().step_by(97) {
            let nth = (call.start_nanos / 1000) as usize;
            let text = format!("{nth}").repeat(nth % 12);
            assert_eq!(
                of_call(&experiment, track, call),
                [format!("n={nth}"), format!("text={text}")]
            );
        }
    }
    assert!(
        std::fs::read_dir(&path)
            .unwrap()
            .all(|file| { file.unwrap().file_name().to_string_lossy().ends_with(".arrow") })
    );
}

#[test]
fn archives_of_version_3_open_without_arguments() {
    let sink = MemorySink::new();
    let mut conversion = Conversion::new(Arc::new(sink.clone()), 0).unwrap();
    let function = conversion.function("main", "USER");
    let track = conversion.track(TrackIdentity { name: "a".into(), ..Default::default() });
    let builder = conversion.builder(track).unwrap();
    builder.enter(10, function);
    builder.describe("n", "1");
    builder.leave(20, None);
    conversion.finish().unwrap();
    let mut files = files_of(sink);
    let open = |files: &BTreeMap<String, Vec<u8>>| {
        let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("m", files.clone()));
        archive::open(&folder, &Limits::default())
    };
    assert_eq!(all(&open(&files).unwrap())[0].2, ["n=1"]);
    let functions = old_functions(&files);
    assert!(files.remove("arguments.arrow").is_some());
    assert!(files.remove("argument_names.arrow").is_some());
    assert!(open(&files).is_err(), "version 4 has them");
    files.insert("functions.arrow".into(), functions);
    let facts = [(keys::VERSION, "3"), (keys::FIRST_NANOS, "10"), (keys::LAST_NANOS, "20")];
    files.insert(MANIFEST.into(), manifest(&facts));
    let old = all(&open(&files).unwrap());
    assert_eq!(old, [("main".to_owned(), 10, Vec::new())]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_call_has_its_own(
        steps in prop::collection::vec((0..3_u64, prop::option::of(0..3_u32), any::<bool>()), 1..200),
        every in 1..50_usize,
    ) {
        let sink = MemorySink::new();
        let mut conversion = Conversion::new(Arc::new(sink.clone()), 0).unwrap();
        let functions = ["a", "b", "c"].map(|name| conversion.function(name, ""));
        let track = conversion.track(TrackIdentity { name: "t".into(), ..Default::default() });
        // Number of what each open call was told; calls as their end has them.
        let (mut open, mut made) = (Vec::new(), BTreeMap::<_, Vec<Option<usize>>>::new());
        let mut now = 1000;
        let mut close = |open: &mut Vec<(u32, u64, Option<usize>)>, now: u64| {
            let path: Vec<u32> = open.iter().map(|call| call.0).collect();
            if let Some((_, start, told)) = open.pop() {
                made.entry((path, start, now)).or_default().push(told);
            }
        };
        for (nth, (after, step, is_told)) in steps.iter().enumerate() {
            now += after;
            let builder = conversion.builder(track).unwrap();
            match step {
                Some(function) => {
                    builder.enter(now, functions[*function as usize]);
                    if *is_told {
                        builder.describe("n", &nth.to_string());
                    }
                    open.push((*function, now, is_told.then_some(nth)));
                }
                None => {
                    builder.leave(now, None);
                    close(&mut open, now);
                }
            }
            if nth % every == 0 {
                conversion.commit().unwrap();
            }
        }
        while !open.is_empty() {
            close(&mut open, now);
        }
        conversion.finish().unwrap();
        let folder: Arc<dyn Folder> = Arc::new(sink.into_folder("memory"));
        let experiment = archive::open(&folder, &Limits::default()).unwrap();
        let store = experiment.traces.as_deref().unwrap();
        let tree = &experiment.contexts;
        let mut calls = Vec::new();
        store.visit_calls(TrackIdx::new(0), TimeWindow::ALL, &mut |call| calls.push(call)).unwrap();
        for call in calls {
            let context = tree.by_source_id(call.context).unwrap();
            let mut path: Vec<u32> = std::iter::successors(Some(context), |c| tree.parent(*c))
                .filter_map(|c| tree.function(c).map(FunctionIdx::get))
                .collect();
            path.reverse();
            let told = &made[&(path, call.start_nanos, call.end_nanos)];
            let found = of_call(&experiment, TrackIdx::new(0), &call);
            // Calls that nothing distinguishes may have each other's.
            let is_known = match found.first() {
                Some(one) => told.iter().flatten().any(|nth| *one == format!("n={nth}")),
                None => told.iter().all(Option::is_none),
            };
            prop_assert!(is_known, "{:?} {:?} {:?}", call, told, found);
        }
    }
}

#[test]
fn attributes_of_otf2_are_kept_with_the_call_that_they_are_of() {
    use parallax_testkit::otf2::{File, Order, START_TICKS, Shape, generate};
    let order = Order::Little;
    let (mut files, _) = generate(&Shape { order, locations: 1, calls: 0, ..Shape::default() });
    let mut file = File::events(order, 1 << 20);
    // Bytes as a number, and a string of the definitions.
    let entered = file.fields().c32(2).c32(7).u8(4).c64(4096).c32(8).u8(11).c32(1);
    let left = file.fields().c32(1).c32(9).u8(10).full64(2.5_f64.to_bits());
    file.region_with(START_TICKS + 10, &entered, 12, 1);
    file.enter(START_TICKS + 20, 1);
    file.leave(START_TICKS + 30, 1);
    file.region_with(START_TICKS + 40, &left, 13, 1);
    files.insert("traces/0.evt".into(), file.finish());
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("m", files));
    let input = recognise(&folder, "traces.otf2").unwrap().unwrap();
    let sink = MemorySink::new();
    let options = ConvertOptions::default();
    convert(&input, "t", Arc::new(sink.clone()), &options, &Control::new()).unwrap();
    let folder: Arc<dyn Folder> = Arc::new(sink.into_folder("t"));
    let all = all(&archive::open(&folder, &Limits::default()).unwrap());
    let own: Vec<_> = all.iter().map(|(_, _, own)| own.len()).collect();
    assert_eq!(own, [3, 0], "{all:?}");
    let (first, second, third) = (&all[0].2[0], &all[0].2[1], &all[0].2[2]);
    assert_eq!(first, "(undefined attribute)=4096");
    assert_eq!(second, "(undefined attribute)=machine");
    assert_eq!(third, "(undefined attribute)=2.5");
}

#[test]
fn kernels_of_kineto_have_what_the_file_says() {
    let file = "ns_resolution_trace_rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz";
    let Some(path) = parallax_testkit::needs::corpus_path("data/chrome") else { return };
    let experiment = converted(file, std::fs::read(path.join(file)).unwrap());
    let all = all(&experiment);
    let value = |own: &[String], name: &str| {
        own.iter().find_map(|one| one.strip_prefix(&format!("{name}=")).map(str::to_owned))
    };
    let kernels: Vec<_> = all
        .iter()
        .filter(|(_, _, own)| value(own, "grid").is_some() && value(own, "block").is_some())
        .collect();
    assert!(kernels.len() > 100, "{} of {}", kernels.len(), all.len());
    for (name, start, own) in &kernels {
        assert!(value(own, "grid").unwrap().starts_with('['), "{name} {start} {own:?}");
        let correlation = value(own, "correlation").unwrap();
        assert!(correlation.parse::<u64>().is_ok(), "{name} {own:?}");
        assert!(value(own, "stream").is_some(), "{name} {own:?}");
    }
    let external = all.iter().filter(|(_, _, own)| value(own, "External id").is_some()).count();
    assert!(external > 1000, "{external}");
}
