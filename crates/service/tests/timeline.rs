//! Statistics, pictures and messages of real traces agree with each other to the nanosecond.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use parallax_base::{Folder, FunctionIdx, MemorySink, TimeWindow, TrackIdx};
use parallax_engine::{LocationChoice, Table, TileQuestion, TrackRange, call_depths};
use parallax_native::DiskFolder;
use parallax_protocol::{
    Answer, AnswerTable as _, CallsRequest, FindOrder, FindRequest, LinkBinsRequest, LinkTable,
    LinksRequest, MessagesBy, MessagesRequest, PathAtRequest, StacksRequest, StatsBy, StatsRequest,
    TimelineBy, TimelineRequest, TracePart, TrackSpan, TypedTable as _,
};
use parallax_service::{
    Answers as _, Control, ConvertOptions, OpenExperiment, OpenLimits, convert, open,
    recognise_trace,
};

/// The trace at `path` of the corpus, converted in memory; `None` where there is no corpus.
fn trace(folder: &str, path: &str) -> Option<OpenExperiment> {
    let place = parallax_testkit::needs::corpus_path(&format!("data/{folder}"))?;
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

fn stats(opened: &OpenExperiment, by: StatsBy, window: Option<String>) -> Table {
    let part = TracePart { window, ..TracePart::default() };
    let request = StatsRequest { part, by, ..StatsRequest::default() };
    opened.answer(&request, &Control::new()).unwrap().tables.rows.into_table()
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
        time += sums.nanos.iter().skip(1).sum::<u128>();
        calls += sums.calls.iter().sum::<u64>();
    }
    assert_eq!(calls, 6_132);
    assert_eq!(time, u128::from(nanos(&floats(&whole, "exclusive_s"))));
    for by in [StatsBy::Group, StatsBy::Context] {
        let same = nanos(&floats(&stats(&opened, by, None), "exclusive_s"));
        assert_eq!(u128::from(same), time, "{by:?}");
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
    let depths = call_depths(session.tree());
    let rows = |from, to| TrackIdx::new(from)..TrackIdx::new(to);
    let tile = |rows: &[TrackRange], exponent, keys: &[Option<u32>]| {
        let window = TimeWindow::ALL;
        let question = TileQuestion { rows, window, exponent, key_of: keys, depth_of: &depths };
        session.tile(&question, &Control::new())
    };
    for exponent in [9, 13, 20, 27, 40] {
        let tile = tile(&[rows(0, 1), rows(1, 2)], exponent, &keys).unwrap();
        assert_eq!(tile.cells.len(), 2 * tile.bins.len);
        let of_tile: u128 = tile.cells.iter().map(|cell| cell.busy_nanos).sum();
        assert_eq!(of_tile, u128::from(busy), "{exponent}");
        assert_eq!(tile.cells.iter().map(|cell| cell.calls).sum::<u64>(), 171_310, "{exponent}");
        assert_eq!(tile.cells.iter().map(|cell| cell.depth).max(), Some(4), "{exponent}");
        for cell in &tile.cells {
            assert!(cell.dominant_nanos <= cell.busy_nanos);
            assert!(cell.busy_nanos <= 1 << exponent);
            assert!(cell.busy_nanos == 0 || cell.dominant.is_some());
        }
    }
    let few = vec![None; keys.len()];
    let nothing = tile(&[rows(0, 1), rows(5, 9)], 20, &few).unwrap();
    assert!(nothing.cells.iter().all(|cell| cell.busy_nanos == 0 && cell.dominant.is_none()));
    assert!(tile(&[rows(0, 1), rows(1, 2)], 0, &keys).is_err());
    // A row of several tracks has their sums.
    let (apart, together) =
        (tile(&[rows(0, 1), rows(1, 2)], 27, &keys), tile(&[rows(0, 2), rows(3, 3)], 27, &keys));
    let (apart, together) = (apart.unwrap(), together.unwrap());
    let (first, second) = apart.cells.split_at(apart.bins.len);
    for ((a, b), sum) in first.iter().zip(second).zip(&together.cells) {
        assert_eq!(sum.busy_nanos, a.busy_nanos + b.busy_nanos);
        assert_eq!(sum.calls, a.calls + b.calls);
        assert_eq!(sum.depth, a.depth.max(b.depth));
        let expected = match (a.dominant, b.dominant) {
            (Some(a_key), Some(b_key)) if a_key == b_key => a.dominant_nanos + b.dominant_nanos,
            _ => a.dominant_nanos.max(b.dominant_nanos),
        };
        assert!(sum.dominant_nanos >= expected);
    }
}

fn messages(opened: &OpenExperiment, request: &MessagesRequest) -> Table {
    opened.answer(request, &Control::new()).unwrap().tables.rows.into_answer_table("")
}

#[test]
fn messages_are_the_same_however_they_are_put_together() {
    let Some(opened) = trace("otf2/tau-minife-4", "traces.otf2") else { return };
    for by in [MessagesBy::Pair, MessagesBy::Size, MessagesBy::Tag] {
        let request = MessagesRequest { by, ..MessagesRequest::default() };
        let table = messages(&opened, &request);
        assert_eq!(counts(&table, "messages").iter().sum::<u64>(), 1_236, "{by:?}");
        assert_eq!(counts(&table, "unmatched").iter().sum::<u64>(), 0, "{by:?}");
    }
    let request = MessagesRequest { by: MessagesBy::Message, ..MessagesRequest::default() };
    let all = messages(&opened, &request);
    assert_eq!(all.num_rows(), 1_236);
    let part = TracePart { profiles: Some("rank(2)".into()), ..TracePart::default() };
    let request = MessagesRequest { part, ..request };
    let own = messages(&opened, &request);
    assert!(own.num_rows() > 0 && own.num_rows() < 1_236);
}

#[test]
fn calls_one_by_one_are_those_of_the_statistics() {
    let Some(opened) = trace("codar", "lammps-event_list.json.gz") else { return };
    let spans = [(0, 2), (7, 9)].map(|(from, to)| TrackSpan { from, to });
    let request = CallsRequest {
        tracks: spans.to_vec(),
        to_ns: u64::MAX,
        max_calls: 200_000,
        ..CallsRequest::default()
    };
    let ask = |request: &CallsRequest| {
        let Answer { reply, tables, .. } = opened.answer(request, &Control::new()).unwrap();
        (reply, tables.calls)
    };
    let (all, table) = ask(&request);
    assert!(all.is_complete);
    assert_eq!(all.calls, 171_310);
    let (track, start) = (table.track, table.start_ns);
    let order: Vec<(u32, f64)> = track.into_iter().zip(start.iter().copied()).collect();
    assert!(order.is_sorted_by(|a, b| a <= b), "by track and start");
    assert_eq!(table.depth.into_iter().max(), Some(4));
    // Those that are left out are counted.
    let (long, rows) = ask(&CallsRequest { shortest_ns: 10_000, ..request.clone() });
    let ends = table.end_ns;
    let expected = start.iter().zip(&ends).filter(|(start, end)| *end - *start >= 10_000.0).count();
    assert_eq!(rows.track.len(), expected);
    assert_eq!(long.shorter, 171_310 - expected as u64);
    let (few, rows) = ask(&CallsRequest { max_calls: 1_000, ..request });
    assert!(!few.is_complete && rows.track.is_empty() && few.calls > 1_000);
}

#[test]
fn the_path_at_a_moment_is_what_encloses_it() {
    let Some(opened) = trace("codar", "lammps-event_list.json.gz") else { return };
    let span = opened.session().traces().unwrap().span();
    let request = CallsRequest {
        tracks: vec![TrackSpan { from: 0, to: 1 }, TrackSpan { from: 9, to: 9 }],
        to_ns: u64::MAX,
        max_calls: 200_000,
        ..CallsRequest::default()
    };
    let all = opened.answer(&request, &Control::new()).unwrap().tables.calls;
    for share in 0..50 {
        let at_ns = span.nanos() / 50 * share + 12_345;
        let request = PathAtRequest { track: 0, at_ns, ..PathAtRequest::default() };
        let path = opened.answer(&request, &Control::new()).unwrap().tables.path;
        let mut expected: Vec<(f64, f64)> = (all.start_ns.iter().copied())
            .zip(all.end_ns.iter().copied())
            .filter(|(start, end)| *start <= at_ns as f64 && (at_ns as f64) < *end)
            .collect();
        expected.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
        let given: Vec<(f64, f64)> = path.start_ns.into_iter().zip(path.end_ns).collect();
        assert_eq!(given, expected, "{at_ns}");
        assert_eq!(path.depth, (1..=path.depth.len() as u32).collect::<Vec<_>>());
    }
}

#[test]
fn statistics_of_samples_are_of_the_functions_that_the_timeline_shows() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/reactor/n256-p4");
    let folder: Arc<dyn Folder> = Arc::new(DiskFolder::new(&place));
    let opened = open(&folder, &OpenLimits::default()).unwrap();
    // The timeline has tracks of helper threads, too.
    let request = StatsRequest { helpers: true, ..StatsRequest::default() };
    let table = opened.answer(&request, &Control::new()).unwrap().tables.rows.into_table();
    let rows = table.column("name").unwrap().values.as_string::<i32>().clone();
    let exclusive = floats(&table, "exclusive_s");
    let names = opened.timeline_names(&Control::new()).unwrap();
    let mut found = 0;
    for function in names.functions.iter().filter(|function| function.exclusive_nanos > 0) {
        let row = rows.iter().position(|name| name == Some(&function.name));
        let seconds = row.and_then(|row| exclusive.get(row)).copied().unwrap_or(0.0);
        assert_eq!(u128::from(nanos(&[seconds])), function.exclusive_nanos, "{}", function.name);
        found += 1;
    }
    assert!(found > 5, "{found} functions");
}

