//! `profile.db`: values by profile.

use std::borrow::Cow;

use parallax_base::casts::saturated_usize;
use parallax_base::{Issues, Limits, Place, Severity, Source, Stage, read_range};

use super::header::{FileKind, Header};
use super::layout::{
    CONTEXT_INDEX_SIZE, VALUE_SIZE, draft_profile, identity, identity_tuple, infos, profile,
};
use super::record::{Record, Table};
use crate::FormatError;

/// One element of an identity tuple.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Index into [`super::MetaDb::identifier_kinds`].
    pub kind: u8,
    /// Whether `physical` is the identity and `logical` only a dense alias, which writers until
    /// 2024 left 0 for nodes.
    pub is_physical: bool,
    /// Dense number.
    pub logical: u32,
    /// Number of the system: a host id, a hardware thread; equal to `logical` when not physical.
    pub physical: u64,
}

/// Where the values of one profile lie. Ranges that leave the file are empty here and reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProfileInfo {
    /// Number of values.
    pub num_values: u64,
    /// Number of contexts that have values.
    pub num_contexts: u32,
    /// Whether this is the summary over all others, whose metric ids are statistic ids.
    pub is_summary: bool,
    pub(super) values: u64,
    pub(super) indices: u64,
    identities: (u32, u32),
}

/// The content of `profile.db`; values are read on demand.
pub struct ProfileDb {
    pub(super) source: Source,
    infos: Vec<ProfileInfo>,
    identities: Vec<Identity>,
}

/// One value: a metric id and a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StoredValue {
    /// Metric id: of a scope instance, or of a statistic in the summary.
    pub metric: u16,
    /// The value, in the metric's unit.
    pub value: f64,
}

impl ProfileDb {
    /// Reads the tables of the file, not the values: 48 bytes and the identity tuple per profile.
    ///
    /// # Errors
    /// When the file is not a `profile.db` of version 4 or cannot be read.
    pub fn open(source: Source, limits: &Limits, issues: &mut Issues) -> Result<Self, FormatError> {
        let file = FileKind::Profile.file_name();
        let header = Header::read(&*source, FileKind::Profile, 2, issues)?;
        let fail = |e| FormatError::read(file, e);
        let section = header.section(0);
        let head =
            read_range(&*source, section.start, section.size.min(infos::SIZE)).map_err(fail)?;
        let head = Record::new(&head);
        let (start, count) = (head.u64(infos::START), head.u32(infos::COUNT));
        let (Some(start), Some(count), Some(stride)) = (start, count, head.u8(infos::STRIDE))
        else {
            return Err(FormatError::malformed(file, section.start, "no table of profiles"));
        };
        let (count, stride) = (u64::from(count), u64::from(stride));
        if count > 0 && stride < draft_profile::SIZE {
            let least = draft_profile::SIZE;
            let what = format!("profile records of {stride} bytes; at least {least} needed");
            return Err(FormatError::malformed(file, section.start + infos::STRIDE, what));
        }
        let (table, lost) = Table::clamped(start, count, stride, source.len());
        if lost > 0 {
            let place = Place::Byte { file: file.into(), offset: section.start };
            issues.report(Severity::Error, Stage::Read, "profiles-outside", place, || {
                format!("{lost} of {count} profiles lie outside the file; they are omitted")
            });
        }
        limits
            .metadata("the table of profiles", table.len * table.stride)
            .map_err(|cause| FormatError::Limit { file: file.into(), cause })?;
        let records = read_range(&*source, table.start.min(source.len()), table.len * table.stride)
            .map_err(fail)?;
        let identities = header.section(1);
        limits
            .metadata("the identity tuples", identities.size)
            .map_err(|cause| FormatError::Limit { file: file.into(), cause })?;
        let tuples = read_range(&*source, identities.start, identities.size).map_err(fail)?;
        let mut opener = Opener {
            records: Record::new(&records),
            table,
            file_len: source.len(),
            tuples: Record::new(&tuples),
            tuples_start: identities.start,
            // Profiles of a valid file do not share bytes: neither values nor identities.
            values_room: source.len(),
            identity_room: identities.size / identity::SIZE + 8 * table.len,
            issues,
            identities: Vec::new(),
        };
        let infos = (0..table.len).map(|i| opener.info(i)).collect();
        let identities = opener.identities;
        Ok(Self { source, infos, identities })
    }

    /// All profiles in file order; the first is the summary, except in files where it is missing.
    #[must_use]
    pub fn infos(&self) -> &[ProfileInfo] {
        &self.infos
    }

