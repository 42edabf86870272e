//! [`Document`]: a reply and its tables as one JSON document.

use std::collections::BTreeMap;

use parallax_protocol::Table;
use serde::Serialize;

use crate::{WireError, write_json};

/// The fields of a reply, and `tables` with each table by name as [`write_json`] writes it. For
/// tables that are small: all rows are in memory.
#[derive(Debug, Clone, Serialize)]
pub struct Document<'a, R: Serialize> {
    #[serde(flatten)]
    reply: &'a R,
    tables: BTreeMap<&'static str, serde_json::Value>,
}

impl<'a, R: Serialize> Document<'a, R> {
    /// `reply` with `tables`.
    ///
    /// # Errors
    ///
    /// [`WireError`] when a table has columns that answers do not carry.
    pub fn new(reply: &'a R, tables: &[(&'static str, Table)]) -> Result<Self, WireError> {
        let written = |(name, table): &(&'static str, Table)| {
            let mut bytes = Vec::new();
            write_json(table, &mut bytes)?;
            Ok((*name, serde_json::from_slice(&bytes).map_err(std::io::Error::from)?))
        };
        let tables = tables.iter().map(written).collect::<Result<_, WireError>>()?;
        Ok(Self { reply, tables })
    }
}
