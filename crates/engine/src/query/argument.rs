//! Names as they stand in parentheses: `main`, `MPI_*`, `"f(int)"`, `glob"a,*"`, `/^f/i`.

use std::fmt;

use super::cursor::Cursor;
use super::error::{QueryError, QueryErrorKind};
use super::name::{Glob, NameMatch, Quoted};

/// What the names in the parentheses are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NameKind {
    /// Functions and the like: a leading `/` always begins a regular expression.
    Function,
    /// Paths: a leading `/` begins a regular expression only where one ends properly.
    Path,
}

/// Reads the names of one pair of parentheses.
pub(super) struct ArgumentReader {
    kind: NameKind,
    /// Whether `<` and `>` enclose commas here. They do until one is found that has no partner,
    /// as in `operator<`.
    angles_nest: bool,
}

impl ArgumentReader {
    pub(super) fn new(kind: NameKind) -> Self {
        Self { kind, angles_nest: true }
    }

    /// Reads one name up to its separator. A bare name keeps what follows a colon.
    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<NameMatch, QueryError> {
        cursor.skip_blanks();
        if let Some(exact) = cursor.quoted()? {
            return Ok(NameMatch::Exact(exact));
        }
        let from = cursor.at();
        if cursor.eat("glob") {
            if let Some(pattern) = cursor.quoted()? {
                return Ok(NameMatch::Glob(Glob::new(&pattern)));
            }
            cursor.move_to(from);
        }
        if cursor.peek() == Some('/') && (self.kind == NameKind::Function || ends_regex(cursor)) {
            return Ok(NameMatch::Regex(cursor.regex()?));
        }
        let bare = self.bare(cursor);
        if bare.is_empty() {
            let message = format!("expected a name, found {}", cursor.found());
            return Err(cursor.fail(QueryErrorKind::Syntax, message));
        }
        Ok(NameMatch::from_bare(bare))
    }

    /// Takes the text up to a `,`, `|` or `)` that is not within parentheses or angle brackets,
    /// so that `f(int, int)` and `std::vector<int, A>` are one name each.
    fn bare<'a>(&mut self, cursor: &mut Cursor<'a>) -> &'a str {
        let rest = cursor.rest();
        let (mut round, mut angle) = (0_usize, 0_usize);
        let mut separator_within_angles = None;
        let mut end = rest.len();
        for (at, c) in rest.char_indices() {
            match c {
                '(' => round += 1,
                ')' if round == 0 => {
                    end = at;
                    break;
                }
                ')' => round -= 1,
                '<' if round == 0 && self.angles_nest => angle += 1,
                '>' if round == 0 => angle = angle.saturating_sub(1),
                ',' | '|' if round == 0 && angle == 0 => {
                    end = at;
                    break;
                }
                ',' | '|' if round == 0 && separator_within_angles.is_none() => {
                    separator_within_angles = Some(at);
                }
                _ => {}
            }
        }
        if angle > 0 {
            // A lone `<`: from here on they are ordinary characters.
            if let Some(separator) = separator_within_angles {
                self.angles_nest = false;
                end = separator;
            }
        }
        cursor.move_to(cursor.at() + end);
        rest.get(..end).unwrap_or("").trim_end()
    }
}

/// Whether the `/` that stands here begins a whole regular expression, not an absolute path.
fn ends_regex(cursor: &Cursor<'_>) -> bool {
    let Some((_, end)) = cursor.regex_extent() else { return false };
    let next = cursor.rest().get(end..).and_then(|rest| rest.chars().next());
    next.is_none_or(|c| c.is_whitespace() || ",|):".contains(c))
}

/// A name as [`ArgumentReader`] reads it back.
pub(super) struct PrintedName<'a>(pub(super) &'a NameMatch, pub(super) NameKind);

impl fmt::Display for PrintedName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(name, kind) = *self;
        match name {
            NameMatch::Regex(regex) => write!(f, "{regex}"),
            NameMatch::Glob(glob) => {
                let pattern = glob.pattern();
                if pattern.contains(['*', '?']) && is_plain(pattern, kind) {
                    f.write_str(pattern)
                } else {
                    write!(f, "glob{}", Quoted(pattern))
                }
            }
            NameMatch::Exact(text) => {
                if !text.contains(['*', '?']) && is_plain(text, kind) {
                    f.write_str(text)
                } else {
                    write!(f, "{}", Quoted(text))
                }
            }
        }
    }
}

/// Whether `text` needs no quotes: it is read back whole whatever is next to it.
fn is_plain(text: &str, kind: NameKind) -> bool {
    let (mut round, mut angle) = (0_i64, 0_i64);
    for c in text.chars() {
        match c {
            '(' => round += 1,
            ')' => round -= 1,
            '<' => angle += 1,
            '>' => angle -= 1,
            ',' | '|' | '"' | '\'' | '[' | ']' => return false,
            _ => {}
        }
        if round < 0 || angle < 0 {
            return false;
        }
    }
    let is_number = text.starts_with(|c: char| c.is_ascii_digit());
    let is_place = kind == NameKind::Path && (text.contains(':') || is_number);
    round == 0
        && angle == 0
        && !is_place
        && !text.is_empty()
        && !text.starts_with('/')
        && text.trim() == text
}
