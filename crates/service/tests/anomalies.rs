//! `anomalies` on traces with planted calls whose durations are known.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::sync::Arc;

use parallax_base::{Folder, MemoryFolder, MemorySink};
use parallax_import::convert::{ConvertOptions, convert, recognise};
use parallax_import::events::{Conversion, TrackIdentity};
use parallax_model::IdentityKind;
use parallax_native::DiskFolder;
use parallax_protocol::{AnomaliesRequest, Answer, InfoRequest, TracePart};
use parallax_service::{Answers as _, Control, OpenExperiment, OpenLimits, open};
use parallax_testkit::needs;

const US: u64 = 1_000;

/// A program of ranks in which `main` calls `work`, `MPI_Recv` and `small` in turn; `nanos` says
/// what the `n`-th call of each takes on a rank.
fn opened(ranks: u64, steps: u64, nanos: &dyn Fn(u64, &str, u64) -> u64) -> OpenExperiment {
    let sink = MemorySink::new();
    let mut conversion = Conversion::new(Arc::new(sink.clone()), 1 << 20).unwrap();
    for rank in 0..ranks {
        let identity = vec![(IdentityKind::Rank, rank)];
        let track = conversion.track(TrackIdentity { identity, ..TrackIdentity::default() });
        let mut at = 0;
        let call = |conversion: &mut Conversion, name: &str, from: u64, to: u64| {
            let function = conversion.function(name, "");
            let builder = conversion.builder(track).unwrap();
            builder.enter(from, function);
            if name == "work" {
                // Half of it is in a function of its own.
                let inner = conversion.function("inner", "");
                let builder = conversion.builder(track).unwrap();
                builder.enter(from + (to - from) / 2, inner);
                builder.leave(to, None);
            }
            conversion.builder(track).unwrap().leave(to, None);
        };
        let main = conversion.function("main", "");
        conversion.builder(track).unwrap().enter(0, main);
        for step in 0..steps {
            for name in ["work", "MPI_Recv", "small"] {
                let to = at + nanos(rank, name, step);
                call(&mut conversion, name, at, to);
                at = to;
            }
        }
        conversion.builder(track).unwrap().leave(at, None);
    }
    conversion.finish().unwrap();
    let folder: Arc<dyn Folder> = Arc::new(sink.into_folder("planted"));
    open(&folder, &OpenLimits::default()).unwrap()
}

/// Durations that scatter by 20 %, without chance.
fn usual(rank: u64, name: &str, step: u64) -> u64 {
    let scatter = (step * 7 + rank * 3) % 11;
    match name {
        "work" => 2_000 * US + scatter * 40 * US,
        "MPI_Recv" => 100 * US * (1 + scatter),
        _ => 2 * US + scatter * US / 10,
    }
}

fn ask(opened: &OpenExperiment, request: &AnomaliesRequest) -> Answer<AnomaliesRequest> {
    opened.answer(request, &Control::new()).unwrap()
}

#[test]
fn a_planted_call_is_found_with_its_evidence_and_nothing_else() {
    let planted = |rank: u64, name: &str, step: u64| match (rank, name, step) {
        (2, "work", 31) => 40_000 * US,
        _ => usual(rank, name, step),
    };
    let opened = opened(4, 60, &planted);
    let Answer { reply, tables, .. } = ask(&opened, &AnomaliesRequest::default());
    let rows = tables.rows;
    // `work` and `inner` take half of it each.
    assert_eq!(reply.total, 2);
    assert_eq!(rows.location, ["rank 2", "rank 2"]);
    let mut names = rows.name.clone();
    names.sort();
    assert_eq!(names, ["inner", "work"]);
    assert_eq!(rows.exclusive_ns, [20e6, 20e6]);
    assert_eq!(rows.calls, [Some(60), Some(60)]);
    for (median, score) in rows.median_ns.iter().zip(&rows.score) {
        assert!(median.is_some_and(|median| (1.0e6..1.2e6).contains(&median)), "{median:?}");
        assert!(score.is_some_and(|score| score > 8.0), "{score:?}");
    }
    let work = rows.name.iter().position(|name| name == "work").unwrap();
    let before: u64 =
        (0..31).flat_map(|s| ["work", "MPI_Recv", "small"].map(|n| usual(2, n, s))).sum();
    assert_eq!(rows.start_ns[work], before as f64);
    assert_eq!(rows.end_ns[work], (before + 40_000 * US) as f64);
    // main is called once, on each of four ranks.
    assert_eq!((reply.compared, reply.too_few), (4 * 60 * 3, 4));
}

