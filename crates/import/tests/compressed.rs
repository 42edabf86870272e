//! A short compressed trace of very many events is converted in memory that has nothing to do with
//! their number where there is a disk, and that follows it where there is none.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

#[path = "../../formats/tests/peak/mod.rs"]
mod peak;

use std::io::Write as _;
use std::sync::Arc;

use parallax_base::{Control, Folder, FolderSink, Limits, MemoryFolder, MemorySink, TimeWindow};
use parallax_import::archive;
use parallax_import::convert::{ConvertOptions, convert, recognise};
use parallax_native::{DiskFolder, DiskSink};
use peak::{measured, turn};

const MIB: usize = 1 << 20;

/// What events may take that wait for their batch.
const MEMORY_BYTES: usize = MIB;

/// A gzip of calls of 500 ns, one each microsecond.
fn packed(events: u64) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(b"[").unwrap();
    for nth in 0..events {
        let comma = if nth == 0 { "" } else { "," };
        let event = r#""ph":"X","name":"f","pid":1,"tid":1,"dur":0.5"#;
        writeln!(packer, "{comma}{{{event},\"ts\":{nth}}}").unwrap();
    }
    packer.write_all(b"]").unwrap();
    packer.finish().unwrap()
}

fn convert_into(text: Vec<u8>, sink: Arc<dyn FolderSink>) {
    let files = [("trace.json.gz".to_owned(), text)];
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("run", files));
    let input = recognise(&folder, "trace.json.gz").unwrap().unwrap();
    let options = ConvertOptions { memory_bytes: MEMORY_BYTES, ..ConvertOptions::default() };
    convert(&input, "trace", sink, &options, &Control::new()).unwrap();
}

/// Calls of the only track.
fn calls(folder: &Arc<dyn Folder>) -> u64 {
    let experiment = archive::open(folder, &Limits::default()).unwrap();
    let traces = experiment.traces.as_deref().unwrap();
    let mut sum = 0;
    for track in traces.track_ids() {
        traces.sums(track, TimeWindow::ALL, &mut |time| sum += time.calls).unwrap();
    }
    sum
}

#[test]
fn where_there_is_a_disk_memory_does_not_follow_the_events() {
    let _turn = turn();
    let peak = |events: u64| {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().join("archive");
        let text = packed(events);
        let ((), peak) = measured(|| {
            let sink = Arc::new(DiskSink::new(&place).unwrap());
            convert_into(text, Arc::clone(&sink) as _);
            sink.publish().unwrap();
        });
        let folder: Arc<dyn Folder> = Arc::new(DiskFolder::new(&place));
        assert_eq!(calls(&folder), events);
        peak
    };
    let (few, many) = (peak(100_000), peak(400_000));
    assert!(many < few + 4 * MIB, "{few} bytes for 100,000 events, {many} for 400,000");
}

#[test]
fn without_a_disk_memory_follows_the_events() {
    let _turn = turn();
    let peak = |events: u64| {
        let text = packed(events);
        let sink = MemorySink::new();
        let ((), peak) = measured(|| convert_into(text, Arc::new(sink.clone())));
        let folder: Arc<dyn Folder> = Arc::new(sink.into_folder("archive"));
        assert_eq!(calls(&folder), events);
        peak
    };
    let (few, many) = (peak(50_000), peak(200_000));
    assert!(many < 5 * few, "{few} bytes for 50,000 events, {many} for 200,000");
    assert!(many < 200_000 * 256, "{} bytes for an event", many / 200_000);
}
