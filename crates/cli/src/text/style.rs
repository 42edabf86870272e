//! [`Style`]: how wide, how long, how colourful.

use std::borrow::Cow;
use std::env;
use std::io::{IsTerminal as _, stderr, stdout};

use terminal_size::{Height, Width, terminal_size, terminal_size_of};

/// Columns of text that does not go to a terminal.
const PIPE_WIDTH: usize = 200;
/// Rows of text that does not go to a terminal.
const PIPE_ROWS: usize = 30;
/// Lines of a terminal that are left for the prompt, the command, title, header and last line.
const SPARE_LINES: usize = 6;

/// How text is laid out. Every renderer is a pure function of its data and this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    /// Columns that a line may have.
    pub(crate) width: usize,
    /// Rows of data to show at most; `None` shows all.
    pub(crate) rows: Option<usize>,
    /// Whether escape codes for colours may be written.
    pub(crate) is_colour: bool,
    /// Whether block and line characters may be written, or only ASCII. Names are written as they
    /// are in any case.
    pub(crate) is_unicode: bool,
}

/// When to write colours, as given on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum ColourChoice {
    /// If the output is a terminal and NO_COLOR is not set.
    #[default]
    Auto,
    /// Always use colours.
    Always,
    /// Never use colours.
    Never,
}

/// How many rows of data to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    /// About as many as fit the terminal, 30 elsewhere.
    Fitted,
    /// At most this many.
    AtMost(usize),
    /// All of them.
    All,
}

/// What a [`Style`] is decided on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    /// Whether text goes to a terminal.
    pub(crate) is_terminal: bool,
    /// Columns and lines of the terminal, where it tells.
    pub(crate) size: Option<(usize, usize)>,
    /// The variable `COLUMNS`, which decides when there is no terminal to ask.
    pub(crate) columns: Option<String>,
    /// The variable `NO_COLOR`; any text but the empty one says no.
    pub(crate) no_color: Option<String>,
    /// The variable `TERM`; `dumb` terminals know no colours.
    pub(crate) term: Option<String>,
    /// The first of `LC_ALL`, `LC_CTYPE` and `LANG` that is set. None is taken for UTF-8: that is
    /// how containers start, and terminals around them have long been UTF-8.
    pub(crate) locale: Option<String>,
}

impl Style {
    /// For answers.
    pub(crate) fn of_stdout(colour: ColourChoice, rows: Rows) -> Self {
        Self::from_facts(&Facts::of(stdout().is_terminal(), terminal_size()), colour, rows)
    }

    /// For notices and progress.
    pub(crate) fn of_stderr(colour: ColourChoice) -> Self {
        let facts = Facts::of(stderr().is_terminal(), terminal_size_of(stderr()));
        Self::from_facts(&facts, colour, Rows::All)
    }

    /// For text in a file: all rows, no colours.
    pub(crate) fn of_file(self) -> Self {
        Self { width: PIPE_WIDTH, rows: None, is_colour: false, ..self }
    }

    /// The decisions, apart from where the facts come from.
    pub(crate) fn from_facts(facts: &Facts, colour: ColourChoice, rows: Rows) -> Self {
        let size = facts.size.filter(|_| facts.is_terminal);
        let told = facts.columns.as_deref().and_then(|text| text.trim().parse().ok());
        let width = match size {
            Some((columns, _)) => columns,
            None => told.unwrap_or(if facts.is_terminal { 100 } else { PIPE_WIDTH }),
        };
        let rows =
            match rows {
                Rows::All => None,
                Rows::AtMost(rows) => Some(rows),
                Rows::Fitted => Some(size.map_or(PIPE_ROWS, |(_, lines)| {
                    lines.saturating_sub(SPARE_LINES).clamp(10, 50)
                })),
            };
        let is_set = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
        let is_colour = match colour {
            ColourChoice::Always => true,
            ColourChoice::Never => false,
            ColourChoice::Auto => {
                facts.is_terminal
                    && !is_set(&facts.no_color)
                    && facts.term.as_deref() != Some("dumb")
            }
        };
        let is_unicode = facts.locale.as_deref().is_none_or(|locale| {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        });
        Self { width: width.clamp(20, 1000), rows, is_colour, is_unicode }
    }

