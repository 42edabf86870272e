//! A small archive with everything in it, and every question that archives answer. The fuzz target
//! `archive` uses it too.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::sync::Arc;

use parallax_base::{Folder, Limits, MemoryFolder, MemorySink, TimeWindow, TrackIdx, read_range};
use parallax_formats::archive::{FunctionRow, keys};
use parallax_import::archive;
use parallax_import::events::{Conversion, Endpoint, TrackIdentity};

/// The files of an archive of two tracks with several levels of nodes, loops and lines in functions,
/// messages, values and markers.
pub(crate) fn files(steps: u64) -> Vec<(String, Vec<u8>)> {
    let sink = MemorySink::new();
    let mut conversion = Conversion::new(Arc::new(sink.clone()), 0).unwrap();
    let functions = ["main", "solve", "wait"].map(|name| conversion.function(name, "USER"));
    let parts = [(FunctionRow::LOOP, 7), (FunctionRow::LINE, 9)].map(|(kind, line)| {
        let (name, group, file) = (String::new(), String::new(), "app.c".into());
        conversion.add_function(FunctionRow { name, group, file, line, kind })
    });
    let counter = conversion.counter("power", "W");
    conversion.fact(keys::COUNTED, format!("{counter}:1000"));
    let tracks = ["a", "b"].map(|name| {
        conversion.track(TrackIdentity { name: name.into(), ..TrackIdentity::default() })
    });
    let peers = tracks.map(|track| conversion.peer_of(track));
    for step in 0..steps {
        for (nth, &track) in tracks.iter().enumerate() {
            let builder = conversion.builder(track).unwrap();
            let now = 1000 + step * 100;
            builder.enter(now, functions[0]);
            builder.enter(now + 10, functions[(step % 3) as usize]);
            if step % 2 == 0 {
                builder.describe("step\nnote", &format!("{step}\n\"a\\nb\""));
            }
            builder.enter(now + 12, parts[0]);
            builder.enter(now + 14, parts[1]);
            builder.leave(now + 16, None);
            builder.leave(now + 18, None);
            builder.value(now + 20, counter, step as f64);
            builder.message(Endpoint {
                nanos: now + 30,
                partner: peers[1 - nth],
                communicator: 0,
                tag: 1,
                bytes: step,
                is_send: nth == 0,
            });
            builder.marker(now + 40, functions[2]);
            builder.count(&[functions[0], functions[(step % 3) as usize]], counter, step);
            builder.count(&[functions[0], parts[0], parts[1]], counter, 2 * step);
            builder.leave(now + 50, None);
            if step % 7 != 0 {
                builder.leave(now + 60, None);
            }
        }
        conversion.commit().unwrap();
    }
    conversion.finish().unwrap();
    let folder = sink.into_folder("memory");
    let entries = folder.entries().unwrap();
    let read = |path: &str| {
        let source = folder.open(path).unwrap().unwrap();
        read_range(&*source, 0, source.len()).unwrap().into_owned()
    };
    entries.into_iter().map(|entry| (entry.path.clone(), read(&entry.path))).collect()
}

/// Opens and asks everything; what comes out does not matter.
pub(crate) fn exercise(files: Vec<(String, Vec<u8>)>) {
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("damaged", files));
    let limits = Limits { metadata_bytes: 1 << 24, answer_bytes: 1 << 24, ..Limits::default() };
    let Ok(experiment) = archive::open(&folder, &limits) else { return };
    let traces = experiment.traces.as_deref().unwrap();
    for track in traces.track_ids().take(4) {
        for window in [TimeWindow::ALL, TimeWindow::new(2000, 3333), TimeWindow::new(0, 1)] {
            let mut seen = 0_usize;
            let _ = traces.visit(track, window, &mut |_| seen += 1);
            let _ = traces.visit_calls(track, window, &mut |_| seen += 1);
            let _ = traces.sums(track, window, &mut |_| seen += 1);
            // Bins of a window without an end would be too many to count.
            let inside = window.intersect(TimeWindow::new(0, 100_000));
            for exponent in [0, 5, 12, 40] {
                let _ = traces.bins(track, inside, exponent, &mut |times| seen += times.len());
            }
        }
    }
    let events = experiment.events.as_deref().unwrap();
    let mut seen = 0_usize;
    let _ = events.messages(TimeWindow::ALL, &mut |_| seen += 1);
    let _ = events.collectives(TimeWindow::ALL, &mut |_| seen += 1);
    let _ = events.values(TrackIdx::new(0), 0, TimeWindow::ALL, &mut |_, _| seen += 1);
    for track in traces.track_ids().take(4) {
        let mut calls = Vec::new();
        let _ = traces.visit_calls(track, TimeWindow::new(0, 2000), &mut |call| calls.push(call));
        for call in calls.iter().take(100) {
            let _ =
                events.arguments(track, call, &mut |name, value| seen += name.len() + value.len());
        }
    }
    let _ = events.markers(TimeWindow::ALL, &mut |_, _, _| seen += 1);
}
