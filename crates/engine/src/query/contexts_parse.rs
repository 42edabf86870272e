//! Reading context expressions.

use super::argument::{ArgumentReader, NameKind};
use super::contexts::{
    ChainStep, ContextExpr, ContextSelector, ModulePlace, Relation, SourcePlace,
};
use super::cursor::Cursor;
use super::error::{QueryError, QueryErrorKind};
use super::name::NameMatch;
use super::near::did_you_mean;
use super::path;
use super::predicate::{self, Predicate};
use super::profiles::one_or;
use super::range::{Range, RangeList, parse_list, parse_range};

const EXAMPLE: &str = "function(main).function(MPI_*)";
const WORDS: [&str; 11] = [
    "function",
    "loop",
    "line",
    "instruction",
    "entry",
    "any",
    "context",
    "application",
    "subtree",
    "ancestors",
    "node",
];

/// Reads a context expression, or a path query in one of Hatchet's notations (which begin with
/// `[`, `{` or `MATCH`). Fails with the place of the first mistake.
///
/// ```
/// use parallax_engine::query::parse_contexts;
/// let chosen = parse_contexts("function( main ) > function(MPI_*)[cputime:sum(i) > 5 %]").unwrap();
/// assert_eq!(chosen.to_string(), "function(main) > function(MPI_*)[cputime:sum (i) > 5%]");
/// ```
pub fn parse_contexts(expression: &str) -> Result<ContextExpr, QueryError> {
    let mut cursor = Cursor::start(expression, "the context expression", EXAMPLE)?;
    if path::begins(&cursor) {
        let query = path::parse_query(&mut cursor)?;
        return Ok(ContextExpr::Paths(query));
    }
    let parsed = parse_or(&mut cursor)?;
    cursor.finish("`.`, `>`, `[`, `|`")?;
    Ok(parsed)
}

fn parse_or(cursor: &mut Cursor<'_>) -> Result<ContextExpr, QueryError> {
    let mut parts = Vec::new();
    loop {
        match parse_and(cursor)? {
            ContextExpr::Or(inner) => parts.extend(inner),
            part => parts.push(part),
        }
        if !cursor.eat_or(true) {
            return Ok(one_or(parts, ContextExpr::Or));
        }
    }
}

fn parse_and(cursor: &mut Cursor<'_>) -> Result<ContextExpr, QueryError> {
    let mut parts = Vec::new();
    loop {
        match parse_chain(cursor)? {
            ContextExpr::And(inner) => parts.extend(inner),
            part => parts.push(part),
        }
        if !cursor.eat_and() {
            return Ok(one_or(parts, ContextExpr::And));
        }
    }
}

fn parse_chain(cursor: &mut Cursor<'_>) -> Result<ContextExpr, QueryError> {
    let first = parse_part(cursor)?;
    let mut steps = Vec::new();
    loop {
        let relation = if cursor.eat_after_blanks(".") {
            Relation::Descendant
        } else if cursor.eat_after_blanks(">") {
            Relation::Child
        } else {
            break;
        };
        steps.push(ChainStep { relation, to: parse_part(cursor)? });
    }
    if steps.is_empty() {
        return Ok(first);
    }
    // `(a.b).c` is `a.b.c`: the chain is read from its beginning either way.
    Ok(match first {
        ContextExpr::Chain { head, steps: mut before } => {
            before.extend(steps);
            ContextExpr::Chain { head, steps: before }
        }
        head => ContextExpr::Chain { head: Box::new(head), steps },
    })
}

/// Reads `!part` or `primary[predicate]…`.
fn parse_part(cursor: &mut Cursor<'_>) -> Result<ContextExpr, QueryError> {
    if cursor.eat_not() {
        cursor.enter()?;
        let part = parse_part(cursor)?;
        cursor.leave();
        return Ok(ContextExpr::Not(Box::new(part)));
    }
    let mut of = parse_primary(cursor)?;
    let mut predicates = Vec::new();
    loop {
        cursor.skip_blanks();
        let opened = cursor.at();
        if !cursor.eat("[") {
            break;
        }
        cursor.enter()?;
        predicates.push(predicate::parse(cursor)?);
        cursor.close("]", opened)?;
        cursor.leave();
    }
    if predicates.is_empty() {
        return Ok(of);
    }
    if let ContextExpr::Filter { of: inner, predicate } = of {
        predicates.insert(0, predicate);
        of = *inner;
    }
    Ok(ContextExpr::Filter { of: Box::new(of), predicate: Predicate::all(predicates) })
}

