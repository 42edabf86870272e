//! Statements in SQL, where the surface that is asked has what answers them.
//!
//! Both are asked of the engine and name the item as a field: what answers them is not a part of
//! every engine, as opening is (ADR 0095).

use serde::{Deserialize, Serialize};

use crate::macros::question;
use crate::{Engine, Table};

question! {
    /// The result of a statement in SQL that only reads; engines without SQL say so.
    "sql" of Engine,
    request SqlRequest {
        /// Key of an open experiment or ensemble.
        item: String [required],
        /// The statement.
        statement: String [required],
        /// Rows that are computed and sent at most.
        rows: u32 [1..=100_000] = 1000,
    }
    reply SqlReply,
    tables SqlTables {
        /// The first rows of the result.
        rows: Table,
    }
}

/// The reply to `sql`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SqlReply {
    /// Whether there are more rows than were asked for.
    pub is_cut: bool,
    /// Remarks of the questions that the statement asks, such as that nothing was found and why.
    pub notes: Vec<String>,
}

question! {
    /// What statements in SQL may name: tables with their columns, and functions.
    "sql_schema" of Engine,
    request SqlSchemaRequest {
        /// Key of an open experiment or ensemble.
        item: String [required],
    }
    reply SqlSchemaReply,
}

/// The reply to `sql_schema`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SqlSchemaReply {
    /// The tables that there are.
    pub tables: Vec<SqlTableReply>,
    /// The functions that are not those of every dialect.
    pub functions: Vec<SqlFunctionReply>,
    /// Names of the functions that every statement has, such as `count`.
    pub common_functions: Vec<String>,
}

/// A table that statements may name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SqlTableReply {
    /// Its name.
    pub name: String,
    /// Its columns.
    pub columns: Vec<SqlColumnReply>,
}

/// A column of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SqlColumnReply {
    /// Its name.
    pub name: String,
    /// The type of its values.
    pub kind: String,
    /// Unit symbol; empty where there is none.
    pub unit: String,
    /// What it means.
    pub about: String,
}

/// A function that statements may call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SqlFunctionReply {
    /// Its name.
    pub name: String,
    /// Whether it gives a table and stands behind FROM; otherwise it gives a value.
    pub is_table: bool,
    /// What it gives.
    pub about: String,
    /// What it takes.
    pub takes: String,
}