    /// The identity tuple of profile `i`; empty for the summary.
    #[must_use]
    pub fn identity(&self, i: usize) -> &[Identity] {
        let range = self.infos.get(i).map_or((0, 0), |info| info.identities);
        self.identities.get(range.0 as usize..range.1 as usize).unwrap_or_default()
    }

    /// The values of profile `i`, in one read where the file allows it.
    ///
    /// # Errors
    /// When the source fails.
    pub fn block(&self, i: usize) -> Result<ProfileBlock<'_>, FormatError> {
        let empty = ProfileBlock { values: Cow::Borrowed(&[]), indices: Cow::Borrowed(&[]) };
        let Some(info) = self.infos.get(i) else { return Ok(empty) };
        let fail = |e| FormatError::read(FileKind::Profile.file_name(), e);
        let values_len = info.num_values * VALUE_SIZE as u64;
        let indices_len = u64::from(info.num_contexts) * CONTEXT_INDEX_SIZE as u64;
        let values_end = info.values + values_len;
        // Writers put the indices right behind the values.
        if self.source.as_slice().is_none()
            && info.indices >= values_end
            && info.indices - values_end <= 64
        {
            let len = info.indices + indices_len - info.values;
            let both = read_range(&*self.source, info.values, len).map_err(fail)?;
            let mut values = both.into_owned();
            // Both lengths are at most that of what was read, which fits in memory.
            let indices = values.split_off(saturated_usize(info.indices - info.values));
            values.truncate(saturated_usize(values_len));
            return Ok(ProfileBlock { values: values.into(), indices: indices.into() });
        }
        Ok(ProfileBlock {
            values: read_range(&*self.source, info.values, values_len).map_err(fail)?,
            indices: read_range(&*self.source, info.indices, indices_len).map_err(fail)?,
        })
    }
}

struct Opener<'a, 'i> {
    records: Record<'a>,
    table: Table,
    file_len: u64,
    tuples: Record<'a>,
    tuples_start: u64,
    /// Bytes of values and indices that profiles may still have.
    values_room: u64,
    /// Identities that tuples may still have.
    identity_room: u64,
    issues: &'i mut Issues,
    identities: Vec<Identity>,
}

impl Opener<'_, '_> {
    fn fault(&mut self, kind: &'static str, offset: u64, what: impl FnOnce() -> String) {
        let place = Place::Byte { file: FileKind::Profile.file_name().into(), offset };
        self.issues.report(Severity::Error, Stage::Read, kind, place, what);
    }

    fn info(&mut self, i: u64) -> ProfileInfo {
        let at = i * self.table.stride;
        let offset = self.table.at(i);
        let word = |from: u64| self.records.u64(at + from).unwrap_or(0);
        let (mut num_values, values) = (word(profile::NUM_VALUES), word(profile::VALUES));
        let mut num_contexts = self.records.u32(at + profile::NUM_CONTEXTS).unwrap_or(0);
        let (indices, tuple) = (word(profile::INDICES), word(profile::IDENTITY));
        // The draft has no flags; there the summary is the profile without an identity.
        let is_summary = if self.table.stride >= profile::SIZE {
            self.records.u32(at + profile::FLAGS).unwrap_or(0) & 1 != 0
        } else {
            tuple == 0
        };
        let fits = |start: u64, count: u64, size: usize| {
            let len = count.checked_mul(size as u64);
            len.and_then(|len| start.checked_add(len)).is_some_and(|end| end <= self.file_len)
        };
        if !fits(values, num_values, VALUE_SIZE)
            || !fits(indices, u64::from(num_contexts), CONTEXT_INDEX_SIZE)
        {
            self.fault("values-outside", offset, || {
                format!(
                    "profile {i}: {num_values} values at {values} and {num_contexts} contexts at \
                     {indices} do not lie inside the file; the profile is empty now"
                )
            });
            (num_values, num_contexts) = (0, 0);
        }
        let bytes =
            num_values * VALUE_SIZE as u64 + u64::from(num_contexts) * CONTEXT_INDEX_SIZE as u64;
        if bytes > self.values_room {
            self.fault("values-overlap", offset, || {
                format!("profile {i}: its values overlap those of others; it is empty now")
            });
            (num_values, num_contexts) = (0, 0);
        } else {
            self.values_room -= bytes;
        }
        let identities = if tuple == 0 { (0, 0) } else { self.identity(i, offset, tuple) };
        let (values, indices) = if num_values == 0 { (0, 0) } else { (values, indices) };
        let num_contexts = if num_values == 0 { 0 } else { num_contexts };
        ProfileInfo { num_values, num_contexts, is_summary, values, indices, identities }
    }

