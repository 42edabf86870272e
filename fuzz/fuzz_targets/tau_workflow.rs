//! Workflow profiles: finite values, whatever the JSON.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_base::{Issues, Limits, MemorySource};
use parallax_formats::tau::Workflow;

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { metadata_bytes: 64 << 20, ..Limits::default() };
    let source = MemorySource::new(bytes.to_vec());
    let read = Workflow::read(&source, "fuzz.json", &limits, &mut Issues::new());
    let Ok(read) = read else { return };
    for component in &read.components {
        let _ = read.dependencies(&component.name);
        let finite = |row: &parallax_formats::tau::WorkflowTimerRow| {
            row.exclusive.is_finite() && row.inclusive.is_finite() && row.calls.is_finite()
        };
        assert!(component.timers.iter().all(finite));
        assert!(component.counters.iter().all(|row| row.mean.is_finite()));
    }
});
