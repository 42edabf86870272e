//! What a source says about single tracks, such as their host.
//!
//! What is the same on all tracks of an input that say it is a fact about the whole input, written
//! once: a trace of 100,000 ranks says the name of their processor once, and their process numbers
//! one by one.

use std::collections::BTreeMap;

/// Facts about tracks, as they come.
#[derive(Debug, Clone, Default)]
pub(super) struct TrackFacts {
    by_name: BTreeMap<String, BTreeMap<u32, String>>,
}

/// Facts in the order in which they are written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SortedFacts {
    /// Input, name and value of what is about all of an input.
    pub(super) shared: Vec<(usize, String, String)>,
    /// Track, name and value of the others.
    pub(super) own: Vec<(u32, String, String)>,
}

impl TrackFacts {
    /// Takes a fact about a track; of repeated names the first counts.
    pub(super) fn take(&mut self, track: u32, name: &str, value: &str) {
        if !self.by_name.contains_key(name) {
            self.by_name.insert(name.to_owned(), BTreeMap::new());
        }
        if let Some(values) = self.by_name.get_mut(name) {
            values.entry(track).or_insert_with(|| value.to_owned());
        }
    }

    /// All of them; `input` is where a track is from.
    pub(super) fn finish(self, input: impl Fn(u32) -> usize) -> SortedFacts {
        let mut out = SortedFacts::default();
        for (name, values) in self.by_name {
            // The value of each input, and whether there are several.
            let mut of_inputs: BTreeMap<usize, (&str, bool)> = BTreeMap::new();
            for (&track, value) in &values {
                let known = of_inputs.entry(input(track)).or_insert((value, false));
                known.1 |= known.0 != value;
            }
            let mut differs = BTreeMap::new();
            for (number, (value, is_several)) in of_inputs {
                differs.insert(number, is_several);
                if !is_several {
                    out.shared.push((number, name.clone(), value.to_owned()));
                }
            }
            for (track, value) in values {
                if differs.get(&input(track)) == Some(&true) {
                    out.own.push((track, name.clone(), value));
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_tracks_of_an_input_say_is_written_once() {
        let mut facts = TrackFacts::default();
        for (track, host, pid) in [(0, "a", "10"), (1, "a", "11"), (2, "b", "10")] {
            facts.take(track, "Hostname", host);
            facts.take(track, "pid", pid);
        }
        facts.take(0, "pid", "99");
        let found = facts.finish(|track| usize::from(track == 2));
        let shared = |input, name: &str, value: &str| (input, name.to_owned(), value.to_owned());
        let own = |track, value: &str| (track, "pid".to_owned(), value.to_owned());
        let expected = SortedFacts {
            shared: vec![
                shared(0, "Hostname", "a"),
                shared(1, "Hostname", "b"),
                shared(1, "pid", "10"),
            ],
            own: vec![own(0, "10"), own(1, "11")],
        };
        assert_eq!(found, expected);
    }
}
