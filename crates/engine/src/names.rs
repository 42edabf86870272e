//! [`display_name`]: what a function is called in a sentence or a narrow column;
//! [`display_name_with_templates`]: next to others of the same template.

/// What compilers append to names of code that they split or copied.
const ADDED: [&str; 9] = [
    ".constprop.",
    ".isra.",
    ".part.",
    ".cold",
    ".lto_priv.",
    ".llvm.",
    ".localalias",
    "._omp_fn.",
    ".omp_outlined",
];

/// What may follow the arguments of a function in C++.
const QUALIFIERS: [&str; 6] = ["", "const", "volatile", "&", "noexcept", "["];

/// A name as everybody abbreviates it: without return type, arguments, template arguments, load
/// module, place in the source and what compilers append. What is not the name of a function in C,
/// C++ or Fortran stays as it is. The same wherever a name is shortened: in sentences, in tables of
/// functions and on the page (`web/src/base/display-name.ts`, held by the same cases).
///
/// ```
/// # use parallax_engine::display_name;
/// assert_eq!(display_name("void ns::solve<int>(Mesh<3> const&) const"), "ns::solve");
/// assert_eq!(display_name("PMPI_Wait.localalias [libmpi.so.40]"), "MPI_Wait");
/// assert_eq!(display_name("MPI Collective Sync  "), "MPI Collective Sync");
/// ```
#[must_use]
pub fn display_name(name: &str) -> String {
    abbreviated(name, false)
}

/// A [`display_name`] with template arguments, in which those of functions are omitted: what tells
/// functions of one template apart.
///
/// ```
/// # use parallax_engine::display_name_with_templates;
/// let kernel = "void ns::kernel<solve(int)::{lambda(int)#1}>(T1)";
/// assert_eq!(display_name_with_templates(kernel), "ns::kernel<solve::{lambda#1}>");
/// assert_eq!(display_name_with_templates("void solve(int)"), "solve");
/// ```
#[must_use]
pub fn display_name_with_templates(name: &str) -> String {
    abbreviated(name, true)
}

fn abbreviated(name: &str, has_templates: bool) -> String {
    let whole = name.trim();
    let mut text = whole;
    if let Some((front, _)) = text.split_once("[{").filter(|(front, _)| !front.trim().is_empty()) {
        text = front.trim_end();
    }
    while !text.starts_with('<')
        && text.ends_with(']')
        && let Some((front, _)) = text.rsplit_once(" [").filter(|(front, _)| !front.is_empty())
    {
        text = front.trim_end();
    }
    let added = ADDED.iter().filter_map(|added| text.find(added)).chain(text.find("@@"));
    if let Some(front) = added.filter(|at| *at > 0).min().and_then(|at| text.get(..at)) {
        text = front;
    }
    if text.strip_prefix('P').is_some_and(|rest| rest.starts_with("MPI_")) {
        text = text.get(1..).unwrap_or(text);
    }
    let text = text.replace("(anonymous namespace)::", "").replace("{anonymous}::", "");
    if text.starts_with(['<', '(', '[']) {
        return text;
    }
    let short = shortened(&text, has_templates).unwrap_or_else(|| text.clone());
    if short.is_empty() { whole.to_owned() } else { short }
}

/// Stands for blanks among template arguments, where no return type ends. No name has it.
const BLANK: char = '\u{e000}';

