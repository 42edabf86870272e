//! A name in the ways in which files write it.

use anyhow::{Result, bail};

/// A name of one or more words.
pub(crate) struct Name {
    words: Vec<String>,
}

impl Name {
    /// Words in lower case with `-` or `_` between them.
    ///
    /// # Errors
    /// When it would be no name in Rust and TypeScript.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let words: Vec<String> = text.split(['-', '_']).map(str::to_owned).collect();
        let is_word = |word: &String| {
            word.starts_with(|c: char| c.is_ascii_lowercase())
                && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        };
        if !words.iter().all(is_word) {
            bail!("`{text}` is no name; write words in lower case, such as hot-pairs");
        }
        Ok(Self { words })
    }

    /// `hot_pairs`.
    pub(crate) fn snake(&self) -> String {
        self.words.join("_")
    }

    /// `hot-pairs`.
    pub(crate) fn kebab(&self) -> String {
        self.words.join("-")
    }

    /// `HotPairs`.
    pub(crate) fn pascal(&self) -> String {
        self.words.iter().map(|word| capital(word)).collect()
    }

    /// `Hot pairs`.
    pub(crate) fn title(&self) -> String {
        capital(&self.words.join(" "))
    }

    /// The text of a template with the name in it.
    pub(crate) fn fill(&self, template: &str) -> String {
        template
            .replace("__snake__", &self.snake())
            .replace("__kebab__", &self.kebab())
            .replace("__Pascal__", &self.pascal())
            .replace("__Title__", &self.title())
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_written_as_each_language_does() {
        let name = Name::parse("hot-pairs2").unwrap();
        assert_eq!(
            name.fill("__snake__ __kebab__ __Pascal__ __Title__"),
            "hot_pairs2 hot-pairs2 HotPairs2 Hot pairs2"
        );
        for wrong in ["", "Hot", "a--b", "2d", "a b", "../x"] {
            assert!(Name::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
