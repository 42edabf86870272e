//! Chimbuko's rows: the same however the bytes arrive; codes are found or not, and the open
//! functions followed; names, declared codes and sniffing end.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_base::Issues;
use parallax_formats::json_trace::{
    Balance, ChimbukoReader, ChimbukoRow, EventCodes, function_names, sniff,
};
use parallax_fuzz::{TRACE_PIECES, trace_options, trace_stream};

fn read(bytes: &[u8], piece: usize) -> (Vec<ChimbukoRow>, Issues) {
    let mut reader = ChimbukoReader::new(trace_stream(bytes, piece), &trace_options(true));
    let (mut issues, mut rows) = (Issues::new(), Vec::new());
    while let Ok(Some(row)) = reader.next_row(&mut issues) {
        rows.push(row);
    }
    (rows, issues)
}

fuzz_target!(|bytes: &[u8]| {
    let (rows, issues) = read(bytes, usize::MAX);
    for piece in TRACE_PIECES {
        assert!(read(bytes, piece) == (rows.clone(), issues.clone()));
    }
    let names = function_names(bytes).unwrap_or_default();
    let _ = EventCodes::declared(bytes);
    let _ = sniff(bytes);
    let Some(guess) = EventCodes::infer(&rows, &names) else { return };
    let mut balance = Balance::new();
    for row in &rows {
        balance.push(guess.codes.kind(row), row);
    }
    assert!(balance.misfits() <= guess.misfits);
    assert!(guess.next_misfits.is_none_or(|next| next >= guess.misfits));
});
