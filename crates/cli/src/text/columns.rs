//! [`ShownColumn`]: a column of a table as text, the same in tables and trees.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;

use parallax_wire::{Cell, Cells, Column, ColumnType, Table};

use super::Style;
use super::fit::{pad, printable, shorten, shorten_apart, width_of};
use super::numbers::{Extent, Scale, count, in_style};
use super::style::Role;

/// Columns that a bar of 100% takes.
const BAR_WIDTH: usize = 8;
/// A name is not made shorter than this while anything else can give way.
const NAME_WIDTH: usize = 20;
/// A name is not made shorter than this; columns are omitted instead.
const MIN_NAME_WIDTH: usize = 12;
/// A head is not made shorter than this, besides its unit.
const MIN_HEAD_WIDTH: usize = 6;
/// A column whose largest value is under this share of another one's has a scale of its own.
const SHARED_RANGE: f64 = 1e-2;
/// What separates columns.
pub(crate) const GAP: usize = 2;

/// How a column is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    /// Text that may be shortened, to the left.
    Name,
    /// Text that is shown in full, to the left.
    Text,
    /// A number that names something: no separators.
    Id,
    /// A whole number with thousands separated, exactly.
    Count,
    /// A number with four significant digits in one unit for the whole column.
    Quantity,
    /// A share in percent (100 is all) with one decimal.
    Percent,
    /// The same with a bar.
    PercentBar,
}

impl Show {
    /// What suits a column without a setting: names for texts, bars for percents,
    /// one unit for quantities, exact times of traces, plain ids.
    fn suited(column: &Column, column_type: ColumnType) -> Self {
        let name = column.name.as_str();
        match column_type {
            ColumnType::String | ColumnType::Bool => Self::Name,
            _ if column.unit == "%" => Self::PercentBar,
            ColumnType::F64 => Self::Quantity,
            _ if name.ends_with("_id") || IDS.contains(&name) => Self::Id,
            _ if column.unit.is_empty() || name.ends_with(&format!("_{}", column.unit)) => {
                Self::Count
            }
            _ => Self::Quantity,
        }
    }

    const fn is_left(self) -> bool {
        matches!(self, Self::Name | Self::Text)
    }
}

/// Whole numbers that name something, apart from those that end in `_id`.
const IDS: &[&str] = &["id", "rank", "thread", "node", "core", "line", "depth", "iteration"];

/// A column as text: what is in each cell, and how wide.
pub(crate) struct ShownColumn<'a> {
    name: &'a str,
    head: String,
    unit: String,
    show: Show,
    scale: Scale,
    cells: Cells<'a>,
    /// Columns that the widest cell takes, without its bar.
    cell_width: usize,
    bar_width: usize,
    /// Columns that it may take.
    width: usize,
    /// Names that are shortened otherwise, because another one would look the same; by row.
    told_apart: HashMap<usize, String>,
}

impl<'a> ShownColumn<'a> {
    /// `column` as the cells of `rows` need it; `scale` is for quantities only.
    fn new(
        column: &'a Column,
        head: Option<&str>,
        show: Show,
        scale: Option<Scale>,
        rows: impl Iterator<Item = usize>,
        style: &Style,
    ) -> io::Result<Self> {
        let cells = Cells::of(column)?;
        let unit = scale.as_ref().map_or(&column.unit, |scale| &scale.unit).clone();
        let unit = in_style(unit, style);
        let own_head = || {
            let words = column.name.strip_suffix(&format!("_{}", column.unit));
            words.unwrap_or(&column.name).replace('_', " ")
        };
        let head = printable(&head.map_or_else(own_head, str::to_owned)).into_owned();
        let mut shown = Self {
            name: &column.name,
            head,
            unit: printable(&unit).into_owned(),
            show,
            scale: scale.unwrap_or_else(Scale::percent),
            cells,
            cell_width: 0,
            bar_width: 0,
            width: 0,
            told_apart: HashMap::new(),
        };
        shown.cell_width =
            rows.map(|row| width_of(&shown.cell(row, style))).max().unwrap_or_default();
        shown.widen();
        Ok(shown)
    }

