//! profile.db: sparse values by profile, written as a stream.
//!
//! Layout: header, profile table (filled in last), identity tuples, then the values of one profile
//! after the other in the order in which they are pushed, the summary last.

use std::io::{Result, Seek, SeekFrom, Write};

use super::bytes::{Bytes, Section, id_tuple};
use super::database::{Id, u32_of};
use super::files::Layout;

/// A stored value: never zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Value {
    pub(crate) context: u32,
    /// The id in the id space that goes with the profile.
    pub(crate) metric: u16,
    pub(crate) value: f64,
}

#[derive(Clone, Copy)]
struct Info {
    num_values: u64,
    values: u64,
    num_contexts: u32,
    index: u64,
    tuple: u64,
}

/// A profile.db under construction.
pub(crate) struct ProfileDb<W> {
    out: W,
    layout: Layout,
    infos: Vec<Info>,
    tuples: Section,
    end: u64,
}

const INFOS: u64 = 0x30;

fn stride(layout: Layout) -> u64 {
    match layout {
        Layout::Final => 0x30,
        Layout::Draft => 0x28,
    }
}

impl<W: Write + Seek> ProfileDb<W> {
    /// Starts the file with the identities of all profiles other than the summary.
    pub(crate) fn begin<'a>(
        mut out: W,
        layout: Layout,
        tuples: impl ExactSizeIterator<Item = &'a [Id]>,
    ) -> Result<Self> {
        let num_profiles = tuples.len() as u64 + 1;
        let start = INFOS + 0x10 + num_profiles * stride(layout);
        let mut bytes = Bytes::at(start);
        let empty = |tuple| Info { num_values: 0, values: 0, num_contexts: 0, index: 0, tuple };
        let mut infos = vec![empty(0)];
        for tuple in tuples {
            infos.push(empty(bytes.end()));
            id_tuple(&mut bytes, tuple);
        }
        out.seek(SeekFrom::Start(start))?;
        out.write_all(bytes.as_slice())?;
        let end = bytes.end();
        Ok(Self { out, layout, infos, tuples: Section::between(start, end), end })
    }

    /// Writes the values of a profile, which are sorted by context and metric.
    pub(crate) fn push(&mut self, profile: usize, values: &[Value]) -> Result<()> {
        let (bytes, num_contexts) = encode(values);
        self.push_encoded(profile, values.len(), num_contexts, &bytes)
    }

    /// Writes what [`encode`] made of the values of a profile.
    pub(crate) fn push_encoded(
        &mut self,
        profile: usize,
        num_values: usize,
        num_contexts: u32,
        bytes: &[u8],
    ) -> Result<()> {
        let start = self.end.next_multiple_of(4);
        self.out.write_all(&[0; 4][..(start - self.end) as usize])?;
        self.out.write_all(bytes)?;
        self.end = start + bytes.len() as u64;
        let info = &mut self.infos[profile];
        info.num_values = num_values as u64;
        info.values = start;
        info.num_contexts = num_contexts;
        info.index = self.end - 12 * u64::from(num_contexts);
        Ok(())
    }

    /// Writes the summary, the footer and the tables; gives the stream back.
    pub(crate) fn finish(mut self, summary: &[Value]) -> Result<W> {
        self.push(0, summary)?;
        self.out.write_all(b"_prof.db")?;
        let stride = stride(self.layout);
        let infos_size = 0x10 + self.infos.len() as u64 * stride;
        let sections = [Section { start: INFOS, size: infos_size }, self.tuples];
        let mut bytes = Bytes::header(*b"prof", &sections, INFOS as usize);
        bytes.u64(INFOS + 0x10).u32(u32_of(self.infos.len())).u8(stride as u8);
        bytes.fill_to(INFOS + 0x10);
        for (profile, info) in self.infos.iter().enumerate() {
            bytes.u64(info.num_values).u64(info.values);
            bytes.u32(info.num_contexts).u32(0).u64(info.index).u64(info.tuple);
            if self.layout == Layout::Final {
                bytes.u32(u32::from(profile == 0)).u32(0);
            }
        }
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(bytes.as_slice())?;
        Ok(self.out)
    }
}

/// The bytes of a profile: its values, padding, then the index of its contexts, whose number is
/// returned too.
pub(crate) fn encode(values: &[Value]) -> (Vec<u8>, u32) {
    let mut bytes = Bytes::at(0);
    let mut index = Bytes::at(0);
    let mut last = None;
    let mut num_contexts = 0;
    for (position, value) in values.iter().enumerate() {
        debug_assert!(value.value != 0.0, "a zero is never stored");
        bytes.u16(value.metric).f64(value.value);
        if last != Some(value.context) {
            debug_assert!(last.is_none_or(|last| last < value.context), "values are sorted");
            index.u32(value.context).u64(position as u64);
            last = Some(value.context);
            num_contexts += 1;
        }
    }
    bytes.align(4).raw(index.as_slice());
    (bytes.into_vec(), num_contexts)
}
