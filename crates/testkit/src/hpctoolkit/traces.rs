//! trace.db: samples by thread, written as a stream.

use std::io::{Result, Seek, SeekFrom, Write};

use super::bytes::{Bytes, Section};
use super::database::{Sample, u32_of};

/// A trace.db under construction.
pub(crate) struct TraceDb<W> {
    out: W,
    /// By profile, the summary left out: start and end of its samples.
    traces: Vec<(u64, u64)>,
    min_nanos: u64,
    max_nanos: u64,
    end: u64,
}

const TRACES: u64 = 0x20;
const TABLE: u64 = TRACES + 0x20;

impl<W: Write + Seek> TraceDb<W> {
    /// Starts the file for a number of profiles other than the summary.
    pub(crate) fn begin(mut out: W, num_profiles: usize) -> Result<Self> {
        let end = TABLE + 24 * num_profiles as u64;
        out.seek(SeekFrom::Start(end))?;
        let traces = vec![(end, end); num_profiles];
        Ok(Self { out, traces, min_nanos: u64::MAX, max_nanos: 0, end })
    }

    /// Writes the trace of a profile, whose index is at least 1.
    pub(crate) fn push(&mut self, profile: usize, samples: &[Sample]) -> Result<()> {
        let start = self.end.next_multiple_of(8);
        self.out.write_all(&[0; 8][..(start - self.end) as usize])?;
        let mut bytes = Bytes::at(start);
        for sample in samples {
            bytes.u64(sample.nanos).u32(sample.context);
        }
        self.out.write_all(bytes.as_slice())?;
        self.end = bytes.end();
        self.traces[profile - 1] = (start, self.end);
        if let (Some(first), Some(last)) = (samples.first(), samples.last()) {
            self.min_nanos = self.min_nanos.min(first.nanos);
            self.max_nanos = self.max_nanos.max(last.nanos);
        }
        Ok(())
    }

    /// Writes the footer and the tables; gives the stream back.
    pub(crate) fn finish(mut self) -> Result<W> {
        self.out.write_all(b"trace.db")?;
        let size = 0x20 + 24 * self.traces.len() as u64;
        let mut bytes =
            Bytes::header(*b"trce", &[Section { start: TRACES, size }], TRACES as usize);
        bytes.u64(TABLE).u32(u32_of(self.traces.len())).u8(24).align(16);
        bytes.u64(self.min_nanos.min(self.max_nanos)).u64(self.max_nanos);
        for (position, &(start, end)) in self.traces.iter().enumerate() {
            bytes.u32(u32_of(position + 1)).u32(0).u64(start).u64(end);
        }
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(bytes.as_slice())?;
        Ok(self.out)
    }
}
