//! Context expressions: which nodes of the calling context tree.

use std::fmt;

use super::argument::{NameKind, PrintedName};
use super::name::NameMatch;
use super::path::PathQuery;
use super::predicate::Predicate;
use super::profiles::print_joined;
use super::range::RangeList;

/// Which contexts.
#[derive(Debug, Clone, PartialEq)]
pub enum ContextExpr {
    /// `*`: every context but the root, as in hpcanalysis; `application` is the root.
    All,
    /// `application`: the root, which stands for the whole execution.
    Root,
    /// `function(MPI_*)`, `loop`, `context(12)`: the contexts of a kind.
    Select(ContextSelector),
    /// `a.b > c`: the contexts that the last step chooses and that have a chain of ancestors as
    /// the others say.
    Chain {
        /// Where the chain begins; never a `Chain`.
        head: Box<ContextExpr>,
        /// The steps downwards, at least one.
        steps: Vec<ChainStep>,
    },
    /// `a[p]`: the contexts of `a` for which the predicate holds.
    Filter {
        /// The contexts to look at; never a `Filter`.
        of: Box<ContextExpr>,
        /// What must hold.
        predicate: Predicate,
    },
    /// `subtree(a)`: the contexts of `a` and all below them.
    Subtree(Box<ContextExpr>),
    /// `ancestors(a)`: the contexts of `a` and all above them, up to the root.
    Ancestors(Box<ContextExpr>),
    /// `a & b`: the contexts that all parts choose. At least two parts, none of them `And`.
    And(Vec<ContextExpr>),
    /// `a | b`: the contexts that any part chooses. At least two parts, none of them `Or`.
    Or(Vec<ContextExpr>),
    /// `!a`: every context but the chosen ones and the root.
    Not(Box<ContextExpr>),
    /// A query in one of Hatchet's notations; stands only as the whole expression.
    Paths(PathQuery),
}

/// One step of a chain.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainStep {
    /// How the step goes down.
    pub relation: Relation,
    /// The contexts where it may arrive; a `Chain` here was written in parentheses.
    pub to: ContextExpr,
}

/// How two neighbours of a chain lie to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    /// `.`: anywhere below (not the context itself).
    Descendant,
    /// `>`: directly below.
    Child,
}

/// The contexts of a kind, and among them those with one of the given names or places. Where the
/// list is empty, all of the kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ContextSelector {
    /// `any`: contexts of every kind.
    Any,
    /// `entry`: the entry points below the root (`main thread`, …).
    Entry(Vec<NameMatch>),
    /// `function(main)`: functions, by name ([`NameMatch::matches_function`]).
    Function(Vec<NameMatch>),
    /// `loop(solver.c:120)`: loops, by file and line.
    Loop(Vec<SourcePlace>),
    /// `line(solver.c:120-140)`: source lines.
    Line(Vec<SourcePlace>),
    /// `instruction(libm.so:0x1176)`: instructions, by load module and offset.
    Instruction(Vec<ModulePlace>),
    /// `context(12,30-40)`: by the id of the database.
    Ids(RangeList),
}

/// A source file, and lines of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SourcePlace {
    /// The file, by whole path or by its end ([`NameMatch::matches_path`]).
    pub file: NameMatch,
    /// The 1-based lines; `None` for all.
    pub lines: Option<RangeList>,
}

impl SourcePlace {
    /// Whether a context at `line` of `path` is chosen.
    pub fn matches(&self, path: &str, line: u64) -> bool {
        self.lines.as_ref().is_none_or(|lines| lines.contains(line)) && self.file.matches_path(path)
    }
}

/// A load module, and offsets into it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModulePlace {
    /// The load module, by whole path or by its end ([`NameMatch::matches_path`]).
    pub module: NameMatch,
    /// The byte offsets; `None` for all.
    pub offsets: Option<RangeList>,
}

impl ModulePlace {
    /// Whether an instruction at `offset` of the module at `path` is chosen.
    pub fn matches(&self, path: &str, offset: u64) -> bool {
        self.offsets.as_ref().is_none_or(|offsets| offsets.contains(offset))
            && self.module.matches_path(path)
    }
}

impl ContextExpr {
    /// How tightly the expression holds together when printed.
    fn rank(&self) -> u8 {
        match self {
            Self::Or(_) => 0,
            Self::And(_) => 1,
            Self::Chain { .. } => 2,
            Self::Not(_) => 3,
            Self::Filter { .. } => 4,
            _ => 5,
        }
    }

    /// Writes the expression, in parentheses where it holds less tightly than `least`.
    fn print(&self, f: &mut fmt::Formatter<'_>, least: u8) -> fmt::Result {
        if self.rank() < least { write!(f, "({self})") } else { write!(f, "{self}") }
    }
}

impl fmt::Display for ContextExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("*"),
            Self::Root => f.write_str("application"),
            Self::Select(selector) => write!(f, "{selector}"),
            Self::Chain { head, steps } => {
                head.print(f, 3)?;
                for step in steps {
                    f.write_str(match step.relation {
                        Relation::Descendant => ".",
                        Relation::Child => " > ",
                    })?;
                    step.to.print(f, 3)?;
                }
                Ok(())
            }
            Self::Filter { of, predicate } => {
                of.print(f, 5)?;
                write!(f, "[{predicate}]")
            }
            Self::Subtree(of) => write!(f, "subtree({of})"),
            Self::Ancestors(of) => write!(f, "ancestors({of})"),
            Self::And(parts) => print_joined(f, parts, " & ", |part| part.rank() < 2),
            Self::Or(parts) => print_joined(f, parts, " | ", |part| part.rank() < 1),
            Self::Not(part) => {
                f.write_str("!")?;
                part.print(f, 3)
            }
            Self::Paths(query) => write!(f, "{query}"),
        }
    }
}

impl fmt::Display for ContextSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Ids(ids) => write!(f, "context({ids})"),
            Self::Entry(names) => print_names(f, "entry", names),
            Self::Function(names) => print_names(f, "function", names),
            Self::Loop(places) => print_list(f, "loop", places, print_source),
            Self::Line(places) => print_list(f, "line", places, print_source),
            Self::Instruction(places) => print_list(f, "instruction", places, |f, place| {
                write!(f, "{}", PrintedName(&place.module, NameKind::Path))?;
                match &place.offsets {
                    Some(offsets) => write!(f, ":").and_then(|()| offsets.print(f, Some(0))),
                    None => Ok(()),
                }
            }),
        }
    }
}

fn print_list<T>(
    f: &mut fmt::Formatter<'_>,
    word: &str,
    items: &[T],
    print: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    f.write_str(word)?;
    for (at, item) in items.iter().enumerate() {
        f.write_str(if at == 0 { "(" } else { "|" })?;
        print(f, item)?;
    }
    f.write_str(if items.is_empty() { "" } else { ")" })
}

fn print_names(f: &mut fmt::Formatter<'_>, word: &str, names: &[NameMatch]) -> fmt::Result {
    print_list(f, word, names, |f, name| write!(f, "{}", PrintedName(name, NameKind::Function)))
}

fn print_source(f: &mut fmt::Formatter<'_>, place: &SourcePlace) -> fmt::Result {
    write!(f, "{}", PrintedName(&place.file, NameKind::Path))?;
    match &place.lines {
        Some(lines) => write!(f, ":{lines}"),
        None => Ok(()),
    }
}
