//! The end of a page behind the end of its file reads as zeros without a signal.

#![cfg(unix)]

use std::fs::{self, OpenOptions};

use parallax_base::ByteSource as _;
use parallax_native::{MappedFile, lost_file};

#[test]
fn a_file_that_loses_a_few_bytes_is_noticed_too() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("file");
    fs::write(&path, vec![7; 5000]).unwrap();
    let file = MappedFile::open(&path).unwrap();
    OpenOptions::new().write(true).open(&path).unwrap().set_len(4900).unwrap();
    assert_eq!(file.as_slice().unwrap()[4999], 0);
    drop(file);
    assert_eq!(lost_file(), Some(path));
}
