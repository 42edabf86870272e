//! `sql`: statements over what a database holds.

use clap::Args;

#[cfg(not(feature = "sql"))]
use super::Context;
use crate::args::{Database, Size};

const EXAMPLES: &str = "\
Examples:
  parallax sql DB 'SHOW TABLES'
  parallax sql DB \"SELECT name, sum(value) FROM \\\"values\\\" JOIN contexts USING (context_id)
                   JOIN metrics USING (metric_id)
                   WHERE scope = 'function' GROUP BY name ORDER BY 2 DESC LIMIT 10\"
  parallax sql DB \"SELECT * FROM flat(by => 'module')\"      questions are functions
  parallax sql DB \"EXPLAIN SELECT ...\"                      what is read
  parallax sql DB                                           statements from the terminal

Statements only read. Tables and functions: docs/sql.md.";

/// What `sql` runs.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SqlArgs {
    #[command(flatten)]
    database: Database,
    /// The statement. Without one, statements are read from the terminal or from a pipe; `;` ends
    /// each.
    #[arg(value_name = "STATEMENT")]
    statement: Option<String>,
    /// Memory for sorting, grouping and joining, such as 2GB; beyond it goes to temporary files.
    #[arg(long, value_name = "SIZE")]
    memory_limit: Option<Size>,
    /// Stop a statement that takes longer, in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    time_limit: Option<f64>,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.0..1e9).contains(&seconds) => Ok(seconds),
        _ => Err("write a number of seconds, such as 30".to_owned()),
    }
}

#[cfg(not(feature = "sql"))]
pub(super) fn sql(_: &Context, arguments: SqlArgs) -> anyhow::Result<()> {
    let SqlArgs { database, statement, memory_limit, time_limit } = arguments;
    let _ = (database, statement, memory_limit, time_limit);
    anyhow::bail!(
        "this parallax was built without the feature `sql`; build it with `--features sql`, or ask \
         with `parallax query`"
    )
}

/// Whether an error is that of a statement that is wrong.
#[cfg(not(feature = "sql"))]
pub(crate) fn is_wrong_statement(_: &anyhow::Error) -> bool {
    false
}

#[cfg(feature = "sql")]
pub(crate) use session::is_wrong_statement;
#[cfg(feature = "sql")]
pub(super) use session::sql;

#[cfg(feature = "sql")]
mod session {
    use std::io::{IsTerminal as _, Read as _, stdin};
    use std::sync::Arc;
    use std::time::Duration;

    use anyhow::Context as _;
    use parallax_sql::{SqlAnswer, SqlError, SqlLimits, SqlSession, SqlStatement};
    use parallax_wire::{Cell, Cells, Table};
    use rustyline::Editor;
    use rustyline::completion::Completer;
    use rustyline::error::ReadlineError;
    use rustyline::highlight::Highlighter;
    use rustyline::hint::Hinter;
    use rustyline::history::DefaultHistory;
    use rustyline::validate::Validator;

    use super::SqlArgs;
    use crate::commands::Context;
    use crate::open;
    use crate::text::{Level, Notice, TextTable};

    /// Whether an error is that of a statement that is wrong.
    pub(crate) fn is_wrong_statement(error: &anyhow::Error) -> bool {
        error.downcast_ref::<SqlError>().is_some_and(SqlError::is_misuse)
    }

    pub(in crate::commands) fn sql(context: &Context, arguments: SqlArgs) -> anyhow::Result<()> {
        let limits = SqlLimits {
            memory_bytes: arguments.memory_limit.map(|size| size.0),
            time: arguments.time_limit.map(Duration::from_secs_f64),
        };
        let opened = Arc::new(context.open(&arguments.database)?);
        let session = SqlSession::new(opened, limits)?;
        let text = match arguments.statement {
            Some(text) => text,
            None if stdin().is_terminal() => return shell(context, &session),
            None => {
                let mut text = String::new();
                stdin().read_to_string(&mut text).context("cannot read statements")?;
                text
            }
        };
        let statements = SqlStatement::all(&text)?;
        if statements.len() > 1 && context.output.path.is_some() {
            let several = "a file holds one result, and there are several statements";
            return Err(SqlError::Misuse(several.to_owned()).into());
        }
        if statements.is_empty() {
            return Err(SqlError::Misuse("there is no statement; write SELECT ...".into()).into());
        }
        for statement in statements {
            run(context, &session, statement)?;
        }
        context.finish(session.opened(), &[]);
        Ok(())
    }