    /// Shortens names of `rows` that would look the same to what distinguishes them.
    pub(crate) fn tell_apart(&mut self, rows: impl Iterator<Item = usize>, style: &Style) {
        if self.show != Show::Name || self.cell_width <= self.width {
            return;
        }
        let full: Vec<(usize, Cow<'a, str>)> =
            rows.map(|row| (row, self.cell(row, style))).collect();
        let names: Vec<&str> = full.iter().map(|(_, name)| &**name).collect();
        let short = shorten_apart(&names, self.width, style);
        self.told_apart = full.iter().map(|(row, _)| *row).zip(short).collect();
    }

    /// Gives it all the room that it would like to have.
    fn widen(&mut self) {
        self.width = self.cell_width.max(self.head_width());
        self.bar_width = if self.show == Show::PercentBar { BAR_WIDTH } else { 0 };
    }

    /// Columns of the line that it takes.
    pub(crate) fn full_width(&self) -> usize {
        self.width + if self.bar_width > 0 { 1 + self.bar_width } else { 0 }
    }

    /// Appends the head: the name, and the unit in parentheses.
    pub(crate) fn push_head(&self, line: &mut String, style: &Style) {
        let unit = self.unit_in_head();
        let room = self.width.saturating_sub(width_of(&unit));
        let head = shorten(&self.head, room, style);
        let missing = self.width.saturating_sub(width_of(&head) + width_of(&unit));
        if !self.show.is_left() {
            pad(line, missing);
        }
        line.push_str(&style.paint(Role::Head, &head));
        line.push_str(&style.paint(Role::Secondary, &unit));
        if self.show.is_left() {
            pad(line, missing);
        }
        if self.bar_width > 0 {
            pad(line, 1 + self.bar_width);
        }
    }

    /// Appends the value of `row`.
    pub(crate) fn push_cell(&self, line: &mut String, row: usize, role: Role, style: &Style) {
        let full = self.cell(row, style);
        let apart = self.told_apart.get(&row).map(|text| Cow::Borrowed(text.as_str()));
        let text = apart.unwrap_or_else(|| shorten(&full, self.width, style));
        let missing = self.width.saturating_sub(width_of(&text));
        if !self.show.is_left() {
            pad(line, missing);
        }
        line.push_str(&style.paint(role, &text));
        if self.show.is_left() {
            pad(line, missing);
        }
        if self.bar_width > 0 {
            line.push(' ');
            let share = self.cells.get(row).as_f64().unwrap_or(0.0) / 100.0;
            let bar = bar(share, self.bar_width, style);
            line.push_str(&style.paint(Role::Bar, &bar));
            pad(line, self.bar_width.saturating_sub(width_of(&bar)));
        }
    }

    /// Appends as many spaces as a value takes.
    pub(crate) fn push_blank(&self, line: &mut String) {
        pad(line, self.full_width());
    }

    /// Whether it shows the column called `name`.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// The value of `row`, however long it is; none where there is none.
    pub(crate) fn text(&self, row: usize, style: &Style) -> Option<Cow<'a, str>> {
        let is_there = !matches!(self.cells.get(row), Cell::Null);
        is_there.then(|| self.cell(row, style))
    }

    fn head_width(&self) -> usize {
        width_of(&self.head) + width_of(&self.unit_in_head())
    }

    fn unit_in_head(&self) -> String {
        if self.unit.is_empty() { String::new() } else { format!(" ({})", self.unit) }
    }

    fn cell(&self, row: usize, style: &Style) -> Cow<'a, str> {
        let cell = self.cells.get(row);
        match (cell, self.show) {
            (Cell::Null, _) => Cow::Borrowed(style.nothing()),
            (Cell::Text(text), _) => printable(text),
            (Cell::Bool(value), _) => Cow::Borrowed(if value { "yes" } else { "no" }),
            (Cell::Unsigned(value), Show::Id | Show::Name | Show::Text) => {
                Cow::Owned(value.to_string())
            }
            (Cell::Signed(value), Show::Id | Show::Name | Show::Text) => {
                Cow::Owned(value.to_string())
            }
            (Cell::Unsigned(value), Show::Count) => Cow::Owned(count(value)),
            (Cell::Signed(value), Show::Count) => {
                let sign = if value < 0 { "-" } else { "" };
                Cow::Owned(format!("{sign}{}", count(value.unsigned_abs())))
            }
            (Cell::Float(value), Show::Id | Show::Name | Show::Text | Show::Count) => {
                Cow::Owned(value.to_string())
            }
            (cell, _) => {
                let number = self.scale.number(cell.as_f64().unwrap_or(f64::NAN));
                Cow::Owned(in_style(number, style))
            }
        }
    }
}

/// The columns of `table` called `names`, or all of them, as the cells of `rows` need them.
pub(crate) fn shown_columns<'a>(
    table: &'a Table,
    names: Option<&[String]>,
    shows: &[(String, Show)],
    heads: &[(String, String)],
    rows: &(impl Iterator<Item = usize> + Clone),
    style: &Style,
) -> io::Result<Vec<ShownColumn<'a>>> {
    let columns: Vec<&Column> = match names {
        None => table.columns.iter().collect(),
        Some(names) => {
            names.iter().map(|name| named(table, name)).collect::<io::Result<Vec<_>>>()?
        }
    };
    // Columns that are shown as quantities, with what decides their scale.
    let mut wanted = Vec::with_capacity(columns.len());
    for column in columns {
        let cells = Cells::of(column)?;
        let told = shows.iter().rfind(|(name, _)| *name == column.name).map(|&(_, show)| show);
        let show = told.unwrap_or_else(|| Show::suited(column, cells.column_type()));
        let extent = (show == Show::Quantity)
            .then(|| Extent::of(rows.clone().filter_map(|row| cells.get(row).as_f64())));
        wanted.push((column, show, extent));
    }
    let shown = wanted.iter().map(|&(column, show, extent)| {
        let head = heads.iter().rfind(|(name, _)| *name == column.name);
        let head = head.map(|(_, head)| head.as_str());
        let scale = extent.map(|extent| {
            let others = wanted.iter().filter(|(other, _, _)| other.unit == column.unit);
            let extent = shared_extent(&column.unit, extent, others.filter_map(|other| other.2));
            Scale::for_column(&column.unit, extent)
        });
        ShownColumn::new(column, head, show, scale, rows.clone(), style)
    });
    shown.collect()
}

