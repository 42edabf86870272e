//! Definitions of one location: how it numbers things, and how its clock runs.

use parallax_base::casts::low_u32;

use super::clock::{ClockCorrection, ClockOffset};
use super::fields::Fields;
use super::ids::Kind;

/// Translates the numbers that one location gave to the numbers of the trace.
///
/// A number that a table does not name is taken as it is, as libotf2 does.
#[derive(Debug, Clone, PartialEq)]
enum IdMap {
    /// The number of the trace for each local number from 0.
    Dense(Vec<u64>),
    /// Local and global numbers, in the order of the local ones.
    Sparse(Vec<(u64, u64)>),
}

impl IdMap {
    fn read(f: &mut Fields<'_>) -> Option<Self> {
        let size = f.c64()?;
        match f.u8()? {
            0 => f.list(size).map(Self::Dense),
            1 => {
                let numbers: Vec<u64> = f.list(size.checked_mul(2)?)?;
                let (pairs, _) = numbers.as_chunks::<2>();
                let mut pairs: Vec<(u64, u64)> = pairs.iter().map(|&[l, g]| (l, g)).collect();
                pairs.sort_by_key(|(local, _)| *local);
                Some(Self::Sparse(pairs))
            }
            _ => None,
        }
    }

    #[inline]
    fn global(&self, local: u64) -> u64 {
        let found = match self {
            Self::Dense(ids) => usize::try_from(local).ok().and_then(|at| ids.get(at)).copied(),
            Self::Sparse(pairs) => {
                let at = pairs.binary_search_by_key(&local, |(local, _)| *local).ok();
                at.and_then(|at| pairs.get(at)).map(|(_, global)| *global)
            }
        };
        found.unwrap_or(local)
    }
}

/// The mapping tables and the clock of one location.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Mappings {
    tables: [Option<IdMap>; Kind::COUNT],
    pub(super) clock: ClockCorrection,
}

impl Mappings {
    pub(super) fn global(&self, kind: Kind, local: u64) -> u64 {
        match self.tables.get(kind as usize) {
            Some(Some(table)) if local != u64::MAX => table.global(local),
            _ => local,
        }
    }

    /// For ids of 32 bits, whose undefined one has as many ones.
    #[inline]
    pub(super) fn global32(&self, kind: Kind, local: u32) -> u32 {
        match self.tables.get(kind as usize) {
            Some(Some(table)) if local != u32::MAX => {
                // TAU writes pointers for regions that it does not define; libotf2 cuts them, too.
                low_u32(table.global(u64::from(local)))
            }
            _ => local,
        }
    }
}

/// What the definition file of one location says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LocalDefinitions {
    pub(super) mappings: Mappings,
    /// The measurements of the location's clock, in the order of the file.
    pub clock_offsets: Vec<ClockOffset>,
    /// How many records were neither a known mapping table nor a clock offset.
    pub other_records: u64,
}

impl LocalDefinitions {
    /// Whether the location numbers anything itself.
    #[must_use]
    pub fn has_mappings(&self) -> bool {
        self.mappings.tables.iter().any(Option::is_some)
    }

    /// How the location's ticks are corrected.
    #[must_use]
    pub const fn clock(&self) -> &ClockCorrection {
        &self.mappings.clock
    }

    /// Adds the record of `kind`; `None` when its fields cannot be read.
    pub(super) fn add(&mut self, kind: u8, f: &mut Fields<'_>) -> Option<()> {
        match kind {
            5 => {
                let which = usize::from(f.u8()?);
                let table = IdMap::read(f)?;
                match self.mappings.tables.get_mut(which) {
                    Some(place) => *place = Some(table),
                    None => self.other_records += 1,
                }
            }
            6 => self.clock_offsets.push(ClockOffset {
                time_ticks: f.u64()?,
                offset_ticks: f.get()?,
                standard_deviation: f.f64()?,
            }),
            _ => self.other_records += 1,
        }
        Some(())
    }

    /// Draws the lines between the clock offsets; returns how many offsets could not be used.
    pub(super) fn finish(&mut self) -> usize {
        let (clock, dropped) = ClockCorrection::new(&self.clock_offsets);
        self.mappings.clock = clock;
        dropped
    }
}

#[cfg(test)]
mod tests {
    use super::super::fields::ByteOrder;
    use super::*;

    fn table(bytes: &[u8]) -> Option<IdMap> {
        IdMap::read(&mut Fields::new(bytes, ByteOrder::Little, &Mappings::default()))
    }

    #[test]
    fn tables_translate_what_they_name_and_leave_the_rest() {
        let dense = table(&[1, 2, 0, 1, 31, 1, 30]).unwrap();
        assert_eq!([0, 1, 2].map(|id| dense.global(id)), [31, 30, 2]);
        let sparse = table(&[1, 2, 1, 1, 9, 1, 4, 1, 1, 0]).unwrap();
        assert_eq!([0, 1, 9].map(|id| sparse.global(id)), [0, 0, 4]);
    }

    #[test]
    fn a_table_longer_than_its_record_is_refused() {
        assert_eq!(table(&[8, 255, 255, 255, 255, 255, 255, 255, 255, 1, 0]), None);
        assert_eq!(table(&[1, 3, 0, 0, 0]), None);
        assert_eq!(table(&[1, 1, 7, 0]), None);
    }
}
