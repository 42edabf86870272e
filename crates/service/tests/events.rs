//! Analyses of real traces of events keep the identities that their definitions promise.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::process::Command;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use parallax_base::{Folder, MemoryFolder, MemorySink};
use parallax_engine::Table;
use parallax_native::DiskFolder;
use parallax_protocol::{
    Answer, AnswerTable as _, CriticalPathBy, CriticalPathRequest, IterationsRequest,
    OverTimeRequest, OverTimeWhat, StatsBy, StatsRequest, TypedTable as _, WaitsBy, WaitsKind,
    WaitsRequest,
};
use parallax_service::analysis::events::{Selection, WaitChoice, waits as analysis_waits};
use parallax_service::analysis::report::FindingKind;
use parallax_service::{
    Answers as _, Control, ConvertOptions, OpenExperiment, OpenLimits, convert, open,
    recognise_trace,
};
use parallax_testkit::needs::{self, Without};
use parallax_testkit::otf2::{HALO_NANOS, halo_exchange};

/// Training that is bound by its GPU.
const GPU_BOUND: &str = "ns_resolution_trace_rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz";

/// A trace of the corpus, converted in memory; `None` where there is no corpus.
fn trace(folder: &str, name: &str) -> Option<OpenExperiment> {
    let path = needs::corpus_path(&format!("data/{folder}/{name}"))?;
    let place = path.parent()?;
    let folder: Arc<dyn Folder> = Arc::new(DiskFolder::new(place));
    let input = recognise_trace(&folder, name).unwrap().unwrap();
    let sink = MemorySink::new();
    let options = ConvertOptions::default();
    convert(&input, name, Arc::new(sink.clone()), &options, &Control::new()).unwrap();
    let folder: Arc<dyn Folder> = Arc::new(sink.into_folder(name));
    Some(open(&folder, &OpenLimits::default()).unwrap())
}

/// The traces of the corpus.
fn traces() -> Vec<(&'static str, OpenExperiment)> {
    let all = [
        ("otf2/tau-minife-4", "traces.otf2"),
        ("reactor/otf2-p4", "traces.otf2"),
        ("codar", "lammps-event_list.json.gz"),
        ("codar/heat", "events_test1.json"),
        ("chrome", "memcpy-host-device.rocprofiler.json.gz"),
        ("chrome", "critical_path_alexnet_benchmark_result_2869224_1695835535_trace.json.gz"),
        ("chrome", GPU_BOUND),
    ];
    all.into_iter().filter_map(|(folder, name)| Some((name, trace(folder, name)?))).collect()
}

fn floats(table: &Table, name: &str) -> Vec<f64> {
    let batch = table.to_record_batch();
    batch.column_by_name(name).unwrap().as_primitive::<Float64Type>().values().to_vec()
}

fn counts(table: &Table, name: &str) -> Vec<u64> {
    let batch = table.to_record_batch();
    batch.column_by_name(name).unwrap().as_primitive::<UInt64Type>().values().to_vec()
}

fn nanos(seconds: &[f64]) -> u64 {
    seconds.iter().map(|s| (s * 1e9).round() as u64).sum()
}

fn waits(opened: &OpenExperiment, kind: Option<WaitsKind>, by: WaitsBy) -> Table {
    let request = WaitsRequest { kind, by, ..WaitsRequest::default() };
    opened.answer(&request, &Control::new()).unwrap().tables.rows.into_table()
}

/// What changes over time by bin and in all.
struct OverTime {
    num_bins: u32,
    by_bin: Table,
    totals: Table,
}

fn over_time(opened: &OpenExperiment, what: OverTimeWhat, bins: u32) -> OverTime {
    let request = OverTimeRequest { what, bins, ..OverTimeRequest::default() };
    let Answer { reply, tables, .. } = opened.answer(&request, &Control::new()).unwrap();
    OverTime {
        num_bins: reply.bins,
        by_bin: tables.rows.into_answer_table(""),
        totals: tables.totals.into_answer_table(""),
    }
}