#[test]
fn what_is_usual_is_none_and_what_is_regular_neither() {
    let calm = opened(3, 60, &usual);
    let answer = ask(&calm, &AnomaliesRequest::default());
    assert_eq!(answer.reply.total, 0);
    assert!(answer.reply.notes.iter().any(|note| note.starts_with("No anomalies in 540 calls")));

    let every_tenth = |rank: u64, name: &str, step: u64| match (name, step % 10) {
        ("work", 9) => 40_000 * US,
        _ => usual(rank, name, step),
    };
    assert_eq!(ask(&opened(3, 60, &every_tenth), &AnomaliesRequest::default()).reply.total, 0);
}

#[test]
fn one_long_wait_counts_only_when_asked_for() {
    let planted = |rank: u64, name: &str, step: u64| match (rank, name, step) {
        (1, "MPI_Recv", 20) => 900_000 * US,
        _ => usual(rank, name, step).min(if name == "MPI_Recv" { 110 * US } else { u64::MAX }),
    };
    let opened = opened(2, 60, &planted);
    assert_eq!(ask(&opened, &AnomaliesRequest::default()).reply.total, 0);
    let waiting = AnomaliesRequest { waiting: true, ..AnomaliesRequest::default() };
    let answer = ask(&opened, &waiting);
    assert_eq!(answer.tables.rows.name, ["MPI_Recv"]);
    assert_eq!(answer.tables.rows.location, ["rank 1"]);
}

#[test]
fn the_window_chooses_what_is_listed_not_what_is_usual() {
    let planted = |rank: u64, name: &str, step: u64| match (rank, name, step) {
        (0, "small", 3) => 700 * US,
        (0, "small", 55) => 500 * US,
        _ => usual(rank, name, step),
    };
    let opened = opened(1, 120, &planted);
    let all = ask(&opened, &AnomaliesRequest::default());
    assert_eq!(all.tables.rows.exclusive_ns, [700e3, 500e3]);
    let part = TracePart { window: Some("20%..".into()), ..TracePart::default() };
    let late = ask(&opened, &AnomaliesRequest { part, ..AnomaliesRequest::default() });
    assert_eq!(late.tables.rows.exclusive_ns, [500e3]);
    assert_eq!(late.tables.rows.median_ns[0], all.tables.rows.median_ns[1]);
    let one = ask(&opened, &AnomaliesRequest { max_rows: 1, ..AnomaliesRequest::default() });
    assert_eq!((one.reply.total, one.tables.rows.exclusive_ns), (2, vec![700e3]));
    let long = AnomaliesRequest { min_excess_ns: 600 * US, ..AnomaliesRequest::default() };
    assert_eq!(ask(&opened, &long).reply.total, 1);
}

