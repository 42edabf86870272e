//! `sql`: statements over what a database holds.

use std::path::PathBuf;

use clap::Args;

#[cfg(not(feature = "sql"))]
use super::Context;
use super::sql_cluster::ClusterPartsArgs;
use crate::args::{Size, seconds};
use crate::scaling::EnsembleArgs;

const EXAMPLES: &str = "\
Examples:
  parallax sql DB 'SHOW TABLES'
  parallax sql DB \"SELECT name, sum(value) FROM \\\"values\\\" JOIN contexts USING (context_id)
                   JOIN metrics USING (metric_id)
                   WHERE scope = 'function' GROUP BY name ORDER BY 2 DESC LIMIT 10\"
  parallax sql DB \"SELECT * FROM flat(by => 'module')\"      questions are functions
  parallax sql DB \"EXPLAIN SELECT ...\"                      what is read
  parallax sql DB \"SELECT ...\" --stats                      how many bytes were read
  parallax sql runs.json \"SELECT cores, input, time FROM runs WHERE region_id = 0\"
  parallax sql run-1 \"SELECT ...\" --with run-2 run-4        databases of several runs
  parallax sql DB                                           statements from the terminal
  parallax sql DB --device gpu < statements.sql             columns stay on the GPU
  parallax sql DB \"SELECT ...\" --cluster node1:7272 --token-file token

Statements only read. Tables and functions: docs/sql.md.";

/// What `sql` runs.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SqlArgs {
    /// A profile, trace or recording; or measurements of several runs (PaScal, SPERF, Extra-P,
    /// TALP, CSV), or a folder of the databases of several runs.
    #[arg(value_name = "DATABASE")]
    path: PathBuf,
    /// The statement. Without one, statements are read from the terminal or from a pipe; `;` ends
    /// each.
    #[arg(value_name = "STATEMENT")]
    statement: Option<String>,
    /// Memory for sorting, grouping and joining, such as 2GB; beyond it goes to temporary files.
    #[arg(long, value_name = "SIZE")]
    memory_limit: Option<Size>,
    /// Memory for traces that stay there once a second statement reads all of one, such as 4GB; 0
    /// keeps nothing. Half of --memory-limit where that is given, else 1 GiB.
    #[arg(long, value_name = "SIZE")]
    keep: Option<Size>,
    /// Stop a statement that takes longer, in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    time_limit: Option<f64>,
    /// Memory of the device for columns that stay there from one statement to the next, such as
    /// 20GB. Half of its memory by default.
    #[arg(long, value_name = "SIZE")]
    keep_on_device: Option<Size>,
    /// Say how many bytes of the database each statement reads, and on which device its steps run.
    #[arg(long)]
    stats: bool,
    #[command(flatten)]
    parts: ClusterPartsArgs,
    /// Further runs: the statement is then about all of them together.
    #[arg(long, value_name = "PATH", num_args = 1.., help_heading = "Runs")]
    with: Vec<PathBuf>,
    #[command(flatten)]
    ensemble: EnsembleArgs,
}

