//! Variables and allocations as rows, and who uses them.

use std::collections::BTreeMap;

use parallax_base::{ActivationIdx, ReferenceIdx};
use parallax_model::{Reference, Site, Touch};
use parallax_protocol::ReferenceTable;

use super::nodes::own_parts;
use super::{Rows, Run};

/// What something does with one reference.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Use {
    pub(super) reads: u64,
    pub(super) writes: u64,
    /// Line of the first read; 0 when unknown or not read.
    pub(super) read_line: u32,
    /// Line of the first write; 0 when unknown or not written.
    pub(super) write_line: u32,
}

impl Use {
    pub(super) const fn accesses(self) -> u64 {
        self.reads.saturating_add(self.writes)
    }

    pub(super) const fn add(&mut self, more: &Self) {
        self.reads += more.reads;
        self.writes += more.writes;
        if self.read_line == 0 {
            self.read_line = more.read_line;
        }
        if self.write_line == 0 {
            self.write_line = more.write_line;
        }
    }
}

impl From<Touch> for Use {
    fn from(touch: Touch) -> Self {
        let (reads, writes) = (u64::from(touch.reads), u64::from(touch.writes));
        Self { reads, writes, read_line: touch.read_line, write_line: touch.write_line }
    }
}

/// A reference and what is done with it.
pub(super) struct Used {
    pub(super) reference: ReferenceIdx,
    pub(super) used: Use,
}

/// What some activations read and write: their own code, or with everything below.
pub(super) fn uses_of(
    run: Run<'_>,
    members: &[ActivationIdx],
    is_inclusive: bool,
) -> BTreeMap<ReferenceIdx, Use> {
    let (tree, touches) = (&run.activations.tree, &run.activations.touches);
    let mut uses: BTreeMap<ReferenceIdx, Use> = BTreeMap::new();
    let mut add = |touch: Touch| {
        uses.entry(touch.reference).or_default().add(&touch.into());
    };
    for &member in members {
        if is_inclusive {
            touches.within(tree, member).for_each(&mut add);
        } else {
            own_parts(tree, member, |part| touches.of(part).for_each(&mut add));
        }
    }
    uses
}

impl Run<'_> {
    /// What the whole run does with each reference.
    pub(super) fn reference_totals(self) -> Vec<Use> {
        let mut totals = vec![Use::default(); self.activations.references.len()];
        for touch in self.activations.touches.all() {
            if let Some(total) = totals.get_mut(touch.reference.idx()) {
                total.add(&touch.into());
            }
        }
        totals
    }

    /// References as a table.
    pub(super) fn reference_table(self, rows: &Rows<Used>, is_related: bool) -> ReferenceTable {
        let list = rows.list.as_slice();
        let of = |row: &Used| self.activations.reference(row.reference);
        let counts = |number: fn(&Use) -> u64| -> Vec<u64> {
            list.iter().map(|row| number(&row.used)).collect()
        };
        let by = |site: fn(&Reference) -> Option<Site>| -> Vec<Option<u64>> {
            let by = |site: Site| u64::from(site.activation.get());
            list.iter().map(|row| site(&of(row)).map(by)).collect()
        };
        let known = |line: u32| (line > 0).then_some(u64::from(line));
        let at = |site: fn(&Reference) -> Option<Site>| -> Vec<Option<u64>> {
            list.iter().map(|row| site(&of(row)).and_then(|site| known(site.line))).collect()
        };
        let access_line = |line: fn(&Use) -> u32| -> Option<Vec<Option<u64>>> {
            is_related.then(|| list.iter().map(|row| known(line(&row.used))).collect())
        };
        ReferenceTable {
            of: rows.of(is_related),
            reference: list.iter().map(|row| row.reference.get()).collect(),
            name: list.iter().map(|row| name(&of(row))).collect(),
            storage: list.iter().map(|row| of(row).storage.name()).collect(),
            size_bytes: list.iter().map(|row| of(row).size_bytes).collect(),
            reads: counts(|used| used.reads),
            writes: counts(|used| used.writes),
            allocated_by: by(|reference| reference.allocated),
            freed_by: by(|reference| reference.freed),
            allocated_line: at(|reference| reference.allocated),
            freed_line: at(|reference| reference.freed),
            source_id: list.iter().map(|row| of(row).source_id).collect(),
            read_line: access_line(|used| used.read_line),
            write_line: access_line(|used| used.write_line),
        }
    }
}

/// The display name of a reference: with its member where that is known.
pub(crate) fn name(reference: &Reference) -> String {
    match &reference.member {
        Some(member) => format!("{}.{member}", reference.name),
        None => reference.name.to_string(),
    }
}
