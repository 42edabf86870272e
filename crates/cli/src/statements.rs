//! Statements in SQL for the page of `open`: what the server asks where this build has SQL.

use clap::Args;
use parallax_server::Statements;

use crate::args::{Size, seconds};
use crate::device::DeviceChoice;

/// What statements of the page may use.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct StatementArgs {
    /// Memory for sorting, grouping and joining of statements in SQL, such as 500MB; beyond it goes
    /// to temporary files.
    #[arg(long, value_name = "SIZE", default_value = "2GB", help_heading = "SQL")]
    sql_memory_limit: Size,
    /// Stop a statement in SQL that takes longer, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    #[arg(help_heading = "SQL")]
    sql_time_limit: f64,
}

/// What answers statements: nothing, for this build has no SQL.
#[cfg(not(feature = "sql"))]
pub(crate) fn statements(
    arguments: StatementArgs,
    _: DeviceChoice,
) -> anyhow::Result<Option<Box<dyn Statements>>> {
    let StatementArgs { sql_memory_limit, sql_time_limit } = arguments;
    let _ = (sql_memory_limit, sql_time_limit);
    Ok(None)
}

/// What answers statements.
#[cfg(feature = "sql")]
pub(crate) fn statements(
    arguments: StatementArgs,
    device: DeviceChoice,
) -> anyhow::Result<Option<Box<dyn Statements>>> {
    Ok(Some(Box::new(answers::Engine::new(arguments, device)?)))
}

#[cfg(feature = "sql")]
mod answers {
    use std::collections::HashSet;
    use std::sync::Arc;
    use std::time::Duration;

    use parallax_base::Control;
    use parallax_protocol::{ErrorReply, SqlReply, SqlSchemaReply, Table};
    use parallax_server::{Content, Statements};
    use parallax_sql::{
        SqlAnswer, SqlEngine, SqlError, SqlLimits, SqlSession, SqlSource, SqlStatement,
    };

    use super::StatementArgs;
    use crate::device::{Chosen as _, DeviceChoice};

    /// Threads and memory of all statements.
    pub(super) struct Engine(Arc<SqlEngine>);

    impl Engine {
        pub(super) fn new(arguments: StatementArgs, device: DeviceChoice) -> anyhow::Result<Self> {
            let limits = SqlLimits {
                memory_bytes: Some(arguments.sql_memory_limit.0),
                time: Some(Duration::from_secs_f64(arguments.sql_time_limit)),
                kept_bytes: None,
            };
            let device = device.statements(None)?;
            Ok(Self(Arc::new(SqlEngine::on_device(limits, device)?)))
        }

        fn session(&self, content: &Content) -> SqlSession {
            self.0.session(match content {
                Content::Experiment(opened) => SqlSource::from(Arc::clone(opened)),
                Content::Ensemble(ensemble) => SqlSource::from(Arc::clone(ensemble)),
            })
        }
    }

    impl Statements for Engine {
        fn ask(
            &self,
            content: &Content,
            statement: &str,
            rows: u32,
            control: &Control,
        ) -> Result<(SqlReply, Table), ErrorReply> {
            let statement = SqlStatement::only(statement).map_err(|error| reply(&error))?;
            let rows = usize::try_from(rows).unwrap_or(usize::MAX);
            let answer = self.session(content).run_first(statement, rows, control);
            let (SqlAnswer { mut table, notes, .. }, is_cut) =
                answer.map_err(|error| reply(&error))?;
            name_apart(&mut table);
            Ok((SqlReply { is_cut, notes }, table))
        }

        fn schema(
            &self,
            content: &Content,
            control: &Control,
        ) -> Result<SqlSchemaReply, ErrorReply> {
            self.session(content).schema(control).map_err(|error| reply(&error))
        }
    }

    /// Gives columns of the same name, which a join may have, names of their own: `name`, `name_2`.
    fn name_apart(table: &mut Table) {
        let mut taken: HashSet<String> =
            table.columns.iter().map(|column| column.name.clone()).collect();
        let mut seen = HashSet::new();
        for column in &mut table.columns {
            if seen.insert(column.name.clone()) {
                continue;
            }
            let free = (2_u64..).map(|number| format!("{}_{number}", column.name));
            if let Some(name) = free.into_iter().find(|name| !taken.contains(name)) {
                taken.insert(name.clone());
                seen.insert(name.clone());
                column.name = name;
            }
        }
    }

    /// Why there is no result, and what to do.
    fn reply(error: &SqlError) -> ErrorReply {
        let kind = match error {
            SqlError::Cancelled => "cancelled",
            error if error.is_misuse() => "misuse",
            _ => "read",
        };
        let reply = ErrorReply::new(kind, error.to_string());
        match error {
            SqlError::TooLong(_) => {
                reply.with_hint("select less, or start the server with a larger --sql-time-limit")
            }
            SqlError::Memory(_) => reply.with_hint(
                "select or group less, or start the server with a larger --sql-memory-limit",
            ),
            _ => reply,
        }
    }
}
