//! Text that fits: widths as a terminal counts them, and shortening that keeps what distinguishes
//! names.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use parallax_service::display_name_with_templates;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::Style;

/// Columns that `text` takes on a terminal.
pub(crate) fn width_of(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// `text` with everything visible: control characters and marks that reverse the order of
/// writing come from files and must not act on the terminal.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let is_hostile = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2028}' | '\u{2029}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(is_hostile) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_hostile(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// `text` in at most `width` columns.
///
/// First the load module or the place in the source goes that some tools write behind a name, because
/// other columns have it; then arguments of templates and functions, the longest first, because
/// `solve<…>(…)` still names the function; then the middle, because prefixes name the library and
/// ends name the case: `hypre_Boomer…erpType`.
pub(crate) fn shorten<'a>(text: &'a str, width: usize, style: &Style) -> Cow<'a, str> {
    if width_of(text) <= width {
        return Cow::Borrowed(text);
    }
    let text = without_place(text);
    if width_of(text) <= width {
        return Cow::Borrowed(text);
    }
    let text = without_arguments(text, width, style);
    if width_of(&text) <= width {
        return text;
    }
    Cow::Owned(without_middle(&text, width, style))
}

/// Each of `names` in at most `width` columns, so that different ones differ as far as the width
/// allows. Where [`shorten`] makes them the same, the arguments of templates stay and others go:
/// `…d_kernel<PdV_kernel::[lambda#2]>`; where that makes them the same, too, what they have in common at
/// their beginning gives way to where they begin to differ: `Calc…RegionForEl…`.
pub(crate) fn shorten_apart(names: &[&str], width: usize, style: &Style) -> Vec<String> {
    /// Names that still look the same are distinguished among themselves, so often.
    const ROUNDS: usize = 4;
    let mut short: Vec<String> =
        names.iter().map(|name| shorten(name, width, style).into_owned()).collect();
    for round in 0..ROUNDS {
        let mut alike: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, text) in short.iter().enumerate() {
            alike.entry(text).or_default().push(at);
        }
        let different = |of: &[usize]| {
            let distinct: BTreeSet<&str> =
                of.iter().filter_map(|&at| names.get(at).copied()).collect();
            distinct.len() > 1
        };
        let groups: Vec<Vec<usize>> = alike.into_values().filter(|of| different(of)).collect();
        if groups.is_empty() {
            break;
        }
        for group in groups {
            if round == 0 {
                for at in group {
                    let name = names.get(at).and_then(|name| with_templates(name, width, style));
                    if let (Some(name), Some(text)) = (name, short.get_mut(at)) {
                        *text = name;
                    }
                }
                continue;
            }
            let common = group
                .iter()
                .filter_map(|&at| names.get(at).copied())
                .reduce(common_beginning)
                .unwrap_or_default();
            for at in group {
                if let (Some(name), Some(text)) = (names.get(at), short.get_mut(at)) {
                    *text = from_difference(name, common.len(), width, style);
                }
            }
        }
    }
    short
}

/// A name with the arguments of its template; where that is too wide, without the front of the name and
/// the middle of these. None where it is no such name.
fn with_templates(name: &str, width: usize, style: &Style) -> Option<String> {
    let name = display_name_with_templates(name);
    let (front, arguments) = name.split_at_checked(name.find('<')?)?;
    let left = width.saturating_sub(width_of(arguments));
    if width_of(front) <= left {
        return Some(name);
    }
    // A third for the end of the name, unless there is more room.
    let room = left.max(width / 3).saturating_sub(width_of(style.ellipsis()));
    let end: Vec<char> = taken(front.chars().rev(), room).collect();
    let mut text = style.ellipsis().to_owned();
    text.extend(end.iter().rev());
    let left = width.saturating_sub(width_of(&text));
    Some(text + &fitting(arguments, left, style))
}

/// What two names begin with.
fn common_beginning<'a>(a: &'a str, b: &str) -> &'a str {
    let same = a.char_indices().zip(b.chars()).find(|((_, one), other)| one != other);
    let end = same.map_or_else(|| a.len().min(b.len()), |((at, _), _)| at);
    a.get(..end).unwrap_or(a)
}

