//! `cct.db`: the values of `profile.db`, by context. Only profiles other than the summary are in it.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use parallax_base::{Issues, Place, Severity, Source, Stage, read_range};

use super::header::{FileKind, Header};
use super::layout::{METRIC_INDEX_SIZE, PROFILE_VALUE_SIZE, context_info, infos};
use super::record::{Record, Table};
use crate::FormatError;

/// Where the values of one context lie.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ContextInfo {
    /// Number of values over all metrics and profiles.
    pub num_values: u64,
    /// Number of metrics that have values.
    pub num_metrics: u16,
    values: u64,
    indices: u64,
}

impl ContextInfo {
    /// Whether there are values, and the index of metrics follows them with no room for another one in
    /// between, as `hpcprof` writes them.
    #[must_use]
    pub fn is_compact(&self) -> bool {
        let len = self.num_values.checked_mul(PROFILE_VALUE_SIZE as u64);
        let gap = len
            .and_then(|len| self.values.checked_add(len))
            .and_then(|end| self.indices.checked_sub(end));
        self.num_values > 0 && gap.is_some_and(|gap| gap < PROFILE_VALUE_SIZE as u64)
    }
}

/// The content of `cct.db`; everything but the header is read on demand.
pub struct CctDb {
    source: Source,
    table: Table,
}

/// One value of a context in one metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SparseValue {
    /// Profile number.
    pub profile: u32,
    /// The value, in the metric's unit.
    pub value: f64,
}

impl CctDb {
    /// Reads the header only.
    ///
    /// # Errors
    /// When the file is not a `cct.db` of version 4 or cannot be read.
    pub fn open(source: Source, issues: &mut Issues) -> Result<Self, FormatError> {
        let file = FileKind::Context.file_name();
        let header = Header::read(&*source, FileKind::Context, 1, issues)?;
        let section = header.section(0);
        let head = read_range(&*source, section.start, section.size.min(infos::SIZE))
            .map_err(|e| FormatError::read(file, e))?;
        let head = Record::new(&head);
        let (start, count) = (head.u64(infos::START), head.u32(infos::COUNT));
        let (Some(start), Some(count), Some(stride)) = (start, count, head.u8(infos::STRIDE))
        else {
            return Err(FormatError::malformed(file, section.start, "no table of contexts"));
        };
        let (count, stride) = (u64::from(count), u64::from(stride));
        if count > 0 && stride < context_info::SIZE {
            let least = context_info::SIZE;
            let what = format!("context records of {stride} bytes; at least {least} needed");
            return Err(FormatError::malformed(file, section.start + infos::STRIDE, what));
        }
        let (table, lost) = Table::clamped(start, count, stride, source.len());
        if lost > 0 {
            let place = Place::Byte { file: file.into(), offset: section.start };
            issues.report(Severity::Error, Stage::Read, "contexts-outside", place, || {
                format!("{lost} of {count} contexts lie outside the file; they are omitted")
            });
        }
        Ok(Self { source, table })
    }

    /// Number of contexts; ids are smaller. Includes those that are not in the tree.
    #[must_use]
    pub const fn num_contexts(&self) -> u64 {
        self.table.len
    }

    /// Whether so many values of all contexts fit into the file, next to the table of contexts.
    #[must_use]
    pub fn has_room_for(&self, num_values: u64) -> bool {
        let table = self.table.len.saturating_mul(self.table.stride);
        let values = num_values.saturating_mul(PROFILE_VALUE_SIZE as u64);
        values.saturating_add(table) <= self.source.len()
    }

    /// Where the values of the contexts `ids` lie, in their order; ranges that leave the file are
    /// empty and counted in the second value. Reads 32 bytes for each (in one go when `ids` are
    /// consecutive).
    ///
    /// # Errors
    /// When the source fails.
    pub fn infos(&self, ids: Range<u32>) -> Result<(Vec<ContextInfo>, u64), FormatError> {
        let fail = |e| FormatError::read(FileKind::Context.file_name(), e);
        let first = u64::from(ids.start).min(self.table.len);
        let last = u64::from(ids.end).clamp(first, self.table.len);
        let len = (last - first) * self.table.stride;
        let bytes = if len == 0 {
            Cow::Borrowed(&[][..])
        } else {
            read_range(&*self.source, self.table.at(first), len).map_err(fail)?
        };
        let records = Record::new(&bytes);
        let (mut out, mut lost) = (Vec::new(), 0);
        for i in 0..last - first {
            let at = i * self.table.stride;
            let word = |from: u64| records.u64(at + from).unwrap_or(0);
            let info = ContextInfo {
                num_values: word(context_info::NUM_VALUES),
                values: word(context_info::VALUES),
                num_metrics: records.u16(at + context_info::NUM_METRICS).unwrap_or(0),
                indices: word(context_info::INDICES),
            };
            let fits = |start: u64, count: u64, size: usize| {
                let len = count.checked_mul(size as u64);
                let end = len.and_then(|len| start.checked_add(len));
                end.is_some_and(|end| end <= self.source.len())
            };
            let is_empty = info.num_values == 0;
            let is_inside = fits(info.values, info.num_values, PROFILE_VALUE_SIZE)
                && fits(info.indices, info.num_metrics.into(), METRIC_INDEX_SIZE);
            lost += u64::from(!is_empty && !is_inside);
            out.push(if is_empty || !is_inside { ContextInfo::default() } else { info });
        }
        Ok((out, lost))
    }

