//! What is generated for the page and for Python says what is defined.
#![cfg(feature = "typescript")]

use parallax_protocol::python::python;
use parallax_protocol::typescript::typescript;

const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/src/wire/protocol.ts");

/// With `PARALLAX_BLESS` set, the file is written instead.
#[test]
fn the_types_of_the_web_are_current() {
    let expected = typescript();
    if std::env::var_os("PARALLAX_BLESS").is_some() {
        std::fs::create_dir_all(std::path::Path::new(KEPT).parent().unwrap()).unwrap();
        std::fs::write(KEPT, &expected).unwrap();
    }
    let kept = std::fs::read_to_string(KEPT).unwrap_or_default();
    assert!(kept == expected, "web/src/wire/protocol.ts is old; `cargo xtask web types` writes it");
}

const PACKAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../python/python/parallax");

/// With `PARALLAX_BLESS` set, the files are written instead.
#[test]
fn the_methods_of_the_python_package_are_current() {
    let modules = python();
    for (name, expected) in [("_questions.py", &modules.questions), ("types.py", &modules.types)] {
        let path = format!("{PACKAGE}/{name}");
        if std::env::var_os("PARALLAX_BLESS").is_some() {
            std::fs::write(&path, expected).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == *expected, "{name} of crates/python is old; `cargo xtask bless` writes it");
    }
}
