//! A recording of `parallax.h`, opened as an experiment: nothing panics, the events are the same
//! from a source that lends and one that copies, and activations keep their promises.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_base::{BlockCache, Issues, Limits, MemorySource, Source};
use parallax_formats::plxm::{Event, Recording, is_recording};
use parallax_fuzz::check_activations;
use parallax_import::open_file;

fn events(source: Source, limits: &Limits) -> Option<Vec<Vec<Event>>> {
    let mut issues = Issues::new();
    let recording = Recording::open(source, "fuzz.plxm", limits, &mut issues).ok()?;
    let threads = (0..recording.threads.len()).map(|thread| {
        let mut events = recording.events(thread);
        std::iter::from_fn(|| events.next(&mut issues).ok().flatten()).collect()
    });
    Some(threads.collect())
}

fuzz_target!(|bytes: &[u8]| {
    let source = MemorySource::shared(bytes);
    if !is_recording(&*source) {
        return;
    }
    let limits = Limits { metadata_bytes: 64 << 20, ..Limits::default() };
    let lent = events(Source::clone(&source), &limits);
    let copying = BlockCache::new(MemorySource::new(bytes.to_vec()), 64, 256);
    let copied = events(std::sync::Arc::new(copying), &limits);
    assert_eq!(lent, copied, "the kind of source decides");
    let number: usize = lent.iter().flatten().map(Vec::len).sum();
    assert!(number <= bytes.len(), "more events than bytes");
    let Ok(experiment) = open_file(&source, "fuzz.plxm", &limits) else { return };
    check_activations(&experiment);
});
