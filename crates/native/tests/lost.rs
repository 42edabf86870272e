//! Files that become shorter while they are mapped. What is lost is known to the whole process, so
//! everything about it is one test.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

use std::fs::{self, OpenOptions};
use std::path::Path;

use parallax_base::ByteSource as _;
use parallax_native::{DiskSink, MappedFile, lost_file};

const LEN: usize = 300_000;

fn make(path: &Path) -> MappedFile {
    fs::write(path, vec![7; LEN]).unwrap();
    MappedFile::open(path).unwrap()
}

fn shorten(path: &Path, len: u64) {
    OpenOptions::new().write(true).open(path).unwrap().set_len(len).unwrap();
}

#[test]
fn a_file_that_is_shortened_is_noticed_and_stops_nobody() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    let sound = make(&path("sound"));

    // Another file in its place changes nothing for those who have it mapped.
    let replaced = make(&path("replaced"));
    fs::write(path("new"), b"short").unwrap();
    fs::rename(path("new"), path("replaced")).unwrap();
    assert!(replaced.as_slice().unwrap().iter().all(|byte| *byte == 7));
    drop(replaced);
    assert_eq!(lost_file(), None);

    // Several threads that read what is not there any more, among them one beyond all of it.
    let cut = make(&path("cut"));
    let lent = cut.as_slice().unwrap();
    shorten(&path("cut"), 4096);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                let from = LEN - 1 - thread * 50_000;
                assert_eq!(lent[from], 0);
                assert_eq!(lent[4095], 7);
            });
        }
    });
    assert!(cut.as_slice().is_none(), "nothing more is lent");
    let error = cut.read_at(0, &mut [0; 8]).unwrap_err().to_string();
    assert!(error.contains("cut was truncated by another program"), "{error}");
    assert_eq!(lost_file(), Some(path("cut")));

    // Nothing is published that may have been made of it.
    let sink = DiskSink::new(&path("archive")).unwrap();
    assert!(sink.publish().unwrap_err().to_string().contains("truncated"));
    drop(sink);
    assert!(!path("archive").exists());

    // Others are as they were, and places in memory that are used again are watched again.
    assert!(sound.as_slice().unwrap().iter().all(|byte| *byte == 7));
    drop(cut);
    for round in 0..50 {
        let again = make(&path("again"));
        assert_eq!(again.as_slice().unwrap()[LEN - 1], 7, "round {round}");
        shorten(&path("again"), 0);
        assert_eq!(again.read_at(9, &mut [0; 8]).ok(), None, "round {round}");
    }
}
