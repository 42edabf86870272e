//! All of `meta.db`; the columns of the tree keep their promises.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_base::Issues;

#[path = "../../crates/formats/tests/hpctoolkit/mod.rs"]
mod hpctoolkit;

use hpctoolkit::{copying, lending};

fuzz_target!(|bytes: &[u8]| {
    let mut issues = [Issues::new(), Issues::new()];
    let [of_lent, of_copied] = &mut issues;
    let lent = hpctoolkit::read_meta(&*lending(bytes.to_vec()), of_lent);
    let copied = hpctoolkit::read_meta(&*copying(bytes.to_vec()), of_copied);
    assert_eq!(lent, copied, "the kind of source decides");
    assert_eq!(issues[0], issues[1]);
    if let Ok(meta) = lent {
        hpctoolkit::check_contexts(&meta);
    }
});
