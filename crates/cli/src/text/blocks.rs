//! Facts and notices.

use std::io::{self, Write};

use super::Style;
use super::advice::with_options;
use super::fit::{pad, printable, width_of};
use super::style::Role;

/// Facts, one per line, in sections: what `info` says.
///
/// ```text
/// amg
///
///   format     HPCToolkit 4.0
///   contexts   97,833
///
/// Files
///
///   cct.db     1.20 GB
/// ```
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyValues {
    lines: Vec<Line>,
}

#[derive(Debug, Clone)]
enum Line {
    Section(String),
    Pair(String, String),
}

impl KeyValues {
    /// No facts.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Starts a section with a title.
    pub(crate) fn section(mut self, title: impl Into<String>) -> Self {
        self.lines.push(Line::Section(title.into()));
        self
    }

    /// Adds a fact. A value of several lines keeps them.
    pub(crate) fn pair(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.lines.push(Line::Pair(key.into(), value.into()));
        self
    }

    /// The text; long values go on in the next line, below where they started.
    pub(crate) fn render(&self, style: &Style) -> String {
        let keys = self.lines.iter().filter_map(|line| match line {
            Line::Pair(key, _) => Some(width_of(&printable(key))),
            Line::Section(_) => None,
        });
        let key_width = keys.max().unwrap_or_default();
        let start = key_width + 5;
        let mut text = String::new();
        for (idx, line) in self.lines.iter().enumerate() {
            match line {
                Line::Section(title) => {
                    if idx > 0 {
                        text.push('\n');
                    }
                    text.push_str(&style.paint(Role::Head, &printable(title)));
                    text.push_str("\n\n");
                }
                Line::Pair(key, value) => {
                    let key = printable(key);
                    text.push_str("  ");
                    text.push_str(&style.paint(Role::Secondary, &key));
                    let missing = key_width - width_of(&key) + 3;
                    let room = style.width.saturating_sub(start);
                    for (idx, part) in wrapped(value, room).iter().enumerate() {
                        if !part.is_empty() {
                            pad(&mut text, if idx == 0 { missing } else { start });
                        }
                        text.push_str(part);
                        text.push('\n');
                    }
                }
            }
        }
        text
    }

    /// Writes the text.
    ///
    /// # Errors
    ///
    /// When `out` fails.
    pub(crate) fn write(&self, style: &Style, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.render(style).as_bytes())
    }
}

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// There is no answer.
    Error,
    /// The answer may mislead.
    Warning,
    /// How the answer came about, such as which metric was chosen.
    Note,
}

/// A message next to the answer, for stderr: `warning: 3 profiles are damaged`.
#[derive(Debug, Clone)]
pub(crate) struct Notice {
    level: Level,
    message: String,
}

impl Notice {
    /// A message, with the options behind what it advises. Lines of several stay apart.
    pub(crate) fn new(level: Level, message: impl Into<String>) -> Self {
        Self { level, message: with_options(&message.into()) }
    }

    /// The text, with long lines broken below where they started.
    pub(crate) fn render(&self, style: &Style) -> String {
        let (word, role) = match self.level {
            Level::Error => ("error:", Role::Error),
            Level::Warning => ("warning:", Role::Warning),
            Level::Note => ("note:", Role::Head),
        };
        let start = word.len() + 1;
        let mut text = String::new();
        for (idx, part) in
            wrapped(&self.message, style.width.saturating_sub(start)).iter().enumerate()
        {
            if idx == 0 {
                text.push_str(&style.paint(role, word));
                text.push(' ');
            } else {
                pad(&mut text, start);
            }
            text.push_str(part);
            text.push('\n');
        }
        text
    }

    /// Prints the text to stderr. A failure cannot be reported.
    pub(crate) fn print(&self, style: &Style) {
        let _ = io::stderr().write_all(self.render(style).as_bytes());
    }
}

/// Breaks each line of `text` between words so that it fits `width`; words that are too long stay
/// whole, because paths are copied.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let line = printable(line.trim_end_matches('\r'));
        // An expression with marks below it means something only as it stands.
        if line.starts_with("  ") {
            lines.push(line.trim_end().to_owned());
            continue;
        }
        let mut current = String::new();
        for word in line.split(' ') {
            if !current.is_empty() && width_of(&current) + 1 + width_of(word) > width {
                lines.push(std::mem::take(&mut current));
            } else if !current.is_empty() {
                current.push(' ');
            }
            current.push_str(word);
        }
        lines.push(current);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const UTF: Style = Style { width: 40, rows: None, is_colour: false, is_unicode: true };

    #[test]
    fn facts_are_aligned_and_long_ones_wrap() {
        let facts = KeyValues::new()
            .section("amg")
            .pair("format", "HPCToolkit 4.0")
            .pair("title", "")
            .pair("entry points", "main thread, application thread, GPU stream")
            .section("Files")
            .pair("cct.db", "1.20 GB");
        assert_eq!(
            facts.render(&UTF),
            "\
amg

  format         HPCToolkit 4.0
  title
  entry points   main thread,
                 application thread, GPU
                 stream

Files

  cct.db         1.20 GB
"
        );
    }

    #[test]
    fn notices_wrap_below_their_word_and_stay_in_colour() {
        let notice = Notice::new(
            Level::Warning,
            "3 profiles are damaged and were omitted:\nsee /a/very/long/path/that/nobody/should/break",
        );
        assert_eq!(
            notice.render(&UTF),
            "\
warning: 3 profiles are damaged and were
         omitted:
         see
         /a/very/long/path/that/nobody/should/break
"
        );
        let colour = Style { is_colour: true, ..UTF };
        let text = Notice::new(Level::Error, "no\x1b[2J").render(&colour);
        assert_eq!(text, "\x1b[1;31merror:\x1b[0m no\\u{1b}[2J\n");
    }
}
