//! Values of a few contexts out of many profiles, without reading the profiles whole.

use std::borrow::Cow;
use std::ops::Range;

use parallax_base::casts::saturated_usize;
use parallax_base::{ByteSource, ReadError, read_range};

use super::header::FileKind;
use super::layout::{CONTEXT_INDEX_SIZE, VALUE_SIZE};
use super::profile::{ContextValues, ProfileDb, ProfileInfo};
use crate::FormatError;

/// Entries of an index that are read around the place where a context is expected.
const WINDOW: usize = 32;
/// Entries that are read at once instead of searched step by step.
const MAX_SEARCHED: usize = 1024;
/// An index is searched for each context only where it has so many more entries than there are
/// contexts to find; otherwise it is read whole.
const ENTRIES_PER_CONTEXT: usize = 500;
/// Bytes between wanted values that are read along: about what another read costs.
const GAP: usize = 4096;

type IndexEntry = [u8; CONTEXT_INDEX_SIZE];

/// Reads the same contexts of one profile after another.
///
/// Profiles of one program have much the same contexts, so a context is looked for where it was in
/// the profile before. A source in memory is borrowed from; of any other only the index entries
/// around these places and the wanted values are read, into buffers that are used again.
pub struct ContextReader<'a> {
    profiles: &'a ProfileDb,
    /// Ascending.
    ids: &'a [u32],
    /// For each id, its entry in the last profile that was searched for it.
    guesses: Vec<usize>,
    index: Vec<u8>,
    values: Vec<u8>,
    found: Vec<ValueRange>,
}

/// Where the values of one context lie among those of a profile.
struct ValueRange {
    context: u32,
    values: Range<usize>,
}

