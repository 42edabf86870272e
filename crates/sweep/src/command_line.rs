//! Command lines as people write them: words with quotes, as a shell reads them, without its
//! variables and patterns.

use std::borrow::Cow;

use crate::SweepError;

/// The words of `text`: blanks separate, quotes and backslashes keep blanks.
///
/// # Errors
/// When a quote is not closed or the text ends in a backslash.
pub fn split(text: &str) -> Result<Vec<String>, SweepError> {
    let wrong = |why| SweepError::Words { text: text.to_owned(), why };
    let mut words = Vec::new();
    // A word that was begun, which may be empty: '' is one.
    let mut word: Option<String> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            _ if c.is_whitespace() => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('\'') => break,
                        Some(c) => word.push(c),
                        None => return Err(wrong("a quote (') is not closed")),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('"') => break,
                        Some('\\') if matches!(chars.peek(), Some('"' | '\\')) => {
                            word.extend(chars.next());
                        }
                        Some(c) => word.push(c),
                        None => return Err(wrong("a quote (\") is not closed")),
                    }
                }
            }
            '\\' => {
                let next = chars.next().ok_or_else(|| wrong("nothing follows the backslash"))?;
                word.get_or_insert_default().push(next);
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

/// `word` as it has to be written for [`split`] or a shell to read it as one.
#[must_use]
pub fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_=./,:+@%^".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

/// A whole command line, which [`split`] takes apart again.
#[must_use]
pub fn line<S: AsRef<str>>(words: &[S]) -> String {
    words.iter().map(|word| quoted(word.as_ref())).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_read_as_a_shell_reads_them() {
        let text = r#"-n  64 'two words' "a \"b\" \n" x\ y ''"#;
        let expected = ["-n", "64", "two words", r#"a "b" \n"#, "x y", ""];
        assert_eq!(split(text).unwrap(), expected);
        assert_eq!(split("  ").unwrap(), Vec::<String>::new());
        for text in ["'a", "\"a", "a\\"] {
            assert!(matches!(split(text), Err(SweepError::Words { .. })), "{text}");
        }
    }

    proptest! {
        #[test]
        fn quoted_words_come_back(words in prop::collection::vec(".{0,8}", 0..6)) {
            prop_assert_eq!(split(&line(&words)).unwrap(), words);
        }
    }
}
