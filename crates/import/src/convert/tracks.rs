//! Tracks that are added when their first event comes.

use std::collections::HashMap;

use parallax_model::IdentityKind;

use crate::events::{Conversion, Peer, TrackIdentity};

/// Who a track is: application, rank, thread.
pub(super) type Who = (Option<i64>, i64, i64);

/// The tracks met so far. A partner of a message may be met before its own events, or have none.
#[derive(Default)]
pub(super) struct Tracks {
    peers: HashMap<Who, Peer>,
    tracks: HashMap<Who, u32>,
    /// Most events come from the track of the one before.
    last: Option<(Who, u32)>,
}

impl Tracks {
    pub(super) fn track(&mut self, who: Who, conversion: &mut Conversion) -> u32 {
        if let Some((last, track)) = self.last
            && last == who
        {
            return track;
        }
        let track = match self.tracks.get(&who) {
            Some(&track) => track,
            None => {
                let peer = self.peer(who, conversion);
                let track = conversion.track_of(peer, identity(who));
                self.tracks.insert(who, track);
                track
            }
        };
        self.last = Some((who, track));
        track
    }

    pub(super) fn peer(&mut self, who: Who, conversion: &mut Conversion) -> Peer {
        *self.peers.entry(who).or_insert_with(|| {
            let number = |id: i64| u64::try_from(id).ok();
            match (number(who.1), number(who.2)) {
                (Some(rank), Some(thread)) => {
                    conversion.peer_at(who.0.and_then(number), rank, thread)
                }
                _ => conversion.peer(),
            }
        })
    }
}

pub(super) fn identity((application, rank, thread): Who) -> TrackIdentity {
    let parts = [
        (IdentityKind::Application, application),
        (IdentityKind::Rank, Some(rank)),
        (IdentityKind::Thread, Some(thread)),
    ];
    let known = parts.into_iter().filter_map(|(kind, id)| Some((kind, u64::try_from(id?).ok()?)));
    TrackIdentity { identity: known.collect(), ..TrackIdentity::default() }
}
