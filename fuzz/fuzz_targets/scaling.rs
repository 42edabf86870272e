//! Measurements of any kind, opened as an ensemble and asked everything: maps, losses, verdicts,
//! growth models, comparison. The first byte says whether the name is that of a table.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_fuzz::ask_everything;

fuzz_target!(|bytes: &[u8]| {
    let Some((&which, bytes)) = bytes.split_first() else { return };
    let names = ["fuzz.csv", "fuzz.json", "fuzz.txt", "fuzz.extra-p"];
    ask_everything(names[usize::from(which) % names.len()], bytes);
});
