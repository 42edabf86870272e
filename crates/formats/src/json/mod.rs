//! A streaming JSON reader: events with byte offsets, in bounded memory.
//!
//! [`JsonReader`] pulls one [`Event`] at a time from a [`ByteStream`](crate::stream::ByteStream),
//! so a text of any size, compressed or not, costs one small window. Errors say the byte and the
//! JSON path. [`JsonReader::next_row`] reads a flat array of numbers and short strings at once,
//! which is what large measurement files consist of. [`Value`] holds small parts whole.
//!
//! Accepted beyond RFC 8259: a byte order mark, and `NaN`, `Infinity`, `-Infinity`, which Python
//! writes. Refused: comments, trailing commas, leading zeros.

mod error;
mod layout;
mod number;
mod reader;
mod row;
mod value;
mod write;

pub use error::{JsonError, JsonErrorKind};
pub use number::Number;
pub use reader::{Event, JsonLimits, JsonReader};
pub use row::Row;
pub use value::Value;