    fn identity(&mut self, i: u64, offset: u64, pointer: u64) -> (u32, u32) {
        let start = u32::try_from(self.identities.len()).unwrap_or(u32::MAX);
        let within = pointer.checked_sub(self.tuples_start);
        let count =
            within.and_then(|at| self.tuples.u16(at + identity_tuple::COUNT)).map(u64::from);
        let ids = within
            .and_then(|at| at.checked_add(identity_tuple::SIZE))
            .zip(count)
            .and_then(|(at, count)| self.tuples.sub(at, count * identity::SIZE));
        let (Some(ids), Some(count)) = (ids, count) else {
            self.fault("identity-outside", offset, || {
                format!("profile {i}: its identity tuple at {pointer} is outside its section")
            });
            return (start, start);
        };
        if count > self.identity_room {
            self.fault("identity-overlap", offset, || {
                format!("profile {i}: its identity tuple of {count} overlaps others; omitted")
            });
            return (start, start);
        }
        self.identity_room -= count;
        for k in 0..count {
            let at = k * identity::SIZE;
            self.identities.push(Identity {
                kind: ids.u8(at + identity::KIND).unwrap_or(0),
                is_physical: ids.u16(at + identity::FLAGS).unwrap_or(0) & 1 != 0,
                logical: ids.u32(at + identity::LOGICAL).unwrap_or(0),
                physical: ids.u64(at + identity::PHYSICAL).unwrap_or(0),
            });
        }
        (start, u32::try_from(self.identities.len()).unwrap_or(u32::MAX))
    }
}

/// The values of one profile, sorted by context id and, within one, by metric id.
pub struct ProfileBlock<'a> {
    values: Cow<'a, [u8]>,
    indices: Cow<'a, [u8]>,
}

/// The values of one context in one profile.
pub struct ContextValues<'a> {
    /// Context id; 0 holds the totals of the profile.
    pub context: u32,
    values: &'a [[u8; VALUE_SIZE]],
}

impl<'a> ContextValues<'a> {
    pub(super) fn new(context: u32, values: &'a [[u8; VALUE_SIZE]]) -> Self {
        Self { context, values }
    }

    /// The values, by metric id.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = StoredValue> + '_ {
        self.values.iter().map(|&[m0, m1, v0, v1, v2, v3, v4, v5, v6, v7]| StoredValue {
            metric: u16::from_le_bytes([m0, m1]),
            value: f64::from_le_bytes([v0, v1, v2, v3, v4, v5, v6, v7]),
        })
    }

    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

impl ProfileBlock<'_> {
    fn indices(&self) -> &[[u8; CONTEXT_INDEX_SIZE]] {
        self.indices.as_chunks().0
    }

    fn values(&self) -> &[[u8; VALUE_SIZE]] {
        self.values.as_chunks().0
    }

    /// Number of contexts that have values.
    #[must_use]
    pub fn num_contexts(&self) -> usize {
        self.indices().len()
    }

    /// The context id of entry `entry`.
    #[must_use]
    pub fn context_id(&self, entry: usize) -> Option<u32> {
        self.indices().get(entry).map(|&[a, b, c, d, ..]| u32::from_le_bytes([a, b, c, d]))
    }

    fn start(&self, entry: usize) -> Option<usize> {
        let &[_, _, _, _, a, b, c, d, e, f, g, h] = self.indices().get(entry)?;
        usize::try_from(u64::from_le_bytes([a, b, c, d, e, f, g, h])).ok()
    }

    /// The values of entry `entry`; `None` past the last.
    /// Starts that run backwards or past the end, which only damaged files have, give no values.
    #[must_use]
    pub fn entry(&self, entry: usize) -> Option<ContextValues<'_>> {
        let context = self.context_id(entry)?;
        let all = self.values();
        let start = self.start(entry).unwrap_or(all.len());
        let end = if entry + 1 < self.num_contexts() {
            self.start(entry + 1).unwrap_or(all.len())
        } else {
            all.len()
        };
        let values = all.get(start..end.min(all.len())).unwrap_or_default();
        Some(ContextValues { context, values })
    }

    /// All entries in order of context id.
    /// Each value is given once at most, also where the index of a damaged file runs back and
    /// forth.
    pub fn iter(&self) -> impl Iterator<Item = ContextValues<'_>> {
        let all = self.values();
        let mut given = 0;
        (0..self.num_contexts()).filter_map(move |entry| {
            let start = self.start(entry).unwrap_or(all.len()).clamp(given, all.len());
            let next = (entry + 1 < self.num_contexts()).then(|| self.start(entry + 1)).flatten();
            let end = next.unwrap_or(all.len()).clamp(start, all.len());
            given = end;
            let values = all.get(start..end).unwrap_or_default();
            Some(ContextValues { context: self.context_id(entry)?, values })
        })
    }
}
