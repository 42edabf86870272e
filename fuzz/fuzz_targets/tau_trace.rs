//! Traces of TAU and their definitions: every whole record is visited once, whatever is defined.
//! The input is the definitions, a line of `=`, and the records.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_base::{Issues, Limits, MemorySource};
use parallax_formats::tau::{Definitions, Trace};

const BETWEEN: &[u8] = b"\n=\n";

fuzz_target!(|bytes: &[u8]| {
    let at = bytes.windows(BETWEEN.len()).position(|window| window == BETWEEN);
    let (text, records) = match at {
        Some(at) => (&bytes[..at], &bytes[at + BETWEEN.len()..]),
        None => (&b""[..], bytes),
    };
    let mut issues = Issues::new();
    let limits = Limits { metadata_bytes: 64 << 20, ..Limits::default() };
    let source = MemorySource::new(text.to_vec());
    let definitions =
        Definitions::read(&source, "fuzz.edf", &limits, &mut issues).unwrap_or_default();
    let source = MemorySource::shared(records.to_vec());
    let Ok(trace) = Trace::open(source, "fuzz.trc", &mut issues) else { return };
    let mut next = 0;
    let visited = trace.visit(0..u64::MAX, |number, record| {
        assert_eq!(number, next);
        next += 1;
        let _ = record.event(&definitions);
        true
    });
    assert!(visited.is_ok());
    assert_eq!(next, trace.num_records());
});