/// Chimbuko's rows of one rank that calls `work` and `MPI_Recv` 30 times, and a file of anomalies.
/// The 7th call of `work` takes 40 ms, the others about 2 ms.
fn rows_with(anomalies: &str, is_numbered: bool) -> OpenExperiment {
    let (mut rows, mut at) = (Vec::new(), 1_000);
    for step in 0..30 {
        for (function, name) in ["work", "MPI_Recv"].into_iter().enumerate() {
            let long = if (name, step) == ("work", 6) { 40_000 } else { 2_000 + step % 5 };
            for (code, time) in [(0, at), (1, at + long)] {
                let none = "null, null, null, null, null, null";
                // Numbers of their own begin at 1,000.
                let own =
                    if is_numbered { format!(", {}", 1_000 + rows.len()) } else { String::new() };
                rows.push(format!("[0, 0, 0, {code}, {function}, {none}, {time}{own}]"));
            }
            at += long + 10;
        }
    }
    let files = [
        ("rows.json", format!("[{}]", rows.join(","))),
        ("functions.json", r#"["work", "MPI_Recv"]"#.to_owned()),
        ("et.json", r#"["ENTRY", "EXIT"]"#.to_owned()),
        ("anomaly.json", anomalies.to_owned()),
    ];
    let files = files.map(|(name, text)| (name.to_owned(), text.into_bytes()));
    converted(&(Arc::new(MemoryFolder::new("rows", files)) as Arc<dyn Folder>), "rows.json")
}

fn converted(folder: &Arc<dyn Folder>, path: &str) -> OpenExperiment {
    let input = recognise(folder, path).unwrap().unwrap();
    let sink = MemorySink::new();
    let options = ConvertOptions::default();
    convert(&input, path, Arc::new(sink.clone()), &options, &Control::new()).unwrap();
    let folder: Arc<dyn Folder> = Arc::new(sink.into_folder(path));
    open(&folder, &OpenLimits::default()).unwrap()
}

#[test]
fn calls_that_a_file_names_are_listed_with_what_the_comparison_says() {
    // Rows 24 and 4 begin the 7th and the 2nd call of `work`, row 10 a call of `MPI_Recv`; row 5
    // ends a call, and there are not so many rows as the last number says.
    let opened = rows_with("[24, 4, 10, 5, 9000]", false);
    let Answer { reply, tables, .. } = ask(&opened, &AnomaliesRequest::default());
    assert_eq!(reply.detector.as_deref(), Some("anomaly.json"));
    assert_eq!((reply.total, reply.found, reply.named), (3, 1, 3));
    assert!((37.9e6..38.1e6).contains(&reply.excess_ns), "{}", reply.excess_ns);
    let rows = &tables.rows;
    assert_eq!(rows.name, ["work", "MPI_Recv", "work"]);
    assert_eq!((&*rows.found, &*rows.named), (&[true, false, false][..], &[true; 3][..]));
    assert_eq!(rows.calls, [Some(30), None, Some(30)]);
    assert!(rows.score[2].is_some_and(|score| score.abs() < 1.0), "{:?}", rows.score);
    assert_eq!(rows.median_ns[1], None);
    let told = "anomaly.json names 3 calls of this part; 1 of them are found by comparison, too.";
    assert!(reply.notes.iter().any(|note| note == told), "{:?}", reply.notes);
    let info = opened.answer(&InfoRequest::default(), &Control::new()).unwrap().reply;
    let lost = info.issue_list.iter().find(|issue| issue.kind == "anomaly-no-call").unwrap();
    assert_eq!(lost.count, 2);
    // What is concluded from all calls still is: all of them are there.
    assert!(reply.is_compared);
}

#[test]
fn rows_with_numbers_of_their_own_are_named_by_these() {
    let opened = rows_with(r#"{"type": "anomalies", "value": [1004]}"#, true);
    let Answer { reply, tables, .. } = ask(&opened, &AnomaliesRequest::default());
    assert_eq!((reply.total, reply.found, reply.named), (2, 1, 1));
    let named = tables.rows.named.iter().position(|&named| named).unwrap();
    assert_eq!((&*tables.rows.name[named], tables.rows.found[named]), ("work", false));
    // What is no list of numbers is no file of anomalies.
    let other = rows_with(r#"["work"]"#, false);
    let Answer { reply, .. } = ask(&other, &AnomaliesRequest::default());
    assert_eq!((reply.detector, reply.total, reply.named), (None, 1, 0));
}

#[test]
fn the_anomalies_of_the_heat_workflow_are_named() {
    let Some(path) = needs::corpus_path("data/codar/heat") else { return };
    let folder: Arc<dyn Folder> = Arc::new(DiskFolder::new(&path));
    let opened = converted(&folder, "events_test1.json");
    let Answer { reply, tables, .. } = ask(&opened, &AnomaliesRequest::default());
    // The file has twelve numbers of rows.
    assert_eq!((reply.detector.as_deref(), reply.named), (Some("anomaly.json"), 12));
    let named = tables.rows.name.iter().zip(&tables.rows.named).filter(|(_, named)| **named);
    let opens = named.clone().filter(|(name, _)| name.starts_with("adios_open")).count();
    let closes = named.filter(|(name, _)| name.starts_with("adios_close")).count();
    assert_eq!((opens, closes), (6, 6));
}