/// What `MPI_Sendrecv` waits is counted once: in the waits, of all time, and in the report.
#[test]
fn an_exchange_waits_for_one_reason() {
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("halo", halo_exchange()));
    let input = recognise_trace(&folder, "traces.otf2").unwrap().unwrap();
    let sink = MemorySink::new();
    let options = ConvertOptions::default();
    convert(&input, "halo", Arc::new(sink.clone()), &options, &Control::new()).unwrap();
    let folder: Arc<dyn Folder> = Arc::new(sink.into_folder("halo"));
    let opened = open(&folder, &OpenLimits::default()).unwrap();
    let table = waits(&opened, None, WaitsBy::Track);
    let [(in_calls, waiting), _] = HALO_NANOS;
    assert_eq!(nanos(&floats(&table, "waiting_s")), waiting);
    assert_eq!(nanos(&floats(&table, "in_calls_s")), in_calls);
    assert_eq!(counts(&table, "waits"), [100]);
    // Of the time of two ranks; MPI has 46.1 %.
    assert_eq!(floats(&table, "share_percent"), [45.0]);
    let late_receiver = waits(&opened, Some(WaitsKind::LateReceiver), WaitsBy::Track);
    assert_eq!(late_receiver.num_rows(), 0);
    let report = opened.diagnose(None, &Control::new()).unwrap().value;
    let found: Vec<_> = report.findings.iter().filter(|f| f.kind == FindingKind::Waiting).collect();
    assert_eq!(found.len(), 1);
    assert!((found[0].percent - 45.0).abs() < 1e-9, "{}", found[0].text);
    let potential = found[0].potential.as_ref().unwrap();
    assert!((potential.amount - 0.045).abs() < 1e-9, "{}", potential.amount);
    assert_eq!(potential.condition, "per location on average, without these waits");
}

/// TAU writes no requests: which receives were late for their senders is not known, and is told.
#[test]
fn traces_without_requests_say_so() {
    for (name, folder) in
        [("traces.otf2", "otf2/tau-minife-4"), ("lammps-event_list.json.gz", "codar")]
    {
        let Some(opened) = trace(folder, name) else { return };
        let answer = opened.answer(&WaitsRequest::default(), &Control::new()).unwrap();
        let is_told = answer.reply.notes.iter().any(|note| note.contains("posting the receive"));
        assert!(is_told, "{folder}: {:?}", answer.reply.notes);
    }
}

#[test]
fn nobody_waits_longer_than_there_is_time() {
    for (name, opened) in traces() {
        let span = opened.session().traces().unwrap().span().nanos();
        for waiting in floats(&waits(&opened, None, WaitsBy::Track), "share_percent") {
            assert!(waiting <= 100.0, "{name}: {waiting} %");
        }
        let selection = Selection::all(opened.session()).unwrap();
        let found =
            analysis_waits(opened.session(), &selection, WaitChoice::ALL, &Control::new()).unwrap();
        let mut list = found.list;
        list.sort_by_key(|wait| (wait.track, wait.start_nanos));
        for pair in list.windows(2) {
            let is_apart =
                pair[0].track != pair[1].track || pair[0].end_nanos <= pair[1].start_nanos;
            assert!(is_apart, "{name}: {pair:?}");
        }
        for wait in &list {
            assert!(wait.call_start_nanos <= wait.start_nanos, "{name}: {wait:?}");
            assert!(wait.end_nanos <= wait.call_end_nanos, "{name}: {wait:?}");
            assert!(wait.nanos() <= span, "{name}: {wait:?}");
        }
    }
}

#[test]
fn waits_are_the_same_however_they_are_put_together() {
    for (name, opened) in traces() {
        let by_function = waits(&opened, None, WaitsBy::Function);
        let (number, time) =
            (counts(&by_function, "waits"), nanos(&floats(&by_function, "waiting_s")));
        for by in [WaitsBy::Context, WaitsBy::Track, WaitsBy::Pair] {
            let table = waits(&opened, None, by);
            let same = counts(&table, "waits").iter().sum::<u64>();
            assert_eq!(same, number.iter().sum::<u64>(), "{name} {by:?}");
            assert_eq!(nanos(&floats(&table, "waiting_s")), time, "{name} {by:?}");
            let in_calls = floats(&table, "in_calls_s");
            for (waiting, in_calls) in floats(&table, "waiting_s").iter().zip(in_calls) {
                assert!(*waiting <= in_calls, "{name}: {waiting} s of waiting in {in_calls} s");
            }
        }
        let of_kinds = [
            WaitsKind::LateSender,
            WaitsKind::LateReceiver,
            WaitsKind::Collective,
            WaitsKind::LateLaunch,
            WaitsKind::ForGpu,
        ]
        .map(|kind| nanos(&floats(&waits(&opened, Some(kind), WaitsBy::Track), "waiting_s")));
        assert_eq!(of_kinds.iter().sum::<u64>(), time, "{name}");
    }
}