    /// The metric table of a context; its values are read by [`ContextBlock::values`].
    ///
    /// # Errors
    /// When the source fails.
    pub fn block(&self, info: &ContextInfo) -> Result<ContextBlock<'_>, FormatError> {
        let len = u64::from(info.num_metrics) * METRIC_INDEX_SIZE as u64;
        let indices = if len == 0 {
            Cow::Borrowed(&[][..])
        } else {
            read_range(&*self.source, info.indices, len)
                .map_err(|e| FormatError::read(FileKind::Context.file_name(), e))?
        };
        Ok(ContextBlock { db: self, info: *info, indices })
    }
}

/// The values of one context, by metric id and, within one, by profile.
pub struct ContextBlock<'a> {
    db: &'a CctDb,
    info: ContextInfo,
    indices: Cow<'a, [u8]>,
}

impl<'a> ContextBlock<'a> {
    /// The metrics that have values, in order of id, each with the range of its values.
    /// Ranges do not overlap, also where the index of a damaged file runs back and forth.
    pub fn metrics(&self) -> impl Iterator<Item = (u16, Range<u64>)> + '_ {
        let indices = self.indices.as_chunks::<METRIC_INDEX_SIZE>().0;
        let parse = |&[a, b, s0, s1, s2, s3, s4, s5, s6, s7]: &[u8; METRIC_INDEX_SIZE]| {
            let start = u64::from_le_bytes([s0, s1, s2, s3, s4, s5, s6, s7]);
            (u16::from_le_bytes([a, b]), start)
        };
        let total = self.info.num_values;
        let mut given = 0;
        indices.iter().enumerate().map(move |(i, index)| {
            let (metric, start) = parse(index);
            let start = start.clamp(given, total);
            let end = indices.get(i + 1).map_or(total, |next| parse(next).1).clamp(start, total);
            given = end;
            (metric, start..end)
        })
    }

    /// The raw values of `range`, twelve bytes each; see [`ContextBlock::decode`].
    /// What of `range` lies past the values of the context is left out.
    ///
    /// # Errors
    /// When the source fails.
    pub fn values(&self, range: Range<u64>) -> Result<Cow<'a, [u8]>, FormatError> {
        let size = PROFILE_VALUE_SIZE as u64;
        let end = range.end.min(self.info.num_values);
        let start = range.start.min(end);
        if start == end {
            return Ok(Cow::Borrowed(&[]));
        }
        read_range(&*self.db.source, self.info.values + start * size, (end - start) * size)
            .map_err(|e| FormatError::read(FileKind::Context.file_name(), e))
    }

    /// The value of a profile among those of `range`, which are in order of profile; reads few of them.
    ///
    /// # Errors
    /// When the source fails.
    pub fn find(&self, range: Range<u64>, profile: u32) -> Result<Option<f64>, FormatError> {
        let Range { mut start, mut end } = range;
        while start < end {
            let middle = start + (end - start) / 2;
            let raw = self.values(middle..middle + 1)?;
            let Some(found) = Self::decode(&raw).next() else { return Ok(None) };
            match found.profile.cmp(&profile) {
                Ordering::Less => start = middle + 1,
                Ordering::Equal => return Ok(Some(found.value)),
                Ordering::Greater => end = middle,
            }
        }
        Ok(None)
    }

    /// The raw values as profile numbers and numbers, in order of profile.
    pub fn decode(raw: &[u8]) -> impl ExactSizeIterator<Item = SparseValue> + Clone + '_ {
        raw.as_chunks::<PROFILE_VALUE_SIZE>().0.iter().map(
            |&[p0, p1, p2, p3, v0, v1, v2, v3, v4, v5, v6, v7]| SparseValue {
                profile: u32::from_le_bytes([p0, p1, p2, p3]),
                value: f64::from_le_bytes([v0, v1, v2, v3, v4, v5, v6, v7]),
            },
        )
    }

    /// The part of `raw` that belongs to the profiles of `profiles`.
    #[must_use]
    pub fn narrow<'r>(raw: &'r [u8], profiles: &Range<u32>) -> &'r [u8] {
        let values = raw.as_chunks::<PROFILE_VALUE_SIZE>().0;
        let profile =
            |&[a, b, c, d, ..]: &[u8; PROFILE_VALUE_SIZE]| u32::from_le_bytes([a, b, c, d]);
        let before = |bound: u32| {
            // In a context that every profile has, profile n is value n, less those before the
            // first; a look there is cheaper than a search.
            let first = values.first().map_or(0, profile);
            let guess = bound.saturating_sub(first) as usize;
            let is_right = values.get(guess).is_none_or(|value| profile(value) >= bound)
                && guess
                    .checked_sub(1)
                    .and_then(|i| values.get(i))
                    .is_some_and(|value| profile(value) < bound);
            if is_right { guess } else { values.partition_point(|value| profile(value) < bound) }
        };
        let (start, end) = (before(profiles.start), before(profiles.end));
        raw.get(start * PROFILE_VALUE_SIZE..end * PROFILE_VALUE_SIZE).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every set of eight profiles, dense or with gaps, and every range over them.
    #[test]
    fn narrowing_keeps_exactly_the_values_of_the_range() {
        for mask in 0_u32..256 {
            let profiles: Vec<u32> = (0..8).filter(|i| mask >> i & 1 != 0).map(|i| i + 3).collect();
            let raw: Vec<u8> = profiles
                .iter()
                .flat_map(|p| p.to_le_bytes().into_iter().chain(f64::from(*p).to_le_bytes()))
                .collect();
            for start in 0..13 {
                for end in start..13 {
                    let narrowed = ContextBlock::narrow(&raw, &(start..end));
                    let kept: Vec<u32> =
                        ContextBlock::decode(narrowed).map(|value| value.profile).collect();
                    let expected: Vec<u32> =
                        profiles.iter().copied().filter(|p| (start..end).contains(p)).collect();
                    assert_eq!(kept, expected, "{profiles:?} in {start}..{end}");
                }
            }
        }
    }
}