#[test]
fn a_stretch_in_nanoseconds_is_the_window_that_is_typed() {
    let Some(opened) = trace("otf2/tau-minife-4", "traces.otf2") else { return };
    let span = opened.session().traces().unwrap().span();
    let (from, to) = (span.nanos() / 4, span.nanos() / 2);
    let ask = |part| {
        let request = StatsRequest { part, ..StatsRequest::default() };
        Ok::<_, parallax_service::ServiceError>(
            opened.answer(&request, &Control::new())?.tables.rows.into_table(),
        )
    };
    let typed = format!("{}..{}", span.start_nanos + from, span.start_nanos + to - 1);
    let window = Some(typed);
    let typed = ask(TracePart { window: window.clone(), ..TracePart::default() }).unwrap();
    let drawn = TracePart { from_ns: Some(from), to_ns: Some(to), ..TracePart::default() };
    let both = TracePart { window, from_ns: Some(from / 2), ..TracePart::default() };
    for part in [drawn, both] {
        let table = ask(part).unwrap();
        assert_eq!(floats(&table, "exclusive_s"), floats(&typed, "exclusive_s"));
        assert_eq!(counts(&table, "calls"), counts(&typed, "calls"));
    }
    let empty = TracePart { from_ns: Some(to), to_ns: Some(from), ..TracePart::default() };
    let error = ask(empty).unwrap_err();
    assert!(error.is_misuse() && error.to_string().contains("empty"), "{error}");
}

