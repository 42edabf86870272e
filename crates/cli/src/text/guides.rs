//! The lines that lead from a node of a tree to its children.

use super::Style;

/// How guides are drawn: shallow trees get room, deep ones as little as they need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Guides {
    /// Columns for each level.
    step: usize,
    /// Columns for all levels; what is above is cut off on the left.
    max_width: usize,
    is_unicode: bool,
}

impl Guides {
    /// For a tree of `max_depth` levels below its roots, in half of `width` columns.
    pub(crate) fn new(max_depth: usize, width: usize, style: &Style) -> Self {
        let max_width = (width / 2).max(1);
        let fits = |step: &usize| max_depth.saturating_mul(*step) <= max_width;
        let step = [3, 2].into_iter().find(fits).unwrap_or(1);
        Self { step, max_width, is_unicode: style.is_unicode }
    }

    /// The guides of a node: `more[d]` says whether its ancestor at depth `d + 1`, or itself in
    /// the last place, has a sibling below it. Empty for roots.
    pub(crate) fn text(&self, more: &[bool]) -> String {
        let levels = self.max_width / self.step;
        let is_cut = more.len() > levels;
        let from = if is_cut { more.len() - levels.saturating_sub(1) } else { 0 };
        let mut text = String::new();
        if is_cut {
            // Stands for the levels that are cut off.
            let mark = if self.is_unicode { '…' } else { '~' };
            text.push(mark);
            text.extend(std::iter::repeat_n(' ', self.step - 1));
        }
        let visible = more.get(from..).unwrap_or_default();
        for (idx, &has_more) in visible.iter().enumerate() {
            let is_own = idx + 1 == visible.len();
            let (line, fill) = match (is_own, has_more, self.is_unicode) {
                (true, true, true) => ('├', '─'),
                (true, false, true) => ('└', '─'),
                (true, true, false) => ('|', '-'),
                (true, false, false) => ('`', '-'),
                (false, true, true) => ('│', ' '),
                (false, true, false) => ('|', ' '),
                (false, false, _) => (' ', ' '),
            };
            text.push(line);
            if self.step == 3 {
                text.push(fill);
            }
            if self.step > 1 {
                text.push(' ');
            }
        }
        text
    }
}

/// For each of the nodes, given by their depths in depth-first order: whether a sibling follows.
/// A node is at most one level below the one before it.
pub(crate) fn has_later_sibling(depths: &[usize]) -> Vec<bool> {
    let mut later = vec![false; depths.len()];
    // Whether the nodes behind the current one start with one of this depth, before any above it.
    let mut seen: Vec<bool> = Vec::new();
    for (later, &depth) in later.iter_mut().zip(depths).rev() {
        seen.resize(depth + 1, false);
        if let Some(seen) = seen.get_mut(depth) {
            *later = std::mem::replace(seen, true);
        }
    }
    later
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(is_unicode: bool) -> Style {
        Style { width: 80, rows: None, is_colour: false, is_unicode }
    }

    #[test]
    fn siblings_are_found_across_subtrees() {
        let later = has_later_sibling(&[0, 1, 2, 2, 1, 2, 0]);
        assert_eq!(later, [true, true, true, false, false, false, false]);
    }

    #[test]
    fn guides_get_narrow_before_they_are_cut() {
        let text = |depth: usize, width: usize, is_unicode: bool| {
            let mut more = vec![true; depth];
            more[depth - 1] = false;
            Guides::new(depth, width, &style(is_unicode)).text(&more)
        };
        assert_eq!(text(2, 40, true), "│  └─ ");
        assert_eq!(text(2, 40, false), "|  `- ");
        assert_eq!(text(9, 40, true), "│ │ │ │ │ │ │ │ └ ");
        assert_eq!(text(15, 40, true), "││││││││││││││└");
        assert_eq!(text(100, 20, true), "…││││││││└");
        assert_eq!(Guides::new(5, 40, &style(true)).text(&[]), "");
    }
}