/// What decides the scale of a column that stands next to `others` of its unit. Columns that are
/// compared with each other are in one unit, unless one would then show hardly any digits.
fn shared_extent(unit: &str, own: Extent, others: impl Iterator<Item = Extent>) -> Extent {
    // Counts and ratios have no unit in common.
    if unit.is_empty() {
        return own;
    }
    let all = others.fold(own, Extent::with);
    if own.max == 0.0 || own.max >= all.max * SHARED_RANGE { all } else { own }
}

/// The column called `name`; its absence is a defect of the command.
pub(crate) fn named<'a>(table: &'a Table, name: &str) -> io::Result<&'a Column> {
    table.column(name).ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidInput, format!("the answer has no column {name}"))
    })
}

/// Makes `columns` fit `width`: names give way first, then bars, then heads, then whole columns
/// from the right, of which the heads are returned. Names go last, because numbers without a name
/// say nothing.
pub(crate) fn fit(columns: &mut Vec<ShownColumn<'_>>, width: usize) -> Vec<String> {
    let mut left_out = Vec::new();
    loop {
        shrink_names(columns, width, NAME_WIDTH);
        let mut excess = columns_width(columns).saturating_sub(width);
        for column in columns.iter_mut().filter(|column| column.bar_width > 0) {
            if excess > 0 {
                excess = excess.saturating_sub(1 + column.bar_width);
                column.bar_width = 0;
            }
        }
        shrink_names(columns, width, MIN_NAME_WIDTH);
        let mut excess = columns_width(columns).saturating_sub(width);
        for column in columns.iter_mut().filter(|column| column.show != Show::Name) {
            let head =
                width_of(&column.head).min(MIN_HEAD_WIDTH) + width_of(&column.unit_in_head());
            let spare = column.width - column.cell_width.max(head).min(column.width);
            column.width -= spare.min(excess);
            excess -= spare.min(excess);
        }
        if columns_width(columns) <= width || columns.len() <= 1 {
            return left_out;
        }
        let last = columns.iter().rposition(|column| column.show != Show::Name);
        let gone = columns.remove(last.unwrap_or(columns.len() - 1));
        left_out.insert(0, gone.head);
        columns.iter_mut().for_each(ShownColumn::widen);
    }
}

/// Columns of a line that all `columns` take together, with the gaps.
pub(crate) fn columns_width(columns: &[ShownColumn<'_>]) -> usize {
    let gaps = GAP * columns.len().saturating_sub(1);
    columns.iter().map(ShownColumn::full_width).sum::<usize>() + gaps
}

/// Takes what is too much from the widest names first, down to `floor`.
fn shrink_names(columns: &mut [ShownColumn<'_>], width: usize, floor: usize) {
    let mut excess = columns_width(columns).saturating_sub(width);
    while excess > 0 {
        let names = columns.iter_mut().filter(|column| column.show == Show::Name);
        let Some(widest) = names.max_by_key(|column| column.width) else { return };
        if widest.width <= floor {
            return;
        }
        widest.width -= 1;
        excess -= 1;
    }
}

/// A bar for `share` of 1, at most `width` columns; shares above 1 fill it.
fn bar(share: f64, width: usize, style: &Style) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
    if !style.is_unicode {
        return "#".repeat((share * width as f64).round() as usize);
    }
    let eighths = (share * 8.0 * width as f64).round() as usize;
    let part = EIGHTHS.get(eighths % 8).copied().unwrap_or_default();
    "█".repeat(eighths / 8) + part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_grow_by_eighths() {
        let utf = Style { width: 80, rows: None, is_colour: false, is_unicode: true };
        let ascii = Style { is_unicode: false, ..utf };
        let cases = [
            (0.0, "", ""),
            (1.0 / 64.0, "▏", ""),
            (0.5, "████", "####"),
            (0.3, "██▍", "##"),
            (1.0, "████████", "########"),
            (7.0, "████████", "########"),
            (-1.0, "", ""),
            (f64::NAN, "", ""),
        ];
        for (share, blocks, signs) in cases {
            assert_eq!(bar(share, BAR_WIDTH, &utf), blocks);
            assert_eq!(bar(share, BAR_WIDTH, &ascii), signs);
        }
    }
}
