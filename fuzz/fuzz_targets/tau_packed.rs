//! Packed profiles of TAU: rows of what exists, finite values, and no more than the bytes justify.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_base::{Issues, Limits, MemorySource};
use parallax_formats::tau::{is_packed, read_packed};

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { metadata_bytes: 64 << 20, ..Limits::default() };
    let source = MemorySource::new(bytes.to_vec());
    let read = read_packed(&source, "fuzz.ppk", &limits, &mut Issues::new());
    let Ok(read) = read else { return };
    assert!(is_packed(&source));
    for thread in &read.threads {
        assert_eq!(thread.values.len(), thread.timers.len() * read.metrics.len() * 2);
        assert!(thread.values.iter().all(|value| value.is_finite()));
        assert!(thread.timers.iter().all(|row| (row.timer as usize) < read.timers.len()));
        assert!(thread.events.iter().all(|row| (row.event as usize) < read.events.len()));
    }
    assert!(read.threads.is_sorted_by(|a, b| a.id < b.id));
});
