//! The lexer: a place in an expression, and the small tokens that every notation shares.
//!
//! What a character means depends on where it stands (`>` in a function name, between contexts, in
//! a predicate), so tokens are cut on demand by the parser that knows the place.

use super::error::{QueryError, QueryErrorKind};
use super::name::RegexMatch;
use super::{MAX_DEPTH, MAX_LENGTH};

/// A place in an expression, and the bytes up to which may be read.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    end: usize,
    depth: usize,
}

impl<'a> Cursor<'a> {
    /// At the first thing of an expression; `what` names what is expected, for the error on an
    /// empty expression.
    pub(super) fn start(text: &'a str, what: &str, example: &str) -> Result<Self, QueryError> {
        let mut cursor = Self { text, at: 0, end: text.len(), depth: 0 };
        if text.len() > MAX_LENGTH {
            let shown = text.chars().take(32).collect::<String>();
            return Err(QueryError::at(
                QueryErrorKind::TooLong,
                &shown,
                0,
                shown.len(),
                format!("the expression has {} bytes, more than {MAX_LENGTH}", text.len()),
            )
            .with_hint("select by ranges, globs or regular expressions instead of long lists"));
        }
        cursor.skip_blanks();
        if cursor.is_at_end() {
            return Err(cursor
                .fail(QueryErrorKind::Empty, format!("{what} is empty"))
                .with_hint(format!("write for example `{example}`, or `*` for everything")));
        }
        Ok(cursor)
    }

    /// A cursor over part of the text, for texts that need no limits (checks when printing).
    pub(super) fn over(text: &'a str) -> Self {
        Self { text, at: 0, end: text.len(), depth: 0 }
    }

    /// The same expression, restricted to the bytes `from..to`.
    pub(super) fn within(&self, from: usize, to: usize) -> Self {
        Self { text: self.text, at: from, end: to, depth: self.depth }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn move_to(&mut self, at: usize) {
        self.at = at;
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..self.end).unwrap_or("")
    }

    /// The text from byte `from` to here.
    pub(super) fn since(&self, from: usize) -> &'a str {
        self.text.get(from..self.at).unwrap_or("")
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest().is_empty()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    pub(super) fn skip_blanks(&mut self) {
        self.skip_while(char::is_whitespace);
    }

