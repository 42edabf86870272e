//! What the terminal shows: tables, trees, small charts, facts and notices.
//!
//! Everything takes an explicit [`Style`], so the same answer gives the same text everywhere. On a
//! terminal, text fits its width and about its height, and is coloured. Elsewhere (pipes, files)
//! lines have at most 200 columns, or `COLUMNS` where that is set, and no colours; the number of
//! rows of a pipe is limited in the same way, so that it shows what the user saw. `--all` lifts the
//! limit of rows; files and other formats are never cut.

mod advice;
mod blocks;
mod chart;
mod columns;
mod fit;
mod guides;
mod numbers;
mod style;
mod table;
mod tree;

pub(crate) use advice::with_options;
pub(crate) use blocks::{KeyValues, Level, Notice, wrapped};
pub(crate) use chart::sparkline;
pub(crate) use columns::Show;
pub(crate) use fit::{printable, width_of};
pub(crate) use numbers::{bytes, count, duration, quantity};
pub(crate) use style::{ColourChoice, Role, Rows, Style};
pub(crate) use table::TextTable;
pub(crate) use tree::TextTree;
