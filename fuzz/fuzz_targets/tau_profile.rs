//! Text profiles of TAU: rows of what exists, finite values; names are taken apart without a stop.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_base::{Issues, Limits, MemorySource};
use parallax_formats::tau::{call_path, cut_event, element, read_profile};

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { metadata_bytes: 64 << 20, ..Limits::default() };
    let source = MemorySource::new(bytes.to_vec());
    let read = read_profile(&source, "profile.0.0.0", &limits, &mut Issues::new());
    let Ok(read) = read else { return };
    for thread in &read.threads {
        assert_eq!(thread.values.len(), thread.timers.len() * read.metrics.len() * 2);
        assert!(thread.values.iter().all(|value| value.is_finite()));
        assert!(thread.timers.iter().all(|row| (row.timer as usize) < read.timers.len()));
    }
    for timer in &read.timers {
        for part in call_path(&timer.name) {
            let found = element(part);
            assert!(part.contains(found.name) && part.contains(found.suffix));
        }
    }
    for event in &read.events {
        if let Some((name, path)) = cut_event(event, |_| true) {
            assert!(event.contains(name) && event.contains(path));
        }
    }
});
