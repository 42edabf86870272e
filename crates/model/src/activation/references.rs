//! [`References`]: variables and allocations.

use std::collections::HashMap;
use std::sync::Arc;

use parallax_base::ActivationIdx;
use parallax_base::casts::{low_u8, low_u32};
use parallax_base::paged::{Paged, Paging};

use super::{Reference, Site, StorageClass};

/// All variables and allocations of a run, by position.
///
/// A run may have more of them than memory has room for: they are in packed blocks, of which those
/// asked for last are at hand. Each different name is kept once.
#[derive(Debug, Clone, Default)]
pub struct References {
    rows: Paged<9>,
    names: Vec<Arc<str>>,
    known: HashMap<Arc<str>, u32>,
}

/// Number of the name.
const NAME: usize = 0;
/// One more than the number of the member's name; 0 for none.
const MEMBER: usize = 1;
const STORAGE: usize = 2;
/// One more than the bytes; 0 when unknown.
const SIZE: usize = 3;
/// One more than the activation; 0 for none.
const ALLOCATED: usize = 4;
const ALLOCATED_LINE: usize = 5;
const FREED: usize = 6;
const FREED_LINE: usize = 7;
const SOURCE: usize = 8;

impl References {
    /// None yet; `paging` says where they will be.
    #[must_use]
    pub fn paged(paging: &Paging) -> Self {
        Self { rows: Paged::new(paging), ..Self::default() }
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds one.
    pub fn push(&mut self, reference: &Reference) {
        let Reference { name, member, storage, size_bytes, allocated, freed, source_id } =
            reference;
        let site = |site: &Option<Site>| {
            site.map_or((0, 0), |site| (u64::from(site.activation.get()) + 1, site.line.into()))
        };
        let ((allocated, allocated_line), (freed, freed_line)) = (site(allocated), site(freed));
        let name = self.name(name).into();
        let member = member.as_ref().map_or(0, |member| u64::from(self.name(member)) + 1);
        let size = size_bytes.map_or(0, |bytes| bytes.saturating_add(1));
        let storage = storage.bits().into();
        self.rows.push([
            name,
            member,
            storage,
            size,
            allocated,
            allocated_line,
            freed,
            freed_line,
            *source_id,
        ]);
    }

    fn name(&mut self, name: &Arc<str>) -> u32 {
        if let Some(&known) = self.known.get(name) {
            return known;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(Arc::clone(name));
        self.known.insert(Arc::clone(name), number);
        number
    }

    /// The one at a position; `None` behind the last one.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<Reference> {
        if at >= self.len() {
            return None;
        }
        let row = self.rows.get(at);
        let name = |number: u64| self.names.get(low_u32(number) as usize).cloned();
        let site = |activation: u64, line: u64| {
            let activation = ActivationIdx::new(low_u32(activation.checked_sub(1)?));
            Some(Site { activation, line: low_u32(line) })
        };
        Some(Reference {
            name: name(row[NAME]).unwrap_or_else(|| "".into()),
            member: row[MEMBER].checked_sub(1).and_then(name),
            storage: StorageClass::from_bits(low_u8(low_u32(row[STORAGE]) & 255)),
            size_bytes: row[SIZE].checked_sub(1),
            allocated: site(row[ALLOCATED], row[ALLOCATED_LINE]),
            freed: site(row[FREED], row[FREED_LINE]),
            source_id: row[SOURCE],
        })
    }

    /// Its size in bytes, where that is known.
    #[must_use]
    pub fn size_bytes(&self, at: usize) -> Option<u64> {
        self.rows.cell(at, SIZE).checked_sub(1)
    }

    /// Whether two have the same name and member.
    #[must_use]
    pub fn are_namesakes(&self, a: usize, b: usize) -> bool {
        let cell = |at, number| self.rows.cell(at, number);
        cell(a, NAME) == cell(b, NAME) && cell(a, MEMBER) == cell(b, MEMBER)
    }

    /// All of them in order.
    pub fn iter(&self) -> impl Iterator<Item = Reference> + '_ {
        (0..self.len()).filter_map(|at| self.get(at))
    }
}

impl FromIterator<Reference> for References {
    fn from_iter<I: IntoIterator<Item = Reference>>(references: I) -> Self {
        let mut out = Self::default();
        references.into_iter().for_each(|reference| out.push(&reference));
        out
    }
}
