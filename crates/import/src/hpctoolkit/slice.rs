//! Reading slices in either order into the same columns.
//!
//! Most work in two passes, counting and filling, so that the columns are allocated once at their
//! exact size and threads write to disjoint parts of them. A few contexts are read in one pass: to
//! find them costs more than to copy what is found.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use parallax_base::{Control, Limits, LocationIdx, threads};
use parallax_formats::hpctoolkit::{
    CctDb, ContextBlock, ContextInfo, ContextReader, ContextValues, ProfileBlock, ProfileDb,
    SparseValue,
};
use parallax_model::{SliceColumns, StoreError};

use super::profiles::failed;

/// A set of context ids.
pub(super) struct IdSet {
    words: Vec<u64>,
    /// Ids too large for the words, which only damaged files have; ascending.
    others: Vec<u32>,
}

impl IdSet {
    pub(super) fn new(ids: &[u32]) -> Self {
        let dense_end = (ids.len() * 64).max(1 << 16);
        let highest = ids.iter().copied().filter(|&id| (id as usize) < dense_end).max();
        let mut words = vec![0_u64; highest.map_or(0, |highest| highest as usize / 64 + 1)];
        let mut others = Vec::new();
        for &id in ids {
            match words.get_mut(id as usize / 64) {
                Some(word) => *word |= 1 << (id % 64),
                None => others.push(id),
            }
        }
        others.sort_unstable();
        Self { words, others }
    }

    fn contains(&self, id: u32) -> bool {
        match self.words.get(id as usize / 64) {
            Some(word) => word >> (id % 64) & 1 != 0,
            None => !self.others.is_empty() && self.others.binary_search(&id).is_ok(),
        }
    }
}

/// Which contexts of a profile are wanted, where most are.
pub(super) enum ContextFilter<'a> {
    All,
    Set(&'a IdSet),
}

/// Which metric ids are wanted.
struct MetricFilter(Option<Vec<bool>>);

impl MetricFilter {
    fn new(ids: Option<&[u16]>) -> Self {
        Self(ids.map(|ids| {
            let mut mask = vec![false; ids.iter().max().map_or(0, |&id| usize::from(id) + 1)];
            for &id in ids {
                mask[usize::from(id)] = true;
            }
            mask
        }))
    }

    fn contains(&self, id: u16) -> bool {
        match &self.0 {
            None => true,
            Some(mask) => mask.get(usize::from(id)).copied().unwrap_or(false),
        }
    }

    fn count(&self, values: &ContextValues<'_>) -> usize {
        if self.0.is_none() {
            return values.len();
        }
        values.iter().filter(|value| self.contains(value.metric)).count()
    }
}

/// The part of all columns that one thread fills.
struct Piece<'a> {
    location: &'a mut [u32],
    context: &'a mut [u32],
    metric: &'a mut [u16],
    value: &'a mut [f64],
}

/// Cuts columns into consecutive pieces of the given lengths.
fn pieces<'a>(columns: &'a mut SliceColumns, lens: &[usize]) -> Vec<Piece<'a>> {
    let mut location = columns.location.as_mut_slice();
    let mut context = columns.context.as_mut_slice();
    let mut metric = columns.metric.as_mut_slice();
    let mut value = columns.value.as_mut_slice();
    let mut out = Vec::with_capacity(lens.len());
    for &len in lens {
        let (l, rest_l) = location.split_at_mut(len);
        let (c, rest_c) = context.split_at_mut(len);
        let (m, rest_m) = metric.split_at_mut(len);
        let (v, rest_v) = value.split_at_mut(len);
        (location, context, metric, value) = (rest_l, rest_c, rest_m, rest_v);
        out.push(Piece { location: l, context: c, metric: m, value: v });
    }
    out
}

/// What limits call the columns.
const ANSWER: &str = "the answer";
const ROW_BYTES: u64 = SliceColumns::ROW_BYTES;

