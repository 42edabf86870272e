//! The reference of questions says what is defined.

use parallax_protocol::reference;

const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/questions.md");

/// With `PARALLAX_BLESS` set, the file is written instead.
#[test]
fn the_reference_of_questions_is_current() {
    let expected = reference();
    if std::env::var_os("PARALLAX_BLESS").is_some() {
        std::fs::write(KEPT, &expected).unwrap();
    }
    let kept = std::fs::read_to_string(KEPT).unwrap_or_default();
    assert!(kept == expected, "docs/questions.md is old; `cargo xtask bless` writes it");
}
