//! `advise`: what could have been executed in parallel.

use std::io::{self, Write};

use clap::Args;
use parallax_protocol::{AdviseBy, AdviseReply, AdviseRequest, Answer, AnswerTable as _, Table};
use parallax_service::Answers as _;
use parallax_wire::{Cell, Cells};

use super::Context;
use crate::args::Database;
use crate::choice::names;
use crate::text::{Role, Show, Style, TextTable, count, printable, quantity, wrapped};

const EXAMPLES: &str = "\
Examples:
  parallax advise prog.db                         parallelisable loops
  parallax advise prog.db --by reference --context 'function(solve)'
                                                  data shared by iterations
  parallax advise prog.db --by task --workers 8   concurrent calls on 8 workers
  parallax advise prog.db --by race               unordered accesses of threads

Results are valid for one run with one input; they are not a proof.";

/// What `advise` looks at.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AdviseArgs {
    #[command(flatten)]
    database: Database,
    /// Include only these contexts and their callees, such as 'function(solve)'.
    #[arg(long, short, value_name = "CONTEXTS", alias = "contexts")]
    context: Option<String>,
    /// Number of workers of the schedule.
    #[arg(long, short, value_name = "K", default_value_t = AdviseRequest::default().workers, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    workers: u32,
    /// Rows of the table.
    #[arg(long, value_parser = names::<AdviseBy>(), default_value_t)]
    by: AdviseBy,
}

pub(super) fn advise(context: &Context, arguments: AdviseArgs) -> anyhow::Result<()> {
    let opened = context.open(&arguments.database)?;
    let AdviseArgs { context: contexts, workers, by, .. } = arguments;
    let request = AdviseRequest { contexts, workers, by };
    let Answer { reply, tables, .. } = opened.answer(&request, &context.control)?;
    let rows = tables.rows.into_answer_table("");
    context.output.emit_with(&rows, |style, out| {
        let title = title(&reply, by, style);
        match by {
            AdviseBy::Loop => loops(&rows, &title, style, out),
            by => table(&rows, by, title, style, out),
        }
    })?;
    context.finish(&opened, &reply.notes);
    Ok(())
}

fn title(answer: &AdviseReply, by: AdviseBy, style: &Style) -> String {
    let run = format!(
        "work {}, span {}, parallelism {:.2}",
        quantity(answer.work_s, "s", style),
        quantity(answer.span_s, "s", style),
        answer.parallelism
    );
    match (by, &answer.tasks) {
        (AdviseBy::Loop, _) => format!("Loops, most work first ({run})"),
        (AdviseBy::Reference, _) => "Data that iterations share and write".to_owned(),
        (AdviseBy::Pair, _) => "Dependences between calls".to_owned(),
        (AdviseBy::Context, _) => format!("The run: {run}"),
        (AdviseBy::Task, Some(tasks)) => format!(
            "Tasks of {} on {} workers: {} instead of {}, speedup {:.2} (lower bound {})",
            tasks.parent,
            count(u64::from(tasks.workers)),
            quantity(tasks.parallel_s, "s", style),
            quantity(tasks.serial_s, "s", style),
            tasks.speedup,
            quantity(tasks.bound_s, "s", style),
        ),
        (AdviseBy::Task, None) => "Tasks".to_owned(),
        (AdviseBy::Race, _) => "Unordered accesses of several threads".to_owned(),
    }
}

/// Loops as a list: the reasons are sentences, for which columns have no room.
fn loops(table: &Table, title: &str, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}\n", style.paint(Role::Head, &printable(title)))?;
    let total = table.num_rows();
    if total == 0 {
        return writeln!(out, "{}", style.paint(Role::Secondary, "(no loops)"));
    }
    let shown = total.min(style.rows.map_or(total, |_| LOOPS));
    let cells = |name: &str| {
        let missing = || io::Error::new(io::ErrorKind::InvalidInput, format!("no column {name}"));
        Cells::of(table.column(name).ok_or_else(missing)?).map_err(io::Error::other)
    };
    let [verdict, path, because] = [cells("verdict")?, cells("loop")?, cells("because")?];
    let [work, share, saving] = [cells("work_s")?, cells("share_percent")?, cells("saving_s")?];
    let [iterations, executions] = [cells("iterations")?, cells("executions")?];
    let text = |of: &Cells<'_>, row: usize| match of.get(row) {
        Cell::Text(text) => text.to_owned(),
        _ => String::new(),
    };
    let number = |of: &Cells<'_>, row: usize| of.get(row).as_f64().unwrap_or(0.0);
    let whole = |of: &Cells<'_>, row: usize, one: &str, many: &str| match of.get(row) {
        Cell::Unsigned(1) => format!("1 {one}"),
        Cell::Unsigned(value) => format!("{} {many}", count(value)),
        _ => format!("no {many}"),
    };
    for row in 0..shown {
        let head = format!("{:5.1} %  {}", number(&share, row), text(&verdict, row));
        writeln!(out, "{}", style.paint(Role::Head, &head))?;
        let facts = format!(
            "{} in {}; {}, potential saving {}",
            whole(&iterations, row, "iteration", "iterations"),
            whole(&executions, row, "execution", "executions"),
            unbroken(&quantity(number(&work, row), "s", style)),
            unbroken(&quantity(number(&saving, row), "s", style)),
        );
        for part in [text(&path, row), text(&because, row), facts] {
            for line in wrapped(&part, style.width.saturating_sub(INDENT.len())) {
                writeln!(out, "{INDENT}{}", line.replace(NO_BREAK, " "))?;
            }
        }
    }
    if shown < total {
        let rest = format!("… {} more; --all shows them", count((total - shown) as u64));
        writeln!(out, "{}", style.paint(Role::Secondary, &rest))?;
    }
    Ok(())
}

