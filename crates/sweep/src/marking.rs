//! Marks around the parallel regions of a source file in C or C++.
//!
//! ```text
//! #pragma omp parallel for           { pascal_start(1);
//! for (i = 0; i < n; i++)      ->    #pragma omp parallel for
//!     a[i] = i;                      for (i = 0; i < n; i++)
//!                                        a[i] = i; pascal_stop(1); }
//! ```
//!
//! OpenMP lets no program jump into such a statement or out of it, so it needs one mark before it and
//! one behind it.

use std::collections::BTreeSet;

/// A parallel region that was marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkedRegion {
    /// The number of its mark.
    pub number: u32,
    /// The line of its directive in the file as it was, from 1.
    pub line: usize,
}

/// A source file with marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedSource {
    /// The whole text.
    pub text: String,
    /// What was marked, in the order of the file; empty where nothing was, and `text` is as it was.
    pub regions: Vec<MarkedRegion>,
}

/// Why a file cannot be marked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "line {line}: cannot tell where the statement of this parallel directive ends; mark it by hand"
)]
pub struct MarkError {
    /// The line of the directive, from 1.
    pub line: usize,
}

/// Marks all parallel regions that have no marks. Numbers begin with `first`, and those that the file
/// has already are omitted.
///
/// # Errors
/// When the end of a statement is not found.
pub fn mark_parallel_regions(text: &str, first: u32) -> Result<MarkedSource, MarkError> {
    let scan = Scan { bytes: text.as_bytes() };
    let taken = numbers(text);
    let mut next = first;
    // What is put in where, and what for: ends of inner regions come before those of outer ones.
    let mut inserts: Vec<(usize, String)> = Vec::new();
    let mut regions = Vec::new();
    let mut at = 0;
    while let Some(begin) = scan.next_directive(at) {
        let end = scan.end_of_directive(begin);
        at = end;
        let line = text[..begin].bytes().filter(|&byte| byte == b'\n').count() + 1;
        if !is_parallel(&text[begin..end]) || is_marked(&text[..begin]) {
            continue;
        }
        let after = scan.statement(end).ok_or(MarkError { line })?;
        while taken.contains(&next) {
            next += 1;
        }
        let column = begin - text[..begin].rfind('\n').map_or(0, |at| at + 1);
        let indent = " ".repeat(column);
        inserts.push((begin - column, format!("{indent}{{ pascal_start({next});\n")));
        inserts.push((after, format!(" pascal_stop({next}); }}")));
        regions.push(MarkedRegion { number: next, line });
        next += 1;
    }
    if regions.is_empty() {
        return Ok(MarkedSource { text: text.to_owned(), regions });
    }
    // Regions that end together were begun from the outside in.
    let mut ordered: Vec<(usize, usize, String)> = Vec::new();
    for (order, (at, insert)) in inserts.into_iter().enumerate() {
        ordered.push((at, if order % 2 == 0 { order } else { usize::MAX - order }, insert));
    }
    ordered.sort_by_key(|(at, order, _)| (*at, *order));
    let mut out = String::with_capacity(text.len() + 64 * ordered.len());
    if !text.contains("pascalops.h") {
        out.push_str("#include \"pascalops.h\"\n");
    }
    let mut from = 0;
    for (at, _, insert) in ordered {
        out.push_str(&text[from..at]);
        out.push_str(&insert);
        from = at;
    }
    out.push_str(&text[from..]);
    Ok(MarkedSource { text: out, regions })
}

/// Numbers of marks that a file has.
fn numbers(text: &str) -> BTreeSet<u32> {
    let marks = text.split("pascal_start").skip(1);
    let digits = marks.filter_map(|rest| rest.trim_start().strip_prefix('('));
    digits.filter_map(|rest| rest.split(')').next()?.trim().parse().ok()).collect()
}

/// Whether the last statement before a directive is a mark.
fn is_marked(before: &str) -> bool {
    let statement = before.trim_end().strip_suffix(';').unwrap_or_default();
    let statement = statement.rsplit([';', '{', '}', '\n']).next().unwrap_or_default();
    statement.trim_start().starts_with("pascal_start")
}

/// Whether a directive begins a parallel region: `#pragma omp parallel` and what goes on so.
fn is_parallel(directive: &str) -> bool {
    let text = directive.replace("\\\r\n", " ").replace("\\\n", " ");
    let text = text.trim_start().trim_start_matches('#');
    let mut words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let mut words = words.by_ref().filter(|word| !word.is_empty());
    (words.next(), words.next(), words.next()) == (Some("pragma"), Some("omp"), Some("parallel"))
}

/// Goes over the text of C or C++; positions are bytes.
struct Scan<'t> {
    bytes: &'t [u8],
}