#[test]
fn calls_are_found_by_name_and_duration() {
    let Some(opened) = trace("otf2/tau-minife-4", "traces.otf2") else { return };
    let every = FindRequest { name: Some("MPI_*".into()), max_rows: 10, ..Default::default() };
    let find = |request: &FindRequest| opened.answer(request, &Control::new());
    let Answer { reply: all, tables, .. } = find(&every).unwrap();
    assert_eq!(tables.histogram.calls.iter().sum::<u64>(), all.total);
    assert_eq!(tables.histogram.total_ns.iter().sum::<f64>(), all.total_ns as f64);
    // The statistics count the same calls.
    let table = stats(&opened, StatsBy::Function, None);
    let names = table.column("name").unwrap().values.as_string::<i32>().clone();
    let of_mpi = names.iter().zip(counts(&table, "calls"));
    let of_mpi = of_mpi.filter(|(name, _)| name.is_some_and(|name| name.starts_with("MPI_")));
    assert_eq!(of_mpi.map(|(_, calls)| calls).sum::<u64>(), all.total);
    let longest = tables.rows.duration_ns;
    assert_eq!(longest.len(), 10);
    assert!(longest.is_sorted_by(|a, b| a >= b));
    // Those that take at least as long as the tenth are these ten.
    let least = *longest.last().unwrap() as u64;
    let long = FindRequest { min_ns: Some(least), max_rows: 100, ..every.clone() };
    assert_eq!(find(&long).unwrap().reply.total, 10);
    let first = FindRequest { order: FindOrder::First, ..every.clone() };
    let starts = find(&first).unwrap().tables.rows.start_ns;
    assert!(starts.is_sorted());
    let wrong = FindRequest { name: Some("/MPI_(/".into()), ..every };
    assert!(find(&wrong).unwrap_err().is_misuse());
}

