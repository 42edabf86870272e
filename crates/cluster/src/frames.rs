//! What goes over a connection: frames, each with its kind and its length.

use std::io::{self, Read, Write};

use serde_json::Value;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A message, as JSON.
    Message,
    /// Bytes of rows.
    Rows,
    /// Whoever sends this still works.
    Alive,
    /// The rows of a part are complete.
    End,
    /// A part has no rows, for a reason, as JSON.
    Failed,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Message, Self::Rows, Self::Alive, Self::End, Self::Failed];

    const fn code(self) -> u8 {
        match self {
            Self::Message => 1,
            Self::Rows => 2,
            Self::Alive => 3,
            Self::End => 4,
            Self::Failed => 5,
        }
    }
}

/// Bytes of a frame at most. Whoever announces more does not speak this protocol.
const MOST_BYTES: usize = 64 << 20;
/// Bytes of rows that go into one frame.
pub(crate) const ROW_BYTES: usize = 1 << 20;

/// A frame.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) kind: Kind,
    pub(crate) bytes: Vec<u8>,
}

impl Frame {
    /// The message that it has.
    pub(crate) fn json(&self) -> io::Result<Value> {
        serde_json::from_slice(&self.bytes).map_err(|_| garbled("a message cannot be read"))
    }
}

/// What was received is not what a peer sends.
pub(crate) fn garbled(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

/// Sends a frame.
pub(crate) fn send(to: &mut impl Write, kind: Kind, bytes: &[u8]) -> io::Result<()> {
    if bytes.len() > MOST_BYTES {
        return Err(garbled("a message is too long to be sent"));
    }
    let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes();
    let head = [kind.code(), len[0], len[1], len[2], len[3]];
    // In one piece, so that a small frame is one packet.
    let mut whole = Vec::with_capacity(head.len() + bytes.len());
    whole.extend_from_slice(&head);
    whole.extend_from_slice(bytes);
    to.write_all(&whole)
}

/// Sends a message.
pub(crate) fn send_json(to: &mut impl Write, kind: Kind, value: &Value) -> io::Result<()> {
    send(to, kind, value.to_string().as_bytes())
}

/// Receives a frame. Memory is taken as bytes arrive, whatever length is announced.
pub(crate) fn receive(from: &mut impl Read) -> io::Result<Frame> {
    let mut head = [0; 5];
    from.read_exact(&mut head)?;
    let kind = Kind::ALL.into_iter().find(|kind| kind.code() == head[0]);
    let len = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
    let Some(kind) = kind.filter(|_| len <= MOST_BYTES) else {
        return Err(garbled("what was received is no frame"));
    };
    let mut bytes = Vec::with_capacity(len.min(ROW_BYTES));
    from.by_ref().take(len as u64).read_to_end(&mut bytes)?;
    if bytes.len() < len {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Frame { kind, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_and_others_are_refused() {
        let mut wire = Vec::new();
        for kind in Kind::ALL {
            send(&mut wire, kind, b"some bytes").unwrap();
        }
        let mut from = &wire[..];
        for kind in Kind::ALL {
            let frame = receive(&mut from).unwrap();
            assert_eq!((frame.kind, &frame.bytes[..]), (kind, &b"some bytes"[..]));
        }
        assert!(receive(&mut from).is_err(), "nothing is left");
        // Cut at every byte, of a kind that there is not, and longer than any.
        for len in 0..15 {
            assert!(receive(&mut &wire[..len]).is_err(), "{len}");
        }
        assert!(receive(&mut &[9, 0, 0, 0, 0][..]).is_err());
        assert!(receive(&mut &[2, 255, 255, 255, 255, 1][..]).is_err());
    }
}