impl<'a> ContextReader<'a> {
    /// A reader of the contexts `ids`, which ascend.
    #[must_use]
    pub fn new(profiles: &'a ProfileDb, ids: &'a [u32]) -> Self {
        Self {
            profiles,
            ids,
            guesses: vec![0; ids.len()],
            index: Vec::new(),
            values: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Calls `visit` with the values of each context that profile `i` has, by ascending id.
    ///
    /// Starts that run backwards or past the end, which only damaged files have, give no values.
    ///
    /// # Errors
    /// When the source fails.
    pub fn visit(
        &mut self,
        i: usize,
        mut visit: impl FnMut(ContextValues<'_>),
    ) -> Result<(), FormatError> {
        let Some(info) = self.profiles.infos().get(i) else { return Ok(()) };
        let fail = |e| FormatError::read(FileKind::Profile.file_name(), e);
        self.found.clear();
        let len = info.num_contexts as usize;
        if len > self.ids.len().saturating_mul(ENTRIES_PER_CONTEXT) {
            self.search(info).map_err(fail)?;
        } else {
            self.walk(info).map_err(fail)?;
        }
        let source = &*self.profiles.source;
        for run in self.found.chunk_by(|a, b| {
            let gap = b.values.start.checked_sub(a.values.end);
            gap.is_some_and(|gap| gap.saturating_mul(VALUE_SIZE) <= GAP)
        }) {
            let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
            let all = first.values.start..last.values.end;
            let raw = info.read_values(source, &all, &mut self.values).map_err(fail)?;
            let raw = raw.as_chunks::<VALUE_SIZE>().0;
            for found in run {
                let own = found.values.start - all.start..found.values.end - all.start;
                visit(ContextValues::new(found.context, raw.get(own).unwrap_or_default()));
            }
        }
        Ok(())
    }

    /// Finds contexts in the whole index.
    fn walk(&mut self, info: &ProfileInfo) -> Result<(), ReadError> {
        let source = &*self.profiles.source;
        let len = info.num_contexts as usize;
        let entries = info.read_index(source, &(0..len), &mut self.index)?;
        let mut from = 0;
        for &id in self.ids {
            // Gallop: wanted contexts are often near each other.
            let mut step = 1;
            while entries.get(from + step).is_some_and(|entry| context_of(entry) < id) {
                step *= 2;
            }
            let window = (from + step / 2).min(len)..len.min(from + step + 1);
            let before = window.start;
            match entries.get(window).unwrap_or_default().binary_search_by_key(&id, context_of) {
                Ok(at) => {
                    from = before + at + 1;
                    let end = entries.get(from);
                    self.found.extend(info.found(id, entries.get(before + at), end));
                }
                Err(at) => from = before + at,
            }
            if from >= len {
                break;
            }
        }
        Ok(())
    }

    /// Finds each context by itself, in parts of the index.
    fn search(&mut self, info: &ProfileInfo) -> Result<(), ReadError> {
        let source = &*self.profiles.source;
        let len = info.num_contexts as usize;
        for (&id, guess) in self.ids.iter().zip(&mut self.guesses) {
            let mut left = 0..len;
            let mut window = around(*guess, &left);
            while !window.is_empty() {
                // One more: values end where those of the next context begin.
                let read = window.start..(window.end + 1).min(len);
                let entries = info.read_index(source, &read, &mut self.index)?;
                let own = entries.get(..window.len()).unwrap_or_default();
                let (Some(first), Some(last)) = (own.first(), own.last()) else { break };
                if id < context_of(first) {
                    left.end = window.start;
                } else if id > context_of(last) {
                    left.start = window.end;
                } else {
                    let place = own.binary_search_by_key(&id, context_of);
                    let (Ok(at) | Err(at)) = place;
                    *guess = window.start + at;
                    if place.is_ok() {
                        let end = entries.get(at + 1);
                        self.found.extend(info.found(id, entries.get(at), end));
                    }
                    break;
                }
                // Where it would be, for the next profile.
                *guess = if id < context_of(first) { left.end } else { left.start };
                window = if left.len() <= MAX_SEARCHED {
                    left.clone()
                } else {
                    around(left.start + left.len() / 2, &left)
                };
            }
        }
        Ok(())
    }
}

/// A window of entries around one of them, inside `all`.
fn around(entry: usize, all: &Range<usize>) -> Range<usize> {
    let last = all.end.saturating_sub(WINDOW);
    let start = entry.saturating_sub(WINDOW / 2).min(last).max(all.start);
    start..(start + WINDOW).min(all.end)
}

fn context_of(&[a, b, c, d, ..]: &IndexEntry) -> u32 {
    u32::from_le_bytes([a, b, c, d])
}

fn start_of(&[_, _, _, _, a, b, c, d, e, f, g, h]: &IndexEntry) -> u64 {
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

impl ProfileInfo {
    /// The values of an index entry that ends where `next` begins, or with the profile.
    fn found(
        &self,
        context: u32,
        entry: Option<&IndexEntry>,
        next: Option<&IndexEntry>,
    ) -> Option<ValueRange> {
        let start = start_of(entry?);
        let end = next.map_or(self.num_values, start_of).min(self.num_values);
        let values = (start < end).then(|| saturated_usize(start)..saturated_usize(end))?;
        Some(ValueRange { context, values })
    }

    fn read_index<'b>(
        &self,
        source: &'b dyn ByteSource,
        entries: &Range<usize>,
        buffer: &'b mut Vec<u8>,
    ) -> Result<&'b [IndexEntry], ReadError> {
        let (start, len) = bytes_of(entries, CONTEXT_INDEX_SIZE);
        Ok(read_into(source, self.indices + start, len, buffer)?.as_chunks().0)
    }

    fn read_values<'b>(
        &self,
        source: &'b dyn ByteSource,
        values: &Range<usize>,
        buffer: &'b mut Vec<u8>,
    ) -> Result<&'b [u8], ReadError> {
        let (start, len) = bytes_of(values, VALUE_SIZE);
        read_into(source, self.values + start, len, buffer)
    }
}

/// Where records lie behind the first one, and how many bytes they have.
fn bytes_of(records: &Range<usize>, size: usize) -> (u64, usize) {
    (records.start as u64 * size as u64, records.len() * size)
}

/// Borrows bytes where the source lies in memory, and copies them into `buffer` otherwise.
fn read_into<'b>(
    source: &'b dyn ByteSource,
    offset: u64,
    len: usize,
    buffer: &'b mut Vec<u8>,
) -> Result<&'b [u8], ReadError> {
    if source.as_slice().is_some()
        && let Cow::Borrowed(bytes) = read_range(source, offset, len as u64)?
    {
        return Ok(bytes);
    }
    // Ranges were found to lie inside the file when it was opened, so this is no more than it has.
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
    let bytes = buffer.get_mut(..len).unwrap_or_default();
    source.read_at(offset, bytes)?;
    Ok(bytes)
}