#[cfg(not(feature = "sql"))]
pub(super) fn sql(_: &Context, arguments: SqlArgs) -> anyhow::Result<()> {
    let SqlArgs { path, statement, memory_limit, keep, time_limit, stats, with, ensemble, .. } =
        arguments;
    let _ = (path, statement, memory_limit, keep, time_limit, stats, with, ensemble);
    let _ = arguments.keep_on_device;
    drop(arguments.parts);
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
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use anyhow::Context as _;
    use parallax_base::BytesRead;
    use parallax_base::quantity::{counted, quantity};
    use parallax_places::StoreTraffic;
    use parallax_service::{Answer, Severity};
    use parallax_sql::{
        SqlAnswer, SqlEngine, SqlError, SqlLimits, SqlSession, SqlSource, SqlStatement, SqlStep,
        SqlWorkers,
    };
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
    use crate::device::Chosen as _;
    use crate::open::{self, Counted};
    use crate::scaling::{self, is_ensemble};
    use crate::text::{Level, Notice, TextTable};

    /// Whether an error is that of a statement that is wrong.
    pub(crate) fn is_wrong_statement(error: &anyhow::Error) -> bool {
        error.downcast_ref::<SqlError>().is_some_and(SqlError::is_misuse)
    }

    pub(in crate::commands) fn sql(context: &Context, arguments: SqlArgs) -> anyhow::Result<()> {
        let limits = SqlLimits {
            memory_bytes: arguments.memory_limit.map(|size| size.0),
            time: arguments.time_limit.map(Duration::from_secs_f64),
            kept_bytes: arguments.keep.map(|size| size.0),
        };
        let members = match &arguments.parts.members.cluster {
            Some(address) => Some(cluster(address, &arguments)?),
            None => None,
        };
        let device = context.device;
        let on = device.statements(arguments.keep_on_device.map(|size| size.0))?;
        let Sources { source, mut statistics, mut notes } = Sources::open(context, &arguments)?;
        let why = device.why_processor().filter(|_| statistics.is_some());
        notes.extend(why.map(|why| format!("computing on cpu: {why}")));
        let engine = Arc::new(SqlEngine::on_device(limits, on)?);
        let mut session = engine.session(source).hearing_interrupts()?;
        if let Some(members) = members {
            session = session.with_workers(members, arguments.parts.part_rows);
        }
        let text = match arguments.statement {
            Some(text) => text,
            None if stdin().is_terminal() => return shell(context, &session, statistics.as_mut()),
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
            run(context, &session, statement, statistics.as_mut())?;
        }
        match session.source() {
            SqlSource::Experiment(opened) => context.finish(opened, &notes),
            SqlSource::Ensemble(ensemble) => {
                notes.into_iter().for_each(|note| context.note(note));
                let serious = ensemble.issues.list().iter();
                let serious = serious.filter(|issue| issue.severity > Severity::Note).count();
                if serious > 0 {
                    context.note(format!("`issues` lists {}", counted(serious as u64, "issue")));
                }
            }
        }
        Ok(())
    }

    /// Those who compute parts of the statements.
    fn cluster(address: &str, arguments: &SqlArgs) -> anyhow::Result<Arc<dyn SqlWorkers>> {
        let SqlArgs { path, with, stats, parts, .. } = arguments;
        let misuse = |text: &str| Err(SqlError::Misuse(text.to_owned()).into());
        if !with.is_empty() || is_ensemble(path) {
            return misuse("--cluster: measurements of several runs are asked on one machine");
        }
        if *stats {
            return misuse("--stats counts what this process reads; ask without --cluster");
        }
        match &parts.members.token_file {
            #[cfg(feature = "cluster")]
            Some(file) => Ok(Arc::new(crate::commands::sql_cluster::over(address, file, path)?)),
            #[cfg(not(feature = "cluster"))]
            Some(file) => misuse(&format!(
                "--cluster {address} --token-file {}: this parallax was built without the feature \
                 `cluster`",
                file.display()
            )),
            None => misuse(&format!("--cluster {address} needs --token-file")),
        }
    }

    /// What statements are asked of, as it was opened.
    struct Sources {
        source: SqlSource,
        /// Counts what is read, where that was asked for.
        statistics: Option<Statistics>,
        /// Remarks about the opening.
        notes: Vec<String>,
    }

    impl Sources {
        fn open(context: &Context, arguments: &SqlArgs) -> anyhow::Result<Self> {
            let SqlArgs { path, with, ensemble, stats, .. } = arguments;
            let (statistics, notes) = (None, Vec::new());
            if !with.is_empty() || is_ensemble(path) {
                if *stats {
                    let whole =
                        "--stats: measurements of several runs are read whole when they are opened";
                    return Err(SqlError::Misuse(whole.to_owned()).into());
                }
                let paths: Vec<PathBuf> = [path].into_iter().chain(with).cloned().collect();
                let Answer { value, notes } =
                    scaling::ensemble(&paths, ensemble, &context.control)?;
                return Ok(Self { source: Arc::new(value).into(), statistics, notes });
            }
            if *stats {
                let Counted { opened, read, len_bytes } = open::counted(path, &context.control)?;
                let before = read.bytes();
                let store = parallax_places::store_traffic();
                let asked = requests(store, StoreTraffic::default());
                let opening = format!("opening read {}{asked}", quantity(before as f64, "B"));
                let statistics = Some(Statistics { read, before, len_bytes, store });
                return Ok(Self {
                    source: Arc::new(opened).into(),
                    statistics,
                    notes: vec![opening],
                });
            }
            let opened = open::database(path, &context.control)?;
            Ok(Self { source: Arc::new(opened).into(), statistics, notes })
        }
    }

    /// What statements read.
    struct Statistics {
        read: BytesRead,
        /// Bytes that were read before the statement.
        before: u64,
        /// Length of all files.
        len_bytes: u64,
        /// What object stores were asked before the statement.
        store: StoreTraffic,
    }

    /// What was asked of object stores between two times, as the end of a sentence; nothing where
    /// that is nothing.
    fn requests(now: StoreTraffic, before: StoreTraffic) -> String {
        let (requests, bytes) = (now.requests - before.requests, now.bytes - before.bytes);
        if now.requests == 0 {
            return String::new();
        }
        format!(
            "; {} to the object store, {} received",
            counted(requests, "request"),
            quantity(bytes as f64, "B")
        )
    }

    impl Statistics {
        /// A sentence about the statement that has just run.
        fn told(&mut self, elapsed: Duration, from_memory: &[&str]) -> String {
            let now = self.read.bytes();
            let read = now - std::mem::replace(&mut self.before, now);
            let store = parallax_places::store_traffic();
            let asked = requests(store, std::mem::replace(&mut self.store, store));
            let kept = match from_memory {
                [] => String::new(),
                tables => format!("; {} from memory", tables.join(" and ")),
            };
            format!(
                "read {} of {} in {}{kept}{asked}",
                quantity(read as f64, "B"),
                quantity(self.len_bytes as f64, "B"),
                quantity(elapsed.as_secs_f64(), "s")
            )
        }
    }

    /// A sentence about where a step ran.
    fn where_it_ran(step: &SqlStep) -> String {
        let SqlStep { step, device, reason, traffic, resident_bytes } = step;
        let [to, from, there] = [traffic.to_bytes, traffic.from_bytes, *resident_bytes]
            .map(|bytes| quantity(bytes as f64, "B"));
        let copies = match (traffic.to_bytes, traffic.from_bytes, *resident_bytes) {
            (0, 0, 0) => String::new(),
            _ => format!("; {to} copied to the device, {from} from it, {there} stay there"),
        };
        format!("{step} on {device}: {reason}{copies}")
    }

    fn run(
        context: &Context,
        session: &SqlSession,
        statement: SqlStatement,
        statistics: Option<&mut Statistics>,
    ) -> anyhow::Result<()> {
        let begun = Instant::now();
        // A statement that is withdrawn withdraws no later one.
        let control = open::control(context.is_quiet);
        let SqlAnswer { table, mut notes, from_memory, steps } =
            session.run(statement, &control)?;
        if let Some(statistics) = statistics {
            notes.push(statistics.told(begun.elapsed(), &from_memory));
            notes.extend(steps.iter().map(where_it_ran));
        }
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
    fn shell(
        context: &Context,
        session: &SqlSession,
        mut statistics: Option<&mut Statistics>,
    ) -> anyhow::Result<()> {
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
                        statements.try_for_each(|statement| {
                            run(context, session, statement, statistics.as_deref_mut())
                        })
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
