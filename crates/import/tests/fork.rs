//! A conversion that is looked at while it goes on: what is seen is the archive of a conversion that
//! ends there, and the archive at the end is the same as without anybody who looks.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use common::files_of;
use parallax_base::{Folder, FolderSink, Limits, MemoryFolder, MemorySink};
use parallax_formats::archive::{MarkerRow, MessageRow, Record as _};
use parallax_import::archive;
use parallax_import::events::{Collective, Conversion, Endpoint, TrackIdentity};

const TRACKS: u64 = 5;
const STEPS: u64 = 6000;

/// A conversion of which each step feeds something.
struct Steps {
    sink: MemorySink,
    conversion: Conversion,
    functions: [u32; 4],
    counter: u32,
}

impl Steps {
    /// With little memory, so that batches are written early.
    fn new() -> Self {
        let sink = MemorySink::new();
        let mut conversion = Conversion::new(Arc::new(sink.clone()), 1 << 16).unwrap();
        let functions = ["main", "solve", "send", "io"].map(|name| conversion.function(name, ""));
        let counter = conversion.counter("flops", "");
        for number in 0..TRACKS {
            let identity = TrackIdentity { name: format!("t{number}"), ..Default::default() };
            let track = conversion.track(identity);
            conversion.builder(track).unwrap().enter(number, functions[0]);
        }
        Self { sink, conversion, functions, counter }
    }

    fn step(&mut self, at: u64) {
        let track = u32::try_from(at % TRACKS).unwrap();
        let nanos = 100 + at * 10;
        let next = u32::try_from((at + 1) % TRACKS).unwrap();
        let partner = self.conversion.peer_of(next);
        let [_, solve, send, io] = self.functions;
        let conversion = &mut self.conversion;
        // The first track ends early.
        if track == 0 && at >= STEPS / 2 {
            conversion.end_track(0).unwrap();
            return;
        }
        let builder = conversion.builder(track).unwrap();
        builder.enter(nanos, if at % 7 < 3 { solve } else { io });
        builder.describe("step", &at.to_string());
        builder.value(nanos, self.counter, at as f64);
        builder.count(&[solve], self.counter, at);
        if at.is_multiple_of(3) {
            builder.enter(nanos + 1, send);
            let endpoint = Endpoint {
                nanos: nanos + 2,
                partner,
                communicator: 0,
                tag: 1,
                bytes: at,
                is_send: true,
            };
            builder.message(endpoint);
            builder.leave(nanos + 3, Some(send));
        }
        if at.is_multiple_of(11) {
            builder.marker(nanos + 4, io);
            builder.end_collective(Collective {
                start_nanos: nanos + 4,
                end_nanos: nanos + 5,
                operation: 0,
                communicator: 0,
                root: None,
                sent: at,
                received: 0,
            });
        }
        builder.leave(nanos + 6, None);
        if at.is_multiple_of(64) {
            conversion.commit().unwrap();
        }
    }
}

type Files = BTreeMap<String, Vec<u8>>;

/// The archive of a conversion that ends after so many steps.
fn ended(steps: u64) -> Files {
    let mut all = Steps::new();
    (0..steps).for_each(|at| all.step(at));
    all.conversion.finish().unwrap();
    files_of(all.sink)
}

/// What was seen: `rest`, after what belongs to it of the files that were written on.
fn joined(written: &Files, lengths: &[(&str, u64)], rest: Files) -> Files {
    let file = |(name, rest): (String, Vec<u8>)| {
        let len = lengths.iter().find(|(known, _)| *known == name).map_or(0, |(_, len)| *len);
        let start = &written[&name][..usize::try_from(len).unwrap()];
        let bytes = [start, &rest].concat();
        (name, bytes)
    };
    rest.into_iter().map(file).collect()
}

#[test]
fn what_is_seen_is_the_archive_of_a_conversion_that_ends_there() {
    let looks = [1, 63, 500, 2999, 3100, STEPS - 1];
    let mut all = Steps::new();
    let mut seen = Vec::new();
    for at in 0..STEPS {
        if looks.contains(&at) {
            let sink = MemorySink::new();
            let shared: Arc<dyn FolderSink> = Arc::new(sink.clone());
            let fork = all.conversion.fork(&shared).unwrap();
            let lengths: Vec<_> = fork.lengths().collect();
            fork.finish().unwrap();
            seen.push((at, lengths, files_of(sink)));
        }
        all.step(at);
    }
    all.conversion.finish().unwrap();
    let whole = files_of(all.sink);
    assert!(whole == ended(STEPS), "the same as without anybody who looks");
    for (at, lengths, rest) in seen {
        let seen = joined(&whole, &lengths, rest);
        assert!(seen == ended(at), "after {at} steps");
        let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("seen", seen));
        archive::open(&folder, &Limits::default()).unwrap();
    }
    let is_written = |layout: &parallax_formats::archive::table::Layout| whole[layout.file].len();
    assert!(is_written(MessageRow::LAYOUT) > 10_000 && is_written(MarkerRow::LAYOUT) > 5_000);
}