fn allocate(lens: &[usize], limits: &Limits) -> Result<SliceColumns, StoreError> {
    let rows: usize = lens.iter().sum();
    limits.answer(ANSWER, rows as u64 * ROW_BYTES)?;
    Ok(SliceColumns::zeroed(rows))
}

/// Calls `visit` with the wanted contexts of a profile, by ascending id.
fn visit_block<'b>(
    block: &'b ProfileBlock<'_>,
    filter: &ContextFilter<'_>,
    mut visit: impl FnMut(ContextValues<'b>),
) {
    let len = block.num_contexts();
    match filter {
        ContextFilter::All => block.iter().for_each(visit),
        ContextFilter::Set(set) => {
            for entry in 0..len {
                if block.context_id(entry).is_some_and(|id| set.contains(id))
                    && let Some(values) = block.entry(entry)
                {
                    visit(values);
                }
            }
        }
    }
}

/// Reads a few contexts, whose ids ascend, of profile after profile.
pub(super) fn few_contexts(
    profiles: &ProfileDb,
    locations: &[LocationIdx],
    ids: &[u32],
    metrics: Option<&[u16]>,
    limits: &Limits,
    control: &Control,
) -> Result<SliceColumns, StoreError> {
    let metrics = MetricFilter::new(metrics);
    let bytes_found = AtomicU64::new(0);
    let read = |range: Range<usize>| -> Result<SliceColumns, StoreError> {
        let mut reader = ContextReader::new(profiles, ids);
        let mut rows = SliceColumns::default();
        for location in &locations[range.clone()] {
            control.check()?;
            let before = rows.len();
            let mut room = Ok(());
            let add = |values: ContextValues<'_>| {
                // Damaged files can give the same values over and over.
                let len = rows.len() - before + values.len();
                if room.is_ok() {
                    room = limits.answer(ANSWER, len as u64 * ROW_BYTES);
                }
                if room.is_ok() {
                    for stored in values.iter().filter(|value| metrics.contains(value.metric)) {
                        rows.push(location.get(), values.context, stored.metric, stored.value);
                    }
                }
            };
            reader.visit(location.idx(), add).map_err(|e| failed(&e))?;
            let new = (rows.len() - before) as u64 * ROW_BYTES;
            let found = bytes_found.fetch_add(new, Ordering::Relaxed) + new;
            room.and_then(|()| limits.answer(ANSWER, found))?;
        }
        control.advance(range.len() as u64)?;
        Ok(rows)
    };
    let weight = |i: usize| u64::from(profiles.infos()[locations[i].idx()].num_contexts);
    let found: Vec<SliceColumns> = threads::map(threads::ranges(locations.len(), weight), read)
        .into_iter()
        .collect::<Result<_, _>>()?;
    let lens: Vec<usize> = found.iter().map(SliceColumns::len).collect();
    let mut columns = allocate(&lens, limits)?;
    let work: Vec<_> = found.into_iter().zip(pieces(&mut columns, &lens)).collect();
    threads::map(work, |(rows, piece)| {
        piece.location.copy_from_slice(&rows.location);
        piece.context.copy_from_slice(&rows.context);
        piece.metric.copy_from_slice(&rows.metric);
        piece.value.copy_from_slice(&rows.value);
    });
    Ok(columns)
}