/// The beginning of a name, and what follows after `common` bytes; where that is among the arguments
/// of a template or function, the end of the name before them: `…ise_kernel<…AUnaryFunc…`.
fn from_difference(name: &str, common: usize, width: usize, style: &Style) -> String {
    let ellipsis = style.ellipsis();
    let room = width.saturating_sub(2 * width_of(ellipsis));
    let (before, after) = name.split_at_checked(common).unwrap_or((name, ""));
    let group =
        argument_groups(name).into_iter().find(|&(start, end)| (start..end).contains(&common));
    if let Some(label) = group.and_then(|(start, _)| name.get(..start)) {
        let own = room.saturating_sub(width_of(ellipsis)) / 2;
        let tail: Vec<char> = taken(label.chars().rev(), own).collect();
        let mut text = if width_of(label) > own { ellipsis.to_owned() } else { String::new() };
        text.extend(tail.iter().rev());
        if before.len() > label.len() {
            text.push_str(ellipsis);
        }
        let rest = width.saturating_sub(width_of(&text));
        return text + &beginning(after, rest, style);
    }
    // A third says what it is, unless the rest is shorter.
    let head = (room / 3).max(room.saturating_sub(width_of(after)));
    if head >= width_of(before) {
        return beginning(name, width, style);
    }
    let head: String = taken(before.chars(), head).collect();
    let used = width_of(&head) + width_of(ellipsis);
    format!("{head}{ellipsis}{}", beginning(after, width.saturating_sub(used), style))
}

/// `list`, such as `grid=[8, 1, 1], stream=7`, in lines of at most `width` columns. Lines end
/// between two items; of an item that is longer than a line the beginning stays.
pub(crate) fn list_lines(list: &str, width: usize, style: &Style) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for item in items(list) {
        match lines.last_mut() {
            Some(line) if width_of(line) + 1 + width_of(item) <= width => {
                line.push(' ');
                line.push_str(item);
            }
            _ => lines.push(beginning(item, width, style)),
        }
    }
    lines
}

/// Sentences in lines of at most `width` columns, unless a word is longer.
pub(crate) fn word_lines(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width_of(line) + 1 + width_of(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The items of a list, each with the comma after it; commas in brackets and quotes separate nothing.
fn items(list: &str) -> impl Iterator<Item = &str> {
    let (mut depth, mut is_quoted) = (0_usize, false);
    list.split_inclusive(move |letter| {
        match letter {
            '"' => is_quoted = !is_quoted,
            '[' | '(' | '{' if !is_quoted => depth += 1,
            ']' | ')' | '}' if !is_quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0 && !is_quoted
    })
    .map(str::trim_start)
    .filter(|item| !item.is_empty())
}

fn beginning(text: &str, width: usize, style: &Style) -> String {
    if width_of(text) <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(width_of(style.ellipsis()));
    taken(text.chars(), room).collect::<String>() + style.ellipsis()
}

/// Appends spaces up to `width` columns.
pub(crate) fn pad(line: &mut String, missing: usize) {
    line.extend(std::iter::repeat_n(' ', missing));
}

fn fitting(text: &str, width: usize, style: &Style) -> String {
    if width_of(text) <= width { text.to_owned() } else { without_middle(text, width, style) }
}

fn without_middle(text: &str, width: usize, style: &Style) -> String {
    let ellipsis = style.ellipsis();
    let Some(room) = width.checked_sub(width_of(ellipsis)).filter(|&room| room > 0) else {
        return taken(text.chars(), width).collect();
    };
    let head: String = taken(text.chars(), room.div_ceil(2)).collect();
    let tail: Vec<char> = taken(text.chars().rev(), room - width_of(&head)).collect();
    let mut shortened = head + ellipsis;
    shortened.extend(tail.iter().rev());
    shortened
}

/// The first of `chars` that fit `width` columns.
fn taken(chars: impl Iterator<Item = char>, width: usize) -> impl Iterator<Item = char> {
    let mut left = width;
    chars.take_while(move |c| match left.checked_sub(c.width().unwrap_or(0)) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    })
}

/// `PMPI_Wait [libmpi.so.40]` and `main [{a.c} {3,1}-{9,1}]` without what is in brackets behind the
/// name; other brackets stay, as those of `step [12]`.
fn without_place(text: &str) -> &str {
    let mut rest = text;
    while let Some((name, place)) = rest.rsplit_once(" [").filter(|_| rest.ends_with(']')) {
        let name = name.trim_end();
        if name.is_empty() || !place.contains(char::is_alphabetic) {
            break;
        }
        rest = name;
    }
    rest
}

/// `text` with as many outermost `<...>` and `(...)` emptied as it takes to fit.
fn without_arguments<'a>(text: &'a str, width: usize, style: &Style) -> Cow<'a, str> {
    let mut groups = argument_groups(text);
    groups.retain(|&(start, end)| end - start > width_of(style.ellipsis()));
    groups.sort_by_key(|&(start, end)| (std::cmp::Reverse(end - start), start));
    let mut emptied = Vec::new();
    let mut current = width_of(text);
    for (start, end) in groups {
        if current <= width {
            break;
        }
        let inside = text.get(start..end).unwrap_or_default();
        current = current.saturating_sub(width_of(inside)) + width_of(style.ellipsis());
        emptied.push((start, end));
    }
    if emptied.is_empty() {
        return Cow::Borrowed(text);
    }
    emptied.sort_unstable();
    let mut shortened = String::with_capacity(text.len());
    let mut from = 0;
    for (start, end) in emptied {
        shortened.push_str(text.get(from..start).unwrap_or_default());
        shortened.push_str(style.ellipsis());
        from = end;
    }
    shortened.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(shortened)
}

