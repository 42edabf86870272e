//! The questions as Python: a method for each question, with types and documentation, and the types
//! of what they take and give.
//!
//! Types come through the module `typescript`, which knows what requests and replies consist of.

mod declared;
mod methods;
mod text;
mod types;

use std::collections::BTreeMap;

use self::declared::Declared;
use crate::typescript::Pages;

/// The first line of generated files.
const HEAD: &str = "# Generated from crates/protocol by `cargo xtask bless`. Do not edit.\n";

/// The generated modules of the Python package.
pub struct Modules {
    /// `_questions.py`: the methods.
    pub questions: String,
    /// `types.py`: what they take and give, for type checkers and for readers.
    pub types: String,
}

/// Writes the modules.
#[must_use]
pub fn python() -> Modules {
    let pages = Pages::written("int");
    let known: Known =
        pages.types.iter().map(|(name, text)| (name.clone(), declared::read(text))).collect();
    let questions = methods::questions(&pages.asked, &known);
    Modules { types: types::module(&questions, &known), questions: methods::module(&questions) }
}

/// All declarations with what is said about them, by name.
type Known = BTreeMap<String, (String, Declared)>;

/// Words that are no names in Python.
const KEYWORDS: [&str; 16] = [
    "from", "with", "in", "is", "as", "and", "or", "not", "if", "for", "while", "class", "def",
    "global", "lambda", "import",
];

/// What a field is called in Python.
fn python_name(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("{name}_") } else { name.to_owned() }
}

/// `tree_table` as `TreeTable`.
fn camel_case(name: &str) -> String {
    let words = name.split('_').map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(char::to_uppercase);
        first.into_iter().flatten().chain(letters).collect::<String>()
    });
    words.collect()
}
