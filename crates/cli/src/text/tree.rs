//! [`TextTree`]: a tree as text, numbers first.

use std::io::{self, Write};

use parallax_wire::{Cell, Cells, Table};

use super::Style;
use super::columns::{GAP, Show, ShownColumn, columns_width, fit, named, shown_columns};
use super::fit::{pad, printable, shorten, width_of};
use super::guides::{Guides, has_later_sibling};
use super::numbers::count;
use super::style::Role;
use super::table::{push_cells, rows_shown, write_rest};

/// Labels keep this much of the line; numbers are omitted instead.
const MIN_LABEL_WIDTH: usize = 24;
/// A chain of fewer nodes than this is not worth a line that says so.
const MIN_FOLDED: usize = 3;
/// A node that keeps this share of its parent's cost adds nothing to the story.
const FOLD_SHARE: f64 = 0.99;

/// A view of a table as a tree: rows in depth-first order, of which one column says how deep each
/// is and one how it is called.
///
/// ```text
/// time (s)  share (%)           context
///    12.35     100.0 ████████  ► main
///    12.00      97.2 ███████▊  ├─ ► solve  solver.c:120
///     0.35       2.8 ▎         └─ setup
/// ```
///
/// Numbers come first, so that they stay aligned however deep the tree is.
pub(crate) struct TextTree<'a> {
    table: &'a Table,
    depth: String,
    label: String,
    title: Option<String>,
    names: Vec<String>,
    shows: Vec<(String, Show)>,
    heads: Vec<(String, String)>,
    detail: Option<String>,
    cost: Option<String>,
    hot: Vec<usize>,
    is_folded: bool,
}

/// A line of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Item {
    /// The row that it shows, or the first of those that it stands for.
    row: usize,
    /// How many rows it stands for, when it stands for a chain.
    folded: usize,
    depth: usize,
    /// Which item it is below.
    parent: Option<usize>,
}

impl<'a> TextTree<'a> {
    /// The tree of `table`, whose rows are in depth-first order: column `depth` has the distance
    /// from the root and column `label` the text.
    pub(crate) fn new(table: &'a Table, depth: &str, label: &str) -> Self {
        Self {
            table,
            depth: depth.to_owned(),
            label: label.to_owned(),
            title: None,
            names: Vec::new(),
            shows: Vec::new(),
            heads: Vec::new(),
            detail: None,
            cost: None,
            hot: Vec::new(),
            is_folded: false,
        }
    }

    /// A line above the tree.
    pub(crate) fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// The columns of numbers, in this order.
    pub(crate) fn columns(mut self, names: &[&str]) -> Self {
        self.names = names.iter().map(|&name| name.to_owned()).collect();
        self
    }

    /// Shows the column called `name` in a certain way.
    pub(crate) fn show(mut self, name: &str, show: Show) -> Self {
        self.shows.push((name.to_owned(), show));
        self
    }

    /// Puts `head` above the column called `name`, instead of its name.
    pub(crate) fn head(mut self, name: &str, head: impl Into<String>) -> Self {
        self.heads.push((name.to_owned(), head.into()));
        self
    }

    /// A column of text that follows the label where there is room, such as the place in a file.
    pub(crate) fn detail(mut self, name: &str) -> Self {
        self.detail = Some(name.to_owned());
        self
    }

    /// The column of numbers that says what matters. When not all rows may be shown, those with
    /// the largest values are, with all that is above them; without it the first are.
    pub(crate) fn cost(mut self, name: &str) -> Self {
        self.cost = Some(name.to_owned());
        self
    }

    /// Marks these rows: the hot path.
    pub(crate) fn hot_rows(mut self, rows: impl IntoIterator<Item = usize>) -> Self {
        self.hot = rows.into_iter().collect();
        self.hot.sort_unstable();
        self
    }

    /// Shows one line for the middle of a chain of nodes that have one child each, when the child
    /// has nearly all of the cost.
    pub(crate) fn fold_chains(mut self) -> Self {
        self.is_folded = true;
        self
    }

    /// The text as one string.
    ///
    /// # Errors
    ///
    /// As [`Self::write`], except that writing cannot fail.
    #[cfg(test)]
    pub(crate) fn render(&self, style: &Style) -> io::Result<String> {
        let mut out = Vec::new();
        self.write(style, &mut out)?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }

