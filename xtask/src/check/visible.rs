//! What of a file users read: string literals, templates, help texts and documents.
//!
//! [`visible`] gives the text of the file with everything else blanked out, line by line as it
//! was, so that a finding has its line. A blank is a [`GAP`], which no phrase reaches across.

/// Stands for code, markup and anything else that is not shown to users.
pub(super) const GAP: char = '\0';

/// The part of a file that users read, with its lines as they were.
/// `None` when nothing in such a file is for users.
pub(super) fn visible(path: &str, text: &str) -> Option<String> {
    let (_, extension) = path.rsplit_once('.')?;
    match extension {
        "rs" => Some(rust(text, path.starts_with("crates/cli/"))),
        "py" => Some(docstrings(text)),
        "ts" => Some(script(text)),
        "svelte" | "html" => Some(template(text)),
        "md" if path == "GLOSSARY.md" => Some(glossary(text)),
        "md" => Some(markdown(text)),
        _ => None,
    }
}

/// Copies a text piece by piece: each character is either shown or blanked.
struct Masked<'a> {
    rest: &'a str,
    out: String,
    /// The last character that was read and is no blank.
    last: char,
}

impl<'a> Masked<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text, out: String::with_capacity(text.len()), last: GAP }
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = self.rest.get(c.len_utf8()..).unwrap_or_default();
        if !c.is_whitespace() {
            self.last = c;
        }
        Some(c)
    }

    fn show(&mut self) {
        let c = self.next();
        self.out.extend(c);
    }

    fn hide(&mut self) {
        let c = self.next();
        self.out.extend(c.map(|c| if c == '\n' { c } else { GAP }));
    }

    fn hide_many(&mut self, count: usize) {
        for _ in 0..count {
            self.hide();
        }
    }

    /// Blanks up to and with `end`, or up to the end of the text.
    fn hide_through(&mut self, end: &str) {
        while !self.rest.is_empty() && !self.rest.starts_with(end) {
            self.hide();
        }
        self.hide_many(end.chars().count());
    }

    /// Blanks an escape of a string; an escaped end of line and `\n` separate words.
    fn escape(&mut self) {
        let is_space = matches!(self.rest.chars().nth(1), Some('n' | 't' | '\n'));
        let before = self.out.len();
        self.hide_many(2);
        if is_space {
            let escaped = self.out.split_off(before).replace(GAP, " ");
            self.out.push_str(&escaped);
        }
    }

    /// Takes back what was shown from `start` when it is a name in the code, not a text.
    fn blank_names(&mut self, start: usize) {
        let shown = self.out.get(start..).unwrap_or_default();
        let is_name = !shown.contains(|c: char| c.is_whitespace() || c.is_uppercase());
        if is_name {
            let blank = shown.chars().map(|_| GAP).collect::<String>();
            self.out.truncate(start);
            self.out.push_str(&blank);
        }
    }
}

/// String literals outside of tests, and with `has_help` the doc comments that `--help` shows.
fn rust(text: &str, has_help: bool) -> String {
    let tests = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
    let (code, tests) = text.split_at(tests);
    let mut from = Masked::new(code);
    while let Some(c) = from.peek() {
        if has_help && from.rest.starts_with("/// ") {
            from.hide_many(4);
            while from.peek().is_some_and(|c| c != '\n') {
                if from.peek() == Some('`') { code_span(&mut from) } else { from.show() }
            }
            // A sentence goes on in the next line.
            from.show();
            let indent = from.rest.find(|c| c != ' ').unwrap_or(0);
            if from.rest.get(indent..).is_some_and(|rest| rest.starts_with("/// ")) {
                for _ in 0..indent {
                    from.show();
                }
            }
        } else if from.rest.starts_with("//") {
            from.hide_through("\n");
        } else if from.rest.starts_with("/*") {
            from.hide_through("*/");
        } else if let Some(hashes) = raw_string(from.rest, from.last) {
            from.hide_many(2 + hashes);
            let end = format!("\"{}", "#".repeat(hashes));
            let start = from.out.len();
            while !from.rest.is_empty() && !from.rest.starts_with(&end) {
                from.show();
            }
            from.blank_names(start);
            from.hide_many(end.len());
        } else if c == '"' {
            let is_reason = from.out.is_empty() || ends_with_reason(code, from.rest);
            rust_string(&mut from, is_reason);
        } else if c == '\'' {
            char_literal(&mut from);
        } else {
            from.hide();
        }
    }
    let mut out = from.out;
    out.extend(tests.chars().map(|c| if c == '\n' { c } else { GAP }));
    out
}