/// A word is a part of names in any case, as in every search; who writes an expression has it read.
#[test]
fn words_find_calls_by_a_part_of_their_names() {
    let Some(opened) = trace("otf2/tau-minife-4", "traces.otf2") else { return };
    let find = |name: &str| {
        let request = FindRequest { name: Some(name.into()), ..FindRequest::default() };
        opened.answer(&request, &Control::new()).unwrap()
    };
    let glob = find("MPI_*").reply.total;
    assert!(glob > 0);
    for same in ["mpi_", " MPI_ ", "_ mpi", "/^MPI_/"] {
        assert_eq!(find(same).reply.total, glob, "{same}");
    }
    let send = find("\"MPI_Send\"").reply.total;
    assert!(send > 0 && send < find("send").reply.total + 1);
    assert_eq!(find("MPI_Send|MPI_Wait").reply.total, send + find("\"MPI_Wait\"").reply.total);
    let none = find("MPI_Sned()");
    assert_eq!(none.reply.total, 0);
    let note = none.reply.notes.join(" ");
    assert!(note.contains("MPI_Sned()") && note.contains("mean MPI_Send()"), "{note}");
    // What has the signs of an expression but is none is not met with a parser's error.
    assert_eq!(find("operator|(").reply.total, 0);
}

/// Exclusive time of one call is what its own calls leave of it.
#[test]
fn the_exclusive_times_of_a_path_are_what_its_calls_leave() {
    let Some(opened) = trace("otf2/tau-minife-4", "traces.otf2") else { return };
    let every = FindRequest { name: Some("MPI_".into()), max_rows: 5, ..FindRequest::default() };
    let calls = opened.answer(&every, &Control::new()).unwrap().tables.rows;
    for (&track, &start) in calls.track.iter().zip(&calls.start_ns) {
        let at_ns = start as u64;
        let request = PathAtRequest { track, at_ns, exclusive: true, arguments: false };
        let path = opened.answer(&request, &Control::new()).unwrap().tables.path;
        assert!(path.context.len() > 1);
        for at in 0..path.context.len() {
            let (start, end) = (path.start_ns[at] as u64, path.end_ns[at] as u64);
            let request = CallsRequest {
                tracks: vec![TrackSpan { from: track, to: track + 1 }],
                from_ns: start,
                to_ns: end,
                max_calls: u32::MAX,
                ..CallsRequest::default()
            };
            let inside = opened.answer(&request, &Control::new()).unwrap().tables.calls;
            let below = path.depth[at] + 1;
            let children: f64 = (0..inside.context.len())
                .filter(|&call| inside.depth[call] == below)
                .filter(|&call| inside.start_ns[call] as u64 >= start)
                .filter(|&call| inside.end_ns[call] as u64 <= end)
                .map(|call| inside.end_ns[call] - inside.start_ns[call])
                .sum();
            let exclusive = path.exclusive_ns[at].unwrap();
            assert_eq!(exclusive, (end - start) as f64 - children, "call {at} of the path");
        }
    }
}

