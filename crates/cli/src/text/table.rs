//! [`TextTable`]: a table as text.

use std::io::{self, Write};

use parallax_wire::Table;

use super::Style;
use super::columns::{GAP, Show, ShownColumn, columns_width, fit, shown_columns};
use super::fit::{list_lines, pad, printable, word_lines};
use super::numbers::count;
use super::style::Role;

/// A view of a table as text.
///
/// ```text
/// Functions by exclusive time
///
/// function                 time (s)  share (%)           calls
/// hypre_CSRMatrixMatvec       12.35      61.7 ████▉      1,200
/// …
/// … 1,234 more; --all shows them
/// ```
///
/// Only the cells that are shown are made into text.
pub(crate) struct TextTable<'a> {
    table: &'a Table,
    title: Option<String>,
    names: Option<Vec<String>>,
    shows: Vec<(String, Show)>,
    heads: Vec<(String, String)>,
    below: Option<(String, Below)>,
}

/// What a column that stands below its rows has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Below {
    /// Items with commas between, of which every name stays readable.
    List,
    /// Sentences, of which nothing is taken away.
    Sentences,
}

impl<'a> TextTable<'a> {
    /// All columns of `table`, each as suits its type and unit.
    pub(crate) fn new(table: &'a Table) -> Self {
        Self { table, title: None, names: None, shows: Vec::new(), heads: Vec::new(), below: None }
    }

