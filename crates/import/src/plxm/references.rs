//! Which variable or allocation an address belongs to.
//!
//! What the program names as an allocation or a local variable is a reference from then on until it
//! is given back. Any other memory that is accessed is known by its address for the whole run:
//!
//! ```text
//! read  total   8 bytes at 100     a new reference `total`
//! write total   8 bytes at 100     the same
//! read  a[i]    4 bytes at 200     a new reference `a`
//! read  a[i]    4 bytes at 204     the same: elements under one name in one function are one
//! write b[0]    4 bytes at 204     the same, whatever its name is there
//! ```

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parallax_formats::plxm::{SourceLocation, Variable};
use parallax_model::{Reference, StorageClass};

/// A place in the program: a number of push and a line.
pub(super) type PushedSite = Option<(u32, u32)>;

/// A reference before activations are in order.
pub(super) struct Draft {
    pub(super) reference: Reference,
    pub(super) allocated: PushedSite,
    pub(super) freed: PushedSite,
}

/// A range of memory.
#[derive(Debug, Clone, Copy)]
struct Extent {
    end: u64,
    reference: u32,
    /// Whether the program named it.
    is_named: bool,
}

/// All references, and what lies where.
pub(super) struct References {
    pub(super) list: Vec<Draft>,
    /// By the first byte; they do not overlap.
    extents: BTreeMap<u64, Extent>,
    /// By expression and function: arrays whose elements were accessed, and where they lie.
    arrays: HashMap<(Arc<str>, u32), u32>,
    /// The same the other way round.
    array_of: HashMap<u32, (Arc<str>, u32)>,
    /// Variables that have not been accessed yet, by address.
    variables: BTreeMap<u64, Variable>,
    /// By place: the last one that was allocated there.
    last_at: HashMap<u32, u32>,
    /// Of those without a name.
    hulls: HashMap<u32, Hull>,
    most: usize,
    pub(super) num_lost: u64,
}

/// What is known of the size of memory without a name.
struct Hull {
    /// The lowest byte, and the one after the highest.
    from: u64,
    to: u64,
    /// How many between them were accessed.
    accessed: u64,
}

impl Hull {
    /// So much more than what was accessed is no array with gaps, but variables that are apart: those
    /// of several threads on one line.
    const MOST_GAPS: u64 = 64;

    fn size_bytes(&self) -> Option<u64> {
        let size = self.to - self.from;
        (size <= self.accessed.saturating_mul(Self::MOST_GAPS)).then_some(size)
    }
}

/// Bytes of a reference, about.
const REFERENCE_BYTES: u64 = 256;

impl References {
    pub(super) fn new(variables: &[Variable], most_bytes: u64) -> Self {
        let variables = variables.iter().map(|variable| (variable.address, variable.clone()));
        Self {
            list: Vec::new(),
            extents: BTreeMap::new(),
            arrays: HashMap::new(),
            array_of: HashMap::new(),
            variables: variables.collect(),
            last_at: HashMap::new(),
            hulls: HashMap::new(),
            most: usize::try_from(most_bytes / REFERENCE_BYTES).unwrap_or(usize::MAX),
            num_lost: 0,
        }
    }

    /// Memory becomes an allocation or a variable; what lay there before is gone.
    pub(super) fn allocate(
        &mut self,
        (address, bytes): (u64, u64),
        (number, place): (u32, Option<&SourceLocation>),
        storage: u8,
        site: PushedSite,
    ) {
        let end = address.saturating_add(bytes.max(1));
        self.clear(address, end);
        let reference = if self.list.len() < self.most {
            let at = self.push(name_of(place), Some(bytes), StorageClass::from_bits(storage));
            if let Some(draft) = self.list.get_mut(at as usize) {
                draft.allocated = site;
            }
            self.last_at.insert(number, at);
            at
        } else {
            // Too many: those of one place become one.
            self.num_lost += 1;
            let Some(&last) = self.last_at.get(&number) else { return };
            last
        };
        self.extents.insert(address, Extent { end, reference, is_named: true });
    }

    /// An allocation or variable ends.
    pub(super) fn release(&mut self, address: u64, site: PushedSite) {
        let Some(extent) = self.extents.get(&address).filter(|extent| extent.is_named) else {
            return;
        };
        if let Some(draft) = self.list.get_mut(extent.reference as usize) {
            draft.freed = site;
        }
        self.extents.remove(&address);
    }

    /// One more of the same name; the same one when there are too many.
    pub(super) fn twin(&mut self, of: u32) -> u32 {
        let room = self.list.len() < self.most;
        match self.list.get(of as usize).filter(|_| room).map(|draft| draft.reference.clone()) {
            Some(same) => self.push(same.name, Some(1), same.storage),
            None => of,
        }
    }

    /// A function returns: what lay in its part of the stack is gone, and what lies there next is
    /// something else.
    pub(super) fn end_frame(&mut self, address: u64, bytes: u64) {
        let end = address.saturating_add(bytes);
        for (_, extent) in self.extents.range(address..end) {
            if let Some(array) = self.array_of.remove(&extent.reference) {
                self.arrays.remove(&array);
            }
        }
        self.clear(address, end);
    }