/// A space at which no line ends.
const NO_BREAK: char = '\u{a0}';

/// A number that stays next to its unit.
fn unbroken(quantity: &str) -> String {
    quantity.replace(' ', &NO_BREAK.to_string())
}

/// Loops that are shown unless told otherwise.
const LOOPS: usize = 20;

/// What stands before the lines of a loop.
const INDENT: &str = "         ";

fn table(
    table: &Table,
    by: AdviseBy,
    title: String,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let is_narrow = style.width < WIDE;
    let left_out: &[&str] = match by {
        AdviseBy::Reference if is_narrow => {
            &["loop", "storage", "references", "compared", "earlier", "later"]
        }
        AdviseBy::Pair if is_narrow => &["below", "pairs"],
        AdviseBy::Context if is_narrow => &["kind", "share_percent"],
        AdviseBy::Race if is_narrow => &["storage", "first_thread", "second_thread"],
        _ => &[],
    };
    let names = table.columns.iter().map(|column| column.name.as_str());
    let names: Vec<&str> =
        names.filter(|name| *name != "context_id" && !left_out.contains(name)).collect();
    let mut text = TextTable::new(table).title(title).columns(&names);
    for (name, head) in [
        ("written_at", "written at"),
        ("read_at", "read at"),
        ("earlier_at", "at"),
        ("later_at", "at"),
        ("first_at", "first"),
        ("first_access", "does"),
        ("first_thread", "thread"),
        ("second_at", "second"),
        ("second_access", "does"),
        ("second_thread", "thread"),
        ("share_percent", "share"),
        ("waits_for", "waits for"),
        ("number", "no."),
    ] {
        text = text.head(name, head);
    }
    for name in ["effect", "worker", "first_access", "second_access", "kind"] {
        text = text.show(name, Show::Text);
    }
    text.show("parallelism", Show::Quantity).write(style, out)
}

/// Columns from which on a line has room for more than what matters most.
const WIDE: usize = 120;

#[cfg(test)]
mod tests {
    use parallax_protocol::Column;

    use super::*;

    fn one_loop() -> Table {
        let because = "iteration 1 reads sum at solve.c:14 (solve), which iteration 0 wrote at \
                       solve.c:12 (solve); also a, b";
        Table::new(vec![
            Column::strings("verdict", "", ["dependent"]),
            Column::strings("loop", "", ["main > solve > loop at solve.c:10"]),
            Column::u32s("context_id", "", vec![7]),
            Column::strings("because", "", [because]),
            Column::f64s("work_s", "s", "", vec![1.5]),
            Column::f64s("share_percent", "%", "", vec![75.0]),
            Column::f64s("saving_s", "s", "", vec![0.0]),
            Column::u64s("executions", "", "", vec![1]),
            Column::u64s("iterations", "", "", vec![1_000]),
            Column::u64s("most_iterations", "", "", vec![1_000]),
        ])
    }

    #[test]
    fn a_loop_is_a_paragraph_that_fits_the_terminal() {
        let style = Style { width: 60, rows: None, is_colour: false, is_unicode: true };
        let mut out = Vec::new();
        loops(&one_loop(), "Loops", &style, &mut out).unwrap();
        let expected = "\
Loops

 75.0 %  dependent
         main > solve > loop at solve.c:10
         iteration 1 reads sum at solve.c:14 (solve), which
         iteration 0 wrote at solve.c:12 (solve); also a, b
         1,000 iterations in 1 execution; 1.50 s, potential
         saving 0 s
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