#[test]
fn programs_that_wait_are_found_waiting() {
    for (name, opened) in traces() {
        let is_expected = name != "memcpy-host-device.rocprofiler.json.gz";
        let is_found = waits(&opened, None, WaitsBy::Track).num_rows() > 0;
        assert_eq!(is_found, is_expected, "{name}");
    }
}

#[test]
fn time_profiles_have_the_time_of_the_statistics() {
    for (name, opened) in traces() {
        let request = StatsRequest { by: StatsBy::Function, ..StatsRequest::default() };
        let stats = opened.answer(&request, &Control::new()).unwrap().tables.rows.into_table();
        let whole = nanos(&floats(&stats, "exclusive_s"));
        for bins in [1, 7, 64] {
            let answer = over_time(&opened, OverTimeWhat::Profile, bins);
            assert!(answer.num_bins <= bins, "{name}");
            assert_eq!(nanos(&floats(&answer.by_bin, "exclusive_s")), whole, "{name}");
            assert_eq!(nanos(&floats(&answer.totals, "exclusive_s")), whole, "{name}");
        }
    }
}

#[test]
fn idle_time_is_part_of_the_time_there_is() {
    for (name, opened) in traces() {
        let span = opened.session().traces().unwrap().span().nanos();
        for bins in [1, 16] {
            let answer = over_time(&opened, OverTimeWhat::Idle, bins);
            let (by_bin, totals) = (&answer.by_bin, &answer.totals);
            for column in ["waiting_s", "outside_s"] {
                assert_eq!(
                    nanos(&floats(by_bin, column)),
                    nanos(&floats(totals, column)),
                    "{name} {column}"
                );
            }
            for (at, percent) in floats(totals, "idle_percent").into_iter().enumerate() {
                let [waiting, outside] = ["waiting_s", "outside_s"].map(|c| floats(totals, c)[at]);
                let share = (waiting + outside) * 1e9 / span as f64 * 100.0;
                assert!((0.0..=100.0).contains(&percent), "{name}: {percent} %");
                assert!((share - percent).abs() < 1e-6, "{name}: {share} is not {percent}");
            }
        }
        let balance = over_time(&opened, OverTimeWhat::Imbalance, 16).by_bin;
        let means = floats(&balance, "mean_s");
        for (mean, most) in means.into_iter().zip(floats(&balance, "max_s")) {
            assert!(mean <= most, "{name}");
        }
    }
}

fn path_by(opened: &OpenExperiment, by: CriticalPathBy, segments: bool) -> (u64, Table) {
    let request = CriticalPathRequest { by, segments, ..CriticalPathRequest::default() };
    let answer = opened.answer(&request, &Control::new()).unwrap();
    (answer.reply.segments, answer.tables.rows.into_answer_table(""))
}

#[test]
fn the_critical_path_is_as_long_as_the_trace() {
    for (name, opened) in traces() {
        let span = opened.session().traces().unwrap().span();
        for by in [
            CriticalPathBy::Function,
            CriticalPathBy::Group,
            CriticalPathBy::Context,
            CriticalPathBy::Track,
        ] {
            let (_, table) = path_by(&opened, by, false);
            assert_eq!(nanos(&floats(&table, "on_path_s")), span.nanos(), "{name} {by:?}");
            let percent: f64 = floats(&table, "share_percent").iter().sum();
            assert!((percent - 100.0).abs() < 1e-6, "{name} {by:?}: {percent} %");
        }
        let (num_segments, table) = path_by(&opened, CriticalPathBy::Function, true);
        let table = &table;
        assert_eq!(table.num_rows() as u64, num_segments, "{name}");
        assert_eq!(nanos(&floats(table, "length_s")), span.nanos(), "{name}");
        let mut now = 0.0;
        for (start, length) in floats(table, "start_s").iter().zip(floats(table, "length_s")) {
            assert!((start - now).abs() < 1e-9, "{name}: a gap at {start} s");
            now = start + length;
        }
    }
}