    pub(super) fn skip_while(&mut self, accept: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&accept) {
            self.bump();
        }
    }

    /// Takes `token` where it stands here.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// Takes `token` after blanks; the blanks stay when it is not there.
    pub(super) fn eat_after_blanks(&mut self, token: &str) -> bool {
        let before = self.at;
        self.skip_blanks();
        let found = self.eat(token);
        if !found {
            self.at = before;
        }
        found
    }

    /// The word that stands here: a letter or `_`, then letters, digits and `_`.
    pub(super) fn peek_word(&self) -> &'a str {
        let rest = self.rest();
        if !rest.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return "";
        }
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        rest.get(..end).unwrap_or("")
    }

    /// Takes `word` (whatever its case) after blanks where it stands as a whole word.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let before = self.at;
        self.skip_blanks();
        let here = self.peek_word();
        if here.eq_ignore_ascii_case(word) {
            self.at += here.len();
            return true;
        }
        self.at = before;
        false
    }

    /// `|`, `||` or `or`, and `,` where a list may stand.
    pub(super) fn eat_or(&mut self, comma: bool) -> bool {
        if self.eat_after_blanks("|") {
            self.eat("|");
            return true;
        }
        (comma && self.eat_after_blanks(",")) || self.eat_word("or")
    }

    /// `&`, `&&` or `and`.
    pub(super) fn eat_and(&mut self) -> bool {
        if self.eat_after_blanks("&") {
            self.eat("&");
            return true;
        }
        self.eat_word("and")
    }

    /// `!` or `not`.
    pub(super) fn eat_not(&mut self) -> bool {
        self.eat_after_blanks("!") || self.eat_word("not")
    }

    /// Goes one level deeper; every call needs its [`Self::leave`].
    pub(super) fn enter(&mut self) -> Result<(), QueryError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.fail(
                QueryErrorKind::TooDeep,
                format!("parentheses and negations nest deeper than {MAX_DEPTH}"),
            ));
        }
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// An error at the character that stands here.
    pub(super) fn fail(&self, kind: QueryErrorKind, message: impl Into<String>) -> QueryError {
        let to = self.at + self.peek().map_or(0, char::len_utf8);
        QueryError::at(kind, self.text, self.at, to, message)
    }

    /// An error over the bytes from `from` to here.
    pub(super) fn fail_since(
        &self,
        from: usize,
        kind: QueryErrorKind,
        message: impl Into<String>,
    ) -> QueryError {
        QueryError::at(kind, self.text, from, self.at, message)
    }

    /// What stands here, in words, for "expected …, found …".
    pub(super) fn found(&self) -> String {
        match self.peek() {
            None => "the end".to_owned(),
            Some(c) => match self.peek_word() {
                "" => format!("`{c}`"),
                word => format!("`{word}`"),
            },
        }
    }

    /// Takes the closing bracket `close` of the bracket that was opened at byte `opened`.
    pub(super) fn close(&mut self, close: &str, opened: usize) -> Result<(), QueryError> {
        if self.eat_after_blanks(close) {
            return Ok(());
        }
        self.skip_blanks();
        if self.is_at_end() {
            let open = match close {
                ")" => "(",
                "]" => "[",
                _ => "{",
            };
            let error = QueryError::at(
                QueryErrorKind::Syntax,
                self.text,
                opened,
                opened + 1,
                format!("this `{open}` is never closed"),
            );
            return Err(error.with_hint(format!("add `{close}`")));
        }
        Err(self
            .fail(QueryErrorKind::Syntax, format!("expected `{close}`, found {}", self.found())))
    }

    /// Fails unless nothing but blanks is left.
    pub(super) fn finish(&mut self, expected: &str) -> Result<(), QueryError> {
        self.skip_blanks();
        if self.is_at_end() {
            return Ok(());
        }
        let or = if expected.is_empty() { "" } else { " or " };
        let message = format!("expected {expected}{or}the end, found {}", self.found());
        let error = self.fail(QueryErrorKind::Syntax, message);
        Err(if self.peek() == Some(')') {
            error.with_hint("there is one `)` more than `(`")
        } else {
            error
        })
    }

    /// The quoted text that stands here: `"…"` or `'…'`, in which `\\` and an escaped quote stand
    /// for themselves and any other backslash is an ordinary character.
    pub(super) fn quoted(&mut self) -> Result<Option<String>, QueryError> {
        let opened = self.at;
        let quote = match self.peek() {
            Some(c @ ('"' | '\'')) => c,
            _ => return Ok(None),
        };
        self.bump();
        let mut text = String::new();
        while let Some(c) = self.bump() {
            if c == quote {
                return Ok(Some(text));
            }
            match (c, self.peek()) {
                ('\\', Some(next)) if next == quote || next == '\\' => {
                    self.bump();
                    text.push(next);
                }
                _ => text.push(c),
            }
        }
        Err(QueryError::at(
            QueryErrorKind::Syntax,
            self.text,
            opened,
            opened + 1,
            format!("this `{quote}` is never closed"),
        ))
    }

    /// Where the regular expression that begins here would end: the bytes (relative to here) of
    /// its closing `/` and of the end of its flags.
    pub(super) fn regex_extent(&self) -> Option<(usize, usize)> {
        let rest = self.rest();
        let mut escaped = false;
        let close = rest.char_indices().skip(1).find_map(|(at, c)| {
            let closes = c == '/' && !escaped;
            escaped = c == '\\' && !escaped;
            closes.then_some(at)
        })?;
        let after = rest.get(close + 1..).unwrap_or("");
        let flags = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        Some((close, close + 1 + flags))
    }

    /// The regular expression `/…/` or `/…/i` that begins here.
    pub(super) fn regex(&mut self) -> Result<RegexMatch, QueryError> {
        let from = self.at;
        let Some((close, end)) = self.regex_extent() else {
            return Err(self
                .fail(QueryErrorKind::BadPattern, "this regular expression is never closed")
                .with_hint("end it with `/`; a `/` inside is written `\\/`"));
        };
        let pattern = self.rest().get(1..close).unwrap_or("");
        let flags = self.rest().get(close + 1..end).unwrap_or("");
        self.at += end;
        let ignore_case = match flags {
            "" => false,
            "i" => true,
            _ => {
                self.at = from + end;
                return Err(self
                    .fail_since(
                        from + close + 1,
                        QueryErrorKind::BadPattern,
                        format!("unknown flag `{flags}` of a regular expression"),
                    )
                    .with_hint("the only flag is `i`: ignore case"));
            }
        };
        RegexMatch::new(pattern, ignore_case)
            .map_err(|error| self.fail_since(from, QueryErrorKind::BadPattern, error.to_string()))
    }

    /// The unsigned number that stands here, decimal or `0x` hexadecimal.
    pub(super) fn unsigned(&mut self, what: &str) -> Result<u64, QueryError> {
        let from = self.at;
        self.skip_while(|c| c.is_ascii_alphanumeric() || c == '_');
        let text = self.since(from);
        let value = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16),
            _ => text.parse(),
        };
        match value {
            Ok(value) => Ok(value),
            Err(_) if text.is_empty() => Err(self.fail(
                QueryErrorKind::BadNumber,
                format!("expected {what}, found {}", self.found()),
            )),
            Err(error) => {
                let message = match error.kind() {
                    std::num::IntErrorKind::PosOverflow => {
                        format!("`{text}` is larger than {}", u64::MAX)
                    }
                    _ => format!("`{text}` is not {what}"),
                };
                Err(self.fail_since(from, QueryErrorKind::BadNumber, message))
            }
        }
    }
}