fn parse_primary(cursor: &mut Cursor<'_>) -> Result<ContextExpr, QueryError> {
    cursor.skip_blanks();
    let from = cursor.at();
    if cursor.eat("(") {
        return parse_enclosed(cursor, from);
    }
    if cursor.eat("*") {
        return Ok(ContextExpr::All);
    }
    let word = cursor.peek_word();
    if word.is_empty() {
        let message =
            format!("expected a context such as `function(main)`, found {}", cursor.found());
        return Err(cursor.fail(QueryErrorKind::Syntax, message));
    }
    cursor.move_to(from + word.len());
    let known = word.to_ascii_lowercase();
    let selector = match known.as_str() {
        "application" => return Ok(ContextExpr::Root),
        "subtree" | "ancestors" => {
            cursor.skip_blanks();
            let opened = cursor.at();
            if !cursor.eat("(") {
                return Err(cursor
                    .fail_since(from, QueryErrorKind::Syntax, format!("`{word}` of what?"))
                    .with_hint(format!("write `{known}(function(main))`")));
            }
            let of = Box::new(parse_enclosed(cursor, opened)?);
            return Ok(if known == "subtree" {
                ContextExpr::Subtree(of)
            } else {
                ContextExpr::Ancestors(of)
            });
        }
        "any" | "node" => ContextSelector::Any,
        "function" => ContextSelector::Function(parse_names(cursor, &known)?),
        "entry" => ContextSelector::Entry(parse_names(cursor, &known)?),
        "loop" => ContextSelector::Loop(parse_source_places(cursor, &known)?),
        "line" => ContextSelector::Line(parse_source_places(cursor, &known)?),
        "instruction" => ContextSelector::Instruction(
            parse_places(cursor, &known, "an offset")?
                .into_iter()
                .map(|(module, offsets)| ModulePlace { module, offsets })
                .collect(),
        ),
        "context" => ContextSelector::Ids(parse_ids(cursor, from)?),
        _ => return Err(unknown_word(cursor, from, word, &known)),
    };
    Ok(ContextExpr::Select(selector))
}

/// Reads an expression after its opening parenthesis at byte `opened`.
fn parse_enclosed(cursor: &mut Cursor<'_>, opened: usize) -> Result<ContextExpr, QueryError> {
    cursor.enter()?;
    let inner = parse_or(cursor)?;
    cursor.close(")", opened)?;
    cursor.leave();
    Ok(inner)
}

fn unknown_word(cursor: &Cursor<'_>, from: usize, word: &str, known: &str) -> QueryError {
    let message = format!("there is no kind of context `{word}`");
    let hint = if ["rank", "thread", "summary", "profile"].contains(&known) {
        "this looks like a profile expression; it belongs in the other argument".to_owned()
    } else {
        did_you_mean(word, WORDS.into_iter()).unwrap_or_else(|| {
            format!("a function is written `function({word})`; the kinds are {}", WORDS.join(", "))
        })
    };
    cursor.fail_since(from, QueryErrorKind::UnknownWord, message).with_hint(hint)
}

fn parse_ids(cursor: &mut Cursor<'_>, from: usize) -> Result<RangeList, QueryError> {
    let after = cursor.at();
    cursor.skip_blanks();
    let opened = cursor.at();
    if !cursor.eat("(") {
        cursor.move_to(after);
        return Err(cursor
            .fail_since(from, QueryErrorKind::Syntax, "`context` needs the ids of contexts")
            .with_hint("write `context(12,30-40)`, or `any` for every context"));
    }
    let ids = parse_list(cursor, "the id of a context")?;
    cursor.close(")", opened)?;
    Ok(ids)
}

/// Opens the list of arguments; `None` where there is none.
fn open_list(cursor: &mut Cursor<'_>, word: &str) -> Result<Option<usize>, QueryError> {
    let before = cursor.at();
    cursor.skip_blanks();
    let opened = cursor.at();
    if !cursor.eat("(") {
        cursor.move_to(before);
        return Ok(None);
    }
    cursor.skip_blanks();
    if cursor.peek() == Some(')') {
        return Err(cursor
            .fail(QueryErrorKind::Syntax, "expected a name, found `)`")
            .with_hint(format!("`{word}` without parentheses means every {word}")));
    }
    Ok(Some(opened))
}

fn eat_separator(cursor: &mut Cursor<'_>) -> bool {
    cursor.eat_after_blanks(",") || cursor.eat_after_blanks("|")
}

/// Reads `(name, name | name)`; empty for no parentheses and where one name is `*`.
fn parse_names(cursor: &mut Cursor<'_>, word: &str) -> Result<Vec<NameMatch>, QueryError> {
    let mut names = Vec::new();
    let Some(opened) = open_list(cursor, word)? else { return Ok(names) };
    let mut reader = ArgumentReader::new(NameKind::Function);
    loop {
        names.push(reader.read(cursor)?);
        if !eat_separator(cursor) {
            break;
        }
    }
    cursor.close(")", opened)?;
    if names.iter().any(is_everything) {
        names.clear();
    }
    Ok(names)
}

/// Whether the name is the glob `*`, which chooses as much as no name.
fn is_everything(name: &NameMatch) -> bool {
    matches!(name, NameMatch::Glob(glob) if glob.pattern().chars().all(|c| c == '*')
        && !glob.pattern().is_empty())
}