impl Scan<'_> {
    fn at(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    fn starts(&self, at: usize, with: &[u8]) -> bool {
        self.bytes.get(at..).is_some_and(|rest| rest.starts_with(with))
    }

    /// Behind a comment, a text or a character; `None` where none begins.
    fn quoted(&self, at: usize) -> Option<usize> {
        let find = |from: usize, what: &[u8]| {
            let rest = self.bytes.get(from..).unwrap_or_default();
            let found = rest.windows(what.len()).position(|window| window == what);
            found.map_or(self.bytes.len(), |found| from + found + what.len())
        };
        match self.at(at) {
            b'/' if self.starts(at, b"/*") => Some(find(at + 2, b"*/")),
            b'/' if self.starts(at, b"//") => {
                let mut end = find(at, b"\n");
                while self.at(end.saturating_sub(2)) == b'\\' && end < self.bytes.len() {
                    end = find(end, b"\n");
                }
                Some(end)
            }
            b'"' if self.is_raw(at) => {
                let open = find(at, b"(");
                let mut close = vec![b')'];
                close.extend(self.bytes.get(at + 1..open.saturating_sub(1)).unwrap_or_default());
                close.push(b'"');
                Some(find(open, &close))
            }
            // 1'000'000 is a number of C++.
            b'\'' if at > 0 && self.at(at - 1).is_ascii_hexdigit() => None,
            quote @ (b'"' | b'\'') => {
                let mut end = at + 1;
                while end < self.bytes.len() && self.at(end) != quote {
                    end += if self.at(end) == b'\\' { 2 } else { 1 };
                }
                Some(end + 1)
            }
            _ => None,
        }
    }

    fn is_raw(&self, at: usize) -> bool {
        at > 0
            && self.at(at - 1) == b'R'
            && !(at > 1 && is_word(self.at(at - 2)) && !self.is_prefix(at))
    }

    /// `u8R"`, `uR"`, `UR"`, `LR"`.
    fn is_prefix(&self, at: usize) -> bool {
        [&b"u8R"[..], b"uR", b"UR", b"LR"].iter().any(|prefix| {
            let from = at.checked_sub(prefix.len());
            from.is_some_and(|from| {
                self.starts(from, prefix) && !(from > 0 && is_word(self.at(from - 1)))
            })
        })
    }

    /// Whether only blanks are between the beginning of the line and a byte.
    fn is_first(&self, at: usize) -> bool {
        let line = self.bytes.get(..at).unwrap_or_default();
        let before = line.iter().rev().take_while(|&&byte| byte != b'\n');
        before.copied().all(|byte| byte == b' ' || byte == b'\t')
    }

    /// The next line for the preprocessor.
    fn next_directive(&self, mut at: usize) -> Option<usize> {
        while at < self.bytes.len() {
            if let Some(end) = self.quoted(at) {
                at = end;
            } else if self.at(at) == b'#' && self.is_first(at) {
                return Some(at);
            } else {
                at += 1;
            }
        }
        None
    }

    /// Behind such a line, and those that continue it.
    fn end_of_directive(&self, mut at: usize) -> usize {
        while at < self.bytes.len() {
            if self.starts(at, b"/*") {
                at = self.quoted(at).unwrap_or(at + 1);
                continue;
            }
            if self.at(at) == b'\n' {
                let before = self.bytes.get(..at).unwrap_or_default();
                let before = before.strip_suffix(b"\r").unwrap_or(before);
                if before.last() != Some(&b'\\') {
                    return at + 1;
                }
            }
            at += 1;
        }
        self.bytes.len()
    }

    /// Behind blanks, comments and lines for the preprocessor.
    fn skip(&self, mut at: usize) -> usize {
        loop {
            if self.at(at).is_ascii_whitespace() {
                at += 1;
            } else if self.starts(at, b"/*") || self.starts(at, b"//") {
                at = self.quoted(at).unwrap_or(at + 1);
            } else if self.at(at) == b'#' && self.is_first(at) {
                at = self.end_of_directive(at);
            } else {
                return at;
            }
        }
    }

    fn word(&self, at: usize) -> &[u8] {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let len = rest.iter().take_while(|&&byte| is_word(byte)).count();
        rest.get(..len).unwrap_or_default()
    }

    /// Behind the statement that begins at the next word.
    fn statement(&self, at: usize) -> Option<usize> {
        let at = self.skip(at);
        let word = self.word(at);
        let after = at + word.len();
        match word {
            b"for" | b"while" | b"switch" => self.statement(self.parentheses(after)?),
            b"if" => {
                let mut condition = self.skip(after);
                if self.word(condition) == b"constexpr" {
                    condition += b"constexpr".len();
                }
                let then = self.statement(self.parentheses(condition)?)?;
                let otherwise = self.skip(then);
                match self.word(otherwise) {
                    b"else" => self.statement(otherwise + b"else".len()),
                    _ => Some(then),
                }
            }
            b"do" => {
                let test = self.skip(self.statement(after)?);
                if self.word(test) != b"while" {
                    return None;
                }
                self.semicolon(self.parentheses(test + b"while".len())?)
            }
            b"try" => {
                let mut end = self.statement(after)?;
                while self.word(self.skip(end)) == b"catch" {
                    let handler = self.skip(end) + b"catch".len();
                    end = self.statement(self.parentheses(handler)?)?;
                }
                Some(end)
            }
            _ if self.at(at) == b'{' => self.balanced(at),
            _ => self.semicolon(at),
        }
    }

    /// Behind what is between parentheses.
    fn parentheses(&self, at: usize) -> Option<usize> {
        let at = self.skip(at);
        if self.at(at) == b'(' { self.balanced(at) } else { None }
    }

    /// Behind the next semicolon that is in nothing else.
    fn semicolon(&self, mut at: usize) -> Option<usize> {
        loop {
            at = self.skip(at);
            match self.at(at) {
                b';' => return Some(at + 1),
                b'(' | b'[' | b'{' => at = self.balanced(at)?,
                b')' | b']' | b'}' | 0 => return None,
                _ => at = self.quoted(at).unwrap_or(at + 1),
            }
        }
    }

    /// Behind what closes the bracket at a byte.
    fn balanced(&self, mut at: usize) -> Option<usize> {
        let mut open = Vec::new();
        loop {
            at = self.skip(at);
            match self.at(at) {
                bracket @ (b'(' | b'[' | b'{') => open.push(bracket),
                bracket @ (b')' | b']' | b'}') => {
                    let opened = open.pop()?;
                    if !matches!((opened, bracket), (b'(', b')') | (b'[', b']') | (b'{', b'}')) {
                        return None;
                    }
                    if open.is_empty() {
                        return Some(at + 1);
                    }
                }
                _ if at >= self.bytes.len() => return None,
                _ => {
                    at = self.quoted(at).unwrap_or(at + 1);
                    continue;
                }
            }
            at += 1;
        }
    }
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str) -> String {
        mark_parallel_regions(text, 1).unwrap().text.replace("#include \"pascalops.h\"\n", "")
    }

    #[test]
    fn every_form_of_statement_is_followed_to_its_end() {
        let statements = [
            "a[i] = \"};\"[0] + ';' + f(x, y);",
            "{ int b[] = {1, 2}; /* } */ g(b); } ",
            "for (int i = 0; i < n; i++)\n  if (i % 2) { f(); } else\n    g();",
            "#pragma omp for \\\n  schedule(static)\nfor (;;) { // }\n h(\"\\\"}\"); }",
            "do { f(); } while (g() > 0);",
            "if constexpr (X) try { f(); } catch (const E &e) { } catch (...) { g(); }",
            "auto f = [&] { return R\"x(}\" )x\"; }();",
            "x = 1'000'000;",
            "#ifdef A\nf();\n#endif\n",
        ];
        for statement in statements {
            let text =
                format!("void f() {{\n  #pragma omp parallel\n  {statement}\n  after();\n}}\n");
            let expected = format!(
                "void f() {{\n  {{ pascal_start(1);\n  #pragma omp parallel\n  {} pascal_stop(1); }}",
                statement.trim_end().trim_end_matches("\n#endif")
            );
            let found = marked(&text);
            assert!(found.starts_with(&expected), "{found}\n\n{expected}");
            assert!(found.contains("after();\n}\n"), "{found}");
        }
    }

    #[test]
    fn only_parallel_directives_without_marks_are_marked() {
        let text = "// #pragma omp parallel\nchar *s = \"\\\n#pragma omp parallel\\n\";\n\
                    #pragma omp for\nfor (;;) ;\n#pragma omp parallelism\n;\n\
                    pascal_start(4);\n#pragma omp parallel\nf();\npascal_stop(4);\n";
        let found = mark_parallel_regions(text, 1).unwrap();
        assert_eq!((&*found.text, found.regions), (text, vec![]));
    }

    #[test]
    fn regions_in_regions_end_from_the_inside_out_and_numbers_are_not_used_twice() {
        let text = "#include \"pascalops.h\"\npascal_start( 2 ); g(); pascal_stop(2);\n\
                    #pragma omp parallel\n#pragma omp parallel for\nfor (;;) f();\n\
                    # pragma omp parallel sections\n{ }\n";
        let found = mark_parallel_regions(text, 1).unwrap();
        assert!(found.text.contains("f(); pascal_stop(3); } pascal_stop(1); }"), "{}", found.text);
        let regions: Vec<_> = found.regions.iter().map(|one| (one.number, one.line)).collect();
        assert_eq!(regions, [(1, 3), (3, 4), (4, 6)]);
        assert_eq!(found.text.matches("#include").count(), 1);
    }

    #[test]
    fn an_end_that_is_not_found_is_an_error_with_the_line() {
        for text in [
            "\n#pragma omp parallel\n{ (}\n",
            "\n#pragma omp parallel\n",
            "\n#pragma omp parallel\nf()",
        ] {
            assert_eq!(mark_parallel_regions(text, 1), Err(MarkError { line: 2 }), "{text}");
        }
    }
}
