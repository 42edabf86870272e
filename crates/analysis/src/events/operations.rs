//! Which records of collective operations belong together.
//!
//! Every process of a communicator calls its collective operations in the same order (MPI standard
//! 4.1, section 6.14), so the n-th record of each rank is of the n-th operation, as long as no
//! record is missing. One that is missing would shift all that follow:
//!
//! ```text
//! rank 0   A  B  C  D          rank 0   A  B  C  D
//! rank 1   A  C  D       not   rank 1   A  C  D      but   A  -  C  D
//! ```
//!
//! The ranks are compared with the one that has most records. Where number, operations and roots
//! are the same and what must overlap in time does, records are taken as they come. Where not, the two
//! sequences are aligned: of all ways to pair records of one operation and root, in order, the one
//! counts in which the ends of pairs are nearest to each other, and in which a record is left out
//! only where that is worth more than the usual distance of two operations (Needleman and Wunsch,
//! "A general method applicable to the search for similarities", 1970). Operations that one of the
//! ranks has no record of are then known to be incomplete, and the others are not shifted.

use std::collections::HashMap;

use parallax_base::Control;
use parallax_engine::{EngineError, Session};
use parallax_model::{CollectiveOperation, CollectivePart, IdentityKind};

use super::activity::Pattern;

/// Cells of an alignment at most; a rank that would need more has no part in any operation.
const MAX_CELLS: usize = 1 << 26;

/// How many records each rank may lack more than the numbers of records say.
const SLACK: usize = 8;

/// The communicator of one rank alone.
const ALONE: u32 = u32::MAX;

/// The records of a communicator that belong together.
#[derive(Debug, Default)]
pub(super) struct Operations {
    /// Positions among the parts, of all operations that all ranks have, one after the other.
    pub(super) parts: Vec<usize>,
    /// How many parts each operation has, in the order of `parts`.
    pub(super) lens: Vec<usize>,
    /// Operations that a rank has no record of.
    pub(super) num_incomplete: u64,
}

/// Joins the parts of all communicators. Communicators are those of one component; threads of a
/// rank take part as the rank.
pub(super) fn operations(
    session: &Session,
    parts: &[CollectivePart],
    control: &Control,
) -> Result<Operations, EngineError> {
    let locations = &session.experiment().locations;
    let who: Vec<_> = session
        .traces()?
        .tracks()
        .iter()
        .zip(0_u64..)
        .map(|(track, number)| {
            let part = |kind| locations.identity(track.location, kind);
            let rank = part(IdentityKind::Rank);
            (part(IdentityKind::Application), (rank.is_none(), rank.unwrap_or(number)))
        })
        .collect();
    let mut by_rank: HashMap<_, Vec<usize>> = HashMap::new();
    for (at, part) in parts.iter().enumerate().filter(|(_, part)| part.communicator != ALONE) {
        let Some(&(application, rank)) = who.get(part.track.idx()) else { continue };
        by_rank.entry((application, part.communicator, rank)).or_default().push(at);
    }
    let mut sequences: Vec<_> = by_rank.into_iter().collect();
    sequences.sort_unstable_by_key(|(key, _)| *key);
    let mut out = Operations::default();
    for same in sequences.chunk_by_mut(|a, b| (a.0.0, a.0.1) == (b.0.0, b.0.1)) {
        if same.len() < 2 {
            continue;
        }
        let ranks = same.iter_mut().map(|(_, list)| {
            let mut list = std::mem::take(list);
            let time = |at: &usize| parts.get(*at).map(|part| (part.start_nanos, part.end_nanos));
            list.sort_by_key(time);
            list
        });
        one_communicator(parts, &ranks.collect::<Vec<_>>(), &mut out, control)?;
    }
    Ok(out)
}

