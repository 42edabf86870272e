//! Statements in SQL about what is open.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use parallax_base::{Control, quantity};
use parallax_dispatch::Content;
use parallax_protocol::{ErrorReply, Table};
use parallax_sql::{SqlAnswer, SqlEngine, SqlError, SqlLimits, SqlSource, SqlStatement};

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

/// What computes statements, from one to the next: it has tables in memory.
pub(crate) struct Engines {
    /// The process that made it: threads do not survive a fork.
    process: u32,
    /// The latest one that no statement is using, and what its statements may use.
    free: Mutex<Option<(SqlLimits, Arc<SqlEngine>)>>,
}

impl Default for Engines {
    fn default() -> Self {
        Self { process: std::process::id(), free: Mutex::default() }
    }
}

impl Engines {
    /// What the only statement of a text gives, and remarks.
    pub(crate) fn run(
        &self,
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
            // Statements that run at the same time have memory of their own.
            let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).take();
            let engine = match free.filter(|(known, _)| *known == limits) {
                Some((_, engine)) => engine,
                None => Arc::new(SqlEngine::new(limits)?),
            };
            let answer = engine.session(source).run(statement, control);
            let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
            *free = Some((limits, engine));
            answer
        };
        let SqlAnswer { table, notes, .. } = answer().map_err(|error| reply(&error))?;
        Ok((table, notes))
    }
}

impl Drop for Engines {
    fn drop(&mut self) {
        // A forked process has a copy, whose locks another thread may have held at that moment.
        if self.process != std::process::id() {
            let free = self.free.get_mut().unwrap_or_else(PoisonError::into_inner);
            std::mem::forget(free.take());
        }
    }
}

fn reply(error: &SqlError) -> ErrorReply {
    let kind = match error {
        SqlError::Cancelled => "cancelled",
        error if error.is_misuse() => "misuse",
        _ => "read",
    };
    ErrorReply::new(kind, error.to_string())
}
