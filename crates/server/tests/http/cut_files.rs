//! Files that are shortened while the server has them open.

use std::fs::{self, OpenOptions};
use std::path::Path;

use parallax_server::places;

use crate::common::{ask, fixture, options, start};
use crate::questions::open;

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

fn shorten(file: &Path, len: u64) {
    OpenOptions::new().write(true).open(file).unwrap().set_len(len).unwrap();
}

#[test]
fn a_file_that_is_shortened_is_an_error_of_its_own_questions_only() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["cut", "whole"].map(|name| folder.path().join(name));
    for path in &paths {
        copy(&fixture("n1024-p8"), path);
    }
    let places = places(&paths).unwrap();
    let keys: Vec<String> = places[1..].iter().map(|place| place.key.clone()).collect();
    let address = start(places, options());
    for key in &keys {
        assert_eq!(ask(address, &open(key)).last_piece().0, 'R');
    }
    let question = |item: &str, asked: &str| {
        let question = format!(r#"{{"ask":"{asked}","with":{{"item":"{item}"}}}}"#);
        let answer = ask(address, &question);
        let (letter, bytes) = answer.last_piece();
        (letter, String::from_utf8_lossy(bytes).into_owned())
    };
    assert_eq!(question("x1", "trace").0, 'R');
    // All but the first page, and only the end of the last page.
    let trace = paths[0].join("trace.db");
    for len in [4096, fs::metadata(&trace).unwrap().len() - 4097] {
        fs::copy(fixture("n1024-p8").join("trace.db"), &trace).unwrap();
        assert_eq!(question("x1", "trace").0, 'R', "it is complete again");
        shorten(&trace, len);
        let (letter, text) = question("x1", "trace");
        assert_eq!(letter, 'E', "{len}");
        assert!(text.contains("trace.db was truncated by another program"), "{text}");
        // Other files of it, and other databases, are what they were.
        assert_eq!(question("x1", "flat").0, 'R');
        assert_eq!(question("x2", "trace").0, 'R');
    }
}
