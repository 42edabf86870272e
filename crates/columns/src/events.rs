//! Events of traces by location and context.

use crate::{Groups, Numbers, Room, durations, filter_columns, group};

/// Events of traces: what was active where, from when until when. The columns have one length.
#[derive(Debug, Clone, Copy)]
pub struct Events<'a> {
    /// Where.
    pub location: &'a [u32],
    /// What.
    pub context: &'a [u32],
    /// From when.
    pub start: &'a [u64],
    /// Until when.
    pub end: &'a [u64],
}

impl<'a> Events<'a> {
    /// Number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.location.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.location.is_empty()
    }

    /// The events before event `at`, and those from it on.
    ///
    /// # Panics
    /// When there are fewer events.
    #[must_use]
    pub fn split_at(&self, at: usize) -> (Self, Self) {
        let (location, context) = (self.location.split_at(at), self.context.split_at(at));
        let (start, end) = (self.start.split_at(at), self.end.split_at(at));
        let part = |(location, context), (start, end)| Events { location, context, start, end };
        let first: Events<'a> = part((location.0, context.0), (start.0, end.0));
        (first, part((location.1, context.1), (start.1, end.1)))
    }
}

/// What events are grouped by. Contexts are the minor key, locations the major one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Keys {
    /// Their contexts.
    Context,
    /// Their locations.
    Location,
    /// Both.
    Both,
}

impl Keys {
    /// The minor key of these two columns, and the major one.
    pub fn of<T>(self, location: T, context: T) -> (T, Option<T>) {
        match self {
            Self::Context => (context, None),
            Self::Location => (location, None),
            Self::Both => (context, Some(location)),
        }
    }
}

/// The durations of the events by key, of those that take `shortest` or longer.
#[must_use]
pub fn summarise(events: &Events<'_>, keys: Keys, shortest: u64) -> Groups {
    let (minor, major) = keys.of(events.location, events.context);
    if shortest == 0 {
        return group(minor, major, &durations(events.start, events.end));
    }
    let columns = [Numbers::Four(minor), Numbers::Eight(events.start), Numbers::Eight(events.end)];
    let columns: Vec<Numbers<'_>> = columns.into_iter().chain(major.map(Numbers::Four)).collect();
    let mut kept = filter_columns(&columns, |block, picks| {
        let times = events.start[block.clone()].iter().zip(&events.end[block]);
        let durations = times.map(|(start, end)| end.saturating_sub(*start));
        picks.push(durations.map(|duration| duration >= shortest));
    });
    let major = major.and_then(|_| kept.pop()).map(Room::into_narrow);
    let [end, start] =
        [kept.pop(), kept.pop()].map(|room| room.map_or_else(Vec::new, Room::into_wide));
    let minor = kept.pop().map_or_else(Vec::new, Room::into_narrow);
    group(&minor, major.as_deref(), &durations(&start, &end))
}