    /// What an access goes to: nearly always one reference, several where they lie inside of it.
    /// `function` distinguishes functions.
    pub(super) fn find(
        &mut self,
        address: u64,
        bytes: u64,
        place: Option<&SourceLocation>,
        function: u32,
        found: &mut Vec<u32>,
    ) {
        found.clear();
        let end = address.saturating_add(bytes.max(1));
        let mut unnamed = None;
        // Where nothing is known yet.
        let mut gaps: Vec<(u64, u64)> = Vec::new();
        let mut at = address;
        let before = self.extents.range(..=address).next_back();
        let before = before.filter(|(_, extent)| extent.end > address);
        let first = before.map_or(address, |(&start, _)| start);
        for (&start, extent) in self.extents.range(first..end) {
            if start > at {
                gaps.push((at, start));
            }
            at = extent.end;
            if !found.contains(&extent.reference) {
                found.push(extent.reference);
            }
            if !extent.is_named {
                unnamed.get_or_insert(extent.reference);
            }
        }
        if at < end {
            gaps.push((at, end));
        }
        if !gaps.is_empty() && self.reveal(address, end) {
            return self.find(address, bytes, place, function, found);
        }
        if found.is_empty() {
            let Some(reference) = self.unnamed(place, function) else {
                self.num_lost += 1;
                return;
            };
            unnamed = Some(reference);
            found.push(reference);
        }
        // Beyond the end of an allocation nothing is made up.
        let Some(reference) = unnamed else { return };
        for (start, end) in gaps {
            self.extend(start, end, reference);
        }
    }

    /// Makes references of the variables in a range; whether there are any.
    fn reveal(&mut self, start: u64, end: u64) -> bool {
        let mut is_found = false;
        while let Some((&at, variable)) = self.variables.range(..end).next_back()
            && variable.address.saturating_add(variable.bytes) > start
            && self.list.len() < self.most
        {
            let (name, bytes) = (Arc::from(variable.name.as_str()), variable.bytes);
            let storage = StorageClass::from_bits(variable.storage);
            self.variables.remove(&at);
            let reference = self.push(name, Some(bytes), storage);
            self.clear(at, at.saturating_add(bytes));
            let end = at.saturating_add(bytes);
            self.extents.insert(at, Extent { end, reference, is_named: true });
            is_found = true;
        }
        is_found
    }

    /// The references, with the sizes of those without a name.
    pub(super) fn finish(mut self) -> Vec<Draft> {
        for (reference, hull) in self.hulls {
            if let Some(draft) = self.list.get_mut(reference as usize) {
                draft.reference.size_bytes = hull.size_bytes();
            }
        }
        self.list
    }

    /// A reference for memory without a name.
    fn unnamed(&mut self, place: Option<&SourceLocation>, function: u32) -> Option<u32> {
        let name = name_of(place);
        let Some((array, _)) = name.split_once('[').filter(|(array, _)| !array.is_empty()) else {
            return (self.list.len() < self.most)
                .then(|| self.push(name, None, StorageClass::default()));
        };
        let array: Arc<str> = array.trim().into();
        if let Some(&known) = self.arrays.get(&(Arc::clone(&array), function)) {
            return Some(known);
        }
        if self.list.len() >= self.most {
            return None;
        }
        let at = self.push(Arc::clone(&array), None, StorageClass::default());
        self.array_of.insert(at, (Arc::clone(&array), function));
        self.arrays.insert((array, function), at);
        Some(at)
    }

    fn push(&mut self, name: Arc<str>, size_bytes: Option<u64>, storage: StorageClass) -> u32 {
        let at = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        let reference = Reference {
            name,
            member: None,
            storage,
            size_bytes,
            allocated: None,
            freed: None,
            source_id: u64::from(at) + 1,
        };
        self.list.push(Draft { reference, allocated: None, freed: None });
        at
    }

    /// Gives a free range to a reference without a name.
    fn extend(&mut self, start: u64, end: u64, reference: u32) {
        let hull = Hull { from: start, to: end, accessed: 0 };
        let hull = self.hulls.entry(reference).or_insert(hull);
        (hull.from, hull.to) = (hull.from.min(start), hull.to.max(end));
        hull.accessed = hull.accessed.saturating_add(end - start);
        if let Some((_, before)) = self.extents.range_mut(..start).next_back()
            && before.end == start
            && before.reference == reference
        {
            before.end = end;
            return;
        }
        self.extents.insert(start, Extent { end, reference, is_named: false });
    }

    /// Removes what lies in a range.
    fn clear(&mut self, start: u64, end: u64) {
        if let Some((_, before)) = self.extents.range_mut(..start).next_back()
            && before.end > start
        {
            let rest = *before;
            before.end = start;
            if rest.end > end {
                self.extents.insert(end, rest);
            }
        }
        while let Some((&at, &extent)) = self.extents.range(start..end).next() {
            self.extents.remove(&at);
            if extent.end > end {
                self.extents.insert(end, extent);
            }
        }
    }
}

