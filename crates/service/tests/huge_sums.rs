//! Times over many locations that 64 bits of nanoseconds cannot hold (584 years, such as 100,000
//! locations that run for 51 hours) are right to the digit, and what is cut is said.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

mod converted;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use converted::converted;
use parallax_base::{Folder, FunctionIdx, MemorySink, TimeWindow, TrackIdx};
use parallax_engine::{LocationChoice, Table, TileQuestion, call_depths};
use parallax_import::events::{Conversion, Endpoint, TrackIdentity};
use parallax_model::IdentityKind;
use parallax_protocol::{
    AnswerTable as _, CriticalPathBy, CriticalPathRequest, FindRequest, IterationsRequest,
    MessagesRequest, OverTimeRequest, OverTimeWhat, StatsBy, StatsRequest, TypedTable as _,
    WaitsBy, WaitsRequest,
};
use parallax_service::analysis::idleness::gpu_blame;
use parallax_service::analysis::report::FindingKind;
use parallax_service::{Answers as _, Control, OpenExperiment, OpenLimits, open};

const RANKS: u64 = 16;
/// Nanoseconds of the part of each rank in which it works; 16 of them are more than 2^64.
const WORK: u64 = (1 << 61) + 12_345;
/// Of the part in which all but the last rank wait.
const WAIT: u64 = (1 << 60) + 77;

/// Ranks that work for as long, and then wait for the last one, which works for longer.
fn waiting_ranks() -> OpenExperiment {
    let end = 1000 + WORK + WAIT;
    let tracks: Vec<_> = (0..RANKS)
        .map(|rank| {
            let enter = if rank + 1 == RANKS { end } else { 1000 + WORK };
            let identity = vec![(IdentityKind::Rank, rank), (IdentityKind::Thread, 0)];
            (identity, vec![(1000, enter, "work"), (enter, end + 10, "MPI_Barrier")])
        })
        .collect();
    converted(&tracks)
}

/// In `work`, on all ranks together.
const WORKED: u128 = WORK as u128 * RANKS as u128 + WAIT as u128;
/// In `MPI_Barrier`.
const IN_MPI: u128 = WAIT as u128 * (RANKS as u128 - 1) + 10 * RANKS as u128;

fn floats(table: &Table, name: &str) -> Vec<f64> {
    let batch = table.to_record_batch();
    batch.column_by_name(name).unwrap().as_primitive::<Float64Type>().values().to_vec()
}

/// Seconds, as a table has them.
fn seconds(nanos: u128) -> f64 {
    nanos as f64 / 1e9
}

fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} is not {expected}");
}

#[test]
fn sums_by_context_and_pictures_are_exact() {
    assert!(WORKED > u128::from(u64::MAX));
    let opened = waiting_ranks();
    let session = opened.session();
    let tree = session.tree();
    let all = LocationChoice::All;
    let sums = session.context_sums(&all, TimeWindow::ALL, &Control::new()).unwrap();
    let of = |name: &str| -> u128 {
        let named = tree.iter().filter(|&context| tree.label(context) == name);
        named.map(|context| sums.nanos[context.idx()]).sum()
    };
    assert_eq!((of("work"), of("MPI_Barrier")), (WORKED, IN_MPI));
    // A picture with eight ranks in a row, each of which has more than 2^64, in a single bin.
    let keys: Vec<Option<u32>> =
        tree.iter().map(|context| tree.function(context).map(FunctionIdx::get)).collect();
    let depths = call_depths(tree);
    let question = TileQuestion {
        rows: &[(0, 8), (8, 16)].map(|(from, to)| TrackIdx::new(from)..TrackIdx::new(to)),
        window: TimeWindow::ALL,
        exponent: 62,
        key_of: &keys,
        depth_of: &depths,
    };
    let tile = session.tile(&question, &Control::new()).unwrap();
    assert_eq!(tile.cells.iter().map(|cell| cell.busy_nanos).sum::<u128>(), WORKED + IN_MPI);
    assert_eq!(tile.cells.iter().map(|cell| cell.dominant_nanos).sum::<u128>(), WORKED);
    let names = opened.timeline_names(&Control::new()).unwrap();
    assert_eq!(
        (names.functions[0].name.as_str(), names.functions[0].exclusive_nanos),
        ("work", WORKED)
    );
}