fn parse_source_places(
    cursor: &mut Cursor<'_>,
    word: &str,
) -> Result<Vec<SourcePlace>, QueryError> {
    let places = parse_places(cursor, word, "a line number")?;
    Ok(places.into_iter().map(|(file, lines)| SourcePlace { file, lines }).collect())
}

/// Reads `(name:numbers, name, …)`; empty for no parentheses and where one place is `*`. An item
/// that is only numbers adds to the numbers of the place before it.
fn parse_places(
    cursor: &mut Cursor<'_>,
    word: &str,
    what: &str,
) -> Result<Vec<(NameMatch, Option<RangeList>)>, QueryError> {
    let mut places: Vec<(NameMatch, Vec<Range>)> = Vec::new();
    let Some(opened) = open_list(cursor, word)? else { return Ok(Vec::new()) };
    let mut reader = ArgumentReader::new(NameKind::Path);
    loop {
        cursor.skip_blanks();
        let from = cursor.at();
        let is_bare = !matches!(cursor.peek(), Some('"' | '\''));
        let name = reader.read(cursor)?;
        let end = cursor.at();
        let is_bare = is_bare
            && !matches!(name, NameMatch::Regex(_))
            && !cursor.since(from).starts_with("glob\"")
            && !cursor.since(from).starts_with("glob'");
        if is_bare {
            let text = cursor.since(from).trim_end();
            if is_numbers(text) {
                let range = parse_range(&mut cursor.within(from, end), what)?;
                match places.last_mut() {
                    Some((_, ranges)) if !ranges.is_empty() => ranges.push(range),
                    _ => {
                        return Err(cursor
                            .fail_since(
                                from,
                                QueryErrorKind::Syntax,
                                format!("`{text}` is {what} without a name before it"),
                            )
                            .with_hint(format!("write `{word}(NAME:{text})`, or quote the name")));
                    }
                }
            } else if let Some(colon) = numbers_colon(text) {
                let name = text.get(..colon).unwrap_or("").trim_end();
                let range = parse_range(&mut cursor.within(from + colon + 1, end), what)?;
                places.push((NameMatch::from_bare(name), vec![range]));
            } else {
                reject_bad_number(cursor, from, text, what)?;
                places.push((name, Vec::new()));
            }
        } else {
            let mut ranges = Vec::new();
            if cursor.eat_after_blanks(":") {
                cursor.skip_blanks();
                ranges.push(parse_range(cursor, what)?);
            }
            places.push((name, ranges));
        }
        if !eat_separator(cursor) {
            break;
        }
    }
    cursor.close(")", opened)?;
    if places.iter().any(|(name, ranges)| is_everything(name) && ranges.is_empty()) {
        places.clear();
    }
    let list = |ranges: Vec<Range>| (!ranges.is_empty()).then(|| RangeList::new(ranges));
    Ok(places.into_iter().map(|(name, ranges)| (name, list(ranges))).collect())
}

/// Whether `text` is one range: a number, then perhaps an end and a step.
fn is_numbers(text: &str) -> bool {
    let mut rest = text;
    for part in 0..3 {
        rest = rest.trim_start();
        let digits = match rest.get(..2) {
            Some("0x" | "0X") => {
                let hex = rest.get(2..).unwrap_or("");
                2 + hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len())
            }
            _ => rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()),
        };
        // Only the end of a range may be missing.
        if digits == 0 && part != 1 {
            return false;
        }
        rest = rest.get(digits..).unwrap_or("").trim_start();
        let next = rest.chars().next();
        match (part, next) {
            (_, None) => return true,
            (0, Some('-')) => {}
            (0 | 1, Some(':')) => return is_step(rest),
            _ => return false,
        }
        rest = rest.get(1..).unwrap_or("");
    }
    false
}

fn is_step(text: &str) -> bool {
    let step = text.strip_prefix(':').unwrap_or("").trim();
    !step.is_empty() && step.bytes().all(|b| b.is_ascii_digit())
}

/// The colon of `name:numbers`: the first one after which only numbers follow.
fn numbers_colon(text: &str) -> Option<usize> {
    text.match_indices(':')
        .map(|(at, _)| at)
        .find(|at| *at > 0 && text.get(at + 1..).is_some_and(is_numbers))
}

/// Fails on `name:12x`, which is more likely a mistyped number than a file of that name.
fn reject_bad_number(
    cursor: &Cursor<'_>,
    from: usize,
    text: &str,
    what: &str,
) -> Result<(), QueryError> {
    let Some((_, last)) = text.rsplit_once(':') else { return Ok(()) };
    if !last.trim_start().starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(());
    }
    let at = from + text.len() - last.len();
    let mut place = cursor.within(at, from + text.len());
    place.move_to(from + text.len());
    Err(place
        .fail_since(at, QueryErrorKind::BadNumber, format!("`{last}` is not {what}"))
        .with_hint("where it belongs to the name, put the name in quotes"))
}
