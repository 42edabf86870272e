//! An archive with one table replaced: the first byte says which, the others are its bytes. Opening
//! it and asking everything that archives answer ends, with an error or with an answer.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/import/tests/archives/mod.rs"]
mod archives;

use archives::{exercise, files};

static SOUND: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| files(parallax_fuzz::STEPS));

fuzz_target!(|bytes: &[u8]| {
    let Some((&which, bytes)) = bytes.split_first() else { return };
    let mut files = SOUND.clone();
    let at = usize::from(which) % files.len();
    files[at].1 = bytes.to_vec();
    exercise(files);
});