/// What `help()` shows of Python: the texts between three quotes, without code in backticks.
fn docstrings(text: &str) -> String {
    let mut from = Masked::new(text);
    while !from.rest.is_empty() {
        if !from.rest.starts_with("\"\"\"") {
            from.hide();
            continue;
        }
        from.hide_many(3);
        while !from.rest.is_empty() && !from.rest.starts_with("\"\"\"") {
            if from.peek() == Some('`') { code_span(&mut from) } else { from.show() }
        }
        from.hide_many(3);
    }
    from.out
}

/// Whether the literal that begins `rest` says to developers why a lint is silenced.
fn ends_with_reason(code: &str, rest: &str) -> bool {
    let before = code.get(..code.len() - rest.len()).unwrap_or_default();
    before.trim_end().strip_suffix('=').is_some_and(|name| name.trim_end().ends_with("reason"))
}

fn rust_string(from: &mut Masked<'_>, is_hidden: bool) {
    from.hide();
    let start = from.out.len();
    while let Some(c) = from.peek() {
        match c {
            '"' => break,
            '\\' => from.escape(),
            // The name in a placeholder is code.
            '{' if !from.rest.starts_with("{{") => from.hide_through("}"),
            _ if is_hidden => from.hide(),
            _ => from.show(),
        }
    }
    from.blank_names(start);
    from.hide();
}

/// The number of `#` of a raw string that begins here.
fn raw_string(rest: &str, before: char) -> Option<usize> {
    let after = rest.strip_prefix('r')?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let is_string = after.get(hashes..)?.starts_with('"');
    (is_string && !before.is_alphanumeric() && before != '_').then_some(hashes)
}

/// `'x'` and `'\n'`, but not the `'a` of a lifetime.
fn char_literal(from: &mut Masked<'_>) {
    let mut chars = from.rest.chars().skip(1);
    let first = chars.next();
    let is_literal = first == Some('\\') || chars.next() == Some('\'');
    from.hide();
    if is_literal {
        from.hide_many(if first == Some('\\') { 2 } else { 1 });
        from.hide_through("'");
    }
}

/// String literals of TypeScript.
fn script(text: &str) -> String {
    let mut from = Masked::new(text);
    script_until(&mut from, None);
    from.out
}

