//! `.trc` and `.edf` as the tracer writes them.

use std::fmt::Write as _;

/// How records lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// 32 bytes instead of 24.
    pub wide: bool,
    /// Highest byte first.
    pub big_endian: bool,
}

/// One record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Event number.
    pub event: i32,
    /// Rank.
    pub node: u16,
    /// Thread.
    pub thread: u16,
    /// Parameter.
    pub parameter: i64,
    /// Microseconds.
    pub time: u64,
}

/// The bytes of a trace. The first record should have parameter 3.
#[must_use]
pub fn to_trace(records: &[Record], layout: Layout) -> Vec<u8> {
    let mut out = Vec::new();
    let mut put = |bytes: &[u8]| {
        if layout.big_endian {
            out.extend(bytes.iter().rev());
        } else {
            out.extend(bytes);
        }
    };
    for record in records {
        if layout.wide {
            put(&i64::from(record.event).to_le_bytes());
        } else {
            put(&record.event.to_le_bytes());
        }
        put(&record.node.to_le_bytes());
        put(&record.thread.to_le_bytes());
        if layout.wide {
            put(&[0; 4]);
        }
        put(&record.parameter.to_le_bytes());
        put(&record.time.to_le_bytes());
    }
    out
}

/// The parameter of a message, bit by bit as the tracer puts it together.
#[must_use]
pub fn message_parameter(other: u16, tag: u16, len: u32, communicator: u8) -> i64 {
    let (other, tag) = (u64::from(other), u64::from(tag));
    let (len, communicator) = (u64::from(len), u64::from(communicator));
    let packed = (len & 0xffff)
        | (tag & 0xff) << 16
        | (other & 0xff) << 24
        | (len >> 16 & 0x3ff) << 32
        | (communicator & 0x3f) << 42
        | (tag >> 8) << 48
        | (other >> 8) << 56;
    packed.cast_signed()
}

/// One line of definitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// Event number.
    pub id: i32,
    /// Group.
    pub group: String,
    /// Tag.
    pub tag: i32,
    /// Name.
    pub name: String,
    /// `EntryExit`, `TriggerValue`, `none`, `par`.
    pub kind: &'static str,
}

/// The text of an `.edf` file.
#[must_use]
pub fn to_definitions(definitions: &[Definition]) -> String {
    let mut out = format!("{} dynamic_trace_events\n", definitions.len());
    out.push_str("# FunctionId Group Tag \"Name Type\" Parameters\n");
    for Definition { id, group, tag, name, kind } in definitions {
        let _ = writeln!(out, "{id} {group} {tag} \"{name}\" {kind}");
    }
    out
}
