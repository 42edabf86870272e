//! All of `profile.db`, every value of every profile.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_base::Issues;

#[path = "../../crates/formats/tests/hpctoolkit/mod.rs"]
mod hpctoolkit;

use hpctoolkit::{copying, lending};

fuzz_target!(|bytes: &[u8]| {
    let mut issues = [Issues::new(), Issues::new()];
    let [of_lent, of_copied] = &mut issues;
    let lent = hpctoolkit::read_profiles(lending(bytes.to_vec()), of_lent);
    let copied = hpctoolkit::read_profiles(copying(bytes.to_vec()), of_copied);
    assert_eq!(lent, copied, "the kind of source decides");
    assert_eq!(issues[0], issues[1]);
    let values: usize = lent.iter().flatten().map(|profile| profile.values.len()).sum();
    assert!(values <= bytes.len() / 10, "values are given more than once");
});