/// Reads code to the end, or to the bracket that closes an expression inside a text.
fn script_until(from: &mut Masked<'_>, end: Option<char>) {
    let mut depth = 0_usize;
    while let Some(c) = from.peek() {
        if depth == 0 && Some(c) == end {
            return;
        }
        match c {
            _ if from.rest.starts_with("//") => from.hide_through("\n"),
            _ if from.rest.starts_with("/*") => from.hide_through("*/"),
            '/' if begins_regex(from.last) => regex_literal(from),
            '"' | '\'' | '`' => script_string(from, c),
            _ => {
                match c {
                    '{' => depth += 1,
                    '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                from.hide();
            }
        }
    }
}

fn script_string(from: &mut Masked<'_>, quote: char) {
    from.hide();
    let start = from.out.len();
    while let Some(c) = from.peek() {
        match c {
            '\\' => from.escape(),
            '$' if quote == '`' && from.rest.starts_with("${") => {
                from.hide_many(2);
                from.last = GAP;
                script_until(from, Some('}'));
                from.hide();
            }
            _ if c == quote || (c == '\n' && quote != '`') => break,
            _ => from.show(),
        }
    }
    from.blank_names(start);
    from.hide();
}

/// A slash is a division after a value, and begins a regular expression elsewhere.
fn begins_regex(before: char) -> bool {
    matches!(
        before,
        GAP | '(' | ',' | '=' | ':' | '[' | '!' | '&' | '|' | '?' | '{' | '}' | ';' | '>'
    )
}

fn regex_literal(from: &mut Masked<'_>) {
    from.hide();
    let mut in_class = false;
    while let Some(c) = from.peek() {
        match c {
            '\\' => from.hide(),
            '[' => in_class = true,
            ']' => in_class = false,
            '/' if !in_class => break,
            '\n' => return,
            _ => {}
        }
        from.hide();
    }
    from.hide();
}

/// Attributes whose values are names in the code.
const NAMES: &[&str] = &["class", "style", "id", "for", "d", "type", "role", "name", "viewBox"];

/// Texts and attributes of a Svelte component or page, and the string literals in its code.
fn template(text: &str) -> String {
    let mut from = Masked::new(text);
    while let Some(c) = from.peek() {
        match c {
            '<' if from.rest.starts_with("<!--") => from.hide_through("-->"),
            '<' if from.rest.starts_with("<style") => from.hide_through("</style>"),
            '<' if from.rest.starts_with("<script") => {
                from.hide_through(">");
                let (code, _) = from.rest.split_once("</script>").unwrap_or((from.rest, ""));
                from.out.push_str(&script(code));
                from.rest = from.rest.get(code.len()..).unwrap_or_default();
                from.hide_through(">");
            }
            '<' => tag(&mut from),
            '{' => expression(&mut from),
            _ => from.show(),
        }
    }
    from.out
}

/// A Svelte expression or block in braces: only the strings in it are shown.
fn expression(from: &mut Masked<'_>) {
    from.hide();
    // The sign of a block, such as that of `{/if}`, begins no regular expression.
    if matches!(from.peek(), Some('#' | ':' | '/' | '@')) {
        from.hide();
    }
    from.last = GAP;
    script_until(from, Some('}'));
    from.hide();
}

fn tag(from: &mut Masked<'_>) {
    let mut attribute = String::new();
    while let Some(c) = from.peek() {
        match c {
            '>' => break,
            '{' => expression(from),
            '"' | '\'' => {
                let is_text = !NAMES.contains(&attribute.as_str())
                    && !attribute.contains(':')
                    && !attribute.starts_with("data-");
                attribute_value(from, c, is_text);
                attribute.clear();
            }
            _ => {
                if c.is_whitespace() || c == '<' {
                    attribute.clear();
                } else if c != '=' {
                    attribute.push(c);
                }
                from.hide();
            }
        }
    }
    from.hide();
}

fn attribute_value(from: &mut Masked<'_>, quote: char, is_text: bool) {
    from.hide();
    let start = from.out.len();
    while let Some(c) = from.peek() {
        match c {
            _ if c == quote => break,
            '{' => expression(from),
            _ if is_text => from.show(),
            _ => from.hide(),
        }
    }
    from.blank_names(start);
    from.hide();
}

/// A document without its code blocks, code spans, comments and addresses.
fn markdown(text: &str) -> String {
    let mut from = Masked::new(text);
    let mut at_line_start = true;
    while let Some(c) = from.peek() {
        if at_line_start && from.rest.trim_start_matches(' ').starts_with("```") {
            from.hide_through("\n");
            while !from.rest.is_empty() && !from.rest.trim_start_matches(' ').starts_with("```") {
                from.hide_through("\n");
            }
            from.hide_through("\n");
        } else if c == '`' {
            code_span(&mut from);
        } else if from.rest.starts_with("<!--") {
            from.hide_through("-->");
        } else if from.rest.starts_with("](") {
            from.hide_through(")");
        } else {
            at_line_start = c == '\n';
            from.show();
        }
    }
    from.out
}

fn code_span(from: &mut Masked<'_>) {
    from.hide();
    while from.peek().is_some_and(|c| c != '`' && c != '\n') {
        from.hide();
    }
    if from.peek() == Some('`') {
        from.hide();
    }
}

/// The glossary without its last column, which names the words that are not used.
fn glossary(text: &str) -> String {
    let blanked: String = text
        .split_inclusive('\n')
        .map(|line| match super::words::cells(line) {
            Some(_) => {
                let keep = line.trim_end().strip_suffix('|').and_then(|row| row.rfind('|'));
                let (shown, hidden) = line.split_at(keep.unwrap_or(line.len()));
                let hidden = hidden.chars().map(|c| if c == '\n' { c } else { GAP });
                shown.chars().chain(hidden).collect::<String>()
            }
            None => line.to_owned(),
        })
        .collect();
    markdown(&blanked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(path: &str, text: &str) -> Vec<String> {
        let shown = visible(path, text).unwrap();
        assert_eq!(shown.lines().count(), text.lines().count(), "lines stay: {shown:?}");
        shown
            .split([GAP, '\n'])
            .map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "))
            .filter(|part| !part.is_empty())
            .collect()
    }

    #[test]
    fn strings_of_rust_are_shown_and_code_is_not() {
        let text = "/// Inner doc.\nfn stretch<'a>(c: char) -> &'a str {\n    // A comment \"quoted\".\n    \
                    let key = \"stretch\"; let one = '\"';\n    note(\"the {stretch} ends \\\n        \
                    here\", r#\"raw \"text\"\"#)\n}\n#[expect(x, reason = \"for developers only\")]\n\
                    #[cfg(test)]\nmod tests { const A: &str = \"in a test\"; }\n";
        let shown = words_of("crates/model/src/a.rs", text);
        assert_eq!(shown, ["the", "ends", "here", "raw \"text\""]);
    }

    #[test]
    fn doc_comments_of_the_command_line_are_its_help() {
        let text = "    /// Time of `--beside` in one\n    /// interval.\n    field: u8,\n";
        assert_eq!(words_of("crates/cli/src/args.rs", text), ["Time of", "in one", "interval."]);
        assert_eq!(words_of("crates/model/src/args.rs", text), Vec::<String>::new());
    }

    #[test]
    fn strings_of_scripts_are_shown_and_code_is_not() {
        let text = "import a from \"./beside.ts\";\nconst x = y / 2; // stretch\nconst re = /[\"/]beside/g;\n\
                    const t = `from ${f({ a: \"The inner\" })} to ${b} end`;\nconst k = 'Put it here';\n";
        assert_eq!(
            words_of("web/src/a.ts", text),
            ["from", "The inner", "to", "end", "Put it here"]
        );
    }

    #[test]
    fn templates_show_texts_and_attributes_and_no_code() {
        let text = "<script lang=\"ts\">\n  const stretch = \"A title\";\n</script>\n<!-- nobody -->\n\
                    <p class=\"beside me\" title=\"Some hint\" data-testid=\"put together\">\n  Text {#if stretch}more {a ? \"One kind\" : ''}{/if}\n</p>\n\
                    <Button onclick={() => { go(\"x\"); }}>Go on</Button>\n<style>\n.stretch { color: red }\n</style>\n";
        assert_eq!(
            words_of("web/src/a.svelte", text),
            ["A title", "Some hint", "Text", "more", "One kind", "Go on"]
        );
    }

    #[test]
    fn documents_show_prose_and_no_code() {
        let text = "# Title\nSome `beside` [link](beside.md) here.\n\n```\nparallax beside\n```\n\
                    <!-- nobody -->\nEnd.\n";
        assert_eq!(words_of("docs/a.md", text), ["# Title", "Some", "[link", "here.", "End."]);
    }
}