/// Reads profile after profile.
pub(super) fn location_major(
    profiles: &ProfileDb,
    locations: &[LocationIdx],
    filter: &ContextFilter<'_>,
    metrics: Option<&[u16]>,
    limits: &Limits,
    control: &Control,
) -> Result<SliceColumns, StoreError> {
    let metrics = MetricFilter::new(metrics);
    let weight = |i: usize| profiles.infos()[locations[i].idx()].num_values;
    let ranges = threads::ranges(locations.len(), weight);

    let count = |range: Range<usize>| -> Result<usize, StoreError> {
        let mut rows = 0;
        for location in &locations[range] {
            control.check()?;
            let block = profiles.block(location.idx()).map_err(|e| failed(&e))?;
            visit_block(&block, filter, |values| rows += metrics.count(&values));
        }
        Ok(rows)
    };
    let lens: Vec<usize> =
        threads::map(ranges.clone(), count).into_iter().collect::<Result<_, _>>()?;
    let mut columns = allocate(&lens, limits)?;
    let work: Vec<_> = ranges.into_iter().zip(pieces(&mut columns, &lens)).collect();

    let fill = |(range, piece): (Range<usize>, Piece<'_>)| -> Result<(), StoreError> {
        let mut rows =
            piece.location.iter_mut().zip(piece.context).zip(piece.metric).zip(piece.value);
        for location in &locations[range.clone()] {
            let block = profiles.block(location.idx()).map_err(|e| failed(&e))?;
            visit_block(&block, filter, |values| {
                let wanted = values.iter().filter(|value| metrics.contains(value.metric));
                for (stored, (((l, c), m), v)) in wanted.zip(&mut rows) {
                    (*l, *c, *m, *v) =
                        (location.get(), values.context, stored.metric, stored.value);
                }
            });
        }
        control.advance(range.len() as u64)?;
        Ok(())
    };
    threads::map(work, fill).into_iter().collect::<Result<(), _>>()?;
    Ok(columns)
}

/// The values of one context in one metric, as they lie in `cct.db`.
struct Span<'a> {
    context: u32,
    metric: u16,
    raw: Cow<'a, [u8]>,
}

/// Fewest locations of a piece: below this, searching spans costs more than it saves.
const MIN_LOCATIONS: usize = 64;
/// Bytes of a piece that fit well into a processor's cache.
const PIECE_BYTES: usize = 1 << 20;
/// One of so many pairs of a location and a span has a value, at least, where looking at all pairs
/// is cheaper than sorting values.
const MIN_DENSITY: usize = 4;
/// Values of a tile, which is read twice and should stay near the processor meanwhile.
const TILE_VALUES: usize = 1 << 13;
/// Fewest locations of a tile: a cache line of a span holds five values.
const MIN_TILE: usize = 8;

/// Reads context after context and turns the order around.
///
/// `infos` belong to `ids`, which ascend; `locations` ascend.
/// `None` when the values are not in order, which only damaged files have.
pub(super) fn context_major(
    cct: &CctDb,
    ids: &[u32],
    infos: &[ContextInfo],
    locations: &[LocationIdx],
    metrics: Option<&[u16]>,
    limits: &Limits,
    control: &Control,
) -> Result<Option<SliceColumns>, StoreError> {
    let metrics = MetricFilter::new(metrics);
    let mut spans = Vec::new();
    for (&context, info) in ids.iter().zip(infos) {
        control.check()?;
        let block = cct.block(info).map_err(|e| failed(&e))?;
        for (metric, range) in block.metrics().filter(|(metric, _)| metrics.contains(*metric)) {
            let raw = block.values(range).map_err(|e| failed(&e))?;
            spans.push(Span { context, metric, raw });
        }
    }
    let bytes: usize = spans.iter().map(|span| span.raw.len()).sum();
    let num_pieces = (bytes / PIECE_BYTES + 1).max(threads::count() * 4);
    let len = locations.len().div_ceil(num_pieces).max(MIN_LOCATIONS);
    let groups: Vec<Group<'_>> = locations.chunks(len).map(Group::new).collect();

    let counts: Vec<Count> = threads::map(groups.clone(), |group| group.count(&spans));
    let lens: Vec<usize> = counts.iter().map(Count::rows).collect();
    let mut columns = allocate(&lens, limits)?;
    let work: Vec<_> = groups.into_iter().zip(counts).zip(pieces(&mut columns, &lens)).collect();
    let filled = threads::map(work, |((group, count), mut piece)| {
        control.advance(group.locations.len() as u64)?;
        Ok(match count {
            Count::Dense(_) => group.gather(&spans, piece),
            Count::Sparse(counts) => group.scatter(&spans, &counts, &mut piece),
        })
    });
    let are_filled: Vec<bool> = filled.into_iter().collect::<Result<_, StoreError>>()?;
    Ok(are_filled.into_iter().all(|is_filled| is_filled).then_some(columns))
}

