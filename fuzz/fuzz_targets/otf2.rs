//! A whole OTF2 trace: the input is cut into an anchor, definitions, one location's definitions
//! and its events; the same is read however the bytes arrive.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_base::Issues;

#[path = "../../crates/formats/tests/otf2/mod.rs"]
mod otf2;

use otf2::{ANCHOR, Files, copying, everything, lending};

/// A sound start for parts that the input leaves out.
fn sound(path: &str) -> &'static [u8] {
    match path {
        ANCHOR => include_bytes!("../../fixtures/otf2/all-records/traces.otf2"),
        "traces.def" => include_bytes!("../../fixtures/otf2/all-records/traces.def"),
        "traces/1.def" => include_bytes!("../../fixtures/otf2/all-records/traces/1.def"),
        _ => include_bytes!("../../fixtures/otf2/all-records/traces/1.evt"),
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&which, bytes)) = bytes.split_first() else { return };
    let mut files = Files::new();
    let paths = [ANCHOR, "traces.def", "traces/1.def", "traces/1.evt"];
    for (i, path) in paths.into_iter().enumerate() {
        let is_this = usize::from(which) % paths.len() == i;
        files.push((path.to_owned(), if is_this { bytes } else { sound(path) }.to_vec()));
    }
    let mut issues = [Issues::new(), Issues::new()];
    let lent = everything(&lending(&files), &mut issues[0]);
    let copied = everything(&copying(&files), &mut issues[1]);
    assert_eq!(format!("{lent:?}"), format!("{copied:?}"), "the kind of source decides");
    assert_eq!(issues[0], issues[1]);
    let len: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    let events: usize = lent.events.iter().map(|(_, events)| events.len()).sum();
    assert!(events <= len, "more events than bytes");
});
