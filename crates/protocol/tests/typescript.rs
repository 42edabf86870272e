//! The types of the page are those of this crate.
#![cfg(feature = "typescript")]

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
