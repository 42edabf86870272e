//! `metrics/default.yaml`: which metrics a viewer offers, in which tree, and how their values are
//! made from the statistics of the summary profile.
//!
//! The file is advice on presentation. A broken one costs nothing but itself: whatever is wrong
//! with it goes to the issues, and what can be understood is kept.

mod expression;
mod read;
mod yaml;

use std::sync::Arc;

use super::metrics::Combine;

pub use expression::{Expression, Operation};

/// The content of `metrics/default.yaml`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Taxonomy {
    /// What formulas are made from; [`Expression::Input`] is a position in this.
    pub inputs: Vec<TaxonomyInput>,
    /// The metrics that are not part of another.
    pub roots: Vec<TaxonomyNode>,
}

/// A statistic of a metric in one scope: one of the metric ids of the summary profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaxonomyInput {
    /// Name of the metric in `meta.db`, such as `CPUTIME (sec)`.
    pub metric: Arc<str>,
    /// Name of the scope in `meta.db`, such as `execution`.
    pub scope: Arc<str>,
    /// What is combined, as the summary records of `meta.db` write it: `$$`, `1`, `($$^2)`.
    pub formula: Arc<str>,
    /// How.
    pub combine: Combine,
}

/// A metric as a viewer offers it.
#[derive(Debug, Clone, PartialEq)]
pub struct TaxonomyNode {
    /// Name for users, such as `CPUTIME (sec)` or `Memory Batch Clear`.
    pub name: Arc<str>,
    /// What it is, in Markdown; empty when nothing is said.
    pub description: Arc<str>,
    /// The same in a few words; by default the description up to its first period or line end.
    pub short_description: Arc<str>,
    /// Whether a viewer shows it without being asked.
    pub is_visible: bool,
    /// How it is shown; `column` in every known file. Meant for roots only.
    pub presentation: Arc<str>,
    /// The ways in which the values of all profiles become one, in the order of the file.
    pub variants: Vec<Variant>,
    /// What it consists of.
    pub children: Vec<TaxonomyNode>,
}

/// One way in which the values of all profiles become one: a column of a viewer.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// `Sum`, `Mean`, `StdDev`, `CfVar`, `Min`, `Max`, or empty when there is only one.
    pub name: Arc<str>,
    /// What a cell shows; nothing for a heading.
    pub render: Vec<Render>,
    /// A `printf` format for one number of type double; `%.2e` by default.
    pub format: Arc<str>,
    /// Which variants of the children belong to this one.
    pub children: ChildVariants,
    /// Where the values come from.
    pub formula: Formula,
}

/// A part of what a cell shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Render {
    /// The number.
    Number,
    /// The percentage of the inclusive value of the whole execution.
    Percent,
    /// A mark that (some) inner values are hidden.
    Hidden,
    /// A bar with the shares of the children.
    ColorBar,
}

/// Which variants of the children of a node belong to one of its variants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChildVariants {
    /// The variant of this name, of each child. By default the name of the variant itself.
    Same(Arc<str>),
    /// One name for each child, in their order.
    Each(Vec<Arc<str>>),
}

/// Where the values of a variant come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Formula {
    /// From nowhere: the variant is a heading.
    Absent,
    /// They are those of the first child.
    FirstChild,
    /// They are the sums of those of the children.
    SumOfChildren,
    /// They are computed.
    Own {
        /// The cost of a context and all below it.
        inclusive: FormulaPair,
        /// The cost of a context itself.
        exclusive: FormulaPair,
    },
}

/// The two versions of a formula.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FormulaPair {
    /// For the top-down view, where loops count without the loops nested in them. By default the
    /// same as `standard`.
    pub custom: Option<Expression>,
    /// For the bottom-up and flat views: made from well-defined scopes only.
    pub standard: Option<Expression>,
}

impl TaxonomyInput {
    /// Whether `formula` of a summary record of `meta.db` is the formula of this input: white
    /// space and parentheses around the whole do not count.
    #[must_use]
    pub fn has_formula(&self, formula: &str) -> bool {
        canonical(&self.formula) == canonical(formula)
    }
}

/// `formula` without white space and without parentheses around the whole.
fn canonical(formula: &str) -> String {
    let text: String = formula.chars().filter(|c| !c.is_whitespace()).collect();
    let mut inner = text.as_str();
    while let Some(stripped) = inner.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        let mut depth = 0_i64;
        let closes_early = stripped.bytes().any(|byte| {
            depth += i64::from(byte == b'(') - i64::from(byte == b')');
            depth < 0
        });
        if closes_early {
            break;
        }
        inner = stripped;
    }
    inner.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_compared_without_white_space_and_outer_parentheses() {
        let input = |formula: &str| TaxonomyInput {
            metric: "cycles".into(),
            scope: "point".into(),
            formula: formula.into(),
            combine: Combine::Sum,
        };
        assert!(input("($$^2)").has_formula("$$ ^ 2"));
        assert!(input("$$").has_formula("$$"));
        assert!(!input("($$+1)*(2)").has_formula("$$+1)*(2"));
        assert!(!input("$$").has_formula("1"));
    }
}
