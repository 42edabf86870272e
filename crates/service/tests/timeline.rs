//! Statistics, pictures and messages of real traces agree with each other to the nanosecond.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use parallax_base::{Folder, FunctionIdx, MemorySink, TimeWindow};
use parallax_engine::{LocationChoice, Table};
use parallax_native::DiskFolder;
use parallax_service::{
    Control, ConvertOptions, MessagesBy, MessagesRequest, OpenLimits, Opened, StatsBy,
    StatsRequest, convert, open, recognise_trace,
};

/// The trace at `path` of the corpus, converted in memory; `None` where there is no corpus.
fn trace(folder: &str, path: &str) -> Option<Opened> {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let root = std::env::var_os("PARALLAX_CORPUS").map_or_else(default, PathBuf::from);
    let place = root.join("data").join(folder);
    if !place.exists() {
        println!("skipped: {} is not there", place.display());
        return None;
    }
    let folder: Arc<dyn Folder> = Arc::new(DiskFolder::new(&place));
    let input = recognise_trace(&folder, path).unwrap().unwrap();
    let sink = MemorySink::new();
    let options = ConvertOptions::default();
    convert(&input, path, Arc::new(sink.clone()), &options, &Control::new()).unwrap();
    let folder: Arc<dyn Folder> = Arc::new(sink.into_folder(path));
    Some(open(&folder, &OpenLimits::default()).unwrap())
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

fn stats(opened: &Opened, by: StatsBy, window: Option<String>) -> Table {
    let request = StatsRequest { profiles: None, window, by };
    opened.stats(&request, &Control::new()).unwrap().value
}

#[test]
fn windows_side_by_side_have_the_time_and_the_calls_of_the_whole() {
    let Some(opened) = trace("otf2/tau-minife-4", "traces.otf2") else { return };
    let whole = stats(&opened, StatsBy::Function, None);
    assert_eq!(counts(&whole, "calls").iter().sum::<u64>(), 6_132);
    let span = opened.session().traces().unwrap().span();
    let mut edges: Vec<u64> = (0..=13).map(|i| span.start_nanos + span.nanos() * i / 13).collect();
    *edges.last_mut().unwrap() += 1;
    let (mut time, mut calls) = (0, 0);
    for pair in edges.windows(2) {
        let window = TimeWindow::new(pair[0], pair[1]);
        let sums =
            opened.session().context_sums(&LocationChoice::All, window, &Control::new()).unwrap();
        time += sums.nanos.iter().skip(1).sum::<u64>();
        calls += sums.calls.iter().sum::<u64>();
    }
    assert_eq!(calls, 6_132);
    assert_eq!(time, nanos(&floats(&whole, "exclusive_s")));
    for by in [StatsBy::Group, StatsBy::Context] {
        assert_eq!(nanos(&floats(&stats(&opened, by, None), "exclusive_s")), time, "{by:?}");
    }
}

#[test]
fn a_window_on_the_command_line_is_the_one_asked_for() {
    let Some(opened) = trace("otf2/tau-minife-4", "traces.otf2") else { return };
    let half = stats(&opened, StatsBy::Function, Some("0%..50%".into()));
    let span = opened.session().traces().unwrap().span();
    let most = (span.nanos() / 2 + 1) * 4;
    let busy = nanos(&floats(&half, "exclusive_s"));
    assert!(busy > most * 8 / 10 && busy <= most, "{busy} of {most} ns on four tracks");
}

#[test]
fn pictures_have_the_time_of_the_statistics_at_any_width() {
    let Some(opened) = trace("codar", "lammps-event_list.json.gz") else { return };
    let session = opened.session();
    let busy = nanos(&floats(&stats(&opened, StatsBy::Function, None), "exclusive_s"));
    let keys: Vec<Option<u32>> =
        session.tree().iter().map(|c| session.tree().function(c).map(FunctionIdx::get)).collect();
    for exponent in [9, 13, 20, 27, 40] {
        let tile =
            session.tile(&[0, 1], TimeWindow::ALL, exponent, &keys, &Control::new()).unwrap();
        assert_eq!(tile.cells.len(), 2 * tile.num_bins);
        assert_eq!(tile.cells.iter().map(|cell| cell.busy_nanos).sum::<u64>(), busy, "{exponent}");
        assert_eq!(tile.cells.iter().map(|cell| cell.calls).sum::<u64>(), 171_310, "{exponent}");
        assert_eq!(tile.cells.iter().map(|cell| cell.depth).max(), Some(4), "{exponent}");
        for cell in &tile.cells {
            assert!(cell.dominant_nanos <= cell.busy_nanos);
            assert!(cell.busy_nanos <= 1 << exponent);
            assert!(cell.busy_nanos == 0 || cell.dominant.is_some());
        }
    }
    let few = vec![None; keys.len()];
    let tile = session.tile(&[0], TimeWindow::ALL, 20, &few, &Control::new()).unwrap();
    assert!(tile.cells.iter().all(|cell| cell.busy_nanos == 0 && cell.dominant.is_none()));
    assert!(session.tile(&[0, 1], TimeWindow::ALL, 0, &keys, &Control::new()).is_err());
}

#[test]
fn messages_are_the_same_however_they_are_put_together() {
    let Some(opened) = trace("otf2/tau-minife-4", "traces.otf2") else { return };
    for by in [MessagesBy::Pair, MessagesBy::Size, MessagesBy::Tag] {
        let request = MessagesRequest { by, ..MessagesRequest::default() };
        let table = opened.messages(&request, &Control::new()).unwrap().value;
        assert_eq!(counts(&table, "messages").iter().sum::<u64>(), 1_236, "{by:?}");
        assert_eq!(counts(&table, "unmatched").iter().sum::<u64>(), 0, "{by:?}");
    }
    let request = MessagesRequest { by: MessagesBy::Message, ..MessagesRequest::default() };
    let all = opened.messages(&request, &Control::new()).unwrap().value;
    assert_eq!(all.num_rows(), 1_236);
    let request = MessagesRequest { profiles: Some("rank(2)".into()), ..request };
    let own = opened.messages(&request, &Control::new()).unwrap().value;
    assert!(own.num_rows() > 0 && own.num_rows() < 1_236);
}