/// What an expression says is accessed, without the operator that takes an address.
fn name_of(place: Option<&SourceLocation>) -> Arc<str> {
    let name = place.map_or("", |place| place.name.trim().trim_start_matches('&'));
    if name.is_empty() { "<unnamed>".into() } else { name.into() }
}

#[cfg(test)]
mod tests {
    use parallax_formats::plxm::PlaceKind;

    use super::*;

    fn place(name: &str) -> SourceLocation {
        SourceLocation {
            kind: PlaceKind::Other,
            name: name.to_owned(),
            file: "a.c".to_owned(),
            function: "f".to_owned(),
            line: 1,
            inline_depth: 0,
        }
    }

    fn find(references: &mut References, name: &str, address: u64, bytes: u64) -> Vec<u32> {
        let mut found = Vec::new();
        references.find(address, bytes, Some(&place(name)), 0, &mut found);
        found
    }

    #[test]
    fn unnamed_memory_is_known_by_its_address() {
        let mut all = References::new(&[], 1 << 20);
        assert_eq!(find(&mut all, "total", 100, 8), [0]);
        assert_eq!(find(&mut all, "&total", 100, 8), [0]);
        assert_eq!(find(&mut all, "a[i]", 200, 4), [1]);
        assert_eq!(find(&mut all, "a[i + 1]", 204, 4), [1]);
        assert_eq!(find(&mut all, "b", 206, 1), [1]);
        assert_eq!(find(&mut all, "x", 220, 4), [2]);
        // One access to everything: all that lies there, and what lay between goes to the first.
        assert_eq!(find(&mut all, "whole", 200, 24), [1, 2]);
        assert_eq!(find(&mut all, "between", 212, 2), [1]);
        let names: Vec<_> = all.finish().into_iter().map(|d| d.reference).collect();
        let shown: Vec<_> = names.iter().map(|r| (&*r.name, r.size_bytes)).collect();
        assert_eq!(shown, [("total", Some(8)), ("a", Some(20)), ("x", Some(4))]);
    }

    #[test]
    fn an_allocation_lasts_until_it_is_released() {
        let mut all = References::new(&[], 1 << 20);
        let grid = place("grid");
        let allocate = |all: &mut References, from, bytes| {
            all.allocate((from, bytes), (7, Some(&grid)), 2, Some((0, 3)));
        };
        allocate(&mut all, 1000, 100);
        assert_eq!(find(&mut all, "grid[4]", 1016, 4), [0]);
        all.release(1000, Some((1, 9)));
        assert_eq!(find(&mut all, "other", 1016, 4), [1]);
        // The same memory again, and a part of it is used for something else.
        allocate(&mut all, 1000, 100);
        allocate(&mut all, 1040, 20);
        let at = [1000, 1039, 1040, 1060, 1099].map(|at| find(&mut all, "p", at, 1));
        assert_eq!(at, [[2], [2], [3], [2], [2]]);
        assert_eq!(find(&mut all, "p", 1030, 40), [2, 3]);
        let drafts = all.finish();
        assert_eq!((drafts[0].allocated, drafts[0].freed), (Some((0, 3)), Some((1, 9))));
        assert_eq!(drafts[2].reference.size_bytes, Some(100));
    }
    #[test]
    fn variables_of_the_program_are_references_when_they_are_accessed() {
        let variable = |address, bytes, name: &str| Variable {
            address,
            bytes,
            storage: 8,
            name: name.to_owned(),
        };
        let variables =
            [variable(100, 40, "table"), variable(140, 4, "count"), variable(200, 8, "x")];
        let mut all = References::new(&variables, 1 << 20);
        assert_eq!(find(&mut all, "f:3[]", 144, 4), [0], "next to a variable");
        assert_eq!(find(&mut all, "f:4[]", 108, 4), [1]);
        assert_eq!(find(&mut all, "f:5[]", 136, 4), [1]);
        // All of one and the beginning of the next one.
        assert_eq!(find(&mut all, "f:6[]", 100, 44), [1, 2]);
        let names: Vec<_> = all.finish().into_iter().map(|draft| draft.reference.name).collect();
        assert_eq!(names.iter().map(|name| &**name).collect::<Vec<_>>(), ["f:3", "table", "count"]);
    }

    #[test]
    fn memory_of_a_function_that_returned_is_something_else_in_the_next_call() {
        let mut all = References::new(&[], 1 << 20);
        assert_eq!(find(&mut all, "f:3[]", 500, 4), [0]);
        assert_eq!(find(&mut all, "f:3[]", 504, 4), [0]);
        assert_eq!(find(&mut all, "g:9[]", 600, 4), [1]);
        all.end_frame(496, 64);
        assert_eq!(find(&mut all, "f:3[]", 500, 4), [2], "the next call");
        assert_eq!(find(&mut all, "h:1[]", 600, 4), [1], "its caller still has what it had");
    }
}
