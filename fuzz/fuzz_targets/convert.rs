//! A JSON trace of any kind becomes an archive that opens: all time of a track is in the sums, once,
//! and sums are those of the stretches they are made of.

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
        let mut stretches: BTreeMap<u32, u64> = BTreeMap::new();
        let mut end = 0;
        traces
            .visit(track, TimeWindow::ALL, &mut |stretch| {
                assert!(end <= stretch.start_nanos && stretch.start_nanos <= stretch.end_nanos);
                end = stretch.end_nanos;
                let nanos = stretch.end_nanos - stretch.start_nanos;
                *stretches.entry(stretch.context).or_default() += nanos;
            })
            .expect("stretches are read");
        let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
        let mut calls = 0;
        traces
            .sums(track, TimeWindow::ALL, &mut |time| {
                calls += time.calls;
                *sums.entry(time.context).or_default() += time.nanos;
            })
            .expect("sums are read");
        sums.retain(|_, nanos| *nanos > 0);
        stretches.retain(|_, nanos| *nanos > 0);
        assert_eq!(sums, stretches, "{track:?}");
        let mut visited = 0;
        traces.visit_calls(track, TimeWindow::ALL, &mut |_| visited += 1).expect("calls are read");
        assert_eq!(calls, visited, "calls of {track:?}");
    }
});