#[test]
fn sums_of_bytes_beyond_64_bits_are_said() {
    let sums = |num_messages: u64, bytes: u64| {
        let sink = MemorySink::new();
        let mut conversion = Conversion::new(Arc::new(sink.clone()), 1 << 20).unwrap();
        let tracks = [0, 1].map(|rank| {
            let identity = vec![(IdentityKind::Rank, rank)];
            conversion.track(TrackIdentity { identity, ..TrackIdentity::default() })
        });
        let peers = tracks.map(|track| conversion.peer_of(track));
        for at in 0..num_messages {
            for (own, is_send) in [(0, true), (1, false)] {
                let nanos = 100 * at + 10 * u64::from(!is_send);
                let partner = peers[1 - own];
                let side = Endpoint { nanos, partner, communicator: 0, tag: 0, bytes, is_send };
                conversion.builder(tracks[own]).unwrap().message(side);
            }
        }
        conversion.finish().unwrap();
        let folder: Arc<dyn Folder> = Arc::new(sink.into_folder("memory"));
        let opened = open(&folder, &OpenLimits::default()).unwrap();
        let answer = opened.answer(&MessagesRequest::default(), &Control::new()).unwrap();
        let batch = answer.tables.rows.into_answer_table("").to_record_batch();
        let bytes = batch.column_by_name("bytes").unwrap().as_primitive::<UInt64Type>().value(0);
        (bytes, answer.reply.notes)
    };
    assert_eq!(sums(2, u64::MAX / 2), (u64::MAX - 1, Vec::new()));
    assert_eq!(sums(1, u64::MAX), (u64::MAX, Vec::new()));
    let (bytes, notes) = sums(3, u64::MAX / 2);
    assert_eq!(bytes, u64::MAX);
    assert!(notes[0].starts_with("1 sum of bytes exceeds 2^64 - 1"), "{notes:?}");
}

#[test]
fn answers_of_all_analyses_hold_such_sums() {
    let opened = waiting_ranks();
    let control = Control::new();
    let request = StatsRequest { by: StatsBy::Function, ..StatsRequest::default() };
    let stats = opened.answer(&request, &control).unwrap().tables.rows.into_table();
    assert_eq!(floats(&stats, "exclusive_s"), [seconds(WORKED), seconds(IN_MPI)]);
    near(floats(&stats, "share_percent")[0], WORKED as f64 / (WORKED + IN_MPI) as f64 * 100.0);

    let waited = u128::from(WAIT) * (u128::from(RANKS) - 1);
    for by in [WaitsBy::Function, WaitsBy::Context] {
        let request = WaitsRequest { by, ..WaitsRequest::default() };
        let waits = opened.answer(&request, &control).unwrap().tables.rows.into_table();
        near(floats(&waits, "waiting_s")[0], seconds(waited));
        near(floats(&waits, "in_calls_s")[0], seconds(waited + 10 * (u128::from(RANKS) - 1)));
    }
    for what in [OverTimeWhat::Profile, OverTimeWhat::Idle, OverTimeWhat::Lateness] {
        let request = OverTimeRequest { what, bins: 2, ..OverTimeRequest::default() };
        let totals =
            opened.answer(&request, &control).unwrap().tables.totals.into_answer_table("s");
        if what == OverTimeWhat::Profile {
            assert_eq!(floats(&totals, "exclusive_s"), [seconds(WORKED), seconds(IN_MPI)]);
        }
    }
    let request =
        CriticalPathRequest { by: CriticalPathBy::Function, ..CriticalPathRequest::default() };
    let path = opened.answer(&request, &control).unwrap().tables.rows.into_answer_table("s");
    near(floats(&path, "all_locations_s")[0], seconds(WORKED));

    let report = opened.diagnose(None, &control).unwrap().value;
    near(report.program_total, seconds(WORKED + IN_MPI));
    let found = report.findings.iter().find(|f| f.kind == FindingKind::Waiting).unwrap();
    near(found.evidence[0].value, seconds(waited));
    opened.answer(&IterationsRequest::default(), &control).unwrap();
}

#[test]
fn totals_of_found_calls_say_where_they_are_cut() {
    let opened = waiting_ranks();
    let find = |max_ns| {
        let request = FindRequest { max_ns, ..FindRequest::default() };
        opened.answer(&request, &Control::new()).unwrap()
    };
    let all = find(None);
    assert_eq!(all.reply.total_ns, u64::MAX);
    let note = format!("the calls take {} ns together", WORKED + IN_MPI);
    let notes = &all.reply.notes;
    assert!(notes.iter().any(|said| said.starts_with(&note)), "{notes:?}");
    near(
        floats(&all.tables.histogram.into_table(), "total_ns").iter().sum(),
        (WORKED + IN_MPI) as f64,
    );
    let short = find(Some(10));
    let notes = &short.reply.notes;
    assert_eq!((short.reply.total_ns, notes.len()), (10, 0), "{notes:?}");
}

#[test]
fn idle_time_of_gpus_is_blamed_to_the_digit() {
    const SPAN: u64 = 1 << 62;
    let tracks: Vec<_> = (0..RANKS)
        .flat_map(|rank| {
            let of = |kind, nth| vec![(IdentityKind::Rank, rank), (kind, nth)];
            [
                (of(IdentityKind::Thread, 0), vec![(0, SPAN, "prepare")]),
                (
                    of(IdentityKind::GpuStream, 1),
                    vec![(0, 100, "kernel"), (SPAN - 7, SPAN, "kernel")],
                ),
            ]
        })
        .collect();
    let opened = converted(&tracks);
    let blame = gpu_blame(opened.session(), &Control::new()).unwrap();
    let idle = u128::from(SPAN - 107) * u128::from(RANKS);
    assert!(idle > u128::from(u64::MAX));
    assert_eq!((blame.idle_nanos(), blame.unattributed_nanos()), (idle, 0));
    assert_eq!(blame.calls.len(), 1);
    assert_eq!((blame.calls[0].exclusive_nanos, blame.calls[0].inclusive_nanos), (idle, idle));
    opened.diagnose(None, &Control::new()).unwrap();
}