    /// A line above the table.
    pub(crate) fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Shows only these columns, in this order.
    pub(crate) fn columns(mut self, names: &[&str]) -> Self {
        self.names = Some(names.iter().map(|&name| name.to_owned()).collect());
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

    /// Where the table is too wide, the column called `name` goes below its row: a list such as
    /// `grid=[8, 1, 1], stream=7`, of which every name stays readable.
    pub(crate) fn below(mut self, name: &str) -> Self {
        self.below = Some((name.to_owned(), Below::List));
        self
    }

    /// Where the table is too wide, the column called `name` goes below its row, and its sentences
    /// are broken between words.
    pub(crate) fn sentences_below(mut self, name: &str) -> Self {
        self.below = Some((name.to_owned(), Below::Sentences));
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
        let total = self.table.num_rows();
        let shown = rows_shown(total, style);
        let names = self.names.as_deref();
        let mut columns =
            shown_columns(self.table, names, &self.shows, &self.heads, &(0..shown), style)?;
        let is_wide = columns_width(&columns) > style.width;
        let below = self.below.as_ref().filter(|_| is_wide);
        let below = below.and_then(|(name, what)| {
            Some((columns.iter().position(|column| column.is(name))?, *what))
        });
        let below = below.map(|(place, what)| (columns.remove(place), what));
        let left_out = fit(&mut columns, style.width);
        columns.iter_mut().for_each(|column| column.tell_apart(0..shown, style));

        let mut line = String::new();
        push_cells(&mut line, &columns, |column, line| column.push_head(line, style));
        writeln!(out, "{}", line.trim_end())?;
        for row in 0..shown {
            line.clear();
            push_cells(&mut line, &columns, |column, line| {
                column.push_cell(line, row, Role::Plain, style);
            });
            writeln!(out, "{}", line.trim_end())?;
            let text =
                below.as_ref().and_then(|(column, what)| Some((column.text(row, style)?, *what)));
            let room = style.width.saturating_sub(INDENT);
            let lines = text.map_or_else(Vec::new, |(text, what)| match what {
                Below::List => list_lines(&text, room, style),
                Below::Sentences => word_lines(&text, room),
            });
            for line in lines {
                writeln!(out, "{:INDENT$}{}", "", style.paint(Role::Secondary, &line))?;
            }
        }
        if total == 0 {
            writeln!(out, "{}", style.paint(Role::Secondary, "(no rows)"))?;
        }
        write_rest(out, total - shown, "", style)?;
        if !left_out.is_empty() {
            let note = format!(
                "Columns omitted (narrow terminal): {}; --width or --format csv shows them",
                left_out.join(", ")
            );
            writeln!(out, "{}", style.paint(Role::Secondary, &note))?;
        }
        Ok(())
    }
}

/// Columns before what stands below a row.
const INDENT: usize = 4;

/// How many of `total` rows are shown. A last line that says "1 more" would take the place of that
/// one, so it is shown.
pub(crate) fn rows_shown(total: usize, style: &Style) -> usize {
    match style.rows {
        Some(limit) if total > limit.saturating_add(1) => limit,
        _ => total,
    }
}

/// Says how many rows are not shown, if any.
pub(crate) fn write_rest(
    out: &mut dyn Write,
    rest: usize,
    what: &str,
    style: &Style,
) -> io::Result<()> {
    if rest == 0 {
        return Ok(());
    }
    let number = count(u64::try_from(rest).unwrap_or(u64::MAX));
    let text = format!("{} {number} more{what}; --all shows them", style.ellipsis());
    writeln!(out, "{}", style.paint(Role::Secondary, &text))
}

/// Appends one cell of each column, with gaps between.
pub(crate) fn push_cells(
    line: &mut String,
    columns: &[ShownColumn<'_>],
    mut push: impl FnMut(&ShownColumn<'_>, &mut String),
) {
    line.reserve(columns_width(columns));
    for (idx, column) in columns.iter().enumerate() {
        if idx > 0 {
            pad(line, GAP);
        }
        push(column, line);
    }
}

#[cfg(test)]
mod tests {
    use parallax_wire::Column;

    use super::*;

    fn style(width: usize) -> Style {
        Style { width, rows: Some(30), is_colour: false, is_unicode: true }
    }

    fn flat() -> Table {
        let names = [
            "hypre_CSRMatrixMatvec",
            "hypre::Solver<double, std::vector<int, std::allocator<int>>>::apply(int, int)",
            "MPI_Waitall",
            "größer_日本",
        ];
        Table::new(vec![
            Column::strings("function", "Name.", names),
            Column::f64s("time", "s", "Exclusive.", vec![12.3456, 6.1, 0.004, 0.0]),
            Column::f64s("share", "%", "Of all.", vec![66.9, 33.05, 0.02, 0.0]),
            Column::optional_f64s(
                "ratio",
                "",
                "Max/mean.",
                vec![Some(1.25), None, Some(1.0), None],
            ),
            Column::u64s("calls", "", "Calls.", vec![1_234_567, 12, 0, 3]),
        ])
    }

    #[test]
    fn a_wide_terminal_shows_everything() {
        let text = TextTable::new(&flat()).title("Functions by time").render(&style(200)).unwrap();
        assert_eq!(
            text,
            "\
Functions by time

function                                                                       time (s)  share (%)           ratio      calls
hypre_CSRMatrixMatvec                                                             12.35       66.9 █████▍    1.250  1,234,567
hypre::Solver<double, std::vector<int, std::allocator<int>>>::apply(int, int)      6.10       33.0 ██▋           –         12
MPI_Waitall                                                                        0.00        0.0           1.000          0
größer_日本                                                                           0          0               –          3
"
        );
    }

    #[test]
    fn eighty_columns_shorten_names() {
        let text = TextTable::new(&flat()).render(&style(80)).unwrap();
        assert_eq!(
            text,
            "\
function                          time (s)  share (%)           ratio      calls
hypre_CSRMatrixMatvec                12.35       66.9 █████▍    1.250  1,234,567
hypre::Solver<…>::apply(…)            6.10       33.0 ██▋           –         12
MPI_Waitall                           0.00        0.0           1.000          0
größer_日本                              0          0               –          3
"
        );
    }

    #[test]
    fn ascii_needs_no_blocks() {
        let ascii = Style { is_unicode: false, ..style(80) };
        let text = TextTable::new(&flat()).columns(&["share", "function"]).render(&ascii).unwrap();
        assert_eq!(
            text,
            "\
share (%)           function
     66.9 #####     hypre_CSRMatrixMatvec
     33.0 ###       hypre::Solver<...>::apply(int, int)
      0.0           MPI_Waitall
        0           größer_日本
"
        );
    }

    #[test]
    fn rows_that_are_not_shown_are_counted() {
        let table = Table::new(vec![Column::u32s("context_id", "Id.", (0..2000).collect())]);
        let short = Style { rows: Some(2), ..style(80) };
        let text = TextTable::new(&table).render(&short).unwrap();
        assert_eq!(text, "context id\n         0\n         1\n… 1,998 more; --all shows them\n");
        let all = Style { rows: None, ..short };
        assert_eq!(TextTable::new(&table).render(&all).unwrap().lines().count(), 2001);
    }

    #[test]
    fn one_row_too_many_is_shown_instead_of_counted() {
        let table = Table::new(vec![Column::u32s("rank", "Rank.", vec![7, 8, 9])]);
        let text = TextTable::new(&table).render(&Style { rows: Some(2), ..style(80) }).unwrap();
        assert_eq!(text, "rank\n   7\n   8\n   9\n");
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let mut columns = vec![Column::strings("context", "Label.", ["a_long_name_of_a_function"])];
        for name in ["one", "two", "three", "four"] {
            columns.push(Column::u64s(name, "", "Count.", vec![123_456_789]));
        }
        let table = Table::new(columns);
        let text = TextTable::new(&table).render(&style(51)).unwrap();
        assert_eq!(
            text,
            "\
context               one          two        three
a_long…ction  123,456,789  123,456,789  123,456,789
Columns omitted (narrow terminal): four; --width or --format csv shows them
"
        );
    }

    #[test]
    fn sentences_are_broken_below_their_row_where_they_do_not_fit() {
        let table = Table::new(vec![
            Column::strings("name", "Name.", ["grid.c:5"]),
            Column::strings(
                "verdict",
                "Words.",
                ["It scales up to 2 cores (of 4). It does not lose."],
            ),
        ]);
        let table = TextTable::new(&table).sentences_below("verdict");
        let narrow = "name\ngrid.c:5\n    It scales up to 2 cores (of 4).\n    It does not lose.\n";
        assert_eq!(table.render(&style(36)).unwrap(), narrow);
        assert!(table.render(&style(80)).unwrap().starts_with("name      verdict\n"));
    }

    #[test]
    fn columns_that_are_compared_share_a_unit() {
        let table = Table::new(vec![
            Column::f64s("incl", "s", "Inclusive.", vec![2.979, 1.0]),
            Column::f64s("excl", "s", "Exclusive.", vec![0.2, 0.0]),
            Column::f64s("per_call", "s", "For one call.", vec![2e-6, 1e-6]),
        ]);
        let text = TextTable::new(&table).render(&style(80)).unwrap();
        assert_eq!(
            text,
            "\
incl (s)  excl (s)  per call (µs)
   2.979     0.200          2.000
   1.000         0          1.000
"
        );
    }

    #[test]
    fn trace_times_are_exact_and_ids_are_plain() {
        let table = Table::new(vec![
            Column::u32s("context_id", "Id.", vec![97_833]),
            Column::u64s("start_ns", "ns", "Start.", vec![1_660_000_000_123_456_789]),
            Column::u64s("size", "B", "Size.", vec![3_200_000_000]),
        ]);
        let text = TextTable::new(&table).render(&style(80)).unwrap();
        assert_eq!(
            text,
            "\
context id                 start (ns)  size (GB)
     97833  1,660,000,000,123,456,789      3.200
"
        );
    }

    #[test]
    fn colours_do_not_change_the_layout() {
        let colour = Style { is_colour: true, ..style(80) };
        let text = TextTable::new(&flat()).title("T").render(&colour).unwrap();
        assert!(text.starts_with("\x1b[1mT\x1b[0m\n\n\x1b[1mfunction\x1b[0m"), "{text:?}");
        let mut plain = String::new();
        for (idx, part) in text.split('\x1b').enumerate() {
            plain.push_str(if idx == 0 { part } else { part.split_once('m').unwrap().1 });
        }
        let plain: Vec<&str> = plain.lines().map(str::trim_end).collect();
        let expected = TextTable::new(&flat()).title("T").render(&style(80)).unwrap();
        assert_eq!(plain, expected.lines().collect::<Vec<_>>());
    }

    #[test]
    fn an_empty_answer_says_so() {
        let table = Table::new(vec![Column::f64s("time", "s", "Time.", vec![])]);
        let text = TextTable::new(&table).render(&style(80)).unwrap();
        assert_eq!(text, "time (s)\n(no rows)\n");
        let error = TextTable::new(&table).columns(&["cost"]).render(&style(80)).unwrap_err();
        assert_eq!(error.to_string(), "the answer has no column cost");
    }
}