/// Values of `oracles/gpu_waits.py`, which reads the JSON and shares nothing with Parallax: number
/// and nanoseconds of late launches and of waits for GPUs, segments of the path, and nanoseconds of
/// it on streams.
#[test]
fn waits_and_paths_of_gpus_are_those_of_the_raw_traces() {
    let all = [
        (
            "critical_path_alexnet_benchmark_result_2869224_1695835535_trace.json.gz",
            (40, 83_637_415_000),
            (17, 1_344_000),
            35,
            61_153_000,
        ),
        ("nccl_parser_config_nccl_data.json.gz", (2635, 1_160_893_619), (0, 0), 1, 0),
        (GPU_BOUND, (48, 99_753_350), (1, 89_162_516), 3, 477_716_475),
    ];
    for (name, late, for_gpu, segments, on_streams) in all {
        let Some(opened) = trace("chrome", name) else { return };
        let of_kind = |kind| {
            let table = waits(&opened, Some(kind), WaitsBy::Track);
            (counts(&table, "waits").iter().sum(), nanos(&floats(&table, "waiting_s")))
        };
        assert_eq!(of_kind(WaitsKind::LateLaunch), late, "{name}");
        assert_eq!(of_kind(WaitsKind::ForGpu), for_gpu, "{name}");
        let (num_segments, path) = path_by(&opened, CriticalPathBy::Track, false);
        assert_eq!(num_segments, segments, "{name}");
        let batch = path.to_record_batch();
        let named = batch.column_by_name("location").unwrap().as_string::<i32>().clone();
        let times = floats(&path, "on_path_s");
        let streams = named.iter().zip(times).filter(|(name, _)| name.unwrap().contains("stream"));
        let streams: Vec<f64> = streams.map(|(_, time)| time).collect();
        assert_eq!(nanos(&streams), on_streams, "{name}");
        let numbers = format!("{late:?} {for_gpu:?} {segments} {on_streams}");
        assert_eq!(of_oracle(name).unwrap_or_else(|| numbers.clone()), numbers, "{name}");
    }
}

/// What the script prints after the name of the trace; `None` without Python.
fn of_oracle(name: &str) -> Option<String> {
    if !needs::program("python3", Without::Part) {
        return None;
    }
    let trace = needs::corpus_path(&format!("data/chrome/{name}"))?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracles/gpu_waits.py");
    let output = Command::new("python3").arg(script).arg(trace).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.trim().split_once(' ')?.1.to_owned())
}

#[test]
fn lateness_and_overlap_are_shares_of_what_there_is() {
    for (name, opened) in traces() {
        let late = over_time(&opened, OverTimeWhat::Lateness, 16);
        let calls = counts(&late.totals, "calls");
        assert_eq!(
            calls.iter().sum::<u64>(),
            counts(&late.by_bin, "calls").iter().sum::<u64>(),
            "{name}"
        );
        for (mean, most) in
            floats(&late.totals, "mean_s").iter().zip(floats(&late.totals, "longest_s"))
        {
            assert!(*mean <= most, "{name}");
        }
        let overlap = over_time(&opened, OverTimeWhat::Overlap, 16);
        for column in ["under_way_s", "computing_s"] {
            assert_eq!(
                nanos(&floats(&overlap.totals, column)),
                nanos(&floats(&overlap.by_bin, column)),
                "{name} {column}"
            );
        }
        let shares = floats(&overlap.totals, "overlap_percent");
        assert!(shares.iter().all(|share| (0.0..=100.0).contains(share)), "{name}: {shares:?}");
    }
}

#[test]
fn iterations_of_calls_are_the_steps_of_the_program() {
    // Each step calls the function once on each rank; messages come in bursts inside of a step.
    let all = [
        ("codar", "lammps-event_list.json.gz", "LAMMPS_NS::PairEAM::compute", 2),
        ("reactor/otf2-p4", "traces.otf2", "react [", 4),
    ];
    for (folder, name, function, ranks) in all {
        let Some(opened) = trace(folder, name) else { return };
        let control = Control::new();
        let answer = opened.answer(&IterationsRequest::default(), &control).unwrap().reply;
        let best = answer.groups.iter().find_map(|group| group.best.as_ref()).unwrap();
        let request = StatsRequest { by: StatsBy::Function, ..StatsRequest::default() };
        let stats = opened.answer(&request, &control).unwrap().tables.rows.into_table();
        let batch = stats.to_record_batch();
        let names = batch.column_by_name("name").unwrap().as_string::<i32>().clone();
        let at = names.iter().position(|name| name.unwrap().contains(function)).unwrap();
        let calls = counts(&stats, "calls").get(at).copied().unwrap();
        assert_eq!(best.count * ranks, calls, "{folder}: {}", best.path);
        assert!(best.marker.contains(function), "{folder}: {}", best.path);
    }
}