/// Locations whose values one thread puts in order.
#[derive(Clone)]
struct Group<'a> {
    /// Ascending.
    locations: &'a [LocationIdx],
    profiles: Range<u32>,
    /// Whether the locations are all of `profiles`.
    is_run: bool,
}

/// How many rows the locations of a group have, and how they are best filled.
enum Count {
    /// In all. Most locations have a value in most spans.
    Dense(usize),
    /// By location.
    Sparse(Vec<u32>),
}

impl Count {
    fn rows(&self) -> usize {
        match self {
            Self::Dense(rows) => *rows,
            Self::Sparse(counts) => counts.iter().map(|&n| n as usize).sum(),
        }
    }
}

impl<'a> Group<'a> {
    fn new(locations: &'a [LocationIdx]) -> Self {
        let first = locations.first().map_or(0, |location| location.get());
        let end = locations.last().map_or(0, |location| location.get().saturating_add(1));
        Self { locations, profiles: first..end, is_run: (end - first) as usize == locations.len() }
    }

    fn count(&self, spans: &[Span<'_>]) -> Count {
        if self.is_run {
            let lens = spans.iter().map(|span| {
                ContextBlock::decode(ContextBlock::narrow(&span.raw, &self.profiles)).len()
            });
            let rows: usize = lens.sum();
            if rows * MIN_DENSITY >= spans.len() * self.locations.len() {
                return Count::Dense(rows);
            }
        }
        let mut counts = vec![0; self.locations.len()];
        self.visit(spans, |_, slot, _| counts[slot] += 1);
        Count::Sparse(counts)
    }

    /// Fills location after location: reads from all spans at once, writes in one go.
    /// False when values were not in order, so that not all rows could be filled.
    fn gather(&self, spans: &[Span<'_>], piece: Piece<'_>) -> bool {
        let mut heads: Vec<_> = spans
            .iter()
            .map(|span| {
                let raw = ContextBlock::narrow(&span.raw, &self.profiles);
                (span.context, span.metric, ContextBlock::decode(raw))
            })
            .collect();
        let mut rows = piece.context.iter_mut().zip(piece.metric).zip(piece.value);
        let mut unlabelled = piece.location;
        for tile in self.locations.chunks((TILE_VALUES / spans.len().max(1)).max(MIN_TILE)) {
            // Reading a tile span by span brings it into the cache in the order that is fast to
            // read. Below it is read across, which would wait for memory at every step.
            let end = tile.last().map_or(0, |last| last.get().saturating_add(1));
            let of_tile = |(_, _, values): &(u32, u16, _)| count_below(values, end, tile.len());
            let mut num_left: usize = heads.iter().map(of_tile).sum();
            for location in tile {
                let mut num_values = 0;
                for (context, metric, values) in &mut heads {
                    let Some(head) = values.clone().next() else { continue };
                    if head.profile != location.get() {
                        continue;
                    }
                    values.next();
                    let Some(((c, m), v)) = rows.next() else { return false };
                    (*c, *m, *v) = (*context, *metric, head.value);
                    num_values += 1;
                }
                let Some((own, rest)) = unlabelled.split_at_mut_checked(num_values) else {
                    return false;
                };
                own.fill(location.get());
                unlabelled = rest;
                num_left = num_left.wrapping_sub(num_values);
            }
            if num_left != 0 {
                return false;
            }
        }
        unlabelled.is_empty()
    }

    /// Fills span after span: each value goes where the next one of its location belongs.
    /// False when there are not as many values as were counted, because the file changes while it
    /// is read.
    fn scatter(&self, spans: &[Span<'_>], counts: &[u32], piece: &mut Piece<'_>) -> bool {
        // For each location, where its next value goes, and where those of the next one begin.
        let mut places = Vec::with_capacity(counts.len());
        let mut sum = 0_usize;
        for (&count, location) in counts.iter().zip(self.locations) {
            let end = sum + count as usize;
            piece.location[sum..end].fill(location.get());
            places.push((sum, end));
            sum = end;
        }
        let mut has_room = true;
        self.visit(spans, |span, slot, value| {
            match places.get_mut(slot) {
                Some((next, end)) if *next < *end => {
                    piece.context[*next] = span.context;
                    piece.metric[*next] = span.metric;
                    piece.value[*next] = value;
                    *next += 1;
                }
                _ => has_room = false,
            };
        });
        has_room && places.iter().all(|(next, end)| next == end)
    }

    /// Calls `visit` with each value of the group: its span, the position of its location in the
    /// group, and the value. Spans come in order, so each location sees its values by ascending
    /// context and metric.
    fn visit<'s>(&self, spans: &'s [Span<'_>], mut visit: impl FnMut(&'s Span<'_>, usize, f64)) {
        for span in spans {
            let raw = ContextBlock::narrow(&span.raw, &self.profiles);
            let mut slot = 0;
            for sparse in ContextBlock::decode(raw) {
                // Both ascend. Values that do not, in damaged files, are found nowhere.
                if self.is_run {
                    slot = sparse.profile.wrapping_sub(self.profiles.start) as usize;
                } else {
                    while self.locations.get(slot).is_some_and(|l| l.get() < sparse.profile) {
                        slot += 1;
                    }
                }
                if self.locations.get(slot).is_some_and(|l| l.get() == sparse.profile) {
                    visit(span, slot, sparse.value);
                }
            }
        }
    }
}

/// How many of the next values belong to profiles before `end`, of at most `longest`.
fn count_below(
    values: &(impl Iterator<Item = SparseValue> + Clone),
    end: u32,
    longest: usize,
) -> usize {
    values.clone().take(longest).filter(|value| value.profile < end).count()
}

/// Puts the rows of two slices with different locations into one, in order.
pub(super) fn merge(summary: SliceColumns, others: SliceColumns) -> SliceColumns {
    if others.is_empty() {
        return summary;
    }
    let Some(&row) = summary.location.first() else { return others };
    let at = others.location.partition_point(|&location| location < row);
    fn splice<T: Clone>(into: &mut Vec<T>, at: usize, new: Vec<T>) {
        into.splice(at..at, new);
    }
    let mut out = others;
    splice(&mut out.location, at, summary.location);
    splice(&mut out.context, at, summary.context);
    splice(&mut out.metric, at, summary.metric);
    splice(&mut out.value, at, summary.value);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file may be written again, or shortened, between counting and filling.
    #[test]
    fn values_that_are_not_those_that_were_counted_are_not_an_answer() {
        let value = |profile: u32| {
            [&profile.to_le_bytes()[..], &f64::from(profile).to_le_bytes()[..]].concat()
        };
        let raw: Vec<u8> = [3, 5, 9].into_iter().flat_map(value).collect();
        let spans = [Span { context: 7, metric: 1, raw: raw.into() }];
        let locations = [3, 5, 9].map(LocationIdx::new);
        let group = Group::new(&locations);
        let filled = |counts: &[u32]| {
            let rows = counts.iter().sum::<u32>() as usize;
            let mut columns = allocate(&[rows], &Limits::default()).unwrap();
            let mut piece = pieces(&mut columns, &[rows]).remove(0);
            let is_filled = group.scatter(&spans, counts, &mut piece);
            (is_filled, columns.location, columns.value)
        };
        assert_eq!(filled(&[1, 1, 1]), (true, vec![3, 5, 9], vec![3.0, 5.0, 9.0]));
        for counts in [[0, 0, 0], [1, 1, 0], [0, 1, 1], [2, 1, 1], [1, 1, 2]] {
            assert!(!filled(&counts).0, "{counts:?}");
        }
    }
}
