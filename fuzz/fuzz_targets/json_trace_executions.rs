//! Executions of Chimbuko: the same however the bytes arrive, and whether calls are read by the
//! layout of those before or name by name.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_base::Issues;
use parallax_formats::json_trace::{ExecutionsReader, sniff};
use parallax_fuzz::{TRACE_PIECES, trace_options, trace_stream};

fn read(bytes: &[u8], piece: usize, by_layout: bool) -> (Vec<String>, Issues) {
    let mut reader = ExecutionsReader::new(trace_stream(bytes, piece), &trace_options(by_layout));
    let (mut issues, mut calls) = (Issues::new(), Vec::new());
    while let Ok(Some(call)) = reader.next_execution(&mut issues) {
        calls.push(format!("{call:?}"));
    }
    (calls, issues)
}

fuzz_target!(|bytes: &[u8]| {
    let whole = read(bytes, usize::MAX, true);
    for piece in TRACE_PIECES {
        assert!(read(bytes, piece, true) == whole);
    }
    assert!(read(bytes, usize::MAX, false) == whole);
    let _ = sniff(bytes);
});