/// The insides of outermost brackets, as byte ranges. None where brackets do not match.
fn argument_groups(text: &str) -> Vec<(usize, usize)> {
    let mut groups = Vec::new();
    let mut open = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if let Some(name) = rest.strip_prefix("operator") {
            let symbols = if name.starts_with("()") {
                2
            } else {
                name.find(|c: char| !"<>=-!+*/%^&|~,".contains(c)).unwrap_or(name.len())
            };
            at += "operator".len() + symbols;
            continue;
        }
        if rest.starts_with("->") {
            at += 2;
            continue;
        }
        let c = rest.chars().next().unwrap_or(' ');
        match c {
            '<' | '(' => {
                if open.is_empty() {
                    start = at + 1;
                }
                open.push(c);
            }
            '>' | ')' => {
                let expected = if c == '>' { '<' } else { '(' };
                if open.pop() != Some(expected) {
                    return Vec::new();
                }
                // A group at the very start is the name itself, as in `(anonymous namespace)::f`
                // or `<unknown>`.
                if open.is_empty() && start > 1 {
                    groups.push((start, at));
                }
            }
            _ => {}
        }
        at += c.len_utf8();
    }
    if open.is_empty() { groups } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UTF: Style = Style { width: 80, rows: None, is_colour: false, is_unicode: true };
    const ASCII: Style = Style { is_unicode: false, ..UTF };

    #[test]
    fn a_list_ends_its_lines_between_items_and_keeps_their_beginnings() {
        let list = r#"id=7, grid=[16, 1, 1], note="a, b", a very long name of something=17"#;
        assert_eq!(
            list_lines(list, 20, &UTF),
            ["id=7,", "grid=[16, 1, 1],", r#"note="a, b","#, "a very long name of…"]
        );
        assert_eq!(list_lines(list, 200, &UTF), [list]);
        assert_eq!(list_lines("", 20, &UTF), [""; 0]);
    }

    #[test]
    fn arguments_go_before_names() {
        let name = "hypre::Solver<double, std::vector<int>>::apply(int, std::pair<int, int>)";
        let cases = [
            (80, name),
            (60, "hypre::Solver<…>::apply(int, std::pair<int, int>)"),
            (40, "hypre::Solver<…>::apply(…)"),
            (20, "hypre::Sol…:apply(…)"),
        ];
        for (width, text) in cases {
            let short = shorten(name, width, &UTF);
            assert!(width_of(&short) <= width, "{short}");
            assert_eq!(short, text);
        }
    }

    #[test]
    fn the_place_behind_a_name_goes_first() {
        for (name, width, expected) in [
            ("PMPI_Waitall [libmpi.so.40.30.4]", 20, "PMPI_Waitall"),
            ("PMPI_Waitall [libmpi.so.40.30.4]", 40, "PMPI_Waitall [libmpi.so.40.30.4]"),
            ("<unknown procedure> 0x1f6d0 [libgomp.so.1.0.0]", 20, "<unknown p…> 0x1f6d0"),
            ("_nv031520rm [nvidia] [vmlinux]", 20, "_nv031520rm"),
            ("HEAT_TRANSFER [{heat.f90} {42,1}-{140,25}]", 30, "HEAT_TRANSFER"),
            ("a_very_long_name_of_a_step [12]", 14, "a_very_…p [12]"),
        ] {
            assert_eq!(shorten(name, width, &UTF), expected, "{name}");
        }
    }

    #[test]
    fn different_names_look_different() {
        let names = [
            "CalcMonotonicQRegionForElems(Domain&, int, double)",
            "CalcMonotonicQGradientsForElems(Domain&)",
            "CalcKinematicsForElems(Domain&, double, int)",
            "PMPI_Waitall [libmpi.so.40.30.4]",
            "PMPI_Waitall [libmpi.so.40.30.4]",
        ];
        let short = shorten_apart(&names, 20, &UTF);
        assert_eq!(
            short,
            [
                "CalcMo…RegionForEle…",
                "CalcMo…GradientsFor…",
                "CalcKinema…rElems(…)",
                "PMPI_Waitall",
                "PMPI_Waitall",
            ]
        );
        let templates: Vec<String> =
            (0..9).map(|i| format!("RAJA::exec<Kripke::Layout<{i}>, long>::run(int)")).collect();
        let templates: Vec<&str> = templates.iter().map(String::as_str).collect();
        let short = shorten_apart(&templates, 24, &UTF);
        assert_eq!(short.iter().collect::<BTreeSet<_>>().len(), 9, "{short:?}");
        assert!(short.iter().all(|text| width_of(text) <= 24), "{short:?}");
        // The end of one is the beginning of the other.
        let short = shorten_apart(&["solve_the_system_of_equations", "solve_the_system"], 12, &UTF);
        assert_eq!(short, ["solve_…tions", "solve_…ystem"]);
    }

    #[test]
    fn kernels_of_one_template_show_its_arguments() {
        let kernel =
            |of: &str| format!("void clover::par_ranged2d_kernel<{of}>(clover::Range2d, T1)");
        let names = [
            kernel("PdV_kernel(bool, int, double)::[lambda(int, int) (instance 1)]"),
            kernel("PdV_kernel(bool, int, double)::[lambda(int, int) (instance 2)]"),
            kernel("flux_calc_kernel(int, double)::[lambda(int, int) (instance 1)]"),
            "void clover::par_reduce_kernel<calc_dt(int)::[lambda(int)]>(T1)".to_owned(),
            "std::enable_if<true>::type run(args<float>) [libx.so]".to_owned(),
            "std::enable_if<false>::type run(args<float>) [libx.so]".to_owned(),
        ];
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(
            shorten_apart(&names, 70, &UTF)[..4],
            [
                "clover::par_ranged2d_kernel<PdV_kernel::[lambda (instance 1)]>",
                "clover::par_ranged2d_kernel<PdV_kernel::[lambda (instance 2)]>",
                "clover::par_ranged2d_kernel<flux_calc_kernel::[lambda (instance 1)]>",
                "void clover::par_reduce_kernel<calc_dt(int)::[lambda(int)]>(T1)",
            ]
        );
        assert_eq!(
            shorten_apart(&names, 30, &UTF)[..4],
            [
                "…2d_kernel<PdV_kerne…ance 1)]>",
                "…2d_kernel<PdV_kerne…ance 2)]>",
                "…2d_kernel<flux_calc…ance 1)]>",
                "void clover::pa…e_kernel<…>(…)",
            ]
        );
        for width in [3, 8, 12, 30, 44] {
            let short = shorten_apart(&names, width, &UTF);
            assert!(short.iter().all(|text| width_of(text) <= width), "{width} {short:?}");
            let different = short.iter().collect::<BTreeSet<_>>().len();
            assert!(width < 12 || different == names.len(), "{width} {short:?}");
        }
    }

    #[test]
    fn brackets_that_are_no_arguments_stay() {
        let cases = [
            ("std::ostream::operator<<(std::ostream&, long)", 34, "std::ostream::operator<<(…)"),
            ("Functor::operator()(unsigned long, int) const", 34, "Functor::operator()(…) const"),
            ("(anonymous namespace)::f(int, long)", 32, "(anonymous namespace)::f(…)"),
            ("a < b and a long remark about it", 20, "a < b and … about it"),
            ("<unknown procedure>", 10, "<unkn…ure>"),
        ];
        for (name, width, text) in cases {
            assert_eq!(shorten(name, width, &UTF), text);
        }
    }

    #[test]
    fn names_and_paths_keep_both_ends() {
        assert_eq!(
            shorten("hypre_BoomerAMGBuildCoarseOperatorKT", 20, &UTF),
            "hypre_Boom…peratorKT"
        );
        assert_eq!(
            shorten("/usr/src/amg/parcsr_ls/par_amg.c:120", 20, &ASCII),
            "/usr/src/...mg.c:120"
        );
        assert_eq!(shorten("abcdef", 1, &UTF), "a");
        assert_eq!(shorten("abcdef", 0, &UTF), "");
        assert_eq!(shorten("abcdef", 2, &ASCII), "ab");
    }

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(width_of("日本"), 4);
        let short = shorten("日本語の関数名です", 10, &UTF);
        assert!(width_of(&short) <= 10, "{short}");
        assert!(short.starts_with("日本") && short.ends_with("です"), "{short}");
    }

    #[test]
    fn names_cannot_act_on_the_terminal() {
        assert_eq!(printable("a\x1b[31mb\n"), "a\\u{1b}[31mb\\n");
        assert_eq!(printable("x\u{202e}y"), "x\\u{202e}y");
        assert_eq!(printable("größer"), "größer");
    }
}
