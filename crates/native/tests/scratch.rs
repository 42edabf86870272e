//! Temporary files for what does not fit into memory.

#![allow(clippy::unwrap_used, reason = "tests may stop")]

use std::sync::Arc;

use parallax_base::paged::{Numbers, Paging, ROWS, Scratch};
use parallax_native::ScratchFile;

#[test]
fn what_leaves_memory_comes_back_and_no_file_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let scratch = Arc::new(ScratchFile::in_folder(folder.path()));
    let paging = Paging::new(10_000, Some(Arc::clone(&scratch) as Arc<dyn Scratch>));
    let mut numbers = Numbers::<u64>::new(&paging);
    (0..100 * ROWS as u64).for_each(|at| numbers.push(at * at % 1_000_003));
    assert!(paging.scratch_bytes() > 500_000, "{paging:?}");
    assert!(
        (0..).zip(numbers.iter()).all(|(at, number): (u64, u64)| number == at * at % 1_000_003)
    );
    paging.check().unwrap();
    if cfg!(unix) {
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
    drop((numbers, paging, scratch));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_folder_in_which_nothing_can_be_written_is_named_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap().path().join("gone");
    let scratch = ScratchFile::in_folder(&folder);
    let error = scratch.write_at(0, b"bytes").unwrap_err().to_string();
    assert!(error.contains("gone") && error.contains("cannot be made"), "{error}");
    assert!(error.contains("make room there, or set TMP"), "{error}");
}
