//! A JSON trace of any kind, or an export of Nsight Systems, becomes an archive that opens: all time
//! of a track is in the sums, once, and sums are those of the intervals they are made of.

#![no_main]

use std::collections::BTreeMap;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use parallax_base::{Control, Folder, Limits, MemoryFolder, MemorySink, TimeWindow};
use parallax_import::archive;
use parallax_import::convert::{ConvertOptions, convert, recognise};

fuzz_target!(|bytes: &[u8]| {
    let files = vec![("fuzz.json".to_owned(), bytes.to_vec())];
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("fuzz", files));
    let Ok(Some(input)) = recognise(&folder, "fuzz.json") else { return };
    let sink = MemorySink::new();
    let limits = Limits { metadata_bytes: 64 << 20, ..Limits::default() };
    let options = ConvertOptions { limits, memory_bytes: 1 << 10 };
    let done = convert(&input, "fuzz", Arc::new(sink.clone()), &options, &Control::new());
    if done.is_err() {
        return;
    }
    let folder: Arc<dyn Folder> = Arc::new(sink.into_folder("fuzz"));
    let experiment = archive::open(&folder, &limits).expect("what was written is read");
    let traces = experiment.traces.as_deref().expect("an archive has traces");
    for track in traces.track_ids() {
        let mut intervals: BTreeMap<u32, u64> = BTreeMap::new();
        let mut end = 0;
        traces
            .visit(track, TimeWindow::ALL, &mut |interval| {
                assert!(end <= interval.start_nanos && interval.start_nanos <= interval.end_nanos);
                end = interval.end_nanos;
                let nanos = interval.end_nanos - interval.start_nanos;
                *intervals.entry(interval.context).or_default() += nanos;
            })
            .expect("intervals are read");
        let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
        let mut calls = 0;
        traces
            .sums(track, TimeWindow::ALL, &mut |time| {
                calls += time.calls;
                *sums.entry(time.context).or_default() += time.nanos;
            })
            .expect("sums are read");
        sums.retain(|_, nanos| *nanos > 0);
        intervals.retain(|_, nanos| *nanos > 0);
        assert_eq!(sums, intervals, "{track:?}");
        let mut visited = 0;
        traces.visit_calls(track, TimeWindow::ALL, &mut |_| visited += 1).expect("calls are read");
        assert_eq!(calls, visited, "calls of {track:?}");
    }
});
