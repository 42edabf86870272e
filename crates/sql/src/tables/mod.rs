//! The tables of an experiment or an ensemble, by name.

mod catalogue;
mod derived;
mod ensembles;
mod events;
mod recordings;
mod samples;
mod values;

use std::sync::Arc;

use datafusion::common::DataFusionError;
use parallax_base::LocationIdx;
use parallax_service::ServiceError;

use crate::filters::Wanted;

pub(crate) use catalogue::{Catalogue, of};

/// Why a table cannot be read, as DataFusion passes it on.
pub(crate) fn failed(error: impl Into<ServiceError>) -> DataFusionError {
    DataFusionError::External(Box::new(error.into()))
}

/// Parts of a list that are read one after the other: each with about `most` rows, given how many all
/// have together.
pub(crate) fn parts<T: Clone>(list: &[T], rows: u64, most: usize) -> Vec<Arc<[T]>> {
    let parts = rows.div_ceil(most.max(1) as u64).max(1);
    let len = (list.len() as u64).div_ceil(parts).max(1);
    list.chunks(usize::try_from(len).unwrap_or(usize::MAX)).map(Into::into).collect()
}

/// What is wanted by ranges of locations that have about as many rows each: of `rows` for each
/// location, ascending. At most `most` ranges, each of `least` rows or more where there are several.
pub(crate) fn by_location(
    wanted: &Wanted,
    rows: &[(LocationIdx, u64)],
    most: usize,
    least: u64,
) -> Vec<Wanted> {
    let whole: u64 = rows.iter().map(|(_, rows)| rows).sum();
    let parts = (whole / least.max(1)).clamp(1, most.max(1) as u64);
    let mut out = Vec::new();
    let (mut first, mut so_far) = (0, 0_u64);
    for (at, &(location, more)) in rows.iter().enumerate() {
        so_far += more;
        let is_last = at + 1 == rows.len();
        let is_full =
            u128::from(so_far) * u128::from(parts) >= u128::from(whole) * (out.len() as u128 + 1);
        // Tracks of one location stay together.
        let is_end = rows.get(at + 1).is_none_or(|&(next, _)| next != location);
        if is_last || (is_full && is_end && (out.len() as u64) + 1 < parts) {
            // The first and the last part reach beyond, so that no location is in none.
            let last = if is_last { u64::MAX } else { u64::from(location.get()) };
            out.push(wanted.clone().within("profile_id", first, last));
            first = last.saturating_add(1);
        }
    }
    if out.is_empty() { vec![wanted.clone()] } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_every_location_once_and_about_as_many_rows() {
        let rows: Vec<(LocationIdx, u64)> =
            (0..100).map(|at| (LocationIdx::new(at), u64::from(at % 7) * 100)).collect();
        for most in [1, 2, 3, 8, 99, 1000] {
            let parts = by_location(&Wanted::default(), &rows, most, 1);
            assert!(parts.len() <= most, "{most}: {}", parts.len());
            let of = |part: &Wanted| {
                let numbers = part.of("profile_id");
                let chosen = rows.iter().filter(|(at, _)| numbers.contains(at.get().into()));
                (chosen.clone().count(), chosen.map(|(_, rows)| rows).sum::<u64>())
            };
            assert_eq!(parts.iter().map(|part| of(part).0).sum::<usize>(), 100, "{most}");
            let whole: u64 = rows.iter().map(|(_, rows)| rows).sum();
            let largest = parts.iter().map(|part| of(part).1).max().unwrap_or_default();
            assert!(largest <= whole / parts.len() as u64 + 600, "{most}: {largest} of {whole}");
        }
        // Few rows are one part.
        assert_eq!(by_location(&Wanted::default(), &rows, 8, 1 << 20).len(), 1);
        assert_eq!(by_location(&Wanted::default(), &[], 8, 1), [Wanted::default()]);
    }
}