/// A name without arguments and return type, and without template arguments unless they are wanted;
/// `None` where it is no such name.
fn shortened(text: &str, has_templates: bool) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    // Where the name of an operator begins in `out`: blanks behind it belong to it.
    let mut operator = None;
    let mut has_arguments = false;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let is_after_word = out.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if !is_after_word
            && let Some(symbol) = rest.strip_prefix("operator").and_then(operator_symbol)
        {
            operator = Some(out.len());
            let len = "operator".len() + symbol;
            out.push_str(rest.get(..len)?);
            rest = rest.get(len..)?;
        } else if c == '<' && (is_after_word || out.ends_with(['(', ')', '[', ']'])) {
            let (arguments, after) = rest.split_at_checked(closed(rest, '<', '>')?)?;
            if has_templates {
                out.push_str(
                    &without_calls(arguments).replace(' ', BLANK.encode_utf8(&mut [0; 4])),
                );
            }
            rest = after;
        } else if c == '{' {
            let (inner, after) = rest.split_at_checked(closed(rest, '{', '}')?)?;
            let front = inner.split('(').next().unwrap_or(inner).trim_end_matches('}');
            let back = inner.rsplit_once(')').map_or("", |(_, back)| back.trim_end_matches('}'));
            out.push_str(front);
            out.push_str(back);
            out.push('}');
            rest = after;
        } else if c == '(' && !out.is_empty() {
            let is_annotation = out.ends_with(' ');
            rest = rest.get(closed(rest, '(', ')')?..)?;
            if rest.starts_with("::") {
                has_arguments = true;
                continue;
            }
            let after = rest.trim_start();
            // TAU appends the language.
            let is_end = after == "C"
                || QUALIFIERS.iter().any(|end| match *end {
                    "" => after.is_empty(),
                    end => after.starts_with(end),
                });
            if !is_end {
                return None;
            }
            has_arguments |= !is_annotation;
            rest = "";
        } else {
            out.push(c);
            rest = rest.get(c.len_utf8()..)?;
        }
    }
    if has_arguments {
        let front = out.get(..operator.unwrap_or(out.len())).unwrap_or(&out);
        if let Some(at) = front.rfind(' ') {
            out.drain(..=at);
        }
    }
    Some(out.trim().trim_start_matches(['*', '&']).replace(BLANK, " "))
}

/// `<run::{lambda#1}>` of `<run(int)::{lambda(int)#1}>`.
fn without_calls(arguments: &str) -> String {
    let mut out = String::with_capacity(arguments.len());
    let mut depth = 0_usize;
    for c in arguments.chars() {
        let is_call = depth > 0 || out.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        match c {
            '(' if is_call => depth += 1,
            ')' if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            _ => out.push(c),
        }
    }
    out
}

/// The length of what follows `operator` in the name of one; `None` where it is another word.
fn operator_symbol(rest: &str) -> Option<usize> {
    for whole in ["()", "[]"] {
        if rest.starts_with(whole) {
            return Some(whole.len());
        }
    }
    let symbols = rest.find(|c: char| !"+-*/%^&|~!=<>,".contains(c)).unwrap_or(rest.len());
    if symbols > 0 {
        return Some(symbols);
    }
    // `operator new[]`, `operator unsigned int`.
    let blank = rest.starts_with(' ');
    blank.then(|| rest.find('(').unwrap_or(rest.len()))
}

/// The length of the part that begins with `open` up to what closes it. The arrow `->` closes
/// nothing.
fn closed(text: &str, open: char, close: char) -> Option<usize> {
    let (mut depth, mut last) = (0_u32, ' ');
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close && last != '-' {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(at + c.len_utf8());
            }
        }
        last = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names and their abbreviations, line by line; the page is tested with the same file.
    const CASES: &str = include_str!("../../../fixtures/names.txt");

    #[test]
    fn names_are_abbreviated_as_people_say_them() {
        let mut num_cases = 0;
        for line in CASES.lines().filter(|line| !line.starts_with('#')) {
            let (name, expected) = line.split_once('\t').unwrap();
            assert_eq!(display_name(name), expected, "{name}");
            num_cases += 1;
        }
        assert!(num_cases > 30);
    }

    /// Lists of names, and what tells those of each list apart; the page is tested with the same file.
    const DISTINCT: &str = include_str!("../../../fixtures/distinct-names.txt");

    #[test]
    fn functions_of_a_template_keep_its_arguments() {
        let mut num_templates = 0;
        for line in DISTINCT.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let (name, expected) = line.split_once('\t').unwrap();
            if expected.contains('<') {
                assert_eq!(display_name_with_templates(name), expected, "{name}");
                num_templates += 1;
            } else {
                assert!([display_name(name), name.to_owned()].contains(&expected.to_owned()));
            }
        }
        assert!(num_templates >= 5);
    }

    #[test]
    fn an_abbreviation_is_its_own() {
        for line in CASES.lines().filter(|line| !line.starts_with('#')) {
            let short = display_name(line.split_once('\t').unwrap().0);
            assert_eq!(display_name(&short), short);
        }
    }
}