    /// Writes the text.
    ///
    /// # Errors
    ///
    /// When `out` fails, when a named column is missing ([`io::ErrorKind::InvalidInput`]), or when
    /// the table has columns that answers do not carry ([`io::ErrorKind::InvalidData`]).
    pub(crate) fn write(&self, style: &Style, out: &mut dyn Write) -> io::Result<()> {
        if let Some(title) = &self.title {
            let title = printable(title);
            writeln!(out, "{}\n", style.paint(Role::Head, &title))?;
        }
        let all = self.items()?;
        let items = self.selected(&all, rows_shown(all.len(), style))?;
        let rows = items.iter().map(|item| item.row);
        let names = Some(self.names.as_slice());
        let mut columns = shown_columns(self.table, names, &self.shows, &self.heads, &rows, style)?;
        let left_out = fit(&mut columns, style.width.saturating_sub(GAP + MIN_LABEL_WIDTH).max(1));
        self.write_items(&items, &columns, style, out)?;
        if all.is_empty() {
            writeln!(out, "{}", style.paint(Role::Secondary, "(no rows)"))?;
        }
        write_rest(out, num_rows(&all) - num_rows(&items), "", style)?;
        if !left_out.is_empty() {
            let note = format!(
                "Columns omitted (narrow terminal): {}; --width or --format csv shows them",
                left_out.join(", ")
            );
            writeln!(out, "{}", style.paint(Role::Secondary, &note))?;
        }
        Ok(())
    }

