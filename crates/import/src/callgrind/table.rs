//! All files of a run in one table, with functions and events under one numbering.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parallax_formats::callgrind::CallgrindProfile;

/// A thread of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ThreadKey {
    pub(super) process: u64,
    pub(super) thread: u64,
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Named {
    /// The name as the file has it, with callers where they were distinguished.
    pub(super) full: Arc<str>,
    pub(super) file: Option<Arc<str>>,
    pub(super) object: Option<Arc<str>>,
}

/// A place in the code of a function: file, line, address.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct At {
    pub(super) file: Option<Arc<str>>,
    pub(super) line: u32,
    pub(super) address: u64,
}

/// Numbers of one thing: by place and event, as [`Table::columns`] counts.
pub(super) type Costs = Vec<u64>;

/// Calls from one place in a function to another function.
#[derive(Debug, Clone)]
pub(super) struct CallArc {
    pub(super) caller: usize,
    pub(super) at: At,
    pub(super) callee: usize,
    /// Inclusive costs, and at [`Table::calls_column`] how often.
    pub(super) costs: Costs,
}

/// An event: name, meaning, and factors of other events if it is computed.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) name: Arc<str>,
    pub(super) long_name: Arc<str>,
    pub(super) terms: Vec<(u64, usize)>,
}

/// Everything that the files say.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) places: Vec<ThreadKey>,
    pub(super) events: Vec<Event>,
    pub(super) derived: Vec<Event>,
    pub(super) functions: Vec<Named>,
    /// What functions cost themselves, by function.
    pub(super) own: Vec<BTreeMap<At, Costs>>,
    pub(super) arcs: Vec<CallArc>,
    /// Whether a sum reached the largest number of 64 bits, and stopped there.
    pub(super) is_saturated: bool,
}

/// Adds to a sum; says whether it stayed below the largest number, where the sums of the reader
/// stop, too.
pub(super) fn add_checked(sum: &mut u64, cost: u64) -> bool {
    *sum = sum.saturating_add(cost);
    *sum < u64::MAX
}

impl Table {
    pub(super) fn of(profiles: &[CallgrindProfile]) -> Self {
        let mut out = Self::default();
        let mut places: Vec<ThreadKey> = Vec::new();
        for profile in profiles {
            for event in &profile.events {
                if !out.events.iter().any(|known| known.name == event.name) {
                    out.events.push(Event {
                        name: Arc::clone(&event.name),
                        long_name: Arc::clone(&event.long_name),
                        terms: Vec::new(),
                    });
                }
            }
            places.extend(profile.parts.iter().map(place));
        }
        places.sort_unstable();
        places.dedup();
        out.places = places;
        for profile in profiles {
            out.derive(profile);
        }
        let mut functions: HashMap<Named, usize> = HashMap::new();
        let mut arcs: HashMap<(usize, At, usize), usize> = HashMap::new();
        for profile in profiles {
            out.add(profile, &mut functions, &mut arcs);
        }
        out
    }

    /// Events and calls of one place.
    pub(super) fn width(&self) -> usize {
        self.events.len() + 1
    }

    /// Numbers in [`Costs`].
    pub(super) fn columns(&self) -> usize {
        self.width() * self.places.len()
    }

    /// Where the number of calls stands among the numbers of one place.
    pub(super) fn calls_column(&self) -> usize {
        self.events.len()
    }

    fn derive(&mut self, profile: &CallgrindProfile) {
        for event in &profile.derived {
            if self.derived.iter().any(|known| known.name == event.name) {
                continue;
            }
            let at = |own: usize| {
                let name = &profile.events.get(own)?.name;
                self.events.iter().position(|known| known.name == *name)
            };
            let terms = event.terms.iter().filter_map(|&(factor, own)| Some((factor, at(own)?)));
            let terms = terms.collect();
            let (name, long_name) = (Arc::clone(&event.name), Arc::clone(&event.long_name));
            self.derived.push(Event { name, long_name, terms });
        }
    }

    fn add(
        &mut self,
        profile: &CallgrindProfile,
        functions: &mut HashMap<Named, usize>,
        arcs: &mut HashMap<(usize, At, usize), usize>,
    ) {
        let text = |list: &[Arc<str>], at: Option<u32>| {
            at.and_then(|at| list.get(at as usize)).map(Arc::clone)
        };
        let events: Vec<usize> = profile
            .events
            .iter()
            .map(|own| self.events.iter().position(|known| known.name == own.name).unwrap_or(0))
            .collect();
        let rows: Vec<usize> = profile
            .functions
            .iter()
            .map(|function| {
                let named = Named {
                    full: text(&profile.names, Some(function.name)).unwrap_or_else(|| "???".into()),
                    file: text(&profile.files, function.file),
                    object: text(&profile.objects, function.object),
                };
                let next = self.functions.len();
                let at = *functions.entry(named.clone()).or_insert(next);
                if at == next {
                    self.functions.push(named);
                    self.own.push(BTreeMap::new());
                }
                at
            })
            .collect();
        let row = |own: u32| rows.get(own as usize).copied();
        let columns = self.columns();
        let mut fits = true;
        for part in &profile.parts {
            let Ok(at_place) = self.places.binary_search(&place(part)) else { continue };
            let base = at_place * self.width();
            let add = |into: &mut Costs, costs: &[u64]| {
                let pairs = events.iter().zip(costs);
                pairs.fold(true, |fits, (&event, &cost)| {
                    let slot = into.get_mut(base + event);
                    slot.is_none_or(|slot| add_checked(slot, cost)) && fits
                })
            };
            for cost in &part.costs {
                let Some(own) = row(cost.spot.function).and_then(|row| self.own.get_mut(row))
                else {
                    continue;
                };
                let at = At {
                    file: text(&profile.files, cost.spot.file),
                    line: cost.spot.line,
                    address: cost.spot.address,
                };
                fits &= add(own.entry(at).or_insert_with(|| vec![0; columns]), &cost.costs);
            }
            let calls_column = base + self.events.len();
            for call in &part.calls {
                let (Some(caller), Some(callee)) = (row(call.from.function), row(call.callee))
                else {
                    continue;
                };
                let at = At {
                    file: text(&profile.files, call.from.file),
                    line: call.from.line,
                    address: call.from.address,
                };
                let next = self.arcs.len();
                let slot = *arcs.entry((caller, at.clone(), callee)).or_insert(next);
                if slot == next {
                    self.arcs.push(CallArc { caller, at, callee, costs: vec![0; columns] });
                }
                if let Some(arc) = self.arcs.get_mut(slot) {
                    fits &= add(&mut arc.costs, &call.costs);
                    if let Some(calls) = arc.costs.get_mut(calls_column) {
                        fits &= add_checked(calls, call.count);
                    }
                }
            }
        }
        self.is_saturated |= !fits;
    }
}

fn place(part: &parallax_formats::callgrind::Part) -> ThreadKey {
    ThreadKey { process: part.process.unwrap_or(0), thread: part.thread.unwrap_or(0) }
}
