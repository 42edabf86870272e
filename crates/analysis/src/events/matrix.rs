//! The communication matrix: how much each track sends to each other one.

use parallax_base::Control;
use parallax_engine::{EngineError, Session};
use parallax_model::LinkKind;

use super::{Selection, events};

/// Most tracks of a matrix.
pub const MAX_MATRIX_TRACKS: usize = 4096;

/// Messages and bytes by sender (row) and receiver (column), one row after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommunicationMatrix {
    /// Places in the store of the tracks that rows and columns stand for.
    pub tracks: Vec<usize>,
    /// How many messages.
    pub messages: Vec<u64>,
    /// Their sizes together.
    pub bytes: Vec<u64>,
    /// Messages from or to somebody who has no row.
    pub num_outside: u64,
}

/// The messages between the selected tracks that are under way in the window, those included of
/// which only one side was found. The numbers of Vampir's communication matrix view.
///
/// # Errors
/// When there is no trace of events, there are more than [`MAX_MATRIX_TRACKS`] tracks, events
/// cannot be read, or the question is withdrawn.
pub fn communication_matrix(
    session: &Session,
    selection: &Selection,
    control: &Control,
) -> Result<CommunicationMatrix, EngineError> {
    let len = selection.tracks.len();
    if len > MAX_MATRIX_TRACKS {
        return Err(EngineError::Missing {
            what: format!("a matrix of {len} locations is too large"),
            hint: format!("choose at most {MAX_MATRIX_TRACKS} of them"),
        });
    }
    control.check()?;
    let mut out = CommunicationMatrix {
        tracks: selection.tracks.clone(),
        messages: vec![0; len * len],
        bytes: vec![0; len * len],
        num_outside: 0,
    };
    let place = |track: Option<u32>| {
        track.and_then(|track| selection.tracks.binary_search(&(track as usize)).ok())
    };
    events(session)?.messages(selection.window, &mut |message| {
        if message.kind != LinkKind::Message {
            return;
        }
        let Some((from, to)) = place(message.sender).zip(place(message.receiver)) else {
            out.num_outside += 1;
            return;
        };
        let cell = from * len + to;
        if let Some((number, bytes)) = out.messages.get_mut(cell).zip(out.bytes.get_mut(cell)) {
            *number += 1;
            *bytes = bytes.saturating_add(message.bytes);
        }
    })?;
    Ok(out)
}