    fn write_items(
        &self,
        items: &[Item],
        columns: &[ShownColumn<'_>],
        style: &Style,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let labels = Cells::of(named(self.table, &self.label)?)?;
        let details = match &self.detail {
            Some(name) => Some(Cells::of(named(self.table, name)?)?),
            None => None,
        };
        let numbers = columns_width(columns) + if columns.is_empty() { 0 } else { GAP };
        let label_width = style.width.saturating_sub(numbers).max(1);
        let depths: Vec<usize> = items.iter().map(|item| item.depth).collect();
        let later = has_later_sibling(&depths);
        let max_depth = depths.iter().copied().max().unwrap_or_default();
        let guides = Guides::new(max_depth, label_width, style);

        let mut line = String::new();
        push_cells(&mut line, columns, |column, line| column.push_head(line, style));
        if !columns.is_empty() {
            pad(&mut line, GAP);
        }
        let head = self.heads.iter().rfind(|(name, _)| *name == self.label);
        let head = head.map_or_else(|| self.label.replace('_', " "), |(_, head)| head.clone());
        line.push_str(&style.paint(Role::Head, &shorten(&head, label_width, style)));
        writeln!(out, "{}", line.trim_end())?;

        // Whether each ancestor of the current item, roots omitted, has a sibling below it.
        let mut more: Vec<bool> = Vec::new();
        for (item, has_later) in items.iter().zip(later) {
            more.truncate(item.depth.saturating_sub(1));
            if item.depth > 0 {
                more.push(has_later);
            }
            line.clear();
            push_cells(&mut line, columns, |column, line| {
                if item.folded > 0 {
                    column.push_blank(line);
                } else {
                    column.push_cell(line, item.row, Role::Plain, style);
                }
            });
            if !columns.is_empty() {
                pad(&mut line, GAP);
            }
            let lead = guides.text(&more);
            line.push_str(&style.paint(Role::Secondary, &lead));
            let room = label_width.saturating_sub(width_of(&lead));
            if item.folded > 0 {
                self.push_fold(&mut line, item, room, style);
            } else {
                let detail = details.as_ref().map(|details| details.get(item.row));
                self.push_label(&mut line, item.row, labels.get(item.row), detail, room, style);
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    fn push_label(
        &self,
        line: &mut String,
        row: usize,
        label: Cell<'_>,
        detail: Option<Cell<'_>>,
        room: usize,
        style: &Style,
    ) {
        let is_hot = self.hot.binary_search(&row).is_ok();
        let mark = if !is_hot {
            ""
        } else if style.is_unicode {
            "► "
        } else {
            "> "
        };
        let role = if is_hot { Role::Hot } else { Role::Plain };
        let room = room.saturating_sub(width_of(mark));
        let label = text_of(label, style);
        let label = shorten(&label, room, style);
        line.push_str(&style.paint(role, &format!("{mark}{label}")));
        let left = room.saturating_sub(width_of(&label) + GAP);
        let detail = match detail {
            Some(Cell::Text(text)) if !text.is_empty() => printable(text),
            _ => return,
        };
        let detail = shorten(&detail, left, style);
        // A place that is cut to a few letters says nothing.
        if left >= 12 || width_of(&detail) < left {
            pad(line, GAP);
            line.push_str(&style.paint(Role::Secondary, &detail));
        }
    }

    fn push_fold(&self, line: &mut String, item: &Item, room: usize, style: &Style) {
        let is_hot = (item.row..item.row + item.folded).all(|r| self.hot.binary_search(&r).is_ok());
        let mark = match (is_hot, style.is_unicode) {
            (true, true) => "► ⋯ ",
            (true, false) => "> ... ",
            (false, true) => "⋯ ",
            (false, false) => "... ",
        };
        let number = count(u64::try_from(item.folded).unwrap_or(u64::MAX));
        let text = format!("{mark}{number} levels with one child each");
        line.push_str(&style.paint(Role::Secondary, &shorten(&text, room, style)));
    }

    /// All rows as items. Depths that jump are taken as one level down, and an item knows its
    /// parent.
    fn items(&self) -> io::Result<Vec<Item>> {
        let depths = Cells::of(named(self.table, &self.depth)?)?;
        let costs = self.costs()?;
        let mut items: Vec<Item> = Vec::with_capacity(self.table.num_rows());
        let mut path: Vec<usize> = Vec::new();
        for row in 0..self.table.num_rows() {
            let told = depths.get(row).as_f64().unwrap_or(0.0);
            // Casts of doubles saturate, so odd depths are merely deep or at the root.
            let depth = (told as usize).min(path.len());
            path.truncate(depth);
            items.push(Item { row, folded: 0, depth, parent: path.last().copied() });
            path.push(row);
        }
        if !self.is_folded {
            return Ok(items);
        }
        Ok(folded(&items, |parent, child| match &costs {
            None => true,
            Some(costs) => {
                let of = |row: usize| costs.get(row).as_f64().unwrap_or(0.0);
                of(child) >= of(parent) * FOLD_SHARE
            }
        }))
    }

    /// The `limit` items that cost most, with all that is above them, in their order.
    fn selected(&self, items: &[Item], limit: usize) -> io::Result<Vec<Item>> {
        let costs = self.costs()?;
        let Some(costs) = costs.filter(|_| items.len() > limit) else {
            return Ok(items.iter().take(limit).copied().collect());
        };
        let mut by_cost: Vec<(usize, f64)> = items
            .iter()
            .map(|item| costs.get(item.row).as_f64().filter(|cost| !cost.is_nan()))
            .map(|cost| cost.unwrap_or(f64::NEG_INFINITY))
            .enumerate()
            .collect();
        by_cost.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut is_kept = vec![false; items.len()];
        let mut left = limit;
        for (idx, _) in by_cost {
            // What costs most below a cheap parent would otherwise hang in the air.
            let mut missing = Vec::new();
            let mut current = Some(idx);
            while let Some(at) = current.filter(|&at| is_kept.get(at) == Some(&false)) {
                missing.push(at);
                current = items.get(at).and_then(|item| item.parent);
            }
            if missing.len() > left {
                break;
            }
            left -= missing.len();
            for at in missing {
                if let Some(kept) = is_kept.get_mut(at) {
                    *kept = true;
                }
            }
        }
        Ok(items.iter().zip(is_kept).filter(|(_, kept)| *kept).map(|(item, _)| *item).collect())
    }

    fn costs(&self) -> io::Result<Option<Cells<'a>>> {
        match &self.cost {
            Some(name) => Ok(Some(Cells::of(named(self.table, name)?)?)),
            None => Ok(None),
        }
    }
}

/// Replaces the middle of each chain of only children by one item. `is_alike(parent, child)` says
/// whether two rows belong to one chain.
fn folded(items: &[Item], is_alike: impl Fn(usize, usize) -> bool) -> Vec<Item> {
    let mut num_children = vec![0usize; items.len()];
    for parent in items.iter().filter_map(|item| item.parent) {
        if let Some(number) = num_children.get_mut(parent) {
            *number += 1;
        }
    }
    // A row continues the chain of the row before it.
    let continues = |row: usize| {
        let parent = items.get(row).and_then(|item| item.parent);
        parent.is_some_and(|parent| num_children.get(parent) == Some(&1) && is_alike(parent, row))
    };
    let mut kept: Vec<Item> = Vec::with_capacity(items.len());
    // For each open row, where it went.
    let mut place_of = vec![0usize; items.len()];
    let mut row = 0;
    while let Some(item) = items.get(row) {
        let parent = item.parent.and_then(|parent| place_of.get(parent)).copied();
        let depth_below = |kept: &[Item], parent: Option<usize>| {
            parent.and_then(|parent| kept.get(parent)).map_or(0, |parent| parent.depth + 1)
        };
        let depth = depth_below(&kept, parent);
        let place = kept.len();
        kept.push(Item { depth, parent, ..*item });
        if let Some(at) = place_of.get_mut(row) {
            *at = place;
        }
        let end = (row + 1..items.len()).find(|&next| !continues(next)).unwrap_or(items.len());
        // The first and the last of the chain are shown.
        let middle = end.saturating_sub(row + 2);
        if middle >= MIN_FOLDED {
            let fold = Item { row: row + 1, folded: middle, depth: depth + 1, parent: Some(place) };
            kept.push(fold);
            // The last one hangs below the line that stands for the middle.
            if let Some(at) = place_of.get_mut(end - 2) {
                *at = place + 1;
            }
            row = end - 1;
        } else {
            row += 1;
        }
    }
    kept
}

/// How many rows of the table the items stand for.
fn num_rows(items: &[Item]) -> usize {
    items.iter().map(|item| item.folded.max(1)).sum()
}

fn text_of(cell: Cell<'_>, style: &Style) -> String {
    match cell {
        Cell::Text(text) => printable(text).into_owned(),
        Cell::Unsigned(value) => value.to_string(),
        Cell::Signed(value) => value.to_string(),
        Cell::Float(value) => value.to_string(),
        Cell::Bool(value) => value.to_string(),
        Cell::Null => style.nothing().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use parallax_wire::Column;

    use super::*;

    fn style(width: usize) -> Style {
        Style { width, rows: Some(30), is_colour: false, is_unicode: true }
    }

    /// Reads a drawing: one node per line, indented by two, with its cost and place.
    fn drawn(text: &str) -> Table {
        let mut columns = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for line in text.lines() {
            let depth = (line.len() - line.trim_start().len()) / 2;
            let mut words = line.split_whitespace();
            columns.0.push(u32::try_from(depth).unwrap());
            columns.1.push(words.next().unwrap().to_owned());
            let cost: f64 = words.next().unwrap().parse().unwrap();
            columns.2.push(cost);
            columns.3.push(cost);
            columns.4.push(words.next().map(str::to_owned));
        }
        Table::new(vec![
            Column::u32s("depth", "Depth.", columns.0),
            Column::strings("context", "Label.", columns.1),
            Column::f64s("time", "s", "Inclusive.", columns.2),
            Column::f64s("share", "%", "Of all.", columns.3),
            Column::optional_strings("place", "File and line.", columns.4),
        ])
    }

    const AMG: &str = "\
main 100 amg.c:12
  solve 90.5 solver.c:120
    hypre_BoomerAMGCycle 80 cycle.c:1
      hypre_BoomerAMGRelaxHybridGaussSeidelOrderedTwoStage 70 /usr/src/amg/parcsr_ls/par_relax.c:4711
      MPI_Waitall 10
    setup 3.125
  finish 0.001 amg.c:99
helper_thread 1";

    fn tree(table: &Table) -> TextTree<'_> {
        TextTree::new(table, "depth", "context")
            .columns(&["time", "share"])
            .cost("time")
            .detail("place")
    }

    #[test]
    fn numbers_come_first_and_labels_are_indented() {
        let table = drawn(AMG);
        let text = tree(&table).hot_rows([0, 1, 2, 3]).render(&style(80)).unwrap();
        assert_eq!(
            text,
            "\
time (s)  share (%)           context
   100.0      100.0 ████████  ► main  amg.c:12
    90.5       90.5 ███████▎  ├─ ► solve  solver.c:120
    80.0       80.0 ██████▍   │  ├─ ► hypre_BoomerAMGCycle  cycle.c:1
    70.0       70.0 █████▋    │  │  ├─ ► hypre_BoomerAMGRela…idelOrderedTwoStage
    10.0       10.0 ▊         │  │  └─ MPI_Waitall
     3.1        3.1 ▎         │  └─ setup
     0.0        0.0           └─ finish  amg.c:99
     1.0        1.0 ▏         helper_thread
"
        );
    }

    #[test]
    fn a_wide_terminal_shows_places_in_full() {
        let table = drawn(AMG);
        let text = tree(&table).title("Time of amg").render(&style(200)).unwrap();
        let line = text.lines().nth(6).unwrap();
        assert_eq!(
            line,
            "    70.0       70.0 █████▋    │  │  ├─ hypre_BoomerAMGRelaxHybridGaussSeidelOrderedTwoStage  \
             /usr/src/amg/parcsr_ls/par_relax.c:4711"
        );
        assert!(text.starts_with("Time of amg\n\ntime (s)"));
    }

    #[test]
    fn ascii_trees_have_ascii_guides() {
        let table = drawn("a 2\n  b 1\n    c 1\n  d 1");
        let ascii = Style { is_unicode: false, ..style(80) };
        let text = TextTree::new(&table, "depth", "context")
            .columns(&["time"])
            .hot_rows([0, 1])
            .render(&ascii)
            .unwrap();
        assert_eq!(
            text,
            "\
time (s)  context
       2  > a
       1  |- > b
       1  |  `- c
       1  `- d
"
        );
    }

    #[test]
    fn the_rows_that_cost_most_stay_with_their_ancestors() {
        let table = drawn("a 9\n  b 1\n    c 8\n  d 5\n    e 4\nf 2\ng 3");
        let short = Style { rows: Some(5), ..style(80) };
        let text = tree(&table).columns(&["time"]).render(&short).unwrap();
        assert_eq!(
            text,
            "\
time (s)  context
       9  a
       1  ├─ b
       8  │  └─ c
       5  └─ d
       4     └─ e
… 2 more; --all shows them
"
        );
    }

    #[test]
    fn chains_of_only_children_fold() {
        let table = drawn(
            "root 10\n  a 10\n    b 10\n      c 10\n        d 10\n          e 10\n            f 6\n            g 4\n  z 0",
        );
        let text = tree(&table)
            .columns(&["time"])
            .fold_chains()
            .hot_rows(0..6)
            .render(&style(80))
            .unwrap();
        assert_eq!(
            text,
            "\
time (s)  context
      10  ► root
      10  ├─ ► a
          │  └─ ► ⋯ 3 levels with one child each
      10  │     └─ ► e
       6  │        ├─ f
       4  │        └─ g
       0  └─ z
"
        );
        // A node that spends time of its own is part of the story.
        let table = drawn("root 10\n  a 10\n    b 8\n      c 6\n        d 4\n          e 2");
        let text = tree(&table).columns(&["time"]).fold_chains().render(&style(80)).unwrap();
        assert_eq!(text.lines().count(), 7);
    }

    #[test]
    fn deep_trees_keep_their_numbers_aligned() {
        let depths: Vec<u32> = (0..200).collect();
        let names: Vec<String> = depths.iter().map(|depth| format!("f{depth}")).collect();
        let table = Table::new(vec![
            Column::u32s("depth", "Depth.", depths),
            Column::strings("context", "Label.", names),
            Column::f64s("time", "s", "Time.", vec![1.5; 200]),
        ]);
        let all = Style { rows: None, ..style(60) };
        let tree = TextTree::new(&table, "depth", "context").columns(&["time"]);
        let text = tree.render(&all).unwrap();
        assert_eq!(text.lines().count(), 201);
        for line in text.lines() {
            assert!(width_of(line) <= 60, "{line}");
        }
        assert!(text.lines().skip(1).all(|line| line.starts_with("   1.500  ")));
        assert!(text.trim_end().ends_with("└f199"));
    }

    #[test]
    fn depths_that_jump_and_empty_trees_are_drawn_all_the_same() {
        let table = Table::new(vec![
            Column::u32s("depth", "Depth.", vec![7, 9, u32::MAX, 1, 0]),
            Column::strings("context", "Label.", ["a", "b", "c\n", "d", ""]),
        ]);
        let text = TextTree::new(&table, "depth", "context").render(&style(80)).unwrap();
        assert_eq!(text, "context\na\n├─ b\n│  └─ c\\n\n└─ d\n\n");
        let table = drawn("");
        let text = tree(&table).render(&style(80)).unwrap();
        assert!(text.ends_with("(no rows)\n"), "{text}");
    }
}