#[test]
fn messages_over_time_are_the_messages() {
    let Some(opened) = trace("otf2/tau-minife-4", "traces.otf2") else { return };
    let whole = LinkBinsRequest { to_ns: u64::MAX, bins: 100, ..LinkBinsRequest::default() };
    let bins = opened.answer(&whole, &Control::new()).unwrap();
    assert!(bins.reply.bins > 50 && bins.reply.bins <= 100);
    assert_eq!(bins.tables.bins.messages.iter().sum::<u32>(), 1_236);
    let ask = |request: &LinksRequest| {
        let Answer { reply, tables, .. } = opened.answer(request, &Control::new()).unwrap();
        (reply.total, tables.links)
    };
    let request = LinksRequest { to_ns: u64::MAX, max_links: 10_000, ..LinksRequest::default() };
    let (total, all) = ask(&request);
    assert_eq!((total, all.tag.len()), (1_236, 1_236));
    let (total, some) = ask(&LinksRequest { max_links: 7, ..request.clone() });
    assert_eq!((total, some.tag.len()), (1_236, 7));
    // The seven are the longest.
    let nanos = |table: &LinkTable| -> Vec<f64> {
        let ends = table.receive_ns.iter().zip(&table.send_ns);
        let mut nanos: Vec<f64> =
            ends.map(|(receive, send)| (receive.unwrap() - send.unwrap()).abs()).collect();
        nanos.sort_by(|a, b| b.total_cmp(a));
        nanos
    };
    assert_eq!(nanos(&some), nanos(&all)[..7]);
    let tracks = [(2, 3), (9, 9)].map(|(from, to)| TrackSpan { from, to });
    let (own, _) = ask(&LinksRequest { tracks: Some(tracks.to_vec()), ..request });
    assert!(own > 0 && own < 1_236);
}

#[test]
fn functions_of_the_timeline_have_the_time_of_the_statistics() {
    let Some(opened) = trace("otf2/tau-minife-4", "traces.otf2") else { return };
    let timeline = opened.answer(&TimelineRequest::default(), &Control::new()).unwrap().tables;
    let table = stats(&opened, StatsBy::Function, None);
    let exclusive = floats(&table, "exclusive_s");
    let own = &timeline.functions.exclusive_ns;
    assert!(own.is_sorted_by(|a, b| a >= b), "from the one that takes most time");
    for (nanos, seconds) in own.iter().zip(exclusive) {
        assert!((nanos / 1e9 - seconds).abs() < 1e-12);
    }
    let groups: f64 = timeline.groups.exclusive_ns.iter().sum();
    assert_eq!(groups, own.iter().sum::<f64>());
    // Below the depth that is shown, time counts to what is above.
    let names = opened.timeline_names(&Control::new()).unwrap();
    let tree = opened.session().tree();
    let ids: Vec<_> = tree.iter().collect();
    let parent = |at: usize| tree.parent(ids[at]).map(parallax_base::ContextIdx::idx);
    let keys = names.keys(parent, TimelineBy::Function, Some(1), &[]);
    for &context in &ids {
        let outermost = tree.path(context).into_iter().find(|c| names.depth_of[c.idx()] == 1);
        let expected = outermost.and_then(|outermost| names.function_of[outermost.idx()]);
        assert_eq!(keys[context.idx()], expected);
    }
    let hidden = names.keys(parent, TimelineBy::Function, None, &[0]);
    assert!(hidden.iter().all(|key| *key != Some(0)) && hidden.iter().any(Option::is_some));
}

#[test]
fn stacks_add_up_to_the_flat_profile() {
    let Some(opened) = trace("otf2/tau-minife-4", "traces.otf2") else { return };
    let request = StacksRequest { top: 4, ..StacksRequest::default() };
    let Answer { reply, tables, .. } = opened.answer(&request, &Control::new()).unwrap();
    assert_eq!(reply.parts.len(), 5);
    assert_eq!(reply.parts[4], "(others)");
    let (values, parts) = (tables.stack.value, tables.stack.part);
    let table = stats(&opened, StatsBy::Function, None);
    let expected = floats(&table, "exclusive_s");
    for (part, seconds) in expected.iter().take(4).enumerate() {
        let own = values.iter().zip(&parts).filter(|(_, p)| **p as usize == part);
        let sum: f64 = own.map(|(value, _)| value).sum();
        assert!((sum - seconds).abs() < 1e-9, "{part}: {sum} {seconds}");
    }
    let total: f64 = tables.locations.total.iter().sum();
    assert!((total - expected.iter().sum::<f64>()).abs() < 1e-9);
}