fn one_communicator(
    parts: &[CollectivePart],
    ranks: &[Vec<usize>],
    out: &mut Operations,
    control: &Control,
) -> Result<(), EngineError> {
    // The first of those that have most.
    let Some(reference) = ranks.iter().rev().max_by_key(|list| list.len()) else { return Ok(()) };
    let most = reference.len();
    let reference: Vec<&CollectivePart> =
        reference.iter().filter_map(|&at| parts.get(at)).collect();
    let usual = usual_distance(&reference);
    let mut of_operation: Vec<Vec<usize>> = vec![Vec::new(); most];
    let mut most_strays = 0;
    for list in ranks {
        control.check()?;
        let own: Vec<&CollectivePart> = list.iter().filter_map(|&at| parts.get(at)).collect();
        let mut strays = 0;
        let fit = if fits(&reference, &own) { None } else { Some(align(&reference, &own, usual)) };
        for (nth, &at) in list.iter().enumerate() {
            let place = fit.as_ref().map_or(Some(nth), |fit| fit.get(nth).copied().flatten());
            match place.and_then(|place| of_operation.get_mut(place)) {
                Some(operation) => operation.push(at),
                None => strays += u64::from(parts.get(at).is_some_and(may_wait)),
            }
        }
        most_strays = most_strays.max(strays);
    }
    // What the reference lacks is at least as much as another one has beyond it.
    out.num_incomplete += most_strays;
    for operation in of_operation {
        if operation.len() == ranks.len() {
            out.lens.push(operation.len());
            out.parts.extend(operation);
        } else {
            let first = operation.first().and_then(|&at| parts.get(at));
            out.num_incomplete += u64::from(first.is_some_and(may_wait));
        }
    }
    Ok(())
}

/// Whether an operation is one in which a track may wait; unknown ones are known by their calls.
fn may_wait(part: &CollectivePart) -> bool {
    Pattern::of_operation(part.operation).is_some()
        || part.operation == CollectiveOperation::Unknown
}

/// Whether two records can be of one operation.
fn is_alike(a: &CollectivePart, b: &CollectivePart) -> bool {
    a.operation == b.operation && (a.root == b.root || a.root.is_none() || b.root.is_none())
}

/// Whether two records overlap that must if they are of one operation.
fn is_together(a: &CollectivePart, b: &CollectivePart) -> bool {
    let must =
        matches!(Pattern::of_operation(a.operation), Some(Pattern::Barrier | Pattern::AllToAll));
    !must || (a.start_nanos <= b.end_nanos && b.start_nanos <= a.end_nanos)
}

/// Whether nothing says that records are missing.
fn fits(reference: &[&CollectivePart], own: &[&CollectivePart]) -> bool {
    let pairs = reference.iter().zip(own);
    let is_same = reference.len() == own.len() && pairs.clone().all(|(a, b)| is_alike(a, b));
    let num_apart = pairs.filter(|(a, b)| !is_together(a, b)).count();
    // Where nearly all are apart, the clocks are wrong.
    is_same && (num_apart == 0 || num_apart * 10 > own.len() * 9)
}

/// The median time from the end of one record to that of the next, at least 1.
fn usual_distance(list: &[&CollectivePart]) -> u64 {
    let pairs = list.iter().zip(list.iter().skip(1));
    let mut distances: Vec<u64> =
        pairs.map(|(a, b)| b.end_nanos.saturating_sub(a.end_nanos)).collect();
    let middle = distances.len() / 2;
    if distances.is_empty() { 1 } else { (*distances.select_nth_unstable(middle).1).max(1) }
}

/// For each own record its place in the reference; `None` where it has none.
fn align(reference: &[&CollectivePart], own: &[&CollectivePart], usual: u64) -> Vec<Option<usize>> {
    // What both begin and end with needs no search.
    let begin = nearest(reference.iter().zip(own), reference.iter().skip(1), own.iter().skip(1));
    let (reference_rest, own_rest) =
        (reference.get(begin..).unwrap_or_default(), own.get(begin..).unwrap_or_default());
    let end = nearest(
        reference_rest.iter().rev().zip(own_rest.iter().rev()),
        reference_rest.iter().rev().skip(1),
        own_rest.iter().rev().skip(1),
    );
    let middle = |list: &[&CollectivePart]| begin..list.len() - end;
    let (rows, columns) = (middle(reference), middle(own));
    let mut found: Vec<Option<usize>> = (0..begin).map(Some).collect();
    let inner = search(
        reference.get(rows).unwrap_or_default(),
        own.get(columns.clone()).unwrap_or_default(),
        usual,
    );
    found.extend(match inner {
        Some(inner) => inner.into_iter().map(|place| place.map(|place| place + begin)).collect(),
        None => vec![None; columns.len()],
    });
    found.extend((reference.len() - end..reference.len()).map(Some));
    found
}

