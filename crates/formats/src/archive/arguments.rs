//! Arguments of calls as texts: names, which many calls share, and values as JSON.

use std::borrow::Cow;

use crate::json_trace::unescape;

/// Longest text of a value; what is longer is cut.
pub const LONGEST_VALUE: usize = 256;

/// Most arguments of one call.
pub const MOST_ARGUMENTS: usize = 64;

/// Names and values of the arguments of one call, each on a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArgumentText {
    /// Names, separated by line feeds.
    pub names: String,
    /// Values as JSON, separated by line feeds: texts are in quotes, and have no line feed in them.
    pub values: String,
    /// How many there are.
    pub len: usize,
    /// Whether a value was cut, or an argument left out.
    pub is_cut: bool,
}

impl ArgumentText {
    /// Forgets everything but the memory.
    pub fn clear(&mut self) {
        self.names.clear();
        self.values.clear();
        (self.len, self.is_cut) = (0, false);
    }

    /// Adds an argument whose value is a number, a word, an array or an object of JSON.
    pub fn push_json(&mut self, name: &str, json: &str) {
        if self.begin(name) {
            let kept = cut(json, LONGEST_VALUE);
            self.is_cut |= kept.len() < json.len();
            push_line(&mut self.values, kept);
            if kept.len() < json.len() {
                self.values.push('…');
            }
        }
    }

    /// Adds an argument whose value is the text between the quotes of JSON, with its escapes.
    pub fn push_escaped(&mut self, name: &str, inside: &str) {
        if self.begin(name) {
            let kept = without_half_escape(cut(inside, LONGEST_VALUE), inside);
            self.values.push('"');
            push_line(&mut self.values, kept);
            if kept.len() < inside.len() {
                self.is_cut = true;
                self.values.push('…');
            }
            self.values.push('"');
        }
    }

    /// Adds an argument whose value is a text.
    pub fn push_text(&mut self, name: &str, text: &str) {
        let mut escaped = String::with_capacity(text.len());
        for letter in text.chars() {
            match letter {
                '"' | '\\' => escaped.extend(['\\', letter]),
                '\n' => escaped.push_str("\\n"),
                '\t' => escaped.push_str("\\t"),
                letter => escaped.push(line(letter)),
            }
        }
        self.push_escaped(name, &escaped);
    }

    /// Adds a name; `false` where there are too many.
    fn begin(&mut self, name: &str) -> bool {
        if self.len >= MOST_ARGUMENTS {
            self.is_cut = true;
            return false;
        }
        if self.len > 0 {
            self.names.push('\n');
            self.values.push('\n');
        }
        let kept = cut(name, LONGEST_VALUE);
        self.is_cut |= kept.len() < name.len();
        push_line(&mut self.names, kept);
        self.len += 1;
        true
    }
}

/// Adds a text without what ends a line. Nearly all texts have nothing of that: bytes are faster to
/// look at than letters. Behind 0xc2 may be a control character of Latin-1.
fn push_line(to: &mut String, text: &str) {
    if text.bytes().any(|byte| byte.is_ascii_control() || byte == 0xc2) {
        to.extend(text.chars().map(line));
    } else {
        to.push_str(text);
    }
}

/// A letter that does not end a line.
fn line(letter: char) -> char {
    if letter.is_control() { ' ' } else { letter }
}

/// At most `most` bytes of a text.
fn cut(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let end = (0..=most).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

/// The beginning `kept` of `whole` without an escape that its end cuts through.
fn without_half_escape<'t>(kept: &'t str, whole: &str) -> &'t str {
    if kept.len() == whole.len() {
        return kept;
    }
    let mut at = 0;
    let bytes = kept.as_bytes();
    while let Some(&byte) = bytes.get(at) {
        let length = match (byte, bytes.get(at + 1)) {
            (b'\\', Some(b'u')) => 6,
            (b'\\', _) => 2,
            _ => 1,
        };
        if at + length > bytes.len() {
            return kept.get(..at).unwrap_or_default();
        }
        at += length;
    }
    kept
}

/// Names and values of arguments; texts are without quotes and escapes. Where there are more names
/// than values, or the other way round, the rest is empty: archives may be damaged.
pub fn arguments<'t>(
    names: &'t str,
    values: &'t str,
) -> impl Iterator<Item = (&'t str, Cow<'t, str>)> {
    let mut values = values.split('\n');
    names.split('\n').take(MOST_ARGUMENTS).map(move |name| {
        let value = values.next().unwrap_or_default();
        let inside = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        (name, inside.map_or(Cow::Borrowed(value), |inside| unescape(inside.as_bytes()).0))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &ArgumentText) -> Vec<(String, String)> {
        let pairs = arguments(&text.names, &text.values);
        pairs.map(|(name, value)| (name.to_owned(), value.into_owned())).collect()
    }

    #[test]
    fn values_of_all_kinds_come_back() {
        let mut text = ArgumentText::default();
        text.push_json("grid", "[128,\n 1, 1]");
        text.push_json("External id", "41506");
        text.push_escaped("Call stack", r#"a.py(3): f\nb.py(7): \"g\""#);
        text.push_text("region", "say \"a\\b\"\nnext");
        assert!(!text.is_cut);
        let expected = [
            ("grid", "[128,  1, 1]"),
            ("External id", "41506"),
            ("Call stack", "a.py(3): f\nb.py(7): \"g\""),
            ("region", "say \"a\\b\"\nnext"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(read(&text), expected);
    }

    #[test]
    fn long_values_are_cut_between_letters_and_escapes() {
        for escape in ["\\n", "\\u00e9", "é", "\\\\"] {
            for shift in 0..8 {
                let long = format!("{}{}", "x".repeat(shift), escape.repeat(LONGEST_VALUE));
                let mut text = ArgumentText::default();
                text.push_escaped("long", &long);
                assert!(text.is_cut);
                assert!(text.values.len() <= LONGEST_VALUE + 8, "{}", text.values.len());
                let (_, value) = read(&text).remove(0);
                assert!(value.ends_with('…') && !value.contains("\\u"), "{value}");
            }
        }
    }

    #[test]
    fn one_call_has_so_many_arguments_at_most() {
        let mut text = ArgumentText::default();
        for number in 0..100 {
            text.push_json(&number.to_string(), "1");
        }
        assert!(text.is_cut);
        assert_eq!(read(&text).len(), MOST_ARGUMENTS);
    }

    proptest! {
        #[test]
        fn any_text_comes_back(pairs in prop::collection::vec((".{0,20}", ".{0,50}"), 1..8)) {
            let mut text = ArgumentText::default();
            for (name, value) in &pairs {
                text.push_text(name, value);
            }
            let plain = |text: &str| -> String { text.chars().map(line).collect() };
            let expected: Vec<_> = pairs
                .iter()
                .map(|(name, value)| {
                    let kept = value.chars().map(|l| if l == '\t' { l } else { line(l) });
                    (plain(name), kept.collect::<String>())
                })
                .collect();
            if !text.is_cut {
                prop_assert_eq!(read(&text), expected);
            }
        }

        #[test]
        fn damaged_texts_are_read(names in ".{0,80}", values in ".{0,80}") {
            let read = arguments(&names, &values).count();
            prop_assert!((1..=MOST_ARGUMENTS).contains(&read));
        }
    }
}
