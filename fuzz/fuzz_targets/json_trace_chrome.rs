//! Chrome trace events: the same events and issues by layout and name by name, and however the
//! bytes arrive; events lie one behind the other; arguments end.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_base::Issues;
use parallax_formats::json_trace::ChromeReader;
use parallax_fuzz::{TRACE_PIECES, trace_options, trace_stream};

fn read(bytes: &[u8], by_layout: bool, piece: usize) -> (Vec<String>, Issues) {
    let mut reader = ChromeReader::new(trace_stream(bytes, piece), &trace_options(by_layout));
    let (mut issues, mut events, mut end) = (Issues::new(), Vec::new(), 0);
    while let Ok(Some(event)) = reader.next_event(&mut issues) {
        assert!(event.offset >= end);
        end = event.offset + event.text.len() as u64;
        let start = event.offset as usize;
        assert_eq!(bytes.get(start..end as usize), Some(event.text));
        let args = event.args.entries().count();
        events.push(format!("{event:?} {:?} {:?} {args}", event.id(), event.bind_id()));
    }
    assert_eq!(reader.events(), events.len() as u64);
    assert!(reader.bytes_read() <= bytes.len() as u64);
    events.extend(reader.names().iter().map(str::to_owned));
    events.push(format!("{:?}", reader.metadata()));
    for part in reader.metadata() {
        let _ = part.value();
    }
    (events, issues)
}

fuzz_target!(|bytes: &[u8]| {
    let expected = read(bytes, false, usize::MAX);
    for piece in TRACE_PIECES {
        assert!(read(bytes, true, piece) == expected);
    }
});
