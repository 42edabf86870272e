//! [`Response`]: a reply and its tables, ready to be sent.

use parallax_protocol::{ErrorReply, Table};
use parallax_wire::{Serialize, write_arrow_packed};

use crate::errors::wire_error;

/// A table of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedTable {
    /// Its name, as the protocol has it.
    pub name: &'static str,
    /// The table as an Arrow IPC stream.
    pub bytes: Vec<u8>,
}

/// A reply and its tables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Response {
    /// The reply as JSON.
    pub json: String,
    /// The tables.
    pub tables: Vec<NamedTable>,
}

impl Response {
    /// The response as one piece of bytes, for transports that carry nothing else.
    ///
    /// Little-endian: the length of a head (u32), the head as JSON
    /// (`{"reply":...,"tables":[{"name","bytes"}]}`), then the tables one after the other, each at a
    /// multiple of 8 bytes from the start so that a reader can view columns in place.
    #[must_use]
    pub fn framed(&self) -> Vec<u8> {
        let tables: Vec<serde_json::Value> = self
            .tables
            .iter()
            .map(|table| serde_json::json!({ "name": table.name, "bytes": table.bytes.len() }))
            .collect();
        let tables = serde_json::Value::from(tables);
        let head = format!("{{\"reply\":{},\"tables\":{tables}}}", self.json);
        let mut out = Vec::new();
        let length = u32::try_from(head.len()).unwrap_or(u32::MAX);
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(head.as_bytes());
        for table in &self.tables {
            out.resize(out.len().next_multiple_of(8), 0);
            out.extend_from_slice(&table.bytes);
        }
        out
    }
}

/// A reply and its tables, as they are in memory.
#[derive(Debug, Clone, Default)]
pub struct AnswerTables {
    /// The reply as JSON.
    pub json: String,
    /// The tables by name.
    pub tables: Vec<(&'static str, Table)>,
}

impl AnswerTables {
    /// The same, ready to be sent.
    pub(crate) fn packed(self) -> Result<Response, ErrorReply> {
        let mut response = Response { json: self.json, tables: Vec::new() };
        for (name, table) in self.tables {
            let mut bytes = Vec::new();
            write_arrow_packed(&table, &mut bytes).map_err(|error| wire_error(&error))?;
            response.tables.push(NamedTable { name, bytes });
        }
        Ok(response)
    }
}

/// A reply with its tables.
pub(crate) fn reply_with_tables<R: Serialize>(
    reply: &R,
    tables: Vec<(&'static str, Table)>,
) -> Result<AnswerTables, ErrorReply> {
    let json = serde_json::to_string(reply)
        .map_err(|error| ErrorReply::new("protocol", format!("the reply has no form: {error}")))?;
    Ok(AnswerTables { json, tables })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_a_frame_begin_at_multiples_of_eight() {
        let table = |name, length| NamedTable { name, bytes: vec![7; length] };
        let response = Response {
            json: "{\"a\":1}".to_owned(),
            tables: vec![table("one", 3), table("two", 9)],
        };
        let frame = response.framed();
        let head = u32::from_le_bytes(frame[..4].try_into().unwrap()) as usize;
        let head: serde_json::Value = serde_json::from_slice(&frame[4..4 + head]).unwrap();
        assert_eq!(head["reply"]["a"], 1);
        assert_eq!(head["tables"][1]["bytes"], 9);
        assert_eq!(frame.len() % 8, 1, "the last table begins at a multiple of 8 and has 9 bytes");
        let sevens = frame.iter().rev().take_while(|&&byte| byte == 7).count();
        assert_eq!(sevens, 9);
    }
}
