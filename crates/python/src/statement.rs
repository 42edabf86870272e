//! Statements in SQL about what is open.

use std::time::Duration;

use parallax_base::{Control, quantity};
use parallax_dispatch::Content;
use parallax_protocol::{ErrorReply, Table};
use parallax_sql::{SqlAnswer, SqlError, SqlLimits, SqlSession, SqlSource, SqlStatement};

/// Most seconds that a limit can have.
const MOST_SECONDS: f64 = 1e9;

/// What a statement may use: a size such as `2GB`, and seconds.
pub(crate) fn limits(memory: Option<&str>, seconds: Option<f64>) -> Result<SqlLimits, ErrorReply> {
    let misuse = |what: String| ErrorReply::new("misuse", what);
    let memory = memory.map(quantity::bytes_of).transpose();
    let time = match seconds {
        Some(seconds) if !(0.0..MOST_SECONDS).contains(&seconds) => {
            return Err(misuse(format!("time_limit={seconds}: write a number of seconds")));
        }
        seconds => seconds.map(Duration::from_secs_f64),
    };
    let memory_bytes = memory.map_err(|error| misuse(format!("memory_limit: {error}")))?;
    Ok(SqlLimits { memory_bytes, time, kept_bytes: None })
}

/// What the only statement of a text gives, and remarks.
pub(crate) fn run(
    content: Content,
    text: &str,
    limits: SqlLimits,
    control: &Control,
) -> Result<(Table, Vec<String>), ErrorReply> {
    let source = match content {
        Content::Experiment(opened) => SqlSource::Experiment(opened),
        Content::Ensemble(ensemble) => SqlSource::Ensemble(ensemble),
    };
    let answer = || -> Result<SqlAnswer, SqlError> {
        let statement = SqlStatement::only(text)?;
        SqlSession::new(source, limits)?.run(statement, control)
    };
    let SqlAnswer { table, notes, .. } = answer().map_err(|error| reply(&error))?;
    Ok((table, notes))
}

fn reply(error: &SqlError) -> ErrorReply {
    let kind = match error {
        SqlError::Cancelled => "cancelled",
        error if error.is_misuse() => "misuse",
        _ => "read",
    };
    ErrorReply::new(kind, error.to_string())
}
