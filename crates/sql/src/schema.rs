//! What statements may name: tables with their columns, and functions, for who helps to write them.

use std::sync::Arc;

use datafusion::catalog::SchemaProvider;
use datafusion::common::DataFusionError;
use datafusion::prelude::SessionContext;
use parallax_base::Control;
use parallax_protocol::{SqlColumnReply, SqlFunctionReply, SqlSchemaReply, SqlTableReply};

use crate::computed::Computed;
use crate::questions::{self, Notes};
use crate::{CATALOG, Own, SCHEMA, SqlError, SqlSession, SqlSource, functions};

impl SqlSession {
    /// The tables that there are, with their columns, and the functions. Cancelling `control`
    /// withdraws it.
    ///
    /// # Errors
    /// When a table cannot be read, when it takes too long, or when it is withdrawn.
    pub fn schema(&self, control: &Control) -> Result<SqlSchemaReply, SqlError> {
        let (planned, computed) = (self.planned(String::new()), Computed::default());
        let context =
            self.context(control, &Notes::default(), &planned, &computed, Own::default())?;
        let source = self.source().clone();
        self.waited(read(context, source), control)
    }
}

async fn read(
    context: SessionContext,
    source: SqlSource,
) -> Result<SqlSchemaReply, DataFusionError> {
    let schema = context.catalog(CATALOG).and_then(|catalog| catalog.schema(SCHEMA));
    let mut tables = Vec::new();
    if let Some(schema) = &schema {
        for name in schema.table_names() {
            tables.extend(table(schema, name).await?);
        }
    }
    let own = functions::described(&source);
    let is_own = |name: &String| own.iter().any(|function| function.name == *name);
    let state = context.state();
    let mut common: Vec<String> = state
        .scalar_functions()
        .keys()
        .chain(state.aggregate_functions().keys())
        .chain(state.window_functions().keys())
        .filter(|name| !is_own(name))
        .cloned()
        .collect();
    common.sort_unstable();
    common.dedup();
    let behind_from = questions::functions(&source).into_iter().map(|named| SqlFunctionReply {
        is_table: true,
        about: named.doc.trim().to_owned(),
        takes: named.fields,
        name: named.function,
    });
    let functions = behind_from.chain(own).collect();
    Ok(SqlSchemaReply { tables, functions, common_functions: common })
}

async fn table(
    schema: &Arc<dyn SchemaProvider>,
    name: String,
) -> Result<Option<SqlTableReply>, DataFusionError> {
    let Some(table) = schema.table(&name).await? else { return Ok(None) };
    let fields = table.schema();
    let column = |field: &Arc<datafusion::arrow::datatypes::Field>| {
        let said = |what| field.metadata().get(what).cloned().unwrap_or_default();
        SqlColumnReply {
            name: field.name().clone(),
            kind: field.data_type().to_string(),
            unit: said("unit"),
            about: said("doc"),
        }
    };
    Ok(Some(SqlTableReply { name, columns: fields.fields().iter().map(column).collect() }))
}