    fn run(context: &Context, session: &SqlSession, statement: SqlStatement) -> anyhow::Result<()> {
        // A statement that is withdrawn withdraws no later one.
        let control = open::control(context.is_quiet);
        let SqlAnswer { table, notes } = session.run(statement, &control)?;
        context.output.emit_with(&table, |style, out| match plans(&table) {
            Some(plans) => plans.iter().try_for_each(|plan| writeln!(out, "{plan}")),
            None => TextTable::new(&table).write(style, out),
        })?;
        notes.into_iter().for_each(|note| context.note(note));
        Ok(())
    }

    /// The lines of EXPLAIN, which are worth nothing when they are cut.
    fn plans(table: &Table) -> Option<Vec<String>> {
        let (kinds, plans) = (table.column("plan_type")?, table.column("plan")?);
        let (kinds, plans) = (Cells::of(kinds).ok()?, Cells::of(plans).ok()?);
        let line = |row| match (kinds.get(row), plans.get(row)) {
            (Cell::Text(kind), Cell::Text(plan)) => Some(format!("{kind}:\n{}", plan.trim_end())),
            _ => None,
        };
        (0..table.num_rows()).map(line).collect()
    }

    /// Completes names of tables and functions.
    struct Names(Vec<String>);

    impl Completer for Names {
        type Candidate = String;

        fn complete(
            &self,
            line: &str,
            at: usize,
            _: &rustyline::Context<'_>,
        ) -> rustyline::Result<(usize, Vec<String>)> {
            let before = line.get(..at).unwrap_or(line);
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            let start = before.rfind(|c| !is_part(c)).map_or(0, |at| at + 1);
            let word = before.get(start..).unwrap_or("").to_ascii_lowercase();
            let found = self.0.iter().filter(|name| !word.is_empty() && name.starts_with(&word));
            Ok((start, found.cloned().collect()))
        }
    }

    impl Hinter for Names {
        type Hint = String;
    }
    impl Highlighter for Names {}
    impl Validator for Names {}
    impl rustyline::Helper for Names {}

    const WELCOME: &str = "Statements end with `;`. SHOW TABLES; lists tables, SELECT * FROM \
                           table_functions; functions. Leave with Ctrl-D.";

    /// Runs statements as they are typed.
    fn shell(context: &Context, session: &SqlSession) -> anyhow::Result<()> {
        let mut editor: Editor<Names, DefaultHistory> = Editor::new()?;
        editor.set_helper(Some(Names(session.names())));
        let history = parallax_places::cache_folder().map(|folder| folder.join("sql-history"));
        if let Some(history) = &history {
            // The first time there is none.
            let _ = editor.load_history(history);
        }
        if !context.is_quiet {
            context.note(WELCOME);
        }
        let mut text = String::new();
        loop {
            let prompt = if text.is_empty() { "sql> " } else { "...> " };
            match editor.readline(prompt) {
                Ok(line) => {
                    text.push_str(&line);
                    text.push('\n');
                }
                // What was begun is dropped, as in other shells.
                Err(ReadlineError::Interrupted) => {
                    text.clear();
                    continue;
                }
                Err(ReadlineError::Eof) => break,
                Err(error) => return Err(error.into()),
            }
            match text.trim() {
                "" => text.clear(),
                "quit" | "exit" | "quit;" | "exit;" => break,
                whole if whole.ends_with(';') => {
                    // A history that cannot be kept is no reason to stop.
                    let _ = editor.add_history_entry(whole);
                    let answered = SqlStatement::all(whole).map_err(anyhow::Error::from);
                    let answered = answered.and_then(|statements| {
                        let mut statements = statements.into_iter();
                        statements.try_for_each(|statement| run(context, session, statement))
                    });
                    if let Err(error) = answered {
                        Notice::new(Level::Error, format!("{error:#}")).print(&context.stderr);
                    }
                    text.clear();
                }
                _ => {}
            }
        }
        if let Some(history) = &history {
            let folder = history.parent().map_or(Ok(()), std::fs::create_dir_all);
            let _ = folder.map(|()| editor.save_history(history));
        }
        Ok(())
    }
}
