//! [`Statements`]: who answers statements in SQL for a dispatcher.

use parallax_base::Control;
use parallax_protocol::{
    Answer, ErrorReply, SqlReply, SqlRequest, SqlSchemaReply, SqlSchemaRequest, SqlTables, Table,
};

use crate::{Content, Dispatcher};

/// Answers statements in SQL that only read, within limits of its own. A dispatcher without one says
/// that it has no SQL.
pub trait Statements: Send + Sync {
    /// The first `rows` rows of what `statement` gives.
    ///
    /// # Errors
    /// Why there is no result, for the user to read. Cancelling `control` withdraws the statement.
    fn ask(
        &self,
        content: &Content,
        statement: &str,
        rows: u32,
        control: &Control,
    ) -> Result<(SqlReply, Table), ErrorReply>;

    /// What statements may name.
    ///
    /// # Errors
    /// When a table cannot be read, or when it is withdrawn.
    fn schema(&self, content: &Content, control: &Control) -> Result<SqlSchemaReply, ErrorReply>;
}

impl Dispatcher {
    pub(crate) fn sql(
        &self,
        request: &SqlRequest,
        control: &Control,
    ) -> Result<Answer<SqlRequest>, ErrorReply> {
        let (statements, content) = (self.statements()?, self.content(&request.item)?);
        let (reply, rows) = statements.ask(&content, &request.statement, request.rows, control)?;
        Ok(Answer::new(reply, SqlTables { rows }))
    }

    pub(crate) fn sql_schema(
        &self,
        request: &SqlSchemaRequest,
        control: &Control,
    ) -> Result<Answer<SqlSchemaRequest>, ErrorReply> {
        let (statements, content) = (self.statements()?, self.content(&request.item)?);
        Ok(Answer::new(statements.schema(&content, control)?, ()))
    }

    fn statements(&self) -> Result<&dyn Statements, ErrorReply> {
        self.statements.as_deref().ok_or_else(|| {
            ErrorReply::new("misuse", "there is no SQL here: it is no part of this build").with_hint(
                "serve the files with a build that has the feature `sql`; a page that reads files \
                 itself has no SQL",
            )
        })
    }
}
