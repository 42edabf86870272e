//! What several activations touch, and one of them writes.

use parallax_base::ActivationIdx;
use parallax_model::Touch;

use super::reach::Reach;

/// A touch by one of several sibling activations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub(super) reference: u32,
    /// Which of the activations.
    pub(super) part: u32,
    /// Number of its first access.
    pub(super) first: u32,
    /// Position among all touches.
    pub(super) position: u32,
}

/// What is known of a reference while activations are gone through.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    round: u32,
    part: u32,
    is_shared: bool,
    is_written: bool,
}

/// Room that is used again for each set of activations.
#[derive(Debug, Default)]
pub(super) struct SharedTouches {
    seen: Vec<Seen>,
    round: u32,
    entries: Vec<Entry>,
}

impl SharedTouches {
    pub(super) fn new(reach: &Reach<'_>) -> Self {
        Self {
            seen: vec![Seen::default(); reach.run.references.len()],
            round: 0,
            entries: Vec::new(),
        }
    }

    /// The touches of references that several of `parts` touch and at least one writes, by
    /// reference, part, and order of the run. Visits all touches, others as well.
    pub(super) fn collect(
        &mut self,
        reach: &Reach<'_>,
        parts: &[ActivationIdx],
        mut visit: impl FnMut(ActivationIdx, usize, &Touch),
    ) -> &[Entry] {
        self.round += 1;
        self.entries.clear();
        let round = self.round;
        for (number, &part) in (0_u32..).zip(parts) {
            let seen = &mut self.seen;
            reach.touches(part, |position| {
                let Some(touch) = reach.touch(position) else { return };
                visit(part, position, &touch);
                let Some(slot) = seen.get_mut(touch.reference.idx()) else { return };
                if slot.round == round {
                    slot.is_shared |= slot.part != number;
                    slot.is_written |= touch.writes > 0;
                    slot.part = number;
                } else {
                    let is_written = touch.writes > 0;
                    *slot = Seen { round, part: number, is_shared: false, is_written };
                }
            });
        }
        for (number, &part) in (0_u32..).zip(parts) {
            let (seen, entries) = (&self.seen, &mut self.entries);
            reach.touches(part, |position| {
                let Some(touch) = reach.touch(position) else { return };
                let is_wanted = seen
                    .get(touch.reference.idx())
                    .is_some_and(|slot| slot.round == round && slot.is_shared && slot.is_written);
                if is_wanted && let Ok(position) = u32::try_from(position) {
                    let reference = touch.reference.get();
                    entries.push(Entry { reference, part: number, first: touch.first, position });
                }
            });
        }
        self.entries.sort_unstable();
        &self.entries
    }
}
