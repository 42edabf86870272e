//! A database of Parceive, opened as an experiment: nothing panics, and contexts and activations
//! keep their promises.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_base::{Limits, MemorySource};
use parallax_fuzz::check_activations;
use parallax_import::{is_experiment_file, open_file};

fuzz_target!(|bytes: &[u8]| {
    let source = MemorySource::shared(bytes);
    if !is_experiment_file(&source) {
        return;
    }
    let limits = Limits { metadata_bytes: 64 << 20, ..Limits::default() };
    let Ok(experiment) = open_file(&source, "fuzz.db", &limits) else { return };
    check_activations(&experiment);
});
