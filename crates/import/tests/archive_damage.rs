//! A damaged archive is an error or a smaller answer, and never stops the program.

mod archives;

use std::sync::Arc;

use parallax_base::{Folder, Limits, MemoryFolder};
use parallax_import::archive;
use proptest::prelude::*;

use archives::{exercise, files};

/// So many that there are three levels of nodes.
const STEPS: u64 = 60;

#[test]
fn an_archive_without_one_of_its_files_says_which() {
    let whole = files(STEPS);
    assert_eq!(whole.len(), 20);
    for (missing, _) in &whole {
        let rest: Vec<_> = whole.iter().filter(|(path, _)| path != missing).cloned().collect();
        let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("damaged", rest));
        let error = archive::open(&folder, &Limits::default()).err().unwrap().to_string();
        assert!(error.contains(missing.as_str()) && error.contains("missing"), "{error}");
    }
}

#[test]
fn files_cut_anywhere_are_errors() {
    let whole = files(STEPS);
    for at in 0..whole.len() {
        let len = whole.get(at).map_or(0, |(_, bytes)| bytes.len());
        for keep in (0..len).step_by(97) {
            let mut files = whole.clone();
            if let Some((_, bytes)) = files.get_mut(at) {
                bytes.truncate(keep);
            }
            let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("damaged", files));
            assert!(archive::open(&folder, &Limits::default()).is_err(), "file {at} cut at {keep}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn bytes_that_changed_stop_nothing(
        changes in prop::collection::vec((0..20_usize, any::<prop::sample::Index>(), 1..=255_u8), 1..6),
    ) {
        let mut files = files(STEPS);
        for (file, at, flip) in changes {
            let Some((_, bytes)) = files.get_mut(file) else { continue };
            let at = at.index(bytes.len());
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= flip;
            }
        }
        exercise(files);
    }
}
