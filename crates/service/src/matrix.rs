//! Who sends how much to whom, as a matrix.

use parallax_analysis::events::{Selection, communication_matrix};
use parallax_base::Control;

use crate::{Answer, Opened, ServiceError};

/// Which messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MatrixRequest {
    /// A profile expression that both sides must match; `None` for all.
    pub profiles: Option<String>,
    /// A time window in which they are under way; `None` for everything.
    pub window: Option<String>,
}

/// Messages by sender (row) and receiver (column).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MatrixAnswer {
    /// Names of the locations that rows and columns stand for: those with messages.
    pub names: Vec<String>,
    /// How many messages, one row after the other.
    pub messages: Vec<u64>,
    /// Bytes, one row after the other.
    pub bytes: Vec<u64>,
}

impl Opened {
    /// Who sends how much to whom: the numbers of `messages` by pair, with zeros.
    ///
    /// # Errors
    /// When there are no events, too many locations, an expression is wrong, or the question is
    /// withdrawn.
    pub fn message_matrix(
        &self,
        request: &MatrixRequest,
        control: &Control,
    ) -> Result<Answer<MatrixAnswer>, ServiceError> {
        let mut notes = Vec::new();
        let (profiles, window) = (request.profiles.as_deref(), request.window.as_deref());
        let all = self.selection(profiles, window, &mut notes)?;
        let mut found = vec![false; self.session.traces()?.tracks().len()];
        for track in self.tracks_with_messages(&all)? {
            if let Some(slot) = found.get_mut(track as usize) {
                *slot = true;
            }
        }
        let has = |track: &usize| found.get(*track) == Some(&true);
        let tracks = all.tracks.into_iter().filter(has).collect();
        let selection = Selection { tracks, window: all.window };
        let matrix = communication_matrix(&self.session, &selection, control)?;
        if matrix.num_outside > 0 {
            notes.push(format!(
                "{} messages with a side outside the selected locations are excluded.",
                matrix.num_outside
            ));
        }
        let names = self.track_names();
        let name = |track: &usize| names.get(*track).cloned().unwrap_or_default();
        let value = MatrixAnswer {
            names: matrix.tracks.iter().map(name).collect(),
            messages: matrix.messages,
            bytes: matrix.bytes,
        };
        Ok(Answer { value, notes })
    }

    /// Both sides of all messages in the window.
    fn tracks_with_messages(&self, selection: &Selection) -> Result<Vec<u32>, ServiceError> {
        let mut tracks = Vec::new();
        let mut visit = |message: parallax_model::Message| {
            if message.kind == parallax_model::LinkKind::Message {
                tracks.extend(message.sender);
                tracks.extend(message.receiver);
                // Runs of the same pair would fill memory.
                if tracks.len() > 1 << 16 {
                    tracks.sort_unstable();
                    tracks.dedup();
                }
            }
        };
        let events = self.events()?;
        events
            .messages(selection.window, &mut visit)
            .map_err(parallax_engine::EngineError::from)?;
        tracks.sort_unstable();
        tracks.dedup();
        Ok(tracks)
    }
}
