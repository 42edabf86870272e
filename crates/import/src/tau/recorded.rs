//! What TAU recorded about single threads.
//!
//! TAU writes what all ranks have in common with the first thread only (`TAU MetaData Merge Time`
//! is among its facts then), so the others have these values, too:
//!
//! ```text
//! written:  rank 0  Hostname n076  pid 94763       rank 1  pid 94764
//! meant:    rank 0  Hostname n076  pid 94763       rank 1  pid 94764  Hostname n076
//! ```
//!
//! Where nothing was merged, a thread has what is written for it and nothing else.

use std::collections::HashSet;
use std::sync::Arc;

use parallax_base::LocationIdx;
use parallax_formats::tau::{Facts, Profiles, fact};
use parallax_model::RecordedFacts;

use super::Group;

/// The fact that says that common facts are written once.
const MERGED: &str = "TAU MetaData Merge Time";

/// What each thread has, in the order of locations: all threads of the first group come first,
/// after the summary.
pub(super) fn recorded(groups: &[Group]) -> Vec<RecordedFacts> {
    let mut texts = Texts::default();
    let mut out = Vec::new();
    let mut row = 1_usize;
    for group in groups {
        let profiles = &group.profiles;
        let common = common(profiles);
        for thread in &profiles.threads {
            let location = LocationIdx::from_len(row);
            row += 1;
            let own: HashSet<&str> = thread.metadata.iter().map(|(name, _)| &**name).collect();
            let more = common.iter().filter(|(name, _)| !own.contains(name.as_str()));
            let facts = thread.metadata.iter().chain(more);
            let facts: Vec<_> = facts
                .filter(|(name, value)| name != MERGED && !value.trim().is_empty())
                .map(|(name, value)| (texts.of(name), texts.of(value)))
                .collect();
            if !facts.is_empty() {
                out.push(RecordedFacts { location, facts });
            }
        }
    }
    out
}

/// What all threads of an application have.
fn common(profiles: &Profiles) -> Facts {
    let mut out = profiles.metadata.clone();
    let first = profiles.threads.first().map(|thread| &thread.metadata);
    if let Some(first) = first.filter(|facts| fact(facts, MERGED).is_some()) {
        out.extend(first.iter().cloned());
    }
    out
}

/// Texts of which equal ones are one.
#[derive(Default)]
struct Texts(HashSet<Arc<str>>);

impl Texts {
    fn of(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = text.into();
        self.0.insert(Arc::clone(&new));
        new
    }
}