/// How many pairs are alike and nearer to each other than each is to what follows the other.
fn nearest<'p, 'r: 'p>(
    pairs: impl Iterator<Item = (&'p &'r CollectivePart, &'p &'r CollectivePart)>,
    next_reference: impl Iterator<Item = &'p &'r CollectivePart>,
    next_own: impl Iterator<Item = &'p &'r CollectivePart>,
) -> usize {
    let mut next_reference = next_reference.fuse();
    let mut next_own = next_own.fuse();
    let is_nearest = |(a, b): (&&CollectivePart, &&CollectivePart)| {
        let distance = apart(a, b);
        let farther = |next: Option<&&CollectivePart>, other: &CollectivePart| {
            next.is_none_or(|next| distance < apart(next, other))
        };
        is_alike(a, b) && farther(next_reference.next(), b) && farther(next_own.next(), a)
    };
    // No further than the shorter one has records.
    pairs.map(is_nearest).take_while(|is_nearest| *is_nearest).count()
}

fn apart(a: &CollectivePart, b: &CollectivePart) -> u64 {
    a.end_nanos.abs_diff(b.end_nanos)
}

/// How the best alignment comes to a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Pair,
    SkipReference,
    SkipOwn,
}

/// The alignment of least cost; `None` where looking for it would take too much.
fn search(
    reference: &[&CollectivePart],
    own: &[&CollectivePart],
    usual: u64,
) -> Option<Vec<Option<usize>>> {
    if reference.is_empty() || own.is_empty() {
        return Some(vec![None; own.len()]);
    }
    // Only near the diagonal: row r has the columns from r - before to r + after.
    let before = SLACK + reference.len().saturating_sub(own.len());
    let after = SLACK + own.len().saturating_sub(reference.len());
    let width = before + after + 1;
    if width.checked_mul(reference.len() + 1).is_none_or(|cells| cells > MAX_CELLS) {
        return None;
    }
    let mut steps = vec![Step::Pair; width * (reference.len() + 1)];
    let mut above = vec![u64::MAX; width];
    for row in 0..=reference.len() {
        let mut costs = vec![u64::MAX; width];
        for place in 0..width {
            let Some(column) = (row + place).checked_sub(before).filter(|&c| c <= own.len()) else {
                continue;
            };
            let cost = |costs: &[u64], at: Option<usize>| {
                at.and_then(|at| costs.get(at)).copied().unwrap_or(u64::MAX)
            };
            let pair = row.checked_sub(1).zip(column.checked_sub(1)).and_then(|(row, column)| {
                let (a, b) = (reference.get(row)?, own.get(column)?);
                is_alike(a, b).then(|| cost(&above, Some(place)).saturating_add(apart(a, b)))
            });
            // A place to the right in the row above is the same column.
            let skip_reference = cost(&above, place.checked_add(1)).saturating_add(usual);
            let skip_own = cost(&costs, place.checked_sub(1)).saturating_add(usual);
            let start = (row == 0 && column == 0).then_some(0);
            let choices = [
                (start.or(pair).unwrap_or(u64::MAX), Step::Pair),
                (skip_reference, Step::SkipReference),
                (skip_own, Step::SkipOwn),
            ];
            let (least, step) = choices.into_iter().min_by_key(|choice| choice.0)?;
            if let Some(slot) = costs.get_mut(place) {
                *slot = least;
            }
            if let Some(slot) = steps.get_mut(row * width + place) {
                *slot = step;
            }
        }
        above = costs;
    }
    let mut found = vec![None; own.len()];
    let (mut row, mut column) = (reference.len(), own.len());
    while row > 0 || column > 0 {
        let place = (column + before).checked_sub(row)?;
        match steps.get(row * width + place)? {
            Step::Pair => {
                (row, column) = (row.checked_sub(1)?, column.checked_sub(1)?);
                *found.get_mut(column)? = Some(row);
            }
            Step::SkipReference => row = row.checked_sub(1)?,
            Step::SkipOwn => column = column.checked_sub(1)?,
        }
    }
    Some(found)
}