    /// `text` in the colours of `role`, or as it is.
    pub(crate) fn paint<'a>(&self, role: Role, text: &'a str) -> Cow<'a, str> {
        if !self.is_colour || text.is_empty() {
            return Cow::Borrowed(text);
        }
        let code = match role {
            Role::Plain => return Cow::Borrowed(text),
            Role::Head => "1",
            Role::Secondary => "2",
            Role::Hot => "1;33",
            Role::Bar => "36",
            Role::Error => "1;31",
            Role::Warning => "1;33",
        };
        Cow::Owned(format!("\x1b[{code}m{text}\x1b[0m"))
    }

    /// What stands for text that was omitted.
    pub(crate) const fn ellipsis(&self) -> &'static str {
        if self.is_unicode { "…" } else { "..." }
    }

    /// What stands for an undefined value.
    pub(crate) const fn nothing(&self) -> &'static str {
        if self.is_unicode { "–" } else { "-" }
    }
}

impl Facts {
    fn of(is_terminal: bool, size: Option<(Width, Height)>) -> Self {
        let variable = |name: &str| env::var(name).ok();
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .into_iter()
            .find_map(|name| variable(name).filter(|text| !text.is_empty()));
        Self {
            is_terminal,
            size: size
                .map(|(width, height)| (width.0.into(), height.0.into()))
                .filter(|&(width, height): &(usize, usize)| width > 0 && height > 0),
            columns: variable("COLUMNS"),
            no_color: variable("NO_COLOR"),
            term: variable("TERM"),
            locale,
        }
    }
}

/// What a piece of text is, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Data.
    Plain,
    /// Titles and heads of columns.
    Head,
    /// Units, places, counts of what is not shown.
    Secondary,
    /// What costs most.
    Hot,
    /// Bars.
    Bar,
    /// The word before an error.
    Error,
    /// The word before a warning.
    Warning,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terminal() -> Facts {
        Facts {
            is_terminal: true,
            size: Some((120, 40)),
            locale: Some("en_US.UTF-8".into()),
            ..Facts::default()
        }
    }

    #[test]
    fn a_terminal_decides_width_rows_and_colour() {
        let style = Style::from_facts(&terminal(), ColourChoice::Auto, Rows::Fitted);
        let expected = Style { width: 120, rows: Some(34), is_colour: true, is_unicode: true };
        assert_eq!(style, expected);
    }

    #[test]
    fn a_pipe_has_200_columns_30_rows_and_no_colour() {
        let facts = Facts { is_terminal: false, ..terminal() };
        let style = Style::from_facts(&facts, ColourChoice::Auto, Rows::Fitted);
        let expected = Style { width: 200, rows: Some(30), is_colour: false, is_unicode: true };
        assert_eq!(style, expected);
        let all = Style::from_facts(&facts, ColourChoice::Always, Rows::All);
        assert_eq!((all.rows, all.is_colour), (None, true));
        let told = Facts { columns: Some("132".into()), ..facts };
        assert_eq!(Style::from_facts(&told, ColourChoice::Auto, Rows::All).width, 132);
    }

    #[test]
    fn no_color_and_dumb_terminals_are_respected() {
        let is_colour =
            |facts: &Facts| Style::from_facts(facts, ColourChoice::Auto, Rows::All).is_colour;
        assert!(!is_colour(&Facts { no_color: Some("1".into()), ..terminal() }));
        assert!(is_colour(&Facts { no_color: Some(String::new()), ..terminal() }));
        assert!(!is_colour(&Facts { term: Some("dumb".into()), ..terminal() }));
    }

    #[test]
    fn block_characters_need_utf_8() {
        let is_unicode = |locale: Option<&str>| {
            let facts = Facts { locale: locale.map(str::to_owned), ..terminal() };
            Style::from_facts(&facts, ColourChoice::Auto, Rows::All).is_unicode
        };
        assert!(is_unicode(Some("C.utf8")));
        assert!(is_unicode(None));
        assert!(!is_unicode(Some("C")));
        assert!(!is_unicode(Some("de_DE.ISO-8859-1")));
    }
}
