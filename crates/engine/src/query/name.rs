//! Matching of names: exact, by glob, by regular expression; and the normal form of function names.

use std::borrow::Cow;
use std::fmt;

use regex::{Regex, RegexBuilder};

/// Bytes that one compiled regular expression may take.
const REGEX_BYTES: usize = 1 << 20;

/// How a name is chosen.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum NameMatch {
    /// The name is equal to this text.
    Exact(String),
    /// The whole name matches a glob.
    Glob(Glob),
    /// The regular expression is found in the name.
    Regex(RegexMatch),
}

impl NameMatch {
    /// An exact match, or a glob where `text` holds `*` or `?`.
    pub fn from_bare(text: &str) -> Self {
        if text.contains(['*', '?']) {
            Self::Glob(Glob::new(text))
        } else {
            Self::Exact(text.to_owned())
        }
    }

    /// Whether `name` matches.
    pub fn matches(&self, name: &str) -> bool {
        match self {
            Self::Exact(text) => text == name,
            Self::Glob(glob) => glob.matches(name),
            Self::Regex(regex) => regex.matches(name),
        }
    }

    /// Whether a function's name matches, in full or in its [normal form](normalised_name).
    pub fn matches_function(&self, name: &str) -> bool {
        let short = normalised_name(name);
        self.matches(name) || (short.len() < name.len() && self.matches(&short))
    }

    /// Whether a path matches: the whole path, or what follows one of its separators (`/` or `\`),
    /// so that `solver.c` and `src/solver.c` match `/home/me/src/solver.c`.
    pub fn matches_path(&self, path: &str) -> bool {
        self.matches(path)
            || path.match_indices(['/', '\\']).any(|(at, separator)| {
                path.get(at + separator.len()..).is_some_and(|tail| self.matches(tail))
            })
    }

    /// The name, glob or regular expression as text, without quotes or slashes.
    pub fn text(&self) -> &str {
        match self {
            Self::Exact(text) => text,
            Self::Glob(glob) => glob.pattern(),
            Self::Regex(regex) => regex.pattern(),
        }
    }
}

/// A glob: `*` stands for any run of characters (also none), `?` for any one character. Case
/// counts, and no other character is special.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Glob {
    pattern: String,
    parts: Vec<GlobPart>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum GlobPart {
    Char(char),
    AnyChar,
    AnyRun,
}

impl Glob {
    /// The glob of `pattern`; every text is one.
    pub fn new(pattern: &str) -> Self {
        let mut parts: Vec<GlobPart> = pattern
            .chars()
            .map(|c| match c {
                '*' => GlobPart::AnyRun,
                '?' => GlobPart::AnyChar,
                c => GlobPart::Char(c),
            })
            .collect();
        parts.dedup_by(|a, b| *a == GlobPart::AnyRun && *b == GlobPart::AnyRun);
        Self { pattern: pattern.to_owned(), parts }
    }

    /// The glob as it was given.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Whether all of `name` matches. Takes at most the product of both lengths.
    pub fn matches(&self, name: &str) -> bool {
        let mut part = 0;
        let mut rest = name.chars();
        // Where to go on when the present attempt fails: one character later at the last `*`.
        let mut retry = None;
        loop {
            let before = rest.clone();
            let Some(c) = rest.next() else { break };
            match self.parts.get(part) {
                Some(GlobPart::AnyRun) => {
                    part += 1;
                    rest = before.clone();
                    retry = Some((part, before));
                }
                Some(GlobPart::AnyChar) => part += 1,
                Some(GlobPart::Char(wanted)) if *wanted == c => part += 1,
                _ => match &mut retry {
                    Some((after, from)) => {
                        from.next();
                        part = *after;
                        rest = from.clone();
                    }
                    None => return false,
                },
            }
        }
        self.parts.iter().skip(part).all(|left| *left == GlobPart::AnyRun)
    }
}

/// A compiled regular expression (syntax of the `regex` crate: no look-around, no
/// back-references; time is linear in the name).
#[derive(Debug, Clone)]
pub struct RegexMatch {
    pattern: String,
    ignore_case: bool,
    at_start: bool,
    compiled: Regex,
}

/// A regular expression that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this regular expression cannot be used: {reason}")]
pub struct PatternError {
    /// What the regular expression compiler says, in one line.
    pub reason: String,
}

impl RegexMatch {
    /// Compiles `pattern`, which is found anywhere in a name. Fails on a bad pattern, or one whose
    /// automaton needs more than 1 MiB.
    pub fn new(pattern: &str, ignore_case: bool) -> Result<Self, PatternError> {
        Self::build(pattern, ignore_case, false)
    }

    /// Compiles `pattern`, which must match at the beginning of a name, as Python's `re.match`
    /// does. Fails like [`Self::new`].
    pub fn at_start(pattern: &str) -> Result<Self, PatternError> {
        Self::build(pattern, false, true)
    }

    fn build(pattern: &str, ignore_case: bool, at_start: bool) -> Result<Self, PatternError> {
        // `\/` is the way to write `/` between slashes; one form only, so that equal patterns
        // are equal.
        let mut plain = String::with_capacity(pattern.len());
        let mut chars = pattern.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => match chars.next() {
                    Some('/') => plain.push('/'),
                    next => {
                        plain.push('\\');
                        plain.extend(next);
                    }
                },
                c => plain.push(c),
            }
        }
        let whole = if at_start { format!(r"\A(?:{plain})") } else { plain.clone() };
        let compiled = RegexBuilder::new(&whole)
            .case_insensitive(ignore_case)
            .size_limit(REGEX_BYTES)
            .nest_limit(100)
            .build()
            .map_err(|error| PatternError { reason: one_line(&error) })?;
        Ok(Self { pattern: plain, ignore_case, at_start, compiled })
    }

    /// The pattern as text, without slashes around it.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Whether case does not count.
    pub fn ignores_case(&self) -> bool {
        self.ignore_case
    }

    /// Whether the pattern must match at the beginning of the name.
    pub fn is_at_start(&self) -> bool {
        self.at_start
    }

    /// Whether the pattern is found in `name`.
    pub fn matches(&self, name: &str) -> bool {
        self.compiled.is_match(name)
    }
}

/// The last line of the compiler's report, which says what is wrong; the others draw the place.
fn one_line(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(limit) => {
            format!("its automaton would take more than {limit} bytes")
        }
        error => {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default().trim();
            last.strip_prefix("error: ").unwrap_or(last).to_owned()
        }
    }
}

impl PartialEq for RegexMatch {
    fn eq(&self, other: &Self) -> bool {
        (&self.pattern, self.ignore_case, self.at_start)
            == (&other.pattern, other.ignore_case, other.at_start)
    }
}

impl Eq for RegexMatch {}

impl std::hash::Hash for RegexMatch {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (&self.pattern, self.ignore_case, self.at_start).hash(state);
    }
}

/// `/pattern/` or `/pattern/i`.
impl fmt::Display for RegexMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/")?;
        let mut chars = self.pattern.chars();
        while let Some(c) = chars.next() {
            match c {
                '/' => write!(f, "\\/")?,
                '\\' => {
                    write!(f, "\\")?;
                    if let Some(next) = chars.next() {
                        write!(f, "{next}")?;
                    }
                }
                c => write!(f, "{c}")?,
            }
        }
        write!(f, "/{}", if self.ignore_case { "i" } else { "" })
    }
}

/// A function's name without what compilers, linkers and profilers add to it.
///
/// The rule is that of hpcanalysis: an MPI routine `PMPI_Xy…` or `MPI_Xy…` is cut to `MPI_` and
/// the letters and underscores that follow; then the name is cut at the first ` [`, `.`, `@`, `(`
/// and `<`, in this order, each unless the name begins with it. So C++ overloads and instances of
/// a template are one, and placeholders such as `<omp idle>` stay whole.
///
/// ```
/// use parallax_engine::query::normalised_name;
/// assert_eq!(normalised_name("PMPI_Send.localalias"), "MPI_Send");
/// assert_eq!(normalised_name("miniFE::Vector<int>::Vector(int)"), "miniFE::Vector");
/// assert_eq!(normalised_name("hypre_ParMatmul._omp_fn.3"), "hypre_ParMatmul");
/// assert_eq!(normalised_name("<omp idle>"), "<omp idle>");
/// ```
pub fn normalised_name(name: &str) -> Cow<'_, str> {
    let mut short = name;
    let routine = name.strip_prefix('P').unwrap_or(name);
    if let Some(rest) = routine.strip_prefix("MPI_").filter(|rest| !rest.is_empty()) {
        let letters = rest.bytes().take_while(|b| b.is_ascii_alphabetic() || *b == b'_').count();
        if letters > 0 {
            short = routine.get(.."MPI_".len() + letters).unwrap_or(routine);
        }
    }
    for mark in [" [", ".", "@", "(", "<"] {
        if let Some(at) = short.find(mark).filter(|at| *at > 0) {
            short = short.get(..at).unwrap_or(short);
        }
    }
    Cow::Borrowed(short)
}

/// A text in double quotes with `"` and `\` escaped, as every notation of the language reads it.
pub(super) struct Quoted<'a>(pub(super) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"")?;
        for c in self.0.chars() {
            if matches!(c, '"' | '\\') {
                write!(f, "\\")?;
            }
            write!(f, "{c}")?;
        }
        write!(f, "\"")
    }
}
